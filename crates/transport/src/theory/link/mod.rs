//! [`TheoryLink`]: the Link port over the modelled path.

mod group;
mod queued;
mod region;

use std::time::Duration;

use self::group::Members;
use self::queued::Posts;
use self::region::Exposed;
use super::answers::{Answer, Answers};
use super::dice::Dice;
use super::far::{Far, FarView, Reaction};
use super::model::Line;
use super::{FarRole, Theory};
use crate::clock::{Clock, Virtual};
use crate::{
    Asked, Buffer, Capabilities, Group, Link, LinkError, OneSided, Queued, Semantics, VisitGroup, VisitOneSided,
    VisitQueued, Wait,
};

/// Virtual nanoseconds that a look costs ([`Link::ready`] with no wait): a loop that only looks must come to an end.
const LOOK_COST: f64 = 50.0;

/// The modelled path's page, bytes.
const PAGE: usize = 4096;

/// What a theoretical link can do.
pub(super) fn capabilities(theory: &Theory) -> Capabilities {
    Capabilities {
        semantics: Semantics::Message,
        reliable: theory.loss <= 0.0,
        two_ended: false,
        connects: true,
        virtual_time: true,
        one_sided: true,
        queued: true,
        group: theory.members.is_some(),
        waits: vec![Wait::Block],
        ..Capabilities::plain()
    }
}

/// The near end of a modelled path, both ends in one process, on a virtual clock.
///
/// A send moves the clock by the time for which the message occupies the line; a receive moves it to the arrival of the
/// next message from the far side. A ping-pong therefore takes exactly twice [`Theory::one_way_time`], each way times its
/// noise, and a stream runs at [`Theory::stream_rate`]. The clock shows whole nanoseconds; inside, time is kept finer,
/// so many round trips add up without error.
///
/// Nothing is allocated and nothing copied for a message, unless [`TheoryLink::keep_contents`] asks for it: then an
/// echoed or mirrored message comes back as it was sent, and an answer is zeros. Without it a receive leaves its memory
/// as it was.
///
/// A lost message's answer never comes: the receive that waits for it returns [`LinkError::Lost`] after the loss timeout
/// of virtual time. A receive that nothing could ever satisfy is [`LinkError::Stalled`] after the same time.
#[derive(Debug)]
pub struct TheoryLink {
    /// The path as it was asked for, and as the messages' memory makes it.
    asked: Theory,
    pub(super) theory: Theory,
    clock: Virtual,
    /// Nanoseconds, finer than the clock.
    pub(super) now: f64,
    pub(super) out: Line,
    pub(super) back: Line,
    pub(super) dice: Dice,
    far: Far,
    loss_timeout: f64,
    answers: Answers,
    exposed: Exposed,
    posts: Posts,
    members: Members,
    open: bool,
}

impl TheoryLink {
    /// A path as `theory` says, connected as number 0, its clock at 0. A lost message is given up after `loss_timeout`
    /// seconds of virtual time. Parameters of unknown origin are checked as options first.
    pub fn new(theory: &Theory, loss_timeout: f64) -> Self {
        Self {
            asked: theory.clone(),
            theory: theory.with_messages_at_pages(true),
            clock: Virtual::default(),
            now: 0.0,
            out: Line::default(),
            back: Line::default(),
            dice: Dice::new(theory),
            far: Far::default(),
            loss_timeout: (loss_timeout * 1e9).max(0.0),
            answers: Answers::new(),
            exposed: Exposed::default(),
            posts: Posts::default(),
            members: Members::of(theory),
            open: true,
        }
    }

    /// The link's clock; clones share the time.
    pub fn clock(&self) -> Virtual {
        self.clock.clone()
    }

    /// Sets what the far side does from now on, forgets what is under way and starts a new view. Call it before each
    /// trial.
    pub fn set_role(&mut self, role: FarRole) {
        self.far.begin(role);
        self.members.begin(role);
        self.forget();
    }

    /// Leaves the next `messages` out of what the far side reports: a trial's warm-up. Call it after `set_role`.
    pub fn skip(&mut self, messages: u64) {
        self.far.skip(messages);
        self.members.skip(messages);
    }

    /// Makes a fresh connection; `round` alone, with the seed, decides the noise that it shares. The role stays; what
    /// was under way is gone. Takes no time.
    pub fn connect(&mut self, round: u64) {
        self.dice.connect(round);
        self.forget();
        self.open = true;
    }

    /// Loads the line to the far side with messages of so many flows, and the line back with as many of others, all of `size` bytes: each
    /// message waits for one of each flow that goes its way.
    pub fn load(&mut self, (there, back): (u32, u32), size: u64) {
        self.out.load(there, size);
        self.back.load(back, size);
    }

    /// Whether messages come back with contents (for `--check`), at the price of a copy each way.
    pub fn keep_contents(&mut self, keep: bool) {
        self.answers.keep_contents(keep);
        self.exposed.keep_contents(keep);
    }

    /// What the far side saw since [`TheoryLink::set_role`].
    pub fn far_report(&self) -> FarView {
        self.far.view()
    }

    /// What each other member of its group saw, in the order of their ranks; empty where it has none.
    pub fn member_reports(&self) -> Vec<FarView> {
        self.members.views()
    }

