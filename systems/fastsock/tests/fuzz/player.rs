//! Plays scripts: a process for each side, which forks one for each script (`contract/actor.c`), and what came of each step.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::script::Step;

/// Processes of a side, at most.
pub const PROCESSES: usize = 3;
/// Connections of a script, at most.
pub const CONNECTIONS: usize = 8;
/// The descriptors of an actor's sockets begin here, out of the way of what a script opens.
const HIGH: i32 = 700;

/// A pair of sockets of whole messages.
fn pair() -> (OwnedFd, OwnedFd) {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors, which are this function's own.
    unsafe {
        let made = libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr());
        assert_eq!(made, 0, "{}", io::Error::last_os_error());
        (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1]))
    }
}

fn send(fd: &OwnedFd, text: &str) -> bool {
    // SAFETY: the text's bytes.
    let sent = unsafe { libc::send(fd.as_raw_fd(), text.as_ptr().cast(), text.len(), libc::MSG_NOSIGNAL) };
    usize::try_from(sent) == Ok(text.len())
}

fn receive(fd: &OwnedFd, flags: i32) -> Option<String> {
    let mut bytes = [0_u8; 800];
    // SAFETY: room for as many bytes.
    let got = unsafe { libc::recv(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), flags) };
    let got = usize::try_from(got).ok().filter(|&got| got > 0)?;
    Some(String::from_utf8_lossy(&bytes[..got]).into_owned())
}

/// Waits until one of them is readable. False if the time is up.
fn wait(fds: &[&OwnedFd], limit: Duration) -> bool {
    let mut ask: Vec<_> =
        fds.iter().map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
    let until = Instant::now() + limit;
    loop {
        let left = until.saturating_duration_since(Instant::now()).as_millis() as i32;
        // SAFETY: as many entries.
        match unsafe { libc::poll(ask.as_mut_ptr(), ask.len() as libc::nfds_t, left) } {
            0 if left == 0 => return false,
            1.. => return true,
            _ => {}
        }
    }
}

/// A process that a script's step is done by.
struct Actor {
    pid: i32,
    /// Readable when it has ended.
    end: OwnedFd,
}

impl Actor {
    fn new(pid: i32) -> Option<Self> {
        // SAFETY: a new descriptor for a process that this test's own child has made and not yet reaped.
        let end = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        // SAFETY: just made.
        (end >= 0).then(|| Self { pid, end: unsafe { OwnedFd::from_raw_fd(end as i32) } })
    }

    fn kill(self) {
        // SAFETY: a process of this test's own, by the descriptor that can mean no other.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.end.as_raw_fd(), libc::SIGKILL, 0, 0) };
        assert!(wait(&[&self.end], Duration::from_secs(60)), "process {} does not end when killed", self.pid);
    }
}

/// One side.
struct Side {
    zygote: Child,
    control: OwnedFd,
    processes: Vec<OwnedFd>,
    actors: [Option<Actor>; PROCESSES],
}

impl Side {
    fn new(actor: &Path, library: Option<&Path>, variables: &[(&str, String)]) -> Self {
        let (here, there): (Vec<_>, Vec<_>) = (0..=PROCESSES).map(|_| pair()).unzip();
        let mut command = Command::new(actor);
        command.arg("zygote").args((0..=PROCESSES).map(|i| (HIGH + i as i32).to_string()));
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        if let Some(library) = library {
            command.env("LD_PRELOAD", library);
        }
        let raw: Vec<i32> = there.iter().map(AsRawFd::as_raw_fd).collect();
        // SAFETY: only system calls, on descriptors that live until the new program begins.
        unsafe {
            command.pre_exec(move || {
                raw.iter().enumerate().try_for_each(|(i, &fd)| match libc::dup2(fd, HIGH + i as i32) {
                    -1 => Err(io::Error::last_os_error()),
                    _ => Ok(()),
                })
            });
        }
        let zygote = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        let mut here = here.into_iter();
        let control = here.next().unwrap();
        Self { zygote, control, processes: here.collect(), actors: [const { None }; PROCESSES] }
    }

