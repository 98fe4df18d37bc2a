//! The beats of a period: which stops come at its due moments, and what their moments say of it.

use super::divided::surprisal;
use super::watch::{Due, Watch};
use super::{Periodic, Source};
use crate::Estimate;

/// Stops that must be seen, and the share of the due moments that a trial watched at which they must be: in the run, and in each half of it.
pub(super) const SEEN: usize = 6;
pub(super) const KEPT: f64 = 0.4;
const IN_A_HALF: f64 = 0.25;

/// The same share from which on stops are said to come each time.
const EACH: f64 = 0.8;

/// How often the line through the beats is drawn anew, and how many times their typical distance from it they may lie.
const REFITS: usize = 4;
const FARTHEST: f64 = 4.0;

/// The standard deviation of a normal variable over the median of its absolute value.
const TYPICAL: f64 = 1.4826;

/// A period at which stops come.
pub(super) struct Found {
    pub period: f64,
    /// Number of each due moment at which a stop came, and when it did.
    pub stops: Vec<(f64, f64)>,
    /// Stops over the due moments that were watched, by how much of each was.
    pub share: f64,
    /// They come at enough of these moments to be said, in both halves of the run.
    pub enough: bool,
    /// How far from their due moments they were looked for, seconds.
    pub near: f64,
    /// Logarithm of the probability by chance, at this period and at any that was looked at.
    pub chance: f64,
    pub anywhere: f64,
}

/// The stops that come at this period and phase, where there are more than chance gives.
pub(super) fn came(set: &[f64], watch: &Watch, (period, phase): (f64, f64), near: f64) -> Option<Found> {
    let (mut watched, mut all, mut stops) = ([0.0; 2], 0.0, Vec::new());
    let middle = watch.middle();
    for due in watch.due((period, phase), near) {
        watched[usize::from(due.at > middle)] += due.covered;
        all += 1.0;
        let from = set.partition_point(|p| *p < due.at - near);
        let those = set[from..].iter().take_while(|p| **p <= due.at + near);
        let nearest = those.min_by(|a, b| (*a - due.at).abs().total_cmp(&(*b - due.at).abs()));
        stops.extend(nearest.map(|p| (due.number, *p)));
    }
    let late = stops.iter().filter(|s| s.1 > middle).count();
    let keeps = |came: usize, all: f64, share: f64| all > 0.0 && came as f64 >= share * all;
    let (early, both) = (stops.len() - late, watched[0] + watched[1]);
    let enough =
        keeps(stops.len(), both, KEPT) && keeps(early, watched[0], IN_A_HALF) && keeps(late, watched[1], IN_A_HALF);
    let chance = (set.len() as f64 / watch.all * 2.0 * near * both / all).min(0.9);
    let share = stops.len() as f64 / all;
    let by_chance = -all * surprisal(share, chance);
    let (kept, seen) = (stops.len() as f64 / both, stops.len());
    let found = || Found { period, stops, share: kept, enough, near, chance: by_chance, anywhere: by_chance };
    (seen >= SEEN && share > chance).then(found)
}

/// The moments of the stops over their numbers: its slope is the period.
pub(super) fn line(found: &Found) -> Option<stats::Line> {
    through(&found.stops)
}

/// A straight line through moments over their numbers.
fn through(stops: &[(f64, f64)]) -> Option<stats::Line> {
    let points: Vec<(f64, f64, f64)> = stops.iter().map(|(k, at)| (*k, *at, 1.0)).collect();
    stats::weighted_line(&points)
}

/// The period through the stops themselves: a straight line through their moments over their numbers. Beats that come early or late lie
/// farther from their due moments than was looked at, so that as many are taken as their own spread tells.
pub(super) fn periodic(found: &Found, set: &[f64], watch: &Watch, near: f64) -> Periodic {
    let mut stops = found.stops.clone();
    let mut noise = near / 10.0;
    for _ in 0..REFITS {
        let Some(line) = through(&stops) else { break };
        let widest = line.slope / 4.0;
        let nearest = |due: Due| {
            let next = set.partition_point(|p| *p < due.at);
            let about = set[next.saturating_sub(1)..set.len().min(next + 1)].iter();
            let nearest = about.min_by(|a, b| (*a - due.at).abs().total_cmp(&(*b - due.at).abs()))?;
            ((nearest - due.at).abs() <= widest).then_some((due.number, *nearest))
        };
        let about: Vec<(f64, f64)> = watch.due((line.slope, line.at(0.0)), near).filter_map(nearest).collect();
        if about.len() < SEEN {
            break;
        }
        let off = |s: &(f64, f64)| (s.1 - line.at(s.0)).abs();
        let typical = stats::median(&about.iter().map(off).collect::<Vec<_>>()) * TYPICAL;
        let most = (FARTHEST * typical).max(near);
        stops = about.into_iter().filter(|s| off(s) <= most).collect();
    }
    let stops = if stops.len() < SEEN { &found.stops } else { &stops };
    let n = stops.len() as f64;
    let middle = stops.iter().map(|s| s.0).sum::<f64>() / n;
    let spread = stops.iter().map(|s| (s.0 - middle).powi(2)).sum::<f64>().sqrt();
    let line = through(stops);
    let value = line.as_ref().map_or(found.period, |l| l.slope);
    let off = line.map_or(0.0, |l| stops.iter().map(|s| (s.1 - l.at(s.0)).powi(2)).sum::<f64>());
    noise = noise.max((off / (n - 2.0).max(1.0)).sqrt());
    let reach = stats::student_t(stats::CONFIDENCE, (n - 2.0).max(1.0)) * noise / spread;
    let period = Estimate { value, low: value - reach, high: value + reach };
    Periodic { period, source: Source::Pauses, each_time: found.share >= EACH, power: -found.chance / 0.4 }
}
