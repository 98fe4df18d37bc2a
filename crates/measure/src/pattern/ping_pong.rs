//! Ping-pong: a block there and the same size back, one at a time (`seeds/004`, section 2).

use transport::Link;
use transport::clock::Clock;
use transport::theory::FarRole;

use super::{Answered, Facts, LogGp, NetPipe, Timed};
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::{Buffers, TrialReport, TrialSpec, near};

const HELP: &str = "A message there and the same size back, one at a time";

pub(super) const FACTS: Facts = Facts {
    // Half of a time that counts from a schedule would mean nothing.
    on_schedule: Some(TimeKind::RoundTrip),
    under_load: true,
    refuses: |_| None,
    echoes: true,
    transfers: |rated, _| if rated { 1.0 } else { 2.0 },
    bytes: |trial, rated| if rated { trial.size.saturating_mul(2) } else { trial.size },
    startup: Some("round trips"),
    bandwidth: Some("round trips"),
    loggp: Some(LogGp::Latency),
    netpipe: Some(NetPipe {
        counts: 1,
        in_five: true,
        report: |_, seconds| TrialReport { seconds: 2.0 * seconds, ..near::once() },
    }),
    ..Facts::new(Some(HELP), TimeKind::HalfRoundTrip, |_| FarRole::Echo)
};

pub(super) fn near<L: Link, C: Clock>(link: &mut L, clock: &C, spec: &TrialSpec, buffers: &mut Buffers) -> Timed {
    near::round_trips(link, clock, spec, buffers, Writer::Near)
}

pub(super) fn far<L: Link>(link: &mut L, spec: &TrialSpec, buffers: &mut Buffers) -> Answered {
    Side::new(link, spec, buffers)?.each(|link, block, _| link.send(block))
}
