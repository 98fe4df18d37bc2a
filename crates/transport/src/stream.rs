//! Messages over a stream of bytes: what TCP, UNIX stream sockets and pipes have in common.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::meet::wrong_proof;
use crate::patience::LOOK;
use crate::settings::Effective;
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::watchdog::Watchdog;
use crate::zerocopy::{self, Pending};
use crate::{
    Asked, Buffer, Capabilities, Link, LinkError, Patience, Proof, Queued, TcpState, VisitQueued, Wait, tcp_state,
};

/// Two directions of bytes. The calls mean what the system's mean; `AGAIN` from `read` and `write` is a wait that was in
/// vain.
pub trait Duct: Send {
    /// What the transport that it carries can do.
    fn capabilities(&self) -> Capabilities;
    /// As [`Link::buffer`].
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        asked.ordinary()
    }
    /// Reads what is there; waits for it unless this duct spins.
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno>;
    /// Writes what fits; waits for room unless this duct spins.
    fn write(&self, from: &[u8]) -> Result<usize, Errno>;
    /// As `read`, never waiting.
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno>;
    /// As `write`, never waiting.
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno>;
    /// What becomes readable, and what becomes writable; `NOTCONN` once closed.
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno>;
    /// Whether it spins instead of waiting.
    fn spins(&self) -> bool;
    /// Ends both directions: the peer reads the end of the stream.
    fn shut(&mut self) -> Result<(), LinkError>;
    /// What took effect.
    fn effective(&self) -> Effective;
    /// The state of the TCP connection that it is; none of any other.
    fn tcp_state(&self) -> Option<TcpState> {
        None
    }
    /// As `write`, but with the memory given away; `OPNOTSUPP` where that can't be.
    fn post(&mut self, _from: &[u8]) -> Result<usize, Errno> {
        Err(Errno::OPNOTSUPP)
    }
    /// What was posted, after a look at what is complete; none where nothing can be.
    fn posts(&mut self, _look: bool) -> Result<Option<&mut Pending>, Errno> {
        Ok(None)
    }
    /// What becomes readable with news of posts; none where it is the error queue of the socket.
    fn news(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    /// Posts so far.
    fn posted(&self) -> u64 {
        0
    }
    /// Completed calls of posts that were copied, and all; none where that is not told.
    fn copied(&self) -> Option<(u64, u64)> {
        None
    }
    /// Why a call was cut off by this side's own watch, where that is so.
    fn verdict(&self) -> Option<LinkError> {
        None
    }
    /// Whether the peer has ended its direction; asked only where sends find no room.
    fn left(&self) -> bool {
        false
    }
    /// Whether it has bytes for a reader that the system knows nothing of any more.
    fn holds(&self) -> bool {
        false
    }
    /// Whether a part of a message came or left that no call has told of, since this was asked last; asked only where patience is at its end.
    fn moved(&self) -> bool {
        false
    }
}

/// One end of a stream of bytes: whole messages over a duct, with patience.
#[derive(Debug)]
pub struct Stream<D> {
    duct: D,
    patience: Patience,
}

impl<D: Duct> Stream<D> {
    pub(crate) fn new(duct: D, patience: &Patience) -> Self {
        Self { duct, patience: patience.clone() }
    }

    pub(crate) fn duct(&self) -> &D {
        &self.duct
    }

    pub(crate) fn with_duct<R>(&mut self, f: impl FnOnce(&mut D, &Patience) -> R) -> R {
        f(&mut self.duct, &self.patience)
    }

    pub(crate) fn into_duct(self) -> D {
        self.duct
    }

    /// What a call that moved nothing means for the wait.
    #[inline]
    pub(crate) fn pause(&self, e: Errno, idle: &mut Idle, doing: &'static str) -> Result<(), LinkError> {
        if e == Errno::AGAIN && self.duct.spins() {
            self.yet(idle.spun(&self.patience, doing), idle)?;
            if idle.looked() { self.awaited(doing) } else { Ok(()) }
        } else {
            self.stuck(e, idle, doing)
        }
    }

