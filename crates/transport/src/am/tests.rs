//! What the contract of all links does not ask: hostile peers, and messages of another length.

use std::os::fd::OwnedFd;
use std::time::Duration;

use am::{Endpoint, Handlers};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::*;
use crate::{Link, Patience};

fn sockets() -> (OwnedFd, OwnedFd) {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

fn made(kind: Kind, patience: f64) -> Made {
    let settings = Settings::default().with(KIND, kind.name()).with(RING, 4096u64);
    Made::new(&WAITS, &settings, &Patience::new(Duration::from_secs_f64(patience), Default::default())).unwrap()
}

/// A link, and the endpoint of a peer that is none.
fn beside_a_stranger(kind: Kind, patience: f64) -> (Am, Endpoint<u64>) {
    let (ours, theirs) = sockets();
    let made = made(kind, patience);
    std::thread::scope(|s| {
        let peer = s.spawn(|| {
            let handlers = Handlers::new()
                .on_request(3, |token: &mut u64, message, _| *token = message.argument(0))
                .on_request(2, |_: &mut u64, _, _| {});
            let mut peer = Endpoint::follow(theirs, handlers, &options(&made)).unwrap();
            if kind == Kind::Bulk {
                // A region of the right form, so that the link comes to be.
                let region = peer.register(link::SLOT * link::SLOTS as usize).unwrap();
                peer.request(&mut 0, 3, &[region.token()], &[]).unwrap();
            }
            peer
        });
        let endpoint = Endpoint::lead(ours, link::handlers(), &options(&made)).unwrap();
        let link = Am::new(endpoint, kind, &made.patience).unwrap();
        (link, peer.join().unwrap())
    })
}

fn protocol(found: Result<(), LinkError>) -> String {
    match found {
        Err(LinkError::Protocol(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_of_another_length_is_a_protocol_error_whatever_carries_it() {
    for kind in Kind::ALL {
        for (sent, expected) in [(5, 4), (4, 5), (0, 1), (1, 0), (100, 1000), (link::SLOT + 1, link::SLOT)] {
            let (near, far) = sockets();
            let made = made(kind, 60.0);
            let outcome = std::thread::scope(|s| {
                let far = s.spawn(|| {
                    let endpoint = Endpoint::follow(far, link::handlers(), &options(&made)).unwrap();
                    let mut far = Am::new(endpoint, kind, &made.patience).unwrap();
                    let _ = far.send(&vec![1; sent]);
                    far
                });
                let endpoint = Endpoint::lead(near, link::handlers(), &options(&made)).unwrap();
                let mut near = Am::new(endpoint, kind, &made.patience).unwrap();
                let outcome = near.recv(&mut vec![0; expected]);
                drop(near);
                drop(far.join().unwrap());
                outcome
            });
            protocol(outcome);
        }
    }
}

#[test]
fn a_peer_that_does_not_keep_to_the_rules_is_told_apart_and_harms_nobody() {
    // Numbers of handlers that nobody set, lengths that can't be, credits for nothing.
    type Malice = fn(&mut Endpoint<u64>);
    let malice: [(Malice, &str); 4] = [
        (|peer| peer.request(&mut 0, 9, &[], &[]).unwrap(), "handler"),
        (|peer| peer.request(&mut 0, 0, &[u64::MAX], &[1; 100]).unwrap(), "bytes left"),
        (|peer| peer.request(&mut 0, 1, &[u64::MAX], &[]).unwrap(), "bytes left"),
        (|peer| peer.request(&mut 0, 2, &[8], &[]).unwrap(), "a piece of a message"),
    ];
    for (does, says) in malice {
        let (mut link, mut peer) = beside_a_stranger(Kind::Medium, 60.0);
        does(&mut peer);
        let why = protocol(link.recv(&mut [0; 8]));
        assert!(why.contains(says), "{why}");
        assert!(link.send(&[0; 8]).is_err(), "nothing is believed any more");
    }
}

#[test]
fn a_region_that_can_not_be_ends_the_send() {
    for token in [0, u64::MAX, 1 << 32] {
        let (mut link, mut peer) = beside_a_stranger(Kind::Bulk, 60.0);
        peer.request(&mut 0, 3, &[token], &[]).unwrap();
        assert!(link.ready(Duration::ZERO).is_ok());
        protocol(link.send(&[1; 5000]));
    }
}

#[test]
fn a_peer_that_gives_nothing_back_stalls_a_bulk_sender_and_no_more() {
    let (mut link, _peer) = beside_a_stranger(Kind::Bulk, 1.0);
    let outcome = (0..100).find_map(|_| link.send(&[1; 100]).err());
    assert!(matches!(outcome, Some(LinkError::Stalled { doing: "sending", .. })), "{outcome:?}");
}

#[test]
fn kinds_are_those_of_the_option() {
    for kind in Kind::ALL {
        assert_eq!(Kind::of(&Settings::default().with(KIND, kind.name())), kind);
        assert_eq!(OPTIONS[1].form.check(&kind.name().into()), Ok(()));
    }
    assert_eq!(Kind::of(&Settings::default()), Kind::Medium);
}
