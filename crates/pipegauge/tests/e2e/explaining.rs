//! Dips and what is behind them; jitter.

use super::support::{Scratch, json};

const DIPS: &str = "dip=60KiB..75KiB*2@sockbuf,dip=4000..5000*1.5@align,dip=1MiB..1250KiB*3,noise=1%,round-noise=2%";

fn dips(dir: &Scratch, name: &str) {
    let said = dir.run(&[
        "run",
        "theory",
        "--theory",
        DIPS,
        "--offset",
        "64,0",
        "--budget",
        "12s",
        "--no-html",
        "--quiet",
        "-o",
        name,
    ]);
    assert!(said.code() <= 1, "{said}");
}

#[test]
fn each_dip_is_put_down_to_what_moves_it() {
    let dir = Scratch::new();
    dips(&dir, "a.run.jsonl");
    let said = dir.run(&["explain", "a.run.jsonl", "--quiet", "--json", "--budget", "12s"]);
    assert_eq!(said.code(), 0, "{said}");
    let document = json(&said.out);
    assert_eq!(document["schema"], "pipegauge-explain/1");
    let breaks = document["breaks"].as_array().unwrap();
    assert_eq!(breaks.len(), 3, "{said}");
    // Each is found where the model has it: after the one size and up to the other.
    for (found, (from, to)) in breaks.iter().zip([(4000, 5000), (61_440, 76_800), (1_048_576, 1_280_000)]) {
        for (edge, at) in [("from", from), ("to", to)] {
            let side = |which: &str| found["found"][edge][which].as_u64().unwrap();
            assert!(side("below") < at && at <= side("above"), "{edge} {at}: {found}");
        }
        assert_eq!(found["again"]["fate"], "same", "{found}");
    }
    let fates = |i: usize| -> Vec<String> {
        let tested = breaks[i]["tested"].as_array().unwrap();
        tested
            .iter()
            .map(|t| format!("{} {}", t["knob"].as_str().unwrap(), t["fate"]["fate"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(fates(0), ["socket-buffer same", "page-alignment gone"]);
    assert_eq!(fates(1), ["socket-buffer moved", "page-alignment same"]);
    assert_eq!(fates(2), ["socket-buffer same", "page-alignment same"]);
    let moved = &breaks[1]["tested"][0]["fate"]["to"];
    assert!(moved["from"]["below"].as_u64().unwrap() < 122_880 && moved["from"]["above"].as_u64().unwrap() >= 122_880);
    let verdict = |i: usize| breaks[i]["verdict"].as_str().unwrap();
    assert_eq!(verdict(0), "page alignment is behind it");
    assert_eq!(verdict(1), "the socket buffer is behind it");
    assert!(verdict(2).contains("the path itself is left"));
    for file in document["run_files"].as_array().unwrap() {
        assert_eq!(dir.run(&["show", file.as_str().unwrap()]).code(), 0, "{file} is a run file");
    }
}

#[test]
fn a_step_at_the_eager_limit_is_put_down_to_it() {
    let dir = Scratch::new();
    let model = "eager-limit=8KiB,noise=1%,round-noise=2%";
    let line = ["run", "theory", "--theory", model, "--to", "1MiB", "--budget", "8s", "--no-html", "-q"];
    let said = dir.run(&[&line[..], &["-o", "e.run.jsonl"]].concat());
    assert!(said.code() <= 1, "{said}");
    let said = dir.run(&["explain", "e.run.jsonl", "--quiet", "--json", "--budget", "8s"]);
    let document = json(&said.out);
    let breaks = document["breaks"].as_array().unwrap();
    assert_eq!(breaks.len(), 1, "{said}");
    let edge = &breaks[0]["found"]["at"];
    assert!(edge["below"].as_u64().unwrap() <= 8192 && edge["above"].as_u64().unwrap() > 8192, "{said}");
    let suspects = breaks[0]["suspects"].as_array().unwrap();
    let limit = suspects.iter().find(|s| s["fact"]["knob"] == "eager-limit").unwrap();
    assert_eq!(limit["fact"]["bytes"], 8192, "{said}");
    // The step goes along with the limit, to twice its size.
    let tested = breaks[0]["tested"].as_array().unwrap();
    let moved = tested.iter().find(|t| t["knob"] == "eager-limit").unwrap();
    assert_eq!(moved["fate"]["fate"], "moved", "{said}");
    let to = &moved["fate"]["to"]["at"];
    assert!(to["below"].as_u64().unwrap() <= 16_384 && to["above"].as_u64().unwrap() > 16_384, "{said}");
    assert_eq!(breaks[0]["verdict"], "the eager limit is behind it");
}

#[test]
fn nothing_is_measured_where_nothing_breaks_or_nobody_wants_it() {
    let dir = Scratch::new();
    let said =
        dir.run(&["run", "theory", "--theory", "noise=1%", "--budget", "3s", "--no-html", "-q", "-o", "s.run.jsonl"]);
    assert!(said.code() <= 1, "{said}");
    let said = dir.run(&["explain", "s.run.jsonl"]);
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("theory: no dip and no step; a dip "), "{said}");
    dips(&dir, "d.run.jsonl");
    let said = dir.run(&["explain", "d.run.jsonl", "--dry-run"]);
    assert!(said.out.contains("near it: the socket buffer (64 KiB)"), "{said}");
    assert!(said.out.contains("nothing was measured for it"), "{said}");
    assert!(said.out.contains("would be moved: socket buffer, buffers of 128 KiB instead of 64 KiB"), "{said}");
    assert!(said.out.contains("not moved: cache-size: a modelled path touches no memory"), "{said}");
    assert!(!dir.path("d-explain-theory-again.run.jsonl").exists());
    // A table in `show` has them too.
    assert!(dir.run(&["show", "d.run.jsonl"]).out.contains("theory: dip from "), "{said}");
}

#[test]
fn a_run_that_does_not_say_how_it_was_measured_is_named() {
    let dir = Scratch::new();
    dips(&dir, "d.run.jsonl");
    let text = std::fs::read_to_string(dir.path("d.run.jsonl")).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    header["command"] = serde_json::json!(["pipegauge", "import", "np.out"]);
    std::fs::write(dir.path("i.run.jsonl"), format!("{header}\n{rest}")).unwrap();
    let said = dir.run(&["explain", "i.run.jsonl"]);
    assert_eq!(said.code(), 2, "{said}");
    assert!(said.err.contains("can't be measured again") && said.err.contains("--dry-run"), "{said}");
    let said = dir.run(&["explain", "i.run.jsonl", "--dry-run"]);
    assert!(
        said.code() == 0 && said.out.contains("not moved: every knob (i.run.jsonl can't be measured again"),
        "{said}"
    );
    let said = dir.run(&["explain", "no.run.jsonl"]);
    assert_eq!(said.code(), 2, "{said}");
}

/// The file with a curve that breaks, as if a stranger had measured tcp with these words.
fn strangers(dir: &Scratch, name: &str, command: &[&str]) {
    let _ = std::fs::remove_file(dir.path("model.run.jsonl"));
    dips(dir, "model.run.jsonl");
    let text = std::fs::read_to_string(dir.path("model.run.jsonl")).unwrap();
    let mut lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    lines[0]["command"] = serde_json::json!(command);
    lines[0]["plan"]["paths"] = serde_json::json!([{"transport": "tcp"}]);
    for line in &mut lines {
        if line["event"] == "path" {
            line["transport"] = serde_json::json!("tcp");
        }
    }
    let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
    std::fs::write(dir.path(name), text).unwrap();
}

#[test]
fn a_file_does_not_say_where_to_connect_or_what_to_run() {
    let dir = Scratch::new();
    // Whatever would be started leaves a mark.
    std::fs::create_dir(dir.path("bin")).unwrap();
    let ssh = dir.path("bin/ssh");
    std::fs::write(&ssh, format!("#!/bin/sh\necho \"$@\" >> {}\n", dir.path("mark").display())).unwrap();
    std::fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let explain = |more: &[&str]| {
        let mut command = dir.command(&[&["explain", "s.run.jsonl", "--quiet", "--budget", "1s"][..], more].concat());
        command.env("PATH", format!("{}:/usr/bin:/bin", dir.path("bin").display()));
        crate::support::Running::start(command).end()
    };
    strangers(
        &dir,
        "s.run.jsonl",
        &["pipegauge", "run", "tcp", "--peer", "ssh://evil", "--remote-program", "rm -rf ~"],
    );
    let said = explain(&[]);
    assert!(said.code() == 2 && said.err.contains("--peer") && said.err.contains("its own flags"), "{said}");
    assert!(!dir.path("mark").exists(), "{said}");
    // What the person names is followed, and nothing of the file's.
    let said = explain(&["--peer", "ssh://mine", "--remote-program", "my-pipegauge"]);
    assert_eq!(said.code(), 2, "{said}");
    let mark = std::fs::read_to_string(dir.path("mark")).unwrap();
    assert!(mark.contains("mine") && mark.contains("my-pipegauge") && !mark.contains("evil"), "{mark}");
    assert!(!mark.contains("rm -rf"), "{mark}");
    // Nor does it name another near host, or what processes run under.
    let _ = std::fs::remove_file(dir.path("mark"));
    std::fs::copy(&ssh, dir.path("bin/wrapper")).unwrap();
    let led = ["pipegauge", "run", "tcp", "--near", "ssh://evil"];
    strangers(&dir, "s.run.jsonl", &led);
    let said = explain(&["--peer", "ssh://mine"]);
    assert!(said.code() == 2 && said.err.contains("--near") && !dir.path("mark").exists(), "{said}");
    for side in ["near_under", "peer_under"] {
        strangers(&dir, "s.run.jsonl", &["pipegauge", "run", "tcp"]);
        let text = std::fs::read_to_string(dir.path("s.run.jsonl")).unwrap();
        let with = format!("\"plan\":{{\"{side}\":[\"wrapper\",\"x\"],");
        std::fs::write(dir.path("s.run.jsonl"), text.replacen("\"plan\":{", &with, 1)).unwrap();
        let said = explain(&[]);
        assert!(said.code() == 2 && said.err.contains("under 'wrapper x'"), "{said}");
        assert!(!dir.path("mark").exists(), "{said}");
    }
    // Nor a library, nor where a group's messages go.
    for (path, option, value) in [
        ("tcp", "preload", "/tmp/evil.so"),
        ("multicast", "ttl", "64"),
        ("multicast", "interface", "eth0"),
        ("strata", "bind", "10.0.0.1"),
    ] {
        strangers(&dir, "s.run.jsonl", &["pipegauge", "run", path]);
        let text = std::fs::read_to_string(dir.path("s.run.jsonl")).unwrap();
        let text = text
            .replacen(
                "{\"transport\":\"tcp\"}",
                &format!("{{\"transport\":\"{path}\",\"settings\":{{\"{option}\":\"{value}\"}}}}"),
                1,
            )
            .replace("\"transport\":\"tcp\"", &format!("\"transport\":\"{path}\""));
        std::fs::write(dir.path("s.run.jsonl"), text).unwrap();
        let said = explain(&[]);
        assert_eq!(said.code(), 2, "{said}");
        said.complains(&[&format!("has {option}={value}"), "loads nothing and sends nowhere that a file names"]);
        let said = explain(&["--dry-run"]);
        assert_eq!(said.code(), 0, "{said}");
    }
}

#[test]
fn jitter_says_what_was_found_and_what_was_not() {
    let dir = Scratch::new();
    // Twice as slow in one iteration of many: log-normal noise, whose outliers are known.
    let said =
        dir.run(&["run", "theory", "--theory", "noise=30%", "--budget", "4s", "--no-html", "-q", "-o", "n.run.jsonl"]);
    assert!(said.code() <= 1, "{said}");
    let said = dir.run(&["jitter", "n.run.jsonl", "--json"]);
    assert_eq!(said.code(), 0, "{said}");
    let path = &json(&said.out)["paths"][0];
    // A round trip is the mean of two log-normal ways of 30%: over twice the median in about 0.1% of all.
    let share = path["outliers"]["value"].as_f64().unwrap();
    assert!((0.0001..0.01).contains(&share), "{share}");
    assert_eq!(path["periodic"].as_array().unwrap().len(), 0, "{said}");
    assert!(path["percentiles"].as_array().unwrap().len() > 20);
    let said = dir.run(&["jitter", "n.run.jsonl"]);
    assert!(said.out.contains("over twice the median") && said.out.contains("nothing comes back"), "{said}");
    // One trial of few: nothing to tell, and said.
    dir.measure("s.run.jsonl", &["unix"]);
    let said = dir.run(&["jitter", "s.run.jsonl", "--path", "unix", "--all"]);
    assert!(said.out.contains("four rounds at least") && said.out.contains("no period was looked for"), "{said}");
    assert_eq!(dir.run(&["jitter", "s.run.jsonl", "--path", "tcp"]).code(), 2);
}

#[test]
fn loggp_comes_from_two_patterns_and_says_what_one_lacks() {
    let dir = Scratch::new();
    for (pattern, file) in [("ping-pong", "p.run.jsonl"), ("stream", "s.run.jsonl"), ("burst", "b.run.jsonl")] {
        let model = "latency=10us,rate=8Gbit/s,header=100B,packet=1MiB";
        let said = dir.run(&[
            "run",
            "theory",
            "--theory",
            model,
            "--pattern",
            pattern,
            "--to",
            "1MiB",
            "--budget",
            "2s",
            "--no-html",
            "-q",
            "-o",
            file,
        ]);
        assert!(said.code() <= 1, "{said}");
    }
    let said = dir.run(&["loggp", "p.run.jsonl", "s.run.jsonl", "--json"]);
    assert_eq!(said.code(), 0, "{said}");
    let path = &json(&said.out)["paths"][0];
    let near = |what: &str, of: &serde_json::Value, want: f64| {
        let value = of["value"].as_f64().unwrap_or_else(|| panic!("{what}: {said}"));
        assert!((value / want - 1.0).abs() < 0.02, "{what}: {value}, not {want}");
    };
    // One byte and a header of 100 take 101 ns; each further byte one.
    near("L + 2 o", &path["end_to_end"], 10.101e-6);
    near("g", &path["gap"], 101e-9);
    near("G", &path["gap_per_byte"], 1e-9);
    assert!(
        path["overhead"].is_null() && path["overhead_at_most"].as_f64().is_some(),
        "its sender waits for the line: {said}"
    );
    let said = dir.run(&["loggp", "p.run.jsonl"]);
    assert!(said.out.contains("g: no stream was measured (--pattern stream)"), "{said}");
    let said = dir.run(&["loggp", "b.run.jsonl"]);
    assert!(said.code() == 2 && said.err.contains("burst identifies no LogGP parameter"), "{said}");
    let said = dir.run(&["loggp", "p.run.jsonl", "p.run.jsonl"]);
    assert!(said.code() == 2 && said.err.contains("twice"), "{said}");
}

/// Two runs of a machine met states of their own, and L joins both.
#[test]
fn loggp_says_for_which_states_its_figures_hold() {
    let dir = Scratch::new();
    dir.measure("p.run.jsonl", &["unix"]);
    dir.measure("s.run.jsonl", &["unix", "--pattern", "stream"]);
    let said = dir.run(&["loggp", "p.run.jsonl", "s.run.jsonl"]);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["unix: ping-pong: ", "unix: stream: ", "round", "too few runs tell how far separate runs", "these two runs"]
    {
        assert!(words.contains(part), "{part}: {said}");
    }
    let one = dir.run(&["loggp", "s.run.jsonl"]);
    assert!(one.out.contains("unix: stream: ") && !one.out.contains("two runs"), "{one}");
}

#[test]
fn message_rate_is_a_graph_of_its_own() {
    let dir = Scratch::new();
    dir.measure("r.run.jsonl", &["unix", "--pattern", "request"]);
    let said = dir.run(&["show", "r.run.jsonl", "--graph", "message-rate"]);
    assert!(said.code() == 0 && said.out.contains("Message rate graph") && said.out.contains("/s"), "{said}");
    assert_eq!(dir.run(&["plot", "r.run.jsonl", "--graph", "message-rate", "-o", "r.svg"]).code(), 0);
    let picture = std::fs::read_to_string(dir.path("r.svg")).unwrap();
    assert!(picture.contains("Transfers a second (RTT)") && !picture.contains("NaN"), "the axis names the time");
}
