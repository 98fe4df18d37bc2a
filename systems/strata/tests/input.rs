//! What `strata member` makes of its standard input: every line is cast, whatever bytes it has, before the member leaves.

mod group;

use std::fs::File;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use group::{PATIENCE, PROGRAM, Process};
use strata::net::{Group, Options};

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

/// Long before its silence would be noticed: it leaves, and says why.
#[test]
fn a_line_without_an_end_is_told_and_the_member_leaves() {
    let host = Process::start(&[], 60_000);
    let endless = File::open("/dev/zero").unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["member", "--contacts", &host.addr().to_string(), "--suspect", "60000"]);
    let out = command.stdin(endless).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains("a line has more than 1048576 bytes"), "{said}");
    assert!(said.contains("left the group"), "{said}");
    host.wait_for(|line| line.starts_with("view 2@"));
    host.wait_for_view_of(1);
}

/// What another casts is one line, and moves no cursor.
#[test]
fn a_message_is_shown_without_what_would_steer_a_terminal() {
    let host = Process::start(&[], 4000);
    let mut group = Group::join(Options { contacts: vec![host.addr()], ..Options::default() }).unwrap();
    group.try_cast(&b"a\tb\nview 9@127.0.0.1:1#0000 of 1: me\r\x1b[2Jc\xc2\x9bd"[..]).unwrap();
    let shown = "a\tb\\nview 9@127.0.0.1:1#0000 of 1: me\\r\\u{1b}[2Jc\\u{9b}d";
    let until = Instant::now() + PATIENCE;
    while !host.lines().iter().any(|line| line.ends_with(&format!(": {shown}"))) {
        assert!(Instant::now() < until, "{:?}", host.lines());
        group.poll(Duration::from_millis(10)).unwrap();
    }
    assert!(!host.lines().iter().any(|line| line.starts_with("view 9@")));
}

/// TRACE has no header: who has it is a member beside those who have not.
#[test]
fn a_stack_with_trace_tells_what_passes() {
    let host = Process::start(&[], 4000);
    let mut command = Command::new(PROGRAM);
    command.args(["member", "--stack", &format!("TRACE:{}", group::STACK), "--contacts", &host.addr().to_string()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"traced\n").unwrap();
    let out = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&out.stderr);
    host.wait_for(|line| line.ends_with(": traced"));
    for way in [" ns down Cast(", " ns up   Cast(", " ns up   View("] {
        assert!(told.lines().any(|line| line.contains(way)), "{way:?} is not in {told}");
    }
}

#[test]
fn an_input_that_can_not_be_read_is_told() {
    let folder = File::open(std::env::temp_dir()).unwrap();
    let out = Command::new(PROGRAM).arg("member").stdin(folder).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains("reading the standard input"), "{said}");
}
