//! HINT's schedule: on the theoretical link, where every time is known, and on a path whose times a test makes up.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use measure::event::{Calibration, Plan, PointEnded, Schedule, Trial};
use measure::session::Party;
use measure::solo::Solo;
use measure::{Event, Outcome, Pattern, Session, SessionError, TrialReport, TrialSpec};
use transport::theory::Theory;
use transport::{Capabilities, Name};
use workload::hint::{Bounds, Kernel, Precision, Sums, Team, net, steps};

fn plan(kind: Name, to: u64) -> Plan {
    Plan {
        paths: measure::event::plain(&[kind]),
        pattern: Pattern::Hint,
        schedule: Schedule::Hint,
        to,
        memory: Some(64 << 20),
        align: 64,
        ..Plan::default()
    }
}

fn with_theory(theory: Theory, to: u64) -> Plan {
    let mut plan = plan(transport::theory::NAME, to);
    plan.paths[0].settings = theory.settings();
    plan
}

fn run(plan: &Plan, session: Box<dyn Session + '_>, stop: &Arc<AtomicBool>) -> (Vec<Event>, Outcome) {
    let mut events = Vec::new();
    let calibration = Calibration { clock_cost_ns: 0.0, clock_step_ns: 1.0, loop_cost_ns: 0.0 };
    let mut tell = |e: &Event| {
        events.push(e.clone());
        Ok(())
    };
    let outcome = measure::run(plan, calibration, vec![session], &mut tell, stop);
    (events, outcome)
}

fn points(events: &[Event]) -> Vec<PointEnded> {
    let mut points: Vec<PointEnded> =
        events.iter().filter_map(|e| if let Event::Point(p) = e { Some(p.clone()) } else { None }).collect();
    points.sort_by_key(|p| p.size);
    points
}

fn modelled(plan: &Plan) -> Vec<PointEnded> {
    let stop = Arc::new(AtomicBool::new(false));
    let session = Solo::new(&plan.paths[0], stop.clone()).unwrap();
    let (events, outcome) = run(plan, Box::new(session), &stop);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    points(&events)
}

fn improvement(n: u64) -> f64 {
    let mut kernel = Kernel::new(Precision::DOUBLE);
    kernel.reserve(n).unwrap();
    let sums = kernel.run(Team::of_two(0), n).plus(kernel.run(Team::of_two(1), n));
    Bounds::of(sums).unwrap().improvement()
}

/// Seconds that two sums of 16 bytes take that leave at once: one way of the path.
fn one_way(t: &Theory) -> f64 {
    t.latency + (t.header + 16) as f64 * 8.0 / t.rate
}

#[test]
fn an_answer_takes_its_work_and_one_way_of_the_path() {
    let theory = Theory { latency: 30e-6, work: 20e-9, ..Theory::default() };
    let points = modelled(&with_theory(theory.clone(), 50_000));
    assert_eq!((points[0].size, points.last().unwrap().size), (4, 50_000));
    assert_eq!(points.iter().map(|p| p.size).collect::<Vec<_>>(), steps::all(Team::of_two(0), 50_000));
    for p in &points {
        let time = theory.work * p.size as f64 + one_way(&theory);
        assert!((p.figures.median / time - 1.0).abs() < 1e-4, "{}: {} is not {time}", p.size, p.figures.median);
        let quips = improvement(p.size) / time;
        assert!((p.figures.quips.unwrap() / quips - 1.0).abs() < 1e-4, "{}", p.size);
        assert!((p.figures.quality.unwrap() - improvement(p.size) - 1.0).abs() < 1e-9);
        assert_eq!(p.figures.throughput, 0.0, "QUIPS are no throughput");
    }
}

#[test]
fn without_work_quips_are_quality_over_latency() {
    let theory = Theory { latency: 1e-3, work: 0.0, rate: 1e12, header: 0, ..Theory::default() };
    for p in modelled(&with_theory(theory, 1000)) {
        let quips = p.figures.quips.unwrap();
        assert!((quips * 1e-3 / improvement(p.size) - 1.0).abs() < 1e-4, "{}: {quips}", p.size);
    }
}

