//! Receiving on an active connection.

use std::sync::atomic::Ordering;
use std::time::Duration;

use am::memory::Memory;
use libc::{c_int, iovec};

use crate::arena::{FAST, LARGE, PART, TCP, TCP_AGAIN, Way, control};
use crate::buffers::Buffers;
use crate::page::{In, Page};
use crate::slot::{Held, Slot};
use crate::tcp::{self, State};
use crate::wait::{End, GATHER, Wait};
use crate::{back, bell, ready, real, recycle, report, sandbox, section, transmit};

/// Flags that the ring knows. With another one the call goes to the kernel.
const KNOWN: c_int =
    libc::MSG_PEEK | libc::MSG_DONTWAIT | libc::MSG_WAITALL | libc::MSG_NOSIGNAL | libc::MSG_CMSG_CLOEXEC;

/// Bytes that a call throws away at most, if it asks for all of them.
const MOST_ASIDE: usize = 1 << 26;
/// Changes of phase that an attempt follows: there are two in the life of a connection. And how often a call that hears the peer is woken for nothing, before it
/// waits in the kernel.
const LOOKS: u32 = 64;

/// What came of an attempt.
enum Step {
    Done(usize),
    /// Nothing is there; of the peer, the kernel has not been asked.
    Nothing,
    Failed(c_int),
    /// The kernel has the rest of the stream: the call is its own.
    Kernel,
    /// The kernel has nothing but the end, or an error.
    Ended,
}

/// What a call comes to: its result, or that it is the kernel's.
pub enum Outcome {
    Result(isize),
    Kernel,
}

/// Receives into the program's buffers.
///
/// # Safety
/// The buffers may be written.
pub unsafe fn receive(fd: c_int, slot: &Held, buffers: &[iovec], flags: c_int) -> Outcome {
    let Some((page, memory)) = slot.parts() else { return Outcome::Kernel };
    if flags & !KNOWN == libc::MSG_TRUNC {
        // SAFETY: the caller's promise.
        return unsafe { discard(fd, slot, buffers, flags & !libc::MSG_TRUNC) };
    }
    if flags & !KNOWN != 0 {
        recycle::plain(fd, slot);
        return Outcome::Kernel;
    }
    // SAFETY: the caller's promise.
    let Some(mut buffers) = (unsafe { Buffers::new(buffers) }) else { return Outcome::Kernel };
    let mut wait = Wait::new(fd, libc::SO_RCVTIMEO);
    if buffers.left() == 0 {
        recycle::plain(fd, slot);
        return Outcome::Result(nothing_wanted(fd, slot, page, memory, flags, &mut wait));
    }
    let (mut total, mut looks) = (0, 0);
    // Looking at all of a request at once ends with what the ring can hold.
    let peek = flags & libc::MSG_PEEK != 0;
    let all = flags & libc::MSG_WAITALL != 0 && !peek && !crate::planted::is("all is a part");
    loop {
        let error = match attempt(fd, slot, page, memory, &mut buffers, flags, total > 0) {
            // The rest of a request that asked for all: the kernel's part.
            Step::Kernel if total > 0 && stops(fd) => return Outcome::Result(total as isize),
            Step::Kernel if looks < LOOKS && hears(fd, slot, flags) => {
                match over_tcp(fd, &mut buffers, usize::MAX, flags) {
                    got @ 1.. => {
                        buffers.pass(got as usize);
                        total += got as usize;
                        if !all || buffers.left() == 0 {
                            return Outcome::Result(total as isize);
                        }
                        wait.moved();
                        continue;
                    }
                    0 => return Outcome::Result(total as isize),
                    _ => {}
                }
                match real::errno() {
                    libc::EAGAIN => match sleep(fd, slot, &mut wait) {
                        Ok(()) => {
                            looks += 1;
                            continue;
                        }
                        Err(errno) => errno,
                    },
                    errno => errno,
                }
            }
            Step::Kernel | Step::Ended if total == 0 => {
                // The peer may wait for what it asked for before it sends what the kernel will wait for.
                transmit::give_back(slot);
                return Outcome::Kernel;
            }
            // Whatever it is stays for the next call.
            Step::Ended => return Outcome::Result(total as isize),
            Step::Kernel => {
                transmit::give_back(slot);
                let (start, len) = buffers.piece(usize::MAX);
                // SAFETY: a piece of the program's buffers.
                let got = unsafe { real::recv(fd, start.cast(), len, flags) };
                if got <= 0 {
                    return Outcome::Result(total as isize);
                }
                buffers.pass(got as usize);
                total += got as usize;
                if buffers.left() == 0 {
                    return Outcome::Result(total as isize);
                }
                continue;
            }
            Step::Done(0) => return Outcome::Result(total as isize),
            Step::Done(len) => {
                slot.received();
                total += len;
                if !all || buffers.left() == 0 {
                    return Outcome::Result(total as isize);
                }
                wait.moved();
                continue;
            }
            Step::Failed(errno) => errno,
            // The peer sends over TCP (`retire`): the kernel waits for it, by the program's own call.
            Step::Nothing if sandbox::entered() && total == 0 => return Outcome::Kernel,
            Step::Nothing if sandbox::entered() => return Outcome::Result(total as isize),
            Step::Nothing => match pause(fd, slot, page, memory, flags, &mut wait) {
                Ok(()) => continue,
                Err(errno) => errno,
            },
        };
        return Outcome::Result(if total > 0 { total as isize } else { real::fail(error) });
    }
}

