//! What a side keeps over the trials of one connection besides the link and its memory: the flag that ends a trial early, and HINT's
//! memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use transport::{End, Link, LinkError};
use workload::hint::{self, Kernel, Precision};

use crate::TrialSpec;
use crate::buffers::{Slots, layout};

/// A side's part in trials.
#[derive(Debug)]
pub struct Workspace {
    near: bool,
    halt: Halt,
    kernel: Option<Kernel>,
}

/// Ends a trial between two iterations. Links check their own time-out only while they wait: a trial that never waits would not see that it
/// should end.
#[derive(Debug, Clone, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// Ends the trial: all flows and links that check the same flag.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// An error once the trial should end.
    #[inline(always)]
    pub fn check(&self) -> Result<(), LinkError> {
        if self.0.load(Ordering::Relaxed) { Err(LinkError::Interrupted) } else { Ok(()) }
    }
}

impl Workspace {
    /// The near side's or the far one's, which decides which of the two offsets counts.
    pub fn new(near: bool) -> Self {
        Self { near, halt: Halt::default(), kernel: None }
    }

    /// The same, with trials that end soon after `flag` becomes true.
    pub fn halted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { halt: Halt(flag), ..self }
    }

    /// What ends a trial early.
    pub fn halt(&self) -> Halt {
        self.halt.clone()
    }

    /// HINT's memory, enough for `n` subintervals. It is lent out: [`Workspace::keep`] takes it back for the next trial.
    pub fn kernel(&mut self, n: u64) -> Result<Kernel, LinkError> {
        let mut kernel = self.kernel.take().unwrap_or_else(|| Kernel::new(Precision::DOUBLE));
        kernel.reserve(n).map_err(|_| {
            let doing =
                format!("reserving memory for {n} subintervals of {} bytes (--memory sets a limit)", hint::BYTES);
            LinkError::io(doing, std::io::ErrorKind::OutOfMemory)
        })?;
        Ok(kernel)
    }

    /// Takes HINT's memory back.
    pub fn keep(&mut self, kernel: Kernel) {
        self.kernel = Some(kernel);
    }

    /// Gives HINT's memory back to the system.
    pub fn release(&mut self) {
        self.kernel = None;
    }

    /// The link of a trial, its messages of `out` bytes to send and its messages of `into` bytes to receive into.
    pub fn slots<'a, L: Link>(
        &self,
        end: &'a mut End<L>,
        spec: &TrialSpec,
        out: u64,
        into: u64,
    ) -> Result<(&'a mut L, Slots<'a>, Slots<'a>), LinkError> {
        let offset = if self.near { spec.offset.0 } else { spec.offset.1 };
        let (out, into) = (layout(spec, out), layout(spec, into).guarded(spec));
        let (link, sent, received) = end.lend(&out.room(spec, offset), &into.room(spec, offset))?;
        Ok((link, out.slots(sent), into.slots(received)))
    }
}
