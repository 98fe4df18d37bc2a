//! What can be known to be wrong with a plan before anything is opened: the answers come from the transports'
//! capabilities, as data.

use anyhow::{Context, Result, bail};
use measure::Pattern;
use measure::event::{PathPlan, Plan, Schedule};
use rendezvous::{Far, Place};
use transport::{Ends, Name, Settings, preload, registry};
use units::Bytes;

use super::{load, ranks, score, soak, stays};
use crate::flags::RunFlags;

/// Longest budget or patience that is taken, seconds: beyond a week it is a slip of the pen.
const WEEK: f64 = 7.0 * 86_400.0;

/// Checks a plan, first by itself and then against each transport.
pub fn plan(plan: &Plan, flags: &RunFlags, far: &Far) -> Result<()> {
    score::check(plan, flags, far)?;
    sizes(plan)?;
    effort(plan, flags)?;
    load::check(plan, flags)?;
    soak::check(plan, flags)?;
    pattern(plan, flags)?;
    bounds(plan, flags)?;
    for path in &plan.paths {
        if let Some(transport) = registry::find(path.transport) {
            transport.fits(&path.settings).with_context(|| path.name().to_owned())?;
        }
        carries(path, plan, flags, far)?;
    }
    Ok(())
}

/// Every transport can be used on this host, and within it where the far side is here too, or the error says why not.
pub fn available(plan: &Plan, far: &Far) -> Result<()> {
    let within = matches!(far, Far::Local { .. });
    for transport in plan.transports().filter_map(registry::find) {
        let name = transport.name();
        ranks::check(plan, transport, Place::here())?;
        if let Err(why) = transport.availability() {
            bail!("{name} is not available here: {why} (pipegauge list shows what is)");
        }
        if let Err(why) = if within { transport.reaches_itself() } else { Ok(()) } {
            bail!("{name} can't be measured within this host: {why}");
        }
    }
    Ok(())
}

fn sizes(plan: &Plan) -> Result<()> {
    // Those that are no bytes of messages the pattern chooses itself.
    if plan.pattern.facts().size.takes.is_some() {
        return Ok(());
    }
    if plan.from == 0 {
        bail!("a message has at least 1 byte; 0 was asked for");
    }
    if plan.from > plan.to {
        bail!("sizes are reversed: from {} to {}; give the smaller as --from", Bytes(plan.from), Bytes(plan.to));
    }
    if plan.step == Some(0) {
        bail!("--step 0 would never reach the largest message; give a step of at least 1 byte");
    }
    if plan.schedule == Schedule::Netpipe && (plan.step.is_some() || plan.sizes.is_some()) {
        bail!("--schedule netpipe has NetPIPE's own sizes; leave out --step and --sizes");
    }
    if !plan.align.is_power_of_two() {
        bail!("--align {}: an alignment is a power of two", plan.align);
    }
    Ok(())
}

fn effort(plan: &Plan, flags: &RunFlags) -> Result<()> {
    if plan.trials == Some(0) || plan.repeats == Some(0) {
        bail!("--trials and --repeats are at least 1; leave them out to let the stop rule decide");
    }
    if !(plan.precision > 0.0 && plan.precision < 1.0) {
        bail!("--precision is a share between 0% and 100%, for example 1%");
    }
    let time = if flags.duration.is_some() { "--duration" } else { "--budget" };
    for (flag, seconds) in [(time, plan.budget), ("--patience", plan.patience)] {
        if !(seconds > 0.0 && seconds <= WEEK) {
            bail!("{flag} is above zero and at most a week; {seconds} s was asked for");
        }
    }
    Ok(())
}

