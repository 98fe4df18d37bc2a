//! One point: its trials along a line of time, its interval below them, and how that closes.

use measure::event::{Plan, Why};
use measure::figures;
use ratatui_core::layout::Rect;
use record::{PathRun, Point};
use report::words;
use units::{BitRate, Bytes, Kind, Seconds, with_interval};

use super::paths::percent;
use super::{Pen, bold, dim, plain, rule};
use crate::state::State;

pub(super) fn draw(state: &State, pen: &mut Pen<'_>, area: Rect) {
    let (Some(run), Some((number, size))) = (state.run(), state.shown) else {
        return rule(pen, area, "point", plain());
    };
    let name = state.measured(number).map_or("?", |p| p.opened.name());
    let held = if state.held { " (kept)" } else { "" };
    let style = pen.path(number).patch(bold());
    let title = format!("{name}, {}{held}", Bytes(size));
    let Some((path, point)) = state.point(number, size) else {
        rule(pen, area, &title, style);
        pen.put(area, 1, 1, "nothing has come through yet", dim());
        return;
    };
    let moves = Some(point.figures.throughput).filter(|rate| *rate > 0.0);
    rule(pen, area, &moves.map_or(title.clone(), |rate| format!("{title}: {}", BitRate(rate))), style);
    let plan = &run.run.plan;
    strip(plan, path, point, pen, Rect { x: area.x, y: area.y + 1, height: 2, ..area });
    let f = &point.figures;
    let time = words::time_label(point.time);
    let median = if f.high.is_finite() {
        with_interval(f.median, f.low, f.high, Kind::Seconds)
    } else {
        Seconds(f.median).to_string()
    };
    pen.put(area, 1, 3, &format!("{median} {time}"), plain());
    pen.put(area, 1, 4, &sure(plan, point), plain());
    pen.put(area, 1, 5, &closing(state.closing(number, size), area.width), dim());
}

/// How sure the point is, against what was asked.
fn sure(plan: &Plan, point: &Point) -> String {
    let width = point.figures.reach();
    let trials = point.trials.len();
    let what = if plan.soaks() { "interval" } else { "trial" };
    let trials = units::counted(trials as u64, what);
    if !width.is_finite() {
        return format!("{trials}; no interval yet");
    }
    let so = match point.why {
        Some(Why::Precision) => "settled".to_owned(),
        Some(why) => words::why_label(Some(why)).to_owned(),
        None => trials,
    };
    if plan.soaks() {
        return format!("±{}, {so}", percent(width));
    }
    format!("±{} (asked ±{}), {so}", percent(width), units::short(plan.precision, Kind::Share))
}

/// How far the interval reached after each round, the last ones as far as there is room.
fn closing(widths: &[(u32, f64)], columns: u16) -> String {
    let mut text = String::new();
    for (_, width) in widths.iter().rev() {
        let width = percent(*width);
        let joined = if text.is_empty() { width } else { format!("{width} → {text}") };
        if joined.chars().count() + 12 > usize::from(columns) {
            text = format!("… {text}");
            break;
        }
        text = joined;
    }
    if widths.len() > 1 { format!("closing: {text}") } else { String::new() }
}

/// The trials along a line from the fastest to the slowest, and the interval below them on the same scale.
fn strip(plan: &Plan, path: &PathRun, point: &Point, pen: &mut Pen<'_>, area: Rect) {
    let kind = path.opened.transport;
    let times: Vec<(f64, bool)> = point
        .trials
        .iter()
        .filter_map(|t| Some((figures::rounds(plan, kind, &[&*t], &figures::Common::default()).first()?.1, t.warmup)))
        .collect();
    let f = &point.figures;
    let values = times.iter().map(|(t, _)| *t).chain([f.median]);
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), t| (low.min(t), high.max(t)));
    if !(low.is_finite() && high > 0.0) {
        return;
    }
    let ends = [short(low), short(high)];
    let from = ends[0].chars().count() as u16 + 2;
    let Some(columns) = area.width.checked_sub(from + ends[1].chars().count() as u16 + 2).filter(|c| *c >= 8) else {
        return;
    };
    // Equal times stand in the middle.
    let spread = high - low;
    let place = |t: f64| -> u16 {
        let share = if spread > low * 1e-9 { ((t - low) / spread).clamp(0.0, 1.0) } else { 0.5 };
        from + (share * f64::from(columns - 1)).round() as u16
    };
    pen.put(area, 1, 0, &ends[0], dim());
    pen.put(area, from + columns + 1, 0, &ends[1], dim());
    for warmup in [true, false] {
        for (t, _) in times.iter().filter(|(_, w)| *w == warmup) {
            let style = if warmup { dim() } else { pen.path(path.opened.path) };
            pen.put(area, place(*t), 0, if warmup { "·" } else { "●" }, style);
        }
    }
    if f.high.is_finite() {
        let (left, right) = (place(f.low), place(f.high));
        let line = "─".repeat(usize::from(right.saturating_sub(left)) + 1);
        pen.put(area, left, 1, &line, plain());
        // An end beyond the line is open.
        if f.low >= low {
            pen.put(area, left, 1, "├", plain());
        }
        if f.high <= high {
            pen.put(area, right, 1, "┤", plain());
        }
    }
    pen.put(area, place(f.median), 1, "┼", bold());
}

fn short(seconds: f64) -> String {
    units::short(seconds, Kind::Seconds)
}
