//! Sustained beside burst: a few trials long enough to show what a path carries for long.
//!
//! The rounds' trials last milliseconds. A CPU quota, a boosted clock or a shaper's bucket lets so short a trial pass at a speed that no
//! longer one gets. So at two moments of a run, placed by its time, a few sizes are measured for 0.3 s and more each, and their mean time
//! is compared with the median of the short trials at the same level of the machine.

mod making;

use std::borrow::Borrow;
use std::collections::BTreeMap;

use stats::StandardError;
use transport::Name;

use crate::Cost;
use crate::event::{Plan, Schedule, Trial};
use crate::figures::{self, Common};

/// Shortest and longest sustained trial as planned, seconds. Quotas are dealt out in tenths of a second.
const LEAST: f64 = 0.35;
const MOST: f64 = 1.5;
const DEALT: f64 = 0.1;

/// Share of the budget that sustained trials take, sizes that are measured so, and times that each is.
const SHARE: f64 = 0.18;
const SIZES: usize = 3;
const TIMES: u32 = 2;

/// What a path carries for long at a size, beside its short trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Sustained {
    /// Message size, bytes.
    pub size: u64,
    /// Trials.
    pub trials: u32,
    /// How long they lasted, seconds, on average.
    pub lasted: f64,
    /// How long the shortest of them lasted, seconds.
    pub shortest: f64,
    /// Mean time at the run's typical level, seconds of the point's kind: the median of the short trials times `ratio`.
    pub seconds: f64,
    /// Bits a second that the mean time stands for.
    pub throughput: f64,
    /// Mean time over the median of the short trials, at the same level of the machine.
    pub ratio: f64,
    /// Its 95% interval; 0 to infinity where the trials can't give one, or one whose ends lie a thousandfold apart.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Mean over the median of the short trials, both at the run's typical level.
    pub short_mean: f64,
    /// Speed of the near side's CPU in short trials and in long ones, hertz: cycles over CPU time. None where cycles are not counted.
    pub clock: Option<(f64, f64)>,
}

impl Sustained {
    /// Speed of the CPU in short trials and in long ones, hertz, where it explains why the long ones took longer: more than half of
    /// the way, as a ratio.
    pub fn boosted(&self) -> Option<(f64, f64)> {
        self.clock.filter(|(short, long)| self.ratio > 1.0 && short / long > self.ratio.sqrt())
    }

    /// Whether long trials differ from short ones beyond the error, by more than a tenth.
    pub fn differs(&self) -> bool {
        self.low > 1.1 || self.high < 1.0 / 1.1
    }

    /// How many times as long long trials take, with the interval: "1.43 [1.20, 1.71] times"; where that is too wide for a figure, the end that is
    /// known.
    pub fn times(&self) -> String {
        let Self { ratio, low, high, .. } = *self;
        match () {
            () if high <= units::RESOLVED * low => format!("{ratio:.2} [{low:.2}, {high:.2}] times"),
            () if ratio > 1.0 => format!("at least {low:.2} times"),
            () => format!("at most {high:.2} times"),
        }
    }

    /// Whether short trials take as long on average: then something stops the path now and then, which short trials meet, too, but their
    /// median does not show. As long is: more than half of the way, as a ratio.
    pub fn short_mean_as_long(&self) -> bool {
        self.ratio > 1.0 && self.short_mean > self.ratio.sqrt()
    }
}

/// The size whose long trials differ the most from its short ones, of those where they [differ](Sustained::differs).
pub fn most_apart(of: &[Sustained]) -> Option<&Sustained> {
    let apart = of.iter().filter(|s| s.differs());
    apart.max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()))
}

