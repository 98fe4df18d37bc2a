//! One page that needs nothing else: it opens from disk, loads nothing from anywhere, and carries the run's data.
//!
//! Figures, warnings and environments are plain HTML, made with `maud`, which escapes all text, so that the page is useful without its
//! script, too. The script (built from `web/`) draws the linked graphs and the table of points from the data in the page.

mod columns;
mod compared;
mod data;
mod environment;
mod fitted;
mod frame;
mod models;
mod pieces;
mod raw;
mod sections;
mod swept;
mod told;
mod trials;

use std::collections::BTreeSet;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::{Analysis, RunFile};

use crate::compare::Named;
use crate::curve::Series;
use crate::graph::Graph;
use crate::words;
use pieces::picture;
pub use swept::sweep;

const SCRIPT: &str = include_str!("../../assets/report.js");
/// The page for one or several runs.
///
/// Names, texts and paths from the run files are untrusted: they are escaped wherever they stand.
pub fn page(runs: &[&Analysis<'_>]) -> String {
    of(runs, &crate::curve::series(runs), &[])
}

/// The page for the two sides of one run and their comparison (`compared`, a comparison for each path), as [`page`].
pub fn versus(runs: &[&Analysis<'_>], compared: &[Named]) -> String {
    of(runs, &crate::curve::series(runs), compared)
}

/// The page of these runs, their curves, which are those of [`crate::curve::series`] but for the overlays, and comparisons of their paths,
/// if any.
pub fn of(runs: &[&Analysis<'_>], series: &[Series], compared: &[Named]) -> String {
    Analysis::work_out(runs);
    let files: Vec<&RunFile> = runs.iter().map(|run| run.run()).collect();
    let raw: Vec<Vec<String>> = runs.iter().map(|run| raw::parts(run)).collect();
    let parts: Vec<usize> = raw.iter().map(Vec::len).collect();
    let title = compared::title(compared).unwrap_or_else(|| title(&files));
    let soak = files.iter().any(|run| run.run.plan.soaks());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (frame::head(&title))
            "\n"
            body {
                a.skip href="#summary" { "Skip to the figures" }
                header {
                    div {
                        h1 { (title) }
                        @for line in words::run_lines(&files) { p.sub { (line) } }
                    }
                    div #theme {}
                }
                "\n"
                main {
                    // The figures that a run of several rates, loads or numbers of flows is made for come first.
                    (told::rates(runs))
                    (told::load(runs))
                    (told::flows(runs))
                    h2.aside { "Graphs" }
                    (graphs(runs, &files, soak))
                    (compared::section(compared))
                    @if soak { (sections::soak(runs)) } @else { (sections::summary(runs)) }
                    (sections::warnings(&files))
                    h2.aside { "More graphs" }
                    div #more {}
                    (told::levels(runs))
                    (told::cpu(runs))
                    @if !soak { (models::table(runs)) }
                    section aria-labelledby="points-title" #points {
                        h2 #points-title { "Points" }
                        noscript {
                            p { "The table of points needs the page's script; " code { "pipegauge show RUN" } " prints it." }
                        }
                    }
                    (environment::environment(&files))
                    (sections::raw(&files))
                }
                "\n"
                (frame::foot())
                "\n"
                script type="application/json" id="data" { (PreEscaped(script_safe(&data::json(runs, series, &parts)))) }
                "\n"
                @for (i, parts) in raw.iter().enumerate() {
                    @for (k, part) in parts.iter().enumerate() {
                        script type="application/gzip" id={ "raw-" (i) "-" (k) } { (PreEscaped(part)) }
                        "\n"
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}

/// Where the script draws its curves over sizes, and the pictures that stand there without it.
fn graphs(runs: &[&Analysis<'_>], files: &[&RunFile], soak: bool) -> Markup {
    if soak {
        // A soak has no curves over sizes; the script adds each interval and its messages' times.
        return html! {
            div.picture { (picture(runs, Graph::most_telling(files))) }
            div hidden { div #tools {} }
            div #graphs {}
        };
    }
    let first = Graph::over_sizes(files).first().copied();
    html! {
        div hidden[first.is_none()] { div #tools {} }
        div #graphs { @if let Some(graph) = first { noscript { (picture(runs, graph)) } } }
    }
}

/// `How memcpy, shm and tcp perform on bench-1`; of one path at several rates or over several numbers of connections `How udp performs at 14
/// offered rates on bench-1`.
fn title(runs: &[&RunFile]) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut hosts: Vec<String> = Vec::new();
    let (mut rates, mut flows) = (BTreeSet::new(), BTreeSet::new());
    for run in runs {
        let (has_rates, has_flows) = (run.has_rates(), run.has_flows());
        for path in &run.paths {
            let opened = &path.opened;
            let name = match () {
                () if has_rates => words::without_rate(opened),
                () if has_flows => words::without_flows(opened),
                () => opened.name().to_owned(),
            };
            rates.extend(run.run.plan.offered_on(opened.path).filter(|_| has_rates).map(|rate| rate as u64));
            flows.extend((has_flows && !has_rates).then(|| run.run.plan.flows(opened.path)));
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let host = words::hosts(run);
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let list = match names.as_slice() {
        [] => return "A run without paths".to_owned(),
        [one] => format!("{one} performs"),
        [most @ .., last] => format!("{} and {last} perform", most.join(", ")),
    };
    let over = match (rates.len(), flows.len()) {
        (2.., _) => format!(" at {} offered rates", rates.len()),
        (_, 2..) => format!(" over {} numbers of connections", flows.len()),
        _ => String::new(),
    };
    match hosts.as_slice() {
        [host] => format!("How {list}{over} on {host}"),
        _ => format!("How {list}{over}"),
    }
}

/// JSON that can stand inside a script element: no character of it can end the element or open a comment. In JSON these
/// characters occur in strings only, where an escape means the same.
fn script_safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
