//! What travels, and what strangers may send to a link.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use super::TRANSPORT;
use crate::{AnyLink, Link, LinkError, Patience, Proof, Settings, Transport, ip};

const PROOF: Proof = Proof { near: [7; 32], far: [8; 32] };

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn patience(seconds: f64) -> Patience {
    Patience::new(Duration::from_secs_f64(seconds), Default::default())
}

fn version(version: &str) -> Settings {
    Settings::default().with("version", version)
}

/// Both ends, and what passed from the near one to the far and back once both are gone.
fn recorded(settings: &Settings, body: impl FnOnce(AnyLink, AnyLink)) -> (Vec<u8>, Vec<u8>) {
    let mut door = TRANSPORT.listen(settings, loopback(), &patience(60.0)).unwrap();
    let to = ip::door(&door.address(), loopback(), settings).unwrap();
    let relay = TcpListener::bind(loopback()).unwrap();
    let mut way =
        TRANSPORT.dial(settings, &ip::told(relay.local_addr().unwrap()), loopback(), &patience(60.0)).unwrap();
    let copied = |mut from: TcpStream, mut to: TcpStream| {
        let (mut all, mut part) = (Vec::new(), [0; 4096]);
        while let Ok(n @ 1..) = from.read(&mut part) {
            all.extend_from_slice(&part[..n]);
            let _ = to.write_all(&part[..n]);
        }
        let _ = to.shutdown(std::net::Shutdown::Write);
        all
    };
    std::thread::scope(|s| {
        let there_and_back = s.spawn(move || {
            let (near, _) = relay.accept().unwrap();
            let far = TcpStream::connect(to).unwrap();
            let (back, out) = (far.try_clone().unwrap(), near.try_clone().unwrap());
            let back = std::thread::spawn(move || copied(back, out));
            (copied(near, far), back.join().unwrap())
        });
        let far = s.spawn(|| door.accept(&PROOF).unwrap());
        let near = way.connect(&PROOF).unwrap();
        body(near, far.join().unwrap());
        there_and_back.join().unwrap()
    })
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn a_round_trip_is_one_post_and_its_response() {
    let (there, back) = recorded(&version("1.1"), |mut near, mut far| {
        for _ in 0..5 {
            near.send(&[1; 100]).unwrap();
            far.recv(&mut [0; 100]).unwrap();
            far.send(&[2; 3000]).unwrap();
            near.recv(&mut [0; 3000]).unwrap();
        }
    });
    let (there, back) = (String::from_utf8_lossy(&there[32..]), String::from_utf8_lossy(&back));
    // The far side's proof is what the only GET asks for.
    assert_eq!((count(&there, "GET / HTTP/1.1"), count(&there, "POST / HTTP/1.1")), (1, 5), "{there}");
    assert_eq!((count(&there, "content-length: 100\r\n"), count(&back, "content-length: 3000\r\n")), (5, 5), "{back}");
    assert_eq!((count(&back, "HTTP/1.1 200"), count(&back, "HTTP/1.1 204")), (6, 0), "{back}");
}

#[test]
fn a_stream_there_is_posts_and_one_back_is_gets() {
    let (there, back) = recorded(&version("1.1"), |mut near, mut far| {
        std::thread::scope(|s| {
            s.spawn(|| (0..20u8).for_each(|i| near.send(&[i; 10]).unwrap()));
            (0..20u8).for_each(|i| {
                let mut came = [0; 10];
                far.recv(&mut came).unwrap();
                assert_eq!(came, [i; 10]);
            });
        });
        std::thread::scope(|s| {
            s.spawn(|| (0..20u8).for_each(|i| far.send(&[i; 10]).unwrap()));
            (0..20).for_each(|_| near.recv(&mut [0; 10]).unwrap());
        });
    });
    let (there, back) = (String::from_utf8_lossy(&there[32..]), String::from_utf8_lossy(&back));
    assert_eq!((count(&there, "POST / HTTP/1.1"), count(&back, "HTTP/1.1 204")), (20, 19), "{there}\n{back}");
    // The last POST is answered with the first message of the stream back.
    assert_eq!((count(&there, "GET / HTTP/1.1"), count(&back, "HTTP/1.1 200")), (20, 21), "{there}\n{back}");
}

#[test]
fn over_http_2_requests_do_not_wait_for_responses() {
    let (there, _) = recorded(&version("2"), |mut near, mut far| {
        // Nobody answers meanwhile.
        (0..50u8).for_each(|i| near.send(&[i; 1000]).unwrap());
        (0..50u8).for_each(|i| {
            let mut came = [0; 1000];
            far.recv(&mut came).unwrap();
            assert_eq!(came, [i; 1000]);
        });
        far.send(&[9; 7]).unwrap();
        near.recv(&mut [0; 7]).unwrap();
    });
    assert!(there[32..].starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
}

#[test]
fn messages_larger_than_windows_and_buffers_cross_each_other() {
    for settings in [version("1.1"), version("2")] {
        let (there, back) = recorded(&settings, |mut near, mut far| {
            // Each way more than every window, and one side much more than the other.
            for (out, into) in [(8 << 20, 6 << 20), (9 << 20, 9), (9, 9 << 20)] {
                std::thread::scope(|s| {
                    s.spawn(|| {
                        let mut came = vec![0; out];
                        far.exchange(&vec![2; into], &mut came).unwrap();
                        assert!(came.iter().all(|b| *b == 1));
                    });
                    let mut came = vec![0; into];
                    near.exchange(&vec![1; out], &mut came).unwrap();
                    assert!(came.iter().all(|b| *b == 2));
                });
            }
        });
        assert!(there.len() > 17 << 20 && back.len() > 15 << 20);
    }
}

#[test]
fn answers_that_come_while_a_side_only_sends_are_kept() {
    for settings in [version("1.1"), version("2")] {
        recorded(&settings, |mut near, mut far| {
            std::thread::scope(|s| {
                s.spawn(|| {
                    for i in 0..300u32 {
                        let mut came = [0; 500];
                        far.recv(&mut came).unwrap();
                        assert_eq!(came, [i as u8; 500]);
                        far.send(&[i as u8; 70_000]).unwrap();
                    }
                });
                // As many ahead of their answers as lie in no buffer of the protocol's.
                (0..300u32).for_each(|i| near.send(&[i as u8; 500]).unwrap());
                for i in 0..300u32 {
                    let mut came = vec![0; 70_000];
                    near.recv(&mut came).unwrap();
                    assert!(came.iter().all(|b| *b == i as u8), "{i}");
                }
            });
        });
    }
}

#[test]
fn a_message_of_another_length_is_told_as_such() {
    for settings in [version("1.1"), version("2")] {
        recorded(&settings, |mut near, mut far| {
            near.send(&[1; 100]).unwrap();
            let e = far.recv(&mut [0; 99]).unwrap_err();
            assert!(matches!(&e, LinkError::Protocol(why) if why.contains("100 bytes") && why.contains("99")), "{e}");
        });
    }
}

/// What a far side makes of a peer that shows the proof, then says this and ends.
fn says(settings: &Settings, words: &[u8]) -> LinkError {
    let mut door = TRANSPORT.listen(settings, loopback(), &patience(5.0)).unwrap();
    let to = ip::door(&door.address(), loopback(), settings).unwrap();
    let mut stranger = TcpStream::connect(to).unwrap();
    stranger.write_all(&PROOF.near).unwrap();
    stranger.write_all(words).unwrap();
    stranger.shutdown(std::net::Shutdown::Write).unwrap();
    let began = Instant::now();
    let outcome = door.accept(&PROOF).and_then(|mut far| {
        let mut into = [0; 10];
        (0..100).try_for_each(|_| far.recv(&mut into))
    });
    assert!(began.elapsed() < Duration::from_secs(20));
    outcome.unwrap_err()
}

#[test]
fn whatever_a_peer_says_ends_in_an_error_and_in_no_panic() {
    let head = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    let post = |rest: &str| [&head[..], b"POST / HTTP/1.1\r\nhost: a\r\n", rest.as_bytes()].concat();
    for words in [
        b"".to_vec(),
        b"\0\xff\r\n\r\n".to_vec(),
        vec![b'a'; 1 << 20],
        b"DELETE / HTTP/1.1\r\nhost: a\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        post("content-length: 18446744073709551616\r\n\r\n"),
        post("content-length: 9223372036854775807\r\n\r\nabc"),
        post("content-length: 10\r\n\r\nabc"),
        post("content-length: 3\r\n\r\nabc"),
        post("transfer-encoding: chunked\r\n\r\nzz\r\n"),
        post("transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
        post("content-length: 5\r\ncontent-length: 6\r\n\r\nabcde"),
        [&head[..]; 2000].concat(),
    ] {
        let e = says(&version("1.1"), &words);
        assert!(matches!(e, LinkError::Protocol(_) | LinkError::Closed { .. }), "{e:?}");
    }
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let frame = |kind: u8, flags: u8, stream: u32, body: &[u8]| {
        let len = (body.len() as u32).to_be_bytes();
        [&len[1..], &[kind, flags], &stream.to_be_bytes(), body].concat()
    };
    for frames in [
        vec![],
        frame(0, 1, 1, b"data of no stream"),
        frame(1, 4, 1, &[0xff; 40]),
        frame(1, 4, 2, &[0x82]),
        frame(4, 0, 0, &[0, 4, 0xff, 0xff, 0xff, 0xff]),
        frame(8, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        frame(9, 0, 1, b""),
        frame(6, 0, 0, b"short"),
        vec![0xff; 1 << 16],
    ] {
        let e = says(&version("2"), &[&preface[..], &settings, &frames].concat());
        assert!(matches!(e, LinkError::Protocol(_) | LinkError::Closed { .. }), "{e:?}");
    }
}
