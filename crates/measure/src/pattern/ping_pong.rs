//! Ping-pong: a message there and the same size back, one at a time (`seeds/004`, section 2).

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{End, Link};

use super::{Answered, Facts, LogGpPart, NetPipe, Timed};
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::{TrialReport, TrialSpec, Workspace, near};

const HELP: &str = "A message there and the same size back, one at a time";

pub(super) const FACTS: Facts = Facts {
    // A time that counts from a schedule can't be halved.
    on_schedule: Some(TimeKind::RoundTrip),
    under_load: true,
    refuses: |_| None,
    echoes: true,
    transfers: |rated, _| if rated { 1.0 } else { 2.0 },
    bytes: |trial, rated| if rated { trial.size.saturating_mul(2) } else { trial.size },
    startup: Some("round trips"),
    bandwidth: Some("round trips"),
    loggp: Some(LogGpPart::Latency),
    netpipe: Some(NetPipe {
        counts: 1,
        in_five: true,
        report: |_, seconds| TrialReport { seconds: 2.0 * seconds, ..near::once() },
    }),
    ..Facts::new(Some(HELP), TimeKind::HalfRoundTrip, |_| FarRole::Echo)
};

pub(super) fn near<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Timed {
    near::round_trips(end, clock, spec, workspace, Writer::Near)
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    Side::new(end, spec, workspace)?.each(|link, message, _| link.send(message))
}
