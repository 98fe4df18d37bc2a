//! Asking runs.

use super::support::{Scratch, json};

/// An exact curve: 10 us and 10 Gbit/s with no headers, so that every answer is known.
fn exact(dir: &Scratch, name: &str) {
    let said = dir.run(&[
        "run",
        "theory",
        "--theory",
        "latency=10us,rate=10Gbit/s,header=0B",
        "--to",
        "4MiB",
        "--budget",
        "2s",
        "--no-html",
        "--quiet",
        "-o",
        name,
    ]);
    assert_eq!(said.code(), 0, "{said}");
}

fn figure(dir: &Scratch, args: &[&str]) -> f64 {
    let mut all = vec!["ask", "a.run.jsonl", "--json"];
    all.extend(args);
    let said = dir.run(&all);
    assert_eq!(said.code(), 0, "{said}");
    let document = json(&said.out);
    assert_eq!(document["schema"], "pipegauge-ask/1");
    document["answers"][0]["figure"]["value"].as_f64().unwrap_or_else(|| panic!("no figure: {said}"))
}

fn near(found: f64, want: f64) {
    assert!((found / want - 1.0).abs() < 0.01, "{found}, not {want}");
}

#[test]
fn answers_follow_the_model_in_words_and_as_flags() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let at = |bytes: f64| 10e-6 + bytes * 8e-10;
    for args in [&["--arrive", "64KiB"][..], &["when does 64 KiB arrive?"]] {
        near(figure(&dir, args), at(65_536.0));
    }
    near(figure(&dir, &["--arrive", "100000"]), at(100_000.0));
    near(figure(&dir, &["--arrive", "64MiB"]), at(67_108_864.0));
    near(figure(&dir, &["--most"]), 4_194_304.0 * 8.0 / at(4_194_304.0));
    near(figure(&dir, &["--frames", "60/s", "--of", "1MB"]), 1.0 / at(1e6));
    near(figure(&dir, &["what would a link of 1Gbit/s bring?"]), 10e-6 + 4_194_304.0 * 8e-9);
    near(figure(&dir, &["a link of 1Gbit/s for 64KiB"]), 10e-6 + 65_536.0 * 8e-9);
    near(figure(&dir, &["--control"]), at(768.0));
    near(figure(&dir, &["how long for 1 MB in chunks of 1 kB?"]), 1000.0 * at(1000.0));
    near(figure(&dir, &["1 MB in 4 parts"]), 4.0 * at(250_000.0));
    near(figure(&dir, &["how long for 1000 doubles?"]), at(8000.0));
    near(figure(&dir, &["latency of 2^16 bytes"]), at(65_536.0));
    let said = dir.run(&["ask", "a.run.jsonl", "can it sustain 60/s frames of 1MB?", "which size should I use?"]);
    assert!(said.out.contains("yes: a frame of") && said.out.contains("rests on:"), "{said}");
    assert!(said.out.contains("to sharpen it: pipegauge run theory"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "--frames", "10k/s", "--of", "1MB"]);
    assert!(said.out.contains("no: a frame of"), "{said}");
    // 2 x 10.15 us a round trip: an interval of half a round trip would leave it open.
    let said = dir.run(&["ask", "a.run.jsonl", "can it do 60000 requests per second of 192 bytes?"]);
    assert!(said.out.contains(": no: ") && said.out.contains("20.3 us"), "{said}");
}

