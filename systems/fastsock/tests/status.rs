//! `fastsock status` and `fastsock check`, the switches in files, the cap on memory, and what is left behind.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::folder::Folder;
use common::{Built, built};

/// A connection that is held until it is let go.
struct Pair {
    server: Child,
    client: Child,
    port: String,
    /// The server was to make a ring for its calls, and could not.
    refused: bool,
}

impl Pair {
    fn start(built: &Built, server: bool, client: bool, variables: &[(&str, &str)]) -> Self {
        let start = |library: bool, arguments: &[&str]| {
            let mut command = Command::new(&built.program);
            command.args(arguments).env("FASTSOCK_AFTER", "4").envs(variables.iter().copied());
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            if library {
                command.env("LD_PRELOAD", &built.library);
            }
            command.spawn().unwrap()
        };
        let mut server = start(server, &["server", "held"]);
        let mut out = BufReader::new(server.stdout.take().unwrap());
        let mut port = String::new();
        out.read_line(&mut port).unwrap();
        let mut client = start(client, &["client", "held", port.trim()]);
        // Both have talked.
        let mut refused = false;
        for side in [&mut server, &mut client] {
            let mut errors = BufReader::new(side.stderr.take().unwrap());
            let mut line = String::new();
            errors.read_line(&mut line).unwrap();
            if line == "no ring\n" {
                refused = true;
                errors.read_line(&mut line).unwrap();
            }
        }
        server.stdout = Some(out.into_inner());
        Self { server, client, port: port.trim().to_owned(), refused }
    }

    /// What status says of an end: its path, and why.
    fn of(&self, child: &Child) -> (String, String) {
        let status = json();
        let mark = format!("{{\"process\":{},\"descriptor\"", child.id());
        let at = status.find(&mark).unwrap_or_else(|| panic!("no connection of {} in {status}", child.id()));
        let one = &status[at..][..status[at..].find('}').unwrap()];
        let word = |name: &str| {
            let rest = one.split(&format!("\"{name}\":")).nth(1).unwrap();
            rest.split(",\"").next().unwrap().trim_matches('"').to_owned()
        };
        (word("path"), word("why"))
    }

    fn server(&self) -> (String, String) {
        self.of(&self.server)
    }

    fn let_go(mut self) -> String {
        drop(self.client.stdin.take());
        let mut said = String::new();
        self.client.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(self.client.wait().unwrap().success() && self.server.wait().unwrap().success());
        said
    }
}

fn json() -> String {
    let said = Command::new(env!("CARGO_BIN_EXE_fastsock")).args(["status", "--json"]).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap()
}

