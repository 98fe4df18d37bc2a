//! A member: its layers, the queue of events between them, their timers, and its edges to application and network.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::{Delivery, Down, Input, Output, Up};
use crate::layer::{Cx, Event, Layer};
use crate::layers;
use crate::message::Msg;
use crate::rng::Rng;
use crate::stack::{Kind, Spec, Unsound, check};
use crate::time::Time;
use crate::view::{View, ViewId};

/// One member of a group.
pub struct Member {
    me: Endpoint,
    config: Config,
    layers: Vec<Box<dyn Layer>>,
    queue: VecDeque<(u16, Event)>,
    timers: BTreeMap<(u16, u32), Time>,
    told: Option<Time>,
    out: VecDeque<Output>,
    rng: Rng,
    unstable: usize,
    view: Option<Arc<View>>,
    /// What the application cast or sent while the view was ending.
    waiting: VecDeque<(Option<Endpoint>, Bytes)>,
    waiting_bytes: usize,
    blocked: bool,
    gone: bool,
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
    /// This member has left.
    #[error("this member has left the group: join anew")]
    Gone,
}

impl Member {
    /// A member of this stack. It does nothing before [`Member::start`].
    ///
    /// # Errors
    /// [`Unbuilt`] says what to change.
    pub fn new(spec: &Spec, config: Config, me: Endpoint, seed: u64) -> Result<Self, Unbuilt> {
        check(spec)?;
        if !spec.layers.contains(&Kind::Mbrship) && !config.fixed.contains(&me.addr) {
            return Err(Unbuilt::Fixed);
        }
        let layers = layers::build(spec, &config)?;
        Ok(Self {
            me,
            config,
            layers,
            queue: VecDeque::new(),
            timers: BTreeMap::new(),
            told: None,
            out: VecDeque::new(),
            rng: Rng::new(seed),
            unstable: 0,
            view: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            blocked: false,
            gone: false,
        })
    }

    /// Begins: a view of this member alone where there is MBRSHIP, else the fixed view.
    pub fn start(&mut self, now: Time) {
        let members = if self.config.fixed.is_empty() {
            vec![self.me]
        } else {
            self.config.fixed.iter().map(|&addr| Endpoint { addr, born: 0 }).collect()
        };
        let leader = members[0];
        self.queue
            .push_back((0, Event::Down(Down::View(Arc::new(View { id: ViewId { number: 1, leader }, members })))));
        self.run(now);
        self.tell_timer();
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.me
    }

