//! Exit codes, and how an error is said.

use std::io;
use std::process::ExitCode;

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
    /// 2: could not.
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

impl From<Exit> for ExitCode {
    fn from(e: Exit) -> Self {
        ExitCode::from(e.code())
    }
}

/// Says an error on standard error (and, with `--json`, as a document on standard output) and picks the exit code.
/// A reader that closed the pipe has seen what it wanted: that is success.
pub fn report(error: &anyhow::Error, json: bool) -> Exit {
    if error.chain().any(is_broken_pipe) {
        return Exit::Ok;
    }
    let text = sentence(error);
    out::tell(&format!("pipegauge: {text}"));
    if json {
        // The exit code already says that it failed; a closed standard output changes nothing.
        let _ = out::json(&ErrorDocument::new(text, Exit::CouldNot.code()));
    }
    Exit::CouldNot
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
        assert_eq!(report(&stdout, false), Exit::Ok);
        let elsewhere = anyhow::Error::from(pipe()).context("talking to the far side");
        assert_eq!(report(&elsewhere, false), Exit::CouldNot);
    }
}
