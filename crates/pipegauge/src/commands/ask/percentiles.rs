//! Answers about single transfers: their percentiles, and how many are late.

use model::Estimate;
use model::answer::Unanswered;
use units::format::significant;
use units::{Bytes, Kind, Seconds, Share, thousands};

use super::asked::{Asked, figure, times};
use super::below;
use super::reply::{alone, answered, apart, cannot, no, verdict, yes};
use super::times::{no_journey, of, or_smallest, trip};
use crate::config::question::{percentile as name, size_words};
use crate::document::Answered;

/// A percentile of single transfers: the size it is of, what it rests on, its label, and which size stands in.
type Found = (u64, Vec<u64>, Estimate, &'static str, String);

/// What is known of a percentile.
pub fn found(p: &Asked<'_>, thousandths: u32, size: Option<u64>, round_trip: bool) -> Result<Found, Unanswered> {
    let factor = if round_trip { p.round_trip() } else { Ok((1.0, p.single().1)) };
    or_smallest(p, size).and_then(|size| {
        let (factor, label) = factor.map_err(Unanswered::NoSum)?;
        // Single transfers are timed where that costs little; the nearest such size stands in, and it is said.
        let q = f64::from(thousandths) / 1e5;
        // The 50th is the median, which is known at every size.
        if thousandths == 50_000 && p.own_times().is_ok() && p.singles_near(size, q).is_none_or(|(at, _)| at != size) {
            let (t, label) = trip(p, size, round_trip, false)?;
            return Ok((size, t.rests_on, t.seconds, label, t.how));
        }
        let found = p.singles_near(size, q).or_else(|| p.singles_near(size, 1.0));
        let (at, singles) = found.ok_or(Unanswered::TooLittle("single transfers were not timed near that size"))?;
        let (value, told) =
            singles.at(q).ok_or(Unanswered::TooLittle("too few single transfers were timed for this percentile"))?;
        // The 50th is the row's median, and so is its interval.
        let row = p.row(at).filter(|_| thousandths == 50_000 && p.own_times().is_ok());
        let (low, high) = row.map_or((told.low, told.high), |f| (f.low.min(value), f.high.max(value)));
        let e = Estimate { value, low, high };
        // How far the tail of another size lies from this one's is not known: it is told as it is, of the size that it was timed at.
        let stands = if at == size {
            String::new()
        } else {
            format!(
                " (the nearest size at which enough single transfers were timed: {} itself has no such figure)",
                size_words(size)
            )
        };
        Ok((at, vec![at], times(e, factor), label, stands))
    })
}

/// Whether so many of single transfers stay within a time, or take longer where that is asked.
pub fn within(
    p: &Asked<'_>,
    thousandths: u32,
    size: Option<u64>,
    (seconds, longer): (f64, bool),
    round_trip: bool,
) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    if thousandths == 0 {
        return any_within(p, size, (seconds, longer), round_trip);
    }
    match found(p, thousandths, size, round_trip) {
        Err(Unanswered::TooLittle(_)) if thousandths == 100_000 => untimed(p, size, (seconds, longer), round_trip),
        Err(why) => no(p, &why, size.as_slice()),
        Ok((size, rests_on, e, label, stands)) => {
            // What was seen of the longest bounds it below only.
            let known = if thousandths == 100_000 { Estimate { low: e.value, high: f64::INFINITY, ..e } } else { e };
            let (figure, sure) = told(e, thousandths);
            let late = late(p, size, seconds).filter(|_| !round_trip && !e.high.is_finite());
            let late = late.map_or(String::new(), |(share, at)| {
                let share = if share > 0.0 { Share(share).to_string() } else { "none".to_owned() };
                format!("; {share} of those that were timed took longer{}", stands_in(at, size))
            });
            // Of a median without an interval its rounds decide, as for any deadline.
            let rounds = (thousandths == 50_000 && !e.high.is_finite())
                .then(|| trip(p, size, round_trip, false).ok())
                .flatten()
                .map(|(t, _)| below::below(t.seconds, seconds, t.seen, false, Kind::Seconds));
            let (word, seen) = rounds.unwrap_or_else(|| (verdict(known, seconds), String::new()));
            let text = format!(
                "{}: {} of {}{stands} is {figure} ({label}) of single transfers{sure}, where {} {}{}{seen}{late}",
                answered(word, longer),
                name(thousandths),
                size_words(size),
                Seconds(seconds),
                if longer { "were asked about" } else { "are allowed" },
                apart(known, seconds)
            );
            yes(p, text, e, "s", rests_on)
        }
    }
}

