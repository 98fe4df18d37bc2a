//! Collectives: over a module of our own that does them in the simplest way, and over Open MPI and MPICH.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use super::modules::{changed, made, with};
use super::mpi::{command, modules as there, named};
use super::processes::{a_trial, children, command_line, send, under_way};
use super::support::{LONG, Running, Said, Scratch, json, until};

const STAR: &str = include_str!("collectives/star.c");
const PATTERNS: [&str; 5] = ["barrier", "broadcast", "allreduce", "allgather", "all-to-all"];
const COUNTED: [&str; 12] =
    ["--trials", "2", "--repeats", "5", "--budget", "3600s", "--pin", "none", "--no-html", "-q", "-o", "x.run.jsonl"];

/// The module that a new one begins with, with collectives.
fn star(dir: &Scratch, change: impl Fn(&str) -> String) -> PathBuf {
    made(dir, "star", |text| {
        let text = changed(
            text,
            "    int fd;\n    const terms *terms;\n};\n\n/* ----",
            "    int fd;\n    const terms *terms;\n    struct star *star;\n};\n\n/* ----",
        );
        let text = changed(
            &text,
            "    close(link->fd);\n    free(link);",
            "    close(link->fd);\n    free(link->star);\n    free(link);",
        );
        let text = changed(&text, "    link->terms = terms;", "    link->terms = terms;\n    link->star = NULL;");
        let text = text.replace("struct pipegauge_link {\n", "struct star;\nstruct pipegauge_link {\n");
        let text = changed(&text, "| PIPEGAUGE_POLL;", "| PIPEGAUGE_POLL | PIPEGAUGE_COLLECTIVE;");
        let text =
            changed(&text, "    .close = close_link,\n", "    .close = close_link,\n    .collective = &collective,\n");
        change(&changed(&text, "/* ---- What it is ---- */", &format!("{STAR}/* ---- What it is ---- */")))
    })
}

fn lines(dir: &Scratch) -> Vec<Value> {
    std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect()
}

fn points(lines: &[Value]) -> Vec<&Value> {
    lines.iter().filter(|line| line["event"] == "point").collect()
}

/// Runs a collective of `path` with its contents checked; the lines of the run file.
fn checked(run: impl Fn(&[&str]) -> Said, dir: &Scratch, path: &str, pattern: &str, more: &[&str]) -> Vec<Value> {
    let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
    let sizes: &[&str] = if pattern == "barrier" { &[] } else { &["--sizes", "1,4095,64KiB"] };
    let said = run(&[&["run", path, "--pattern", pattern, "--check"][..], sizes, &COUNTED, more].concat());
    assert!(said.code() == 0, "{pattern} {more:?}: {said}");
    lines(dir)
}

#[test]
fn a_module_with_collectives_passes_the_check_and_every_pattern_is_measured_as_any_other() {
    let dir = Scratch::new();
    let modules = star(&dir, str::to_owned);
    let said = with(&dir, &modules, &["module", "check", "modules/star.so", "--patience", "60"]);
    assert!(said.code() == 0 && said.out.contains("20 right, 0 wrong"), "{said}");
    for pattern in PATTERNS {
        let run = checked(|args| with(&dir, &modules, args), &dir, "star", pattern, &[]);
        let plan = &run[0]["plan"];
        assert_eq!((&plan["pattern"], &plan["paths"][0]["topology"]), (&pattern.into(), &"group".into()));
        let (points, sizes) = (points(&run), if pattern == "barrier" { 1 } else { 3 });
        assert_eq!(points.len(), sizes, "{pattern}: {points:?}");
        for point in points {
            assert!(point["time"] == "slowest" && point["median"].as_f64() > Some(0.0), "{pattern}: {point}");
        }
        let trial = run.iter().find(|line| line["event"] == "trial").unwrap();
        assert_eq!(trial["flows"]["each"].as_array().map(Vec::len), Some(2), "{trial}");
        let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
        assert!(shown.code() == 0 && shown.out.contains("times are those of the slowest member"), "{pattern}: {shown}");
        assert_eq!(dir.run(&["compare", "x.run.jsonl", "x.run.jsonl"]).code(), 0, "{pattern}");
        for format in ["csv", "json"] {
            assert!(
                dir.run(&["export", "x.run.jsonl", "--format", format]).out.contains(pattern),
                "{pattern} {format}"
            );
        }
        let size = if pattern == "barrier" { "1 B" } else { "64 KiB" };
        let asked = dir.run(&["ask", "x.run.jsonl", &format!("latency of {size}")]);
        assert!(asked.code() == 0 && asked.out.contains("(slowest member)"), "{pattern}: {asked}");
        for (words, said) in told(&dir) {
            assert_eq!(said.contains("bit/s"), pattern != "barrier", "{pattern}, {words}: {said}");
            // They are words of one that casts to others, each of which receives at its own rate.
            for word in ["receiving", "fairness", "fastest member", "slowest member:", "flows"] {
                assert!(!said.contains(word), "{pattern}, {words}: '{word}' in {said}");
            }
        }
        assert_eq!(rate_in_csv(&dir).is_none(), pattern == "barrier", "{pattern}");
    }
}

