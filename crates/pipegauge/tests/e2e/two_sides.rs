//! `serve` on one side, `run --peer` on the other: two processes that meet over TLS on this host's loopback.

use std::net::TcpListener;
use std::process::Command;

use rustix::process::Signal;

use super::processes::{children, command_line, trial_in, under_way};
use super::support::{LONG, Running, SHORT, Said, Scratch, json, until};

/// A serving side, and what its line says.
pub struct Serve {
    pub running: Running,
    pub peer: String,
    pub key: String,
}

impl Serve {
    pub fn start(dir: &Scratch, more: &[&str]) -> Self {
        let mut args = vec!["serve", "--bind", "127.0.0.1"];
        args.extend(more);
        let running = Running::start(dir.command(&args));
        let line = running.line();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(&words[..4], ["pipegauge", "run", "tcp", "--peer"], "{line}");
        assert_eq!(words[5], "--key", "{line}");
        Self { peer: words[4].to_owned(), key: words[6].to_owned(), running }
    }

    /// The process that lets near sides in and measures.
    pub fn attendant(&self) -> u32 {
        until("the process that measures", || children(self.running.pid(), "attend").pop()).pid
    }

    pub fn port(&self) -> u16 {
        self.peer.rsplit_once(':').and_then(|(_, p)| p.parse().ok()).expect("a port")
    }

    /// The near side's command against this one; the key goes through the environment.
    pub fn near(&self, dir: &Scratch, more: &[&str]) -> Command {
        let mut args = vec!["run"];
        args.extend(more);
        args.extend(["--peer", &self.peer]);
        let mut command = dir.command(&args);
        command.env("PIPEGAUGE_KEY", &self.key);
        command
    }

    pub fn measure(&self, dir: &Scratch, more: &[&str]) -> Said {
        Running::start(self.near(dir, &[more, &SHORT].concat())).end()
    }
}

#[test]
fn two_sides_measure_and_the_serving_one_ends() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let said = serve.measure(&dir, &["tcp", "udp", "-o", "x.run.jsonl"]);
    assert!(said.measured(), "{said}");
    let served = serve.running.end();
    assert_eq!(served.code(), 0, "{served}");
    let doc = json(&dir.run(&["show", "x.run.jsonl", "--json"]).out);
    assert_eq!(doc["paths"].as_array().unwrap().len(), 2);
    for path in doc["paths"].as_array().unwrap() {
        assert_eq!(path["points"].as_array().unwrap().len(), 3, "{path}");
        assert!(path["opened"]["far"]["kernel"].is_string(), "{path}");
    }
}

#[test]
fn the_printed_line_works_as_it_is_and_its_key_is_not_recorded() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let mut args = vec!["run", "tcp", "--peer", &serve.peer, "--key", &serve.key, "-o", "x.run.jsonl"];
    args.extend(SHORT);
    let said = dir.run(&args);
    assert!(said.measured(), "{said}");
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    assert!(!text.contains(&serve.key), "the key is in the run file");
    let command = json(text.lines().next().unwrap())["command"].to_string();
    assert!(command.contains("--key") && command.contains(&serve.peer), "{command}");
    assert!(!said.out.contains(&serve.key) && !said.err.contains(&serve.key), "{said}");
}

#[test]
fn a_key_can_come_from_a_file_or_standard_input() {
    let dir = Scratch::new();
    for from in ["@key", "-"] {
        let serve = Serve::start(&dir, &[]);
        std::fs::write(dir.path("key"), format!("{}\n", serve.key)).unwrap();
        let mut args = vec!["run", "tcp", "--peer", &serve.peer, "--key", from];
        args.extend(SHORT);
        let mut command = dir.command(&args);
        command.stdin(std::fs::File::open(dir.path("key")).unwrap());
        let said = Running::start(command).end();
        assert!(said.measured(), "{from}: {said}");
    }
}

#[test]
fn keep_serves_one_measurement_after_another() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &["--keep"]);
    for _ in 0..2 {
        let said = serve.measure(&dir, &["tcp"]);
        assert!(said.measured(), "{said}");
    }
    serve.running.signal(Signal::TERM);
    let said = serve.running.end();
    assert_eq!(said.code(), 0, "a stop is the one way to end it: {said}");
    said.complains(&["said goodbye"]);
}

