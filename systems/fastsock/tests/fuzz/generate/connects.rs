//! How connections begin, end and begin again: those that both sides have closed may be used again (`src/recycle.rs`).

use super::*;

impl Generator {
    /// So many connections one after the other, each for an exchange, that the library keeps one for the next to take.
    pub(super) fn calls(&mut self, server: usize, client: usize) {
        // One in sixteen of those accepted looks whether it can be kept, and that takes it two or three times as long as the first.
        let (count, how) = (self.random.of(&[18, 20, 36]), self.random.below(3) as i64);
        self.push(client, 1, "calls", None, &[count, how]);
        self.step(server, "serves", &[LISTENER, count, how]);
        self.step(client, "join", &[1]);
        self.again = true;
    }

    /// A process connects and another accepts, with these handles on both sides: one after the other, or all and then all.
    pub(super) fn connect(&mut self, first: [usize; 2], handles: &[i64]) {
        let [server, client] = first;
        let mut waiting = Vec::new();
        for &h in handles {
            let later = self.random.one_in(5);
            let flags = self.random.of(&[-1, -1, 0, i64::from(libc::SOCK_NONBLOCK)]);
            let accept = [LISTENER, h, flags];
            if handles.len() > 1 && self.random.one_in(2) || !waiting.is_empty() {
                self.step(client, "connect", &[h, i64::from(later)]);
                waiting.push((h, later, flags));
                continue;
            }
            self.one_call(server, client, h, later, &accept);
            self.connected(first, h, later, flags);
        }
        for &(h, later, flags) in &waiting {
            self.step(server, "accept", &[LISTENER, h, flags]);
            self.connected(first, h, later, flags);
        }
    }

    /// Connects and accepts: whoever accepts comes after, or waits before, by the call itself or another.
    fn one_call(&mut self, server: usize, client: usize, h: i64, later: bool, accept: &[i64]) {
        let kind = self.random.below(4) as i64;
        let call = [h, i64::from(later)];
        match self.random.below(8) {
            0 => {
                self.push(server, 1, "accept", None, accept);
                self.step(client, "connect", &call);
                return self.step(server, "join", &[1]);
            }
            1 => {
                self.push(server, 1, "poll", None, &[kind, -1, LISTENER, POLLIN.into()]);
                self.step(client, "connect", &call);
                self.step(server, "join", &[1]);
            }
            2 => {
                let how = i64::from(self.random.of(&[0, 0, EPOLLET, EPOLLONESHOT])) & 0xffff_ffff;
                self.step(server, "eopen", &[SPARE, 0, 1]);
                self.step(server, "ectl", &[SPARE, EPOLL_CTL_ADD.into(), LISTENER, i64::from(EPOLLIN) | how]);
                self.push(server, 1, "ewait", None, &[SPARE, 4, -1, kind % 3]);
                self.step(client, "connect", &call);
                self.step(server, "join", &[1]);
                self.step(server, "close", &[SPARE]);
            }
            3 => {
                self.step(client, "connect", &call);
                self.step(server, "poll", &[kind, 2000, LISTENER, POLLIN.into()]);
            }
            _ => self.step(client, "connect", &call),
        }
        self.step(server, "accept", accept);
    }

    /// Both sides have it.
    fn connected(&mut self, first: [usize; 2], h: i64, later: bool, flags: i64) {
        let [server, client] = first;
        if later {
            self.step(client, "poll", &[0, 2000, h, i64::from(POLLOUT)]);
            self.step(client, "option", &[h, 0]);
            self.step(client, "nonblock", &[h, 0]);
        }
        if flags > 0 {
            self.step(server, "fionbio", &[h, 0]);
        }
        let conn = self.conns.len();
        for process in first {
            // What Nagle's algorithm holds back comes at a time of its own.
            self.step(process, "set", &[h, 0, 1]);
            self.processes[process].handles[h as usize] = Means::Conn(conn);
        }
        let rounds = self.random.of(&[0, 2, 12, 12, 12, 12, 30, 30]);
        self.conns.push(Conn { home: h, first, settled: rounds >= 30, ..Conn::default() });
        if rounds > 0 {
            self.ping(conn, rounds);
        } else if self.again {
            first.into_iter().for_each(|process| self.step(process, "fast", &[h]));
        }
    }

    /// Bytes back and forth, after which a connection that can be fast is. By the processes that made it.
    pub(super) fn ping(&mut self, conn: usize, rounds: i64) {
        let Conn { home: h, first: [server, client], .. } = self.conns[conn];
        self.push(client, 1, "ping", Some(conn), &[h, rounds]);
        self.on(server, "pong", conn, &[h, rounds]);
        self.step(client, "join", &[1]);
        self.step(server, "fast", &[h]);
        self.step(client, "fast", &[h]);
    }

    /// A process of each side that lives, the accepting one with the listener.
    fn couple(&mut self) -> Option<[usize; 2]> {
        let couple = [0, 1].map(|side| {
            let fit = |at: &usize| {
                let process = &self.processes[*at];
                process.alive && process.side == side && (side > 0 || process.handles[0] == Means::Listener)
            };
            (0..self.processes.len()).filter(fit).collect::<Vec<_>>()
        });
        let [servers, clients] = &couple;
        (!servers.is_empty() && !clients.is_empty()).then(|| [self.random.of(servers), self.random.of(clients)])
    }

    /// Both sides close what a handle means, and connect anew.
    pub(super) fn reconnect(&mut self) {
        let h = FIRST + i64::from(self.random.one_in(4));
        let Some(couple) = self.couple() else { return };
        let meant = couple.map(|process| self.processes[process].handles[h as usize]);
        let may_go = |(&process, &means): (&usize, &Means)| match means {
            Means::Conn(conn) => self.lets_go(process, conn),
            means => means == Means::Nothing,
        };
        if self.conns.len() == CONNECTIONS || !couple.iter().zip(&meant).all(may_go) {
            return;
        }
        let order = if self.random.one_in(2) { [0, 1] } else { [1, 0] };
        let mut waits = None;
        for side in order {
            let (process, Means::Conn(conn)) = (couple[side], meant[side]) else { continue };
            let (peer, other) = (couple[1 - side], 1 - side);
            let alone = self.holders(side, conn) == 1 && self.conns[conn].ways[other].under_way == 0;
            if waits.is_some() {
                self.step(process, "join", &[1]);
            } else if side == order[0]
                && meant[other] == meant[side]
                && alone
                && self.would_wait(conn, other)
                && self.holders(other, conn) == 1
                && self.random.one_in(2)
            {
                // The other side waits for the end.
                self.push(peer, 1, "recv", Some(conn), &[h, 10, 0, 0]);
                waits = Some(peer);
            }
            self.step(process, "close", &[h]);
            self.loses(process, h, conn);
            if side == order[0] && waits.is_none() && self.random.one_in(3) {
                self.after_the_end(peer, h, meant[other]);
            }
        }
        self.connect(couple, &[h]);
    }

    /// What a side does that was not yet told of the other's end.
    fn after_the_end(&mut self, process: usize, h: i64, means: Means) {
        let Means::Conn(conn) = means else { return };
        match self.random.below(3) {
            0 => self.send(process, h, conn),
            1 => self.receive(process, h, conn),
            _ => self.step(process, "poll", &[0, 0, h, (POLLIN | POLLRDHUP).into()]),
        }
    }
}
