//! A member: its layers, what they share, and its edges to application and network.

use std::sync::Arc;

use bytes::Bytes;

use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::{Down, Input, Output, Up};
use crate::layers::{self, fast::Fast};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::pile::{Call, Pile};
use crate::shared::{DRAINED, Event, LOOK, NO_LAYER, Shared};
use crate::stack::{Kind, Spec, Unsound, check};
use crate::stalls::{IN_VAIN, Stalls, Waits};
use crate::time::Time;
use crate::view::{View, ViewId};

/// One member of a group.
pub struct Member {
    layers: Box<dyn Pile>,
    shared: Shared,
    fast: Option<Fast>,
    told: Option<Time>,
    leaving: Leaving,
    stalls: Stalls,
    /// There is no MBRSHIP.
    fixed: bool,
}

/// How far this member is with leaving.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// What was cast goes out first.
    Drains,
    Leaves,
}

/// A stack that no member can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unbuilt {
    /// It is not well-formed.
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// SIGN or CRYPT without a key.
    #[error("{} needs a key: give one of 32 bytes", .0.name())]
    Key(Kind),
    /// No MBRSHIP and no list of members.
    #[error("a stack without MBRSHIP has a fixed view: list its members, this one included")]
    Fixed,
    /// The headers leave no room for data.
    #[error("datagrams of {datagram} bytes leave no room beside {headers} bytes of headers: allow at least {}", headers + 64)]
    Datagram {
        /// As set.
        datagram: usize,
        /// Of all layers.
        headers: usize,
    },
}

/// A message that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Too much is under way.
    #[error("the group is behind by {backlog} bytes of this member's messages: handle deliveries, then try again")]
    WouldBlock {
        /// Bytes.
        backlog: usize,
    },
    /// Larger than the group takes.
    #[error("a message of {len} bytes is larger than this group's {most}: send it in parts, or raise `message`")]
    Large {
        /// Bytes.
        len: usize,
        /// At most.
        most: usize,
    },
    /// This member has left, or is about to.
    #[error("this member has left the group, or is about to: join anew")]
    Gone,
}

impl Member {
    /// A member of this stack. It does nothing before [`Member::start`].
    ///
    /// # Errors
    /// [`Unbuilt`] says what to change.
    pub fn new(spec: &Spec, config: Config, me: Endpoint, seed: u64) -> Result<Self, Unbuilt> {
        check(spec)?;
        let fixed = !spec.layers.contains(&Kind::Mbrship);
        if fixed && !config.fixed.contains(&me.addr) {
            return Err(Unbuilt::Fixed);
        }
        let layers = layers::build(spec, &config)?;
        let fast = spec.layers.iter().position(|&k| k == Kind::Fast).map(|place| Fast::new(place as u16));
        let shared = Shared::new(config, me, seed);
        Ok(Self { layers, shared, fast, told: None, leaving: Leaving::No, stalls: Stalls::default(), fixed })
    }

    /// Begins: a view of this member alone where there is MBRSHIP, else the fixed view.
    pub fn start(&mut self, now: Time) {
        let members = if self.shared.config.fixed.is_empty() {
            vec![self.shared.me]
        } else {
            self.shared.config.fixed.iter().map(|&addr| Endpoint { addr, born: 0 }).collect()
        };
        let leader = members[0];
        let view = View { id: ViewId { number: 1, leader }, members };
        self.shared.now = now;
        self.enter(0, Event::Down(Down::View(Arc::new(view))));
        self.tell_timer();
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.shared.me
    }