#[test]
fn the_questions_people_ask_are_answered_as_the_model_has_it() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let at = |bytes: f64| 10e-6 + bytes * 8e-10;
    near(figure(&dir, &["how long for a 100 kB message"]), at(1e5));
    near(figure(&dir, &["when does 64 kilobytes arrive?"]), at(64e3));
    near(figure(&dir, &["how long for 1,000,000 bytes"]), at(1e6));
    near(figure(&dir, &["how long does 1 gigabyte take"]), 0.8);
    near(figure(&dir, &["fastest way to send 10 bytes"]), at(10.0));
    near(figure(&dir, &["round trip time for 1 KiB"]), 2.0 * at(1024.0));
    near(figure(&dir, &["5 messages of 1 KiB"]), 5.0 * at(1024.0));
    near(figure(&dir, &["4K video at 60 fps uncompressed"]), 1.0 / at(24_883_200.0));
    near(figure(&dir, &["how many 1 KB messages per second"]), 0.5 / at(1000.0));
    near(figure(&dir, &["how many 1 KB requests in 1 minute"]), 30.0 / at(1000.0));
    near(figure(&dir, &["what is the bandwidth"]), 4_194_304.0 * 8.0 / at(4_194_304.0));
    near(figure(&dir, &["throughput at 64 KiB"]), 65_536.0 * 8.0 / at(65_536.0));
    near(figure(&dir, &["how much data in 1 ms"]), 990e-6 / 8e-10);
    near(figure(&dir, &["what does one more byte cost"]), 8e-10);
    near(figure(&dir, &["startup cost of a message"]), 10e-6);
    // On a line the saturation point is t0 / b. Of the most at s, half is reached at s n / (s + 2 n), n being t0 / b.
    let (n, s) = (12_500.0, 4_194_304.0);
    assert!((figure(&dir, &["which message size saturates the link"]) / n - 1.0).abs() < 0.05);
    assert!((figure(&dir, &["half power point"]) / (s * n / (s + 2.0 * n)) - 1.0).abs() < 0.05);
    let share = 0.9 * s / (n + s);
    assert!((figure(&dir, &["what size gives best throughput"]) / (n * share / (1.0 - share)) - 1.0).abs() < 0.05);
    for (text, word) in [
        ("can theory do 1 Gbit/s?", "yes: at"),
        ("can theory do 11 Gbit/s?", "no: at"),
        ("does 64KiB arrive within 20 us", "no: "),
        ("does 64KiB arrive within 1 ms", "yes: "),
        ("how many connections per second", "--pattern connect"),
        ("4K video at 60 fps uncompressed", "24 bit is 24,883,200 B uncompressed, which is assumed"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(word), "{text}: {said}");
    }
}

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
fn paths_are_told_apart() {
    let dir = Scratch::new();
    dir.measure("two.run.jsonl", &["memcpy", "tcp"]);
    let said = dir.run(&["ask", "two.run.jsonl", "which path is fastest for 64B?"]);
    assert!(said.out.starts_with("read as: the fastest path for 64 B, over all paths\nmemcpy: 64 B takes"), "{said}");
    let said = dir.run(&["ask", "two.run.jsonl", "what does tcp cost over memcpy?"]);
    // In a busy machine's states no interval may tell them apart; their rounds do.
    let told = said.out.contains("surely faster at") || said.out.contains("in every round");
    assert!(said.out.contains("tcp costs over memcpy:") && told, "{said}");
    for text in ["how much faster is memcpy than tcp", "by what factor is memcpy faster than tcp at 64 B"] {
        let said = dir.run(&["ask", "two.run.jsonl", text]);
        let answer = said.out.lines().nth(1).unwrap_or("");
        assert!(
            answer.starts_with("memcpy is ")
                && answer.contains(" times ")
                && answer.contains("faster")
                && answer.contains("than tcp at"),
            "{said}"
        );
        assert!(said.out.contains("\n  it costs over tcp:"), "{said}");
    }
    for text in ["latency over tcp", "is tcp latency below 1 s", "how long for 64 bytes via TCP sockets"] {
        let said = dir.run(&["ask", "two.run.jsonl", text]);
        assert!(said.out.contains("tcp: ") && !said.out.contains("memcpy"), "{said}");
    }
    dir.run(&["ask", "two.run.jsonl", "latency over udp"]).refuses(&["udp was not measured", "memcpy, tcp"]);
    dir.run(&["ask", "two.run.jsonl", "latency over rdma"]).refuses(&["'rdma' is no path", "memcpy, tcp"]);
    // Two files hold a path of one name, and each is held against the one of its own file.
    dir.measure("one.run.jsonl", &["tcp"]);
    let said = dir.run(&["ask", "one.run.jsonl", "two.run.jsonl", "tcp vs memcpy"]);
    assert!(said.out.contains("tcp (two) costs over memcpy (two)") && !said.out.contains("(one)"), "{said}");
    let said = dir.run(&["ask", "one.run.jsonl", "two.run.jsonl", "latency of tcp in one.run.jsonl"]);
    assert!(said.out.contains("tcp (one): ") && !said.out.contains("(two): "), "{said}");
    let said = dir.run(&["ask", "two.run.jsonl", "--path", "tcp", "--arrive", "64"]);
    assert!(said.out.contains("tcp: 64 B arrives after") && !said.out.contains("memcpy"), "{said}");
}

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
        let rate = if rate >= 100.0 { format!("{rate:.0}/s") } else { format!("{rate:.2}/s") };
        assert!(said.out.contains("at the median time"), "{said}");
        assert!(said.out.contains(&format!("the mean rate, pauses included, was {rate}")), "{rate}: {said}");
        let table = dir.run(&["show", "a.run.jsonl", "--points"]);
        assert!(table.out.contains("mean rate") && table.out.contains(&rate), "{rate}: {table}");
    }
}

