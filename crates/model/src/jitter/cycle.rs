//! The whole period of short, rare pauses. Their spectrum has overtones without end, none higher than the others, so that the peak found is
//! a whole part of the true period. Which part, the pauses' moments decide: at the true period all due moments have a pause.

use super::{Moment, Periodic};
use crate::Estimate;

/// How far from its due moment a pause may lie, seconds: trials record their start to about a tenth of a millisecond.
const NEAR: f64 = 0.3e-3;

/// The largest number of parts.
const PARTS: usize = 200;

/// Due moments that must have been watched, and the share of them that must have a pause beyond chance.
const WATCHED: usize = 6;
const KEPT: f64 = 0.6;

/// Share of all pauses beyond chance that must come at these moments: else the pauses elsewhere belong to the same period, which is then no
/// part but is missed now and then.
const ALONE: f64 = 0.7;

/// The same where pauses come at some of their due moments only: all of them must lie there.
const ALL: f64 = 0.9;

/// Minus the logarithm of the probability by chance, for these moments to differ from the others: twenty thousand classes are tested.
const SIGNIFICANT: f64 = 18.0;

/// The same disturbance with the smallest whole multiple of its period at which pauses come each time. Where there is none, with the largest on
/// which all pauses lie: beats that are left out at random leave parts of the period as good as itself in a spectrum.
pub(super) fn whole(found: Periodic, trials: &[&Moment]) -> Periodic {
    let period = found.period.value;
    let near = NEAR.min(period / 8.0);
    let pauses: Vec<f64> = trials.iter().flat_map(|t| t.pauses.iter().copied()).collect();
    let watched: f64 = trials.iter().map(|t| t.lasted).sum();
    let chance = (pauses.len() as f64 / watched.max(f64::MIN_POSITIVE) * 2.0 * near).min(0.9);
    let Some(phase) = phase(&pauses, period, near) else { return found };
    // Every due moment that was watched: its number, and whether a pause came.
    let mut moments: Vec<(i64, bool)> = Vec::new();
    for t in trials {
        let mut k = ((t.at + near - phase) / period).ceil();
        while phase + k * period < t.at + t.lasted - near {
            let due = phase + k * period;
            moments.push((k as i64, t.pauses.iter().any(|p| (p - due).abs() <= near)));
            k += 1.0;
        }
    }
    let usual = moments.iter().filter(|m| m.1).count() as f64 / moments.len().max(1) as f64;
    let classes = |parts: usize| {
        let mut of_class = vec![(0usize, 0usize); parts];
        for (k, came) in &moments {
            let class = &mut of_class[k.rem_euclid(parts as i64) as usize];
            *class = (class.0 + usize::from(*came), class.1 + 1);
        }
        of_class
    };
    let beyond = |(came, all): &(usize, usize)| *came as f64 - chance * *all as f64;
    let kept = |parts: usize| {
        let of_class = classes(parts);
        let all_beyond: f64 = of_class.iter().map(beyond).sum();
        of_class.iter().any(|class| {
            let each = class.0 as f64 / class.1.max(1) as f64 > chance + KEPT * (1.0 - chance);
            let significant = parts == 1 || surprisal(*class, usual) > SIGNIFICANT;
            class.1 >= WATCHED && each && beyond(class) > ALONE * all_beyond && significant
        })
    };
    let alone = |parts: usize| {
        let of_class = classes(parts);
        let all_beyond: f64 = of_class.iter().map(beyond).sum();
        let holds = |class: &(usize, usize)| {
            class.1 >= WATCHED && beyond(class) > ALL * all_beyond && surprisal(*class, usual) > SIGNIFICANT
        };
        all_beyond > 0.0 && of_class.iter().any(holds)
    };
    let each_time = (1..=PARTS).find(|parts| kept(*parts));
    let Some(parts) = each_time.or_else(|| (2..=PARTS).rev().find(|parts| alone(*parts))) else { return found };
    let times = |v: f64| v * parts as f64;
    let Estimate { value, low, high } = found.period;
    Periodic {
        period: Estimate { value: times(value), low: times(low), high: times(high) },
        each_time: each_time.is_some(),
        ..found
    }
}

/// Minus the logarithm of the probability that a class of moments has so many pauses by chance, where all have them in the share `usual`
/// (Chernoff's bound).
fn surprisal((came, all): (usize, usize), usual: f64) -> f64 {
    let share = came as f64 / all.max(1) as f64;
    let part = |p: f64, q: f64| if p > 0.0 && q > 0.0 { p * (p / q).ln() } else { 0.0 };
    if share <= usual { 0.0 } else { all as f64 * (part(share, usual) + part(1.0 - share, 1.0 - usual)) }
}

/// The place in the period that has most pauses: the median of those there, seconds.
fn phase(pauses: &[f64], period: f64, near: f64) -> Option<f64> {
    let mut phases: Vec<f64> = pauses.iter().map(|p| p.rem_euclid(period)).collect();
    phases.sort_by(f64::total_cmp);
    // The period is a circle: the phases once more, a period later.
    let around: Vec<f64> = phases.iter().copied().chain(phases.iter().map(|p| p + period)).collect();
    let many = phases.len();
    let fullest =
        (0..many).max_by_key(|i| around[*i..].iter().take(many).take_while(|p| **p <= around[*i] + near).count())?;
    let place: Vec<f64> =
        around[fullest..].iter().take(many).copied().take_while(|p| *p <= around[fullest] + near).collect();
    Some(stats::median(&place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jitter::Source;

    #[test]
    fn beats_that_are_left_out_at_random_do_not_make_a_period_shorter() {
        // Every 50 ms a pause is due, and comes in every second or third case or always, as a hash has it.
        for (of, each) in [(1u64, true), (2, false), (3, false)] {
            let came = |k: u64| ((k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).is_multiple_of(of);
            let pauses: Vec<f64> = (0..400).filter(|k| came(*k)).map(|k| 0.003 + 0.05 * k as f64).collect();
            let trial = |i: u32| {
                let (at, lasted) = (0.011 * f64::from(i), 0.010);
                let within = pauses.iter().copied().filter(|p| *p >= at && *p < at + lasted).collect();
                Moment { at, lasted, pauses: within, ..Moment::default() }
            };
            let trials: Vec<Moment> = (0..1800).map(trial).collect();
            let trials: Vec<&Moment> = trials.iter().collect();
            for part in [1.0, 2.0, 4.0] {
                let period = 0.05 / part;
                let period = Estimate::new(period, period * 0.9999, period * 1.0001);
                let found = Periodic { period, source: Source::Pauses, each_time: false, power: 100.0 };
                let found = whole(found, &trials);
                assert!((found.period.value - 0.05).abs() < 1e-9, "1 of {of}, part {part}: {found:?}");
                assert_eq!(found.each_time, each, "1 of {of}, part {part}");
            }
        }
    }
}
