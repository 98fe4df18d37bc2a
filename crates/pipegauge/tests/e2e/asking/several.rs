//! Several paths: which of them is meant, and how they compare.

use super::{exact, link, near};
use crate::support::{Scratch, json};

#[test]
fn paths_are_told_apart() {
    let dir = Scratch::new();
    dir.measure("two.run.jsonl", &["memcpy", "tcp"]);
    let said = dir.run(&["ask", "two.run.jsonl", "which path is fastest for 64B?"]);
    assert!(said.out.starts_with("read as: the fastest path for 64 B, over all paths\nmemcpy: 64 B takes"), "{said}");
    let said = dir.run(&["ask", "two.run.jsonl", "what does tcp cost over memcpy?"]);
    // In a busy machine's states no interval may tell them apart; their rounds do.
    let told = said.out.contains("surely faster at") || said.out.contains("in every round");
    assert!(said.out.contains("tcp costs over memcpy:") && told, "{said}");
    for text in ["how much faster is memcpy than tcp", "by what factor is memcpy faster than tcp at 64 B"] {
        let said = dir.run(&["ask", "two.run.jsonl", text]);
        let answer = said.out.lines().nth(1).unwrap_or("");
        assert!(
            answer.starts_with("memcpy is ")
                && answer.contains(" times ")
                && answer.contains("faster")
                && answer.contains("than tcp at"),
            "{said}"
        );
        assert!(said.out.contains("\n  it costs over tcp:"), "{said}");
    }
    for text in ["latency over tcp", "is tcp latency below 1 s", "how long for 64 bytes via TCP sockets"] {
        let said = dir.run(&["ask", "two.run.jsonl", text]);
        assert!(said.out.contains("tcp: ") && !said.out.contains("memcpy"), "{said}");
    }
    dir.run(&["ask", "two.run.jsonl", "latency over udp"]).refuses(&["udp was not measured", "memcpy, tcp"]);
    dir.run(&["ask", "two.run.jsonl", "latency over rdma"]).refuses(&["'rdma' is no path", "memcpy, tcp"]);
    // Two files hold a path of one name, and each is held against the one of its own file.
    dir.measure("one.run.jsonl", &["tcp"]);
    let said = dir.run(&["ask", "one.run.jsonl", "two.run.jsonl", "tcp vs memcpy"]);
    assert!(said.out.contains("tcp (two) costs over memcpy (two)") && !said.out.contains("(one)"), "{said}");
    let said = dir.run(&["ask", "one.run.jsonl", "two.run.jsonl", "latency of tcp in one.run.jsonl"]);
    assert!(said.out.contains("tcp (one): ") && !said.out.contains("(two): "), "{said}");
    let said = dir.run(&["ask", "two.run.jsonl", "--path", "tcp", "--arrive", "64"]);
    assert!(said.out.contains("tcp: 64 B arrives after") && !said.out.contains("memcpy"), "{said}");
}

#[test]
fn a_comparisons_factor_stands_in_its_document() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["unix", "tcp"]);
    for text in ["how much faster is unix than tcp at 64 B", "what does unix cost over tcp at 64 B?"] {
        let answer = &json(&dir.run(&["ask", "a.run.jsonl", "--json", text]).out)["answers"][0];
        let factor = answer["factor"]["value"].as_f64().unwrap_or_else(|| panic!("{answer}"));
        // As `compare` has it: round by round.
        let compared = json(&dir.run(&["compare", "a.run.jsonl", "--json"]).out);
        let sizes = compared["comparisons"][0]["sizes"].as_array().unwrap();
        let at = sizes.iter().find(|s| s["size"] == 64).unwrap_or_else(|| panic!("{compared}"));
        near(factor, at["ratio"]["value"].as_f64().unwrap());
        // Two rounds tell no interval: both ends are there, and empty.
        let ends = ["low", "high"].map(|end| answer["factor"].get(end).unwrap_or_else(|| panic!("{answer}")).as_f64());
        assert!(ends[0].is_none_or(|low| low <= factor) && ends[1].is_none_or(|high| high >= factor), "{answer}");
    }
    let answer = &json(&dir.run(&["ask", "a.run.jsonl", "--json", "--path", "tcp", "--most"]).out)["answers"][0];
    assert!(answer["factor"].is_null(), "{answer}");
}

#[test]
fn a_path_that_is_left_out_is_not_answered() {
    let dir = Scratch::new();
    dir.measure("two.run.jsonl", &["memcpy", "tcp"]);
    for text in [
        "latency of all paths but tcp",
        "bandwidth save tcp",
        "fastest path for 64 B aside from tcp",
        "how long for 64 B over any non-tcp path",
    ] {
        let said = dir.run(&["ask", "two.run.jsonl", text]);
        assert!(said.out.contains("over all paths but tcp\n") && said.out.contains("\nmemcpy: "), "{text}: {said}");
        assert!(!said.out.contains("tcp: ") && !said.out.contains("run tcp"), "{text}: {said}");
    }
    dir.run(&["ask", "two.run.jsonl", "latency without memcpy and tcp"]).refuses(&["no path is left", "memcpy, tcp"]);
}

