//! The lines of a run file, one after the other in one buffer.

use std::io::{BufRead, ErrorKind, Read};

use measure::Event;
use measure::event::SCHEMA;

use super::looks::looks;
use super::{ReadError, version_one};
use crate::codec::{self, Head, KNOWN, Line, short};

/// A line longer than this is not a run file's: the longest that a run writes is far below it.
const LONGEST_LINE: u64 = 64 << 20;

/// One line after the other, in one buffer.
pub(super) struct Lines<'a, R> {
    input: R,
    name: &'a str,
    /// Of the line in `text`, from 1.
    number: u64,
    text: Vec<u8>,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// Before the first line.
    pub(super) fn new(input: R, name: &'a str) -> Self {
        Self { input, name, number: 0, text: Vec::new() }
    }

    /// Number of the line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The line as an event, or what is wrong with it.
    pub(super) fn event(&self) -> Result<Line, String> {
        codec::read(&self.text)
    }

    /// Moves to the next line; false at the end of the file.
    pub(super) fn next(&mut self) -> Result<bool, ReadError> {
        let name = self.name;
        self.text.clear();
        if self.number == 0 {
            // Checked before a line is read, so that a large file of another kind is refused at once.
            let start = self.peek()?;
            match start.iter().find(|b| !b.is_ascii_whitespace()) {
                Some(b'{') | None => {}
                Some(_) => return Err(ReadError::NotARun { name: name.to_owned(), looks: looks(start) }),
            }
        }
        let line = self.number;
        let failed = |source| ReadError::Io { name: name.to_owned(), line, source };
        let n = (&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut self.text).map_err(failed)?;
        self.number += u64::from(n > 0);
        if n as u64 == LONGEST_LINE && !self.ended() {
            let what = format!("it is longer than {} MiB", LONGEST_LINE >> 20);
            return Err(ReadError::Damaged { name: name.to_owned(), line: self.number, what });
        }
        Ok(n > 0)
    }

    fn peek(&mut self) -> Result<&[u8], ReadError> {
        loop {
            match self.input.fill_buf() {
                Ok(_) => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(ReadError::Io { name: self.name.to_owned(), line: self.number, source }),
            }
        }
        // A second call returns the same buffer: the borrow of the first can't leave the loop.
        self.input.fill_buf().map_err(|source| ReadError::Io { name: self.name.to_owned(), line: 0, source })
    }

    /// Nothing follows.
    pub(super) fn at_end(&mut self) -> Result<bool, ReadError> {
        Ok(self.peek()?.is_empty())
    }

    /// The line has its newline.
    pub(super) fn ended(&self) -> bool {
        self.text.ends_with(b"\n")
    }

    /// The line has nothing in it.
    pub(super) fn blank(&self) -> bool {
        self.text.iter().all(u8::is_ascii_whitespace)
    }

    /// The first line as the run's header, or what the file is instead.
    pub(super) fn header(&self) -> Result<Event, ReadError> {
        let name = self.name.to_owned();
        let not_a_run = |looks: &str| Err(ReadError::NotARun { name: name.clone(), looks: looks.to_owned() });
        if self.blank() {
            return not_a_run("its first line is blank; a run file's first line is its header");
        }
        let head = match serde_json::from_slice::<Head>(&self.text) {
            Ok(head) => head,
            Err(_) => {
                const START: &[u8] = br#"{"event":"run""#;
                let n = START.len().min(self.text.len());
                if !self.ended() && self.text[..n] == START[..n] {
                    return Err(ReadError::HeaderCut(name));
                }
                return not_a_run("it begins with a brace, but its first line is not one whole JSON object");
            }
        };
        let schema = head.schema.as_deref().unwrap_or_default();
        match head.event.as_deref() {
            Some("run") => {}
            _ if schema.starts_with("pipegauge-export/") => {
                return not_a_run("it is an export (JSON); show, plot and export read the run file it came from");
            }
            Some(kind) if KNOWN.contains(&kind) => {
                return not_a_run("it has events of a run, but its first line, the header, is missing");
            }
            _ => return not_a_run("its first line is JSON, but not a run's header"),
        }
        // "pipegauge-run/2", or a later "pipegauge-run/2.1" that only adds.
        let major = schema.split_once('.').map_or(schema, |(major, _)| major);
        let before = major == version_one::BEFORE;
        if major != SCHEMA && !before {
            let found = if schema.is_empty() { "that it doesn't name".into() } else { format!("'{}'", short(schema)) };
            let version = head.version.as_deref().map_or_else(|| "(not named)".into(), short);
            return Err(ReadError::Schema { name, found, version });
        }
        let upgraded = || {
            let mut line = units::received::json(&self.text).map_err(|e| e.to_string())?;
            version_one::header(&mut line);
            codec::read(line.to_string().as_bytes())
        };
        match if before { upgraded() } else { codec::read(&self.text) } {
            Ok(Line::Event(event)) => Ok(event),
            Ok(Line::Unknown(_)) => not_a_run("its first line is not a run's header"),
            Err(what) => Err(ReadError::Damaged { name, line: 1, what }),
        }
    }
}
