//! Every pattern: its facts hold together, and what its far side saw and sent is that pattern's and no other's.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use measure::content::{self, Writer};
use measure::event::PathPlan;
use measure::solo::Solo;
use measure::{FarReport, Pattern, Session, TrialReport, TrialSpec, Workspace, far, near};
use transport::clock::Monotonic;
use transport::theory::Theory;
use transport::{Capabilities, End, Link, LinkError, Semantics};
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

/// What a side did with a block.
#[derive(Debug, Clone, PartialEq)]
enum Did {
    Received(Vec<u8>),
    Sent(Vec<u8>),
}

/// One end of a path between two threads, which remembers what was done at it.
struct Wire {
    out: Sender<Vec<u8>>,
    into: Receiver<Vec<u8>>,
    did: Vec<Did>,
}

impl Wire {
    fn pair() -> (End<Wire>, End<Wire>) {
        let ((there, from_near), (back, from_far)) = (channel(), channel());
        let end = |out, into| End::new(Wire { out, into, did: Vec::new() });
        (end(there, from_far), end(back, from_near))
    }
}

impl Link for Wire {
    fn capabilities(&self) -> Capabilities {
        Capabilities { semantics: Semantics::Message, ..Capabilities::plain() }
    }
    fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
        self.did.push(Did::Sent(block.to_vec()));
        self.out.send(block.to_vec()).map_err(|_| LinkError::Closed { doing: "sending" })
    }
    fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
        let came = self.into.recv().map_err(|_| LinkError::Closed { doing: "receiving" })?;
        assert_eq!(came.len(), block.len(), "a message of another size came");
        block.copy_from_slice(&came);
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
    let mut block = vec![0; len as usize];
    content::fill(&mut block, 7, number, writer);
    block
}

