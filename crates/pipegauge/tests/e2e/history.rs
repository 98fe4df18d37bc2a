//! Earlier runs on this host: kept, looked up, shown, forgotten; and nothing that is wrong with them costs a run.

use std::fs;
use std::process::Command;

use super::support::{HISTORY, Running, Said, Scratch, json, rounds};

/// A short run of memcpy that is kept, and asked for `more`.
fn args<'a>(output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    rounds(output, &[&["memcpy"], more].concat())
}

/// Measures these paths in such a run.
fn measure(dir: &Scratch, output: &str, of: &[&str]) {
    let said = dir.run(&rounds(output, of));
    assert!(said.measured(), "{said}");
}

/// The command with a folder of earlier runs of its own.
fn with(dir: &Scratch, args: &[&str], folder: &str) -> Command {
    let mut command = dir.command(args);
    command.env(HISTORY.0, folder);
    command
}

/// The command as a person has it whose home is `home` in the test's directory.
fn at_home(dir: &Scratch, args: &[&str], home: &str) -> Said {
    let mut command = dir.command(args);
    command.env_remove(HISTORY.0).env_remove("XDG_STATE_HOME").env("HOME", dir.path(home));
    Running::start(command).end()
}

/// Text whose paragraphs are wrapped, in one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_that_is_asked_not_to_look_leaves_the_home_as_it_was() {
    let dir = Scratch::new();
    fs::create_dir(dir.path("home")).unwrap();
    let said = at_home(&dir, &args("a.run.jsonl", &["--no-history"]), "home");
    assert!(said.measured() && joined(&said.out).contains("not known (the run read no earlier ones"), "{said}");
    assert_eq!(fs::read_dir(dir.path("home")).unwrap().count(), 0);
    let said = at_home(&dir, &args("b.run.jsonl", &[]), "home");
    assert!(
        said.measured() && joined(&said.out).contains("not known yet (no earlier run; repeat this command line)"),
        "{said}"
    );
    let kept: Vec<String> = fs::read_dir(dir.path("home/.local/state/pipegauge/history"))
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(kept.len() == 2 && kept.iter().any(|name| name.starts_with("memcpy-ping-pong-")), "{kept:?}");
}

#[test]
fn the_commands_of_other_tests_keep_to_their_own_folder() {
    let dir = Scratch::new();
    measure(&dir, "a.run.jsonl", &["memcpy"]);
    assert!(dir.path(HISTORY.1).join("lock").is_file(), "every test's run goes to the test's own folder");
}

#[test]
fn a_repeat_carries_earlier_runs_and_shows_the_same_wherever_it_is_read() {
    let dir = Scratch::new();
    measure(&dir, "a.run.jsonl", &["memcpy", "theory"]);
    // One earlier run that lies far off foretells nothing, which a busy machine may bring about.
    for name in ["second", "third", "fourth"] {
        measure(&dir, &format!("{name}.run.jsonl"), &["memcpy", "theory"]);
    }
    measure(&dir, "b.run.jsonl", &["memcpy", "theory"]);
    let text = fs::read_to_string(dir.path("b.run.jsonl")).unwrap();
    let earlier: Vec<serde_json::Value> = text.lines().map(json).filter(|e| e["event"] == "earlier").collect();
    assert_eq!(earlier.len(), 1, "of what is modelled nothing is kept");
    assert_eq!(earlier[0]["runs"][0]["points"].as_array().unwrap().len(), 3, "{earlier:?}");
    let shown = |dir: &Scratch| dir.run(&["show", "b.run.jsonl", "--json"]);
    let said = shown(&dir);
    let path = &json(&said.out)["paths"][0];
    assert_eq!(path["on_this_machine"]["earlier_runs"], 4, "{said}");
    let point = &path["points"][0];
    assert!(point["repeat_low"].as_f64().unwrap() <= point["median"].as_f64().unwrap(), "{point}");
    assert!(point["repeat_high"].as_f64().unwrap() >= point["median"].as_f64().unwrap(), "{point}");
    assert!(json(&said.out)["paths"][1]["points"][0]["repeat_low"].is_null(), "{said}");
    let text = dir.run(&["show", "b.run.jsonl"]);
    assert!(text.out.contains("on this machine [95%]") && text.out.contains("4 earlier runs)"), "{text}");
    assert!(text.out.contains("theory on this machine: no machine has a part in it"), "{text}");
    assert_eq!(dir.run(&["history", "clear"]).code(), 0);
    assert_eq!(shown(&dir).out, said.out, "a run file tells the same without the folder");
    let first = dir.run(&["show", "a.run.jsonl"]);
    assert!(joined(&first.out).contains("not known yet (no earlier run; repeat this command line)"), "{first}");
    let csv = dir.run(&["export", "a.run.jsonl", "--format", "csv"]).out;
    assert!(!csv.contains("inf") && !csv.contains("NaN"), "{csv}");
}

