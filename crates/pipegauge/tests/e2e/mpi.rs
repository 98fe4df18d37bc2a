//! Open MPI and MPICH as modules: their processes are started together by their own launchers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use super::processes::{a_trial, command_line, send};
use super::support::{
    HISTORY, LONG, Running, Said, Scratch, alone, binary, installed, json, only_never_at_once, skip, until,
};

/// What a rank needs that sees the end of another one: one that does not waits for two minutes.
const BEFORE_MEETING: Duration = Duration::from_secs(100);

/// The modules that can be made here, in a folder; none, having said why, where there is no MPI.
pub(super) fn modules(dir: &Scratch) -> Option<(PathBuf, Vec<&'static str>)> {
    alone();
    let there =
        |one: &&str| installed(&format!("mpicc.{one}")).is_some() && installed(&format!("mpiexec.{one}")).is_some();
    let names: Vec<&str> = ["openmpi", "mpich"].into_iter().filter(there).collect();
    if names.len() < 2 {
        skip(&format!(
            "MPI is not installed whole (mpicc and mpiexec of Open MPI and MPICH); there: {}",
            names.join(", ")
        ));
    }
    if names.is_empty() {
        return None;
    }
    Some((built(dir, "mpi", &names), names))
}

/// The folder into which modules are built, of those whose source is in a folder of `modules/`.
pub(super) fn built(dir: &Scratch, source: &str, names: &[&str]) -> PathBuf {
    let out = dir.path("modules");
    fs::create_dir_all(&out).unwrap();
    let made = Command::new("make")
        .args(["-s", "-C", &format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../modules/{}"), source)])
        .arg(format!("OUT={}", out.display()))
        .args(names)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    out
}

/// The command, as it finds modules in this folder.
pub(super) fn command(dir: &Scratch, modules: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(args)
        .env("PIPEGAUGE_MODULES", modules)
        .env(HISTORY.0, HISTORY.1)
        .current_dir(dir.path("."))
        .stdin(Stdio::null());
    command
}

/// Processes whose command line holds this.
pub(super) fn named(words: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
    all.filter(|pid| command_line(*pid).contains(words)).collect()
}

#[test]
fn both_are_measured_in_one_run_without_a_launcher_being_typed() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let sizes = "1,4095,4097,65535,65537,1MiB,16MiB";
    let counted = [
        "--sizes",
        sizes,
        "--trials",
        "2",
        "--repeats",
        "3",
        "--pin",
        "none",
        "--check",
        "--no-html",
        "-q",
        "-o",
        "x.run.jsonl",
        "--budget",
        "60s",
        // MPICH polls, and gets few turns where other programs hold both CPUs.
        "--patience",
        "60s",
    ];
    let said = command(&dir, &modules, &[&["run", "unix"][..], &names, &counted].concat()).output().unwrap();
    let err = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(0), "{err}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let points: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"point""#)).map(json).collect();
    assert_eq!(points.len(), 7 * (1 + names.len()), "{run}");
    let synchronous: Vec<String> = names.iter().map(|name| format!("{name}:mode=synchronous,wait=yield")).collect();
    let synchronous: Vec<&str> = synchronous.iter().map(String::as_str).collect();
    for (pattern, file) in [("stream", "s.run.jsonl"), ("bidirectional", "b.run.jsonl"), ("burst", "u.run.jsonl")] {
        let counted = [
            "--pattern",
            pattern,
            "--sizes",
            "64,64KiB",
            "--trials",
            "2",
            "--repeats",
            "20",
            "--check",
            "--no-html",
            "-q",
            "-o",
            file,
            "--budget",
            "60s",
            "--patience",
            "60s",
        ];
        let said = command(&dir, &modules, &[&["run"][..], &synchronous, &counted].concat()).output().unwrap();
        assert_eq!(said.status.code(), Some(0), "{pattern}: {}", String::from_utf8_lossy(&said.stderr));
    }
}

/// Flags of a run that counts what it does, checks all contents, and has no page.
const COUNTED: [&str; 13] = [
    "--trials",
    "2",
    "--perturb",
    "0",
    "--check",
    "--no-html",
    "-q",
    "--budget",
    "120s",
    "--patience",
    "60s",
    "-o",
    "x.run.jsonl",
];

/// Runs these paths so, and gives the lines of the run file.
fn counted(dir: &Scratch, modules: &Path, paths: &[String], more: &[&str]) -> Vec<serde_json::Value> {
    let _ = fs::remove_file(dir.path("x.run.jsonl"));
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let said = command(dir, modules, &[&["run"][..], &paths, &COUNTED, more].concat()).output().unwrap();
    assert_eq!(said.status.code(), Some(0), "{paths:?} {more:?}: {}", String::from_utf8_lossy(&said.stderr));
    fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect()
}

/// Fails unless each of these paths has a point. Where the machine is busy, a run leaves out sizes that would take too long.
fn all_measured(run: &[serde_json::Value], paths: usize) {
    for path in 0..paths {
        let own = |line: &serde_json::Value| line["event"] == "point" && line["path"].as_u64() == Some(path as u64);
        assert!(run.iter().any(own), "path {path}: {run:?}");
    }
}

#[test]
fn what_is_put_and_got_is_there_in_both_kinds_of_windows() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let mut paths: Vec<String> = names.iter().map(|name| format!("{name}:wait=yield")).collect();
    for name in &names {
        let path = format!("{name}:window=dynamic,wait=yield");
        let line = ["run", &path, "--pattern", "put", "--sizes", "64", "--no-html", "-q", "-o", "try.run.jsonl"];
        let said =
            command(&dir, &modules, &[&line[..], &["--trials", "1", "--repeats", "5"]].concat()).output().unwrap();
        let _ = fs::remove_file(dir.path("try.run.jsonl"));
        if String::from_utf8_lossy(&said.stderr).contains("making a window") {
            skip(&format!("{path}: this system lets no process copy the memory of another"));
        } else {
            paths.push(path);
        }
    }
    for pattern in ["put", "get"] {
        for more in
            [&["--sizes", "1,4097,1MiB", "--repeats", "20"][..], &["--sizes", "64", "--repeats", "2000", "--reconnect"]]
        {
            let run = counted(&dir, &modules, &paths, &[&["--pattern", pattern, "--pin", "none"][..], more].concat());
            all_measured(&run, paths.len());
            for (one, path) in run.iter().filter(|line| line["event"] == "path").zip(&paths) {
                let kind = if path.contains("dynamic") { "dynamic" } else { "allocated" };
                assert_eq!(one["far_effective"]["options"]["window"], kind, "{one}");
            }
        }
    }
    if names.contains(&"openmpi") {
        let line = ["run", "openmpi:over=tcp", "--pattern", "put", "--sizes", "64", "--no-html", "-q"];
        let said = command(&dir, &modules, &line).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(2) && err.contains("no memory"), "{err}");
        let line = ["run", "openmpi:window-size=1MiB", "--pattern", "put", "--sizes", "4MiB", "--no-html", "-q"];
        let said = command(&dir, &modules, &[&line[..], &["-o", "small.run.jsonl"]].concat()).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() != Some(0) && err.contains("window-size"), "{err}");
    }
}

