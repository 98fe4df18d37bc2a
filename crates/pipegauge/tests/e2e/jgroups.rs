//! Groups of JGroups as a module: each member is a Java machine in a process of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use super::corosync::COUNTED;
use super::mpi::{command, named};
use super::processes::send;
use super::support::{Running, Scratch, alone, installed, json, skip, until};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../modules/jgroups");

fn make(out: &Path, what: &str) -> Result<(), String> {
    let made =
        Command::new("make").args(["-s", "-C", SOURCE, &format!("OUT={}", out.display()), what]).output().unwrap();
    if made.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&[made.stdout, made.stderr].concat()).into())
    }
}

/// The folder of the module, which all tests share: Maven takes seconds. None, having said why, where it can't be had.
fn module() -> Option<PathBuf> {
    alone();
    if installed("javac").is_none() || installed("mvn").is_none() {
        skip("JGroups takes a JDK and Maven (default-jdk-headless, maven)");
        return None;
    }
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jgroups");
    fs::create_dir_all(&out).unwrap();
    if let Err(said) = make(&out, out.join("jgroups.jar").to_str().unwrap()) {
        skip(&format!("Maven can't fetch JGroups: {}", said.lines().next().unwrap_or_default()));
        return None;
    }
    make(&out, "jgroups").unwrap_or_else(|said| panic!("{said}"));
    Some(out)
}

fn events(dir: &Scratch) -> Vec<Value> {
    fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect()
}

/// Measures these paths, whose members deliver all in the order that the stack promises, and each of which has `points`.
fn measured(dir: &Scratch, modules: &Path, paths: &[&str], more: &[&str], points: usize) {
    let _ = fs::remove_file(dir.path("x.run.jsonl"));
    let words = [&["group"][..], paths, &["--members", "3", "--check"], more, &COUNTED].concat();
    let said = Running::start(command(dir, modules, &words)).end();
    assert!(said.measured(), "{said}");
    let lines = events(dir);
    assert_eq!(lines.iter().filter(|line| line["event"] == "point").count(), points * paths.len(), "{lines:?}");
    for trial in lines.iter().filter(|line| line["event"] == "trial" && line["warmup"] != true) {
        assert!(trial["repeats"] == 20 && trial.get("lost").is_none(), "{trial}");
    }
}

/// Sockets that Java machines open for debuggers. They have their place in /tmp, whatever the environment says.
fn sockets() -> Vec<PathBuf> {
    let files = fs::read_dir("/tmp").unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.to_string_lossy().starts_with("/tmp/.java_pid")).collect()
}

#[test]
fn it_passes_the_check_of_modules_and_leaves_nothing() {
    let dir = Scratch::new();
    let Some(modules) = module() else { return };
    let before = sockets();
    let file = modules.join("jgroups.so");
    let words = ["module", "check", file.to_str().unwrap(), "--patience", "60"];
    let said = command(&dir, &modules, &words).output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success() && out.contains("ok     casts"), "{out}");
    let left: Vec<_> = sockets().into_iter().filter(|socket| !before.contains(socket)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn three_members_deliver_all_in_one_order_or_in_that_of_each_sender() {
    let dir = Scratch::new();
    let Some(modules) = module() else { return };
    let paths = ["jgroups:warm=100", "jgroups:stack=tcp,order=fifo,warm=100"];
    measured(&dir, &modules, &paths, &["--size", "1,2KiB", "--messages", "25"], 2);
    let effective = serde_json::to_string(&events(&dir)).unwrap();
    for order in ["total", "fifo"] {
        assert!(effective.contains(order), "{effective}");
    }
    let tuned = ["jgroups:stack=tcp,retransmit=10ms,credits=8MiB,bundler=transfer-queue,warm=0"];
    measured(&dir, &modules, &tuned, &["--size", "100KiB", "--messages", "4", "--one-sender"], 1);
}

/// A stack of the user's own without an order of all; what it says of addresses does not count.
const OWN: &str = r#"<config xmlns="urn:org:jgroups">
    <TCP bind_addr="site_local" bind_port="7800"/>
    <MPING/>
    <FD_SOCK2/>
    <VERIFY_SUSPECT2/>
    <pbcast.NAKACK2 use_mcast_xmit="false"/>
    <UNICAST3/>
    <pbcast.STABLE/>
    <pbcast.GMS/>
    <MFC/>
    <FRAG2/>
</config>"#;

#[test]
fn a_stack_of_ones_own_is_a_file_and_is_kept_to_this_host() {
    let dir = Scratch::new();
    let Some(modules) = module() else { return };
    fs::write(dir.path("mine.xml"), OWN).unwrap();
    let paths = ["jgroups:config=mine,warm=100", "jgroups:config=mine,order=total,warm=100"];
    measured(&dir, &modules, &paths, &["--size", "64", "--messages", "5"], 1);
    for (path, why) in
        [("jgroups:config=none", "there is no file"), ("jgroups:config=mine,stack=tcp", "set one of them")]
    {
        let _ = fs::remove_file(dir.path("x.run.jsonl"));
        let words = [&["group", path, "--messages", "5"][..], &COUNTED].concat();
        let said = Running::start(command(&dir, &modules, &words)).end();
        assert!(!said.measured(), "{said}");
        said.complains(&[why]);
    }
}

#[test]
fn a_module_without_the_jar_says_what_is_missing() {
    let dir = Scratch::new();
    let Some(modules) = module() else { return };
    let bare = dir.path("bare");
    fs::create_dir(&bare).unwrap();
    fs::copy(modules.join("jgroups.so"), bare.join("jgroups.so")).unwrap();
    let why = "jgroups.jar is not beside the module";
    let listed = command(&dir, &bare, &["list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(listed.contains(why), "{listed}");
    let words = [&["group", "jgroups", "--messages", "5"][..], &COUNTED].concat();
    let said = Running::start(command(&dir, &bare, &words)).end();
    said.refuses(&[why]);
}

#[test]
fn a_member_that_is_killed_ends_the_path_and_no_member_stays() {
    let dir = Scratch::new();
    let Some(modules) = module() else { return };
    let words = ["group", "jgroups:warm=0", "--messages", "5", "--rounds", "1000000", "--budget", "3600s", "--no-html"];
    let words = [&words[..], &["--patience", "60s", "-q", "-o", "x.run.jsonl"]].concat();
    let run = Running::start(command(&dir, &modules, &words));
    let members = || children(run.pid());
    let member = until("three members with a Java machine each", || {
        let all: Vec<u32> = members().into_iter().filter(|pid| has_java(*pid)).collect();
        (all.len() >= 3).then(|| all[1])
    });
    send(member, Signal::KILL);
    let said = run.end();
    assert!(!said.measured(), "{said}");
    said.complains(&["killed by signal 9"]);
}

/// Processes that this one started.
fn children(parent: u32) -> Vec<u32> {
    let of = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    named("").into_iter().filter(|pid| of(*pid) == Some(parent)).collect()
}

/// Whether a process has the library of a Java machine.
fn has_java(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("libjvm.so"))
}
