//! What a transfer costs each side: CPU time, and how often its thread gave up its CPU.
//!
//! A trial's CPU time goes through the same estimators as its time: rounds, without the machine's states, and an interval from these. A
//! transfer is the one that the point's time is of, so that both figures are of the same thing.

use std::borrow::Borrow;

use transport::Name;

use super::{Common, bits, counted, interval, levelled, rounds, told, transfers};
use crate::cost::Cost;
use crate::event::{Calibration, Plan, Trial};
use crate::{FarReport, TrialReport, Trials};

/// Shortest CPU time of a trial that is used, nanoseconds: reading the counters costs up to a microsecond.
const RESOLVED: u64 = 20_000;
/// Ticks from which on a share of system time is given: it is then known to a tenth, 95%.
const TICKS: f64 = 100.0;

/// Which side of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The side that asks.
    Near,
    /// The side that answers.
    Far,
}

impl End {
    /// Both.
    pub const BOTH: [End; 2] = [End::Near, End::Far];

    /// The side in words.
    pub fn name(self) -> &'static str {
        match self {
            End::Near => "near",
            End::Far => "far",
        }
    }

    /// What a trial cost it.
    pub fn of(self, trial: &Trial) -> Option<&Cost> {
        match self {
            End::Near => trial.report.cost.as_ref(),
            End::Far => trial.report.far.cost.as_ref(),
        }
    }
}

/// CPU time of a transfer, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cpu {
    /// Median of the rounds, at the run's level.
    pub median: f64,
    /// Its 95% interval in this run; unbounded where the run can't tell one.
    pub interval: stats::Interval,
    /// Seconds a byte that the median stands for.
    pub per_byte: f64,
}

/// What a point cost a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointCost {
    /// CPU time of a transfer; none where it is not resolved: trials took too little of it beside that of reading it.
    pub cpu: Option<Cpu>,
    /// CPU time over the time that passed, as a share of one CPU; none likewise. The rest the thread was idle: it waited, or waited for
    /// its CPU.
    pub busy: Option<f64>,
    /// Share of the CPU time in the kernel; none where it is not resolved ([`system_share`]).
    pub system: Option<f64>,
    /// Times in a transfer that the thread gave up its CPU to wait.
    pub waits: f64,
    /// Times in a transfer that its CPU was taken from it.
    pub preemptions: f64,
    /// CPU cycles of a transfer; none where the kernel let none be counted.
    pub cycles: Option<f64>,
    /// Instructions of a transfer, likewise.
    pub instructions: Option<f64>,
}

/// What each point of a path, a slice of trials each, cost a side, in their order; none of points whose trials did not record it.
pub fn costs<T: Borrow<[Trial]>>(
    plan: &Plan,
    kind: Name,
    end: End,
    points: impl Iterator<Item = T> + Clone,
) -> impl Iterator<Item = Option<PointCost>> {
    let (cpu, common) = curve(plan, kind, end, points.clone());
    points.zip(cpu).map(move |(trials, times)| point(plan, kind, end, trials.borrow(), &times.all(), &common))
}

/// What each point of a path cost one process of a side, number `rank`, from 1, of the `of` processes of that side; none of points whose
/// trials did not record it.
pub fn of_process<T: Borrow<[Trial]>>(
    plan: &Plan,
    kind: Name,
    end: End,
    (rank, of): (u32, usize),
    points: impl Iterator<Item = T>,
) -> Vec<Option<PointCost>> {
    let its = |trial: &Trial| {
        let cost = process(trial, end, rank, of);
        let report = match end {
            End::Near => TrialReport { cost, ..TrialReport::default() },
            End::Far => TrialReport::default().with_far(FarReport { cost, ..FarReport::default() }),
        };
        let Trial { path, round, at, size, response, burst, warmup, .. } = *trial;
        Trial { path, round, at, size, response, burst, warmup, report }
    };
    let alone: Vec<Vec<Trial>> = points.map(|trials| trials.borrow().iter().map(its).collect()).collect();
    costs(plan, kind, end, alone.iter().map(|trials| &trials[..])).collect()
}