#[test]
fn layers_and_a_comparison_say_one_difference() {
    let dir = Scratch::new();
    link(&dir, "below.run.jsonl", "latency=10us,noise=5%", &["--to", "64", "--budget", "2s"]);
    link(&dir, "above.run.jsonl", "latency=15us,noise=10%", &["--to", "64", "--budget", "2s"]);
    let layer = &json(&dir.run(&["layers", "below.run.jsonl", "above.run.jsonl", "--json"]).out)["layers"][0];
    let first = &layer["overheads"][0];
    assert!(first["extra"]["low"].as_f64().is_some_and(f64::is_finite), "{layer}");
    let text = "theory in above.run.jsonl vs theory in below.run.jsonl at 1 B";
    let said = dir.run(&["ask", "below.run.jsonl", "above.run.jsonl", "--json", text]);
    let asked = &json(&said.out)["answers"][0]["figure"];
    for end in ["value", "low", "high"] {
        assert_eq!(asked[end].as_f64(), first["extra"][end].as_f64(), "{end}: {asked}, {first}");
    }
}

#[test]
fn no_path_that_was_asked_about_is_passed_over() {
    let dir = Scratch::new();
    exact(&dir, "full.run.jsonl");
    link(&dir, "tiny.run.jsonl", "latency=10us,rate=10Gbit/s", &["--to", "13", "--budget", "1s"]);
    link(&dir, "large.run.jsonl", "latency=10us,rate=10Gbit/s", &["--sizes", "4KiB,64KiB,1MiB", "--trials", "5"]);
    for (text, other) in [
        ("which path is fastest for 64KiB", "not known of theory (tiny): 13 B is the largest size measured"),
        ("which path has the highest throughput", "not known of theory (tiny): 13 B is the largest size measured"),
        ("which path has the lowest latency", "not known of theory (large): no size below 1 KiB was measured"),
    ] {
        let said = dir.run(&["ask", "full.run.jsonl", "tiny.run.jsonl", "large.run.jsonl", text]);
        assert!(said.code() == 0 && said.out.contains(other), "{text}: {said}");
    }
    let asked = |text: &str| dir.run(&["ask", "full.run.jsonl", "tiny.run.jsonl", text]);
    asked("latency of theory in gone.run.jsonl")
        .refuses(&["'gone.run.jsonl' is none of the run files", "tiny.run.jsonl"]);
    asked("latency of theory in gone").refuses(&["'gone' is none of the run files", "tiny.run.jsonl"]);
}

#[test]
fn one_path_overtakes_another_where_the_models_cross() {
    let dir = Scratch::new();
    link(&dir, "near.run.jsonl", "latency=10us,rate=1Gbit/s,header=0B", &["--to", "1MiB", "--budget", "2s"]);
    link(&dir, "far.run.jsonl", "latency=50us,rate=10Gbit/s,header=0B", &["--to", "1MiB", "--budget", "2s"]);
    // 40 us of start against 7.2 ns a byte: 5,556 B.
    let text = "from which size on is far faster than near";
    let said = dir.run(&["ask", "near.run.jsonl", "far.run.jsonl", "--json", text]);
    let size = &json(&said.out)["answers"][0]["figure"];
    let end = |name: &str| size[name].as_f64().unwrap_or_else(|| panic!("{said}"));
    assert!(end("low") <= 5556.0 && 5556.0 <= end("high") && end("high") < 1.6 * end("low"), "{said}");
    let said = dir.run(&["ask", "near.run.jsonl", "far.run.jsonl", text]);
    assert!(said.out.contains("theory (near) is faster up to ") && said.out.contains(", theory (far) from "), "{said}");
    link(&dir, "swift.run.jsonl", "latency=5us,rate=10Gbit/s,header=0B", &["--to", "1MiB", "--budget", "2s"]);
    let said = dir.run(&["ask", "near.run.jsonl", "swift.run.jsonl", "when does near overtake swift"]);
    assert!(
        said.out.contains("no crossing is seen from 1 B to 1 MiB") && said.out.contains("theory (swift) is faster"),
        "{said}"
    );
}

