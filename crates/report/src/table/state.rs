//! The machine's states while a path was measured, and the path's long-term rate: a line each.

use measure::event::Schedule;
use measure::judge::SHARING;
use measure::place::Place;
use measure::sustained::Sustained;
use record::{PathRun, RunFile};
use stats::{FEWEST_ROUNDS, Local, Saw};
use transport::Ends;
use units::{Bytes, Seconds, Share, times};

use super::WIDTH;
use crate::text::paragraph;

/// A spread of rounds below this is only a remainder after their noise is subtracted.
const RESOLVED: f64 = 5e-4;

/// Share of a change of the machine's state that may remain in the trials during which it happens: a smaller spread is no state of some
/// sizes.
const LEFT: f64 = 0.1;

/// One line a path: how many rounds there are, how many independent ones they count for, and for which states of the machine the figures
/// hold. Then one for the long trials, where there were any.
pub fn state(run: &RunFile) -> String {
    let mut text = String::new();
    state_lines(run).iter().for_each(|line| paragraph("", line, WIDTH, &mut text));
    text
}

/// The same, each line unbroken.
pub(crate) fn state_lines(run: &RunFile) -> Vec<String> {
    let mut lines = Vec::new();
    for path in &run.paths {
        let said = [rounds(run, path), sustained(run, path)].into_iter().flatten();
        lines.extend(said.map(|line| format!("{}: {line}", path.opened.name())));
    }
    lines
}

/// The states of the machine that the rounds of a path met; none where the schedule has no rounds, or nothing was measured.
pub fn rounds(run: &RunFile, path: &PathRun) -> Option<String> {
    let (moves, noise) = (path.common.shared.moves, path.common.shared.sigma);
    let n = moves.rounds;
    let lasted = path.measured_for().map_or(String::new(), |s| format!(" over {}", Seconds(s)));
    if n == 0 {
        let looked = run.run.plan.schedule != Schedule::Netpipe
            && path.points.iter().flat_map(|p| &p.trials).next().is_some()
            && path.points.iter().flat_map(|p| &p.trials).all(|t| t.warmup);
        return looked.then(|| {
            "0 whole rounds: the figures are those of the first looks at each size, without an interval; measure longer \
             (--budget), or fewer sizes (--to)"
                .to_owned()
        });
    }
    let few: Vec<u64> =
        path.points.iter().filter(|p| (p.figures.rounds as usize) < FEWEST_ROUNDS).map(|p| p.size).collect();
    if few.len() == path.points.len() && !moves.few() {
        return Some(format!(
            "{n} rounds{lasted}, of which fewer than {FEWEST_ROUNDS} visited each size: too few for an interval; what they saw is \
             shown (--budget gives more time)"
        ));
    }
    let rounds = format!("{}{lasted}", if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") });
    let of = whose(path);
    let line = match moves.saw(noise) {
        Saw::Few => {
            format!("{rounds}: too few for an interval; what {} saw is shown", if n == 1 { "it" } else { "they" })
        }
        Saw::OneOfTwo => format!(
            "{rounds} are too few for an interval, as sizes were met in two states of {of} and so few may all be of one; what they saw \
             is shown (--budget gives more time)"
        ),
        Saw::Outlasting => {
            let ends = |pick: fn(f64, f64) -> f64, from: f64| path.common.levels().map(|(_, l)| l).fold(from, pick);
            let apart = (ends(f64::max, f64::NEG_INFINITY) - ends(f64::min, f64::INFINITY)).exp();
            format!(
                "{rounds} saw a state of {of} or two that last too long to average over (rounds lie up to {} times apart): no \
                 interval beyond what was seen",
                times(apart)
            )
        }
        Saw::Lasting => format!(
            "{rounds} count as {:.0}: states of {of} last for some rounds (they moved the curve by {}); intervals hold \
             for this run's states",
            moves.effective,
            Share(moves.spread)
        ),
        Saw::OneFar(far) => format!(
            "{rounds}: one of them took {} times as long as the typical one, the others lie near each other; intervals \
             hold for this run",
            times(far)
        ),
        // How far they lie apart was not told from noise.
        Saw::Changing | Saw::One if few_sizes(path) && moves.spread < RESOLVED => format!(
            "{rounds}: too few sizes to tell the states of {of} from each size's own noise; intervals hold for this run"
        ),
        Saw::Changing | Saw::One if few_sizes(path) => format!(
            "{rounds}, {} apart: too few sizes to tell the states of {of} from each size's own noise; intervals hold for this run",
            Share(moves.spread)
        ),
        Saw::Changing => format!(
            "{rounds}, {} apart: {of} changed its speed between rounds{}",
            Share(moves.spread),
            match path.averages_below() {
                Some(length) => format!(
                    "; intervals average over its states shorter than {}, and hold for this run alone where states last longer",
                    Seconds(length)
                ),
                None =>
                    ", and so few do not tell whether its states last longer than that; intervals hold for this run"
                        .to_owned(),
            }
        ),
        Saw::One => format!(
            "{rounds} saw one state of {of}{} (rounds lie {}): intervals hold for that state",
            match apart(path).count() {
                0 => "",
                some if 2 * some < path.points.len() => " at most sizes",
                _ => " as a whole",
            },
            explained(moves.spread, noise)
        ),
    };
    let seldom = if moves.few() { String::new() } else { seldom(path, &few) };
    Some(line + &of_some(path) + &seldom)
}

/// Whether so few sizes have rounds that a round's level is mostly their own noise.
pub(super) fn few_sizes(path: &PathRun) -> bool {
    path.points.iter().filter(|p| p.figures.rounds as usize >= FEWEST_ROUNDS).count() < SHARING
}

/// Whose states a path goes through, in words: a modelled link has its own. Where rounds met several they are the machine's only if its
/// yardsticks went along with them, as the warnings have it.
pub(super) fn whose(path: &PathRun) -> &'static str {
    let (kind, shared) = (path.opened.transport, &path.common.shared);
    match shared.moves.saw(shared.sigma) {
        _ if kind.ends() == Ends::Modelled => "the modelled link",
        Saw::One | Saw::OneFar(_) | Saw::Few => "the machine",
        _ if matches!(Place::of(kind, &path.common, &path.rounds), Place::Machine { .. }) => "the machine",
        _ => "the path",
    }
}

