//! How a question is read, and what else can be typed.

use super::exact;
use crate::support::{Scratch, json};

#[test]
fn how_a_question_was_read_stands_with_its_answer() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let said = dir.run(&["ask", "a.run.jsonl", "how long for a 100 kB message to grandma"]);
    assert!(said.out.starts_with("read as: arrival of 100 kB (100,000 B), over theory\n"), "{said}");
    assert!(said.out.contains("(not read: 'grandma')"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "latency and bandwidth", "--arrive", "1KiB", "--json"]);
    let read: Vec<String> = json(&said.out)["answers"]
        .as_array()
        .unwrap_or_else(|| panic!("no answers: {said}"))
        .iter()
        .map(|a| a["read_as"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(read[0], "arrival of 1 KiB, over theory");
    assert!(read[1].starts_with("latency") && read[2].starts_with("the most throughput"), "{read:?}");
}

#[test]
fn what_cannot_be_read_is_refused_with_the_nearest_that_can() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let long = "x".repeat(30_000);
    for (text, words) in [
        ("64 foobytes", &["foobytes", "'bytes'"][..]),
        ("how long for 5 parsecs", &["parsecs"]),
        ("bandwith", &["'bandwidth' meant?"]),
        ("how long for 1,5 MB", &["1,5", "decimals"]),
        ("how long for 99999999999999999999 bytes", &["out of range"]),
        ("is theory faster than tcp", &["tcp was not measured", "theory"]),
        ("", &["no question"]),
        (&long, &["at most 500"]),
    ] {
        dir.run(&["ask", "a.run.jsonl", text]).refuses(words);
    }
    let said = dir.run(&["ask", "a.run.jsonl", "how long for 1 \u{1b}[31mKB"]);
    assert!(said.code() == 2 && !said.err.0.contains('\u{1b}'), "{said}");
}

#[test]
fn a_yes_is_that_of_what_was_asked() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    for (text, word) in [
        ("is theory latency above 30 us", "no: 1 B takes 10.0 us"),
        ("is theory latency above 5 us", "yes: 1 B takes 10.0 us"),
        ("is the bandwidth of theory less than 5 Gbit/s", "no: at 4 MiB it moves the most"),
        ("is the bandwidth of theory less than 50 Gbit/s", "yes: at 4 MiB it moves the most"),
        ("is theory slower than 5 Gbit/s", "no: at"),
        ("is theory at most 30 Gbit/s", "yes: at"),
        ("does it take more than 30 us to send 1 KiB", "no: 1 KiB takes"),
        ("does theory fail to reach 5 Gbit/s", "no: at"),
        ("does theory fall short of 50 Gbit/s", "yes: at"),
        ("is 50 Gbit/s impossible", "yes: at"),
        ("is 5 Gbit/s more than theory can do", "no: at"),
        ("does theory take at least 5 us for 1 KiB", "yes: 1 KiB takes"),
        ("is theory faster than 30 us", "yes: 1 B takes"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(&format!("theory: {word}")), "{text}: {said}");
    }
}

#[test]
fn what_is_offered_can_be_run() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    exact(&dir, "b.run.jsonl");
    let said = dir.run(&["ask", "a.run.jsonl", "b.run.jsonl", "theory in a.run.jsonl vs theory in b.run.jsonl"]);
    assert!(
        said.out.contains("to sharpen it: pipegauge run theory")
            && !said.out.contains("theory:latency=10us,rate=10Gbit/s,header=0B theory"),
        "{said}"
    );
    assert!(!said.out.contains("run theory theory"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "how long for 18446744073709551615 bytes"]);
    assert!(said.out.contains("--sizes 1073741824 --budget 30s"), "{said}");
    // What no command measures is not offered.
    let said = dir.run(&["ask", "a.run.jsonl", "can it sustain 2/s frames of 100GB"]);
    assert!(said.out.contains("not measured near that size\n"), "{said}");
}

#[test]
fn a_command_that_sharpens_keeps_what_made_the_run_and_one_size_tells_of_no_other() {
    let dir = Scratch::new();
    let made = ["--theory", "latency=25us,rate=1Gbit/s", "--pattern", "request", "--response", "99"];
    let said = dir
        .run(&[&["run", "theory", "--sizes", "64", "--no-html", "--quiet", "-o", "x.run.jsonl"][..], &made].concat());
    assert!(said.measured(), "{said}");
    let said = dir.run(&["ask", "x.run.jsonl", "how long for 64 B"]);
    let again = "run theory:latency=25us,rate=1Gbit/s --pattern request --response 99B --sizes 64";
    assert!(said.out.contains(again), "{said}");
    dir.run(&["ask", "x.run.jsonl", "how many times faster is theory"])
        .refuses(&["against which path", "have no other"]);

    let said = dir.run(&["run", "theory", "--sizes", "64", "--no-html", "--quiet", "-o", "one.run.jsonl"]);
    assert!(said.measured(), "{said}");
    // 64 B one after another carry 51 Mbit/s, which is no limit of larger messages.
    for question in ["can it do 500 Mbit/s with 64 KiB messages", "how long for 1 MiB", "how long for 100 TB"] {
        let said = dir.run(&["ask", "one.run.jsonl", question]);
        assert!(said.code() == 2 && said.out.contains("no answer"), "{question}: {said}");
    }
    theory_far(&dir);
}

/// Sizes absurdly far beyond the measured ones have no answer, however straight the line.
fn theory_far(dir: &Scratch) {
    let said = dir.run(&["run", "theory", "--no-html", "--quiet", "-o", "far.run.jsonl"]);
    assert!(said.measured(), "{said}");
    for question in [
        "how long for 100 TB",
        "can it do 1 Gbit/s with messages of 100 TB",
        "does 100 TB arrive within a day",
        "throughput at 100 TB",
        "what would a link of 100 Gbit/s bring for 100 TB",
        "5 messages of 100 TB",
    ] {
        let said = dir.run(&["ask", "far.run.jsonl", question]);
        assert!(said.code() == 2 && said.out.contains("no answer"), "{question}: {said}");
    }
    assert_eq!(dir.run(&["ask", "far.run.jsonl", "how long for 1 GB"]).code(), 0);
}
