//! Estimators and intervals: pure, no I/O, no clock, seeded.
//!
//! The error that matters lies between runs, not within one (five runs of any common tool differ by 19 to 34% at a point). So the unit of
//! evidence here is the *round* (`block` in run files): trials of all sizes on one set of fresh connections. Trials within a round share
//! its state of the machine, and so do neighbouring rounds where states last. From there:
//!
//! - [`Levels`]: the machine's state at each trial, and the level of each round, from trials of many sizes.
//! - [`Moves`]: how the rounds' levels moved, how many independent rounds they count for, and which states of the machine they met ([`Saw`]);
//!   [`in_two_groups`]: whether rounds fall into two groups, of which so few may be all of one ([`may_be_of_one`]).
//! - [`local`], [`freed`], [`shared_nearby`]: what neighbouring sizes share in a round beyond that, where a state touches a part of the sizes.
//! - [`pooled_log_sigma`], [`Shared`]: the noise that the sizes of a path have in common, robustly.
//! - [`point_interval`]: where a point's true median lies in this run, from both; [`rounds_interval`]: from its rounds alone.
//! - [`median_interval`]: where the true median of independent values lies.
//! - [`beyond`]: between which order statistics any other quantile lies; [`spread_beyond_seen`]: by how much the levels' spread may exceed
//!   the one seen; [`normal_levels`]: levels of normal noise.
//! - [`Between`]: how far whole runs lie apart, from earlier runs, and where the median of a repeat falls; [`level_spread`]: how far their
//!   levels do.
//! - [`spread_beyond`]: how far runs lie apart at each size, beyond their levels and the noise within them; from [`squares_beyond_levels`].
//! - [`round_levels`]: levels of rounds from their medians only, where it is not known when trials were measured.
//! - [`median_log_error`], [`student_t`], [`student_p`], [`holm`]: whether medians differ, at one size and over many.
//! - [`StandardError::of_sum`]: the error of a sum of independent parts; [`StandardError::reach`]: the interval's half-width; [`own_error`]: a size's own, beside the level's.
//! - [`quotient_interval`]: the interval of the ratio of two figures, from their own intervals.
//! - [`warmup_end`]: how many leading trials are warm-up.
//! - [`bootstrap_ratio`]: how two interleaved series compare, pair by pair; [`draw`] and [`normal`]: what resamples and
//!   simulations draw.
//! - [`weighted_line`]: the weighted least-squares line.
//! - [`along`]: whether readings of something else move as the levels of rounds do.
//! - [`runs_deviation`]: whether residuals come in stretches of one sign (Wald and Wolfowitz).
//! - [`Histogram`]: times of single iterations, to 1%.
//! - [`median`], [`weighted_median`], [`quantile`], [`mean`], [`variance`]: plain statistics.
//!
//! Inputs hold no NaN. Empty input never panics: each function says what it returns. Times are in seconds wherever a
//! unit matters, but every function works on any positive quantity. `tests/coverage.rs` shows by simulation that the
//! intervals cover what they claim to.

mod along;
mod basic;
mod between;
mod beyond;
mod bootstrap;
mod common;
mod foretold;
mod groups;
mod histogram;
mod interval;
mod lasting;
mod levels;
mod line;
mod local;
mod moves;
mod quotient;
mod runs;
mod spread;
mod student;
mod warmup;

/// Confidence of the intervals that are printed.
pub const CONFIDENCE: f64 = 0.95;

/// States of a machine lie no further apart than this, as a logarithm: a factor of two.
const STATES: f64 = std::f64::consts::LN_2;

pub use along::{Along, along};
pub use basic::{mean, median, quantile, variance, weighted_median};
pub use between::{Between, Measured, Squares, level_spread, spread_beyond, squares_beyond_levels, windowed};
pub use beyond::{Beyond, beyond, normal_levels, spread_beyond_seen};
pub use bootstrap::{bootstrap_ratio, draw, normal};
pub use common::{Shared, round_distances, round_levels};
pub use groups::{in_two_groups, may_be_of_one};
pub use histogram::Histogram;
pub use interval::{Interval, holm, median_interval, own_error, point_interval, rounds_interval, student_p, student_t};
pub use levels::{Levels, Moment};
pub use line::{Line, weighted_line};
pub use local::{Local, freed, local, shared_nearby};
pub use moves::{FEWEST_ROUNDS, Moves, Saw, slow_waves};
pub use quotient::quotient_interval;
pub use runs::runs_deviation;
pub use spread::{StandardError, median_log_error, pooled_log_sigma};
pub use warmup::warmup_end;
