//! Request: a block there, another size back, on a kept connection.

use transport::Link;
use transport::clock::Clock;
use transport::theory::FarRole;

use super::{Facts, Halves};
use crate::content::Writer;
use crate::event::{TimeKind, Trial};
use crate::far::Side;
use crate::{Buffers, FarReport, SessionError, TrialReport, TrialSpec, near};

/// A block there, another size back.
pub(super) struct Request;

impl Halves for Request {
    fn near<L: Link, C: Clock>(
        &self,
        link: &mut L,
        clock: &C,
        spec: &TrialSpec,
        buffers: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        near::round_trips(link, clock, spec, buffers, Writer::Far)
    }

    fn far<L: Link>(&self, link: &mut L, spec: &TrialSpec, buffers: &mut Buffers) -> Result<FarReport, SessionError> {
        Side::new(link, spec, buffers)?.each(|link, _, answer| link.send(answer.filled()))
    }
}

impl Facts for Request {
    fn help(&self) -> Option<&'static str> {
        Some("A block there, another size back, on a kept connection")
    }

    fn time(&self, _: bool) -> TimeKind {
        TimeKind::RoundTrip
    }

    fn role(&self, spec: &TrialSpec) -> FarRole {
        FarRole::Answer { response: spec.response }
    }

    fn on_schedule(&self) -> bool {
        true
    }

    fn responds(&self) -> bool {
        true
    }

    fn blocks(&self, spec: &TrialSpec) -> (u64, u64) {
        (spec.size, spec.response)
    }

    fn bytes(&self, trial: &Trial, _: bool) -> u64 {
        trial.size + trial.response
    }

    fn startup(&self) -> Option<&'static str> {
        Some("requests and answers")
    }
}
