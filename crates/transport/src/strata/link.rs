//! [`Strata`]: one member of a group.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::strata::Refused;
use ::strata::net::{Failed, Group as Joined};
use bytes::Bytes;

use super::MOST;
use super::keeper::{Keeper, Shared};
use super::member::{Cast, Member};
use crate::patience::LOOK;
use crate::settings::Effective;
use crate::sys::{RECEIVING, SENDING};
use crate::{Capabilities, Delivered, Group, Link, LinkError, Order, Patience, VisitGroup, Wait};

/// Turns of a spinning wait between two looks at the patience.
const TURNS: u32 = 256;
/// Casts between two looks at what came. Of those that are packed there are more: a look sends the pack as it is.
const BETWEEN: u32 = 16;
const PACKED: u32 = 256;
/// Messages up to this size are copied anew for each attempt to cast them: a second owner of a copy costs more.
const COPIED: usize = 4096;
/// How long a member that ends waits for the others to let it go.
pub(super) const LEAVING: Duration = Duration::from_millis(100);

/// An error of the library as one of a link.
pub(super) fn failed(e: Failed) -> LinkError {
    match e {
        Failed::Io { what, source } => LinkError::io(what, source),
        e => LinkError::io("joining the group", std::io::Error::other(e.to_string())),
    }
}

/// One member of a group over a stack of layers.
pub struct Strata {
    shared: Arc<Shared>,
    _keeper: Keeper,
    members: u32,
    rank: u32,
    order: Order,
    can: Capabilities,
    /// The number of the last cast.
    casts: u32,
    /// Casts that came and that this side has taken out of what it shares with the keeper, all that there were at once: a lock for each would cost more
    /// than the rest.
    taken: VecDeque<Cast>,
    effective: Effective,
    wait: Wait,
    patience: Patience,
    closed: bool,
}

impl Strata {
    pub(super) fn new(
        member: Member,
        order: Order,
        can: Capabilities,
        effective: Effective,
        wait: Wait,
        patience: Patience,
    ) -> Result<Self, LinkError> {
        let (members, rank) = (member.members.len() as u32, member.rank);
        let (shared, keeper) = Keeper::start(member)?;
        Ok(Self {
            shared,
            _keeper: keeper,
            members,
            rank,
            order,
            can,
            casts: 0,
            taken: VecDeque::new(),
            effective,
            wait,
            patience,
            closed: false,
        })
    }

