//! Answers that are rates: bits, frames and messages a second.

use measure::event::TimeKind;
use model::answer::{self, Frames, Kept, RoundRange, Unanswered};
use model::{CurvePoint, Estimate, Summary};
use units::{BitRate, Bytes, Kind, Seconds, Share};

use super::asked::{Asked, figure, from, inverse, times};
use super::below;
use super::beside::{achieved, ways};
use super::kept::{self, Kept as KeptUp};
use super::percentiles::{but, late, stands_in};
use super::reply::{answered, cannot, needs, no, yes};
use super::surest::{Surest, known, resolved};
use super::times::{not_in_one, of};
use crate::config::question::{Unit, size_words};
use crate::document::Answered;

pub fn maximum(p: &Asked<'_>) -> Result<answer::Most, Unanswered> {
    let summary = p.summary().ok_or(Unanswered::TooLittle("there are too few points"))?;
    p.reached()?;
    answer::most(p.lasting(), summary, p.seed)
}

/// A throughput as what is kept up, where that is asked for, and what is said of it.
pub fn as_kept(p: &Asked<'_>, size: u64, e: Estimate, sustained: bool) -> (Estimate, String, bool) {
    if !sustained {
        return (e, String::new(), false);
    }
    let KeptUp { factor, words, .. } = kept::at(p, size);
    (factor.map_or(e, |factor| kept::less(e, factor)), words, factor.is_some())
}

/// That no long trial tells what is kept up at a size, with what short ones move; none where one does.
fn unkept(p: &Asked<'_>, size: u64, e: Estimate) -> Option<Answered> {
    let kept = kept::at(p, size);
    let why = || {
        let moved = figure(e, Kind::BitsPerSecond);
        format!(
            "what it keeps up is not known: short trials of {} move {moved} ({}){}",
            size_words(size),
            each(p),
            kept.words
        )
    };
    (!kept.known).then(|| cannot(p, why(), &[size]))
}

pub fn most(p: &Asked<'_>, sustained: bool) -> Answered {
    if let [only] = p.curve() {
        let mut answer = throughput(p, only.size, sustained);
        if answer.answered {
            answer.text.push_str("; no other size was measured, which may move more");
        }
        return answer;
    }
    match (maximum(p), p.summary()) {
        // What the largest size moves is moved, and more may be.
        (Err(Unanswered::Unsaturated(largest)), Some(s)) if !sustained => {
            let why = Unanswered::Unsaturated(largest);
            let text = format!(
                "moves at least {}, at {}{}: {why}",
                figure(s.max_throughput, Kind::BitsPerSecond),
                Bytes(s.max_size),
                both_of(p, s.max_size)
            );
            let answer = yes(p, text, s.max_throughput, "bit/s", vec![s.max_size]);
            Answered { sharpen: no(p, &why, &[]).sharpen, ..answer }
        }
        (Err(why), _) => no(p, &why, &[]),
        (Ok(m), _) if sustained => {
            if let Some(answer) = unkept(p, m.at, m.throughput) {
                return answer;
            }
            let (e, words, _) = as_kept(p, m.at, m.throughput, true);
            let both = both_of(p, m.at);
            let text = format!("moves the most, {}, at {}{both}{words}", figure(e, Kind::BitsPerSecond), Bytes(m.at));
            yes(p, text, e, "bit/s", vec![m.at])
        }
        (Ok(m), _) => {
            let rising = if m.rising { "; it still rises: larger messages may carry more" } else { "" };
            let text = format!(
                "moves the most, {}, at {}{}; 95% of that {}{rising}{}{}",
                figure(m.throughput, Kind::BitsPerSecond),
                Bytes(m.at),
                both_of(p, m.at),
                from(m.from.size),
                p.burst_at(&[m.at]),
                surely_moved(p, m.throughput, m.at),
            );
            yes(p, text, m.throughput, "bit/s", vec![m.at])
        }
    }
}

