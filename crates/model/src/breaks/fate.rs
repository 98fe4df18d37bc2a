//! What became of a break after something was changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pair::depth_at;
use super::rough::Rough;
use super::{Break, Breaks, Edge, Sight, sight};
use crate::curve::Curve;
use crate::{CurvePoint, Estimate};

/// Edges this close count as one place, as a share of the size.
const PLACE: f64 = 0.02;

/// Depths that differ by no more than this are one depth, as a logarithm.
const DEPTH: f64 = 0.2;

/// A knob that is doubled or halved moves a break by as much, or by its square: what appears farther off is another break.
const REACH: f64 = 5.0;

/// What became of a break.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Fate {
    /// It is where it was, as deep as it was.
    Same,
    /// It is where it was, but this deep.
    Changed {
        /// How many times as long a message takes now.
        factor: Estimate,
    },
    /// It is elsewhere.
    Moved {
        /// Where to.
        to: Break,
    },
    /// It is not there any more.
    Gone,
    /// Nobody can tell: the noise of the new curve would hide it.
    Hidden,
}

impl Fate {
    /// Whether the change made a difference, for sure.
    pub fn differs(&self) -> bool {
        !matches!(self, Fate::Same | Fate::Hidden)
    }
}

/// The break of a curve that lies where one of another curve does, and is of its kind.
pub fn counterpart(of: &Break, breaks: &Breaks) -> Option<Break> {
    breaks.all().into_iter().find(|b| alike(of, b) && same_place(of, b))
}

/// What became of `before` in a curve measured after a change. `control` are the breaks of a curve measured again without the
/// change: what it shows as well has not moved. `curve` is the one that `after` is of.
///
/// A break that is not found may have been missed: of those that a curve shows, the noise of one measurement hides some. So it has moved or is
/// gone only where messages surely do not take as long at its edges as they did, by the intervals of both.
pub fn fate(before: &Break, control: &Breaks, after: &Breaks, curve: &[CurvePoint]) -> Fate {
    let of_kind: Vec<Break> = after.all().into_iter().filter(|b| alike(before, b)).collect();
    if let Some(same) = of_kind.iter().find(|b| same_place(before, b)) {
        let (was, is) = (before.factor(), same.factor());
        let apart = (is.value / was.value).ln().abs() > DEPTH && (is.low > was.high || is.high < was.low);
        return if apart { Fate::Changed { factor: is } } else { Fate::Same };
    }
    if !surely_less(before, curve) {
        return Fate::Hidden;
    }
    let control = control.all();
    let nearest = |b: &Break| (b.factor().value / before.factor().value).ln().abs();
    of_kind
        .into_iter()
        .filter(|b| !control.iter().any(|c| same_place(b, c)) && within_reach(before, b))
        .min_by(|a, b| nearest(a).total_cmp(&nearest(b)))
        .map_or_else(|| gone(before, after, curve), |to| Fate::Moved { to })
}

/// Whether a break lies where a knob may have moved the other to.
fn within_reach(from: &Break, to: &Break) -> bool {
    let far = |a: &Edge, b: &Edge| (a.above.max(1) as f64 / b.above.max(1) as f64).ln().abs();
    from.edges().iter().zip(&to.edges()).all(|(a, b)| far(a, b) <= REACH.ln())
}

/// Whether this curve tells that messages take less long at the edges of a break of another one (of a step down, not so much less).
fn surely_less(before: &Break, curve: &[CurvePoint]) -> bool {
    let Some(is) = depth_at(&Rough::of(&Curve::of(curve)), before) else { return false };
    let was = before.factor();
    if was.value > 1.0 { is.high < was.low } else { is.low > was.high }
}

/// Gone where a break as narrow and as low would have been found: anywhere on the curve, or a dip where it was. Else hidden.
fn gone(before: &Break, after: &Breaks, curve: &[CurvePoint]) -> Fate {
    let least = |share: f64| share.ln_1p() <= before.factor().value.ln().abs();
    let shown = match before {
        Break::Dip(dip) => {
            let wide = (dip.to.above as f64 / dip.from.below.max(1) as f64).log10();
            let anywhere = after.sight.is_some_and(|s: Sight| s.decades <= wide && least(s.share));
            anywhere || sight::shows(Rough::of(&Curve::of(curve)), dip)
        }
        // A step takes more to be told than a dip: time must stay at its new level.
        Break::Step(_) => after.step_share.is_some_and(least),
    };
    if shown { Fate::Gone } else { Fate::Hidden }
}

/// Whether both are dips, or steps in one direction.
fn alike(a: &Break, b: &Break) -> bool {
    a.edges().len() == b.edges().len() && (a.factor().value > 1.0) == (b.factor().value > 1.0)
}

fn same_place(a: &Break, b: &Break) -> bool {
    let close = |a: &Edge, b: &Edge| {
        a.below as f64 <= b.above as f64 * (1.0 + PLACE) && b.below as f64 <= a.above as f64 * (1.0 + PLACE)
    };
    let (a, b) = (a.edges(), b.edges());
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| close(a, b))
}

#[cfg(test)]
mod tests {
    use super::super::{Dip, Step};
    use super::*;

    fn dip(from: u64, to: u64, factor: f64) -> Dip {
        let edge = |at| Edge { below: at - 10, above: at };
        Dip { from: edge(from), to: edge(to), factor: Estimate::new(factor, factor * 0.95, factor * 1.05) }
    }

    fn with(dips: &[Dip]) -> Breaks {
        seeing(dips.to_vec(), Vec::new(), 0.05, 0.05)
    }

