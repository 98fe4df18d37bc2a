//! ZeroMQ and NNG as modules.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::modules::pass_the_check;
use super::mpi::{built, command};
use super::processes::{a_trial, far_processes, send};
use super::support::{LONG, Running, Scratch, json, skip, until};

/// The modules that can be made here, each with its file; says why of one that can't.
fn modules(dir: &Scratch) -> Vec<(&'static str, PathBuf)> {
    let mut all = Vec::new();
    for (name, header) in [("zeromq", "/usr/include/zmq.h"), ("nng", "/usr/include/nng/nng.h")] {
        if Path::new(header).exists() {
            all.push((name, built(dir, name, &[name]).join(format!("{name}.so"))));
        } else {
            skip(&format!("{name}: {header} is not installed"));
        }
    }
    all
}

#[test]
fn they_pass_the_check_of_modules() {
    let dir = Scratch::new();
    for (name, file) in modules(&dir) {
        let both = [("", 20), ("over=ipc", 19)];
        let more: &[_] = if name == "zeromq" { &[("sockets=dealer", 20), ("sockets=pubsub", 20)] } else { &[] };
        pass_the_check(&dir, &dir.path("modules"), &file, &[&both[..], more].concat());
    }
}

#[test]
fn they_are_measured_in_every_pattern_that_they_have() {
    let dir = Scratch::new();
    for (name, _) in modules(&dir) {
        let paths = [name.to_owned(), format!("{name}:over=ipc")];
        let more: &[&str] = if name == "zeromq" { &["zeromq:sockets=dealer,hwm=16"] } else { &["nng:waiting=16"] };
        let paths: Vec<&str> = paths.iter().map(String::as_str).chain(more.iter().copied()).collect();
        for pattern in ["ping-pong", "stream", "burst", "request", "bidirectional"] {
            let counted = ["--sizes", "1,4097,64KiB", "--trials", "2", "--repeats", "5", "--check"];
            let rest =
                ["--pattern", pattern, "--budget", "60s", "--patience", "60s", "--no-html", "-q", "-o", "x.run.jsonl"];
            let burst: &[&str] = if pattern == "burst" { &["--burst", "20"] } else { &[] };
            let _ = fs::remove_file(dir.path("x.run.jsonl"));
            let line = [&["run"][..], &paths, &counted, burst, &rest].concat();
            let said = command(&dir, &dir.path("modules"), &line).output().unwrap();
            assert_eq!(said.status.code(), Some(0), "{name} {pattern}: {}", String::from_utf8_lossy(&said.stderr));
            let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
            let points = run.lines().filter(|line| line.contains(r#""event":"point""#)).count();
            assert_eq!(points, 9, "{name} {pattern}: {run}");
            let opened: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"path""#)).map(json).collect();
            assert_eq!(opened[1]["far_effective"]["options"]["over"], "ipc", "{}", opened[1]);
        }
    }
}

#[test]
fn sockets_that_take_turns_refuse_patterns_without_turns() {
    let dir = Scratch::new();
    if !modules(&dir).iter().any(|(name, _)| *name == "zeromq") {
        return;
    }
    for (pattern, code, words) in [
        ("ping-pong", 0, ""),
        ("request", 0, ""),
        ("stream", 2, "take turns"),
        ("bidirectional", 2, "both ends can't send at once"),
    ] {
        let line =
            ["run", "zeromq:sockets=reqrep", "--pattern", pattern, "--sizes", "64", "--trials", "2", "--repeats", "5"];
        let rest = ["--no-html", "-q", "-o", &format!("{pattern}.run.jsonl"), "--budget", "60s"];
        let said = command(&dir, &dir.path("modules"), &[&line[..], &rest].concat()).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(said.status.code(), Some(code), "{pattern}: {err}");
        assert!(err.contains(words), "{pattern}: {err}");
    }
}

/// Small high-water marks make a publisher wait for its subscriber, and large ones hold much at once: neither loses anything.
#[test]
fn what_is_published_arrives_whole_whatever_may_wait() {
    let dir = Scratch::new();
    if !modules(&dir).iter().any(|(name, _)| *name == "zeromq") {
        return;
    }
    let paths = ["zeromq:sockets=pubsub", "zeromq:sockets=pubsub,over=ipc", "zeromq:sockets=pubsub,hwm=1"];
    for (pattern, sizes, repeats) in [
        ("ping-pong", "1,64KiB", "5"),
        ("request", "64", "5"),
        ("bidirectional", "64KiB", "5"),
        ("burst", "64KiB", "5"),
        ("stream", "64", "5000"),
        ("stream", "1MiB,4MiB", "40"),
    ] {
        let _ = fs::remove_file(dir.path("x.run.jsonl"));
        let counted = ["--sizes", sizes, "--trials", "2", "--repeats", repeats, "--check", "--pattern", pattern];
        let rest = ["--budget", "60s", "--patience", "60s", "--no-html", "-q", "-o", "x.run.jsonl"];
        let burst: &[&str] = if pattern == "burst" { &["--burst", "20"] } else { &[] };
        let line = [&["run"][..], &paths, &counted, burst, &rest].concat();
        let said = command(&dir, &dir.path("modules"), &line).output().unwrap();
        assert_eq!(said.status.code(), Some(0), "{pattern}: {}", String::from_utf8_lossy(&said.stderr));
        let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
        let opened: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"path""#)).map(json).collect();
        assert!(opened.iter().all(|one| one["near_effective"]["options"]["sockets"] == "pubsub"), "{run}");
    }
}

#[test]
fn a_subscriber_that_is_killed_ends_its_path() {
    let dir = Scratch::new();
    if !modules(&dir).iter().any(|(name, _)| *name == "zeromq") {
        return;
    }
    let line = [&["run", "zeromq:sockets=pubsub", "--pattern", "stream", "-o", "k.run.jsonl"][..], &LONG].concat();
    let mut run = Running::start(command(&dir, &dir.path("modules"), &line));
    a_trial(&mut run, &dir.path("k.run.jsonl"));
    // One that is killed as its round is over anyway ends nothing, so the next one is killed, too.
    until("the run's end", || {
        far_processes(run.pid()).iter().for_each(|far| send(far.pid, Signal::KILL));
        (!run.runs()).then_some(())
    });
    let said = run.end();
    assert!([1, 2].contains(&said.code()) && !said.err.is_empty(), "{said}");
}

#[test]
fn they_run_over_both_versions_of_ip() {
    let dir = Scratch::new();
    let both = fs::read_to_string("/proc/net/if_inet6").is_ok_and(|all| all.contains(" lo"));
    if !both {
        skip("the loopback interface has no IPv6 address");
    }
    for (name, _) in modules(&dir) {
        for at in if both { &["127.0.0.1", "::1"][..] } else { &["127.0.0.1"] } {
            let _ = fs::remove_file(dir.path("x.run.jsonl"));
            let line =
                ["run", name, "--peer-address", at, "--sizes", "1,64KiB", "--trials", "2", "--repeats", "5", "--check"];
            let rest = ["--budget", "60s", "--no-html", "-q", "-o", "x.run.jsonl"];
            let said = command(&dir, &dir.path("modules"), &[&line[..], &rest].concat()).output().unwrap();
            assert_eq!(said.status.code(), Some(0), "{name} {at}: {}", String::from_utf8_lossy(&said.stderr));
        }
    }
}
