//! From which size on one path is faster than another, or takes no more than so many times as long.

use model::Estimate;
use model::answer::{Faster, Overtaken};
use units::Bytes;

use super::asked::{Asked, figure};
use super::pairs;
use super::reply::{cannot, sharpen_both, yes};
use super::two_paths::{Sure, TwoPaths};
use crate::config::question::Named;
use crate::document::Answered;

/// Stretches of sizes that are named.
const NAMED: usize = 3;

pub fn overtaken(paths: &[Asked<'_>], x: &Named, y: &Named) -> Vec<Answered> {
    pairs::of(paths, x, y, pair)
}

/// From which size on the slow one takes less than so many times as long as the fast one, or more.
pub fn nearly(paths: &[Asked<'_>], slow: &Named, fast: &Named, times: f64) -> Vec<Answered> {
    pairs::of(paths, slow, fast, |a, b| passed(a, b, times))
}

/// Stretches of sizes that are an exception, in words; begins with a semicolon.
fn but(found: &Overtaken) -> String {
    let stretch = |(from, to): &(u64, u64)| {
        if from == to { Bytes(*from).to_string() } else { format!("{} to {}", Bytes(*from), Bytes(*to)) }
    };
    let mut but: Vec<String> = found.but.iter().take(NAMED).map(stretch).collect();
    if found.but.len() > NAMED {
        but.push(format!("{} more stretches", found.but.len() - NAMED));
    }
    if but.is_empty() { String::new() } else { format!("; it is the other way round at {}", but.join(", ")) }
}

/// From the smallest to the largest of the sizes, in words.
fn range(sizes: &[u64]) -> String {
    let ends = sizes.first().zip(sizes.last());
    ends.map_or(String::new(), |(from, to)| format!(" from {} to {}", Bytes(*from), Bytes(*to)))
}

/// The size between two, as an estimate whose ends they are.
fn crossing(last: u64, next: u64) -> Estimate {
    Estimate { value: (last as f64 * next as f64).sqrt(), low: last as f64, high: next as f64 }
}

/// An answer of two paths.
fn of_both(a: &Asked<'_>, b: &Asked<'_>, text: String, size: Option<Estimate>, rests_on: Vec<u64>) -> Answered {
    let answer = yes(a, text, size.unwrap_or(Estimate { value: 0.0, low: 0.0, high: 0.0 }), "B", rests_on);
    Answered {
        path: format!("{}, {}", a.name, b.name),
        text: answer.text.replacen(&format!("{}: ", a.name), &format!("{}, {}: ", a.name, b.name), 1),
        figure: size,
        unit: size.and(answer.unit),
        sharpen: sharpen_both(a, b),
        ..answer
    }
}

/// Whether so few sizes of all may seem sure by chance: one of twenty intervals misses its truth.
fn by_chance(sure: usize, all: usize) -> bool {
    sure <= all / 20
}

fn passed(a: &Asked<'_>, b: &Asked<'_>, times: f64) -> Answered {
    if let Some(answer) = pairs::unlike(a, b, &[]) {
        return answer;
    }
    let both = TwoPaths::of(a, b);
    let held: Vec<Faster> =
        pairs::common(a, b).into_iter().filter_map(|size| times_as_long(&both, size, times)).collect();
    let sizes: Vec<u64> = held.iter().map(|h| h.size).collect();
    let ratio = |size: u64| Some(both.at(size)?.ratio.value);
    let nearest = sizes
        .iter()
        .filter_map(|s| Some((*s, ratio(*s)?)))
        .min_by(|x, y| (x.1 / times).ln().abs().total_cmp(&(y.1 / times).ln().abs()));
    let nearest = nearest.map_or(String::new(), |(size, ratio)| {
        format!("; the nearest by medians is {}, at {ratio:.2} times", Bytes(size))
    });
    let Some(found) = Overtaken::of(&held).filter(|found| !by_chance(found.sure, held.len())) else {
        let why = format!("no size surely tells on which side of {times} times {} it lies{nearest}", b.name);
        return Answered { sharpen: sharpen_both(a, b), ..cannot(a, why, &[]) };
    };
    // The first of what is held is here that the slow path takes more.
    let (near, far) = if found.first { ("more", "less") } else { ("less", "more") };
    let doubt = both.doubt();
    let sure = format!("{} of {} sizes surely lie on one side", found.sure, held.len());
    match found.between {
        Some((last, next)) => {
            let size = crossing(last, next);
            let text = format!(
                "{} takes {near} than {times} times as long as {} up to {}, {far} from {} on: at {} it is that much ({}; {sure}){}{doubt}",
                a.name,
                b.name,
                Bytes(last),
                Bytes(next),
                figure(size, units::Kind::Bytes),
                a.time,
                but(&found)
            );
            of_both(a, b, text, Some(size), vec![last, next])
        }
        None => {
            let text = format!(
                "no size is seen{} at which {} takes {times} times as long as {}: where it is sure, it takes {near} than that ({}; {sure}){}{nearest}{doubt}",
                range(&sizes),
                a.name,
                b.name,
                a.time,
                but(&found)
            );
            of_both(a, b, text, None, sizes.first().into_iter().chain(sizes.last()).copied().collect())
        }
    }
}

/// Whether one path takes more than so many times as long as the other at a size.
fn times_as_long(both: &TwoPaths<'_, '_>, size: u64, times: f64) -> Option<Faster> {
    let ratio = both.at(size)?.ratio;
    let sure = match () {
        () if ratio.low > times => Some(true),
        () if ratio.high < times => Some(false),
        () => None,
    };
    Some(Faster { size, first: ratio.value > times, sure })
}

fn pair(a: &Asked<'_>, b: &Asked<'_>) -> Answered {
    if let Some(answer) = pairs::unlike(a, b, &[]) {
        return answer;
    }
    let both = TwoPaths::of(a, b);
    let held: Vec<Faster> = pairs::common(a, b).into_iter().filter_map(|size| held(&both, size)).collect();
    let sizes: Vec<u64> = held.iter().map(|h| h.size).collect();
    let Some(found) = Overtaken::of(&held).filter(|found| !by_chance(found.sure, held.len())) else {
        let by_median = held.iter().filter(|h| h.first).count();
        let why = format!(
            "no size surely tells {} and {} apart ({} has the shorter median at {by_median} of {})",
            a.name,
            b.name,
            a.name,
            held.len()
        );
        return Answered { sharpen: sharpen_both(a, b), ..cannot(a, why, &[]) };
    };
    let (near, far) = if found.first { (a, b) } else { (b, a) };
    let but = but(&found);
    let doubt = both.doubt();
    // A crossing rests on the sizes that tell by themselves; which of all these surely do is another figure, as where the two are compared.
    let surely = both.all(&sizes).iter().filter(|(_, _, sure)| *sure).count();
    let sure =
        format!("{} of {} sizes tell them apart one by one, {surely} surely {}", found.sure, held.len(), pairs::HOLM);
    match found.between {
        Some((last, next)) => {
            let size = crossing(last, next);
            let text = format!(
                "{} is faster up to {}, {} from {} on: they cross at {} ({}; {sure}){but}{doubt}",
                near.name,
                Bytes(last),
                far.name,
                Bytes(next),
                figure(size, units::Kind::Bytes),
                near.time
            );
            of_both(a, b, text, Some(size), vec![last, next])
        }
        None => {
            let text = format!(
                "no crossing is seen{}: where it is sure, {} is faster ({}; {sure}){but}{doubt}",
                range(&sizes),
                near.name,
                near.time
            );
            of_both(a, b, text, None, sizes.first().into_iter().chain(sizes.last()).copied().collect())
        }
    }
}

/// Which of two paths is the faster one at a size.
fn held(both: &TwoPaths<'_, '_>, size: u64) -> Option<Faster> {
    let extra = both.at(size)?;
    let first = extra.seconds.value < 0.0;
    let sure = match extra.sure {
        Sure::Yes | Sure::InTheseRuns => Some(first),
        // What an interval does not tell apart, rounds do not either.
        Sure::EveryRound if !(extra.seconds.low.is_finite() && extra.seconds.high.is_finite()) => both.every(size),
        Sure::EveryRound | Sure::ByOrder | Sure::Alone | Sure::No => None,
    };
    Some(Faster { size, first, sure })
}
