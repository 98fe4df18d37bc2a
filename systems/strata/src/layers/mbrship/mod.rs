//! MBRSHIP: who is in the group, with virtual synchrony.
//!
//! Protocol: the oldest member that is not suspected leads. Where members have failed, want to leave, or ask to come in, it makes an *attempt* at a view, whose name is higher
//! than any seen: FLUSH to all who take part; each blocks its layers above, freezes NAK and REPORTs how many casts of each stream of its own view it
//! delivered; when all have, each is told the CUT, the most that anyone of its view has; NAK gets what lacks from who has it; each says REACHED; when all have, INSTALL
//! tells them the view. Who does not answer in time is left out of the next attempt, which begins anew and has all that an abandoned one brought along, since
//! members report what they delivered.
//!
//! A member follows one attempt: the highest it was asked for (it *promises* not to go with lower ones). It takes a view only of the attempt that it follows and after it
//! reached that attempt's cut. So two members that move from one view to the same next one have delivered the same. Where a leader falls silent, the next oldest takes
//! over after a time that grows with its rank.
//!
//! Joining is merging: a member begins alone, and asks a leader to merge its view with theirs (as in Horus, where `join` makes a view of one, and views merge). The asked leader's
//! attempt has the members of both views; each flushes its own. Who asks during an attempt comes in with the next, so that many who ask at one moment do not make a view each. Views of both sides of a partition merge likewise, when MERGE finds them.
//! Who asked and then answered no FLUSH hears nothing, and each such attempt is a view change for nothing: from the second time in a row on it is not heard for a while, which doubles each time, from twice `flush` to 32 times.
//! Where something waits in vain in a view whose members live ([`Down::Renew`]), the leader makes an attempt with all of them: the next view begins without what is missing, and who can't reach the cut is left out, since it lacks what
//! others delivered and nobody has any more. A leader that alone can't reach it twice in a row lets the others go on without itself.
//! Membership is partitionable: each side goes on with a view of its own. What only a majority may do, the application decides by the view's size.
//!
//! Header: none on casts: NAK's tag says the view. Control messages (`wire`) go at best effort and are repeated; each begins with how many datagrams its sender has multicast (8 bytes), so that
//! a member to which none of them come can tell; one that is suspected is told so, too. Timers: RETRY, DEADLINE, EXIT. Requires P3, P4, P10, P11, P12; provides P8,
//! P9, P15. Failure detection is NAK's silence, and whoever says [`Down::Suspect`].

mod attempt;
#[cfg(test)]
mod forged;
mod lead;
mod merging;
mod wire;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::addr::{Addr, Endpoint};
use crate::event::{Cast, Down, Output, Up};
use crate::foretold::Foretold;
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stack::Kind;
use crate::time::Time;
use crate::view::{View, ViewId};

use lead::Lead;
use wire::Control;

/// Former members that are kept.
const FORMER: usize = 1024;
const RETRY: u32 = 0;
const DEADLINE: u32 = 1;
const EXIT: u32 = 2;
/// For how long who asked to come in is taken to wait, in times `retry`, after which it asks again.
const JOINS: u32 = 2;
/// How far a view's number may lie beyond the highest that this member has seen. One that lies further is ignored: no group comes to it, and whoever went on from the highest number there is could be understood by nobody.
const AHEAD: u64 = 1 << 32;

/// The attempt that this member follows.
struct Follow {
    attempt: ViewId,
    listen: Vec<bool>,
    step: Step,
}

/// How far it is.
enum Step {
    /// The layers above are told to stop.
    Blocking,
    /// NAK is frozen, and the report went out.
    Reported(Vec<u64>),
    /// What lacks is on its way.
    Cutting,
    /// All was delivered.
    Reached,
}

