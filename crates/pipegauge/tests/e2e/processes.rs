//! Looking at the processes of a run.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal};

use super::support::{Running, until};

/// Sends a signal to a process that a test started (itself or through the command).
pub fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process number");
    let _ = rustix::process::kill_process(pid, signal);
}

/// A process by number and start time, so that a number used again is not taken for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    started: String,
}

impl Process {
    /// The process of this number that runs now.
    pub fn of(pid: u32) -> Option<Self> {
        stat(pid).filter(|s| s.state != "Z").map(|s| Self { pid, started: s.started })
    }

    /// Whether it still runs (a zombie does not).
    pub fn runs(&self) -> bool {
        stat(self.pid).is_some_and(|s| s.started == self.started && s.state != "Z" && s.state != "X")
    }

    /// Whether a signal has stopped it.
    pub fn is_stopped(&self) -> bool {
        stat(self.pid).is_some_and(|s| s.started == self.started && s.state == "T")
    }
}

struct Stat {
    state: String,
    parent: u32,
    started: String,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold blanks and brackets itself.
    let rest: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
    Some(Stat {
        state: (*rest.first()?).to_owned(),
        parent: rest.get(1)?.parse().ok()?,
        started: (*rest.get(19)?).to_owned(),
    })
}

/// The far processes that `near` started and that run now.
pub fn far_processes(near: u32) -> Vec<Process> {
    children(near, "peer")
}

/// The processes that `near` started for this hidden command and that run now.
pub fn children(near: u32, command: &str) -> Vec<Process> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    all.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .filter(|(pid, s)| s.parent == near && s.state != "Z" && command_line(*pid).contains(command))
        .map(|(pid, s)| Process { pid, started: s.started })
        .collect()
}

/// A process's command line, as anyone with `ps` sees it.
pub fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// A server that `start` begins at a port of the loopback address, and the port, once it listens there. Another program may get the port before the server does,
/// which ends then: it begins anew at another.
pub fn serves(mut start: impl FnMut(u16) -> Running) -> (Running, u16) {
    until("a server that gets its port", || {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut server = start(port);
        until("the server listens, or ends", || (listens(server.pid(), port) || !server.runs()).then_some(()));
        server.runs().then_some((server, port))
    })
}

/// Whether it is this process that listens at a port.
fn listens(pid: u32, port: u16) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let own: Vec<_> = open.filter_map(|fd| fs::read_link(fd.path()).ok()).collect();
    let at = format!(":{port:04X}");
    // The local address is the second word of a line, the state (0A: listening) the fourth, the inode the tenth.
    let by_it = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listening = words.get(3) == Some(&"0A") && words.get(1).is_some_and(|here| here.ends_with(&at));
        let socket = words.get(9).map(|inode| format!("socket:[{inode}]"));
        listening && own.iter().any(|file| file.to_str() == socket.as_deref())
    };
    fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default().lines().any(by_it)
}

/// Waits until a run's far process runs and the run file at `file` has a trial: measuring is under way.
pub fn under_way(run: &mut Running, file: &Path) -> Process {
    trial_in(run, file);
    until("a far process", || far_processes(run.pid()).into_iter().next())
}

/// Waits until the run file at `file` has a trial, be it of the survey.
pub fn a_trial(run: &mut Running, file: &Path) {
    until("a trial", || measured(run, file, r#""event":"trial""#));
}

/// Waits until the run file at `file` has a trial of its first round. (The survey before it is over in a moment, and its
/// far process with it.)
pub fn trial_in(run: &mut Running, file: &Path) {
    until("a trial in the run file", || measured(run, file, r#""event":"trial","path":0,"block":1,"#));
}

/// Whether the run file has this text; fails where the run has ended without it.
fn measured(run: &mut Running, file: &Path, text: &str) -> Option<()> {
    let ran = run.runs();
    let found = fs::read_to_string(file).is_ok_and(|all| all.contains(text));
    assert!(found || ran, "the run ended before it measured anything: {}", run.outputs(ExitStatus::default()));
    found.then_some(())
}

/// Fails unless every one of these processes ends.
pub fn all_end(processes: &[Process]) {
    for p in processes {
        until(&format!("the end of far process {p:?}"), || (!p.runs()).then_some(()));
    }
}
