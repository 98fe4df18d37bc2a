//! Post: a stream whose messages are posted. The memory of each belongs to the path until the path reports it complete, so that it need not
//! be copied. The receiver is that of a stream, on either side.

use std::time::Duration;

use transport::clock::{Clock, Monotonic};
use transport::{Capabilities, End, Link, LinkError, Queued, VisitQueued};

use super::{Answered, Facts, Timed, stream};
use crate::buffers::Slots;
use crate::cost::Cost;
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

const HELP: &str = "A stream whose sends are posted: their memory is the path's until it says that it is done with it";
const LACKS: &str =
    "its sends return when the memory may be used again, so that none is posted (list says which transports post)";
const LACKING: LinkError = LinkError::Unsupported("post sends");

/// Posts under way at most.
const UNDER_WAY: u64 = 32;
/// Length of one wait for completions; the link's time-out ends waits in which nothing moves.
const WAIT: Duration = Duration::from_secs(1);

pub(super) const FACTS: Facts = Facts {
    help: Some(HELP),
    refuses: |can| (!can.queued).then_some(LACKS),
    in_group: None,
    posts: true,
    undecorated: true,
    loggp: None,
    netpipe: None,
    bandwidth: Some("posted streams"),
    ..stream::FACTS
};

/// A link whose sends are posts.
struct Posts<'a, L> {
    link: &'a mut L,
    /// Posts that were complete at the last check.
    complete: u64,
    /// Posts that may be under way when a send returns.
    most: u64,
}

impl<L: Queued> Posts<'_, L> {
    /// Waits until no more than `left` are under way.
    fn settle(&mut self, left: u64) -> Result<(), LinkError> {
        while self.link.posted() - self.complete > left {
            self.complete = self.link.poll(self.link.posted() - left, WAIT)?;
        }
        Ok(())
    }
}

impl<L: Queued> Link for Posts<'_, L> {
    fn capabilities(&self) -> Capabilities {
        self.link.capabilities()
    }
    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.link.post(message)?;
        if self.link.posted() - self.complete <= self.most {
            return Ok(());
        }
        // Several at once, since each check costs a call.
        self.settle(self.most / 2)
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.link.recv(message)
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.link.exchange(out, into)
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.link.ready(wait)
    }
    fn flush(&mut self) -> Result<(), LinkError> {
        self.settle(0)?;
        self.link.flush()
    }
    fn close(&mut self) -> Result<(), LinkError> {
        self.link.close()
    }
}

/// What posting a stream took: seconds, its cost, and how many of the calls made a copy nevertheless, of all.
struct Posted {
    seconds: f64,
    cost: Option<Cost>,
    copied: Option<(u64, u64)>,
}

struct Sender<'a, C> {
    clock: &'a C,
    spec: &'a TrialSpec,
    halt: Halt,
    out: Slots<'a>,
}

impl<C: Clock> VisitQueued for Sender<'_, C> {
    type Out = Result<Posted, SessionError>;

    fn visit<L: Queued>(self, link: &mut L) -> Self::Out {
        let Self { clock, spec, halt, out } = self;
        let before = link.copied().unwrap_or_default();
        // Contents that are checked change with each message in the same memory: then only one may be under way.
        let most = if spec.check { 0 } else { UNDER_WAY };
        let complete = link.posted();
        let (seconds, cost) = stream::sent(&mut Posts { link, complete, most }, clock, spec, halt, out)?;
        let copied = link.copied().map(|after| (after.0 - before.0, after.1 - before.1));
        Ok(Posted { seconds, cost, copied })
    }
}

/// Posts the stream.
fn send<L: Link, C: Clock>(
    end: &mut End<L>,
    clock: &C,
    spec: &TrialSpec,
    side: &mut Workspace,
) -> Result<Posted, SessionError> {
    let (link, out, _) = side.slots(end, spec, spec.size, 0)?;
    link.visit_queued(Sender { clock, spec, halt: side.halt(), out }).unwrap_or(Err(LACKING.into()))
}

pub(super) fn near<L: Link, C: Clock>(end: &mut End<L>, clock: &C, spec: &TrialSpec, side: &mut Workspace) -> Timed {
    if spec.reverse {
        return stream::near(end, clock, spec, side);
    }
    let Posted { seconds, cost, copied } = send(end, clock, spec, side)?;
    Ok(TrialReport { repeats: spec.repeats, seconds, cost, copied, ..TrialReport::default() })
}

pub(super) fn far<L: Link>(end: &mut End<L>, spec: &TrialSpec, side: &mut Workspace) -> Answered {
    if !spec.reverse {
        return stream::far(end, spec, side);
    }
    let Posted { seconds, cost, copied } = send(end, &Monotonic, &stream::turned(spec), side)?;
    Ok(FarReport { copied, ..stream::handed_over(spec, seconds, cost) })
}
