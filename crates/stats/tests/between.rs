//! Where a repeat falls on this machine, by simulation: runs whose levels lie apart, from 1 to 15 of them known. Seeds are fixed,
//! so a failure is a change of the code and never chance.

mod noise;

use noise::Noise;
use stats::{Between, Measured, StandardError, median, median_log_error, variance};

const ROUNDS: usize = 9;
/// Log standard deviation of a round at a size.
const WITHIN: f64 = 0.03;
/// Log standard deviation of a size between runs beyond its run's level.
const OWN: f64 = 0.02;

/// The level of a run, as a logarithm.
type Machine = fn(&mut Noise) -> f64;

fn run(noise: &mut Noise, machine: Machine) -> Vec<Measured> {
    let level = machine(noise).exp();
    let size = |i: u64| {
        let seconds = 1e-5 * (1.0 + i as f64) * level * noise.log_normal(OWN);
        let rounds: Vec<f64> = (0..ROUNDS).map(|_| seconds * noise.log_normal(WITHIN)).collect();
        Measured { size: 64 + i, seconds: median(&rounds), error: median_log_error(&rounds, WITHIN) }
    };
    (0..40).map(size).collect()
}

/// Of machines with this many earlier runs: the share of repeats whose medians fall into the foretold range (mean over sizes),
/// and the median over ranges of their upper over their lower end. `others` paths of the machine have as many runs and are known, too.
fn foretold(machine: Machine, earlier: usize, others: usize) -> (f64, f64) {
    const MACHINES: usize = 500;
    let mut noise = Noise::new(earlier as u64);
    let (mut inside, mut all, mut widths) = (0, 0, Vec::new());
    for _ in 0..MACHINES {
        let before: Vec<Vec<(u64, f64)>> =
            (0..earlier).map(|_| run(&mut noise, machine).iter().map(|m| (m.size, m.seconds)).collect()).collect();
        let before: Vec<&[(u64, f64)]> = before.iter().map(Vec::as_slice).collect();
        let found = Between::of(&run(&mut noise, machine), &before).unwrap();
        let mut level = || machine(&mut noise) + OWN / 6.0 * noise.normal();
        let apart = (0..others).map(|_| {
            let levels: Vec<f64> = (0..=earlier).map(|_| level()).collect();
            StandardError { value: variance(&levels).sqrt(), degrees: earlier as f64 }
        });
        let found = found.with_alike(apart.collect());
        let repeat = run(&mut noise, machine);
        for (range, m) in found.ranges(0.95).into_iter().zip(repeat).map(|(r, m)| (r.unwrap(), m)) {
            all += 1;
            inside += usize::from(range.contains(m.seconds));
            widths.push(range.high / range.low);
        }
    }
    (inside as f64 / all as f64, median(&widths))
}

/// Student's t with 3 degrees, brought to a standard deviation of 1.
fn heavy(noise: &mut Noise) -> f64 {
    let squares: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
    noise.normal() / squares.sqrt()
}

#[test]
fn a_repeat_falls_where_it_is_foretold_however_far_runs_lie_apart() {
    // The least share of the repeats, and the largest width after one, two, three, five and eight earlier runs.
    let machines: [(&str, f64, [f64; 5], Machine); 6] = [
        ("3%", 0.92, [4.2, 4.2, 1.45, 1.35, 1.3], |noise| 0.03 * noise.normal()),
        ("12%", 0.92, [4.5, 4.3, 2.3, 2.1, 1.9], |noise| 0.12 * noise.normal()),
        ("25%", 0.92, [5.7, 4.7, 4.0, 3.5, 3.4], |noise| 0.25 * noise.normal()),
        ("40%", 0.90, [9.5, 8.0, 7.2, 6.6, 6.2], |noise| 0.40 * noise.normal()),
        ("12%, heavy tails", 0.92, [4.5, 4.3, 2.3, 2.1, 2.0], |noise| 0.12 * heavy(noise)),
        // One run in ten is 3 to 9 spreads slower, and of 2 to 6 runs it may be none: such a run is not foretold.
        ("12%, stray runs", 0.90, [5.0, 5.0, 4.0, 4.0, 4.0], |noise| noise.contaminated(0.12).ln()),
    ];
    for (name, least, most, machine) in machines {
        for (earlier, most) in [1, 2, 3, 5, 8].into_iter().zip(most) {
            let known: &[usize] = if earlier <= 2 { &[0, 2] } else { &[0] };
            for &others in known {
                let (share, width) = foretold(machine, earlier, others);
                println!("{name}, {earlier} earlier, {others} others: {:.1}% within x{width:.2}", share * 100.0);
                assert!(share >= least, "{name}, {earlier} earlier runs, {others} other paths: {share}");
                // Other paths whose runs lie further apart, if by luck alone, widen it.
                let most = if others > 0 { 1.7 * most } else { most };
                assert!(width <= most, "{name}, {earlier} earlier runs, {others} other paths: x{width}");
            }
        }
    }
}

/// A machine of two states is foretold once both were seen: with n earlier runs all n + 1 were in one state with a probability of
/// 1 in 2^n, and every other repeat is then in the one that was not seen. No estimate can know better from these runs alone; so from one
/// or two the range reaches up to a factor of two, whatever they say.
#[test]
fn a_machine_of_two_states_is_foretold_as_soon_as_both_were_seen() {
    let machines: [(&str, Machine); 2] = [
        ("x1.3", |noise| if noise.uniform() < 0.5 { 1.3f64.ln() } else { 0.0 }),
        ("x2", |noise| if noise.uniform() < 0.5 { 2f64.ln() } else { 0.0 }),
    ];
    for (name, machine) in machines {
        for earlier in [1, 2, 3, 5, 8] {
            let known: &[usize] = if earlier <= 2 { &[0, 2] } else { &[0] };
            for &others in known {
                let (share, width) = foretold(machine, earlier, others);
                println!(
                    "two states {name}, {earlier} earlier, {others} others: {:.1}% within x{width:.2}",
                    share * 100.0
                );
                // Before that is likely the range reaches up to a factor of two, at whose edge noise decides.
                let unseen = match earlier {
                    1 | 2 => 0.1,
                    n => 0.5f64.powi(n as i32) / 2.0,
                };
                assert!(share >= 1.0 - unseen - 0.025, "{name}, {earlier} earlier runs, {others} other paths: {share}");
            }
        }
    }
}
