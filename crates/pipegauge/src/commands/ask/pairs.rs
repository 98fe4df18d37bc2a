//! One path held against another.

use model::Estimate;
use model::answer::Unanswered;
use units::{Bytes, Kind};

use super::asked::{Asked, figure, inverse};
use super::kept;
use super::multiple;
use super::reply::{cannot, no, nobody, sharpen_both, yes};
use super::rounds::every_round;
use super::times::of as time;
use crate::config::question::{Multiple, Named, size_words};
use crate::document::Answered;

/// One path against another. `factor` has the answer begin with how many times faster or slower the first is, and before that with whether it
/// is so many times as fast, where that is asked.
pub fn cost(
    paths: &[Asked<'_>],
    x: &Named,
    y: &Named,
    size: Option<u64>,
    factor: (bool, Option<Multiple>),
) -> Vec<Answered> {
    of(paths, x, y, |a, b| pair(a, b, size, factor))
}

/// The answers pair by pair: those of one file where a file has both paths, else all.
pub fn of(
    paths: &[Asked<'_>],
    x: &Named,
    y: &Named,
    answer: impl Fn(&Asked<'_>, &Asked<'_>) -> Answered,
) -> Vec<Answered> {
    let of = |n: &Named| paths.iter().enumerate().filter(|(_, p)| p.is(n)).collect::<Vec<_>>();
    let (xs, ys) = (of(x), of(y));
    let mut pairs: Vec<(&Asked<'_>, &Asked<'_>)> = Vec::new();
    // Two files, no transport: what both have is held against each other.
    let same = x.transport.is_none() && y.transport.is_none();
    for (i, a) in &xs {
        pairs.extend(ys.iter().filter(|(j, b)| i != j && (!same || a.label == b.label)).map(|(_, b)| (*a, *b)));
    }
    if pairs.iter().any(|(a, b)| a.file == b.file) {
        pairs.retain(|(a, b)| a.file == b.file);
    }
    if pairs.is_empty() {
        let names: Vec<&str> = paths.iter().map(|p| p.name.as_str()).collect();
        let text = format!(
            "the runs have no paths '{x}' and '{y}' to hold against each other; they have: {}",
            names.join(", ")
        );
        let named = |n: &Named| n.transport.clone().unwrap_or_else(|| "tcp".to_owned());
        let mut answer = nobody(
            text,
            if named(x) == named(y) {
                format!("pipegauge run {}", named(x))
            } else {
                format!("pipegauge run {} {}", named(x), named(y))
            },
        );
        answer.path = format!("{x}, {y}");
        return vec![answer];
    }
    pairs.into_iter().map(|(a, b)| answer(a, b)).collect()
}

/// Why two paths can't be held against each other, as an answer; none where they can.
pub fn unlike(a: &Asked<'_>, b: &Asked<'_>, sizes: &[u64]) -> Option<Answered> {
    Some(cannot(a, a.against(b).err()?, sizes))
}

/// The sizes that both paths have, ascending.
pub fn common(a: &Asked<'_>, b: &Asked<'_>) -> Vec<u64> {
    let mut sizes: Vec<u64> = a.curve.iter().map(|p| p.size).filter(|s| b.curve.iter().any(|p| p.size == *s)).collect();
    sizes.sort_unstable();
    sizes
}

fn pair(a: &Asked<'_>, b: &Asked<'_>, size: Option<u64>, (factor, asked): (bool, Option<Multiple>)) -> Answered {
    if let Some(answer) = unlike(a, b, size.as_slice()) {
        return answer;
    }
    let sizes = common(a, b);
    let extra = |s: u64| {
        let (over, under) = (time(a, s).ok()?, time(b, s).ok()?);
        let how = if over.how.is_empty() { under.how } else { over.how };
        let (over, under) = (over.seconds, under.seconds);
        Some((model::difference(over, under), over.value / under.value, how))
    };
    let chosen: Vec<u64> = match size {
        Some(size) => vec![size],
        None => {
            [0, sizes.len() / 2, sizes.len().saturating_sub(1)].iter().filter_map(|i| sizes.get(*i).copied()).collect()
        }
    };
    let found: Vec<(u64, Estimate, f64, String)> =
        chosen.iter().filter_map(|s| extra(*s).map(|(e, ratio, how)| (*s, e, ratio, how))).collect();
    let Some((_, first, _, _)) = found.first() else {
        let why = match size {
            Some(s) => time(a, s).err().or(time(b, s).err()).unwrap_or(Unanswered::Nothing),
            None => Unanswered::TooLittle("the two paths have no size in common"),
        };
        return no(a, &why, size.as_slice());
    };
    // Where no interval tells the two apart, all rounds of one may still lie beyond all of the other.
    let every = |size: u64| every_round(&a.curve, &b.curve, size);
    let parts: Vec<String> = found
        .iter()
        .map(|(s, e, ratio, how)| {
            let sure = match () {
                () if e.low > 0.0 || e.high < 0.0 => "",
                () if every(*s).is_some() => ", in every round",
                () => ", not surely different",
            };
            format!("{} at {} ({:+.0}%{sure}){how}", more(*e), size_words(*s), (ratio - 1.0) * 100.0)
        })
        .collect();
    let verdict = if size.is_some() { String::new() } else { verdict(a, b, &sizes, (&extra, &every)) };
    let factors: Vec<(u64, Estimate)> = (found.iter())
        .filter_map(|(s, ..)| Some((*s, ratio(time(b, *s).ok()?.seconds, time(a, *s).ok()?.seconds))))
        .collect();
    let times: Vec<String> = (factors.iter().filter(|_| factor))
        .map(|(s, of)| faster(*of, &b.name, every(*s).is_some(), &size_words(*s)))
        .collect();
    let lead = if times.is_empty() { String::new() } else { format!("is {};\n  it ", times.join(", ")) };
    let asked = asked.map_or(String::new(), |m| multiple::told(m, (a, b), &factors));
    let text = format!(
        "{asked}{lead}costs over {}: {} ({}){verdict}{}",
        b.name,
        parts.join(", "),
        a.time,
        a.against(b).unwrap_or_default()
    );
    let mut answer = yes(a, text, *first, "s", found.iter().map(|f| f.0).collect());
    if asked.is_empty() {
        answer.text = answer.text.replacen(": ", " ", 1);
    }
    answer.path = format!("{}, {}", a.name, b.name);
    answer.factor = factors.first().map(|f| f.1);
    answer.sharpen = sharpen_both(a, b);
    answer
}

/// How many times as long the one takes as the other. The two errors are independent, as in [`model::difference`].
pub fn ratio(long: Estimate, short: Estimate) -> Estimate {
    kept::longer(long, inverse(short, 1.0))
}

/// "3.10 times [2.91, 3.33] faster than tcp at 64 B", "100 times faster than tcp at 64 B (no interval; in every round)", of how many times as
/// long tcp takes. The ends are rounded outwards, so that the text claims no narrower interval than was found.
fn faster(factor: Estimate, name: &str, every: bool, size: &str) -> String {
    let (f, word) = match factor.value >= 1.0 {
        true => (factor, "faster"),
        false => (inverse(factor, 1.0), "slower"),
    };
    let sure = match () {
        () if f.low > 1.0 => "",
        () if every => "in every round",
        () => "not surely different",
    };
    let (times, about) = factor_words(f, sure);
    format!("{times} {word} than {name} at {size}{about}")
}

/// "3.10 times [2.91, 3.33]", "0.98 times [0.95, 1.02] (not surely different)".
pub fn times_words(f: Estimate, sure: &str) -> String {
    let (times, about) = factor_words(f, sure);
    times + &about
}

/// A factor with its interval, and what is said of it in brackets.
fn factor_words(f: Estimate, sure: &str) -> (String, String) {
    let places = |x: f64| if x < 100.0 { 2 } else { 0 };
    let text = |x: f64| format!("{x:.*}", places(x));
    // A hair's breadth, for ends that are round already.
    let outwards = |x: f64, round: fn(f64) -> f64, hair: f64| {
        let scale = 10f64.powi(places(x) as i32);
        text(round(x * scale * (1.0 + hair)) / scale)
    };
    let open = !(f.low > 0.0 && f.high.is_finite());
    let range = match open {
        true => String::new(),
        false => format!(" [{}, {}]", outwards(f.low, f64::floor, 1e-12), outwards(f.high, f64::ceil, -1e-12)),
    };
    let about: Vec<&str> =
        [if open { "no interval" } else { "" }, sure].into_iter().filter(|s| !s.is_empty()).collect();
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join("; ")) };
    (format!("{} times{range}", text(f.value)), about)
}

