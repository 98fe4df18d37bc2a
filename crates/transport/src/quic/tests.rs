//! What travels, and what strangers may send to a link.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::TRANSPORT;
use crate::{AnyLink, Link, LinkError, Patience, Proof, Settings, Transport, ip};

const PROOF: Proof = Proof { near: [7; 32], far: [8; 32] };

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// Both ends; the near one goes by way of `relay`, which is told where the door is.
fn pair(settings: &Settings, relay: impl FnOnce(SocketAddr) -> SocketAddr) -> (AnyLink, AnyLink) {
    let patience = Patience::new(Duration::from_secs(60), Default::default());
    let mut door = TRANSPORT.listen(settings, loopback(), &patience).unwrap();
    let to = relay(ip::door(&door.address(), loopback(), settings).unwrap());
    let mut way = TRANSPORT.dial(settings, &ip::told(to), loopback(), &patience).unwrap();
    std::thread::scope(|s| {
        let far = s.spawn(|| door.accept(&PROOF).unwrap());
        (way.connect(&PROOF).unwrap(), far.join().unwrap())
    })
}

/// Passes datagrams on, each as `passes` says of its number: so many times.
fn relay(to: SocketAddr, passes: impl Fn(usize) -> usize + Send + 'static) -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind(loopback()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let (at, seen) = (socket.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&seen);
    std::thread::spawn(move || {
        let (mut near, mut part) = (None, vec![0; 70_000]);
        loop {
            let (n, from) = match socket.recv_from(&mut part) {
                Ok(came) => came,
                // A test beside this one stops and continues the process.
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let onwards = if from == to {
                near
            } else {
                near = Some(from);
                Some(to)
            };
            for _ in 0..passes(count.fetch_add(1, Ordering::Relaxed)) {
                let _ = onwards.map(|onwards| socket.send_to(&part[..n], onwards));
            }
        }
    });
    (at, seen)
}

fn there_and_back(near: &mut AnyLink, far: &mut AnyLink, len: usize) {
    let message: Vec<u8> = (0..len).map(|i| (i / 3) as u8).collect();
    let (mut there, mut back) = (vec![0; len], vec![0; len]);
    std::thread::scope(|s| {
        s.spawn(|| {
            far.recv(&mut there).unwrap();
            far.send(&there).unwrap();
        });
        near.send(&message).unwrap();
        near.recv(&mut back).unwrap();
    });
    assert!(back == message);
}

#[test]
fn what_is_lost_or_comes_twice_on_the_way_is_made_good() {
    let (mut near, mut far) = pair(&Settings::default(), |to| {
        // The meeting whole, then every ninth datagram lost and every seventh twice.
        relay(to, |i| match i {
            0..8 => 1,
            i if scrambled(i).is_multiple_of(9) => 0,
            i if scrambled(i).is_multiple_of(7) => 2,
            _ => 1,
        })
        .0
    });
    for len in [1, 5000, 300_000] {
        there_and_back(&mut near, &mut far, len);
    }
}

/// A number that follows no rhythm: a regular loss may hit the same part of each repetition.
fn scrambled(i: usize) -> usize {
    (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(20) as usize
}

#[test]
fn a_tail_that_is_lost_comes_again_while_its_sender_is_away() {
    let (mut near, mut far) =
        pair(&Settings::default(), |to| relay(to, |i| usize::from(i < 12 || !scrambled(i).is_multiple_of(3))).0);
    for i in 0..10 {
        near.send(&[i; 3000]).unwrap();
        let mut came = [0; 3000];
        // The near thread does nothing meanwhile.
        far.recv(&mut came).unwrap();
        assert_eq!(came, [i; 3000]);
    }
}

#[test]
fn larger_datagrams_are_fewer() {
    let count = |settings: &Settings| {
        let mut seen = None;
        let (mut near, mut far) = pair(settings, |to| {
            let (at, count) = relay(to, |_| 1);
            seen = Some(count);
            at
        });
        there_and_back(&mut near, &mut far, 200_000);
        seen.unwrap().load(Ordering::Relaxed)
    };
    let (small, large) = (count(&Settings::default()), count(&Settings::default().with("packet", 60_000u64)));
    assert!(small > 250 && large < small / 4, "{small} {large}");
}

#[test]
fn whatever_a_stranger_sends_to_the_door_or_a_link_disturbs_nobody() {
    let mut door_at = None;
    let (mut near, mut far) = pair(&Settings::default(), |to| {
        door_at = Some(to);
        let stranger = UdpSocket::bind(loopback()).unwrap();
        // Nothing, a proof that is none, long and short headers of any version, an initial packet of zeros.
        for len in [0, 1, 32, 33, 1200, 60_000] {
            for first in [0x00, 0x40, 0x80, 0xc0, 0xff] {
                let mut datagram = vec![0; len];
                datagram.iter_mut().take(1).for_each(|b| *b = first);
                stranger.send_to(&datagram, to).unwrap();
            }
        }
        to
    });
    let stranger = UdpSocket::bind(loopback()).unwrap();
    for _ in 0..100 {
        stranger.send_to(&[0xc0; 1200], door_at.unwrap()).unwrap();
    }
    there_and_back(&mut near, &mut far, 100_000);
}

#[test]
fn a_peer_whose_socket_is_gone_without_a_word_is_noticed() {
    let patience = Patience::new(Duration::from_secs(60), Default::default());
    let mut door = TRANSPORT.listen(&Settings::default(), loopback(), &patience).unwrap();
    let to = ip::door(&door.address(), loopback(), &Settings::default()).unwrap();
    let socket = UdpSocket::bind(loopback()).unwrap();
    // A near side that shows its proof and says nothing more, as one that was killed.
    let began = Instant::now();
    let far = std::thread::scope(|s| {
        let far = s.spawn(|| door.accept(&PROOF));
        socket.connect(to).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.send(&PROOF.near).unwrap();
        socket.recv(&mut [0; 32]).unwrap();
        // A first packet of the handshake that can't be read, and the end.
        socket.send(&[0xc0; 1200]).unwrap();
        drop(socket);
        std::thread::sleep(Duration::from_millis(50));
        patience.flag().store(true, Ordering::Relaxed);
        far.join().unwrap()
    });
    assert!(matches!(far, Err(LinkError::Interrupted | LinkError::Closed { .. })), "{far:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

fn datagrams() -> Settings {
    Settings::default().with("mode", "datagram").with("loss-timeout", 0.2)
}

#[test]
fn a_datagram_has_room_for_what_the_packet_leaves_and_no_more() {
    for (settings, most) in [(datagrams(), 1162), (datagrams().with("packet", 9000u64), 8962)] {
        let (mut near, mut far) = pair(&settings, |to| to);
        assert_eq!(TRANSPORT.capabilities(&settings).max_block, Some(most));
        assert_eq!(near.capabilities(), TRANSPORT.capabilities(&settings), "as was said before it was opened");
        let (message, mut came) = (vec![5; most as usize], vec![0; most as usize]);
        near.send(&message).unwrap();
        far.recv(&mut came).unwrap();
        assert!(came[4..] == message[4..]);
        let refused = near.send(&vec![5; most as usize + 1]);
        assert!(matches!(refused, Err(LinkError::TooLarge { most: m, .. }) if m == most), "{refused:?}");
    }
}

#[test]
fn datagrams_that_are_lost_or_come_twice_are_counted_and_not_sent_again() {
    // The meeting whole, then some lost and some twice: QUIC itself drops what comes twice.
    let (mut near, mut far) = pair(&datagrams(), |to| {
        relay(to, |i| match i {
            0..60 => 1,
            i if scrambled(i).is_multiple_of(9) => 0,
            i if scrambled(i).is_multiple_of(7) => 2,
            _ => 1,
        })
        .0
    });
    let (mut came, mut last) = (0u64, 0u32);
    for i in 0..400u32 {
        near.send(&[&[0; 4], &i.to_le_bytes()[..], &[7; 500]].concat()).unwrap_or_else(|e| panic!("{i}: {e}"));
        let mut message = [0; 508];
        match far.recv(&mut message) {
            Ok(()) => {
                let number = u32::from_le_bytes(message[4..8].try_into().unwrap());
                assert!(came == 0 || number > last, "{number} after {last}");
                (came, last) = (came + 1, number);
            }
            Err(LinkError::Lost) => {}
            Err(e) => panic!("{e}"),
        }
    }
    let counts = far.datagrams().unwrap();
    assert!(counts.lost > 0 && came < 400 && came > 200, "{came} came, {counts:?}");
    assert_eq!((counts.duplicated, counts.mismatched, counts.strangers), (0, 0, 0), "{counts:?}");
}

#[test]
fn a_datagram_of_another_size_is_counted_and_passed_over() {
    let (mut near, mut far) = pair(&datagrams(), |to| to);
    near.send(&[1; 100]).unwrap();
    near.send(&[2; 8]).unwrap();
    let mut came = [0; 8];
    far.recv(&mut came).unwrap();
    assert_eq!(came[4..], [2; 4]);
    assert_eq!(far.datagrams().unwrap().mismatched, 1);
    let nothing = far.recv(&mut [0; 8]);
    assert!(matches!(nothing, Err(LinkError::Lost)), "{nothing:?}");
}

#[test]
fn a_stream_hears_nothing_of_a_time_for_losses() {
    assert!(TRANSPORT.listens_to(&datagrams(), "loss-timeout"));
    assert!(!TRANSPORT.listens_to(&Settings::default(), "loss-timeout"));
    assert!(TRANSPORT.listens_to(&Settings::default(), "packet"));
}
