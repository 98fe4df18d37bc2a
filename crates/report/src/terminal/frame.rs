//! Lays out a terminal graph: title, labelled axes, the canvas, and the names at the lines' ends.

use crate::figure::{Axis, Figure, Line};
use crate::scale::{Quantity, Spread, Ticks};

use super::braille::Canvas;
use super::{COLOURS, fit};

/// Longest name shown at a line's end.
const NAME: usize = 18;

/// Draws into `out`: `height` lines of at most `width` columns.
pub fn draw(figure: &Figure, (x, y): &(Axis, Axis), width: usize, height: usize, colour: bool, out: &mut String) {
    let rows = height - 4;
    let letters = !colour || figure.lines.len() > COLOURS.len();
    let y_ticks = y.scale.ticks(y.quantity, (rows / 3).clamp(2, 8));
    let gutter = y_ticks.ticks.iter().filter_map(|t| t.label.as_ref()).map(|l| l.chars().count()).max().unwrap_or(0);
    let names: Vec<String> = figure.lines.iter().enumerate().map(|(i, l)| name(l, i, letters)).collect();
    let right = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).min(width / 3);
    let columns = width.saturating_sub(gutter + 2 + right + 1).max(8);
    let x_ticks = x.scale.ticks(x.quantity, (columns / 10).clamp(2, 9));

    let mut canvas = Canvas::new(columns, rows);
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut tracks = Vec::new();
    for (i, line) in figure.lines.iter().enumerate() {
        let dots = dots(line, x, y, canvas.dots());
        if let Some(&(_, end)) = dots.last() {
            ends.push((i, usize::try_from(end / 4).unwrap_or(0).min(rows - 1)));
        }
        tracks.push(canvas.path(&dots, i));
    }
    if letters {
        for (i, track) in tracks.iter().enumerate() {
            canvas.letters(track, letter(i), i, 2 + (i * 5) % 13, 14);
        }
    }

    let log = (y.scale.spread == Spread::Log && y.quantity == Quantity::Rate).then(|| "log scale".to_owned());
    let details: Vec<String> = y_ticks.unit.clone().into_iter().chain(log).collect();
    let title = match details.as_slice() {
        [] => figure.title.clone(),
        details => format!("{} [{}]", figure.title, details.join(", ")),
    };
    out.push_str(&fit(&title, width));
    out.push('\n');
    let labels = spread(&ends, rows);
    let marks = y_marks(y, &y_ticks, rows);
    for row in 0..rows {
        let mark = marks[row].as_deref();
        let mut text = format!("{:>gutter$} {}", mark.unwrap_or(""), if mark.is_some() { '┤' } else { '│' });
        push_row(&canvas, row, columns, colour, &mut text);
        if let Some(i) = labels[row] {
            let label: String = names[i].chars().take(right).collect();
            text.push(' ');
            paint(&label, i, colour, &mut text);
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    push_x_axis(x, &x_ticks, gutter, columns, width, out);
}

/// The name at a line's end; with letters, the letter first.
fn name(line: &Line, i: usize, letters: bool) -> String {
    let name: String = line.name.chars().take(NAME).collect();
    if letters { format!("{} {name}", letter(i)) } else { name }
}

/// The letter of a line: a to z, then A to Z, then again.
fn letter(i: usize) -> char {
    let i = (i % 52) as u8;
    char::from(if i < 26 { b'a' + i } else { b'A' + i - 26 })
}

/// Canvas dots of a line's medians.
fn dots(line: &Line, x: &Axis, y: &Axis, (width, height): (usize, usize)) -> Vec<(i64, i64)> {
    let to = |share: f64, n: usize| (share.clamp(0.0, 1.0) * (n.max(1) - 1) as f64).round() as i64;
    let place =
        |d: &crate::figure::Dot| Some((to(x.scale.place(d.mid.0)?, width), to(1.0 - y.scale.place(d.mid.1)?, height)));
    line.dots.iter().filter_map(place).collect()
}

/// Which line's name stands in which row: near its end, never two in one row.
fn spread(ends: &[(usize, usize)], rows: usize) -> Vec<Option<usize>> {
    let mut by_row = vec![None; rows];
    let mut sorted = ends.to_vec();
    sorted.sort_by_key(|&(_, row)| row);
    for (i, row) in sorted {
        let mut nearest = (0..rows).collect::<Vec<_>>();
        nearest.sort_by_key(|r| (r.abs_diff(row), *r < row));
        if let Some(&free) = nearest.iter().find(|&&r| by_row[r].is_none()) {
            by_row[free] = Some(i);
        }
    }
    by_row
}

/// The label in each row of the y axis.
fn y_marks(y: &Axis, ticks: &Ticks, rows: usize) -> Vec<Option<String>> {
    let mut marks = vec![None; rows];
    for tick in ticks.ticks.iter().filter(|t| t.label.is_some()) {
        if let Some(at) = y.scale.place(tick.value) {
            let row = ((1.0 - at).clamp(0.0, 1.0) * (rows - 1) as f64).round() as usize;
            marks[row].clone_from(&tick.label);
        }
    }
    marks
}

fn push_row(canvas: &Canvas, row: usize, columns: usize, colour: bool, text: &mut String) {
    let mut column = 0;
    while column < columns {
        let owner = canvas.cell(column, row).owner;
        let end = (column..columns).find(|&c| canvas.cell(c, row).owner != owner).unwrap_or(columns);
        let piece: String = (column..end).map(|c| canvas.cell(c, row).glyph()).collect();
        match owner {
            Some(i) => paint(&piece, i, colour, text),
            None => text.push_str(&piece),
        }
        column = end;
    }
}

fn paint(piece: &str, line: usize, colour: bool, text: &mut String) {
    if colour {
        text.push_str(&format!("\x1b[{}m{piece}\x1b[0m", COLOURS[line % COLOURS.len()]));
    } else {
        text.push_str(piece);
    }
}

/// The axis line with its marks, the labels under them, and the title.
fn push_x_axis(x: &Axis, ticks: &Ticks, gutter: usize, columns: usize, width: usize, out: &mut String) {
    let mut rule = vec!['─'; columns];
    let mut labels: Vec<char> = vec![' '; width];
    let mut free_from = 0;
    for tick in &ticks.ticks {
        let (Some(at), Some(label)) = (x.scale.place(tick.value), &tick.label) else { continue };
        let column = (at.clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize;
        let length = label.chars().count();
        let start = (gutter + 2 + column).saturating_sub(length / 2).min(width.saturating_sub(length));
        if start >= free_from && start + length <= width {
            rule[column] = '┬';
            labels[start..start + length].iter_mut().zip(label.chars()).for_each(|(cell, c)| *cell = c);
            free_from = start + length + 2;
        }
    }
    let rule: String = rule.into_iter().collect();
    let labels: String = labels.into_iter().collect();
    let unit = ticks.unit.as_ref().map(|u| format!(" [{u}]")).unwrap_or_default();
    let title = format!("{}{unit}", x.title);
    let indent = (gutter + 2 + columns / 2).saturating_sub(title.chars().count() / 2);
    out.push_str(&format!("{:gutter$} └{rule}\n{}\n", "", labels.trim_end()));
    out.push_str(&fit(&format!("{:indent$}{title}", ""), width));
    out.push('\n');
}
