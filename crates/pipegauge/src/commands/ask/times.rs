//! Answers that are times.

use measure::event::TimeKind;
use model::answer::{self, Outside, RoundRange, Unanswered};
use model::{Estimate, Summary};
use units::{Bytes, Kind, Seconds, thousands};

use super::asked::{Asked, after, figure, times};
use super::kept::{self, Kept};
use super::reply::{alone, cannot, needs, no, sharpen, verdict, yes};
use super::surest::known;
use crate::config::question::size_words;
use crate::document::Answered;

/// Messages from which on stops fall into a series of them as often as into the trials.
const MANY: u64 = 10;

/// The time of a message of any size.
pub struct Timed {
    pub seconds: Estimate,
    /// How it was found, where it was not measured there; begins with a comma.
    pub how: String,
    pub rests_on: Vec<u64>,
    /// What rounds saw, where it was measured there or on either side.
    pub seen: Option<RoundRange>,
    /// The size of the messages that it goes in, where no single one of it was measured.
    pub pieces: Option<u64>,
}

impl Timed {
    /// The time that a path keeps up instead, which takes so many times as long.
    pub fn kept_up(self, factor: Option<Estimate>) -> Self {
        let Some(factor) = factor else { return self };
        let seen = self.seen.map(|seen| seen.times_as_long(factor.low, factor.high));
        Self { seconds: kept::longer(self.seconds, factor), seen, ..self }
    }

    /// The same with what is said of it.
    fn with_kept(self, kept: Option<&Kept>) -> Self {
        let mut found = self.kept_up(kept.and_then(|kept| kept.factor));
        found.how.push_str(kept.map_or("", |kept| &kept.words));
        found
    }

    /// So many times the time.
    pub fn times(self, factor: f64) -> Self {
        let seen = self.seen.map(|seen| seen.times_as_long(factor, factor));
        Self { seconds: times(self.seconds, factor), seen, ..self }
    }
}

/// When a message arrives: as measured, or by a line that fits or how time grows over the largest sizes.
pub fn of(p: &Asked<'_>, size: u64) -> Result<Timed, Unanswered> {
    p.carried(size)?;
    if let Some(largest) = p.unsaturated().filter(|largest| size > *largest) {
        return Err(Unanswered::Unsaturated(largest));
    }
    // Fits are worked out only for sizes that nothing measured tells of.
    let found = match answer::arrival(p.curve(), size, None) {
        Err(Unanswered::Outside { .. }) => answer::arrival(p.curve(), size, p.fits()),
        measured => measured,
    };
    match found {
        Ok(a) if a.outside == Some(Outside::Line) && starts_prevail(p, size) => {
            let sizes = || p.curve().iter().map(|c| c.size);
            let (from, to) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
            Err(Unanswered::Outside { asked: size, from, to })
        }
        Ok(a) => {
            let how = match a.outside {
                None => a.bounded.map_or(String::new(), |(below, above)| {
                    format!(", between those of {} and {}, as it had too few rounds", Bytes(below), Bytes(above))
                }),
                Some(Outside::Line) => ", by the fitted line, beyond what was measured".to_owned(),
                Some(Outside::LastSizes) => format!(
                    ", by how time grows from {} to {}, beyond what was measured: the line over all sizes does not follow these",
                    Bytes(a.rests_on[0]),
                    Bytes(a.rests_on[1])
                ),
            };
            let seen = RoundRange::times(p.curve(), &a.rests_on).filter(|_| a.outside.is_none());
            Ok(Timed { seconds: a.seconds, how, rests_on: a.rests_on, seen, pieces: None })
        }
        Err(why) => Err(why),
    }
}

/// Where nothing tells what one message of a size beyond what was measured takes, how long it takes in many, which is a question of its own: a
/// larger message may cost more a byte than all smaller ones do. Begins with a semicolon.
fn in_many(p: &Asked<'_>, size: u64, why: &Unanswered) -> Option<String> {
    // So many messages one after another take so many times as long only where a message's time is its own.
    let alone = matches!(p.kind, Some(TimeKind::HalfRoundTrip | TimeKind::OneWay | TimeKind::Copy));
    // A path that still rises would carry larger messages faster than that, and one size says nothing of it.
    let s = p.summary().filter(|s| alone && s.still_rising != Some(true) && p.curve().len() > 1)?;
    let beyond = match why {
        Unanswered::TooFar { .. } => true,
        Unanswered::Outside { to, .. } => size > *to,
        _ => false,
    };
    beyond.then(|| {
        let t = lasting(p, in_smaller(p, size, s));
        let at = t.pieces.unwrap_or(s.max_size);
        let time = figure(t.seconds, Kind::Seconds);
        format!(
            "; in messages of {} one after another it takes {time} (ask about {size} B in messages of {at} B)",
            Bytes(at)
        )
    })
}

