//! Figures and warnings from trials made by hand.

mod by_hand;

use by_hand::{of, plan, trial};
use host::MachineCalibration;
use measure::event::{Calibration, Figures, Plan, RoundOpened, Schedule, TimeKind, Trial, Why};
use measure::figures::Common;
use measure::judge::{Judged, burst, unsteady, warnings};
use measure::place::Place;
use measure::sustained::Sustained;
use measure::{FarReport, Pattern, TrialReport, figures};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn ping_pong_is_half_the_round_trip_and_open_loop_is_the_whole() {
    let trials: Vec<Trial> = (1..=7).map(|b| trial(b, 20e-6)).collect();
    let closed = plan(Pattern::PingPong);
    assert_eq!(figures::time_kind(&closed, transport::tcp::NAME, 1), TimeKind::HalfRoundTrip);
    let f = of(&closed, transport::tcp::NAME, &trials).unwrap();
    assert!((f.median - 10e-6).abs() < 1e-15);
    assert!((f.throughput - 8000.0 / 10e-6).abs() < 1.0);
    let open = Plan { rate: Some(1e4), ..closed };
    assert_eq!(figures::time_kind(&open, transport::tcp::NAME, 1), TimeKind::RoundTrip);
    assert!((of(&open, transport::tcp::NAME, &trials).unwrap().median - 20e-6).abs() < 1e-15);
}

#[test]
fn the_interval_comes_from_rounds_and_not_from_neighbouring_trials() {
    // Within a round trials agree to the last digit; the rounds don't.
    let rounds = [10e-6, 12e-6, 11e-6, 10.5e-6, 11.5e-6, 12.5e-6, 10.2e-6];
    let trials: Vec<Trial> =
        rounds.iter().zip(1..).flat_map(|(&t, b)| (0..50).map(move |_| trial(b, 2.0 * t))).collect();
    let f = of(&plan(Pattern::PingPong), transport::tcp::NAME, &trials).unwrap();
    assert_eq!((f.rounds, f.trials), (7, 350));
    assert!(f.high < 13e-6 && f.low > 9.5e-6, "[{}, {}] is wider than the messages lie apart", f.low, f.high);
    assert!(f.low <= 10.5e-6 && f.high >= 11.5e-6, "[{}, {}] is as narrow as 350 independent trials", f.low, f.high);
    assert_eq!((f.repeat_low, f.repeat_high), (None, None), "one run does not know where a repeat falls");
}

#[test]
fn a_stream_is_timed_by_its_receiver_and_the_sender_stands_beside_it() {
    let mut t = trial(1, 0.0);
    t.report = TrialReport {
        repeats: 100,
        seconds: 1e-4,
        far: FarReport { seconds: 2e-4, bytes: 100_000, received: 101, ..FarReport::default() },
        ..TrialReport::default()
    };
    let f = of(&plan(Pattern::Stream), transport::tcp::NAME, &[t]).unwrap();
    assert!((f.throughput / (100_000.0 * 8.0 / 2e-4) - 1.0).abs() < 1e-9);
    assert!((f.sender_throughput.unwrap() / 8e9 - 1.0).abs() < 1e-9);
}

/// Twenty messages in 2 ms at the sender, which the receiver found in a buffer and read within 10 us.
#[test]
fn a_stream_that_lay_in_a_buffer_is_no_faster_than_it_was_sent() {
    let mut t = trial(1, 0.0);
    t.report = TrialReport {
        repeats: 20,
        seconds: 2e-3,
        far: FarReport { seconds: 1e-5, bytes: 20 * t.size, received: 21, ..FarReport::default() },
        ..TrialReport::default()
    };
    let f = of(&plan(Pattern::Stream), transport::tcp::NAME, std::slice::from_ref(&t)).unwrap();
    assert!((f.median - 1e-4).abs() < 1e-12 && (f.min - 1e-4).abs() < 1e-12, "{f:?}");
    assert!((f.throughput / f.sender_throughput.unwrap() - 1.0).abs() < 1e-9);
    // A file of another program has no sender's time.
    t.report.seconds = 0.0;
    let f = of(&plan(Pattern::Stream), transport::tcp::NAME, &[t]).unwrap();
    assert!((f.median - 5e-7).abs() < 1e-12, "{f:?}");
}

#[test]
fn a_burst_counts_each_of_its_messages() {
    let mut t = trial(1, 500.0 * 3e-6);
    t.burst = 500;
    let f = of(&plan(Pattern::Burst), transport::tcp::NAME, &[t]).unwrap();
    assert!((f.median - 3e-6).abs() < 1e-12);
}

#[test]
fn loss_is_a_share_of_what_was_sent() {
    let mut t = trial(1, 20e-6);
    t.report.repeats = 90;
    t.report.lost = 10;
    assert!((of(&plan(Pattern::PingPong), transport::udp::NAME, &[t]).unwrap().loss - 0.1).abs() < 1e-12);
}

#[test]
fn half_of_a_stream_lost_is_half() {
    let mut t = trial(1, 0.0);
    let far =
        FarReport { seconds: 2e-4, bytes: 499_000, received: 500, lost: 500, reordered: 50, ..FarReport::default() };
    t.report = TrialReport { repeats: 1000, seconds: 1e-4, far, ..TrialReport::default() };
    let f = of(&plan(Pattern::Stream), transport::udp::NAME, &[t]).unwrap();
    assert_eq!((f.loss, f.reordering), (0.5, 0.05));
}

#[test]
fn half_of_the_answers_lost_is_half_though_every_request_arrived() {
    let mut t = trial(1, 20e-6);
    (t.report.repeats, t.report.lost, t.report.far.received) = (500, 500, 1000);
    assert_eq!(of(&plan(Pattern::PingPong), transport::udp::NAME, &[t]).unwrap().loss, 0.5);
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
    assert_eq!(of(&plan(Pattern::Stream), transport::udp::NAME, &[t]), None, "the sender's rate is not the path's");
}

#[test]
fn a_survey_on_one_connection_is_one_round() {
    let trials = [trial(0, 20e-6), trial(0, 20.1e-6), trial(0, 19.9e-6)];
    let f = of(&plan(Pattern::PingPong), transport::tcp::NAME, &trials).unwrap();
    assert_eq!((f.rounds, f.trials), (1, 3));
}