/// Bytes that are taken and thrown away: what `MSG_TRUNC` asks of a TCP socket (tcp(7)).
///
/// # Safety
/// As [`receive`]; the buffers are not written.
#[cold]
unsafe fn discard(fd: c_int, slot: &Held, buffers: &[iovec], flags: c_int) -> Outcome {
    // SAFETY: the caller's promise.
    let Some(asked) = (unsafe { Buffers::new(buffers) }) else { return Outcome::Kernel };
    let all = flags & (libc::MSG_WAITALL | libc::MSG_PEEK) != 0;
    let mut aside = vec![0_u8; asked.left().min(if all { MOST_ASIDE } else { LARGE.bytes() })];
    let one = [iovec { iov_base: aside.as_mut_ptr().cast(), iov_len: aside.len() }];
    // SAFETY: memory of this call's own.
    unsafe { receive(fd, slot, &one, flags) }
}

/// A call that asks for no bytes waits for some all the same.
fn nothing_wanted(fd: c_int, slot: &Held, page: &Page, memory: &Memory, flags: c_int, wait: &mut Wait) -> isize {
    loop {
        // SAFETY: no byte is written.
        let got = unsafe { real::recv(fd, std::ptr::null_mut(), 0, flags | libc::MSG_DONTWAIT) };
        if in_ring(slot) > 0 || got == 0 || real::errno() != libc::EAGAIN {
            return if in_ring(slot) > 0 { 0 } else { got };
        }
        if let Err(errno) = pause(fd, slot, page, memory, flags, wait) {
            return real::fail(errno);
        }
    }
}

/// Nothing is there: waits, if the call is one that waits.
fn pause(fd: c_int, slot: &Held, page: &Page, memory: &Memory, flags: c_int, wait: &mut Wait) -> Result<(), c_int> {
    report::waits(slot, false);
    let me = slot.me();
    let (way, sides) = (&control(memory).ways[1 - me], &control(memory).sides);
    // Where the other processes and threads of this side are does not matter: only what the peer wrote.
    let Some((reader, phase)) = page.inward.with(|inward| (inward.source.reader, inward.phase)) else {
        return Err(libc::ECONNRESET);
    };
    let news = || {
        reader.known() > 0
            || reader.news(&way.lane)
            || way.phase.load(Ordering::Acquire) > phase
            || recycle::closed_by_peer(slot, memory)
    };
    let waits = flags & libc::MSG_DONTWAIT == 0;
    let gather = if slot.streams() { GATHER } else { Duration::ZERO };
    let ready = sides[1 - me].ready.load(Ordering::SeqCst) != 0;
    if waits && ready && !slot.nonblocking(fd) && wait.spin(&sides[me], &sides[1 - me], gather, news) {
        return Ok(());
    }
    // The end of the stream and errors are the kernel's to tell: asked, or by the sleep.
    let left = sides[1 - me].leaving.load(Ordering::Acquire);
    let waits = waits && !slot.nonblocking(fd);
    let known = waits && wait.is_fresh() && left == 0 && sides[1 - me].shut.load(Ordering::Acquire) == 0;
    match if known { Asked::Open } else { ask(fd, slot, page, memory) } {
        Asked::Look => return Ok(()),
        Asked::Open => {}
    }
    if !waits {
        return Err(libc::EAGAIN);
    }
    sleep(fd, slot, wait)
}