    /// The view that the application was told last.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.view.as_ref()
    }

    /// Whether it has left.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Bytes of the application's messages that wait here or that not all members have.
    pub fn backlog(&self) -> usize {
        self.waiting_bytes + self.layers.iter().map(|l| l.backlog()).sum::<usize>()
    }

    /// Messages that any layer holds; zero in a group that has nothing to do.
    pub fn held(&self) -> usize {
        self.waiting.len() + self.layers.iter().map(|l| l.held()).sum::<usize>()
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
        if self.gone {
            return Err(Refused::Gone);
        }
        if len > self.config.message {
            return Err(Refused::Large { len, most: self.config.message });
        }
        let backlog = self.backlog();
        if backlog > self.config.backlog {
            return Err(Refused::WouldBlock { backlog });
        }
        Ok(())
    }

    /// Something happens. Runs all layers to completion; [`Member::next`] has what is to be done then.
    pub fn handle(&mut self, now: Time, input: Input) {
        if self.gone {
            return;
        }
        let bottom = self.layers.len() as u16 - 1;
        match input {
            Input::Datagram(from, bytes) => {
                let packet = Up::Packet(Endpoint { addr: from, born: 0 }, Msg::new(bytes));
                self.queue.push_back((bottom, Event::Up(packet)));
            }
            Input::Cast(body) if self.blocked => self.wait(None, body),
            Input::Send(to, body) if self.blocked => self.wait(Some(to), body),
            Input::Cast(body) => self.queue.push_back((0, Event::Down(Down::Cast(Msg::new(body))))),
            Input::Send(to, body) => self.send(to, body),
            Input::Timer => return self.timers_due(now),
            Input::Idle => {
                for at in 0..self.layers.len() as u16 {
                    self.with(at, now, |layer, cx| layer.idle(cx));
                    self.run(now);
                }
            }
            Input::Suspect(who) => self.queue.push_back((0, Event::Down(Down::Suspect(who)))),
            Input::Merge(addr) => self.queue.push_back((0, Event::Down(Down::Merge(addr)))),
            Input::Leave => self.queue.push_back((0, Event::Down(Down::Leave))),
            Input::Ack(who, upto) => {
                if let Some(rank) = self.view.as_ref().and_then(|v| v.rank(&who)) {
                    self.queue.push_back((0, Event::Down(Down::Ack(rank, upto))));
                }
            }
        }
        self.run(now);
        self.tell_timer();
    }

    /// What is to be done next, in order.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When [`Input::Timer`] is due.
    pub fn deadline(&self) -> Option<Time> {
        self.timers.values().min().copied()
    }

    fn wait(&mut self, to: Option<Endpoint>, body: Bytes) {
        self.waiting_bytes += body.len();
        self.waiting.push_back((to, body));
    }

    /// To who is no longer in the view nothing can be sent: the message is dropped, as one to a member that crashes is.
    fn send(&mut self, to: Endpoint, body: Bytes) {
        if let Some(rank) = self.view.as_ref().and_then(|v| v.rank(&to)) {
            self.queue.push_back((0, Event::Down(Down::Send(rank, Msg::new(body)))));
        }
    }

    fn timers_due(&mut self, now: Time) {
        while let Some((&(at, token), _)) = self.timers.iter().find(|(_, when)| **when <= now) {
            self.timers.remove(&(at, token));
            self.with(at, now, |layer, cx| layer.timer(token, cx));
            self.run(now);
            if self.gone {
                break;
            }
        }
        self.tell_timer();
    }

    fn with(&mut self, at: u16, now: Time, call: impl FnOnce(&mut dyn Layer, &mut Cx)) {
        let mut cx = Cx {
            now,
            me: self.me,
            config: &self.config,
            rng: &mut self.rng,
            unstable: &mut self.unstable,
            at,
            queue: &mut self.queue,
            timers: &mut self.timers,
            out: &mut self.out,
        };
        call(&mut *self.layers[usize::from(at)], &mut cx);
    }

    fn run(&mut self, now: Time) {
        while let Some((at, event)) = self.queue.pop_front() {
            if usize::from(at) < self.layers.len() {
                self.with(at, now, |layer, cx| match event {
                    Event::Down(down) => layer.down(down, cx),
                    Event::Up(up) => layer.up(up, cx),
                });
            } else if let Event::Up(up) = event {
                self.top(up);
            }
        }
    }

    /// What comes out above the highest layer.
    fn top(&mut self, up: Up) {
        match up {
            Up::Cast(cast) => {
                let from = self.member(cast.from);
                let (transitional, number) = (cast.transitional, cast.number);
                let body = cast.msg.joined();
                self.out.push_back(Output::Deliver(Delivery { from, cast: true, transitional, number, body }));
            }
            Up::Send(from, msg) => {
                let from = self.member(from);
                let body = msg.joined();
                self.out.push_back(Output::Deliver(Delivery {
                    from,
                    cast: false,
                    transitional: false,
                    number: 0,
                    body,
                }));
            }
            Up::View(view) => {
                self.view = Some(view.clone());
                self.out.push_back(Output::View(view));
                self.blocked = false;
                self.waiting_bytes = 0;
                for (to, body) in std::mem::take(&mut self.waiting) {
                    match to {
                        None => self.queue.push_back((0, Event::Down(Down::Cast(Msg::new(body))))),
                        Some(to) => self.send(to, body),
                    }
                }
            }
            Up::Block => {
                self.blocked = true;
                self.queue.push_back((0, Event::Down(Down::BlockOk)));
            }
            Up::Stable(counts) => self.out.push_back(Output::Stable(counts)),
            Up::Exit => {
                self.gone = true;
                self.timers.clear();
                self.out.push_back(Output::Exit);
            }
            Up::Raw(..) | Up::Packet(..) | Up::Frozen(_) | Up::CutReached | Up::Problem(_) => {}
        }
    }

    /// Layers name ranks of the view that the application was told last: views and casts come up in order.
    fn member(&self, rank: u16) -> Endpoint {
        self.view.as_ref().and_then(|v| v.members.get(usize::from(rank))).copied().unwrap_or(self.me)
    }

    fn tell_timer(&mut self) {
        let due = self.deadline();
        if due != self.told {
            self.told = due;
            if let Some(at) = due {
                self.out.push_back(Output::SetTimer(at));
            }
        }
    }
}