#[derive(Default)]
pub(super) struct Mbrship {
    view: Option<Arc<View>>,
    /// Not heard of, in this view.
    suspects: BTreeSet<Endpoint>,
    leaving: BTreeSet<Endpoint>,
    /// Leaders that asked to merge, their views, and when they asked last.
    joiners: BTreeMap<Endpoint, (View, Time)>,
    /// Who asked and answered nothing then: how many times in a row, and until when it is not heard.
    silent: BTreeMap<Endpoint, (u32, Time)>,
    /// Who was in a view with this member and is so no more, the last one last. What such a life asked comes late where another life at its address is in the view.
    former: VecDeque<Endpoint>,
    /// Addresses to ask, and how often yet.
    asks: BTreeMap<Addr, u32>,
    promised: Option<ViewId>,
    /// The highest number seen.
    highest: u64,
    blocked: bool,
    follow: Option<Follow>,
    lead: Option<Lead>,
    /// Views that this member made, for who missed INSTALL.
    made: VecDeque<View>,
    /// Repetitions since there was progress.
    tries: u32,
    /// Something waits in vain in this view.
    renew: bool,
    /// Cuts in a row that this member, leading, could not reach, and all others could.
    lacking: u32,
    leave: bool,
    exiting: bool,
}

impl Mbrship {
    fn to(&self, whom: Endpoint, control: &Control, cx: &mut Cx<impl Near>) {
        Self::to_addr(whom.addr, control, cx);
    }

    fn to_addr(whom: Addr, control: &Control, cx: &mut Cx<impl Near>) {
        let mut msg = control.message();
        msg.push(&cx.multicasts.to_le_bytes());
        cx.down(Down::Raw(Kind::Mbrship, whom, msg));
    }

    fn members(&self) -> &[Endpoint] {
        self.view.as_ref().map_or(&[], |v| &v.members)
    }

    /// The oldest that is not suspected.
    fn acting(&self, me: Endpoint) -> Endpoint {
        self.members().iter().find(|m| !self.suspects.contains(m)).copied().unwrap_or(me)
    }

    fn steady(&self) -> bool {
        self.follow.is_none() && self.lead.is_none()
    }

    /// Whether a view should follow this one.
    fn reason(&self) -> bool {
        self.renew || !(self.suspects.is_empty() && self.leaving.is_empty() && self.joiners.is_empty())
    }

    /// Something changed: begin an attempt if that is for this member to do and there is reason to.
    fn consider(&mut self, cx: &mut Cx<impl Near>) {
        if self.exiting {
            return;
        }
        cx.wake(RETRY, cx.now);
        if self.acting(cx.me) != cx.me {
            return;
        }
        let begin = match (&self.lead, &self.follow) {
            // What was begun with members that have failed since ends in nothing.
            (Some(lead), _) => lead.participants.iter().any(|m| self.suspects.contains(m)),
            (None, Some(follow)) => self.suspects.contains(&follow.attempt.leader),
            (None, None) => self.reason(),
        };
        if begin {
            self.begin(&[], cx);
        }
    }

    fn install(&mut self, view: View, cx: &mut Cx<impl Near>) {
        if !view.members.contains(&cx.me) {
            if self.leave {
                self.exiting = true;
                // A leader that leaves answers for a while who missed its last view.
                let linger = if view.id.leader == cx.me { cx.config.retry * 5 } else { cx.config.retry };
                cx.wake(EXIT, cx.now + linger);
                self.follow = None;
                self.lead = None;
            }
            return;
        }
        self.highest = self.highest.max(view.id.number);
        self.suspects.clear();
        self.leaving.clear();
        (self.renew, self.lacking) = (false, 0);
        // Of many that ask at one moment all but the first asked during the attempt for that one: they come in with the next.
        let (leads, now, late) = (view.id.leader == cx.me, cx.now, cx.config.retry * JOINS);
        self.joiners.retain(|who, (_, asked)| leads && now.since(*asked) <= late && !view.members.contains(who));
        self.asks.retain(|addr, _| !view.members.iter().any(|m| m.addr == *addr));
        self.silent.retain(|who, _| !view.members.contains(who));
        let stays: BTreeSet<_> = view.members.iter().collect();
        let gone: Vec<_> = self.members().iter().filter(|m| !stays.contains(m)).copied().collect();
        self.former.extend(gone);
        self.former.drain(..self.former.len().saturating_sub(FORMER));
        self.follow = None;
        self.lead = None;
        self.tries = 0;
        self.blocked = false;
        cx.cancel(DEADLINE);
        let view = Arc::new(view);
        self.view = Some(view.clone());
        cx.down(Down::View(view.clone()));
        cx.up(Up::View(view));
        // Not at once: what the layers above say to this view comes first.
        if self.leave || !self.asks.is_empty() || !self.joiners.is_empty() {
            cx.wake(RETRY, cx.now);
        }
    }

