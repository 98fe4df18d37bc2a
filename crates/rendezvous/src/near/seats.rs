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
    /// The launcher that started this command: its ranks stay, and each side of the run has seats of its own from this one on.
    Users { ranks: Rc<Ranks>, first: usize },
}

impl Seats {
    /// Has a launcher start so many processes, by these words of a module.
    pub(super) fn begin(words: &[String], n: usize, transport: Name, settings: &Settings) -> Result<Self, MeetError> {
        let name = words.first().cloned().unwrap_or_default();
        let launching = |source| MeetError::Launch { what: "the launcher", program: name.clone(), source };
        let folder = Folder::new().map_err(|e| launching(std::io::Error::other(e)))?;
        let words: Vec<String> = words.iter().filter_map(|word| said(word, n, settings)).collect();
        let mut line = Command::new(&name);
        line.args(words.iter().skip(1)).arg(own()).arg("rank").arg(folder.path());
        line.env(seat::PREPARE, seat::prepare(transport, settings).map_err(launching)?);
        line.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut line, 0);
        // Where what its processes run under chooses CPUs, it chooses among all.
        let mut launcher = host::unpinned(|| line.spawn()).map_err(launching)?;
        let said = launcher.stderr.take().map(LastWords::of);
        Ok(Self { by: By::Own { folder, launcher, name, said }, of: n })
    }

    /// Seats for all ranks of the launcher that started this command, of this side of the run.
    pub(super) fn of(ranks: Rc<Ranks>, side: usize) -> Self {
        let of = ranks.size();
        Self { by: By::Users { ranks, first: side * of }, of }
    }

    /// The number of the first seat.
    fn first(&self) -> usize {
        match self.by {
            By::Own { .. } => 0,
            By::Users { first, .. } => first,
        }
    }

    fn folder(&self) -> &Path {
        match &self.by {
            By::Own { folder, .. } => folder.path(),
            By::Users { ranks, .. } => ranks.folder(),
        }
    }

    /// The words under which a process takes a seat.
    pub(super) fn under(&self, number: usize, wrapper: &[String]) -> Vec<String> {
        let number = self.first() + number;
        let own = [own(), "seat".to_owned(), self.folder().display().to_string(), number.to_string()];
        own.into_iter().chain(wrapper.iter().cloned()).collect()
    }

    /// The launcher, and the processes that took the seats.
    pub(super) fn pids(&self) -> Vec<u32> {
        let of = |number| std::fs::read_to_string(seat::process(self.folder(), number)).ok()?.parse().ok();
        let launcher = match &self.by {
            By::Own { launcher, .. } => Some(launcher.id()),
            By::Users { .. } => None,
        };
        (self.first()..self.first() + self.of).filter_map(of).chain(launcher).collect()
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
            By::Users { ranks, .. } => vec![Some(ranks.told())],
        };
        let all: Vec<String> = std::iter::once(found).chain(more.into_iter().flatten()).collect();
        MeetError::NotReady { what, program, found: all.join("; ") }
    }
}

/// A word of a launcher for so many processes: `{n}` stands for their number, and `{OPTION:WORD}` is there where the option is set.
fn said(word: &str, n: usize, settings: &Settings) -> Option<String> {
    let within = word.strip_prefix('{').and_then(|word| word.strip_suffix('}')).and_then(|word| word.split_once(':'));
    match within {
        Some((option, word)) => settings.get(option).map(|set| word.replace("{}", &set.to_string())),
        None => Some(word.replace("{n}", &n.to_string())),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_launcher_say_how_many_processes_and_what_is_set() {
        let settings = Settings::default().with("interface", "eth0");
        let words = |settings: &Settings| {
            let all = ["env", "{interface:A=1}", "{interface:B={}}", "mpirun", "-np", "{n}"];
            all.iter().filter_map(|word| said(word, 4, settings)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(&settings), "env A=1 B=eth0 mpirun -np 4");
        assert_eq!(words(&Settings::default()), "env mpirun -np 4");
    }
}
