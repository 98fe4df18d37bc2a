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
                [(x, y)] => svg.put(format_args!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"5.5\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"/>\n",
                    n(*x),
                    n(*y)
                )),
                _ => svg.path(
                    &polyline(a, mark.places.iter().copied()),
                    &format!(
                        "fill=\"none\" stroke=\"{colour}\" stroke-width=\"9\" stroke-opacity=\"0.35\" \
                         stroke-linecap=\"round\" stroke-linejoin=\"round\""
                    ),
                ),
            }
            labels.push(((lowest.0, lowest.1 + 20.0), &mark.label, colour));
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
            labels.push(((x - width(words, SIZE) / 2.0 - 14.0, y + 3.0), words, colour));
        }
    }
    let mut taken: Vec<Room> = Vec::new();
    for (at, words, colour) in labels {
        label(a, at, words, colour, &mut taken, svg);
    }
}

/// Where a label may go if the place beside its mark is taken, pixels down.
const TRIES: [f64; 5] = [0.0, 16.0, 32.0, -16.0, -36.0];

/// A label with its middle at a place, moved to lie within the area.
fn label(a: &Area<'_>, (x, y): (f64, f64), words: &str, colour: &str, taken: &mut Vec<Room>, svg: &mut Svg) {
    let words = pretty(words);
    let half = width(&words, SIZE) / 2.0 + 3.0;
    let x = x.clamp(a.left + half, (a.right - half).max(a.left + half));
    let clear = |r: &Room| taken.iter().all(|t| r.2 < t.0 || t.2 < r.0 || r.3 < t.1 || t.3 < r.1);
    let room = |down: f64| {
        let y = (y + down).clamp(a.top + SIZE, a.bottom - 4.0);
        (x - half, y - SIZE, x + half, y + 3.0)
    };
    let Some(room) = TRIES.into_iter().map(room).find(clear) else { return };
    taken.push(room);
    // A rim of the ground's colour keeps it readable where it crosses a line.
    svg.put(format_args!(
        "<text x=\"{}\" y=\"{}\" font-size=\"{SIZE}\" text-anchor=\"middle\" fill=\"{colour}\" stroke=\"#ffffff\" \
         stroke-width=\"3.5\" stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>\n",
        n(x),
        n(room.3 - 3.0),
        xml::escape(&words)
    ));
}
