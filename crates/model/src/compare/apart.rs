//! How far the curves of two sides lie apart by chance: as wholes, and in the part of the sizes that a state of the machine touches.
//!
//! One run estimates it from its rounds: how far their levels lie apart ([`Shared`](stats::Shared)), and what neighbouring sizes share
//! beyond that ([`stats::shared_nearby`]). Longer runs do not average either away, since machines drift on every scale of time. Several
//! whole runs, carried or repeated here, show it directly: for the curves, and for each size, which may have a level of its own in each run
//! that the rounds of that run do not show. The larger estimate counts.

use stats::{CONFIDENCE, Squares, StandardError, mean, spread_beyond, variance};

use super::Side;
use super::align::{Value, levels};
use super::between::BetweenRuns;
use super::ready::Ready;

/// Standard errors of the difference of two sides.
pub(super) struct Apart {
    /// Of the curves as wholes.
    pub whole: StandardError,
    /// Of each of the common sizes: what it shares with others in a run, and where it stands beyond that in each run.
    pub at: Vec<StandardError>,
    /// Of the sizes with the highest throughput.
    pub tops: StandardError,
    /// How far runs lie apart, where runs tell it.
    pub between: Option<BetweenRuns>,
    /// Whether earlier runs that the sides carry tell that.
    pub carried: bool,
}

/// What is known of a side: its runs, their values at the common sizes, and what surrounds them.
type Known<'a> = (&'a [Ready], &'a [Vec<Value>], Side<'a>);

impl Apart {
    pub fn of(first: Known<'_>, second: Known<'_>, common: &[u64]) -> Self {
        let runs = || first.0.iter().chain(second.0);
        // The noise within runs, which each size's own error has.
        let within = |i: usize| {
            let errors = || first.1.iter().chain(second.1).map(|run| run[i].error.value).filter(|e| e.is_finite());
            mean(&errors().map(|e| e * e).collect::<Vec<_>>())
        };
        let within: Vec<f64> = (0..common.len()).map(within).collect();
        let repeats = Repeats::of([first.1, second.1], &within);
        // Repeats are among the earlier runs of the later ones: what rests on more runs counts, and none counts twice.
        let carried = BetweenRuns::carried(first.2, second.2, common)
            .filter(|(c, _)| repeats.between.is_none_or(|r| r.degrees <= c.degrees));
        let beyond = |i: usize| {
            let told = carried.as_ref().map_or(StandardError::default(), |(c, at)| {
                StandardError { value: at[i], ..c.error() }.without(within[i])
            });
            larger(told, repeats.beyond[i])
        };
        let carried = carried.as_ref().map(|(c, _)| *c);
        // Of the levels of rounds, and of what sizes share beyond them.
        let rounds = |beyond: &dyn Fn(&Ready) -> f64| {
            let of = |r: &Ready| (r.shared.between.hypot(beyond(r)), f64::from(r.shared.levels) - 1.0);
            let (squares, degrees) = (runs().map(of).filter(|(_, degrees)| *degrees > 0.0))
                .fold((0.0, 0.0), |(s, d), (spread, degrees)| (s + spread * spread * degrees, d + degrees));
            let value = if degrees > 0.0 { (squares / degrees).sqrt() } else { 0.0 };
            StandardError { value, degrees }
        };
        let sides = (1.0 / first.0.len() as f64 + 1.0 / second.0.len() as f64).sqrt();
        type Choice = fn(StandardError, StandardError) -> StandardError;
        let error = |rounds: StandardError, beyond: StandardError, choice: Choice| {
            let error = match (carried, repeats.between) {
                // Few runs may agree by chance: the spread of rounds is a lower bound, and the degrees of freedom are those of the runs.
                (Some(c), _) => StandardError { value: c.spread.hypot(beyond.value).max(rounds.value), ..c.error() },
                (None, Some(r)) => {
                    let parts = [(r.spread.powi(2), r.degrees), (beyond.value.powi(2), beyond.degrees)];
                    choice(
                        StandardError { degrees: rounds.degrees + r.degrees, ..rounds },
                        StandardError::of_sum(&parts),
                    )
                }
                (None, None) => rounds,
            };
            StandardError { value: error.value * sides, degrees: error.degrees.max(1.0) }
        };
        let most = (0..common.len()).map(beyond).fold(StandardError::default(), larger);
        Self {
            whole: error(rounds(&|_| 0.0), StandardError::default(), farther),
            at: (common.iter().enumerate())
                .map(|(i, size)| error(rounds(&|r| r.shared_at(*size)), beyond(i), larger))
                .collect(),
            tops: error(rounds(&|r| r.top.map_or(0.0, |(_, size)| r.shared_at(size))), most, larger),
            between: carried.or(repeats.between),
            carried: carried.is_some(),
        }
    }
}

/// Of two errors the one with the wider interval, so that it claims no more than the runs alone allow. Corrected for many sizes, intervals
/// with the few degrees of freedom of the runs would exclude nothing: there the larger error counts.
fn farther(a: StandardError, b: StandardError) -> StandardError {
    let reach = |e: StandardError| StandardError { degrees: e.degrees.max(1.0), ..e }.reach(CONFIDENCE);
    if reach(b) > reach(a) { b } else { a }
}

fn larger(a: StandardError, b: StandardError) -> StandardError {
    if b.value > a.value { b } else { a }
}

/// How far repeats of one side lie apart.
struct Repeats {
    /// As wholes; none where no side has two runs.
    between: Option<BetweenRuns>,
    /// At each size beyond that, and beyond the noise within runs.
    beyond: Vec<StandardError>,
}

impl Repeats {
    fn of(sides: [&[Vec<Value>]; 2], within: &[f64]) -> Self {
        let sizes = within.len();
        let mut squares = vec![Squares::default(); sizes];
        let mut parts = Vec::new();
        for side in sides.into_iter().filter(|side| side.len() > 1) {
            let degrees = (side.len() - 1) as f64;
            let (middles, levels) = levels(side);
            for (i, (sum, middle)) in squares.iter_mut().zip(&middles).enumerate() {
                let rest: Vec<f64> = side.iter().zip(&levels).map(|(r, level)| r[i].ln - middle - level).collect();
                *sum = sum.and(Squares { sum: variance(&rest) * degrees, degrees });
            }
            parts.push(StandardError { value: variance(&levels).sqrt(), degrees });
        }
        Self { between: BetweenRuns::pooled(parts.into_iter()), beyond: spread_beyond(&squares, within) }
    }
}
