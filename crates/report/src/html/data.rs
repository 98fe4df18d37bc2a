//! The page's data: every path's points as columns, what lies behind them and what is drawn over them. `web/src/data.ts`
//! has the same shape.

use measure::event::{Percentiles, Why};
use record::{PathRun, Point, RunFile};
use serde::Serialize;

use super::columns;
use super::fitted::{self, Models};
use super::trials::{self, Trials};
use crate::curve::Series;
use crate::overlay::Mark;
use crate::words;
use record::Analysis;

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
    /// How many elements hold its raw data.
    parts: usize,
    paths: Vec<Path<'a>>,
}

#[derive(Serialize)]
struct Path<'a> {
    name: &'a str,
    time: &'static str,
    hue: usize,
    dash: usize,
    points: Columns,
    trials: Trials,
    histograms: String,
    models: Option<Models>,
    marks: &'a [Mark],
}

#[derive(Serialize)]
struct Columns {
    size: String,
    median: String,
    low: String,
    high: String,
    repeat_low: String,
    repeat_high: String,
    min: String,
    throughput: String,
    sender: String,
    transactions: String,
    p50: String,
    p90: String,
    p99: String,
    p999: String,
    max: String,
    loss: String,
    reordering: String,
    blocks: String,
    iterations: String,
    /// Index into `reasons` of why each point ended.
    why: String,
    reasons: Vec<&'static str>,
    warned: String,
}

/// The data as JSON. `series` are the curves of these runs, in their order; `analyses` what models
/// say of their paths, `parts` how many parts each run's raw data has.
pub fn json(runs: &[&RunFile], series: &[Series], analyses: &[Vec<Analysis>], parts: &[usize]) -> String {
    let mut series = series.iter();
    let runs = runs.iter().zip(parts).zip(analyses).enumerate().map(|(i, ((run, &parts), analyses))| Run {
        letter: words::letter(i),
        line: words::run_line(run),
        file: file_name(run, i, runs.len()),
        parts,
        paths: run
            .paths
            .iter()
            .enumerate()
            .zip(series.by_ref())
            .map(|((p, path), s)| Path {
                name: &s.name,
                time: words::time_label(s.time),
                hue: s.hue,
                dash: s.dash,
                points: points(run, path),
                trials: trials::trials(&run.run.plan, path),
                histograms: trials::histograms(&run.run.plan, path),
                models: analyses.get(p).and_then(|a| a.fits.as_ref()).map(fitted::models),
                marks: &s.overlay.marks,
            })
            .collect(),
    });
    let page = Page { schema: "pipegauge-page/2", runs: runs.collect() };
    // Plain structs of numbers and strings always serialise.
    serde_json::to_string(&page).unwrap_or_else(|_| "{\"runs\":[]}".to_owned())
}

const WHY: [Option<Why>; 5] = [Some(Why::Precision), Some(Why::Budget), Some(Why::Trials), Some(Why::Stopped), None];

fn points(run: &RunFile, path: &PathRun) -> Columns {
    let warned = crate::curve::warned_sizes(run, path.opened.path);
    let column = |pick: fn(&Point) -> Option<f64>| columns::floats(path.points.iter().map(pick));
    let why = |p: &Point| WHY.iter().position(|w| *w == p.why).unwrap_or(WHY.len() - 1);
    Columns {
        size: columns::sizes(path.points.iter().map(|p| p.size)),
        median: column(|p| Some(p.figures.median)),
        low: column(|p| Some(p.figures.low)),
        high: column(|p| Some(p.figures.high)),
        repeat_low: column(|p| p.figures.repeat_low),
        repeat_high: column(|p| p.figures.repeat_high),
        min: column(|p| Some(p.figures.min)),
        throughput: column(|p| Some(p.figures.throughput)),
        sender: column(|p| p.figures.sender_throughput),
        transactions: column(|p| p.figures.transactions),
        p50: column(|p| percentile(p, |q| Some(q.p50))),
        p90: column(|p| percentile(p, |q| q.p90)),
        p99: column(|p| percentile(p, |q| q.p99)),
        p999: column(|p| percentile(p, |q| q.p999)),
        max: column(|p| percentile(p, |q| Some(q.max))),
        loss: column(|p| Some(p.figures.loss).filter(|l| *l != 0.0)),
        reordering: column(|p| Some(p.figures.reordering).filter(|r| *r != 0.0)),
        blocks: columns::counts(path.points.iter().map(|p| u64::from(p.figures.blocks))),
        iterations: columns::counts(path.points.iter().map(|p| p.figures.iterations)),
        why: columns::base64(&path.points.iter().map(|p| why(p) as u8).collect::<Vec<u8>>()),
        reasons: WHY.iter().map(|w| words::why_label(*w)).collect(),
        warned: columns::flags(path.points.iter().map(|p| warned.contains(&p.size))),
    }
}

fn percentile(point: &Point, pick: fn(&Percentiles) -> Option<f64>) -> Option<f64> {
    point.figures.percentiles.as_ref().and_then(pick)
}

/// A name for the downloaded run: `pipegauge-2026-11-21.run.jsonl`, with the run's letter where there are several.
fn file_name(run: &RunFile, index: usize, of: usize) -> String {
    let day: String = run.run.started.chars().take(10).filter(|c| c.is_ascii_digit() || *c == '-').collect();
    let letter = if of > 1 { format!("-{}", words::letter(index)) } else { String::new() };
    if day.is_empty() { format!("pipegauge{letter}.run.jsonl") } else { format!("pipegauge-{day}{letter}.run.jsonl") }
}
