//! Two ends of a link, each with its mapping of what is exposed, and peers that break the rules.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags};

use super::super::super::file::SEALS;
use super::*;
use crate::{Patience, Settings};

fn pair() -> (Shm, Shm) {
    let patience = Patience::new(Duration::from_secs(60), Arc::default());
    let (mut far, file) = Shm::create(&Settings::default(), &patience).unwrap();
    let mut near = Shm::attach(file, &Settings::default(), &patience).unwrap();
    let (a, b) = UnixStream::pair().unwrap();
    near.watch(a.into());
    far.watch(b.into());
    (near, far)
}

/// A link whose peer exposes whatever it likes, by hand, over the socket.
fn hostile(patience: f64) -> (Shm, Shm, UnixStream) {
    let patience = Patience::new(Duration::from_secs_f64(patience), Arc::default());
    let (far, file) = Shm::create(&Settings::default(), &patience).unwrap();
    let mut near = Shm::attach(file, &Settings::default(), &patience).unwrap();
    let (a, b) = UnixStream::pair().unwrap();
    near.watch(a.into());
    (near, far, b)
}

fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(31) ^ (i >> 8) ^ seed.wrapping_mul(97)) as u8).collect()
}

#[test]
fn what_is_put_is_read_there_and_what_is_there_is_got() {
    let (mut near, mut far) = pair();
    for (round, len) in [1, 4096, 100, 100_000, 4097, 3 << 20].into_iter().enumerate() {
        far.expose(len).unwrap();
        near.reach(len).unwrap();
        let (there, back, mut found) = (bytes(len, round), bytes(len, round + 100), vec![0; len]);
        near.put(0, &there).unwrap();
        near.put(len - 1, &[7]).unwrap();
        near.fence().unwrap();
        assert!(!far.withdraw(Duration::ZERO).unwrap());
        near.leave().unwrap();
        assert!(far.withdraw(Duration::from_secs(60)).unwrap());
        far.read(0, &mut found).unwrap();
        assert!(found[..len - 1] == there[..len - 1] && found[len - 1] == 7, "{len}");
        far.fill(0, &back).unwrap();
        near.get(0, &mut found).unwrap();
        assert!(found == back, "{len}");
    }
}

#[test]
fn what_is_filled_before_it_is_exposed_is_there_when_it_is_reached() {
    let (mut near, mut far) = pair();
    for (round, len) in [100, 100_000, 10].into_iter().enumerate() {
        far.reserve(len).unwrap();
        far.fill(0, &bytes(len, round)).unwrap();
        far.expose(len).unwrap();
        near.reach(len).unwrap();
        let mut found = vec![0; len];
        near.get(0, &mut found).unwrap();
        assert!(found == bytes(len, round), "{len}");
    }
}

#[test]
fn nothing_outside_of_what_is_exposed_is_touched() {
    let (mut near, mut far) = pair();
    let outside = |outcome: Result<(), LinkError>| matches!(outcome, Err(LinkError::Outside { .. }));
    assert!(outside(near.put(0, &[1])) && outside(near.get(0, &mut [1])), "nothing is exposed");
    far.expose(100).unwrap();
    near.reach(100).unwrap();
    let page = rustix::param::page_size();
    near.put(page - 1, &[1]).unwrap();
    near.put(page, &[]).unwrap();
    for (at, len) in [(page, 1), (page - 1, 2), (0, page + 1), (usize::MAX, 1), (usize::MAX, 0), (1, usize::MAX >> 40)]
    {
        assert!(outside(near.put(at, &vec![0; len])) && outside(near.get(at, &mut vec![0; len])), "{at} {len}");
        assert!(outside(far.fill(at, &vec![0; len])) && outside(far.read(at, &mut vec![0; len])), "{at} {len}");
    }
    let said = near.put(page, &[1, 2]).unwrap_err().to_string();
    assert_eq!(said, format!("2 bytes at offset {page} lie outside of the {page} bytes that are exposed"));
}

fn said(what: &[u8; 16], len: u64, fresh: u64) -> [u8; 32] {
    let mut said = [0; 32];
    said[..16].copy_from_slice(what);
    said[16..24].copy_from_slice(&len.to_le_bytes());
    said[24..].copy_from_slice(&fresh.to_le_bytes());
    said
}

