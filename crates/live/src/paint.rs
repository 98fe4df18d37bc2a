//! Cells that changed, as bytes for a terminal.

use std::fmt::Write;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

/// What turns a terminal that shows `old` (nothing: one that was cleared) into one that shows `new`.
pub fn paint(old: Option<&Buffer>, new: &Buffer) -> Vec<u8> {
    let mut out = String::new();
    let blank;
    let old = match old.filter(|old| old.area == new.area) {
        Some(old) => old,
        None => {
            out.push_str("\x1b[0m\x1b[2J");
            blank = Buffer::empty(new.area);
            &blank
        }
    };
    let mut style = None;
    let mut cursor = None;
    for (x, y, cell) in old.diff(new) {
        if cursor != Some((x, y)) {
            let _ = write!(out, "\x1b[{};{}H", y + 1, x + 1);
        }
        let this = Style::new().fg(cell.fg).add_modifier(cell.modifier);
        if style != Some(this) {
            out.push_str(&codes(cell.fg, cell.modifier));
            style = Some(this);
        }
        out.push_str(cell.symbol());
        // Where the cursor stands after a wide character, or in the last column, depends on the terminal.
        let narrow = cell.symbol().is_ascii() || cell.symbol().chars().count() == 1 && x + 1 < new.area.width;
        cursor = narrow.then_some((x + 1, y));
    }
    if style.is_some() {
        out.push_str("\x1b[0m");
    }
    out.into_bytes()
}

fn codes(colour: Color, modifier: Modifier) -> String {
    let mut codes = vec![0];
    let of = [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::REVERSED, 7)];
    codes.extend(of.iter().filter(|(m, _)| modifier.contains(*m)).map(|(_, code)| *code));
    if let Color::Indexed(n @ 0..=15) = colour {
        codes.push(if n < 8 { 30 + n } else { 82 + n });
    }
    let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
    format!("\x1b[{}m", codes.join(";"))
}

/// The colour that ANSI numbers `code` (30 to 37, 90 to 97).
pub(crate) fn colour(code: u8) -> Color {
    Color::Indexed(if code >= 90 { code - 82 } else { code.saturating_sub(30) })
}

/// An empty buffer of a terminal's size; sizes that nobody has are cut, so that a made-up one costs no memory.
pub fn sheet(columns: u16, rows: u16) -> Buffer {
    Buffer::empty(Rect::new(0, 0, columns.min(500), rows.min(250)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(old: Option<&Buffer>, new: &Buffer) -> String {
        String::from_utf8(paint(old, new)).unwrap()
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut first = sheet(10, 2);
        first.set_string(0, 0, "abc", Style::new());
        assert_eq!(text(None, &first), "\x1b[0m\x1b[2J\x1b[1;1H\x1b[0mabc\x1b[0m");
        let mut second = first.clone();
        assert_eq!(text(Some(&first), &second), "");
        second.set_string(4, 1, "x", Style::new().fg(colour(36)).add_modifier(Modifier::BOLD));
        assert_eq!(text(Some(&first), &second), "\x1b[2;5H\x1b[0;1;36mx\x1b[0m");
        // Another size: everything again.
        assert!(text(Some(&first), &sheet(9, 2)).contains("\x1b[2J"));
    }

    #[test]
    fn bright_colours_have_their_own_numbers() {
        assert_eq!(codes(colour(94), Modifier::empty()), "\x1b[0;94m");
        assert_eq!(codes(Color::Reset, Modifier::DIM), "\x1b[0;2m");
    }
}
