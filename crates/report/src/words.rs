//! Phrases that several pictures share: labels of times and patterns, and a run's description in one line.

use std::collections::BTreeSet;

use measure::event::{FlowOpened, TimeKind, Why};
use measure::topology::Role;
use record::{PathRun, RunFile};
pub use units::received::{odd, plain, unseen};

/// Label of a time kind, as it stands beside every latency.
pub fn time_label(time: TimeKind) -> &'static str {
    match time {
        TimeKind::HalfRoundTrip => "RTT/2",
        TimeKind::RoundTrip => "RTT",
        TimeKind::OneWay => "one way",
        TimeKind::Exchange => "exchange",
        TimeKind::Transaction => "transaction",
        TimeKind::Copy => "copy",
        TimeKind::Spacing => "spacing of transfers",
        TimeKind::Answer => "an answer",
        TimeKind::Completion => "completion",
        TimeKind::Delivery => "one way to the slowest member",
        TimeKind::Round => "a round of all members",
        TimeKind::Slowest => "slowest member",
    }
}

/// Names of at most `most` characters each, for the ends of lines: their beginnings, and where these would not tell them apart what they begin and end with.
pub fn shortened(names: &[&str], most: usize) -> Vec<String> {
    let cut = |name: &str, tail: usize| {
        let length = name.chars().count();
        if length <= most {
            return name.to_owned();
        }
        let head: String = name.chars().take(most - 1 - tail).collect();
        format!("{head}…{}", name.chars().skip(length - tail).collect::<String>())
    };
    let cut = |tail| names.iter().map(|name| cut(name, tail)).collect::<Vec<_>>();
    let beginnings = cut(0);
    let kinds = |of: &[String]| of.iter().collect::<BTreeSet<_>>().len();
    if kinds(&beginnings) == names.iter().collect::<BTreeSet<_>>().len() { beginnings } else { cut(most / 2) }
}

/// A mean rate: transactions a second, in one form everywhere. Whole numbers where they are large.
pub fn mean_rate(rate: f64) -> String {
    if (100.0..1e15).contains(&rate) {
        format!("{}/s", units::thousands(rate.round() as u64))
    } else {
        format!("{rate:.2}/s")
    }
}

/// Why a point ended, in a word or two.
pub fn why_label(why: Option<Why>) -> &'static str {
    match why {
        Some(Why::Precision) => "precise",
        Some(Why::Budget) => "budget spent",
        Some(Why::Trials) => "trials done",
        Some(Why::Stopped) => "stopped",
        None => "cut off",
    }
}

/// The letter by which a run is named among several: A to Z, then A2, B2, ...
pub fn letter(run: usize) -> String {
    let letter = char::from(b'A' + (run % 26) as u8);
    if run < 26 { letter.to_string() } else { format!("{letter}{}", run / 26 + 1) }
}

/// A path's name without its offered rate.
pub fn without_rate(opened: &measure::event::PathOpened) -> String {
    without(opened, &["offered="])
}

/// A path's name without its number of connections.
pub fn without_flows(opened: &measure::event::PathOpened) -> String {
    without(opened, &["flows=", "pairs=", "fan-in=", "fan-out="])
}

/// A path's name without an option at its end.
fn without(opened: &measure::event::PathOpened, options: &[&str]) -> String {
    let name = opened.name();
    let bare = |option: &&str| name.find(option).and_then(|at| name[..at].strip_suffix([':', ',']));
    options.iter().find_map(bare).unwrap_or(name).to_owned()
}

/// Where and how a run was measured, in one line: hosts, date, pattern, pinning, the CPU that others took.
pub fn run_line(run: &RunFile) -> String {
    let mut parts = vec![hosts(run)];
    parts.extend(date(&run.run.started));
    parts.push(run.run.plan.pattern_words());
    parts.push(pinning(run));
    parts.extend(run.run.plan.under_words());
    if let Some(share) = run.end.as_ref().and_then(|e| e.cpu_interference).filter(|s| s.is_finite()) {
        parts.push(format!("other processes took {} of one CPU", units::Share(share)));
    }
    if let Some(taken) = run.end.as_ref().and_then(|e| e.taken) {
        if taken.steal > 0.0 {
            parts.push(format!("the hypervisor kept {} of one CPU", units::Share(taken.steal)));
        }
        if let Some(times) = taken.throttled.filter(|n| *n > 0) {
            parts.push(format!("the CPU quota stopped it {times} times"));
        }
    }
    if run.cut.is_some() {
        parts.push("cut off before its end".to_owned());
    }
    plain(&parts.join(" · ")).replace('\n', " ")
}

