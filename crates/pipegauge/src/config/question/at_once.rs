//! What a question asks of several transfers at once, or supposes; and two questions in one.

use anyhow::{Error, Result, anyhow, bail};
use measure::{Pattern, Topology};
use transport::{Ends, registry};

use super::amounts::Amount;
use super::lexicon::Topic::{self, *};
use super::names::{Measured, Named};
use super::sentence::{Item, Sentence};
use super::suggest::shown;

/// What works at once, as people count it: "4 connections", "2 pairs", "3 processes".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Connections,
    Pairs,
    Processes,
}

impl What {
    /// Whether a path whose connections share processes so has so many of these.
    fn is(self, topology: Topology) -> bool {
        match self {
            What::Connections => true,
            What::Pairs => topology == Topology::Pairs,
            What::Processes => topology.has_members(),
        }
    }

    /// So many of them in words, and the flag of `run` that has them.
    fn told(self, number: u64) -> (String, &'static str) {
        let (one, flag) = match self {
            What::Connections => ("connection", "--flows"),
            What::Pairs => ("pair", "--pairs"),
            What::Processes => ("process", "--pairs"),
        };
        let end = if number == 1 {
            ""
        } else if one.ends_with('s') {
            "es"
        } else {
            "s"
        };
        (format!("{number} {one}{end}"), flag)
    }
}

