//! The contract program, with the library on both sides, on one, and on neither: what it prints must be the same.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::folder::Folder;
use common::{Built, also, built};

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
    run_knowing(built, case, server, client, variable, |_| None)
}

/// The same, where the client has a variable that its port decides.
fn run_knowing(
    built: &Built,
    case: &str,
    server: bool,
    client: bool,
    variable: Variable,
    clients: impl Fn(u16) -> Variable,
) -> (String, [bool; 2]) {
    let mut first = start(built, server, variable, &["server", case]);
    let mut out = BufReader::new(first.stdout.take().unwrap());
    let mut port = String::new();
    out.read_line(&mut port).unwrap();
    let clients = clients(port.trim().parse().unwrap());
    let second = start(built, client, clients, &["client", case, port.trim()]).wait_with_output().unwrap();
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
    standard standard_free shells vectors lists_wrong handlers kernels_own left_to_come stamped told_of handler_sends jumped at_once cancelled strict
    strict_early numbers numbers_set program_limited vector_flags queued faults
    strict_one_way probed again_cancelled served preforked left_unread urgent_behind
    left_half left_looked little_room little_room_ends program_at program_few crashed served_reading number_high connected_twice again_loop_forks messages_limit ranges
    cloned cloned_numbers cloned_memory cloned_waits program_none other_user numbers_high
    handed handed_late handed_input handed_leaves allowed
    program_many passed_on spawned_again little_room_jumped little_room_cut cloned_asked
    numbered submitted asked_unseen upper lingers drained vforks fortified counted
}

#[test]
fn every_case_of_the_program_is_tested() {
    let Some(built) = built() else { return };
    let listed = start(built, false, None, &["list"]).wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().collect::<Vec<_>>(), NAMES);
}

#[test]
fn the_readme_counts_the_cases() {
    let said = format!("`contract/cases`, {} cases", NAMES.len());
    assert!(include_str!("../README.md").contains(&said), "README does not say: {said}");
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
    // A port, of which nobody knows before there is one: this one's own, among others, and then another.
    for (own, expected) in [(true, [false, false]), (false, [true, true])] {
        let (seen, fast) = run_knowing(built, "stream", true, true, None, |port| {
            let off = if own { port } else { port ^ 1 };
            Some(("FASTSOCK_OFF_PORTS", format!("7, {off}").leak()))
        });
        assert!(!seen.contains("FAILED"), "{seen}");
        assert_eq!(fast, expected, "the port is switched off: {own}");
    }
    // By the name of a link, too.
    let folder = Folder::new("link");
    let link = folder.join("fastsock-linked");
    std::os::unix::fs::symlink(&built.program, &link).unwrap();
    let linked = built.with(&link);
    let (_, fast) = run(&linked, "stream", true, true, Some(("FASTSOCK_OFF_PROGRAMS", "fastsock-linked")));
    assert_eq!(fast, [false, false], "a switch for a link");
    let (_, fast) = run(&linked, "stream", true, true, None);
    assert_eq!(fast, [true, true], "no switch for a link");
    let (_, fast) = run(built, "stream", true, true, Some(("FASTSOCK_OFF_PROGRAMS", "other")));
    assert_eq!(fast, [true, true], "a switch for another program");
}

/// Another library behind the one under test, or alone: a case prints the same.
fn same_before(other: &Path, built: &Built, case: &str) {
    let mut seen = Vec::new();
    for library in ["", built.library.to_str().unwrap()] {
        let both = format!("{library}:{}", other.display());
        let side = |arguments: &[&str]| {
            let mut command = Command::new(&built.program);
            command.args(arguments).env("LD_PRELOAD", &both);
            command.env("FASTSOCK_AFTER", "4").env("FASTSOCK_RECYCLE_AFTER", "2");
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut server = side(&["server", case]);
        let mut out = BufReader::new(server.stdout.take().unwrap());
        let (mut port, mut text) = (String::new(), String::new());
        out.read_line(&mut port).unwrap();
        let client = side(&["client", case, port.trim()]).wait_with_output().unwrap();
        out.read_to_string(&mut text).unwrap();
        text.push_str(&format!("{} {}\n", server.wait().unwrap(), client.status));
        text.push_str(&String::from_utf8_lossy(&client.stdout));
        assert!(!text.contains("FAILED"), "{case} {library}: {text}");
        let errors = String::from_utf8_lossy(&client.stderr).into_owned();
        assert_eq!(errors.contains("kernel\n"), library.is_empty(), "{case}: {errors}");
        seen.push(text);
    }
    assert_eq!(seen[0], seen[1], "{case}");
}

/// The least that `net.core.wmem_max` may be.
#[test]
fn where_buffers_are_small_what_goes_over_tcp_once_more_is_not_lost() {
    let Some(built) = built() else { return };
    for case in ["little_room", "little_room_ends", "little_room_jumped", "little_room_cut"] {
        same_before(&built.low, built, case);
    }
}

/// Here the C library may have no such call: another one stands in for it.
#[test]
fn a_program_that_is_begun_with_a_descriptor_of_its_process_gets_all_bytes() {
    let Some(built) = built() else { return };
    let newer = also("newer", &["newer.c"], &["-shared", "-fPIC"]);
    same_before(&newer, built, "handed");
}

#[test]
fn a_switch_for_a_user_counts_for_who_becomes_that_user() {
    let Some(built) = built() else { return };
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped: only root becomes another user");
        return;
    }
    for user in ["65534", "nobody"] {
        let (seen, fast) = run(built, "other_user", true, true, Some(("FASTSOCK_OFF_USERS", user)));
        assert!(!seen.contains("FAILED"), "{seen}");
        assert_eq!(fast, [false, false], "off for {user}");
    }
    let (_, fast) = run(built, "other_user", true, true, Some(("FASTSOCK_OFF_USERS", "65533")));
    assert_eq!(fast, [true, true], "off for another user");
}