/// Whether any single message is there within a time, or each takes longer where that is asked. What was seen settles that one was; that none was leaves
/// open whether one may be.
fn any_within(p: &Asked<'_>, size: Option<u64>, (seconds, longer): (f64, bool), round_trip: bool) -> Answered {
    let trip = if round_trip { p.round_trip() } else { Ok((1.0, p.single().1)) };
    let found = or_smallest(p, size).and_then(|size| Ok((size, trip.map_err(Unanswered::NoSum)?)));
    let (size, (factor, label)) = match found {
        Err(why) => return no(p, &why, size.as_slice()),
        Ok(found) => found,
    };
    let word = |seen: bool| if seen { answered("yes", longer) } else { "not surely" };
    if let Some((late, at)) = late(p, size, seconds / factor) {
        let open = if late < 1.0 { "" } else { "; shorter ones may come" };
        let text = format!(
            "{}: {} {} ({label}){}{open}",
            word(late < 1.0),
            part(late, false, &size_words(size)),
            Seconds(seconds),
            stands_in(at, size)
        );
        return yes(p, text, alone(1.0 - late), "1", vec![at]);
    }
    // The mean of a trial is no shorter than the shortest in it.
    match p.row(size).map(|row| row.min * factor).filter(|least| *least > 0.0) {
        Some(least) => {
            let open = if least <= seconds { "" } else { "; single ones, which may be shorter, were not timed" };
            let text = format!(
                "{}: the shortest trial of {} took {} ({label}) a transfer, a mean over that trial, where {} {}{open}",
                word(least <= seconds),
                size_words(size),
                Seconds(least),
                Seconds(seconds),
                if longer { "were asked about" } else { "are allowed" }
            );
            yes(p, text, alone(least), "s", vec![size])
        }
        None => cannot(p, too_few(size, None), &[size]),
    }
}

/// Whether all messages of a size are there in time, where single ones were not timed: their median says so only where it is surely longer.
fn untimed(p: &Asked<'_>, size: Option<u64>, (seconds, longer): (f64, bool), round_trip: bool) -> Answered {
    match or_smallest(p, size).and_then(|size| Ok((size, trip(p, size, round_trip, false)?))) {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((size, (t, label))) => {
            let median =
                format!("the median of {}, {} ({label}){}", size_words(size), figure(t.seconds, Kind::Seconds), t.how);
            if verdict(t.seconds, seconds) == "no" {
                let text = format!("{}: even {median}, is longer than {}", answered("no", longer), Seconds(seconds));
                return yes(p, text, t.seconds, "s", t.rests_on);
            }
            let quick = quick(t.seconds.value);
            let why = format!(
                "single messages were not timed near that size{quick}, and {median}, tells nothing of each of them"
            );
            cannot(p, why, &[size])
        }
    }
}

pub fn percentile(p: &Asked<'_>, thousandths: u32, size: Option<u64>, round_trip: bool) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    match found(p, thousandths, size, round_trip) {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((size, rests_on, e, label, stands)) => {
            let (figure, sure) = told(e, thousandths);
            let one = if thousandths == 100_000 { one_of(p, size, round_trip) } else { String::new() };
            let text = format!(
                "{} of {}{stands}: {figure} ({label}) of single transfers{sure}{one}",
                name(thousandths),
                size_words(size)
            );
            yes(p, text, e, "s", rests_on)
        }
    }
}

