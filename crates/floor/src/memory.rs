//! Shared memory: a cache line each way for the ping-pong, a byte ring for the stream. Always spins.
//!
//! Both processes run this program and trust each other; the evaluator's own ring does not have that luxury.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};

use crate::message::Message;
use crate::{FloorError, PATIENCE, Pattern, Plan};

/// Payload that shares a line with its flag, bytes.
const SMALL: usize = 63;
/// Bytes of the stream's ring.
const RING: usize = 1 << 20;
/// Largest piece of a message that is copied before the other side is told: it copies one out as the next goes in.
const PIECE: usize = 16 << 10;
/// Looks at a line between two looks at the clock and the other process.
const LOOKS: u32 = 1 << 14;

/// One direction of the ping-pong: the payload and, written last, the flag.
#[repr(C, align(128))]
struct Line {
    data: [u8; SMALL],
    flag: AtomicU8,
}

/// The stream's counters, each written by one side: bytes put into the ring, bytes taken out.
#[repr(C)]
struct Counters {
    put: Counter,
    taken: Counter,
}

#[repr(C, align(128))]
struct Counter(AtomicU64);

/// Two lines, the counters, then the two large messages of the ping-pong or the ring.
#[repr(C, align(128))]
struct Front {
    lines: [Line; 2],
    counters: Counters,
}

const FRONT: usize = size_of::<Front>().next_multiple_of(4096);

struct Memory<'a> {
    start: NonNull<u8>,
    size: usize,
    room: usize,
    control: BorrowedFd<'a>,
}

fn size(plan: &Plan) -> usize {
    FRONT
        + match plan.pattern {
            Pattern::PingPong => 2 * plan.size.next_multiple_of(4096),
            Pattern::Stream => RING,
        }
}

/// The file, twice: one for each process.
pub(crate) fn pair(plan: &Plan) -> Result<(OwnedFd, OwnedFd), FloorError> {
    let file = rustix::fs::memfd_create("pipegauge-floor", MemfdFlags::CLOEXEC)
        .map_err(FloorError::io("creating shared memory"))?;
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, size(plan) as u64)
        .map_err(FloorError::io(format!("reserving {} bytes of shared memory", size(plan))))?;
    let twin = file.try_clone().map_err(FloorError::io("duplicating a file descriptor"))?;
    Ok((file, twin))
}

/// The near side; seconds for the timed iterations.
pub(crate) fn near(file: OwnedFd, control: BorrowedFd<'_>, plan: &Plan) -> Result<f64, FloorError> {
    let memory = Memory::map(&file, control, plan)?;
    let message = &mut *Message::new(plan.size);
    match plan.pattern {
        Pattern::PingPong if plan.size == 1 => trips::<true>(&memory, message, plan),
        Pattern::PingPong => trips::<false>(&memory, message, plan),
        Pattern::Stream => {
            let mut writer = Writer { memory: &memory, put: 0, taken: 0 };
            let (mut start, mut turn) = (Instant::now(), 0u8);
            for messages in plan.answered() {
                turn = turn.wrapping_add(1);
                start = Instant::now();
                for _ in 0..messages {
                    writer.put(message)?;
                }
                memory.receive(1, turn, &mut [0])?;
            }
            Ok(start.elapsed().as_secs_f64())
        }
    }
}

/// The far side: echoes, or receives and says when it has everything.
pub(crate) fn far(file: OwnedFd, control: BorrowedFd<'_>, plan: &Plan) -> Result<(), FloorError> {
    let memory = Memory::map(&file, control, plan)?;
    let message = &mut *Message::new(plan.size);
    match plan.pattern {
        Pattern::PingPong if plan.size == 1 => echoes::<true>(&memory, message, plan)?,
        Pattern::PingPong => echoes::<false>(&memory, message, plan)?,
        Pattern::Stream => {
            let mut reader = Reader { memory: &memory, put: 0, taken: 0 };
            let mut turn = 0u8;
            for messages in plan.answered() {
                turn = turn.wrapping_add(1);
                for _ in 0..messages {
                    reader.take(message)?;
                }
                memory.send(1, turn, &[1]);
            }
        }
    }
    Ok(())
}

