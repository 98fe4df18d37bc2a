//! Folders of tests' own.

use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A folder that goes with this value, also where the test fails.
pub struct Folder(PathBuf);

impl Folder {
    /// A fresh one. No other of this process has the name at that time.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fastsock-{name}-{}", std::process::id()));
        // What a process of this number left behind that was killed.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Deref for Folder {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it any more.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
