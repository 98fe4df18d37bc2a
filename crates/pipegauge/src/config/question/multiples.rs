//! So many times of what another path or size has: "twice the latency of unix", "half that of tcp", "ten times the bandwidth of tcp", "an order of
//! magnitude faster".

use super::Multiple;
use super::amounts::is_slow;
use super::lexicon::{Topic, topics};
use super::numbers::{Words, number};

/// Times by name.
const NAMED: [(&str, f64); 6] =
    [("twice", 2.0), ("double", 2.0), ("thrice", 3.0), ("triple", 3.0), ("quadruple", 4.0), ("half", 0.5)];

/// So many times as fast or slow, where such words begin at a place, and the place behind those that say how many: what is said to be so many times
/// as large comes next.
pub fn at(words: Words<'_>, at: usize) -> Option<(Multiple, usize)> {
    if let Some((times, next)) = magnitudes(words, at) {
        let slow = is_slow(words.low(next)?)?;
        return Some((Multiple { times, slow, less: false }, next));
    }
    let (times, next) = quantity(words, at)?;
    let of_what =
        words.any(next, &["the"]) && words.any(next + 2 + usize::from(words.any(next + 1, &["round"])), &["of"]);
    let more = match () {
        // "half as fast as"
        () if words.any(next, &["as"]) && words.any(at, &["half"]) => match words.low(next + 1)? {
            "high" | "much" => flow(words),
            word => !is_slow(word)?,
        },
        () if words.any(next, &["that"]) && words.any(next + 1, &["of"]) => flow(words),
        () if of_what => moved(words, next + 1)?,
        () => return None,
    };
    let (times, slow) = if times < 1.0 { (1.0 / times, more) } else { (times, !more) };
    let next = if of_what { next + 1 } else { next + 2 };
    Some((Multiple { times, slow, less: false }, next))
}

/// "twice", "half", "ten times", "3x".
fn quantity(words: Words<'_>, at: usize) -> Option<(f64, usize)> {
    if let Some((_, times)) = NAMED.iter().find(|(name, _)| words.any(at, &[name])) {
        return Some((*times, at + 1));
    }
    let (digits, next) = number(words, at, |_| false)?;
    let times = digits.parse::<f64>().ok().filter(|n| *n > 0.0 && n.is_finite())?;
    words.any(next, &["times", "x", "fold"]).then_some((times, next + 1))
}

/// "an order of magnitude", "two orders of magnitude".
fn magnitudes(words: Words<'_>, at: usize) -> Option<(f64, usize)> {
    let (power, next) = match words.any(at, &["an", "one"]) {
        true => (1, at + 1),
        false => {
            let (digits, next) = number(words, at, |_| false)?;
            (digits.parse::<i32>().ok().filter(|n| (1..=9).contains(n))?, next)
        }
    };
    let said =
        words.any(next, &["order", "orders"]) && words.any(next + 1, &["of"]) && words.any(next + 2, &["magnitude"]);
    said.then_some((10f64.powi(power), next + 3))
}

/// Whether what is said to be so many times as large is what is moved, or a time; none where it is neither: "twice the data".
fn moved(words: Words<'_>, at: usize) -> Option<bool> {
    let two = words.low(at).zip(words.low(at + 1)).map(|(a, b)| format!("{a} {b}"));
    let mut found = topics(words.low(at)?);
    found.extend(two.map(|two| topics(&two)).unwrap_or_default());
    match () {
        () if found.contains(&Topic::Throughput) => Some(true),
        () if found.contains(&Topic::Latency) || found.contains(&Topic::RoundTrip) || words.any(at, &["time"]) => {
            Some(false)
        }
        () => None,
    }
}

/// Whether a throughput is spoken of.
fn flow(words: Words<'_>) -> bool {
    (0..words.0.len()).any(|at| words.low(at).is_some_and(|word| topics(word).contains(&Topic::Throughput)))
}
