//! Runs whose machine changes without any period, and runs with a stop that comes back.

use model::{Jitter, Moment, Source};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stats::normal;

/// How the level of a machine moves.
#[derive(Debug, Clone, Copy)]
enum Machine {
    Calm,
    /// Half as slow again for stretches of about so long, seconds, half of the time.
    States(f64),
    /// A random walk of so much in a second.
    Walk(f64),
    /// A straight drift of so much over the run, or a quarter of a sine.
    Drift(f64),
    Quarter(f64),
    /// First-order from trial to trial.
    Red(f64),
    /// First-order from round to round.
    Rounds(f64),
    /// The sum of five processes, each ten times slower than the last: about 1/f.
    Flicker,
    /// A swing of 10% that comes back after so long, seconds, and forgets its phase after so many turns; a clock's never.
    Swing(f64, f64),
}

const RESTLESS: [Machine; 16] = [
    Machine::Calm,
    Machine::States(0.02),
    Machine::States(0.1),
    Machine::States(0.5),
    Machine::States(5.0),
    Machine::Walk(0.05),
    Machine::Walk(0.3),
    Machine::Drift(0.1),
    Machine::Quarter(0.1),
    Machine::Red(0.5),
    Machine::Red(0.8),
    Machine::Red(0.95),
    Machine::Rounds(0.5),
    Machine::Rounds(0.95),
    Machine::Flicker,
    Machine::Walk(0.01),
];

/// When trials run.
#[derive(Debug, Clone, Copy)]
enum Schedule {
    /// Of 1 to 8 ms, in ten rounds.
    Uneven,
    /// Of 8 ms each, to 2%, in thirty rounds that open with a gap of 10 ms.
    Even,
    /// The same, in turns with two other paths.
    Turns,
    /// Of 1 to 3 ms with gaps of 0.3 to 0.8 ms, in thirty rounds: a default run of 155 sizes.
    Short,
}

/// What comes with the trials and the machine beside its level.
#[derive(Debug, Clone, Copy)]
struct Extra {
    /// A stop of so long every so many seconds.
    stop: Option<(f64, f64)>,
    /// Short pauses at random, a second.
    random: f64,
    /// Each trial begins with a pause; the first of a round is slow as a whole.
    opening: bool,
}

const NONE: Extra = Extra { stop: None, random: 20.0, opening: false };

