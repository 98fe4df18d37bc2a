//! `pipegauge serve`.

mod reach;

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Result;
use rendezvous::{Far, Limits, MeetError, ServeEvent, ServeOptions, Served};

use crate::document::{ErrorDocument, Happened, ServeDocument};
use crate::exit::Exit;
use crate::flags::ServeFlags;
use crate::{out, signals};

/// How long the news of a measurement may wait for a reader who is slow. Strangers' comings wait for nobody.
const PATIENCE: Duration = Duration::from_millis(200);
/// Characters of a reason that are told: a line must fit into a pipe at once.
const REASON: usize = 500;

/// Waits for another host, and prints the line to type there.
pub fn serve(flags: &ServeFlags, json: bool) -> Result<Exit> {
    let stop = signals::Stop::listen()?.flag();
    let options = ServeOptions {
        bind: flags.bind,
        port: flags.port,
        keep: flags.keep,
        limits: Limits {
            max_block: flags.max_message,
            max_seconds: flags.max_time,
            max_memory: flags.max_memory,
            max_flows: flags.max_flows,
        },
    };
    let mut unwritten = None;
    let mut announce = |event| {
        let happened = happened(event);
        if !matches!(happened, Happened::Listening { .. }) {
            return mention(happened, json);
        }
        if let Err(e) = announce(happened, json) {
            // Nobody can read the key: there is nothing to wait for.
            stop.store(true, Ordering::Relaxed);
            unwritten = Some(e);
        }
    };
    let served = rendezvous::serve(&options, &stop, &mut announce, &mut || attending(json));
    // The stop was only its consequence.
    if let Some(e) = unwritten {
        return Err(e);
    }
    Ok(match served? {
        Served::Ended(0) => Exit::Ok,
        Served::Ended(1) | Served::Lost => Exit::Short,
        Served::Ended(_) => Exit::CouldNot,
    })
}

/// The process that lets near sides in and measures. It says what it sees on the same outputs, and ends with the same codes.
fn attending(json: bool) -> Command {
    let mut command = Command::new(Far::own());
    command.arg0("pipegauge").arg("attend").args(json.then_some("--json"));
    command
}

/// What that process does.
pub fn attend(json: bool) -> Result<Exit> {
    // The kernel named the process after the link that it was started by; people look for the program.
    let _ = rustix::thread::set_name(c"pipegauge");
    let stop = signals::peer_stop_flag()?;
    match rendezvous::attendant(stop, &mut |event| mention(happened(event), json)) {
        Err(e @ MeetError::BrokenOff) => {
            out::offer_tell(&format!("pipegauge: {e}"), PATIENCE);
            if json {
                out::offer_json_line(&ErrorDocument::new(e.to_string(), Exit::Short.code()), PATIENCE);
            }
            Ok(Exit::Short)
        }
        served => served.map(|()| Exit::Ok).map_err(Into::into),
    }
}

fn happened(event: ServeEvent) -> Happened {
    let brief = |text: String| text.chars().take(REASON).collect::<String>();
    match event {
        ServeEvent::Listening { addr, key } => {
            let reach = SocketAddr::new(reach::address(addr.ip()), addr.port()).to_string();
            let key = key.to_string();
            let command = format!("pipegauge run tcp --peer {reach} --key {key}");
            Happened::Listening { address: addr.to_string(), reach, key, command }
        }
        ServeEvent::Met { peer } => Happened::Met { peer: peer.to_string() },
        ServeEvent::Refused { peer, why } => Happened::Refused { peer: peer.to_string(), why: brief(why) },
        ServeEvent::Ended { peer, how } => Happened::Ended { peer: peer.to_string(), how: brief(how) },
    }
}

fn document(happened: Happened) -> ServeDocument {
    ServeDocument { schema: "pipegauge-serve/1", happened }
}

/// The line to type goes to standard output, alone, so that a script can read it.
fn announce(happened: Happened, json: bool) -> Result<()> {
    match &happened {
        Happened::Listening { address, command, .. } if !json => {
            out::tell(&format!("listening at {address}; type this on the other host (tcp can be udp, or both):"));
            Ok(out::text(command)?)
        }
        _ => out::json_line(&document(happened)),
    }
}

/// What happens after that is news, which nobody has to read: it is dropped where it can't be written, and neither a
/// closed nor a full pipe keeps the right peer out.
fn mention(happened: Happened, json: bool) {
    let patience = if matches!(happened, Happened::Refused { .. }) { Duration::ZERO } else { PATIENCE };
    if json {
        return out::offer_json_line(&document(happened), patience);
    }
    let line = match happened {
        Happened::Listening { .. } => return,
        Happened::Met { peer } => format!("measuring with {peer}"),
        Happened::Refused { peer, why } => format!("turned {peer} away: {why}"),
        Happened::Ended { peer, how } => format!("done with {peer}: {how}"),
    };
    out::offer_tell(&line, patience);
}
