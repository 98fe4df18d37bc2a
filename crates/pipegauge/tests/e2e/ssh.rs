//! `--peer ssh://`: the far side is started over ssh by itself. `--near ssh://`: a process there leads the run.
//! The tests run an sshd of their own on a free port of the loopback address; three hosts are in `three_hosts`.

use std::process::Command;

use rustix::process::Signal;

use super::processes::{all_end, command_line, serves};
use super::sshd::Login;
use super::support::{LONG, Running, SHORT, Scratch, binary, json, until};

/// A private sshd and the client's way to it.
struct Sshd {
    _running: Running,
    port: u16,
    path: std::ffi::OsString,
}

impl Sshd {
    /// None, having said why, where there can be none.
    fn start(dir: &Scratch) -> Option<Self> {
        let login = Login::make(dir)?;
        let (running, port) = serves(|port| login.serve(dir, &[], "127.0.0.1", port));
        Some(Self { _running: running, port, path: login.path })
    }

    fn target(&self) -> String {
        format!("ssh://root@127.0.0.1:{}", self.port)
    }

    fn near(&self, dir: &Scratch, more: &[&str]) -> Command {
        let peer = self.target();
        let program = binary().display().to_string();
        let mut args = vec!["run"];
        args.extend(more);
        args.extend(["--peer", &peer, "--remote-program", &program]);
        let mut command = dir.command(&args);
        command.env("PATH", &self.path);
        command
    }
}

#[test]
fn the_far_side_is_started_over_ssh_and_measured() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let said = Running::start(sshd.near(&dir, &[&["tcp", "-o", "x.run.jsonl"][..], &SHORT].concat())).end();
    assert!(said.measured(), "{said}");
    let doc = json(&dir.run(&["show", "x.run.jsonl", "--json"]).out);
    assert_eq!(doc["paths"][0]["points"].as_array().unwrap().len(), 3);
    assert!(doc["paths"][0]["opened"]["far"]["kernel"].is_string());
}

#[test]
fn no_secret_stands_on_a_command_line_and_nothing_is_left() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let mut run = Running::start(sshd.near(&dir, &[&["tcp", "-o", "x.run.jsonl"][..], &LONG].concat()));
    let far = super::processes::under_way(&mut run, &dir.path("x.run.jsonl"));
    // The child of the near side is ssh itself: its command line names the far program and no key.
    let line = command_line(far.pid);
    assert!(line.contains("peer"), "{line}");
    for word in line.split_whitespace() {
        let long = word.len() >= 32 && word.chars().all(|c| c.is_ascii_alphanumeric());
        assert!(!long && !word.starts_with("pg1"), "this may be a secret: {word}");
    }
    run.signal(Signal::INT);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    all_end(&[far]);
}

#[test]
fn a_program_that_is_not_there_is_said() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let peer = format!("ssh://root@127.0.0.1:{}", sshd.port);
    let mut args = vec!["run", "tcp", "--peer", &peer, "--remote-program", "no-such-program"];
    args.extend(SHORT);
    let mut command = dir.command(&args);
    command.env("PATH", &sshd.path);
    Running::start(command).end().refuses(&["no-such-program"]);
}

#[test]
fn an_ssh_that_cannot_log_in_is_quoted() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    std::fs::write(dir.path("authorized"), "").unwrap();
    let said = Running::start(sshd.near(&dir, &[&["tcp"][..], &SHORT].concat())).end();
    said.refuses(&["Permission denied"]);
}

/// A command line whose near side is started over ssh.
fn led(sshd: &Sshd, dir: &Scratch, program: &str, more: &[&str]) -> Command {
    let near = sshd.target();
    let args = [&["run", "--near", &near, "--remote-program", program][..], more].concat();
    let mut command = dir.command(&args);
    command.env("PATH", &sshd.path);
    command
}

fn binary_there() -> String {
    binary().display().to_string()
}

#[test]
fn paths_within_another_host_are_measured_from_here() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let paths = ["shm", "tcp", "memcpy", "theory", "-o", "x.run.jsonl"];
    for far in [&[][..], &["--peer", &sshd.target()]] {
        let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
        let said = Running::start(led(&sshd, &dir, &binary_there(), &[&paths[..], far, &SHORT].concat())).end();
        assert!(said.measured(), "{said}");
        let doc = json(&dir.run(&["show", "x.run.jsonl", "--json"]).out);
        let points = |path: &serde_json::Value| path["points"].as_array().map(Vec::len);
        assert!(doc["paths"].as_array().unwrap().iter().all(|path| points(path) == Some(3)), "{doc}");
    }
}