#[test]
fn warm_up_counts_only_while_there_is_nothing_better() {
    let mut warm = trial(0, 80e-6);
    warm.warmup = true;
    let p = plan(Pattern::PingPong);
    assert!(of(&p, transport::tcp::NAME, &[warm.clone()]).is_some());
    let f = of(&p, transport::tcp::NAME, &[warm, trial(1, 20e-6)]).unwrap();
    assert_eq!((f.trials, f.median), (1, 10e-6));
    assert!(of(&p, transport::tcp::NAME, &[]).is_none());
}

fn codes(plan: &Plan, trials: &[Trial]) -> Vec<String> {
    let figures = of(plan, transport::tcp::NAME, trials).unwrap();
    let points = [Judged { size: 1000, figures, trials, ended: Some(Why::Precision) }];
    warnings(plan, transport::tcp::NAME, &points, &Common::default(), None, Place::Unread)
        .into_iter()
        .map(|w| w.code)
        .collect()
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

/// Trials of 60 ms in chunks, of 60,000 round trips.
fn in_chunks(slower: f64, pauses: &[(u64, u64)]) -> Vec<Trial> {
    let each = |round| {
        let mut t = trial(round, 1e-6);
        t.report.repeats = 60_000;
        t.report.seconds = 60e-3 * slower;
        t.report.pauses = pauses.to_vec();
        t.report.max = pauses.iter().map(|p| p.1 as f64 * 1e-9 / 4.0).fold(2e-6, f64::max);
        t
    };
    (1..=7).map(each).collect()
}

#[test]
fn a_path_that_is_slower_for_a_while_did_not_stand_still() {
    let p = plan(Pattern::PingPong);
    assert!(codes(&p, &in_chunks(1.0 + 0.5 / 3.0, &[])).is_empty(), "a third of the time it was 1.5 times as slow");
    assert!(codes(&p, &in_chunks(1.2, &[(1000, 1_000_000); 12])).is_empty(), "none of them is long enough for a pause");
    let trials = in_chunks(1.2, &[(1000, 10_004_000)]);
    assert_eq!(codes(&p, &trials), ["closed-loop"]);
    let points =
        [Judged { size: 1000, figures: of(&p, transport::tcp::NAME, &trials).unwrap(), trials: &trials, ended: None }];
    let text = warnings(&p, transport::tcp::NAME, &points, &Common::default(), None, Place::Unread)[0].text.clone();
    assert!(text.contains("13.9% of the time, in 7 pauses of up to 10.0 ms"), "{text}");
}

/// Whoever took a share that is too small for the pauses is not their cause.
#[test]
fn who_took_too_little_for_the_pauses_is_not_named() {
    let p = plan(Pattern::PingPong);
    let mut trials: Vec<Trial> = (1..=7).map(|b| with_histogram(b, &[(20_000, 19_999), (400_000_000, 1)])).collect();
    // They stand still for half of the time.
    trials.iter_mut().for_each(|t| t.report.seconds = 0.8);
    let figures = of(&p, transport::tcp::NAME, &trials).unwrap();
    let points = [Judged { size: 1000, figures, trials: &trials, ended: None }];
    let said = |taken: Option<host::Taken>| {
        let all = warnings(&p, transport::tcp::NAME, &points, &Common::default(), taken, Place::Unread);
        all.into_iter().find(|w| w.code == "closed-loop").map_or(String::new(), |w| w.text)
    };
    let took = |processes: f64| Some(host::Taken { processes, ..host::Taken::default() });
    let little = said(took(0.06));
    assert!(little.contains("stood still for 50.0% of the time"), "{little}");
    assert!(little.contains("(nobody was found who took enough of the CPUs for it): "), "{little}");
    let much = said(took(0.44));
    assert!(
        much.contains("(likely cause: other processes, which took 44.0% of one CPU on the pinned CPUs): "),
        "{much}"
    );
    assert!(said(None).contains("(what others took of the CPUs is not known): "));
}

#[test]
fn the_cause_of_noise_is_not_the_connection_where_the_line_of_the_rounds_says_states() {
    let p = plan(Pattern::PingPong);
    let noisy = |points: &[Vec<Trial>], p: &Plan| {
        let common = common(points);
        let view: Vec<Judged<'_>> = points
            .iter()
            .map(|trials| {
                let figures =
                    figures::figures(p, transport::tcp::NAME, &trials.iter().collect::<Vec<_>>(), &common).unwrap();
                // As if the interval of each were wide.
                let figures = Figures { low: figures.median / 2.0, high: figures.median * 2.0, ..figures };
                Judged { size: trials[0].size, figures, trials, ended: None }
            })
            .collect();
        let all = warnings(p, transport::tcp::NAME, &view, &common, None, Place::Unread);
        let text = all.into_iter().find(|w| w.code == "noisy").map_or(String::new(), |w| w.text);
        (common.shared.moves.saw(common.shared.sigma), text)
    };
    // A round of 40 trials lasts 0.4 s.
    let round = |at: f64| ((at + 1e-9) / 0.4) as u64;
    let steady = |mut points: Vec<Vec<Trial>>| {
        points.iter_mut().flatten().for_each(|t| t.report.min = t.report.median * 0.99);
        points
    };
    let step = steady(run(5, 12, 0.02, |at| if round(at) > 5 { 1.5 } else { 1.0 }));
    let (saw, text) = noisy(&step, &p);
    assert_eq!(saw, stats::Saw::Outlasting);
    assert!(
        text.contains("; rounds went through states that last for some of them; the cause can't be told: no yard"),
        "{text}"
    );
    let turns = steady(run(5, 12, 0.02, |at| if round(at) % 2 == 1 { 1.35 } else { 1.0 }));
    let (saw, text) = noisy(&turns, &p);
    assert_eq!(saw, stats::Saw::Changing);
    assert!(text.contains("; whole rounds lie apart; the cause can't be told: no yardstick"), "{text}");
    let own = steady(run(5, 12, 0.02, |_| 1.0));
    let (saw, text) = noisy(&own, &p);
    assert_eq!(saw, stats::Saw::One);
    assert!(text.contains("each connection settles at a level of its own (placement"), "{text}");
    let (_, text) = noisy(&own[..2], &p);
    assert!(text.contains("so few sizes do not tell which"), "{text}");
    let mut whole = own.clone();
    for t in whole.iter_mut().flatten() {
        t.report.far = FarReport { seconds: t.report.seconds, bytes: 10_000, received: 11, ..FarReport::default() };
        t.report.median = 0.0;
    }
    let (_, text) = noisy(&whole, &plan(Pattern::Stream));
    assert!(text.contains("timed as a whole do not tell why"), "{text}");
}

#[test]
fn a_useless_figure_carries_a_warning_with_its_likely_cause() {
    let p = plan(Pattern::PingPong);
    let trials: Vec<Trial> = (1..=8).map(|b| trial(b, if b % 2 == 0 { 20e-6 } else { 40e-6 })).collect();
    let figures = of(&p, transport::tcp::NAME, &trials).unwrap();
    let points = [Judged { size: 1000, figures, trials: &trials, ended: Some(Why::Budget) }];
    let busy = host::Taken { processes: 0.5, ..host::Taken::default() };
    let all = warnings(&p, transport::tcp::NAME, &points, &Common::default(), Some(busy), Place::Unread);
    assert_eq!(all.iter().map(|w| w.code.as_str()).collect::<Vec<_>>(), ["cpu-interference", "noisy"]);
    let asked = Plan { precise: true, ..p.clone() };
    assert_eq!(
        warnings(&asked, transport::tcp::NAME, &points, &Common::default(), None, Place::Unread)
            .last()
            .map(|w| &w.code[..]),
        Some("not-converged")
    );
    let named = all[1].text.ends_with("likely cause: other processes, which took 50.0% of one CPU on the pinned CPUs");
    assert!(named, "{}", all[1].text);
}

/// 40 sizes in so many rounds in random order, a trial every 10 ms; `state` is how many times as long all takes at a moment.
fn run(seed: u64, rounds: u32, noise: f64, state: impl Fn(f64) -> f64) -> Vec<Vec<Trial>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut points: Vec<Vec<Trial>> = vec![Vec::new(); 40];
    let mut at = 0.0;
    for round in 1..=rounds {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.shuffle(&mut rng);
        for size in order {
            let normal: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            let time = 20e-6 * (1 + size) as f64 * state(at) * (noise * normal).exp();
            let mut t = trial(round, time);
            (t.at, t.size) = (at, 10 * (1 + size as u64));
            let ns = (time * 1e9) as u64;
            t.report.histogram = vec![(ns * 9 / 10, 20), (ns, 60), (ns * 11 / 10, 20)];
            points[size].push(t);
            at += 0.01;
        }
    }
    points
}