fn run(seed: u64, machine: Machine, schedule: Schedule, extra: Extra, total: f64) -> Vec<Moment> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let phase: f64 = rng.random();
    let (mut at, mut all, mut round, mut of_round) = (0.3, Vec::new(), 0, 0.0);
    let (mut slow, mut walk, mut red, mut five, mut before) = (false, 0.0, normal(&mut rng), [0.0; 5], 0.0);
    five.iter_mut().for_each(|f| *f = normal(&mut rng));
    let mut swing = [normal(&mut rng), normal(&mut rng)];
    let rounds = if matches!(schedule, Schedule::Uneven) { 10.0 } else { 30.0 };
    let mut first = true;
    while at < total {
        let size = 1u64 << rng.random_range(0..12);
        let mut lasted = match schedule {
            Schedule::Uneven => 0.001 + 0.007 * rng.random::<f64>(),
            Schedule::Short => 0.001 + 0.002 * rng.random::<f64>(),
            _ => 0.008 * (1.0 + 0.02 * normal(&mut rng)),
        };
        let iteration = 5e-6 * (1.0 + size as f64 / 500.0);
        let gone: f64 = at - before;
        before = at;
        let level = match machine {
            Machine::Calm => 0.0,
            Machine::States(long) => {
                if rng.random::<f64>() < 1.0 - (-gone / long).exp() {
                    slow = rng.random();
                }
                if slow { 0.4 } else { 0.0 }
            }
            Machine::Walk(a_second) => {
                walk += a_second * gone.sqrt() * normal(&mut rng);
                walk
            }
            Machine::Drift(all) => all * at / total,
            Machine::Quarter(all) => all * (at / total * std::f64::consts::FRAC_PI_2).sin(),
            Machine::Red(r) => {
                red = r * red + (1.0 - r * r).sqrt() * normal(&mut rng);
                0.1 * red
            }
            Machine::Rounds(r) => {
                if first {
                    red = r * red + (1.0 - r * r).sqrt() * normal(&mut rng);
                }
                0.1 * red
            }
            Machine::Flicker => {
                for (f, long) in five.iter_mut().zip([0.005, 0.05, 0.5, 5.0, 50.0]) {
                    let kept = (-gone / f64::from(long as f32)).exp();
                    *f = kept * *f + (1.0 - kept * kept).sqrt() * normal(&mut rng);
                }
                0.05 * five.iter().sum::<f64>()
            }
            Machine::Swing(long, turns) => {
                let kept = if turns.is_finite() { (-gone / (long * turns)).exp() } else { 1.0 };
                let new = (1.0 - kept * kept).sqrt();
                let (sin, cos) = (std::f64::consts::TAU * gone / long).sin_cos();
                let [x, y] = swing;
                swing = [
                    kept * (cos * x - sin * y) + new * normal(&mut rng),
                    kept * (sin * x + cos * y) + new * normal(&mut rng),
                ];
                0.1 * swing[0]
            }
        };
        let mut pauses: Vec<(f64, f64)> = Vec::new();
        if extra.opening {
            pauses.push((at + 2e-5 * rng.random::<f64>(), 1e-4));
        }
        if let Some((period, long)) = extra.stop {
            let mut k = (at / period - phase).ceil();
            while (k + phase) * period < at + lasted {
                // What is seen of it is the iteration that it fell into.
                pauses.push(((k + phase) * period, long + iteration * (1.0 + rng.random::<f64>())));
                lasted += long;
                k += 1.0;
            }
        }
        let mut next = at;
        loop {
            next += -(1.0 - rng.random::<f64>()).ln() / extra.random.max(1e-9);
            if next >= at + lasted {
                break;
            }
            pauses.push((next, 3e-5 * (1.0 - rng.random::<f64>()).powf(-0.7)));
        }
        pauses.sort_by(|a, b| a.0.total_cmp(&b.0));
        let opening = if extra.opening && first { 0.3 } else { 0.0 };
        first = false;
        all.push(Moment {
            size,
            round,
            at,
            lasted,
            seconds: iteration * (level + opening + 0.03 * normal(&mut rng)).exp(),
            slow: (pauses.len() as u64, (lasted / iteration) as u64),
            pauses: pauses.iter().map(|p| p.0).collect(),
            lengths: pauses.iter().map(|p| p.1).collect(),
        });
        at += lasted
            + if matches!(schedule, Schedule::Uneven | Schedule::Short) {
                0.0003 + 0.0005 * rng.random::<f64>()
            } else {
                0.0005
            };
        of_round += lasted + 0.0005;
        let turn = if matches!(schedule, Schedule::Turns) { total / rounds / 3.0 } else { total / rounds };
        if of_round >= turn {
            (round, of_round, first) = (round + 1, 0.0, true);
            at += if matches!(schedule, Schedule::Turns) { 2.0 * turn } else { 0.01 };
        }
    }
    all
}

#[test]
fn a_restless_machine_has_no_period_and_the_runs_own_rhythm_is_none() {
    let (mut named, mut all) = (Vec::new(), 0);
    for schedule in [Schedule::Uneven, Schedule::Even, Schedule::Turns, Schedule::Short] {
        for (i, machine) in RESTLESS.into_iter().enumerate() {
            for opening in [false, true] {
                let seed = i as u64;
                let extra = Extra { opening, random: [5.0, 20.0, 200.0][i % 3], ..NONE };
                let total = if i % 4 == 3 { 4.0 } else { 12.0 };
                let found = Jitter::of(&run(seed, machine, schedule, extra, total)).periodic;
                all += 1;
                if !found.is_empty() {
                    named.push((schedule, machine, opening, found));
                }
            }
        }
    }
    assert!(named.len() * 100 <= all * 2, "{} of {all}: {named:#?}", named.len());
}

