//! `pipegauge ask`.

mod link;
mod reply;

use std::path::Path;

use anyhow::{Result, bail};
use measure::event::TimeKind;
use model::scale::{Unscaled, Wire};
use model::{CurvePoint, Estimate, Fits, Summary};
use record::RunFile;

use super::{files, wires};
use crate::config::question::{self, Question};
use crate::document::{Answered, AskDocument};
use crate::exit::Exit;
use crate::flags::{AskFlags, WireFlags};
use crate::out;

/// A path that can be asked.
pub struct Asked {
    /// Its name: the transport, and the file where there are several.
    pub name: String,
    /// Transport.
    pub transport: &'static str,
    /// Which time its times are, in words.
    pub time: &'static str,
    /// Which time, as a kind; none without a point.
    pub kind: Option<TimeKind>,
    /// Pattern.
    pub pattern: &'static str,
    /// The wire that it was measured over, where that is known.
    pub wire: Result<Option<Wire>, Unscaled>,
    /// Seed of what is drawn again.
    pub seed: u64,
    /// The curve.
    pub curve: Vec<CurvePoint>,
    /// Its summary.
    pub summary: Option<Summary>,
    /// Fitted models.
    pub fits: Option<Fits>,
    /// (size, seconds of the curve's kind, count) of single iterations, where they were timed.
    pub singles: Vec<(u64, Vec<(f64, u64)>)>,
}

/// Answers questions from run files.
pub fn ask(flags: &AskFlags, json: bool) -> Result<Exit> {
    let mut questions = question::of_flags(flags)?;
    let mut runs = Vec::new();
    for arg in &flags.args {
        if Path::new(arg).exists() {
            runs.push((arg.as_str(), files::read_blocks(Path::new(arg))?));
        } else if arg.ends_with(".jsonl") {
            // A file that is gone is no question.
            files::read_blocks(Path::new(arg))?;
        } else {
            questions.push(question::of_words(arg)?);
        }
    }
    if runs.is_empty() {
        bail!("no run file is named: pipegauge ask RUN... 'when does 64KiB arrive?'");
    }
    if questions.is_empty() {
        bail!("nothing is asked. This can be, in words or as flags:\n{}", question::known());
    }
    if let Some(flag) = flags.wire.given().filter(|_| !questions.iter().any(|q| matches!(q, Question::Link(_)))) {
        bail!("{flag} is of the wire that was measured over, and only --link asks about wires");
    }
    let several = runs.len() > 1;
    let mut paths: Vec<Asked> = runs.iter().flat_map(|(file, run)| asked(file, run, &flags.wire, several)).collect();
    if let Some(name) = &flags.path {
        paths.retain(|p| p.transport == name);
        if paths.is_empty() {
            bail!("no run has a path '{name}'");
        }
    }
    let answers: Vec<Answered> = questions.iter().flat_map(|q| replies(q, &paths)).collect();
    let exit = if answers.iter().any(|a| a.answered) { Exit::Ok } else { Exit::CouldNot };
    if json {
        out::json(&AskDocument::new(answers))?;
    } else {
        let text: Vec<String> = answers.iter().map(said).collect();
        out::text(&report::words::plain(&text.join("\n")))?;
    }
    Ok(exit)
}

fn replies(question: &Question, paths: &[Asked]) -> Vec<Answered> {
    match question {
        Question::Fastest(size) => vec![reply::fastest(paths, *size)],
        Question::Cost(x, y) => vec![reply::cost(paths, x, y)],
        Question::Arrival(size) => paths.iter().map(|p| reply::arrival(p, *size)).collect(),
        Question::Most => paths.iter().map(reply::most).collect(),
        Question::Size => paths.iter().map(reply::size).collect(),
        Question::Control => vec![reply::control(paths)],
        Question::Frames(rate, size) => paths.iter().map(|p| reply::frames(p, *rate, *size)).collect(),
        Question::Link(rate) => paths.iter().map(|p| link::link(p, *rate)).collect(),
    }
}

/// What is printed of one answer.
fn said(a: &Answered) -> String {
    let rests = match &a.rests_on[..] {
        [] => String::new(),
        sizes => {
            let names: Vec<String> = sizes.iter().map(|s| units::Bytes(*s).to_string()).collect();
            format!("\n  rests on: {}", names.join(", "))
        }
    };
    format!("{}{rests}\n  to sharpen it: {}", a.text, a.sharpen)
}

fn asked(file: &str, run: &RunFile, wire: &WireFlags, several: bool) -> Vec<Asked> {
    let stem = file.strip_suffix(".run.jsonl").unwrap_or(file);
    run.paths
        .iter()
        .enumerate()
        .map(|(i, path)| {
            let transport = path.opened.transport.name();
            let record::Analysis { curve, summary, fits } = run.analysis(i);
            let singles = path
                .points
                .iter()
                .map(|p| (p.size, measure::figures::singles(&run.run.plan, path.opened.transport, &p.trials)));
            Asked {
                name: if several { format!("{transport} ({stem})") } else { transport.to_owned() },
                transport,
                time: path.points.first().map_or("", |p| report::words::time_label(p.time)),
                kind: path.points.first().map(|p| p.time),
                pattern: run.run.plan.pattern.name(),
                wire: wires::of(run, i, wire),
                seed: run.run.plan.seed,
                curve,
                summary,
                fits,
                singles: singles.filter(|(_, s)| !s.is_empty()).collect(),
            }
        })
        .collect()
}

/// A figure with its interval, in words: "9.23 us [8.9, 9.6]".
pub fn figure(e: Estimate, kind: units::Kind) -> String {
    units::with_interval(e.value, e.low, e.high, kind)
}
