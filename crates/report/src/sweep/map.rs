//! Heat maps: a square for each pair of levels of the two axes with the largest effects, a map for each figure.

use model::sweep::Better;
use units::format::significant;

use super::tables::title;
use super::{Figure, Sweep};
use crate::svg::layout::width;
use crate::svg::xml::{Svg, Text, n};

const CELL: (f64, f64) = (118.0, 40.0);
/// Room above a map for its title and the levels across.
const TOP: f64 = 78.0;
const MARGIN: f64 = 24.0;
const INK: &str = "#1a1a1a";
const SOFT: &str = "#5a5f66";
/// Squares that were not measured.
const NONE: &str = "#f1f3f5";
/// From worst to best, light to dark in one hue, so that it is readable in grey, too.
const LIGHT: [f64; 3] = [240.0, 246.0, 251.0];
const DARK: [f64; 3] = [8.0, 69.0, 140.0];
/// Ratio of best and worst from which on a map has its full contrast: nearer values look alike.
const CONTRAST: f64 = 2.0;

pub(super) fn svg(sweep: &Sweep) -> Option<String> {
    let (down, across) = axes(sweep)?;
    let label = |axis: usize| sweep.axes[axis].levels.iter().map(|level| width(level, 13.0)).fold(0.0, f64::max);
    let left = MARGIN + label(down).max(width(&sweep.axes[down].name, 13.0)) + 16.0;
    let cell = CELL.0.max(label(across) + 16.0);
    let (rows, columns) = (sweep.axes[down].levels.len(), sweep.axes[across].levels.len());
    let others: Vec<&str> =
        (0..sweep.axes.len()).filter(|a| *a != down && *a != across).map(|a| sweep.axes[a].name.as_str()).collect();
    let note = match others.len() {
        0 => "Outlined: the best, and what was not told from it.".to_owned(),
        _ => format!("Each square is the geometric mean over {}.", others.join(", ")),
    };
    let titles = sweep.figures.iter().map(|f| width(&title(sweep, f), 15.0)).fold(width(&note, 12.0), f64::max);
    let wide = (left + cell * columns as f64).max(MARGIN + titles) + MARGIN;
    let each = TOP + CELL.1 * rows as f64 + MARGIN;
    let tall = each * sweep.figures.len() as f64 + MARGIN;
    let mut out = Svg::default();
    out.put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{0}\" height=\"{1}\" font-family=\"Inter, 'Helvetica Neue', Arial, sans-serif\" role=\"img\">\n",
        n(wide),
        n(tall)
    ));
    out.put(format_args!("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", n(wide), n(tall)));
    for (i, figure) in sweep.figures.iter().enumerate() {
        let place = Place { top: each * i as f64, left, cell, down, across };
        one(&mut out, sweep, figure, &place);
    }
    out.text((MARGIN, tall - 12.0), &note, Text { size: 12.0, fill: SOFT, anchor: "start", strong: false });
    out.raw("</svg>\n");
    Some(out.finish())
}

/// The two axes with the largest effects: the one with more levels across.
fn axes(sweep: &Sweep) -> Option<(usize, usize)> {
    let moved = |axis: usize| {
        let effects = sweep.figures.iter().flat_map(|f| &f.effects).filter(|e| e.axis == axis);
        effects.map(|e| e.ratio.value.ln().abs()).fold(0.0, f64::max)
    };
    let mut order: Vec<usize> = (0..sweep.axes.len()).collect();
    order.sort_by(|a, b| moved(*b).total_cmp(&moved(*a)));
    let (mut down, mut across) = (*order.first()?, *order.get(1)?);
    let levels = |axis: usize| sweep.axes[axis].levels.len();
    if levels(down) > levels(across) || (levels(down) == levels(across) && down > across) {
        std::mem::swap(&mut down, &mut across);
    }
    Some((down, across))
}

struct Place {
    top: f64,
    left: f64,
    cell: f64,
    down: usize,
    across: usize,
}

