//! Flags that would change nothing in this run: each is a mistake, not a wish, and is answered instead of passed over.

use anyhow::{Result, bail};
use measure::event::{Plan, Schedule};
use rendezvous::Far;
use transport::Kind;
use transport::theory::Mover;

use crate::flags::RunFlags;

/// Says the first flag that was typed and that nothing of this run listens to.
pub fn check(plan: &Plan, flags: &RunFlags, far: &Far) -> Result<()> {
    transports(plan, flags)?;
    if plan.schedule == Schedule::Netpipe {
        for (flag, given) in [("--budget", flags.budget.is_some()), ("--precision", flags.precision.is_some())] {
            if given {
                bail!(
                    "{flag} changes nothing here: NetPIPE's schedule has no stop rule but its own (a block that takes a \
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
    let modelled = plan.transports.iter().all(|k| *k == Kind::Theory);
    if plan.check && modelled && !plan.pattern.facts().echoes {
        bail!(
            "--check changes nothing here: the theoretical far side makes up its answers, but for {}",
            measure::Pattern::those(|facts| facts.echoes)
        );
    }
    if flags.remote_program.is_some() && !matches!(far, Far::Ssh { .. }) {
        bail!("--remote-program is what ssh runs on the other host: it belongs to --peer ssh://user@host");
    }
    Ok(())
}

/// Flags that only some transports listen to.
fn transports(plan: &Plan, flags: &RunFlags) -> Result<()> {
    let two_ended: Vec<Kind> = Kind::ALL.into_iter().filter(|k| k.capabilities().two_ended).collect();
    let real: Vec<Kind> = Kind::ALL.into_iter().filter(|k| !k.capabilities().virtual_time).collect();
    let with = |mut kinds: Vec<Kind>, mover| {
        kinds.extend(plan.settings.theory.listens_to(mover).then_some(Kind::Theory));
        kinds
    };
    let buffered = with(vec![Kind::Pipe, Kind::Unix, Kind::Seqpacket, Kind::Tcp, Kind::Udp], Mover::Sockbuf);
    let placed = with(real.clone(), Mover::Align);
    const IP: [Kind; 2] = [Kind::Tcp, Kind::Udp];
    let given = [
        ("--mss", flags.mss.is_some(), &[Kind::Tcp][..]),
        ("--congestion", flags.congestion.is_some(), &[Kind::Tcp][..]),
        ("--nodelay", flags.nodelay, &[Kind::Tcp][..]),
        ("--no-nodelay", flags.no_nodelay, &[Kind::Tcp][..]),
        ("--sockbuf", flags.sockbuf.is_some(), &buffered[..]),
        ("-4", flags.ipv4, &IP[..]),
        ("-6", flags.ipv6, &IP[..]),
        ("--theory", flags.theory.is_some(), &[Kind::Theory][..]),
        ("--fault", flags.fault.is_some(), &two_ended[..]),
        ("--shape", flags.shape.is_some(), &two_ended[..]),
        ("--trace", flags.trace.is_some(), &two_ended[..]),
        ("--reconnect", flags.reconnect, &two_ended[..]),
        ("--wait", flags.wait.is_some(), &two_ended[..]),
        ("--patience", flags.patience.is_some(), &two_ended[..]),
        ("--loss-timeout", flags.loss_timeout.is_some(), &[Kind::Udp, Kind::Theory][..]),
        ("--cache", flags.cache.is_some(), &real[..]),
        ("--align", flags.align.is_some(), &placed[..]),
        ("--offset", flags.offset.is_some(), &placed[..]),
    ];
    for (flag, set, kinds) in given {
        if set && !plan.transports.iter().any(|k| kinds.contains(k)) {
            let those: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
            bail!(
                "{flag} changes nothing here: it is for {}; leave it out, or name such a transport",
                those.join(", ")
            );
        }
    }
    if plan.settings.loss_timeout > plan.settings.patience {
        bail!(
            "--loss-timeout {} s is longer than --patience {} s, after which a side gives up: raise that above it",
            plan.settings.loss_timeout,
            plan.settings.patience
        );
    }
    Ok(())
}
