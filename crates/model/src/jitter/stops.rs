//! Long stops that come back at a slow period: too few for a spectrum, but each of them is seen.
//!
//! The longest pauses of a run are folded at each period, and the place in the period that holds most of them is tested: of the moments at
//! which a stop was due there and a trial watched, at how many one came. Random stops come at a due moment with the share of time that they
//! take. What comes with the beginnings or ends of trials and rounds is the run's own rhythm. A period found is then compared with all
//! pauses (`divided`).

use super::divided::{self, Verdict, surprisal};
use super::{LEVEL, Moment, Periodic, Source, TIMES, rhythm};
use crate::Estimate;

/// Pauses that are tested: the longest so many of them. A connection that is held meets more stops than rounds do.
const LONGEST: [usize; 3] = [16, 40, 100];
const OF_ONE_CONNECTION: [usize; 5] = [16, 40, 100, 300, 1000];

/// How far from its due moment a stop may be seen, seconds, or as a share of the run.
const NEAR: f64 = 1e-3;
const OF_RUN: f64 = 1e-4;

/// Stops that must be seen, and the share of the due moments that a trial watched at which they must be.
const SEEN: usize = 6;
const KEPT: f64 = 0.6;

/// Share of the stops near the ends of their trials from which on they belong to the trials.
const BOUND: f64 = 0.6;

/// Stops that must fall into trials, two more than are needed, since some come too near to a trial's end and both halves of the run must
/// show them; and with what probability.
const MET: usize = SEEN + 2;
const FINDS: f64 = 0.9;

/// A period found, and its significance.
struct Found {
    frequency: f64,
    /// Number of each due moment at which a stop came, and when it did.
    stops: Vec<(f64, f64)>,
    /// Logarithm of the probability by chance.
    chance: f64,
}

/// The period of the run's long stops, if one is significant. `rounds` are the moments at which rounds began, seconds.
pub(super) fn period(trials: &[&Moment], rounds: &[f64]) -> Option<Periodic> {
    let (first, last) = (trials.first()?, trials.last()?);
    let span = last.at + last.lasted - first.at;
    let watched: f64 = trials.iter().map(|t| t.lasted).sum();
    let near = NEAR.max(span * OF_RUN);
    let mut pauses: Vec<(f64, f64)> = trials.iter().flat_map(|t| stops_of(t, near)).collect();
    pauses.sort_by(|a, b| b.1.total_cmp(&a.1));
    // Where all are equally long, or their lengths are not known, none are the longest.
    let alike = |many: usize| pauses.get(many).is_some_and(|next| pauses[many - 1].1 <= next.1);
    let longest: &[usize] = if rounds.len() == 1 { &OF_ONE_CONNECTION } else { &LONGEST };
    let sets = longest.iter().filter(|many| **many < pauses.len() && !alike(**many)).copied();
    let most = longest[longest.len() - 1];
    let sets_of = longest.len();
    let sets: Vec<usize> = sets.chain((pauses.len() <= most * 3 / 2).then_some(pauses.len())).collect();
    let mut all: Vec<f64> = pauses.iter().map(|p| p.0).collect();
    all.sort_unstable_by(f64::total_cmp);
    let mut best: Option<Found> = None;
    for many in sets {
        let mut set: Vec<f64> = pauses[..many].iter().map(|p| p.0).collect();
        set.sort_unstable_by(f64::total_cmp);
        let chance = (many as f64 * 2.0 * near / watched).min(0.9);
        let (shortest, longest) = ((watched * KEPT / many as f64).max(10.0 * near), span / TIMES);
        let step = 1.0 + 2.0 * near / span;
        let mut period = shortest;
        let mut looked = 0.0;
        let mut candidate: Option<Found> = None;
        while period <= longest {
            looked += period / near;
            let due = watched / period;
            let better = |f: &Found| candidate.as_ref().is_none_or(|c| f.chance < c.chance);
            if let Some(found) = folded(&set, trials, period, near, chance, due).filter(better) {
                candidate = Some(found);
            }
            period *= step;
        }
        let sure = |c: &Found| c.chance + f64::ln(looked * sets_of as f64) < LEVEL.ln();
        let own = |c: &Found| rhythm::shared(rounds, c.frequency) || bound(c, trials, near);
        candidate = candidate.filter(sure).and_then(|c| quickest(c, &all, trials, near)).filter(|c| !own(c));
        if candidate.as_ref().is_some_and(|c| best.as_ref().is_none_or(|b| c.chance < b.chance)) {
            best = candidate;
        }
    }
    best.map(|found| periodic(&found, near))
}