    fn seeing(dips: Vec<Dip>, steps: Vec<Step>, decades: f64, share: f64) -> Breaks {
        Breaks {
            dips,
            steps,
            sensitivity: share,
            sight: Some(Sight { decades, share, from: 1, to: 1 << 20 }),
            step_share: Some(share),
        }
    }

    /// A curve of sizes 0.045 decades apart, of which messages within these dips take as much longer, in ten rounds that lie so far apart.
    fn curve(dips: &[&Dip], apart: f64) -> Vec<CurvePoint> {
        let point = |i: u32| {
            let size = 10f64.powf(1.0 + 0.045 * f64::from(i)).round() as u64;
            let within = dips.iter().find(|d| (d.from.above..=d.to.below).contains(&size));
            let seconds = (1e-5 + 2e-10 * size as f64) * within.map_or(1.0, |d| d.factor.value);
            let noise = |round: u32| (apart * (f64::from((7 * round + 3 * i) % 5) - 2.0)).exp();
            CurvePoint::of(size, seconds, (0..10).map(|round| (round, seconds * noise(round))).collect())
        };
        (0..130).map(point).collect()
    }

    #[test]
    fn every_fate_is_told() {
        let neighbour = dip(200_000, 210_000, 3.0);
        let before = Break::Dip(dip(60_000, 70_000, 3.0));
        let control = with(&[dip(60_010, 69_900, 2.9), neighbour.clone()]);
        let smooth = curve(&[], 0.01);
        assert_eq!(fate(&before, &control, &control, &smooth), Fate::Same);
        assert_eq!(fate(&before, &control, &with(&[]), &smooth), Fate::Gone);
        let shallow = dip(60_000, 70_000, 1.5);
        assert_eq!(
            fate(&before, &control, &with(std::slice::from_ref(&shallow)), &smooth),
            Fate::Changed { factor: shallow.factor }
        );
        let moved = dip(120_000, 140_000, 2.8);
        let after = with(&[moved.clone(), neighbour.clone()]);
        let shown = curve(&[&moved, &neighbour], 0.01);
        assert_eq!(fate(&before, &control, &after, &shown), Fate::Moved { to: Break::Dip(moved) });
        // A neighbour that was there all along is not where it moved to.
        assert_eq!(fate(&before, &control, &with(&[neighbour]), &smooth), Fate::Gone);
        // Nor is one far away.
        assert_eq!(fate(&before, &control, &with(&[dip(900_000, 990_000, 3.0)]), &smooth), Fate::Gone);
        // Nor is a break of another kind.
        let step = Step { at: Edge { below: 99_990, above: 100_000 }, factor: Estimate::unbounded(3.0) };
        let steps = seeing(vec![], vec![step], 0.05, 0.05);
        assert_eq!(fate(&before, &control, &steps, &smooth), Fate::Gone);
    }

    #[test]
    fn what_noise_may_have_hidden_is_not_gone() {
        let dip = dip(60_000, 70_000, 3.0);
        let (before, control) = (Break::Dip(dip.clone()), with(std::slice::from_ref(&dip)));
        let noisy = seeing(vec![], vec![], 0.05, 2.5);
        assert_eq!(fate(&before, &control, &noisy, &curve(&[], 0.5)), Fate::Hidden, "three is less than 3.5");
        let coarse: Vec<CurvePoint> = curve(&[], 0.01).into_iter().skip(2).step_by(5).collect();
        assert_eq!(fate(&before, &control, &with(&[]), &coarse), Fate::Hidden, "no size lies within");
        assert_eq!(fate(&before, &control, &with(&[]), &[]), Fate::Hidden);
        // It is there, and the search missed it, wherever else it found one.
        let there = curve(&[&dip], 0.01);
        assert_eq!(fate(&before, &control, &with(&[]), &there), Fate::Hidden);
        let other = Dip { from: Edge { below: 119_990, above: 120_000 }, ..dip.clone() };
        let other = Dip { to: Edge { below: 139_990, above: 140_000 }, ..other };
        assert_eq!(fate(&before, &control, &with(&[other]), &there), Fate::Hidden);
    }

    #[test]
    fn a_step_is_gone_only_where_a_step_would_have_been_found() {
        let at = Edge { below: 60_250, above: 60_260 };
        let step = |factor: f64| Step { at, factor: Estimate::new(factor, factor * 0.95, factor * 1.05) };
        let before = Break::Step(step(3.0));
        let control = seeing(vec![], vec![step(3.0)], 0.05, 0.05);
        let smooth = curve(&[], 0.01);
        assert_eq!(fate(&before, &control, &with(&[]), &smooth), Fate::Gone);
        let dips_alone = Breaks { step_share: None, ..with(&[]) };
        assert_eq!(fate(&before, &control, &dips_alone, &smooth), Fate::Hidden);
        let stays = dip(60_256, 8_000_000, 3.0);
        assert_eq!(fate(&before, &control, &with(&[]), &curve(&[&stays], 0.01)), Fate::Hidden);
    }

    #[test]
    fn the_counterpart_of_a_break_lies_where_it_does() {
        let found = Break::Dip(dip(60_000, 70_000, 3.0));
        let again = dip(60_010, 69_900, 1.7);
        let breaks = with(&[dip(6_000, 7_000, 3.0), again.clone()]);
        assert_eq!(counterpart(&found, &breaks), Some(Break::Dip(again)));
        assert_eq!(counterpart(&found, &with(&[dip(6_000, 7_000, 3.0)])), None);
    }
}
