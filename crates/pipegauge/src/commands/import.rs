//! `pipegauge import`.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use measure::Event;

use super::files;
use crate::document::ImportDocument;
use crate::exit::Exit;
use crate::flags::ImportFlags;
use crate::out;

/// Reads a NetPIPE np.out into a run file.
pub fn import(flags: &ImportFlags, json: bool) -> Result<Exit> {
    let bytes = std::fs::read(&flags.file).with_context(|| format!("reading {}", flags.file.display()))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| anyhow!("{} is not text, so it is no np.out of NetPIPE", flags.file.display()))?;
    let events = record::import::np(&text).with_context(|| format!("reading {}", flags.file.display()))?;
    let output = match &flags.output {
        Some(file) => file.clone(),
        None => {
            let stem = flags.file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            PathBuf::from(format!("{stem}.run.jsonl"))
        }
    };
    let mut writer = record::Writer::create(&output)?;
    for event in &events {
        writer.write(event)?;
    }
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