    fn begin(&mut self) {
        for process in &self.processes {
            while receive(process, libc::MSG_DONTWAIT).is_some() {}
        }
        assert!(send(&self.control, "go"), "the process that makes actors has ended");
        assert!(wait(&[&self.control], Duration::from_secs(60)), "no actor came to be");
        let pid = receive(&self.control, 0).unwrap_or_default();
        self.actors[0] = pid.parse().ok().and_then(Actor::new);
    }

    fn end(&mut self) {
        self.actors.iter_mut().filter_map(Option::take).for_each(Actor::kill);
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.end();
        let _ = self.zygote.kill();
        let _ = self.zygote.wait();
    }
}

/// Where the streams of a script's connections are.
#[derive(Default)]
struct Streams {
    /// Bytes sent and received, by connection and side.
    sent: [[i64; 2]; CONNECTIONS],
    received: [[i64; 2]; CONNECTIONS],
    port: i64,
    /// Some set tells edges.
    edges: bool,
    /// Steps that were begun in a lane, by side, process and lane.
    begun: [[[Option<Step>; 4]; PROCESSES]; 2],
}

/// How a step moves along its stream.
#[derive(PartialEq, Eq)]
enum Way {
    Sends,
    Receives,
    Both,
    Neither,
}

fn way(name: &str) -> Way {
    match name {
        "send" | "sendall" | "sendfile" | "spliceout" | "stream" | "fill" => Way::Sends,
        "recv" | "peek" | "splicein" | "drain" => Way::Receives,
        "ping" | "pong" => Way::Both,
        _ => Way::Neither,
    }
}

impl Streams {
    /// The command of a step.
    fn command(&mut self, step: &Step) -> String {
        let (me, peer) = (step.side, 1 - step.side);
        let mut args = step.args.clone();
        let conn = step.conn.unwrap_or(0);
        let key = |side: usize| (conn * 2 + side) as i64;
        let (out, inward) = ([key(me), self.sent[conn][me]], [key(peer), self.received[conn][me]]);
        match way(&step.name) {
            Way::Sends => drop(args.splice(1..1, out)),
            Way::Receives => {
                if step.name == "drain" && args.get(1).is_none_or(|&len| len < 0) {
                    args.truncate(1);
                    args.push(self.sent[conn][peer] - self.received[conn][me]);
                }
                drop(args.splice(1..1, inward));
            }
            Way::Both => drop(args.splice(1..1, out.into_iter().chain(inward))),
            Way::Neither if step.name == "connect" => args.insert(1, self.port),
            Way::Neither if step.name == "calls" => args.insert(0, self.port),
            Way::Neither if step.name == "ectl" => self.edges |= args[3] & i64::from(libc::EPOLLET) != 0,
            Way::Neither if step.name == "ewait" => args.push(self.edges.into()),
            Way::Neither => {}
        }
        let args: Vec<String> = args.iter().map(i64::to_string).collect();
        format!("{} {} {}", step.lane, step.name, args.join(" "))
    }

    /// What its result says of the streams. `told`: of a step in a lane, when it is begun and when it is joined.
    fn note(&mut self, step: &Step, result: i64, aside: &str) {
        let (conn, me) = (step.conn.unwrap_or(0), step.side);
        let moved = if matches!(step.name.as_str(), "fill" | "drain") { aside.parse().unwrap_or(0) } else { result };
        match way(&step.name) {
            _ if moved <= 0 => {}
            Way::Sends => self.sent[conn][me] += moved,
            Way::Receives if step.name != "peek" => self.received[conn][me] += moved,
            Way::Both => {
                self.sent[conn][me] += moved;
                self.received[conn][me] += moved;
            }
            _ => {}
        }
        if step.name == "listen" {
            self.port = aside.parse().unwrap_or(0);
        }
    }

