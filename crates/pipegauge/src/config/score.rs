//! What can be known to be wrong with a program that is scored (HINT) before anything is measured.

use anyhow::{Result, bail};
use measure::event::Plan;
use rendezvous::Far;
use transport::{Ends, Name, registry};
use units::Bytes;
use workload::hint::{Team, steps};

use crate::flags::RunFlags;

/// By one process alone; of a path `measure::support` knows.
pub fn check(plan: &Plan, flags: &RunFlags, far: &Far) -> Result<()> {
    if plan.pattern.facts().score.is_none() {
        return Ok(());
    }
    let (most, _) = steps::most(Team::ALONE, plan.to, plan.memory.unwrap_or(u64::MAX));
    let fewest = Team::ALONE.fewest();
    if plan.transports().any(|t| t == Name::ALONE) && most < fewest {
        bail!(
            "there is room for {most} subintervals (--to, --memory), and HINT starts from {fewest}; each takes {} bytes",
            workload::hint::BYTES
        );
    }
    if flags.common.near.is_empty() {
        fits(plan, far, host::memory(&host::Root::system()))?;
    }
    if !flags.common.peer.is_empty() && plan.transports().all(|t| t == Name::ALONE) {
        bail!("--peer names the far side of a path, and HINT without a path has none: name a transport (tcp)");
    }
    Ok(())
}

/// Whether what it may take fits into the memory of this machine: a system that runs out of it ends processes as it likes.
/// Paths take turns, and give their memory back after each.
pub fn fits(plan: &Plan, far: &Far, machine: Option<u64>) -> Result<()> {
    let Some(each) = plan.pattern.facts().size.takes else { return Ok(()) };
    let takes = |team| steps::most(team, plan.to, plan.memory.unwrap_or(u64::MAX)).0.saturating_mul(each);
    let near: u64 = (plan.transports())
        .map(|t| takes(if t == Name::ALONE { Team::ALONE } else { Team::of_two(0) }))
        .fold(0, u64::max);
    let two_ended = plan.transports().filter_map(registry::find).any(|t| t.ends() == Ends::Two);
    let there = if two_ended && matches!(far, Far::Local { .. }) { takes(Team::of_two(1)) } else { 0 };
    let all = near.saturating_add(there);
    match machine {
        Some(machine) if all > machine / 10 * 9 => bail!(
            "a path would take up to {} of memory for subintervals, and this machine has {}: give less with --memory or --to",
            Bytes(all),
            Bytes(machine)
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use measure::Pattern;

    use super::*;

    #[test]
    fn hint_asks_for_no_more_memory_than_there_is() {
        let plan = |transports: &[Name]| Plan {
            paths: measure::event::plain(transports),
            pattern: Pattern::Hint,
            to: 1 << 26,
            memory: Some(1 << 30),
            ..Plan::default()
        };
        let here = Far::Local { program: "pipegauge".into(), at: Vec::new() };
        let there = Far::Ssh { hosts: Vec::new(), program: "pipegauge".into() };
        let fits = |transports: &[Name], far, gib: u64| fits(&plan(transports), far, Some(gib << 30));
        fits(&[Name::ALONE], &here, 2).unwrap();
        fits(&[Name::ALONE, transport::tcp::NAME, transport::unix::NAME], &here, 3).unwrap();
        let e = fits(&[Name::ALONE, transport::tcp::NAME], &here, 2).unwrap_err().to_string();
        assert!(e.contains("--memory") && e.contains("2 GiB"), "{e}");
        fits(&[Name::ALONE, transport::tcp::NAME], &there, 2).unwrap();
        super::fits(&plan(&[transport::tcp::NAME]), &here, None).unwrap();
    }
}
