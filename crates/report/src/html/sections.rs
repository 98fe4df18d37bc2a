//! The parts of the page with figures and words: warnings, summary, a soak's intervals, raw data.

use maud::{Markup, html};
use record::{Analysis, PathRun, RunFile};
use units::{Bytes, Kind, Seconds};

use super::pieces::{SUMMARY, cell, estimate, letter, none, note, row, scroll, section, table as grid};
use crate::table;
use crate::words;

/// How far each run may be trusted, and its warnings: a line for each cause, which opens to the whole warnings. Empty for a run without
/// points and warnings.
pub fn warnings(runs: &[&RunFile]) -> Markup {
    let mut items: Vec<Markup> = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        let letter = letter("Run ", i, runs.len(), ": ");
        if let Some(cut) = &run.cut {
            items.push(html! { li { b { (letter) "The file ends short: " } (cut) } });
        }
        if let Some(error) = run.end.as_ref().and_then(|e| e.error.as_ref()) {
            items.push(html! { li { b { (letter) "The run ended with an error: " } (error) } });
        }
        let trust = table::trust(run).replace("\n  ", " ");
        if let Some(text) = trust.trim_end().strip_prefix("Trust: ") {
            items.push(html! { li.trust { b { (letter) "Trust:" } " " (text) } });
        }
        items.extend(table::cautions(run).iter().map(|caution| cause(run, &letter, caution)));
    }
    if items.is_empty() {
        return Markup::default();
    }
    let list = html! { ul.warnings { @for item in &items { (item) "\n" } } };
    section("warnings-title", "What to know about these figures", &list)
}

/// A cause in a line, and its warnings whole below it at a click.
fn cause(run: &RunFile, letter: &str, caution: &table::Caution<'_>) -> Markup {
    html! {
        li {
            details {
                summary {
                    b { (letter) (caution.what()) }
                    @if !caution.remedy.is_empty() { " (" (caution.remedy) ")" }
                }
                @for w in &caution.warnings { p { (table::subject(run, w)) (w.text) } }
            }
        }
    }
}

const HALF_POWER: &str = " Half-power size: the size from which on half of the maximum throughput is reached.";