    /// Whether a send that finds no room has anybody to wait for. Of TCP a reset says that nobody is there; MPTCP holds what is sent to
    /// a socket that was closed for a minute (`net.mptcp.close_timeout`).
    #[cold]
    fn awaited(&self, doing: &'static str) -> Result<(), LinkError> {
        if doing == SENDING && self.duct.left() { Err(LinkError::Closed { doing }) } else { Ok(()) }
    }

    #[cold]
    fn stuck(&self, e: Errno, idle: &mut Idle, doing: &'static str) -> Result<(), LinkError> {
        match e {
            Errno::AGAIN => {
                self.yet(idle.waited(&self.patience, doing, LOOK), idle)?;
                self.awaited(doing)
            }
            e => self.broken(e, doing),
        }
    }

    /// The end of a patience, unless something moved within the duct meanwhile.
    #[inline]
    fn yet(&self, looked: Result<(), LinkError>, idle: &mut Idle) -> Result<(), LinkError> {
        match looked {
            Err(LinkError::Stalled { .. }) if self.duct.moved() => {
                idle.moved();
                Ok(())
            }
            looked => looked,
        }
    }

    #[cold]
    fn broken(&self, e: Errno, doing: &'static str) -> Result<(), LinkError> {
        match self.duct.verdict() {
            Some(verdict) => Err(verdict),
            None => sys::again(e, &self.patience, doing),
        }
    }

    /// What becomes readable, and what becomes writable.
    fn ends(&self, doing: &'static str) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), LinkError> {
        self.duct.ends().map_err(|e| self.duct.verdict().unwrap_or_else(|| sys::fault(e, doing)))
    }

    /// Waits until the peer closes; anything else it sends is against the rules.
    pub(crate) fn recv_end(&mut self) -> Result<(), LinkError> {
        let mut byte = [0];
        match self.recv(&mut byte) {
            Err(LinkError::Closed { .. }) => Ok(()),
            Err(e) => Err(e),
            Ok(()) => Err(LinkError::Protocol("it sent more than its request".to_owned())),
        }
    }

    /// Waits until either direction can move.
    fn either(&self) -> Result<bool, LinkError> {
        let (reader, writer) = self.ends(SENDING)?;
        let mut fds =
            [PollFd::from_borrowed_fd(reader, PollFlags::IN), PollFd::from_borrowed_fd(writer, PollFlags::OUT)];
        sys::poll_for(&mut fds, LOOK).map_err(|e| sys::fault(e, SENDING))
    }
}

