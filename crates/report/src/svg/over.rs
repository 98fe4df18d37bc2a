//! What lies over the lines of a picture: fitted curves, saturation points, marks at dips and steps, with their labels.

use super::layout::width;
use super::xml::{self, Svg, n};
use super::{Area, PALETTE, polyline, pretty};
use crate::figure::Line;

/// Size of a label, pixels.
const SIZE: f64 = 11.0;

/// A label's box: left, top, right, bottom.
type Room = (f64, f64, f64, f64);

/// Draws it, labels last. A label that finds no place clear of the others is left out: the mark itself stays, and a table has
/// the words.
pub(super) fn over(a: &Area<'_>, lines: &[Line], svg: &mut Svg) {
    let mut labels = Vec::new();
    for line in lines {
        let colour = PALETTE[line.hue % PALETTE.len()];
        for fitted in &line.fitted {
            let data = polyline(a, fitted.iter().copied());
            svg.path(&data, "fill=\"none\" stroke=\"#222222\" stroke-width=\"1.3\" stroke-dasharray=\"1.5 3\"");
        }
        for mark in &line.marks {
            let places: Vec<(f64, f64)> = mark.places.iter().filter_map(|p| a.place(*p)).collect();
            let Some(lowest) = places.iter().copied().max_by(|p, q| p.1.total_cmp(&q.1)) else { continue };
            match places.as_slice() {
                [(x, y)] if !mark.dip => svg.put(format_args!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"5.5\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"/>\n",
                    n(*x),
                    n(*y)
                )),
                // A dip of one size is a round spot: a line of no length has its ends.
                [(x, y), rest @ ..] => svg.path(
                    &if rest.is_empty() {
                        format!("M{0} {1}L{0} {1}", n(*x), n(*y))
                    } else {
                        polyline(a, mark.places.iter().copied())
                    },
                    &format!(
                        "fill=\"none\" stroke=\"{colour}\" stroke-width=\"9\" stroke-opacity=\"0.35\" \
                         stroke-linecap=\"round\" stroke-linejoin=\"round\""
                    ),
                ),
                [] => {}
            }
            labels.push((lowest, &mark.label, colour));
        }
        if let Some((place, words)) = &line.knee
            && let Some((x, y)) = a.place(*place)
        {
            let data = format!(
                "M{} {}L{} {}L{} {}L{} {}Z",
                n(x),
                n(y - 6.0),
                n(x + 6.0),
                n(y),
                n(x),
                n(y + 6.0),
                n(x - 6.0),
                n(y)
            );
            svg.path(&data, &format!("fill=\"#ffffff\" stroke=\"{colour}\" stroke-width=\"1.8\""));
            labels.push(((x, y), words, colour));
        }
    }
    let curves: Vec<(f64, f64)> =
        if labels.is_empty() { Vec::new() } else { lines.iter().flat_map(|l| run(a, l)).collect() };
    let mut taken: Vec<Room> = Vec::new();
    for (at, words, colour) in labels {
        label(a, at, words, colour, &curves, &mut taken, svg);
    }
}

/// Where a line runs, at every few pixels.
fn run(a: &Area<'_>, line: &Line) -> Vec<(f64, f64)> {
    let places: Vec<(f64, f64)> = line.dots.iter().filter(|d| a.holds(d.mid)).filter_map(|d| a.place(d.mid)).collect();
    let mut all = Vec::new();
    for pair in places.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let steps = ((x1 - x0).hypot(y1 - y0) / 5.0).ceil().clamp(1.0, 200.0) as usize;
        all.extend((0..steps).map(|k| k as f64 / steps as f64).map(|s| (x0 + s * (x1 - x0), y0 + s * (y1 - y0))));
    }
    all.extend(places.last());
    all.dedup_by(|p, q| (p.0 - q.0).abs().max((p.1 - q.1).abs()) < 1.0);
    all
}

/// How far above or below its mark a label may stand, pixels.
const TRIES: [f64; 10] = [18.0, -12.0, 34.0, -28.0, 50.0, -44.0, 66.0, -60.0, 84.0, -78.0];
/// From a mark to a label beside it, pixels.
const BESIDE: f64 = 12.0;
/// Cost of a label's distance: so many pixels from the mark count as much as one covered place of a curve.
const NEAR: f64 = 40.0;

/// A label near its mark, within the area and clear of other labels, where it covers least of the curves.
fn label(
    a: &Area<'_>,
    (x, y): (f64, f64),
    words: &str,
    colour: &str,
    curves: &[(f64, f64)],
    taken: &mut Vec<Room>,
    svg: &mut Svg,
) {
    let words = pretty(words);
    let half = width(&words, SIZE) / 2.0 + 3.0;
    let clear = |r: &Room| taken.iter().all(|t| r.2 < t.0 || t.2 < r.0 || r.3 < t.1 || t.3 < r.1);
    let within = |r: &Room| r.0 >= a.left && r.2 <= a.right && r.1 >= a.top && r.3 <= a.bottom - 2.0;
    let room = |right: f64, down: f64| {
        let middle = (x + right).clamp(a.left + half, (a.right - half).max(a.left + half));
        let base = y + down;
        (middle - half, base - SIZE, middle + half, base + 3.0)
    };
    let cost = |r: &Room, away: f64| {
        let covered = curves.iter().filter(|(px, py)| (r.0..=r.2).contains(px) && (r.1..=r.3).contains(py)).count();
        covered as f64 + away / NEAR
    };
    let beside = [half + BESIDE, -half - BESIDE].map(|right| (right, 3.0));
    let around = TRIES.into_iter().flat_map(|down| [0.0, half + 4.0, -half - 4.0].map(|right| (right, down)));
    let tried = beside.into_iter().chain(around).map(|(right, down)| (room(right, down), down.abs()));
    let best = tried.filter(|(r, _)| clear(r) && within(r)).map(|(r, away)| (cost(&r, away), r));
    let Some((_, room)) = best.min_by(|p, q| p.0.total_cmp(&q.0)) else { return };
    taken.push(room);
    // A rim in the background's colour keeps it readable where it crosses a line.
    svg.put(format_args!(
        "<text x=\"{}\" y=\"{}\" font-size=\"{SIZE}\" text-anchor=\"middle\" fill=\"{colour}\" stroke=\"#ffffff\" \
         stroke-width=\"3.5\" stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>\n",
        n((room.0 + room.2) / 2.0),
        n(room.3 - 3.0),
        xml::escape(&words)
    ));
}