/// What it moves in a long time, with messages of a size or of the best one: what it keeps up where that is known, else what short trials move,
/// and that this is of them.
pub fn for_long(p: &Asked<'_>, size: Option<u64>) -> Answered {
    // Where the most is not resolved, as much as surely goes, as where bytes in that time are asked for.
    if let Some(answer) = surely_for_long(p).filter(|_| size.is_none()) {
        return answer;
    }
    let most = || match p.curve() {
        [only] => Some(only.size),
        _ => maximum(p).ok().map(|m| m.at),
    };
    let kept = size.or_else(most).map(|at| kept::at(p, at));
    let known = kept.as_ref().is_some_and(|kept| kept.known);
    let mut answer = match size {
        None => self::most(p, known),
        Some(size) => throughput(p, size, known),
    };
    let words = match kept {
        Some(kept) if kept.known => return answer,
        Some(kept) => kept.words,
        None => format!("; {}", p.short()),
    };
    if answer.answered {
        answer.text.push_str(&words);
    }
    answer
}

/// What goes in a long time at the size of which most is sure, where the most of all is not resolved; none where it is.
fn surely_for_long(p: &Asked<'_>) -> Option<Answered> {
    let most = maximum(p).ok().filter(|_| p.curve().len() > 1)?;
    let (moves, at, unknown) = known(p, most.throughput, most.at);
    if unknown.is_empty() {
        return None;
    }
    let (moves, words, _) = as_kept(p, at, moves, true);
    let text = format!(
        "{unknown}and surely it moves {} at {} ({}){words}",
        figure(moves, Kind::BitsPerSecond),
        Bytes(at),
        each(p)
    );
    Some(yes(p, text, moves, "bit/s", vec![at]))
}

/// What a size surely moves where the most is not resolved. Begins with a semicolon.
fn surely_moved(p: &Asked<'_>, most: Estimate, at: u64) -> String {
    match known(p, most, at) {
        (_, _, words) if words.is_empty() => words,
        (e, size, _) => format!("; surely {} at {}", figure(e, Kind::BitsPerSecond), Bytes(size)),
    }
}

/// Throughput with messages of a size, the sizes it rests on, and how it was found where it was not measured there (beyond the largest
/// size by their time).
pub fn moved(p: &Asked<'_>, size: u64) -> Result<(Estimate, Vec<u64>, String), Unanswered> {
    p.carried(size)?;
    match answer::throughput(p.curve(), size) {
        Err(Unanswered::Outside { to, .. }) if size > to => {
            let t = of(p, size)?;
            Ok((answer::carried(p.curve(), size, t.seconds)?, t.rests_on, t.how))
        }
        found => found.map(|(e, rests_on)| (e, rests_on, String::new())),
    }
}

pub fn throughput(p: &Asked<'_>, size: u64, sustained: bool) -> Answered {
    match moved(p, size) {
        Err(why) => no(p, &why, &[size]),
        Ok((e, rests_on, how)) => {
            if let Some(answer) = unkept(p, size, e).filter(|_| sustained) {
                return answer;
            }
            let (e, words, _) = as_kept(p, size, e, sustained);
            let text = format!(
                "messages of {} move {} ({}){}{how}{words}",
                size_words(size),
                figure(e, Kind::BitsPerSecond),
                each(p),
                of_ways(p, size)
            );
            yes(p, text, e, "bit/s", rests_on)
        }
    }
}

/// What each direction carries: more words of an answer.
fn of_ways(p: &Asked<'_>, size: u64) -> String {
    let Some(ways) = ways(p, size) else { return String::new() };
    let [there, back] = ways.map(|e| figure(e, Kind::BitsPerSecond));
    format!("; to the far side {there}, back {back}")
}

/// That the most is of both directions, and each of them at that size; empty where one was measured.
fn both_of(p: &Asked<'_>, size: u64) -> String {
    let two = matches!(p.kind, Some(TimeKind::RoundTrip | TimeKind::Exchange | TimeKind::Transaction));
    if p.both_ways() || two { format!(", {}{}", each(p), of_ways(p, size)) } else { String::new() }
}

