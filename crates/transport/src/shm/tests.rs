//! Two ends of a link in two threads, each with a mapping of its own, and an end that breaks the rules.

use std::cell::Cell;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use super::Shm;
use super::bell::Futex;
use super::link::capabilities;
use super::link::wait::Want;
use super::place::{CHUNK, DATA};
use super::slot::INLINE;
use super::sync::{AtomicU32, Ordering};
use crate::{Link, LinkError, Patience, Settings, Wait};

fn settings(wait: Wait) -> Settings {
    Settings::default().with("wait", wait)
}

fn pair_with(wait: Wait, patience: &Patience) -> (Shm, Shm) {
    let (near, file) = Shm::create(&settings(wait), patience).unwrap();
    let far = Shm::attach(file, &settings(wait), patience).unwrap();
    (near, far)
}

fn pair(wait: Wait) -> (Shm, Shm) {
    pair_with(wait, &Patience::new(Duration::from_secs(60), Arc::default()))
}

fn message(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(31) ^ (i >> 8) ^ seed.wrapping_mul(97)) as u8).collect()
}

fn sizes() -> Vec<usize> {
    let mut sizes = vec![0, 1, 7, 8, 9, INLINE - 1, INLINE, INLINE + 1, 64, 65, 4095];
    for edge in [CHUNK, DATA] {
        sizes.extend([edge - 1, edge, edge + 1, edge + INLINE]);
    }
    sizes.push(3 * DATA + 12_345);
    sizes
}

/// Replies that go the short way, and whatever else may follow a message that was taken so.
#[test]
fn any_operation_may_follow_any_message() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair(wait);
        let links = [&mut near, &mut far];
        // What either side has sent and the other has not received.
        let mut under_way: [VecDeque<Vec<u8>>; 2] = Default::default();
        let mut state = 3u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for step in 0..50_000 {
            let len = [0, 1, 2, INLINE, INLINE + 1, 3000][random(6)];
            let (me, action, what) = (random(2), random(8), format!("{step}, {wait:?}"));
            let peer = 1 - me;
            let link = &mut *links[me];
            // Three messages fit into the lane whatever went before.
            let (room, comes) = (under_way[me].len() < 3, !under_way[peer].is_empty());
            match action {
                0..3 if room => {
                    link.send(&message(len, step)).unwrap();
                    under_way[me].push_back(message(len, step));
                }
                3..6 if comes => {
                    let sent = under_way[peer].pop_front().unwrap();
                    let mut got = vec![0; sent.len()];
                    link.recv(&mut got).unwrap();
                    assert_eq!(got, sent, "{what}");
                }
                6 => assert_eq!(link.ready(Duration::ZERO).unwrap(), comes, "{what}"),
                7 if comes && room => {
                    let sent = under_way[peer].pop_front().unwrap();
                    let mut got = vec![0; sent.len()];
                    link.exchange(&message(len, step), &mut got).unwrap();
                    assert_eq!(got, sent, "{what}");
                    under_way[me].push_back(message(len, step));
                }
                _ => {}
            }
        }
    }
}

/// A side that sleeps: tells whether its bell has rung when it would go to sleep.
struct Sleeper(Cell<bool>);

impl Futex for Sleeper {
    fn wait(&self, word: &AtomicU32, armed: u32) {
        self.0.set(word.load(Ordering::Relaxed) != armed);
    }
    fn wake(&self, _: &AtomicU32) {}
}

/// Whether `doing`, which the peer of side `me` does, rings its bell.
fn rings(shm: &Shm, me: usize, doing: impl FnOnce()) -> bool {
    let rung = Sleeper(Cell::new(false));
    shm.map.shared().sides[me].bell.sleep(&rung, || {
        doing();
        false
    });
    rung.0.get()
}

#[test]
fn a_conversation_goes_the_short_way_and_wakes_who_sleeps() {
    let (mut near, mut far) = pair(Wait::Block);
    for round in 0..40 {
        let len = round % (INLINE + 1);
        assert!(rings(&far, 1, || near.send(&message(len, round)).unwrap()), "{round}: the message rings");
        let mut got = vec![0; len];
        // The sender may be waiting for the slots that the answer in the fourth one skips.
        let told = rings(&near, 0, || far.recv(&mut got).unwrap());
        assert_eq!(told, round % 4 == 3, "{round}");
        assert!(far.turn.taken(), "{round}: the short way");
        assert!(rings(&near, 0, || far.send(&got).unwrap()), "{round}: the reply rings");
        near.recv(&mut got).unwrap();
        assert_eq!((got, near.turn.taken()), (message(len, round), true), "{round}");
    }
}

