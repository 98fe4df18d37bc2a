//! Messages over UNIX sockets that keep their boundaries: what sequenced-packet and datagram sockets have in common.
//!
//! A message must fit the sender's socket buffer as a whole, and most of it must lie in one piece of kernel memory. So the
//! send buffer is raised as far as the system lets it (`net.core.wmem_max`), and the largest message is what a trial send
//! shows to work.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair, sockopt};

use crate::local;
use crate::meet::Made;
use crate::options::{self, SOCKBUF};
use crate::patience::LOOK;
use crate::settings::Effective;
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::watchdog::Watchdog;
use crate::{Buffer, Capabilities, Link, LinkError, OptionSpec, Patience, Semantics, Settings, Wait};

pub(crate) fn capabilities(most: usize) -> Capabilities {
    Capabilities { semantics: Semantics::Message, max_block: Some(most as u64), ..Capabilities::plain() }
}

/// What links over sockets of this type can do.
pub(crate) fn can(of: SocketType, settings: &Settings) -> Capabilities {
    let room = || -> Result<usize, LinkError> {
        let (a, _b) = connected(of)?;
        size_buffers(a.as_fd(), settings)?;
        room(a.as_fd())
    };
    // With buffers of a size that was asked for, what they have room for.
    let most = settings.whole("sockbuf").map_or(usize::MAX, |_| room().unwrap_or(0));
    capabilities(most.min(limit(of)))
}

/// Whether a message of any size can be had over sockets of this type.
pub(crate) fn needs(of: SocketType) -> Result<(), LinkError> {
    match limit(of) {
        0 => Err(LinkError::Unsupported("carry a message of any size here")),
        _ => Ok(()),
    }
}

/// The options of both.
pub(crate) const OPTIONS: &[OptionSpec] = &[
    OptionSpec { default: "as large as the system lets it be", ..SOCKBUF },
    options::wait(local::WAIT_NAMES, "block"),
];

/// Largest message tried; the kernel's allocator gives no larger piece of memory (order 10 of 4 KiB pages).
const CEILING: usize = 4 << 20;

/// What the kernel keeps of a send buffer for itself (`unix_dgram_sendmsg`).
const RESERVED: usize = 32;

/// One end of a pair of connected UNIX sockets that carry messages.
#[derive(Debug)]
pub struct Packets {
    /// Ends before the descriptor that it watches (fields are dropped in this order).
    watchdog: Option<Watchdog>,
    fd: OwnedFd,
    reading: RecvFlags,
    writing: SendFlags,
    wait: Wait,
    most: usize,
    at: String,
    patience: Patience,
    /// A stream that ends with the peer, where the socket itself does not tell that it is gone.
    life: Option<OwnedFd>,
}

impl Packets {
    /// Takes over a socket connected at `at`. `life` is a stream that ends with the peer, for sockets that don't tell.
    pub(crate) fn new(fd: OwnedFd, life: Option<OwnedFd>, at: &Path, made: &Made) -> Result<Self, LinkError> {
        let Made { settings, wait, patience } = made;
        let wait = *wait;
        size_buffers(fd.as_fd(), settings)?;
        let of = sockopt::socket_type(&fd).map_err(|e| LinkError::io("asking for a socket's type", e))?;
        if ![SocketType::SEQPACKET, SocketType::DGRAM].contains(&of) {
            return Err(LinkError::Protocol("it handed over a socket that keeps no message boundaries".to_owned()));
        }
        let most = room(fd.as_fd())?.min(limit(of));
        let (reading, writing) = sys::modes(fd.as_fd(), wait, RecvFlags::TRUNC, LOOK)?;
        let watchdog = match wait {
            Wait::Spin => None,
            _ => {
                sys::unbound_receives(fd.as_fd())?;
                Some(Watchdog::over_socket(fd.as_fd(), life.as_ref().map(AsFd::as_fd), patience)?)
            }
        };
        Ok(Self {
            watchdog,
            fd,
            reading,
            writing,
            wait,
            most,
            at: at.display().to_string(),
            patience: patience.clone(),
            life,
        })
    }

    /// True once `message` is on its way, false if there was no room for it yet.
    #[inline]
    fn put(&self, message: &[u8], flags: SendFlags) -> Result<bool, LinkError> {
        match send(&self.fd, message, flags) {
            // The kernel takes a message as a whole or not at all.
            Ok(_) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(e) => self.interrupted(e, SENDING).map(|()| false),
        }
    }

    /// True once `message` is filled, false if nothing was there yet.
    #[inline]
    fn take(&self, message: &mut [u8], flags: RecvFlags) -> Result<bool, LinkError> {
        let asked = message.len();
        let take = || recv(&self.fd, message, flags);
        let taken = match &self.watchdog {
            Some(watchdog) => watchdog.over(false, take),
            None => take(),
        };
        match taken {
            Ok((_, n)) if n == asked => Ok(true),
            // What the watchdog cut off reads as the end of the connection.
            Ok((_, 0)) => Err(self.verdict().unwrap_or(LinkError::Closed { doing: RECEIVING })),
            Ok((_, n)) => Err(LinkError::Protocol(format!("a message of {n} bytes came where {asked} were due"))),
            Err(Errno::AGAIN) => Ok(false),
            Err(e) => self.interrupted(e, RECEIVING).map(|()| false),
        }
    }

