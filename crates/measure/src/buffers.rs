//! What a side keeps over the trials of one connection: the memory that blocks are sent from and received into, and the
//! flag that ends a trial early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use transport::{Buffer, Link, LinkError};

use crate::{Cache, TrialSpec};

/// Send and receive memory of one side.
#[derive(Debug)]
pub struct Buffers {
    near: bool,
    halt: Halt,
    send: Option<Held>,
    recv: Option<Held>,
}

/// Ends a trial between two iterations. Links look at their own patience only while they wait: a trial that never waits
/// would not see that it should end.
#[derive(Debug, Clone, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// An error once the trial should end.
    #[inline(always)]
    pub fn check(&self) -> Result<(), LinkError> {
        if self.0.load(Ordering::Relaxed) { Err(LinkError::Interrupted) } else { Ok(()) }
    }
}

/// Memory and what it was reserved for.
#[derive(Debug)]
struct Held {
    memory: Buffer,
    align: u64,
    offset: u64,
}

/// Where the blocks of a trial lie: one place (warm), or a walk over a pool (cold).
pub struct Slots<'a> {
    memory: &'a mut [u8],
    len: usize,
    stride: usize,
    count: usize,
    at: usize,
}

impl Slots<'_> {
    /// The memory of the next block.
    #[inline(always)]
    pub fn slot(&mut self) -> &mut [u8] {
        let start = self.at;
        if self.count > 1 {
            self.at += self.stride;
            if self.at >= self.stride * self.count {
                self.at = 0;
            }
        }
        &mut self.memory[start..start + self.len]
    }
}

impl Buffers {
    /// No memory yet. `near` decides which of the two offsets counts.
    pub fn new(near: bool) -> Self {
        Self { near, halt: Halt::default(), send: None, recv: None }
    }

    /// The same, with trials that end soon after `flag` becomes true.
    pub fn halted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { halt: Halt(flag), ..self }
    }

    /// What ends a trial early.
    pub fn halt(&self) -> Halt {
        self.halt.clone()
    }

    /// Send blocks of `out` bytes and receive blocks of `into` bytes for a trial.
    pub fn slots<L: Link>(
        &mut self,
        link: &mut L,
        spec: &TrialSpec,
        out: u64,
        into: u64,
    ) -> Result<(Slots<'_>, Slots<'_>), LinkError> {
        let offset = if self.near { spec.offset.0 } else { spec.offset.1 };
        Ok((slots(&mut self.send, link, spec, offset, out)?, slots(&mut self.recv, link, spec, offset, into)?))
    }
}

fn slots<'a, L: Link>(
    held: &'a mut Option<Held>,
    link: &mut L,
    spec: &TrialSpec,
    offset: u64,
    len: u64,
) -> Result<Slots<'a>, LinkError> {
    let align = spec.align.max(1);
    // Slots of a cold pool keep the alignment and leave a gap, so that no prefetcher finds the next one ready.
    let stride = (len + 64).next_multiple_of(align.max(64));
    let count = if spec.cache == Cache::Cold { (spec.pool / stride).max(2) } else { 1 };
    let need = if count > 1 { stride * count } else { len };
    let fits = |h: &Held| h.memory.len() as u64 >= need && h.align == align && h.offset == offset;
    if !held.as_ref().is_some_and(fits) {
        // Sizes come in random order: room to grow keeps the number of reservations small.
        let room = if count > 1 { need } else { need.next_power_of_two().max(64 * 1024) };
        *held = None;
        *held = Some(Held { memory: link.buffer(room as usize, align as usize, offset as usize)?, align, offset });
    }
    let memory = &mut held.as_mut().expect("was just put there").memory[..];
    Ok(Slots { memory, len: len as usize, stride: stride as usize, count: count as usize, at: 0 })
}