#[test]
fn pairs_of_ranks_have_memory_of_their_own() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let more = ["--pattern", "put", "--pairs", "2", "--sizes", "4KiB", "--repeats", "500", "--pin", "none"];
        let path = format!("{name}:wait=yield");
        let line = [&["run", &path][..], &COUNTED, &more].concat();
        let _ = fs::remove_file(dir.path("x.run.jsonl"));
        let said = Running::start(command(&dir, &modules, &line)).end();
        // Whether short trials meet is the machine's affair; what was put, and that each pair did its trials, is not.
        assert!(said.measured() || only_never_at_once(&said), "{name}: {said}");
        let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
        let trials: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"trial""#)).map(json).collect();
        let both = |trial: &serde_json::Value| trial["flows"]["each"].as_array().is_some_and(|each| each.len() == 2);
        assert!(trials.len() >= 2 && trials.iter().all(both), "{name}: {run}");
    }
}

#[test]
fn posted_sends_and_receives_that_are_kept_posted_arrive_as_they_were() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let with = |options: &str| names.iter().map(|name| format!("{name}:wait=yield{options}")).collect::<Vec<_>>();
    for more in [&[][..], &["--reverse"]] {
        let args =
            [&["--pattern", "post", "--sizes", "1,4097,1MiB", "--repeats", "20", "--pin", "none"][..], more].concat();
        let run = counted(&dir, &modules, &with(""), &args);
        all_measured(&run, names.len());
    }
    for (pattern, options) in [
        ("ping-pong", ",ahead=4,ahead-size=16MiB"),
        ("bidirectional", ",ahead=4,ahead-size=16MiB"),
        ("stream", ",ahead=1,ahead-size=16MiB,mode=synchronous"),
        ("request", ",ahead=4,ahead-size=16MiB"),
        ("post", ",ahead=2,ahead-size=16MiB"),
    ] {
        let args = ["--pattern", pattern, "--sizes", "1,4097,16MiB", "--repeats", "3", "--pin", "none"];
        let run = counted(&dir, &modules, &with(options), &args);
        all_measured(&run, names.len());
        let opened = run.iter().find(|line| line["event"] == "path").unwrap();
        assert_eq!(opened["near_effective"]["options"]["ahead-size"], "16777216", "{opened}");
    }
    // A message that is larger than what is kept posted is none of this path's.
    let run = counted(&dir, &modules, &with(",ahead=2,ahead-size=4KiB"), &["--sizes", "4KiB,4097", "--repeats", "3"]);
    all_measured(&run, names.len());
    assert!(run.iter().all(|line| line["event"] != "point" || line["size"] == 4096), "{run:?}");
    for (options, why) in [("ahead=257", "0 to 256"), ("ahead=64,ahead-size=64MiB", "1 GiB")] {
        let path = format!("{}:{options}", names[0]);
        let said = command(&dir, &modules, &["run", &path, "--sizes", "64", "--no-html", "-q"]).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(2) && err.contains(why), "{options}: {err}");
    }
}

