//! Latency under load: the idle path and the loaded one side by side, on the theoretical link exactly, on real paths by their contents.

use rustix::process::Signal;

use super::processes::{all_end, far_processes, send, under_way};
use super::support::{Running, Said, Scratch, until};

/// A run of the modelled path whose answer is known: 1 byte a nanosecond, 10 us one way, and 100 us for a message of the load.
const MODEL: [&str; 8] = [
    "--theory",
    "latency=10us,rate=8Gbit/s,packet=1GiB,header=0",
    "--load-size",
    "100000",
    "--budget",
    "2s",
    "--no-history",
    "--quiet",
];

fn modelled(dir: &Scratch, more: &[&str]) -> Said {
    dir.run(&[&["run", "theory", "-o", "x.run.jsonl"][..], &MODEL, more].concat())
}

/// A run of a real path that names how much it measures, whose messages are checked.
fn real(dir: &Scratch, path: &str, more: &[&str]) -> Said {
    let args = ["run", path, "--check", "--sizes", "64", "--trials", "2", "--repeats", "200", "--load-size", "1KiB"];
    let rest = ["--budget", "60s", "--pin", "none", "--no-html", "--quiet", "--seed", "7", "-o", "x.run.jsonl"];
    dir.run(&[&args[..], &rest, more].concat())
}

fn lines(dir: &Scratch) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn idle_and_loaded_times_stand_side_by_side_with_their_ratios() {
    let dir = Scratch::new();
    let said = modelled(&dir, &["--load", "1,4"]);
    assert!(said.measured(), "{said}");
    // 10.064 us idle; 50 and 200 us more in half of a round trip.
    for part in [
        "Latency under load: theory, 64 B (RTT/2)",
        "idle",
        "loading flows to the far side in messages of 100,000 B",
        "10.1 us",
        "60.1 us",
        "210 us",
        "5.97",
        "20.9",
    ] {
        assert!(said.out.contains(part), "{part}: {said}");
    }
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.out.contains("Latency under load") && shown.out.contains("theory:load=4"), "{shown}");
    assert!(shown.out.contains("idle and under 1 to 4 loading flows to the far side in messages of"), "{shown}");
    let alone = dir.run(&["show", "x.run.jsonl", "--path", "theory:load=4"]);
    assert!(alone.code() == 0 && !alone.out.contains("Nothing to draw"), "{alone}");
    let asked = dir.run(&["ask", "x.run.jsonl", "what is the latency under load?"]);
    assert_eq!(asked.code(), 0, "{asked}");
    for part in ["read as: latency under load", "idle, median 10.1 us", "under 4 loading flows", "20.87"] {
        assert!(asked.out.contains(part), "{part}: {asked}");
    }
    let page = std::fs::read_to_string(dir.path("x.html")).or_else(|_| std::fs::read_to_string(dir.path("x.run.html")));
    assert!(page.is_ok_and(|page| page.contains("Latency under load") && page.contains("Loading flows")), "the page");
}

#[test]
fn the_graph_of_a_load_is_in_the_terminal_and_a_picture() {
    let dir = Scratch::new();
    assert!(modelled(&dir, &["--load", "1,2,4,8", "--no-html"]).measured());
    let shown = dir.run(&["show", "x.run.jsonl", "--graph", "load"]);
    for part in ["Load graph", "p50", "p99", "Loading flows"] {
        assert!(shown.out.contains(part), "{part}: {shown}");
    }
    let drawn = dir.run(&["plot", "x.run.jsonl", "--graph", "load", "-o", "x.svg"]);
    assert_eq!(drawn.code(), 0, "{drawn}");
    let picture = std::fs::read_to_string(dir.path("x.svg")).unwrap();
    assert!(picture.contains("Load graph") && picture.contains("p99.9"), "{picture}");
    dir.measure("idle.run.jsonl", &["theory"]);
    dir.run(&["show", "idle.run.jsonl", "--graph", "load"]).refuses(&["this run has none such (run --load 1,2,4)"]);
    let asked = dir.run(&["ask", "idle.run.jsonl", "latency under load"]);
    assert!(
        asked.code() == 2 && asked.out.contains("pipegauge run theory") && asked.out.contains("--load 1,2,4"),
        "{asked}"
    );
}

#[test]
fn exports_tell_the_load() {
    let dir = Scratch::new();
    assert!(modelled(&dir, &["--load", "2", "--load-direction", "both", "--no-html"]).measured());
    let csv = dir.run(&["export", "x.run.jsonl", "--format", "csv"]).out;
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = |name: &str| head.iter().position(|c| *c == name).unwrap();
    let rows: Vec<_> = rows.collect();
    assert_eq!((rows[0][column("load_flows")], rows[1][column("load_flows")]), ("0", "2"));
    assert_eq!(rows[0][column("load_there_bits_per_s")], "");
    for way in ["load_there_bits_per_s", "load_back_bits_per_s"] {
        let rate: f64 = rows[1][column(way)].parse().unwrap();
        assert!((7.9e9..=8e9).contains(&rate), "{way}: {rate}");
    }
}

