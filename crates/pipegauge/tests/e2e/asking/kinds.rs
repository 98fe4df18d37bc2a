//! Which kind of time a run has: of transfers, of transactions, of streams, on a schedule, kept up.

use super::{figure, link, near};
use crate::support::{Scratch, json};

#[test]
fn percentiles_of_single_transfers_are_those_of_the_table() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["tcp"]);
    let shown = json(&dir.run(&["show", "a.run.jsonl", "--json"]).out);
    let points = shown["paths"][0]["points"].as_array().expect("points");
    let mut asked = 0;
    for point in points.iter().filter(|p| p["percentiles"]["p50"].is_number()) {
        for (name, key) in [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p999"), ("worst case", "max")] {
            let Some(want) = point["percentiles"][key].as_f64() else { continue };
            let question = format!("{name} of {} bytes", point["size"]);
            let said = json(&dir.run(&["ask", "a.run.jsonl", "--json", &question]).out);
            let found = said["answers"][0]["figure"]["value"].as_f64().unwrap_or_else(|| panic!("{said}"));
            assert!((found / want - 1.0).abs() < 1e-9, "{question}: {found}, and in the table {want}");
            asked += 1;
        }
    }
    assert!(asked > 0, "{shown}");
}

#[test]
fn rates_of_transactions_are_the_medians_and_the_mean_rate_of_the_row_stands_beside() {
    for (pattern, question) in
        [("request", "how many requests per second"), ("connect", "how many connections per second")]
    {
        let dir = Scratch::new();
        let said = dir.run(&[
            "run",
            "tcp",
            "--pattern",
            pattern,
            "--sizes",
            "64,256",
            "--budget",
            "1s",
            "--no-html",
            "--quiet",
            "-o",
            "a.run.jsonl",
        ]);
        assert!(said.code() < 2, "{said}");
        let shown = json(&dir.run(&["show", "a.run.jsonl", "--json"]).out);
        let point = &shown["paths"][0]["points"][0];
        let (median, rate) = (point["median"].as_f64().expect("median"), point["transactions"].as_f64().expect("rate"));
        near(figure(&dir, &[question]), 1.0 / median);
        let said = dir.run(&["ask", "a.run.jsonl", question]);
        let rate =
            if rate >= 100.0 { format!("{}/s", units::thousands(rate.round() as u64)) } else { format!("{rate:.2}/s") };
        assert!(said.out.contains("at the median time"), "{said}");
        assert!(said.out.contains(&format!("the mean rate, pauses included, was {rate}")), "{rate}: {said}");
        let table = dir.run(&["show", "a.run.jsonl", "--points"]);
        assert!(table.out.contains("mean rate") && table.out.contains(&rate), "{rate}: {table}");
    }
}

/// The exact curve again, of which long trials take twice as long as short ones.
fn slower_when_long(dir: &Scratch) {
    let flags = ["--theory", "latency=10us,rate=10Gbit/s,header=0B", "--to", "4MiB", "--budget", "8s", "--seed", "1"];
    let said = dir.run(&[&["run", "theory"][..], &flags, &["--no-html", "--quiet", "-o", "a.run.jsonl"]].concat());
    assert_eq!(said.code(), 0, "{said}");
    let text = std::fs::read_to_string(dir.path("a.run.jsonl")).expect("the run file");
    let mut long = 0;
    let slower: Vec<String> = (text.lines())
        .map(|line| {
            let mut event = json(line);
            if event["event"] != "sustained" {
                return line.to_owned();
            }
            long += 1;
            event["seconds"] = (2.0 * event["seconds"].as_f64().expect("seconds")).into();
            event.to_string()
        })
        .collect();
    assert!(long > 1, "{long} sustained trials");
    std::fs::write(dir.path("a.run.jsonl"), slower.join("\n") + "\n").expect("the run file is written");
}

