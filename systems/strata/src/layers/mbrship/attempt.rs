//! The steps of an attempt at a view, on both sides.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::lead::{Lead, Report};
use super::wire::Control;
use super::{DEADLINE, Follow, JOINS, Mbrship, RETRY, Step};
use crate::addr::Endpoint;
use crate::event::{Down, Output, Up};
use crate::layer::{Cx, Near};
use crate::mutant::Mutant;
use crate::view::{MEMBERS, View, ViewId};

/// Cuts in a row that all but the leader reach, after which it lets the others go: at the first it may wait for who has died since.
const LACKING: u32 = 2;
/// Views kept for who missed INSTALL.
const KEPT: usize = 4;

impl Mbrship {
    /// Leads an attempt with all who are not suspected, all who asked to come in, and those of other views whom an attempt before it had brought along, save
    /// the silent.
    pub(super) fn begin(&mut self, silent: &[Endpoint], cx: &mut Cx<impl Near>) {
        let brought = self.lead.take().map_or(Vec::new(), |lead| lead.participants);
        let mut highest = self.highest.max(self.promised.map_or(0, |p| p.number));
        let mut participants: Vec<_> = self.members().iter().filter(|m| !self.suspects.contains(m)).copied().collect();
        // Who asked before that has asked elsewhere since, or is gone.
        let late = cx.config.retry * JOINS;
        for (view, _) in self.joiners.values().filter(|(_, asked)| cx.now.since(*asked) <= late) {
            // Known to all who take part from this attempt on: a number that one member alone goes by cuts it off from the others.
            highest = highest.max(view.id.number);
            for member in &view.members {
                if !participants.contains(member) && !self.suspects.contains(member) {
                    participants.push(*member);
                }
            }
        }
        let known = |m: &Endpoint| self.members().contains(m);
        let brought: Vec<_> = brought.into_iter().filter(|m| !known(m) && !silent.contains(m)).collect();
        for member in brought {
            if !participants.contains(&member) {
                participants.push(member);
            }
        }
        participants.truncate(MEMBERS);
        self.joiners.clear();
        let attempt = ViewId { number: highest + 1, leader: cx.me };
        self.lead = Some(Lead::new(attempt, participants.clone()));
        self.got_flush(cx.me, attempt, &participants, cx);
        let me = cx.me;
        for member in participants.iter().filter(|m| **m != me) {
            self.ask(*member, cx);
        }
        cx.wake(DEADLINE, cx.now + cx.config.flush);
        self.soon(cx);
    }

    /// As leader: asks a participant for what it has not answered.
    pub(super) fn ask(&mut self, member: Endpoint, cx: &mut Cx<impl Near>) {
        let Some(lead) = &mut self.lead else { return };
        let control = if lead.cutting() {
            let Some(targets) = lead.targets(&member, cx.mutant(Mutant::CutAtLeast)) else { return };
            Control::Cut(lead.attempt, targets)
        } else {
            Control::Flush(lead.attempt, lead.participants.clone())
        };
        self.to(member, &control, cx);
    }

    pub(super) fn got_flush(&mut self, from: Endpoint, attempt: ViewId, who: &[Endpoint], cx: &mut Cx<impl Near>) {
        if attempt.leader != from || !who.contains(&cx.me) {
            return;
        }
        match self.promised {
            Some(promised) if attempt < promised => {
                return self.to(from, &Control::Refuse(attempt, promised), cx);
            }
            Some(promised) if attempt == promised => return self.say_report(cx),
            _ => {}
        }
        self.promised = Some(attempt);
        self.highest = self.highest.max(attempt.number);
        if self.lead.as_ref().is_some_and(|l| l.attempt < attempt) {
            self.lead = None;
        }
        let moving: BTreeSet<_> = who.iter().collect();
        let listen: Vec<_> = self.members().iter().map(|m| moving.contains(m)).collect();
        self.follow = Some(Follow { attempt, listen: listen.clone(), step: Step::Blocking });
        self.patience(cx);
        if self.blocked {
            cx.down(Down::Freeze(listen));
        } else {
            self.blocked = true;
            cx.up(Up::Block);
        }
    }

    /// How long this member follows without progress: the older take over sooner.
    fn patience(&mut self, cx: &mut Cx<impl Near>) {
        let older = self.members().iter().take_while(|m| **m != cx.me).filter(|m| !self.suspects.contains(m)).count();
        if self.lead.is_none() {
            cx.wake(DEADLINE, cx.now + cx.config.flush * (2 + older as u32));
        }
        self.soon(cx);
    }

    /// There was progress: what is said now is repeated soon, then less and less often.
    fn soon(&mut self, cx: &mut Cx<impl Near>) {
        self.tries = 0;
        self.again(cx);
    }

    /// The time of the next repetition.
    pub(super) fn again(&mut self, cx: &mut Cx<impl Near>) {
        let wait = (cx.config.retry / 8 * (1 << self.tries.min(3))).min(cx.config.retry);
        self.tries += 1;
        cx.wake(RETRY, cx.now + wait);
    }

    /// NAK is frozen.
    pub(super) fn frozen(&mut self, counts: Vec<u64>, cx: &mut Cx<impl Near>) {
        if let Some(follow) = &mut self.follow {
            follow.step = Step::Reported(counts);
            self.say_report(cx);
        }
    }

