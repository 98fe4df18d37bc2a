//! The run's own rhythm: trials and rounds begin at a rhythm of their own, and what comes with them is no disturbance.

use std::f64::consts::TAU;

/// Minus the logarithm of the probability by chance (Rayleigh's test), from which on moments share a frequency.
const SHARED: f64 = 7.0;

/// Overtones of the moments' own rhythm that count: at higher frequencies moments agree by chance.
const OVERTONES: f64 = 3.3;

/// Whether these moments, ascending, come at this frequency, or at one or two to its period.
pub(super) fn shared(moments: &[f64], frequency: f64) -> bool {
    let gaps: Vec<f64> = moments.windows(2).map(|w| w[1] - w[0]).collect();
    if moments.len() < 4 || frequency * stats::median(&gaps) > OVERTONES {
        return false;
    }
    let n = moments.len() as f64;
    // Few moments can show no more than that all of them agree.
    n * kept(moments, frequency).powi(2) > SHARED.min(0.8 * n)
}

/// How well moments keep to a frequency (Hz): 1 where all come at one phase of it, about one over the root of their number where they do
/// not depend on it.
pub(super) fn kept(moments: &[f64], frequency: f64) -> f64 {
    let (sin, cos) = moments.iter().fold((0.0, 0.0), |(s, c), at| {
        let (sin, cos) = (TAU * frequency * at).sin_cos();
        (s + sin, c + cos)
    });
    f64::hypot(sin, cos) / moments.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{kept, shared};

    #[test]
    fn moments_share_their_own_rhythm_and_its_overtones_alone() {
        let own: Vec<f64> = (0..40).map(|k| 0.3 + 0.4 * f64::from(k)).collect();
        assert!(shared(&own, 2.5) && shared(&own, 5.0));
        assert!((kept(&own, 2.5) - 1.0).abs() < 1e-6 && kept(&own, 2.5 / 2.0) < 0.01 && kept(&[], 1.0) == 0.0);
        assert!(!shared(&own, 2.2) && !shared(&own, 1.0) && !shared(&own[..3], 2.5) && !shared(&own, 25.0));
    }
}
