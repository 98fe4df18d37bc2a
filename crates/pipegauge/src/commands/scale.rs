//! `pipegauge scale`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use measure::event::TimeKind;
use model::scale::{Agreement, Scaled, Target, Unscaled, Wire};
use model::{CurvePoint, LatencyLine};
use record::RunFile;
use report::scaled::{self, Actual, ScaledPath};
use report::words::plain;

use super::{files, wires};
use crate::document::ScaleDocument;
use crate::exit::Exit;
use crate::flags::{ScaleFlags, WireFlags};
use crate::out;

/// A measured path.
struct Measured {
    /// Transport, and the file where one transport comes several times.
    name: String,
    transport: String,
    time: Option<TimeKind>,
    curve: Vec<CurvePoint>,
    /// The wire that it was measured over, where flags or the run know it.
    wire: Result<Option<Wire>, Unscaled>,
    seed: u64,
}

/// Says what paths would take elsewhere, and holds it against what they took there.
pub fn scale(flags: &ScaleFlags, json: bool) -> Result<Exit> {
    let read: Vec<PathBuf> = flags.runs.iter().chain(&flags.against).cloned().collect();
    files::not_an_input(flags.markdown.as_deref(), &read)?;
    if flags.to_rate.is_none() && flags.against.is_empty() && flags.cpu == 1.0 && flags.memory == 1.0 {
        bail!(
            "nothing changes: give another rate (--to-rate 513Mbit/s), a factor (--cpu, --memory) or a run (--against)"
        );
    }
    let mut paths = measured(&flags.runs, &flags.wire)?;
    if paths.is_empty() {
        bail!("the runs hold no path: nothing was measured");
    }
    // What is known of the wire there is what that run knows: the flags tell of the one here.
    let nothing = WireFlags::default();
    let mut there = measured(&flags.against, &nothing)?;
    if let Some(name) = &flags.path {
        let all: Vec<&str> = paths.iter().map(|p| p.transport.as_str()).collect();
        if !all.contains(&name.as_str()) {
            bail!("no run has a path '{name}'; they have: {}", all.join(", "));
        }
        paths.retain(|p| p.transport == *name);
        there.retain(|p| p.transport == *name);
    }
    let partners = partners(&paths, &there);
    if !there.is_empty() && partners.iter().all(Option::is_none) {
        let names = |of: &[Measured]| of.iter().map(|p| p.name.clone()).collect::<Vec<_>>().join(", ");
        bail!("the runs ({}) and those of --against ({}) have no path in common", names(&paths), names(&there));
    }
    let mut found = Vec::new();
    let mut missed = Vec::new();
    for (path, partner) in paths.iter().zip(&partners) {
        if !flags.against.is_empty() && partner.is_none() {
            missed.push(format!("{}: no run of --against has such a path", path.name));
        }
        match one(path, partner.map(|p| &there[p]), flags, &mut missed) {
            Ok(scaled) => found.push(scaled),
            Err(why) => missed.push(format!("{}: not scaled: {why}", path.name)),
        }
    }
    if found.is_empty() {
        bail!("{}", plain(&missed.join("\n")));
    }
    let exit = if missed.is_empty() { Exit::Ok } else { Exit::Short };
    if let Some(file) = &flags.markdown {
        files::write(file, scaled::markdown(&found).as_bytes())?;
    }
    if json {
        out::json(&ScaleDocument::new(found, missed, exit.code()))?;
    } else {
        let missed: String = missed.iter().map(|m| format!("{}\n", plain(m))).collect();
        out::text(&report::text::folded(&format!("{}{missed}", scaled::text(&found)), out::prose()))?;
    }
    Ok(exit)
}

/// All paths of run files, in their order.
fn measured(runs: &[PathBuf], wire: &WireFlags) -> Result<Vec<Measured>> {
    let mut all: Vec<(Measured, String)> = Vec::new();
    for file in runs {
        let run: RunFile = files::read(file)?;
        files::no_soak(file, &run)?;
        for (i, path) in run.paths.iter().enumerate() {
            let transport = path.opened.name().to_owned();
            let measured = Measured {
                name: transport.clone(),
                transport,
                time: path.points.first().map(|p| p.time),
                curve: run.curve(i),
                wire: wires::of(&run, i, wire),
                seed: run.run.plan.seed,
            };
            all.push((measured, stem(file)));
        }
    }
    let twice = |name: &str| all.iter().filter(|(p, _)| p.transport == name).count() > 1;
    let several: Vec<bool> = all.iter().map(|(p, _)| twice(&p.transport)).collect();
    let named = all.into_iter().zip(several).map(|((path, file), several)| {
        let name = if several { format!("{} ({file})", path.name) } else { path.name };
        Measured { name, ..path }
    });
    Ok(named.collect())
}

