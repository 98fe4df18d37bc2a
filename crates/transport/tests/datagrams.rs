//! What UDP links say of datagrams that are lost, late, double or not theirs, with a peer that misbehaves on purpose.

mod pairs;

use std::net::UdpSocket;
use std::time::Duration;

use pairs::{LOOPBACK, Settings, content, pair, patience, proof, settings};
use transport::udp::{MOST_V4, MOST_V6};
use transport::{Acceptor, AnyLink, DatagramCounts, Family, Link, LinkError, Patience, udp};

/// A far link, and a bare socket that met it as its near side.
fn far(settings: &Settings) -> (AnyLink, UdpSocket, Acceptor) {
    let mut acceptor = pairs::bind(udp::NAME, settings, (LOOPBACK, 0).into(), &Patience::default()).unwrap();
    let at = (LOOPBACK, acceptor.address().text().unwrap().parse::<u16>().unwrap());
    let near = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    near.connect(at).unwrap();
    near.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    near.send(&proof(7).near).unwrap();
    let link = acceptor.accept(&proof(7)).unwrap();
    expect_answer(&near);
    (link, near, acceptor)
}

fn expect_answer(near: &UdpSocket) {
    let mut answer = [0; 64];
    assert_eq!(near.recv(&mut answer).unwrap(), 32);
    assert_eq!(answer[..32], proof(7).far);
}