/// What a trial cost that process.
fn process(trial: &Trial, end: End, rank: u32, of: usize) -> Option<Cost> {
    if of == 1 {
        return end.of(trial).copied();
    }
    let each = &trial.report.flows.as_ref().filter(|flows| flows.each.len() == of)?.each;
    let flow = each.get((rank as usize).checked_sub(1)?)?;
    match end {
        End::Near => flow.near_cost,
        End::Far => flow.far_cost,
    }
}

/// The rounds of each point of a path as [`rounds`] has them, of CPU time; empty where it is not resolved.
pub fn cpu_rounds<T: Borrow<[Trial]>>(
    plan: &Plan,
    kind: Name,
    end: End,
    points: impl Iterator<Item = T>,
) -> Vec<Vec<(u32, f64)>> {
    let (cpu, common) = curve(plan, kind, end, points);
    cpu.iter().map(|times| rounds(plan, kind, &times.all().iter().collect::<Vec<_>>(), &common)).collect()
}

/// Share of the CPU time of all of a path's trials that a side spent in the kernel; none where it is not resolved. The kernel divides CPU
/// time at its ticks, so that only the sum over many of them is meaningful.
pub fn system_share<T: Borrow<Trial>>(end: End, trials: impl Iterator<Item = T>) -> Option<f64> {
    let (mut user, mut system, mut ticks) = (0.0, 0.0, 0.0);
    for cost in trials.filter_map(|t| end.of(t.borrow()).copied()) {
        user += cost.user_ns as f64;
        system += cost.system_ns as f64;
        ticks += cost.cpu_ns as f64 / cost.step_ns.max(1) as f64;
    }
    (ticks >= TICKS && user + system > 0.0).then(|| system / (user + system))
}

/// The trials of each point as if their CPU time were their time, and what they have in common.
fn curve<T: Borrow<[Trial]>>(
    plan: &Plan,
    kind: Name,
    end: End,
    points: impl Iterator<Item = T>,
) -> (Vec<Trials>, Common) {
    let times = |trials: T| -> Trials {
        let trials = trials.borrow();
        let all: Vec<&Trial> = trials.iter().collect();
        let costs = counted(&all).into_iter().filter_map(|t| Some(end.of(t)?.cpu_ns)).collect::<Vec<_>>();
        // A mean over all of them: leaving out only the short trials would keep the costly ones.
        let sum: u64 = costs.iter().fold(0, |sum, ns| sum.saturating_add(*ns));
        let resolved = sum >= RESOLVED.saturating_mul(costs.len() as u64);
        trials.iter().filter(|_| resolved).filter_map(|t| as_time(plan, kind, end, t)).collect()
    };
    let times: Vec<Trials> = points.map(times).collect();
    let common = Common::of(plan, kind, Calibration::default(), times.iter().map(Trials::all));
    (times, common)
}

/// The trial with the CPU time of a side in the place of its time.
fn as_time(plan: &Plan, kind: Name, end: End, trial: &Trial) -> Option<Trial> {
    let cost = end.of(trial).filter(|cost| cost.cpu_ns > 0 && cost.iterations > 0)?;
    let seconds = cost.cpu_ns as f64 * 1e-9;
    let (repeats, each) = (cost.iterations, seconds / cost.iterations as f64);
    let report = if super::untimed(plan, kind) {
        let bytes = trial.size.saturating_mul(repeats);
        TrialReport {
            repeats,
            seconds,
            far: FarReport { seconds, bytes, ..FarReport::default() },
            ..Default::default()
        }
    } else {
        TrialReport { repeats, seconds, median: each, ..TrialReport::default() }
    };
    let Trial { path, round, at, size, response, burst, warmup, .. } = *trial;
    Some(Trial { path, round, at, size, response, burst, warmup, report })
}

