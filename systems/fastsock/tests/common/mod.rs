//! The library and the contract program, built once.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod folder;
pub mod networks;
pub mod programs;

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Built {
    /// The contract program.
    pub program: PathBuf,
    /// A side of random scripts.
    pub actor: PathBuf,
    /// The library.
    pub library: PathBuf,
    /// Another, which tells whether connections were fast.
    pub witness: PathBuf,
    /// A third, which lets no buffer be large.
    pub low: PathBuf,
}

impl Built {
    /// The same with another file for the contract program.
    pub fn with(&self, program: &Path) -> Self {
        let Self { actor, library, witness, low, .. } = self;
        let [actor, library, witness, low] = [actor, library, witness, low].map(Clone::clone);
        Self { program: program.to_owned(), actor, library, witness, low }
    }
}

/// The library and the program, built once. None, with the reason, where there is no compiler for C.
pub fn built() -> Option<&'static Built> {
    static BUILT: OnceLock<Option<Built>> = OnceLock::new();
    BUILT.get_or_init(build).as_ref()
}

fn compiler() -> Option<&'static str> {
    ["cc", "gcc", "clang"].into_iter().find(|cc| Command::new(cc).arg("--version").output().is_ok())
}

/// The folder of built things.
fn target() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fastsock")).parent().unwrap()
}

fn build() -> Option<Built> {
    let Some(compiler) = compiler() else {
        println!("skipped: no C compiler is installed");
        return None;
    };
    let target = target();
    // A library that is only to be loaded is not built for tests by itself.
    library(target.parent().unwrap(), &[]);
    let program = compiled(compiler, target, "contract", &cases(), &[]);
    compiled(compiler, target, "reader", &[own("reader.c")], &["-static"]);
    compiled(compiler, target, "passer", &[own("passer.c")], &["-static"]);
    let actor = compiled(compiler, target, "actor", &[own("actor.c")], &[]);
    let witness = compiled(compiler, target, "witness", &[own("witness.c")], &["-shared", "-fPIC"]);
    let low = compiled(compiler, target, "low", &[own("low.c")], &["-shared", "-fPIC"]);
    Some(Built { program, actor, library: target.join("libfastsock.so"), witness, low })
}

/// A file of `contract/`.
fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contract").join(name)
}

/// The files of the contract program.
pub fn cases() -> Vec<PathBuf> {
    let all = std::fs::read_dir(own("cases")).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|file| file.extension().is_some_and(|end| end == "c")).collect()
}

/// What one test alone needs: a program, or with the flags for it a library, of files of `contract/`. To be asked for where there is [`built`].
pub fn also(name: &str, files: &[&str], more: &[&str]) -> PathBuf {
    let files: Vec<PathBuf> = files.iter().map(|file| own(file)).collect();
    compiled(compiler().expect("that of `built`"), target(), name, &files, more)
}

/// A program of these files, in the folder of built things.
fn compiled(compiler: &str, target: &Path, name: &str, files: &[PathBuf], more: &[&str]) -> PathBuf {
    let program = target.join(format!("fastsock-{name}"));
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let fresh = target.join(format!("fastsock-{name}-{}-{number}", std::process::id()));
    let built = Command::new(compiler)
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&fresh)
        .args(more)
        .args(files)
        .args(["-lpthread", "-ldl"])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    // Under one name at once, whichever test was here first.
    std::fs::rename(&fresh, &program).unwrap();
    program
}

/// A program that tells what the library takes of what was left for it, in a folder of a test's.
pub fn secure(built: &Built, folder: &Path) -> PathBuf {
    let library = format!("-DLIBRARY=\"{}\"", built.library.display());
    compiled(compiler().unwrap(), folder, "secure", &[own("secure.c")], &[&library])
}

/// Builds the library into a folder of built things.
fn library(target: &Path, more: &[&str]) {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "fastsock", "--lib"])
        .args(more)
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.unwrap().success(), "the library does not build");
}

/// A library that makes mistakes where it is told to.
pub fn planted() -> PathBuf {
    let target = target().parent().unwrap().join("planted");
    library(&target, &["--features", "planted"]);
    target.join("debug/libfastsock.so")
}

/// The contract program's server of a case under the library, with these settings, and a connection to it.
pub fn served(built: &Built, case: &str, settings: &[(&str, &str)]) -> (Child, TcpStream) {
    let mut server = Command::new(&built.program)
        .args(["server", case])
        .env("LD_PRELOAD", &built.library)
        .envs(settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut port = String::new();
    out.read_line(&mut port).unwrap();
    // Kept open: a program must find somebody behind its standard output.
    server.stdout = Some(out.into_inner());
    let stream = TcpStream::connect(("127.0.0.1", port.trim().parse().unwrap())).unwrap();
    (server, stream)
}
