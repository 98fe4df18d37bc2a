//! What a message costs before its first byte, and what further bytes cost.

use model::Estimate;
use model::answer::Unanswered;
use units::{Bytes, Kind};

use super::asked::{Asked, figure, times};
use super::reply::{cannot, no, yes};
use super::times::of;
use crate::config::question::size_words;
use crate::document::Answered;

/// What so many further bytes cost: of a message below 1 KiB, and by the line over all sizes.
pub fn per_byte(p: &Asked<'_>, bytes: u64) -> Answered {
    let small = p.summary().and_then(|s| s.per_byte);
    let line = p.fits().and_then(|f| f.latency.all.as_ref());
    let cost = |e: Estimate| {
        let all = times(e, bytes as f64);
        // A slope may lie below nothing by chance, a cost does not.
        let all = Estimate { low: all.low.max(0.0), ..all };
        match bytes {
            1 => figure(e, Kind::SecondsPerByte),
            _ => format!("{} ({})", figure(all, Kind::Seconds), figure(e, Kind::SecondsPerByte)),
        }
    };
    let what = if bytes == 1 { "byte".to_owned() } else { size_words(bytes) };
    let over = line.map(|l| {
        let fits = if l.misfit.systematic { ", which it does not follow well" } else { "" };
        format!("{} by one line over all sizes{fits}", cost(l.per_byte))
    });
    // A slope below 1 KiB says nothing of a kilobyte more where a line says what that costs.
    let (e, text) = match (small, over) {
        (Some(e), None) => {
            (e, format!("the cost of each further {what}, by that of a byte below 1 KiB, is {}", cost(e)))
        }
        (Some(e), Some(more)) if bytes == 1 => {
            (e, format!("the cost of each further byte of a message below 1 KiB is {}; {more}", cost(e)))
        }
        (_, Some(over)) => {
            let slope = line.map_or(Estimate { value: 0.0, low: 0.0, high: 0.0 }, |l| l.per_byte);
            let small = small.map_or(String::new(), |e| {
                format!("; a byte of a message below 1 KiB costs {}", figure(e, Kind::SecondsPerByte))
            });
            (slope, format!("the cost of each further {what} is {over}{small}"))
        }
        (None, None) => return no(p, &Unanswered::TooLittle("a slope needs at least three sizes"), &[]),
    };
    yes(p, format!("{text} ({})", p.time), e, "s/B", line.map_or(Vec::new(), |l| vec![l.sizes.0, l.sizes.1]))
}

pub fn start_up(p: &Asked<'_>) -> Answered {
    let lines = p.fits().map(|f| &f.latency);
    match lines.and_then(|l| l.small.as_ref().or(l.all.as_ref())) {
        None => cannot(p, "a line needs at least three sizes".to_owned(), &[]),
        Some(line) => {
            let start = report::table::startup_words(line.t0).unwrap_or_else(|| figure(line.t0, Kind::Seconds));
            let text = format!(
                "a message costs {start} ({}) before its first byte, by the line from {} to {}",
                p.time,
                Bytes(line.sizes.0),
                Bytes(line.sizes.1)
            );
            yes(p, text, line.t0, "s", vec![line.sizes.0, line.sizes.1])
        }
    }
}

/// Which share of a message's time is spent before its first byte.
pub fn start_part(p: &Asked<'_>, size: u64) -> Answered {
    let lines = p.fits().map(|f| &f.latency);
    let line = lines.and_then(|l| l.small.as_ref().or(l.all.as_ref()));
    let (start, time) = match (line, of(p, size)) {
        (None, _) => return cannot(p, "a line needs at least three sizes".to_owned(), &[]),
        (_, Err(why)) => return no(p, &why, &[size]),
        (Some(line), Ok(time)) => (line.t0, time),
    };
    let share = part(start, time.seconds);
    let told = report::table::startup_words(start).unwrap_or_else(|| figure(start, Kind::Seconds));
    let text = format!(
        "{} of the time of {} is start-up: {told} of {} ({}) are spent before its first byte{}",
        figure(share, Kind::Share),
        size_words(size),
        figure(time.seconds, Kind::Seconds),
        p.time,
        time.how
    );
    yes(p, text, share, "1", time.rests_on)
}

/// The share of a time that is its start, of what both intervals allow, and no more than all of it.
fn part(start: Estimate, whole: Estimate) -> Estimate {
    let share = |a: f64, b: f64| if b > 0.0 { (a.max(0.0) / b).min(1.0) } else { 1.0 };
    let low = if whole.high.is_finite() { share(start.low, whole.high) } else { 0.0 };
    let high = if start.high.is_finite() { share(start.high, whole.low) } else { f64::INFINITY };
    let open = !(whole.high.is_finite() && whole.low > 0.0 && start.high.is_finite());
    Estimate { value: share(start.value, whole.value), low, high: if open { f64::INFINITY } else { high } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_time_is_no_more_than_all_of_it() {
        let e = |value, low, high| Estimate { value, low, high };
        let found = part(e(2.0, 1.0, 3.0), e(8.0, 6.0, 10.0));
        assert_eq!((found.value, found.low, found.high), (0.25, 0.1, 0.5));
        assert_eq!(part(e(2.1, 1.9, 2.3), e(2.0, 1.9, 2.1)).high, 1.0);
        assert_eq!(part(e(2.0, 1.0, 3.0), e(8.0, 0.0, f64::INFINITY)).high, f64::INFINITY);
    }
}
