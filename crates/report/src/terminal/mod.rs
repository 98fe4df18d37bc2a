//! Graphs in a terminal: braille dots, labelled axes, each line's name at its end.

mod braille;
mod frame;

use record::RunFile;

use crate::figure::{Figure, Graph};

/// Colours of the lines: readable on dark and on light grounds, and told apart by colour-blind eyes as far as eight
/// terminal colours allow. Beyond six lines, letters tell them apart.
const COLOURS: [u8; 6] = [36, 33, 35, 32, 94, 31];

/// Smallest graph that can be read; below this a sentence says so.
const SMALLEST: (usize, usize) = (36, 9);

/// The graph of all paths of a run, at most `width` columns and `height` lines, each line ended.
///
/// With `colour` the lines are told apart by ANSI colours; without it, no escape code is written and letters mark them.
pub fn graph(run: &RunFile, graph: Graph, width: usize, height: usize, colour: bool) -> String {
    render(&Figure::of(&[run], graph), width, height, colour)
}

/// Draws any figure as [`graph`] does.
pub fn render(figure: &Figure, width: usize, height: usize, colour: bool) -> String {
    let mut out = String::new();
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
    // A statement takes a line of its own, where there is height to spare.
    let statement = figure.statement.as_deref().filter(|_| height > SMALLEST.1);
    let height = height - usize::from(statement.is_some());
    frame::draw(figure, axes, width, height, colour, &mut out);
    if let Some(words) = statement {
        out.push_str(&fit(words, width));
        out.push('\n');
    }
    out
}

fn words_only(lines: &[&str], width: usize) -> String {
    lines.iter().map(|l| format!("{}\n", fit(l, width))).collect()
}

/// The text, cut to `width` columns.
fn fit(text: &str, width: usize) -> String {
    text.chars().take(width).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests;