/// A library that is loaded before MPI's: it makes a file `NAME` of each blocking call that moves the message of this size.
const OVERHEARD: &str = r#"
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>
#define HEARD(call) do { if (n == 4097) close(open(#call ".called", O_CREAT | O_WRONLY, 0600)); } while (0)
int MPI_Send(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm)
{
    HEARD(MPI_Send);
    return PMPI_Send(from, n, of, to, tag, comm);
}
int MPI_Recv(void *into, int n, MPI_Datatype of, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    HEARD(MPI_Recv);
    return PMPI_Recv(into, n, of, from, tag, comm, status);
}
int MPI_Sendrecv(const void *out, int n, MPI_Datatype of, int to, int at, void *into, int m, MPI_Datatype in, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    HEARD(MPI_Sendrecv);
    return PMPI_Sendrecv(out, n, of, to, at, into, m, in, from, tag, comm, status);
}
"#;

#[test]
fn blocking_messages_go_by_the_calls_that_block() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    fs::write(dir.path("heard.c"), OVERHEARD).unwrap();
    let calls = ["MPI_Send.called", "MPI_Recv.called", "MPI_Sendrecv.called"];
    for name in &names {
        let library = dir.path(&format!("{name}-heard.so"));
        let made = Command::new(format!("mpicc.{name}"))
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(dir.path("heard.c"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let under = format!("env LD_PRELOAD={}", library.display());
        let heard = |mode: &str, pattern: &str| {
            calls.iter().for_each(|call| drop(fs::remove_file(dir.path(call))));
            let path = [format!("{name}{mode}")];
            let args = ["--pattern", pattern, "--sizes", "4097", "--repeats", "3", "--peer-under", &under];
            counted(&dir, &modules, &path, &[&args[..], &["--near-under", &under]].concat());
            calls.map(|call| dir.path(call).exists())
        };
        assert_eq!(heard(":mode=blocking", "ping-pong"), [true, true, false], "{name}");
        assert!(heard(":mode=blocking", "bidirectional")[2], "{name}");
        assert_eq!(heard("", "ping-pong"), [false; 3], "{name}");
    }
    let blocking: Vec<String> = names.iter().map(|name| format!("{name}:mode=blocking")).collect();
    // Ranks that wait in the library spin: a few sizes, on both sides of the eager limits.
    for pattern in ["ping-pong", "stream", "bidirectional"] {
        let run =
            counted(&dir, &modules, &blocking, &["--pattern", pattern, "--sizes", "1,65537,1MiB", "--repeats", "3"]);
        all_measured(&run, names.len());
        let opened = run.iter().find(|line| line["event"] == "path").unwrap();
        assert_eq!(opened["near_effective"]["options"]["mode"], "blocking", "{opened}");
    }
    for (options, pattern, why) in [
        ("mode=blocking", "post", "can't run the post pattern"),
        ("mode=blocking,ahead=2", "ping-pong", "leave out mode=blocking, or ahead"),
        ("mode=blocking,wait=yield", "ping-pong", "leave out mode=blocking, or wait=yield"),
    ] {
        let path = format!("{}:{options}", names[0]);
        let args = ["run", &path, "--pattern", pattern, "--sizes", "64", "--no-html", "-q"];
        let said = command(&dir, &modules, &args).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(2) && err.contains(why), "{options}: {err}");
    }
}

