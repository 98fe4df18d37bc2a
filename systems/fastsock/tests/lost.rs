//! Connections that a program loses with the library where the kernel's go on (README, *Defects that are known*): this side is told `ECONNRESET`, the other one that it is
//! over, and nobody hangs.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{also, built};

/// A way, and what each side prints: with the library on both, and over the kernel.
struct Way {
    name: &'static str,
    lost: (&'static str, &'static [&'static str]),
    kept: (&'static str, &'static str),
}

/// Whether there was an end of file or a reset depends on who was first.
const OVER: &[&str] = &["end", "reset"];
/// A bad buffer is the kernel's to refuse, so no handler runs.
const REFUSED: (&str, &str) = ("ran 0, call -1, then 1 ", "end");

fn start(program: &Path, library: Option<&Path>, arguments: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(arguments).env("FASTSOCK_AFTER", "4").envs(library.map(|library| ("LD_PRELOAD", library)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn check(ways: &[Way]) {
    let Some(built) = built() else { return };
    let program = also("lost", &["lost.c", "cases/help.c"], &[]);
    for way in ways {
        for library in [None, Some(&*built.library)] {
            let mut server = start(&program, library, &["server", way.name]);
            let mut out = BufReader::new(server.stdout.take().unwrap());
            let (mut port, mut text) = (String::new(), String::new());
            out.read_line(&mut port).unwrap();
            let client = start(&program, library, &["client", way.name, port.trim()]).wait_with_output().unwrap();
            out.read_to_string(&mut text).unwrap();
            let status = server.wait().unwrap();
            let other = String::from_utf8_lossy(&client.stdout).into_owned();
            let seen = format!("{}, library {}: {status} {text}{} {other}", way.name, library.is_some(), client.status);
            assert!(status.success() && client.status.success(), "{seen}");
            let fast = String::from_utf8_lossy(&client.stderr) == "fast\n";
            assert_eq!(fast, library.is_some(), "{seen}: whether the connection was fast");
            let end = [way.kept.1];
            let (server, clients) = if fast { way.lost } else { (way.kept.0, &end[..]) };
            assert!(text == format!("{server}\n") && clients.contains(&other.trim_end()), "{seen}");
        }
    }
}

#[test]
fn a_handler_that_was_set_unseen_is_refused_the_connection_that_it_interrupted() {
    check(&[
        Way {
            name: "send",
            lost: ("handler -1 ECONNRESET, ran 1, call 4096, then -1 ECONNRESET", OVER),
            kept: REFUSED,
        },
        Way {
            name: "receive",
            lost: ("handler -1 ECONNRESET, ran 1, call 100, then -1 ECONNRESET", OVER),
            kept: REFUSED,
        },
        Way {
            name: "threads",
            lost: ("handler -1 ECONNRESET, ran 1, call 4096, then -1 ECONNRESET", OVER),
            kept: REFUSED,
        },
    ]);
}

#[test]
fn a_handler_of_a_fault_that_jumps_out_leaves_a_direction_that_is_refused() {
    check(&[Way { name: "jump", lost: ("ran 1, call -2, then -1 ECONNRESET", OVER), kept: REFUSED }]);
}

#[test]
fn bytes_that_nobody_can_send_again_end_the_connection_with_an_error_rather_than_be_left_out() {
    let stream = |name| Way {
        name,
        lost: ("read 0 ECONNRESET, then lost", &["reset"]),
        kept: ("read 30000 0, then okay", "end"),
    };
    let copy = |name| Way {
        name,
        lost: ("copied 0, read -1 ECONNRESET, then lost", &["reset"]),
        kept: ("copied 0, read 30000 0, then okay", "end"),
    };
    check(&[stream("stream-end"), stream("stream-back"), copy("copy-end"), copy("copy-back")]);
}
