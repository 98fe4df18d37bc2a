//! Programs that know nothing of the library, with it on both sides and on either: the contents must be right.

mod common;

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Built, built};

const WAYS: [(&str, bool, bool); 3] =
    [("both", true, true), ("server only", true, false), ("client only", false, true)];

/// A program that is killed when the test is done with it.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(built: &Built, library: bool, program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("FASTSOCK_AFTER", "2").stderr(Stdio::null());
    if library {
        command.env("LD_PRELOAD", &built.library);
    }
    command
}

fn installed(program: &str) -> bool {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        println!("skipped: {program} is not installed");
    }
    there
}

/// A port that was free a moment ago.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until somebody listens.
fn wait_for(port: u16) {
    let until = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "nobody listens on port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_web_server_in_python_gives_curl_the_whole_file() {
    let Some(built) = built() else { return };
    if !installed("python3") || !installed("curl") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("fastsock-programs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(folder.join("file"), &bytes).unwrap();
    for (who, server, client) in WAYS {
        let port = port();
        let at = port.to_string();
        let child = command(built, server, "python3")
            .args(["-m", "http.server", &at, "--bind", "127.0.0.1", "--directory"])
            .arg(&folder)
            .stdout(Stdio::null())
            .spawn();
        let _server = Server(child.unwrap());
        wait_for(port);
        for _ in 0..3 {
            let url = format!("http://127.0.0.1:{port}/file");
            let got = command(built, client, "curl").args(["-s", "--max-time", "60", &url]).output().unwrap();
            assert!(got.status.success() && got.stdout == bytes, "library: {who}: {}", got.status);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn blocking_sockets_in_python_carry_lines_of_every_length() {
    let Some(built) = built() else { return };
    if !installed("python3") {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/lines.py");
    for (who, server, client) in WAYS {
        let port = port();
        let at = port.to_string();
        let child = command(built, server, "python3").arg(&script).args(["server", &at]).stdout(Stdio::piped()).spawn();
        let child = child.unwrap();
        let got = command(built, client, "python3").arg(&script).args(["client", &at]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&got.stdout), "2000 lines\n", "library: {who}");
        let served = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&served.stdout), "2001000 bytes\n", "library: {who}");
    }
}

#[test]
fn redis_answers() {
    let Some(built) = built() else { return };
    if !installed("redis-server") || !installed("redis-cli") {
        return;
    }
    for (who, server, client) in WAYS {
        let port = port();
        let at = port.to_string();
        let arguments = ["--port", &at, "--save", "", "--bind", "127.0.0.1", "--appendonly", "no"];
        let child = command(built, server, "redis-server").args(arguments).stdout(Stdio::null()).spawn();
        let _server = Server(child.unwrap());
        wait_for(port);
        let value = "v".repeat(100_000);
        let ask = |words: &[&str]| {
            let got = command(built, client, "redis-cli").args(["-p", &at]).args(words).output().unwrap();
            String::from_utf8_lossy(&got.stdout).trim().to_owned()
        };
        assert_eq!(ask(&["set", "key", &value]), "OK", "library: {who}");
        assert_eq!(ask(&["get", "key"]), value, "library: {who}");
    }
}
