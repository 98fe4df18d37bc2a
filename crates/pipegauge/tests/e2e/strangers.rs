//! What strangers send to `serve`: nothing may make it crash, hang, grow or measure, and the one with the key is still
//! served.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::processes::trial_in;
use super::support::{LONG, Running, Scratch};
use super::two_sides::Serve;

fn connect(serve: &Serve) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", serve.port())).expect("the port that serve named");
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Bytes of a fixed, arbitrary sequence (xorshift), so that a failure can be repeated.
fn noise(mut seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        bytes.extend_from_slice(&seed.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Resident memory of the serving process, KiB.
fn resident(serve: &Serve) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", serve.attendant())).expect("the serving process");
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number")
}

#[test]
fn strangers_neither_crash_nor_occupy_nor_grow_it() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let before = resident(&serve);

    // Silent ones that stay for the whole test.
    let silent: Vec<TcpStream> = (0..20).map(|_| connect(&serve)).collect();
    // Nonsense of many lengths, cut off in every way.
    for (n, len) in [1, 4, 5, 100, 4096, 65_536].into_iter().enumerate() {
        let mut stream = connect(&serve);
        let _ = stream.write_all(&noise(n as u64 + 1, len));
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read(&mut [0; 256]);
    }
    // Another protocol.
    let mut stream = connect(&serve);
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let _ = stream.read(&mut [0; 256]);
    // The start of a TLS record that claims to be long, and then nothing.
    let mut slow = connect(&serve);
    let _ = slow.write_all(&[0x16, 3, 1, 0x40, 0]);
    // A flood on one connection: it must be cut off, not collected.
    let mut flood = connect(&serve);
    for n in 0..256 {
        if flood.write_all(&noise(n + 7, 65_536)).is_err() {
            break;
        }
    }
    // Come and go.
    for _ in 0..100 {
        drop(connect(&serve));
    }

    let grown = resident(&serve).saturating_sub(before);
    assert!(grown < 32 << 10, "strangers made it grow by {grown} KiB");
    let said = serve.measure(&dir, &["tcp"]);
    assert!(said.measured(), "the one with the key must still be served: {said}");
    drop((silent, slow, flood));
    let served = serve.running.end();
    assert_eq!(served.code(), 0, "{served}");
    assert!(!served.err.contains("panicked"), "{served}");
}

#[test]
fn a_stranger_on_the_data_port_is_not_measured() {
    let dir = Scratch::new();
    let serve = Serve::start(&dir, &[]);
    let file = dir.path("x.run.jsonl");
    let args = ["tcp", "-o", "x.run.jsonl", "--reconnect", "--check"];
    let mut near = Running::start(serve.near(&dir, &[&args[..], &LONG].concat()));
    trial_in(&mut near, &file);
    // Every port that the serving side listens at, again and again while it measures.
    let mut bothered = 0;
    for round in 0..40 {
        for port in listening(serve.attendant()) {
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
                let _ = stream.write_all(&noise(round + 3, 200));
                bothered += 1;
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(bothered > 0, "no port was found");
    near.signal(rustix::process::Signal::INT);
    let said = near.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["interrupted"]);
    assert!(!said.err.contains("corrupt"), "{said}");
    let served = serve.running.end();
    assert!(!served.err.contains("panicked"), "{served}");
}

/// TCP ports at which a process listens, from /proc.
fn listening(pid: u32) -> Vec<u16> {
    let Ok(fds) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let sockets: Vec<String> = fds
        .filter_map(|e| std::fs::read_link(e.ok()?.path()).ok())
        .filter_map(|l| Some(l.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned()))
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let rows = table.lines().skip(1).map(|l| l.split_whitespace().collect::<Vec<_>>());
    rows.filter(|r| r.len() > 9 && r[3] == "0A" && sockets.iter().any(|s| s == r[9]))
        .filter_map(|r| u16::from_str_radix(r[1].rsplit_once(':')?.1, 16).ok())
        .collect()
}