/// The share of a run of `span` seconds in which its trials would see a stop begin, and the longest period at which [`MET`] of the stops
/// fall into them with probability [`FINDS`], seconds: 0 where there is none.
pub(super) fn seen(trials: &[&Moment], span: f64) -> (f64, f64) {
    let near = NEAR.max(span * OF_RUN);
    // No other stop begins during a stop, and without it the run would have been shorter.
    let stopped = |t: &Moment| t.lengths.iter().sum::<f64>().min(t.lasted);
    let running: f64 = trials.iter().map(|t| (t.lasted - stopped(t) - 2.0 * t.edge(near)).max(0.0)).sum();
    let all = span - trials.iter().map(|t| stopped(t)).sum::<f64>();
    let watched = if all > 0.0 { (running / all).clamp(0.0, 1.0) } else { 0.0 };
    let most = (MET as f64 * 10.0 / watched.max(1e-3)) as usize;
    let due = (MET..=most).find(|due| at_least(*due, MET, watched) >= FINDS);
    (watched, due.map_or(0.0, |due| span / due as f64))
}

/// Probability of `many` or more of `all`, each with probability `each` (binomial).
fn at_least(all: usize, many: usize, each: f64) -> f64 {
    if each >= 1.0 {
        return f64::from(u8::from(all >= many));
    }
    let mut term = (1.0 - each).powi(all as i32);
    let mut fewer = 0.0;
    for k in 0..many.min(all + 1) {
        fewer += term;
        term *= (all - k) as f64 / (k + 1) as f64 * each / (1.0 - each);
    }
    1.0 - fewer
}

/// Pauses of a trial that are not part of one stop with the one before, with their lengths.
fn stops_of(t: &Moment, near: f64) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (i, at) in t.pauses.iter().enumerate() {
        let long = t.lengths.get(i).copied().unwrap_or(0.0);
        match kept.last_mut() {
            Some(last) if at - last.0 < 2.0 * near => last.1 = last.1.max(long),
            _ => kept.push((*at, long)),
        }
    }
    kept
}

/// The stops at the fullest place of this period, where they are enough to be tested.
fn folded(set: &[f64], trials: &[&Moment], period: f64, near: f64, chance: f64, due: f64) -> Option<Found> {
    let needed = SEEN.max((KEPT * due * 0.8) as usize);
    if set.len() < needed {
        return None;
    }
    let mut phases: Vec<f64> = set.iter().map(|p| (p / period).fract() * period).collect();
    phases.sort_unstable_by(f64::total_cmp);
    let n = phases.len();
    let at = |i: usize| if i < n { phases[i] } else { phases[i - n] + period };
    let (mut end, mut fullest) = (0, (0, 0));
    for (i, first) in phases.iter().enumerate() {
        end = end.max(i);
        while end < i + n && at(end) - first <= 2.0 * near {
            end += 1;
        }
        fullest = fullest.max((end - i, i));
    }
    if fullest.0 < needed {
        return None;
    }
    let phase = (phases[fullest.1] + at(fullest.1 + fullest.0 - 1)) / 2.0;
    kept(set, trials, (period, phase), near, chance)
}

/// The stops that come at this period and phase, where they come at most of the moments that were watched, in both
/// halves of the run.
fn kept(set: &[f64], trials: &[&Moment], (period, phase): (f64, f64), near: f64, chance: f64) -> Option<Found> {
    let (mut watched, mut stops) = ([0usize; 2], Vec::new());
    let middle = (trials[0].at + trials[trials.len() - 1].at) / 2.0;
    for t in trials {
        let edge = t.edge(near);
        let mut k = ((t.at + edge - phase) / period).ceil();
        while phase + k * period < t.at + t.lasted - edge {
            let moment = phase + k * period;
            watched[usize::from(moment > middle)] += 1;
            let from = set.partition_point(|p| *p < moment - near);
            stops.extend(set.get(from).filter(|p| **p <= moment + near).map(|p| (k, *p)));
            k += 1.0;
        }
    }
    let late = stops.iter().filter(|s| s.1 > middle).count();
    let kept = |came: usize, all: usize| all > 0 && came as f64 >= KEPT * all as f64;
    if stops.len() < SEEN || !kept(stops.len() - late, watched[0]) || !kept(late, watched[1]) {
        return None;
    }
    let all = (watched[0] + watched[1]) as f64;
    let share = stops.len() as f64 / all;
    let found = || Found { frequency: 1.0 / period, stops, chance: -all * surprisal(share, chance) };
    (share > chance).then(found)
}

