//! Whether the mean time stays within a limit.

use model::answer::Unanswered;
use units::{Kind, Seconds};

use super::asked::{Asked, figure};
use super::reply::{alone, answered, cannot, no, verdict, yes};
use super::rows::nearest;
use super::times::{no_journey, or_smallest, trip};
use crate::config::question::size_words;
use crate::document::Answered;

/// The mean of the trials of the measured size that [`nearest`] finds.
fn nearest_mean(p: &Asked<'_>, size: u64) -> Option<(u64, f64)> {
    let at = nearest(p, size)?;
    Some((at, p.row(at)?.mean)).filter(|(_, mean)| mean.is_finite() && *mean > 0.0)
}

/// Whether the mean time of messages of a size stays within a limit, or exceeds it where that is asked. It counts interruptions, so that the median
/// says nothing of it.
pub fn within(p: &Asked<'_>, size: Option<u64>, (seconds, longer): (f64, bool), round_trip: bool) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    let factor = if round_trip { p.round_trip().map_err(Unanswered::NoSum) } else { Ok((1.0, p.time)) };
    let found = p.own_times().and_then(|()| or_smallest(p, size)).and_then(|size| Ok((size, factor?)));
    let (size, (factor, label)) = match found {
        Err(why) => return no(p, &why, size.as_slice()),
        Ok(found) => found,
    };
    let Some((at, mean)) = nearest_mean(p, size) else {
        return cannot(
            p,
            format!("no size near {} was measured, and a mean is of what was", size_words(size)),
            &[size],
        );
    };
    let mean = mean * factor;
    let stands = match at == size {
        true => String::new(),
        false => format!(" (the measured size nearest to {})", size_words(size)),
    };
    let median = trip(p, at, round_trip, false)
        .map_or(String::new(), |(t, _)| format!("; the median is {}", figure(t.seconds, Kind::Seconds)));
    let text = format!(
        "{}: {}{stands} took {} ({label}) on average, the mean of all its trials, interruptions included, where {} {}{median}",
        answered(verdict(as_measured(mean), seconds), longer),
        size_words(at),
        figure(alone(mean), Kind::Seconds),
        Seconds(seconds),
        if longer { "were asked about" } else { "are allowed" }
    );
    yes(p, text, alone(mean), "s", vec![at])
}

/// What was measured, as it was: a mean of that errs by nothing, and its answer says that it has no interval.
fn as_measured(mean: f64) -> model::Estimate {
    model::Estimate { value: mean, low: mean, high: mean }
}
