//! What paths would take elsewhere, and what they took.

use super::support::{Said, Scratch, json};

const SIZES: &str = "1,16,256,1KiB,4KiB,16KiB,32KiB,60KiB";

/// A run of counted trials: a busy machine measures as much.
fn measure(dir: &Scratch, name: &str, more: &[&str]) {
    let counted = ["--sizes", SIZES, "--perturb", "0", "--trials", "5", "--repeats", "4", "--budget", "60s"];
    let quiet = ["--no-html", "-q", "-o", name];
    let said = dir.run(&[&["run"][..], more, &counted, &quiet].concat());
    assert!(said.measured(), "{said}");
}

fn figure(doc: &serde_json::Value, path: &str) -> f64 {
    doc.pointer(path).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("no {path} in {doc}"))
}

fn near(found: f64, want: f64) {
    assert!((found / want - 1.0).abs() < 0.001, "{found}, not {want}");
}

fn scaled(dir: &Scratch, args: &[&str]) -> (Said, serde_json::Value) {
    let said = dir.run(&[&["scale"][..], args, &["--json"]].concat());
    assert_eq!(said.code(), 0, "{said}");
    let doc = json(&said.out);
    assert_eq!(doc["schema"], "pipegauge-scale/1");
    (said, doc)
}

#[test]
fn a_modelled_link_is_estimated_from_what_it_was_at_another_rate() {
    let dir = Scratch::new();
    let link = |rate: &str| format!("latency=100us,rate={rate},header=0B,round-noise=0.1%");
    for (name, rate) in [("slow.run.jsonl", "155Mbit/s"), ("fast.run.jsonl", "513Mbit/s")] {
        measure(&dir, name, &["theory", "--theory", &link(rate)]);
    }
    // Both runs know their rates.
    let (_, doc) = scaled(&dir, &["slow.run.jsonl", "--against", "fast.run.jsonl"]);
    let close = |found: f64, want: f64| assert!((found / want - 1.0).abs() < 0.01, "{found}, not {want}");
    close(figure(&doc, "/paths/0/scaled/per_byte/value"), 8.0 / 513e6);
    close(figure(&doc, "/paths/0/scaled/t0/value"), 100e-6);
    assert!(figure(&doc, "/paths/0/actual/held/typical") < 0.01, "{doc}");
    assert_eq!(figure(&doc, "/paths/0/actual/held/judged"), 8.0);
    // Half of a byte's cost is the wire's, the rest memory's, which is twice as fast; the CPU is half as fast.
    let args = ["slow.run.jsonl", "--rate", "310Mbit/s", "--to-rate", "620Mbit/s", "--memory", "2", "--cpu", "0.5"];
    let (_, doc) = scaled(&dir, &args);
    close(figure(&doc, "/paths/0/scaled/per_byte/value"), 4.0 / 310e6 + 4.0 / 310e6);
    close(figure(&doc, "/paths/0/scaled/t0/value"), 200e-6);
    let (_, doc) = scaled(&dir, &["slow.run.jsonl", "--rate", "310Mbit/s", "--framing", "50%", "--to-rate", "1Gbit/s"]);
    close(figure(&doc, "/paths/0/scaled/per_byte/value"), 8.0 / 155e6 - 12.0 / 310e6 + 12.0 / 1e9);
    // The same model answers questions.
    let said = dir.run(&["ask", "slow.run.jsonl", "--link", "1Gbit/s", "--rate", "310Mbit/s", "--json"]);
    let at_largest = figure(&json(&said.out), "/answers/0/figure/value");
    close(at_largest, 100e-6 + 61_440.0 * (8.0 / 310e6 + 8.0 / 1e9));
    let said = dir.run(&["ask", "slow.run.jsonl", "--link", "513Mbit/s"]);
    assert!(said.out.contains("instead of 155 Mbit/s"), "{said}");
}