/// What each output tells of the run.
fn told(dir: &Scratch) -> Vec<(&'static str, String)> {
    let out = |args: &[&str]| {
        let said = dir.run(args);
        assert_eq!(said.code(), 0, "{args:?}: {said}");
        said.out.0
    };
    let mut all: Vec<_> =
        [&["show", "x.run.jsonl", "--points"][..], &["show", "x.run.jsonl"], &["tables", "x.run.jsonl"]]
            .map(|args| (args[0], out(args)))
            .into();
    out(&["plot", "x.run.jsonl", "-o", "x.svg"]);
    out(&["plot", "x.run.jsonl", "-o", "x.html"]);
    let page = std::fs::read_to_string(dir.path("x.html")).unwrap();
    // Its script knows the words of every run: what is told of this one stands before it.
    let script = page.find("<script").unwrap_or(page.len());
    all.push(("page", page[..script].to_owned()));
    all
}

/// The throughput of the first point in a table of points.
fn rate_in_csv(dir: &Scratch) -> Option<f64> {
    let csv = dir.run(&["export", "x.run.jsonl", "--format", "csv"]).out;
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = lines.next()?.iter().position(|title| *title == "throughput_bits_per_s").unwrap();
    lines.next()?[at].parse().ok()
}

#[test]
fn a_group_without_a_pattern_broadcasts_where_nothing_can_cast() {
    let dir = Scratch::new();
    let modules = star(&dir, str::to_owned);
    for more in [&["star:group=2"][..], &["star", "--topology", "group", "--members", "2"]] {
        let said = with(&dir, &modules, &[&["run"], more, &["--sizes", "64"], &COUNTED].concat());
        assert!(said.code() == 0 && lines(&dir)[0]["plan"]["pattern"] == "broadcast", "{more:?}: {said}");
        std::fs::remove_file(dir.path("x.run.jsonl")).unwrap();
    }
}

#[test]
fn every_member_has_a_cost_and_those_that_share_a_cpu_are_warned_of_it() {
    let dir = Scratch::new();
    let modules = star(&dir, str::to_owned);
    let args = ["run", "star", "--pattern", "allgather", "--sizes", "64", "--trials", "2", "--repeats", "50"];
    let more = ["--pin", "0,0", "--budget", "60s", "--no-html", "-q", "-o", "x.run.jsonl"];
    let said = with(&dir, &modules, &[&args[..], &more].concat());
    assert_eq!(said.code(), 0, "{said}");
    let lines = lines(&dir);
    let counts = |line: &&Value| line["event"] == "trial" && line["warmup"] != true;
    assert!(lines.iter().any(|line| counts(&line)));
    for trial in lines.iter().filter(counts) {
        let iterations = |cost: &Value| cost["iterations"].as_u64();
        assert_eq!(iterations(&trial["cost"]), Some(50), "{trial}");
        assert_eq!(iterations(&trial["far"]["cost"]), Some(100), "of both far members: {trial}");
    }
    let cpus = std::thread::available_parallelism().unwrap().get();
    let warned = lines.iter().find(|line| line["event"] == "warning" && line["code"] == "crowded");
    assert_eq!(warned.is_some(), cpus < 3, "three members on {cpus} CPUs: {warned:?}");
    if let Some(warned) = warned {
        let text = warned["text"].as_str().unwrap();
        assert!(text.contains("3 members of the group share ") && !text.contains("yield"), "no such setting: {text}");
    }
}