/// A swing that forgets its phase comes back after about so long: the interval says how much "about" is.
#[test]
fn a_period_without_a_clock_is_not_given_to_a_hundredth() {
    const RUNS: u64 = 60;
    for (turns, most) in [(0.6, RUNS / 8), (1.6, RUNS / 5), (f64::INFINITY, RUNS)] {
        let (mut named, mut narrow, mut held) = (0, 0, 0);
        for seed in 0..RUNS {
            let found = Jitter::of(&run(seed, Machine::Swing(0.7, turns), Schedule::Uneven, NONE, 12.0)).periodic;
            let Some(p) = found.iter().find(|p| p.source == Source::Levels) else { continue };
            let e = p.period;
            (named, held) = (named + 1, held + u64::from(e.low <= 0.7 && 0.7 <= e.high));
            narrow += u64::from(e.high < 1.1 * e.low);
        }
        println!("phase kept for {turns} turns: {named} named of {RUNS}, {narrow} to a tenth, {held} hold it");
        assert!(narrow <= most, "phase kept for {turns} turns: {narrow} of {RUNS} to a tenth");
        if turns.is_infinite() {
            assert!(named == RUNS && narrow * 10 >= 9 * RUNS && held * 100 >= 93 * RUNS, "{named} {narrow} {held}");
        }
    }
}

#[test]
fn a_stop_of_10_ms_every_second_is_found_among_shorter_pauses() {
    const RUNS: u64 = 12;
    for (schedule, period) in
        [(Schedule::Uneven, 1.0), (Schedule::Even, 1.0), (Schedule::Uneven, 0.5), (Schedule::Turns, 0.5)]
    {
        let (mut right, mut wrong) = (0, 0);
        for seed in 0..RUNS {
            let extra = Extra { stop: Some((period, 0.01)), random: [5.0, 20.0, 200.0][(seed % 3) as usize], ..NONE };
            let jitter = Jitter::of(&run(seed, Machine::Calm, schedule, extra, 12.0));
            let held = |p: &model::Periodic| (p.period.value / period - 1.0).abs() < 0.02 && p.source == Source::Pauses;
            right += u64::from(jitter.periodic.iter().any(held));
            wrong += u64::from(!jitter.periodic.iter().all(held));
            assert!((1.8..=2.0).contains(&jitter.longest), "{}", jitter.longest);
        }
        assert!(
            right * 4 >= RUNS * 3 && wrong <= 1,
            "{schedule:?}, every {period} s: right {right}, wrong {wrong} of {RUNS}"
        );
    }
}

/// Of so many runs: how many name this period, and how many name another as one at which pauses come each time.
fn named(seeds: std::ops::Range<u64>, schedule: Schedule, stop: (f64, f64), random: f64) -> (u64, u64) {
    let (mut right, mut wrong) = (0, 0);
    for seed in seeds {
        let extra = Extra { stop: Some(stop), random, ..NONE };
        let found = Jitter::of(&run(seed, Machine::Calm, schedule, extra, 12.0)).periodic;
        let held = |p: &model::Periodic| (p.period.value / stop.0 - 1.0).abs() < 0.02 && p.source == Source::Pauses;
        right += u64::from(found.iter().any(held));
        wrong += u64::from(found.iter().any(|p| !held(p) && p.each_time));
    }
    (right, wrong)
}