/// Reads "with 4 connections", "2 pairs", "in parallel": as the paths of so many, where the runs have such, else as what no run of one
/// connection tells.
pub fn of(text: &str, sentence: &mut Sentence, measured: &Measured) -> Result<()> {
    in_one_go(sentence);
    each_of_a_rate(text, sentence);
    // "does sending both ways slow it down", "full duplex vs one way": of one path, the one against the other.
    let ways = sentence.any(&[BothWays, OneWay])
        && sentence.any(&[Versus, Cost, Slower, Slowest, Beats])
        && sentence.paths().len() < 2;
    let other = sentence.has(BothWays) && (sentence.has(OneWay) || !sentence.has(Direction));
    if ways && other {
        bail!(
            "'{}': what both directions at once cost over one follows from two runs: pipegauge run PATH --pattern stream, once with --both and \
             once without, and pipegauge compare holds them against each other",
            shown(text)
        );
    }
    if sentence.has(OneWay)
        && !measured.both.is_empty()
        && measured.both.len() >= measured.files.len()
        && !sentence.has(BothWays)
    {
        bail!(
            "'{}': in these runs messages went both ways at once, and what one direction carries alone does not follow from that: \
             pipegauge run PATH --pattern stream measures it",
            shown(text)
        );
    }
    // A request and its answer are timed together.
    if sentence.has(OneWay)
        && !sentence.any(&[BothWays, Throughput])
        && !measured.patterns.is_empty()
        && measured.patterns.iter().all(|pattern| *pattern == Pattern::Request.name())
    {
        bail!(
            "'{}': these runs timed requests with their answers, from which no way alone follows: pipegauge run PATH (ping-pong) has half of a \
             round trip, and of these ask for the round trip ('round trip of 64 bytes')",
            shown(text)
        );
    }
    if sentence.has(BothWays) {
        if measured.both.is_empty() {
            bail!(
                "'{}': in these runs messages went one way at a time, and what both directions carry at once does not follow from that: \
                 pipegauge run PATH --pattern stream --both measures it, and ask answers from its run file",
                shown(text)
            );
        }
        if sentence.has(Direction) {
            // "which direction is slower": what each carries tells it.
            sentence.items.retain(|i| !matches!(i, Item::Topics(_)));
        }
        // All that was measured there is of both directions: nothing more is meant by the words.
        sentence.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&BothWays) || t.contains(&AtOnce)));
        // "how much in each direction" names nothing else: it asks for what directions carry.
        if !sentence.items.iter().any(|i| matches!(i, Item::Topics(t) if t.iter().any(|t| !matches!(t, HowMuch)))) {
            sentence.items.push(Item::Topics(vec![Throughput]));
        }
    }
    // Of a run with loads "with 2 flows of load" is of what it takes under load.
    if !measured.loaded.is_empty() && sentence.has(Load) && sentence.has(AtOnce) {
        sentence.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&AtOnce) || t.contains(&Load)));
        sentence.items.retain(|i| !matches!(i, Item::Amount(Amount::Count(_))));
        sentence.items.push(Item::Topics(vec![UnderLoad]));
        return Ok(());
    }
    // "how much does each of four flows get"
    if text.to_lowercase().contains("each of") && counted(sentence).is_some() {
        bail!(
            "'{}': pipegauge show RUN tells what the slowest and the fastest of several flows carry, and their fairness; of all of them together ask \
             'the most throughput', naming their path",
            shown(text)
        );
    }
    let mut several: Vec<Vec<Named>> = Vec::new();
    let named = sentence.paths();
    while let Some((at, number, what)) = counted(sentence) {
        let found = found(sentence, &named, measured, Some((number, what)));
        sentence.items.drain(at..at + 2);
        if found.is_empty() && number == 1 {
            // One of them is what every run of one connection has; of a run of several it is the path of one: "4 flows vs 1 flow".
            let any = of_any(sentence, &named, measured);
            let one = single(&any, measured);
            if !one.is_empty() {
                sentence.items.splice(at..at, one.iter().cloned().map(Item::Path));
                several.push(one);
            }
            continue;
        }
        if found.is_empty() {
            return Err(lacks(text, sentence, measured, Some((number, what))));
        }
        // Of several numbers each stands for its own path.
        if counted(sentence).is_some() || !several.is_empty() {
            sentence.items.splice(at..at, found.iter().cloned().map(Item::Path));
        }
        several.push(found);
    }
    // "how many processes" and "between processes" count none.
    let at_once = sentence.has(AtOnce);
    match &several[..] {
        [] if !at_once => return Ok(()),
        [] => {
            let mut found = found(sentence, &named, measured, None);
            // "which number of flows is best": one is a number, too.
            if sentence.has(HowMany) && sentence.any(&[Which, Fastest, Most]) && !sentence.any(&[Messages, PerSecond]) {
                found.extend(single(&found, measured));
            }
            if found.is_empty() {
                return Err(lacks(text, sentence, measured, None));
            }
            only(sentence, found);
        }
        [one] => {
            // "is it worth using 4 connections", "how much more do 4 flows carry": than one does.
            let held = sentence.any(&[Versus, Cost, Quicker, Slower, Beats, Above]) && named.is_empty();
            let beside = if held { single(one, measured) } else { Vec::new() };
            // "do four flows carry more than one"
            if held && !beside.is_empty() && !sentence.any(&[Versus, Cost]) {
                sentence.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&Above)));
                sentence.items.push(Item::Topics(vec![Versus]));
            }
            only(sentence, one.iter().cloned().chain(beside).collect());
        }
        _ => {}
    }
    sentence.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&AtOnce)));
    Ok(())
}

/// "how many users at 5 Mbit/s each" are streams of so much.
fn each_of_a_rate(text: &str, sentence: &mut Sentence) {
    let lower = text.to_lowercase();
    let each = lower.split(|c: char| !c.is_alphanumeric()).any(|word| word == "each");
    let rated = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Rate(_))));
    let is = |item: &Item, topic: Topic| matches!(item, Item::Topics(t) if t.contains(&topic));
    let many = sentence.items.windows(2).position(|two| is(&two[0], HowMany) && is(&two[1], AtOnce));
    if let Some(at) = many.filter(|_| each && rated) {
        sentence.items[at + 1] = Item::Topics(vec![Streams]);
    }
    // "how many 5 Mbit/s users"
    let amount = |i: &Item| matches!(i, Item::Amount(Amount::Rate(_)));
    let of = |w: &[Item]| is(&w[0], HowMany) && amount(&w[1]) && is(&w[2], AtOnce);
    if let Some(at) = sentence.items.windows(3).position(of) {
        sentence.items[at + 2] = Item::Topics(vec![Streams]);
    }
}