    /// Bytes that a step in a lane is to send: counted from its beginning, so that the other side knows what to expect.
    fn to_send(step: &Step) -> i64 {
        if way(&step.name) == Way::Sends { step.args.get(1).copied().unwrap_or(0) } else { 0 }
    }
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// A line for each step.
    pub outcomes: Vec<String>,
    /// What was so when a set with edges had told of it, by step.
    pub true_then: Vec<(usize, String)>,
    /// Steps that found their connection fast.
    pub fast: usize,
    /// Connections that were fast as soon as they were connected: used before.
    pub again: usize,
}

/// Both sides, each with the library or without.
pub struct Player {
    sides: [Side; 2],
}

impl Player {
    /// Who has the library: the server's side, the client's.
    pub fn new(actor: &Path, library: &Path, with: [bool; 2], variables: &[(&str, String)]) -> Self {
        Self { sides: with.map(|with| Side::new(actor, with.then_some(library), variables)) }
    }

    /// Plays a script. A step that takes longer than `patience` hangs, and is the last.
    pub fn play(&mut self, script: &[Step], patience: Duration) -> Played {
        self.sides.iter_mut().for_each(Side::begin);
        let mut streams = Streams::default();
        let mut played = Played { outcomes: Vec::new(), true_then: Vec::new(), fast: 0, again: 0 };
        for step in script {
            let outcome = self.step(step, &mut streams, patience, &mut played);
            let hangs = outcome == "hangs";
            played.outcomes.push(outcome);
            if hangs {
                break;
            }
        }
        self.sides.iter_mut().for_each(Side::end);
        played
    }

    fn step(&mut self, step: &Step, streams: &mut Streams, patience: Duration, played: &mut Played) -> String {
        let side = &mut self.sides[step.side];
        if step.name == "kill" {
            if let Some(actor) = side.actors[step.process].take() {
                actor.kill();
            }
            return "killed".to_owned();
        }
        let Some(actor) = &side.actors[step.process] else { return "nobody".to_owned() };
        let socket = &side.processes[step.process];
        if !send(socket, &streams.command(step)) {
            return "dead".to_owned();
        }
        if !wait(&[socket, &actor.end], patience) {
            return "hangs".to_owned();
        }
        let Some(answer) = receive(socket, libc::MSG_DONTWAIT) else { return "died".to_owned() };
        let (said, aside) = answer.split_once('|').unwrap_or((&answer, ""));
        let result: i64 = said.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let lanes = &mut streams.begun[step.side][step.process];
        match step.name.as_str() {
            _ if step.lane > 0 => {
                lanes[step.lane] = Some(step.clone());
                streams.sent[step.conn.unwrap_or(0)][step.side] += Streams::to_send(step);
            }
            "join" => {
                let lane = step.args.first().and_then(|&lane| lanes.get_mut(usize::try_from(lane).ok()?)?.take());
                if let Some(begun) = lane {
                    if begun.name == "ewait" {
                        played.true_then.push((played.outcomes.len(), aside.to_owned()));
                    }
                    streams.sent[begun.conn.unwrap_or(0)][begun.side] -= Streams::to_send(&begun);
                    streams.note(&begun, result, aside);
                }
            }
            "fork" if result == 0 => {
                let child = aside.parse().ok().and_then(Actor::new);
                if let Some(slot) = step.args.first().and_then(|&i| side.actors.get_mut(usize::try_from(i).ok()?)) {
                    *slot = child;
                }
            }
            "exit" => {
                if let Some(actor) = side.actors[step.process].take()
                    && !wait(&[&actor.end], patience)
                {
                    actor.kill();
                    return "does not end".to_owned();
                }
            }
            "fast" => played.fast += usize::from(aside == "1"),
            "connect" => played.again += usize::from(aside == "1"),
            "ewait" => played.true_then.push((played.outcomes.len(), aside.to_owned())),
            _ => streams.note(step, result, aside),
        }
        said.trim().to_owned()
    }
}
