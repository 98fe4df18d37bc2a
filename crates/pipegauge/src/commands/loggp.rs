//! `pipegauge loggp`.

use anyhow::{Result, bail};
use measure::Pattern;
use measure::event::TimeKind;
use measure::pattern;
use model::{CurvePoint, LogGp, Patterns, Sender};
use record::RunFile;
use record::sides::{Repeat, separate, sides_of_one_run};
use report::compare::APART;
use report::table;

use super::files;
use crate::document::{LoggpDocument, LoggpOf};
use crate::exit::Exit;
use crate::flags::LoggpFlags;
use crate::out;

/// What was measured of one path.
#[derive(Default)]
struct Found<'a> {
    name: String,
    ping_pong: Option<Vec<CurvePoint>>,
    stream: Option<Vec<CurvePoint>>,
    sender: Option<Sender>,
    seed: u64,
    /// Where it was measured, by the part of LogGP that it tells.
    round_trips: Option<Repeat<'a>>,
    streams: Option<Repeat<'a>>,
}

/// Says the LogGP parameters of each path.
pub fn loggp(flags: &LoggpFlags, json: bool) -> Result<Exit> {
    let runs = flags.runs.iter().map(|file| files::read_curve(file)).collect::<Result<Vec<_>>>()?;
    let mut paths: Vec<Found<'_>> = Vec::new();
    for (file, run) in flags.runs.iter().zip(&runs) {
        if run.run.plan.pattern.facts().loggp.is_none() {
            bail!(
                "{}: {} identifies no LogGP parameter; {} do (pipegauge run ... --pattern stream)",
                file.display(),
                run.run.plan.pattern.name(),
                Pattern::those(|facts| facts.loggp.is_some())
            );
        }
        if run.run.plan.reverse {
            bail!(
                "{}: its far side sent, and o would be another side's than that of L; measure the stream without --reverse",
                file.display()
            );
        }
        if run.run.plan.offers() {
            bail!(
                "{}: its rate was given (--rate), so that g and G would be those of the flag; measure the stream without",
                file.display()
            );
        }
        add(run, &mut paths).map_err(|name| {
            anyhow::anyhow!("{name} was measured under {} twice; name each run once", run.run.plan.pattern.name())
        })?;
    }
    if let Some(name) = &flags.path {
        paths.retain(|p| p.name == *name);
    }
    if paths.is_empty() {
        bail!("no path of these runs was measured from one end to the other (memcpy has no ends)");
    }
    let found: Vec<LoggpOf> = paths.iter().map(of).collect();
    if json {
        out::json(&LoggpDocument::new(found))?;
    } else {
        let rows: Vec<(&str, &LogGp)> = found.iter().map(|f| (f.path.as_str(), &f.parameters)).collect();
        out::text(&table::loggp(&rows, out::prose()))?;
    }
    Ok(Exit::Ok)
}

/// Puts a run's paths to what is there; the name of one that is there already, if there is one.
fn add<'a>(run: &'a RunFile, paths: &mut Vec<Found<'a>>) -> Result<(), String> {
    for (i, path) in run.paths.iter().enumerate() {
        let (name, Some(first)) = (path.opened.name().to_owned(), path.points.first()) else { continue };
        // A copy has no ends; a round trip on a schedule is no half of anything.
        // Flows that share the path have the gaps of all, and under load what waits is the load.
        let alone = run.run.plan.alone(path.opened.path);
        if !(alone && matches!(first.time, TimeKind::HalfRoundTrip | TimeKind::OneWay)) {
            continue;
        }
        let at = paths.iter().position(|p| p.name == name).unwrap_or_else(|| {
            paths.push(Found { name: name.clone(), seed: run.run.plan.seed, ..Found::default() });
            paths.len() - 1
        });
        let found = &mut paths[at];
        let (place, at) = match run.run.plan.pattern.facts().loggp {
            Some(pattern::LogGpPart::Gap) => (&mut found.stream, &mut found.streams),
            _ => (&mut found.ping_pong, &mut found.round_trips),
        };
        *at = Some((run, i));
        if place.replace(run.curve(i)).is_some() {
            return Err(name);
        }
        found.sender = found.sender.take().or_else(|| run.sender(i));
    }
    Ok(())
}

fn of(found: &Found<'_>) -> LoggpOf {
    let patterns = Patterns {
        ping_pong: found.ping_pong.as_deref(),
        stream: found.stream.as_deref(),
        sender: found.sender.as_ref(),
    };
    let measured = [("ping-pong", found.ping_pong.is_some()), ("stream", found.stream.is_some())];
    let mut parameters = LogGp::of(patterns, found.seed);
    parameters.notes.extend(holds_for(found));
    LoggpOf {
        path: found.name.to_owned(),
        patterns: measured.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect(),
        parameters,
    }
}

/// For which states of the machine the figures hold, of each run as `show` says it; and that L joins runs, each of which met states of its own.
fn holds_for(found: &Found<'_>) -> Vec<String> {
    let of_rounds = |repeat: &Repeat<'_>| {
        let (run, at) = *repeat;
        let path = &run.paths[at];
        // What is modelled has no machine whose states a run meets.
        let said = table::rounds(run, path).filter(|_| !path.opened.capabilities.virtual_time)?;
        Some(format!("{}: {said}", run.run.plan.pattern.name()))
    };
    let measured = [found.round_trips, found.streams];
    let mut notes: Vec<String> = measured.iter().flatten().filter_map(of_rounds).collect();
    if let (Some(trips), Some(stream)) = (found.round_trips, found.streams)
        && separate(&[trips], &[stream])
        && !sides_of_one_run(trips.0, stream.0)
    {
        notes.push(format!(
            "L: it joins L + 2 o of one run with o of another, and {APART}: what it says holds for these two runs"
        ));
    }
    notes
}
