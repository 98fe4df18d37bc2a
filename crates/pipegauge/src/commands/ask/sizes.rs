//! Answers that are sizes.

use model::answer::{self, Reached, RoundRange, Unanswered, largest_within, longer_below};
use model::{CurvePoint, Estimate};
use units::{BitRate, Bytes, Kind, Seconds, Share};

use super::asked::{Asked, figure, from, inverse, times};
use super::below;
use super::kept::{self, LASTS};
use super::rates::{doubled, each, each_answered};
use super::reply::{cannot, no, yes};
use super::surest::{self, Surest, known};
use super::times::{no_journey, of};
use super::wanted;
use crate::config::question::{InUnit, Unit};
use crate::document::Answered;

/// The sizes that can't be told from the best, in words.
fn best(r: &Reached) -> String {
    if !r.size.high.is_finite() {
        return "which sizes are as good as the best can't be told from so few rounds".to_owned();
    }
    match r.best {
        (low, high) if low == high => format!("{} moves the most", Bytes(low)),
        (low, high) => {
            let open = if r.open { " and perhaps beyond" } else { "" };
            format!("the best can't be told apart from {} to {}{open}", Bytes(low), Bytes(high))
        }
    }
}

pub fn to_use(p: &Asked<'_>) -> Answered {
    match p.reached().and_then(|()| answer::size_to_use(p.lasting(), p.seed)) {
        Err(why) => no(p, &why, &[]),
        Ok(r) => {
            // The time of one of so many sizes says nothing of the others.
            let takes = takes(p, &r).filter(|_| surest::resolved(r.size)).map_or(String::new(), |t| {
                let bits = t.value * r.moves.value;
                // As where one message of that size is asked for, the error of the size's own time counts.
                let t = of(p, r.size.value as u64).map_or(t, |own| Estimate {
                    value: t.value,
                    low: t.low.min(own.seconds.low),
                    high: t.high.max(own.seconds.high),
                });
                format!(
                    ", {}, and take {} ({}), by the line through neighbouring sizes",
                    figure(inverse(t, bits), Kind::BitsPerSecond),
                    figure(t, Kind::Seconds),
                    p.time
                )
            });
            let text = format!(
                "messages of {}: they move {} of the most{takes}; larger ones wait longer for little; {}",
                figure(r.size, Kind::Bytes),
                Share(r.share),
                best(&r)
            );
            yes(p, text, r.size, "B", r.rests_on(p.lasting()))
        }
    }
}

/// What a message of the size takes that moves a share of the most, seconds: of the same curve as its size, and so no row's own time.
fn takes(p: &Asked<'_>, r: &Reached) -> Option<Estimate> {
    let near = p.curve().iter().filter(|c| c.size > 0).min_by(|a, b| {
        let off = |c: &CurvePoint| (c.size as f64 / r.size.value).ln().abs();
        off(a).total_cmp(&off(b))
    })?;
    // Both directions may carry data.
    let bits = r.size.value * near.throughput * near.seconds / near.size as f64;
    (bits > 0.0 && r.moves.value > 0.0).then(|| inverse(r.moves, bits))
}

pub fn saturation(p: &Asked<'_>) -> Answered {
    let most = p
        .summary()
        .ok_or(Unanswered::Nothing)
        .and_then(|s| p.reached().map(|()| s))
        .and_then(|s| answer::most(p.lasting(), s, p.seed));
    let most = match most {
        Ok(most) => most,
        Err(why) => return no(p, &why, &[]),
    };
    let full = format!(
        "95% of the most ({}) {}; {}",
        figure(most.throughput, Kind::BitsPerSecond),
        from(most.from.size),
        best(&most.from)
    );
    match p.fits().and_then(|f| f.saturation.as_ref()) {
        Some(s) => {
            let text = format!(
                "saturated {}, where bytes begin to cost more than the start (saturation point); {full}",
                from(s.point)
            );
            yes(p, text, s.point, "B", vec![most.at])
        }
        None => {
            yes(p, format!("no saturation point is seen ({}); {full}", no_knee(p)), most.from.size, "B", vec![most.at])
        }
    }
}

