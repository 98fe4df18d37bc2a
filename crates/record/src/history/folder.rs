//! The folder of histories: a file for each path, and limits on how much is kept.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use measure::earlier::Apart;
use stats::{StandardError, level_spread};

use super::lines::{Found, Kept, Read, read, written};
use super::{HistoryError, Key, open};

/// Name of the lock file: whoever changes the folder holds its lock.
const LOCK: &str = "lock";
/// Extension of the files' names.
const FILE: &str = "jsonl";
/// Extension of a file that was damaged and set aside.
const DAMAGED: &str = "damaged";

/// Most bytes of all files; beyond, those that were last added to longest ago are deleted.
const MOST_BYTES: u64 = 16 << 20;
/// Most files that are read, and most names among which they are searched for.
const MOST_FILES: usize = 10_000;
const MOST_NAMES: usize = 1 << 20;
/// Most bytes that are read for a listing: twice what a folder holds that only pipegauge wrote to.
const MOST_LISTED: u64 = 2 * MOST_BYTES;
/// Most files that are deleted after one run, so that no run waits while a large folder is cleared.
const MOST_DELETED: usize = 256;

/// Most files that are read to learn how far runs of other paths lie apart.
const MOST_OTHERS: usize = 32;

/// Most notes of a listing: a folder that somebody filled has thousands, and the first show what is wrong.
const MOST_NOTES: usize = 20;

/// A folder of histories, which may not exist yet.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

/// Everything in a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// The paths, in order of their keys.
    pub paths: Vec<Listed>,
    /// What was wrong with files, a line each.
    pub notes: Vec<String>,
}

/// One path of a folder.
#[derive(Debug)]
pub struct Listed {
    /// What its runs have in common.
    pub key: Key,
    /// Its runs, the oldest first.
    pub runs: Vec<Kept>,
    file: PathBuf,
}

impl Listed {
    /// How far whole curves of its runs lie apart; none with a single run that counts, or with runs of other sizes.
    pub fn spread(&self) -> Option<StandardError> {
        level_spread(&self.runs.iter().filter(|k| k.counts()).map(|k| k.run.points.as_slice()).collect::<Vec<_>>())
    }
}

impl Folder {
    /// The folder of this name.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Earlier runs of a path.
    pub fn earlier(&self, key: &Key) -> Result<Found, HistoryError> {
        let path = self.0.join(key.file());
        match open::bytes(&path)?.map(|bytes| read(&bytes)) {
            None => Ok(Found::default()),
            Some(Read::Path(of, found)) if of == *key => Ok(found),
            Some(Read::Later) => Err(HistoryError::Later(path)),
            Some(Read::Path(..) | Read::Other) => Err(HistoryError::NotHistory(path)),
        }
    }

    /// How far runs of other paths of the same hosts lie apart, the most runs first. Files that can't be used are skipped, and only those
    /// that were written last are read, since a run waits for it.
    pub fn others(&self, key: &Key) -> Vec<Apart> {
        let own = self.0.join(key.file());
        let files = self.files().into_iter().filter(|file| *file != own && file.extension().is_some_and(|e| e == FILE));
        let changed = |file: &PathBuf| std::fs::metadata(file).and_then(|m| m.modified()).ok();
        let mut files: Vec<PathBuf> = files.collect();
        files.sort_by_cached_key(|file| std::cmp::Reverse(changed(file)));
        let read = files.into_iter().take(MOST_OTHERS).filter_map(|file| match read(&open::bytes(&file).ok()??) {
            Read::Path(other, found) if other.same_hosts(key) => Some(Listed { key: other, runs: found.runs, file }),
            _ => None,
        });
        let apart = |spread: StandardError| Apart { spread: spread.value, runs: spread.degrees as u32 + 1 };
        let mut all: Vec<Apart> = read.filter_map(|path| path.spread()).map(apart).filter(Apart::sound).collect();
        all.sort_by_key(|apart| std::cmp::Reverse(apart.runs));
        all.truncate(Apart::MOST);
        all
    }

    /// A message about lines in a path's file that were left out.
    pub fn damage(&self, key: &Key, found: &Found) -> Option<String> {
        damage(&self.0.join(key.file()), found)
    }

    /// Sets aside a file that is damaged as a whole, so that its path begins anew: returns its new name; none where it is not damaged. One
    /// is kept of a path, and those are deleted first where there is too much. What a later version wrote and what is no regular file stay.
    pub fn set_aside(&self, key: &Key) -> Result<Option<PathBuf>, HistoryError> {
        let _lock = self.locked()?;
        let Err(HistoryError::NotHistory(path) | HistoryError::Large { path, .. }) = self.earlier(key) else {
            return Ok(None);
        };
        let aside = path.with_extension(DAMAGED);
        let moved = std::fs::rename(&path, &aside);
        moved.map_err(|source| HistoryError::Io { what: "setting aside", path, source })?;
        Ok(Some(aside))
    }

