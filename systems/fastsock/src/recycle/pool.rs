//! Connections that this process made, closed, and keeps.

use super::*;
use crate::fresh;
use crate::hook::signals;
use crate::lock::Lock;

/// Connections to one address after which the next are eager, and how many then are, should nobody answer.
const EAGER: u32 = 64;
/// Addresses that are remembered.
const KNOWN: usize = 16;

struct Destination {
    key: Key,
    /// Connections by the kernel so far.
    made: u32,
    /// The latest of them that is known to have been accepted: those before it were, too.
    heard: u32,
    /// Eager ones since one was answered.
    unanswered: u32,
}

static POOL: Lock<Vec<(Key, Parked)>> = Lock::new(Vec::new());
static DESTINATIONS: Lock<Vec<Destination>> = Lock::new(Vec::new());

/// Connects by taking a connection that is kept. False if there is none.
///
/// # Safety
/// As the system's `connect`.
pub unsafe fn connect(fd: c_int, made: u8, address: *const sockaddr, len: socklen_t) -> bool {
    if made & fresh::MADE == 0 || !on() {
        return false;
    }
    // SAFETY: the caller's promise.
    let Some(key) = (unsafe { Key::new(address, len) }) else { return false };
    if (key.family == libc::AF_INET6) != (made & fresh::V6 != 0) {
        return false;
    }
    // One that the kernel has connected may still wait to be accepted, and is not to be overtaken.
    let overtakes = |known: &mut Vec<Destination>| known.iter().any(|of| of.key == key && of.heard != of.made);
    if DESTINATIONS.with(overtakes) != Some(false) {
        return false;
    }
    let errno = real::errno();
    let mut done = false;
    while let Some(parked) = POOL.with(|pool| choose(pool, key)).flatten() {
        // A number that became somebody else's unseen is no socket like this.
        if !activate::in_process() || !tcp::is_unconnected(fd) {
            POOL.with(|pool| pool.push((key, parked)));
            break;
        }
        if begin(fd, made, parked) {
            done = true;
            break;
        }
    }
    real::fail(errno);
    done
}

/// One whose peer has closed it as well. Those that will never be are let go.
fn choose(pool: &mut Vec<(Key, Parked)>, key: Key) -> Option<Parked> {
    let at = pool.iter().position(|(of, parked)| {
        *of == key
            && parked.memory().is_some_and(|memory| {
                let turn = parked.slot.turn.load(Ordering::Relaxed);
                turns::has_ended(&control(memory).turn.closed[ACCEPTED], turn)
            })
    })?;
    Some(pool.remove(at).1)
}

/// Begins a turn, with the program's descriptor.
fn begin(fd: c_int, made: u8, parked: Parked) -> bool {
    let turn = parked.slot.turn.load(Ordering::Relaxed);
    let Some((_, memory)) = parked.slot.parts() else { return false };
    let shared = &control(memory).turn;
    if tcp::state(parked.fd) != State::Open || !renew(&parked.slot) {
        parked.let_go();
        return false;
    }
    // Before the other side hears of the turn.
    for way in &control(memory).ways {
        way.lane.reset(0);
        if way.grown.load(Ordering::Relaxed) != 0 {
            // All of the turn lies in the large ring.
            way.grown.store(1, Ordering::Relaxed);
        }
    }
    parked.slot.turn.store(turn + 1, Ordering::Relaxed);
    shared.begun.store(crate::wait::now().as_nanos() as u64, Ordering::Relaxed);
    if !turns::begin(&shared.number, turn) {
        parked.let_go();
        return false;
    }
    let flags = if made & fresh::CLOEXEC != 0 { libc::O_CLOEXEC } else { 0 };
    // SAFETY: the program's socket, to which nothing was done, makes way for one of the same kind.
    if unsafe { real::dup3(parked.fd, fd, flags) } < 0 {
        parked.let_go();
        return false;
    }
    own::close(parked.fd);
    let nonblocking = made & fresh::NONBLOCK != 0;
    fit(fd, &parked.slot, made & fresh::NODELAY != 0, nonblocking);
    slot::revive(&parked.slot, fd, nonblocking);
    knock(&parked.slot, memory);
    true
}

