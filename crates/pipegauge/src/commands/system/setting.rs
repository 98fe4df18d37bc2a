//! Reading and setting one setting of this host.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use super::Ends;
use crate::commands::programs;
use crate::config::system::{Knob, Link, Setter, Source, links};

/// Longest text that is read, bytes.
const LONGEST: u64 = 64 << 10;
/// How long an interface may take to carry something again once it was set.
const LINKS: Duration = Duration::from_secs(10);

/// There is no such setting.
#[derive(Debug)]
pub struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// What it is now.
///
/// # Errors
/// [`Missing`]; or it can't be read.
pub fn read(knob: &Knob) -> Result<String> {
    knob.read(&text(knob)?)
}

/// The text that tells it.
pub fn text(knob: &Knob) -> Result<String> {
    match knob.source() {
        Source::Program(step) => programs::ran(&step).map_err(|e| anyhow!("reading {}: {e}", knob.what())),
        Source::File(file) => {
            let mut text = String::new();
            let read = File::open(&file).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
            match read.map_err(|e| (e.kind(), e)) {
                Ok(_) => Ok(text),
                Err((ErrorKind::NotFound, _)) => Err(anyhow!(Missing(format!(
                    "there is no {} here: this kernel, or this network namespace, does not have it",
                    knob.what()
                )))),
                Err((_, e)) => Err(anyhow!("reading {} ({}): {e}", knob.what(), file.display())),
            }
        }
    }
}

/// The interface that has it; none where it is no interface's.
pub fn link(knob: &Knob) -> Result<Option<Link>> {
    let Some(interface) = knob.interface() else { return Ok(None) };
    let step = ["ip", "-o", "link", "show", "dev", interface].map(str::to_owned);
    let text = programs::ran(&step).map_err(|e| anyhow!("looking at the interface {interface}: {e}"))?;
    let found = links(&text).into_iter().next();
    found.map(Some).ok_or_else(|| anyhow!("`ip link` tells nothing of {interface}"))
}

/// Sets it, under the lock of the journal that tells of it. Whoever asks reads it back.
///
/// # Errors
/// [`Ends`] where this process may not, or the system hangs; else what the system says.
pub fn set(knob: &Knob, value: &str, lock: Option<&File>) -> Result<()> {
    let before = link(knob)?;
    let done = match knob.setter(value) {
        Setter::Program(step) => programs::ran_holding(&step, lock).map(drop).map_err(|failed| {
            let refused = ["not permitted", "Permission denied", "Read-only"];
            (failed.hung || refused.iter().any(|words| failed.why.contains(words)), failed.to_string())
        }),
        Setter::File(file, text) => {
            // One write: the kernel takes each as a whole value.
            let written =
                OpenOptions::new().write(true).open(&file).and_then(|mut file| file.write_all(text.as_bytes()));
            let refused =
                |e: &std::io::Error| matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
            written.map_err(|e| (refused(&e), format!("writing {}: {e}", file.display())))
        }
    };
    match done {
        Ok(()) => {}
        Err((true, why)) => return Err(anyhow!(Ends(format!("{} can't be changed: {why}", knob.what())))),
        Err((false, why)) => bail!("{why}"),
    }
    if before.is_some_and(|link| link.up) { up_again(knob) } else { Ok(()) }
}

/// Waits until the interface carries something again: some drivers start anew with a new setting.
fn up_again(knob: &Knob) -> Result<()> {
    let until = Instant::now() + LINKS;
    while !link(knob)?.is_none_or(|link| link.up) {
        if Instant::now() >= until {
            bail!(
                "{} was not up {} s after {} was set",
                knob.interface().unwrap_or_default(),
                LINKS.as_secs(),
                knob.what()
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
