//! The command: a member on the terminal, stacks, simulated runs.

mod member;
mod sim;
mod stack;

use std::io::{ErrorKind, Write, stderr};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Group communication from composable protocol layers.
#[derive(Parser)]
#[command(version)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Joins a group: casts each line of the input, prints what is delivered
    Member(member::Flags),
    /// What a stack provides, or the smallest that provides what is wanted
    Stack(stack::Flags),
    /// Plays seeded runs under faults and holds them against all promises
    Sim(sim::Flags),
}

fn main() -> ExitCode {
    let done = match Flags::parse().command {
        Command::Member(flags) => member::run(flags),
        Command::Stack(flags) => stack::run(flags),
        Command::Sim(flags) => sim::run(flags),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has gone: nothing is wrong.
        Err(e) if e.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            // What an error says of its cause is not said again.
            let mut text = e.to_string();
            for cause in e.chain().skip(1).map(ToString::to_string) {
                if !text.contains(&cause) {
                    text = format!("{text}: {cause}");
                }
            }
            // Where that can't be written either, the exit code tells.
            let _ = writeln!(stderr(), "strata: {text}");
            ExitCode::FAILURE
        }
    }
}
