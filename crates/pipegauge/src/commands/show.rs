//! `pipegauge show`.

use anyhow::{Result, bail};
use record::RunFile;
use report::{Graph, table, terminal, words};

use super::files;
use crate::document::{Results, ShowDocument};
use crate::exit::Exit;
use crate::flags::{GraphFlag, ShowFlags};
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
    let graph = graph(&[&run], flags.graph)?;
    let mut text = format!("{}\n\n", heading(&run));
    text.push_str(&terminal::graph(&run, graph, out::width(), GRAPH_HEIGHT, out::colour()));
    text.push('\n');
    let told = told(&run, flags);
    text.push_str(&table::paths(&run));
    text.push('\n');
    text.push_str(&if run.is_hint() { hint(&run, &told) } else { curves(&run, &told) });
    out::text(&text)?;
    Ok(Exit::Ok)
}

/// The graph that was asked for, or the one that shows most of the runs.
pub fn graph(runs: &[&RunFile], asked: Option<GraphFlag>) -> Result<Graph> {
    let hint = runs.iter().filter(|run| run.is_hint()).count();
    if hint > 0 && hint < runs.len() {
        bail!("some of these runs are HINT's and some are not, and no graph shows both: draw them apart");
    }
    match (asked.map(Graph::from), hint > 0) {
        (None, true) | (Some(Graph::Quips), true) => Ok(Graph::Quips),
        (None, false) => Ok(Graph::Signature),
        (Some(Graph::Quips), false) => {
            bail!("--graph quips draws what pipegauge hint measured, and this run is none of it")
        }
        (Some(graph), false) => Ok(graph),
        (Some(graph), true) => {
            bail!("a HINT run has no throughput and so no {} graph; --graph quips draws it", graph.name())
        }
    }
}

/// How far the figures may be trusted, and the run's warnings: by cause, or whole where that was asked for.
fn told(run: &RunFile, flags: &ShowFlags) -> String {
    let warnings =
        if flags.warnings { table::warnings(run) } else { table::grouped(run, out::width(), "(whole: --warnings)") };
    let between = if warnings.is_empty() { "" } else { "\n" };
    format!("\n{}{between}{warnings}", table::trust(run))
}

/// Figures and points of a HINT run.
fn hint(run: &RunFile, told: &str) -> String {
    let mut text = table::hint(run) + &table::machine(run) + told;
    for (path, measured) in run.paths.iter().enumerate() {
        text.push_str(&format!("\n{}\n{}", measured.opened.transport, table::hint_points(run, path)));
    }
    text
}

/// Summary, what to know about it, fits, dips and points of a run of blocks.
fn curves(run: &RunFile, told: &str) -> String {
    let mut text = String::new();
    let (summary, fits) = table::summary_and_fits(run);
    text.push_str(&format!("{summary}{told}\n{fits}"));
    let breaks = table::breaks(run);
    if !breaks.is_empty() {
        text.push_str(&format!("\n{breaks}"));
    }
    for (path, measured) in run.paths.iter().enumerate() {
        text.push_str(&format!("\n{}\n", measured.opened.transport));
        text.push_str(&table::points(run, path));
    }
    text
}

/// What was typed, and where and how it was measured.
fn heading(run: &RunFile) -> String {
    format!("{}\n{}", words::plain(&run.run.command.join(" ")).replace('\n', " "), words::run_line(run))
}
