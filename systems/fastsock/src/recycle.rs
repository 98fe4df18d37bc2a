//! Connections that are used again: both sides close, the kernel's connection stays, and the next `connect` to the same listener takes it.
//!
//! To connect by the kernel is dear, and so is to make a connection fast. A process that connects to the same address again and again makes
//! some of its connections fast at once (*eager*); those that only calls of `recv`'s and `send`'s kind were made on are kept by both sides
//! when they are closed. A *turn* is the life of such a connection from a `connect` to both `close`s. Its end is told in shared memory, not by
//! the kernel's end of file, so whoever can't be told so (another process; who connected and waits by `poll` or a set) first says it (`plain`), and the
//! other side then closes for good. The same two words, read in the other order, decide a race between the two (Dekker's way).
//!
//! Whoever connects must find a socket that nothing was done to (`fresh`); whoever accepts must have made its listener itself, share it
//! with no other process. It may wait for its connections by `poll`, `select` and sets of epoll.

mod hall;
mod pool;

use std::sync::atomic::{AtomicBool, Ordering, fence};

use am::memory::Memory;
use libc::{c_int, sockaddr, socklen_t};

use crate::arena::{FAST, TCP, TCP_AGAIN, control};
use crate::budget::Share;
use crate::hook::life;
use crate::ring::Source;
use crate::slot::{self, ACCEPTED, CONNECTED, Held, Slot};
use crate::table::{self, Why};
use crate::tcp::State;
use crate::{activate, bell, meet, own, page, real, report, sandbox, settings, tcp, transmit, turns, watch};

pub use hall::{accept, arm, listened, pending, watch as watch_listener, withdraw};
pub use pool::{connect, connected, heard};

/// Connections that a process keeps at most: of those it made, and of each listener.
const MOST: usize = 32;

/// A namespace of another network was entered: what was connected before can't be taken for what is connected now.
static MOVED: AtomicBool = AtomicBool::new(false);

/// Whether connections are used again at all.
fn on() -> bool {
    settings::get().again && !MOVED.load(Ordering::Relaxed) && !sandbox::entered() && !settings::user_is_off()
}

/// The process may be in another network from now on.
pub fn moved() {
    MOVED.store(true, Ordering::Relaxed);
    pool::clear();
}

/// Nothing is used again from now on, and what is kept goes, but for what waits to be accepted.
pub fn end() {
    moved();
    hall::end();
}

/// A connection that both sides have closed, or will, and that waits for its next turn.
struct Parked {
    fd: c_int,
    slot: Held,
}

impl Parked {
    fn memory(&self) -> Option<&Memory> {
        Some(self.slot.parts()?.1)
    }

    /// It is closed for good.
    fn let_go(self) {
        let errno = real::errno();
        if let Some(memory) = self.memory() {
            control(memory).sides[self.slot.me()].leaving.fetch_add(1, Ordering::SeqCst);
        }
        own::close(self.fd);
        life::ring_peer(&self.slot);
        real::fail(errno);
    }

    /// This process's copies are closed: another one has the connection.
    fn disown(self) {
        own::close(self.fd);
    }
}

/// Whether the peer has ended the turn.
#[inline(always)]
pub fn closed_by_peer(slot: &Slot, memory: &Memory) -> bool {
    slot.again.load(Ordering::Relaxed) != 0
        && !crate::planted::is("an end not told")
        && turns::has_ended(&control(memory).turn.closed[1 - slot.me()], slot.turn.load(Ordering::Relaxed))
}

/// Whether the peer has ended the turn of a connection that may be used again.
#[inline(always)]
pub fn ended(slot: &Slot) -> bool {
    slot.parts().is_some_and(|(_, memory)| closed_by_peer(slot, memory))
}

/// Whether both sides have ended one that may be used again: the kernel's is whole still, as the peer keeps it.
pub fn is_over(slot: &Slot) -> bool {
    let shut = |memory| control(memory).sides[slot.me()].shut.load(Ordering::Relaxed) != 0;
    slot.parts().is_some_and(|(_, memory)| closed_by_peer(slot, memory) && shut(memory))
}