/// Why the curve has no saturation point, as its fit says.
fn no_knee<'a>(p: &'a Asked<'_>) -> &'a str {
    let warnings = p.fits().into_iter().flat_map(|f| &f.warnings);
    warnings
        .into_iter()
        .find(|w| w.contains("saturat"))
        .map_or("the curve has no knee between its sizes", |w| w.as_str())
}

pub fn share(p: &Asked<'_>, share: f64) -> Answered {
    match (p.summary(), p.reached().and_then(|()| Reached::of(p.lasting(), share, p.seed))) {
        (Some(summary), Ok(r)) => {
            let text = format!(
                "{} of the most ({}) {}; {}",
                Share(share),
                figure(summary.max_throughput, Kind::BitsPerSecond),
                from(r.size),
                best(&r)
            );
            yes(p, text, r.size, "B", r.rests_on(p.lasting()))
        }
        (None, _) => no(p, &Unanswered::Nothing, &[]),
        (_, Err(why)) => no(p, &why, &[]),
    }
}

pub fn half_power(p: &Asked<'_>) -> Answered {
    let Some(summary) = p.summary() else { return no(p, &Unanswered::Nothing, &[]) };
    if let Err(why) = p.reached() {
        return no(p, &why, &[]);
    }
    match summary.half_power {
        None => cannot(
            p,
            "even the smallest size reaches half of the most: the half-power point lies below it".to_owned(),
            &[],
        ),
        Some(e) => {
            let fitted = p.fits().and_then(|f| f.bandwidth.as_ref()).filter(|b| !b.misfit.systematic);
            let fitted = fitted
                .map_or(String::new(), |b| format!("; n1/2 of the fitted curve is {}", figure(b.n_half, Kind::Bytes)));
            let text = format!(
                "half of the most ({}) is reached at {} (half-power point){fitted}",
                figure(summary.max_throughput, Kind::BitsPerSecond),
                figure(e, Kind::Bytes)
            );
            yes(p, text, e, "B", vec![summary.max_size])
        }
    }
}

/// The times of messages, there and back where that is asked, and which they are.
fn timed(p: &Asked<'_>, round_trip: bool) -> Result<(Vec<CurvePoint>, &'static str), Unanswered> {
    match round_trip {
        true => doubled(p).map(|(curve, label, _)| (curve, label)).map_err(Unanswered::NoSum),
        false => Ok((p.curve().to_vec(), p.time)),
    }
}

/// The largest message whose time stays within one, by the medians and by the ends of their intervals; and whether that is all sizes, by both.
fn fits(curve: &[CurvePoint], seconds: f64) -> Option<(Estimate, u64, [bool; 2])> {
    let (value, end) = largest_within(curve, seconds, |e| e.value);
    let value = value?;
    // A longer time than measured leaves room for fewer bytes: the ends change sides.
    let (low, all_surely) = largest_within(curve, seconds, |e| e.high);
    let (high, open) = largest_within(curve, seconds, |e| e.low);
    let high = if open { f64::INFINITY } else { high.unwrap_or(value) as f64 };
    Some((Estimate { value: value as f64, low: low.unwrap_or(0) as f64, high }, value, [end, all_surely]))
}

