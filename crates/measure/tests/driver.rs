//! The driver against paths whose truth is known: a mock session with a clock of its own, so that nothing here depends
//! on the machine.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use measure::driver::{Side, run_sides};
use measure::event::{Calibration, Plan, PointEnded, Schedule, Trial, Why};
use measure::session::Party;
use measure::{Event, Session, SessionError, TrialReport, TrialSpec};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use transport::{Capabilities, LinkError};

/// A path whose one-way time is a function of size, with noise shared by a connection and noise of each trial.
struct Fake {
    time: Box<dyn Fn(u64) -> f64>,
    between: f64,
    within: f64,
    level: f64,
    now: f64,
    rng: ChaCha8Rng,
    fail_after: Option<u32>,
    /// Nothing of this size or larger arrives.
    swallows: u64,
    /// Times that an iteration takes once trials of one size have gone on for so many seconds.
    long_takes: f64,
    long_from: f64,
    /// The size of the last trial, and for how long trials of it have gone on.
    lasting: (u64, f64),
    /// Times that a trial takes its typical iterations: interruptions.
    stretch: f64,
    /// Seconds that a trial costs beside its iterations.
    control: f64,
    /// Seconds that a connection takes to open, and of one opening in eight besides.
    opens: [f64; 2],
    trials: u32,
    opened: u32,
    /// Largest message of a link with these settings, where the transport itself carries any.
    link_carries: u64,
}

impl Fake {
    fn new(seed: u64, time: impl Fn(u64) -> f64 + 'static) -> Self {
        Self {
            time: Box::new(time),
            between: 0.02,
            within: 0.01,
            level: 1.0,
            now: 0.0,
            rng: ChaCha8Rng::seed_from_u64(seed),
            fail_after: None,
            swallows: u64::MAX,
            long_takes: 1.0,
            long_from: 0.1,
            lasting: (0, 0.0),
            stretch: 1.0,
            control: 2e-4,
            opens: [5e-3, 0.0],
            trials: 0,
            opened: 0,
            link_carries: u64::MAX,
        }
    }

    fn noise(&mut self, sigma: f64) -> f64 {
        // Sum of uniforms: close enough to normal.
        let z: f64 = (0..12).map(|_| self.rng.random::<f64>()).sum::<f64>() - 6.0;
        (sigma * z).exp()
    }
}

impl Session for Fake {
    fn capabilities(&self) -> Capabilities {
        // Only a link knows what its settings leave.
        let max_block = (self.opened > 0 && self.link_carries < u64::MAX).then_some(self.link_carries);
        Capabilities { max_block, ..transport::tcp::NAME.capabilities() }
    }
    fn open(&mut self, _: u32) -> Result<Party, SessionError> {
        self.level = self.noise(self.between);
        self.opened += 1;
        let [each, stall] = self.opens;
        self.now += each + if self.opened.is_multiple_of(8) { stall } else { 0.0 };
        Ok(Party::default())
    }
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        self.trials += 1;
        if self.fail_after.is_some_and(|n| self.trials > n) {
            return Err(LinkError::Closed { doing: "receiving" }.into());
        }
        if spec.size > self.link_carries {
            return Err(LinkError::TooLarge { asked: spec.size, most: self.link_carries }.into());
        }
        if spec.size >= self.swallows {
            return Err(SessionError::NothingArrives { in_a_row: 10 });
        }
        let mut each = 2.0 * (self.time)(spec.size) * self.level * self.noise(self.within);
        let before = if self.lasting.0 == spec.size { self.lasting.1 } else { 0.0 };
        let lasting = before + each * spec.repeats as f64;
        self.lasting = (spec.size, lasting);
        if lasting >= self.long_from {
            each *= self.long_takes;
        }
        let seconds = each * spec.repeats as f64 * self.stretch;
        self.now += seconds + each * spec.warmup as f64 + self.control;
        Ok(TrialReport { repeats: spec.repeats, seconds, median: each, min: each, max: each, ..TrialReport::default() })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        (self.now * 1e9) as u64
    }
}

fn plan() -> Plan {
    Plan::default()
}

fn calibration() -> Calibration {
    Calibration { clock_cost_ns: 25.0, clock_step_ns: 1.0, loop_cost_ns: 2.0 }
}

fn line(size: u64) -> f64 {
    10e-6 + size as f64 * 2.2e-10
}

fn run(plan: &Plan, session: Fake) -> (Vec<Event>, measure::Outcome) {
    run_paths(plan, vec![session])
}

fn run_paths(plan: &Plan, sessions: Vec<Fake>) -> (Vec<Event>, measure::Outcome) {
    let mut events = Vec::new();
    let outcome = measure::run(
        plan,
        calibration(),
        sessions.into_iter().map(|session| Box::new(session) as Box<dyn measure::Session>).collect(),
        &mut |e: &Event| {
            events.push(e.clone());
            Ok(())
        },
        &AtomicBool::new(false),
    );
    (events, outcome)
}

fn points(events: &[Event]) -> Vec<&PointEnded> {
    events.iter().filter_map(|e| if let Event::Point(p) = e { Some(p) } else { None }).collect()
}

