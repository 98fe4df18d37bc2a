//! Tools that measure and copy over TCP, unmodified, with the library on both sides and on either: what arrives must be what was sent.

mod common;

use std::process::{Output, Stdio};

use common::programs::{Server, WAYS, command, folder, installed, port, tcp_listens};
use common::built;

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
        assert!(got.status.success() && text.contains("Data integrity test succeeded"), "library: {who}: {text}");
        assert!(text.contains("# dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0"), "{who}: {text}");
    }
}

#[test]
fn nuttcp_carries_a_file_and_measures() {
    let Some(built) = built() else { return };
    if !installed("nuttcp", "-V") {
        return;
    }
    let folder = folder("nuttcp");
    let bytes = pattern(20_000_000);
    std::fs::write(folder.join("file"), &bytes).unwrap();
    for (who, server, client) in WAYS {
        // From a file to standard output, as ttcp did it.
        let at = port();
        let mut receiver = command(built, server, "nuttcp");
        let receiver = receiver.args(["-r", "-s", "-p", &at.to_string()]).stdout(Stdio::piped()).spawn().unwrap();
        tcp_listens(at);
        let mut sender = command(built, client, "nuttcp");
        sender.args(["-t", "-s", "-p", &at.to_string(), "127.0.0.1"]);
        let sent = sender.stdin(std::fs::File::open(folder.join("file")).unwrap()).output().unwrap();
        assert!(sent.status.success(), "library: {who}: {}", said(&sent));
        let got = receiver.wait_with_output().unwrap();
        assert!(got.stdout == bytes, "library: {who}: {} of {} bytes", got.stdout.len(), bytes.len());
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
fn iperf3_carries_a_file() {
    let Some(built) = built() else { return };
    if !installed("iperf3", "--version") {
        return;
    }
    let folder = folder("iperf3");
    let bytes = pattern(8_000_000);
    let (from, to) = (folder.join("from"), folder.join("to"));
    std::fs::write(&from, &bytes).unwrap();
    for (who, server, client) in WAYS {
        let port = port();
        let at = port.to_string();
        let _ = std::fs::remove_file(&to);
        let child = command(built, server, "iperf3")
            .args(["-s", "-1", "-B", "127.0.0.1", "-p", &at, "-F"])
            .arg(&to)
            .stdout(Stdio::null())
            .spawn();
        let mut server = Server(child.unwrap());
        tcp_listens(port);
        let mut run = command(built, client, "iperf3");
        // Blocks of the file, so that the test ends with it.
        let got = run.args(["-c", "127.0.0.1", "-p", &at, "-n", "8000000", "-l", "80000", "-F"]).arg(&from).output().unwrap();
        assert!(got.status.success() && said(&got).contains("receiver"), "library: {who}: {}", said(&got));
        assert!(server.0.wait().unwrap().success(), "library: {who}");
        let arrived = std::fs::read(&to).unwrap();
        assert!(arrived == bytes, "library: {who}: {} of {} bytes", arrived.len(), bytes.len());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