#[test]
fn what_is_kept_up_answers_where_the_run_knows_it() {
    let dir = Scratch::new();
    slower_when_long(&dir);
    // A byte takes 10 us in a short trial and 20 us in a long one.
    for (text, verdict) in [
        // Each was answered before the next one went: either side sent one in 40 us, and without waiting more may go.
        ("can it sustain 70,000 messages of 1 B a second", "not surely: a message of 1 B takes 40.0 us"),
        ("can it sustain 40,000 messages of 1 B a second", "not surely: a message of 1 B takes 40.0 us"),
        ("can it sustain 20,000 messages of 1 B a second", "yes: a message of 1 B takes 40.0 us"),
        ("can it sustain 70,000 frames of 1 B a second", "no: a frame of 1 B takes 20.0 us"),
        ("sustained latency at 1 B", "1 B arrives after 20.0 us"),
        ("how many messages of 1 B per second", "25.0 k/s"),
        ("does it keep up 1 Mbit/s with 1 B messages", "no: with messages of 1 B it moves 400 kbit/s"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(verdict), "{text}: {said}");
        assert!(
            said.out.contains("; sustained: trials of 7") && said.out.contains("at 1 B take 2.00 ["),
            "{text}: {said}"
        );
    }
    let said = dir.run(&["ask", "a.run.jsonl", "--frames", "70000/s", "--of", "1"]);
    assert!(said.out.contains("no: a frame of 1 B takes 20.0 us"), "{said}");
    // Without the word it is the time of single transfers, and at a size that has no long trials the answer says so.
    near(figure(&dir, &["latency at 1 B"]), 10e-6);
    let said = dir.run(&["ask", "a.run.jsonl", "can it sustain 60/s frames of 1MB?"]);
    let other = "what is kept up was not measured near that size (pipegauge run theory:header=0 --sizes 1000000";
    // What one byte takes tells nothing of a million.
    assert!(said.out.contains(other) && said.out.contains("a frame of 1 MB (1,000,000 B) takes 810 us"), "{said}");
    assert!(!said.out.contains("long trials take 2.00 ["), "{said}");
    // Nearer to it neighbouring sizes have neighbouring answers.
    let said = dir.run(&["ask", "a.run.jsonl", "can it sustain 60/s frames of 16 KiB?"]);
    assert!(said.out.contains("long trials take 2.00 [") && said.out.contains("and here 1.41 ["), "{said}");
    let frames = |size: u64| figure(&dir, &["--frames", "60/s", "--of", &size.to_string()]);
    for size in [1, 2, 3, 1386, 1388, 1390, 5550, 5556, 6000, 2_000_000, 2_200_000] {
        let (here, next) = (frames(size), frames(size + size / 50 + 1));
        assert!(next <= here * 1.001 && next > 0.9 * here, "{size}: {here} /s, and {next} /s of a size hardly larger");
    }
}

