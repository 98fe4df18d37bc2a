//! Open MPI and MPICH as modules: their processes are started together by their own launchers.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::processes::{command_line, send};
use super::support::{HISTORY, LONG, Running, Scratch, binary, installed, json, skip, until};

/// The modules that can be made here, in a folder; none, having said why, where there is no MPI.
fn modules(dir: &Scratch) -> Option<(PathBuf, Vec<&'static str>)> {
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
pub(super) fn command(dir: &Scratch, modules: &PathBuf, args: &[&str]) -> Command {
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
    let synchronous: Vec<String> = names.iter().map(|name| format!("{name}:mode=synchronous")).collect();
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

#[test]
fn a_killed_rank_ends_its_path_and_nothing_stays_behind() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    for name in names {
        let file = format!("{name}.run.jsonl");
        let mut run = Running::start(command(&dir, &modules, &[&["run", name, "-o", &file][..], &LONG].concat()));
        let trial =
            || fs::read_to_string(dir.path(&file)).is_ok_and(|text| text.contains(r#""event":"trial""#)).then_some(());
        until("a trial", trial);
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
        let file = format!("{name}.run.jsonl");
        let run = Running::start(command(&dir, &modules, &[&["run", name, "-o", &file][..], &LONG].concat()));
        until("a trial", || {
            fs::read_to_string(dir.path(&file)).is_ok_and(|text| text.contains(r#""event":"trial""#)).then_some(())
        });
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
        let line =
            ["run", name, "--pairs", "2", "--pattern", "stream", "--no-html", "-q", "-o", &format!("{name}.run.jsonl")];
        let said = command(&dir, &modules, &[&line[..], &counted].concat()).output().unwrap();
        assert_eq!(said.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&said.stderr));
        let run = fs::read_to_string(dir.path(&format!("{name}.run.jsonl"))).unwrap();
        let opened = run.lines().find(|line| line.contains(r#""event":"path""#)).map(json).unwrap();
        assert_eq!(opened["members"].as_array().map(Vec::len), Some(4), "{name}: {opened}");
    }
}

#[test]
fn a_rank_of_the_users_own_launcher_is_told_to_start_the_command_alone() {
    let dir = Scratch::new();
    let Some((modules, names)) = modules(&dir) else { return };
    let said = command(&dir, &modules, &["run", names[0], "--sizes", "64", "--no-html", "-q", "-o", "x.run.jsonl"])
        .env("OMPI_COMM_WORLD_SIZE", "2")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(2) && err.contains("without mpirun"), "{err}");
    assert!(!dir.path("x.run.jsonl").exists());
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
        let said = command(&dir, &modules, &["module", "check", &file]).output().unwrap();
        let out = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.status.success() && out.contains("15 right, 0 wrong, 4 not tried"), "{name}: {out}");
    }
}
