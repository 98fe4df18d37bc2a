//! A sweep's folder: its plan, and a run file for each cell and round. A run file that ended cleanly is what was measured; any other is
//! measured again.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use record::RunFile;
use rustix::fs::{FlockOperation, flock};

use crate::config::sweep::SweepPlan;

/// The plan's name in the folder.
const PLAN: &str = "sweep.json";
/// A file that is written to see whether there is room, and the bytes of it.
const ROOM: &str = "room";
const NEEDED: usize = 64 << 10;
/// Largest plan that is read, bytes.
const LARGEST: u64 = 16 << 20;

/// Where a sweep is kept.
pub struct Store {
    folder: PathBuf,
    /// Held as long as this process measures into the folder.
    lock: Option<File>,
}

impl Store {
    /// Makes the folder with its plan. One that holds a sweep is left alone.
    pub fn create(self, plan: &SweepPlan) -> Result<Self> {
        let folder = self.folder;
        let name = folder.display().to_string();
        if folder.join(PLAN).exists() {
            bail!(
                "{name} holds a sweep: go on with it (pipegauge sweep --resume {name}), or give another folder with -o"
            );
        }
        let own = !folder.exists();
        fs::create_dir_all(&folder).with_context(|| format!("making the folder {name}"))?;
        // A plan that is not whole helps nobody, nor does a folder without one.
        let removed = || {
            let _ = fs::remove_file(folder.join(PLAN));
            let _ = if own { fs::remove_dir(&folder) } else { Ok(()) };
        };
        let text = serde_json::to_string_pretty(plan)?;
        let file = folder.join(PLAN);
        let mut lock = File::create_new(&file)
            .inspect_err(|e| {
                if e.kind() != ErrorKind::AlreadyExists {
                    removed()
                }
            })
            .with_context(|| format!("writing the plan {}", file.display()))?;
        if let Err(e) = lock.write_all(format!("{text}\n").as_bytes()).and_then(|()| lock.sync_all()) {
            removed();
            return Err(e).with_context(|| format!("writing the plan {}", file.display()));
        }
        locked(&lock, &folder)?;
        Ok(Self { folder, lock: Some(lock) })
    }

    /// Whether the folder takes what a run needs; the error is what the system says.
    pub fn takes_more(&self) -> Result<()> {
        let file = self.folder.join(ROOM);
        let written =
            File::create(&file).and_then(|mut file| file.write_all(&[0; NEEDED]).and_then(|()| file.sync_all()));
        let _ = fs::remove_file(&file);
        written.with_context(|| format!("writing into {}", self.folder.display()))
    }

    /// A folder that is not made yet.
    pub fn nowhere(folder: PathBuf) -> Self {
        Self { folder, lock: None }
    }

    /// Reads the plan of a folder.
    pub fn open(folder: &Path) -> Result<(Self, SweepPlan)> {
        let file = folder.join(PLAN);
        let name = file.display();
        let opened = record::input::open(&file)
            .with_context(|| format!("{} is no folder of a sweep: {PLAN}", folder.display()))?;
        let mut text = Vec::new();
        opened.take(LARGEST + 1).read_to_end(&mut text).with_context(|| format!("reading {name}"))?;
        if text.len() as u64 > LARGEST {
            bail!("{name} is no plan of a sweep: it is larger than any");
        }
        if text.is_empty() {
            bail!(
                "{name} is empty: its disk was full, or the sweep ended while it wrote it, before it measured; begin it anew in another folder"
            );
        }
        let plan: SweepPlan = units::received::json(&text).map_err(|e| anyhow!("{name} is no plan of a sweep: {e}"))?;
        plan.check().with_context(|| format!("the plan {name}"))?;
        Ok((Self { folder: folder.to_owned(), lock: None }, plan))
    }

    /// Keeps others from measuring into the folder until this process ends.
    pub fn lock(mut self) -> Result<Self> {
        let file = self.folder.join(PLAN);
        let lock = record::input::open(&file).with_context(|| format!("opening {}", file.display()))?;
        locked(&lock, &self.folder)?;
        self.lock = Some(lock);
        Ok(self)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the run of a cell in a round is, or goes.
    pub fn file(&self, cell: usize, round: u32) -> PathBuf {
        super::run_file(&self.folder, cell, round)
    }

    /// The run of a cell in a round; none where it was not measured to its end.
    pub fn run(&self, cell: usize, round: u32) -> Option<RunFile> {
        let file = self.file(cell, round);
        if !file.is_file() {
            return None;
        }
        let run = record::read(&file).ok()?;
        let ended = run.end.as_ref().is_some_and(|end| end.error.is_none());
        (ended && run.paths.iter().any(|path| !path.points.is_empty())).then_some(run)
    }
}

/// Makes room for a file of the sweep: what a stranger put in its place, a link or a pipe, leads elsewhere or holds whoever opens it.
pub fn cleared(file: &Path) -> Result<()> {
    let odd = fs::symlink_metadata(file).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if odd {
        fs::remove_file(file).with_context(|| format!("removing {}, which is no regular file", file.display()))?;
    }
    Ok(())
}

fn locked(file: &File, folder: &Path) -> Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
        anyhow!("another pipegauge measures into {}; wait for it, or give another folder", folder.display())
    })
}
