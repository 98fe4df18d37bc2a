//! `--near` and `--peer` on two other hosts: three network namespaces. The command's reaches both, but not the link between the two, so that
//! data that is measured can only have gone from one to the other.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Signal;

use super::hosts::ip;
use super::processes::{Process, all_end, command_line, send, trial_in};
use super::sshd::Login;
use super::support::{
    HISTORY, LONG, Running, SHORT, Scratch, binary, installed, json, only_never_at_once, root, skip, until,
};

/// The near host and the far one as the command reaches them, and as they reach each other.
const MANAGED: [&str; 2] = ["10.141.1.2", "10.141.2.2"];
const LINKED: [&str; 2] = ["10.141.3.1", "10.141.3.2"];
const HOSTNAMES: [&str; 2] = ["pg-near", "pg-far"];

struct Hosts {
    /// The command's, the near one's and the far one's namespaces.
    names: [String; 3],
    /// The near host's end of the link between the two.
    link: String,
    path: std::ffi::OsString,
    _sshds: [Running; 2],
}

/// Namespaces that go when this does.
struct Names([String; 3]);

impl Drop for Names {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "delete", name]).stderr(Stdio::null()).status();
        }
    }
}

/// Joins two namespaces by a pair of interfaces with these addresses.
fn join(a: (&str, &str, &str), b: (&str, &str, &str)) -> Result<(), String> {
    ip(&["-n", a.0, "link", "add", a.1, "type", "veth", "peer", "name", b.1, "netns", b.0])?;
    for (host, link, address) in [a, b] {
        ip(&["-n", host, "address", "add", &format!("{address}/24"), "dev", link])?;
        ip(&["-n", host, "link", "set", link, "up"])?;
        ip(&["-n", host, "link", "set", "lo", "up"])?;
    }
    Ok(())
}

impl Hosts {
    /// None, having said why, where there can be none.
    fn make(dir: &Scratch) -> Option<(Names, Self)> {
        if ["ip", "unshare", "hostname"].iter().any(|program| installed(program).is_none()) || !root() {
            skip("network namespaces take root, iproute2, unshare and hostname");
            return None;
        }
        let login = Login::make(dir)?;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let names = Names(["c", "a", "b"].map(|side| format!("pg3{side}{}x{n}", std::process::id())));
        let [c, a, b] = &names.0;
        let made = [c, a, b].iter().try_for_each(|name| ip(&["netns", "add", name])).and_then(|()| {
            join((c, "pgca", "10.141.1.1"), (a, "pgac", MANAGED[0]))?;
            join((c, "pgcb", "10.141.2.1"), (b, "pgbc", MANAGED[1]))?;
            join((a, "pgab", LINKED[0]), (b, "pgba", LINKED[1]))
        });
        if let Err(why) = made {
            skip(&format!("network namespaces can't be set up here: {}", why.replace('\n', "; ")));
            return None;
        }
        let sshd = |i: usize| {
            let name = &names.0[i + 1];
            // A name of its own, by which a run file tells whose environment it holds.
            let named = format!("hostname {}; exec \"$@\"", HOSTNAMES[i]);
            let under = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", &named, "sshd"];
            login.serve(dir, &under, MANAGED[i], 22)
        };
        let sshds = [sshd(0), sshd(1)];
        for address in MANAGED {
            let target = format!("root@{address}");
            until("sshd", || {
                let mut ssh = Command::new("ip");
                ssh.args(["netns", "exec", c, "ssh", &target, "true"]).env("PATH", &login.path);
                ssh.stderr(Stdio::null()).stdin(Stdio::null()).status().ok().filter(|s| s.success())
            });
        }
        let (path, link) = (login.path.clone(), "pgab".to_owned());
        let hosts = Self { names: names.0.clone(), link, path, _sshds: sshds };
        Some((names, hosts))
    }

