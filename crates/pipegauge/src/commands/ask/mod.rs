//! `pipegauge ask`: reads questions (`config::question`), answers them and says how each was read.
//!
//! `asked` has the paths that are asked, and `reply` what every answer has. Path by path: `times`, `deadlines`, `rows`, `percentiles`, `costs`, `rates`, `counts`, `streams`, `sizes`, `link`, `means`, `load`, `cpu`, `lost`, `runs`, `flow_ends`. Path
//! against path: `two_paths` (by what `compare` says of the two), `paths`, `pairs`, `percentile_pairs`, `multiple`, `overtaken`. Size against size: `two_sizes`. Beside them `schedule` for what runs with `--rate` tell,
//! `over_rates` for those with several rates, `kept` for what is kept up, `below` and `soaked` for what a soak does, `rounds` for what rounds tell without an interval, `refused` for what is not read, `wanted` for
//! the unit that is asked for, `beside` for rates beside a row's median, `offering` for commands that offer a rate, and `surest` for the size that answers where the most of all is not resolved.

mod asked;
mod below;
mod beside;
mod costs;
mod counts;
mod cpu;
mod deadlines;
mod flow_ends;
mod kept;
mod link;
mod load;
mod lost;
mod means;
mod multiple;
mod offering;
mod over_rates;
mod overtaken;
mod pairs;
mod paths;
mod percentile_pairs;
mod percentiles;
mod rates;
mod refused;
mod reply;
mod rounds;
mod rows;
mod runs;
mod schedule;
mod sizes;
mod soaked;
mod streams;
mod surest;
mod times;
pub(super) mod two_paths;
mod two_sizes;
mod wanted;

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use measure::event::TimeKind;
use record::Analysis;
use transport::registry;

use self::asked::{Asked, figure};
use super::{files, wires};
use crate::config::question::{self, Measured, Question, Reading, Unit};
use crate::document::{Answered, AskDocument};
use crate::exit::{self, Documents, Exit};
use crate::flags::AskFlags;
use crate::out;