#[test]
fn the_path_of_lower_latency_comes_up_to_speed_sooner_and_has_the_higher_net_quips() {
    // The paper's Ethernet and ATM (section 3): 0.7 ms and 0.9 ms; ATM has the higher rate.
    let of = |latency, rate| {
        let theory = Theory { latency, rate, work: 1e-6, ..Theory::default() };
        let points = modelled(&with_theory(theory, 20_000));
        points.iter().map(|p| (p.figures.median, p.figures.quips.unwrap())).collect::<Vec<_>>()
    };
    let (ethernet, atm) = (of(0.7e-3, 10e6), of(0.9e-3, 155e6));
    assert!(ethernet[0].0 < atm[0].0 && ethernet[0].1 > atm[0].1, "it starts sooner and higher");
    assert!(net(&ethernet).unwrap() > net(&atm).unwrap());
    let half = |curve: &[(f64, f64)]| {
        let top = curve.iter().map(|p| p.1).fold(0.0, f64::max);
        curve.iter().find(|p| p.1 > top / 2.0).unwrap().0
    };
    assert!(half(&ethernet) <= half(&atm), "half of its speed at an earlier time");
    let tops = [&ethernet, &atm].map(|c| c.last().unwrap().1);
    assert!((tops[0] / tops[1] - 1.0).abs() < 0.02, "long answers hardly feel the path");
}

#[test]
fn a_short_budget_ends_the_curve_early_and_never_with_nothing() {
    let theory = Theory { work: 1e-6, ..Theory::default() };
    let last = |budget| {
        let points = modelled(&Plan { budget, ..with_theory(theory.clone(), u64::MAX) });
        points.last().unwrap().size
    };
    let (short, long) = (last(0.1), last(10.0));
    assert!((4..1000).contains(&short), "{short}");
    assert!(long > 20 * short, "{long}");
    assert_eq!(last(1e-9), 4, "the first answer is always made");
}

/// A path whose times a test makes up: seconds of an answer by subintervals, round and how many trials the round had of them.
struct Made<F> {
    now: Rc<Cell<u64>>,
    round: u32,
    seen: BTreeMap<u64, u32>,
    time: F,
}

impl<F: Fn(u64, u32, u32) -> f64> Made<F> {
    fn new(time: F) -> Self {
        Self { now: Rc::default(), round: 0, seen: BTreeMap::new(), time }
    }
}

impl<F: Fn(u64, u32, u32) -> f64> Session for Made<F> {
    fn capabilities(&self) -> Capabilities {
        Capabilities::alone()
    }
    fn open(&mut self, round: u32) -> Result<Party, SessionError> {
        (self.round, self.seen) = (round, BTreeMap::new());
        Ok(Party::default())
    }
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        assert!(spec.pattern == Pattern::Hint && spec.repeats > 0);
        let times = self.seen.entry(spec.size).or_default();
        let each = (self.time)(spec.size, self.round, *times);
        *times += 1;
        let seconds = each * spec.repeats as f64;
        self.now.set(self.now.get() + ((seconds + each * spec.warmup as f64) * 1e9) as u64);
        let mut kernel = Kernel::new(Precision::DOUBLE);
        kernel.reserve(spec.size.min(1000)).unwrap();
        let Sums { low, high } = kernel.run(Team::ALONE, spec.size);
        let bounds = Some((low as u64, high as u64));
        Ok(TrialReport {
            repeats: spec.repeats,
            seconds,
            median: each,
            min: each,
            max: each,
            bounds,
            ..TrialReport::default()
        })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        self.now.get()
    }
}

fn made(plan: &Plan, time: impl Fn(u64, u32, u32) -> f64) -> (Vec<Event>, Vec<PointEnded>) {
    let stop = Arc::new(AtomicBool::new(false));
    let (events, outcome) = run(plan, Box::new(Made::new(time)), &stop);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let points = points(&events);
    (events, points)
}

