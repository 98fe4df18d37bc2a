//! Long stops that come back at a slow period: too few for a spectrum, but each of them is seen.
//!
//! The longest pauses of a run are folded at each period, and the place in the period that holds most of them is tested: of the moments at
//! which a stop was due there and a trial watched, at how many one came. Random stops come at a due moment with the share of time that they
//! take. Beats may come early or late, or be left out now and then: stops are looked for nearer to and farther from their due moments. A
//! period is said where its multiples and parts surely explain the stops less well. What comes with the beginnings or ends of trials and
//! rounds is the run's own rhythm. A period found is then compared with all pauses (`divided`).

use super::beats::{Found, KEPT, SEEN, came, line, periodic};
use super::divided::{self, Verdict};
use super::watch::Watch;
use super::{LEVEL, Moment, Periodic, TIMES, rhythm};

/// Pauses that are tested: the longest so many of them. A connection that is held meets more stops than rounds do.
const LONGEST: [usize; 3] = [16, 40, 100];
const OF_ONE_CONNECTION: [usize; 5] = [16, 40, 100, 300, 1000];

/// How far from its due moment a stop may be seen, seconds, or as a share of the run.
const NEAR: f64 = 1e-3;
const OF_RUN: f64 = 1e-4;

/// How many times as far beats are looked for that come early or late.
const WIDER: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// By so much in the logarithm of its probability a period must be better than its multiples and parts.
const SURELY: f64 = 3.0;

/// The largest multiple or number of parts that is tried, and how often a better one is gone on from.
const PARTS: usize = 32;
const TURNS: usize = 8;

/// Share of the stops near the ends of their trials from which on they belong to the trials.
const BOUND: f64 = 0.6;

/// Stops that must fall into trials, two more than are needed, since some come too near to a trial's end and both halves of the run must
/// show them; and with what probability.
const MET: usize = SEEN + 2;
const FINDS: f64 = 0.9;

/// The period of the run's long stops, if one is significant. `rounds` are the moments at which rounds began, seconds.
pub(super) fn period(trials: &[&Moment], rounds: &[f64]) -> Option<Periodic> {
    let (first, last) = (trials.first()?, trials.last()?);
    let span = last.at + last.lasted - first.at;
    let watch = Watch::of(trials);
    let near = NEAR.max(span * OF_RUN);
    let mut pauses: Vec<(f64, f64)> = trials.iter().flat_map(|t| stops_of(t, near)).collect();
    pauses.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sets = sets(&pauses, rounds.len());
    let ways = (sets.len() * WIDER.len()) as f64;
    let looks = sets.iter().enumerate().flat_map(|(i, set)| WIDER.map(|wider| (i, set, near * wider)));
    let found = looks.filter_map(|(i, set, near)| Some((i, fullest(set, &watch, span, near, ways)?)));
    let (i, best) = found.min_by(|a, b| a.1.anywhere.total_cmp(&b.1.anywhere))?;
    if best.anywhere >= LEVEL.ln() {
        return None;
    }
    let (best, of) = told(best, &sets[i..], &watch)?;
    let mut all: Vec<f64> = pauses.iter().map(|p| p.0).collect();
    all.sort_unstable_by(f64::total_cmp);
    let best = quickest(best, &all, trials, &watch, near)?;
    let own = rhythm::shared(rounds, 1.0 / best.period) || bound(&best, trials, near);
    (!own).then(|| periodic(&best, of, &watch, near))
}

/// The moments of the longest pauses, ascending: sets of more and more of them. `pauses` are with their lengths, the longest first.
fn sets(pauses: &[(f64, f64)], rounds: usize) -> Vec<Vec<f64>> {
    // Where all are equally long, or their lengths are not known, none are the longest.
    let alike = |many: usize| pauses.get(many).is_some_and(|next| pauses[many - 1].1 <= next.1);
    let longest: &[usize] = if rounds == 1 { &OF_ONE_CONNECTION } else { &LONGEST };
    let some = longest.iter().filter(|many| **many < pauses.len() && !alike(**many)).copied();
    let most = longest[longest.len() - 1];
    let many = some.chain((pauses.len() <= most * 3 / 2).then_some(pauses.len()));
    let set = |many: usize| {
        let mut set: Vec<f64> = pauses[..many].iter().map(|p| p.0).collect();
        set.sort_unstable_by(f64::total_cmp);
        set
    };
    many.map(set).collect()
}

