//! A link of a module: each operation is one call through its table.

use std::collections::BTreeMap;
use std::ffi::{CString, c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::time::Duration;

use super::abi::{self, Own};
use super::call::{Failure, Terms, fault};
use super::calls::{Call, Progress, Within};
use super::library::Library;
use crate::settings::Effective;
use crate::{Asked, Buffer, Capabilities, Collective, Group, Link, LinkError, OneSided, OptionSpec, Queued};

/// Longest text of what took effect.
const EFFECTIVE: usize = 200;
/// How long closing may wait for the peer to close, too: one on a busy machine is late.
const CLOSES: Duration = Duration::from_secs(10);

/// One end of a connection that a module made.
pub struct ModuleLink {
    /// None once closed. Memory that it gave holds it too, and the module's link ends with the last of them.
    held: Option<Arc<Held>>,
    /// The same, for calls; NULL once closed.
    at: Own,
    /// Bytes that this side reserved or exposes, and that it reached of the peer's.
    exposed: usize,
    reached: usize,
    table: abi::Module,
    one_sided: Option<abi::OneSided>,
    queued: Option<abi::Queued>,
    collective: Option<abi::Collective>,
    group: Option<abi::Group>,
    /// Its place in a group, where it is in one.
    seat: Option<Seat>,
    options: &'static [OptionSpec],
    /// The module's.
    version: &'static str,
    can: Capabilities,
    failure: Failure,
    terms: Arc<Terms>,
    /// Tells whoever watches what this side is in.
    progress: Arc<Progress>,
}

/// A link that the module has not closed yet.
struct Held {
    own: NonNull<c_void>,
    close: Option<unsafe extern "C" fn(Own)>,
}

// SAFETY: only the thread that has the link, or the last of its memory, does anything with it.
unsafe impl Send for Held {}
// SAFETY: as for `Send`.
unsafe impl Sync for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(close) = self.close {
            let _within = Within::of(Call::Close, CLOSES);
            // SAFETY: once, and nothing that could use it is left.
            unsafe { close(self.own.as_ptr()) };
        }
    }
}

// SAFETY: a link is used by one thread at a time, which is all that the interface promises to a module.
unsafe impl Send for ModuleLink {}

impl ModuleLink {
    /// Takes over what `connect` or `accept` gave.
    pub(super) fn new(
        own: Own,
        library: &'static Library,
        options: &'static [OptionSpec],
        can: Capabilities,
        terms: Arc<Terms>,
    ) -> Result<Self, LinkError> {
        let own =
            NonNull::new(own).ok_or_else(|| fault("connecting", "it says that it is connected, and gives no link"))?;
        let Library { table, one_sided, queued, collective, group, .. } = library;
        let failure = Failure::new();
        let (at, held) = (own.as_ptr(), Some(Arc::new(Held { own, close: table.close })));
        let (table, one_sided, queued, collective, group) = (*table, *one_sided, *queued, *collective, *group);
        let progress = Progress::of_a_link();
        Ok(Self {
            held,
            at,
            exposed: 0,
            reached: 0,
            table,
            one_sided,
            queued,
            collective,
            group,
            seat: None,
            options,
            version: &library.version,
            can,
            failure,
            terms,
            progress,
        })
    }

    #[inline]
    fn own(&self, doing: &'static str) -> Result<Own, LinkError> {
        if self.at.is_null() { Err(LinkError::Closed { doing }) } else { Ok(self.at) }
    }

    #[inline]
    fn check(&mut self, came: c_int, doing: &'static str) -> Result<(), LinkError> {
        self.progress.ends();
        if came == abi::code::OK { Ok(()) } else { self.failed(came, doing) }
    }

    #[cold]
    fn failed(&mut self, came: c_int, doing: &'static str) -> Result<(), LinkError> {
        if came == abi::code::LOST && self.can.reliable {
            return Err(fault(
                doing,
                "it returned PIPEGAUGE_LOST, and says of this path that it loses nothing (PIPEGAUGE_RELIABLE): one of both is not true",
            ));
        }
        self.failure.check(came, doing, &self.terms.patience)
    }
}

