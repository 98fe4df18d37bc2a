//! Which combinations a path can't do: a typed answer before anything is measured, not a failure half-way.

use transport::Capabilities;

use crate::event::Plan;
use crate::{Pattern, sizes};

/// A combination that a transport can't do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// The pattern needs something the transport lacks.
    #[error("{transport} can't run the {pattern} pattern: {why}")]
    Pattern {
        /// Transport.
        transport: String,
        /// Pattern.
        pattern: &'static str,
        /// What it lacks.
        why: &'static str,
    },
    /// No size asked for fits.
    #[error(
        "{transport} carries blocks of at most {most} bytes, and every size asked for is larger (--to {most} measures up to there)"
    )]
    TooLarge {
        /// Transport.
        transport: String,
        /// Its limit.
        most: u64,
    },
    /// The answers asked for don't fit.
    #[error("{transport} carries blocks of at most {most} bytes, and the answers asked for are larger (--response)")]
    LargeAnswer {
        /// Transport.
        transport: String,
        /// Its limit.
        most: u64,
    },
    /// A size beyond what anything can hold.
    #[error("a block of {asked} bytes is asked for; the largest that can be is {} bytes", sizes::MOST)]
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
    /// HINT can't be so small.
    #[error(
        "there is room for {to} subintervals (--to, --memory), and HINT starts from {fewest} over {transport}; each takes {} bytes",
        workload::hint::BYTES
    )]
    Few {
        /// Transport.
        transport: String,
        /// Most subintervals.
        to: u64,
        /// Fewest that there can be.
        fewest: u64,
    },
}

impl Pattern {
    /// The name a person types.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::PingPong => "ping-pong",
            Pattern::Stream => "stream",
            Pattern::Burst => "burst",
            Pattern::Bidirectional => "bidirectional",
            Pattern::Request => "request",
            Pattern::Connect => "connect",
            Pattern::Hint => "hint",
        }
    }
}

/// Whether a transport with these capabilities can do what the plan asks.
pub fn check(plan: &Plan, transport: &str, can: &Capabilities) -> Result<(), Unsupported> {
    let refuse = |why| Err(Unsupported::Pattern { transport: transport.into(), pattern: plan.pattern.name(), why });
    if plan.pattern == Pattern::Hint {
        return hint(plan, transport, can);
    }
    let one_process = !can.two_ended && !can.virtual_time;
    let listed = plan.sizes.iter().flatten().copied().max().unwrap_or(0);
    let asked = plan.to.max(plan.from).max(listed).max(plan.response).max(plan.perturb);
    if asked > sizes::MOST {
        return Err(Unsupported::Huge { asked });
    }
    let steps = plan.step.map_or(0, |step| plan.to.saturating_sub(plan.from) / step.max(1));
    let many = steps.max(plan.sizes.as_ref().map_or(0, Vec::len) as u64);
    if many > sizes::MANY as u64 {
        return Err(Unsupported::Many { asked: many });
    }
    match plan.pattern {
        Pattern::PingPong | Pattern::Stream => {}
        _ if one_process => return refuse("one process plays both ends, so there is no far side to answer"),
        Pattern::Burst if !can.reliable => {
            return refuse("a block of the burst may be lost, and the answer would never come");
        }
        Pattern::Bidirectional if !can.duplex => return refuse("both ends can't send at once"),
        Pattern::Connect if !can.connects => return refuse("it has no connections to make and close"),
        _ => {}
    }
    if plan.rate.is_some() && !can.poll {
        return refuse("an open loop needs a receive with a deadline, which it lacks");
    }
    if plan.rate.is_some() && !can.reliable {
        return refuse("it may lose blocks, and an open loop tells answers apart by their order only");
    }
    if plan.rate.is_some() && !matches!(plan.pattern, Pattern::PingPong | Pattern::Request) {
        return refuse("only ping-pong and request can send on a schedule (--rate)");
    }
    if plan.rate.is_some() && can.virtual_time {
        return refuse("an open loop needs wall-clock time");
    }
    if let Some(most) = can.max_block {
        let smallest = plan.sizes.as_ref().and_then(|s| s.iter().min().copied()).unwrap_or(plan.from);
        if smallest > most {
            return Err(Unsupported::TooLarge { transport: transport.into(), most });
        }
        if plan.pattern == Pattern::Request && plan.response > most {
            return Err(Unsupported::LargeAnswer { transport: transport.into(), most });
        }
    }
    Ok(())
}

/// Of HINT over a path: what travels is 16 bytes, and each of them is needed.
fn hint(plan: &Plan, transport: &str, can: &Capabilities) -> Result<(), Unsupported> {
    let refuse = |why| Err(Unsupported::Pattern { transport: transport.into(), pattern: plan.pattern.name(), why });
    if !can.two_ended && !can.virtual_time {
        return refuse("it is one process, so there is nobody to share the work with (--alone is HINT without a path)");
    }
    if !can.reliable {
        return refuse("a block of the sum may be lost, and the answer would never be complete");
    }
    if !can.duplex {
        return refuse("both ends can't send at once");
    }
    let team = workload::hint::Team::of_two(0);
    let (to, _) = workload::hint::steps::most(team, plan.to, plan.memory.unwrap_or(u64::MAX));
    if to < team.fewest() {
        return Err(Unsupported::Few { transport: transport.into(), to, fewest: team.fewest() });
    }
    Ok(())
}