fn one(out: &mut Svg, sweep: &Sweep, figure: &Figure, at: &Place) {
    let soft = Text { size: 13.0, fill: SOFT, anchor: "middle", strong: false };
    let (down, across) = (&sweep.axes[at.down], &sweep.axes[at.across]);
    out.text(
        (MARGIN, at.top + 26.0),
        &title(sweep, figure),
        Text { size: 15.0, fill: INK, anchor: "start", strong: true },
    );
    let middle = at.left + at.cell * across.levels.len() as f64 / 2.0;
    out.text((middle, at.top + 48.0), &across.name, soft);
    out.text((at.left - 12.0, at.top + TOP - 8.0), &down.name, Text { anchor: "end", ..soft });
    for (column, level) in across.levels.iter().enumerate() {
        out.text((at.left + at.cell * (column as f64 + 0.5), at.top + TOP - 8.0), level, Text { fill: INK, ..soft });
    }
    let values: Vec<Vec<Option<f64>>> = (0..down.levels.len())
        .map(|row| (0..across.levels.len()).map(|column| mean(figure, [at.down, at.across], [row, column])).collect())
        .collect();
    let alike = alike(sweep, figure, at);
    let all: Vec<f64> = values.iter().flatten().flatten().copied().collect();
    let (least, most) = all.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
    for (row, level) in down.levels.iter().enumerate() {
        let y = at.top + TOP + CELL.1 * row as f64;
        out.text((at.left - 12.0, y + CELL.1 / 2.0 + 4.5), level, Text { fill: INK, anchor: "end", ..soft });
        for (column, value) in values[row].iter().enumerate() {
            let x = at.left + at.cell * column as f64;
            let share = value.map(|v| goodness(v, least, most, figure.better));
            let fill = share.map_or(NONE.to_owned(), colour);
            out.put(format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"#ffffff\" stroke-width=\"2\"/>\n",
                n(x),
                n(y),
                n(at.cell),
                n(CELL.1)
            ));
            let words = value.map_or("not measured".to_owned(), |v| significant(v, figure.kind));
            if alike.contains(&(row, column)) {
                out.put(format_args!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#d55e00\" stroke-width=\"2\"/>\n",
                    n(x + 3.0),
                    n(y + 3.0),
                    n(at.cell - 6.0),
                    n(CELL.1 - 6.0)
                ));
            }
            let fill = share.map_or(INK, ink);
            out.text((x + at.cell / 2.0, y + CELL.1 / 2.0 + 4.5), &words, Text { fill, ..soft });
        }
    }
}

/// Squares of the best cell and of those not told from it, where each square is one cell.
fn alike(sweep: &Sweep, figure: &Figure, at: &Place) -> Vec<(usize, usize)> {
    let Some(choice) = figure.choice.as_ref().filter(|_| sweep.axes.len() == 2) else { return Vec::new() };
    let design = figure.readings.design();
    let cells = std::iter::once(choice.best).chain(choice.alike.iter().copied());
    cells.map(|cell| (design.level(cell, at.down), design.level(cell, at.across))).collect()
}

/// The geometric mean of the cells that were measured and have these levels.
fn mean(figure: &Figure, axes: [usize; 2], levels: [usize; 2]) -> Option<f64> {
    let design = figure.readings.design();
    let cells = (0..design.cells()?)
        .filter(|cell| axes.iter().zip(&levels).all(|(axis, level)| design.level(*cell, *axis) == *level));
    let logs: Vec<f64> = cells.filter_map(|cell| Some(figure.readings.cell(cell)?.value.ln())).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// Position of a value between the worst, 0, and the best, 1, on a logarithmic scale.
fn goodness(value: f64, least: f64, most: f64, better: Better) -> f64 {
    let range = (most / least).max(CONTRAST).ln();
    match better {
        Better::Higher => 1.0 - (most / value).ln() / range,
        Better::Lower => 1.0 - (value / least).ln() / range,
    }
}

fn colour(share: f64) -> String {
    let [r, g, b] = shade(share);
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn shade(share: f64) -> [u8; 3] {
    [0, 1, 2].map(|i| (LIGHT[i] + (DARK[i] - LIGHT[i]) * share.clamp(0.0, 1.0)).round() as u8)
}

/// Black or white, whichever stands out more on the shade.
fn ink(share: f64) -> &'static str {
    let on = luminance(shade(share)) + 0.05;
    if 1.05 / on > on / 0.05 { "#ffffff" } else { "#000000" }
}

/// Relative luminance of an sRGB colour, as WCAG 2 reckons contrast with.
fn luminance(of: [u8; 3]) -> f64 {
    let linear = |c: u8| match f64::from(c) / 255.0 {
        c if c <= 0.04045 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    };
    let [r, g, b] = of.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_darkest_whichever_way_is_better() {
        assert_eq!((goodness(1.0, 1.0, 4.0, Better::Lower), goodness(4.0, 1.0, 4.0, Better::Higher)), (1.0, 1.0));
        assert!((goodness(2.0, 1.0, 4.0, Better::Lower) - 0.5).abs() < 1e-12);
        assert_eq!(goodness(3.0, 3.0, 3.0, Better::Lower), 1.0, "all alike");
        assert!(goodness(1.1, 1.0, 1.1, Better::Lower) > 0.8, "a difference of a tenth is pale nowhere");
        assert_eq!((colour(0.0), colour(1.0)), ("#f0f6fb".to_owned(), "#08458c".to_owned()));
    }

    #[test]
    fn the_figures_of_every_square_can_be_read() {
        for share in (0..=1000).map(|i| f64::from(i) / 1000.0) {
            let on = luminance(shade(share)) + 0.05;
            let contrast = if ink(share) == "#ffffff" { 1.05 / on } else { on / 0.05 };
            assert!(contrast >= 4.5, "{share}: {contrast}");
        }
    }
}