fn common(points: &[Vec<Trial>]) -> Common {
    Common::of(&plan(Pattern::PingPong), transport::tcp::NAME, Calibration::default(), points.iter().map(|p| &p[..]))
}

fn of_point(points: &[Vec<Trial>], place: usize) -> Figures {
    let trials: Vec<&Trial> = points[place].iter().collect();
    figures::figures(&plan(Pattern::PingPong), transport::tcp::NAME, &trials, &common(points)).unwrap()
}

#[test]
fn states_within_a_round_are_taken_off_the_trials() {
    let states = |at: f64| if (at / 0.13) as u64 % 2 == 1 { 1.5 } else { 1.0 };
    let points = run(8, 20, 0.03, states);
    let common = common(&points);
    let levelled = |p: &Vec<Trial>, common: &Common| {
        let times =
            figures::at_level(&plan(Pattern::PingPong), transport::tcp::NAME, &p.iter().collect::<Vec<_>>(), common);
        stats::variance(&times.iter().map(|t| t.ln()).collect::<Vec<_>>()).sqrt()
    };
    let typical = |common: &Common| stats::median(&points.iter().map(|p| levelled(p, common)).collect::<Vec<_>>());
    let (raw, levelled) = (typical(&Common::default()), typical(&common));
    assert!(raw > 0.18 && levelled < 0.12, "{raw} {levelled}");
    assert!(common.shared.sigma < 0.12, "{}", common.shared.sigma);
}

#[test]
fn the_survey_is_no_round() {
    let mut points = run(9, 8, 0.02, |_| 1.0);
    // Sizes that were looked at where the curve jumped, and that no round reached.
    for place in [3, 17, 31] {
        points[place].truncate(3);
        let slow = |t: &mut Trial| (t.round, t.warmup, t.report.median) = (0, true, t.report.median * 1.4);
        points[place].iter_mut().for_each(slow);
    }
    let common = common(&points);
    assert_eq!(common.levels().map(|(round, _)| round).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
    assert_eq!(common.shared.moves.rounds, 8);
    let f = of_point(&points, 3);
    assert_eq!((f.rounds, f.trials, f.high), (1, 3, f64::INFINITY), "it keeps its point, without an interval");
    assert_eq!(of_point(&points, 4).rounds, 8);
    // Nor are looks in four rounds.
    points[3] = (0..4).map(|b| Trial { round: b, warmup: true, ..points[3][0].clone() }).collect();
    assert_eq!((of_point(&points, 3).rounds, of_point(&points, 3).high), (1, f64::INFINITY));
}

#[test]
fn the_fiftieth_percentile_agrees_with_the_median_whatever_the_machine_did_and_the_tail_does_not_hide_it() {
    for seed in 0..10 {
        // States four times apart that last a second; each size is visited by half of the rounds.
        let phase = 0.13 * seed as f64;
        let mut points = run(seed, 30, 0.02, |at| if (at + phase) as u64 % 2 == 1 { 4.0 } else { 1.0 });
        for (place, p) in points.iter_mut().enumerate() {
            p.retain(|t| (t.round as usize * 7 + place * 5) % 11 < 5);
        }
        let mut slow = 0;
        for place in 0..points.len() {
            let f = of_point(&points, place);
            let p = f.percentiles.unwrap();
            assert_eq!(p.p50, f.median.min(p.max), "seed {seed}, {place}");
            assert!(p.p50 <= p.p90.unwrap() && p.p90 <= p.p99 && p.p99.unwrap() <= p.max, "{p:?}");
            slow += u32::from(p.p99.unwrap() > 3.0 * 10e-6 * (1 + place) as f64);
        }
        assert!(slow > 30, "seed {seed}: waits in the slow state are in {slow} of 40 tails");
    }
}

#[test]
fn a_machine_of_two_states_is_never_said_to_have_been_in_one() {
    for (seed, lasts) in (0..60).map(|seed| (seed, if seed % 2 == 0 { 0.5 } else { 1.0 })) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed + 5000);
        let (mut at, mut changes) = (0.0, Vec::new());
        while at < 13.0 {
            at -= lasts * (1.0 - rng.random::<f64>()).ln();
            changes.push(at);
        }
        let state = |at: f64| if changes.partition_point(|c| *c <= at).is_multiple_of(2) { 1.0 } else { 1.5 };
        let moves = common(&run(seed, 30, 0.03, state)).shared;
        assert_ne!(moves.moves.saw(moves.sigma), stats::Saw::One, "seed {seed}: states of {lasts} s: {moves:?}");
    }
}

