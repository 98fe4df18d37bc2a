//! The theoretical link against its formula.

use std::time::Duration;

use super::{Dip, FarRole, Theory, TheoryLink};
use crate::clock::Clock;
use crate::{Link, LinkError, OneSided};

const TIMEOUT: f64 = 0.2;

fn link(theory: &Theory, role: FarRole) -> TheoryLink {
    let mut link = TheoryLink::new(theory, TIMEOUT);
    link.set_role(role);
    link
}

/// Nanoseconds that `f` takes on the link's clock.
fn took(link: &mut TheoryLink, f: impl FnOnce(&mut TheoryLink)) -> f64 {
    let clock = link.clock();
    let start = clock.now();
    f(link);
    (clock.now() - start) as f64
}

fn pingpong(link: &mut TheoryLink, size: usize, repeats: u32) -> f64 {
    let (out, mut into) = (vec![0; size], vec![0; size]);
    took(link, |link| {
        for _ in 0..repeats {
            link.send(&out).unwrap();
            link.recv(&mut into).unwrap();
        }
    }) / f64::from(repeats)
}

fn dipped() -> Theory {
    // Rates and latencies that no whole number of nanoseconds fits.
    let dips = vec![Dip { from: 60 << 10, to: 70 << 10, factor: 5.0, moved_by: None }];
    Theory { latency: 7.3e-6, rate: 3.1e9, dips, ..Theory::default() }
}

#[test]
fn one_way_time_is_the_formula_at_every_size() {
    let theory = dipped();
    let mut link = link(&theory, FarRole::Echo);
    let sizes = [0_usize, 1, 3, 64, 1447, 1448, 1449, 4096, 61_439, 61_440, 65_536, 71_679, 71_680, 1 << 20, 8_388_611];
    for size in sizes {
        let packets = if size == 0 { 1 } else { size.div_ceil(1448) } as f64;
        let factor = if (61_440..71_680).contains(&size) { 5.0 } else { 1.0 };
        let want = (7.3e-6 + (packets * 66.0 + size as f64) * 8.0 / 3.1e9) * factor * 1e9;
        assert!((theory.one_way_time(size as u64) * 1e9 - want).abs() < 1e-3, "{size}");
        // The clock shows whole nanoseconds: over 1000 round trips half a one-way time is known to 0.0005 ns.
        let half = pingpong(&mut link, size, 1000) / 2.0;
        assert!((half - want).abs() < 0.001, "{size}: {half} ns, the formula says {want}");
    }
}

#[test]
fn a_stream_runs_at_the_line_rate_less_headers() {
    for (size, dip) in [(1_usize, 1.0), (1448, 1.0), (1449, 1.0), (65_536, 5.0), (1 << 20, 1.0)] {
        let mut link = link(&dipped(), FarRole::Sink);
        link.skip(3);
        let out = vec![0; size];
        let count = 10_003;
        let sender = took(&mut link, |link| (0..count).for_each(|_| link.send(&out).unwrap()));
        let view = link.far_report();
        assert_eq!((view.received, view.lost, view.bytes), (10_000, 0, 10_000 * size as u64));
        let line = (size.div_ceil(1448) as f64 * 66.0 + size as f64) * 8.0 / 3.1 * dip;
        let receiver = (view.last_byte_ns - view.first_byte_ns) as f64;
        assert!((receiver - 10_000.0 * line).abs() <= 1.0, "{size}: {receiver} ns");
        assert!((sender - f64::from(count) * line).abs() <= 1.0, "{size}: {sender} ns");
        let rate = view.bytes as f64 * 8.0 / receiver * 1e9;
        assert!((rate / dipped().stream_rate(size as u64) - 1.0).abs() < 1e-6, "{size}: {rate} bit/s");
    }
}

