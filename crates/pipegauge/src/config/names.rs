//! Names of the files that a run makes: none may be lost for another.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, bail};

/// `pipegauge-20260131T120000Z.run.jsonl` in the current directory; a number is added where that is taken.
pub fn run_file(now: SystemTime) -> PathBuf {
    stamped(now, "run.jsonl")
}

fn stamped(now: SystemTime, end: &str) -> PathBuf {
    let stamp: String =
        humantime::format_rfc3339_seconds(now).to_string().chars().filter(|c| !matches!(c, '-' | ':')).collect();
    free(|number| PathBuf::from(format!("pipegauge-{stamp}{number}.{end}")))
}

/// `pipegauge-20260131T120000Z.sweep`, as [`run_file`].
pub fn sweep(now: SystemTime) -> PathBuf {
    stamped(now, "sweep")
}

/// The report's name beside a run file where nobody gave another: the run file's own, ending in .html, with a number
/// where that is taken.
pub fn report_beside(run: &Path) -> PathBuf {
    let stem = stem(run);
    free(|number| run.with_file_name(format!("{stem}{number}.html")))
}

/// The names of a run's two sides, where `run` is asked for or (`run_file`) made up.
pub fn sides(run: &Path) -> [PathBuf; 2] {
    let stem = stem(run);
    ["a", "b"].map(|side| run.with_file_name(format!("{stem}.{side}.run.jsonl")))
}

/// A run file's name beside another: its own with `more` at the end of it, and a number where that is taken.
pub fn beside(run: &Path, more: &str) -> PathBuf {
    let stem = stem(run);
    free(|number| run.with_file_name(format!("{stem}{more}{number}.run.jsonl")))
}

/// A run file's name without what all of them end in.
fn stem(run: &Path) -> String {
    let name = run.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    [".run.jsonl", ".jsonl", ".run"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name).to_owned()
}

/// The first of `name("")`, `name("-2")`, `name("-3")`, ... that is no file yet.
fn free(name: impl Fn(&str) -> PathBuf) -> PathBuf {
    let numbers = std::iter::once(String::new()).chain((2..=99).map(|n| format!("-{n}")));
    let mut names = numbers.map(|n| name(&n));
    names.find(|p| !p.exists()).unwrap_or_else(|| name("-100"))
}

/// Whether two names lead to one file, there already or not. (A device or pipe may take several outputs.)
pub fn same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => match (place(a), place(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
        // One is there and the other is not.
        _ => false,
    }
}

/// The directory, by its one true name, and the name in it.
fn place(path: &Path) -> Option<(PathBuf, &OsStr)> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some((parent.canonicalize().ok()?, path.file_name()?))
}

/// Fails where two of a run's files are one.
pub fn distinct(output: &Path, html: Option<&Path>, trace: Option<&Path>) -> Result<()> {
    let files = [("-o", Some(output)), ("--html", html), ("--trace", trace)];
    for (i, (one, a)) in files.iter().enumerate() {
        for (other, b) in &files[..i] {
            if let (Some(a), Some(b)) = (a, b)
                && same_file(a, b)
            {
                bail!("{other} and {one} name the same file, {}: give each a name of its own", a.display());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn the_report_stands_beside_the_run_file() {
        assert_eq!(report_beside(Path::new("/x/a.run.jsonl")), Path::new("/x/a.html"));
        assert_eq!(report_beside(Path::new("b.jsonl")), Path::new("b.html"));
        assert_eq!(report_beside(Path::new("c.out")), Path::new("c.out.html"));
    }

    #[test]
    fn the_run_files_name_is_the_time_in_utc() {
        let at = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        assert_eq!(run_file(at), Path::new("pipegauge-20010909T014640Z.run.jsonl"));
    }

    #[test]
    fn a_report_that_nobody_named_takes_no_name_that_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("notes.html"), "mine").unwrap();
        std::fs::write(at("notes-2.html"), "mine too").unwrap();
        assert_eq!(report_beside(&at("notes.run.jsonl")), at("notes-3.html"));
    }

    #[test]
    fn one_file_under_two_names_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a"), "").unwrap();
        std::os::unix::fs::symlink(at("a"), at("b")).unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        assert!(same_file(&at("a"), &at("b")));
        assert!(same_file(&at("new"), &at("sub/../new")));
        assert!(!same_file(&at("new"), &at("newer")) && !same_file(&at("a"), &at("new")));
        assert!(!same_file(Path::new("/dev/null"), Path::new("/dev/null")));
        let e = distinct(&at("a"), Some(&at("b")), None).unwrap_err().to_string();
        assert!(e.contains("-o and --html"), "{e}");
        let e = distinct(&at("x"), None, Some(&at("x"))).unwrap_err().to_string();
        assert!(e.contains("-o and --trace"), "{e}");
        distinct(&at("x"), Some(&at("y")), Some(&at("z"))).unwrap();
    }
}
