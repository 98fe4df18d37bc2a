//! Event-driven programs that know nothing of the library, with it on both sides and on either: the contents must be right.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use common::folder::Folder;
use common::programs::{WAYS, Witness, command, installed, serves};
use common::{Built, built};

fn own(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common").join(file)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn start(built: &Built, library: bool, program: &str, arguments: &[&str]) -> Child {
    command(built, library, program).args(arguments).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn python_echoes_by_asyncio_selectors_and_time_limits() {
    let Some(built) = built() else { return };
    if !installed("python3", "--version") {
        return;
    }
    let script = own("events.py");
    let script = script.to_str().unwrap();
    for kind in ["asyncio", "selectors"] {
        for (who, server, client) in WAYS {
            let (_server, port) =
                serves(|port| start(built, server, "python3", &[script, "server", kind, &port.to_string()]));
            let at = port.to_string();
            for by in ["asyncio", "selectors", "timeout"] {
                let got = command(built, client, "python3").args([script, "client", by, &at]).output().unwrap();
                let expected = if server && client { "fast" } else { "kernel" };
                assert_eq!(text(&got), expected, "{kind} and {by}, library: {who}");
            }
        }
    }
}

#[test]
fn redis_serves_many_clients_and_pipelines() {
    let Some(built) = built() else { return };
    if !installed("redis-server", "--version") || !installed("redis-benchmark", "--version") {
        return;
    }
    let lines: String = (0..3000).map(|i| format!("SET key:{i} {}\r\n", "v".repeat(i % 700 + 1))).collect();
    let folder = Folder::new("redis");
    std::fs::write(folder.join("lines"), lines).unwrap();
    for (who, server, client) in WAYS {
        let (_server, port) = serves(|port| {
            let at = port.to_string();
            let there = folder.display().to_string();
            let arguments = ["--port", &at, "--save", "", "--bind", "127.0.0.1", "--appendonly", "no", "--dir", &there];
            start(built, server, "redis-server", &arguments)
        });
        let at = port.to_string();
        for more in [&["-c", "20", "-n", "5000"][..], &["-c", "5", "-n", "20000", "-P", "16"]] {
            let (mut run, witness) = Witness::command(built, client, "redis-benchmark", port);
            let got = run.args(["-p", &at, "-q", "-e", "-t", "set,get,lpush,lrange_100"]).args(more).output().unwrap();
            assert!(got.status.success() && text(&got).contains("LRANGE_100"), "library: {who}: {got:?}");
            witness.check(server && client, who);
        }
        let (mut pipe, witness) = Witness::command(built, client, "redis-cli", port);
        let lines = std::fs::File::open(folder.join("lines")).unwrap();
        let got = pipe.args(["-p", &at, "--pipe"]).stdin(lines).output().unwrap();
        assert!(text(&got).contains("errors: 0, replies: 3000"), "library: {who}: {}", text(&got));
        witness.check(server && client, who);
        let ask =
            |words: &[&str]| text(&command(built, client, "redis-cli").args(["-p", &at]).args(words).output().unwrap());
        assert_eq!(ask(&["strlen", "key:2799"]), "700", "library: {who}");
        let sum = ask(&[
            "eval",
            "local n = 0 for i = 0, 2999 do n = n + redis.call('strlen', 'key:' .. i) end return n",
            "0",
        ]);
        assert_eq!(sum, (0..3000).map(|i| i % 700 + 1).sum::<u64>().to_string(), "library: {who}");
    }
}

#[test]
fn memcached_gives_back_what_it_was_given() {
    let Some(built) = built() else { return };
    if !installed("memcached", "--version") || !installed("python3", "--version") {
        return;
    }
    let folder = Folder::new("memcached");
    for (who, server, client) in WAYS {
        let (_server, port) = serves(|port| {
            let at = port.to_string();
            let arguments = ["-l", "127.0.0.1", "-p", &at, "-U", "0", "-u", "root", "-t", "2"];
            let mut memcached = command(built, server, "memcached");
            memcached.args(arguments).current_dir(&*folder).stdout(Stdio::null()).spawn().unwrap()
        });
        let at = port.to_string();
        let program = "
import socket, sys
conns = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(6)]
files = [c.makefile('rwb') for c in conns]
for n in range(150):
    for i, f in enumerate(files):
        value = bytes((i + n + k) % 251 for k in range(n * 71))
        f.write(b'set k%d-%d 0 0 %d\\r\\n' % (i, n, len(value)) + value + b'\\r\\n'); f.flush()
        assert f.readline() == b'STORED\\r\\n'
        f.write(b'get k%d-%d\\r\\n' % (i, n)); f.flush()
        head = f.readline().split()
        assert f.read(int(head[3])) == value and f.readline() == b'\\r\\n' and f.readline() == b'END\\r\\n'
print('same')";
        let (mut run, witness) = Witness::command(built, client, "python3", port);
        let got = run.args(["-c", program, &at]).output().unwrap();
        assert_eq!(text(&got), "same", "library: {who}");
        witness.check(server && client, who);
    }
}