    #[cold]
    fn interrupted(&self, e: Errno, doing: &'static str) -> Result<(), LinkError> {
        match e {
            Errno::NOBUFS | Errno::NOMEM => {
                Err(LinkError::io("sending a message (the kernel has no piece of memory of this size free)", e))
            }
            e => self.verdict().map_or_else(|| sys::again(e, &self.patience, doing), Err),
        }
    }

    /// Why a call was cut off by this side's own watch, where that is so.
    fn verdict(&self) -> Option<LinkError> {
        self.watchdog.as_ref().and_then(Watchdog::verdict)
    }

    #[inline]
    fn fits(&self, message: &[u8]) -> Result<(), LinkError> {
        if message.len() > self.most {
            return Err(LinkError::TooLarge { asked: message.len() as u64, most: self.most as u64 });
        }
        Ok(())
    }

    #[inline]
    fn idle(&self, idle: &mut Idle, doing: &'static str) -> Result<(), LinkError> {
        if self.wait != Wait::Spin {
            return idle.waited(&self.patience, doing, LOOK);
        }
        idle.spun(&self.patience, doing)
    }

    /// What is there once a receive found nothing: `Closed` if the peer is gone and left nothing behind.
    #[inline]
    fn waits(&self, idle: &mut Idle, message: &mut [u8]) -> Result<bool, LinkError> {
        self.idle(idle, RECEIVING)?;
        // The watchdog looks where there is one.
        if self.watchdog.is_some() || !idle.looked() || !self.gone() {
            return Ok(false);
        }
        match self.take(message, self.reading | RecvFlags::DONTWAIT)? {
            true => Ok(true),
            false => Err(LinkError::Closed { doing: RECEIVING }),
        }
    }

    /// Whether the peer's end of the stream that ends with it is gone, or this side's.
    #[cold]
    fn gone(&self) -> bool {
        self.life.as_ref().is_some_and(|life| sys::ended(life.as_fd()))
    }
}

/// Sets the buffers asked for, or raises the send buffer as far as the system lets it.
fn size_buffers(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
    match settings.whole("sockbuf") {
        Some(bytes) => sys::ask_buffers(fd, bytes),
        None => sockopt::set_socket_send_buffer_size(fd, i32::MAX as usize / 2)
            .map_err(|e| LinkError::io("raising a socket's send buffer", e)),
    }
}

fn room(fd: BorrowedFd<'_>) -> Result<usize, LinkError> {
    sockopt::socket_send_buffer_size(fd)
        .map(|n| n.saturating_sub(RESERVED))
        .map_err(|e| LinkError::io("asking for a socket's send buffer", e))
}

/// The largest message this system carries with the largest send buffer it allows; 0 if it has no such sockets.
/// Tried once a process.
fn limit(of: SocketType) -> usize {
    static LIMITS: [OnceLock<usize>; 2] = [OnceLock::new(), OnceLock::new()];
    *LIMITS[usize::from(of == SocketType::DGRAM)].get_or_init(|| try_limit(of).unwrap_or(0))
}

/// Both ends of a connection within this process.
pub(crate) fn connected(of: SocketType) -> Result<(OwnedFd, OwnedFd), LinkError> {
    socketpair(AddressFamily::UNIX, of, SocketFlags::CLOEXEC, None).map_err(trying)
}

const TRYING: &str = "trying a UNIX socket that carries messages";

fn trying(e: Errno) -> LinkError {
    LinkError::io(TRYING, e)
}

fn try_limit(of: SocketType) -> Result<usize, LinkError> {
    let (a, _b) = connected(of)?;
    size_buffers(a.as_fd(), &Settings::default())?;
    let mut most = room(a.as_fd())?.min(CEILING);
    let message = Buffer::new(most, 1, 0).map_err(|e| LinkError::io(TRYING, e))?;
    while most > 0 {
        match send(&a, &message[..most], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(_) => return Ok(most),
            Err(Errno::MSGSIZE | Errno::NOBUFS | Errno::NOMEM) => most /= 2,
            Err(Errno::INTR) => {}
            Err(e) => return Err(trying(e)),
        }
    }
    Ok(0)
}

impl Link for Packets {
    fn capabilities(&self) -> Capabilities {
        capabilities(self.most)
    }

