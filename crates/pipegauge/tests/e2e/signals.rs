//! Ctrl-C, SIGTERM and closed terminals: a clean end, a readable file, no process left.

use rustix::process::Signal;

use super::processes::{all_end, far_processes, send, under_way};
use super::seat::Seat;
use super::support::{LONG, Running, Scratch, installed, json, skip, until};

fn ends_cleanly(signal: Signal) {
    let dir = Scratch::new();
    let mut args = vec!["run", "tcp", "shm", "-o", "x.run.jsonl"];
    args.extend(LONG);
    let mut run = Running::start(dir.command(&args));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    run.signal(signal);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["interrupted"]);
    all_end(&[far]);
    let shown = dir.run(&["show", "x.run.jsonl", "--json"]);
    assert_eq!(shown.code(), 0, "{shown}");
    let doc = json(&shown.out);
    assert!(doc["end"].is_object() && doc["cut"].is_null(), "the file must have its last line: {doc}");
}

#[test]
fn ctrl_c_ends_a_run_cleanly() {
    ends_cleanly(Signal::INT);
}

#[test]
fn sigterm_ends_a_run_cleanly() {
    ends_cleanly(Signal::TERM);
}

#[test]
fn sighup_ends_a_run_cleanly() {
    ends_cleanly(Signal::HUP);
}

#[test]
fn a_closed_terminal_ends_the_run_and_the_file_stays_whole() {
    if installed("setsid").is_none() {
        return skip("setsid is not installed, so the run can't be given a terminal of its own");
    }
    let dir = Scratch::new();
    let seat = Seat::take(&dir, &[&["run", "tcp", "-o", "x.run.jsonl"], &LONG[..]].concat(), (80, 24), true);
    let far = until("a far process", || far_processes(seat.child.id()).into_iter().next());
    until("the time left, on the terminal", || seat.seen().contains("left").then_some(()));
    let mut child = seat.close();
    let status = until("the end of the run", || child.try_wait().expect("waiting"));
    assert!(matches!(status.code(), Some(1 | 2)), "{status}");
    all_end(&[far]);
    let shown = dir.run(&["show", "x.run.jsonl", "--json"]);
    assert_eq!(shown.code(), 0, "{shown}");
    assert!(json(&shown.out)["end"].is_object(), "{shown}");
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_still_leaves_no_far_side() {
    let dir = Scratch::new();
    // A stalled far side keeps the first Ctrl-C waiting for at most a moment; the second must not wait at all.
    let mut args = vec!["run", "tcp", "-o", "x.run.jsonl"];
    args.extend(LONG);
    let mut run = Running::start(dir.command(&args));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    run.signal(Signal::INT);
    run.signal(Signal::INT);
    let said = run.end();
    assert!(matches!(said.code(), 1 | 2), "{said}");
    all_end(&[far]);
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn ctrl_c_at_a_terminal_reaches_both_sides_and_is_still_one_clean_end() {
    let dir = Scratch::new();
    let mut args = vec!["run", "unix", "-o", "x.run.jsonl"];
    args.extend(LONG);
    let mut run = Running::start(dir.command(&args));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    // A terminal sends it to the whole foreground group; the far process must leave the answer to the near side.
    send(far.pid, Signal::INT);
    run.signal(Signal::INT);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["interrupted"]);
    all_end(&[far]);
}

#[test]
fn sigint_to_serve_ends_it() {
    let dir = Scratch::new();
    let serve = Running::start(dir.command(&["serve", "--bind", "127.0.0.1"]));
    assert!(serve.line().contains("--key"));
    serve.signal(Signal::INT);
    let said = serve.end();
    said.refuses(&["interrupted"]);
}
