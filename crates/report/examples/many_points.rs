//! Writes a run file of as many made-up points as are asked for, to see what a large file costs: `many_points FILE [POINTS [ROUNDS]]`
//! (a million points of one round without an argument).

#[path = "../tests/sample/mod.rs"]
#[allow(dead_code, reason = "the module has more samples than these")]
mod sample;

use std::io::{self, BufWriter, Write};
use std::{env, fs};

fn main() -> io::Result<()> {
    let mut args = env::args().skip(1);
    let file = args.next().unwrap_or_else(|| "many.run.jsonl".to_owned());
    let number = |text: Option<String>, default| text.and_then(|t| t.parse().ok()).unwrap_or(default);
    let (points, rounds) = (number(args.next(), 1_000_000), number(args.next(), 1));
    let sizes: Vec<u64> = (1..=points).collect();
    let mut run = sample::run_of(&sample::MODELS[3..], &sizes, rounds as u32, 7);
    for trial in run.paths.iter_mut().flat_map(|p| &mut p.points).flat_map(|p| p.trials.plain()) {
        trial.warmup = false;
        trial.report.histogram.clear();
    }
    let mut out = BufWriter::new(fs::File::create(file)?);
    let mut line = Vec::new();
    for kept in record::codec::lines(&run) {
        line.clear();
        kept.write(&mut line)?;
        out.write_all(&line)?;
    }
    out.flush()
}
