//! Comparing runs.

use std::fs;

use super::support::{Scratch, json};

/// A run whose times are `factor` of those of another, from `size` up: what was measured, altered in its file.
fn altered(dir: &Scratch, from: &str, to: &str, size: u64, factor: f64) {
    let text = fs::read_to_string(dir.path(from)).unwrap();
    let scale = |value: &mut serde_json::Value, names: &[&str]| {
        for name in names {
            if let Some(v) = value.get_mut(*name).and_then(|v| v.as_f64().map(|n| (v, n))) {
                *v.0 = (v.1 * factor).into();
            }
        }
    };
    let lines = text.lines().map(|line| {
        let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
        if event["size"].as_u64().is_some_and(|s| s >= size) {
            scale(&mut event, &["seconds", "median", "min", "max", "mean", "low", "high"]);
            if let Some(t) = event.get_mut("throughput").and_then(|v| v.as_f64().map(|n| (v, n))) {
                *t.0 = (t.1 / factor).into();
            }
        }
        format!("{event}\n")
    });
    fs::write(dir.path(to), lines.collect::<String>()).unwrap();
}

/// A curve on the theory link: exact, and with the noise that a seed gives.
fn theory(dir: &Scratch, name: &str, seed: &str) {
    let model = format!("latency=10us,rate=10Gbit/s,noise=1%,round-noise=1%,seed={seed}");
    let said = dir.run(&[
        "run",
        "theory",
        "--theory",
        &model,
        "--to",
        "1MiB",
        "--budget",
        "4s",
        "--seed",
        seed,
        "--no-html",
        "--quiet",
        "-o",
        name,
    ]);
    assert_eq!(said.code(), 0, "{said}");
}

#[test]
fn equal_runs_do_not_differ_and_an_altered_one_is_named_where_it_differs() {
    let dir = Scratch::new();
    theory(&dir, "a.run.jsonl", "1");
    theory(&dir, "b.run.jsonl", "2");
    let said = dir.run(&["compare", "a.run.jsonl", "b.run.jsonl", "--fail-if", "time>+5%"]);
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("No difference found") && said.out.contains("passed: time>+5%"), "{said}");

    altered(&dir, "b.run.jsonl", "slow.run.jsonl", 65_536, 1.8);
    let said = dir.run(&["compare", "a.run.jsonl", "slow.run.jsonl", "--json"]);
    assert_eq!(said.code(), 0, "{said}");
    let document = json(&said.out);
    assert_eq!(document["schema"], "pipegauge-compare/1");
    let compared = &document["comparisons"][0];
    let stretches = compared["stretches"].as_array().unwrap();
    assert_eq!(stretches.len(), 2, "{stretches:?}");
    let from = stretches[1]["from"].as_u64().unwrap();
    assert!((55_000..75_000).contains(&from), "{stretches:?}");
    assert!((stretches[1]["ratio"].as_f64().unwrap() - 1.8).abs() < 0.1, "{stretches:?}");
    assert!(compared["verdict"].as_str().unwrap().contains("times slower from"), "{compared}");
}

#[test]
fn a_limit_that_is_passed_fails_and_the_summaries_say_so() {
    let dir = Scratch::new();
    theory(&dir, "a.run.jsonl", "1");
    altered(&dir, "a.run.jsonl", "slow.run.jsonl", 0, 1.3);
    let said = dir.run(&[
        "compare",
        "a.run.jsonl",
        "slow.run.jsonl",
        "--fail-if",
        "latency>+5%",
        "--fail-if",
        "throughput<-50%",
        "--markdown",
        "m.md",
        "--junit",
        "j.xml",
    ]);
    assert_eq!(said.code(), 1, "{said}");
    assert!(said.out.contains("FAILED: latency>+5%") && said.out.contains("passed: throughput<-50%"), "{said}");
    let markdown = fs::read_to_string(dir.path("m.md")).unwrap();
    assert!(markdown.contains("`latency>+5%`: **failed**"), "{markdown}");
    let junit = fs::read_to_string(dir.path("j.xml")).unwrap();
    assert!(junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("latency&gt;+5%"), "{junit}");
}