fn trials(events: &[Event]) -> Vec<&Trial> {
    events.iter().filter_map(|e| if let Event::Trial(t) = e { Some(t) } else { None }).collect()
}

#[test]
fn sizes_that_a_link_cannot_carry_with_its_settings_are_left_out() {
    for schedule in [Schedule::Adaptive, Schedule::Netpipe] {
        let plan = Plan { schedule, to: 1 << 20, budget: 2.0, ..plan() };
        let (events, outcome) = run(&plan, Fake { link_carries: 32_736, ..Fake::new(1, line) });
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let sizes: Vec<u64> = points(&events).iter().map(|p| p.size).collect();
        assert!(sizes.len() > 10 && sizes.iter().all(|s| *s <= 32_736), "{sizes:?}");
        let warned = events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "capped" && w.sizes == [32_736]));
        assert!(warned, "{schedule:?}");
    }
    let plan = Plan { from: 1 << 16, ..plan() };
    let (_, outcome) = run(&plan, Fake { link_carries: 32_736, ..Fake::new(1, line) });
    let said = outcome.error.expect("nothing is left").to_string();
    assert!(said.contains("32736") && said.contains("--to"), "{said}");
}

/// Both CPUs held by other programs: a trial begins when the scheduler lets it, and is interrupted.
#[test]
fn a_busy_machine_still_gets_thirty_rounds() {
    let busy = Fake { stretch: 3.0, control: 3e-3, ..Fake::new(3, line) };
    let (events, outcome) = run(&plan(), busy);
    assert!(outcome.error.is_none());
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    assert!(end.at < 12.0 * 1.15, "took {} s of 12", end.at);
    let rounds = events.iter().filter(|e| matches!(e, Event::Round(b) if b.round > 0)).count();
    assert!(rounds >= 30, "{rounds} rounds");
    let points = points(&events);
    for p in points.iter().filter(|p| p.size <= 65_536) {
        assert!(p.figures.rounds >= 8, "{} B was visited by {} rounds", p.size, p.figures.rounds);
    }
    // Of the larger sizes some are left out, so that the others get enough.
    let large: Vec<u32> = points.iter().filter(|p| p.size > 65_536).map(|p| p.figures.rounds).collect();
    assert!(large.iter().filter(|n| **n >= 6).count() * 2 >= large.len(), "{large:?}");
    assert!(large.iter().all(|n| *n == 1 || *n >= 4), "{large:?}");
}

/// A machine on which large messages take so long that all of their sizes together would get one round or two.
#[test]
fn large_sizes_that_all_would_have_too_few_rounds_are_thinned_until_those_left_have_an_interval() {
    let slow = || Fake { stretch: 3.0, control: 3e-3, ..Fake::new(3, |s| 10e-6 + s as f64 * 8e-10) };
    let (events, _) = run(&plan(), slow());
    let points = points(&events);
    let large: Vec<u32> = points.iter().filter(|p| p.size > 65_536).map(|p| p.figures.rounds).collect();
    let with = large.iter().filter(|rounds| **rounds >= 6).count();
    assert!(with >= 6 && points.last().unwrap().figures.rounds >= 4, "{with} of {}: {large:?}", large.len());
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    assert!(end.at < 12.0 * 1.15, "took {} s of 12", end.at);
    // Sizes that were named are all measured.
    let sizes: Vec<u64> = (0..40).map(|i| (1 << 20) + i * 100_000).collect();
    let (events, _) = run(&Plan { sizes: Some(sizes), ..plan() }, slow());
    let visited = trials(&events).iter().filter(|t| !t.warmup).map(|t| t.size).collect::<BTreeSet<_>>().len();
    assert!(visited >= 38, "{visited} of 40");
}

/// A machine so busy that most of the time is gone before the rounds: what is left is measured in, not spent on connections.
#[test]
fn rounds_that_cost_much_to_open_are_fewer_and_not_empty() {
    let busy = Fake { stretch: 3.0, control: 2e-2, ..Fake::new(3, line) };
    let (events, outcome) = run(&plan(), busy);
    assert!(outcome.error.is_none());
    let mut visited = std::collections::BTreeMap::<u32, usize>::new();
    for t in trials(&events).iter().filter(|t| !t.warmup) {
        *visited.entry(t.round).or_default() += 1;
    }
    let rounds = events.iter().filter(|e| matches!(e, Event::Round(b) if b.round > 0)).count();
    assert!(
        rounds >= 4 && visited.values().filter(|n| **n >= 8).count() * 4 >= rounds * 3,
        "{rounds} rounds: {visited:?}"
    );
}

/// Other programs hold the CPUs nearly all the time: whatever is measured takes thirty times its typical iterations.
#[test]
fn a_machine_that_is_hardly_there_takes_no_more_than_a_third_beyond_the_budget() {
    let held = Fake { stretch: 30.0, control: 2e-2, ..Fake::new(3, line) };
    let (events, outcome) = run(&plan(), held);
    assert!(outcome.error.is_none());
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    assert!(end.at < 12.0 * 1.3, "took {} s of 12", end.at);
    assert!(rounds(&events).len() >= 3, "{} rounds", rounds(&events).len());
    let long: f64 = sustained(&events).iter().map(|t| t.report.seconds).sum();
    assert!(long < 4.0, "{long} s of 12 for long trials");
}

