//! Earlier runs of a path on this machine: they show what one run can't, where a repeat will fall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of how figures are measured: what is timed, how long trials are, what warms up. A change of that raises it, and runs of another
/// version no longer count as earlier runs of the same thing.
pub const METHOD: u32 = 3;

/// Earlier runs of one path, told once, after its opening. A run that was asked not to look (`--no-history`), or whose path has no
/// machine behind it (`theory`), tells nothing; one that looked and found nothing tells none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Earlier {
    /// Path.
    pub path: u32,
    /// The runs, the oldest first.
    pub runs: Vec<EarlierRun>,
    /// How far runs of other paths of the same hosts lay apart, the most runs first: what runs of this one may do before they show it.
    /// Older files have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Apart>,
}

/// How far runs of one path lay apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Apart {
    /// Standard deviation of the logarithms of the runs' levels: 0.1 is 10%.
    pub spread: f64,
    /// Runs.
    pub runs: u32,
}

impl Apart {
    /// Most other paths whose spread is kept: a few show what is usual.
    pub const MOST: usize = 8;

    /// Whether it can be one that was measured: files may say anything.
    pub fn sound(&self) -> bool {
        (0.0..10.0).contains(&self.spread) && (2..=EarlierRun::MOST as u32).contains(&self.runs)
    }
}

/// One earlier run of a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierRun {
    /// Its start, RFC 3339, UTC.
    pub started: String,
    /// Its medians: pairs of a size (as in `point`) and seconds of the path's time kind, ascending by size.
    pub points: Vec<(u64, f64)>,
}

impl EarlierRun {
    /// Runs kept of a path.
    pub const MOST: usize = 30;
    /// Sizes kept of a run.
    pub const MOST_SIZES: usize = 256;

    /// A run with at most [`Self::MOST_SIZES`] of these points, which ascend: spread evenly over them where there are more.
    /// Times are kept to six digits. None without a usable time.
    pub fn new(started: String, points: impl Iterator<Item = (u64, f64)>) -> Option<Self> {
        let short = |t: f64| format!("{t:.5e}").parse().unwrap_or(t);
        let all: Vec<(u64, f64)> = points.map(|(size, t)| (size, short(t))).filter(|(_, t)| usable(*t)).collect();
        let most = Self::MOST_SIZES;
        let points: Vec<(u64, f64)> = match all.len() {
            n if n > most => (0..most).map(|i| all[i * (n - 1) / (most - 1)]).collect(),
            _ => all,
        };
        let run = Self { started, points };
        run.sound().then_some(run)
    }

    /// Whether it can be one that was measured: files may say anything.
    pub fn sound(&self) -> bool {
        let dated = (1..=40).contains(&self.started.len())
            && self.started.bytes().all(|b| b.is_ascii_alphanumeric() || b"-:.+".contains(&b));
        dated
            && (1..=Self::MOST_SIZES).contains(&self.points.len())
            && self.points.iter().all(|(_, t)| usable(*t))
            && self.points.is_sorted_by(|a, b| a.0 < b.0)
    }
}

/// A time that a path may take, seconds.
fn usable(seconds: f64) -> bool {
    (1e-15..1e9).contains(&seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str = "2026-01-31T10:00:00Z";

    #[test]
    fn many_sizes_are_thinned_evenly_with_both_ends() {
        let run = EarlierRun::new(STARTED.into(), (1..=1000).map(|i| (i, 1e-6 * i as f64))).unwrap();
        assert_eq!((run.points.len(), run.points[0].0, run.points[255].0), (256, 1, 1000));
        assert!(run.points.windows(2).all(|w| (3..=5).contains(&(w[1].0 - w[0].0))));
        assert!(run.sound());
    }

    #[test]
    fn a_spread_that_nobody_measured_is_none() {
        let of = |spread, runs| Apart { spread, runs }.sound();
        assert!(of(0.1, 2) && of(0.0, 30));
        assert!(!of(0.1, 1) && !of(0.1, 31) && !of(-0.1, 5) && !of(f64::NAN, 5) && !of(1e9, 5));
    }

    #[test]
    fn what_nobody_measured_is_no_run() {
        let with =
            |started: &str, points: &[(u64, f64)]| EarlierRun { started: started.into(), points: points.to_vec() };
        assert!(with(STARTED, &[(1, 1e-6), (2, 1e-6)]).sound());
        for bad in [
            with("", &[(1, 1e-6)]),
            with("\u{1b}[2J", &[(1, 1e-6)]),
            with(&"9".repeat(41), &[(1, 1e-6)]),
            with(STARTED, &[]),
            with(STARTED, &[(2, 1e-6), (1, 1e-6)]),
            with(STARTED, &[(1, 1e-6), (1, 1e-6)]),
            with(STARTED, &[(1, 0.0)]),
            with(STARTED, &[(1, f64::NAN)]),
            with(STARTED, &[(1, 1e300)]),
        ] {
            assert!(!bad.sound(), "{bad:?}");
        }
        assert_eq!(EarlierRun::new(STARTED.into(), [(1, f64::INFINITY)].into_iter()), None);
        let kept = EarlierRun::new(STARTED.into(), [(1, 1.23456789e-6), (2, -1.0)].into_iter()).unwrap();
        assert_eq!(kept.points, [(1, 1.23457e-6)]);
    }
}
