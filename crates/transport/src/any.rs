//! A link of any kind, and the decorators around one.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, Virtual};
use crate::decorate::{Faulty, Shaped, Sleeping, TraceFile, Traced};
use crate::kinds::Kind;
use crate::memcpy::Memcpy;
use crate::pipe::Pipe;
use crate::seqpacket::Seqpacket;
use crate::sequence::{Counters, DatagramCounts};
use crate::settings::Effective;
use crate::shm::Shm;
use crate::tcp::Tcp;
use crate::theory::TheoryLink;
use crate::udp::Udp;
use crate::unix::Unix;
use crate::{Buffer, Capabilities, Link, LinkError, Patience, Settings};

/// A link of any built-in kind. Call [`AnyLink::visit`] once a trial to get at the concrete type.
#[allow(clippy::large_enum_variant, reason = "there is one link a path; a box would cost the hot path a hop")]
pub enum AnyLink {
    /// Memory to memory.
    Memcpy(Memcpy),
    /// Two pipes.
    Pipe(Pipe),
    /// Shared memory.
    Shm(Shm),
    /// A UNIX stream socket.
    Unix(Unix),
    /// A UNIX sequenced-packet socket.
    Seqpacket(Seqpacket),
    /// TCP.
    Tcp(Tcp),
    /// UDP.
    Udp(Udp),
    /// The modelled link.
    Theory(TheoryLink),
    /// A link behind the decorators that the settings asked for, reached by one indirect call an operation, with what is
    /// known of the link itself.
    Altered(Altered),
}

/// A decorated link, and what its decorators hide.
pub struct Altered {
    link: Box<dyn Link>,
    effective: Effective,
    counters: Option<Arc<Counters>>,
    clock: Option<Virtual>,
}

/// Something to do with a link of whatever type, compiled once for each.
pub trait Visit {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: Link>(self, link: &mut L) -> Self::Out;
}

/// `$do` with `$link` bound to the concrete link within `$any`.
macro_rules! each {
    ($any:expr, $link:ident => $do:expr) => {
        match $any {
            AnyLink::Memcpy($link) => $do,
            AnyLink::Pipe($link) => $do,
            AnyLink::Shm($link) => $do,
            AnyLink::Unix($link) => $do,
            AnyLink::Seqpacket($link) => $do,
            AnyLink::Tcp($link) => $do,
            AnyLink::Udp($link) => $do,
            AnyLink::Theory($link) => $do,
            AnyLink::Altered(Altered { link: $link, .. }) => $do,
        }
    };
}

impl AnyLink {
    /// Hands the concrete link to `visitor`.
    pub fn visit<V: Visit>(&mut self, visitor: V) -> V::Out {
        each!(self, link => visitor.visit(link))
    }

    /// A link of a kind that plays both ends in one process, behind the decorators that `settings` ask for.
    pub fn solo(kind: Kind, settings: &Settings) -> Result<Self, LinkError> {
        let link = match kind {
            Kind::Memcpy => AnyLink::Memcpy(Memcpy::new()),
            Kind::Theory => AnyLink::Theory(TheoryLink::new(&settings.theory, settings.loss_timeout)),
            _ => return Err(LinkError::Unsupported("play both ends in one process (memcpy and theory do)")),
        };
        Ok(link.altered(settings, &Patience::default()))
    }

    /// The link behind the decorators that `settings` ask for: a trace around a faulty one around a shaped one, on the
    /// link's own clock.
    pub fn altered(self, settings: &Settings, patience: &Patience) -> Self {
        match self.clock() {
            _ if settings.fault.is_none() && settings.shape.is_none() && settings.trace.is_none() => self,
            Some(clock) => self.on_clock(settings, patience, || clock.clone()),
            None => self.on_clock(settings, patience, || Sleeping::new(patience)),
        }
    }

    fn on_clock<C: Clock + 'static>(self, settings: &Settings, patience: &Patience, clock: impl Fn() -> C) -> Self {
        let (effective, virtual_clock) = (self.effective(), self.clock());
        let counters = match &self {
            AnyLink::Udp(link) => Some(link.counters()),
            _ => None,
        };
        let mut link: Box<dyn Link> = Box::new(self);
        if let Some(shape) = &settings.shape {
            link = Box::new(Shaped::with_clock(link, shape, patience, clock()));
        }
        if let Some(fault) = &settings.fault {
            link = Box::new(Faulty::with_clock(link, fault, patience, clock()));
        }
        if let Some(file) = &settings.trace {
            link = Box::new(Traced::with_clock(link, TraceFile::append(file), clock()));
        }
        AnyLink::Altered(Altered { link, effective, counters, clock: virtual_clock })
    }

    /// What took effect on this connection; nothing is known of links within one process.
    pub fn effective(&self) -> Effective {
        match self {
            AnyLink::Pipe(link) => link.effective(),
            AnyLink::Shm(link) => Effective { wait: Some(link.wait()), ..Effective::default() },
            AnyLink::Unix(link) => link.effective(),
            AnyLink::Seqpacket(link) => link.effective(),
            AnyLink::Tcp(link) => link.effective(),
            AnyLink::Udp(link) => link.effective(),
            AnyLink::Altered(link) => link.effective.clone(),
            AnyLink::Memcpy(_) | AnyLink::Theory(_) => Effective::default(),
        }
    }

    /// What this side's receives saw of lost, late and double datagrams since the link was made; none where the transport
    /// is reliable.
    pub fn datagrams(&self) -> Option<DatagramCounts> {
        match self {
            AnyLink::Udp(link) => Some(link.counts()),
            AnyLink::Altered(link) => link.counters.as_ref().map(|c| c.counts()),
            _ => None,
        }
    }

    /// The virtual clock that this link moves, where it has one.
    pub fn clock(&self) -> Option<Virtual> {
        match self {
            AnyLink::Theory(link) => Some(link.clock()),
            AnyLink::Altered(link) => link.clock.clone(),
            _ => None,
        }
    }
}

impl std::fmt::Debug for AnyLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            AnyLink::Memcpy(_) => "Memcpy",
            AnyLink::Pipe(_) => "Pipe",
            AnyLink::Shm(_) => "Shm",
            AnyLink::Unix(_) => "Unix",
            AnyLink::Seqpacket(_) => "Seqpacket",
            AnyLink::Tcp(_) => "Tcp",
            AnyLink::Udp(_) => "Udp",
            AnyLink::Theory(_) => "Theory",
            AnyLink::Altered(_) => "Altered",
        };
        write!(f, "AnyLink::{name}(..)")
    }
}

/// For decorators and for code off the hot path: one look at the kind an operation.
impl Link for AnyLink {
    fn capabilities(&self) -> Capabilities {
        each!(self, link => link.capabilities())
    }
    fn buffer(&mut self, len: usize, align: usize, offset: usize) -> Result<Buffer, LinkError> {
        each!(self, link => link.buffer(len, align, offset))
    }
    #[inline]
    fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
        each!(self, link => link.send(block))
    }
    #[inline]
    fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
        each!(self, link => link.recv(block))
    }
    #[inline]
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        each!(self, link => link.exchange(out, into))
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        each!(self, link => link.ready(wait))
    }
    fn flush(&mut self) -> Result<(), LinkError> {
        each!(self, link => link.flush())
    }
    fn close(&mut self) -> Result<(), LinkError> {
        each!(self, link => link.close())
    }
}
