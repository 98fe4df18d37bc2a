//! TCP through io_uring: what it saves, and costs, beside plain calls.
//!
//! Sends are requests of the ring that complete before they return, posts those that the kernel sends without a copy (`SEND_ZC`) and tells the
//! completion of; receives are one request that goes on by itself (multishot) and fills
//! buffers that the kernel was given beforehand, from which a message is copied into its place. With `registered` the kernel looks the pages of what is
//! sent up beforehand, and not at each post. The meeting is TCP's, with plain calls.

mod registered;
mod ring;

use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use self::registered::Registered;
use self::ring::Ring;
use crate::ip_stream::{OverIp, Plain, Streams};
use crate::meet::Made;
use crate::options::{Answer, Form};
use crate::settings::Effective;
use crate::stream::{Duct, Socket, Stream};
use crate::tcp::{self, Tcps};
use crate::zerocopy::Pending;
use crate::{AnyLink, Asked, Buffer, Capabilities, LinkError, Name, OptionSpec, Settings, TcpState, Wait};
use crate::{local, options, sys, tcp_state};

/// What it is called.
pub const NAME: Name = Name::literal("uring");

/// The transport.
pub static TRANSPORT: Streams<TcpByRing> = Streams::new();

/// TCP through io_uring between two processes of one host or two.
#[derive(Debug)]
pub struct TcpByRing;

/// One end of such a connection.
pub type Uring = Stream<Ringed>;

/// Whether the memory that messages are sent from is registered.
const REGISTERED: OptionSpec = OptionSpec {
    name: "registered",
    flag: None,
    form: Form::Switch,
    default: "off",
    help: "memory that is sent from is registered with the ring, so that posts (--pattern post) look no pages up",
    answers: &[Answer { part: "", of: |e| e.options.get("registered").cloned() }],
    steers: false,
    moved: None,
};

static OPTIONS: [OptionSpec; 7] = {
    let [sockbuf, nodelay, mss, congestion, family, _] = tcp::OPTIONS;
    [sockbuf, nodelay, mss, congestion, family, options::wait(local::WAIT_NAMES, "block"), REGISTERED]
};

fn capabilities() -> Capabilities {
    Capabilities { local_only: false, queued: true, ..Capabilities::plain() }
}

impl OverIp for TcpByRing {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "TCP through io_uring";
    const SPOKEN: &'static [&'static str] = &["uring", "io_uring", "io-uring", "tcp over io_uring"];
    const OPTIONS: &'static [OptionSpec] = &OPTIONS;
    const WAITS: &'static [Wait] = &local::WAITS;

    fn can() -> Capabilities {
        capabilities()
    }
    fn besides() -> Result<(), LinkError> {
        ring::available().map_err(|e| {
            let why = match e {
                Errno::PERM | Errno::ACCESS => {
                    "it is switched off for this user: see kernel.io_uring_disabled, or the container's seccomp rules"
                }
                Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL => "it takes Linux 6.0 or later with CONFIG_IO_URING",
                _ => "no ring can be made",
            };
            LinkError::io(format!("making an io_uring ({why})"), e)
        })
    }
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
        Tcps::before(fd, settings)
    }
}

impl Plain for TcpByRing {
    fn link(fd: OwnedFd, made: &Made) -> Result<Stream<Socket>, LinkError> {
        Ok(Stream::new(tcp::socket(fd, made)?, &made.patience))
    }
    fn met(link: Stream<Socket>, made: &Made) -> Result<AnyLink, LinkError> {
        let ringed = Ringed::new(link.into_duct().into_fd(), made.wait);
        let mut ringed = ringed.map_err(|e| LinkError::io("making an io_uring", e))?;
        if made.settings.switch(REGISTERED.name) == Some(true) {
            ringed.register()?;
        }
        Ok(AnyLink::new(Stream::new(ringed, &made.patience)))
    }
}

/// A ring as a duct.
pub struct Ringed {
    ring: RefCell<Ring>,
    /// Copies of the socket's descriptor and of the ring's, to wait for.
    socket: OwnedFd,
    completions: OwnedFd,
    wait: Wait,
    /// What memory is registered; none where none is to be.
    registered: Option<Registered>,
}

