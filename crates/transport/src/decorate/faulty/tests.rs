//! Faults: how many, which, and what is left alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::clock::Virtual;
use crate::decorate::testing::{Notebook, Plain};

fn faulty(fault: &str) -> (Faulty<Notebook, Virtual>, Virtual) {
    let clock = Virtual::default();
    let fault = fault.parse().unwrap();
    (Faulty::with_clock(Notebook::default(), &fault, &Patience::default(), clock.clone()), clock)
}

fn message(number: u64) -> Vec<u8> {
    vec![number as u8; 64]
}

#[test]
fn shares_come_true_and_the_seed_decides_which() {
    let fates = |fault: &str| {
        let (mut link, clock) = faulty(fault);
        for i in 0..20_000 {
            link.send(&message(i)).unwrap();
        }
        (link.counts(), link.inner.sent, clock.now())
    };
    let (counts, sent, now) = fates("drop=2%,corrupt=1%,delay=1ms@5%,seed=3");
    assert_eq!(sent.len() as u64, 20_000 - counts.dropped);
    assert_eq!(now, counts.delayed * 1_000_000);
    let near = |count: u64, want: u64| count.abs_diff(want) < want / 5;
    assert!(near(counts.dropped, 400) && near(counts.corrupted, 200) && near(counts.delayed, 1000), "{counts:?}");
    let wrong = |b: &Vec<u8>| b.iter().filter(|byte| **byte != b[0]).count();
    let changed: Vec<usize> = sent.iter().map(|b| wrong(b).min(64 - wrong(b))).filter(|n| *n > 0).collect();
    assert_eq!(changed.len() as u64, counts.corrupted);
    assert!(changed.iter().all(|n| *n == 1), "exactly one byte differs");
    assert_eq!(fates("drop=2%,corrupt=1%,delay=1ms@5%,seed=3").1, sent);
    assert_ne!(fates("drop=2%,corrupt=1%,delay=1ms@5%,seed=4").1, sent);
    let (alone, _, _) = fates("drop=2%,seed=3");
    assert_eq!(alone.dropped, counts.dropped, "other faults don't change which messages are dropped");
}

#[test]
fn a_corrupted_message_leaves_the_callers_memory_alone() {
    let (mut link, _) = faulty("corrupt=100%");
    let mine = message(1);
    link.inner.inbox.push_back(vec![9; 4]);
    link.send(&mine).unwrap();
    link.exchange(&mine, &mut [0; 4]).unwrap();
    link.send(&[]).unwrap();
    assert_eq!(mine, message(1));
    assert!(link.inner.sent[..2].iter().all(|sent| *sent != mine));
    assert!(link.inner.sent[2].is_empty());
}

#[test]
fn a_dropped_half_of_an_exchange_still_receives() {
    let (mut link, _) = faulty("drop=100%");
    link.inner.inbox.push_back(vec![9; 4]);
    let mut into = [0; 4];
    link.exchange(&message(1), &mut into).unwrap();
    assert_eq!((into, link.inner.sent.len()), ([9; 4], 0));
}

#[test]
fn a_cut_sends_half_and_ends_the_link() {
    let (near, mut far) = Plain::pair();
    let fault = "cut=2".parse().unwrap();
    let mut near = Faulty::new(near, &fault, &Patience::default());
    near.send(&message(0)).unwrap();
    near.send(&message(1)).unwrap();
    assert!(matches!(near.send(&message(2)), Err(LinkError::Cut { message: 2 })));
    assert!(matches!(near.send(&message(3)), Err(LinkError::Cut { message: 2 })));
    assert!(matches!(near.recv(&mut [0]), Err(LinkError::Cut { message: 2 })));
    near.close().unwrap();
    let mut into = [0; 64 + 64 + 32];
    far.recv(&mut into).unwrap();
    assert_eq!(into[128..], [2; 32]);
    assert!(matches!(far.recv(&mut [0]), Err(LinkError::Closed { .. })), "there is no second half");
}

#[test]
fn a_stall_comes_once_before_its_message_whichever_way_that_goes() {
    let (mut link, clock) = faulty("stall=2s@3");
    let mut times = Vec::new();
    for i in 0..6 {
        link.send(&message(i)).unwrap();
        times.push(clock.now());
    }
    assert_eq!(times, [0, 0, 0, 2_000_000_000, 2_000_000_000, 2_000_000_000]);
    let (mut link, clock) = faulty("stall=2s@1");
    for i in 0..3 {
        link.inner.inbox.push_back(message(i));
        link.recv(&mut [0; 64]).unwrap();
    }
    assert_eq!((clock.now(), link.counts().stalled), (2_000_000_000, 1));
}

#[test]
fn a_stall_ends_when_the_side_is_asked_to_stop() {
    let stop = Arc::new(AtomicBool::new(false));
    let patience = Patience::new(Duration::from_secs(10), stop.clone());
    let fault = "stall=3600s@1".parse().unwrap();
    let mut link = Faulty::new(Notebook::default(), &fault, &patience);
    link.send(&message(0)).unwrap();
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(link.send(&message(1)), Err(LinkError::Interrupted)));
}
