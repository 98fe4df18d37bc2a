//! The state machine. What it does is said in the module above.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use super::brake::Brake;
use super::hello::{Note, Stand};
use super::pieces::{Incoming, Outgoing};
use super::voting::Known;
use crate::addr::Endpoint;
use crate::event::Delivery;
use crate::mutant::Mutant;
use crate::view::{View, hash};

/// What is to be said to the group.
#[derive(Debug, Clone)]
pub enum Say {
    /// Cast it.
    Cast(Bytes),
    /// Send it to that member.
    Send(Endpoint, Bytes),
}

/// What the application is told, in order.
#[derive(Debug, Clone)]
pub enum Change {
    /// The view from here on, and whether it is primary.
    View {
        /// The view.
        view: Arc<View>,
        /// It has a majority of the last primary view, so that no other that has is told the same (over SAFE and a total order).
        primary: bool,
    },
    /// A member needs the state: [`Transfer::give`] it as it is after all that was told before. Nothing more is told before that.
    Wanted,
    /// The group's state at the start of this view: put it in the place of what this member had.
    State(Bytes),
    /// After [`Change::State`]: the others know that this member has it, so that from now on it counts where a view is primary. Before, the loss of others may leave none that is.
    Counted,
    /// A message. What comes while this member is to receive the state waits for it; where the view ends before, it is not told any more, and is in the state that comes then (unless that is of members who did not have it,
    /// as after a partition). So a member is not told all of its own messages either that it cast meanwhile: whether they arrived the state says.
    Message(Delivery),
    /// None in this view has the state: those who had it have gone. It comes back with a member that has it, or the group must be begun anew.
    Orphaned,
}

/// What a member said of itself at the start of the view.
struct Hello {
    stand: Option<Stand>,
    known: Known,
    leaves: bool,
}

/// Where a member is in its view.
enum Stage {
    /// There are hellos to come.
    Gathering {
        hellos: BTreeMap<Endpoint, Hello>,
        firm: bool,
        messages: Vec<Delivery>,
        early: Vec<(Endpoint, Note)>,
        /// Who has received the state, and who leaves, in the order told: whether it leaves, and whether that is certain.
        votes: Vec<(Endpoint, bool, bool)>,
    },
    /// It has the state.
    Holding,
    /// It is to receive the state, from whom and to become what; messages wait.
    Lacking { from: Option<(Endpoint, Stand)>, incoming: Incoming, messages: Vec<Delivery>, primary: bool },
}

/// State transfer for one member.
pub struct Transfer {
    me: Endpoint,
    stand: Option<Stand>,
    known: Known,
    view: Option<Arc<View>>,
    stage: Stage,
    /// Who is to be given the state when the application has given it.
    wanting: Vec<Endpoint>,
    outgoing: Vec<Outgoing>,
    brake: Brake,
    says: VecDeque<Say>,
    changes: VecDeque<Change>,
    /// The application was asked for its state at the start of the view with this tag.
    asked: Option<u64>,
    /// The application was told [`Change::Counted`], or founded the state.
    counted: bool,
    /// It has been in a view with others.
    met: bool,
    /// Who is about to leave this view, and whether it is certain that all of it know.
    going: BTreeMap<Endpoint, bool>,
    /// This member is about to leave.
    leaves: bool,
    /// Who of this view knows so for certain, after its hellos.
    heard: BTreeSet<Endpoint>,
    /// Who of this view has the state, and who said that it leaves.
    have: BTreeSet<Endpoint>,
    departs: BTreeSet<Endpoint>,
    /// It is certain who voted in this view before any of those said so.
    sure: bool,
    mutant: Option<Mutant>,
}

fn mix(token: u64, with: u64) -> u64 {
    hash(&[token.to_le_bytes(), with.to_le_bytes()].concat())
}

/// Mixed into the token of a state that lost.
const LOST: u64 = 0x1057;