#[test]
fn the_other_roles_take_what_their_messages_take() {
    let t = dipped();
    let one_way = |n: usize| t.one_way_time(n as u64) * 1e9;
    let (out, mut answer) = (vec![7; 5000], vec![0; 300]);

    let mut request = link(&t, FarRole::Answer { response: 300 });
    let ns = took(&mut request, |l| {
        l.send(&out).unwrap();
        l.recv(&mut answer).unwrap();
    });
    assert!((ns - one_way(5000) - one_way(300)).abs() <= 1.0);
    let ns = took(&mut request, |l| l.transaction(&out, &mut answer).unwrap());
    assert!((ns - 2.0 * one_way(0) - one_way(5000) - one_way(300)).abs() <= 1.0);

    let mut burst = link(&t, FarRole::Burst { count: 500 });
    let ns = took(&mut burst, |l| {
        (0..500).for_each(|_| l.send(&out).unwrap());
        l.recv(&mut answer[..1]).unwrap();
    });
    assert!((ns - 499.0 * t.line_time(5000) * 1e9 - one_way(5000) - one_way(1)).abs() <= 1.0);

    let mut both = link(&t, FarRole::Mirror);
    let mut into = vec![0; 5000];
    let ns = took(&mut both, |l| (0..1000).for_each(|_| l.exchange(&out, &mut into).unwrap())) / 1000.0;
    assert!((ns - one_way(5000)).abs() < 0.01, "{ns}: neither direction waits for the other");
}

#[test]
fn messages_under_way_share_the_line_and_come_back_in_order() {
    let t = Theory { latency: 100e-6, ..dipped() };
    let mut link = link(&t, FarRole::Echo);
    link.keep_contents(true);
    let messages: Vec<Vec<u8>> = (1..=4).map(|i| vec![i; 2000]).collect();
    let mut into = vec![0; 2000];
    let ns = took(&mut link, |l| {
        messages.iter().for_each(|b| l.send(b).unwrap());
        for message in &messages {
            l.recv(&mut into).unwrap();
            assert_eq!(&into, message);
        }
    });
    assert!((ns - 2.0 * t.one_way_time(2000) * 1e9 - 3.0 * t.line_time(2000) * 1e9).abs() <= 1.0);
}

#[test]
fn contents_come_back_only_when_asked_for() {
    let mut link = link(&Theory::default(), FarRole::Echo);
    let (out, mut into) = ([1, 2, 3], [9; 3]);
    link.exchange(&out, &mut into).unwrap();
    assert_eq!(into, [9; 3]);
    link.keep_contents(true);
    link.exchange(&out, &mut into).unwrap();
    assert_eq!(into, out);
    link.set_role(FarRole::Mirror);
    link.exchange(&[4, 5, 6], &mut into).unwrap();
    assert_eq!(into, [4, 5, 6]);
    link.set_role(FarRole::Answer { response: 3 });
    link.exchange(&[1; 8], &mut into).unwrap();
    assert_eq!(into, [0; 3]);
}

#[test]
fn a_lost_message_costs_the_timeout_and_the_share_is_the_one_asked_for() {
    let mut link = link(&Theory { loss: 0.01, ..Theory::default() }, FarRole::Echo);
    assert!(!link.capabilities().reliable);
    let mut into = [0];
    let (mut lost, all) = (0, 100_000);
    for _ in 0..all {
        let ns = took(&mut link, |l| {
            l.send(&[0]).unwrap();
            match l.recv(&mut into) {
                Ok(()) => {}
                Err(LinkError::Lost) => lost += 1,
                Err(e) => panic!("{e}"),
            }
        });
        assert!(ns < 25_000.0 || (ns - 0.2e9).abs() < 100.0, "{ns}");
    }
    // Either way can lose: 1 - 0.99 squared.
    let share = f64::from(lost) / f64::from(all);
    assert!((share - 0.0199).abs() < 0.002, "{share}");

    link.set_role(FarRole::Sink);
    (0..all).for_each(|_| link.send(&[0]).unwrap());
    let view = link.far_report();
    assert_eq!(view.received + view.lost, u64::from(all as u32));
    assert!((view.lost as f64 / f64::from(all) - 0.01).abs() < 0.002);
}

