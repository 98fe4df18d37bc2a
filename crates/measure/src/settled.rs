//! When a point is known as well as was asked for, and what its interval then is. Pure.
//!
//! A run that stops at the first round at which an interval happens to be narrow selects rounds that lie near each other by chance: such
//! intervals hold the truth less often than they say. Two rules mend that. A point is settled where its interval would be narrow enough
//! even if its rounds' true scatter were as large as chance can hide. And where chance had a part in it, the interval is widened to the
//! precision that was asked for: how far a median errs does not depend on the scatter that was seen, so that an interval of a width that
//! was fixed beforehand holds whenever the run stops (Chow and Robbins 1965, *On the asymptotic theory of fixed-width sequential confidence
//! intervals for the mean*, Annals of Mathematical Statistics 36:457-462).

use stats::StandardError;

use crate::event::Figures;

/// Fewest rounds after which a point can be settled.
const ROUNDS: u32 = 8;

/// Share of the cases in which the scatter of so many rounds is no smaller by chance than is assumed.
const SELDOM: f64 = 0.9;

/// Factor by which the true scatter of so many rounds may exceed the one seen.
fn luck(rounds: u32) -> f64 {
    StandardError { value: 1.0, degrees: f64::from(rounds.saturating_sub(1)) }.at_most(SELDOM)
}

/// Whether a point with these figures is known to `precision`, a share of its median, even if its scatter is small by chance.
pub(crate) fn known(figures: &Figures, precision: f64) -> bool {
    figures.rounds >= ROUNDS && figures.reach() * luck(figures.rounds) <= precision
}

/// The figures of a point that ended because it was known to `precision`. Where its rounds may have been close by chance, the interval is
/// widened to the precision.
pub fn settled(figures: Figures, precision: f64) -> Figures {
    if !figures.high.is_finite() || figures.reach() * luck(figures.rounds).powi(2) <= precision {
        return figures;
    }
    let (low, high) = (figures.median * (1.0 - precision), figures.median * (1.0 + precision));
    Figures { low: figures.low.min(low), high: figures.high.max(high), ..figures }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rounds: u32, reach: f64) -> Figures {
        Figures { rounds, median: 2.0, low: 2.0 * (1.0 - reach), high: 2.0 * (1.0 + reach), ..Figures::default() }
    }

    #[test]
    fn few_rounds_must_lie_nearer_each_other_than_many() {
        assert!(known(&of(8, 0.03), 0.05) && !known(&of(8, 0.04), 0.05) && known(&of(60, 0.04), 0.05));
        assert!(!known(&of(7, 0.0), 0.05) && known(&of(8, 0.0), 0.05));
        assert!(!known(&Figures { high: f64::INFINITY, ..of(30, 0.0) }, 0.05));
    }

    #[test]
    fn an_interval_that_luck_may_have_made_narrow_reaches_as_far_as_was_asked_for() {
        let reach = |f: Figures| (f.reach() * 1e6).round() / 1e6;
        assert_eq!(reach(settled(of(8, 0.03), 0.05)), 0.05);
        assert_eq!(reach(settled(of(8, 0.02), 0.05)), 0.02, "no luck was needed");
        assert_eq!(reach(settled(of(8, 0.07), 0.05)), 0.07, "it is made no narrower");
        let open = Figures { high: f64::INFINITY, ..of(8, 0.03) };
        assert_eq!(settled(open, 0.05), open);
    }
}
