//! The end of a run: pictures, tables, warnings, where everything lies, and the exit code.

use std::path::Path;

use anyhow::{Result, anyhow};
use measure::Outcome;
use measure::event::Plan;
use record::{Analysis, RunFile};
use report::{Graph, table, terminal, words};

use super::apart;
use super::listen::Listeners;
use crate::commands::files;
use crate::commands::show::GRAPH_HEIGHT;
use crate::config::RunConfig;
use crate::document::{HintDocument, Results, RunDocument};
use crate::exit::Exit;
use crate::out;

/// Shows what was measured and says what ended the run.
pub fn finish(
    config: &RunConfig,
    mut listeners: Listeners,
    outcome: Outcome,
    interrupted: bool,
    json: bool,
) -> Result<Exit> {
    let results = listeners.results();
    let unwritten = listeners.failure();
    let empty = results.as_ref().and_then(|run| without_points(run, &config.plan));
    let error = match (&unwritten, &outcome.error) {
        (Some(e), _) => Some(e.to_string()),
        (None, _) if interrupted => Some("interrupted".to_owned()),
        (None, Some(e)) => Some(apart::advised(e.to_string(), &config.plan)),
        (None, None) => empty.clone(),
    };
    // A run that was cut short is no repeat of a whole one.
    let complete = unwritten.is_none() && !interrupted && outcome.error.is_none();
    for note in listeners.remember(complete) {
        out::tell(&format!("warning: {note}"));
    }
    let figureless = |run: &RunFile| {
        let told = run.warnings.iter().find(|w| ["no-figure", "flows-apart", "load-idle"].contains(&&*w.code));
        told.map(|w| w.text.clone())
    };
    let without = results.as_ref().and_then(figureless);
    let measured = results.filter(|run| run.paths.iter().any(|p| !p.points.is_empty()));
    let Some(run) = measured else {
        // The run file says so too, and stays: its header and warnings may tell why.
        let why = error.or(without).unwrap_or_else(|| "no trial was completed".to_owned());
        return Err(anyhow!("nothing was measured: {why} (run file: {})", config.output.display()));
    };
    let run = Analysis::of(&run);
    let html = config.html.as_deref().filter(|file| page(file, &report::html::page(&[&run])));
    let html_failed = config.html.is_some() && html.is_none();
    let missed = config.plan.precise && outcome.unsettled > 0;
    let exit = if error.is_some() || html_failed || missed { Exit::Short } else { Exit::Ok };
    if let Some(e) = &error {
        out::tell(&format!("pipegauge: {e}; what was measured until then is shown"));
    }
    let cautions = table::grouped(&run, out::prose(), &whole(&config.output.display().to_string()));
    let printed = if json {
        out::tell_all(&cautions);
        let (output, code, results) = (&config.output, exit.code(), Results::of(&run));
        if run.has_score() {
            out::json(&HintDocument::new(output, code, error, results))
        } else {
            out::json(&RunDocument::new(output, html, code, error, results))
        }
    } else {
        let text = [picture(&run), table::trust(&run), cautions, machine(&run), places(&run, &config.output, html)];
        out::text(&out::fitted(&report::text::parts(text))).map_err(Into::into)
    };
    crate::exit::printed(printed, exit)
}

/// That paths of the plan ended without any point, beside others that have some, by name; none where all have points, or none has.
pub fn without_points(run: &RunFile, plan: &Plan) -> Option<String> {
    let has = |number: usize| run.paths.iter().any(|p| p.opened.path as usize == number && !p.points.is_empty());
    let (with, without): (Vec<usize>, Vec<usize>) = (0..plan.paths.len()).partition(|number| has(*number));
    if with.is_empty() || without.is_empty() {
        return None;
    }
    let names: Vec<&str> = without.iter().map(|number| plan.paths[*number].name()).collect();
    let names = words::plain(&names.join(", "));
    Some(format!(
        "no size was measured on {names} (its warnings say why; a longer --budget, or --sizes, gives it more time)"
    ))
}

/// Where and how it was measured, graph and summary table. What stands behind the figures (`table::details`) is in `show` and the report.
fn picture(run: &Analysis<'_>) -> String {
    let mut text = format!("{}\n", report::text::hanging("", &words::run_line(run), 2, out::prose()));
    // What has no size has no curve over sizes, and one rate of one size none at all.
    if run.run.plan.pattern.facts().sized && !run.has_one_rate() {
        let graph = Graph::most_telling(&[run.run()]);
        text.push_str(&terminal::graph(run, graph, out::width(), GRAPH_HEIGHT, out::colour()));
        text.push('\n');
    }
    text.push_str(&match () {
        () if run.has_score() => table::hint(run),
        () if run.run.plan.soaks() => table::soak(run),
        () if run.run.plan.loads() => table::load(run) + &table::summary(run),
        () if run.has_rates() => table::rates(run),
        () => table::summary(run),
    });
    text
}

/// What earlier runs say of the paths on this machine.
fn machine(run: &RunFile) -> String {
    if run.run.plan.soaks() { String::new() } else { table::machine(run) }
}

/// Where the warnings of a run file stand whole.
pub fn whole(file: &str) -> String {
    format!("(whole: pipegauge show {file} --warnings)")
}

/// Where everything lies, and what shows more of it.
fn places(run: &RunFile, file: &Path, html: Option<&Path>) -> String {
    let file = file.display();
    let mut text = format!("run file  {file}\n");
    if let Some(html) = html {
        text.push_str(&format!("report    {}\n", html.display()));
    }
    let more = if run.has_score() { "all points" } else { "rounds, CPU time, models, all points" };
    text + &format!("more      pipegauge show {file}\n          ({more})\n")
}

/// Writes the report; an error is said, and costs the report alone.
pub fn page(file: &Path, page: &str) -> bool {
    match files::write(file, page.as_bytes()) {
        Ok(()) => true,
        Err(e) => {
            out::tell(&format!("warning: no report: {}", crate::exit::sentence(&e)));
            false
        }
    }
}