fn with_histogram(round: u32, pairs: &[(u64, u64)]) -> Trial {
    let mut t = trial(round, 20e-6);
    t.report.repeats = pairs.iter().map(|(_, n)| n).sum();
    t.report.histogram = pairs.to_vec();
    t.report.median = {
        let mut all = stats::Histogram::new();
        all.add_pairs(pairs);
        all.quantile(0.5) as f64 * 1e-9
    };
    t.report.max = pairs.iter().map(|(ns, _)| *ns).max().unwrap() as f64 * 1e-9;
    t
}

#[test]
fn the_fiftieth_percentile_is_the_median_and_no_more_than_the_longest() {
    let p = plan(Pattern::PingPong);
    // Pooled, nine of ten iterations took 20 us; the median over the trials lies elsewhere.
    let trials =
        [with_histogram(1, &[(20_000, 900)]), with_histogram(1, &[(90_000, 100)]), with_histogram(1, &[(80_000, 10)])];
    let found = of(&p, transport::tcp::NAME, &trials).unwrap();
    let told = found.percentiles.unwrap();
    assert_eq!(told.p50, found.median);
    assert!(told.p50 > 35e-6 && told.p90.unwrap() >= told.p50 && told.max >= told.p99.unwrap(), "{told:?}");
    // A median that the run's level puts above all that was seen.
    for (seed, place) in (0..10).flat_map(|seed| (0..40).map(move |place| (seed, place))) {
        let mut points = run(seed, 30, 0.02, |at| if at as u64 % 2 == 1 { 4.0 } else { 1.0 });
        points[place].truncate(1 + seed as usize % 3);
        let told = of_point(&points, place).percentiles.unwrap();
        let all = [Some(told.p50), told.p90, told.p99, told.p999, Some(told.max)];
        assert!(all.iter().flatten().is_sorted(), "{seed}, {place}: {told:?}");
    }
}

#[test]
fn whoever_asks_for_a_percentile_gets_that_of_the_row() {
    let p = plan(Pattern::PingPong);
    let trials = [
        with_histogram(1, &[(20_000, 9000), (50_000, 1000)]),
        with_histogram(2, &[(40_000, 60), (90_000, 40)]),
        with_histogram(3, &[(30_000, 99), (300_000, 1)]),
    ];
    let row = of(&p, transport::tcp::NAME, &trials).unwrap().percentiles.unwrap();
    let all: Vec<&Trial> = trials.iter().collect();
    let singles = figures::Singles::of(&p, transport::tcp::NAME, &all, &Common::default()).unwrap();
    let asked = |q: f64| singles.at(q).map(|found| found.0);
    assert_eq!([asked(0.5), asked(0.9), asked(0.99), asked(0.999)], [Some(row.p50), row.p90, row.p99, row.p999]);
    assert_eq!(asked(1.0), Some(row.max));
    // Pooled, a tenth of all took longer than 40 us; of three rounds that weigh alike a sixth did.
    assert!((singles.beyond(40.5e-6 / 2.0) - (0.1 + 0.4 + 0.01) / 3.0).abs() < 1e-9, "{}", singles.beyond(20.25e-6));
    let every: Vec<f64> = (1..=1000).filter_map(|n| asked(f64::from(n) / 1000.0)).collect();
    assert!(every.is_sorted() && every.iter().all(|t| *t <= row.max), "{every:?}");
    // So few that none may lie beyond.
    assert_eq!(asked(0.99999), None);
    // So few that none may lie below: the shortest is not that percentile.
    let hundred = with_histogram(1, &(1..=100).map(|i| (i * 1000, 1)).collect::<Vec<_>>());
    let few = figures::Singles::of(&p, transport::tcp::NAME, &[&hundred], &Common::default()).unwrap();
    let told = [0.0, 0.001, 0.009, 0.01, 0.99, 0.991].map(|q| few.at(q).is_some());
    assert_eq!(told, [true, false, false, true, true, false]);
}

#[test]
fn a_percentile_has_the_interval_that_its_rounds_tell() {
    let p = plan(Pattern::PingPong);
    let round = |(n, scale): (u32, u64)| with_histogram(n, &(1..=1000).map(|i| (i * scale, 1)).collect::<Vec<_>>());
    let at = |trials: &[Trial], q: f64| {
        let all: Vec<&Trial> = trials.iter().collect();
        figures::Singles::of(&p, transport::tcp::NAME, &all, &Common::default()).unwrap().at(q)
    };
    let six: Vec<Trial> = [(1, 90), (2, 100), (3, 110), (4, 100), (5, 95), (6, 105)].map(round).to_vec();
    let (value, told) = at(&six, 0.99).unwrap();
    // Most of what lies beyond is in the slowest round: another one may be slower.
    assert!(told.low < value && told.low >= 42e-6 && told.high.is_infinite(), "{value} {told:?}");
    let sixty: Vec<Trial> = (0..60).map(|n| Trial { round: n + 1, ..six[n as usize % 6].clone() }).collect();
    let (value, told) = at(&sixty, 0.99).unwrap();
    assert!(told.low < value && value < told.high && told.low >= 48e-6 && told.high <= 60e-6, "{value} {told:?}");
    for few in 1..4 {
        assert_eq!(at(&six[..few], 0.9).unwrap().1.high, f64::INFINITY, "{few}");
    }
    let (longest, told) = at(&six, 1.0).unwrap();
    assert_eq!((longest, told.low, told.high), (55e-6, 55e-6, f64::INFINITY));
}

