//! What a module does to the process in which `serve` measures ends one path of one measurement.

use std::fs;

use rustix::process::Signal;

use super::modules::{changed, made};
use super::processes::send;
use super::support::{HISTORY, Running, Said, Scratch, json};
use super::two_sides::Serve;

const COUNTED: [&str; 8] = ["--sizes", "64", "--trials", "3", "--repeats", "5", "--pin", "none"];

/// Measures over a module and tcp with a side that serves, whose module is `theirs`; then, with the same side, over tcp alone.
fn with_their_module(name: &str, theirs: impl Fn(&str) -> String) -> (Said, Said, Said) {
    let (dir, far) = (Scratch::new(), Scratch::new());
    let own = made(&dir, name, str::to_owned);
    let bad = made(&far, name, theirs);
    let mut command = far.command(&["serve", "--bind", "127.0.0.1", "--keep", "--json"]);
    command.env("PIPEGAUGE_MODULES", &bad);
    let mut running = Running::start(command);
    let line = json(&running.line());
    let [peer, key] = ["reach", "key"].map(|what| line[what].as_str().unwrap().to_owned());
    let near = |paths: &[&str], file: &str| {
        let args =
            [&["run"], paths, &COUNTED, &["--patience", "2s", "--peer", &peer, "--no-html", "--quiet", "-o", file]]
                .concat();
        let mut command = dir.command(&args);
        command.env("PIPEGAUGE_KEY", &key).env("PIPEGAUGE_MODULES", &own).env(HISTORY.0, HISTORY.1);
        Running::start(command).end()
    };
    let first = near(&[name, "tcp"], "first.run.jsonl");
    // Of the path that was lost nothing is asked; the other has its points.
    let run = fs::read_to_string(dir.path("first.run.jsonl")).unwrap_or_default();
    let trials = run.lines().filter(|l| l.contains(r#""event":"trial""#) && l.contains(r#""path":1,"#)).count();
    assert!(trials >= 3, "{name}: {trials} trials of tcp: {first}");
    let second = near(&["tcp"], "second.run.jsonl");
    assert!(running.runs(), "{name}: it serves on");
    // The path that was lost, the other one, and the second run: all are over, so that nothing is broken off.
    let ended = std::iter::repeat_with(|| running.line()).filter(|line| json(line)["event"] == "ended").take(3);
    assert_eq!(ended.count(), 3);
    running.signal(Signal::INT);
    (first, second, running.end())
}

#[test]
fn a_module_that_crashes_the_serving_side_ends_its_path_alone() {
    for (name, old, new) in [
        (
            "listens",
            "    struct addrinfo *at;\n    struct wanted wanted = read_settings(set);\n    int code = resolve(host, \"0\"",
            "    *(volatile int *)8 = 1;\n    struct addrinfo *at;\n    struct wanted wanted = read_settings(set);\n    int code = resolve(host, \"0\"",
        ),
        (
            "receives",
            "return exchange(link, NULL, 0, message, len, e);",
            "*(volatile int *)8 = 1;\n    return exchange(link, NULL, 0, message, len, e);",
        ),
    ] {
        let (first, second, served) = with_their_module(name, |s| changed(s, old, new));
        assert_eq!((first.code(), second.code(), served.code()), (1, 0, 0), "{first}{second}{served}");
        assert!(first.err.contains(&format!("{name}: the far side ended")), "{first}");
        assert!(served.out.contains("it was killed by signal 11") && !served.err.contains("panicked"), "{served}");
    }
}

#[test]
fn a_module_that_hangs_on_the_serving_side_ends_its_path_alone() {
    for (name, old) in [
        (
            "listens",
            "    struct addrinfo *at;\n    struct wanted wanted = read_settings(set);\n    int code = resolve(host, \"0\"",
        ),
        ("receives", "    return exchange(link, NULL, 0, message, len, e);"),
    ] {
        let (first, second, served) =
            with_their_module(name, |s| changed(s, old, &format!("    for (;;)\n        pause();\n{old}")));
        assert_eq!((first.code(), second.code(), served.code()), (1, 0, 0), "{first}{second}{served}");
        assert!(first.err.contains(&format!("{name}: the far side")), "{first}");
        assert!(served.out.contains("a call into a module did not come back"), "{served}");
    }
}

#[test]
fn a_serving_process_that_is_lost_before_anybody_came_says_so_and_its_own_end_ends_it() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &["--keep"]);
    send(serve.attendant(), Signal::KILL);
    let served = serve.running.end();
    assert_eq!(served.code(), 2, "{served}");
    served.complains(&["ended before anybody came", "signal 9"]);
    let serve = Serve::start(&dir, &["--keep"]);
    let attendant = serve.attendant();
    let theirs = super::processes::children(serve.running.pid(), "attend");
    assert_eq!(theirs.iter().map(|p| p.pid).collect::<Vec<_>>(), [attendant]);
    serve.running.signal(Signal::KILL);
    super::processes::all_end(&theirs);
}
