//! Whether one path is so many times as fast as another.

use model::Estimate;
use model::answer::RoundRange;
use units::Share;

use super::asked::{Asked, inverse};
use super::reply::answered;
use crate::config::question::{Multiple, size_words};

/// "yes at 1 B, not surely at 64 KiB (whether 10 times as fast as tcp)", of how many times as long the second path takes at these sizes. Ends so
/// that the sentence goes on with "is".
pub fn told(asked: Multiple, (a, b): (&Asked<'_>, &Asked<'_>), factors: &[(u64, Estimate)]) -> String {
    let one = |(size, factor): &(u64, Estimate)| {
        let seen = RoundRange::times(a.curve(), &[*size]).zip(RoundRange::times(b.curve(), &[*size]));
        let seen = seen.map(|(a, b)| Estimate { value: factor.value, low: b.least / a.most, high: b.most / a.least });
        let near = near(asked, *factor, reached(asked, *factor, seen));
        format!("{} at {}{near}", word(asked, *factor, seen), size_words(*size))
    };
    let all: Vec<String> = factors.iter().map(one).collect();
    format!("{} (whether {asked} as {});\n  it ", all.join(", "), b.name)
}

/// How far the interval of a factor ends from what was asked, where its ends, rounded to hundredths, do not show that.
fn near(asked: Multiple, factor: Estimate, word: &str) -> String {
    let way = if asked.slow { inverse(factor, 1.0) } else { factor };
    let (end, side) = if word == "yes" { (way.low, "above") } else { (way.high, "below") };
    let hidden = word != "not surely" && end.is_finite() && (end - asked.times).abs() < ROUNDED;
    match hidden {
        true => format!(" (the interval ends {} {side} that)", Share((end / asked.times - 1.0).abs())),
        false => String::new(),
    }
}

/// What two decimals leave open.
const ROUNDED: f64 = 0.011;

/// Times as far as what was asked that all rounds must lie, as for any limit without an interval.
const MARGIN: f64 = 3.0;

/// Whether it is so many times as fast, or less than that where that is asked.
pub fn word(asked: Multiple, factor: Estimate, seen: Option<Estimate>) -> &'static str {
    answered(reached(asked, factor, seen), asked.less)
}

/// The same, with how far the interval ends from what was asked where two decimals do not show it.
pub fn judged(asked: Multiple, factor: Estimate, seen: Option<Estimate>) -> String {
    let reached = reached(asked, factor, seen);
    format!("{}{}", answered(reached, asked.less), near(asked, factor, reached))
}

/// By the interval, else by the least and the most that rounds allow.
fn reached(asked: Multiple, factor: Estimate, seen: Option<Estimate>) -> &'static str {
    let told = factor.low > 0.0 && factor.high.is_finite();
    let way = |e: Estimate| if asked.slow { inverse(e, 1.0) } else { e };
    let (found, margin) = if told { (Some(way(factor)), 1.0) } else { (seen.map(way), MARGIN) };
    match found {
        Some(e) if e.low >= asked.times * margin => "yes",
        Some(e) if e.high * margin < asked.times => "no",
        _ => "not surely",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_is_judged_by_the_interval_or_by_all_rounds() {
        let e = |value, low, high| Estimate { value, low, high };
        let fast = |times| Multiple { times, slow: false, less: false };
        let told = e(12.0, 11.0, 14.0);
        assert_eq!([10.0, 12.0, 20.0].map(|n| word(fast(n), told, None)), ["yes", "not surely", "no"]);
        let slow = Multiple { times: 2.0, slow: true, less: false };
        assert_eq!(word(slow, e(0.4, 0.3, 0.45), None), "yes");
        assert_eq!(word(slow, told, None), "no");
        // Less than 2 times as slow is what is not twice as slow.
        let less = Multiple { less: true, ..slow };
        assert_eq!(
            [e(0.4, 0.3, 0.45), told, e(0.5, 0.4, 0.6)].map(|e| word(less, e, None)),
            ["no", "yes", "not surely"]
        );
        let close = e(2.97, 2.94, 2.998);
        assert_eq!(near(fast(3.0), close, "no"), " (the interval ends 0.067% below that)");
        assert_eq!([near(fast(4.0), close, "no"), near(fast(3.0), close, "not surely")], ["", ""]);
        assert_eq!(judged(fast(3.0), close, None), "no (the interval ends 0.067% below that)");
        assert_eq!(judged(fast(2.0), close, None), "yes");
        let open = e(12.0, 0.0, f64::INFINITY);
        assert_eq!(word(fast(10.0), open, None), "not surely");
        assert_eq!(word(fast(2.0), open, Some(e(12.0, 7.0, 40.0))), "yes");
        assert_eq!(word(fast(2.0), open, Some(e(2.1, 2.01, 2.3))), "not surely", "a hair's breadth of a few rounds");
    }
}
