//! Connects the control channel and proves the secret.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use socket2::Socket;

use crate::channel::Channel;
use crate::message::{Greeting, Refusal, Speaker, Welcome};
use crate::secret::{Role, SessionKeys};
use crate::{Key, MeetError};

/// Time for all tries together.
const ALL: Duration = Duration::from_secs(10);
/// Time for one try to become a TCP connection.
const CONNECT: Duration = Duration::from_secs(4);
/// Time from there to the far side's proof.
pub(crate) const GREETING: Duration = Duration::from_secs(5);

/// A channel to the far side at one of `addresses`, both sides proved. `name` is what a person calls it.
pub(crate) fn dial(
    addresses: &[SocketAddr],
    name: &str,
    advice: &'static str,
    key: &Key,
    stop: &Arc<AtomicBool>,
) -> Result<(Channel, SessionKeys), MeetError> {
    let deadline = Instant::now() + ALL;
    loop {
        match connect(addresses, name, advice).and_then(|tcp| greet(tcp, key, GREETING, stop)) {
            // A listener full of strangers drops whoever has been longest at it: try again.
            Err(MeetError::Gone { .. }) if Instant::now() < deadline && !stop.load(Ordering::Relaxed) => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(MeetError::Gone { .. }) if !stop.load(Ordering::Relaxed) => {
                let why = "it closes the connection before it says who it is".to_owned();
                return Err(MeetError::Unreachable { peer: name.into(), why, advice });
            }
            Err(MeetError::Tls(e)) => {
                let why = format!("what answers there does not speak as pipegauge does ({e})");
                return Err(MeetError::Unreachable { peer: name.into(), why, advice });
            }
            other => return other,
        }
    }
}

fn connect(addresses: &[SocketAddr], name: &str, advice: &'static str) -> Result<TcpStream, MeetError> {
    let mut why = "the name has no address of the IP version asked for".to_owned();
    // A second try where nothing answered: a crowd of strangers may have filled the queue of the listener for a while.
    let tries = |address: &SocketAddr| match TcpStream::connect_timeout(address, CONNECT) {
        Err(e) if e.kind() == ErrorKind::TimedOut => TcpStream::connect_timeout(address, CONNECT),
        tried => tried,
    };
    for address in addresses {
        match tries(address) {
            Ok(tcp) => return Ok(tcp),
            Err(e) => why = format!("connecting to {address}: {e}"),
        }
    }
    Err(MeetError::Unreachable { peer: name.into(), why, advice })
}

/// Handshake and both proofs, within `time`.
pub(crate) fn greet(
    socket: impl Into<Socket>,
    key: &Key,
    time: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<(Channel, SessionKeys), MeetError> {
    let deadline = Instant::now() + time;
    let mut channel = Channel::near(socket, key.pin, Arc::clone(stop))?;
    let peer = channel.peer;
    channel.handshake(deadline)?;
    let keys = channel.keys()?;
    let proof = HEXLOWER.encode(&key.secret.tag(Role::Near, &keys.binding));
    channel.send(&Greeting { speaker: Speaker::here(), proof })?;
    let welcome: Welcome = channel.recv(deadline, "waiting for the far side's greeting")?;
    match welcome.refusal {
        None => {}
        Some(Refusal::Secret) => return Err(MeetError::WrongSecret { peer }),
        Some(Refusal::Busy) => return Err(MeetError::Busy { peer }),
        Some(Refusal::Version) => {
            welcome.speaker.agrees()?;
            return Err(MeetError::Protocol("it refuses this version, which is its own".into()));
        }
    }
    welcome.speaker.agrees()?;
    let shown = HEXLOWER.decode(welcome.proof.as_bytes()).unwrap_or_default();
    if !key.secret.verify(Role::Far, &keys.binding, &shown) {
        return Err(MeetError::WrongSecret { peer });
    }
    channel.trust();
    Ok((channel, keys))
}