/// No answer to what one message takes, with how long it takes in many where that is known.
pub fn not_in_one(p: &Asked<'_>, size: u64, why: &Unanswered, round_trip: bool) -> Answered {
    let many = in_many(p, size, why).filter(|_| !round_trip).unwrap_or_default();
    let mut found = no(p, why, &[size]);
    found.text.push_str(&many);
    found
}

/// When a size is there, whether in one message or, of a stream, in many.
pub fn whole(p: &Asked<'_>, size: u64) -> Result<Timed, Unanswered> {
    in_a_stream(p, size).map_or_else(|| of(p, size), Ok)
}

/// How long a stream takes to send what is larger than all of its messages: a stream is of many anyway, and so each path's is of the messages of
/// which it moves most, and none is of one that is foretold. None of another path, and of a size that was measured.
fn in_a_stream(p: &Asked<'_>, size: u64) -> Option<Timed> {
    p.journey().err()?;
    let s = p.summary().filter(|_| !p.scheduled() && p.curve().iter().all(|c| c.size < size))?;
    // A path that still rises may send it faster than in the messages that were measured.
    let foretold = (s.still_rising == Some(true)).then(|| of(p, size).ok()).flatten();
    Some(lasting(p, foretold.unwrap_or_else(|| in_smaller(p, size, s))))
}

/// What a size takes in the messages of which the path moves most, one after another.
fn in_smaller(p: &Asked<'_>, size: u64, s: &Summary) -> Timed {
    let bits = size as f64 * 8.0;
    let (most, at, _) = known(p, s.max_throughput, s.max_size);
    let low = bits / most.high;
    let high = if most.low > 0.0 { bits / most.low } else { f64::INFINITY };
    Timed {
        seconds: Estimate { value: bits / most.value, low, high },
        how: format!(", in messages of {} one after another: no single message of it was measured", Bytes(at)),
        rests_on: vec![at],
        seen: None,
        pieces: Some(at),
    }
}

/// What goes in many messages for long takes what is kept up.
pub fn lasting(p: &Asked<'_>, t: Timed) -> Timed {
    let Some(at) = t.pieces.filter(|_| t.seconds.value > kept::LASTS) else { return t };
    let kept = kept::at(p, at);
    let mut t = t.kept_up(kept.factor);
    t.how.push_str(&kept.words);
    t
}

/// Whether the largest message measured is too small to say what bytes cost: its start costs more than its bytes do.
fn starts_prevail(p: &Asked<'_>, size: u64) -> bool {
    let largest = p.curve().iter().map(|c| c.size).max().unwrap_or(0);
    let line = p.fits().and_then(|f| f.latency.all.as_ref());
    size > largest && line.is_none_or(|l| l.per_byte.value * (largest as f64) < l.t0.value)
}

/// The same of a way or of a round trip, with the name of the time; of what is kept up where that is asked for.
pub fn trip(p: &Asked<'_>, size: u64, round_trip: bool, sustained: bool) -> Result<(Timed, &'static str), Unanswered> {
    p.own_times()?;
    let mut found = of(p, size)?;
    if sustained {
        found = found.with_kept(Some(&kept::at(p, size)));
    }
    if !round_trip {
        return Ok((found, p.time));
    }
    let (factor, label) = p.round_trip().map_err(Unanswered::NoSum)?;
    Ok((found.times(factor), label))
}

/// Why a stream's times tell no journey, as an answer; none of another path.
pub fn no_journey(p: &Asked<'_>, sizes: &[u64]) -> Option<Answered> {
    p.journey().err().map(|why| needs(p, p.there_and_back(), &why, sizes))
}

/// How long a stream takes to send what is larger than all of its messages.
pub fn streamed(p: &Asked<'_>, size: u64, within: Option<f64>) -> Option<Answered> {
    let t = in_a_stream(p, size)?;
    let (word, limit) = within.map_or((String::new(), String::new()), |seconds| {
        (format!("{}: ", verdict(t.seconds, seconds)), format!(" of the {} it has", Seconds(seconds)))
    });
    let text = format!(
        "{word}sending {} in a long stream takes {}{limit}{}; the way of its last message comes on top, which a stream does not tell \
         (--pattern {} does)",
        size_words(size),
        figure(t.seconds, Kind::Seconds),
        t.how,
        p.there_and_back()
    );
    Some(yes(p, text, t.seconds, "s", t.rests_on))
}

