//! A host without IP: a network namespace of the test's own, whose loopback interface is down.

use std::process::{Command, Stdio};

use super::support::{HISTORY, Running, SHORT, Said, Scratch, binary, json, skip};

/// A program where there is no network at all; none, having said why, where that can't be had.
pub fn isolated(program: impl AsRef<std::ffi::OsStr>) -> Option<Command> {
    // Who is not root gets a user namespace of their own.
    let ways: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];
    let works = |way: &&&[&str]| {
        let tried = Command::new("unshare").args(**way).arg("true").stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    let Some(way) = ways.iter().find(works) else {
        skip("network namespaces of one's own are not to be had here (unshare --net)");
        return None;
    };
    let mut command = Command::new("unshare");
    command.args(*way).arg(program).stdin(Stdio::null()).env(HISTORY.0, HISTORY.1);
    Some(command)
}

/// Runs the command there.
fn run(dir: &Scratch, args: &[&str]) -> Option<Said> {
    let mut command = isolated(binary())?;
    command.args(args).current_dir(dir.path("."));
    Some(Running::start(command).end())
}

#[test]
fn local_paths_are_measured_without_any_network() {
    let dir = Scratch::new();
    let kinds = ["memcpy", "pipe", "shm", "unix", "seqpacket"];
    let args = [&["run"][..], &kinds, &["-o", "x.run.jsonl", "--json"], &SHORT].concat();
    let Some(said) = run(&dir, &args) else { return };
    assert!(said.measured(), "{said}");
    let doc = json(&said.out);
    for (path, kind) in doc["paths"].as_array().unwrap().iter().zip(kinds) {
        assert_eq!(path["opened"]["transport"], kind);
        assert_eq!(path["points"].as_array().unwrap().len(), 3, "{kind}: {said}");
    }
}

#[test]
fn ip_without_a_network_is_refused_before_anything_is_measured() {
    let dir = Scratch::new();
    for kinds in [&["tcp"][..], &["udp"], &["shm", "unix", "tcp"]] {
        let Some(said) = run(&dir, &[&["run"][..], kinds, &["-o", "x.run.jsonl"], &SHORT].concat()) else { return };
        said.refuses(&[kinds[kinds.len() - 1], "unreachable", "loopback"]);
        assert_eq!(dir.names(), Vec::<String>::new(), "no file is left behind");
    }
}

#[test]
fn what_reaches_other_hosts_alone_is_listed_as_available_for_that() {
    let dir = Scratch::new();
    let Some(said) = run(&dir, &["list", "--json"]) else { return };
    let doc = json(&said.out);
    let of = |name: &str| doc["transports"].as_array().unwrap().iter().find(|t| t["name"] == name).unwrap().clone();
    let tcp = of("tcp");
    assert_eq!(tcp["available"], true, "{tcp}");
    assert!(tcp["not_within"].as_str().is_some_and(|why| why.contains("loopback")), "{tcp}");
    assert!(of("shm")["not_within"].is_null() && of("shm")["available"] == true);
    let text = run(&dir, &["list", "tcp"]).unwrap();
    assert!(text.out.contains("only to another host (--peer)"), "{text}");
}
