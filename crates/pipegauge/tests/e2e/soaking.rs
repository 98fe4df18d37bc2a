//! `run --duration`: a line for each interval, what ends a soak early, what reads its file, and what it does not go with.

use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::processes::{all_end, far_processes, send};
use super::support::{HISTORY, Running, Said, Scratch, binary, json};

/// Flags of a soak that goes on until something ends it.
const LONG: [&str; 12] = [
    "run",
    "tcp",
    "--duration",
    "1h",
    "--every",
    "100ms",
    "--pin",
    "none",
    "--no-html",
    "-o",
    "x.run.jsonl",
    "--check",
];

/// A soak under way, with its head and two lines printed.
fn long(dir: &Scratch) -> Running {
    let run = Running::start(dir.command(&LONG));
    let head = run.line();
    assert!(head.contains("iterations") && head.contains("p99"), "{head}");
    for _ in 0..2 {
        let line = run.line();
        assert!(line.contains(" s ") && line.contains("64 B"), "{line}");
    }
    run
}

/// What was measured whole is shown and kept.
fn kept(dir: &Scratch, said: &Said) {
    assert_eq!(said.code(), 1, "{said}");
    assert!(said.out.contains("the worst interval is number"), "{said}");
    let shown = dir.run(&["show", "x.run.jsonl", "--json"]);
    assert_eq!(shown.code(), 0, "{shown}");
    let doc = json(&shown.out);
    assert!(doc["paths"][0]["soak"][0]["intervals"].as_u64() >= Some(2), "{doc}");
}

#[test]
fn a_killed_far_side_ends_a_soak_with_a_word_and_what_was_measured_stays() {
    let dir = Scratch::new();
    let run = long(&dir);
    let far = far_processes(run.pid());
    send(far[0].pid, Signal::KILL);
    let said = run.end();
    said.complains(&["far side"]);
    kept(&dir, &said);
}

#[test]
fn ctrl_c_ends_a_soak_and_what_was_measured_stays() {
    let dir = Scratch::new();
    let run = long(&dir);
    let far = far_processes(run.pid());
    run.signal(Signal::INT);
    let said = run.end();
    said.complains(&["interrupted"]);
    kept(&dir, &said);
    all_end(&far);
}