fn pattern(plan: &Plan, flags: &RunFlags) -> Result<()> {
    let facts = plan.pattern.facts();
    if flags.response.is_some() && !facts.responds {
        let those = Pattern::those(|facts| facts.responds);
        bail!("--response is the answer's size of the patterns {those}; choose one with --pattern");
    }
    if facts.responds && plan.response == 0 {
        bail!("--response 0: an answer has at least 1 byte");
    }
    let set = &plan.decorators;
    let decorators =
        [("--fault", set.fault.is_some()), ("--shape", set.shape.is_some()), ("--trace", set.trace.is_some())];
    if let (true, Some((flag, _))) = (facts.anew.is_some(), decorators.iter().find(|(_, given)| *given)) {
        let name = plan.pattern.name();
        bail!("{flag} changes a connection that is kept, and the pattern {name} keeps none; choose another pattern");
    }
    if flags.burst.is_some() && !facts.bursts {
        let those = Pattern::those(|facts| facts.bursts);
        bail!("--burst (--messages) is the number of messages of the patterns {those}; choose one with --pattern");
    }
    if plan.burst == 0 {
        bail!("--burst 0: a burst has at least 1 message");
    }
    if plan.rate.is_some() && facts.unanswered {
        bail!(
            "--rate in messages a second times each answer: the patterns {} can, and {} has none; give its rate in bits a second \
             (--rate 100Mbit/s)",
            Pattern::those(|facts| facts.on_schedule.is_some()),
            plan.pattern.name()
        );
    }
    if plan.offers() && !facts.unanswered {
        bail!(
            "--rate in bits a second is offered by a pattern without answers ({}); {}add --pattern stream",
            Pattern::those(|facts| facts.unanswered),
            if facts.on_schedule.is_some() { "this one takes messages a second (--rate 10k/s), or " } else { "" }
        );
    }
    if plan.rate.is_some() && facts.on_schedule.is_none() {
        bail!(
            "--rate sends on a schedule and times each answer: the patterns {} can, {} can't",
            Pattern::those(|facts| facts.on_schedule.is_some()),
            plan.pattern.name()
        );
    }
    if let Some(rate) = plan.rate.filter(|rate| rate * plan.patience <= 1.0) {
        bail!(
            "--rate {rate}/s leaves {} s between two sends, and a side gives up after {} s without any; raise --patience \
             above that",
            1.0 / rate,
            plan.patience
        );
    }
    if plan.scheduled() && plan.schedule == Schedule::Netpipe {
        bail!("--rate has no counterpart in NetPIPE; leave out --schedule netpipe");
    }
    Ok(())
}

/// Whether a second process plays the other end.
fn two_ended(transport: Name) -> bool {
    registry::find(transport).is_some_and(|t| t.ends() == Ends::Two)
}

/// What one path at a time can have.
fn bounds(plan: &Plan, flags: &RunFlags) -> Result<()> {
    if flags.trace.is_some() && plan.transports().filter(|t| two_ended(*t)).count() > 1 {
        bail!("--trace follows one path: its lines don't say which; name one transport");
    }
    let most = (0..plan.paths.len() as u32).map(|path| plan.connections(path)).max().unwrap_or(1);
    if !plan.near_under.is_empty() && flags.trace.is_some() {
        bail!("--trace follows a connection of this process: leave out --near-under");
    }
    if plan.paths.iter().any(|path| preload::asked(&path.settings).is_some()) && flags.trace.is_some() {
        bail!("--trace follows a connection of this process: leave out preload=");
    }
    if plan.both && flags.trace.is_some() {
        bail!("--trace follows one connection of this process: leave out --both");
    }
    let several = plan.paths.iter().find(|path| path.flows > 1 || path.topology.has_members());
    if let Some(path) = several.filter(|_| flags.trace.is_some()) {
        bail!("--trace follows one connection of this process: leave out {}", path.topology.flag());
    }
    if let Some(flow) = plan.decorators.fault.as_ref().and_then(|fault| fault.flow)
        && !(1..=u64::from(most)).contains(&flow)
    {
        bail!("--fault flow={flow}: there are flows 1 to {most} (--flows, --both)");
    }
    Ok(())
}

/// Says which transports a decorator passes by: those that play both ends in one process.
pub fn undecorated(plan: &Plan) -> Vec<String> {
    let set = &plan.decorators;
    if !set.any() {
        return Vec::new();
    }
    let alone = plan.transports().filter(|t| !two_ended(*t));
    alone.map(|k| format!("{k} is one process: --fault, --shape and --trace pass it by")).collect()
}

