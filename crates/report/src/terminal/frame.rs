//! Lays out a terminal graph: title, labelled axes, the canvas, and the names at the lines' ends.

use crate::figure::{Axis, Figure, Line};
use crate::scale::{Spread, Ticks};
use crate::words;

use super::braille::Canvas;
use super::{COLOURS, Look, Piece, fit};

/// Longest name shown at a line's end.
const NAME: usize = 18;
/// A line of at most so many points has its letter on each of them and nowhere else.
const FEW: usize = 12;

/// Draws `height` lines of at most `width` columns.
pub fn draw(figure: &Figure, (x, y): &(Axis, Axis), look: &Look) -> Vec<Vec<Piece>> {
    let Look { width, height, .. } = *look;
    let rows = height - 4;
    let letters = look.letters || figure.lines.len() > COLOURS.len();
    let y_ticks = y.scale.ticks(y.quantity, (rows / 3).clamp(2, 8));
    let gutter = y_ticks.ticks.iter().filter_map(|t| t.label.as_ref()).map(|l| l.chars().count()).max().unwrap_or(0);
    let names: Vec<&str> = figure.lines.iter().map(|l| &*l.name).collect();
    let names = words::shortened(&names, NAME).into_iter().enumerate();
    let names: Vec<String> =
        names.map(|(i, name)| if letters { format!("{} {name}", letter(i)) } else { name }).collect();
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
        // On a line of few points a letter marks a point.
        let points = if dots.len() <= FEW { dots.iter().filter_map(|d| canvas.at(*d)).collect() } else { Vec::new() };
        tracks.push((canvas.path(&dots, i), points));
    }
    if letters {
        for (i, (track, points)) in tracks.iter().enumerate() {
            match points.as_slice() {
                [] => canvas.letters(track, letter(i), i, 2 + (i * 5) % 13, 14),
                points => canvas.letters(points, letter(i), i, 0, 1),
            }
        }
    }
    if let Some((line, values)) = look.mark
        && let Some((column, row)) = place(values, x, y, canvas.dots())
    {
        canvas.put(column, row, '◆', line);
    }

    let log = (y.scale.spread == Spread::Log && y.quantity.is_rate()).then(|| "log scale".to_owned());
    let details: Vec<String> = y_ticks.unit.clone().into_iter().chain(log).collect();
    let unit = if details.is_empty() { String::new() } else { format!(" [{}]", details.join(", ")) };
    // Where the line is short, the graph's name and the unit are kept.
    let called = figure.title.split(':').next().unwrap_or(&figure.title);
    let whole = figure.title.chars().count() + unit.chars().count() <= width;
    let title = format!("{}{unit}", if whole { &figure.title } else { called });
    let mut out = vec![vec![Piece::plain(fit(&title, width))]];
    let labels = spread(&ends, rows);
    let marks = y_marks(y, &y_ticks, rows);
    for row in 0..rows {
        let mark = marks[row].as_deref();
        let mut pieces =
            vec![Piece::plain(format!("{:>gutter$} {}", mark.unwrap_or(""), if mark.is_some() { '┤' } else { '│' }))];
        push_row(&canvas, row, columns, &mut pieces);
        if let Some(i) = labels[row] {
            pieces.push(Piece::plain(" ".to_owned()));
            pieces.push(Piece { text: names[i].chars().take(right).collect(), line: Some(i) });
        }
        out.push(pieces);
    }
    out.extend(x_axis(x, &x_ticks, gutter, columns, width).map(|line| vec![Piece::plain(line)]));
    out
}

/// The letter of a line: a to z, then A to Z, then again.
fn letter(i: usize) -> char {
    let i = (i % 52) as u8;
    char::from(if i < 26 { b'a' + i } else { b'A' + i - 26 })
}

/// Canvas dots of a line's medians.
fn dots(line: &Line, x: &Axis, y: &Axis, canvas: (usize, usize)) -> Vec<(i64, i64)> {
    line.dots.iter().filter_map(|d| place(d.mid, x, y, canvas)).collect()
}

/// The dot of a canvas of `width` by `height` dots at which values of the two axes lie.
fn place(values: (f64, f64), x: &Axis, y: &Axis, (width, height): (usize, usize)) -> Option<(i64, i64)> {
    let to = |share: f64, n: usize| (share.clamp(0.0, 1.0) * (n.max(1) - 1) as f64).round() as i64;
    Some((to(x.scale.place(values.0)?, width), to(1.0 - y.scale.place(values.1)?, height)))
}

/// Which line's name is in which row: near its end, never two in one row.
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

fn push_row(canvas: &Canvas, row: usize, columns: usize, pieces: &mut Vec<Piece>) {
    let mut column = 0;
    while column < columns {
        let line = canvas.cell(column, row).owner;
        let end = (column..columns).find(|&c| canvas.cell(c, row).owner != line).unwrap_or(columns);
        pieces.push(Piece { text: (column..end).map(|c| canvas.cell(c, row).glyph()).collect(), line });
        column = end;
    }
}

/// The axis line with its marks, the labels under them, and the title.
fn x_axis(x: &Axis, ticks: &Ticks, gutter: usize, columns: usize, width: usize) -> [String; 3] {
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
    [format!("{:gutter$} └{rule}", ""), labels.trim_end().to_owned(), fit(&format!("{:indent$}{title}", ""), width)]
}
