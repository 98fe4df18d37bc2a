//! Points that end early, because their interval is as narrow as was asked for: how often it holds the truth, and how many rounds
//! that takes. A mock session with a clock of its own; seeds are fixed, so a failure is a change of the code and never chance.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use measure::event::{Calibration, Plan, PointEnded, Trial, Why};
use measure::figures::{self, Common};
use measure::session::Party;
use measure::{Event, Session, SessionError, TrialReport, TrialSpec};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use transport::Capabilities;

/// What one way takes of a size, seconds.
fn truth(size: u64) -> f64 {
    10e-6 + size as f64 * 8e-10
}

/// A path with noise that a connection has as a whole, noise of each trial, and states of 6% that last for some seconds.
struct Path {
    between: f64,
    within: f64,
    /// Seconds that a state lasts on average; none where it is 0.
    lasts: f64,
    level: f64,
    slow: bool,
    changes: f64,
    now: f64,
    rng: ChaCha8Rng,
}

impl Path {
    fn normal(&mut self) -> f64 {
        stats::normal(&mut self.rng)
    }

    /// The machine's state now, as a logarithm: half of the time 0.03, else -0.03.
    fn state(&mut self) -> f64 {
        if self.lasts <= 0.0 {
            return 0.0;
        }
        while self.changes <= self.now {
            self.slow = !self.slow;
            self.changes -= self.lasts * (1.0 - self.rng.random::<f64>()).ln();
        }
        if self.slow { 0.03 } else { -0.03 }
    }
}

impl Session for Path {
    fn capabilities(&self) -> Capabilities {
        transport::tcp::NAME.capabilities()
    }
    fn open(&mut self, _: u32) -> Result<Party, SessionError> {
        self.level = self.between * self.normal();
        self.now += 5e-3;
        Ok(Party::default())
    }
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let log = self.level + self.state() + self.within * self.normal();
        let each = 2.0 * truth(spec.size) * log.exp();
        let seconds = each * spec.repeats as f64;
        self.now += seconds + each * spec.warmup as f64 + 2e-4;
        Ok(TrialReport { repeats: spec.repeats, seconds, median: each, min: each, max: each, ..TrialReport::default() })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        (self.now * 1e9) as u64
    }
}

/// What of the points of some runs ended early.
#[derive(Default)]
struct Early {
    points: usize,
    ended: usize,
    /// Ended ones whose interval held the truth: as it was told at that moment, and as the whole run's file tells it.
    held: usize,
    held_in_file: usize,
    /// Rounds of ended ones, and how far their intervals reach.
    rounds: Vec<f64>,
    reach: Vec<f64>,
}

/// The runs of one case.
struct Case {
    name: &'static str,
    sizes: u32,
    between: f64,
    within: f64,
    lasts: f64,
    precision: f64,
    budget: f64,
}

impl Case {
    fn runs(&self, runs: u64) -> Early {
        let mut early = Early::default();
        let calibration = Calibration { clock_cost_ns: 25.0, clock_step_ns: 1.0, loop_cost_ns: 2.0 };
        let plan = Plan {
            sizes: Some((0..self.sizes).map(|i| 64 << (i % 16) | u64::from(i / 16)).collect()),
            precision: self.precision,
            precise: true,
            budget: self.budget,
            ..Plan::default()
        };
        for seed in 0..runs {
            let rng = ChaCha8Rng::seed_from_u64(seed);
            let Self { between, within, lasts, .. } = *self;
            let mut path = Path { between, within, lasts, level: 0.0, slow: false, changes: 0.0, now: 0.0, rng };
            path.slow = path.rng.random();
            let (mut ended, mut trials) = (Vec::new(), BTreeMap::<u64, Vec<Trial>>::new());
            let mut tell = |e: &Event| {
                match e {
                    Event::Point(p) => ended.push(p.clone()),
                    Event::Trial(t) => trials.entry(t.size).or_default().push(t.clone()),
                    _ => {}
                }
                Ok(())
            };
            measure::run(&plan, calibration, vec![Box::new(path)], &mut tell, &AtomicBool::new(false));
            early.points += ended.len();
            let kind = transport::tcp::NAME;
            let common = Common::of(&plan, kind, calibration, trials.values().map(Vec::as_slice));
            for PointEnded { size, figures: told, .. } in ended.into_iter().filter(|p| p.why == Why::Precision) {
                let holds = |low: f64, high: f64| usize::from((low..=high).contains(&truth(size)));
                let of_size: Vec<&Trial> = trials[&size].iter().collect();
                let read = figures::figures(&plan, kind, &of_size, &common).expect("it has trials");
                let read = measure::settled(read, plan.precision);
                early.ended += 1;
                early.held += holds(told.low, told.high);
                early.held_in_file += holds(read.low, read.high);
                early.reach.push(read.reach());
                early.rounds.push(f64::from(told.rounds));
            }
        }
        println!(
            "{}, {} to {}: {} of {} ended early, after {:.0} rounds (median); {:.1}% held when they ended, {:.1}% in the file, reach {:.4}",
            self.name,
            self.precision,
            self.budget,
            early.ended,
            early.points,
            stats::median(&early.rounds),
            100.0 * early.held as f64 / early.ended as f64,
            100.0 * early.held_in_file as f64 / early.ended as f64,
            stats::median(&early.reach),
        );
        early
    }
}

/// Three sizes and one, rounds that differ by little and by much, lasting states; points of which nearly all, half and few end early.
const CASES: [Case; 6] = [
    Case {
        name: "three sizes, rounds 8%",
        sizes: 3,
        between: 0.08,
        within: 0.02,
        lasts: 0.0,
        precision: 0.05,
        budget: 30.0,
    },
    Case {
        name: "three sizes, rounds 8%",
        sizes: 3,
        between: 0.08,
        within: 0.02,
        lasts: 0.0,
        precision: 0.08,
        budget: 6.0,
    },
    Case {
        name: "one size, rounds 8%",
        sizes: 1,
        between: 0.08,
        within: 0.02,
        lasts: 0.0,
        precision: 0.05,
        budget: 12.0,
    },
    Case {
        name: "one size, rounds 3%",
        sizes: 1,
        between: 0.03,
        within: 0.03,
        lasts: 0.0,
        precision: 0.02,
        budget: 12.0,
    },
    Case {
        name: "forty sizes, rounds alike",
        sizes: 40,
        between: 0.0,
        within: 0.05,
        lasts: 0.0,
        precision: 0.04,
        budget: 12.0,
    },
    Case {
        name: "three sizes, states of 1 s",
        sizes: 3,
        between: 0.03,
        within: 0.02,
        lasts: 1.0,
        precision: 0.04,
        budget: 20.0,
    },
];

#[test]
fn points_that_end_early_hold_the_truth() {
    for case in CASES {
        let early = case.runs(if case.sizes > 10 { 10 } else { 150 });
        assert!(early.ended * 4 > early.points, "{}: {} of {} ended early", case.name, early.ended, early.points);
        assert!(early.held as f64 >= 0.92 * early.ended as f64, "{}: {} of {}", case.name, early.held, early.ended);
        assert!(
            early.held_in_file as f64 >= 0.92 * early.ended as f64,
            "{}: {} in the file",
            case.name,
            early.held_in_file
        );
    }
}