/// A machine on which every trial takes a tenth of a second to begin: a curve of few sizes over the whole range says more than one that
/// ends at 71 bytes.
#[test]
fn a_machine_too_busy_for_all_sizes_measures_fewer_from_end_to_end() {
    let held = || Fake { stretch: 3.0, control: 0.1, ..Fake::new(3, line) };
    let (events, outcome) = run(&plan(), held());
    assert!(outcome.error.is_none());
    let points = points(&events);
    assert_eq!(points.last().unwrap().size, 8 << 20, "{} sizes", points.len());
    assert!((12..40).contains(&points.len()), "{} sizes", points.len());
    let widest = points.windows(2).map(|w| w[1].size as f64 / w[0].size as f64).fold(0.0, f64::max);
    assert!(widest < 32.0, "neighbours lie {widest} apart");
    let warned = |events: &[Event], code: &str| events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == code));
    assert!(warned(&events, "thinned") && !warned(&events, "stopped-short"));
    // Sizes that were named are not thinned, and a quiet machine looks at all.
    let named = Plan { sizes: Some((1..=20).map(|i| i * 1000).collect()), ..plan() };
    assert!(!warned(&run(&named, held()).0, "thinned"));
    assert!(!warned(&run(&plan(), Fake::new(3, line)).0, "thinned"));
}

#[test]
fn a_lone_slow_opening_does_not_take_the_rest_of_the_run() {
    let (events, outcome) = run(&plan(), Fake { opens: [5e-3, 1.0], ..Fake::new(3, line) });
    assert!(outcome.error.is_none());
    assert!(rounds(&events).len() >= 20, "{} rounds", rounds(&events).len());
    for p in points(&events) {
        assert!(p.figures.rounds >= 4, "{} B was visited by {} rounds", p.size, p.figures.rounds);
    }
}

#[test]
fn a_stalled_opening_leaves_its_trials_their_length() {
    // Of one size in three seconds: every eighth opening takes longer than a round.
    let plan = Plan { sizes: Some(vec![64]), budget: 3.0, ..plan() };
    let (events, _) = run(&plan, Fake { opens: [5e-3, 1.0], ..Fake::new(3, line) });
    let counted: Vec<u64> = trials(&events).iter().filter(|t| !t.warmup).map(|t| t.report.repeats).collect();
    let longest = counted.iter().max().copied().unwrap_or(0);
    assert!(counted.len() > 4 && counted.iter().all(|n| n * 20 > longest), "iterations of trials: {counted:?}");
}

#[test]
fn two_sides_of_which_one_is_slow_to_open_both_get_rounds_with_trials() {
    let plan = plan();
    let (mut told, mut ignored) = (Vec::new(), |_: &Event| Ok(()));
    let mut tell = |e: &Event| {
        told.push(e.clone());
        Ok(())
    };
    let quick = Fake::new(3, line);
    let slow = Fake { opens: [0.5, 0.0], ..Fake::new(4, line) };
    let sides = vec![
        Side { plan: &plan, sessions: vec![Box::new(quick)], tell: &mut tell },
        Side { plan: &plan, sessions: vec![Box::new(slow)], tell: &mut ignored },
    ];
    let outcomes = run_sides(sides, calibration(), &AtomicBool::new(false));
    assert!(outcomes.iter().all(|o| o.error.is_none()));
    let made = rounds(&told).len();
    let visited: BTreeSet<u32> = trials(&told).iter().filter(|t| !t.warmup).map(|t| t.round).collect();
    assert!(made >= 4 && visited.len() + 1 >= made, "{} of {made} rounds have trials", visited.len());
}

/// One side carries less than the other: when the sizes that both have are settled, there is nothing to wait for.
#[test]
fn sides_of_which_one_carries_less_come_to_an_end() {
    let plan = plan();
    let (mut told, mut ignored) = (Vec::new(), |_: &Event| Ok(()));
    let mut tell = |e: &Event| {
        told.push(e.clone());
        Ok(())
    };
    let wide = Fake { between: 0.001, within: 0.001, ..Fake::new(3, line) };
    let narrow = Fake { between: 0.001, within: 0.001, swallows: 4097, ..Fake::new(4, line) };
    let sides = vec![
        Side { plan: &plan, sessions: vec![Box::new(wide)], tell: &mut tell },
        Side { plan: &plan, sessions: vec![Box::new(narrow)], tell: &mut ignored },
    ];
    let outcomes = run_sides(sides, calibration(), &AtomicBool::new(false));
    assert!(outcomes.iter().all(|o| o.error.is_none()));
    assert!(matches!(told.last(), Some(Event::End(end)) if end.at < 12.0 * 1.2), "{:?}", told.last());
}

