//! The contract program, with the library on both sides, on one, and on neither: what it prints must be the same.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// Who has the library.
const WAYS: [(&str, bool, bool); 4] =
    [("neither", false, false), ("both", true, true), ("server only", true, false), ("client only", false, true)];

struct Built {
    program: PathBuf,
    library: PathBuf,
}

/// The library and the program, built once. None, with the reason, where there is no compiler for C.
fn built() -> Option<&'static Built> {
    static BUILT: OnceLock<Option<Built>> = OnceLock::new();
    BUILT.get_or_init(build).as_ref()
}

fn build() -> Option<Built> {
    let compiler = ["cc", "gcc", "clang"].into_iter().find(|cc| Command::new(cc).arg("--version").output().is_ok());
    let Some(compiler) = compiler else {
        println!("skipped: no C compiler is installed");
        return None;
    };
    // A library that is only to be loaded is not built for tests by itself.
    let target = Path::new(env!("CARGO_BIN_EXE_fastsock")).parent().unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "fastsock", "--lib", "--target-dir"])
        .arg(target.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(built.unwrap().success(), "the library does not build");
    let program = target.join(format!("fastsock-contract-{}", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("contract/contract.c");
    let built = Command::new(compiler)
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .args(["-lpthread", "-ldl"])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(Built { program, library: target.join("libfastsock.so") })
}

impl Built {
    fn start(&self, library: bool, arguments: &[&str]) -> Child {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).env("FASTSOCK_AFTER", "4");
        if library {
            command.env("LD_PRELOAD", &self.library);
        }
        command.spawn().unwrap()
    }

    /// What both sides print, and whether they found their connection fast.
    fn run(&self, case: &str, server: bool, client: bool) -> (String, [bool; 2]) {
        let mut first = self.start(server, &["server", case]);
        let mut out = BufReader::new(first.stdout.take().unwrap());
        let mut port = String::new();
        out.read_line(&mut port).unwrap();
        let second = self.start(client, &["client", case, port.trim()]).wait_with_output().unwrap();
        let (mut text, mut errors) = (String::new(), String::new());
        out.read_to_string(&mut text).unwrap();
        first.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let status = first.wait().unwrap();
        let seen = format!(
            "server ({status}):\n{text}client ({}):\n{}",
            second.status,
            String::from_utf8_lossy(&second.stdout)
        );
        (seen, [errors.contains("fast\n"), String::from_utf8_lossy(&second.stderr).contains("fast\n")])
    }
}

fn case(name: &str) {
    let Some(built) = built() else { return };
    let mut expected = None;
    for (who, server, client) in WAYS {
        let (seen, fast) = built.run(name, server, client);
        assert!(!seen.contains("FAILED"), "{name}, library: {who}:\n{seen}");
        assert_eq!(fast, [server && client; 2], "{name}, library: {who}: whether the connection was fast");
        let expected = expected.get_or_insert_with(|| seen.clone());
        assert_eq!(&seen, expected, "{name}, library: {who}");
    }
}

macro_rules! cases {
    ($($name:ident)*) => {
        $(#[test] fn $name() { case(stringify!($name)); })*
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

cases! {
    echo stream lists half_close peek nonblocking timeouts signalled reset broken_pipe duplicates forks polled selected epolled
    files program spawned killed threads urgent streams passed linger
}

#[test]
fn every_case_of_the_program_is_tested() {
    let Some(built) = built() else { return };
    let listed = built.start(false, &["list"]).wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().collect::<Vec<_>>(), NAMES);
}
