//! Answers that are times.

use measure::event::TimeKind;
use model::Estimate;
use model::answer::{self, Outside, Seen, Unanswered};
use units::{Bytes, Kind, Seconds, Share, thousands};

use super::asked::{Asked, after, figure, times};
use super::kept;
use super::reply::{cannot, needs, no, sharpen, yes};
use super::seen;
use crate::config::question::{percentile as name, size_words};
use crate::document::Answered;

/// The time of a message of any size.
pub struct Timed {
    pub seconds: Estimate,
    /// How it was found, where it was not measured there; begins with a comma.
    pub how: String,
    pub rests_on: Vec<u64>,
    /// What rounds saw, where it was measured there or on either side.
    pub seen: Option<Seen>,
}

impl Timed {
    /// The time that a path keeps up instead, which takes so many times as long.
    pub fn kept_up(self, factor: Option<Estimate>) -> Self {
        let Some(factor) = factor else { return self };
        let seen = self.seen.map(|seen| seen.times_as_long(factor.low, factor.high));
        Self { seconds: kept::longer(self.seconds, factor), seen, ..self }
    }

    /// So many times the time.
    pub fn times(self, factor: f64) -> Self {
        let seen = self.seen.map(|seen| seen.times_as_long(factor, factor));
        Self { seconds: times(self.seconds, factor), seen, ..self }
    }
}

/// When a message arrives: as measured, by a line that fits or how time grows over the largest sizes, or, beyond all that was
/// measured, in messages one after another.
pub fn of(p: &Asked<'_>, size: u64) -> Result<Timed, Unanswered> {
    p.carried(size)?;
    if let Some(largest) = p.unsaturated().filter(|largest| size > *largest) {
        return Err(Unanswered::Unsaturated(largest));
    }
    let found = match answer::arrival(&p.curve, size, p.fits.as_ref()) {
        Ok(a) if a.outside == Some(Outside::Line) && starts_prevail(p, size) => {
            let sizes = || p.curve.iter().map(|c| c.size);
            Unanswered::Outside { asked: size, from: sizes().min().unwrap_or(0), to: sizes().max().unwrap_or(0) }
        }
        Ok(a) => {
            let how = match a.outside {
                None => a.bounded.map_or(String::new(), |(below, above)| {
                    format!(", bounded by {} and {}, as too few rounds visited it", Bytes(below), Bytes(above))
                }),
                Some(Outside::Line) => ", by the fitted line, beyond what was measured".to_owned(),
                Some(Outside::LastSizes) => format!(
                    ", by how time grows from {} to {}, beyond what was measured: the line over all sizes does not follow these",
                    Bytes(a.rests_on[0]),
                    Bytes(a.rests_on[1])
                ),
            };
            let seen = Seen::times(&p.curve, &a.rests_on).filter(|_| a.outside.is_none());
            return Ok(Timed { seconds: a.seconds, how, rests_on: a.rests_on, seen });
        }
        Err(why) => why,
    };
    // So many messages one after another take so many times as long only where a message's time is its own.
    let alone = matches!(p.kind, Some(TimeKind::HalfRoundTrip | TimeKind::OneWay | TimeKind::Copy));
    match (&found, &p.summary) {
        // A path that still rises would carry larger messages faster than that.
        (Unanswered::Outside { to, .. }, Some(s)) if size > *to && alone && s.still_rising != Some(true) => {
            let bits = size as f64 * 8.0;
            let most = s.max_throughput;
            let low = bits / most.high;
            let high = if most.low > 0.0 { bits / most.low } else { f64::INFINITY };
            Ok(Timed {
                seconds: Estimate { value: bits / most.value, low, high },
                how: format!(
                    ", in messages of {} one after another: no single message of it was measured",
                    Bytes(s.max_size)
                ),
                rests_on: vec![s.max_size],
                seen: None,
            })
        }
        _ => Err(found),
    }
}

/// Whether the largest message measured is too small to say what bytes cost: its start costs more than its bytes do.
fn starts_prevail(p: &Asked<'_>, size: u64) -> bool {
    let largest = p.curve.iter().map(|c| c.size).max().unwrap_or(0);
    let line = p.fits.as_ref().and_then(|f| f.latency.all.as_ref());
    size > largest && line.is_none_or(|l| l.per_byte.value * (largest as f64) < l.t0.value)
}

