//! What is set on modules: flags that they can't have, axes of a sweep, the address of the other side, and knobs that `explain` moves.

use std::fs;

use super::modules::{HEADER, SKELETON, changed, compiled, made, with};
use super::mpi;
use super::support::{Scratch, json, skip};

/// Counted trials of few sizes.
const COUNTED: [&str; 8] = ["--sizes", "1,4KiB", "--trials", "2", "--repeats", "3", "--pin", "none"];

#[test]
fn what_has_no_part_in_a_modules_processes_is_refused_before_anything_runs() {
    let dir = Scratch::new();
    let folder = made(&dir, "mine", str::to_owned);
    let run =
        |more: &[&str]| with(&dir, &folder, &[&["run", "mine", "-o", "x.run.jsonl", "--no-html"][..], more].concat());
    run(&["--load", "1"]).refuses(&["mine", "--load", "module"]);
    run(&["--pattern", "stream", "--both"]).refuses(&["mine", "--both", "--pairs"]);
    assert!(!dir.path("x.run.jsonl").exists());
    // Long trials, so that connections run at once.
    let long =
        ["--sizes", "4KiB", "--trials", "4", "--repeats", "20000", "--budget", "60s", "--pin", "none", "--quiet"];
    for more in [
        &["--flows", "2", "--pattern", "stream", "--check"][..],
        &["--flows", "2", "--pattern", "stream", "--reverse"],
        &["--pairs", "1", "--pattern", "stream", "--both"],
    ] {
        let _ = fs::remove_file(dir.path("x.run.jsonl"));
        let said = run(&[more, &long].concat());
        assert!(said.measured(), "{more:?}: {said}");
    }
}

/// A module that was compiled with the header of the first modules goes on: its table ends before the collectives, and its options before their
/// unit. What lies in memory behind them is no part of them.
#[test]
fn a_module_of_an_older_header_is_loaded_set_and_measured() {
    let dir = Scratch::new();
    let folder = dir.path("old");
    fs::create_dir(&folder).unwrap();
    let tables = "    const struct pipegauge_collective *collective;\n    const struct pipegauge_group *group;\n";
    let header = changed(HEADER, tables, "");
    fs::write(folder.join("pipegauge.h"), changed(&header, "    const char *unit;\n", "")).unwrap();
    let behind = "static const struct {\n    struct pipegauge_module table;\n    const void *behind[4];\n} module = {\n    \
                  .behind = {(void *)8, (void *)8, (void *)8, (void *)8},\n    .table = {";
    let s = changed(&SKELETON.replace("NAME", "old"), "static const struct pipegauge_module module = {", behind);
    let s = changed(&s, "    .close = close_link,\n};", "    .close = close_link,\n}};");
    fs::write(folder.join("old.c"), changed(&s, "? &module :", "? &module.table :")).unwrap();
    compiled(&folder.join("old.c"), &folder.join("old.so"), &[]);

    let listed = json(&with(&dir, &folder, &["list", "--json"]).out);
    let old = listed["transports"].as_array().unwrap().iter().find(|t| t["name"] == "old").unwrap().clone();
    let options: Vec<_> = old["options"].as_array().unwrap().iter().map(|o| o["name"].as_str().unwrap()).collect();
    assert_eq!(options, ["nodelay", "buffer"], "{old}");
    with(&dir, &folder, &["run", "old:buffer=1"]).refuses(&["buffer=1", "1024 to 1073741824 bytes"]);
    let said = with(&dir, &folder, &["module", "check", "old/old.so", "--patience", "60"]);
    assert!(said.code() == 0 && said.out.contains("19 right, 0 wrong, 5 not tried"), "{said}");
    let line = ["run", "old:buffer=64KiB,nodelay=off", "--check", "-o", "x.run.jsonl", "--no-html", "-q"];
    let said = with(&dir, &folder, &[&line[..], &["--budget", "60s"], &COUNTED].concat());
    assert!(said.measured(), "{said}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    assert!(run.contains(r#""buffer":"65536""#) && run.contains(r#""nodelay":"off""#), "{run}");
}

/// A whole number of a module has bounds and a unit where its option says so.
#[test]
fn a_modules_whole_number_is_held_to_its_bounds_before_anything_runs() {
    let dir = Scratch::new();
    let number = |more: &'static str| {
        move |s: &str| {
            let old = "    {.size = sizeof(struct pipegauge_option),\n     .name = \"buffer\"";
            let new = "    {.size = sizeof(struct pipegauge_option),\n     .name = \"depth\",\n     .help = \"how many may wait\",\n     \
                       .by_default = \"4\",\n     .form = PIPEGAUGE_WHOLE";
            changed(s, old, &format!("{new}{more}}},\n{old}"))
        }
    };
    made(&dir, "bounded", number(",\n     .least = 1,\n     .most = 8,\n     .unit = \"messages\""));
    let folder = made(&dir, "free", number(""));
    let listed = json(&with(&dir, &folder, &["list", "--json"]).out);
    let of = |module: &str, option: &str| {
        let all = listed["transports"].as_array().unwrap().iter().find(|t| t["name"] == module).unwrap().clone();
        all["options"].as_array().unwrap().iter().find(|o| o["name"] == option).unwrap().clone()
    };
    let bounded = of("bounded", "depth");
    assert_eq!(
        [&bounded["unit"], &bounded["least"], &bounded["most"]],
        [&json("\"messages\""), &json("1"), &json("8")]
    );
    assert_eq!(of("bounded", "buffer")["unit"], "bytes");
    let free = of("free", "depth");
    assert!(free["unit"].is_null() && free["most"].is_null() && free["least"] == 0, "{free}");
    let dry = |over: &str, module: &str| {
        with(&dir, &folder, &["sweep", module, "--over", over, "--dry-run", "--", "--sizes", "64"])
    };
    for (over, module, refused) in
        [("depth=0,4", "bounded", true), ("depth=1,8", "bounded", false), ("depth=0,4", "free", false)]
    {
        let said = dry(over, module);
        assert!(said.out.contains("depth=0: a whole number of messages, 1 to 8") == refused, "{module} {over}: {said}");
    }
    with(&dir, &folder, &["run", "bounded:depth=9"]).refuses(&["1 to 8"]);
}

