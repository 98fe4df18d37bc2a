//! Scripts from seeds: random, but such that the kernel answers the same each time. What is under way stays well below what any
//! buffer holds, a call waits only in a lane and only for what the next step brings, and how much fits at most is not asked.
//!
//! What the library is known not to do (README.md, "Defects that are known") is not asked either, each time beside the word *known*.

mod connects;
mod plays;

use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLET, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP, MSG_DONTWAIT,
    MSG_NOSIGNAL, POLLIN, POLLOUT, POLLPRI, POLLRDHUP,
};

use crate::player::{CONNECTIONS, PROCESSES};
use crate::script::Step;

/// Bytes under way at most, that nobody has received yet.
const UNDER_WAY: usize = 20_000;
/// Handles: the listening socket's, connections', their duplicates', sets'.
const LISTENER: i64 = 0;
const FIRST: i64 = 1;
const DUPLICATES: std::ops::Range<i64> = 3..7;
const SETS: std::ops::Range<i64> = 7..10;
/// For sets and descriptors of one play alone.
const SPARE: i64 = 12;

/// What is added to the kind of a send or a receive whose call is made by its number (`contract/actor.c`).
const BY_NUMBER: i64 = 6;

/// splitmix64 (Steele, Lea and Flood, 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What a handle means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    Nothing,
    Listener,
    Conn(usize),
    Set,
}

#[derive(Debug, Clone)]
struct Process {
    side: usize,
    number: usize,
    alive: bool,
    handles: [Means; 16],
}

/// A direction of a connection, by its sender.
#[derive(Debug, Clone, Copy, Default)]
struct Way {
    under_way: usize,
    shut: bool,
}

#[derive(Debug, Clone, Default)]
struct Conn {
    /// The handle that it was made with, and the processes that accepted and connected it.
    home: i64,
    first: [usize; 2],
    ways: [Way; 2],
    /// Calls of this side don't wait.
    nonblocking: [bool; 2],
    /// A side has set a time limit.
    limited: [bool; 2],
    /// Shared by processes of a side, now or once.
    forked: [bool; 2],
    /// A side closed with bytes unread, or so that the other's are thrown away: what comes after is the other side's to find out.
    reset: bool,
    /// A side was killed.
    killed: [bool; 2],
    /// A side receives no more.
    deaf: [bool; 2],
    /// So many bytes went back and forth that it is fast if it can be.
    settled: bool,
}

/// A script in the making.
pub struct Generator {
    random: Random,
    steps: Vec<Step>,
    conns: Vec<Conn>,
    processes: Vec<Process>,
    /// A set has entries that tell once.
    once: bool,
    /// A set has entries that tell edges.
    edges: bool,
    /// So many connections came before that those that are made now can be used again.
    again: bool,
}

/// The script of a seed.
pub fn script(seed: u64) -> Vec<Step> {
    let mut made = Generator {
        random: Random(seed),
        steps: Vec::new(),
        conns: Vec::new(),
        processes: (0..2).map(|side| Process { side, number: 0, alive: true, handles: [Means::Nothing; 16] }).collect(),
        once: false,
        edges: false,
        again: false,
    };
    made.begin();
    let actions = 4 + made.random.below(16);
    for _ in 0..actions {
        made.action();
    }
    made.steps
}

impl Generator {
    fn step(&mut self, process: usize, name: &str, args: &[i64]) {
        self.push(process, 0, name, None, args);
    }

    fn on(&mut self, process: usize, name: &str, conn: usize, args: &[i64]) {
        self.push(process, 0, name, Some(conn), args);
    }

    fn push(&mut self, process: usize, lane: usize, name: &str, conn: Option<usize>, args: &[i64]) {
        let Process { side, number, .. } = self.processes[process];
        self.steps.push(Step { side, process: number, lane, name: name.to_owned(), conn, args: args.to_vec() });
    }

    fn begin(&mut self) {
        const SERVER: usize = 0;
        const CLIENT: usize = 1;
        self.step(SERVER, "listen", &[LISTENER]);
        self.processes[SERVER].handles[0] = Means::Listener;
        if self.random.one_in(3) {
            self.calls(SERVER, CLIENT);
        }
        if self.random.one_in(4) {
            self.connect([SERVER, CLIENT], &[FIRST, FIRST + 1]);
        } else {
            self.connect([SERVER, CLIENT], &[FIRST]);
        }
    }

