//! Writes the tables: `make truth`.

use std::time::Instant;

use clap::Parser;
use truth::world::Shape;
use truth::{coverage, noise, table};

/// How often what pipegauge says is true, on synthetic runs whose truth is known.
#[derive(Parser)]
struct Flags {
    /// Runs of each row
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    runs: u64,
    /// Only noises whose name holds this text
    #[arg(long)]
    noise: Option<String>,
    /// Only runs of so many rounds
    #[arg(long)]
    rounds: Option<u32>,
    /// Seed of all noises
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Rounds and sizes of the runs.
const SHAPES: [(u32, usize); 5] = [(2, 40), (3, 40), (4, 40), (9, 40), (30, 155)];

fn main() {
    let flags = Flags::parse();
    let chosen = |name: &str| flags.noise.as_deref().is_none_or(|text| name.contains(text));
    let noises: Vec<noise::Noise> = noise::ALL.into_iter().filter(|n| chosen(&n.name())).collect();
    for (rounds, sizes) in SHAPES.into_iter().filter(|s| flags.rounds.is_none_or(|r| r == s.0)) {
        let began = Instant::now();
        let shape = Shape::of(rounds, sizes);
        let rows: Vec<_> =
            noises.iter().map(|n| coverage::row(*n, &shape, flags.runs, flags.seed, flags.threads)).collect();
        println!("### {rounds} rounds of {sizes} sizes\n\nOf the machine:\n\n{}", table::coverage(&rows, false));
        println!("Of the run:\n\n{}", table::coverage(&rows, true));
        eprintln!("{rounds} rounds of {sizes} sizes: {:.1} s", began.elapsed().as_secs_f64());
    }
}
