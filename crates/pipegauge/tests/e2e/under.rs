//! `--near-under` and `--peer-under`: the processes of a side run under a command.

use std::process::Command;

use super::hosts::ip;
use super::processes::{children, trial_in};
use super::support::{LONG, Running, SHORT, Scratch, installed, json, root, skip, until};

fn header(dir: &Scratch, file: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(dir.path(file)).unwrap();
    json(text.lines().next().unwrap())
}

#[test]
fn each_side_runs_under_what_was_asked_for_and_the_run_says_so() {
    let dir = Scratch::new();
    let under = ["--near-under", "env PG_X='a b'", "--peer-under", "env PG_X=far"];
    let mut run = Running::start(dir.command(&[&["run", "tcp", "-o", "x.run.jsonl"][..], &under, &LONG].concat()));
    trial_in(&mut run, &dir.path("x.run.jsonl"));
    for (command, says) in [("member", "PG_X=a b"), ("peer", "PG_X=far")] {
        let found = || {
            let process = children(run.pid(), command).into_iter().next()?;
            let environment = std::fs::read(format!("/proc/{}/environ", process.pid)).ok()?;
            // Before the wrapper has run the program, the variable is an argument of it.
            String::from_utf8_lossy(&environment).split('\0').any(|word| word == says).then_some(())
        };
        until(command, found);
    }
    let own = std::fs::read(format!("/proc/{}/environ", run.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&own).contains("PG_X"), "the command itself runs under neither");
    run.signal(rustix::process::Signal::INT);
    assert_eq!(run.end().code(), 1);
    let plan = header(&dir, "x.run.jsonl")["plan"].clone();
    assert_eq!(plan["near_under"], serde_json::json!(["env", "PG_X=a b"]));
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.out.contains("near side under 'env PG_X=a b', far side under 'env PG_X=far'"), "{shown}");
}

#[test]
fn every_path_between_two_processes_runs_under_a_wrapper() {
    for pattern in ["ping-pong", "stream", "request", "burst"] {
        let dir = Scratch::new();
        let under = ["--near-under", "env A=1", "--peer-under", "env B=1", "--pattern", pattern];
        let paths = ["run", "tcp", "unix", "shm", "pipe", "-o", "x.run.jsonl"];
        let said = dir.run(&[&paths[..], &under, &SHORT].concat());
        assert!(said.measured(), "{pattern}: {said}");
    }
}

#[test]
fn a_wrapper_that_ends_or_is_not_there_is_quoted() {
    for flag in ["--near-under", "--peer-under"] {
        for (wrapper, says) in [
            ("false", &["false", "status 1"][..]),
            ("sh -c 'echo out of luck >&2; exit 7'", &["status 7", "out of luck"]),
            ("sh -c 'kill -9 $$'", &["signal 9"]),
            ("/does/not/exist -x", &["/does/not/exist", "No such file"]),
        ] {
            let dir = Scratch::new();
            dir.run(&[&["run", "tcp", flag, wrapper][..], &SHORT].concat()).refuses(says);
        }
    }
}

#[test]
fn a_wrapper_that_keeps_a_process_off_its_cpu_is_told_and_not_overruled() {
    let cpus = rustix::thread::sched_getaffinity(None).unwrap();
    let allowed: Vec<usize> = (0..1024).filter(|cpu| cpus.is_set(*cpu)).collect();
    let (Some(_), [a, b, ..]) = (installed("taskset"), &allowed[..]) else {
        return skip("it takes taskset and two CPUs");
    };
    let pinned = |near: usize, far: usize| format!("{near},{far}");
    let run = |flag: &str, on: usize, pin: &str| {
        let dir = Scratch::new();
        let under = format!("taskset -c {on}");
        let flags: Vec<&str> = SHORT.iter().map(|word| if *word == "none" { pin } else { word }).collect();
        dir.run(&[&["run", "tcp", flag, &under][..], &flags].concat())
    };
    assert!(run("--near-under", *b, &pinned(*b, *a)).measured());
    assert!(run("--near-under", *b, "none").measured());
    run("--near-under", *b, &pinned(*a, *b)).refuses(&[&format!("CPU {a}"), "--pin"]);
    run("--peer-under", *a, &pinned(*a, *b)).refuses(&[&format!("CPU {b}"), "--pin"]);
}

