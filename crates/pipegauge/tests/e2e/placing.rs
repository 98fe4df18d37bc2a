//! Warnings of rounds that lie apart, where it is the far program that is slow.

use std::fs;

use serde_json::Value;

use super::support::{Scratch, installed, json, skip};

/// Echoes, each process with a delay of its own: 4, 8 or 16 ms, by how many were started before.
const SLOW: &str = r#"
import fcntl, os, sys, time
with open(sys.argv[1], "a+") as started:
    fcntl.flock(started, fcntl.LOCK_EX)
    number = started.tell()
    started.write(".")
delay = 0.004 * (1, 2, 4)[number % 3]
while data := os.read(0, 65536):
    time.sleep(delay)
    while data:
        data = data[os.write(1, data):]
"#;

/// What a warning may say of the cause, and whether it names the machine.
const CAUSES: [(&str, bool); 6] = [
    ("likely cause: the machine changed its speed", true),
    ("likely cause: the connection or the far process", false),
    ("the cause can't be told", false),
    ("likely cause: other processes, which took", false),
    ("likely cause: the hypervisor, which kept", false),
    ("likely cause: the control group's CPU quota, which kept", false),
];

/// Spread of these readings, as logarithms.
fn spread(readings: &[f64]) -> f64 {
    let logs: Vec<f64> = readings.iter().map(|r| r.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (logs.len() as f64 - 1.0)).sqrt()
}

#[test]
fn rounds_of_a_far_program_that_is_slow_by_its_own_factor_are_not_put_down_to_the_machine() {
    if installed("python3").is_none() {
        return skip("python3 is not installed");
    }
    let dir = Scratch::new();
    fs::write(dir.path("slow.py"), SLOW).unwrap();
    let path = format!("exec:python3 {} {}", dir.path("slow.py").display(), dir.path("started").display());
    let said = dir.run(&[
        "run",
        &path,
        "--sizes",
        "1,64,512,4096",
        "--trials",
        "12",
        "--repeats",
        "3",
        "--pin",
        "none",
        "--no-html",
        "--no-history",
        "-q",
        "-o",
        "x.run.jsonl",
        "--budget",
        "60s",
    ]);
    assert_eq!(said.code(), 0, "{said}");
    let lines: Vec<Value> = fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect();
    let text = |code: &str| lines.iter().find(|l| l["code"] == code).map(|l| l["text"].as_str().unwrap().to_owned());
    let causes = |text: &str| CAUSES.iter().filter(|(cause, _)| text.contains(cause)).collect::<Vec<_>>();
    // A factor of four between processes is more than any noise of such delays.
    let unsteady = text("unsteady").unwrap_or_else(|| panic!("no word of rounds that lie apart: {lines:#?}"));
    assert!(unsteady.contains("; the path ") || unsteady.contains(" up once ("), "{unsteady}");
    let found = causes(&unsteady);
    assert_eq!(found.len(), 1, "{unsteady}");
    let taken = ["cpu-interference", "steal", "throttled"].iter().any(|code| text(code).is_some());
    let named = [", which took", ", which kept"].iter().any(|who| unsteady.contains(who));
    assert!(taken || !named, "nobody took of the CPUs: {unsteady}");
    let of_rounds =
        |noisy: &String| noisy.contains("whole rounds lie apart") || noisy.contains("rounds went through states");
    if let Some(noisy) = text("noisy").filter(of_rounds) {
        assert_eq!(causes(&noisy), found, "{noisy}\n{unsteady}");
    }
    // Yardsticks that stood still name no machine.
    let read = |what: &str| lines.iter().filter_map(|l| l["calibration"][what].as_f64()).collect::<Vec<f64>>();
    let still = ["wake", "line", "copy"].map(read).iter().all(|of| of.len() < 2 || spread(of) < 0.2);
    assert!(!still || !found[0].1, "{unsteady}");
    let shown = dir.run(&["show", "x.run.jsonl"]);
    let shown = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(found[0].1 || !shown.contains("the machine changed its speed"), "{shown}");
}
