//! A row for each path: how far it is, how sure, and how fast.

use measure::event::Why;
use ratatui_core::layout::Rect;
use record::{PathRun, Point};
use units::{Kind, short};

use super::{Pen, bold, dim, plain, rule};
use crate::state::State;

/// Cells of a row; the first is the path's number.
pub(super) type Row = (Option<u32>, [String; 6]);

const TITLES: [&str; 6] = ["", "round", "settled", "±", "latency", "highest"];

/// The rows that `most` lines hold, titles first.
pub(super) fn rows(state: &State, most: u16) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![(None, TITLES.map(str::to_owned))];
    let Some(run) = state.run() else { return rows };
    for (path, number) in run.run.plan.paths.iter().zip(0..) {
        let name = path.name().to_owned();
        let cells = match state.measured(number) {
            Some(path) => cells(name, path),
            None => [name, "-".into(), String::new(), String::new(), String::new(), String::new()],
        };
        rows.push((Some(number), cells));
    }
    let most = usize::from(most);
    if rows.len() > most && most > 1 {
        // The one in work stays in sight.
        let at = state.current.map_or(0, |(path, _, _)| path as usize) + 1;
        let from = at.saturating_sub(most - 1).max(1);
        let kept = rows[from..].to_vec();
        rows.truncate(1);
        rows.extend(kept.into_iter().take(most - 1));
    }
    rows
}

fn cells(name: String, path: &PathRun) -> [String; 6] {
    let round = path.rounds.last().map_or_else(|| "-".to_owned(), |b| b.round.to_string());
    let settled = path.points.iter().filter(|p| matches!(p.why, Some(Why::Precision | Why::Trials))).count();
    let mut widths: Vec<f64> = path.points.iter().map(|p| p.figures.reach()).filter(|w| w.is_finite()).collect();
    widths.sort_by(f64::total_cmp);
    let width = widths.get(widths.len() / 2).map_or_else(String::new, |w| percent(*w));
    let usable = |p: &&Point| p.figures.median > 0.0;
    let first = path.points.iter().find(usable);
    let highest =
        path.points.iter().map(|p| p.figures.throughput).filter(|t| *t > 0.0 && t.is_finite()).max_by(f64::total_cmp);
    [
        name,
        round,
        format!("{settled}/{}", path.points.len()),
        width,
        first.map_or_else(String::new, |p| short(p.figures.median, Kind::Seconds)),
        highest.map_or_else(String::new, |t| short(t, Kind::BitsPerSecond)),
    ]
}

/// A share as a percentage, with about two digits.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 99.5 {
        return ">99%".to_owned();
    }
    if percent < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

fn widths(rows: &[Row]) -> [u16; 6] {
    std::array::from_fn(|i| rows.iter().map(|(_, cells)| cells[i].chars().count()).max().unwrap_or(0) as u16)
}

/// Columns that the rows take, with a mark before each.
pub(super) fn width(rows: &[Row]) -> u16 {
    widths(rows).iter().map(|w| w + 1).sum::<u16>() + 2
}

pub(super) fn draw(state: &State, pen: &mut Pen<'_>, area: Rect, rows: &[Row]) {
    rule(pen, area, "paths", plain());
    let widths = widths(rows);
    let now = state.current.map(|(path, _, _)| path);
    for ((number, cells), y) in rows.iter().zip(1..) {
        let style = match number {
            None => dim(),
            Some(n) if state.path == Some(*n) => pen.path(*n).patch(bold()),
            Some(n) => pen.path(*n),
        };
        if number.is_some() && *number == now && state.phase != crate::state::Phase::Ended {
            pen.put(area, 0, y, "▸", plain());
        }
        let mut x = 2;
        for (i, cell) in cells.iter().enumerate() {
            // Names to the left, numbers to the right.
            let blank = if i == 0 { 0 } else { widths[i] - cell.chars().count() as u16 };
            let here = if i == 0 {
                style
            } else if number.is_none() {
                dim()
            } else {
                plain()
            };
            pen.put(area, x + blank, y, cell, here);
            x += widths[i] + 1;
        }
    }
}
