//! A soak on paths with a clock of their own: what an interval is, exactly, and what ten hours of them take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use measure::event::{Calibration, PathPlan, Plan, Schedule, Trial, Why};
use measure::figures::{self, Common};
use measure::session::Party;
use measure::solo::Solo;
use measure::{Event, Pattern, Session, SessionError, TrialReport, TrialSpec, interval};
use transport::theory::Theory;
use transport::{Capabilities, LinkError};

fn plan(theory: &Theory, sizes: &[u64], duration: f64, every: f64) -> Plan {
    Plan {
        paths: vec![PathPlan { settings: theory.settings(), ..transport::theory::NAME.into() }],
        schedule: Schedule::Soak,
        sizes: Some(sizes.to_vec()),
        budget: duration,
        every: Some(every),
        align: 64,
        ..Plan::default()
    }
}

/// The events of a soak over a session, and how it ended.
fn events_of(plan: &Plan, session: Box<dyn Session + '_>, stop: &AtomicBool) -> (Vec<Event>, measure::Outcome) {
    let mut events = Vec::new();
    let calibration = Calibration { clock_cost_ns: 0.0, clock_step_ns: 1.0, loop_cost_ns: 0.0 };
    let outcome = measure::run(
        plan,
        calibration,
        vec![session],
        &mut |e: &Event| {
            events.push(e.clone());
            Ok(())
        },
        stop,
    );
    (events, outcome)
}

fn modelled(plan: &Plan) -> Vec<Event> {
    let stop = Arc::new(AtomicBool::new(false));
    let session = Solo::new(&plan.paths[0], stop.clone()).unwrap();
    let (events, outcome) = events_of(plan, Box::new(session), &stop);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    events
}

fn intervals(events: &[Event]) -> Vec<&Trial> {
    events.iter().filter_map(|e| if let Event::Trial(t) = e { Some(t) } else { None }).filter(|t| !t.warmup).collect()
}

fn one_way(t: &Theory, size: u64) -> f64 {
    let packets = size.div_ceil(t.packet).max(1);
    t.latency + (packets * t.header + size) as f64 * 8.0 / t.rate
}

#[test]
fn an_interval_is_a_trial_of_the_time_asked_for_whose_figures_are_the_links() {
    let theory = Theory { latency: 1e-4, ..Theory::default() };
    let plan = plan(&theory, &[64], 20.0, 1.0);
    let events = modelled(&plan);
    let all = intervals(&events);
    assert_eq!(all.len(), 20);
    for (i, t) in all.iter().enumerate() {
        assert_eq!(t.round as usize, i + 1);
        assert!((t.at - i as f64).abs() < 0.03, "interval {i} begins at {}", t.at);
        let f = figures::figures(&plan, transport::theory::NAME, &[t], &Common::default()).unwrap();
        assert!((f.median / one_way(&theory, 64) - 1.0).abs() < 1e-4, "{}", f.median);
        assert!(t.report.seconds > 0.9 && t.report.seconds <= 1.01, "{}", t.report.seconds);
        assert!(f.percentiles.is_some_and(|p| p.p99.is_some()));
    }
    let Some(Event::Point(point)) = events.iter().find(|e| matches!(e, Event::Point(_))) else { panic!("no point") };
    assert_eq!((point.figures.rounds, point.why), (20, Why::Budget));
}

#[test]
fn sizes_take_turns_in_each_interval() {
    let theory = Theory { latency: 1e-4, ..Theory::default() };
    let events = modelled(&plan(&theory, &[64, 65_536], 10.0, 0.5));
    let all = intervals(&events);
    assert_eq!(all.len(), 40);
    for (i, pair) in all.chunks(2).enumerate() {
        let first = [64, 65_536][i % 2];
        assert_eq!((pair[0].size, pair[1].size, pair[0].round), (first, 65_600 - first, pair[1].round));
        let half = pair[1].at - pair[0].at;
        assert!((0.22..0.28).contains(&half), "{half}");
    }
}

#[test]
fn a_stream_at_an_offered_rate_soaks_too() {
    let theory = Theory { latency: 1e-4, loss: 0.02, ..Theory::default() };
    let stream = Plan { pattern: Pattern::Stream, offered: Some(1e7), ..plan(&theory, &[1000], 5.0, 1.0) };
    let events = modelled(&stream);
    let all = intervals(&events);
    assert_eq!(all.len(), 5);
    for t in all {
        let f = figures::figures(&stream, transport::theory::NAME, &[t], &Common::default()).unwrap();
        assert!((f.throughput / 1e7 - 1.0).abs() < 0.1 && (0.0..0.06).contains(&f.loss), "{f:?}");
    }
}

