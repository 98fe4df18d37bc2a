//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The factor of Student's t: a share `confidence` of the distribution with that many degrees of freedom lies within
/// plus or minus it. Infinite for degrees or a confidence that leave nothing bounded.
pub fn student_t(confidence: f64, degrees: f64) -> f64 {
    if confidence.is_nan() || confidence >= 1.0 {
        return f64::INFINITY;
    }
    let upper = 0.5 + confidence.max(0.0) / 2.0;
    if degrees > 1e4 {
        // The inversion loses digits here, and the first term of the expansion in 1 / degrees is exact to nine.
        let z = Normal::standard().inverse_cdf(upper);
        return z + (z.powi(3) + z) / (4.0 * degrees);
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(upper))
}

/// How probable it is that a value of Student's t distribution lies as far from 0 as `t` or farther, either way. 1 where
/// nothing is known (NaN, or no degrees of freedom).
pub fn student_p(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees.is_nan() || degrees <= 0.0 {
        return 1.0;
    }
    if degrees > 1e6 {
        return 2.0 * Normal::standard().cdf(-t.abs());
    }
    StudentsT::new(0.0, 1.0, degrees).map_or(1.0, |d| 2.0 * d.cdf(-t.abs()))
}