/// The line of each of several runs: its letter, what of its command is not the others', and [`run_line`].
pub fn run_lines(runs: &[&RunFile]) -> Vec<String> {
    let commands: Vec<Vec<String>> = runs.iter().map(|run| without_versus(&run.run.command)).collect();
    let own = own_words(&commands.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let line = |(i, run): (usize, &&RunFile)| {
        let own = own.get(i).map_or(String::new(), |own| format!("{} · ", plain(own).replace('\n', " ")));
        format!("{}: {own}{}", letter(i), run_line(run))
    };
    match runs {
        [one] => vec![run_line(one)],
        several => several.iter().enumerate().map(line).collect(),
    }
}

/// A command without the program and what it was compared with (`--vs`), which is the other side's own.
fn without_versus(command: &[String]) -> Vec<String> {
    let mut words = command.iter().skip(1);
    let mut left = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--vs" => drop(words.next()),
            word if word.starts_with("--vs=") => {}
            _ => left.push(word.clone()),
        }
    }
    left
}

/// Most characters of a command that are told.
const TOLD: usize = 100;

/// What each of several commands has that not all have, at the places where they begin to differ and end to: `--wait spin`, and `without that` of
/// one that has nothing more. Empty where they are the same.
fn own_words(commands: &[&[String]]) -> Vec<String> {
    let Some((first, others)) = commands.split_first() else { return Vec::new() };
    let alike = |end: bool| {
        let at = |words: &[String], i: usize| {
            if end { words.iter().rev().nth(i).cloned() } else { words.get(i).cloned() }
        };
        (0..first.len()).take_while(|i| others.iter().all(|words| at(words, *i) == at(first, *i))).count()
    };
    let mut from = alike(false);
    // A flag stays with its value.
    while from > 0 && first.get(from - 1).is_some_and(|word| word.starts_with('-') && !word.contains('=')) {
        from -= 1;
    }
    let shortest = commands.iter().map(|words| words.len()).min().unwrap_or(0);
    let behind = alike(true).min(shortest.saturating_sub(from));
    let own: Vec<String> = commands.iter().map(|words| words[from..words.len() - behind].join(" ")).collect();
    if own.iter().all(String::is_empty) {
        return Vec::new();
    }
    let told = |own: String| match own.char_indices().nth(TOLD) {
        _ if own.is_empty() => "without that".to_owned(),
        Some((end, _)) => format!("{}...", &own[..end]),
        None => own,
    };
    own.into_iter().map(told).collect()
}

/// Which CPUs the two sides were bound to, as each reports it, which may differ from what was asked for.
pub fn pinning(run: &RunFile) -> String {
    let far = run.paths.iter().find_map(|p| p.opened.far.as_ref());
    if let Some(spread) = spread(run) {
        return spread;
    }
    match (run.run.near.pinned, far.map(|far| far.pinned)) {
        (Some(near), Some(Some(far))) => format!("pinned to CPUs {near} and {far}"),
        (Some(near), Some(None)) => format!("pinned to CPU {near}, the far side not pinned"),
        (None, Some(Some(far))) => format!("not pinned, the far side pinned to CPU {far}"),
        // One process, or no path was opened.
        (Some(near), None) => format!("pinned to CPU {near}"),
        (None, _) => "not pinned".to_owned(),
    }
}

/// The same where the threads of several flows keep to more CPUs than two.
fn spread(run: &RunFile) -> Option<String> {
    let flows = || run.paths.iter().flat_map(|path| &path.opened.flows);
    let each = |of: fn(&FlowOpened) -> Option<u32>| {
        let mut cpus: Vec<u32> = flows().filter_map(of).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    };
    let (near, far) = (each(|flow| flow.near_cpu), each(|flow| flow.far_cpu));
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let plan = &run.run.plan;
    let numbers = || run.paths.iter().map(|path| path.opened.path);
    let one = numbers().find(|path| plan.topology(*path).has_members()).map_or("flow", |path| plan.one(path));
    (near.len() > 1 || far.len() > 1)
        .then(|| format!("each {one} pinned, to CPUs {} and, on the far side, {}", list(&near), list(&far)))
}

/// Whether both processes of a path were kept to one CPU, where each runs only while the other does not: by their pins, or by whoever started them, of
/// which the run warned.
pub fn on_one_cpu(run: &RunFile, path: &PathRun) -> bool {
    if run.warnings.iter().any(|w| w.code == "one-cpu" && w.path == Some(path.opened.path)) {
        return true;
    }
    let near = &run.run.near;
    let far = path.opened.far.as_ref();
    far.is_some_and(|far| {
        near.pinned.is_some() && near.pinned == far.pinned && !near.hostname.is_empty() && near.hostname == far.hostname
    })
}

/// The near host, or those of near processes where they are on others, and the far ones where they are others.
pub fn hosts(run: &RunFile) -> String {
    let name = |n: &str| if n.is_empty() { "unnamed host".to_owned() } else { n.to_owned() };
    let of_members = |role: Role| {
        let members = run.paths.iter().flat_map(|path| &path.opened.members);
        let mut found: Vec<&str> = Vec::new();
        for one in members.filter(|one| one.role == role && !one.host.is_empty()) {
            if !found.contains(&&*one.host) {
                found.push(&one.host);
            }
        }
        (!found.is_empty()).then(|| found.join(", "))
    };
    let near = of_members(Role::Near).unwrap_or_else(|| name(&run.run.near.hostname));
    let one = run.paths.iter().find_map(|p| p.opened.far.as_ref()).map(|e| name(&e.hostname));
    match one.map(|one| of_members(Role::Far).unwrap_or(one)) {
        Some(far) if far != near => format!("{near} to {far}"),
        _ => near,
    }
}

