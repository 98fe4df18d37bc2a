//! Measuring the cells of a sweep that are still missing.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::elsewhere;
use super::store::Store;
use crate::commands::run;
use crate::commands::system::{Ends, System};
use crate::config::RunConfig;
use crate::config::sweep::{Cell, SweepPlan};
use crate::out;

/// Why a cell was not measured, by its name.
pub type Missing = Vec<(String, String)>;

/// The cells that can be measured, and those that can't with why. Everything is looked through before anything is measured, and one that it may
/// not do ends the sweep.
pub fn cells(plan: &SweepPlan, store: &Store, may: impl Fn(&RunConfig) -> Result<()>) -> Result<(Vec<Cell>, Missing)> {
    let (mut cells, mut refused) = (Vec::new(), Missing::new());
    for number in 0..plan.design().cells().unwrap_or(0) {
        let cell = plan.cell(number);
        match cell.config(&store.file(number, 0)) {
            Ok(config) => {
                may(&config)?;
                cells.push(cell);
            }
            Err(e) => refused.push((cell.name(), crate::exit::sentence(&e))),
        }
    }
    if cells.is_empty() {
        let (cell, why) = refused.first().cloned().unwrap_or_default();
        bail!("no cell of the sweep can be measured; the first ({cell}): {why}");
    }
    Ok((cells, refused))
}

/// Measures what is missing, round by round, each in its own order. A cell that fails in a round is told once and tried again in the next.
pub fn all(
    plan: &SweepPlan,
    store: &Store,
    cells: &[Cell],
    quiet: bool,
    stop: &Arc<AtomicBool>,
    mut system: Option<&mut System>,
) -> Result<Missing> {
    let mut failed: BTreeMap<usize, (u32, String)> = BTreeMap::new();
    let mut todo = Vec::new();
    for round in 0..plan.rounds {
        for number in plan.order(round) {
            let cell = cells.iter().find(|cell| cell.number == number);
            todo.extend(cell.filter(|_| store.run(number, round).is_none()).map(|cell| (round, cell)));
        }
    }
    let mut progress = Progress::new(todo.len(), cells.len() * plan.rounds as usize, plan.rounds, quiet);
    for (round, cell) in todo {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        progress.begins(round, cell);
        let file = store.file(cell.number, round);
        // What a run that was cut off left.
        super::store::cleared(&file)?;
        if file.is_file() {
            std::fs::remove_file(&file)?;
        }
        let measured = match cell.lab() {
            // Another process says why it failed in words: whether it is the disk is for the disk to say.
            Some(lab) => elsewhere::measure(cell, &lab, &file, stop).map_err(|e| store.takes_more().err().unwrap_or(e)),
            None => here(cell, &file, system.as_deref_mut(), stop),
        };
        if let Err(e) = measured {
            // Also where it was asked to stop: what somebody else changed is not to be missed.
            if e.is::<Ends>() {
                progress.done();
                return Err(e);
            }
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let entry = failed.entry(cell.number).or_insert_with(|| (0, crate::exit::sentence(&e)));
            entry.0 += 1;
            if is_the_disk(&e) {
                progress.done();
                return Err(e.context(format!("the sweep ends: {}", store.folder().display())));
            }
        }
        progress.ended();
    }
    progress.done();
    let name = |number: usize| cells.iter().find(|cell| cell.number == number).map(Cell::name).unwrap_or_default();
    let told = |(number, (times, why)): (usize, (u32, String))| {
        (name(number), format!("in {times} of {} rounds: {why}", plan.rounds))
    };
    Ok(failed.into_iter().map(told).collect())
}

/// Measures a cell on this host, once it has the cell's settings.
fn here(cell: &Cell, file: &Path, system: Option<&mut System>, stop: &Arc<AtomicBool>) -> Result<()> {
    let mut config = cell.config(file)?;
    let Some(system) = system else { return run::alone(&config, stop).map(drop) };
    config.settings = system.set(&cell.system())?;
    let measured = run::alone(&config, stop).map(drop);
    if let Err(e) = system.still() {
        // Nobody knows which part of it was measured with which value.
        let _ = std::fs::remove_file(file);
        return Err(e);
    }
    measured
}

/// Whether the folder takes no more: every later cell would fail too.
fn is_the_disk(error: &anyhow::Error) -> bool {
    let full = |e: &std::io::Error| {
        matches!(
            e.kind(),
            std::io::ErrorKind::StorageFull
                | std::io::ErrorKind::QuotaExceeded
                | std::io::ErrorKind::ReadOnlyFilesystem
        )
    };
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(full))
}

/// A line on standard error, between runs alone.
struct Progress {
    bar: Option<ProgressBar>,
    told: bool,
    /// Runs of all, of which so many were there before.
    all: usize,
    before: usize,
    ended: usize,
    rounds: u32,
    since: Instant,
}

impl Progress {
    fn new(todo: usize, all: usize, rounds: u32, quiet: bool) -> Self {
        let moves = std::io::stderr().is_terminal() && !out::dumb();
        let bar = (!quiet && moves).then(|| {
            let bar = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let before = all - todo;
        if before > 0 && !quiet {
            out::tell(&format!("{before} of {all} runs are there; {todo} are measured now"));
        }
        Self { bar, told: !quiet && !moves, all, before, ended: 0, rounds, since: Instant::now() }
    }

    fn begins(&self, round: u32, cell: &Cell) {
        let mut line = format!("round {} of {}: {}", round + 1, self.rounds, cell.name());
        if self.ended > 0 {
            let each = self.since.elapsed().as_secs_f64() / self.ended as f64;
            let left = each * (self.all - self.before - self.ended) as f64;
            line.push_str(&format!(
                "; about {} left",
                humantime::format_duration(Duration::from_secs(left.ceil() as u64))
            ));
        }
        let line = report::words::plain(&line);
        match &self.bar {
            Some(bar) => {
                bar.set_position((self.before + self.ended) as u64);
                bar.set_message(line);
            }
            None if self.told => out::tell(&line),
            None => {}
        }
    }

    fn ended(&mut self) {
        self.ended += 1;
    }

    fn done(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