/// Sleeps until there is something to be looked at.
fn sleep(fd: c_int, slot: &Held, wait: &mut Wait) -> Result<(), c_int> {
    let end = wait.poll_both(slot);
    if !slot.still(fd) {
        return Err(libc::EBADF);
    }
    match end {
        End::Look => Ok(()),
        End::Late => Err(libc::EAGAIN),
        End::Signal => Err(libc::EINTR),
    }
}

/// Whether a receive that the kernel serves is not to wait there: the peer has not read all that this side has sent through the ring, as far as is known, and may
/// still ask for it.
#[cold]
fn hears(fd: c_int, slot: &Slot, flags: c_int) -> bool {
    transmit::give_back(slot);
    transmit::may_be_asked(slot) && flags & libc::MSG_DONTWAIT == 0 && !slot.nonblocking(fd)
}

/// Whether a receive that has something already ends here: the kernel has an error to tell and no bytes before it, or an urgent byte is next.
fn stops(fd: c_int) -> bool {
    tcp::at_mark(fd) || (tcp::state(fd) == State::Error && tcp::unread(fd) == Some(0))
}

/// What the kernel says.
enum Asked {
    Open,
    /// There is something to be found.
    Look,
}

fn ask(fd: c_int, slot: &Slot, page: &Page, memory: &Memory) -> Asked {
    let state = tcp::state(fd);
    let way = &control(memory).ways[1 - slot.me()];
    let found = page.inward.with(|inward| {
        // The ring was written before the end was sent: what is in it is seen now, and comes first.
        let ring = inward.phase == FAST && inward.source.ready(way).unwrap_or(1) > 0;
        match state {
            State::Open => ring,
            State::Bytes => {
                // Bytes over TCP, of a peer that has not said that it sends there: a call that its library does not see.
                if inward.phase == FAST && !ring && way.phase.load(Ordering::Acquire) == FAST {
                    inward.phase = TCP_AGAIN;
                }
                true
            }
            // The error is the kernel's to tell, after what is in the ring.
            State::End | State::Error => {
                inward.ended = state == State::Error || !ring || inward.ended;
                true
            }
        }
    });
    if found == Some(false) { Asked::Open } else { Asked::Look }
}

/// Takes what is there. `more`: the call has something already, so that an error stays for the next.
fn attempt(
    fd: c_int,
    slot: &Slot,
    page: &Page,
    memory: &Memory,
    buffers: &mut Buffers<'_>,
    flags: c_int,
    more: bool,
) -> Step {
    section::may_end();
    if page.broken.load(Ordering::Relaxed) != 0 {
        return Step::Failed(libc::ECONNRESET);
    }
    let taken = page.inward.with(|inward| {
        let taken = if slot.active() { take(fd, slot, inward, memory, buffers, flags, more) } else { Ok(Step::Kernel) };
        if let Ok(Step::Done(len)) = taken {
            report::received(slot, len);
        }
        if page.plain_words.load(Ordering::Relaxed) != 0 {
            taken_last(slot, inward, memory);
        }
        taken
    });
    match taken {
        Some(Ok(step)) => step,
        Some(Err(())) | None => {
            page.break_off(fd);
            Step::Failed(libc::ECONNRESET)
        }
    }
}

