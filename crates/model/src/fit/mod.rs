//! Models fitted to a curve, each with 95% intervals and a warning where it does not fit.
//!
//! `line` and `latency` are the straight lines of `seeds/000`, table 1, `start` is their start-up cost by the smallest sizes, `pieces` are
//! several lines where one misses the path (`seeds/003`), `bandwidth` is the curve of `seeds/000`, tables 2 and 3, `saturation` the `knee`
//! of `seeds/004`, section 3, compared with the throughput.

mod bandwidth;
mod knee;
mod latency;
mod line;
mod pieces;
mod saturation;
mod start;

pub use bandwidth::BandwidthCurve;
pub use latency::{LatencyLine, LatencyLines};
pub(crate) use latency::{derived_line, small_line};
pub(crate) use line::{Fitted, line_beside, solve};
pub use pieces::Piece;
pub use saturation::Saturation;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CurvePoint;
use crate::curve::{Curve, MOST};

/// Refits for an interval. The standard deviation of 200 values is itself known to 5%.
const REFITS: usize = 200;

/// What fitted models say of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fits {
    /// Straight lines of time over size.
    pub latency: LatencyLines,
    /// The idealised bandwidth curve; none with fewer than three sizes.
    pub bandwidth: Option<BandwidthCurve>,
    /// Where the path saturates; none where the curve has no knee.
    pub saturation: Option<Saturation>,
    /// What a reader must know: models that do not fit, and what could not be fitted.
    pub warnings: Vec<String>,
}

impl Fits {
    /// Fits all models to a curve, in any order of sizes; ChaCha8 from `seed` drives the bootstrap over rounds. None without a single point
    /// that has a time.
    pub fn of(points: &[CurvePoint], seed: u64) -> Option<Self> {
        let curve = Curve::of(points);
        curve.points.first()?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut warnings = Vec::new();
        if points.len() > MOST {
            let (used, all) = (curve.points.len() as u64, points.len() as u64);
            let [used, all] = [used, all].map(units::thousands);
            warnings
                .push(format!("figures are read off {used} of {all} sizes, evenly spread over the logarithm of size"));
        }
        let latency = LatencyLines::of(&curve, seed, &mut rng, &mut warnings);
        let bandwidth = BandwidthCurve::of(&curve, &mut rng, &mut warnings);
        let saturation = Saturation::of(&curve, &mut rng, &mut warnings);
        Some(Self { latency, bandwidth, saturation, warnings })
    }
}

/// How well a model fits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Misfit {
    /// Root mean square of the relative residuals over the sizes.
    pub typical: f64,
    /// The largest relative residual.
    pub worst: f64,
    /// Size at which it lies, bytes.
    pub worst_size: u64,
    /// The residuals come in stretches of one sign and exceed the noise: the model has the wrong shape, and its intervals
    /// cover the best line, not the path.
    pub systematic: bool,
}

/// Residuals below this are of no account, pattern or not.
const NEGLIGIBLE: f64 = 0.01;

/// Standard deviations of the number of runs below which a pattern is all but certain.
const PATTERN: f64 = -2.6;

impl Misfit {
    /// From (size, logarithm of measured / fitted), ascending in size, and the standard error that a point's median has of
    /// its own, as a share.
    fn of(residuals: &[(u64, f64)], noise: f64) -> Self {
        let values: Vec<f64> = residuals.iter().map(|r| r.1).collect();
        let typical = (values.iter().map(|r| r * r).sum::<f64>() / values.len().max(1) as f64).sqrt();
        let (worst_size, worst) =
            residuals.iter().copied().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap_or((0, 0.0));
        let beyond = typical > NEGLIGIBLE.max(2.0 * noise);
        Self {
            typical: typical.exp_m1(),
            worst: worst.abs().exp_m1(),
            worst_size,
            systematic: beyond && stats::runs_deviation(&values) < PATTERN,
        }
    }
}

/// Standard error of a point's median, as a share, pooled over the curve, with what the clock's step hides: neighbours on its grid lie off
/// the truth to one side.
fn noise(curve: &Curve) -> f64 {
    let typical = crate::resampled::typical_rounds(curve.points.iter()).max(1) as f64;
    let timed = curve.points.iter().filter(|p| p.seconds > 0.0);
    let hidden: f64 = timed.clone().map(|p| (p.rounding / p.seconds).powi(2)).sum();
    let hidden = (hidden / timed.count().max(1) as f64).sqrt();
    (curve.sigma * (std::f64::consts::FRAC_PI_2 / typical).sqrt()).hypot(hidden)
}