#[test]
fn what_has_no_json_says_so_instead_of_printing_something_else() {
    let dir = Scratch::new();
    for line in [
        &["sweep", "tcp", "--over", "nodelay=on,off", "--dry-run", "--json"][..],
        &["lab", "--dry-run", "--json"],
        &["module", "new", "mine", "--json"],
    ] {
        let said = dir.run(line);
        assert!(said.code() == 2 && said.out.contains("has no JSON"), "{line:?}: {said}");
    }
    assert!(dir.names().is_empty());
}

#[test]
fn options_of_a_module_are_axes_of_a_sweep() {
    let dir = Scratch::new();
    let folder = made(&dir, "mine", str::to_owned);
    let sweep = |what: &[&str]| {
        with(&dir, &folder, &[what, &["--rounds", "1", "--budget", "60s", "-q", "--json", "--"][..], &COUNTED].concat())
    };
    let said = sweep(&["sweep", "mine", "--over", "buffer=16KiB,64KiB", "-o", "typed"]);
    assert_eq!(said.code(), 0, "{said}");
    assert_eq!(json(&said.out)["runs"], serde_json::json!([2, 2]));
    fs::write(
        dir.path("plan.toml"),
        "transports = ['mine', 'tcp']\n[[over]]\nname = 'nodelay'\nvalues = ['on', 'off']\n[[over]]\nname = 'buffer'\nvalues = ['default', '64KiB']\n",
    )
    .unwrap();
    let said = sweep(&["sweep", "--plan", "plan.toml", "-o", "planned"]);
    // tcp has no such option: its cells are named, and the others are measured.
    assert!(said.code() == 1 && json(&said.out)["runs"][0] == 6, "{said}");
    // What is missing is measured by going on.
    fs::remove_file(dir.path("typed/cell-0002-round-001.run.jsonl")).unwrap();
    let said = with(&dir, &folder, &["sweep", "--resume", "typed", "-q", "--json"]);
    assert!(said.code() == 0 && json(&said.out)["runs"] == serde_json::json!([2, 2]), "{said}");
    // The folder is shown where the module is not.
    assert_eq!(dir.run(&["sweep", "--show", "typed"]).code(), 0);
    sweep(&["sweep", "mine", "--over", "nonsense=1,2"]).refuses(&["no transport has an option of that name"]);
    dir.run(&["sweep", "mine", "--over", "buffer=16KiB,64KiB"]).refuses(&["no transport is named 'mine'"]);
}

#[test]
fn a_command_that_is_offered_keeps_what_is_set_on_a_module() {
    let dir = Scratch::new();
    let folder = made(&dir, "mine", str::to_owned);
    let line = ["run", "mine:buffer=64KiB", "-o", "x.run.jsonl", "--no-html", "-q", "--budget", "60s"];
    let said = with(&dir, &folder, &[&line[..], &COUNTED].concat());
    assert_eq!(said.code(), 0, "{said}");
    let ask = ["ask", "x.run.jsonl", "when does 4KiB arrive?", "--json"];
    let offered = |said: &str| json(said)["answers"][0]["sharpen"].as_str().unwrap_or_default().to_owned();
    let said = offered(&with(&dir, &folder, &ask).out);
    assert!(said.contains("pipegauge run mine:buffer=64KiB "), "{said}");
    // Where the module is not, a size is a number.
    let said = offered(&dir.run(&ask).out);
    assert!(said.contains("pipegauge run mine:buffer=65536 "), "{said}");
}