#[test]
fn the_same_seed_gives_the_same_times_and_another_seed_others() {
    let theory = Theory { noise: 0.05, block_noise: 0.05, loss: 0.02, seed: 3, ..Theory::default() };
    let times = |theory: &Theory| {
        let mut link = link(theory, FarRole::Echo);
        let clock = link.clock();
        let mut into = [0; 100];
        (0..200_u64)
            .map(|i| {
                link.connect(i / 50);
                link.send(&[0; 100]).unwrap();
                let _ = link.recv(&mut into);
                clock.now()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(times(&theory), times(&theory));
    assert_ne!(times(&theory), times(&Theory { seed: 4, ..theory }));
}

#[test]
fn noise_spreads_round_trips_around_the_formula() {
    let theory = Theory { noise: 0.02, ..Theory::default() };
    let mut link = link(&theory, FarRole::Echo);
    let mut halves: Vec<f64> = (0..10_001).map(|_| pingpong(&mut link, 64, 1) / 2.0).collect();
    halves.sort_by(f64::total_cmp);
    let want = theory.one_way_time(64) * 1e9;
    assert!((halves[5000] / want - 1.0).abs() < 0.002, "the median is the formula");
    // Two independent ways average: 2% / sqrt(2); one standard deviation above the median is the 84.13% quantile.
    let sigma = halves[8413] / want - 1.0;
    assert!((sigma - 0.01414).abs() < 0.001, "{sigma}");
}

#[test]
fn a_wait_for_an_answer_ends_with_it_or_with_the_wait() {
    let theory = Theory::default();
    let mut link = link(&theory, FarRole::Echo);
    let clock = link.clock();
    assert!(!link.ready(Duration::from_micros(3)).unwrap());
    assert_eq!(clock.now(), 3000);
    link.send(&[0; 64]).unwrap();
    assert!(link.ready(Duration::from_millis(1)).unwrap());
    let arrived = 3000.0 + 2.0 * theory.one_way_time(64) * 1e9;
    assert_eq!(clock.now(), arrived.round() as u64);
    link.recv(&mut [0; 64]).unwrap();
    assert_eq!(clock.now(), arrived.round() as u64, "it was there already");
    // A loop that only looks comes to an end.
    link.send(&[0; 64]).unwrap();
    assert!((0..10_000).any(|_| link.ready(Duration::ZERO).unwrap()));
}

#[test]
fn time_that_a_schedule_lets_pass_counts() {
    let mut link = link(&Theory::default(), FarRole::Echo);
    let clock = link.clock();
    clock.wait_until(1_000_000);
    pingpong(&mut link, 0, 1);
    let want = 1_000_000.0 + 2.0 * Theory::default().one_way_time(0) * 1e9;
    assert_eq!(clock.now(), want.round() as u64);
}

#[test]
fn misuse_is_answered_and_never_hangs() {
    let mut link = link(&Theory::default(), FarRole::Sink);
    let clock = link.clock();
    assert!(matches!(link.recv(&mut [0]), Err(LinkError::Stalled { .. })));
    assert_eq!(clock.now(), 200_000_000);
    link.set_role(FarRole::Echo);
    link.send(&[0; 10]).unwrap();
    assert!(matches!(link.recv(&mut [0; 11]), Err(LinkError::Protocol(said)) if said.contains("10 bytes")));
    link.send(&[0; 10]).unwrap();
    link.close().unwrap();
    assert!(matches!(link.send(&[0]), Err(LinkError::Closed { doing: "sending" })));
    assert!(matches!(link.recv(&mut [0]), Err(LinkError::Closed { doing: "receiving" })));
    link.connect(1);
    pingpong(&mut link, 10, 1);
    // Numbers that make no sense give no sense, but no panic either.
    let nonsense = Theory { rate: 0.0, packet: 0, latency: f64::NAN, ..Theory::default() };
    assert!(nonsense.settings().check(&super::OPTIONS).is_err());
    let mut link = TheoryLink::new(&nonsense, f64::NAN);
    link.send(&[0]).unwrap();
    let _ = link.recv(&mut [0]);
}

#[test]
fn who_puts_and_gets_asks_no_receiver_first() {
    let of = |eager: Option<u64>| {
        let mut link = link(&Theory { eager, ..Theory::default() }, FarRole::default());
        let (from, mut into) = (vec![1; 8193], vec![0; 8193]);
        let put = took(&mut link, |link| {
            link.expose(8193).unwrap();
            link.put(0, &from).unwrap();
            link.fence().unwrap();
        });
        (put, took(&mut link, |link| link.get(0, &mut into).unwrap()))
    };
    assert_eq!(of(Some(8192)), of(None), "memory is exposed already");
    let sent = |eager| pingpong(&mut link(&Theory { eager, ..Theory::default() }, FarRole::Echo), 8193, 1);
    assert!(sent(Some(8192)) > sent(None), "of a message it makes a difference");
}
