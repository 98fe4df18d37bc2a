//! Does something with a module's file in a process of its own: this program again, watched over.

use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rendezvous::Far;

use crate::exit::Exit;

/// Longest time that a module is given to load and to say what it is.
pub const LOADS: Duration = Duration::from_secs(10);
/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(2);
/// How long what a process that has ended said may take to be read: it lies in the pipe, but a process that the module left behind may
/// hold the pipe open for ever.
const RESTS: Duration = Duration::from_secs(1);
/// Most bytes that are read of what it says.
const MOST: u64 = 1 << 20;

/// What the process printed that does this with the file; the error says how it failed.
pub fn run(task: &[&str], file: &Path, more: &[&str], limit: Duration) -> Result<String, String> {
    let shown = units::received::clean(&file.display().to_string(), 200);
    let failed = |what: String| format!("{shown}: {what}");
    let mut process = watched()
        .args(task)
        .arg(file)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| failed(format!("starting a process that loads it: {e}")))?;
    // Read beside: a process that says more than a pipe holds would wait for ever.
    let (out, err) = (process.stdout.take().map(reader), process.stderr.take().map(reader));
    let since = Instant::now();
    let status = loop {
        match process.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if since.elapsed() < limit => std::thread::sleep(LOOK),
            Ok(None) => {
                // It ends: it is our own, and can't refuse.
                let _ = process.kill();
                let _ = process.wait();
                return Err(failed(format!("no answer within {} s: it hangs", limit.as_secs())));
            }
            Err(e) => return Err(failed(format!("waiting for the process that loads it: {e}"))),
        }
    };
    let until = Instant::now() + RESTS;
    let read = |from: Option<Heard>| from.map(|heard| heard.until(until)).unwrap_or_default();
    let (out, err) = (read(out), read(err));
    if status.success() { Ok(out) } else { Err(ended(&shown, status, &err)) }
}

/// Tells a process who started it.
pub const WATCHER: &str = "PIPEGAUGE_WATCHER";

/// This program again, as a process that [`ends_with_its_watcher`].
pub fn watched() -> Command {
    let mut command = Command::new(Far::own());
    command.env(WATCHER, std::process::id().to_string());
    command
}

/// For a process that is [`watched`]: it ends where the one that started it does, whatever its module is doing.
pub fn ends_with_its_watcher() {
    // Where the system refuses, the time limit is left.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // It may have ended before that.
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if std::env::var(WATCHER).is_ok_and(|watcher| watcher != parent.to_string()) {
        std::process::exit(Exit::CouldNot.code().into());
    }
}

/// The signal by which a process ends that found its module hanging.
const KILL: i32 = rustix::process::Signal::KILL.as_raw();

/// How the process ended, in words: its own last ones, or the signal that ended it.
fn ended(shown: &str, status: ExitStatus, err: &str) -> String {
    let last = err.lines().rev().find_map(|line| line.strip_prefix("pipegauge: "));
    match (status.signal(), last) {
        // It ended itself, and said why (`rendezvous::ends_where_a_call_hangs`).
        (Some(KILL), Some(last)) => format!("{shown}: {}", units::received::clean(last, 600)),
        (Some(signal), _) => format!("{shown}: it ended the process that had it loaded, by signal {signal}"),
        (None, Some(last)) => units::received::clean(last, 600),
        (None, None) => format!("{shown}: the process that had it loaded ended with {status}"),
    }
}

/// What a stream says, as it comes.
struct Heard {
    said: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Heard {
    /// All of it, or what came until then.
    fn until(self, until: Instant) -> String {
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// Reads a stream on a thread of its own.
fn reader(from: impl Read + Send + 'static) -> Heard {
    let said = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&said);
    let thread = std::thread::spawn(move || {
        let mut from = from.take(MOST);
        let mut piece = [0; 4096];
        // What can't be read is not there.
        loop {
            match from.read(&mut piece) {
                Ok(n @ 1..) => keep.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                _ => return,
            }
        }
    });
    Heard { said, thread }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_left_behind_holds_nobody() {
        let mut shell = Command::new("sh")
            .args(["-c", "echo said; setsid sleep 30 & exit 0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let heard = reader(shell.stdout.take().unwrap());
        let since = Instant::now();
        assert!(shell.wait().unwrap().success());
        assert_eq!(heard.until(Instant::now() + RESTS), "said\n");
        assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    }
}
