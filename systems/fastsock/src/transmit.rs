//! Sending on an active connection.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use am::memory::Memory;
use libc::{c_int, iovec};

use crate::arena::{self, AHEAD, AHEAD_MOST, FAST, LARGE, PART, TCP, TCP_AGAIN, control};
use crate::buffers::Buffers;
use crate::page::{Again, Out, Page};
use crate::receive::Outcome;
use crate::ring::{Lie, Source};
use crate::slot::{self, Held, Slot};
use crate::tcp;
use crate::wait::{End, Wait};
use crate::{back, budget, late, ready, real, recycle, report, section};

/// Flags that the ring knows. (What `MSG_MORE` holds back in the kernel, the ring sends.)
const KNOWN: c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_MORE | libc::MSG_EOR;
/// Sends through the ring after which the kernel is asked whether the peer still is there, if that has read nothing meanwhile.
const ASK: u32 = 64;

/// How long a peer that asked for bytes again may take for them, where the kernel does not hold them all and somebody has to wait for that.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes that are sent again by one call: on a stack that may be a handler's.
const COPIED: usize = 4096;

/// What came of an attempt.
enum Step {
    Done(usize),
    /// No room in the ring.
    NoRoom,
    /// No room in the kernel.
    KernelFull,
    Failed(c_int),
    Kernel,
}

/// Sends the program's buffers.
///
/// # Safety
/// The buffers may be read.
pub unsafe fn send(fd: c_int, slot: &Held, buffers: &[iovec], flags: c_int) -> Outcome {
    let Some((page, memory)) = slot.parts() else { return Outcome::Kernel };
    if flags & !KNOWN != 0 {
        retire(slot);
        pay_all(fd, slot);
        return Outcome::Kernel;
    }
    // SAFETY: the caller's promise.
    let Some(mut buffers) = (unsafe { Buffers::new(buffers) }) else { return Outcome::Kernel };
    if buffers.left() == 0 {
        return Outcome::Kernel;
    }
    let (mut wait, mut total) = (Wait::new(fd, libc::SO_SNDTIMEO), 0_usize);
    loop {
        let error = match attempt(fd, slot, page, memory, &mut buffers, flags) {
            Step::Done(len) => {
                slot.sent();
                total += len;
                wait.moved();
                if buffers.left() == 0 {
                    return Outcome::Result(total as isize);
                }
                continue;
            }
            Step::Kernel if total == 0 => return Outcome::Kernel,
            Step::Kernel => {
                let (start, len) = buffers.piece(usize::MAX);
                // SAFETY: a piece of the program's buffers.
                let sent = unsafe { real::send(fd, start.cast(), len, flags | libc::MSG_NOSIGNAL) };
                if sent <= 0 {
                    return Outcome::Result(total as isize);
                }
                buffers.pass(sent as usize);
                total += sent as usize;
                if buffers.left() == 0 {
                    return Outcome::Result(total as isize);
                }
                continue;
            }
            Step::Failed(errno) => errno,
            step @ (Step::NoRoom | Step::KernelFull) => {
                match pause(fd, slot, page, memory, flags, &mut wait, matches!(step, Step::NoRoom)) {
                    Ok(()) => continue,
                    Err(errno) => errno,
                }
            }
        };
        return Outcome::Result(if total > 0 { total as isize } else { real::fail(error) });
    }
}

