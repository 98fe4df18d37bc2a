//! UCX and libfabric as modules.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use super::modules::pass_the_check;
use super::mpi::{built, command, named};
use super::processes::{a_trial, command_line, send};
use super::support::{LONG, Running, Scratch, alone, json, only_never_at_once, skip, until};

/// The modules that can be made here, in a folder; says why of one that can't.
fn modules(dir: &Scratch) -> (PathBuf, Vec<&'static str>) {
    alone();
    let mut names = Vec::new();
    for (name, header) in [("ucx", "/usr/include/ucp/api/ucp.h"), ("libfabric", "/usr/include/rdma/fabric.h")] {
        if Path::new(header).exists() {
            built(dir, name, &[name]);
            names.push(name);
        } else {
            skip(&format!("{name}: {header} is not installed"));
        }
    }
    (dir.path("modules"), names)
}

/// Of these paths those whose module is here.
fn of<'a>(names: &[&str], paths: &[&'a str]) -> Vec<&'a str> {
    let here = |path: &&&str| names.iter().any(|name| path.split(':').next() == Some(*name));
    paths.iter().filter(here).copied().collect()
}

/// Measures a path, counted and checked, and gives the events of the run's file.
fn measured(dir: &Scratch, modules: &Path, path: &str, pattern: &str, sizes: &str, more: &[&str]) -> Vec<Value> {
    let _ = fs::remove_file(dir.path("x.run.jsonl"));
    let counted =
        ["--pattern", pattern, "--sizes", sizes, "--trials", "2", "--repeats", "5", "--check", "--pin", "none"];
    // Both sides call their library all the time, and get few turns where other programs hold the CPUs.
    let rest = ["--budget", "60s", "--patience", "60s", "--no-html", "-q", "-o", "x.run.jsonl"];
    let line = [&["run", path][..], &counted, &rest, more].concat();
    let said = command(dir, modules, &line).output().unwrap();
    assert_eq!(said.status.code(), Some(0), "{path} {pattern}: {}", String::from_utf8_lossy(&said.stderr));
    fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect()
}

/// The same until every size has a point: a side that got no CPU for long makes a size look slow, and the survey leaves out those above it.
fn whole(dir: &Scratch, modules: &Path, path: &str, pattern: &str, sizes: &str, more: &[&str]) {
    let wanted = sizes.split(',').count();
    let mut found = 0;
    for _ in 0..4 {
        let events = measured(dir, modules, path, pattern, sizes, more);
        found = events.iter().filter(|one| one["event"] == "point").count();
        if found == wanted {
            return;
        }
    }
    panic!("{path} {pattern}: {found} of {wanted} sizes have a point")
}

const RELIABLE: [&str; 8] = [
    "ucx",
    "ucx:tls=tcp",
    "ucx:op=am,tls=tcp",
    "ucx:op=stream,tls=tcp",
    "ucx:op=am,tls=posix",
    "libfabric",
    "libfabric:endpoint=msg",
    "libfabric:provider=shm,op=tagged",
];

#[test]
fn they_pass_the_check_of_modules() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    for name in names {
        let variants: &[_] = match name {
            "ucx" => {
                &[("", 22), ("tls=tcp", 22), ("op=am,tls=tcp", 22), ("op=stream,tls=tcp", 21), ("op=am,tls=posix", 21)]
            }
            _ => &[("", 22), ("endpoint=msg", 22), ("provider=shm,op=tagged", 21), ("provider=udp", 9)],
        };
        pass_the_check(&dir, &modules, &modules.join(format!("{name}.so")), variants);
    }
}

#[test]
fn every_operation_is_measured_in_every_pattern() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    for path in of(&names, &RELIABLE) {
        // Where the operation makes no difference, some are enough.
        let patterns: &[&str] = match path {
            "ucx" | "ucx:tls=tcp" | "libfabric" => {
                &["stream", "burst", "bidirectional", "request", "put", "get", "post"]
            }
            _ => &["stream", "bidirectional", "put", "post"],
        };
        for pattern in patterns {
            let more: &[&str] = if *pattern == "burst" { &["--burst", "20"] } else { &[] };
            whole(&dir, &modules, path, pattern, "1,4097,64KiB", more);
        }
    }
}

#[test]
fn messages_around_every_boundary_arrive_as_they_were() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    // Frames of TCP, segments and eager limits of both libraries, and the largest that is asked for.
    let sizes = "1,64,65,1448,1449,4096,4097,8185,8256,16385,20552,20553,65536,65537,262145,16MiB";
    for path in of(&names, &RELIABLE) {
        whole(&dir, &modules, path, "ping-pong", sizes, &[]);
    }
}

#[test]
fn datagrams_are_of_the_providers_size_and_may_be_lost() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    let path = of(&names, &["libfabric:provider=udp"]);
    if path.is_empty() {
        return;
    }
    for pattern in ["ping-pong", "bidirectional", "request"] {
        whole(&dir, &modules, path[0], pattern, "1,1472", &[]);
    }
    for pattern in ["put", "post", "burst"] {
        let line = ["run", path[0], "--pattern", pattern, "--sizes", "64", "--no-html", "-q"];
        let said = command(&dir, &modules, &line).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(2) && err.contains("as asked"), "{pattern}: {err}");
    }
}

