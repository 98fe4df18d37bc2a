//! Reading a run file: whole, cut off at any byte, or not a run file at all.

mod lines;
mod looks;
mod version_one;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use measure::Event;
use measure::event::{SCHEMA, Warning};

use self::lines::Lines;
use crate::codec::Line;
use crate::input::{self, InputError};
use crate::{Fold, RunFile};

/// Why a file can't be read as a run file. Every message names the file and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be opened, or is no file that ends.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Reading failed half-way.
    #[error("reading {name} after line {line}: {source}")]
    Io {
        /// The file.
        name: String,
        /// Lines read before.
        line: u64,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Nothing is in it.
    #[error("{0} is empty: the run that should have written it ended before its first line")]
    Empty(String),
    /// It is something else.
    #[error("{name} is not a run file: {looks}")]
    NotARun {
        /// The file.
        name: String,
        /// What it looks like, and what would read it.
        looks: String,
    },
    /// It was cut off within its header.
    #[error("{0} is cut off within its first line: nothing was measured yet")]
    HeaderCut(String),
    /// Another version of the program wrote it, and this one would misread it.
    #[error(
        "{name} has the schema {found}, written by pipegauge {version}; this is pipegauge {} and reads {SCHEMA} and version 1: use the version that wrote it",
        env!("CARGO_PKG_VERSION")
    )]
    Schema {
        /// The file.
        name: String,
        /// The schema it names.
        found: String,
        /// The program's version that it names.
        version: String,
    },
    /// A line in the middle is no event.
    #[error("{name} is damaged at line {line}: {what}; remove that line to read the rest")]
    Damaged {
        /// The file.
        name: String,
        /// Line, from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// A second header: files that were put together.
    #[error("{name} holds more than one run: a second one begins at line {line}; split it there")]
    SecondRun {
        /// The file.
        name: String,
        /// Line, from 1.
        line: u64,
    },
}

/// Reads a run file. Lines stream through, so that memory holds the run's events but never the file's text.
pub fn read(path: impl AsRef<Path>) -> Result<RunFile, ReadError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let file = input::open(path)?;
    read_from(BufReader::with_capacity(1 << 16, file), &name)
}

/// [`read`], but the points of a soak are its intervals, in the order of time, each with its own figures: for exports, which have a row
/// for each.
pub fn read_intervals(path: impl AsRef<Path>) -> Result<RunFile, ReadError> {
    let path = path.as_ref();
    let file = input::open(path)?;
    folded(BufReader::with_capacity(1 << 16, file), &path.display().to_string(), Fold::each_interval())
}

/// Reads a run file from anything; `name` stands in messages.
pub fn read_from(input: impl BufRead, name: &str) -> Result<RunFile, ReadError> {
    folded(input, name, Fold::new())
}

fn folded(input: impl BufRead, name: &str, mut fold: Fold) -> Result<RunFile, ReadError> {
    let mut lines = Lines::new(input, name);
    if !lines.next()? {
        return Err(ReadError::Empty(name.to_owned()));
    }
    fold.add(lines.header()?);
    let mut unknown = BTreeMap::<String, u64>::new();
    let mut cut = None;
    while lines.next()? {
        if lines.blank() {
            continue;
        }
        match lines.event() {
            Ok(Line::Event(Event::Run(_))) => {
                return Err(ReadError::SecondRun { name: name.to_owned(), line: lines.number() });
            }
            Ok(Line::Event(event)) => fold.add(event),
            Ok(Line::Unknown(kind)) => *unknown.entry(kind).or_default() += 1,
            Err(what) => {
                if !lines.at_end()? {
                    return Err(ReadError::Damaged { name: name.to_owned(), line: lines.number(), what });
                }
                let (line, before) = (lines.number(), lines.number() - 1);
                cut = Some(if lines.ended() {
                    format!("line {line}, the last, is damaged ({what}); the {before} lines before it were read")
                } else {
                    format!("the file is cut off in the middle of line {line}; the {before} lines before it were read")
                });
            }
        }
    }
    let Some(mut file) = fold.finish() else { return Err(ReadError::HeaderCut(name.to_owned())) };
    file.warnings.extend(unknown.into_iter().map(|(kind, count)| Warning {
        code: "unknown-event".into(),
        path: None,
        sizes: Vec::new(),
        text: format!(
            "{count} lines of the kind '{kind}' were skipped: pipegauge {} wrote them and this version ({}) doesn't know them",
            file.run.version,
            env!("CARGO_PKG_VERSION")
        ),
    }));
    file.cut = cut.or_else(|| {
        file.end.is_none().then(|| "the file has no end line: the run was cut off, or is still being measured".into())
    });
    Ok(file)
}

#[cfg(test)]
mod tests;
