//! A peer that writes anything anywhere in the shared memory, at any time. The other side must never panic, read or write out of
//! bounds, or hang: at worst its connection ends with an error. Seeded: a failure names its seed.

mod common;

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use am::memory::Memory;
use am::{Endpoint, Error, Handlers, Options};
use common::{Random, sockets};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};

/// Where the lanes of the hostile side (the one that connects) lie, by kind; tail first, head 128 bytes on.
const LANES: usize = 128 + 2 * 256 + 2 * 256;
/// Where its rings lie, by kind, of 4096 bytes each.
const RINGS: usize = 4096 + 2 * 4096;

/// The victim's options: small, and not patient.
fn options() -> Options {
    let mut options = Options::default();
    (options.ring_bytes, options.region_bytes) = (4096, 4096);
    options.patience = Duration::from_millis(20);
    options
}

/// What the victim did.
#[derive(Default)]
struct Seen {
    requests: u64,
    replies: u64,
    bytes: u64,
}

/// A victim and the memory that it shares, in hostile hands. The socket is the hostile side's end.
fn victim() -> (Endpoint<Seen>, Memory, OwnedFd) {
    let (ours, theirs) = sockets();
    let greeting: Vec<u8> = [u64::from_le_bytes(*b"activemg"), 1, 0, 0].iter().flat_map(|w| w.to_le_bytes()).collect();
    rustix::net::send(&theirs, &greeting, SendFlags::NOSIGNAL).unwrap();
    let handlers = Handlers::new()
        .on_request(0, |seen: &mut Seen, message, reply| {
            seen.requests += 1;
            seen.bytes += message.payload().to_vec().len() as u64;
            let payload = message.payload().to_vec();
            let _ = reply.send(message.argument(0) as u16, message.arguments(), &payload);
        })
        .on_reply(0, |seen: &mut Seen, message| {
            seen.replies += 1;
            seen.bytes += message.payload().to_vec().len() as u64;
        });
    let mut endpoint = Endpoint::lead(ours, handlers, &options()).unwrap();
    endpoint.register(1000).unwrap();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; 32];
    let into = &mut [std::io::IoSliceMut::new(&mut bytes)];
    rustix::net::recvmsg(&theirs, into, &mut control, RecvFlags::CMSG_CLOEXEC).unwrap();
    let file = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let file = file.expect("the memory comes with the greeting");
    let len = rustix::fs::fstat(file.as_fd()).unwrap().st_size as usize;
    (endpoint, Memory::attach(&file, len).unwrap(), theirs)
}

/// A head that could be one: kind, handler, arguments and length mostly within reason.
fn head(random: &mut Random) -> u64 {
    let kind = if random.below(40) == 0 { random.next() } else { 0xa1 + random.below(2) };
    let handler = if random.below(40) == 0 { random.below(65_536) } else { 0 };
    let most = if random.below(40) == 0 { 256 } else { 9 };
    let arguments = random.below(most);
    let len = match random.below(40) {
        0 => random.next() & 0xffff_ffff,
        1..=4 => 1015 + random.below(10),
        _ => random.below(200),
    };
    len | handler << 32 | arguments << 48 | kind << 56
}

/// One act of malice, or nearly none.
fn act(memory: &Memory, random: &mut Random) {
    let kind = random.below(2) as usize;
    let (tail, peers_head) = (LANES + 256 * kind, LANES - 512 + 256 * kind + 128);
    match random.below(16) {
        // A message that is nearly right, at the true tail.
        0..=9 => {
            let at = memory.word(tail);
            let word = head(random);
            memory.set_word(RINGS + 4096 * kind + (at & 0xff8) as usize, word);
            let extra = if word >> 56 == 0xa2 { 8 } else { ((word & 0xffff_ffff) + 7) & !7 };
            let right = 8 + 8 * ((word >> 48) & 0xff) + extra;
            let off = if random.below(40) == 0 { random.below(4200) } else { 0 };
            if word >> 56 == 0xa2 || random.below(3) == 0 {
                let at = at.wrapping_add(8);
                memory.set_word(RINGS + 4096 * kind + (at & 0xff8) as usize, random.below(1200));
            }
            memory.set_word(tail, at.wrapping_add(right).wrapping_add(off));
        }
        // Reads everything the victim sent, or claims to have read something else.
        10 => memory.set_word(peers_head, memory.word(peers_head - 128)),
        11 if random.below(4) == 0 => memory.set_word(peers_head, random.next() >> random.below(64)),
        12 if random.below(4) == 0 => memory.set_word(tail, random.next() >> random.below(64)),
        // Any control word but the closed flags (which would only end it), any word of the rings.
        13 if random.below(8) == 0 => memory.set_word(8 * random.below(512) as usize, random.next()),
        14 => memory.set_word(4096 + 8 * random.below(4 * 512) as usize, random.next()),
        _ => memory.set_word(4096 + 8 * random.below(4 * 512) as usize, head(random)),
    }
}

