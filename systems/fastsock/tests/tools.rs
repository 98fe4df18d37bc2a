//! Tools that measure and copy over TCP, unmodified, with the library on both sides and on either: what arrives must be what was sent.

mod common;

use std::process::{Output, Stdio};

use common::built;
use common::programs::{Server, WAYS, command, folder, installed, port, tcp_listens};

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
        let port = port();
        let at = port.to_string();
        let child = command(built, server, "sockperf")
            .args(["server", "--tcp", "-i", "127.0.0.1", "-p", &at])
            .stdout(Stdio::null())
            .spawn();
        let _server = Server(child.unwrap());
        tcp_listens(port);
        let mut run = command(built, client, "sockperf");
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
    }
}

#[test]
fn nuttcp_carries_a_file_and_measures_both_ways() {
    let Some(built) = built() else { return };
    if !installed("nuttcp", "-V") {
        return;
    }
    let folder = folder("nuttcp");
    let bytes = pattern(20_000_000);
    std::fs::write(folder.join("file"), &bytes).unwrap();
    for (who, server, client) in WAYS {
        // From a file to standard output, as ttcp did it.
        let (control, data) = (port().to_string(), port().to_string());
        let mut receiver = command(built, server, "nuttcp");
        let to = std::fs::File::create(folder.join("to")).unwrap();
        let mut receiver = Server(receiver.args(["-1", "-s", "-P", &control]).stdout(to).spawn().unwrap());
        tcp_listens(control.parse().unwrap());
        let mut sender = command(built, client, "nuttcp");
        sender.args(["-t", "-s", "-P", &control, "-p", &data, "127.0.0.1"]);
        let sent = sender.stdin(std::fs::File::open(folder.join("file")).unwrap()).output().unwrap();
        assert!(sent.status.success(), "library: {who}: {}", said(&sent));
        receiver.0.wait().unwrap();
        let got = std::fs::read(folder.join("to")).unwrap();
        assert!(got == bytes, "library: {who}: {} of {} bytes", got.len(), bytes.len());
        // And with a server, both ways.
        let (control, data) = (port().to_string(), port().to_string());
        let child = command(built, server, "nuttcp").args(["-S", "--nofork", "-P", &control]).spawn();
        let _server = Server(child.unwrap());
        tcp_listens(control.parse().unwrap());
        for way in ["-t", "-r"] {
            let mut run = command(built, client, "nuttcp");
            let got = run.args([way, "-T1", "-P", &control, "-p", &data, "127.0.0.1"]).output().unwrap();
            assert!(got.status.success() && said(&got).contains("Mbps"), "library: {who}, {way}: {}", said(&got));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn iperf3_receives_what_it_sent_both_ways() {
    let Some(built) = built() else { return };
    if !installed("iperf3", "--version") {
        return;
    }
    for (who, server, client) in WAYS {
        for way in [&["-P", "2"][..], &["-R"]] {
            let port = port();
            let at = port.to_string();
            let mut child = command(built, server, "iperf3");
            let mut server =
                Server(child.args(["-s", "-1", "-B", "127.0.0.1", "-p", &at]).stdout(Stdio::null()).spawn().unwrap());
            tcp_listens(port);
            let mut run = command(built, client, "iperf3");
            // Not from a file to a file (-F): after a short write iperf3 3.12 reads over what was left, over the kernel as well.
            let got = run.args(["-c", "127.0.0.1", "-p", &at, "-n", "30000000", "-J"]).args(way).output().unwrap();
            let text = said(&got);
            assert!(got.status.success(), "library: {who}: {text}");
            assert!(server.0.wait().unwrap().success(), "library: {who}");
            let bytes = |name: &str| -> u64 {
                let sum = text.split(&format!("\"{name}\"")).nth(1).and_then(|rest| rest.split("\"bytes\":").nth(1));
                let digits: String = sum.unwrap_or("").trim_start().chars().take_while(char::is_ascii_digit).collect();
                digits.parse().unwrap_or(0)
            };
            let (sent, received) = (bytes("sum_sent"), bytes("sum_received"));
            // At its end the receiver leaves unread what is under way still.
            assert!(sent >= 30_000_000 && received <= sent, "library: {who}, {way:?}: {received} of {sent} bytes");
            assert!(received > sent - 8_000_000, "library: {who}, {way:?}: {received} of {sent} bytes");
        }
    }
}
