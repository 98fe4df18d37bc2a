//! The examples in Rust: each begins itself once more as the other side, ends well, and says what it promises.

use std::path::PathBuf;
use std::process::Command;

/// The folder of built things.
fn target() -> PathBuf {
    let mut at = std::env::current_exe().unwrap();
    // This program lies in `deps`, where its debug or release folder is.
    assert!(at.pop() && at.pop());
    at
}

/// What an example prints, in the words of one line a part.
fn ran(name: &str, arguments: &[&str]) -> String {
    let target = target();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "-p", "am", "--example", name, "--target-dir"]);
    if target.ends_with("release") {
        cargo.arg(target.parent().unwrap()).arg("--release");
    } else {
        cargo.arg(target.parent().unwrap());
    }
    assert!(cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success(), "{name} does not build");
    let ran = Command::new(target.join("examples").join(name)).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{name}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    said
}

#[test]
fn ping_pong_tells_of_as_many_round_trips_as_it_was_asked_for() {
    let said = ran("ping_pong", &["1000"]);
    assert!(said.starts_with("1000 round trips of 1 byte: median "), "{said}");
}

#[test]
fn bulk_put_finds_all_bytes_in_the_region() {
    let said = ran("bulk_put", &[]);
    assert!(said.contains(" bytes were put here; their sum is ") && !said.ends_with(" 0\n"), "{said}");
}

#[test]
fn posting_puts_in_place_what_was_posted_for_and_nothing_else() {
    let said = ran("posting", &[]);
    assert!(said.contains("not posted: 0 of 100 in place"), "{said}");
    // How many, beyond those that were posted for before the sender began, depends on who is quicker.
    let posted =
        said.split("\nposted: ").nth(1).and_then(|rest| rest.split(" of 100 in place").next()?.parse::<u32>().ok());
    assert!(posted.is_some_and(|posted| posted > 0), "{said}");
}