/// The program waits for a connection by `poll` or a set. `hears`: it asks for bytes, so that an end that only the ring knows of is told it, too (`ready`).
/// The side that connected does not wait so: whoever would find it has to be looked for by a receive.
pub fn waited_for(fd: c_int, slot: &Slot, hears: bool) {
    if slot.me() != ACCEPTED || !hears {
        plain(fd, slot);
    }
}

/// From now on the end of the stream is the kernel's to tell. If the peer has told it already, the kernel learns it here.
pub fn plain(fd: c_int, slot: &Slot) {
    if slot.never_again.load(Ordering::Relaxed) != 0 {
        // Said before both sides had anything to share, or since.
        return;
    }
    slot.never_again.store(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    let Some((_, memory)) = slot.parts().filter(|_| slot.again.load(Ordering::Relaxed) != 0) else { return };
    if !turns::say_plain(&control(memory).turn.plain[slot.me()]) {
        return;
    }
    if closed_by_peer(slot, memory) {
        // SAFETY: a descriptor of the program's.
        unsafe { real::shutdown(fd, libc::SHUT_RD) };
    }
}

/// A send after the peer ended the turn: what the kernel would do with it, which is to take it, and to refuse the next.
pub fn sent_too_late(fd: c_int) {
    // SAFETY: a descriptor of the program's.
    unsafe { real::shutdown(fd, libc::SHUT_RDWR) };
}

/// A call that is not the ring's is about to be made: if the peer has ended the turn, the connection is over.
pub fn over(fd: c_int, slot: &Slot) {
    plain(fd, slot);
    if slot.parts().is_some_and(|(_, memory)| closed_by_peer(slot, memory)) {
        sent_too_late(fd);
    }
}

/// What an eager connection does before a call: looks for the other side. An errno, should the call end with it.
pub fn seek(fd: c_int, slot: &Slot, sends: bool, waits: bool) -> Option<c_int> {
    let _trying = slot.try_alone()?;
    let errno = real::errno();
    let ended =
        if slot.me() == ACCEPTED { hall::offer(fd, slot, sends) } else { pool::await_offer(fd, slot, sends, waits) };
    real::fail(errno);
    ended
}

/// Takes over what both sides share from now on. False if there is no room for it.
pub fn install(slot: &Slot, met: meet::Met, again: bool, share: Share) -> bool {
    let Some(page) = page::new() else { return false };
    for (at, event) in slot.events.iter().zip(met.events) {
        let Some(event) = own::keep(event) else { return false };
        at.store(event, Ordering::Release);
    }
    let door = met.door.and_then(own::keep);
    slot.again.store(u32::from(again || door.is_some()), Ordering::SeqCst);
    slot.door.store(door.unwrap_or(-1), Ordering::Release);
    fence(Ordering::SeqCst);
    let unfit = slot.never_again.load(Ordering::SeqCst) != 0;
    control(&met.memory).turn.plain[slot.me()].store(u32::from(unfit), Ordering::SeqCst);
    slot.page.store(page.as_ptr(), Ordering::Release);
    slot.share_memory(met.memory);
    share.keep(slot);
    true
}

/// Whether what was sent over TCP has all arrived, so that both directions are the ring's.
fn settled(slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts() else { return false };
    let way = &control(memory).ways[1 - slot.me()];
    page.inward
        .with(|inward| {
            let phase = way.phase.load(Ordering::Acquire);
            let there = inward.source.ready(way).unwrap_or(1);
            let all = match inward.phase {
                FAST => true,
                TCP => phase == TCP || way.moved_at.load(Ordering::Relaxed) == inward.tcp,
                _ => false,
            };
            all && phase != TCP_AGAIN && (there == 0 || crate::planted::is("kept with bytes unread")) && !inward.ended
        })
        .unwrap_or(false)
}

/// The next turn finds everything as the first did. False if it can't be.
fn renew(slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts() else { return false };
    let me = slot.me();
    let (mine, peers) = (&control(memory).ways[me], &control(memory).ways[1 - me]);
    let left = control(memory).sides[1 - me].leaving.load(Ordering::Acquire);
    let out = page.out.with(|out| {
        (out.sink, out.unasked, out.read, out.left) = (out.sink.renewed(), 0, 0, left);
        out.phase == FAST && mine.phase.load(Ordering::Relaxed) == FAST
    });
    let inward = page.inward.with(|inward| {
        (inward.source, inward.ended) = (Source::new(), false);
        let all = inward.phase == FAST || (inward.phase == TCP && peers.moved_at.load(Ordering::Relaxed) == inward.tcp);
        inward.phase = FAST;
        all && peers.phase.load(Ordering::Acquire) == FAST
    });
    slot.eager.store(0, Ordering::Relaxed);
    page.broken.load(Ordering::Relaxed) == 0 && out == Some(true) && inward == Some(true)
}

/// Whether the peer does nothing that asks for a real end.
fn peer_plays(slot: &Slot) -> bool {
    let Some((page, memory)) = slot.parts() else { return false };
    let (me, control) = (slot.me(), control(memory));
    let (side, peer) = (&control.sides[me], &control.sides[1 - me]);
    !control.turn.plain.iter().any(turns::is_plain)
        && [&side.shut, &peer.shut, &side.wants_tcp, &peer.wants_tcp, &peer.leaving]
            .iter()
            .all(|word| word.load(Ordering::SeqCst) == 0)
        && page.shared.load(Ordering::Relaxed) == 0
        && page.broken.load(Ordering::Relaxed) == 0
}

/// Whether no later turn has begun, and some may.
fn begun_only(slot: &Slot) -> bool {
    let turn = slot.turn.load(Ordering::Relaxed);
    slot.parts().is_some_and(|(_, memory)| control(memory).turn.number.load(Ordering::SeqCst) == turn)
}

/// Closes a descriptor by keeping what it means. False if it has to be closed.
pub fn close(fd: c_int) -> bool {
    let Some(slot) = slot::of(fd) else { return false };
    let may = slot.again.load(Ordering::Relaxed) != 0
        && slot.active()
        && slot.sole()
        && on()
        && slot.never.load(Ordering::Relaxed) == 0
        && !watch::in_several(&slot)
        && activate::in_process()
        && peer_plays(&slot)
        && begun_only(&slot)
        && settled(&slot);
    if !may {
        return false;
    }
    let errno = real::errno();
    // After the first turn nothing goes over TCP; whether the peer is there is asked when the next begins.
    let quiet = slot.turn.load(Ordering::Relaxed) != 0 || tcp::state(fd) == State::Open;
    let kept = quiet && has_room(&slot) && transmit::settle(&slot) && keep(fd, slot);
    real::fail(errno);
    kept
}

fn has_room(slot: &Slot) -> bool {
    if slot.me() == ACCEPTED { hall::has_room(slot) } else { pool::has_room() }
}

fn keep(fd: c_int, slot: Held) -> bool {
    if slot.nonblocking(fd) {
        // SAFETY: sets flags of the program's descriptor, which it is closing.
        unsafe { real::fcntl(fd, libc::F_SETFL, libc::O_RDWR as usize) };
    }
    watch::leave(&slot);
    let Some(last) = slot::forget(fd) else { return false };
    drop(slot);
    let kept = if last.alone_with_it() { own::take(fd) } else { None };
    let Some(kept) = kept else {
        life::close_last(fd, last);
        return true;
    };
    let parked = Parked { fd: kept, slot: last };
    let Some(memory) = parked.memory() else { return true };
    let (me, turn) = (parked.slot.me(), parked.slot.turn.load(Ordering::Relaxed));
    turns::end(&control(memory).turn.closed[me], turn);
    if !peer_plays(&parked.slot) || control(memory).ways[1 - me].phase.load(Ordering::SeqCst) == TCP_AGAIN {
        // As after a fork by another thread. The peer may have begun the next turn, as it could since the line above: then that waits to be accepted.
        if me != ACCEPTED || parked.put_end() {
            parked.let_go();
        } else {
            hall::park(parked);
        }
        return true;
    }
    life::ring_peer(&parked.slot);
    report::state(&parked.slot, table::KEPT);
    if me == ACCEPTED {
        hall::park(parked)
    } else {
        pool::park(parked)
    }
    true
}

/// Sets what a socket has that was just made.
fn fit(fd: c_int, slot: &Slot, nodelay: bool, nonblocking: bool) {
    if (slot.nodelay.swap(u32::from(nodelay), Ordering::Relaxed) != 0) != nodelay {
        let value = c_int::from(nodelay);
        // SAFETY: an option of this form.
        unsafe {
            real::setsockopt(
                fd,
                libc::IPPROTO_TCP,
                libc::TCP_NODELAY,
                (&raw const value).cast(),
                size_of::<c_int>() as socklen_t,
            )
        };
    }
    if nonblocking {
        // SAFETY: sets flags.
        unsafe { real::fcntl(fd, libc::F_SETFL, (libc::O_RDWR | libc::O_NONBLOCK) as usize) };
    }
}

/// What the locks guard is whole in a child.
pub fn before_fork() {
    pool::before_fork();
    hall::before_fork();
}

/// A fork: what is kept stays the parent's; a listener that two processes have is nobody's to keep connections for.
pub fn after_fork(child: bool) {
    pool::after_fork(child);
    hall::after_fork(child);
    crate::fresh::spoil_all();
}

/// The other side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    family: c_int,
    ip: [u8; 16],
    port: u16,
    scope: u32,
}

