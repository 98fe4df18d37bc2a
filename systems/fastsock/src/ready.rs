//! Whether an active connection can be read or written, as far as the ring says, and waiting for that beside other descriptors.
//!
//! Each side has an event descriptor for each connection, which the peer writes to if the bell of a direction is *watched*. Who waits puts
//! it beside the descriptors of the program, and keeps this: **a condition that somebody waits for is true nowhere unless the
//! event descriptor is readable or the bell is watched**. So the kernel's own poll and epoll serve the ring: levels, edges, nested sets,
//! several threads and forks.
//!
//! The kernel's connection tells the rest: the end of the stream, errors, and bytes that come over TCP.

use std::sync::atomic::Ordering;

use am::memory::Memory;
use am::ring::{Reader, Writer};

use crate::arena::{FAST, TCP, control};
use crate::page::Page;
use crate::slot::Slot;
use crate::{bell, tcp};

/// Bytes can be received from the ring.
pub const IN: u32 = 1;
/// The ring has room.
pub const OUT: u32 = 2;

/// How far both directions were when last looked at.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    reader: Reader,
    writer: Writer,
    wants: u32,
}

/// Whether the ring, not the kernel, says when there is room to send.
pub fn sends_through_ring(slot: &Slot) -> bool {
    slot.parts().is_some_and(|(page, _)| slot.active() && page.out.with(|out| out.phase) == Some(FAST))
}

/// Which of `wants` the ring grants now. A connection that has failed grants all: the call will tell.
pub fn conditions(slot: &Slot, wants: u32) -> u32 {
    match slot.parts() {
        Some((page, memory)) if slot.active() => look(slot, page, memory, wants).0,
        _ => 0,
    }
}

fn look(slot: &Slot, page: &Page, memory: &Memory, wants: u32) -> (u32, Option<Seen>) {
    let (me, control) = (slot.me(), control(memory));
    if page.broken.load(Ordering::Relaxed) != 0 {
        return (wants, None);
    }
    let (way, own) = (&control.ways[1 - me], &control.ways[me]);
    let inward = page.inward.with(|inward| {
        if inward.error != 0 {
            return (true, inward.reader);
        }
        let there = wants & IN != 0 && inward.reader.ready(&way.lane, 1).unwrap_or(1) > 0;
        // What comes over TCP before the ring's first byte may be on its way still: then the kernel tells.
        let next = inward.phase != TCP
            || (way.phase.load(Ordering::Acquire) != TCP && way.moved_at.load(Ordering::Relaxed) == inward.tcp);
        (there && next, inward.reader)
    });
    let out = page.out.with(|out| {
        let room = wants & OUT != 0
            && out.phase == FAST
            && (out.writer.room(&own.lane, 1).unwrap_or(1) > 0
                || control.sides[1 - me].wants_tcp.load(Ordering::Acquire) != 0
                || control.sides[1 - me].leaving.load(Ordering::Acquire) != out.left);
        (room, out.writer)
    });
    let (Some((read, reader)), Some((write, writer))) = (inward, out) else { return (wants, None) };
    let found = if read { wants & IN } else { 0 } | if write { wants & OUT } else { 0 };
    (found, Some(Seen { reader, writer, wants }))
}

/// What is to be looked at while spinning for `wants`, unless that is granted or can't be.
pub fn seen(slot: &Slot, wants: u32) -> Option<Seen> {
    let (page, memory) = slot.parts().filter(|_| slot.active())?;
    look(slot, page, memory, wants).1
}

impl Seen {
    /// Whether the peer has done anything since: cheap, and no more than a reason to look.
    #[inline(always)]
    pub fn news(&self, slot: &Slot) -> bool {
        let Some((_, memory)) = slot.parts() else { return true };
        let (me, control) = (slot.me(), control(memory));
        (self.wants & IN != 0 && self.reader.news(&control.ways[1 - me].lane))
            || (self.wants & OUT != 0 && self.writer.news(&control.ways[me].lane))
    }
}

/// What arming found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Armed {
    /// Granted already. The event descriptor is readable.
    Ready(u32),
    /// The event descriptor will become readable.
    Quiet,
    /// It is readable for something else that somebody waits for, so that it is no use to this one.
    Noisy,
}

/// From now on the event descriptor becomes readable when one of `wants` is granted.
pub fn arm(slot: &Slot, wants: u32) -> Armed {
    let Some((page, memory)) = slot.parts().filter(|_| slot.active()) else { return Armed::Quiet };
    bell::drain(slot.event());
    watch(slot, wants);
    let now = look(slot, page, memory, IN | OUT).0;
    let others = |bit: u32| now & bit != 0 && page.interest[(bit >> 1) as usize].load(Ordering::SeqCst) != 0;
    if now & wants != 0 {
        bell::tell(slot.event());
        Armed::Ready(now & wants)
    } else if others(IN) || others(OUT) {
        bell::tell(slot.event());
        Armed::Noisy
    } else {
        Armed::Quiet
    }
}

/// The next change tells the event descriptor.
pub fn watch(slot: &Slot, wants: u32) {
    let Some((_, memory)) = slot.parts() else { return };
    let (me, control) = (slot.me(), control(memory));
    if wants & IN != 0 {
        control.ways[1 - me].bytes.watch();
    }
    if wants & OUT != 0 {
        control.ways[me].room.watch();
    }
}

/// Somebody begins (or ends) to wait for `wants`.
pub fn interest(slot: &Slot, wants: u32, begins: bool) {
    let Some((page, _)) = slot.parts() else { return };
    for bit in [IN, OUT] {
        if wants & bit != 0 {
            let count = &page.interest[(bit >> 1) as usize];
            if begins {
                count.fetch_add(1, Ordering::SeqCst);
            } else {
                count.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

/// Whether anybody waits beside other descriptors: then a change of this side's own is told, too.
pub fn tell_own(slot: &Slot) {
    if let Some((page, _)) = slot.parts()
        && page.interest.iter().any(|count| count.load(Ordering::SeqCst) != 0)
    {
        let errno = crate::real::errno();
        bell::tell(slot.event());
        crate::real::fail(errno);
    }
}

/// Whether a peer whose end of file is there has closed altogether, so that a send does not wait for it.
pub fn peer_closed(fd: i32, slot: &Slot) -> bool {
    let Some((_, memory)) = slot.parts() else { return false };
    control(memory).sides[1 - slot.me()].shut.load(Ordering::Acquire) == 0 && tcp::peer_ended(fd)
}