#[test]
fn intervals_of_percentiles_hold_the_machines_own() {
    let p = plan(Pattern::PingPong);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut normal = move || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    // Rounds 3% apart of iterations 10% apart: together normal, about 1 ms.
    for (rounds, iterations) in [(30, 400), (30, 110), (9, 400)] {
        for (q, z) in [(0.9, 1.2816), (0.99, 2.3263)] {
            let truth = 0.5e-3 * (z * (0.03f64.powi(2) + 0.1f64.powi(2)).sqrt()).exp();
            let (mut held, mut wide) = (0, Vec::new());
            for _ in 0..200 {
                let trials: Vec<Trial> = (1..=rounds)
                    .map(|round| {
                        let level = 0.03 * normal();
                        let mut times: Vec<(u64, u64)> =
                            (0..iterations).map(|_| ((1e6 * (level + 0.1 * normal()).exp()) as u64, 1)).collect();
                        times.sort_unstable();
                        with_histogram(round, &times)
                    })
                    .collect();
                let all: Vec<&Trial> = trials.iter().collect();
                let singles = figures::Singles::of(&p, transport::tcp::NAME, &all, &Common::default()).unwrap();
                let (value, told) = singles.at(q).unwrap();
                held += u32::from(told.contains(truth));
                wide.push((told.high - told.low) / value);
            }
            let wide = stats::median(&wide);
            assert!(held >= 184, "{rounds} rounds of {iterations}, {q}: {held} of 200");
            assert!(wide < 0.3, "{rounds} rounds of {iterations}, {q}: {wide}");
        }
    }
}

#[test]
fn of_a_soak_each_iteration_weighs_alike_and_not_each_interval() {
    let soak = Plan { schedule: Schedule::Soak, every: Some(1.0), ..plan(Pattern::PingPong) };
    // An interval in which the path stood still has few: 20 of 590,020 took 50 ms.
    let mut trials: Vec<Trial> = (1..60).map(|round| with_histogram(round, &[(20_000, 10_000)])).collect();
    trials.push(with_histogram(60, &[(50_000_000, 20)]));
    let told = of(&soak, transport::tcp::NAME, &trials).unwrap().percentiles.unwrap();
    assert!([told.p99, told.p999].iter().all(|p| p.is_some_and(|p| (p / 10e-6 - 1.0).abs() < 0.01)), "{told:?}");
    assert_eq!(told.max, 25e-3);
    let all: Vec<&Trial> = trials.iter().collect();
    let singles = figures::Singles::of(&soak, transport::tcp::NAME, &all, &Common::default()).unwrap();
    assert!((singles.beyond(1e-3) - 20.0 / 590_020.0).abs() < 1e-9, "{}", singles.beyond(1e-3));
    // Rounds of a run still do.
    let told = of(&plan(Pattern::PingPong), transport::tcp::NAME, &trials).unwrap().percentiles.unwrap();
    assert!(told.p99.is_some_and(|p| p > 20e-3), "{told:?}");
}

/// A closed loop does fewer iterations in an interval in which they take longer, and neighbouring intervals are alike.
#[test]
fn intervals_of_a_soaks_percentiles_hold_those_of_its_iterations() {
    let soak = Plan { schedule: Schedule::Soak, every: Some(1.0), ..plan(Pattern::PingPong) };
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut normal = move || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    const APART: f64 = 0.3;
    for (intervals, rho) in [(60, 0.0), (60, 0.5), (240, 0.5)] {
        for (q, z) in [(0.9, 1.2816), (0.99, 2.3263)] {
            // Levels weighed by their iterations lie that much lower.
            let truth = 0.5e-3 * (-APART * APART + z * f64::hypot(APART, 0.1)).exp();
            let (mut held, mut open) = (0, 0);
            for _ in 0..100 {
                let mut level = APART * normal();
                let trials: Vec<Trial> = (1..=intervals)
                    .map(|round| {
                        level = rho * level + f64::sqrt(1.0 - rho * rho) * APART * normal();
                        let many = (40.0 * (-level).exp()).round().max(1.0) as usize;
                        let mut times: Vec<(u64, u64)> =
                            (0..many).map(|_| ((1e6 * (level + 0.1 * normal()).exp()) as u64, 1)).collect();
                        times.sort_unstable();
                        with_histogram(round, &times)
                    })
                    .collect();
                let all: Vec<&Trial> = trials.iter().collect();
                let singles = figures::Singles::of(&soak, transport::tcp::NAME, &all, &Common::default()).unwrap();
                let told = singles.at(q).unwrap().1;
                held += u32::from(told.contains(truth));
                open += u32::from(told.high.is_infinite());
            }
            println!("{intervals} intervals, {rho}, {q}: {held} of 100 hold, {open} without an upper end");
            assert!(held >= 90, "{intervals} intervals, {rho}, {q}: {held} of 100");
        }
    }
}

/// Rounds of iterations, each at a level of its own and, where `apart`, with a noise of its own as well: a tenth either way.
fn levels_and_iterations(rng: &mut ChaCha8Rng, rounds: u32, iterations: usize, apart: bool) -> Vec<Trial> {
    let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let mut round = |number: u32| {
        let level = 0.1 * normal();
        let mut one = || (1e6 * (if apart { 0.3 * level + 0.1 * normal() } else { level }).exp()) as u64;
        if !apart {
            return with_histogram(number, &[(one(), iterations as u64)]);
        }
        let mut times: Vec<(u64, u64)> = (0..iterations).map(|_| (one(), 1)).collect();
        times.sort_unstable();
        with_histogram(number, &times)
    };
    (1..=rounds).map(&mut round).collect()
}

