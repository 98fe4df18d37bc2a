//! What a row says beside its median: the rate of each direction, and the mean rate.

use measure::event::Figures;
use model::Estimate;

use super::asked::Asked;

/// Throughput of each direction beside the other, to the far side and back, where both carried at a size that was measured.
pub fn ways(p: &Asked<'_>, size: u64) -> Option<[Estimate; 2]> {
    let rate = |f: &Figures| {
        let at = |seconds: f64| f.throughput * f.median / seconds;
        let known = f.high.is_finite() && f.low > 0.0;
        let (low, high) = if known { (at(f.high), at(f.low)) } else { (0.0, f64::INFINITY) };
        Estimate { value: f.throughput, low, high }
    };
    p.ways(size).map(|ways| ways.each_ref().map(rate))
}

/// The row's mean rate, where it has one: what was achieved, where the rest of the answer is of medians. Begins with a
/// semicolon.
pub fn achieved(p: &Asked<'_>, size: u64) -> String {
    let rate = p.row(size).and_then(|f| f.transactions).filter(|r| r.is_finite());
    rate.map_or(String::new(), |r| format!("; the mean rate, pauses included, was {}", report::words::mean_rate(r)))
}
