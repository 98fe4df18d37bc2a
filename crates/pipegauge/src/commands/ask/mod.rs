//! `pipegauge ask`: reads questions (`config::question`), answers them and says how each was read.
//!
//! Path by path: `times`, `deadlines`, `rows`, `percentiles`, `costs`, `rates`, `counts`, `streams`, `sizes`, `link`, `load`, `cpu`, `lost`, `runs`. Path
//! against path: `paths`, `pairs`, `multiple`, `overtaken`. Beside them `schedule` for what runs with `--rate` tell, `kept` for what is kept up, `seen`
//! and `rounds` for what rounds tell without an interval, and `wanted` for the unit that is asked for.

mod asked;
mod costs;
mod counts;
mod cpu;
mod deadlines;
mod kept;
mod link;
mod load;
mod lost;
mod multiple;
mod overtaken;
mod pairs;
mod paths;
mod percentiles;
mod rates;
mod reply;
mod rounds;
mod rows;
mod runs;
mod schedule;
mod seen;
mod sizes;
mod streams;
mod times;
mod wanted;

use std::path::Path;

use anyhow::{Result, bail};

use self::asked::{Asked, figure};
use super::{files, wires};
use crate::config::question::{self, Measured, Question, Reading, Unit};
use crate::document::{Answered, AskDocument};
use crate::exit::Exit;
use crate::flags::AskFlags;
use crate::out;

/// Answers questions from run files.
pub fn ask(flags: &AskFlags, json: bool) -> Result<Exit> {
    let (mut runs, mut texts) = (Vec::new(), Vec::new());
    for arg in &flags.args {
        // No file has so long a name, and a question may.
        if arg.len() < 4096 && Path::new(arg).exists() {
            runs.push((arg.as_str(), files::read_curve(Path::new(arg))?));
        } else if arg.ends_with(".jsonl") && !arg.contains(' ') {
            // A file that is gone is no question.
            files::read_curve(Path::new(arg))?;
        } else {
            texts.push(arg.as_str());
        }
    }
    if runs.is_empty() {
        bail!("no run file is named: pipegauge ask RUN... 'when does 64KiB arrive?'");
    }
    let several = runs.len() > 1;
    let mut all: Vec<Asked<'_>> =
        runs.iter().flat_map(|(file, run)| asked::paths(file, run, &flags.wire, several)).collect();
    let had: Vec<String> = all.iter().map(|p| p.name.clone()).collect();
    if let Some(name) = &flags.path {
        all.retain(|p| p.label == name);
        if all.is_empty() {
            bail!("no run has a path '{name}' (--path); the runs have: {}", had.join(", "));
        }
    }
    let mut measured = Measured::default();
    for (file, _) in &runs {
        let of = || all.iter().filter(|p| p.file == *file);
        measured.add(file, of().map(|p| (p.label, p.transport)));
        of().for_each(|p| measured.flows(p.label, p.flows(), p.topology()));
        if of().any(Asked::both_ways) {
            measured.both_ways();
        }
    }
    let mut readings = question::of_flags(flags, &measured)?;
    for text in texts {
        readings.push(question::of_words(text, &measured)?);
    }
    if readings.is_empty() {
        bail!("nothing is asked. This can be, in words or as flags:\n{}", question::known());
    }
    let questions = || readings.iter().flat_map(|r| &r.questions);
    if let Some(flag) = flags.wire.given().filter(|_| !questions().any(|q| matches!(q, Question::Link { .. }))) {
        bail!("{flag} is of the wire that was measured over, and only --link asks about wires");
    }
    let (mut answers, mut text) = (Vec::new(), Vec::new());
    for reading in &readings {
        for n in 0..reading.questions.len() {
            let says = reading.says(n, &measured);
            if reading.words {
                text.push(format!("read as: {says}"));
                text.extend(reading.notes.iter().filter(|_| n == 0).map(|note| format!("  ({note})")));
            }
            for mut answer in replies(reading, n, &all) {
                if let Some(unit) = &reading.in_unit {
                    wanted::tell(&mut answer, unit);
                }
                if reading.sustained && !(reading.questions[n].of_time_or_flow() || reading.questions[n].of_rates()) {
                    answer.text.push_str("; this is of short trials, and not of what is kept up");
                }
                answer.read_as = reading.notes.iter().fold(says.clone(), |all, note| format!("{all} ({note})"));
                text.push(said(&answer));
                answers.push(answer);
            }
        }
    }
    let exit = if answers.iter().any(|a| a.answered) { Exit::Ok } else { Exit::CouldNot };
    if json {
        out::json(&AskDocument::new(answers))?;
    } else {
        out::text(&report::text::folded(&report::words::plain(&text.join("\n")), out::prose()))?;
    }
    Ok(exit)
}

