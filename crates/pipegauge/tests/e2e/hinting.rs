//! HINT over real paths: two processes that share the work, and one alone.

use rustix::process::Signal;

use super::processes::{all_end, far_processes, send, under_way};
use super::support::{Running, Scratch, json};
use super::two_sides::Serve;

/// Flags of a run that is over in a moment; what it does is counted.
const SHORT: [&str; 12] =
    ["--to", "60", "--trials", "2", "--repeats", "5", "--budget", "600s", "--pin", "none", "--quiet", "-o"];

/// Flags of a run that goes on until something ends it.
const LONG: [&str; 10] =
    ["--to", "2000", "--budget", "120s", "--precision", "0.001%", "--pin", "none", "-o", "x.run.jsonl"];

fn hint(dir: &Scratch, transports: &[&str], file: &str) -> super::support::Said {
    dir.run(&[&["hint"], transports, &SHORT, &[file]].concat())
}

#[test]
fn every_path_that_keeps_what_it_carries_runs_hint() {
    let dir = Scratch::new();
    let paths = ["pipe", "shm", "unix", "seqpacket", "tcp", "theory"];
    let said = hint(&dir, &[&paths[..], &["--alone"]].concat(), "x.run.jsonl");
    assert_eq!(said.code(), 0, "{said}");
    assert!(!said.out.contains("bit/s") && !said.out.contains("NaN") && !said.out.contains("B/s"), "{said}");
    let doc = json(&dir.run(&["show", "x.run.jsonl", "--json"]).out);
    let found = doc["paths"].as_array().unwrap();
    assert_eq!(found.len(), paths.len() + 1);
    let mut qualities = Vec::new();
    for path in found {
        let name = path["opened"]["transport"].as_str().unwrap();
        let of = &path["hint"];
        assert_eq!(of["processes"], if name == "alone" { 1 } else { 2 }, "{name}");
        assert_eq!((&of["last"], &of["ended_by"]), (&60.into(), &"--to".into()), "{name}");
        let figure = |name: &str| of[name]["value"].as_f64().unwrap();
        assert!(figure("net") > 0.0 && figure("peak") >= figure("first"), "{name}: {of}");
        let points = path["points"].as_array().unwrap();
        assert_eq!(points[0]["size"], if name == "alone" { 2 } else { 4 });
        assert!(points.iter().all(|p| p["blocks"] == 2 && p["throughput"] == 0.0 && p["time"] == "answer"), "{name}");
        if name != "alone" {
            qualities.push(points.iter().map(|p| p["quality"].as_f64().unwrap()).collect::<Vec<_>>());
        }
    }
    assert!(qualities.windows(2).all(|w| w[0] == w[1]), "the work is the same over every path");
    let picture = dir.run(&["plot", "x.run.jsonl", "--graph", "quips", "-o", "x.svg"]);
    assert_eq!(picture.code(), 0, "{picture}");
    let svg = std::fs::read_to_string(dir.path("x.svg")).unwrap();
    assert!(svg.contains("Quality improvement a second") && svg.contains("seqpacket") && svg.contains("alone"));
    let drawn = dir.run(&["plot", "x.run.jsonl", "-o", "x.png"]);
    assert_eq!(drawn.code(), 0, "a HINT run's own graph is the default: {drawn}");
}

#[test]
fn without_a_transport_one_process_works_alone() {
    let dir = Scratch::new();
    let said = hint(&dir, &[], "x.run.jsonl");
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("alone") && said.out.contains("Net QUIPS"), "{said}");
    let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
    assert!(shown.out.contains("quality") && shown.out.contains("60.000"), "{shown}");
}

