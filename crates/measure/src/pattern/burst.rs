//! Burst: a number of sends, then one one-byte answer (`seeds/000`, 4.2.2).

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{Capabilities, Link, LinkError};

use super::facts::one_process;
use super::{Facts, Halves};
use crate::buffers::Slots;
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::near::{Loops, Turn};
use crate::{Buffers, FarReport, SessionError, TrialReport, TrialSpec};

/// A number of sends, one answer.
pub(super) struct Burst;

/// One burst of so many blocks.
struct Blocks(u64);

impl Turn for Blocks {
    const CONTENTS: bool = false;

    #[inline(always)]
    fn once<L: Link>(&self, link: &mut L, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<(), LinkError> {
        for _ in 0..self.0 {
            link.send(out.slot())?;
        }
        link.flush()?;
        link.recv(into.slot())
    }

    fn blocks(&self) -> u64 {
        self.0
    }

    fn step<L: Link>(&self, link: &mut L, block: &[u8], answer: &mut [u8], last: bool) -> Result<(), LinkError> {
        link.send(block)?;
        if last { link.recv(answer) } else { Ok(()) }
    }
}

impl Halves for Burst {
    fn near<L: Link, C: Clock>(
        &self,
        link: &mut L,
        clock: &C,
        spec: &TrialSpec,
        buffers: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        let (mut loops, mut out, mut into) = Loops::new(link, clock, spec, buffers, Writer::Far)?;
        loops.closed(&Blocks(spec.burst), &mut out, &mut into)
    }

    fn far<L: Link>(&self, link: &mut L, spec: &TrialSpec, buffers: &mut Buffers) -> Result<FarReport, SessionError> {
        let mut side = Side::new(link, spec, buffers)?;
        for i in 0..side.iterations() {
            for b in 0..spec.burst {
                side.go_on()?;
                let block = side.into.slot();
                side.link.recv(block)?;
                side.check.verify(block, i * spec.burst + b);
                side.came();
            }
            side.link.send(side.out.slot())?;
            side.link.flush()?;
        }
        side.done()
    }
}

impl Facts for Burst {
    fn help(&self) -> Option<&'static str> {
        Some("A number of sends, then one short answer")
    }

    fn time(&self, _: bool) -> TimeKind {
        TimeKind::OneWay
    }

    fn role(&self, spec: &TrialSpec) -> FarRole {
        FarRole::Burst { count: spec.burst }
    }

    fn refuses(&self, can: &Capabilities) -> Option<&'static str> {
        one_process(can)
            .or((!can.reliable).then_some("a block of the burst may be lost, and the answer would never come"))
    }

    fn whole(&self, spec: &TrialSpec) -> Result<(), String> {
        if spec.burst == 0 { Err("a burst has at least 1 block".into()) } else { Ok(()) }
    }

    fn bursts(&self) -> bool {
        true
    }

    fn blocks(&self, spec: &TrialSpec) -> (u64, u64) {
        (spec.size, 1)
    }

    fn sends(&self, spec: &TrialSpec) -> u64 {
        spec.burst
    }

    fn transfers(&self, _: bool, burst: u64) -> f64 {
        burst.max(1) as f64
    }

    fn ways(&self, burst: u64) -> u64 {
        burst.max(1)
    }

    fn bandwidth(&self) -> Option<&'static str> {
        Some("bursts of sends, one answer")
    }
}