/// The same of a way or of a round trip, with the name of the time; of what is kept up where that is asked for.
fn trip(p: &Asked<'_>, size: u64, round_trip: bool, sustained: bool) -> Result<(Timed, &'static str), Unanswered> {
    p.own_times()?;
    let mut found = of(p, size)?;
    if sustained {
        let kept = kept::at(p, size);
        found = found.kept_up(kept.factor);
        found.how.push_str(&kept.words);
    }
    if !round_trip {
        return Ok((found, p.time));
    }
    let (factor, label) = p.round_trip().map_err(Unanswered::NoSum)?;
    Ok((found.times(factor), label))
}

/// Why a stream's times tell no journey, as an answer; none of another path.
pub fn no_journey(p: &Asked<'_>, sizes: &[u64]) -> Option<Answered> {
    p.journey().err().map(|why| needs(p, "ping-pong", &why, sizes))
}

/// How long a stream takes to send what is larger than all of its messages.
fn streamed(p: &Asked<'_>, size: u64) -> Option<Answered> {
    p.journey().err()?;
    let t = of(p, size).ok().filter(|_| p.curve.iter().all(|c| c.size < size))?;
    let text = format!(
        "sending {} in a long stream takes {}{}; the way of its last message comes on top, which a stream does not tell \
         (--pattern ping-pong does)",
        size_words(size),
        figure(t.seconds, Kind::Seconds),
        t.how
    );
    Some(yes(p, text, t.seconds, "s", t.rests_on))
}

pub fn arrival(p: &Asked<'_>, size: u64, round_trip: bool, sustained: bool) -> Answered {
    let streamed = streamed(p, size).filter(|_| !round_trip && !sustained);
    if let Some(answer) = streamed.or_else(|| no_journey(p, &[size])) {
        return answer;
    }
    match trip(p, size, round_trip, sustained) {
        Err(why) => no(p, &why, &[size]),
        Ok((t, label)) => {
            let back = round_trip || p.kind == Some(TimeKind::RoundTrip);
            let what = if back { "is there and back" } else { "arrives" };
            let time = after(t.seconds);
            let mut found =
                yes(p, format!("{} {what} {time} ({label}){}", size_words(size), t.how), t.seconds, "s", t.rests_on);
            found.sharpen = sharpen(p, &[size]);
            found
        }
    }
}

pub fn latency(p: &Asked<'_>, round_trip: bool, sustained: bool) -> Answered {
    match p.summary.as_ref() {
        None => no(p, &Unanswered::Nothing, &[]),
        Some(s) => arrival(p, s.latency_size, round_trip, sustained),
    }
}

/// So many messages, each sent when the one before has arrived.
pub fn series(p: &Asked<'_>, count: u64, size: u64, round_trip: bool, sustained: bool) -> Answered {
    let stream = p.journey().is_err();
    if let Some(answer) = no_journey(p, &[size]).filter(|_| round_trip) {
        return answer;
    }
    match trip(p, size, round_trip, sustained) {
        Err(why) => no(p, &why, &[size]),
        Ok((t, label)) if stream => {
            let all = times(t.seconds, count as f64);
            let text = format!(
                "sending {} messages of {} in a long stream takes {} ({} times {}, {label}{}); the way of the last one comes on \
                 top, which a stream does not tell (--pattern ping-pong does)",
                thousands(count),
                size_words(size),
                figure(all, Kind::Seconds),
                thousands(count),
                figure(t.seconds, Kind::Seconds),
                t.how
            );
            yes(p, text, all, "s", t.rests_on)
        }
        Ok((t, label)) => {
            let all = times(t.seconds, count as f64);
            let total = size.checked_mul(count);
            let whole = total.and_then(|total| Some((total, of(p, total).ok()?))).filter(|_| !round_trip && !sustained);
            let whole = whole.map_or(String::new(), |(total, w)| {
                format!(
                    "; as one message of {} it would be {}{}",
                    size_words(total),
                    figure(w.seconds, Kind::Seconds),
                    w.how
                )
            });
            let text = format!(
                "{} messages of {} take {} ({} times {label}: each sent when the one before is through{}){whole}",
                thousands(count),
                size_words(size),
                figure(all, Kind::Seconds),
                thousands(count),
                t.how
            );
            yes(p, text, all, "s", t.rests_on)
        }
    }
}

/// The size asked about, or the smallest.
pub fn or_smallest(p: &Asked<'_>, size: Option<u64>) -> Result<u64, Unanswered> {
    size.or(p.summary.as_ref().map(|s| s.latency_size)).ok_or(Unanswered::Nothing)
}