/// "2.67 us [2.5, 2.9] more", "1.26 us [1.0, 1.7] less".
fn more(e: Estimate) -> String {
    let less = Estimate { value: -e.value, low: -e.high, high: -e.low };
    match e.value < 0.0 {
        true => format!("{} less", figure(less, Kind::Seconds)),
        false => format!("{} more", figure(e, Kind::Seconds)),
    }
}

/// At how many sizes one is surely faster than the other.
fn verdict(
    a: &Asked<'_>,
    b: &Asked<'_>,
    sizes: &[u64],
    (extra, every): (&impl Fn(u64) -> Option<(Estimate, f64, String)>, &impl Fn(u64) -> Option<bool>),
) -> String {
    let all: Vec<(u64, Estimate)> = sizes.iter().filter_map(|s| extra(*s).map(|(e, _, _)| (*s, e))).collect();
    let count = |of: &dyn Fn(u64, &Estimate) -> bool| {
        let them: Vec<u64> = all.iter().filter(|(s, e)| of(*s, e)).map(|(s, _)| *s).collect();
        match (them.first(), them.last()) {
            (Some(first), Some(last)) if first < last => {
                format!("at {} of {} sizes ({} to {})", them.len(), all.len(), Bytes(*first), Bytes(*last))
            }
            (Some(first), _) => format!("at {} of {} sizes ({})", them.len(), all.len(), Bytes(*first)),
            _ => format!("at none of {} sizes", all.len()),
        }
    };
    let unsure = |e: &Estimate| e.low <= 0.0 && e.high >= 0.0;
    let beyond = |s: u64, e: &Estimate, first: bool| unsure(e) && every(s) == Some(first);
    let sure = format!(
        "{} is surely faster {}, {} {}",
        a.name,
        count(&|_, e| e.high < 0.0),
        b.name,
        count(&|_, e| e.low > 0.0)
    );
    let rounds: Vec<String> = [(true, &a.name), (false, &b.name)]
        .into_iter()
        .filter(|(first, _)| all.iter().any(|(s, e)| beyond(*s, e, *first)))
        .map(|(first, name)| format!("{name} in every round {}", count(&|s, e| beyond(s, e, first))))
        .collect();
    match rounds.is_empty() {
        true => format!("\n  {sure}"),
        // What surely is faster nowhere is not worth a word beside that.
        false if all.iter().all(|(_, e)| unsure(e)) => {
            format!("\n  no interval tells them apart, but faster is {}", rounds.join(", "))
        }
        false => format!("\n  {sure}; where no interval tells them apart, {}", rounds.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factors_errors_are_independent() {
        let (two, six) = (Estimate { value: 2.0, low: 1.9, high: 2.5 }, Estimate { value: 6.0, low: 5.0, high: 7.6 });
        assert_eq!(faster(ratio(six, two), "tcp", false, "64 B"), "3.00 times [2.24, 3.83] faster than tcp at 64 B");
        assert_eq!(faster(ratio(two, six), "unix", false, "64 B"), "3.00 times [2.24, 3.83] slower than unix at 64 B");
        let unsure = Estimate { value: 2.2, low: 1.0, high: 3.0 };
        assert_eq!(
            faster(ratio(unsure, two), "tcp", false, "64 B"),
            "1.10 times [0.48, 1.51] faster than tcp at 64 B (not surely different)"
        );
        let open = Estimate { value: 6.0, low: 0.0, high: f64::INFINITY };
        assert_eq!(
            faster(ratio(open, two), "tcp", false, "64 B"),
            "3.00 times faster than tcp at 64 B (no interval; not surely different)"
        );
    }

    #[test]
    fn a_factor_without_an_interval_may_hold_in_every_round() {
        let open = Estimate { value: 100.0, low: 0.0, high: f64::INFINITY };
        assert_eq!(
            faster(open, "tcp", true, "64 B"),
            "100 times faster than tcp at 64 B (no interval; in every round)"
        );
    }

    #[test]
    fn a_factors_interval_is_rounded_outwards() {
        let of = |low, value, high| faster(Estimate { value, low, high }, "tcp", false, "64 B");
        assert_eq!(of(1.239, 1.3, 1.381), "1.30 times [1.23, 1.39] faster than tcp at 64 B");
        assert_eq!(of(1.001, 1.3, 1.4), "1.30 times [1.00, 1.40] faster than tcp at 64 B");
        assert_eq!(of(119.9, 130.2, 144.1), "130 times [119, 145] faster than tcp at 64 B");
        assert_eq!(of(99.999, 120.0, 140.0), "120 times [99.99, 140] faster than tcp at 64 B");
    }
}
