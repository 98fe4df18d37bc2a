//! Earlier runs on this host: a small folder of files, one for each path, that runs read and add to.
//!
//! A run needs nothing of it: whatever is wrong with the folder becomes a message and no run fails. Files may be damaged or hostile, so
//! reads are bounded and only regular files are opened. A file is replaced as a whole (written beside it, then renamed) by whoever holds
//! the folder's lock: of two runs at once both leave their entry, and a run that is killed leaves the file as it was.
//!
//! | module | job |
//! |---|---|
//! | `key` | [`Key`]: what makes two runs runs of one path |
//! | `lines` | the lines of a file: a head, then a run each |
//! | `open` | opening, reading and replacing files that anybody may have put there |
//! | `folder` | [`Folder`]: reading, adding, listing, clearing; how much is kept |

mod folder;
mod key;
mod lines;
mod open;

pub use folder::{Folder, Listed, Listing};
pub use key::Key;
pub use lines::{Found, Kept};

use std::io;
use std::path::PathBuf;

/// Why the history could not be read or added to.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The system refused.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Something else than a regular file has the name of one.
    #[error("{} is no regular file; remove it", .0.display())]
    NoFile(PathBuf),
    /// The file is larger than any of ours.
    #[error("{} is larger than {} MiB, which no history of a path is", path.display(), most >> 20)]
    Large {
        /// The file.
        path: PathBuf,
        /// The most that is read, bytes.
        most: u64,
    },
    /// The file does not say that it is of this path.
    #[error("{} is no history of the path that its name stands for", .0.display())]
    NotHistory(PathBuf),
    /// A later version wrote it.
    #[error("{} was written by a later version of pipegauge, and is left as it is; use that version, or remove the file", .0.display())]
    Later(PathBuf),
    /// Another process holds the lock.
    #[error("another process holds {} for three seconds", .0.display())]
    Locked(PathBuf),
}

#[cfg(test)]
mod tests;
