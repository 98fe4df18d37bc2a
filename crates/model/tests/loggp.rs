//! LogGP parameters of paths whose parameters are known.

mod noisy;

use model::{Estimate, LogGp, Patterns};
use noisy::{Noisy, sizes};

const L: f64 = 5e-6;
const O: f64 = 0.8e-6;
const G_SMALL: f64 = 1.5e-6;
const G_BYTE: f64 = 1e-10;

fn holds(e: Option<Estimate>, truth: f64) -> bool {
    e.is_some_and(|e| e.low <= truth && truth <= e.high)
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
        let sender: Vec<(u32, f64)> = (0..10).map(|b| (b, O * (1.0 + 0.01 * noisy.normal()))).collect();
        let found = LogGp::of(Patterns { ping_pong: Some(&ping_pong), stream: Some(&stream), sender: &sender }, seed);
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
    let waiting: Vec<(u32, f64)> = (0..10).map(|b| (b, G_SMALL)).collect();
    let bound = LogGp::of(Patterns { ping_pong: Some(&ping_pong), stream: Some(&stream), sender: &waiting }, 1);
    assert_eq!((bound.overhead, bound.overhead_at_most), (None, Some(G_SMALL)));
    assert!(bound.notes.iter().any(|n| n.contains("waits for the path")), "{:?}", bound.notes);
    let none = LogGp::of(Patterns::default(), 1);
    assert!(none.end_to_end.is_none() && none.notes.len() >= 3, "{:?}", none.notes);
    let one = LogGp::of(Patterns { ping_pong: Some(&ping_pong[..1]), stream: Some(&stream[..1]), sender: &[] }, 1);
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
