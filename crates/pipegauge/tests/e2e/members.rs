//! Near processes of a run: pairs, a fan-in and a fan-out, what a run file tells of them, and what becomes of a run when one of them ends.

use rustix::process::Signal;

use super::processes::{children, send, under_way};
use super::support::{LONG, Running, Scratch, only_never_at_once, until};
use super::two_sides::Serve;

/// A run that names how much it measures, whose messages are checked.
fn checked(dir: &Scratch, path: &str, more: &[&str]) -> super::support::Said {
    let mut args = vec!["run", path, "--check", "--sizes", "64,4KiB", "--trials", "2", "--repeats", "500"];
    args.extend(["--budget", "60s", "--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"]);
    args.extend(more);
    dir.run(&args)
}

#[test]
fn pairs_and_fans_are_measured_over_every_path_between_two_processes() {
    for path in ["tcp", "unix", "seqpacket", "shm", "pipe", "udp"] {
        for more in [
            &["--pairs", "2"][..],
            &["--pairs", "2", "--pattern", "stream"],
            &["--topology", "fan-in", "--members", "3"],
            &["--topology", "fan-out", "--members", "3"],
        ] {
            let dir = Scratch::new();
            let said = checked(&dir, path, more);
            // Whether short streams meet is the machine's affair, and a lost datagram is no fault of the processes.
            let excused = only_never_at_once(&said) || (path == "udp" && said.err.contains("lost"));
            assert!(said.measured() || excused, "{path} {more:?}: {said}");
        }
    }
}

#[test]
fn a_run_file_tells_each_process_and_tables_speak_of_pairs() {
    let dir = Scratch::new();
    let said = checked(&dir, "tcp", &["--pairs", "1,3"]);
    assert!(said.measured() || only_never_at_once(&said), "{said}");
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str, path: u64| {
        lines.iter().find(|line| line["event"] == event && (event == "run" || line["path"] == path)).unwrap()
    };
    let paths = &of("run", 0)["plan"]["paths"];
    assert_eq!((&paths[0]["topology"], &paths[1]["topology"]), (&"pairs".into(), &"pairs".into()));
    assert_eq!((&paths[0]["label"], &paths[1]["label"]), (&"tcp:pairs=1".into(), &"tcp:pairs=3".into()));
    let ranks = |path, role: &str| -> Vec<u64> {
        let members = of("path", path)["members"].as_array().unwrap();
        members.iter().filter(|m| m["role"] == role).map(|m| m["rank"].as_u64().unwrap()).collect()
    };
    assert_eq!((ranks(0, "near"), ranks(0, "far")), (vec![1], vec![1]));
    assert_eq!((ranks(1, "near"), ranks(1, "far")), (vec![1, 2, 3], vec![1, 2, 3]));
    assert_eq!(of("path", 1)["flows"].as_array().map(Vec::len), Some(3));
    assert_eq!(of("trial", 1)["flows"]["each"].as_array().map(Vec::len), Some(3));
    let exported = dir.run(&["export", "x.run.jsonl", "--format", "json"]);
    assert!(
        exported.out.contains("\"topology\": \"pairs\"") || exported.out.contains("\"topology\":\"pairs\""),
        "{exported}"
    );
    let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
    assert!(shown.out.contains("1 and 3 pairs at once"), "{shown}");
    if said.measured() {
        for word in ["pairs", "slowest pair", "fastest pair", "fairness", "rate of all"] {
            assert!(shown.out.contains(word), "{word}: {shown}");
        }
        // A warning of a busy machine may speak of flows or processes; the table speaks of pairs.
        assert!(!shown.out.contains("slowest flow") && !shown.out.contains("fastest flow"), "{shown}");
        let asked = dir.run(&["ask", "x.run.jsonl", "--path", "tcp:pairs=3", "latency of 64 B"]);
        assert!(asked.out.contains("3 pairs ran at once"), "{asked}");
    }
}

