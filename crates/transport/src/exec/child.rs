//! The command of a path: started in a process group of its own, which ends with it.

use std::fmt::{self, Formatter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::LinkError;
use crate::last_words::{LastWords, in_words};

/// How long a command whose standard input has ended may take to end.
const GRACE: Duration = Duration::from_millis(500);
/// A moment within which one that closed its output has ended.
const MOMENT: Duration = Duration::from_millis(200);

/// A running command.
pub struct Child {
    process: std::process::Child,
    command: String,
    said: Option<LastWords>,
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.process.id()).finish()
    }
}

impl Child {
    /// Runs a command by `sh -c`; its standard input and output.
    pub fn start(command: &str) -> Result<(Self, OwnedFd, OwnedFd), LinkError> {
        let failed = |e| LinkError::io(format!("running '{}' by sh", units::received::clean(command, 200)), e);
        let mut line = Command::new("sh");
        line.arg("-c").arg(command).process_group(0);
        line.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = line.spawn().map_err(failed)?;
        let said = process.stderr.take().map(LastWords::of);
        let (Some(to), Some(from)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(failed(std::io::Error::other("its standard streams are missing")));
        };
        Ok((Self { process, command: command.to_owned(), said }, to.into(), from.into()))
    }

    /// Why nothing comes from it any more: how it ended, and what it said last.
    pub fn ended(&mut self, doing: &str) -> LinkError {
        let how = self.wait(MOMENT).map_or("it closed its output".to_owned(), in_words);
        let said = self.said.as_ref().map(LastWords::text).filter(|said| !said.is_empty());
        let said = said.map_or(String::new(), |said| format!("; it said: {said}"));
        let command = units::received::clean(&self.command, 200);
        LinkError::io(format!("{doing} through '{command}'"), std::io::Error::other(format!("{how}{said}")))
    }

    fn wait(&mut self, time: Duration) -> Option<std::process::ExitStatus> {
        let until = Instant::now() + time;
        loop {
            match self.process.try_wait() {
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
                found => return found.ok().flatten(),
            }
        }
    }
}

impl Drop for Child {
    /// Its input and output are closed by now: most end by themselves. What does not is killed with all that it started.
    fn drop(&mut self) {
        let ended = self.wait(GRACE).is_some();
        // The group is there as long as one of it is, and its number is no one else's as long as its first process is not reaped; where that has
        // ended, those that it left have this group still.
        let group = Pid::from_child(&self.process);
        let _ = kill_process_group(group, Signal::KILL);
        if !ended {
            let _ = self.process.wait();
        }
    }
}