/// Two namespaces that are joined, and go with this.
struct Joined([String; 2]);

impl Drop for Joined {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

/// The far side enters the namespace of a process that is there already, as one enters a container.
fn a_process_is_joined_in_its_namespace(dir: &Scratch, near: &str, name: &str) {
    if installed("nsenter").is_none() {
        return skip("it takes nsenter");
    }
    let mut there = Command::new("ip").args(["netns", "exec", name, "sleep", "600"]).spawn().unwrap();
    let namespace = |of: String| std::fs::read_link(format!("/proc/{of}/ns/net")).ok();
    until("a process in the namespace", || {
        (namespace(there.id().to_string())? != namespace("self".into())?).then_some(())
    });
    let enters = format!("nsenter -t {} -n", there.id());
    let under = ["--near-under", near, "--peer-under", &enters, "--peer-address", "10.143.0.2"];
    let said = dir.run(&[&["run", "tcp", "-o", "z.run.jsonl"][..], &under, &SHORT].concat());
    there.kill().unwrap();
    there.wait().unwrap();
    assert!(said.measured(), "{said}");
    let text = std::fs::read_to_string(dir.path("z.run.jsonl")).unwrap();
    assert!(text.contains("10.143.0.1:") && text.contains("to 10.143.0.2:"), "{text}");
}

#[test]
fn the_sides_run_in_two_network_namespaces() {
    if installed("ip").is_none() || !root() {
        return skip("network namespaces take root and iproute2");
    }
    let names = Joined(["n", "f"].map(|side| format!("pgu{side}{}", std::process::id())));
    let [a, b] = &names.0;
    let made = ip(&["netns", "add", a])
        .and_then(|()| ip(&["netns", "add", b]))
        .and_then(|()| ip(&["-n", a, "link", "add", "ua", "type", "veth", "peer", "name", "ub", "netns", b]))
        .and_then(|()| ip(&["-n", a, "address", "add", "10.143.0.1/24", "dev", "ua"]))
        .and_then(|()| ip(&["-n", b, "address", "add", "10.143.0.2/24", "dev", "ub"]))
        .and_then(|()| ip(&["-n", a, "link", "set", "ua", "up"]))
        .and_then(|()| ip(&["-n", b, "link", "set", "ub", "up"]));
    if let Err(why) = made {
        return skip(&format!("network namespaces can't be set up here: {}", why.replace('\n', "; ")));
    }
    let dir = Scratch::new();
    let (near, far) = (format!("ip netns exec {a}"), format!("ip netns exec {b}"));
    let under = ["--near-under", &near, "--peer-under", &far];
    let paths = ["run", "tcp", "udp", "shm", "-o", "x.run.jsonl"];
    let said = dir.run(&[&paths[..], &under, &["--peer-address", "10.143.0.2"], &SHORT].concat());
    assert!(said.measured(), "{said}");
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let crossed = |line: &&str| line.contains("10.143.0.1:") && line.contains("to 10.143.0.2:");
    assert_eq!(text.lines().filter(crossed).count(), 2, "tcp and udp went from one to the other");
    a_process_is_joined_in_its_namespace(&dir, &near, b);
    // Without the address the near side looks for the far side in its own namespace, which may not have it.
    let said = dir.run(&[&["run", "tcp", "-o", "y.run.jsonl"][..], &under, &SHORT].concat());
    assert_eq!(said.code(), 2, "{said}");
    said.complains(&["listening on 127.0.0.1", "--peer-under", "--peer-address ADDRESS"]);
    std::fs::remove_file(dir.path("y.run.jsonl")).unwrap();
    for name in [a, b] {
        ip(&["-n", name, "link", "set", "lo", "up"]).unwrap();
    }
    for path in ["tcp", "udp", "multicast"] {
        for (under, flag) in [(&under[..], "--peer-under"), (&under[..2], "--near-under")] {
            let said = dir.run(&[&["run", path, "--patience", "1s", "-o", "y.run.jsonl"][..], under, &SHORT].concat());
            let _ = std::fs::remove_file(dir.path("y.run.jsonl"));
            assert_eq!(said.code(), 2, "{said}");
            said.complains(&["127.0.0.1", flag, "--peer-address ADDRESS"]);
            assert_eq!(said.err.contains("multicast:interface=NAME,ttl=1"), path == "multicast", "{said}");
        }
    }
}
