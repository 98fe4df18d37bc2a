//! What settings do: every combination of the levels of some axes was measured in each of several rounds, in random order.
//!
//! A *cell* is one combination. Figures are compared within rounds, so that what the machine did to a whole round cancels, and as ratios:
//! the effect of a level is the factor by which it multiplies the figure of the axis's first level, the other axes being equal (a full
//! factorial design of the logarithm; Box, Hunter and Hunter, Statistics for Experimenters, chapter 5). Rounds are the repeats, so that
//! intervals come from how a ratio differs between rounds, never from trials within a cell.

mod choice;
mod design;
mod effect;

pub use choice::{Better, Choice};
pub use design::{Design, Readings};
pub use effect::{Effect, Interaction};