/// What the far end of a pattern must do in iteration `i`; none of one that keeps no connection.
fn must(pattern: Pattern, i: u64) -> Option<Vec<Did>> {
    use Did::{Received, Sent};
    let (near, own) = (filled(SIZE, i, Writer::Near), |len| filled(len, i, Writer::Far));
    Some(match pattern {
        Pattern::PingPong => vec![Received(near.clone()), Sent(near)],
        Pattern::Stream => vec![Received(near)],
        Pattern::Burst => {
            let blocks = (0..BURST).map(|b| Received(filled(SIZE, i * BURST + b, Writer::Near)));
            blocks.chain([Sent(vec![0])]).collect()
        }
        Pattern::Bidirectional => vec![Sent(own(SIZE)), Received(near)],
        Pattern::Request => vec![Received(near), Sent(own(RESPONSE))],
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
        let (did, report, far) = both(&spec);
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
fn reversed_the_far_side_sends() {
    use Did::{Received, Sent};
    for pattern in Pattern::ALL.iter().filter(|p| p.facts().reverses) {
        let spec = TrialSpec { reverse: true, ..spec(*pattern) };
        let script = (0..WARMUP + REPEATS).flat_map(|i| match pattern {
            // Who sends a stream fills it as who measures it.
            Pattern::Stream => vec![Sent(filled(SIZE, i, Writer::Near))],
            _ => {
                let blocks = (0..BURST).map(|b| Sent(filled(SIZE, i * BURST + b, Writer::Far)));
                [Received(filled(1, i * BURST, Writer::Near))].into_iter().chain(blocks).collect()
            }
        });
        let (did, report, far) = both(&spec);
        assert_eq!(did, script.collect::<Vec<_>>(), "{pattern:?}");
        let can = Capabilities { semantics: Semantics::Message, ..Capabilities::plain() };
        measure::credible::credible(&far, &spec, &can, Duration::from_secs(60)).unwrap();
        assert_eq!(far.received, pattern.facts().sends(&spec) * (WARMUP + REPEATS), "{pattern:?}");
        let (sent, whole) = (far.clone(), report.clone().joined(&spec, far));
        assert_eq!(whole.repeats, REPEATS, "{pattern:?}");
        if *pattern == Pattern::Stream {
            assert_eq!((whole.seconds, sent.bytes), (sent.seconds, REPEATS * SIZE), "the sender's own");
            assert_eq!(whole.far, report.far, "the receiver's own");
            assert_eq!((whole.far.received, whole.far.bytes), (WARMUP + REPEATS, (REPEATS - 1) * SIZE));
        } else {
            assert!(whole.median > 0.0 && whole.far == sent, "the near side times it");
        }
    }
    assert_eq!(Pattern::those(|f| f.reverses), "stream and burst");
}

#[test]
fn what_is_said_of_a_patterns_blocks_is_what_travels() {
    for pattern in Pattern::ALL.iter().filter(|p| p.facts().anew.is_none()) {
        let spec = spec(*pattern);
        let (there, back) = (pattern.facts().blocks)(&spec);
        let (mut sent, mut received) = (0, 0);
        for did in both(&spec).0 {
            match did {
                Did::Received(block) => (received, _) = (received + 1, assert_eq!(block.len() as u64, there)),
                Did::Sent(block) => (sent, _) = (sent + 1, assert_eq!(block.len() as u64, back)),
            }
        }
        assert_eq!(received, (WARMUP + REPEATS) * pattern.facts().sends(&spec), "{pattern:?}");
        assert_eq!(sent, if pattern.facts().unanswered { 0 } else { WARMUP + REPEATS }, "{pattern:?}");
    }
}

/// One way of the modelled path.
fn way(theory: &Theory, size: u64) -> f64 {
    let packets = size.div_ceil(theory.packet).max(1);
    theory.latency + (packets * theory.header + size) as f64 * 8.0 / theory.rate
}

#[test]
fn each_takes_its_own_time_on_the_modelled_link() {
    let settings = transport::theory::settings("work=1us").unwrap();
    let theory = Theory::of(&settings);
    let path = PathPlan { settings, ..transport::theory::NAME.into() };
    let way = |size| way(&theory, size);
    let mut times = BTreeSet::new();
    for pattern in Pattern::ALL {
        let mut session = Solo::new(&path, Arc::new(AtomicBool::new(false))).unwrap();
        session.open(1).unwrap();
        let spec = TrialSpec { check: false, ..spec(*pattern) };
        let report = session.trial(&spec).unwrap();
        assert_eq!(report.far.received, REPEATS * pattern.facts().sends(&spec), "{pattern:?}");
        let exact = match pattern {
            Pattern::PingPong => 2.0 * way(SIZE),
            Pattern::Bidirectional => way(SIZE),
            Pattern::Request => way(SIZE) + way(RESPONSE),
            Pattern::Connect => 2.0 * way(0) + way(SIZE) + way(RESPONSE),
            Pattern::Hint => way(16) + SIZE as f64 * theory.work,
            // Blocks follow each other before the first has arrived.
            Pattern::Burst => {
                2.0 * theory.latency + (BURST as f64 * (way(SIZE) - theory.latency)) + way(1) - theory.latency
            }
            Pattern::Stream => {
                assert!(report.median == 0.0 && report.far.seconds > 0.0 && report.far.bytes > 0);
                report.far.seconds
            }
        };
        let found = if report.median > 0.0 { report.median } else { report.far.seconds };
        assert!((found / exact - 1.0).abs() < 1e-3, "{pattern:?}: {found} is not {exact}");
        assert!(times.insert((found * 1e10) as u64), "{pattern:?} takes as long as another");
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
        assert_eq!((facts.refuses)(&Capabilities { connects: true, ..plain.clone() }), None, "{name}");
        assert_eq!((facts.whole)(&spec(*pattern)), Ok(()), "{name}");
        assert!(facts.sends(&spec(*pattern)) >= 1 && (facts.blocks)(&spec(*pattern)).0 > 0, "{name}");
        assert!((facts.ways)(BURST) >= 1 && (facts.transfers)(false, BURST) >= 1.0 && facts.fewest >= 1, "{name}");
        assert!(!(facts.sized)(1024).is_empty() && !(facts.brief)(1024).is_empty(), "{name}");
        // One process that copies has nobody to answer.
        let copies = Capabilities { two_ended: false, ..plain.clone() };
        assert_eq!((facts.refuses)(&copies).is_none(), matches!(name, "ping-pong" | "stream"), "{name}");
    }
    assert_eq!(Pattern::those(|f| f.on_schedule.is_some()), "ping-pong and request");
    assert_eq!(Pattern::those(|f| f.responds), "request and connect");
    assert_eq!(Pattern::those(|f| f.loggp.is_some()), "ping-pong and stream");
    assert_eq!(Pattern::those(|f| f.netpipe.is_some()), "ping-pong, stream and bidirectional");
    assert_eq!(Pattern::those(|f| f.unanswered), "stream");
}
