//! What a side keeps over the trials of one connection: the memory that blocks are sent from and received into, and the
//! flag that ends a trial early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use transport::{Buffer, Link, LinkError};

use workload::hint::{self, Kernel, Precision};

use crate::{Cache, TrialSpec};

/// Send and receive memory of one side.
#[derive(Debug)]
pub struct Buffers {
    near: bool,
    halt: Halt,
    send: Option<Held>,
    recv: Option<Held>,
    kernel: Option<Kernel>,
}

/// Ends a trial between two iterations. Links look at their own patience only while they wait: a trial that never waits
/// would not see that it should end.
#[derive(Debug, Clone, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// Ends the trial: all flows and links that look at the same flag.
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

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
        Self { near, halt: Halt::default(), send: None, recv: None, kernel: None }
    }

    /// The same, with trials that end soon after `flag` becomes true.
    pub fn halted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { halt: Halt(flag), ..self }
    }

    /// What ends a trial early.
    pub fn halt(&self) -> Halt {
        self.halt.clone()
    }

    /// HINT's memory, enough for `n` subintervals. It is lent out: [`Buffers::keep`] takes it back for the next trial.
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

/// Room for one side's blocks of `len` bytes in one direction: how far apart they lie, how many there are, bytes in all.
struct Layout {
    stride: u128,
    count: u128,
    need: u128,
    room: u128,
}

impl Layout {
    /// In numbers that nothing a peer may ask for can overflow.
    fn of(spec: &TrialSpec, len: u64) -> Self {
        // Slots of a cold pool keep the alignment and leave a gap, so that no prefetcher finds the next one ready.
        let stride = (u128::from(len) + 64).next_multiple_of(u128::from(spec.align.max(64)));
        let count = if spec.cache == Cache::Cold { (u128::from(spec.pool) / stride).max(2) } else { 1 };
        let need = if count > 1 { stride * count } else { u128::from(len) };
        // Sizes come in random order: room to grow keeps the number of reservations small.
        let room = if count > 1 { need } else { need.next_power_of_two().max(64 * 1024) };
        Self { stride, count, need, room }
    }
}

/// Bytes that [`Buffers`] reserve at most for a trial, with what alignment and offset take beside its blocks: what a side must have
/// before it agrees to the trial.
pub fn reserved(spec: &TrialSpec) -> u128 {
    let facts = spec.pattern.facts();
    let (there, back) = (facts.blocks)(spec);
    let beside = u128::from(spec.align) + u128::from(spec.offset.0.max(spec.offset.1)) + PAGE;
    Layout::of(spec, there).room + Layout::of(spec, back).room + 2 * beside + (facts.memory)(spec)
}

/// Memory comes in pages; none is larger on any system this runs on.
const PAGE: u128 = 64 * 1024;

fn slots<'a, L: Link>(
    held: &'a mut Option<Held>,
    link: &mut L,
    spec: &TrialSpec,
    offset: u64,
    len: u64,
) -> Result<Slots<'a>, LinkError> {
    let align = spec.align.max(1);
    let Layout { stride, count, need, room } = Layout::of(spec, len);
    let fits = |h: &Held| h.memory.len() as u128 >= need && h.align == align && h.offset == offset;
    if !held.as_ref().is_some_and(fits) {
        *held = None;
        *held = Some(Held { memory: link.buffer(room as usize, align as usize, offset as usize)?, align, offset });
    }
    let memory = &mut held.as_mut().expect("was just put there").memory[..];
    Ok(Slots { memory, len: len as usize, stride: stride as usize, count: count as usize, at: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;
    use transport::memcpy::Memcpy;

    fn spec() -> TrialSpec {
        TrialSpec { burst: 1, seed: 1, ..TrialSpec::plain(Pattern::Request, 1, 1) }
    }

    #[test]
    fn no_more_is_reserved_than_was_said() {
        for cache in [Cache::Warm, Cache::Cold] {
            for size in [1, 100, 4096, 70_000, 1 << 20] {
                for align in [1, 64, 4096, 1 << 21] {
                    for pool in [0, 1 << 16, 3 << 20] {
                        let response = size / 2 + 1;
                        let spec = TrialSpec { size, response, align, cache, pool, offset: (0, 5000), ..spec() };
                        let mut buffers = Buffers::new(false);
                        buffers.slots(&mut Memcpy::new(), &spec, size, response).unwrap();
                        let held = |h: &Option<Held>| h.as_ref().map_or(0, |h| h.memory.len() as u128);
                        let taken = held(&buffers.send) + held(&buffers.recv);
                        let beside = 2 * u128::from(align + 5000);
                        let said = reserved(&spec);
                        assert!(taken + beside <= said, "{spec:?}: {taken} bytes and {beside} beside, said {said}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_numbers_overflow() {
        let most = TrialSpec { size: u64::MAX, response: u64::MAX, pool: u64::MAX, cache: Cache::Cold, ..spec() };
        for pattern in Pattern::ALL {
            let spec = TrialSpec { pattern: *pattern, align: u64::MAX, offset: (u64::MAX, 0), ..most.clone() };
            assert!(reserved(&spec) > u128::from(u64::MAX), "{pattern:?}");
        }
    }
}
