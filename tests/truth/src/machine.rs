//! A machine under a noise: its log level in a round and at a moment, drawn once for each run.

use crate::draw::Draw;
use crate::noise::{COMMON, FAR_SLOWER, Noise, OF_SIZE, OF_SMALL, SLOW};

/// Steps in which a level that moves all the time is drawn, over a run.
const STEPS: usize = 1024;

/// One run's draw of a noise.
pub struct Machine {
    noise: Noise,
    /// Levels of the rounds.
    rounds: Vec<f64>,
    /// Levels over time: from each moment on, ascending; the first counts before its moment, too.
    track: Vec<(f64, f64)>,
    /// Seed of what each size has of its own.
    own: u64,
}

impl Machine {
    /// Begins in the noise's stationary state. A run has so many rounds and lasts so many seconds.
    pub fn new(noise: Noise, rounds: u32, length: f64, draw: &mut Draw) -> Self {
        let n = rounds.max(1) as usize;
        let mut levels: Vec<f64> = match noise {
            Noise::Correlated(r) => correlated(r, COMMON, n, draw),
            Noise::LogNormal => vec![0.0; n],
            _ => (0..n).map(|_| draw.normal(COMMON)).collect(),
        };
        if noise == Noise::WildRound {
            levels[draw.below(n)] += 10f64.ln();
        }
        // Twice the length: delays make runs last longer than planned.
        let until = 2.0 * length;
        let slow = SLOW.ln();
        let track = match noise {
            Noise::Rounds(mean) => states((mean * length / n as f64, mean * length / n as f64), slow, until, draw),
            Noise::Seconds(mean) | Noise::Large(mean) => states((mean, mean), slow, until, draw),
            Noise::Apart(mean) => states((mean, mean), FAR_SLOWER.ln(), until, draw),
            Noise::Rare(mean) => states((mean, mean / 10.0), slow, until, draw),
            Noise::SlowStart => vec![(0.0, slow), (1.0, 0.0)],
            Noise::Drift => {
                let phase = draw.uniform();
                let at = |i: usize| i as f64 / STEPS as f64 * length;
                let level = |t: f64| 0.1 * (std::f64::consts::TAU * (t / (4.0 * length) + phase)).sin();
                (0..2 * STEPS).map(|i| (at(i), level(at(i)))).collect()
            }
            Noise::Pink => pink(length, draw),
            Noise::Walk(spread) => walk(spread, length, draw),
            Noise::Small(r) => {
                let at = |i: usize| i as f64 * length / n as f64;
                correlated(r, OF_SMALL, n, draw).into_iter().enumerate().map(|(i, level)| (at(i), level)).collect()
            }
            _ => vec![(0.0, 0.0)],
        };
        let own = match noise {
            Noise::Sizes(_) | Noise::Runs(_) => draw.below(1 << 48) as u64,
            _ => 0,
        };
        Self { noise, rounds: levels, track, own }
    }

    /// Logarithm of the factor on a size's times at a moment of a round, without what a trial has of its own.
    pub fn level(&self, size: u64, round: usize, at: f64) -> f64 {
        let of_round = self.rounds.get(round).or(self.rounds.last()).copied().unwrap_or(0.0);
        if !self.noise.feels(size) {
            return of_round;
        }
        of_round + self.of_size(size, round) + self.track[self.track.partition_point(|p| p.0 <= at).saturating_sub(1)].1
    }

    /// What a size has of its own.
    fn of_size(&self, size: u64, round: usize) -> f64 {
        let mut draw = Draw::new(self.own, size);
        match self.noise {
            Noise::Runs(spread) => draw.normal(spread),
            Noise::Sizes(r) => correlated(r, OF_SIZE, round + 1, &mut draw)[round],
            _ => 0.0,
        }
    }

    /// The noise.
    pub fn noise(&self) -> Noise {
        self.noise
    }
}

/// A first-order autoregression of this standard deviation.
fn correlated(r: f64, spread: f64, n: usize, draw: &mut Draw) -> Vec<f64> {
    let mut level = draw.normal(spread);
    (0..n)
        .map(|_| {
            let now = level;
            level = r * level + draw.normal(spread * (1.0 - r * r).sqrt());
            now
        })
        .collect()
}

