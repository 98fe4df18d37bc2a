//! Get: a message out of memory that the far side exposes. The far side takes no part.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{End, Link, LinkError, OneSided};

use super::one_sided::{self, Access};
use super::{Answered, Facts, Timed};
use crate::content::Writer;
use crate::event::TimeKind;
use crate::{TrialSpec, Workspace};

const HELP: &str = "A message out of memory that the far side exposes: the far side takes no part";

pub(super) const FACTS: Facts = Facts {
    refuses: one_sided::refuses,
    one_sided: true,
    undecorated: true,
    messages: |spec| (0, spec.size),
    memory: one_sided::exposed,
    startup: Some("gets"),
    paused: Some(("gets", "they follow each other, so that one of them alone is charged with each pause")),
    ..Facts::new(Some(HELP), TimeKind::Completion, |_| FarRole::Sink)
};

struct Get;

impl Access for Get {
    const WRITER: Writer = Writer::Far;

    #[inline(always)]
    fn act<L: OneSided>(link: &mut L, at: usize, _: &[u8], answer: &mut [u8]) -> Result<(), LinkError> {
        link.get(at, answer)
    }
}

pub(super) fn near<L: Link, C: Clock>(end: &mut End<L>, clock: &C, spec: &TrialSpec, side: &mut Workspace) -> Timed {
    one_sided::near::<Get, L, C>(end, clock, spec, side)
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, side: &mut Workspace) -> Answered {
    one_sided::far(end, spec, side, Writer::Far)
}