#[test]
fn a_reader_that_goes_away_ends_a_soak() {
    let dir = Scratch::new();
    let mut command = Command::new("sh");
    command.arg("-c").arg("\"$0\" \"$@\" | head -n 3").arg(binary()).args(LONG);
    command.env(HISTORY.0, HISTORY.1).current_dir(dir.path(".")).stdin(Stdio::null());
    let said = Running::start(command).end();
    assert_eq!(said.out.lines().count(), 3, "{said}");
    said.complains(&[]);
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn a_full_disk_ends_a_soak_and_loses_nothing_that_was_written() {
    let dir = Scratch::new();
    let mut command = Command::new("sh");
    command.arg("-c").arg("ulimit -f 40; exec \"$0\" \"$@\"").arg(binary()).args(LONG);
    command.env(HISTORY.0, HISTORY.1).current_dir(dir.path(".")).stdin(Stdio::null());
    let said = Running::start(command).end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["File too large", "kept and readable"]);
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn every_reader_knows_what_to_do_with_a_soak() {
    let dir = Scratch::new();
    let theory = ["--theory", "latency=100us,noise=1%", "--pin", "none"];
    let said = dir.run(
        &[&["run", "theory", "--duration", "20s", "--sizes", "64,4KiB", "-o", "x.run.jsonl"][..], &theory].concat(),
    );
    assert!(said.measured(), "{said}");
    assert_eq!(
        said.out.lines().take_while(|l| !l.is_empty()).count(),
        1 + 2 * 20,
        "a head and a line for each: {said}"
    );
    for part in ["Soak: transfer time over the time", "drift", "the worst interval is number", "no stall", "x.html"] {
        assert!(said.out.contains(part), "'{part}' is missing in: {said}");
    }
    assert!(
        !said.out.contains("half power") && !dir.path(HISTORY.1).exists(),
        "a soak is no curve and no repeat: {said}"
    );
    let page = std::fs::read_to_string(dir.path("x.html")).unwrap();
    assert!(page.contains("Time since the start") && page.contains("the worst interval is number"));

    let shown = dir.run(&["show", "x.run.jsonl", "--json"]);
    let doc = json(&shown.out);
    assert_eq!(doc["paths"][0]["soak"][1]["intervals"], 20, "{doc}");
    assert!(doc["paths"][0]["drift"]["ratio"]["low"].as_f64() > Some(0.9));
    let csv = dir.run(&["export", "x.run.jsonl", "--format", "csv"]).out;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.trim_end().split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|n| *n == name).unwrap();
    let (number, at, p99) = (column("interval"), column("at_s"), column("p99_s"));
    assert_eq!(rows.len(), 1 + 40, "a row for each interval of each size");
    assert_eq!((rows[1][number], rows[40][number]), ("1", "20"));
    assert!(rows[40][at].parse::<f64>().unwrap() > 19.0 && rows[40][p99].parse::<f64>().unwrap() > 1e-4);
    let exported = json(&dir.run(&["export", "x.run.jsonl", "--format", "json"]).out);
    assert_eq!(exported["paths"][0]["points"].as_array().map(Vec::len), Some(40));
    let metrics = dir.run(&["export", "x.run.jsonl", "--format", "openmetrics"]).out;
    assert_eq!(metrics.matches("pipegauge_latency_seconds{").count(), 2, "a gauge is one value: {metrics}");
    for file in ["x.svg", "x.png"] {
        assert_eq!(dir.run(&["plot", "x.run.jsonl", "-o", file]).code(), 0);
    }
    assert!(std::fs::read_to_string(dir.path("x.svg")).unwrap().contains("Time since the start"));
    assert_eq!(dir.run(&["plot", "x.run.jsonl", "--graph", "rate-over-time", "-o", "rate.svg"]).code(), 0);
    assert_eq!(dir.run(&["jitter", "x.run.jsonl"]).code(), 0);
    dir.run(&["plot", "x.run.jsonl", "--graph", "signature", "-o", "no.svg"]).refuses(&["soak", "--graph over-time"]);
    dir.run(&["compare", "x.run.jsonl", "x.run.jsonl"]).refuses(&["soak", "without --duration"]);
    dir.run(&["explain", "x.run.jsonl"]).refuses(&["soak"]);
    dir.run(&["export", "x.run.jsonl", "--format", "np"]).refuses(&["soak", "csv"]);

    // Its times and percentiles are what its table has, and nothing else is known of it.
    let p99 = doc["paths"][0]["points"][0]["percentiles"]["p99"].as_f64().expect("a p99");
    let said = dir.run(&["ask", "x.run.jsonl", "--json", "p99 of 64 bytes"]);
    let told = &json(&said.out)["answers"][0];
    assert!((told["figure"]["value"].as_f64().unwrap() / p99 - 1.0).abs() < 0.01, "{said} {p99}");
    assert!(told["read_as"].as_str().unwrap().contains("over the whole soak: one connection"), "{said}");
    let said = dir.run(&["ask", "x.run.jsonl", "how long for 4 KiB", "latency", "longest time of 4 KiB"]);
    assert!(said.code() == 0 && said.out.matches("theory: ").count() >= 3, "{said}");
    for text in ["how long for 1 KiB", "what is the bandwidth", "100 messages of 64 bytes"] {
        let said = dir.run(&["ask", "x.run.jsonl", text]);
        assert!(said.code() == 2 && said.out.contains("this is a soak (run --duration)"), "{text}: {said}");
    }
    dir.run(&["ask", "x.run.jsonl", "x.run.jsonl", "latency"]).refuses(&["soak", "without --duration"]);

    let stream = ["run", "theory", "--pattern", "stream", "--duration", "3s", "-o", "s.run.jsonl", "--no-html"];
    let said = dir.run(&[&stream[..], &theory].concat());
    assert!(said.measured() && said.out.contains("Soak: throughput over the time"), "{said}");
    dir.run(&["plot", "s.run.jsonl", "x.run.jsonl", "--graph", "throughput", "-o", "no.svg"]).refuses(&["soak"]);
}

