//! One run that holds a transport more than once, and files of transports that this program does not have.

use std::fs;
use std::process::Command;

use serde_json::{Value, json as value};

use super::support::{Running, SHORT, Scratch, installed, json, skip};

/// TCP with small and with large buffers, and a UNIX socket, in one run file.
fn thrice(dir: &Scratch, name: &str) {
    dir.measure(name, &["tcp:sockbuf=64KiB", "tcp:sockbuf=256KiB,nodelay=off,label=big", "unix"]);
}

#[test]
fn each_path_has_options_and_a_name_of_its_own() {
    let dir = Scratch::new();
    thrice(&dir, "a.run.jsonl");
    let doc = json(&dir.run(&["show", "a.run.jsonl", "--json"]).out);
    let names = ["tcp:sockbuf=64KiB", "big", "unix"];
    for (i, (name, buffers, nodelay)) in
        [(names[0], Some(128 << 10), Some(true)), (names[1], Some(512 << 10), Some(false)), (names[2], None, None)]
            .into_iter()
            .enumerate()
    {
        let opened = &doc["paths"][i]["opened"];
        assert_eq!(opened["transport"], if i < 2 { "tcp" } else { "unix" });
        assert_eq!(opened["label"].as_str().unwrap_or("unix"), name);
        for side in ["near_effective", "far_effective"] {
            let found = &opened[side];
            if let Some(bytes) = buffers {
                assert_eq!(
                    (found["send_buffer"].as_u64(), found["receive_buffer"].as_u64()),
                    (Some(bytes), Some(bytes))
                );
            }
            assert_eq!(found["nodelay"].as_bool(), nodelay, "{opened}");
        }
        // As many rounds as the others: the paths took turns.
        assert_eq!(doc["paths"][i]["points"][0]["blocks"], doc["paths"][0]["points"][0]["blocks"]);
    }
    let plan = &doc["header"]["plan"]["paths"];
    assert_eq!(
        plan[1],
        value!({"transport": "tcp", "label": "big", "settings": {"sockbuf": 262_144, "nodelay": false}})
    );
}

#[test]
fn every_reader_finds_a_path_by_its_name() {
    let dir = Scratch::new();
    thrice(&dir, "a.run.jsonl");
    let said = |args: &[&str]| {
        let said = dir.run(args);
        assert!([0, 1].contains(&said.code()), "{said}");
        said.out
    };
    for args in [
        &["show", "a.run.jsonl"][..],
        &["compare", "a.run.jsonl"],
        &["tables", "a.run.jsonl"],
        &["layers", "a.run.jsonl"],
    ] {
        let out = said(args);
        assert!(out.contains("big") && out.contains("tcp:sockbuf=64KiB"), "{args:?}: {out}");
    }
    for name in ["tcp:sockbuf=64KiB", "big", "unix", "0"] {
        let np = said(&["export", "a.run.jsonl", "--format", "np", "--path", name]);
        assert!(np.lines().count() > 0, "{name}: {np}");
        let shown = said(&["show", "a.run.jsonl", "--path", name]);
        assert!(name == "unix" || !shown.0.contains("\nunix "), "{name}: {shown}");
    }
    assert!(said(&["ask", "a.run.jsonl", "--path", "big", "--arrive", "64B"]).contains("big"));
    assert!(said(&["ask", "a.run.jsonl", "how long does 64 B take over big?"]).contains("big"));
    let both = said(&["ask", "a.run.jsonl", "how long does 64 B take over tcp?"]);
    assert!(both.contains("big") && both.contains("tcp:sockbuf=64KiB"), "{both}");
    dir.run(&["show", "a.run.jsonl", "--path", "tcp"]).refuses(&["tcp:sockbuf=64KiB, big, unix"]);
}

