//! What the machine itself did between two sides: its own calibration, and what other programs took of it.
//!
//! A machine may run at another speed in one run than in the other (a virtual machine's CPUs are moved about), and a single run can't show
//! a speed that it did not meet. But a run reads its machine's calibration before each round, whatever it measures. How far those readings
//! lie apart bounds what the machine explains: a path's speed may follow one yardstick or another, or none.
//!
//! What other programs take gives no such bound: they stop a side in the middle of a round, and their work may also keep CPUs from
//! sleeping, so that waking them costs less. Where they took more in one run than in the other, a difference may be theirs, and nothing can
//! be said of it. What the hypervisor kept (steal), and time in which a CPU quota stopped a side, only make times longer, by their share of
//! the time: a difference far beyond that is of something else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{CONFIDENCE, StandardError, mean, median, median_log_error};

/// What one run read off one yardstick of its machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineReadings {
    /// Name of the yardstick, as it is to be shown.
    pub what: String,
    /// Readings, one a round, seconds.
    pub seconds: Vec<f64>,
}

/// What surrounded one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Circumstances {
    /// When it began, seconds since any moment; none where that is not known.
    pub started: Option<f64>,
    /// Its machine's calibration; empty where the sides' machines are what is compared, or it was not read.
    pub calibrations: Vec<MachineReadings>,
    /// What other programs took of the CPUs measured on, as a share of one CPU, where known.
    pub programs: Option<f64>,
    /// What the hypervisor kept of them, as a share of one CPU; none where it is not known apart from `programs`.
    pub stolen: Option<f64>,
    /// What a CPU quota kept from the measurement, summed over CPUs, as a share of one CPU, where known.
    pub stopped: Option<f64>,
}

/// Who took of the CPUs measured on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Disturber {
    /// Other programs of the machine.
    #[default]
    Programs,
    /// The hypervisor: steal in `/proc/stat`.
    Hypervisor,
    /// The CPU quota of a control group.
    Quota,
}

/// Others took more of the CPUs on one side than on the other: a difference may be theirs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbed {
    /// Who took most more on one side than on the other.
    #[serde(default)]
    pub by: Disturber,
    /// What that took while the first side's runs were measured, as a share of one CPU, of a quota as a share of the time in which it stopped the
    /// side; mean of the runs.
    pub first: f64,
    /// The same of the second side.
    pub second: f64,
    /// The sides seemed to differ. Nothing can then be said: no interval of the comparison has a bound, and no size of it is
    /// significant.
    pub undecided: bool,
}

impl Disturbed {
    /// Shares of one CPU, and of time, that lie no further apart are no reason to doubt: a run warns of more than half of this. They are
    /// added up: a side that a quota stops for a tenth of the time has a tenth of a CPU less.
    const APART: f64 = 0.1;

    /// What of a ratio's logarithm that may explain, either way; none where nothing bounds it, as with other programs (see above). What the
    /// hypervisor keeps or a quota stops for a share of the time makes times 1 / (1 - share) times as long, and no more; what lies further than
    /// twice as far is for the most part of something else, as the warnings of a run have it.
    pub(super) fn most(first: &[Circumstances], second: &[Circumstances]) -> Option<f64> {
        let all = Self::each(first, second);
        let sum: f64 = all.iter().map(Self::apart).sum();
        let bounded = all.iter().all(|d| d.by != Disturber::Programs || d.apart() <= Self::APART);
        (bounded && sum < 1.0).then(|| -2.0 * (1.0 - sum).ln())
    }

    /// None where the sides were disturbed alike, or where it is not known of a run.
    pub(super) fn of(first: &[Circumstances], second: &[Circumstances]) -> Option<Self> {
        let all = Self::each(first, second);
        // What one takes less does not make up for what another takes more.
        let sum: f64 = all.iter().map(Self::apart).sum();
        let most = all.into_iter().max_by(|a, b| a.apart().total_cmp(&b.apart()))?;
        (sum > Self::APART).then_some(most)
    }

    fn apart(&self) -> f64 {
        (self.first - self.second).abs()
    }

