//! Servers and clients of other people's, for tests.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::Built;

/// Who has the library.
pub const WAYS: [(&str, bool, bool); 3] =
    [("both", true, true), ("server only", true, false), ("client only", false, true)];

/// A program that is killed when the test is done with it.
pub struct Server(pub Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Asked first, so that one with children of its own ends them.
        // SAFETY: a process of this test's own.
        unsafe { libc::kill(self.0.id().cast_signed(), libc::SIGTERM) };
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until && self.0.try_wait().is_ok_and(|status| status.is_none()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program to be run, with the library or without.
pub fn command(built: &Built, library: bool, program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("FASTSOCK_AFTER", "2").stderr(Stdio::null());
    if library {
        command.env("LD_PRELOAD", &built.library);
    }
    command
}

/// Connections of a program to a port, as `contract/witness.c` saw them when they ended: in a file that goes with this value.
pub struct Witness(PathBuf);

impl Drop for Witness {
    fn drop(&mut self) {
        // There is none where the program made no connection, or did not run.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Witness {
    /// A program to be run, with the library or without, whose connections to a port are looked at.
    pub fn command(built: &Built, library: bool, program: &str, port: u16) -> (Command, Self) {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = std::env::temp_dir().join(format!("fastsock-witness-{}-{number}", std::process::id()));
        let mut command = command(built, library, program);
        let mut preload = built.witness.display().to_string();
        if library {
            preload += &format!(":{}", built.library.display());
        }
        command.env("LD_PRELOAD", preload).env("WITNESS", &file).env("WITNESS_PORT", port.to_string());
        (command, Self(file))
    }

    /// They were fast, at least one of them, or all of them the kernel's, and there were some.
    pub fn check(self, fast: bool, who: &str) {
        let told = std::fs::read_to_string(&self.0).unwrap_or_default();
        let any = |word: &str| told.lines().any(|line| line == word);
        let (was_fast, was_kernels) = (any("fast"), any("kernel"));
        assert!(was_fast == fast && (was_fast || was_kernels), "library: {who}: fast, or the kernel's: {told:?}");
    }
}

/// Whether a program is there; says so if not. `asked` is an argument with which it ends at once.
pub fn installed(program: &str, asked: &str) -> bool {
    let there = Command::new(program).arg(asked).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        println!("skipped: {program} is not installed");
    }
    there
}

/// A port that was free a moment ago. Somebody else may have it by now: [`serves`] tells.
pub fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server that `start` begins on a port, and the port, once it listens there. No connection is made, for servers that serve who comes first.
/// Another program may get the port before the server does, which ends then: it begins anew on another.
pub fn serves(mut start: impl FnMut(u16) -> Child) -> (Server, u16) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let port = port();
        let mut server = Server(start(port));
        while !listens(server.0.id(), port) {
            if let Some(ended) = server.0.try_wait().unwrap() {
                eprintln!("the server on port {port} ended before it listened: {ended}");
                break;
            }
            assert!(Instant::now() < until, "the server on port {port} runs, and does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        if server.0.try_wait().unwrap().is_none() {
            return (server, port);
        }
        assert!(Instant::now() < until, "no server came to listen");
    }
}

/// Whether a process listens, or one that it began: a stranger that got the port first does not count.
pub fn listens(process: u32, port: u16) -> bool {
    let own = family(process);
    listeners(port).iter().any(|inode| own.iter().any(|of| holds(*of, inode)))
}

/// A process and all that it began.
fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let mut next = 0;
    while let Some(of) = all.get(next).copied() {
        let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
        let listed = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        all.extend(
            listed.flat_map(|line| line.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>()),
        );
        next += 1;
    }
    all
}

/// Whether a process has a socket open.
fn holds(process: u32, inode: &str) -> bool {
    let socket = format!("socket:[{inode}]");
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    open.filter_map(|fd| std::fs::read_link(fd.path()).ok()).any(|to| to.as_os_str() == socket.as_str())
}

/// The inodes of the sockets that listen on a port.
fn listeners(port: u16) -> Vec<String> {
    let local = format!(":{port:04X} ");
    // The local address is the second word of a line, the state (0A: listening) the fourth, the inode the tenth.
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let listens = words.get(3) == Some(&"0A") && words.get(1).is_some_and(|at| format!("{at} ").ends_with(&local));
        words.get(9).filter(|_| listens).map(|inode| (*inode).to_owned())
    };
    let all = ["/proc/net/tcp", "/proc/net/tcp6"].map(|file| std::fs::read_to_string(file).unwrap_or_default());
    all.iter().flat_map(|text| text.lines().filter_map(of)).collect()
}
