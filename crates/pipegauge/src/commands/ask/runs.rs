//! How far whole runs of a path lie apart on this machine: what its run file carries of earlier ones.

use units::{Kind, Share, format::significant};

use super::asked::Asked;
use super::reply::{alone, cannot, yes};
use crate::config::question::size_words;
use crate::document::Answered;

/// Earlier runs that say where a repeat falls.
const FEW: usize = 3;

/// How much a path varies from run to run, and where a repeat of one size falls.
pub fn apart(p: &Asked<'_>, size: Option<u64>) -> Answered {
    let Some((spread, runs)) = p.between() else {
        return cannot(p, format!("how far runs lie apart: {}", p.not_known()), &[]);
    };
    let at = size.or(p.summary().map(|s| s.latency_size)).unwrap_or(0);
    let row = p.row(at);
    if size.is_some() && row.is_none() {
        return cannot(
            p,
            format!(
                "{} was not measured; {} differ by {}{}",
                size_words(at),
                p.runs_that().0,
                Share(spread),
                p.runs_that().1
            ),
            &[at],
        );
    }
    let repeat = row.and_then(|f| f.repeat_low.zip(f.repeat_high));
    let repeat = repeat
        .map_or(String::new(), |(low, high)| format!("; {}", report::table::foretold(&size_words(at), (low, high))));
    let seen = p.earlier_at(at);
    let ends = seen.iter().copied().reduce(f64::min).zip(seen.iter().copied().reduce(f64::max));
    let seen = ends.map_or(String::new(), |(least, most)| {
        let end = |x: f64| significant(x, Kind::Seconds);
        format!("; medians of {} in earlier runs: {} to {}", size_words(at), end(least), end(most))
    });
    let few = if runs < FEW { "; so few runs tell little" } else { "" };
    let text = format!(
        "{} differ by {}{} (standard deviation, {runs} earlier {}){repeat}{seen}{few}",
        p.runs_that().0,
        Share(spread),
        p.runs_that().1,
        if runs == 1 { "run" } else { "runs" }
    );
    Answered { rests_on: Vec::new(), ..yes(p, text, alone(spread), "1", vec![at]) }
}
