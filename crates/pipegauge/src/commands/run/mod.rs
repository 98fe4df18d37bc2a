//! `pipegauge run`: sessions are opened, the driver measures, listeners keep and show what happens. `pipegauge live` is the
//! same with another front.

mod apart;
mod elsewhere;
mod finish;
mod front;
mod intervals;
mod listen;
mod past;
mod progress;
pub mod sessions;
pub mod told;
mod versus;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};
use host::Environment;
use measure::event::{Calibration, Run, SCHEMA, SideOf};
use measure::{Event, Outcome};
use record::RunFile;

use super::files;
use crate::config::RunConfig;
use crate::exit::Exit;
use crate::flags::RunFlags;
use crate::out;
use crate::signals::Stop;
use intervals::Intervals;
use progress::Progress;

pub use front::Front;
pub use listen::Listeners;

/// Measures what was asked for, with a line of progress, or of a soak one for each interval.
pub fn run(flags: &RunFlags, json: bool) -> Result<Exit> {
    if let Some(more) = &flags.vs {
        return versus::run(flags, more, json);
    }
    with(flags, json, |config, stop| match config.plan.soaks() {
        true => Ok(Box::new(Intervals::new(config, json, stop.flag()))),
        false => Ok(progress(config)),
    })
}

/// A line of progress, if one is wanted.
pub fn progress(config: &RunConfig) -> Box<dyn Front> {
    Box::new(Progress::new(&config.plan, config.progress))
}

/// Measures what was asked for; `front` makes what people see meanwhile, once there is a far side and a file.
pub fn with(
    flags: &RunFlags,
    json: bool,
    front: impl FnOnce(&RunConfig, &Stop) -> Result<Box<dyn Front>>,
) -> Result<Exit> {
    let started = SystemTime::now();
    let config = RunConfig::resolve(flags, &command(), started)?;
    let asked = Stop::listen()?;
    let stop = asked.flag();
    let (listeners, outcome) = measured(&config, started, &stop, || front(&config, &asked))?;
    let interrupted = stop.load(Ordering::Relaxed);
    finish::finish(&config, listeners, outcome, interrupted, json)
}

/// The command line as typed.
fn command() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Measures what a configuration asks for, on this thread, and keeps it in the run file; `front` makes what people see
/// meanwhile. An error is one before the first trial; what comes later is in the outcome.
pub fn measured(
    config: &RunConfig,
    started: SystemTime,
    stop: &Arc<AtomicBool>,
    front: impl FnOnce() -> Result<Box<dyn Front>>,
) -> Result<(Listeners, Outcome)> {
    for note in &config.notes {
        out::tell(&format!("note: {note}"));
    }
    if let Some(trace) = &config.plan.decorators.trace {
        files::appendable(trace, "--trace")?;
    }
    if let Some(near) = &config.near {
        let mut front = Some(front);
        let mut begun = |_, header| match front.take() {
            Some(front) => begin(config, header, front),
            None => Err(anyhow!("a run of one side has one header; this is a bug in pipegauge")),
        };
        let headers = vec![(config, header(config, started, None))];
        let (mut listeners, mut outcomes) = elsewhere::measure(near, headers, stop, &mut begun)?;
        return match (listeners.pop(), outcomes.pop()) {
            (Some(listeners), Some(outcome)) => Ok((listeners, outcome)),
            _ => Err(anyhow!("the run has no side; this is a bug in pipegauge")),
        };
    }
    // The far side is met first: where there is none, no file is left behind.
    let mut ready = sessions::ready(&[&config.plan], (&config.far, config.far_pin), config.nears.clone(), stop)?;
    let header = ready.filled(header(config, started, None));
    let mut listeners = begin(config, header, front)?;
    let mut tell = |event: &Event| listeners.take_event(event);
    let sessions = ready.sessions.pop().unwrap_or_default();
    let outcome = measure::run(&config.plan, ready.calibration, sessions, &mut tell, stop);
    Ok((listeners, outcome))
}

/// Measures what a configuration asks for, for a command that reads the run and does not show it. Each measurement has a thread of its
/// own: pinning narrows what its thread sees of the machine. A run that ended early, or measured nothing, is an error.
pub fn alone(config: &RunConfig, stop: &Arc<AtomicBool>) -> Result<RunFile> {
    let work = || -> Result<RunFile> {
        let (mut listeners, outcome) = measured(config, SystemTime::now(), stop, || Ok(progress(config)))?;
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

/// Creates the run file with its header, then the front.
fn begin(config: &RunConfig, mut header: Run, front: impl FnOnce() -> Result<Box<dyn Front>>) -> Result<Listeners> {
    header.near.settings = config.settings.clone();
    let mut listeners = Listeners::open(config, front)?;
    if listeners.take_event(&Event::Run(header)).is_err() {
        // Not even the header fits: an empty file helps nobody. (A device that was named stays.)
        if config.output.is_file() {
            let _ = std::fs::remove_file(&config.output);
        }
        return Err(listeners.failure().map_or_else(|| anyhow!("the run file can't be written"), Into::into));
    }
    Ok(listeners)
}

/// A run's header but for what only the near host knows of itself.
fn header(config: &RunConfig, started: SystemTime, side: Option<SideOf>) -> Run {
    Run {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: humantime::format_rfc3339_seconds(started).to_string(),
        command: config.command.clone(),
        plan: config.plan.clone(),
        near: Environment::default(),
        calibration: Calibration::default(),
        side,
    }
}