    /// A run whose near and far side are the two hosts.
    fn run(&self, dir: &Scratch, more: &[&str]) -> Command {
        let [near, far] = MANAGED.map(|address| format!("ssh://root@{address}"));
        let program = binary().display().to_string();
        let args = ["run", "--near", &near, "--peer", &far, "--peer-address", LINKED[1], "--remote-program", &program];
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[0]]).arg(binary()).args(args).args(more);
        command.current_dir(dir.path(".")).stdin(Stdio::null()).env(HISTORY.0, HISTORY.1).env("PATH", &self.path);
        command
    }

    /// Bytes that the near host sent over the link between the two.
    fn carried(&self) -> u64 {
        let said = Command::new("ip").args(["-n", &self.names[1], "-j", "-s", "link", "show", &self.link]).output();
        let text = String::from_utf8_lossy(&said.expect("ip").stdout).into_owned();
        json(&text)[0]["stats64"]["tx"]["bytes"].as_u64().expect("a counter")
    }

    /// The process of a namespace with this hidden command.
    fn process(&self, host: usize, command: &str) -> Process {
        let of = || {
            let said = Command::new("ip").args(["netns", "pids", &self.names[host]]).output().ok()?;
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            let pids: Vec<u32> = text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
            let this = |pid: &u32| {
                let line = command_line(*pid);
                // A login's own processes name it, too.
                let login = line.contains("sshd") || line.contains("-c ");
                line.trim_end().ends_with(&format!(" {command}")) && !login
            };
            let pid = pids.into_iter().find(this)?;
            Process::of(pid)
        };
        until("a process on another host", of)
    }
}

#[test]
fn data_goes_from_host_to_host_and_the_run_file_is_of_them() {
    let dir = Scratch::new();
    let Some((_names, hosts)) = Hosts::make(&dir) else { return };
    let before = hosts.carried();
    let line = [&["tcp", "udp", "-o", "x.run.jsonl", "--patience", "60s"][..], &SHORT].concat();
    let said = Running::start(hosts.run(&dir, &line)).end();
    assert!(said.measured(), "{said}");
    // Each size is sent in two trials of ten iterations by either transport.
    let least = 2 * 2 * 10 * (1 + 64 + 4096);
    assert!(hosts.carried() - before > least, "{} bytes", hosts.carried() - before);
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(json).collect();
    assert_eq!(lines[0]["near"]["hostname"], HOSTNAMES[0]);
    let interfaces: Vec<&str> =
        lines[0]["near"]["interfaces"].as_array().unwrap().iter().filter_map(|i| i["name"].as_str()).collect();
    assert!(interfaces.contains(&"pgab") && !interfaces.contains(&"pgca"), "of the near host: {interfaces:?}");
    let paths: Vec<_> = lines.iter().filter(|line| line["event"] == "path").collect();
    assert_eq!(paths.len(), 2);
    for path in paths {
        assert_eq!(path["far"]["hostname"], HOSTNAMES[1]);
        let addresses = path["near_effective"]["addresses"].to_string();
        assert!(LINKED.iter().all(|address| addresses.contains(address)), "{addresses}");
    }
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.out.contains("pg-near to pg-far"), "{shown}");
}

#[test]
fn pairs_of_processes_run_on_the_two_hosts_under_what_was_asked_for() {
    let dir = Scratch::new();
    let Some((_names, hosts)) = Hosts::make(&dir) else { return };
    let under = ["--near-under", "env PG_X=near", "--peer-under", "env PG_X=far"];
    let more = [&["tcp", "--pairs", "2", "-o", "x.run.jsonl"][..], &under, &LONG].concat();
    let mut run = Running::start(hosts.run(&dir, &more));
    trial_in(&mut run, &dir.path("x.run.jsonl"));
    for (host, command, says) in [(1, "member", "PG_X=near"), (2, "peer", "PG_X=far")] {
        let set = || {
            // A round's processes end with it, and before its wrapper has run it a process has not what it sets.
            let environment = std::fs::read(format!("/proc/{}/environ", hosts.process(host, command).pid)).ok()?;
            String::from_utf8_lossy(&environment).split('\0').any(|word| word == says).then_some(())
        };
        until(says, set);
    }
    run.signal(Signal::INT);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["interrupted"]);
}

