//! Put: a message into memory that the far side exposes, and a completion that says it is there. The far side takes no part.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{End, Link, LinkError, OneSided};

use super::one_sided::{self, Access};
use super::{Answered, Facts, Timed};
use crate::content::Writer;
use crate::event::TimeKind;
use crate::{TrialSpec, Workspace};

const HELP: &str = "A message into memory that the far side exposes, and a fence: the far side takes no part";

pub(super) const FACTS: Facts = Facts {
    refuses: one_sided::refuses,
    one_sided: true,
    undecorated: true,
    echoes: true,
    messages: |spec| (spec.size, if spec.check { spec.size } else { 0 }),
    memory: one_sided::exposed,
    startup: Some("puts"),
    paused: Some(("puts", "they follow each other, so that one of them alone is charged with each pause")),
    ..Facts::new(Some(HELP), TimeKind::Completion, |_| FarRole::Sink)
};

struct Put;

impl Access for Put {
    const WRITER: Writer = Writer::Near;

    #[inline(always)]
    fn act<L: OneSided>(link: &mut L, at: usize, message: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
        link.put(at, message)?;
        link.fence()
    }
}

pub(super) fn near<L: Link, C: Clock>(end: &mut End<L>, clock: &C, spec: &TrialSpec, side: &mut Workspace) -> Timed {
    one_sided::near::<Put, L, C>(end, clock, spec, side)
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, side: &mut Workspace) -> Answered {
    one_sided::far(end, spec, side, Writer::Near)
}
