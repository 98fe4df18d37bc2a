//! Graphs in a terminal: braille dots, labelled axes, each line's name at its end.

mod braille;
mod frame;

use record::Analysis;

use crate::figure::Figure;
use crate::graph::Graph;
use crate::text;

/// Colours of the lines, as ANSI numbers: readable on dark and on light backgrounds, and distinguishable by colour-blind eyes as far as
/// eight terminal colours allow. Beyond six lines, letters distinguish them.
pub const COLOURS: [u8; 6] = [36, 33, 35, 32, 94, 31];

/// Columns and lines of the smallest readable graph; below this a sentence is printed instead.
pub const SMALLEST: (usize, usize) = (36, 9);

/// The graph of all paths of a run, at most `width` columns and `height` lines, each line ended.
///
/// With `colour` the lines have ANSI colours; without it, no escape code is written and letters mark them.
pub fn graph(run: &Analysis<'_>, graph: Graph, width: usize, height: usize, colour: bool) -> String {
    render(&Figure::of(&[run], graph), width, height, colour)
}

/// Draws any figure as [`graph`] does.
pub fn render(figure: &Figure, width: usize, height: usize, colour: bool) -> String {
    let mut out = String::new();
    for row in pieces(figure, &Look { width, height, letters: !colour, mark: None }) {
        let row = row.iter().map(|piece| match piece.line {
            Some(line) if colour => format!("\x1b[{}m{}\x1b[0m", COLOURS[line % COLOURS.len()], piece.text),
            _ => piece.text.clone(),
        });
        out.push_str(row.collect::<String>().trim_end());
        out.push('\n');
    }
    out
}

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Columns at most.
    pub width: usize,
    /// Lines at most.
    pub height: usize,
    /// Letters mark the lines, for where there are no colours. (They do so too where there are more lines than colours.)
    pub letters: bool,
    /// A place to mark: of which line, and where on the two axes.
    pub mark: Option<(usize, (f64, f64))>,
}

/// A stretch of a row of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Its text.
    pub text: String,
    /// The figure's line that it belongs to, which has a colour of its own.
    pub line: Option<usize>,
}

impl Piece {
    fn plain(text: String) -> Self {
        Self { text, line: None }
    }
}

/// The rows of a graph, in pieces that a renderer can colour.
pub fn pieces(figure: &Figure, look: &Look) -> Vec<Vec<Piece>> {
    let Look { width, height, .. } = *look;
    let Some(axes) = &figure.axes else {
        let words = figure.statement.as_deref().unwrap_or("Nothing to draw.");
        return words_only(&[&figure.title, words], width);
    };
    if width < SMALLEST.0 || height < SMALLEST.1 {
        let size = format!(
            "The terminal is too small for a graph ({width}x{height}; {}x{} is enough).",
            SMALLEST.0, SMALLEST.1
        );
        return words_only(&[&size], width);
    }
    // A statement takes lines of its own, where there is height to spare.
    let statement = figure.statement.as_deref().map_or(String::new(), |words| text::hanging("", words, 2, width));
    let statement: Vec<&str> = statement.lines().collect();
    let statement = &statement[..statement.len().min(height - SMALLEST.1)];
    let mut rows = frame::draw(figure, axes, &Look { height: height - statement.len(), ..*look });
    rows.extend(statement.iter().map(|line| vec![Piece::plain(fit(line, width))]));
    rows
}

fn words_only(lines: &[&str], width: usize) -> Vec<Vec<Piece>> {
    lines.iter().map(|l| vec![Piece::plain(fit(l, width))]).collect()
}

/// The text, cut to `width` columns.
fn fit(text: &str, width: usize) -> String {
    text.chars().take(width).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests;