/// Trials that count, of this many subintervals and round.
fn counted(events: &[Event], n: u64, round: u32) -> Vec<Trial> {
    let trials = events.iter().filter_map(|e| if let Event::Trial(t) = e { Some(t.clone()) } else { None });
    trials.filter(|t| !t.warmup && t.size == n && t.round == round).collect()
}

#[test]
fn a_trial_slower_than_the_next_larger_one_is_run_again_and_the_best_counts() {
    // In the third round the first trial of 100 subintervals is disturbed.
    let plan = Plan { trials: Some(5), ..plan(Name::ALONE, 500) };
    let n = *steps::all(Team::ALONE, 500).iter().find(|n| **n >= 100).unwrap();
    let slow = |size, round, times| if size == n && round == 3 && times == 0 { 9e-5 } else { size as f64 * 1e-7 };
    let (events, points) = made(&plan, slow);
    assert_eq!((counted(&events, n, 3).len(), counted(&events, n, 2).len()), (2, 1));
    let point = points.iter().find(|p| p.size == n).unwrap();
    assert!((point.figures.median / (n as f64 * 1e-7) - 1.0).abs() < 1e-9);
    assert!(point.figures.high < 1.001 * point.figures.median, "the disturbed trial moves no interval");
}

#[test]
fn what_stays_slow_is_run_again_seven_times_and_no_more() {
    let plan = Plan { trials: Some(2), ..plan(Name::ALONE, 500) };
    let n = *steps::all(Team::ALONE, 500).iter().find(|n| **n >= 100).unwrap();
    let (events, _) = made(&plan, |size, _, _| if size == n { 9e-5 } else { size as f64 * 1e-7 });
    assert_eq!(counted(&events, n, 1).len(), 1 + 7);
}

#[test]
fn a_tenth_of_the_peak_ends_the_curve() {
    // From 1000 subintervals on each costs twenty times as much. Short answers don't end it: of the 66 ms that the budget has
    // time for, 6.6 are reached at 3,300.
    let time = |n: u64, _, _| n as f64 * if n < 1000 { 1e-7 } else { 2e-6 };
    let (_, points) = made(&plan(Name::ALONE, 1 << 20), time);
    let last = points.last().unwrap().size;
    assert!((3300..7000).contains(&last), "{last}");
}

#[test]
fn answers_that_suddenly_take_too_long_are_left_to_the_first_look() {
    // From 1000 subintervals on memory is gone, and each costs a hundred times as much as the budget has time for.
    let time = |n: u64, _, _| n as f64 * if n < 1000 { 1e-7 } else { 1e-2 };
    let (events, points) = made(&plan(Name::ALONE, 1 << 20), time);
    let visited = points.iter().filter(|p| !counted(&events, p.size, 1).is_empty());
    assert!(visited.map(|p| p.size).max().unwrap() < 1000);
    assert!(points.last().unwrap().size < 2000);
}

#[test]
fn memory_and_what_was_asked_for_bound_the_curve() {
    let last = |plan: &Plan| made(plan, |n, _, _| n as f64 * 1e-9).1.last().unwrap().size;
    assert_eq!(last(&plan(Name::ALONE, 777)), 777);
    assert_eq!(last(&Plan { memory: Some(96 * 512), ..plan(Name::ALONE, u64::MAX) }), 512);
    assert_eq!(last(&plan(Name::ALONE, 2)), 2);
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_has() {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let session = Made::new(move |n, round, _| {
        flag.fetch_or(round == 2 && n == 2, Ordering::Relaxed);
        n as f64 * 1e-7
    });
    let plan = plan(Name::ALONE, 500);
    let (events, outcome) = run(&plan, Box::new(session), &stop);
    assert!(outcome.error.as_ref().is_some_and(measure::driver::RunError::interrupted), "{:?}", outcome.error);
    assert!(outcome.trials > 0);
    assert_eq!(points(&events).len(), steps::all(Team::ALONE, 500).len());
}
