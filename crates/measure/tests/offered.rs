//! A stream at an offered rate on the modelled link, whose time passes only as the model says: each message leaves when the rate
//! says, and what the path can't carry is not made up.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::event::PathPlan;
use measure::solo::Solo;
use measure::{Pattern, Session, TrialReport, TrialSpec};

const SIZE: u64 = 1000;
const MESSAGES: u64 = 500;
const WARMUP: u64 = 7;

/// A trial on a path of 1 Gbit/s that loses nothing or this share.
fn offered(bits: f64, loss: &str) -> TrialReport {
    let model = format!("rate=1Gbit/s,header=0,latency=10us{loss}");
    let path = PathPlan { settings: transport::theory::settings(&model).unwrap(), ..transport::theory::NAME.into() };
    let mut session = Solo::new(&path, Arc::new(AtomicBool::new(false))).unwrap();
    session.open(1).unwrap();
    let spec = TrialSpec { offered: Some(bits), warmup: WARMUP, ..TrialSpec::plain(Pattern::Stream, SIZE, MESSAGES) };
    session.trial(&spec).unwrap()
}

#[test]
fn messages_take_exactly_the_time_that_the_rate_says() {
    for bits in [1e6, 80e6, 123.4e6, 999e6] {
        let report = offered(bits, "");
        let gap = SIZE as f64 * 8.0 / bits;
        let (sender, receiver) = (report.seconds / MESSAGES as f64, report.far.seconds);
        // The clock tells whole nanoseconds.
        assert!((sender - gap).abs() * MESSAGES as f64 <= 2e-9, "{bits}: {sender} s a message, not {gap}");
        // From the last message of the warm-up to the last of all: what arrived is the rate, however few messages there are.
        let exact = MESSAGES as f64 * gap;
        assert!((receiver - exact).abs() <= 4e-9, "{bits}: {receiver} s at the receiver, not {exact}");
        assert_eq!(report.far.bytes, MESSAGES * SIZE);
        assert_eq!((report.repeats, report.far.received, report.far.lost), (MESSAGES, MESSAGES, 0));
    }
}

#[test]
fn a_rate_beyond_the_path_is_not_offered() {
    let report = offered(4e9, "");
    // Behind its schedule from the first message on: the line's time for all, less what the schedule gives the warm-up.
    let exact = (MESSAGES + WARMUP) as f64 * SIZE as f64 * 8e-9 - WARMUP as f64 * SIZE as f64 * 8.0 / 4e9;
    assert!((report.seconds - exact).abs() <= 2e-9, "{}, not {exact}", report.seconds);
}

#[test]
fn what_is_lost_is_a_share_of_what_was_offered_and_costs_no_time() {
    let report = offered(80e6, ",loss=10%");
    assert!((20..90).contains(&report.far.lost), "{}", report.far.lost);
    assert_eq!(report.far.lost + report.far.received, MESSAGES);
    assert!((report.seconds - MESSAGES as f64 * 1e-4).abs() <= 2e-9, "{}", report.seconds);
}
