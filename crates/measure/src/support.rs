//! Which combinations a path can't do: a typed answer before anything is measured, not a failure half-way.

use transport::{Capabilities, Ends, preload, registry};

use crate::event::{PathPlan, Plan, Schedule};
use crate::pattern::{Facts, InGroup};
use crate::{Pattern, Topology, sizes};

/// A combination that a transport can't do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// The pattern needs something the transport lacks.
    #[error("{transport} can't run the {pattern} pattern as asked: {why}")]
    Pattern {
        /// Transport.
        transport: String,
        /// Pattern.
        pattern: &'static str,
        /// What it lacks.
        why: String,
    },
    /// No size asked for fits.
    #[error(
        "{transport} carries messages of at most {most} bytes, and every size asked for is larger (--to {most} measures up to there)"
    )]
    TooLarge {
        /// Transport.
        transport: String,
        /// Its limit.
        most: u64,
    },
    /// The answers asked for don't fit.
    #[error("{transport} carries messages of at most {most} bytes, and the answers asked for are larger (--response)")]
    LargeAnswer {
        /// Transport.
        transport: String,
        /// Its limit.
        most: u64,
    },
    /// A size beyond what anything can hold.
    #[error("a message of {asked} bytes is asked for; the largest that can be is {} bytes", sizes::MOST)]
    Huge {
        /// Bytes asked for.
        asked: u64,
    },
    /// More sizes than a curve can have.
    #[error(
        "{asked} sizes are asked for; a curve has at most {} (a larger --step, or without --step the sizes that matter)",
        sizes::MANY
    )]
    Many {
        /// Sizes asked for.
        asked: u64,
    },
}

