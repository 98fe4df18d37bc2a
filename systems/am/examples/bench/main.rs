//! Round trips and streams of Active Messages beside a bare ring and the kernel's sockets, all in one run.
//!
//! `cargo run --release -p am --example bench [WINDOWS]`: each path in turn, WINDOWS times (default 9), a fresh pair of processes
//! each time; printed are medians of windows. With `taskset -c 0` both sides share a CPU; `PIN=1` puts the two on CPUs of their own.

mod paths;

use paths::{PATHS, Work};

/// Sizes of the streams, bytes.
const SIZES: [usize; 5] = [64, 1 << 10, 4 << 10, 64 << 10, 1 << 20];
/// Seconds that a window takes.
const WINDOW: f64 = 0.1;

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Medians over all windows, by path, of each kind of work.
fn main() {
    let windows = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(9);
    let work: Vec<Work> = std::iter::once(Work::RoundTrip).chain(SIZES.map(Work::Stream)).collect();
    let mut found = vec![vec![Vec::new(); PATHS.len()]; work.len()];
    for _ in 0..windows {
        for (row, &work) in found.iter_mut().zip(&work) {
            for (cell, path) in row.iter_mut().zip(PATHS) {
                cell.push((path.run)(work, WINDOW));
            }
        }
    }
    print!("{:<22}", "");
    PATHS.iter().for_each(|path| print!("{:>13}", path.name));
    println!();
    for (row, work) in found.into_iter().zip(work) {
        print!("{:<22}", work.name());
        row.into_iter().for_each(|cell| print!("{:>13.3}", median(cell)));
        println!();
    }
}