/// The event descriptor of a connection that is back with the kernel may be in sets with the program's words (`watch`): it is readable no longer than bytes are
/// left in the ring, and not because the peer says that it went back as well.
#[cold]
fn taken_last(slot: &Slot, inward: &mut In, memory: &Memory) {
    let way = &control(memory).ways[1 - slot.me()];
    if !is_here(inward, way) || inward.source.all(way).is_ok_and(|there| there == 0) {
        way.bytes.unwatch();
        bell::drain(slot.event());
    }
}

fn take(
    fd: c_int,
    slot: &Slot,
    inward: &mut In,
    memory: &Memory,
    buffers: &mut Buffers<'_>,
    flags: c_int,
    more: bool,
) -> Result<Step, ()> {
    let way = &control(memory).ways[1 - slot.me()];
    let peeks = flags & libc::MSG_PEEK != 0;
    for _ in 0..LOOKS {
        // Before the ring's end, so that what was written before a change of phase is seen with it.
        let phase = way.phase.load(Ordering::Acquire);
        match inward.phase {
            TCP => {
                let most = if phase == TCP {
                    u64::MAX
                } else {
                    let moved_at = *inward.moved_at.get_or_insert_with(|| way.moved_at.load(Ordering::Relaxed));
                    match moved_at.checked_sub(inward.tcp) {
                        Some(most) => most,
                        // It went past the ring before this side was active, which has counted what came after that as well.
                        None if phase == TCP_AGAIN
                            && (inward.asked && back::left(&way.back)
                                || inward.source.ready(way).map_err(drop)? == 0) =>
                        {
                            inward.phase = TCP_AGAIN;
                            continue;
                        }
                        None => return Err(()),
                    }
                };
                if most == 0 {
                    inward.phase = if inward.asked { TCP_AGAIN } else { FAST };
                    continue;
                }
                if more && stops(fd) {
                    return Ok(Step::Ended);
                }
                return match over_tcp(fd, buffers, usize::try_from(most).unwrap_or(usize::MAX), flags) {
                    got @ 1.. => {
                        if !peeks {
                            inward.tcp += got as u64;
                            if got as u64 == most {
                                // The ring's first byte is next.
                                ready::tell_own(slot);
                            }
                            buffers.pass(got as usize);
                        }
                        Ok(Step::Done(got as usize))
                    }
                    0 => Ok(Step::Done(0)),
                    _ => match real::errno() {
                        libc::EAGAIN if way.phase.load(Ordering::Acquire) != phase => continue,
                        libc::EAGAIN => Ok(Step::Nothing),
                        errno => Ok(Step::Failed(errno)),
                    },
                };
            }
            FAST => {
                let there = inward.source.ready(way).map_err(drop)?;
                // What was written before the end is seen with it.
                let closed = there == 0 && phase != TCP_AGAIN && recycle::closed_by_peer(slot, memory);
                let there = if closed { inward.source.ready(way).map_err(drop)? } else { there };
                if there > 0 {
                    return Ok(Step::Done(if peeks && !crate::planted::is("a look takes") {
                        let all = inward.source.all(way).map_err(drop)?;
                        peek(inward, slot, memory, &mut { *buffers }, all)
                    } else {
                        copy(inward, slot, memory, buffers)?
                    }));
                }
                if phase == TCP_AGAIN {
                    inward.phase = TCP_AGAIN;
                    continue;
                }
                if closed {
                    return Ok(Step::Done(0));
                }
                return Ok(if std::mem::take(&mut inward.ended) { Step::Ended } else { Step::Nothing });
            }
            _ => return Ok(read_on(slot, inward, memory, buffers, peeks)?.map_or(Step::Kernel, Step::Done)),
        }
    }
    // Phases that come and go: no sender does that.
    Err(())
}

