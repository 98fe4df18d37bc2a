//! What became of a break after something was changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// What became of `before` in a curve measured after a change. `control` are the breaks of a curve measured again without the
/// change: what it shows as well has not moved. `curve` is the one that `after` is of.
pub fn fate(before: &Break, control: &Breaks, after: &Breaks, curve: &[CurvePoint]) -> Fate {
    let of_kind: Vec<Break> = after.all().into_iter().filter(|b| alike(before, b)).collect();
    if let Some(same) = of_kind.iter().find(|b| same_place(before, b)) {
        let (was, is) = (before.factor(), same.factor());
        let apart = (is.value / was.value).ln().abs() > DEPTH && (is.low > was.high || is.high < was.low);
        return if apart { Fate::Changed { factor: is } } else { Fate::Same };
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

/// Gone where a break as narrow and as low would have been found: anywhere on the curve, or a dip where it was. Else hidden.
fn gone(before: &Break, after: &Breaks, curve: &[CurvePoint]) -> Fate {
    let wide = match before {
        Break::Dip(d) => (d.to.above as f64 / d.from.below.max(1) as f64).log10(),
        Break::Step(_) => f64::INFINITY,
    };
    let shown = |s: Sight| s.decades <= wide && s.share.ln_1p() <= before.factor().value.ln().abs();
    let there = || match before {
        Break::Dip(dip) => sight::shows(Rough::of(&Curve::of(curve)), dip),
        Break::Step(_) => false,
    };
    if after.sight.is_some_and(shown) || there() { Fate::Gone } else { Fate::Hidden }
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
            step_share: None,
        }
    }

    #[test]
    fn every_fate_is_told() {
        let before = Break::Dip(dip(60_000, 70_000, 3.0));
        let control = with(&[dip(60_010, 69_900, 2.9), dip(200_000, 210_000, 3.0)]);
        assert_eq!(fate(&before, &control, &control, &[]), Fate::Same);
        assert_eq!(fate(&before, &control, &with(&[]), &[]), Fate::Gone);
        let shallow = dip(60_000, 70_000, 1.5);
        assert_eq!(
            fate(&before, &control, &with(std::slice::from_ref(&shallow)), &[]),
            Fate::Changed { factor: shallow.factor }
        );
        let moved = dip(120_000, 140_000, 2.8);
        let after = with(&[moved.clone(), dip(200_000, 210_000, 3.0)]);
        assert_eq!(fate(&before, &control, &after, &[]), Fate::Moved { to: Break::Dip(moved) });
        let noisy = seeing(vec![], vec![], 0.05, 2.5);
        assert_eq!(fate(&before, &control, &noisy, &[]), Fate::Hidden, "three times as long is less than 3.5");
        let coarse = seeing(vec![], vec![], 0.2, 0.05);
        assert_eq!(fate(&before, &control, &coarse, &[]), Fate::Hidden, "0.07 decades are less than 0.2");
        // A neighbour that was there all along is not where it moved to.
        assert_eq!(fate(&before, &control, &with(&[dip(200_000, 210_000, 3.0)]), &[]), Fate::Gone);
        // Nor is one far away.
        assert_eq!(fate(&before, &control, &with(&[dip(900_000, 990_000, 3.0)]), &[]), Fate::Gone);
        // Nor is a break of another kind.
        let step = Step { at: Edge { below: 99_990, above: 100_000 }, factor: Estimate::unbounded(3.0) };
        let steps = seeing(vec![], vec![step], 0.05, 0.05);
        assert_eq!(fate(&before, &control, &steps, &[]), Fate::Gone);
    }
}
