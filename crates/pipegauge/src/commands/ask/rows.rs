//! What stands in the row of a measured size: its shortest trial, its mean.

use model::answer::Unanswered;
use units::{Kind, Seconds};

use super::asked::{Asked, figure};
use super::reply::{alone, no, yes};
use super::times::{no_journey, of, or_smallest};
use crate::config::question::size_words;
use crate::document::Answered;

/// How many of a path's times are asked for, and what they are called.
fn trip(p: &Asked<'_>, round_trip: bool) -> Result<(f64, &'static str), Unanswered> {
    if round_trip { p.round_trip().map_err(Unanswered::NoSum) } else { Ok((1.0, p.time)) }
}

/// The minimum of a measured size's row.
pub fn minimum(p: &Asked<'_>, size: Option<u64>, round_trip: bool) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    let found = or_smallest(p, size).and_then(|size| {
        let (factor, label) = trip(p, round_trip)?;
        let row = p.row(size).ok_or_else(|| {
            Unanswered::NoSum(format!(
                "{} was not measured, and a shortest time is of a measured size",
                size_words(size)
            ))
        })?;
        Ok((size, row.min * factor, label))
    });
    match found {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((size, least, label)) => {
            let text = format!(
                "the shortest trial of {} took {} ({label}) a transfer: the minimum of its row, a mean over that trial",
                size_words(size),
                Seconds(least)
            );
            yes(p, text, alone(least), "s", vec![size])
        }
    }
}

/// The size whose mean is told where one is asked of another: the nearest that was measured, from half to twice of it, as for percentiles.
pub(super) fn nearest(p: &Asked<'_>, size: u64) -> Option<u64> {
    let off = |at: u64| (at.max(1) as f64 / size.max(1) as f64).ln().abs();
    let sizes = p.curve().iter().map(|c| c.size);
    let near = sizes.filter(|at| (size.div_ceil(2)..=size.saturating_mul(2)).contains(at));
    near.min_by(|a, b| off(*a).total_cmp(&off(*b)))
}

/// The mean of a measured size's row, with its median; of another size that of the nearest, and where none is near the median, as a mean is of
/// what was measured.
pub fn mean(p: &Asked<'_>, size: Option<u64>, round_trip: bool) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    let found = p.own_times().and_then(|()| or_smallest(p, size)).and_then(|size| {
        let (factor, label) = trip(p, round_trip)?;
        Ok((size, of(p, size)?.times(factor), label))
    });
    match found {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((size, median, label)) => {
            let at = nearest(p, size).unwrap_or(size);
            let mean = p.row(at).map(|row| row.mean * trip(p, round_trip).map_or(1.0, |t| t.0));
            let typical = figure(median.seconds, Kind::Seconds);
            match mean.filter(|m| m.is_finite() && *m > 0.0) {
                Some(mean) => {
                    let (stands, of) = match at == size {
                        true => (String::new(), String::new()),
                        false => (
                            format!(", the measured size nearest to {},", size_words(size)),
                            format!(" of {}", size_words(size)),
                        ),
                    };
                    let text = format!(
                        "{}{stands} took {} ({label}) on average, the mean of all its trials, interruptions included; the median{of} is {typical}",
                        size_words(at),
                        figure(alone(mean), Kind::Seconds)
                    );
                    yes(p, text, alone(mean), "s", vec![at])
                }
                None => {
                    let text = format!(
                        "{} takes {typical} ({label}){}, which is the median: a mean is told of measured sizes only, and none is near",
                        size_words(size),
                        median.how
                    );
                    yes(p, text, median.seconds, "s", median.rests_on)
                }
            }
        }
    }
}
