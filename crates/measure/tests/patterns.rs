//! Every pattern: its facts hold together, and what its far side saw and sent is that pattern's and no other's.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use measure::content::{self, Writer};
use measure::event::PathPlan;
use measure::solo::Solo;
use measure::{Cache, FarReport, Pattern, Session, SessionError, TrialReport, TrialSpec, Workspace, far, near};
use transport::clock::Monotonic;
use transport::theory::Theory;
use transport::{Capabilities, Collective, Delivered, End, Group, Link, LinkError, OneSided, Queued, Semantics, WORD};
use workload::hint::{Kernel, Precision, Team};

const SIZE: u64 = 100;
const RESPONSE: u64 = 30;
const BURST: u64 = 3;
const WARMUP: u64 = 2;
const REPEATS: u64 = 4;

fn spec(pattern: Pattern) -> TrialSpec {
    let (response, burst) = (RESPONSE, BURST);
    TrialSpec { response, burst, warmup: WARMUP, check: true, seed: 7, ..TrialSpec::plain(pattern, SIZE, REPEATS) }
}

/// What a side did with a message.
#[derive(Debug, Clone, PartialEq)]
enum Did {
    Received(Vec<u8>),
    Sent(Vec<u8>),
    /// Accessed memory that the other side exposes.
    Put(Vec<u8>),
    Fenced,
    Got(usize),
    /// Took part in what all members do: which operation, and what it brought.
    Together(&'static str, Vec<u8>),
}

/// One end of a path between two threads, which remembers what was done at it.
struct Wire {
    out: Sender<Vec<u8>>,
    into: Receiver<Vec<u8>>,
    did: Vec<Did>,
    /// What the far side exposes, and whether that changes by itself.
    memory: Arc<Mutex<Vec<u8>>>,
    spoilt: bool,
    posted: u64,
    exposed: bool,
    casts: u32,
    delivered: u32,
    /// Whether it is rank 0, and whether what it gets in a group arrives changed.
    near: bool,
    changes: bool,
}

impl Wire {
    fn pair() -> (End<Wire>, End<Wire>) {
        let ((there, from_near), (back, from_far)) = (channel(), channel());
        let memory: Arc<Mutex<Vec<u8>>> = Arc::default();
        let end = |out, into, near| {
            let (memory, did) = (Arc::clone(&memory), Vec::new());
            End::new(Wire {
                out,
                into,
                did,
                memory,
                spoilt: false,
                posted: 0,
                exposed: false,
                casts: 0,
                delivered: 0,
                near,
                changes: false,
            })
        };
        (end(there, from_far, true), end(back, from_near, false))
    }

    /// What the other member has, for what this one has.
    fn swap(&mut self, own: &[u8]) -> Result<Vec<u8>, LinkError> {
        self.out.send(own.to_vec()).map_err(|_| LinkError::Closed { doing: "taking part" })?;
        let mut came = self.into.recv().map_err(|_| LinkError::Closed { doing: "taking part" })?;
        if let (true, Some(byte)) = (self.changes && came.len() > WORD, came.get_mut(3)) {
            *byte ^= 1;
        }
        Ok(came)
    }

    fn together(&mut self, what: &'static str, got: &[u8]) {
        self.did.push(Did::Together(what, got.to_vec()));
    }
}

impl Link for Wire {
    fn capabilities(&self) -> Capabilities {
        let semantics = Semantics::Message;
        Capabilities {
            semantics,
            one_sided: true,
            queued: true,
            group: true,
            collective: true,
            ..Capabilities::plain()
        }
    }
    fn queued(&mut self) -> Option<&mut dyn Queued> {
        Some(self)
    }
    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        Some(self)
    }
    fn group(&mut self) -> Option<&mut dyn Group> {
        Some(self)
    }
    fn collective(&mut self) -> Option<&mut dyn Collective> {
        Some(self)
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.did.push(Did::Sent(message.to_vec()));
        self.out.send(message.to_vec()).map_err(|_| LinkError::Closed { doing: "sending" })
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let came = self.into.recv().map_err(|_| LinkError::Closed { doing: "receiving" })?;
        assert_eq!(came.len(), message.len(), "a message of another size came");
        message.copy_from_slice(&came);
        self.did.push(Did::Received(came));
        Ok(())
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.send(out)?;
        self.recv(into)
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Ok(true)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

/// Posts that are complete when they are asked after.
impl Queued for Wire {
    fn post(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.posted += 1;
        self.send(message)
    }
    fn posted(&self) -> u64 {
        self.posted
    }
    fn poll(&mut self, until: u64, _: Duration) -> Result<u64, LinkError> {
        assert!(until <= self.posted);
        Ok(self.posted)
    }
    fn copied(&self) -> Option<(u64, u64)> {
        Some((self.posted / 2, self.posted))
    }
}

/// A group of two.
impl Group for Wire {
    fn members(&self) -> u32 {
        2
    }
    fn rank(&self) -> u32 {
        u32::from(!self.near)
    }
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.casts += 1;
        self.send(message).map(|()| self.casts)
    }
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError> {
        self.delivered += 1;
        self.recv(message).map(|()| Delivered { from: u32::from(self.near), number: self.delivered })
    }
    fn answer(&mut self, to: u32, message: &[u8]) -> Result<(), LinkError> {
        assert_eq!(to, 0);
        self.send(message)
    }
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        self.recv(message).map(|()| 1)
    }
}