    /// Adds a run to a path's. A file that can't be read is not replaced: it may be wanted by whoever put it there.
    pub fn keep(&self, key: &Key, run: Kept) -> Result<(), HistoryError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.map_err(|source| HistoryError::Io { what: "making the folder", path: self.0.clone(), source })?;
        let _lock = open::lock(&self.0.join(LOCK))?;
        let mut runs = self.earlier(key)?.runs;
        runs.push(run);
        let path = self.0.join(key.file());
        open::replace(&path, &written(key, &runs))?;
        self.trim(&path);
        Ok(())
    }

    /// Every path in the folder.
    pub fn list(&self) -> Listing {
        let mut listing = self.listed();
        let more = listing.notes.len().saturating_sub(MOST_NOTES);
        if more > 0 {
            listing.notes.truncate(MOST_NOTES);
            listing.notes.push(format!(
                "and {more} more such {} in {}",
                if more == 1 { "file" } else { "files" },
                self.0.display()
            ));
        }
        listing
    }

    fn listed(&self) -> Listing {
        let mut listing = Listing::default();
        if let Err(source) = std::fs::read_dir(&self.0)
            && source.kind() != std::io::ErrorKind::NotFound
        {
            let e = HistoryError::Io { what: "reading the folder", path: self.0.clone(), source };
            listing.notes.push(e.to_string());
        }
        let mut files = self.files();
        files.retain(|file| file.extension().is_some_and(|e| e == FILE));
        let mut total = 0;
        for file in files {
            if total > MOST_LISTED {
                listing.notes.push(format!(
                    "more files in {} are left out: histories are at most {} MiB together; `pipegauge history clear` removes them",
                    self.0.display(),
                    MOST_BYTES >> 20
                ));
                break;
            }
            let bytes = open::bytes(&file);
            total += bytes.as_ref().map_or(0, |b| b.as_ref().map_or(0, |b| b.len() as u64));
            match bytes.map(|bytes| bytes.map(|b| read(&b))) {
                Ok(Some(Read::Path(key, found))) => {
                    listing.notes.extend(damage(&file, &found));
                    listing.paths.push(Listed { key, runs: found.runs, file });
                }
                Ok(None) => {}
                Ok(Some(Read::Later)) => listing.notes.push(HistoryError::Later(file).to_string()),
                Ok(Some(Read::Other)) => listing.notes.push(HistoryError::NotHistory(file).to_string()),
                Err(e) => listing.notes.push(e.to_string()),
            }
        }
        listing.paths.sort_by(|a, b| a.key.cmp(&b.key));
        listing
    }

    /// Removes the files of these paths; returns how many. It waits for a run that adds to them at this moment, and such a run waits for
    /// it.
    pub fn remove(&self, paths: &[Listed]) -> Result<usize, HistoryError> {
        let _lock = self.locked()?;
        paths.iter().try_for_each(|p| remove(&p.file)).map(|()| paths.len())
    }

    /// Removes every file that has a name of ours, whatever is in it; returns of how many paths.
    pub fn clear(&self) -> Result<usize, HistoryError> {
        // What is no folder can't be cleared; where there is nothing there is nothing to clear.
        if let Err(source) = fs::read_dir(&self.0)
            && source.kind() != io::ErrorKind::NotFound
        {
            return Err(HistoryError::Io { what: "reading the folder", path: self.0.clone(), source });
        }
        let _lock = self.locked()?;
        let mut cleared = 0;
        loop {
            let files = self.files();
            if files.is_empty() {
                return Ok(cleared);
            }
            files.iter().try_for_each(|f| remove(f))?;
            cleared += files.iter().filter(|file| file.extension().is_some_and(|e| e == FILE)).count();
        }
    }

    /// The lock of a folder that exists: clearing makes none.
    fn locked(&self) -> Result<Option<File>, HistoryError> {
        if self.0.is_dir() { open::lock(&self.0.join(LOCK)).map(Some) } else { Ok(None) }
    }

    /// Files with names of ours, in order, including those that a killed run did not finish.
    fn files(&self) -> Vec<PathBuf> {
        let ours = |name: &str| {
            let stem = name
                .rsplit_once('.')
                .filter(|(_, end)| [FILE, DAMAGED, open::PART].contains(end))
                .map(|(stem, _)| stem);
            let id = stem.and_then(|stem| stem.rsplit_once('-')).map(|(_, id)| id);
            id.is_some_and(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten().take(MOST_NAMES);
        let ours = entries.filter(|e| e.file_name().to_str().is_some_and(ours));
        let mut files: Vec<PathBuf> = ours.map(|e| e.path()).take(MOST_FILES).collect();
        files.sort();
        files
    }

    /// Deletes files while all together are too large: damaged ones, then the oldest.
    fn trim(&self, added: &Path) {
        let mut all: Vec<(bool, SystemTime, u64, PathBuf)> = self
            .files()
            .into_iter()
            .filter_map(|file| {
                let meta = std::fs::symlink_metadata(&file).ok().filter(|m| m.is_file())?;
                let of_use = file.extension().is_some_and(|e| e != DAMAGED);
                Some((of_use, meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), file))
            })
            .collect();
        all.sort();
        let mut bytes: u64 = all.iter().map(|f| f.2).fold(0, u64::saturating_add);
        for (_, _, length, file) in all.iter().filter(|f| f.3 != added).take(MOST_DELETED) {
            if bytes <= MOST_BYTES {
                break;
            }
            // One that can't be removed keeps its room; the next is tried.
            if std::fs::remove_file(file).is_ok() {
                bytes = bytes.saturating_sub(*length);
            }
        }
    }
}

/// The message about damaged lines: the runs beside them are kept, and nothing needs to be done by hand.
fn damage(file: &Path, found: &Found) -> Option<String> {
    let damaged = match found.damaged {
        0 => return None,
        1 => "1 line is no run and is".to_owned(),
        n => format!("{n} lines are no runs and are"),
    };
    let good = match found.runs.len() {
        0 => String::new(),
        1 => "the good one is used, and ".to_owned(),
        n => format!("the {n} good ones are used, and "),
    };
    Some(format!(
        "{}: {damaged} left out; nothing need be done: {good}the next run that is added writes the file anew without them",
        file.display()
    ))
}

fn remove(file: &Path) -> Result<(), HistoryError> {
    match std::fs::remove_file(file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(HistoryError::Io { what: "removing", path: file.to_owned(), source: e })
        }
        _ => Ok(()),
    }
}
