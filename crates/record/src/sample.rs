//! A made-up run for this crate's tests: two paths, 50 events, one point that never ended, trials of each form.

use host::Environment;
use measure::event::*;
use measure::{Cost, Event, FarReport, Pattern, Tcp, TrialReport, figures};
use transport::settings::Effective;
use transport::{Capabilities, Name};

use crate::RunFile;

pub fn plan(pattern: Pattern) -> Plan {
    Plan {
        paths: measure::event::plain(&[transport::tcp::NAME, transport::unix::NAME]),
        pattern,
        to: 1 << 20,
        repeats: Some(100),
        budget: 20.0,
        pin: Some((0, 1)),
        seed: 7,
        ..Plan::default()
    }
}

pub fn run(pattern: Pattern) -> Run {
    let near = Environment {
        hostname: "test \"host\"\\one".into(),
        kernel: "6.1".into(),
        cpus: vec![0, 1],
        load: Some((0.1, 0.2, 0.3)),
        ..Environment::default()
    };
    Run {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        started: "2026-01-31T10:00:00Z".into(),
        command: vec!["run".into(), "tcp".into(), "unix".into()],
        plan: plan(pattern),
        near,
        calibration: Calibration { clock_cost_ns: 21.5, clock_step_ns: 1.0, loop_cost_ns: 2.25 },
        side: None,
    }
}

pub fn capabilities() -> Capabilities {
    Capabilities { connects: true, local_only: false, ..Capabilities::plain() }
}

pub fn opened(path: u32, transport: Name) -> PathOpened {
    PathOpened {
        path,
        transport,
        label: None,
        capabilities: capabilities(),
        far: Some(Environment { hostname: "far".into(), ..Environment::default() }),
        near_effective: Effective { nodelay: Some(true), ..Effective::default() },
        far_effective: Effective::default(),
        flows: Vec::new(),
        members: Vec::new(),
        load: None,
    }
}

/// Cost of 100 round trips to a side that is busy for this share of `seconds`, a third of it in the kernel.
fn cost(seconds: f64, busy: f64) -> Cost {
    let elapsed_ns = (seconds * 200e9) as u64;
    let cpu_ns = (elapsed_ns as f64 * busy) as u64;
    Cost {
        iterations: 100,
        elapsed_ns,
        cpu_ns,
        user_ns: cpu_ns - cpu_ns / 3,
        system_ns: cpu_ns / 3,
        step_ns: 1000,
        voluntary: 100,
        involuntary: 3,
        cycles: 3 * cpu_ns,
        instructions: 4 * cpu_ns,
    }
}

/// One trial; `seconds` is the time of one transfer, half an iteration of ping-pong.
pub fn trial(path: u32, round: u32, at: f64, size: u64, seconds: f64) -> Trial {
    let ns = (seconds * 2e9) as u64;
    Trial {
        path,
        round,
        at,
        size,
        response: 0,
        burst: 0,
        warmup: false,
        report: TrialReport {
            repeats: 100,
            seconds: seconds * 200.0,
            median: seconds * 2.0,
            min: seconds * 1.9,
            max: seconds * 2.2,
            histogram: if size < 64 { vec![(ns, 90), (ns + ns / 10, 10)] } else { Vec::new() },
            cost: Some(cost(seconds, 0.75)),
            tcp: Some(Tcp { retransmits: 1, rtt_us: 30, window: 10, delivery_rate: 1 << 30 }),
            far: FarReport { received: 100, cost: Some(cost(seconds, 0.5)), ..FarReport::default() },
            ..TrialReport::default()
        },
    }
}

fn ended(run: &Run, kind: Name, trials: &[&Trial]) -> Event {
    let figures =
        figures::figures(&run.plan, kind, trials, &figures::Common::default()).expect("the sample's trials completed");
    let time = figures::time_kind(&run.plan, kind, 1);
    Event::Point(PointEnded { path: trials[0].path, size: trials[0].size, time, figures, why: Why::Precision })
}

/// The events of the run.
pub fn events() -> Vec<Event> {
    let run = run(Pattern::PingPong);
    let sizes = [1, 24, 1536, 98_304];
    let kinds = [transport::tcp::NAME, transport::unix::NAME];
    let mut trials = Vec::new();
    let mut events = vec![Event::Run(run.clone())];
    events.push(Event::Path(opened(0, kinds[0])));
    for round in 0..5u32 {
        for path in 0..2 {
            if round == 0 && path == 1 {
                events.push(Event::Path(opened(1, kinds[1])));
            }
            let at = f64::from(round) + 0.5 * f64::from(path);
            events.push(Event::Round(RoundOpened { path, round, at, planned: 4, ..RoundOpened::default() }));
            for (i, size) in sizes.into_iter().enumerate().filter(|(i, _)| round < 2 || i % 2 == round as usize % 2) {
                let noise = 1.0 + 0.013 * f64::from((round * 7 + i as u32 * 3 + path) % 5);
                let seconds = (9.1e-6 + size as f64 / 4.7e9) * noise / f64::from(path + 1);
                let mut t = trial(path, round, at + 0.1 * i as f64, size, seconds);
                t.warmup = round == 0 && i < 2;
                events.push(Event::Trial(t.clone()));
                trials.push(t);
            }
        }
    }
    for path in 0..2u32 {
        // The last size of the second path never ends: readers rebuild it.
        for size in sizes.into_iter().take(4 - path as usize) {
            let of: Vec<&Trial> = trials.iter().filter(|t| t.path == path && t.size == size).collect();
            events.push(ended(&run, kinds[path as usize], &of));
        }
    }
    events.push(Event::Warning(Warning {
        code: "cpu-interference".into(),
        path: Some(0),
        sizes: vec![1, 24],
        text: "other processes took 12% of the pinned CPUs; \u{7f6e} stop them".into(),
    }));
    events.push(Event::End(End { at: 5.0, error: None, cpu_interference: Some(0.01), taken: None }));
    events
}

/// The run as the lines of a file.
pub fn text() -> Vec<u8> {
    let mut out = Vec::new();
    for e in events() {
        crate::codec::write(&e, &mut out).expect("an event is JSON");
    }
    out
}

/// The run, read.
pub fn file() -> RunFile {
    crate::read::read_from(&text()[..], "sample").expect("the sample is a run file")
}
