//! Reading and setting one setting of this host.

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

/// What it is now.
pub fn read(knob: &Knob) -> Result<String> {
    let text = match knob.source() {
        Source::Program(step) => programs::ran(&step).map_err(|e| anyhow!("reading {}: {e}", knob.what()))?,
        Source::File(file) => {
            let mut text = String::new();
            let read = File::open(&file).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
            read.map_err(|e| match e.kind() {
                ErrorKind::NotFound => {
                    anyhow!(
                        "there is no {} here: this kernel, or this network namespace, does not have it",
                        knob.what()
                    )
                }
                _ => anyhow!("reading {} ({}): {e}", knob.what(), file.display()),
            })?;
            text
        }
    };
    knob.read(&text)
}

/// The interface that has it; none where it is no interface's.
pub fn link(knob: &Knob) -> Result<Option<Link>> {
    let Some(interface) = knob.interface() else { return Ok(None) };
    let step = ["ip", "-o", "link", "show", "dev", interface].map(str::to_owned);
    let text = programs::ran(&step).map_err(|e| anyhow!("looking at the interface {interface}: {e}"))?;
    let found = links(&text).into_iter().next();
    found.map(Some).ok_or_else(|| anyhow!("`ip link` tells nothing of {interface}"))
}

/// Sets it. Whoever asks reads it back.
///
/// # Errors
/// [`Ends`] where this process may not; else what the system says.
pub fn set(knob: &Knob, value: &str) -> Result<()> {
    let before = link(knob)?;
    let done = match knob.setter(value) {
        Setter::Program(step) => programs::ran(&step).map(drop).map_err(|failed| {
            let refused = ["not permitted", "Permission denied", "Read-only"];
            (refused.iter().any(|words| failed.why.contains(words)), failed.to_string())
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
