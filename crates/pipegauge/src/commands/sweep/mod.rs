//! `pipegauge sweep`: every combination of settings in a run of its own, in random order in rounds; what each setting does, and which
//! to take.

mod apart;
mod elsewhere;
mod figures;
mod measure;
mod store;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};
use report::sweep::Sweep;
use units::Seconds;

use super::files;
use super::system::{self, System};
use crate::config::sweep::{SweepPlan, steering};
use crate::config::system::{Change, would};
use crate::config::{RunConfig, names};
use crate::document::SweepDocument;
use crate::exit::{Exit, no_json};
use crate::flags::SweepFlags;
use crate::out;
use crate::signals::Stop;
use store::Store;

/// Measures what was asked for, or what is missing of it, and shows what the folder then has.
pub fn sweep(flags: &SweepFlags, json: bool) -> Result<Exit> {
    if let Some(folder) = &flags.show {
        let (store, plan) = Store::open(folder)?;
        return shown(flags, &store, &plan, &[], false, json);
    }
    // What an earlier one left would be taken for what was there before this one.
    told(&system::left());
    let (store, plan) = match &flags.resume {
        Some(folder) => {
            let (store, plan) = Store::open(folder)?;
            if let Some(what) = steering::by_flag(&plan).filter(|_| !flags.trust) {
                return Err(strangers(folder, &what));
            }
            (store.lock()?, plan)
        }
        None => {
            let plan = SweepPlan::resolve(flags)?;
            (Store::nowhere(flags.output.clone().unwrap_or_else(|| names::sweep(SystemTime::now()))), plan)
        }
    };
    let may = |cell: &RunConfig| match (&flags.resume, steering::by_run(&cell.plan)) {
        (Some(folder), Some(what)) if !flags.trust => Err(strangers(folder, &what)),
        _ => Ok(()),
    };
    let (cells, refused) = measure::cells(&plan, &store, may)?;
    let changes = system::look(&plan)?;
    if flags.dry_run {
        no_json(json, "sweep --dry-run")?;
        return planned(&plan, &cells, &refused, &changes);
    }
    consented(&changes, flags.change_system)?;
    system::may(&changes)?;
    let asked = Stop::listen()?;
    let stop = asked.flag();
    let mut system = match &changes[..] {
        [] => None,
        changes => {
            // A second signal would end this process before everything is put back.
            asked.hold()?;
            Some(System::begin(changes)?)
        }
    };
    // Only now, so that a sweep that can't be measured leaves no folder.
    let store = if flags.resume.is_some() { store } else { store.create(&plan)? };
    let measured = measure::all(&plan, &store, &cells, flags.quiet, &stop, system.as_mut());
    let as_it_was = system.is_none_or(System::end);
    let failed = measured?;
    let missing: Vec<(String, String)> = refused.into_iter().chain(failed).collect();
    let stopped = stop.load(Ordering::Relaxed);
    if stopped {
        out::tell(&format!(
            "pipegauge: interrupted; to go on: pipegauge sweep --resume {}",
            report::words::command(&[store.folder().display().to_string()])
        ));
    }
    let exit = shown(flags, &store, &plan, &missing, stopped, json)?;
    Ok(if as_it_was { exit } else { Exit::Short })
}

/// What only `--trust` lets the plan of a folder do.
fn strangers(folder: &Path, what: &str) -> anyhow::Error {
    let (folder, what) = (folder.display(), report::words::plain(what));
    anyhow!(
        "{folder}: its plan names {what}, and a folder may be a stranger's: look at its sweep.json, and add --trust"
    )
}

/// Says what killed sweeps left, and what became of it.
fn told(left: &[host::doctor::Finding]) {
    for finding in left {
        let remedy = finding.remedy.as_ref().map_or(String::new(), |remedy| format!(" -> {remedy}"));
        out::tell_prose(&format!("pipegauge: {}{remedy}", finding.found));
    }
}