#[test]
fn every_real_path_is_measured_under_load_each_way() {
    for path in ["tcp", "unix", "seqpacket", "shm", "pipe", "udp"] {
        let mut carried = false;
        for direction in ["same", "opposite", "both"] {
            let dir = Scratch::new();
            let said = real(&dir, path, &["--load", "2", "--load-direction", direction]);
            // Whether a message of the load passes within a short trial is the machine's affair; that contents are right is not.
            let idle = said.err.contains("loading flows carried nothing")
                || said.out.contains("loading flows carried nothing");
            let lost = path == "udp" && (said.err.contains("lost") || said.out.contains("lost"));
            assert!(said.measured() || idle || lost, "{path} {direction}: {said}");
            let told = lines(&dir);
            let trial = |n: u64| told.iter().find(|l| l["event"] == "trial" && l["path"] == n);
            assert!(trial(0).unwrap()["load"].is_null(), "{path}: the idle path has no load");
            if let Some(loaded) = trial(1) {
                let ways = (loaded["load"]["there"].is_number(), loaded["load"]["back"].is_number());
                assert_eq!(ways, (direction != "opposite", direction != "same"), "{path} {direction}: {loaded}");
            }
            let moved =
                |line: &serde_json::Value| ["there", "back"].iter().any(|way| line["load"][way].as_f64() > Some(0.0));
            carried |= told.iter().any(|line| line["event"] == "trial" && moved(line)) || lost;
        }
        assert!(carried, "{path}: the load carried nothing in any trial of any direction");
    }
}

#[test]
fn a_probe_on_a_schedule_is_measured_under_load() {
    let dir = Scratch::new();
    let args = ["run", "tcp", "--load", "2", "--load-direction", "both", "--load-size", "1KiB", "--rate", "200"];
    let short = ["--check", "--sizes", "64", "--trials", "2", "--repeats", "40", "--budget", "60s", "--pin", "none"];
    let said = dir.run(&[&args[..], &short, &["--no-html", "--quiet", "-o", "x.run.jsonl"]].concat());
    // Whether the path keeps up with the schedule while other programs hold the CPUs is the machine's affair.
    assert!(said.measured() || said.err.contains("late"), "{said}");
    let told = lines(&dir);
    let trials: Vec<_> = told.iter().filter(|line| line["event"] == "trial" && line["warmup"] != true).collect();
    let of = |path: u64| trials.iter().filter(move |line| line["path"] == path).collect::<Vec<_>>();
    assert!(of(0).len() >= 2 && of(0).iter().all(|line| line["load"].is_null()), "{trials:?}");
    assert!(of(1).len() >= 2, "{trials:?}");
    for line in of(1) {
        // 40 sends, 5 ms apart: 0.2 s, in which the load surely carries something.
        assert!(["there", "back"].iter().all(|way| line["load"][way].as_f64() > Some(0.0)), "{line}");
        assert!(line["seconds"].as_f64() > Some(0.1), "{line}");
    }
    let time =
        |path: u64| told.iter().find(|line| line["event"] == "point" && line["path"] == path).map(|p| &p["time"]);
    assert_eq!((time(0), time(1)), (Some(&"round-trip".into()), Some(&"round-trip".into())));
    assert!(said.out.contains("Latency under load: tcp, 64 B"), "{said}");
}

#[test]
fn a_run_without_load_says_nothing_of_loads() {
    let dir = Scratch::new();
    dir.measure("x.run.jsonl", &["tcp"]);
    for line in lines(&dir) {
        let load = |part: &str| line[part].get("load").is_some();
        // The machine's own load average stands in its environment.
        assert!(line.get("load").is_none(), "{line}");
        if line["event"] == "run" {
            assert!(line["plan"]["paths"][0].get("load").is_none() && !load("plan"), "{line}");
        }
    }
}

#[test]
fn sides_of_one_run_are_loaded_alike() {
    let dir = Scratch::new();
    let args = [
        "run",
        "theory",
        "--load",
        "2",
        "--trials",
        "4",
        "--repeats",
        "20",
        "--quiet",
        "--no-html",
        "-o",
        "x.run.jsonl",
    ];
    let said = dir.run(&[&args[..], &["--vs", "--theory latency=20us"]].concat());
    assert_eq!(said.code(), 0, "{said}");
    assert!(said.out.contains("theory:load=2"), "{said}");
}

/// Flags of a loaded run that goes on until something ends it.
const LONG: [&str; 12] = [
    "--load",
    "2",
    "--load-direction",
    "both",
    "--sizes",
    "64,4KiB",
    "--budget",
    "120s",
    "--precision",
    "0.001%",
    "--pin",
    "none",
];

#[test]
fn killed_and_interrupted_sides_leave_no_process_behind() {
    for path in ["pipe", "shm", "unix", "tcp", "udp"] {
        let dir = Scratch::new();
        let args = [&["run", path, "-o", "x.run.jsonl", "--no-html"][..], &LONG].concat();
        let mut run = Running::start(dir.command(&args));
        let far = under_way(&mut run, &dir.path("x.run.jsonl"));
        let pid = run.pid();
        send(far.pid, Signal::KILL);
        // The path whose turn it was not has a far side of its own, which nobody misses between two rounds.
        until("the end of the run", || {
            far_processes(pid).iter().for_each(|far| send(far.pid, Signal::KILL));
            (!run.runs()).then_some(())
        });
        let said = run.end();
        assert!(said.code() == 1 || said.code() == 2, "{path}: {said}");
        assert!(far_processes(pid).is_empty(), "{path}");
    }
    for signal in [Signal::INT, Signal::KILL] {
        let dir = Scratch::new();
        let args = [&["run", "tcp", "-o", "x.run.jsonl", "--no-html"][..], &LONG].concat();
        let mut run = Running::start(dir.command(&args));
        let far = under_way(&mut run, &dir.path("x.run.jsonl"));
        send(run.pid(), signal);
        run.end();
        all_end(&[far]);
    }
}