#[test]
fn iterations_that_are_alike_in_their_round_count_as_one() {
    let p = plan(Pattern::PingPong);
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for (rounds, q, z) in
        [(9, 0.9, 1.2816), (30, 0.9, 1.2816), (9, 0.99, 2.3263), (30, 0.99, 2.3263), (60, 0.9, 1.2816)]
    {
        let truth = 0.5e-3 * f64::exp(z * 0.1);
        let (mut held, mut open) = (0, 0);
        for _ in 0..200 {
            let trials = levels_and_iterations(&mut rng, rounds, 400, false);
            let all: Vec<&Trial> = trials.iter().collect();
            let told =
                figures::Singles::of(&p, transport::tcp::NAME, &all, &Common::default()).unwrap().at(q).unwrap().1;
            held += u32::from(told.contains(truth));
            open += u32::from(told.high.is_infinite());
        }
        println!("{rounds} rounds, {q}: {held} of 200 hold, {open} without an upper end");
        assert!(held >= 184, "{rounds} rounds, {q}: {held} of 200");
        // Of 30 rounds none lies beyond the true p90 in 4 of 100 runs.
        assert!(rounds == 60 || open >= 190, "{rounds} rounds, {q}: {open} of 200");
    }
}

#[test]
fn a_percentile_is_no_surer_than_the_clock_that_timed_it() {
    let p = plan(Pattern::PingPong);
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let clock = Calibration { clock_cost_ns: 25.0, clock_step_ns: 500_000.0, loop_cost_ns: 2.0 };
    let mut trials = levels_and_iterations(&mut rng, 30, 100, true);
    for t in &mut trials {
        // Readings of a clock whose step is half of what is timed.
        t.report.histogram.iter_mut().for_each(|(ns, _)| *ns = ((*ns as f64 / 5e5).round() * 5e5) as u64);
        (t.report.median, t.report.max) = (1e-3, 1.5e-3);
    }
    let all: Vec<&Trial> = trials.iter().collect();
    let common = Common::of(&p, transport::tcp::NAME, clock, [&trials[..]].into_iter());
    let (value, told) = figures::Singles::of(&p, transport::tcp::NAME, &all, &common).unwrap().at(0.9).unwrap();
    let truth = 0.5e-3 * f64::exp(1.2816 * 0.1 * 1.09f64.sqrt());
    assert!((value / 0.5e-3 - 1.0).abs() < 1e-6 && told.contains(truth), "{value}: {told:?}, {truth}");
}

#[test]
fn a_slow_state_that_a_size_missed_and_its_neighbours_met_lies_beyond_its_tail() {
    let p = plan(Pattern::PingPong);
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    // One trial in eight of the other sizes is half as long again, and none of the first.
    let points: Vec<Vec<Trial>> = (0..9)
        .map(|place| {
            let mut trials = levels_and_iterations(&mut rng, 30, 100, true);
            for (t, i) in trials.iter_mut().zip(0..) {
                (t.size, t.at) = (64 + place, f64::from(i) + 0.1 * place as f64);
                if place > 0 && (i + place as i32) % 8 == 0 {
                    t.report.histogram.iter_mut().for_each(|(ns, _)| *ns = *ns * 3 / 2);
                    (t.report.median, t.report.max) = (t.report.median * 1.5, t.report.max * 1.5);
                }
            }
            trials
        })
        .collect();
    let all: Vec<&Trial> = points[0].iter().collect();
    let told =
        |common: &Common| figures::Singles::of(&p, transport::tcp::NAME, &all, common).unwrap().at(0.9).unwrap().1;
    let (alone, beside) = (told(&Common::default()), told(&common(&points)));
    assert!(alone.high < 0.7e-3 && beside.high.is_infinite(), "{alone:?} {beside:?}");
    assert_eq!(alone.low, beside.low);
}

#[test]
fn percentiles_need_enough_iterations() {
    let p = plan(Pattern::PingPong);
    for (n, told) in [(9, 0), (10, 1), (99, 1), (100, 2), (999, 2), (1000, 3)] {
        let found = of(&p, transport::tcp::NAME, &[with_histogram(1, &[(20_000, n)])]).unwrap().percentiles.unwrap();
        assert_eq!([found.p90, found.p99, found.p999].iter().flatten().count(), told, "{n} iterations: {found:?}");
    }
}

#[test]
fn each_round_weighs_alike_however_many_iterations_it_timed_and_nothing_lies_above_the_longest() {
    let p = plan(Pattern::PingPong);
    // Two rounds of few slow iterations against one of many fast ones.
    let trials =
        [with_histogram(1, &[(20_000, 9000)]), with_histogram(2, &[(40_000, 10)]), with_histogram(3, &[(40_000, 10)])];
    let found = of(&p, transport::tcp::NAME, &trials).unwrap().percentiles.unwrap();
    assert!((found.p50 / 20e-6 - 1.0).abs() < 0.01, "{found:?}");
    // A bucket's middle lies above what was timed in it.
    let mut one = with_histogram(1, &[(20_000, 2000)]);
    one.report.max = 19.95e-6;
    let found = of(&p, transport::tcp::NAME, &[one]).unwrap().percentiles.unwrap();
    assert_eq!((found.max, found.p999), (19.95e-6 / 2.0, Some(found.max)));
    assert!(found.p50 <= found.max, "{found:?}");
}

#[test]
fn an_interval_is_no_narrower_than_the_clock_allows() {
    let p = plan(Pattern::PingPong);
    let coarse = Calibration { clock_cost_ns: 25.0, clock_step_ns: 10_000.0, loop_cost_ns: 2.0 };
    let figures = |points: &[Vec<Trial>], clock: Calibration| {
        let common = Common::of(&p, transport::tcp::NAME, clock, points.iter().map(|p| &p[..]));
        let of = |t: &Vec<Trial>| {
            figures::figures(&p, transport::tcp::NAME, &t.iter().collect::<Vec<_>>(), &common).unwrap()
        };
        points.iter().map(of).collect::<Vec<_>>()
    };
    // Round trips of 16 to 24 us, read by a clock that steps by 10 us: all of them read 20 us.
    let points: Vec<Vec<Trial>> = (0..9)
        .map(|place| {
            (1..=12)
                .map(|b| Trial {
                    at: f64::from(b) + 0.01 * place as f64,
                    size: 10 + place,
                    ..with_histogram(b, &[(20_000, 5)])
                })
                .collect()
        })
        .collect();
    for (place, f) in figures(&points, coarse).into_iter().enumerate() {
        let truth = (16.0 + place as f64) / 2.0 * 1e-6;
        assert!(f.low <= truth && truth <= f.high && f.reach() < 0.3, "{truth}: [{}, {}]", f.low, f.high);
    }
    let fine = Calibration { clock_step_ns: 1.0, ..coarse };
    assert!(figures(&points, fine).iter().all(|f| f.reach() < 1e-3));
    // Noise of several steps is rounded another way each time, and its spread tells the error.
    let noisy = run(4, 12, 0.3, |_| 1.0);
    let small = Calibration { clock_step_ns: 1000.0, ..coarse };
    let widths = |clock| figures(&noisy, clock).iter().map(Figures::reach).collect::<Vec<_>>();
    assert_eq!(widths(small), widths(fine));
}