/// "how long for 10 MB at once" sends it as one; "5 connections at once" work beside each other.
fn in_one_go(sentence: &mut Sentence) {
    let sized = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Size(_))));
    let others = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Count(_)))) && !sentence.has(Messages);
    let one = sized && !others && !sentence.any(&[AtOnce, Connections, Pairs, Processes, HowMany]);
    for item in &mut sentence.items {
        if let Item::Topics(topics) = item
            && let Some(at) = topics.iter().position(|t| *t == InOneGo)
        {
            topics[at] = if one { Filler } else { AtOnce };
        }
    }
}

/// The paths that are asked about are these.
fn only(sentence: &mut Sentence, found: Vec<Named>) {
    sentence.items.retain(|i| !matches!(i, Item::Path(_)));
    sentence.items.extend(found.into_iter().map(Item::Path));
}

/// The paths of so many at once, of those that are named; of any number where none is said.
fn found(sentence: &Sentence, named: &[Named], measured: &Measured, counted: Option<(u64, What)>) -> Vec<Named> {
    let file = |at: usize| measured.file(at);
    let transport = |label: &str, at: usize| {
        measured.paths.iter().find(|(l, _, f)| l == label && *f == at).map_or("", |(_, transport, _)| transport)
    };
    let others = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Count(_))));
    let meant = |(label, at, flows, topology): &&(String, usize, u32, Topology)| {
        let number = match counted {
            Some((number, what)) => number == u64::from(topology.asked(*flows)) && what.is(*topology),
            None => *flows > 1 && !others,
        };
        number && (named.is_empty() || named.iter().any(|n| n.is(label, transport(label, *at), file(*at))))
    };
    (measured.at_once.iter().filter(meant))
        .map(|(label, at, ..)| Named { transport: Some(label.clone()), file: Some(file(*at).to_owned()) })
        .collect()
}

/// The paths of several at once, however many.
fn of_any(sentence: &Sentence, named: &[Named], measured: &Measured) -> Vec<Named> {
    let mut uncounted = sentence.clone();
    uncounted.items.retain(|i| !matches!(i, Item::Amount(Amount::Count(_))));
    found(&uncounted, named, measured, None)
}

/// The paths of one connection beside those of several.
fn single(several: &[Named], measured: &Measured) -> Vec<Named> {
    let transport = |label: &str| label.split(':').next().unwrap_or(label).to_owned();
    let one = |(label, _, at): &&(String, &'static str, usize)| {
        let beside = |n: &Named| {
            n.file.as_deref() == Some(measured.file(*at))
                && n.transport.as_deref().map(transport) == Some(transport(label))
        };
        several.iter().any(beside) && !measured.at_once.iter().any(|(l, f, ..)| l == label && f == at)
    };
    (measured.paths.iter().filter(one))
        .map(|(label, _, at)| Named { transport: Some(label.clone()), file: Some(measured.file(*at).to_owned()) })
        .collect()
}

