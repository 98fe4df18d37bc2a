//! How many messages are lost, and up to which rate none is.

use measure::figures::Lost;
use model::Estimate;
use record::rates::{AtRate, OverRates};
use units::{BitRate, Bytes, Kind, Share, thousands};

use super::asked::{Asked, figure};
use super::offering::{command, range, typed};
use super::over_rates::{self, unrated};
use super::paths::unknown;
use super::reply::{alone, cannot, no, yes};
use crate::config::question::size_words;
use crate::document::Answered;

/// How far an offered rate may lie from the one that is asked about.
const NEAR: f64 = 0.05;

/// Rates that a command is offered for.
const OFFERED: &str = "10Mbit/s..1Gbit/s";

/// How many messages are lost: at an offered rate, where one is named, else in all that was measured.
pub fn lost(paths: &[&Asked<'_>], rate: Option<f64>, size: Option<u64>) -> Vec<Answered> {
    let Some(rate) = rate else {
        let one = |p: &&Asked<'_>| over_rates::losses(p, paths, size).unwrap_or_else(|| vec![in_all(p, size)]);
        return paths.iter().flat_map(one).collect();
    };
    let mut found = Vec::new();
    for (at, p) in paths.iter().enumerate() {
        // Paths that differ in the rate are one that is asked about.
        let same = |q: &&Asked<'_>| q.transport == p.transport && q.file == p.file && q.rate().is_some();
        if p.rate().is_some() && paths[..at].iter().any(&same) {
            continue;
        }
        let rated: Vec<&&Asked<'_>> = paths.iter().filter(|q| same(q)).collect();
        match p.rate() {
            Some(_) => found.push(at_rate(&rated, rate, size)),
            None if p.reliable() => found.push(delivers(p, Some(rate))),
            None => found.push(unoffered(p, rate, size)),
        }
    }
    found
}

/// The highest rate without loss, of each path with several rates; of others how to measure it.
pub fn lossless(paths: &[&Asked<'_>], size: Option<u64>) -> Vec<Answered> {
    let mut found = Vec::new();
    for p in paths {
        let groups = p.over_rates();
        let of_size = |group: &&OverRates| size.is_none_or(|size| size == group.size);
        let own: Vec<&OverRates> = groups.iter().filter(|group| p.leads(group)).filter(of_size).collect();
        match () {
            // Paths that differ in the rate alone are one.
            () if p.reliable() && own.is_empty() && groups.iter().any(|group| p.among(group)) => {}
            () if p.reliable() && own.is_empty() => found.push(delivers(p, None)),
            () if !own.is_empty() => found.extend(own.into_iter().map(|group| highest(p, group))),
            // A higher rate of a path that is told of.
            () if groups.iter().any(|group| p.among(group))
                && size.is_none_or(|s| groups.iter().any(|g| g.size == s)) => {}
            () => {
                let why = match size.filter(|_| !groups.is_empty()) {
                    Some(size) => format!("{} was not sent at several rates", size_words(size)),
                    None => {
                        "only messages that are sent at several rates tell which is the highest without loss".to_owned()
                    }
                };
                let all = in_all(p, size);
                let here = all.text.split_once(": ").filter(|_| all.answered).map_or("", |(_, told)| told);
                let here = if here.is_empty() { String::new() } else { format!("; here {here}") };
                found.push(Answered { sharpen: command(p, OFFERED, size), ..cannot(p, why + &here, &[]) });
            }
        }
    }
    found
}

/// What of all that was sent over a path was lost, by size where one is asked for: none where it delivers each, or the connection ends.
fn share(p: &Asked<'_>, size: Option<u64>) -> Option<Estimate> {
    const NONE: Estimate = Estimate { value: 0.0, low: 0.0, high: 0.0 };
    if p.reliable() {
        return Some(NONE);
    }
    let all: Vec<(u64, Lost, f64)> = p.losses().into_iter().filter(|(of, ..)| size.is_none_or(|s| s == *of)).collect();
    let (lost, sent) = all.iter().fold((0, 0), |(lost, sent), (_, of, _)| (lost + of.lost, sent + of.sent));
    match &all[..] {
        [] => None,
        // Of answers that are awaited only the missing ones are known.
        _ if p.answered() => {
            let share = all.iter().map(|(.., share)| share).sum::<f64>() / all.len() as f64;
            Some(alone(share))
        }
        [(_, Lost { share: Some(i), .. }, _)] => {
            Some(Estimate { value: lost as f64 / sent.max(1) as f64, low: i.low, high: i.high })
        }
        // None of n: less than 3/n with 95%, where losses are independent (Hanley and Lippman-Hand 1983, If nothing goes wrong, is everything
        // all right?, JAMA 249:1743-1745).
        _ if lost == 0 => Some(Estimate { high: 3.0 / sent.max(3) as f64, ..NONE }),
        _ => Some(alone(lost as f64 / sent.max(1) as f64)),
    }
}

/// The path that loses least, and the others.
pub fn safest(paths: &[&Asked<'_>], size: Option<u64>) -> Answered {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for p in paths {
        match share(p, size) {
            Some(e) => found.push((*p, e)),
            None => others.push((
                p.name.clone(),
                size.map_or("nothing was measured".into(), |s| format!("{} was not measured", size_words(s))),
            )),
        }
    }
    found.sort_by(|a, b| {
        (a.1.value, !a.0.reliable()).partial_cmp(&(b.1.value, !b.0.reliable())).unwrap_or(std::cmp::Ordering::Equal)
    });
    let Some((best, least)) = found.first() else {
        return match paths.first() {
            Some(p) => cannot(p, "nothing tells what was lost".to_owned() + &unknown(&others), size.as_slice()),
            None => super::reply::nobody(
                "the runs hold no path".into(),
                "pipegauge run udp unix tcp --pattern stream".into(),
            ),
        };
    };
    let told = |p: &Asked<'_>| in_all(p, size).text.split_once(": ").map_or(String::new(), |(_, told)| told.to_owned());
    let mut text = told(best);
    for (p, e) in &found[1..] {
        // What one path lost and another did not may be chance, too: only intervals tell.
        let sure = e.value == least.value || e.low > least.high || (best.reliable() && e.value > 0.0);
        let note = if sure { "" } else { ", which is not surely more" };
        text.push_str(&format!("\n  {}: {}{note}", p.name, told(p)));
    }
    let rates = |p: &Asked<'_>| p.rate().map(f64::to_bits);
    if found.iter().any(|(p, _)| !p.reliable() && found.iter().any(|(q, _)| !q.reliable() && rates(p) != rates(q))) {
        text.push_str("\n  (not all were sent at one rate, and more is lost where more is sent)");
    }
    text.push_str(&unknown(&others));
    yes(best, text, *least, "1", size.into_iter().collect())
}

fn highest(p: &Asked<'_>, group: &OverRates) -> Answered {
    let rate = |at: usize| group.rows.get(at).map(|row: &AtRate| row.offered);
    let known = group.lossless.and_then(rate);
    let next = rate(group.lossless.map_or(0, |at| at + 1));
    let text = format!("of messages of {}: {}", Bytes(group.size), report::table::highest(group));
    match known {
        Some(value) => {
            let e = Estimate { value, low: value, high: next.unwrap_or(f64::INFINITY) };
            let answer = unrated(p, yes(p, text, e, "bit/s", vec![group.size]));
            Answered { sharpen: command(p, &range(value, next.unwrap_or(value * 10.0)), Some(group.size)), ..answer }
        }
        None => {
            let most = next.unwrap_or(1e7);
            let answer = unrated(p, cannot(p, text, &[]));
            Answered { sharpen: command(p, &range(most / 100.0, most), Some(group.size)), ..answer }
        }
    }
}

/// The nearest of the rates that were offered, where one is near enough.
fn at_rate(rated: &[&&Asked<'_>], rate: f64, size: Option<u64>) -> Answered {
    let apart = |p: &Asked<'_>| p.rate().map_or(f64::INFINITY, |of| (of / rate).ln().abs());
    let nearest = rated.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
    let Some(p) = nearest.copied() else {
        return super::reply::nobody("no path was sent at a rate".into(), String::new());
    };
    if apart(p) <= NEAR {
        let mut answer = in_all(p, size);
        if p.rate().is_some_and(|of| (of / rate - 1.0).abs() > 1e-6) {
            answer.text.push_str(&format!("; {} were offered", BitRate(p.rate().unwrap_or(rate))));
        }
        return answer;
    }
    let offered: Vec<String> = rated.iter().filter_map(|p| Some(BitRate(p.rate()?).to_string())).collect();
    let why = format!("{} were not offered; what was: {}", BitRate(rate), offered.join(", "));
    Answered { sharpen: command(p, &typed(rate), size), ..cannot(p, why, &[]) }
}

/// No answer of a path whose messages were not sent at a rate.
fn unoffered(p: &Asked<'_>, rate: f64, size: Option<u64>) -> Answered {
    let why = format!(
        "messages were sent as the pattern ({}) has them, and not at a rate: how many are lost at {} does not follow from that",
        p.pattern,
        BitRate(rate)
    );
    Answered { sharpen: command(p, &typed(rate), size), ..cannot(p, why, &[]) }
}

fn delivers(p: &Asked<'_>, rate: Option<f64>) -> Answered {
    let goes =
        rate.map_or(String::new(), |rate| format!("; whether it goes tells 'can {} do {}?'", p.label, BitRate(rate)));
    let text = format!(
        "no message is lost: the path delivers each, or the connection ends; what a network below it loses costs time{goes}"
    );
    let answer = yes(p, text, Estimate { value: 0.0, low: 0.0, high: 0.0 }, "1", Vec::new());
    Answered { rests_on: Vec::new(), ..answer }
}

/// What was lost of a path's messages, of one size or of all.
fn in_all(p: &Asked<'_>, size: Option<u64>) -> Answered {
    if p.reliable() {
        return delivers(p, None);
    }
    let all: Vec<(u64, Lost, f64)> = p.losses().into_iter().filter(|(of, ..)| size.is_none_or(|s| s == *of)).collect();
    if all.is_empty() {
        return match size {
            Some(s) => cannot(p, format!("{} was not measured", size_words(s)), &[s]),
            None => no(p, &model::answer::Unanswered::Nothing, &[]),
        };
    }
    let worst = all.iter().filter(|(.., share)| *share > 0.0).max_by(|a, b| a.2.total_cmp(&b.2));
    let sizes = |n: usize| units::counted(n as u64, "size");
    let at = match (worst, &all[..]) {
        (Some((size, _, share)), [_, _, ..]) => format!(", most at {}: {}", Bytes(*size), Share(*share)),
        (_, [(size, ..)]) => format!(" of {}", Bytes(*size)),
        _ => String::new(),
    };
    let rests_on = worst.map_or(vec![all[0].0], |(size, ..)| vec![*size]);
    let text = match (p.answered(), worst) {
        (true, None) => format!(
            "no message was lost: each got its answer{at} ({} measured, one message at a time)",
            sizes(all.len())
        ),
        (true, Some(_)) => {
            let some = all.iter().filter(|(.., share)| *share > 0.0).count();
            format!("answers were missing at {some} of {}{at} (one message at a time)", sizes(all.len()))
        }
        (false, _) => {
            let lost: u64 = all.iter().map(|(_, of, _)| of.lost).sum();
            let sent: u64 = all.iter().map(|(_, of, _)| of.sent).sum();
            let share = lost as f64 / sent.max(1) as f64;
            let interval = match &all[..] {
                [(_, Lost { share: Some(i), .. }, _)] => {
                    figure(Estimate { value: share, low: i.low, high: i.high }, Kind::Share)
                }
                _ => Share(share).to_string(),
            };
            let how = p.rate().map_or("sent as fast as they go".to_owned(), |rate| {
                format!("{} offered{}", BitRate(rate), over_rates::fell_short(p, size))
            });
            match lost {
                0 => format!("none of {} messages{at} was lost ({how})", thousands(sent)),
                _ => format!("{} of {} messages were lost ({interval}){at} ({how})", thousands(lost), thousands(sent)),
            }
        }
    };
    let most = worst.map_or(0.0, |(.., share)| *share);
    yes(p, text, alone(most), "1", rests_on)
}
