//! The tables in Markdown.

use std::fmt::Write;

use crate::coverage::{FIGURES, Row};
use crate::noise::Demand;
use crate::tally::Tally;

/// A table: a header and rows of as many cells.
pub fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|{}\n", "---|".repeat(header.len()));
    rows.iter().fold(line(header) + &rule, |all, row| all + &line(row))
}

/// A share of intervals that held, its half-width, and what else there is to say. Bold where the demand is not met.
pub fn cell(tally: Option<&Tally>, demand: Demand) -> String {
    let Some(t) = tally else { return "no figure".into() };
    let mut text = match (t.coverage(), t.width()) {
        (Some(share), Some(width)) => format!("{:.0} ±{}", share * 100.0, percent(width)),
        _ => "none given".into(),
    };
    if !t.meets(demand) {
        text = format!("**{text}**");
    }
    if t.none > 0 && t.given() > 0 {
        let _ = write!(text, ", {} none", percent(t.none as f64 / (t.none + t.given()) as f64));
    }
    if t.absurd > 0 {
        let _ = write!(text, ", {} absurd", t.absurd);
    }
    text
}

/// A share in percent, with a digit after the point below ten.
pub fn percent(share: f64) -> String {
    if share < 0.0995 { format!("{:.1}%", share * 100.0) } else { format!("{:.0}%", share * 100.0) }
}

/// Coverage of one shape of run: against the machine's truth, or against the run's.
pub fn coverage(rows: &[Row], of_run: bool) -> String {
    let figures: Vec<&str> = FIGURES.into_iter().filter(|f| !(of_run && *f == "repeat")).collect();
    let names = figures.iter().map(|f| (*f).to_owned());
    let header: Vec<String> =
        ["noise".to_owned(), "target".to_owned(), "met".to_owned()].into_iter().chain(names).collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let tallies = if of_run { &row.of_run } else { &row.of_machine };
            let met = figures.iter().filter(|f| tallies.get(*f).is_some_and(|t| t.meets(row.demand))).count();
            let cells = figures.iter().map(|f| cell(tallies.get(f), row.demand));
            let front = [row.noise.name(), row.demand.name().to_owned(), format!("{met} of {}", figures.len())];
            front.into_iter().chain(cells).collect()
        })
        .collect();
    table(&header, &rows)
}
