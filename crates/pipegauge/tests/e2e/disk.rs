//! A disk that is full: a message with its cause, what was measured stays readable, the far side ends.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::processes::{all_end, far_processes};
use super::support::{HISTORY, LONG, Running, SHORT, SHORT_LOUD, Scratch, root, rounds, skip, until};

/// A file system of a few pages, for a test; taken away again when the test ends.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, bytes: &str) -> Option<Self> {
        std::fs::create_dir(at).expect("a directory");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={bytes}"))
            .arg("tmpfs")
            .arg(at)
            .status();
        done.is_ok_and(|s| s.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_limit_of_file_sizes_is_said_and_loses_nothing_that_was_written() {
    let dir = Scratch::new();
    let mut command = Command::new("sh");
    command.arg("-c").arg("ulimit -f 24; exec \"$0\" run memcpy -o x.run.jsonl \"$@\"").arg(super::support::binary());
    command.args(LONG).env(HISTORY.0, HISTORY.1).current_dir(dir.path("."));
    let said = Running::start(command).end();
    assert_eq!(said.code(), 1, "{said}");
    assert!(said.err.contains("File too large"), "{said}");
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn a_disk_that_fills_up_while_measuring_loses_nothing_that_was_written() {
    if !root() {
        return skip("only root can mount a small disk to fill");
    }
    let dir = Scratch::new();
    let Some(disk) = SmallDisk::mount(&dir.path("small"), "64k") else {
        return skip("this system does not let its root mount a tmpfs");
    };
    let mut args = vec!["run", "unix", "-o", "small/x.run.jsonl"];
    args.extend(LONG);
    let run = Running::start(dir.command(&args));
    let far = until("a far process", || far_processes(run.pid()).into_iter().next());
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["small/x.run.jsonl", "No space left", "free some space"]);
    all_end(&[far]);
    let shown = dir.run(&["show", "small/x.run.jsonl"]);
    assert_eq!(shown.code(), 0, "{shown}");
    // Pictures can't be written there either, and say so without leaving half of one.
    let said = dir.run(&["plot", "small/x.run.jsonl", "-o", "small/x.html"]);
    said.refuses(&["small/x.html", "No space left"]);
    let left: Vec<_> = std::fs::read_dir(dir.path("small")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["x.run.jsonl"]);
    drop(disk);
}

#[test]
fn a_full_disk_under_the_earlier_runs_costs_a_warning_and_no_figure() {
    if !root() {
        return skip("only root can mount a small disk to fill");
    }
    let dir = Scratch::new();
    let Some(disk) = SmallDisk::mount(&dir.path("small"), "64k") else {
        return skip("this system does not let its root mount a tmpfs");
    };
    let args = rounds("x.run.jsonl", &["memcpy"]);
    let run = || {
        let mut command = dir.command(&args);
        command.env(HISTORY.0, dir.path("small"));
        Running::start(command).end()
    };
    std::fs::write(dir.path("small/lock"), "").unwrap();
    // As much as there is room for.
    let _ = std::fs::write(dir.path("small/filled"), vec![0; 1 << 20]);
    let said = run();
    assert!(said.measured(), "{said}");
    said.complains(&["warning: this run of memcpy is not kept", "No space left"]);
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
    let mut left: Vec<_> = std::fs::read_dir(dir.path("small")).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["filled", "lock"], "no half of a file is left");
    drop(disk);
}

#[test]
fn a_device_that_is_full_from_the_start_measures_nothing() {
    let dir = Scratch::new();
    let mut args = vec!["run", "memcpy", "-o", "/dev/full"];
    args.extend(SHORT);
    dir.run(&args).refuses(&["/dev/full", "No space left"]);
    assert!(Path::new("/dev/full").exists());
}

#[test]
fn a_report_that_cannot_be_written_costs_only_itself() {
    let dir = Scratch::new();
    let said = dir.run(&[&["run", "memcpy", "-o", "x.run.jsonl", "--html", "/dev/full"], SHORT_LOUD].concat());
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["/dev/full", "No space left"]);
    assert_eq!(dir.run(&["show", "x.run.jsonl"]).code(), 0);
}

#[test]
fn a_full_standard_output_is_an_error_and_a_closed_one_is_not() {
    let dir = Scratch::new();
    let full = |to: &str| {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("\"$0\" list {to}")).arg(super::support::binary()).current_dir(dir.path("."));
        Running::start(command).end()
    };
    full(">/dev/full").refuses(&["standard output", "No space left"]);
    assert_eq!(full(">&-").code(), 0);
}

#[test]
fn what_can_not_be_begun_for_want_of_room_leaves_nothing_in_its_own_way() {
    if !root() {
        return skip("only root can mount a small disk to fill");
    }
    let dir = Scratch::new();
    let Some(disk) = SmallDisk::mount(&dir.path("small"), "16k") else {
        return skip("this system does not let its root mount a tmpfs");
    };
    std::fs::write(dir.path("small/full"), vec![0; 12 << 10]).unwrap();
    let said = dir.run(&["module", "new", "mine", "--directory", "small"]);
    said.refuses(&["small/mine", "No space left"]);
    assert!(!dir.path("small/mine").exists(), "the next try would meet it");
    std::fs::write(dir.path("np.out"), "1 0.5 0.00001\n".repeat(200)).unwrap();
    dir.run(&["import", "np.out", "-o", "small/np.run.jsonl"]).refuses(&["small/np.run.jsonl", "No space left"]);
    assert!(!dir.path("small/np.run.jsonl").exists(), "it would be taken for a run");
    // Nothing fits any more.
    let _ = std::fs::write(dir.path("small/rest"), vec![0; 64 << 10]);
    let said = dir.run(&["sweep", "theory", "--over", "rate=1Gbit/s,2Gbit/s", "-o", "small/s"]);
    said.refuses(&["small/s", "No space left"]);
    assert!(!dir.path("small/s").exists(), "the next try would meet it");
    drop(disk);
}
