//! The replicated log of `examples/log`: logs are the same, what a minority is given waits and is in all of them in the end, and a log that can't be written costs its own member only.

mod group;
#[allow(dead_code)]
#[path = "../examples/log/main.rs"]
mod log;

use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use group::namespace::Namespace;
use strata::Config;
use strata::net::{Failed, Options};

/// Far longer than anything takes on a busy machine, and shorter than silence takes to be noticed here.
const PATIENCE: Duration = Duration::from_secs(60);

fn options(bind: SocketAddr, contacts: &[SocketAddr]) -> Options {
    let suspect = PATIENCE * 2;
    // Who leaves before the others know for certain takes their majority along.
    let config = Config { suspect, drain: PATIENCE / 2, ..Config::default() };
    Options { bind, contacts: contacts.to_vec(), config, patience: PATIENCE, ..log::options() }
}

/// An input that a test writes to and ends.
struct Said(Receiver<&'static str>);

impl Read for Said {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Ok(line) = self.0.recv() else { return Ok(0) };
        to[..line.len()].copy_from_slice(line.as_bytes());
        Ok(line.len())
    }
}

struct Member {
    at: SocketAddr,
    path: PathBuf,
    input: Sender<&'static str>,
    thread: std::thread::JoinHandle<Result<(), Failed>>,
}

fn member(name: &str, contacts: &[SocketAddr]) -> Member {
    member_at(std::env::temp_dir().join(format!("strata-log-{}-{name}", std::process::id())), contacts)
}

fn member_at(path: PathBuf, contacts: &[SocketAddr]) -> Member {
    // Free now, and nobody else asks for it by number.
    let at = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (input, said) = channel();
    let (options, file) = (options(at, contacts), path.clone());
    let thread = std::thread::spawn(move || log::serve(options, &file, BufReader::new(Said(said))));
    Member { at, path, input, thread }
}

/// Until the file has this.
fn wait_for(path: &Path, text: &str) {
    let until = Instant::now() + PATIENCE;
    let mut now = None;
    while now.as_deref() != Some(text) {
        assert!(Instant::now() < until, "{now:?} and not {text:?}");
        std::thread::sleep(Duration::from_millis(10));
        now = std::fs::read_to_string(path).ok();
    }
}

impl Member {
    fn wait_for(&self, text: &str) {
        wait_for(&self.path, text);
    }

    fn end(self) {
        drop(self.input);
        self.thread.join().unwrap().unwrap();
        std::fs::remove_file(self.path).unwrap();
    }
}

#[test]
fn logs_are_the_same_and_who_joins_is_given_what_was_before() {
    let a = member("a", &[]);
    a.input.send("one\n").unwrap();
    a.wait_for("one\n");
    let b = member("b", &[a.at]);
    b.wait_for("one\n");
    b.input.send("two\n").unwrap();
    [&a, &b].iter().for_each(|m| m.wait_for("one\ntwo\n"));
    b.end();
    a.end();
}

#[test]
fn a_full_disk_under_a_log_is_told_and_its_member_leaves_and_the_group_goes_on() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full");
        return;
    }
    let a = member("full", &[]);
    a.input.send("one\n").unwrap();
    a.wait_for("one\n");
    let bind = "127.0.0.1:0".parse().unwrap();
    let why = log::serve(options(bind, &[a.at]), Path::new("/dev/full"), Cursor::new("two\n")).unwrap_err();
    let why = why.to_string();
    assert!(why.contains("/dev/full") && why.contains("left the group: No space left"), "{why}");
    // Were the other still in the view, nothing would be safe before its silence is noticed.
    a.input.send("three\n").unwrap();
    a.wait_for("one\nthree\n");
    a.end();
}