impl std::fmt::Debug for Ringed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ringed").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl Ringed {
    fn new(socket: OwnedFd, wait: Wait) -> Result<Self, Errno> {
        let copy = rustix::io::fcntl_dupfd_cloexec(&socket, 0)?;
        let ring = Ring::new(socket)?;
        let completions = rustix::io::fcntl_dupfd_cloexec(ring.completions(), 0)?;
        Ok(Self { ring: RefCell::new(ring), socket: copy, completions, wait, registered: None })
    }

    /// From here on the memory that messages are sent from is registered.
    fn register(&mut self) -> Result<(), LinkError> {
        let failed = |e| LinkError::io("making an io_uring's table of registered memory", e);
        let ring = rustix::io::fcntl_dupfd_cloexec(&self.completions, 0).map_err(failed)?;
        self.registered = Some(Registered::new(ring).map_err(failed)?);
        Ok(())
    }
}

impl Duct for Ringed {
    fn capabilities(&self) -> Capabilities {
        capabilities()
    }
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        let memory = asked.ordinary()?;
        match &self.registered {
            Some(registered) if asked.sent() => registered.hold(memory),
            _ => Ok(memory),
        }
    }
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.ring.borrow_mut().read(into, !self.spins())
    }
    #[inline]
    fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.ring.borrow_mut().write(from, !self.spins())
    }
    #[inline]
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        self.ring.borrow_mut().read(into, false)
    }
    #[inline]
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno> {
        self.ring.borrow_mut().write(from, false)
    }
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno> {
        Ok((self.completions.as_fd(), self.socket.as_fd()))
    }
    #[inline]
    fn spins(&self) -> bool {
        self.wait == Wait::Spin
    }
    fn shut(&mut self) -> Result<(), LinkError> {
        sys::shut(self.socket.as_fd())
    }
    fn effective(&self) -> Effective {
        let mut told = tcp::took_effect(self.socket.as_fd(), self.wait);
        let registers = if self.registered.is_some() { "on" } else { "off" };
        told.options.insert(REGISTERED.name.to_owned(), registers.to_owned());
        told
    }
    fn post(&mut self, from: &[u8]) -> Result<usize, Errno> {
        let wait = !self.spins();
        let place = self.registered.as_ref().and_then(|registered| registered.place(from));
        self.ring.get_mut().post(from, wait, place).map_err(|e| match e {
            // What this user may lock is taken: there is room once posts are complete, as with a socket's own.
            Errno::NOMEM => Errno::NOBUFS,
            e => e,
        })
    }
    fn posts(&mut self, look: bool) -> Result<Option<&mut Pending>, Errno> {
        self.ring.get_mut().posts(look).map(Some)
    }
    fn news(&self) -> Option<BorrowedFd<'_>> {
        Some(self.completions.as_fd())
    }
    fn posted(&self) -> u64 {
        self.ring.borrow().posted()
    }
    fn copied(&self) -> Option<(u64, u64)> {
        Some(self.ring.borrow().copied())
    }
    fn tcp_state(&self) -> Option<TcpState> {
        tcp_state::read(self.socket.as_fd())
    }
    fn left(&self) -> bool {
        let mut fds = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::RDHUP)];
        sys::poll_for(&mut fds, Duration::ZERO).is_ok() && fds[0].revents().contains(PollFlags::RDHUP)
    }
    fn holds(&self) -> bool {
        self.ring.borrow_mut().holds()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::{Link, Patience};

    fn pair(wait: Wait) -> Option<(Uring, UnixStream)> {
        if let Err(e) = TcpByRing::besides() {
            eprintln!("not tried: {e}");
            return None;
        }
        let (a, b) = UnixStream::pair().unwrap();
        Some((Stream::new(Ringed::new(a.into(), wait).unwrap(), &Patience::default()), b))
    }

    #[test]
    fn more_than_all_buffers_hold_comes_whole_and_in_order() {
        use std::io::Write;
        for wait in [Wait::Block, Wait::Spin] {
            let Some((mut link, mut peer)) = pair(wait) else { return };
            let sent: Vec<u8> = (0..5_000_000u32).map(|i| (i / 7) as u8).collect();
            let expected = sent.clone();
            let sender = std::thread::spawn(move || {
                for part in sent.chunks(70_001) {
                    peer.write_all(part).unwrap();
                }
            });
            // Begins late, so that the kernel runs out of buffers.
            std::thread::sleep(Duration::from_millis(50));
            let mut got = vec![0; expected.len()];
            for part in got.chunks_mut(33_333) {
                link.recv(part).unwrap();
            }
            sender.join().unwrap();
            assert!(got == expected);
            assert!(matches!(link.recv(&mut [0]), Err(LinkError::Closed { .. })));
        }
    }

    #[test]
    fn a_send_without_room_waits_and_leaves_nothing_under_way() {
        use std::io::Read;
        for wait in [Wait::Block, Wait::Spin] {
            let Some((link, mut peer)) = pair(wait) else { return };
            let message = vec![7; 1 << 20];
            let mut sent = 0;
            // Until the socket is full: a wait that was in vain says so, and can be repeated.
            loop {
                match link.duct().write(&message) {
                    Ok(n) => sent += n,
                    Err(e) => break assert_eq!(e, Errno::AGAIN),
                }
            }
            assert_eq!(link.duct().write(&message), Err(Errno::AGAIN));
            drop(link);
            let mut all = Vec::new();
            peer.read_to_end(&mut all).unwrap();
            assert_eq!(all.len(), sent);
        }
    }

    #[test]
    fn a_receive_goes_on_when_the_thread_that_began_it_is_gone() {
        use std::io::Write;
        let Some((mut link, mut peer)) = pair(Wait::Block) else { return };
        std::thread::scope(|s| _ = s.spawn(|| assert!(!link.ready(Duration::from_millis(1)).unwrap())));
        // The kernel ends the thread's requests some time after it.
        for byte in 0..50u8 {
            std::thread::sleep(Duration::from_millis(2));
            peer.write_all(&[byte]).unwrap();
            let mut got = [0];
            link.recv(&mut got).unwrap();
            assert_eq!(got, [byte]);
        }
    }

    #[test]
    fn posts_go_out_of_memory_that_is_registered_while_it_is_there() {
        use crate::{Proof, Queued, Room, Transport};
        if let Err(e) = TcpByRing::besides() {
            println!("skipped: {e}");
            return;
        }
        let (at, patience) = ("127.0.0.1:0".parse().unwrap(), Patience::default());
        let proof = || Proof { near: [7; 32], far: [8; 32] };
        let sizes = [5000, 1 << 20, 100, 3_000_000];
        for registers in [true, false] {
            let asked = Settings::default().with(REGISTERED.name, registers);
            let mut door = TRANSPORT.listen(&asked, at, &patience).unwrap();
            let mut way = TRANSPORT.dial(&asked, &door.address(), at, &patience).unwrap();
            let far = std::thread::spawn(move || {
                let mut far = door.accept(&proof()).unwrap();
                sizes.map(|len| {
                    let mut got = vec![0; len];
                    far.recv(&mut got).unwrap();
                    got
                })
            });
            let mut near = way.connect(&proof()).unwrap().into_end::<Uring>().unwrap();
            // Memory that grows takes the place of what was there; what is received into has none.
            let sent = sizes.map(|len| {
                let room = Room::of(len, 64);
                let (link, out, into) = near.lend(&room, &room).unwrap();
                out[..len].iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 7 + len) as u8);
                let place = |bytes: &[u8]| link.duct().registered.as_ref().and_then(|table| table.place(bytes));
                assert_eq!((place(&out[..len]).is_some(), place(into)), (registers, None));
                link.post(&out[..len]).unwrap();
                while link.poll(link.posted(), Duration::from_secs(10)).unwrap() < link.posted() {}
                // The kernel itself says that other memory is not there, and so that it looks.
                let by_place = link.with_duct(|duct, _| duct.ring.get_mut().post(into, true, Some(0)));
                assert_eq!(by_place, Err(Errno::FAULT));
                out[..len].to_vec()
            });
            assert!(far.join().unwrap() == sent);
            assert_eq!(near.effective().options[REGISTERED.name], if registers { "on" } else { "off" });
        }
    }

    #[test]
    fn a_link_that_ends_while_it_receives_lets_go_of_its_memory() {
        for _ in 0..20 {
            let Some((mut link, peer)) = pair(Wait::Block) else { return };
            assert!(!link.ready(Duration::from_millis(1)).unwrap());
            drop(link);
            drop(peer);
        }
    }
}