#[test]
fn ranks_on_one_cpu_take_turns_where_they_yield() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let paths: Vec<String> = names.iter().map(|name| format!("{name}:wait=yield")).collect();
    for pattern in ["ping-pong", "stream", "post"] {
        let args = ["--pattern", pattern, "--sizes", "1,64KiB", "--repeats", "200", "--pin", "0,0"];
        let run = counted(&dir, &modules, &paths, &args);
        all_measured(&run, paths.len());
        let opened = run.iter().find(|line| line["event"] == "path").unwrap();
        assert_eq!(opened["far_effective"]["options"]["wait"], "yield", "{opened}");
    }
}

/// Who kept both to it makes no difference: a pin, whoever started the command, or its ranks' own launcher.
#[test]
fn ranks_on_one_cpu_are_warned_of_and_ranks_on_two_are_not() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let warned = |run: &[serde_json::Value]| run.iter().filter(|line| line["code"] == "one-cpu").count();
    for name in names {
        let path = format!("{name}:wait=yield");
        let args = [&["run", &path, "--sizes", "64", "--repeats", "20"][..], &COUNTED].concat();
        let under = |mut words: Command, line: &Command| {
            words.arg(line.get_program()).args(line.get_args()).current_dir(dir.path(".")).stdin(Stdio::null());
            words.envs(line.get_envs().filter_map(|(name, value)| Some((name, value?))));
            words
        };
        let mut one = Command::new(installed("taskset").unwrap());
        one.args(["-c", "0"]);
        let run = went_well(&dir, under(one, &command(&dir, &modules, &args)));
        assert_eq!(warned(&run), 1, "{name}: {run:?}");
        // A launcher that binds both to one CPU, and one that gives each its own: what the command sees of itself is alike.
        for (binds, times) in [("user:0,0", 1), ("user:0,1", 0)] {
            if name != "mpich" || host::allowed_cpus().len() < 2 {
                continue;
            }
            let mut own = Command::new(installed("mpiexec.mpich").unwrap());
            own.args(["-n", "2", "-bind-to", binds]);
            let line = under(own, &command(&dir, &modules, &args));
            let _ = fs::remove_file(dir.path("x.run.jsonl"));
            let said = { line }.output().unwrap();
            let err = String::from_utf8_lossy(&said.stderr);
            assert!(said.status.success() && !err.contains("would take turns"), "{binds}: {err}");
            let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
            assert_eq!(run.matches(r#""code":"one-cpu""#).count(), times, "{binds}: {run}");
        }
    }
}

#[test]
fn what_carries_messages_and_the_eager_limit_are_set_before_the_library_begins() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let counted = [
        "--sizes",
        "64,16KiB",
        "--trials",
        "2",
        "--repeats",
        "5",
        "--check",
        "--no-html",
        "-q",
        "--budget",
        "60s",
        "--patience",
        "60s",
    ];
    let paths: Vec<String> = names
        .iter()
        .flat_map(|name| [format!("{name}:over=tcp"), format!("{name}:over=tcp,eager-limit=8KiB")])
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let said =
        command(&dir, &modules, &[&["run"][..], &paths, &counted, &["-o", "o.run.jsonl"]].concat()).output().unwrap();
    assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stderr));
    let run = fs::read_to_string(dir.path("o.run.jsonl")).unwrap();
    let opened: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"path""#)).map(json).collect();
    assert_eq!(opened.len(), paths.len(), "{run}");
    for one in &opened {
        assert_eq!(one["far_effective"]["options"]["over"], "tcp", "{one}");
    }
    // What Open MPI says of itself.
    for (one, limit) in opened.iter().filter(|one| one["transport"] == "openmpi").zip(["65536", "8192"]) {
        assert_eq!(one["near_effective"]["options"]["eager-limit"], limit, "{one}");
    }
    if names.contains(&"mpich") {
        let said = command(&dir, &modules, &["run", "mpich:eager-limit=8KiB", "--sizes", "64", "--no-html", "-q"]);
        let said = { said }.output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(2) && err.contains("over=tcp"), "{err}");
    }
}

