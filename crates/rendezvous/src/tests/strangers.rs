//! Nothing a stranger sends makes a far side crash, hang, grow or measure, burns the secret or keeps the right peer out.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};

use data_encoding::HEXLOWER;

use super::*;
use crate::channel::Channel;
use crate::message::{Greeting, PROTOCOL, Refusal, Speaker, VERSION, Welcome};
use crate::secret::{Role, Secret};

fn forever() -> Instant {
    Instant::now() + LONG
}

/// A TLS channel that has proved nothing.
fn unproved(served: &Served) -> Channel {
    let mut channel = Channel::near(served.tcp(), served.key.pin, Arc::new(AtomicBool::new(false))).expect("a channel");
    channel.handshake(forever()).expect("anybody may shake hands");
    channel
}

/// Bytes that a stranger might send before TLS stands.
fn hostile() -> Vec<Vec<u8>> {
    let mut long_record = vec![22, 3, 1, 0xff, 0xff];
    long_record.extend([0x41; 70_000]);
    vec![
        Vec::new(),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"SSH-2.0-x\r\n".to_vec(),
        vec![0; 1],
        vec![0; 100_000],
        vec![0xff; 100_000],
        // The beginning of a handshake record whose rest never comes.
        vec![22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3],
        // A handshake message of 16 MiB.
        vec![22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff],
        long_record,
        // Alerts, and application data before any handshake.
        vec![21, 3, 3, 0, 2, 2, 80],
        vec![23, 3, 3, 0, 5, 1, 2, 3, 4, 5],
    ]
}

#[test]
fn the_whole_list_leaves_the_right_peer_untouched() {
    let mut served = Served::once();
    let mut held = Vec::new();
    for bytes in hostile() {
        let mut stranger = served.tcp();
        // It may be cut off while it still talks.
        let _ = stranger.write_all(&bytes);
        held.push(stranger);
    }
    for bytes in hostile() {
        let mut stranger = served.tcp();
        let _ = stranger.write_all(&bytes);
        let _ = stranger.shutdown(Shutdown::Write);
    }
    measure_once(&mut served.meet().unwrap());
    assert_eq!(served.ended(), "the near side said goodbye");
    served.outcome().unwrap();
}

#[test]
fn after_the_handshake_lengths_and_words_are_checked_too() {
    let mut served = Served::once();
    for bytes in [
        u32::MAX.to_be_bytes().to_vec(),
        0u32.to_be_bytes().to_vec(),
        5000u32.to_be_bytes().to_vec(),
        [&4u32.to_be_bytes()[..], b"null"].concat(),
        [&2u32.to_be_bytes()[..], b"{}"].concat(),
        [&15u32.to_be_bytes()[..], br#"{"ask":"hello"}"#].concat(),
        [&6u32.to_be_bytes()[..], &[0xff; 6]].concat(),
    ] {
        let mut channel = unproved(&served);
        channel.send_raw(&bytes);
        let e = channel.recv::<Welcome>(forever(), "waiting to be cut off").unwrap_err();
        assert!(matches!(e, MeetError::Gone { .. }), "{bytes:?}: {e}");
    }
    measure_once(&mut served.meet().unwrap());
    served.outcome().unwrap();
}

#[test]
fn a_wrong_secret_is_refused_and_burns_nothing() {
    let mut served = Served::once();
    let wrong = Key { pin: served.key.pin, secret: Secret::of([5; 32]) };
    for _ in 0..3 {
        assert!(matches!(served.try_with(&wrong), Err(MeetError::WrongSecret { .. })));
        assert!(served.refused().contains("secret"));
    }
    measure_once(&mut served.meet().unwrap());
    served.outcome().unwrap();
}

#[test]
fn a_wrong_certificate_is_noticed_by_the_near_side() {
    let mut served = Served::once();
    let wrong = Key { pin: [5; 32], secret: served.key.secret.clone() };
    let e = served.try_with(&wrong).unwrap_err();
    assert!(matches!(e, MeetError::WrongCertificate { .. }) && e.to_string().contains("wrong key"), "{e}");
    let why = served.refused();
    assert!(why.contains("certificate"), "{why}");
    measure_once(&mut served.meet().unwrap());
    served.outcome().unwrap();
}

#[test]
fn a_greeting_replayed_or_reflected_is_refused() {
    let served = Served::keeping();
    // Seen by somebody in between, if TLS did not hide it: good on its own session only.
    let other = unproved(&served).keys().unwrap();
    let mut channel = unproved(&served);
    let own = channel.keys().unwrap();
    for tag in
        [served.key.secret.tag(Role::Near, &other.binding), served.key.secret.tag(Role::Far, &own.binding), [0; 32]]
    {
        channel.send(&Greeting { speaker: Speaker::here(), proof: HEXLOWER.encode(&tag) }).unwrap();
        let welcome: Welcome = channel.recv(forever(), "waiting for an answer").unwrap();
        assert_eq!(welcome.refusal, Some(Refusal::Secret));
        assert_eq!(welcome.proof, "", "a refusal proves nothing in return");
        channel = unproved(&served);
    }
    let own = channel.keys().unwrap();
    let proof = HEXLOWER.encode(&served.key.secret.tag(Role::Near, &own.binding));
    channel.send(&Greeting { speaker: Speaker::here(), proof }).unwrap();
    let welcome: Welcome = channel.recv(forever(), "waiting for an answer").unwrap();
    assert_eq!(welcome.refusal, None, "the same way with the right proof");
}

#[test]
fn another_version_is_named_on_both_sides_and_burns_nothing() {
    let mut served = Served::once();
    let mut channel = unproved(&served);
    let keys = channel.keys().unwrap();
    let proof = HEXLOWER.encode(&served.key.secret.tag(Role::Near, &keys.binding));
    let speaker = Speaker { pipegauge: PROTOCOL + 1, version: "9.9.9".into() };
    channel.send(&Greeting { speaker, proof }).unwrap();
    let welcome: Welcome = channel.recv(forever(), "waiting for an answer").unwrap();
    assert_eq!((welcome.refusal, welcome.speaker), (Some(Refusal::Version), Speaker::here()));
    let why = served.refused();
    assert!(why.contains("9.9.9") && why.contains(VERSION), "{why}");
    measure_once(&mut served.meet().unwrap());
    served.outcome().unwrap();
}

#[test]
fn a_far_side_that_cannot_prove_the_secret_is_not_believed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let identity = crate::tls::Identity::fresh().unwrap();
    let key = Key { pin: identity.pin, secret: Secret::of([1; 32]) };
    let impostor = std::thread::spawn(move || {
        let mut channel =
            Channel::far(listener.accept().unwrap().0, &identity, Arc::new(AtomicBool::new(false))).unwrap();
        channel.handshake(forever()).unwrap();
        let greeting: Greeting = channel.recv(forever(), "listening").unwrap();
        // The best it can do: send the near side's own proof back.
        let welcome = Welcome { speaker: Speaker::here(), proof: greeting.proof, refusal: None };
        channel.send(&welcome).unwrap();
        let _ = channel.recv::<Welcome>(forever(), "waiting to be left");
    });
    let e = greet(TcpStream::connect(at).unwrap(), &key, GREETING, &Arc::new(AtomicBool::new(false))).err().unwrap();
    assert!(matches!(e, MeetError::WrongSecret { .. }), "{e}");
    impostor.join().unwrap();
}

