//! Answers in words.

use model::Estimate;
use model::answer::{self, Frames, Unanswered};
use units::{Bytes, Kind, Seconds, Share};

use super::{Asked, figure};
use crate::document::Answered;

/// The command that would measure these sizes more closely.
fn sharpen(p: &Asked, sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let list = if sizes.is_empty() { String::new() } else { format!(" --sizes {}", sizes.join(",")) };
    let pattern = if p.pattern == "ping-pong" { String::new() } else { format!(" --pattern {}", p.pattern) };
    format!("pipegauge run {}{pattern}{list} --budget 30s", p.transport)
}

pub(super) fn no(p: &Asked, why: &Unanswered, sizes: &[u64]) -> Answered {
    Answered {
        path: p.name.clone(),
        text: format!("{}: no answer: {why}", p.name),
        figure: None,
        unit: None,
        rests_on: Vec::new(),
        sharpen: sharpen(p, sizes),
        answered: false,
    }
}

pub(super) fn yes(p: &Asked, text: String, figure: Estimate, unit: &'static str, rests_on: Vec<u64>) -> Answered {
    let sharpen = sharpen(p, &rests_on);
    Answered { path: p.name.clone(), text, figure: Some(figure), unit: Some(unit), rests_on, sharpen, answered: true }
}

pub fn arrival(p: &Asked, size: u64) -> Answered {
    match answer::arrival(&p.curve, size, p.fits.as_ref()) {
        Err(why) => no(p, &why, &[size]),
        Ok(a) => {
            let far = if a.extrapolated { ", by the fitted line, beyond what was measured" } else { "" };
            let text = format!(
                "{}: {} arrives after {} ({}){far}",
                p.name,
                Bytes(size),
                figure(a.seconds, Kind::Seconds),
                p.time
            );
            let mut found = yes(p, text, a.seconds, "s", a.rests_on);
            found.sharpen = sharpen(p, &[size]);
            found
        }
    }
}

pub fn fastest(paths: &[Asked], size: u64) -> Answered {
    let mut found: Vec<(&Asked, answer::Arrival)> =
        paths.iter().filter_map(|p| Some((p, answer::arrival(&p.curve, size, p.fits.as_ref()).ok()?))).collect();
    found.sort_by(|a, b| a.1.seconds.value.total_cmp(&b.1.seconds.value));
    let Some((best, time)) = found.first() else {
        return paths.first().map_or_else(|| nobody(size), |p| no(p, &Unanswered::Nothing, &[size]));
    };
    let kinds: Vec<&str> = found.iter().map(|(p, _)| p.time).collect();
    let mut text =
        format!("{}: {} takes {} ({})", best.name, Bytes(size), figure(time.seconds, Kind::Seconds), best.time);
    for (p, a) in &found[1..] {
        let sure = if a.seconds.low > time.seconds.high { "" } else { ", which is not surely more" };
        text.push_str(&format!(
            "\n  {}: {:.2} times as long, {}{sure}",
            p.name,
            a.seconds.value / time.seconds.value,
            figure(a.seconds, Kind::Seconds)
        ));
    }
    if kinds.iter().any(|k| *k != kinds[0]) {
        text.push_str("\n  (the paths' times are of different kinds: measure them with one pattern)");
    }
    yes(best, text, time.seconds, "s", time.rests_on.clone())
}

fn nobody(size: u64) -> Answered {
    Answered {
        path: String::new(),
        text: "no answer: the runs hold no path".to_owned(),
        figure: None,
        unit: None,
        rests_on: Vec::new(),
        sharpen: format!("pipegauge run memcpy shm unix tcp --sizes {size}"),
        answered: false,
    }
}

pub fn most(p: &Asked) -> Answered {
    let found = p
        .summary
        .as_ref()
        .ok_or(Unanswered::TooLittle("there are too few points"))
        .and_then(|s| answer::most(&p.curve, s));
    match found {
        Err(why) => no(p, &why, &[]),
        Ok(m) => {
            let rising = if m.rising { "; it still rises: larger blocks may carry more" } else { "" };
            let text = format!(
                "{}: at most {}, seen at {}; 95% of that from {} on{rising}",
                p.name,
                figure(m.throughput, Kind::BitsPerSecond),
                Bytes(m.at),
                Bytes(m.from)
            );
            yes(p, text, m.throughput, "bit/s", vec![m.from, m.at])
        }
    }
}

pub fn size(p: &Asked) -> Answered {
    let Some(summary) = &p.summary else { return no(p, &Unanswered::TooLittle("there are too few points"), &[]) };
    match answer::size_to_use(&p.curve, summary).and_then(|size| Ok((size, answer::arrival(&p.curve, size, None)?))) {
        Err(why) => no(p, &why, &[]),
        Ok((size, a)) => {
            let share =
                p.curve.iter().find(|c| c.size == size).map_or(0.0, |c| c.throughput / summary.max_throughput.value);
            // The most is held out of the blocks that found it, so a lucky size lies above it.
            let moved =
                if share < 1.0 { format!("{} of the most there is", Share(share)) } else { "the most there is".into() };
            let text = format!(
                "{}: blocks of {}: they move {moved} and take {} ({}); larger ones wait longer for little",
                p.name,
                Bytes(size),
                figure(a.seconds, Kind::Seconds),
                p.time
            );
            yes(p, text, a.seconds, "s", vec![size])
        }
    }
}

