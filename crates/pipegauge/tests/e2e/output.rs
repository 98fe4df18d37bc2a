//! What the command prints: help, pages, completions, documents and their schemas; and who reads it.

use std::process::Command;

use super::support::{Running, SHORT, Said, Scratch, binary, json};

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let dir = Scratch::new();
    let said = dir.run(&["--help"]);
    assert_eq!(said.code(), 0, "{said}");
    for word in [
        "run",
        "live",
        "group",
        "list",
        "show",
        "plot",
        "export",
        "import",
        "serve",
        "doctor",
        "man",
        "completions",
        "schema",
        "Exit codes",
    ] {
        assert!(said.out.contains(word), "{word} is missing in: {said}");
    }
    let run = dir.run(&["run", "--help"]);
    for flag in ["--pattern", "--precision", "--peer", "--fault", "--congestion", "--perturb"] {
        assert!(run.out.contains(flag), "{flag} is missing in: {run}");
    }
    let version = format!("pipegauge {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(dir.run(&["-V"]).out.trim(), version);
    let built = dir.run(&["--version"]).out;
    let lines: Vec<&str> = built.lines().collect();
    assert_eq!(lines[0], version);
    let parquet = if cfg!(feature = "parquet") { "built in: " } else { "left out: " };
    assert!(lines.iter().any(|l| l.starts_with(parquet) && l.contains("parquet")), "{built}");
    assert!(lines.iter().any(|l| l.starts_with("run file: pipegauge-run/")), "{built}");
}

#[test]
fn a_transport_that_was_left_out_is_listed_with_the_command_that_builds_it_in() {
    let dir = Scratch::new();
    for (name, built) in [
        ("http", cfg!(feature = "http")),
        ("quic", cfg!(feature = "quic")),
        ("strata", cfg!(feature = "strata")),
        ("websocket", cfg!(feature = "websocket")),
    ] {
        let listed = dir.run(&["list", name]);
        let words = listed.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let command = format!("cargo build --release --features {name}");
        assert_eq!(words.contains(&command), !built, "{listed}");
        if !built {
            let path = if name == "strata" { name.to_owned() } else { format!("{name}:sockbuf=64KiB") };
            dir.run(&["run", &path, "--budget", "1s"]).refuses(&[name, "built without it", &command]);
        }
    }
}

#[test]
fn help_does_little_at_the_start() {
    // Not a time: what costs it. Help opens no socket, reads no /proc/net and starts no process or thread.
    let dir = Scratch::new();
    let said = dir.run(&["--help"]);
    assert_eq!(said.code(), 0);
    let Some(strace) = super::support::installed("strace") else {
        return super::support::skip("strace is not installed, so system calls can't be counted");
    };
    let mut command = Command::new(strace);
    command.args(["-f", "-o", "calls"]).arg(binary()).arg("--help").current_dir(dir.path("."));
    if Running::start(command).end().code() != 0 {
        return super::support::skip("strace may not trace here");
    }
    let calls = std::fs::read_to_string(dir.path("calls")).unwrap();
    for call in ["socket(", "clone(", "clone3(", "fork("] {
        assert!(!calls.contains(call), "{call} at start");
    }
    assert!(calls.lines().count() < 400, "{} system calls", calls.lines().count());
}

#[test]
fn man_pages_come_from_the_flags() {
    let dir = Scratch::new();
    let page = dir.run(&["man"]);
    assert!(page.out.contains(".TH pipegauge") && page.out.contains("serve"), "{page}");
    assert!(!page.out.contains("floor"), "hidden commands stay hidden: {page}");
    let run = dir.run(&["man", "run"]);
    assert!(run.out.contains(".TH pipegauge-run") && run.out.contains("precision"), "{run}");
    if super::support::installed("man").is_none() {
        return super::support::skip("man is not installed, so that the page is not formatted");
    }
    std::fs::write(dir.path("pipegauge.1"), &page.out).unwrap();
    let mut command = Command::new("man");
    command.args(["--warnings", "-l", "pipegauge.1"]).env("MANPAGER", "cat").current_dir(dir.path("."));
    let formatted = Running::start(command).end();
    assert!(formatted.err.trim().is_empty(), "{formatted}");
}

