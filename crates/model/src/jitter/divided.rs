//! Whether a slow period is a whole multiple of a quicker one.
//!
//! The longest of many pauses that come back quickly are a random choice of them, and many multiples of their period fit such a choice. So
//! a slow period is compared with all pauses: these may also be due at whole parts of it, and where pauses come there as well, the part is
//! the true period.

use super::Moment;

/// The largest number of parts.
const PARTS: usize = 256;

/// How far from its due moment a pause may lie: a share of the part, and at least so many seconds, to which trials record their start.
const OF_PART: f64 = 1.0 / 8.0;
const LEAST: f64 = 0.3e-3;

/// Share of the due moments between that must have a pause, beyond chance. A whole multiple of the right number of parts has a half at
/// most.
const KEPT: f64 = 0.6;

/// Minus the logarithm of the probability by chance, for there to be more pauses than chance gives, of which [`PARTS`] are tested.
const SIGNIFICANT: f64 = 18.0;

/// What all pauses show of a slow period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No pause comes back between.
    Stands,
    /// Pauses come at so many parts of it as well.
    Parts(usize),
    /// Pauses come back between, but not each time: the true period is not known.
    Unclear,
}

/// Compares a period and a moment at which its stops are due (seconds) with all `pauses`, ascending. `near` is how far off its stops were
/// looked for, seconds.
pub(super) fn judge(pauses: &[f64], trials: &[&Moment], (period, phase): (f64, f64), near: f64) -> Verdict {
    let watched: f64 = trials.iter().map(|t| t.lasted).sum();
    let mut verdict = Verdict::Stands;
    for parts in 2..=PARTS {
        let part = period / parts as f64;
        let near = near.min(part * OF_PART);
        if near < LEAST {
            break;
        }
        let chance = (pauses.len() as f64 * 2.0 * near / watched).min(0.9);
        let (came, all) = between(pauses, trials, (part, phase), parts, near);
        let share = came as f64 / all.max(1) as f64;
        if share <= chance || all as f64 * surprisal(share, chance) < SIGNIFICANT {
            continue;
        }
        if share > chance + KEPT * (1.0 - chance) {
            verdict = Verdict::Parts(parts);
        } else if verdict == Verdict::Stands {
            verdict = Verdict::Unclear;
        }
    }
    verdict
}

/// Of the moments that are due at a part only and that a trial watched: at how many a pause came, and how many there were.
fn between(pauses: &[f64], trials: &[&Moment], (part, phase): (f64, f64), parts: usize, near: f64) -> (usize, usize) {
    let (mut came, mut all) = (0, 0);
    for t in trials {
        let edge = t.edge(near);
        let mut k = ((t.at + edge - phase) / part).ceil();
        while phase + k * part < t.at + t.lasted - edge {
            if k.rem_euclid(parts as f64) != 0.0 {
                let due = phase + k * part;
                let next = pauses.partition_point(|p| *p < due - near);
                came += usize::from(pauses.get(next).is_some_and(|p| *p <= due + near));
                all += 1;
            }
            k += 1.0;
        }
    }
    (came, all)
}

/// Chernoff's bound of the binomial tail: minus the logarithm of the probability, for each moment.
pub(super) fn surprisal(share: f64, chance: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * (p / q.max(f64::MIN_POSITIVE)).ln() } else { 0.0 };
    part(share, chance) + part(1.0 - share, 1.0 - chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_is_told_from_the_period_itself() {
        let trials: Vec<Moment> =
            (0..1000).map(|i| Moment { at: 0.011 * f64::from(i), lasted: 0.010, ..Moment::default() }).collect();
        let trials: Vec<&Moment> = trials.iter().collect();
        let each = |period: f64, missed: fn(u32) -> bool| -> Vec<f64> {
            let all = (1..).take_while(|k| f64::from(*k) * period < 11.0).filter(|k| !missed(*k));
            all.map(|k| 0.003 + f64::from(k) * period).collect()
        };
        let of = |pauses: &[f64], period: f64| judge(pauses, &trials, (period, 0.003), 1.2e-3);
        let quick = each(0.05, |_| false);
        assert_eq!(of(&quick, 0.05), Verdict::Stands);
        assert_eq!(of(&quick, 0.1), Verdict::Parts(2));
        assert_eq!(of(&quick, 0.35), Verdict::Parts(7));
        assert_eq!(of(&quick, 1.25), Verdict::Parts(25));
        // Every other one of those between is missed.
        let thin = each(0.05, |k| k % 10 != 0 && k % 4 < 2);
        assert_eq!(of(&thin, 0.5), Verdict::Unclear);
    }
}
