//! The tables of a sweep: its cells, and the effect of each setting.

use model::Estimate;
use units::{Bytes, Kind};

use super::{Figure, Sweep};
use crate::sheet::{self, Table};
use crate::table::{Flush, estimate};
use crate::words::time_label;

/// What stands below the tables.
pub const HOW_TO_READ: &str = "In brackets: 95% intervals over the rounds; of fewer than four rounds there are none.";

/// The tables, before they are text.
pub(super) fn all(sweep: &Sweep) -> Vec<Table> {
    let mut tables = vec![cells(sweep)];
    tables.extend(effects(sweep));
    tables.extend(interactions(sweep));
    tables
}

/// The title of a figure's column.
pub(super) fn title(sweep: &Sweep, figure: &Figure) -> String {
    match (figure.kind, sweep.time) {
        (Kind::Seconds, Some((time, size))) => format!("{} of {}", time_label(time), Bytes(size)),
        (Kind::Seconds, None) => "time of the smallest size".to_owned(),
        _ => "max throughput".to_owned(),
    }
}

/// A row a cell, as `seeds/001`, table 1, has one for each card, MTU and buffer.
fn cells(sweep: &Sweep) -> Table {
    let design = sweep.design();
    let mut head: Vec<(String, Flush)> = sweep.axes.iter().map(|axis| (axis.name.clone(), Flush::Left)).collect();
    head.extend(sweep.figures.iter().map(|figure| (title(sweep, figure), Flush::Right)));
    head.push(("rounds".to_owned(), Flush::Right));
    let row = |cell: usize| {
        let levels = design.cell(cell);
        let mut row: Vec<String> =
            sweep.axes.iter().zip(&levels).map(|(axis, level)| axis.levels[*level].clone()).collect();
        let figure = |figure: &Figure| figure.readings.cell(cell).map_or("-".to_owned(), |e| estimate(e, figure.kind));
        row.extend(sweep.figures.iter().map(figure));
        let rounds = sweep.figures.first().map_or(0, |figure| figure.readings.count(cell));
        row.push(rounds.to_string());
        row
    };
    let read = sweep.figures.first().map(|figure| figure.readings.read()).unwrap_or_default();
    let rows = read.into_iter().map(row).collect();
    Table { title: named(sweep), head, rows, names: sweep.axes.len(), ..Table::default() }
}

/// What was swept.
pub(super) fn named(sweep: &Sweep) -> String {
    match &sweep.transport {
        Some(transport) => format!("{transport}, over {}", axes(sweep)),
        None => format!("Over {}", axes(sweep)),
    }
}

fn axes(sweep: &Sweep) -> String {
    sweep.axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A ratio with its interval: "x1.25 [1.21, 1.30]".
pub(super) fn ratio(e: Estimate) -> String {
    if e.low <= 0.0 || !e.high.is_finite() {
        return format!("x{}\n(no interval)", factor(e.value));
    }
    format!("x{}\n[{}, {}]", factor(e.value), factor(e.low), factor(e.high))
}

/// A factor with three digits, more where it lies near 1.
pub(super) fn factor(x: f64) -> String {
    match x {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x if (0.9..1.1).contains(&x) => format!("{x:.3}"),
        x if x >= 0.1 => format!("{x:.2}"),
        x => format!("{x:.2e}"),
    }
}

/// The effect of each level, against the first of its axis.
fn effects(sweep: &Sweep) -> Option<Table> {
    let told = sweep.figures.first().is_some_and(|figure| !figure.effects.is_empty());
    let mut head = sheet::head(&[("setting", Flush::Left), ("against", Flush::Left)]);
    head.extend(sweep.figures.iter().map(|figure| (figure.name.to_owned(), Flush::Right)));
    head.push(("pairs".to_owned(), Flush::Right));
    let mut rows = Vec::new();
    for (number, axis) in sweep.axes.iter().enumerate() {
        for (level, name) in axis.levels.iter().enumerate().skip(1) {
            let of = |figure: &Figure| {
                figure.effects.iter().find(|e| (e.axis, e.level) == (number, level)).map(|e| (ratio(e.ratio), e.pairs))
            };
            let all: Vec<_> = sweep.figures.iter().map(of).collect();
            let pairs = all.iter().flatten().map(|found| found.1).max().unwrap_or(0);
            let mut row = vec![format!("{}={name}", axis.name), axis.levels[0].clone()];
            row.extend(all.into_iter().map(|found| found.map_or("-".to_owned(), |found| found.0)));
            row.push(pairs.to_string());
            rows.push(row);
        }
    }
    let title = "What each setting does: by what it multiplies a figure, all other settings being equal".to_owned();
    told.then_some(Table { title, head, rows, names: 2, ..Table::default() })
}

/// The pairs of levels with an interaction beyond the error, and the number of the others.
fn interactions(sweep: &Sweep) -> Option<Table> {
    let all: usize = sweep.figures.iter().map(|figure| figure.interactions.len()).sum();
    if all == 0 {
        return None;
    }
    let mut rows = Vec::new();
    for figure in &sweep.figures {
        for found in figure.interactions.iter().filter(|i| i.told) {
            let name = |at: usize| {
                let axis = &sweep.axes[found.axes[at]];
                format!("{}={}", axis.name, axis.levels[found.levels[at]])
            };
            rows.push(vec![name(0), name(1), figure.name.to_owned(), ratio(found.ratio)]);
        }
    }
    let others = all - rows.len();
    let head = sheet::head(&[
        ("setting", Flush::Left),
        ("with", Flush::Left),
        ("figure", Flush::Left),
        ("times more", Flush::Right),
    ]);
    let title = "Settings that act together: by what both multiply a figure beyond what each does alone".to_owned();
    let notes = vec![match (rows.len(), others) {
        (0, n) => format!("None of {n} pairs was told from 1, all tested at once."),
        (_, 0) => "All pairs, tested at once.".to_owned(),
        (_, n) => format!("{n} other pairs were not told from 1, all tested at once."),
    }];
    Some(Table { title, head, rows, notes, names: 2, ..Table::default() })
}
