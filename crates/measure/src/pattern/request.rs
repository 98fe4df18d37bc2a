//! Request: a message there, another size back, on a kept connection.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{End, Link};

use super::{Answered, Facts, Timed};
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::{TrialSpec, Workspace, near};

const HELP: &str = "A message there, another size back, on a kept connection";

pub(super) const FACTS: Facts = Facts {
    on_schedule: Some(TimeKind::RoundTrip),
    under_load: true,
    responds: true,
    rates: |_| Some(1),
    messages: |spec| (spec.size, spec.response),
    bytes: |trial, _| trial.size + trial.response,
    startup: Some("requests and answers"),
    ..Facts::new(Some(HELP), TimeKind::RoundTrip, |spec| FarRole::Answer { response: spec.response })
};

pub(super) fn near<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Timed {
    near::round_trips(end, clock, spec, workspace, Writer::Far)
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    Side::new(end, spec, workspace)?.each(|link, _, answer| link.send(answer.filled()))
}
