//! What travels, and what a peer that has shown its proof may do.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use super::TRANSPORT;
use crate::{AnyLink, Link, LinkError, Patience, Proof, Settings, Transport, ip};

const PROOF: Proof = Proof { near: [7; 32], far: [8; 32] };

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A far end whose near side is a plain socket that has shown its proof and says `first`.
fn against(first: &'static [u8]) -> (Result<AnyLink, LinkError>, TcpStream) {
    let patience = Patience::new(Duration::from_millis(500), Default::default());
    let mut door = TRANSPORT.listen(&Settings::default(), loopback(), &patience).unwrap();
    let to = ip::door(&door.address(), loopback(), &Settings::default()).unwrap();
    let mut near = TcpStream::connect(to).unwrap();
    near.write_all(&PROOF.near).unwrap();
    near.write_all(first).unwrap();
    (door.accept(&PROOF), near)
}

/// A client's request.
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

#[test]
fn a_handshake_that_is_none_or_never_ends_is_the_peers_fault_within_the_patience() {
    for first in [&b"\0\xff\x13 no request \r\n\r\n"[..], b"POST / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"] {
        let (far, _near) = against(first);
        assert!(matches!(far, Err(LinkError::Protocol(_))), "{far:?}");
    }
    let (far, _near) = against(b"GET / HT");
    assert!(matches!(far, Err(LinkError::Stalled { .. })), "{far:?}");
}

/// A call with a time limit is cut short where its process was stopped and goes on (signal(7)).
#[test]
fn a_signal_in_a_handshake_does_not_end_it() {
    let patience = Patience::new(Duration::from_secs(5), Default::default());
    let mut door = TRANSPORT.listen(&Settings::default(), loopback(), &patience).unwrap();
    let to = ip::door(&door.address(), loopback(), &Settings::default()).unwrap();
    let mut near = TcpStream::connect(to).unwrap();
    near.write_all(&PROOF.near).unwrap();
    std::thread::scope(|s| {
        let far = s.spawn(|| door.accept(&PROOF));
        let me = std::process::id();
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(20));
            let stop_and_go = format!("kill -STOP {me}; kill -CONT {me}");
            assert!(std::process::Command::new("sh").args(["-c", &stop_and_go]).status().unwrap().success());
        }
        near.write_all(REQUEST).unwrap();
        far.join().unwrap().unwrap();
    });
}

#[test]
fn a_frame_that_breaks_the_rules_or_is_longer_than_what_is_due_ends_the_link_and_takes_no_memory() {
    for (frame, says) in [
        // Masked by 0, as a client's frames must be.
        (&b"\x82\x85\0\0\0\0hello"[..], None),
        (b"\x82\x05hello", Some("unmasked")),
        (b"\x81\x85\0\0\0\0hello", Some("text")),
        (b"\x82\x83\0\0\0\0hel", Some("3 bytes came where one of 5")),
        (b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", Some("too long")),
        (b"\xf2\x85\0\0\0\0hello", Some("reserved bits")),
        (b"\x80\x85\0\0\0\0hello", Some("ontinue")),
        (b"\x8f\x80\0\0\0\0", Some("invalid opcode")),
    ] {
        let (far, mut near) = against(REQUEST);
        let mut far = far.unwrap();
        near.write_all(frame).unwrap();
        let mut message = [0; 5];
        match (far.recv(&mut message), says) {
            (Ok(()), None) => assert_eq!(&message, b"hello"),
            (Err(LinkError::Protocol(e)), Some(says)) => {
                assert!(e.to_lowercase().contains(says), "{frame:?}: {e}");
            }
            other => panic!("{frame:?}: {other:?}"),
        }
    }
}

/// What passed from the near side to the far one and back, while both sent `message`, with what was set.
fn passed(settings: &Settings, message: &[u8]) -> [Vec<u8>; 2] {
    let patience = Patience::default();
    let mut door = TRANSPORT.listen(settings, loopback(), &patience).unwrap();
    let to = ip::door(&door.address(), loopback(), settings).unwrap();
    let relay = TcpListener::bind(loopback()).unwrap();
    let mut way = TRANSPORT.dial(settings, &ip::told(relay.local_addr().unwrap()), loopback(), &patience).unwrap();
    let carry = |mut from: TcpStream, mut to: TcpStream| {
        let (mut all, mut part) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = from.read(&mut part) {
            all.extend_from_slice(&part[..n]);
            if to.write_all(&part[..n]).is_err() {
                break;
            }
        }
        all
    };
    std::thread::scope(|s| {
        let carried = s.spawn(|| {
            let (near, _) = relay.accept().unwrap();
            let far = TcpStream::connect(to).unwrap();
            let (near_again, far_again) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            let there = s.spawn(move || carry(near, far));
            let back = carry(far_again, near_again);
            [there.join().unwrap(), back]
        });
        let near = s.spawn(|| {
            let mut near = way.connect(&PROOF).unwrap();
            near.send(message).unwrap();
            near.recv(&mut vec![0; message.len()]).unwrap();
        });
        let mut far = door.accept(&PROOF).unwrap();
        let mut got = vec![0; message.len()];
        far.recv(&mut got).unwrap();
        assert!(got == message);
        far.send(message).unwrap();
        near.join().unwrap();
        drop(far);
        carried.join().unwrap()
    })
}

fn has(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|w| w == part)
}

#[test]
fn the_client_masks_what_it_sends_and_the_server_does_not() {
    let message = b"these words are in no packet of the client".repeat(50);
    for client in ["near", "far"] {
        let [there, back] = passed(&Settings::default().with("client", client), &message);
        assert_eq!([has(&there, b"these words"), has(&back, b"these words")], [client == "far", client == "near"]);
    }
}

#[test]
fn longer_messages_are_cut_where_that_is_asked_for() {
    let message = vec![b'x'; 250];
    let back = |settings: &Settings| passed(settings, &message)[1].clone();
    assert!(has(&back(&Settings::default()), b"\x82\x7e\0\xfaxxx"), "one frame");
    let cut = back(&Settings::default().with("frame", 100u64));
    for part in [&b"\x02\x64xxx"[..], b"\x00\x64xxx", b"\x80\x32xxx"] {
        assert!(has(&cut, part), "{part:?}");
    }
}
