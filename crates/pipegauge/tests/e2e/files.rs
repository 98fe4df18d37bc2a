//! Run files: unreadable, cut off; and the ways in and out of them.

use std::fs;

use super::support::{Scratch, json};

#[test]
fn a_file_that_is_no_run_is_called_that() {
    let dir = Scratch::new();
    for (name, contents) in [
        ("text", &b"hello world\n"[..]),
        ("binary", &[0, 159, 146, 150, 255][..]),
        ("empty", b""),
        ("json", b"{\"a\":1}\n"),
    ] {
        fs::write(dir.path(name), contents).unwrap();
        for command in [vec!["show", name], vec!["plot", name, "-o", "x.svg"], vec!["export", name, "--format", "csv"]]
        {
            let said = dir.run(&command);
            said.refuses(&[name]);
        }
    }
    assert!(!dir.path("x.svg").exists());
}

#[test]
fn another_schema_version_is_named() {
    let dir = Scratch::new();
    let file = dir.measure("a.run.jsonl", &["memcpy"]);
    let text = fs::read_to_string(&file).unwrap().replace("pipegauge-run/2", "pipegauge-run/99");
    fs::write(&file, text).unwrap();
    dir.run(&["show", "a.run.jsonl"]).refuses(&["pipegauge-run/99"]);
}

#[test]
fn an_unreadable_or_missing_file_is_named_with_the_cause() {
    let dir = Scratch::new();
    dir.run(&["show", "nowhere.run.jsonl"]).refuses(&["nowhere.run.jsonl", "No such file"]);
    dir.run(&["show", "."]).refuses(&["directory"]);
    // Nobody may read this one's beginning, not even root.
    dir.run(&["show", "/proc/self/mem"]).refuses(&["/proc/self/mem", "Input/output error"]);
}

#[test]
fn a_file_cut_off_anywhere_shows_what_is_whole() {
    let dir = Scratch::new();
    let file = dir.measure("a.run.jsonl", &["memcpy"]);
    let whole = fs::read(&file).unwrap();
    let header = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
    // Cuts at many places; each must be read, none may panic. (Every byte is tried in crate `record`.)
    let step = ((whole.len() - header) / 12).max(1);
    for cut in (header..whole.len() - 1).step_by(step) {
        fs::write(dir.path("cut.run.jsonl"), &whole[..cut]).unwrap();
        let said = dir.run(&["show", "cut.run.jsonl"]);
        assert_eq!(said.code(), 0, "cut at {cut}: {said}");
        said.complains(&["cut.run.jsonl"]);
    }
    fs::write(dir.path("cut.run.jsonl"), &whole[..header / 2]).unwrap();
    dir.run(&["show", "cut.run.jsonl"]).refuses(&["cut.run.jsonl"]);
}

#[test]
fn a_run_is_shown_plotted_and_exported_in_every_format() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["memcpy", "theory"]);
    let shown = dir.run(&["show", "a.run.jsonl"]);
    assert_eq!(shown.code(), 0, "{shown}");
    assert!(shown.out.contains("memcpy") && shown.out.contains("theory"), "{shown}");
    for (name, magic) in [("x.svg", &b"<"[..]), ("x.png", b"\x89PNG"), ("x.html", b"<")] {
        for graph in ["signature", "throughput", "saturation"] {
            let said = dir.run(&["plot", "a.run.jsonl", "a.run.jsonl", "-o", name, "--graph", graph]);
            assert_eq!(said.code(), 0, "{said}");
            assert!(fs::read(dir.path(name)).unwrap().starts_with(magic), "{name}");
        }
    }
    for (format, holds) in [("csv", "memcpy"), ("json", "memcpy"), ("openmetrics", "# EOF")] {
        let said = dir.run(&["export", "a.run.jsonl", "--format", format]);
        assert_eq!(said.code(), 0, "{said}");
        assert!(said.out.contains(holds), "{format}: {}", said.out);
    }
}

