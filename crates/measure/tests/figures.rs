//! Figures and warnings from trials made by hand.

use measure::event::{Figures, Plan, TimeKind, Trial, Why};
use measure::judge::{Judged, warnings};
use measure::{FarReport, Pattern, TrialReport, figures};
use transport::Kind;

fn plan(pattern: Pattern) -> Plan {
    Plan { pattern, ..Plan::default() }
}

fn trial(block: u32, median: f64) -> Trial {
    Trial {
        path: 0,
        block,
        at: 0.0,
        size: 1000,
        response: 0,
        burst: 0,
        warmup: false,
        report: TrialReport {
            repeats: 100,
            seconds: median * 100.0,
            median,
            min: median * 0.9,
            max: median * 1.1,
            ..TrialReport::default()
        },
    }
}

fn of(plan: &Plan, kind: Kind, trials: &[Trial]) -> Option<Figures> {
    figures::figures(plan, kind, &trials.iter().collect::<Vec<_>>(), &figures::Common::default())
}

#[test]
fn ping_pong_is_half_the_round_trip_and_open_loop_is_the_whole() {
    let trials: Vec<Trial> = (1..=7).map(|b| trial(b, 20e-6)).collect();
    let closed = plan(Pattern::PingPong);
    assert_eq!(figures::time_kind(&closed, Kind::Tcp), TimeKind::HalfRoundTrip);
    let f = of(&closed, Kind::Tcp, &trials).unwrap();
    assert!((f.median - 10e-6).abs() < 1e-15);
    assert!((f.throughput - 8000.0 / 10e-6).abs() < 1.0);
    let open = Plan { rate: Some(1e4), ..closed };
    assert_eq!(figures::time_kind(&open, Kind::Tcp), TimeKind::RoundTrip);
    assert!((of(&open, Kind::Tcp, &trials).unwrap().median - 20e-6).abs() < 1e-15);
}

#[test]
fn the_interval_comes_from_blocks_and_not_from_neighbouring_trials() {
    // Within a block trials agree to the last digit; the blocks don't.
    let blocks = [10e-6, 12e-6, 11e-6, 10.5e-6, 11.5e-6, 12.5e-6, 10.2e-6];
    let trials: Vec<Trial> =
        blocks.iter().zip(1..).flat_map(|(&t, b)| (0..50).map(move |_| trial(b, 2.0 * t))).collect();
    let f = of(&plan(Pattern::PingPong), Kind::Tcp, &trials).unwrap();
    assert_eq!((f.blocks, f.trials), (7, 350));
    assert!(f.low <= 10.5e-6 && f.high >= 11.5e-6, "[{}, {}] is as narrow as 350 independent trials", f.low, f.high);
    assert_eq!((f.repeat_low, f.repeat_high), (None, None), "one run does not know where a repeat falls");
}

#[test]
fn a_stream_is_timed_by_its_receiver_and_the_sender_stands_beside_it() {
    let mut t = trial(1, 0.0);
    t.report = TrialReport {
        repeats: 100,
        seconds: 1e-4,
        far: FarReport { seconds: 2e-4, bytes: 99_999, received: 100, ..FarReport::default() },
        ..TrialReport::default()
    };
    let f = of(&plan(Pattern::Stream), Kind::Tcp, &[t]).unwrap();
    assert!((f.throughput / (99_999.0 * 8.0 / 2e-4) - 1.0).abs() < 1e-9);
    assert!((f.sender_throughput.unwrap() / 8e9 - 1.0).abs() < 1e-9);
}

#[test]
fn a_burst_counts_each_of_its_blocks() {
    let mut t = trial(1, 500.0 * 3e-6);
    t.burst = 500;
    let f = of(&plan(Pattern::Burst), Kind::Tcp, &[t]).unwrap();
    assert!((f.median - 3e-6).abs() < 1e-12);
}

#[test]
fn loss_is_a_share_of_what_was_sent() {
    let mut t = trial(1, 20e-6);
    t.report.repeats = 90;
    t.report.lost = 10;
    assert!((of(&plan(Pattern::PingPong), Kind::Udp, &[t]).unwrap().loss - 0.1).abs() < 1e-12);
}