/// The first looks at the sizes take all of the time and more.
#[test]
fn a_machine_too_busy_for_any_round_comes_to_an_end() {
    for budget in [0.3, 1.0, 3.0] {
        let held = Fake { stretch: 300.0, control: 0.3, opens: [0.5, 0.0], ..Fake::new(3, line) };
        let (events, outcome) = run(&Plan { budget, ..plan() }, held);
        assert!(outcome.error.is_none());
        assert!(matches!(events.last(), Some(Event::End(_))), "{:?}", events.last());
    }
}

/// Long trials that others hold up: each takes ten times its plan.
#[test]
fn sizes_that_had_no_long_trial_at_one_moment_come_first_at_the_next() {
    let (events, _) = run(&plan(), Fake { long_takes: 10.0, ..Fake::new(3, line) });
    let sizes: BTreeSet<u64> = sustained(&events).iter().map(|t| t.size).collect();
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    let seconds: f64 = sustained(&events).iter().map(|t| t.report.seconds).sum();
    assert!(seconds < 9.0, "{seconds} s");
}

#[test]
fn a_curve_stays_within_its_budget_and_visits_every_size_in_every_round() {
    let (events, outcome) = run(&plan(), Fake::new(3, line));
    assert!(outcome.error.is_none());
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    assert!(end.at < 12.0 * 1.15, "took {} s of 12", end.at);
    let points = points(&events);
    assert!(points.len() >= 124, "{} points", points.len());
    for p in &points {
        assert!(p.figures.rounds >= 6, "{} B was visited by {} rounds", p.size, p.figures.rounds);
        assert!((p.figures.median / line(p.size) - 1.0).abs() < 0.05, "{} B: {}", p.size, p.figures.median);
    }
}

/// Rounds in which trials counted.
fn rounds(events: &[Event]) -> BTreeSet<u32> {
    trials(events).iter().filter(|t| !t.warmup).map(|t| t.round).collect()
}

fn sustained(events: &[Event]) -> Vec<&Trial> {
    events.iter().filter_map(|e| if let Event::Sustained(t) = e { Some(t) } else { None }).collect()
}

#[test]
fn a_default_run_makes_many_short_rounds_and_large_sizes_leave_time_for_the_others() {
    // Rounds that differ as those of a real machine do: no size is known well enough before the budget ends.
    for (seed, between, within) in [(3, 0.05, 0.05), (4, 0.1, 0.1), (5, 0.2, 0.05), (6, 0.05, 0.2)] {
        let (events, _) = run(&plan(), Fake { between, within, ..Fake::new(seed, line) });
        let made = rounds(&events).len();
        assert!((30..=36).contains(&made), "noise of {between} and {within}: {made} rounds");
        for p in points(&events) {
            let least = if p.size < 65_536 { 30 } else { 8 };
            let visited = p.figures.rounds;
            assert!(visited >= least, "noise of {between} and {within}: {} B in {visited} rounds", p.size);
        }
    }
    // On a quiet one sizes are known well enough earlier.
    let made = rounds(&run(&plan(), Fake::new(3, line)).0).len();
    assert!((22..=36).contains(&made), "{made} rounds");
    // Where all large sizes together would take several times as long as a round, and nothing is settled.
    let mut noisy = Fake::new(3, |s| 10e-6 + s as f64 * 2e-9);
    noisy.within = 0.2;
    let (events, _) = run(&plan(), noisy);
    let counted = || trials(&events).into_iter().filter(|t| !t.warmup);
    let all: f64 = counted().map(|t| t.report.seconds).sum();
    let small: f64 = counted().filter(|t| t.size <= 65_536).map(|t| t.report.seconds).sum();
    assert!(small > 0.2 * all, "sizes up to 64 KiB got {small} s of {all} s");
}

#[test]
fn three_sizes_are_measured_for_long_at_two_moments_of_a_run_however_fast_it_is() {
    for seed in 0..12 {
        // Each connection has a speed of its own, so that what was seen of a size tells little of the next trial.
        let mut changing = Fake::new(seed, line);
        changing.between = 0.6;
        let mut quick = Fake::new(seed, line);
        (quick.between, quick.within) = (0.001, 0.001);
        for session in [changing, quick] {
            let (events, _) = run(&plan(), session);
            let long = sustained(&events);
            assert_eq!(long.iter().map(|t| t.size).collect::<BTreeSet<_>>().len(), 3, "seed {seed}");
            let moments: BTreeSet<u32> = long.iter().map(|t| t.round).collect();
            assert_eq!((long.len(), moments.len()), (6, 2), "seed {seed}");
            let shortest = long.iter().map(|t| t.report.seconds).fold(f64::INFINITY, f64::min);
            assert!((0.3..1.5).contains(&shortest), "seed {seed}: {shortest}");
            let Some(Event::End(end)) = events.last() else { panic!("no end") };
            assert!(end.at < 12.0 * 1.25, "seed {seed}: took {} s of 12", end.at);
        }
    }
}

