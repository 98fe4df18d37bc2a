//! How far the curves of two sides lie apart by chance: as wholes, and in the part of the sizes that a state of the machine touches.
//!
//! One run knows something of it from its rounds: how far their levels lie apart ([`Shared`](stats::Shared)), and what neighbouring
//! sizes share beyond that ([`stats::shared_nearby`]). Time does not average either away, since machines drift on every scale of time. Whole
//! runs, carried or repeated here, know it themselves, of the curves and of single sizes. The larger counts.

use stats::{StandardError, mean, median, variance};

use super::Side;
use super::align::Value;
use super::between::BetweenRuns;
use super::ready::Ready;

/// Standard errors of the difference of two sides.
pub(super) struct Apart {
    /// Of the curves as wholes.
    pub whole: StandardError,
    /// Of what each of the common sizes shares with others: with all, and with its neighbours.
    pub at: Vec<StandardError>,
    /// Of the sizes with the highest throughput.
    pub tops: StandardError,
    /// How far runs lie apart, where runs tell it.
    pub between: Option<BetweenRuns>,
}

/// What is known of a side: its runs, their values at the common sizes, and what surrounds them.
type Known<'a> = (&'a [Ready], &'a [Vec<Value>], Side<'a>);

impl Apart {
    pub fn of(first: Known<'_>, second: Known<'_>, common: &[u64]) -> Self {
        let runs = || first.0.iter().chain(second.0);
        let repeats = Repeats::of([first.1, second.1], common.len());
        // Repeats are among the earlier runs of the later ones: what rests on more runs counts, and none counts twice.
        let carried = BetweenRuns::carried(first.2, second.2, common)
            .filter(|(c, _)| repeats.between.is_none_or(|r| r.degrees <= c.degrees));
        // Beyond the noise within runs, which each size's own error has.
        let within = |i: usize| {
            let errors = || first.1.iter().chain(second.1).map(|run| run[i].error.value).filter(|e| e.is_finite());
            mean(&errors().map(|e| e * e).collect::<Vec<_>>())
        };
        let beyond = |i: usize| {
            let told = carried.as_ref().map_or(0.0, |(_, at)| (at[i] * at[i] - within(i)).max(0.0).sqrt());
            told.max(repeats.beyond[i])
        };
        let carried = carried.as_ref().map(|(c, _)| *c);
        // Of the levels of rounds, and of what sizes share beyond them.
        let rounds = |beyond: &dyn Fn(&Ready) -> f64| {
            let of = |r: &Ready| (r.shared.between.hypot(beyond(r)), f64::from(r.shared.levels) - 1.0);
            let (squares, degrees) = (runs().map(of).filter(|(_, degrees)| *degrees > 0.0))
                .fold((0.0, 0.0), |(s, d), (spread, degrees)| (s + spread * spread * degrees, d + degrees));
            if degrees > 0.0 { ((squares / degrees).sqrt(), degrees) } else { (0.0, 0.0) }
        };
        let sides = (1.0 / first.0.len() as f64 + 1.0 / second.0.len() as f64).sqrt();
        let error = |rounds: (f64, f64), beyond: f64| {
            let repeated = repeats.between.map_or((0.0, 0.0), |r| (r.spread.hypot(beyond), r.degrees));
            let (spread, degrees) = match carried {
                // Few runs that happen to agree know no better than their number allows.
                Some(c) => (c.spread.hypot(beyond).max(rounds.0), c.degrees),
                None if repeated.0 > rounds.0 => repeated,
                None => (rounds.0, rounds.1 + repeated.1),
            };
            StandardError { value: spread * sides, degrees: degrees.max(1.0) }
        };
        let most = (0..common.len()).map(beyond).fold(0.0, f64::max);
        Self {
            whole: error(rounds(&|_| 0.0), 0.0),
            at: (common.iter().enumerate())
                .map(|(i, size)| error(rounds(&|r| r.shared_at(*size)), beyond(i)))
                .collect(),
            tops: error(rounds(&|r| r.top.map_or(0.0, |(_, size)| r.shared_at(size))), most),
            between: carried.or(repeats.between),
        }
    }
}

/// How far repeats of one side lie apart.
struct Repeats {
    /// As wholes; none where no side has two runs.
    between: Option<BetweenRuns>,
    /// Beyond that, what each size shares with its neighbours: a standard deviation.
    beyond: Vec<f64>,
}

impl Repeats {
    fn of(sides: [&[Vec<Value>]; 2], sizes: usize) -> Self {
        let mut rest: Vec<Vec<(u32, f64)>> = vec![Vec::new(); sizes];
        let mut parts = Vec::new();
        for (number, side) in sides.into_iter().enumerate().filter(|(_, side)| side.len() > 1) {
            // Once for all runs: with a hundred of them, a mean for each would be ten thousand.
            let middles: Vec<f64> =
                (0..sizes).map(|i| mean(&side.iter().map(|r| r[i].ln).collect::<Vec<_>>())).collect();
            let about = |r: &Vec<Value>| -> Vec<f64> { r.iter().zip(&middles).map(|(v, m)| v.ln - m).collect() };
            let levels: Vec<f64> = side.iter().map(|r| median(&about(r))).collect();
            for ((run, values), level) in side.iter().enumerate().zip(&levels) {
                let key = 2 * run as u32 + number as u32;
                rest.iter_mut().zip(about(values)).for_each(|(size, log)| size.push((key, log - level)));
            }
            parts.push(StandardError { value: variance(&levels).sqrt(), degrees: (side.len() - 1) as f64 });
        }
        Self { between: BetweenRuns::pooled(parts.into_iter()), beyond: stats::shared_nearby(&rest, |key| key % 2) }
    }
}
