//! Put and get: a side accesses memory that the other exposes. What is exposed, and to whom, is checked in `transport`; here the command is.

use super::support::{HISTORY, Running, Scratch, binary, installed, json, only_never_at_once, skip};

/// A run that names how much it measures, whose contents are checked on both sides.
fn checked(dir: &Scratch, pattern: &str, more: &[&str]) -> super::support::Said {
    let mut args = vec!["run", "shm", "--pattern", pattern, "--check", "--sizes", "1,4KiB,70000"];
    args.extend(["--perturb", "0", "--trials", "2", "--repeats", "300", "--budget", "60s", "--pin", "none"]);
    args.extend(["--no-html", "--quiet", "-o", "x.run.jsonl"]);
    args.extend(more);
    dir.run(&args)
}

#[test]
fn contents_are_right_on_every_way_of_measuring() {
    for pattern in ["put", "get"] {
        for more in [
            &[][..],
            &["--cache", "cold"],
            &["--reconnect", "--wait", "block"],
            &["--align", "4096", "--offset", "3,64"],
        ] {
            let dir = Scratch::new();
            let said = checked(&dir, pattern, more);
            assert!(said.measured(), "{pattern} {more:?}: {said}");
            let shown = json(&dir.run(&["show", "x.run.jsonl", "--json"]).out);
            let points = shown["paths"].as_array().unwrap().iter().flat_map(|p| p["points"].as_array().unwrap());
            assert!(points.clone().count() == 3 && points.clone().all(|p| p["time"] == "completion"), "{shown}");
        }
    }
}

#[test]
fn flows_have_memory_of_their_own() {
    let dir = Scratch::new();
    let args = ["run", "shm", "--pattern", "put", "--check", "--flows", "3", "--sizes", "4KiB", "--trials", "2"];
    let more = ["--repeats", "5000", "--budget", "60s", "--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"];
    let said = dir.run(&[&args[..], &more].concat());
    assert!(said.measured() || only_never_at_once(&said), "{said}");
}

#[test]
fn who_has_no_such_memory_says_so_before_anything_is_measured() {
    let dir = Scratch::new();
    for (args, why) in [
        (&["tcp"][..], "no memory that one side could expose"),
        (&["memcpy"], "one process plays both ends"),
        (&["shm", "--fault", "drop=0.1"], "leave out --fault, --shape and --trace"),
        (&["shm", "--trace", "x.trace"], "leave out --fault, --shape and --trace"),
        (&["shm", "--reverse"], "in put this side alone acts"),
        (&["shm", "--both"], "in put this side alone acts"),
        (&["shm", "--rate", "100"], "put can't"),
        (&["shm", "--load", "1"], "--load is for"),
    ] {
        let said = dir.run(&[&["run", "--pattern", "put", "--budget", "1s", "--no-html"][..], args].concat());
        assert!(said.code() == 2 && said.err.contains(why), "{args:?}: {said}");
    }
    assert!(dir.run(&["list"]).out.contains("put and get"));
}

/// Posted sends, over the kernel's own loopback, which copies what it promised not to.
#[test]
fn posted_sends_arrive_as_they_were_and_copies_are_told() {
    let missing = Scratch::new().run(&["list"]).out.contains("making an io_uring");
    if missing {
        println!("skipped: io_uring is not to be had here");
    }
    let by_ring = [&["--check"][..], &["--wait", "spin", "--check"], &["--flows", "2"], &["--reverse", "--check"]];
    let registered = [&["--check"][..], &["--wait", "spin", "--both"], &["--reverse", "--cache", "cold"]];
    let registered = registered.iter().map(|more| ("uring:registered=on", *more));
    let by_ring = by_ring.iter().map(|more| ("uring", *more)).chain(registered).filter(|_| !missing);
    let by_call = [
        &["--check"][..],
        &["--wait", "spin"],
        &["--flows", "2", "--check"],
        &["--cache", "cold"],
        &["--reverse"],
        &["--reverse", "--check", "--cache", "cold"],
        &["--both", "--check"],
        &["--pairs", "1", "--both"],
        &["--topology", "fan-out", "--members", "2"],
    ];
    for (path, more) in by_call.iter().map(|more| ("tcp", *more)).chain(by_ring) {
        let dir = Scratch::new();
        let args = ["run", path, "--pattern", "post", "--sizes", "64,70000,1MiB", "--perturb", "0", "--trials", "2"];
        let rest =
            ["--repeats", "100", "--budget", "60s", "--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"];
        let said = dir.run(&[&args[..], &rest, more].concat());
        // Whether short streams meet is the machine's affair.
        let met = !only_never_at_once(&said);
        assert!(said.measured() || !met, "{more:?}: {said}");
        let shown = dir.run(&["show", "x.run.jsonl", "--warnings"]).out;
        assert!(shown.contains("the kernel copied what was posted") || !met, "{more:?}: {shown}");
        let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
        let trials = text.lines().filter(|line| line.contains("\"event\":\"trial\""));
        assert!(
            trials.clone().count() > 0 && trials.clone().all(|line| line.contains("\"copied\"")),
            "{more:?}: {text}"
        );
        for told in text.lines().filter(|line| path != "tcp" && line.contains("\"event\":\"path\"")).map(json) {
            let took = if path == "uring" { "off" } else { "on" };
            for side in ["near_effective", "far_effective"] {
                assert_eq!(told[side]["options"]["registered"], took, "{told}");
            }
        }
    }
    let dir = Scratch::new();
    for (args, why) in [
        (&["unix"][..], "none is posted"),
        (&["tcp", "--fault", "drop=0.1"], "leave out --fault, --shape and --trace"),
        (&["theory", "--reverse"], "both directions are one"),
        (&["theory", "--both"], "nothing can go both ways at once"),
    ] {
        let said = dir.run(&[&["run", "--pattern", "post", "--budget", "1s", "--no-html"][..], args].concat());
        assert!(said.code() == 2 && said.err.contains(why), "{args:?}: {said}");
    }
}

/// A user who may lock little memory is told so, and what to do; without the option posts wait for room.
#[test]
fn memory_that_a_user_may_not_lock_is_not_registered() {
    let dir = Scratch::new();
    if dir.run(&["list"]).out.contains("making an io_uring") || installed("setpriv").is_none() {
        return skip("it takes an io_uring, and setpriv");
    }
    let run = |path: &str, file: &str| {
        // Who may lock memory without a limit gives that up first.
        let drop = "[ $(id -u) = 0 ] && set -- setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock \"$@\"";
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!("ulimit -l 512; {drop}; exec \"$@\"")).arg("sh").arg(binary());
        command.args(["run", path, "--pattern", "post", "--sizes", "1MiB", "--perturb", "0", "--trials", "2"]);
        command.args(["--repeats", "10", "--budget", "60s", "--pin", "none", "--no-html", "--quiet", "-o", file]);
        command.current_dir(dir.path(".")).env(HISTORY.0, HISTORY.1).stdin(std::process::Stdio::null());
        Running::start(command).end()
    };
    let said = run("uring:registered=on", "on.run.jsonl");
    assert!(!said.measured(), "{said}");
    said.complains(&["registering 1 MiB of memory with an io_uring", "may lock 512 KiB", "'ulimit -l'"]);
    // What the kernel pins is counted for all processes of a user, so that others may have taken all of it.
    let said = run("uring", "off.run.jsonl");
    let taken = said.err.contains("sending without a copy") && said.err.contains("ulimit -l");
    assert!(said.measured() || only_never_at_once(&said) || taken, "{said}");
}