/// `2026-11-21 21:10 UTC` from an RFC 3339 time; as it stands if it is not one.
pub fn date(started: &str) -> Option<String> {
    if started.is_empty() {
        return None;
    }
    let bytes = started.as_bytes();
    let plain = started.is_ascii() && bytes.len() >= 16 && bytes[10] == b'T' && bytes[13] == b':';
    Some(if plain { format!("{} {} UTC", &started[..10], &started[11..16]) } else { started.to_owned() })
}

/// A command line for a shell: words with other than plain characters are quoted.
pub fn command(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./@%+:,=-".contains(c);
    let word = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_cut_stay_apart() {
        let long = ["strata:stack=FRAG:NAK:COM:udp", "strata:stack=FRAG:NAK:COM:shm", "tcp"];
        assert_eq!(shortened(&long, 18), ["strata:s…K:COM:udp", "strata:s…K:COM:shm", "tcp"]);
        assert_eq!(shortened(&[long[0], "tcp"], 18), ["strata:stack=FRAG…", "tcp"]);
        assert_eq!(shortened(&[long[0], long[0]], 40), [long[0], long[0]]);
        assert_eq!(shortened(&["µµµµ1", "µµµµ2"], 4), ["µ…µ1", "µ…µ2"]);
    }

    #[test]
    fn each_of_several_runs_says_what_of_its_command_is_its_own() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let own = |commands: &[&str]| {
            let all: Vec<Vec<String>> = commands.iter().map(|text| words(text)).collect();
            own_words(&all.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        assert_eq!(own(&["run tcp -o a", "run tcp -o a --wait spin"]), ["without that", "--wait spin"]);
        assert_eq!(own(&["run tcp --wait block -o a", "run tcp --wait spin -o a"]), ["--wait block", "--wait spin"]);
        assert_eq!(own(&["run tcp -o a", "run unix -o a"]), ["tcp", "unix"]);
        assert_eq!(own(&["run tcp", "run tcp"]), [""; 0]);
        assert_eq!(own(&[]), [""; 0]);
        let asked = ["pipegauge", "run", "tcp", "--vs", "--wait spin", "-o", "a"].map(str::to_owned);
        assert_eq!(without_versus(&asked), ["run", "tcp", "-o", "a"]);
        assert!(own(&["run tcp", &format!("run {}", "x".repeat(500))])[1].len() < 110);
    }

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["run", "--near-under", "env A='x y'", "--vs", "", "a*2"].map(str::to_owned);
        assert_eq!(command(&words), r"run --near-under 'env A='\''x y'\''' --vs '' 'a*2'");
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!((letter(0), letter(25), letter(26)), ("A".into(), "Z".into(), "A2".into()));
    }

    #[test]
    fn pinning_is_what_each_side_says_of_itself() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1], 1, 7);
        run.run.plan.pin = Some((0, 7));
        assert_eq!(pinning(&run), "pinned to CPUs 0 and 1");
        assert!(!on_one_cpu(&run, &run.paths[0]));
        let far = run.paths[0].opened.far.as_mut().unwrap();
        (far.pinned, far.hostname) = (Some(0), run.run.near.hostname.clone());
        assert!(on_one_cpu(&run, &run.paths[0]));
        run.paths[0].opened.far.as_mut().unwrap().hostname = "another".into();
        assert!(!on_one_cpu(&run, &run.paths[0]), "CPUs 0 of two hosts");
        run.paths[0].opened.far.as_mut().unwrap().pinned = None;
        assert_eq!(pinning(&run), "pinned to CPU 0, the far side not pinned");
        run.run.near.pinned = None;
        assert_eq!(pinning(&run), "not pinned");
        run.paths[0].opened.far.as_mut().unwrap().pinned = Some(3);
        assert_eq!(pinning(&run), "not pinned, the far side pinned to CPU 3");
        run.paths.clear();
        run.run.near.pinned = Some(2);
        assert_eq!(pinning(&run), "pinned to CPU 2");
    }

    #[test]
    fn what_others_took_is_told_of_one_cpu() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1], 1, 7);
        let taken = Some(host::Taken { steal: 0.25, ..host::Taken::default() });
        run.end = Some(measure::event::End { at: 1.0, error: None, cpu_interference: Some(1.061), taken });
        let line = run_line(&run);
        assert!(
            line.contains("other processes took 106.1% of one CPU · the hypervisor kept 25.0% of one CPU"),
            "{line}"
        );
    }

    #[test]
    fn dates_are_short_and_odd_ones_stay() {
        assert_eq!(date("2026-11-21T21:10:33Z").as_deref(), Some("2026-11-21 21:10 UTC"));
        assert_eq!(date("yesterday").as_deref(), Some("yesterday"));
        assert_eq!(date(""), None);
    }
}