#[test]
fn another_kind_of_server_is_told_from_a_far_side() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let other = std::thread::spawn(move || {
        let mut tcp = listener.accept().unwrap().0;
        let _ = tcp.read(&mut [0; 4096]);
        tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let key = Key { pin: [0; 32], secret: Secret::of([0; 32]) };
    let e = dial(&[at], "the other", "look again", &key, &Arc::new(AtomicBool::new(false))).err().unwrap().to_string();
    assert!(e.contains("does not speak as pipegauge") && e.contains("the other") && e.contains("look again"), "{e}");
    other.join().unwrap();
}

#[test]
fn silent_strangers_at_the_door_do_not_keep_the_right_peer_out() {
    let mut served = Served::once();
    let held: Vec<_> = (0..40).map(|_| served.tcp()).collect();
    measure_once(&mut served.meet().unwrap());
    served.outcome().unwrap();
    drop(held);
}

#[test]
fn a_crowd_that_comes_and_goes_leaves_nothing_behind() {
    let mut served = Served::once();
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    for _ in 0..300 {
        drop(served.tcp());
    }
    let control = served.meet();
    // Other tests of this process have threads too; 300 left behind would stand out.
    assert!(threads() < 200, "{} threads", threads());
    measure_once(&mut control.unwrap());
    served.outcome().unwrap();
}

#[test]
fn while_measuring_everybody_else_is_told_busy() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    let e = served.try_with(&served.key).unwrap_err();
    assert!(matches!(e, MeetError::Busy { .. }) && e.to_string().contains("busy"), "{e}");
    assert!(served.refused().contains("in progress"));
    // A stranger that says nothing is told as well, and let go.
    let mut stranger = served.tcp();
    let mut received = Vec::new();
    stranger.read_to_end(&mut received).unwrap();
    assert_eq!(received, [21, 3, 3, 0, 2, 2, 49]);
    open(&mut control);
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17, "the measurement goes on");
    drop(control);
    served.ended();
    measure_once(&mut served.meet().unwrap());
}

#[test]
fn a_peer_that_trickles_meets_the_deadline_of_the_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut slow = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let identity = crate::tls::Identity::fresh().unwrap();
    let mut channel = Channel::far(listener.accept().unwrap().0, &identity, Arc::new(AtomicBool::new(false))).unwrap();
    let trickle = std::thread::spawn(move || {
        // A record header that announces 16 KiB, then a byte at a time.
        let mut sent = slow.write_all(&[22, 3, 1, 0x40, 0]);
        while sent.is_ok() {
            std::thread::sleep(Duration::from_millis(5));
            sent = slow.write_all(&[1]);
        }
    });
    let e = channel.handshake(Instant::now() + Duration::from_millis(200)).unwrap_err();
    assert!(matches!(e, MeetError::Silent { .. } | MeetError::Tls(_)), "{e}");
    channel.shutdown();
    drop(channel);
    trickle.join().unwrap();
}

#[test]
fn an_end_that_was_reset_before_a_word_is_gone() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = socket2::Socket::from(listener.accept().unwrap().0);
    far.set_linger(Some(Duration::ZERO)).unwrap();
    drop(far);
    while near.peer_addr().is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let e = Channel::near(near, [0; 32], Arc::new(AtomicBool::new(false))).err().expect("nobody is there");
    assert!(matches!(e, MeetError::Gone { .. }), "{e}");
}