/// Sizes that share a state with their neighbours and not with the whole curve, where it lasts or its spread is as large as would be
/// mentioned for a whole curve.
pub(super) fn apart(path: &PathRun) -> impl Iterator<Item = (u64, &Local)> {
    let noise = path.common.shared.sigma;
    path.common
        .locals()
        .filter(move |(_, local)| !matches!(local.alone.saw(noise), Saw::One | Saw::OneFar(_) | Saw::Few))
        // A trial during which the machine's state changes keeps a part of it.
        .filter(move |(_, local)| local.spread > LEFT * path.common.shared.moves.spread)
}

/// Which sizes met states that the others did not share, and what that means for their intervals.
fn of_some(path: &PathRun) -> String {
    let noise = path.common.shared.sigma;
    // Many sizes in such states move the curve's level, and the others then seem to move against it.
    let most = apart(path).map(|(_, local)| local.spread).fold(0.0, f64::max);
    let told = || apart(path).filter(|(_, local)| local.spread >= most / 2.0);
    let sizes: Vec<u64> = told().map(|(size, _)| size).collect();
    let [first, .., last] = sizes[..] else { return String::new() };
    let outlast = told().filter(|(_, local)| local.moves.slow(noise)).count();
    let intervals = match outlast {
        0 => "their intervals hold for these states".to_owned(),
        n => format!("they last too long to average over at {n} of them, which have no interval"),
    };
    format!(
        "; {} sizes between {} and {} went through states that the others did not share (up to {} apart): {intervals}",
        sizes.len(),
        Bytes(first),
        Bytes(last),
        Share(most)
    )
}

/// How far rounds lie apart, beside the noise of single sizes: rounds that share a state lie apart by that noise.
fn explained(spread: f64, noise: f64) -> String {
    if spread < RESOLVED {
        return format!("within the noise of single sizes, {}", Share(noise));
    }
    format!("{} apart, single sizes within them {}", Share(spread), Share(noise))
}

