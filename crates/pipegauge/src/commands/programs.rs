//! Programs of the system that networks are made and set with: those of iproute2, ethtool, util-linux.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::exit::Exit;

/// Places where an administrator's programs are, which a user's PATH may lack.
const PLACES: [&str; 2] = ["/usr/sbin", "/sbin"];
/// Longest text of an error that is kept, characters.
const SAID: usize = 300;
/// Longest text of either output that is read, bytes.
const PRINTED: u64 = 16 << 20;
/// How long one command may take. Each takes a moment; one that hangs does so in the kernel, and whoever waits for it does not look at signals.
const LIMIT: Duration = Duration::from_secs(60);
/// How long each may take once one has hung: it may hold what the others need.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// Whether one has.
static HUNG: AtomicBool = AtomicBool::new(false);

/// PATH with these places at its end.
pub fn path() -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&own).chain(PLACES.map(PathBuf::from));
    std::env::join_paths(all).unwrap_or(own)
}

/// An error with the package to install where one of these is missing. `what` needs them.
pub fn needed<'a>(what: &str, programs: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let installed = |program: &str| std::env::split_paths(&path()).any(|place| place.join(program).is_file());
    if let Some(program) = programs.into_iter().find(|program| !installed(program)) {
        bail!("{what} needs the program {program}: install it (apt install {})", package(program));
    }
    Ok(())
}

/// Debian's package of a program.
fn package(program: &str) -> &str {
    match program {
        "ip" | "tc" => "iproute2",
        "unshare" => "util-linux",
        other => other,
    }
}

/// A command that did not do what it was started for.
#[derive(Debug)]
pub struct Failed {
    /// Its line.
    line: String,
    /// What it said.
    pub why: String,
    /// Whether it was started at all.
    pub started: bool,
    /// Whether it did not end. It was killed, but what hangs in the kernel may go on.
    pub hung: bool,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.started { "failed" } else { "can't be started" };
        write!(f, "`{}` {what}: {}", self.line, self.why)
    }
}

/// Runs one command to its end, without input; what it printed. Ctrl-C at the terminal does not reach it: what it began is done whole.
///
/// # Errors
/// It can't be started, failed, or did not end in a minute, and was killed.
pub fn ran(step: &[String]) -> Result<String, Failed> {
    limited(step, Stdio::null())
}

/// The same. The command holds the lock of this file, too, until it ends: also where this process is killed meanwhile.
pub fn ran_holding(step: &[String], lock: Option<&File>) -> Result<String, Failed> {
    // As its input, since that is what a command inherits. It reads none.
    let input = match lock.map(File::try_clone).transpose() {
        Ok(file) => file.map_or_else(Stdio::null, Stdio::from),
        Err(e) => {
            let why = format!("its journal can't be handed on: {e}");
            return Err(Failed { line: report::words::command(step), why, started: false, hung: false });
        }
    };
    limited(step, input)
}

fn limited(step: &[String], input: Stdio) -> Result<String, Failed> {
    let limit = if HUNG.load(Ordering::Relaxed) { AFTERWARDS } else { LIMIT };
    let done = within(step, input, limit);
    if done.as_ref().is_err_and(|failed| failed.hung) {
        HUNG.store(true, Ordering::Relaxed);
    }
    done
}

fn within(step: &[String], input: Stdio, limit: Duration) -> Result<String, Failed> {
    let failed = |why: String, started| Failed { line: report::words::command(step), why, started, hung: false };
    let Some((program, words)) = step.split_first() else { return Ok(String::new()) };
    let mut line = Command::new(program);
    line.args(words).env("PATH", path()).env("LC_ALL", "C").process_group(0);
    line.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let until = Instant::now() + limit;
    let mut child = line.spawn().map_err(|e| failed(e.to_string(), false))?;
    // What this process holds of its input is dropped, so that the lock ends with the command.
    drop(line);
    let (out, err) = (read(child.stdout.take()), read(child.stderr.take()));
    let text = |of: Receiver<Vec<u8>>| of.recv_timeout(until.saturating_duration_since(Instant::now())).ok();
    let done = text(out).zip(text(err)).and_then(|(out, err)| Some((out, err, ended(&mut child, until)?)));
    let Some((out, err, status)) = done else {
        let why = format!("it did not end in {} s, and was killed", limit.as_secs_f64());
        // It may have ended just now.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        std::thread::spawn(move || child.wait());
        return Err(Failed { hung: true, ..failed(why, true) });
    };
    if status.success() {
        return Ok(String::from_utf8_lossy(&out).into_owned());
    }
    let said = units::received::clean(String::from_utf8_lossy(&err).trim(), SAID);
    Err(failed(if said.is_empty() { format!("it ended with {}", code(status)) } else { said }, true))
}

