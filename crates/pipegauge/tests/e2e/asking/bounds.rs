//! What a run can't tell, or tells within bounds.

use super::{exact, figure, link, near};
use crate::support::Scratch;

#[test]
fn what_cannot_be_answered_says_why_and_what_would_help() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["tcp"]);
    dir.run(&["ask", "a.run.jsonl"]).refuses(&["--arrive", "in words"]);
    dir.run(&["ask", "when does 64KiB arrive?"]).refuses(&["no run file"]);
    dir.run(&["ask", "a.run.jsonl", "what is love?"]).refuses(&["what is love?", "--most"]);
    dir.run(&["ask", "gone.run.jsonl", "--most"]).refuses(&["gone.run.jsonl"]);
    dir.run(&["ask", "a.run.jsonl", "--path", "shm", "--most"]).refuses(&["shm"]);
    exact(&dir, "exact.run.jsonl");
    let said = dir.run(&["ask", "exact.run.jsonl", "--link", "0Gbit/s"]);
    assert!(said.out.contains("no rate") && said.code() == 2, "{said}");
    // Sizes at which a start costs more than the bytes do say nothing of what bytes cost.
    let tiny =
        ["--theory", "latency=10us,rate=10Gbit/s,header=0B", "--to", "64", "--budget", "1s", "--no-html", "--quiet"];
    dir.run(&[&["run", "theory", "-o", "tiny.run.jsonl"][..], &tiny].concat());
    let said = dir.run(&["ask", "tiny.run.jsonl", "how long for 1 MB"]);
    assert!(said.out.contains("no answer: 64 B is the largest size measured") && said.code() == 2, "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "--arrive", "1PiB"]);
    assert!(!said.out.contains("NaN"), "{said}");
}

/// It was given the time of the largest size, at least.
#[test]
fn a_size_below_all_that_were_measured_is_told_by_the_line() {
    let dir = Scratch::new();
    link(&dir, "a.run.jsonl", "latency=10us,rate=10Gbit/s,header=0B", &["--to", "64KiB"]);
    near(figure(&dir, &["how long for 0 bytes"]), 10e-6);
}