pub fn control(paths: &[Asked]) -> Answered {
    let mut found: Vec<_> = paths.iter().filter_map(|p| Some((p, answer::control(&p.curve).ok()?))).collect();
    found.sort_by(|a, b| a.1.1.seconds.value.total_cmp(&b.1.1.seconds.value));
    let Some((best, (least, greatest))) = found.first() else {
        let why = Unanswered::TooLittle("no size below 1 KiB was measured");
        return paths.first().map_or_else(|| nobody(64), |p| no(p, &why, &[1, 64, 1000]));
    };
    let range = |least: &answer::Arrival, greatest: &answer::Arrival| {
        format!(
            "{} ({}) to {} ({})",
            figure(least.seconds, Kind::Seconds),
            Bytes(least.size),
            figure(greatest.seconds, Kind::Seconds),
            Bytes(greatest.size)
        )
    };
    let mut text =
        format!("{}: messages below 1 KiB arrive after {}, {}", best.name, range(least, greatest), best.time);
    for (p, (a, b)) in &found[1..] {
        text.push_str(&format!("\n  {}: {}", p.name, range(a, b)));
    }
    yes(best, text, greatest.seconds, "s", vec![least.size, greatest.size])
}

pub fn frames(p: &Asked, rate: f64, size: u64) -> Answered {
    match Frames::of(&p.curve, size, rate) {
        Err(why) => no(p, &why, &[size]),
        Ok(f) => {
            let word = match f.sustained {
                Some(true) => "yes",
                Some(false) => "no",
                None => "not surely",
            };
            let mut text = format!(
                "{}: {word}: a frame of {} takes {} ({}) of the {} it has; the most is {}",
                p.name,
                Bytes(size),
                figure(f.seconds, Kind::Seconds),
                p.time,
                Seconds(f.period),
                figure(f.most_frames, Kind::PerSecond),
            );
            match (f.largest, f.largest_is_end) {
                (Some(s), true) => text.push_str(&format!(", and at that rate {} or larger", Bytes(s))),
                (Some(s), false) => text.push_str(&format!(", and at that rate frames of up to {}", Bytes(s))),
                (None, _) => text.push_str(", and no size is fast enough for that rate"),
            }
            match late(p, size, f.period) {
                Some((share, at)) => {
                    text.push_str(&format!("; {} of single frames of {} are late", Share(share), Bytes(at)))
                }
                None => {
                    text.push_str("; how many are late is unknown: single iterations were not timed near that size")
                }
            }
            yes(p, text, f.most_frames, "1/s", f.rests_on)
        }
    }
}

/// Share of single iterations that took longer than `period`, at the nearest size up that was timed one by one.
fn late(p: &Asked, size: u64, period: f64) -> Option<(f64, u64)> {
    let (at, pairs) =
        p.singles.iter().filter(|(s, _)| *s >= size && *s <= size.saturating_mul(2)).min_by_key(|(s, _)| *s)?;
    let all: u64 = pairs.iter().map(|(_, n)| n).sum();
    let late: u64 = pairs.iter().filter(|(t, _)| *t > period).map(|(_, n)| n).sum();
    (all > 0).then(|| (late as f64 / all as f64, *at))
}

pub fn cost(paths: &[Asked], x: &str, y: &str) -> Answered {
    let find = |name: &str| paths.iter().find(|p| p.transport == name || p.name == name);
    let (Some(a), Some(b)) = (find(x), find(y)) else {
        let names: Vec<&str> = paths.iter().map(|p| p.name.as_str()).collect();
        return Answered {
            path: format!("{x}, {y}"),
            text: format!("no answer: the runs have no paths '{x}' and '{y}'; they have: {}", names.join(", ")),
            figure: None,
            unit: None,
            rests_on: Vec::new(),
            sharpen: format!("pipegauge run {x} {y}"),
            answered: false,
        };
    };
    let sizes: Vec<u64> = a.curve.iter().map(|p| p.size).filter(|s| b.curve.iter().any(|p| p.size == *s)).collect();
    let chosen: Vec<u64> =
        [0, sizes.len() / 2, sizes.len().saturating_sub(1)].iter().filter_map(|i| sizes.get(*i).copied()).collect();
    let time = |p: &Asked, s: u64| answer::arrival(&p.curve, s, None).map(|t| t.seconds);
    let mut parts = Vec::new();
    let mut first = None;
    for size in &chosen {
        let (Ok(over), Ok(under)) = (time(a, *size), time(b, *size)) else { continue };
        let extra =
            Estimate { value: over.value - under.value, low: over.low - under.high, high: over.high - under.low };
        first = first.or(Some(extra));
        parts.push(format!(
            "{} more at {} ({:+.0}%)",
            figure(extra, Kind::Seconds),
            Bytes(*size),
            (over.value / under.value - 1.0) * 100.0
        ));
    }
    match first {
        None => no(a, &Unanswered::TooLittle("the two paths have no size in common"), &[]),
        Some(extra) => {
            let text = format!("{} costs over {}: {} ({})", a.name, b.name, parts.join(", "), a.time);
            let mut found = yes(a, text, extra, "s", chosen);
            found.path = format!("{}, {}", a.name, b.name);
            found.sharpen = format!("pipegauge run {} {} --budget 30s", a.transport, b.transport);
            found
        }
    }
}