/// Of all periods, the one that stops of this set keep to the least by chance, no farther from their due moments than `near`.
fn fullest(set: &[f64], watch: &Watch, span: f64, near: f64, ways: f64) -> Option<Found> {
    let shortest = (watch.all * KEPT / set.len() as f64).max(10.0 * near);
    let step = 1.0 + 2.0 * near / span;
    let (mut period, mut looked, mut best) = (shortest, 0.0, None::<Found>);
    while period <= span / TIMES {
        looked += period / near;
        let found = folded(set, watch, period, near);
        if let Some(found) = found.filter(|f| best.as_ref().is_none_or(|b| f.chance < b.chance)) {
            best = Some(found);
        }
        period *= step;
    }
    best.map(|found| Found { anywhere: found.chance + f64::ln(looked * ways), ..found })
}

/// The period found, or the multiple or the part of it that the stops keep to better, and the set of stops that do; none where one keeps to
/// them about as well, or better and yet too seldom to be said.
fn told<'a>(found: Found, sets: &'a [Vec<f64>], watch: &Watch) -> Option<(Found, &'a [f64])> {
    let (mut best, mut of) = (found, sets.first()?.as_slice());
    for _ in 0..TURNS {
        let line = line(&best)?;
        let parts = (2..=PARTS).map(|parts| (line.slope / parts as f64, 0.0));
        let parts = parts.take_while(|(part, _)| *part >= 10.0 * NEAR);
        let times = (2..=PARTS).take_while(|times| line.slope * *times as f64 * SEEN as f64 <= 2.0 * watch.all);
        let times = times.flat_map(|times| (0..times).map(move |k| (times, k)));
        let times = times.map(|(times, k)| (line.slope * times as f64, k as f64));
        let others: Vec<(f64, f64)> = parts.chain(times).collect();
        let look = |set: &'a Vec<f64>| {
            let (line, near) = (&line, best.near);
            let kept = move |(period, k): &(f64, f64)| {
                Some((came(set, watch, (*period, line.at(*k)), near.min(period / 10.0))?, set.as_slice()))
            };
            others.iter().filter_map(kept).collect::<Vec<_>>()
        };
        let other = sets.iter().flat_map(look).min_by(|a, b| a.0.chance.total_cmp(&b.0.chance));
        match other {
            Some((other, set)) if other.chance < best.chance => (best, of) = (other, set),
            Some((other, _)) if other.chance < best.chance + SURELY => return None,
            _ => return best.enough.then_some((best, of)),
        }
    }
    None
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

/// Pauses of a trial that are not part of one stop with the one before, with their lengths. A stop came when the longest of its pauses did: a
/// short one shortly before it is mostly another's.
fn stops_of(t: &Moment, near: f64) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (i, at) in t.pauses.iter().enumerate() {
        let long = t.lengths.get(i).copied().unwrap_or(0.0);
        match kept.last_mut() {
            Some(last) if at - last.0 < 2.0 * near && long <= last.1 => {}
            Some(last) if at - last.0 < 2.0 * near => *last = (*at, long),
            _ => kept.push((*at, long)),
        }
    }
    kept
}

/// The stops at the fullest place of this period, where they are enough to be tested.
fn folded(set: &[f64], watch: &Watch, period: f64, near: f64) -> Option<Found> {
    let needed = SEEN.max((KEPT * watch.all / period * 0.8) as usize);
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
    came(set, watch, (period, phase), near).filter(|found| found.enough)
}

/// The period found, or the part of it at which all pauses come; none where pauses come back between, but not each time.
fn quickest(found: Found, all: &[f64], trials: &[&Moment], watch: &Watch, near: f64) -> Option<Found> {
    let line = line(&found)?;
    match divided::judge(all, trials, (line.slope, line.at(0.0)), near) {
        Verdict::Stands => Some(found),
        Verdict::Unclear => None,
        Verdict::Parts(parts) => {
            came(all, watch, (line.slope / parts as f64, line.at(0.0)), near).filter(|found| found.enough)
        }
    }
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
