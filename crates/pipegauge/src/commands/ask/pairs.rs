//! One path held against another.

use model::Estimate;
use model::answer::{RoundRange, Unanswered};
use report::compare::{more_by, of_the_time};
use units::{Bytes, Kind};

use super::asked::{Asked, figure, inverse};
use super::multiple;
use super::rates::{each, moved};
use super::reply::{cannot, no, nobody, sharpen_both, yes};
use super::rounds::moves_more;
use super::times::whole as time;
use super::two_paths::{Extra, Sure, TwoPaths, negated, ratio};
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
    let mut sizes: Vec<u64> =
        a.curve().iter().map(|p| p.size).filter(|s| b.curve().iter().any(|p| p.size == *s)).collect();
    sizes.sort_unstable();
    sizes
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
    let held = TwoPaths::of(a, b);
    let chosen = match size {
        Some(size) => vec![size],
        None => few(&sizes),
    };
    let rate = |p: &Asked<'_>, size: u64| moved(p, size).ok().map(|found| found.0);
    let at = |size: u64| Some((size, rate(a, size)?, rate(b, size)?, held.at(size)?));
    let found: Vec<(u64, Estimate, Estimate, Extra)> = chosen.iter().filter_map(|s| at(*s)).collect();
    let Some((_, _, _, first)) = found.first() else {
        let why = match size {
            Some(s) => moved(a, s).err().or(moved(b, s).err()).unwrap_or(Unanswered::Nothing),
            None => Unanswered::TooLittle("the two paths have no size in common"),
        };
        return no(a, &why, size.as_slice());
    };
    let figure = |e: &Estimate| figure(*e, Kind::BitsPerSecond);
    let one = |(size, over, under, extra): &(u64, Estimate, Estimate, Extra)| {
        let times = times_words(extra.factor(), extra.sure_ratio.words());
        format!("{times} as much at {}: {} against {}", size_words(*size), figure(over), figure(under))
    };
    let whole = a.summary().zip(b.summary()).filter(|_| size.is_none() && sizes.len() > 1);
    let whole = whole.map(|(x, y)| {
        // By rounds in turns only where they say what the two figures beside it say.
        let own = ratio(x.max_throughput, y.max_throughput);
        let factor = held.most().filter(|most| own.low <= most.value && most.value <= own.high).unwrap_or(own);
        let every = || moves_more((a.lasting(), x.max_size), (b.lasting(), y.max_size)).is_some();
        let sure = match held.sure_of(factor) {
            Sure::No if every() => Sure::EveryRound,
            sure => sure,
        };
        let times = times_words(factor, sure.words());
        let most = |e: Estimate, at: u64| format!("{} at {}", figure(&e), Bytes(at));
        // Where no interval tells, the rounds decide, as for any limit.
        let rounds = |p: &Asked<'_>, size: u64| RoundRange::times(p.lasting(), &[size]);
        let seen = rounds(a, x.max_size).zip(rounds(b, y.max_size)).map(|(own, other)| {
            let sizes = x.max_size as f64 / y.max_size.max(1) as f64;
            Estimate { value: factor.value, low: sizes * other.least / own.most, high: sizes * other.most / own.least }
        });
        let (x, y) = (most(x.max_throughput, x.max_size), most(y.max_throughput, y.max_size));
        (factor, seen, format!("{times} as much as {} where each moves the most: {x} against {y}", b.name))
    });
    let told: Vec<String> = found.iter().map(one).collect();
    let words = whole.as_ref().map_or(format!("as {}: ", b.name), |(_, _, text)| format!("{text};\n  "));
    let factors: Vec<(u64, Estimate)> = found.iter().map(|f| (f.0, f.3.judged())).collect();
    let factor = whole.as_ref().map_or(first.factor(), |w| w.0);
    let lead = asked.map_or(String::new(), |m| match whole {
        Some((_, seen, _)) => {
            let less = if m.less { "less than " } else { "" };
            format!(
                "{} (whether {less}{} times as much as {});\n  it ",
                multiple::judged(m, factor, seen),
                m.times,
                b.name
            )
        }
        None => multiple::told(m, (a, b), &factors),
    });
    let doubt = held.doubt();
    let text = match &whole {
        None => format!("{lead}moves {} ({}){doubt}", told.join(", "), each(a)),
        Some(_) => format!("{lead}moves {words}{} ({}){doubt}", told.join(", "), each(a)),
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
    let held = TwoPaths::of(a, b);
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
    let several = found.len() > 1;
    let parts: Vec<String> = found
        .iter()
        .map(|(s, extra)| {
            let e = extra.seconds;
            // One word has one meaning: what is told of several sizes is sure as `compare` has it, over all that it compared.
            let sure = if several { held.sure_of_several(*s, extra) } else { extra.sure };
            let sure = if sure == Sure::Yes { "surely" } else { sure.words() };
            let figure = match saves {
                true if e.value < 0.0 => figure(negated(e), Kind::Seconds),
                true => format!("and costs {}", more(e)),
                false => more(e),
            };
            format!("{figure} at {} ({}, {sure}){}", size_words(*s), more_by(extra.ratio.value), extra.how)
        })
        .collect();
    let whole = size.is_some() || (sizes.len() <= found.len() && !held.in_turns());
    let verdict = if whole { String::new() } else { verdict(&held, &sizes) };
    let factors: Vec<(u64, Estimate)> = found.iter().map(|(s, extra)| (*s, extra.judged())).collect();
    let times: Vec<String> = (found.iter().filter(|_| factor))
        .map(|(s, extra)| faster(extra.factor(), &b.name, extra.sure_ratio, &size_words(*s)))
        .collect();
    let lead = if times.is_empty() { String::new() } else { format!("is {};\n  it ", times.join(", ")) };
    let asked = asked.map_or(String::new(), |m| multiple::told(m, (a, b), &factors));
    let turns = if held.in_turns() { ", round by round in turns" } else { "" };
    let text = format!(
        "{asked}{lead}{} over {}: {} ({}{turns}){verdict}{}{}",
        if saves { "saves" } else { "costs" },
        b.name,
        parts.join(", "),
        a.time,
        held.doubt(),
        a.against(b).unwrap_or_default()
    );
    let mut answer = yes(a, text, first.seconds, "s", found.iter().map(|f| f.0).collect());
    if asked.is_empty() {
        answer.text = answer.text.replacen(": ", " ", 1);
    }
    answer.path = format!("{}, {}", a.name, b.name);
    answer.factor = Some(first.factor());
    answer.sharpen = sharpen_both(a, b);
    answer
}

