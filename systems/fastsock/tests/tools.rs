//! Tools that measure and copy over TCP, unmodified, with the library on both sides and on either: what arrives must be what was sent.

mod common;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::built;
use common::folder::Folder;
use common::programs::{WAYS, Witness, command, installed, listens, port, serves};

/// A server whose first port is `taken` before it binds. Whoever holds the port then is the stranger: another test may be first.
fn serves_beside(taken: impl Fn(u16) -> Option<TcpListener>) {
    let mut stranger = None;
    let (server, port) = serves(|port| {
        let mut child = Command::new("python3");
        child.stderr(Stdio::null());
        // The first one takes its time to see that.
        if stranger.is_none() {
            stranger = Some((port, taken(port)));
            return child.args(["-c", "import time; time.sleep(0.5)"]).spawn().unwrap();
        }
        // This one listens in a process that it began.
        let listen = "import os, socket, sys, time\nif os.fork(): os.wait()\ns = socket.create_server(('127.0.0.1', int(sys.argv[1])))\ntime.sleep(10)";
        child.args(["-c", listen, &port.to_string()]).spawn().unwrap()
    });
    let (taken, held) = stranger.unwrap();
    let server = server.0.id();
    assert!(listens(server, port));
    // What somebody else held may be free again by now, and be the next.
    assert!(held.is_none() || (port != taken && !listens(server, taken)));
}