/// The largest message of which so many a second can be sustained: as large as leaves each the time that it has, in its answer's time, too, where
/// one was awaited, and in what long trials take where these differ.
pub fn largest_at(p: &Asked<'_>, rate: f64, what: Unit) -> Answered {
    if p.in_round().is_some() {
        let why =
            "members of a group cast in rounds; ask whether one size goes: 'can it do 1000 messages of 1 KB a second?'";
        return cannot(p, why.to_owned(), &[]);
    }
    let answered = each_answered(p, what);
    let (curve, label) = match timed(p, answered || what == Unit::Requests) {
        Err(why) => return no(p, &why, &[]),
        Ok(found) => found,
    };
    let kept = |c: &CurvePoint| kept::of_many(p, c.size).factor.map_or_else(|| c.clone(), |f| c.times(f.value));
    let lasting: Vec<CurvePoint> = curve.iter().map(kept).collect();
    let long = if lasting == curve { "" } else { "; where long trials take another time than short ones, that counts" };
    let (seconds, many) = (1.0 / rate, what.to_string());
    let waits = match answered {
        true => {
            format!("; without waiting for answers larger ones may go: pipegauge run {} --pattern stream", p.typed())
        }
        false => String::new(),
    };
    let each =
        format!("each has {} ({label}{})", Seconds(seconds), if answered { ", its answer included" } else { "" });
    let Some((e, value, [end, surely])) = fits(&lasting, seconds) else {
        let Some(smallest) = curve.iter().map(|c| c.size).min() else { return no(p, &Unanswered::Nothing, &[]) };
        let text = format!("not even {many} of {} go at such a rate: {each}{long}{waits}", Bytes(smallest));
        return cannot(p, text, &[smallest]);
    };
    let text = match end {
        true => {
            let surely = if surely { String::new() } else { by_medians(e.low as u64) };
            format!(
                "{many} of {} or larger, the largest measured, go at such a rate{surely}: {each}{long}",
                Bytes(value)
            )
        }
        false => {
            let size = figure(e, Kind::Bytes);
            let up_to = if size.starts_with("between") { "up to a size" } else { "up to" };
            format!("{many} of {up_to} {size} go at such a rate: {each}{long}{waits}")
        }
    };
    yes(p, text, e, "B", vec![value])
}

/// The largest message that arrives within a time.
pub fn largest(p: &Asked<'_>, seconds: f64, round_trip: bool, wanted: Option<&InUnit>) -> Answered {
    if let Some(answer) = no_journey(p, &[]) {
        return answer;
    }
    let (curve, label) = match timed(p, round_trip) {
        Err(why) => return no(p, &why, &[]),
        Ok(found) => found,
    };
    let Some((e, value, [end, all_surely])) = fits(&curve, seconds) else {
        let smallest = curve.iter().map(|c| c.size).min();
        return match smallest {
            None => no(p, &Unanswered::Nothing, &[]),
            Some(s) => too_short(p, (&curve, label), s, seconds),
        };
    };
    let low = e.low as u64;
    let mut but = except(&longer_below(&curve, seconds, value));
    let slow = curve.iter().filter(|c| c.size <= value && c.seconds > seconds).count();
    if but.is_empty() && slow > 0 {
        let all = curve.iter().filter(|c| c.size <= value).count();
        but = format!(", though the medians of {slow} of {all} sizes up to there are longer, none surely");
    }
    let text = if end {
        let whole = p.summary().filter(|_| p.unsaturated().is_none() && !round_trip).map(|s| {
            let (moves, at, _) = known(p, s.max_throughput, s.max_size);
            // In so long a time only what is kept up counts.
            let kept = kept::at(p, at);
            let (moves, words) = match seconds > LASTS {
                true => (kept.factor.map_or(moves, |factor| kept::less(moves, factor)), kept.words),
                false => (moves, String::new()),
            };
            let all = times(moves, seconds / 8.0);
            let bytes = figure(all, Kind::Bytes);
            let wanted = wanted.map_or(String::new(), |unit| wanted::of_size(all, unit));
            format!("; in messages of {} one after another {bytes}{wanted}{words}", Bytes(at))
        });
        let all =
            if p.most_message() == Some(value) { ", the most that the path carries in one," } else { " or larger" };
        format!(
            "{}{all} arrives within {}{}, the largest measured{but}{}",
            Bytes(value),
            Seconds(seconds),
            if all_surely { String::new() } else { by_medians(low) },
            whole.unwrap_or_default()
        )
    } else {
        format!("up to {} arrives within {} ({label}){but}", figure(e, Kind::Bytes), Seconds(seconds))
    };
    yes(p, text, e, "B", vec![value])
}

