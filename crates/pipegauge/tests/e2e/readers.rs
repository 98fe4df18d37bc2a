//! Who reads what the command prints: nobody any more, nobody yet, a full disk. What is done does not depend on it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::processes::{all_end, under_way};
use super::support::{LONG, Running, SHORT, Scratch, json};

/// The near side's short run against a serving one.
fn near(dir: &Scratch, peer: &str, key: &str) -> Command {
    let mut command = dir.command(&[&["run", "tcp", "--peer", peer], &SHORT[..]].concat());
    command.env("PIPEGAUGE_KEY", key);
    command
}

/// A stranger comes and goes, and serve has turned it away.
fn stranger(peer: &str) {
    let mut stream = TcpStream::connect(peer).expect("the port that serve named");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it listens");
    // Its answer, or its end, says that it has judged.
    let _ = std::io::Read::read(&mut stream, &mut [0; 64]);
}

#[test]
fn serve_goes_on_when_the_reader_of_its_key_has_gone() {
    let dir = Scratch::new();
    let mut command = dir.command(&["serve", "--bind", "127.0.0.1", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    let listening = json(&line);
    let peer = listening["address"].as_str().unwrap();
    for _ in 0..3 {
        stranger(peer);
    }
    let said = Running::start(near(&dir, peer, listening["key"].as_str().unwrap())).end();
    assert!(said.measured(), "{said}");
    let served = Running::of(child).end();
    assert_eq!(served.code(), 0, "{served}");
}

#[test]
fn serve_goes_on_when_nobody_reads_what_it_says() {
    let dir = Scratch::new();
    let (unread, full) = std::io::pipe().unwrap();
    let mut command = dir.command(&["serve", "--bind", "127.0.0.1"]);
    let child = command.stdout(Stdio::piped()).stderr(full.try_clone().unwrap()).spawn().unwrap();
    drop(command);
    let serve = Running::of(child);
    let line = serve.line();
    let words: Vec<&str> = line.split_whitespace().collect();
    let (peer, key) = (words[4], words[6]);
    // Opened anew, so that only this end of the pipe does not wait.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let again = format!("/proc/self/fd/{}", full.as_raw_fd());
    let mut filler = OpenOptions::new().write(true).custom_flags(nonblocking).open(again).unwrap();
    let filled = loop {
        if let Err(e) = filler.write(&[b'x'; 1]) {
            break e;
        }
    };
    assert_eq!(filled.kind(), ErrorKind::WouldBlock);
    for _ in 0..3 {
        stranger(peer);
    }
    let said = Running::start(near(&dir, peer, key)).end();
    assert!(said.measured(), "{said}");
    let served = serve.end();
    assert_eq!(served.code(), 0, "{served}");
    drop(unread);
}

#[test]
fn a_key_that_cannot_be_printed_ends_serve_with_the_cause() {
    let dir = Scratch::new();
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        return super::support::skip("there is no /dev/full");
    };
    let mut command = dir.command(&["serve", "--bind", "127.0.0.1"]);
    let said = Running::of(command.stdout(full).stderr(Stdio::piped()).spawn().unwrap()).end();
    said.refuses(&["standard output", "No space left"]);
    assert!(!said.err.contains("interrupted"), "{said}");
    // A reader that was gone before it began has seen what it wanted, as everywhere.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = dir.command(&["serve", "--bind", "127.0.0.1"]);
    let said = Running::of(command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap()).end();
    assert_eq!(said.code(), 0, "{said}");
}

#[test]
fn help_that_cannot_be_written_is_no_success() {
    let dir = Scratch::new();
    for words in ["--help", "--version"] {
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
            return super::support::skip("there is no /dev/full");
        };
        let said = Running::of(dir.command(&[words]).stdout(full).stderr(Stdio::piped()).spawn().unwrap()).end();
        said.refuses(&["standard output", "No space left"]);
    }
}

#[test]
fn a_run_that_fell_short_says_so_to_a_shell_whose_reader_has_gone() {
    let dir = Scratch::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = dir.command(&[&["run", "tcp", "-o", "x.run.jsonl"], &LONG[..]].concat());
    let mut run = Running::of(command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap());
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    run.signal(Signal::INT);
    let said = run.end();
    assert_eq!(said.code(), 1, "{said}");
    said.complains(&["interrupted"]);
    all_end(&[far]);
}

#[test]
fn a_file_name_that_is_no_text_is_a_file_name() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Scratch::new();
    let name = std::ffi::OsStr::from_bytes(b"\xff.run.jsonl");
    let mut command = dir.command(&[&["run", "memcpy"], &SHORT[..]].concat());
    command.arg("-o").arg(name);
    let said = Running::start(command).end();
    assert!(said.measured(), "{said}");
    let mut command = dir.command(&["show"]);
    command.arg(name);
    let shown = Running::start(command).end();
    assert_eq!(shown.code(), 0, "{shown}");
}