#[test]
fn a_stranger_on_its_port_is_not_taken_for_the_server() {
    if !installed("python3", "--version") {
        return;
    }
    let take = |port| TcpListener::bind(("127.0.0.1", port)).ok();
    serves_beside(take);
    // Another test was quicker.
    let first = std::cell::RefCell::new(None);
    serves_beside(|port| {
        *first.borrow_mut() = take(port);
        take(port)
    });
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn pattern(len: u32) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn sockperf_finds_its_data_whole() {
    let Some(built) = built() else { return };
    if !installed("sockperf", "--version") {
        return;
    }
    for (who, server, client) in WAYS {
        let (_server, port) = serves(|port| {
            let mut child = command(built, server, "sockperf");
            child.args(["server", "--tcp", "-i", "127.0.0.1", "-p", &port.to_string()]).stdout(Stdio::null());
            child.spawn().unwrap()
        });
        let at = port.to_string();
        let (mut run, witness) = Witness::command(built, client, "sockperf", port);
        run.args(["ping-pong", "--tcp", "-i", "127.0.0.1", "-p", &at, "-t", "1", "-m", "200", "--data-integrity"]);
        let got = run.stderr(Stdio::piped()).output().unwrap();
        let text = said(&got);
        assert!(
            got.status.success() && !text.to_lowercase().contains("integrity test failed"),
            "library: {who}: {text}"
        );
        assert!(
            text.contains("# dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0"),
            "{who}: {text}"
        );
        witness.check(server && client, who);
    }
}

#[test]
fn nuttcp_carries_a_file_and_measures_both_ways() {
    let Some(built) = built() else { return };
    if !installed("nuttcp", "-V") {
        return;
    }
    let folder = Folder::new("nuttcp");
    let bytes = pattern(20_000_000);
    std::fs::write(folder.join("file"), &bytes).unwrap();
    // Another program may get the port for the bytes before the side that is asked to listen there.
    let errors = folder.join("errors");
    let taken = |client: &Output| {
        let of_server = std::fs::read_to_string(&errors).unwrap();
        format!("{of_server}{}", said(client)).contains("Address already in use")
    };
    for (who, server, client) in WAYS {
        let start = |arguments: &[&str], port: u16, to: Stdio| {
            let mut start = command(built, server, "nuttcp");
            start.args(arguments).args(["--nofork", "-P", &port.to_string()]).stdout(to);
            start.stderr(std::fs::File::create(&errors).unwrap()).spawn().unwrap()
        };
        // From a file to standard output, as ttcp did it.
        on_a_port(|data| {
            let to = || std::fs::File::create(folder.join("to")).unwrap().into();
            let (mut receiver, control) = serves(|port| start(&["-1", "-s"], port, to()));
            let (control, data) = (control.to_string(), data.to_string());
            let mut sender = command(built, client, "nuttcp");
            sender.args(["-t", "-s", "-P", &control, "-p", &data, "127.0.0.1"]);
            let sent = sender.stdin(std::fs::File::open(folder.join("file")).unwrap()).output().unwrap();
            receiver.0.wait().unwrap();
            if taken(&sent) {
                return None;
            }
            assert!(sent.status.success(), "library: {who}: {}", said(&sent));
            let got = std::fs::read(folder.join("to")).unwrap();
            assert!(got == bytes, "library: {who}: {} of {} bytes", got.len(), bytes.len());
            Some(())
        });
        // And with a server, both ways.
        on_a_port(|data| {
            let (_server, control) = serves(|port| start(&["-S"], port, Stdio::null()));
            let (control, at) = (control.to_string(), data.to_string());
            for way in ["-t", "-r"] {
                let (mut run, witness) = Witness::command(built, client, "nuttcp", data);
                run.args([way, "-T1", "-P", &control, "-p", &at, "127.0.0.1"]);
                let got = run.stderr(Stdio::piped()).output().unwrap();
                if taken(&got) {
                    return None;
                }
                assert!(got.status.success() && said(&got).contains("Mbps"), "library: {who}, {way}: {}", said(&got));
                witness.check(server && client, who);
            }
            Some(())
        });
    }
}

/// Runs something on a port; once more on another as long as somebody else has it.
fn on_a_port<T>(run: impl Fn(u16) -> Option<T>) -> T {
    (0..20).find_map(|_| run(port())).expect("of 20 ports that were free one that stays so")
}

#[test]
fn what_finds_its_port_taken_runs_on_another() {
    let held = std::cell::RefCell::new(Vec::new());
    let ran = on_a_port(|port| {
        let mut held = held.borrow_mut();
        // Taken twice, by whomever.
        if held.len() < 2 {
            held.push(TcpListener::bind(("127.0.0.1", port)).ok());
            return None;
        }
        Some(port)
    });
    assert!(ran != 0 && held.borrow().len() == 2);
}

/// The buffer that iperf3 asks for at each end of a stream (`-w`). The kernel's own grow to tens of megabytes while nobody reads.
const WINDOW: u64 = 256 << 10;
/// Bytes of a ring that has grown.
const RING: u64 = 256 << 10;
/// What iperf3 writes and reads at a time.
const BLOCK: u64 = 128 << 10;
/// What it sends: so much that what may be under way is a small part of it.
const SENT: u64 = 100_000_000;

/// What was sent and not received when iperf3 ends, at most: it leaves unread what is under way. The kernel gives each end twice the buffer that was
/// asked for, and takes one write beyond it; of the block that the reader has begun nothing is counted.
const fn under_way(streams: u64) -> u64 {
    streams * (2 * 2 * WINDOW + RING + 2 * BLOCK)
}

/// Both directions, with the number of streams.
const DIRECTIONS: [(&[&str], u64); 2] = [(&["-P", "2"], 2), (&["-R"], 1)];

/// Runs iperf3; the bytes that it says it sent and received. Each side has a library or none.
fn iperf3(libraries: [Option<&Path>; 2], way: &[&str]) -> (u64, u64) {
    let of = |library: Option<&Path>| {
        let mut command = Command::new("iperf3");
        command.env("FASTSOCK_AFTER", "2").env("FASTSOCK_PLANTED", LOSS).stderr(Stdio::null());
        command.envs(library.map(|library| ("LD_PRELOAD", library)));
        command
    };
    let (mut server, port) = serves(|port| {
        let serve = ["-s", "-1", "-B", "127.0.0.1", "-p", &port.to_string()];
        of(libraries[0]).args(serve).stdout(Stdio::null()).spawn().unwrap()
    });
    let port = port.to_string();
    let (all, window) = (SENT.to_string(), WINDOW.to_string());
    // Not from a file to a file (-F): after a short write iperf3 3.12 reads over what was left, over the kernel as well.
    let ask = ["-c", "127.0.0.1", "-p", &port, "-n", &all, "-w", &window, "-J"];
    let got = of(libraries[1]).args(ask).args(way).output().unwrap();
    let text = said(&got);
    assert!(got.status.success() && server.0.wait().unwrap().success(), "{libraries:?}, {way:?}: {text}");
    let bytes = |name: &str| -> u64 {
        let sum = text.split(&format!("\"{name}\"")).nth(1).and_then(|rest| rest.split("\"bytes\":").nth(1));
        let digits: String = sum.unwrap_or("").trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    (bytes("sum_sent"), bytes("sum_received"))
}

/// A mistake that a library with the feature `planted` makes: of a long message's parts the first is lost.
const LOSS: &str = "a part lost";

#[test]
fn iperf3_receives_what_it_sent_both_ways() {
    let Some(built) = built() else { return };
    if !installed("iperf3", "--version") {
        return;
    }
    for (who, server, client) in WAYS {
        for (way, streams) in DIRECTIONS {
            let (sent, received) = iperf3([server, client].map(|with| with.then_some(&*built.library)), way);
            assert!(
                sent >= SENT && received <= sent && sent - received <= under_way(streams),
                "library: {who}, {way:?}: {received} of {sent} bytes, of which {} may be under way",
                under_way(streams)
            );
        }
    }
}

#[test]
fn iperf3_tells_of_bytes_that_were_lost() {
    if built().is_none() || !installed("iperf3", "--version") {
        return;
    }
    let library = common::planted();
    // The other way a client waits for the bytes until the server gives up, minutes later, and then has no sums.
    let (way, streams) = DIRECTIONS[0];
    let (sent, received) = iperf3([Some(&library); 2], way);
    assert!(sent >= SENT && sent - received > under_way(streams), "{received} of {sent} bytes");
}
