//! Request: a block there, another size back, on a kept connection.

use transport::Link;
use transport::clock::Clock;
use transport::theory::FarRole;

use super::{Answered, Facts, Timed};
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::{Buffers, TrialSpec, near};

const HELP: &str = "A message there, another size back, on a kept connection";

pub(super) const FACTS: Facts = Facts {
    on_schedule: Some(TimeKind::RoundTrip),
    under_load: true,
    responds: true,
    blocks: |spec| (spec.size, spec.response),
    bytes: |trial, _| trial.size + trial.response,
    startup: Some("requests and answers"),
    ..Facts::new(Some(HELP), TimeKind::RoundTrip, |spec| FarRole::Answer { response: spec.response })
};

pub(super) fn near<L: Link, C: Clock>(link: &mut L, clock: &C, spec: &TrialSpec, buffers: &mut Buffers) -> Timed {
    near::round_trips(link, clock, spec, buffers, Writer::Far)
}

pub(super) fn far<L: Link>(link: &mut L, spec: &TrialSpec, buffers: &mut Buffers) -> Answered {
    Side::new(link, spec, buffers)?.each(|link, _, answer| link.send(answer.filled()))
}