#[test]
fn a_link_closed_after_a_message_sends_no_reply() {
    let (mut near, mut far) = pair(Wait::Spin);
    near.send(&[1]).unwrap();
    far.recv(&mut [0]).unwrap();
    far.close().unwrap();
    let closed =
        |outcome: Result<(), LinkError>| assert!(matches!(outcome, Err(LinkError::Closed { .. })), "{outcome:?}");
    closed(far.send(&[2]));
    closed(near.recv(&mut [0]));
}

#[test]
fn messages_of_every_size_come_back_as_they_were_sent() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair(wait);
        let echo = thread::spawn(move || {
            for size in sizes() {
                let mut got = vec![0; size];
                far.recv(&mut got).unwrap();
                far.send(&got).unwrap();
            }
        });
        for size in sizes() {
            let sent = message(size, size);
            near.send(&sent).unwrap();
            let mut got = vec![0xa5; size];
            near.recv(&mut got).unwrap();
            assert!(got == sent, "a message of {size} bytes came back changed ({wait:?})");
        }
        echo.join().unwrap();
    }
}

#[test]
fn a_stream_of_mixed_sizes_keeps_its_order() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair(wait);
        let size = |i: usize| i * i * 7 % 70_000 / (1 + i % 9);
        let sender = thread::spawn(move || {
            for i in 0..3_000 {
                near.send(&message(size(i), i)).unwrap();
            }
            near
        });
        for i in 0..3_000 {
            let mut got = vec![0; size(i)];
            far.recv(&mut got).unwrap();
            assert!(got == message(size(i), i), "message {i}");
        }
        drop(sender.join().unwrap());
    }
}

#[test]
fn both_sides_exchange_messages_larger_than_the_ring() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair(wait);
        let plan = [(3 * DATA, 2 * DATA + 5), (1, 4 * DATA), (4 * DATA, 0), (0, 0), (48, 49)];
        let mirror = thread::spawn(move || {
            for (there, back) in plan {
                let mut got = vec![0; there];
                far.exchange(&message(back, 2), &mut got).unwrap();
                assert!(got == message(there, 1));
            }
        });
        for (there, back) in plan {
            let mut got = vec![0; back];
            near.exchange(&message(there, 1), &mut got).unwrap();
            assert!(got == message(back, 2));
        }
        mirror.join().unwrap();
    }
}

#[test]
fn a_message_of_another_length_is_a_protocol_error() {
    for (sent, expected) in [(5, 4), (4, 5), (0, 1), (1, 0), (100, 1000), (CHUNK + 1, CHUNK)] {
        let (mut near, mut far) = pair(Wait::Spin);
        near.send(&vec![1; sent]).unwrap();
        assert!(matches!(far.recv(&mut vec![0; expected]), Err(LinkError::Protocol(_))), "{sent} for {expected}");
    }
}

#[test]
fn ready_sees_a_message_and_does_not_take_it() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair(wait);
        assert!(!far.ready(Duration::ZERO).unwrap());
        assert!(!far.ready(Duration::from_millis(2)).unwrap());
        near.send(&[9]).unwrap();
        assert!(far.ready(Duration::ZERO).unwrap());
        assert!(far.ready(Duration::from_secs(60)).unwrap());
        let mut got = [0];
        far.recv(&mut got).unwrap();
        assert_eq!(got, [9]);
        assert!(!far.ready(Duration::ZERO).unwrap());
    }
}

#[test]
fn a_closed_link_gives_what_was_sent_and_then_says_closed() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair(wait);
        near.send(&[1, 2]).unwrap();
        near.close().unwrap();
        assert!(matches!(near.send(&[1]), Err(LinkError::Closed { .. })));
        let mut got = [0; 2];
        far.recv(&mut got).unwrap();
        assert_eq!(got, [1, 2]);
        assert!(matches!(far.recv(&mut got), Err(LinkError::Closed { doing: "receiving" })));
        assert!(matches!(far.ready(Duration::from_secs(60)), Err(LinkError::Closed { .. })));
        assert!(matches!(far.send(&vec![0; 2 * DATA]), Err(LinkError::Closed { doing: "sending" })));
    }
}

#[test]
fn closing_wakes_a_side_that_sleeps() {
    for wait in capabilities().waits {
        let (near, mut far) = pair(wait);
        let sleeper = thread::spawn(move || far.recv(&mut [0]));
        thread::sleep(Duration::from_millis(5));
        drop(near);
        assert!(matches!(sleeper.join().unwrap(), Err(LinkError::Closed { .. })));
    }
}

#[test]
fn the_death_of_the_peer_ends_the_wait() {
    for wait in capabilities().waits {
        let (mut near, far) = pair(wait);
        let (mine, theirs) = UnixStream::pair().unwrap();
        near.watch(OwnedFd::from(mine));
        let waiter = thread::spawn(move || (near.recv(&mut [0]), near.send(&vec![0; 2 * DATA])));
        thread::sleep(Duration::from_millis(3));
        drop(theirs);
        let (received, sent) = waiter.join().unwrap();
        assert!(matches!(received, Err(LinkError::Closed { doing: "receiving" })), "{received:?}");
        assert!(matches!(sent, Err(LinkError::Closed { doing: "sending" })), "{sent:?}");
        // The far end never said goodbye, as a killed process does not.
        drop(far);
    }
}

