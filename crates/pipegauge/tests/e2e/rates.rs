//! Streams at several offered rates: what arrived and what was lost, over real sockets and on the theoretical link.

use super::support::{Said, Scratch};

fn measured(dir: &Scratch, line: &[&str]) -> Said {
    let rest = ["--pattern", "stream", "--budget", "1s", "--no-history", "--quiet", "-o", "x.run.jsonl"];
    let said = dir.run(&[&["run"][..], line, &rest].concat());
    assert!(said.measured(), "{said}");
    said
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn losses_are_told_over_the_offered_rate_with_the_highest_rate_without() {
    let dir = Scratch::new();
    // A tenth of the messages is dropped on purpose, so that some are lost at every rate.
    let said = measured(&dir, &["udp", "--rate", "20Mbit/s,80Mbit/s", "--fault", "drop=10%", "--seed", "7"]);
    for part in [
        "Loss over the offered rate: udp, messages of 1,448 B",
        "20.0 Mbit/s",
        "80.0 Mbit/s",
        "No rate without loss is known. At 20.0 Mbit/s",
    ] {
        assert!(words(&said.out).contains(part), "{part}: {said}");
    }
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.out.contains("Loss graph") && shown.out.contains("Loss over the offered rate"), "{shown}");
    assert!(shown.out.contains("20.0 Mbit/s to 80.0 Mbit/s offered"), "{shown}");
    let page = std::fs::read_to_string(dir.path("x.html")).or_else(|_| std::fs::read_to_string(dir.path("x.run.html")));
    assert!(
        page.is_ok_and(|page| page.contains("Share of messages lost") && page.contains("Offered rate")),
        "the page"
    );
    let drawn = dir.run(&["plot", "x.run.jsonl", "--graph", "loss", "-o", "x.svg"]);
    assert_eq!(drawn.code(), 0, "{drawn}");
    assert!(std::fs::read_to_string(dir.path("x.svg")).unwrap().contains("Loss graph"));
    let json: serde_json::Value = serde_json::from_str(&dir.run(&["show", "x.run.jsonl", "--json"]).out).unwrap();
    let group = &json["over_rates"][0];
    let rows = group["rows"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0]["offered"].as_f64(), group["lossless"].is_null()), (2, Some(2e7), true));
    for row in rows {
        let (lost, messages) = (row["lost"].as_f64().unwrap(), row["messages"].as_f64().unwrap());
        assert!((row["loss"]["value"].as_f64().unwrap() - lost / messages).abs() < 1e-12);
        assert!(lost > 0.0, "{row}");
    }
}

#[test]
fn a_path_that_loses_nothing_says_up_to_which_rate() {
    let dir = Scratch::new();
    let said = measured(
        &dir,
        &["theory", "--theory", "latency=1us,rate=10Gbit/s", "--rate", "100Mbit/s..1Gbit/s", "--no-html"],
    );
    let text = words(&said.out);
    assert!(text.contains("No message was lost at any of these rates, up to 1.00 Gbit/s (0 of"), "{said}");
    assert!(text.contains("No message was lost, up to 1.00 Gbit/s offered"), "the picture says it: {said}");
    let csv = dir.run(&["export", "x.run.jsonl", "--format", "csv"]).out;
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = rows.next().unwrap().iter().position(|c| *c == "offered_bits_per_s").unwrap();
    let offered: Vec<f64> = rows.map(|row| row[at].parse().unwrap()).collect();
    assert_eq!(offered, [1e8, 2e8, 5e8, 1e9]);
    // What a rate decides is no figure of the path.
    assert!(dir.run(&["ask", "x.run.jsonl", "throughput"]).code() != 0);
    dir.run(&["show", "x.run.jsonl", "--graph", "load"]).refuses(&["this run has none such (run --load 1,2,4)"]);
}

#[test]
fn a_rate_that_the_path_does_not_carry_is_not_called_kept() {
    let dir = Scratch::new();
    let said = measured(
        &dir,
        &["theory", "--theory", "latency=1us,rate=1Gbit/s", "--rate", "100Mbit/s,10Gbit/s", "--no-html"],
    );
    let text = words(&said.out);
    assert!(text.contains("At 10.0 Gbit/s, of which the sender reached"), "{said}");
    assert!(text.contains("No message was lost, up to 100 Mbit/s offered"), "the picture says the same: {said}");
    assert!(text.contains("the schedule of --rate was not kept"), "{said}");
}

#[test]
fn paths_of_several_rates_are_compared_by_what_arrived_and_not_by_the_schedules_spacing() {
    let dir = Scratch::new();
    measured(&dir, &["udp", "--rate", "20Mbps,80Mb/s"]);
    let why = ["at 20.0 Mbit/s on a schedule (--rate)", "at 80.0 Mbit/s", "pipegauge show"];
    dir.run(&["compare", "x.run.jsonl"]).refuses(&why);
    let said = dir.run(&["ask", "x.run.jsonl", "which path is fastest for 1448 B"]);
    assert!(
        said.code() == 2 && said.out.contains("is that of the schedule") && !said.out.contains("times as long"),
        "{said}"
    );
    assert!(
        said.out.contains("run udp --pattern stream --rate 80Mbit/s --sizes 1448"),
        "the command keeps the rate: {said}"
    );
    let said = dir.run(&["ask", "x.run.jsonl", "is udp:offered=80Mbit/s faster than udp:offered=20Mbit/s"]);
    assert!(said.code() == 2 && said.out.contains("is that of the schedule"), "{said}");
}

#[test]
fn a_path_without_any_point_beside_others_is_named_and_the_run_fell_short() {
    let dir = Scratch::new();
    let said = dir.run(&[
        "run",
        "memcpy",
        "udp",
        "--pattern",
        "stream",
        "--sizes",
        "64",
        "--budget",
        "1s",
        "--fault",
        "drop=100%",
        "--no-history",
        "--quiet",
        "--no-html",
        "-o",
        "x.run.jsonl",
    ]);
    assert!(said.code() == 1 && said.err.contains("no size was measured on udp"), "{said}");
}

/// Nothing says how far figures may be trusted that are not there, and nothing stands for it.
#[test]
fn a_run_without_any_point_is_shown_without_gaps() {
    let dir = Scratch::new();
    let line = ["run", "udp", "--pattern", "stream", "--sizes", "64", "--budget", "500ms", "--fault", "drop=100%"];
    let said = dir.run(&[&line[..], &["--no-history", "--quiet", "--no-html", "-o", "x.run.jsonl"]].concat());
    assert!(said.code() == 2 && said.err.contains("nothing was measured"), "{said}");
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert_eq!(shown.code(), 0, "{shown}");
    assert!(!shown.out.0.contains("\n\n\n") && !shown.out.contains("Trust:"), "{shown}");
}
