//! Appends events to a run file so that what was measured survives however the run ends.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use measure::Event;

use crate::codec;

/// Why an event is not in the file. What was written before is.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file can't be made.
    #[error("can't create the run file {}: {source}; name another with -o", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// There is such a file and it holds something.
    #[error("{} exists and isn't empty; a run file is never overwritten unasked: name another with -o, or remove it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A line could not be written: the disk is full, a limit is reached, the medium failed.
    #[error(
        "writing the run file {}: {source}; {}; {}", path.display(), kept(*.lines, *.truncated), remedy(source)
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// Whole lines in the file.
        lines: u64,
        /// The part of the line that had been written was taken back.
        truncated: bool,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The event has a number that JSON can't hold. A bug of the caller, caught before it spoils the file.
    #[error("an event can't be kept in the run file {}: {what}; this is a bug in pipegauge, please report it", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

/// A sentence about the file: how many whole lines it holds, and what is left of the one that failed.
fn kept(lines: u64, truncated: bool) -> String {
    let part =
        |of: &str| if truncated { String::new() } else { format!(" (a part of a line may {of}, which readers skip)") };
    match lines {
        0 => format!("nothing of the run is in it{}", part("be there")),
        1 => format!("its first line is kept and readable{}", part("follow it")),
        n => format!("its first {n} lines are kept and readable{}", part("follow them")),
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        ErrorKind::StorageFull => "free some space, or name a file on another disk with -o",
        ErrorKind::QuotaExceeded => "your disk quota is used up: free some space, or name a file elsewhere with -o",
        ErrorKind::FileTooLarge => "the limit on file sizes is reached (ulimit -f): raise it",
        ErrorKind::BrokenPipe => "whatever read it is gone",
        _ => "name a file on another disk with -o",
    }
}

/// A run file being written. Each event is one line, written with one call, so that nothing is lost when this process ends.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines; `None` where nothing can be truncated (a pipe, a device).
    good: Option<u64>,
    lines: u64,
}