/// The way of `explain` from a step at the eager limit to its proof. Whether this machine shows the step is not asked: the curve that has it is a
/// model's, under what a real path said of itself.
#[test]
fn a_step_at_the_eager_limit_of_open_mpi_leads_to_the_library_with_twice_as_much() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    if !names.contains(&"openmpi") {
        return skip("Open MPI is not installed whole");
    }
    let says = |line: &serde_json::Value| line["near_effective"]["options"]["eager-limit"].clone();
    let real = |limit: &str| {
        let run = counted(
            &dir,
            &modules,
            &[format!("openmpi:over=tcp,eager-limit={limit}")],
            &["--sizes", "64,64KiB", "--repeats", "5"],
        );
        let opened = run.iter().find(|line| line["event"] == "path").unwrap();
        (run[0]["plan"]["paths"].clone(), opened.clone())
    };
    let (paths, opened) = real("16KiB");
    assert_eq!(says(&opened), "16384", "{opened}");
    let model = "eager-limit=16KiB,noise=1%,round-noise=2%";
    let line = ["run", "theory", "--theory", model, "--to", "1MiB", "--budget", "8s", "--no-html", "-q"];
    let said = dir.run(&[&line[..], &["-o", "model.run.jsonl"]].concat());
    assert!(said.code() <= 1, "{said}");
    let mut run: Vec<_> = fs::read_to_string(dir.path("model.run.jsonl")).unwrap().lines().map(json).collect();
    run[0]["command"] = serde_json::json!(["pipegauge", "run", "openmpi:over=tcp,eager-limit=16KiB"]);
    run[0]["plan"]["paths"] = paths;
    for line in run.iter_mut().filter(|line| line["event"] == "path") {
        for of in ["transport", "capabilities", "near_effective", "far_effective"] {
            line[of] = opened[of].clone();
        }
    }
    let run: String = run.iter().map(|line| format!("{line}\n")).collect();
    fs::write(dir.path("step.run.jsonl"), run).unwrap();
    let explain = |more: &[&str]| {
        let said = command(&dir, &modules, &[&["explain", "step.run.jsonl", "-q", "--json"][..], more].concat());
        let said = { said }.output().unwrap();
        let document = json(&String::from_utf8_lossy(&said.stdout));
        assert_eq!(document["breaks"].as_array().unwrap().len(), 1, "{document}");
        let suspect = &document["breaks"][0]["suspects"][0];
        assert_eq!((&suspect["fact"]["knob"], &suspect["fact"]["bytes"]), (&"eager-limit".into(), &16_384.into()));
        assert_eq!((&suspect["times"], &suspect["off"]), (&1.0.into(), &0.0.into()), "{document}");
        document
    };
    let change = "a limit of 32 KiB instead of 16 KiB";
    let document = explain(&["--dry-run"]);
    let planned = document["breaks"][0]["planned"].as_array().unwrap();
    assert!(planned.iter().any(|to| to["knob"] == "eager-limit" && to["change"] == change), "{document}");
    assert!(!dir.names().iter().any(|name| name.contains("-explain-")), "nothing is measured");
    // Measured again it is Open MPI with the run's own limit, and where that shows the step, with each knob moved.
    let document = explain(&["--budget", "2s"]);
    let tested = document["breaks"][0]["tested"].as_array().unwrap();
    let moved = tested.iter().find(|to| to["knob"] == "eager-limit");
    assert!(moved.map_or(tested.is_empty(), |to| to["change"] == change), "{document}");
    let files: Vec<&str> = document["run_files"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    assert!(files.iter().any(|file| file.ends_with("-again.run.jsonl")), "{document}");
    for file in files {
        let run = fs::read_to_string(dir.path(file)).unwrap();
        let Some(opened) = run.lines().map(json).find(|line| line["event"] == "path") else { continue };
        let limit = if file.ends_with("-eager-limit.run.jsonl") { "32768" } else { "16384" };
        assert_eq!((&opened["transport"], says(&opened)), (&"openmpi".into(), limit.into()), "{file}: {opened}");
    }
    assert_eq!(says(&real("32KiB").1), "32768", "what the limit is moved to takes effect");
}

