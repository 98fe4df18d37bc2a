//! One size held against another over the same path.

use model::Estimate;
use units::Kind;

use super::asked::{Asked, figure, inverse, times};
use super::multiple;
use super::pairs::times_words;
use super::reply::{cannot, no, yes};
use super::rounds::every_round_of;
use super::times::{Timed, of};
use super::two_paths::{Sure, ratio};
use crate::config::question::{Multiple, size_words};
use crate::document::Answered;

/// How many times as long the first of two sizes takes as the second, and how many times as much it moves a second; that comes first where
/// `flow` asks for it, and before all whether it is so many times as fast, where that is asked.
pub fn against(p: &Asked<'_>, (x, y): (u64, u64), flow: bool, asked: Option<Multiple>) -> Answered {
    if flow && p.scheduled() {
        return super::schedule::no_throughput(p);
    }
    let found = p.own_times().and_then(|()| Ok((of(p, x)?, of(p, y)?)));
    let (a, b) = match found {
        Ok(found) => found,
        Err(why) => return no(p, &why, &[x, y]),
    };
    if flow && (x == 0 || y == 0) {
        return cannot(p, "a message without a byte moves none".to_owned(), &[x, y]);
    }
    let long = ratio(a.seconds, b.seconds);
    let how = |t: &Timed| format!("{}{}", figure(t.seconds, Kind::Seconds), t.how);
    let time = format!(
        "takes {} as long as {}: {} against {} ({})",
        times_words(long, sure(p, long, (x, y), false)),
        size_words(y),
        how(&a),
        how(&b),
        p.time
    );
    let moves = |t: &Timed, size: u64| figure(inverse(t.seconds, size as f64 * 8.0), Kind::BitsPerSecond);
    let rates = (!p.scheduled() && x > 0 && y > 0).then(|| {
        let factor = times(inverse(long, 1.0), x as f64 / y as f64);
        let words = times_words(factor, sure(p, factor, (x, y), true));
        let than = if flow { format!(" as {}", size_words(y)) } else { String::new() };
        (factor, format!("moves {words} as much a second{than}: {} against {}", moves(&a, x), moves(&b, y)))
    });
    let (factor, text) = match rates {
        Some((factor, rates)) if flow => (factor, format!("{rates}; it {time}")),
        Some((_, rates)) => (long, format!("{time}; it {rates}")),
        None => (long, time),
    };
    let asked = asked.map_or(String::new(), |m| {
        let of = if flow { factor } else { inverse(long, 1.0) };
        format!("{} (whether {m} as {}): ", multiple::judged(m, of, None), size_words(y))
    });
    yes(p, format!("{asked}{} {text}", size_words(x)), factor, "1", vec![x, y])
}

/// What is said of a factor whose interval holds one, as of two paths: rounds may tell the sizes apart where it does not.
fn sure(p: &Asked<'_>, e: Estimate, sizes: (u64, u64), flow: bool) -> &'static str {
    match () {
        () if e.low > 1.0 || e.high < 1.0 => Sure::Yes,
        () if every_round_of(p.curve(), sizes, flow).is_some() => Sure::EveryRound,
        () => Sure::No,
    }
    .words()
}