/// Receives what the kernel has, at most so much.
fn over_tcp(fd: c_int, buffers: &mut Buffers<'_>, most: usize, flags: c_int) -> isize {
    // The program may be allowed no other call that receives.
    if sandbox::silent() && flags == 0 {
        let (start, len) = buffers.piece(most);
        // SAFETY: a piece of the program's buffers.
        return unsafe { real::whole::read(fd, start.cast(), len) };
    }
    let mut space = [iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; 16];
    let mut message = buffers.message(most, &mut space);
    // SAFETY: the program's buffers.
    unsafe { real::whole::recvmsg(fd, &raw mut message, flags & !libc::MSG_WAITALL | libc::MSG_DONTWAIT) }
}

/// Copies out of the ring what is there, and what comes meanwhile; tells of room as it goes, so that the peer copies in while this side
/// copies out.
fn copy(inward: &mut In, slot: &Slot, memory: &Memory, buffers: &mut Buffers<'_>) -> Result<usize, ()> {
    let sender = 1 - slot.me();
    let way = &control(memory).ways[sender];
    let mut copied = 0;
    loop {
        let (start, most) = buffers.piece(PART);
        // Not looked at where nothing is wanted: the line that tells is dear.
        let len = if most == 0 { 0 } else { most.min(inward.source.ready(way).map_err(drop)?) };
        if len == 0 {
            return Ok(copied);
        }
        let piece = inward.source.piece(sender, 0, len);
        // SAFETY: a piece of the program's buffers, which it lends for the call.
        let into = unsafe { std::slice::from_raw_parts_mut(start, len) };
        memory.get_span(piece.start, piece.span, into);
        buffers.pass(len);
        copied += len;
        inward.source.reader.consume(len);
        inward.source.fetch(memory, sender, len);
        // News of room for a quarter at once: a line that moves between CPUs is dear.
        if inward.source.tell(way) {
            way.room.ring(slot.peers_event());
        }
    }
}

/// Copies what is in the ring, and leaves it there.
fn peek(inward: &In, slot: &Slot, memory: &Memory, buffers: &mut Buffers<'_>, there: usize) -> usize {
    let mut copied = 0;
    while copied < there {
        let (start, len) = buffers.piece(there - copied);
        if len == 0 {
            break;
        }
        // SAFETY: a piece of the program's buffers, which it lends for the call.
        let into = unsafe { std::slice::from_raw_parts_mut(start, len) };
        inward.source.copy(memory, 1 - slot.me(), copied, into);
        buffers.pass(len);
        copied += len;
    }
    copied
}

/// The peer was asked to send over TCP, and has heard it. If it never sent through the ring, it never will, and what it sends needs no counting.
pub fn settle(slot: &Slot) {
    let Some((page, memory)) = slot.parts().filter(|_| slot.active()) else { return };
    page.inward.with(|inward| {
        if inward.phase == TCP && control(memory).ways[1 - slot.me()].phase.load(Ordering::Acquire) == TCP {
            inward.phase = TCP_AGAIN;
        }
    });
}

/// Whether the kernel brings all that is still to come, as this side and its peer are on TCP, or will be.
pub fn by_kernel(slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts().filter(|_| slot.active()) else { return true };
    let way = &control(memory).ways[1 - slot.me()];
    let all = page.inward.with(|inward| {
        let mut none = || inward.source.all(way).is_ok_and(|there| there == 0) && back::quiet(&way.busy.0);
        inward.asked || inward.phase == TCP_AGAIN || (inward.phase == FAST && none())
    });
    all == Some(true)
}

/// Asks the peer to send over TCP what is left in the ring, for a program that knows of none: behind what it sent there before the ring's first byte, should that
/// not be read yet. It hears of that in its next call on the connection, or the one that it waits in. False if it can't: it sends over TCP again already, has been
/// asked, or has closed its end.
pub fn ask_back(fd: c_int, slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts().filter(|_| slot.active() && !sandbox::silent()) else { return false };
    let (me, ways) = (slot.me(), &control(memory).ways);
    let way = &ways[1 - me];
    if tcp::peer_ended(fd) || recycle::closed_by_peer(slot, memory) {
        return false;
    }
    let asked = page.inward.with(|inward| {
        // Also of an empty ring: what comes until the peer hears of it would be lost.
        if inward.asked || inward.phase == TCP_AGAIN {
            return false;
        }
        inward.source.tell_all(way);
        inward.asked = back::ask(&way.back);
        if inward.asked && inward.phase == FAST {
            inward.phase = TCP_AGAIN;
        }
        inward.asked
    });
    if asked == Some(true) {
        // It may wait for bytes that this side sends over TCP already, or for room.
        ways[me].bytes.ring(slot.peers_event());
        way.room.ring(slot.peers_event());
    }
    asked == Some(true)
}

