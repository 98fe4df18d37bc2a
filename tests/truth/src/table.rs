//! Tables in Markdown: cells and rows.

use std::fmt::Write;

use crate::comparing::{self, FACTORS, SIDES};
use crate::coverage::{self, FIGURES};
use crate::noise::Demand;
use crate::tally::Tally;

/// A table: a header and rows of as many cells.
pub fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|{}\n", "---|".repeat(header.len()));
    rows.iter().fold(line(header) + &rule, |all, row| all + &line(row))
}

/// Cells of text.
pub fn cells<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// A count, bold where it misses its target.
pub fn count(n: u64, met: bool) -> String {
    if met { n.to_string() } else { format!("**{n}**") }
}

/// Whether a row's targets are met.
pub fn verdict(met: bool) -> String {
    if met { "met" } else { "not met" }.to_owned()
}

/// A share in percent, with a digit after the point below ten.
pub fn percent(share: f64) -> String {
    if share < 0.0995 { format!("{:.1}%", share * 100.0) } else { format!("{:.0}%", share * 100.0) }
}

/// A share of intervals that held, their half-width, and what else there is to say. Bold where the demand is not met.
pub fn held(tally: Option<&Tally>, demand: Demand) -> String {
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

/// Coverage of one shape of run: against the machine's truth, or against the run's.
pub fn coverage(rows: &[coverage::Row], of_run: bool) -> String {
    let figures: Vec<&str> = FIGURES.into_iter().filter(|f| !(of_run && *f == "repeat")).collect();
    let header = cells(["noise", "target", "met"].into_iter().chain(figures.iter().copied()));
    let mut all = 0;
    let mut row = |row: &coverage::Row| {
        let (tallies, demand) = if of_run { (&row.of_run, Demand::InRun) } else { (&row.of_machine, row.demand) };
        let met = figures.iter().filter(|f| tallies.get(*f).is_some_and(|t| t.meets(demand))).count();
        all += met;
        let front = [row.noise.name(), demand.name().to_owned(), format!("{met} of {}", figures.len())];
        front.into_iter().chain(figures.iter().map(|f| held(tallies.get(f), demand))).collect()
    };
    let table = table(&header, &rows.iter().map(&mut row).collect::<Vec<Vec<String>>>());
    format!("{table}\nTargets met: {all} of {}.\n", rows.len() * figures.len())
}

/// Comparisons: said to differ, by how many times as long the second side takes and the runs of a side.
pub fn comparing(rows: &[comparing::Row]) -> String {
    let column = |factor: f64, runs: usize| {
        let what = if factor > 1.0 { format!("x{factor}") } else { "the same".to_owned() };
        if runs > 1 { format!("{what}, {runs} a side") } else { what }
    };
    let columns = FACTORS.into_iter().flat_map(|factor| SIDES.map(|runs| column(factor, runs)));
    let header: Vec<String> = cells(["noise", "target"]).into_iter().chain(columns).collect();
    let row = |row: &comparing::Row| {
        let met = row.verdicts.iter().all(|side| side[0].few());
        let at = |f: usize, s: usize| {
            let v = row.verdicts[s][f];
            let none = if v.none > 0 { format!(", {} none", v.none) } else { String::new() };
            count(v.differ, f > 0 || v.few()) + &none
        };
        let counts = (0..FACTORS.len()).flat_map(|f| (0..SIDES.len()).map(move |s| (f, s))).map(|(f, s)| at(f, s));
        [row.noise.name(), verdict(met)].into_iter().chain(counts).collect()
    };
    table(&header, &rows.iter().map(row).collect::<Vec<_>>())
}
