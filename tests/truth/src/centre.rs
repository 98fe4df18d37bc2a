//! The truth that a figure is held against: the centre of what a machine does to times, as a logarithm.

use crate::draw::Draw;
use crate::machine::Machine;
use crate::noise::Noise;
use crate::world::Shape;

/// Draws of a noise that its centre is found from, where no formula gives it: its error is about 0.02%.
const DRAWS: u64 = 40_000;
/// Draws of single iterations' noise, of which the hundredth longest is known to a few percent of the noise's width; and of the levels of a
/// noise that is drawn over a whole run.
const SINGLES: usize = 200_000;
const RUNS: usize = 1000;
/// Moments of a run at which its machine is looked at.
const MOMENTS: usize = 4096;

/// Median of what the noise does in the long run, at the machine's typical level: the truth of the machine. Two states that are as
/// likely as each other have the middle between them; what happens once (a slow start, one outlying round) is no part of it.
pub fn of_machine(noise: Noise, seed: u64) -> f64 {
    if let Some(apart) = noise.apart() {
        return apart / 2.0;
    }
    match noise {
        _ if noise.lopsided() => of_own(noise, &mut Draw::new(seed, 0)),
        Noise::Rare(_) => {
            let mut draw = Draw::new(seed, 0);
            let one = |_| {
                let machine = Machine::new(noise, 1, 1.0, &mut draw);
                machine.level(1, 0, 0.0) + noise.own(&mut draw)
            };
            middle((0..DRAWS).map(one).collect())
        }
        _ => 0.0,
    }
}

/// Median of what trials have of their own. Levels of rounds lie evenly about 0 and have no part in it: figures are those of the
/// typical level, and the median of a lopsided noise added to an even one would lie elsewhere.
fn of_own(noise: Noise, draw: &mut Draw) -> f64 {
    middle((0..DRAWS).map(|_| noise.own(draw)).collect())
}

/// The centre of what the machine did in one run, each moment of it counted alike: the truth of this run. It is the median;
/// of two states that are as likely as each other the median is a gap where a run sees about as much of one as of the other, and
/// all within the gap (from 45% to 55% of the moments) is the centre. Lower and upper end.
pub fn of_run(machine: &Machine, shape: &Shape, draw: &mut Draw) -> [f64; 2] {
    let at = |i: usize| (i as f64 + 0.5) / MOMENTS as f64;
    let round = |i: usize| (at(i) * f64::from(shape.rounds)) as usize;
    let level = |i| machine.level(1, round(i), at(i) * shape.length);
    if machine.noise().lopsided() {
        return [middle((0..MOMENTS).map(level).collect()) + of_own(machine.noise(), draw); 2];
    }
    let one = |i| level(i) + machine.noise().own(draw);
    let mut met: Vec<f64> = (0..MOMENTS).map(one).collect();
    if machine.noise().apart().is_some() {
        met.sort_by(f64::total_cmp);
        return [0.45, 0.55].map(|share| met[(share * MOMENTS as f64) as usize]);
    }
    let met = middle(met);
    // Sizes that were spared stayed at the machine's truth; what is read off some of both lies between.
    if matches!(machine.noise(), Noise::Small(_)) { [met.min(0.0), met.max(0.0)] } else { [met; 2] }
}

/// What single iterations of a size take in the long run, as logarithms about the time without noise: those that these shares of them
/// stay within, of which the machine's slow states are a part. What happens once is no part of it, and a stop is none of the noise.
pub fn of_singles<const N: usize>(noise: Noise, size: u64, seed: u64, shares: [f64; N]) -> [f64; N] {
    let mut draw = Draw::new(seed, u64::MAX);
    let (at, length) = (if noise == Noise::SlowStart { 1.5 } else { 0.0 }, 1e-3);
    let of = if matches!(noise, Noise::WildRound) { Noise::Independent } else { noise };
    // A level that moves all the time is drawn over a whole run, and lasts.
    let each = if matches!(of, Noise::Drift | Noise::Pink | Noise::Walk(_)) { SINGLES / RUNS } else { 1 };
    let mut all = Vec::with_capacity(SINGLES);
    while all.len() < SINGLES {
        let level = Machine::new(of, 1, length, &mut draw).level(size, 0, at);
        all.extend((0..each).map(|_| level + of.own(&mut draw)));
    }
    all.sort_by(f64::total_cmp);
    shares.map(|q| all[((q * SINGLES as f64).ceil() as usize).clamp(1, SINGLES) - 1])
}

