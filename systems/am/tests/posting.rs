//! Receive posting: contents, order, and how often each byte is copied.

mod common;

use std::time::Duration;

use am::posting::{Posting, Received};
use am::{Error, Handlers, Listener, Options, Region, RemoteRegion};
use common::{fork, pattern};

const LIMIT: Option<Duration> = Some(Duration::from_secs(60));

fn name(test: &str) -> String {
    format!("posting-{test}-{}", std::process::id())
}

/// A connection to a process that runs `far`.
fn pair(test: &str, far: impl FnOnce(Posting)) -> (Posting, common::Child) {
    let name = name(test);
    let listener = Listener::bind(&name, Options::default()).unwrap();
    let child = fork(|| far(Posting::connect(&name, Options::default()).unwrap()));
    (Posting::accept(&listener).unwrap(), child)
}

fn bytes(connection: &Posting, received: &Received) -> Vec<u8> {
    match received {
        Received::InPlace { buffer, len } => {
            let mut bytes = vec![0; *len];
            connection.read(*buffer, 0, &mut bytes).unwrap();
            bytes
        }
        Received::Bytes(bytes) => bytes.clone(),
    }
}

#[test]
fn a_posted_message_is_copied_once_and_another_twice() {
    const LEN: usize = 300_000;
    let (mut near, mut child) = pair("once", |mut far| {
        assert_eq!(far.receive(LIMIT).unwrap(), Some(Received::Bytes(b"posted".to_vec())));
        assert!(far.send(&pattern(1, LEN)).unwrap());
        assert!(!far.send(&pattern(2, LEN)).unwrap());
        let copied = far.copied();
        assert_eq!((copied.into_posted, copied.into_ring), (LEN as u64, LEN as u64));
        assert_eq!(far.receive(LIMIT).unwrap(), Some(Received::Bytes(b"done".to_vec())));
    });
    let buffer = near.buffer(LEN).unwrap();
    near.post(buffer).unwrap();
    near.send(b"posted").unwrap();
    let first = near.receive(LIMIT).unwrap().unwrap();
    assert_eq!(first, Received::InPlace { buffer, len: LEN });
    assert_eq!(near.copied().out_of_ring, 0);
    assert_eq!(bytes(&near, &first), pattern(1, LEN));
    let second = near.receive(LIMIT).unwrap().unwrap();
    assert_eq!(second, Received::Bytes(pattern(2, LEN)));
    assert_eq!(near.copied().out_of_ring, LEN as u64);
    near.send(b"done").unwrap();
    assert!(child.wait());
}

#[test]
fn messages_keep_their_order_whichever_way_each_goes() {
    const COUNT: usize = 3000;
    let len = |i: usize| (i * 7919) % 20_000;
    let (mut near, mut child) = pair("order", move |mut far| {
        for i in 0..COUNT {
            far.send(&pattern(i as u64, len(i))).unwrap();
        }
        assert_eq!(far.receive(LIMIT).unwrap(), Some(Received::Bytes(b"done".to_vec())));
    });
    let mut free: Vec<Region> = (0..4).map(|i| near.buffer(4000 * (i + 1)).unwrap()).collect();
    let (mut in_place, mut state) = (0, 1_u64);
    for i in 0..COUNT {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 62 != 0 {
            free.drain(..).for_each(|buffer| near.post(buffer).unwrap());
        }
        let received = near.receive(LIMIT).unwrap().unwrap();
        assert_eq!(bytes(&near, &received), pattern(i as u64, len(i)), "message {i}");
        if let Received::InPlace { buffer, .. } = received {
            in_place += 1;
            free.push(buffer);
        }
    }
    assert!(in_place > 100, "{in_place} in place");
    near.send(b"done").unwrap();
    assert!(child.wait());
}

#[test]
fn a_buffer_is_posted_once_and_not_given_back_before_it_is_filled() {
    let (mut near, mut child) = pair("twice", |mut far| {
        far.receive(LIMIT).unwrap();
        far.send(b"x").unwrap();
        let _ = far.receive(LIMIT);
    });
    let buffer = near.buffer(100).unwrap();
    near.post(buffer).unwrap();
    assert!(matches!(near.post(buffer), Err(Error::Option { .. })));
    assert!(!near.release(buffer));
    near.send(b"go").unwrap();
    assert_eq!(near.receive(LIMIT).unwrap(), Some(Received::InPlace { buffer, len: 1 }));
    assert!(near.release(buffer) && !near.release(buffer));
    assert!(near.post(buffer).is_err());
    drop(near);
    assert!(child.wait());
}

/// A peer that fills what is not posted, or posts what is not there.
#[test]
fn a_peer_that_breaks_the_agreement_ends_the_connection() {
    for what in 0..4 {
        let name = name(&format!("broken-{what}"));
        let listener = Listener::bind(&name, Options::default()).unwrap();
        let mut child = fork(|| {
            let handlers = Handlers::<Option<u64>>::new()
                .on_request(0, |token: &mut Option<u64>, message, _| *token = Some(message.argument(0)))
                .on_request(2, |_, _, _| ());
            let mut far = am::Endpoint::connect(&name, handlers, Options::default()).unwrap();
            let mut token = None;
            far.wait_until(&mut token, LIMIT, Option::is_some).unwrap();
            let region = RemoteRegion::from_token(token.unwrap());
            match what {
                // From the middle, and twice.
                0 => far.put(&mut token, region, 1, b"x", 1, &[]).unwrap(),
                1 => (0..2).for_each(|_| far.put(&mut token, region, 0, b"x", 1, &[]).unwrap()),
                2 => far.put(&mut token, region, 0, b"x", 2, &[1]).unwrap(),
                _ => (0..2000_u64).for_each(|i| far.request(&mut token, 0, &[i], &[]).unwrap()),
            }
            while far.wait(&mut token, LIMIT).is_ok() {}
        });
        let mut near = Posting::accept(&listener).unwrap();
        let buffer = near.buffer(100).unwrap();
        near.post(buffer).unwrap();
        let ended = loop {
            match near.receive(LIMIT) {
                Ok(Some(_)) => {}
                other => break other,
            }
        };
        assert!(matches!(ended, Err(Error::Protocol(_))), "{what}: {ended:?}");
        drop(near);
        assert!(child.wait());
    }
    // A buffer that lies nowhere is not written to.
    let name = name("nowhere");
    let listener = Listener::bind(&name, Options::default()).unwrap();
    let mut child = fork(|| {
        let mut far = am::Endpoint::connect(&name, Handlers::<()>::new(), Options::default()).unwrap();
        far.request(&mut (), 0, &[u64::MAX], &[]).unwrap();
        let _ = far.wait(&mut (), LIMIT);
    });
    let mut near = Posting::accept(&listener).unwrap();
    while near.posted_by_peer() == 0 {
        near.poll().unwrap();
    }
    assert!(matches!(near.send(b"x"), Err(Error::NoSuchRegion { .. })));
    drop(near);
    assert!(child.wait());
}
