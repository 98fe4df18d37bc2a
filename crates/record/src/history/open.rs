//! Files that anybody may have put into the folder: only regular files are opened, and only up to a bound are they read.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::HistoryError;

/// Most bytes that are read of a file: ten times what 30 runs of 256 sizes take.
const MOST: u64 = 2 << 20;
/// How the name of a file ends while it is written.
pub(super) const PART: &str = "part";
/// Attempts to take a lock that is held, and the time between two of them.
const LOOKS: u32 = 150;
const PAUSE: Duration = Duration::from_millis(20);

fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HistoryError {
    move |source| HistoryError::Io { what, path: path.to_owned(), source }
}

/// Opens a regular file. Opening a FIFO without a writer would block, and a link may lead anywhere.
fn regular(path: &Path, flags: OFlags) -> Result<File, HistoryError> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Err(HistoryError::NoFile(path.to_owned())),
        Err(e) => return Err(io("opening", path)(e.into())),
    };
    match file.metadata().map_err(io("reading", path))?.is_file() {
        true => Ok(file),
        false => Err(HistoryError::NoFile(path.to_owned())),
    }
}

/// A file's bytes; none where there is no such file.
pub(super) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, HistoryError> {
    let file = match regular(path, OFlags::RDONLY) {
        Err(HistoryError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut all = Vec::new();
    file.take(MOST + 1).read_to_end(&mut all).map_err(io("reading", path))?;
    if all.len() as u64 > MOST {
        return Err(HistoryError::Large { path: path.to_owned(), most: MOST });
    }
    Ok(Some(all))
}

/// Replaces the file at `path` as a whole.
pub(super) fn replace(path: &Path, contents: &[u8]) -> Result<(), HistoryError> {
    let part = path.with_extension(PART);
    // Left over by a run that was killed.
    let _ = std::fs::remove_file(&part);
    let mut file = regular(&part, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    let done = file.write_all(contents).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&part, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    done.map_err(io("writing", path))
}

/// Takes the lock, which is released when its file is closed or its process ends.
pub(super) fn lock(path: &Path) -> Result<File, HistoryError> {
    let file = regular(path, OFlags::RDWR | OFlags::CREATE)?;
    for _ in 0..LOOKS {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // A file system without locks: files are replaced as a whole all the same.
            Ok(()) | Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => return Ok(file),
            Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(PAUSE),
            Err(e) => return Err(io("locking", path)(e.into())),
        }
    }
    Err(HistoryError::Locked(path.to_owned()))
}
