//! What arrives between two processes: all of it, once, in order, whatever its size and place in the ring.

mod common;

use std::time::Duration;

use am::{Endpoint, Error, Handlers, Options, RemoteRegion, Wait};
use common::{connected, pattern, small};

const ECHO: u16 = 3;

/// Sends back what it gets.
fn echo() -> Handlers<()> {
    Handlers::new().on_request(ECHO, |(), message, reply| {
        reply.send(ECHO, message.arguments(), &message.payload().to_vec()).unwrap();
    })
}

/// Polls until the peer closes.
fn serve<S>(mut endpoint: Endpoint<S>, mut state: S) -> S {
    loop {
        match endpoint.wait(&mut state, Some(Duration::from_secs(120))) {
            Ok(0) => panic!("nothing came"),
            Ok(_) => {}
            Err(Error::Closed { .. }) => return state,
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn millions_of_requests_and_their_replies_keep_their_order() {
    const COUNT: u64 = 2_000_000;
    let far = Handlers::new().on_request(0, |next: &mut u64, message, reply| {
        assert_eq!(message.arguments(), [*next, !*next]);
        *next += 1;
        reply.send(1, &[message.argument(0)], &[]).unwrap();
    });
    let near = Handlers::new().on_reply(1, |next: &mut u64, message| {
        assert_eq!(message.argument(0), *next);
        *next += 1;
    });
    let (mut endpoint, mut child) = connected(Options::default(), near, far, |end| {
        assert_eq!(serve(end, 0), COUNT);
    });
    let mut answered = 0;
    for number in 0..COUNT {
        endpoint.request(&mut answered, 0, &[number, !number], &[]).unwrap();
    }
    while answered < COUNT {
        assert_ne!(endpoint.wait(&mut answered, Some(Duration::from_secs(120))).unwrap(), 0);
    }
    drop(endpoint);
    assert!(child.wait());
}

/// Sends `sizes` and checks what comes back, several under way at once.
fn echo_sizes(options: Options, sizes: impl Iterator<Item = usize>) {
    let near = Handlers::new().on_reply(ECHO, |seen: &mut u64, message| {
        let len = message.argument(1) as usize;
        assert_eq!(message.argument(0), *seen);
        assert!(message.payload().to_vec() == pattern(*seen, len), "message {seen} of {len} bytes");
        *seen += 1;
    });
    let (mut endpoint, mut child) = connected(options, near, echo(), |end| serve(end, ()));
    let (mut seen, mut sent) = (0, 0);
    for len in sizes {
        endpoint.request(&mut seen, ECHO, &[sent, len as u64], &pattern(sent, len)).unwrap();
        sent += 1;
    }
    while seen < sent {
        assert_ne!(endpoint.wait(&mut seen, Some(Duration::from_secs(120))).unwrap(), 0);
    }
    drop(endpoint);
    assert!(child.wait());
}

#[test]
fn payloads_of_every_size_up_to_a_kilobyte_and_on_to_64_kib_arrive_whole() {
    echo_sizes(Options::default(), (0..=1024).chain((1025..=65_536).step_by(509)).chain([65_535, 65_536]));
}

#[test]
fn records_that_start_at_every_place_of_the_ring_arrive_whole() {
    // A record has a head of 8 bytes, two arguments, and its payload in whole words.
    let sizes: Vec<usize> = (0..20_000).map(|i: usize| (i * 37 + i / 128) % 1025).collect();
    let mut starts = [false; 512];
    let mut at = 0;
    for len in &sizes {
        starts[at / 8 % 512] = true;
        at += 24 + len.next_multiple_of(8);
    }
    assert!(starts.iter().all(|&seen| seen), "the sizes do not reach every place");
    echo_sizes(small(), sizes.into_iter());
}

#[test]
fn each_way_of_waiting_carries_a_conversation() {
    for wait in
        [Wait::Guarded(Duration::from_micros(20)), Wait::Guarded(Duration::from_millis(5)), Wait::Sleep, Wait::Spin]
    {
        let mut options = small();
        options.wait = wait;
        let near = Handlers::new().on_reply(ECHO, |seen: &mut u64, _| *seen += 1);
        let (mut endpoint, mut child) = connected(options, near, echo(), |end| serve(end, ()));
        let mut seen = 0;
        for number in 0..2000 {
            endpoint.request(&mut seen, ECHO, &[number], b"x").unwrap();
            while seen == number {
                assert_ne!(endpoint.wait(&mut seen, Some(Duration::from_secs(120))).unwrap(), 0);
            }
        }
        drop(endpoint);
        assert!(child.wait(), "{wait:?}");
    }
}

#[test]
fn both_sides_that_only_send_do_not_wait_for_each_other() {
    const COUNT: u64 = 20_000;
    /// Requests taken and replies taken.
    type Seen = (u64, u64);
    let handlers = || {
        Handlers::new()
            .on_request(0, |seen: &mut Seen, message, reply| {
                seen.0 += 1;
                reply.send(0, &[], &message.payload().to_vec()).unwrap();
            })
            .on_reply(0, |seen: &mut Seen, _| seen.1 += 1)
    };
    fn run(endpoint: &mut Endpoint<Seen>) -> Seen {
        let mut seen = (0, 0);
        for number in 0..COUNT {
            endpoint.request(&mut seen, 0, &[], &pattern(number, 1 + number as usize % 1024)).unwrap();
        }
        while seen != (COUNT, COUNT) {
            assert_ne!(endpoint.wait(&mut seen, Some(Duration::from_secs(120))).unwrap(), 0);
        }
        seen
    }
    let (mut endpoint, mut child) = connected(small(), handlers(), handlers(), |mut end| {
        run(&mut end);
        // Until the other side has all of its replies.
        serve(end, (0, 0));
    });
    run(&mut endpoint);
    drop(endpoint);
    assert!(child.wait());
}

#[test]
fn bulk_payloads_up_to_a_mebibyte_go_into_regions_and_back() {
    #[derive(Default)]
    struct Near {
        theirs: Option<RemoteRegion>,
        back: Option<(usize, Vec<u8>)>,
    }
    // The far side registers a region and tells it in answer to request 0; request 1 brings a payload into it and the token of
    // the near side's region, into which the reply puts the payload back.
    let far = Handlers::new()
        .on_request(0, |token: &mut u64, _, reply| reply.send(0, &[*token], &[]).unwrap())
        .on_request(1, |_, message, reply| {
            let (_, at) = message.region().unwrap();
            let back = RemoteRegion::from_token(message.argument(0));
            reply.put(back, at, &message.payload().to_vec(), 1, &[at as u64]).unwrap();
        });
    let near = Handlers::new()
        .on_reply(0, |near: &mut Near, message| near.theirs = Some(RemoteRegion::from_token(message.argument(0))))
        .on_reply(1, |near: &mut Near, message| {
            assert_eq!(message.region().unwrap().1, message.argument(0) as usize);
            near.back = Some((message.argument(0) as usize, message.payload().to_vec()));
        });
    let (mut endpoint, mut child) = connected(Options::default(), near, far, |mut end| {
        let token = end.register(1 << 20).unwrap().token();
        serve(end, token);
    });
    let mine = endpoint.register(1 << 20).unwrap();
    let mut near = Near::default();
    endpoint.request(&mut near, 0, &[], &[]).unwrap();
    while near.theirs.is_none() {
        endpoint.wait(&mut near, None).unwrap();
    }
    let theirs = near.theirs.unwrap();
    for (round, len) in [0, 1, 63, 64, 65, 4096, 65_537, (1 << 20) - 1, 1 << 20].into_iter().enumerate() {
        let sent = pattern(round as u64, len);
        let at = ((1 << 20) - len).min(round * 4097);
        endpoint.put(&mut near, theirs, at, &sent, 1, &[mine.token()]).unwrap();
        while near.back.is_none() {
            endpoint.wait(&mut near, None).unwrap();
        }
        let mut read = vec![0; len];
        endpoint.read(mine, at, &mut read).unwrap();
        assert!(near.back.take() == Some((at, sent.clone())) && read == sent, "{len} bytes at {at}");
    }
    assert!(matches!(endpoint.put(&mut near, theirs, 1, &vec![0; 1 << 20], 1, &[]), Err(Error::OutsideRegion { .. })));
    drop(endpoint);
    assert!(child.wait());
}

#[test]
fn a_full_ring_says_so_and_drops_nothing() {
    let far = Handlers::new().on_request(0, |next: &mut u64, message, _| {
        assert_eq!(message.argument(0), *next);
        *next += 1;
    });
    let (mut go, gone) = std::io::pipe().unwrap();
    let (mut endpoint, mut child) = connected(small(), Handlers::<()>::new(), far, |end| {
        // Takes nothing until it is told to.
        std::io::Read::read_exact(&mut go, &mut [0]).unwrap();
        assert_eq!(serve(end, 0), 1000);
    });
    let mut sent = 0_u64;
    while endpoint.try_request(0, &[sent], &[0; 1000]).unwrap() {
        sent += 1;
    }
    assert_eq!(sent, 4, "records of 1016 bytes that fit into 4096");
    std::io::Write::write_all(&mut &gone, &[0]).unwrap();
    for number in sent..1000 {
        endpoint.request(&mut (), 0, &[number], &[0; 1000]).unwrap();
    }
    drop(endpoint);
    assert!(child.wait());
}

#[test]
fn a_wait_for_something_takes_no_message_after_it() {
    let near = Handlers::new().on_request(0, |seen: &mut u64, _, _| *seen += 1);
    let (mut endpoint, mut child) = connected(small(), near, Handlers::new(), |mut end: Endpoint<()>| {
        for _ in 0..3 {
            end.request(&mut (), 0, &[], &[]).unwrap();
        }
    });
    assert!(child.wait());
    let mut seen = 0;
    for wanted in [1, 1, 2, 3] {
        assert!(endpoint.wait_until(&mut seen, None, |seen| *seen >= wanted).unwrap());
        assert_eq!(seen, wanted);
    }
    assert!(matches!(endpoint.wait_until(&mut seen, None, |seen| *seen > 3), Err(am::Error::Closed { .. })));
    let (mut quiet, _child) = connected(small(), Handlers::<()>::new(), Handlers::new(), |end: Endpoint<()>| {
        std::thread::sleep(Duration::from_secs(60));
        drop(end);
    });
    assert!(!quiet.wait_until(&mut (), Some(Duration::from_millis(5)), |()| false).unwrap());
}