#[test]
fn half_of_a_stream_lost_is_half() {
    let mut t = trial(1, 0.0);
    let far =
        FarReport { seconds: 2e-4, bytes: 499_000, received: 500, lost: 500, reordered: 50, ..FarReport::default() };
    t.report = TrialReport { repeats: 1000, seconds: 1e-4, far, ..TrialReport::default() };
    let f = of(&plan(Pattern::Stream), Kind::Udp, &[t]).unwrap();
    assert_eq!((f.loss, f.reordering), (0.5, 0.05));
}

#[test]
fn half_of_the_answers_lost_is_half_though_every_request_arrived() {
    let mut t = trial(1, 20e-6);
    (t.report.repeats, t.report.lost, t.report.far.received) = (500, 500, 1000);
    assert_eq!(of(&plan(Pattern::PingPong), Kind::Udp, &[t]).unwrap().loss, 0.5);
}

#[test]
fn a_stream_of_which_nothing_arrived_has_no_figure() {
    let mut t = trial(1, 0.0);
    t.report = TrialReport {
        repeats: 1000,
        seconds: 1e-6,
        far: FarReport { lost: 1000, ..FarReport::default() },
        ..TrialReport::default()
    };
    assert_eq!(of(&plan(Pattern::Stream), Kind::Udp, &[t]), None, "the sender's rate is not the path's");
}

#[test]
fn a_survey_on_one_connection_is_one_block() {
    let trials = [trial(0, 20e-6), trial(0, 20.1e-6), trial(0, 19.9e-6)];
    let f = of(&plan(Pattern::PingPong), Kind::Tcp, &trials).unwrap();
    assert_eq!((f.blocks, f.trials), (1, 3));
}

#[test]
fn warm_up_counts_only_while_there_is_nothing_better() {
    let mut warm = trial(0, 80e-6);
    warm.warmup = true;
    let p = plan(Pattern::PingPong);
    assert!(of(&p, Kind::Tcp, &[warm.clone()]).is_some());
    let f = of(&p, Kind::Tcp, &[warm, trial(1, 20e-6)]).unwrap();
    assert_eq!((f.trials, f.median), (1, 10e-6));
    assert!(of(&p, Kind::Tcp, &[]).is_none());
}

fn codes(plan: &Plan, trials: &[Trial]) -> Vec<String> {
    let figures = of(plan, Kind::Tcp, trials).unwrap();
    let points = [Judged { size: 1000, figures, trials, ended: Some(Why::Precision) }];
    warnings(plan, Kind::Tcp, &points, None).into_iter().map(|w| w.code).collect()
}

#[test]
fn a_closed_loop_says_what_it_cannot_see() {
    let p = plan(Pattern::PingPong);
    let mut trials: Vec<Trial> = (1..=7).map(|b| trial(b, 20e-6)).collect();
    assert!(codes(&p, &trials).is_empty(), "a quiet path needs no warning");
    // 100 ms of standing still in half a second, told only by one iteration of ten thousand.
    for t in &mut trials {
        t.report.repeats = 20_000;
        t.report.histogram = vec![(20_000, 19_999), (100_000_000, 1)];
        t.report.seconds = 0.5;
        t.report.max = 0.1;
    }
    assert_eq!(codes(&p, &trials), ["closed-loop"]);
    assert!(codes(&Plan { rate: Some(1e4), ..p }, &trials).is_empty(), "an open loop sees it");
}

#[test]
fn a_useless_figure_carries_a_warning_with_its_likely_cause() {
    let p = plan(Pattern::PingPong);
    let trials: Vec<Trial> = (1..=8).map(|b| trial(b, if b % 2 == 0 { 20e-6 } else { 40e-6 })).collect();
    let figures = of(&p, Kind::Tcp, &trials).unwrap();
    let points = [Judged { size: 1000, figures, trials: &trials, ended: Some(Why::Budget) }];
    let busy = host::Taken { processes: 0.5, ..host::Taken::default() };
    let all = warnings(&p, Kind::Tcp, &points, Some(busy));
    assert_eq!(all.iter().map(|w| w.code.as_str()).collect::<Vec<_>>(), ["foreign-cpu", "noisy", "not-converged"]);
    assert!(all[1].text.contains("other processes on the pinned CPUs"), "{}", all[1].text);
}