/// There is no room: waits, if the call is one that waits.
fn pause(
    fd: c_int,
    slot: &Held,
    page: &Page,
    memory: &Memory,
    flags: c_int,
    wait: &mut Wait,
    ring: bool,
) -> Result<(), c_int> {
    if flags & libc::MSG_DONTWAIT != 0 || slot.nonblocking(fd) {
        return Err(libc::EAGAIN);
    }
    report::waits(slot, false);
    let me = slot.me();
    let (way, sides) = (&control(memory).ways[me], &control(memory).sides);
    let end = if ring {
        let Some(writer) = page.out.with(|out| out.sink.writer) else { return Err(libc::ECONNRESET) };
        let left = sides[1 - me].leaving.load(Ordering::Acquire);
        let news = || {
            writer.news(&way.lane)
                || sides[1 - me].leaving.load(Ordering::Acquire) != left
                || sides[1 - me].wants_tcp.load(Ordering::Acquire) != 0
                || recycle::closed_by_peer(slot, memory)
        };
        if wait.spin(&sides[me], &sides[1 - me], Duration::ZERO, news) {
            return Ok(());
        }
        wait.sleep(slot, &way.room, news)
    } else {
        wait.poll(slot, libc::POLLOUT)
    };
    if !slot.still(fd) {
        return Err(libc::EBADF);
    }
    match end {
        End::Look => Ok(()),
        End::Late => Err(libc::EAGAIN),
        End::Signal => Err(libc::EINTR),
    }
}

fn attempt(fd: c_int, slot: &Slot, page: &Page, memory: &Memory, buffers: &mut Buffers<'_>, flags: c_int) -> Step {
    section::may_end();
    if page.broken.load(Ordering::Relaxed) != 0 {
        return Step::Kernel;
    }
    let put = page.out.with(|out| {
        let put = if slot.active() { put(fd, slot, out, memory, buffers, flags) } else { Ok(Step::Kernel) };
        if let Ok(Step::Done(len)) = put {
            report::sent(slot, len);
        }
        put
    });
    match put {
        Some(Ok(step)) => step,
        Some(Err(())) | None => {
            page.break_off(fd);
            Step::Failed(libc::ECONNRESET)
        }
    }
}

fn put(
    fd: c_int,
    slot: &Slot,
    out: &mut Out,
    memory: &Memory,
    buffers: &mut Buffers<'_>,
    flags: c_int,
) -> Result<Step, ()> {
    let me = slot.me();
    let control = control(memory);
    let (way, peer, mine) = (&control.ways[me], &control.sides[1 - me], &control.sides[me]);
    let closed = recycle::closed_by_peer(slot, memory) && mine.shut.load(Ordering::Relaxed) == 0;
    if closed && slot.never.swap(1, Ordering::SeqCst) == 0 {
        recycle::sent_too_late(fd);
        set_phase(out, memory, slot, TCP_AGAIN);
        let all = buffers.left();
        buffers.pass(all);
        return Ok(Step::Done(all));
    }
    if out.phase == TCP {
        if peer.ready.load(Ordering::SeqCst) == 0 || mine.shut.load(Ordering::Relaxed) != 0 {
            return Ok(over_tcp(fd, slot, out, buffers, flags, way));
        }
        set_phase(out, memory, slot, FAST);
    }
    if out.phase == TCP_AGAIN {
        return Ok(by_kernel(fd, slot, memory, out, flags));
    }
    let leave = !back::enter(&way.busy.0, &peer.wants_tcp)
        || mine.shut.load(Ordering::Relaxed) != 0
        || gone(fd, out, memory, me);
    if !leave && out.sink.is_short(way, buffers.left(), slot.sends_again()) {
        out.sink.grow(memory, way, me, || budget::more(slot, LARGE.bytes()));
    }
    let room = out.sink.room(way, buffers.left()).map_err(drop);
    if leave {
        set_phase(out, memory, slot, TCP_AGAIN);
    }
    let step = match room {
        _ if leave => Ok(by_kernel(fd, slot, memory, out, flags)),
        Err(()) => Err(()),
        // Who has sent its end of file may be gone altogether, and will never make room then.
        Ok(0) => Ok(if tcp::peer_ended(fd) {
            set_phase(out, memory, slot, TCP_AGAIN);
            by_kernel(fd, slot, memory, out, flags)
        } else {
            Step::NoRoom
        }),
        Ok(room) => Ok(Step::Done(copy(out, slot, memory, buffers, room))),
    };
    back::done(&way.busy.0);
    way.bytes.ring(slot.peers_event());
    step
}

