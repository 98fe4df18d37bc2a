//! `pipegauge show`.

use anyhow::Result;
use report::{table, terminal, words};

use super::files;
use crate::document::{Results, ShowDocument};
use crate::exit::Exit;
use crate::flags::ShowFlags;
use crate::out;

/// Rows of a terminal graph.
pub const GRAPH_HEIGHT: usize = 22;

/// Shows a run file: graph, summary, every point, warnings.
pub fn show(flags: &ShowFlags, json: bool) -> Result<Exit> {
    let mut run = files::read(&flags.run)?;
    if let Some(name) = &flags.path {
        files::only(&mut run, name)?;
    }
    if json {
        out::json(&ShowDocument::new(&flags.run, Results::of(&run)))?;
        return Ok(Exit::Ok);
    }
    let mut text = format!("{}\n\n", heading(&run));
    text.push_str(&terminal::graph(&run, flags.graph.into(), out::width(), GRAPH_HEIGHT, out::colour()));
    text.push('\n');
    text.push_str(&table::paths(&run));
    text.push('\n');
    let (summary, fits) = table::summary_and_fits(&run);
    text.push_str(&format!("{summary}\n{fits}"));
    let breaks = table::breaks(&run);
    if !breaks.is_empty() {
        text.push_str(&format!("\n{breaks}"));
    }
    for (path, measured) in run.paths.iter().enumerate() {
        text.push_str(&format!("\n{}\n", measured.opened.transport));
        text.push_str(&table::points(&run, path));
    }
    let warnings = table::warnings(&run);
    if !warnings.is_empty() {
        text.push_str(&format!("\n{warnings}"));
    }
    out::text(&text)?;
    Ok(Exit::Ok)
}

/// What was typed, and where and how it was measured.
fn heading(run: &record::RunFile) -> String {
    format!("{}\n{}", words::plain(&run.run.command.join(" ")).replace('\n', " "), words::run_line(run))
}