#[test]
fn a_stream_tells_no_journey() {
    let dir = Scratch::new();
    // A message is 50 us on its way, and one follows another each 4 ns a byte: what the answers must not mix up.
    let model = "latency=50us,rate=2Gbit/s,header=0B";
    link(&dir, "s.run.jsonl", model, &["--pattern", "stream", "--to", "1MiB", "--budget", "3s"]);
    link(&dir, "p.run.jsonl", model, &["--to", "64KiB", "--budget", "2s"]);
    for text in [
        "does 1 B arrive within 1 us",
        "64 KiB arrives after",
        "latency",
        "round trip of 64 bytes",
        "p99 of 1 KiB",
        "median latency of 1 KiB",
        "shortest time seen",
        "how much data in 1 ms",
        "is the latency below 10 us",
        "how fast are control messages",
        "5 requests of 1 KiB",
    ] {
        let said = dir.run(&["ask", "s.run.jsonl", text]);
        let why = "no answer: a stream tells the time from one message to the next, not how long one is on its way";
        assert!(said.code() == 2 && said.out.contains(why), "{text}: {said}");
        assert!(
            said.out.contains("to sharpen it: pipegauge run theory") && !said.out.contains("--pattern stream"),
            "{said}"
        );
    }
    // What it takes to send so much, with words for what is not in it.
    let stream = |text: &str| {
        let said = dir.run(&["ask", "s.run.jsonl", text]);
        assert!(said.out.contains("in a long stream takes") && said.out.contains("comes on top"), "{text}: {said}");
        json(&dir.run(&["ask", "s.run.jsonl", "--json", text]).out)["answers"][0]["figure"]["value"]
            .as_f64()
            .expect("figure")
    };
    near(stream("5 messages of 64 KiB"), 5.0 * 65_536.0 * 4e-9);
    near(stream("how long for 2 GB"), 8.0);
    // Rates it does tell, and of a ping-pong it is said that messages may follow one another faster.
    let said = dir.run(&["ask", "p.run.jsonl", "can it sustain 1M messages of 1 B a second"]);
    assert!(
        said.out.contains("not surely: a message of 1 B")
            && said.out.contains("each answered before the next (1/RTT; without waiting for answers more may go"),
        "{said}"
    );
    let said = dir.run(&["ask", "s.run.jsonl", "can it sustain 100 messages of 64 KiB a second"]);
    assert!(said.out.contains("yes: a message of 64 KiB takes 262 us") && !said.out.contains("were late"), "{said}");
    assert!(said.out.contains("(from one message to the next)"), "{said}");
    // Among others it is not ranked.
    for text in ["which path is fastest for 1 KiB", "how fast are control messages"] {
        let said = dir.run(&["ask", "s.run.jsonl", "p.run.jsonl", text]);
        assert!(
            said.out.contains("\ntheory (p): ") && said.out.contains("not known of theory (s): a stream"),
            "{said}"
        );
        assert!(!said.out.contains("times as long"), "{said}");
    }
    let said =
        dir.run(&["ask", "s.run.jsonl", "p.run.jsonl", "theory in s.run.jsonl vs theory in p.run.jsonl at 1 KiB"]);
    assert!(said.code() == 2 && said.out.contains("measure both with the same --pattern"), "{said}");
}

#[test]
fn a_schedule_tells_only_what_it_offered() {
    let dir = Scratch::new();
    link(
        &dir,
        "go.run.jsonl",
        "latency=50us,rate=1Gbit/s",
        &["--pattern", "stream", "--rate", "50Mbit/s", "--sizes", "1KiB,64KiB", "--budget", "2s"],
    );
    for (text, words) in [
        ("when does 1 KiB arrive", "a stream tells the time from one message to the next"),
        (
            "can it do 40 Mbit/s with 64 KiB messages",
            "yes: with messages of 64 KiB a schedule (--rate) offered 50.0 Mbit/s",
        ),
        ("can it do 100 Mbit/s", "no answer: with messages of 64 KiB a schedule (--rate) offered 50.0 Mbit/s, and"),
        ("what is the throughput at 64 KiB", "whether more would go was not measured"),
        ("can it sustain 50 messages of 64 KiB a second", "yes: with messages of 64 KiB a schedule"),
        ("can it sustain 5000 messages of 64 KiB a second", "whether more would go was not measured"),
        ("how many messages of 2 KiB a second", "tells of the sizes measured only, and 2 KiB is none"),
    ] {
        let said = dir.run(&["ask", "go.run.jsonl", text]);
        assert!(said.out.contains(words), "{text}: {said}");
        assert!(!said.out.contains("the most is") && !said.out.contains("one at a time"), "{text}: {said}");
    }
    let said = dir.run(&[
        "run",
        "tcp",
        "--rate",
        "50/s",
        "--sizes",
        "64",
        "--budget",
        "1s",
        "--no-html",
        "--quiet",
        "-o",
        "rt.run.jsonl",
    ]);
    assert!(said.measured(), "{said}");
    for text in ["sustained 10k messages per second of 64 bytes?", "messages a second", "how many requests per second"]
    {
        let said = dir.run(&["ask", "rt.run.jsonl", text]);
        assert!(said.out.contains("a schedule (--rate) offered 50.0 /s, and "), "{text}: {said}");
        assert!(!said.out.contains("the most is") && !said.out.contains("1/RTT"), "{text}: {said}");
    }
}