/// An address of the command's own host that both others reach, each over its own link.
const LEADER: &str = "10.141.9.9";

impl Hosts {
    /// Has both other hosts reach the command's own at [`LEADER`].
    fn lead(&self) {
        let [c, a, b] = &self.names;
        ip(&["-n", c, "address", "add", &format!("{LEADER}/32"), "dev", "lo"]).unwrap();
        ip(&["-n", a, "route", "add", LEADER, "via", "10.141.1.1"]).unwrap();
        ip(&["-n", b, "route", "add", LEADER, "via", "10.141.2.1"]).unwrap();
    }

    /// A run from the command's own host, with these arguments.
    fn led_here(&self, dir: &Scratch, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[0]]).arg(binary()).args(args);
        command.arg("--remote-program").arg(binary());
        command.current_dir(dir.path(".")).stdin(Stdio::null()).env(HISTORY.0, HISTORY.1).env("PATH", &self.path);
        command
    }
}

/// The events of a run file.
fn lines_of(dir: &Scratch, file: &str) -> Vec<serde_json::Value> {
    std::fs::read_to_string(dir.path(file)).unwrap().lines().map(json).collect()
}

/// The hosts of a path's members of this role, in their order.
fn hosts_of(lines: &[serde_json::Value], role: &str) -> Vec<String> {
    let path = lines.iter().find(|line| line["event"] == "path").expect("a path");
    let members = path["members"].as_array().expect("members").iter().filter(|one| one["role"] == role);
    members.map(|one| one["host"].as_str().unwrap_or("none").to_owned()).collect()
}

#[test]
fn far_processes_are_spread_over_several_hosts() {
    let dir = Scratch::new();
    let Some((_names, hosts)) = Hosts::make(&dir) else { return };
    let far = MANAGED.map(|address| format!("ssh://root@{address}"));
    let peers = ["--peer", &far[0], "--peer", &far[1]];
    let pairs = ["run", "tcp", "--pairs", "3", "--pattern", "stream", "-o", "pairs.run.jsonl", "--no-html", "--quiet"];
    let short = ["--sizes", "4KiB", "--trials", "3", "--repeats", "5000", "--budget", "60s", "--pin", "none"];
    let said = Running::start(hosts.led_here(&dir, &[&pairs[..], &peers, &short].concat())).end();
    // Whether short streams meet is the machine's affair.
    assert!(said.measured() || only_never_at_once(&said), "{said}");
    let lines = lines_of(&dir, "pairs.run.jsonl");
    assert_eq!(hosts_of(&lines, "far"), [HOSTNAMES[0], HOSTNAMES[1], HOSTNAMES[0]], "in turns");
    let trial = lines.iter().find(|line| line["event"] == "trial").unwrap();
    assert_eq!(trial["flows"]["each"].as_array().map(Vec::len), Some(3));
    let shown = dir.run(&["show", "pairs.run.jsonl"]);
    assert!(shown.out.contains("to pg-near, pg-far"), "{shown}");
    each_far_host_is_calibrated(&lines);
    if said.measured() {
        the_far_host_that_moved_is_named(&dir, &lines);
    }
    // A near side on a third host reaches them likewise.
    let near =
        [&["--near", far[0].as_str()][..], &peers, &["--peer-address", "127.0.0.1", "--peer-address", LINKED[1]]]
            .concat();
    let args =
        [&["run", "tcp", "--pairs", "2", "-o", "near.run.jsonl", "--no-html", "--quiet"][..], &near, &short].concat();
    let said = Running::start(hosts.led_here(&dir, &args)).end();
    assert!(said.measured() || only_never_at_once(&said), "{said}");
    let lines = lines_of(&dir, "near.run.jsonl");
    assert_eq!(hosts_of(&lines, "far"), HOSTNAMES);
    each_far_host_is_calibrated(&lines);
}