fn stem(file: &Path) -> String {
    let shown = file.display().to_string();
    shown.strip_suffix(".run.jsonl").unwrap_or(&shown).to_owned()
}

/// For each path the one of `there` that it is held against: of the same transport, in order, or the only one of each.
fn partners(paths: &[Measured], there: &[Measured]) -> Vec<Option<usize>> {
    if paths.len() == 1 && there.len() == 1 {
        return vec![Some(0)];
    }
    let mut free: Vec<usize> = (0..there.len()).collect();
    let mut take = |transport: &str| {
        let at = free.iter().position(|i| there[*i].transport == transport)?;
        Some(free.remove(at))
    };
    paths.iter().map(|p| take(&p.transport)).collect()
}

/// Scales a path; what goes without it is said in `missed`.
fn one(
    path: &Measured,
    there: Option<&Measured>,
    flags: &ScaleFlags,
    missed: &mut Vec<String>,
) -> Result<ScaledPath, String> {
    wires::sums_up(path.time)?;
    let nothing = || "nothing was measured on it".to_owned();
    let time = path.time.ok_or_else(nothing)?;
    let (target, notes) = target(path, time, there, flags)?;
    let (first, last) = path.curve.first().zip(path.curve.last()).map(|(a, b)| (a.size, b.size)).ok_or_else(nothing)?;
    let there = there.filter(|t| match (t.time, wires::sums_up(t.time)) {
        (t, Ok(())) if t == Some(time) => true,
        (_, why) => {
            let why = why.err().unwrap_or_else(|| "its times are of another kind".to_owned());
            missed.push(format!("{}: not held against {}: {why}", path.name, t.name));
            false
        }
    });
    let within = |size: &u64| (first..=last).contains(size);
    let mut sizes: Vec<u64> = there.map_or(&path.curve, |t| &t.curve).iter().map(|p| p.size).filter(within).collect();
    if sizes.is_empty() {
        missed.push(format!("{}: nothing was measured there at sizes from {first} to {last} bytes", path.name));
        sizes.push(last);
    }
    let mut scaled = Scaled::of(&path.curve, &target, &sizes, path.seed).map_err(|e| e.to_string())?;
    scaled.notes.extend(notes);
    let actual = there.and_then(|t| {
        let held = Agreement::of(&scaled, &t.curve)?;
        let left_out = t.curve.iter().filter(|p| !within(&p.size)).count();
        Some(Actual { name: t.name.clone(), line: LatencyLine::of(&t.curve, t.seed), held, left_out })
    });
    let largest = sizes.iter().copied().max().unwrap_or(last);
    Ok(ScaledPath { name: path.name.clone(), time, target, scaled, largest, actual })
}

/// What changes for a path, and what a reader must know of that.
fn target(
    path: &Measured,
    time: TimeKind,
    there: Option<&Measured>,
    flags: &ScaleFlags,
) -> Result<(Target, Vec<String>), String> {
    let mut target = Target { wires: None, cpu: flags.cpu, memory: flags.memory };
    if time == TimeKind::Copy {
        return Ok((target, vec!["a copy crosses no wire: all that a byte costs is memory's".to_owned()]));
    }
    let beyond = there.and_then(|t| t.wire.clone().ok().flatten());
    let Some(from) = path.wire.clone().map_err(|e| e.to_string())? else {
        if flags.to_rate.is_some() || beyond.is_some() {
            return Err("the rate of the wire that it was measured over is not known: say it with --rate".to_owned());
        }
        let note = "no rate is known (--rate): all that a byte costs is taken for memory's";
        return Ok((target, vec![note.to_owned()]));
    };
    let rate = flags.to_rate.or(beyond.map(|w| w.rate)).unwrap_or(from.rate);
    let to = wires::with(rate, &flags.wire, Some(beyond.unwrap_or(from))).map_err(|e| e.to_string())?;
    target.wires = Some((from, to));
    let other = beyond.filter(|w| (w.rate / rate - 1.0).abs() > 0.01);
    let note = |w: Wire| {
        format!("estimated at {}, and held against a run at {}", units::BitRate(rate), units::BitRate(w.rate))
    };
    Ok((target, other.map(note).into_iter().collect()))
}
