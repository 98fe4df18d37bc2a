//! Elements that several parts of the page share. All text in them is escaped by `maud`.

use maud::{Markup, PreEscaped, html};
use model::Estimate;
use units::{Kind, resolved};

use crate::graph::Graph;
use crate::svg;
use crate::words;
use record::Analysis;

/// The part to which a link at the top of the page leads: it can be focused.
pub const SUMMARY: &str = "summary";

/// A part of the page under its title.
pub fn section(id: &str, title: &str, body: &Markup) -> Markup {
    html! {
        section aria-labelledby=(id) { h2 #(id) tabindex=[(id == SUMMARY).then_some("-1")] { (title) } (body) }
        "\n"
    }
}

/// An element that may be wider than the page: it scrolls by keyboard, too.
pub fn scroll(label: &str, body: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (body) } }
}

/// Headings and rows as a table that the script offers to copy.
pub fn table(heads: &[&str], rows: &[Markup]) -> Markup {
    html! {
        table data-copy {
            thead { tr { @for head in heads { th scope="col" { (head) } } } }
            tbody { @for row in rows { (row) "\n" } }
        }
    }
}

/// A row of a table: its name and its cells.
pub fn row(name: &str, cells: &[Markup]) -> Markup {
    html! { tr { th scope="row" { (name) } @for cell in cells { td { (cell) } } } }
}

/// A cell of plain text.
pub fn text(text: &str) -> Markup {
    html! { (text) }
}

/// Text whose lines stay lines.
pub fn lines(text: &str) -> Markup {
    html! { @for (i, line) in text.lines().enumerate() { @if i > 0 { br; } (line) } }
}

/// A remark below a table.
pub fn note(line: &str) -> Markup {
    html! { p.note { (line) } "\n" }
}

/// The letter of a run among several, between two pieces of text; empty for a single run.
pub fn letter(before: &str, index: usize, of: usize, after: &str) -> String {
    if of > 1 { format!("{before}{}{after}", words::letter(index)) } else { String::new() }
}

/// A graph of these runs.
pub fn picture(runs: &[&Analysis<'_>], graph: Graph) -> Markup {
    PreEscaped(svg::draw(runs, graph))
}

/// A figure with its interval under it.
pub fn estimate(e: Estimate, kind: Kind) -> Markup {
    let text = micro(&resolved(e.value, e.low, e.high, kind));
    if let Some(value) = text.strip_suffix(" (no interval)") {
        return html! { (value) small { "(no interval)" } };
    }
    match (text.split_once(" ["), text.split_once(": ")) {
        (Some((value, ends)), _) => html! { (value) small { "[" (ends) } },
        (None, Some((what, ends))) => html! { (what) small { (ends) } },
        (None, None) => html! { (text) },
    }
}

/// Microseconds with their sign, which a terminal may lack.
pub fn micro(text: &str) -> String {
    text.replace(" us", " µs")
}

/// A figure, or a dash.
pub fn cell(e: Option<Estimate>, kind: Kind) -> Markup {
    e.map_or_else(none, |e| estimate(e, kind))
}

/// A cell without a figure.
pub fn none() -> Markup {
    html! { "-" }
}
