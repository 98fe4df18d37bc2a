//! Exit codes, and how an error is said.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::{ContextValue, ErrorKind};

use crate::config::question::shown;
use crate::document::ErrorDocument;
use crate::out;

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: all that was asked for was done.
    Ok,
    /// 1: measured (or examined), but something fell short: the run was interrupted, a path broke, the report
    /// could not be written, `doctor` warns.
    Short,
    /// 2: could not, or (`compare`) a limit could not be judged.
    CouldNot,
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Short => 1,
            Exit::CouldNot => 2,
        }
    }
}

/// An error where JSON was asked of what has none.
pub fn no_json(asked: bool, what: &str) -> Result<()> {
    if asked {
        anyhow::bail!("--json: what `pipegauge {what}` prints has no JSON; leave out --json");
    }
    Ok(())
}

impl From<Exit> for ExitCode {
    fn from(e: Exit) -> Self {
        ExitCode::from(e.code())
    }
}

/// How a command prints documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Documents {
    /// Not at all: text.
    None,
    /// One, readable by people too.
    One,
    /// One a line, as things happen.
    Lines,
}

impl Documents {
    /// As `--json` asks of a command that prints one document, or (`serve`) a line for each thing that happens.
    pub fn of(json: bool, lines: bool) -> Self {
        match (json, lines) {
            (false, _) => Documents::None,
            (true, false) => Documents::One,
            (true, true) => Documents::Lines,
        }
    }
}

/// Says an error on standard error (and, with `--json`, as a document on standard output) and picks the exit code.
/// A reader that closed the pipe has seen what it wanted: that is success.
pub fn report(error: &anyhow::Error, documents: Documents) -> Exit {
    if error.chain().any(is_broken_pipe) {
        return Exit::Ok;
    }
    let text = cut_words(&sentence(error));
    out::tell_prose(&format!("pipegauge: {text}"));
    document(text, documents);
    Exit::CouldNot
}

/// Says a command line that can't be read, as clap words it. Help and version are answers, not errors: clap knows which.
pub fn misread(error: clap::Error, documents: Documents) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            // Whoever closed the pipe has read enough.
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                out::tell(&format!("pipegauge: writing to standard output: {e}"));
                Exit::CouldNot
            }
            _ => Exit::Ok,
        };
    }
    let error = shortened(error);
    let text = error.render().to_string();
    let safe = fit(&text);
    if safe == text {
        // With clap's colours.
        let _ = error.print();
    } else {
        out::tell(safe.trim_end());
    }
    document(fit(&words(&error)), documents);
    Exit::CouldNot
}

/// Longest line of clap's and longest word of any error that is said, characters: messages may repeat what was typed.
const LINE: usize = 400;

/// The error with what it repeats of the command line cut short and without characters that a terminal acts on.
fn shortened(mut error: clap::Error) -> clap::Error {
    let repeated: Vec<_> = (error.context())
        .filter_map(|(kind, value)| match value {
            ContextValue::String(s) => Some((kind, ContextValue::String(shown(s)))),
            ContextValue::Strings(all) => Some((kind, ContextValue::Strings(all.iter().map(|s| shown(s)).collect()))),
            _ => None,
        })
        .collect();
    for (kind, value) in repeated {
        error.insert(kind, value);
    }
    error
}

/// Text, cut short.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Text whose longest words are cut short.
fn cut_words(text: &str) -> String {
    let one = |part: &str| {
        let (word, space) = part.split_at(part.trim_end().len());
        cut(word) + space
    };
    text.split_inclusive([' ', '\n']).map(one).collect()
}

/// Text without characters that a terminal acts on, its lines cut short.
fn fit(text: &str) -> String {
    report::words::plain(text).split('\n').map(cut).collect::<Vec<_>>().join("\n")
}

/// What clap says of a command line that can't be read, as one line, without usage.
pub fn words(error: &clap::Error) -> String {
    let text = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "no command was given (pipegauge --help lists them)".into()
        }
        _ => error.render().to_string(),
    };
    let what =
        ["\n\nUsage:", "\n\nFor more information"].iter().fold(&text[..], |t, end| t.split(end).next().unwrap_or(t));
    let words: Vec<&str> = what.strip_prefix("error: ").unwrap_or(what).split_whitespace().collect();
    words.join(" ")
}

/// The error's document. The exit code already says that it failed: a closed standard output changes nothing.
fn document(text: String, documents: Documents) {
    let document = ErrorDocument::new(text, Exit::CouldNot.code());
    let _ = match documents {
        Documents::None => Ok(()),
        Documents::One => out::json(&document),
        Documents::Lines => out::json_line(&document),
    };
}

/// `exit`, if its results could be printed or the reader had seen enough: what was found does not change when the reader
/// goes away.
pub fn printed(result: Result<()>, exit: Exit) -> Result<Exit> {
    match result {
        Err(e) if !e.chain().any(is_broken_pipe) => Err(e),
        _ => Ok(exit),
    }
}

fn is_broken_pipe(e: &(dyn std::error::Error + 'static)) -> bool {
    e.downcast_ref::<out::StdoutError>().is_some_and(|e| e.0.kind() == io::ErrorKind::BrokenPipe)
}

/// The chain of causes as one line. Libraries here often print a cause and also name it as their source, so a cause that
/// was already said is skipped.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn a_cause_that_was_said_is_not_said_twice() {
        let e = Err::<(), _>(io::Error::other("no such host"))
            .context("connecting: no such host")
            .context("measuring")
            .unwrap_err();
        assert_eq!(sentence(&e), "measuring: connecting: no such host");
    }

    #[test]
    fn only_standard_outputs_broken_pipe_is_success() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdout = anyhow::Error::from(out::StdoutError(pipe())).context("writing");
        assert_eq!(report(&stdout, Documents::None), Exit::Ok);
        let elsewhere = anyhow::Error::from(pipe()).context("talking to the far side");
        assert_eq!(report(&elsewhere, Documents::None), Exit::CouldNot);
    }

    #[test]
    fn a_reader_that_goes_away_changes_no_exit_code() {
        let pipe = |kind| Err(anyhow::Error::from(out::StdoutError(io::Error::from(kind))));
        assert_eq!(printed(pipe(io::ErrorKind::BrokenPipe), Exit::Short).unwrap(), Exit::Short);
        assert_eq!(printed(Ok(()), Exit::Ok).unwrap(), Exit::Ok);
        assert!(printed(pipe(io::ErrorKind::StorageFull), Exit::Ok).is_err());
    }
}
