//! From which size on one path is faster than another.

use model::Estimate;
use model::answer::{Held, Overtaken};
use units::Bytes;

use super::asked::{Asked, figure};
use super::pairs;
use super::reply::{cannot, sharpen_both, yes};
use super::rounds::every_round;
use super::times::of;
use crate::config::question::Named;
use crate::document::Answered;

/// Stretches of sizes that are named.
const NAMED: usize = 3;

pub fn overtaken(paths: &[Asked<'_>], x: &Named, y: &Named) -> Vec<Answered> {
    pairs::of(paths, x, y, pair)
}

fn pair(a: &Asked<'_>, b: &Asked<'_>) -> Answered {
    if let Some(answer) = pairs::unlike(a, b, &[]) {
        return answer;
    }
    let held: Vec<Held> = pairs::common(a, b).into_iter().filter_map(|size| held(a, b, size)).collect();
    let sizes: Vec<u64> = held.iter().map(|h| h.size).collect();
    let Some(found) = Overtaken::of(&held) else {
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
    let stretch = |(from, to): &(u64, u64)| {
        if from == to { Bytes(*from).to_string() } else { format!("{} to {}", Bytes(*from), Bytes(*to)) }
    };
    let mut but: Vec<String> = found.but.iter().take(NAMED).map(stretch).collect();
    if found.but.len() > NAMED {
        but.push(format!("{} more stretches", found.but.len() - NAMED));
    }
    let but = if but.is_empty() { String::new() } else { format!("; it is the other way round at {}", but.join(", ")) };
    let sure = format!("{} of {} sizes surely tell them apart", found.sure, held.len());
    let (text, figure_of, rests_on) = match found.between {
        Some((last, next)) => {
            let size = Estimate { value: (last as f64 * next as f64).sqrt(), low: last as f64, high: next as f64 };
            let text = format!(
                "{} is faster up to {}, {} from {} on: they cross at {} ({}; {sure}){but}",
                near.name,
                Bytes(last),
                far.name,
                Bytes(next),
                figure(size, units::Kind::Bytes),
                near.time
            );
            (text, Some(size), vec![last, next])
        }
        None => {
            let range = sizes
                .first()
                .zip(sizes.last())
                .map_or(String::new(), |(from, to)| format!(" from {} to {}", Bytes(*from), Bytes(*to)));
            let text = format!(
                "no crossing is seen{range}: where it is sure, {} is faster ({}; {sure}){but}",
                near.name, near.time
            );
            (text, None, sizes.first().into_iter().chain(sizes.last()).copied().collect())
        }
    };
    let answer = yes(a, text, figure_of.unwrap_or(Estimate { value: 0.0, low: 0.0, high: 0.0 }), "B", rests_on);
    Answered {
        path: format!("{}, {}", a.name, b.name),
        text: answer.text.replacen(&format!("{}: ", a.name), &format!("{}, {}: ", a.name, b.name), 1),
        figure: figure_of,
        unit: figure_of.and(answer.unit),
        sharpen: sharpen_both(a, b),
        ..answer
    }
}

/// Which of two paths is the faster one at a size.
fn held(a: &Asked<'_>, b: &Asked<'_>, size: u64) -> Option<Held> {
    let (x, y) = (of(a, size).ok()?.seconds, of(b, size).ok()?.seconds);
    let apart = model::difference(x, y);
    let sure = match () {
        () if apart.high < 0.0 => Some(true),
        () if apart.low > 0.0 => Some(false),
        // What an interval does not tell apart, rounds do not either.
        () if apart.low.is_finite() && apart.high.is_finite() => None,
        () => every_round(&a.curve, &b.curve, size),
    };
    Some(Held { size, first: x.value < y.value, sure })
}
