//! What takes several steps: calls that wait until the other side does something.

use super::*;

impl Generator {
    pub(super) fn play(&mut self, process: usize, h: i64, conn: usize) {
        let side = self.processes[process].side;
        let Some((peer, ph)) = self.peer_of(process, conn) else { return };
        if !self.would_wait(conn, side) {
            return;
        }
        match self.random.below(16) {
            0..3 => self.waits_for_bytes(process, h, conn, peer, ph),
            3 => self.waits_for_all(process, h, conn, peer, ph),
            4 => self.waits_for_the_end(process, h, conn, peer, ph),
            5 => self.bulk(process, h, conn, peer, ph),
            6 | 7 => self.full(process, h, conn, peer, ph),
            8 => self.interrupted(process, h, conn, peer, ph),
            9 => self.late(process, h, conn),
            10 => self.urgent(process, h, conn, peer, ph),
            11 => self.duel(process, h, conn, peer, ph),
            12 => self.again(conn),
            _ => self.watched(process, h, conn, peer, ph),
        }
    }

    fn join(&mut self, process: usize) {
        self.step(process, "join", &[1]);
    }

    /// The peer sends, with no bytes under way but these.
    fn peer_sends(&mut self, peer: usize, ph: i64, conn: usize, len: usize) {
        // Not sendmmsg, which sends twice: whoever waits may see the first alone.
        let kind = self.random.below(5) as i64;
        self.on(peer, "send", conn, &[ph, len as i64, kind, 0]);
        let side = self.processes[peer].side;
        self.sent(conn, side, len);
    }

    /// All that the peer has sent.
    fn takes_all(&mut self, process: usize, h: i64, conn: usize) {
        self.on(process, "drain", conn, &[h, -1]);
        let side = self.processes[process].side;
        self.conns[conn].ways[1 - side].under_way = 0;
    }

    /// Begins a call in a lane that returns when the peer has sent, or closed. Whether it takes the bytes.
    fn begins(&mut self, process: usize, h: i64, conn: usize, len: usize) -> bool {
        match self.random.below(6) {
            0..3 => {
                let kind = self.random.below(6) as i64;
                self.push(process, 1, "recv", Some(conn), &[h, len as i64, kind, 0]);
                true
            }
            3 => {
                self.push(process, 1, "peek", Some(conn), &[h, len as i64, 0, 0]);
                false
            }
            _ => {
                let (kind, limit) = (self.random.below(4) as i64, self.random.of(&[-1, 30_000]));
                self.push(process, 1, "poll", None, &[kind, limit, h, POLLIN.into()]);
                false
            }
        }
    }

    fn waits_for_bytes(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let side = self.processes[process].side;
        if self.conns[conn].ways[1 - side].shut {
            return;
        }
        let len = self.length();
        let takes = self.begins(process, h, conn, len + 5);
        if self.random.one_in(2) {
            self.step(peer, "nap", &[200]);
        }
        self.peer_sends(peer, ph, conn, len);
        self.join(process);
        if takes {
            self.conns[conn].ways[1 - side].under_way = 0;
        }
    }

    fn waits_for_all(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let (first, second) = (self.length(), self.length());
        let kind = self.random.of(&[0, 3, 4]);
        let len = (first + second) as i64;
        self.push(process, 1, "recv", Some(conn), &[h, len, kind, libc::MSG_WAITALL.into()]);
        self.peer_sends(peer, ph, conn, first);
        self.peer_sends(peer, ph, conn, second);
        self.join(process);
        let side = self.processes[process].side;
        self.conns[conn].ways[1 - side].under_way = 0;
    }

    fn waits_for_the_end(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let (side, other) = (self.processes[process].side, self.processes[peer].side);
        let how = self.random.below(3);
        // A close that is not the last, or with bytes unread, is no end.
        let alone = self.holders(other, conn) == 1 && self.conns[conn].ways[side].under_way == 0;
        if how > 0 && !alone || how > 1 && self.conns.len() > 1 {
            return;
        }
        self.begins(process, h, conn, 10);
        match how {
            0 => {
                self.step(peer, "shutdown", &[ph, libc::SHUT_WR.into()]);
                self.conns[conn].ways[other].shut = true;
            }
            1 => {
                self.step(peer, "close", &[ph]);
                self.loses(peer, ph, conn);
            }
            _ => {
                self.step(peer, "kill", &[]);
                self.processes[peer].alive = false;
                self.conns[conn].ways[other].shut = true;
                self.conns[conn].killed[other] = true;
            }
        }
        self.join(process);
    }