/// The summary figures of each curve.
pub fn summary(runs: &[&Analysis<'_>]) -> Markup {
    let mut rows = Vec::new();
    // Of what has no size a time is all there is.
    let bare = runs.iter().all(|run| !run.run.plan.pattern.facts().sized);
    // A column of groups alone.
    let in_rounds = |run: &&Analysis<'_>| run.paths.iter().any(|path| table::in_rounds(run, path));
    let rounds = !bare && runs.iter().any(in_rounds);
    for (r, run) in runs.iter().enumerate() {
        // Paths at offered rates have a table of their own: there a message's time is set by the rate.
        let (paths, rates) = (run.paths.iter().enumerate(), run.has_rates());
        for (i, path) in paths.filter(|(_, path)| !rates || run.run.plan.offered_on(path.opened.path).is_none()) {
            let name = format!("{}{}", letter("", r, runs.len(), " "), path.opened.name());
            rows.push(figures(run, i, path).map_or_else(
                || html! { tr { th scope="row" { (name) } td colspan=(if rounds { 7 } else { 6 }) { "too few points for these figures" } } },
                |mut cells| {
                    if rounds {
                        let messages = run.summary(i).and_then(|s| table::messages(run, path, s.latency));
                        cells.insert(2, cell(messages, Kind::PerSecond));
                    }
                    row(&name, if bare { &cells[..2] } else { &cells })
                },
            ));
        }
    }
    let mut titles: Vec<&str> = runs.iter().map(|run| table::time_title(run)).collect();
    titles.dedup();
    let time = match titles.as_slice() {
        ["spacing"] => "Spacing",
        _ => "Latency",
    };
    let most = if runs.iter().all(|run| table::one_size(run)) { "Throughput" } else { "Max throughput" };
    let mut heads = vec!["Path", "Time is", time, "Per byte, below 1 KiB", most, "At size", "Half-power size"];
    if rounds {
        heads.insert(3, "Messages a second, of all who cast, as each member delivers them");
    }
    let (heads, half_power) = if bare { (&heads[..3], "") } else { (&heads[..], HALF_POWER) };
    let body = html! {
        @if rows.is_empty() {
            (note("What came of each offered rate stands in the table of rates above."))
        } @else {
            (scroll("Summary", &grid(heads, &rows)))
            (note(&format!("In brackets: 95% intervals.{half_power}")))
        }
        @for line in runs.iter().flat_map(|run| table::together(run)) { (note(&line)) }
        @for (r, run) in runs.iter().enumerate() { (machine(run, r, runs.len())) }
    };
    section(SUMMARY, "Summary", &body)
}

/// The cells of a path in the summary; none where it has too few points.
fn figures(run: &Analysis<'_>, index: usize, path: &PathRun) -> Option<Vec<Markup>> {
    let s = run.summary(index)?;
    // At an offered rate a message's time is set by the rate.
    let own = run.run.plan.offered_on(path.opened.path).is_none();
    // Throughput of a run on a schedule is not what the path carries.
    let moved = run.carries() && (path.points.len() > 1 || table::one_size(run));
    Some(vec![
        html! { (path.points.first().map_or("-", |p| words::time_label(p.time))) },
        html! {
            @if own {
                (estimate(s.latency, Kind::Seconds))
                @if s.latency_size > 1 { small { "of " (Bytes(s.latency_size)) } }
            } @else { "-" }
        },
        cell(s.per_byte.filter(|_| own), Kind::SecondsPerByte),
        if moved { estimate(s.max_throughput, Kind::BitsPerSecond) } else { none() },
        html! {
            @if moved {
                (Bytes(s.max_size))
                @if s.still_rising == Some(true) { small { "still rising at the end" } }
            } @else { "-" }
        },
        cell(s.half_power.filter(|_| moved), Kind::Bytes),
    ])
}

/// With more paths than this the lines are folded behind a title.
const FEW: usize = 4;

/// What the rounds of each path show of the machine and its long-term rate; where a repeat falls, or that it is not known.
fn machine(run: &RunFile, index: usize, of: usize) -> Markup {
    let letter = letter("Run ", index, of, ": ");
    let lines: String = (0..run.paths.len()).map(|path| table::machine_of(run, path)).collect();
    let states = table::state_lines(run);
    let all: Vec<&str> = states.iter().map(String::as_str).chain(lines.lines()).collect();
    let notes = html! { @for line in &all { (note(&format!("{letter}{line}"))) } };
    if run.paths.len() <= FEW {
        return notes;
    }
    html! { details { summary { (letter) "Rounds and earlier runs of each path" } (notes) } }
}

/// The figures of soaks' intervals, as `show` prints them.
pub fn soak(runs: &[&Analysis<'_>]) -> Markup {
    let body = html! {
        @for (r, run) in runs.iter().enumerate() {
            (scroll("Intervals", &html! { pre { (letter("Run ", r, runs.len(), "\n\n")) (table::soak(run)) } }))
        }
    };
    section(SUMMARY, "Summary", &body)
}

/// How the run was made, and its data for download.
pub fn raw(runs: &[&RunFile]) -> Markup {
    let ns = |v: f64| Seconds(v * 1e-9);
    let body = html! {
        @for run in runs.iter().map(|run| &run.run) {
            p {
                code { (words::command(&run.command)) }
                " "
                span.note {
                    "pipegauge " (run.version) "; seed " (run.plan.seed) "; reading the clock costs " (ns(run.calibration.clock_cost_ns))
                    ", the empty loop " (ns(run.calibration.loop_cost_ns)) " (never subtracted)"
                }
            }
        }
        (note("The whole run file, with every trial and every histogram, packed in this page: pipegauge reads it again (show, plot, \
               compare, export)."))
        div.tools #downloads {}
    };
    section("raw", "Raw data", &body)
}
