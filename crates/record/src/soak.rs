//! The intervals of a soak together: the worst of them, and its stalls.

use measure::event::{Figures, Plan, Trial};
use measure::figures::{self, Common, cost};
use schemars::JsonSchema;
use serde::Serialize;
use transport::Name;

use crate::{Costs, PathRun, Point, RunFile};

/// An iteration that takes so many medians, and so many seconds, is a stall: shorter ones come from the machine's own interrupts.
const MEDIANS: f64 = 10.0;
const LEAST: f64 = 1e-3;

/// Stalls that are listed with their moments: the longest.
const TOLD: usize = 5;

/// What the intervals of one size say.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Soak {
    /// Message size, bytes.
    pub size: u64,
    /// Intervals.
    pub intervals: u32,
    /// Seconds from the start of the first to the end of the last.
    pub lasted: f64,
    /// Share of that for which messages of this size were timed: the rest is other sizes, and the way from a trial to the next.
    pub timed: f64,
    /// The worst interval: the one with the longest mean time.
    pub worst: Interval,
    /// When the path stood still.
    pub stalls: Stalls,
    /// Times of the point's kind that an iteration takes: 2 of RTT/2.
    #[serde(skip)]
    pub transfers: f64,
}

/// One interval.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// Its number, from 1.
    pub number: u32,
    /// Seconds from the run's start to its own.
    pub at: f64,
    /// Its mean time, seconds of the point's kind.
    pub mean: f64,
    /// Its figures; the interval of the median is absent, since one interval can't tell it.
    pub figures: Figures,
}

/// Iterations that took over ten medians and over a millisecond.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Stalls {
    /// What counts as one, seconds.
    pub beyond: f64,
    /// How many there were; at least so many where iterations were not timed one by one.
    pub count: u64,
    /// Seconds that they took together.
    pub seconds: f64,
    /// The longest, in the order of time: seconds from the run's start, and seconds that it took. Empty where their moments are not
    /// known (`--rate`).
    pub longest: Vec<(f64, f64)>,
}

/// The mean time of an interval, seconds of the point's kind, which stalls and slow messages both make longer: the larger, the worse. None
/// where nothing completed.
pub fn badness(plan: &Plan, kind: Name, interval: &Trial) -> Option<f64> {
    let r = &interval.report;
    if r.histogram.is_empty() {
        let whole = (r.repeats > 0 && r.seconds > 0.0 && plan.rate.is_none() && r.median > 0.0)
            .then(|| r.seconds / r.repeats as f64 / figures::transfers(plan, interval));
        return whole.or_else(|| figures::typical(plan, kind, interval));
    }
    let (sum, n) =
        r.histogram.iter().fold((0.0, 0.0), |(s, n), (ns, many)| (s + *ns as f64 * *many as f64, n + *many as f64));
    (n > 0.0).then(|| sum * 1e-9 / n / figures::transfers(plan, interval))
}

/// The figures of a single interval; none where nothing completed.
pub fn figures_of(plan: &Plan, kind: Name, interval: &Trial) -> Option<Figures> {
    let found = figures::figures(plan, kind, &[interval], &Common::default())?;
    // The interval's own messages give no interval for those of the next.
    Some(Figures { low: 0.0, high: f64::INFINITY, ..found })
}

/// A soak's interval as a point of its own, without the times of its messages; none where nothing completed.
pub(crate) fn point(plan: &Plan, kind: Name, mut interval: Trial) -> Option<Point> {
    let figures = figures_of(plan, kind, &interval)?;
    (interval.report.histogram, interval.report.pauses) = (Vec::new(), Vec::new());
    let alone = std::slice::from_ref(&interval);
    let [near, far] = cost::End::BOTH.map(|end| cost::costs(plan, kind, end, [alone].into_iter()).next().flatten());
    let costs = Costs::new(near, far);
    let time = figures::time_kind(plan, kind, 1);
    Some(Point { size: interval.size, trials: vec![interval].into(), figures, costs, ways: None, time, why: None })
}

impl RunFile {
    /// The figures of the soak of the path at this index, ascending by size; empty of any other run, and of sizes of which nothing
    /// completed.
    pub fn soak(&self, path: usize) -> Vec<Soak> {
        let Some(path) = self.paths.get(path).filter(|_| self.run.plan.soaks()) else { return Vec::new() };
        path.points.iter().filter_map(|point| one(&self.run.plan, path, point)).collect()
    }
}

fn one(plan: &Plan, path: &PathRun, point: &Point) -> Option<Soak> {
    let kind = path.opened.transport;
    let rows = point.trials.all();
    let rows: Vec<&Trial> = rows.iter().filter(|t| !t.warmup).collect();
    let (first, last) = (rows.first()?, rows.last()?);
    let worst = path.worst.iter().find(|t| t.size == point.size)?;
    let lasts = |t: &Trial| t.report.seconds.max(t.report.far.seconds);
    let lasted = last.at + lasts(last) - first.at;
    let timed = rows.iter().map(|t| lasts(t)).sum::<f64>();
    Some(Soak {
        size: point.size,
        intervals: last.round,
        lasted,
        timed: if lasted > 0.0 { (timed / lasted).min(1.0) } else { 1.0 },
        worst: Interval {
            number: worst.round,
            at: worst.at,
            mean: badness(plan, kind, worst)?,
            figures: figures_of(plan, kind, worst)?,
        },
        stalls: stalls(&rows),
        transfers: figures::transfers(plan, first).max(f64::MIN_POSITIVE),
    })
}

