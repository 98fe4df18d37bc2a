//! Where a curve breaks: dips (the chasm of `seeds/004`, section 4, figure 10) and steps.
//!
//! | module | job |
//! |---|---|
//! | `rough` | the curve's points on logarithmic axes, each with the error that its place among its neighbours has |
//! | `jump` | a place at which time jumps, and its sides |
//! | `growth` | how fast time grows beside a span of sizes, and how far it jumps over the span beyond that |
//! | `edges` | sizes between which time jumps beyond what growth with size and noise explain |
//! | `luck` | jumps that are made of stray rounds alone |
//! | `shared` | jumps that are a level of a part of the sizes in this run, and no step |
//! | `pair` | edges to dips and steps, with their depth |
//! | `sight` | how deep a dip and how high a step must be on this curve to be found |
//! | `suspects` | what in the path might be behind a break |
//! | `fate` | what became of a break after something was changed |

mod edges;
mod fate;
mod growth;
mod jump;
mod luck;
mod pair;
mod rough;
mod shared;
mod sight;
mod suspects;

pub use fate::{Fate, counterpart, fate};
pub use suspects::{Fact, Knob, Suspect, suspects};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::{CurvePoint, Estimate};

/// Jumps below this share of the time are not reported, however certain: they are too small to matter.
pub const SHALLOWEST: f64 = 0.05;

/// Where a curve breaks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Breaks {
    /// Size ranges in which the path is slower than on either side, ascending.
    pub dips: Vec<Dip>,
    /// Sizes from which on the path is slower or faster, ascending.
    pub steps: Vec<Step>,
    /// How deep a dip of a twentieth of a decade must be in order to be found wherever it lies, as a share of the time: none
    /// shallower can be ruled out. In JSON `null` where the sizes lie too far apart, or too few rounds visited them, for any.
    #[serde(with = "units::unbounded")]
    #[schemars(with = "Option<f64>")]
    pub sensitivity: f64,
    /// The narrowest dip that the curve shows wherever it lies; none where it shows none.
    pub sight: Option<Sight>,
    /// How much longer messages must take from some size on, as a share of the time, for the step to be found wherever it lies: over 90 of
    /// 100 are. None where no step is found surely.
    pub step_share: Option<f64>,
}

/// A dip that a curve shows wherever it lies, found out by planting dips in it: over 90 of 100 are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sight {
    /// How wide it is, decades of size.
    pub decades: f64,
    /// How deep: the share of the time by which a message takes longer.
    pub share: f64,
    /// The smallest size it may begin at, bytes: nothing is told below, where the curve begins.
    pub from: u64,
    /// The largest size it may end at, bytes.
    pub to: u64,
}

/// An edge: somewhere after the one size and up to the other, time jumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    /// Last size measured before it, bytes.
    pub below: u64,
    /// First size measured after it, bytes.
    pub above: u64,
}

/// A size range in which the path is slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dip {
    /// Where it begins.
    pub from: Edge,
    /// Where it ends.
    pub to: Edge,
    /// Depth: how many times as long a message takes at its edges within as without; throughput falls to one in this.
    pub factor: Estimate,
}

impl Dip {
    /// Width, decades of size: from the first size within to the last.
    pub fn decades(&self) -> f64 {
        (self.to.below as f64 / self.from.above.max(1) as f64).log10().max(0.0)
    }
}

/// A size from which on the path is slower (factor above 1) or faster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Where.
    pub at: Edge,
    /// How many times as long a message takes after it as before it.
    pub factor: Estimate,
}

/// A dip or a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Break {
    /// A dip.
    Dip(Dip),
    /// A step.
    Step(Step),
}

impl Break {
    /// Its edges: a step has one.
    pub fn edges(&self) -> Vec<Edge> {
        match self {
            Break::Dip(d) => vec![d.from, d.to],
            Break::Step(s) => vec![s.at],
        }
    }

    /// How many times as long a message takes.
    pub fn factor(&self) -> Estimate {
        match self {
            Break::Dip(d) => d.factor,
            Break::Step(s) => s.factor,
        }
    }
}

impl Breaks {
    /// Finds the breaks of a curve, in any order of sizes. With fewer than five sizes nothing is found. A smooth curve, however noisy,
    /// gives a break in less than 1 of 100 runs (`tests/breaks.rs`).
    pub fn of(points: &[CurvePoint]) -> Self {
        let mut rough = rough::Rough::of(&Curve::of(points));
        let found = edges::edges(&rough);
        let (dips, steps) = pair::pair(&rough, &found);
        let step_share = sight::of_steps(&mut rough);
        let sight = sight::sight(&mut rough);
        let narrow = sight.filter(|s| s.decades <= sight::NARROWEST);
        Self { dips, steps, sensitivity: narrow.map_or(f64::INFINITY, |s| s.share), sight, step_share }
    }

    /// Whether the curve has no break.
    pub fn is_empty(&self) -> bool {
        self.dips.is_empty() && self.steps.is_empty()
    }

    /// All breaks, in the order in which they begin.
    pub fn all(&self) -> Vec<Break> {
        let mut all: Vec<Break> = self.dips.iter().cloned().map(Break::Dip).collect();
        all.extend(self.steps.iter().cloned().map(Break::Step));
        all.sort_by_key(|b| b.edges()[0].above);
        all
    }
}