#[test]
fn a_wire_of_packets_is_charged_a_header_for_each_and_no_more() {
    let dir = Scratch::new();
    let link = |rate: &str| format!("latency=20us,rate={rate},packet=1448,header=66B,round-noise=0.01%");
    for (name, rate) in [("slow.run.jsonl", "155Mbit/s"), ("fast.run.jsonl", "2Gbit/s")] {
        measure(&dir, name, &["theory", "--theory", &link(rate)]);
    }
    let (_, doc) = scaled(&dir, &["slow.run.jsonl", "--against", "fast.run.jsonl"]);
    assert_eq!(figure(&doc, "/paths/0/target/wires/0/packet"), 1448.0);
    // 16 KiB are 12 packets; another header, or one less, would be off by 2% at 4 KiB.
    assert!(figure(&doc, "/paths/0/actual/held/worst").abs() < 0.005, "{doc}");
    // What the run does not know, flags say: a path without packets is one packet a message.
    let args = ["slow.run.jsonl", "--rate", "155Mbit/s", "--header", "66B", "--packet", "9000", "--to-rate", "2Gbit/s"];
    let (_, doc) = scaled(&dir, &args);
    assert_eq!(figure(&doc, "/paths/0/target/wires/1/packet"), 9000.0);
    let said = dir.run(&["scale", "slow.run.jsonl", "--to-rate", "1Gbit/s", "--packet", "0"]);
    assert!(said.code() == 2 && said.err.contains("packet") && said.err.contains("1448"), "{said}");
}

#[test]
fn the_papers_table_comes_out_of_its_lines_by_one_command() {
    // seeds/003, table 1; the lines at 155 Mbit/s are those that reference/data-passing.md gives.
    let dir = Scratch::new();
    let write = |name: &str, t0: f64, b: f64| {
        let line = |x: f64| {
            let us = t0 + b * x;
            format!("{x:8.0} {:.6} {:.9}\n", x * 8.0 / us / 1.048576, us * 1e-6)
        };
        let text: String = [1.0, 256.0, 4096.0, 16_384.0, 61_440.0].into_iter().map(line).collect();
        std::fs::write(dir.path(&format!("{name}.out")), text).unwrap();
        let said = dir.run(&["import", &format!("{name}.out"), "-o", &format!("{name}.run.jsonl")]);
        assert_eq!(said.code(), 0, "{said}");
    };
    for (name, at_155, actual) in [
        ("copy", (141.0, 0.0997), (129.0, 0.0561)),
        ("emulated-copy", (153.0, 0.0621), (139.0, 0.0212)),
        ("emulated-share", (137.0, 0.0602), (119.0, 0.0192)),
    ] {
        write(name, at_155.0, at_155.1);
        write(&format!("{name}-513"), actual.0, actual.1);
    }
    let file = |name: &str| format!("{name}.run.jsonl");
    let names = ["copy", "emulated-copy", "emulated-share"];
    let (from, to) = (names.map(file), names.map(|n| file(&format!("{n}-513"))).join(","));
    let mut args = vec!["scale", &from[0], &from[1], &from[2], "--rate", "155Mbit/s", "--to-rate", "513Mbit/s"];
    args.extend(["--framing", "1.155", "--against", &to, "--markdown", "t.md"]);
    let said = dir.run(&args);
    assert_eq!(said.code(), 0, "{said}");
    // Eighty columns do not hold the whole row: the line is in the first part of the table, the message in the second.
    for (row, line, message) in [
        ("tcp (copy)  ", ["E", "58.1 ns/B", "141 us"], ["E", "60 KiB", "132 Mbit/s"]),
        ("tcp (emulated-copy)  ", ["E", "20.5 ns/B", "153 us"], ["E", "60 KiB", "348 Mbit/s"]),
        ("tcp (emulated-share)  ", ["E", "18.6 ns/B", "137 us"], ["E", "60 KiB", "384 Mbit/s"]),
        ("  ", ["A", "56.1 ns/B", "129 us"], ["A", "60 KiB", "137 Mbit/s"]),
        ("  ", ["A", "21.2 ns/B", "139 us"], ["A", "60 KiB", "341 Mbit/s"]),
        ("  ", ["A", "19.2 ns/B", "119 us"], ["A", "60 KiB", "378 Mbit/s"]),
    ] {
        for words in [line, message] {
            let found = said.out.lines().any(|l| l.starts_with(row) && words.iter().all(|w| l.contains(w)));
            assert!(found, "{row} {words:?}: {said}");
        }
    }
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert!(said.out.contains("+3.6%") && said.out.contains("+9.3%") && said.out.contains("is not known"), "{said}");
    assert!(!said.out.contains("NaN") && !said.out.contains("inf"), "{said}");
    let markdown = std::fs::read_to_string(dir.path("t.md")).unwrap();
    assert!(markdown.contains("| E | 58.1 ns/B") && markdown.contains("| A | 56.1 ns/B"), "{markdown}");
}