/// Length of a sustained trial of a path with one connection, seconds, and how many sizes get any: none where the budget has no room, or
/// where the plan names how much is measured. Trials of several connections are long by themselves.
pub fn planned(plan: &Plan) -> (f64, usize) {
    // Under load the load is what lasts.
    let free = plan.trials.is_none() && plan.repeats.is_none() && !plan.scheduled() && !plan.loads();
    // A connection a transaction for so long would use up the ports.
    if plan.schedule != Schedule::Adaptive || plan.pattern.facts().anew.is_some() || !free {
        return (0.0, 0);
    }
    let time = plan.budget * SHARE / f64::from(TIMES);
    let sizes = ((time / LEAST) as usize).min(SIZES);
    ((time / sizes.max(1) as f64).clamp(LEAST, MOST), sizes)
}

/// The budget, seconds, from which a run of this plan has sustained trials; none where it has some, or would have none with any budget.
pub fn needs(plan: &Plan) -> Option<f64> {
    let budget = (LEAST * f64::from(TIMES) / SHARE).ceil();
    let alone = (0..plan.paths.len()).any(|path| plan.connections(path as u32) == 1);
    (alone && planned(plan).1 == 0 && planned(&Plan { budget, ..plan.clone() }).1 > 0).then_some(budget)
}

/// How long a trial lasted, seconds.
fn length(trial: &Trial) -> f64 {
    trial.report.seconds.max(trial.report.far.seconds)
}

/// The long trials of a size with their mean times, and what its short ones came to.
struct Held<'a> {
    size: u64,
    long: &'a [(&'a Trial, f64)],
    /// Logarithm of each mean over the median, at the level of its round.
    logs: Vec<f64>,
    /// Median of the short trials, seconds.
    median: f64,
    /// Standard error of the median, as a logarithm.
    error: f64,
    /// Mean of the short trials over their median.
    short_mean: f64,
    /// As [`Sustained::clock`].
    clock: Option<(f64, f64)>,
}

/// The sustained figures of a path, ascending by size. `points` are its short trials, a slice a size.
pub fn sustained<T: Borrow<[Trial]>>(
    plan: &Plan,
    kind: Name,
    trials: &[Trial],
    points: impl Iterator<Item = (u64, T)>,
    common: &Common,
) -> Vec<Sustained> {
    let mut of_size = BTreeMap::<u64, Vec<(&Trial, f64)>>::new();
    for t in trials {
        if let Some(mean) = figures::whole(plan, kind, t) {
            of_size.entry(t.size).or_default().push((t, mean));
        }
    }
    let mut found = Vec::new();
    for (size, short) in points {
        let Some(long) = of_size.get(&size) else { continue };
        let short: Vec<&Trial> = short.borrow().iter().collect();
        let rounds = figures::at_level(plan, kind, &short, common);
        if rounds.is_empty() {
            continue;
        }
        let median = stats::median(&rounds);
        found.push(Held {
            size,
            long,
            median,
            logs: long.iter().map(|(t, mean)| (mean / median).ln() - common.level(t.round)).collect(),
            error: figures::error(plan, kind, &short, common)
                .filter(|_| rounds.len() >= stats::FEWEST_ROUNDS)
                .map_or(f64::INFINITY, |e| e.value),
            short_mean: mean(plan, kind, &figures::counted(&short), common) / median,
            clock: clock(short.iter().copied()).zip(clock(long.iter().map(|(t, _)| *t))),
        });
    }
    let apart = apart(&found);
    let of = |Held { size, long, logs, median, error, short_mean, clock }: Held<'_>| {
        let log = stats::mean(&logs);
        let lasted = stats::mean(&long.iter().map(|(t, _)| length(t)).collect::<Vec<_>>());
        let own = apart.value.hypot(cut_off(log, lasted)) / (logs.len() as f64).sqrt();
        let reach = stats::student_t(stats::CONFIDENCE, apart.degrees) * own.hypot(error);
        let interval = stats::Interval { low: (log - reach).exp(), high: (log + reach).exp() };
        let stats::Interval { low, high } = figures::resolved(reach.is_finite().then_some(interval));
        // At the run's typical level, as the short trials' median is: else the two would not have the ratio that is told of them.
        let seconds = median * log.exp();
        Sustained {
            size,
            trials: logs.len() as u32,
            lasted,
            shortest: long.iter().map(|(t, _)| length(t)).fold(f64::INFINITY, f64::min),
            seconds,
            throughput: figures::bits(plan, long[0].0) / seconds,
            ratio: log.exp(),
            low,
            high,
            short_mean,
            clock,
        }
    };
    found.into_iter().map(of).collect()
}