impl Transfer {
    /// For a member that founds the group, and has its first state, or for one that is to receive it.
    pub fn new(me: Endpoint, founds: bool) -> Self {
        let known = if founds { Known::founded(me) } else { Known::nothing() };
        let token = mix(hash(me.addr.to_string().as_bytes()), me.born);
        let stand = founds.then_some(Stand { token, primary: known.primary, size: 1 });
        Self {
            me,
            stand,
            known,
            view: None,
            stage: Stage::Holding,
            wanting: Vec::new(),
            outgoing: Vec::new(),
            brake: Brake::default(),
            says: VecDeque::new(),
            changes: VecDeque::new(),
            asked: None,
            counted: founds,
            met: false,
            going: BTreeMap::new(),
            leaves: false,
            heard: BTreeSet::new(),
            have: BTreeSet::new(),
            departs: BTreeSet::new(),
            sure: false,
            mutant: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn break_by(&mut self, mutant: Option<Mutant>) {
        self.mutant = mutant;
    }

    fn is(&self, mutant: Mutant) -> bool {
        cfg!(test) && self.mutant == Some(mutant)
    }

    /// Whether this member has a state of the group, though perhaps one that is to be replaced.
    pub fn has_state(&self) -> bool {
        self.stand.is_some()
    }

    /// Whether this member goes along with the group: it has the state, and is told messages as they come.
    pub fn is_current(&self) -> bool {
        matches!(self.stage, Stage::Holding)
    }

    /// A name for the state that this member has: equal with members whose states are equal at the start of the same view.
    pub fn token(&self) -> Option<u64> {
        self.stand.map(|s| s.token)
    }

    /// Bytes that [`Transfer::wrap`] puts before a message.
    pub const HEADER: usize = 1;

    /// A message of the application as it must be cast or sent.
    pub fn wrap(body: &Bytes) -> Bytes {
        Note::App(body.clone()).bytes()
    }

    /// What [`Transfer::wrap`] was given; none where the message is one of a transfer's own.
    pub fn unwrap(bytes: &Bytes) -> Option<Bytes> {
        match Note::read(bytes) {
            Ok(Note::App(body)) => Some(body),
            _ => None,
        }
    }

    /// Messages that wait for hellos or for the state, and pieces of a state that are kept.
    pub fn held(&self) -> usize {
        let waiting = match &self.stage {
            Stage::Gathering { messages, early, .. } => messages.len() + early.len(),
            Stage::Holding => 0,
            Stage::Lacking { messages, .. } => messages.len(),
        };
        waiting + self.outgoing.len()
    }

    /// Whether a message of that length must wait, as somebody in the view is still to receive the state and this member has cast `most` bytes meanwhile: how many it has. Ask before a message is cast or sent, and
    /// [`Transfer::count`] it after that.
    pub fn refuses(&self, len: usize, most: usize) -> Option<usize> {
        self.brake.refuses(len, most)
    }

    /// A message of that length was cast or sent.
    pub fn count(&mut self, len: usize) {
        self.brake.count(len);
    }

    /// What is to be said next.
    pub fn say(&mut self) -> Option<Say> {
        self.says.pop_front()
    }

    /// What the application is told next.
    pub fn change(&mut self) -> Option<Change> {
        if self.asked.is_some() {
            return None;
        }
        let change = self.changes.pop_front();
        // One that is not of this view was dropped as its view ended.
        self.asked = matches!(change, Some(Change::Wanted)).then(|| self.tag());
        change
    }

    /// Changes that the application is to be told.
    pub fn untold(&self) -> usize {
        self.changes.len()
    }

    /// Whether [`Transfer::give`] is waited for.
    pub fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// The state that [`Change::Wanted`] asks for. Whether somebody still needs it.
    pub fn give(&mut self, state: impl Into<Bytes>) -> bool {
        let now = Some(self.tag());
        if self.asked.take() != now {
            return false;
        }
        let state = state.into();
        let wanting = std::mem::take(&mut self.wanting);
        let used = !wanting.is_empty();
        self.outgoing.extend(wanting.into_iter().map(|to| Outgoing::new(to, state.clone())));
        self.pump();
        used
    }

    /// This member is about to leave: the others need no majority that counts it. The member leaves once [`Transfer::may_leave`]: before, they may not know for certain.
    pub fn leave(&mut self) {
        if !std::mem::replace(&mut self.leaves, true) {
            self.cast(&Note::Leaving);
        }
    }

    /// Whether this member is about to leave.
    pub fn leaves(&self) -> bool {
        self.leaves
    }

    /// Whether all of this view know for certain that it leaves, and have said so, and it does not take the state along. That it is certain here is not enough: who hears of the view without this member before that has its doubts, and perhaps no majority.
    pub fn may_leave(&self) -> bool {
        self.leaves
            && !self.takes_the_state_along()
            && self.view.as_ref().is_some_and(|v| v.members.iter().all(|m| self.heard.contains(m)))
    }

    /// Whether some who stay lack the state, and none of those who stay has it: they wait for this member's. Of two that have it and leave, one knows of the other before that one
    /// may leave, since it must have said that it heard.
    fn takes_the_state_along(&self) -> bool {
        let Some(view) = &self.view else { return false };
        let mut stay = view.members.iter().filter(|m| **m != self.me && !self.departs.contains(m)).peekable();
        self.is_current() && stay.peek().is_some() && stay.all(|m| !self.have.contains(m))
    }

    fn tag(&self) -> u64 {
        self.view.as_ref().map_or(0, |v| v.id.tag())
    }

    fn cast(&mut self, note: &Note) {
        self.says.push_back(Say::Cast(note.bytes()));
    }

    /// A view.
    pub fn view(&mut self, view: Arc<View>) {
        self.forget_who_left(&view);
        self.end_view();
        self.heard.clear();
        self.have.clear();
        self.departs.clear();
        self.met |= view.members.len() > 1;
        self.view = Some(view);
        self.brake.begins();
        self.stage = Stage::Gathering {
            hellos: BTreeMap::new(),
            firm: true,
            messages: Vec::new(),
            early: Vec::new(),
            votes: Vec::new(),
        };
        let hello = Note::Hello(self.tag(), self.stand, self.known.clone(), self.leaves);
        self.cast(&hello);
    }

    /// Where all who don't move on had said that they leave, nobody elsewhere counts them any more: then that is as good as certain. It needs each of them to know of the others. What was told as certain all know; of what was told as the
    /// view ended each knows its own only, and two such may be a majority of the voters that both know.
    fn forget_who_left(&mut self, next: &View) {
        let going = std::mem::take(&mut self.going);
        let gone = |m: &Endpoint| next.members.contains(m) || going.contains_key(m);
        let doubted = going.iter().filter(|(m, certain)| !**certain && !next.members.contains(m)).count();
        if self.is(Mutant::GoneAsLeft)
            && let Some(view) = &self.view
        {
            let gone = view.members.iter().filter(|m| !next.members.contains(m));
            gone.for_each(|m| self.known.dismiss(*m, true));
        }
        if let Some(view) = &self.view
            && std::mem::take(&mut self.sure)
            && doubted <= 1
            && view.id == self.known.primary
            && view.members.iter().all(gone)
        {
            self.known.settle();
        }
    }

    /// What a view leaves behind. Hellos that did not all come decide nothing: who has a state goes on with it.
    fn end_view(&mut self) {
        self.outgoing.clear();
        self.wanting.clear();
        // Who would have been given the state needs none in this view any more; a question that the application has not yet seen is dropped.
        self.changes.retain(|c| !matches!(c, Change::Wanted));
        let (Stage::Gathering { messages, .. }, Some(view)) =
            (std::mem::replace(&mut self.stage, Stage::Holding), self.view.take())
        else {
            return;
        };
        let stays = self.is(Mutant::TokenStays);
        if let Some(stand) = &mut self.stand {
            stand.token = if stays { stand.token } else { mix(stand.token, view.id.tag()) };
            stand.size = view.members.len() as u64;
            self.changes.push_back(Change::View { view, primary: false });
            self.changes.extend(messages.into_iter().map(|m| Change::Message(Delivery { transitional: true, ..m })));
        }
    }

    /// A cast, or a message to this member.
    pub fn delivered(&mut self, delivery: Delivery) {
        let Ok(note) = Note::read(&delivery.body) else { return };
        let (from, firm, tag) = (delivery.from, !delivery.transitional, self.tag());
        match (note, delivery.cast) {
            (Note::App(body), _) => self.message(Delivery { body, ..delivery }),
            (Note::Hello(view, stand, known, leaves), true) if view == tag => {
                self.hello(from, Hello { stand, known, leaves }, firm);
            }
            (Note::Got(view), true) if view == tag => self.votes(from, false, firm),
            (Note::Leaving, true) => self.votes(from, true, firm),
            (Note::Piece(view, ..), false) if view == tag => self.piece(from, &delivery.body),
            (Note::Heard(view), false) if view == tag => {
                self.heard.insert(from);
            }
            (Note::Taken(view, count), false) if view == tag => {
                self.outgoing.retain_mut(|o| o.to != from || !o.taken(count));
                self.pump();
            }
            _ => {}
        }
    }

    fn message(&mut self, message: Delivery) {
        match &mut self.stage {
            Stage::Gathering { messages, .. } => messages.push(message),
            Stage::Holding => self.changes.push_back(Change::Message(message)),
            Stage::Lacking { from: Some(_), messages, .. } => messages.push(message),
            Stage::Lacking { .. } => {}
        }
    }

    fn hello(&mut self, from: Endpoint, hello: Hello, is_firm: bool) {
        let Some(view) = self.view.clone() else { return };
        let Stage::Gathering { hellos, firm, .. } = &mut self.stage else { return };
        if !view.members.contains(&from) {
            return;
        }
        hellos.insert(from, hello);
        *firm &= is_firm;
        if hellos.len() == view.members.len() {
            self.resolve(&view);
        }
    }

    /// All hellos are there: who has the state, who is sent it by whom, and whether the view is primary.
    fn resolve(&mut self, view: &Arc<View>) {
        let Stage::Gathering { hellos, firm, messages, early, votes } =
            std::mem::replace(&mut self.stage, Stage::Holding)
        else {
            return;
        };
        // From the hellos alone, in one order, so that all come to the same.
        self.known = Known::nothing();
        for hello in hellos.values() {
            self.known.join(&hello.known);
        }
        if self.leaves {
            // Who hears this, too, knows who was told.
            self.cast(&Note::Leaving);
        }
        let best = hellos.values().filter_map(|hello| hello.stand).max_by_key(|s| (s.primary, s.size, s.token));
        let Some(best) = best else {
            // Alone from the start, it has not been let in yet.
            if self.met {
                self.changes.push_back(Change::Orphaned);
            }
            self.brake.lack([]);
            self.stage =
                Stage::Lacking { from: None, incoming: Incoming::default(), messages: Vec::new(), primary: false };
            return;
        };
        let has = |m: &&Endpoint| hellos[m].stand.is_some_and(|s| s.token == best.token);
        let (holders, lacking): (Vec<_>, Vec<_>) = view.members.iter().partition::<Vec<&Endpoint>, _>(has);
        let holders: Vec<Endpoint> = holders.into_iter().copied().collect();
        self.have.extend(&holders);
        self.departs.extend(hellos.iter().filter(|(_, hello)| hello.leaves).map(|(who, _)| *who));
        self.brake.lack(lacking.iter().map(|m| **m));
        let tag = view.id.tag();
        let mut next = Stand { token: mix(best.token, tag), primary: best.primary, size: view.members.len() as u64 };
        // Where somebody knows of a later primary view than the best state is from, the group's state is not here.
        let granted = best.primary == self.known.primary && self.known.grants(&view.members);
        let granted = granted || self.is(Mutant::MinorityRules);
        if granted {
            next.primary = view.id;
            // Who leaves does not vote here, unless nobody else could; then it leaves its vote to who receives the state.
            let mut voters = holders.clone();
            for (who, _) in hellos.iter().filter(|(_, hello)| hello.leaves) {
                if voters.len() > 1 {
                    voters.retain(|v| v != who);
                }
                self.going.insert(*who, firm);
            }
            self.known.advance(view.id, voters, firm);
            self.sure = firm;
        }
        // What came in between is no more certain than the view's voters are.
        for (who, leaves, is_firm) in votes {
            self.votes(who, leaves, is_firm && firm);
        }
        let primary = granted && firm;
        if !holders.contains(&self.me) {
            self.counted = false;
            if let Some(stand) = &mut self.stand {
                stand.token = mix(stand.token, tag ^ LOST);
            }
            let at = lacking.iter().position(|m| **m == self.me).unwrap_or(0);
            let from = Some((holders[at % holders.len()], next));
            self.stage = Stage::Lacking { from, incoming: Incoming::default(), messages, primary };
            for (from, piece) in early {
                self.piece(from, &piece.bytes());
            }
            return;
        }
        self.stand = Some(next);
        self.changes.push_back(Change::View { view: view.clone(), primary });
        if primary {
            self.counts();
        }
        let mine = lacking.iter().enumerate().filter(|(at, _)| holders[at % holders.len()] == self.me);
        self.wanting = mine.map(|(_, m)| **m).collect();
        let wanted = !self.wanting.is_empty();
        let late = self.is(Mutant::SnapshotLate);
        if wanted && !late {
            self.changes.push_back(Change::Wanted);
        }
        self.changes.extend(messages.into_iter().map(Change::Message));
        if wanted && late {
            self.changes.push_back(Change::Wanted);
        }
    }

    /// From here on somebody votes, or does not any more.
    fn votes(&mut self, who: Endpoint, leaves: bool, firm: bool) {
        if leaves {
            self.departs.insert(who);
        } else {
            self.brake.has(who);
            self.have.insert(who);
        }
        let resolved = !matches!(self.stage, Stage::Gathering { .. });
        if leaves && firm && resolved {
            if who == self.me {
                self.heard.insert(who);
            } else {
                self.says.push_back(Say::Send(who, Note::Heard(self.tag()).bytes()));
            }
        }
        match &mut self.stage {
            Stage::Gathering { votes, .. } => votes.push((who, leaves, firm)),
            _ if self.view.as_ref().is_some_and(|v| v.id == self.known.primary) => {
                if leaves {
                    *self.going.entry(who).or_default() |= firm;
                } else {
                    self.known.admit(who, firm);
                    self.sure &= firm;
                }
                // Also where the last voter was going, and another votes now.
                self.going.keys().for_each(|going| self.known.dismiss(*going, firm));
                if leaves {
                    return;
                }
                if who == self.me && firm {
                    self.counts();
                }
            }
            _ => {}
        }
    }

    fn counts(&mut self) {
        if !std::mem::replace(&mut self.counted, true) {
            self.changes.push_back(Change::Counted);
        }
    }

    fn piece(&mut self, sender: Endpoint, body: &Bytes) {
        let Ok(note) = Note::read(body) else { return };
        let tag = self.tag();
        let (incoming, from) = match &mut self.stage {
            Stage::Gathering { early, .. } => return early.push((sender, note)),
            Stage::Lacking { incoming, from: Some(from), .. } if from.0 == sender => (incoming, from),
            _ => return,
        };
        let Note::Piece(_, number, of, bytes) = note else { return };
        let becomes = from.1;
        let Some((count, all)) = incoming.piece(number, of, &bytes) else { return };
        self.says.push_back(Say::Send(sender, Note::Taken(tag, count).bytes()));
        if !all {
            return;
        }
        let Some(view) = self.view.clone() else { return };
        let Stage::Lacking { incoming, messages, primary, .. } = std::mem::replace(&mut self.stage, Stage::Holding)
        else {
            return;
        };
        self.stand = Some(becomes);
        self.changes.push_back(Change::View { view, primary });
        self.changes.push_back(Change::State(incoming.state()));
        if !self.is(Mutant::JoinerForgets) {
            self.changes.extend(messages.into_iter().map(Change::Message));
        }
        self.cast(&Note::Got(tag));
    }

    fn pump(&mut self) {
        let tag = self.tag();
        for out in &mut self.outgoing {
            while let Some(note) = out.next(tag) {
                self.says.push_back(Say::Send(out.to, note.bytes()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ViewId;

    /// Members whose casts come to all, in one order.
    struct Few {
        all: Vec<Transfer>,
        views: u64,
        /// Whether the last view that each was told is primary.
        primary: Vec<bool>,
        /// Whether who is asked for the state gives it.
        gives: bool,
    }

    impl Few {
        fn new(n: u64) -> Self {
            let who = |n| Endpoint { addr: ([10, 0, 0, 1], n as u16).into(), born: 1 };
            Self {
                all: (0..n).map(|n| Transfer::new(who(n), n == 0)).collect(),
                views: 0,
                primary: vec![false; n as usize],
                gives: true,
            }
        }

        /// A view of these; what they say there is not yet told.
        fn view(&mut self, who: &[usize]) {
            self.views += 1;
            let members: Vec<_> = who.iter().map(|&at| self.all[at].me).collect();
            let id = ViewId { number: self.views, leader: members[0] };
            let view = Arc::new(View { id, members });
            who.iter().for_each(|&at| self.all[at].view(view.clone()));
        }

        /// All that these say is told to them.
        fn run(&mut self, who: &[usize], transitional: bool) {
            let mut more = true;
            while std::mem::take(&mut more) {
                for &at in who {
                    while let Some(change) = self.all[at].change() {
                        match change {
                            Change::View { primary, .. } => self.primary[at] = primary,
                            Change::Wanted if self.gives => assert!(self.all[at].give("state")),
                            _ => {}
                        }
                    }
                    while let Some((to, said)) = self.said(at, transitional) {
                        more = true;
                        self.tell(who, to, &said);
                    }
                }
            }
        }

        /// The next that one says, and to whom; none is all.
        fn said(&mut self, at: usize, transitional: bool) -> Option<(Option<Endpoint>, Delivery)> {
            let from = self.all[at].me;
            let (to, cast, body) = match self.all[at].say()? {
                Say::Cast(body) => (None, true, body),
                Say::Send(to, body) => (Some(to), false, body),
            };
            Some((to, Delivery { from, cast, transitional, number: 0, body }))
        }

        /// Those of `who` that it is said to are told it.
        fn tell(&mut self, who: &[usize], to: Option<Endpoint>, said: &Delivery) {
            for &heard in who {
                if to.is_none_or(|to| self.all[heard].me == to) {
                    self.all[heard].delivered(said.clone());
                }
            }
        }

        /// Two members with the state, of three.
        fn two() -> Self {
            let mut few = Self::new(3);
            for who in [&[0][..], &[0, 1]] {
                few.view(who);
                few.run(who, false);
            }
            assert!(few.primary[0] && few.primary[1]);
            few
        }
    }

    #[test]
    fn who_says_that_it_leaves_as_a_view_without_all_hellos_ends_takes_its_vote_along() {
        let mut few = Few::two();
        few.view(&[0, 1, 2]);
        few.all[0].leave();
        few.run(&[0, 1], true);
        assert!(!few.all[0].may_leave(), "nobody knows for certain");
        few.view(&[0, 1]);
        assert!(!few.all[0].may_leave());
        few.run(&[0, 1], false);
        assert!(few.all[0].may_leave() && few.primary[1]);
        few.view(&[1]);
        few.run(&[1], false);
        assert!(few.primary[1]);
    }

    /// The note of who leaves is told to these, as the view ends.
    fn doubted(few: &mut Few, leaver: usize, told: [usize; 2]) {
        few.all[leaver].leave();
        let Some(Say::Cast(body)) = few.all[leaver].say() else { panic!("it says nothing") };
        let from = few.all[leaver].me;
        for at in told {
            let body = body.clone();
            few.all[at].delivered(Delivery { from, cast: true, transitional: true, number: 0, body });
        }
    }

    #[test]
    fn nobody_leaves_before_those_who_stay_are_certain_of_it() {
        let mut few = Few::two();
        few.all[0].leave();
        let Some(Say::Cast(body)) = few.all[0].say() else { panic!("it says nothing") };
        let from = few.all[0].me;
        let leaving = |transitional| Delivery { from, cast: true, transitional, number: 0, body: body.clone() };
        few.all[0].delivered(leaving(false));
        assert!(!few.all[0].may_leave(), "for the other the view may end before it is certain");
        few.all[1].delivered(leaving(true));
        few.run(&[0, 1], false);
        assert!(!few.all[0].may_leave());
        few.all[1].delivered(leaving(false));
        few.run(&[0, 1], false);
        assert!(few.all[0].may_leave());
        few.view(&[1]);
        few.run(&[1], false);
        assert!(few.primary[1]);
    }

    /// Three vote, and two of them leave at one moment. All are parted; the two come together again.
    fn parted(first: impl Fn(&mut Few)) -> [bool; 2] {
        let mut few = Few::two();
        few.view(&[0, 1, 2]);
        few.run(&[0, 1, 2], false);
        assert!(few.primary[2]);
        first(&mut few);
        doubted(&mut few, 1, [1, 2]);
        for alone in [0, 1, 2] {
            few.view(&[alone]);
            few.run(&[alone], false);
        }
        let stays = few.primary[2];
        few.view(&[0, 1]);
        few.run(&[0, 1], false);
        [stays, few.primary[0]]
    }

    #[test]
    fn two_that_leave_and_do_not_know_of_each_other_do_not_rule_beside_who_stays() {
        assert_eq!(parted(|few| doubted(few, 0, [0, 2])), [false, true]);
    }

    #[test]
    fn who_stays_goes_on_where_all_know_that_one_leaves_before_the_other() {
        let first = |few: &mut Few| {
            few.all[0].leave();
            few.run(&[0, 1, 2], false);
        };
        assert_eq!(parted(first), [true, false]);
    }

    /// Of five, three are in the next view. One of them says that it leaves, for certain, before the view's hellos have come, the last of which comes
    /// only as the view ends, and not to all.
    #[test]
    fn who_leaves_for_certain_in_a_view_in_doubt_leaves_the_doubt() {
        let mut few = Few::new(5);
        for joined in 1..=5 {
            let who: Vec<usize> = (0..joined).collect();
            few.view(&who);
            few.run(&who, false);
        }
        few.view(&[0, 1, 2]);
        let said = |few: &mut Few, at: usize| {
            let Some(Say::Cast(body)) = few.all[at].say() else { panic!("it says nothing") };
            (few.all[at].me, body)
        };
        let hellos = [0, 1, 2].map(|at| said(&mut few, at));
        few.all[0].leave();
        let leaving = said(&mut few, 0);
        let mut told = |(from, body): &(Endpoint, Bytes), to: &[usize], transitional: bool| {
            for at in to {
                let body = body.clone();
                few.all[*at].delivered(Delivery { from: *from, cast: true, transitional, number: 0, body });
            }
        };
        told(&hellos[2], &[0, 1, 2], false);
        told(&hellos[0], &[0, 1, 2], false);
        told(&leaving, &[0, 1, 2], false);
        told(&hellos[1], &[0, 1], true);
        for who in [&[1][..], &[2, 3, 4]] {
            few.view(who);
            few.run(who, false);
        }
        assert_eq!((few.primary[1], few.primary[2]), (false, true));
    }

    #[test]
    fn who_left_in_an_earlier_view_is_not_counted_in_the_next_either() {
        let mut few = Few::two();
        few.all[0].leave();
        few.run(&[0, 1], false);
        assert!(few.all[0].may_leave());
        few.view(&[0, 1]);
        few.run(&[0, 1], false);
        few.view(&[1]);
        few.run(&[1], false);
        assert!(few.primary[1]);
    }

    #[test]
    fn the_only_one_with_the_state_leaves_once_another_who_stays_has_it() {
        let mut few = Few::new(3);
        few.view(&[0]);
        few.run(&[0], false);
        few.view(&[0, 1, 2]);
        // All but the pieces of the state comes at once.
        let held = |few: &mut Few| {
            let mut pieces = Vec::new();
            let mut more = true;
            while std::mem::take(&mut more) {
                for at in 0..3 {
                    while let Some(change) = few.all[at].change() {
                        if matches!(change, Change::Wanted) {
                            assert!(few.all[at].give(vec![7; 1 << 20]));
                        }
                    }
                    while let Some((to, said)) = few.said(at, false) {
                        more = true;
                        match to {
                            Some(to) if matches!(Note::read(&said.body), Ok(Note::Piece(..))) => {
                                pieces.push((to, said))
                            }
                            _ => few.tell(&[0, 1, 2], to, &said),
                        }
                    }
                }
            }
            pieces
        };
        few.all[0].leave();
        let mut pieces = held(&mut few);
        assert!(!pieces.is_empty() && !few.all[0].may_leave(), "the others wait for its state");
        // One of them has it, and leaves, too.
        let second = few.all[1].me;
        few.all[1].leave();
        let mut one_leaves = false;
        while let Some(at) = pieces.iter().position(|(to, _)| *to == second) {
            let (_, piece) = pieces.remove(at);
            few.all[1].delivered(piece);
            pieces.extend(held(&mut few));
            one_leaves |= few.all[1].is_current();
        }
        assert!(one_leaves && !few.all[0].may_leave() && !few.all[1].may_leave(), "the third has nobody else");
        while !pieces.is_empty() {
            let (_, piece) = pieces.remove(0);
            few.all[2].delivered(piece);
            pieces.extend(held(&mut few));
        }
        assert!(few.all[2].is_current() && few.all[0].may_leave() && few.all[1].may_leave());
    }

    #[test]
    fn a_whole_group_that_leaves_waits_for_nobody_to_have_the_state() {
        let mut few = Few::new(2);
        few.view(&[0]);
        few.run(&[0], false);
        few.view(&[0, 1]);
        for at in [0, 1] {
            few.all[at].leave();
        }
        few.gives = false;
        few.run(&[0, 1], false);
        assert!(few.all[0].may_leave() && few.all[1].may_leave());
    }

    #[test]
    fn the_only_one_with_the_state_that_leaves_passes_its_vote_to_who_receives_it() {
        let mut few = Few::new(2);
        few.view(&[0]);
        few.run(&[0], false);
        few.all[0].leave();
        few.view(&[0, 1]);
        few.run(&[0, 1], false);
        few.view(&[1]);
        few.run(&[1], false);
        assert!(few.primary[1]);
    }

    #[test]
    fn who_is_asked_for_the_state_leaves_when_it_has_arrived() {
        let mut few = Few::new(2);
        few.view(&[0]);
        few.run(&[0], false);
        few.view(&[0, 1]);
        few.all[0].leave();
        few.gives = false;
        few.run(&[0, 1], false);
        assert!(!few.all[0].may_leave() && !few.all[1].has_state());
        assert!(few.all[0].give(vec![7; 1 << 20]));
        assert!(!few.all[0].may_leave(), "it is on its way");
        few.run(&[0, 1], false);
        assert!(few.all[0].may_leave() && few.all[1].has_state());
    }
}
