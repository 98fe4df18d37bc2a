//! A layer, and what it may do while it handles an event.

use std::ops::{Deref, DerefMut};

use crate::event::{Cast, Down, Output, Up};
use crate::foretold::{Came, Foretold};
use crate::message::Msg;
use crate::shared::{Event, Shared};
use crate::stalls::Waits;
use crate::time::Time;

/// One protocol layer: a state machine without I/O or clock. Events between two layers arrive in the order they were sent, and a layer finishes one before it
/// gets the next.
pub trait Layer: Send {
    /// From above.
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>);
    /// From below.
    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>);
    /// A cast from above on which this layer only puts its header: does so, and the cast goes on without an event of its own. Where there is more to do nothing changes, and [`Layer::down`] has it.
    fn passes_down(&self, _msg: &mut Msg, _shared: &Shared) -> bool {
        false
    }
    /// A cast from below off which this layer only takes its header. As [`Layer::passes_down`]; else [`Layer::up`] has it.
    fn passes_up(&self, _cast: &mut Cast, _shared: &Shared) -> bool {
        false
    }
    /// The moment came that [`Cx::wake`] was asked for with this token. May come after the reason has gone.
    fn timer(&mut self, _token: u32, _cx: &mut Cx<impl Near>) {}
    /// No more input at this moment. Layers are asked from the top down, each after what those above it sent has arrived.
    fn idle(&mut self, _cx: &mut Cx<impl Near>) {}
    /// Adds how the header of the next cast of this rank will look, for FAST above. Where that can't be said now, or this layer would not pass the cast on as it is, it
    /// answers no. It says a header that stays ([`Foretold::stays`]) or one that moves on ([`Foretold::moves`]).
    fn foretell(&self, _from: u16, _to: &mut Foretold, _shared: &Shared) -> bool {
        false
    }
    /// A cast came as foretold, and was delivered: what follows from it for this layer, whose header moves on.
    fn took(&mut self, _came: &Came, _cx: &mut Cx<impl Near>) {}
    /// Bytes of the application's messages that this layer still holds for others: what back-pressure goes by.
    fn backlog(&self) -> usize {
        0
    }
    /// Messages that this layer holds for whatever reason; zero in a quiet group. For tests and `Member::held`.
    fn held(&self) -> usize {
        0
    }
    /// What this layer holds back until something else comes, where that comes soon or never: the member tells of what waits in vain, and a new view begins.
    fn waits(&self, _to: &mut Waits, _shared: &Shared) {}
}

/// A layer's neighbours, as far as they are free: whoever is in the middle of an event can't be entered. `pile` has the implementations.
pub trait Near {
    /// Whether the layer below can be entered.
    fn free_below(&self) -> bool;
    /// Whether the layer above can be entered.
    fn free_above(&self) -> bool;
    /// Enters the layer below, whose place is `at`.
    fn down(&mut self, event: Down, at: u16, shared: &mut Shared);
    /// Enters the layer above, whose place is `at`.
    fn up(&mut self, event: Up, at: u16, shared: &mut Shared);
}

/// The rest of the member, as a layer sees it.
pub struct Cx<'a, N> {
    pub(crate) shared: &'a mut Shared,
    pub(crate) at: u16,
    pub(crate) near: N,
}

impl<N: Near> Cx<'_, N> {
    /// To the layer below; what the lowest says goes out through [`Cx::output`]. It is called straight through, unless it is at work or has something to come from
    /// this layer: then this event waits behind that.
    #[inline]
    pub fn down(&mut self, event: Down) {
        let to = self.at + 1;
        if self.near.free_below() && self.shared.queue.none_down(to) {
            self.near.down(event, to, self.shared);
        } else {
            self.shared.queue.push(to, Event::Down(event));
        }
    }

    /// To the layer above, or from the top to the application. As [`Cx::down`].
    #[inline]
    pub fn up(&mut self, event: Up) {
        let Some(to) = self.at.checked_sub(1) else { return self.shared.top(event) };
        if self.near.free_above() && self.shared.queue.none_up(to) {
            self.near.up(event, to, self.shared);
        } else {
            self.shared.queue.push(to, Event::Up(event));
        }
    }

    /// Straight to the surroundings: COM's datagrams, TRACE's lines.
    pub fn output(&mut self, output: Output) {
        match output {
            Output::Transmit(..) | Output::SetTimer(_) | Output::Multicasts(..) => self.shared.out.push_back(output),
            other => self.shared.told.push(other),
        }
    }

    /// Call this layer's [`Layer::timer`] at that moment. One moment a token; the latest call counts.
    pub fn wake(&mut self, token: u32, at: Time) {
        self.shared.timers.set(self.at, token, at);
    }

    /// No call for this token.
    pub fn cancel(&mut self, token: u32) {
        self.shared.timers.cancel(self.at, token);
    }

    /// Whether a call for this token is to come.
    pub fn awaits(&self, token: u32) -> bool {
        self.shared.timers.awaits(self.at, token)
    }
}

impl<N> Deref for Cx<'_, N> {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        self.shared
    }
}

impl<N> DerefMut for Cx<'_, N> {
    fn deref_mut(&mut self) -> &mut Shared {
        self.shared
    }
}