#[test]
fn nginx_serves_files_and_goes_on_through_reloads() {
    let Some(built) = built() else { return };
    if !installed("nginx", "-v") || !installed("curl", "--version") {
        return;
    }
    let folder = Folder::new("nginx");
    let bytes: Vec<u8> = (0..300_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(folder.join("file"), &bytes).unwrap();
    // SAFETY: asks for a number.
    let user = if unsafe { libc::geteuid() } == 0 { "user root;" } else { "" };
    for (who, server_has, client) in WAYS {
        let here = folder.display();
        let config = |port: u16| {
            format!(
            "{user} worker_processes 2; daemon off; pid {here}/pid; error_log {here}/errors;
            events {{ worker_connections 200; }}
            http {{ access_log off; sendfile off; keepalive_requests 100000; client_body_temp_path {here}/a; proxy_temp_path {here}/b;
            fastcgi_temp_path {here}/c; uwsgi_temp_path {here}/d; scgi_temp_path {here}/e;
            server {{ listen 127.0.0.1:{port}; root {here}; location /short {{ return 200 hello; }} }} }}"
        )
        };
        let conf = folder.join("conf");
        let (server, port) = serves(|port| {
            std::fs::write(&conf, config(port)).unwrap();
            start(built, server_has, "nginx", &["-c", conf.to_str().unwrap()])
        });
        // Several files over one connection, while the configuration is read again and again.
        let url = format!("http://127.0.0.1:{port}/file");
        let short = format!("http://127.0.0.1:{port}/short");
        let (mut load, of_load) = Witness::command(built, client, "wrk", port);
        load.args(["-c", "8", "-t", "1", "-d", "2", &short]).stdout(Stdio::piped());
        let load = load.spawn().ok();
        for round in 0..4 {
            let (mut run, witness) = Witness::command(built, client, "curl", port);
            let got = run.args(["-s", "--max-time", "60"]).args([&url; 12]).output().unwrap();
            assert!(
                got.status.success() && got.stdout == bytes.repeat(12),
                "library: {who}, round {round}: {}",
                got.status
            );
            witness.check(server_has && client, who);
            // SAFETY: a process of this test's own.
            unsafe { libc::kill(server.0.id().cast_signed(), libc::SIGHUP) };
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        match load {
            Some(load) => {
                let got = text(&load.wait_with_output().unwrap());
                assert!(got.contains("requests in") && !got.contains("Non-2xx"), "library: {who}: {got}");
                of_load.check(server_has && client, who);
            }
            None => println!("skipped: wrk is not installed"),
        }
        drop(server);
    }
}

/// As Debian sets it up: files by `sendfile`, and workers of another user where root begins it. Nothing of either becomes fast, or stays so, and all comes.
#[test]
fn nginx_as_it_comes_serves_files() {
    let Some(built) = built() else { return };
    if !installed("nginx", "-v") || !installed("curl", "--version") {
        return;
    }
    let folder = Folder::new("nginx-plain");
    let bytes: Vec<u8> = (0..300_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(folder.join("file"), &bytes).unwrap();
    std::fs::set_permissions(&*folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // SAFETY: asks for a number.
    let user = if unsafe { libc::geteuid() } == 0 { "user nobody nogroup;" } else { "" };
    for (who, server_has, client) in WAYS {
        let (here, conf) = (folder.display(), folder.join("conf"));
        let (_server, port) = serves(|port| {
            let config = format!(
                "{user} worker_processes auto; daemon off; pid {here}/pid; error_log {here}/errors;
                events {{ worker_connections 768; }}
                http {{ access_log off; sendfile on; tcp_nopush on; client_body_temp_path {here}/a; proxy_temp_path {here}/b;
                fastcgi_temp_path {here}/c; uwsgi_temp_path {here}/d; scgi_temp_path {here}/e;
                server {{ listen 127.0.0.1:{port}; root {here}; }} }}"
            );
            std::fs::write(&conf, config).unwrap();
            start(built, server_has, "nginx", &["-c", conf.to_str().unwrap()])
        });
        let (mut run, witness) = Witness::command(built, client, "curl", port);
        let got = run.args(["-s", "--max-time", "60"]).args([&format!("http://127.0.0.1:{port}/file"); 12]).output();
        let got = got.unwrap();
        assert!(got.status.success() && got.stdout == bytes.repeat(12), "library: {who}: {}", got.status);
        if !user.is_empty() {
            witness.check(false, who);
        }
    }
}

#[test]
fn java_echoes_by_selectors() {
    let Some(built) = built() else { return };
    if !installed("javac", "-version") || !installed("java", "-version") {
        return;
    }
    let folder = Folder::new("java");
    let compiled = Command::new("javac").arg("-d").arg(&*folder).arg(own("Echo.java")).status().unwrap();
    assert!(compiled.success());
    let path = folder.to_str().unwrap();
    for (who, server, client) in WAYS {
        let (_server, port) =
            serves(|port| start(built, server, "java", &["-cp", path, "Echo", "server", &port.to_string()]));
        let at = port.to_string();
        let (mut run, witness) = Witness::command(built, client, "java", port);
        let got = run.args(["-cp", path, "Echo", "client", &at]).output().unwrap();
        assert_eq!(text(&got), "3000000 bytes", "library: {who}");
        witness.check(server && client, who);
    }
}

#[test]
fn go_is_untouched() {
    let Some(built) = built() else { return };
    if !installed("go", "version") {
        return;
    }
    let folder = Folder::new("go");
    let program = folder.join("echo");
    let made =
        Command::new("go").args(["build", "-o"]).arg(&program).arg(own("echo.go")).env("CGO_ENABLED", "0").status();
    assert!(made.unwrap().success());
    let program = program.to_str().unwrap();
    for (who, server, client) in WAYS {
        let (_server, port) = serves(|port| start(built, server, program, &["server", &port.to_string()]));
        let at = port.to_string();
        let got = command(built, client, program).args(["client", &at]).output().unwrap();
        assert_eq!(text(&got), "same", "library: {who}");
    }
}

#[test]
fn a_static_program_is_untouched() {
    let Some(built) = built() else { return };
    let folder = Folder::new("static");
    let program = folder.join("contract");
    let made = Command::new("cc")
        // The cases have an allocator of their own, beside the C library's.
        .args(["-w", "-static", "-Wl,-z,muldefs", "-o"])
        .arg(&program)
        .args(common::cases())
        .stderr(Stdio::null())
        .status();
    if !made.is_ok_and(|made| made.success()) {
        println!("skipped: the C library cannot be linked statically here");
        return;
    }
    let program = program.to_str().unwrap();
    for other in [program, built.program.to_str().unwrap()] {
        let mut server = command(built, true, program).args(["server", "echo"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = std::io::BufReader::new(server.stdout.take().unwrap());
        let mut port = String::new();
        std::io::BufRead::read_line(&mut out, &mut port).unwrap();
        let mut client = command(built, true, other);
        let got = client.args(["client", "echo", port.trim()]).stderr(Stdio::piped()).output().unwrap();
        assert!(got.status.success() && text(&got).ends_with("echo 1000000"), "{other}: {got:?}");
        assert_eq!(String::from_utf8_lossy(&got.stderr), "kernel\n");
        assert!(server.wait().unwrap().success());
    }
}
