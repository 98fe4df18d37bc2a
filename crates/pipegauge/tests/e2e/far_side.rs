//! What happens to the other side: killed, stopped, cut off, corrupted. The near side says so within a bounded time, what
//! was measured stays readable, and no process is left.

use rustix::process::Signal;

use super::processes::{Process, all_end, far_processes, send, under_way};
use super::support::{LONG, Running, Said, Scratch, between_two_processes, until};

/// A long run over `transport`, under way.
fn start(dir: &Scratch, transport: &str, more: &[&str]) -> (Running, Process) {
    let mut args = vec!["run", transport, "-o", "x.run.jsonl"];
    args.extend(LONG);
    args.extend(more);
    let mut run = Running::start(dir.command(&args));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    (run, far)
}

/// The run fell short, said so with `words`, and its file reads.
fn fell_short(dir: &Scratch, said: &Said, words: &[&str]) {
    assert_eq!(said.code(), 1, "{said}");
    said.complains(words);
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert_eq!(shown.code(), 0, "{shown}");
}

#[test]
fn a_killed_far_side_is_noticed_on_every_path() {
    for transport in between_two_processes() {
        let dir = Scratch::new();
        let (run, far) = start(&dir, transport, &[]);
        let pid = run.pid();
        send(far.pid, Signal::KILL);
        let said = run.end();
        fell_short(&dir, &said, &["far side"]);
        assert!(far_processes(pid).is_empty(), "{transport}");
    }
}

#[test]
fn a_far_side_that_is_stopped_and_continued_is_only_slow() {
    let dir = Scratch::new();
    let args =
        ["run", "tcp", "-o", "x.run.jsonl", "--sizes", "64", "--perturb", "0", "--budget", "3s", "--pin", "none"];
    let mut run = Running::start(dir.command(&[&args[..], &["--precision", "0.001%", "--no-html"]].concat()));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    send(far.pid, Signal::STOP);
    until("the far side to be stopped", || far.is_stopped().then_some(()));
    let written = || std::fs::metadata(dir.path("x.run.jsonl")).unwrap().len();
    // The trial that it was in may have ended before; after that nothing can be measured.
    let before = until("no more trials to be written down", || {
        let before = written();
        std::thread::sleep(std::time::Duration::from_millis(200));
        (written() == before).then_some(before)
    });
    assert!(run.runs(), "the run ended without its far side");
    send(far.pid, Signal::CONT);
    let said = run.end();
    assert!(written() > before, "{said}");
    assert!(said.only_imprecise(), "{said}");
    assert!(!said.err.contains("no progress"), "{said}");
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn a_far_side_stopped_for_good_is_given_up_and_ended() {
    for transport in ["tcp", "shm", "am"] {
        let dir = Scratch::new();
        let (run, far) = start(&dir, transport, &["--patience", "1s"]);
        send(far.pid, Signal::STOP);
        let said = run.end();
        fell_short(&dir, &said, &["--patience"]);
        all_end(&[far]);
    }
}

#[test]
fn a_killed_near_side_leaves_no_far_side_behind() {
    for transport in ["tcp", "shm", "am"] {
        let dir = Scratch::new();
        let (run, far) = start(&dir, transport, &[]);
        run.signal(Signal::KILL);
        run.end();
        all_end(&[far]);
        assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0, "what was measured stays readable");
    }
}

#[test]
fn what_a_killed_run_leaves_in_the_temporary_folder_goes_with_the_next_run() {
    let dir = Scratch::new();
    std::fs::create_dir(dir.path("t")).unwrap();
    let left = || std::fs::read_dir(dir.path("t")).unwrap().count();
    for transport in ["unix", "shm"] {
        let command = |args: &[&str]| {
            let mut command = dir.command(args);
            command.env("TMPDIR", dir.path("t"));
            command
        };
        let name = format!("{transport}.run.jsonl");
        let mut run = Running::start(command(&[&["run", transport, "-o", &name][..], &LONG].concat()));
        let far = under_way(&mut run, &dir.path(&name));
        run.signal(Signal::KILL);
        run.end();
        all_end(&[far]);
        // At once: nothing has to become old before it goes.
        // Few iterations: two sides that spin on CPUs that others hold may take a time slice for each.
        let few = ["--sizes", "64", "--trials", "1", "--repeats", "100", "--no-html", "-o", "next.run.jsonl"];
        let said = Running::start(command(&[&["run", transport][..], &few].concat())).end();
        assert!(said.measured(), "{said}");
        assert_eq!(left(), 0, "{transport}: what the killed run had is still there");
        std::fs::remove_file(dir.path("next.run.jsonl")).unwrap();
    }
}

#[test]
fn a_temporary_folder_without_a_name_or_named_from_here_serves() {
    let dir = Scratch::new();
    std::fs::create_dir(dir.path("t")).unwrap();
    for temp in ["", "t"] {
        let mut command =
            dir.command(&["run", "unix", "--sizes", "64", "--trials", "1", "--no-html", "-o", "x.run.jsonl"]);
        let said = Running::start({
            command.env("TMPDIR", temp);
            command
        })
        .end();
        assert!(said.measured(), "'{temp}': {said}");
        std::fs::remove_file(dir.path("x.run.jsonl")).unwrap();
    }
}