/// The error for what no path of the runs does at once, with what they do and the run that would measure it.
fn lacks(text: &str, sentence: &Sentence, measured: &Measured, counted: Option<(u64, What)>) -> Error {
    let (number, what) = counted.unwrap_or((4, What::Connections));
    let (words, flag) = what.told(number.clamp(2, 128));
    // Members of a group are asked for as such.
    let topology = measured.at_once.iter().map(|(.., topology)| *topology).find(|t| what.is(*t));
    let flag = match topology.filter(|_| what == What::Processes) {
        Some(topology @ (Topology::FanIn | Topology::FanOut | Topology::Group)) => {
            format!("--topology {} {}", topology.name(), topology.flag())
        }
        _ => flag.to_owned(),
    };
    let named = sentence.paths().iter().find_map(|n| n.transport.clone());
    let path = named.or_else(|| usual(measured)).unwrap_or_else(|| "tcp".to_owned());
    let transport = measured.run_as(&path);
    let had: Vec<String> = (measured.at_once.iter())
        .map(|(label, _, flows, topology)| format!("{label} ({})", topology.counted(*flows)))
        .collect();
    let why = match had.is_empty() {
        true => "each path of these runs had one connection".to_owned(),
        false if counted.is_some() => {
            format!("no path that is asked about has {words} at once; the runs have: {}", had.join(", "))
        }
        false => format!("what is asked about is no path of several at once; the runs have: {}", had.join(", ")),
    };
    anyhow!(
        "'{}': {why}, and what several do at once does not follow from that: pipegauge run {transport} {flag} {} measures it, and ask answers \
         from its run file",
        shown(text),
        number.clamp(2, 128)
    )
}

/// The transport of all paths, where it joins two processes.
fn usual(measured: &Measured) -> Option<String> {
    let (_, first, _) = measured.paths.first()?;
    let alike = measured.paths.iter().all(|(_, transport, _)| transport == first);
    let two = registry::named(first).is_ok_and(|transport| transport.ends() == Ends::Two);
    (alike && two).then(|| (*first).to_owned())
}

/// How many connections, flows, pairs or processes work at once, and the place of their number: "with 4 connections", but not "10 connections a
/// second".
fn counted(sentence: &Sentence) -> Option<(usize, u64, What)> {
    let rated = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Rate(_))));
    let many = sentence.any(&[PerSecond, HowMany]);
    let what = |t: &Topic| match t {
        Pairs => Some(What::Pairs),
        Processes => Some(What::Processes),
        AtOnce => Some(What::Connections),
        // "how many messages a second with 2 connections" counts messages.
        Connections if !many || sentence.has(Messages) => Some(What::Connections),
        Streams if !many && !rated && !sentence.has(Sources) => Some(What::Connections),
        _ => None,
    };
    sentence.items.windows(2).enumerate().find_map(|(at, two)| match two {
        [Item::Amount(Amount::Count(n)), Item::Topics(t)] => Some((at, *n, t.iter().find_map(what)?)),
        _ => None,
    })
}

