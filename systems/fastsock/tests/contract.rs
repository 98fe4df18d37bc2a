//! The contract program, with the library on both sides, on one, and on neither: what it prints must be the same.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use common::{Built, built};

/// Who has the library.
const WAYS: [(&str, bool, bool); 4] =
    [("neither", false, false), ("both", true, true), ("server only", true, false), ("client only", false, true)];

/// A variable of the environment, if one is set.
type Variable = Option<(&'static str, &'static str)>;

fn start(built: &Built, library: bool, variable: Variable, arguments: &[&str]) -> Child {
    let mut command = Command::new(&built.program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env("FASTSOCK_AFTER", "4")
        .env("FASTSOCK_RECYCLE_AFTER", "2");
    if library {
        command.env("LD_PRELOAD", &built.library);
    }
    command.envs(variable);
    command.spawn().unwrap()
}

/// What both sides print, and whether they found their connection fast.
fn run(built: &Built, case: &str, server: bool, client: bool, variable: Variable) -> (String, [bool; 2]) {
    let mut first = start(built, server, variable, &["server", case]);
    let mut out = BufReader::new(first.stdout.take().unwrap());
    let mut port = String::new();
    out.read_line(&mut port).unwrap();
    let second = start(built, client, None, &["client", case, port.trim()]).wait_with_output().unwrap();
    let (mut text, mut errors) = (String::new(), String::new());
    out.read_to_string(&mut text).unwrap();
    first.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    let status = first.wait().unwrap();
    let seen =
        format!("server ({status}):\n{text}client ({}):\n{}", second.status, String::from_utf8_lossy(&second.stdout));
    let fast = |errors: &str| errors.contains("fast\n") && !errors.contains("kernel\n");
    (seen, [fast(&errors), fast(&String::from_utf8_lossy(&second.stderr))])
}

fn case(name: &str) {
    let Some(built) = built() else { return };
    let mut expected = None;
    for (who, server, client) in WAYS {
        let (seen, fast) = run(built, name, server, client, None);
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
    files program spawned killed threads urgent urgent_mark streams passed linger changed edges once once_early exclusive nested mixed room early set_forked
    set_filled set_altered set_outlives crew two_waits interrupted endings killed_in_set again again_order again_forked again_polled again_loop again_threads held
}

#[test]
fn every_case_of_the_program_is_tested() {
    let Some(built) = built() else { return };
    let listed = start(built, false, None, &["list"]).wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().collect::<Vec<_>>(), NAMES);
}

#[test]
fn what_a_case_prints_does_not_depend_on_descriptors_that_it_was_started_with() {
    use std::os::unix::process::CommandExt;
    let Some(built) = built() else { return };
    let mut server = Command::new(&built.program);
    server.args(["server", "mixed"]).stdout(Stdio::piped()).stderr(Stdio::null());
    // The number of which the case says that it is wrong.
    // SAFETY: one system call, between fork and exec.
    unsafe {
        server.pre_exec(|| match libc::dup2(0, 99) {
            99 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    };
    let mut server = server.spawn().unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let (mut port, mut text) = (String::new(), String::new());
    out.read_line(&mut port).unwrap();
    let client = start(built, false, None, &["client", "mixed", port.trim()]).wait_with_output().unwrap();
    out.read_to_string(&mut text).unwrap();
    assert!(server.wait().unwrap().success() && client.status.success());
    assert!(text.ends_with("bad -1 EBADF\n"), "{text}");
}

#[test]
fn each_switch_keeps_a_connection_with_the_kernel() {
    let Some(built) = built() else { return };
    // SAFETY: asks for a number.
    let user: &'static str = unsafe { libc::geteuid() }.to_string().leak();
    for variable in
        [("FASTSOCK", "off"), ("FASTSOCK_OFF_PROGRAMS", "other, fastsock-contract"), ("FASTSOCK_OFF_USERS", user)]
    {
        let (seen, fast) = run(built, "stream", true, true, Some(variable));
        assert!(!seen.contains("FAILED"), "{variable:?}: {seen}");
        assert_eq!(fast, [false, false], "{variable:?}");
    }
    let (_, fast) = run(built, "stream", true, true, Some(("FASTSOCK_OFF_PROGRAMS", "other")));
    assert_eq!(fast, [true, true], "a switch for another program");
}

#[test]
fn the_command_runs_a_program_with_the_library() {
    let Some(built) = built() else { return };
    let ran =
        Command::new(env!("CARGO_BIN_EXE_fastsock")).args(["run", "sh", "-c", "echo $LD_PRELOAD; exit 7"]).output();
    let ran = ran.unwrap();
    assert_eq!(ran.status.code(), Some(7));
    let loaded = std::path::PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim());
    assert_eq!(loaded.canonicalize().unwrap(), built.library.canonicalize().unwrap());
    let missing = Command::new(env!("CARGO_BIN_EXE_fastsock")).args(["run", "no-such-program"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("no-such-program"));
}
