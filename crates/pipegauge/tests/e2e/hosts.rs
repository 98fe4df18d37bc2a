//! Two hosts: network namespaces with a veth pair between them, made by the test and removed by it.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::support::{HISTORY, Running, SHORT, Scratch, binary, installed, json, root, skip};

/// Two namespaces that reach each other and nothing else.
struct Hosts {
    names: [String; 2],
}

const NEAR: &str = "10.137.0.1";
const FAR: &str = "10.137.0.2";

/// Runs `ip`; an error is what it said.
pub fn ip(args: &[&str]) -> Result<(), String> {
    let said = Command::new("ip").args(args).output().map_err(|e| e.to_string())?;
    if said.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said.stderr).trim().to_owned()) }
}

impl Hosts {
    /// None, having said why, where there can be none.
    fn make() -> Option<Self> {
        if installed("ip").is_none() {
            skip("iproute2 is not installed");
            return None;
        }
        if !root() {
            skip("network namespaces take root");
            return None;
        }
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |side: &str| format!("pg{side}{}x{n}", std::process::id());
        let hosts = Self { names: [name("a"), name("b")] };
        let [a, b] = &hosts.names;
        let (va, vb) = (format!("va{n}"), format!("vb{n}"));
        let made = ip(&["netns", "add", a])
            .and_then(|()| ip(&["netns", "add", b]))
            .and_then(|()| ip(&["-n", a, "link", "add", &va, "type", "veth", "peer", "name", &vb, "netns", b]))
            .and_then(|()| ip(&["-n", a, "address", "add", &format!("{NEAR}/24"), "dev", &va]))
            .and_then(|()| ip(&["-n", b, "address", "add", &format!("{FAR}/24"), "dev", &vb]))
            .and_then(|()| ip(&["-n", a, "link", "set", "lo", "up"]))
            .and_then(|()| ip(&["-n", b, "link", "set", "lo", "up"]))
            .and_then(|()| ip(&["-n", a, "link", "set", &va, "up"]))
            .and_then(|()| ip(&["-n", b, "link", "set", &vb, "up"]));
        if let Err(why) = made {
            skip(&format!("network namespaces can't be set up here: {}", why.replace('\n', "; ")));
            return None;
        }
        Some(hosts)
    }

    fn command(&self, dir: &Scratch, host: usize, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host]]).arg(binary()).args(args);
        command.current_dir(dir.path(".")).stdin(std::process::Stdio::null()).env(HISTORY.0, HISTORY.1);
        command
    }

    /// Serves on the far host and runs on the near one what serve's line says.
    fn measure(&self, dir: &Scratch, more: &[&str]) -> super::support::Said {
        let serve = Running::start(self.command(dir, 1, &["serve"]));
        let line = serve.line();
        assert!(
            line.contains(&format!("--peer {FAR}:")),
            "the line names the address that the other host reaches: {line}"
        );
        let words: Vec<&str> = line.split_whitespace().collect();
        let args = [&["run"][..], more, &words[3..], &SHORT].concat();
        let said = Running::start(self.command(dir, 0, &args)).end();
        if !said.measured() {
            // It may never have met the serving side, which would then go on waiting.
            serve.signal(rustix::process::Signal::TERM);
        }
        let served = serve.end();
        assert!(!served.err.contains("panicked"), "{served}");
        said
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "delete", name]).stderr(std::process::Stdio::null()).status();
        }
    }
}

#[test]
fn two_hosts_measure_what_serve_told_them_to() {
    let Some(hosts) = Hosts::make() else { return };
    let dir = Scratch::new();
    let said = hosts.measure(&dir, &["tcp", "udp", "-o", "x.run.jsonl"]);
    assert!(said.measured(), "{said}");
    let doc = json(&dir.run(&["show", "x.run.jsonl", "--json"]).out);
    for path in doc["paths"].as_array().unwrap() {
        assert_eq!(path["points"].as_array().unwrap().len(), 3, "{path}");
    }
    let addresses = doc["paths"][0]["opened"]["near_effective"]["addresses"].to_string();
    assert!(addresses.contains(NEAR) && addresses.contains(FAR), "data must cross between the hosts: {addresses}");
}

#[test]
fn settings_that_took_effect_unequally_are_named_with_both_values() {
    let Some(hosts) = Hosts::make() else { return };
    // The far host tells others to send smaller segments than it sends itself.
    let [_, b] = &hosts.names;
    let routes = Command::new("ip").args(["-n", b, "-o", "route", "show"]).output().expect("ip route");
    let route = String::from_utf8_lossy(&routes.stdout).lines().next().unwrap_or_default().to_owned();
    let words: Vec<&str> = route.split_whitespace().collect();
    ip(&[&["-n", b, "route", "change"][..], &words, &["advmss", "1000"]].concat()).expect("another route");
    let dir = Scratch::new();
    let said = hosts.measure(&dir, &["tcp", "--mss", "1400"]);
    assert!(matches!(said.code(), 1 | 2), "{said}");
    said.complains(&["--mss", "1400", "near side", "far side", "988", "1388"]);
}

#[test]
fn a_host_that_cannot_be_reached_is_said_within_the_patience() {
    let Some(hosts) = Hosts::make() else { return };
    let dir = Scratch::new();
    let serve = Running::start(hosts.command(&dir, 1, &["serve"]));
    let line = serve.line();
    // The wire is cut.
    let [_, b] = &hosts.names;
    let links = Command::new("ip").args(["-n", b, "-o", "link", "show", "type", "veth"]).output().expect("ip link");
    let name = String::from_utf8_lossy(&links.stdout)
        .split_whitespace()
        .nth(1)
        .map(|w| w.split('@').next().unwrap().to_owned());
    ip(&["-n", b, "link", "set", &name.expect("the far end"), "down"]).expect("a cut wire");
    let words: Vec<&str> = line.split_whitespace().collect();
    let args = [&["run", "tcp", "--patience", "1s"][..], &words[3..], &SHORT].concat();
    let said = Running::start(hosts.command(&dir, 0, &args)).end();
    assert_eq!(said.code(), 2, "{said}");
    said.complains(&[FAR]);
}
