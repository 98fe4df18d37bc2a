//! Figures and warnings of several flows, from trials made by hand.

mod by_hand;

use by_hand::{of, plan, trial};
use measure::event::{Figures, TimeKind, Trial};
use measure::figures::Common;
use measure::judge::{Judged, figureless, warnings};
use measure::place::Place;
use measure::{FlowReport, Flows, Pattern, TrialReport, figures};

/// A trial of flows that did so many iterations each while all of them ran, for a millisecond.
fn of_flows(round: u32, each: &[f64]) -> Trial {
    let each = each.iter().map(|n| FlowReport { iterations: *n, ..FlowReport::default() }).collect();
    let flows = Flows { seconds: 1e-3, span: 2e-3, apart: 1e-4, each };
    // Times of single round trips are a flow's own, and no figure of all.
    let report = TrialReport {
        repeats: flows.iterations() as u64,
        seconds: 1e-3,
        median: 20e-6,
        max: 40e-6,
        histogram: vec![(20_000, 90), (40_000, 10)],
        flows: Some(flows),
        ..TrialReport::default()
    };
    Trial { report, ..trial(round, 20e-6) }
}

/// Seven rounds of three flows, of which the slowest does a fifth, give or take a few percent; of fewer than four rounds nothing is told.
#[test]
fn flows_have_intervals_from_what_their_rounds_say() {
    let trials: Vec<Trial> =
        (1..=7).map(|b| of_flows(b, &[40.0 + f64::from(b % 3), 60.0, 100.0 - f64::from(b % 3)])).collect();
    let ping_pong = plan(Pattern::PingPong);
    let flows = |trials: &[Trial]| of(&ping_pong, transport::tcp::NAME, trials).unwrap().flows.unwrap();
    let told = flows(&trials);
    let holds = |ends: Option<(f64, f64)>, value: f64| {
        let (low, high) = ends.unwrap();
        assert!(low <= value && value <= high && low < high && high < 1.5 * low, "{value}: {told:?}");
    };
    holds(told.slowest_ends, told.slowest);
    holds(told.fastest_ends, told.fastest);
    holds(told.fairness_ends, told.fairness);
    assert!(told.fairness_ends.unwrap().1 <= 1.0);
    let few = flows(&trials[..3]);
    assert_eq!((few.slowest_ends, few.fastest_ends, few.fairness_ends), (None, None, None));
    // A flow that got nothing has no interval on the scale of ratios.
    let starved: Vec<Trial> = (1..=7).map(|b| of_flows(b, &[0.0, 100.0 + f64::from(b), 100.0])).collect();
    let told = flows(&starved);
    assert!(told.slowest == 0.0 && told.slowest_ends.is_none() && told.fastest_ends.is_some(), "{told:?}");
}

#[test]
fn figures_of_several_flows_are_those_of_all_in_the_time_in_which_all_ran() {
    let trials: Vec<Trial> = (1..=7).map(|b| of_flows(b, &[40.0, 60.0, 100.0])).collect();
    let ping_pong = plan(Pattern::PingPong);
    assert_eq!(figures::time_kind(&ping_pong, transport::tcp::NAME, 3), TimeKind::Spacing);
    let f = of(&ping_pong, transport::tcp::NAME, &trials).unwrap();
    // 200 round trips of two messages of 1,000 bytes in a millisecond.
    assert!((f.median - 2.5e-6).abs() < 1e-15 && (f.throughput - 3.2e9).abs() < 1.0, "{f:?}");
    let flows = f.flows.unwrap();
    assert_eq!((flows.count, flows.together), (3, 0.5));
    assert!((flows.slowest - 0.64e9).abs() < 1.0 && (flows.fastest - 1.6e9).abs() < 1.0);
    assert!((flows.fairness - 200f64.powi(2) / (3.0 * (1600.0 + 3600.0 + 10_000.0))).abs() < 1e-12);
    let percentiles = f.percentiles.unwrap();
    assert_eq!((percentiles.p50, percentiles.p99, percentiles.max), (10e-6, Some(20e-6), 20e-6), "half round trips");
    let request = of(&plan(Pattern::Request), transport::tcp::NAME, &trials).unwrap();
    assert!((request.transactions.unwrap() - 200e3).abs() < 1e-6 && (request.median - 5e-6).abs() < 1e-15);
    let stream = of(&plan(Pattern::Stream), transport::tcp::NAME, &trials).unwrap();
    assert!((stream.throughput - 1.6e9).abs() < 1.0 && stream.sender_throughput.is_none());
    assert_eq!(figures::time_kind(&plan(Pattern::Stream), transport::tcp::NAME, 3), TimeKind::OneWay);
}

#[test]
fn flows_that_never_ran_at_once_have_no_figure_and_that_is_said() {
    let never = |b| {
        let mut trial = of_flows(b, &[0.0, 0.0]);
        trial.report.flows.as_mut().unwrap().seconds = 0.0;
        trial
    };
    let trials: Vec<Trial> = (1..=7).map(never).collect();
    assert_eq!(of(&plan(Pattern::Stream), transport::tcp::NAME, &trials), None);
    let mut two = plan(Pattern::Stream);
    two.paths[0].flows = 2;
    let said = figureless(&two, 0, vec![1000], 0.0).unwrap();
    assert!(said.code == "flows-apart" && said.text.contains("in no trial did all flows run at once"), "{said:?}");
    assert_eq!(figureless(&plan(Pattern::Stream), 0, vec![1000], 0.0).unwrap().code, "no-figure");
    // Messages that are lost keep flows apart, and not their CPUs.
    let said = figureless(&two, 0, vec![1000], 0.9).unwrap();
    assert!(said.code == "flows-apart" && said.text.contains("90.0% of what was sent was lost"), "{said:?}");
    assert!(!said.text.contains("CPU"), "{said:?}");
}

#[test]
fn flows_that_are_apart_most_of_the_time_are_warned_of() {
    let trials: Vec<Trial> = (1..=7).map(|b| of_flows(b, &[40.0, 60.0])).collect();
    let told = |together: f64| {
        let figures = of(&plan(Pattern::PingPong), transport::tcp::NAME, &trials).unwrap();
        let flows = figures.flows.map(|flows| measure::event::FlowFigures { together, ..flows });
        let judged = Judged { size: 1000, figures: Figures { flows, ..figures }, trials: &trials, ended: None };
        let all = warnings(
            &plan(Pattern::PingPong),
            transport::tcp::NAME,
            &[judged],
            &Common::default(),
            None,
            Place::Unread,
        );
        all.into_iter().find(|w| w.code == "flows-apart").map(|w| w.text)
    };
    assert_eq!(told(0.5), None);
    assert!(told(0.2).unwrap().contains("20.0% of a trial's time"), "{:?}", told(0.2));
}
