//! `pipegauge peer`, the hidden command: a far side that a near side has started, here or over ssh. The secret comes over
//! standard input, so that no list of processes shows it.

use std::io::{BufRead, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use data_encoding::HEXLOWER;

use super::attend::attend;
use super::gate::Gate;
use super::house::{self, House, Seen};
use super::path::Path;
use super::serve::bind;
use super::{Pin, Terms};
use crate::channel::Channel;
use crate::frame::STRANGER;
use crate::message::{By, Launch, Speaker, Waiting};
use crate::secret::Secret;
use crate::tls::Identity;
use crate::{MeetError, zone};

/// Time for the near side to connect after it was told where.
const CONNECTS: Duration = Duration::from_secs(30);

/// Serves the one measurement of the near side that started this process: reads a line from standard input, answers one
/// line on standard output, and returns when the near side says goodbye, or with an error when it goes away.
pub fn peer(stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    let launch = match read(&mut std::io::stdin().lock())? {
        Ok(launch) => launch,
        Err(speaker) => {
            // Say who is here, so that the other side can name both versions too.
            say(&Waiting { speaker: Speaker::here(), at: None, pin: String::new() })?;
            return speaker.agrees();
        }
    };
    // This side's own threads must not wake up on the near side's CPU, whose pin it inherited.
    host::run_on(&launch.cpus);
    let secret: [u8; 32] = HEXLOWER
        .decode(launch.secret.as_bytes())
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| MeetError::Protocol("the secret on standard input is not 64 hexadecimal digits".into()))?;
    let gate = Gate::new(Secret::of(secret), false);
    let identity = Identity::fresh()?;
    let last_resort: Option<fn()> = Some(|| std::process::exit(2));
    match launch.by {
        By::Spawn => {
            // The control connection's end says so too; this also covers the moment before there is one.
            let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
            let pin = Pin::Decided(launch.pin);
            let terms = Terms { limits: launch.limits, pin, last_resort, near_stopped: Some(parent_is_stopped) };
            here(&identity, &gate, &terms, &stop)
        }
        By::Ssh => {
            let at = reached_at(std::env::var("SSH_CONNECTION").ok().as_deref())?;
            let terms = Terms { limits: launch.limits, pin: Pin::Choose, last_resort, near_stopped: None };
            from_elsewhere(at, identity, gate, terms, stop)
        }
    }
}

/// For a near side on this host: standard input is one of a pair of sockets whose other one only the near side has, so nobody
/// else can connect, and no name, address or file is needed.
fn here(identity: &Identity, gate: &Gate, terms: &Terms, stop: &Arc<AtomicBool>) -> Result<(), MeetError> {
    let taking = MeetError::io("taking over standard input as the control connection");
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(taking)?;
    let mut channel = Channel::far(socket, identity, Arc::clone(stop))?;
    say(&Waiting { speaker: Speaker::here(), at: None, pin: HEXLOWER.encode(&identity.pin) })?;
    let keys = gate.admit(&mut channel, &|| true)?;
    let outcome = attend(&mut channel, &keys, terms, &mut Path::new(), stop);
    channel.shutdown();
    outcome
}

/// For a near side that came over ssh: it connects to the address that it reached.
fn from_elsewhere(
    at: SocketAddr,
    identity: Identity,
    gate: Gate,
    terms: Terms,
    stop: Arc<AtomicBool>,
) -> Result<(), MeetError> {
    let listener = bind(at)?;
    let at = listener.local_addr().map_err(MeetError::io("asking for the address that is listened at"))?;
    say(&Waiting { speaker: Speaker::here(), at: Some(at), pin: HEXLOWER.encode(&identity.pin) })?;
    let mut outcome = Ok(());
    house::run(House { listener, identity, gate, terms, work: Path::new, stop }, Some(CONNECTS), &mut |seen| {
        let Seen::Ended(_, how) = seen else { return false };
        outcome = how;
        true
    })?;
    outcome
}

