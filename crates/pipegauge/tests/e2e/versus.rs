//! `run --vs`: two sides of one run, in turns.

use std::fs;

use rustix::process::Signal;

use super::processes::{all_end, under_way};
use super::support::{LONG, Running, SHORT, Scratch, json};

/// A run on the theoretical link against another one, for two seconds of its own clock a side.
fn theory(dir: &Scratch, first: &str, second: &str, more: &[&str]) -> super::support::Said {
    let vs = format!("--theory '{second}'");
    let mut args = vec!["run", "theory", "--theory", first, "--vs", &vs, "--to", "64KiB", "--budget", "4s"];
    args.extend(["--quiet", "--no-html", "-o", "x.run.jsonl"]);
    args.extend(more);
    dir.run(&args)
}

#[test]
fn a_slower_link_is_slower_by_what_it_is_and_the_files_say_so_again() {
    let dir = Scratch::new();
    let said = theory(&dir, "latency=10us,rate=10Gbit/s", "latency=11us,rate=9.0909090909Gbit/s", &[]);
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.err.contains("note: two sides take turns: 8.00 s in all"), "{said}");
    assert!(
        said.out.contains("is 10.0% slower: over all sizes it takes 110.0% [110.0%, 110.0%] of the time"),
        "{said}"
    );
    assert!(said.out.contains("x.a.run.jsonl") && said.out.contains("x.b.run.jsonl"), "{said}");
    assert_eq!(dir.names(), ["x.a.run.jsonl", "x.b.run.jsonl"]);

    let again = dir.run(&["compare", "x.a.run.jsonl", "x.b.run.jsonl", "--json", "--fail-if", "time>+5%"]);
    assert_eq!(again.code(), 1, "{again}");
    let found = &json(&again.out)["comparisons"][0];
    assert!((found["whole"]["value"].as_f64().unwrap() - 1.1).abs() < 1e-3, "{found}");
    assert!(found["paired"]["rounds"].as_u64().unwrap() >= 4 && found["paired"]["differs"] == true, "{found}");
    assert_eq!(found["gates"][0]["failed"], true);
    let turned = dir.run(&["compare", "x.b.run.jsonl", "x.a.run.jsonl", "--fail-if", "time>+5%"]);
    assert!(turned.code() == 0 && turned.out.contains("10.0% faster"), "{turned}");

    // Each side is a run like any other.
    for (side, number) in [("x.a.run.jsonl", 0), ("x.b.run.jsonl", 1)] {
        let shown = dir.run(&["show", side, "--json"]);
        assert_eq!(shown.code(), 0, "{shown}");
        let header = &json(&shown.out)["header"];
        assert_eq!(header["side"]["number"], number);
        let again = header["command"].as_array().unwrap().iter().any(|w| w == "--vs");
        assert_eq!(again, number == 0, "{header}");
        let told = dir.run(&["explain", side, "--dry-run"]);
        assert_eq!(told.code(), 0, "{told}");
    }
    // A side of another run is no neighbour in time.
    fs::rename(dir.path("x.b.run.jsonl"), dir.path("old.b.run.jsonl")).unwrap();
    fs::remove_file(dir.path("x.a.run.jsonl")).unwrap();
    assert_eq!(theory(&dir, "latency=10us", "latency=11us", &[]).code(), 0);
    let apart = dir.run(&["compare", "x.a.run.jsonl", "old.b.run.jsonl", "--json"]);
    assert!(json(&apart.out)["comparisons"][0]["paired"].is_null(), "{apart}");
}

#[test]
fn the_page_says_what_its_sides_are_and_how_they_compare() {
    let dir = Scratch::new();
    let vs = "--theory 'latency=11us,rate=9.0909090909Gbit/s'";
    let args =
        ["run", "theory", "--theory", "latency=10us,rate=10Gbit/s", "--vs", vs, "--to", "64KiB", "--budget", "2s"];
    let said = dir.run(&[&args[..], &["--quiet", "--html", "x.html", "-o", "x.run.jsonl"]].concat());
    assert_eq!(said.code(), 0, "{said}");
    let page = fs::read_to_string(dir.path("x.html")).unwrap();
    for told in [
        "<h1>theory against theory --theory 'latency=11us,rate=9.0909090909Gbit/s'</h1>",
        "<b>A</b>: theory \u{a0} <b>B</b>: theory --theory",
        "is 10.0% slower: over all sizes it takes 110.0% [110.0%, 110.0%] of the time",
        "<summary>Each size</summary>",
    ] {
        assert!(page.contains(told), "{told}");
    }
}

#[test]
fn the_same_link_with_other_noise_is_no_different_and_what_would_have_been_seen_is_said() {
    let dir = Scratch::new();
    let same = |seed: u32| format!("latency=10us,rate=10Gbit/s,noise=3%,round-noise=3%,seed={seed}");
    let said = theory(&dir, &same(1), &same(2), &["--json"]);
    assert_eq!(said.code(), 0, "{said}");
    let document = json(&said.out);
    assert_eq!(document["schema"], "pipegauge-compare/1");
    assert_eq!(document["run"]["run_files"], serde_json::json!(["x.a.run.jsonl", "x.b.run.jsonl"]));
    let found = &document["comparisons"][0];
    let verdict = found["verdict"].as_str().unwrap();
    assert!(
        verdict.contains("No difference found between theory") && verdict.contains("four times in five"),
        "{verdict}"
    );
    let finds = found["paired"]["finds"].as_f64().unwrap();
    assert!(finds > 0.005 && finds < 0.2, "{found}");
}