#[test]
fn what_goes_in_a_day_is_of_what_is_kept_up_or_says_that_it_is_not() {
    let dir = Scratch::new();
    link(&dir, "link.run.jsonl", "latency=10us,rate=10Gbit/s,noise=3%", &["--to", "1MiB", "--budget", "12s"]);
    for text in ["how many GB per day", "how much data can I send in a day", "how many GB a week"] {
        let said = dir.run(&["ask", "link.run.jsonl", text]);
        let kept = said.out.contains("the short ones' median") || said.out.contains("what is kept up");
        assert!(said.code() == 0 && kept, "{text}: {said}");
    }
}

#[test]
fn a_time_there_and_back_is_no_time_there() {
    let dir = Scratch::new();
    // 58.2 us there, 50 us back.
    let model = "latency=50us,rate=1Gbit/s,header=0B";
    link(&dir, "rq.run.jsonl", model, &["--pattern", "request", "--sizes", "1KiB", "--trials", "5"]);
    link(&dir, "p.run.jsonl", model, &["--sizes", "1KiB", "--trials", "5"]);
    for (text, words) in [
        ("does 1 KiB arrive within 60 us", "not surely: 1 KiB takes 108 us"),
        ("does 1 KiB take longer than 60 us", "not surely: 1 KiB takes 108 us"),
        ("does 1 KiB arrive within 120 us", "yes: 1 KiB takes 108 us"),
        ("is the round trip of 1 KiB below 60 us", "no: 1 KiB takes 108 us"),
    ] {
        let said = dir.run(&["ask", "rq.run.jsonl", text]);
        assert!(said.out.contains(words), "{text}: {said}");
        assert_eq!(said.out.contains("the way there takes less"), !text.contains("round trip"), "{text}: {said}");
    }
    let said = dir.run(&["ask", "rq.run.jsonl", "p.run.jsonl", "which path is fastest for 1 KiB"]);
    assert!(said.out.contains("theory (rq): 108 us") && !said.out.contains("times as long"), "{said}");
}

#[test]
fn answers_of_one_run_do_not_contradict_each_other() {
    let dir = Scratch::new();
    // Two rounds of ping-pong over 1 B and 4 KiB, which neither saturate a path nor give an interval.
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/version-1/tcp-unix.run.jsonl");
    std::fs::copy(old, dir.path("a.run.jsonl")).expect("the run file is copied");
    for (text, answer) in [
        // A sign says which side is asked for.
        ("is latency > 50 us over unix at 1 B?", "unix: no: 1 B takes 13.9 us"),
        ("is latency < 50 us over unix at 1 B?", "unix: yes: 1 B takes 13.9 us"),
        // Either side sent one message in a round trip, however it is asked.
        ("how many messages of 1 B a second over tcp", "tcp: 20.2 k/s"),
        ("can tcp do 50 messages of 1 B per second", "tcp: yes: a message of 1 B takes 49.5 us"),
        ("can tcp do 50 messages of 1 B per second", "the most is 20.2 k/s (no interval) each way, each answered"),
        ("can tcp do 1M messages of 1 B per second", "tcp: not surely: a message of 1 B takes 49.5 us"),
        // What all rounds saw moved is moved, though larger messages may move more.
        ("is unix throughput > 1 Mbit/s", "unix: yes: at 4 KiB it moves 2.37 Gbit/s"),
        ("is unix throughput > 1 Tbit/s", "unix: no answer: 4 KiB is the largest size measured"),
        ("how much of 10 Gbit/s does unix carry", "move at least 2.37 Gbit/s (no interval), which is at least 23.7%"),
        // What has no interval says so, and none of a hundred is no share.
        ("average ping over unix", "1 B took 50.3 us (no interval) (RTT) on average"),
        ("can tcp do 50 messages of 1 B per second", "none of the single messages that were timed were late"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(answer), "{text}: {said}");
    }
}