#[test]
fn completions_come_from_the_flags_and_the_shell_takes_them() {
    let dir = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = dir.run(&["completions", shell]);
        assert_eq!(said.code(), 0, "{said}");
        assert!(said.out.contains("precision"), "{shell}: {said}");
    }
    let script = dir.run(&["completions", "bash"]).out;
    assert!(script.contains("seqpacket"), "the transports are offered");
    std::fs::write(dir.path("c.bash"), script).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["-c", "source ./c.bash && complete -p pipegauge"]).current_dir(dir.path("."));
    let said = Running::start(bash).end();
    assert!(said.status.success() && said.out.contains("pipegauge"), "{said}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = Scratch::new();
    dir.measure("x.run.jsonl", &["memcpy", "theory"]);
    for line in [
        "--help",
        "list",
        "list --json",
        "show x.run.jsonl",
        "export x.run.jsonl --format csv",
        "completions bash",
        "man",
        "schema run-file",
    ] {
        let mut command = Command::new("bash");
        command.arg("-c").arg(format!("\"$0\" {line} | true; echo ${{PIPESTATUS[0]}}")).arg(binary());
        command.current_dir(dir.path("."));
        let said = Running::start(command).end();
        assert_eq!(said.out.trim(), "0", "{line}: {said}");
        assert!(!said.err.contains("panicked"), "{line}: {said}");
    }
}

#[test]
fn a_command_line_that_cannot_be_read_is_answered_in_json_too() {
    let dir = Scratch::new();
    for (args, words) in [
        (&["run", "tcp", "--to", "64K", "--json"][..], &["64K", "KiB"][..]),
        (&["--json", "run"], &["TRANSPORT"]),
        (&["run", "tcp", "--fats", "--json"], &["--fats"]),
        (&["--json"], &["no command"]),
    ] {
        let said = dir.run(args);
        assert_eq!(said.code(), 2, "{said}");
        let doc = json(&said.out);
        assert_eq!(doc["schema"], "pipegauge-error/1", "{said}");
        let error = doc["error"].as_str().unwrap();
        assert!(words.iter().all(|w| error.contains(w)) && !error.contains("Usage"), "{error}");
        assert!(!said.err.is_empty(), "people read standard error: {said}");
    }
    // A line reader must be able to read what serve says, to the last.
    for args in [&["serve", "--bind", "192.0.2.1", "--json"][..], &["--json", "serve", "--max-message", "64K"]] {
        let said = dir.run(args);
        assert_eq!((said.code(), said.out.lines().count()), (2, 1), "{said}");
        assert_eq!(json(&said.out)["schema"], "pipegauge-error/1", "{said}");
    }
    assert!(dir.run(&["run", "tcp", "--to", "64K"]).out.is_empty());
}

#[test]
fn no_colour_where_nobody_sees_it_or_somebody_asked_against_it() {
    let dir = Scratch::new();
    dir.measure("x.run.jsonl", &["memcpy"]);
    let mut args = vec!["show", "x.run.jsonl"];
    assert!(!dir.run(&args).out.0.contains('\u{1b}'));
    args.push("--json");
    assert!(!dir.run(&args).out.0.contains('\u{1b}'));
    let Some(script) = super::support::installed("script") else {
        return super::support::skip("script is not installed, so there is no terminal to show colour on");
    };
    let terminal = |no_color: &str| -> Said {
        let mut command = Command::new(&script);
        command.arg("-qec").arg(format!("{} show x.run.jsonl", binary().display())).arg("/dev/null");
        command.env("NO_COLOR", no_color).env("TERM", "xterm-256color").current_dir(dir.path("."));
        Running::start(command).end()
    };
    assert!(terminal("").out.0.contains('\u{1b}'), "a terminal gets colour");
    assert!(!terminal("1").out.0.contains('\u{1b}'), "NO_COLOR is obeyed");
}

