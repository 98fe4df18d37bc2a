//! How many streams a path carries, together.

use units::{BitRate, Bytes, Kind};

use super::asked::{Asked, figure, inverse, times};
use super::counts::whole;
use super::kept;
use super::rates::{as_kept, each, maximum};
use super::reply::{no, yes};
use super::surest::known;
use super::times::of;
use crate::config::question::size_words;
use crate::document::Answered;

/// Streams of so many bits a second: of frames of a size as many as the path moves of these one after another, else what goes into the most
/// that it moves.
pub fn streams(p: &Asked<'_>, rate: f64, frame: Option<u64>) -> Answered {
    frame.map_or_else(|| of_bits(p, rate), |size| of_frames(p, rate, size))
}

fn of_frames(p: &Asked<'_>, rate: f64, size: u64) -> Answered {
    let frames = rate / (size as f64 * 8.0);
    let timed = p.carried(size).and_then(|()| of(p, size));
    let t = match timed {
        Ok(t) => t,
        Err(why) => return no(p, &why, &[size]),
    };
    let kept = kept::at(p, size);
    let (how, rests_on) = (t.how.clone(), t.rests_on.clone());
    let t = t.kept_up(kept.factor);
    let count = inverse(t.seconds, 1.0 / frames);
    let text = format!(
        "{} of {}: a frame of {} takes {} ({}){how}, one after another, together for all{}",
        several(count),
        BitRate(rate),
        size_words(size),
        figure(t.seconds, Kind::Seconds),
        p.time,
        kept.words
    );
    yes(p, text, count, "1", rests_on)
}

fn of_bits(p: &Asked<'_>, rate: f64) -> Answered {
    let m = match maximum(p) {
        Ok(m) => m,
        Err(why) => return no(p, &why, &[]),
    };
    let (moves, at, unknown) = known(p, m.throughput, m.at);
    let (moves, words, _) = as_kept(p, at, moves, true);
    let count = times(moves, 1.0 / rate);
    let what = if unknown.is_empty() { "the most it moves" } else { "what it surely moves" };
    let text = format!(
        "{} of {}: {unknown}{what} is {} at {} ({}), together for all{words}",
        several(count),
        BitRate(rate),
        figure(moves, Kind::BitsPerSecond),
        Bytes(at),
        each(p)
    );
    yes(p, text, count, "1", vec![at])
}

/// "1 stream [1, 1]", "8 streams (no interval)", "between 1 and 90 streams".
fn several(count: model::Estimate) -> String {
    let text = whole(count);
    if text.starts_with("between") {
        return format!("{text} streams");
    }
    let (number, range) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{number} {} {range}", if number == "1" { "stream" } else { "streams" })
}
