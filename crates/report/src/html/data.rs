//! The page's data: every path's points as columns, which the script draws. `web/src/data.ts` has the same shape.

use record::{PathRun, RunFile};
use serde::Serialize;

use crate::curve::Series;
use crate::words;

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    letter: String,
    line: String,
    file: String,
    paths: Vec<Path<'a>>,
}

#[derive(Serialize)]
struct Path<'a> {
    name: &'a str,
    time: &'static str,
    hue: usize,
    dash: usize,
    points: Columns,
}

/// A number or, in JSON, null where there is none.
type Column = Vec<Option<f64>>;

#[derive(Default, Serialize)]
struct Columns {
    size: Vec<u64>,
    median: Column,
    low: Column,
    high: Column,
    repeat_low: Column,
    repeat_high: Column,
    min: Column,
    throughput: Column,
    sender: Column,
    transactions: Column,
    p50: Column,
    p90: Column,
    p99: Column,
    p999: Column,
    max: Column,
    loss: Column,
    reordering: Column,
    blocks: Vec<u32>,
    why: Vec<&'static str>,
    warned: Vec<u8>,
}

/// The data as JSON. `series` are the curves of these runs, in their order.
pub fn json(runs: &[&RunFile], series: &[Series]) -> String {
    let mut series = series.iter();
    let runs = runs.iter().enumerate().map(|(i, run)| Run {
        letter: words::letter(i),
        line: words::run_line(run),
        file: file_name(run, i, runs.len()),
        paths: run
            .paths
            .iter()
            .zip(series.by_ref())
            .map(|(path, s)| Path {
                name: &s.name,
                time: words::time_label(s.time),
                hue: s.hue,
                dash: s.dash,
                points: columns(run, path),
            })
            .collect(),
    });
    let page = Page { schema: "pipegauge-page/1", runs: runs.collect() };
    // Plain structs of numbers and strings always serialise.
    serde_json::to_string(&page).unwrap_or_else(|_| "{\"runs\":[]}".to_owned())
}

fn columns(run: &RunFile, path: &PathRun) -> Columns {
    let warned = crate::curve::warned_sizes(run, path.opened.path);
    let mut c = Columns::default();
    for point in &path.points {
        let f = &point.figures;
        let percentile =
            |pick: fn(&measure::event::Percentiles) -> f64| f.percentiles.as_ref().and_then(|p| short(pick(p)));
        c.size.push(point.size);
        c.median.push(short(f.median));
        c.low.push(short(f.low));
        c.high.push(short(f.high));
        c.repeat_low.push(short(f.repeat_low));
        c.repeat_high.push(short(f.repeat_high));
        c.min.push(short(f.min));
        c.throughput.push(short(f.throughput));
        c.sender.push(f.sender_throughput.and_then(short));
        c.transactions.push(f.transactions.and_then(short));
        c.p50.push(percentile(|p| p.p50));
        c.p90.push(percentile(|p| p.p90));
        c.p99.push(percentile(|p| p.p99));
        c.p999.push(percentile(|p| p.p999));
        c.max.push(percentile(|p| p.max));
        c.loss.push(short(f.loss));
        c.reordering.push(short(f.reordering));
        c.blocks.push(f.blocks);
        c.why.push(words::why_label(point.why));
        c.warned.push(u8::from(warned.contains(&point.size)));
    }
    c
}

/// Seven digits are more than any figure has, and keep the page small; the raw data has them all.
fn short(v: f64) -> Option<f64> {
    format!("{v:.6e}").parse().ok().filter(|v: &f64| v.is_finite())
}

/// A name for the downloaded run: `pipegauge-2026-11-21.run.jsonl`, with the run's letter where there are several.
fn file_name(run: &RunFile, index: usize, of: usize) -> String {
    let day: String = run.run.started.chars().take(10).filter(|c| c.is_ascii_digit() || *c == '-').collect();
    let letter = if of > 1 { format!("-{}", words::letter(index)) } else { String::new() };
    if day.is_empty() { format!("pipegauge{letter}.run.jsonl") } else { format!("pipegauge-{day}{letter}.run.jsonl") }
}
