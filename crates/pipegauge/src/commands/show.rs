//! `pipegauge show`.

use anyhow::{Result, anyhow};
use record::{Analysis, RunFile};
use report::{Graph, table, terminal, words};

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
    let run = &Analysis::of(&run);
    if !run.run.plan.soaks() {
        Analysis::work_out(&[run]);
    }
    if json {
        out::json(&ShowDocument::new(&flags.run, Results::of(run)))?;
        return Ok(Exit::Ok);
    }
    let graph = graph(&[run], flags.graph)?;
    let mut text = format!("{}\n\n", heading(run));
    text.push_str(&terminal::graph(run, graph, out::width(), GRAPH_HEIGHT, out::colour()));
    text.push('\n');
    text.push_str(&table::paths(run));
    text.push('\n');
    let told = told(run, flags);
    text.push_str(&match () {
        () if run.is_hint() => table::hint(run) + &table::machine(run) + &told,
        () if run.run.plan.soaks() => table::soak(run) + &told,
        () if run.run.plan.loads() => table::load(run) + &curves(run, &told),
        () if run.has_rates() => table::rates(run) + &told,
        () => curves(run, &told),
    });
    out::text(&text)?;
    for (path, measured) in run.paths.iter().enumerate() {
        out::text(&format!("\n{}", measured.opened.name()))?;
        out::through(|out| table::points(run, path, flags.points, out))?;
    }
    Ok(Exit::Ok)
}

/// The graph that was asked for, or the one that shows most of the runs.
pub fn graph(runs: &[&Analysis<'_>], asked: Option<Graph>) -> Result<Graph> {
    let runs: Vec<&RunFile> = runs.iter().map(|run| run.run()).collect();
    Graph::of_runs(&runs, asked).map_err(|why| anyhow!(why))
}

/// How far the figures may be trusted, and the run's warnings: by cause, or whole where that was asked for.
fn told(run: &RunFile, flags: &ShowFlags) -> String {
    let warnings =
        if flags.warnings { table::warnings(run) } else { table::grouped(run, out::prose(), "(whole: --warnings)") };
    let between = if warnings.is_empty() { "" } else { "\n" };
    format!("\n{}{between}{warnings}", table::trust(run))
}

/// Summary, what to know about it, fits and dips of a run of blocks.
fn curves(run: &Analysis<'_>, told: &str) -> String {
    let mut text = format!("{}{}{told}\n{}", table::summary(run), table::tcp(run), table::fits(run));
    let breaks = table::breaks(run);
    if !breaks.is_empty() {
        text.push_str(&format!("\n{breaks}"));
    }
    text
}

/// What was typed, and where and how it was measured.
fn heading(run: &RunFile) -> String {
    let command = words::plain(&words::command(&run.run.command)).replace('\n', " ");
    format!("{command}\n{}", report::text::hanging("", &words::run_line(run), 2, out::prose()).trim_end())
}
