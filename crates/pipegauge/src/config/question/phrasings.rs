//! Questions as people put them, and how each is read: the contract of the grammar.

mod again;
mod answered;
mod compared;
mod judged;
mod misread;
mod newcomer;
mod people;
mod readings;
mod refusals;
mod review;
mod sceptics;
mod strangers;
mod work;

use self::readings::READ;
use self::refusals::REFUSED;
use super::{Measured, of_words};

/// The paths that the table is about.
fn measured() -> Measured {
    let mut measured = Measured::default();
    measured.add("a.run.jsonl", ["memcpy", "pipe", "shm", "unix", "tcp"].map(|t| (t, t)).into_iter());
    measured
}

/// A question, and what is expected of it.
type Pair = (&'static str, &'static str);

fn all_read() -> impl Iterator<Item = &'static Pair> {
    [
        READ,
        review::READ,
        people::READ,
        strangers::READ,
        compared::READ,
        again::READ,
        newcomer::READ,
        work::READ,
        judged::READ,
        sceptics::READ,
        answered::READ,
        misread::READ,
    ]
    .into_iter()
    .flatten()
}

fn all_refused() -> impl Iterator<Item = &'static Pair> {
    [
        REFUSED,
        review::REFUSED,
        people::REFUSED,
        strangers::REFUSED,
        compared::REFUSED,
        again::REFUSED,
        work::REFUSED,
        judged::REFUSED,
        sceptics::REFUSED,
        answered::REFUSED,
        misread::REFUSED,
    ]
    .into_iter()
    .flatten()
}

/// Fails unless `least` were tried or more, and nothing is wrong with any of them.
fn none_is_wrong(least: usize, tried: impl Iterator<Item = Option<String>>) {
    let tried: Vec<Option<String>> = tried.collect();
    let wrong: Vec<&str> = tried.iter().flatten().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), tried.len(), wrong.join("\n"));
    assert!(tried.len() >= least, "only {} were tried", tried.len());
}

fn read(text: &str) -> Result<String, String> {
    let measured = measured();
    let reading = of_words(text, &measured).map_err(|e| e.to_string())?;
    let all: Vec<String> = (0..reading.questions.len()).map(|n| reading.says(n, &measured)).collect();
    Ok(all.join(" + "))
}

#[test]
fn phrasings_are_read_as_they_are_meant() {
    let wrong = all_read().map(|(text, want)| {
        let found = read(text);
        (found.as_deref() != Ok(*want)).then(|| format!("{text}\n  meant: {want}\n  read:  {found:?}"))
    });
    none_is_wrong(1000, wrong);
}

#[test]
fn what_is_echoed_is_read_as_itself() {
    let wrong = all_read().flat_map(|(_, want)| want.split(" + ")).map(|echo| {
        let found = read(echo);
        (found.as_deref() != Ok(echo)).then(|| format!("{echo}\n  read: {found:?}"))
    });
    none_is_wrong(1000, wrong);
}

/// What an error offers instead, in quotes: more than two words that are not the question's own.
fn offered(error: &str, text: &str) -> Vec<String> {
    let own = format!("'{}'", super::suggest::shown(text));
    let rest = error.replace(&own, "").replace("n't", "not");
    let known = rest.split('\n').next().unwrap_or("");
    let words = |q: &&str| q.split_whitespace().count() > 2;
    known.split('\'').skip(1).step_by(2).filter(words).map(str::to_owned).collect()
}

#[test]
fn what_a_refusal_offers_is_read() {
    let offers = all_refused()
        .flat_map(|(text, _)| offered(&read(text).unwrap_err(), text).into_iter().map(move |near| (text, near)));
    let wrong =
        offers.map(|(text, near)| read(&near).err().map(|why| format!("{text}\n  offered: {near}\n  {why:.120}")));
    none_is_wrong(100, wrong);
    let known = super::known();
    let known = known.lines().flat_map(|l| l.split("  ")).map(str::trim).filter(|f| f.ends_with('?'));
    none_is_wrong(20, known.map(|known| read(known).err().map(|why| format!("{known}: {why}"))));
}

#[test]
fn what_cannot_be_read_is_refused_with_what_was_found() {
    let wrong = all_refused().map(|(text, want)| {
        let found = read(text);
        let right = found.as_ref().is_err_and(|e| e.contains(want) && e.contains(text));
        (!right).then(|| format!("{text}\n  wanted: {want}\n  said:   {found:?}"))
    });
    none_is_wrong(300, wrong);
}

