//! `pipegauge plot`.

use anyhow::{Result, bail};
use record::{Analysis, RunFile};

use super::{files, show};
use crate::document::PlotDocument;
use crate::exit::Exit;
use crate::flags::PlotFlags;
use crate::out;

/// How much finer a PNG is drawn than its nominal size, so that it stays sharp on a dense screen.
pub const PNG_SCALE: f32 = 2.0;

/// Draws run files into one picture or page.
pub fn plot(flags: &PlotFlags, json: bool) -> Result<Exit> {
    let ending = flags.output.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if !["svg", "png", "html"].contains(&ending.as_str()) {
        bail!("-o {}: the name's ending says what to draw: .svg, .png or .html", flags.output.display());
    }
    files::not_an_input(Some(&flags.output), &flags.runs)?;
    let runs = flags.runs.iter().map(|p| files::read(p)).collect::<Result<Vec<RunFile>>>()?;
    let runs: Vec<Analysis<'_>> = runs.iter().map(Analysis::of).collect();
    let runs: Vec<&Analysis<'_>> = runs.iter().collect();
    let graph = show::graph(&runs, flags.graph)?;
    if ending == "html" && graph.of_hint() {
        bail!("the HTML report is of messages, and these are HINT runs: give -o a name that ends in .svg or .png");
    }
    let draw = || {
        let figure = report::Figure::with(&runs, graph, flags.fits);
        report::svg::render(&if flags.log { figure.logarithmic() } else { figure })
    };
    let contents = match ending.as_str() {
        "html" => report::html::page(&runs).into_bytes(),
        "png" => report::png::render(&draw(), PNG_SCALE)?,
        _ => draw().into_bytes(),
    };
    files::write(&flags.output, &contents)?;
    if json {
        out::json(&PlotDocument::new(&flags.output, ending, contents.len() as u64))?;
    } else {
        out::text(&format!("{}", flags.output.display()))?;
    }
    Ok(Exit::Ok)
}