/// Two states that change at random: mean seconds in the fast and in the slow one.
fn states((fast, slow): (f64, f64), level: f64, until: f64, draw: &mut Draw) -> Vec<(f64, f64)> {
    let mut is_slow = draw.uniform() < slow / (fast + slow);
    let (mut at, mut track) = (0.0, Vec::new());
    while at < until {
        track.push((at, if is_slow { level } else { 0.0 }));
        at += draw.exponential(if is_slow { slow } else { fast });
        is_slow = !is_slow;
    }
    track
}

/// A sum of autoregressions whose times are octaves apart, each as strong as the others: power falls as 1/f between them.
fn pink(length: f64, draw: &mut Draw) -> Vec<(f64, f64)> {
    const OCTAVES: i32 = 10;
    const EACH: f64 = 0.015;
    let dt = length / STEPS as f64;
    let mut parts: Vec<(f64, f64)> =
        (0..OCTAVES).map(|i| ((-dt / (4.0 * length / 2f64.powi(i))).exp(), draw.normal(EACH))).collect();
    (0..2 * STEPS)
        .map(|i| {
            let now = parts.iter().map(|p| p.1).sum();
            for (r, level) in &mut parts {
                *level = *r * *level + draw.normal(EACH * (1.0 - *r * *r).sqrt());
            }
            (i as f64 * dt, now)
        })
        .collect()
}

/// A random walk over a run that begins about as far off as it strays.
fn walk(spread: f64, length: f64, draw: &mut Draw) -> Vec<(f64, f64)> {
    let mut level = draw.normal(spread);
    let step = |i: usize| {
        let now = level;
        level += draw.normal(spread / (STEPS as f64).sqrt());
        (i as f64 / STEPS as f64 * length, now)
    };
    (0..2 * STEPS).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::LARGE;

    #[test]
    fn each_size_has_levels_of_its_own_and_the_same_at_each_look() {
        let mut draw = Draw::new(5, 4);
        let machine = Machine::new(Noise::Sizes(0.8), 30, 12.0, &mut draw);
        let of = |size, round| machine.of_size(size, round);
        assert_eq!(of(7, 3), of(7, 3));
        let products =
            (0..4000).map(|size| (of(size, 8) * of(size, 9), of(size, 9).powi(2), of(size, 9) * of(size + 1, 9)));
        let (near, own, others) = products.fold((0.0, 0.0, 0.0), |a, p| (a.0 + p.0, a.1 + p.1, a.2 + p.2));
        assert!((0.75..0.85).contains(&(near / own)) && (others / own).abs() < 0.06, "{near} {own} {others}");
        let machine = Machine::new(Noise::Runs(0.05), 30, 12.0, &mut draw);
        assert!(machine.of_size(7, 3) == machine.of_size(7, 9) && machine.of_size(7, 3) != machine.of_size(8, 3));
    }

    #[test]
    fn a_walk_strays_as_far_as_it_says() {
        let squares = (0..2000).map(|i| {
            let machine = Machine::new(Noise::Walk(0.1), 1, 12.0, &mut Draw::new(5, 100 + i));
            (machine.level(1, 0, 12.0) - machine.level(1, 0, 0.0)).powi(2)
        });
        let strayed = (squares.sum::<f64>() / 2000.0).sqrt();
        assert!((strayed - 0.1).abs() < 0.005, "{strayed}");
    }

    #[test]
    fn states_of_large_sizes_leave_small_ones_at_their_round() {
        let mut draw = Draw::new(5, 4);
        let machine = Machine::new(Noise::Large(0.5), 1, 1000.0, &mut draw);
        let slow = |size| (0..10_000).filter(|i| machine.level(size, 0, f64::from(*i) * 0.1) > SLOW.ln() / 2.0).count();
        assert_eq!(slow(LARGE), 0);
        assert!((4500..5500).contains(&slow(LARGE + 1)), "{}", slow(LARGE + 1));
    }
}