/// Standard deviation of a trial's logarithm that comes of where it is cut off, if what makes it longer than the short ones by the factor
/// e^`log` are stops that come back: a trial holds one of them more or less, by chance as likely as any part of one.
fn cut_off(log: f64, lasted: f64) -> f64 {
    let stop = DEALT * (1.0 - (-log).exp()).max(0.0);
    if lasted > 0.0 { stop / lasted / 12f64.sqrt() } else { 0.0 }
}

/// How far the long trials of one size lie apart, as a logarithm: the standard deviation of one.
///
/// Two trials a size estimate it poorly; those of all sizes together estimate it better. But trials of one round share the machine's state,
/// so that two moments stay two, however many sizes each measured: the spread of the rounds' means and that about them add up, each with
/// its degrees of freedom.
fn apart(found: &[Held<'_>]) -> StandardError {
    let mut rounds = BTreeMap::<u32, Vec<f64>>::new();
    for f in found {
        let middle = stats::mean(&f.logs);
        f.long.iter().zip(&f.logs).for_each(|((t, _), log)| rounds.entry(t.round).or_default().push(log - middle));
    }
    let degrees = found.iter().map(|f| f.logs.len() - 1).sum::<usize>() as f64;
    let moments = rounds.len().saturating_sub(1) as f64;
    if degrees < 1.0 || moments < 1.0 {
        return StandardError { value: f64::INFINITY, degrees };
    }
    let all: f64 = rounds.values().flatten().map(|r| r * r).sum();
    let of_rounds: f64 = rounds.values().map(|r| r.iter().sum::<f64>().powi(2) / r.len() as f64).sum();
    let rest = degrees - moments;
    if rest < 1.0 {
        return StandardError { value: (all / degrees).sqrt(), degrees };
    }
    let together = rounds.values().map(Vec::len).sum::<usize>() as f64 / rounds.len() as f64;
    let (between, within) = (of_rounds / moments, (all - of_rounds).max(0.0) / rest);
    StandardError::of_sum(&[(between / together, moments), (within * (1.0 - 1.0 / together), rest)])
}

/// Cycles a second of CPU time over these trials, hertz; none where any of them did not count cycles.
fn clock<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<f64> {
    let all = Cost::of_all(trials.map(|t| t.report.cost))?;
    (all.cycles > 0 && all.cpu_ns > 0).then(|| all.cycles as f64 / (all.cpu_ns as f64 * 1e-9))
}

/// Mean time over all iterations of `trials`, each at the run's typical level, seconds of the point's kind.
fn mean(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> f64 {
    let timed = trials.iter().filter_map(|t| {
        let level = common.level(t.round) + common.within(t);
        Some((figures::whole(plan, kind, t)? / level.exp(), t.report.repeats as f64))
    });
    let (seconds, iterations) = timed.fold((0.0, 0.0), |(s, n), (mean, repeats)| (s + mean * repeats, n + repeats));
    seconds / iterations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrialReport;
    use crate::event::{Calibration, PathPlan};

    fn trial(round: u32, size: u64, median: f64, mean: f64, repeats: u64) -> Trial {
        let report = TrialReport { repeats, seconds: mean * repeats as f64, median, ..TrialReport::default() };
        let at = f64::from(round) + size as f64 * 1e-6;
        Trial { path: 0, round, at, size, response: 0, burst: 0, warmup: false, report }
    }

    #[test]
    fn a_budget_without_room_for_long_trials_names_the_one_that_has_it() {
        let path = |flows| PathPlan { flows, ..PathPlan::from(transport::tcp::NAME) };
        let of = |budget| Plan { budget, paths: vec![path(1)], ..Plan::default() };
        assert_eq!(
            (needs(&of(1.0)), needs(&of(3.8)), needs(&of(4.0)), needs(&of(12.0))),
            (Some(4.0), Some(4.0), None, None)
        );
        assert_eq!(needs(&Plan { trials: Some(3), ..of(1.0) }), None);
        // Paths of several connections have none with any budget.
        assert_eq!(needs(&Plan { both: true, ..of(1.0) }), None);
        assert_eq!(needs(&Plan { paths: vec![path(4)], ..of(1.0) }), None);
        assert_eq!(needs(&Plan { paths: vec![path(4), path(1)], ..of(1.0) }), Some(4.0));
    }

    /// Short trials at 4 GHz, long ones at 3 GHz and so much slower.
    #[test]
    fn a_boosted_clock_shows_in_the_cycles_of_a_second() {
        let at = |t: Trial, hertz: f64| {
            let cost = Cost { cpu_ns: 1_000_000, cycles: (hertz * 1e-3) as u64, ..Cost::default() };
            Trial { report: TrialReport { cost: Some(cost), ..t.report }, ..t }
        };
        let short: Vec<Trial> = (1..=6).map(|b| at(trial(b, 64, 1e-6, 1e-6, 1000), 4e9)).collect();
        let long = |cost: bool| -> Vec<Trial> {
            let of = |b| trial(b, 64, 1.33e-6, 1.33e-6, 300_000);
            [2, 5].map(|b| if cost { at(of(b), 3e9) } else { of(b) }).to_vec()
        };
        let plan = Plan::default();
        let clock = Calibration::default();
        let common = Common::of(&plan, transport::tcp::NAME, clock, [&short[..]].into_iter());
        let of = |long: &[Trial]| {
            sustained(&plan, transport::tcp::NAME, long, [(64, &short[..])].into_iter(), &common).remove(0)
        };
        let (short_hz, long_hz) = of(&long(true)).boosted().unwrap();
        assert!((short_hz / 4e9 - 1.0).abs() < 1e-6 && (long_hz / 3e9 - 1.0).abs() < 1e-6, "{short_hz} {long_hz}");
        assert_eq!(of(&long(false)).clock, None, "nothing is told of long trials that counted no cycles");
        let steady = Sustained { clock: Some((3.02e9, 3e9)), ..of(&long(true)) };
        assert_eq!(steady.boosted(), None, "a hundredth does not explain a third");
    }

    /// A CPU that runs for a tenth of a second and stands for another: chunks and short trials never see it stand.
    fn quota(sizes: &[u64], factor: f64) -> Vec<Sustained> {
        let plan = Plan::default();
        let noise = |b: u32, s: u64| 1.0 + 0.01 * f64::from((b * 5 + s as u32 * 3) % 7);
        let points: Vec<(u64, Vec<Trial>)> = (sizes.iter())
            .map(|s| (*s, (1..=10).map(|b| trial(b, *s, 2e-5 * noise(b, *s), 2e-5 * noise(b, *s), 50)).collect()))
            .collect();
        let long: Vec<Trial> = (sizes.iter())
            .flat_map(|s| [3, 7].map(|b| trial(b, *s, 2e-5, factor * 2e-5 * noise(b, *s), 15_000)))
            .collect();
        let common =
            Common::of(&plan, transport::tcp::NAME, Calibration::default(), points.iter().map(|(_, t)| &t[..]));
        sustained(&plan, transport::tcp::NAME, &long, points.iter().map(|(s, t)| (*s, &t[..])), &common)
    }

    #[test]
    fn a_quota_that_short_trials_never_meet_shows_in_long_ones() {
        for s in quota(&[1, 4096, 1 << 20], 2.0) {
            assert!(s.low < 2.0 && s.high > 2.0 && s.high < 2.3 && s.differs(), "{s:?}");
            assert!((s.lasted - 0.6).abs() < 0.05 && s.trials == 2, "{s:?}");
        }
        for s in quota(&[1, 4096, 1 << 20], 1.0) {
            assert!(!s.differs() && s.low < 1.0 && s.high > 1.0, "{s:?}");
        }
    }

    #[test]
    fn stops_that_short_trials_meet_too_are_told_from_a_speed_that_only_they_have() {
        let plan = Plan::default();
        // Every fifth short trial is held up for so long that all together take three times their median.
        let mean = |b: u32| if b.is_multiple_of(5) { 11.0 * 2e-5 } else { 2e-5 };
        let short: Vec<Trial> = (1..=30).map(|b| trial(b, 8, 2e-5, mean(b), 50)).collect();
        let calm: Vec<Trial> = (1..=30).map(|b| trial(b, 8, 2e-5, 2e-5, 50)).collect();
        let long = [trial(10, 8, 2e-5, 5.9e-5, 15_000), trial(20, 8, 2e-5, 6.1e-5, 15_000)];
        let of = |short: &[Trial]| {
            let common = Common::of(&plan, transport::tcp::NAME, Calibration::default(), [short].into_iter());
            sustained(&plan, transport::tcp::NAME, &long, [(8, short)].into_iter(), &common).remove(0)
        };
        let (stopped, throttled) = (of(&short), of(&calm));
        assert!((stopped.short_mean - 3.0).abs() < 0.1 && stopped.short_mean_as_long(), "{stopped:?}");
        assert!((throttled.short_mean - 1.0).abs() < 0.01 && !throttled.short_mean_as_long(), "{throttled:?}");
        assert!(
            (stopped.ratio / throttled.ratio - 1.0).abs() < 0.01,
            "the ratio is to the median that the table shows"
        );
    }

    #[test]
    fn long_trials_are_held_against_no_median_of_three_rounds() {
        let plan = Plan::default();
        let short: Vec<Trial> = (1..=3).map(|b| trial(b, 8, 2e-5, 2e-5, 50)).collect();
        let long = [trial(2, 8, 2e-5, 8e-5, 15_000), trial(3, 8, 2e-5, 8.1e-5, 15_000)];
        let common = Common::of(&plan, transport::tcp::NAME, Calibration::default(), [&short[..]].into_iter());
        let found = sustained(&plan, transport::tcp::NAME, &long, [(8, &short[..])].into_iter(), &common);
        assert!(found[0].high.is_infinite() && !found[0].differs(), "{found:?}");
    }

    #[test]
    fn a_sustained_time_is_at_the_level_of_the_median_beside_it() {
        // The rounds of both long trials stand three times as slow as most.
        let plan = Plan::default();
        let slow = |b: u32| if [3, 7].contains(&b) { 3.0 } else { 1.0 };
        let sizes: Vec<u64> = (0..8).map(|i| 64 << i).collect();
        let points: Vec<(u64, Vec<Trial>)> = (sizes.iter())
            .map(|s| (*s, (1..=10).map(|b| trial(b, *s, 2e-5 * slow(b), 2e-5 * slow(b), 50)).collect()))
            .collect();
        let long: Vec<Trial> = [3, 7].map(|b| trial(b, 64, 2e-5, 6e-5, 15_000)).to_vec();
        let common =
            Common::of(&plan, transport::tcp::NAME, Calibration::default(), points.iter().map(|(_, t)| &t[..]));
        let found = sustained(&plan, transport::tcp::NAME, &long, points.iter().map(|(s, t)| (*s, &t[..])), &common);
        let s = &found[0];
        assert!((s.ratio - 1.0).abs() < 0.05 && (s.seconds / 1e-5 - 1.0).abs() < 0.05, "{s:?}"); // half a round trip
    }

    #[test]
    fn one_trial_says_nothing_of_its_error() {
        let plan = Plan::default();
        let short: Vec<Trial> = (1..=10).map(|b| trial(b, 8, 2e-5, 2e-5, 50)).collect();
        let common = Common::of(&plan, transport::tcp::NAME, Calibration::default(), [&short[..]].into_iter());
        let found = sustained(
            &plan,
            transport::tcp::NAME,
            &[trial(3, 8, 2e-5, 9e-5, 15_000)],
            [(8, &short[..])].into_iter(),
            &common,
        );
        assert_eq!((found[0].low, found[0].high), (0.0, f64::INFINITY));
        assert!(!found[0].differs());
        assert!(sustained(&plan, transport::tcp::NAME, &[], [(8, &short[..])].into_iter(), &common).is_empty());
    }

    /// Two rounds in states far apart, each of which holds a long trial: their ratios lie so far apart that they say nothing.
    #[test]
    fn ratios_a_thousandfold_apart_have_no_interval() {
        let plan = Plan::default();
        let short: Vec<Trial> = (1..=10).map(|b| trial(b, 8, 2e-5, 2e-5, 50)).collect();
        let common = Common::of(&plan, transport::tcp::NAME, Calibration::default(), [&short[..]].into_iter());
        let of = |slow: f64| {
            let long = [trial(3, 8, 2e-5, 2e-5, 15_000), trial(7, 8, 2e-5, slow * 2e-5, 15_000)];
            sustained(&plan, transport::tcp::NAME, &long, [(8, &short[..])].into_iter(), &common).remove(0)
        };
        let (near, far) = (of(1.1), of(3.0));
        assert!(near.high.is_finite() && near.high / near.low < units::WIDEST, "{near:?}");
        assert_eq!((far.low, far.high), (0.0, f64::INFINITY), "{far:?}");
    }

    #[test]
    fn the_default_budget_has_room_for_three_sizes_and_a_short_one_for_none() {
        let of = |budget: f64| planned(&Plan { budget, ..Plan::default() });
        assert_eq!(of(12.0).1, 3);
        assert!((of(12.0).0 - 0.36).abs() < 0.01);
        assert_eq!((of(1.0).1, of(4.0).1), (0, 1));
        assert_eq!(of(600.0).0, MOST);
        assert_eq!(planned(&Plan { trials: Some(5), ..Plan::default() }).1, 0);
    }

    #[test]
    fn long_trials_are_held_against_short_ones_at_the_level_of_their_round() {
        let plan = Plan::default();
        // The machine is three times as slow in every other round; the long trials fall into slow ones.
        let level = |b: u32| if b.is_multiple_of(2) { 3.0 } else { 1.0 };
        let noise = |b: u32, s: u64| 1.0 + 0.01 * f64::from((b * 5 + s as u32 * 3) % 7);
        let each = |b: u32, s: u64| 2e-5 * level(b) * noise(b, s);
        let sizes = [1, 64, 1024, 4096, 16_384];
        let points: Vec<(u64, Vec<Trial>)> =
            sizes.map(|s| (s, (1..=12).map(|b| trial(b, s, each(b, s), each(b, s), 50)).collect())).to_vec();
        let common =
            Common::of(&plan, transport::tcp::NAME, Calibration::default(), points.iter().map(|(_, t)| &t[..]));
        let long: Vec<Trial> =
            sizes.iter().flat_map(|s| [4, 8].map(|b| trial(b, *s, each(b, *s), each(b, *s), 15_000))).collect();
        let found = sustained(&plan, transport::tcp::NAME, &long, points.iter().map(|(s, t)| (*s, &t[..])), &common);
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|s| (s.ratio - 1.0).abs() < 0.05 && !s.differs()), "{found:?}");
    }
}