/// One call of the victim; the error that ended its connection, if it did.
fn step(endpoint: &mut Endpoint<Seen>, seen: &mut Seen, random: &mut Random) -> Option<Error> {
    let payload = vec![1; random.below(1025) as usize];
    let outcome = match random.below(4) {
        0 => endpoint.try_request(0, &[1, 2], &payload).map(drop),
        1 => endpoint.wait(seen, Some(Duration::from_micros(random.below(100)))).map(drop),
        _ => endpoint.poll(seen).map(drop),
    };
    outcome.err()
}

#[test]
fn a_victim_is_what_these_tests_take_it_for() {
    let (mut endpoint, memory, _socket) = victim();
    memory.set_word(RINGS, 5 | 2 << 48 | 0xa1 << 56);
    memory.put(RINGS + 24, b"hello");
    memory.set_word(LANES, 32);
    let mut seen = Seen::default();
    assert_eq!(endpoint.poll(&mut seen).unwrap(), 1);
    assert_eq!((seen.requests, seen.bytes), (1, 5));
    // Its reply is where the victim's replies go.
    assert_eq!(memory.word(LANES - 512 + 256), 32);
    assert_eq!(memory.word(4096 + 4096) >> 56, 0xa1);
}

#[test]
fn malice_in_turns_ends_the_connection_at_worst() {
    let mut total = Seen::default();
    let (mut broken, mut closed, mut stood) = (0, 0, 0);
    for seed in 0..4000 {
        let mut random = Random(seed);
        let (mut endpoint, memory, _socket) = victim();
        let mut seen = Seen::default();
        let mut end = None;
        for _ in 0..200 {
            act(&memory, &mut random);
            end = step(&mut endpoint, &mut seen, &mut random);
            if end.is_some() {
                break;
            }
        }
        match end {
            Some(Error::Protocol(_)) => broken += 1,
            Some(Error::Closed { .. }) => closed += 1,
            Some(other) => panic!("seed {seed}: {other}"),
            None => stood += 1,
        }
        total.requests += seen.requests;
        total.replies += seen.replies;
        total.bytes += seen.bytes;
    }
    // What shows that the acts reach deep enough: most break the rules, yet many messages get through before.
    assert!(broken > 2000, "{broken} broke the rules, {closed} closed, {stood} stood");
    assert!(
        total.requests > 4000 && total.replies > 4000 && total.bytes > 100_000,
        "too few messages got through: {} {} {}",
        total.requests,
        total.replies,
        total.bytes
    );
}

#[test]
fn malice_at_any_moment_ends_the_connection_at_worst() {
    let until = Instant::now() + Duration::from_secs(4);
    let mut broken = 0;
    for seed in 0_u64.. {
        if Instant::now() >= until {
            assert!(broken > 10, "{broken} of {seed} broke the rules");
            return;
        }
        let (mut endpoint, memory, _socket) = victim();
        let stop = AtomicBool::new(false);
        let end = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut random = Random(seed);
                while !stop.load(Ordering::Relaxed) {
                    act(&memory, &mut random);
                }
            });
            let (mut random, mut seen) = (Random(!seed), Seen::default());
            let end = (0..2000).find_map(|_| step(&mut endpoint, &mut seen, &mut random));
            stop.store(true, Ordering::Relaxed);
            end
        });
        match end {
            Some(Error::Protocol(_)) => broken += 1,
            Some(Error::Closed { .. }) | None => {}
            Some(other) => panic!("seed {seed}: {other}"),
        }
    }
}

#[test]
fn a_peer_that_shows_something_and_takes_it_back_can_not_hold_a_call_beyond_its_patience() {
    let (mut endpoint, memory, _socket) = victim();
    let mut seen = Seen::default();
    // Full, so that a request has to wait.
    while endpoint.try_request(0, &[], &[0; 1000]).unwrap() {}
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                memory.set_word(LANES, 8);
                memory.set_word(LANES, 0);
            }
        });
        let waited = endpoint.wait(&mut seen, Some(Duration::from_millis(50)));
        let sent = endpoint.request(&mut seen, 0, &[], &[0; 1000]);
        stop.store(true, Ordering::Relaxed);
        // Either it was never caught in the act, or it was.
        assert!(matches!(waited, Ok(0) | Err(Error::Protocol(_))), "{waited:?}");
        assert!(matches!(sent, Err(Error::Stalled { .. } | Error::Protocol(_))), "{sent:?}");
    });
}