/// Whether the process that started this one is stopped (by a signal or a debugger).
fn parent_is_stopped() -> bool {
    let Some(parent) = rustix::process::getppid() else { return false };
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", parent.as_raw_nonzero())).unwrap_or_default();
    // The name in brackets may hold brackets itself; the state follows it.
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['T', 't']))
}

/// What the near side wants, or who it is if it is another version.
fn read(input: &mut dyn BufRead) -> Result<Result<Launch, Speaker>, MeetError> {
    let mut line = String::new();
    input
        .take(STRANGER as u64)
        .read_line(&mut line)
        .map_err(MeetError::io("reading what to do from standard input"))?;
    let strange = |_| {
        MeetError::Protocol(
            "'pipegauge peer' is started by 'pipegauge run' and reads what to do from standard input; use 'pipegauge \
             serve' to wait for another host"
                .into(),
        )
    };
    let speaker: Speaker = serde_json::from_str(&line).map_err(strange)?;
    if speaker.agrees().is_err() {
        return Ok(Err(speaker));
    }
    Ok(Ok(serde_json::from_str(&line).map_err(strange)?))
}

fn say(waiting: &Waiting) -> Result<(), MeetError> {
    let mut line = serde_json::to_string(waiting).map_err(|e| MeetError::Protocol(e.to_string()))?;
    line.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())
        .and_then(|()| out.flush())
        .map_err(MeetError::io("telling the near side where this one waits"))
}

/// The address at which ssh reached this host, with no port: the third word of `SSH_CONNECTION` (client, its port, server, its port).
fn reached_at(connection: Option<&str>) -> Result<SocketAddr, MeetError> {
    let found = || MeetError::NoSshAddress {
        found: connection.map_or("SSH_CONNECTION is not set".into(), |c| format!("SSH_CONNECTION is '{c}'")),
    };
    let address = connection.and_then(|c| c.split_whitespace().nth(2)).ok_or_else(found)?;
    // A link-local address carries its interface behind a '%'.
    let (address, zone) = address.split_once('%').map_or((address, None), |(address, zone)| (address, Some(zone)));
    address.parse().ok().and_then(|ip| zone::socket(ip, 0, zone)).ok_or_else(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::message::{PROTOCOL, VERSION};

    #[test]
    fn ssh_says_where_it_reached_this_host() {
        let v4 = reached_at(Some("192.0.2.7 50000 192.0.2.1 22")).unwrap();
        assert_eq!(v4, "192.0.2.1:0".parse().unwrap());
        let v6 = reached_at(Some("fe80::1%7 50000 fe80::2%7 22")).unwrap();
        assert_eq!(v6, "[fe80::2%7]:0".parse().unwrap());
        for bad in [None, Some(""), Some("a b c d"), Some("fe80::1 1 fe80::2 22"), Some("x 1 fe80::2%nosuch 22")] {
            assert!(reached_at(bad).unwrap_err().to_string().contains("pipegauge serve"));
        }
    }

    #[test]
    fn another_version_is_recognised_whatever_else_it_says() {
        let line = r#"{"pipegauge": 99, "version": "7.0.0", "something": "new"}"#;
        let speaker = read(&mut line.as_bytes()).unwrap().err().expect("another version");
        let text = speaker.agrees().unwrap_err().to_string();
        for part in ["7.0.0", "protocol 99", VERSION, &format!("protocol {PROTOCOL}")] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_is_typed_by_hand_is_explained() {
        for input in ["", "hello\n", "{}\n", &"x".repeat(100_000)] {
            let text = read(&mut input.as_bytes()).err().expect("refused").to_string();
            assert!(text.contains("pipegauge serve"), "{text}");
        }
    }

    #[test]
    fn a_whole_line_is_read() {
        let launch = Launch {
            speaker: Speaker::here(),
            secret: "00".repeat(32),
            by: By::Spawn,
            pin: Some(1),
            cpus: vec![0, 1],
            limits: Limits::own(),
        };
        let line = serde_json::to_string(&launch).unwrap();
        let back = read(&mut line.as_bytes()).unwrap().expect("this version");
        assert_eq!((back.by, back.pin, back.limits), (By::Spawn, Some(1), Limits::own()));
    }
}
