//! The command: flags and glue, nothing else.
//!
//! | module | job |
//! |---|---|
//! | [`flags`] | what a person can type: raw flags, one struct for each subcommand |
//! | [`config`] | raw flags become a checked configuration, before anything is opened or measured |
//! | [`commands`] | one module for each subcommand |
//! | [`document`] | what `--json` prints, and the schema of each |
//! | [`out`] | standard output and error: broken pipes, colour, width |
//! | [`exit`] | exit codes and how an error is said |
//! | [`signals`] | Ctrl-C, SIGTERM, closed terminals |

mod commands;
mod config;
mod document;
mod exit;
mod flags;
mod out;
mod signals;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = match flags::Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are answers, not errors; clap knows which, and survives a closed pipe.
        Err(e) => e.exit(),
    };
    let json = cli.json;
    match commands::dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(e) => exit::report(&e, json).into(),
    }
}