#[test]
fn a_killed_rank_ends_its_path_and_nothing_stays_behind() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for path in names.iter().flat_map(|name| ["wait=yield", "mode=blocking"].map(|how| format!("{name}:{how}"))) {
        let (name, file) = (&path, format!("{path}.run.jsonl"));
        let mut run = Running::start(command(&dir, &modules, &[&["run", &path, "-o", &file][..], &LONG].concat()));
        a_trial(&mut run, &dir.path(&file));
        // The far process of this run: it is told apart by the command that started it. One that is killed as its round is over anyway
        // ends nothing, so the next one is killed, too.
        let mark = format!("/proc/{}/exe peer", run.pid());
        until("the run's end", || {
            for far in named(&mark).into_iter().filter(|pid| !command_line(*pid).contains("seat")) {
                send(far, Signal::KILL);
            }
            (!run.runs()).then_some(())
        });
        let mark = format!("/proc/{}/exe", run.pid());
        let said = run.end();
        assert!([1, 2].contains(&said.code()) && !said.err.is_empty(), "{name}: {said}");
        until("no process of the run", || named(&mark).is_empty().then_some(()));
    }
}

#[test]
fn a_killed_command_leaves_no_rank_and_no_launcher() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let (path, file) = (format!("{name}:wait=yield"), format!("{name}.run.jsonl"));
        let line = [&["run", &path, "-o", &file, "--patience", "60s"][..], &LONG].concat();
        let mut run = Running::start(command(&dir, &modules, &line));
        a_trial(&mut run, &dir.path(&file));
        let mark = format!("/proc/{}/exe", run.pid());
        run.signal(Signal::KILL);
        drop(run);
        until("no process of the run", || named(&mark).is_empty().then_some(()));
    }
}

#[test]
fn pairs_of_ranks_run_at_once() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let counted =
            ["--sizes", "64,64KiB", "--trials", "2", "--repeats", "20", "--check", "--pin", "none", "--budget", "60s"];
        // Four ranks that spin would leave no CPU to those that have to get ready.
        let path = format!("{name}:wait=yield");
        let line = [
            "run",
            &path,
            "--pairs",
            "2",
            "--pattern",
            "stream",
            "--no-html",
            "-q",
            "-o",
            &format!("{name}.run.jsonl"),
        ];
        let said = command(&dir, &modules, &[&line[..], &counted].concat()).output().unwrap();
        assert_eq!(said.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&said.stderr));
        let run = fs::read_to_string(dir.path(&format!("{name}.run.jsonl"))).unwrap();
        let opened = run.lines().find(|line| line.contains(r#""event":"path""#)).map(json).unwrap();
        assert_eq!(opened["members"].as_array().map(Vec::len), Some(4), "{name}: {opened}");
    }
}