#[test]
fn real_paths_slowed_down_are_estimated_by_what_their_runs_know() {
    let dir = Scratch::new();
    for (name, rate) in [("slow.run.jsonl", "rate=100Mbit/s"), ("fast.run.jsonl", "rate=400Mbit/s")] {
        measure(&dir, name, &["unix", "tcp", "--shape", rate]);
    }
    let (_, doc) = scaled(&dir, &["slow.run.jsonl", "--against", "fast.run.jsonl"]);
    for path in 0..2 {
        let of = |what: &str| figure(&doc, &format!("/paths/{path}/{what}"));
        // The wire's share is what the rates say; what is left goes from one machine to the other as it was.
        near(of("target/wires/0/rate"), 100e6);
        near(of("scaled/wire_per_byte"), 8e-8);
        let rest = of("scaled/measured/per_byte/value") - 8e-8;
        near(of("scaled/per_byte/value"), 2e-8 + rest.max(0.0));
        near(of("scaled/t0/value"), of("scaled/measured/t0/value").max(0.0));
        // Nothing passes a shaped path faster than its rate.
        for at in doc["paths"][path]["actual"]["held"]["sizes"].as_array().unwrap() {
            let (size, least) = (figure(at, "/size"), figure(at, "/size") * 2e-8);
            assert!(figure(at, "/measured/value") >= least * 0.999, "{at}");
            assert!(figure(at, "/estimated/value") >= least && figure(at, "/off").is_finite(), "{size}: {at}");
        }
    }
    let said = dir.run(&["scale", "slow.run.jsonl", "--against", "fast.run.jsonl", "--path", "tcp"]);
    // A busy machine may have time for fewer rounds than an interval takes.
    let judged =
        ["tcp: A lies", "tcp: whether A lies in E's interval is not known"].iter().any(|w| said.out.contains(w));
    assert!(judged && !said.out.contains("unix"), "{said}");
}