#[test]
fn repeats_are_joined_by_commas_and_paths_of_one_run_compare_with_its_first() {
    let dir = Scratch::new();
    for seed in ["1", "2", "3"] {
        theory(&dir, &format!("{seed}.run.jsonl"), seed);
    }
    let said = dir.run(&["compare", "1.run.jsonl,2.run.jsonl", "3.run.jsonl", "--json"]);
    assert_eq!(json(&said.out)["comparisons"][0]["runs"], serde_json::json!([2, 1]), "{said}");
    dir.measure("two.run.jsonl", &["unix", "tcp"]);
    let said = dir.run(&["compare", "two.run.jsonl"]);
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("tcp") && said.out.contains("unix") && said.out.contains("transport: unix / tcp"));
    assert!(said.out.starts_with("No verdict: tcp took") && said.out.contains("2 rounds of each side"), "{said}");
}

#[test]
fn paths_of_one_run_are_compared_round_by_round_and_those_of_netpipes_schedule_are_not() {
    let dir = Scratch::new();
    let few = ["--sizes", "1,64,4KiB", "--perturb", "0", "--trials", "6", "--repeats", "10", "--no-html", "--quiet"];
    let said = dir.run(&[&["run", "unix", "pipe", "-o", "two.run.jsonl"][..], &few].concat());
    assert!(said.measured(), "{said}");
    let found = json(&dir.run(&["compare", "two.run.jsonl", "--json"]).out);
    let compared = &found["comparisons"][0];
    assert_eq!(compared["paired"]["rounds"], 6, "{found}");
    let verdict = compared["verdict"].as_str().unwrap();
    assert!(verdict.contains("in turns") || verdict.contains("6 rounds of each"), "{found}");

    let netpipe =
        ["run", "unix", "pipe", "--schedule", "netpipe", "--to", "64", "--no-html", "-q", "-o", "np.run.jsonl"];
    assert!(dir.run(&netpipe).measured());
    let found = json(&dir.run(&["compare", "np.run.jsonl", "--json"]).out);
    assert!(found["comparisons"][0].get("paired").is_none(), "{found}");
}

#[test]
fn one_round_of_each_side_gives_no_interval_and_no_verdict() {
    let dir = Scratch::new();
    for name in ["a.run.jsonl", "b.run.jsonl"] {
        let one =
            ["--sizes", "1,64,4KiB", "--perturb", "0", "--trials", "1", "--repeats", "10", "--no-html", "--quiet"];
        let said = dir.run(&[&["run", "theory", "-o", name][..], &one].concat());
        assert!(said.code() <= 1, "{said}");
    }
    let said = dir.run(&["compare", "a.run.jsonl", "b.run.jsonl", "--fail-if", "time>+1%"]);
    assert_eq!(said.code(), 2, "{said}");
    assert!(said.out.starts_with("No verdict: ") && said.out.contains("1 round of a side"), "{said}");
    assert!(!said.out.contains("% [") && said.out.contains("not judged: time>+1%: "), "{said}");
    assert!(said.out.contains(", fewer than four rounds"), "{said}");
}