/// Whether whoever typed this wants this system changed.
fn consented(changes: &[Change], consent: bool) -> Result<()> {
    match (changes.is_empty(), consent) {
        (true, true) => bail!("--change-system: no axis of this sweep is a setting of this system; leave it out"),
        (false, false) => bail!(
            "this sweep changes this system: {}. Everything is put back at the end. If that is what you want, add --change-system; to change nothing \
             here, measure between hosts of a laboratory (--lab --over mtu=...)",
            would(changes).join("; ")
        ),
        _ => Ok(()),
    }
}

/// What would be measured, and what would be changed for it.
fn planned(
    plan: &SweepPlan,
    cells: &[crate::config::sweep::Cell],
    refused: &[(String, String)],
    changes: &[Change],
) -> Result<Exit> {
    let time = cells.len() as f64 * f64::from(plan.rounds) * plan.budget;
    let mut text = format!(
        "{} in {} of {} each: at least {}\n",
        units::counted(cells.len() as u64, "cell"),
        units::counted(plan.rounds.into(), "round"),
        Seconds(plan.budget),
        Seconds(time)
    );
    cells.iter().for_each(|cell| text.push_str(&format!("  {}\n", cell.name())));
    if !changes.is_empty() {
        let lines: String = would(changes).iter().map(|line| format!("  {line}\n")).collect();
        text.push_str(&format!("\nWould be changed on this system (with --change-system), and put back:\n{lines}"));
    }
    text.push_str(&left_out("Can't be measured", refused));
    out::text(&report::words::plain(&text))?;
    // As the sweep itself would end.
    Ok(if refused.is_empty() { Exit::Ok } else { Exit::Short })
}

fn left_out(title: &str, missing: &[(String, String)]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let lines: String = missing.iter().map(|(cell, why)| format!("  {cell}: {why}\n")).collect();
    format!("\n{title}:\n{lines}")
}

/// Shows what the folder has, draws it, and says how it ended.
fn shown(
    flags: &SweepFlags,
    store: &Store,
    plan: &SweepPlan,
    missing: &[(String, String)],
    stopped: bool,
    json: bool,
) -> Result<Exit> {
    let sweep = figures::read(plan, store)?;
    if sweep.is_empty() {
        let why = missing.first().map_or(String::new(), |(cell, why)| format!(" ({cell}: {why})"));
        bail!("no cell of {} was measured{why}", store.folder().display());
    }
    let map = drawn(flags, store, &sweep)?;
    let page = store.folder().join("sweep.html");
    store::cleared(&page)?;
    files::write(&page, report::html::sweep(&sweep).as_bytes())?;
    let short = stopped || !missing.is_empty() || sweep.measured() < sweep.wanted();
    let exit = if short { Exit::Short } else { Exit::Ok };
    let printed = if json {
        out::json(&SweepDocument::new(store.folder(), &sweep, missing, map.as_deref(), &page))
    } else {
        let mut text = sweep.text();
        text.push_str(&left_out("Not measured", missing));
        text.push_str(&format!("\nRuns: {}\nPage: {}\n", store.folder().display(), page.display()));
        text.extend(map.as_ref().map(|file| format!("Heat map: {}\n", file.display())));
        out::text(&report::text::folded(&report::words::plain(&text), out::prose())).map_err(Into::into)
    };
    crate::exit::printed(printed, exit)
}

/// Draws the heat map, where there are two axes or more to draw over.
fn drawn(flags: &SweepFlags, store: &Store, sweep: &Sweep) -> Result<Option<PathBuf>> {
    let Some(svg) = sweep.svg() else {
        if flags.map.is_some() {
            bail!("a heat map needs two axes, and this sweep has one: its effects are in the table");
        }
        return Ok(None);
    };
    let file = flags.map.clone().unwrap_or_else(|| store.folder().join("map.svg"));
    if flags.map.is_none() {
        store::cleared(&file)?;
    }
    let png = file.extension().is_some_and(|end| end.eq_ignore_ascii_case("png"));
    match png {
        true => files::write(&file, &report::png::render(&svg, 2.0)?)?,
        false => files::write(&file, svg.as_bytes())?,
    }
    Ok(Some(file))
}

/// The file of a cell's run in a round, in the sweep's folder.
fn run_file(folder: &Path, cell: usize, round: u32) -> PathBuf {
    folder.join(format!("cell-{:04}-round-{:03}.run.jsonl", cell + 1, round + 1))
}
