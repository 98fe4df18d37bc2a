//! The large part of the screen: the curve, all warnings, or the keys.

use ratatui_core::layout::Rect;
use record::Analysis;
use report::scale::Quantity;
use report::terminal::{Look, pieces};
use report::{Figure, Graph, Series, precision, table};

use super::{Pen, bold, dim, plain};
use crate::state::{Face, Phase, State};

/// Least ratio of the ends of an axis of time: drawn larger, noise of a few per cent would look like a shape.
const NARROWEST: f64 = 4.0;

const HELP: &str = "\
q, Esc, Ctrl-C   stop; what was measured is kept (again Ctrl-C: at once)
Ctrl-Z           suspend; fg comes back, bg measures on unseen
g                next graph: signature, throughput, saturation, precision
p, Tab           one path alone, the next, all again
← →              look at the point of the next smaller, larger size
c                look again at what is being measured
w                all warnings with what to do; ↑ ↓ scroll
?                this

◆  on the curve: the point in the panel below, each two seconds another
·  a short trial (first look, warm-up)   ●  one that counts
├──┼──┤  95% interval and median: it closes with each round (a fresh
         connection in a fresh process) until it is as narrow as asked
settled  points that are as sure as asked   ±  reach, median point";

pub(super) fn draw(state: &State, pen: &mut Pen<'_>, area: Rect) {
    match state.face {
        Face::Graph => graph(state, pen, area),
        Face::Warnings => {
            let text = state.run().map(|run| table::warnings_within(run, usize::from(area.width) - 2));
            let text = text.filter(|t| !t.is_empty()).unwrap_or_else(|| match state.phase {
                Phase::Ended => "No warnings.".to_owned(),
                _ => "No warnings so far; most are known at the end.".to_owned(),
            });
            lines(state, pen, area, &text);
        }
        Face::Help => lines(state, pen, area, HELP),
    }
}

fn lines(state: &State, pen: &mut Pen<'_>, area: Rect, text: &str) {
    // The last line stays in sight.
    let most = text.lines().count().saturating_sub(usize::from(area.height).saturating_sub(1));
    let from = state.scroll.min(most);
    for (line, y) in text.lines().skip(from).zip(1..) {
        pen.put(area, 1, y, line, if line.starts_with("! ") { bold() } else { plain() });
    }
    if from < most {
        pen.put(area, area.width.saturating_sub(8), area.height.saturating_sub(1), " ↓ more ", bold());
    }
}

fn graph(state: &State, pen: &mut Pen<'_>, area: Rect) {
    let Some(run) = state.run() else { return };
    let mut series = match state.graph {
        Graph::Precision => precision::series(&Analysis::of(run)),
        graph => graph.curves(&[&Analysis::of(run)], false),
    };
    series.retain(|s| s.path == precision::ASKED || state.path.is_none_or(|path| s.path == path));
    // The axes hold the curves: the intervals of the first rounds would press them flat.
    for point in series.iter_mut().flat_map(|s| &mut s.points) {
        (point.interval, point.min) = (None, point.seconds);
    }
    let mut figure = Figure::from_series(&series, state.graph, Vec::new());
    if let Some((time, _)) = figure.axes.as_mut().filter(|(x, _)| x.quantity == Quantity::Time) {
        let scale = &mut time.scale;
        let grow = (NARROWEST * scale.low / scale.high).max(1.0).sqrt();
        (scale.low, scale.high) = (scale.low / grow, scale.high * grow);
    }
    if figure.axes.is_none() {
        let first = if state.graph == Graph::Precision { "the second round" } else { "the first trial" };
        pen.put(area, 1, 1, &format!("The {} graph appears with {first}.", state.graph.name()), dim());
        return;
    }
    let drawn: Vec<&Series> = series.iter().filter(|s| !s.points.is_empty()).collect();
    let mark = state.shown.and_then(|(path, size)| {
        let line = drawn.iter().position(|s| s.path == path)?;
        let point = drawn[line].points.iter().find(|p| p.size == size)?;
        Some((line, state.graph.place(point, point.seconds)))
    });
    let look = Look {
        width: usize::from(area.width).saturating_sub(2),
        height: area.height.into(),
        letters: !pen.colour && drawn.len() > 1,
        mark,
    };
    for (row, y) in pieces(&figure, &look).into_iter().zip(0..) {
        let mut x = 1;
        for piece in row {
            let style = match piece.line.and_then(|line| drawn.get(line)) {
                Some(series) if series.path == precision::ASKED => dim(),
                Some(series) => pen.path(series.path),
                None => plain(),
            };
            let marked = piece.text.find('◆').map(|at| piece.text.split_at(at));
            x = match marked {
                Some((before, after)) => {
                    let rest = after.trim_start_matches('◆');
                    let x = pen.put(area, x, y, before, style);
                    let x = pen.put(area, x, y, "◆", bold());
                    pen.put(area, x, y, rest, style)
                }
                None => pen.put(area, x, y, &piece.text, style),
            };
        }
    }
}
