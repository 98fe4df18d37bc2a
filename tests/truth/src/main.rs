//! Writes the tables: `make truth`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use truth::noise::{self, Noise};
use truth::sections::{Job, Section};
use truth::tally;

/// How often what pipegauge says is true, on synthetic runs whose truth is known.
#[derive(Parser)]
struct Flags {
    /// Runs of each row; fewer where a run takes long to analyse
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=100_000))]
    runs: u64,
    /// Only these tables
    #[arg(long, value_delimiter = ',')]
    tables: Vec<Section>,
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
    /// The built command, to hold against the tables; without it that section is left out
    #[arg(long)]
    program: Option<PathBuf>,
    /// File to write; else the standard output
    #[arg(short, long, overrides_with = "output")]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let chosen = |name: &str| flags.noise.as_deref().is_none_or(|text| name.contains(text));
    let Flags { runs, rounds, seed, threads, .. } = flags;
    let of = |all: &[Noise]| all.iter().copied().filter(|n| chosen(&n.name())).collect();
    let (noises, of_sizes) = (of(&noise::ALL), of(&noise::OF_SIZES));
    let (of_each, of_sides) = (of(&noise::OF_EACH), of(&noise::OF_SIDES));
    let job = Job { noises, of_sizes, of_each, of_sides, runs, rounds, seed, threads, program: flags.program.clone() };
    let mut text = String::new();
    // A file is written whole; on the standard output each section shows as it is done.
    let mut tell = |part: &str| match flags.output {
        None => print!("{part}"),
        Some(_) => text.push_str(part),
    };
    tell(&format!(
        "{HEAD}\nSeed {seed}, at most {runs} runs a row (`--runs`); the same seed gives the same tables. {}\n\n",
        tally::told_by(runs)
    ));
    let all = if flags.tables.is_empty() { Section::value_variants() } else { &flags.tables };
    for section in all {
        let began = Instant::now();
        match section.text(&job) {
            Ok(part) => tell(&part),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
        eprintln!("{section:?}: {:.0} s", began.elapsed().as_secs_f64());
    }
    if let Some(file) = &flags.output
        && let Err(error) = std::fs::write(file, text)
    {
        eprintln!("can't write {}: {error}; give another file with --output", file.display());
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

/// What the document is, and how to read it.
const HEAD: &str = "\
# How often what pipegauge says is true

Written by `make truth`. Synthetic runs of a path whose curve is known (10 us and 0.2 ns a byte, 12 s a run) go under noises that \
are known, too, as events through the run file to the figures that the command prints. `tests/truth` has the noises and says how \
each truth is found.

- The machine's truth is the centre of what the noise does in the long run. The run's truth is the centre of what the noise did in that \
run.
- Targets: 92-98% of the intervals hold the machine's truth where the run is at least three times as long as its noise lasts; else \
90% of those given, or the sentence of trust says that they hold for this run alone. 92% hold the run's truth. Below four rounds no \
interval is given. A standard error of a share of so many runs is granted: where 92% are asked for, 87% of 30 runs pass, and 88% of 60.
- Not covered: LogGP's o and g, the shares of outliers in jitter, mean rates, loss and the highest rate, totals and fairness of flows, \
percentiles under load over idle ones, soaks, CPU cost, sizes and shares that `ask` gives (crossovers, the size from which on 95% of the \
most is reached, late frames), effects of sweeps, HINT, groups, and periods in levels alone.
";