#[test]
fn what_cannot_be_is_answered_before_anything_is_measured() {
    let dir = Scratch::new();
    for (args, words) in [
        (&["udp"][..], &["udp", "may be lost"][..]),
        (&["tcp", "udp"], &["udp", "may be lost"]),
        (&["memcpy"], &["memcpy", "--alone"]),
        (&["theory", "--theory", "loss=1%"], &["may be lost"]),
        (&["tcp", "--to", "1"], &["--to", "starts from 4"]),
        (&["--to", "1"], &["--to", "starts from 2"]),
        (&["--memory", "100"], &["--memory", "starts from 2"]),
        (&["tcp", "--memory", "300"], &["--memory", "starts from 4"]),
        (&["tcp", "tcp"], &["named twice"]),
        (&["alone"], &["no transport is named 'alone'"]),
        (&["tcp", "--budget", "0s"], &["--budget"]),
        (&["tcp", "--trials", "0"], &["--trials"]),
        (&["--peer", "ssh://nowhere"], &["--peer", "name a transport"]),
        (&["--wait", "spin"], &["--wait changes nothing"]),
        (&["shm", "--theory", "latency=1us"], &["--theory changes nothing"]),
    ] {
        let said = dir.run(&[&["hint"], args].concat());
        said.refuses(words);
        assert!(dir.names().is_empty(), "{args:?} left {:?}", dir.names());
    }
    dir.run(&["run", "alone"]).refuses(&["no transport is named 'alone'"]);
}

#[test]
fn far_too_much_and_far_too_little_come_to_an_end() {
    let dir = Scratch::new();
    // More subintervals than any number type tells apart: memory ends it.
    let huge = ["hint", "unix", "--alone", "--to", "18446744073709551615", "--memory", "64KiB", "--trials", "1"];
    let more = ["--repeats", "1", "--budget", "600s", "--pin", "none", "-q", "-o", "huge.run.jsonl"];
    let said = dir.run(&[&huge[..], &more].concat());
    assert_eq!(said.code(), 0, "{said}");
    let doc = json(&dir.run(&["show", "huge.run.jsonl", "--json"]).out);
    for path in doc["paths"].as_array().unwrap() {
        let of = &path["hint"];
        assert_eq!((&of["last"], &of["ended_by"]), (&(65_536 / 96).into(), &"memory".into()), "{path}");
    }
    // A budget that nothing fits in still has a first answer.
    let tiny = dir.run(&["hint", "--alone", "unix", "--budget", "1us", "--pin", "none", "-q", "-o", "tiny.run.jsonl"]);
    assert_eq!(tiny.code(), 0, "{tiny}");
    let doc = json(&dir.run(&["show", "tiny.run.jsonl", "--json"]).out);
    for path in doc["paths"].as_array().unwrap() {
        assert_eq!(path["hint"]["ended_by"], "time", "{path}");
    }
}

#[test]
fn a_killed_far_side_is_named_and_what_was_measured_stays() {
    for transport in ["shm", "unix", "tcp"] {
        let dir = Scratch::new();
        let mut run = Running::start(dir.command(&[&["hint", transport], &LONG[..]].concat()));
        let far = under_way(&mut run, &dir.path("x.run.jsonl"));
        let pid = run.pid();
        send(far.pid, Signal::KILL);
        let said = run.end();
        assert_eq!(said.code(), 1, "{said}");
        said.complains(&["far side"]);
        assert!(far_processes(pid).is_empty(), "{transport}");
        let shown = dir.run(&["show", "x.run.jsonl"]);
        assert!(shown.code() == 0 && shown.out.contains("cut off") && shown.out.contains("QUIPS"), "{shown}");
    }
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let dir = Scratch::new();
    let mut run = Running::start(dir.command(&[&["hint", "tcp", "--alone"], &LONG[..]].concat()));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    run.signal(Signal::INT);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["interrupted"]);
    all_end(&[far]);
    let doc = json(&dir.run(&["show", "x.run.jsonl", "--json"]).out);
    assert!(doc["end"].is_object() && doc["cut"].is_null(), "{doc}");
    assert!(doc["paths"][0]["hint"]["net"]["value"].as_f64().unwrap() > 0.0, "{doc}");
}

