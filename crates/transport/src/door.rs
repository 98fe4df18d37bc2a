//! A door that lets in only who shows the proof.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketFlags, SocketType, ipproto, sockopt};

use crate::patience::LOOK;
use crate::sys;
use crate::{LinkError, Patience, Proof};

/// How long a connection may keep its proof to itself: half the patience, within these bounds. A first segment that was
/// lost on a long way comes again only after more than a second.
const SILENCE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));

/// Connections whose proof is awaited at a time. Beyond that the oldest is turned away.
const PENDING: usize = 16;

/// A listener that hands out only connections that show the proof.
#[derive(Debug)]
pub(crate) struct Door {
    listener: OwnedFd,
    of: SocketType,
    pending: Vec<Pending>,
    patience: Patience,
    /// Accepting comes back by itself. MPTCP takes a listener's time-out and does not keep it.
    bounded: bool,
    /// Connections are read from time to time instead of being polled.
    unpolled: bool,
}

/// The time between two looks at connections that are not polled.
const NAP: Duration = Duration::from_micros(50);

/// A connection that has not shown its proof yet.
#[derive(Debug)]
struct Pending {
    fd: OwnedFd,
    shown: [u8; 32],
    have: usize,
    since: Instant,
}

enum Look {
    Friend,
    Stranger,
    Unknown,
}

/// How long a connection may keep its proof to itself.
fn silence(patience: &Patience) -> Duration {
    (patience.limit / 2).clamp(SILENCE.0, SILENCE.1)
}

impl Door {
    pub fn new(listener: OwnedFd, of: SocketType, patience: &Patience) -> Result<Self, LinkError> {
        sys::bound_calls(listener.as_fd(), LOOK)?;
        let bounded = sockopt::socket_protocol(&listener) != Ok(Some(ipproto::MPTCP));
        if !bounded {
            fcntl_setfl(&listener, OFlags::NONBLOCK)
                .map_err(|e| LinkError::io("making a listener that never waits", e))?;
        }
        Ok(Self {
            listener,
            of,
            pending: Vec::with_capacity(PENDING),
            patience: patience.clone(),
            bounded,
            unpolled: false,
        })
    }

    /// The same for sockets with a library below, which may take a poll for a sign that the connection is one of many, and leave it to the kernel: the
    /// door must not decide what is measured.
    pub fn below(self, library: bool) -> Self {
        Self { unpolled: library, ..self }
    }

    /// The next connection that shows `proof`. Whoever shows another or none in time ([`silence`]) is turned away without a
    /// word, and holds up nobody meanwhile.
    pub fn accept(&mut self, proof: &[u8; 32]) -> Result<OwnedFd, LinkError> {
        const DOING: &str = "waiting for the peer to connect";
        let silence = silence(&self.patience);
        let start = Instant::now();
        loop {
            let mut i = 0;
            while i < self.pending.len() {
                match self.pending[i].look(self.of, proof) {
                    Look::Friend => return Ok(self.pending.remove(i).fd),
                    Look::Unknown if self.pending[i].since.elapsed() < silence => i += 1,
                    _ => _ = self.pending.remove(i),
                }
            }
            self.patience.check(start, DOING)?;
            if self.knock()? {
                self.admit()?;
            }
        }
    }

    /// Waits for a new connection or a word of a pending one; true where the listener should be asked.
    fn knock(&self) -> Result<bool, LinkError> {
        if self.pending.is_empty() && self.bounded {
            // Accepting waits by itself.
            return Ok(true);
        }
        let (pending, wait) = if self.unpolled { (&[][..], NAP) } else { (&self.pending[..], LOOK) };
        let ends = std::iter::once(&self.listener).chain(pending.iter().map(|p| &p.fd));
        let mut fds: Vec<_> = ends.map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        sys::poll_for(&mut fds, wait).map_err(|e| LinkError::io("waiting for a connection", e))?;
        Ok(fds[0].revents().contains(PollFlags::IN))
    }

    fn admit(&mut self) -> Result<(), LinkError> {
        match rustix::net::accept_with(&self.listener, SocketFlags::CLOEXEC) {
            Ok(fd) => {
                if self.pending.len() == PENDING {
                    self.pending.remove(0);
                }
                self.pending.push(Pending { fd, shown: [0; 32], have: 0, since: Instant::now() });
                Ok(())
            }
            // The last is a connection that its maker has given up already.
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(()),
            Err(e) => Err(LinkError::io("accepting a connection", e)),
        }
    }
}

impl Pending {
    fn look(&mut self, of: SocketType, proof: &[u8; 32]) -> Look {
        let flags = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
        // On a stream `TRUNC` would discard; there only what is missing is asked for, so nothing behind it is touched.
        let flags = if of == SocketType::SEQPACKET { flags } else { RecvFlags::DONTWAIT };
        match rustix::net::recv(&self.fd, &mut self.shown[self.have..], flags) {
            Ok((_, 0)) => Look::Stranger,
            Ok((_, n)) if of == SocketType::SEQPACKET && n != 32 => Look::Stranger,
            Ok((n, _)) => {
                self.have += n;
                match self.have {
                    32 if Proof::matches(&self.shown, proof) => Look::Friend,
                    32 => Look::Stranger,
                    _ => Look::Unknown,
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => Look::Unknown,
            Err(_) => Look::Stranger,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patient_side_gives_a_proof_time_to_come_again() {
        let of = |seconds| silence(&Patience::new(Duration::from_secs_f64(seconds), Default::default()));
        assert_eq!(of(0.3), Duration::from_secs(1));
        assert_eq!(of(6.0), Duration::from_secs(3));
        assert_eq!(of(10.0), Duration::from_secs(5));
        assert_eq!(of(3600.0), Duration::from_secs(5));
    }
}