/// Whether a path of the plan, with these capabilities, can do what the plan asks.
pub fn check(plan: &Plan, path: &PathPlan, can: &Capabilities) -> Result<(), Unsupported> {
    let transport = path.name();
    let refuse = |why: &str| {
        let (transport, pattern, why) = (transport.into(), plan.pattern.name(), why.into());
        Err(Unsupported::Pattern { transport, pattern, why })
    };
    let facts = plan.pattern.facts();
    let listed = plan.sizes.iter().flatten().copied().max().unwrap_or(0);
    let asked = plan.to.max(plan.from).max(listed).max(plan.response).max(plan.perturb);
    // The sizes of a pattern with a score are not bytes: its own limit bounds them.
    if facts.score.is_none() && asked > sizes::MOST {
        return Err(Unsupported::Huge { asked });
    }
    let steps = plan.step.map_or(0, |step| plan.to.saturating_sub(plan.from) / step.max(1));
    let many = steps.max(plan.sizes.as_ref().map_or(0, Vec::len) as u64);
    if many > sizes::MANY as u64 {
        return Err(Unsupported::Many { asked: many });
    }
    if let Some(why) = echoed(plan, path).or_else(|| of_a_module(plan, path)) {
        return refuse(&why);
    }
    if let Some(why) = (facts.refuses)(can) {
        return refuse(why);
    }
    if facts.together && plan.soaks() {
        return refuse("a soak measures between two ends (leave out --duration)");
    }
    if !facts.sized && (plan.sizes.is_some() || plan.step.is_some()) {
        return refuse("nothing is sent that has a size (leave out --sizes and --step)");
    }
    if facts.undecorated && plan.decorators.any() {
        return refuse(
            "faults, shaping and traces stand around sends and receives, and it passes them by (leave out --fault, --shape and --trace)",
        );
    }
    if plan.both
        && let Some(why) = facts.keeps_one_way(plan.pattern.name(), can)
    {
        return refuse(&why);
    }
    if plan.both && plan.reverse {
        return refuse("both directions at once leave none to reverse (leave out --reverse or --both)");
    }
    let why = members(plan, path, can).or_else(|| under(plan, path, can)).or_else(|| preloaded(plan, path));
    if let Some(why) = why {
        return refuse(&why);
    }
    if let Some(why) = Some(plan).filter(|p| p.reverse).and_then(|p| facts.keeps_direction(p.pattern.name(), can)) {
        return refuse(&why);
    }
    let connections = path.flows.saturating_mul(if plan.both { 2 } else { 1 });
    if let Some(why) = facts.keeps_single(plan.pattern.name(), connections, can) {
        return refuse(&why);
    }
    let several = path.flows > 1 || path.topology.has_members();
    if plan.both && plan.soaks() {
        return refuse("a soak holds one connection (leave out --both or --duration)");
    }
    if plan.both && plan.schedule == Schedule::Netpipe {
        return refuse("NetPIPE measures one direction at a time, or --pattern bidirectional (leave out --both)");
    }
    let flag = path.topology.typed();
    if let Some(load) = &path.load {
        if let Some(why) = facts.keeps_unloaded(plan.pattern.name(), load, can) {
            return refuse(&why);
        }
        if several {
            let several = path.topology.several();
            return refuse(&format!(
                "several {several} load the path themselves: measure them ({flag}) or one flow under load (--load), each in a run of its own"
            ));
        }
        if plan.soaks() {
            return refuse("a soak holds one connection (leave out --load or --duration)");
        }
        if plan.schedule == Schedule::Netpipe {
            return refuse("NetPIPE measures an idle path (leave out --load)");
        }
    }
    // A group has one sender, whatever receives.
    if several && plan.scheduled() && path.topology != Topology::Group {
        let those = path.topology.several();
        return refuse(&format!(
            "{those} send as fast as they can, and a schedule is one flow's (leave out --rate or {flag})"
        ));
    }
    if several && plan.soaks() {
        return refuse(&format!("a soak holds one connection (leave out {flag} or --duration)"));
    }
    if several && plan.schedule == Schedule::Netpipe {
        return refuse(&format!(
            "NetPIPE measures one flow, and its trials are too short for several to meet (leave out {flag})"
        ));
    }
    if let Err(why) = (facts.room)(plan, can) {
        return refuse(&why);
    }
    if plan.offers() && !facts.unanswered {
        return refuse(
            "its messages wait for answers, and a rate in bits a second is offered by one-way streams (--pattern stream)",
        );
    }
    if plan.offers() && !can.two_ended && !can.virtual_time {
        return refuse("one process copies, so that nobody offers it a rate (leave out --rate)");
    }
    if plan.rate.is_some() && !can.poll {
        return refuse("an open loop needs a receive with a deadline, which it lacks");
    }
    if plan.rate.is_some() && !(can.reliable && can.ordered) {
        return refuse(
            "it may lose or reorder messages, and an open loop tells answers apart by their order only; a stream of it is offered a rate in bits \
             a second (--pattern stream --rate 100Mbit/s)",
        );
    }
    if plan.rate.is_some() && facts.on_schedule.is_none() {
        return refuse("the pattern can't send on a schedule (--rate)");
    }
    if plan.rate.is_some() && can.virtual_time {
        return refuse("sends on a schedule (--rate) need a real clock, and its time is modelled (leave out --rate)");
    }
    if let Some(most) = can.max_block {
        let smallest = plan.sizes.as_ref().and_then(|s| s.iter().min().copied()).unwrap_or(plan.from);
        if smallest > most {
            return Err(Unsupported::TooLarge { transport: transport.into(), most });
        }
        if facts.responds && plan.response > most {
            return Err(Unsupported::LargeAnswer { transport: transport.into(), most });
        }
    }
    Ok(())
}

/// Why a path whose other end is an echo can't do what was asked; none where it can, or has another end.
fn echoed(plan: &Plan, path: &PathPlan) -> Option<String> {
    if path.transport.ends() != Ends::Echoed {
        return None;
    }
    let returns = |facts: &Facts| facts.echoes && !facts.one_sided;
    let those = Pattern::those(returns);
    let only = if !returns(plan.pattern.facts()) {
        format!("--pattern {those}")
    } else if path.flows > 1 || path.topology.has_members() || path.load.is_some() {
        "one connection: leave out --flows, --pairs, --members and --load; several commands are several paths"
            .to_owned()
    } else {
        return None;
    };
    Some(format!("its other end is an echo, which returns what it gets and does nothing else ({only})"))
}

