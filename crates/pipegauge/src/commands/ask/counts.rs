//! How many a second, or in a time: messages, requests, connections.

use measure::event::TimeKind;
use model::Estimate;
use model::answer::Unanswered;
use units::{Kind, Seconds};

use super::asked::{Asked, figure, inverse, times};
use super::beside::{achieved, ways};
use super::kept;
use super::reply::{cannot, needs, no, yes};
use super::surest::resolved;
use super::times::of;
use crate::config::question::{Unit, size_words};
use crate::document::Answered;

/// How many a second, or in `span` seconds: one at a time.
pub fn per_second(p: &Asked<'_>, what: Unit, size: Option<u64>, span: f64) -> Answered {
    let smallest = p.summary().map(|s| s.latency_size);
    let Some(size) = size.or(smallest) else { return no(p, &Unanswered::Nothing, &[]) };
    let mut t = match of(p, size) {
        Ok(t) => t,
        Err(why) => return no(p, &why, &[size]),
    };
    let kept = kept::of_many(p, size);
    t.seconds = kept.factor.map_or(t.seconds, |factor| kept::longer(t.seconds, factor));
    let stream = match (p.kind, what) {
        (Some(TimeKind::HalfRoundTrip), Unit::Messages) => {
            format!("; without waiting for answers more may go: pipegauge run {} --pattern stream", p.typed())
        }
        _ => String::new(),
    };
    let (seconds, words) = match (p.kind, what) {
        // A message there and one back before the next: the rate at which either side sends.
        (Some(TimeKind::HalfRoundTrip), Unit::Messages) => (
            times(t.seconds, 2.0),
            format!("messages of {} each way, one at a time, each answered before the next (1/RTT)", size_words(size)),
        ),
        (Some(TimeKind::OneWay), Unit::Requests) => {
            return cannot(
                p,
                format!("it sent without answers; measure with --pattern {}", p.answering().join(" or ")),
                &[size],
            );
        }
        (Some(TimeKind::HalfRoundTrip), Unit::Requests) => (
            times(t.seconds, 2.0),
            format!("requests of {} with answers of that size, one at a time (1/RTT)", size_words(size)),
        ),
        (Some(TimeKind::RoundTrip), Unit::Requests | Unit::Messages) if p.response().is_some() => {
            let answers = size_words(p.response().unwrap_or(size));
            (t.seconds, format!("requests of {} with answers of {answers}, one at a time (1/RTT)", size_words(size)))
        }
        (Some(TimeKind::Round | TimeKind::Delivery), Unit::Requests) => {
            let why = "the members of a group cast, and none answers a request; measure with --pattern cast";
            return cannot(p, why.to_owned(), &[size]);
        }
        (Some(TimeKind::Round | TimeKind::Delivery), _) => {
            let in_round = p.in_round().unwrap_or(1.0);
            let words = format!(
                "messages of {} delivered at a member, {in_round} in each round ({in_round}/{})",
                size_words(size),
                p.time
            );
            (times(t.seconds, 1.0 / in_round), words)
        }
        (Some(TimeKind::Spacing), Unit::Requests) => (
            times(t.seconds, p.round_trip().map_or(1.0, |(factor, _)| factor)),
            format!("requests of {} with their answers, by {} at once", size_words(size), p.at_once()),
        ),
        (Some(TimeKind::Spacing), _) => (t.seconds, format!("of {}, by {} at once", size_words(size), p.at_once())),
        (_, Unit::Frames) => (t.seconds, format!("frames of {}, one after another ({})", size_words(size), p.time)),
        (Some(TimeKind::OneWay), _) if p.both_ways() => {
            let each = ways(p, size).filter(|_| size > 0).map_or(String::new(), |ways| {
                let bits = (8 * size) as f64;
                let count = |e: Estimate| Estimate { value: e.value / bits, low: e.low / bits, high: e.high / bits };
                let [there, back] = ways.map(|e| figure(count(e), Kind::PerSecond));
                format!(" (to the far side {there}, back {back})")
            });
            let words = format!(
                "messages of {} in both directions together{each}, without waiting for answers",
                size_words(size)
            );
            (t.seconds, words)
        }
        (Some(TimeKind::OneWay), _) => {
            (t.seconds, format!("messages of {} in one direction, without waiting for answers", size_words(size)))
        }
        (Some(TimeKind::Transaction), _) => (
            t.seconds,
            format!("transactions of {}, one at a time, a connection for each (1/{})", size_words(size), p.time),
        ),
        _ => (t.seconds, format!("of {}, one at a time (1/{})", size_words(size), p.time)),
    };
    let count = inverse(seconds, span);
    let number =
        if span == 1.0 { figure(count, Kind::PerSecond) } else { format!("{} in {}", whole(count), Seconds(span)) };
    let unit = if span == 1.0 { "1/s" } else { "1" };
    let time = match kept.factor {
        Some(_) if kept.average => "on average",
        Some(_) if kept.near => "kept up",
        Some(_) => "as long trials of other sizes have it",
        None => "at the median time",
    };
    let text = format!("{number} {words} {time}{}{}{}{stream}", t.how, achieved(p, size), kept.words);
    yes(p, text, count, unit, t.rests_on)
}