#[test]
fn every_document_fits_its_schema() {
    let dir = Scratch::new();
    let schema = |name: &str| {
        let said = dir.run(&["schema", name]);
        assert_eq!(said.code(), 0, "{said}");
        jsonschema::validator_for(&json(&said.out)).unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    let fits = |name: &str, said: &Said| {
        let doc = json(&said.out);
        let named = doc["schema"].as_str().unwrap_or_default();
        assert!(named.starts_with("pipegauge-") && named.ends_with("/1"), "{name}: {named}");
        let errors: Vec<String> = schema(name).iter_errors(&doc).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}: {doc}");
    };
    let mut args = vec!["run", "memcpy", "tcp", "--json", "-o", "x.run.jsonl"];
    args.extend(SHORT);
    fits("run", &dir.run(&args));
    let hint = ["hint", "theory", "--alone", "--to", "40", "--trials", "2", "--repeats", "5", "--pin", "none", "-q"];
    fits("hint", &dir.run(&[&hint[..], &["-o", "h.run.jsonl", "--json"]].concat()));
    fits("show", &dir.run(&["show", "h.run.jsonl", "--json"]));
    let soak = ["run", "theory", "--duration", "6s", "--no-html", "-o", "s.run.jsonl", "--json"];
    fits("run", &dir.run(&soak));
    fits("show", &dir.run(&["show", "s.run.jsonl", "--json"]));
    fits("list", &dir.run(&["list", "--json"]));
    let axes = ["--over", "rate=1Gbit/s,2Gbit/s", "--over", "latency=1us,2us"];
    let sweep = [
        &["sweep", "theory", "--rounds", "4", "--budget", "1s", "-q", "-o", "swept", "--json"][..],
        &axes,
        &["--", "--sizes", "1,4KiB"],
    ];
    fits("sweep", &dir.run(&sweep.concat()));
    let file = r#"{"transports":["tcp"],"rounds":4,"budget":"2s","flags":[],"over":[{"name":"nodelay","values":[true,"off",1,0.5]}]}"#;
    assert!(schema("sweep-file").is_valid(&json(file)) && !schema("sweep-file").is_valid(&json(r#"{"round":4}"#)));
    let new = dir.run(&["module", "new", "mine"]);
    assert_eq!(new.code(), 0, "{new}");
    let made = std::process::Command::new("make").arg("-C").arg(dir.path("mine")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fits("module", &dir.run(&["module", "check", "mine/mine.so", "--json"]));
    fits("show", &dir.run(&["show", "x.run.jsonl", "--json"]));
    fits("compare", &dir.run(&["compare", "x.run.jsonl", "x.run.jsonl", "--fail-if", "time>+5%", "--json"]));
    let two = ["run", "unix", "tcp", "-o", "two.run.jsonl"];
    assert!(dir.run(&[&two[..], &SHORT].concat()).measured());
    fits("layers", &dir.run(&["layers", "two.run.jsonl", "--json"]));
    fits("tables", &dir.run(&["tables", "two.run.jsonl", "--json"]));
    let dip =
        ["run", "theory", "--theory", "dip=4KiB..8KiB*2", "--budget", "1s", "--no-html", "-q", "-o", "d.run.jsonl"];
    assert!(dir.run(&dip).measured());
    // On a busy machine the curve of a real path need not rise at all.
    let halved = ["scale", "d.run.jsonl", "--memory", "2", "--against", "d.run.jsonl", "--json"];
    fits("scale", &dir.run(&halved));
    fits("jitter", &dir.run(&["jitter", "x.run.jsonl", "--json"]));
    fits("loggp", &dir.run(&["loggp", "two.run.jsonl", "--json"]));
    fits("explain", &dir.run(&["explain", "d.run.jsonl", "-q", "--budget", "1s", "--json"]));
    fits("ask", &dir.run(&["ask", "x.run.jsonl", "--most", "--arrive", "64", "--json"]));
    fits("plot", &dir.run(&["plot", "x.run.jsonl", "-o", "x.svg", "--json"]));
    fits("export", &dir.run(&["export", "x.run.jsonl", "--format", "csv", "--json"]));
    let np = dir.run(&["export", "x.run.jsonl", "--format", "np", "--path", "tcp", "-o", "np.out", "--json"]);
    fits("export", &np);
    fits("import", &dir.run(&["import", "np.out", "--json"]));
    fits("history", &dir.run(&["history", "--json"]));
    fits("doctor", &dir.run(&["doctor", "--json"]));
    fits("man", &dir.run(&["man", "--json"]));
    fits("completions", &dir.run(&["completions", "bash", "--json"]));
    fits("schema", &dir.run(&["schema", "--json"]));
    let serve = Running::start(dir.command(&["serve", "--bind", "127.0.0.1", "--json"]));
    let listening = json(&serve.line());
    assert!(schema("serve").is_valid(&listening), "{listening}");
    assert_eq!(listening["schema"], "pipegauge-serve/1");
    drop(serve);
    let error = dir.run(&["run", "nonsense", "--json"]);
    assert_eq!(error.code(), 2);
    fits("error", &error);
    let lines = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let validator = schema("run-file");
    for line in lines.lines() {
        assert!(validator.is_valid(&json(line)), "{line}");
    }
    for file in ["h.run.jsonl", "s.run.jsonl"] {
        for line in std::fs::read_to_string(dir.path(file)).unwrap().lines() {
            assert!(validator.is_valid(&json(line)), "{line}");
        }
    }
    for file in ["x.run.jsonl", "s.run.jsonl"] {
        let exported = json(&dir.run(&["export", file, "--format", "json"]).out);
        assert!(schema("export-json").is_valid(&exported), "{exported}");
    }
    let names = json(&dir.run(&["schema", "--json"]).out)["names"].as_array().unwrap().len();
    assert_eq!(names, 27, "a schema that no document here was held against");
}

#[test]
fn list_says_what_each_transport_can_do() {
    let dir = Scratch::new();
    let said = dir.run(&["list"]);
    for name in ["memcpy", "pipe", "shm", "am", "unix", "seqpacket", "tcp", "udp", "theory"] {
        assert!(said.out.contains(name), "{name}: {said}");
    }
    // One look: a summary each, with what only some can.
    assert!(said.out.contains("put and get") && said.out.contains("pipegauge list NAME"), "{said}");
    assert!(!said.out.contains("[default: ") && !said.out.contains("waits: "), "{said}");
    let said = dir.run(&["list", "tcp", "multicast"]);
    assert!(said.code() == 0 && said.out.0.starts_with("tcp "), "{said}");
    assert!(said.out.contains("two processes or more") && !said.out.contains("memcpy"), "{said}");
    dir.run(&["list", "no-such"]).refuses(&["no-such", "tcp"]);
}

#[test]
fn doctor_gives_a_remedy_with_each_warning() {
    let dir = Scratch::new();
    let said = dir.run(&["doctor", "--json"]);
    let doc = json(&said.out);
    let findings = doc["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    let warned = findings.iter().filter(|f| f["level"].as_str().unwrap().eq_ignore_ascii_case("warn"));
    let mut any = false;
    for finding in warned {
        any = true;
        assert!(finding["remedy"].is_string(), "{finding}");
    }
    let floor = doc["floor"].as_array().unwrap();
    assert_eq!(floor.len(), 3);
    any |= floor.iter().any(|f| f["latency"].is_null());
    assert_eq!(said.code(), i32::from(any), "{said}");
}

#[test]
fn prose_keeps_to_eighty_columns_on_a_pipe_and_commands_stay_whole() {
    let dir = Scratch::new();
    for (line, out) in [
        (vec!["run", "theory:latency=2us", "theory:latency=30us", "--budget", "200ms"], "a.run.jsonl"),
        (
            vec![
                "run",
                "tcp",
                "--pattern",
                "stream",
                "--both",
                "--rate",
                "10Mbit/s,100Mbit/s",
                "--sizes",
                "1KiB",
                "--budget",
                "200ms",
            ],
            "b.run.jsonl",
        ),
        (vec!["run", "theory", "--duration", "1s", "--sizes", "64"], "c.run.jsonl"),
    ] {
        let said = dir.run(&[&line[..], &["--no-html", "-o", out]].concat());
        assert!(said.code() <= 1, "{said}");
        narrow(&said.out);
        // The first line is the command of the run, to be copied.
        narrow(dir.run(&["show", out]).out.split_once('\n').unwrap().1);
    }
    narrow(&dir.run(&["list"]).out);
    narrow(&dir.run(&["list", "tcp", "udp"]).out);
    narrow(&dir.run(&["compare", "a.run.jsonl"]).out);
    for question in
        ["what is the bandwidth", "which path is the fastest for 100 kB", "which message size saturates the link"]
    {
        let said = dir.run(&["ask", "a.run.jsonl", question]);
        narrow(&said.out);
        for command in said.out.lines().filter(|line| line.contains("pipegauge run")) {
            assert!(command.contains("--budget 30s"), "a command in one piece: {said}");
        }
    }
}

/// No line but a command is wider than a terminal.
fn narrow(text: &str) {
    for line in text.lines().filter(|line| !line.trim_start().starts_with("pipegauge ")) {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}
