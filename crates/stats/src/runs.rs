//! Whether signs come in stretches that chance does not make.

/// How many standard deviations the number of runs (stretches of equal sign) of `values` lies above what independent
/// signs would have (Wald and Wolfowitz 1940): about 0 for noise, below -2.6 where a pattern is all but certain. Zeros are
/// left out. 0 where fewer than five values of either sign leave nothing to tell.
pub fn runs_deviation(values: &[f64]) -> f64 {
    let signs: Vec<bool> = values.iter().filter(|v| **v != 0.0 && !v.is_nan()).map(|v| *v > 0.0).collect();
    let above = signs.iter().filter(|s| **s).count() as f64;
    let below = signs.len() as f64 - above;
    if above < 5.0 || below < 5.0 {
        return 0.0;
    }
    let runs = 1.0 + signs.windows(2).filter(|w| w[0] != w[1]).count() as f64;
    let n = above + below;
    let expected = 1.0 + 2.0 * above * below / n;
    let variance = (expected - 1.0) * (expected - 2.0) / (n - 1.0);
    (runs - expected) / variance.sqrt()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn noise_lies_near_zero_and_a_bend_far_below() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut beyond = 0;
        for _ in 0..2000 {
            let noise: Vec<f64> = (0..100).map(|_| rng.random::<f64>() - 0.5).collect();
            beyond += usize::from(runs_deviation(&noise) < -2.326);
        }
        assert!((5..=40).contains(&beyond), "1% of 2000 is 20, not {beyond}");
        let bend: Vec<f64> = (0..100).map(|i| (f64::from(i) - 50.0).abs() - 25.0).collect();
        assert!(runs_deviation(&bend) < -8.0);
    }

    /// By hand: 20 signs that alternate make 20 stretches; 11 are expected, with a variance of 10 * 9 / 19.
    #[test]
    fn signs_that_alternate_lie_as_far_off_as_the_formula_says() {
        let signs: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!((runs_deviation(&signs) - 9.0 / (90.0_f64 / 19.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(runs_deviation(&[]), 0.0);
        assert_eq!(runs_deviation(&[1.0; 50]), 0.0);
        assert_eq!(runs_deviation(&[0.0, f64::NAN, 1.0, -1.0]), 0.0);
    }
}
