//! Sweeps: every combination of settings in runs of its own, what each does, and going on after a cut.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use super::processes::{all_end, children};
use super::support::{Running, Scratch, json, until};

/// A sweep over the modelled link, whose figures are known.
const KNOWN: [&str; 13] = [
    "sweep",
    "theory:header=0B",
    "--over",
    "rate=1Gbit/s,10Gbit/s",
    "--over",
    "latency=10us,20us",
    "--rounds",
    "4",
    "--budget",
    "60s",
    "--quiet",
    "-o",
    "known",
];
const COUNTED: [&str; 9] = ["--", "--sizes", "1,1MiB", "--trials", "2", "--repeats", "4", "--pin", "none"];

/// The same with its progress.
fn loud() -> Vec<&'static str> {
    KNOWN.iter().copied().filter(|word| *word != "--quiet").collect()
}

/// Holds what was told while the sweep over the modelled link was under way: each round has all cells, in an order of its own, and all lines but
/// the first tell the time that is left.
fn progress(err: &str) {
    let lines: Vec<&str> = err.lines().filter(|line| line.starts_with("round ")).collect();
    let left: Vec<bool> = lines.iter().map(|line| line.contains("; about ") && line.ends_with(" left")).collect();
    assert!(left.len() == 16 && !left[0] && left[1..].iter().all(|told| *told), "{err}");
    let cell = |line: &&str| line.split_once(": ").unwrap().1.split(';').next().unwrap().to_owned();
    let rounds: Vec<Vec<String>> = lines.chunks(4).map(|round| round.iter().map(cell).collect()).collect();
    let sorted = |round: &Vec<String>| {
        let mut round = round.clone();
        round.sort();
        round
    };
    assert!(
        lines.iter().enumerate().all(|(at, line)| line.starts_with(&format!("round {} of 4: ", at / 4 + 1))),
        "{err}"
    );
    assert!(rounds.iter().all(|round| sorted(round) == sorted(&rounds[0])), "{err}");
    assert!(rounds.iter().any(|round| *round != rounds[0]), "{err}");
}

fn runs(folder: &Path) -> usize {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    all.filter(|name| name.ends_with(".run.jsonl")).count()
}

#[test]
fn a_sweep_over_the_modelled_link_gives_the_effects_that_were_put_in() {
    let dir = Scratch::new();
    let said = dir.run(&[&loud()[..], &["--json"], &COUNTED].concat());
    assert_eq!(said.code(), 0, "{said}");
    progress(&said.err);
    let doc = json(&said.out);
    assert_eq!((&doc["schema"], &doc["runs"]), (&"pipegauge-sweep/1".into(), &serde_json::json!([16, 16])));
    let near = |found: &serde_json::Value, want: f64| {
        let found = found.as_f64().unwrap();
        assert!((found / want - 1.0).abs() < 0.01, "{found}, not {want}");
    };
    let effects = &doc["figures"][0]["effects"];
    // One byte takes 8 ns at 1 Gbit/s: the rate does next to nothing to it, and the latency all.
    near(&effects[1]["ratio"]["value"], 2.0);
    near(&effects[0]["ratio"]["value"], 1.0);
    let mebibyte = |rate: f64, latency: f64| 8.0 * 1_048_576.0 / rate + latency;
    let of_rate = |latency: f64| mebibyte(1e9, latency) / mebibyte(1e10, latency);
    near(&doc["figures"][1]["effects"][0]["ratio"]["value"], (of_rate(10e-6) * of_rate(20e-6)).sqrt());
    for figure in [0, 1] {
        let choice = &doc["figures"][figure]["choice"];
        assert_eq!(
            doc["cells"][choice["best"].as_u64().unwrap() as usize]["name"],
            "theory:header=0B rate=10Gbit/s latency=10us"
        );
    }
    assert_eq!(runs(&dir.path("known")), 16);
    for file in ["map.svg", "sweep.html", "sweep.json"] {
        assert!(dir.path("known").join(file).is_file(), "{file}");
    }
    // The map lies in the page, which says what to take.
    let file = |name: &str| fs::read_to_string(dir.path("known").join(name)).unwrap();
    let (map, page) = (file("map.svg"), file("sweep.html"));
    assert!(map.contains("<svg") && page.contains(&map), "{page}");
    assert!(page.contains("Take it."), "{page}");
    // Its runs are runs like any other, and the folder is shown without measuring.
    let show = dir.run(&["show", "known/cell-0001-round-001.run.jsonl"]);
    assert!(show.code() == 0 && show.out.contains("theory"), "{show}");
    let said = dir.run(&["sweep", "--show", "known"]);
    assert!(said.code() == 0 && said.out.contains("Take it."), "{said}");
    assert_eq!(runs(&dir.path("known")), 16);
}