/// Answers questions from run files.
pub fn ask(flags: &AskFlags, json: bool) -> Result<Exit> {
    let (mut runs, mut texts) = (Vec::new(), Vec::new());
    for arg in &flags.args {
        // No file has so long a name, and a question may.
        if arg.len() < 4096 && Path::new(arg).exists() {
            runs.push((arg.as_str(), files::read_messages(Path::new(arg))?));
        } else if arg.ends_with(".jsonl") && !arg.contains(' ') {
            // A file that is gone is no question.
            files::read_messages(Path::new(arg))?;
        } else {
            texts.push(arg.as_str());
        }
    }
    if runs.is_empty() {
        bail!(
            "no run file is named: pipegauge ask RUN... QUESTION, as in pipegauge ask link.run.jsonl 'when does 64KiB arrive?' (pipegauge run \
             writes such a file; pipegauge ask --help lists what can be asked)"
        );
    }
    let several = runs.len() > 1;
    // Beside other runs a soak is held against them, which it can't be.
    for (file, run) in runs.iter().filter(|_| several) {
        files::no_soak(Path::new(file), run)?;
    }
    let found: Vec<_> = runs.iter().map(|(file, run)| (*file, Analysis::of(run))).collect();
    let mut all: Vec<Asked<'_>> =
        found.iter().flat_map(|(file, found)| asked::paths(file, found, &flags.wire, several)).collect();
    // What is offered names a module's options as it does. One that is not here, or that can't be used, is no reason to answer nothing.
    all.iter().for_each(|p| drop(registry::named(p.transport)));
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
        of().for_each(|p| measured.typed(p.label, p.typed_idle()));
        of().for_each(|p| measured.flows(p.label, p.flows(), p.topology()));
        of().next().into_iter().for_each(|p| measured.pattern(p.pattern));
        if of().any(|p| p.both_ways() || p.kind == Some(TimeKind::Exchange)) {
            measured.both_ways();
        }
        of().filter(|p| !p.idle()).for_each(|p| measured.loaded(p.label));
        of().filter(|p| p.scheduled()).for_each(|p| measured.offered(p.label, p.each_second(), p.rate()));
    }
    if all.iter().any(|p| all.iter().any(|q| p.in_turns(q))) {
        measured.sides();
    }
    // The smallest size that each path has is told of where none is named.
    measured.smallest = all.iter().filter_map(|p| p.curve().iter().map(|c| c.size).min()).max();
    let mut readings = question::of_flags(flags, &measured)?;
    // One question that can't be read leaves the others their answers.
    let mut unread = Vec::new();
    for text in texts {
        match question::of_words(text, &measured) {
            Ok(reading) => readings.push(reading),
            Err(why) => unread.push(why),
        }
    }
    if let (true, [_, ..]) = (readings.is_empty(), &unread[..]) {
        bail!("{}", refusal(&unread));
    }
    if readings.is_empty() {
        bail!("this can be asked, in words or as flags:\n{}\nand nothing is asked", question::known().trim_end());
    }
    readings.iter_mut().for_each(|reading| {
        let trips = reading.trips.then(|| in_trips(reading, &all)).flatten();
        reading.notes.extend(passed_over(reading, &all).into_iter().chain(trips));
    });
    if all.iter().any(|p| p.soaks()) {
        readings.iter_mut().for_each(|reading| reading.notes.push(soaked::NOTE.to_owned()));
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
                if let Some(unit) = &reading.in_size {
                    wanted::tell_size(&mut answer, unit);
                }
                if reading.spacing {
                    wanted::tell_spacing(&mut answer);
                }
                if let Some(unit) = reading.in_time {
                    wanted::tell_time(&mut answer, unit);
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
    let whole = unread.is_empty() && answers.iter().any(|a| a.answered);
    answers.extend(unread.iter().map(|why| reply::nobody(format!("not read: {}", exit::sentence(why)), String::new())));
    if json {
        out::json(&AskDocument::new(answers))?;
    } else {
        out::text(&report::text::folded(&report::words::plain(&text.join("\n")), out::prose()))?;
        if !unread.is_empty() {
            exit::report(&anyhow!(refusal(&unread)), Documents::None);
        }
    }
    Ok(if whole { Exit::Ok } else { Exit::CouldNot })
}

/// Why questions are not read.
fn refusal(unread: &[anyhow::Error]) -> String {
    refused::text(&unread.iter().map(exit::sentence).collect::<Vec<_>>(), question::known())
}

/// That a transport's name means the path that is called so, where others of that transport were measured.
fn passed_over(reading: &Reading, all: &[Asked<'_>]) -> Option<String> {
    let named = reading.questions.iter().flat_map(|q| match q {
        Question::Cost { x, y, .. }
        | Question::Overtaken { x, y }
        | Question::PercentileHeld { x, y, .. }
        | Question::Nearly { slow: x, fast: y, .. } => vec![x, y],
        Question::UnderLoad(_) | Question::Lost { .. } | Question::Lossless(_) => Vec::new(),
        _ => reading.over.iter().collect(),
    });
    let mut others: Vec<&str> = Vec::new();
    for name in named {
        let of = all.iter().filter(|p| p.is(name) && !p.meant(name, all)).map(|p| p.label);
        others.extend(of.filter(|label| !reading.over.iter().any(|n| n.transport.as_deref() == Some(*label))));
    }
    others.sort_unstable();
    others.dedup();
    (!others.is_empty()).then(|| format!("asked by their own names: {}", others.join(", ")))
}

/// That round trips are asked about and halves of them told, where a question has no form of its own for them.
fn in_trips(reading: &Reading, all: &[Asked<'_>]) -> Option<String> {
    let halves = all.iter().any(|p| p.kind == Some(TimeKind::HalfRoundTrip));
    let cpu = reading.questions.iter().any(|q| matches!(q, Question::Cpu(_) | Question::Cheapest(_)));
    match () {
        () if !halves => None,
        () if cpu => Some("told of one transfer: a request with its answer costs two".to_owned()),
        () => Some(
            "told of half a round trip (RTT/2): a whole one takes twice as long, and factors are the same".to_owned(),
        ),
    }
}

/// The answers to one question of a reading.
fn replies(reading: &Reading, n: usize, all: &[Asked<'_>]) -> Vec<Answered> {
    let named = |p: &Asked<'_>| reading.over.is_empty() || reading.over.iter().any(|n| p.meant(n, all));
    let meant = |p: &&Asked<'_>| named(p) && !reading.but.iter().any(|n| p.is(n));
    let sustained = reading.sustained;
    // "How many GB in a day" is of what is kept up.
    let lasts = !sustained && reading.in_unit.as_ref().is_some_and(|unit| unit.span > kept::LASTS);
    let of: Vec<&Asked<'_>> = all.iter().filter(meant).collect();
    let each = |answer: &dyn Fn(&Asked<'_>) -> Answered| of.iter().map(|p| answer(p)).collect();
    if let Some(p) = of.first().filter(|p| !p.sized())
        && reading.questions[n].is_of_bytes()
    {
        let why = format!("a {} carries no bytes: its time is all that is measured", p.pattern);
        return each(&|p| reply::cannot(p, why.clone(), &[]));
    }
    let soaked = |p: &&Asked<'_>| soaked::refused(p, &reading.questions[n]);
    if of.iter().any(|p| soaked(p).is_some()) {
        return of.iter().filter_map(soaked).collect();
    }
    // Bits over a latency are no throughput where a schedule says when messages are sent; that is said of all rates at once.
    let moved = |answer: &dyn Fn(&Asked<'_>) -> Answered| {
        let one = |p: &&Asked<'_>| match (p.scheduled(), over_rates::first(p, &of)) {
            (false, _) => Some(answer(p)),
            (true, Some(false)) => None,
            (true, Some(true)) => Some(over_rates::unrated(p, schedule::no_throughput(p))),
            (true, None) => Some(schedule::no_throughput(p)),
        };
        of.iter().filter_map(one).collect()
    };
    // Paths that differ in the rate that is offered are one path, of which each rate tells.
    let rated = |size: Option<u64>, bits: Option<(f64, bool)>, answer: &dyn Fn(&Asked<'_>) -> Answered| {
        let one = |p: &&Asked<'_>| over_rates::told(p, &of, size, bits).unwrap_or_else(|| vec![answer(p)]);
        of.iter().flat_map(one).collect()
    };
    let counted = |size: Option<u64>, rate: Option<f64>, answer: &dyn Fn(&Asked<'_>) -> Answered| {
        let bits = rate.zip(size).map(|(rate, size)| (rate * size as f64 * 8.0, false));
        rated(size, bits, &|p| if p.scheduled() { schedule::messages(p, size, rate) } else { answer(p) })
    };
    let flows = |size: Option<u64>, rate: Option<f64>, answer: &dyn Fn(&Asked<'_>) -> Answered| {
        rated(size, rate.map(|rate| (rate, false)), &|p| {
            if p.scheduled() { schedule::bits(p, size, rate) } else { answer(p) }
        })
    };
    match &reading.questions[n] {
        Question::Fastest(size) => vec![paths::fastest(&of, *size, reading.ranked.as_ref())],
        Question::Strongest => vec![paths::strongest(&of, reading.ranked.as_ref())],
        Question::StrongestAt(size) => vec![paths::strongest_at(&of, *size, reading.ranked.as_ref())],
        Question::Control => vec![paths::control(&of)],
        Question::Cost { x, y, size, flow: true, multiple, .. } => pairs::flow(all, (x, y), *size, *multiple),
        Question::Cost { x, y, size, factor, multiple, .. } => pairs::cost(all, x, y, *size, (*factor, *multiple)),
        Question::PercentileHeld { thousandths, x, y, size, round_trip, longer } => {
            pairs::of(all, x, y, |a, b| percentile_pairs::held(a, b, (*thousandths, *longer), *size, *round_trip))
        }
        Question::OfFlows { slowest, size } => flow_ends::told(&of, *slowest, *size),
        Question::Overtaken { x, y } => overtaken::overtaken(all, x, y),
        Question::Nearly { slow, fast, times } => overtaken::nearly(all, slow, fast, *times),
        Question::Sizes { x, y, flow, multiple } => each(&|p| two_sizes::against(p, (*x, *y), *flow, *multiple)),
        Question::RunToRun(size) => each(&|p| runs::apart(p, *size)),
        Question::Lost { rate, size } => lost::lost(&of, *rate, *size),
        Question::Lossless(size) => lost::lossless(&of, *size),
        Question::Safest(size) => vec![lost::safest(&of, *size)],
        Question::CpuASecond { rate, size } => each(&|p| cpu::a_second(p, *rate, *size)),
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
        Question::PartWithin { size, seconds, round_trip, longer } => {
            each(&|p| percentiles::part_within(p, *size, (*seconds, *longer), *round_trip))
        }
        Question::PercentileWithin { thousandths, size, seconds, round_trip, longer } => {
            each(&|p| percentiles::within(p, *thousandths, *size, (*seconds, *longer), *round_trip))
        }
        Question::MeanWithin { size, seconds, round_trip, longer } => {
            each(&|p| means::within(p, *size, (*seconds, *longer), *round_trip))
        }
        Question::Largest { seconds, round_trip } => {
            each(&|p| sizes::largest(p, *seconds, *round_trip, reading.in_size.as_ref()))
        }
        Question::LargestAt { rate, what } => each(&|p| sizes::largest_at(p, *rate, *what)),
        Question::Longer { seconds, round_trip } => each(&|p| sizes::longer(p, *seconds, *round_trip)),
        Question::Reaches(rate) => moved(&|p| sizes::reaches(p, *rate)),
        Question::PartOfRate { rate, size } => moved(&|p| rates::part_of_rate(p, *rate, *size)),
        Question::StartPart(size) => each(&|p| costs::start_part(p, *size)),
        Question::Offered => {
            let one = |p: &&Asked<'_>| over_rates::offers(p, &of).unwrap_or_else(|| vec![schedule::rate(p)]);
            of.iter().flat_map(one).collect()
        }
        Question::Most if lasts => flows(None, None, &|p| rates::for_long(p, None)),
        Question::Throughput(size) if lasts => flows(Some(*size), None, &|p| rates::for_long(p, Some(*size))),
        Question::Most => flows(None, None, &|p| rates::most(p, sustained)),
        Question::Throughput(size) => flows(Some(*size), None, &|p| rates::throughput(p, *size, sustained)),
        Question::PartOf(size) => moved(&|p| rates::part_of_the_most(p, *size)),
        Question::Carries { rate, size, less: false } => {
            flows(*size, Some(*rate), &|p| rates::carries(p, *rate, *size, (false, sustained)))
        }
        Question::Carries { rate, size, less: true } => rated(*size, Some((*rate, true)), &|p| match p.scheduled() {
            true => schedule::no_throughput(p),
            false => rates::carries(p, *rate, *size, (true, sustained)),
        }),
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
