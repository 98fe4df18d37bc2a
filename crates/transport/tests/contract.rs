//! The contract of the Link port: one body for every kind, over both ends in one process.

mod pairs;

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pairs::{all_at_once, carried, content, hasty_pair, lossy, name, pair, patience, settings, variants};
use transport::theory::{FarRole, Theory, TheoryLink};
use transport::{
    AnyLink, Buffer, End, Link, LinkError, Name, OneSided, Patience, Queued, Room, memcpy, pipe, tcp, theory,
};

const SIZES: [usize; 8] = [1, 7, 1473, 4096, 65_507, 64 << 10, 1 << 20, 8 << 20];

fn sizes(link: &AnyLink) -> impl Iterator<Item = usize> {
    let most = link.capabilities().max_block.map_or(usize::MAX, |m| m as usize);
    SIZES.into_iter().filter(move |s| *s <= most)
}

#[test]
fn messages_arrive_intact_both_ways() {
    for (kind, settings) in variants() {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        let sizes: Vec<usize> = sizes(&near).collect();
        assert!(sizes.len() >= 4, "{}", name(kind, &settings));
        std::thread::scope(|s| {
            s.spawn(|| {
                for &size in &sizes {
                    let mut message = vec![0; size];
                    far.recv(&mut message).unwrap();
                    assert!(
                        carried(kind, &settings, &message) == carried(kind, &settings, &content(size, 1)),
                        "{kind} there, {size}"
                    );
                    far.send(&content(size, 2)).unwrap();
                }
                far.flush().unwrap();
            });
            for &size in &sizes {
                let (out, mut back) = (content(size, 1), vec![0; size]);
                near.send(&out).unwrap();
                assert_eq!(out, content(size, 1), "a send must leave the message alone");
                near.recv(&mut back).unwrap();
                assert!(
                    carried(kind, &settings, &back) == carried(kind, &settings, &content(size, 2)),
                    "{kind} back, {size}"
                );
            }
        });
    }
}

/// Sizes at which a path may begin to do something else: the length of a WebSocket frame in one byte, in two and in eight; packets of Ethernet
/// and of the loopback interface, pages, pieces and buffers of the kernel, the largest message.
const BOUNDARIES: [usize; 13] =
    [64, 125, 1448, 1472, 4096, 16 << 10, 32 << 10, 36_864, 64 << 10, 212_992, 1 << 20, 4 << 20, 16 << 20];

#[test]
fn messages_around_every_boundary_come_back_as_they_were_sent() {
    for (kind, settings) in variants().into_iter().filter(|(_, s)| !s.with.any()) {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        let most = near.capabilities().max_block.map_or(usize::MAX, |m| m as usize);
        let around = BOUNDARIES.into_iter().chain([most]).filter(|b| *b <= most && *b < usize::MAX);
        let sizes: Vec<usize> = around.flat_map(|b| [b - 1, b, b + 1]).filter(|s| *s <= most).collect();
        std::thread::scope(|s| {
            s.spawn(|| {
                for &size in &sizes {
                    let mut message = vec![0; size];
                    far.recv(&mut message).unwrap();
                    far.send(&message).unwrap();
                }
                far.flush().unwrap();
            });
            for &size in &sizes {
                let (out, mut back) = (content(size, 4), vec![0; size]);
                near.send(&out).unwrap();
                near.recv(&mut back).unwrap();
                assert!(
                    carried(kind, &settings, &back) == carried(kind, &settings, &out),
                    "{} {size}",
                    name(kind, &settings)
                );
            }
        });
    }
}

/// Bytes around a message that is received, which nothing is written to.
const AROUND: usize = 64;

