//! The run as the lines of a run file, for the page's download button. `pipegauge show` reads what it gives.

use measure::TrialReport;
use measure::event::{Event, PointEnded, Trial, Why};
use record::RunFile;
use serde_json::{Map, Value};

/// Fields of a trial's report that say nothing: readers fill them in (`#[serde(default)]`).
fn silent() -> Map<String, Value> {
    match serde_json::to_value(TrialReport::default()) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// A trial without its histogram and without fields that have their default value: a page would otherwise be many times
/// the size.
fn lean(trial: &Trial, silent: &Map<String, Value>) -> Value {
    let mut trial = trial.clone();
    trial.report.histogram.clear();
    let mut value = serde_json::to_value(Event::Trial(trial)).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.retain(|name, v| silent.get(name) != Some(v));
    }
    value
}

/// One JSON object a line: header, paths, blocks, every trial in the order of time, points, warnings, end. A point that had
/// not ended is written as stopped.
pub fn lines(run: &RunFile) -> String {
    let mut out = String::new();
    push(&Event::Run(run.run.clone()), &mut out);
    for path in &run.paths {
        push(&Event::Path(path.opened.clone()), &mut out);
    }
    for block in run.paths.iter().flat_map(|p| &p.blocks) {
        push(&Event::Block(block.clone()), &mut out);
    }
    let mut trials: Vec<&Trial> = run.paths.iter().flat_map(|p| &p.points).flat_map(|p| &p.trials).collect();
    trials.sort_by(|a, b| a.at.total_cmp(&b.at));
    let silent = silent();
    for trial in trials {
        push(&lean(trial, &silent), &mut out);
    }
    for path in &run.paths {
        for p in &path.points {
            let ended = PointEnded {
                path: path.opened.path,
                size: p.size,
                time: p.time,
                figures: p.figures,
                why: p.why.unwrap_or(Why::Stopped),
            };
            push(&Event::Point(ended), &mut out);
        }
    }
    for warning in &run.warnings {
        push(&Event::Warning(warning.clone()), &mut out);
    }
    if let Some(end) = &run.end {
        push(&Event::End(end.clone()), &mut out);
    }
    out
}

fn push(line: &impl serde::Serialize, out: &mut String) {
    // Plain structs of numbers and strings always serialise.
    if let Ok(json) = serde_json::to_string(line) {
        out.push_str(&json);
        out.push('\n');
    }
}