    /// A process that lives, and a handle of a connection that it has.
    fn someone(&mut self) -> Option<(usize, i64, usize)> {
        let all: Vec<_> = self
            .processes
            .iter()
            .enumerate()
            .filter(|(_, process)| process.alive)
            .flat_map(|(at, process)| {
                process.handles.iter().enumerate().filter_map(move |(h, means)| match means {
                    Means::Conn(conn) => Some((at, h as i64, *conn)),
                    _ => None,
                })
            })
            .collect();
        (!all.is_empty()).then(|| self.random.of(&all))
    }

    /// A process of the other side with the same connection.
    fn peer_of(&mut self, process: usize, conn: usize) -> Option<(usize, i64)> {
        let other = 1 - self.processes[process].side;
        let all: Vec<_> = self
            .processes
            .iter()
            .enumerate()
            .filter(|(_, process)| process.alive && process.side == other)
            .flat_map(|(at, process)| {
                let has = move |h: &usize| process.handles[*h] == Means::Conn(conn);
                (0..16).filter(has).map(move |h| (at, h as i64))
            })
            .collect();
        (!all.is_empty()).then(|| self.random.of(&all))
    }

    /// Descriptors of a side, in all its processes, that mean a connection.
    fn holders(&self, side: usize, conn: usize) -> usize {
        let living = self.processes.iter().filter(|process| process.alive && process.side == side);
        living.flat_map(|process| process.handles).filter(|&means| means == Means::Conn(conn)).count()
    }

    fn open(&self, conn: usize) -> bool {
        let conn_is = &self.conns[conn];
        !conn_is.reset && (0..2).all(|side| self.holders(side, conn) > 0 && !conn_is.killed[side])
    }

    fn may_send(&self, conn: usize, side: usize, len: usize) -> bool {
        let way = self.conns[conn].ways[side];
        // Known: who sends to a process that was killed learns late that it is gone; and who sends after the other side closed a connection that may be used
        // again is told by the next send alone.
        way.under_way + len <= UNDER_WAY
            && !self.conns[conn].killed[1 - side]
            && !(self.again && self.holders(1 - side, conn) == 0)
    }

    fn sent(&mut self, conn: usize, side: usize, len: usize) {
        if !self.conns[conn].ways[side].shut && self.holders(1 - side, conn) > 0 {
            self.conns[conn].ways[side].under_way += len;
        }
    }

    /// A call of this side on this connection would wait, and can be begun in a lane; the other side can end it.
    fn would_wait(&self, conn: usize, side: usize) -> bool {
        let is = &self.conns[conn];
        self.open(conn)
            && is.ways[1 - side].under_way == 0
            && !is.ways[1 - side].shut
            && !is.nonblocking[side]
            && !is.limited[side]
            && !is.deaf[side]
    }

    fn length(&mut self) -> usize {
        let most = self.random.of(&[1, 2, 10, 100, 1000, 4096, 9000]);
        1 + self.random.below(most)
    }

    fn action(&mut self) {
        if self.random.one_in(if self.again { 6 } else { 40 }) {
            return self.reconnect();
        }
        let Some((process, h, conn)) = self.someone() else { return };
        match self.random.below(100) {
            0..18 => self.send(process, h, conn),
            18..36 => self.receive(process, h, conn),
            36..41 => self.peek(process, h, conn),
            41..44 => self.ask(process, h),
            44..50 => self.poll(process),
            50..57 => self.set(process),
            57..61 => self.duplicate(process, h, conn),
            61..63 => self.close(process, h, conn),
            63..65 => self.shutdown(process, h, conn),
            65..68 => self.other_ways(process, h, conn),
            68..70 => self.flags(process, h, conn),
            70..73 => self.fork(process),
            73 => self.exec(process),
            74..76 => self.end(process),
            _ => self.play(process, h, conn),
        }
    }

    fn send(&mut self, process: usize, h: i64, conn: usize) {
        let (len, side) = (self.length(), self.processes[process].side);
        if self.may_send(conn, side, len) {
            let flags = self.random.of(&[0, 0, MSG_NOSIGNAL, MSG_DONTWAIT | MSG_NOSIGNAL]);
            let kind = self.random.below(6) as i64 + self.by_number();
            self.on(process, "send", conn, &[h, len as i64, kind, flags.into()]);
            self.sent(conn, side, len);
        }
    }

