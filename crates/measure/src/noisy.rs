//! The warning that points are not known well, with its likely cause. Pure.

use host::Taken;
use stats::{FEWEST_ROUNDS, Saw};
use transport::{Ends, Name};
use units::Share;

use crate::apart::{apart, why};
use crate::event::{Plan, Trial, Warning};
use crate::figures::Common;
use crate::place::Place;
use crate::taken_by;
use crate::warned::{Judged, warning};

/// Reach of an interval, as a share of the median, beyond which a figure is of no use for most ends.
const UNUSABLE: f64 = 0.10;

/// Sizes from which on what all of them share in a round is told from what each has of its own.
pub const SHARING: usize = 4;

/// Points whose intervals reach too far.
pub(crate) fn noisy(
    plan: &Plan,
    kind: Name,
    points: &[Judged<'_>],
    common: &Common,
    taken: Option<&Taken>,
    place: Place,
) -> Option<Warning> {
    // Where there is no interval, the rounds' line says why.
    let wide = |p: &&Judged<'_>| p.figures.high.is_finite() && p.figures.reach() > UNUSABLE;
    let bad: Vec<&Judged<'_>> = points.iter().filter(wide).collect();
    let worst = bad.iter().max_by(|a, b| a.figures.reach().total_cmp(&b.figures.reach()))?;
    let cause = match kind.ends() {
        Ends::Modelled => "likely cause: the modelled link's own noise (--theory noise=, round-noise=)".to_owned(),
        _ => cause(plan, kind, points, &bad, common, taken, place),
    };
    let text = format!(
        "{} of {} points known to no better than {} (worst: {} at {}); {cause}",
        bad.len(),
        points.len(),
        Share(UNUSABLE),
        if worst.figures.reach() > 10.0 {
            "over ten times".to_owned()
        } else {
            Share(worst.figures.reach()).to_string()
        },
        plan.pattern.facts().size.words(worst.size),
    );
    Some(warning("noisy", bad.iter().map(|p| p.size).collect(), text))
}

/// Why points are not known well. Where whole rounds lie apart, as the line of the rounds has it (both go by [`stats::Moves::saw`]), that is why, and the
/// warning of it names the same cause; one far round is none. Else it is whoever took enough of the CPUs, and without them the spread
/// within a round decides between the moment and the connection.
fn cause(
    plan: &Plan,
    kind: Name,
    points: &[Judged<'_>],
    bad: &[&Judged<'_>],
    common: &Common,
    taken: Option<&Taken>,
    place: Place,
) -> String {
    let saw = common.shared.moves.saw(common.shared.sigma);
    let few_sizes = points.iter().filter(|p| p.figures.rounds as usize >= FEWEST_ROUNDS).count() < SHARING;
    let far = apart(common).filter(|_| !matches!(saw, Saw::OneFar(_))).map(|a| (a.slowest.1 - a.fastest.1).exp());
    let reach = bad.iter().map(|p| p.figures.reach()).fold(0.0, f64::max);
    let ratio = far.unwrap_or(1.0 + reach);
    let nobody = match taken_by::enough(taken, ratio) {
        Ok(found) => return taken_by::likely(found),
        Err(nobody) => nobody,
    };
    let within = bad.iter().filter_map(|p| spread_within(p.trials)).reduce(f64::max);
    let placed = || format!("{}; more rounds (--budget) average over it", why(kind, taken, ratio, place));
    let told = matches!(place, Place::Machine { .. } | Place::Beyond { .. });
    let found = match (saw, within) {
        _ if plan.soaks() => "the path moved while it was held (the graph over the time shows when)",
        (Saw::OneOfTwo | Saw::Outlasting | Saw::Lasting, _) => {
            return format!("rounds went through states that last for some of them; {}", placed());
        }
        (Saw::Changing, _) if far.is_some() || !few_sizes => return format!("whole rounds lie apart; {}", placed()),
        (_, Some(spread)) if spread >= UNUSABLE => {
            "times lie as far apart within single trials: the machine (shared host, frequency changes, interrupts) or the far side is unsteady; \
             pipegauge doctor looks at the machine"
        }
        (Saw::One | Saw::OneFar(_), Some(_)) if !few_sizes => {
            "likely cause: each connection settles at a level of its own (placement of memory and processes); more rounds (--budget) average over it"
        }
        (_, Some(_)) if told => return placed(),
        (_, Some(_)) => {
            "likely cause: each connection settles at a level of its own, or the machine changes between rounds (so few sizes do not tell which); \
             more rounds (--budget) average over it"
        }
        (_, None) => {
            "rounds lie apart, and trials that are timed as a whole do not tell why; more rounds (--budget) average over it; pipegauge doctor \
             looks for causes"
        }
    };
    format!("{found}; {nobody}")
}

/// Spread of chunks within trials: the median over trials of (median - min) / median. None where no trial timed its chunks: a stream is timed
/// by its receiver as a whole, and several flows by what they did together.
fn spread_within(trials: &[Trial]) -> Option<f64> {
    let spreads: Vec<f64> = trials
        .iter()
        .filter(|t| !t.warmup && t.report.median > 0.0)
        .map(|t| (t.report.median - t.report.min) / t.report.median)
        .collect();
    (!spreads.is_empty()).then(|| stats::median(&spreads))
}
