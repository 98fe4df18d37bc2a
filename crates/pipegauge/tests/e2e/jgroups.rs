//! Groups of JGroups as a module: each member is a Java machine in a process of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use super::corosync::COUNTED;
use super::modules::changed;
use super::mpi::command;
use super::processes::{Process, all_end, children, send};
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
    const TRANSPORT: &str = r#"<TCP bind_addr="site_local" bind_port="7800"/>"#;
    for (name, transport) in [
        ("including", r#"<include file="tcp-default.xml" tcp_nodelay="true"/>"#),
        ("tunnel", r#"<TUNNEL gossip_router_hosts="192.0.2.1[12001]"/>"#),
        ("relay", r#"<TCP/><relay.RELAY2 site="here"/>"#),
        ("lost", r#"<include file="nowhere.xml"/>"#),
    ] {
        fs::write(dir.path(&format!("{name}.xml")), changed(OWN, TRANSPORT, transport)).unwrap();
    }
    let paths = ["jgroups:config=mine,warm=100", "jgroups:config=including,order=total,warm=100"];
    measured(&dir, &modules, &paths, &["--size", "64", "--messages", "5"], 1);
    for (path, why) in [
        ("jgroups:config=none", "there is no file"),
        ("jgroups:config=mine,stack=tcp", "set one of them"),
        ("jgroups:config=tunnel", "the stack has TUNNEL, which may reach other hosts"),
        ("jgroups:config=relay", "the stack has relay.RELAY2, which may reach other hosts"),
        ("jgroups:config=lost", "JGroups ships no stack nowhere.xml"),
    ] {
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
    let members = with_java(run.pid());
    let all = children(run.pid(), "");
    send(members[1].pid, Signal::KILL);
    let said = run.end();
    assert!(!said.measured(), "{said}");
    said.complains(&["killed by signal 9"]);
    all_end(&members);
    all_end(&all);
}

/// The members of this run, once each of the three has its Java machine.
fn with_java(run: u32) -> Vec<Process> {
    until("three members with a Java machine each", || {
        let all: Vec<_> = children(run, "").into_iter().filter(|member| has_java(member.pid)).collect();
        (all.len() >= 3).then_some(all)
    })
}

/// Files of a stranger's folder that have the names of JGroups' own are not read, and one that a stranger's sweep names is read with consent alone.
#[test]
fn a_strangers_folder_gives_members_no_stack() {
    let dir = Scratch::new();
    let Some(modules) = module() else { return };
    for name in ["udp", "udp-default", "tcp", "tcp-default", "mine"] {
        fs::write(dir.path(&format!("{name}.xml")), "<config><NO_PROTOCOL/></config>").unwrap();
    }
    let paths = ["jgroups:warm=0", "jgroups:stack=tcp,warm=0"];
    measured(&dir, &modules, &paths, &["--size", "64", "--messages", "5"], 1);
    fs::create_dir(dir.path("s")).unwrap();
    for (axis, path) in [
        (r#""name":"align","levels":["64","4KiB"]"#, "jgroups:config=mine"),
        (r#""name":"config","levels":["mine","udp"]"#, "jgroups"),
        (r#""name":"order","levels":["fifo","total,config=mine"]"#, "jgroups"),
    ] {
        let plan = format!(
            r#"{{"schema":"pipegauge-sweep-plan/1","axes":[{{{axis}}}],"transport":"{path}","flags":["--pattern","group","--sizes","64"],"rounds":1,"budget":1,"seed":1}}"#
        );
        fs::write(dir.path("s/sweep.json"), plan).unwrap();
        let words = ["sweep", "--resume", "s", "-q"];
        Running::start(command(&dir, &modules, &words)).end().refuses(&["config=mine", "--trust"]);
    }
}

#[test]
fn members_listen_on_this_host_alone() {
    let dir = Scratch::new();
    let Some(modules) = module() else { return };
    // It listens for clients of a protocol of its own.
    let listens = r#"<FRAG2/><STOMP bind_addr="0.0.0.0" port="8787"/>"#;
    fs::write(dir.path("mine.xml"), changed(OWN, "<FRAG2/>", listens)).unwrap();
    for (path, listens) in [
        ("jgroups", WATCHES),
        ("jgroups:stack=tcp", WATCHES),
        ("jgroups:config=mine", WATCHES),
        ("jgroups:config=mine", 8787..8838),
    ] {
        let _ = fs::remove_file(dir.path("x.run.jsonl"));
        let path = format!("{path}{}warm=0", if path.contains(':') { ',' } else { ':' });
        let words = ["group", &path, "--messages", "5", "--rounds", "1000000", "--budget", "3600s", "--no-html"];
        let words = [&words[..], &["--patience", "60s", "-q", "-o", "x.run.jsonl"]].concat();
        let run = Running::start(command(&dir, &modules, &words));
        let all = until("three members that listen", || {
            let all: Vec<_> = children(run.pid(), "").into_iter().map(|member| bound(member.pid)).collect();
            let watch =
                |bound: &&Vec<_>| bound.iter().any(|(table, _, port)| *table == "tcp" && listens.contains(port));
            (all.iter().filter(watch).count() >= 3).then_some(all)
        });
        for (table, address, port) in all.into_iter().flatten() {
            // Where casts come in the address is that of the group: nothing else is delivered there.
            let here = address == [127, 0, 0, 1] || table == "udp" && address[..2] == [239, 255];
            assert!(here, "{path}: {table} {address:?} port {port}");
        }
        run.signal(Signal::INT);
        run.end().complains(&["interrupted"]);
    }
}

/// Ports of `FD_SOCK2`: so far above those of the members.
const WATCHES: std::ops::Range<u16> = 12_048..22_100;

/// At which addresses and ports a process listens by TCP, and has sockets of UDP; which table of the kernel says so.
fn bound(pid: u32) -> Vec<(&'static str, [u8; 4], u16)> {
    let Ok(fds) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let own: Vec<String> = fds
        .filter_map(|fd| fs::read_link(fd.ok()?.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned()))
        .collect();
    let mut bound = Vec::new();
    for (table, state) in [("tcp", "0A"), ("udp", "07"), ("tcp6", "0A"), ("udp6", "07")] {
        let rows = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for row in rows.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>()) {
            if row.len() < 10 || row[3] != state || !own.iter().any(|inode| inode == row[9]) {
                continue;
            }
            let (address, port) = row[1].rsplit_once(':').unwrap();
            // One of IPv6 is none of this host's alone, whichever it is.
            let address = u32::from_str_radix(address, 16).map_or([0; 4], u32::to_ne_bytes);
            bound.push((table, address, u16::from_str_radix(port, 16).unwrap()));
        }
    }
    bound
}

/// Members are not authenticated: what comes from others than members, and what is no message of bytes, ends at the member.
#[test]
fn only_casts_of_members_are_handed_over() {
    let Some(modules) = module() else { return };
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/jgroups/Strangers.java");
    let jars = ["jgroups-member.jar", "jgroups.jar"].map(|name| modules.join(name).display().to_string()).join(":");
    let said = Command::new("java").args(["-Djava.net.preferIPv4Stack=true", "-cp", &jars, source]).output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && out.lines().count() == 10, "{out}{}", String::from_utf8_lossy(&said.stderr));
    for line in out.lines() {
        let handed_over = line.starts_with("a cast of a member") || line.starts_with("its own");
        assert!(line.ends_with(if handed_over { ": handed over" } else { ": left out" }), "{out}");
    }
}

/// Whether a process has the library of a Java machine.
fn has_java(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains("libjvm.so"))
}
