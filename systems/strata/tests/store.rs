//! The replicated store of `examples/store`, as processes that are killed and stopped under load, and its answers held against linearizability.

#[path = "store/linear.rs"]
mod linear;
#[path = "../examples/store/store.rs"]
mod store;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use linear::{Kind, Op, violation};
use rustix::process::{Pid, Signal, kill_process};
use strata::Config;
use strata::net::Options;

const PATIENCE: Duration = Duration::from_secs(60);
const AS_REPLICA: &str = "STRATA_TEST_STORE";

#[test]
#[ignore = "a replica of the other tests, which start it as a process"]
fn replica() {
    let how = std::env::var(AS_REPLICA).expect("the other tests start this");
    let (reads, contacts) = how.split_once(' ').unwrap();
    let reads = if reads == "stale" { store::Reads::Stale } else { store::Reads::Ordered };
    let contacts = contacts.split(' ').filter(|c| !c.is_empty()).map(|c| c.parse().unwrap()).collect();
    let suspect = Duration::from_millis(1000);
    let config = Config { suspect, status: suspect / 10, flush: suspect / 2, ..Config::default() };
    let options = Options { contacts, config, patience: PATIENCE, ..store::options() };
    store::serve(options, reads, BufReader::new(std::io::stdin()), std::io::stdout()).unwrap();
}

/// A replica whose answers can't be written says so and leaves: the other is told at once, and not by a silence.
#[test]
fn a_full_disk_under_the_answers_is_told_and_the_replica_leaves() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full");
        return;
    };
    let options = || {
        let config = Config { suspect: PATIENCE * 2, ..Config::default() };
        Options { config, patience: PATIENCE, ..store::options() }
    };
    let mut other = strata::net::Replica::join(options()).unwrap();
    let contacts = vec![other.me().addr];
    let (_open, input) = std::io::pipe().map(|(reader, writer)| (writer, reader)).unwrap();
    let serve = move || {
        let options = Options { contacts, ..options() };
        store::serve(options, store::Reads::Ordered, BufReader::new(input), full).unwrap_err().to_string()
    };
    let served = std::thread::spawn(serve);
    let (until, mut sizes) = (Instant::now() + PATIENCE, Vec::new());
    while sizes != [1, 2, 1] {
        assert!(Instant::now() < until, "views of {sizes:?}");
        match other.poll(Duration::from_millis(10)).unwrap() {
            Some(strata::net::News::State(strata::state::Change::View { view, .. })) => sizes.push(view.members.len()),
            Some(strata::net::News::State(strata::state::Change::Wanted)) => _ = other.give("none of a store"),
            _ => {}
        }
    }
    let said = served.join().unwrap();
    assert!(said.contains("No space left") && said.contains("left the group"), "{said}");
}

/// A replica as a process.
struct Process {
    child: Mutex<Child>,
    input: Mutex<ChildStdin>,
    heard: std::sync::Arc<(Mutex<Heard>, Condvar)>,
}

#[derive(Default)]
struct Heard {
    lines: Vec<String>,
    ended: bool,
}

impl Process {
    fn start(reads: &str, contacts: &[SocketAddr]) -> Self {
        let contacts: Vec<_> = contacts.iter().map(ToString::to_string).collect();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "replica", "--nocapture"])
            .env(AS_REPLICA, format!("{reads} {}", contacts.join(" ")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let heard = std::sync::Arc::new((Mutex::new(Heard::default()), Condvar::new()));
        let (to, out) = (heard.clone(), child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                to.0.lock().unwrap().lines.push(line);
                to.1.notify_all();
            }
            to.0.lock().unwrap().ended = true;
            to.1.notify_all();
        });
        let input = Mutex::new(child.stdin.take().unwrap());
        let process = Self { child: Mutex::new(child), input, heard };
        process.line(|l| l.starts_with("replica "));
        process
    }

    /// The first line that is wanted, or none where the process ends, or says nothing of it in time.
    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let until = Instant::now() + PATIENCE;
        let mut heard = self.heard.0.lock().unwrap();
        let mut seen = 0;
        loop {
            if let Some(line) = heard.lines[seen..].iter().find(|l| wanted(l)) {
                return Some(line.clone());
            }
            seen = heard.lines.len();
            let left = until.saturating_duration_since(Instant::now());
            if heard.ended || left.is_zero() {
                return None;
            }
            heard = self.heard.1.wait_timeout(heard, left).unwrap().0;
        }
    }

    fn line(&self, wanted: impl Fn(&str) -> bool) -> String {
        self.find(wanted).unwrap_or_else(|| panic!("not said: {}", self.told()))
    }

    /// What it said of itself.
    fn told(&self) -> String {
        let heard = self.heard.0.lock().unwrap();
        let told = heard.lines.iter().filter(|l| !l.starts_with('q'));
        told.map(|l| format!("{l}\n")).collect()
    }

    fn addr(&self) -> SocketAddr {
        let line = self.line(|l| l.starts_with("replica "));
        line["replica ".len()..].split('#').next().unwrap().parse().unwrap()
    }

    /// Until it has told that many primary views of so many members.
    fn in_primary_view_of(&self, members: usize) {
        self.line(|l| l.starts_with(&format!("view primary of {members}: ")));
    }

    fn say(&self, request: &str) -> bool {
        writeln!(self.input.lock().unwrap(), "{request}").is_ok()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.lock().unwrap()), signal).unwrap();
    }

    fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap();
        // It may have ended before.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Of two replicas the older is killed: the other is no majority, and says why it does nothing.