/// A group of this process's that is not the one it acts as.
fn another_group() -> Option<u32> {
    let mut groups = [0; 64];
    // SAFETY: asks for numbers; room for as many.
    let (user, own, count) = unsafe { (libc::geteuid(), libc::getegid(), libc::getgroups(64, groups.as_mut_ptr())) };
    let others = groups.into_iter().take(usize::try_from(count).unwrap_or(0));
    others.chain((user == 0).then_some(65534)).find(|&group| group != own)
}

#[test]
fn a_program_that_may_do_more_than_its_caller_believes_nothing_of_what_was_left() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let Some(built) = built() else { return };
    let Some(group) = another_group() else {
        println!("skipped: this user has no other group that a program could be run as");
        return;
    };
    let folder = Folder::new("secure");
    let program = common::secure(built, &folder);
    for (mode, secure) in [(0o755, false), (0o2755, true)] {
        chown(&program, None, Some(group)).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        let path: &'static str = program.to_str().unwrap().to_owned().leak();
        let (seen, _) = run(built, "passed_on", true, true, Some(("PASSED_TO", path)));
        assert!(!seen.contains("FAILED"), "{seen}");
        if secure && seen.contains("secure 0") {
            println!("skipped: {} is on a file system that gives no program more rights", folder.display());
        } else {
            let expected = if secure { "secure 1, ways 0, told 0\n" } else { "secure 0, ways 2, told 0\n" };
            assert!(seen.contains(expected), "{mode:o}: {seen}");
        }
    }
}

/// Another user's program that anybody may run as that user: the loader takes no library for it from whoever begins it, and its connection is the kernel's.
#[test]
fn a_setuid_program_is_unaffected() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let Some(built) = built() else { return };
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped: only root makes a program of another user's");
        return;
    }
    let folder = Folder::new("setuid");
    std::fs::set_permissions(&*folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    // SAFETY: zero is a value of each part; a path that ends with 0, and room for what is asked.
    let nosuid = unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        let path = std::ffi::CString::new(folder.to_str().unwrap()).unwrap();
        libc::statvfs(path.as_ptr(), &raw mut about) == 0 && about.f_flag & libc::ST_NOSUID != 0
    };
    if nosuid {
        println!("skipped: {} is on a file system that gives no program more rights", folder.display());
        return;
    }
    let program = folder.join("fastsock-setuid");
    std::fs::copy(&built.program, &program).unwrap();
    chown(&program, Some(65534), None).unwrap();
    let copied = built.with(&program);
    let mut said = Vec::new();
    for (mode, expected) in [(0o755, [true; 2]), (0o4755, [false; 2])] {
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        let (seen, fast) = run(&copied, "stream", true, true, None);
        assert!(!seen.contains("FAILED"), "{mode:o}: {seen}");
        assert_eq!(fast, expected, "{mode:o}");
        said.push(seen);
    }
    assert_eq!(said[0], said[1]);
}

#[test]
fn under_a_limit_on_the_size_of_files_a_connection_stays_with_the_kernel() {
    let Some(built) = built() else { return };
    let limited = |library: bool, rest: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -f 100; exec {} {rest}", built.program.display())]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env("FASTSOCK_AFTER", "4");
        if library {
            command.env("LD_PRELOAD", &built.library);
        }
        command.spawn().unwrap()
    };
    let mut seen = Vec::new();
    for library in [false, true] {
        // With bytes left in a ring for a new program, where there is one.
        for case in ["stream", "program"] {
            let mut server = limited(library, &format!("server {case}"));
            let mut out = BufReader::new(server.stdout.take().unwrap());
            let mut port = String::new();
            out.read_line(&mut port).unwrap();
            let client = limited(library, &format!("client {case} {port}")).wait_with_output().unwrap();
            let mut text = String::new();
            out.read_to_string(&mut text).unwrap();
            let status = server.wait().unwrap();
            assert!(status.success() && client.status.success(), "{case}: {status}, {}: {text}", client.status);
            assert_eq!(String::from_utf8_lossy(&client.stderr), "kernel\n", "{case}");
            seen.push((case, text, String::from_utf8_lossy(&client.stdout).into_owned()));
        }
    }
    assert_eq!(seen[..2], seen[2..]);
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
    for (program, code) in [("no-such-program", 127), ("/", 126)] {
        let failed = Command::new(env!("CARGO_BIN_EXE_fastsock")).args(["run", program]).output().unwrap();
        assert_eq!(failed.status.code(), Some(code), "{program}");
        assert!(String::from_utf8_lossy(&failed.stderr).contains(&format!("running {program}: ")), "{program}");
    }
}