#[test]
fn a_comparisons_factor_stands_in_its_document() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["unix", "tcp"]);
    for text in ["how much faster is unix than tcp at 64 B", "what does unix cost over tcp at 64 B?"] {
        let answer = &json(&dir.run(&["ask", "a.run.jsonl", "--json", text]).out)["answers"][0];
        let factor = answer["factor"]["value"].as_f64().unwrap_or_else(|| panic!("{answer}"));
        // As `compare` has it: round by round.
        let compared = json(&dir.run(&["compare", "a.run.jsonl", "--json"]).out);
        let sizes = compared["comparisons"][0]["sizes"].as_array().unwrap();
        let at = sizes.iter().find(|s| s["size"] == 64).unwrap_or_else(|| panic!("{compared}"));
        near(factor, at["ratio"]["value"].as_f64().unwrap());
        // Two rounds tell no interval: both ends are there, and empty.
        let ends = ["low", "high"].map(|end| answer["factor"].get(end).unwrap_or_else(|| panic!("{answer}")).as_f64());
        assert!(ends[0].is_none_or(|low| low <= factor) && ends[1].is_none_or(|high| high >= factor), "{answer}");
    }
    let answer = &json(&dir.run(&["ask", "a.run.jsonl", "--json", "--path", "tcp", "--most"]).out)["answers"][0];
    assert!(answer["factor"].is_null(), "{answer}");
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
        let said = dir.run(&["ask", "a.run.jsonl", "can it do 1 kbit/s"]);
        assert_eq!(said.out.contains("yes: at 1"), flags[1] == "--budget", "{said}");
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
        ("can it sustain 70,000 messages of 1 B a second", "no: a message of 1 B takes 20.0 us"),
        ("can it sustain 40,000 messages of 1 B a second", "yes: a message of 1 B takes 20.0 us"),
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
fn a_path_that_is_left_out_is_not_answered() {
    let dir = Scratch::new();
    dir.measure("two.run.jsonl", &["memcpy", "tcp"]);
    for text in [
        "latency of all paths but tcp",
        "bandwidth save tcp",
        "fastest path for 64 B aside from tcp",
        "how long for 64 B over any non-tcp path",
    ] {
        let said = dir.run(&["ask", "two.run.jsonl", text]);
        assert!(said.out.contains("over all paths but tcp\n") && said.out.contains("\nmemcpy: "), "{text}: {said}");
        assert!(!said.out.contains("tcp: ") && !said.out.contains("run tcp"), "{text}: {said}");
    }
    dir.run(&["ask", "two.run.jsonl", "latency without memcpy and tcp"]).refuses(&["no path is left", "memcpy, tcp"]);
}

