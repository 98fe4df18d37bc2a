//! Answers of one run that must not contradict each other.

use super::super::support::{Scratch, json};
use super::{exact, figure, link, near};

/// What is said of questions about a.run.jsonl, in one line.
fn ask(dir: &Scratch, args: &[&str]) -> String {
    let said = dir.run(&[&["ask", "a.run.jsonl"], args].concat());
    format!("{}{}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_share_of_the_most_is_of_the_most_that_is_named() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let most = figure(&dir, &["--most"]);
    for (question, share) in [("which size reaches 80% of the peak", 0.8), ("half power point", 0.5)] {
        let size = figure(&dir, &[question]);
        let moved = figure(&dir, &[&format!("throughput at {} bytes", size.round())]);
        assert!((moved / (share * most) - 1.0).abs() < 0.02, "{size} moves {moved} of {most}");
    }
}

#[test]
fn what_is_larger_than_all_messages_of_a_stream_goes_in_many() {
    let dir = Scratch::new();
    link(
        &dir,
        "a.run.jsonl",
        "latency=10us,rate=10Gbit/s,header=0B",
        &["--pattern", "stream", "--to", "1MiB", "--budget", "2s"],
    );
    let said = ask(&dir, &["how long for 100 MB"]);
    assert!(said.contains(" one after another: no single message of it was measured"), "{said}");
    let whole = figure(&dir, &["how long for 100 MB"]);
    near(whole, 0.08);
    near(figure(&dir, &["which path is fastest for 100 MB"]), whole);
    near(figure(&dir, &["100 MB in chunks of 1 MiB"]), whole);
}

#[test]
fn what_is_too_far_for_one_message_is_told_of_many() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let said = ask(&dir, &["how long for 100 TB over theory"]);
    assert!(
        said.contains("no answer: ") && said.contains("; in messages of 4 MiB one after another it takes 80,"),
        "{said}"
    );
    let asked = said.split_once("(ask about ").and_then(|(_, rest)| rest.split_once(')')).expect("a question").0;
    let seconds = figure(&dir, &[&format!("how long for {asked}")]);
    assert!((seconds / 80e3 - 1.0).abs() < 0.02, "{asked}: {seconds}");
}

/// Bytes cost more at the largest of few sizes: no line tells of larger messages, and none is said to be faster than that one.
#[test]
fn a_message_beyond_few_sizes_is_not_faster_than_the_largest_of_them() {
    let dir = Scratch::new();
    let sizes = ["--sizes", "1,16,256,4KiB,64KiB,1MiB", "--trials", "8", "--repeats", "12"];
    let model = "latency=5us,rate=100Gbit/s,header=0B,dip=512KiB..8MiB*4,round-noise=3%,noise=3%";
    link(&dir, "a.run.jsonl", model, &sizes);
    let measured = ask(&dir, &["--frames", "3000", "--of", "1MiB"]);
    assert!(measured.contains(": no: "), "{measured}");
    for question in
        [&["--frames", "3000", "--of", "1100000"][..], &["--arrive", "1258291"], &["does 1.2 MB arrive within 300 us"]]
    {
        let said = ask(&dir, question);
        assert!(
            said.contains("no answer: ") && said.contains("; in messages of 64 KiB one after another it takes "),
            "{said}"
        );
    }
}

#[test]
fn messages_of_a_schedule_take_as_long_as_it_takes_to_send_them() {
    let dir = Scratch::new();
    let said = dir.run(&[
        "run",
        "unix",
        "--rate",
        "2k/s",
        "--sizes",
        "64",
        "--budget",
        "2s",
        "--no-html",
        "--quiet",
        "-o",
        "a.run.jsonl",
    ]);
    assert!(said.measured(), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "--json", "how long for 1000 messages of 64 bytes"]);
    let answer = &json(&said.out)["answers"][0];
    // At most two a millisecond go; a busy machine sends fewer.
    assert!(answer["figure"]["value"].as_f64().unwrap() > 0.499, "{said}");
    assert!(answer["text"].as_str().unwrap().contains("the schedule of this run (--rate) sent "), "{said}");
    let said = ask(&dir, &["how long for 1000 messages of 1 KiB"]);
    assert!(said.contains("a schedule (--rate) tells of the sizes measured only"), "{said}");
}

/// Two modelled links whose noise leaves two of six sizes apart one by one, of which one is by Holm's rule. On a virtual clock: no time decides it.
#[test]
fn sizes_that_surely_differ_are_counted_by_one_rule() {
    let dir = Scratch::new();
    let links = [
        "theory:label=alpha,round-noise=3%,noise=3%,seed=2",
        "theory:header=250,round-noise=3%,noise=3%,seed=52,label=beta",
    ];
    let sizes = ["--sizes", "1,64,1KiB,4KiB,16KiB,64KiB", "--trials", "8", "--repeats", "20"];
    let said = dir.run(&[&["run"][..], &links, &sizes, &["--no-html", "--quiet", "-o", "a.run.jsonl"]].concat());
    assert!(said.measured(), "{said}");
    let said = ask(&dir, &["what does beta cost over alpha"]);
    assert!(said.contains("alpha at 1 of 6 sizes (64 KiB), by Holm's rule for so many"), "{said}");
    let said = ask(&dir, &["from which size on is alpha faster than beta"]);
    assert!(said.contains("2 of 6 sizes tell them apart one by one, 1 surely by Holm's rule for so many"), "{said}");
}

#[test]
fn why_a_question_is_not_read_is_said_last() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let said = dir.run(&["ask", "a.run.jsonl", "what colour is it"]);
    let last = said.err.trim_end().rsplit_once('\n').unwrap().1;
    assert!(said.code() == 2 && last.contains("'what colour is it' is no question that this knows"), "{said}");
    assert!(said.err.contains("--arrive 64KiB"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "what colour is it", "latency"]);
    assert!(said.out.contains("theory: ") && said.err.contains("'what colour is it' is no question"), "{said}");
    // Without anything an example tells what is wanted.
    dir.run(&["ask"]).refuses(&["pipegauge ask link.run.jsonl 'when does 64KiB arrive?'", "pipegauge ask --help"]);
}
