//! What a run tells of CPU time, context switches and TCP, in the run file, in exports, pictures and comparisons.

use std::fs;

use serde_json::Value;

use super::support::{SHORT, Said, Scratch, json};

/// Iterations enough that their system calls alone take more CPU time than reading the counters, on any machine.
const ENOUGH: &str = "2000";

/// A run of so many rounds over these paths.
fn run(dir: &Scratch, name: &str, more: &[&str]) -> Said {
    let mut args = vec!["run"];
    args.extend(more);
    args.extend(SHORT.map(|word| match word {
        "10" => ENOUGH,
        "2" => "5",
        word => word,
    }));
    args.extend(["-o", name]);
    let said = dir.run(&args);
    assert!(said.measured(), "{said}");
    said
}

/// A column of a CSV export, a value a row.
fn column<'a>(csv: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = csv.lines();
    let at = lines.next().unwrap().split(',').position(|c| c == name).unwrap_or_else(|| panic!("{name} in {csv}"));
    lines.map(|line| line.split(',').nth(at).unwrap()).collect()
}

#[test]
fn what_both_sides_spent_is_in_the_file_and_the_same_in_every_export() {
    let dir = Scratch::new();
    let said = run(&dir, "a.run.jsonl", &["tcp", "unix"]);
    assert!(!said.out.contains("CPU a transfer"), "a run shows its figures; what they cost is in show: {said}");
    let said = dir.run(&["show", "a.run.jsonl"]);
    assert!(said.out.contains("CPU a transfer") && said.out.contains("CPU a byte"), "{said}");

    let file = fs::read_to_string(dir.path("a.run.jsonl")).unwrap();
    let events: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let trials: Vec<&Value> = events.iter().filter(|e| e["event"] == "trial" && e["warmup"] != true).collect();
    assert!(!trials.is_empty());
    for trial in trials {
        for cost in [&trial["cost"], &trial["far"]["cost"]] {
            let of = |name: &str| cost[name].as_u64().unwrap_or(0);
            assert_eq!(of("iterations"), 2000, "{trial}");
            assert!(of("cpu_ns") > 0 && of("cpu_ns") <= of("elapsed_ns") + 1_000_000, "{trial}");
        }
        assert_eq!(trial["tcp"].is_object(), trial["path"] == 0, "{trial}");
    }

    let exported = |format: &str| {
        let said = dir.run(&["export", "a.run.jsonl", "--format", format]);
        assert_eq!(said.code(), 0, "{said}");
        said.out
    };
    let (csv, document, metrics) = (exported("csv"), json(&exported("json")), exported("openmetrics"));
    let points = document["paths"].as_array().unwrap().iter().flat_map(|p| p["points"].as_array().unwrap());
    let points: Vec<&Value> = points.collect();
    for name in ["near_cpu_s", "far_cpu_s", "near_cpu_s_per_byte", "far_busy_share", "near_waits", "far_preemptions"] {
        let values: Vec<f64> = column(&csv, name).iter().map(|v| v.parse().unwrap()).collect();
        assert_eq!(values, points.iter().map(|p| p[name].as_f64().unwrap()).collect::<Vec<_>>(), "{name}");
    }
    let busy = column(&csv, "near_busy_share");
    assert!(busy.iter().all(|share| (f64::MIN_POSITIVE..=1.0).contains(&share.parse().unwrap())), "{busy:?}");
    let gauge = |size: &str| {
        format!("pipegauge_near_cpu_seconds{{path=\"0\",transport=\"tcp\",pattern=\"ping-pong\",size_bytes=\"{size}\"")
    };
    let line = metrics.lines().find(|line| line.starts_with(&gauge("64"))).unwrap();
    let point = points.iter().find(|p| p["size_bytes"] == 64).unwrap();
    assert_eq!(line.rsplit(' ').next().unwrap().parse::<f64>().ok(), point["near_cpu_s"].as_f64());
    let counts = column(&csv, "retransmits");
    assert!(counts[..3].iter().all(|n| n.parse::<u64>().is_ok()) && counts[3..] == ["", "", ""], "{counts:?}");

    for name in ["tcp_rtt_s", "tcp_window"] {
        let told = column(&csv, name);
        assert!(
            told[..3].iter().all(|v| v.parse::<f64>().is_ok_and(|v| v > 0.0)) && told[3..] == ["", "", ""],
            "{told:?}"
        );
    }
    // Where the processor's counters can't be read nothing is said of them, and `doctor` says why.
    let doctor = json(&dir.run(&["doctor", "--json"]).out);
    let counters = doctor["findings"].as_array().unwrap().iter().find(|f| f["name"] == "cycle-counters").unwrap();
    let counted = counters["level"] == "good";
    for name in ["near_cycles", "far_cycles", "near_instructions", "far_instructions"] {
        assert!(column(&csv, name).iter().all(|v| v.is_empty() != counted), "{name}: {counters} {csv}");
    }
    for (graph, axis) in [("tcp-window", "Congestion window"), ("tcp-rtt", "Smoothed round-trip time")] {
        let plotted = dir.run(&["plot", "a.run.jsonl", "--graph", graph, "-o", "a.svg"]);
        assert!(plotted.code() == 0 && fs::read_to_string(dir.path("a.svg")).unwrap().contains(axis), "{plotted}");
    }
    let words = dir.run(&["show", "a.run.jsonl"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("tcp, TCP's own figures at the end of each trial: round-trip time"), "{words}");

    let shown = dir.run(&["show", "a.run.jsonl", "--graph", "cpu"]);
    assert!(shown.code() == 0 && shown.out.contains("tcp near") && shown.out.contains("unix far"), "{shown}");
    let plotted = dir.run(&["plot", "a.run.jsonl", "--graph", "cpu", "-o", "a.svg"]);
    assert!(plotted.code() == 0 && fs::read_to_string(dir.path("a.svg")).unwrap().contains("tcp far"), "{plotted}");
    let page = dir.run(&["plot", "a.run.jsonl", "-o", "a.html"]);
    assert!(page.code() == 0 && fs::read_to_string(dir.path("a.html")).unwrap().contains("What it costs"), "{page}");

    // Paths of one run took turns; two runs did not.
    let within = json(&dir.run(&["compare", "a.run.jsonl", "--json"]).out);
    let ratios = within["comparisons"][0]["cpu"].as_array().unwrap();
    assert_eq!(ratios.iter().map(|r| r["end"].as_str().unwrap()).collect::<Vec<_>>(), ["near", "far"]);
    // On a busy machine the rounds may lie too far apart to tell an interval; then there is no verdict either.
    let told = |r: &Value| {
        r["ratio"]["value"].as_f64().is_some_and(|v| v > 0.0)
            && r["ratio"]["high"].is_number() == r["differs"].is_boolean()
    };
    assert!(ratios.iter().all(told), "{within}");
    fs::copy(dir.path("a.run.jsonl"), dir.path("b.run.jsonl")).unwrap();
    let apart = dir.run(&["compare", "a.run.jsonl", "b.run.jsonl", "--path", "tcp", "--json"]);
    let ratio = &json(&apart.out)["comparisons"][0]["cpu"][0];
    assert_eq!((ratio["ratio"]["value"].as_f64(), ratio["differs"].is_null()), (Some(1.0), true), "{apart}");
}

#[test]
fn what_costs_nothing_or_can_not_be_told_is_absent() {
    let dir = Scratch::new();
    for (name, more) in [("model", &["theory"][..]), ("checked", &["unix", "--check"])] {
        let file = format!("{name}.run.jsonl");
        run(&dir, &file, more);
        let said = dir.run(&["show", &file]);
        assert!(!said.out.contains("CPU a transfer"), "{said}");
        let csv = dir.run(&["export", &file, "--format", "csv"]).out;
        for name in
            ["near_cpu_s", "far_cpu_s", "near_busy_share", "far_waits", "retransmits", "tcp_rtt_s", "near_cycles"]
        {
            assert!(column(&csv, name).iter().all(|v| v.is_empty()), "{name}: {csv}");
        }
        dir.run(&["show", &file, "--graph", "cpu"]).refuses(&["cpu graph", "--check"]);
        dir.run(&["show", &file, "--graph", "tcp-rtt"]).refuses(&["no path over TCP", "run tcp"]);
    }
}
