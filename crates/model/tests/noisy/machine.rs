//! Machines whose noise is known: what each visit of a size in a round meets, sizes in random order.

use model::CurvePoint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stats::normal;

/// Noise of a visit, beside what its round has in common with all sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Log-normal with this standard deviation.
    Normal(f64),
    /// Log-normal of 3%, and a Pareto tail of this exponent on top of every fifth visit, a tenth of the time at least.
    Heavy(f64),
    /// Log-normal of 3% on a machine that is half as slow again for stretches of so many visits, this share of the time.
    States(usize, f64),
    /// AR(1) from visit to visit in the order of time, of 5% and this correlation.
    Red(f64),
    /// Log-normal of 2%, and three times as much at one size in eight.
    Uneven,
}

impl Noise {
    pub const ALL: [Self; 9] = [
        Self::Normal(0.03),
        Self::Normal(0.05),
        Self::Heavy(1.5),
        Self::Heavy(1.1),
        Self::States(1, 0.2),
        Self::States(1, 0.5),
        Self::States(40, 0.3),
        Self::Red(0.9),
        Self::Uneven,
    ];
}

/// A curve measured in rounds over all sizes, each in random order.
pub fn measured(seed: u64, noise: Noise, rounds: u32, sizes: &[u64], time: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut medians: Vec<Vec<(u32, f64)>> = vec![Vec::new(); sizes.len()];
    let (mut slow, mut red) = (false, normal(&mut rng));
    for round in 0..rounds {
        let common = 0.03 * normal(&mut rng);
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        for i in order {
            let z = normal(&mut rng);
            let one = match noise {
                Noise::Normal(sigma) => sigma * z,
                Noise::Heavy(exponent) => {
                    let tail = 0.1 * (1.0 - rng.random::<f64>()).powf(-1.0 / exponent);
                    0.03 * z + if rng.random::<f64>() < 0.2 { tail.ln_1p() } else { 0.0 }
                }
                Noise::States(lasting, share) => {
                    if rng.random::<f64>() * (lasting as f64) < 1.0 {
                        slow = rng.random::<f64>() < share;
                    }
                    0.03 * z + if slow { 1.5f64.ln() } else { 0.0 }
                }
                Noise::Red(correlation) => {
                    red = correlation * red + (1.0 - correlation * correlation).sqrt() * z;
                    0.05 * red + 0.02 * normal(&mut rng)
                }
                Noise::Uneven => z * if i % 8 == 3 { 0.06 } else { 0.02 },
            };
            medians[i].push((round, time(sizes[i] as f64) * (common + one).exp()));
        }
    }
    (sizes.iter().zip(medians))
        .map(|(&size, medians)| {
            let seconds = stats::median(&medians.iter().map(|b| b.1).collect::<Vec<_>>());
            CurvePoint::of(size, seconds, medians)
        })
        .collect()
}

/// A smooth curve with a bend: the slope times `steeper` from `at` on, over `decades` (0: sharp), in time over size or (`log`) on
/// logarithmic axes.
pub fn bent(at: f64, steeper: f64, decades: f64, log: bool) -> impl Fn(f64) -> f64 {
    let soft = move |u: f64, wide: f64| if wide > 0.0 { wide * (u / wide).exp().ln_1p().min(1e9) } else { u.max(0.0) };
    move |x: f64| {
        let (t0, b) = (10e-6, 2e-10);
        if log {
            let u = (x / at).ln();
            let wide = decades * std::f64::consts::LN_10 / 4.0;
            let u2 = if wide > 0.0 && u / wide > 300.0 { u } else { soft(u, wide) };
            (t0 + b * x) * ((steeper - 1.0) * u2.min(1.2)).exp()
        } else {
            let wide = at * (10f64.powf(decades) - 1.0) / 4.0;
            let u = x - at;
            let u2 = if wide > 0.0 && u / wide > 300.0 { u } else { soft(u, wide) };
            t0 + b * x + (steeper - 1.0) * b * (u2 - soft(-at, wide))
        }
    }
}
