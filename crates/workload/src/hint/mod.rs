//! HINT (Gustafson and Snell, 1995): bounds on the area below (1 - x) / (1 + x) from 0 to 1, which is 2 ln 2 - 1, by
//! subdivision into ever more intervals. An answer's quality is the whole divided by what the bounds leave open; quality
//! gained a second (QUIPS) over the time that an answer takes is a machine's graph, and the area below it over
//! logarithmic time one number, Net QUIPS (`seeds/004`, appendix A, figure 12).
//!
//! Where several processes share the work they add up their bounds once an answer, "a global sum collapse of two double
//! precision floating point numbers" (`seeds/004`, section 3): 16 bytes, so that a path's latency decides how soon they come
//! up to speed (figure 6).
//!
//! | module | job |
//! |---|---|
//! | [`precision`] | the grid that a number type allows |
//! | [`share`] | who does which part, and what a process found |
//! | [`kernel`] | one answer of so many subintervals, of one process or of one of several |
//! | [`bounds`] | what all processes found: is it possible, and how good is it |
//! | [`steps`] | which numbers of subintervals, and what ends the curve |
//! | [`score`] | Net QUIPS |

pub mod bounds;
pub mod kernel;
pub mod precision;
pub mod score;
pub mod share;
pub mod steps;

pub use bounds::{Bounds, Impossible};
pub use kernel::{BYTES, Kernel};
pub use precision::Precision;
pub use score::net;
pub use share::{Sums, Team};
pub use steps::Ended;