#[test]
fn the_level_of_each_round_is_drawn_over_the_time_everywhere() {
    let dir = Scratch::new();
    let model = "latency=10us,rate=10Gbit/s,round-noise=10%";
    let line = ["run", "theory", "--theory", model, "--seed", "1", "--budget", "1s", "--quiet", "-o", "a.run.jsonl"];
    let said = dir.run(&line);
    assert!(said.measured(), "{said}");
    let shown = dir.run(&["show", "a.run.jsonl", "--graph", "levels"]);
    let title = "Levels: time of each round over the time since the start";
    assert!(shown.code() == 0 && shown.out.contains(title) && shown.out.contains("100%"), "{shown}");
    for name in ["a.svg", "a.html"] {
        let graph: &[&str] = if name == "a.svg" { &["--graph", "levels"] } else { &[] };
        let plotted = dir.run(&[&["plot", "a.run.jsonl", "-o", name], graph].concat());
        assert!(plotted.code() == 0 && std::fs::read_to_string(dir.path(name)).unwrap().contains(title), "{plotted}");
    }
    dir.run(&["run", "theory", "--trials", "1", "--sizes", "64", "--quiet", "-o", "one.run.jsonl"]);
    dir.run(&["show", "one.run.jsonl", "--graph", "levels"]).refuses(&["the level of each round", "--budget"]);
}

#[test]
fn parquet_is_written_or_said_how_to_build_in() {
    // scripts/test-bare.sh tries a command without it.
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["memcpy"]);
    let said = dir.run(&["export", "a.run.jsonl", "--format", "parquet", "-o", "x.parquet"]);
    if !cfg!(feature = "parquet") {
        said.refuses(&["Parquet", "--features parquet"]);
        assert!(!dir.path("x.parquet").exists());
        return;
    }
    assert_eq!(said.code(), 0, "{said}");
    let parquet = fs::read(dir.path("x.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    dir.run(&["export", "a.run.jsonl", "--format", "parquet", "--json"]).refuses(&["-o"]);
}

#[test]
fn an_ending_that_says_nothing_is_refused_before_reading() {
    let dir = Scratch::new();
    dir.run(&["plot", "nowhere", "-o", "x.gif"]).refuses(&["x.gif", ".svg", ".png", ".html"]);
}

#[test]
fn np_holds_one_path_and_survives_the_way_out_and_in() {
    let dir = Scratch::new();
    dir.measure("two.run.jsonl", &["memcpy", "theory"]);
    dir.run(&["export", "two.run.jsonl", "--format", "np"]).refuses(&["--path", "memcpy", "theory"]);
    dir.run(&["export", "two.run.jsonl", "--format", "np", "--path", "tcp"]).refuses(&["tcp", "memcpy"]);
    let first = dir.run(&["export", "two.run.jsonl", "--format", "np", "--path", "theory"]);
    assert_eq!(first.code(), 0, "{first}");
    // NetPIPE 3.7 prints "%8d %lf %12.8lf" a line: bytes, Mbit/s, seconds.
    for line in first.out.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words.len(), 3, "{line}");
        let number = |n: usize| words[n].parse::<f64>().unwrap();
        assert!(number(0) >= 1.0 && number(1) > 0.0 && number(2) > 0.0, "{line}");
        assert_eq!(line, format!("{:8} {:.6} {:12.8}", words[0].parse::<u64>().unwrap(), number(1), number(2)));
    }
    fs::write(dir.path("np.out"), &first.out).unwrap();
    let said = dir.run(&["import", "np.out"]);
    assert_eq!(said.code(), 0, "{said}");
    assert!(dir.path("np.run.jsonl").exists(), "{said}");
    let again = dir.run(&["export", "np.run.jsonl", "--format", "np"]);
    assert_eq!(again.out, first.out, "what NetPIPE printed must come out as it went in");
}

#[test]
fn an_np_out_that_is_none_is_refused_and_leaves_no_file() {
    let dir = Scratch::new();
    fs::write(dir.path("np.out"), "not a NetPIPE file\n").unwrap();
    dir.run(&["import", "np.out"]).refuses(&["np.out"]);
    fs::write(dir.path("np.bin"), [0xff, 0xfe, 0]).unwrap();
    dir.run(&["import", "np.bin"]).refuses(&["np.bin", "text"]);
    assert_eq!(dir.names(), ["np.bin", "np.out"]);
}

#[test]
fn one_path_of_several_can_be_chosen() {
    let dir = Scratch::new();
    dir.measure("two.run.jsonl", &["memcpy", "theory"]);
    let said = dir.run(&["show", "two.run.jsonl", "--path", "theory", "--json"]);
    let paths = json(&said.out)["paths"].as_array().unwrap().clone();
    assert_eq!(paths.len(), 1);
    assert_eq!(paths[0]["opened"]["transport"], "theory");
    assert_eq!(paths[0]["points"].as_array().unwrap().len(), 3);
}