fn file(size: u64, seals: SealFlags, flags: MemfdFlags) -> OwnedFd {
    let file = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | flags).unwrap();
    rustix::fs::ftruncate(&file, size).unwrap();
    rustix::fs::fcntl_add_seals(&file, seals).unwrap();
    file
}

#[test]
fn a_peer_that_exposes_what_is_no_region_is_refused() {
    let fine = || file(8192, SEALS, MemfdFlags::empty());
    let (pipe, _other) = rustix::pipe::pipe().unwrap();
    let huge = file(2 << 20, SEALS, MemfdFlags::HUGETLB);
    for (words, files, complaint) in [
        (said(&EXPOSED, 8192, 1), vec![file(8192, SealFlags::empty(), MemfdFlags::empty())], "change size"),
        (said(&EXPOSED, 8192, 1), vec![file(4096, SEALS, MemfdFlags::empty())], "4096 bytes instead of 8192"),
        (said(&EXPOSED, 1 << 40, 1), vec![fine()], "8192 bytes instead of 1099511627776"),
        (said(&EXPOSED, u64::MAX, 1), vec![fine()], "18446744073709551615 bytes"),
        (said(&EXPOSED, 4096, 1), vec![fine()], "4096 bytes where 5000 are needed"),
        (said(&EXPOSED, 8192, 1), vec![pipe], "not shared memory"),
        (said(&EXPOSED, 2 << 20, 1), vec![huge], "not of ordinary pages"),
        (said(&EXPOSED, 8192, 1), vec![], "with 0 files"),
        (said(&EXPOSED, 8192, 0), vec![fine()], "with 1 files"),
        (said(&EXPOSED, 8192, 2), vec![fine(), fine()], "with 2 files"),
        (said(&EXPOSED, 8192, 0), vec![], "not handed over"),
        (said(b"pipegauge-region", 8192, 1), vec![fine()], "other words"),
    ] {
        let (mut near, _far, by_hand) = hostile(60.0);
        let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        meet::hand_over(by_hand.as_fd(), &words, &files).unwrap();
        match near.reach(5000) {
            Err(LinkError::Protocol(why)) => assert!(why.contains(complaint), "{why}: {complaint}"),
            other => panic!("{complaint}: {other:?}"),
        }
        assert!(
            matches!(near.put(0, &[1]), Err(LinkError::Outside { exposed: 0, .. })),
            "{complaint}: nothing is kept"
        );
    }
}

#[test]
fn a_second_region_of_another_length_needs_a_file() {
    let (mut near, _far, by_hand) = hostile(60.0);
    let first = file(8192, SEALS, MemfdFlags::empty());
    meet::hand_over(by_hand.as_fd(), &said(&EXPOSED, 8192, 1), &[first.as_fd()]).unwrap();
    near.reach(5000).unwrap();
    meet::hand_over(by_hand.as_fd(), &said(&EXPOSED, 1 << 30, 0), &[]).unwrap();
    assert!(matches!(near.reach(5000), Err(LinkError::Protocol(_))));
    assert!(matches!(near.put(8192, &[1]), Err(LinkError::Outside { exposed: 8192, .. })));
}

#[test]
fn a_peer_that_is_silent_or_gone_is_no_endless_wait() {
    let (mut near, _far, by_hand) = hostile(0.1);
    assert!(matches!(near.reach(1), Err(LinkError::Stalled { .. })));
    drop(by_hand);
    assert!(matches!(near.reach(1), Err(LinkError::Closed { .. })));
    let (mut near, mut far) = pair();
    far.expose(1).unwrap();
    near.reach(1).unwrap();
    drop(far);
    near.put(0, &[1]).unwrap();
    assert!(matches!(near.fence(), Err(LinkError::Closed { .. })));
    assert!(matches!(near.get(0, &mut [1]), Err(LinkError::Closed { .. })));
    let (near, mut far) = pair();
    far.expose(1).unwrap();
    drop(near);
    assert!(matches!(far.withdraw(Duration::from_secs(60)), Err(LinkError::Closed { .. })));
}

#[test]
fn who_leaves_in_other_words_breaks_the_rules() {
    let (mut near, mut far) = pair();
    for words in [&[1][..], &[LEFT, LEFT]] {
        near.send(words).unwrap();
        assert!(matches!(far.withdraw(Duration::from_secs(60)), Err(LinkError::Protocol(_))));
    }
}
