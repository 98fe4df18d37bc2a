//! Several flows over one path: each with a connection, a thread and contents of its own, all of which end when one does.

use rustix::process::Signal;

use super::processes::{far_processes, send, under_way};
use super::support::{LONG, Running, Scratch, only_never_at_once};

/// A run that names how much it measures, whose messages are checked.
fn checked(dir: &Scratch, path: &str, flows: &str, pattern: &[&str]) -> super::support::Said {
    let mut args =
        vec!["run", path, "--flows", flows, "--check", "--sizes", "64,4KiB", "--perturb", "0", "--trials", "2"];
    args.extend(["--repeats", "500", "--budget", "60s", "--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"]);
    args.extend(pattern);
    dir.run(&args)
}

#[test]
fn each_flow_carries_contents_of_its_own_over_every_path() {
    for path in ["tcp", "unix", "seqpacket", "shm", "pipe", "udp"] {
        for flows in ["1", "3", "8"] {
            let dir = Scratch::new();
            let said = checked(&dir, path, flows, &[]);
            // A datagram that is lost on a busy machine is no fault of the flows, nor is it that many short ones took turns on two CPUs.
            let turns = flows == "8" && only_never_at_once(&said);
            let excused = turns || (path == "udp" && said.err.contains("lost"));
            assert!(said.measured() || excused, "{path} {flows}: {said}");
        }
    }
}

#[test]
fn patterns_whose_messages_go_one_way_carry_them_either_way() {
    for pattern in
        [&["--pattern", "stream"][..], &["--pattern", "burst", "--burst", "5"], &["--pattern", "bidirectional"]]
    {
        for reverse in [&[][..], &["--reverse"]] {
            if pattern[1] == "bidirectional" && !reverse.is_empty() {
                continue;
            }
            let dir = Scratch::new();
            let said = checked(&dir, "unix", "3", &[pattern, reverse].concat());
            // Whether short streams meet is the machine's affair; that their contents are right is not.
            assert!(said.measured() || only_never_at_once(&said), "{pattern:?}: {said}");
        }
    }
}

#[test]
fn a_run_file_tells_each_flow_and_one_of_a_single_flow_tells_none() {
    let dir = Scratch::new();
    let text = |name| std::fs::read_to_string(dir.path(name)).unwrap();
    dir.measure("one.run.jsonl", &["tcp"]);
    dir.measure("one-too.run.jsonl", &["tcp", "--flows", "1"]);
    for name in ["one.run.jsonl", "one-too.run.jsonl"] {
        assert!(!text(name).contains("\"flows\""), "{name} is as it was before there were flows");
    }
    let said = checked(&dir, "tcp", "3", &[]);
    assert!(said.measured(), "{said}");
    let lines: Vec<serde_json::Value> =
        text("x.run.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event| lines.iter().find(|line| line["event"] == event).unwrap();
    assert_eq!(of("run")["plan"]["paths"][0]["flows"], 3);
    assert_eq!(of("path")["flows"].as_array().map(Vec::len), Some(3));
    assert_eq!(of("trial")["flows"]["each"].as_array().map(Vec::len), Some(3));
    assert_eq!(of("point")["flows"]["count"], 3);
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.out.contains("3 flows at once") && shown.out.contains("fairness"), "{shown}");
    let asked = dir.run(&["ask", "x.run.jsonl", "latency of 64 B"]);
    assert!(asked.out.contains("3 flows ran at once"), "{asked}");
}

#[test]
fn several_numbers_of_flows_are_paths_of_one_run() {
    let dir = Scratch::new();
    let said = checked(&dir, "unix", "1,2", &[]);
    assert!(said.measured(), "{said}");
    let shown = dir.run(&["show", "x.run.jsonl", "--path", "unix:flows=2"]);
    assert_eq!(shown.code(), 0, "{shown}");
}

#[test]
fn a_killed_far_side_ends_all_flows() {
    for path in ["pipe", "shm", "unix", "tcp", "udp"] {
        let dir = Scratch::new();
        let mut args = vec!["run", path, "-o", "x.run.jsonl", "--flows", "3"];
        args.extend(LONG);
        let mut run = Running::start(dir.command(&args));
        let far = under_way(&mut run, &dir.path("x.run.jsonl"));
        let pid = run.pid();
        send(far.pid, Signal::KILL);
        let said = run.end();
        assert!(said.code() == 1 || said.code() == 2, "{path}: {said}");
        said.complains(&["far side"]);
        assert!(far_processes(pid).is_empty(), "{path}");
    }
}

#[test]
fn a_flow_that_stalls_breaks_or_carries_wrong_bytes_ends_the_run_and_is_named() {
    for (fault, pattern, says) in [
        ("stall=60s@300,flow=2", "stream", &["flow 2 of 3", "--patience"][..]),
        ("stall=60s@300,flow=3", "ping-pong", &["flow 3 of 3", "--patience"]),
        ("cut=300,flow=2", "ping-pong", &["flow 2 of 3"]),
        ("corrupt=100%,flow=2", "ping-pong", &["flow 2 of 3", "corrupt message"]),
        ("corrupt=100%,flow=3", "stream", &["flow 3 of 3", "corrupt message"]),
    ] {
        let dir = Scratch::new();
        let said = checked(&dir, "tcp", "3", &["--pattern", pattern, "--patience", "1s", "--fault", fault]);
        assert_ne!(said.code(), 0, "{fault}: {said}");
        said.complains(says);
    }
}