/// Whether something is supposed of a path that is not so: "if the network were twice as fast", but not "tell me if it is" or "if I use
/// tcp".
pub fn supposed(sentence: &Sentence) -> bool {
    let has = |item: &Item, of: &[Topic]| matches!(item, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
    sentence.items.iter().enumerate().any(|(at, item)| {
        let next = sentence.items[at + 1..].iter().find(|i| !has(i, &[Filler]) || has(i, &[Were]));
        has(item, &[Supposed])
            && (sentence.has(Were)
                || next.is_some_and(|i| has(i, &[Latency, RoundTrip, Throughput, Link, HowFast, Cpu])))
    })
}

/// Whether a text holds two questions: a mark with more behind it, or "and" before a word that begins a question.
pub fn two_questions(text: &str) -> bool {
    const BEGIN: [&str; 18] = [
        "what", "what's", "whats", "how", "which", "when", "is", "are", "can", "could", "does", "do", "will", "would",
        "why", "who", "should", "did",
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).collect();
    let joined = words.windows(2).any(|two| matches!(two[0], "and" | "also" | "then") && BEGIN.contains(&two[1]));
    let marked = text.split('?').skip(1).any(|rest| rest.chars().any(char::is_alphanumeric));
    joined || marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_questions_are_told_from_one_of_two_things() {
        for two in [
            "how long for 1 MB? and the p99?",
            "latency of tcp, and what is the bandwidth",
            "is it fast and can it do 1 Gbit/s",
        ] {
            assert!(two_questions(two), "{two}");
        }
        for one in [
            "latency and bandwidth of tcp??",
            "tcp and unix: which is faster?",
            "what is the most, and from which size?",
            "???",
        ] {
            assert!(!two_questions(one), "{one}");
        }
    }

    #[test]
    fn both_directions_are_asked_of_runs_that_measured_both() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", std::iter::once(("tcp", "tcp")));
        let says = |text: &str, measured: &Measured| {
            crate::config::question::of_words(text, measured)
                .map(|r| r.says(0, measured))
                .unwrap_or_else(|e| e.to_string())
        };
        let texts = [
            "throughput in both directions",
            "the most throughput both ways at once",
            "how much in each direction",
            "which direction is slower",
            "which direction is faster",
            "which direction is the fastest over tcp",
        ];
        for text in texts {
            assert!(says(text, &measured).contains("--pattern stream --both measures it"), "{}", says(text, &measured));
        }
        measured.both_ways();
        for text in texts {
            assert_eq!(says(text, &measured), "the most throughput, over tcp", "{text}");
        }
    }

    #[test]
    fn both_directions_are_held_against_one_by_two_runs() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp"), ("unix", "unix")].into_iter());
        measured.both_ways();
        let says = |text: &str| {
            crate::config::question::of_words(text, &measured)
                .map(|r| r.says(0, &measured))
                .unwrap_or_else(|e| e.to_string())
        };
        for text in [
            "does sending both ways slow it down",
            "full duplex vs one way",
            "does bidirectional traffic cost latency at 1 KiB",
            "duplex penalty at 64 KiB",
        ] {
            assert!(says(text).contains("once with --both and once without"), "{text}: {}", says(text));
        }
        assert!(says("how fast is it one way").contains("what one direction carries alone does not follow"));
        assert_eq!(says("bandwidth both directions together"), "the most throughput, over all paths");
        assert_eq!(says("is tcp faster than unix both ways"), "tcp held against unix");
    }

    #[test]
    fn paths_of_several_flows_answer_for_what_is_done_at_once() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp"), ("tcp:flows=4", "tcp"), ("unix", "unix")].into_iter());
        measured.flows("tcp", 1, Topology::Flows);
        measured.flows("tcp:flows=4", 4, Topology::Flows);
        let says = |text: &str| {
            crate::config::question::of_words(text, &measured)
                .map(|r| r.says(0, &measured))
                .unwrap_or_else(|e| e.to_string())
        };
        for text in ["bandwidth of tcp with 4 connections", "bandwidth in parallel", "bandwidth with 4 flows"] {
            assert_eq!(says(text), "the most throughput, over tcp:flows=4 (a)", "{text}");
        }
        assert!(says("bandwidth of tcp with 8 connections").contains("pipegauge run tcp --flows 8 measures it"));
        assert!(says("bandwidth of unix in parallel").contains("pipegauge run unix --flows 4 measures it"));
        let said = says("bandwidth of tcp with 8 connections");
        assert!(said.contains("the runs have: tcp:flows=4 (4 flows)") && !said.contains("one connection"), "{said}");
    }

    #[test]
    fn members_of_a_group_are_all_that_are_in_it() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", std::iter::once(("multicast", "multicast")));
        measured.flows("multicast", 2, Topology::Group);
        let says = |text: &str| {
            crate::config::question::of_words(text, &measured)
                .map(|r| r.says(0, &measured))
                .unwrap_or_else(|e| e.to_string())
        };
        assert!(
            says("bandwidth with 3 members").ends_with("over multicast (a)"),
            "{}",
            says("bandwidth with 3 members")
        );
        let other = says("bandwidth with 5 members");
        assert!(other.contains("run multicast --topology group --members 5 measures it"), "{other}");
    }

    #[test]
    fn several_flows_are_held_against_one() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp"), ("tcp:flows=4", "tcp")].into_iter());
        measured.flows("tcp:flows=4", 4, Topology::Flows);
        let says = |text: &str| {
            crate::config::question::of_words(text, &measured)
                .map(|r| r.says(0, &measured))
                .unwrap_or_else(|e| e.to_string())
        };
        assert_eq!(says("4 flows vs 1 flow"), "tcp:flows=4 (a) held against tcp (a)");
        assert_eq!(says("1 flow vs 4 flows"), "tcp (a) held against tcp:flows=4 (a)");
        assert_eq!(says("is it worth using 4 connections"), "tcp:flows=4 (a) held against tcp (a)");
        let more = "throughput of tcp:flows=4 (a) held against that of tcp (a)";
        assert_eq!(says("how much more bandwidth do 4 flows have than one"), more);
        assert_eq!(says("do four flows carry more than one"), more);
        assert!(says("how much does each of four flows get").contains("the slowest and the fastest of several flows"));
        let carried = "throughput with messages of 128 KiB, over tcp:flows=4 (a)";
        assert_eq!(says("how much do 4 connections carry at 128 KiB"), carried);
        let needed = "whether 20.0 Gbit/s can be carried, with messages of the best size, over all paths";
        assert_eq!(says("how many flows do I need for 20 Gbit/s"), needed);
        assert_eq!(says("bandwidth of 1 flow"), "the most throughput, over tcp (a)");
    }

    #[test]
    fn a_run_with_loads_tells_what_a_load_does() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp"), ("tcp:load=2", "tcp")].into_iter());
        measured.loaded("tcp:load=2");
        let says = |text: &str| {
            crate::config::question::of_words(text, &measured)
                .map(|r| r.says(0, &measured))
                .unwrap_or_else(|e| e.to_string())
        };
        for text in [
            "latency of tcp with 2 flows of load",
            "does load hurt latency",
            "what does a loaded path take compared with idle",
        ] {
            let said = says(text);
            assert!(said.starts_with("latency under load of the smallest size"), "{text}: {said}");
        }
        assert!(says("idle latency").ends_with("but tcp:load=2"), "{}", says("idle latency"));
    }

    #[test]
    fn pairs_and_processes_are_no_connections() {
        let mut measured = Measured::default();
        let paths =
            [("unix:flows=4", "unix"), ("unix:pairs=1", "unix"), ("unix:pairs=2", "unix"), ("unix:fan-in=3", "unix")];
        measured.add("a.run.jsonl", paths.into_iter());
        measured.flows("unix:flows=4", 4, Topology::Flows);
        measured.flows("unix:pairs=1", 1, Topology::Pairs);
        measured.flows("unix:pairs=2", 2, Topology::Pairs);
        measured.flows("unix:fan-in=3", 3, Topology::FanIn);
        let says = |text: &str| {
            crate::config::question::of_words(text, &measured)
                .map(|r| r.says(0, &measured))
                .unwrap_or_else(|e| e.to_string())
        };
        for (text, path) in [
            ("bandwidth with 2 pairs", "unix:pairs=2"),
            ("bandwidth with 2 processes in parallel", "unix:pairs=2"),
            ("total message rate with 2 pairs at 64 bytes", "unix:pairs=2"),
            ("bandwidth with 3 members", "unix:fan-in=3"),
            ("bandwidth of 1 pair", "unix:pairs=1"),
            ("bandwidth with 4 flows", "unix:flows=4"),
        ] {
            assert!(says(text).ends_with(&format!("over {path} (a)")), "{text}: {}", says(text));
        }
        for text in ["bandwidth with 4 pairs", "bandwidth with 4 processes", "latency in parallel with 4 processes"] {
            assert!(says(text).contains("run unix --pairs 4 measures it"), "{text}: {}", says(text));
        }
        assert_eq!(
            says("is it faster with 2 pairs than with 1 pair"),
            "unix:pairs=2 (a) held against unix:pairs=1 (a)"
        );
    }
}