#[test]
fn messages_may_lie_anywhere_and_nothing_beside_them_is_written() {
    for (kind, settings) in variants().into_iter().filter(|(_, s)| !s.with.any()) {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        let most = near.capabilities().max_block.map_or(usize::MAX, |m| m as usize);
        let sizes: Vec<usize> = [1, 63, 1473, 4097, 70_001].into_iter().filter(|size| *size <= most).collect();
        let places = [(1, 0), (2, 1), (8, 3), (64, 0), (64, 63), (4096, 0), (4096, 4095)];
        // A message of each size at each place, behind a lead that keeps the alignment.
        let at = |size: usize, (align, offset): (usize, usize)| {
            let lead = AROUND.next_multiple_of(align);
            let mut memory = Buffer::new(lead + size + AROUND, align, offset).unwrap();
            memory.fill(0x5A);
            (memory, lead..lead + size)
        };
        let beside = |memory: &[u8], message: &Range<usize>| {
            let (before, behind) = (&memory[message.start - AROUND..message.start], &memory[message.end..]);
            assert!(before.iter().chain(behind).all(|byte| *byte == 0x5A), "{} {message:?}", name(kind, &settings));
        };
        let all = || sizes.iter().flat_map(|size| places.iter().map(move |place| (*size, *place)));
        std::thread::scope(|s| {
            s.spawn(|| {
                for (size, place) in all() {
                    let (mut memory, message) = at(size, place);
                    far.recv(&mut memory[message.clone()]).unwrap();
                    beside(&memory, &message);
                    far.send(&memory[message]).unwrap();
                }
                far.flush().unwrap();
            });
            for (size, place) in all() {
                let ((mut out, message), (mut back, _)) = (at(size, place), at(size, place));
                let sent = content(size, place.1 as u64 + 5);
                out[message.clone()].copy_from_slice(&sent);
                near.send(&out[message.clone()]).unwrap();
                near.recv(&mut back[message.clone()]).unwrap();
                beside(&back, &message);
                assert!(
                    carried(kind, &settings, &back[message]) == carried(kind, &settings, &sent),
                    "{} {size} {place:?}",
                    name(kind, &settings)
                );
            }
        });
    }
}

#[test]
fn many_messages_keep_their_order() {
    for (kind, settings) in variants().into_iter().filter(|(k, s)| !lossy(*k, s)) {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        std::thread::scope(|s| {
            s.spawn(|| (0..3000u64).for_each(|i| far.send(&content(1 + i as usize % 200, i)).unwrap()));
            for i in 0..3000u64 {
                let mut message = vec![0; 1 + i as usize % 200];
                near.recv(&mut message).unwrap();
                assert_eq!(message, content(message.len(), i), "{kind} {i}");
            }
        });
    }
}

#[test]
fn an_exchange_larger_than_every_buffer_ends() {
    for (kind, settings) in variants() {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        let sizes: Vec<usize> = sizes(&near).collect();
        let half = |link: &mut AnyLink, mine: u64, theirs: u64| {
            for round in 0..2 {
                for &size in &sizes {
                    let mut into = vec![0; size];
                    link.exchange(&content(size, mine + round), &mut into).unwrap();
                    assert!(
                        carried(kind, &settings, &into) == carried(kind, &settings, &content(size, theirs + round)),
                        "{kind} {size}"
                    );
                }
            }
        };
        std::thread::scope(|s| {
            s.spawn(|| half(&mut far, 20, 10));
            half(&mut near, 10, 20);
        });
    }
}

#[test]
fn an_exchange_may_be_uneven() {
    for (kind, settings) in variants() {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        let large = sizes(&near).last().unwrap();
        std::thread::scope(|s| {
            s.spawn(|| {
                let mut into = vec![0; 9];
                far.exchange(&content(large, 2), &mut into).unwrap();
                assert!(carried(kind, &settings, &into) == carried(kind, &settings, &content(9, 1)), "{kind}");
            });
            let mut into = vec![0; large];
            near.exchange(&content(9, 1), &mut into).unwrap();
            assert!(carried(kind, &settings, &into) == carried(kind, &settings, &content(large, 2)), "{kind}");
        });
    }
}

#[test]
fn ready_tells_whether_something_is_there() {
    all_at_once(|kind, settings| {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        for round in 0..3 {
            assert!(!near.ready(Duration::ZERO).unwrap(), "{} {round}", name(kind, &settings));
            assert!(!near.ready(Duration::from_millis(20)).unwrap(), "{}", name(kind, &settings));
            far.send(&content(100, 1)).unwrap();
            far.flush().unwrap();
            assert!(near.ready(Duration::from_secs(60)).unwrap(), "{}", name(kind, &settings));
            near.recv(&mut [0; 100]).unwrap();
        }
    });
}

#[test]
fn ready_ends_when_a_message_comes() {
    all_at_once(|kind, settings| {
        let (mut near, mut far) = pair(kind, &settings, &Patience::default());
        std::thread::scope(|s| {
            s.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                far.send(&content(100, 1)).unwrap();
                far.flush().unwrap();
            });
            assert!(near.ready(Duration::from_secs(60)).unwrap(), "{}", name(kind, &settings));
        });
    });
}

