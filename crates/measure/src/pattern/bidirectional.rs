//! Bidirectional: both sides send at once.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{End, Link, LinkError};

use super::facts::one_process;
use super::{Answered, Facts, NetPipe, Timed};
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::near::{self, Loops, Turn};
use crate::{TrialReport, TrialSpec, Workspace};

const HELP: &str = "Both sides send at once";

pub(super) const FACTS: Facts = Facts {
    refuses: |can| one_process(can).or((!can.duplex).then_some("both ends can't send at once")),
    bytes: |trial, _| trial.size.saturating_mul(2),
    bandwidth: Some("both directions at once"),
    // Its bytes are those of both directions.
    netpipe: Some(NetPipe { counts: 2, in_five: false, report: |_, seconds| TrialReport { seconds, ..near::once() } }),
    ..Facts::new(Some(HELP), TimeKind::Exchange, |_| FarRole::Mirror)
};

/// A message each way at once.
struct Exchange;

impl<L: Link> Turn<L> for Exchange {
    #[inline(always)]
    fn step(&self, link: &mut L, message: &[u8], answer: &mut [u8], _: u64) -> Result<(), LinkError> {
        link.exchange(message, answer)
    }
}

pub(super) fn near<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Timed {
    let (mut loops, mut out, mut into) = Loops::new(end, clock, spec, workspace, Writer::Far)?;
    loops.closed(&Exchange, &mut out, &mut into)
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    let mut side = Side::new(end, spec, workspace)?;
    let mut i = 0;
    'parts: for end in side.parts() {
        side.begin();
        while i < end {
            side.go_on()?;
            let answer = side.out.slot();
            side.check.fill(answer, i);
            let message = side.into.slot();
            match side.link.exchange(answer, message) {
                Ok(()) => {
                    side.check.verify(message, i);
                    side.came();
                }
                Err(e) => {
                    if side.over(e)? {
                        break 'parts;
                    }
                }
            }
            i += 1;
        }
    }
    side.done()
}
