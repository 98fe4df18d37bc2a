//! Opens what a person named: only what can't block the open, and no more of it than a bound is kept.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, fcntl_setfl, fstatfs};
use rustix::io::Errno;

/// `PIPEFS_MAGIC` of linux/magic.h: a pipe without a name, as a shell makes for `|` and `<(...)`. A named one (FIFO) lies on the file
/// system that it was made on.
const PIPEFS: u64 = 0x5049_5045;

/// Why a file is not read. Every message names it and what to do.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It can't be opened.
    #[error("can't open {name}: {source}")]
    Open {
        /// The file.
        name: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// It is a directory.
    #[error("{0} is a directory; name the file in it")]
    Directory(String),
    /// It is a FIFO.
    #[error(
        "{0} is a named pipe, which waits for whoever writes to it; write to a regular file and name that (a pipe of the shell, as in <(zcat FILE), is read)"
    )]
    Fifo(String),
    /// It is a device or a socket.
    #[error("{name} is {what}; name a regular file")]
    Device {
        /// The file.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// It can't be read.
    #[error("reading {name}: {source}")]
    Io {
        /// The file.
        name: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// It is longer than what is wanted can be.
    #[error("{name} is larger than {} KiB, and {what} never is; check the name", .most >> 10)]
    Large {
        /// The file.
        name: String,
        /// What was wanted.
        what: &'static str,
        /// Most bytes.
        most: u64,
    },
    /// It is no text.
    #[error("{name} is not text, so it is not {what}; check the name")]
    Binary {
        /// The file.
        name: String,
        /// What was wanted.
        what: &'static str,
    },
}

/// Opens a regular file, or a pipe of the shell. Opening a FIFO without a writer would block, and a device may have no end.
pub fn open(path: &Path) -> Result<File, InputError> {
    let name = || path.display().to_string();
    let failed = |source: io::Error| InputError::Open { name: name(), source };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NXIO) => {
            return Err(InputError::Device { name: name(), what: "a socket or a device without a driver" });
        }
        Err(e) => return Err(failed(e.into())),
    };
    let kind = file.metadata().map_err(failed)?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    if kind.is_dir() {
        return Err(InputError::Directory(name()));
    }
    if kind.is_fifo() {
        if fstatfs(&file).map_err(|e| failed(e.into()))?.f_type as u64 != PIPEFS {
            return Err(InputError::Fifo(name()));
        }
        fcntl_setfl(&file, OFlags::empty()).map_err(|e| failed(e.into()))?;
        return Ok(file);
    }
    let what = if kind.is_char_device() || kind.is_block_device() { "a device" } else { "a socket" };
    Err(InputError::Device { name: name(), what })
}

/// The whole text of a file of `most` bytes at most; `what` stands in messages ("a key").
pub fn text(path: &Path, what: &'static str, most: u64) -> Result<String, InputError> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    match open(path)?.take(most + 1).read_to_end(&mut bytes) {
        Err(source) => Err(InputError::Io { name, source }),
        Ok(_) if bytes.len() as u64 > most => Err(InputError::Large { name, what, most }),
        Ok(_) => String::from_utf8(bytes).map_err(|_| InputError::Binary { name, what }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_is_read_and_no_more_than_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .unwrap();
        std::fs::write(at("text"), "a".repeat(100)).unwrap();
        std::fs::write(at("binary"), [0xff; 10]).unwrap();
        let said = |name: &Path| text(name, "a key", 99).unwrap_err().to_string();
        assert!(said(&at("fifo")).contains("is a named pipe"), "{}", said(&at("fifo")));
        for device in ["/dev/zero", "/dev/null", "/dev/full"] {
            assert!(said(Path::new(device)).contains("is a device; name a regular file"), "{device}");
        }
        assert!(said(dir.path()).contains("is a directory"));
        assert!(said(&at("none")).contains("can't open"));
        assert!(said(&at("text")).contains("and a key never is"), "{}", said(&at("text")));
        assert!(said(&at("binary")).contains("not text"));
        assert_eq!(text(&at("text"), "a key", 100).unwrap().len(), 100);
    }

    #[test]
    fn a_pipe_of_the_shell_is_read() {
        let (reader, mut writer) = io::pipe().unwrap();
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        let written = std::thread::spawn(move || {
            // Opened before anything was written: the reader must wait, not give up.
            std::thread::yield_now();
            io::Write::write_all(&mut writer, b"whole").unwrap();
        });
        assert_eq!(text(Path::new(&name), "a key", 100).unwrap(), "whole");
        written.join().unwrap();
    }
}