/// The answers to one question of a reading.
fn replies(reading: &Reading, n: usize, all: &[Asked<'_>]) -> Vec<Answered> {
    let named = |p: &Asked<'_>| reading.over.is_empty() || reading.over.iter().any(|n| p.is(n));
    let meant = |p: &&Asked<'_>| named(p) && !reading.but.iter().any(|n| p.is(n));
    let sustained = reading.sustained;
    let of: Vec<&Asked<'_>> = all.iter().filter(meant).collect();
    let each = |answer: &dyn Fn(&Asked<'_>) -> Answered| of.iter().map(|p| answer(p)).collect();
    // Bits over a latency are no throughput where a schedule says when messages are sent.
    let moved = |answer: &dyn Fn(&Asked<'_>) -> Answered| {
        each(&|p| if p.scheduled() { schedule::no_throughput(p) } else { answer(p) })
    };
    let counted = |size: Option<u64>, rate: Option<f64>, answer: &dyn Fn(&Asked<'_>) -> Answered| {
        each(&|p| if p.scheduled() { schedule::messages(p, size, rate) } else { answer(p) })
    };
    let flows = |size: Option<u64>, rate: Option<f64>, answer: &dyn Fn(&Asked<'_>) -> Answered| {
        each(&|p| if p.scheduled() { schedule::bits(p, size, rate) } else { answer(p) })
    };
    match &reading.questions[n] {
        Question::Fastest(size) => vec![paths::fastest(&of, *size)],
        Question::Strongest => vec![paths::strongest(&of)],
        Question::Control => vec![paths::control(&of)],
        Question::Cost { x, y, size, factor, multiple } => pairs::cost(all, x, y, *size, (*factor, *multiple)),
        Question::Overtaken { x, y } => overtaken::overtaken(all, x, y),
        Question::Nearly { slow, fast, times } => overtaken::nearly(all, slow, fast, *times),
        Question::RunToRun(size) => each(&|p| runs::apart(p, *size)),
        Question::Lost { rate, size } => lost::lost(&of, *rate, *size),
        Question::Lossless(size) => lost::lossless(&of, *size),
        Question::Cheapest(size) => vec![cpu::cheapest(&of, *size)],
        Question::Arrival { size, round_trip } => each(&|p| times::arrival(p, *size, *round_trip, sustained)),
        Question::Series { count, size, round_trip } => {
            each(&|p| times::series(p, *count, *size, *round_trip, sustained))
        }
        Question::Latency { round_trip } => each(&|p| times::latency(p, *round_trip, sustained)),
        Question::Percentile { thousandths, size, round_trip } => {
            each(&|p| percentiles::percentile(p, *thousandths, *size, *round_trip))
        }
        Question::Minimum { size, round_trip } => each(&|p| rows::minimum(p, *size, *round_trip)),
        Question::Mean { size, round_trip } => each(&|p| rows::mean(p, *size, *round_trip)),
        Question::Deadline { size, seconds, round_trip, longer } => {
            each(&|p| deadlines::deadline(p, *size, (*seconds, *longer), *round_trip, sustained))
        }
        Question::Largest(seconds) => each(&|p| sizes::largest(p, *seconds)),
        Question::Most => flows(None, None, &|p| rates::most(p, sustained)),
        Question::Throughput(size) => flows(Some(*size), None, &|p| rates::throughput(p, *size, sustained)),
        Question::PartOf(size) => moved(&|p| rates::part_of_the_most(p, *size)),
        Question::Carries { rate, size, less: false } => {
            flows(*size, Some(*rate), &|p| rates::carries(p, *rate, *size, false))
        }
        Question::Carries { rate, size, less: true } => moved(&|p| rates::carries(p, *rate, *size, true)),
        Question::Streams { rate, size } => moved(&|p| streams::streams(p, *rate, *size)),
        Question::Size => moved(&sizes::to_use),
        Question::Saturation => moved(&sizes::saturation),
        Question::Share(share) => moved(&|p| sizes::share(p, *share)),
        Question::HalfPower => moved(&sizes::half_power),
        Question::PerByte(bytes) => each(&|p| costs::per_byte(p, *bytes)),
        Question::StartUp => each(&costs::start_up),
        Question::UnderLoad(size) => load::under_load(&of, *size),
        Question::Cpu(size) => each(&|p| cpu::cpu(p, *size)),
        Question::Frames { rate, size, what } => {
            counted(Some(*size), Some(*rate), &|p| rates::frames(p, *rate, *size, *what))
        }
        Question::PerSecond { what: Unit::Connections, size, .. } => {
            let anew = |p: &Asked<'_>| p.scheduled() && p.anew();
            each(&|p| if anew(p) { schedule::messages(p, *size, None) } else { counts::connections(p, *size) })
        }
        Question::PerSecond { what, size, span } => {
            counted(*size, None, &|p| counts::per_second(p, *what, *size, *span))
        }
        Question::Link { rate, size } => each(&|p| link::link(p, *rate, *size)),
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