/// A run of another machine's path: what is modelled has no machine, and needs no other runs.
fn of_tcp(dir: &Scratch, from: &str, to: &str) {
    let text = fs::read_to_string(dir.path(from)).unwrap();
    fs::write(dir.path(to), text.replace(r#""transport":"theory""#, r#""transport":"tcp""#)).unwrap();
}

#[test]
fn a_change_of_single_runs_is_not_judged_and_of_three_a_side_it_is() {
    let dir = Scratch::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for seed in ["1", "2", "3"] {
        let [theory_run, a, slow, b] = ["theory", "a", "slow", "b"].map(|name| format!("{name}{seed}.run.jsonl"));
        theory(&dir, &theory_run, seed);
        altered(&dir, &theory_run, &slow, 0, 1.5);
        of_tcp(&dir, &theory_run, &a);
        of_tcp(&dir, &slow, &b);
        first.push(a);
        second.push(b);
    }
    let limits = ["--fail-if", "latency>+5%", "--fail-if", "time>+5000%", "--junit", "j.xml"];
    let said = dir.run(&[&["compare", &first[0], &second[0]][..], &limits].concat());
    assert_eq!(said.code(), 2, "{said}");
    assert!(
        said.out.starts_with("No verdict: too few runs tell how far separate runs of one thing lie apart"),
        "{said}"
    );
    assert!(said.out.contains("not judged: latency>+5%: ") && said.out.contains("passed: time>+5000%: "), "{said}");
    let junit = fs::read_to_string(dir.path("j.xml")).unwrap();
    assert!(junit.contains("failures=\"0\" skipped=\"1\"") && junit.contains("<skipped message="), "{junit}");
    // What `compare` has no verdict on `ask` tells of these runs alone.
    for question in ["is a1 faster than b1 at 1 KiB", "from which size on is a1 faster than b1"] {
        let said = dir.run(&["ask", &first[0], &second[0], question]);
        assert!(said.out.contains("(too few runs tell how far separate runs of one thing lie apart"), "{said}");
        assert!(!said.out.contains(", surely)"), "{said}");
        assert!(question.starts_with("from") || said.out.contains(", in these runs)"), "{said}");
    }
    let two = [first[..2].join(","), second[..2].join(",")];
    let said = dir.run(&[&["compare", &two[0], &two[1]][..], &limits].concat());
    assert!(said.code() == 2 && said.out.starts_with("No verdict: too few runs tell how far"), "{said}");
    let three = [first.join(","), second.join(",")];
    let said = dir.run(&[&["compare", &three[0], &three[1]][..], &limits].concat());
    assert_eq!(said.code(), 1, "{said}");
    assert!(said.out.contains("slower") && said.out.contains("FAILED: latency>+5%"), "{said}");
}

#[test]
fn what_cannot_be_compared_says_why() {
    let dir = Scratch::new();
    dir.measure("memcpy.run.jsonl", &["memcpy"]);
    dir.measure("tcp.run.jsonl", &["tcp"]);
    dir.measure("both.run.jsonl", &["tcp", "unix"]);
    dir.run(&["compare", ",", "tcp.run.jsonl"]).refuses(&["','", "no run file"]);
    dir.run(&["compare", "memcpy.run.jsonl"]).refuses(&["1 path", "second run"]);
    dir.run(&["compare", "memcpy.run.jsonl", "both.run.jsonl"]).refuses(&["no path in common", "memcpy", "unix"]);
    dir.run(&["compare", "memcpy.run.jsonl", "tcp.run.jsonl"])
        .refuses(&["of the kind copy", "is no transfer to another"]);
    dir.run(&["compare", "tcp.run.jsonl", "gone.run.jsonl"]).refuses(&["gone.run.jsonl"]);
    dir.run(&["compare", "tcp.run.jsonl", "tcp.run.jsonl", "--fail-if", "speed>5%"]).refuses(&["speed", "METRIC>+N%"]);
    dir.run(&["compare", "tcp.run.jsonl", "tcp.run.jsonl", "--path", "shm"]).refuses(&["shm"]);
    let other = [
        "run",
        "tcp",
        "--sizes",
        "77",
        "--trials",
        "2",
        "--repeats",
        "10",
        "--no-html",
        "--quiet",
        "-o",
        "77.run.jsonl",
    ];
    assert_eq!(dir.run(&other).code(), 0);
    dir.run(&["compare", "tcp.run.jsonl", "77.run.jsonl"]).refuses(&["no message size in common"]);
}

#[test]
fn layers_say_what_each_adds_and_draw_it() {
    let dir = Scratch::new();
    for (name, latency) in [("below", "10us"), ("above", "13us")] {
        let model = format!("latency={latency},rate=10Gbit/s");
        let file = format!("{name}.run.jsonl");
        let run = [
            "run",
            "theory",
            "--theory",
            &model,
            "--to",
            "64KiB",
            "--budget",
            "1s",
            "--no-html",
            "--quiet",
            "-o",
            &file,
        ];
        assert_eq!(dir.run(&run).code(), 0);
    }
    let said = dir.run(&["layers", "below.run.jsonl", "above.run.jsonl", "-o", "x.svg"]);
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("theory (above) adds to theory (below): 3.00 us"), "{said}");
    assert!(fs::read_to_string(dir.path("x.svg")).unwrap().contains("Overhead graph"));
    dir.run(&["layers", "below.run.jsonl"]).refuses(&["two paths or more"]);
    dir.run(&["layers", "below.run.jsonl", "above.run.jsonl", "-o", "x.html"]).refuses(&[".svg or .png"]);
    dir.run(&["layers", "below.run.jsonl", "above.run.jsonl", "-o", "above.run.jsonl"]).refuses(&[".svg or .png"]);
    dir.measure("memcpy.run.jsonl", &["memcpy"]);
    dir.run(&["layers", "below.run.jsonl", "memcpy.run.jsonl"]).refuses(&["of the kind copy"]);
}

#[test]
fn repeats_of_two_patterns_are_not_merged() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["unix"]);
    dir.measure("stream.run.jsonl", &["unix", "--pattern", "stream"]);
    dir.measure("burst.run.jsonl", &["unix", "--pattern", "burst", "--burst", "4"]);
    dir.run(&["compare", "a.run.jsonl,stream.run.jsonl", "a.run.jsonl"]).refuses(&[
        "a.run.jsonl was measured as ping-pong",
        "stream.run.jsonl as stream",
        "repeats of one",
    ]);
    dir.run(&["compare", "a.run.jsonl", "a.run.jsonl,stream.run.jsonl"]).refuses(&["stream.run.jsonl as stream"]);
    // Times of one kind, and yet not of one pattern.
    dir.run(&["compare", "stream.run.jsonl,burst.run.jsonl", "stream.run.jsonl"])
        .refuses(&["burst.run.jsonl as burst"]);
}