impl Writer {
    /// A new run file. An existing file is taken only if it is empty; pipes and devices are written to as they are.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, WriteError> {
        Self::open(path.as_ref(), false)
    }

    /// A new run file in place of whatever the file holds: for callers whose user asked for exactly that.
    pub fn overwrite(path: impl AsRef<Path>) -> Result<Self, WriteError> {
        Self::open(path.as_ref(), true)
    }

    fn open(path: &Path, over: bool) -> Result<Self, WriteError> {
        let failed = |source| WriteError::Create { path: path.to_owned(), source };
        // create_new first: of two runs that are given the same name at the same time, one gets the file.
        let file = match OpenOptions::new().append(true).create_new(true).open(path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
                let meta = file.metadata().map_err(failed)?;
                if meta.is_file() && meta.len() > 0 {
                    if !over {
                        return Err(WriteError::Exists { path: path.to_owned() });
                    }
                    file.set_len(0).map_err(failed)?;
                }
                file
            }
            other => other.map_err(failed)?,
        };
        let regular = file.metadata().map_err(failed)?.is_file();
        Ok(Self { file, path: path.to_owned(), good: regular.then_some(0), lines: 0 })
    }

    /// The file's name as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whole lines written so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Appends one event. On an error the file ends with the last whole line; later calls may succeed again.
    pub fn write(&mut self, event: &Event) -> Result<(), WriteError> {
        let mut line = Vec::new();
        codec::write(event, &mut line)
            .map_err(|e| WriteError::Unwritable { path: self.path.clone(), what: e.to_string() })?;
        if let Err(source) = self.file.write_all(&line) {
            let truncated = self.good.is_some_and(|len| self.file.set_len(len).is_ok());
            return Err(WriteError::Write { path: self.path.clone(), lines: self.lines, truncated, source });
        }
        self.lines += 1;
        if let Some(good) = &mut self.good {
            *good += line.len() as u64;
            // Some file systems report that they are full only when they flush. Once, at the end: the disk must not disturb a run in
            // progress.
            if matches!(event, Event::End(_)) {
                self.file.sync_data().map_err(|source| WriteError::Write {
                    path: self.path.clone(),
                    lines: self.lines,
                    truncated: true,
                    source,
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::fs;

    #[test]
    fn each_event_is_one_line_that_reads_back_equal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.jsonl");
        let mut w = Writer::create(&path).unwrap();
        let events = sample::events();
        for (n, e) in events.iter().enumerate() {
            w.write(e).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.ends_with('\n'));
            assert_eq!(text.lines().count(), n + 1, "a line must be in the file when write returns");
        }
        let text = fs::read_to_string(&path).unwrap();
        let back: Vec<Event> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(back, events);
        assert_eq!(w.lines(), events.len() as u64);
    }

    #[test]
    fn a_file_that_holds_something_is_not_overwritten_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("precious");
        fs::write(&path, "do not lose me").unwrap();
        let text = Writer::create(&path).unwrap_err().to_string();
        assert!(text.contains("precious") && text.contains("exists") && text.contains("-o"), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "do not lose me");
        let mut w = Writer::overwrite(&path).unwrap();
        w.write(&sample::events()[0]).unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with("{\"event\":\"run\""));
    }

    #[test]
    fn an_existing_empty_file_is_taken() {
        let file = tempfile::NamedTempFile::new().unwrap();
        Writer::create(file.path()).unwrap().write(&sample::events()[0]).unwrap();
        assert!(fs::metadata(file.path()).unwrap().len() > 100);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named_with_the_cause() {
        let dir = tempfile::tempdir().unwrap();
        let text = Writer::create(dir.path().join("no/such/dir/run.jsonl")).unwrap_err().to_string();
        assert!(text.contains("no/such/dir/run.jsonl") && text.contains("No such file"), "{text}");
        let text = Writer::create(dir.path()).unwrap_err().to_string();
        assert!(text.contains("directory") && text.contains("-o"), "{text}");
    }

    #[test]
    fn a_full_device_is_named_with_the_cause_and_the_remedy() {
        let mut w = Writer::create("/dev/full").unwrap();
        let text = w.write(&sample::events()[0]).unwrap_err().to_string();
        for part in ["/dev/full", "No space left on device", "nothing of the run is in it", "free some space", "-o"] {
            assert!(text.contains(part), "'{part}' is missing in: {text}");
        }
    }

    #[test]
    fn what_is_kept_is_told_in_plain_numbers() {
        assert_eq!(kept(0, true), "nothing of the run is in it");
        assert_eq!(kept(1, true), "its first line is kept and readable");
        assert_eq!(kept(2, true), "its first 2 lines are kept and readable");
        assert!(kept(0, false).contains("a part of a line may be there") && kept(1, false).contains("may follow it"));
    }

    #[test]
    fn a_number_that_json_cannot_hold_is_refused_and_the_file_stays_readable() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.jsonl");
        let mut w = Writer::create(&path).unwrap();
        let events = sample::events();
        w.write(&events[0]).unwrap();
        let Some(Event::Point(mut point)) = events.iter().find(|e| matches!(e, Event::Point(_))).cloned() else {
            panic!("the sample has points")
        };
        point.figures.mean = f64::NAN;
        let text = w.write(&Event::Point(point)).unwrap_err().to_string();
        assert!(text.contains("bug in pipegauge"), "{text}");
        w.write(&events[1]).unwrap();
        assert_eq!(crate::read(&path).unwrap().paths.len(), 1);
    }

    /// Where the child of the next test writes.
    const CHILD_FILE: &str = "PIPEGAUGE_TEST_FULL_DISK";

    /// The child's half: writes until the limit, tells what was said, and shows that the writer is still of use.
    #[test]
    fn full_disk_child() {
        let Some(path) = std::env::var_os(CHILD_FILE) else { return };
        let mut w = Writer::create(path).unwrap();
        let events = sample::events();
        let trial = events.iter().find(|e| matches!(e, Event::Trial(_))).unwrap();
        let mut all = events.iter().chain(std::iter::repeat(trial));
        let (event, failed) = all.find_map(|e| Some((e, w.write(e).err()?))).unwrap();
        println!("SAID {failed}");
        let WriteError::Write { lines, truncated, .. } = failed else { panic!("another error: {failed}") };
        assert!(truncated && lines == w.lines());
        // A shorter line might fit.
        let again = w.write(event).unwrap_err().to_string();
        assert!(again.contains(&format!("first {lines} lines")), "{again}");
    }

    #[test]
    fn a_disk_that_fills_up_costs_only_the_line_that_did_not_fit() {
        // A limit on the file's size stands in for the disk: the kernel then writes a part of the line and refuses the
        // rest, as it does on a full disk, and no privilege is needed.
        let mut partial = 0;
        for blocks in 5..17 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("run.jsonl");
            let out = std::process::Command::new("sh")
                .arg("-c")
                .arg(format!(
                    "trap '' XFSZ; ulimit -f {blocks} && exec \"$0\" --exact write::tests::full_disk_child --nocapture"
                ))
                .arg(std::env::current_exe().unwrap())
                .env(CHILD_FILE, &path)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&out.stdout);
            assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
            assert!(said.contains("File too large") && said.contains("ulimit -f"), "{said}");
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.ends_with(b"\n"), "with {blocks} blocks the file ends in the middle of a line");
            // Blocks are 512 or 1024 bytes, as the shell has it; a length between two blocks was truncated back.
            partial += u32::from(!bytes.len().is_multiple_of(512));
            let file = crate::read(&path).unwrap();
            let lines = bytes.iter().filter(|b| **b == b'\n').count();
            assert!(said.contains(&format!("first {lines} lines are kept")), "{lines}: {said}");
            assert!(file.cut.unwrap().contains("no end line"));
        }
        assert!(partial > 0, "no limit fell into a line: the test shows nothing");
    }
}