#[test]
fn real_paths_take_turns_and_every_path_is_compared() {
    let dir = Scratch::new();
    let mut args = vec!["run", "tcp", "unix", "--vs", "--sockbuf 64KiB", "-o", "x.run.jsonl"];
    args.extend(SHORT);
    let said = dir.run(&args);
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("tcp --sockbuf 64KiB") && said.out.contains("unix --sockbuf 64KiB"), "{said}");
    assert!(said.out.contains("--sockbuf: absent / 64KiB"), "{said}");
    assert!(said.out.contains("No verdict") && said.out.contains("2 rounds"), "{said}");
}

#[test]
fn a_second_side_that_cannot_be_is_refused_with_what_to_do() {
    let dir = Scratch::new();
    let tcp = |vs: &str| dir.run(&["run", "tcp", "--vs", vs]);
    tcp("--sizes 3").refuses(&["--vs '--sizes 3'", "--sizes is one for both sides"]);
    tcp("").refuses(&["--vs names no flag", "--sockbuf 256KiB"]);
    tcp("--sokbuf 1KiB").refuses(&["--vs '--sokbuf 1KiB'", "--sokbuf"]);
    tcp("--sockbuf").refuses(&["--sockbuf", "value"]);
    tcp("--sockbuf '64KiB").refuses(&["quote", "never ends"]);
    tcp("--nodelay").refuses(&["changes nothing"]);
    tcp("unix").refuses(&["pipegauge run tcp unix", "layers"]);
    tcp("--peer host:1").refuses(&["--peer is one for both sides"]);
    tcp("-o y.run.jsonl").refuses(&["--output is one for both sides"]);
    tcp("--budget 1s").refuses(&["--budget is one for both sides"]);
    tcp("--schedule netpipe").refuses(&["NetPIPE", "no rounds"]);
    tcp("--trace t").refuses(&["--trace"]);
    tcp("--vs '--mss 1000'").refuses(&["two sides"]);
    tcp("--pattern stream").refuses(&["can't be compared"]);
    tcp("--pairs 1,2").refuses(&["the first side has 1 paths (tcp), the second 2 (tcp:pairs=1, tcp:pairs=2)"]);
    tcp("--cache cold --wait nonsense").refuses(&["nonsense"]);
    dir.run(&["run", "shm", "--vs", "--mss 1000"]).refuses(&["--vs '--mss 1000'", "--mss changes nothing here"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn ctrl_c_ends_both_sides_and_both_files_stay_whole() {
    let dir = Scratch::new();
    let mut args = vec!["run", "tcp", "--vs", "--sockbuf 64KiB", "-o", "x.run.jsonl"];
    args.extend(LONG);
    let mut run = Running::start(dir.command(&args));
    let far = under_way(&mut run, &dir.path("x.b.run.jsonl"));
    run.signal(Signal::INT);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["interrupted"]);
    all_end(&[far]);
    for side in ["x.a.run.jsonl", "x.b.run.jsonl"] {
        let shown = dir.run(&["show", side, "--json"]);
        assert_eq!(shown.code(), 0, "{shown}");
        assert!(json(&shown.out)["end"].is_object(), "{shown}");
    }
}

#[test]
fn a_file_that_is_there_already_is_not_lost_for_a_side() {
    let dir = Scratch::new();
    fs::write(dir.path("x.b.run.jsonl"), "mine").unwrap();
    let said = theory(&dir, "latency=10us", "latency=11us", &[]);
    said.refuses(&["x.b.run.jsonl"]);
    assert_eq!(fs::read_to_string(dir.path("x.b.run.jsonl")).unwrap(), "mine");
    assert_eq!(dir.names(), ["x.b.run.jsonl"]);
}

#[test]
fn one_pair_against_two_is_compared_by_the_spacing_of_transfers_and_says_so() {
    let dir = Scratch::new();
    let args = [
        "run",
        "unix",
        "--pairs",
        "2",
        "--vs",
        "--pairs 1",
        "--sizes",
        "64",
        "--quiet",
        "--no-html",
        "-o",
        "x.run.jsonl",
    ];
    let said = dir.run(&[&args[..], &["--budget", "1s", "--no-history"]].concat());
    assert!(said.measured(), "{said}");
    let told = "of unix --pairs 1 (1 pair) its RTT/2, of unix (2 pairs) less than a transfer takes";
    assert!(said.out.contains(told), "a list replaces the list outside of --vs: {said}");
    // Paths of one file, by both commands.
    let said = dir.run(&[
        "run",
        "unix",
        "--pairs",
        "1,2",
        "--sizes",
        "64",
        "--budget",
        "1s",
        "--no-history",
        "--quiet",
        "-o",
        "y.run.jsonl",
    ]);
    assert!(said.measured(), "{said}");
    let rule = "They tell how much both carry, and not how long a message is on its way";
    for args in [
        &["compare", "y.run.jsonl"][..],
        &["ask", "y.run.jsonl", "is unix:pairs=2 faster than unix:pairs=1 at 64 B"],
        &["ask", "y.run.jsonl", "how many times faster are 2 pairs than 1 pair"],
    ] {
        let said = dir.run(args);
        assert!(said.code() == 0 && said.out.contains(rule), "{args:?}: {said}");
    }
}