/// The period found, or the part of it at which all pauses come; none where pauses come back between, but not each time.
fn quickest(found: Found, all: &[f64], trials: &[&Moment], near: f64) -> Option<Found> {
    let line = line(&found)?;
    match divided::judge(all, trials, (line.slope, line.at(0.0)), near) {
        Verdict::Stands => Some(found),
        Verdict::Unclear => None,
        Verdict::Parts(parts) => {
            let watched: f64 = trials.iter().map(|t| t.lasted).sum();
            let chance = (all.len() as f64 * 2.0 * near / watched).min(0.9);
            kept(all, trials, (line.slope / parts as f64, line.at(0.0)), near, chance)
        }
    }
}

/// The moments of the stops over their numbers: its slope is the period.
fn line(found: &Found) -> Option<stats::Line> {
    let points: Vec<(f64, f64, f64)> = found.stops.iter().map(|(k, at)| (*k, *at, 1.0)).collect();
    stats::weighted_line(&points)
}

/// Whether the stops come with the beginnings or the ends of trials: in the first or the last eighth of what a trial ran beside its pauses.
/// Its whole length would not do: a stop that is longer than the rest would make most of it.
fn bound(found: &Found, trials: &[&Moment], near: f64) -> bool {
    let bound = found.stops.iter().filter(|(_, at)| {
        let i = trials.partition_point(|t| t.at <= *at);
        i > 0 && {
            let t = trials[i - 1];
            let before = t.pauses.partition_point(|p| p < at);
            let paused = |lengths: &[f64]| lengths.iter().sum::<f64>();
            let (earlier, later) = t.lengths.split_at(before.min(t.lengths.len()));
            let close = t.edge(near);
            at - t.at - paused(earlier) <= close || t.at + t.lasted - at - paused(later) <= close
        }
    });
    bound.count() as f64 > BOUND * found.stops.len() as f64
}

/// The period through the stops themselves: a straight line through their moments over their numbers.
fn periodic(found: &Found, near: f64) -> Periodic {
    let n = found.stops.len() as f64;
    let middle = found.stops.iter().map(|s| s.0).sum::<f64>() / n;
    let spread = found.stops.iter().map(|s| (s.0 - middle).powi(2)).sum::<f64>().sqrt();
    let line = line(found);
    let value = line.as_ref().map_or(1.0 / found.frequency, |l| l.slope);
    let off = line.map_or(0.0, |l| found.stops.iter().map(|s| (s.1 - l.at(s.0)).powi(2)).sum::<f64>());
    let noise = (off / (n - 2.0).max(1.0)).sqrt().max(near / 10.0);
    let reach = stats::student_t(stats::CONFIDENCE, (n - 2.0).max(1.0)) * noise / spread;
    let period = Estimate { value, low: value - reach, high: value + reach };
    Periodic { period, source: Source::Pauses, each_time: true, power: -found.chance / 0.4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_period_of_stops_leaves_six_of_them_in_trials() {
        assert!(
            (at_least(3, 2, 0.2) - 0.104).abs() < 1e-12 && at_least(6, 6, 1.0) == 1.0 && at_least(5, 6, 0.5) < 1e-12
        );
        let trials = |n: u32, lasted: f64, pitch: f64| -> Vec<Moment> {
            (0..n).map(|i| Moment { at: pitch * f64::from(i), lasted, ..Moment::default() }).collect()
        };
        let of = |all: &[Moment]| seen(&all.iter().collect::<Vec<_>>(), 12.0);
        // Of a second but for the margins of 1.2 ms, and of 2 ms of each 2.5, which are watched for three quarters of their length.
        let (share, longest) = of(&trials(12, 1.0, 1.0));
        assert!(share > 0.99 && longest == 1.5, "{share} {longest}");
        let (share, longest) = of(&trials(4800, 2e-3, 2.5e-3));
        assert!((share - 0.6).abs() < 1e-9 && longest == 12.0 / 17.0, "{share} {longest}");
        assert_eq!(of(&[]), (0.0, 0.0));
    }
}
