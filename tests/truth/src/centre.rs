//! The truth that a figure is held against: the centre of what a machine does to times, as a logarithm.

use crate::draw::Draw;
use crate::machine::Machine;
use crate::noise::{Noise, SLOW};
use crate::world::Shape;

/// Draws of a noise that its centre is found from, where no formula gives it: its error is about 0.02%.
const DRAWS: u64 = 40_000;
/// Moments of a run at which its machine is looked at.
const MOMENTS: usize = 4096;

/// Median of what the noise does in the long run: the truth of the machine. Two states that are as likely as each other have
/// the middle between them; what happens once (a slow start, one wild round) is no part of it.
pub fn of_machine(noise: Noise, seed: u64) -> f64 {
    match noise {
        Noise::Rounds(_) | Noise::Seconds(_) => SLOW.ln() / 2.0,
        Noise::Pareto | Noise::Rare(_) => {
            let mut draw = Draw::new(seed, 0);
            let one = |_| {
                let machine = Machine::new(noise, 1, 1.0, &mut draw);
                machine.level(0, 0.0) + noise.own(&mut draw)
            };
            middle((0..DRAWS).map(one).collect())
        }
        _ => 0.0,
    }
}

/// The centre of what the machine did in one run, each moment of it counted alike: the truth of this run. It is the median;
/// of two states that are as likely as each other the mean, because a median jumps from one to the other where a run sees a
/// little more of one.
pub fn of_run(machine: &Machine, shape: &Shape, draw: &mut Draw) -> f64 {
    let at = |i: usize| (i as f64 + 0.5) / MOMENTS as f64;
    let round = |i: usize| (at(i) * f64::from(shape.rounds)) as usize;
    let level = |i| machine.level(round(i), at(i) * shape.length);
    if matches!(machine.noise(), Noise::Rounds(_) | Noise::Seconds(_)) {
        return (0..MOMENTS).map(level).sum::<f64>() / MOMENTS as f64;
    }
    middle((0..MOMENTS).map(|i| level(i) + machine.noise().own(draw)).collect())
}

/// The median: written here once more, so that the estimators' own is not judged by itself.
pub fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
    }
}
