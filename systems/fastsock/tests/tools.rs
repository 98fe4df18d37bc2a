//! Tools that measure and copy over TCP, unmodified, with the library on both sides and on either: what arrives must be what was sent.

mod common;

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::built;
use common::folder::Folder;
use common::programs::{WAYS, Witness, command, installed, listens, port, serves};

#[test]
fn a_stranger_on_its_port_is_not_taken_for_the_server() {
    let mut stranger = None;
    let (server, port) = serves(|port| {
        let mut child = Command::new("python3");
        child.stderr(Stdio::null());
        // The first one's port is taken before it binds, and it takes its time to see that.
        if stranger.is_none() {
            stranger = Some(TcpListener::bind(("127.0.0.1", port)).unwrap());
            return child.args(["-c", "import time; time.sleep(0.5)"]).spawn().unwrap();
        }
        // This one listens in a process that it began.
        let listen = "import os, socket, sys, time\nif os.fork(): os.wait()\ns = socket.create_server(('127.0.0.1', int(sys.argv[1])))\ntime.sleep(10)";
        child.args(["-c", listen, &port.to_string()]).spawn().unwrap()
    });
    let taken = stranger.unwrap().local_addr().unwrap().port();
    assert!(port != taken && listens(server.0.id(), port) && !listens(server.0.id(), taken));
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
    for (who, server, client) in WAYS {
        // From a file to standard output, as ttcp did it.
        let (mut receiver, control) = serves(|port| {
            let to = std::fs::File::create(folder.join("to")).unwrap();
            command(built, server, "nuttcp")
                .args(["-1", "--nofork", "-s", "-P", &port.to_string()])
                .stdout(to)
                .spawn()
                .unwrap()
        });
        let (control, data) = (control.to_string(), port().to_string());
        let mut sender = command(built, client, "nuttcp");
        sender.args(["-t", "-s", "-P", &control, "-p", &data, "127.0.0.1"]);
        let sent = sender.stdin(std::fs::File::open(folder.join("file")).unwrap()).output().unwrap();
        assert!(sent.status.success(), "library: {who}: {}", said(&sent));
        receiver.0.wait().unwrap();
        let got = std::fs::read(folder.join("to")).unwrap();
        assert!(got == bytes, "library: {who}: {} of {} bytes", got.len(), bytes.len());
        // And with a server, both ways.
        let (_server, control) = serves(|port| {
            command(built, server, "nuttcp").args(["-S", "--nofork", "-P", &port.to_string()]).spawn().unwrap()
        });
        let (control, data) = (control.to_string(), port());
        for way in ["-t", "-r"] {
            let (mut run, witness) = Witness::command(built, client, "nuttcp", data);
            let to = data.to_string();
            let got = run.args([way, "-T1", "-P", &control, "-p", &to, "127.0.0.1"]).output().unwrap();
            assert!(got.status.success() && said(&got).contains("Mbps"), "library: {who}, {way}: {}", said(&got));
            witness.check(server && client, who);
        }
    }
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