    fn receive(&mut self, process: usize, h: i64, conn: usize) {
        let side = self.processes[process].side;
        let there = self.conns[conn].ways[1 - side].under_way;
        let len = self.random.of(&[1, 3, 50, 1000, 5000, 30_000]);
        if there > 0 && self.random.one_in(3) && !self.conns[conn].nonblocking[side] && self.open(conn) {
            // All of what is there, or a part.
            let len = 1 + self.random.below(there);
            let kind = self.random.of(&[0, 3, 4]);
            self.on(process, "recv", conn, &[h, len as i64, kind, libc::MSG_WAITALL.into()]);
            self.conns[conn].ways[1 - side].under_way -= len;
            return;
        }
        let kinds: &[i64] =
            if there > 0 || self.conns[conn].nonblocking[side] { &[0, 1, 2, 3, 4, 5] } else { &[0, 3, 4, 5] };
        let kind = self.random.of(kinds) + self.by_number();
        self.on(process, "recv", conn, &[h, len, kind, MSG_DONTWAIT.into()]);
        self.conns[conn].ways[1 - side].under_way -= there.min(len as usize);
    }

    fn peek(&mut self, process: usize, h: i64, conn: usize) {
        let side = self.processes[process].side;
        let len = self.random.of(&[1, 50, 5000]);
        let kind = self.random.of(&[0, 3, 4, 5]);
        if self.random.one_in(3) {
            self.step(process, "fionread", &[h]);
        } else if self.conns[conn].ways[1 - side].under_way > 0 && self.random.one_in(2) {
            self.on(process, "peek", conn, &[h, len, kind, 0]);
        } else {
            self.on(process, "peek", conn, &[h, len, kind, MSG_DONTWAIT.into()]);
        }
    }

    fn ask(&mut self, process: usize, h: i64) {
        let what = self.random.of(&[0, 1, 2, 3, 4, 5, 6, 100, 101, 102, 103]);
        match self.random.below(4) {
            0 => self.step(process, "getfl", &[h]),
            // A close that lingers.
            1 if what == 103 => self.step(process, "set", &[h, 100, 5]),
            1 => self.step(process, "set", &[h, 1, what % 2]),
            _ => self.step(process, "option", &[h, what]),
        }
    }

    /// Several descriptors, at once.
    fn poll(&mut self, process: usize) {
        let kind = self.random.below(4) as i64;
        let mut args = vec![kind, self.random.of(&[0, 0, 0, 3])];
        for h in 0..10 {
            let known = self.processes[process].handles[h] != Means::Nothing;
            // An edge may be told again, and so a set be readable once more.
            let unsure = self.edges && self.processes[process].handles[h] == Means::Set;
            if known && !unsure && !self.random.one_in(3) {
                let all = [POLLIN, POLLOUT, POLLIN | POLLOUT, POLLIN | POLLPRI, POLLRDHUP | POLLIN, 0];
                let events = self.random.of(&all[..if kind < 2 { 6 } else { 4 }]);
                args.extend([h as i64, events.into()]);
            }
        }
        if kind < 2 && self.random.one_in(8) {
            args.extend([15, POLLIN.into()]);
        }
        self.step(process, "poll", &args);
    }

    fn events(&mut self) -> i64 {
        let what = self.random.of(&[EPOLLIN, EPOLLIN, EPOLLIN | EPOLLRDHUP, EPOLLIN | EPOLLOUT, EPOLLOUT, 0]);
        // Known: one that another process has as well may be told in both, and one that was told before its connection became fast again.
        let shared =
            self.processes.iter().any(|process| process.number > 0) || self.conns.iter().any(|conn| !conn.settled);
        let how =
            if shared { self.random.of(&[0, 0, EPOLLET]) } else { self.random.of(&[0, 0, 0, EPOLLET, EPOLLONESHOT]) };
        self.once |= how == EPOLLONESHOT;
        self.edges |= how == EPOLLET;
        i64::from(what) | i64::from(how) & 0xffff_ffff
    }

    /// Something with a set.
    fn set(&mut self, process: usize) {
        let set = SETS.start + self.random.below(2) as i64;
        if self.processes[process].handles[set as usize] != Means::Set {
            let old = i64::from(self.random.one_in(3));
            self.step(process, "eopen", &[set, old, 0]);
            self.processes[process].handles[set as usize] = Means::Set;
        }
        for _ in 0..1 + self.random.below(3) {
            let handles = self.processes[process].handles;
            let some: Vec<i64> = (0..10).filter(|&h| h != set && handles[h as usize] != Means::Nothing).collect();
            let h = self.random.of(&some);
            // A set in itself, or in one that it is in, is refused: the kernel's rule, and its alone.
            let op = if handles[h as usize] == Means::Set && h < set {
                EPOLL_CTL_DEL
            } else {
                self.random.of(&[EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL])
            };
            let events = if matches!(handles[h as usize], Means::Conn(_)) { self.events() } else { EPOLLIN.into() };
            self.step(process, "ectl", &[set, op.into(), h, events]);
        }
        for _ in 0..self.random.below(3) {
            let kind = self.random.below(3) as i64;
            self.step(process, "ewait", &[set, 8, 0, kind]);
        }
        if self.random.one_in(12) {
            self.step(process, "close", &[set]);
            self.processes[process].handles[set as usize] = Means::Nothing;
        }
    }

