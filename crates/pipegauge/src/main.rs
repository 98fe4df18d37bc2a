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

use exit::Documents;

fn main() -> std::process::ExitCode {
    // Where this fails, a run that meets the limit of a file's size ends by a signal, without an error message.
    let _ = signals::outlive_file_limits();
    let cli = match flags::Cli::typed(std::env::args_os()) {
        Ok(cli) => cli,
        Err(e) => return exit::misread(e, documents_asked()).into(),
    };
    let serves = matches!(cli.command, flags::Command::Serve(_) | flags::Command::Attend);
    let documents = Documents::of(cli.json, serves);
    match commands::dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(e) => exit::report(&e, documents).into(),
    }
}

/// What a command line that can't be read asks to be answered with.
fn documents_asked() -> Documents {
    let words: Vec<_> = std::env::args_os().skip(1).take_while(|word| word != "--").collect();
    let command = words.iter().find(|word| !word.to_string_lossy().starts_with('-'));
    Documents::of(words.iter().any(|word| word == "--json"), command.is_some_and(|c| c == "serve"))
}