/// The median: written here once more, so that the estimators' own is not judged by itself.
pub fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{COMMON, OWN, SLOW};

    #[test]
    fn a_long_run_meets_the_truth_of_its_machine() {
        // An hour of each: what lasts a minute at most averages out. What is one for a run is left out.
        for noise in
            [Noise::Independent, Noise::Pareto, Noise::Skewed, Noise::LogNormal, Noise::Seconds(0.5), Noise::Rare(0.5)]
        {
            let shape = Shape { rounds: 3000, length: 3600.0, ..Shape::of(1, 1) };
            let mut draw = Draw::new(5, 1);
            let machine = Machine::new(noise, shape.rounds, shape.length, &mut draw);
            let (run, long) = (of_run(&machine, &shape, &mut draw), of_machine(noise, 5));
            let near = if noise == Noise::LogNormal { 0.03 } else { 0.01 };
            assert!(run[0] - near < long && long < run[1] + near, "{}: {run:?} and {long}", noise.name());
        }
    }

    #[test]
    fn percentiles_of_single_iterations_are_those_of_the_distributions_that_are_known() {
        let of = |noise, size| of_singles(noise, size, 5, [0.5, 0.9, 0.99]);
        let near = |found: [f64; 3], wide: f64| {
            found.iter().zip([0.0, 1.2816, 2.3263]).all(|(log, z)| (log - z * wide).abs() < 0.02 * wide)
        };
        let plain = COMMON.hypot(OWN);
        assert!(near(of(Noise::Independent, 1), plain) && near(of(Noise::WildRound, 1), plain));
        assert!(near(of(Noise::SlowStart, 1), plain) && near(of(Noise::LogNormal, 1), 0.5));
        assert!(near(of(Noise::Correlated(0.95), 1), plain) && near(of(Noise::Large(0.5), 1), plain));
        // Two states as likely as each other: a tenth of all is a fifth of the slow one, and a fiftieth.
        let slow = of(Noise::Seconds(0.5), 1);
        assert!((slow[1] - SLOW.ln() - 0.8416 * plain).abs() < 2e-3, "{slow:?}");
        assert!((slow[2] - SLOW.ln() - 2.0537 * plain).abs() < 3e-3, "{slow:?}");
    }

    #[test]
    fn states_last_as_long_as_they_say_and_come_in_turns() {
        let mut draw = Draw::new(5, 2);
        let machine = Machine::new(Noise::Seconds(5.0), 1, 36_000.0, &mut draw);
        let level = |i: u32| machine.level(1, 0, f64::from(i) * 0.1);
        let changes = (1..360_000).filter(|i| level(*i) != level(i - 1)).count();
        // 7200 changes in ten hours, give or take 85.
        assert!((6900..7500).contains(&changes), "{changes}");
    }

    #[test]
    fn levels_of_rounds_follow_each_other_as_closely_as_they_say() {
        let mut draw = Draw::new(5, 3);
        let machine = Machine::new(Noise::Correlated(0.8), 20_000, 1.0, &mut draw);
        let levels: Vec<f64> = (0..20_000).map(|i| machine.level(1, i, 0.0)).collect();
        let power: f64 = levels.iter().map(|l| l * l).sum();
        let with_next: f64 = levels.windows(2).map(|w| w[0] * w[1]).sum();
        assert!((with_next / power - 0.8).abs() < 0.02 && ((power / 20_000.0).sqrt() - 0.03).abs() < 0.002);
    }
}