/// That the longest is one message, of how many, and the farthest percentile that so many tell; begins with a semicolon.
fn one_of(p: &Asked<'_>, size: u64, round_trip: bool) -> String {
    let Some((_, singles)) = p.singles_near(size, 1.0) else { return String::new() };
    let factor = if round_trip { p.round_trip().map_or(1.0, |(factor, _)| factor) } else { 1.0 };
    let of = p.row(size).map_or(String::new(), |f| format!(" of {}", thousands(f.iterations)));
    let told = [99_990, 99_900, 99_000, 95_000, 90_000].into_iter().find_map(|thousandths| {
        let (value, _) = singles.at(f64::from(thousandths) / 1e5)?;
        Some(format!(", and {} is {}", name(thousandths), significant(value * factor, Kind::Seconds)))
    });
    format!("; one message{of} took so long{}", told.unwrap_or_default())
}

/// A percentile with its interval, or where nothing bounds it above without one; and what is to be said of that.
pub fn told(e: Estimate, thousandths: u32) -> (String, String) {
    if thousandths == 100_000 {
        return (figure(e, Kind::Seconds), ": longer ones may come, and nothing bounds them".to_owned());
    }
    if e.low <= 0.0 || e.high.is_finite() {
        return (figure(e, Kind::Seconds), String::new());
    }
    let [value, least] = [e.value, e.low].map(|t| significant(t, Kind::Seconds));
    (value, format!(", surely at least {least}: too few rounds saw longer ones to bound it above"))
}

/// How many times as long as a message of `at` one of `size` takes, by their medians.
fn scale(p: &Asked<'_>, size: u64, at: u64) -> Option<f64> {
    if size == at {
        return Some(1.0);
    }
    Some(of(p, size).ok()?.seconds.value / of(p, at).ok()?.seconds.value).filter(|s| s.is_finite() && *s > 0.0)
}

/// That a size stands in for another, where it does.
pub fn stands_in(at: u64, size: u64) -> String {
    match at == size {
        true => String::new(),
        false => format!(
            " (by those of {}, the nearest size that has enough of them timed, scaled by the ratio of both sizes' medians)",
            Bytes(at)
        ),
    }
}

/// Share of single transfers whose value is known from so many that it is one: a hundred.
const ENOUGH: f64 = 0.99;

/// Share of single transfers that took longer than `period`, at the nearest size with enough that were timed one by one, scaled to
/// this one; and that size.
pub fn late(p: &Asked<'_>, size: u64, period: f64) -> Option<(f64, u64)> {
    let (at, singles) = p.singles_near(size, ENOUGH)?;
    Some((singles.beyond(period / scale(p, size, at)?), at))
}

/// Which share of single messages stays within a time, or takes longer where that is asked.
pub fn part_within(p: &Asked<'_>, size: Option<u64>, (seconds, longer): (f64, bool), round_trip: bool) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    let found = or_smallest(p, size).and_then(|size| {
        let (factor, label) =
            if round_trip { p.round_trip() } else { Ok((1.0, p.single().1)) }.map_err(Unanswered::NoSum)?;
        Ok((size, (factor, label), late(p, size, seconds / factor)))
    });
    let (size, (factor, label), late) = match found {
        Err(why) => return no(p, &why, size.as_slice()),
        Ok(found) => found,
    };
    let median = trip(p, size, round_trip, false).map_or(String::new(), |(t, label)| {
        format!("; the median is {} ({label}){}", figure(t.seconds, Kind::Seconds), t.how)
    });
    let Some((late, at)) = late else {
        let few = p.singles_near(size, 1.0).and_then(|(at, few)| Some((at, few.timed(), factor * few.at(1.0)?.0)));
        let quick = of(p, size).ok().filter(|_| few.is_none()).map_or("", |t| quick(t.seconds.value));
        return cannot(p, format!("{}{quick}{median}", too_few(size, few)), &[size]);
    };
    let text = format!(
        "{} {} ({label}){}{median}",
        part(late, longer, &size_words(size)),
        Seconds(seconds),
        stands_in(at, size)
    );
    yes(p, text, alone(if longer { late } else { 1.0 - late }), "1", vec![at])
}

