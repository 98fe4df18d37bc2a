//! A state becomes cells. Pure.
//!
//! 80 by 24 holds everything; a smaller terminal gets the head and the graph, a very small one the head's words.
//!
//! | module | job |
//! |---|---|
//! | `head` | what runs, how far it is, how it ended; the keys |
//! | `face` | the large part: the curve, all warnings, or help |
//! | `point` | one point: its trials, its interval, how that closes |
//! | `paths` | a row for each path |

mod face;
mod head;
mod paths;
mod point;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use report::table;
use report::terminal::COLOURS;

use crate::paint;
use crate::state::{Face, Phase, State};

/// Columns and rows from which everything is shown.
const WHOLE: (u16, u16) = (72, 22);
/// Rows that the graph keeps at least.
const GRAPH: u16 = 10;

/// Where one draws, and how.
pub(crate) struct Pen<'a> {
    buf: &'a mut Buffer,
    colour: bool,
}

impl Pen<'_> {
    /// Writes text into row `y` of `area`, from column `x` on; what goes beyond is cut. Tells the column after it.
    fn put(&mut self, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
        if x >= area.width || y >= area.height {
            return x;
        }
        let most = usize::from(area.width - x);
        // Nothing of what stood there shines through.
        let style = Style::reset().patch(style);
        self.buf.set_stringn(area.x + x, area.y + y, text, most, style).0 - area.x
    }

    /// The colour of a path's line; none where colours are not wanted.
    fn path(&self, path: u32) -> Style {
        let code = COLOURS[path as usize % COLOURS.len()];
        if self.colour { Style::new().fg(paint::colour(code)) } else { Style::new() }
    }
}

fn plain() -> Style {
    Style::new()
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Draws all of `state` into `buf`.
pub fn draw(state: &State, buf: &mut Buffer, colour: bool) {
    let all = buf.area;
    let mut pen = Pen { buf, colour };
    if all.width < 40 || all.height < 6 {
        return head::tiny(state, &mut pen, all);
    }
    let whole = all.width >= WHOLE.0 && all.height >= WHOLE.1;
    let above = if whole { 3 } else { 2 };
    head::draw(state, &mut pen, Rect { height: above, ..all });
    head::keys(state, &mut pen, Rect { y: all.height - 1, height: 1, ..all });
    let middle = Rect { y: above, height: all.height - above - 1, ..all };
    if !whole || state.face != Face::Graph {
        return face::draw(state, &mut pen, middle);
    }
    // From below: warnings, the panels, and the curve in what is left.
    let room = middle.height - GRAPH;
    let wanted = state.run().map_or(0, |r| r.run.plan.paths.len()) as u16 + 1;
    let panels = wanted.clamp(5, 9).min(room - 1) + 1;
    let warnings = warnings(state, all.width, (room - panels).min(middle.height / 3));
    let told = Rect { y: middle.bottom() - warnings.len() as u16, height: warnings.len() as u16, ..all };
    for (line, y) in warnings.iter().zip(0..) {
        let style = if line.starts_with("! ") { bold() } else { plain() };
        pen.put(told, 1, y, line, style);
    }
    let panels = Rect { y: told.y - panels, height: panels, ..all };
    face::draw(state, &mut pen, Rect { height: panels.y - middle.y, ..middle });
    let rows = paths::rows(state, panels.height - 1);
    let right = paths::width(&rows).min(all.width / 2 + 12);
    let left = Rect { width: all.width - right - 1, ..panels };
    point::draw(state, &mut pen, left);
    paths::draw(state, &mut pen, Rect { x: left.width + 1, width: right, ..panels }, &rows);
}

/// The lines of warnings that stand below: the last one while the run goes on, as many as fit when it has ended.
fn warnings(state: &State, width: u16, room: u16) -> Vec<String> {
    let Some(run) = state.run() else { return Vec::new() };
    let text = table::warnings_within(run, usize::from(width) - 2);
    let lines: Vec<&str> = text.lines().collect();
    let ended = state.phase == Phase::Ended;
    let from = if ended { 0 } else { lines.iter().rposition(|l| l.starts_with("! ")).unwrap_or(0) };
    let room = usize::from(if ended { room } else { room.min(2) });
    let lines = &lines[from..];
    let mut shown: Vec<String> = lines.iter().take(room).map(|l| (*l).to_owned()).collect();
    if lines.len() > room
        && let Some(last) = shown.last_mut()
    {
        let more = " ... (w: all)";
        let kept: String = last.chars().take(usize::from(width) - 2 - more.len()).collect();
        *last = format!("{}{more}", kept.trim_end());
    }
    shown
}

/// A rule with a title.
fn rule(pen: &mut Pen<'_>, area: Rect, title: &str, style: Style) {
    let line = "─".repeat(usize::from(area.width));
    pen.put(area, 0, 0, &line, dim());
    pen.put(area, 1, 0, &format!(" {title} "), style);
}