#[test]
fn what_took_effect_is_told() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    for (path, option, value) in [
        ("ucx:tls=tcp", "tls", "tcp"),
        ("ucx:tls=posix", "tls", "posix"),
        ("ucx:op=am", "op", "am"),
        ("ucx:tls=tcp,eager-limit=64KiB", "eager-limit", "65536"),
        ("ucx:op=am,eager-limit=4KiB", "eager-limit", "4096"),
        ("libfabric:endpoint=msg", "endpoint", "msg"),
        ("libfabric:provider=shm", "provider", "shm"),
    ] {
        for path in of(&names, &[path]) {
            let events = measured(&dir, &modules, path, "ping-pong", "1,64KiB,65537", &[]);
            let opened = events.iter().find(|one| one["event"] == "path").unwrap();
            for side in ["near_effective", "far_effective"] {
                assert_eq!(opened[side]["options"][option], value, "{path}: {opened}");
            }
        }
    }
    // What the library chose by itself is known, too.
    for path in of(&names, &["ucx:tls=tcp"]) {
        let events = measured(&dir, &modules, path, "ping-pong", "1", &[]);
        let opened = events.iter().find(|one| one["event"] == "path").unwrap();
        let limit = opened["near_effective"]["options"]["eager-limit"].as_str().unwrap();
        assert!(limit.parse::<u64>().unwrap() > 0, "{opened}");
    }
}

#[test]
fn settings_that_do_not_go_together_are_refused_in_words() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    for (path, why) in [
        ("ucx:op=stream,eager-limit=64KiB", "a stream has no eager limit"),
        ("libfabric:provider=shm,endpoint=msg", "provider=tcp has it"),
        ("libfabric:provider=udp,op=tagged", "op=tagged is for endpoint=rdm"),
        ("libfabric:endpoint=dgram", "provider=udp has endpoint=dgram"),
    ] {
        for path in of(&names, &[path]) {
            let line = ["run", path, "--sizes", "64", "--no-html", "-q", "-o", "x.run.jsonl"];
            let said = command(&dir, &modules, &line).output().unwrap();
            let err = String::from_utf8_lossy(&said.stderr).into_owned();
            assert!(said.status.code() == Some(2) && err.contains(why), "{path}: {err}");
            let _ = fs::remove_file(dir.path("x.run.jsonl"));
        }
    }
}

#[test]
fn they_run_over_both_versions_of_ip() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    if !fs::read_to_string("/proc/net/if_inet6").is_ok_and(|all| all.contains(" lo")) {
        return skip("the loopback interface has no IPv6 address");
    }
    let all = ["ucx:tls=tcp", "libfabric", "libfabric:endpoint=msg", "libfabric:provider=udp"];
    for path in of(&names, &all) {
        whole(&dir, &modules, path, "ping-pong", "1,1000", &["--peer-address", "::1"]);
    }
}

#[test]
fn a_killed_peer_ends_its_path_and_nothing_stays_behind() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    let paths = ["ucx", "ucx:tls=tcp", "libfabric", "libfabric:endpoint=msg", "libfabric:provider=shm"];
    for path in of(&names, &paths) {
        let _ = fs::remove_file(dir.path("x.run.jsonl"));
        let mut run =
            Running::start(command(&dir, &modules, &[&["run", path, "-o", "x.run.jsonl"][..], &LONG].concat()));
        a_trial(&mut run, &dir.path("x.run.jsonl"));
        let files: Vec<String> = children(run.pid()).iter().map(|pid| format!("{pid}:")).collect();
        // One that is killed as its round is over anyway ends nothing, so the next one is killed, too.
        until("the run's end", || {
            for far in children(run.pid()).into_iter().filter(|pid| command_line(*pid).contains("peer")) {
                send(far, Signal::KILL);
            }
            (!run.runs()).then_some(())
        });
        let said = run.end();
        assert!([1, 2].contains(&said.code()) && !said.err.is_empty(), "{path}: {said}");
        // Names of shared memory begin with the process that made them.
        let mut left: Vec<String> = Vec::new();
        if let Ok(all) = fs::read_dir("/dev/shm") {
            left.extend(all.filter_map(|e| e.ok()?.file_name().into_string().ok()));
        }
        assert!(!left.iter().any(|file| files.iter().any(|pid| file.starts_with(pid.as_str()))), "{path}: {left:?}");
    }
}

/// Processes that this one started.
fn children(of: u32) -> Vec<u32> {
    let parent = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    named("").into_iter().filter(|pid| parent(pid) == Some(of)).collect()
}

#[test]
fn flows_and_pairs_carry_what_they_are_to_side_by_side() {
    let dir = Scratch::new();
    let (modules, names) = modules(&dir);
    for path in of(&names, &["ucx", "ucx:tls=tcp", "libfabric", "libfabric:provider=shm"]) {
        for more in ["--flows", "--pairs"] {
            let line =
                ["run", path, more, "2", "--pattern", "stream", "--sizes", "64KiB", "--trials", "2", "--repeats"];
            let rest =
                ["200", "--check", "--budget", "60s", "--patience", "60s", "--no-html", "-q", "-o", "x.run.jsonl"];
            let _ = fs::remove_file(dir.path("x.run.jsonl"));
            let said = Running::start(command(&dir, &modules, &[&line[..], &rest].concat())).end();
            // Whether short streams meet is the machine's affair; that both carry what they are to is not.
            assert!(said.measured() || only_never_at_once(&said), "{path} {more}: {said}");
            let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
            let trials: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"trial""#)).map(json).collect();
            let both = |trial: &Value| trial["flows"]["each"].as_array().is_some_and(|each| each.len() == 2);
            assert!(trials.len() >= 2 && trials.iter().all(both), "{path} {more}: {run}");
        }
    }
}