/// Below this many seconds messages are timed many at a time, so that reading the clock costs little.
const QUICK: f64 = 1e-6;

/// That messages are too quick to be timed one by one, where they are: no longer run times them.
fn quick(seconds: f64) -> &'static str {
    if seconds < QUICK { " (they are too quick to be timed one by one)" } else { "" }
}

/// That too few single messages were timed near a size for a share of them; of the few there are at another size or this one, their number and the
/// longest time.
fn too_few(size: u64, few: Option<(u64, u64, f64)>) -> String {
    match few {
        None => format!("no single message was timed near {}, and a share needs a hundred", size_words(size)),
        Some((at, n, longest)) => format!(
            "{} single messages of {} were timed, the longest of {}, and a share needs a hundred",
            thousands(n),
            Bytes(at),
            Seconds(longest)
        ),
    }
}

/// "1.2% of single messages of 64 KiB took longer than", of the share that is late.
fn part(late: f64, longer: bool, size: &str) -> String {
    let (share, how) = if longer { (late, "took longer than") } else { (1.0 - late, "arrived within") };
    let share = match share {
        s if s <= 0.0 => "none".to_owned(),
        s if s >= 1.0 => "all".to_owned(),
        // What is nearly all is no 100%.
        s if s > 0.999 => {
            return format!("all but {} of the single messages of {size} that were timed {how}", Share(1.0 - s));
        }
        s => Share(s).to_string(),
    };
    format!("{share} of the single messages of {size} that were timed {how}")
}

/// Share of single transfers that may be late of a plain yes.
const SOME: f64 = 0.01;

/// A verdict on the median, where so many single transfers are late that it is no plain yes.
pub fn but(verdict: &'static str, late: Option<(f64, u64)>) -> &'static str {
    match late {
        Some((share, _)) if verdict == "yes" && share > SOME => "yes, but not for all",
        _ => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_messages_have_a_number_and_no_share() {
        let few = "48 single messages of 48 KiB were timed, the longest of 85.1 us, and a share needs a hundred";
        assert_eq!(too_few(65_536, Some((49_152, 48, 85.1e-6))), few);
        assert_eq!([quick(139e-9), quick(18e-6)], [" (they are too quick to be timed one by one)", ""]);
        assert_eq!(too_few(65_536, None), "no single message was timed near 64 KiB, and a share needs a hundred");
    }

    #[test]
    fn a_share_of_what_was_timed_is_told_even_where_it_is_none() {
        let of = |late, longer| part(late, longer, "64 KiB");
        assert_eq!(of(0.0, true), "none of the single messages of 64 KiB that were timed took longer than");
        assert_eq!(of(0.012, true), "1.2% of the single messages of 64 KiB that were timed took longer than");
        assert_eq!(of(0.0, false), "all of the single messages of 64 KiB that were timed arrived within");
        assert_eq!(
            of(0.00012, false),
            "all but 0.012% of the single messages of 64 KiB that were timed arrived within"
        );
    }

    #[test]
    fn a_percentile_that_nothing_bounds_above_still_has_its_lower_end() {
        let of = |low, high, thousandths| {
            let (figure, sure) = told(Estimate { value: 12e-6, low, high }, thousandths);
            figure + &sure
        };
        assert_eq!(of(11e-6, 13e-6, 99_000), "12.0 us [11.0, 13.0]");
        assert_eq!(of(0.0, f64::INFINITY, 99_000), "12.0 us (no interval)");
        let open = "12.0 us, surely at least 11.0 us: too few rounds saw longer ones to bound it above";
        assert_eq!(of(11e-6, f64::INFINITY, 99_000), open);
        assert!(of(12e-6, f64::INFINITY, 100_000).starts_with("12.0 us (no interval): longer ones may come"));
    }
}
