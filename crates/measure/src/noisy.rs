//! The warning that points are not known well, with its likely cause. Pure.

use host::Taken;
use stats::{FEWEST_ROUNDS, Saw};
use transport::{Ends, Name};
use units::Share;

use crate::event::{Plan, Trial, Warning};
use crate::figures::Common;
use crate::taken_by;
use crate::warned::{Judged, warning};

/// Reach of an interval, as a share of the median, beyond which a figure is of no use for most ends.
const UNUSABLE: f64 = 0.10;

/// Sizes from which on what all of them share in a round is told from what each has of its own.
pub const SHARING: usize = 4;

/// Points whose intervals reach too far.
pub(crate) fn noisy(plan: &Plan, kind: Name, points: &[Judged<'_>], common: &Common, taken: &Taken) -> Option<Warning> {
    // Where there is no interval, the rounds' line says why.
    let wide = |p: &&Judged<'_>| p.figures.high.is_finite() && p.figures.reach() > UNUSABLE;
    let bad: Vec<&Judged<'_>> = points.iter().filter(wide).collect();
    let worst = bad.iter().max_by(|a, b| a.figures.reach().total_cmp(&b.figures.reach()))?;
    let cause = if kind.ends() == Ends::Modelled {
        "the modelled link's own noise (--theory noise=, round-noise=)"
    } else if let Some((cause, _)) = taken_by::enough(taken, 1.0 + worst.figures.reach()) {
        cause.name()
    } else if plan.soaks() {
        "the path moved while it was held (the graph over the time shows when)"
    } else {
        of_rounds(points, &bad, common)
    };
    let text = format!(
        "{} of {} points known to no better than {} (worst: {} at {}); likely cause: {cause}",
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

/// The cause as far as the rounds show it. States that the whole curve shares are the machine's, as the line of the rounds has it (both go by
/// [`stats::Moves::saw`]); without them the spread within a round decides between the moment and the connection.
fn of_rounds(points: &[Judged<'_>], bad: &[&Judged<'_>], common: &Common) -> &'static str {
    let saw = common.shared.moves.saw(common.shared.sigma);
    let few_sizes = points.iter().filter(|p| p.figures.rounds as usize >= FEWEST_ROUNDS).count() < SHARING;
    let within = bad.iter().filter_map(|p| spread_within(p.trials)).reduce(f64::max);
    match (saw, within) {
        (Saw::OneOfTwo | Saw::Outlasting | Saw::Lasting, _) => {
            "states of the machine that last for some rounds (shared host, frequency changes, where memory came to lie); more time (--budget) \
             averages over them; pipegauge doctor looks for causes"
        }
        (Saw::Changing, _) if !few_sizes => {
            "the machine changed its speed between rounds (shared host, frequency changes, where memory came to lie); more rounds (--budget) \
             average over it; pipegauge doctor looks for causes"
        }
        (_, Some(spread)) if spread >= UNUSABLE => {
            "the machine itself is unsteady (shared host, frequency changes, interrupts); pipegauge doctor looks for causes"
        }
        (Saw::One, Some(_)) if !few_sizes => {
            "each connection settles at a level of its own (placement of memory and processes); more rounds (--budget) average over it"
        }
        (_, Some(_)) => {
            "each connection settles at a level of its own, or the machine changes between rounds (so few sizes do not tell which); more rounds \
             (--budget) average over it"
        }
        (_, None) => {
            "rounds lie apart, and trials that are timed as a whole do not tell why; more rounds (--budget) average over it; pipegauge doctor \
             looks for causes"
        }
    }
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
