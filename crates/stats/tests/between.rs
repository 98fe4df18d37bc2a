//! Where a repeat falls on this machine, by simulation: runs whose levels lie apart, from 1 to 15 of them known. Seeds are fixed,
//! so a failure is a change of the code and never chance.

mod noise;

use noise::Noise;
use stats::{Between, Measured, median, median_log_error};

const BLOCKS: usize = 9;
/// Log standard deviation of a block at a size.
const WITHIN: f64 = 0.03;
/// Log standard deviation of a size between runs beyond its run's level.
const OWN: f64 = 0.02;

/// The level of a run, as a logarithm.
type Machine = fn(&mut Noise) -> f64;

fn run(noise: &mut Noise, machine: Machine) -> Vec<Measured> {
    let level = machine(noise).exp();
    let size = |i: u64| {
        let seconds = 1e-5 * (1.0 + i as f64) * level * noise.log_normal(OWN);
        let blocks: Vec<f64> = (0..BLOCKS).map(|_| seconds * noise.log_normal(WITHIN)).collect();
        Measured { size: 64 + i, seconds: median(&blocks), error: median_log_error(&blocks, WITHIN) }
    };
    (0..40).map(size).collect()
}

/// Of machines with this many earlier runs: the share of repeats whose medians fall into the foretold range (mean over sizes),
/// and the median half-width of the ranges, as a share of the middle.
fn foretold(machine: Machine, earlier: usize) -> (f64, f64) {
    const MACHINES: usize = 500;
    let mut noise = Noise::new(earlier as u64);
    let (mut inside, mut all, mut widths) = (0, 0, Vec::new());
    for _ in 0..MACHINES {
        let before: Vec<Vec<(u64, f64)>> =
            (0..earlier).map(|_| run(&mut noise, machine).iter().map(|m| (m.size, m.seconds)).collect()).collect();
        let before: Vec<&[(u64, f64)]> = before.iter().map(Vec::as_slice).collect();
        let found = Between::of(&run(&mut noise, machine), &before).unwrap();
        let repeat = run(&mut noise, machine);
        for (range, m) in found.ranges(0.95).into_iter().zip(repeat).map(|(r, m)| (r.unwrap(), m)) {
            all += 1;
            inside += usize::from(range.contains(m.seconds));
            widths.push((range.high / range.low).sqrt() - 1.0);
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
    let machines: [(&str, f64, Machine); 5] = [
        ("2%", 0.93, |noise| 0.02 * noise.normal()),
        ("12%", 0.93, |noise| 0.12 * noise.normal()),
        ("30%", 0.93, |noise| 0.30 * noise.normal()),
        ("12%, heavy tails", 0.93, |noise| 0.12 * heavy(noise)),
        // One run in ten is 3 to 9 spreads slower, and of 2 to 6 runs it may be none: such a run is not foretold.
        ("12%, stray runs", 0.915, |noise| noise.contaminated(0.12).ln()),
    ];
    for (name, least, machine) in machines {
        let mut before = f64::INFINITY;
        for earlier in [1, 2, 3, 5, 15] {
            let (share, width) = foretold(machine, earlier);
            println!("{name}, {earlier} earlier: {:.1}% within +-{:.0}%", share * 100.0, width * 100.0);
            // With one earlier run the parts, whose reaches are added in quadrature, are on the wide side.
            assert!((least..=0.995).contains(&share), "{name}, {earlier} earlier runs: {share}");
            assert!(
                width < before || name.contains("stray"),
                "{name}, {earlier} earlier runs are told less from: {width}"
            );
            before = width;
        }
    }
}

/// A machine of two states is foretold once both were seen: with n earlier runs all n + 1 were in one state with a probability of
/// 1 in 2^n, and every other repeat is then in the one that was not seen. No estimate can know better.
#[test]
fn a_machine_of_two_states_is_foretold_as_soon_as_both_were_seen() {
    for earlier in [1, 2, 3, 5, 15] {
        let (share, width) = foretold(|noise| if noise.uniform() < 0.5 { 1.5f64.ln() } else { 0.0 }, earlier);
        println!("two states x1.5, {earlier} earlier: {:.1}% within +-{:.0}%", share * 100.0, width * 100.0);
        let unseen = 0.5f64.powi(earlier as i32) / 2.0;
        assert!((share - (1.0 - unseen)).abs() < 0.025, "{earlier} earlier runs: {share}");
    }
}
