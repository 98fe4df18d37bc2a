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
    near(figure(&dir, &["--control"]), at(768.0));
    let said = dir.run(&["ask", "a.run.jsonl", "can it sustain 60/s frames of 1MB?", "which size should I use?"]);
    assert!(said.out.contains("yes: a frame of") && said.out.contains("rests on:"), "{said}");
    assert!(said.out.contains("to sharpen it: pipegauge run theory"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "--frames", "10k/s", "--of", "1MB"]);
    assert!(said.out.contains("no: a frame of"), "{said}");
}

#[test]
fn paths_are_told_apart() {
    let dir = Scratch::new();
    dir.measure("two.run.jsonl", &["memcpy", "tcp"]);
    let said = dir.run(&["ask", "two.run.jsonl", "which path is fastest for 64B?"]);
    assert!(said.out.starts_with("memcpy: 64 B takes"), "{said}");
    let said = dir.run(&["ask", "two.run.jsonl", "what does tcp cost over memcpy?"]);
    assert!(said.out.contains("tcp costs over memcpy:"), "{said}");
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
    let said = dir.run(&["ask", "a.run.jsonl", "--arrive", "1PiB"]);
    assert!(!said.out.contains("NaN"), "{said}");
}