#[test]
fn each_process_says_where_it_runs_what_it_sees_there_and_what_it_cost() {
    let dir = Scratch::new();
    let measured = |file: &str, more: &[&str]| {
        let args =
            ["run", "tcp", "--pairs", "2", "--sizes", "4KiB", "--trials", "2", "--repeats", "20000", "--budget", "60s"];
        let rest = ["--pin", "none", "--no-html", "--quiet", "-o", file];
        let said = dir.run(&[&args[..], &rest, more].concat());
        assert!(said.measured() || only_never_at_once(&said), "{said}");
        let text = std::fs::read_to_string(dir.path(file)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    let of =
        |lines: &[serde_json::Value], event: &str| lines.iter().find(|line| line["event"] == event).unwrap().clone();
    let lines = measured("a.run.jsonl", &[]);
    let here = of(&lines, "run")["near"]["hostname"].clone();
    let members = of(&lines, "path")["members"].as_array().unwrap().clone();
    assert_eq!(members.len(), 4);
    // None sees anything else than its side, or has a connection that can do anything else.
    let usual =
        |one: &serde_json::Value| one["host"] == here && one["environment"].is_null() && one["capabilities"].is_null();
    assert!(members.iter().all(usual), "{members:?}");
    let flows = of(&lines, "trial")["flows"]["each"].as_array().unwrap().clone();
    for cost in flows.iter().flat_map(|flow| [&flow["near_cost"], &flow["far_cost"]]) {
        assert!(cost["cpu_ns"].as_u64().is_some_and(|ns| ns > 0), "{flows:?}");
    }
    let shown = dir.run(&["show", "a.run.jsonl"]);
    for word in ["near 1", "near 2", "far 1", "far 2", "CPU a transfer"] {
        assert!(shown.out.contains(word), "{word}: {shown}");
    }
    if super::support::installed("unshare").is_none() || !super::support::root() {
        return super::support::skip("a host name of its own takes root and unshare");
    }
    let boxed = "unshare --uts sh -c 'echo pg-box > /proc/sys/kernel/hostname; exec \"$@\"' sh";
    let lines = measured("b.run.jsonl", &["--near-under", boxed]);
    let members = of(&lines, "path")["members"].as_array().unwrap().clone();
    for one in &members {
        let near = one["role"] == "near";
        assert_eq!(one["host"], if near { "pg-box".into() } else { here.clone() }, "{one}");
        assert_eq!(one["environment"]["hostname"] == "pg-box", near, "{one}");
    }
    let shown = dir.run(&["show", "b.run.jsonl"]);
    assert!(shown.out.contains("near 2 sees otherwise than its side: hostname pg-box"), "{shown}");
}

#[test]
fn a_killed_process_ends_the_run_is_named_and_leaves_none() {
    for (more, command, says) in [
        (&["--pairs", "2"][..], "member", &["of 2: the near process ended", "signal 9"][..]),
        (&["--pairs", "2", "--pattern", "stream"], "peer", &["of 2: the far side ended", "signal 9"]),
        (&["--topology", "fan-in", "--members", "3"], "member", &["of 3: the near process ended", "signal 9"]),
        (&["--topology", "fan-out", "--members", "2"], "peer", &["the far side ended", "signal 9"]),
    ] {
        for path in ["tcp", "shm"] {
            let dir = Scratch::new();
            let mut args = vec!["run", path, "-o", "x.run.jsonl"];
            args.extend(more);
            args.extend(LONG);
            let mut run = Running::start(dir.command(&args));
            under_way(&mut run, &dir.path("x.run.jsonl"));
            let pid = run.pid();
            let victim = until("a process of the run", || children(pid, command).pop());
            send(victim.pid, Signal::KILL);
            let said = run.end();
            // Whether the processes had ever run at once is the machine's affair.
            assert!(said.code() == 1 || said.code() == 2, "{path} {more:?}: {said}");
            said.complains(says);
            assert!(children(pid, "").is_empty(), "{path} {more:?}");
            // What was measured is in the file.
            let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
            assert!(text.contains("\"event\":\"trial\"") && text.contains("\"event\":\"end\""), "{path} {more:?}");
        }
    }
}

#[test]
fn a_near_process_that_is_asked_to_end_ends_the_run() {
    let dir = Scratch::new();
    let mut args = vec!["run", "unix", "-o", "x.run.jsonl", "--pairs", "2"];
    args.extend(LONG);
    let mut run = Running::start(dir.command(&args));
    under_way(&mut run, &dir.path("x.run.jsonl"));
    let victim = until("a near process", || children(run.pid(), "member").pop());
    send(victim.pid, Signal::TERM);
    let said = run.end();
    assert!(said.code() == 1 || said.code() == 2, "{said}");
    // Between two trials it ends with an exit status, and in one it says so.
    let told = ["the near process was asked to end", "the near process ended: it exited with status"];
    assert!(said.err.contains("of 2: ") && told.iter().any(|text| said.err.contains(text)), "{said}");
}

#[test]
fn processes_end_with_a_killed_command() {
    let dir = Scratch::new();
    let mut args = vec!["run", "tcp", "-o", "x.run.jsonl", "--pairs", "2"];
    args.extend(LONG);
    let mut run = Running::start(dir.command(&args));
    under_way(&mut run, &dir.path("x.run.jsonl"));
    let all = until("four processes", || Some(children(run.pid(), "")).filter(|all| all.len() == 4));
    send(run.pid(), Signal::KILL);
    run.end();
    until("the end of all processes", || all.iter().all(|process| !process.runs()).then_some(()));
}

#[test]
fn what_can_not_be_is_refused_before_anything_is_measured() {
    let dir = Scratch::new();
    for (args, says) in [
        (&["run", "memcpy", "--pairs", "2"][..], "one process plays both ends"),
        (&["run", "tcp", "--pattern", "connect", "--pairs", "2"], "a near process keeps its connection"),
        (&["run", "tcp", "--pairs", "2", "--rate", "10/s"], "a schedule is one flow's"),
        (&["run", "tcp", "--topology", "fan-in"], "--members"),
    ] {
        dir.run(args).refuses(&[says]);
    }
    let serve = Serve::start(&dir, &["--keep"]);
    serve.measure(&dir, &["tcp", "--pairs", "2"]).refuses(&["'pipegauge serve' is one process", "--peer ssh://"]);
}

#[test]
fn near_processes_meet_a_far_side_that_serves() {
    for more in [&["--topology", "fan-in", "--members", "3"][..], &["--pairs", "1"]] {
        let dir = Scratch::new();
        let serve = Serve::start(&dir, &[]);
        let said = serve.measure(&dir, &[&["tcp", "--pattern", "stream", "-o", "x.run.jsonl"], more].concat());
        assert!(said.measured() || only_never_at_once(&said), "{more:?}: {said}");
    }
}
