//! What several offered rates (`--rate`) tell of the one path that they were offered to.

use model::Estimate;
use record::rates::{AtRate, OverRates};
use units::{BitRate, Bytes, Kind, Share, thousands};

use super::asked::{Asked, figure, times};
use super::offering::{command, range};
use super::reply::{answered, cannot, yes};
use crate::config::question::size_words;
use crate::document::Answered;

/// Share of an offered rate that may be missing where it counts as carried, as in the warning of the run.
const MISSED: f64 = 0.05;

/// Whether a path is the first of those that are asked about and differ in the rate that is offered alone, or another of them; none where no
/// other of them is asked about.
pub fn first(p: &Asked<'_>, asked: &[&Asked<'_>]) -> Option<bool> {
    let groups = groups(p);
    let same = |q: &&&Asked<'_>| q.file == p.file && groups.iter().any(|group| q.among(group));
    let mut all = asked.iter().filter(same);
    let first = all.next().is_some_and(|first| std::ptr::eq(*first, p));
    all.next().map(|_| first)
}

/// What the rates that a path's are offered with did.
fn groups(p: &Asked<'_>) -> Vec<OverRates> {
    p.over_rates().into_iter().filter(|group| p.among(group)).collect()
}

/// What is told of a path at the first of its rates, and nothing at the others; none where one rate alone is asked about. Asked is about so many
/// `bits` a second, or whether that is more than is carried, else about the most.
pub fn told(
    p: &Asked<'_>,
    asked: &[&Asked<'_>],
    size: Option<u64>,
    bits: Option<(f64, bool)>,
) -> Option<Vec<Answered>> {
    if !first(p, asked)? {
        return Some(Vec::new());
    }
    let groups = groups(p);
    let largest = groups.iter().map(|group| group.size).max();
    let size = size.or(largest)?;
    Some(vec![match groups.iter().find(|group| group.size == size) {
        None => unrated(p, cannot(p, format!("{} was not sent at these rates", size_words(size)), &[size])),
        Some(group) => of_group(p, group, bits),
    }])
}

fn of_group(p: &Asked<'_>, group: &OverRates, bits: Option<(f64, bool)>) -> Answered {
    let known: Vec<(&AtRate, Estimate)> = group.rows.iter().filter_map(|row| Some((row, row.arrived?))).collect();
    let most = known.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let Some((top, most)) = most else {
        return unrated(p, cannot(p, "too little came to tell what arrived".to_owned(), &[group.size]));
    };
    let with = format!("with messages of {}", Bytes(group.size));
    let lossless = group.lossless.and_then(|at| group.rows.get(at));
    let lossless = lossless.map_or(String::new(), |row| format!("; none was lost up to {}", BitRate(row.offered)));
    let ends = (group.rows.first().map_or(0.0, |row| row.offered), group.rows.last().map_or(0.0, |row| row.offered));
    let found = |text: String, e: Estimate, rates| offered(p, yes(p, text, e, "bit/s", vec![group.size]), rates, group);
    let Some((bits, less)) = bits else {
        if carried(top, *most) {
            let why = format!("more than arrived was not offered: {}{lossless}", came(top, *most));
            return offered(p, cannot(p, why, &[group.size]), (ends.1, 10.0 * ends.1), group);
        }
        let messages = figure(times(*most, 1.0 / (8.0 * group.size.max(1) as f64)), Kind::PerSecond);
        let text = format!("the most that arrived, {with}: {}, {messages}{lossless}", came(top, *most));
        return found(text, *most, ends);
    };
    let Some(at) = known.iter().position(|(row, _)| row.offered >= bits * (1.0 - EQUAL)) else {
        let text = format!("the most that arrived, {with}: {}{lossless}", came(top, *most));
        // What does not arrive of a lower rate does not of this one.
        return match known.last().is_some_and(|(row, e)| !carried(row, *e)) && most.value < bits {
            true => found(format!("{}: {text}", answered("no", less)), *most, ends),
            false => {
                let why = format!("{} were not offered; {text}", BitRate(bits));
                offered(p, cannot(p, why, &[group.size]), (ends.1, 2.0 * bits), group)
            }
        };
    };
    let (row, e) = known[at];
    let below = known[..at].last();
    let word = match () {
        () if carried(row, e) => "yes",
        () if row.offered <= bits * (1.0 + EQUAL) || e.high < bits => "no",
        () => "not surely",
    };
    let beside =
        below.filter(|_| word == "not surely").map_or(String::new(), |(row, e)| format!(", {}", came(row, *e)));
    let top = if word == "yes" || std::ptr::eq(*top, row) {
        String::new()
    } else {
        format!("; the most that arrived: {}", came(top, *most))
    };
    let between = (below.map_or(row.offered / 2.0, |(row, _)| row.offered), row.offered);
    found(format!("{}: {with}, {}{beside}{lossless}{top}", answered(word, less), came(row, e)), e, between)
}

/// Which rates were offered and what the sender and the path made of them; of the first of its rates, and nothing of the others.
pub fn offers(p: &Asked<'_>, asked: &[&Asked<'_>]) -> Option<Vec<Answered>> {
    if !first(p, asked)? {
        return Some(Vec::new());
    }
    let one = |group: OverRates| {
        let row = |row: &AtRate| {
            let sent = row.sent.filter(|_| !row.kept());
            let sent = sent.map_or(String::new(), |sent| format!(", of which the sender reached {}", BitRate(sent)));
            let came = row.arrived.map_or(String::new(), |e| format!(", {} arrived", figure(e, Kind::BitsPerSecond)));
            format!("{}{sent}{came}", BitRate(row.offered))
        };
        let rows: Vec<String> = group.rows.iter().map(row).collect();
        let last = group.rows.last()?;
        let ends = (group.rows[0].offered, last.offered);
        let text = format!("with messages of {} were offered: {}", Bytes(group.size), rows.join("; "));
        let e = Estimate { value: last.offered, low: last.offered, high: last.offered };
        Some(offered(p, yes(p, text, e, "bit/s", vec![group.size]), ends, &group))
    };
    let found: Vec<Answered> = groups(p).into_iter().filter_map(one).collect();
    (!found.is_empty()).then_some(found)
}