#[test]
fn long_trials_of_a_run_of_few_rounds_come_at_two_moments_too() {
    let slow = |s: u64| if s > 1 << 16 { 0.2 } else { line(s) };
    let sizes = Some(vec![1, 4096, 1 << 20]);
    let (events, _) = run(&Plan { sizes, ..plan() }, Fake::new(3, slow));
    let long = sustained(&events);
    assert!(long.iter().all(|t| t.size <= 4096 && t.report.seconds >= 0.3), "a message of 0.2 s is as long as a trial");
    assert_eq!(long.iter().map(|t| t.round).collect::<BTreeSet<_>>().len(), 2);
    assert!(sustained(&run(&Plan { trials: Some(5), ..plan() }, Fake::new(3, line)).0).is_empty());
}

#[test]
fn long_trials_that_take_five_times_as_long_leave_the_rounds_their_time() {
    let mut throttled = Fake::new(3, line);
    throttled.long_takes = 5.0;
    let (events, _) = run(&plan(), throttled);
    let long: f64 = sustained(&events).iter().map(|t| t.report.seconds).sum();
    // Planned are 2.1 s; the first trial can't know, the others can: 10.5 s if none did.
    assert!(long < 5.5, "{long} s of 12 for six long trials");
    assert!(sustained(&events).iter().all(|t| t.report.seconds >= 0.3));
}

/// Both ends spin on CPUs that other programs use as well: what short trials foretell is a twelfth of what longer ones take.
#[test]
fn a_long_trial_on_shared_cpus_does_not_take_the_rounds_of_a_short_run() {
    for budget in [4.0, 12.0] {
        let shared = Fake { long_takes: 12.0, long_from: 0.02, ..Fake::new(3, line) };
        let (events, _) = run(&Plan { budget, to: 1024, ..plan() }, shared);
        let longest = sustained(&events).iter().map(|t| t.report.seconds).fold(0.0, f64::max);
        assert!((0.3..1.0).contains(&longest), "a long trial of {longest} s in a run of {budget} s");
        assert!(rounds(&events).len() >= 8, "{} rounds", rounds(&events).len());
    }
}

/// From one moment on each iteration takes forty times as long: one long trial of a run of 6 s took 15 s.
#[test]
fn a_long_trial_that_turns_slow_does_not_take_the_budget() {
    for (budget, long_from) in [(6.0, 0.01), (6.0, 0.04), (6.0, 0.1), (6.0, 0.3), (12.0, 0.04), (12.0, 0.2)] {
        let turns = Fake { long_takes: 40.0, long_from, ..Fake::new(3, line) };
        let (events, _) = run(&Plan { budget, to: 1024, ..plan() }, turns);
        let Some(Event::End(end)) = events.last() else { panic!("no end") };
        assert!(end.at < 1.25 * budget, "took {} s of {budget}, slow after {long_from} s", end.at);
    }
}

#[test]
fn a_path_that_does_not_keep_up_its_speed_is_spoken_of() {
    let mut throttled = Fake::new(3, line);
    throttled.long_takes = 2.0;
    let (events, _) = run(&plan(), throttled);
    let burst =
        events.iter().find_map(|e| if let Event::Warning(w) = e { (w.code == "burst").then_some(w) } else { None });
    let burst = burst.expect("a warning");
    assert_eq!(burst.sizes.len(), 3);
    assert!(burst.text.contains("sustained is not burst") && burst.text.contains("none was seen"), "{}", burst.text);
    let (events, _) = run(&plan(), Fake::new(3, line));
    assert!(!events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "burst")));
}

#[test]
fn a_quiet_path_settles_early_and_says_why() {
    let mut quiet = Fake::new(3, line);
    (quiet.between, quiet.within) = (0.001, 0.001);
    let (events, outcome) = run(&plan(), quiet);
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    assert!(end.at < 10.0, "took {} s although 6 messages were enough", end.at);
    assert_eq!(outcome.unsettled, 0);
    assert!(points(&events).iter().all(|p| p.why == Why::Precision));
}

/// A slow link whose small sizes are settled after eight rounds: the time that is left is for the large ones.
#[test]
fn time_that_settled_sizes_leave_goes_to_those_that_were_left_out_and_no_round_is_empty() {
    let mut slow = Fake::new(3, |s| 10e-6 + s as f64 * 8e-9);
    (slow.between, slow.within) = (0.0005, 0.0005);
    let (events, outcome) = run(&plan(), slow);
    assert!(outcome.error.is_none());
    let opened: BTreeSet<u32> =
        events.iter().filter_map(|e| if let Event::Round(b) = e { Some(b.round) } else { None }).collect();
    let visited: BTreeSet<u32> = trials(&events).iter().map(|t| t.round).collect();
    let empty: Vec<&u32> = opened.iter().filter(|round| **round > 0 && !visited.contains(round)).collect();
    assert!(empty.is_empty(), "rounds without a trial: {empty:?}");
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    let few = points(&events).iter().filter(|p| p.figures.rounds < 4).count();
    assert!(few == 0 || end.at > 11.0, "{few} sizes have no interval after {:.1} s", end.at);
}

