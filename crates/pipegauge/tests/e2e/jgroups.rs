//! JGroups as a module: each member's process has a Java machine.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::mpi::{built, command};
use super::support::{Running, Scratch, alone, installed, json, skip};

/// Counted, not timed; Java machines take long to begin where they get few turns.
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
        skip("JGroups is not to be had from Maven Central here");
        return None;
    }
    Some(built(dir, "jgroups", &["jgroups"]))
}

#[test]
fn it_passes_the_check_of_modules() {
    let dir = Scratch::new();
    let Some(modules) = module(&dir) else { return };
    let file = modules.join("jgroups.so");
    let said = command(&dir, &modules, &["module", "check", file.to_str().unwrap()]).output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success(), "{out}");
}

#[test]
fn three_members_are_measured_in_either_order() {
    let dir = Scratch::new();
    let Some(modules) = module(&dir) else { return };
    for more in [&["--messages", "25"][..], &["--one-sender", "--messages", "4"]] {
        let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
        let paths = ["jgroups", "jgroups:order=sender,xmit-interval=10ms"];
        let words = [&["group"][..], &paths, &["--size", "1,2KiB", "--check"], more, &COUNTED].concat();
        let said = Running::start(command(&dir, &modules, &words)).end();
        assert!(said.measured(), "{said}");
        let lines: Vec<Value> = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect();
        assert_eq!(lines.iter().filter(|line| line["event"] == "point").count(), 4, "{more:?}: {lines:?}");
        for trial in lines.iter().filter(|line| line["event"] == "trial" && line["warmup"] != true) {
            assert!(trial["repeats"] == 20 && trial.get("lost").is_none(), "{trial}");
        }
    }
}
