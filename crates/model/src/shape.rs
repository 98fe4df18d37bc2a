//! Which messages are small, and the rise at the end of one set of medians.

use std::f64::consts::LN_10;
use std::ops::Range;

use stats::median;

/// Small messages are those below this size, bytes (`seeds/000`, table 1; `seeds/004`, section 1).
const SMALL: u64 = 1024;

/// Whether the point with this size is a small message.
pub(crate) fn is_small(size: u64) -> bool {
    size < SMALL
}

/// The sizes of the last decade, split in its middle: (below, above), of sizes whose natural logarithms ascend. Both are empty if
/// the decade has no size in one of the halves and nothing before it to compare with.
pub(crate) fn last_decade(logs: &[f64]) -> (Range<usize>, Range<usize>) {
    let end = logs.last().copied().unwrap_or(0.0);
    // Tolerance for sizes exactly a decade below.
    let first = |decades: f64| logs.partition_point(|log| *log < end - decades * LN_10 - 1e-9);
    let above = first(0.5);
    // With a coarse schedule the next smaller size is taken instead.
    let below = first(1.0).min(above.saturating_sub(1));
    if below == above { (0..0, 0..0) } else { (below..above, above..logs.len()) }
}

/// How much higher the rates (natural logarithms) are in the upper half than in the lower.
pub(crate) fn rise(halves: &(Range<usize>, Range<usize>), rates: &[f64]) -> f64 {
    let rise = median(&rates[halves.1.clone()]) - median(&rates[halves.0.clone()]);
    // No sizes in either half: nothing rises.
    if rise.is_nan() { 0.0 } else { rise }
}
