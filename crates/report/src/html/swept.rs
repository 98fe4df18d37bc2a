//! The page of a sweep: which cell to take, heat maps, tables.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::frame;
use super::pieces::{lines, note, row, scroll, section, table};
use crate::sheet::Table;
use crate::sweep::Sweep;

/// One page that needs nothing else, as that of a run. It has no script.
pub fn sweep(sweep: &Sweep) -> String {
    let title = sweep.title();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (frame::head(&title))
            "\n"
            body {
                header { div { h1 { (title) } p.sub { (sweep.extent()) } } }
                "\n"
                main {
                    (section("take", "Which to take", &html! { @for line in sweep.told().lines() { p { (line) } "\n" } }))
                    @if let Some(svg) = sweep.svg() { (section("map", "Heat map", &scroll("Heat map", &html! { (PreEscaped(svg)) }))) }
                    @for (i, one) in sweep.tables().iter().enumerate() { (tabled(i, one)) }
                    (note(crate::sweep::HOW_TO_READ))
                }
                "\n"
                (frame::foot())
            }
        }
    };
    page.into_string()
}

fn tabled(number: usize, from: &Table) -> Markup {
    let heads: Vec<&str> = from.head.iter().map(|(title, _)| title.as_str()).collect();
    let of = |cells: &Vec<String>| {
        let others: Vec<Markup> = cells.iter().skip(1).map(|cell| lines(cell)).collect();
        row(cells.first().map_or("", String::as_str), &others)
    };
    let rows: Vec<Markup> = from.rows.iter().map(of).collect();
    let body = html! {
        @if !rows.is_empty() { (scroll(&from.title, &table(&heads, &rows))) }
        @for line in &from.notes { (note(line)) }
    };
    section(&format!("table-{number}"), &from.title, &body)
}