/// The same two, doing what members do together. That they tell each other their times is no deed of the pattern's.
impl Collective for Wire {
    fn members(&self) -> u32 {
        2
    }
    fn rank(&self) -> u32 {
        u32::from(!self.near)
    }
    fn barrier(&mut self) -> Result<(), LinkError> {
        self.swap(&[])?;
        self.together("barrier", &[]);
        Ok(())
    }
    fn broadcast(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        let theirs = self.swap(message)?;
        if !self.near {
            message.copy_from_slice(&theirs);
        }
        self.together("broadcast", message);
        Ok(())
    }
    fn allreduce(&mut self, mine: &[u8], sums: &mut [u8]) -> Result<(), LinkError> {
        let theirs = self.swap(mine)?;
        let word = |word: &[u8]| u64::from_ne_bytes(word.try_into().unwrap());
        for ((sum, a), b) in sums.chunks_exact_mut(WORD).zip(mine.chunks_exact(WORD)).zip(theirs.chunks_exact(WORD)) {
            sum.copy_from_slice(&word(a).wrapping_add(word(b)).to_ne_bytes());
        }
        self.together("allreduce", sums);
        Ok(())
    }
    fn allgather(&mut self, mine: &[u8], all: &mut [u8]) -> Result<(), LinkError> {
        let theirs = self.swap(mine)?;
        let both = if self.near { [mine, &theirs] } else { [&theirs, mine] };
        all.copy_from_slice(&both.concat());
        // Their times, which members tell each other.
        if mine.len() > 2 * WORD {
            self.together("allgather", all);
        }
        Ok(())
    }
    fn all_to_all(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        let (for_near, for_far) = out.split_at(out.len() / 2);
        let (stays, goes) = if self.near { (for_near, for_far) } else { (for_far, for_near) };
        let theirs = self.swap(goes)?;
        let both = if self.near { [stays, &theirs] } else { [&theirs, stays] };
        into.copy_from_slice(&both.concat());
        self.together("all-to-all", into);
        Ok(())
    }
}

