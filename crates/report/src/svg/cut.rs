//! Arrowheads at the frame: where an interval or a shortest trial lies beyond what the axes hold.

use super::xml::{Svg, n};
use super::{Area, PALETTE};
use crate::figure::Line;

/// What they mean, for the footnote.
pub(super) const WORDS: &str = " Arrowhead at the frame: an interval or a shortest trial lies beyond it.";

/// Length and half the width of one, pixels.
const SIZE: (f64, f64) = (7.0, 4.5);

/// Which side of the frame is left.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
    Top,
    Bottom,
}

/// Draws one for each run of neighbours that leave the frame on one side, at the middle one of them. Returns whether there is any.
pub(super) fn heads(a: &Area<'_>, line: &Line, svg: &mut Svg) -> bool {
    let colour = PALETTE[line.hue % PALETTE.len()];
    let mut runs: Vec<(Side, Vec<(f64, f64)>)> = Vec::new();
    for end in 0..3 {
        let mut before = None;
        for dot in &line.dots {
            let place = match (end, dot.interval) {
                (0, _) => Some(dot.min),
                (1, interval) => interval.map(|i| i.0),
                (_, interval) => interval.map(|i| i.1),
            };
            let left = place.filter(|_| a.holds(dot.mid)).and_then(|place| leaves(a, dot.mid, place));
            match (left, before) {
                (Some((side, at)), Some(last)) if side == last => {
                    runs.last_mut().into_iter().for_each(|r| r.1.push(at))
                }
                (Some((side, at)), _) => runs.push((side, vec![at])),
                (None, _) => {}
            }
            before = left.map(|(side, _)| side);
        }
    }
    let mut drawn: Vec<(f64, f64)> = Vec::new();
    for (side, places) in runs {
        let (x, y) = places[places.len() / 2];
        // The ends of an interval and a trial often leave at the same place.
        if drawn.iter().any(|(dx, dy)| (dx - x).hypot(dy - y) < 2.0 * SIZE.0) {
            continue;
        }
        drawn.push((x, y));
        let (dx, dy) = match side {
            Side::Left => (-1.0, 0.0),
            Side::Right => (1.0, 0.0),
            Side::Top => (0.0, -1.0),
            Side::Bottom => (0.0, 1.0),
        };
        let (back_x, back_y) = (x - dx * SIZE.0, y - dy * SIZE.0);
        svg.path(
            &format!(
                "M{} {}L{} {}L{} {}Z",
                n(x),
                n(y),
                n(back_x + dy * SIZE.1),
                n(back_y + dx * SIZE.1),
                n(back_x - dy * SIZE.1),
                n(back_y - dx * SIZE.1)
            ),
            &format!("class=\"beyond\" fill=\"{colour}\""),
        );
    }
    !drawn.is_empty()
}

/// Where the line from a place within the frame to one beyond it crosses the frame; none where it does not.
fn leaves(a: &Area<'_>, from: (f64, f64), to: (f64, f64)) -> Option<(Side, (f64, f64))> {
    if a.holds(to) {
        return None;
    }
    let ((x0, y0), (x1, y1)) = (a.place(from)?, a.place(to)?);
    let crossed = |limit: f64, from: f64, to: f64| (limit - from) / (to - from);
    let sides = [
        (x1 < a.left, Side::Left, crossed(a.left, x0, x1)),
        (x1 > a.right, Side::Right, crossed(a.right, x0, x1)),
        (y1 < a.top, Side::Top, crossed(a.top, y0, y1)),
        (y1 > a.bottom, Side::Bottom, crossed(a.bottom, y0, y1)),
    ];
    let first = sides.into_iter().filter(|s| s.0 && s.2.is_finite()).min_by(|p, q| p.2.total_cmp(&q.2))?;
    let share = first.2.clamp(0.0, 1.0);
    Some((first.1, (x0 + share * (x1 - x0), y0 + share * (y1 - y0))))
}