/// This side is on TCP: the call is the kernel's, once nothing is owed.
fn by_kernel(fd: c_int, slot: &Slot, memory: &Memory, out: &mut Out, flags: c_int) -> Step {
    let (Some(again), Some((page, _))) = (&out.again, slot.parts()) else { return Step::Kernel };
    if again.ends {
        if flags & libc::MSG_NOSIGNAL == 0 {
            // SAFETY: a signal to this thread, as the kernel sends it then.
            unsafe { libc::raise(libc::SIGPIPE) };
        }
        return Step::Failed(libc::EPIPE);
    }
    if pay_within(fd, page, memory, slot, out, || false) { Step::Kernel } else { Step::KernelFull }
}

/// Whether the peer has closed its end altogether, asked where there is reason to, or now and then. An end of file that it announced as
/// a shutdown of its sending direction is no close.
fn gone(fd: c_int, out: &mut Out, memory: &Memory, me: usize) -> bool {
    out.unasked += 1;
    let left = control(memory).sides[1 - me].leaving.load(Ordering::Acquire);
    if left == out.left && out.unasked < ASK {
        return false;
    }
    // Who has read since then was there.
    let read = out.sink.writer.read(&control(memory).ways[me].lane);
    if left == out.left && read != out.read {
        (out.unasked, out.read) = (0, read);
        return false;
    }
    gone_now(fd, out, memory, me)
}

fn gone_now(fd: c_int, out: &mut Out, memory: &Memory, me: usize) -> bool {
    let peer = &control(memory).sides[1 - me];
    out.unasked = 0;
    out.left = peer.leaving.load(Ordering::Acquire);
    // To send over TCP is never wrong, so doubt decides for it.
    tcp::peer_ended(fd) && (peer.shut.load(Ordering::Acquire) == 0 || out.left != 0)
}

/// Copies into the ring, at most `room` bytes, and tells the peer of each part, so that it copies out while this side copies in.
fn copy(out: &mut Out, slot: &Slot, memory: &Memory, buffers: &mut Buffers<'_>, room: usize) -> usize {
    let (me, mut copied) = (slot.me(), 0);
    let (way, sides) = (&control(memory).ways[me], &control(memory).sides);
    let apart = sides[me].cpu.load(Ordering::Relaxed) != sides[1 - me].cpu.load(Ordering::Relaxed);
    if crate::planted::is("a part lost") && room.min(buffers.left()) > PART {
        buffers.pass(PART);
        copied = PART;
    }
    while copied < room {
        // A short message of several buffers comes whole, as the kernel's does.
        let part = PART.min(room - copied);
        let mut done = 0;
        while done < part {
            let (start, len) = buffers.piece(part - done);
            if len == 0 {
                break;
            }
            let span = out.sink.writer.place(done, len);
            // SAFETY: a piece of the program's buffers, which it lends for the call.
            let from = unsafe { std::slice::from_raw_parts(start, len) };
            memory.put_span(out.sink.start(me), span, from);
            buffers.pass(len);
            done += len;
            let next = out.sink.writer.ahead(done + AHEAD, len.min(AHEAD_MOST));
            memory.fetch_to_write(out.sink.start(me) + next.at, next.first);
        }
        if done == 0 {
            break;
        }
        out.sink.writer.publish(&way.lane, done);
        copied += done;
        // A peer that sleeps on this CPU is woken by the last part: it would only take the CPU from this side. (`put` rings.)
        if apart && copied < room && buffers.left() > 0 {
            way.bytes.ring(slot.peers_event());
        }
    }
    copied
}

fn over_tcp(fd: c_int, slot: &Slot, out: &mut Out, buffers: &mut Buffers<'_>, flags: c_int, way: &arena::Way) -> Step {
    let mut space = [iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; 16];
    let message = buffers.message(usize::MAX, &mut space);
    // SAFETY: the program's buffers.
    let sent = unsafe { real::whole::sendmsg(fd, &raw const message, flags | libc::MSG_DONTWAIT) };
    match sent {
        1.. => {
            out.tcp += sent as u64;
            buffers.pass(sent as usize);
            way.bytes.ring(slot.peers_event());
            Step::Done(sent as usize)
        }
        0 => Step::Kernel,
        _ => match real::errno() {
            libc::EAGAIN => Step::KernelFull,
            errno => Step::Failed(errno),
        },
    }
}

