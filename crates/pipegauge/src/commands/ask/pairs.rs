//! One path held against another.

use model::answer::Unanswered;
use model::{Comparison, Estimate, Side};
use stats::{CONFIDENCE, holm, student_p, student_t};
use units::{Bytes, Kind};

use super::asked::{Asked, figure, inverse};
use super::kept;
use super::multiple;
use super::rates::{each, moved};
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
    let of = |n: &Named| paths.iter().enumerate().filter(|(_, p)| p.meant(n, paths)).collect::<Vec<_>>();
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
    // Two pairs of processes are held against two, not against one.
    if pairs.iter().any(|(a, b)| a.set() == b.set()) {
        pairs.retain(|(a, b)| a.set() == b.set());
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

/// Two paths held against each other at any size.
struct Held<'a, 'b> {
    a: &'a Asked<'b>,
    b: &'a Asked<'b>,
    /// Round by round, where their rounds took turns, as `compare` does it.
    turns: Option<Comparison>,
}

/// What the first path takes more than the second.
struct Extra {
    seconds: Estimate,
    /// Times as long as the second.
    ratio: Estimate,
    /// How it was found, where it was not measured there.
    how: String,
}

impl<'a, 'b> Held<'a, 'b> {
    fn of(a: &'a Asked<'b>, b: &'a Asked<'b>) -> Self {
        let turns = if a.in_turns(b) {
            Comparison::paired(&b.curve, &a.curve)
        } else if a.beside(b) {
            let side = |of: &Asked<'_>| vec![of.curve.clone()];
            Comparison::of_paths(Side::of(&side(b)), Side::of(&side(a))).filter(|c| c.paired.is_some())
        } else {
            None
        };
        Self { a, b, turns }
    }

    fn at(&self, size: u64) -> Option<Extra> {
        let (over, under) = (time(self.a, size).ok()?, time(self.b, size).ok()?);
        if let Some(found) = self.turns.iter().flat_map(|c| &c.sizes).find(|s| s.size == size) {
            let seconds = apart(over.seconds, under.seconds, found.ratio);
            return Some(Extra { seconds, ratio: found.ratio, how: String::new() });
        }
        let how = if over.how.is_empty() { under.how } else { over.how };
        let (over, under) = (over.seconds, under.seconds);
        Some(Extra { seconds: model::difference(over, under), ratio: ratio(over, under), how })
    }

    /// Whether the first is the faster one in every round (true), or the second.
    fn every(&self, size: u64) -> Option<bool> {
        every_round(&self.a.curve, &self.b.curve, size)
    }

    /// The sizes with what is more there, and whether that is sure of all of them together (Holm 1979).
    fn all(&self, sizes: &[u64]) -> Vec<(u64, Estimate, bool)> {
        let all: Vec<(u64, Estimate)> = sizes.iter().filter_map(|s| Some((*s, self.at(*s)?.seconds))).collect();
        let corrected = holm(&all.iter().map(|(_, e)| by_chance(*e)).collect::<Vec<_>>());
        let sure = |size: u64, p: f64| match &self.turns {
            Some(c) => c.sizes.iter().any(|s| s.size == size && s.significant),
            None => p < CHANCE,
        };
        all.iter().zip(corrected).map(|((size, e), p)| (*size, *e, sure(*size, p))).collect()
    }
}

/// How much longer one time is than another, with the interval that `layers` gives it, and so the same both ways round. Where only their
/// `ratio`, found round by round, tells which is longer, it ends on that side of nothing: no nearer than both times allow.
fn apart(over: Estimate, under: Estimate, ratio: Estimate) -> Estimate {
    let d = model::difference(over, under);
    // The least that is surely more, by the shorter and by the longer of the two times.
    let least = |base: Estimate, long: Estimate, ratio: Estimate| {
        ((ratio.low - 1.0) * base.low).max((1.0 - 1.0 / ratio.low) * long.low).max(0.0)
    };
    match () {
        () if ratio.low > 1.0 && d.low <= 0.0 => {
            let low = least(under, over, ratio);
            let value = if d.value > low { d.value } else { ((ratio.value - 1.0) * under.value).max(low) };
            Estimate { value, low, high: d.high.max(value) }
        }
        () if ratio.high < 1.0 && d.high >= 0.0 => negated(apart(under, over, inverse(ratio, 1.0))),
        () => d,
    }
}

/// Chance that any of many sizes falsely is a sure one.
const CHANCE: f64 = 0.05;

/// How probable a figure so far from nothing is where there is none, by its 95% interval.
fn by_chance(e: Estimate) -> f64 {
    let reach = if e.value > 0.0 { e.value - e.low } else { e.high - e.value };
    student_p(student_t(CONFIDENCE, f64::INFINITY) * e.value / reach, f64::INFINITY)
}

/// How many times as much the first path moves as the second: at its best where no size is named, and at a few sizes.
pub fn flow(
    paths: &[Asked<'_>],
    (x, y): (&Named, &Named),
    size: Option<u64>,
    asked: Option<Multiple>,
) -> Vec<Answered> {
    of(paths, x, y, |a, b| moves(a, b, size, asked))
}

fn moves(a: &Asked<'_>, b: &Asked<'_>, size: Option<u64>, asked: Option<Multiple>) -> Answered {
    if let Some(answer) = unlike(a, b, size.as_slice()) {
        return answer;
    }
    if let Some(p) = [a, b].into_iter().find(|p| p.scheduled()) {
        return super::schedule::no_throughput(p);
    }
    let sizes = common(a, b);
    let held = Held::of(a, b);
    let chosen = match size {
        Some(size) => vec![size],
        None => few(&sizes),
    };
    let rate = |p: &Asked<'_>, size: u64| moved(p, size).ok().map(|found| found.0);
    let at = |size: u64| {
        let (ratio, every) = (held.at(size)?.ratio, held.every(size).is_some());
        Some((size, rate(a, size)?, rate(b, size)?, inverse(ratio, 1.0), every))
    };
    let found: Vec<(u64, Estimate, Estimate, Estimate, bool)> = chosen.iter().filter_map(|s| at(*s)).collect();
    let Some((_, _, _, first, _)) = found.first() else {
        let why = match size {
            Some(s) => moved(a, s).err().or(moved(b, s).err()).unwrap_or(Unanswered::Nothing),
            None => Unanswered::TooLittle("the two paths have no size in common"),
        };
        return no(a, &why, size.as_slice());
    };
    let figure = |e: &Estimate| figure(*e, Kind::BitsPerSecond);
    let sure = |f: Estimate, every: bool| match () {
        () if f.low > 1.0 || f.high < 1.0 => "",
        () if every => "in every round",
        () => "not surely different",
    };
    let one = |(size, over, under, factor, every): &(u64, Estimate, Estimate, Estimate, bool)| {
        let times = times_words(*factor, sure(*factor, *every));
        format!("{times} as much at {}: {} against {}", size_words(*size), figure(over), figure(under))
    };
    let whole = a.summary.as_ref().zip(b.summary.as_ref()).filter(|_| size.is_none() && sizes.len() > 1);
    let whole = whole.map(|(x, y)| {
        let factor = ratio(x.max_throughput, y.max_throughput);
        let times = times_words(factor, sure(factor, false));
        let most = |e: Estimate, at: u64| format!("{} at {}", figure(&e), Bytes(at));
        let (x, y) = (most(x.max_throughput, x.max_size), most(y.max_throughput, y.max_size));
        (factor, format!("{times} as much as {} where each moves the most: {x} against {y}", b.name))
    });
    let told: Vec<String> = found.iter().map(one).collect();
    let words = whole.as_ref().map_or(format!("as {}: ", b.name), |(_, text)| format!("{text};\n  "));
    let factors: Vec<(u64, Estimate)> = found.iter().map(|f| (f.0, f.3)).collect();
    let factor = whole.as_ref().map_or(*first, |w| w.0);
    let lead = asked.map_or(String::new(), |m| match whole {
        Some(_) => {
            format!("{} (whether {} times as much as {});\n  it ", multiple::word(m, factor, None), m.times, b.name)
        }
        None => multiple::told(m, (a, b), &factors),
    });
    let text = match &whole {
        None => format!("{lead}moves {} ({})", told.join(", "), each(a)),
        Some(_) => format!("{lead}moves {words}{} ({})", told.join(", "), each(a)),
    };
    let mut answer = yes(a, text, factor, "1", found.iter().map(|f| f.0).collect());
    if lead.is_empty() {
        answer.text = answer.text.replacen(": ", " ", 1);
    }
    answer.text = match &whole {
        None => answer.text.replacen(" as much at ", &format!(" as much as {} at ", b.name), 1),
        Some(_) => answer.text,
    };
    answer.path = format!("{}, {}", a.name, b.name);
    answer.factor = Some(factor);
    answer.sharpen = sharpen_both(a, b);
    answer
}

/// The smallest, the middle and the largest of these.
fn few(sizes: &[u64]) -> Vec<u64> {
    let places = [0, sizes.len() / 2, sizes.len().saturating_sub(1)];
    let mut few: Vec<u64> = places.iter().filter_map(|i| sizes.get(*i).copied()).collect();
    few.dedup();
    few
}

fn pair(a: &Asked<'_>, b: &Asked<'_>, size: Option<u64>, (factor, asked): (bool, Option<Multiple>)) -> Answered {
    if let Some(answer) = unlike(a, b, size.as_slice()) {
        return answer;
    }
    let sizes = common(a, b);
    let held = Held::of(a, b);
    let chosen: Vec<u64> = match size {
        Some(size) => vec![size],
        None => few(&sizes),
    };
    let found: Vec<(u64, Extra)> = chosen.iter().filter_map(|s| Some((*s, held.at(*s)?))).collect();
    let Some((_, first)) = found.first() else {
        let why = match size {
            Some(s) => time(a, s).err().or(time(b, s).err()).unwrap_or(Unanswered::Nothing),
            None => Unanswered::TooLittle("the two paths have no size in common"),
        };
        return no(a, &why, size.as_slice());
    };
    // What is less wherever that is sure is saved.
    let less = |(_, extra): &&(u64, Extra)| extra.seconds.value < 0.0;
    let more_surely = found.iter().any(|(_, extra)| extra.seconds.low > 0.0);
    let saves = !factor && asked.is_none() && found.first().is_some_and(|first| less(&first)) && !more_surely;
    let parts: Vec<String> = found
        .iter()
        .map(|(s, extra)| {
            let e = extra.seconds;
            // Where no interval tells the two apart, all rounds of one may still lie beyond all of the other.
            let sure = match () {
                () if e.low > 0.0 || e.high < 0.0 => ", surely",
                () if held.every(*s).is_some() => ", in every round",
                () => ", not surely different",
            };
            let figure = match saves {
                true if e.value < 0.0 => figure(negated(e), Kind::Seconds),
                true => format!("and costs {}", more(e)),
                false => more(e),
            };
            let percent = (extra.ratio.value - 1.0) * 100.0;
            format!("{figure} at {} ({percent:+.0}%{sure}){}", size_words(*s), extra.how)
        })
        .collect();
    let whole = size.is_some() || (sizes.len() <= found.len() && held.turns.is_none());
    let verdict = if whole { String::new() } else { verdict(&held, &sizes) };
    let factors: Vec<(u64, Estimate)> = found.iter().map(|(s, extra)| (*s, inverse(extra.ratio, 1.0))).collect();
    let times: Vec<String> = (factors.iter().filter(|_| factor))
        .map(|(s, of)| faster(*of, &b.name, held.every(*s).is_some(), &size_words(*s)))
        .collect();
    let lead = if times.is_empty() { String::new() } else { format!("is {};\n  it ", times.join(", ")) };
    let asked = asked.map_or(String::new(), |m| multiple::told(m, (a, b), &factors));
    let turns = if held.turns.is_some() { ", round by round in turns" } else { "" };
    let text = format!(
        "{asked}{lead}{} over {}: {} ({}{turns}){verdict}{}",
        if saves { "saves" } else { "costs" },
        b.name,
        parts.join(", "),
        a.time,
        a.against(b).unwrap_or_default()
    );
    let mut answer = yes(a, text, first.seconds, "s", found.iter().map(|f| f.0).collect());
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
    // Two decimals of what lies near one; of less the first two digits that are none of naught.
    let places = |x: f64| match x {
        x if x >= 100.0 => 0,
        x if x >= 0.1 || x <= 0.0 => 2,
        x => 1 + (-x.log10().floor()).min(12.0) as usize,
    };
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
    match e.value < 0.0 {
        true => format!("{} less", figure(negated(e), Kind::Seconds)),
        false => format!("{} more", figure(e, Kind::Seconds)),
    }
}

fn negated(e: Estimate) -> Estimate {
    Estimate { value: -e.value, low: -e.high, high: -e.low }
}

/// At how many sizes one is surely faster than the other.
fn verdict(held: &Held<'_, '_>, sizes: &[u64]) -> String {
    let (a, b) = (held.a, held.b);
    let all = held.all(sizes);
    let count = |of: &dyn Fn(&(u64, Estimate, bool)) -> bool| {
        let them: Vec<u64> = all.iter().filter(|held| of(held)).map(|held| held.0).collect();
        match (them.first(), them.last()) {
            (Some(first), Some(last)) if first < last => {
                format!("at {} of {} sizes ({} to {})", them.len(), all.len(), Bytes(*first), Bytes(*last))
            }
            (Some(first), _) => format!("at {} of {} sizes ({})", them.len(), all.len(), Bytes(*first)),
            _ => format!("at none of {} sizes", all.len()),
        }
    };
    let beyond = |(s, _, sure): &(u64, Estimate, bool), first: bool| !sure && held.every(*s) == Some(first);
    let sure = format!(
        "{} is surely faster {}, {} {}",
        a.name,
        count(&|(_, e, sure)| *sure && e.value < 0.0),
        b.name,
        count(&|(_, e, sure)| *sure && e.value > 0.0)
    );
    let rounds: Vec<String> = [(true, &a.name), (false, &b.name)]
        .into_iter()
        .filter(|(first, _)| all.iter().any(|held| beyond(held, *first)))
        .map(|(first, name)| format!("{name} in every round {}", count(&|held| beyond(held, first))))
        .collect();
    let said = match rounds.is_empty() {
        true => format!("\n  {sure}"),
        // What surely is faster nowhere is not worth a word beside that.
        false if all.iter().all(|(_, _, sure)| !sure) => {
            format!("\n  no interval tells them apart, but faster is {}", rounds.join(", "))
        }
        false => format!("\n  {sure}; where no interval tells them apart, {}", rounds.join(", ")),
    };
    let whole = held.turns.as_ref().map_or(String::new(), |c| {
        format!("\n  over all sizes {} takes {} of the time of {}", a.name, figure(c.whole, Kind::Share), b.name)
    });
    said + &whole
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
    fn a_difference_in_seconds_is_the_same_both_ways_round() {
        let e = |value, low, high| Estimate { value, low, high };
        let turned = |over, under, ratio| negated(apart(under, over, inverse(ratio, 1.0)));
        let near = |a: Estimate, b: Estimate| {
            [(a.value, b.value), (a.low, b.low), (a.high, b.high)].iter().all(|(a, b)| (a - b).abs() < 1e-9)
        };
        // The ratio is close, and the time of the base is not: "saves 17.9 us [17.8, 18.2]", but "costs 17.7 us [16, 90]".
        let (unix, shm) = (e(18.2, 17.4, 48.0), e(0.3, 0.28, 0.31));
        let ratio = e(60.0, 52.0, 300.0);
        let found = apart(unix, shm, ratio);
        assert!(near(found, model::difference(unix, shm)) && near(found, turned(unix, shm, ratio)), "{found:?}");
        // Rounds tell which is longer where the two times do not.
        let (a, b, ratio) = (e(10.5, 9.0, 12.0), e(10.0, 8.5, 11.5), e(1.05, 1.03, 1.07));
        let found = apart(a, b, ratio);
        assert!(found.low > 0.0 && found.value > found.low && found.high > found.value, "{found:?}");
        assert!(near(found, turned(a, b, ratio)), "{found:?} {:?}", turned(a, b, ratio));
        // So they do where the medians lie the other way round.
        let found = apart(b, a, ratio);
        assert!(found.low > 0.0 && found.value > found.low && found.high >= found.value, "{found:?}");
    }

    #[test]
    fn what_is_sure_at_one_of_many_sizes_need_not_be_of_all() {
        let e = |value: f64, reach: f64| Estimate { value, low: value - reach, high: value + reach };
        assert!((by_chance(e(1.0, 1.0)) - 0.05).abs() < 1e-9 && (by_chance(e(-1.0, 1.0)) - 0.05).abs() < 1e-9);
        assert_eq!(by_chance(Estimate { value: 3.0, low: f64::NEG_INFINITY, high: f64::INFINITY }), 1.0);
        assert_eq!((by_chance(e(1.0, 0.0)), by_chance(e(0.0, 0.0))), (0.0, 1.0), "what is exact");
        let of_47: Vec<f64> = (0..47).map(|i| by_chance(e(if i == 9 { 1.2 } else { 0.1 }, 1.0))).collect();
        assert!(of_47[9] < CHANCE && holm(&of_47)[9] > CHANCE);
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
    fn a_small_factor_is_no_naught() {
        let of = |low, value, high| times_words(Estimate { value, low, high }, "");
        assert_eq!(of(0.0042, 0.00466, 0.0051), "0.0047 times [0.0042, 0.0051]");
        assert_eq!(of(0.0041, 0.052, 0.61), "0.052 times [0.0041, 0.61]");
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
