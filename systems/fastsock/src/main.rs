//! `fastsock run PROGRAM ARGUMENT...`: runs a program with `libfastsock.so` loaded.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: fastsock run PROGRAM [ARGUMENT...]
Runs a program with libfastsock.so loaded, so that its TCP connections within this host, to programs that have it, too,
go through shared memory. FASTSOCK=off switches it off; FASTSOCK_OFF_PROGRAMS, FASTSOCK_OFF_PORTS and FASTSOCK_OFF_USERS
do for some (lists, separated by commas).";

/// The library: beside this command, or in the `lib` folder of the same prefix.
fn library() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("finding out where this command lies: {error}"))?;
    let folder = program.parent().unwrap_or(&program).to_owned();
    let places = [folder.join("libfastsock.so"), folder.join("../lib/libfastsock.so")];
    places.iter().find(|place| place.exists()).cloned().ok_or_else(|| {
        format!(
            "no libfastsock.so at {} nor at {}: build or install it there",
            places[0].display(),
            places[1].display()
        )
    })
}

fn run(program: &str, arguments: &[String]) -> Result<ExitCode, String> {
    let library = library()?;
    let library = library.to_str().ok_or("the path of libfastsock.so is not UTF-8")?.to_owned();
    // Others that are loaded already stay, behind it.
    let preload = match std::env::var("LD_PRELOAD") {
        Ok(others) if !others.is_empty() => format!("{library}:{others}"),
        _ => library,
    };
    let error = Command::new(program).args(arguments).env("LD_PRELOAD", preload).exec();
    Err(format!("running {program}: {error}"))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", program, ..] => run(program, &arguments[2..]),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => Err(USAGE.to_owned()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("fastsock: {error}");
        ExitCode::from(2)
    })
}