    /// Whether a side may hand a connection over. Known: what its ring holds does not go along (which a reset leaves there), and one that the other side has closed and keeps
    /// is hung up.
    fn may_pass(&self, side: usize, conn: usize) -> bool {
        let is = &self.conns[conn];
        let kept_there = self.again && self.holders(1 - side, conn) == 0;
        is.ways[1 - side].under_way == 0 && !is.reset && !kept_there
    }

    /// Another descriptor of the same.
    fn duplicate(&mut self, process: usize, h: i64, conn: usize) {
        let to = DUPLICATES.start + self.random.below(4) as i64;
        if to == h {
            return;
        }
        match self.processes[process].handles[to as usize] {
            Means::Nothing => match self.random.below(4) {
                0 => self.step(process, "dupfd", &[h, to, libc::F_DUPFD_CLOEXEC.into()]),
                1 => self.step(process, "dupfd", &[h, to, libc::F_DUPFD.into()]),
                2 if self.may_pass(self.processes[process].side, conn) => self.step(process, "pass", &[h, to]),
                _ => self.step(process, "dup", &[h, to]),
            },
            Means::Conn(over) => {
                if !self.lets_go(process, over) {
                    return;
                }
                if self.random.one_in(2) {
                    self.step(process, "dup2", &[h, to]);
                } else {
                    self.step(process, "dup3", &[h, to, 0]);
                }
                self.loses(process, to, over);
            }
            _ => return,
        }
        self.processes[process].handles[to as usize] = Means::Conn(conn);
    }

    /// Whether a process may close a descriptor of a connection.
    fn lets_go(&self, process: usize, conn: usize) -> bool {
        let side = self.processes[process].side;
        let (is, last) = (&self.conns[conn], self.holders(side, conn) == 1);
        // Known: after a fork nobody knows who is last, and an end of file comes instead of a reset.
        !(last && is.forked[side] && is.ways[1 - side].under_way > 0)
    }

    /// A process has closed a descriptor of a connection.
    fn loses(&mut self, process: usize, h: i64, conn: usize) {
        let side = self.processes[process].side;
        self.processes[process].handles[h as usize] = Means::Nothing;
        if self.holders(side, conn) == 0 {
            let is = &mut self.conns[conn];
            is.reset |= is.ways[1 - side].under_way > 0;
            is.ways[1 - side].under_way = 0;
            is.ways[side].shut = true;
        }
    }

    /// Every fourth call is made by its number. No draw of its own: a seed stays the script that it was, but for that.
    fn by_number(&self) -> i64 {
        if self.steps.len().is_multiple_of(4) { BY_NUMBER } else { 0 }
    }

    fn close(&mut self, process: usize, h: i64, conn: usize) {
        if self.steps.len().is_multiple_of(5) && !self.once {
            self.step(process, "vforked", &[h]);
            self.holds_no_more_alone(process);
        }
        if self.lets_go(process, conn) {
            self.step(process, if self.steps.len().is_multiple_of(3) { "closerange" } else { "close" }, &[h]);
            self.loses(process, h, conn);
            if self.random.one_in(3) {
                let what = self.random.of(&["close", "fionread", "getfl"]);
                self.step(process, what, &[h]);
            }
        }
    }

    fn shutdown(&mut self, process: usize, h: i64, conn: usize) {
        let how = self.random.of(&[libc::SHUT_WR, libc::SHUT_WR, libc::SHUT_RDWR, libc::SHUT_RD]);
        let side = self.processes[process].side;
        self.step(process, "shutdown", &[h, how.into()]);
        let is = &mut self.conns[conn];
        is.ways[side].shut |= how != libc::SHUT_RD;
        is.deaf[side] |= how != libc::SHUT_WR;
    }

