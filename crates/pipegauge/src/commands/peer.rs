//! The hidden commands: the far side of a measurement, a near process of one, and the floor program.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use rendezvous::{MeetError, Place, Ranked};
use transport::registry;

use crate::exit::Exit;
use crate::flags::SeatFlags;
use crate::{out, signals};

/// The far side of a local or ssh measurement: what to do comes over standard input, answers go to standard output.
pub fn peer() -> Result<Exit> {
    started(rendezvous::peer)
}

/// A near process of a measurement, likewise.
pub fn member() -> Result<Exit> {
    started(rendezvous::member)
}

fn started(does: fn(Arc<AtomicBool>) -> Result<(), MeetError>) -> Result<Exit> {
    // The kernel named the process after the link that it was started by; people look for the program.
    let _ = rustix::thread::set_name(c"pipegauge");
    let stop = signals::peer_stop_flag()?;
    // What was started together begins together: neither would get far without the other.
    if let Some((name, settings)) = rendezvous::prepared()? {
        registry::named(&name)?.prepare(&settings)?;
    }
    does(stop)?;
    Ok(Exit::Ok)
}

/// Stands for a process that a launcher starts, until that ends.
pub fn seat(flags: &SeatFlags) -> Result<Exit> {
    rendezvous::seat(&flags.folder, flags.number, &flags.words)?;
    Ok(Exit::Ok)
}

/// A rank of a person's own launcher that measures, in all rounds.
pub fn ranked() -> Result<Exit> {
    let _ = rustix::thread::set_name(c"pipegauge");
    let place =
        Place::here().context("this process is no rank of a launcher (this command is started by 'pipegauge run')")?;
    let stop = signals::peer_stop_flag()?;
    let Some(ranked) = Ranked::find(place)? else {
        // Rank 0 may have been killed and have said nothing. One rank says so for all.
        if place.rank == 1 {
            out::tell(&format!("pipegauge: rank 0 of {} ended before it began to measure", place.launcher));
        }
        return Ok(Exit::CouldNot);
    };
    registry::named(&ranked.name)?.prepare(&ranked.settings)?;
    ranked.serve(&stop, |e| out::tell(&format!("pipegauge: {e}")))?;
    Ok(Exit::Ok)
}

/// The floor program, so that `doctor` needs no second binary. Its exit codes are its own.
pub fn floor(args: &[OsString]) -> Result<Exit> {
    let args: Vec<String> = args.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let ended = floor::Program::this(&[FLOOR])?.main(&args);
    Ok(if ended == ExitCode::SUCCESS { Exit::Ok } else { Exit::CouldNot })
}

/// The hidden subcommand that is the floor program.
pub const FLOOR: &str = "floor";