#[test]
fn rates_are_told_in_the_unit_that_is_asked_for() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let bits = 65_536.0 * 8.0 / (10e-6 + 65_536.0 * 8e-10);
    for (unit, of) in [("MB/s", 8e6), ("Mbit/s", 1e6)] {
        let text = format!("how many {unit} does theory give with 64 KiB messages");
        near(figure(&dir, &[&text]), bits);
        let said = dir.run(&["ask", "a.run.jsonl", &text]);
        let (_, rate) = said.out.split_once("; that is ").unwrap_or_else(|| panic!("{said}"));
        let (number, rest) = rate.split_once(' ').unwrap_or_else(|| panic!("{said}"));
        near(number.replace(',', "").parse().unwrap_or(f64::NAN), bits / of);
        assert!(rest.starts_with(&format!("{unit} [")), "{said}");
    }
    let said = dir.run(&["ask", "a.run.jsonl", "how many GB per hour with 64 KiB messages"]);
    assert!(said.out.contains(" GB in 3,600 s ["), "{said}");
    // 10 Gbit/s carry 400 streams of 25 Mbit/s, less what the start-up takes.
    let most = 4_194_304.0 * 8.0 / (10e-6 + 4_194_304.0 * 8e-10);
    near(figure(&dir, &["how many 25 Mbit/s streams"]), most / 25e6);
    near(figure(&dir, &["how many 1080p streams at 30 fps"]), most / (30.0 * 6_220_800.0 * 8.0));
    near(figure(&dir, &["latency of a cache line"]), 10e-6 + 64.0 * 8e-10);
    near(figure(&dir, &["minimum time"]), 10e-6);
    near(figure(&dir, &["how long for 0x1000 bytes"]), 10e-6 + 4096.0 * 8e-10);
    near(figure(&dir, &["seconds to transfer 250 mebibytes"]), 10e-6 + 262_144_000.0 * 8e-10);
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

/// A modelled link into a run file.
fn link(dir: &Scratch, name: &str, model: &str, flags: &[&str]) {
    let first = ["run", "theory", "--theory", model, "--no-html", "--quiet", "--seed", "1", "-o", name];
    let said = dir.run(&[&first[..], flags].concat());
    assert_eq!(said.code(), 0, "{said}");
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
        said.out.contains("no: a message of 1 B")
            && said.out.contains("half as many; without waiting for answers more may go"),
        "{said}"
    );
    let said = dir.run(&["ask", "s.run.jsonl", "can it sustain 100 messages of 64 KiB a second"]);
    assert!(said.out.contains("yes: a message of 64 KiB takes 262 us") && !said.out.contains("are late"), "{said}");
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
    assert!(
        said.out.contains("no: a frame of 6,220,800 B") && said.out.contains("as too few rounds visited it"),
        "{said}"
    );
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
fn layers_and_a_comparison_say_one_difference() {
    let dir = Scratch::new();
    link(&dir, "below.run.jsonl", "latency=10us,noise=5%", &["--to", "64", "--budget", "2s"]);
    link(&dir, "above.run.jsonl", "latency=15us,noise=10%", &["--to", "64", "--budget", "2s"]);
    let layer = &json(&dir.run(&["layers", "below.run.jsonl", "above.run.jsonl", "--json"]).out)["layers"][0];
    let first = &layer["overheads"][0];
    assert!(first["extra"]["low"].as_f64().is_some_and(f64::is_finite), "{layer}");
    let text = "theory in above.run.jsonl vs theory in below.run.jsonl at 1 B";
    let said = dir.run(&["ask", "below.run.jsonl", "above.run.jsonl", "--json", text]);
    let asked = &json(&said.out)["answers"][0]["figure"];
    for end in ["value", "low", "high"] {
        assert_eq!(asked[end].as_f64(), first["extra"][end].as_f64(), "{end}: {asked}, {first}");
    }
}

