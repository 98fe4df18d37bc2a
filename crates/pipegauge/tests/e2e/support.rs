//! Running the command.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::Signal;
use tempfile::TempDir;

/// Longest wait for anything. Far above what is needed: reaching it is the failure.
pub const LIMIT: Duration = Duration::from_secs(300);

/// Until this test is over, no other that calls this runs, in this process or in another one of these tests: sides that spin hold a CPU
/// each, and two such tests at once leave none for processes that have to get ready in time.
pub fn alone() {
    thread_local! {
        // Each test has a thread of its own; where all share one, they follow each other anyway.
        static HELD: RefCell<Option<File>> = const { RefCell::new(None) };
    }
    HELD.with_borrow_mut(|held| {
        held.get_or_insert_with(|| {
            let file = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("alone.lock")).unwrap();
            while flock(&file, FlockOperation::LockExclusive) == Err(Errno::INTR) {}
            file
        });
    });
}

/// Flags of a run that is over in a moment. What it does is counted, not timed, so that a busy machine measures as much;
/// the budget only ends it where something hangs.
pub const SHORT: [&str; 16] = [
    "--sizes",
    "1,64,4KiB",
    "--perturb",
    "0",
    "--trials",
    "2",
    "--repeats",
    "10",
    "--budget",
    "60s",
    "--pin",
    "none",
    "--seed",
    "7",
    "--no-html",
    "--quiet",
];

/// The same with a report and progress.
pub const SHORT_LOUD: &[&str] = SHORT.split_at(14).0;

/// A short run of so many rounds as make a repeat of it.
pub fn rounds<'a>(output: &'a str, of: &[&'a str]) -> Vec<&'a str> {
    let trials = 1 + SHORT.iter().position(|flag| *flag == "--trials").expect("SHORT names its trials");
    [&["run"][..], of, &SHORT[..trials], &["4"], &SHORT[trials + 1..], &["-o", output]].concat()
}

/// Flags of a run that goes on until something ends it.
pub const LONG: [&str; 9] =
    ["--sizes", "64,4KiB,32KiB", "--budget", "120s", "--precision", "0.001%", "--pin", "none", "--no-html"];

/// The built command.
pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pipegauge"))
}

/// The variable that names the folder of earlier runs, and its value for tests: within the test's own directory, so that no test
/// reads or writes the user's.
pub const HISTORY: (&str, &str) = ("PIPEGAUGE_HISTORY", ".history");

/// The variable that names the folder of the journal of changes to the system, and its name in the test's own directory: the system's own
/// is not looked at.
pub const JOURNAL: (&str, &str) = ("PIPEGAUGE_JOURNAL", ".journal");

/// A directory of a test's own, and the command run in it.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The command, to be completed.
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.env_remove("PIPEGAUGE_KEY").env_remove("NO_COLOR").env(HISTORY.0, HISTORY.1);
        command.env(JOURNAL.0, self.path(JOURNAL.1));
        command
    }

    /// Runs the command to its end.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Said {
        Running::start(self.command(args)).end()
    }

    /// A short run into `name`, which must measure.
    pub fn measure(&self, name: &str, more: &[&str]) -> PathBuf {
        let mut args = vec!["run"];
        args.extend(more);
        args.extend(SHORT);
        args.extend(["-o", name]);
        let said = self.run(&args);
        assert!(said.measured(), "{said}");
        self.path(name)
    }

    /// Names of the files in the directory, but for the folders of earlier runs and of journals.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the scratch directory");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| name != HISTORY.1 && name != JOURNAL.1);
        names.sort();
        names
    }
}

/// What a finished process said.
pub struct Said {
    pub status: ExitStatus,
    pub out: Printed,
    pub err: Printed,
}

/// What was printed. Prose is broken into lines as a terminal is wide: words are looked for across their ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed(pub String);

impl Printed {
    pub fn contains(&self, words: &str) -> bool {
        let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.0.contains(words) || in_one_line(&self.0).contains(&in_one_line(words))
    }
}

impl Deref for Printed {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<&str> for Printed {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl AsRef<[u8]> for Printed {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl std::fmt::Display for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Said {
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Nothing broke and nothing was interrupted, but the precision that was asked for by name was missed.
    pub fn only_imprecise(&self) -> bool {
        let broke = self.err.contains("what was measured until then");
        // With --json it is standard error that people read.
        let missed = |text: &str| text.contains("less sure than --precision asks for");
        self.code() == 1 && !broke && (missed(&self.out) || missed(&self.err))
    }