#[test]
fn a_peer_that_ends_is_noticed_by_who_waits() {
    all_at_once(|kind, settings| {
        let settings = settings.with("loss-timeout", 0.3);
        let (mut near, far) = pair(kind, &settings, &patience(60.0).0);
        let outcome = std::thread::scope(|s| {
            let near = s.spawn(|| near.recv(&mut [0; 1000]));
            std::thread::sleep(Duration::from_millis(20));
            drop(far);
            near.join().unwrap()
        });
        match (kind, outcome) {
            (kind, Err(LinkError::Lost)) if lossy(kind, &settings) => {}
            (_, Err(LinkError::Closed { .. })) => {}
            (_, other) => panic!("{}: {other:?}", name(kind, &settings)),
        }
    });
}

#[test]
fn a_close_reaches_the_peer_after_what_was_sent() {
    for (kind, settings) in variants().into_iter().filter(|(k, s)| !lossy(*k, s)) {
        let (mut near, mut far) = pair(kind, &settings, &patience(60.0).0);
        far.send(&content(1000, 1)).unwrap();
        far.close().unwrap();
        let mut message = vec![0; 1000];
        near.recv(&mut message).unwrap();
        assert_eq!(message, content(1000, 1), "{kind}");
        let outcome = near.recv(&mut message);
        assert!(matches!(outcome, Err(LinkError::Closed { .. })), "{}: {outcome:?}", name(kind, &settings));
        // Its own end is closed as well, and closing again is no error.
        assert!(matches!(far.send(&[1]), Err(LinkError::Closed { .. })), "{}", name(kind, &settings));
        far.close().unwrap();
    }
}

#[test]
fn sending_to_a_peer_that_ended_ends() {
    for (kind, settings) in variants().into_iter().filter(|(k, s)| !lossy(*k, s)) {
        let (mut near, far) = pair(kind, &settings, &patience(60.0).0);
        drop(far);
        let outcome = (0..10_000).find_map(|_| near.send(&[0; 10_000]).err());
        assert!(matches!(outcome, Some(LinkError::Closed { .. })), "{}: {outcome:?}", name(kind, &settings));
    }
}

#[test]
fn a_silent_peer_is_given_up() {
    all_at_once(|kind, settings| {
        let settings = settings.with("loss-timeout", 0.1);
        let (mut near, _far) = hasty_pair(kind, &settings, &patience(0.15).0);
        let outcome = near.recv(&mut [0; 10]);
        match (kind, &outcome) {
            (kind, Err(LinkError::Lost)) if lossy(kind, &settings) => return,
            (_, Err(LinkError::Stalled { waited, .. })) => assert!(*waited >= Duration::from_millis(150)),
            _ => panic!("{}: {outcome:?}", name(kind, &settings)),
        }
        let (mut near, _far) = hasty_pair(kind, &settings, &patience(0.15).0);
        let outcome = (0..10_000).find_map(|_| near.send(&[0; 10_000]).err());
        assert!(matches!(outcome, Some(LinkError::Stalled { .. })), "{}: {outcome:?}", name(kind, &settings));
        let (mut near, _far) = hasty_pair(kind, &settings, &patience(0.15).0);
        let outcome = near.exchange(&[0; 100_000], &mut [0; 100_000]);
        assert!(matches!(outcome, Err(LinkError::Stalled { .. })), "{}: {outcome:?}", name(kind, &settings));
    });
}

#[test]
fn a_stop_interrupts_every_wait() {
    type Wait = fn(&mut AnyLink) -> Result<(), LinkError>;
    let waits: [Wait; 4] = [
        |l| l.recv(&mut [0; 10]),
        |l| (0..10_000).try_for_each(|_| l.send(&[0; 60_000])),
        |l| l.exchange(&[0; 60_000], &mut [0; 60_000]),
        |l| l.ready(Duration::from_secs(50)).map(drop),
    ];
    all_at_once(|kind, settings| {
        for (i, wait) in waits.into_iter().enumerate() {
            if lossy(kind, &settings) && i == 1 {
                // Sending datagrams waits for nobody.
                continue;
            }
            let (patience, stop) = patience(60.0);
            let settings = settings.clone().with("loss-timeout", 60.0);
            let (mut near, _far) = pair(kind, &settings, &patience);
            let outcome = std::thread::scope(|s| {
                let near = s.spawn(|| wait(&mut near));
                std::thread::sleep(Duration::from_millis(20));
                stop.store(true, Ordering::Relaxed);
                near.join().unwrap()
            });
            let what = name(kind, &settings);
            assert!(matches!(outcome, Err(LinkError::Interrupted)), "{what}, wait {i}: {outcome:?}");
        }
    });
}