impl<D: Duct> Link for Stream<D> {
    fn effective(&self) -> Effective {
        self.duct.effective()
    }
    fn tcp_state(&self) -> Option<TcpState> {
        self.duct.tcp_state()
    }
    fn capabilities(&self) -> Capabilities {
        self.duct.capabilities()
    }
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        self.duct.buffer(asked)
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let mut at = 0;
        let mut idle = Idle::default();
        while at < message.len() {
            match self.duct.write(&message[at..]) {
                Ok(n) => {
                    at += n;
                    idle.moved();
                }
                Err(e) => self.pause(e, &mut idle, SENDING)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let mut at = 0;
        let mut idle = Idle::default();
        while at < message.len() {
            match self.duct.read(&mut message[at..]) {
                Ok(0) => return Err(LinkError::Closed { doing: RECEIVING }),
                Ok(n) => {
                    at += n;
                    idle.moved();
                }
                Err(e) => self.pause(e, &mut idle, RECEIVING)?,
            }
        }
        Ok(())
    }

    /// Both directions in turn, neither waiting for the other; when one is done, the rest of the other is an ordinary send
    /// or receive. A small message thus costs the same two calls as a send and a receive.
    #[inline]
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        const DOING: &str = "exchanging messages";
        if out.is_empty() {
            return self.recv(into);
        }
        if into.is_empty() {
            return self.send(out);
        }
        let (mut sent, mut got) = (0, 0);
        let mut idle = Idle::default();
        loop {
            let before = sent + got;
            match self.duct.try_write(&out[sent..]) {
                Ok(n) => sent += n,
                Err(Errno::AGAIN) => {}
                Err(e) => self.stuck(e, &mut idle, SENDING)?,
            }
            if sent == out.len() {
                return self.recv(&mut into[got..]);
            }
            match self.duct.try_read(&mut into[got..]) {
                Ok(0) => return Err(LinkError::Closed { doing: RECEIVING }),
                Ok(n) => got += n,
                Err(Errno::AGAIN) => {}
                Err(e) => self.stuck(e, &mut idle, RECEIVING)?,
            }
            if got == into.len() {
                return self.send(&out[sent..]);
            }
            if sent + got > before {
                idle.moved();
            } else if self.duct.spins() {
                self.yet(idle.spun(&self.patience, DOING), &mut idle)?;
            } else if !self.either()? {
                self.yet(idle.waited(&self.patience, DOING, LOOK), &mut idle)?;
            }
        }
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        if self.duct.holds() {
            return Ok(true);
        }
        let (reader, _) = self.ends(RECEIVING)?;
        sys::readable(reader, wait, self.duct.spins(), &self.patience)
    }

    fn queued(&mut self) -> Option<&mut dyn Queued> {
        if self.duct.capabilities().queued { Some(self) } else { None }
    }

    fn visit_queued<V: VisitQueued>(&mut self, visitor: V) -> Option<V::Out> {
        self.duct.capabilities().queued.then(|| visitor.visit(self))
    }

    fn close(&mut self) -> Result<(), LinkError> {
        self.duct.shut()
    }
}

/// What posts lack where they are asked for on a duct without any.
const NO_POSTS: LinkError = LinkError::Unsupported("queue sends");
const POSTING: &str = "posting";

impl<D: Duct> Stream<D> {
    /// What was posted, after a look at what is complete where that is asked for.
    fn posts(&mut self, look: bool) -> Result<&mut Pending, LinkError> {
        match self.duct.posts(look) {
            Ok(posts) => posts.ok_or(NO_POSTS),
            Err(e) => Err(LinkError::io("reading which posts are complete", e)),
        }
    }

    /// Waits, at most for `wait`, for news of posts. What is not news is the end of the connection.
    fn await_posts(&mut self, wait: Duration) -> Result<(), LinkError> {
        if let Some(news) = self.duct.news() {
            let mut fds = [PollFd::from_borrowed_fd(news, PollFlags::IN)];
            return sys::poll_for(&mut fds, wait).map(drop).map_err(|e| sys::fault(e, POSTING));
        }
        let (_, writer) = self.ends(POSTING)?;
        let mut fds = [PollFd::from_borrowed_fd(writer, PollFlags::empty())];
        if !sys::poll_for(&mut fds, wait).map_err(|e| sys::fault(e, POSTING))? {
            return Ok(());
        }
        match rustix::net::sockopt::socket_error(writer) {
            Ok(Err(e)) | Err(e) => Err(sys::fault(e, POSTING)),
            Ok(Ok(())) if fds[0].revents().contains(PollFlags::ERR) => Ok(()),
            Ok(Ok(())) => Err(LinkError::Closed { doing: POSTING }),
        }
    }
}

impl<D: Duct> Queued for Stream<D> {
    fn post(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let (mut at, mut idle) = (0, Idle::default());
        while at < message.len() {
            match self.duct.post(&message[at..message.len().min(at + zerocopy::CALL)]) {
                Ok(n) => {
                    at += n;
                    idle.moved();
                }
                // Room for what the kernel keeps of calls that are not complete, or whose completion was not read.
                Err(Errno::NOBUFS) => {
                    let posts = self.posts(true)?;
                    if !posts.under_way() {
                        return Err(LinkError::io(zerocopy::NO_ROOM, Errno::NOBUFS));
                    }
                    self.await_posts(LOOK)?;
                    idle.waited(&self.patience, POSTING, LOOK)?;
                }
                Err(Errno::OPNOTSUPP) => return Err(LinkError::io(zerocopy::ALLOWING, Errno::OPNOTSUPP)),
                Err(e) => self.pause(e, &mut idle, SENDING)?,
            }
        }
        self.posts(false)?.post();
        Ok(())
    }

