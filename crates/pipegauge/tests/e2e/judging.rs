//! Asking: what answers claim, and what they rest on.

use std::fs;

use super::support::{Scratch, json};

const LINK: &str = "latency=10us,rate=10Gbit/s,header=0B";

fn measure(dir: &Scratch, name: &str, line: &[&str]) {
    let rest = ["--perturb", "0", "--no-html", "--quiet", "--seed", "1", "-o", name];
    let said = dir.run(&[&["run"][..], line, &rest].concat());
    assert!(said.measured(), "{said}");
}

/// What is said of questions about these files, in one line.
fn ask(dir: &Scratch, args: &[&str]) -> String {
    let said = dir.run(&[&["ask"], args].concat());
    format!("{}{}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A run of five sizes of which 256 KiB took so many times its time in each round: in the median, at the ends of its interval.
/// With a warning and with long trials that do not keep that up, where they are told of.
fn other_at_the_top(dir: &Scratch, rounds: [f64; 8], point: [f64; 3], warning: Option<&str>, keeps_up: Option<bool>) {
    let sizes = ["--sizes", "1KiB,16KiB,64KiB,256KiB,1MiB", "--trials", "8"];
    measure(dir, "m.run.jsonl", &[&["theory", "--theory", LINK, "--pattern", "stream"][..], &sizes].concat());
    let text = fs::read_to_string(dir.path("m.run.jsonl")).unwrap();
    // Long trials that take as long a message as the link does.
    let long: Vec<String> = (text.lines().map(json))
        .filter(|line| keeps_up == Some(false) && line["event"] == "trial" && line["size"] == 262_144)
        .filter(|line| line["warmup"].is_null() && [2, 5].contains(&line["block"].as_u64().unwrap()))
        .map(|mut line| {
            line["event"] = "sustained".into();
            let scale = (2.0 / line["far"]["seconds"].as_f64().unwrap()).ceil();
            line["seconds"] = (scale * line["seconds"].as_f64().unwrap()).into();
            line["far"]["seconds"] = (scale * line["far"]["seconds"].as_f64().unwrap()).into();
            let far = ["bytes", "received"];
            line["repeats"] = (scale as u64 * line["repeats"].as_u64().unwrap()).into();
            far.into_iter().for_each(|of| line["far"][of] = (scale as u64 * line["far"][of].as_u64().unwrap()).into());
            line.to_string()
        })
        .collect();
    let mut lines: Vec<String> = (text.lines().map(json))
        .map(|mut line| {
            let other = line["size"] == 262_144 && line["warmup"].is_null();
            if other && line["event"] == "trial" {
                let times = rounds[line["block"].as_u64().unwrap() as usize % 8];
                line["seconds"] = (times * line["seconds"].as_f64().unwrap()).into();
                line["far"]["seconds"] = (times * line["far"]["seconds"].as_f64().unwrap()).into();
            }
            if other && line["event"] == "point" {
                let median = line["median"].as_f64().unwrap();
                for (key, times) in ["median", "low", "high"].into_iter().zip(point) {
                    line[key] = (times * median).into();
                }
                line["throughput"] = (line["throughput"].as_f64().unwrap() / point[0]).into();
            }
            line.to_string()
        })
        .collect();
    let end = lines.len() - 1;
    lines.splice(end..end, warning.map(str::to_owned));
    let end = lines.len() - 1;
    lines.splice(end..end, long);
    fs::write(dir.path("m.run.jsonl"), lines.join("\n") + "\n").unwrap();
}

/// One whose largest throughput no interval resolves.
fn noisy_at_the_top(dir: &Scratch) {
    other_at_the_top(dir, [0.02, 0.05, 0.2, 0.6, 0.3, 2.0, 0.1, 1.0], [0.25, 0.1, 5.0], None, None);
}

#[test]
fn what_a_token_bucket_let_pass_carries_no_rate() {
    let told = r#"{"event":"warning","code":"bucket","path":0,"sizes":[262144],"text":"likely a token bucket"}"#;
    let cases = [
        (None, None, "yes", "at 256 KiB"),
        (Some(told), None, "not surely", "at 256 KiB"),
        (Some(told), Some(false), "no", "10.0 Gbit/s"),
    ];
    for (warning, keeps_up, verdict, most) in cases {
        let dir = Scratch::new();
        other_at_the_top(&dir, [0.25; 8], [0.25, 0.249, 0.251], warning, keeps_up);
        let said = ask(&dir, &["m.run.jsonl", "can theory do 20 Gbit/s"]);
        assert!(said.contains(&format!("theory: {verdict}: ")), "{said}");
        let said = ask(&dir, &["m.run.jsonl", "what is the bandwidth"]);
        assert!(said.contains(most) && said.contains("256 KiB") == keeps_up.is_none(), "{said}");
        let unknown =
            said.contains("a token bucket may have let this pass, and whether the path keeps it up is not known");
        assert_eq!(unknown, warning.is_some() && keeps_up.is_none(), "{said}");
        let said = ask(&dir, &["m.run.jsonl", "which size reaches 95% of the maximum throughput"]);
        assert!(keeps_up.is_none() || !said.contains("256 KiB"), "{said}");
    }
}

#[test]
fn a_rate_is_judged_by_any_size_that_surely_carries_it() {
    let dir = Scratch::new();
    noisy_at_the_top(&dir);
    for text in ["can theory do 1 GB/s", "can theory saturate a 5GbE link"] {
        let said = ask(&dir, &["m.run.jsonl", text]);
        assert!(said.contains("theory: yes: at ") && said.contains(" it moves 10.0 Gbit/s ["), "{said}");
        assert!(!said.contains("not resolved"), "{said}");
    }
    let said = ask(&dir, &["m.run.jsonl", "can theory do 20 Gbit/s"]);
    assert!(said.contains("theory: not surely: at 256 KiB it moves the most, between"), "{said}");
}

#[test]
fn a_maximum_that_is_not_resolved_gives_no_point_figure() {
    let dir = Scratch::new();
    noisy_at_the_top(&dir);
    let said = ask(&dir, &["m.run.jsonl", "how many 25 Mbit/s streams"]);
    assert!(said.contains("theory: 399 streams [") || said.contains("theory: 400 streams ["), "{said}");
    assert!(said.contains("what it surely moves is 10.0 Gbit/s"), "{said}");
    let said = ask(&dir, &["m.run.jsonl", "how many MiB/s"]);
    assert!(said.contains("; that is between ") && said.contains(" MiB/s (not resolved)"), "{said}");
    assert!(said.contains("; surely 10.0 Gbit/s"), "{said}");
}

/// The figure of an answer.
fn figure(dir: &Scratch, text: &str) -> f64 {
    let said = dir.run(&["ask", "m.run.jsonl", "--json", text]);
    json(&said.out)["answers"][0]["figure"]["value"].as_f64().unwrap_or_else(|| panic!("no figure: {said}"))
}

#[test]
fn many_messages_take_what_as_many_a_second_do() {
    // Short trials took a quarter of the time of long ones: a hundred messages took 5 ms, and 4,770 went in a second.
    let dir = Scratch::new();
    other_at_the_top(&dir, [0.25; 8], [0.25, 0.249, 0.251], None, Some(false));
    let rate = figure(&dir, "how many messages of 256 KiB per second");
    for count in [10u32, 100, 10_000] {
        let seconds = figure(&dir, &format!("how long for {count} messages of 256 KiB"));
        assert!((seconds * rate / f64::from(count) - 1.0).abs() < 0.01, "{count}: {seconds} s at {rate} a second");
    }
}

#[test]
fn what_goes_in_a_day_is_what_surely_goes() {
    let dir = Scratch::new();
    noisy_at_the_top(&dir);
    let said = ask(&dir, &["m.run.jsonl", "how many gigabytes per day"]);
    assert!(said.contains(" and surely it moves 10.0 Gbit/s [") && !said.contains("; that is between"), "{said}");
}

#[test]
fn what_is_kept_up_is_no_yes_where_it_was_not_measured() {
    let dir = Scratch::new();
    noisy_at_the_top(&dir);
    let said = dir.run(&["ask", "m.run.jsonl", "can theory do 1 Gbit/s sustained"]);
    assert!(said.code() == 2 && said.out.contains("read as: whether 1.00 Gbit/s can be carried"), "{said}");
    let said = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("best size, sustained, over theory"), "{said}");
    assert!(said.contains("theory: no answer: whether it keeps that up is not known"), "{said}");
    assert!(said.contains("what is kept up was not measured near that size"), "{said}");
}

#[test]
fn a_path_is_held_against_its_like_and_each_size_once() {
    let dir = Scratch::new();
    let paths = ["unix", "tcp", "--pattern", "burst", "--burst", "8", "--pairs", "1,2", "--sizes", "1,64"];
    measure(&dir, "p.run.jsonl", &[&paths[..], &["--trials", "4", "--repeats", "10", "--budget", "60s"]].concat());
    let said = ask(&dir, &["p.run.jsonl", "is unix faster than tcp?"]);
    assert_eq!(said.matches(" costs over ").count(), 2, "{said}");
    for pairs in ["pairs=1", "pairs=2"] {
        assert!(said.contains(&format!("costs over tcp:{pairs}")), "{said}");
    }
    measure(&dir, "one.run.jsonl", &["unix", "tcp", "--sizes", "64", "--trials", "4", "--repeats", "10"]);
    let said = ask(&dir, &["one.run.jsonl", "what does tcp cost over unix?"]);
    assert!(said.contains("rests on: 64 B to sharpen"), "{said}");
}

#[test]
fn a_plain_name_means_the_plain_path_and_says_how_others_are_named() {
    let dir = Scratch::new();
    // On a busy machine flows may not run at once, and then have no point: the path is there.
    let flows = ["run", "tcp", "--pattern", "stream", "--flows", "1,2,4", "--sizes", "64KiB", "--budget", "1s"];
    let said = dir.run(&[&flows[..], &["--no-html", "--quiet", "-o", "f.run.jsonl"]].concat());
    assert!(dir.names().contains(&"f.run.jsonl".to_owned()), "{said}");
    let said = ask(&dir, &["f.run.jsonl", "bandwidth of tcp"]);
    assert!(said.contains("(asked by their own names: tcp:flows=2, tcp:flows=4)"), "{said}");
    assert!(said.contains(" tcp: ") && !said.contains("tcp:flows=2: "), "{said}");
    let said = ask(&dir, &["f.run.jsonl", "bandwidth of tcp:flows=4"]);
    assert!(said.contains(" tcp:flows=4: ") && !said.contains("own names"), "{said}");
    let said = ask(&dir, &["f.run.jsonl", "which number of flows is best"]);
    assert!(said.contains("tcp:flows=2") && said.contains("tcp:flows=4") && said.contains(" tcp: "), "{said}");
}

#[test]
fn what_a_path_saves_is_said_first() {
    let dir = Scratch::new();
    for (name, latency) in [("far", "20us"), ("near", "10us")] {
        let model = format!("latency={latency},rate=1Gbit/s,header=0B");
        measure(&dir, &format!("{name}.run.jsonl"), &["theory", "--theory", &model, "--to", "64KiB", "--budget", "2s"]);
    }
    let said = ask(&dir, &["far.run.jsonl", "near.run.jsonl", "is near worth it over far at 1 KiB"]);
    assert!(said.contains("theory (near) saves over theory (far): 10.0 us"), "{said}");
    assert!(said.contains("at 1 KiB (-35%, surely)"), "{said}");
}

#[test]
fn the_sides_of_one_run_are_compared_round_by_round_as_compare_does() {
    let dir = Scratch::new();
    let first = "latency=10us,rate=10Gbit/s,noise=20%";
    let vs = "--theory 'latency=11us,rate=9.0909090909Gbit/s,noise=20%'";
    measure(&dir, "x.run.jsonl", &["theory", "--theory", first, "--vs", vs, "--to", "64KiB", "--budget", "4s"]);
    let files = ["x.a.run.jsonl", "x.b.run.jsonl"];
    let found = &json(&dir.run(&["compare", files[0], files[1], "--json"]).out)["comparisons"][0];
    let said = dir.run(&["ask", files[0], files[1], "--json", "is x.b faster than x.a at 1 B"]);
    let factor = &json(&said.out)["answers"][0]["factor"];
    let one = found["sizes"].as_array().unwrap().iter().find(|s| s["size"] == 1).unwrap();
    for (ours, theirs) in [("value", "value"), ("low", "high"), ("high", "low")] {
        let (ours, theirs) = (factor[ours].as_f64().unwrap(), one["ratio"][theirs].as_f64().unwrap());
        assert!((ours * theirs - 1.0).abs() < 1e-9, "{factor} {one}");
    }
    let said = ask(&dir, &[files[0], files[1], "is x.b faster than x.a"]);
    assert!(said.contains("round by round in turns") && said.contains("over all sizes theory (x.b) takes 1"), "{said}");
    let said = ask(&dir, &[files[0], files[1], "does the sockbuf setting matter?"]);
    assert!(said.contains("pipegauge compare x.a.run.jsonl x.b.run.jsonl tells"), "{said}");
}

#[test]
fn rates_that_were_offered_are_one_path() {
    let dir = Scratch::new();
    let rates = ["--pattern", "stream", "--rate", "20Mbit/s,40Mbit/s,80Mbit/s", "--sizes", "1400", "--budget", "2s"];
    measure(&dir, "r.run.jsonl", &[&["theory", "--theory", "latency=1us,rate=10Gbit/s,loss=10%"][..], &rates].concat());
    let one = |text: &str| {
        let said = ask(&dir, &["r.run.jsonl", text]);
        assert!(!said.contains("theory:offered=") && said.matches("to sharpen it").count() == 1, "{text}: {said}");
        said
    };
    for (text, words) in [
        ("can theory do 80 Mbit/s", "theory: no: with messages of 1,400 B, of 80.0 Mbit/s offered 7"),
        (
            "can theory do 1 Gbit/s",
            "theory: no: the most that arrived, with messages of 1,400 B: of 80.0 Mbit/s offered 7",
        ),
        ("can theory do 30 Mbit/s", "theory: not surely: with messages of 1,400 B, of 40.0 Mbit/s offered 3"),
        ("bandwidth of theory", "theory: the most that arrived, with messages of 1,400 B: of 80.0 Mbit/s offered 7"),
    ] {
        let said = one(text);
        assert!(said.contains(words) && said.contains("% lost)"), "{text}: {said}");
    }
    let said = one("is 1 Gbit/s more than theory can do");
    assert!(said.contains("theory: yes: the most that arrived"), "{said}");
    assert!(one("how many 25 Mbit/s streams").contains("theory: no answer: messages were sent on a schedule"));
    let said = one("how many packets are lost");
    assert!(said.contains("theory: of messages of 1,400 B lost: ") && said.contains(" were at 80.0 Mbit/s"), "{said}");
    assert!(one("what rate without loss").contains("theory: no answer: of messages of 1,400 B: No rate"));
    let said = ask(&dir, &["r.run.jsonl", "packet loss at 80 megabit"]);
    assert!(said.contains("how many messages are lost where 80.0 Mbit/s are offered"), "{said}");
    assert!(said.contains("messages were lost (") && said.matches("to sharpen it").count() == 1, "{said}");
}

#[test]
fn rates_that_all_arrive_are_carried() {
    let dir = Scratch::new();
    let rates = ["--pattern", "stream", "--rate", "20Mbit/s,40Mbit/s", "--sizes", "1400", "--budget", "2s"];
    measure(&dir, "r.run.jsonl", &[&["theory", "--theory", "latency=1us,rate=10Gbit/s"][..], &rates].concat());
    let said = ask(&dir, &["r.run.jsonl", "can theory do 30 Mbit/s"]);
    assert!(said.contains("theory: yes: with messages of 1,400 B, of 40.0 Mbit/s offered 40.0 Mbit/s"), "{said}");
    for (text, why) in [
        ("can theory do 1 Gbit/s", "1.00 Gbit/s were not offered"),
        ("bandwidth of theory", "more than arrived was not offered: of 40.0 Mbit/s offered 40.0 Mbit/s"),
    ] {
        let said = ask(&dir, &["r.run.jsonl", text]);
        assert!(said.contains(&format!("theory: no answer: {why}")), "{said}");
    }
}

#[test]
fn what_the_summary_knows_of_a_path_that_still_rises_is_answered() {
    let dir = Scratch::new();
    let request = ["tcp", "--pattern", "request", "--sizes", "64,1KiB", "--response", "4KiB", "--budget", "1s"];
    measure(&dir, "q.run.jsonl", &request);
    let said = ask(&dir, &["q.run.jsonl", "how many requests per second"]);
    assert!(said.contains("requests of 64 B with answers of 4 KiB, one at a time"), "{said}");
    let shown = dir.run(&["show", "q.run.jsonl"]);
    assert!(shown.out.contains("Throughput counts both ways: messages and their answers of 4 KiB."), "{shown}");
    // Below saturation for sure.
    let tiny = ["theory", "--theory", LINK, "--pattern", "bidirectional", "--sizes", "1,2,4,8", "--budget", "1s"];
    measure(&dir, "b.run.jsonl", &tiny);
    for text in ["what is the bandwidth", "total bandwidth both directions"] {
        let said = ask(&dir, &["b.run.jsonl", text]);
        assert!(said.contains("theory: moves at least ") && said.contains(", both directions at once"), "{said}");
        assert!(said.contains("8 B is the largest size measured"), "{said}");
    }
}

#[test]
fn a_path_does_not_rise_beyond_the_largest_message_that_it_carries() {
    let dir = Scratch::new();
    let line = ["theory", "--theory", "latency=10us,rate=10Gbit/s,noise=1%", "--to", "32KiB", "--budget", "2s"];
    measure(&dir, "r.run.jsonl", &line);
    let shown = dir.run(&["show", "r.run.jsonl"]);
    assert!(shown.out.contains("(rising)"), "{shown}");
    let text = fs::read_to_string(dir.path("r.run.jsonl")).unwrap();
    let lines = text.lines().map(json).map(|mut line| {
        if line["event"] == "path" {
            line["capabilities"]["max_block"] = 32_768.into();
        }
        format!("{line}\n")
    });
    fs::write(dir.path("ends.run.jsonl"), lines.collect::<String>()).unwrap();
    let shown = dir.run(&["show", "ends.run.jsonl"]);
    assert!(shown.out.contains("32 KiB") && !shown.out.contains("(rising)"), "{shown}");
}

#[test]
fn a_remedy_can_help() {
    let dir = Scratch::new();
    measure(&dir, "a.run.jsonl", &["theory", "--theory", LINK, "--sizes", "1MiB", "--budget", "1s"]);
    let text = "what would 100 Gbit/s ethernet bring";
    let said = ask(&dir, &["a.run.jsonl", text]);
    assert!(said.contains("three sizes") && said.ends_with("pipegauge run theory:header=0 --budget 30s"), "{said}");
    measure(&dir, "b.run.jsonl", &["theory", "--theory", LINK, "--budget", "1s"]);
    let said = ask(&dir, &["b.run.jsonl", text]);
    assert!(said.contains("a message of ") && said.contains(" would take"), "{said}");
}

#[test]
fn idle_means_the_path_that_nothing_loaded() {
    let dir = Scratch::new();
    measure(&dir, "l.run.jsonl", &["tcp", "--load", "1", "--sizes", "64", "--budget", "2s"]);
    let said = ask(&dir, &["l.run.jsonl", "latency idle"]);
    assert!(said.contains(" tcp: 64 B arrives after") && !said.contains("tcp:load=1,load-size=128KiB: "), "{said}");
    assert!(!said.contains("a run does not tell how busy"), "{said}");
}

#[test]
fn a_time_that_is_too_short_is_a_no_and_a_long_transfer_is_judged() {
    let dir = Scratch::new();
    measure(&dir, "a.run.jsonl", &["theory", "--theory", LINK, "--to", "64KiB", "--budget", "1s"]);
    let said = ask(&dir, &["a.run.jsonl", "is theory fast enough for 5 microseconds deadline"]);
    assert!(said.contains("theory: no: even 1 B, the smallest measured, takes longer than 5.00 us, 10.0 us"), "{said}");
    let stream = ["theory", "--theory", LINK, "--pattern", "stream", "--to", "1MiB", "--budget", "1s"];
    measure(&dir, "s.run.jsonl", &stream);
    let said = ask(&dir, &["s.run.jsonl", "can theory transfer 10 GB in a minute"]);
    assert!(said.contains("theory: yes: sending 10 GB (10,000,000,000 B) in a long stream takes 8.0"), "{said}");
    let said = ask(&dir, &["s.run.jsonl", "can theory transfer 1000 GB in a minute"]);
    assert!(said.contains("theory: no: sending"), "{said}");
}