#[test]
fn flows_at_once_are_answered_by_the_paths_that_have_them() {
    let dir = Scratch::new();
    let flags = ["--flows", "1,2", "--sizes", "64,4KiB", "--budget", "60s", "--trials", "4", "--repeats", "50"];
    let flags = [&flags[..], &["--no-html", "--quiet", "-o", "a.run.jsonl"]].concat();
    let said = dir.run(&[&["run", "unix"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "throughput at 4 KiB with 2 connections"]);
    assert!(said.out.contains("over unix:flows=2 (a)\nunix:flows=2: messages of 4 KiB move"), "{said}");
    assert!(!said.out.0.contains("\nunix: "), "{said}");
    dir.run(&["ask", "a.run.jsonl", "throughput at 4 KiB with 8 connections"])
        .refuses(&["run unix --flows 8 measures it"]);
    let said = dir.run(&["ask", "a.run.jsonl", "how fast is the slowest flow at 4 KiB"]);
    assert!(
        said.out.contains("read as: what the slowest flow moves, with messages of 4 KiB, over all paths"),
        "{said}"
    );
    assert!(said.out.contains("\nunix:flows=2: the slowest of 2 flows moves "), "{said}");
    assert!(!said.out.0.contains("\nunix: "), "{said}");
}

#[test]
fn a_percentile_of_two_paths_is_answered_with_yes_no_or_not_told_apart() {
    let dir = Scratch::new();
    let flags = ["--to", "4KiB", "--budget", "2s"];
    for (file, latency) in [("near.run.jsonl", "10us"), ("twin.run.jsonl", "10us"), ("far.run.jsonl", "30us")] {
        link(&dir, file, &format!("latency={latency},rate=10Gbit/s,header=0B"), &flags);
    }
    let files = ["near.run.jsonl", "twin.run.jsonl", "far.run.jsonl"];
    for (text, words) in [
        ("is p99 of near better than of far?", "theory (near): yes: p99 of 1 B is 10.0 us"),
        ("is p99 of far better than of near?", "theory (far): no: p99 of 1 B is 30.0 us"),
        ("is the p99 of far longer than that of near at 1 KiB?", "theory (far): yes: p99 of 1 KiB is 30.8 us"),
        ("is p99 of near better than of twin?", "theory (near): not told apart: p99 of 1 B is 10.0 us"),
    ] {
        let said = dir.run(&[&["ask"], &files[..], &[text]].concat());
        assert!(said.out.contains(words), "{text}: {said}");
    }
}

#[test]
fn between_two_messages_a_time_is_told_beside_the_rate() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let said = dir.run(&["ask", "a.run.jsonl", "time between messages of 1 KB"]);
    // 10 us and 0.8 ns a byte, there and back.
    assert!(said.out.contains("; from one to the next it is 21.6 us"), "{said}");
}

#[test]
fn the_path_of_least_cpu_time_is_told_with_the_others() {
    let dir = Scratch::new();
    let flags = ["--sizes", "64,64KiB", "--budget", "2s", "--no-html", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run", "unix", "tcp"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    exact(&dir, "exact.run.jsonl");
    let said = dir.run(&["ask", "a.run.jsonl", "exact.run.jsonl", "which path uses the least cpu at 64 KiB"]);
    assert!(said.code() == 0 && said.out.contains(": a transfer of 64 KiB costs least, "), "{said}");
    assert!(said.out.contains("on both sides") && said.out.contains("not known of theory (exact)"), "{said}");
}

#[test]
fn so_many_times_as_fast_is_answered_with_yes_or_no() {
    let dir = Scratch::new();
    // A byte takes three times as long over the one as over the other.
    link(&dir, "near.run.jsonl", "latency=10us,rate=10Gbit/s,header=0B", &["--to", "64KiB", "--budget", "2s"]);
    link(&dir, "far.run.jsonl", "latency=30us,rate=10Gbit/s,header=0B", &["--to", "64KiB", "--budget", "2s"]);
    for (text, words) in [
        ("is near twice as fast as far at 1 B", "theory (near): yes at 1 B (whether 2 times as fast as theory (far));"),
        (
            "is near 4 times as fast as far at 1 B",
            "theory (near): no at 1 B (whether 4 times as fast as theory (far));",
        ),
        (
            "is near less than 4 times as fast as far at 1 B",
            "theory (near): yes at 1 B (whether less than 4 times as fast as theory (far));",
        ),
        ("is far twice as slow as near at 1 B", "theory (far): yes at 1 B (whether 2 times as slow as theory (near));"),
        ("is far twice as fast as near at 1 B", "theory (far): no at 1 B (whether 2 times as fast as theory (near));"),
    ] {
        let said = dir.run(&["ask", "near.run.jsonl", "far.run.jsonl", text]);
        assert!(said.out.contains(words) && said.out.contains("\n  it is 3.0"), "{text}: {said}");
    }
}

#[test]
fn the_cpu_time_of_a_transfer_is_that_of_the_run() {
    let dir = Scratch::new();
    let flags = ["--sizes", "64,64KiB", "--budget", "2s", "--no-html", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&[&["run", "tcp"][..], &flags].concat());
    assert!(said.measured(), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "cpu cost of 64 KiB"]);
    assert!(said.code() == 0 && said.out.contains("tcp: a transfer of 64 KiB costs the "), "{said}");
    exact(&dir, "exact.run.jsonl");
    let said = dir.run(&["ask", "exact.run.jsonl", "cpu cost of 64 KiB"]);
    assert!(said.code() == 2 && said.out.contains("this run has no CPU times"), "{said}");
}