/// A file of this text, and the folder that it goes with.
fn file(name: &str, text: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(name);
    let path = folder.join("config");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn status_tells_which_connections_are_fast_and_why_others_are_not() {
    let Some(built) = built() else { return };
    for (server, client, variables, expected) in [
        (true, true, &[][..], ("fast", "null")),
        (true, false, &[], ("kernel", "its peer has no library")),
        (false, true, &[], ("kernel", "its program has no library")),
        (true, true, &[("FASTSOCK", "off")], ("kernel", "switched off")),
        (true, true, &[("FASTSOCK_OFF_PROGRAMS", "fastsock-contract")], ("kernel", "its program is switched off")),
        (true, true, &[("FASTSOCK_AFTER", "100000")], ("kernel", "too few calls so far")),
    ] {
        let pair = Pair::start(built, server, client, variables);
        assert_eq!(pair.server(), (expected.0.to_owned(), expected.1.to_owned()), "{variables:?}");
        assert!(pair.let_go().ends_with("let go\n"));
    }
}

#[test]
fn a_process_that_makes_calls_through_a_ring_keeps_its_connections_with_the_kernel_and_status_says_so() {
    let Some(built) = built() else { return };
    let pair = Pair::start(built, true, true, &[("CALLS_BY_RING", "1")]);
    let (path, why) = pair.server();
    let refused = !why.contains("io_uring") && path == "fast";
    assert_eq!(refused, pair.refused, "{path}: {why}");
    if refused {
        println!("skipped: this system lets nobody make a ring for calls (io_uring)");
    } else {
        assert_eq!(path, "kernel", "{why}");
        assert!(pair.of(&pair.client).1.contains("io_uring"), "the other side is told the same");
    }
    pair.let_go();
}

#[test]
fn the_table_shows_counters_and_the_connection_to_both_processes() {
    let Some(built) = built() else { return };
    let pair = Pair::start(built, true, true, &[]);
    let said = Command::new(env!("CARGO_BIN_EXE_fastsock")).arg("status").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    for child in [&pair.server, &pair.client] {
        let line = said.lines().find(|line| line.split_whitespace().next() == Some(&child.id().to_string()));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(line.contains("fastsock-contract") && line.contains(" fast "), "{line}");
        let bytes: u32 = line.split('(').nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((20..=64).contains(&bytes), "{line}");
    }
    pair.let_go();
}

#[test]
fn scripts_of_one_interpreter_are_told_apart() {
    if !common::programs::installed("python3", "--version") {
        return;
    }
    let connected = "import socket, sys\nl = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(l.getsockname())\n\
                     a, _ = l.accept()\nprint('there', flush=True)\nsys.stdin.read()";
    let folder = Folder::new("scripts");
    let mut scripts = ["first.py", "second.py"].map(|name| {
        std::fs::write(folder.join(name), connected).unwrap();
        let mut script = Command::new("python3");
        script.current_dir(&*folder).args([name, "\u{1b}[2J\u{202e}"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = script.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(script.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "there\n");
        (name, script)
    });
    let said = Command::new(env!("CARGO_BIN_EXE_fastsock")).arg("status").output().unwrap();
    let (said, json) = (String::from_utf8(said.stdout).unwrap(), json());
    for (name, script) in &mut scripts {
        let id = script.id().to_string();
        let line = said.lines().find(|line| line.split_whitespace().next() == Some(&id));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(line.contains(&format!(" python3 {name} \\u{{1b}}[2J\\u{{202e}} ")), "{line}");
        assert!(json.contains(&format!("\"command\":\"python3 {name} \\u001b[2J")), "{json}");
        drop(script.stdin.take());
        script.wait().unwrap();
    }
}

#[test]
fn a_file_switches_off_what_it_names_and_its_wrong_lines_are_told_but_not_to_the_program() {
    let Some(built) = built() else { return };
    let (_folder, path) = file("switches", "off program fastsock-contract\nnonsense here\n");
    let pair = Pair::start(built, true, true, &[("FASTSOCK_CONFIG", path.to_str().unwrap())]);
    assert_eq!(pair.server(), ("kernel".to_owned(), "its program is switched off".to_owned()));
    let status = json();
    assert!(status.contains("config:2: 'nonsense here': a line begins with off"), "{status}");
    // What the program prints has nothing beside its own.
    assert_eq!(pair.let_go(), "let go\n");
    let check = |path: &PathBuf| Command::new(env!("CARGO_BIN_EXE_fastsock")).arg("check").arg(path).output().unwrap();
    let wrong = check(&path);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&wrong.stdout).contains("wrong: "), "{wrong:?}");
    let (_folder, path) = file("right", "off port 80\nmemory 8 MiB\n");
    let right = check(&path);
    let said = String::from_utf8_lossy(&right.stdout).into_owned();
    assert!(right.status.success() && said.contains("[80]") && said.contains("8388608 bytes a process"), "{said}");
}

#[test]
fn the_users_own_file_is_found() {
    let Some(built) = built() else { return };
    let home = Folder::new("home");
    std::fs::create_dir_all(home.join("fastsock")).unwrap();
    std::fs::write(home.join("fastsock/config"), "off\n").unwrap();
    let pair = Pair::start(built, true, true, &[("XDG_CONFIG_HOME", home.to_str().unwrap())]);
    assert_eq!(pair.server(), ("kernel".to_owned(), "switched off".to_owned()));
    pair.let_go();
}

#[test]
fn beyond_the_cap_on_memory_connections_are_the_kernels() {
    let Some(built) = built() else { return };
    for variable in ["FASTSOCK_MEMORY", "FASTSOCK_MEMORY_USER"] {
        let pair = Pair::start(built, true, true, &[(variable, "30 KiB")]);
        let (path, why) = pair.server();
        assert_eq!(
            (path.as_str(), why.contains("memory that connections may share is used up")),
            ("kernel", true),
            "{why}"
        );
        pair.let_go();
    }
    // Room for one connection is room for one; its rings stay small.
    let pair = Pair::start(built, true, true, &[("FASTSOCK_MEMORY", "40 KiB")]);
    assert_eq!(pair.server().0, "fast");
    pair.let_go();
}

/// Names in the abstract space that belong to the library.
fn names() -> Vec<String> {
    let all = std::fs::read_to_string("/proc/net/unix").unwrap();
    let mine = |line: &&str| line.contains("@fastsock");
    all.lines().filter(mine).filter_map(|line| line.split_whitespace().last().map(str::to_owned)).collect()
}

/// Whether a process still has anything of the library's in memory.
fn maps_anything(child: &Child) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
    maps.lines().any(|line| line.contains("/memfd:fastsock ") || line.ends_with("/memfd:fastsock (deleted)"))
}

#[test]
fn nothing_is_left_behind_when_a_side_is_killed() {
    let Some(built) = built() else { return };
    for kills_server in [true, false] {
        let mut pair = Pair::start(built, true, true, &[]);
        assert_eq!(pair.server().0, "fast");
        assert!(maps_anything(&pair.server) && maps_anything(&pair.client));
        let port = pair.port.clone();
        let (killed, left) =
            if kills_server { (&mut pair.server, &mut pair.client) } else { (&mut pair.client, &mut pair.server) };
        let number = killed.id();
        killed.kill().unwrap();
        killed.wait().unwrap();
        // The other side ends by itself when it learns of it, and with it goes what both shared: the memory has no name.
        drop(left.stdin.take());
        let until = Instant::now() + Duration::from_secs(20);
        while left.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "the side that is left does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!json().contains(&format!("{{\"process\":{number},")));
        let ends: Vec<String> = names().into_iter().filter(|name| name.contains(&format!(":{port}"))).collect();
        assert_eq!(ends, Vec::<String>::new());
        let files = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        assert!(files.into_iter().all(|file| !file.file_name().to_string_lossy().starts_with("fastsock")));
    }
}