/// Connections a second, each with a request of a size, or of the smallest.
pub fn connections(p: &Asked<'_>, size: Option<u64>) -> Answered {
    let Some(size) = size.or(p.summary().map(|s| s.latency_size)) else {
        return no(p, &Unanswered::Nothing, &[]);
    };
    if p.kind != Some(TimeKind::Transaction) {
        if !p.answering().contains(&"request") {
            return cannot(p, "a group opens no connection for each request".to_owned(), &[size]);
        }
        let why = "this run kept its connections open; --pattern connect opens one for each".to_owned();
        return needs(p, "connect", &Unanswered::NoSum(why), &[]);
    }
    match of(p, size) {
        Err(why) => no(p, &why, &[size]),
        Ok(t) => {
            let most: Estimate = inverse(t.seconds, 1.0);
            let text = format!(
                "{} connections, one at a time, each with a request of {}, its answer and the close, which together take {}, at the median time{}{}",
                figure(most, Kind::PerSecond),
                size_words(size),
                figure(t.seconds, Kind::Seconds),
                t.how,
                achieved(p, size)
            );
            yes(p, text, most, "1/s", t.rests_on)
        }
    }
}

/// So many whole things, rounded down, and how many there may be: "8 [7, 9]", or "between 1 and 90" where that is not resolved. Of large numbers
/// four digits are told where the interval is so close that three would hide it, else three; its ends are rounded outwards.
pub fn whole(e: Estimate) -> String {
    let digits = if e.low > 0.0 && e.high < CLOSE * e.low { 4 } else { 3 };
    let end = |e: f64, up: u64| {
        let n = e.max(0.0) as u64;
        let step = step(n, digits);
        units::thousands(n.saturating_add((step - 1) * up / 2) / step * step)
    };
    let [down, near, up] = [0, 1, 2];
    if e.low >= 1.0 && e.high.is_finite() && !resolved(e) {
        return format!("between {} and {}", end(e.low, down), end(e.high, up));
    }
    match e.low > 0.0 && e.high.is_finite() && e.high <= units::WIDEST * e.low {
        true => format!("{} [{}, {}]", end(e.value, near), end(e.low, down), end(e.high, up)),
        false => format!("{} (no interval)", end(e.value, near)),
    }
}

/// Times its lower end that the upper end of an interval is where four digits are worth telling.
const CLOSE: f64 = 1.02;

/// What the last of so many digits of a number stands for: one of all below a thousand.
fn step(n: u64, digits: u32) -> u64 {
    10u64.pow(n.checked_ilog10().unwrap_or(0).saturating_sub(digits - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_things_has_whole_ends_or_no_interval() {
        let of = |value, low, high| whole(Estimate { value, low, high });
        assert_eq!(of(8.9, 7.2, 12.5), "8 [7, 12]");
        assert_eq!(of(1485.9, 169.2, 13_027.0), "between 169 and 13,100");
        assert_eq!(of(200_438.0, 0.0, f64::INFINITY), "200,000 (no interval)");
        assert_eq!(of(8.9, 0.0, 10.0), "8 (no interval)");
        let close = of(178_571_235.0, 177_970_597.0, 179_173_900.0);
        assert_eq!(close, "178,600,000 [177,900,000, 179,200,000]");
        assert_eq!(of(178_571_235.0, 150_970_597.0, 200_173_900.0), "179,000,000 [150,000,000, 201,000,000]");
        assert_eq!([0, 7, 999, 1234, 12_345, u64::MAX].map(|n| step(n, 3)), [1, 1, 1, 10, 100, 10u64.pow(17)]);
    }
}
