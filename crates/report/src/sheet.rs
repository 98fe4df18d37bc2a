//! Titled tables with notes below them, as text and as Markdown.

use crate::table::{Flush, Grid, WIDTH};
use crate::words::plain;

/// Titles, rows and notes, before they are text.
#[derive(Default)]
pub(crate) struct Table {
    pub title: String,
    pub head: Vec<(String, Flush)>,
    pub rows: Vec<Vec<String>>,
    pub notes: Vec<String>,
    /// Columns, of the first ones, that say which row it is: where the table is too wide for text, each part of it has them. One if it is none.
    pub names: usize,
    /// How many of the others belong together and stay in one part, in their order; each beyond these is alone.
    pub together: Vec<usize>,
}

/// Titles of columns.
pub(crate) fn head(titles: &[(&str, Flush)]) -> Vec<(String, Flush)> {
    titles.iter().map(|(title, flush)| ((*title).to_owned(), *flush)).collect()
}

/// Tables one below the other, and what stands below all of them. One that is too wide goes on below itself: each of its columns is what it is
/// printed for.
pub(crate) fn text(tables: Vec<Table>, below: &str) -> String {
    let one = |table: Table| {
        let mut grid = Grid::new(&table.head.iter().map(|(title, flush)| (title.as_str(), *flush)).collect::<Vec<_>>());
        table.rows.into_iter().for_each(|row| grid.row(row));
        let notes: String = table.notes.iter().map(|n| format!("{}\n", plain(n))).collect();
        format!("{}\n{}{notes}", table.title, grid.parted(WIDTH, table.names.max(1), &table.together))
    };
    let all: Vec<String> = tables.into_iter().map(one).collect();
    format!("{}\n{below}\n", all.join("\n"))
}

/// The same as Markdown.
pub(crate) fn markdown(tables: Vec<Table>, below: &str) -> String {
    let mut text = String::new();
    let cell = |c: &String| plain(c).replace('\n', " ").replace('|', "\\|");
    for table in tables {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text.push_str(&format!("### {}\n\n", plain(&table.title)));
        text.push_str(&line(table.head.iter().map(|h| cell(&h.0)).collect()));
        let rule = |h: &(String, Flush)| if h.1 == Flush::Left { "---" } else { "---:" };
        text.push_str(&format!("|{}|\n", table.head.iter().map(rule).collect::<Vec<_>>().join("|")));
        for mut row in table.rows {
            row.resize(table.head.len(), String::new());
            text.push_str(&line(row.iter().map(cell).collect()));
        }
        text.push('\n');
        table.notes.iter().for_each(|n| text.push_str(&format!("{}\n\n", plain(n))));
    }
    text.push_str(&below.replace('!', "`!`"));
    text.push('\n');
    text
}
