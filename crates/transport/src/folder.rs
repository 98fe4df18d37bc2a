//! Folders of one process in the system's folder for temporary files: where local sides and a launcher's processes meet.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::{LinkError, sys};

/// The socket at which two local sides meet.
pub const MEET: &str = "meet";
/// How the socket of a process that waits for a launcher's begins, with its number behind.
pub const SEAT: &str = "seat-";
/// How the file begins in which a launcher's process says which one it is.
pub const PROCESS: &str = "process-";
/// The file that is there once a process of a person's own launcher ended while the others were measured.
pub const ENDED: &str = "ended";

/// How a folder is called, with 16 hexadecimal digits behind.
const PREFIX: &str = "pipegauge-";
/// How the name ends while the folder is being made. It gets its own name when it is locked, so that whatever has a name without a lock
/// was left behind, however young it is.
const MAKING: &str = ".new";
/// Younger folders that are being made are left alone: their maker may not have locked them yet.
const YOUNG: Duration = Duration::from_secs(60);

/// A fresh folder that only its owner may enter. It goes with this value; what a killed process left behind goes when a later one makes a
/// folder. It holds nothing but what is named here.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// A lock on the folder, which the kernel ends with the process: it tells folders in use from those that were left behind.
    _lock: OwnedFd,
}

impl Folder {
    /// A folder in the system's folder for temporary files (`TMPDIR`).
    ///
    /// # Errors
    /// It can't be made there.
    pub fn new() -> Result<Self, LinkError> {
        static SWEPT: Once = Once::new();
        let temp = whole(std::env::temp_dir())
            .map_err(|e| LinkError::io("finding the current directory, from which TMPDIR is", e))?;
        SWEPT.call_once(|| sweep(&temp, YOUNG));
        Self::within(&temp)
    }

    /// Locked before it has the name by which it is swept.
    fn within(temp: &Path) -> Result<Self, LinkError> {
        let name = format!("{PREFIX}{}", sys::random_name()?);
        let (path, making) = (temp.join(&name), temp.join(name + MAKING));
        rustix::fs::mkdir(&making, Mode::RWXU).map_err(|e| {
            LinkError::io(format!("making the directory {} (TMPDIR chooses another place)", making.display()), e)
        })?;
        let lock =
            lock(&making).map_err(|e| LinkError::io(format!("locking the directory {}", making.display()), e))?;
        rustix::fs::rename(&making, &path)
            .map_err(|e| LinkError::io(format!("naming the directory {}", path.display()), e))?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Whether the process that made this folder still has it, as far as may be seen: others that were told of it wait no longer than that.
pub fn is_held(folder: &Path) -> bool {
    // A shared lock, so that those who look do not take each other for who made it.
    match open(folder) {
        Ok(fd) => rustix::fs::flock(&fd, FlockOperation::NonBlockingLockShared).is_err(),
        Err(e) => e != Errno::NOENT,
    }
}

/// The system's folder for temporary files, from its root: the other side has another current directory. An empty `TMPDIR` names none.
fn whole(temp: PathBuf) -> std::io::Result<PathBuf> {
    if temp.as_os_str().is_empty() { Ok("/tmp".into()) } else { std::path::absolute(temp) }
}

/// Locks a folder of this user's; an error where another process has it locked.
fn lock(folder: &Path) -> Result<OwnedFd, Errno> {
    let fd = open(folder)?;
    rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
    Ok(fd)
}

/// A folder of this user's, to be locked.
fn open(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(folder, flags, Mode::empty())?;
    if rustix::fs::fstat(&fd)?.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Errno::PERM);
    }
    Ok(fd)
}

/// Removes the folders of processes that were killed, those that they did not finish making once they are as old as `young`. What can't be
/// removed is left to the next one.
fn sweep(temp: &Path, young: Duration) {
    for entry in std::fs::read_dir(temp).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|n| n.strip_prefix(PREFIX)).unwrap_or_default();
        let (digits, making) = name.strip_suffix(MAKING).map_or((name, false), |digits| (digits, true));
        let ours = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let age = || entry.metadata().and_then(|m| m.modified()).map(|t| t.elapsed().unwrap_or_default());
        if ours
            && (!making || age().is_ok_and(|age| age >= young))
            && let Ok(_lock) = lock(&entry.path())
        {
            remove(&entry.path());
        }
    }
}

/// Removes a folder with what is named here, and leaves one that holds anything else. Nobody is left to be told of an error.
fn remove(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = |name: &str| [MEET, ENDED].contains(&name) || name.starts_with(SEAT) || name.starts_with(PROCESS);
        if name.to_str().is_some_and(ours) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_for_temporary_files_is_named_from_the_root() {
        let here = std::env::current_dir().unwrap();
        for (set, is) in [("", "/tmp".into()), ("t/u", here.join("t/u")), ("/var/tmp", "/var/tmp".into())] {
            assert_eq!(whole(set.into()).unwrap(), is, "{set}");
        }
    }

    #[test]
    fn a_folder_is_held_for_as_long_as_who_made_it_has_it() {
        let folder = Folder::new().unwrap();
        let path = folder.path().to_owned();
        assert!(is_held(&path) && is_held(&path), "looking does not end it");
        // As a killed process leaves it.
        let Folder { _lock: lock, .. } = &folder;
        rustix::fs::flock(lock, FlockOperation::Unlock).unwrap();
        assert!(!is_held(&path) && !is_held(&path));
        drop(folder);
        assert!(!is_held(&path), "there is none");
    }

    #[test]
    fn only_what_killed_processes_left_behind_is_swept() {
        let temp = std::env::temp_dir().join(format!("sweep-{}", sys::random_name().unwrap()));
        let at = |name: &str| temp.join(name);
        let names = ["0123456789abcdef", "fedcba9876543210", "00000000ffffffff.new", "x"];
        let [dead, living, making, other] = names.map(|name| at(&format!("{PREFIX}{name}")));
        for folder in [&dead, &living, &making, &other] {
            std::fs::create_dir_all(folder).unwrap();
            for name in [MEET, "seat-0", "process-0"] {
                std::fs::write(folder.join(name), "").unwrap();
            }
        }
        let held = lock(&living).unwrap();
        let there = || [&dead, &living, &making, &other].map(|folder| folder.exists());
        sweep(&temp, YOUNG);
        assert_eq!(
            there(),
            [false, true, true, true],
            "what was killed a moment ago goes, what may be in the making stays"
        );
        sweep(&temp, Duration::ZERO);
        assert_eq!(there(), [false, true, false, true]);
        drop(held);
        std::fs::write(living.join("something else"), "").unwrap();
        sweep(&temp, Duration::ZERO);
        assert!(living.join("something else").exists(), "nothing but what is named here is removed");
        // A folder in use is never taken for one that was left behind, also while it is empty, and leaves nothing of its making.
        let folder = Folder::within(&temp).unwrap();
        sweep(&temp, Duration::ZERO);
        assert!(folder.path.exists());
        drop(folder);
        assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 2, "the other one and the one with something else");
        std::fs::remove_dir_all(&temp).unwrap();
    }
}