/// Which sizes too few rounds visited; empty where the run as a whole has too few, or no size was visited by enough.
fn seldom(path: &PathRun, few: &[u64]) -> String {
    let all = path.points.len();
    match few {
        [] => String::new(),
        few if 2 * few.len() > all => format!(
            "; only {} of {all} sizes were visited by {FEWEST_ROUNDS} rounds and have an interval (--budget gives more time)",
            all - few.len()
        ),
        [first, ..] => format!(
            "; {} of {all} sizes (the first: {}) were visited by fewer than {FEWEST_ROUNDS} rounds and have no interval (--budget \
             gives more time)",
            few.len(),
            Bytes(*first),
        ),
    }
}

fn sustained(run: &RunFile, path: &PathRun) -> Option<String> {
    let found = path.kept_up(&run.run.plan);
    let shortest = found.iter().map(|s| s.shortest).reduce(f64::min)?;
    let each: Vec<String> = found.iter().map(kept_up).collect();
    Some(format!(
        "sustained over {} and more, beside short trials of the same rounds: {}",
        Seconds(shortest),
        each.join(", ")
    ))
}

/// What long trials of a size took, and how many times as long as short ones: a ratio whose interval is too wide for a figure by the end that is
/// known.
fn kept_up(s: &Sustained) -> String {
    let (time, size) = (Seconds(s.seconds), Bytes(s.size));
    // Two digits after the point, and two significant ones where the ratio is small.
    let times = |r: f64| if r >= 0.1 { format!("{r:.2}") } else { format!("{r:.1e}") };
    match () {
        () if s.high <= units::RESOLVED * s.low => {
            format!("{time} at {size} ({} times [{}, {}])", times(s.ratio), times(s.low), times(s.high))
        }
        () if s.differs() && s.ratio > 1.0 => {
            format!("{time} at {size} (not resolved: at least {} times)", times(s.low))
        }
        () if s.differs() => format!("{time} at {size} (not resolved: at most {} times)", times(s.high)),
        () => format!("{time} at {size} ({} times, no interval)", times(s.ratio)),
    }
}

#[cfg(test)]
mod tests {
    use measure::TrialReport;
    use measure::event::{Calibration, RoundOpened, Trial};
    use measure::figures::Common;

    use super::*;

    /// Noise of a trial, within 3%, the same each time.
    fn noise(i: u64) -> f64 {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i << 7);
        0.06 * ((mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / (1u64 << 24) as f64 - 0.5)
    }

    fn trial(round: u32, at: f64, size: u64, seconds: f64, lasts: f64) -> Trial {
        let median = 2.0 * seconds;
        let report = TrialReport {
            repeats: (lasts / median) as u64,
            seconds: lasts,
            median,
            min: median,
            max: median,
            ..TrialReport::default()
        };
        Trial { path: 0, round, at, size, response: 0, burst: 0, warmup: false, report }
    }

