//! How long the states of a noise last, as the sentence of trust speaks of them.

use crate::noise::Noise;

/// Seconds that the longer states of a noise last on average in a run of so many rounds and seconds; infinite of what takes longer than the
/// run. What each trial or round has of its own, whatever came before it, is no state, and lasts none.
pub fn lasts(noise: Noise, rounds: u32, length: f64) -> f64 {
    let round = length / f64::from(rounds.max(1));
    match noise {
        Noise::Independent | Noise::Pareto | Noise::LogNormal | Noise::Skewed | Noise::Clock(_) => 0.0,
        Noise::Quota => 0.1,
        Noise::WildRound => round,
        Noise::SlowStart => 1.0,
        Noise::Rounds(n) => n * round,
        Noise::Seconds(s) | Noise::Apart(s) | Noise::Large(s) | Noise::Rare(s) => s,
        // Two states of a mean length of so many rounds are as alike from one round to the next: exp(-2 / length).
        Noise::Correlated(r) | Noise::Small(r) | Noise::Sizes(r) => -2.0 / r.ln() * round,
        Noise::Runs(_) | Noise::Drift | Noise::Pink | Noise::Walk(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_that_are_alike_are_those_of_states_that_last() {
        let of = |noise| lasts(noise, 30, 12.0);
        assert_eq!((of(Noise::Independent), of(Noise::Rounds(10.0)), of(Noise::Seconds(5.0))), (0.0, 4.0, 5.0));
        assert!((of(Noise::Correlated(0.5)) - 1.154).abs() < 1e-3, "{}", of(Noise::Correlated(0.5)));
        assert!(of(Noise::Correlated(0.95)) > 12.0 && of(Noise::Drift).is_infinite());
    }
}