#[test]
fn the_warning_and_the_line_of_the_rounds_say_the_same() {
    let found = |state: &dyn Fn(f64) -> f64, noise: f64| common(&run(5, 12, noise, state));
    let said = |state: &dyn Fn(f64) -> f64, noise: f64| {
        unsteady(&found(state, noise), transport::tcp::NAME, None, Place::Unread).map(|w| w.text)
    };
    // A round of 40 trials lasts 0.4 s.
    let round = |at: f64| ((at + 1e-9) / 0.4) as u64;
    assert_eq!(said(&|_| 1.0, 0.02), None);
    let turns = said(&|at| if round(at) % 2 == 1 { 1.35 } else { 1.0 }, 0.02).unwrap();
    assert!(turns.contains("changed its speed from round to round") && !turns.contains("stands for no single one"));
    let step = said(&|at| if round(at) > 5 { 1.5 } else { 1.0 }, 0.02).unwrap();
    assert!(step.contains("one median stands for no single one") && step.contains("1.5"), "{step}");
    let lone = said(&|at| if round(at) == 5 { 10.0 } else { 1.0 }, 0.02).unwrap();
    assert!(lone.contains("round 6 took") && lone.contains("all other rounds lie near each other"), "{lone}");
    // Others are named where they took enough for it, and not where they took less.
    let taken = |processes: f64| Some(host::Taken { processes, ..host::Taken::default() });
    let beside = |share: f64| {
        let moved = found(&|at| if round(at) > 5 { 1.5 } else { 1.0 }, 0.02);
        unsteady(&moved, transport::tcp::NAME, taken(share), Place::Unread).unwrap().text
    };
    let said = beside(0.44);
    assert!(said.contains("likely cause: other processes, which took 44.0%") && !said.contains("told"), "{said}");
    assert!(beside(0.06).contains("can't be told") && beside(0.06).contains("nobody was found"), "{}", beside(0.06));
    // The modelled link has no machine behind it.
    let modelled = unsteady(
        &found(&|at| if round(at) > 5 { 1.5 } else { 1.0 }, 0.02),
        transport::theory::NAME,
        None,
        Place::Unread,
    )
    .unwrap()
    .text;
    assert!(modelled.contains("the modelled link changed its state") && !modelled.contains("machine"), "{modelled}");
    // Noise of single sizes, so wide that some rounds lie a quarter apart by chance: one state, and no word.
    let wide = common(&run(5, 30, 1.2, |_| 1.0));
    let apart = wide.levels().map(|(_, l)| l).fold(f64::NEG_INFINITY, f64::max)
        - wide.levels().map(|(_, l)| l).fold(f64::INFINITY, f64::min);
    assert!(apart > 0.25 && wide.shared.moves.saw(wide.shared.sigma) == stats::Saw::One, "{apart}");
    assert_eq!(unsteady(&wide, transport::tcp::NAME, None, Place::Unread), None);
}

/// Rounds whose far process is slow by a factor of its own, beside a machine that stands still, and beside one that follows them.
#[test]
fn all_warnings_of_rounds_that_lie_apart_place_them_where_the_yardsticks_do() {
    let (p, kind) = (plan(Pattern::PingPong), transport::exec::NAME);
    let factor = |round: usize| [1.0, 2.2, 1.6][round % 3];
    // A round of 40 trials lasts 0.4 s.
    let mut points = run(5, 12, 0.02, |at| factor(((at + 1e-9) / 0.4) as usize));
    points.iter_mut().flatten().for_each(|t| t.report.min = t.report.median * 0.99);
    let common = common(&points);
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut read = |of: &dyn Fn(usize) -> f64| -> Vec<RoundOpened> {
        let mut noise = || 1.0 + 0.1 * (rng.random::<f64>() - 0.5);
        let reading = |round: u32| {
            let slow = of(round as usize - 1);
            let calibration = MachineCalibration { wake: 1e-5 * slow * noise(), line: None, copy: 2e-6 * noise() };
            RoundOpened { round, calibration: Some(calibration), ..RoundOpened::default() }
        };
        (1..=12).map(reading).collect()
    };
    let said = |opened: &[RoundOpened], processes: f64| {
        let place = Place::of(kind, &common, opened);
        let taken = Some(host::Taken { processes, ..host::Taken::default() });
        let judged = |trials: &Vec<Trial>| {
            let figures = figures::figures(&p, kind, &trials.iter().collect::<Vec<_>>(), &common).unwrap();
            // As if the interval of each were wide.
            let figures = Figures { low: figures.median * 0.85, high: figures.median * 1.15, ..figures };
            (trials[0].size, figures)
        };
        let figures: Vec<(u64, Figures)> = points.iter().map(judged).collect();
        let view: Vec<Judged<'_>> = (figures.iter().zip(&points))
            .map(|((size, figures), trials)| Judged { size: *size, figures: *figures, trials, ended: None })
            .collect();
        let noisy = warnings(&p, kind, &view, &common, taken, place).into_iter().find(|w| w.code == "noisy");
        [noisy.unwrap().text, unsteady(&common, kind, taken, place).unwrap().text]
    };
    let (still, follows) = (read(&|_| 1.0), read(&factor));
    let all = [
        (
            &still[..],
            0.06,
            "likely cause: the connection or the far process, which each round has anew, since the machine's yardsticks",
        ),
        (&follows[..], 0.06, "likely cause: the machine changed its speed, as its wake-up round trip, read"),
        (&still[..3], 0.06, "the cause can't be told: 12 rounds do not tell whether the machine's yardsticks"),
        (&[], 0.06, "the cause can't be told: no yardstick of the machine was read"),
        (&still[..], 0.44, "likely cause: other processes, which took 44.0% of one CPU"),
    ];
    for (opened, taken, cause) in all {
        for text in said(opened, taken) {
            assert!(text.contains(cause) && text.matches("likely cause").count() < 2, "{cause}: {text}");
            assert_eq!(text.contains("nobody was found who took enough of the CPUs for it"), taken < 0.1, "{text}");
            assert_eq!(text.contains("virtual CPUs"), cause.contains("the machine changed"), "{text}");
        }
    }
    assert!(said(&still, 0.0)[1].contains("read before each round, stood still"));
}

