//! `pipegauge peer`, the hidden command: a far side that a near side has started, here or over ssh.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use data_encoding::HEXLOWER;

use crate::far::attend::attend;
use crate::far::listener::{self, Attend, Happened, Listener};
use crate::far::path::Path;
use crate::far::serve::bind;
use crate::far::{Pin, Terms};
use crate::message::{By, Speaker, Waiting};
use crate::started::{self, LAST_RESORT, Lent, Started, say};
use crate::{MeetError, zone};

/// Time for the near side to connect after it was told where.
const CONNECTS: Duration = Duration::from_secs(30);

/// Serves the one measurement of the near side that started this process: reads a line from standard input, answers one
/// line on standard output, and returns when the near side says goodbye, or with an error when it goes away.
pub fn peer(stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    does(Started::read()?, stop)
}

/// The same by streams that were lent.
pub(crate) fn lent(lent: Lent, stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    does(Started::read_of(Some(lent))?, stop)
}

fn does(started: Started, stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    match started.launch.by {
        By::Spawn => started.here(&stop, |channel, keys, terms| attend(channel, keys, terms, &mut Path::new(), &stop)),
        By::Ssh => elsewhere(
            started,
            Box::new(|channel, keys, terms, stop| attend(channel, keys, terms, &mut Path::new(), stop)),
            stop,
        ),
    }
}

/// For who came over ssh: it connects to the address that it reached, or to any, and is attended to.
pub(crate) fn elsewhere(started: Started, attend: Box<Attend>, stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    let Started { launch, gate, identity, .. } = started;
    started::ends_with_ssh(&stop)?;
    let at = if launch.anywhere { anywhere() } else { reached_at(std::env::var("SSH_CONNECTION").ok().as_deref())? };
    let listener = bind(at)?;
    let at = listener.local_addr().map_err(MeetError::io("asking for the address that is listened at"))?;
    say(&Waiting { speaker: Speaker::here(), at: Some(at), pin: HEXLOWER.encode(&identity.pin) })?;
    let pin = Pin::Choose;
    let terms = Terms {
        limits: launch.limits,
        pin,
        last_resort: LAST_RESORT,
        listen_at: None,
        near_stopped: None,
        error: None,
    };
    let mut outcome = Ok(());
    listener::run(Listener { socket: listener, identity, gate, terms, attend, stop }, Some(CONNECTS), &mut |seen| {
        let Happened::Ended(_, how) = seen else { return false };
        outcome = how;
        true
    })?;
    outcome
}

/// All addresses, of both IP versions where there are both.
fn anywhere() -> SocketAddr {
    let all = |ip: IpAddr| SocketAddr::new(ip, 0);
    let both = all(Ipv6Addr::UNSPECIFIED.into());
    if bind(both).is_ok() { both } else { all(Ipv4Addr::UNSPECIFIED.into()) }
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
    use crate::message::{Launch, PROTOCOL, VERSION};
    use crate::started::read;

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
        let speaker = read(line).unwrap().err().expect("another version");
        let text = speaker.agrees().unwrap_err().to_string();
        for part in ["7.0.0", "protocol 99", VERSION, &format!("protocol {PROTOCOL}")] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_is_typed_by_hand_is_explained() {
        for input in ["", "hello\n", "{}\n", &"x".repeat(100_000)] {
            let text = read(input).err().expect("refused").to_string();
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
            listen_at: None,
            anywhere: false,
        };
        let line = serde_json::to_string(&launch).unwrap();
        let back = read(&line).unwrap().expect("this version");
        assert_eq!((back.by, back.pin, back.limits), (By::Spawn, Some(1), Limits::own()));
    }
}
