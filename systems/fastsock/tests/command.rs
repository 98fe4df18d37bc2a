//! The command `fastsock` where something is not as it should be: a message that says what, and a code that is not 0.

mod common;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::folder::Folder;

const COMMAND: &str = env!("CARGO_BIN_EXE_fastsock");

/// The code and what was said on the standard error.
fn ended(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_can_not_be_written_is_told() {
    for arguments in [&["status"][..], &["status", "--json"], &["check"], &["--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(COMMAND).args(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let (code, said) = ended(&output);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        assert!(said.contains("writing to the standard output") && !said.contains("panicked"), "{said}");
    }
}

#[test]
fn a_file_that_is_named_and_can_not_be_read_is_wrong() {
    for (file, why) in [("/nonexistent/fastsock.conf", "there is no such file"), ("/dev/null", "it is no regular file")]
    {
        let output = Command::new(COMMAND).args(["check", file]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("wrong: {file}: ")) && said.contains(why), "{said}");
    }
    let (code, said) = ended(&Command::new(COMMAND).args(["check", "--help"]).output().unwrap());
    assert!(code == Some(2) && said.contains("usage: "), "{said}");
}

#[test]
fn a_library_that_the_loader_would_pass_over_is_told_before_the_program_runs() {
    let folder = Folder::new("command");
    let place = |name: &str, library: &[u8]| {
        let at = folder.join(name);
        fs::create_dir_all(&at).unwrap();
        // Written by another process: one that another test begins meanwhile would hold it open for writing, and it could not be run.
        assert!(Command::new("cp").arg(COMMAND).arg(at.join("fastsock")).status().unwrap().success());
        fs::write(at.join("libfastsock.so"), library).unwrap();
        at
    };
    let run = |at: &Path| ended(&Command::new(at.join("fastsock")).args(["run", "true"]).output().unwrap());
    for (at, why) in [
        (place("a b:c", b"\x7fELF"), "LD_PRELOAD can't hold"),
        (place("broken", b"\x7fEL"), "build or install it again"),
        (place("text", b"no library"), "is no library"),
    ] {
        let (code, said) = run(&at);
        assert!(code == Some(2) && said.contains(why), "{said}");
    }
}
