//! Message brokers as paths: `recipes/broker.py` between the command and a broker that a test starts.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::net;
use rustix::process::Signal;

use super::processes::{a_trial, command_line, serves};
use super::support::{LONG, Running, SHORT, Scratch, installed, json, skip, until};

/// The program that connects standard input and output to a broker, as a word of a shell.
const PROGRAM: &str = concat!("'", env!("CARGO_MANIFEST_DIR"), "/../../recipes/broker.py'");

/// A port that nobody listens at, for as long as the socket lives that has it.
fn held_port() -> (OwnedFd, u16) {
    let socket = net::socket(net::AddressFamily::INET, net::SocketType::STREAM, None).unwrap();
    net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = SocketAddrV4::try_from(net::getsockname(&socket).unwrap()).unwrap();
    (socket, address.port())
}

/// A broker of a test's own, in the test's folder; ended with it.
struct Broker {
    kind: &'static str,
    at: String,
    server: Running,
}

impl Broker {
    /// Starts one; none, having said why, where it is not installed.
    fn start(dir: &Scratch, kind: &'static str) -> Option<Self> {
        let program = format!("{kind}-server");
        let Some(found) = installed(&program) else {
            skip(&format!("{program} is not installed"));
            return None;
        };
        let (server, port) = serves(|port| {
            let mut server = Command::new(&found);
            server.current_dir(dir.path(".")).stdin(Stdio::null());
            match kind {
                "redis" => server.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"]),
                _ => server.args(["--addr", "127.0.0.1", "--port"]),
            };
            server.arg(port.to_string());
            Running::start(server)
        });
        Some(Self { kind, at: format!("127.0.0.1:{port}"), server })
    }

    /// A path through it, with a label.
    fn path(&self, more: &str) -> String {
        format!("exec:label={},python3 {PROGRAM}{more} {} {}", self.kind, self.kind, self.at)
    }
}

/// Every broker that can be had here; none where the program can't run.
fn brokers(dir: &Scratch) -> Vec<Broker> {
    if installed("python3").is_none() {
        skip("python3 is not installed");
        return Vec::new();
    }
    ["redis", "nats"].into_iter().filter_map(|kind| Broker::start(dir, kind)).collect()
}

#[test]
fn a_server_whose_port_somebody_takes_gets_another() {
    if installed("python3").is_none() {
        return skip("python3 is not installed");
    }
    let mut taken = None;
    let (_server, port) = serves(|port| {
        // Whoever has the first port by now answers there, and the server takes its time to see that.
        let first = taken.is_none();
        if first {
            taken = Some((port, TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()));
        }
        let listen =
            "import socket, sys, time\ns = socket.create_server(('127.0.0.1', int(sys.argv[1])))\ntime.sleep(600)";
        let mut server = Command::new("python3");
        server.args(["-c", if first { "import time; time.sleep(0.5)" } else { listen }, &port.to_string()]);
        Running::start(server)
    });
    let (other, held) = taken.unwrap();
    assert!(held.is_none() || port != other);
}

#[test]
fn messages_through_a_broker_come_back_whole() {
    let dir = Scratch::new();
    let all = brokers(&dir);
    if all.is_empty() {
        return;
    }
    let mut paths = vec![format!("exec:label=none,python3 {PROGRAM} none")];
    paths.extend(all.iter().map(|broker| broker.path("")));
    // About the sizes of a pipe and of a message of NATS, and beyond what Redis holds for one subscriber.
    let sizes = "1,4095,65535,65537,1048575,1048577,16MiB";
    let counted = ["--sizes", sizes, "--trials", "1", "--repeats", "2", "--pin", "none", "--check", "-q"];
    let rest = ["--no-html", "--no-history", "-o", "x.run.jsonl", "--budget", "60s", "--patience", "30s"];
    let mut args = vec!["run"];
    args.extend(paths.iter().map(String::as_str));
    let said = dir.run(&[&args[..], &counted, &rest].concat());
    assert!(said.measured(), "{said}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let points: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"point""#)).map(json).collect();
    assert_eq!(points.len(), 7 * paths.len(), "{run}");
}

#[test]
fn the_echo_may_be_a_process_of_its_own_whom_several_paths_share() {
    let dir = Scratch::new();
    for broker in brokers(&dir) {
        let mut echo = Command::new("sh");
        let (kind, at) = (broker.kind, &broker.at);
        echo.args(["-c", &format!("exec python3 -u {PROGRAM} --echo --channel e2e {kind} {at}")]).stdin(Stdio::null());
        let echo = Running::start(echo);
        assert_eq!(echo.line().trim(), format!("echo at {kind} {at}, channel e2e"));
        let paths = [broker.path(" --channel e2e"), broker.path(" --channel e2e").replace("label=", "label=second-")];
        let file = format!("{kind}.run.jsonl");
        let line = ["run", &paths[0], &paths[1], "--check", "--patience", "30s", "-o", &file];
        let said = dir.run(&[&line[..], &SHORT].concat());
        assert!(said.measured(), "{kind}: {said}");
    }
}

#[test]
fn a_broker_that_is_not_there_or_goes_away_fails_its_path_with_the_reason() {
    let dir = Scratch::new();
    for broker in brokers(&dir) {
        let kind = broker.kind;
        let (_held, port) = held_port();
        let nowhere = format!("exec:python3 {PROGRAM} {kind} 127.0.0.1:{port}");
        let file = format!("nowhere-{kind}.run.jsonl");
        let said = dir.run(&[&["run", &nowhere, "-o", &file, "--patience", "30s"][..], &SHORT].concat());
        said.refuses(&["does the broker listen there"]);
        let file = format!("{kind}.run.jsonl");
        let path = broker.path("");
        let mark = broker.at.clone();
        let mut run = Running::start(dir.command(&[&["run", &path, "-o", &file][..], &LONG].concat()));
        a_trial(&mut run, &dir.path(&file));
        broker.server.signal(Signal::KILL);
        let said = run.end();
        // Where a round began just then, it finds no broker.
        let told = said.err.contains("closed the connection") || said.err.contains("does the broker listen there");
        assert!([1, 2].contains(&said.code()) && told, "{kind}: {said}");
        let running = || {
            let all = fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
            let of = |pid: &u32| *pid != std::process::id() && command_line(*pid).contains(&mark);
            all.filter(of).any(|pid| command_line(pid).contains("broker.py"))
        };
        until("no process of the path", || (!running()).then_some(()));
    }
}