    /// A run of 40 sizes whose rounds lie at these levels (times as long), one every 400 ms.
    fn run(levels: &[f64]) -> RunFile {
        let sizes: Vec<u64> = (0..40).map(|i| 10 * (i + 1)).collect();
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &sizes, 1, 7);
        run.run.plan.schedule = Schedule::Adaptive;
        let path = &mut run.paths[0];
        path.rounds = (levels.iter().zip(1..))
            .map(|(_, round)| RoundOpened {
                path: 0,
                round,
                at: 0.4 * f64::from(round - 1),
                planned: 40,
                ..RoundOpened::default()
            })
            .collect();
        for (place, point) in path.points.iter_mut().enumerate() {
            let one = |(level, round): (&f64, u32)| {
                // Another order in each round.
                let turn = (place as u32 * (2 * round + 1)) % 41;
                let at = 0.4 * f64::from(round - 1) + 0.009 * f64::from(turn);
                let own = noise(u64::from(round) * 1000 + place as u64).exp();
                trial(round, at, point.size, 1e-5 * level * own, 0.005)
            };
            point.trials = levels.iter().zip(1..).map(one).collect();
            point.figures.rounds = levels.len() as u32;
        }
        let kind = path.opened.transport;
        let points = path.points.iter().map(|p| p.trials.all());
        path.common = Common::of(&run.run.plan, kind, Calibration::default(), points);
        run
    }

    fn line(levels: &[f64]) -> String {
        let run = run(levels);
        rounds(&run, &run.paths[0]).unwrap_or_default()
    }

    fn by_turns(n: usize, factor: f64) -> Vec<f64> {
        (0..n).map(|i| if i % 2 == 0 { 1.0 } else { factor }).collect()
    }

    #[test]
    fn each_finding_has_its_words() {
        let one = line(&[1.0; 30]);
        assert!(
            one.starts_with("30 rounds over 12.0 s saw one state of the machine (rounds lie ")
                && one.contains(" single sizes")
                && one.ends_with("hold for that state"),
            "{one}"
        );
        assert_eq!(explained(0.012, 0.031), "1.2% apart, single sizes within them 3.1%");
        let none = explained(0.0, 0.031);
        assert_eq!(none, "within the noise of single sizes, 3.1%", "what is not resolved is not given");
        let few = line(&[1.0, 1.1, 1.0]);
        assert!(
            few.ends_with("too few for an interval; what they saw is shown") && few.starts_with("3 rounds"),
            "{few}"
        );
        let step: Vec<f64> = (0..30).map(|i| if i < 14 { 1.0 } else { 1.5 }).collect();
        let outlasting = line(&step);
        assert!(
            outlasting.contains("saw a state of the path or two") && outlasting.contains("up to 1.5"),
            "{outlasting}"
        );
        assert!(outlasting.ends_with("no interval beyond what was seen"), "{outlasting}");
        let some: Vec<f64> = (0..30).map(|i| if i % 9 < 5 { 1.0 } else { 1.5 }).collect();
        let lasting = line(&some);
        assert!(lasting.contains(" count as ") && lasting.ends_with("hold for this run's states"), "{lasting}");
        let changing = line(&by_turns(30, 1.35));
        let averaged = "changed its speed between rounds; intervals average over its states shorter than ";
        let length = changing.split(averaged).nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
        // Half a round of 400 ms.
        assert!(length.starts_with("199 ms") || length.starts_with("200 ms"), "{changing}");
        let few = line(&[1.0, 1.2, 1.3, 1.0, 1.1, 1.3, 1.05, 1.2]);
        assert!(
            few.contains("changed its speed between rounds, and so few do not tell") && few.ends_with("this run"),
            "{few}"
        );
        assert!(
            changing.contains(", 15.") && changing.ends_with("for this run alone where states last longer"),
            "{changing}"
        );
        assert!(changing.contains("the path changed its speed") && !changing.contains("machine"), "{changing}");
        assert!(rounds(&run(&[]), &run(&[]).paths[0]).is_none(), "nothing was measured");
    }

    #[test]
    fn states_are_the_machines_where_its_yardsticks_went_along() {
        let levels = by_turns(30, 1.35);
        let mut run = run(&levels);
        let mut said = |of: &dyn Fn(f64) -> f64| {
            for (round, level) in run.paths[0].rounds.iter_mut().zip(&levels) {
                let own = noise(u64::from(round.round) * 31).exp();
                let (wake, copy) = (1e-5 * of(*level) * own, 1e-6);
                round.calibration = Some(host::MachineCalibration { wake, line: None, copy });
            }
            rounds(&run, &run.paths[0]).unwrap()
        };
        let machine = said(&|level| level);
        assert!(machine.contains(" apart: the machine changed its speed between rounds"), "{machine}");
        let path = said(&|_| 1.0);
        assert!(path.contains(" apart: the path changed its speed between rounds"), "{path}");
    }

    #[test]
    fn a_ratio_of_long_trials_has_no_figure_where_its_ends_lie_ten_times_apart() {
        let of = |ratio, low, high| {
            let (size, trials, lasted, shortest, seconds) = (64, 2, 0.4, 0.35, 1e-5);
            let (throughput, short_mean, clock) = (1e8, 1.0, None);
            kept_up(&Sustained {
                size,
                trials,
                lasted,
                shortest,
                seconds,
                throughput,
                ratio,
                low,
                high,
                short_mean,
                clock,
            })
        };
        assert_eq!(of(2.0, 1.8, 2.2), "10.0 us at 64 B (2.00 times [1.80, 2.20])");
        assert_eq!(of(5.0, 1.2, 900.0), "10.0 us at 64 B (not resolved: at least 1.20 times)");
        assert_eq!(of(0.2, 0.01, 0.8), "10.0 us at 64 B (not resolved: at most 0.80 times)");
        assert_eq!(of(2.0, 0.5, 8.0), "10.0 us at 64 B (2.00 times, no interval)");
    }

    #[test]
    fn states_of_a_part_of_the_sizes_are_told_beside_the_whole_curves() {
        let shared = |lasts: u32| {
            let mut run = run(&[1.0; 30]);
            let path = &mut run.paths[0];
            for point in path.points.iter_mut().filter(|p| p.size > 320) {
                for trial in point.trials.plain().iter_mut().filter(|t| (t.round / lasts).is_multiple_of(2)) {
                    for seconds in [&mut trial.report.median, &mut trial.report.min, &mut trial.report.max] {
                        *seconds *= 1.3;
                    }
                }
            }
            let kind = path.opened.transport;
            let points = path.points.iter().map(|p| p.trials.all());
            path.common = Common::of(&run.run.plan, kind, Calibration::default(), points);
            rounds(&run, &run.paths[0]).unwrap()
        };
        let some = shared(3);
        assert!(!some.contains("saw one state of the machine (rounds"), "{some}");
        assert!(
            some.contains(" sizes between ")
                && some.contains(" and 400 B went through states that the others did not share"),
            "{some}"
        );
        assert!(some.ends_with("their intervals hold for these states"), "{some}");
        let outlast = shared(16);
        assert!(
            outlast.contains("last too long to average over at ") && outlast.ends_with("which have no interval"),
            "{outlast}"
        );
        assert!(!line(&[1.0; 30]).contains("at most sizes"));
    }

    #[test]
    fn a_single_long_trial_in_each_round_is_no_state() {
        for (rounds_of, seed) in [5, 9, 12, 30].into_iter().flat_map(|n| (0..40u64).map(move |seed| (n, seed))) {
            let mut run = run(&vec![1.0; rounds_of]);
            let path = &mut run.paths[0];
            let places = path.points.len() as u64;
            let hit = |round: u32| (noise(seed * 1009 + u64::from(round)).to_bits() >> 20) % places;
            for (place, point) in path.points.iter_mut().enumerate() {
                for trial in point.trials.plain().iter_mut().filter(|t| hit(t.round) == place as u64) {
                    for seconds in [&mut trial.report.median, &mut trial.report.min, &mut trial.report.max] {
                        *seconds *= 20.0;
                    }
                }
            }
            let kind = path.opened.transport;
            let points = path.points.iter().map(|p| p.trials.all());
            path.common = Common::of(&run.run.plan, kind, Calibration::default(), points);
            let said = rounds(&run, &run.paths[0]).unwrap();
            assert!(said.contains("saw one state of the machine (") && !said.contains("did not share"), "{said}");
        }
    }

    #[test]
    fn states_of_the_modelled_link_are_not_put_down_to_a_machine() {
        let some: Vec<f64> = (0..30).map(|i| if i % 9 < 5 { 1.0 } else { 1.5 }).collect();
        let step: Vec<f64> = (0..30).map(|i| if i < 14 { 1.0 } else { 1.5 }).collect();
        for levels in [vec![1.0; 30], some, step, by_turns(30, 1.35)] {
            let mut run = run(&levels);
            run.paths[0].opened.transport = transport::theory::NAME;
            let said = rounds(&run, &run.paths[0]).unwrap();
            assert!(said.contains("the modelled link") && !said.contains("machine"), "{said}");
        }
    }

    #[test]
    fn a_run_without_a_whole_round_says_so_and_what_to_do() {
        let mut of = run(&[1.0]);
        of.paths[0].points.iter_mut().flat_map(|p| p.trials.plain()).for_each(|t| t.warmup = true);
        let (plan, kind) = (of.run.plan.clone(), of.paths[0].opened.transport);
        of.paths[0].common =
            Common::of(&plan, kind, Calibration::default(), of.paths[0].points.iter().map(|p| p.trials.all()));
        let text = state(&of).replace("\n  ", " ");
        assert!(text.starts_with("tcp: 0 whole rounds: ") && text.contains("--budget"), "{text}");
        of.run.plan.schedule = Schedule::Netpipe;
        assert!(!state(&of).contains("rounds"), "a schedule without rounds");
    }

    #[test]
    fn sizes_that_few_rounds_visited_are_counted() {
        let mut of = run(&[1.0; 30]);
        let sizes = of.paths[0].points.len();
        assert!(!rounds(&of, &of.paths[0]).unwrap().contains("fewer than"), "all have enough");
        of.paths[0].points[sizes - 3..].iter_mut().for_each(|p| p.figures.rounds = 3);
        let text = rounds(&of, &of.paths[0]).unwrap();
        assert!(text.contains(&format!("; 3 of {sizes} sizes (the first: ")), "{text}");
        assert!(
            text.ends_with("visited by fewer than 4 rounds and have no interval (--budget gives more time)"),
            "{text}"
        );
        of.paths[0].points[2..].iter_mut().for_each(|p| p.figures.rounds = 3);
        let text = rounds(&of, &of.paths[0]).unwrap();
        assert!(
            text.contains(&format!("; only 2 of {sizes} sizes were visited by 4 rounds and have an interval")),
            "{text}"
        );
        of.paths[0].points.iter_mut().for_each(|p| p.figures.rounds = 3);
        let text = rounds(&of, &of.paths[0]).unwrap();
        assert!(text.starts_with("30 rounds over 12.0 s, of which fewer than 4 visited each size: too few"), "{text}");
        assert!(!text.contains("intervals hold"), "no interval, and so none that holds: {text}");
    }

    #[test]
    fn rounds_that_differ_by_more_than_the_noise_are_never_one_state() {
        for seed in 0..60u64 {
            let state = |i: u64| if noise(seed * 77 + i) > 0.0 { 1.5 } else { 1.0 };
            let levels: Vec<f64> = (0..30).map(state).collect();
            assert!(!line(&levels).contains("one state"), "{seed}: {}", line(&levels));
        }
    }

    #[test]
    fn one_round_that_lies_far_off_is_told() {
        for n in [4, 9, 30] {
            let mut levels = vec![1.0; n];
            levels[n / 2] = 10.0;
            let text = line(&levels);
            assert!(text.contains("one of them took ") && text.ends_with("intervals hold for this run"), "{text}");
            let times: f64 = text.split("took ").nth(1).and_then(|t| t.split(' ').next()).unwrap().parse().unwrap();
            assert!((times / 10.0 - 1.0).abs() < 0.03, "{text}");
        }
    }

    #[test]
    fn what_is_sustained_is_told_with_the_length_of_the_shortest_trial() {
        let mut of = run(&by_turns(12, 1.01));
        assert!(!state(&of).contains("sustained"), "without long trials");
        let long = |round, size, lasts: f64, times: f64| {
            let mut t = trial(round, 0.4 * f64::from(round), size, 1e-5, lasts);
            t.report.repeats = (lasts / (2e-5 * times)) as u64;
            t
        };
        of.paths[0].sustained = [(4, 10, 1.06), (4, 400, 0.31), (8, 10, 1.1), (8, 400, 0.42)]
            .map(|(round, size, lasts)| long(round, size, lasts, if size == 10 { 2.0 } else { 1.0 }))
            .to_vec();
        let text = state(&of).replace("\n  ", " ");
        assert!(
            text.contains("tcp: sustained over 310 ms and more, beside short trials of the same rounds: "),
            "{text}"
        );
        assert!(text.contains(" us at 10 B (1.9") && text.contains(" us at 400 B (1.0"), "{text}");
    }
}
