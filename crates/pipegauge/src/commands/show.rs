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

/// Shows a run file: graph, summary, how far to trust it, warnings; then what stands behind the figures, models and points.
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
    // What has no size has no curve over sizes, and one rate of one size none at all, unless one is asked for.
    let drawn = flags.graph.is_some() || run.run.plan.pattern.facts().sized && !run.has_one_rate();
    let picture = match drawn {
        true => terminal::graph(run, graph, out::width(), GRAPH_HEIGHT, out::colour()),
        false => String::new(),
    };
    let summary = match () {
        () if run.has_score() => table::hint(run),
        () if run.run.plan.soaks() => table::soak(run),
        () if run.run.plan.loads() => table::load(run) + &table::summary(run),
        () if run.has_rates() => table::rates(run),
        () => table::summary(run),
    };
    let models = if has_models(run) { models(run) } else { String::new() };
    let warnings = warnings(run, flags);
    let all =
        [format!("{}\n", heading(run)), picture, summary, table::trust(run), warnings, table::details(run), models];
    out::text(&out::fitted(&report::text::parts(all)))?;
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

/// The run's warnings: by cause, or whole where that was asked for.
fn warnings(run: &RunFile, flags: &ShowFlags) -> String {
    if flags.warnings { table::warnings(run) } else { table::grouped(run, out::prose(), "(whole: --warnings)") }
}

/// A run of rounds over sizes, of which models of size and time can be fitted.
fn has_models(run: &RunFile) -> bool {
    !run.has_score() && !run.run.plan.soaks() && (run.run.plan.loads() || !run.has_rates())
}

/// Fits and dips.
fn models(run: &Analysis<'_>) -> String {
    report::text::parts([table::fits(run), table::breaks(run)])
}

/// What was typed, and where and how it was measured.
fn heading(run: &RunFile) -> String {
    let command = words::plain(&words::command(&run.run.command)).replace('\n', " ");
    format!("{command}\n{}", report::text::hanging("", &words::run_line(run), 2, out::prose()).trim_end())
}
