//! `pipegauge tables`.

use anyhow::{Result, bail};
use record::Analysis;
use report::tables;

use super::files;
use crate::document::TablesDocument;
use crate::exit::Exit;
use crate::flags::TablesFlags;
use crate::out;

/// Prints the papers' tables of all paths of the runs.
pub fn tables(flags: &TablesFlags, json: bool) -> Result<Exit> {
    files::not_an_input(flags.markdown.as_deref(), &flags.runs)?;
    let mut runs = Vec::new();
    for file in &flags.runs {
        let shown = file.display().to_string();
        let stem = shown.strip_suffix(".run.jsonl").unwrap_or(&shown).to_owned();
        runs.push((stem, files::read_curve(file)?));
    }
    let runs: Vec<_> = runs.iter().map(|(name, run)| (name.clone(), Analysis::of(run))).collect();
    let layers = tables::layers(&runs);
    if layers.is_empty() {
        bail!("no path of these runs has points to make a table of");
    }
    if let Some(file) = &flags.markdown {
        files::write(file, tables::markdown(&layers).as_bytes())?;
    }
    if json {
        out::json(&TablesDocument::new(layers))?;
    } else {
        out::text(&report::text::folded(&tables::text(&layers), out::prose()))?;
    }
    Ok(Exit::Ok)
}
