//! How far a model lies from what was measured, in words.

use model::Misfit;
use units::Share;

/// Less than this is what exact times leave when they are rounded, and says nothing of the model.
const EXACT: f64 = 1e-5;

/// The typical misfit.
pub fn typical(m: &Misfit) -> String {
    if m.typical > 0.0 && m.typical < EXACT { "under 0.001%".to_owned() } else { Share(m.typical).to_string() }
}

/// The same, marked where the model's shape is wrong.
pub fn misfit(m: &Misfit) -> String {
    format!("{}{}", typical(m), if m.systematic { " !" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_misfit_of_exact_times_has_no_digits() {
        let of = |typical, systematic| misfit(&Misfit { typical, worst: typical, worst_size: 1, systematic });
        assert_eq!(of(5.3e-10, false), "under 0.001%");
        assert_eq!(
            (of(2e-5, false), of(0.012, true), of(0.0, false)),
            ("0.0020%".into(), "1.2% !".into(), "0.0%".into())
        );
    }
}