/// The smallest message that takes longer than a time: the one behind the largest that does not.
pub fn longer(p: &Asked<'_>, seconds: f64, round_trip: bool) -> Answered {
    if let Some(answer) = no_journey(p, &[]) {
        return answer;
    }
    let (curve, label) = match timed(p, round_trip) {
        Err(why) => return no(p, &why, &[]),
        Ok(found) => found,
    };
    let sizes = || curve.iter().map(|c| c.size);
    let Some((smallest, largest)) = sizes().min().zip(sizes().max()) else { return no(p, &Unanswered::Nothing, &[]) };
    let (value, end) = largest_within(&curve, seconds, |e| e.value);
    let Some(value) = value else {
        let mut answer = too_short(p, (&curve, label), smallest, seconds);
        // A verdict answers whether it is there in time, and is none here.
        answer.text = answer.text.replacen(": no: even", ": even", 1).replacen(": not surely: even", ": even", 1);
        return answer;
    };
    if end {
        let why = format!(
            "none of the sizes measured, up to {}, takes longer than {}: larger ones were not measured",
            Bytes(largest),
            Seconds(seconds)
        );
        let mut answer = cannot(p, why, &[largest]);
        if let Ok(t) = answer::arrival(&curve, largest, None) {
            answer.text.push_str(&format!("; {} takes {} ({label})", Bytes(largest), figure(t.seconds, Kind::Seconds)));
        }
        return answer;
    }
    let low = largest_within(&curve, seconds, |e| e.high).0.map_or(smallest, |low| low + 1);
    let (high, open) = largest_within(&curve, seconds, |e| e.low);
    let high = if open { f64::INFINITY } else { high.unwrap_or(value) as f64 + 1.0 };
    let e = Estimate { value: value as f64 + 1.0, low: low as f64, high };
    let slow: Vec<String> = longer_below(&curve, seconds, value).iter().take(NAMED).map(place).collect();
    let slow = match &slow[..] {
        [] => String::new(),
        some => format!("; smaller ones do so {}", some.join(", ")),
    };
    let text = format!("messages take longer than {} {} ({label}){slow}", Seconds(seconds), from(e));
    yes(p, text, e, "B", vec![value])
}

/// The size from which on so many bits a second are moved.
pub fn reaches(p: &Asked<'_>, rate: f64) -> Answered {
    let Some(summary) = p.summary() else { return no(p, &Unanswered::Nothing, &[]) };
    let most = summary.max_throughput;
    let told = format!("the most is {} at {}", figure(most, Kind::BitsPerSecond), Bytes(summary.max_size));
    // What one size surely moves is reached there, though the most may be too noisy to tell.
    let surely = Surest::smallest(p.lasting(), rate).filter(|_| most.low < rate);
    match (answer::reaching(p.lasting(), rate, p.seed), surely) {
        (Err(why), _) => no(p, &why, &[]),
        (Ok(found), Some(at)) => {
            let text = format!("{} {} ({}); {told}", BitRate(rate), surely_from(found, &at), each(p));
            let value = found.map_or(at.size as f64, |e| e.value.min(at.size as f64));
            let low = found.map_or(0.0, |e| e.low.min(value));
            yes(p, text, Estimate { value, low, high: at.size as f64 }, "B", vec![at.size])
        }
        (Ok(None), None) if most.high < rate => {
            let text = format!("no size measured reaches {}: {told} ({})", BitRate(rate), each(p));
            yes(p, text, most, "bit/s", vec![summary.max_size])
        }
        (Ok(None), None) => cannot(p, format!("no size surely reaches {}: {told} ({})", BitRate(rate), each(p)), &[]),
        (Ok(Some(size)), None) => {
            let smallest = p.curve().iter().map(|c| c.size).min().unwrap_or(0);
            let place = match size.value <= smallest as f64 {
                true => format!("by {} already, the smallest measured", Bytes(smallest)),
                false => from(size),
            };
            // Where the most may be less, no upper end is one.
            let (size, place) = match most.low < rate {
                true => (Estimate { high: f64::INFINITY, ..size }, unsure(size, smallest)),
                false => (size, format!("is reached {place}")),
            };
            let text = format!("{} {place} ({}); {told}", BitRate(rate), each(p));
            yes(p, text, size, "B", vec![summary.max_size])
        }
    }
}

