//! How the two sides of a WebSocket connection come together.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use tungstenite::handshake::HandshakeRole;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, HandshakeError};

use super::duct::{Facts, Framed, Plug, Websocket};
use super::{NAME, OPTIONS, SPOKEN, SUMMARY, capabilities};
use crate::ip_stream::{OverIp, Sessions};
use crate::meet::{Made, far_shown};
use crate::patience::LOOK;
use crate::stream::Stream;
use crate::sys::{self, Idle};
use crate::tcp::{self, Tcps};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Proof, Settings, Wait};

/// WebSocket between two processes of one host or two.
#[derive(Debug)]
pub struct WebSocketOverTcp;

/// What the library reads at a time, where nobody says otherwise.
const BUFFER: u64 = 128 << 10;

/// What the client asks for; nobody looks at it.
const URL: &str = "ws://pipegauge/";

/// What a side does that waits for the other's part of the handshake.
const SHAKING: &str = "the WebSocket handshake";

impl OverIp for WebSocketOverTcp {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = SUMMARY;
    const SPOKEN: &'static [&'static str] = SPOKEN;
    const OPTIONS: &'static [OptionSpec] = &OPTIONS;
    const WAITS: &'static [Wait] = Tcps::WAITS;

    fn can() -> Capabilities {
        capabilities()
    }
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
        Tcps::before(fd, settings)
    }
}

/// Goes through a handshake to its end.
fn shaken<R: HandshakeRole>(
    mut outcome: Result<R::FinalResult, HandshakeError<R>>,
    made: &Made,
) -> Result<R::FinalResult, LinkError> {
    let mut idle = Idle::default();
    loop {
        match outcome {
            Ok(done) => return Ok(done),
            Err(HandshakeError::Interrupted(mid)) => {
                match made.wait {
                    Wait::Spin => idle.spun(&made.patience, SHAKING)?,
                    _ => idle.waited(&made.patience, SHAKING, LOOK)?,
                }
                outcome = mid.handshake();
            }
            Err(HandshakeError::Failure(Error::Io(e))) => {
                return Err(sys::fault(Errno::from_io_error(&e).unwrap_or(Errno::PROTO), SHAKING));
            }
            Err(HandshakeError::Failure(e)) => return Err(LinkError::Protocol(format!("WebSocket: {e}"))),
        }
    }
}

/// A connection after its handshake, in which this side is the one or the other.
fn over(socket: crate::stream::Socket, made: &Made, near: bool) -> Result<Websocket, LinkError> {
    let settings = &made.settings;
    let client = if settings.text("client") == Some("far") { "far" } else { "near" };
    let frame = settings.whole("frame").map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let facts = Facts { client, frame, buffer: settings.whole("buffer").unwrap_or(BUFFER) };
    let config = WebSocketConfig::default()
        .read_buffer_size(usize::try_from(facts.buffer).unwrap_or(usize::MAX))
        // Each message leaves at once.
        .write_buffer_size(0);
    let plug = Plug::new(socket);
    let socket = if (client == "near") == near {
        shaken(tungstenite::client::client_with_config(URL, plug, Some(config)), made)?.0
    } else {
        shaken(tungstenite::accept_with_config(plug, Some(config)), made)?
    };
    let framed = Framed::new(socket, facts).map_err(|e| LinkError::io("copying a socket's descriptor", e))?;
    Ok(Stream::new(framed, &made.patience))
}

/// The far side's end of an accepted socket.
fn far(fd: OwnedFd, made: &Made) -> Result<Websocket, LinkError> {
    over(tcp::socket(fd, made)?, made, false)
}

/// The near side's end of a connected socket, ahead of which the near proof goes. The far one is due.
fn near(fd: OwnedFd, made: &Made, proof: &Proof) -> Result<Websocket, LinkError> {
    let mut plain = Stream::new(tcp::socket(fd, made)?, &made.patience);
    plain.send(&proof.near)?;
    over(plain.into_duct(), made, true)
}

/// As that of a plain stream.
fn watched(mut link: Websocket) -> Result<AnyLink, LinkError> {
    link.with_duct(|framed, patience| framed.socket_mut().watch(patience))?;
    Ok(AnyLink::new(link))
}

impl Sessions for WebSocketOverTcp {
    type Far = ();
    type Near = ();

    fn far_side(_: &Settings) -> Result<(), LinkError> {
        Ok(())
    }
    fn near_side(_: &Settings) -> Result<(), LinkError> {
        Ok(())
    }
    fn accepted(fd: OwnedFd, made: &Made, proof: &Proof, (): &()) -> Result<AnyLink, LinkError> {
        let mut link = far(fd, made)?;
        link.send(&proof.far)?;
        watched(link)
    }
    fn connected(fd: OwnedFd, made: &Made, proof: &Proof, (): &()) -> Result<AnyLink, LinkError> {
        let mut link = near(fd, made, proof)?;
        far_shown(&mut link, proof)?;
        watched(link)
    }
    fn answers(
        fd: OwnedFd,
        made: &Made,
        (): &(),
        proof: &Proof,
        request: &mut [u8],
        response: &[u8],
    ) -> Result<(), LinkError> {
        let mut link = far(fd, made)?;
        link.recv(request)?;
        link.send(&proof.far)?;
        link.send(response)?;
        link.recv_end()
    }
    fn asks(
        fd: OwnedFd,
        made: &Made,
        (): &(),
        proof: &Proof,
        request: &[u8],
        response: &mut [u8],
    ) -> Result<(), LinkError> {
        let mut link = near(fd, made, proof)?;
        link.send(request)?;
        far_shown(&mut link, proof)?;
        link.recv(response)?;
        link.close()
    }
}
