//! `pipegauge run`: sessions are opened, the driver measures, listeners keep and show what happens. `pipegauge live` is the
//! same with another front.

mod finish;
mod front;
mod intervals;
mod listen;
mod past;
mod progress;
mod sessions;
mod versus;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow};
use host::Environment;
use measure::event::{Calibration, Run, SCHEMA, SideOf};
use measure::{Event, Outcome};

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
    // Pinning narrows the CPUs that this process sees: the environment is read first.
    let near = Environment::here(config.plan.pin.map(|(near, _)| near));
    pin(config)?;
    for note in &config.notes {
        out::tell(&format!("note: {note}"));
    }
    // The far side is met first: where there is none, no file is left behind.
    let sessions = sessions::open(&[config], stop)?.pop().unwrap_or_default();
    let calibration = measure::calibrate();
    let header = header(config, near, started, calibration, None);
    let mut listeners = begin(config, header, front)?;
    let mut tell = |event: &Event| listeners.hear(event);
    let outcome = measure::run(&config.plan, calibration, sessions, &mut tell, stop);
    Ok((listeners, outcome))
}

/// Creates the run file with its header, then the front.
fn begin(config: &RunConfig, header: Run, front: impl FnOnce() -> Result<Box<dyn Front>>) -> Result<Listeners> {
    let mut listeners = Listeners::open(config, front)?;
    if listeners.hear(&Event::Run(header)).is_err() {
        // Not even the header fits: an empty file helps nobody. (A device that was named stays.)
        if config.output.is_file() {
            let _ = std::fs::remove_file(&config.output);
        }
        return Err(listeners.failure().map_or_else(|| anyhow!("the run file can't be written"), Into::into));
    }
    Ok(listeners)
}

/// Keeps this thread to its CPU.
fn pin(config: &RunConfig) -> Result<()> {
    let Some((near, _)) = config.plan.pin else { return Ok(()) };
    host::pin_this_thread(near).with_context(|| format!("keeping to CPU {near} (--pin none does without)"))
}

fn header(
    config: &RunConfig,
    near: Environment,
    started: SystemTime,
    calibration: Calibration,
    side: Option<SideOf>,
) -> Run {
    Run {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: humantime::format_rfc3339_seconds(started).to_string(),
        command: config.command.clone(),
        plan: config.plan.clone(),
        near,
        calibration,
        side,
    }
}