#[test]
fn a_cut_off_pipe_carries_nothing_more() {
    let (mut near, mut far) = pair(pipe::NAME, &settings(), &patience(0.3).0);
    assert!(matches!(near.recv(&mut [0; 10]), Err(LinkError::Stalled { .. })));
    far.send(&[1; 10]).unwrap();
    for _ in 0..2 {
        assert!(matches!(near.recv(&mut [0; 10]), Err(LinkError::Stalled { .. })));
        assert!(matches!(near.send(&[0; 10]), Err(LinkError::Stalled { .. })));
        assert!(matches!(near.exchange(&[0; 10], &mut [0; 10]), Err(LinkError::Stalled { .. })));
    }
}

#[test]
fn kinds_within_one_process_give_back_what_they_got() {
    let mut theory = TheoryLink::new(&Theory::default(), 1.0);
    theory.set_role(FarRole::Echo);
    theory.keep_contents(true);
    let solo = |name: Name| name.transport().unwrap().solo(&transport::Settings::default(), &patience(10.0).0);
    for mut link in [solo(memcpy::NAME).unwrap(), AnyLink::new(theory)] {
        assert!(!link.capabilities().two_ended);
        for size in SIZES {
            let (message, mut back) = (content(size, 5), vec![0; size]);
            assert!(!link.ready(Duration::ZERO).unwrap());
            link.send(&message).unwrap();
            link.recv(&mut back).unwrap();
            assert!(message == back, "{link:?} {size}");
        }
    }
    assert!(solo(theory::NAME).unwrap().clock().is_some());
    assert!(matches!(solo(tcp::NAME), Err(LinkError::Unsupported(_))));
}

struct Has;

impl transport::Visit for Has {
    type Out = bool;
    fn visit<L: Link>(self, end: &mut End<L>) -> bool {
        end.visit_one_sided(Has).is_some()
    }
}

impl transport::VisitOneSided for Has {
    type Out = ();
    fn visit<L: OneSided>(self, _: &mut L) {}
}

#[test]
fn one_sided_access_is_there_where_capabilities_say_so() {
    let mut some = 0;
    for (kind, settings) in variants() {
        let (mut near, mut far) = pair(kind, &settings, &patience(60.0).0);
        let what = name(kind, &settings);
        for end in [&mut near, &mut far] {
            let can = end.capabilities().one_sided;
            assert_eq!((end.visit(Has), end.one_sided().is_some()), (can, can), "{what}");
        }
        assert!(!(settings.with.any() && near.capabilities().one_sided), "{what}: a decorator would see nothing of it");
        let (Some(near), Some(far)) = (near.one_sided(), far.one_sided()) else { continue };
        some += 1;
        // Sizes in no order, so that a region is exposed anew and again.
        for (round, len) in (0u64..).zip([100, 1 << 20, 1, 70_000, 3 << 20, 4096]) {
            let (there, back, mut found) = (content(len, round), content(len, round + 50), vec![0; len]);
            far.expose(len).unwrap();
            near.reach(len).unwrap();
            near.put(0, &there).unwrap();
            near.fence().unwrap();
            near.get(0, &mut found).unwrap();
            assert!(found == there, "{what}: what was put is got back, {len}");
            assert!(!far.withdraw(Duration::ZERO).unwrap(), "{what}");
            far.read(0, &mut found).unwrap();
            assert!(found == there, "{what}: and is there, {len}");
            far.fill(0, &back).unwrap();
            near.get(0, &mut found).unwrap();
            assert!(found == back, "{what}: what is there is got, {len}");
            // Offsets and lengths of whatever value touch nothing.
            for (at, len) in [(64 << 20, 1), (usize::MAX, 1), (1, 64 << 20)] {
                let put = near.put(at, &content(len, 1));
                assert!(matches!(put, Err(LinkError::Outside { .. })), "{what}: {put:?}");
                let got = near.get(at, &mut vec![0; len]);
                assert!(matches!(got, Err(LinkError::Outside { .. })), "{what}: {got:?}");
            }
            near.leave().unwrap();
            assert!(far.withdraw(Duration::from_secs(60)).unwrap(), "{what}");
            // Messages and regions don't disturb each other.
            far.send(&content(40, round)).unwrap();
            let mut message = [0; 40];
            near.recv(&mut message).unwrap();
            assert!(message == *content(40, round), "{what}");
        }
    }
    assert!(some >= 2, "shared memory has it in each of its wait modes");
}