/// Each round of the events has a calibration of its near host's machine and of both far ones'.
fn each_far_host_is_calibrated(lines: &[serde_json::Value]) {
    let rounds: Vec<_> = lines.iter().filter(|line| line["event"] == "block").collect();
    assert!(!rounds.is_empty());
    for round in rounds {
        let others =
            round["other_far_calibrations"].as_array().unwrap_or_else(|| panic!("of the first alone: {round}"));
        assert_eq!((others.len(), &others[0]["rank"]), (1, &2.into()), "{round}");
        for machine in [&round["calibration"], &round["far_calibration"], &others[0]] {
            assert!(machine["wake"].as_f64().is_some_and(|wake| wake > 0.0), "{round}");
        }
    }
}

/// Of two runs that differ in the calibration of the second far host alone, `compare` names that host.
fn the_far_host_that_moved_is_named(dir: &Scratch, lines: &[serde_json::Value]) {
    for (file, wake) in [("was.run.jsonl", 3e-5), ("moved.run.jsonl", 9e-5)] {
        let steady = |line: &serde_json::Value| {
            let mut line = line.clone();
            if line["event"] == "block" {
                let machine = |wake: f64| serde_json::json!({"wake": wake, "copy": 1e-6});
                line["calibration"] = machine(1e-5);
                line["far_calibration"] = machine(2e-5);
                line["other_far_calibrations"] = serde_json::json!([{"rank": 2, "wake": wake, "copy": 1e-6}]);
            }
            format!("{line}\n")
        };
        std::fs::write(dir.path(file), lines.iter().map(steady).collect::<String>()).unwrap();
    }
    let compared = dir.run(&["compare", "was.run.jsonl", "moved.run.jsonl"]);
    let said = compared.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("far host pg-far's wake-up round trip"), "{compared}");
    assert!(!said.contains("far host pg-near's") && !said.contains("far side's"), "{compared}");
}

#[test]
fn a_group_has_members_on_several_hosts() {
    if !cfg!(feature = "strata") {
        skip("this program is built without strata");
        return;
    }
    let dir = Scratch::new();
    let Some((_names, hosts)) = Hosts::make(&dir) else { return };
    hosts.lead();
    let [_, a, b] = &hosts.names;
    ip(&["-n", a, "route", "add", &format!("{}/32", MANAGED[1]), "via", LINKED[1], "src", MANAGED[0]]).unwrap();
    ip(&["-n", b, "route", "add", &format!("{}/32", MANAGED[0]), "via", LINKED[0], "src", MANAGED[1]]).unwrap();
    let far = MANAGED.map(|address| format!("ssh://root@{address}"));
    let path = format!("strata:bind={LEADER}");
    let group = ["run", &path, "--topology", "group", "--members", "5", "--pattern", "group", "-o", "g.run.jsonl"];
    let more = ["--peer", &far[0], "--peer", &far[1], "--sizes", "64", "--trials", "2", "--repeats", "20", "--check"];
    let rest = ["--budget", "60s", "--pin", "none", "--no-html", "--quiet"];
    let said = Running::start(hosts.led_here(&dir, &[&group[..], &more, &rest].concat())).end();
    assert!(said.measured(), "{said}");
    let lines = lines_of(&dir, "g.run.jsonl");
    assert_eq!(hosts_of(&lines, "far"), [HOSTNAMES[0], HOSTNAMES[1], HOSTNAMES[0], HOSTNAMES[1]]);
    let path = lines.iter().find(|line| line["event"] == "path").unwrap();
    for (side, address) in [("near_effective", LEADER), ("far_effective", MANAGED[0])] {
        let took = path[side]["addresses"].to_string();
        assert!(took.contains(address), "{side}: {took}");
    }
}

