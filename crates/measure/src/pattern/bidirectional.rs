//! Bidirectional: both sides send at once.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{Capabilities, Link, LinkError};

use super::facts::one_process;
use super::{Facts, Halves, NetPipe};
use crate::content::Writer;
use crate::event::{TimeKind, Trial};
use crate::far::Side;
use crate::near::{self, Loops, Turn};
use crate::{Buffers, FarReport, SessionError, TrialReport, TrialSpec};

/// Both sides send at once.
pub(super) struct Bidirectional;

impl Turn for Bidirectional {
    #[inline(always)]
    fn step<L: Link>(&self, link: &mut L, block: &[u8], answer: &mut [u8], _: bool) -> Result<(), LinkError> {
        link.exchange(block, answer)
    }
}

impl Halves for Bidirectional {
    fn near<L: Link, C: Clock>(
        &self,
        link: &mut L,
        clock: &C,
        spec: &TrialSpec,
        buffers: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        let (mut loops, mut out, mut into) = Loops::new(link, clock, spec, buffers, Writer::Far)?;
        loops.closed(self, &mut out, &mut into)
    }

    fn far<L: Link>(&self, link: &mut L, spec: &TrialSpec, buffers: &mut Buffers) -> Result<FarReport, SessionError> {
        let mut side = Side::new(link, spec, buffers)?;
        for i in 0..side.iterations() {
            side.go_on()?;
            let answer = side.out.slot();
            side.check.fill(answer, i);
            let block = side.into.slot();
            match side.link.exchange(answer, block) {
                Ok(()) => {
                    side.check.verify(block, i);
                    side.came();
                }
                Err(e) => {
                    if side.over(e)? {
                        break;
                    }
                }
            }
        }
        side.done()
    }
}

impl Facts for Bidirectional {
    fn help(&self) -> Option<&'static str> {
        Some("Both sides send at once")
    }

    fn time(&self, _: bool) -> TimeKind {
        TimeKind::Exchange
    }

    fn role(&self, _: &TrialSpec) -> FarRole {
        FarRole::Mirror
    }

    fn refuses(&self, can: &Capabilities) -> Option<&'static str> {
        one_process(can).or((!can.duplex).then_some("both ends can't send at once"))
    }

    fn bytes(&self, trial: &Trial, _: bool) -> u64 {
        2 * trial.size
    }

    fn bandwidth(&self) -> Option<&'static str> {
        Some("both directions at once")
    }

    /// Its bytes are those of both directions, which only version 3 documents.
    fn netpipe(&self) -> Option<NetPipe> {
        let report = |_, seconds| TrialReport { seconds, ..near::once() };
        Some(NetPipe { counts: 2, in_five: false, report })
    }
}
