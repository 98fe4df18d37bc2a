//! The time of a frame: "per frame at 60 fps", "in a 60 fps frame", where something else than the frame is sent in it.

use super::lexer::Lexeme;
use super::lexicon::{Topic, topics};
use super::numbers::{Words, number};

/// Words that a period stands behind.
const BEFORE: [&str; 8] = ["per", "each", "every", "in", "into", "within", "during", "of"];

/// What comes so many times a second, and in whose time other things are sent.
const TURNS: [&str; 7] = ["frame", "tick", "loop", "cycle", "step", "iteration", "turn"];

/// Seconds of the frame that such words at a place speak of, and the place behind them.
pub fn frame(words: Words<'_>, at: usize) -> Option<(f64, usize)> {
    if !words.any(at, &BEFORE) {
        return None;
    }
    let article = |at: usize| at + usize::from(words.any(at, &["a", "an", "one", "the", "each", "every", "single"]));
    let from = article(at + 1);
    let (rate, next) = match words.any(from, &TURNS) && words.any(from + 1, &["at", "of"]) {
        true => rate(words, from + 2)?,
        false => rate(words, from).filter(|(_, next)| words.any(*next, &TURNS)).map(|(rate, next)| (rate, next + 1))?,
    };
    let inside = |i: usize| (at..next).contains(&i);
    (rate > 0.0 && sent_in_it(words, inside)).then_some((1.0 / rate, next))
}

/// "60 fps", "144 Hz": frames a second.
fn rate(words: Words<'_>, at: usize) -> Option<(f64, usize)> {
    let (digits, next) = number(words, at, |_| false)?;
    let rate = digits.parse::<f64>().ok().filter(|rate| rate.is_finite())?;
    let thousands = if words.any(next, &["khz"]) { 1e3 } else { 1.0 };
    words.any(next, &["fps", "hz", "hertz", "khz"]).then_some((rate * thousands, next + 1))
}

/// Whether something else than frames is sent in a frame's time: so many messages, or as much as fits. A frame of so many bytes at so many a second is
/// what is sent itself.
fn sent_in_it(words: Words<'_>, inside: impl Fn(usize) -> bool) -> bool {
    let outside = || (0..words.0.len()).filter(|i| !inside(*i));
    let other = |i: usize| {
        let word = words.low(i).filter(|word| !["frame", "frames", "tick", "ticks"].contains(word));
        let of = word.map(topics).unwrap_or_default();
        of.iter().any(|t| matches!(t, Topic::Messages | Topic::Requests | Topic::RoundTrip))
            || words.any(i, &["trip", "trips", "share", "part", "fraction", "percentage", "portion", "left"])
    };
    let sized = |i: usize| matches!(words.0.get(i), Some(Lexeme::Number(_)));
    outside().any(other) || !outside().any(sized)
}
