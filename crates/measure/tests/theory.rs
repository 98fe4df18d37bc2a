//! The whole evaluator on the theoretical link: virtual time, exact answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::event::{Calibration, PathPlan, Plan, PointEnded};
use measure::solo::Solo;
use measure::{Event, Pattern};
use transport::theory::{Dip, Theory};

fn plan(pattern: Pattern, theory: Theory) -> Plan {
    Plan {
        paths: vec![PathPlan { settings: theory.settings(), ..transport::theory::NAME.into() }],
        pattern,
        to: 1 << 20,
        budget: 3.0,
        response: 64,
        burst: 50,
        check: pattern == Pattern::PingPong,
        align: 64,
        ..Plan::default()
    }
}

fn run(plan: &Plan) -> (Vec<Event>, Vec<PointEnded>) {
    run_beside(plan, Calibration { clock_cost_ns: 0.0, clock_step_ns: 1.0, loop_cost_ns: 0.0 })
}

/// On a machine whose clock is so.
fn run_beside(plan: &Plan, calibration: Calibration) -> (Vec<Event>, Vec<PointEnded>) {
    let stop = Arc::new(AtomicBool::new(false));
    let session = Solo::new(&plan.paths[0], stop.clone()).unwrap();
    let mut events = Vec::new();
    let outcome = measure::run(
        plan,
        calibration,
        vec![Box::new(session)],
        &mut |e: &Event| {
            events.push(e.clone());
            Ok(())
        },
        &stop,
    );
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let points = events.iter().filter_map(|e| if let Event::Point(p) = e { Some(p.clone()) } else { None }).collect();
    (events, points)
}

fn one_way(t: &Theory, size: u64) -> f64 {
    let packets = size.div_ceil(t.packet).max(1);
    t.latency + (packets * t.header + size) as f64 * 8.0 / t.rate
}

fn near(a: f64, b: f64, what: &str) {
    assert!((a / b - 1.0).abs() < 1e-4, "{what}: {a} is not {b}");
}

#[test]
fn this_machines_clock_has_no_part_in_a_modelled_run() {
    let plan = plan(Pattern::PingPong, Theory { seed: 3, noise: 0.1, ..Theory::default() });
    let (_, fine) = run(&plan);
    let (_, coarse) = run_beside(&plan, Calibration { clock_cost_ns: 900.0, clock_step_ns: 1e5, loop_cost_ns: 2.0 });
    assert_eq!(fine, coarse);
}

#[test]
fn ping_pong_measures_the_formula() {
    let theory = Theory::default();
    let (_, points) = run(&plan(Pattern::PingPong, theory.clone()));
    assert!(points.len() > 100);
    for p in points {
        near(p.figures.median, one_way(&theory, p.size), &format!("{} B", p.size));
        near(p.figures.min, p.figures.median, "without noise the minimum is the median");
    }
}

#[test]
fn a_stream_reaches_the_rate_that_headers_leave() {
    let theory = Theory::default();
    let (_, points) = run(&plan(Pattern::Stream, theory.clone()));
    for p in points {
        let packets = p.size.div_ceil(theory.packet).max(1);
        let goodput = theory.rate * p.size as f64 / (packets * theory.header + p.size) as f64;
        let of_it = p.figures.throughput / goodput;
        assert!((of_it - 1.0).abs() < 0.02, "{} B: {} of {goodput}", p.size, p.figures.throughput);
    }
}

/// Of three messages, what lies in a buffer is much.
#[test]
fn trials_of_a_stream_have_eight_messages_where_the_budget_allows() {
    let theory = Theory { rate: 1e9, ..Theory::default() };
    let fewest = |pattern: Pattern, budget: f64, sizes: std::ops::RangeInclusive<u64>| {
        let plan = Plan { to: 8 << 20, budget, check: false, ..plan(pattern, theory.clone()) };
        let (events, _) = run(&plan);
        let trials = events.iter().filter_map(|e| if let Event::Trial(t) = e { Some(t) } else { None });
        trials.filter(|t| !t.warmup && sizes.contains(&t.size)).map(|t| t.report.repeats).min().unwrap()
    };
    let (middling, large) = (100_000..=700_000, 4 << 20..=8 << 20);
    assert!(fewest(Pattern::Stream, 12.0, middling.clone()) >= 8);
    assert!(fewest(Pattern::Stream, 12.0, large) < 3, "eight of these are half a second");
    assert!(fewest(Pattern::Stream, 3.0, middling.clone()) < 8);
    assert_eq!(fewest(Pattern::PingPong, 12.0, middling), 3);
}

#[test]
fn request_and_burst_and_exchange_follow_the_model() {
    let theory = Theory::default();
    let (_, points) = run(&plan(Pattern::Request, theory.clone()));
    for p in &points {
        near(p.figures.median, one_way(&theory, p.size) + one_way(&theory, 64), "request");
    }
    let (_, points) = run(&plan(Pattern::Connect, theory.clone()));
    for p in &points {
        let set_up = 2.0 * one_way(&theory, 0);
        near(p.figures.median, set_up + one_way(&theory, p.size) + one_way(&theory, 64), "transaction");
    }
    let (_, points) = run(&plan(Pattern::Bidirectional, theory.clone()));
    for p in &points {
        near(p.figures.median, one_way(&theory, p.size), "exchange");
    }
    let (_, points) = run(&plan(Pattern::Burst, theory.clone()));
    for p in &points {
        let line = one_way(&theory, p.size) - theory.latency;
        near(p.figures.median * 50.0, 50.0 * line + theory.latency + one_way(&theory, 1), "burst");
    }
}