    fn open(&self, doing: &'static str) -> Result<MutexGuard<'_, Member>, LinkError> {
        if self.closed {
            self.lock().lost()?;
            return Err(LinkError::Closed { doing });
        }
        self.shared.used.fetch_add(1, Ordering::Relaxed);
        Ok(self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Member> {
        self.shared.member.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes events until `done` finds what it wants.
    #[inline]
    fn until<T>(
        &self,
        doing: &'static str,
        mut done: impl FnMut(&mut Member) -> Result<Option<T>, LinkError>,
    ) -> Result<T, LinkError> {
        let mut member = self.open(doing)?;
        let (mut since, mut turns) = (None, 0u32);
        let wait = if self.wait == Wait::Spin { Duration::ZERO } else { LOOK };
        loop {
            if let Some(done) = done(&mut member)? {
                return Ok(done);
            }
            turns = turns.wrapping_add(1);
            let came = member.step(wait)?;
            if came {
                since = None;
            } else if wait > Duration::ZERO || turns % TURNS == 0 {
                let now = Instant::now();
                self.patience.check(*since.get_or_insert_with(|| now.checked_sub(wait).unwrap_or(now)), doing)?;
            }
        }
    }

    #[inline]
    fn cast_as(&mut self, message: &[u8], leaves: bool) -> Result<u32, LinkError> {
        self.put(message, leaves, |group, body| group.try_cast(body))?;
        self.casts = self.casts.wrapping_add(1);
        if self.casts.is_multiple_of(if leaves { BETWEEN } else { PACKED }) {
            // Who only casts has to hear, too, of what is missed and of who is gone.
            self.open(SENDING)?.step(Duration::ZERO)?;
        }
        Ok(self.casts)
    }

    fn put(
        &self,
        message: &[u8],
        leaves: bool,
        how: impl Fn(&mut Joined, Bytes) -> Result<(), Refused>,
    ) -> Result<(), LinkError> {
        if message.len() as u64 > MOST {
            return Err(LinkError::TooLarge { asked: message.len() as u64, most: MOST });
        }
        let kept = (message.len() > COPIED).then(|| Bytes::copy_from_slice(message));
        let body = || kept.clone().unwrap_or_else(|| Bytes::copy_from_slice(message));
        self.until(SENDING, |member| match how(&mut member.group, body()) {
            Ok(()) => {
                if leaves {
                    member.group.flush();
                }
                Ok(Some(()))
            }
            Err(Refused::WouldBlock { .. }) => Ok(None),
            Err(Refused::Gone) => Err(LinkError::Closed { doing: SENDING }),
            Err(Refused::Large { len, most }) => Err(LinkError::TooLarge { asked: len as u64, most: most as u64 }),
        })
    }
}

/// Copies a message whose length is known.
fn copied(body: &Bytes, message: &mut [u8]) -> Result<(), LinkError> {
    if body.len() != message.len() {
        let why = format!("a message of {} bytes came where one of {} is due", body.len(), message.len());
        return Err(LinkError::Protocol(why));
    }
    message.copy_from_slice(body);
    Ok(())
}

impl Group for Strata {
    fn members(&self) -> u32 {
        self.members
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    #[inline]
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.cast_as(message, true)
    }

    #[inline]
    fn queue(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.cast_as(message, false)
    }

    fn order(&self) -> Order {
        self.order
    }

    fn hears_itself(&mut self, asked: bool) -> bool {
        self.lock().own = asked;
        asked
    }

    #[inline]
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError> {
        loop {
            if !self.closed
                && let Some((delivered, body)) = self.taken.pop_front()
            {
                return copied(&body, message).map(|()| delivered);
            }
            let mut taken = std::mem::take(&mut self.taken);
            self.until(RECEIVING, |member| Ok(member.hand_over(&mut taken).then_some(())))?;
            self.taken = taken;
        }
    }

    fn answer(&mut self, to: u32, message: &[u8]) -> Result<(), LinkError> {
        let unknown = LinkError::Unsupported("answer a member that is none, or itself");
        let endpoint = self.open(SENDING)?.members.get(to as usize).copied();
        let Some(endpoint) = endpoint.filter(|_| to != self.rank) else { return Err(unknown) };
        self.put(message, true, |group, body| group.try_send(endpoint, body))
    }

    #[inline]
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        let (from, body) = self.until(RECEIVING, |member| Ok(member.next_answer()))?;
        copied(&body, message).map(|()| from)
    }
}

impl Link for Strata {
    fn capabilities(&self) -> Capabilities {
        self.can.clone()
    }

    fn effective(&self) -> Effective {
        self.effective.clone()
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        self.open(SENDING)?.group.flush();
        Ok(())
    }

    fn group(&mut self) -> Option<&mut dyn Group> {
        Some(self)
    }

    fn visit_group<V: VisitGroup>(&mut self, visitor: V) -> Option<V::Out> {
        Some(visitor.visit(self))
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.cast(message).map(drop)
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.deliver(message).map(drop)
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        // A cast that must wait takes in what comes meanwhile.
        self.send(out)?;
        self.recv(into)
    }

    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let start = Instant::now();
        let mut member = self.open(RECEIVING)?;
        if !self.taken.is_empty() {
            return Ok(true);
        }
        loop {
            if member.has_cast() {
                return Ok(true);
            }
            if self.patience.stopped() {
                return Err(LinkError::Interrupted);
            }
            let left = wait.saturating_sub(start.elapsed());
            let came = member.step(if self.wait == Wait::Spin { Duration::ZERO } else { left.min(LOOK) })?;
            if !came && left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// Leaves: the others are told once they have all that it cast, for which the keeper cares. What is lost so is told where the link is closed or used again.
    fn close(&mut self) -> Result<(), LinkError> {
        if !std::mem::replace(&mut self.closed, true) {
            self.lock().leave(Duration::ZERO);
        }
        self.lock().lost()
    }
}

impl Drop for Strata {
    fn drop(&mut self) {
        self.lock().leave(LEAVING);
    }
}
