//! Small text files below a root directory: `/` on a real machine, a directory of fixtures in tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where `proc` and `sys` lie.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Root {
    /// This machine.
    pub fn system() -> Self {
        Self::at("/")
    }

    /// The tree below `path`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of `name`, which does not begin with a slash.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// A file's text without the white space around it; none if it can't be read or says nothing.
    pub fn text(&self, name: impl AsRef<Path>) -> Option<String> {
        // Not every file of /proc and /sys is UTF-8 (DMI strings are what the vendor wrote).
        let bytes = fs::read(self.path(name)).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A file that holds one value.
    pub fn value<T: FromStr>(&self, name: impl AsRef<Path>) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// A file that holds a list of CPUs ("0-3,8"), ascending.
    pub fn cpus(&self, name: impl AsRef<Path>) -> Option<Vec<u32>> {
        cpu_list(&self.text(name)?)
    }

    /// Names in a directory, in order.
    pub fn names(&self, directory: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The last name of what a symbolic link points to.
    pub fn link(&self, name: impl AsRef<Path>) -> Option<String> {
        let target = fs::read_link(self.path(name)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    }
}

/// CPUs of a list such as "0-3,8", ascending; none if it is not one. A range of more than 65,536 is not believed.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for item in text.split(',').map(str::trim).filter(|i| !i.is_empty()) {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first > 65_536 {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(cpu_list("5"), Some(vec![5]));
        assert_eq!(cpu_list("4, 0-1,1"), Some(vec![0, 1, 4]));
        assert_eq!(cpu_list(""), Some(vec![]));
        for wrong in ["a", "1-", "3-1", "0-4294967295", "-1"] {
            assert_eq!(cpu_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn files_that_are_missing_empty_or_strange_are_absent() {
        let f = Fixture::empty()
            .file("a", " 12\n")
            .file("b", "\n")
            .file("d/y", "1")
            .file("d/x", "1")
            .link("l", "../e/virtio");
        let root = f.root();
        assert_eq!(root.value::<u64>("a"), Some(12));
        assert_eq!(root.value::<i8>("b"), None);
        assert_eq!((root.text("b"), root.text("c")), (None, None));
        assert_eq!(root.names("d"), ["x", "y"]);
        assert!(root.names("none").is_empty());
        assert_eq!(root.link("l").as_deref(), Some("virtio"));
        assert_eq!(root.link("a"), None);
    }
}