#[test]
fn another_setting_is_another_path_and_is_told_and_forgotten_apart() {
    let dir = Scratch::new();
    measure(&dir, "a.run.jsonl", &["memcpy", "unix"]);
    measure(&dir, "b.run.jsonl", &["unix"]);
    measure(&dir, "c.run.jsonl", &["unix", "--check"]);
    let listed = json(&dir.run(&["history", "--json"]).out);
    assert_eq!(listed["schema"], "pipegauge-history/1");
    let runs = |listed: &serde_json::Value| -> Vec<(String, u64)> {
        let of = |p: &serde_json::Value| (p["transport"].as_str().unwrap().to_owned(), p["runs"].as_u64().unwrap());
        let mut all: Vec<_> = listed["paths"].as_array().unwrap().iter().map(of).collect();
        all.sort();
        all
    };
    assert_eq!(runs(&listed), [("memcpy".into(), 1), ("unix".into(), 1), ("unix".into(), 2)]);
    let said = dir.run(&["history"]);
    assert!(
        said.out.contains("  check true\n") && said.out.contains("(-: it takes two runs of four rounds or more"),
        "{said}"
    );
    dir.run(&["history", "clear", "tcp"]).refuses(&["no earlier run of 'tcp'", "pipegauge history"]);
    let id = listed["paths"].as_array().unwrap().iter().find(|p| p["runs"] == 2).unwrap()["id"].as_str().unwrap();
    let said = dir.run(&["history", "clear", &id[..8], "--json"]);
    assert_eq!((said.code(), json(&said.out)["cleared"].as_u64()), (0, Some(1)), "{said}");
    assert_eq!(runs(&json(&said.out)), [("memcpy".into(), 1), ("unix".into(), 1)]);
    let said = dir.run(&["history", "clear"]);
    assert!(said.out.starts_with("2 paths forgotten"), "{said}");
    assert!(dir.run(&["history"]).out.starts_with("No earlier run is kept"));
}

#[test]
fn a_folder_that_cannot_be_used_costs_a_warning_and_nothing_else() {
    let dir = Scratch::new();
    for (n, folder) in ["/dev/null/history", "/proc/history"].into_iter().enumerate() {
        let output = format!("{n}.run.jsonl");
        let said = Running::start(with(&dir, &args(&output, &[]), folder)).end();
        assert!(said.measured(), "{said}");
        said.complains(&["warning: this run of memcpy is not kept", folder, "--no-history"]);
        assert_eq!(dir.run(&["show", &output]).code(), 0);
    }
    let mut homeless = dir.command(&args("x.run.jsonl", &[]));
    homeless.env_remove(HISTORY.0).env_remove("XDG_STATE_HOME").env_remove("HOME");
    let said = Running::start(homeless).end();
    assert!(said.measured(), "{said}");
    said.complains(&["warning: no folder for earlier runs", "HOME"]);
    let mut listing = dir.command(&["history"]);
    listing.env_remove(HISTORY.0).env_remove("XDG_STATE_HOME").env_remove("HOME");
    Running::start(listing).end().refuses(&["no folder for earlier runs"]);
}