#[test]
fn news_that_come_to_nothing_end_with_the_patience() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair_with(wait, &Patience::new(Duration::from_millis(20), Arc::default()));
        far.send(&[1]).unwrap();
        // As if the message were taken back each time before it can be received.
        let mut idle = None;
        let ended =
            (0..1_000_000_000u64).find_map(|_| near.await_news(&mut idle, Want::Message, None, "receiving").err());
        assert!(matches!(ended, Some(LinkError::Stalled { doing: "receiving", .. })), "{ended:?}");
        // What is there in truth is received at once.
        near.recv(&mut [0]).unwrap();
    }
}

#[test]
fn a_silent_peer_is_a_stall_and_a_stop_flag_an_interrupt() {
    for wait in capabilities().waits {
        let (mut near, _far) = pair_with(wait, &Patience::new(Duration::from_millis(20), Arc::default()));
        assert!(matches!(near.recv(&mut [0]), Err(LinkError::Stalled { doing: "receiving", .. })));
        assert!(matches!(near.send(&vec![0; 2 * DATA]), Err(LinkError::Stalled { doing: "sending", .. })));
        let (mut near, _far) =
            pair_with(wait, &Patience::new(Duration::from_secs(60), Arc::new(AtomicBool::new(true))));
        assert!(matches!(near.recv(&mut [0]), Err(LinkError::Interrupted)));
        assert!(matches!(near.exchange(&[], &mut [0]), Err(LinkError::Interrupted)));
    }
}

#[test]
fn both_sides_must_wait_alike_and_only_in_known_ways() {
    let patience = Patience::default();
    let (_near, file) = Shm::create(&settings(Wait::Spin), &patience).unwrap();
    assert!(matches!(Shm::attach(file, &settings(Wait::Block), &patience), Err(LinkError::Protocol(_))));
    assert!(matches!(Shm::create(&settings(Wait::BusyPoll), &patience), Err(LinkError::Unsupported(_))));
}

/// The peer writes random words over everything that is shared. Whatever comes of it, it is an error or a wrong message, and
/// it ends.
#[test]
fn a_peer_that_scribbles_over_the_memory_can_only_cause_errors() {
    for round in 0..40u64 {
        let patience = Patience::new(Duration::from_millis(5), Arc::default());
        let (mut near, file) = Shm::create(&settings(Wait::Spin), &patience).unwrap();
        let size = rustix::fs::fstat(&file).unwrap().st_size as u64;
        let mut state = round;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        let mut into = vec![0; 3000];
        let mut outcomes = Vec::new();
        for _ in 0..60 {
            for _ in 0..200 {
                // Mostly small numbers: they are the ones that get past a first check.
                let word = if random() % 2 == 0 { random() % 80 } else { random() << 20 };
                let at = random() % (size / 8).min(1600) * 8;
                rustix::io::pwrite(&file, &word.to_le_bytes(), at).unwrap();
            }
            let len = (random() % 3000) as usize;
            let outcome = match random() % 3 {
                0 => near.send(&into[..len]),
                1 => near.recv(&mut into[..len % 60]),
                _ => near.exchange(&[3; 100], &mut into[..len]),
            };
            let ended = matches!(outcome, Err(LinkError::Closed { .. }));
            outcomes.push(outcome);
            if ended {
                break;
            }
        }
        assert!(
            outcomes.iter().any(|o| o.is_err()),
            "round {round}: a peer that never speaks the protocol went unnoticed"
        );
    }
}

#[test]
fn two_sides_on_one_cpu_still_get_through() {
    for wait in capabilities().waits {
        let (mut near, mut far) = pair(wait);
        let pin = || {
            let allowed = rustix::thread::sched_getaffinity(None).unwrap();
            let cpu = (0..rustix::thread::CpuSet::MAX_CPU).find(|&c| allowed.is_set(c)).unwrap();
            let mut one = rustix::thread::CpuSet::new();
            one.set(cpu);
            rustix::thread::sched_setaffinity(None, &one).unwrap();
        };
        let echo = thread::spawn(move || {
            pin();
            let mut b = [0; 8];
            for _ in 0..300 {
                far.recv(&mut b).unwrap();
                far.send(&b).unwrap();
            }
        });
        let near = thread::spawn(move || {
            pin();
            let mut b = [0; 8];
            for i in 0..300u64 {
                near.send(&i.to_le_bytes()).unwrap();
                near.recv(&mut b).unwrap();
                assert_eq!(u64::from_le_bytes(b), i);
            }
        });
        near.join().unwrap();
        echo.join().unwrap();
    }
}
