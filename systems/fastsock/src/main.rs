//! `fastsock run` runs a program with `libfastsock.so` loaded, `fastsock status` tells what became of connections, `fastsock check` reads
//! the settings.

#[allow(dead_code, reason = "the library's, which sets more than this command reads")]
mod config;
#[cfg(test)]
#[path = "../tests/common/folder.rs"]
mod folder;
#[allow(dead_code, reason = "as above")]
mod settings;
mod status;
#[allow(dead_code, reason = "as above")]
mod table;

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: fastsock run PROGRAM [ARGUMENT...]
       fastsock status [--json]
       fastsock check [FILE...]
run: runs a program with libfastsock.so loaded, so that its TCP connections within this host, to programs that have it, too,
go through shared memory. It ends as the program does; with 127 where that is not found, 126 where it can't be run.
status: the TCP connections of this user: which are fast, their counters, and why others are not.
check: what /etc/fastsock.conf, fastsock/config in $XDG_CONFIG_HOME (~/.config) and the environment say, or these files alone;
lines that are wrong are told, and the command fails.
FASTSOCK=off switches the library off; FASTSOCK_OFF_PROGRAMS, FASTSOCK_OFF_PORTS and FASTSOCK_OFF_USERS do for some (lists,
separated by commas).";

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
    // The loader only complains where it can't load it, and runs the program without.
    if library.contains([':', ' ', '\t', '\n']) {
        return Err(format!(
            "LD_PRELOAD can't hold '{library}', since a colon or a space parts its names: install it elsewhere"
        ));
    }
    let mut magic = [0; 4];
    std::fs::File::open(&library)
        .and_then(|mut file| file.read_exact(&mut magic))
        .map_err(|error| format!("reading {library}: {error}; build or install it again"))?;
    if magic != *b"\x7fELF" {
        return Err(format!("{library} is no library: build or install it again"));
    }
    // Others that are loaded already stay, behind it.
    let preload = match std::env::var("LD_PRELOAD") {
        Ok(others) if !others.is_empty() => format!("{library}:{others}"),
        _ => library,
    };
    let error = Command::new(program).args(arguments).env("LD_PRELOAD", preload).exec();
    eprintln!("fastsock: running {program}: {error}");
    // As shells and env say it, so that it is told from wrong words.
    Ok(ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 }))
}

/// Prints a text; where it can't be written, says so.
fn told(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    done.map_err(|error| format!("writing to the standard output: {error}"))
}

fn told_status(show: fn(&status::Status) -> String) -> Result<ExitCode, String> {
    told(&show(&status::gather()?))?;
    Ok(ExitCode::SUCCESS)
}

fn check(files: &[String]) -> Result<ExitCode, String> {
    let config = status::here(files);
    let on = |on: bool| if on { "on" } else { "off" };
    let mut text = format!(
        "{}\nports that are off: {:?}\nfast after {} calls; recycled: {}, after {} connections\n\
         memory at most: {} bytes a process, {} bytes a user\nfolder for connections between networks: {}\n",
        if config.off.is_some() { "switched off for this user" } else { "on" },
        config.off_ports,
        config.after,
        on(config.again),
        config.again_after,
        config.memory,
        config.memory_of_user,
        config
            .rendezvous
            .as_ref()
            .map_or("none".to_owned(), |folder| config::plain(&folder.display().to_string(), 100))
    );
    config.wrong.iter().for_each(|wrong| text.push_str(&format!("wrong: {wrong}\n")));
    told(&text)?;
    Ok(ExitCode::from(u8::from(!config.wrong.is_empty())))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", program, ..] => run(program, &arguments[2..]),
        ["status"] => told_status(status::text),
        ["status", "--json"] => told_status(status::json),
        ["--help" | "-h" | "help"] => told(&format!("{USAGE}\n")).map(|()| ExitCode::SUCCESS),
        ["check", ref files @ ..] if files.iter().all(|file| !file.starts_with('-')) => check(&arguments[1..]),
        _ => Err(USAGE.to_owned()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("fastsock: {error}");
        ExitCode::from(2)
    })
}