    /// Connect, request, response, close: one round trip of an empty packet, then `request` there and `response` back.
    /// The role must be `FarRole::Answer` with the response's size. A lost packet anywhere is `Lost` after the loss
    /// timeout.
    pub fn transaction(&mut self, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        self.usable("connecting")?;
        self.sync();
        let there = self.out.carry(&self.theory, &mut self.dice, self.now, 0);
        let back = self.back.carry(&self.theory, &mut self.dice, there.last, 0);
        self.arrives(there.lost || back.lost, back.last)?;
        self.send(request)?;
        self.recv(response)
    }

    fn forget(&mut self) {
        self.out.idle();
        self.back.idle();
        self.answers.clear();
        self.exposed.clear();
        self.posts = Posts::default();
        self.members.forget();
    }

    pub(super) fn usable(&self, doing: &'static str) -> Result<(), LinkError> {
        if self.open { Ok(()) } else { Err(LinkError::Closed { doing }) }
    }

    /// Takes up time that others let pass on the clock (an open loop's schedule).
    #[inline]
    pub(super) fn sync(&mut self) {
        let shown = self.clock.now();
        if shown > self.now.round() as u64 {
            self.now = shown as f64;
        }
    }

    #[inline]
    pub(super) fn move_to(&mut self, at: f64) {
        if at > self.now {
            self.now = at;
            self.clock.wait_until(at.round() as u64);
        }
    }

    /// Puts a message on its way: when its last byte will have left.
    #[inline]
    pub(super) fn carry(&mut self, message: &[u8]) -> Result<f64, LinkError> {
        self.usable("sending")?;
        self.sync();
        let bytes = message.len() as u64;
        let passage = self.out.carry(&self.theory, &mut self.dice, self.now, bytes);
        let reaction = self.far.arrive(&passage, bytes);
        self.react(reaction, message);
        Ok(passage.sent)
    }

    /// Waits for what arrives at `at`, or until it is given up.
    #[inline]
    pub(super) fn arrives(&mut self, lost: bool, at: f64) -> Result<(), LinkError> {
        self.move_to(if lost { self.now + self.loss_timeout } else { at });
        if lost { Err(LinkError::Lost) } else { Ok(()) }
    }

    #[inline]
    fn react(&mut self, reaction: Reaction, message: &[u8]) {
        match reaction {
            Reaction::None => {}
            Reaction::Missing => self.answers.miss(),
            Reaction::Send { at, bytes, echo } => {
                let back = self.back.carry(&self.theory, &mut self.dice, at, bytes);
                if back.lost {
                    self.answers.miss();
                } else {
                    self.answers.push(Answer { at: back.last, bytes, echo }, message);
                }
            }
        }
    }

    /// Nothing more will come: lost if something should have, stalled otherwise.
    pub(super) fn nothing_comes(&mut self) -> LinkError {
        self.move_to(self.now + self.loss_timeout);
        if self.answers.take_missing() {
            LinkError::Lost
        } else {
            LinkError::Stalled { doing: "receiving", waited: Duration::from_nanos(self.loss_timeout as u64) }
        }
    }
}

impl Link for TheoryLink {
    fn capabilities(&self) -> Capabilities {
        capabilities(&self.theory)
    }

    fn clock(&self) -> Option<Virtual> {
        Some(self.clock.clone())
    }

    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        Some(self)
    }

    fn visit_one_sided<V: VisitOneSided>(&mut self, visitor: V) -> Option<V::Out> {
        Some(visitor.visit(self))
    }

    /// Where the memory begins decides which dips there are ([`super::Mover::Align`]).
    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        let memory = asked.ordinary()?;
        let at_pages = (memory.as_ptr() as usize).is_multiple_of(PAGE);
        self.theory = self.asked.with_messages_at_pages(at_pages);
        self.out.known_no_more();
        self.back.known_no_more();
        Ok(memory)
    }

    fn group(&mut self) -> Option<&mut dyn Group> {
        self.theory.members.is_some().then_some(self as &mut dyn Group)
    }

    fn visit_group<V: VisitGroup>(&mut self, visitor: V) -> Option<V::Out> {
        self.theory.members.map(|_| visitor.visit(self))
    }

    fn queued(&mut self) -> Option<&mut dyn Queued> {
        Some(self)
    }

    fn visit_queued<V: VisitQueued>(&mut self, visitor: V) -> Option<V::Out> {
        Some(visitor.visit(self))
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let sent = self.carry(message)?;
        self.move_to(sent);
        Ok(())
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.usable("receiving")?;
        self.sync();
        let Some(answer) = self.answers.pop(message) else { return Err(self.nothing_comes()) };
        self.move_to(answer.at);
        let wanted = message.len() as u64;
        if answer.bytes == wanted {
            Ok(())
        } else {
            Err(LinkError::Protocol(format!("a message of {} bytes came where {wanted} were expected", answer.bytes)))
        }
    }

    /// Both directions at once: with `FarRole::Mirror` the far side's message leaves when this one does.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.send(out)?;
        self.recv(into)
    }

    /// A look takes 50 ns of virtual time, at most; otherwise a loop that only looks would never see time pass.
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.usable("receiving")?;
        self.sync();
        let until = self.now + (wait.as_nanos() as f64).max(LOOK_COST);
        match self.answers.next_at() {
            Some(at) if at <= until => {
                self.move_to(at);
                Ok(true)
            }
            _ => {
                self.move_to(until);
                Ok(false)
            }
        }
    }

    fn close(&mut self) -> Result<(), LinkError> {
        self.open = false;
        self.forget();
        Ok(())
    }
}
