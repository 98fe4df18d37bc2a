//! From raw flags to a checked configuration. Everything that can be known to be wrong is said here, before a process is
//! started, a file made or a byte sent.

mod check;
mod command_line;
mod far;
mod pin;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use measure::Cache;
use measure::event::{Plan, Schedule};
use rendezvous::{Far, FarPin};
use transport::{Family, Kind, Settings};
use units::Bytes;

use crate::flags::RunFlags;

/// Largest block where nobody asked for another and the transports can carry it.
const DEFAULT_TO: u64 = 8 << 20;
/// Blocks of a burst where nobody asked for another number (`seeds/000`, 4.2.2).
const DEFAULT_BURST: u64 = 500;
/// Taken for the last-level cache where the system does not say: larger than most.
const UNKNOWN_CACHE: u64 = 64 << 20;

/// What `pipegauge run` will do.
#[derive(Debug)]
pub struct RunConfig {
    /// What the driver is asked for.
    pub plan: Plan,
    /// Where the far side of the two-ended paths runs.
    pub far: Far,
    /// On which CPU a far side on another host runs.
    pub far_pin: FarPin,
    /// The run file.
    pub output: PathBuf,
    /// The HTML report, if one is wanted.
    pub html: Option<PathBuf>,
    /// Whether to show progress.
    pub progress: bool,
    /// The command line as it is recorded: without keys.
    pub command: Vec<String>,
    /// Things the person should know before the run, one line each.
    pub notes: Vec<String>,
}

impl RunConfig {
    /// Checks the flags. `now` names the run file where no name was given; `command` is the command line as typed.
    pub fn resolve(flags: &RunFlags, command: &[String], now: SystemTime) -> Result<Self> {
        let mut notes = Vec::new();
        let transports = transports(&flags.transports)?;
        let far = far::resolve(flags)?;
        let plan = plan(flags, transports, &far, &mut notes)?;
        check::plan(&plan, flags, &far)?;
        notes.extend(check::undecorated(&plan));
        check::available(&plan.transports)?;
        let output = flags.output.clone().unwrap_or_else(|| default_output(now));
        let html = match (&flags.html, flags.no_html) {
            (Some(file), _) => Some(file.clone()),
            (None, true) => None,
            (None, false) => Some(html_beside(&output)),
        };
        Ok(Self {
            far_pin: pin::far(&flags.pin, plan.pin),
            plan,
            far,
            output,
            html,
            progress: !flags.quiet,
            command: command_line::without_keys(command),
            notes,
        })
    }
}

fn transports(names: &[String]) -> Result<Vec<Kind>> {
    let mut kinds = Vec::new();
    for name in names {
        let kind: Kind = name.parse()?;
        if kinds.contains(&kind) {
            bail!("{kind} is named twice; name each transport once");
        }
        kinds.push(kind);
    }
    Ok(kinds)
}

fn plan(flags: &RunFlags, transports: Vec<Kind>, far: &Far, notes: &mut Vec<String>) -> Result<Plan> {
    let (from, to) = range(flags, &transports, notes);
    Ok(Plan {
        pattern: flags.pattern.into(),
        schedule: Schedule::from(flags.schedule),
        from,
        to,
        step: flags.step,
        sizes: flags.sizes.clone().map(sorted),
        perturb: flags.perturb,
        trials: flags.trials,
        repeats: flags.repeats,
        precision: flags.precision,
        budget: flags.budget,
        response: flags.response.unwrap_or(1),
        burst: flags.burst.unwrap_or(DEFAULT_BURST),
        rate: flags.rate,
        check: flags.check,
        align: flags.align,
        offset: flags.offset,
        cache: flags.cache.into(),
        pool: pool(flags, notes),
        reconnect: flags.reconnect,
        pin: pin::resolve(&flags.pin, far, notes)?,
        seed: flags.seed,
        settings: settings(flags)?,
        transports,
    })
}

