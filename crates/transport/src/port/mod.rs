//! The Link port: what every transport gives the evaluator, and nothing more.
//!
//! Its operations are the 1996 paper's protocol module (connect, send, receive, close; `seeds/004`, section 2) with
//! what two-way and open-loop patterns need.

mod collective;
mod group;
mod one_sided;
mod queued;
mod transport;

use std::time::Duration;

pub use self::collective::{Collective, VisitCollective, WORD};
pub use self::group::{Delivered, Group, Order, VisitGroup};
pub use self::one_sided::{OneSided, VisitOneSided};
pub use self::queued::{Queued, VisitQueued};
pub(crate) use self::transport::NO_TRANSACTIONS;
pub use self::transport::{Accept, Acceptor, Address, Connect, Connector, Ends, Line, Transport};
use crate::clock::Virtual;
use crate::settings::Effective;
use crate::{Asked, Buffer, Capabilities, DatagramCounts, LinkError, TcpState};

/// One end of a connected pair.
///
/// All waits are bounded by the link's [`Patience`](crate::Patience): an operation returns `Stalled`, `Closed` or
/// `Interrupted` rather than hang. A link may be used from one thread at a time.
pub trait Link: Send {
    /// What this link can do.
    fn capabilities(&self) -> Capabilities;

    /// Memory of this link's domain, as an [`End`](crate::End) asks for it: it is the only one who can, and keeps the memory within the
    /// link's life. Errors: the system's where it has no such memory.
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        asked.ordinary()
    }

    /// Sends one message. Returns when the memory may be used again.
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError>;

    /// Receives one message of exactly `message.len()` bytes. A message of another length is a `Protocol` error.
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError>;

    /// Sends `out` and receives `into` at the same time: neither direction waits for the other.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError>;

    /// Waits at most `wait` until a receive would find something. Zero only looks.
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError>;

    /// Hands everything sent so far to the path.
    fn flush(&mut self) -> Result<(), LinkError> {
        Ok(())
    }

    /// Ends the link; the peer sees `Closed`.
    fn close(&mut self) -> Result<(), LinkError>;

    /// What took effect on this connection, where the system says.
    fn effective(&self) -> Effective {
        Effective::default()
    }

    /// What this side's receives saw of lost, late and double datagrams since the link was made; none where the transport
    /// is reliable.
    fn datagrams(&self) -> Option<DatagramCounts> {
        None
    }

    /// The state of the TCP connection that this is; none of any other link.
    fn tcp_state(&self) -> Option<TcpState> {
        None
    }

    /// The virtual clock that this link moves, where it has one.
    fn clock(&self) -> Option<Virtual> {
        None
    }

    /// One-sided access, where [`Capabilities::one_sided`] says that this link has it: one indirect call an operation.
    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        None
    }

    /// Hands one-sided access to `visitor`, where this link has it. A built-in link overrides this, so that the visitor is compiled for it.
    fn visit_one_sided<V: VisitOneSided>(&mut self, visitor: V) -> Option<V::Out>
    where
        Self: Sized,
    {
        self.one_sided().map(|link| visitor.visit(&mut one_sided::Through(link)))
    }

    /// Queued sends, where [`Capabilities::queued`] says that this link has them: one indirect call an operation.
    fn queued(&mut self) -> Option<&mut dyn Queued> {
        None
    }

    /// Hands queued sends to `visitor`, as [`Link::visit_one_sided`] does.
    fn visit_queued<V: VisitQueued>(&mut self, visitor: V) -> Option<V::Out>
    where
        Self: Sized,
    {
        self.queued().map(|link| visitor.visit(&mut queued::Through(link)))
    }

    /// The group that this link is a member of, where [`Capabilities::group`] says so: one indirect call an operation.
    fn group(&mut self) -> Option<&mut dyn Group> {
        None
    }

    /// Hands the member to `visitor`, as [`Link::visit_one_sided`] does.
    fn visit_group<V: VisitGroup>(&mut self, visitor: V) -> Option<V::Out>
    where
        Self: Sized,
    {
        self.group().map(|link| visitor.visit(&mut group::Through(link)))
    }

    /// The member of a group that this link is, where [`Capabilities::collective`] says so: one indirect call an operation.
    fn collective(&mut self) -> Option<&mut dyn Collective> {
        None
    }

    /// Hands the member to `visitor`, as [`Link::visit_one_sided`] does.
    fn visit_collective<V: VisitCollective>(&mut self, visitor: V) -> Option<V::Out>
    where
        Self: Sized,
    {
        self.collective().map(|link| visitor.visit(&mut collective::Through(link)))
    }
}

/// A link behind a pointer: one indirect call an operation, where its type is not known.
macro_rules! behind_a_pointer {
    ({$($generics:tt)*} $pointer:ty) => {
        impl<$($generics)*> Link for $pointer {
            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }
            fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
                (**self).buffer(asked)
            }
            fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
                (**self).send(message)
            }
            fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
                (**self).recv(message)
            }
            fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
                (**self).exchange(out, into)
            }
            fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
                (**self).ready(wait)
            }
            fn flush(&mut self) -> Result<(), LinkError> {
                (**self).flush()
            }
            fn close(&mut self) -> Result<(), LinkError> {
                (**self).close()
            }
            fn effective(&self) -> Effective {
                (**self).effective()
            }
            fn datagrams(&self) -> Option<DatagramCounts> {
                (**self).datagrams()
            }
            fn tcp_state(&self) -> Option<TcpState> {
                (**self).tcp_state()
            }
            fn clock(&self) -> Option<Virtual> {
                (**self).clock()
            }
            fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
                (**self).one_sided()
            }
            fn queued(&mut self) -> Option<&mut dyn Queued> {
                (**self).queued()
            }
            fn group(&mut self) -> Option<&mut dyn Group> {
                (**self).group()
            }
            fn collective(&mut self) -> Option<&mut dyn Collective> {
                (**self).collective()
            }
        }
    };
}

behind_a_pointer!({L: Link + ?Sized} Box<L>);
behind_a_pointer!({} one_sided::Through<'_>);
behind_a_pointer!({} queued::Through<'_>);
behind_a_pointer!({} group::Through<'_>);
behind_a_pointer!({} collective::Through<'_>);