#[test]
fn what_could_be_meant_otherwise_or_was_not_read_is_said() {
    for (text, want) in [
        ("4K video at 60 fps uncompressed", "24 bit is 24,883,200 B uncompressed, which is assumed"),
        ("how many 1 KB messages per second", "powers of 1000"),
        ("can tcp do 10 Gbps", "b in a rate is read as bits"),
        ("how long for 1MB over tcp from laptop to server", "not read: 'laptop', 'server'"),
        ("send 10 things of 1 MB each in 1 ms", "not read: 'things'"),
        ("slowest path for 1 kB", "the slowest is the last"),
        ("can tcp do 10 gigabit", "taken as bits a second"),
        ("latency of a cache line", "a cache line is taken as 64 B"),
        ("how long to load a 2 MB web page", "a web page is taken as one message"),
        ("average bandwidth", "no mean is kept of this"),
        ("how many megabits can I push", "taken as so many a second"),
        ("what is the latency beyond 64 KiB over tcp", "told of the size itself"),
        ("1000 sensors sending 100 bytes each second", "all of them are taken to send over the one connection"),
        ("which path needs the most cpu at 1 MiB", "the one that costs most is the last"),
        ("12 megapixel photo", "12,000,000 pixels of 24 bit is 36,000,000 B uncompressed, which is assumed"),
        ("how long for a jumbo frame of 9000 bytes", "whatever packets it went in"),
        ("is 64 KiB within 10% of the bandwidth", "from which 90% or not is read off"),
        ("which sizes arrive between 15 us and 25 us", "told of both ends"),
    ] {
        let notes = of_words(text, &measured()).unwrap_or_else(|e| panic!("{text}: {e}")).notes.join("; ");
        assert!(notes.contains(want), "{text}: {notes}");
    }
}

#[test]
fn what_is_clear_has_no_note() {
    for text in
        ["how long does 1 MiB take over tcp", "how long does 1 MiB take over shared memory", "1 MiB takes over unix"]
    {
        let notes = of_words(text, &measured()).unwrap_or_else(|e| panic!("{text}: {e}")).notes;
        assert!(notes.is_empty(), "{text}: {notes:?}");
    }
}

#[test]
fn a_rate_is_asked_for_in_its_unit() {
    for (text, want) in [
        ("how many MB/s does tcp give with 64 KiB messages", Some(("MB/s", 1.0, 8e6))),
        ("how many Mbit/s with 64 KiB messages", Some(("Mbit/s", 1.0, 1e6))),
        ("how many gigabits per second can shm do", Some(("Gbit", 1.0, 1e9))),
        ("how many bytes per second does unix move", Some(("B", 1.0, 8.0))),
        ("how many GB per hour over tcp", Some(("GB", 3600.0, 8e9 / 3600.0))),
        ("what is the bandwidth of tcp in GiB/s", Some(("GiB/s", 1.0, 8.0 * 1_073_741_824.0))),
        ("what is the bandwidth", None),
    ] {
        let found = of_words(text, &measured()).unwrap_or_else(|e| panic!("{text}: {e}")).in_unit;
        assert_eq!(found.map(|u| (u.unit, u.span, u.bits)), want, "{text}");
    }
}

/// Paths with labels of their own, one of them a word of many a question.
fn labelled() -> Measured {
    let mut measured = Measured::default();
    let paths = [("eth", "theory"), ("ib", "theory"), ("a", "theory"), ("b", "theory")];
    measured.add("x.run.jsonl", paths.into_iter());
    measured.typed("eth", "theory:latency=30us".to_owned());
    measured.smallest = Some(1);
    measured
}

#[test]
fn a_refusal_offers_a_command_that_runs() {
    let measured = labelled();
    let refused = |text: &str| of_words(text, &measured).map_or_else(|e| e.to_string(), |r| r.says(0, &measured));
    for (text, command) in [
        ("bandwidth of eth with 2 flows", "pipegauge run theory:latency=30us --flows 2 measures it"),
        (
            "how long to send 1 KB and get 100 bytes back over eth",
            "pipegauge run theory:latency=30us --pattern request",
        ),
        ("bandwidth of ib with 2 flows", "pipegauge run theory --flows 2 measures it"),
    ] {
        assert!(refused(text).contains(command), "{text}: {}", refused(text));
    }
}