/// Smallest and largest block. Where nobody asked for a largest block, each path stops at what it can carry.
fn range(flags: &RunFlags, transports: &[Kind], notes: &mut Vec<String>) -> (u64, u64) {
    if let Some(sizes) = &flags.sizes {
        return (sizes.iter().copied().min().unwrap_or(0), sizes.iter().copied().max().unwrap_or(0));
    }
    if flags.to.is_none() {
        for kind in transports {
            if let Some(most) = kind.capabilities().max_block.filter(|most| *most < DEFAULT_TO) {
                notes.push(format!("{kind} is measured up to {}: it carries no more", Bytes(most)));
            }
        }
    }
    (flags.from, flags.to.unwrap_or(DEFAULT_TO))
}

/// Bytes of the cold pool: twice the last-level cache, so that a block is gone from it when its turn comes again.
fn pool(flags: &RunFlags, notes: &mut Vec<String>) -> u64 {
    if Cache::from(flags.cache) == Cache::Warm {
        return 0;
    }
    let cache = host::cpu::last_level_cache(&host::Root::system()).unwrap_or_else(|| {
        notes.push(format!(
            "the last-level cache's size is not known here; --cache cold walks over {}",
            Bytes(2 * UNKNOWN_CACHE)
        ));
        UNKNOWN_CACHE
    });
    2 * cache
}

fn sorted(mut sizes: Vec<u64>) -> Vec<u64> {
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn settings(flags: &RunFlags) -> Result<Settings> {
    let defaults = Settings::default();
    let mss = match flags.mss {
        Some(mss) => {
            Some(u32::try_from(mss).with_context(|| format!("--mss {mss}: a TCP segment is never that large"))?)
        }
        None => None,
    };
    let family = match (flags.ipv4, flags.ipv6) {
        (true, _) => Some(Family::V4),
        (_, true) => Some(Family::V6),
        _ => None,
    };
    Ok(Settings {
        wait: flags.wait.map(Into::into),
        sockbuf: flags.sockbuf,
        nodelay: !flags.no_nodelay,
        mss,
        congestion: flags.congestion.clone(),
        family,
        patience: flags.patience,
        theory: flags.theory.clone().unwrap_or(defaults.theory),
        fault: flags.fault.clone(),
        shape: flags.shape.clone(),
        trace: flags.trace.clone(),
        ..defaults
    })
}

/// `pipegauge-20260131T120000Z.run.jsonl` in the current directory; a number is added where that is taken.
fn default_output(now: SystemTime) -> PathBuf {
    let stamp: String =
        humantime::format_rfc3339_seconds(now).to_string().chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let name = |n: u32| match n {
        1 => PathBuf::from(format!("pipegauge-{stamp}.run.jsonl")),
        n => PathBuf::from(format!("pipegauge-{stamp}-{n}.run.jsonl")),
    };
    (1..100).map(name).find(|p| !p.exists()).unwrap_or_else(|| name(100))
}

/// The report's name beside a run file: its own name, ending in .html.
fn html_beside(run: &Path) -> PathBuf {
    let name = run.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = [".run.jsonl", ".jsonl", ".run"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    run.with_file_name(format!("{stem}.html"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn the_report_stands_beside_the_run_file() {
        assert_eq!(html_beside(Path::new("/x/a.run.jsonl")), Path::new("/x/a.html"));
        assert_eq!(html_beside(Path::new("b.jsonl")), Path::new("b.html"));
        assert_eq!(html_beside(Path::new("c.out")), Path::new("c.out.html"));
    }

    #[test]
    fn the_run_files_name_is_the_time_in_utc() {
        let at = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        assert_eq!(default_output(at), Path::new("pipegauge-20010909T014640Z.run.jsonl"));
    }

    #[test]
    fn a_transport_is_named_once() {
        let e = transports(&["tcp".into(), "tcp".into()]).unwrap_err();
        assert!(e.to_string().contains("named twice"), "{e}");
    }
}
