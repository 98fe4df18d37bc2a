//! Ping-pong: a block there and the same size back, one at a time (`seeds/004`, section 2).

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{Capabilities, Link};

use super::{Facts, Halves, LogGp, NetPipe};
use crate::content::Writer;
use crate::event::{TimeKind, Trial};
use crate::far::Side;
use crate::{Buffers, FarReport, SessionError, TrialReport, TrialSpec, near};

/// A block there and the same size back.
pub(super) struct PingPong;

impl Halves for PingPong {
    fn near<L: Link, C: Clock>(
        &self,
        link: &mut L,
        clock: &C,
        spec: &TrialSpec,
        buffers: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        near::round_trips(link, clock, spec, buffers, Writer::Near)
    }

    fn far<L: Link>(&self, link: &mut L, spec: &TrialSpec, buffers: &mut Buffers) -> Result<FarReport, SessionError> {
        Side::new(link, spec, buffers)?.each(|link, block, _| link.send(block))
    }
}

impl Facts for PingPong {
    fn help(&self) -> Option<&'static str> {
        Some("A block there and the same size back, one at a time")
    }

    /// Half of a time that counts from a schedule would mean nothing.
    fn time(&self, rated: bool) -> TimeKind {
        if rated { TimeKind::RoundTrip } else { TimeKind::HalfRoundTrip }
    }

    fn role(&self, _: &TrialSpec) -> FarRole {
        FarRole::Echo
    }

    fn refuses(&self, _: &Capabilities) -> Option<&'static str> {
        None
    }

    fn on_schedule(&self) -> bool {
        true
    }

    fn echoes(&self) -> bool {
        true
    }

    fn transfers(&self, rated: bool, _: u64) -> f64 {
        if rated { 1.0 } else { 2.0 }
    }

    fn bytes(&self, trial: &Trial, rated: bool) -> u64 {
        if rated { 2 * trial.size } else { trial.size }
    }

    fn startup(&self) -> Option<&'static str> {
        Some("round trips")
    }

    fn bandwidth(&self) -> Option<&'static str> {
        Some("round trips")
    }

    fn loggp(&self) -> Option<LogGp> {
        Some(LogGp::Latency)
    }

    /// Its seconds are half of a round trip.
    fn netpipe(&self) -> Option<NetPipe> {
        let report = |_, seconds: f64| TrialReport { seconds: 2.0 * seconds, ..near::once() };
        Some(NetPipe { counts: 1, in_five: true, report })
    }
}
