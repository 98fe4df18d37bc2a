//! What runs, how far it is and how it ended; below all, the keys.

use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;
use report::words;
use units::Bytes;

use super::{Pen, bold, dim, plain};
use crate::state::{Phase, State};

/// Columns of the bar.
const BAR: usize = 24;

/// The title line, how far the run is, and (with a third row) where it is measured and kept.
pub(super) fn draw(state: &State, pen: &mut Pen<'_>, area: Rect) {
    let reversed = bold().add_modifier(Modifier::REVERSED);
    let clock = clock(state.elapsed);
    pen.put(area, 0, 0, &" ".repeat(usize::from(area.width)), reversed);
    pen.put(area, 1, 0, &title(state), reversed);
    pen.put(area, area.width.saturating_sub(clock.len() as u16 + 2), 0, &format!(" {clock} "), reversed);
    let share = if state.phase == Phase::Ended { 1.0 } else { state.extent.as_ref().map_or(0.0, |e| e.share()) };
    let x = pen.put(area, 1, 1, &bar(share, BAR.min(usize::from(area.width) / 3)), plain());
    pen.put(area, x + 1, 1, &format!("{:>3.0}%  {}", share * 100.0, doing(state)), plain());
    let Some(run) = state.run() else { return };
    pen.put(
        area,
        1,
        2,
        &words::plain(&format!("{} · {} · {}", state.file, words::pinning(run), words::hosts(run))),
        dim(),
    );
}

/// The head where there is no room for more, in words, wrapped.
pub(super) fn tiny(state: &State, pen: &mut Pen<'_>, area: Rect) {
    let share = state.extent.as_ref().map_or(0.0, |e| e.share());
    let text = format!("{} {:.0}% {} (80x24 shows the curve)", clock(state.elapsed), share * 100.0, doing(state));
    let mut row = (0, String::new());
    for word in text.split_whitespace() {
        let fits = row.1.chars().count() + 1 + word.chars().count() <= usize::from(area.width);
        if !row.1.is_empty() && !fits {
            row = (row.0 + 1, String::new());
        }
        if !row.1.is_empty() {
            row.1.push(' ');
        }
        row.1.push_str(word);
        pen.put(area, 0, row.0, &row.1, plain());
    }
}

/// The last row: what can be pressed.
pub(super) fn keys(state: &State, pen: &mut Pen<'_>, area: Rect) {
    if !state.keys {
        pen.put(area, 1, 0, "Ctrl-C stops, keeping what was measured (no keys: stdin is no terminal)", dim());
        return;
    }
    let warnings = state.run().map_or(0, |r| r.warnings.len());
    let quit = if state.phase == Phase::Ended { "leave" } else { "stop" };
    let noted = format!("warnings ({warnings})");
    let path = if state.path.is_some() { "next path" } else { "one path" };
    let keys = [("q", quit), ("g", "graph"), ("p", path), ("←→", "point"), ("w", &noted), ("?", "help")];
    let mut x = 1;
    for (key, what) in keys {
        let end = pen.put(area, x, 0, key, bold());
        x = pen.put(area, end + 1, 0, what, dim()) + 3;
    }
}

fn title(state: &State) -> String {
    let Some(run) = state.run() else { return "pipegauge live".to_owned() };
    let plan = &run.run.plan;
    let names: Vec<&str> = plan.paths.iter().map(|path| path.name()).collect();
    format!(
        "pipegauge live  {} · {} · {} to {}",
        names.join(" "),
        plan.pattern_words(),
        Bytes(plan.from),
        Bytes(plan.to)
    )
}

/// What goes on, in words.
fn doing(state: &State) -> String {
    let ended = state.run().and_then(|r| r.end.as_ref());
    match (state.phase, ended.and_then(|e| e.error.as_ref()), &state.extent, state.current) {
        (Phase::Ended, Some(error), ..) => format!("ended early: {}", words::plain(error)),
        (Phase::Ended, None, ..) => "done; q leaves and prints the summary".to_owned(),
        (Phase::Stopping, ..) => "stopping: what was measured is kept".to_owned(),
        (_, _, Some(extent), Some((path, round, size))) => {
            let name = state.measured(path).map_or("?", |p| p.opened.name());
            let round = if round == 0 { "first look".to_owned() } else { format!("round {round}") };
            let size = if size > 0 { format!(", {}", Bytes(size)) } else { String::new() };
            extent.words(&format!("{name}, {round}{size}"))
        }
        _ => "starting".to_owned(),
    }
}

fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

fn bar(share: f64, columns: usize) -> String {
    const PARTS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).floor() as usize;
    let mut text = "█".repeat(eighths / 8);
    if eighths / 8 < columns && !eighths.is_multiple_of(8) {
        text.push(PARTS[eighths % 8]);
    }
    let rest = columns.saturating_sub(text.chars().count());
    text + &"░".repeat(rest)
}