#[test]
fn the_cpu_time_of_a_transfer_is_that_of_the_run() {
    let dir = Scratch::new();
    let flags = ["--sizes", "64,64KiB", "--budget", "2s", "--no-html", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run", "tcp"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "cpu cost of 64 KiB"]);
    assert!(said.code() == 0 && said.out.contains("tcp: a transfer of 64 KiB costs the "), "{said}");
    exact(&dir, "exact.run.jsonl");
    let said = dir.run(&["ask", "exact.run.jsonl", "cpu cost of 64 KiB"]);
    assert!(said.code() == 2 && said.out.contains("this run has no CPU times"), "{said}");
}

#[test]
fn shares_of_the_most_are_those_of_the_model() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let rate = |bytes: f64| bytes / (10e-6 + bytes * 8e-10);
    let of = |bytes: f64| rate(bytes) / rate(4_194_304.0);
    near(figure(&dir, &["what percentage of the bandwidth does 4 KiB get"]), of(4096.0));
    near(figure(&dir, &["how full is the link at 1 KiB"]), of(1024.0));
    near(figure(&dir, &["how long for half of 8 MB"]), 10e-6 + 4e6 * 8e-10);
    near(figure(&dir, &["1 MB twice"]), 2.0 * (10e-6 + 1e6 * 8e-10));
    near(figure(&dir, &["download 700 MB over theory"]), 10e-6 + 7e8 * 8e-10);
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
fn no_path_that_was_asked_about_is_passed_over() {
    let dir = Scratch::new();
    exact(&dir, "full.run.jsonl");
    link(&dir, "tiny.run.jsonl", "latency=10us,rate=10Gbit/s", &["--to", "13", "--budget", "1s"]);
    link(&dir, "large.run.jsonl", "latency=10us,rate=10Gbit/s", &["--sizes", "4KiB,64KiB,1MiB", "--trials", "5"]);
    for (text, other) in [
        ("which path is fastest for 64KiB", "not known of theory (tiny): 13 B is the largest size measured"),
        ("which path has the highest throughput", "not known of theory (tiny): 13 B is the largest size measured"),
        ("which path has the lowest latency", "not known of theory (large): no size below 1 KiB was measured"),
    ] {
        let said = dir.run(&["ask", "full.run.jsonl", "tiny.run.jsonl", "large.run.jsonl", text]);
        assert!(said.code() == 0 && said.out.contains(other), "{text}: {said}");
    }
    let asked = |text: &str| dir.run(&["ask", "full.run.jsonl", "tiny.run.jsonl", text]);
    asked("latency of theory in gone.run.jsonl")
        .refuses(&["'gone.run.jsonl' is none of the run files", "tiny.run.jsonl"]);
    asked("latency of theory in gone").refuses(&["'gone' is none of the run files", "tiny.run.jsonl"]);
}

#[test]
fn one_path_overtakes_another_where_the_models_cross() {
    let dir = Scratch::new();
    link(&dir, "near.run.jsonl", "latency=10us,rate=1Gbit/s,header=0B", &["--to", "1MiB", "--budget", "2s"]);
    link(&dir, "far.run.jsonl", "latency=50us,rate=10Gbit/s,header=0B", &["--to", "1MiB", "--budget", "2s"]);
    // 40 us of start against 7.2 ns a byte: 5,556 B.
    let text = "from which size on is far faster than near";
    let said = dir.run(&["ask", "near.run.jsonl", "far.run.jsonl", "--json", text]);
    let size = &json(&said.out)["answers"][0]["figure"];
    let end = |name: &str| size[name].as_f64().unwrap_or_else(|| panic!("{said}"));
    assert!(end("low") <= 5556.0 && 5556.0 <= end("high") && end("high") < 1.6 * end("low"), "{said}");
    let said = dir.run(&["ask", "near.run.jsonl", "far.run.jsonl", text]);
    assert!(said.out.contains("theory (near) is faster up to ") && said.out.contains(", theory (far) from "), "{said}");
    link(&dir, "swift.run.jsonl", "latency=5us,rate=10Gbit/s,header=0B", &["--to", "1MiB", "--budget", "2s"]);
    let said = dir.run(&["ask", "near.run.jsonl", "swift.run.jsonl", "when does near overtake swift"]);
    assert!(
        said.out.contains("no crossing is seen from 1 B to 1 MiB") && said.out.contains("theory (swift) is faster"),
        "{said}"
    );
}

#[test]
fn means_and_further_bytes_are_told_of_what_was_measured() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let at = |bytes: f64| 10e-6 + bytes * 8e-10;
    near(figure(&dir, &["how long does 64 bytes take on average"]), at(64.0));
    let said = dir.run(&["ask", "a.run.jsonl", "how long does 64 bytes take on average", "average time of 70 kB"]);
    assert!(said.out.contains("the mean of all its trials, interruptions included; the median is 10.1 us"), "{said}");
    assert!(said.out.contains("which is the median: a mean is told of measured sizes only"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "one more kilobyte costs"]);
    assert!(said.out.contains("each further 1 kB (1,000 B) is 800 ns ["), "{said}");
}

