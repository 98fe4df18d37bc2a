//! What a soak (`run --duration`) answers: the times of its sizes and their percentiles, over all that it lasted. It is of one connection, so
//! that nothing tells how far the next one lies from it, and of a size or a few, which make no curve.

use super::asked::Asked;
use super::reply::cannot;
use crate::config::question::{Question, size_words};
use crate::document::Answered;

/// What a reader must know of every answer.
pub const NOTE: &str = "over the whole soak: one connection, and nothing tells how far the next one lies from it";

/// Why a soak does not answer a question; none where it does.
pub fn refused(p: &Asked<'_>, question: &Question) -> Option<Answered> {
    if !p.soaks() {
        return None;
    }
    let of = match question {
        Question::Arrival { size, .. } => Some(Some(*size)),
        Question::Latency { .. } => Some(None),
        Question::Percentile { size, .. }
        | Question::Mean { size, .. }
        | Question::Minimum { size, .. }
        | Question::Deadline { size, .. }
        | Question::PercentileWithin { size, .. }
        | Question::PartWithin { size, .. } => Some(*size),
        _ => None,
    };
    let only = "this is a soak (run --duration), which tells the times and percentiles of its sizes only";
    match of {
        None => Some(cannot(p, format!("{only}; for the rest measure rounds: pipegauge run without --duration"), &[])),
        Some(Some(size)) if p.row(size).is_none() => {
            let had: Vec<String> = p.curve().iter().map(|c| size_words(c.size)).collect();
            Some(cannot(p, format!("{only}, and it has no {} ({})", size_words(size), had.join(", ")), &[size]))
        }
        Some(_) => None,
    }
}