#[test]
fn who_joins_a_log_on_a_device_is_given_an_empty_one() {
    for device in ["/dev/full", "/dev/zero"] {
        if !Path::new(device).exists() {
            println!("skipped: there is no {device}");
            continue;
        }
        let a = member_at(device.into(), &[]);
        let b = member(&device.replace('/', "-"), &[a.at]);
        b.input.send("one\n").unwrap();
        b.wait_for("one\n");
        b.end();
        // Where nothing can be written it has left, and says why.
        drop(a.input);
        assert_eq!(a.thread.join().unwrap().is_err(), device == "/dev/full");
    }
}

#[test]
fn those_who_stay_go_on_after_the_founder_has_left() {
    let a = member("founder", &[]);
    a.input.send("one\n").unwrap();
    let b = member("stays", &[a.at]);
    b.wait_for("one\n");
    a.end();
    b.input.send("two\n").unwrap();
    b.wait_for("one\ntwo\n");
    b.end();
}

#[test]
fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_not() {
    let path = std::env::temp_dir().join(format!("strata-log-{}-long", std::process::id()));
    let input = [&b"one\n"[..], &[b'x'; 3 << 20], b"\ntwo\nthe last has no end"].concat();
    let bind = "127.0.0.1:0".parse().unwrap();
    log::serve(options(bind, &[]), &path, Cursor::new(input)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthe last has no end\n");
    std::fs::remove_file(&path).unwrap();
}

const AS_MEMBER: &str = "STRATA_TEST_LOG";

#[test]
#[ignore = "a member of the next test, which starts it as a process"]
fn process() {
    let how = std::env::var(AS_MEMBER).expect("the next test starts this");
    let [file, bind, contact] = how.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let contacts = if contact == bind { Vec::new() } else { vec![contact.parse().unwrap()] };
    let config = Config { contacts: contacts.clone(), ..Config::default() };
    let options = Options { bind: bind.parse().unwrap(), contacts, config, patience: PATIENCE, ..log::options() };
    log::serve(options, Path::new(file), BufReader::new(io::stdin())).unwrap();
}

/// A log as a process of a namespace.
struct Process {
    child: Child,
    path: PathBuf,
    said: Receiver<String>,
}

impl Process {
    fn start(within: &Namespace, host: u8) -> Self {
        let path = std::env::temp_dir().join(format!("strata-log-{}-host{host}", std::process::id()));
        let program = std::env::current_exe().unwrap();
        let mut child = within
            .command(program.to_str().unwrap())
            .args(["--ignored", "--exact", "process", "--nocapture"])
            .env(AS_MEMBER, format!("{} 127.0.0.{host}:7000 127.0.0.1:7000", path.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, said) = channel();
        let out = child.stderr.take().unwrap();
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).take_while(|l| to.send(l.clone()).is_ok()).count()
        });
        Self { child, path, said }
    }

    /// Until it says this from now on.
    fn says(&self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.said.recv_timeout(until.saturating_duration_since(Instant::now())).unwrap().contains(text) {}
    }

    fn line(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

#[test]
fn lines_of_a_minority_wait_and_are_in_all_logs_when_the_partition_heals() {
    let within = match Namespace::new() {
        Ok(made) => made,
        Err(why) => return println!("skipped: {why}"),
    };
    let mut a = Process::start(&within, 1);
    a.says("1 members");
    let b = Process::start(&within, 2);
    a.says("2 members");
    let mut c = Process::start(&within, 3);
    [&a, &b, &c].into_iter().for_each(|p| p.says("3 members"));
    a.line("one");
    [&a, &b, &c].into_iter().for_each(|p| wait_for(&p.path, "one\n"));
    within.part(&["127.0.0.3"]);
    // Perhaps before it knows: then it is cast in vain.
    c.line("two");
    c.says("1 members, which are no majority");
    c.line("three");
    a.says("2 members");
    a.line("four");
    [&a, &b].into_iter().for_each(|p| wait_for(&p.path, "one\nfour\n"));
    assert_eq!(std::fs::read_to_string(&c.path).unwrap(), "one\n", "nothing that may be lost");
    within.heal();
    [&a, &b, &c].into_iter().for_each(|p| wait_for(&p.path, "one\nfour\ntwo\nthree\n"));
}