struct Queues;

impl transport::Visit for Queues {
    type Out = bool;
    fn visit<L: Link>(self, end: &mut End<L>) -> bool {
        end.visit_queued(Queues).is_some()
    }
}

impl transport::VisitQueued for Queues {
    type Out = ();
    fn visit<L: Queued>(self, _: &mut L) {}
}

#[test]
fn posts_are_there_where_capabilities_say_so_and_arrive_in_their_order() {
    let mut some = 0;
    for (kind, settings) in variants() {
        let (mut near, mut far) = pair(kind, &settings, &patience(60.0).0);
        let what = name(kind, &settings);
        for end in [&mut near, &mut far] {
            let can = end.capabilities().queued;
            assert_eq!((end.visit(Queues), end.queued().is_some()), (can, can), "{what}");
        }
        assert!(!(settings.with.any() && near.capabilities().queued), "{what}: a decorator would see nothing of it");
        let Some(near) = near.queued() else { continue };
        some += 1;
        let sizes = [1, 100, 4096, 70_000, 1 << 20, 0, 3 << 20, 7];
        let messages: Vec<Vec<u8>> = (0..).zip(sizes).map(|(seed, len)| content(len, seed)).collect();
        std::thread::scope(|s| {
            let far = s.spawn(|| {
                for message in &messages {
                    // Posts and sends are messages in one order.
                    for sent in [message, &vec![9; 100]] {
                        let mut came = vec![0; sent.len()];
                        far.recv(&mut came).unwrap();
                        assert!(came == *sent, "{what}: {} bytes", sent.len());
                    }
                }
                far.send(&[1]).unwrap();
            });
            assert_eq!((near.posted(), near.poll(0, Duration::ZERO).unwrap()), (0, 0), "{what}");
            for message in &messages {
                near.post(message).unwrap();
                near.send(&[9; 100]).unwrap();
            }
            let all = messages.len() as u64;
            let mut complete = 0;
            while complete < all {
                let now = near.poll(all, Duration::from_secs(60)).unwrap();
                assert!(now > complete && now <= near.posted(), "{what}: {now} after {complete}");
                complete = now;
            }
            // Nothing is under way: no wait, whatever is asked for.
            assert_eq!(near.poll(u64::MAX, Duration::from_secs(60)).unwrap(), all, "{what}");
            far.join().unwrap();
            assert!(near.ready(Duration::from_secs(60)).unwrap(), "{what}: what posts leave behind does not disturb");
            near.recv(&mut [0]).unwrap();
            let (copied, calls) = near.copied().unwrap();
            assert!(copied <= calls && calls >= all - 1, "{what}: {copied} of {calls}");
        });
    }
    assert!(some >= 3, "tcp has them in each of its wait modes");
}

/// What trials post: a part of memory that the link gave. Each is complete before its memory is filled anew.
struct Posts<'a>(&'a [(Room, Range<usize>)]);

impl transport::Visit for Posts<'_> {
    type Out = ();
    fn visit<L: Link>(self, end: &mut End<L>) {
        for (seed, (room, part)) in (0..).zip(self.0) {
            let (link, out, _) = end.lend(room, &Room::NONE).unwrap();
            out[..room.len].copy_from_slice(&content(room.len, seed));
            let link = link.queued().unwrap();
            link.post(&out[part.clone()]).unwrap();
            let all = link.posted();
            while link.poll(all, Duration::from_secs(60)).unwrap() < all {}
        }
    }
}

