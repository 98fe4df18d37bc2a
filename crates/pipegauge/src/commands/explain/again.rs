//! Measuring a path of a run again, with one thing changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};
use record::{PathRun, RunFile};
use transport::{Ends, OptionSpec};
use units::Bytes;

use super::super::run;
use crate::config::{RunConfig, names};
use crate::flags::{CommonFlags, ExplainFlags, LARGEST, RunFlags};

/// Time for one measurement where nobody asked for another, seconds.
const DEFAULT_BUDGET: f64 = 4.0;

/// How far beyond a break is measured on either side, as a factor: a knob that is doubled or halved moves it by as much.
const AROUND: u64 = 4;

/// Flags that measure this path as the run's plan says, over the sizes about its breaks alone. The file's command line is not followed: it
/// would say where ssh goes, which program runs there and what is written. The person who explains says where the far side is.
pub fn flags(asked: &ExplainFlags, run: &RunFile, path: &PathRun, edges: &[model::Edge]) -> Result<RunFlags> {
    let file = asked.run.display();
    if !measured_by_us(&run.run.command) {
        return Err(unknown(asked, run));
    }
    let (kind, two_ended) = (path.opened.name(), path.opened.transport.ends() == Ends::Two);
    if two_ended && asked.peer.is_empty() && far_is_away(run, path) {
        bail!(
            "{file}: its path {kind} led to another host ({}), and explain connects only to what its own flags name: give --peer \
             HOST:PORT (with --key) or --peer ssh://user@host (with --remote-program)",
            report::words::hosts(run)
        );
    }
    let near = run.run.command.iter().any(|word| word == "--near" || word.starts_with("--near="));
    if let Some(how) = run.run.plan.under_words().or(near.then(|| "from another host (--near)".to_owned())) {
        bail!(
            "{file}: its path {kind} was measured {how}, and explain starts nothing that a file names: measure it again with `pipegauge run` and \
             one knob moved (--vs)",
            how = report::words::plain(&how)
        );
    }
    if path.opened.transport.ends() == Ends::Echoed {
        bail!(
            "{file}: its path {kind} is a command or a socket, and explain starts nothing that a file names: measure it again with `pipegauge run`"
        );
    }
    let settings = run.run.plan.settings(path.opened.path);
    if let Ok(transport) = path.opened.transport.transport()
        && let Some(what) = OptionSpec::steering(transport.options(), settings).next()
    {
        bail!(
            "{file}: its path {kind} has {what}, and explain loads nothing and sends nowhere that a file names: measure it again with `pipegauge run`",
            what = report::words::plain(&what)
        );
    }
    let first = edges.iter().map(|e| e.below).min().unwrap_or(1);
    let last = edges.iter().map(|e| e.above).max().unwrap_or(1);
    let most = path.opened.capabilities.max_block.unwrap_or(LARGEST).min(LARGEST);
    let from = (first / AROUND).max(1);
    if from > most {
        bail!("{file}: {kind} breaks at {}, and messages above {} are not measured again", Bytes(first), Bytes(most));
    }
    let base = RunFlags::replaying(&run.run.plan, &path.opened, pin(run, path))
        .map_err(|why| anyhow!("{file}: its plan can't be measured again: it asks for {why}"))?;
    let peer = if two_ended { asked.peer.clone() } else { Vec::new() };
    let common = CommonFlags {
        budget: Some(asked.budget.unwrap_or(DEFAULT_BUDGET)),
        key: asked.key.clone().filter(|_| !peer.is_empty()),
        remote_program: asked.remote_program.clone().filter(|_| !peer.is_empty()),
        peer,
        quiet: asked.quiet,
        ..base.common
    };
    Ok(RunFlags { from: Some(from), to: Some(last.saturating_mul(AROUND).min(most)), common, ..base })
}

/// Whether `run`, `live` or `group` of this program made the file. An import has a path's name and no way to it.
fn measured_by_us(command: &[String]) -> bool {
    command.iter().skip(1).any(|word| ["run", "live", "group"].contains(&word.as_str()))
}

/// Whether the far side ran on another host, or was met as if it did.
fn far_is_away(run: &RunFile, path: &PathRun) -> bool {
    let named = run.run.command.iter().any(|word| word == "--peer" || word.starts_with("--peer="));
    named || path.opened.far.as_ref().is_some_and(|far| far.hostname != run.run.near.hostname)
}

/// The CPUs on which both sides ran, or `auto` where this process can't use its own of them.
fn pin(run: &RunFile, path: &PathRun) -> String {
    let Some((near, far)) = run.run.plan.pin else { return "none".to_owned() };
    let far = path.opened.far.as_ref().and_then(|f| f.pinned).unwrap_or(far);
    let allowed = host::allowed_cpus();
    let here = allowed.contains(&near) && (far_is_away(run, path) || allowed.contains(&far));
    if here { format!("{near},{far}") } else { "auto".to_owned() }
}

fn unknown(asked: &ExplainFlags, run: &RunFile) -> anyhow::Error {
    let typed = report::words::plain(&run.run.command.join(" "));
    anyhow!(
        "{} can't be measured again: it came from '{typed}', which is no `pipegauge run` (an imported run does not say how to \
         reach its path)",
        asked.run.display()
    )
}

/// The run file of one measurement: beside the run, named after it, the path and the knob.
pub fn output(run: &Path, path: &PathRun, what: &str) -> PathBuf {
    // A file's own label may hold anything; a transport's name is made for files' names.
    let number = path.opened.label.as_ref().map_or(String::new(), |_| path.opened.path.to_string());
    names::beside(run, &format!("-explain-{}{number}-{what}", path.opened.transport))
}

/// Measures.
pub fn measure(flags: &RunFlags, stop: &Arc<AtomicBool>) -> Result<RunFile> {
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    run::alone(&RunConfig::replayed(flags, &command, SystemTime::now())?, stop)
}
