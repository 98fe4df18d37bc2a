//! Answers that hold paths against one another.

use measure::event::TimeKind;
use model::answer::{self, Unanswered};
use model::{CurvePoint, Estimate};
use units::{Bytes, Kind};

use super::asked::{Asked, figure, inverse};
use super::kept;
use super::reply::{cannot, needs, no, nobody, yes};
use super::times::{Timed, of};
use crate::config::question::{Named, size_words};
use crate::document::Answered;

pub fn fastest(paths: &[&Asked<'_>], size: u64) -> Answered {
    let mut found: Vec<(&Asked<'_>, Timed)> = paths.iter().filter_map(|p| Some((*p, of(p, size).ok()?))).collect();
    found.sort_by(|a, b| a.1.seconds.value.total_cmp(&b.1.seconds.value));
    let others = unranked(&mut found);
    let Some((best, time)) = found.first() else {
        return match paths.first() {
            Some(p) => no(p, &of(p, size).err().unwrap_or(Unanswered::Nothing), &[size]),
            None => nobody("the runs hold no path".into(), format!("pipegauge run memcpy shm unix tcp --sizes {size}")),
        };
    };
    let kinds: Vec<&str> = found.iter().map(|(p, _)| p.time).collect();
    let mut text =
        format!("{} takes {} ({}){}", size_words(size), figure(time.seconds, Kind::Seconds), best.time, time.how);
    for (p, a) in &found[1..] {
        let way = |p: &Asked<'_>| matches!(p.kind, Some(TimeKind::HalfRoundTrip | TimeKind::Copy));
        let told = match p.kind == best.kind || (way(p) && way(best)) {
            true => longer(a.seconds, time.seconds),
            false => format!("{} ({})", figure(a.seconds, Kind::Seconds), p.time),
        };
        text.push_str(&format!("\n  {}: {told}{}", p.name, a.how));
    }
    text.push_str(unlike_times(&kinds));
    text.push_str(&others);
    yes(best, text, time.seconds, "s", time.rests_on.clone())
}

/// Takes streams away where other paths tell how long a message is on its way; says so in a line of its own.
fn unranked<T>(found: &mut Vec<(&Asked<'_>, T)>) -> String {
    if found.iter().all(|(p, _)| p.journey().is_err()) {
        return String::new();
    }
    let streams: Vec<&str> = found.iter().filter(|(p, _)| p.journey().is_err()).map(|(p, _)| p.name.as_str()).collect();
    let text = match &streams[..] {
        [] => String::new(),
        _ => format!(
            "\n  not known of {}: a stream tells the time from one message to the next, not how long one is on its way \
             (--pattern ping-pong)",
            streams.join(", ")
        ),
    };
    found.retain(|(p, _)| p.journey().is_ok());
    text
}

/// A time and how it lies to the least: the factor only where it surely is one.
fn longer(time: Estimate, least: Estimate) -> String {
    let own = figure(time, Kind::Seconds);
    let factor = time.value / least.value;
    match () {
        () if time.low <= least.high => format!("not surely longer, {own}"),
        () if factor < 100.0 => format!("{factor:.2} times as long, {own}"),
        () => format!("{} times as long, {own}", units::thousands(factor.round() as u64)),
    }
}

/// A note where the paths' times are of different kinds.
fn unlike_times(kinds: &[&str]) -> &'static str {
    match kinds.iter().any(|k| *k != kinds[0]) {
        true => "\n  (the paths' times are of different kinds: measure them with one pattern)",
        false => "",
    }
}

/// The path of most throughput, and the others.
pub fn strongest(paths: &[&Asked<'_>]) -> Answered {
    let unreached = |p: &&&Asked<'_>| p.reached().is_err();
    let unknown: Vec<String> = paths.iter().filter(unreached).map(|p| p.name.clone()).collect();
    let mut found: Vec<(&Asked<'_>, Estimate, u64)> = (paths.iter().filter(|p| !p.scheduled() && !unreached(p)))
        .filter_map(|p| p.summary.as_ref().map(|s| (*p, s.max_throughput, s.max_size)))
        .collect();
    found.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let Some((best, most, at)) = found.first() else {
        return match paths.first() {
            Some(p) if p.scheduled() => super::schedule::no_throughput(p),
            Some(p) => no(p, &p.reached().err().unwrap_or(Unanswered::Nothing), &[]),
            None => nobody("the runs hold no path".into(), "pipegauge run memcpy shm unix tcp".into()),
        };
    };
    let mut text = format!("moves the most, {}, at {}", figure(*most, Kind::BitsPerSecond), Bytes(*at));
    for (p, e, at) in &found[1..] {
        let sure = if e.high < most.low { "" } else { ", which is not surely less" };
        text.push_str(&format!("\n  {}: {} at {}{sure}", p.name, figure(*e, Kind::BitsPerSecond), Bytes(*at)));
    }
    if !unknown.is_empty() {
        text.push_str(&format!("\n  not known of {}: no size that saturates was measured", unknown.join(", ")));
    }
    yes(best, text, *most, "bit/s", vec![*at])
}

pub fn control(paths: &[&Asked<'_>]) -> Answered {
    let mut found: Vec<_> = paths.iter().filter_map(|p| Some((*p, answer::control(&p.curve).ok()?))).collect();
    found.sort_by(|a, b| a.1.1.seconds.value.total_cmp(&b.1.1.seconds.value));
    let others = unranked(&mut found);
    if let Some((p, why)) = found.first().and_then(|(p, _)| Some((*p, p.journey().err()?))) {
        return needs(p, "ping-pong", &why, &[1, 64, 1000]);
    }
    let Some((best, (least, greatest))) = found.first() else {
        let why = Unanswered::TooLittle("no size below 1 KiB was measured");
        let run = || nobody("the runs hold no path".into(), "pipegauge run memcpy shm unix tcp --to 1KiB".into());
        return paths.first().map_or_else(run, |p| no(p, &why, &[1, 64, 1000]));
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
    let mut text = format!("messages below 1 KiB arrive after {}, {}", range(least, greatest), best.time);
    for (p, (a, b)) in &found[1..] {
        text.push_str(&format!("\n  {}: {}", p.name, range(a, b)));
    }
    text.push_str(&others);
    yes(best, text, greatest.seconds, "s", vec![least.size, greatest.size])
}

/// One path against another, pair by pair: those of one file where a file has both, else all.
/// `factor` has the answer begin with how many times faster or slower the first is.
pub fn cost(paths: &[Asked<'_>], x: &Named, y: &Named, size: Option<u64>, factor: bool) -> Vec<Answered> {
    let of = |n: &Named| paths.iter().enumerate().filter(|(_, p)| p.is(n)).collect::<Vec<_>>();
    let (xs, ys) = (of(x), of(y));
    let mut pairs: Vec<(&Asked<'_>, &Asked<'_>)> = Vec::new();
    // Two files, no transport: what both have is held against each other.
    let same = x.transport.is_none() && y.transport.is_none();
    for (i, a) in &xs {
        pairs.extend(ys.iter().filter(|(j, b)| i != j && (!same || a.label == b.label)).map(|(_, b)| (*a, *b)));
    }
    if pairs.iter().any(|(a, b)| a.file == b.file) {
        pairs.retain(|(a, b)| a.file == b.file);
    }
    if pairs.is_empty() {
        let names: Vec<&str> = paths.iter().map(|p| p.name.as_str()).collect();
        let text = format!(
            "the runs have no paths '{x}' and '{y}' to hold against each other; they have: {}",
            names.join(", ")
        );
        let named = |n: &Named| n.transport.clone().unwrap_or_else(|| "tcp".to_owned());
        let mut answer = nobody(
            text,
            if named(x) == named(y) {
                format!("pipegauge run {}", named(x))
            } else {
                format!("pipegauge run {} {}", named(x), named(y))
            },
        );
        answer.path = format!("{x}, {y}");
        return vec![answer];
    }
    pairs.into_iter().map(|(a, b)| pair(a, b, size, factor)).collect()
}

fn pair(a: &Asked<'_>, b: &Asked<'_>, size: Option<u64>, factor: bool) -> Answered {
    if a.journey().is_err() != b.journey().is_err() {
        let why = format!(
            "the times of {} are of the kind '{}', those of {} of the kind '{}': measure both with one pattern",
            a.name, a.time, b.name, b.time
        );
        return cannot(a, why, size.as_slice());
    }
    let mut sizes: Vec<u64> = a.curve.iter().map(|p| p.size).filter(|s| b.curve.iter().any(|p| p.size == *s)).collect();
    sizes.sort_unstable();
    let extra = |s: u64| {
        let (over, under) = (of(a, s).ok()?, of(b, s).ok()?);
        let how = if over.how.is_empty() { under.how } else { over.how };
        let (over, under) = (over.seconds, under.seconds);
        Some((model::difference(over, under), over.value / under.value, how))
    };
    let chosen: Vec<u64> = match size {
        Some(size) => vec![size],
        None => {
            [0, sizes.len() / 2, sizes.len().saturating_sub(1)].iter().filter_map(|i| sizes.get(*i).copied()).collect()
        }
    };
    let found: Vec<(u64, Estimate, f64, String)> =
        chosen.iter().filter_map(|s| extra(*s).map(|(e, ratio, how)| (*s, e, ratio, how))).collect();
    let Some((_, first, _, _)) = found.first() else {
        let why = match size {
            Some(s) => of(a, s).err().or(of(b, s).err()).unwrap_or(Unanswered::Nothing),
            None => Unanswered::TooLittle("the two paths have no size in common"),
        };
        return no(a, &why, size.as_slice());
    };
    // Where no interval tells the two apart, all rounds of one may still lie beyond all of the other.
    let every = |size: u64| every_round(&a.curve, &b.curve, size);
    let parts: Vec<String> = found
        .iter()
        .map(|(s, e, ratio, how)| {
            let sure = match () {
                () if e.low > 0.0 || e.high < 0.0 => "",
                () if every(*s).is_some() => ", in every round",
                () => ", not surely different",
            };
            format!("{} at {} ({:+.0}%{sure}){how}", more(*e), size_words(*s), (ratio - 1.0) * 100.0)
        })
        .collect();
    let verdict = if size.is_some() { String::new() } else { verdict(a, b, &sizes, (&extra, &every)) };
    let factors: Vec<(u64, Estimate)> = (found.iter())
        .filter_map(|(s, ..)| Some((*s, ratio(of(b, *s).ok()?.seconds, of(a, *s).ok()?.seconds))))
        .collect();
    let times: Vec<String> = (factors.iter().filter(|_| factor))
        .map(|(s, of)| format!("{} at {}", faster(*of, &b.name, every(*s).is_some()), size_words(*s)))
        .collect();
    let lead = if times.is_empty() { String::new() } else { format!("is {};\n  it ", times.join(", ")) };
    let text = format!(
        "{lead}costs over {}: {} ({}){verdict}{}",
        b.name,
        parts.join(", "),
        a.time,
        unlike_times(&[a.time, b.time])
    );
    let mut answer = yes(a, text, *first, "s", found.iter().map(|f| f.0).collect());
    answer.text = answer.text.replacen(": ", " ", 1);
    answer.path = format!("{}, {}", a.name, b.name);
    answer.factor = factors.first().map(|f| f.1);
    // Two files may hold the same path.
    let both = if a.typed() == b.typed() { a.typed() } else { format!("{} {}", a.typed(), b.typed()) };
    answer.sharpen = format!("pipegauge run {both} --budget 30s");
    answer
}

/// How many times as long the one takes as the other. The two errors are independent, as in [`model::difference`].
fn ratio(long: Estimate, short: Estimate) -> Estimate {
    kept::longer(long, inverse(short, 1.0))
}

/// "3.10 times [2.91, 3.33] faster than tcp", "100 times faster than tcp (no interval; in every round)", of how many times as long tcp takes. The ends are rounded outwards, so that the text
/// claims no narrower interval than was found.
fn faster(factor: Estimate, name: &str, every: bool) -> String {
    let (f, word) = match factor.value >= 1.0 {
        true => (factor, "faster"),
        false => (inverse(factor, 1.0), "slower"),
    };
    let places = |x: f64| if x < 100.0 { 2 } else { 0 };
    let text = |x: f64| format!("{x:.*}", places(x));
    // A hair's breadth, for ends that are round already.
    let outwards = |x: f64, round: fn(f64) -> f64, hair: f64| {
        let scale = 10f64.powi(places(x) as i32);
        text(round(x * scale * (1.0 + hair)) / scale)
    };
    let open = !(f.low > 0.0 && f.high.is_finite());
    let range = match open {
        true => String::new(),
        false => format!(" [{}, {}]", outwards(f.low, f64::floor, 1e-12), outwards(f.high, f64::ceil, -1e-12)),
    };
    let sure = match () {
        () if f.low > 1.0 => "",
        () if every => "in every round",
        () => "not surely different",
    };
    let about: Vec<&str> =
        [if open { "no interval" } else { "" }, sure].into_iter().filter(|s| !s.is_empty()).collect();
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join("; ")) };
    format!("{} times{range} {word} than {name}{about}", text(f.value))
}

/// "2.67 us [2.5, 2.9] more", "1.26 us [1.0, 1.7] less".
fn more(e: Estimate) -> String {
    let less = Estimate { value: -e.value, low: -e.high, high: -e.low };
    match e.value < 0.0 {
        true => format!("{} less", figure(less, Kind::Seconds)),
        false => format!("{} more", figure(e, Kind::Seconds)),
    }
}

/// At how many sizes one is surely faster than the other.
fn verdict(
    a: &Asked<'_>,
    b: &Asked<'_>,
    sizes: &[u64],
    (extra, every): (&impl Fn(u64) -> Option<(Estimate, f64, String)>, &impl Fn(u64) -> Option<bool>),
) -> String {
    let all: Vec<(u64, Estimate)> = sizes.iter().filter_map(|s| extra(*s).map(|(e, _, _)| (*s, e))).collect();
    let count = |of: &dyn Fn(u64, &Estimate) -> bool| {
        let them: Vec<u64> = all.iter().filter(|(s, e)| of(*s, e)).map(|(s, _)| *s).collect();
        match (them.first(), them.last()) {
            (Some(first), Some(last)) if first < last => {
                format!("at {} of {} sizes ({} to {})", them.len(), all.len(), Bytes(*first), Bytes(*last))
            }
            (Some(first), _) => format!("at {} of {} sizes ({})", them.len(), all.len(), Bytes(*first)),
            _ => format!("at none of {} sizes", all.len()),
        }
    };
    let unsure = |e: &Estimate| e.low <= 0.0 && e.high >= 0.0;
    let beyond = |s: u64, e: &Estimate, first: bool| unsure(e) && every(s) == Some(first);
    let sure = format!(
        "{} is surely faster {}, {} {}",
        a.name,
        count(&|_, e| e.high < 0.0),
        b.name,
        count(&|_, e| e.low > 0.0)
    );
    let rounds: Vec<String> = [(true, &a.name), (false, &b.name)]
        .into_iter()
        .filter(|(first, _)| all.iter().any(|(s, e)| beyond(*s, e, *first)))
        .map(|(first, name)| format!("{name} in every round {}", count(&|s, e| beyond(s, e, first))))
        .collect();
    match rounds.is_empty() {
        true => format!("\n  {sure}"),
        // What surely is faster nowhere is not worth a word beside that.
        false if all.iter().all(|(_, e)| unsure(e)) => {
            format!("\n  no interval tells them apart, but faster is {}", rounds.join(", "))
        }
        false => format!("\n  {sure}; where no interval tells them apart, {}", rounds.join(", ")),
    }
}

/// Rounds of each path that lie all to one side of the other's and tell the two apart: of so many that are alike, one in 35 would by
/// chance.
const ROUNDS: usize = 4;

/// Fewest rounds that do so where they lie further apart than those of either path among themselves.
const FEWEST: usize = 2;

/// Whether the first path is the faster one in every round at a size (true), or the other (false): of the measured size, or of both that
/// it lies between. None where their rounds overlap, or are too few.
fn every_round(a: &[CurvePoint], b: &[CurvePoint], size: u64) -> Option<bool> {
    let common = || a.iter().filter_map(|p| Some((p, b.iter().find(|q| q.size == p.size)?)));
    let below = common().filter(|(p, _)| p.size <= size).max_by_key(|(p, _)| p.size)?;
    let above = common().filter(|(p, _)| p.size >= size).min_by_key(|(p, _)| p.size)?;
    let apart = |(p, q): (&CurvePoint, &CurvePoint)| {
        let range = |c: &CurvePoint| {
            let times = || c.blocks.iter().map(|b| b.1);
            (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((p_low, p_high), (q_low, q_high)) = (range(p), range(q));
        let rounds = p.blocks.len().min(q.blocks.len());
        let own = (p_high / p_low).max(q_high / q_low);
        let beyond = |high: f64, low: f64| high < low && (rounds >= ROUNDS || (rounds >= FEWEST && low / high > own));
        match () {
            () if beyond(p_high, q_low) => Some(true),
            () if beyond(q_high, p_low) => Some(false),
            () => None,
        }
    };
    apart(below).filter(|first| apart(above) == Some(*first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factors_errors_are_independent() {
        let (two, six) = (Estimate { value: 2.0, low: 1.9, high: 2.5 }, Estimate { value: 6.0, low: 5.0, high: 7.6 });
        assert_eq!(faster(ratio(six, two), "tcp", false), "3.00 times [2.24, 3.83] faster than tcp");
        assert_eq!(faster(ratio(two, six), "unix", false), "3.00 times [2.24, 3.83] slower than unix");
        let unsure = Estimate { value: 2.2, low: 1.0, high: 3.0 };
        assert_eq!(
            faster(ratio(unsure, two), "tcp", false),
            "1.10 times [0.48, 1.51] faster than tcp (not surely different)"
        );
        let open = Estimate { value: 6.0, low: 0.0, high: f64::INFINITY };
        assert_eq!(
            faster(ratio(open, two), "tcp", false),
            "3.00 times faster than tcp (no interval; not surely different)"
        );
    }

    #[test]
    fn rounds_that_do_not_overlap_tell_two_paths_apart_without_an_interval() {
        let curve = |least: f64, most: f64| -> Vec<CurvePoint> {
            let of = |size: u64| {
                let blocks = (0..6).map(|i| (i, least + (most - least) * f64::from(i) / 5.0)).collect();
                CurvePoint::of(size, (least + most) / 2.0, blocks)
            };
            [1, 1024].map(of).to_vec()
        };
        let (shm, tcp) = (curve(1e-6, 3.8e-6), curve(50e-6, 190e-6));
        assert_eq!([1, 64, 1024].map(|s| every_round(&shm, &tcp, s)), [Some(true); 3]);
        assert_eq!(every_round(&tcp, &shm, 64), Some(false));
        assert_eq!(every_round(&shm, &tcp, 4096), None, "beyond what was measured");
        assert_eq!(every_round(&shm, &curve(3e-6, 9e-6), 1), None, "the ranges overlap");
        let few = |n: usize| -> Vec<CurvePoint> {
            shm.iter().map(|p| CurvePoint { blocks: p.blocks[..n].to_vec(), ..p.clone() }).collect()
        };
        assert_eq!(every_round(&few(3), &tcp, 1), Some(true), "three rounds, further apart than their own states");
        assert_eq!(every_round(&few(3), &curve(4e-6, 15e-6), 1), None, "three rounds that lie near are too few");
        assert_eq!(every_round(&few(1), &tcp, 1), None, "one round says nothing");
        let open = Estimate { value: 100.0, low: 0.0, high: f64::INFINITY };
        assert_eq!(faster(open, "tcp", true), "100 times faster than tcp (no interval; in every round)");
    }

    #[test]
    fn a_factors_interval_is_rounded_outwards() {
        let of = |low, value, high| faster(Estimate { value, low, high }, "tcp", false);
        assert_eq!(of(1.239, 1.3, 1.381), "1.30 times [1.23, 1.39] faster than tcp");
        assert_eq!(of(1.001, 1.3, 1.4), "1.30 times [1.00, 1.40] faster than tcp");
        assert_eq!(of(119.9, 130.2, 144.1), "130 times [119, 145] faster than tcp");
        assert_eq!(of(99.999, 120.0, 140.0), "120 times [99.99, 140] faster than tcp");
    }

    #[test]
    fn a_factor_is_told_only_of_a_time_that_is_surely_longer() {
        let e = |value, low, high| Estimate { value, low, high };
        let least = e(1e-6, 0.9e-6, 1.1e-6);
        assert_eq!(longer(e(1.5e-6, 1.3e-6, 1.7e-6), least), "1.50 times as long, 1.50 us [1.3, 1.7]");
        assert_eq!(longer(e(101.6e-6, 101e-6, 102e-6), least), "102 times as long, 102 us [101, 102]");
        let vague = longer(e(101.5e-6, 1e-6, 5e-3), least);
        assert!(vague.starts_with("not surely longer, ") && !vague.contains("times"), "{vague}");
    }
}
