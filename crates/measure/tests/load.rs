//! Latency under load on the theoretical link: exact answers, without waiting.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::event::{Calibration, PathPlan, Plan, PointEnded, Trial};
use measure::solo::Solo;
use measure::{Carried, Event, Load, LoadDirection, Pattern, Session};
use transport::theory::Theory;

/// One byte a nanosecond, 5 us of latency, no headers.
fn theory() -> Theory {
    Theory { latency: 5e-6, rate: 8e9, packet: 1 << 20, header: 0, ..Theory::default() }
}

fn plan(pattern: Pattern, loads: &[Option<Load>]) -> Plan {
    let path = |load: &Option<Load>| PathPlan {
        settings: theory().settings(),
        load: *load,
        label: load.map(|load| format!("theory:load={}{}", load.flows, load.direction.name())),
        ..transport::theory::NAME.into()
    };
    Plan {
        paths: loads.iter().map(path).collect(),
        pattern,
        sizes: Some(vec![64, 1000]),
        response: 2000,
        budget: 3.0,
        ..Plan::default()
    }
}

fn run(plan: &Plan) -> (Vec<PointEnded>, Vec<Trial>, Vec<Event>) {
    let stop = Arc::new(AtomicBool::new(false));
    let session = |path: &PathPlan| -> Box<dyn Session> { Box::new(Solo::new(path, stop.clone()).unwrap()) };
    let sessions = plan.paths.iter().map(session).collect();
    let mut events = Vec::new();
    let calibration = Calibration { clock_cost_ns: 0.0, clock_step_ns: 1.0, loop_cost_ns: 0.0 };
    let mut tell = |e: &Event| {
        events.push(e.clone());
        Ok(())
    };
    let outcome = measure::run(plan, calibration, sessions, &mut tell, &stop);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let points = events.iter().filter_map(|e| if let Event::Point(p) = e { Some(p.clone()) } else { None }).collect();
    let trials = events.iter().filter_map(|e| if let Event::Trial(t) = e { Some(t.clone()) } else { None }).collect();
    (points, trials, events)
}

fn load(flows: u32, direction: LoadDirection) -> Option<Load> {
    Some(Load { flows, direction, size: 100_000 })
}

fn near(found: f64, want: f64, what: &str) {
    assert!((found / want - 1.0).abs() < 1e-6, "{what}: {found} is not {want}");
}

#[test]
fn a_message_waits_for_one_of_each_loading_flow() {
    use LoadDirection::{Both, Opposite, Same};
    let loads = [None, load(1, Same), load(4, Same), load(4, Opposite), load(4, Both)];
    let (points, ..) = run(&plan(Pattern::PingPong, &loads));
    assert_eq!(points.len(), 10);
    for p in &points {
        // Half of a round trip: a message of the load, of 100 us, waits before one way or each.
        let waits = [0.0, 0.5, 2.0, 2.0, 4.0][p.path as usize] * 100e-6;
        near(p.figures.median, 5e-6 + p.size as f64 * 1e-9 + waits, &format!("path {} {} B", p.path, p.size));
    }
}

#[test]
fn what_a_request_and_its_answer_leave_of_the_line_is_the_loads() {
    let loads = [None, load(2, LoadDirection::Both)];
    let (points, trials, _) = run(&plan(Pattern::Request, &loads));
    let trip = |size: u64| 2.0 * 5e-6 + (size + 2000) as f64 * 1e-9 + 4.0 * 100e-6;
    for p in points.iter().filter(|p| p.path == 1) {
        near(p.figures.median, trip(p.size), "a request and its answer");
        let told = p.figures.load.unwrap();
        near(told.there.unwrap(), 8e9 * (1.0 - p.size as f64 * 1e-9 / trip(p.size)), "to the far side");
        near(told.back.unwrap(), 8e9 * (1.0 - 2000e-9 / trip(p.size)), "from the far side");
    }
    assert!(points.iter().filter(|p| p.path == 0).all(|p| p.figures.load.is_none()));
    assert!(trials.iter().all(|t| t.report.load.is_some() == (t.path == 1)));
}

#[test]
fn rounds_of_the_idle_path_and_the_loaded_one_take_turns() {
    let (_, trials, _) = run(&plan(Pattern::PingPong, &[None, load(2, LoadDirection::Same)]));
    let rounds = |path: u32| {
        let mut rounds: Vec<u32> = trials.iter().filter(|t| t.path == path && !t.warmup).map(|t| t.round).collect();
        rounds.dedup();
        rounds
    };
    assert!(rounds(0).len() >= 8 && rounds(0) == rounds(1), "{:?} {:?}", rounds(0), rounds(1));
}

#[test]
fn a_trial_during_which_the_load_carried_nothing_does_not_count() {
    let plan = plan(Pattern::PingPong, &[load(1, LoadDirection::Same)]);
    let trial = |round: u32, median: f64, there: f64| {
        let carried = Carried { there: Some(there), back: None };
        let report = measure::TrialReport {
            repeats: 10,
            seconds: 10.0 * median,
            median,
            load: Some(carried),
            histogram: vec![((median * 1e9) as u64, 10)],
            max: median,
            ..Default::default()
        };
        let (at, size) = (f64::from(round), 64);
        Trial { path: 0, round, at, size, response: 0, burst: 0, warmup: false, report }
    };
    let mut trials: Vec<Trial> = (1..=6).map(|round| trial(round, 2e-3, 1e9)).collect();
    trials.extend((7..=20).map(|round| trial(round, 2e-5, 0.0)));
    let all: Vec<&Trial> = trials.iter().collect();
    let figures = measure::figures::figures(&plan, transport::theory::NAME, &all, &Default::default()).unwrap();
    assert_eq!((figures.rounds, figures.trials), (6, 6), "those that were idle are not among them");
    near(figures.median, 1e-3, "the median under load");
    near(figures.load.unwrap().there.unwrap(), 8e9, "what the load carried");
    near(figures.percentiles.unwrap().p50, 1e-3, "no single time of an idle path");
    let idle: Vec<&Trial> = trials.iter().skip(6).collect();
    let none = measure::figures::figures(&plan, transport::theory::NAME, &idle, &Default::default());
    assert!(none.is_none(), "no figure of a path under load from trials without: {none:?}");
    let judged = measure::judge::Judged { size: 64, figures, trials: &trials, ended: None };
    let warnings = measure::judge::warnings(
        &plan,
        transport::theory::NAME,
        &[judged],
        &measure::figures::Common::default(),
        None,
        measure::place::Place::Unread,
    );
    let told = warnings.iter().find(|w| w.code == "load-idle").expect("it is said");
    assert!(told.text.starts_with("in 14 of 20 trials the loading flows carried nothing"), "{}", told.text);
}
