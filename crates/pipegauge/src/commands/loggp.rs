//! `pipegauge loggp`.

use anyhow::{Result, bail};
use measure::Pattern;
use measure::event::TimeKind;
use measure::pattern;
use model::{CurvePoint, LogGp, Patterns};
use record::RunFile;
use report::table;

use super::files;
use crate::document::{LoggpDocument, LoggpOf};
use crate::exit::Exit;
use crate::flags::LoggpFlags;
use crate::out;

/// What was measured of one path.
#[derive(Default)]
struct Found {
    name: String,
    ping_pong: Option<Vec<CurvePoint>>,
    stream: Option<Vec<CurvePoint>>,
    sender: Vec<(u32, f64)>,
    seed: u64,
}

/// Says the LogGP parameters of each path.
pub fn loggp(flags: &LoggpFlags, json: bool) -> Result<Exit> {
    let mut paths: Vec<Found> = Vec::new();
    for file in &flags.runs {
        let run = files::read_curve(file)?;
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
        add(&run, &mut paths).map_err(|name| {
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
        out::text(&report::text::folded(&table::loggp(&rows), out::prose()))?;
    }
    Ok(Exit::Ok)
}

/// Puts a run's paths to what is there; the name of one that is there already, if there is one.
fn add(run: &RunFile, paths: &mut Vec<Found>) -> Result<(), String> {
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
        let place = match run.run.plan.pattern.facts().loggp {
            Some(pattern::LogGpPart::Gap) => &mut found.stream,
            _ => &mut found.ping_pong,
        };
        if place.replace(run.curve(i)).is_some() {
            return Err(name);
        }
        found.sender.extend(run.senders(i));
    }
    Ok(())
}

fn of(found: &Found) -> LoggpOf {
    let patterns =
        Patterns { ping_pong: found.ping_pong.as_deref(), stream: found.stream.as_deref(), sender: &found.sender };
    let measured = [("ping-pong", found.ping_pong.is_some()), ("stream", found.stream.is_some())];
    LoggpOf {
        path: found.name.to_owned(),
        patterns: measured.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect(),
        parameters: LogGp::of(patterns, found.seed),
    }
}
