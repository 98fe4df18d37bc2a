//! `pipegauge serve`.

mod reach;

use std::net::SocketAddr;

use anyhow::Result;
use rendezvous::{Limits, ServeEvent, ServeOptions};

use crate::document::{Happened, ServeDocument};
use crate::exit::Exit;
use crate::flags::ServeFlags;
use crate::{out, signals};

/// Waits for another host, and prints the line to type there.
pub fn serve(flags: &ServeFlags, json: bool) -> Result<Exit> {
    let stop = signals::stop_flag()?;
    let options = ServeOptions {
        bind: flags.bind,
        port: flags.port,
        keep: flags.keep,
        limits: Limits { max_block: flags.max_block, max_seconds: flags.max_time, max_memory: flags.max_memory },
    };
    let mut unwritten = None;
    rendezvous::serve(&options, std::sync::Arc::clone(&stop), &mut |event| {
        let happened = happened(event);
        let said = if json {
            out::json_line(&ServeDocument { schema: "pipegauge-serve/1", happened })
        } else {
            say(&happened)
        };
        if let Err(e) = said {
            // Nobody can read the key any more: there is nothing to wait for.
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            unwritten.get_or_insert(e);
        }
    })?;
    match unwritten {
        Some(e) => Err(e),
        None => Ok(Exit::Ok),
    }
}

fn happened(event: ServeEvent) -> Happened {
    match event {
        ServeEvent::Listening { addr, key } => {
            let reach = SocketAddr::new(reach::address(addr.ip()), addr.port()).to_string();
            let key = key.to_string();
            let command = format!("pipegauge run tcp --peer {reach} --key {key}");
            Happened::Listening { address: addr.to_string(), reach, key, command }
        }
        ServeEvent::Met { peer } => Happened::Met { peer: peer.to_string() },
        ServeEvent::Refused { peer, why } => Happened::Refused { peer: peer.to_string(), why: why.to_string() },
        ServeEvent::Ended { peer, how } => Happened::Ended { peer: peer.to_string(), how: how.to_string() },
    }
}

/// The line to type goes to standard output, alone, so that a script can read it; the rest is progress.
fn say(happened: &Happened) -> Result<()> {
    match happened {
        Happened::Listening { address, command, .. } => {
            out::tell(&format!("listening at {address}; type this on the other host (tcp can be udp, or both):"));
            out::text(command)?;
        }
        Happened::Met { peer } => out::tell(&format!("measuring with {peer}")),
        Happened::Refused { peer, why } => out::tell(&format!("turned {peer} away: {why}")),
        Happened::Ended { peer, how } => out::tell(&format!("done with {peer}: {how}")),
    }
    Ok(())
}
