//! gRPC as a module.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::modules::pass_the_check;
use super::mpi::{built, command};
use super::processes::{a_trial, far_processes, send};
use super::support::{LONG, Running, Scratch, json, skip, until};

/// The folder with the module; none, having said why, where its library is missing.
fn module(dir: &Scratch) -> Option<PathBuf> {
    let header = "/usr/include/grpc/grpc.h";
    if !Path::new(header).exists() {
        skip(&format!("grpc: {header} is not installed"));
        return None;
    }
    Some(built(dir, "grpc", &["grpc"]))
}

/// Runs these paths and gives the exit code, what was said on standard error, and the run file.
fn run(dir: &Scratch, modules: &Path, paths: &[&str], more: &[&str]) -> (Option<i32>, String, String) {
    let _ = fs::remove_file(dir.path("x.run.jsonl"));
    let rest = ["--trials", "2", "--check", "--budget", "60s", "--no-html", "-q", "-o", "x.run.jsonl"];
    let said = command(dir, modules, &[&["run"][..], paths, more, &rest].concat()).output().unwrap();
    let err = String::from_utf8_lossy(&said.stderr).into_owned();
    (said.status.code(), err, fs::read_to_string(dir.path("x.run.jsonl")).unwrap_or_default())
}

fn points(run: &str) -> usize {
    run.lines().filter(|line| line.contains(r#""event":"point""#)).count()
}

#[test]
fn it_passes_the_check_of_modules() {
    let dir = Scratch::new();
    let Some(modules) = module(&dir) else { return };
    // Unary calls take turns, and most cases send without an answer: what they carry is held by the runs below.
    pass_the_check(&dir, &modules, &modules.join("grpc.so"), &[("", 20)]);
}

#[test]
fn a_stream_runs_every_pattern_and_unary_calls_those_that_take_turns() {
    let dir = Scratch::new();
    let Some(modules) = module(&dir) else { return };
    for pattern in ["ping-pong", "request", "stream", "burst", "bidirectional"] {
        let counted = ["--pattern", pattern, "--sizes", "1,4097,64KiB", "--repeats", "5", "--pin", "none"];
        let burst: &[&str] = if pattern == "burst" { &["--burst", "20"] } else { &[] };
        let more = [&counted[..], burst].concat();
        let (code, err, file) = run(&dir, &modules, &["grpc", "grpc:window=64KiB"], &more);
        assert_eq!((code, points(&file)), (Some(0), 6), "{pattern}: {err}");
        let opened: Vec<_> = file.lines().filter(|line| line.contains(r#""event":"path""#)).map(json).collect();
        assert_eq!(opened[0]["far_effective"]["options"]["mode"], "stream", "{}", opened[0]);
        assert_eq!(opened[1]["near_effective"]["options"]["window"], "65536", "{}", opened[1]);
        let (code, err, file) = run(&dir, &modules, &["grpc:mode=unary"], &more);
        if ["ping-pong", "request"].contains(&pattern) {
            assert_eq!((code, points(&file)), (Some(0), 3), "{pattern}: {err}");
        } else {
            let why = err.contains("take turns") || err.contains("at once");
            assert!(code == Some(2) && why, "{pattern}: {code:?}: {err}");
        }
    }
}

/// Frames are of 16 KiB, windows begin with 64 KiB, and a message has at most 4 MiB where nobody lifts the limit.
#[test]
fn messages_around_its_boundaries_arrive_whole_over_both_versions_of_ip() {
    let dir = Scratch::new();
    let Some(modules) = module(&dir) else { return };
    let both = fs::read_to_string("/proc/net/if_inet6").is_ok_and(|all| all.contains(" lo"));
    if !both {
        skip("the loopback interface has no IPv6 address");
    }
    let sizes = "1,16379,16384,16385,65530,65536,65537,4194303,4194304,4194305,16MiB";
    for at in if both { &["127.0.0.1", "::1"][..] } else { &["127.0.0.1"] } {
        let more = ["--peer-address", at, "--sizes", sizes, "--repeats", "2", "--pin", "none"];
        let (code, err, file) = run(&dir, &modules, &["grpc", "grpc:mode=unary"], &more);
        assert_eq!((code, points(&file)), (Some(0), 22), "{at}: {err}");
    }
}

#[test]
fn a_peer_that_is_killed_ends_the_run_in_words_and_in_time() {
    let dir = Scratch::new();
    let Some(modules) = module(&dir) else { return };
    for (path, pattern) in [("grpc", "stream"), ("grpc", "ping-pong"), ("grpc:mode=unary", "ping-pong")] {
        let _ = fs::remove_file(dir.path("k.run.jsonl"));
        let line = [&["run", path, "--pattern", pattern, "-o", "k.run.jsonl"][..], &LONG].concat();
        let mut run = Running::start(command(&dir, &modules, &line));
        a_trial(&mut run, &dir.path("k.run.jsonl"));
        let since = Instant::now();
        // One that is killed as its round is over anyway ends nothing, so the next one is killed, too.
        until("the run's end", || {
            far_processes(run.pid()).iter().for_each(|far| send(far.pid, Signal::KILL));
            (!run.runs()).then_some(())
        });
        let said = run.end();
        assert!([1, 2].contains(&said.code()) && !said.err.is_empty(), "{path} {pattern}: {said}");
        assert!(since.elapsed() < Duration::from_secs(60), "{path} {pattern}: {:?}", since.elapsed());
    }
}