    fn posted(&self) -> u64 {
        self.duct.posted()
    }

    fn poll(&mut self, until: u64, wait: Duration) -> Result<u64, LinkError> {
        let (known, start) = (self.posts(false)?.complete(), Instant::now());
        let mut idle = Idle::default();
        loop {
            let posts = self.posts(true)?;
            let (complete, all) = (posts.complete(), posts.posted());
            let left = wait.saturating_sub(start.elapsed());
            if complete >= until.min(all) || complete > known || left.is_zero() {
                return Ok(complete);
            }
            if self.duct.spins() {
                idle.spun(&self.patience, POSTING)?;
            } else {
                self.await_posts(left.min(LOOK))?;
                idle.waited(&self.patience, POSTING, LOOK)?;
            }
        }
    }

    fn copied(&self) -> Option<(u64, u64)> {
        self.duct.copied()
    }
}

/// A stream socket. Blocking calls come back every [`LOOK`] (see [`sys::modes`]), receives of a watched one when its watchdog ends them;
/// spinning ones at once.
#[derive(Debug)]
pub struct Socket {
    /// Ends before the descriptor that it watches (fields are dropped in this order).
    watchdog: Option<Watchdog>,
    fd: OwnedFd,
    can: fn() -> Capabilities,
    wait: Wait,
    reading: RecvFlags,
    writing: SendFlags,
    /// Where it meets, for kinds whose addresses the socket doesn't tell.
    at: Option<String>,
    report: fn(&Socket) -> Effective,
    /// The library below this process's calls that was asked for.
    loaded: Option<String>,
    /// Sends that were posted; none of a connection that can't, or is not kept.
    posts: Option<Pending>,
    /// Most bytes of one write.
    piece: usize,
}

