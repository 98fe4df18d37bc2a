//! `pipegauge completions`.

use anyhow::Result;
use clap::CommandFactory;

use crate::document::CompletionsDocument;
use crate::exit::Exit;
use crate::flags::{Cli, CompletionsFlags};
use crate::out;

/// Prints a completion script, made from the flag definitions.
pub fn completions(flags: &CompletionsFlags, json: bool) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut Cli::command(), "pipegauge", &mut script);
    if json {
        let script = String::from_utf8_lossy(&script).into_owned();
        out::json(&CompletionsDocument::new(flags.shell.to_string(), script))?;
    } else {
        out::bytes(&script)?;
    }
    Ok(Exit::Ok)
}