#[test]
fn near_processes_are_spread_over_several_hosts() {
    let dir = Scratch::new();
    let Some((_names, hosts)) = Hosts::make(&dir) else { return };
    hosts.lead();
    let nears = MANAGED.map(|address| format!("ssh://root@{address}"));
    for (topology, file) in [("fan-in", "in.run.jsonl"), ("fan-out", "out.run.jsonl")] {
        let args = ["run", "tcp", "--topology", topology, "--members", "3", "--peer-address", LEADER, "-o", file];
        let more = ["--near", &nears[0], "--near", &nears[1], "--no-html", "--quiet", "--pin", "none"];
        let short = ["--sizes", "4KiB", "--trials", "3", "--repeats", "5000", "--budget", "60s"];
        let said = Running::start(hosts.led_here(&dir, &[&args[..], &more, &short].concat())).end();
        // Whether short streams meet is the machine's affair.
        assert!(said.measured() || only_never_at_once(&said), "{topology}: {said}");
        let lines = lines_of(&dir, file);
        let of = |event: &str| lines.iter().find(|line| line["event"] == event).unwrap();
        let members = of("path")["members"].as_array().unwrap();
        let near: Vec<&serde_json::Value> = members.iter().filter(|one| one["role"] == "near").collect();
        let names: Vec<&str> = near.iter().filter_map(|one| one["host"].as_str()).collect();
        assert_eq!(names, [HOSTNAMES[0], HOSTNAMES[1], HOSTNAMES[0]], "{topology}: in turns");
        assert!(near.iter().all(|one| one["environment"]["hostname"] == one["host"]), "{near:?}");
        assert_eq!(of("path")["far"]["hostname"], lines[0]["near"]["hostname"], "the far side is beside the command");
        assert_eq!(of("trial")["flows"]["each"].as_array().map(Vec::len), Some(3));
        assert!(of("trial")["flows"]["each"][1]["near_cost"]["cpu_ns"].as_u64().is_some());
        let shown = dir.run(&["show", file]);
        assert!(shown.out.contains("pg-near, pg-far to"), "{shown}");
        let warned = lines.iter().filter(|line| line["event"] == "warning" && line["code"] == "near-hosts");
        let warned: Vec<&str> = warned.filter_map(|line| line["text"].as_str()).collect();
        assert!(matches!(warned[..], [text] if text.contains("2 hosts (pg-far, pg-near)")), "{warned:?}");
    }
}

#[test]
fn whichever_side_is_killed_is_named_and_what_was_measured_is_kept() {
    let dir = Scratch::new();
    let Some((_names, hosts)) = Hosts::make(&dir) else { return };
    for (host, command, says) in [(1, "lead", "the near side on root@10.141.1.2 ended"), (2, "peer", "the far side")] {
        let file = format!("{command}.run.jsonl");
        let mut run = Running::start(hosts.run(&dir, &[&["tcp", "-o", &file][..], &LONG].concat()));
        trial_in(&mut run, &dir.path(&file));
        let all = [hosts.process(1, "lead"), hosts.process(2, "peer")];
        send(hosts.process(host, command).pid, Signal::KILL);
        let said = run.end();
        assert_eq!(said.code(), 1, "{said}");
        said.complains(&[says, "what was measured until then"]);
        all_end(&all);
        assert!(dir.run(&["show", &file]).measured());
    }
}

#[test]
fn a_command_that_is_killed_leaves_nothing_on_either_host_and_a_stopped_near_side_is_told() {
    let dir = Scratch::new();
    let Some((_names, hosts)) = Hosts::make(&dir) else { return };
    let mut run = Running::start(hosts.run(&dir, &[&["tcp", "-o", "a.run.jsonl"][..], &LONG].concat()));
    trial_in(&mut run, &dir.path("a.run.jsonl"));
    let all = [hosts.process(1, "lead"), hosts.process(2, "peer")];
    run.signal(Signal::KILL);
    all_end(&all);
    let patient = ["tcp", "-o", "b.run.jsonl", "--patience", "10s"];
    let mut run = Running::start(hosts.run(&dir, &[&patient[..], &LONG].concat()));
    trial_in(&mut run, &dir.path("b.run.jsonl"));
    let lead = hosts.process(1, "lead");
    send(lead.pid, Signal::STOP);
    let said = run.end();
    send(lead.pid, Signal::CONT);
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["nothing was received from the near side", "--patience"]);
    all_end(&[lead]);
}
