//! `tcp:preload=LIBRARY`: the processes of a path have a library loaded before all others, beside a path without.

use std::path::PathBuf;
use std::process::Command;

use super::support::{SHORT, Scratch, installed, json, root, skip};

/// A library that leaves a file when a program sends by the C library, named after what sends.
const LAYER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
ssize_t send(int fd, const void *from, size_t len, int flags)
{
    static ssize_t (*next)(int, const void *, size_t, int);
    if (!next) {
        char name[200];
        next = (ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
        snprintf(name, sizeof name, "%s/sent-%d", getenv("LAYER_DIR"), (int)getpid());
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
    return next(fd, from, len, flags);
}
"#;

/// The layer as a file; none where there is no compiler.
fn layer(dir: &Scratch) -> Option<PathBuf> {
    installed("cc")?;
    let (source, library) = (dir.path("layer.c"), dir.path("liblayer.so"));
    std::fs::write(&source, LAYER).unwrap();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
    assert!(made.success());
    Some(library.canonicalize().unwrap())
}

/// The processes whose sends the layer saw.
fn sent(dir: &Scratch) -> usize {
    std::fs::read_dir(dir.path("."))
        .unwrap()
        .flatten()
        .filter(|f| f.file_name().to_string_lossy().starts_with("sent-"))
        .count()
}

#[test]
fn a_path_under_a_library_is_measured_beside_the_kernels_and_only_its_processes_have_it() {
    for pattern in ["ping-pong", "stream", "request"] {
        let dir = Scratch::new();
        let Some(library) = layer(&dir) else { return skip("it takes a C compiler") };
        let path = format!("tcp:preload={}", library.display());
        let flags = ["-o", "x.run.jsonl", "--check", "--pattern", pattern];
        let mut command = dir.command(&[&["run", "tcp", &path][..], &flags, &SHORT].concat());
        command.env("LAYER_DIR", dir.path("."));
        let said = super::support::Running::start(command).end();
        assert!(said.measured(), "{pattern}: {said}");
        let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
        let opened: Vec<_> = text.lines().map(json).filter(|e| e["event"] == "path").collect();
        assert_eq!(opened.len(), 2, "{pattern}");
        for side in ["near_effective", "far_effective"] {
            assert!(opened[0][side]["options"]["preload"].is_null(), "{}", opened[0]);
            assert_eq!(opened[1][side]["options"]["preload"], library.display().to_string(), "{}", opened[1]);
        }
        // Each round has processes of its own, and each of them sends at least its proof.
        let rounds = text.lines().map(json).filter(|e| e["event"] == "block" && e["path"] == 1).count();
        assert_eq!(sent(&dir), 2 * rounds, "{pattern}: near and far process of each round, and no other");
        let shown = dir.run(&["show", "x.run.jsonl"]);
        assert!(shown.out.contains("preload"), "{shown}");
    }
}

#[test]
fn pairs_run_under_a_library_each() {
    let dir = Scratch::new();
    let Some(library) = layer(&dir) else { return skip("it takes a C compiler") };
    let path = format!("tcp:preload={}", library.display());
    let mut command = dir.command(&[&["run", &path, "--pairs", "2", "-o", "x.run.jsonl"][..], &SHORT].concat());
    command.env("LAYER_DIR", dir.path("."));
    let said = super::support::Running::start(command).end();
    assert!(said.measured(), "{said}");
    assert!(sent(&dir) >= 4, "{said}");
}

#[test]
fn a_library_that_can_not_be_is_named_before_anything_is_measured() {
    let dir = Scratch::new();
    std::fs::write(dir.path("text.so"), "no library").unwrap();
    std::fs::write(dir.path("broken.so"), b"\x7fELF and nothing more").unwrap();
    let at = |name: &str| format!("tcp:preload={}", dir.path(name).display());
    let refused = |args: &[&str], says: &[&str]| {
        dir.run(&[&["run"][..], args, &SHORT].concat()).refuses(says);
    };
    refused(&["tcp:preload=nosuch"], &["libnosuch.so", "build or install it there"]);
    refused(&[&at("none.so")], &["none.so", "No such file"]);
    refused(&[&at("text.so")], &["text.so", "no shared library"]);
    // The loader says so and goes on without it, which the process itself finds.
    refused(&[&at("broken.so")], &["broken.so", "not loaded", "LD_PRELOAD names it"]);
    refused(&["tcp:preload=../x.so"], &["preload", "a library's name"]);
    refused(&["unix:preload=fastsock"], &["preload", "unix"]);
    let library = installed("cc").and_then(|_| layer(&dir));
    let Some(library) = library else { return skip("it takes a C compiler") };
    let path = format!("tcp:preload={}", library.display());
    refused(&[&path, "--pattern", "connect"], &["start the command itself with LD_PRELOAD"]);
    refused(&[&path, "--flows", "2"], &["measure --pairs"]);
    refused(&[&path, "--trace", "x"], &["--trace", "leave out preload="]);
}

#[test]
fn a_setuid_program_says_that_the_loader_would_not_listen() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let dir = Scratch::new();
    if !root() {
        return skip("it takes root to make a program of another user's");
    }
    let Some(library) = layer(&dir) else { return skip("it takes a C compiler") };
    let program = dir.path("pipegauge");
    std::fs::copy(super::support::binary(), &program).unwrap();
    chown(&program, Some(65_534), None).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    std::fs::set_permissions(dir.path("."), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new(&program);
    command.args(["run", &format!("tcp:preload={}", library.display())]).args(SHORT).current_dir(dir.path("."));
    command.env(super::support::HISTORY.0, super::support::HISTORY.1).stdin(std::process::Stdio::null());
    super::support::Running::start(command).end().refuses(&["setuid", "LD_PRELOAD"]);
}