#[test]
fn what_cannot_be_scaled_says_why_and_what_would_help() {
    let dir = Scratch::new();
    measure(&dir, "tcp.run.jsonl", &["tcp", "memcpy"]);
    measure(&dir, "slow.run.jsonl", &["theory", "--theory", "rate=155Mbit/s,header=0B"]);
    measure(&dir, "stream.run.jsonl", &["theory", "--pattern", "stream"]);
    measure(&dir, "request.run.jsonl", &["theory", "--pattern", "request"]);
    dir.measure("three.run.jsonl", &["theory"]);
    let two = ["run", "theory", "--sizes", "1,4KiB", "--perturb", "0", "--trials", "2", "--repeats", "3", "--no-html"];
    assert!(dir.run(&[&two[..], &["-q", "-o", "two.run.jsonl"]].concat()).measured());

    let refused = |args: &[&str], words: &[&str]| dir.run(&[&["scale"][..], args].concat()).refuses(words);
    refused(&["slow.run.jsonl"], &["nothing changes", "--to-rate"]);
    refused(&["tcp.run.jsonl", "--path", "tcp", "--to-rate", "1Gbit/s"], &["not known", "--rate"]);
    refused(
        &["tcp.run.jsonl", "--path", "tcp", "--rate", "1Mbit/s", "--to-rate", "1Gbit/s"],
        &["faster than the wire"],
    );
    refused(&["stream.run.jsonl", "--to-rate", "1Gbit/s"], &["overlap", "--pattern ping-pong"]);
    refused(&["request.run.jsonl", "--to-rate", "1Gbit/s"], &["of the kind RTT", "--pattern ping-pong"]);
    refused(&["two.run.jsonl", "--to-rate", "1Gbit/s"], &["three sizes", "2"]);
    refused(&["slow.run.jsonl", "--path", "shm", "--to-rate", "1Gbit/s"], &["'shm'", "theory"]);
    refused(&["slow.run.jsonl", "three.run.jsonl", "--against", "tcp.run.jsonl"], &["no path in common"]);
    let header = std::fs::read_to_string(dir.path("slow.run.jsonl")).unwrap().lines().next().unwrap().to_owned();
    std::fs::write(dir.path("empty.run.jsonl"), header + "\n").unwrap();
    refused(&["empty.run.jsonl", "--to-rate", "1Gbit/s"], &["no path", "nothing was measured"]);
    refused(&["gone.run.jsonl", "--to-rate", "1Gbit/s"], &["gone.run.jsonl"]);
    refused(&["slow.run.jsonl", "--cpu", "2", "--markdown", "slow.run.jsonl"], &["is the run file"]);
    for (flag, bad) in [
        ("--rate", "0bit/s"),
        ("--rate", "NaN"),
        ("--to-rate", "-1Gbit/s"),
        ("--framing", "48/53"),
        ("--framing", "NaN"),
        ("--cpu", "0"),
        ("--memory", "-2"),
        ("--memory", "inf"),
    ] {
        let said = dir.run(&["scale", "slow.run.jsonl", &format!("{flag}={bad}")]);
        assert!(said.code() == 2 && said.err.contains(flag), "{said}");
    }

    // One that can and one that can't: what fell short is said.
    let said = dir.run(&["scale", "slow.run.jsonl", "stream.run.jsonl", "--to-rate", "1Gbit/s", "--json"]);
    assert_eq!(said.code(), 1, "{said}");
    let doc = json(&said.out);
    assert_eq!(doc["paths"].as_array().unwrap().len(), 1, "{doc}");
    assert!(doc["missed"][0].as_str().unwrap().contains("overlap"), "{doc}");
    let said = dir.run(&["scale", "slow.run.jsonl", "--against", "stream.run.jsonl"]);
    assert!(said.code() == 1 && said.out.contains("not held against"), "{said}");
    // A copy crosses no wire, and memory's factor is all that matters to it.
    let said = dir.run(&["scale", "tcp.run.jsonl", "--path", "memcpy", "--memory", "2"]);
    assert!(said.code() == 0 && said.out.contains("a copy crosses no wire"), "{said}");
    let said = dir.run(&["scale", "tcp.run.jsonl", "--path", "tcp", "--memory", "2"]);
    assert!(said.code() == 0 && said.out.contains("no rate is known"), "{said}");

    // Where no rate is known, ask gives bounds and says so; the flags are of --link alone.
    let said = dir.run(&["ask", "tcp.run.jsonl", "--path", "tcp", "--link", "1Gbit/s"]);
    if said.code() == 0 {
        assert!(said.out.contains("at least") && said.out.contains("--rate"), "{said}");
    } else {
        assert!(said.out.contains("needs a model"), "{said}");
    }
    dir.run(&["ask", "tcp.run.jsonl", "--most", "--rate", "1Gbit/s"]).refuses(&["--rate", "--link"]);
    let said = dir.run(&["ask", "stream.run.jsonl", "--link", "1Gbit/s"]);
    assert!(said.code() == 2 && said.out.contains("overlap"), "{said}");
}
