//! The file under a log: appended to, and exchanged whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use strata::net::Failed;

use super::entries::Write;

pub struct LogFile {
    path: PathBuf,
    file: File,
    /// A device or a pipe has no other to take its place, and nothing to be kept.
    regular: bool,
}

impl LogFile {
    pub fn open(path: &Path) -> Result<Self, Failed> {
        let what = format!("opening the log {}", path.display());
        Self::opened(path).map_err(|source| Failed::Io { what, source })
    }

    fn opened(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let regular = file.metadata()?.is_file();
        // A link stays one.
        let path = fs::canonicalize(path)?;
        if regular && file.seek(SeekFrom::End(0))? > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                eprintln!("the last line of {} has no end, as after a crash: it stands as it is", path.display());
                file.write_all(b"\n")?;
            }
        }
        Ok(Self { path, file, regular })
    }

    pub fn all(&self) -> Result<Vec<u8>, Failed> {
        // Some devices never end, and a pipe waits for who writes.
        if !self.regular {
            return Ok(Vec::new());
        }
        fs::read(&self.path).map_err(ended("reading the log", &self.path))
    }

    pub fn write(&mut self, what: Write) -> Result<(), Failed> {
        match what {
            Write::Append(lines) => self.append(&lines).map_err(ended("writing the log", &self.path)),
            Write::Replace(all) if self.regular => {
                self.exchange(&all).map_err(ended("writing the group's log in the place of", &self.path))
            }
            Write::Replace(all) => {
                self.append(&all).map_err(ended("writing the group's log in the place of", &self.path))
            }
        }
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        if self.regular { self.file.sync_data() } else { Ok(()) }
    }

    /// Written beside it, then renamed: a crash leaves the old log or the new one.
    fn exchange(&mut self, all: &[u8]) -> io::Result<()> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let new = self.path.with_file_name(name);
        // What a crash left, or a link that leads elsewhere.
        if let Err(e) = fs::remove_file(&new)
            && e.kind() != ErrorKind::NotFound
        {
            return Err(e);
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let written = file
            .write_all(all)
            .and_then(|()| file.set_permissions(self.file.metadata()?.permissions()))
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&new, &self.path));
        if let Err(e) = written {
            // Half of a log beside the whole one is of no use; that it can't be removed changes nothing.
            let _ = fs::remove_file(&new);
            return Err(e);
        }
        if let Some(folder) = self.path.parent() {
            File::open(folder)?.sync_all()?;
        }
        self.file = OpenOptions::new().append(true).open(&self.path)?;
        Ok(())
    }
}

/// What ends this member.
fn ended(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Failed {
    let what = format!("{what} {}, so that this member left the group", path.display());
    move |source| Failed::Io { what, source }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_log_is_exchanged_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("strata-log-file-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (path, beside) = (folder.join("log"), folder.join("log.new"));
        fs::write(&path, "one\nhal").unwrap();
        let mut log = LogFile::open(&path).unwrap();
        let mut before = File::open(&path).unwrap();
        // Where the new one can't be written, the old one stands.
        fs::create_dir(&beside).unwrap();
        let why = log.write(Write::Replace("two\n".into())).unwrap_err().to_string();
        assert!(why.contains("left the group") && why.contains("log"), "{why}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\nhal\n");
        fs::remove_dir(&beside).unwrap();
        // What lies there is not written through, and who may read the log stays.
        let elsewhere = folder.join("elsewhere");
        fs::write(&elsewhere, "else").unwrap();
        symlink(&elsewhere, &beside).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        log.write(Write::Replace("two\n".into())).unwrap();
        log.write(Write::Append("three\n".into())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\nthree\n");
        let mut old = String::new();
        before.read_to_string(&mut old).unwrap();
        assert_eq!(old, "one\nhal\n", "the old one was not written over");
        assert!(!beside.exists());
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "else");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        fs::remove_dir_all(folder).unwrap();
    }
}
