//! The page's data: every path's points as columns, the trials behind them and the overlays. `web/src/data.ts` has the same shape.

use std::borrow::Cow;
use std::collections::BTreeMap;

use measure::Topology;
use measure::event::Why;
use record::columns::{COLUMNS, Column, Form, Row, Type, for_people};
use record::{Analysis, PathRun, Point, RunFile};
use serde::Serialize;
use units::Kind;

use super::columns;
use super::fitted::{self, Models};
use super::trials::{self, Trials};
use crate::curve::Series;
use crate::graph::Graph;
use crate::overlay::Mark;
use crate::words;

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    /// The table of points, from left to right, after the size.
    columns: Vec<Head>,
    /// The graphs over sizes that the page has for these runs, by name.
    graphs: Vec<&'static str>,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    letter: String,
    line: String,
    file: String,
    /// How many elements hold its raw data.
    parts: usize,
    /// Its trials are the intervals of one connection.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    soak: bool,
    paths: Vec<Path<'a>>,
}

#[derive(Serialize)]
struct Path<'a> {
    name: &'a str,
    time: &'static str,
    hue: usize,
    dash: usize,
    points: Points,
    trials: Trials,
    histograms: String,
    models: Option<Models>,
    marks: &'a [Mark],
}

/// A column of the table of points.
#[derive(Serialize)]
struct Head {
    name: &'static str,
    unit: Option<&'static str>,
    heading: Cow<'static, str>,
    #[serde(flatten)]
    form: Form,
}

/// A path's points, a column each ([`COLUMNS`]).
#[derive(Serialize)]
struct Points {
    size: String,
    /// Columns of numbers, by name.
    figures: BTreeMap<&'static str, String>,
    /// Columns of whole numbers, by name.
    counts: BTreeMap<&'static str, String>,
    /// Index into `reasons` of why each point ended.
    why: String,
    reasons: Vec<&'static str>,
    warned: String,
}

/// The topology for column titles: a title stands for all paths, so it is flows where they differ.
fn topology(runs: &[&Analysis<'_>]) -> Topology {
    let mut all = runs.iter().flat_map(|run| &run.run.plan.paths).map(|path| path.topology);
    all.next().filter(|first| all.all(|other| other == *first)).unwrap_or_default()
}

/// The data as JSON. `series` are the curves of these runs, in their order; `parts` has the number of parts of each run's raw data.
pub fn json(runs: &[&Analysis<'_>], series: &[Series], parts: &[usize]) -> String {
    let topology = topology(runs);
    let files: Vec<&RunFile> = runs.iter().map(|run| run.run()).collect();
    let graphs = Graph::over_sizes(&files).into_iter().map(Graph::name).collect();
    let mut series = series.iter();
    let runs = runs.iter().zip(parts).enumerate().map(|(i, (run, &parts))| Run {
        letter: words::letter(i),
        line: words::run_line(run),
        file: file_name(run, i, runs.len()),
        parts,
        soak: run.run.plan.soaks(),
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
                // A curve of one size has no shape to fit.
                models: run.fits(p).filter(|_| !run.run.plan.soaks()).map(fitted::models),
                marks: &s.overlay.marks,
            })
            .collect(),
    });
    let heads = for_people().into_iter();
    let columns = heads
        .map(|(c, shown)| Head {
            name: c.name,
            unit: c.unit.map(unit),
            heading: shown.title(topology),
            form: shown.form,
        })
        .collect();
    let page = Page { schema: "pipegauge-page/3", columns, graphs, runs: runs.collect() };
    // Plain structs of numbers and strings always serialise.
    serde_json::to_string(&page).unwrap_or_else(|_| "{\"runs\":[]}".to_owned())
}

const WHY: [Option<Why>; 5] = [Some(Why::Precision), Some(Why::Budget), Some(Why::Trials), Some(Why::Stopped), None];

fn points(run: &RunFile, path: &PathRun) -> Points {
    let warned = crate::curve::warned_sizes(run, path.opened.path, false);
    let rows: Vec<Row> = path.points.iter().map(|p| Row::of(run, path, p)).collect();
    let of = |kind| COLUMNS.iter().filter(move |c| c.kind == kind && !PLACE.contains(&c.name));
    let why = |p: &Point| WHY.iter().position(|w| *w == p.why).unwrap_or(WHY.len() - 1);
    // Shares that are 0 everywhere take no room.
    let figure = |c: &Column, row: &Row| c.of(row).number().filter(|v| c.unit != Some(Kind::Share) || *v != 0.0);
    Points {
        size: columns::sizes(path.points.iter().map(|p| p.size)),
        figures: of(Type::Number).map(|c| (c.name, columns::floats(rows.iter().map(|row| figure(c, row))))).collect(),
        counts: of(Type::Count)
            .map(|c| (c.name, columns::counts(rows.iter().map(|row| c.of(row).count().unwrap_or(0)))))
            .collect(),
        why: columns::base64(&path.points.iter().map(|p| why(p) as u8).collect::<Vec<u8>>()),
        reasons: WHY.iter().map(|w| words::why_label(*w)).collect(),
        warned: columns::flags(path.points.iter().map(|p| warned.contains(&p.size))),
    }
}

/// Columns that identify a point, and one that no page has: HINT's.
const PLACE: [&str; 3] = ["path", "size_bytes", "memory_bytes"];

/// A unit by the name that `web/src/units.ts` has for it.
fn unit(unit: Kind) -> &'static str {
    match unit {
        Kind::Seconds => "seconds",
        Kind::BitsPerSecond => "bitsPerSecond",
        Kind::Bytes => "bytes",
        Kind::Share => "share",
        Kind::PerSecond => "perSecond",
        Kind::SecondsPerByte | Kind::Quips => "count",
    }
}

/// A name for the downloaded run: `pipegauge-2026-11-21.run.jsonl`, with the run's letter where there are several.
fn file_name(run: &RunFile, index: usize, of: usize) -> String {
    let day: String = run.run.started.chars().take(10).filter(|c| c.is_ascii_digit() || *c == '-').collect();
    let letter = if of > 1 { format!("-{}", words::letter(index)) } else { String::new() };
    if day.is_empty() { format!("pipegauge{letter}.run.jsonl") } else { format!("pipegauge-{day}{letter}.run.jsonl") }
}
