//! Both directions at once, from the command's outside.

use super::support::{Said, Scratch};

/// A run of a few long trials each way, whose contents are checked.
fn both(dir: &Scratch, path: &str, more: &[&str]) -> Said {
    let mut args =
        vec!["run", path, "--both", "--sizes", "4KiB", "--trials", "4", "--repeats", "20000", "--budget", "60s"];
    args.extend(["--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"]);
    args.extend(more);
    dir.run(&args)
}

#[test]
fn each_direction_is_measured_and_told_in_every_place() {
    let dir = Scratch::new();
    let said = both(&dir, "unix", &["--pattern", "stream", "--check"]);
    assert!(said.measured(), "{said}");
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event| lines.iter().find(|line| line["event"] == event).unwrap();
    assert_eq!(of("run")["plan"]["both"], true);
    let ways: Vec<bool> = of("path")["flows"].as_array().unwrap().iter().map(|f| f["reverse"] == true).collect();
    assert_eq!(ways, [false, true], "a connection each way");
    let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
    for word in ["in both directions at once", "there", "back"] {
        assert!(shown.out.contains(word), "{word}: {shown}");
    }
    let csv = dir.run(&["export", "x.run.jsonl", "--format", "csv"]).out;
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (header, row) = (rows.next().unwrap(), rows.next().unwrap());
    let number = |name: &str| row[header.iter().position(|h| *h == name).unwrap()].parse::<f64>().unwrap();
    let (all, there, back) = (number("throughput_bits_per_s"), number("there_bits_per_s"), number("back_bits_per_s"));
    // Medians of a sum and of its parts need not add up, but each part is one of the whole.
    assert!(there > 0.0 && back > 0.0 && there < 1.5 * all && back < 1.5 * all, "{there} and {back} of {all}");
    let answer = dir.run(&["ask", "x.run.jsonl", "throughput of 4 KiB in both directions"]);
    assert!(answer.out.contains("both directions together") && answer.out.contains("to the far side"), "{answer}");
    let plot = dir.run(&["show", "x.run.jsonl", "--graph", "throughput"]);
    assert!(plot.out.contains("Throughput graph"), "{plot}");
}

#[test]
fn what_has_no_two_directions_is_refused_before_anything_is_measured() {
    let dir = Scratch::new();
    for (line, says) in [
        ("tcp", "--both is for stream, burst and post"),
        ("memcpy --pattern stream", "one process plays both ends"),
        ("theory --pattern stream", "one process plays both ends"),
        ("tcp --pattern stream --reverse", "cannot be used with"),
        ("tcp --topology fan-in --members 2", "a fan has one direction"),
        ("tcp --topology fan-out --members 2", "a fan has one direction"),
        ("tcp --pattern stream --flows 65", "at most 128 flows"),
        ("tcp --pattern stream --flows 2 --rate 1Mbit/s", "--rate"),
    ] {
        let mut args = vec!["run", "--both", "--no-html", "-o", "x.run.jsonl"];
        args.extend(line.split(' '));
        let said = dir.run(&args);
        assert!(!said.measured() && said.err.contains(says), "{line}: {said}");
    }
}

#[test]
fn a_rate_is_offered_each_way() {
    let dir = Scratch::new();
    let said = dir.run(&[
        "run",
        "tcp",
        "--both",
        "--pattern",
        "stream",
        "--rate",
        "8Mbit/s",
        "--sizes",
        "1000",
        "--budget",
        "1500ms",
        "--pin",
        "none",
        "--no-html",
        "--quiet",
        "-o",
        "x.run.jsonl",
    ]);
    assert!(said.measured(), "{said}");
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let trials = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let sent: Vec<f64> = trials
        .filter(|line| line["event"] == "trial")
        .flat_map(|line| {
            line["flows"]["each"].as_array().unwrap().iter().map(|f| f["sent"].as_f64().unwrap()).collect::<Vec<_>>()
        })
        .collect();
    // No schedule lets a sender be faster than what it was to offer; how much slower is the machine's affair.
    assert!(!sent.is_empty() && sent.iter().all(|rate| *rate > 0.0 && *rate < 1010.0), "{sent:?}");
}
