//! From synthetic trials to the events that the driver of a real run would send.

use host::Environment;
use measure::event::{Calibration, End, PathOpened, Plan, RoundOpened, Run, SCHEMA, Trial};
use measure::{Event, TrialReport};
use transport::Capabilities;
use transport::settings::Effective;

use crate::centre::middle;
use crate::world::{Shape, Taken, World};

/// The events of a run, as the driver would send them; with trials that were made long, if there are any.
pub fn events(world: &World, shape: &Shape, trials: &[Taken], long: &[Taken], seed: u64) -> Vec<Event> {
    let largest = shape.sizes.last().copied().unwrap_or(1);
    let plan = Plan { sizes: Some(shape.sizes.clone()), to: largest, budget: shape.length, seed, ..Plan::default() };
    let calibration =
        Calibration { clock_cost_ns: 20.0, clock_step_ns: (world.noise.step() * 1e9).max(1.0), loop_cost_ns: 2.0 };
    let mut events = vec![
        Event::Run(Run {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            started: "2026-01-01T00:00:00Z".into(),
            command: vec!["run".into(), "tcp".into()],
            plan,
            near: Environment::default(),
            calibration,
            side: None,
        }),
        Event::Path(PathOpened {
            path: 0,
            transport: transport::tcp::NAME,
            label: None,
            capabilities: Capabilities::plain(),
            far: Some(Environment::default()),
            near_effective: Effective::default(),
            far_effective: Effective::default(),
            flows: Vec::new(),
            members: Vec::new(),
            load: None,
        }),
    ];
    let mut opened = None;
    for t in trials {
        if opened != Some(t.round) {
            opened = Some(t.round);
            let planned = shape.sizes.len() as u32;
            // Round 0 is the survey, which a synthetic run has not.
            let round = RoundOpened { path: 0, round: t.round + 1, at: t.at, planned, ..RoundOpened::default() };
            events.push(Event::Round(round));
        }
        events.push(Event::Trial(trial(t)));
    }
    events.extend(long.iter().map(|t| Event::Sustained(trial(t))));
    let at = trials.last().map_or(0.0, |t| t.at + t.lasted);
    events.push(Event::End(End { at, error: None, cpu_interference: None, taken: None }));
    events
}

/// A trial as the near side reports it.
fn trial(t: &Taken) -> Trial {
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    // Where a stop falls into every other iteration or more, the typical one holds a stop.
    let stopped = 2 * t.pauses.len() as u64 >= t.repeats;
    let median = if stopped { t.lasted / t.repeats as f64 } else { middle(t.times.clone()) };
    let longest = t.pauses.iter().map(|p| p.1).fold(0.0, f64::max);
    let (first, last) = (t.times[0], t.times[t.times.len() - 1]);
    let counted = t.pauses.iter().take(16);
    Trial {
        path: 0,
        round: t.round + 1,
        at: t.at,
        size: t.size,
        response: 0,
        burst: 0,
        warmup: false,
        report: TrialReport {
            repeats: t.repeats,
            seconds: t.lasted,
            median,
            min: first,
            max: last + longest,
            histogram: histogram(t),
            pauses: counted.filter(|p| p.1 > median).map(|p| (ns(p.0), ns(p.1 + last))).collect(),
            ..TrialReport::default()
        },
    }
}

/// Times of single iterations: the looks at the trial share its iterations, and each stop makes one long.
fn histogram(t: &Taken) -> Vec<(u64, u64)> {
    let looks = t.times.len() as u64;
    let stops = (t.pauses.len() as u64).min(t.repeats);
    let smooth = t.repeats - stops;
    let mut pairs: Vec<(u64, u64)> = (t.times.iter().zip(0..looks))
        .map(|(time, i)| ((time * 1e9).round() as u64, smooth * (i + 1) / looks - smooth * i / looks))
        .chain(t.pauses.iter().take(stops as usize).map(|p| (((p.1 + t.times[0]) * 1e9).round() as u64, 1)))
        .filter(|(_, n)| *n > 0)
        .collect();
    // Into the driver's own buckets.
    pairs.sort_unstable();
    let mut counts = stats::Histogram::new();
    counts.add_pairs(&pairs);
    counts.pairs()
}
