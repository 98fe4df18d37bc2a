//! Streams over IP: how TCP, MPTCP and SCTP connections come to be.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{Protocol, SocketType, sockopt};

use crate::door::Door;
use crate::ip::{self, bound_to, no_answer};
use crate::meet::{Made, shake};
use crate::patience::LOOK;
use crate::port::{Accept, Acceptor, Address, Connect, Connector, NO_TRANSACTIONS, Transport};
use crate::preload;
use crate::stream::{Socket, Stream};
use crate::sys::{self, BACKLOG};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Patience, Proof, Settings, Wait};

/// A transport of streams over IP: in what it differs from the others.
pub(crate) trait OverIp: Send + Sync + 'static {
    /// As [`Transport::name`].
    const NAME: Name;
    /// As [`Transport::summary`].
    const SUMMARY: &'static str;
    /// As [`Transport::spoken`].
    const SPOKEN: &'static [&'static str];
    /// As [`Transport::options`].
    const OPTIONS: &'static [OptionSpec];
    /// Its sockets' protocol; none for that of their type.
    const PROTOCOL: Option<Protocol> = None;
    /// The wait modes that it knows, the default first.
    const WAITS: &'static [Wait];
    /// As [`Transport::capabilities`].
    fn can() -> Capabilities;
    /// Why a socket of its can't be had, in words that say what to do.
    fn lacks(e: Errno) -> Option<&'static str> {
        let _ = e;
        None
    }
    /// What it needs besides a socket: the error says why it can't be had here.
    fn besides() -> Result<(), LinkError> {
        Ok(())
    }
    /// Whether this process is one that these settings ask for.
    fn here(settings: &Settings) -> Result<(), LinkError> {
        let _ = settings;
        Ok(())
    }
    /// Sets what must be set before a socket connects or listens.
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError>;
}

/// What becomes of its connected sockets.
pub(crate) trait Sessions: OverIp {
    /// What a far side needs for all of its connections.
    type Far: Send;
    /// What a near side does.
    type Near: Send;

    /// Makes the one.
    fn far_side(settings: &Settings) -> Result<Self::Far, LinkError>;
    /// Makes the other.
    fn near_side(settings: &Settings) -> Result<Self::Near, LinkError>;
    /// The link of an accepted socket, over which the near proof came.
    fn accepted(fd: OwnedFd, made: &Made, proof: &Proof, far: &Self::Far) -> Result<AnyLink, LinkError>;
    /// The link of a connected socket, over which nothing was sent.
    fn connected(fd: OwnedFd, made: &Made, proof: &Proof, near: &Self::Near) -> Result<AnyLink, LinkError>;
    /// As [`Accept::transaction`], once the near proof came.
    fn answers(
        _fd: OwnedFd,
        _made: &Made,
        _far: &Self::Far,
        _proof: &Proof,
        _request: &mut [u8],
        _response: &[u8],
    ) -> Result<(), LinkError> {
        Err(NO_TRANSACTIONS)
    }
    /// As [`Connect::transaction`], once it is connected.
    fn asks(
        _fd: OwnedFd,
        _made: &Made,
        _near: &Self::Near,
        _proof: &Proof,
        _request: &[u8],
        _response: &mut [u8],
    ) -> Result<(), LinkError> {
        Err(NO_TRANSACTIONS)
    }
}

/// One whose sides meet over the sockets themselves, with nothing to keep beside them.
pub(crate) trait Plain: OverIp {
    /// Takes over a connected socket.
    fn link(fd: OwnedFd, made: &Made) -> Result<Stream<Socket>, LinkError>;
    /// What is measured, once both proofs were shown.
    fn met(link: Stream<Socket>, made: &Made) -> Result<AnyLink, LinkError>;
}

impl<K: Plain> Sessions for K {
    type Far = ();
    type Near = ();

    fn far_side(_: &Settings) -> Result<(), LinkError> {
        Ok(())
    }
    fn near_side(_: &Settings) -> Result<(), LinkError> {
        Ok(())
    }
    fn accepted(fd: OwnedFd, made: &Made, proof: &Proof, (): &()) -> Result<AnyLink, LinkError> {
        let mut link = K::link(fd, made)?;
        link.send(&proof.far)?;
        K::met(link, made)
    }
    fn connected(fd: OwnedFd, made: &Made, proof: &Proof, (): &()) -> Result<AnyLink, LinkError> {
        let mut link = K::link(fd, made)?;
        shake(&mut link, proof)?;
        K::met(link, made)
    }
    fn answers(
        fd: OwnedFd,
        made: &Made,
        (): &(),
        proof: &Proof,
        request: &mut [u8],
        response: &[u8],
    ) -> Result<(), LinkError> {
        K::link(fd, made)?.answer_once(proof, request, response)
    }
    fn asks(
        fd: OwnedFd,
        made: &Made,
        (): &(),
        proof: &Proof,
        request: &[u8],
        response: &mut [u8],
    ) -> Result<(), LinkError> {
        K::link(fd, made)?.ask_once(proof, request, response)
    }
}

/// The transport that `K` describes.
#[derive(Debug)]
pub struct Streams<K>(PhantomData<K>);

impl<K> Streams<K> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