/// The message; of a lone byte the length is known here, so that it is copied as such. Longer messages are copied by the C library.
#[inline(always)]
fn known<const BYTE: bool>(message: &mut [u8]) -> &mut [u8] {
    if BYTE { &mut message[..1] } else { message }
}

/// Seconds of the timed round trips.
fn trips<const BYTE: bool>(memory: &Memory<'_>, message: &mut [u8], plan: &Plan) -> Result<f64, FloorError> {
    let message = known::<BYTE>(message);
    let (mut start, mut turn) = (Instant::now(), 0u8);
    for trips in [plan.trips_before(), plan.repeats] {
        start = Instant::now();
        for _ in 0..trips {
            turn = turn.wrapping_add(1);
            memory.send(0, turn, message);
            memory.receive(1, turn, message)?;
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

fn echoes<const BYTE: bool>(memory: &Memory<'_>, message: &mut [u8], plan: &Plan) -> Result<(), FloorError> {
    let message = known::<BYTE>(message);
    let mut turn = 0u8;
    for _ in 0..plan.trips_before() + plan.repeats {
        turn = turn.wrapping_add(1);
        memory.receive(0, turn, message)?;
        memory.send(1, turn, message);
    }
    Ok(())
}

impl<'a> Memory<'a> {
    fn map(file: &OwnedFd, control: BorrowedFd<'a>, plan: &Plan) -> Result<Self, FloorError> {
        let size = size(plan);
        let found = rustix::fs::fstat(file).map_err(FloorError::io("looking at shared memory"))?.st_size;
        if found < size as i64 {
            return Err(FloorError::Usage(format!("the shared memory has {found} bytes instead of {size}")));
        }
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address the kernel chooses; the file has at least this size.
        let start =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, flags, file, 0) };
        let start = start.map_err(FloorError::io(format!("mapping {size} bytes of shared memory")))?;
        let start = NonNull::new(start.cast()).ok_or_else(|| {
            FloorError::io("mapping shared memory")(std::io::Error::other("the system gave address 0"))
        })?;
        Ok(Self { start, size, room: plan.size.next_multiple_of(4096), control })
    }

    fn line(&self, side: usize) -> *mut Line {
        // SAFETY: Front lies at the start of the mapping, and the index is 0 or 1.
        unsafe { (&raw mut (*self.start.cast::<Front>().as_ptr()).lines).cast::<Line>().add(side & 1) }
    }

    fn counters(&self) -> &Counters {
        // SAFETY: Front lies at the start of the mapping; the counters are atomics.
        unsafe { &(*self.start.cast::<Front>().as_ptr()).counters }
    }

    fn large(&self, side: usize) -> *mut u8 {
        // SAFETY: two messages lie behind Front in a ping-pong's mapping.
        unsafe { self.start.as_ptr().add(FRONT + (side & 1) * self.room) }
    }

    #[inline(always)]
    fn send(&self, side: usize, turn: u8, message: &[u8]) {
        let line = self.line(side);
        let to = if message.len() <= SMALL { line.cast::<u8>() } else { self.large(side) };
        // SAFETY: it is this side's turn, so the other one reads neither line nor message; the message fits both.
        unsafe {
            to.copy_from_nonoverlapping(message.as_ptr(), message.len());
            (*line).flag.store(turn, Ordering::Release);
        }
    }

    #[inline(always)]
    fn receive(&self, side: usize, turn: u8, message: &mut [u8]) -> Result<(), FloorError> {
        let line = self.line(side);
        // SAFETY: the flag is an atomic in the mapping.
        let flag = unsafe { &(*line).flag };
        // A loop of nothing but the look; what else a wait does is out of line.
        let mut looks = LOOKS;
        while flag.load(Ordering::Acquire) != turn {
            looks -= 1;
            if looks == 0 {
                self.until(|| flag.load(Ordering::Acquire) == turn)?;
                break;
            }
        }
        let from = if message.len() <= SMALL { line.cast::<u8>() } else { self.large(side) };
        // SAFETY: the flag says that the other side has written the message and waits.
        unsafe { from.copy_to_nonoverlapping(message.as_mut_ptr(), message.len()) };
        Ok(())
    }

    /// Spins until `ready`, the other process is gone, or nothing has moved for too long.
    #[inline(never)]
    fn until(&self, ready: impl Fn() -> bool) -> Result<(), FloorError> {
        let mut since = None;
        loop {
            for _ in 0..LOOKS {
                if ready() {
                    return Ok(());
                }
            }
            let mut fds = [PollFd::new(&self.control, PollFlags::RDHUP)];
            let gone = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|n| n > 0);
            if gone && !ready() {
                return Err(FloorError::Gone { doing: "waiting on shared memory" });
            }
            if since.get_or_insert_with(Instant::now).elapsed().as_secs() >= PATIENCE {
                return Err(FloorError::Stuck { doing: "waiting on shared memory", seconds: PATIENCE });
            }
            // Where both processes share a CPU, the other one can run now.
            rustix::thread::sched_yield();
        }
    }

    fn ring(&self, at: u64) -> (*mut u8, usize) {
        let at = at as usize % RING;
        // SAFETY: the ring lies behind Front in a stream's mapping, and `at` is within it.
        (unsafe { self.start.as_ptr().add(FRONT + at) }, RING - at)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this size; nothing borrows from it any more.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

struct Writer<'a> {
    memory: &'a Memory<'a>,
    put: u64,
    /// What the reader had taken when this side last looked.
    taken: u64,
}

impl Writer<'_> {
    fn put(&mut self, mut message: &[u8]) -> Result<(), FloorError> {
        let counters = self.memory.counters();
        while !message.is_empty() {
            let (to, edge) = self.memory.ring(self.put);
            let piece = message.len().min(PIECE).min(edge);
            let fits = |taken: u64| RING as u64 - (self.put - taken) >= piece as u64;
            if !fits(self.taken) {
                self.memory.until(|| fits(counters.taken.0.load(Ordering::Acquire)))?;
                self.taken = counters.taken.0.load(Ordering::Acquire);
            }
            // SAFETY: the piece lies before the ring's edge, in bytes that the reader has taken.
            unsafe { to.copy_from_nonoverlapping(message.as_ptr(), piece) };
            self.put += piece as u64;
            counters.put.0.store(self.put, Ordering::Release);
            message = &message[piece..];
        }
        Ok(())
    }
}

struct Reader<'a> {
    memory: &'a Memory<'a>,
    /// What the writer had put when this side last looked.
    put: u64,
    taken: u64,
}

impl Reader<'_> {
    fn take(&mut self, mut message: &mut [u8]) -> Result<(), FloorError> {
        let counters = self.memory.counters();
        while !message.is_empty() {
            if self.put == self.taken {
                self.memory.until(|| counters.put.0.load(Ordering::Acquire) != self.taken)?;
                self.put = counters.put.0.load(Ordering::Acquire);
            }
            let (from, edge) = self.memory.ring(self.taken);
            let piece = message.len().min(PIECE).min(edge).min((self.put - self.taken) as usize);
            // SAFETY: the piece lies before the ring's edge, in bytes that the writer has put.
            unsafe { from.copy_to_nonoverlapping(message.as_mut_ptr(), piece) };
            self.taken += piece as u64;
            counters.taken.0.store(self.taken, Ordering::Release);
            message = &mut message[piece..];
        }
        Ok(())
    }
}