#[test]
fn a_stop_that_breaks_a_measurement_off_falls_short() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &["--keep"]);
    let mut run = Running::start(serve.near(&dir, &[&["tcp", "-o", "x.run.jsonl"][..], &LONG].concat()));
    trial_in(&mut run, &dir.path("x.run.jsonl"));
    serve.running.signal(Signal::INT);
    let served = serve.running.end();
    assert_eq!(served.code(), 1, "{served}");
    served.complains(&["broken off"]);
    let near = run.end();
    assert_eq!(near.code(), 1, "{near}");
    near.complains(&["far side", "asked to stop"]);
}

#[test]
fn a_wrong_key_is_refused_on_both_ends_and_serving_goes_on() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let other = Serve::start(&dir, &[]);
    let mut near = serve.near(&dir, &["tcp", "-o", "wrong.run.jsonl", "--no-html"]);
    near.env("PIPEGAUGE_KEY", &other.key);
    Running::start(near).end().refuses(&["wrong key"]);
    assert!(!dir.path("wrong.run.jsonl").exists());
    let mut near = serve.near(&dir, &["tcp", "--no-html"]);
    near.env("PIPEGAUGE_KEY", &serve.key[..serve.key.len() - 9]);
    Running::start(near).end().refuses(&["key"]);
    let said = serve.measure(&dir, &["tcp"]);
    assert!(said.measured(), "the right key must still work: {said}");
}

#[test]
fn nobody_there_is_said_with_the_address() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let (peer, key) = (serve.peer.clone(), serve.key.clone());
    serve.running.signal(Signal::KILL);
    serve.running.end();
    let mut command = dir.command(&["run", "tcp", "--peer", &peer, "--no-html"]);
    command.env("PIPEGAUGE_KEY", key);
    Running::start(command).end().refuses(&[&peer, "can't reach"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn a_peer_that_only_listens_is_given_up() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = mute.local_addr().unwrap().to_string();
    let mut command = dir.command(&["run", "tcp", "--peer", &peer, "--patience", "1s", "--no-html"]);
    command.env("PIPEGAUGE_KEY", &serve.key);
    Running::start(command).end().refuses(&["nothing came", "not pipegauge"]);
}

#[test]
fn a_port_in_use_is_named() {
    let dir = Scratch::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    dir.run(&["serve", "--bind", "127.0.0.1", "--port", &port]).refuses(&[&port, "in use"]);
}

#[test]
fn an_address_of_another_host_cannot_be_served_at() {
    // 192.0.2.0/24 is set aside for documentation: it is nobody's.
    Scratch::new().run(&["serve", "--bind", "192.0.2.1"]).refuses(&["192.0.2.1", "this host"]);
}

#[test]
fn what_a_peer_may_ask_for_is_limited() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &["--max-message", "1KiB", "--keep"]);
    let said = serve.measure(&dir, &["tcp"]);
    assert!(matches!(said.code(), 1 | 2), "{said}");
    said.complains(&["far side"]);
    let mut args = vec!["tcp", "--sizes", "1,64", "--perturb", "0"];
    args.extend(&SHORT[4..]);
    let said = Running::start(serve.near(&dir, &args)).end();
    assert!(said.measured(), "within the limit it measures: {said}");
}

#[test]
fn a_killed_serving_side_ends_the_run_with_what_was_measured() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let args = [&["tcp", "-o", "x.run.jsonl"][..], &LONG].concat();
    let mut run = Running::start(serve.near(&dir, &args));
    trial_in(&mut run, &dir.path("x.run.jsonl"));
    serve.running.signal(Signal::KILL);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["far side"]);
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn a_killed_near_side_ends_serving() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let args = [&["tcp", "-o", "x.run.jsonl"][..], &LONG].concat();
    let mut run = Running::start(serve.near(&dir, &args));
    trial_in(&mut run, &dir.path("x.run.jsonl"));
    run.signal(Signal::KILL);
    run.end();
    let said = serve.running.end();
    assert!(!said.err.contains("panicked"), "{said}");
}

#[test]
fn ctrl_c_on_the_near_side_ends_serving_too() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let args = [&["tcp", "-o", "x.run.jsonl"][..], &LONG].concat();
    let mut run = Running::start(serve.near(&dir, &args));
    trial_in(&mut run, &dir.path("x.run.jsonl"));
    run.signal(Signal::INT);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    serve.running.end();
}

#[test]
fn no_secret_stands_on_a_command_line_of_the_local_case() {
    let dir = Scratch::new();
    let args = [&["run", "tcp", "-o", "x.run.jsonl"][..], &LONG].concat();
    let mut run = Running::start(dir.command(&args));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    let line = command_line(far.pid);
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words.len(), 2, "the far side is told everything over its standard input: {line}");
    assert_eq!(words[1], "peer");
    run.signal(Signal::INT);
    run.end();
}
