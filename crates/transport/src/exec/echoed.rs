//! A link to an echo: what is sent comes back, through whatever lies between.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};

use super::child::Child;
use crate::patience::LOOK;
use crate::{Capabilities, Link, LinkError, Patience, Settings, Transport, sys};

/// Bytes that are read ahead at once while a send waits for room.
const PIECE: usize = 64 << 10;

/// Both ends of a path to an echo: this process sends to it and receives from it.
#[derive(Debug)]
pub struct Echoed {
    /// None once closed. Closed before the command is waited for.
    ends: Option<(OwnedFd, OwnedFd)>,
    /// What came back while a send waited for room: an echo that finds no room stops reading.
    ahead: VecDeque<u8>,
    /// Bytes that were sent and have not come back.
    away: u64,
    child: Option<Child>,
    patience: Patience,
}

/// What this side waits for.
#[derive(Clone, Copy)]
enum For {
    Room,
    Bytes,
}

impl Echoed {
    /// A link over both, once two words that nobody can foresee came back through it, one after the other: what is no echo, says something of its
    /// own first or repeats what it is told is told here and not by wrong figures.
    pub(super) fn greeted(
        to: OwnedFd,
        from: OwnedFd,
        child: Option<Child>,
        patience: &Patience,
    ) -> Result<Self, LinkError> {
        let mut link = Self::new(to, from, child, patience)?;
        for _ in 0..2 {
            let word = sys::random_name()?;
            let mut back = vec![0; word.len()];
            link.send(word.as_bytes())?;
            link.recv(&mut back)?;
            if back != word.as_bytes() {
                let came = units::received::clean(&String::from_utf8_lossy(&back), 60);
                return Err(LinkError::Protocol(format!(
                    "at its end is no echo: {word} was sent, and \"{came}\" came back"
                )));
            }
        }
        Ok(link)
    }

    fn new(to: OwnedFd, from: OwnedFd, child: Option<Child>, patience: &Patience) -> Result<Self, LinkError> {
        for fd in [&to, &from] {
            fcntl_getfl(fd)
                .and_then(|flags| fcntl_setfl(fd, flags | OFlags::NONBLOCK))
                .map_err(|e| LinkError::io("making a command's pipes that don't wait", e))?;
        }
        Ok(Self { ends: Some((to, from)), ahead: VecDeque::new(), away: 0, child, patience: patience.clone() })
    }

    fn closed(&mut self, doing: &'static str) -> LinkError {
        match &mut self.child {
            Some(child) => child.ended(doing),
            None => LinkError::Closed { doing },
        }
    }

    /// Waits until there is room to send, or bytes to receive; whether there is room, and whether there are bytes.
    fn wait(&mut self, what: For, since: Instant, doing: &'static str) -> Result<(bool, bool), LinkError> {
        let Some((to, from)) = &self.ends else { return Err(LinkError::Closed { doing }) };
        let mut fds = [PollFd::new(from, PollFlags::IN), PollFd::new(to, PollFlags::OUT)];
        let fds = match what {
            For::Room => &mut fds[..],
            For::Bytes => &mut fds[..1],
        };
        let time = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
        match poll(fds, Some(&time)) {
            Ok(0) | Err(Errno::INTR) => self.patience.check(since, doing).map(|()| (false, false)),
            Ok(_) => Ok((fds.get(1).is_some_and(|fd| !fd.revents().is_empty()), !fds[0].revents().is_empty())),
            Err(e) => Err(LinkError::io(doing, e)),
        }
    }

    /// Reads what is there; 0 where nothing is yet.
    fn take(&mut self, into: &mut [u8]) -> Result<usize, LinkError> {
        const DOING: &str = "receiving";
        let Some((_, from)) = &self.ends else { return Err(LinkError::Closed { doing: DOING }) };
        match read(from, &mut *into) {
            Ok(0) => Err(self.closed(DOING)),
            Ok(n) if n as u64 > self.away => {
                Err(LinkError::Protocol("more bytes came back than were sent: at its end is no echo".into()))
            }
            Ok(n) => {
                self.away -= n as u64;
                Ok(n)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(e) => Err(LinkError::io(DOING, e)),
        }
    }

    /// Nothing moved for the whole patience: why that often is, where bytes are away.
    fn stalled(&self, e: LinkError) -> LinkError {
        match e {
            LinkError::Stalled { waited, .. } if self.child.is_some() => LinkError::io(
                "receiving",
                std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    format!(
                        "{} bytes that were sent did not come back within {:.1} s (--patience): a command that keeps its output until a buffer \
                         is full needs to be told not to (stdbuf -o0 COMMAND, sed -u, ...), and at its end must be an echo",
                        self.away,
                        waited.as_secs_f64()
                    ),
                ),
            ),
            other => other,
        }
    }
}