    fn effective(&self) -> Effective {
        sys::effective(self.fd.as_fd(), self.wait, Some(self.at.clone()))
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.fits(message)?;
        // An empty message would read as the end of the connection.
        let mut idle = Idle::default();
        while !message.is_empty() && !self.put(message, self.writing)? {
            self.idle(&mut idle, SENDING)?;
        }
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let mut idle = Idle::default();
        while !message.is_empty() && !self.take(message, self.reading)? {
            if self.waits(&mut idle, message)? {
                break;
            }
        }
        Ok(())
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.fits(out)?;
        if out.is_empty() {
            return self.recv(into);
        }
        let mut idle = Idle::default();
        while !self.put(out, self.writing | SendFlags::DONTWAIT)? {
            if !into.is_empty() && self.take(into, self.reading | RecvFlags::DONTWAIT)? {
                return self.send(out);
            }
            if self.wait == Wait::Spin {
                idle.spun(&self.patience, "exchanging messages")?;
                continue;
            }
            // What is unread and not asked for would end each wait at once.
            let events = if into.is_empty() { PollFlags::OUT } else { PollFlags::IN | PollFlags::OUT };
            let mut fds = [PollFd::from_borrowed_fd(self.fd.as_fd(), events)];
            if !sys::poll_for(&mut fds, LOOK).map_err(|e| sys::fault(e, SENDING))? {
                idle.waited(&self.patience, "exchanging messages", LOOK)?;
            }
        }
        self.recv(into)
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let life = self.life.as_ref().unwrap_or(&self.fd);
        let mut fds = [&self.fd, life].map(|fd| PollFd::new(fd, PollFlags::IN));
        let either = &mut fds[..1 + usize::from(self.life.is_some())];
        sys::one_readable(either, wait, self.wait == Wait::Spin, &self.patience)
    }

    fn close(&mut self) -> Result<(), LinkError> {
        sys::shut(self.fd.as_fd())?;
        self.life.as_ref().map_or(Ok(()), |life| sys::shut(life.as_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [SocketType; 2] = [SocketType::SEQPACKET, SocketType::DGRAM];

    fn pair(of: SocketType, settings: &Settings) -> (Packets, Packets) {
        let (a, b) = connected(of).unwrap();
        let made = Made::new(&local::WAITS, settings, &Patience::default()).unwrap();
        let make = |fd| Packets::new(fd, None, Path::new("x"), &made).unwrap();
        (make(a), make(b))
    }

    #[test]
    fn a_descriptor_that_keeps_no_boundaries_is_refused() {
        let (stream, _other) = connected(SocketType::STREAM).unwrap();
        let made = Made::new(&local::WAITS, &Settings::default(), &Patience::default()).unwrap();
        let refused = Packets::new(stream, None, Path::new("x"), &made);
        assert!(matches!(refused, Err(LinkError::Protocol(_))), "{refused:?}");
        let (file, _other) = rustix::pipe::pipe().unwrap();
        assert!(Packets::new(file, None, Path::new("x"), &made).is_err());
    }

    #[test]
    fn the_largest_message_named_really_goes_and_one_more_byte_is_refused() {
        let plain = Settings::default();
        let settings = [plain.clone(), plain.clone().with("sockbuf", 20_000u64), plain.with("sockbuf", 100_000u64)];
        for (of, settings) in BOTH.into_iter().flat_map(|of| settings.each_ref().map(|s| (of, s))) {
            let (mut a, mut b) = pair(of, settings);
            let most = a.capabilities().max_block.unwrap() as usize;
            assert_eq!(can(of, settings), a.capabilities(), "known before it is opened");
            assert!(most > 10_000);
            let message = vec![3; most + 1];
            let mut into = vec![0; most];
            a.send(&message[..most]).unwrap();
            b.recv(&mut into).unwrap();
            assert!(into.iter().all(|x| *x == 3));
            assert!(matches!(a.send(&message), Err(LinkError::TooLarge { most: m, .. }) if m == most as u64));
        }
    }

    #[test]
    fn an_exchange_that_receives_nothing_has_patience_whatever_is_unread() {
        let (mut a, mut b) = pair(SocketType::SEQPACKET, &Settings::default());
        a.patience.limit = Duration::from_millis(150);
        b.send(b"unread").unwrap();
        let message = vec![0; a.most];
        let (tell, told) = std::sync::mpsc::channel();
        // Not joined: a wait without end would take the test with it.
        std::thread::spawn(move || tell.send((0..100).find_map(|_| a.exchange(&message, &mut []).err())));
        let outcome = told.recv_timeout(Duration::from_secs(60)).expect("the wait must end");
        assert!(matches!(outcome, Some(LinkError::Stalled { .. })), "{outcome:?}");
        drop(b);
    }

    #[test]
    fn a_message_of_another_length_is_a_breach() {
        let (mut a, mut b) = pair(SocketType::SEQPACKET, &Settings::default());
        a.send(b"four").unwrap();
        let e = b.recv(&mut [0; 3]).unwrap_err();
        assert!(e.to_string().contains("4 bytes came where 3"), "{e}");
    }
}
