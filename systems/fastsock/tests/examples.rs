//! The example, with the library and without: it ends well, and its connection is fast exactly with it.

mod common;

use std::path::Path;
use std::process::Command;

use common::built;
use common::folder::Folder;

#[test]
fn the_example_runs_with_and_without_the_library() {
    let Some(built) = built() else { return };
    let folder = Folder::new("example");
    let debug = Path::new(env!("CARGO_BIN_EXE_fastsock")).parent().unwrap();
    // It is not built for one test program alone.
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "-p", "fastsock", "--example", "ping", "--target-dir"]);
    cargo.arg(debug.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(cargo.status().unwrap().success(), "the example does not build");
    for library in [false, true] {
        let mut preload = built.witness.display().to_string();
        if library {
            preload += &format!(":{}", built.library.display());
        }
        let told = folder.join(format!("told-{library}"));
        let mut ping = Command::new(debug.join("examples/ping"));
        ping.env("LD_PRELOAD", preload).env("WITNESS", &told);
        let ran = ping.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
        assert!(said.starts_with("10000 round trips of a byte"), "{said}");
        let told = std::fs::read_to_string(told).unwrap();
        assert!(told.lines().count() >= 2 && told.contains("fast") == library, "{library}: {told}");
    }
}
