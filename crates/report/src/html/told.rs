//! The parts of the page with a graph and the table that `show` prints with it: rates, loads, numbers of flows, the machine's state, CPU
//! time.

use maud::{Markup, html};
use record::{Analysis, RunFile};

use super::pieces::{letter, lines, note, picture, row, scroll, section, table as grid};
use crate::graph::Graph;
use crate::table;

/// The times of the paths idle and under load. Empty for runs without load.
pub fn load(runs: &[&Analysis<'_>]) -> Markup {
    shown(runs, "load", "Latency under load", Graph::Load, table::load)
}

/// The paths at offered rates, with a picture where there are several. Empty for runs that offer none.
pub fn rates(runs: &[&Analysis<'_>]) -> Markup {
    if !has(runs, Graph::Loss) {
        return Markup::default();
    }
    let body = html! {
        @if runs.iter().any(|run| !run.has_one_rate()) {
            div.picture tabindex="0" { (picture(runs, Graph::Loss)) }
        }
        @for (r, run) in runs.iter().enumerate() {
            @for (title, table, highest) in table::rate_grids(run) {
                h3 { (letter("Run ", r, runs.len(), ": ")) (title) }
                (filled(&title, &table))
                p { (highest) }
            }
            @for line in table::rate_notes(run) { (note(&line)) }
        }
    };
    section("loss", "Loss over the offered rate", &body)
}

/// A table that the terminal prints as text.
fn filled(label: &str, table: &table::Grid) -> Markup {
    let (heads, rows) = table.parts();
    let rows: Vec<Markup> = rows
        .iter()
        .map(|cells| match cells.as_slice() {
            [name, cells @ ..] => row(name, &cells.iter().map(|text| lines(text)).collect::<Vec<_>>()),
            [] => Markup::default(),
        })
        .collect();
    scroll(label, &grid(&heads, &rows))
}

/// What connections carry together over their number; the table of points has the figures. Empty for runs with one number.
pub fn flows(runs: &[&Analysis<'_>]) -> Markup {
    shown(runs, "flows", "Throughput over the number of connections", Graph::Flows, |_| String::new())
}

/// How the machine's state moved over the run; the summary says what that means for the intervals. Empty for runs of fewer than two rounds.
pub fn levels(runs: &[&Analysis<'_>]) -> Markup {
    shown(runs, "levels", "The machine's state over the run", Graph::Levels, |_| String::new())
}

/// Whether the runs have data for a graph.
fn has(runs: &[&Analysis<'_>], graph: Graph) -> bool {
    let files: Vec<&RunFile> = runs.iter().map(|r| r.run()).collect();
    Graph::of_runs(&files, Some(graph)).is_ok()
}

/// A graph of all runs and the tables of each, as `show` prints them.
fn shown(runs: &[&Analysis<'_>], id: &str, title: &str, graph: Graph, table: fn(&Analysis<'_>) -> String) -> Markup {
    if !has(runs, graph) {
        return Markup::default();
    }
    let texts = runs.iter().enumerate().map(|(r, run)| (r, table(run))).filter(|(_, text)| !text.is_empty());
    let body = html! {
        div.picture tabindex="0" { (picture(runs, graph)) }
        @for (r, text) in texts {
            (scroll(title, &html! { pre { (letter("Run ", r, runs.len(), "\n\n")) (text) } }))
        }
    };
    section(id, title, &body)
}

/// CPU time of the paths on both sides. Empty for runs that did not record it.
pub fn cpu(runs: &[&Analysis<'_>]) -> Markup {
    if !has(runs, Graph::Cpu) {
        return Markup::default();
    }
    let (mut rows, mut cycles) = (Vec::new(), Vec::new());
    for (r, run) in runs.iter().enumerate() {
        let letter = letter("", r, runs.len(), " ");
        for [name, cells @ ..] in table::cpu_rows(run) {
            rows.push(row(&format!("{letter}{name}"), &cells.each_ref().map(|text| lines(text))));
        }
        let told = table::cpu_cycles(run).into_iter().chain(run.paths.iter().filter_map(table::tcp_line));
        cycles.extend(told.map(|line| format!("{letter}{line}")));
    }
    let body = html! {
        (scroll("What it costs", &grid(&table::CPU_HEAD, &rows)))
        (note(table::READ_CPU))
        @for line in &cycles { (note(line)) }
    };
    section("cpu", "What it costs", &body)
}