#[test]
fn a_path_that_changes_the_sums_is_found() {
    let dir = Scratch::new();
    let args = ["hint", "unix", "--fault", "corrupt=20%", "--to", "60", "--budget", "2s", "--pin", "none", "-q"];
    let said = dir.run(&args);
    assert!(matches!(said.code(), 1 | 2), "{said}");
    said.complains(&["HINT", "other work"]);
}

#[test]
fn a_serving_side_takes_part_and_limits_the_memory() {
    let dir = Scratch::new();
    let near = |serve: &Serve, args: &[&str]| {
        let mut command = dir.command(&[&["hint", "tcp", "--peer", &serve.peer], args].concat());
        command.env("PIPEGAUGE_KEY", &serve.key);
        Running::start(command).end()
    };
    let serve = Serve::start(&dir, &[]);
    let said = near(&serve, &[&SHORT[..], &["x.run.jsonl"]].concat());
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("QUIPS"), "{said}");
    let serve = Serve::start(&dir, &["--max-memory", "1MiB"]);
    let said = near(&serve, &["--to", "20000", "--pin", "none", "-q"]);
    said.complains(&["memory for", "subintervals", "limit of 1 MiB"]);
}

#[test]
fn other_commands_show_a_hint_run_or_say_why_not() {
    let dir = Scratch::new();
    assert_eq!(hint(&dir, &["theory", "--alone"], "x.run.jsonl").code(), 0);
    dir.measure("messages.run.jsonl", &["theory"]);
    for args in [
        &["layers", "x.run.jsonl"][..],
        &["tables", "x.run.jsonl"],
        &["ask", "x.run.jsonl", "--most"],
        &["explain", "x.run.jsonl"],
        &["jitter", "x.run.jsonl"],
        &["loggp", "x.run.jsonl"],
    ] {
        dir.run(args).refuses(&["x.run.jsonl is a HINT run", "plot"]);
    }
    let compared = dir.run(&["compare", "x.run.jsonl"]);
    // Two rounds tell no error.
    assert!(
        compared.code() == 0 && compared.out.contains("No verdict: theory took") && compared.out.contains("n in all"),
        "{compared}"
    );
    assert!(!compared.out.contains(" B ") && !compared.out.contains("KiB"), "{compared}");
    dir.run(&["compare", "x.run.jsonl", "--fail-if", "time>+5%"]).refuses(&["--fail-if", "HINT"]);
    dir.run(&["compare", "x.run.jsonl", "messages.run.jsonl"]).refuses(&["can't be compared"]);
    dir.run(&["export", "x.run.jsonl", "--format", "np", "--path", "alone"]).refuses(&["np.out", "csv"]);
    dir.run(&["plot", "x.run.jsonl", "-o", "x.html"]).refuses(&[".svg"]);
    dir.run(&["plot", "x.run.jsonl", "--graph", "signature", "-o", "x.svg"]).refuses(&["--graph quips"]);
    dir.run(&["show", "x.run.jsonl", "--graph", "throughput"]).refuses(&["--graph quips"]);
    dir.run(&["show", "messages.run.jsonl", "--graph", "quips"]).refuses(&["pipegauge hint"]);
    dir.run(&["plot", "x.run.jsonl", "messages.run.jsonl", "-o", "x.svg"]).refuses(&["draw them apart"]);
    assert!(!dir.names().iter().any(|n| n.ends_with(".svg") || n.ends_with(".html")));
    for format in ["csv", "json", "openmetrics"] {
        let said = dir.run(&["export", "x.run.jsonl", "--format", format]);
        assert_eq!(said.code(), 0, "{said}");
        assert!(said.out.contains("quips") && !said.out.contains("NaN"), "{format}");
    }
    let metrics = dir.run(&["export", "x.run.jsonl", "--format", "openmetrics"]).out;
    assert!(!metrics.contains("pipegauge_throughput_bits_per_second{"), "QUIPS are no throughput");
}
