//! `--peer ssh://`: the far side is started over ssh by itself. The tests run an sshd of their own, with its own keys and
//! configuration, on a free port of the loopback address.

use std::fs::Permissions;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::processes::{all_end, command_line};
use super::support::{LONG, Running, SHORT, Scratch, binary, installed, json, root, skip, until};

/// A private sshd and the client's way to it.
struct Sshd {
    _running: Running,
    port: u16,
    path: std::ffi::OsString,
}

fn keygen(file: &Path) {
    let done = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file).status();
    assert!(done.expect("ssh-keygen").success());
}

impl Sshd {
    /// None, having said why, where there can be none.
    fn start(dir: &Scratch) -> Option<Self> {
        let (Some(sshd), Some(ssh)) = (installed("sshd"), installed("ssh")) else {
            skip("openssh is not installed (openssh-server, openssh-client)");
            return None;
        };
        if !root() {
            skip("a private sshd that lets root in takes root");
            return None;
        }
        let at = |name: &str| dir.path(name).display().to_string();
        keygen(&dir.path("host_key"));
        keygen(&dir.path("user_key"));
        std::fs::copy(dir.path("user_key.pub"), dir.path("authorized")).unwrap();
        // sshd insists on this directory of its own, which its service would have made.
        let _ = std::fs::create_dir_all("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
             PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n",
            at("host_key"),
            at("authorized"),
        );
        std::fs::write(dir.path("sshd_config"), config).unwrap();
        let mut command = Command::new(sshd);
        command.args(["-D", "-e", "-f"]).arg(dir.path("sshd_config")).stdin(Stdio::null());
        let running = Running::start(command);
        until("sshd", || TcpStream::connect(("127.0.0.1", port)).ok());
        // The client's own configuration stays out of it, and so does the person's ~/.ssh.
        let client = format!(
            "#!/bin/sh\nexec {} -F none -i {} -o UserKnownHostsFile={} -o StrictHostKeyChecking=accept-new -o BatchMode=yes \"$@\"\n",
            ssh.display(),
            at("user_key"),
            at("known_hosts"),
        );
        let bin = dir.path("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("ssh"), client).unwrap();
        std::fs::set_permissions(bin.join("ssh"), Permissions::from_mode(0o755)).unwrap();
        let mut path = bin.into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Some(Self { _running: running, port, path })
    }

    fn near(&self, dir: &Scratch, more: &[&str]) -> Command {
        let peer = format!("ssh://root@127.0.0.1:{}", self.port);
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
