//! From raw flags to a checked configuration. Everything that can be known to be wrong is said here, before a process is
//! started, a file made or a byte sent.

mod check;
mod command_line;
mod far;
pub mod history;
pub mod lab;
mod load;
pub mod names;
pub mod near;
pub mod paths;
mod pin;
pub mod question;
pub mod ranks;
mod rates;
pub mod retyped;
mod score;
pub mod sides;
mod soak;
pub mod stays;
pub mod sweep;
pub mod sysctl;
pub mod system;
#[cfg(test)]
pub mod typed;
mod unused;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use measure::event::{PathPlan, Plan, Schedule};
use measure::{Cache, Pattern};
use rendezvous::{Far, FarPin, Nears};
use transport::decorate::Decorators;
use transport::registry;
use units::Bytes;
use workload::hint::Precision;

use crate::flags::RunFlags;
use near::Near;

/// Largest message where nobody asked for another and the transports can carry it.
const DEFAULT_TO: u64 = 8 << 20;
/// Distance from each size of a schedule at which it is measured too: the paper's.
const NETPIPE_PERTURB: u64 = 3;
/// How far the interval of a settled point may reach, as a share of the median.
const DEFAULT_PRECISION: f64 = 0.01;
/// Time for each transport, seconds.
const DEFAULT_BUDGET: f64 = 12.0;
/// Alignment of buffers: the page.
const DEFAULT_ALIGN: u64 = 4096;
/// Messages of a burst where nobody asked for another number (`seeds/000`, 4.2.2).
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
    /// Another host that the near side runs on; none where that is this one.
    pub near: Option<Near>,
    /// Other hosts that the near processes are spread over, which this one leads; none where one host has them all.
    pub nears: Option<Nears>,
    /// `--pin` as typed: the near host reads it.
    pub pins: String,
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
    /// Whether earlier runs are looked up, and this one is kept for later ones.
    pub history: bool,
    /// Things the person should know before the run, one line each.
    pub notes: Vec<String>,
    /// Settings of the system that a sweep made for it, by axis, as they were read back.
    pub settings: BTreeMap<String, String>,
}

impl RunConfig {
    /// Checks the flags. `now` names the run file where no name was given; `command` is the command line as typed.
    pub fn resolve(flags: &RunFlags, command: &[String], now: SystemTime) -> Result<Self> {
        let config = Self::replayed(flags, command, now)?;
        unused::check(&config.plan, flags, &config.far)?;
        Ok(config)
    }

    /// The same of flags that repeat a plan ([`RunFlags::replaying`]): nobody typed them, so that one that changes nothing is no mistake.
    pub fn replayed(flags: &RunFlags, command: &[String], now: SystemTime) -> Result<Self> {
        let mut notes = Vec::new();
        rates::check(flags)?;
        let paths = paths::resolve(flags)?;
        let near = near::resolve(flags)?;
        let nears = near::spread(flags)?;
        let far = far::resolve(flags)?;
        let plan = plan(flags, paths, &far, near.is_some(), &mut notes)?;
        check::plan(&plan, flags, &far)?;
        nears.as_ref().map_or(Ok(()), |nears| near::spreads(&plan, nears, &far))?;
        far::spreads(&plan, &far)?;
        rendezvous::check(&plan).map_err(|why| anyhow!(why))?;
        notes.extend(check::undecorated(&plan));
        notes.extend(load::notes(&plan));
        if near.is_none() {
            check::available(&plan, &far)?;
        }
        let output = flags.common.output.clone().unwrap_or_else(|| names::run_file(now));
        let html = match (&flags.html, flags.no_html) {
            (Some(file), _) => Some(file.clone()),
            (None, true) => None,
            (None, false) => Some(names::report_beside(&output)),
        };
        names::distinct(&output, html.as_deref(), flags.trace.as_deref())?;
        Ok(Self {
            far_pin: pin::far(&flags.common.pin, plan.pin),
            pins: flags.common.pin.clone(),
            near,
            nears,
            plan,
            far,
            output,
            html,
            progress: !flags.common.quiet,
            command: command_line::without_keys(command),
            // Figures that were taken under trace are not to be believed.
            // A soak is no repeat of a run, nor one of it.
            history: !flags.common.no_history && flags.trace.is_none() && flags.duration.is_none(),
            notes,
            settings: BTreeMap::new(),
        })
    }
}