/// Members that share CPUs may take a thousand times as long as they did in the trial before: here an operation takes 20 ms once 5,000 were quick.
#[test]
fn a_group_whose_operations_become_slow_ends_with_its_budget() {
    let dir = Scratch::new();
    let slow = "static int barrier(pipegauge_link *link, error *e)\n{\n    static unsigned quick;\n    \
                if (++quick > 5000)\n        usleep(20000);\n";
    let modules = star(&dir, |text| changed(text, "static int barrier(pipegauge_link *link, error *e)\n{\n", slow));
    let args = ["run", "star", "--pattern", "barrier", "--budget", "2s", "--pin", "none", "--no-html", "-q"];
    let said = with(&dir, &modules, &[&args[..], &["-o", "x.run.jsonl"]].concat());
    assert_eq!(said.code(), 0, "{said}");
    let lines = lines(&dir);
    assert_eq!(points(&lines).len(), 1);
    // By what the last trial took, thousands were to follow, which take minutes.
    let slow = |trial: &&Value| trial["event"] == "trial" && trial["seconds"].as_f64() > Some(1.0);
    for trial in lines.iter().filter(slow) {
        assert!(trial["repeats"].as_u64() < Some(6000), "{trial}");
    }
}

#[test]
fn members_are_an_axis() {
    let dir = Scratch::new();
    let modules = star(&dir, str::to_owned);
    let more = ["--topology", "group", "--members", "2,4"];
    let run = checked(|args| with(&dir, &modules, args), &dir, "star", "allreduce", &more);
    let flows = run[0]["plan"]["paths"].as_array().unwrap().iter().map(|p| p["flows"].as_u64().unwrap_or(1));
    assert_eq!(flows.collect::<Vec<_>>(), [1, 3]);
    assert_eq!(points(&run).len(), 6);
}

#[test]
fn a_collective_that_does_something_else_is_found_under_check() {
    let dir = Scratch::new();
    let modules = star(&dir, |text| changed(text, "            sum += one;", "            sum |= one;"));
    let line = ["run", "star", "--pattern", "allreduce", "--sizes", "64", "--check"];
    let said = with(&dir, &modules, &[&line[..], &COUNTED].concat());
    assert!(said.code() != 0 && said.err.contains("wrong"), "{said}");
    let said = with(&dir, &modules, &["module", "check", "modules/star.so"]);
    assert!(said.code() != 0 && said.out.contains("got a wrong sum"), "{said}");
}

/// A member that finds that its own memory was written beyond says what it saw: it is no liar, and the module's fault is told.
#[test]
fn a_collective_that_writes_behind_its_memory_is_told_as_that_by_any_member() {
    let dir = Scratch::new();
    const GATHERED: &str =
        "    return code == PIPEGAUGE_OK ? broadcast(link, all, len * link->star->members, e) : code;\n";
    const FOR_EACH: &str = "        memcpy((char *)into + from * len, all + (from * members + rank) * len, len);\n";
    for (rank, side) in [(0, "the near side"), (1, "the far side")] {
        let when = format!("    if (len == 64 && link->star->rank == {rank})\n        ((char *)");
        let modules = star(&dir, |text| {
            let gathered = format!(
                "    code = code == PIPEGAUGE_OK ? broadcast(link, all, len * link->star->members, e) : code;\n{when}all)[len * \
                 link->star->members] = 7;\n    return code;\n"
            );
            let text = changed(text, GATHERED, &gathered);
            changed(&text, FOR_EACH, &format!("{FOR_EACH}{when}into)[len * members] = 7;\n"))
        });
        for (pattern, cache) in [("allgather", "warm"), ("all-to-all", "warm"), ("allgather", "cold")] {
            let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
            let line = ["run", "star", "--pattern", pattern, "--cache", cache, "--sizes", "64", "--check"];
            let said = with(&dir, &modules, &[&line[..], &COUNTED].concat());
            assert!(!said.measured(), "{pattern} {cache} of rank {rank}: {said}");
            said.complains(&[&format!(
                "{side} found that byte 0 behind the memory for messages of 64 bytes was written: the path writes beyond"
            )]);
        }
    }
}

