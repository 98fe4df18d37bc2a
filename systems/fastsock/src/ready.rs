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
use crate::{bell, receive, recycle, tcp, transmit};

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

/// Whether the ring, not the kernel, says when there is room to send. What the peer asks for is heard first: with that it is the kernel.
pub fn sends_through_ring(slot: &Slot) -> bool {
    transmit::give_back(slot);
    slot.parts().is_some_and(|(page, _)| slot.active() && page.out.with(|out| out.phase) == Some(FAST))
}

/// Which of `wants` the ring grants now. A connection that has failed grants all: the call will tell.
pub fn conditions(slot: &Slot, wants: u32) -> u32 {
    if slot.listens.load(Ordering::Relaxed) != 0 {
        return if wants & IN != 0 && recycle::pending(slot) { IN } else { 0 };
    }
    match slot.parts() {
        Some((page, memory)) if slot.active() => look(slot, page, memory, wants),
        _ => 0,
    }
}

fn look(slot: &Slot, page: &Page, memory: &Memory, wants: u32) -> u32 {
    let (me, control) = (slot.me(), control(memory));
    if page.broken.load(Ordering::Relaxed) != 0 {
        return wants;
    }
    transmit::give_back(slot);
    let mut granted = 0;
    if wants & IN != 0 {
        let way = &control.ways[1 - me];
        let there = page.inward.with(|inward| {
            // What comes over TCP before the ring's first byte may be on its way still: then the kernel tells.
            let next = || {
                inward.phase != TCP
                    || (way.phase.load(Ordering::Acquire) != TCP && way.moved_at.load(Ordering::Relaxed) == inward.tcp)
            };
            inward.ended
                || recycle::closed_by_peer(slot, memory)
                || (next() && inward.source.ready(way).unwrap_or(1) > 0 && receive::is_here(inward, way))
        });
        granted |= if there == Some(false) { 0 } else { IN };
    }
    if wants & OUT != 0 {
        let peer = &control.sides[1 - me];
        let room = page.out.with(|out| {
            out.phase == FAST
                && (out.sink.room(&control.ways[me], 1).unwrap_or(1) > 0
                    || peer.wants_tcp.load(Ordering::Acquire) != 0
                    || peer.leaving.load(Ordering::Acquire) != out.left)
        });
        granted |= if room == Some(false) && !crate::planted::is("always room") { 0 } else { OUT };
    }
    granted
}

/// What is to be looked at while spinning for `wants`, as far as the ring has to do with it; none if it has not. What the ring holds before
/// the bytes that come over TCP have been read is no news: it can't be granted yet.
pub fn seen(slot: &Slot, wants: u32) -> Option<Seen> {
    let (page, _) = slot.parts().filter(|_| slot.active())?;
    let (reader, reads) = page.inward.with(|inward| (inward.source.reader, inward.phase == FAST))?;
    let (writer, writes) = page.out.with(|out| (out.sink.writer, out.phase == FAST))?;
    let wants = wants & (if reads { IN } else { 0 } | if writes { OUT } else { 0 });
    (wants != 0).then_some(Seen { reader, writer, wants })
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

/// From now on the event descriptor becomes readable when one of `wants` is granted. `rang`: it is readable, as far as is known.
pub fn arm(slot: &Slot, wants: u32, rang: bool) -> Armed {
    if slot.listens.load(Ordering::Relaxed) != 0 {
        return if wants & IN != 0 && slot.active() { recycle::arm(slot, rang) } else { Armed::Quiet };
    }
    if !slot.active() {
        // It may have become readable when the connection was about to be fast, which then failed. Whoever makes it fast after all tells again.
        bell::drain(slot.event());
    }
    let Some((page, memory)) = slot.parts().filter(|_| slot.active()) else { return Armed::Quiet };
    // Nobody has rung since it was armed: nothing to be done but to look.
    let told = slot.told.swap(0, Ordering::SeqCst) != 0;
    if rang || told || !watched(slot, memory, wants) {
        bell::drain(slot.event());
    }
    watch(slot, wants);
    let granted = look(slot, page, memory, wants);
    let other = |bit: u32| wants & bit == 0 && page.interest[(bit >> 1) as usize].load(Ordering::SeqCst) != 0;
    let others = if other(IN) { IN } else { 0 } | if other(OUT) { OUT } else { 0 };
    if granted != 0 {
        tell(slot);
        Armed::Ready(granted)
    } else if others != 0 && look(slot, page, memory, others) != 0 {
        tell(slot);
        Armed::Noisy
    } else {
        Armed::Quiet
    }
}

/// Makes the event descriptor readable.
pub fn tell(slot: &Slot) {
    slot.told.store(1, Ordering::SeqCst);
    bell::tell(slot.event());
}

/// Whether the next change tells the event descriptor.
fn watched(slot: &Slot, memory: &Memory, wants: u32) -> bool {
    let (me, control) = (slot.me(), control(memory));
    (wants & IN == 0 || control.ways[1 - me].bytes.watched()) && (wants & OUT == 0 || control.ways[me].room.watched())
}

/// The next change tells the event descriptor.
pub fn watch(slot: &Slot, wants: u32) {
    if slot.listens.load(Ordering::Relaxed) != 0 {
        return recycle::watch_listener(slot);
    }
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
        tell(slot);
        crate::real::fail(errno);
    }
}

/// Whether neither side has said that it closes: then the kernel has no hang-up to tell that the ring does not know of.
pub fn whole(slot: &Slot) -> bool {
    slot.parts().is_some_and(|(_, memory)| {
        let sides = &control(memory).sides;
        let peer = &sides[1 - slot.me()];
        sides.iter().all(|side| side.shut.load(Ordering::Acquire) == 0) && peer.leaving.load(Ordering::Acquire) == 0
    })
}

/// Whether a peer whose end of file is there has closed altogether, so that a send does not wait for it.
pub fn peer_closed(fd: i32, slot: &Slot) -> bool {
    let Some((_, memory)) = slot.parts() else { return false };
    control(memory).sides[1 - slot.me()].shut.load(Ordering::Acquire) == 0 && tcp::peer_ended(fd)
}