#[test]
fn a_chasm_is_found_and_its_edges_are_sharp() {
    let dips = vec![Dip { from: 60_000, to: 67_000, factor: 5.0, moved_by: None }];
    let theory = Theory { dips, noise: 0.01, block_noise: 0.01, ..Theory::default() };
    let (_, points) = run(&plan(Pattern::PingPong, theory.clone()));
    let slow: Vec<u64> =
        points.iter().filter(|p| p.figures.median > 3.0 * one_way(&theory, p.size)).map(|p| p.size).collect();
    assert!(!slow.is_empty());
    assert!(slow.iter().all(|s| (60_000..67_000).contains(s)), "{slow:?}");
    assert!(slow[0].max(slow[slow.len() - 1]) > 66_000 || slow.iter().max() > Some(&66_000));
    assert!(slow.iter().min() < Some(&61_000), "{slow:?}");
}

#[test]
fn noise_between_connections_shows_in_the_interval() {
    let quiet = Theory { noise: 0.001, block_noise: 0.0, ..Theory::default() };
    let uneven = Theory { noise: 0.001, block_noise: 0.05, ..Theory::default() };
    let width = |t: Theory| {
        let (_, points) = run(&plan(Pattern::PingPong, t));
        let widths: Vec<f64> = points.iter().map(|p| (p.figures.high - p.figures.low) / p.figures.median).collect();
        stats::median(&widths)
    };
    let (quiet, uneven) = (width(quiet), width(uneven));
    assert!(quiet < 0.01 && uneven > 0.02, "quiet {quiet}, uneven {uneven}");
}

#[test]
fn noise_that_the_link_was_given_is_not_the_machines() {
    let theory: Theory = "noise=60%,round-noise=60%".parse().unwrap();
    let (events, _) = run(&plan(Pattern::PingPong, theory));
    let said = |e: &Event| if let Event::Warning(w) = e { (w.code == "noisy").then(|| w.text.clone()) } else { None };
    let noisy = events.iter().find_map(said).expect("a warning");
    assert!(noisy.ends_with("likely cause: the modelled link's own noise (--theory noise=, round-noise=)"), "{noisy}");
}

#[test]
fn lost_messages_are_counted_and_do_not_end_the_run() {
    let theory = Theory { loss: 0.02, ..Theory::default() };
    let many =
        Plan { sizes: Some(vec![64, 4096]), trials: Some(6), repeats: Some(2000), ..plan(Pattern::PingPong, theory) };
    let (events, points) = run(&many);
    let loss: Vec<f64> = points.iter().map(|p| p.figures.loss).collect();
    let mean = stats::mean(&loss);
    assert!((mean - 0.0396).abs() < 0.006, "a round trip of two 2% chances loses 3.96%, not {mean}");
    for p in &points {
        let quiet = one_way(&Theory::default(), p.size);
        near(p.figures.min, quiet, "a time-out is not a time: shortest");
        near(p.figures.mean, quiet, "a time-out is not a time: mean");
    }
    assert!(events.iter().any(|e| matches!(e, Event::Warning(w) if w.code == "loss")));
}

#[test]
fn of_a_lossy_stream_the_share_lost_is_the_links() {
    let theory = Theory { loss: 0.3, ..Theory::default() };
    let (_, points) = run(&plan(Pattern::Stream, theory));
    let mean = stats::mean(&points.iter().map(|p| p.figures.loss).collect::<Vec<_>>());
    assert!((mean - 0.3).abs() < 0.02, "{mean}");
}

#[test]
fn two_sizes_that_lie_far_apart_are_both_measured() {
    // In step with size one byte's 15 us would make 16 MiB last four minutes.
    let theory = Theory { latency: 15e-6, rate: 1e10, ..Theory::default() };
    for far in [1 << 16, 1 << 20, 1 << 24] {
        let sizes = Some(vec![1, far]);
        let (events, points) = run(&Plan { sizes, to: far, ..plan(Pattern::PingPong, theory.clone()) });
        let measured: Vec<u64> = points.iter().map(|p| p.size).collect();
        assert_eq!(measured, [1, far]);
        near(points[1].figures.median, one_way(&theory, far), "the larger");
        let tried = |e: &Event| matches!(e, Event::Trial(t) if t.size != 1 && t.size != far);
        assert!(!events.iter().any(tried), "sizes that nobody asked for are in no event");
    }
}

#[test]
fn named_sizes_are_measured_where_any_message_takes_long() {
    // In step with size one byte's 60 ms would make 64 KiB last an hour; and each message takes longer than the rule allows that ends other curves.
    for (latency, sizes) in [(0.06, vec![1, 4095, 65_536]), (1.2, vec![64, 100])] {
        let theory = Theory { latency, rate: 1e10, ..Theory::default() };
        let plan = plan(Pattern::PingPong, theory);
        let named = Plan { sizes: Some(sizes.clone()), budget: 120.0, trials: Some(2), repeats: Some(5), ..plan };
        let (events, points) = run(&named);
        assert_eq!(points.iter().map(|p| p.size).collect::<Vec<_>>(), sizes, "{events:?}");
    }
}

#[test]
fn a_far_larger_size_that_really_takes_too_long_is_left_out_at_little_cost() {
    let slow = Theory { latency: 1e-3, rate: 1e6, ..Theory::default() };
    let sizes = Some(vec![1, 1 << 20]);
    let (events, points) = run(&Plan { sizes, to: 1 << 20, ..plan(Pattern::PingPong, slow) });
    assert_eq!(points.iter().map(|p| p.size).collect::<Vec<_>>(), [1]);
    let warned = events.iter().find_map(|e| if let Event::Warning(w) = e { Some(w.code.clone()) } else { None });
    assert_eq!(warned.as_deref(), Some("stopped-short"));
    let Some(Event::End(end)) = events.last() else { panic!("the run ends") };
    assert!(end.at < 4.5, "{} s of a budget of 3 s", end.at);
}