#[test]
fn labels_are_read_where_they_are_meant() {
    let measured = labelled();
    let read = |text: &str| {
        let reading = of_words(text, &measured).map_err(|e| e.to_string())?;
        Ok((0..reading.questions.len()).map(|n| reading.says(n, &measured)).collect::<Vec<_>>().join(" + "))
    };
    for (text, want) in [
        ("how long for a 64 byte message", "arrival of 64 B, over all paths"),
        ("how long does a 1 KB message take over b", "arrival of 1 kB (1,000 B), over b"),
        ("latency of a small message over a", "arrival of small messages, path by path, over a"),
        ("how long does a message of 64 B take over a", "arrival of 64 B, over a"),
        ("latency of a at 64 B", "arrival of 64 B, over a"),
        ("is a faster than b at 64 B", "a held against b, at 64 B"),
        ("a vs b", "a held against b"),
        ("how much does a cost over b", "a held against b"),
        ("max latency a", "longest seen of the times of single messages of the smallest size, over a"),
        (
            "how often is a above 30 us",
            "which share of single messages of the smallest size takes longer than 30.0 us, over a",
        ),
        ("does 1 KB on a stay under 40 us", "whether 1 kB (1,000 B) arrives within 40.0 us, over a"),
        ("p99 of a 64 byte message over a", "p99 of the times of single messages of 64 B, over a"),
        ("eth/ib at 1 KB", "arrival of 1 kB (1,000 B), over eth, ib"),
        ("eth/b crossover", "the size from which on one is faster: eth or b"),
        ("what size reaches 90% of eth's peak", "the size that reaches 90.0% of the most throughput, over eth"),
        ("how long does 1 MB take in theory over eth", "arrival of 1 MB (1,000,000 B), over eth"),
        ("is ib the fastest path for 1 KB", "the fastest path for 1 kB (1,000 B), over all paths"),
        ("is ib the path with the lowest latency", "the fastest path for 1 B, over all paths"),
        ("is ib the fastest", "the fastest path for 1 B, over all paths + the path of most throughput, over all paths"),
        ("is eth really faster than ib under 16 bytes", "eth held against ib, at 16 B"),
    ] {
        let found: Result<String, String> = read(text);
        assert_eq!(found.as_deref(), Ok(want), "{text}");
    }
    let notes = |text: &str| of_words(text, &measured).map(|r| r.notes.join("; ")).unwrap_or_else(|e| e.to_string());
    for (text, note) in [
        ("is ib the fastest path for 1 KB", "ib is the one if it stands first"),
        ("is eth the slowest path at 1 KB", "eth is the one if it stands last"),
        ("does eth take the longest for 1 MB", "eth is the one if it stands last"),
        ("does eth have the highest latency", "eth is the one if it stands last"),
        ("does eth have the highest bandwidth", "eth is the one if it stands first"),
        ("is eth really faster than ib under 16 bytes", "told of the size itself"),
        ("more than 100 messages of 1 KB over eth", "told of the number itself"),
        ("is the overhead of eth at 1 KB bigger than 50%", "from which 50% or not is read off"),
        ("do 4 KB messages reach half the bandwidth of eth", "from which half or not is read off"),
        ("is latency under load at 1 KB below 200 us", "from which 200 us or not is read off"),
    ] {
        assert!(notes(text).contains(note), "{text}: {}", notes(text));
    }
}

#[test]
fn two_paths_have_one_other_to_cross_with() {
    let mut measured = Measured::default();
    measured.add("x.run.jsonl", [("a", "theory"), ("b", "theory")].into_iter());
    let says = |text: &str, measured: &Measured| {
        of_words(text, measured).map(|r| r.says(0, measured)).unwrap_or_else(|e| e.to_string())
    };
    for text in ["from what size is b better", "after what size does b win", "until which size is b faster"] {
        assert_eq!(says(text, &measured), "the size from which on one is faster: b or a", "{text}");
    }
    measured.pattern("request");
    let one_way = says("one way time of 1 KB", &measured);
    assert!(one_way.contains("from which no way alone follows"), "{one_way}");
}

