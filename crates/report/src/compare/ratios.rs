//! Ratios in words: as percentages, as numbers of times, with their intervals.

use model::Estimate;
use units::{RESOLVED, Share, thousands};

/// Share of both tails together that leaves a fifth in one: a difference so far beyond an interval's half-width is found four times in five.
const FOUND_BEYOND: f64 = 0.6;

/// The smallest difference that is found four times in five, where none was, as [`model::Paired::finds`] is one of sides in turns: half of the
/// interval's width alone is found every other time. The errors are taken to be normal, which makes it no smaller than it is.
pub(super) fn needed(e: Estimate) -> String {
    let times = |confidence: f64| stats::student_t(confidence, f64::MAX);
    let beyond = 1.0 + times(FOUND_BEYOND) / times(stats::CONFIDENCE);
    percent((beyond * (e.high / e.low).ln() / 2.0).exp_m1())
}

/// Whether an interval is narrow enough to be shown: `117.9% [3.1%, 4231.6%]` is not.
pub(super) fn bounded(e: Estimate) -> bool {
    e.high.is_finite() && e.low > 0.0 && e.high <= RESOLVED * e.low
}

/// A ratio from which on percentages are hard to read: `2001346%`.
const MANY: f64 = 3.0;

pub(super) fn percent(v: f64) -> String {
    if v < 1e-3 { Share(v).to_string() } else { format!("{:.1}%", v * 100.0) }
}

fn times(v: f64) -> String {
    match v {
        v if v < 100.0 => format!("{v:.1}"),
        v if v < 1e15 => thousands(v.round() as u64),
        v => format!("{v:.2e}"),
    }
}

/// A ratio: as a percentage, and as a number of times where it is large.
pub(super) fn ratio(v: f64) -> String {
    if v < MANY { percent(v) } else { format!("{} times", times(v)) }
}

/// A ratio with its interval: `103.0% [101.2%, 104.8%]`, `205 [198, 212] times`.
pub(super) fn interval(e: Estimate) -> String {
    let (number, unit): (fn(f64) -> String, _) = if e.value < MANY { (percent, "") } else { (times, " times") };
    if bounded(e) {
        format!("{} [{}, {}]{unit}", number(e.value), number(e.low), number(e.high))
    } else if e.high.is_finite() && e.low > 0.0 {
        format!("{} (too wide an interval)", ratio(e.value))
    } else {
        format!("{} (no interval)", ratio(e.value))
    }
}

/// A ratio of times with its interval, for a sentence: `103.0% [101.2%, 104.8%] of the time`, `205 [198, 212] times the time`.
pub fn of_the_time(e: Estimate) -> String {
    of_time(e.value, &interval(e))
}

/// By how much more a ratio is than one: `+17%`, `-85%`, and `147 times as long` where a percentage is hard to read.
pub fn more_by(ratio: f64) -> String {
    match ratio {
        // Neither more nor less.
        r if ((r - 1.0) * 100.0).abs() < 0.5 => "0%".to_owned(),
        r if r < MANY => format!("{:+.0}%", (r - 1.0) * 100.0),
        r => format!("{} times as long", times(r)),
    }
}

/// A ratio of times as shown, for a sentence: `103.0% [101.2%, 104.8%] of the time`, `205 [198, 212] times the time`.
pub(super) fn of_time(value: f64, shown: &str) -> String {
    format!("{shown}{} the time", if value < MANY { " of" } else { "" })
}

/// A ratio of times in words.
pub(super) fn how(ratio: f64) -> String {
    let (factor, word) = if ratio < 1.0 { (1.0 / ratio, "faster") } else { (ratio, "slower") };
    if factor < 1.0005 {
        format!("less than 0.1% {word}")
    } else if factor >= 100.0 {
        format!("{} times {word}", times(factor))
    } else if factor < 1.2 {
        format!("{:.1}% {word}", (factor - 1.0) * 100.0)
    } else {
        format!("{factor:.2} times {word}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_of_many_times_is_no_percentage() {
        assert_eq!(
            [1.17, 0.15, 2.9, 126.3, 35_254.2].map(more_by),
            ["+17%", "-85%", "+190%", "126 times as long", "35,254 times as long"]
        );
        let e = |value, low, high| Estimate { value, low, high };
        assert_eq!(of_the_time(e(1.03, 1.012, 1.048)), "103.0% [101.2%, 104.8%] of the time");
        assert_eq!(of_the_time(e(35_254.2, 35_000.0, 35_500.0)), "35,254 [35,000, 35,500] times the time");
        assert_eq!(of_the_time(e(35.0, 3.76, 328.0)), "35.0 times (too wide an interval) the time");
    }
}