    pub(super) fn say_report(&mut self, cx: &mut Cx<impl Near>) {
        let (Some(Follow { attempt, step: Step::Reported(counts), .. }), Some(view)) = (&self.follow, &self.view)
        else {
            return;
        };
        let (attempt, rank) = (*attempt, view.rank(&cx.me).unwrap_or(0));
        let report = Report { view: view.id, rank, counts: counts.clone() };
        if attempt.leader == cx.me {
            self.got_report(cx.me, attempt, report, cx);
        } else {
            self.to(attempt.leader, &Control::Report(attempt, report.view, rank, report.counts), cx);
        }
    }

    pub(super) fn got_report(&mut self, from: Endpoint, attempt: ViewId, report: Report, cx: &mut Cx<impl Near>) {
        // A holder that is no rank of its view could not be asked. Of other views this member knows the size alone.
        let n = report.counts.len();
        let own = self.view.as_ref().filter(|v| v.id == report.view);
        let differs = |v: &Arc<View>| v.members.len() != n || v.rank(&from) != Some(report.rank);
        if usize::from(report.rank) >= n || own.is_some_and(differs) {
            return;
        }
        let Some(lead) = &mut self.lead else { return };
        if lead.attempt != attempt || !lead.report(from, report) {
            return;
        }
        if cx.mutant(Mutant::InstallWithoutCut) {
            return self.made(cx);
        }
        let participants = lead.participants.clone();
        let own = lead.targets(&cx.me, cx.mutant(Mutant::CutAtLeast));
        self.soon(cx);
        let me = cx.me;
        for member in participants.into_iter().filter(|m| *m != me) {
            self.ask(member, cx);
        }
        cx.wake(DEADLINE, cx.now + cx.config.flush);
        if let Some(own) = own {
            self.got_cut(attempt, own, cx);
        }
    }

    pub(super) fn got_cut(&mut self, attempt: ViewId, targets: Vec<(u64, u16)>, cx: &mut Cx<impl Near>) {
        let n = self.members().len();
        let Some(follow) = &mut self.follow else { return };
        if follow.attempt != attempt || targets.len() != n {
            return;
        }
        match follow.step {
            Step::Reported(_) => {
                follow.step = Step::Cutting;
                self.patience(cx);
                cx.down(Down::Cut(targets));
            }
            Step::Reached => self.say_reached(cx),
            Step::Blocking | Step::Cutting => {}
        }
    }

    pub(super) fn say_reached(&mut self, cx: &mut Cx<impl Near>) {
        let Some(follow) = &self.follow else { return };
        let attempt = follow.attempt;
        if attempt.leader == cx.me {
            self.got_reached(cx.me, attempt, cx);
        } else {
            self.to(attempt.leader, &Control::Reached(attempt), cx);
        }
    }

    pub(super) fn got_reached(&mut self, from: Endpoint, attempt: ViewId, cx: &mut Cx<impl Near>) {
        if let Some(view) = self.made.iter().find(|v| v.id == attempt) {
            let install = Control::Install(view.clone());
            return self.to(from, &install, cx);
        }
        let Some(lead) = &mut self.lead else { return };
        if lead.attempt == attempt && lead.reached(from) {
            self.made(cx);
        }
    }

    /// All have delivered: this is the view.
    fn made(&mut self, cx: &mut Cx<impl Near>) {
        let Some(lead) = &self.lead else { return };
        let attempt = lead.attempt;
        let participants = lead.participants.clone();
        let mut members: Vec<_> = participants.iter().filter(|m| !self.leaving.contains(m)).copied().collect();
        if cx.mutant(Mutant::LeaderForgotten) && members.len() > 2 {
            members.pop();
        }
        let view = View { id: attempt, members };
        self.made.push_front(view.clone());
        self.made.truncate(KEPT);
        let me = cx.me;
        for member in participants.into_iter().filter(|m| *m != me) {
            self.to(member, &Control::Install(view.clone()), cx);
        }
        self.install(view, cx);
    }

    /// What this member lacks of the cut nobody has any more, and the others wait: they go on with the next oldest once this one asks them nothing more.
    fn go_alone(&mut self, cx: &mut Cx<impl Near>) {
        self.lacking = 0;
        let others: Vec<_> = self.members().iter().filter(|m| **m != cx.me).copied().collect();
        let brought = self.lead.as_ref().map_or(Vec::new(), |lead| lead.participants.clone());
        cx.output(Output::Notice(
            "this member lacks casts that others have delivered and that nobody can send again: it goes on in a view without them".to_owned(),
        ));
        self.suspects.extend(others);
        self.begin(&brought, cx);
    }

    /// No progress for too long.
    pub(super) fn too_late(&mut self, cx: &mut Cx<impl Near>) {
        if let Some(lead) = &self.lead {
            let alone = lead.cutting() && lead.waits_for() == [cx.me];
            self.lacking = if alone { self.lacking + 1 } else { 0 };
            if self.lacking == LACKING {
                return self.go_alone(cx);
            }
            let silent: Vec<_> = lead.waits_for().into_iter().filter(|m| *m != cx.me).collect();
            let known: Vec<_> = silent.iter().filter(|m| self.members().contains(m)).copied().collect();
            // Who cuts has answered; what it waits for may lie with somebody else.
            if !lead.cutting() {
                for other in silent.iter().filter(|m| !known.contains(m)) {
                    self.was_silent(*other, cx);
                }
            }
            self.suspects.extend(known);
            return self.begin(&silent, cx);
        }
        if let Some(follow) = &self.follow {
            // Its leader made no view in time: this member's own view goes on without it.
            let leader = follow.attempt.leader;
            if leader != cx.me && self.members().contains(&leader) {
                self.suspects.insert(leader);
            }
            self.begin(&[], cx);
        }
    }
}