#[test]
fn a_check_names_the_member_that_failed_before_those_that_it_stopped() {
    let dir = Scratch::new();
    let refused = "    if (rank == 0)
        while (!pipegauge_stopped(links[0]->terms))
            ;
    if (rank != 1)
        return PIPEGAUGE_INTERRUPTED;
    snprintf(e->text, sizeof e->text, \"rank 1 is not wanted\");
    return PIPEGAUGE_SYSTEM;
";
    let modules = star(&dir, |text| {
        changed(
            text,
            "    (void)e;\n    struct star *star = calloc",
            &format!("{refused}    struct star *star = calloc"),
        )
    });
    let said = with(&dir, &modules, &["module", "check", "modules/star.so", "--json"]);
    assert!(said.code() != 0 && said.out.contains("rank 1 is not wanted"), "{said}");
}

#[test]
fn what_has_no_collectives_is_refused_before_anything_is_measured() {
    let dir = Scratch::new();
    let plain = made(&dir, "plain", str::to_owned);
    for pattern in PATTERNS {
        for path in ["tcp", "memcpy", "multicast", "plain"] {
            let said = with(&dir, &plain, &["run", path, "--pattern", pattern, "--no-html", "-q", "-o", "x.run.jsonl"]);
            assert!(said.code() == 2 && said.err.contains(pattern), "{path} {pattern}: {said}");
            assert!(!dir.path("x.run.jsonl").exists(), "{path} {pattern}");
        }
    }
    let modules = star(&dir, str::to_owned);
    for (more, says) in [
        (&["--pattern", "barrier", "--pairs", "2"][..], "--topology group"),
        (&["--pattern", "barrier", "--sizes", "64"], "leave out --sizes"),
        (&["--pattern", "barrier", "--from", "64"], "--from changes nothing here"),
        (&["--pattern", "barrier", "--to", "64"], "--to changes nothing here"),
        (&["--topology", "group", "--members", "3", "--pattern", "stream"], "--pattern barrier"),
        (&["--pattern", "allreduce", "--fault", "drop=1%"], "leave out --fault"),
    ] {
        let said = with(&dir, &modules, &[&["run", "star", "--no-html", "-q"][..], more].concat());
        assert!(said.code() == 2 && said.err.contains(says), "{more:?}: {said}");
    }
}

#[test]
fn a_member_that_ends_is_named_and_ends_its_path() {
    let dir = Scratch::new();
    let modules = star(&dir, str::to_owned);
    let args = [&["run", "star", "--pattern", "allreduce", "--sizes", "64", "-o", "x.run.jsonl"][..], &LONG].concat();
    let mut run = Running::start(command(&dir, &modules, &args));
    under_way(&mut run, &dir.path("x.run.jsonl"));
    let pid = run.pid();
    send(until("a process of the run", || children(pid, "peer").pop()).pid, Signal::KILL);
    let said = run.end();
    assert!([1, 2].contains(&said.code()), "{said}");
    said.complains(&["far member", "signal 9"]);
    assert!(children(pid, "").is_empty(), "{said}");
}

/// Kills far members of a run until it ends.
fn ends_when_killed(dir: &Scratch, run: &mut Running) {
    a_trial(run, &dir.path("x.run.jsonl"));
    let mark = format!("/proc/{}/exe peer", run.pid());
    until("the run's end", || {
        for far in named(&mark).into_iter().filter(|pid| !command_line(*pid).contains("seat")) {
            send(far, Signal::KILL);
        }
        (!run.runs()).then_some(())
    });
}

#[test]
fn ranks_of_both_mpis_do_every_collective() {
    let dir = Scratch::new();
    let Some((modules, names)) = there(&dir) else { return };
    for name in names {
        // Three ranks that spin on two CPUs would take milliseconds an operation.
        let path = format!("{name}:wait=yield");
        for pattern in PATTERNS {
            let run = |args: &[&str]| with(&dir, &modules, args);
            let run = checked(run, &dir, &path, pattern, &["--patience", "60s"]);
            assert_eq!(points(&run).len(), if pattern == "barrier" { 1 } else { 3 }, "{name} {pattern}: {run:?}");
        }
        // Two, by the library's blocking calls.
        let more = ["--topology", "group", "--members", "2", "--patience", "60s"];
        let run = checked(|args| with(&dir, &modules, args), &dir, name, "allreduce", &more);
        assert_eq!(points(&run).len(), 3, "{name}: {run:?}");
    }
}

#[test]
fn a_rank_that_is_killed_ends_its_collective() {
    let dir = Scratch::new();
    let Some((modules, names)) = there(&dir) else { return };
    for name in names {
        let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
        let path = format!("{name}:wait=yield");
        let args = [&["run", &path, "--pattern", "allgather", "-o", "x.run.jsonl"][..], &LONG].concat();
        let mut run = Running::start(command(&dir, &modules, &args));
        ends_when_killed(&dir, &mut run);
        let said = run.end();
        assert!([1, 2].contains(&said.code()) && !said.err.is_empty(), "{name}: {said}");
    }
}