fn point(plan: &Plan, kind: Name, end: End, trials: &[Trial], times: &[Trial], common: &Common) -> Option<PointCost> {
    let all: Vec<&Trial> = trials.iter().collect();
    let used: Vec<(&Trial, &Cost)> = counted(&all).into_iter().filter_map(|t| Some((t, end.of(t)?))).collect();
    let (sample, _) = used.first()?;
    let seen = rounds(plan, kind, &times.iter().collect::<Vec<_>>(), common);
    let cpu = (!seen.is_empty()).then(|| {
        let median = stats::median(&levelled(&seen, common));
        let bytes = bits(plan, sample) / 8.0;
        let interval = told(interval(plan, sample.size, &seen, common), median, 0.0);
        Cpu { median, interval, per_byte: if bytes > 0.0 { median / bytes } else { 0.0 } }
    });
    let sum = |of: fn(&Cost) -> u64| used.iter().map(|(_, cost)| of(cost) as f64).sum::<f64>();
    let elapsed: f64 = used.iter().map(|(t, cost)| passed(t, cost)).sum();
    let made = sum(|c| c.iterations) * transfers(plan, sample);
    (made > 0.0).then(|| PointCost {
        cpu,
        // The two clocks are read one after the other, so that CPU time may exceed the time that passed by a little.
        busy: cpu.filter(|_| elapsed > 0.0).map(|_| (sum(|c| c.cpu_ns) / elapsed).min(1.0)),
        system: system_share(end, used.iter().map(|(t, _)| *t)),
        waits: sum(|c| c.voluntary) / made,
        preemptions: sum(|c| c.involuntary) / made,
        cycles: Some(sum(|c| c.cycles) / made).filter(|n| *n > 0.0),
        instructions: Some(sum(|c| c.instructions) / made).filter(|n| *n > 0.0),
    })
}

/// Nanoseconds that passed while a side's CPU time was counted: without those in which a receiver waited for messages that were lost.
fn passed(trial: &Trial, cost: &Cost) -> f64 {
    let (elapsed, timed) = (cost.elapsed_ns as f64, trial.report.seconds.max(trial.report.far.seconds) * 1e9);
    if trial.report.far.lost > 0 && timed > 0.0 { elapsed.min(timed) } else { elapsed }
}

#[cfg(test)]
mod tests {
    use transport::tcp::NAME;

    use super::*;
    use crate::Pattern;

    /// A trial of 100 iterations that takes a microsecond of CPU time for each on the near side, and twice that on the far side.
    fn trial(round: u32, size: u64, more: f64) -> Trial {
        let cost = |each: f64| Cost {
            iterations: 100,
            elapsed_ns: 400_000,
            cpu_ns: (each * more * 100.0) as u64,
            user_ns: 30_000,
            system_ns: 70_000,
            step_ns: 4_000_000,
            voluntary: 100,
            involuntary: 2,
            cycles: (each * 300.0) as u64,
            instructions: (each * 450.0) as u64,
        };
        let far = FarReport { cost: Some(cost(2000.0)), ..FarReport::default() };
        let report = TrialReport { repeats: 100, cost: Some(cost(1000.0)), ..TrialReport::default() }.with_far(far);
        Trial { path: 0, round, at: f64::from(round), size, response: 0, burst: 0, warmup: false, report }
    }

    fn found(plan: &Plan, trials: &[Trial]) -> [Option<PointCost>; 2] {
        End::BOTH.map(|end| costs(plan, NAME, end, [trials].into_iter()).next().flatten())
    }

    #[test]
    fn a_round_trips_cost_is_that_of_two_messages() {
        let trials: Vec<Trial> = (1..=8).map(|b| trial(b, 50, 1.0 + f64::from(b % 3) * 1e-3)).collect();
        let [near, far] = found(&Plan::default(), &trials).map(Option::unwrap);
        let cpu = near.cpu.unwrap();
        assert!((cpu.median / 500e-9 - 1.0).abs() < 0.01 && (cpu.per_byte / 10e-9 - 1.0).abs() < 0.01, "{cpu:?}");
        assert!(cpu.interval.low <= cpu.median && cpu.median <= cpu.interval.high && cpu.interval.high < 600e-9);
        assert!((far.cpu.unwrap().median / 1e-6 - 1.0).abs() < 0.01);
        assert!((near.busy.unwrap() - 0.25).abs() < 0.01 && (far.busy.unwrap() - 0.5).abs() < 0.01);
        assert_eq!((near.waits, near.preemptions), (0.5, 0.01));
        assert_eq!((near.cycles, near.instructions), (Some(1500.0), Some(2250.0)), "three cycles a nanosecond");
    }