#[test]
fn data_goes_to_the_address_that_was_named() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let more = ["tcp", "udp", "--pairs", "1,2", "--peer-address", "127.0.0.2", "-o", "x.run.jsonl"];
    let said = Running::start(sshd.near(&dir, &[&more[..], &SHORT].concat())).end();
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap_or_else(|e| panic!("{e}: {said}"));
    let paths: Vec<&str> = text.lines().filter(|line| line.contains(r#""event":"path""#)).collect();
    assert!(paths.len() == 4 && paths.iter().all(|path| path.contains("to 127.0.0.2:")), "{paths:?} {said}");
}

#[test]
fn a_near_side_on_another_host_meets_one_that_serves() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let serve = super::two_sides::Serve::start(&dir, &[]);
    let more = ["tcp", "--peer", &serve.peer, "-o", "x.run.jsonl"];
    let mut command = led(&sshd, &dir, &binary_there(), &[&more[..], &SHORT].concat());
    command.env("PIPEGAUGE_KEY", &serve.key);
    let said = Running::start(command).end();
    assert!(said.measured(), "{said}");
    assert!(!std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap().contains(&serve.key));
    assert_eq!(serve.running.end().code(), 0);
}

#[test]
fn two_sides_take_turns_on_another_host() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let more = [&["tcp", "-o", "x.run.jsonl", "--vs", "--near-under 'env PG_SIDE=b'"][..], &SHORT].concat();
    let said = Running::start(led(&sshd, &dir, &binary_there(), &more)).end();
    assert!(said.measured(), "{said}");
    let plan = |side: &str| {
        let text = std::fs::read_to_string(dir.path(&format!("x.{side}.run.jsonl"))).unwrap();
        json(text.lines().next().unwrap())["plan"].clone()
    };
    assert_eq!(plan("a").get("near_under"), None);
    assert_eq!(plan("b")["near_under"], serde_json::json!(["env", "PG_SIDE=b"]));
}

#[test]
fn what_the_near_host_can_not_do_is_said_with_its_name() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let pinned: Vec<&str> = SHORT.iter().map(|word| if *word == "none" { "4000,4001" } else { word }).collect();
    let said = Running::start(led(&sshd, &dir, &binary_there(), &[&["tcp"][..], &pinned].concat())).end();
    said.refuses(&["the near side on root@127.0.0.1", "CPU 4000"]);
    assert!(!dir.names().iter().any(|name| name.ends_with(".run.jsonl")), "nothing is left behind");
    let said = Running::start(led(&sshd, &dir, "no-such-program", &[&["tcp"][..], &SHORT].concat())).end();
    said.refuses(&["near side", "no-such-program"]);
}

/// A near side of another kind than ours: what it writes once it was told what to do.
fn stranger(dir: &Scratch, speaks: &str, then: &str) -> String {
    let path = dir.path("stranger");
    let text = format!("#!/bin/sh\necho '{speaks}'\nread -r task\n{then}\nexec sleep 60\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_near_side_of_another_version_or_that_lies_is_not_believed() {
    let dir = Scratch::new();
    let Some(sshd) = Sshd::start(&dir) else { return };
    let other = stranger(&dir, r#"{"pipegauge":9,"version":"9.9.9"}"#, "");
    Running::start(led(&sshd, &dir, &other, &[&["tcp"][..], &SHORT].concat()))
        .end()
        .refuses(&["9.9.9", "same version"]);
    // What a process of this version says first.
    let first = Command::new(binary()).arg("lead").stdin(std::process::Stdio::null()).output().unwrap();
    let ours = String::from_utf8_lossy(&first.stdout).trim().to_owned();
    let settled = r#"echo '>{"near":{"hostname":"x"},"calibration":{"clock_cost_ns":1,"clock_step_ns":1,"loop_cost_ns":1},"sides":[[null,0]]}'"#;
    let trial = |path, seconds: &str| {
        format!(
            r#"echo '0{{"event":"trial","path":{path},"block":1,"at":0.1,"size":64,"repeats":10,"seconds":{seconds},"median":1e-5,"min":1e-5,"max":1e-5}}'"#
        )
    };
    for (then, says) in [
        ("echo hello".to_owned(), "can't be"),
        (trial(0, "1"), "before it begins"),
        (format!("{settled}; {}", trial(7, "1e-4")), "a path 7"),
        (format!("{settled}; {}", trial(0, "1e9")), "a trial of 1e9 s"),
        (format!("{settled}; {}", trial(0, "1e308")), "a trial of"),
        (format!("{settled}; echo '=[]'"), "of other sides"),
        (format!("{settled}; kill -9 $$"), "ended"),
    ] {
        let program = stranger(&dir, &ours, &then);
        let more = [&["tcp", "-o", "x.run.jsonl"][..], &SHORT].concat();
        let said = Running::start(led(&sshd, &dir, &program, &more)).end();
        said.refuses(&["the near side on root@127.0.0.1", says]);
        let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
    }
    // One that goes on telling that it is there when it was asked to stop is given up.
    let program = stranger(&dir, &ours, &format!("{settled}; while sleep 0.2; do echo .; done"));
    let more = [&["tcp", "--patience", "5s", "-o", "y.run.jsonl"][..], &SHORT].concat();
    let run = Running::start(led(&sshd, &dir, &program, &more));
    until("its run file", || dir.path("y.run.jsonl").exists().then_some(()));
    run.signal(Signal::INT);
    run.end().refuses(&["interrupted"]);
    // One that says nothing is given up.
    let program = stranger(&dir, &ours, settled);
    let more = [&["tcp", "--patience", "1s"][..], &SHORT].concat();
    Running::start(led(&sshd, &dir, &program, &more))
        .end()
        .refuses(&["nothing was received from the near side", "--patience"]);
}