/// Exposed and left by messages that are no deeds of the pattern's.
impl OneSided for Wire {
    fn reserve(&mut self, len: usize) -> Result<(), LinkError> {
        self.memory.lock().unwrap().resize(len, 0);
        Ok(())
    }
    fn expose(&mut self, len: usize) -> Result<(), LinkError> {
        self.reserve(len)?;
        self.exposed = true;
        self.out.send(len.to_le_bytes().to_vec()).map_err(|_| LinkError::Closed { doing: "exposing" })
    }
    fn fill(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        assert!(!self.exposed, "the near side may have looked by now");
        self.memory.lock().unwrap()[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }
    fn read(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        into.copy_from_slice(&self.memory.lock().unwrap()[at..at + into.len()]);
        Ok(())
    }
    fn withdraw(&mut self, _: Duration) -> Result<bool, LinkError> {
        match self.into.try_recv() {
            Err(TryRecvError::Empty) => Ok(false),
            left => left.map(|_| true).map_err(|_| LinkError::Closed { doing: "waiting" }),
        }
    }
    fn reach(&mut self, len: usize) -> Result<(), LinkError> {
        let exposed = self.into.recv().map_err(|_| LinkError::Closed { doing: "reaching" })?;
        assert!(usize::from_le_bytes(exposed.try_into().unwrap()) >= len);
        Ok(())
    }
    fn put(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        self.did.push(Did::Put(from.to_vec()));
        self.fill(at, from)?;
        if self.spoilt {
            self.memory.lock().unwrap()[at + 7] ^= 1;
        }
        Ok(())
    }
    fn get(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        self.did.push(Did::Got(into.len()));
        if self.spoilt { Ok(()) } else { self.read(at, into) }
    }
    fn fence(&mut self) -> Result<(), LinkError> {
        self.did.push(Did::Fenced);
        Ok(())
    }
    fn leave(&mut self) -> Result<(), LinkError> {
        self.out.send(Vec::new()).map_err(|_| LinkError::Closed { doing: "leaving" })
    }
}

/// A trial of both halves; what was done at the far end, and what each half reports.
fn both(spec: &TrialSpec) -> (Vec<Did>, TrialReport, FarReport) {
    let (mut here, mut there) = Wire::pair();
    std::thread::scope(|threads| {
        let far = threads.spawn(move || {
            let report = far::run(&mut there, spec, &mut Workspace::new(false)).unwrap();
            (there.into_link().did, report)
        });
        let report = near::run(&mut here, &Monotonic, spec, &mut Workspace::new(true)).unwrap();
        let (did, far) = far.join().unwrap();
        (did, report, far)
    })
}

fn filled(len: u64, number: u64, writer: Writer) -> Vec<u8> {
    let mut message = vec![0; len as usize];
    content::fill(&mut message, 7, number, writer);
    message
}

/// A message of a member of a group of two.
fn numbered(rank: u64, number: u64) -> Vec<u8> {
    let mut message = filled(SIZE, number * 2 + rank, Writer::Near);
    message[..8].copy_from_slice(&number.to_le_bytes());
    message
}

/// An operation of all members; with its contents checked they wait for each other first.
fn together(what: &'static str, got: Vec<u8>) -> Vec<Did> {
    vec![Did::Together("barrier", Vec::new()), Did::Together(what, got)]
}

/// What the far end of a pattern must do in iteration `i`; none of one that keeps no connection.
fn must(pattern: Pattern, i: u64) -> Option<Vec<Did>> {
    use Did::{Received, Sent};
    let (near, own) = (filled(SIZE, i, Writer::Near), |len| filled(len, i, Writer::Far));
    Some(match pattern {
        Pattern::PingPong => vec![Received(near.clone()), Sent(near)],
        Pattern::Stream | Pattern::Post => vec![Received(near)],
        Pattern::Burst => {
            let messages = (0..BURST).map(|b| Received(filled(SIZE, i * BURST + b, Writer::Near)));
            messages.chain([Sent(vec![0])]).collect()
        }
        Pattern::Bidirectional => vec![Sent(own(SIZE)), Received(near)],
        Pattern::Request => vec![Received(near), Sent(own(RESPONSE))],
        // The answer says which cast it answers, from 1.
        Pattern::Cast => vec![Received(near), Sent((i as u32 + 1).to_le_bytes().to_vec())],
        // What is told has a time, too.
        Pattern::OneSender => {
            let round = (i * BURST..(i + 1) * BURST).map(|number| Received(numbered(0, number)));
            round.chain([Sent(i.to_le_bytes().to_vec())]).collect()
        }
        Pattern::Group => {
            let (message, round) = (numbered, i * BURST..(i + 1) * BURST);
            round.clone().map(|n| Sent(message(1, n))).chain(round.map(|n| Received(message(0, n)))).collect()
        }
        Pattern::Barrier => vec![Did::Together("barrier", Vec::new()); 2],
        Pattern::Broadcast => together("broadcast", filled(SIZE, i * 4, Writer::Near)),
        Pattern::Allreduce => {
            // 100 bytes are 13 words.
            let words = |rank| filled(104, (i * 2 + rank) * 2, Writer::Near);
            let word = |word: &[u8]| u64::from_ne_bytes(word.try_into().unwrap());
            let (mine, theirs) = (words(0), words(1));
            let sums = mine.chunks(WORD).zip(theirs.chunks(WORD)).map(|(a, b)| word(a).wrapping_add(word(b)));
            together("allreduce", sums.flat_map(u64::to_ne_bytes).collect())
        }
        Pattern::Allgather => {
            together("allgather", [0, 1].map(|rank| filled(SIZE, (i * 2 + rank) * 2, Writer::Near)).concat())
        }
        // What is for rank 1.
        Pattern::AllToAll => {
            together("all-to-all", [0, 1].map(|from| filled(SIZE, (i * 2 + from) * 2 + 1, Writer::Near)).concat())
        }
        // The far side takes no part.
        Pattern::Put | Pattern::Get => Vec::new(),
        Pattern::Connect => return None,
        Pattern::Hint => {
            let mut kernel = Kernel::new(Precision::DOUBLE);
            kernel.reserve(SIZE).unwrap();
            let [mine, theirs] = [1, 0].map(|rank| kernel.run(Team::of_two(rank), SIZE).bytes().to_vec());
            vec![Sent(mine), Received(theirs)]
        }
    })
}

#[test]
fn each_runs_as_itself() {
    for pattern in Pattern::ALL {
        let spec = spec(*pattern);
        let Some(script) = (0..WARMUP + REPEATS).map(|i| must(*pattern, i)).collect::<Option<Vec<_>>>() else {
            assert!(pattern.facts().anew.is_some(), "{pattern:?}");
            let (mut wire, _other) = Wire::pair();
            assert!(near::run(&mut wire, &Monotonic, &spec, &mut Workspace::new(true)).is_err(), "{pattern:?}");
            continue;
        };
        let (mut did, report, far) = both(&spec);
        if *pattern == Pattern::OneSender {
            let told = did.iter_mut().filter_map(|did| if let Did::Sent(message) = did { Some(message) } else { None });
            told.for_each(|told| told.truncate(8));
        }
        assert_eq!(did, script.concat(), "{pattern:?}");
        assert_eq!(report.repeats, REPEATS, "{pattern:?}");
        assert_eq!(far.received, pattern.facts().sends(&spec) * (WARMUP + REPEATS), "{pattern:?}");
        assert_eq!(far.seconds > 0.0, pattern.facts().unanswered, "{pattern:?}: who times it");
        assert_eq!(far.bounds, report.bounds, "{pattern:?}");
        let can = Capabilities { semantics: Semantics::Message, ..Capabilities::plain() };
        measure::credible::credible(&far, &spec, &can, Duration::from_secs(60)).unwrap();
        (pattern.facts().agree)(&report, &far).unwrap();
    }
}

#[test]
fn a_collective_costs_every_member() {
    for pattern in Pattern::ALL.iter().filter(|p| p.facts().collective) {
        let (_, near, far) = both(&TrialSpec { check: false, ..spec(*pattern) });
        for cost in [near.cost, far.cost] {
            let cost = cost.unwrap_or_else(|| panic!("{pattern:?} has no cost"));
            assert!(cost.iterations == REPEATS && cost.elapsed_ns > 0, "{pattern:?}: {cost:?}");
        }
        let can = Capabilities { semantics: Semantics::Message, ..Capabilities::plain() };
        measure::credible::credible(&far, &spec(*pattern), &can, Duration::from_secs(60)).unwrap();
    }
}

#[test]
fn members_of_a_collective_end_a_trial_together_that_takes_too_long() {
    for pattern in Pattern::ALL.iter().filter(|p| p.facts().collective) {
        let all = spec(*pattern);
        for (within, done) in [(Some(0), 1), (Some(u64::MAX), REPEATS)] {
            let (_, near, far) = both(&TrialSpec { within, check: false, ..all.clone() });
            assert_eq!((near.repeats, far.received), (done, WARMUP + done), "{pattern:?} {within:?}");
            let costs = [near.cost, far.cost].map(|cost| cost.map(|cost| cost.iterations));
            assert_eq!(costs, [Some(done); 2], "{pattern:?} {within:?}");
        }
    }
}

#[test]
fn reversed_the_far_side_sends() {
    use Did::{Received, Sent};
    for pattern in Pattern::ALL.iter().filter(|p| p.facts().reverses) {
        let spec = TrialSpec { reverse: true, ..spec(*pattern) };
        let script = (0..WARMUP + REPEATS).flat_map(|i| match pattern {
            // Who sends a stream fills it as who measures it.
            Pattern::Stream | Pattern::Post => vec![Sent(filled(SIZE, i, Writer::Near))],
            _ => {
                let messages = (0..BURST).map(|b| Sent(filled(SIZE, i * BURST + b, Writer::Far)));
                [Received(filled(1, i * BURST, Writer::Near))].into_iter().chain(messages).collect()
            }
        });
        let (did, report, far) = both(&spec);
        assert_eq!(did, script.collect::<Vec<_>>(), "{pattern:?}");
        let can = Capabilities { semantics: Semantics::Message, ..Capabilities::plain() };
        measure::credible::credible(&far, &spec, &can, Duration::from_secs(60)).unwrap();
        assert_eq!(far.received, pattern.facts().sends(&spec) * (WARMUP + REPEATS), "{pattern:?}");
        let (sent, whole) = (far.clone(), report.clone().joined(&spec, far));
        assert_eq!(whole.repeats, REPEATS, "{pattern:?}");
        let all = WARMUP + REPEATS;
        let copied = (*pattern == Pattern::Post).then_some((all / 2, all));
        assert_eq!((whole.copied, whole.far.copied), (copied, None), "{pattern:?}: told once, of who posts");
        if pattern.facts().unanswered {
            assert_eq!((whole.seconds, sent.bytes), (sent.seconds, REPEATS * SIZE), "the sender's own");
            assert_eq!(whole.far, report.far, "the receiver's own");
            assert_eq!((whole.far.received, whole.far.bytes), (WARMUP + REPEATS, REPEATS * SIZE));
        } else {
            assert!(whole.median > 0.0 && whole.far == sent, "the near side times it");
        }
    }
    assert_eq!(Pattern::those(|f| f.reverses), "stream, burst and post");
}

#[test]
fn what_is_said_of_a_patterns_messages_is_what_travels() {
    let sends = |p: &&Pattern| p.facts().anew.is_none() && !p.facts().one_sided && !p.facts().collective;
    for pattern in Pattern::ALL.iter().filter(sends) {
        let spec = spec(*pattern);
        let (there, back) = (pattern.facts().messages)(&spec);
        let (mut sent, mut received) = (0, 0);
        for did in both(&spec).0 {
            match did {
                Did::Received(message) => (received, _) = (received + 1, assert_eq!(message.len() as u64, there)),
                Did::Sent(message) => (sent, _) = (sent + 1, assert_eq!(message.len() as u64, back)),
                other => panic!("{pattern:?}: {other:?}"),
            }
        }
        assert_eq!(received, (WARMUP + REPEATS) * pattern.facts().sends(&spec), "{pattern:?}");
        // Where all members cast, the far end sends as much as the near one.
        let answers = if *pattern == Pattern::Group { pattern.facts().sends(&spec) } else { 1 };
        let answers = if pattern.facts().unanswered { 0 } else { (WARMUP + REPEATS) * answers };
        assert_eq!(sent, answers, "{pattern:?}");
    }
}

/// The near half of a one-sided pattern and what it did; what the far side then found.
fn accessed(pattern: Pattern, cache: Cache, spoilt: bool) -> (Vec<Did>, Result<TrialReport, SessionError>, FarReport) {
    let spec = TrialSpec { cache, pool: 1000, ..spec(pattern) };
    let (mut here, mut there) = Wire::pair();
    here.spoilt = spoilt;
    std::thread::scope(|threads| {
        let spec = &spec;
        let far = threads.spawn(move || far::run(&mut there, spec, &mut Workspace::new(false)).unwrap());
        let report = near::run(&mut here, &Monotonic, spec, &mut Workspace::new(true));
        if report.is_err() {
            // The session would end the far half.
            here.leave().unwrap();
        }
        (here.into_link().did, report, far.join().unwrap())
    })
}

#[test]
fn one_sided_accesses_are_made_by_the_near_side_alone() {
    for cache in [Cache::Warm, Cache::Cold] {
        let (did, report, far) = accessed(Pattern::Put, cache, false);
        let puts = (0..WARMUP + REPEATS).flat_map(|i| {
            // Under --check what was put is got back, after its time.
            [Did::Put(filled(SIZE, i, Writer::Near)), Did::Fenced, Did::Got(SIZE as usize)]
        });
        assert_eq!(did, puts.collect::<Vec<_>>(), "{cache:?}");
        assert_eq!((report.unwrap().repeats, far), (REPEATS, FarReport::default()), "{cache:?}");
        let (did, report, far) = accessed(Pattern::Get, cache, false);
        assert_eq!(did, vec![Did::Got(SIZE as usize); (WARMUP + REPEATS) as usize], "{cache:?}");
        assert_eq!((report.unwrap().repeats, far), (REPEATS, FarReport::default()), "{cache:?}");
    }
}

#[test]
fn contents_of_one_sided_accesses_are_checked_on_both_sides() {
    for cache in [Cache::Warm, Cache::Cold] {
        let (_, report, far) = accessed(Pattern::Put, cache, true);
        let near = matches!(report, Err(SessionError::Corrupt { iteration: 0, .. }));
        assert!(near, "{cache:?}: {report:?}, got back by the near side");
        assert_eq!(far.corrupt.map(|(_, offset)| offset), Some(7), "{cache:?}: seen by the far side");
        let spec = TrialSpec { cache, ..spec(Pattern::Put) };
        measure::credible::credible(&far, &spec, &Capabilities::plain(), Duration::from_secs(60)).unwrap();
        // A get that brings nothing leaves what the last one brought, which must not pass.
        let (_, report, _) = accessed(Pattern::Get, cache, true);
        assert!(matches!(report, Err(SessionError::Corrupt { .. })), "{cache:?}: {report:?}");
    }
}

#[test]
fn contents_of_collectives_are_checked_by_every_member() {
    for pattern in Pattern::ALL.iter().filter(|p| p.facts().collective && **p != Pattern::Barrier) {
        for (near, far) in [(true, false), (false, true)] {
            let spec = spec(*pattern);
            let (mut here, mut there) = Wire::pair();
            (here.changes, there.changes) = (near, far);
            let (report, seen) = std::thread::scope(|threads| {
                let spec = &spec;
                let far = threads.spawn(move || far::run(&mut there, spec, &mut Workspace::new(false)).unwrap());
                (near::run(&mut here, &Monotonic, spec, &mut Workspace::new(true)), far.join().unwrap())
            });
            let gets = near && *pattern != Pattern::Broadcast;
            assert_eq!(matches!(report, Err(SessionError::Corrupt { offset: 3, .. })), gets, "{pattern:?}: {report:?}");
            assert_eq!(seen.corrupt, far.then_some((0, 3)), "{pattern:?}");
            measure::credible::credible(&seen, &spec, &Capabilities::plain(), Duration::from_secs(60)).unwrap();
        }
    }
}

#[test]
fn what_was_posted_and_copied_is_reported() {
    let (_, report, far) = both(&spec(Pattern::Post));
    let all = WARMUP + REPEATS;
    assert_eq!((report.copied, far.received), (Some((all / 2, all)), all));
    assert!(report.sound() && !TrialReport { copied: Some((2, 1)), ..report }.sound());
}

/// One way of the modelled path.
fn way(theory: &Theory, size: u64) -> f64 {
    let packets = size.div_ceil(theory.packet).max(1);
    theory.latency + (packets * theory.header + size) as f64 * 8.0 / theory.rate
}

#[test]
fn each_takes_its_own_time_on_the_modelled_link() {
    let settings = transport::theory::settings("work=1us,members=3").unwrap();
    let theory = Theory::of(&settings);
    let path = PathPlan { settings, ..transport::theory::NAME.into() };
    let way = |size| way(&theory, size);
    let mut times = BTreeSet::new();
    for pattern in Pattern::ALL {
        let mut session = Solo::new(&path, Arc::new(AtomicBool::new(false))).unwrap();
        session.open(1).unwrap();
        let spec = TrialSpec { check: false, ..spec(*pattern) };
        if pattern.facts().together {
            assert!(session.trial(&spec).is_err(), "{pattern:?}: the model's other members only answer");
            continue;
        }
        let report = session.trial(&spec).unwrap();
        let receivers = if *pattern == Pattern::Cast { 2 } else { 1 };
        assert_eq!(report.far.received, REPEATS * receivers * pattern.facts().sends(&spec), "{pattern:?}");
        let exact = match pattern {
            Pattern::PingPong => 2.0 * way(SIZE),
            Pattern::Bidirectional => way(SIZE),
            // The message one way, and a packet without payload the other.
            Pattern::Put | Pattern::Get => way(SIZE) + way(0),
            Pattern::Request => way(SIZE) + way(RESPONSE),
            // The second answer waits for the line.
            Pattern::Cast => way(SIZE) + way(4) + way(4) - theory.latency,
            Pattern::Connect => 2.0 * way(0) + way(SIZE) + way(RESPONSE),
            Pattern::Hint => way(16) + SIZE as f64 * theory.work,
            // Messages follow each other before the first has arrived.
            Pattern::Burst => {
                2.0 * theory.latency + (BURST as f64 * (way(SIZE) - theory.latency)) + way(1) - theory.latency
            }
            Pattern::Group
            | Pattern::OneSender
            | Pattern::Barrier
            | Pattern::Broadcast
            | Pattern::Allreduce
            | Pattern::Allgather
            | Pattern::AllToAll => {
                continue;
            }
            Pattern::Stream | Pattern::Post => {
                assert!(report.median == 0.0 && report.far.seconds > 0.0 && report.far.bytes > 0);
                report.far.seconds
            }
        };
        let found = if report.median > 0.0 { report.median } else { report.far.seconds };
        assert!((found / exact - 1.0).abs() < 1e-3, "{pattern:?}: {found} is not {exact}");
        let alone = times.insert((found * 1e10) as u64);
        assert!(
            alone || matches!(pattern, Pattern::Get | Pattern::Post),
            "{pattern:?} takes as long as another, and is no get after a put"
        );
    }
}

#[test]
fn each_has_its_facts() {
    let plain = Capabilities::plain();
    for pattern in Pattern::ALL {
        let (facts, name) = (pattern.facts(), pattern.name());
        assert_eq!(serde_json::to_value(pattern).unwrap(), name, "the name in a run file is what a person types");
        assert_eq!(serde_json::from_value::<Pattern>(name.into()).unwrap(), *pattern);
        assert_eq!(facts.help.is_none(), facts.score.is_some(), "{name}: HINT alone has a command of its own");
        assert_eq!(
            (facts.refuses)(&Capabilities {
                connects: true,
                one_sided: true,
                queued: true,
                group: true,
                collective: true,
                ..plain.clone()
            }),
            None,
            "{name}"
        );
        assert_eq!((facts.whole)(&spec(*pattern)), Ok(()), "{name}");
        let (there, back) = (facts.messages)(&spec(*pattern));
        assert!((facts.sends(&spec(*pattern)) >= 1 || facts.one_sided) && there + back > 0, "{name}");
        assert!((facts.ways)(BURST) >= 1 && (facts.transfers)(false, BURST) >= 1.0 && facts.fewest >= 1, "{name}");
        assert!(!facts.size.words(1024).is_empty() && !(facts.size.brief)(1024).is_empty(), "{name}");
        // One process that copies has nobody to answer.
        let copies = Capabilities { two_ended: false, ..plain.clone() };
        assert_eq!((facts.refuses)(&copies).is_none(), matches!(name, "ping-pong" | "stream"), "{name}");
    }
    assert_eq!(Pattern::those(|f| f.on_schedule.is_some()), "ping-pong and request");
    assert_eq!(Pattern::those(|f| f.responds), "request and connect");
    assert_eq!(Pattern::those(|f| f.loggp.is_some()), "ping-pong and stream");
    assert_eq!(Pattern::those(|f| f.netpipe.is_some()), "ping-pong, stream and bidirectional");
    assert_eq!(Pattern::those(|f| f.unanswered), "stream and post");
    assert_eq!(Pattern::those(|f| f.one_sided), "put and get");
    assert_eq!(Pattern::those(|f| f.in_group.is_some() && !f.collective), "stream, cast, group and one-sender");
    assert_eq!(Pattern::those(|f| f.collective), "barrier, broadcast, allreduce, allgather and all-to-all");
    for pattern in Pattern::ALL.iter().filter(|p| p.facts().one_sided) {
        let reliable = |reliable| Capabilities { one_sided: true, reliable, ..plain.clone() };
        let refused = |can: &Capabilities| (pattern.facts().refuses)(can).is_some();
        assert!(!refused(&reliable(true)) && refused(&reliable(false)) && refused(&plain), "{pattern:?}");
    }
}
