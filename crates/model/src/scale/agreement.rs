//! An estimate compared with what was measured at its target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scaled;
use crate::{CurvePoint, Estimate};

/// An estimate (E) held against a measurement (A).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The sizes that E was asked for and A has, ascending.
    pub sizes: Vec<AgreementAt>,
    /// Root mean square of `off` over the sizes.
    pub typical: f64,
    /// The `off` farthest from 0.
    pub worst: f64,
    /// The size at which it lies, bytes.
    pub worst_size: u64,
    /// Sizes at which A lies within E's interval, of those that have one.
    pub within: usize,
    /// Sizes that have intervals.
    pub judged: usize,
}

/// One size of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgreementAt {
    /// Message size, bytes.
    pub size: u64,
    /// What was estimated, seconds.
    pub estimated: Estimate,
    /// What was measured, seconds.
    pub measured: Estimate,
    /// How far E lies off A, as a share of A: above 0 the estimate is too slow.
    pub off: f64,
    /// Whether A lies in E's interval, by no more than A's own interval allows; none where either has none.
    pub within: Option<bool>,
}

impl Agreement {
    /// `estimate` against the points measured at its target. None where they have no size in common.
    pub fn of(estimate: &Scaled, measured: &[CurvePoint]) -> Option<Self> {
        let mut sizes: Vec<AgreementAt> = measured
            .iter()
            .filter(|p| p.seconds.is_finite() && p.seconds > 0.0)
            .filter_map(|p| Some(at(p.size, estimate.at(p.size)?, p.estimate())))
            .collect();
        sizes.sort_by_key(|s| s.size);
        let worst = *sizes.iter().max_by(|a, b| a.off.abs().total_cmp(&b.off.abs()))?;
        let squares: f64 = sizes.iter().map(|s| s.off * s.off).sum();
        Some(Self {
            typical: (squares / sizes.len() as f64).sqrt(),
            worst: worst.off,
            worst_size: worst.size,
            within: sizes.iter().filter(|s| s.within == Some(true)).count(),
            judged: sizes.iter().filter(|s| s.within.is_some()).count(),
            sizes,
        })
    }
}

fn at(size: u64, estimated: Estimate, measured: Estimate) -> AgreementAt {
    let gap = estimated.value - measured.value;
    // The ends of both intervals that face each other.
    let (e, a) = if gap > 0.0 {
        (estimated.value - estimated.low, measured.high - measured.value)
    } else {
        (estimated.high - estimated.value, measured.value - measured.low)
    };
    let known = estimated.high.is_finite() && measured.high.is_finite();
    let within = known.then(|| gap.abs() <= e.hypot(a));
    AgreementAt { size, estimated, measured, off: gap / measured.value, within }
}