    fn suspect(&mut self, who: impl IntoIterator<Item = Endpoint>, cx: &mut Cx<impl Near>) {
        let new = |w: &Endpoint| *w != cx.me && self.members().contains(w) && !self.suspects.contains(w);
        let new: Vec<_> = who.into_iter().filter(new).collect();
        if new.is_empty() {
            return;
        }
        // Who suspects this member likewise may be one that no multicast reaches, and hears nothing more of it in its own view. Twice: the first word counts once another follows.
        if let (true, Some(view)) = (cx.multicasts > 0, self.view.clone()) {
            for who in new.iter().flat_map(|who| [who; 2]) {
                self.to(*who, &Control::Suspect(view.id, vec![*who]), cx);
            }
        }
        self.suspects.extend(new);
        self.consider(cx);
    }

    fn control(&mut self, from: Endpoint, control: Control, cx: &mut Cx<impl Near>) {
        // What lifts the number of this member's next attempt must leave that one near enough for the others.
        let (number, ahead) = match &control {
            Control::Flush(attempt, _) => (attempt.number, AHEAD),
            Control::Refuse(_, higher) => (higher.number, AHEAD / 4),
            Control::MergeAsk(view) => (view.id.number, AHEAD / 4),
            _ => (0, AHEAD),
        };
        if number > self.highest.saturating_add(ahead) {
            return;
        }
        if self.exiting {
            if let Control::Reached(attempt) = control {
                self.got_reached(from, attempt, cx);
            }
            return;
        }
        match control {
            Control::Flush(attempt, who) => self.got_flush(from, attempt, &who, cx),
            Control::Report(attempt, view, rank, counts) => {
                self.got_report(from, attempt, lead::Report { view, rank, counts }, cx);
            }
            Control::Cut(attempt, targets) => self.got_cut(attempt, targets, cx),
            Control::Reached(attempt) => self.got_reached(from, attempt, cx),
            Control::Install(view) => {
                let reached =
                    self.follow.as_ref().is_some_and(|f| f.attempt == view.id && matches!(f.step, Step::Reached));
                let any = cx.mutant(Mutant::InstallWithoutCut) && self.promised == Some(view.id);
                if reached || any {
                    self.install(view, cx);
                }
            }
            Control::Refuse(attempt, higher) => {
                if self.lead.as_ref().is_some_and(|l| l.attempt == attempt && l.participants.contains(&from)) {
                    self.highest = self.highest.max(higher.number);
                    // The higher attempt asks for us, or its leader is gone and our deadline comes.
                    self.lead = None;
                }
            }
            Control::MergeAsk(view) => self.got_merge_ask(from, view, cx),
            Control::Redirect(leader) => self.got_redirect(from, leader, cx),
            Control::Suspect(view, who) => {
                if self.view.as_ref().is_some_and(|v| v.id == view) {
                    self.suspect(who, cx);
                }
            }
            Control::Leave(view) => {
                if self.view.as_ref().is_some_and(|v| v.id == view && v.members.contains(&from)) {
                    self.leaving.insert(from);
                    self.consider(cx);
                }
            }
            Control::Renew(view) => {
                if self.view.as_ref().is_some_and(|v| v.id == view && v.members.contains(&from)) {
                    self.renewal(cx);
                }
            }
        }
    }

    /// Something waits in vain in this view.
    fn renewal(&mut self, cx: &mut Cx<impl Near>) {
        if self.members().len() > 1 {
            self.renew = true;
            self.consider(cx);
        }
    }

