//! Flags that would change nothing in this run: each is a mistake, and is refused instead of passed over.

use anyhow::{Result, bail};
use measure::event::{PathPlan, Plan, Schedule};
use rendezvous::Far;
use transport::options::{FAMILY, LOSS_TIMEOUT};
use transport::settings::LOSS;
use transport::{Ends, Settings, Transport, registry};

use super::{paths, stays};
use crate::flags::RunFlags;

/// Says the first flag that was typed and that nothing of this run listens to.
pub fn check(plan: &Plan, flags: &RunFlags, far: &Far) -> Result<()> {
    transports(plan, flags)?;
    if plan.schedule == Schedule::Netpipe {
        for (flag, given) in
            [("--budget", flags.common.budget.is_some()), ("--precision", flags.common.precision.is_some())]
        {
            if given {
                bail!(
                    "{flag} changes nothing here: NetPIPE's schedule has no stop rule but its own (a message that takes a \
                     second is the last); leave it out, and bound the run with --to and --trials"
                );
            }
        }
    }
    if flags.perturb.is_some_and(|p| p > 0) && (plan.sizes.is_some() || plan.step.is_some()) {
        bail!(
            "--perturb changes nothing here: it adds sizes to a schedule's own, and --sizes and --step name them all"
        );
    }
    if !plan.pattern.facts().sized {
        let given =
            [("--from", flags.from.is_some()), ("--to", flags.to.is_some()), ("--perturb", flags.perturb.is_some())];
        if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
            bail!(
                "{flag} changes nothing here: with the pattern {} nothing is sent that has a size; leave it out",
                plan.pattern.name()
            );
        }
    }
    let modelled = plan.transports().all(|t| t.ends() == Ends::Modelled);
    if plan.check && modelled && !plan.pattern.facts().echoes {
        bail!(
            "--check changes nothing here: the theoretical far side makes up its answers, but for {}",
            measure::Pattern::those(|facts| facts.echoes)
        );
    }
    let to_an_address =
        |path: &PathPlan| registry::find(path.transport).is_some_and(|t| goes_to_an_address(t, &path.settings));
    if !flags.common.peer_address.is_empty() && !plan.paths.iter().any(to_an_address) {
        let here = |path: &PathPlan| registry::find(path.transport).filter(|t| stays::stays(*t, &path.settings));
        if let Some(group) = plan.paths.iter().find_map(here) {
            bail!("--peer-address changes nothing here: {}", stays::remedy_here(group));
        }
        said("--peer-address", registry::all().filter(|t| goes_to_an_address(*t, &Settings::default())))?;
    }
    if flags.common.remote_program.is_some() && flags.common.near.is_empty() && !matches!(far, Far::Ssh { .. }) {
        bail!(
            "--remote-program is what ssh runs on the other host: it belongs to --peer ssh://user@host, or to --near"
        );
    }
    Ok(())
}

/// Whether a path goes to the address of the other side: what is over IP has an option for its version, and a module that joins hosts is
/// told the address, as members of a group are. A group may stay on this host.
pub fn goes_to_an_address(t: &dyn Transport, settings: &Settings) -> bool {
    let over_ip = t.options().iter().any(|option| option.name == FAMILY.name);
    let can = t.capabilities(settings);
    (over_ip || t.source().is_some() || can.group) && !can.local_only
}

/// Flags that only some transports listen to.
fn transports(plan: &Plan, flags: &RunFlags) -> Result<()> {
    let paths: Vec<(&PathPlan, &dyn Transport)> =
        plan.paths.iter().filter_map(|path| Some((path, registry::find(path.transport)?))).collect();
    for set in paths::flagged(flags) {
        let listens = |t: &dyn Transport, settings: &Settings| set.is_of(t) && t.listens_to(settings, &set.option);
        let taken = |(path, t): &(&PathPlan, &dyn Transport)| {
            listens(*t, &path.settings) && path.settings.get(&set.option) == Some(&set.value)
        };
        if paths.iter().any(taken) {
            continue;
        }
        let name = set.flag;
        if paths.iter().any(|(path, t)| listens(*t, &path.settings)) {
            bail!("{name} changes nothing here: every path that listens to it names its own; leave it out");
        }
        let module =
            |(path, t): &&(&PathPlan, &dyn Transport)| t.source().is_some() && goes_to_an_address(*t, &path.settings);
        if let Some((path, _)) = paths.iter().find(module).filter(|_| set.option == FAMILY.name) {
            let host = if name == "-6" { "::1" } else { "127.0.0.1" };
            bail!(
                "{name} is no flag of {}, a module, which goes to the address that it is given: --peer-address {host} on this host, or one of another host \
                 by --peer",
                path.name()
            );
        }
        let nothing = Settings::default();
        let set_here = |t: &dyn Transport| {
            paths.iter().find(|(path, _)| path.transport == t.name()).map_or(&nothing, |(path, _)| &path.settings)
        };
        said(name, registry::all().filter(|t| listens(*t, set_here(*t))))?;
    }
    let two_ended = |t: &dyn Transport, _: &Settings| t.ends() == Ends::Two;
    let bounded = |t: &dyn Transport, _: &Settings| matches!(t.ends(), Ends::Two | Ends::Echoed);
    let real = |t: &dyn Transport, _: &Settings| t.ends() != Ends::Modelled;
    let placed = |t: &dyn Transport, settings: &Settings| t.feels_places(settings);
    type Listens<'a> = &'a dyn Fn(&dyn Transport, &Settings) -> bool;
    let given: [(&str, bool, Listens<'_>); 8] = [
        ("--fault", flags.common.fault.is_some(), &two_ended),
        ("--shape", flags.common.shape.is_some(), &two_ended),
        ("--trace", flags.trace.is_some(), &two_ended),
        ("--reconnect", flags.reconnect, &two_ended),
        ("--patience", flags.common.patience.is_some(), &bounded),
        ("--cache", flags.cache.is_some(), &real),
        ("--align", flags.align.is_some(), &placed),
        ("--offset", flags.offset.is_some(), &placed),
    ];
    for (flag, set, listens) in given {
        if set && !paths.iter().any(|(path, t)| listens(*t, &path.settings)) {
            said(flag, registry::all().filter(|t| listens(*t, &Settings::default())))?;
        }
    }
    for (path, t) in &paths {
        let timeout = path.settings.real(LOSS_TIMEOUT.name).unwrap_or(LOSS);
        if t.options().iter().any(|o| o.name == LOSS_TIMEOUT.name) && t.ends() == Ends::Two && timeout > plan.patience {
            bail!(
                "{}: --loss-timeout {timeout} s is longer than --patience {} s, after which a side gives up: raise that above it",
                path.name(),
                plan.patience
            );
        }
    }
    Ok(())
}

/// A flag that nothing listens to, and what would.
fn said(flag: &str, listening: impl Iterator<Item = &'static dyn Transport>) -> Result<()> {
    let those: Vec<&str> = listening.map(|t| t.name().as_str()).collect();
    bail!("{flag} changes nothing here: it is for {}; leave it out, or name such a transport", those.join(", "))
}