#[test]
fn streams_of_frames_are_counted_by_the_time_of_a_frame() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    // 19.9 ms a frame, 33.3 ms for each: one stream; and two at 24 a second.
    for (text, count) in
        [("how many 4K streams at 30 fps", "1 stream ["), ("how many 4K streams at 24 fps", "2 streams [")]
    {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(
            said.out.contains(&format!("theory: {count}")) && said.out.contains("B uncompressed, which is assumed"),
            "{said}"
        );
    }
}

#[test]
fn flows_at_once_are_answered_by_the_paths_that_have_them() {
    let dir = Scratch::new();
    let flags = ["--flows", "1,2", "--sizes", "64,4KiB", "--budget", "1s", "--no-html", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run", "unix"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "throughput at 4 KiB with 2 connections"]);
    assert!(said.out.contains("over unix:flows=2 (a)\nunix:flows=2: messages of 4 KiB move"), "{said}");
    assert!(!said.out.0.contains("\nunix: "), "{said}");
    dir.run(&["ask", "a.run.jsonl", "throughput at 4 KiB with 8 connections"])
        .refuses(&["run unix --flows 8 measures it"]);
}

#[test]
fn the_path_of_least_cpu_time_is_told_with_the_others() {
    let dir = Scratch::new();
    let flags = ["--sizes", "64,64KiB", "--budget", "2s", "--no-html", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run", "unix", "tcp"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    exact(&dir, "exact.run.jsonl");
    let said = dir.run(&["ask", "a.run.jsonl", "exact.run.jsonl", "which path uses the least cpu at 64 KiB"]);
    assert!(said.code() == 0 && said.out.contains(": a transfer of 64 KiB costs least, "), "{said}");
    assert!(said.out.contains("on both sides") && said.out.contains("not known of theory (exact)"), "{said}");
}

#[test]
fn so_many_times_as_fast_is_answered_with_yes_or_no() {
    let dir = Scratch::new();
    // A byte takes three times as long over the one as over the other.
    link(&dir, "near.run.jsonl", "latency=10us,rate=10Gbit/s,header=0B", &["--to", "64KiB", "--budget", "2s"]);
    link(&dir, "far.run.jsonl", "latency=30us,rate=10Gbit/s,header=0B", &["--to", "64KiB", "--budget", "2s"]);
    for (text, words) in [
        ("is near twice as fast as far at 1 B", "theory (near): yes at 1 B (whether 2 times as fast as theory (far));"),
        (
            "is near 4 times as fast as far at 1 B",
            "theory (near): no at 1 B (whether 4 times as fast as theory (far));",
        ),
        ("is far twice as slow as near at 1 B", "theory (far): yes at 1 B (whether 2 times as slow as theory (near));"),
        ("is far twice as fast as near at 1 B", "theory (far): no at 1 B (whether 2 times as fast as theory (near));"),
    ] {
        let said = dir.run(&["ask", "near.run.jsonl", "far.run.jsonl", text]);
        assert!(said.out.contains(words) && said.out.contains("\n  it is 3.0"), "{text}: {said}");
    }
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