#[test]
fn a_question_that_is_not_read_leaves_the_others_their_answers() {
    let dir = Scratch::new();
    exact(&dir, "exact.run.jsonl");
    let asked = ["ask", "exact.run.jsonl", "when does 1KiB arrive?", "what is love?", "what is the most?"];
    let said = dir.run(&asked);
    assert_eq!(said.code(), 2, "{said}");
    assert!(said.out.contains("1 KiB arrives after") && said.out.contains("moves the most"), "{said}");
    assert!(said.err.contains("what is love?") && said.err.contains("--most"), "{said}");
    let said = dir.run(&[&asked[..], &["--json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&said.out).expect("a document");
    let answered: Vec<bool> =
        document["answers"].as_array().unwrap().iter().map(|a| a["answered"].as_bool().unwrap()).collect();
    assert_eq!((answered, said.code()), (vec![true, true, false], 2), "{said}");
    assert!(document["answers"][2]["text"].as_str().unwrap().contains("what is love?"), "{said}");
    // And all of those that are not read are said.
    dir.run(&["ask", "exact.run.jsonl", "what is love?", "who is there?"]).refuses(&["what is love?", "who is there?"]);
}

#[test]
fn a_run_that_stopped_far_below_saturation_is_not_drawn_on() {
    // Two rounds say nothing of whether the throughput still rises.
    for flags in [["noise=5%", "--budget", "1s"], ["noise=30%", "--trials", "2"]] {
        let dir = Scratch::new();
        let link = format!("latency=10us,rate=10Gbit/s,{}", flags[0]);
        let more = ["--to", "13", "--seed", "1", "--no-html", "--quiet", "-o", "a.run.jsonl"];
        dir.run(&[&["run", "theory", "--theory", &link][..], &flags[1..], &more].concat());
        nothing_beyond_thirteen_bytes(&dir);
        // What all rounds saw it move is moved, with an interval or without one; whether it moves more is not known.
        let said = dir.run(&["ask", "a.run.jsonl", "can it do 1 kbit/s"]);
        assert!(said.out.contains("yes: at 1"), "{said}");
        let said = dir.run(&["ask", "a.run.jsonl", "can it do 1 Gbit/s"]);
        assert!(said.out.contains("no answer: 13 B is the largest size measured"), "{said}");
    }
}

/// That a run up to 13 B answers nothing beyond.
fn nothing_beyond_thirteen_bytes(dir: &Scratch) {
    for text in [
        "how long for 64KiB",
        "does 64KiB arrive within 1 ms",
        "how long for 10 messages of 64KiB",
        "can it sustain 60/s frames of 2MB?",
        "4K video at 60 fps uncompressed",
        "how many 64 KiB messages per second",
        "which path is fastest for 64KiB?",
        "can it do 1 Gbit/s",
        "which size should I use?",
        "half power point",
        "which size saturates the link",
        "which path has the highest throughput",
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.code() == 2 && said.out.contains("13 B is the largest size measured"), "{text}: {said}");
        assert!(said.out.contains("to sharpen it: pipegauge run theory"), "{text}: {said}");
    }
    // What was measured is told.
    let said = dir.run(&["ask", "a.run.jsonl", "what is the bandwidth"]);
    assert!(said.out.contains("moves at least 10.") && said.out.contains("at 13 B: 13 B is the largest"), "{said}");
    near(figure(dir, &["how much data in 1 s"]), 13.0);
    let said = dir.run(&["ask", "a.run.jsonl", "how much data in 1 s"]);
    assert!(!said.out.contains("one after another"), "{said}");
}

#[test]
fn the_share_that_is_late_is_of_the_nearest_size_and_says_when_it_is_another() {
    let dir = Scratch::new();
    let flags =
        ["--sizes", "64,120,1KiB", "--trials", "5", "--repeats", "100", "--no-html", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run", "theory"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "does 64 bytes arrive within 1 s"]);
    assert!(said.out.contains("0% of single transfers take longer\n"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "does 70 bytes arrive within 1 s"]);
    let want =
        "0% of single transfers take longer (by those of 64 B, the nearest size that has enough of them timed, scaled";
    assert!(said.out.contains(want), "{said}");
}

#[test]
fn a_message_larger_than_the_path_carries_is_none() {
    let dir = Scratch::new();
    let flags = ["--sizes", "1KiB,8KiB,32KiB,65507", "--budget", "1s", "--no-html", "--quiet", "-o", "u.run.jsonl"];
    let said = dir.run(&[&["run", "udp"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    for (text, messages) in [
        ("how long for 1 MB over udp", "16 messages"),
        ("can it sustain 10 frames of 100 kB a second", "2 messages"),
        ("how many messages of 100 kB per second", "2 messages"),
        ("throughput at 1 MB", "16 messages"),
        ("does 1 MB arrive within 1 s", "16 messages"),
        ("cpu cost of 1 MB", "16 messages"),
    ] {
        let said = dir.run(&["ask", "u.run.jsonl", text]);
        let words = format!("it carries at most 65,507 B in one; ask about {messages} of 65,507 B");
        assert!(said.code() == 2 && said.out.contains(&words), "{text}: {said}");
    }
    let said = dir.run(&["ask", "u.run.jsonl", "16 messages of 65507 B", "how many 8 KiB datagrams per second"]);
    assert!(
        said.out.contains("16 messages of 65,507 B take") && said.out.contains("messages of 8 KiB each way"),
        "{said}"
    );
}

#[test]
fn sizes_of_few_rounds_are_bounded_by_their_neighbours() {
    let dir = Scratch::new();
    link(&dir, "near.run.jsonl", "latency=5us,rate=10Gbit/s,header=0B", &[]);
    link(&dir, "far.run.jsonl", "latency=50us,rate=1Gbit/s,header=0B", &[]);
    let said = dir.run(&["ask", "near.run.jsonl", "far.run.jsonl", "is near faster than far at 1 MiB"]);
    assert!(said.out.contains(" faster than theory (far) at 1 MiB") && !said.out.contains("not sure"), "{said}");
    assert!(!said.out.contains("no interval"), "{said}");
    let said = dir.run(&["ask", "far.run.jsonl", "1080p60"]);
    assert!(said.out.contains("no: a frame of 6,220,800 B") && said.out.contains("it had too few"), "{said}");
}

#[test]
fn a_limit_far_from_all_that_rounds_saw_is_kept_or_missed_without_an_interval() {
    let dir = Scratch::new();
    link(&dir, "a.run.jsonl", "latency=10us,rate=10Gbit/s,noise=5%", &["--to", "1MiB", "--trials", "2"]);
    for (text, verdict) in [
        ("does 64 B arrive within 1 ms", "yes: 64 B takes"),
        ("does 64 B arrive within 1 us", "no: 64 B takes"),
        ("does 64 B take longer than 1 ms", "no: 64 B takes"),
        ("can it sustain 1000 messages of 64 B a second", "yes: a message of 64 B takes"),
        ("can it do 1 Mbit/s with 64 KiB messages", "yes: with messages of 64 KiB it moves"),
        ("can it do 1 Tbit/s with 64 KiB messages", "no: with messages of 64 KiB it moves"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(&format!("theory: {verdict}")), "{text}: {said}");
        assert!(said.out.contains("; no interval: all 2 rounds saw "), "{text}: {said}");
    }
    let said = dir.run(&["ask", "a.run.jsonl", "does 64 B arrive within 11 us", "how many 1 KiB messages in 5 s"]);
    assert!(said.out.contains("theory: not surely: 64 B"), "{said}");
    assert!(said.out.contains(" (no interval) in 5.00 s") && !said.out.contains("any number"), "{said}");
}

#[test]
fn medians_between_sizes_are_read_off_the_curve_and_tails_are_told_of_the_size_they_are_of() {
    let dir = Scratch::new();
    let link = ["--theory", "latency=10us,rate=1Gbit/s,header=0B", "--sizes", "64KiB,100KiB", "--trials", "5"];
    let flags = ["--repeats", "100", "--no-html", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run", "theory"][..], &link, &flags].concat());
    assert!(said.measured(), "{said}");
    let time = figure(&dir, &["how long for 70 KiB"]);
    assert_eq!(figure(&dir, &["p50 of 70 KiB"]), time);
    // The tail of another size is no tail of this one: it is told of the size that it was timed at.
    for tail in ["p90", "worst case"] {
        let text = format!("{tail} of 70 KiB");
        assert_eq!(figure(&dir, &[&text]), figure(&dir, &[&format!("{tail} of 64 KiB")]));
        let said = dir.run(&["ask", "a.run.jsonl", &text]);
        let words = "of 64 KiB (the nearest size at which enough single transfers were timed: 70 KiB itself has no such figure)";
        assert!(said.out.contains(words) && said.out.contains("rests on: 64 KiB"), "{said}");
    }
    // Just more than the time: none is late, though all of the size that they are read at are.
    let soon = format!("does 90 KiB arrive within {} ns", (figure(&dir, &["how long for 90 KiB"]) * 1.01e9) as u64);
    let said = dir.run(&["ask", "a.run.jsonl", &soon]);
    assert!(said.out.contains("yes: 90 KiB") && said.out.contains("0% of single transfers take longer (by"), "{said}");
}