fn plan(flags: &RunFlags, paths: Vec<PathPlan>, far: &Far, elsewhere: bool, notes: &mut Vec<String>) -> Result<Plan> {
    let (from, to) = range(flags, &paths, notes);
    let peer_unders = flags.common.peer_under.iter().map(|text| near::under("--peer-under", Some(text)));
    let mut peer_unders = peer_unders.collect::<Result<Vec<_>>>()?.into_iter();
    Ok(Plan {
        pattern: if flags.hint.is_some() { Pattern::Hint } else { flags.pattern().into() },
        reverse: flags.reverses() && !flags.both,
        both: flags.both,
        schedule: match (&flags.hint, flags.duration) {
            (Some(_), _) => Schedule::Hint,
            (None, Some(_)) => Schedule::Soak,
            (None, None) => flags.schedule,
        },
        from,
        to,
        step: flags.step,
        sizes: usual_sizes(flags, &paths).or_else(|| flags.sizes.clone()).map(sorted),
        perturb: flags.perturb.unwrap_or(if flags.schedule == Schedule::Netpipe { NETPIPE_PERTURB } else { 0 }),
        trials: flags.common.trials,
        repeats: flags.common.repeats,
        precision: flags.common.precision.unwrap_or(DEFAULT_PRECISION),
        precise: flags.common.precision.is_some(),
        budget: flags.duration.or(flags.common.budget).unwrap_or(if rates::short(flags) {
            rates::BUDGET
        } else {
            DEFAULT_BUDGET
        }),
        every: flags.duration.map(|all| flags.every.unwrap_or(soak::EVERY.min(all))),
        response: flags.response.unwrap_or(1),
        burst: flags.burst.unwrap_or(match Pattern::from(flags.pattern()).facts() {
            facts if facts.bursts && facts.in_group.is_some() => 1,
            _ => DEFAULT_BURST,
        }),
        rate: rates::messages(flags),
        offered: rates::bits(flags),
        check: flags.check,
        align: flags.align.unwrap_or(DEFAULT_ALIGN),
        offset: flags.offset.unwrap_or_default(),
        cache: cache(flags),
        pool: if cache(flags) == Cache::Cold && !elsewhere { cold_pool(notes) } else { 0 },
        memory: flags.hint.map(|hint| hint.memory),
        reconnect: flags.reconnect,
        pin: match flags.common.near.len() {
            _ if elsewhere => pin::elsewhere(&flags.common.pin)?,
            0 => pin::resolve(&flags.common.pin, far, notes)?,
            _ => pin::leads(&flags.common.pin, far, notes)?,
        },
        seed: flags.common.seed,
        patience: flags.common.patience.unwrap_or(Plan::default().patience),
        decorators: Decorators {
            fault: flags.common.fault.clone(),
            shape: flags.common.shape.clone(),
            trace: flags.trace.clone(),
        },
        near_under: near::under("--near-under", flags.common.near_under.as_ref())?,
        peer_under: peer_unders.next().unwrap_or_default(),
        peer_under_more: peer_unders.collect(),
        paths,
    })
}

/// The sizes of a run that measures one size or a few unless others are asked for; none of any other.
fn usual_sizes(flags: &RunFlags, paths: &[PathPlan]) -> Option<Vec<u64>> {
    soak::sizes(flags, paths).or_else(|| load::sizes(flags, paths)).or_else(|| rates::sizes(flags, paths))
}

/// Smallest and largest message. Where nobody asked for a largest message, each path stops at what it can carry.
fn range(flags: &RunFlags, paths: &[PathPlan], notes: &mut Vec<String>) -> (u64, u64) {
    if let Some(hint) = &flags.hint {
        // No more can be told apart.
        return (1, hint.to.unwrap_or(Precision::DOUBLE.most(1)));
    }
    if let Some(sizes) = usual_sizes(flags, paths).as_ref().or(flags.sizes.as_ref()) {
        return (sizes.iter().copied().min().unwrap_or(0), sizes.iter().copied().max().unwrap_or(0));
    }
    if flags.to.is_none() {
        for path in paths {
            let can = registry::find(path.transport).map(|t| t.capabilities(&path.settings));
            if let Some(most) = can.and_then(|can| can.max_block).filter(|most| *most < DEFAULT_TO) {
                notes.push(format!("{} is measured up to {}: it carries no more", path.name(), Bytes(most)));
            }
        }
    }
    (flags.from.unwrap_or(1), flags.to.unwrap_or(DEFAULT_TO))
}

fn cache(flags: &RunFlags) -> Cache {
    flags.cache.unwrap_or(Cache::Warm)
}

/// Bytes of the cold pool: twice the last-level cache, so that a message is gone from it when its turn comes again.
fn cold_pool(notes: &mut Vec<String>) -> u64 {
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