fn carries(path: &PathPlan, plan: &Plan, flags: &RunFlags, far: &Far) -> Result<()> {
    let Some(transport) = registry::find(path.transport) else { return Ok(()) };
    let (name, can) = (path.name(), transport.capabilities(&path.settings));
    let asked = flags.sizes.is_some() || flags.to.is_some();
    // What only these settings can't carry is left out, and said so.
    let most = can.max_block.max(transport.capabilities(&Settings::default()).max_block);
    if let Some(most) = most.filter(|most| asked && *most < plan.to) {
        bail!("{name} carries messages of at most {}; {} was asked for (--to, --sizes)", Bytes(most), Bytes(plan.to));
    }
    if can.local_only && can.two_ended && !matches!(far, Far::Local { .. }) {
        let other = match path.transport {
            transport::vsock::NAME => "write vsock:cid=N for another machine",
            transport::strata::NAME => "write a stack that ends in udp",
            _ => "measure a transport that reaches another host (pipegauge list)",
        };
        bail!("{name} works only between processes of one host; leave out --peer, or {other}");
    }
    let here = matches!(far, Far::Local { .. }) && flags.common.near.is_empty();
    if path.transport == transport::vsock::NAME && !can.local_only && here {
        bail!("{name} reaches another machine, and the far side is on this one; name that machine with --peer");
    }
    if plan.pattern == Pattern::OneSender && !matches!(far, Far::Local { .. }) {
        bail!(
            "{name}: in the pattern {} each member reads the clock of one host; leave out --peer, or --one-sender: rounds of all members are timed at one (of `run`: --pattern {})",
            plan.pattern.name(),
            Pattern::Group.name()
        );
    }
    let wrapped = !plan.near_under.is_empty() || !plan.peer_under.is_empty();
    let apart = wrapped && !flags.common.peer_address.is_empty();
    if apart && stays::stays(transport, &path.settings) {
        let under = if plan.peer_under.is_empty() { "--near-under" } else { "--peer-under" };
        bail!(
            "{name}: with --peer-address and {under} the two sides may be in two hosts, and {}",
            stays::remedy_here(transport)
        );
    }
    measure::support::check(plan, path, &can)?;
    let connections = path.flows.saturating_mul(if plan.both { 2 } else { 1 });
    if let (Far::Listening { .. }, 2..) = (far, path.topology.far_processes(connections)) {
        bail!(
            "{name}: 'pipegauge serve' is one process, and {} pairs need as many on the far side; name the host with --peer ssh://user@host, or \
             measure one far process with several connections (--flows, --topology fan-in)",
            connections
        );
    }
    let largest = (plan.pattern.facts().largest)(plan, &can);
    let gap = path.offered.or(plan.offered).map(|bits| largest as f64 * 8.0 / bits);
    if let Some(gap) = gap.filter(|gap| *gap >= plan.patience) {
        bail!(
            "{name}: at this --rate {} at a time leave {gap:.1} s between two sends, and a side gives up after {} s without any; \
             send smaller messages (--to, --sizes), or raise --patience above that",
            Bytes(largest),
            plan.patience
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::config::typed::typed;

    /// What is said of a command line before anything is opened; none where nothing is wrong with it.
    fn said(line: &str) -> Option<String> {
        typed(line).err().map(|e| format!("{e:#}"))
    }

    #[test]
    fn a_pipe_has_a_buffer_to_set() {
        assert_eq!(said("pipe --sockbuf 1MiB"), None);
        assert!(said("shm --sockbuf 1MiB").unwrap().contains("pipe, unix"));
    }

    #[test]
    fn decorators_do_not_reach_into_transactions() {
        for flag in ["--fault drop=1%", "--shape rate=1Mbit/s", "--trace x"] {
            let e = said(&format!("tcp --pattern connect {flag}")).unwrap();
            assert!(e.contains("connect") && e.contains(flag.split(' ').next().unwrap()), "{e}");
            assert_eq!(said(&format!("tcp {flag}")), None);
        }
    }

    #[test]
    fn decorators_are_refused_where_there_is_nothing_to_decorate_and_said_where_they_pass_one_by() {
        for kind in ["memcpy", "theory"] {
            for flag in ["--fault drop=1%", "--shape rate=1Mbit/s", "--trace x"] {
                assert!(said(&format!("{kind} {flag}")).unwrap().contains("changes nothing here"), "{kind} {flag}");
            }
            let notes = typed(&format!("{kind} unix --shape rate=1Mbit/s")).unwrap().notes;
            assert!(notes.iter().any(|n| n.contains(kind) && n.contains("pass it by")), "{notes:?}");
        }
    }

    #[test]
    fn flows_are_refused_where_they_make_no_sense() {
        for (line, says) in [
            ("memcpy --flows 2", "one process plays both ends"),
            ("theory --pattern stream --flows 2", "one process plays both ends"),
            (
                "tcp --pattern connect --flows 2",
                "--flows is for ping-pong, stream, burst, bidirectional, request, put, get and post",
            ),
            ("tcp --flows 2 --rate 10/s", "a schedule is one flow's"),
            ("tcp --pattern stream --flows 2 --rate 10Mbit/s", "a schedule is one flow's"),
            ("tcp --flows 2 --schedule netpipe", "NetPIPE measures one flow"),
            ("tcp --flows 2 --duration 10s", "a soak holds one connection"),
            ("tcp --flows 2 --trace x", "--trace follows one connection"),
            ("tcp --pairs 1 --trace x", "leave out --pairs"),
            ("memcpy --pairs 2", "one process plays both ends"),
            ("theory --pairs 1", "one process plays both ends"),
            ("tcp --pattern connect --pairs 2", "a near process keeps its connection"),
            (
                "tcp --pairs 1 --rate 10/s",
                "a schedule is one flow's (leave out --rate or --pairs, or pairs= of the path)",
            ),
            ("tcp --pairs 2 --schedule netpipe", "leave out --pairs"),
            (
                "tcp --topology fan-in --members 2 --duration 10s",
                "a soak holds one connection (leave out --topology fan-in",
            ),
            ("tcp --pairs 2 --load 2", "several pairs load the path themselves"),
            ("tcp --topology fan-in --members 2 --reverse", "in a fan-in the near processes send"),
            ("tcp --topology fan-out --members 2 --pattern ping-pong", "in a fan-out the far side sends"),
            ("tcp:fan-out=2 --pattern ping-pong", "in a fan-out the far side sends, by a pattern that goes one way"),
            ("tcp:fan-in=2 tcp:fan-out=2", "in this run the far side does"),
            ("tcp:fan-in=2 --duration 10s", "or fan-in= of the path"),
            ("tcp --flows 2 --fault drop=1%,flow=3", "flows 1 to 2"),
        ] {
            let e = said(line).unwrap();
            assert!(e.contains(says), "{line}: {e}");
        }
        let reversed = |line: &str| typed(line).unwrap().plan.pattern_words();
        assert_eq!(reversed("tcp --topology fan-in --members 2,3"), "stream, 2 and 3 members of a fan-in at once");
        assert_eq!(
            reversed("tcp --topology fan-out --members 2"),
            "stream reversed (the far side sends), 2 members of a fan-out at once"
        );
        for (text, flags) in [
            ("tcp:fan-in=2", "tcp --topology fan-in --members 2"),
            ("tcp:fan-out=2", "tcp --topology fan-out --members 2"),
        ] {
            assert_eq!(reversed(text), reversed(flags), "{text}");
        }
        for line in ["tcp:fan-out=2 --pattern ping-pong", "tcp --topology fan-out --members 2 --pattern ping-pong"] {
            assert!(!said(line).unwrap().contains("--reverse"), "{line}: a flag that nobody typed");
        }
        assert_eq!(reversed("tcp --pairs 1"), "ping-pong, 1 pair at once");
        for line in [
            "tcp --flows 128",
            "udp --pairs 2",
            "shm --pattern burst --topology fan-out --members 2",
            "udp --pattern stream --flows 2",
            "shm --pattern bidirectional --flows 2",
        ] {
            assert_eq!(said(line), None, "{line}");
        }
    }

    #[test]
    fn a_schedule_slower_than_the_patience_is_refused() {
        assert!(said("tcp --rate 0.1/s").unwrap().contains("--patience"));
        assert!(said("tcp --rate 1/s --patience 1s").unwrap().contains("--patience"));
        assert_eq!(said("tcp --rate 0.1/s --patience 11s"), None);
    }

    #[test]
    fn a_segment_has_the_kernels_bounds() {
        for bad in ["87", "32768", "40000", "65495"] {
            assert!(said(&format!("tcp --mss {bad}")).unwrap().contains("88 to 32767"), "{bad}");
        }
        assert_eq!(said("tcp --mss 1400"), None);
    }
}
