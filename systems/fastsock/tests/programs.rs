//! Programs that know nothing of the library, with it on both sides and on either: the contents must be right.

mod common;

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use common::built;
use common::folder::Folder;
use common::programs::{WAYS, Witness, command, installed, serves};

#[test]
fn a_web_server_in_python_gives_curl_the_whole_file() {
    let Some(built) = built() else { return };
    if !installed("python3", "--version") || !installed("curl", "--version") {
        return;
    }
    let folder = Folder::new("programs");
    // A short one is in the kernel's buffers before the two sides have found each other.
    let bytes: Vec<u8> = (0..100_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let files = [("short", &bytes[..3_000_000]), ("long", &bytes[..])];
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    for (who, server, client) in WAYS {
        let (_server, port) = serves(|port| {
            let mut child = command(built, server, "python3");
            child.args(["-m", "http.server", &port.to_string(), "--bind", "127.0.0.1", "--directory"]).arg(&*folder);
            child.stdout(Stdio::null()).spawn().unwrap()
        });
        for (name, bytes) in files {
            let url = format!("http://127.0.0.1:{port}/{name}");
            let (mut run, witness) = Witness::command(built, client, "curl", port);
            let got = run.args(["-s", "--max-time", "60", &url]).output().unwrap();
            assert!(got.status.success() && got.stdout == bytes, "{name}, library: {who}: {}", got.status);
            let both = server && client;
            if name == "long" || !both {
                witness.check(both, who);
            }
        }
    }
}

#[test]
fn blocking_sockets_in_python_carry_lines_of_every_length() {
    let Some(built) = built() else { return };
    if !installed("python3", "--version") {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/lines.py");
    for (who, server, client) in WAYS {
        let (mut child, port) = serves(|port| {
            let mut child = command(built, server, "python3");
            child.arg(&script).args(["server", &port.to_string()]).stdout(Stdio::piped()).spawn().unwrap()
        });
        let at = port.to_string();
        let (mut run, witness) = Witness::command(built, client, "python3", port);
        let got = run.arg(&script).args(["client", &at]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&got.stdout), "2000 lines\n", "library: {who}");
        witness.check(server && client, who);
        let mut served = String::new();
        child.0.stdout.take().unwrap().read_to_string(&mut served).unwrap();
        assert_eq!(served, "2001000 bytes\n", "library: {who}");
    }
}

#[test]
fn redis_answers() {
    let Some(built) = built() else { return };
    if !installed("redis-server", "--version") || !installed("redis-cli", "--version") {
        return;
    }
    let folder = Folder::new("redis-answers");
    for (who, server, client) in WAYS {
        let (_server, port) = serves(|port| {
            let at = port.to_string();
            let there = folder.display().to_string();
            let arguments = ["--port", &at, "--save", "", "--bind", "127.0.0.1", "--appendonly", "no", "--dir", &there];
            command(built, server, "redis-server").args(arguments).stdout(Stdio::null()).spawn().unwrap()
        });
        let at = port.to_string();
        let value = "v".repeat(100_000);
        let ask = |words: &[&str]| {
            let got = command(built, client, "redis-cli").args(["-p", &at]).args(words).output().unwrap();
            String::from_utf8_lossy(&got.stdout).trim().to_owned()
        };
        assert_eq!(ask(&["set", "key", &value]), "OK", "library: {who}");
        assert_eq!(ask(&["get", "key"]), value, "library: {who}");
    }
}