/// What was lost at each rate of a path, of the size that is asked about or of each; of the first of its rates, and nothing of the others.
pub fn losses(p: &Asked<'_>, asked: &[&Asked<'_>], size: Option<u64>) -> Option<Vec<Answered>> {
    if !first(p, asked)? {
        return Some(Vec::new());
    }
    let of_size = |group: &OverRates| size.is_none_or(|size| size == group.size);
    let one = |group: OverRates| {
        let lost = |row: &AtRate| match row.lost {
            0 => format!("none of {} was at {}{}", thousands(row.messages), BitRate(row.offered), short(row)),
            _ => format!("{} were at {}{}", figure(row.loss, Kind::Share), BitRate(row.offered), short(row)),
        };
        let rows: Vec<String> = group.rows.iter().map(lost).collect();
        let last = group.rows.last()?;
        let ends = (group.rows[0].offered, last.offered);
        let text = format!("of messages of {} lost: {}", Bytes(group.size), rows.join(", "));
        Some(offered(p, yes(p, text, last.loss, "1", vec![group.size]), ends, &group))
    };
    let found: Vec<Answered> = groups(p).into_iter().filter(of_size).filter_map(one).collect();
    (!found.is_empty()).then_some(found)
}

/// How far two rates lie apart that are one.
const EQUAL: f64 = 1e-6;

/// "of 500 Mbit/s offered 412 Mbit/s [312, 465] arrived (17.1% lost)".
fn came(row: &AtRate, arrived: Estimate) -> String {
    let lost = if row.lost == 0 { "none".to_owned() } else { Share(row.loss.value).to_string() };
    format!(
        "of {} offered{}{} {} arrived ({lost} lost)",
        BitRate(row.offered),
        short(row),
        if row.kept() { "" } else { "," },
        figure(arrived, Kind::BitsPerSecond)
    )
}

/// That the sender offered less than it was to, where it did: what was lost is of that.
fn short(row: &AtRate) -> String {
    let sent = row.sent.filter(|_| !row.kept());
    sent.map_or(String::new(), |sent| format!(", of which the sender reached only {}", BitRate(sent)))
}

/// The same of the rate that a path was offered.
pub fn fell_short(p: &Asked<'_>, size: Option<u64>) -> String {
    let of_size = |group: &OverRates| size.is_none_or(|size| size == group.size);
    let own = |row: &AtRate| p.rate().is_some_and(|rate| (row.offered / rate - 1.0).abs() < EQUAL);
    let rows: Vec<AtRate> = groups(p).into_iter().filter(of_size).flat_map(|group| group.rows).filter(own).collect();
    rows.first().map_or(String::new(), short)
}

/// An answer of the path without its rate, and the command that offers rates from the one to the other.
fn offered(p: &Asked<'_>, answer: Answered, (from, to): (f64, f64), group: &OverRates) -> Answered {
    Answered { sharpen: command(p, &range(from, to), Some(group.size)), ..unrated(p, answer) }
}

/// An answer of the path without the rate that is part of its name.
pub fn unrated(p: &Asked<'_>, answer: Answered) -> Answered {
    let name = p.name.replacen(p.label, &plain(p.label), 1);
    Answered { text: answer.text.replacen(&p.name, &name, 1), path: name, ..answer }
}

/// A path's name without its rate: "udp:sockbuf=1MiB" of `udp:sockbuf=1MiB,offered=10Mbit/s`.
fn plain(label: &str) -> String {
    let Some((transport, set)) = label.split_once(':') else { return label.to_owned() };
    let set: Vec<&str> = set.split(',').filter(|one| !one.starts_with("offered=")).collect();
    if set.is_empty() { transport.to_owned() } else { format!("{transport}:{}", set.join(",")) }
}

/// Whether a rate arrived as it was offered.
fn carried(row: &AtRate, arrived: Estimate) -> bool {
    arrived.value >= (1.0 - MISSED) * row.offered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sender_did_not_reach_is_told() {
        let e = |value| Estimate { value, low: value, high: value };
        let row =
            |sent| AtRate { path: 0, offered: 4e9, sent, arrived: Some(e(3e8)), messages: 100, lost: 70, loss: e(0.7) };
        let told = came(&row(Some(1e9)), e(3e8));
        assert!(told.starts_with("of 4.00 Gbit/s offered, of which the sender reached only 1.00 Gbit/s, "), "{told}");
        assert!(came(&row(Some(4e9)), e(3e8)).starts_with("of 4.00 Gbit/s offered 300 Mbit/s"));
        assert_eq!(short(&row(None)), "");
    }

    #[test]
    fn a_path_is_named_without_its_rate() {
        let names = ["udp", "udp:offered=10Mbit/s", "udp:sockbuf=1MiB,offered=10Mbit/s"];
        assert_eq!(names.map(plain), ["udp", "udp", "udp:sockbuf=1MiB"]);
    }
}