/// What `make run` measures: memcpy comes first and has times of another kind.
#[test]
fn paths_of_one_run_that_compare_are_compared_and_the_others_are_named() {
    let dir = Scratch::new();
    dir.measure("r.run.jsonl", &["memcpy", "unix", "tcp"]);
    for command in ["compare", "layers"] {
        let said = dir.run(&[command, "r.run.jsonl"]);
        assert_eq!(said.code(), 0, "{command}: {said}");
        assert!(said.out.contains("left out: memcpy (times of the kind copy)"), "{command}: {said}");
        assert!(said.out.contains("unix") && said.out.contains("tcp"), "{command}: {said}");
        let said = dir.run(&[command, "r.run.jsonl", "--json"]);
        let document = json(&said.out);
        assert!(document["left_out"].as_str().unwrap().contains("memcpy"), "{said}");
        // Two rounds a point tell no interval, and the document keeps to its schema all the same.
        let schema = json(&dir.run(&["schema", command]).out);
        let found: Vec<String> =
            jsonschema::validator_for(&schema).unwrap().iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(found.is_empty(), "{command}: {found:#?}");
    }
    dir.measure("two.run.jsonl", &["memcpy", "unix"]);
    dir.run(&["compare", "two.run.jsonl"]).refuses(&["of the kind copy", "is no transfer to another"]);
}

#[test]
fn tables_take_every_path_into_the_tables_its_pattern_tells_of() {
    let dir = Scratch::new();
    let sizes =
        ["--sizes", "1,64,512,4KiB,64KiB", "--trials", "2", "--repeats", "3", "--perturb", "0", "--no-html", "-q"];
    for pattern in ["ping-pong", "stream"] {
        let name = format!("{pattern}.run.jsonl");
        let measured = dir.run(&[&["run", "theory", "--pattern", pattern, "-o", &name][..], &sizes].concat());
        assert!(measured.measured(), "{measured}");
    }
    let said = dir.run(&["tables", "ping-pong.run.jsonl", "stream.run.jsonl", "--markdown", "t.md"]);
    assert_eq!(said.code(), 0, "{said}");
    for part in ["least squares of round trips", "least squares of streams", "below 1 KiB", "Rmax", "N(0.5)", "theory"]
    {
        assert!(said.out.contains(part), "{part}: {said}");
    }
    // The theoretical link: 10 us, 10 Gbit/s of which headers take 4.5% above one segment.
    assert!(said.out.contains("836 ps/B") && said.out.contains("9.57 Gbit/s"), "{said}");
    let markdown = std::fs::read_to_string(dir.path("t.md")).unwrap();
    assert!(markdown.contains("| theory | RTT/2 | 836 ps/B"), "{markdown}");
    dir.run(&["tables", "stream.run.jsonl", "--markdown", "stream.run.jsonl"]).refuses(&["is the run file"]);
    dir.run(&["tables", "nowhere.run.jsonl"]).refuses(&["nowhere.run.jsonl"]);
    std::fs::write(dir.path("none.run.jsonl"), "").unwrap();
    dir.run(&["tables", "none.run.jsonl"]).refuses(&["none.run.jsonl"]);
}

