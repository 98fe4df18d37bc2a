//! `--duration` and `--every`: which sizes a soak measures, and what can be known to be wrong with it.

use anyhow::{Result, bail};
use measure::event::{PathPlan, Plan, Schedule};
use transport::registry;
use units::Seconds;

use crate::flags::RunFlags;

/// Time of an interval where nobody asked for another, seconds.
pub const EVERY: f64 = 1.0;

/// The size of a message that is answered where nobody asked for another: that of a ping's packet.
pub const ANSWERED: u64 = 64;

/// The size of a stream's message likewise: that of iperf3.
const STREAMED: u64 = 128 << 10;
/// That of a stream of datagrams, each of which fills one packet of Ethernet, 1,500 bytes with its headers.
pub const PACKET: u64 = 1448;

/// Shortest time of an interval, and of a size's share in it, seconds: a trial below it would mostly be its way to the far side.
const LEAST: f64 = 0.01;

/// Most intervals: a week of seconds. The run file holds a line for each.
const MOST: f64 = 7.0 * 86_400.0;

/// The size of a soak whose sizes were not named; none of any other run.
pub fn sizes(flags: &RunFlags, paths: &[PathPlan]) -> Option<Vec<u64>> {
    flags.duration.filter(|_| flags.sizes.is_none())?;
    Some(vec![usual(flags, paths)])
}

/// Whether a person asked for a curve, or for sizes of their own.
pub fn sizes_asked(flags: &RunFlags) -> bool {
    let named = flags.sizes.is_some() || flags.from.is_some() || flags.to.is_some() || flags.step.is_some();
    named || flags.schedule != Schedule::Adaptive
}

/// The size of a message that stands for all: that of a ping's packet where it is answered, else that of a stream, as far as every path carries it; where
/// messages may be lost, what one packet holds.
pub fn usual(flags: &RunFlags, paths: &[PathPlan]) -> u64 {
    let usual = match measure::Pattern::from(flags.pattern()).facts().unanswered {
        true => STREAMED,
        false => ANSWERED,
    };
    let fits = |path: &PathPlan| {
        let can = registry::find(path.transport)?.capabilities(&path.settings);
        let packet = if can.reliable { u64::MAX } else { PACKET };
        Some(can.max_block.unwrap_or(u64::MAX).min(packet))
    };
    paths.iter().filter_map(fits).fold(usual, u64::min)
}

/// What is wrong with the soak that `flags` ask for.
pub fn check(plan: &Plan, flags: &RunFlags) -> Result<()> {
    let Some(every) = plan.every else { return Ok(()) };
    if flags.schedule != Schedule::Adaptive {
        bail!(
            "--duration holds one connection, and NetPIPE's schedule has sizes and trials of its own; leave out --schedule"
        );
    }
    if plan.paths.len() > 1 {
        bail!(
            "--duration holds one connection: name one transport, or measure each in a run of its own; transports are compared by a run \
             without --duration, in which they take turns"
        );
    }
    if !(every > 0.0 && every <= plan.budget) {
        bail!(
            "--every {every} s: an interval lasts longer than nothing and no longer than the soak, which is {}",
            Seconds(plan.budget)
        );
    }
    let sizes = plan.sizes.as_ref().map_or(1, Vec::len) as f64;
    if every / sizes < LEAST {
        bail!(
            "--every {} leaves {} for each of {sizes} sizes, and a trial needs {}: give a longer interval, or fewer sizes",
            Seconds(every),
            Seconds(every / sizes),
            Seconds(LEAST)
        );
    }
    if plan.budget / every > MOST {
        bail!(
            "--duration {} in intervals of {} are more than {MOST} intervals; give a longer --every",
            Seconds(plan.budget),
            Seconds(every)
        );
    }
    Ok(())
}