#[test]
fn quick_stops_are_not_taken_for_slow_ones() {
    const RUNS: u64 = 3;
    let (mut right, mut wrong, mut all) = (0, 0, 0);
    let mut said = String::new();
    for schedule in [Schedule::Uneven, Schedule::Even] {
        for (period, long) in
            [(0.008, 1e-4), (0.021, 3e-4), (0.047, 5e-4), (0.05, 5e-4), (0.061, 2e-3), (0.113, 1e-3), (0.23, 1e-3)]
        {
            for random in [0.0, 20.0] {
                let of = named(0..RUNS, schedule, (period, long), random);
                said += &format!("{schedule:?}, every {period} s, {random} a second beside: {of:?}\n");
                (right, wrong, all) = (right + of.0, wrong + of.1, all + RUNS);
            }
        }
    }
    assert!(wrong * 50 <= all && right * 20 >= all * 19, "right {right}, wrong {wrong} of {all}:\n{said}");
}

/// A soak of so many intervals of a second: trials that follow each other nearly without a gap, each beginning on its second. It meets
/// short pauses at random, and stops of 10 ms, one every so many seconds.
fn soak(seed: u64, intervals: u32, stop: Option<f64>) -> Vec<Moment> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let phase = 0.1 + 0.8 * rng.random::<f64>();
    let one = |round: u32| {
        let at = f64::from(round - 1) + 0.003 * rng.random::<f64>();
        let lasted = 0.985;
        let mut all: Vec<(f64, f64)> =
            (0..12).map(|_| (at + lasted * rng.random::<f64>(), 1e-4 * (1.0 + rng.random::<f64>()))).collect();
        if let Some(period) = stop {
            let mut k = ((at / period) - phase).ceil();
            while (k + phase) * period < at + lasted {
                all.push(((k + phase) * period, 0.01));
                k += 1.0;
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        Moment {
            size: 64,
            round,
            at,
            lasted,
            seconds: 1e-5 * (1.0 + 0.01 * rng.random::<f64>()),
            pauses: all.iter().map(|p| p.0).collect(),
            lengths: all.iter().map(|p| p.1).collect(),
            slow: (all.len() as u64, 49_000),
        }
    };
    (1..=intervals).map(one).collect()
}

#[test]
fn a_stop_every_second_is_found_in_a_soak_of_a_minute_whose_intervals_are_seconds() {
    for (period, intervals) in [(1.0, 60), (1.0, 200), (2.7, 60), (0.1, 60)] {
        let found = (0..2).filter(|seed| {
            let jitter = Jitter::of_intervals(&soak(*seed, intervals, Some(period)));
            jitter.periodic.iter().any(|p| p.source == Source::Pauses && (p.period.value / period - 1.0).abs() < 0.01)
        });
        let found = found.count();
        assert!(found == 2, "a stop every {period} s in {intervals} s: {found} of 2");
    }
}

/// Two hundred stops of one length, and no other pause: none are the longest, and all are tested.
#[test]
fn a_stop_every_second_is_found_where_there_is_no_other_pause() {
    for seed in 0..3 {
        let mut run = soak(seed, 200, Some(1.0));
        for t in &mut run {
            (t.pauses, t.lengths) = t.pauses.iter().zip(&t.lengths).filter(|(_, long)| **long == 0.01).unzip();
        }
        let jitter = Jitter::of_intervals(&run);
        let right = jitter.periodic.iter().any(|p| (p.period.value - 1.0).abs() < 0.01);
        assert!(right, "{:?}", jitter.periodic);
    }
}

#[test]
fn a_soak_without_a_period_has_none_and_one_that_drifts_says_so() {
    let found = (0..5).filter(|seed| !Jitter::of_intervals(&soak(*seed, 60, None)).periodic.is_empty()).count();
    assert!(found == 0, "{found} of 5");
    let mut drifting = soak(7, 1000, None);
    assert!(!Jitter::of_intervals(&drifting).drift.unwrap().sure());
    let line = |t: &Moment| 1.0 + 0.05 * t.at / 1000.0;
    drifting.iter_mut().for_each(|t| t.seconds *= line(t));
    let drift = Jitter::of_intervals(&drifting).drift.unwrap();
    assert!(drift.sure() && drift.ratio.low < 1.05 && drift.ratio.high > 1.048, "{drift:?}");
}

/// Trials of 2 ms lie within what a stop's moment may be off by, and would watch no moment at all.
#[test]
fn stops_are_found_among_trials_of_two_milliseconds_and_what_is_too_rare_is_said() {
    const RUNS: u64 = 24;
    let extra = Extra { stop: Some((1.0, 0.01)), random: 20.0, ..NONE };
    let jitter = Jitter::of(&run(0, Machine::Calm, Schedule::Short, extra, 12.0));
    assert!((0.55..0.9).contains(&jitter.longest_of_pauses) && (0.5..0.75).contains(&jitter.watched), "{jitter:?}");
    let (right, wrong) = named(0..RUNS, Schedule::Short, (0.9 * jitter.longest_of_pauses, 0.01), 20.0);
    assert!(right * 2 > RUNS && wrong <= 1, "right {right}, wrong {wrong} of {RUNS}");
    let (right, _) = named(0..RUNS, Schedule::Short, (1.9, 0.01), 20.0);
    assert!(right * 2 < RUNS, "{right} of {RUNS}: what is said to be too rare mostly is");
}

/// A stop of 10 ms makes a trial of 2 ms six times as long: where it lies in that is not where it lies in what the trial ran.
#[test]
fn a_stop_that_outlasts_its_trial_is_not_taken_for_the_trials_own() {
    const RUNS: u64 = 24;
    let (mut right, mut wrong) = (0, 0);
    for period in [0.6, 0.7] {
        let of = named(0..RUNS, Schedule::Short, (period, 0.01), 20.0);
        println!("every {period} s: right {}, wrong {} of {RUNS}", of.0, of.1);
        (right, wrong) = (right + of.0, wrong + of.1);
    }
    assert!(right * 10 >= 2 * RUNS * 9 && wrong <= 1, "right {right}, wrong {wrong} of {}", 2 * RUNS);
}

/// A stop that outlasts the trials holds their ends back, and so their beginnings keep to its time as well.
#[test]
fn stops_that_hold_the_trials_back_are_no_rhythm_of_the_trials() {
    const RUNS: u64 = 12;
    for (schedule, stop) in
        [(Schedule::Uneven, (0.02, 0.005)), (Schedule::Uneven, (0.033, 0.008)), (Schedule::Even, (0.025, 0.005))]
    {
        let (right, wrong) = named(0..RUNS, schedule, stop, 20.0);
        println!("{schedule:?} {stop:?}: {right} right, {wrong} wrong");
        assert!(right * 4 >= 3 * RUNS && wrong <= 1, "{schedule:?} {stop:?}: {right} right, {wrong} wrong of {RUNS}");
    }
}

/// Rounds that begin with cold caches are slower for their first tenth, each time anew: nobody disturbs them.
#[test]
fn rounds_that_begin_cold_have_no_period() {
    const RUNS: u64 = 12;
    for schedule in [Schedule::Even, Schedule::Short] {
        let mut found = 0;
        for seed in 0..RUNS {
            let mut all = run(seed, Machine::Calm, schedule, NONE, 12.0);
            let of_round = all.len() / 30;
            let (mut round, mut place) = (0, 0);
            for trial in &mut all {
                (round, place) = if trial.round == round { (round, place + 1) } else { (trial.round, 0) };
                trial.seconds *= if place < of_round / 10 { 1.5 } else { 1.0 };
            }
            found += u64::from(!Jitter::of(&all).periodic.is_empty());
        }
        println!("{schedule:?}: {found} of {RUNS} are said to have a period");
        assert!(found <= 1, "{schedule:?}: {found} of {RUNS} are said to have a period");
    }
}
