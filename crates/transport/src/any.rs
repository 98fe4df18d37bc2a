//! A link of any transport, with the memory of its messages, and the decorators around one.

use std::any::Any;
use std::time::Duration;

use crate::clock::{Clock, Virtual};
use crate::decorate::{Decorators, Faulty, Shaped, Sleeping, TraceFile, Traced};
use crate::settings::Effective;
use crate::{
    Asked, Buffer, Capabilities, Collective, DatagramCounts, End, Group, Link, LinkError, OneSided, Patience, Queued,
    TcpState,
};

/// Something to do with the end of a link of whatever type, compiled once for each.
pub trait Visit {
    /// What comes of it.
    type Out;
    /// Does it.
    fn visit<L: Link>(self, end: &mut End<L>) -> Self::Out;
}

/// A type of link that [`AnyLink::visit`] compiles visitors for: what `links!` lists.
#[diagnostic::on_unimplemented(
    message = "loops are not compiled for links of type `{Self}`",
    note = "add it to `links!` in registry.rs, or use `AnyLink::boxed`, which costs one indirect call an operation"
)]
pub trait Listed: Link + 'static {}

/// A link of any transport, with the memory of its messages. [`AnyLink::visit`] gets at the concrete type, once a trial: the registry
/// has it, which knows all types, so that no transport needs to know of another one.
pub struct AnyLink(Box<dyn Held>);

/// An [`End`] whose type is known to who asks for it.
trait Held: Any + Send {
    fn link(&self) -> &dyn Link;
    fn link_mut(&mut self) -> &mut dyn Link;
    fn into_link(self: Box<Self>) -> Box<dyn Link>;
    fn type_name(&self) -> &'static str;
}

impl<L: Link + 'static> Held for End<L> {
    fn link(&self) -> &dyn Link {
        &**self
    }
    fn link_mut(&mut self) -> &mut dyn Link {
        &mut **self
    }
    fn into_link(self: Box<Self>) -> Box<dyn Link> {
        Box::new((*self).into_link())
    }
    fn type_name(&self) -> &'static str {
        std::any::type_name::<L>()
    }
}

impl AnyLink {
    /// A link of a transport of this program.
    pub fn new(link: impl Listed) -> Self {
        Self(Box::new(End::new(link)))
    }

    /// Any other link, which is reached by one indirect call an operation.
    pub fn boxed(link: Box<dyn Link>) -> Self {
        Self(Box::new(End::new(link)))
    }

    /// The end, where its link is of this type.
    pub fn end<L: Link + 'static>(&mut self) -> Option<&mut End<L>> {
        let held: &mut dyn Any = &mut *self.0;
        held.downcast_mut()
    }

    /// The end by itself, where its link is of this type.
    ///
    /// # Errors
    /// It is of another type, and stays as it was.
    pub fn into_end<L: Link + 'static>(mut self) -> Result<End<L>, Self> {
        if self.end::<L>().is_none() {
            return Err(self);
        }
        let held: Box<dyn Any> = self.0;
        Ok(*held.downcast().expect("its type was asked for just now"))
    }

    /// The end of a link that [`AnyLink::boxed`] took, which all are that `links!` does not list.
    pub(crate) fn boxed_end(&mut self) -> &mut End<Box<dyn Link>> {
        self.end().expect("a link is of a type that is listed, or boxed: there is no other way to make one")
    }

    /// The link itself, for code off the hot path.
    pub fn as_link(&self) -> &dyn Link {
        self.0.link()
    }

    /// The same, to use.
    pub fn as_link_mut(&mut self) -> &mut dyn Link {
        self.0.link_mut()
    }

    /// The link by itself; its memory ends.
    fn into_boxed(self) -> Box<dyn Link> {
        self.into_end().map_or_else(|other| other.0.into_link(), End::into_link)
    }

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
        let mut link = self.into_boxed();
        if let Some(shape) = &with.shape {
            link = Box::new(Shaped::with_clock(link, shape, patience, clock()));
        }
        if let Some(fault) = &with.fault {
            link = Box::new(Faulty::with_clock(link, fault, patience, clock()));
        }
        if let Some(file) = &with.trace {
            link = Box::new(Traced::with_clock(link, TraceFile::append(file), clock()));
        }
        AnyLink::boxed(link)
    }
}

impl std::fmt::Debug for AnyLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnyLink({})", self.0.type_name())
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