#[test]
fn posts_from_anywhere_in_the_links_own_memory_arrive_as_they_were() {
    let sizes = [1, 63, 1473, 4097, 70_001, (256 << 10) - 1, (256 << 10) + 1, 1 << 20];
    let places = [(1, 0), (64, 63), (4096, 0), (4096, 4095)];
    let all = sizes.iter().flat_map(|len| places.map(|(align, offset)| Room { offset, ..Room::of(*len, align) }));
    // The whole, all but its ends, and a single byte.
    let parts = |room: Room| {
        let (len, inner) = (room.len, 1.min(room.len - 1));
        [0..len, inner..(len - inner).max(inner), len - 1..len].map(|part| (room, part))
    };
    let posts: Vec<(Room, Range<usize>)> = all.flat_map(parts).collect();
    let mut some = 0;
    for (kind, settings) in variants() {
        let (mut near, mut far) = pair(kind, &settings, &patience(60.0).0);
        if !near.capabilities().queued {
            continue;
        }
        some += 1;
        std::thread::scope(|s| {
            s.spawn(|| {
                for (seed, (room, part)) in (0..).zip(&posts) {
                    let mut came = vec![0; part.len()];
                    far.recv(&mut came).unwrap();
                    let what = name(kind, &settings);
                    assert!(came == content(room.len, seed)[part.clone()], "{what}: {part:?} of {room:?}");
                }
            });
            near.visit(Posts(&posts));
        });
    }
    assert!(some >= 3, "tcp has them in each of its wait modes");
}

/// A post from memory of the link, which ends with the link.
struct Left<'a>(&'a [u8]);

impl transport::Visit for Left<'_> {
    type Out = bool;
    fn visit<L: Link>(self, end: &mut End<L>) -> bool {
        let (link, out, _) = end.lend(&Room::of(self.0.len(), 64), &Room::NONE).unwrap();
        out[..self.0.len()].copy_from_slice(self.0);
        link.queued().map(|link| link.post(&out[..self.0.len()]).unwrap()).is_some()
    }
}

#[test]
fn what_was_posted_arrives_though_the_link_and_its_memory_are_gone() {
    let message = content(50_000, 3);
    for (kind, settings) in variants() {
        let (mut near, mut far) = pair(kind, &settings, &patience(60.0).0);
        let posted = near.visit(Left(&message));
        drop(near);
        if posted {
            let mut came = vec![0; message.len()];
            far.recv(&mut came).unwrap();
            assert!(came == message, "{}", name(kind, &settings));
            let outcome = far.recv(&mut came);
            assert!(matches!(outcome, Err(LinkError::Closed { .. })), "{}: {outcome:?}", name(kind, &settings));
        }
    }
}

/// Posts from memory of the link until one fails.
struct Until;

impl transport::Visit for Until {
    type Out = Option<LinkError>;
    fn visit<L: Link>(self, end: &mut End<L>) -> Option<LinkError> {
        let (link, out, _) = end.lend(&Room::of(1 << 20, 64), &Room::NONE).unwrap();
        let link = link.queued()?;
        (0..1000).find_map(|_| link.post(out).err())
    }
}

#[test]
fn posts_from_the_links_own_memory_end_with_the_peer() {
    all_at_once(|kind, settings| {
        let (mut near, far) = hasty_pair(kind, &settings, &patience(0.3).0);
        if !near.capabilities().queued {
            return;
        }
        let outcome = near.visit(Until);
        assert!(matches!(outcome, Some(LinkError::Stalled { .. })), "{}: {outcome:?}", name(kind, &settings));
        drop(far);
        let outcome = near.visit(Until);
        assert!(matches!(outcome, Some(LinkError::Closed { .. })), "{}: {outcome:?}", name(kind, &settings));
    });
}

#[test]
fn posts_to_a_peer_that_takes_nothing_or_is_gone_end() {
    all_at_once(|kind, settings| {
        let (mut near, far) = hasty_pair(kind, &settings, &patience(0.3).0);
        let Some(link) = near.queued() else { return };
        let message = content(1 << 20, 1);
        let outcome = (0..1000).find_map(|_| link.post(&message).err());
        assert!(matches!(outcome, Some(LinkError::Stalled { .. })), "{}: {outcome:?}", name(kind, &settings));
        drop(far);
        let outcome = (0..1000).find_map(|_| link.post(&message).err());
        assert!(matches!(outcome, Some(LinkError::Closed { .. })), "{}: {outcome:?}", name(kind, &settings));
    });
}
