//! Standard output and error. Nothing here panics when a pipe is closed or a terminal is gone, as `println!` would.

use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

/// Standard output could not be written.
#[derive(Debug)]
pub struct StdoutError(pub io::Error);

impl std::fmt::Display for StdoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "writing to standard output: {}", self.0)
    }
}

impl std::error::Error for StdoutError {}

/// Writes bytes to standard output and flushes them.
pub fn bytes(data: &[u8]) -> Result<(), StdoutError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(data).and_then(|()| stdout.flush()).map_err(StdoutError)
}

/// Writes text to standard output, ending it with a newline if it has none.
pub fn text(text: &str) -> Result<(), StdoutError> {
    if text.ends_with('\n') { bytes(text.as_bytes()) } else { bytes(format!("{text}\n").as_bytes()) }
}

/// Lets something write text of any length to standard output, a piece at a time.
pub fn through(write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<(), StdoutError> {
    let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout());
    write(&mut stdout).and_then(|()| stdout.flush()).map_err(StdoutError)
}

/// Writes a document to standard output, readable by people and programs.
pub fn json<T: Serialize>(document: &T) -> anyhow::Result<()> {
    text(&escaped(serde_json::to_string_pretty(document)?))?;
    Ok(())
}

/// JSON with every character that acts on a terminal escaped, which says the same: `serde_json` leaves DEL, C1 and those
/// that turn the direction of writing as they are. They stand in strings only.
pub fn escaped(json: String) -> String {
    let acts = |c: char| c != '\n' && report::words::odd(c);
    if !json.contains(acts) {
        return json;
    }
    let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    json.chars().map(|c| if acts(c) { units(c) } else { c.to_string() }).collect()
}

/// Writes a document to standard output on one line, for commands that go on and print more than one.
pub fn json_line<T: Serialize>(document: &T) -> anyhow::Result<()> {
    text(&escaped(serde_json::to_string(document)?))?;
    Ok(())
}

/// Writes a line to standard error. A terminal that is gone (EIO) must not end a run, so errors are dropped. What other
/// hosts and files said may stand in it, so escapes for terminals are taken out.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", report::words::plain(line));
}

/// [`tell`] for prose, which is broken into lines as a terminal at standard error is wide.
pub fn tell_prose(text: &str) {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 => {
            tell(report::text::folded(text, usize::from(size.ws_col).clamp(40, COLUMNS)).trim_end());
        }
        _ => tell(text),
    }
}

/// [`tell`] for lines of which there may be none.
pub fn tell_all(lines: &str) {
    if !lines.trim().is_empty() {
        tell(lines.trim());
    }
}

/// Writes a document on one line to standard output if there is room within `patience`; else it is dropped.
pub fn offer_json_line<T: Serialize>(document: &T, patience: Duration) {
    if let Ok(line) = serde_json::to_string(document) {
        offer(io::stdout().as_fd(), &escaped(line), patience);
    }
}

/// [`tell`], if there is room within `patience`; else the line is dropped.
pub fn offer_tell(line: &str, patience: Duration) {
    offer(io::stderr().as_fd(), &report::words::plain(line), patience);
}

/// One write to a descriptor that has room: a pipe with room takes a page (4 KiB) without waiting.
fn offer(to: BorrowedFd<'_>, line: &str, patience: Duration) {
    let time = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
    let mut fds = [PollFd::from_borrowed_fd(to, PollFlags::OUT)];
    if poll(&mut fds, Some(&time)).is_ok_and(|n| n > 0) && fds[0].revents().contains(PollFlags::OUT) {
        let _ = rustix::io::write(to, format!("{line}\n").as_bytes());
    }
}

/// Whether standard output may carry colour: a terminal that can, and nobody asked against it (no-color.org).
pub fn colour() -> bool {
    may_colour(io::stdout().is_terminal(), std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()), dumb())
}

/// Whether the terminal is one that only prints: TERM says so, or says nothing.
pub fn dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|t| t.is_empty() || t == "dumb")
}

fn may_colour(terminal: bool, no_color: bool, dumb: bool) -> bool {
    terminal && !no_color && !dumb
}

/// Columns of the terminal at standard output; as many as tables take where it is none.
pub fn width() -> usize {
    match rustix::termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => COLUMNS,
    }
}

/// Columns of prose: those of the terminal, as far as tables reach.
pub fn prose() -> usize {
    width().clamp(40, COLUMNS)
}

/// A text of tables and paragraphs for this terminal: where it is narrower than tables are, paragraphs are broken anew.
pub fn fitted(text: &str) -> String {
    report::text::narrowed(text, COLUMNS, prose())
}

/// Columns of tables.
const COLUMNS: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_sends_nothing_to_a_terminal_and_says_the_same() {
        let said = "a\u{1b}[2J\u{9b}1m\u{7f}\u{202e}\u{feff}Größe\n";
        let json = escaped(serde_json::to_string_pretty(&[said]).unwrap());
        assert!(!json.contains(|c| c != '\n' && report::words::odd(c)), "{json:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [said]);
    }

    #[test]
    fn colour_needs_a_terminal_and_nobody_against_it() {
        assert!(may_colour(true, false, false));
        assert!(!may_colour(false, false, false));
        assert!(!may_colour(true, true, false));
        assert!(!may_colour(true, false, true));
    }
}