    /// Repeats what has no answer yet.
    fn retry(&mut self, cx: &mut Cx<impl Near>) {
        let Some(view) = self.view.clone() else { return };
        if self.exiting {
            return;
        }
        if let Some(lead) = &self.lead {
            for member in lead.waits_for() {
                if member != cx.me {
                    self.ask(member, cx);
                }
            }
        }
        match &self.follow {
            Some(follow) => match &follow.step {
                Step::Reported(_) => self.say_report(cx),
                Step::Reached => self.say_reached(cx),
                Step::Blocking | Step::Cutting => {}
            },
            None => {
                let acting = self.acting(cx.me);
                if acting != cx.me {
                    if !self.suspects.is_empty() {
                        let who = self.suspects.iter().copied().collect();
                        self.to(acting, &Control::Suspect(view.id, who), cx);
                    }
                    if self.renew {
                        self.to(acting, &Control::Renew(view.id), cx);
                    }
                    if self.leave {
                        self.to(acting, &Control::Leave(view.id), cx);
                    }
                } else {
                    if self.leave {
                        self.leaving.insert(cx.me);
                    }
                    self.ask_to_merge(cx);
                }
            }
        }
        let idle = self.steady() && self.suspects.is_empty() && self.asks.is_empty() && !self.leave && !self.renew;
        if !idle {
            self.again(cx);
        }
    }
}

impl Layer for Mbrship {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            // The first view: of this member alone.
            Down::View(_) if self.view.is_none() => {
                self.install(View { id: ViewId { number: 1, leader: cx.me }, members: vec![cx.me] }, cx);
            }
            Down::View(_) | Down::Freeze(_) | Down::Cut(_) => {}
            Down::BlockOk => {
                if let Some(follow) = &mut self.follow
                    && self.blocked
                {
                    let listen = follow.listen.clone();
                    cx.down(Down::Freeze(listen));
                }
            }
            Down::Suspect(who) => self.suspect([who], cx),
            Down::Renew => self.renewal(cx),
            Down::Merge(addr) => self.want_merge(addr, cx),
            Down::Leave => {
                self.leave = true;
                if self.acting(cx.me) == cx.me {
                    self.leaving.insert(cx.me);
                }
                self.consider(cx);
            }
            // A layer above that sends after it said BlockOk would have it counted in no view.
            Down::Cast(_) | Down::Send(..) if self.blocked => debug_assert!(false, "sent in a view that ends"),
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Raw(Kind::Mbrship, from, mut msg) => {
                let Ok(multicasts) = msg.pop() else { return };
                if let Ok(control) = Control::read(&msg.joined()) {
                    cx.output(Output::Multicasts(from, u64::from_le_bytes(multicasts)));
                    self.control(from, control, cx);
                }
            }
            Up::Frozen(counts) => self.frozen(counts, cx),
            Up::CutReached => {
                if let Some(follow) = &mut self.follow
                    && matches!(follow.step, Step::Cutting)
                {
                    follow.step = Step::Reached;
                    self.say_reached(cx);
                }
            }
            Up::Problem(_) if cx.mutant(Mutant::DeafToProblems) => {}
            Up::Problem(rank) => {
                if let Some(&who) = self.members().get(usize::from(rank)) {
                    self.suspect([who], cx);
                }
            }
            Up::View(_) => {}
            other => cx.up(other),
        }
    }

    fn timer(&mut self, token: u32, cx: &mut Cx<impl Near>) {
        match token {
            RETRY => {
                self.retry(cx);
                if self.steady() && !self.exiting && self.acting(cx.me) == cx.me && self.reason() {
                    self.begin(&[], cx);
                }
            }
            DEADLINE => self.too_late(cx),
            _ => cx.up(Up::Exit),
        }
    }

    fn passes_down(&self, _: &mut Msg, _: &Shared) -> bool {
        !self.blocked
    }

    fn passes_up(&self, _: &mut Cast, _: &Shared) -> bool {
        true
    }

    /// Casts pass without a header, also while a view ends: NAK says how many.
    fn foretell(&self, _: u16, _: &mut Foretold, _: &Shared) -> bool {
        true
    }
}