/// Why a path over a module can't do what was asked; none where it can, or is over a built-in transport. Each of its connections has a near
/// process of its own, because no other process loads the module.
fn of_a_module(plan: &Plan, path: &PathPlan) -> Option<String> {
    registry::find(path.transport).filter(|t| t.source().is_some())?;
    let why = if path.load.is_some() {
        "nothing would load the path (leave out --load; --flows or --pairs measure several connections at once)"
    } else if plan.both && !path.topology.has_members() {
        "none of them sends and receives at once (leave out --both, or join pairs: --pairs N --both)"
    } else {
        return None;
    };
    Some(format!("it is a module, and each connection of one has a near process of its own: {why}"))
}

/// Why a path can't have near processes of its own as its topology asks; none where it can, or asks for none.
fn members(plan: &Plan, path: &PathPlan, can: &Capabilities) -> Option<String> {
    let facts = plan.pattern.facts();
    let typed = path.topology.typed();
    match path.topology {
        Topology::Flows if can.group && can.virtual_time && facts.in_group != Some(InGroup::Whole) => {
            Some("the other members of a modelled group only answer (--pattern cast, or leave out members=)".to_owned())
        }
        topology if facts.collective && topology != Topology::Group => {
            Some("it is done by all members of a group (--topology group --members N says how many there are)".to_owned())
        }
        Topology::Flows if can.virtual_time => None,
        topology if can.group && topology != Topology::Group => {
            Some("it is a group, of which one process is a member (--topology group --members N says how many there are)".to_owned())
        }
        Topology::Flows => None,
        Topology::Group if can.collective && facts.collective => None,
        Topology::Group if can.collective && !can.group => {
            let those = Pattern::those(|facts| facts.collective);
            Some(format!("its members do operations together, and nothing else is measured of them (--pattern {those})"))
        }
        Topology::Group if !can.group => {
            Some(format!("it has no group that processes could join (list says which transports have; leave out {typed})"))
        }
        Topology::Group if facts.in_group.is_none() || plan.reverse || plan.both => {
            let those = Pattern::those(|facts| facts.in_group.is_some() && !facts.collective);
            Some(format!("in a group one member casts and the others receive (--pattern {those}, without --reverse and --both)"))
        }
        _ if !facts.flows => {
            Some(format!("a near process keeps its connection, and this pattern keeps none (leave out {typed})"))
        }
        _ if !can.two_ended => {
            Some(format!("one process plays both ends, and near processes need another (leave out {typed})"))
        }
        Topology::FanIn | Topology::FanOut if plan.both => {
            Some("a fan has one direction (leave out --both, or join pairs: --pairs N --both)".to_owned())
        }
        Topology::FanOut if !(plan.reverse && facts.reverses) => {
            let those = Pattern::those(|facts| facts.reverses);
            Some(format!("in a fan-out the far side sends, by a pattern that goes one way (--pattern is for {those})"))
        }
        Topology::FanIn if plan.reverse => {
            Some(
                "in a fan-in the near processes send, and in this run the far side does (leave out --reverse, and measure a fan-out in \
                 a run of its own)"
                    .to_owned(),
            )
        }
        _ => None,
    }
}