#[allow(private_bounds, reason = "which streams there are is this crate's own matter")]
impl<K: Sessions> Transport for Streams<K> {
    fn name(&self) -> Name {
        K::NAME
    }
    fn summary(&self) -> &'static str {
        K::SUMMARY
    }
    fn spoken(&self) -> &'static [&'static str] {
        K::SPOKEN
    }
    fn capabilities(&self, _: &Settings) -> Capabilities {
        K::can()
    }
    fn availability(&self) -> Result<(), LinkError> {
        K::besides()?;
        ip::on_loopback(|ip| {
            let at = SocketAddr::new(ip, 0);
            rustix::net::bind(&socket::<K>(&at)?, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))
        })
    }
    fn reaches_itself(&self) -> Result<(), LinkError> {
        ip::reaches_itself()
    }
    fn options(&self) -> &'static [OptionSpec] {
        K::OPTIONS
    }
    fn listen(&self, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        K::here(settings)?;
        let made = Made::new(K::WAITS, settings, patience)?;
        let (listener, at) = listen::<K>(ip::beside(at, settings)?, settings)?;
        let door = Door::new(listener, SocketType::STREAM, patience)?.below(preload::asked(settings).is_some());
        Ok(Box::new(Listener::<K> { door, at, made, side: K::far_side(settings)? }))
    }
    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        peer: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        K::here(settings)?;
        let made = Made::new(K::WAITS, settings, patience)?;
        Ok(Box::new(Dialler::<K> { to: ip::door(address, peer, settings)?, made, side: K::near_side(settings)? }))
    }
}

struct Listener<K: Sessions> {
    door: Door,
    at: SocketAddr,
    made: Made,
    side: K::Far,
}

impl<K: Sessions> Accept for Listener<K> {
    fn address(&self) -> Address {
        ip::told(self.at)
    }
    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        K::accepted(self.door.accept(&proof.near)?, &self.made, proof, &self.side)
    }
    fn transaction(&mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        K::answers(self.door.accept(&proof.near)?, &self.made, &self.side, proof, request, response)
    }
}

struct Dialler<K: Sessions> {
    to: SocketAddr,
    made: Made,
    side: K::Near,
}

impl<K: Sessions> Dialler<K> {
    fn connected(&self) -> Result<OwnedFd, LinkError> {
        connect::<K>(self.to, &self.made.settings, &self.made.patience)
    }
}

impl<K: Sessions> Connect for Dialler<K> {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        K::connected(self.connected()?, &self.made, proof, &self.side)
    }
    fn transaction(&mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        K::asks(self.connected()?, &self.made, &self.side, proof, request, response)
    }
}

/// A socket for `address`.
fn socket<K: OverIp>(address: &SocketAddr) -> Result<OwnedFd, LinkError> {
    ip::socket_of(address, SocketType::STREAM, K::PROTOCOL).map_err(|e| match K::lacks(e) {
        Some(why) => LinkError::io(format!("making an {} socket ({why})", K::NAME), e),
        None => ip::no_socket(address, e),
    })
}

/// The same with everything that must be set before it connects or listens.
fn prepared<K: OverIp>(address: &SocketAddr, settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = socket::<K>(address)?;
    if let Some(bytes) = settings.whole("sockbuf") {
        sys::ask_buffers(fd.as_fd(), bytes)?;
    }
    K::before(fd.as_fd(), settings)?;
    Ok(fd)
}

/// A listening socket at `at` and the address it got.
pub(crate) fn listen<K: OverIp>(at: SocketAddr, settings: &Settings) -> Result<(OwnedFd, SocketAddr), LinkError> {
    let fd = prepared::<K>(&at, settings)?;
    rustix::net::bind(&fd, &at)
        .and_then(|()| rustix::net::listen(&fd, BACKLOG))
        .map_err(|e| LinkError::io(format!("listening on {at}"), e))?;
    let bound = bound_to(fd.as_fd())?;
    Ok((fd, bound))
}

/// A socket connected to `to`.
pub(crate) fn connect<K: OverIp>(
    to: SocketAddr,
    settings: &Settings,
    patience: &Patience,
) -> Result<OwnedFd, LinkError> {
    let fd = prepared::<K>(&to, settings)?;
    // A blocking connect honours the send timeout and then goes on in the background.
    sockopt::set_socket_timeout(&fd, sockopt::Timeout::Send, Some(LOOK))
        .map_err(|e| LinkError::io("setting a socket's timeouts", e))?;
    match rustix::net::connect(&fd, &to) {
        Ok(()) => Ok(fd),
        Err(Errno::INPROGRESS | Errno::INTR | Errno::AGAIN) => {
            finish_connect(fd.as_fd(), to, patience)?;
            Ok(fd)
        }
        Err(e) => Err(refused(to, e)),
    }
}

#[cold]
fn refused(to: SocketAddr, e: Errno) -> LinkError {
    let doing = match e {
        Errno::ADDRNOTAVAIL => format!(
            "connecting to {to} (no local port is free: those of connections closed within the last minute are still \
             held; make fewer connections, or set net.ipv4.tcp_tw_reuse to 1)"
        ),
        _ => format!("connecting to {to}"),
    };
    LinkError::io(doing, e)
}

#[cold]
fn finish_connect(fd: BorrowedFd<'_>, to: SocketAddr, patience: &Patience) -> Result<(), LinkError> {
    let start = Instant::now();
    loop {
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
        if sys::poll_for(&mut fds, LOOK).map_err(|e| refused(to, e))? {
            return sockopt::socket_error(fd).and_then(|e| e).map_err(|e| refused(to, e));
        }
        match patience.check(start, "connecting") {
            Ok(()) => {}
            Err(LinkError::Stalled { waited, .. }) => return Err(no_answer(to, waited)),
            Err(e) => return Err(e),
        }
    }
}