#[test]
fn the_order_of_a_round_is_random_but_the_seed_repeats_it() {
    let order = |seed: u64| -> Vec<u64> {
        let (events, _) = run(&Plan { seed, budget: 3.0, ..plan() }, Fake::new(3, line));
        let trials = events.iter().filter_map(|e| if let Event::Trial(t) = e { Some(t) } else { None });
        trials.filter(|t| t.round == 1 && !t.warmup).map(|t| t.size).collect()
    };
    assert_eq!(order(5), order(5));
    assert_ne!(order(5), order(6));
    let sorted: BTreeSet<u64> = order(5).into_iter().collect();
    assert_ne!(order(5), sorted.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_planted_dip_of_a_twentieth_of_a_decade_is_found_every_time() {
    for seed in 0..100 {
        let start = 10f64.powf(1.3 + 5.4 * (seed as f64) / 100.0) as u64;
        let end = (start as f64 * 10f64.powf(0.05)) as u64;
        let dipped = move |s: u64| line(s) * if (start..end).contains(&s) { 1.6 } else { 1.0 };
        let (events, _) = run(&Plan { seed, budget: 4.0, ..plan() }, Fake::new(seed, dipped));
        let points = points(&events);
        let inside = points.iter().filter(|p| (start..end).contains(&p.size)).collect::<Vec<_>>();
        assert!(!inside.is_empty(), "seed {seed}: no size within {start}..{end}");
        // The largest sizes are visited by too few rounds of a short run for an interval.
        let least = |p: &PointEnded| if p.figures.high.is_finite() { p.figures.low } else { p.figures.seen_low };
        assert!(inside.iter().all(|p| least(p) > line(p.size) * 1.2), "seed {seed}: the dip does not show");
        // Both edges are known to 2% of the size.
        for edge in [start, end] {
            let sizes = || points.iter().map(|p| p.size);
            let below = sizes().filter(|s| *s < edge).max().unwrap();
            let above = sizes().filter(|s| *s >= edge).min().unwrap();
            assert!(
                above - below <= (edge as f64 * 0.02).max(1.0) as u64,
                "seed {seed}: edge {edge} lies between {below} and {above}"
            );
        }
    }
}

#[test]
fn netpipe_measures_its_124_sizes_three_times_each() {
    let (events, outcome) = run(&Plan { schedule: Schedule::Netpipe, perturb: 3, ..plan() }, Fake::new(3, line));
    assert!(outcome.error.is_none());
    let points = points(&events);
    assert_eq!(points.len(), 124);
    assert!(points.iter().all(|p| p.figures.trials == 3 && p.why == Why::Trials));
    assert_eq!(points.last().unwrap().size, 8_388_611);
}

#[test]
fn netpipe_repeats_follow_from_times_one_way() {
    let mut exact = Fake::new(3, |_| 10e-6);
    (exact.between, exact.within) = (0.0, 0.0);
    let (events, _) = run(&Plan { schedule: Schedule::Netpipe, to: 8, ..plan() }, exact);
    let counts: Vec<(u64, u64)> =
        trials(&events).iter().filter(|t| !t.warmup).map(|t| (t.size, t.report.repeats)).collect();
    // 0.1 s at 10 us one way, times previous / (previous - increment + 1), as 3.7 has it.
    assert_eq!(counts[0], (1, 10_000));
    assert_eq!(counts[3], (2, 10_000));
    assert_eq!(counts[12], (6, 7_500));
}

#[test]
fn netpipe_ends_after_a_whole_triple() {
    let slow = |s: u64| if s >= 1021 { 1.5 } else { 10e-6 };
    let (events, _) = run(&Plan { schedule: Schedule::Netpipe, perturb: 3, ..plan() }, Fake::new(3, slow));
    assert_eq!(
        points(&events).last().unwrap().size,
        1027,
        "3.7 tests its stop rule once for a size and its perturbations"
    );
    assert!(events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "stopped-short")));
}

#[test]
fn sizes_that_never_arrive_are_left_out_and_the_rest_is_measured() {
    let mut dropping = Fake::new(3, line);
    dropping.swallows = 1473;
    let (events, outcome) = run(&Plan { budget: 4.0, ..plan() }, dropping);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let points = points(&events);
    assert!(points.len() > 40 && points.iter().all(|p| p.size < 1473 && p.figures.rounds >= 3));
    assert!(events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "nothing-arrives")));
    let mut dead = Fake::new(3, line);
    dead.swallows = 0;
    assert!(run(&plan(), dead).1.error.is_some(), "a path that carries nothing is an error");
}

