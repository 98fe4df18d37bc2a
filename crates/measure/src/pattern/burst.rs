//! Burst: a number of sends, then one one-byte answer (`seeds/000`, 4.2.2). Reversed: a one-byte request, then a number of sends of the far
//! side. Both are timed by the near side, and both cost the messages one way and a byte the other.

use transport::clock::Clock;
use transport::theory::FarRole;
use transport::{End, Link, LinkError};

use super::facts::one_process;
use super::{Answered, Facts, Timed};
use crate::buffers::Slots;
use crate::content::Writer;
use crate::event::TimeKind;
use crate::far::Side;
use crate::near::{Loops, Turn};
use crate::{TrialSpec, Workspace};

const HELP: &str = "A number of sends, then one short answer";
const LOST: &str = "a message of the burst may be lost, and the answer would never come";

pub(super) const FACTS: Facts = Facts {
    refuses: |can| one_process(can).or((!can.reliable).then_some(LOST)),
    whole: |spec| if spec.burst == 0 { Err("a burst has at least 1 message".into()) } else { Ok(()) },
    bursts: true,
    reverses: true,
    messages: |spec| if spec.reverse { (1, spec.size) } else { (spec.size, 1) },
    transfers: |_, burst| burst.max(1) as f64,
    ways: |burst| burst.max(1),
    bandwidth: Some("bursts of sends, one answer"),
    ..Facts::new(Some(HELP), TimeKind::OneWay, |spec| FarRole::Burst { count: spec.burst })
};

/// One burst of so many messages.
struct Messages(u64);

impl<L: Link> Turn<L> for Messages {
    const CONTENTS: bool = false;

    #[inline(always)]
    fn once(&self, link: &mut L, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<(), LinkError> {
        for _ in 0..self.0 {
            link.send(out.slot())?;
        }
        link.flush()?;
        link.recv(into.slot())
    }

    fn messages(&self) -> u64 {
        self.0
    }

    fn step(&self, link: &mut L, message: &[u8], answer: &mut [u8], number: u64) -> Result<(), LinkError> {
        link.send(message)?;
        if number + 1 == self.0 { link.recv(answer) } else { Ok(()) }
    }
}

/// One request for so many messages.
struct Asked(u64);

impl<L: Link> Turn<L> for Asked {
    #[inline(always)]
    fn once(&self, link: &mut L, out: &mut Slots<'_>, into: &mut Slots<'_>) -> Result<(), LinkError> {
        link.send(out.slot())?;
        link.flush()?;
        for _ in 0..self.0 {
            link.recv(into.slot())?;
        }
        Ok(())
    }

    fn messages(&self) -> u64 {
        self.0
    }

    fn step(&self, link: &mut L, message: &[u8], answer: &mut [u8], number: u64) -> Result<(), LinkError> {
        if number == 0 {
            link.send(message)?;
            link.flush()?;
        }
        link.recv(answer)
    }
}

pub(super) fn near<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    workspace: &mut Workspace,
) -> Timed {
    let (mut loops, mut out, mut into) = Loops::new(end, clock, spec, workspace, Writer::Far)?;
    match spec.reverse {
        false => loops.closed(&Messages(spec.burst), &mut out, &mut into),
        true => loops.closed(&Asked(spec.burst), &mut out, &mut into),
    }
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
    let mut side = Side::new(end, spec, workspace)?;
    if spec.reverse {
        return answer(side, spec.burst);
    }
    let mut i = 0;
    for end in side.parts() {
        side.begin();
        while i < end {
            for b in 0..spec.burst {
                side.go_on()?;
                let message = side.into.slot();
                side.link.recv(message)?;
                side.check.verify(message, i * spec.burst + b);
                side.came();
            }
            side.link.send(side.out.slot())?;
            side.link.flush()?;
            i += 1;
        }
    }
    side.done()
}

/// Sends so many messages for each request.
fn answer<L: Link>(mut side: Side<'_, L>, burst: u64) -> Answered {
    let mut i = 0;
    for end in side.parts() {
        side.begin();
        while i < end {
            side.go_on()?;
            side.link.recv(side.into.slot())?;
            side.came();
            for b in 0..burst {
                side.go_on()?;
                let message = side.out.slot();
                side.check.fill(message, i * burst + b);
                side.link.send(message)?;
            }
            side.link.flush()?;
            i += 1;
        }
    }
    side.done()
}
