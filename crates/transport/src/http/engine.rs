//! One end of a connection with all that is under way. No call here waits.

use std::time::Duration;

use super::far::Far;
use super::feed::Feeder;
use super::meaning::End;
use super::near::Near;
use super::plug::Plug;
use super::tasks::Tasks;
use crate::LinkError;
use crate::sys::{RECEIVING, SENDING};

/// Which end it is.
pub enum Side {
    Near(Near),
    Far(Far),
}

/// How far a call has come.
#[derive(Default)]
pub struct Call {
    /// A message may be held until it may go.
    holds: bool,
    released: bool,
    begun: bool,
    pub sent: bool,
    pub got: usize,
}

pub struct Engine {
    pub plug: Plug,
    pub tasks: Tasks,
    pub end: End,
    pub version: &'static str,
    side: Side,
    /// The last message that was sent.
    going: Option<Feeder>,
    closed: bool,
    shut: bool,
}

impl Call {
    /// One that sends `out`.
    pub fn of(out: &[u8], holds: bool) -> Self {
        Self { holds, sent: out.is_empty(), ..Self::default() }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("plug", &self.plug).field("end", &self.end).finish_non_exhaustive()
    }
}

impl Engine {
    pub fn new(plug: Plug, tasks: Tasks, end: End, version: &'static str, side: Side) -> Self {
        Self { plug, tasks, end, version, side, going: None, closed: false, shut: false }
    }

    /// Everything that can be done at once.
    pub fn turn(&mut self) {
        self.plug.wake();
        self.tasks.turn();
        match &mut self.side {
            Side::Near(near) => near.look(),
            Side::Far(far) => far.look(),
        }
        self.tasks.turn();
    }

    /// Takes a call as far as it goes: sends `out` and fills `into`. Whether anything moved.
    pub fn step(&mut self, out: &[u8], into: &mut [u8], call: &mut Call) -> Result<bool, LinkError> {
        if self.closed {
            return Err(LinkError::Closed { doing: if into.is_empty() { SENDING } else { RECEIVING } });
        }
        if let Side::Far(far) = &mut self.side
            && !into.is_empty()
            && !std::mem::replace(&mut call.released, true)
        {
            far.release();
        }
        let mut moved = false;
        if !call.sent {
            moved |= self.give(out, into.is_empty(), call)?;
        }
        if call.got < into.len() {
            let n = match &mut self.side {
                Side::Near(near) => near.take(into, &mut call.got, call.sent)?,
                Side::Far(far) => far.take(into, &mut call.got)?,
            };
            moved |= n > 0;
        }
        Ok(moved)
    }

    fn give(&mut self, out: &[u8], alone: bool, call: &mut Call) -> Result<bool, LinkError> {
        if !call.begun {
            let feeder = match &mut self.side {
                Side::Near(near) => near.begin(out.len(), alone)?,
                Side::Far(far) => far.begin(out.len())?,
            };
            let Some(feeder) = feeder else {
                call.sent = call.holds
                    && match &mut self.side {
                        Side::Near(near) => near.hold(out),
                        Side::Far(far) => far.hold(out),
                    };
                return Ok(call.sent);
            };
            self.going = Some(feeder);
            call.begun = true;
        }
        let Some(feeder) = &mut self.going else { return Ok(false) };
        let before = self.plug.left();
        let mut moved = false;
        while feeder.give(out) {
            moved = true;
            self.tasks.turn();
        }
        if feeder.over() {
            if !feeder.whole() {
                return Err(self.end.gone(SENDING));
            }
            call.sent = !self.plug.wants_room() || self.end.over();
        }
        Ok(moved || self.plug.left() > before)
    }

    /// Whether a receive would find something, be it the end.
    pub fn ready(&mut self) -> bool {
        self.closed
            || match &mut self.side {
                Side::Near(near) => near.ready(),
                Side::Far(far) => far.ready(),
            }
    }

    /// How long to wait at most before looking again.
    pub fn timer(&self, most: Duration) -> Duration {
        match &self.side {
            Side::Near(near) => near.timer(most),
            Side::Far(_) => most,
        }
    }

    /// Whether something was sent that did not leave.
    pub fn owes(&self) -> bool {
        let holds = match &self.side {
            Side::Near(near) => near.owes(),
            Side::Far(far) => far.owes(),
        };
        let going = self.going.as_ref().is_some_and(|feeder| !feeder.over());
        !self.shut && !self.end.over() && (holds || going || self.plug.wants_room())
    }

    /// Nothing more is sent or received by calls.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Ends the connection: the other side reads its end.
    pub fn shut(&mut self) -> Result<(), LinkError> {
        (self.closed, self.shut) = (true, true);
        self.tasks.end();
        crate::sys::shut(self.plug.fd())
    }
}