/// How messages follow one another in what was measured.
pub fn each(p: &Asked<'_>) -> String {
    let each = match p.kind {
        _ if p.both_ways() => "both directions together",
        Some(TimeKind::HalfRoundTrip) => "one after another, from RTT/2",
        Some(TimeKind::RoundTrip | TimeKind::Transaction) if p.response().is_some() => {
            let answers = p.response().map_or(String::new(), size_words);
            return format!("both ways together, messages and their answers of {answers}");
        }
        Some(TimeKind::RoundTrip) => "both ways of a round trip",
        Some(TimeKind::OneWay) => "sent without waiting",
        Some(TimeKind::Exchange) => "both directions at once",
        Some(TimeKind::Transaction) => "a connection for each",
        Some(TimeKind::Spacing) => "by all at once",
        _ => "one after another",
    };
    each.to_owned()
}

/// Whether a rate is carried, or is more than what is where `less` is asked; what is kept up alone where `sustained` is.
pub fn carries(p: &Asked<'_>, rate: f64, size: Option<u64>, (less, sustained): (bool, bool)) -> Answered {
    // Of the best size the most may be too noisy to tell where another one surely carries the rate.
    if let Some(answer) = surely(p, rate, less, sustained).filter(|_| size.is_none()) {
        return answer;
    }
    let found = match size {
        Some(size) => moved(p, size)
            .map(|(e, rests, how)| (e, rests, format!("with messages of {}{how} it moves", size_words(size)))),
        // What a small message carries is carried, whatever larger ones add.
        None => match (maximum(p), p.summary()) {
            (Err(Unanswered::Unsaturated(_)), Some(s)) if moves_surely(p, s, rate) => {
                Ok((s.max_throughput, vec![s.max_size], format!("at {} it moves", Bytes(s.max_size))))
            }
            (found, _) => found.map(|m| (m.throughput, vec![m.at], format!("at {} it moves the most,", Bytes(m.at)))),
        },
    };
    match found {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((e, rests_on, words)) => {
            let kept_up = kept::at(p, size.unwrap_or(rests_on[0]));
            let (e, kept) = (kept_up.factor.map_or(e, |factor| kept::less(e, factor)), kept_up.words);
            let slower = kept_up.factor.is_some();
            let words = match size {
                None if slower => {
                    format!("at {}, where it moves the most, it {}", Bytes(rests_on[0]), keeps(kept_up.near))
                }
                _ => words,
            };
            // Rounds saw what was measured at that size, or on either side of it.
            let inside = size.is_none_or(|s| rests_on.iter().any(|r| *r <= s) && rests_on.iter().any(|r| *r >= s));
            let seen = RoundRange::rates(p.curve(), &rests_on).filter(|_| inside);
            let seen = seen.map(|s| kept_up.factor.map_or(s, |f| s.times_as_long(1.0 / f.high, 1.0 / f.low)));
            // What lies below the rate is too slow.
            let (slow, seen) = below::below(e, rate, seen, slower, Kind::BitsPerSecond);
            let burst = p.burst_at(&rests_on);
            if sustained && !kept_up.known {
                let moved = figure(e, Kind::BitsPerSecond);
                let why = format!("whether it keeps that up is not known: {words} {moved} ({}){kept}{burst}", each(p));
                return cannot(p, why, &rests_on);
            }
            // What a bucket saved up is no rate that is carried.
            let verdict = match answered(slow, true) {
                "yes" if !burst.is_empty() => "not surely",
                verdict => verdict,
            };
            let from = if size.is_none() && e.high >= rate && !slower { Kept::of(p.lasting(), rate) } else { None };
            let from = from.map_or(String::new(), |kept| from_which(rate, &kept, verdict == "yes"));
            let verdict = answered(verdict, less);
            let text =
                format!("{verdict}: {words} {} ({}){seen}{from}{kept}{burst}", figure(e, Kind::BitsPerSecond), each(p));
            yes(p, text, e, "bit/s", rests_on)
        }
    }
}