/// The command, started `n` times by this MPI's own launcher, where no launcher can be found: `between` are words between launcher and command.
fn launched(dir: &Scratch, modules: &Path, name: &str, n: &str, between: &[&str], args: &[&str]) -> Command {
    let own = command(dir, modules, args);
    let mut line = Command::new(installed(&format!("mpiexec.{name}")).unwrap());
    line.args(["-n", n]);
    if name == "openmpi" {
        line.args(["--oversubscribe", "--bind-to", "none"]);
    }
    line.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .envs(["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|name| (name, "1")))
        .args(between)
        .args([installed("env").unwrap().as_os_str(), "PATH=/nonexistent".as_ref(), own.get_program()])
        .args(own.get_args())
        .current_dir(dir.path("."))
        .stdin(Stdio::null());
    line
}

/// The lines of a run that went well.
fn went_well(dir: &Scratch, mut line: Command) -> Vec<serde_json::Value> {
    let _ = fs::remove_file(dir.path("x.run.jsonl"));
    let said = line.output().unwrap();
    assert_eq!(said.status.code(), Some(0), "{line:?}: {}", String::from_utf8_lossy(&said.stderr));
    fs::read_to_string(dir.path("x.run.jsonl")).unwrap().lines().map(json).collect()
}

#[test]
fn ranks_of_the_users_own_launcher_are_those_of_the_path_in_every_round() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let path = format!("{name}:wait=yield");
        let args = [&["run", &path, "shm", "--sizes", "64,4KiB", "--repeats", "20"][..], &COUNTED].concat();
        let run = went_well(&dir, launched(&dir, &modules, name, "2", &[], &args));
        let count = |event| run.iter().filter(|line| line["event"] == event).count();
        // A look at all sizes and two rounds, of each path.
        assert_eq!((count("point"), count("block")), (4, 6), "{name}: {run:?}");
        let more =
            ["--pattern", "allreduce", "--topology", "group", "--members", "3", "--sizes", "64", "--repeats", "20"];
        let args = [&["run", &path][..], &more, &COUNTED].concat();
        let run = went_well(&dir, launched(&dir, &modules, name, "3", &[], &args));
        let opened = run.iter().find(|line| line["event"] == "path").unwrap();
        assert_eq!(opened["members"].as_array().map(Vec::len), Some(3), "{name}: {opened}");
    }
}

/// Hydra lets the other ranks be when one ends.
#[test]
fn what_rank_0_refuses_ends_all_ranks_of_the_users_own_launcher() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let args = ["run", name, "--pattern", "barrier", "--topology", "group", "--members", "2"];
        let began = std::time::Instant::now();
        let said = launched(&dir, &modules, name, "3", &[], &[&args[..], &COUNTED].concat()).output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr);
        assert!(!said.status.success() && err.contains("takes 2 processes here"), "{name}: {err}");
        assert!(!err.contains("did not begin"), "{name}: {err}");
        // One that did not see rank 0 at all looks for it after ten seconds.
        assert!(began.elapsed() < BEFORE_MEETING, "{name}: {:?}", began.elapsed());
    }
}

/// The launcher is this test: no rank is ended with another one.
#[test]
fn a_rank_says_that_rank_0_was_killed_while_it_measured_another_path() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let args = [&["run", "shm", names[0], "-o", "x.run.jsonl"][..], &LONG].concat();
    let rank = |rank: &str| {
        let mut line = command(&dir, &modules, &args);
        line.env("PMI_RANK", rank).env("PMI_SIZE", "2");
        Running::start(line)
    };
    let (mut first, other) = (rank("0"), rank("1"));
    a_trial(&mut first, &dir.path("x.run.jsonl"));
    first.signal(Signal::KILL);
    drop(first);
    let began = std::time::Instant::now();
    let Said { status, err, .. } = other.end();
    assert!(status.code() == Some(2) && err.contains("rank 0 of mpiexec ended before it began to measure"), "{err}");
    assert!(began.elapsed() < BEFORE_MEETING, "{:?}", began.elapsed());
}

#[test]
fn two_sides_of_a_run_take_turns_between_ranks_of_the_users_own_launcher() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let path = format!("{name}:wait=yield");
        let args = ["run", &path, "--sizes", "64,4KiB", "--repeats", "20", "--vs", "--cache cold"];
        let mut line = launched(&dir, &modules, name, "2", &[], &[&args[..], &COUNTED].concat());
        let said = line.output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr);
        assert!(matches!(said.status.code(), Some(0)), "{name}: {err}");
        for side in ["a", "b"] {
            let file = dir.path(&format!("x.{side}.run.jsonl"));
            let run: Vec<_> = fs::read_to_string(&file).unwrap().lines().map(json).collect();
            let count = |event| run.iter().filter(|line| line["event"] == event).count();
            assert_eq!((count("point"), count("block")), (2, 3), "{name} {side}: {run:?}");
            fs::remove_file(file).unwrap();
        }
    }
}

/// Processes that work in a test's directory.
fn within(dir: &Scratch) -> Vec<u32> {
    let here = fs::canonicalize(dir.path(".")).unwrap();
    let is_here = |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == here);
    named("").into_iter().filter(is_here).collect()
}

fn is_rank_1(pid: u32) -> bool {
    let words = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0);
    words.any(|word| [&b"PMI_RANK=1"[..], b"OMPI_COMM_WORLD_RANK=1"].contains(&word))
}