    /// Calls that the ring does not serve.
    fn other_ways(&mut self, process: usize, h: i64, conn: usize) {
        let (len, side) = (self.length(), self.processes[process].side);
        let name = self.random.of(&["sendfile", "spliceout", "stream", "splicein"]);
        if name == "splicein" {
            let there = self.conns[conn].ways[1 - side].under_way;
            self.on(process, name, conn, &[h, len as i64]);
            self.conns[conn].ways[1 - side].under_way -= there.min(len);
        } else if self.may_send(conn, side, len) && self.open(conn) {
            self.on(process, name, conn, &[h, len as i64]);
            self.sent(conn, side, len);
        }
    }

    fn flags(&mut self, process: usize, h: i64, conn: usize) {
        let on = self.random.one_in(2);
        let name = self.random.of(&["nonblock", "fionbio"]);
        self.step(process, name, &[h, on.into()]);
        let side = self.processes[process].side;
        self.conns[conn].nonblocking[side] = on;
    }

    fn fork(&mut self, process: usize) {
        let Process { side, handles, .. } = self.processes[process].clone();
        let number = self.processes.iter().filter(|process| process.side == side).count();
        if number >= PROCESSES || self.once {
            return;
        }
        // No draw of its own: a seed stays the script that it was.
        let by_number = self.steps.len().is_multiple_of(2);
        self.step(process, "fork", &[number as i64, by_number.into()]);
        self.processes.push(Process { side, number, alive: true, handles });
        self.holds_no_more_alone(process);
    }

    /// It has forked.
    fn holds_no_more_alone(&mut self, process: usize) {
        let Process { side, handles, .. } = self.processes[process];
        for means in handles {
            if let Means::Conn(conn) = means {
                self.conns[conn].forked[side] = true;
            }
        }
    }

    fn exec(&mut self, process: usize) {
        let handles = self.processes[process].handles;
        // F_DUPFD_CLOEXEC and accept4 make descriptors that are gone then.
        let kept: Vec<usize> = handles
            .iter()
            .filter_map(|means| match means {
                Means::Conn(conn) => Some(*conn),
                _ => None,
            })
            .collect();
        let closes =
            self.steps.iter().any(|step| step.name == "dupfd" && step.args[2] == i64::from(libc::F_DUPFD_CLOEXEC));
        // Known: a descriptor that was handed over is the kernel's alone.
        let passed = self.steps.iter().any(|step| step.name == "pass");
        let side = self.processes[process].side;
        let set = handles.contains(&Means::Set);
        // Known: what a ring still holds goes along as a copy, of which a set that the old program made does not know.
        let unread =
            |&conn: &usize| self.conns[conn].ways[1 - side].under_way > 0 && (set || self.conns[conn].forked[side]);
        // Known: nor does it, of one that the other side has closed and keeps.
        let kept_there = |&conn: &usize| self.again && self.holders(1 - side, conn) == 0;
        if closes || passed || kept.is_empty() || kept.iter().any(unread) || kept.iter().any(kept_there) {
            return;
        }
        let kind = self.random.below(4) as i64;
        self.step(process, "exec", &[kind]);
        for conn in kept {
            self.conns[conn].forked[side] = true;
        }
    }

    /// A process ends, in one way or another.
    fn end(&mut self, process: usize) {
        let Process { side, number, handles, .. } = self.processes[process].clone();
        if number == 0 && !self.random.one_in(3) {
            return;
        }
        let all: Vec<usize> = (0..self.conns.len()).filter(|&conn| handles.contains(&Means::Conn(conn))).collect();
        let last = |made: &Self, conn: usize| {
            made.holders(side, conn) == handles.iter().filter(|&&means| means == Means::Conn(conn)).count()
        };
        let unread = all.iter().any(|&conn| last(self, conn) && self.conns[conn].ways[1 - side].under_way > 0);
        let forked = all.iter().any(|&conn| self.conns[conn].forked[side]);
        let how = self.random.below(3);
        // Known: who ends by `kill -9` or `_exit` with bytes unread sends an end of file, not a reset.
        if unread && (how > 0 || forked) {
            return;
        }
        match how {
            0 => self.step(process, "exit", &[0]),
            1 => self.step(process, "exit", &[1]),
            _ => self.step(process, "kill", &[]),
        }
        for conn in all {
            if last(self, conn) {
                let is = &mut self.conns[conn];
                is.killed[side] |= how > 0;
                is.reset |= is.ways[1 - side].under_way > 0;
                is.ways[1 - side].under_way = 0;
                is.ways[side].shut = true;
            }
        }
        self.processes[process].alive = false;
    }
}