    /// The view that the application was told last.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.shared.view.as_ref()
    }

    /// Whether it has left.
    pub fn is_gone(&self) -> bool {
        self.shared.gone
    }

    /// Own casts that this member was not given yet. After it has left the others may not have them either, nor all of those that it was given: [`Member::may_lack`].
    pub fn undelivered(&self) -> u64 {
        self.shared.undelivered
    }

    /// After it has left: own casts that others may lack, as the [`Output::Notice`] before [`Output::Exit`] says.
    pub fn may_lack(&self) -> u64 {
        self.shared.may_lack()
    }

    /// Bytes of the application's messages that wait here or that not all members have.
    pub fn backlog(&self) -> usize {
        self.shared.waiting_bytes + self.layers.backlog()
    }

    /// Messages that any layer holds; zero in a group that has nothing to do.
    pub fn held(&self) -> usize {
        self.shared.waiting.len() + self.layers.held()
    }

    /// Casts that FAST delivered without the whole way through the layers.
    pub fn foretold(&self) -> u64 {
        self.fast.as_ref().map_or(0, Fast::taken)
    }

    /// As [`Input::Cast`], unless the group is behind.
    ///
    /// # Errors
    /// [`Refused`]: nothing was taken.
    pub fn try_cast(&mut self, now: Time, body: Bytes) -> Result<(), Refused> {
        self.fits(body.len())?;
        self.handle(now, Input::Cast(body));
        Ok(())
    }

    /// As [`Input::Send`], unless the group is behind.
    ///
    /// # Errors
    /// [`Refused`]: nothing was taken.
    pub fn try_send(&mut self, now: Time, to: Endpoint, body: Bytes) -> Result<(), Refused> {
        self.fits(body.len())?;
        self.handle(now, Input::Send(to, body));
        Ok(())
    }

    fn fits(&self, len: usize) -> Result<(), Refused> {
        if self.shared.gone || self.leaving != Leaving::No {
            return Err(Refused::Gone);
        }
        if len > self.shared.config.message {
            return Err(Refused::Large { len, most: self.shared.config.message });
        }
        let backlog = self.backlog();
        if backlog > self.shared.config.backlog {
            return Err(Refused::WouldBlock { backlog });
        }
        Ok(())
    }

    /// Something happens. Runs all layers to completion; [`Member::next`] has what is to be done then.
    pub fn handle(&mut self, now: Time, input: Input) {
        if self.shared.gone {
            return;
        }
        self.shared.now = now;
        self.shared.to_all = matches!(input, Input::Multicast(..));
        if matches!(input, Input::Cast(_)) && self.leaving != Leaving::Leaves {
            self.shared.undelivered += 1;
        }
        // Nothing comes from others with these, so that what stays as it is for FAST stays.
        let keeps = matches!(input, Input::Cast(_) | Input::Idle);
        match input {
            Input::Datagram(from, bytes) | Input::Multicast(from, bytes)
                if self.fast.as_mut().is_some_and(|f| f.takes(from, &bytes, &mut *self.layers, &mut self.shared)) =>
            {
                self.run();
                self.leave_when_drained();
                return self.tell_timer();
            }
            Input::Datagram(from, bytes) | Input::Multicast(from, bytes) => {
                let packet = Up::Packet(Endpoint { addr: from, born: 0 }, Msg::new(bytes));
                self.enter(self.layers.len() - 1, Event::Up(packet));
            }
            Input::Cast(body) if self.shared.blocked => self.shared.wait(None, body),
            Input::Send(to, body) if self.shared.blocked => self.shared.wait(Some(to), body),
            Input::Cast(body) => self.enter(0, Event::Down(Down::Cast(Msg::new(body)))),
            Input::Send(to, body) => {
                self.shared.send(to, body);
                self.run();
            }
            Input::Timer => self.timers_due(),
            Input::Idle => {
                for at in 0..self.layers.len() {
                    self.layers.enter(at, Call::Idle, &mut self.shared);
                    self.run();
                }
            }
            Input::Renew => self.enter(0, Event::Down(Down::Renew)),
            Input::Suspect(who) => self.enter(0, Event::Down(Down::Suspect(who))),
            Input::Merge(addr) => self.enter(0, Event::Down(Down::Merge(addr))),
            Input::Leave if self.leaving == Leaving::No => {
                self.leaving = Leaving::Drains;
                self.shared.leaves = true;
                self.shared.timers.set(NO_LAYER, DRAINED, now + self.shared.config.drain);
                if self.shared.mutant(Mutant::LeavesUndrained) {
                    self.shared.undelivered = 0;
                    self.leave();
                }
            }
            Input::Leave => {}
            Input::Ack(view, who, upto) => {
                let view = self.shared.view.as_ref().filter(|v| v.id == view);
                if let Some(rank) = view.and_then(|v| v.rank(&who)) {
                    self.enter(0, Event::Down(Down::Ack(rank, upto)));
                }
            }
        }
        if !keeps && let Some(fast) = &mut self.fast {
            fast.forget(&self.shared);
        }
        self.leave_when_drained();
        self.tell_timer();
    }

    /// What is to be done next: first what the network is to do, in order, then what the application is told, in order.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Output> {
        self.for_network().or_else(|| self.for_application())
    }

    /// What the network or its clock is to do next.
    pub fn for_network(&mut self) -> Option<Output> {
        self.shared.out.pop_front()
    }

    /// What the application is told next.
    #[inline]
    pub fn for_application(&mut self) -> Option<Output> {
        self.shared.told.pop()
    }

    /// How much the application is to be told: zero where nothing is. Casts that FC packed count as one.
    pub fn untold(&self) -> usize {
        self.shared.told.len()
    }

    /// When [`Input::Timer`] is due.
    pub fn deadline(&self) -> Option<Time> {
        self.shared.timers.next()
    }

    fn timers_due(&mut self) {
        let now = self.shared.now;
        while let Some((at, token)) = self.shared.timers.due(now) {
            if at == NO_LAYER {
                if token == LOOK {
                    self.look()
                } else {
                    self.leave()
                }
                continue;
            }
            self.layers.enter(at, Call::Timer(token), &mut self.shared);
            self.run();
            if self.shared.gone {
                break;
            }
        }
    }

    /// Whether something waits in vain: tells of it, and asks for a new view.
    fn look(&mut self) {
        let Some(view) = self.shared.view.clone() else { return };
        self.shared.look_for_stalls(view.members.len() > 1);
        let now = self.shared.now;
        if self.shared.blocked {
            return self.stalls.ends(now);
        }
        let mut waits = Waits::default();
        self.layers.waits(&mut waits, &self.shared);
        let stall = self.shared.config.stall;
        let Some(stalled) = self.stalls.look(now, view.id, &waits, stall) else { return };
        if let (true, Some(from)) = (stalled.tell, view.members.get(usize::from(stalled.from))) {
            let then = if self.fixed {
                "there is no MBRSHIP that could begin a new view, so that all members must be started anew"
            } else {
                "a new view begins without what is missing"
            };
            self.shared.told.push(Output::Notice(format!(
                "{IN_VAIN} {stall:?}: {} {}. Datagrams that are forged, or sent again altered, do this: have CHKSUM, SIGN or CRYPT in the stack. So does a network that loses the same ones each time, as those larger than it carries: then lower `datagram`. Now {then}",
                from.addr, stalled.why
            )));
        }
        self.enter(0, Event::Down(Down::Renew));
    }

    /// Layers hold casts for credit or for a token, and what ends a view without this member would lose them.
    fn leave_when_drained(&mut self) {
        if self.leaving == Leaving::Drains && self.shared.undelivered == 0 && self.backlog() == 0 {
            self.leave();
        }
    }

    fn leave(&mut self) {
        self.leaving = Leaving::Leaves;
        self.shared.timers.cancel(NO_LAYER, DRAINED);
        if self.fixed {
            // No layer would let it go: the view is fixed.
            return self.shared.top(Up::Exit);
        }
        self.enter(0, Event::Down(Down::Leave));
    }

    fn enter(&mut self, at: u16, event: Event) {
        self.layers.enter(at, Call::Event(event), &mut self.shared);
        self.run();
    }

    /// What could not be handed on straight.
    fn run(&mut self) {
        while let Some((at, event)) = self.shared.queue.pop() {
            self.layers.enter(at, Call::Event(event), &mut self.shared);
        }
    }

    fn tell_timer(&mut self) {
        let due = self.deadline();
        if due != self.told {
            self.told = due;
            if let Some(at) = due {
                self.shared.out.push_back(Output::SetTimer(at));
            }
        }
    }
}

#[cfg(test)]
mod tests;
