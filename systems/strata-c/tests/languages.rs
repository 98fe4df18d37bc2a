//! The examples in C and in Python: C compiled as strictly as it can be, both run.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use strata_c as _;

const PATIENCE: Duration = Duration::from_secs(60);

/// Where cargo put the library that it built for this test.
fn library(name: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap();
    let found = [folder, folder.parent().unwrap()].iter().map(|f| f.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("cargo builds {name} beside its tests"))
}

#[test]
fn the_example_in_c_compiles_without_a_warning_and_runs() {
    let Some(compiler) =
        ["cc", "gcc", "clang"].into_iter().find(|cc| Command::new(cc).arg("--version").output().is_ok())
    else {
        println!("skipped: no C compiler is installed");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("strata-members-{}", std::process::id()));
    let built = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-D_GNU_SOURCE"])
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("c/members.c"))
        .arg(library("libstrata_c.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for stack in [&[][..], &["FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:shm"]] {
        let ran = Command::new(&program).args(stack).output().unwrap();
        assert!(ran.status.success(), "{stack:?}: {}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "125 messages in one order\n", "{stack:?}");
    }
    std::fs::remove_file(&program).unwrap();
}

/// `votes.py` as a process.
struct Votes {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Votes {
    fn start(contacts: &[&str]) -> Self {
        Self::reading(contacts, Stdio::piped())
    }

    fn reading(contacts: &[&str], input: Stdio) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/votes.py");
        let mut child = Command::new("python3")
            .arg("-B")
            .arg(script)
            .arg(library("libstrata_c.so"))
            .args(contacts)
            .stdin(input)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
        let input = child.stdin.take();
        Self { child, input, lines, heard: Vec::new() }
    }

    fn line(&mut self, begins: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("nothing begins with {begins:?}: {:?}", self.heard));
            self.heard.push(line.clone());
            if let Some(rest) = line.strip_prefix(begins) {
                return rest.to_owned();
            }
        }
    }

    fn vote(&mut self, text: &str) {
        writeln!(self.input.as_mut().unwrap(), "{text}").unwrap();
    }

    fn end(mut self) -> String {
        self.input = None;
        let count = self.line("{");
        assert!(self.child.wait().unwrap().success());
        count
    }
}

impl Drop for Votes {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_example_in_python_counts_the_same_everywhere_also_for_who_joins_late() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python3 is not installed");
        return;
    }
    let mut a = Votes::start(&[]);
    let contact = a.line("member ");
    a.vote("yes");
    a.line("counted yes");
    let mut b = Votes::start(&[&contact]);
    assert_eq!(b.line("received "), r#"{"yes": 1}"#);
    a.line("members 2");
    b.vote("no");
    a.line("counted no");
    b.line("counted no");
    a.vote("yes");
    b.line("counted yes");
    assert_eq!(b.end(), r#""no": 1, "yes": 2}"#);
    assert_eq!(a.end(), r#""no": 1, "yes": 2}"#);
}

/// A file is always readable, and epoll refuses it; its last line may have no end.
#[test]
fn the_example_in_python_reads_a_file_and_shows_what_terminals_would_do() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python3 is not installed");
        return;
    }
    let file = std::env::temp_dir().join(format!("strata-votes-{}", std::process::id()));
    std::fs::write(&file, b"yes\nno\x1b[2J\nyes").unwrap();
    let mut votes = Votes::reading(&[], std::fs::File::open(&file).unwrap().into());
    std::fs::remove_file(&file).unwrap();
    assert_eq!(votes.line("counted no"), "\\x1b[2J");
    assert_eq!(votes.end(), r#""no\u001b[2J": 1, "yes": 2}"#);
}