/// That the largest message measured arrives in time by the medians alone, and up to which size messages surely do.
fn by_medians(surely: u64) -> String {
    match surely {
        0 => " by the medians (no size surely)".to_owned(),
        size => format!(" by the medians (surely up to {})", Bytes(size)),
    }
}

/// That a rate is surely reached at a size, and from which on by the medians where that is smaller.
fn surely_from(found: Option<Estimate>, at: &Surest) -> String {
    let surely = format!("at {}, which moves {}", Bytes(at.size), figure(at.moves, Kind::BitsPerSecond));
    match found.map(|e| e.value.round().max(1.0) as u64).filter(|from| *from < at.size) {
        Some(from) => format!("is reached by the medians from {} on, and surely {surely}", Bytes(from)),
        None => format!("is surely reached {surely}"),
    }
}

/// That a rate may be reached, and not before a size; or, where no interval tells the size, from which on medians are as high.
fn unsure(size: Estimate, smallest: u64) -> String {
    let at = |size: f64| Bytes(size.round().max(1.0) as u64);
    match size.low > smallest as f64 {
        true => format!("is reached from {} on at the earliest, if at all: no size surely moves so much", at(size.low)),
        false => {
            format!("is reached by the medians from {} on (no interval): no size surely moves so much", at(size.value))
        }
    }
}

/// That even the smallest message takes longer than a time.
fn too_short(p: &Asked<'_>, (curve, label): (&[CurvePoint], &str), smallest: u64, seconds: f64) -> Answered {
    let why = format!("even {}, the smallest measured, takes longer than {}", Bytes(smallest), Seconds(seconds));
    match answer::arrival(curve, smallest, None) {
        Err(_) => cannot(p, why, &[]),
        Ok(found) => {
            let time = figure(found.seconds, Kind::Seconds);
            let seen = RoundRange::times(curve, &[smallest]);
            let (word, seen) = below::below(found.seconds, seconds, seen, false, Kind::Seconds);
            yes(p, format!("{word}: {why}, {time} ({label}){seen}"), found.seconds, "s", vec![smallest])
        }
    }
}

/// Stretches of sizes that are no part of what is told, of which so many are named.
const NAMED: usize = 3;

/// A stretch of sizes, in words.
fn place((from, to): &(u64, u64)) -> String {
    match from == to {
        true => format!("at {}", Bytes(*from)),
        false => format!("from {} to {}", Bytes(*from), Bytes(*to)),
    }
}

/// That stretches of sizes take longer, in words; begins with a comma.
fn except(stretches: &[(u64, u64)]) -> String {
    match stretches {
        [] => String::new(),
        some => {
            let named: Vec<String> = some.iter().take(NAMED).map(place).collect();
            let more = some.len() - named.len();
            let more = if more == 0 { String::new() } else { format!(" and in {more} more stretches") };
            format!(", but for sizes {}{more}, which take longer", named.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_by_the_medians_alone_is_not_said_flatly() {
        assert_eq!(by_medians(1 << 20), " by the medians (surely up to 1 MiB)");
        assert_eq!(by_medians(0), " by the medians (no size surely)");
    }

    #[test]
    fn a_rate_is_reached_where_one_size_surely_moves_it() {
        let e = |value, low, high| Estimate { value, low, high };
        let at = Surest { size: 65_536, moves: e(17.1e9, 15.2e9, 19e9), least: 15.1e9 };
        let from = "is reached by the medians from 48 KiB on, and surely at 64 KiB, which moves 17.1 Gbit/s [15, 19]";
        assert_eq!(surely_from(Some(e(49_152.0, 30_000.0, f64::INFINITY)), &at), from);
        let only = "is surely reached at 64 KiB, which moves 17.1 Gbit/s [15, 19]";
        assert_eq!([surely_from(None, &at), surely_from(Some(e(1e6, 1.0, 1e9)), &at)], [only, only]);
    }
}
