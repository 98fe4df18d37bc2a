//! Writes sample pictures of made-up runs: `sample_page [FOLDER [RUN...]]` (the current folder without an argument), and a
//! page of each run file named. The browser test in `web/test` opens the pages.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::time::Instant;
use std::{env, fs, io};

use measure::event::Warning;
use record::Analysis;
use report::overlay::Mark;
use report::{Graph, html, png, svg, table, terminal};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    fs::create_dir_all(&folder)?;
    let (first, second) = (sample::costly(sample::run(7)), sample::run(8));
    let (first, second) = (Analysis::of(&first), Analysis::of(&second));
    for graph in Graph::ALL {
        println!("{}", terminal::graph(&first, graph, 100, 24, false));
        let picture = svg::draw(&[&first], graph);
        fs::write(folder.join(format!("{}.svg", graph.name())), &picture)?;
        for scale in [1u8, 2] {
            let pixels = png::render(&picture, f32::from(scale)).map_err(io::Error::other)?;
            fs::write(folder.join(format!("{}@{scale}x.png", graph.name())), pixels)?;
        }
    }
    let two = svg::draw(&[&first, &second], Graph::Signature);
    fs::write(folder.join("two-runs.png"), png::render(&two, 1.0).map_err(io::Error::other)?)?;
    println!("{}\n{}\n{}", table::summary(&first), table::paths(&first), table::warnings(&first));
    table::points(&first, 3, true, &mut fs::File::create(folder.join("points.txt"))?)?;
    fs::write(folder.join("one.html"), html::page(&[&first]))?;
    fs::write(folder.join("two.html"), html::page(&[&first, &second]))?;

    // Two marked ranges, and values that no page should choke on.
    let mut marked = report::curve::series(&[&first]);
    marked.iter_mut().for_each(|s| s.overlay.marks.clear());
    marked[2].overlay.marks.push(mark("dip", 48_000, 70_000, "dip of 23%"));
    marked[2].overlay.marks.push(mark("step", 262_144, 262_147, "step of +18%"));
    marked[3].overlay.marks.push(mark("dip", 60_000, 90_000, "dip of 31%"));
    fs::write(folder.join("marked.html"), html::of(&[&first], &marked, &[]))?;
    fs::write(folder.join("odd.html"), html::page(&[&Analysis::of(&odd())]))?;

    for paths in [1, 3, 6, 12] {
        fs::write(folder.join(format!("crowd-{paths}.html")), html::page(&[&Analysis::of(&sample::crowd(paths))]))?;
    }
    fs::write(folder.join("noisy.html"), html::page(&[&Analysis::of(&noisy())]))?;
    let rates = sample::offered(&[(1e8, 0), (4e8, 250), (1e9, 600)]);
    fs::write(folder.join("rates.html"), html::page(&[&Analysis::of(&rates)]))?;
    let flows = sample::flows(&[1, 2, 4], &[64, 4096]);
    fs::write(folder.join("flows.html"), html::page(&[&Analysis::of(&flows)]))?;

    // 100,000 points in one page, and 100,000 trials of fewer points, to feel whether it stays fluid.
    let sizes: Vec<u64> = (1..=25_000).map(|i| i * 335).collect();
    for (name, run) in [
        ("large", sample::run_of(&sample::MODELS, &sizes, 1, 9)),
        ("trials", sample::run_of(&sample::MODELS, &sample::sizes(), 200, 9)),
    ] {
        let begun = Instant::now();
        let page = html::page(&[&Analysis::of(&run)]);
        println!("{name}: {:.1} MB in {:.2} s", page.len() as f64 / 1e6, begun.elapsed().as_secs_f64());
        fs::write(folder.join(format!("{name}.html")), page)?;
    }
    let empty = sample::run_of(&sample::MODELS, &[], 0, 9);
    fs::write(folder.join("empty.html"), html::page(&[&Analysis::of(&empty)]))?;
    let point = sample::run_of(&sample::MODELS[3..], &[64], 5, 9);
    fs::write(folder.join("one-point.html"), html::page(&[&Analysis::of(&point)]))?;
    let picture = svg::draw(&[&Analysis::of(&point)], Graph::Signature);
    fs::write(folder.join("one-point.png"), png::render(&picture, 1.0).map_err(io::Error::other)?)?;
    for (i, file) in env::args().skip(2).enumerate() {
        let run = record::read::read(&file).map_err(io::Error::other)?;
        fs::write(folder.join(format!("run-{i}.html")), html::page(&[&Analysis::of(&run)]))?;
    }
    Ok(())
}

fn mark(kind: &'static str, from: u64, to: u64, label: &str) -> Mark {
    Mark { kind, from, to, label: label.into() }
}

/// Seven paths in a bad hour: warnings of six causes for each, in whole sentences.
fn noisy() -> record::RunFile {
    let mut run = sample::costly(sample::crowd(7));
    for code in ["cpu-interference", "throttled", "steal", "closed-loop", "noisy", "not-converged"] {
        for path in 0..7 {
            let text = "what was seen, the likely cause of it, and what to do about it on this machine; ".repeat(3);
            run.warnings.push(Warning { code: code.to_owned(), path: Some(path), sizes: vec![64, 4096], text });
        }
    }
    run
}

/// A run with figures that are missing, equal, zero or no numbers, and trials that say nothing.
fn odd() -> record::RunFile {
    let mut run = sample::run_of(&sample::MODELS, &[1, 64, 1024, 12_288, 1 << 20], 5, 7);
    for point in &mut run.paths[0].points {
        (point.figures.median, point.figures.throughput) = (1e-6, 8e6);
        (point.figures.low, point.figures.high, point.figures.min) = (1e-6, 1e-6, 0.0);
    }
    for (i, point) in run.paths[1].points.iter_mut().enumerate() {
        let bad = [f64::NAN, 0.0, f64::INFINITY, -1.0, 1e-6][i % 5];
        (point.figures.median, point.figures.low, point.figures.high) = (bad, f64::NAN, f64::INFINITY);
        (point.figures.loss, point.figures.repeat_high) = (f64::NAN, None);
    }
    for point in &mut run.paths[2].points {
        point.figures.percentiles = None;
        for trial in point.trials.plain() {
            trial.report.histogram.clear();
            (trial.report.median, trial.report.seconds, trial.at) = (0.0, 0.0, -1.0);
        }
    }
    if let Some(point) = run.paths[3].points.first_mut() {
        if let Some(p) = &mut point.figures.percentiles {
            (p.p90, p.max) = (Some(f64::NAN), f64::INFINITY);
        }
        point.trials.plain().truncate(1);
    }
    run.paths[3].points[1].trials.plain().clear();
    run
}
