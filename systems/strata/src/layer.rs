//! A layer, and what it may do while it handles an event.

use std::collections::{BTreeMap, VecDeque};

use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::{Down, Output, Up};
use crate::rng::Rng;
use crate::time::Time;

/// One protocol layer: a state machine without I/O or clock. Events between two layers arrive in the order they were sent, and a layer finishes one before it
/// gets the next.
pub trait Layer: Send {
    /// From above.
    fn down(&mut self, event: Down, cx: &mut Cx);
    /// From below.
    fn up(&mut self, event: Up, cx: &mut Cx);
    /// The moment came that [`Cx::wake`] was asked for with this token. May come after the reason has gone.
    fn timer(&mut self, _token: u32, _cx: &mut Cx) {}
    /// No more input at this moment. Layers are asked from the top down, each after what those above it sent has arrived.
    fn idle(&mut self, _cx: &mut Cx) {}
    /// Bytes of the application's messages that this layer still holds for others: what back-pressure goes by.
    fn backlog(&self) -> usize {
        0
    }
    /// Messages that this layer holds for whatever reason; zero in a quiet group. For tests and `Member::held`.
    fn held(&self) -> usize {
        0
    }
}

pub(crate) enum Event {
    Down(Down),
    Up(Up),
}

/// The rest of the member, as a layer sees it.
pub struct Cx<'a> {
    /// The moment.
    pub now: Time,
    /// Who this is.
    pub me: Endpoint,
    /// Settings.
    pub config: &'a Config,
    /// The member's generator.
    pub rng: &'a mut Rng,
    /// Bytes of own casts in NAK's log, which not all members have yet.
    pub unstable: &'a mut usize,
    pub(crate) at: u16,
    pub(crate) queue: &'a mut VecDeque<(u16, Event)>,
    pub(crate) timers: &'a mut BTreeMap<(u16, u32), Time>,
    pub(crate) out: &'a mut VecDeque<Output>,
}

impl Cx<'_> {
    /// To the layer below; what the lowest says goes out through [`Cx::output`].
    pub fn down(&mut self, event: Down) {
        self.queue.push_back((self.at + 1, Event::Down(event)));
    }

    /// To the layer above, or from the top to the application.
    pub fn up(&mut self, event: Up) {
        self.queue.push_back((self.at.wrapping_sub(1), Event::Up(event)));
    }

    /// Straight to the surroundings: COM's datagrams, TRACE's lines.
    pub fn output(&mut self, output: Output) {
        self.out.push_back(output);
    }

    /// Call this layer's [`Layer::timer`] at that moment. One moment a token; the latest call counts.
    pub fn wake(&mut self, token: u32, at: Time) {
        self.timers.insert((self.at, token), at);
    }

    /// No call for this token.
    pub fn cancel(&mut self, token: u32) {
        self.timers.remove(&(self.at, token));
    }

    /// Whether a call for this token is to come.
    pub fn awaits(&self, token: u32) -> bool {
        self.timers.contains_key(&(self.at, token))
    }

    /// Whether this deliberate mistake is switched on. Always false outside of this crate's tests.
    #[inline]
    pub(crate) fn mutant(&self, which: crate::mutant::Mutant) -> bool {
        cfg!(test) && self.config.mutant == Some(which)
    }
}