/// Reads an output to its end, in a thread of its own: whoever waits for it does so no longer than it will.
fn read(output: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What was read until an error is what there is.
        let _ = output.map(|output| output.take(PRINTED).read_to_end(&mut all));
        let _ = tell.send(all);
    });
    told
}

/// How a command ended whose outputs have; none where it did not.
fn ended(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            _ => return None,
        }
    }
}

/// The exit code of a command, as a shell has it.
pub fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(i32::from(Exit::CouldNot.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_a_command_says_is_told_whether_it_printed_failed_or_is_not_there() {
        assert_eq!(ran(&step(&["sh", "-c", "echo one; echo two >&2"])).unwrap(), "one\n");
        let failed = ran(&step(&["sh", "-c", "echo no >&2; exit 3"])).unwrap_err();
        assert!(failed.started && failed.why == "no" && failed.to_string().ends_with("failed: no"), "{failed}");
        assert_eq!(ran(&step(&["sh", "-c", "exit 3"])).unwrap_err().why, "it ended with 3");
        let missing = ran(&step(&["no-such-program-here"])).unwrap_err();
        assert!(!missing.started && missing.to_string().contains("can't be started"), "{missing}");
    }

    #[test]
    fn a_command_that_hangs_is_killed_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("pid").display().to_string();
        // With a process that outlives it and has its outputs.
        for script in ["echo $$ >$0.new; mv $0.new $0; exec sleep 3600", "sleep 3600 & echo $! >$0.new; mv $0.new $0"] {
            let _ = std::fs::remove_file(&mark);
            let mut limit = Duration::from_millis(100);
            // On a busy machine it may not even have begun by then.
            let pid = loop {
                let failed = within(&step(&["sh", "-c", script, &mark]), Stdio::null(), limit).unwrap_err();
                assert!(failed.hung && failed.started && failed.to_string().contains("it did not end in"), "{failed}");
                match std::fs::read_to_string(&mark) {
                    Ok(pid) => break pid.trim().parse().unwrap(),
                    Err(_) => limit *= 2,
                }
                assert!(limit < Duration::from_secs(300));
            };
            let until = Instant::now() + Duration::from_secs(60);
            while host::process(pid).is_ok_and(|process| !process.ended) {
                assert!(Instant::now() < until, "process {pid} still is: {script}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    #[test]
    fn a_command_has_the_locked_file_until_it_ends_and_no_longer() {
        use rustix::fs::{FlockOperation, flock};
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().canonicalize().unwrap().join("journal");
        let own = File::create(&name).unwrap();
        flock(&own, FlockOperation::NonBlockingLockExclusive).unwrap();
        let input = ran_holding(&step(&["readlink", "/proc/self/fd/0"]), Some(&own)).unwrap();
        assert_eq!(input.trim(), name.display().to_string());
        assert_eq!(ran_holding(&step(&["readlink", "/proc/self/fd/0"]), None).unwrap().trim(), "/dev/null");
        drop(own);
        let (other, until) = (File::open(&name).unwrap(), Instant::now() + Duration::from_secs(60));
        // A process that another test starts at this moment has it until it has begun.
        while flock(&other, FlockOperation::NonBlockingLockExclusive).is_err() {
            assert!(Instant::now() < until, "it is still locked");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_missing_program_is_told_with_its_package() {
        assert!(needed("a test", ["sh"]).is_ok());
        let e = needed("a test", ["sh", "no-such-program-here"]).unwrap_err().to_string();
        assert!(e.contains("a test needs the program no-such-program-here") && e.contains("apt install"), "{e}");
    }
}
