//! A link of any transport, and the decorators around one.

use std::time::Duration;

use crate::clock::{Clock, Virtual};
use crate::decorate::{Decorators, Faulty, Shaped, Sleeping, TraceFile, Traced};
use crate::settings::Effective;
use crate::{
    AnyLink, Asked, Buffer, Capabilities, Collective, DatagramCounts, End, Group, Link, LinkError, OneSided, Patience,
    Queued, TcpState,
};

/// Something to do with the end of a link of whatever type, compiled once for each.
pub trait Visit {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: Link>(self, end: &mut End<L>) -> Self::Out;
}

/// Makes [`AnyLink`] of the transports' own links.
macro_rules! links {
    ($($(#[$built:meta])* $variant:ident($link:ty)),* $(,)?) => {
        /// A link of any transport, with the memory of its messages. Call [`AnyLink::visit`] once a trial to get at the concrete type.
        #[allow(clippy::large_enum_variant, reason = "there is one link a path; a box would cost the hot path a hop")]
        #[allow(missing_docs, reason = "a variant is the transport of its name")]
        pub enum AnyLink {
            $($(#[$built])* $variant($crate::End<$link>),)*
            /// A link that is reached by one indirect call an operation, such as one behind decorators.
            Boxed($crate::End<Box<dyn $crate::Link>>),
        }

        impl AnyLink {
            /// Hands the end of the concrete link to `visitor`.
            pub fn visit<V: $crate::any::Visit>(&mut self, visitor: V) -> V::Out {
                match self {
                    $($(#[$built])* AnyLink::$variant(end) => visitor.visit(end),)*
                    AnyLink::Boxed(end) => visitor.visit(end),
                }
            }

            /// The link itself, for code off the hot path.
            pub fn as_link(&self) -> &dyn $crate::Link {
                match self {
                    $($(#[$built])* AnyLink::$variant(end) => &**end,)*
                    AnyLink::Boxed(end) => &**end,
                }
            }

            /// The same, to use.
            pub fn as_link_mut(&mut self) -> &mut dyn $crate::Link {
                match self {
                    $($(#[$built])* AnyLink::$variant(end) => &mut **end,)*
                    AnyLink::Boxed(end) => &mut **end,
                }
            }

            /// The link by itself; its memory ends.
            pub(crate) fn boxed(self) -> Box<dyn $crate::Link> {
                match self {
                    $($(#[$built])* AnyLink::$variant(end) => Box::new(end.into_link()),)*
                    AnyLink::Boxed(end) => end.into_link(),
                }
            }

            /// Which link it is.
            pub(crate) fn variant(&self) -> &'static str {
                match self {
                    $($(#[$built])* AnyLink::$variant(_) => stringify!($variant),)*
                    AnyLink::Boxed(_) => "Boxed",
                }
            }
        }
    };
}
pub(crate) use links;

impl AnyLink {
    /// The link behind the decorators that are asked for: a trace around a faulty one around a shaped one, on the
    /// link's own clock.
    pub fn altered(self, with: &Decorators, patience: &Patience) -> Self {
        match self.as_link().clock() {
            _ if !with.any() => self,
            Some(clock) => self.on_clock(with, patience, || clock.clone()),
            None => self.on_clock(with, patience, || Sleeping::new(patience)),
        }
    }

    fn on_clock<C: Clock + 'static>(self, with: &Decorators, patience: &Patience, clock: impl Fn() -> C) -> Self {
        let mut link = self.boxed();
        if let Some(shape) = &with.shape {
            link = Box::new(Shaped::with_clock(link, shape, patience, clock()));
        }
        if let Some(fault) = &with.fault {
            link = Box::new(Faulty::with_clock(link, fault, patience, clock()));
        }
        if let Some(file) = &with.trace {
            link = Box::new(Traced::with_clock(link, TraceFile::append(file), clock()));
        }
        AnyLink::Boxed(End::new(link))
    }
}

impl std::fmt::Debug for AnyLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyLink::{}(..)", self.variant())
    }
}

/// For code off the hot path: one indirect call an operation.
impl Link for AnyLink {
    fn capabilities(&self) -> Capabilities {
        self.as_link().capabilities()
    }
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        self.as_link_mut().buffer(asked)
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.as_link_mut().send(message)
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.as_link_mut().recv(message)
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.as_link_mut().exchange(out, into)
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.as_link_mut().ready(wait)
    }
    fn flush(&mut self) -> Result<(), LinkError> {
        self.as_link_mut().flush()
    }
    fn close(&mut self) -> Result<(), LinkError> {
        self.as_link_mut().close()
    }
    fn effective(&self) -> Effective {
        self.as_link().effective()
    }
    fn datagrams(&self) -> Option<DatagramCounts> {
        self.as_link().datagrams()
    }
    fn tcp_state(&self) -> Option<TcpState> {
        self.as_link().tcp_state()
    }
    fn clock(&self) -> Option<Virtual> {
        self.as_link().clock()
    }
    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        self.as_link_mut().one_sided()
    }
    fn queued(&mut self) -> Option<&mut dyn Queued> {
        self.as_link_mut().queued()
    }
    fn group(&mut self) -> Option<&mut dyn Group> {
        self.as_link_mut().group()
    }
    fn collective(&mut self) -> Option<&mut dyn Collective> {
        self.as_link_mut().collective()
    }
}