#[test]
fn a_dropout_of_one_level_is_named_with_its_cell() {
    let dir = Scratch::new();
    let line = [
        "sweep",
        "theory:rate=1Gbit/s",
        "--over",
        "dip=60KiB..75KiB*3|1KiB..2KiB*1",
        "--rounds",
        "4",
        "--budget",
        "60s",
    ];
    let more = ["-q", "-o", "s", "--", "--to", "1MiB", "--trials", "1", "--repeats", "2", "--pin", "none"];
    let said = dir.run(&[&line[..], &more].concat());
    assert_eq!(said.code(), 0, "{said}");
    let told = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(told.matches("a dip from").count(), 1, "{said}");
    let dip = told.split_once("theory:rate=1Gbit/s dip=60KiB..75KiB*3: a dip from ").expect(&told).1;
    assert!(dip.split_once("the time.").unwrap().0.ends_with("x3.00 "), "{said}");
    assert!(fs::read_to_string(dir.path("s/sweep.html")).unwrap().contains("a dip from "), "{said}");
}

#[test]
fn a_cut_sweep_goes_on_and_measures_nothing_twice() {
    let dir = Scratch::new();
    let sweep = Running::start(dir.command(&[&loud()[..], &COUNTED].concat()));
    let folder = dir.path("known");
    until("three runs", || (folder.is_dir() && runs(&folder) >= 3).then_some(()));
    sweep.signal(Signal::KILL);
    drop(sweep);
    let stamp = |file: &fs::DirEntry| (file.file_name(), file.metadata().unwrap().modified().unwrap());
    let whole = |entry: &fs::DirEntry| {
        fs::read_to_string(entry.path())
            .is_ok_and(|text| text.lines().last().is_some_and(|line| line.contains(r#""event":"end""#)))
    };
    let before: Vec<_> = fs::read_dir(&folder).unwrap().map(Result::unwrap).filter(whole).map(|f| stamp(&f)).collect();
    assert!(before.len() >= 2 && before.len() < 16, "{}", before.len());
    let said = dir.run(&KNOWN);
    said.refuses(&["holds a sweep", "--resume known"]);
    // A run that was cut off, and one of which the end is missing, are measured again.
    let cut = folder.join("cell-0001-round-004.run.jsonl");
    fs::write(&cut, "{\"event\":\"run\"").unwrap();
    let said = dir.run(&["sweep", "--resume", "known", "--json"]);
    assert_eq!(said.code(), 0, "{said}");
    assert_eq!(json(&said.out)["runs"], serde_json::json!([16, 16]));
    let after: Vec<_> = fs::read_dir(&folder).unwrap().map(Result::unwrap).map(|f| stamp(&f)).collect();
    for one in &before {
        assert!(after.contains(one), "{one:?} was measured again");
    }
}

#[test]
fn settings_that_a_path_lacks_leave_their_cells_out_with_the_reason() {
    let dir = Scratch::new();
    let said = dir.run(
        &[
            &[
                "sweep",
                "unix",
                "tcp",
                "--over",
                "nodelay=default,off",
                "--rounds",
                "2",
                "-q",
                "-o",
                "s",
                "--budget",
                "60s",
            ],
            &COUNTED[..],
        ]
        .concat(),
    );
    // unix has no such option, and the flag of that name takes no value.
    assert_eq!(said.code(), 1, "{said}");
    assert!(said.out.contains("Not measured:") && said.out.contains("unix nodelay=off:"), "{said}");
    assert_eq!(runs(&dir.path("s")), 6);
    assert!(said.out.contains("Fewer than four rounds"), "{said}");
}

#[test]
fn a_list_of_what_would_be_measured_ends_as_its_sweep_would() {
    let dir = Scratch::new();
    let listed = |over: &str| dir.run(&["sweep", "tcp", "--over", over, "--dry-run", "-o", "s"]);
    let said = listed("sockbuf=0B,64KiB");
    assert!(said.code() == 1 && said.out.contains("Can't be measured:\n  tcp sockbuf=0B:"), "{said}");
    assert!(said.out.contains("1 cell in 6 rounds"), "{said}");
    let said = listed("sockbuf=32KiB,64KiB");
    assert!(said.code() == 0 && !said.out.contains("Can't be measured"), "{said}");
}

#[test]
fn odd_sweeps_are_refused_before_anything_is_measured() {
    let dir = Scratch::new();
    for (words, why) in [
        (&["tcp"][..], "needs an axis"),
        (&["--over", "nodelay=on,off"], "needs a transport"),
        (&["tcp", "--over", "nodelay"], "NAME=LEVEL"),
        (&["tcp", "--over", "nodelay=on"], "1 level"),
        (&["tcp", "--over", "nodelay=on,on"], "a level twice"),
        (&["tcp", "--over", "nonsense=1,2"], "no transport has an option"),
        (&["tcp", "--over", "output=a,b"], "no transport has an option"),
        (&["tcp", "--over", "nodelay=on,off", "--over", "nodelay=off,on"], "named twice"),
        (&["tcp", "--over", "nodelay=on,off", "--rounds", "0"], "rounds"),
        (&["tcp", "--over", "nodelay=1,2"], "no cell of the sweep can be measured"),
        (&["tcp", "--over", "nodelay=on,off", "--", "--output", "x"], "--output is no flag for all cells"),
        (&["tcp", "--over", "nodelay=on,off", "--", "-ox"], "--output is no flag for all cells"),
        (&["tcp", "--over", "nodelay=on,off", "--", "-4qox"], "is no flag for all cells"),
        (&["tcp", "--over", "nodelay=on,off", "--budget", "1000000000h"], "at most"),
        (&["tcp", "--over", "nodelay=on,off", "--", "--flows", "1,2"], "a cell is one path"),
        (&["tcp", "--over", "nodelay=on,off", "--", "--nonsense"], "nonsense"),
        (&["nonsense", "--over", "nodelay=on,off"], "nonsense"),
        (&["tcp", "--plan", "absent.toml", "--over", "nodelay=on,off"], "absent.toml"),
        (&["--resume", "absent"], "no folder of a sweep"),
        (&["--show", "absent"], "no folder of a sweep"),
    ] {
        dir.run(&[&["sweep"], words].concat()).refuses(&[why]);
    }
    assert_eq!(dir.names(), Vec::<String>::new());
    for plan in [
        "{}",
        "not json",
        r#"{"schema":"pipegauge-sweep-plan/9","axes":[],"flags":[],"rounds":1,"budget":1,"seed":1}"#,
        r#"{"schema":"pipegauge-sweep-plan/1","axes":[{"name":"nodelay","levels":[]}],"transport":"tcp","flags":[],"rounds":1,"budget":1,"seed":1}"#,
        r#"{"schema":"pipegauge-sweep-plan/1","axes":[],"flags":[],"rounds":4000000000,"budget":1,"seed":1}"#,
        r#"{"schema":"pipegauge-sweep-plan/1","axes":[],"flags":[],"rounds":1,"budget":1e308,"seed":1}"#,
    ] {
        fs::create_dir_all(dir.path("odd")).unwrap();
        fs::write(dir.path("odd/sweep.json"), plan).unwrap();
        dir.run(&["sweep", "--resume", "odd"]).refuses(&["odd/sweep.json"]);
    }
}

#[test]
fn a_plan_in_toml_is_a_sweep_and_dry_run_measures_nothing() {
    let dir = Scratch::new();
    let plan = "transports = ['theory']\nrounds = 3\nbudget = '1s'\nflags = ['--sizes', '64']\n\
                [[over]]\nname = 'rate'\nvalues = ['1Gbit/s', '2Gbit/s']\n[[over]]\nname = 'check'\nvalues = [false, true]\n";
    fs::write(dir.path("plan.toml"), plan).unwrap();
    let said = dir.run(&["sweep", "--plan", "plan.toml", "--dry-run"]);
    assert!(said.code() == 0 && said.out.contains("4 cells in 3 rounds"), "{said}");
    assert_eq!(dir.names(), ["plan.toml"]);
    fs::write(dir.path("plan.toml"), plan.replace("rounds", "round")).unwrap();
    dir.run(&["sweep", "--plan", "plan.toml"]).refuses(&["plan.toml", "line 2"]);
}

#[test]
fn two_sweeps_never_measure_into_one_folder() {
    let dir = Scratch::new();
    let sweep = Running::start(
        dir.command(&[&loud()[..], &["--", "--sizes", "1,1MiB", "--trials", "200", "--repeats", "4"]].concat()),
    );
    until("a run", || (dir.path("known").is_dir() && runs(&dir.path("known")) >= 1).then_some(()));
    dir.run(&["sweep", "--resume", "known"]).refuses(&["another pipegauge measures into known"]);
    sweep.signal(Signal::INT);
    let said = sweep.end();
    // What was measured is shown; where no run had ended, there is nothing to show.
    assert!([1, 2].contains(&said.code()) && said.err.contains("--resume known"), "{said}");
}

#[test]
fn a_killed_sweep_leaves_no_laboratory_that_measures_beside_the_next() {
    if !super::laboratory::possible() {
        return;
    }
    let dir = Scratch::new();
    let words = ["sweep", "tcp", "--lab", "--over", "nodelay=on,off", "--budget", "600s", "-q", "-o", "long"];
    let sweep = Running::start(dir.command(&words));
    let lab = until("a laboratory", || children(sweep.pid(), "lab").pop());
    // It has begun to measure.
    until("a run file", || (dir.path("long").is_dir() && runs(&dir.path("long")) >= 1).then_some(()));
    sweep.signal(Signal::KILL);
    all_end(&[lab]);
}

#[test]
fn settings_of_the_network_are_swept_in_laboratories_alone() {
    let dir = Scratch::new();
    dir.run(&["sweep", "tcp", "--over", "mtu=1500,9000"]).refuses(&["mtu", "--lab"]);
    if !super::laboratory::possible() {
        return;
    }
    let axes = ["--over", "mtu=1500,9000", "--over", "net.ipv4.tcp_sack=0,1", "--over", "nodelay=on,off"];
    let said = dir.run(
        &[
            &["sweep", "tcp", "--lab", "--rounds", "1", "--budget", "60s", "-q", "-o", "net", "--json"][..],
            &axes,
            &COUNTED,
        ]
        .concat(),
    );
    assert_eq!(said.code(), 0, "{said}");
    assert_eq!(json(&said.out)["runs"], serde_json::json!([8, 8]));
    // Each run says what took effect on its own host.
    let mss = |cell: &str| {
        let run = fs::read_to_string(dir.path(&format!("net/cell-{cell}-round-001.run.jsonl"))).unwrap();
        let opened = run.lines().find(|line| line.contains(r#""event":"path""#)).map(json).unwrap();
        opened["near_effective"]["mss"].as_u64().unwrap()
    };
    assert_eq!((mss("0001"), mss("0005")), (1448, 8948));
    // What can't be made fails its cells, and the others are measured.
    let said = dir.run(
        &[
            &[
                "sweep",
                "tcp",
                "--lab",
                "--rounds",
                "1",
                "--budget",
                "60s",
                "-q",
                "-o",
                "half",
                "--over",
                "net.no.such=default,1",
            ][..],
            &COUNTED,
        ]
        .concat(),
    );
    assert!(said.code() == 1 && said.out.contains("tcp net.no.such=1: in 1 of 1 rounds:"), "{said}");
    assert!(said.out.contains("no setting that a host"), "{said}");
}

#[test]
fn a_strangers_folder_writes_nowhere_else_and_holds_nobody() {
    let dir = Scratch::new();
    let counted = ["--", "--sizes", "64", "--trials", "2", "--repeats", "4", "--pin", "none"];
    let said = dir.run(
        &[&["sweep", "theory", "--over", "rate=1Gbit/s,2Gbit/s", "--rounds", "1", "--quiet", "-o", "s"], &counted[..]]
            .concat(),
    );
    assert_eq!(said.code(), 0, "{said}");
    let plan = dir.path("s/sweep.json");
    let good = fs::read_to_string(&plan).unwrap();
    let outside = dir.path("outside").display().to_string();
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut plan = json(&good);
        change(&mut plan);
        plan.to_string()
    };
    let flagged = |flags: &[String]| with(&|plan| plan["flags"] = serde_json::json!(flags));
    let as_path = |path: String| {
        with(&|plan| {
            plan["transport"] = serde_json::json!(path);
            plan["flags"] = serde_json::json!(["theory"]);
            plan["axes"] = serde_json::json!([{ "name": "align", "levels": ["64", "128"] }]);
        })
    };
    let run = dir.path("s/cell-0001-round-001.run.jsonl");
    for odd in [
        flagged(&[format!("-o{outside}")]),
        flagged(&[format!("-qo{outside}")]),
        flagged(&[format!("-4qo{outside}")]),
        flagged(&[format!("--html={outside}")]),
        as_path(format!("-o{outside}")),
        as_path(format!("--trace={outside}")),
        as_path(format!("--near-under=touch {outside};")),
    ] {
        fs::write(&plan, &odd).unwrap();
        let _ = fs::remove_file(&run);
        let said = dir.run(&["sweep", "--resume", "s", "--quiet"]);
        assert_eq!(said.code(), 2, "{odd}: {said}");
        assert!(!dir.path("outside").exists(), "{odd}: {said}");
    }
    fs::write(&plan, &good).unwrap();
    let fifo = |at: &Path| assert!(std::process::Command::new("mkfifo").arg(at).status().unwrap().success());
    // Whatever lies where the sweep writes is replaced.
    let places = ["cell-0001-round-001.run.jsonl", "sweep.html"].map(|name| dir.path("s").join(name));
    places.iter().for_each(|place| {
        let _ = fs::remove_file(place);
        fifo(place);
    });
    let said = Running::start(dir.command(&["sweep", "--resume", "s", "--quiet"])).end();
    assert_eq!(said.code(), 0, "{said}");
    assert!(places.iter().all(|place| place.is_file()));
    for place in &places {
        fs::remove_file(place).unwrap();
        std::os::unix::fs::symlink(&outside, place).unwrap();
    }
    assert_eq!(dir.run(&["sweep", "--resume", "s", "--quiet"]).code(), 0);
    assert!(!dir.path("outside").exists() && places.iter().all(|place| place.symlink_metadata().unwrap().is_file()));
    fs::remove_file(&plan).unwrap();
    fifo(&plan);
    for what in ["--show", "--resume"] {
        Running::start(dir.command(&["sweep", what, "s"])).end().refuses(&["sweep.json", "named pipe"]);
    }
}