    /// All that was asked for was measured.
    pub fn measured(&self) -> bool {
        self.code() == 0
    }

    /// Fails unless the exit code is 2 and standard error has every one of `words`.
    pub fn refuses(&self, words: &[&str]) {
        assert_eq!(self.code(), 2, "{self}");
        self.complains(words);
    }

    /// Fails unless standard error has every one of `words`, and nothing panicked.
    pub fn complains(&self, words: &[&str]) {
        assert!(!self.err.contains("panicked"), "{self}");
        for word in words {
            assert!(self.err.contains(word), "'{word}' is missing in: {self}");
        }
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n--- standard output\n{}\n--- standard error\n{}", self.status, self.out, self.err)
    }
}

/// A process that a test started; ended, with its children, when the test is.
pub struct Running {
    child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
    lines: Receiver<String>,
}

impl Running {
    /// Starts `command` with its outputs read all along, so that it never waits for a reader.
    pub fn start(mut command: Command) -> Self {
        Self::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starting the command"))
    }

    /// A process whose outputs are what the test chose; those that are pipes of this process are read all along.
    pub fn of(mut child: Child) -> Self {
        let (tell, lines) = channel();
        let read_out = move |stdout: ChildStdout| {
            let mut all = String::new();
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                all.push_str(&text);
                let _ = tell.send(text);
                line.clear();
            }
            all
        };
        let out = child.stdout.take().map(|stdout| std::thread::spawn(move || read_out(stdout)));
        let read_err = |mut stderr: ChildStderr| {
            let mut all = Vec::new();
            let _ = stderr.read_to_end(&mut all);
            String::from_utf8_lossy(&all).into_owned()
        };
        let err = child.stderr.take().map(|stderr| std::thread::spawn(move || read_err(stderr)));
        Self { child, out, err, lines }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its standard output.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(LIMIT).expect("a line of standard output")
    }

    pub fn signal(&self, signal: Signal) {
        super::processes::send(self.pid(), signal);
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for its end. A process that outlives the limit hangs, which is a failure.
    pub fn end(mut self) -> Said {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("waiting for the command") {
                Some(status) => break status,
                None if began.elapsed() > LIMIT => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    panic!("still running after {LIMIT:?}: {}", self.outputs(ExitStatus::default()));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        self.outputs(status)
    }

    pub fn outputs(&mut self, status: ExitStatus) -> Said {
        let join = |h: Option<JoinHandle<String>>| h.and_then(|h| h.join().ok()).unwrap_or_default();
        Said { status, out: Printed(join(self.out.take())), err: Printed(join(self.err.take())) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Waits until `what` gives something.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < LIMIT, "waited {LIMIT:?} in vain: {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Transports of the registry between two processes of this host that nothing must be set for, and that can be had here: a new one is
/// tested without a line here. Groups have tests of their own.
pub fn between_two_processes() -> Vec<&'static str> {
    let two = transport::registry::all().filter(|t| t.ends() == transport::Ends::Two);
    let of = two.filter(|t| !t.capabilities(&transport::Settings::default()).group);
    let (here, not): (Vec<_>, Vec<_>) = of.partition(|t| t.availability().and_then(|()| t.reaches_itself()).is_ok());
    for missing in not {
        skip(&format!("{} can't be had here", missing.name()));
    }
    here.into_iter().map(|t| t.name().as_str()).collect()
}

/// Whether a transport of the registry loses nothing.
pub fn reliable(name: &str) -> bool {
    let found = transport::registry::named(name).expect("a transport");
    found.capabilities(&transport::Settings::default()).reliable
}

/// Says why a test can't run here.
pub fn skip(why: &str) {
    println!("skipped: {why}");
}

/// Whether all trials of a run took place with nothing wrong, and its flows were never all under way at once: short ones take turns on a busy machine. Such
/// a run has carried what its test is about, though some of it has no figure; one that anything else ended says that instead.
pub fn only_never_at_once(said: &Said) -> bool {
    let nothing =
        said.code() == 2 && said.err.contains("nothing was measured: ") && said.err.contains("have no figure");
    let not_all = said.code() == 1 && said.err.contains("no size was measured on");
    (nothing || not_all) && said.err.contains("run at once")
}

pub fn root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether a program is installed.
pub fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let extra = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(extra).map(|dir| dir.join(program)).find(|p| p.is_file())
}

/// The JSON document that `text` is.
pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("not JSON ({e}): {text}"))
}