#[test]
fn a_damaged_file_is_told_once_by_name_and_the_good_ones_are_used() {
    let dir = Scratch::new();
    measure(&dir, "a.run.jsonl", &["memcpy", "shm"]);
    let names: Vec<_> = fs::read_dir(dir.path(HISTORY.1)).unwrap().map(|e| e.unwrap().path()).collect();
    let of = |kind: &str| names.iter().find(|p| p.to_str().unwrap().contains(&format!("/{kind}-"))).unwrap();
    let (bad, good) = (of("memcpy"), of("shm"));
    let whole = fs::read(bad).unwrap();
    let runs = |file: &std::path::Path| fs::read_to_string(file).unwrap().lines().count() - 1;
    let mut kept = runs(good);
    let damages: [(&[u8], &str); 4] = [
        (b"\xff\xfe garbage", "is set aside as"),
        (&whole[..20], "is set aside as"),
        (br#"{"schema":"pipegauge-history-file/2","key":[1]}"#, "later version"),
        (&[&whole[..], b"\xff\xfe\n"].concat(), "1 line is no run"),
    ];
    for (n, (damage, why)) in damages.into_iter().enumerate() {
        fs::write(bad, damage).unwrap();
        let output = format!("{n}.run.jsonl");
        let said = dir.run(&args(&output, &["shm"]));
        assert!(said.measured(), "{said}");
        let name = bad.to_str().unwrap();
        let (name, err) = (name.rsplit('/').next().unwrap(), said.err.split_whitespace().collect::<Vec<_>>().join(" "));
        assert!(err.matches(&format!("/{name}")).count() == 1 && err.contains(why), "{n}: {said}");
        kept += 1;
        assert_eq!(runs(good), kept, "{n}: the file beside it is used and added to");
        match n {
            // What is damaged as a whole is set aside, and the path begins anew.
            0 | 1 => {
                assert_eq!(fs::read(bad.with_extension("damaged")).unwrap(), damage);
                assert_eq!(runs(bad), 1);
            }
            // What a later version wrote is left.
            2 => assert_eq!(fs::read(bad).unwrap(), damage),
            // What has good lines is written anew with them.
            _ => assert_eq!(runs(bad), 2),
        }
    }
}

#[test]
fn what_others_put_into_the_folder_neither_holds_a_run_nor_reaches_the_terminal() {
    let dir = Scratch::new();
    measure(&dir, "a.run.jsonl", &["memcpy"]);
    let folder = dir.path(HISTORY.1);
    let name = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some()).unwrap();
    let good = fs::read_to_string(&name).unwrap();
    let hostile = [
        good.replace("2026", "\\u001b]0;owned\\u0007").replace("202", "\\u001b[2J"),
        good.replace("\"transport\":\"memcpy\"", "\"transport\":\"\\u001b[2Jmemcpy\""),
        format!("{good}{}", "[".repeat(200_000)),
        "\u{1b}[2J".repeat(1000),
    ];
    for (n, text) in hostile.iter().enumerate() {
        fs::write(&name, text).unwrap();
        let said = dir.run(&args(&format!("h{n}.run.jsonl"), &[]));
        assert!(said.measured(), "{said}");
        for said in [said, dir.run(&["history"])] {
            assert!(!said.out.0.contains('\u{1b}') && !said.err.0.contains('\u{1b}'), "{n}: {said}");
            assert!(!said.err.contains("panicked"), "{said}");
        }
    }
    fs::remove_file(&name).unwrap();
    assert!(Command::new("mkfifo").arg(&name).status().unwrap().success());
    let said = dir.run(&args("fifo.run.jsonl", &[]));
    assert!(said.measured(), "{said}");
    said.complains(&["no regular file", "remove it"]);
    assert_eq!(dir.run(&["history"]).code(), 1, "nothing could be read");
    assert_eq!(dir.run(&["history", "clear"]).code(), 0);
    assert!(!name.exists());
}

#[test]
fn runs_that_end_together_are_both_kept_and_one_that_is_stopped_is_not() {
    let dir = Scratch::new();
    let (one, two) = (args("a.run.jsonl", &[]), args("b.run.jsonl", &[]));
    let running = [&one, &two].map(|args| Running::start(dir.command(args)));
    running.into_iter().for_each(|r| assert!(r.end().measured()));
    let kept = || json(&dir.run(&["history", "--json"]).out)["paths"][0]["runs"].as_u64().unwrap();
    assert_eq!(kept(), 2);
    let broken = dir.run(&rounds("c.run.jsonl", &["unix", "--fault", "cut=20"]));
    assert_ne!(broken.code(), 0, "{broken}");
    let listed = json(&dir.run(&["history", "--json"]).out);
    assert_eq!(listed["paths"].as_array().unwrap().len(), 1, "a run that was cut short is no repeat: {listed}");
}

