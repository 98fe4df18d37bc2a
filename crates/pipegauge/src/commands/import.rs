//! `pipegauge import`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use measure::Event;

use super::files;
use crate::document::ImportDocument;
use crate::exit::Exit;
use crate::flags::ImportFlags;
use crate::out;

/// Most bytes of an np.out: NetPIPE writes a line of some 60 bytes for each of a few hundred sizes.
const LARGEST: u64 = 1 << 20;

/// Reads a NetPIPE np.out into a run file.
pub fn import(flags: &ImportFlags, json: bool) -> Result<Exit> {
    let text = record::input::text(&flags.file, "an np.out of NetPIPE", LARGEST)?;
    let events = record::import::np(&text).with_context(|| format!("reading {}", flags.file.display()))?;
    let output = match &flags.output {
        Some(file) => file.clone(),
        None => {
            let stem = flags.file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            PathBuf::from(format!("{stem}.run.jsonl"))
        }
    };
    let mut writer = record::Writer::create(&output)?;
    // What is cut off is no run file, and its np.out is still there.
    events.iter().try_for_each(|event| writer.write(event)).inspect_err(|_| drop(std::fs::remove_file(&output)))?;
    drop(writer);
    let points = events.iter().filter(|e| matches!(e, Event::Point(_))).count() as u64;
    // Reading it back is the proof that it is a run file.
    files::read(&output)?;
    if json {
        out::json(&ImportDocument::new(&flags.file, &output, points))?;
    } else {
        out::text(&format!("{}: {points} points", output.display()))?;
    }
    Ok(Exit::Ok)
}