/// Whether the most of a path that still rises lies above a rate: by its interval, or where there is none by what all rounds saw.
fn moves_surely(p: &Asked<'_>, s: &Summary, rate: f64) -> bool {
    let seen = || RoundRange::rates(p.curve(), &[s.max_size]).and_then(|seen| seen.below(rate));
    s.max_throughput.low >= rate || seen() == Some(false)
}

/// That a rate is surely carried at one size, where the most that the path moves does not tell.
fn surely(p: &Asked<'_>, rate: f64, less: bool, sustained: bool) -> Option<Answered> {
    let most = p.summary()?;
    let kept = |size: u64, e: Estimate| kept::at(p, size).factor.map_or(e, |factor| kept::less(e, factor));
    let all = kept(most.max_size, most.max_throughput);
    if all.low > rate && resolved(all) {
        return None;
    }
    let found = Surest::of(p.surely_lasting(), kept).filter(|s| s.least >= rate)?;
    let kept = kept::at(p, found.size);
    if sustained && !kept.known {
        return None;
    }
    let (how, from) = match kept.factor {
        Some(_) => (keeps(kept.near), None),
        None => ("moves", Kept::of(p.lasting(), rate)),
    };
    let from = from.map_or(String::new(), |kept| from_which(rate, &kept, true));
    let text = format!(
        "{}: at {} it {how} {} ({}){from}{}",
        answered("yes", less),
        Bytes(found.size),
        figure(found.moves, Kind::BitsPerSecond),
        each(p),
        kept.words
    );
    Some(yes(p, text, found.moves, "bit/s", vec![found.size]))
}

/// What is kept up, where long trials were made near that size or where those of others leave it open.
fn keeps(near: bool) -> &'static str {
    if near { "keeps up" } else { "keeps up, by long trials of other sizes," }
}

/// Stretches that do not keep a rate, of which so many are named.
const NAMED: usize = 3;

/// From which size on a rate is reached; by the medians alone where it is not surely reached at all. Begins with a semicolon.
fn from_which(rate: f64, kept: &Kept, surely: bool) -> String {
    let by = if surely { "" } else { "by the medians " };
    format!("; {by}{} is {}", BitRate(rate), reached(kept))
}

/// From which size to which a rate is reached, and where in between it is not.
fn reached(kept: &Kept) -> String {
    let place = |from: u64, to: u64| {
        if from == to { format!("at {}", Bytes(from)) } else { format!("from {} to {}", Bytes(from), Bytes(to)) }
    };
    let at = if kept.open && kept.from < kept.to {
        format!("reached at the measured sizes from {} on", Bytes(kept.from))
    } else {
        format!("reached {}", place(kept.from, kept.to))
    };
    let mut but: Vec<String> = kept.but.iter().take(NAMED).map(|(from, to)| place(*from, *to)).collect();
    match kept.but.len() - but.len() {
        0 => {}
        1 => but.push("in 1 more stretch".to_owned()),
        more => but.push(format!("in {more} more stretches")),
    }
    if but.is_empty() { at } else { format!("{at}, but not {}", but.join(", ")) }
}

/// The curve of round trips, where its times are halves of them, and how many of its times one takes.
pub fn doubled(p: &Asked<'_>) -> Result<(Vec<CurvePoint>, &'static str, f64), String> {
    let (factor, label) = p.round_trip()?;
    let point = |c: &CurvePoint| c.times(factor);
    Ok((p.curve().iter().map(point).collect(), label, factor))
}