#[test]
fn a_minority_says_why_it_refuses_and_what_others_put_is_shown_escaped() {
    let a = Process::start("ordered", &[]);
    a.in_primary_view_of(1);
    let b = Process::start("ordered", &[a.addr()]);
    [&a, &b].iter().for_each(|p| p.in_primary_view_of(2));
    b.line(|l| l == "counts");
    b.say("q1 put screen \u{1b}[2Jclean");
    b.line(|l| l == "q1 ok");
    a.say("q2 get screen");
    assert_eq!(a.line(|l| l.starts_with("q2 ")), "q2 is \\u{1b}[2Jclean");
    a.kill();
    b.line(|l| l.starts_with("view minor of 1"));
    b.say("q3 put screen x");
    let refused = b.line(|l| l.starts_with("q3 "));
    assert!(refused.starts_with("q3 no: ") && refused.contains("no majority"), "{refused}");
}

/// What clients did, with moments of one counter: an operation that was answered before another was called has the lower moments.
#[derive(Default)]
struct History {
    clock: AtomicU64,
    names: AtomicUsize,
    ops: Mutex<BTreeMap<String, Vec<Op>>>,
}

impl History {
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Asks, and writes down what came of it. Whether it was answered.
    fn ask(&self, of: &Process, key: &str, put: Option<&str>) -> bool {
        let pending = self.call(of, key, put);
        self.answer(of, pending)
    }

    fn call(&self, of: &Process, key: &str, put: Option<&str>) -> (String, String, Kind, u64) {
        let name = format!("q{}", self.names.fetch_add(1, Ordering::SeqCst));
        let request = match put {
            Some(value) => format!("{name} put {key} {value}"),
            None => format!("{name} get {key}"),
        };
        let kind = put.map_or(Kind::Get(None), |value| Kind::Put(value.to_owned()));
        let called = self.now();
        of.say(&request);
        (name, key.to_owned(), kind, called)
    }

    fn answer(&self, of: &Process, (name, key, kind, called): (String, String, Kind, u64)) -> bool {
        let answer = of.find(|l| l.strip_prefix(&name).is_some_and(|rest| rest.starts_with(' ')));
        let answered = Some(self.now());
        let answer = answer.as_deref().map(|a| &a[name.len() + 1..]);
        // Why it did nothing stands behind.
        let answer = answer.map(|a| if a.starts_with("no: ") { "no" } else { a });
        let op = match (kind, answer) {
            (Kind::Put(value), Some("ok")) => Op { kind: Kind::Put(value), called, answered },
            (Kind::Put(_), Some("no")) => return false,
            (Kind::Put(value), Some("unknown") | None) => Op { kind: Kind::Put(value), called, answered: None },
            (Kind::Get(_), Some("none")) => Op { kind: Kind::Get(None), called, answered },
            (Kind::Get(_), Some("no" | "unknown") | None) => return false,
            (Kind::Get(_), Some(text)) => {
                let text = text.strip_prefix("is ").unwrap_or_else(|| panic!("an odd answer: {text}"));
                Op { kind: Kind::Get(Some(text.to_owned())), called, answered }
            }
            (kind, answer) => panic!("an odd answer to {kind:?}: {answer:?}"),
        };
        let done = op.answered.is_some();
        self.ops.lock().unwrap().entry(key).or_default().push(op);
        done
    }

    /// Asks until it is done; each put writes another value.
    fn ask_until_done(&self, of: &Process, key: &str, put: Option<&str>) {
        let until = Instant::now() + PATIENCE;
        let mut tries = 0;
        while !self.ask(of, key, put.map(|value| format!("{value}{tries}")).as_deref()) {
            assert!(Instant::now() < until, "not answered in time: {}", of.told());
            std::thread::sleep(Duration::from_millis(5));
            tries += 1;
        }
    }

    fn violation(&self) -> Option<(String, Vec<Op>)> {
        self.ops.lock().unwrap().iter().find_map(|(key, ops)| violation(ops).map(|v| (key.clone(), v)))
    }
}