/// "3.10 times [2.91, 3.33] faster than tcp at 64 B", "100 times faster than tcp at 64 B (no interval; in every round)", of how many times as
/// long tcp takes. The ends are rounded outwards, so that the text claims no narrower interval than was found.
fn faster(factor: Estimate, name: &str, sure: Sure, size: &str) -> String {
    let (f, word) = match factor.value >= 1.0 {
        true => (factor, "faster"),
        false => (inverse(factor, 1.0), "slower"),
    };
    let (times, about) = factor_words(f, sure.words());
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
    let text = |x: f64| match x {
        x if (1000.0..1e15).contains(&x) => units::thousands(x.round() as u64),
        x => format!("{x:.*}", places(x)),
    };
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

/// By which rule sizes are counted that surely differ: that of each of them alone lets one of twenty through by chance.
pub const HOLM: &str = "by Holm's rule for so many";

/// At how many sizes one is surely faster than the other.
fn verdict(held: &TwoPaths<'_, '_>, sizes: &[u64]) -> String {
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
        "{} is surely faster {}, {} {}, {HOLM}",
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
            let why = if held.by_order() {
                "so few rounds tell them not surely apart"
            } else {
                "no interval tells them apart"
            };
            format!("\n  {why}, but faster is {}", rounds.join(", "))
        }
        false => format!("\n  {sure}; where no interval tells them apart, {}", rounds.join(", ")),
    };
    let whole = held.whole().map_or(String::new(), |whole| {
        let doubt = if held.by_order() { format!(" ({})", Sure::ByOrder.words()) } else { String::new() };
        format!("\n  over all sizes {} takes {} of {}{doubt}", a.name, of_the_time(whole), b.name)
    });
    said + &whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factors_errors_are_independent() {
        let (two, six) = (Estimate { value: 2.0, low: 1.9, high: 2.5 }, Estimate { value: 6.0, low: 5.0, high: 7.6 });
        assert_eq!(
            faster(ratio(six, two), "tcp", Sure::Yes, "64 B"),
            "3.00 times [2.24, 3.83] faster than tcp at 64 B"
        );
        assert_eq!(
            faster(ratio(two, six), "unix", Sure::Yes, "64 B"),
            "3.00 times [2.24, 3.83] slower than unix at 64 B"
        );
        let unsure = Estimate { value: 2.2, low: 1.0, high: 3.0 };
        assert_eq!(
            faster(ratio(unsure, two), "tcp", Sure::No, "64 B"),
            "1.10 times [0.48, 1.51] faster than tcp at 64 B (not surely different)"
        );
        let open = Estimate { value: 6.0, low: 0.0, high: f64::INFINITY };
        assert_eq!(
            faster(ratio(open, two), "tcp", Sure::No, "64 B"),
            "3.00 times faster than tcp at 64 B (no interval; not surely different)"
        );
    }

    #[test]
    fn a_factor_without_an_interval_may_hold_in_every_round() {
        let open = Estimate { value: 100.0, low: 0.0, high: f64::INFINITY };
        assert_eq!(
            faster(open, "tcp", Sure::EveryRound, "64 B"),
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
        let of = |low, value, high| faster(Estimate { value, low, high }, "tcp", Sure::Yes, "64 B");
        assert_eq!(of(1.239, 1.3, 1.381), "1.30 times [1.23, 1.39] faster than tcp at 64 B");
        assert_eq!(of(1.001, 1.3, 1.4), "1.30 times [1.00, 1.40] faster than tcp at 64 B");
        assert_eq!(of(119.9, 130.2, 144.1), "130 times [119, 145] faster than tcp at 64 B");
        assert_eq!(of(99.999, 120.0, 140.0), "120 times [99.99, 140] faster than tcp at 64 B");
    }
}