    /// More than any buffer holds.
    fn bulk(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let side = self.processes[process].side;
        let other = 1 - side;
        let is = &self.conns[conn];
        if is.ways[other].shut || is.ways[side].shut || is.deaf[other] || is.nonblocking[other] || is.limited[other] {
            return;
        }
        let (len, piece) = (self.random.of(&[100_000, 300_000, 900_000]), self.random.of(&[500, 7001, 70_000]));
        self.push(peer, 1, "sendall", Some(conn), &[ph, len, piece]);
        self.on(process, "drain", conn, &[h, len]);
        self.join(peer);
    }

    /// Until there is no room, and until there is again.
    fn full(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let side = self.processes[process].side;
        let is = &self.conns[conn];
        let other = 1 - side;
        if is.ways[side].shut || is.deaf[other] || is.nonblocking[other] || is.limited[other] {
            return;
        }
        self.on(process, "fill", conn, &[h]);
        let kind = self.random.below(4) as i64;
        // A connection that becomes fast now has the ring's room as well: a send may find some that the kernel alone has not.
        let ends = if self.conns[conn].settled { 4 } else { 3 };
        match self.random.below(ends) {
            0 => {
                self.push(process, 1, "poll", None, &[kind, -1, h, POLLOUT.into()]);
                self.takes_all(peer, ph, conn);
                self.join(process);
            }
            1 => {
                self.push(process, 1, "sendall", Some(conn), &[h, 3000, 1000]);
                self.takes_all(peer, ph, conn);
                self.join(process);
            }
            2 => {
                let how = if self.conns[conn].settled { self.random.of(&[0, EPOLLET, EPOLLONESHOT]) } else { 0 };
                self.step(process, "eopen", &[SPARE, 0, 1]);
                let events = i64::from(EPOLLOUT) | i64::from(how) & 0xffff_ffff;
                self.step(process, "ectl", &[SPARE, EPOLL_CTL_ADD.into(), h, events]);
                self.push(process, 1, "ewait", None, &[SPARE, 4, -1, kind % 3]);
                self.takes_all(peer, ph, conn);
                self.join(process);
                self.step(process, "close", &[SPARE]);
            }
            _ => {
                self.step(process, "set", &[h, 102, 15]);
                self.on(process, "send", conn, &[h, 100, 0, 0]);
                self.step(process, "set", &[h, 102, 0]);
                self.takes_all(peer, ph, conn);
                self.step(process, "poll", &[kind, 2000, h, POLLOUT.into()]);
            }
        }
        self.conns[conn].ways[side].under_way = 0;
    }

    /// A handler ends a call that waits, or does not.
    fn interrupted(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let restart = self.random.one_in(2);
        self.step(process, "action", &[restart.into()]);
        let several = self.random.one_in(2);
        if several {
            let kind = self.random.below(4) as i64;
            self.push(process, 1, "poll", None, &[kind, -1, h, POLLIN.into()]);
        } else {
            self.push(process, 1, "recv", Some(conn), &[h, 10, 0, 0]);
        }
        if !several && restart {
            self.step(process, "interrupt", &[1, 3]);
            self.peer_sends(peer, ph, conn, 10);
            let side = self.processes[process].side;
            self.conns[conn].ways[1 - side].under_way = 0;
        } else {
            self.step(process, "interrupt", &[1, 0]);
        }
        self.join(process);
    }

    fn late(&mut self, process: usize, h: i64, conn: usize) {
        self.step(process, "set", &[h, 101, 12]);
        let kind = self.random.below(6) as i64;
        self.on(process, "recv", conn, &[h, 10, kind, 0]);
        self.step(process, "option", &[h, 101]);
        self.step(process, "set", &[h, 101, 0]);
    }

    fn urgent(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        if self.conns[conn].ways[1 - self.processes[process].side].shut {
            return;
        }
        let before = self.random.of(&[0, 100]);
        if before > 0 {
            self.peer_sends(peer, ph, conn, before);
        }
        self.step(peer, "oob", &[ph]);
        self.step(process, "poll", &[0, 2000, h, POLLPRI.into()]);
        self.step(process, "recvoob", &[h]);
        if before > 0 {
            self.takes_all(process, h, conn);
        }
        self.step(process, "atmark", &[h]);
    }