pub fn frames(p: &Asked<'_>, rate: f64, size: u64, what: Unit) -> Answered {
    if what == Unit::Connections && p.kind != Some(TimeKind::Transaction) {
        return super::counts::connections(p, Some(size));
    }
    if let Some(in_round) = p.in_round() {
        return in_rounds(p, rate, size, in_round);
    }
    let requests = what == Unit::Requests;
    let answered = each_answered(p, what);
    let whole = requests || answered;
    let (curve, label, factor) = match if whole { doubled(p) } else { Ok((p.curve().to_vec(), p.time, 1.0)) } {
        Ok(found) => found,
        Err(why) => return needs(p, p.there_and_back(), &Unanswered::NoSum(why), &[size]),
    };
    let (one, many) = match what {
        Unit::Frames => ("frame", "frames"),
        Unit::Requests => ("request", "requests"),
        Unit::Connections => ("connection with a request", "connections with requests"),
        _ => ("message", "messages"),
    };
    let stream = p.journey().is_err();
    match p.carried(size).and_then(|()| Frames::of(&curve, size, rate)) {
        Err(why) => beyond(p, rate, size, one, what)
            .unwrap_or_else(|| not_in_one(p, size, &of(p, size).err().unwrap_or(why), whole)),
        Ok(mut f) => {
            let kept = kept::of_many(p, size);
            let timed = of(p, size).map(|t| t.times(factor).kept_up(kept.factor));
            if let Some(factor) = kept.factor {
                f.seconds = kept::longer(f.seconds, factor);
                f.most_frames = inverse(f.seconds, 1.0);
            }
            let (word, seen) = below::below(
                f.seconds,
                f.period,
                timed.as_ref().ok().and_then(|t| t.seen),
                kept.factor.is_some(),
                Kind::Seconds,
            );
            let word = if answered { at_least(word) } else { word };
            f.sustained = match word {
                "yes" => Some(true),
                "no" => Some(false),
                _ => None,
            };
            // Of a stream, only that the next one follows late would be known; of what is kept up nothing.
            let late = late(p, size, f.period / factor).filter(|_| !stream && kept.factor.is_none());
            let mut text = format!(
                "{}: a {one} of {} takes {} ({label}{}) of the {} it has{}{seen}; the most is {}{}",
                but(word, late),
                size_words(size),
                figure(f.seconds, Kind::Seconds),
                if answered { ANSWERED } else { "" },
                Seconds(f.period),
                timed.map_or(String::new(), |t| t.how),
                figure(f.most_frames, Kind::PerSecond),
                in_turn(p, answered, f.sustained)
            );
            // Which others go at that rate, and how many are late, is known of single transfers only.
            if kept.factor.is_some() {
                return yes(p, text + &achieved(p, size) + &kept.words, f.most_frames, "1/s", f.rests_on);
            }
            match (f.largest, f.largest_is_end) {
                (Some(s), end) => text.push_str(&largest_at(rate, (s, end), many)),
                (None, _) if answered => {
                    text.push_str(&format!(", and with answers between no size goes at {}", a_second(rate)))
                }
                (None, _) => text.push_str(&format!(", and no size is fast enough for {}", a_second(rate))),
            }
            text.push_str(&achieved(p, size));
            match late {
                // What waits for no answer need not be late where what does would be.
                _ if stream || (answered && f.sustained != Some(true)) => {}
                Some((share, at)) => text.push_str(&are_late(share, many, &stands_in(at, size))),
                None => {
                    text.push_str("; how many are late is unknown: single iterations were not timed near that size")
                }
            }
            yes(p, text + &kept.words, f.most_frames, "1/s", f.rests_on)
        }
    }
}

/// Whether the messages of a group's rounds, so many in each, are delivered at a rate.
fn in_rounds(p: &Asked<'_>, rate: f64, size: u64, in_round: f64) -> Answered {
    let t = match of(p, size) {
        Ok(t) => t,
        Err(why) => return no(p, &why, &[size]),
    };
    let (each, kept) = (times(t.seconds, 1.0 / in_round), kept::at(p, size).words);
    let most = inverse(each, 1.0);
    let text = format!(
        "{}: {in_round} messages of {} take {} ({}); the most is {}, delivered at each member{}{}{kept}",
        super::reply::verdict(each, 1.0 / rate),
        size_words(size),
        figure(t.seconds, Kind::Seconds),
        p.time,
        figure(most, Kind::PerSecond),
        t.how,
        achieved(p, size)
    );
    yes(p, text, most, "1/s", t.rests_on)
}