#[test]
fn segments_and_buffers_of_several_runs_are_a_grid() {
    let dir = Scratch::new();
    let sizes = ["--sizes", "1,4KiB,64KiB", "--perturb", "0", "--trials", "2", "--repeats", "3", "--no-html", "-q"];
    let mut files = Vec::new();
    for mss in ["1448", "8948"] {
        for buffer in ["64KiB", "128KiB"] {
            let name = format!("{mss}-{buffer}.run.jsonl");
            let run = dir.run(&[&["run", "tcp", "--mss", mss, "--sockbuf", buffer, "-o", &name][..], &sizes].concat());
            assert!(run.measured(), "{run}");
            files.push(name);
        }
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let said = dir.run(&[&["tables"][..], &files, &["--markdown", "t.md"]].concat());
    assert!(said.code() == 0 && said.out.contains("tcp (ping-pong): segment sizes down, socket buffers"), "{said}");
    assert!(
        said.out.contains("segment") && said.out.contains("buffer 64 KiB") && said.out.contains("1,448 B"),
        "{said}"
    );
    let markdown = std::fs::read_to_string(dir.path("t.md")).unwrap();
    assert!(markdown.contains("| segment | buffer 64 KiB | latency | buffer 128 KiB | latency |"), "{markdown}");
    let doc = json(&dir.run(&[&["tables", "--json"][..], &files].concat()).out);
    let cells = doc["grids"][0]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4, "{doc}");
    for (cell, (segment, buffer)) in cells.iter().zip([(1448, 64), (1448, 128), (8948, 64), (8948, 128)]) {
        assert_eq!(
            (cell["segment"]["asked"].as_u64(), cell["buffer"]["asked"].as_u64()),
            (Some(segment), Some(buffer << 10))
        );
        assert!(cell["max_throughput"]["value"].as_f64().unwrap() > 0.0, "{cell}");
    }
    let said = dir.run(&["tables", files[0], files[1]]);
    assert!(said.code() == 0 && !said.out.contains("socket buffers across"), "{said}");
}

#[test]
fn runs_on_other_sizes_are_compared_between_them_and_it_says_where() {
    let dir = Scratch::new();
    let measure = |name: &str, sizes: Vec<u64>, model: &str| {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let args =
            ["run", "theory", "--theory", model, "--sizes", &sizes.join(","), "--trials", "8", "--repeats", "20"];
        let more = ["--perturb", "0", "--no-html", "-q", "-o", name];
        let said = dir.run(&[&args[..], &more].concat());
        assert!(said.measured(), "{said}");
    };
    let grid = |from: u64| (0..30).map(|i| (from as f64 * 1.3f64.powi(i)) as u64).collect::<Vec<u64>>();
    measure("a.run.jsonl", grid(64), "latency=10us,rate=10Gbit/s,noise=1%");
    measure("b.run.jsonl", grid(72), "latency=15us,rate=10Gbit/s,noise=1%");
    let said = dir.run(&["compare", "a.run.jsonl", "b.run.jsonl"]);
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("slower") && said.out.contains("~"), "{said}");
    assert!(said.out.contains("~: not measured at this size"), "{said}");
    let found = json(&dir.run(&["compare", "a.run.jsonl", "b.run.jsonl", "--json"]).out).to_string();
    assert!(
        found.contains(r#""first_interpolated":true"#) || found.contains(r#""second_interpolated":true"#),
        "{found}"
    );
    measure("far.run.jsonl", vec![1 << 20, 1 << 21], "latency=10us,rate=10Gbit/s");
    dir.run(&["compare", "a.run.jsonl", "far.run.jsonl"]).refuses(&["no message size in common"]);
}