#[test]
fn a_round_of_two_trials_tells_nothing_of_the_machine() {
    let mut points = run(5, 12, 0.02, |_| 1.0);
    // The last two rounds have two trials each, which were stopped.
    for (place, trials) in points.iter_mut().enumerate() {
        for t in trials.iter_mut().filter(|t| t.round > 10) {
            t.report.median *= 3.0;
        }
        trials.retain(|t| t.round <= 10 || place < 2);
    }
    let common = common(&points);
    assert_eq!((common.levels().count(), common.shared.moves.rounds), (10, 10));
    assert_eq!(unsteady(&common, transport::tcp::NAME, None, Place::Unread), None);
    assert!(common.level(12) > 1.0, "the trials of such a round are still brought to the level of the others");
}

#[test]
fn why_long_trials_differ_is_said_on_evidence() {
    let p = plan(Pattern::PingPong);
    let kept = |ratio: f64, by: f64| Sustained {
        size: 64,
        trials: 2,
        lasted: 0.4,
        shortest: 0.35,
        seconds: 1e-5 * ratio,
        throughput: 1e8,
        ratio,
        low: ratio / by,
        high: ratio * by,
        short_mean: 1.05,
        clock: None,
    };
    let said = |ratio, taken| burst(&p, &[kept(ratio, 1.2)], taken).map_or(String::new(), |w| w.text);
    assert_eq!(burst(&p, &[kept(1.2, 1.3), kept(1.0, 1.01)], None), None);
    let quiet = host::Taken { throttled: Some(0), throttled_share: Some(0.0), ..host::Taken::default() };
    let busy = host::Taken { processes: 1.71, ..quiet };
    let quota = host::Taken { throttled: Some(12), throttled_share: Some(0.5), ..busy };
    assert!(
        said(2.0, Some(busy))
            .ends_with("likely cause: other processes, which took 171.0% of one CPU on the pinned CPUs")
    );
    assert!(said(2.0, Some(quota)).contains("likely cause: the control group's CPU quota"));
    assert!(
        said(2.0, Some(quiet))
            .ends_with("a boosted clock or a shaper may be the cause; neither was seen, and no quota stopped the run")
    );
    assert!(said(2.0, None).contains("a CPU quota, a boosted clock or a shaper may be the cause; none was seen"));
    assert!(said(0.5, Some(quiet)).contains("may come up to speed only after a while"));
    assert!(said(2.0, Some(busy)).starts_with("sustained is not burst"));
    let stopped = Sustained { short_mean: 1.9, ..kept(2.0, 1.2) };
    let text = burst(&p, &[stopped], Some(busy)).map_or(String::new(), |w| w.text);
    let at = |clock| Sustained { clock: Some(clock), ..kept(1.3, 1.1) };
    let of = |clock, taken| burst(&p, &[at(clock)], taken).map_or(String::new(), |w| w.text);
    let boosted = of((3.9e9, 3.1e9), Some(busy));
    assert!(
        boosted.contains("a boosted clock: the near side's CPU ran at 3.90 GHz in short trials and at 3.10 GHz"),
        "{boosted}"
    );
    assert!(of((3.9e9, 3.1e9), Some(quota)).contains("CPU quota"), "a quota strikes long trials alone");
    assert!(of((3.1e9, 3.1e9), Some(quiet)).ends_with("and the CPU's clock was as fast in both"));
    assert!(text.starts_with("the median is not the mean") && text.contains("take 1.90 times their median"), "{text}");
    let half = Sustained { clock: Some((4e9, 3e9)), ..kept(2.0, 1.2) };
    let text = burst(&p, std::slice::from_ref(&half), Some(quiet)).map_or(String::new(), |w| w.text);
    assert!(text.contains("at 4.00 GHz in short trials and at 3.00 GHz in long ones"), "{text}");
    assert!(text.contains("which does not explain it") && !text.contains("as fast in both"), "{text}");
    let hardly = host::Taken { throttled: Some(40), throttled_share: Some(0.009), ..quiet };
    let text = burst(&p, &[half], Some(hardly)).map_or(String::new(), |w| w.text);
    assert!(!text.contains("no quota stopped") && text.contains("quota kept 0.90% of one CPU"), "{text}");
    let steal = host::Taken { processes: 1.71, steal: 0.06, ..quiet };
    assert!(said(2.0, Some(steal)).contains("likely cause: other processes"), "who took most");
    let little = host::Taken { steal: 0.06, ..quiet };
    assert!(
        said(2.0, Some(little))
            .contains("the hypervisor kept 6.0% of one CPU of the pinned CPUs (steal), too little for it")
    );
}

#[test]
fn a_ratio_whose_interval_is_too_wide_for_a_figure_is_told_by_the_end_that_is_known() {
    let kept = |ratio, low, high| Sustained {
        size: 64,
        trials: 2,
        lasted: 0.4,
        shortest: 0.35,
        seconds: 1e-5,
        throughput: 1e8,
        ratio,
        low,
        high,
        short_mean: 1.05,
        clock: None,
    };
    let said = |s| burst(&plan(Pattern::PingPong), &[s], None).map_or(String::new(), |w| w.text);
    assert!(said(kept(2.0, 1.8, 2.2)).contains("take 2.00 [1.80, 2.20] times as long"));
    let wide = said(kept(5.0, 1.2, 900.0));
    assert!(wide.contains("take at least 1.20 times as long") && !wide.contains("900"), "{wide}");
    let slow = said(kept(0.2, 0.001, 0.8));
    assert!(slow.contains("take at most 0.80 times as long"), "{slow}");
}