/// The run file with its second path of a transport that no program of ours has, and that transport's options.
fn other_transport(dir: &Scratch, from: &str, to: &str) {
    let text = fs::read_to_string(dir.path(from)).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[0]["plan"]["paths"][1] =
        value!({"transport": "ucx-rc", "settings": {"rails": 2, "eager": "8KiB", "\u{1b}[2J": true}});
    for line in lines.iter_mut().filter(|line| line["event"] == "path" && line["path"] == 1) {
        line["transport"] = "ucx-rc".into();
        line["label"] = Value::Null;
    }
    fs::write(dir.path(to), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

#[test]
fn a_file_of_a_transport_that_is_not_here_opens_and_can_not_be_measured_again() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["tcp", "unix"]);
    other_transport(&dir, "a.run.jsonl", "b.run.jsonl");
    for args in [
        &["show", "b.run.jsonl"][..],
        &["compare", "b.run.jsonl"],
        &["compare", "a.run.jsonl", "b.run.jsonl"],
        &["export", "b.run.jsonl", "--format", "csv"],
        &["export", "b.run.jsonl", "--format", "openmetrics"],
        &["plot", "b.run.jsonl", "-o", "x.html"],
        &["tables", "b.run.jsonl"],
    ] {
        let said = dir.run(args);
        assert!([0, 1].contains(&said.code()), "{args:?}: {said}");
        assert!(!said.out.0.contains('\u{1b}') || said.out.is_empty(), "{args:?}");
    }
    assert!(dir.run(&["show", "b.run.jsonl"]).out.contains("ucx-rc"));
    dir.run(&["run", "ucx-rc"]).refuses(&["no transport is named 'ucx-rc'", "seqpacket"]);
    let text = fs::read_to_string(dir.path("b.run.jsonl")).unwrap().replace("ucx-rc", "UCX RC");
    fs::write(dir.path("c.run.jsonl"), text).unwrap();
    dir.run(&["show", "c.run.jsonl"]).refuses(&["a transport's name is of a to z"]);
}

#[test]
fn a_path_that_cannot_be_is_refused_before_anything_is_measured() {
    let dir = Scratch::new();
    for (paths, says) in [
        (&["tcp:colour=red"][..], &["no option is named 'colour'", "sockbuf"][..]),
        (&["tcp:mss=87"], &["88 to 32767"]),
        (&["seqpacket:sockbuf=16KiB", "--sizes", "1MiB"], &["seqpacket carries messages of at most"]),
        (&["tcp", "tcp"], &["named twice", "label=again"]),
        (&["unix:wait=busy-poll"], &["it is one of block, spin"]),
        (&["tcp:sockbuf=64KiB", "--sockbuf", "1MiB"], &["every path that listens to it names its own"]),
    ] {
        dir.run(&[&["run"][..], paths].concat()).refuses(says);
    }
    assert!(dir.names().is_empty());
}

#[test]
fn two_sides_on_one_cpu_are_told_apart_from_a_slow_path() {
    let dir = Scratch::new();
    let said = dir.run(&[
        "run",
        "tcp",
        "--pin",
        "0,0",
        "--sizes",
        "64",
        "--budget",
        "500ms",
        "--no-html",
        "-q",
        "-o",
        "x.run.jsonl",
    ]);
    assert_eq!(said.code(), 0, "{said}");
    let run = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    assert_eq!(run.matches(r#""code":"one-cpu""#).count(), 1, "{run}");
    let said = dir.run(&["show", "x.run.jsonl", "--warnings"]);
    assert!(said.out.contains("both sides may run on CPU 0 alone"), "{said}");
}

#[test]
fn two_sides_that_were_left_one_cpu_are_warned_of_like_pinned_ones() {
    let dir = Scratch::new();
    let Some(taskset) = installed("taskset") else { return skip("no taskset") };
    for (paths, warned) in [(&["tcp"][..], 1), (&["tcp", "--pairs", "1"], 1), (&["memcpy"], 0)] {
        let own = dir.command(&[&["run"][..], paths, &["-o", "x.run.jsonl"], &SHORT].concat());
        let mut line = Command::new(&taskset);
        line.args(["-c", "0"]).arg(own.get_program()).args(own.get_args()).current_dir(dir.path("."));
        let said = Running::start(line).end();
        assert_eq!(said.code(), 0, "{said}");
        let run = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
        assert_eq!(run.matches(r#""code":"one-cpu""#).count(), warned, "{paths:?}: {run}");
        std::fs::remove_file(dir.path("x.run.jsonl")).unwrap();
    }
}

#[test]
fn list_names_the_options_of_each_transport() {
    let dir = Scratch::new();
    let text = dir.run(&["list", "udp", "tcp"]).out;
    assert!(text.contains("loss-timeout") && text.contains("88 to 32767 bytes"), "{text}");
    let list = json(&dir.run(&["list", "--json"]).out);
    for transport in list["transports"].as_array().unwrap() {
        for option in transport["options"].as_array().unwrap() {
            let said = ["name", "takes", "default", "help"].map(|field| option[field].as_str().unwrap_or_default());
            assert!(said.iter().all(|text| !text.is_empty()), "{option}");
        }
    }
}