#[test]
fn points_that_end_early_cover_the_truth_as_often_as_they_say() {
    let (mut inside, mut all, mut bounded, mut early) = (0, 0, 0, 0);
    for seed in 0..60 {
        let mut session = Fake::new(seed, line);
        (session.between, session.within) = (0.0, 0.012);
        let plan = Plan { budget: 60.0, sizes: Some((0..20).map(|i| 64 << i).collect()), ..plan() };
        let (events, _) = run(&plan, session);
        for p in points(&events) {
            all += 1;
            inside += u32::from((p.figures.low..=p.figures.high).contains(&line(p.size)));
            bounded += u32::from(p.figures.high.is_finite());
            early += u32::from(p.why == Why::Precision);
        }
    }
    let share = f64::from(inside) / f64::from(all);
    assert!(share > 0.93 && bounded * 10 > all * 9, "{share} of {all}, {bounded} bounded");
    assert!(early * 2 > all, "{early} of {all} ended early");
}

#[test]
fn a_machine_that_changes_its_state_is_spoken_of() {
    let mut flipping = Fake::new(3, line);
    flipping.between = 0.3;
    let (events, _) = run(&Plan { budget: 4.0, ..plan() }, flipping);
    assert!(events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "unsteady")));
    let (events, _) = run(&Plan { budget: 4.0, ..plan() }, Fake::new(3, line));
    assert!(!events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "unsteady")));
}

#[test]
fn a_path_that_breaks_keeps_what_was_measured() {
    let mut broken = Fake::new(3, line);
    broken.fail_after = Some(600);
    let (events, outcome) = run(&plan(), broken);
    assert!(outcome.short());
    assert!(outcome.error.unwrap().to_string().contains("closed the connection"));
    assert!(points(&events).len() > 100);
    let Some(Event::End(end)) = events.last() else { panic!("no end") };
    assert!(end.error.is_some());
}

#[test]
fn a_path_that_breaks_leaves_the_run_and_the_others_go_on() {
    let plan = Plan { paths: vec![transport::tcp::NAME.into(); 3], ..plan() };
    for broken in [&[1][..], &[0, 2], &[0, 1, 2]] {
        let fakes = (0..3).map(|path| {
            let mut fake = Fake::new(3 + path, line);
            fake.fail_after = broken.contains(&path).then_some(600);
            fake
        });
        let (events, outcome) = run_paths(&plan, fakes.collect());
        let said = outcome.error.unwrap().to_string();
        assert_eq!(said.matches("closed the connection").count(), broken.len(), "{said}");
        assert!(outcome.trials > 300);
        let trials =
            |of: u64| events.iter().filter(|e| matches!(e, Event::Trial(t) if u64::from(t.path) == of)).count();
        let ends = |of: u64| {
            let of_path = |e: &&Event| matches!(e, Event::Point(p) if u64::from(p.path) == of && p.why == Why::Stopped);
            events.iter().filter(of_path).count()
        };
        for path in 0..3 {
            // Its points say so, and those of the others end as they would have.
            assert_eq!(ends(path) > 0, broken.contains(&path), "{path} of {broken:?}");
            assert!(trials(path) > 100, "{path} of {broken:?}: {}", trials(path));
            assert!(broken.contains(&path) || trials(path) > 800, "{path} of {broken:?}: {}", trials(path));
        }
    }
}

#[test]
fn exact_sizes_and_trials_are_kept_to() {
    let exact = Plan { sizes: Some(vec![1, 64, 4096]), trials: Some(4), repeats: Some(20), ..plan() };
    let (events, _) = run(&exact, Fake::new(3, line));
    let points = points(&events);
    assert_eq!(points.iter().map(|p| p.size).collect::<Vec<_>>(), [1, 64, 4096]);
    assert!(points.iter().all(|p| p.figures.trials == 4 && p.figures.iterations == 80), "{points:?}");
}

#[test]
fn slow_links_end_at_the_papers_rule() {
    // 10 kbit/s: a message of 4 KiB takes over three seconds.
    let slow = |s: u64| 1e-3 + s as f64 * 8.0 / 10e3;
    let (events, outcome) = run(&Plan { budget: 60.0, ..plan() }, Fake::new(3, slow));
    assert!(outcome.error.is_none());
    assert!(events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "stopped-short")));
    assert!(points(&events).iter().all(|p| p.figures.median < 3.0));
}

/// A burst of many small messages that takes milliseconds whatever their size: what a far larger size takes is no guess in step with size.
#[test]
fn bursts_that_take_long_are_measured_at_several_sizes_and_what_is_left_out_is_told_as_it_is() {
    let burst = |s: u64| 500.0 * (8e-6 + s as f64 * 1e-11) / 2.0;
    let plan = Plan { pattern: measure::Pattern::Burst, burst: 500, budget: 1.0, ..plan() };
    let (events, outcome) = run(&plan, Fake { stretch: 3.0, ..Fake::new(3, burst) });
    assert!(outcome.error.is_none());
    let looked: BTreeSet<u64> = trials(&events).iter().filter(|t| t.round == 0).map(|t| t.size).collect();
    assert!(looked.len() > 1 && points(&events).len() > 1, "{looked:?}");
    let warned = |code: &str| {
        events.iter().find_map(|e| if let Event::Warning(w) = e { Some(w).filter(|w| w.code == code) } else { None })
    };
    if let Some(short) = warned("stopped-short") {
        assert!(short.text.contains(": a burst of 500 messages of "), "{}", short.text);
        assert!(looked.iter().all(|size| *size < short.sizes[0]), "{looked:?}: {}", short.text);
    }
    if let Some(thinned) = warned("thinned") {
        let numbers: Vec<usize> = thinned.text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(numbers[0] + looked.len() <= numbers[1], "{looked:?}: {}", thinned.text);
    }
}