fn set_phase(out: &mut Out, memory: &Memory, slot: &Slot, phase: u32) {
    let way = &control(memory).ways[slot.me()];
    if phase == TCP_AGAIN
        && let Some(taken) = back::leave(&way.back)
        && out.phase == FAST
        && let (Some(fd), Some((page, _))) = (slot::descriptor(slot), slot.parts())
        && !crate::planted::is("not sent again")
    {
        send_again(fd, page, memory, slot, out, taken as usize);
    }
    if out.phase == TCP {
        way.moved_at.store(out.tcp + u64::from(crate::planted::is("one byte off")), Ordering::Relaxed);
    }
    out.phase = phase;
    // Release: with the phase come the ring's last bytes, or how many came before its first.
    way.phase.store(phase, Ordering::Release);
    way.bytes.ring(slot.peers_event());
    // Who waits for room asks somebody else from now on.
    ready::tell_own(slot);
}

/// Sends over TCP what the peer had not read of the ring when it asked for that, but for so many bytes that it has taken since. Before anything else goes there,
/// and at once: the kernel's buffer is made to hold it. Where the system allows none that does, the rest follows as there is room (`late`).
#[cold]
fn send_again(fd: c_int, page: &Page, memory: &Memory, slot: &Slot, out: &mut Out, taken: usize) {
    let errno = real::errno();
    let way = &control(memory).ways[slot.me()];
    // How much that is says this side's own end of the ring: a peer can move the shared words on for ever.
    let bytes = out.sink.unread(way).ok().and_then(|unread| unread.checked_sub(taken));
    if let Some(bytes) = bytes {
        let source = Source::from(way, out.sink.writer.tail().wrapping_sub(bytes as u64));
        out.again = Some(Again { source, bytes, ends: false });
        page.owed.store(1, Ordering::SeqCst);
        let mut room = tcp::Room::new(fd);
        if !pay_within(fd, page, memory, slot, out, || room.make(bytes)) && !late::keep(fd, slot) {
            wait_to_pay(fd, || pay_within(fd, page, memory, slot, out, || false));
        }
    } else {
        // SAFETY: a descriptor of the program's.
        unsafe { real::shutdown(fd, libc::SHUT_RDWR) };
    }
    real::fail(errno);
}

/// Sends on what is owed to the peer. Whether nothing is any more. `more` is to find room where there is none, once.
fn pay_within(fd: c_int, page: &Page, memory: &Memory, slot: &Slot, out: &mut Out, more: impl FnMut() -> bool) -> bool {
    let Some(again) = out.again.as_mut() else { return true };
    let (sent, ends) = (send_on(fd, memory, slot, again, more), again.ends);
    if matches!(sent, Ok(false)) {
        return false;
    }
    out.again = None;
    page.owed.store(0, Ordering::SeqCst);
    match sent {
        // SAFETY: a descriptor of the program's, or a copy of it.
        Err(Lie) => _ = unsafe { real::shutdown(fd, libc::SHUT_RDWR) },
        // SAFETY: as above.
        Ok(_) if ends => _ = unsafe { real::shutdown(fd, libc::SHUT_WR) },
        Ok(_) => tcp::push(fd),
    }
    true
}

