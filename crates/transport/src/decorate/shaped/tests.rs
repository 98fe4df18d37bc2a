//! The shaper on virtual time, and over a real stream.

use super::*;
use crate::clock::Virtual;
use crate::decorate::testing::Plain;
use crate::theory::{FarRole, Theory, TheoryLink};

/// One byte a microsecond and 5 ms around a link of one byte a nanosecond and 1 us.
fn shaped(shape: &str, role: FarRole) -> (Shaped<TheoryLink, Virtual>, Virtual) {
    let theory = Theory { latency: 1e-6, rate: 8e9, header: 0, ..Theory::default() };
    let mut inner = TheoryLink::new(&theory, 10.0);
    inner.set_role(role);
    inner.keep_contents(true);
    let clock = inner.clock();
    (Shaped::with_clock(inner, &shape.parse().unwrap(), &Patience::default(), clock.clone()), clock)
}

const SLOW: &str = "rate=8Mbit/s,latency=5ms";

#[test]
fn a_round_trip_takes_both_latencies_and_both_messages_at_the_rate() {
    let (mut link, clock) = shaped(SLOW, FarRole::Echo);
    let mut into = [0; 1000];
    for round in 1..=3_u8 {
        let start = clock.now();
        link.send(&[round; 1000]).unwrap();
        assert_eq!(clock.now() - start, 1_000_000, "a send takes the message's time at the rate");
        link.recv(&mut into).unwrap();
        assert_eq!(into, [round; 1000]);
        // 2 * (5 ms + 1 ms) of the shape and 2 * (1 us + 1 us) of the link within.
        assert_eq!(clock.now() - start, 12_000_000 + 4_000);
    }
}

#[test]
fn a_stream_keeps_the_rate_whatever_the_latency() {
    let (mut link, clock) = shaped(SLOW, FarRole::Sink);
    (0..100).for_each(|_| link.send(&[0; 1000]).unwrap());
    // The last send may end by the 1 us that the link within took for a message which became due then.
    assert!((100_000_000..=100_001_000).contains(&clock.now()), "{}", clock.now());
    link.flush().unwrap();
    let view = link.inner.far_report();
    assert_eq!((view.received, view.bytes), (100, 100_000));
    assert_eq!(view.last_byte_ns - view.first_byte_ns, 99_000_000 + 1000);
}

#[test]
fn the_cost_of_the_link_within_does_not_come_on_top_of_the_rate() {
    let (mut link, clock) = shaped("rate=8Mbit/s", FarRole::Sink);
    (0..100).for_each(|_| link.send(&[0; 1000]).unwrap());
    assert_eq!(clock.now(), 100_001_000);
    // A stall is not made up for by a rush: the credit is one message's time.
    clock.advance(1_000_000_000);
    let start = clock.now();
    (0..100).for_each(|_| link.send(&[0; 1000]).unwrap());
    assert!(clock.now() - start >= 99_000_000);
}

#[test]
fn messages_under_way_overlap() {
    let (mut link, clock) = shaped(SLOW, FarRole::Echo);
    let mut into = [0; 1000];
    (0..20).for_each(|_| link.send(&[0; 1000]).unwrap());
    let mut seen = Vec::new();
    for _ in 0..20 {
        assert!(link.ready(Duration::from_secs(1)).unwrap());
        link.recv(&mut into).unwrap();
        seen.push(clock.now());
    }
    // The first answer came at 11 ms, while sends went on to 20 ms: taken up then, the others keep the rate behind it.
    assert!(seen[0] >= 12_004_000 && seen[0] <= 21_100_000, "{seen:?}");
    assert!(*seen.last().unwrap() <= 42_000_000, "one after another would take 240 ms: {seen:?}");
    assert!(seen.windows(2).all(|w| w[1] - w[0] >= 1_000_000), "{seen:?}");
}

#[test]
fn an_exchange_takes_the_latency_once() {
    let (mut link, clock) = shaped(SLOW, FarRole::Mirror);
    let mut into = [0; 1000];
    link.exchange(&[1; 1000], &mut into).unwrap();
    assert_eq!(clock.now(), 6_000_000 + 2_000);
}

#[test]
fn rate_or_latency_alone_leaves_the_other_as_it_is() {
    for (shape, want) in [("rate=8Mbit/s", 2_004_000), ("latency=5ms", 10_004_000)] {
        let (mut link, clock) = shaped(shape, FarRole::Echo);
        let mut into = [0; 1000];
        link.send(&[0; 1000]).unwrap();
        link.recv(&mut into).unwrap();
        assert_eq!(clock.now(), want, "{shape}");
    }
}

#[test]
fn what_is_held_is_bounded() {
    let (mut link, clock) = shaped("latency=1s", FarRole::Sink);
    let message = vec![0; 16 << 20];
    (0..4).for_each(|_| link.send(&message).unwrap());
    assert_eq!((clock.now(), link.held_bytes), (0, HELD_MOST));
    link.send(&message).unwrap();
    assert!(clock.now() >= 2_000_000_000 && link.held_bytes == HELD_MOST);
    link.close().unwrap();
    assert_eq!((link.held_bytes, link.held.len()), (0, 0));
}

#[test]
fn a_wait_for_nothing_ends_in_time() {
    let (mut link, clock) = shaped(SLOW, FarRole::Echo);
    link.send(&[0; 1000]).unwrap();
    assert!(!link.ready(Duration::from_millis(3)).unwrap());
    assert_eq!(clock.now(), 4_000_000);
}

#[test]
fn a_real_stream_without_polling_works_and_is_never_faster_than_the_shape() {
    let (near, mut far) = Plain::pair();
    let echo = std::thread::spawn(move || {
        let mut message = [0; 100];
        while far.recv(&mut message).is_ok() {
            far.send(&message).unwrap();
        }
    });
    let mut near = Shaped::new(near, &"rate=8Mbit/s,latency=1ms".parse().unwrap(), &Patience::default());
    let start = std::time::Instant::now();
    let mut into = [0; 100];
    for round in 0..5 {
        near.send(&[round; 100]).unwrap();
        near.recv(&mut into).unwrap();
        assert_eq!(into, [round; 100]);
    }
    assert!(start.elapsed() >= Duration::from_micros(5 * 2200));
    near.close().unwrap();
    echo.join().unwrap();
}