/// So many a second, as a figure.
fn a_second(rate: f64) -> String {
    units::format::significant(rate, Kind::PerSecond)
}

/// How large messages may be at the rate that is asked about, which is not the most that was named before; `end` where that is the largest measured.
fn largest_at(rate: f64, (size, end): (u64, bool), many: &str) -> String {
    let (rate, size) = (a_second(rate), Bytes(size));
    if end { format!(", and at {rate} {size} or larger") } else { format!(", and at {rate} {many} of up to {size}") }
}

/// What is said of a round trip as the time of a message.
const ANSWERED: &str = ", its answer included";

/// Whether each message was answered before the next one went: either side then sent one in a round trip, and no more is known to go.
pub fn each_answered(p: &Asked<'_>, what: Unit) -> bool {
    p.kind == Some(TimeKind::HalfRoundTrip) && what == Unit::Messages
}

/// A verdict on messages that waited for answers: without waiting more may go, so that "no" is none.
fn at_least(word: &'static str) -> &'static str {
    if word == "no" { "not surely" } else { word }
}

/// How messages follow one another where the most of them is told, and that without waiting for answers more may go where these are not surely
/// enough.
fn in_turn(p: &Asked<'_>, answered: bool, sustained: Option<bool>) -> String {
    match (answered, sustained) {
        (false, _) => " one after another".to_owned(),
        (true, Some(true)) => " each way, each answered before the next (1/RTT)".to_owned(),
        (true, _) => format!(
            " each way, each answered before the next (1/RTT; without waiting for answers more may go: pipegauge run {} --pattern stream)",
            p.typed()
        ),
    }
}

/// How many single messages are late, of those that were timed; begins with a semicolon.
fn are_late(share: f64, many: &str, stands_in: &str) -> String {
    let share = if share > 0.0 { Share(share).to_string() } else { "none".to_owned() };
    format!("; {share} of the single {many} that were timed were late{stands_in}")
}

/// Frames larger than all that was measured, where the path's time beyond that is known.
fn beyond(p: &Asked<'_>, rate: f64, size: u64, one: &str, what: Unit) -> Option<Answered> {
    let t = of(p, size).ok().filter(|_| what != Unit::Requests)?;
    let answered = each_answered(p, what);
    let (t, time) = if answered { (t.times(2.0), "RTT") } else { (t, p.time) };
    let period = 1.0 / rate;
    let most = inverse(t.seconds, 1.0);
    let word = super::reply::verdict(t.seconds, period);
    let text = format!(
        "{}: a {one} of {} takes {} ({time}{}) of the {} it has; the most is {}{}{}{}",
        if answered { at_least(word) } else { word },
        size_words(size),
        figure(t.seconds, Kind::Seconds),
        if answered { ANSWERED } else { "" },
        Seconds(period),
        figure(most, Kind::PerSecond),
        if answered { in_turn(p, true, (word == "yes").then_some(true)) } else { String::new() },
        t.how,
        kept::at(p, size).words
    );
    Some(yes(p, text, most, "1/s", t.rests_on))
}

/// Which share of the most throughput messages of a size move.
pub fn part_of_the_most(p: &Asked<'_>, size: u64) -> Answered {
    let found = p.carried(size).and_then(|()| Ok((answer::throughput(p.curve(), size)?, maximum(p)?)));
    match found {
        Err(why) => no(p, &why, &[size]),
        Ok(((e, mut rests_on), most)) => {
            let share = kept::less(e, most.throughput);
            let text = format!(
                "messages of {} move {}, which is {} of the most, {} at {} ({})",
                size_words(size),
                figure(e, Kind::BitsPerSecond),
                figure(share, Kind::Share),
                figure(most.throughput, Kind::BitsPerSecond),
                Bytes(most.at),
                each(p)
            );
            rests_on.push(most.at);
            rests_on.dedup();
            yes(p, text, share, "1", rests_on)
        }
    }
}

/// Which share of a rate is moved, with messages of a size or of the best one.
pub fn part_of_rate(p: &Asked<'_>, rate: f64, size: Option<u64>) -> Answered {
    let only = match p.curve() {
        [only] => Some(only.size),
        _ => None,
    };
    // What a path that still rises moves is moved, and more may be.
    let best = || match (maximum(p), p.summary()) {
        (Err(Unanswered::Unsaturated(_)), Some(s)) => Ok((s.max_throughput, vec![s.max_size], String::new(), true)),
        (found, _) => found.map(|m| (m.throughput, vec![m.at], String::new(), false)),
    };
    let found = match size.or(only) {
        Some(size) => moved(p, size).map(|(e, rests_on, how)| (e, rests_on, how, false)),
        None => best(),
    };
    match found {
        Err(why) => no(p, &why, size.as_slice()),
        Ok((e, rests_on, how, rising)) => {
            let share = times(e, 1.0 / rate);
            let at = size.unwrap_or(rests_on[0]);
            let (least, more) = match rising {
                true => ("at least ", ": larger messages than were measured may move more"),
                false => ("", ""),
            };
            let text = format!(
                "messages of {} move {least}{}, which is {least}{} of {} ({}){how}{}{more}",
                size_words(at),
                figure(e, Kind::BitsPerSecond),
                figure(share, Kind::Share),
                BitRate(rate),
                each(p),
                p.burst_at(&rests_on)
            );
            yes(p, text, share, "1", rests_on)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_for_answers_is_no_limit_of_what_does_not() {
        assert_eq!(["yes", "no", "not surely"].map(at_least), ["yes", "not surely", "not surely"]);
        let late = |share| are_late(share, "messages", "");
        assert_eq!(late(0.0), "; none of the single messages that were timed were late");
        assert_eq!(late(0.012), "; 1.2% of the single messages that were timed were late");
    }

    #[test]
    fn the_rate_that_was_asked_about_is_named_beside_the_most() {
        assert_eq!(largest_at(20e3, (212_480, false), "messages"), ", and at 20.0 k/s messages of up to 212,480 B");
        assert_eq!(largest_at(60.0, (1 << 20, true), "frames"), ", and at 60.0 /s 1 MiB or larger");
    }

    #[test]
    fn where_a_rate_is_reached_has_both_ends_and_its_gaps() {
        let kept = |from, to, open, but: &[(u64, u64)]| reached(&Kept { from, to, open, but: but.to_vec() });
        assert_eq!(kept(1024, 8192, true, &[]), "reached at the measured sizes from 1 KiB on");
        assert_eq!(kept(1024, 8192, false, &[]), "reached from 1 KiB to 8 KiB");
        assert_eq!(kept(1024, 1024, true, &[]), "reached at 1 KiB");
        let one = Kept { from: 1024, to: 8192, open: true, but: Vec::new() };
        assert_eq!(from_which(1e10, &one, true), "; 10.0 Gbit/s is reached at the measured sizes from 1 KiB on");
        let unsure = "; by the medians 10.0 Gbit/s is reached at the measured sizes from 1 KiB on";
        assert_eq!(from_which(1e10, &one, false), unsure);
        let but = [(2048, 2048), (3072, 4096), (5, 5), (6, 6), (7, 7)];
        let want = "reached at the measured sizes from 1 KiB on, but not at 2 KiB, from 3 KiB to 4 KiB, at 5 B, in 2 more stretches";
        assert_eq!(kept(1024, 8192, true, &but), want);
    }
}
