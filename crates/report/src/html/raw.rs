//! The run as the lines of a run file, gzipped, for the page's download button. `pipegauge show` reads what it gives.

use std::io::Write;
use std::num::NonZero;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use measure::earlier::Earlier;
use measure::event::{Event, PointEnded, Trial, Why};
use measure::{FarReport, TrialReport};
use record::{PathRun, Point, RunFile};
use serde::Serialize;

use super::columns;

/// Lines that are compressed together: enough for a good dictionary, few enough that several CPUs have work.
const PART: usize = 10_000;

/// zlib's scale. More would take twice the time for a tenth less.
const LEVEL: u32 = 3;

/// One line of the file.
enum Line<'a> {
    Event(Box<Event>),
    Trial(&'a Trial),
    Point(&'a PathRun, &'a Point),
}

/// A trial without the fields that have their default value: readers fill them in (`#[serde(default)]`).
#[derive(Serialize)]
struct Lean<'a> {
    event: &'static str,
    path: u32,
    block: u32,
    at: f64,
    size: u64,
    #[serde(skip_serializing_if = "default")]
    response: u64,
    #[serde(skip_serializing_if = "default")]
    burst: u64,
    #[serde(skip_serializing_if = "default")]
    warmup: bool,
    #[serde(skip_serializing_if = "default")]
    repeats: u64,
    #[serde(skip_serializing_if = "default")]
    seconds: f64,
    #[serde(skip_serializing_if = "default")]
    median: f64,
    #[serde(skip_serializing_if = "default")]
    min: f64,
    #[serde(skip_serializing_if = "default")]
    max: f64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    histogram: &'a [(u64, u64)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pauses: &'a [(u64, u64)],
    #[serde(skip_serializing_if = "default")]
    late: u64,
    #[serde(skip_serializing_if = "default")]
    lost: u64,
    #[serde(skip_serializing_if = "default")]
    reordered: u64,
    #[serde(skip_serializing_if = "default")]
    duplicated: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    far: Option<&'a FarReport>,
}

fn default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Taken apart without `..`: a new field is an error here and can't be forgotten.
fn lean(trial: &Trial) -> Lean<'_> {
    let Trial { path, block, at, size, response, burst, warmup, report } = trial;
    let TrialReport {
        repeats,
        seconds,
        median,
        min,
        max,
        histogram,
        pauses,
        late,
        lost,
        reordered,
        duplicated,
        bounds,
        far,
    } = report;
    Lean {
        event: "trial",
        path: *path,
        block: *block,
        at: *at,
        size: *size,
        response: *response,
        burst: *burst,
        warmup: *warmup,
        repeats: *repeats,
        seconds: *seconds,
        median: *median,
        min: *min,
        max: *max,
        histogram,
        pauses,
        late: *late,
        lost: *lost,
        reordered: *reordered,
        duplicated: *duplicated,
        bounds: *bounds,
        far: Some(far).filter(|far| !default(*far)),
    }
}

/// Header, paths, blocks, what was taken during them, every trial in the order of time, points, warnings, end. A point that had not ended is written as
/// stopped.
fn lines(run: &RunFile) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let event = |e: Event, lines: &mut Vec<Line<'_>>| lines.push(Line::Event(Box::new(e)));
    event(Event::Run(run.run.clone()), &mut lines);
    for path in &run.paths {
        event(Event::Path(path.opened.clone()), &mut lines);
        if let Some(runs) = path.earlier.clone() {
            event(Event::Earlier(Earlier { path: path.opened.path, runs }), &mut lines);
        }
    }
    for block in run.paths.iter().flat_map(|p| &p.blocks) {
        event(Event::Block(block.clone()), &mut lines);
    }
    for taken in run.paths.iter().flat_map(|p| &p.taken) {
        event(Event::Taken(taken.clone()), &mut lines);
    }
    let mut trials: Vec<&Trial> = run.paths.iter().flat_map(|p| &p.points).flat_map(|p| &p.trials).collect();
    trials.sort_by(|a, b| a.at.total_cmp(&b.at));
    lines.extend(trials.into_iter().map(Line::Trial));
    lines.extend(run.paths.iter().flat_map(|path| path.points.iter().map(move |p| Line::Point(path, p))));
    for warning in &run.warnings {
        event(Event::Warning(warning.clone()), &mut lines);
    }
    if let Some(end) = &run.end {
        event(Event::End(end.clone()), &mut lines);
    }
    lines
}

fn write(line: &Line<'_>, out: &mut Vec<u8>) {
    let before = out.len();
    let done = match line {
        Line::Event(event) => serde_json::to_writer(&mut *out, event),
        Line::Trial(trial) => serde_json::to_writer(&mut *out, &lean(trial)),
        Line::Point(path, p) => {
            let ended = PointEnded {
                path: path.opened.path,
                size: p.size,
                time: p.time,
                figures: p.figures,
                why: p.why.unwrap_or(Why::Stopped),
            };
            serde_json::to_writer(&mut *out, &Event::Point(ended))
        }
    };
    // Plain structs of numbers and strings always serialise; if one did not, half a line would be worse than none.
    match done {
        Ok(()) => out.push(b'\n'),
        Err(_) => out.truncate(before),
    }
}

fn packed(lines: &[Line<'_>]) -> String {
    let mut text = Vec::new();
    lines.iter().for_each(|line| write(line, &mut text));
    let mut gzip = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::new(LEVEL));
    // Writing to memory can't fail.
    let _ = gzip.write_all(&text);
    columns::base64(&gzip.finish().unwrap_or_default())
}

/// The whole run file in parts, each gzipped and in base64; their texts, one after another, are the file.
pub fn parts(run: &RunFile) -> Vec<String> {
    let lines = lines(run);
    let chunks: Vec<&[Line<'_>]> = lines.chunks(PART).collect();
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(chunks.len()).clamp(1, 8);
    let mut parts = vec![String::new(); chunks.len()];
    thread::scope(|scope| {
        let share = chunks.len().div_ceil(workers).max(1);
        for (from, to) in chunks.chunks(share).zip(parts.chunks_mut(share)) {
            scope.spawn(move || from.iter().zip(to).for_each(|(lines, part)| *part = packed(lines)));
        }
    });
    parts
}
