//! Asking about losses, about other runs, and where two paths lie so far apart.

use super::support::{Scratch, json};

fn run(dir: &Scratch, line: &[&str]) {
    let rest = ["--no-html", "--quiet", "--seed", "1", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run"][..], line, &rest].concat());
    assert!(said.measured(), "{said}");
}

fn ask(dir: &Scratch, text: &str) -> String {
    dir.run(&["ask", "a.run.jsonl", text]).out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn losses_are_told_at_the_rate_that_is_asked_about() {
    let dir = Scratch::new();
    let model = "latency=1us,rate=10Gbit/s,loss=10%";
    run(&dir, &["theory", "--theory", model, "--pattern", "stream", "--rate", "20Mbit/s,80Mbit/s", "--budget", "1s"]);
    let said = ask(&dir, "how many packets are lost at 80 Mbit/s");
    assert!(said.contains("messages were lost (") && said.contains("80.0 Mbit/s offered"), "{said}");
    assert_eq!(said.matches("messages were lost").count(), 1, "one rate is asked about: {said}");
    let said = ask(&dir, "how many packets are lost at 1 Gbit/s");
    assert!(said.contains("1.00 Gbit/s were not offered; what was: 20.0 Mbit/s, 80.0 Mbit/s"), "{said}");
    assert!(said.contains("--pattern stream --rate 1Gbit/s"), "{said}");
    let said = ask(&dir, "what rate without loss");
    assert!(said.contains("No rate without loss is known. At 20.0 Mbit/s"), "{said}");
}

#[test]
fn a_path_that_delivers_all_loses_nothing_and_one_at_a_time_is_no_rate() {
    let dir = Scratch::new();
    run(&dir, &["unix", "udp", "--sizes", "64,1KiB", "--budget", "1s"]);
    let said = ask(&dir, "how many packets are lost at 1 Gbit/s over udp");
    assert!(
        said.contains("and not at a rate") && said.contains("pipegauge run udp --pattern stream --rate 1Gbit/s"),
        "{said}"
    );
    assert!(ask(&dir, "does unix lose messages").contains("unix: no message is lost: the path delivers each"));
    let said = ask(&dir, "does udp lose anything");
    assert!(
        said.contains("over udp udp: no message was lost") || said.contains("over udp udp: answers were missing"),
        "{said}"
    );
}

#[test]
fn the_path_that_loses_least_comes_first() {
    let dir = Scratch::new();
    run(
        &dir,
        &["theory:loss=10%", "theory:loss=1%", "unix", "--pattern", "stream", "--sizes", "1KiB", "--budget", "2s"],
    );
    let said = ask(&dir, "which path loses least");
    assert!(said.contains("read as: the path that loses least, over all paths unix: no message is lost"), "{said}");
    let places =
        ["unix: no", " theory:loss=1%: ", " theory:loss=10%: "].map(|name| said.find(name).unwrap_or(usize::MAX));
    assert!(places.is_sorted() && places[2] < usize::MAX, "{said}");
    assert_eq!(said.matches("messages were lost (").count(), 2, "{said}");
}

#[test]
fn whether_a_path_is_the_first_or_the_last_is_judged_among_all() {
    let dir = Scratch::new();
    let paths = [
        "latency=30us,rate=1Gbit/s,label=eth",
        "latency=2us,rate=50Gbit/s,label=ib",
        "latency=1us,rate=100Mbit/s,label=bus",
    ];
    let paths = paths.map(|path| format!("theory:header=0,{path}"));
    run(&dir, &[&paths[0], &paths[1], &paths[2], "--sizes", "1,1KiB,64KiB,4MiB", "--budget", "2s"]);
    for (text, want) in [
        ("is ib the fastest path for 1 KiB", "yes (whether ib is the first of all)"),
        ("is bus the fastest path for 1 KiB", "no (whether bus is the first of all)"),
        ("is bus the slowest path for 64 KiB", "yes (whether bus is the last of all)"),
        ("is eth the slowest for 1 KiB", "no (whether eth is the last of all)"),
        ("does eth have the lowest latency", "no (whether eth is the first of all)"),
        ("does ib have the highest bandwidth", "yes (whether ib is the first of all)"),
        ("does eth have the highest throughput at 1 KiB", "no (whether eth is the first of all)"),
    ] {
        let said = ask(&dir, text);
        assert!(said.contains(want), "{text}: {said}");
    }
    assert!(!ask(&dir, "which path is fastest for 1 KiB").contains("whether"));
}

#[test]
fn two_sizes_of_a_path_are_held_against_each_other() {
    let dir = Scratch::new();
    let model = "latency=10us,rate=1Gbit/s,header=0B";
    run(&dir, &["theory", "--theory", model, "--sizes", "1KiB,64KiB", "--budget", "1s"]);
    let factor = |text: &str| {
        let said = dir.run(&["ask", "a.run.jsonl", text, "--json"]).out;
        let figure = |of: &str| json(&said)["answers"][0]["figure"][of].as_f64().unwrap();
        let (low, value, high) = (figure("low"), figure("value"), figure("high"));
        assert!(low <= value && value <= high, "{said}");
        value
    };
    // 10 us and 524.288 us against 10 us and 8.192 us.
    let exact = 534.288 / 18.192;
    assert!((factor("how much slower is 64 KiB than 1 KiB") / exact - 1.0).abs() < 1e-3);
    assert!((factor("how much faster than 64 KiB is 1 KiB") * exact - 1.0).abs() < 1e-3);
    assert!((factor("how much more bandwidth does 64 KiB get than 1 KiB") / (64.0 / exact) - 1.0).abs() < 1e-3);
    let said = ask(&dir, "is 64 KiB 10 times slower than 1 KiB");
    assert!(said.contains("theory: yes (whether 10 times as slow as 1 KiB): 64 KiB takes 29.3"), "{said}");
}

#[test]
fn so_many_a_second_cost_so_many_times_the_cpu_time_of_one() {
    let dir = Scratch::new();
    run(&dir, &["unix", "--sizes", "1KiB,64KiB", "--budget", "1s"]);
    let figure = |text: &str| {
        let said = dir.run(&["ask", "a.run.jsonl", text, "--json"]).out;
        json(&said)["answers"][0]["figure"]["value"].as_f64().unwrap_or_else(|| panic!("{text}: {said}"))
    };
    let one = figure("cpu cost of 1 KiB");
    let alike = |text: &str, times: f64| assert!((figure(text) / one / times - 1.0).abs() < 1e-6, "{text}");
    alike("how much CPU do 10,000 messages of 1 KiB a second cost", 1e4);
    alike("cpu for 600 messages of 1 KiB per minute", 10.0);
    alike("cpu load of 1000 requests per second of 1 KiB", 2e3);
    alike("cores for 8192 kbit/s with 1 KiB messages", 1e3);
    let said = ask(&dir, "can one core do 1,000,000 messages of 1 KiB a second");
    assert!(said.contains("of a CPU (") && said.contains("one after another so many do not go"), "{said}");
}

#[test]
fn how_runs_vary_is_told_from_earlier_ones_or_said_to_be_unknown() {
    let dir = Scratch::new();
    run(
        &dir,
        &["theory", "--theory", "latency=10us,rate=10Gbit/s,noise=1%", "--sizes", "64,1KiB,64KiB", "--budget", "1s"],
    );
    let said = ask(&dir, "how much does it vary from run to run");
    assert!(
        said.contains("read as: how far whole runs lie apart")
            && said.contains("no answer: how far runs lie apart: no machine has a part"),
        "{said}"
    );
    // What runs of the path took before, each a tenth more than the one before.
    let file = dir.path("a.run.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let points: Vec<(u64, f64)> = (text.lines().map(json))
        .filter(|line| line["event"] == "point")
        .map(|line| (line["size"].as_u64().unwrap(), line["median"].as_f64().unwrap()))
        .collect();
    let runs: Vec<serde_json::Value> = (0..4)
        .map(|run: i32| {
            let level = 1.1f64.powi(run - 1);
            let points: Vec<(u64, f64)> = points.iter().map(|(size, seconds)| (*size, seconds * level)).collect();
            serde_json::json!({ "started": format!("2026-01-0{}T00:00:00Z", run + 1), "points": points })
        })
        .collect();
    let earlier = serde_json::json!({ "event": "earlier", "path": 0, "runs": runs }).to_string();
    let (before, after): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| ["run", "path"].contains(&json(line)["event"].as_str().unwrap()));
    std::fs::write(&file, [before, vec![&earlier], after].concat().join("\n") + "\n").unwrap();
    let said = ask(&dir, "how much does it vary from run to run");
    for part in ["whole runs differ by ", "4 earlier runs)", "a repeat of 64 B", "medians of 64 B in earlier runs: "] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = ask(&dir, "how far apart are runs of 1 MB from run to run");
    assert!(said.contains("1 MB (1,000,000 B) was not measured; whole runs differ by"), "{said}");
}

#[test]
fn the_size_at_which_a_path_is_so_much_slower_is_where_the_models_say() {
    let dir = Scratch::new();
    for (name, latency) in [("far", "20us"), ("near", "10us")] {
        let model = format!("latency={latency},rate=1Gbit/s,header=0B");
        let name = format!("{name}.run.jsonl");
        let line = ["run", "theory", "--theory", &model, "--to", "1MiB", "--budget", "2s", "--no-html", "--quiet"];
        let said = dir.run(&[&line[..], &["--seed", "1", "-o", &name]].concat());
        assert_eq!(said.code(), 0, "{said}");
    }
    // 20 us + x is 1.1 times 10 us + x where x is 90 us: 11,250 B.
    let text = "at which size is far only 10% slower than near";
    let said = dir.run(&["ask", "far.run.jsonl", "near.run.jsonl", "--json", text]);
    let answer = &json(&said.out)["answers"][0];
    let end = |name: &str| answer["figure"][name].as_f64().unwrap_or_else(|| panic!("{said}"));
    assert!(end("low") <= 11_250.0 && 11_250.0 <= end("high") && end("high") < 1.6 * end("low"), "{said}");
    let words = answer["text"].as_str().unwrap();
    assert!(words.contains("takes more than 1.1 times as long as theory (near) up to "), "{said}");
    let said = dir.run(&["ask", "far.run.jsonl", "near.run.jsonl", "at which size is far 200% slower than near"]);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("no size is seen from 1 B to 1 MiB at which theory (far) takes 3 times as long as"),
        "{said}"
    );
    assert!(words.contains("where it is sure, it takes less than that"), "{said}");
}
