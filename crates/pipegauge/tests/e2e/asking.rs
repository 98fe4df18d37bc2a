//! Asking runs.

mod agree;
mod bounds;
mod kinds;
mod model;
mod sceptics;
mod several;
mod words;

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

/// A modelled link into a run file.
fn link(dir: &Scratch, name: &str, model: &str, flags: &[&str]) {
    let first = ["run", "theory", "--theory", model, "--no-html", "--quiet", "--seed", "1", "-o", name];
    let said = dir.run(&[&first[..], flags].concat());
    assert_eq!(said.code(), 0, "{said}");
}
