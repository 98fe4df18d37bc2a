//! JGroups as a module: each member's process has a Java machine.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::mpi::{built, command};
use super::support::{Running, Scratch, alone, installed, json, skip};

/// Counted, not timed; a busy machine gives Java machines few turns.
const COUNTED: [&str; 14] = [
    "--trials",
    "1",
    "--rounds",
    "20",
    "--budget",
    "60s",
    "--patience",
    "80s",
    "--pin",
    "none",
    "--no-html",
    "--quiet",
    "-o",
    "x.run.jsonl",
];

/// Each round begins with three Java machines: what they do is over before a better compiler would pay.
const SHORT: (&str, &str) = ("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto");

/// The module in a folder; none, having said why, where it can't be used.
fn module(dir: &Scratch) -> Option<PathBuf> {
    alone();
    if installed("javac").is_none() || installed("mvn").is_none() {
        skip("JGroups takes a JDK and Maven (default-jdk-headless, maven)");
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../modules/jgroups");
    let out = format!("OUT={}", dir.path("modules").display());
    let fetched = Command::new("make").args(["-s", "-C", source, &out, "library"]).output().unwrap();
    if !fetched.status.success() {
        let why = String::from_utf8_lossy(&fetched.stderr).into_owned() + &String::from_utf8_lossy(&fetched.stdout);
        skip(&format!("JGroups is not to be had from Maven Central here: {}", why.trim()));
        return None;
    }
    Some(built(dir, "jgroups", &["jgroups"]))
}

/// One fetch for all: Maven takes longer to begin than the rest.
#[test]
fn three_members_are_measured_in_either_order() {
    let dir = Scratch::new();
    let Some(modules) = module(&dir) else { return };
    let file = modules.join("jgroups.so");
    let mut check = command(&dir, &modules, &["module", "check", file.to_str().unwrap()]);
    let said = check.env(SHORT.0, SHORT.1).output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success() && out.contains("ok     casts"), "{out}");
    for more in [
        &["jgroups", "--size", "1,2KiB", "--messages", "25"][..],
        &["jgroups:order=sender,xmit-interval=10ms", "--size", "1KiB", "--one-sender", "--messages", "4"],
    ] {
        let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
        let words = [&["group"][..], more, &["--check"], &COUNTED].concat();
        let mut run = command(&dir, &modules, &words);
        run.env(SHORT.0, SHORT.1);
        let said = Running::start(run).end();
        assert!(said.measured(), "{said}");
        let lines: Vec<Value> = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect();
        let sizes = more[2].split(',').count();
        assert_eq!(lines.iter().filter(|line| line["event"] == "point").count(), sizes, "{more:?}: {lines:?}");
        for trial in lines.iter().filter(|line| line["event"] == "trial" && line["warmup"] != true) {
            assert!(trial["repeats"] == 20 && trial.get("lost").is_none(), "{trial}");
        }
    }
}