/// Whether the launcher ends the other ranks with one that was killed, or leaves that to them as srun may.
#[test]
fn a_rank_that_is_killed_ends_both_sides_of_a_run() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let leaves = if name == "mpich" { "-disable-auto-cleanup" } else { "--enable-recovery" };
        for between in [&[][..], &[leaves]] {
            let (path, file) = (format!("{name}:wait=yield"), format!("{name}-{}.run.jsonl", between.len()));
            let args = ["run", &path, "--vs", "--cache cold", "-o", &file];
            let mut run = Running::start(launched(&dir, &modules, name, "2", between, &[&args[..], &LONG].concat()));
            a_trial(&mut run, &dir.path(&file.replace(".run", ".b.run")));
            let ranks: Vec<u32> = within(&dir).into_iter().filter(|pid| is_rank_1(*pid)).collect();
            assert!(!ranks.is_empty(), "{name} {between:?}: rank 1 was not found");
            let began = std::time::Instant::now();
            for rank in ranks {
                send(rank, Signal::KILL);
            }
            let said = run.end();
            // One that leaves the end to its processes has a code of its own.
            assert!(said.code() != 0 || name == "openmpi" && !between.is_empty(), "{name} {between:?}: {said}");
            if name == "openmpi" && !between.is_empty() {
                said.complains(&["of the launcher"]);
            }
            assert!(!said.err.is_empty(), "{name} {between:?}: {said}");
            assert!(began.elapsed() < BEFORE_MEETING, "{name} {between:?}: {:?}", began.elapsed());
            until("no process of the run", || within(&dir).is_empty().then_some(()));
        }
    }
}

/// Slurm's variables with Hydra's world behind them.
#[test]
fn a_step_of_slurm_is_such_a_launcher_and_a_shell_may_stand_between() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    if !names.contains(&"mpich") {
        return;
    }
    let step = "SLURM_PROCID=$PMI_RANK SLURM_STEP_NUM_TASKS=$PMI_SIZE exec sh -c '\"$@\"; exit $?' sh \"$@\"";
    let args = [&["run", "mpich:wait=yield", "--sizes", "64", "--repeats", "20"][..], &COUNTED].concat();
    let line = launched(&dir, &modules, "mpich", "2", &["sh", "-c", step, "sh"], &args);
    assert!(went_well(&dir, line).iter().any(|line| line["event"] == "point"));
}

#[test]
fn what_ranks_of_the_users_own_launcher_cannot_be_is_said() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for (more, size, says) in [
        (&[][..], "3", "takes 2 processes here"),
        (&["--pattern", "barrier"], "130", "as a path has at most 129 members"),
        (&["--pattern", "barrier", "--topology", "group", "--members", "130"], "130", "a group 2 to 129"),
        (&["--vs", "--near-under nice"], "2", "--near-under"),
        (&["--pattern", "barrier", "--topology", "group", "--members", "2,3"], "3", "one path"),
        (&["--near-under", "nice"], "2", "--near-under"),
    ] {
        let line = [&["run", names[0], "--no-html", "-q", "-o", "x.run.jsonl"][..], more].concat();
        let mut line = command(&dir, &modules, &line);
        let said = line.env("OMPI_COMM_WORLD_SIZE", size).env("OMPI_COMM_WORLD_RANK", "0").output().unwrap();
        let err = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(2) && err.contains(says), "{more:?}: {err}");
        assert!(!dir.path("x.run.jsonl").exists());
    }
}

#[test]
fn a_launcher_that_is_missing_is_named() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let said = command(&dir, &modules, &["run", names[0], "--sizes", "64", "--no-html", "-q"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(2) && err.contains("launcher"), "{err}");
}

#[test]
fn a_launched_module_is_judged_by_what_one_process_can_show() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    // Of MPICH some cases hang until the check gives up.
    for name in names.into_iter().filter(|name| *name == "openmpi") {
        let file = modules.join(format!("{name}.so")).display().to_string();
        let said = command(&dir, &modules, &["module", "check", &file, "--patience", "60"]).output().unwrap();
        let out = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.status.success() && out.contains("19 right, 0 wrong, 5 not tried"), "{name}: {out}");
    }
}
