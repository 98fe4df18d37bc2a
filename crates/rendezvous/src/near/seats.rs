//! The processes of a path that a launcher starts together.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use transport::folder::Folder;
use transport::last_words::{LastWords, in_words};
use transport::{Name, Settings};

use crate::allocation::Ranks;
use crate::{MeetError, seat};

/// How long a launcher may take to end with its processes.
const ENDS: Duration = Duration::from_millis(800);

/// Where processes that a launcher starts take their seats.
pub(super) struct Seats {
    by: By,
    /// How many seats.
    of: usize,
}

enum By {
    /// A launcher of this path's own, for one round. It and the folder end with this.
    Own { folder: Folder, launcher: Child, name: String, said: Option<LastWords> },
    /// The launcher that started this command: its ranks stay.
    Users(Rc<Ranks>),
}

impl Seats {
    /// Has a launcher start so many processes: `{n}` in its words stands for their number.
    pub(super) fn begin(words: &[String], n: usize, transport: Name, settings: &Settings) -> Result<Self, MeetError> {
        let name = words.first().cloned().unwrap_or_default();
        let launching = |source| MeetError::Launch { what: "the launcher", program: name.clone(), source };
        let folder = Folder::new().map_err(|e| launching(std::io::Error::other(e)))?;
        let words: Vec<String> = words.iter().map(|word| word.replace("{n}", &n.to_string())).collect();
        let mut line = Command::new(&name);
        line.args(words.iter().skip(1)).arg(own()).arg("rank").arg(folder.path());
        line.env(seat::PREPARE, seat::prepare(transport, settings).map_err(launching)?);
        line.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut line, 0);
        let mut launcher = line.spawn().map_err(launching)?;
        let said = launcher.stderr.take().map(LastWords::of);
        Ok(Self { by: By::Own { folder, launcher, name, said }, of: n })
    }

    /// Seats for all ranks of the launcher that started this command.
    pub(super) fn of(ranks: &Rc<Ranks>) -> Self {
        Self { by: By::Users(Rc::clone(ranks)), of: ranks.size() }
    }

    fn folder(&self) -> &Path {
        match &self.by {
            By::Own { folder, .. } => folder.path(),
            By::Users(ranks) => ranks.folder(),
        }
    }

    /// The words under which a process takes a seat.
    pub(super) fn under(&self, number: usize, wrapper: &[String]) -> Vec<String> {
        let own = [own(), "seat".to_owned(), self.folder().display().to_string(), number.to_string()];
        own.into_iter().chain(wrapper.iter().cloned()).collect()
    }

    /// The launcher, and the processes that took the seats.
    pub(super) fn pids(&self) -> Vec<u32> {
        let of = |number| std::fs::read_to_string(seat::process(self.folder(), number)).ok()?.parse().ok();
        let launcher = match &self.by {
            By::Own { launcher, .. } => Some(launcher.id()),
            By::Users(_) => None,
        };
        (0..self.of).filter_map(of).chain(launcher).collect()
    }

    /// The same error with what the launcher says, where a process did not get ready.
    pub(super) fn how(&mut self, e: MeetError) -> MeetError {
        let MeetError::NotReady { what, program, found } = e else { return e };
        let more = match &mut self.by {
            By::Own { launcher, name, said, .. } => {
                let ended = launcher.try_wait().ok().flatten().map(|status| format!("{name}: {}", in_words(status)));
                let said = said.as_ref().map(LastWords::text).filter(|said| !said.is_empty());
                vec![ended, said.map(|said| format!("{name} said: {said}"))]
            }
            By::Users(ranks) => vec![Some(ranks.told())],
        };
        let all: Vec<String> = std::iter::once(found).chain(more.into_iter().flatten()).collect();
        MeetError::NotReady { what, program, found: all.join("; ") }
    }
}

/// This program, as other processes find it.
fn own() -> String {
    format!("/proc/{}/exe", std::process::id())
}

impl Drop for Seats {
    /// Its processes end by themselves once nobody speaks to them; it, and what of them is left, is asked to, and then made to.
    fn drop(&mut self) {
        let By::Own { launcher, .. } = &mut self.by else { return };
        let group = Pid::from_child(launcher);
        for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
            if let Some(signal) = signal {
                let _ = kill_process_group(group, signal);
            }
            let until = Instant::now() + ENDS;
            while Instant::now() < until {
                if !matches!(launcher.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}