    /// What each of those that are known of all runs took.
    fn each(first: &[Circumstances], second: &[Circumstances]) -> Vec<Self> {
        let share = |side: &[Circumstances], of: fn(&Circumstances) -> Option<f64>| -> Option<f64> {
            let shares: Option<Vec<f64>> = side.iter().map(|c| of(c).filter(|f| f.is_finite())).collect();
            shares.filter(|s| !s.is_empty()).map(|s| mean(&s))
        };
        let by = |by, of: fn(&Circumstances) -> Option<f64>| {
            Some(Self { by, first: share(first, of)?, second: share(second, of)?, undecided: false })
        };
        let all = [
            by(Disturber::Programs, |c| c.programs),
            by(Disturber::Hypervisor, |c| c.stolen),
            by(Disturber::Quota, |c| c.stopped),
        ];
        all.into_iter().flatten().collect()
    }
}

/// A yardstick that stands elsewhere on the second side than on the first, beyond its own noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shift {
    /// Name of the yardstick.
    pub what: String,
    /// Its time on the second side over that on the first.
    pub ratio: f64,
    /// How far off the logarithm of that may be, 95%.
    pub noise: f64,
}

/// The yardsticks that all runs read and that moved.
pub(super) fn shifts(first: &[Circumstances], second: &[Circumstances]) -> Vec<Shift> {
    let Some(run) = first.first() else { return Vec::new() };
    run.calibrations.iter().filter_map(|y| shift(&y.what, first, second)).collect()
}

fn shift(what: &str, first: &[Circumstances], second: &[Circumstances]) -> Option<Shift> {
    let level = |side: &[Circumstances]| -> Option<(f64, Vec<StandardError>)> {
        let of = |run: &Circumstances| {
            let readings = run.calibrations.iter().find(|y| y.what == what)?.seconds.as_slice();
            let good: Vec<f64> = readings.iter().copied().filter(|t| *t > 0.0 && t.is_finite()).collect();
            Some((median(&good).ln(), median_log_error(&good, 0.0)?))
        };
        let runs: Option<Vec<(f64, StandardError)>> = side.iter().map(of).collect();
        let (levels, errors): (Vec<f64>, Vec<StandardError>) = runs?.into_iter().unzip();
        (!levels.is_empty()).then(|| (mean(&levels), errors))
    };
    let (a, b) = (level(first)?, level(second)?);
    let parts: Vec<(f64, f64)> = [&a.1, &b.1]
        .into_iter()
        .flat_map(|errors| errors.iter().map(|e| ((e.value / errors.len() as f64).powi(2), e.degrees)))
        .collect();
    let error = StandardError::of_sum(&parts);
    let (moved, noise) = (b.0 - a.0, error.reach(CONFIDENCE));
    (moved.abs() > noise).then(|| Shift { what: what.to_owned(), ratio: moved.exp(), noise })
}

/// The range of a ratio's logarithm that the shifts explain: from the least to the greatest of them with their noise, 0 included.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Explained {
    pub low: f64,
    pub high: f64,
}

impl Explained {
    pub fn by(shifts: &[Shift]) -> Self {
        let low = shifts.iter().map(|s| s.ratio.ln() - s.noise).fold(0.0, f64::min);
        let high = shifts.iter().map(|s| s.ratio.ln() + s.noise).fold(0.0, f64::max);
        Self { low, high }
    }

    /// With what the machine drifted, as a logarithm.
    pub fn and(self, drift: Option<f64>) -> Self {
        let drift = drift.unwrap_or(0.0);
        Self { low: self.low.min(drift), high: self.high.max(drift) }
    }