#[test]
fn separate_runs_without_earlier_ones_have_no_verdict() {
    let dir = Scratch::new();
    for name in ["a.run.jsonl", "b.run.jsonl"] {
        let four =
            ["--sizes", "1,64,4KiB", "--perturb", "0", "--trials", "4", "--repeats", "10", "--no-html", "--quiet"];
        let said = dir.run(&[&["run", "memcpy", "--no-history", "-o", name][..], &four].concat());
        assert!(said.measured(), "{said}");
    }
    let said = dir.run(&["compare", "a.run.jsonl", "b.run.jsonl", "--fail-if", "time>+900000%"]);
    // Other programs may have taken more of the CPUs beside one of the two, which is then said first.
    let few =
        said.out.starts_with("No verdict: too few runs tell") && joined(&said.out).contains("measure both in one run");
    assert!(few || said.out.starts_with("No verdict: other programs took"), "{said}");
    let within = said.code() == 0 && joined(&said.out).contains("of these runs alone");
    assert!(within || !few, "within the limit: {said}");
    let document = json(&dir.run(&["compare", "a.run.jsonl", "b.run.jsonl", "--json"]).out);
    assert_eq!(document["comparisons"][0]["judged"], false, "{document}");
    // Paths of one run took turns: their difference holds no level of a run.
    measure(&dir, "both.run.jsonl", &["unix", "pipe"]);
    let said = dir.run(&["compare", "both.run.jsonl"]);
    assert!(!joined(&said.out).contains("too few runs tell"), "{said}");
}

#[test]
fn a_lock_that_another_process_holds_is_waited_for_once_and_not_for_each_path() {
    let dir = Scratch::new();
    fs::create_dir(dir.path(HISTORY.1)).unwrap();
    let held = fs::File::create(dir.path(HISTORY.1).join("lock")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let said = dir.run(&rounds("a.run.jsonl", &["unix", "pipe", "memcpy"]));
    assert!(said.measured(), "{said}");
    assert_eq!(joined(&said.err).matches("is not kept for later ones").count(), 1, "{said}");
    drop(held);
    // What can't be read is not nothing.
    let folder = dir.path("file");
    fs::write(&folder, "").unwrap();
    let said = with(&dir, &["history"], folder.to_str().unwrap()).output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.code() == Some(1) && !out.contains("No earlier run is kept"), "{out}");
}

#[test]
fn a_run_too_short_to_be_a_repeat_is_neither_kept_nor_counted() {
    let dir = Scratch::new();
    dir.measure("short.run.jsonl", &["memcpy"]);
    assert!(dir.run(&["history"]).out.starts_with("No earlier run is kept"));
    measure(&dir, "a.run.jsonl", &["memcpy"]);
    // Kept by an earlier version.
    let folder = dir.path(HISTORY.1);
    let name = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some()).unwrap();
    let whole = fs::read_to_string(&name).unwrap();
    let line = whole.lines().nth(1).unwrap();
    assert!(line.contains("\"rounds\":4"), "{line}");
    fs::write(&name, format!("{whole}{}\n", line.replace("\"rounds\":4", "\"rounds\":1"))).unwrap();
    let said = dir.run(&["history"]);
    assert!(
        said.out.contains(
            "(-: it takes two runs of four rounds or more, of which an earlier one has half of the last one's sizes)"
        ),
        "{said}"
    );
    measure(&dir, "b.run.jsonl", &["memcpy"]);
    let text = fs::read_to_string(dir.path("b.run.jsonl")).unwrap();
    let earlier: Vec<serde_json::Value> = text.lines().map(json).filter(|e| e["event"] == "earlier").collect();
    assert_eq!(earlier[0]["runs"].as_array().unwrap().len(), 1, "{earlier:?}");
}
