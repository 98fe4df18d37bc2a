//! LogGP parameters of paths whose parameters are known.

mod noisy;

use model::{Estimate, LogGp, Patterns, Sender};
use noisy::{Noisy, sizes};

const L: f64 = 5e-6;
const O: f64 = 0.8e-6;
const G_SMALL: f64 = 1.5e-6;
const G_BYTE: f64 = 1e-10;

fn holds(e: Option<Estimate>, truth: f64) -> bool {
    e.is_some_and(|e| e.low <= truth && truth <= e.high)
}

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low, high }
}

/// A sender that was busy for so long with each message of each trial, whose gaps were these.
fn sender(times: &[f64], gaps: &[f64]) -> Sender {
    let interval = stats::rounds_interval(times, stats::CONFIDENCE).unwrap_or(stats::Interval::UNBOUNDED);
    let shares = times.iter().zip(gaps).map(|(t, gap)| t / gap).collect();
    Sender { busy: estimate(stats::median(times), interval.low, interval.high), shares }
}

#[test]
fn all_four_are_found_where_the_patterns_identify_them() {
    const RUNS: u64 = 400;
    let sizes = sizes(4e6, 60);
    let mut hits = [0u64; 4];
    for seed in 0..RUNS {
        let mut noisy = Noisy::new(seed);
        let ping_pong = noisy.curve(&sizes, |x| L + 2.0 * O + (x - 1.0) * G_BYTE);
        let stream = noisy.curve(&sizes, |x| G_SMALL + (x - 1.0) * G_BYTE);
        let times: Vec<f64> = (0..10).map(|_| O * (1.0 + 0.01 * noisy.normal())).collect();
        let sender = sender(&times, &[G_SMALL; 10]);
        let found =
            LogGp::of(Patterns { ping_pong: Some(&ping_pong), stream: Some(&stream), sender: Some(&sender) }, seed);
        let held = [
            holds(found.latency, L),
            holds(found.overhead, O),
            holds(found.gap, G_SMALL),
            holds(found.gap_per_byte, G_BYTE),
        ];
        held.iter().zip(&mut hits).for_each(|(h, n)| *n += u64::from(*h));
        assert!(found.notes.is_empty(), "{:?}", found.notes);
    }
    // L's interval adds those of its parts, and is on the safe side.
    for (what, n) in ["L", "o", "g", "G"].iter().zip(hits) {
        assert!(n >= RUNS * 93 / 100, "{what} held in {n} of {RUNS}: {hits:?}");
    }
}

#[test]
fn what_cannot_be_identified_is_named_with_what_would() {
    let sizes = sizes(4e6, 60);
    let mut noisy = Noisy::new(1);
    let ping_pong = noisy.curve(&sizes, |x| L + 2.0 * O + x * G_BYTE);
    let stream = noisy.curve(&sizes, |x| G_SMALL + x * G_BYTE);
    let alone = LogGp::of(Patterns { ping_pong: Some(&ping_pong), ..Patterns::default() }, 1);
    assert!(alone.latency.is_none() && alone.gap.is_none() && holds(alone.end_to_end, L + 2.0 * O));
    for named in ["g: no stream", "o: no sender", "L: it can't be parted from o", "G comes from round trips"] {
        assert!(alone.notes.iter().any(|n| n.contains(named)), "{named}: {:?}", alone.notes);
    }
    // A sender that waits bounds o, and so L.
    let waiting = Sender { busy: estimate(G_SMALL, G_SMALL, G_SMALL), shares: vec![1.0; 10] };
    let bound = LogGp::of(Patterns { ping_pong: Some(&ping_pong), stream: Some(&stream), sender: Some(&waiting) }, 1);
    assert_eq!((bound.overhead, bound.overhead_at_most), (None, Some(G_SMALL)));
    assert!(bound.notes.iter().any(|n| n.contains("waits for the path")), "{:?}", bound.notes);
    // The upper end of L + 2 o is told once, and so in one form.
    let bounds = bound.notes.iter().find(|n| n.starts_with("L: ")).unwrap();
    assert!(bounds.ends_with(" us, and no more than L + 2 o") && bounds.matches(" us").count() == 1, "{bounds}");
    let none = LogGp::of(Patterns::default(), 1);
    assert!(none.end_to_end.is_none() && none.notes.len() >= 3, "{:?}", none.notes);
    let one = LogGp::of(Patterns { ping_pong: Some(&ping_pong[..1]), stream: Some(&stream[..1]), sender: None }, 1);
    assert!(one.gap_per_byte.is_none() && one.notes.iter().any(|n| n.contains("too few large sizes")));
    assert!(!serde_json::to_string(&[alone, bound, none, one]).unwrap().contains("NaN"));
}

#[test]
fn a_path_whose_bytes_cost_more_and_more_says_that_one_g_does_not_hold() {
    let broken = |x: f64| 1e-6 + 1e-10 * x + 5e-10 * (x - 2e6).max(0.0);
    let stream = Noisy::new(1).curve(&sizes(8e6, 150), broken);
    let found = LogGp::of(Patterns { stream: Some(&stream), ..Patterns::default() }, 1);
    assert!(found.notes.iter().any(|n| n.contains("one does not hold")), "{:?}", found.notes);
}

/// A state of the machine is met by some rounds; the typical gap of all lies above most senders' times where these were few. Trial by trial
/// the sender takes as long as the gap.
#[test]
fn a_sender_that_waits_identifies_no_o_whatever_the_noise() {
    let sizes = sizes(4e6, 60);
    let mut told = 0;
    for seed in 0..200 {
        let mut noisy = Noisy::new(seed);
        let stream = noisy.curve(&sizes, |x| G_SMALL + (x - 1.0) * G_BYTE);
        // Both ends of a trial lie 3% apart; the gap of all rounds may be told 15% too high.
        let gaps: Vec<f64> = stream[0].rounds.iter().map(|(_, gap)| *gap).collect();
        let times: Vec<f64> = gaps.iter().map(|gap| gap * (1.0 + 0.03 * noisy.normal())).collect();
        let mut sender = sender(&times, &gaps);
        sender.busy = estimate(0.85 * G_SMALL, 0.8 * G_SMALL, 0.9 * G_SMALL);
        let found = LogGp::of(Patterns { stream: Some(&stream), sender: Some(&sender), ..Patterns::default() }, seed);
        told += usize::from(found.overhead.is_some());
    }
    assert_eq!(told, 0);
}

#[test]
fn rounds_that_do_not_tell_whether_a_sender_waits_bound_its_o() {
    let stream = Noisy::new(1).curve(&sizes(4e6, 60), |x| G_SMALL + x * G_BYTE);
    let of = |shares: &[f64]| {
        let sender = Sender { busy: estimate(O, 0.9 * O, 1.1 * O), shares: shares.to_vec() };
        LogGp::of(Patterns { stream: Some(&stream), sender: Some(&sender), ..Patterns::default() }, 1)
    };
    for unsure in [&[0.6, 0.6][..], &[0.5, 0.8, 1.0, 0.7, 1.1, 0.9], &[]] {
        let found = of(unsure);
        assert_eq!((found.overhead, found.overhead_at_most), (None, Some(O)));
        assert!(found.notes.iter().any(|n| n.contains("do not tell whether")), "{:?}", found.notes);
    }
    assert!(of(&[0.6, 0.62, 0.61, 0.6, 0.59]).overhead.is_some());
}
