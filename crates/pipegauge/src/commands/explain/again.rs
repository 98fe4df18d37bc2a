//! Measuring a path of a run again, with one thing changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};
use record::{PathRun, RunFile};

use super::super::run;
use crate::config::{RunConfig, names};
use crate::flags::{Cli, ExplainFlags, RunFlags, ScheduleFlag};

/// Time for one measurement where nobody asked for another, seconds.
const DEFAULT_BUDGET: f64 = 4.0;

/// How far beyond a break is measured on either side, as a factor: a knob that is doubled or halved moves it by as much.
const AROUND: u64 = 4;

/// Flags that measure this path as the run did, over the sizes about its breaks alone.
pub fn flags(asked: &ExplainFlags, run: &RunFile, path: &PathRun, edges: &[model::Edge]) -> Result<RunFlags> {
    let cli = Cli::again(&run.run.command).map_err(|_| unknown(asked, run))?;
    let mut flags = cli.command.into_run().ok_or_else(|| unknown(asked, run))?;
    let first = edges.iter().map(|e| e.below).min().unwrap_or(1);
    let last = edges.iter().map(|e| e.above).max().unwrap_or(1);
    let most = path.opened.capabilities.max_block.unwrap_or(u64::MAX);
    flags.transports = vec![path.opened.transport.name().to_owned()];
    (flags.sizes, flags.step, flags.perturb) = (None, None, None);
    flags.from = (first / AROUND).max(1);
    flags.to = Some(last.saturating_mul(AROUND).min(most));
    flags.schedule = ScheduleFlag::Adaptive;
    (flags.trials, flags.repeats, flags.precision) = (None, None, None);
    flags.budget = Some(asked.budget.unwrap_or(DEFAULT_BUDGET));
    (flags.html, flags.no_html, flags.trace) = (None, true, None);
    flags.quiet = asked.quiet;
    // Of two sides, this file is one.
    flags.vs = None;
    // With a knob moved, and over a part of the sizes: no repeat of anything.
    flags.no_history = true;
    if flags.key.is_some() || asked.key.is_some() {
        // The recorded one is blanked out; without another, the variable speaks.
        flags.key = asked.key.clone();
    }
    Ok(flags)
}

fn unknown(asked: &ExplainFlags, run: &RunFile) -> anyhow::Error {
    let typed = report::words::plain(&run.run.command.join(" "));
    anyhow!(
        "{} can't be measured again: it came from '{typed}', which is no `pipegauge run` that this version knows (an \
         imported run does not say how to reach its path); --dry-run says what breaks and what might be behind it",
        asked.run.display()
    )
}

/// The run file of one measurement: beside the run, named after it, the path and the knob.
pub fn output(run: &Path, path: &PathRun, what: &str) -> PathBuf {
    names::beside(run, &format!("-explain-{}-{what}", path.opened.transport.name()))
}

/// Measures. Each measurement has a thread of its own: pinning narrows what its thread sees of the machine.
pub fn measure(flags: &RunFlags, stop: &Arc<AtomicBool>) -> Result<RunFile> {
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let work = || -> Result<RunFile> {
        let started = SystemTime::now();
        let config = RunConfig::resolve(flags, &command, started)?;
        let (mut listeners, outcome) = run::measured(&config, started, stop, || Ok(run::progress(&config)))?;
        if let Some(e) = listeners.failure() {
            return Err(e.into());
        }
        if let Some(e) = outcome.error {
            return Err(e.into());
        }
        let Some(run) = listeners.results().filter(|r| r.paths.iter().any(|p| !p.points.is_empty())) else {
            bail!("nothing was measured (run file: {})", config.output.display());
        };
        Ok(run)
    };
    std::thread::scope(|s| s.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