#[test]
fn a_module_that_joins_hosts_is_given_the_others_address() {
    let dir = Scratch::new();
    let folder = made(&dir, "mine", str::to_owned);
    made(&dir, "here", |s| changed(s, "PIPEGAUGE_ORDERED |", "PIPEGAUGE_ORDERED | PIPEGAUGE_LOCAL_ONLY |"));
    let run = |name: &str| {
        let line =
            ["run", name, "--peer-address", "127.0.0.2", "-o", "x.run.jsonl", "--no-html", "-q", "--budget", "60s"];
        with(&dir, &folder, &[&line[..], &COUNTED].concat())
    };
    let said = run("mine");
    assert_eq!(said.code(), 0, "{said}");
    run("here").refuses(&["--peer-address changes nothing here"]);
    if dir.run(&["lab", "--", "true"]).code() != 0 {
        return skip("a laboratory can't be made here");
    }
    let line =
        ["sweep", "mine", "--lab", "--over", "mtu=1500,9000", "--rounds", "1", "--budget", "60s", "-q", "--json", "--"];
    let said = with(&dir, &folder, &[&line[..], &COUNTED].concat());
    assert!(said.code() == 0 && json(&said.out)["runs"] == serde_json::json!([2, 2]), "{said}");
}

/// A run file whose curve breaks at 60 KiB, as if it had been measured over a module of which this took effect.
fn broken(dir: &Scratch, module: &str, effective: &serde_json::Value) {
    let model = ["run", "theory", "--theory", "dip=60KiB..75KiB*2,noise=1%", "--budget", "4s", "--no-html", "-q"];
    let said = dir.run(&[&model[..], &["-o", "model.run.jsonl"]].concat());
    assert!(said.code() <= 1, "{said}");
    let text = fs::read_to_string(dir.path("model.run.jsonl")).unwrap();
    let mut lines: Vec<serde_json::Value> = text.lines().map(json).collect();
    lines[0]["command"] = serde_json::json!(["pipegauge", "run", module]);
    lines[0]["plan"]["paths"] = serde_json::json!([{"transport": module}]);
    for line in lines.iter_mut().filter(|line| line["event"] == "path") {
        line["transport"] = serde_json::json!(module);
        line["capabilities"]["virtual_time"] = serde_json::json!(false);
        line["near_effective"] = effective.clone();
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.path("broken.run.jsonl"), text).unwrap();
}

/// The eager limit of a break's suspects, bytes.
fn limit(document: &serde_json::Value) -> Option<u64> {
    let suspects = document["breaks"][0]["suspects"].as_array().unwrap();
    suspects.iter().find(|s| s["fact"]["knob"] == "eager-limit").and_then(|s| s["fact"]["bytes"].as_u64())
}

#[test]
fn explain_moves_an_eager_limit_from_what_took_effect_and_calls_it_one() {
    let dir = Scratch::new();
    let folder = made(&dir, "mine", |s| changed(s, "PIPEGAUGE_BUFFER,", "PIPEGAUGE_EAGER,"));
    broken(&dir, "mine", &serde_json::json!({"options": {"buffer": "61440"}}));
    let said = with(&dir, &folder, &["explain", "broken.run.jsonl", "--dry-run"]);
    assert!(said.code() == 0 && said.out.contains("the eager limit (60 KiB)"), "{said}");
    // Whether a curve that was made up shows again is not asked here: what can be moved is.
    let said = with(&dir, &folder, &["explain", "broken.run.jsonl", "--budget", "1s", "-q", "--json"]);
    let document = json(&said.out);
    assert_eq!(limit(&document), Some(61_440), "{said}");
    let fixed = document["breaks"][0]["fixed"].to_string();
    assert!(!fixed.contains("eager-limit") && fixed.contains("socket-buffer") && fixed.contains("mtu"), "{said}");
}

#[test]
fn the_eager_limit_of_open_mpi_is_a_knob() {
    let dir = Scratch::new();
    if super::support::installed("mpicc.openmpi").is_none() || super::support::installed("mpiexec.openmpi").is_none() {
        return skip("Open MPI is not installed whole");
    }
    let folder = mpi::built(&dir, "mpi", &["openmpi"]);
    broken(&dir, "openmpi", &serde_json::json!({"options": {"over": "tcp", "eager-limit": "65536"}}));
    let said = with(&dir, &folder, &["explain", "broken.run.jsonl", "--budget", "1s", "-q", "--json"]);
    let document = json(&said.out);
    assert_eq!(limit(&document), Some(65_536), "{said}");
    let fixed = document["breaks"][0]["fixed"].to_string();
    assert!(!fixed.contains("eager-limit") && fixed.contains("mtu"), "{said}");
}
