//! Whether a message is there in time.

use measure::event::TimeKind;
use units::{Kind, Seconds, Share};

use super::asked::{Asked, figure};
use super::below;
use super::percentiles::{but, late, stands_in};
use super::reply::{answered, no, yes};
use super::times::{no_journey, not_in_one, or_smallest, streamed, trip};
use crate::config::question::size_words;
use crate::document::Answered;

/// Whether a message is there within a time, or takes longer where that is asked.
pub fn deadline(
    p: &Asked<'_>,
    size: Option<u64>,
    (seconds, longer): (f64, bool),
    round_trip: bool,
    sustained: bool,
) -> Answered {
    // "can it transfer 100 GB in a minute": the way of the last message is nothing beside that.
    let whole = size.filter(|_| !round_trip && !sustained && !longer).and_then(|size| streamed(p, size, Some(seconds)));
    if let Some(answer) = whole {
        return answer;
    }
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    match or_smallest(p, size).and_then(|size| Ok((size, trip(p, size, round_trip, sustained)?))) {
        Err(why) => match size {
            Some(size) => not_in_one(p, size, &why, round_trip),
            None => no(p, &why, &[]),
        },
        Ok((size, (t, label))) => {
            // The way there is a part of the time there and back: that this is too long says nothing of it.
            let part = !round_trip && matches!(p.kind, Some(TimeKind::RoundTrip | TimeKind::Transaction));
            let (verdict, seen) = match below::below(t.seconds, seconds, t.seen, sustained, Kind::Seconds) {
                ("no", _) if part => ("not surely", String::new()),
                found => found,
            };
            let way = if part {
                let pattern = p.there_and_back();
                format!("; that is there and back, and the way there takes less (--pattern {pattern} tells it)")
            } else {
                String::new()
            };
            let late = if round_trip || sustained || part { None } else { late(p, size, seconds) };
            let answered = if longer { answered(verdict, true) } else { but(verdict, late) };
            let late = late.map_or(String::new(), |(share, at)| {
                format!("; {} of single transfers take longer{}", Share(share), stands_in(at, size))
            });
            let asked = if longer { "asked about" } else { "it has" };
            let text = format!(
                "{}: {} takes {} ({label}) of the {} {asked}{}{seen}{way}{late}",
                answered,
                size_words(size),
                figure(t.seconds, Kind::Seconds),
                Seconds(seconds),
                t.how
            );
            yes(p, text, t.seconds, "s", t.rests_on)
        }
    }
}