    fn duel(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let side = self.processes[process].side;
        if self.conns[conn].ways[1 - side].shut || self.conns[conn].nonblocking[1 - side] {
            return;
        }
        let count = self.random.of(&[10, 100, 300]);
        self.push(peer, 1, "duel", None, &[ph, count]);
        self.step(process, "tally", &[h, count]);
        self.join(peer);
    }

    /// A conversation of the processes that made it, in the midst of all.
    fn again(&mut self, conn: usize) {
        let Conn { home, first, .. } = self.conns[conn];
        let able = (0..2).all(|side| {
            self.processes[first[side]].alive
                && self.processes[first[side]].handles[home as usize] == Means::Conn(conn)
                && !self.conns[conn].ways[side].shut
                && self.would_wait(conn, side)
        });
        if able {
            self.ping(conn, 20);
        }
    }

    /// A set of one's own, and what it tells.
    fn watched(&mut self, process: usize, h: i64, conn: usize, peer: usize, ph: i64) {
        let side = self.processes[process].side;
        if self.conns[conn].ways[1 - side].shut {
            return;
        }
        // Known: see `events`.
        let shared =
            self.processes.iter().any(|process| process.number > 0) || self.conns.iter().any(|conn| !conn.settled);
        let all = [0, 0, EPOLLET, EPOLLONESHOT, libc::EPOLLEXCLUSIVE];
        let how = i64::from(self.random.of(&all[..if shared { 3 } else { 5 }])) & 0xffff_ffff;
        // An exclusive entry is refused the end of the peer's direction.
        let alone = how == i64::from(libc::EPOLLEXCLUSIVE);
        let events =
            i64::from(self.random.of(&[EPOLLIN, EPOLLIN, EPOLLIN | EPOLLRDHUP][..if alone { 2 } else { 3 }])) | how;
        let nested = self.random.one_in(4);
        let (set, outer) = (SPARE, SPARE + 1);
        let asked = if nested { outer } else { set };
        self.step(process, "eopen", &[set, 0, 1]);
        let edge = self.random.one_in(3);
        if nested {
            self.step(process, "eopen", &[outer, 0, 1]);
            let edge = if edge { EPOLLET } else { 0 };
            let flags = i64::from(EPOLLIN) | i64::from(edge) & 0xffff_ffff;
            self.step(process, "ectl", &[outer, EPOLL_CTL_ADD.into(), set, flags]);
        }
        self.step(process, "ectl", &[set, EPOLL_CTL_ADD.into(), h, events]);
        for round in 0..1 + self.random.below(4) {
            let kind = self.random.below(3) as i64;
            if round > 0 && how == i64::from(EPOLLONESHOT) {
                self.step(process, "ectl", &[set, EPOLL_CTL_MOD.into(), h, events]);
            }
            let len = 1 + self.random.below(2000);
            if self.random.one_in(2) {
                // Nothing is new, then the peer sends.
                self.step(process, "ewait", &[asked, 4, 0, kind]);
                self.push(process, 1, "ewait", None, &[asked, 4, -1, kind]);
                self.peer_sends(peer, ph, conn, len);
                self.join(process);
            } else {
                self.peer_sends(peer, ph, conn, len);
                self.step(process, "ewait", &[asked, 4, 0, kind]);
            }
            if nested && self.random.one_in(2) {
                // An edge may be told again, and so the outer set's state be another.
                let all = [kind % 2, 0, set, POLLIN.into(), outer, POLLIN.into()];
                self.step(process, "poll", &all[..if edge { 4 } else { 6 }]);
                self.step(process, "ewait", &[set, 4, 0, kind]);
            }
            self.step(process, "ewait", &[asked, 4, 0, kind]);
            if self.random.one_in(3) {
                let part = 1 + self.random.below(len) as i64;
                self.on(process, "recv", conn, &[h, part, 0, MSG_DONTWAIT.into()]);
                self.step(process, "ewait", &[asked, 4, 0, kind]);
            }
            self.takes_all(process, h, conn);
            self.step(process, "ewait", &[asked, 4, 0, kind]);
        }
        if nested {
            self.step(process, "close", &[outer]);
        }
        if self.random.one_in(4) {
            self.step(process, "ectl", &[set, EPOLL_CTL_DEL.into(), h, 0]);
            self.step(process, "ewait", &[set, 4, 0, 0]);
        }
        self.step(process, "close", &[set]);
    }
}