impl Key {
    /// # Safety
    /// `address` is null or points to `len` bytes.
    pub unsafe fn new(address: *const sockaddr, len: socklen_t) -> Option<Self> {
        if address.is_null() || (len as usize) < size_of::<libc::sockaddr_in>() {
            return None;
        }
        // SAFETY: as long as the address of its family is.
        unsafe {
            match c_int::from((*address).sa_family) {
                libc::AF_INET => {
                    let v4 = address.cast::<libc::sockaddr_in>().read_unaligned();
                    let mut ip = [0; 16];
                    ip[..4].copy_from_slice(&v4.sin_addr.s_addr.to_ne_bytes());
                    Some(Self { family: libc::AF_INET, ip, port: v4.sin_port, scope: 0 })
                }
                libc::AF_INET6 if len as usize >= size_of::<libc::sockaddr_in6>() => {
                    let v6 = address.cast::<libc::sockaddr_in6>().read_unaligned();
                    let (ip, scope) = (v6.sin6_addr.s6_addr, v6.sin6_scope_id);
                    Some(Self { family: libc::AF_INET6, ip, port: v6.sin6_port, scope })
                }
                _ => None,
            }
        }
    }

    /// Of the peer of a socket.
    fn of_peer(fd: c_int) -> Option<Self> {
        let mut address = std::mem::MaybeUninit::<libc::sockaddr_storage>::zeroed();
        let mut len = size_of::<libc::sockaddr_storage>() as socklen_t;
        // SAFETY: room for any address, which is read as far as it was written.
        unsafe {
            let got = libc::getpeername(fd, address.as_mut_ptr().cast(), &raw mut len);
            if got == 0 { Self::new(address.as_ptr().cast(), len) } else { None }
        }
    }
}

/// Becomes fast, both sides having agreed to.
fn start(fd: c_int, slot: &Slot) {
    slot.eager.store(0, Ordering::Relaxed);
    activate::start(fd, slot);
}

/// The side of whoever connects.
const CONNECTS: usize = CONNECTED;

/// Wakes whoever accepts.
fn knock(slot: &Slot, memory: &Memory) {
    control(memory).turn.bell.ring(slot.door.load(Ordering::Relaxed));
}

/// An event descriptor of a listener's.
fn door() -> Option<c_int> {
    own::keep(bell::event()?)
}
