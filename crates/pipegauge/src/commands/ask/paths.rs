//! Answers that choose from the paths.

use model::Estimate;
use model::answer::{self, Unanswered};
use units::{Bytes, Kind};

use super::asked::{Asked, figure};
use super::rates::{each, moved};
use super::reply::{cannot, needs, no, nobody, yes};
use super::rounds::{every_round, moves_more};
use super::times::{Timed, whole};
use super::two_paths::{Sure, TwoPaths};
use crate::config::question::{Ranked, size_words};
use crate::document::Answered;

pub fn fastest(paths: &[&Asked<'_>], size: u64, asked: Option<&Ranked>) -> Answered {
    let (mut found, mut others) = told(paths, |p| whole(p, size));
    found.sort_by(|a: &(&Asked<'_>, Timed), b| a.1.seconds.value.total_cmp(&b.1.seconds.value));
    others.extend(unranked(&mut found));
    let Some((best, time)) = found.first() else {
        return match paths.first() {
            Some(p) => no(p, &whole(p, size).err().unwrap_or(Unanswered::Nothing), &[size]),
            None => nobody("the runs hold no path".into(), format!("pipegauge run memcpy shm unix tcp --sizes {size}")),
        };
    };
    // What a schedule spaces out tells nothing of the path.
    if let Some(why) = found.iter().find_map(|(p, _)| best.against(p).err().filter(|_| best.rate() != p.rate())) {
        return cannot(best, why, &[size]);
    }
    let slower = |(p, a): &(&Asked<'_>, Timed), (q, b): &(&Asked<'_>, Timed)| {
        let held = TwoPaths::of(p, q);
        match held.at(size).filter(|_| held.in_turns()) {
            Some(extra) => extra.ratio.value > 1.0 && sure(&extra.sure_ratio),
            None => p.against(q).is_ok() && sure(&apart(a.seconds, b.seconds, (p, q), size)),
        }
    };
    let word = ranked(&found, asked, |of| of.0, slower);
    let mut text =
        format!("{word}{} takes {} ({}){}", size_words(size), figure(time.seconds, Kind::Seconds), best.time, time.how);
    let mut notes: Vec<String> = Vec::new();
    let mut doubt = String::new();
    for (p, a) in &found[1..] {
        let (told, note) = match best.against(p) {
            Ok(note) => {
                let held = TwoPaths::of(p, best);
                doubt = first_of(doubt, best, &held);
                let told = match held.at(size).filter(|_| held.in_turns()) {
                    // The other way round the rounds may say another thing than the medians.
                    Some(extra) if extra.ratio.value >= 1.0 => (extra.ratio.value, extra.sure_ratio),
                    Some(_) => (1.0, Sure::No),
                    None => (a.seconds.value / time.seconds.value, apart(a.seconds, time.seconds, (p, best), size)),
                };
                (longer(a.seconds, told), note)
            }
            Err(_) => (
                format!("{} ({})", figure(a.seconds, Kind::Seconds), p.time),
                "\n  (the paths' times are of different kinds: measure them with one pattern)".to_owned(),
            ),
        };
        text.push_str(&format!("\n  {}: {told}{}", p.name, a.how));
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    text.push_str(&notes.concat());
    text.push_str(&doubt);
    text.push_str(&unknown(&others));
    yes(best, text, time.seconds, "s", time.rests_on.clone())
}

/// Whether something is told as being so, be it by the rounds alone.
fn sure(of: &Sure) -> bool {
    matches!(of, Sure::Yes | Sure::InTheseRuns | Sure::EveryRound)
}

/// "no (whether tcp is the first): ", where it is asked whether a path is the first or the last of those that are found; `behind` says whether one
/// surely stands behind another.
fn ranked<'a, 'b: 'a, T>(
    found: &[T],
    asked: Option<&Ranked>,
    path: impl Fn(&T) -> &'a Asked<'b>,
    behind: impl Fn(&T, &T) -> bool,
) -> String {
    let Some(Ranked { path: named, last }) = asked else { return String::new() };
    let Some(at) = found.iter().position(|of| path(of).is(named)) else { return String::new() };
    let others = || found.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, of)| of);
    let own = &found[at];
    let after = |one: &T, other: &T| if *last { behind(other, one) } else { behind(one, other) };
    let word = match () {
        () if others().any(|other| after(own, other)) => "no",
        () if others().all(|other| after(other, own)) => "yes",
        () => "not surely",
    };
    format!("{word} (whether {} is the {} of all): ", path(own).name, if *last { "last" } else { "first" })
}

/// Paths of which something is not known, by name, and why.
type Others = Vec<(String, String)>;

/// What is known of each path, and of which paths it is not, and why.
fn told<'a, 'b, T>(
    paths: &[&'a Asked<'b>],
    of: impl Fn(&Asked<'b>) -> Result<T, Unanswered>,
) -> (Vec<(&'a Asked<'b>, T)>, Others) {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for p in paths {
        match of(p) {
            Ok(t) => found.push((*p, t)),
            Err(why) => others.push((p.name.clone(), why.to_string())),
        }
    }
    (found, others)
}

/// A line for each reason why something is not known of a path: none of those that were asked about is passed over.
pub fn unknown(others: &[(String, String)]) -> String {
    let mut whys: Vec<&str> = Vec::new();
    for (_, why) in others {
        if !whys.contains(&why.as_str()) {
            whys.push(why);
        }
    }
    let line = |why: &str| {
        let names: Vec<&str> = others.iter().filter(|(_, w)| w == why).map(|(name, _)| name.as_str()).collect();
        format!("\n  not known of {}: {why}", names.join(", "))
    };
    whys.into_iter().map(line).collect()
}

/// Takes streams away where other paths tell how long a message is on its way: these, and why.
fn unranked<T>(found: &mut Vec<(&Asked<'_>, T)>) -> Others {
    if found.iter().all(|(p, _)| p.journey().is_err()) {
        return Vec::new();
    }
    let why = |p: &Asked<'_>| {
        let pattern = p.there_and_back();
        format!(
            "a stream tells the time from one message to the next, not how long one is on its way (--pattern {pattern})"
        )
    };
    let streams = found.iter().filter(|(p, _)| p.journey().is_err());
    let streams = streams.map(|(p, _)| (p.name.clone(), why(p))).collect();
    found.retain(|(p, _)| p.journey().is_ok());
    streams
}

/// What keeps the best of the paths from being so of more than these runs ([`TwoPaths::doubt`]), told once, and of times of one kind alone.
fn first_of(told: String, best: &Asked<'_>, held: &TwoPaths<'_, '_>) -> String {
    let like = [held.a, held.b].iter().all(|p| best.against(p).is_ok());
    if told.is_empty() && like { held.doubt() } else { told }
}

/// How surely a time is longer than the least, by their own intervals or in every round.
fn apart(time: Estimate, least: Estimate, (p, best): (&Asked<'_>, &Asked<'_>), size: u64) -> Sure {
    match () {
        () if time.low > least.high => Sure::Yes,
        () if every_round(best.curve(), p.curve(), size) == Some(true) => Sure::EveryRound,
        () => Sure::No,
    }
}

/// A time and how many times as long it is as the least, only where it surely is longer.
fn longer(time: Estimate, (factor, sure): (f64, Sure)) -> String {
    let own = figure(time, Kind::Seconds);
    let words = match sure {
        Sure::Yes | Sure::InTheseRuns => "",
        Sure::EveryRound => " in every round",
        Sure::ByOrder | Sure::Alone => return format!("not surely longer ({}), {own}", sure.words()),
        Sure::No => return format!("not surely longer, {own}"),
    };
    match () {
        () if factor < 100.0 => format!("{factor:.2} times as long{words}, {own}"),
        () => format!("{} times as long{words}, {own}", units::thousands(factor.round() as u64)),
    }
}

/// The path of most throughput, and the others.
pub fn strongest(paths: &[&Asked<'_>], asked: Option<&Ranked>) -> Answered {
    let most = |p: &Asked<'_>| {
        p.reached()?;
        if p.scheduled() {
            return Err(Unanswered::NoSum("a schedule (--rate) says nothing of how much the path carries".to_owned()));
        }
        p.summary().map(|s| (s.max_throughput, s.max_size)).ok_or(Unanswered::Nothing)
    };
    let (found, others) = told(paths, most);
    let mut found: Vec<(&Asked<'_>, Estimate, u64)> = found.into_iter().map(|(p, (e, at))| (p, e, at)).collect();
    found.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let Some((best, most, at_best)) = found.first() else {
        return match paths.first() {
            Some(p) if p.scheduled() => super::schedule::no_throughput(p),
            Some(p) => no(p, &p.reached().err().unwrap_or(Unanswered::Nothing), &[]),
            None => nobody("the runs hold no path".into(), "pipegauge run memcpy shm unix tcp".into()),
        };
    };
    let mut doubt = String::new();
    let less = |(p, e, at): &(&Asked<'_>, Estimate, u64), (q, f, other): &(&Asked<'_>, Estimate, u64)| {
        let by_turns = TwoPaths::of(q, p).most().map(|factor| factor.low > 1.0);
        by_turns.unwrap_or(e.high < f.low) || moves_more((q.lasting(), *other), (p.lasting(), *at)) == Some(true)
    };
    let word = ranked(&found, asked, |of| of.0, less);
    let mut text = format!("{word}moves the most, {}, at {}", figure(*most, Kind::BitsPerSecond), Bytes(*at_best));
    for (p, e, at) in &found[1..] {
        let held = TwoPaths::of(best, p);
        doubt = first_of(doubt, best, &held);
        let less = match held.most() {
            Some(factor) => factor.low > 1.0,
            None => e.high < most.low,
        };
        // Where no interval tells, all rounds of the one may still lie beyond all of the other, as at a size.
        let every = || moves_more((best.lasting(), *at_best), (p.lasting(), *at)) == Some(true);
        let sure = match () {
            () if less => "",
            () if every() => ", less in every round",
            () => ", which is not surely less",
        };
        text.push_str(&format!("\n  {}: {} at {}{sure}", p.name, figure(*e, Kind::BitsPerSecond), Bytes(*at)));
    }
    text.push_str(&doubt);
    text.push_str(&unknown(&others));
    yes(best, text, *most, "bit/s", vec![*at_best])
}

/// The path that moves most with messages of a size, and the others.
pub fn strongest_at(paths: &[&Asked<'_>], size: u64, asked: Option<&Ranked>) -> Answered {
    let moves = |p: &Asked<'_>| {
        if p.scheduled() {
            return Err(Unanswered::NoSum("a schedule (--rate) says nothing of how much the path carries".to_owned()));
        }
        moved(p, size)
    };
    let (mut found, others) = told(paths, moves);
    found.sort_by(|a, b| b.1.0.value.total_cmp(&a.1.0.value));
    let Some((best, (most, rests_on, how))) = found.first() else {
        return match paths.first() {
            Some(p) if p.scheduled() => super::schedule::no_throughput(p),
            Some(p) => no(p, &moves(p).err().unwrap_or(Unanswered::Nothing), &[size]),
            None => nobody("the runs hold no path".into(), format!("pipegauge run memcpy shm unix tcp --sizes {size}")),
        };
    };
    let mut doubt = String::new();
    let less = |(p, (e, ..)): &(&Asked<'_>, (Estimate, Vec<u64>, String)),
                (q, (f, ..)): &(&Asked<'_>, (Estimate, Vec<u64>, String))| {
        let held = TwoPaths::of(p, q);
        match held.at(size).filter(|_| held.in_turns()) {
            Some(extra) => extra.ratio.value > 1.0 && sure(&extra.sure_ratio),
            None => e.high < f.low || every_round(q.curve(), p.curve(), size) == Some(true),
        }
    };
    let word = ranked(&found, asked, |of| of.0, less);
    let mut text = format!(
        "{word}messages of {} move the most, {} ({}){how}",
        size_words(size),
        figure(*most, Kind::BitsPerSecond),
        each(best)
    );
    for (p, (e, _, how)) in &found[1..] {
        let held = TwoPaths::of(p, best);
        doubt = first_of(doubt, best, &held);
        let sure = match held.at(size).filter(|_| held.in_turns()) {
            Some(extra) if extra.ratio.value >= 1.0 => extra.sure_ratio,
            Some(_) => Sure::No,
            None if e.high < most.low => Sure::Yes,
            None if every_round(best.curve(), p.curve(), size) == Some(true) => Sure::EveryRound,
            None => Sure::No,
        };
        let sure = match sure {
            Sure::Yes | Sure::InTheseRuns => "",
            Sure::EveryRound => ", less in every round",
            Sure::ByOrder | Sure::Alone | Sure::No => ", which is not surely less",
        };
        let other = if each(p) == each(best) { String::new() } else { format!(" ({})", each(p)) };
        text.push_str(&format!("\n  {}: {}{other}{sure}{how}", p.name, figure(*e, Kind::BitsPerSecond)));
    }
    text.push_str(&doubt);
    text.push_str(&unknown(&others));
    yes(best, text, *most, "bit/s", rests_on.clone())
}

pub fn control(paths: &[&Asked<'_>]) -> Answered {
    let (mut found, mut others) = told(paths, |p| answer::control(p.curve()));
    found.sort_by(|a, b| a.1.1.seconds.value.total_cmp(&b.1.1.seconds.value));
    others.extend(unranked(&mut found));
    if let Some((p, why)) = found.first().and_then(|(p, _)| Some((*p, p.journey().err()?))) {
        return needs(p, p.there_and_back(), &why, &[1, 64, 1000]);
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
    text.push_str(&unknown(&others));
    yes(best, text, greatest.seconds, "s", vec![least.size, greatest.size])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_not_known_are_named_with_why() {
        let others = [("tcp", "too far"), ("udp", "too large"), ("unix", "too far")];
        let others = others.map(|(name, why)| (name.to_owned(), why.to_owned()));
        assert_eq!(unknown(&others), "\n  not known of tcp, unix: too far\n  not known of udp: too large");
        assert_eq!(unknown(&[]), "");
    }

    #[test]
    fn a_factor_is_told_only_of_a_time_that_is_surely_longer() {
        let e = |value, low, high| Estimate { value, low, high };
        assert_eq!(longer(e(1.5e-6, 1.3e-6, 1.7e-6), (1.5, Sure::Yes)), "1.50 times as long, 1.50 us [1.3, 1.7]");
        assert_eq!(longer(e(101.6e-6, 101e-6, 102e-6), (101.6, Sure::Yes)), "102 times as long, 102 us [101, 102]");
        let vague = longer(e(101.5e-6, 1e-6, 5e-3), (101.5, Sure::No));
        assert!(vague.starts_with("not surely longer, ") && !vague.contains("times"), "{vague}");
        assert_eq!(
            longer(e(101.5e-6, 0.0, f64::INFINITY), (101.5, Sure::EveryRound)),
            "102 times as long in every round, 102 us (no interval)"
        );
        let few = longer(e(1.5e-6, 1.3e-6, 1.7e-6), (1.5, Sure::ByOrder));
        assert_eq!(few, "not surely longer (so few rounds may do that by chance), 1.50 us [1.3, 1.7]");
    }
}