/// The kernel has connected a socket: whether the connection is one that may be used again, and looks for its peer at once.
///
/// # Safety
/// As the system's `connect`.
pub unsafe fn connected(fd: c_int, slot: &Slot, made: u8, address: *const sockaddr, len: socklen_t) {
    let unused = made & fresh::MADE != 0;
    slot.never_again.store(u32::from(!unused), Ordering::Relaxed);
    slot.nodelay.store(u32::from(made & fresh::NODELAY != 0), Ordering::Relaxed);
    // SAFETY: the caller's promise.
    let Some(key) = (unsafe { Key::new(address, len) }).filter(|_| on()) else { return };
    let eager = DESTINATIONS.with(|known| {
        let at = known.iter().position(|of| of.key == key).unwrap_or_else(|| {
            if known.len() == KNOWN {
                known.remove(0);
            }
            known.push(Destination { key, made: 0, heard: 0, unanswered: 0 });
            known.len() - 1
        });
        let of = &mut known[at];
        of.made = of.made.saturating_add(1);
        slot.order.store(of.made, Ordering::Relaxed);
        let again = unused && made & fresh::NONBLOCK == 0 && of.made >= settings::get().again_after;
        // Should nobody answer: again after twice as many.
        if again && of.unanswered >= 2 * EAGER && of.made.is_power_of_two() {
            of.unanswered = 0;
        }
        of.unanswered += u32::from(again);
        again && of.unanswered <= 2 * EAGER
    });
    if eager == Some(true) && has_room() && activate::in_process() {
        let errno = real::errno();
        if activate::begin(fd, slot).is_ok() {
            slot.eager.store(1, Ordering::Release);
        }
        real::fail(errno);
    }
}

/// Something has come over a connection that the kernel connected: it was accepted.
#[cold]
pub fn heard(fd: c_int, slot: &Slot) {
    let errno = real::errno();
    let order = slot.order.swap(0, Ordering::Relaxed);
    if let Some(key) = Key::of_peer(fd) {
        DESTINATIONS.with(|known| {
            known.iter_mut().filter(|of| of.key == key).for_each(|of| of.heard = of.heard.max(order));
        });
    }
    real::fail(errno);
}

/// A receive on an eager connection: waits for the other side's offer beside the bytes. An errno, should a signal end the call.
pub fn await_offer(fd: c_int, slot: &Slot, sends: bool, waits: bool) -> Option<c_int> {
    let knock = slot.knock.load(Ordering::Acquire);
    if sends {
        return None;
    }
    if knock < 0 || slot.never_again.load(Ordering::Relaxed) != 0 {
        slot.eager.store(0, Ordering::Relaxed);
        return None;
    }
    let ran = signals::ran();
    let mut ask = [fd, knock].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    let limit = if waits && !tcp::nonblocking(fd) { -1 } else { 0 };
    // SAFETY: as many entries.
    let found = unsafe { real::poll(ask.as_mut_ptr(), 2, limit) };
    if found < 0 {
        let interrupted = signals::ran().interrupting != ran.interrupting;
        return if interrupted { Some(libc::EINTR) } else { None };
    }
    if ask[1].revents == 0 {
        if ask[0].revents != 0 {
            // The answer came without an offer. One that has earned to be fast meanwhile goes on to be found.
            slot.eager.store(0, Ordering::Relaxed);
            if slot.ops.load(Ordering::Relaxed) < settings::get().after {
                slot.stop_knocking();
            }
        }
        return None;
    }
    slot.eager.store(0, Ordering::Relaxed);
    let Some(share) = Share::take() else {
        activate::give_up(slot, Why::Memory);
        return None;
    };
    let met = meet::take(knock);
    slot.stop_knocking();
    if let Some(met) = met
        && install(slot, met, false, share)
    {
        if let Some(key) = Key::of_peer(fd) {
            DESTINATIONS.with(|known| known.iter_mut().filter(|of| of.key == key).for_each(|of| of.unanswered = 0));
        }
        heard(fd, slot);
        start(fd, slot);
    }
    None
}

pub fn has_room() -> bool {
    POOL.with(|pool| {
        if pool.len() == MOST {
            // Those whose peer has gone make room.
            while let Some(at) = pool.iter().position(|(_, parked)| tcp::peer_ended(parked.fd)) {
                pool.remove(at).1.let_go();
            }
        }
        pool.len() < MOST
    }) == Some(true)
}

pub fn park(parked: Parked) {
    match Key::of_peer(parked.fd) {
        Some(key) => _ = POOL.with(|pool| pool.push((key, parked))),
        None => parked.let_go(),
    }
}

/// Lets all go.
pub fn clear() {
    let all = POOL.with(std::mem::take).unwrap_or_default();
    all.into_iter().for_each(|(_, parked)| parked.let_go());
}

pub fn before_fork() {
    POOL.hold();
    DESTINATIONS.hold();
}

pub fn after_fork(child: bool) {
    if child {
        POOL.renew();
        DESTINATIONS.renew();
        while let Some((_, parked)) = POOL.with(Vec::pop).flatten() {
            parked.disown();
        }
    } else {
        POOL.release();
        DESTINATIONS.release();
    }
}