/// Replicas, of which a test replaces some while clients ask.
struct Group(Mutex<Vec<std::sync::Arc<Process>>>);

impl Group {
    fn of_three(reads: &str) -> Self {
        let a = Process::start(reads, &[]);
        let b = Process::start(reads, &[a.addr()]);
        let c = Process::start(reads, &[a.addr()]);
        [&a, &b, &c].iter().for_each(|p| p.in_primary_view_of(3));
        [&b, &c].iter().for_each(|p| _ = p.line(|l| l == "counts"));
        Self(Mutex::new([a, b, c].map(std::sync::Arc::new).into()))
    }

    fn at(&self, at: usize) -> std::sync::Arc<Process> {
        self.0.lock().unwrap()[at].clone()
    }

    /// A replica is killed, and another comes in its place with the state of those that are left.
    fn replace(&self, at: usize) {
        self.at(at).kill();
        let contacts = [self.at((at + 1) % 3).addr(), self.at((at + 2) % 3).addr()];
        let new = Process::start("ordered", &contacts);
        // Only then may the next be killed.
        new.line(|l| l == "counts");
        self.0.lock().unwrap()[at] = std::sync::Arc::new(new);
    }
}

/// Three replicas under load, of which one after the other, the founder first, is killed and replaced: what clients were answered is linearizable, and all that was acknowledged is there in the end.
#[test]
fn a_store_whose_replicas_are_all_killed_in_turn_under_load_is_linearizable() {
    const DONE: usize = 240;
    let group = Group::of_three("ordered");
    let history = History::default();
    let done = [const { AtomicUsize::new(0) }; 3];
    std::thread::scope(|scope| {
        for client in 0..3 {
            let (group, history, done) = (&group, &history, &done);
            scope.spawn(move || {
                let until = Instant::now() + PATIENCE;
                for n in 0.. {
                    if Instant::now() > until {
                        return;
                    }
                    let asked = group.at(client);
                    let key = format!("k{}", (n / 2 + client) % 6);
                    let value = format!("v{client}.{n}");
                    if history.ask(&asked, &key, (n % 2 == 0).then_some(&*value)) {
                        if done[client].fetch_add(1, Ordering::SeqCst) + 1 >= DONE {
                            return;
                        }
                    } else {
                        // Its replica is down, or in no primary view: ask again.
                        std::thread::sleep(Duration::from_millis(5));
                    }
                }
            });
        }
        let progress = |share: usize| {
            let until = Instant::now() + PATIENCE;
            let reached = || done.iter().all(|d| d.load(Ordering::SeqCst) >= DONE * share / 4);
            while !reached() {
                if Instant::now() > until {
                    let told: Vec<_> = (0..3).map(|at| group.at(at).told()).collect();
                    panic!("clients get no answers: {done:?}\n{}", told.join("\n"));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        for at in 0..3 {
            progress(at + 1);
            group.replace(at);
        }
    });
    let ops: usize = history.ops.lock().unwrap().values().map(Vec::len).sum();
    assert!(ops >= 3 * DONE);
    // What is there in the end belongs to the history, read at each replica.
    for at in 0..3 {
        group.at(at).line(|l| l.starts_with("view primary of 3: "));
        for key in 0..6 {
            history.ask_until_done(&group.at(at), &format!("k{key}"), None);
        }
    }
    if let Some((key, ops)) = history.violation() {
        panic!("{key} is not linearizable; not explained: {ops:#?}");
    }
}

/// A replica that was stopped while a put went through without it answers nothing old when it goes on.
#[test]
fn who_was_stopped_answers_nothing_old() {
    let group = Group::of_three("ordered");
    let history = History::default();
    let (a, c) = (group.at(0), group.at(2));
    history.ask_until_done(&a, "k", Some("old"));
    history.ask_until_done(&c, "k", None);
    c.signal(Signal::STOP);
    // Those that wait as the view ends are answered as unknown.
    history.ask_until_done(&a, "k", Some("new"));
    let pending = history.call(&c, "k", None);
    c.signal(Signal::CONT);
    history.answer(&c, pending);
    history.ask_until_done(&c, "k", None);
    assert!(history.violation().is_none(), "{:?}", history.violation());
}

/// The fault that the checker is to find: reads that are not ordered with the puts, at a replica that lags.
#[test]
fn the_checker_finds_stale_reads() {
    let group = Group::of_three("stale");
    let history = History::default();
    history.ask_until_done(&group.at(0), "k", Some("old"));
    history.ask_until_done(&group.at(0), "k", Some("new"));
    history.ask_until_done(&group.at(2), "k", None);
    let (key, ops) = history.violation().expect("an old value after a new one was acknowledged");
    assert!(key == "k" && ops.len() >= 2, "{ops:?}");
}