/// A path with a clock of its own, whose iterations take the same time but for stops.
struct Steady {
    each: f64,
    now: f64,
    /// From when to when the path stands still, seconds.
    stands: (f64, f64),
    /// From when on the far side is gone.
    dies: f64,
    stop_at: f64,
    stop: Arc<AtomicBool>,
}

impl Steady {
    fn new(each: f64) -> Self {
        let never = (f64::INFINITY, f64::INFINITY);
        Self { each, now: 0.0, stands: never, dies: never.0, stop_at: never.0, stop: Arc::default() }
    }
}

impl Session for Steady {
    fn capabilities(&self) -> Capabilities {
        transport::tcp::NAME.capabilities()
    }
    fn open(&mut self, _: u32) -> Result<Party, SessionError> {
        Ok(Party::default())
    }
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let begin = self.now + 3e-4;
        let mut end = begin + self.each * (spec.repeats + spec.warmup) as f64;
        let mut max = self.each;
        if begin < self.stands.0 && end > self.stands.0 {
            end += self.stands.1 - self.stands.0;
            max = self.stands.1 - self.stands.0;
        }
        self.now = end;
        if end > self.dies {
            return Err(LinkError::Closed { doing: "receiving" }.into());
        }
        self.stop.fetch_or(end > self.stop_at, Ordering::Relaxed);
        let seconds = end - begin - self.each * spec.warmup as f64;
        let ns = (self.each * 1e9) as u64;
        let histogram = vec![(ns, spec.repeats)];
        Ok(TrialReport {
            repeats: spec.repeats,
            seconds,
            median: self.each,
            min: self.each,
            max,
            histogram,
            ..TrialReport::default()
        })
    }
    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        (self.now * 1e9) as u64
    }
}

#[test]
fn ten_hours_are_told_interval_by_interval_and_hold_a_bounded_number_of_them() {
    let plan = plan(&Theory::default(), &[64], 36_000.0, 1.0);
    let (events, outcome) = events_of(&plan, Box::new(Steady::new(2e-5)), &AtomicBool::new(false));
    assert!(outcome.error.is_none());
    let all = intervals(&events);
    assert_eq!(all.len(), 36_000);
    let last = all.last().unwrap();
    assert!((last.at - 35_999.0).abs() < 0.05, "intervals keep to their moments: {}", last.at);
    // What the driver held tells in the point's figures.
    let Some(Event::Point(point)) = events.iter().find(|e| matches!(e, Event::Point(_))) else { panic!("no point") };
    assert!(point.figures.rounds <= interval::MOST + 32, "{}", point.figures.rounds);
    assert_eq!(point.figures.iterations, all.iter().map(|t| t.report.repeats).sum::<u64>());
}

#[test]
fn a_path_that_stands_still_makes_one_interval_longer_and_the_next_begin_at_its_moment() {
    let steady = Steady { stands: (4.3, 7.5), ..Steady::new(2e-5) };
    let (events, _) = events_of(&plan(&Theory::default(), &[64], 10.0, 1.0), Box::new(steady), &AtomicBool::new(false));
    let starts: Vec<f64> = intervals(&events).iter().map(|t| t.at.round()).collect();
    assert_eq!(starts[..6], [0.0, 1.0, 2.0, 3.0, 4.0, 8.0], "{starts:?}");
    assert_eq!(starts.len(), 8, "what is left of the eighth second, and two more");
    let longest = intervals(&events)[4].report.max;
    assert!((longest - 3.2).abs() < 1e-9, "{longest}");
}

#[test]
fn what_was_measured_whole_stays_when_the_far_side_dies_or_somebody_stops_the_run() {
    let dies = Steady { dies: 3.6, ..Steady::new(2e-5) };
    let (events, outcome) =
        events_of(&plan(&Theory::default(), &[64], 10.0, 1.0), Box::new(dies), &AtomicBool::new(false));
    let all = intervals(&events);
    assert_eq!(all.len(), 4, "the last has the parts before its end");
    assert!(all[3].report.seconds < 0.6 && all[3].report.repeats > 0);
    assert!(outcome.short() && outcome.error.unwrap().to_string().contains("closed"));
    assert!(matches!(events.last(), Some(Event::End(end)) if end.error.is_some()));

    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Steady { stop_at: 2.6, stop: Arc::clone(&stop), ..Steady::new(2e-5) };
    let (events, outcome) = events_of(&plan(&Theory::default(), &[64], 10.0, 1.0), Box::new(stopped), &stop);
    assert!(outcome.error.unwrap().interrupted() && intervals(&events).len() == 3);
    assert!(events.iter().any(|e| matches!(e, Event::Point(p) if p.why == Why::Stopped)));
}