fn stalls(rows: &[&Trial]) -> Stalls {
    let medians: Vec<f64> = rows.iter().map(|t| t.report.median).filter(|m| *m > 0.0).collect();
    let beyond = if medians.is_empty() { LEAST } else { (MEDIANS * stats::median(&medians)).max(LEAST) };
    let (mut count, mut seconds, mut longest) = (0u64, 0.0, Vec::new());
    for t in rows {
        let moments = || t.report.pauses.iter().map(|(at, ns)| (t.at + *at as f64 * 1e-9, *ns as f64 * 1e-9));
        let long = |took: f64| took > beyond;
        longest.extend(moments().filter(|(_, took)| long(*took)));
        let pairs: Vec<(f64, u64)> = match t.report.histogram.is_empty() {
            true => moments().map(|(_, took)| (took, 1)).collect(),
            false => t.report.histogram.iter().map(|(ns, n)| (*ns as f64 * 1e-9, *n)).collect(),
        };
        for (took, n) in pairs.into_iter().filter(|(took, _)| long(*took)) {
            (count, seconds) = (count.saturating_add(n), seconds + took * n as f64);
        }
    }
    longest.sort_by(|a, b| b.1.total_cmp(&a.1));
    longest.truncate(TOLD);
    longest.sort_by(|a, b| a.0.total_cmp(&b.0));
    Stalls { beyond, count, seconds, longest }
}

#[cfg(test)]
mod tests {
    use measure::Event;
    use measure::event::Schedule;

    use super::*;
    use crate::{Fold, sample};

    fn interval(round: u32, median: f64) -> Trial {
        let mut t = sample::trial(0, round, f64::from(round - 1), 64, median);
        t.report.median = 2.0 * median;
        t.report.histogram = vec![((2e9 * median) as u64, 1000)];
        t.report.repeats = 1000;
        t.report.seconds = 0.9;
        t.report.pauses.clear();
        t
    }

    fn soak(intervals: impl Iterator<Item = Trial>) -> RunFile {
        let mut fold = Fold::new();
        let mut run = sample::run(measure::Pattern::PingPong);
        (run.plan.schedule, run.plan.every) = (Schedule::Soak, Some(1.0));
        fold.event(&Event::Run(run));
        fold.event(&Event::Path(sample::opened(0, transport::tcp::NAME)));
        intervals.for_each(|t| fold.event(&Event::Trial(t)));
        fold.finish().unwrap()
    }

    #[test]
    fn the_worst_interval_and_the_stalls_are_told_with_their_moments() {
        let run = soak((1..=30).map(|round| {
            let mut t = interval(round, 1e-5);
            if round == 17 {
                t.report.histogram = vec![(20_000, 990), (50_000_000, 10)];
                t.report.pauses = (0..10).map(|k| (k * 90_000_000, 50_000_000)).collect();
            }
            t
        }));
        let [soak] = &run.soak(0)[..] else { panic!("one size") };
        assert_eq!((soak.intervals, soak.worst.number, soak.worst.at), (30, 17, 16.0));
        assert!((soak.lasted - 29.9).abs() < 1e-9 && (soak.timed - 27.0 / 29.9).abs() < 1e-9, "{soak:?}");
        assert!((soak.worst.mean - (990.0 * 1e-5 + 10.0 * 25e-3) / 1000.0).abs() < 1e-9, "{}", soak.worst.mean);
        assert_eq!((soak.stalls.beyond, soak.stalls.count, soak.stalls.longest.len()), (1e-3, 10, TOLD));
        assert!((soak.stalls.seconds - 0.5).abs() < 1e-9 && soak.stalls.longest[0].0 >= 16.0);
        assert!(run.soak(1).is_empty());
        let mut plain = run;
        plain.run.plan.schedule = Schedule::Adaptive;
        assert!(plain.soak(0).is_empty());
    }

    #[test]
    fn the_worst_of_a_day_is_known_however_few_rows_are_held() {
        let all = 40_000;
        let run = soak((1..=all).map(|round| interval(round, if round == 31_007 { 3e-5 } else { 1e-5 })));
        let [soak] = &run.soak(0)[..] else { panic!("one size") };
        assert_eq!((soak.intervals, soak.worst.number, soak.worst.figures.median), (all, 31_007, 3e-5));
        let point = &run.paths[0].points[0];
        assert!(point.trials.len() <= measure::interval::MOST as usize + 32);
        assert_eq!(point.figures.iterations, 40_000_000);
    }
}