#[test]
fn a_size_is_asked_for_in_its_unit() {
    for (text, want) in [
        ("how many MB in 1 s over tcp", Some("MB")),
        ("how big can a message be in bytes for 1 ms over tcp", Some("B")),
        ("n1/2 of tcp in KB", Some("kB")),
        ("which size saturates tcp in KiB", Some("KiB")),
        ("how much data in 1 ms", None),
        ("bandwidth of tcp in MB/s", None),
    ] {
        let reading = of_words(text, &measured()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(reading.in_size.map(|unit| unit.unit), want, "{text}");
        assert!(!reading.notes.join("; ").contains("not read"), "{text}: {:?}", reading.notes);
    }
}

#[test]
fn hostile_questions_are_refused_in_plain_and_short_words() {
    let long = format!("how long for {} bytes", "9".repeat(30_000));
    let words = "tcp ".repeat(7_500);
    let digits = format!("how long for {} bytes", "9".repeat(400));
    for text in [
        "",
        " ",
        "?",
        "???",
        "\u{1b}[31mred",
        "how long for 1 \u{202e}KB",
        "\0",
        "a\nb\tc",
        "\u{1f600}",
        "\u{1f600} 64KiB",
        "0x10 bytes",
        "how long for 1e999 bytes",
        "how long for \u{661}\u{662} bytes",
        "1e30 frames per second of 1e30 bytes",
        "99999999999999999999 messages of 1 KiB",
        "p",
        "p1e9",
        "p99999 of 1 B",
        "999999999999999999999x999999999999999999999 at 60 fps",
        "4:2:0",
        "/",
        "//s",
        "'s",
        "1'",
        "-",
        "--",
        "n1/",
        "5 /s",
        "half",
        "half a",
        "a million million million million million million million bytes",
        "1,",
        "1,000,00 bytes",
        "\u{fffd}\u{fffd}",
        "%s%n",
        "'; DROP TABLE paths; --",
        "tcp tcp tcp vs",
        "vs",
        "over",
        "over over over",
        "64KiB64KiB",
        "64KiB 64KiB",
        "1p1080",
        "8k",
        "k60",
        "1k60 video",
        "e9",
        "1.2.3 MB",
        "..5 MB",
        &long,
        &words,
        &digits,
    ] {
        // A few of these make a question; none may panic, and none may send a control character to a terminal.
        let said = match of_words(text, &measured()) {
            Ok(reading) => format!("{}{}", reading.says(0, &measured()), reading.notes.join("")),
            Err(e) => e.to_string(),
        };
        assert!(said.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')), "{text:?}: {said:?}");
        assert!(said.chars().count() < 4000, "{} characters", said.chars().count());
    }
    assert!(of_words(&long, &measured()).unwrap_err().to_string().contains("at most 500"));
}

#[test]
fn datagrams_are_counted_and_name_their_path() {
    let mut measured = Measured::default();
    measured.add("a.run.jsonl", ["udp", "tcp"].map(|t| (t, t)).into_iter());
    let says = |text: &str| of_words(text, &measured).map(|r| r.says(0, &measured)).unwrap_or_else(|e| e.to_string());
    assert_eq!(says("how many 500 byte datagrams per second"), "how many messages of 500 B a second, over udp");
    assert_eq!(
        says("can it do 1000 datagrams per second of 500 bytes"),
        "whether 1,000 messages of 500 B a second can be sustained, over udp"
    );
}

#[test]
fn run_files_tell_paths_of_one_name_apart() {
    let mut measured = Measured::default();
    measured.add("x/lan1.run.jsonl", ["tcp", "unix"].map(|t| (t, t)).into_iter());
    measured.add("a.run.jsonl", ["tcp"].map(|t| (t, t)).into_iter());
    let says = |text: &str| of_words(text, &measured).map(|r| r.says(0, &measured)).unwrap_or_else(|e| e.to_string());
    assert_eq!(says("latency of tcp in a.run.jsonl"), "latency: arrival of the smallest message, over tcp (a)");
    assert_eq!(says("bandwidth of lan1"), "the most throughput, over x/lan1");
    assert_eq!(says("tcp (lan1.run.jsonl) vs tcp (a.run.jsonl)"), "tcp (x/lan1) held against tcp (a)");
    assert!(says("latency of unix in a.run.jsonl").contains("unix (a) was not measured"));
    assert!(says("latency over shm").contains("the runs have: tcp (x/lan1), unix (x/lan1), tcp (a)"));
}

#[test]
fn a_path_and_the_runs_that_it_is_asked_of_may_stand_apart() {
    let mut measured = Measured::default();
    measured.add("t2.jsonl", ["tcp", "unix"].map(|t| (t, t)).into_iter());
    measured.add("t3.jsonl", ["tcp", "unix"].map(|t| (t, t)).into_iter());
    let read = |text: &str| {
        let reading = of_words(text, &measured).map_err(|e| e.to_string())?;
        Ok((0..reading.questions.len()).map(|n| reading.says(n, &measured)).collect::<Vec<_>>().join(" + "))
    };
    // Was read as the control messages of tcp, of t2 and of t3.
    let both = "tcp (t2.jsonl) held against tcp (t3.jsonl)";
    for (text, want) in [
        ("is tcp faster in t2 than in t3", both),
        ("is tcp in t2 faster than in t3", both),
        ("is tcp in t2 faster than tcp in t3", both),
        ("is t2 faster than t3 over tcp", both),
        ("is unix faster than tcp in t2", "unix (t2.jsonl) held against tcp (t2.jsonl)"),
        ("is tcp faster in t2 than in t3 at 64 KiB", "tcp (t2.jsonl) held against tcp (t3.jsonl), at 64 KiB"),
        ("in t3, how long does 1 KiB take over tcp", "arrival of 1 KiB, over tcp (t3.jsonl)"),
    ] {
        let found: Result<String, String> = read(text);
        assert_eq!(found.as_deref(), Ok(want), "{text}");
    }
    let refused: Result<String, String> = read("is unix or tcp faster in t2 than in t3");
    assert!(refused.as_ref().is_err_and(|e| e.contains("which path of which run?")), "{refused:?}");
}