#[test]
fn a_run_file_is_never_written_over_by_what_is_made_of_it() {
    let dir = Scratch::new();
    let file = dir.measure("a.run.jsonl", &["memcpy"]);
    std::os::unix::fs::symlink(&file, dir.path("again.html")).unwrap();
    let before = fs::read(&file).unwrap();
    dir.run(&["export", "a.run.jsonl", "--format", "json", "-o", "./a.run.jsonl"]).refuses(&["a.run.jsonl", "itself"]);
    dir.run(&["plot", "a.run.jsonl", "-o", "again.html"]).refuses(&["again.html", "itself"]);
    assert!(fs::read(&file).unwrap() == before && dir.path("again.html").is_symlink());
}

#[test]
fn warnings_of_other_paths_stay_with_them() {
    let dir = Scratch::new();
    let file = dir.measure("two.run.jsonl", &["memcpy", "theory"]);
    let warning =
        |path: &str, text: &str| format!("{{\"event\":\"warning\",\"code\":\"noisy\"{path},\"text\":\"{text}\"}}\n");
    let text = fs::read_to_string(&file).unwrap();
    let end = text.find("{\"event\":\"end\"").expect("a last line");
    let more =
        warning(",\"path\":0", "about memcpy") + &warning(",\"path\":1", "about theory") + &warning("", "about all");
    fs::write(&file, format!("{}{more}{}", &text[..end], &text[end..])).unwrap();
    for args in [
        &["show", "two.run.jsonl", "--warnings"][..],
        &["show", "two.run.jsonl", "--json"],
        &["export", "two.run.jsonl", "--format", "json"],
    ] {
        let said = dir.run(&[args, &["--path", "theory"]].concat());
        assert!(said.out.contains("about theory") && said.out.contains("about all"), "{args:?}: {said}");
        assert!(!said.out.contains("about memcpy"), "{args:?}: {said}");
    }
}

#[test]
fn escapes_in_a_run_file_do_not_reach_the_terminal() {
    let dir = Scratch::new();
    let file = dir.measure("a.run.jsonl", &["memcpy", "unix"]);
    let mut lines: Vec<serde_json::Value> = fs::read_to_string(&file).unwrap().lines().map(json).collect();
    let evil = "evil\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9b}31m";
    for line in &mut lines {
        match line["event"].as_str().unwrap() {
            "run" => {
                line["near"]["hostname"] = evil.into();
                line["command"] = vec![evil].into();
            }
            "path" if line["far"].is_object() => {
                line["far"]["hostname"] = format!("far {evil}").into();
                line["near_effective"]["congestion"] = evil.into();
                line["far_effective"]["addresses"] = evil.into();
            }
            "end" => line["error"] = evil.into(),
            _ => {}
        }
    }
    lines.insert(1, serde_json::json!({"event": "warning", "code": evil, "text": evil}));
    let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
    // Cut off, so that a note about it is told as well.
    fs::write(&file, format!("{text}{{\"event\":\"{evil}")).unwrap();
    for graph in ["signature", "throughput"] {
        let said = dir.run(&["show", "a.run.jsonl", "--graph", graph]);
        assert!(said.out.matches("evil").count() >= 6, "{said}");
        for (what, text) in [("out", &said.out), ("err", &said.err)] {
            let control = text.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(control, None, "{what}: {text:?}");
        }
    }
}

#[test]
fn an_exported_document_acts_on_no_terminal_wherever_it_is_written() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["memcpy"]);
    let host = "a\u{1b}[2J\u{9b}1m\u{7f}\u{202e}\u{feff}b";
    let text = fs::read_to_string(dir.path("a.run.jsonl")).unwrap();
    let lines = text.lines().map(|line| {
        let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
        if event["event"] == "run" {
            event["near"]["hostname"] = host.into();
        }
        format!("{event}\n")
    });
    fs::write(dir.path("odd.run.jsonl"), lines.collect::<String>()).unwrap();
    let said = dir.run(&["export", "odd.run.jsonl", "--format", "json"]);
    assert_eq!(said.code(), 0, "{said}");
    let odd = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202e}' | '\u{feff}'));
    assert!(!said.out.0.contains(odd), "{:?}", said.out);
    // What a terminal acts on was taken out as the file was read.
    let clean = "a\u{fffd}[2J\u{fffd}1m\u{fffd}\u{fffd}\u{fffd}b";
    assert_eq!(json(&said.out)["run"]["near"]["hostname"], clean);
    let said = dir.run(&["export", "odd.run.jsonl", "--format", "json", "-o", "odd.json"]);
    assert_eq!(said.code(), 0, "{said}");
    assert_eq!(json(&fs::read_to_string(dir.path("odd.json")).unwrap())["run"]["near"]["hostname"], clean);
}