impl Link for Echoed {
    fn capabilities(&self) -> Capabilities {
        super::TRANSPORT.capabilities(&Settings::default())
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        const DOING: &str = "sending";
        let (mut left, mut since) = (message, None);
        while !left.is_empty() {
            let Some((to, _)) = &self.ends else { return Err(LinkError::Closed { doing: DOING }) };
            match write(to, left) {
                Ok(n) => {
                    self.away += n as u64;
                    left = &left[n..];
                    since = None;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let began = *since.get_or_insert_with(Instant::now);
                    let (_, bytes) = self.wait(For::Room, began, DOING).map_err(|e| self.stalled(e))?;
                    if bytes {
                        let mut piece = vec![0; PIECE];
                        let n = self.take(&mut piece)?;
                        self.ahead.extend(&piece[..n]);
                        since = None;
                    }
                }
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(self.closed(DOING)),
                Err(e) => return Err(LinkError::io(DOING, e)),
            }
        }
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        const DOING: &str = "receiving";
        let here = message.len().min(self.ahead.len());
        for (byte, ahead) in message.iter_mut().zip(self.ahead.drain(..here)) {
            *byte = ahead;
        }
        let (mut filled, mut since) = (here, None);
        while filled < message.len() {
            let began = *since.get_or_insert_with(Instant::now);
            let (_, bytes) = self.wait(For::Bytes, began, DOING).map_err(|e| self.stalled(e))?;
            if bytes {
                let n = self.take(&mut message[filled..])?;
                filled += n;
                if n > 0 {
                    since = None;
                }
            }
        }
        Ok(())
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        // A send that finds no room reads ahead, so that one after the other never waits for itself.
        self.send(out)?;
        self.recv(into)
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        const DOING: &str = "receiving";
        if !self.ahead.is_empty() {
            return Ok(true);
        }
        let Some((_, from)) = &self.ends else { return Err(LinkError::Closed { doing: DOING }) };
        let time = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&time)) {
            Ok(n) => Ok(n > 0),
            Err(Errno::INTR) => Ok(false),
            Err(e) => Err(LinkError::io(DOING, e)),
        }
    }

    fn close(&mut self) -> Result<(), LinkError> {
        self.ends = None;
        self.child = None;
        Ok(())
    }
}

impl Drop for Echoed {
    fn drop(&mut self) {
        // The command's input ends before it is waited for.
        self.ends = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::{AnyLink, exec};

    fn run(command: &str) -> Result<AnyLink, LinkError> {
        let patience = Patience::new(Duration::from_millis(400), Arc::new(AtomicBool::new(false)));
        exec::TRANSPORT.solo(&Settings::default().with(exec::COMMAND, command), &patience)
    }

    fn there_and_back(link: &mut AnyLink, size: usize) -> Result<bool, LinkError> {
        let out: Vec<u8> = (0..size).map(|i| (i * 7 + size) as u8).collect();
        let mut into = vec![0; size];
        link.send(&out)?;
        link.recv(&mut into)?;
        Ok(out == into)
    }

    #[test]
    fn messages_of_any_size_come_back_whole() {
        for command in ["cat", "cat | cat", "dd bs=1000 status=none"] {
            let mut link = run(command).unwrap();
            // About every size at which a pipe, or two, are full.
            let sizes =
                [1, 2, 100, 4095, 4096, 4097, 65_535, 65_536, 65_537, 131_072, 131_073, 196_609, 1 << 20, 16 << 20];
            for size in sizes {
                assert!(there_and_back(&mut link, size).unwrap(), "{command}: {size}");
            }
            assert!(!link.ready(Duration::ZERO).unwrap());
            link.send(&[1]).unwrap();
            assert!(link.ready(Duration::from_secs(20)).unwrap());
        }
    }

    #[test]
    fn a_command_that_is_no_echo_is_told_from_one() {
        for (command, words) in [
            ("no-such-command", "no-such-command"),
            ("echo oh no >&2; exit 3", "exited with status 3; it said: oh no"),
            ("kill -9 $$", "signal 9"),
            ("cat >/dev/null", "did not come back"),
            ("sleep 60", "did not come back"),
            ("echo banner; cat", "no echo"),
            ("stdbuf -o0 tr 0-9a-f g-v", "no echo"),
            ("exec >&-; sleep 60", "closed its output"),
            ("tee /dev/stderr 2>&1", "no echo"),
        ] {
            let said = run(command).err().unwrap_or_else(|| panic!("{command} passes for an echo"));
            let mut words_of = said.to_string();
            let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&said);
            while let Some(e) = cause {
                words_of.push_str(&format!(": {e}"));
                cause = e.source();
            }
            assert!(words_of.contains(words), "{command}: {words_of}");
        }
    }

    #[test]
    fn one_that_swallows_all_stalls_the_sender_too() {
        let mut link = run("dd bs=16 count=2 status=none; sleep 60").unwrap();
        let said = link.send(&vec![0; 1 << 20]).unwrap_err();
        assert!(std::error::Error::source(&said).is_some_and(|e| e.to_string().contains("stdbuf")), "{said:?}");
    }

    #[test]
    fn what_a_command_started_ends_with_the_link() {
        let mark = format!("7{}", std::process::id());
        let link = run(&format!("sleep {mark} & cat; sleep {mark}")).unwrap();
        drop(link);
        let running = || {
            let lines = std::fs::read_dir("/proc").unwrap();
            let lines = lines.filter_map(|e| std::fs::read_to_string(e.ok()?.path().join("cmdline")).ok());
            lines.filter(|line| line.contains(&mark) && line.starts_with("sleep")).count()
        };
        // A killed process is in /proc until it runs next, and that is when the machine has a CPU for it.
        let until = Instant::now() + Duration::from_secs(20);
        while running() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(running(), 0);
    }
}