impl Link for ModuleLink {
    fn capabilities(&self) -> Capabilities {
        self.can.clone()
    }

    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        const DOING: &str = "taking memory";
        let (Some(take), Some(give_back)) = (self.table.take, self.table.give_back) else { return asked.ordinary() };
        let own = self.own(DOING)?;
        let room = asked.room();
        let mut memory = null_mut();
        self.progress.begins(Call::Take, room.reserve, Duration::ZERO);
        // SAFETY: the link is the module's own, and what is written to lives until the call returns.
        let came = unsafe { take(own, room.reserve, room.align, room.offset, &raw mut memory, self.failure.room()) };
        self.check(came, DOING)?;
        let at = NonNull::new(memory.cast::<u8>()).ok_or_else(|| fault(DOING, "it gives no memory, and no error"))?;
        if at.as_ptr().addr().wrapping_sub(room.offset) % room.align != 0 {
            // SAFETY: it was taken from this link just now.
            unsafe { give_back(own, memory, room.reserve) };
            return Err(fault(DOING, "its memory does not lie as it was asked for"));
        }
        let (held, len) = (self.held.clone(), room.reserve);
        let release = move |at: *mut u8| {
            if let Some(held) = &held {
                let _within = Within::of(Call::GiveBack, Duration::ZERO);
                // SAFETY: the link is there as long as it is held; this is done once.
                unsafe { give_back(held.own.as_ptr(), at.cast(), len) };
            }
        };
        // SAFETY: the module gives `reserve` bytes that are this link's until they are given back.
        Ok(unsafe { Buffer::lent(at, len, Box::new(release)) })
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        const DOING: &str = "sending";
        if self.casts() {
            return self.cast(message).map(drop);
        }
        let (own, Some(send)) = (self.own(DOING)?, self.table.send) else { return Err(MISSING) };
        self.progress.begins(Call::Send, message.len(), Duration::ZERO);
        // SAFETY: the link is the module's own; it reads no more than `len` bytes.
        let came = unsafe { send(own, message.as_ptr().cast(), message.len(), self.failure.room()) };
        self.check(came, DOING)
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        const DOING: &str = "receiving";
        if self.casts() {
            return self.deliver(message).map(drop);
        }
        let (own, Some(recv)) = (self.own(DOING)?, self.table.recv) else { return Err(MISSING) };
        self.progress.begins(Call::Receive, message.len(), Duration::ZERO);
        // SAFETY: as for sending; it writes no more than `len` bytes.
        let came = unsafe { recv(own, message.as_mut_ptr().cast(), message.len(), self.failure.room()) };
        self.check(came, DOING)
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        const DOING: &str = "exchanging messages";
        let (own, Some(exchange)) = (self.own(DOING)?, self.table.exchange) else {
            return Err(LinkError::Unsupported("send both ways at once"));
        };
        let (from, to) = (out.as_ptr().cast(), into.as_mut_ptr().cast());
        self.progress.begins(Call::Exchange, out.len().saturating_add(into.len()), Duration::ZERO);
        // SAFETY: as for sending and receiving.
        let came = unsafe { exchange(own, from, out.len(), to, into.len(), self.failure.room()) };
        self.check(came, DOING)
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        const DOING: &str = "receiving";
        let (own, Some(ready)) = (self.own(DOING)?, self.table.ready) else {
            return Err(LinkError::Unsupported("wait with a deadline"));
        };
        let mut is: c_int = 0;
        self.progress.begins(Call::Ready, 0, wait);
        // SAFETY: the link is the module's own, and `is` lives until the call returns.
        let came = unsafe { ready(own, wait.as_secs_f64(), &raw mut is, self.failure.room()) };
        self.check(came, DOING).map(|()| is != 0)
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        const DOING: &str = "sending";
        let (own, Some(flush)) = (self.own(DOING)?, self.table.flush) else { return Ok(()) };
        self.progress.begins(Call::Flush, 0, Duration::ZERO);
        // SAFETY: the link is the module's own.
        let came = unsafe { flush(own, self.failure.room()) };
        self.check(came, DOING)
    }

    fn close(&mut self) -> Result<(), LinkError> {
        self.at = null_mut();
        self.seat.take().into_iter().for_each(Seat::leave);
        self.held = None;
        Ok(())
    }

    fn effective(&self) -> Effective {
        if self.at.is_null() {
            return Effective::default();
        }
        let effective = self.table.effective;
        let mut failure = Failure::new();
        let mut told = |option: &OptionSpec| {
            let (effective, name) = (effective?, CString::new(option.name).ok()?);
            let mut room = [0u8; EFFECTIVE + 1];
            let _within = Within::of(Call::Effective, Duration::ZERO);
            // SAFETY: the link is the module's own; it writes no more than the room that it is told of.
            let came =
                unsafe { effective(self.at, name.as_ptr(), room.as_mut_ptr().cast(), EFFECTIVE, failure.room()) };
            let len = room.iter().position(|b| *b == 0).filter(|len| came == abi::code::OK && *len > 0)?;
            let text = units::received::line(&String::from_utf8_lossy(&room[..len]), EFFECTIVE);
            Some((option.name.to_owned(), text))
        };
        let mut options: BTreeMap<_, _> = self.options.iter().filter_map(&mut told).collect();
        // Two versions of a module are two paths: a comparison has to tell it.
        options.entry("module".to_owned()).or_insert_with(|| units::received::clean(self.version, EFFECTIVE));
        Effective { options, ..Effective::default() }
    }

    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        (self.can.one_sided && self.one_sided.is_some()).then_some(self as &mut dyn OneSided)
    }

    fn queued(&mut self) -> Option<&mut dyn Queued> {
        (self.can.queued && self.queued.is_some()).then_some(self as &mut dyn Queued)
    }

    fn group(&mut self) -> Option<&mut dyn Group> {
        self.casts().then_some(self as &mut dyn Group)
    }

    fn collective(&mut self) -> Option<&mut dyn Collective> {
        (self.can.collective && self.seat.is_some()).then_some(self as &mut dyn Collective)
    }
}