    #[test]
    fn each_process_has_the_cost_of_its_own_connection() {
        use crate::{FlowReport, Flows};
        let trials: Vec<Trial> = (1..=8)
            .map(|b| {
                let mut t = trial(b, 50, 1.0);
                let (near, far) = (t.report.cost, t.report.far.cost);
                let flow = |near_cost, far_cost| FlowReport { near_cost, far_cost, ..FlowReport::default() };
                let each = vec![flow(near, far), flow(far, None)];
                t.report.flows = Some(Flows { each, ..Flows::default() });
                t
            })
            .collect();
        let of = |end, rank, of| {
            let found = of_process(&Plan::default(), NAME, end, (rank, of), [&trials[..]].into_iter())[0];
            found.and_then(|cost| cost.cpu).map(|cpu| (cpu.median * 1e9).round())
        };
        assert_eq!((of(End::Near, 1, 2), of(End::Near, 2, 2)), (Some(500.0), Some(1000.0)));
        assert_eq!((of(End::Far, 1, 2), of(End::Far, 2, 2)), (Some(1000.0), None));
        assert_eq!(of(End::Far, 1, 1), Some(1000.0), "the one far process of a fan has what all threads cost");
        assert_eq!((of(End::Near, 3, 2), of(End::Near, 0, 2), of(End::Near, 1, 3)), (None, None, None));
    }

    #[test]
    fn a_streams_cost_is_that_of_a_message_whoever_timed_it() {
        let plan = Plan { pattern: Pattern::Stream, ..Plan::default() };
        let [near, far] = found(&plan, &[trial(1, 50, 1.0)]).map(|c| c.unwrap().cpu.unwrap());
        assert!((near.median / 1e-6 - 1.0).abs() < 0.01 && (far.median / 2e-6 - 1.0).abs() < 0.01);
        assert!(near.interval.high.is_infinite(), "one round tells no interval");
    }

    #[test]
    fn what_reading_the_counters_costs_is_not_told_as_the_paths() {
        let few = |ns| {
            let mut t = trial(1, 50, 1.0);
            t.report.cost.as_mut().unwrap().cpu_ns = ns;
            found(&Plan::default(), &[t])[0].unwrap()
        };
        assert!(few(19_999).cpu.is_none() && few(19_999).busy.is_none() && few(19_999).waits == 0.5);
        assert!(few(20_000).cpu.is_some() && few(20_000).busy.is_some());
    }

    #[test]
    fn user_and_system_time_are_told_from_a_hundred_ticks_on() {
        let of = |ns| {
            let mut t = trial(1, 50, 1.0);
            t.report.cost.as_mut().unwrap().cpu_ns = ns;
            let found = found(&Plan::default(), &[t])[0].unwrap();
            found.system
        };
        assert_eq!(of(399_999_999), None);
        assert_eq!(of(400_000_000), Some(0.7));
    }

    #[test]
    fn trials_that_tell_no_cost_have_none() {
        let bare = |size| Trial { report: TrialReport { repeats: 9, ..TrialReport::default() }, ..trial(1, size, 1.0) };
        assert_eq!(found(&Plan::default(), &[bare(1)]), [None; 2]);
        assert_eq!(found(&Plan::default(), &[]), [None; 2]);
        // One side alone, as where the far side is an older version.
        let mut alone = trial(1, 1, 1.0);
        alone.report.far.cost = None;
        assert!(matches!(found(&Plan::default(), &[alone]), [Some(_), None]));
    }
}