impl Socket {
    /// Takes over a connected stream socket. `report` says what took effect on it.
    pub(crate) fn new(
        fd: OwnedFd,
        can: fn() -> Capabilities,
        wait: Wait,
        at: Option<String>,
        report: fn(&Socket) -> Effective,
    ) -> Result<Self, LinkError> {
        let (reading, writing) = sys::modes(fd.as_fd(), wait, RecvFlags::empty(), LOOK)?;
        Ok(Self {
            watchdog: None,
            fd,
            can,
            wait,
            reading,
            writing,
            at,
            report,
            loaded: None,
            posts: None,
            piece: usize::MAX,
        })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn wait(&self) -> Wait {
        self.wait
    }

    pub(crate) fn at(&self) -> Option<String> {
        self.at.clone()
    }

    /// The same where the system takes no more bytes in one write.
    pub(crate) fn in_pieces(self, piece: usize) -> Self {
        Self { piece: piece.max(1), ..self }
    }

    /// The same where a library that was asked for lies below this process's calls.
    pub(crate) fn below(self, loaded: Option<String>) -> Self {
        Self { loaded, ..self }
    }

    pub(crate) fn loaded(&self) -> Option<String> {
        self.loaded.clone()
    }

    pub(crate) fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// Has a watchdog end receives that wait for too long, and no timer; keeps count of posts.
    pub(crate) fn watch(&mut self, patience: &Patience) -> Result<(), LinkError> {
        self.posts = (self.can)().queued.then(Pending::default);
        if !self.spins() {
            sys::unbound_receives(self.fd())?;
            self.watchdog = Some(Watchdog::over_socket(self.fd(), None, patience)?);
        }
        Ok(())
    }

    /// As `write`, from several places in one call; waits as `write` does unless it may `never` wait.
    #[inline]
    pub(crate) fn write_of(&self, from: &[IoSlice<'_>], never: bool) -> Result<usize, Errno> {
        let flags = if never { self.writing | SendFlags::DONTWAIT } else { self.writing };
        rustix::net::sendmsg(&self.fd, from, &mut Default::default(), flags)
    }
}

impl Duct for Socket {
    fn capabilities(&self) -> Capabilities {
        (self.can)()
    }
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let read = || rustix::net::recv(&self.fd, into, self.reading).map(|(n, _)| n);
        match &self.watchdog {
            Some(watchdog) => match watchdog.over(false, read) {
                // What it cut off reads as the end of the stream.
                Ok(0) if watchdog.barked() => Err(Errno::CANCELED),
                got => got,
            },
            None => read(),
        }
    }
    #[inline]
    fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        rustix::net::send(&self.fd, &from[..from.len().min(self.piece)], self.writing)
    }
    #[inline]
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(&self.fd, into, RecvFlags::DONTWAIT).map(|(n, _)| n)
    }
    #[inline]
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno> {
        rustix::net::send(&self.fd, &from[..from.len().min(self.piece)], SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno> {
        Ok((self.fd.as_fd(), self.fd.as_fd()))
    }
    #[inline]
    fn spins(&self) -> bool {
        self.wait == Wait::Spin
    }
    fn shut(&mut self) -> Result<(), LinkError> {
        sys::shut(self.fd())
    }
    fn effective(&self) -> Effective {
        (self.report)(self)
    }
    fn tcp_state(&self) -> Option<TcpState> {
        tcp_state::read(self.fd())
    }
    fn post(&mut self, from: &[u8]) -> Result<usize, Errno> {
        let posts = self.posts.as_mut().ok_or(Errno::OPNOTSUPP)?;
        if !posts.begun() {
            zerocopy::allow(self.fd.as_fd())?;
        }
        let sent = rustix::net::send(&self.fd, from, self.writing | zerocopy::ZEROCOPY)?;
        posts.called();
        Ok(sent)
    }
    fn posts(&mut self, look: bool) -> Result<Option<&mut Pending>, Errno> {
        let Some(posts) = &mut self.posts else { return Ok(None) };
        if look {
            posts.look(self.fd.as_fd())?;
        }
        Ok(Some(posts))
    }
    fn posted(&self) -> u64 {
        self.posts.as_ref().map_or(0, Pending::posted)
    }
    fn copied(&self) -> Option<(u64, u64)> {
        self.posts.as_ref().map(Pending::copied)
    }
    fn verdict(&self) -> Option<LinkError> {
        self.watchdog.as_ref().and_then(Watchdog::verdict)
    }
    fn left(&self) -> bool {
        let mut fds = [PollFd::from_borrowed_fd(self.fd(), PollFlags::RDHUP)];
        // News of posts are an event as well.
        sys::poll_for(&mut fds, Duration::ZERO).is_ok() && fds[0].revents().contains(PollFlags::RDHUP)
    }
}

impl Stream<Socket> {
    /// The same connection, for many receives: a watchdog ends those that wait for too long, and no timer does. A connection of one
    /// transaction is not worth a thread.
    pub(crate) fn watched(mut self) -> Result<Self, LinkError> {
        self.duct.watch(&self.patience)?;
        Ok(self)
    }

    /// The near half of a transaction on a fresh connection.
    pub(crate) fn ask_once(mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        self.send_both(&proof.near, request)?;
        let mut shown = [0; 32];
        self.recv_both(&mut shown, response)?;
        if Proof::matches(&shown, &proof.far) { Ok(()) } else { Err(wrong_proof()) }
    }

    /// The far half, once the near proof was seen.
    pub(crate) fn answer_once(mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        self.recv(request)?;
        self.send_both(&proof.far, response)?;
        self.recv_end()
    }

    /// `first` and `second` in one call, so that they leave in one segment where they fit.
    fn send_both(&mut self, first: &[u8], second: &[u8]) -> Result<(), LinkError> {
        let room = self.duct.piece.saturating_sub(first.len());
        let slices = [IoSlice::new(first), IoSlice::new(&second[..second.len().min(room)])];
        let sent = match rustix::net::sendmsg(self.duct.fd(), &slices, &mut Default::default(), self.duct.writing) {
            Ok(n) => n,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(e) => return Err(sys::fault(e, SENDING)),
        };
        self.send(&first[sent.min(first.len())..])?;
        self.send(&second[sent.saturating_sub(first.len())..])
    }

    /// Fills `first` and then `second`, in one call where all is there.
    fn recv_both(&mut self, first: &mut [u8], second: &mut [u8]) -> Result<(), LinkError> {
        let mut slices = [IoSliceMut::new(first), IoSliceMut::new(second)];
        let got = match rustix::net::recvmsg(self.duct.fd(), &mut slices, &mut Default::default(), self.duct.reading) {
            Ok(m) if m.bytes == 0 => return Err(LinkError::Closed { doing: RECEIVING }),
            Ok(m) => m.bytes,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(e) => return Err(sys::fault(e, RECEIVING)),
        };
        let in_first = got.min(first.len());
        self.recv(&mut first[in_first..])?;
        self.recv(&mut second[got - in_first..])
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::net::sockopt::{Timeout, socket_timeout};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    fn socket(fd: OwnedFd, wait: Wait, patience: &Patience) -> Stream<Socket> {
        let report = |socket: &Socket| sys::effective(socket.fd(), socket.wait(), socket.at());
        Stream::new(Socket::new(fd, Capabilities::plain, wait, None, report).unwrap(), patience)
    }

    fn pair(wait: Wait, patience: &Patience) -> (Stream<Socket>, OwnedFd) {
        let (a, b) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        (socket(a, wait, patience), b)
    }

    #[test]
    fn receives_of_a_watched_socket_have_no_timer_and_those_of_a_spinning_one_no_watchdog() {
        let timer = |link: &Stream<Socket>| socket_timeout(link.duct.fd(), Timeout::Recv).unwrap();
        let (link, _peer) = pair(Wait::Block, &Patience::default());
        assert_eq!(timer(&link), Some(LOOK));
        let link = link.watched().unwrap();
        assert_eq!((timer(&link), link.duct.watchdog.is_some()), (None, true));
        let (link, _peer) = pair(Wait::Spin, &Patience::default());
        assert!(link.watched().unwrap().duct.watchdog.is_none());
    }

    #[test]
    fn a_watched_receive_ends_with_its_patience_and_by_request_and_says_which() {
        let (link, _peer) = pair(Wait::Block, &Patience::new(Duration::from_millis(150), Arc::default()));
        let mut link = link.watched().unwrap();
        for _ in 0..2 {
            let ended = link.recv(&mut [0; 8]);
            assert!(matches!(ended, Err(LinkError::Stalled { doing: RECEIVING, .. })), "{ended:?}");
        }
        assert!(matches!(link.send(&[0; 8]), Err(LinkError::Stalled { .. })));
        let stop = Arc::new(AtomicBool::new(false));
        let (link, peer) = pair(Wait::Block, &Patience::new(Duration::from_secs(3600), Arc::clone(&stop)));
        let mut link = link.watched().unwrap();
        rustix::io::write(&peer, b"half").unwrap();
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(link.recv(&mut [0; 8]), Err(LinkError::Interrupted)));
    }

    #[test]
    fn the_end_of_the_stream_is_the_peers_where_nothing_was_cut_off() {
        let (link, peer) = pair(Wait::Block, &Patience::default());
        drop(peer);
        let ended = link.watched().unwrap().recv(&mut [0; 8]);
        assert!(matches!(ended, Err(LinkError::Closed { .. })), "{ended:?}");
    }
}