/// A table that was looked through when it was loaded has it.
const MISSING: LinkError = LinkError::Unsupported("do this: its table lacks the function");

/// What a call of an optional table is to whoever watches.
macro_rules! called {
    (one_sided) => {
        $crate::module::calls::Call::OneSided
    };
    (queued) => {
        $crate::module::calls::Call::Queued
    };
    (collective) => {
        $crate::module::calls::Call::Collective
    };
    (group) => {
        $crate::module::calls::Call::Group
    };
}

/// Calls a function of an optional table, which is to move so many bytes and may wait so long.
macro_rules! through {
    ($self:ident, $table:ident . $function:ident, $doing:literal, $bytes:expr, $wait:expr, ($($arg:expr),*)) => {{
        let own = $self.own($doing)?;
        let Some(function) = $self.$table.and_then(|table| table.$function) else { return Err(MISSING) };
        $self.progress.begins(called!($table), $bytes, $wait);
        // SAFETY: the link is the module's own; memory that is handed over lives until the call returns, and its length is told.
        let came = unsafe { function(own, $($arg,)* $self.failure.room()) };
        $self.check(came, $doing)
    }};
}

mod collective;
mod group;
mod seat;

pub(super) use self::seat::{Seat, shown};

/// Whether what is put or got lies within what is exposed.
#[inline]
fn within(offset: usize, len: usize, exposed: usize) -> Result<(), LinkError> {
    match offset.checked_add(len).is_some_and(|end| end <= exposed) {
        true => Ok(()),
        false => Err(LinkError::Outside { offset, len, exposed }),
    }
}

impl OneSided for ModuleLink {
    fn reserve(&mut self, len: usize) -> Result<(), LinkError> {
        through!(self, one_sided.reserve, "reserving memory to expose", len, Duration::ZERO, (len))?;
        self.exposed = self.exposed.max(len);
        Ok(())
    }
    fn expose(&mut self, len: usize) -> Result<(), LinkError> {
        through!(self, one_sided.expose, "exposing memory", len, Duration::ZERO, (len))?;
        self.exposed = self.exposed.max(len);
        Ok(())
    }
    fn fill(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        within(at, from.len(), self.exposed)?;
        through!(
            self,
            one_sided.fill,
            "filling exposed memory",
            from.len(),
            Duration::ZERO,
            (at, from.as_ptr().cast(), from.len())
        )
    }
    fn read(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        within(at, into.len(), self.exposed)?;
        through!(
            self,
            one_sided.read,
            "reading exposed memory",
            into.len(),
            Duration::ZERO,
            (at, into.as_mut_ptr().cast(), into.len())
        )
    }
    fn withdraw(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let mut left: c_int = 0;
        through!(self, one_sided.withdraw, "withdrawing memory", 0, wait, (wait.as_secs_f64(), &raw mut left))?;
        Ok(left != 0)
    }
    fn reach(&mut self, len: usize) -> Result<(), LinkError> {
        through!(self, one_sided.reach, "reaching exposed memory", len, Duration::ZERO, (len))?;
        self.reached = len;
        Ok(())
    }
    fn put(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        within(at, from.len(), self.reached)?;
        through!(self, one_sided.put, "putting", from.len(), Duration::ZERO, (at, from.as_ptr().cast(), from.len()))
    }
    fn get(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        within(at, into.len(), self.reached)?;
        through!(self, one_sided.get, "getting", into.len(), Duration::ZERO, (at, into.as_mut_ptr().cast(), into.len()))
    }
    fn fence(&mut self) -> Result<(), LinkError> {
        through!(self, one_sided.fence, "waiting for what was put", 0, Duration::ZERO, ())
    }
    fn leave(&mut self) -> Result<(), LinkError> {
        through!(self, one_sided.leave, "leaving exposed memory", 0, Duration::ZERO, ())
    }
}

impl Queued for ModuleLink {
    fn post(&mut self, message: &[u8]) -> Result<(), LinkError> {
        through!(self, queued.post, "posting", message.len(), Duration::ZERO, (message.as_ptr().cast(), message.len()))
    }
    fn posted(&self) -> u64 {
        match (self.at.is_null(), self.queued.and_then(|table| table.posted)) {
            // SAFETY: the link is the module's own.
            (false, Some(posted)) => unsafe { posted(self.at) },
            _ => 0,
        }
    }
    fn poll(&mut self, until: u64, wait: Duration) -> Result<u64, LinkError> {
        let mut done = 0;
        through!(self, queued.poll, "posting", 0, wait, (until, wait.as_secs_f64(), &raw mut done))?;
        Ok(done)
    }
    fn copied(&self) -> Option<(u64, u64)> {
        None
    }
}

impl Drop for ModuleLink {
    fn drop(&mut self) {
        // It can't fail.
        let _ = self.close();
    }
}
