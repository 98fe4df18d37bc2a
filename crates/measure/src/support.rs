//! Which combinations a path can't do: a typed answer before anything is measured, not a failure half-way.

use transport::Capabilities;

use crate::Pattern;
use crate::event::Plan;

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
    /// The wait mode is unknown to the transport.
    #[error("{transport} can't wait that way; it knows: {known}")]
    Wait {
        /// Transport.
        transport: String,
        /// Modes it knows.
        known: String,
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
        }
    }
}

/// Whether a transport with these capabilities can do what the plan asks.
pub fn check(plan: &Plan, transport: &str, can: &Capabilities) -> Result<(), Unsupported> {
    let refuse = |why| Err(Unsupported::Pattern { transport: transport.into(), pattern: plan.pattern.name(), why });
    let one_process = !can.two_ended && !can.virtual_time;
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
    if plan.rate.is_some() && can.virtual_time {
        return refuse("an open loop needs wall-clock time");
    }
    if let Some(most) = can.max_block {
        let smallest = plan.sizes.as_ref().and_then(|s| s.iter().min().copied()).unwrap_or(plan.from);
        if smallest > most || (plan.pattern == Pattern::Request && plan.response > most) {
            return Err(Unsupported::TooLarge { transport: transport.into(), most });
        }
    }
    match plan.settings.wait {
        Some(wait) if can.two_ended && !can.waits.contains(&wait) => {
            let known = can.waits.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(Unsupported::Wait { transport: transport.into(), known })
        }
        _ => Ok(()),
    }
}