#[test]
fn a_size_far_above_one_that_takes_long_is_measured() {
    // As two sides that spin on one CPU, or acknowledgements that are put off, make it.
    for latency in [4e-3, 20e-3] {
        let slow = move |s: u64| latency + s as f64 * 1e-9;
        let (events, outcome) =
            run(&Plan { budget: 12.0, sizes: Some(vec![1, 4096, 1 << 20]), ..plan() }, Fake::new(3, slow));
        assert!(outcome.error.is_none());
        assert_eq!(points(&events).iter().map(|p| p.size).collect::<Vec<_>>(), [1, 4096, 1 << 20], "{latency}");
    }
}

/// Both CPUs held by other programs: whatever is measured takes so many times its typical iterations, a trial so long to begin, and a
/// connection so long to open, seconds.
fn held(stretch: f64, control: f64, opens: f64) -> impl Fn(u64) -> Fake {
    move |seed| Fake { stretch, control, opens: [opens, 0.0], ..Fake::new(seed, line) }
}

/// The events of both sides of a run on one machine.
fn both_sides(plan: &Plan, session: impl Fn(u64) -> Fake) -> [Vec<Event>; 2] {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut tell = |e: &Event| {
        first.push(e.clone());
        Ok(())
    };
    let mut tell_other = |e: &Event| {
        second.push(e.clone());
        Ok(())
    };
    let sides = vec![
        Side { plan, sessions: vec![Box::new(session(3))], tell: &mut tell },
        Side { plan, sessions: vec![Box::new(session(4))], tell: &mut tell_other },
    ];
    assert!(run_sides(sides, calibration(), &AtomicBool::new(false)).iter().all(|o| o.error.is_none()));
    [first, second]
}

/// Seconds before the first round, over the run's budget.
fn before_rounds(events: &[Event], budget: f64) -> f64 {
    let first = events.iter().find_map(|e| if let Event::Round(b) = e { (b.round == 1).then_some(b.at) } else { None });
    first.expect("a round") / budget
}

#[test]
fn no_more_than_a_quarter_of_the_budget_goes_to_first_looks_however_busy_the_machine_is() {
    for (stretch, control, opens) in
        [(30.0, 0.02, 5e-3), (30.0, 0.02, 0.2), (10.0, 0.05, 0.2), (3.0, 0.1, 0.3), (100.0, 0.03, 0.2)]
    {
        let session = held(stretch, control, opens);
        let what = format!("{stretch} times as long, {control} s a trial, {opens} s a connection");
        for budget in [6.0, 12.0] {
            let plan = Plan { budget, ..plan() };
            let single = before_rounds(&run(&plan, session(3)).0, budget);
            // Opening a connection and the first trial take what they take.
            let unspared = (opens + control) / budget;
            assert!(single < 0.25 + unspared, "{what}: {single} of {budget} s");
            for side in both_sides(&plan, &session) {
                let share = before_rounds(&side, budget);
                assert!(share < 0.25 + unspared, "{what}: {share} of {budget} s, one of two sides");
            }
        }
    }
}

#[test]
fn a_machine_held_by_other_programs_has_intervals_at_both_ends_of_the_curve_and_between() {
    for (stretch, control, opens) in [(30.0, 0.02, 5e-3), (30.0, 0.02, 0.2), (10.0, 0.05, 0.2)] {
        let (events, _) = run(&plan(), held(stretch, control, opens)(3));
        let rounds: Vec<u32> = points(&events).iter().map(|p| p.figures.rounds).collect();
        let between = rounds[1..rounds.len() - 1].iter().filter(|n| **n >= 4).count();
        assert!(
            rounds[0] >= 4 && rounds[rounds.len() - 1] >= 4 && between >= 8,
            "{stretch} {control} {opens}: {rounds:?}"
        );
        assert_eq!(points(&events).last().unwrap().size, 8 << 20);
    }
}

#[test]
fn sides_on_a_machine_held_by_other_programs_have_the_rounds_of_a_verdict() {
    let plan = Plan { budget: 6.0, ..plan() };
    for opens in [5e-3, 0.02] {
        for side in both_sides(&plan, held(30.0, 0.02, opens)) {
            let rounds: Vec<u32> = points(&side).iter().map(|p| p.figures.rounds).collect();
            let between = rounds[1..rounds.len() - 1].iter().filter(|n| **n >= 8).count();
            assert!(rounds[0] >= 8 && rounds[rounds.len() - 1] >= 8 && between >= 4, "{opens}: {rounds:?}");
            assert_eq!(points(&side).last().unwrap().size, 8 << 20);
            let Some(Event::End(end)) = side.last() else { panic!("no end") };
            assert!(end.at < 6.0 * 1.15, "took {} s of 6", end.at);
        }
    }
}
