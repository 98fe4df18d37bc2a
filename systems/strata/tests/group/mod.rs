//! `strata member` as a process that a test talks to.

#![allow(dead_code)]

pub mod namespace;

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_strata");
pub const STACK: &str = "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp";
/// Far longer than anything takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(90);

pub struct Process {
    child: Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Process {
    /// A member that asks these, and suspects after so many milliseconds.
    pub fn start(contacts: &[SocketAddr], suspect: u64) -> Self {
        Self::start_as(Command::new(PROGRAM), contacts, suspect)
    }

    /// The same, by a command that runs [`PROGRAM`] and has perhaps some flags of `strata` already, `member` the first.
    pub fn start_as(mut command: Command, contacts: &[SocketAddr], suspect: u64) -> Self {
        if command.get_args().all(|a| a != "member") {
            command.arg("member");
        }
        if command.get_args().all(|a| a != "--stack") {
            command.args(["--stack", STACK]);
        }
        command.args(["--stay", "--suspect", &suspect.to_string()]);
        for contact in contacts {
            command.args(["--contacts", &contact.to_string()]);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (to, out) = (lines.clone(), child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                to.lock().unwrap().push(line);
            }
        });
        let input = Mutex::new(child.stdin.take());
        let process = Self { child: Mutex::new(child), input, lines };
        process.wait_for(|line| line.starts_with("member "));
        process
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub fn name(&self) -> String {
        self.lines.lock().unwrap()[0].trim_start_matches("member ").to_owned()
    }

    pub fn addr(&self) -> SocketAddr {
        self.name().split('#').next().unwrap().parse().unwrap()
    }

    pub fn say(&self, number: u64) {
        writeln!(self.input.lock().unwrap().as_mut().unwrap(), "{number}").unwrap();
    }

    /// The numbers from one up to another, in one write.
    pub fn say_all(&self, numbers: std::ops::Range<u64>) {
        let text: String = numbers.map(|n| format!("{n}\n")).collect();
        self.write(&text);
    }

    /// These lines, in one write.
    pub fn write(&self, lines: &str) {
        self.input.lock().unwrap().as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    /// Until it was given this number from another.
    pub fn wait_for_number(&self, number: u64, from: &Process) {
        self.wait_for_line(&format!("{}: {number}", from.name()));
    }

    /// Until it has told this.
    pub fn wait_for_line(&self, line: &str) {
        let deadline = Instant::now() + PATIENCE;
        // The last lines first: mostly it is one of these, of very many.
        while !self.lines.lock().unwrap().iter().rev().any(|l| l == line) {
            assert!(
                Instant::now() < deadline,
                "{PATIENCE:?} passed without {line:?}; the member said: {:#?}",
                self.lines()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its resident memory in bytes.
    pub fn memory(&self) -> u64 {
        let pid = self.child.lock().unwrap().id();
        let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
        let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
        pages * rustix::param::page_size() as u64
    }

    /// Its open descriptors.
    pub fn descriptors(&self) -> usize {
        let pid = self.child.lock().unwrap().id();
        std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
    }

    pub fn wait_for(&self, wanted: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = 0;
        loop {
            // Copied, since what is wanted may look at this member's lines, too.
            let new = self.lines.lock().unwrap()[seen..].to_vec();
            if new.iter().any(|l| wanted(l)) {
                return;
            }
            seen += new.len();
            assert!(Instant::now() < deadline, "{PATIENCE:?} passed; the member said: {:#?}", self.lines());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Until the last view that it told has so many members.
    pub fn wait_for_view_of(&self, members: usize) {
        let deadline = Instant::now() + PATIENCE;
        let count = format!(" of {members}: ");
        while self.lines.lock().unwrap().iter().rfind(|l| l.starts_with("view ")).is_none_or(|l| !l.contains(&count)) {
            assert!(Instant::now() < deadline, "no view of {members}; the member said: {:#?}", self.lines());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.lock().unwrap()), signal).unwrap();
    }

    pub fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    pub fn kill(&mut self) {
        let child = self.child.get_mut().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have been killed before.
        let child = self.child.get_mut().unwrap();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// The numbers that a member was given from another, in order.
pub fn numbered(lines: &[String], from: &str) -> Vec<u64> {
    let start = format!("{from}: ");
    lines.iter().filter_map(|l| l.strip_prefix(&start)?.parse().ok()).collect()
}