    /// What is left of a difference beyond that.
    pub fn beyond(self, difference: f64) -> f64 {
        difference - difference.clamp(self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(wake: &[f64], line: &[f64]) -> Circumstances {
        let of = |what: &str, seconds: &[f64]| MachineReadings { what: what.to_owned(), seconds: seconds.to_vec() };
        Circumstances { calibrations: vec![of("wake", wake), of("line", line)], ..Circumstances::default() }
    }

    #[test]
    fn only_a_yardstick_that_moved_beyond_its_noise_is_told() {
        let a = run(&[10.0, 10.1, 9.9, 10.0, 10.05], &[1.0, 1.1, 0.9, 1.0, 1.05]);
        let b = run(&[20.0, 20.1, 19.9, 20.0, 20.05], &[1.02, 1.1, 0.9, 1.0, 1.07]);
        let found = shifts(&[a], &[b]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].what == "wake" && (found[0].ratio - 2.0).abs() < 1e-9, "{found:?}");
        let e = Explained::by(&found);
        assert!(e.low == 0.0 && e.high > 2.0_f64.ln() && e.high < 2.1_f64.ln(), "{e:?}");
        assert!(e.beyond(0.5) == 0.0 && e.beyond(-0.5) == -0.5 && (e.beyond(1.0) - (1.0 - e.high)).abs() < 1e-12);
    }

    #[test]
    fn what_not_every_run_read_tells_nothing() {
        let a = || run(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]);
        let only = |seconds: Vec<f64>| Circumstances {
            calibrations: vec![MachineReadings { what: "wake".into(), seconds }],
            ..Circumstances::default()
        };
        let b = || only(vec![2.0, 2.0, 2.0]);
        assert_eq!(shifts(&[a()], &[b()]).len(), 1);
        assert!(shifts(&[a()], &[b(), Circumstances::default()]).is_empty());
        assert!(shifts(&[], &[]).is_empty() && shifts(&[a()], &[]).is_empty());
        assert!(shifts(&[a()], &[run(&[f64::NAN, 0.0], &[])]).is_empty());
        assert!(shifts(&[only(vec![2.0])], &[b()]).is_empty(), "one reading has no noise to stand out of");
    }

    #[test]
    fn sides_are_disturbed_where_others_took_more_of_one_of_them() {
        let took = |programs: &[Option<f64>]| -> Vec<Circumstances> {
            programs.iter().map(|f| Circumstances { programs: *f, ..Circumstances::default() }).collect()
        };
        let of = |a: &[Option<f64>], b: &[Option<f64>]| Disturbed::of(&took(a), &took(b));
        assert_eq!(
            of(&[Some(0.01)], &[Some(1.1)]),
            Some(Disturbed { by: Disturber::Programs, first: 0.01, second: 1.1, undecided: false })
        );
        assert_eq!(of(&[Some(1.08)], &[Some(1.1)]), None, "alike");
        assert_eq!(of(&[Some(0.0), None], &[Some(1.1)]), None, "unknown");
        assert_eq!(of(&[Some(f64::NAN)], &[Some(1.1)]), None);
        assert_eq!(of(&[], &[Some(1.1)]), None);
    }

    #[test]
    fn what_the_hypervisor_kept_or_a_quota_stopped_disturbs_under_its_own_name() {
        let run = |programs, stolen, stopped| [Circumstances { programs, stolen, stopped, ..Circumstances::default() }];
        let quiet = run(Some(0.02), Some(0.01), Some(0.0));
        let by = |other: &[Circumstances]| Disturbed::of(&quiet, other).map(|d| (d.by, d.first, d.second));
        assert_eq!(by(&run(Some(0.02), Some(0.95), Some(0.0))), Some((Disturber::Hypervisor, 0.01, 0.95)));
        assert_eq!(by(&run(Some(0.02), Some(0.01), Some(0.4))), Some((Disturber::Quota, 0.0, 0.4)));
        assert_eq!(by(&run(Some(0.7), Some(0.2), None)), Some((Disturber::Programs, 0.02, 0.7)));
        assert_eq!(by(&run(Some(0.08), Some(0.09), None)), Some((Disturber::Hypervisor, 0.01, 0.09)), "both together");
        assert_eq!(by(&run(Some(0.02), None, None)), None);
        let swapped = Disturbed::of(&run(Some(0.6), Some(0.0), None), &run(Some(0.0), Some(0.6), None));
        assert!(swapped.is_some(), "one does not make up for the other");
    }
}