/// What was asked for, and the peer has not heard of yet, is read from the ring. What is not taken still comes: whoever it was asked for knows of no ring. None if
/// all is, or will be, with the kernel.
#[cold]
fn read_on(
    slot: &Slot,
    inward: &mut In,
    memory: &Memory,
    buffers: &mut Buffers<'_>,
    peeks: bool,
) -> Result<Option<usize>, ()> {
    let way = &control(memory).ways[1 - slot.me()];
    if !is_here(inward, way) {
        return Ok(None);
    }
    // What is taken lies in one of the rings.
    let there = if peeks { inward.source.all(way) } else { inward.source.ready(way) }.map_err(drop)?;
    let mut looked = *buffers;
    let got = peek(inward, slot, memory, &mut looked, there);
    if got == 0 || peeks {
        return Ok((got > 0).then_some(got));
    }
    if !crate::planted::is("taken without a word") && !back::take(&way.back, got as u32) {
        return Ok(None);
    }
    inward.source.reader.consume(got);
    *buffers = looked;
    Ok(Some(got))
}

/// What was asked for is read from the ring after all, all of it, or handed on. False if the peer sends it.
pub fn takes_back(inward: &mut In, way: &Way) -> bool {
    let on = inward.asked && back::take_back(&way.back);
    if on {
        inward.asked = false;
        if inward.phase == TCP_AGAIN {
            inward.phase = FAST;
        }
    }
    on
}

/// What the peer was asked for would be refused with a reset from now on, as is all that comes over TCP. Its bytes are read from the ring, if at all.
pub fn asks_no_more(slot: &Slot) {
    if let Some((page, memory)) = slot.parts() {
        let way = &control(memory).ways[1 - slot.me()];
        page.inward.with(|inward| takes_back(inward, way));
    }
}

/// Whether what lies in the ring is to be read there, not what comes over TCP or has come.
pub fn is_here(inward: &In, way: &Way) -> bool {
    if inward.asked { !back::left(&way.back) } else { inward.phase != TCP_AGAIN }
}

/// Whether anything is left in the ring that the peer was not asked for, or could not be.
pub fn is_out_of_reach(slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts().filter(|_| slot.active()) else { return false };
    let way = &control(memory).ways[1 - slot.me()];
    let left = |inward: &mut In| {
        !inward.asked && inward.phase != TCP_AGAIN && inward.source.all(way).is_ok_and(|there| there > 0)
    };
    page.inward.with(left) == Some(true)
}

/// Bytes in the ring that wait to be received.
pub fn in_ring(slot: &Slot) -> usize {
    let Some((page, memory)) = slot.parts() else { return 0 };
    let way = &control(memory).ways[1 - slot.me()];
    // What lies before them in the kernel counts there.
    let known = page.inward.with(|inward| if is_here(inward, way) { inward.source.all(way).unwrap_or(0) } else { 0 });
    known.unwrap_or(0)
}

/// Bytes that came through the ring, read or not. Those that the peer sends once more come over TCP, and count there.
pub fn through_ring(slot: &Slot) -> u64 {
    let Some((page, memory)) = slot.parts() else { return 0 };
    let way = &control(memory).ways[1 - slot.me()];
    let count = |inward: &mut In| {
        let there = if is_here(inward, way) { inward.source.all(way).unwrap_or(0) } else { 0 };
        inward.source.reader.head().wrapping_add(there as u64)
    };
    page.inward.with(count).unwrap_or(0)
}
