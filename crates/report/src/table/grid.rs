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

    /// Adds a row; missing cells are empty. Cells may hold text of another host: terminal escapes are removed.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| words::plain(&cell)).collect());
    }

    fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].get(column).map_or("", String::as_str)
    }

    /// The columns that are not empty, with their widths.
    fn used(&self) -> Vec<(usize, Flush, usize)> {
        let length = |text: &str| text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
        let rows = || 0..self.rows.len();
        (self.columns.iter().enumerate())
            .filter(|&(c, _)| rows().skip(1).any(|r| !self.cell(r, c).is_empty()))
            .map(|(c, &flush)| (c, flush, rows().map(|r| length(self.cell(r, c))).max().unwrap_or(0)))
            .collect()
    }

    /// Titles and rows of the columns that are not empty, for a page.
    pub(crate) fn parts(&self) -> (Vec<&str>, Vec<Vec<&str>>) {
        let used = self.used();
        let row = |r: usize| used.iter().map(|&(c, ..)| self.cell(r, c)).collect::<Vec<&str>>();
        (row(0), (1..self.rows.len()).map(row).collect())
    }

    /// The table as text in at most so many columns of text: of the table's columns these are left out, one after another, until it fits.
    /// Then lines of its last column are broken.
    pub fn fitted(mut self, most: usize, spare: &[usize]) -> String {
        let width = |used: &[(usize, Flush, usize)]| used.iter().map(|(.., width)| width + 2).sum::<usize>();
        for &column in spare {
            if width(&self.used()) <= most + 2 {
                break;
            }
            self.rows.iter_mut().skip(1).filter_map(|row| row.get_mut(column)).for_each(String::clear);
        }
        if let Some(((last, ..), others)) = self.used().split_last() {
            let room = most.saturating_sub(width(others)).max(NARROWEST);
            self.rows.iter_mut().filter_map(|row| row.get_mut(*last)).for_each(|cell| *cell = broken(cell, room));
        }
        // Names of paths may be as long as their options are many.
        let used = self.used();
        if let Some(((first, ..), others)) = used.split_first()
            && width(&used) > most + 2
        {
            let room = most.saturating_sub(width(others)).max(NARROWEST);
            self.rows.iter_mut().filter_map(|row| row.get_mut(*first)).for_each(|cell| *cell = broken(cell, room));
        }
        self.text()
    }

    /// The table as text in at most so many columns of text: where it is wider, in parts one below the other, each with the first `names` columns
    /// again. No column is left out, and of the others those that belong `together` stay in one part.
    pub fn parted(mut self, most: usize, names: usize, together: &[usize]) -> String {
        let width = |used: &[(usize, Flush, usize)]| used.iter().map(|(.., width)| width + 2).sum::<usize>();
        if width(&self.used()) <= most + 2 {
            return self.text();
        }
        // Names of paths may be as long as their options are many.
        self.rows.iter_mut().filter_map(|row| row.first_mut()).for_each(|cell| *cell = broken(cell, (most / 2).max(1)));
        let used = self.used();
        let (named, others): (Vec<_>, Vec<_>) = used.iter().copied().partition(|(column, ..)| *column < names);
        // Which group each column is of.
        let groups: Vec<usize> =
            together.iter().enumerate().flat_map(|(group, n)| std::iter::repeat_n(group, *n)).collect();
        let group = |column: usize| {
            let at = column - names;
            groups.get(at).copied().unwrap_or(together.len() + at)
        };
        let room = most.saturating_sub(width(&named));
        let mut parts: Vec<Vec<(usize, Flush, usize)>> = Vec::new();
        for columns in others.chunk_by(|a, b| group(a.0) == group(b.0)) {
            match parts.last_mut() {
                Some(part) if width(part) + width(columns) <= room + 2 => part.extend(columns),
                _ => parts.push(columns.to_vec()),
            }
        }
        let text = |part: Vec<(usize, Flush, usize)>| self.of([named.clone(), part].concat());
        parts.into_iter().map(text).collect::<Vec<_>>().join("\n")
    }

    /// The table as text, two spaces between columns, no space at line ends. Columns whose cells are all empty are left
    /// out, their titles with them.
    pub fn text(&self) -> String {
        self.of(self.used())
    }

    /// These columns as text, each with its width.
    fn of(&self, used: Vec<(usize, Flush, usize)>) -> String {
        let cell = |row: usize, column: usize| self.cell(row, column);
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

/// Least width of a column whose lines are broken: that of `(no interval)`, which stays whole.
const NARROWEST: usize = 13;

/// Text with its lines broken after so many characters at most, at blanks where there are any.
fn broken(text: &str, room: usize) -> String {
    let (mut pieces, room) = (Vec::new(), room.max(1));
    for line in text.lines() {
        let mut rest: Vec<char> = line.chars().collect();
        while rest.len() > room {
            let blank = (1..=room).rev().find(|at| rest[*at] == ' ');
            let after = rest.split_off(blank.unwrap_or(room));
            pieces.push(std::mem::replace(&mut rest, after).into_iter().collect::<String>());
            if blank.is_some() {
                rest.remove(0);
            }
        }
        pieces.push(rest.into_iter().collect());
    }
    pieces.join("\n")
}

/// Writes a table whose rows are made twice, once for the widths and once to be written, so that none is kept. No cell spans lines. Where
/// it is wider than `most`, columns are left out, those with the titles `spare` first and then from the last titled one on, except the
/// first two; their titles are returned.
pub fn stream<'a, R: Iterator<Item = Vec<String>>>(
    head: &[(&'a str, Flush)],
    rows: impl Fn() -> R,
    (most, spare): (usize, &[&str]),
    out: &mut dyn Write,
) -> io::Result<Vec<&'a str>> {
    let mut widths: Vec<usize> = head.iter().map(|(title, _)| title.chars().count()).collect();
    for row in rows() {
        widths.iter_mut().zip(&row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let mut kept = vec![true; head.len()];
    let width =
        |kept: &[bool]| widths.iter().zip(kept).filter(|(_, kept)| **kept).map(|(width, _)| width + 2).sum::<usize>();
    let spare = spare.iter().filter_map(|title| head.iter().position(|(t, _)| t == title));
    let last = (2..head.len()).rev().filter(|c| !head[*c].0.is_empty());
    for column in spare.chain(last) {
        if width(&kept) <= most.saturating_add(2) {
            break;
        }
        kept[column] = false;
    }
    let titles = head.iter().map(|(title, _)| (*title).to_owned()).collect();
    let mut line = String::new();
    for row in std::iter::once(titles).chain(rows()) {
        line.clear();
        for (((cell, (_, flush)), &width), _) in row.iter().zip(head).zip(&widths).zip(&kept).filter(|(_, kept)| **kept)
        {
            let gap = if line.is_empty() { "" } else { "  " };
            // Writing to a string can't fail.
            let _ = match flush {
                Flush::Left => write!(line, "{gap}{cell:<width$}"),
                Flush::Right => write!(line, "{gap}{cell:>width$}"),
            };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(head.iter().zip(&kept).filter(|(_, kept)| !**kept).map(|((title, _), _)| *title).collect())
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

    #[test]
    fn lines_are_broken_at_blanks_and_no_interval_stays_whole() {
        assert_eq!(broken("10.1 us\n(no interval)", NARROWEST), "10.1 us\n(no interval)");
        assert_eq!(broken("[19.3 us to 20.7 us]", NARROWEST), "[19.3 us to\n20.7 us]");
        assert_eq!(broken("tcp:sockbuf=64KiB", NARROWEST), "tcp:sockbuf=6\n4KiB");
        assert_eq!((broken("ab", 0), broken("", 4)), ("a\nb".to_owned(), String::new()));
    }

    #[test]
    fn a_table_that_is_too_wide_goes_on_below_with_its_names_and_loses_nothing() {
        let table = || {
            let mut g = Grid::new(&[
                ("path", Flush::Left),
                ("one", Flush::Right),
                ("none", Flush::Right),
                ("two", Flush::Right),
                ("three", Flush::Right),
            ]);
            g.row(["tcp", "1.5 us\n[1, 2]", "", "22 us", "333 us"].map(str::to_owned));
            g.row(["unix", "2.5 us", "", "33 us", "444 us"].map(str::to_owned));
            g
        };
        assert_eq!(table().parted(80, 1, &[]), table().text());
        let parted = "path     one    two\ntcp   1.5 us  22 us\n      [1, 2]\nunix  2.5 us  33 us\n\n\
                      path   three\ntcp   333 us\nunix  444 us\n";
        assert_eq!(table().parted(20, 1, &[]), parted);
        // What belongs together stays so, where there is room for it at all.
        let together = "path     one\ntcp   1.5 us\n      [1, 2]\nunix  2.5 us\n\n\
                        path    two   three\ntcp   22 us  333 us\nunix  33 us  444 us\n";
        assert_eq!(table().parted(20, 1, &[2, 2]), together);
        assert_eq!(table().parted(4, 1, &[]).lines().filter(|line| *line == "th").count(), 3);
        let mut long = Grid::new(&[("path", Flush::Left), ("one", Flush::Right)]);
        long.row(["tcp:sockbuf=64KiB,nodelay=off".into(), "1.5 us".into()]);
        assert!(long.parted(24, 1, &[]).lines().all(|line| line.chars().count() <= 24));
    }

    #[test]
    fn a_table_that_is_too_wide_leaves_columns_out_and_breaks_lines() {
        let mut g = Grid::new(&[("name", Flush::Left), ("far", Flush::Left), ("what", Flush::Left)]);
        g.row(["a".into(), "host".into(), "abcdefghijklmnop".into()]);
        assert_eq!(g.fitted(20, &[1]), "name  what\na     abcdefghijklmn\n      op\n");
        let mut out = Vec::new();
        let head = [("size", Flush::Right), ("median", Flush::Right), ("more", Flush::Right), ("", Flush::Left)];
        let rows = || std::iter::once(["1 B", "2 us", "3", "!"].map(str::to_owned).to_vec());
        assert_eq!(stream(&head, rows, (15, &[]), &mut out).unwrap(), ["more"]);
        assert_eq!(String::from_utf8(out).unwrap(), "size  median\n 1 B    2 us  !\n");
        assert_eq!(stream(&head, rows, (15, &["median"]), &mut Vec::new()).unwrap(), ["median"]);
    }
}
