//! Rows of cells as aligned text.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::words;

/// Side on which a column's cells are flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table under construction. A cell may hold several lines.
#[derive(Debug)]
pub struct Grid {
    columns: Vec<Flush>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table with its head.
    pub fn new(head: &[(&str, Flush)]) -> Self {
        let rows = vec![head.iter().map(|(title, _)| (*title).to_owned()).collect()];
        Self { columns: head.iter().map(|(_, flush)| *flush).collect(), rows }
    }

    /// Adds a row; cells that are missing are empty. Cells may hold what another host said of itself: escapes for
    /// terminals are taken out.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| words::plain(&cell)).collect());
    }

    /// The table as text, two spaces between columns, no space at line ends. Columns whose cells are all empty are left
    /// out, their titles with them.
    pub fn text(&self) -> String {
        let cell = |row: usize, column: usize| self.rows[row].get(column).map_or("", String::as_str);
        let length = |text: &str| text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
        let used: Vec<(usize, Flush, usize)> = self
            .columns
            .iter()
            .enumerate()
            .filter(|&(c, _)| (1..self.rows.len()).any(|r| !cell(r, c).is_empty()))
            .map(|(c, &flush)| (c, flush, (0..self.rows.len()).map(|r| length(cell(r, c))).max().unwrap_or(0)))
            .collect();
        let mut out = String::new();
        for r in 0..self.rows.len() {
            let height = used.iter().map(|&(c, ..)| cell(r, c).lines().count()).max().unwrap_or(0);
            for line in 0..height {
                let pieces: Vec<String> = used
                    .iter()
                    .map(|&(c, flush, width)| match (flush, cell(r, c).lines().nth(line).unwrap_or("")) {
                        (Flush::Left, text) => format!("{text:<width$}"),
                        (Flush::Right, text) => format!("{text:>width$}"),
                    })
                    .collect();
                out.push_str(pieces.join("  ").trim_end());
                out.push('\n');
            }
        }
        out
    }
}

/// Writes a table whose rows are made twice, once for the widths and once to be written, so that none is held. No cell spans lines.
pub fn stream<R: Iterator<Item = Vec<String>>>(
    head: &[(&str, Flush)],
    rows: impl Fn() -> R,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut widths: Vec<usize> = head.iter().map(|(title, _)| title.chars().count()).collect();
    for row in rows() {
        widths.iter_mut().zip(&row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let titles = head.iter().map(|(title, _)| (*title).to_owned()).collect();
    let mut line = String::new();
    for row in std::iter::once(titles).chain(rows()) {
        line.clear();
        for ((cell, (_, flush)), &width) in row.iter().zip(head).zip(&widths) {
            let gap = if line.is_empty() { "" } else { "  " };
            // Writing to a string can't fail.
            let _ = match flush {
                Flush::Left => write!(line, "{gap}{cell:<width$}"),
                Flush::Right => write!(line, "{gap}{cell:>width$}"),
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_empty_ones_vanish() {
        let mut g = Grid::new(&[("name", Flush::Left), ("never", Flush::Left), ("size", Flush::Right)]);
        g.row(["a\n[x]".into(), String::new(), "1".into()]);
        g.row(["long name".into(), String::new(), "23".into()]);
        assert_eq!(g.text(), "name       size\na             1\n[x]\nlong name    23\n");
    }
}