/// Lines, the sentence of the worst interval and the export count the time from one moment, the run's start: opening and warming up take 12 ms
/// of the modelled link's clock, which an interval's line would be off by.
#[test]
fn an_interval_has_one_moment_wherever_it_is_told() {
    let dir = Scratch::new();
    let soak = ["run", "theory", "--duration", "2s", "--every", "100ms", "--sizes", "64,4KiB", "-o", "x.run.jsonl"];
    let said = dir.run(&[&soak[..], &["--theory", "latency=100us,noise=1%", "--pin", "none", "--no-html"]].concat());
    assert!(said.measured(), "{said}");
    let lines = said.out.lines().skip(1).take_while(|line| !line.is_empty());
    let mut told: Vec<String> = lines.map(|line| line.split(" s ").next().unwrap().trim().to_owned()).collect();
    let csv = dir.run(&["export", "x.run.jsonl", "--format", "csv"]).out;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.trim_end().split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|n| *n == name).unwrap();
    let (number, at) = (column("interval"), column("at_s"));
    let moments: Vec<(&str, f64)> = rows[1..].iter().map(|row| (row[number], row[at].parse().unwrap())).collect();
    let mut exported: Vec<String> = moments.iter().map(|(_, at)| format!("{at:.2}")).collect();
    told.sort();
    exported.sort();
    assert_eq!((told.len(), &told), (40, &exported));
    assert_ne!(told[0], "0.00", "what comes before the first interval takes time of the run");
    let worst: Vec<&str> = said.out.lines().filter(|line| line.contains("the worst interval is number")).collect();
    assert_eq!(worst.len(), 2, "{said}");
    for sentence in worst {
        let (_, words) = sentence.split_once("number ").unwrap();
        let (number, words) = words.split_once(", at ").unwrap();
        let at = words.split(" s").next().unwrap();
        assert!(moments.iter().any(|(n, moment)| *n == number && format!("{moment:.1}") == at), "{sentence}\n{csv}");
    }
}

#[test]
fn what_does_not_go_with_a_soak_is_refused() {
    let dir = Scratch::new();
    let soak = ["run", "tcp", "--duration", "10s", "-o", "x.run.jsonl"];
    for more in [
        &["--vs", "--wait spin"][..],
        &["--precision", "1%"],
        &["--budget", "5s"],
        &["--trials", "3"],
        &["--repeats", "3"],
        &["--reconnect"],
        &["--to", "1MiB"],
        &["--step", "8"],
    ] {
        dir.run(&[&soak[..], more].concat()).refuses(&["--duration", more[0]]);
    }
    dir.run(&[&soak[..], &["--schedule", "netpipe"]].concat()).refuses(&["--duration", "--schedule"]);
    dir.run(&["run", "tcp", "unix", "--duration", "10s"]).refuses(&["one connection", "one transport"]);
    dir.run(&["run", "tcp", "--every", "1s"]).refuses(&["not provided", "--duration <TIME>"]);
    dir.run(&[&soak[..], &["--every", "20s"]].concat()).refuses(&["--every", "no longer than the soak"]);
    dir.run(&[&soak[..], &["--every", "15ms", "--sizes", "1,2"]].concat()).refuses(&["--every", "fewer sizes"]);
    dir.run(&["run", "tcp", "--duration", "100h", "--every", "100ms"]).refuses(&["--every", "longer"]);
    dir.run(&["run", "tcp", "--every", "1s"]).refuses(&["--duration"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}