/// As far as there is room. Whether nothing is left to be sent, as all is gone or nobody gets it any more.
fn send_on(
    fd: c_int,
    memory: &Memory,
    slot: &Slot,
    again: &mut Again,
    mut more: impl FnMut() -> bool,
) -> Result<bool, Lie> {
    let me = slot.me();
    let (way, peer) = (&control(memory).ways[me], &control(memory).sides[1 - me]);
    let mut part = [0; COPIED];
    // Who has closed gets nothing, and the error that tells is the program's. An end of file that was announced is none: its sender may read on, or has
    // closed with bytes unread, which a send is told of.
    while again.bytes > 0 && (peer.shut.load(Ordering::Acquire) != 0 || !tcp::peer_ended(fd)) {
        let there = again.source.ready(way)?;
        if there == 0 {
            return Err(Lie);
        }
        let part = &mut part[..there.min(COPIED).min(again.bytes)];
        again.source.copy(memory, me, 0, part);
        let one = [iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() }];
        let mut space = one;
        // SAFETY: the bytes are there; they are only read.
        let Some(buffers) = (unsafe { Buffers::new(&one) }) else { return Ok(true) };
        let message = buffers.message(usize::MAX, &mut space);
        // SAFETY: a message of bytes that are there.
        match unsafe { real::whole::sendmsg(fd, &raw const message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) } {
            sent @ 1.. => {
                again.source.reader.consume(sent as usize);
                again.bytes -= sent as usize;
            }
            _ if real::errno() != libc::EAGAIN => return Ok(true),
            _ if more() => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Waits until `pay` says that nothing is owed, for so long as anybody may be made to wait; a connection that does not get it there in time is cut.
fn wait_to_pay(fd: c_int, mut pay: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !pay() {
        let mut ask = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
        let left = until.saturating_duration_since(Instant::now()).as_millis() as c_int;
        // SAFETY: one entry; a descriptor of the program's, or a copy of it.
        if left == 0 || unsafe { real::whole::poll(&raw mut ask, 1, left) } == 0 {
            return tcp::cut(fd);
        }
    }
}

/// Sends on what is owed to the peer. Whether nothing is any more.
pub fn pay(fd: c_int, slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts() else { return true };
    let errno = real::errno();
    let paid = !owes(slot) || page.out.with(|out| pay_within(fd, page, memory, slot, out, || false)) != Some(false);
    real::fail(errno);
    paid
}

/// Whether anything goes over TCP before what the program sends.
pub fn owes(slot: &Slot) -> bool {
    slot.parts().is_some_and(|(page, _)| page.owed.load(Ordering::SeqCst) != 0)
}

/// Waits until nothing is owed any more: somebody is about to send by calls that nobody sees.
pub fn pay_all(fd: c_int, slot: &Slot) {
    if owes(slot) {
        let errno = real::errno();
        wait_to_pay(fd, || pay(fd, slot));
        real::fail(errno);
    }
}

/// The program ends the sending direction. Whether that is told later, after what is owed.
pub fn ends_later(slot: &Slot) -> bool {
    let Some((page, _)) = slot.parts().filter(|_| owes(slot)) else { return false };
    page.out.with(|out| out.again.as_mut().map(|again| again.ends = true).is_some()) == Some(true)
}

/// What the peer has not read of the ring goes over TCP, if it asked for that.
#[inline(always)]
pub fn give_back(slot: &Slot) {
    if slot.parts().is_some_and(|(_, memory)| back::asked(&control(memory).ways[slot.me()].back)) {
        retire(slot);
    }
}

/// Whether the peer may still ask for what it has not read of the ring.
pub fn may_be_asked(slot: &Slot) -> bool {
    slot.parts().is_some_and(|(page, _)| page.out.with(|out| out.phase == FAST) == Some(true))
}

/// Whether this side sends by the ring from here on.
pub fn settle(slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts() else { return false };
    let control = control(memory);
    let ready = control.sides[1 - slot.me()].ready.load(Ordering::SeqCst) != 0;
    let settled = page.out.with(|out| {
        if out.phase == TCP && ready && control.sides[slot.me()].shut.load(Ordering::Relaxed) == 0 {
            set_phase(out, memory, slot, FAST);
        }
        out.phase == FAST
    });
    settled == Some(true)
}

/// From here on this side sends over TCP.
pub fn retire(slot: &Slot) {
    let Some((page, memory)) = slot.parts() else { return };
    page.out.with(|out| {
        if out.phase != TCP_AGAIN {
            set_phase(out, memory, slot, TCP_AGAIN);
        }
    });
}

/// Bytes that were sent through the ring. Some of them may have gone over TCP once more, and count there as well.
pub fn through_ring(slot: &Slot) -> u64 {
    slot.parts().and_then(|(page, _)| page.out.with(|out| out.sink.writer.tail())).unwrap_or(0)
}