pub fn arrival(p: &Asked<'_>, size: u64, round_trip: bool, sustained: bool) -> Answered {
    let streamed = streamed(p, size, None).filter(|_| !round_trip && !sustained);
    if let Some(answer) = streamed.or_else(|| no_journey(p, &[size])) {
        return answer;
    }
    match trip(p, size, round_trip, sustained) {
        Err(why) => not_in_one(p, size, &why, round_trip),
        Ok((t, label)) => {
            let back = round_trip || p.kind == Some(TimeKind::RoundTrip);
            let what = match p.of_all(size) {
                Some(what) => format!("{what} takes {}", figure(t.seconds, Kind::Seconds)),
                None if back => format!("{} is there and back {}", size_words(size), after(t.seconds)),
                None => format!("{} arrives {}", size_words(size), after(t.seconds)),
            };
            let mut found = yes(p, format!("{what} ({label}){}", t.how), t.seconds, "s", t.rests_on);
            found.sharpen = sharpen(p, &[size]);
            found
        }
    }
}

pub fn latency(p: &Asked<'_>, round_trip: bool, sustained: bool) -> Answered {
    match p.summary() {
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
    if let Some(answer) = scheduled(p, count, size) {
        return answer;
    }
    // So many that they take long take what is kept up, and of many the stops that a median passes by count, and what long trials take, as where it
    // is asked how many go in a time.
    let long = of(p, size).is_ok_and(|t| t.seconds.value * count as f64 > kept::LASTS);
    let told = |kept: &Kept| long || sustained || (count >= MANY && kept.factor.is_some());
    let kept = Some(kept::of_many(p, size)).filter(told);
    match trip(p, size, round_trip, false).map(|(t, label)| (t.with_kept(kept.as_ref()), label)) {
        Err(why) => no(p, &why, &[size]),
        Ok((t, label)) if stream => {
            let all = times(t.seconds, count as f64);
            let text = format!(
                "sending {} of {} in a long stream takes {} ({} times {}, {label}{}); the way of the last one comes on \
                 top, which a stream does not tell (--pattern {} does)",
                units::counted(count, "message"),
                size_words(size),
                figure(all, Kind::Seconds),
                thousands(count),
                figure(t.seconds, Kind::Seconds),
                t.how,
                p.there_and_back()
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
            let (take, whole) = if count == 1 { ("takes", String::new()) } else { ("take", whole) };
            let text = format!(
                "{} of {} {take} {} ({} times {label}: each sent when the one before is through{}){whole}",
                units::counted(count, "message"),
                size_words(size),
                figure(all, Kind::Seconds),
                thousands(count),
                t.how
            );
            yes(p, text, all, "s", t.rests_on)
        }
    }
}

/// So many messages of a schedule (`--rate`): they go as it says, and not as fast as the path takes them. None of another path.
fn scheduled(p: &Asked<'_>, count: u64, size: u64) -> Option<Answered> {
    if !p.scheduled() {
        return None;
    }
    let Some(offered) = p.offered(size).filter(|offered| offered.sent > 0.0) else {
        let why = format!("a schedule (--rate) tells of the sizes measured only, and {} is none", size_words(size));
        return Some(cannot(p, why, &[size]));
    };
    let all = count as f64 / offered.sent;
    let rate = |x: f64| units::format::significant(x, Kind::PerSecond);
    let missed = match offered.sent < 0.99 * offered.wanted {
        true => format!(", of the {} that it was to send", rate(offered.wanted)),
        false => String::new(),
    };
    let text = format!(
        "{} messages of {} take {}: the schedule of this run (--rate) sent {}{missed}; how fast they would go one after another was not measured \
         (measure without --rate)",
        thousands(count),
        size_words(size),
        Seconds(all),
        rate(offered.sent)
    );
    Some(yes(p, text, alone(all), "s", vec![size]))
}

/// The size asked about, or the smallest.
pub fn or_smallest(p: &Asked<'_>, size: Option<u64>) -> Result<u64, Unanswered> {
    size.or(p.summary().map(|s| s.latency_size)).ok_or(Unanswered::Nothing)
}
