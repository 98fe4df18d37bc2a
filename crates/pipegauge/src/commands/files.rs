//! Reading run files and writing results, with errors that name the file.

use std::fs::Permissions;
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use record::RunFile;

use crate::config::names::same_file;
use crate::out;

/// What a file that is not yet whole is called, before letters that nobody can foresee.
const PART: &str = ".pipegauge-";

/// What a run file begins with.
const BEGINS: &[u8; 14] = b"{\"event\":\"run\"";

/// Reads a run file; a file cut off before its end is said, and what is whole is used.
pub fn read(path: &Path) -> Result<RunFile> {
    said(path, record::read(path)?)
}

/// The same, with each interval of a soak as a point of its own.
pub fn read_rows(path: &Path) -> Result<RunFile> {
    said(path, record::read_intervals(path)?)
}

fn said(path: &Path, run: RunFile) -> Result<RunFile> {
    if let Some(how) = &run.cut {
        out::tell(&format!("note: {}: {how}; what is whole is shown", path.display()));
    }
    Ok(run)
}

/// Reads a run file whose sizes are those of messages: one of HINT has no throughput, and what it has is elsewhere.
pub fn read_messages(path: &Path) -> Result<RunFile> {
    let run = read(path)?;
    if run.has_score() {
        bail!(
            "{} is a HINT run: its sizes are subintervals and it has QUIPS, not throughput; show, plot (svg, png), compare \
             and export (csv, json, parquet, openmetrics) know what to do with it",
            path.display()
        );
    }
    Ok(run)
}

/// Reads a run file with a curve over sizes, whose intervals hold for a repeat: those of a soak hold for its one connection.
pub fn read_curve(path: &Path) -> Result<RunFile> {
    let run = read_messages(path)?;
    no_soak(path, &run)?;
    Ok(run)
}

/// Fails where a run is a soak.
pub fn no_soak(path: &Path, run: &RunFile) -> Result<()> {
    if run.run.plan.soaks() {
        bail!(
            "{} is a soak (run --duration): one connection, which says nothing of how far the next one lies from it, and no curve over \
             sizes. show, jitter, plot and export read it; for this, measure rounds: `pipegauge run` without --duration",
            path.display()
        );
    }
    Ok(())
}

/// Fails where what is to be written is one of the files that are read: a run file holds what was measured, and nothing
/// brings it back.
pub fn not_an_input(output: Option<&Path>, inputs: &[PathBuf]) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    match inputs.iter().find(|input| same_file(input, output)) {
        Some(input) => {
            bail!("the output {} is the run file {} itself: give another name", output.display(), input.display())
        }
        None => Ok(()),
    }
}

/// Writes a whole file: into a temporary name first, so that an error leaves no half of one.
pub fn write(path: &Path, contents: &[u8]) -> Result<()> {
    write_with(path, |out| Ok(out.write_all(contents)?)).map(drop)
}

/// Fails where a file can't be appended to, or made. One that was made for this goes again.
pub fn appendable(path: &Path, flag: &str) -> Result<()> {
    let there = path.symlink_metadata().is_ok();
    // A pipe would wait here for its reader; it is opened when it is used.
    if path.metadata().is_ok_and(|found| found.file_type().is_fifo()) {
        return Ok(());
    }
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .with_context(|| format!("{flag}: writing {} (name another file)", path.display()))?;
    if !there {
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Whether a file begins as run files do.
fn holds_a_run(path: &Path) -> bool {
    let mut start = [0; BEGINS.len()];
    let mut read = |path| std::fs::File::open(path)?.read_exact(&mut start);
    path.is_file() && read(path).is_ok() && start == *BEGINS
}

/// A writer that counts what passes.
struct Counted<W> {
    to: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        let n = self.to.write(data)?;
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// As [`write()`], what something writes a piece at a time; gives its length, bytes.
pub fn write_with(path: &Path, contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<u64> {
    ensure!(path.file_name().is_some(), "{} is no file name", path.display());
    ensure!(
        !holds_a_run(path),
        "{} is a run file, which nothing brings back: name another file to write to, or remove it",
        path.display()
    );
    // A device or a pipe can't be replaced; it is written to as it is.
    if path.exists() && !path.is_file() {
        let file = std::fs::File::create(path).with_context(|| format!("writing {}", path.display()))?;
        let mut out = Counted { to: BufWriter::new(file), bytes: 0 };
        contents(&mut out).and_then(|()| Ok(out.flush()?)).with_context(|| format!("writing {}", path.display()))?;
        return Ok(out.bytes);
    }
    whole(path, contents).with_context(|| format!("writing {}", path.display()))
}

/// Writes a new file beside `path` under a name that nobody can foresee, and puts it in the place of `path`.
fn whole(path: &Path, contents: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Permissions as any new file has them: the umask takes its part.
    let part = tempfile::Builder::new().prefix(PART).permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    let mut out = Counted { to: BufWriter::new(part), bytes: 0 };
    contents(&mut out)?;
    out.flush()?;
    let bytes = out.bytes;
    let part = out.to.into_inner().map_err(|e| e.into_error())?;
    part.as_file().sync_all()?;
    part.persist(path)?;
    Ok(bytes)
}

/// The number of the path that `name` asks for: what it is called, or the number itself. Without a name, the only path.
pub fn one_path(run: &RunFile, name: Option<&str>) -> Result<usize> {
    let names = || {
        let all: Vec<&str> = run.paths.iter().map(|p| p.opened.name()).collect();
        if all.is_empty() { "none".to_owned() } else { all.join(", ") }
    };
    match name {
        Some(name) => run
            .paths
            .iter()
            .position(|p| p.opened.name() == name)
            .or_else(|| name.parse().ok().filter(|n| *n < run.paths.len()))
            .ok_or_else(|| anyhow!("the run has no path '{name}'; it has: {}", names())),
        None if run.paths.len() == 1 => Ok(0),
        None if run.paths.is_empty() => Err(anyhow!("the run has no path: nothing was measured")),
        None => Err(anyhow!("the run has more than one path, and this takes one: --path NAME, of {}", names())),
    }
}

/// Leaves the path that `name` asks for alone in the run, with the warnings about it and about the whole run.
pub fn only(run: &mut RunFile, name: &str) -> Result<()> {
    let path = one_path(run, Some(name))?;
    run.paths = vec![run.paths.swap_remove(path)];
    let number = run.paths[0].opened.path;
    run.warnings.retain(|w| w.path.is_none_or(|p| p == number));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_file_is_not_replaced_by_what_is_written_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a.run.jsonl"), "{\"event\":\"run\",\"format\":\"x\"}\n").unwrap();
        let refused = write(&at("a.run.jsonl"), b"# report").unwrap_err().to_string();
        assert!(refused.contains("is a run file"), "{refused}");
        assert!(std::fs::read_to_string(at("a.run.jsonl")).unwrap().starts_with("{\"event\""));
        for before in ["", "old report"] {
            std::fs::write(at("b.md"), before).unwrap();
            write(&at("b.md"), b"new").unwrap();
            assert_eq!(std::fs::read_to_string(at("b.md")).unwrap(), "new");
        }
    }
}