/// A datagram of `len` bytes with this number.
fn numbered(number: u32, len: usize) -> Vec<u8> {
    let mut datagram = content(len, number.into());
    let bytes = transport::udp::number_bytes(len);
    datagram[..bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
    datagram
}

#[test]
fn lost_late_and_double_datagrams_are_counted_and_never_returned() {
    for len in [1, 2, 3, 4, 100] {
        let (mut link, near, _door) = far(&settings());
        for number in [1, 2, 5, 4, 5, 4, 2, 6] {
            near.send(&numbered(number, len)).unwrap();
        }
        for number in [1, 2, 5, 6] {
            let mut message = vec![0; len];
            link.recv(&mut message).unwrap();
            assert_eq!(message, numbered(number, len));
        }
        let counts = if len == 1 {
            DatagramCounts { lost: 2, reordered: 0, duplicated: 0, mismatched: 0, strangers: 0 }
        } else {
            DatagramCounts { lost: 1, reordered: 1, duplicated: 3, mismatched: 0, strangers: 0 }
        };
        assert_eq!(link.datagrams(), Some(counts), "{len} bytes");
    }
}

#[test]
fn a_datagram_of_another_size_is_counted_and_passed_over() {
    let (mut link, near, _door) = far(&settings());
    near.send(&numbered(1, 100)).unwrap();
    near.send(&numbered(2, 0)).unwrap();
    near.send(&numbered(2, 8)).unwrap();
    let mut message = [0; 8];
    link.recv(&mut message).unwrap();
    assert_eq!(message[..], numbered(2, 8));
    assert_eq!(link.datagrams().unwrap(), DatagramCounts { mismatched: 1, ..Default::default() });
}

#[test]
fn a_proof_that_comes_again_is_answered_again_and_is_no_message() {
    let (mut link, near, _door) = far(&settings());
    near.send(&proof(7).near).unwrap();
    near.send(&proof(7).near).unwrap();
    assert!(!link.ready(Duration::from_millis(50)).unwrap(), "a proof is nothing to receive");
    expect_answer(&near);
    expect_answer(&near);
    near.send(&proof(7).near).unwrap();
    near.send(&numbered(1, 32)).unwrap();
    let mut message = [0; 32];
    link.recv(&mut message).unwrap();
    assert_eq!(message[..], numbered(1, 32));
    expect_answer(&near);
}

#[test]
fn strangers_are_not_heard() {
    let (mut link, near, _door) = far(&settings());
    let to = near.peer_addr().unwrap();
    let stranger = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    for _ in 0..50 {
        stranger.send_to(&numbered(1, 10), to).unwrap();
    }
    assert!(!link.ready(Duration::from_millis(50)).unwrap());
    near.send(&numbered(1, 10)).unwrap();
    let mut message = [0; 10];
    link.recv(&mut message).unwrap();
    assert_eq!(link.datagrams(), Some(DatagramCounts::default()));
}

#[test]
fn a_flood_of_nonsense_does_not_keep_the_right_peer_out() {
    let patience = patience(20.0).0;
    let mut acceptor = pairs::bind(udp::NAME, &settings(), (LOOPBACK, 0).into(), &patience).unwrap();
    let at = (LOOPBACK, acceptor.address().text().unwrap().parse::<u16>().unwrap());
    let stranger = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    for len in 0..200 {
        stranger.send_to(&vec![9; len], at).unwrap();
    }
    let (mut near, mut far) = pairs::meet(&mut acceptor, udp::NAME, &settings(), &patience);
    near.send(&[1; 32]).unwrap();
    far.recv(&mut [0; 32]).unwrap();
}

#[test]
fn a_wait_for_a_lost_datagram_ends_and_the_link_goes_on() {
    let settings = settings().with("loss-timeout", 0.05);
    let (mut near, mut far) = pair(udp::NAME, &settings, &Patience::default());
    for size in [1, 1000] {
        for _ in 0..3 {
            assert!(matches!(near.recv(&mut [0; 10]), Err(LinkError::Lost)));
        }
        far.send(&content(size, 1)).unwrap();
        near.recv(&mut vec![0; size]).unwrap();
    }
    assert_eq!(near.datagrams(), Some(DatagramCounts::default()), "nothing was sent that did not come");
}

#[test]
fn the_largest_datagram_of_each_ip_version_goes_and_one_byte_more_is_refused() {
    for (family, most) in [(Family::V4, MOST_V4), (Family::V6, MOST_V6)] {
        let settings = settings().with("family", family);
        let (mut near, mut far) = pair(udp::NAME, &settings, &Patience::default());
        assert_eq!(near.capabilities().max_block, Some(most as u64));
        let (message, mut into) = (content(most, 1), vec![0; most]);
        near.send(&message).unwrap();
        far.recv(&mut into).unwrap();
        assert!(into[4..] == message[4..]);
        let refused = near.send(&content(most + 1, 1));
        assert!(matches!(refused, Err(LinkError::TooLarge { most: m, .. }) if m == most as u64), "{refused:?}");
    }
}

#[test]
fn a_far_side_that_answers_late_is_still_met() {
    let mut acceptor = pairs::bind(udp::NAME, &settings(), (LOOPBACK, 0).into(), &Patience::default()).unwrap();
    let address = acceptor.address();
    let mut connector = pairs::dial(udp::NAME, &settings(), address, &Patience::default());
    std::thread::scope(|s| {
        let far = s.spawn(|| {
            // Several proofs queue up meanwhile.
            std::thread::sleep(Duration::from_millis(180));
            acceptor.accept(&proof(7)).unwrap()
        });
        let mut near = connector.connect(&proof(7)).unwrap();
        let mut far = far.join().unwrap();
        for i in 0..20u8 {
            near.send(&[i; 32]).unwrap();
            let mut message = [0; 32];
            far.recv(&mut message).unwrap();
            assert_eq!(message[4..], [i; 28]);
            far.send(&[i; 32]).unwrap();
            near.recv(&mut message).unwrap();
            assert_eq!(message[4..], [i; 28]);
        }
        for link in [near, far] {
            assert_eq!(link.datagrams(), Some(DatagramCounts::default()));
        }
    });
}

#[test]
fn a_peer_whose_socket_is_gone_is_noticed() {
    let (mut link, near, door) = far(&settings());
    drop((near, door));
    let outcome = (0..1000).find_map(|_| link.send(&[0; 10]).err());
    assert!(matches!(outcome, Some(LinkError::Closed { .. })), "{outcome:?}");
}