/// Why a path's processes can't run under the wrappers that were asked for; none where they can, or nothing was.
fn under(plan: &Plan, path: &PathPlan, can: &Capabilities) -> Option<String> {
    if plan.near_under.is_empty() && plan.peer_under.is_empty() {
        return None;
    }
    if !can.two_ended {
        return Some(
            "one process plays both ends, the command itself (start the command under the wrapper, in place of --near-under and --peer-under)"
                .to_owned(),
        );
    }
    if plan.near_under.is_empty() {
        return None;
    }
    let connections = path.flows.saturating_mul(if plan.both { 2 } else { 1 });
    match path.topology {
        _ if !plan.pattern.facts().flows => {
            Some("this pattern runs in the command's own process (leave out --near-under, and start the command itself under the wrapper)".to_owned())
        }
        Topology::Flows if connections > 1 || path.load.is_some() => Some(
            "under a wrapper each near process has one connection (measure --pairs, or leave out --near-under and start the command itself \
             under the wrapper)"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Why a path's processes can't have a library loaded into them; none where they can, or none is asked for. Each of its connections has a near
/// process of its own, because the command itself does not have the library.
fn preloaded(plan: &Plan, path: &PathPlan) -> Option<String> {
    preload::asked(&path.settings)?;
    let connections = path.flows.saturating_mul(if plan.both { 2 } else { 1 });
    if !plan.pattern.facts().flows {
        let why = "this pattern runs in the command's own process (leave out preload=, and start the command itself with LD_PRELOAD)";
        return Some(why.to_owned());
    }
    let several = path.topology == Topology::Flows && (connections > 1 || path.load.is_some());
    several.then(|| {
        "with a library loaded each near process has one connection (measure --pairs, or leave out preload= and start the command itself with \
         LD_PRELOAD)"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use transport::Name;
    use transport::decorate::{Decorators, Fault};

    use super::*;
    use crate::Pattern;

    fn why(plan: &Plan, can: &Capabilities) -> Option<String> {
        let topology = if can.group || can.collective { Topology::Group } else { Topology::Flows };
        check(plan, &PathPlan { topology, ..PathPlan::from(Name::ALONE) }, can).err().map(|e| e.to_string())
    }

    #[test]
    fn an_open_loop_needs_an_order() {
        let plan = Plan { rate: Some(100.0), ..Plan::default() };
        assert_eq!(why(&plan, &Capabilities::plain()), None);
        for can in [
            Capabilities { ordered: false, ..Capabilities::plain() },
            Capabilities { reliable: false, ..Capabilities::plain() },
        ] {
            assert!(why(&plan, &can).is_some_and(|why| why.contains("by their order only")), "{can:?}");
        }
    }

    #[test]
    fn a_group_runs_what_one_member_casts_and_nothing_else_does() {
        let plain = Capabilities::plain();
        let can = |group| Capabilities { group, ..plain.clone() };
        let said = |pattern, group, topology, plan: Plan| {
            let path = PathPlan { topology, flows: 2, ..PathPlan::from(Name::ALONE) };
            check(&Plan { pattern, ..plan }, &path, &can(group)).err().map(|e| e.to_string()).unwrap_or_default()
        };
        for pattern in [Pattern::Cast, Pattern::Stream] {
            assert_eq!(said(pattern, true, Topology::Group, Plan::default()), "");
            for topology in [Topology::Flows, Topology::Pairs, Topology::FanIn, Topology::FanOut] {
                assert!(said(pattern, true, topology, Plan::default()).contains("--topology group"), "{topology:?}");
            }
            assert!(said(pattern, false, Topology::Group, Plan::default()).contains("no group"));
        }
        for pattern in [Pattern::PingPong, Pattern::Burst, Pattern::Bidirectional, Pattern::Request] {
            let why = said(pattern, true, Topology::Group, Plan::default());
            assert!(why.contains("--pattern stream, cast, group and one-sender"), "{why}");
        }
        for turned in [Plan { reverse: true, ..Plan::default() }, Plan { both: true, ..Plan::default() }] {
            assert!(said(Pattern::Stream, true, Topology::Group, turned).contains("one member casts"));
        }
        let modelled = Capabilities { two_ended: false, virtual_time: true, ..can(true) };
        let of = |pattern| {
            let plan = Plan { pattern, ..Plan::default() };
            check(&plan, &PathPlan::from(Name::ALONE), &modelled).err().map(|e| e.to_string())
        };
        assert_eq!(of(Pattern::Cast), None);
        assert!(of(Pattern::Stream).is_some_and(|why| why.contains("only answer")));
    }

    #[test]
    fn what_is_no_send_and_no_receive_passes_no_decorator() {
        for pattern in Pattern::ALL.iter().filter(|p| p.facts().undecorated) {
            let group = pattern.facts().in_group.is_some();
            let (group, collective) = (group && !pattern.facts().collective, pattern.facts().collective);
            let can = Capabilities { one_sided: true, queued: true, group, collective, ..Capabilities::plain() };
            let plan = Plan { pattern: *pattern, ..Plan::default() };
            assert_eq!(why(&plan, &can), None);
            let decorators = Decorators { fault: Some(Fault::default()), ..Decorators::default() };
            let said = why(&Plan { decorators, ..plan.clone() }, &can);
            assert!(said.is_some_and(|why| why.contains("leave out --fault")), "{pattern:?}");
            assert!(why(&plan, &Capabilities::plain()).is_some(), "{pattern:?}");
        }
    }
}