pub fn percentile(p: &Asked<'_>, thousandths: u32, size: Option<u64>, round_trip: bool) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    let factor = if round_trip { p.round_trip() } else { Ok((1.0, p.single().1)) };
    let found = or_smallest(p, size).and_then(|size| {
        let (factor, label) = factor.map_err(Unanswered::NoSum)?;
        // Single transfers are timed where that costs little; the nearest such size stands in, and it is said.
        let q = f64::from(thousandths) / 1e5;
        // The 50th is the median, which is known at every size.
        if thousandths == 50_000 && p.flows() == 1 && p.singles_near(size, q).is_none_or(|(at, _)| at != size) {
            let (t, label) = trip(p, size, round_trip, false)?;
            return Ok((size, t.rests_on, t.seconds, label, t.how));
        }
        let found = p.singles_near(size, q).or_else(|| p.singles_near(size, 1.0));
        let (at, singles) = found.ok_or(Unanswered::TooLittle("single transfers were not timed near that size"))?;
        let (value, told) =
            singles.at(q).ok_or(Unanswered::TooLittle("too few single transfers were timed for this percentile"))?;
        // The 50th is the row's median, and so is its interval.
        let row = p.row(at).filter(|_| thousandths == 50_000 && p.flows() == 1);
        let (low, high) = row.map_or((told.low, told.high), |f| (f.low.min(value), f.high.max(value)));
        let e = Estimate { value, low, high };
        // How far the tail of another size lies from this one's is not known: it is told as it is, of the size that it was timed at.
        let stands = if at == size {
            String::new()
        } else {
            format!(
                " (the nearest size at which enough single transfers were timed: {} itself has no such figure)",
                Bytes(size)
            )
        };
        Ok((at, vec![at], times(e, factor), label, stands))
    });
    match found {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((size, rests_on, e, label, stands)) => {
            let sure = if thousandths == 100_000 { ": longer ones may come, and nothing bounds them" } else { "" };
            let text = format!(
                "{} of {}{stands}: {} ({label}) of single transfers{sure}",
                name(thousandths),
                size_words(size),
                figure(e, Kind::Seconds)
            );
            yes(p, text, e, "s", rests_on)
        }
    }
}

/// How many times as long as a message of `at` one of `size` takes, by their medians.
fn scale(p: &Asked<'_>, size: u64, at: u64) -> Option<f64> {
    if size == at {
        return Some(1.0);
    }
    Some(of(p, size).ok()?.seconds.value / of(p, at).ok()?.seconds.value).filter(|s| s.is_finite() && *s > 0.0)
}

/// Whether a message is there within a time, or takes longer where that is asked.
pub fn deadline(
    p: &Asked<'_>,
    size: Option<u64>,
    (seconds, longer): (f64, bool),
    round_trip: bool,
    sustained: bool,
) -> Answered {
    if let Some(answer) = no_journey(p, size.as_slice()) {
        return answer;
    }
    match or_smallest(p, size).and_then(|size| Ok((size, trip(p, size, round_trip, sustained)?))) {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((size, (t, label))) => {
            // The way there is a part of the time there and back: that this is too long says nothing of it.
            let part = !round_trip && matches!(p.kind, Some(TimeKind::RoundTrip | TimeKind::Transaction));
            let (verdict, seen) = match seen::below(t.seconds, seconds, t.seen, sustained, Kind::Seconds) {
                ("no", _) if part => ("not surely", String::new()),
                found => found,
            };
            let way = if part {
                "; that is there and back, and the way there takes less (--pattern ping-pong tells it)"
            } else {
                ""
            };
            let late = if round_trip || sustained || part { None } else { late(p, size, seconds) };
            let late = late.map_or(String::new(), |(share, at)| {
                format!("; {} of single transfers take longer{}", Share(share), stands_in(at, size))
            });
            let asked = if longer { "asked about" } else { "it has" };
            let text = format!(
                "{}: {} takes {} ({label}) of the {} {asked}{}{seen}{way}{late}",
                answered(verdict, longer),
                size_words(size),
                figure(t.seconds, Kind::Seconds),
                Seconds(seconds),
                t.how
            );
            yes(p, text, t.seconds, "s", t.rests_on)
        }
    }
}

/// A verdict, and the other one where the contrary was asked.
pub fn answered(verdict: &'static str, contrary: bool) -> &'static str {
    match (verdict, contrary) {
        ("yes", true) => "no",
        ("no", true) => "yes",
        _ => verdict,
    }
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

/// What so many further bytes cost: of a message below 1 KiB, and by the line over all sizes.
pub fn per_byte(p: &Asked<'_>, bytes: u64) -> Answered {
    let small = p.summary.as_ref().and_then(|s| s.per_byte);
    let line = p.fits.as_ref().and_then(|f| f.latency.all.as_ref());
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
    let lines = p.fits.as_ref().map(|f| &f.latency);
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