#[test]
fn a_near_side_that_stays_stopped_leaves_no_far_side_behind() {
    for transport in ["tcp", "shm"] {
        let dir = Scratch::new();
        let (run, far) = start(&dir, transport, &["--patience", "1s"]);
        run.signal(Signal::STOP);
        // The near side is still there, and so is its end of the control connection.
        all_end(&[far]);
        run.signal(Signal::CONT);
        fell_short(&dir, &run.end(), &[transport]);
    }
}

#[test]
fn a_program_replaced_during_a_run_does_not_end_it() {
    let dir = Scratch::new();
    let program = dir.path("pipegauge");
    std::fs::copy(super::support::binary(), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command.args(["run", "unix", "-o", "x.run.jsonl"]).args(LONG).current_dir(dir.path("."));
    command.env(super::support::HISTORY.0, super::support::HISTORY.1).stdin(std::process::Stdio::null());
    let mut run = Running::start(command);
    under_way(&mut run, &dir.path("x.run.jsonl"));
    // As an update does: another file takes the name.
    std::fs::write(dir.path("new"), "#!/bin/sh\nexit 3\n").unwrap();
    std::fs::rename(dir.path("new"), &program).unwrap();
    let rounds = || std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap().matches("\"event\":\"block\"").count();
    let before = rounds();
    until("three more rounds, or the run's end", || (rounds() >= before + 3 || !run.runs()).then_some(()));
    run.signal(Signal::INT);
    let said = run.end();
    fell_short(&dir, &said, &["interrupted"]);
    assert!(rounds() >= before + 3, "{said}");
}

#[test]
fn a_connection_cut_in_the_middle_of_a_message_ends_the_run_with_its_cause() {
    for transport in ["tcp", "unix"] {
        let dir = Scratch::new();
        let mut args = vec!["run", transport, "-o", "x.run.jsonl", "--fault", "cut=400"];
        args.extend(LONG);
        let run = Running::start(dir.command(&args));
        let pid = run.pid();
        let said = run.end();
        assert!(said.code() == 1 || said.code() == 2, "{said}");
        said.complains(&["was cut at message 400", "--fault cut=400"]);
        assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
        assert!(far_processes(pid).is_empty());
    }
}

#[test]
fn a_corrupt_message_is_found_under_check_and_named() {
    let dir = Scratch::new();
    let mut args = vec!["run", "tcp", "-o", "x.run.jsonl", "--fault", "corrupt=1%", "--check"];
    args.extend(LONG);
    let said = dir.run(&args);
    assert!(said.code() == 1 || said.code() == 2, "{said}");
    said.complains(&["corrupt message", "offset"]);
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn contents_that_nobody_changed_pass_the_check() {
    let dir = Scratch::new();
    for transport in between_two_processes() {
        dir.measure(&format!("{transport}.run.jsonl"), &[transport, "--check"]);
    }
}

#[test]
fn lost_datagrams_are_counted_and_never_hang() {
    let dir = Scratch::new();
    // A request or its answer is lost in 36 of 100: several in a row are common, ten would end the run.
    let said = dir.run(&[
        "run",
        "udp",
        "--fault",
        "drop=20%,seed=1",
        "--loss-timeout",
        "20ms",
        "--sizes",
        "64",
        "--perturb",
        "0",
        "--pin",
        "none",
        "--no-html",
        "--trials",
        "2",
        "--repeats",
        "40",
        "--budget",
        "60s",
        "-o",
        "x.run.jsonl",
    ]);
    assert!(said.measured(), "{said}");
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let lost = text
        .lines()
        .map(super::support::json)
        .filter(|e| e["event"] == "point")
        .any(|p| p["loss"].as_f64() > Some(0.0));
    assert!(lost, "no loss was counted: {text}");
}

#[test]
fn a_stall_longer_than_the_patience_is_named() {
    let dir = Scratch::new();
    let mut args = vec!["run", "tcp", "-o", "x.run.jsonl", "--fault", "stall=30s@300", "--patience", "1s"];
    args.extend(LONG);
    let said = dir.run(&args);
    assert!(said.code() == 1 || said.code() == 2, "{said}");
    said.complains(&["--patience"]);
}

#[test]
fn a_far_side_that_cannot_be_started_is_said() {
    // No more files may be opened than a few, so that there are no pipes to talk to a second process over.
    let dir = Scratch::new();
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg("ulimit -n 7; exec \"$0\" run tcp --no-html -o x.run.jsonl").arg(super::support::binary());
    command.env(super::support::HISTORY.0, super::support::HISTORY.1);
    command.current_dir(dir.path("."));
    let said = Running::start(command).end();
    said.refuses(&["Too many open files"]);
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.code() == 0 && shown.out.contains("Too many open files"), "the file tells why it is empty: {shown}");
}

#[test]
fn a_process_without_room_for_a_descriptor_does_not_blame_its_peer() {
    let dir = Scratch::new();
    // Few enough that somewhere on the way one is missing, whatever the process that started this one left open.
    for most in 8..16 {
        let mut command = std::process::Command::new("sh");
        let line = format!(
            "ulimit -n {most}; exec \"$0\" run shm --sizes 64 --trials 1 --repeats 100 --no-html -q -o {most}.run.jsonl"
        );
        command.arg("-c").arg(line).arg(super::support::binary());
        command.env(super::support::HISTORY.0, super::support::HISTORY.1);
        command.current_dir(dir.path("."));
        let said = Running::start(command).end();
        assert!(!said.err.contains("broke the protocol"), "{most}: {said}");
        assert!(
            said.code() == 0 || said.err.contains("Too many open files") || said.err.contains("ulimit -n"),
            "{most}: {said}"
        );
    }
}
