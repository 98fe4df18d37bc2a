//! What `strata member` makes of its standard input: every line is cast, whatever bytes it has, before the member leaves.

mod group;

use std::fs::File;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use group::{PROGRAM, Process};

/// A member that asks `at`, reads this and leaves.
fn guest(at: &Process, input: &[u8]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(["member", "--contacts", &at.addr().to_string(), "--suspect", "4000"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn lines_that_are_cast_just_before_the_input_ends_arrive() {
    let host = Process::start(&[], 4000);
    for n in 0..5 {
        let text: String = (0..20).map(|i| format!("{n}-{i}\n")).collect();
        let out = guest(&host, text.as_bytes());
        assert!(out.status.success(), "{out:?}");
        for i in 0..20 {
            host.wait_for(|line| line.ends_with(&format!(": {n}-{i}")));
        }
    }
}

#[test]
fn a_line_of_any_bytes_is_cast_and_those_behind_it_too() {
    let host = Process::start(&[], 4000);
    let out = guest(&host, b"one\nbad \xff\nthree");
    assert!(out.status.success(), "{out:?}");
    for text in ["one", "bad \u{fffd}", "three"] {
        host.wait_for(|line| line.ends_with(&format!(": {text}")));
    }
}

#[test]
fn an_input_that_can_not_be_read_is_told() {
    let folder = File::open(std::env::temp_dir()).unwrap();
    let out = Command::new(PROGRAM).arg("member").stdin(folder).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains("reading the standard input"), "{said}");
}
