//! How two sides come together: as those of UDP, then by a handshake.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use quinn_proto::{ClientConfig, ServerConfig};
use rustix::net::SocketType;

use super::config::{self, WINDOW};
use super::link::Quic;
use super::pump::Pump;
use super::sockets::Plug;
use super::{CONTROLS, MODES, NAME, OPTIONS, SPOKEN, SUMMARY, by_datagrams, capabilities};
use crate::greet::{self, DatagramDoor};
use crate::ip::{self, busy_poll};
use crate::meet::Made;
use crate::options::LOSS_TIMEOUT;
use crate::port::{Accept, Acceptor, Address, Connect, Connector, Transport};
use crate::udp::Greeting;
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Patience, Proof, Settings, Wait, tls};

/// The transport.
pub static TRANSPORT: QuicOverUdp = QuicOverUdp;

/// QUIC between two processes of one host or two.
#[derive(Debug)]
pub struct QuicOverUdp;

impl Transport for QuicOverUdp {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        SUMMARY
    }
    fn spoken(&self) -> &'static [&'static str] {
        SPOKEN
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        capabilities(settings)
    }
    fn availability(&self) -> Result<(), LinkError> {
        ip::availability(SocketType::DGRAM)
    }
    fn reaches_itself(&self) -> Result<(), LinkError> {
        ip::reaches_itself()
    }
    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }
    fn listens_to(&self, settings: &Settings, option: &str) -> bool {
        option != LOSS_TIMEOUT.name || by_datagrams(settings)
    }
    fn listen(&self, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        let made = Made::new(&ip::WAITS, settings, patience)?;
        let door = DatagramDoor::new(ip::beside(at, settings)?, settings)?;
        Ok(Box::new(Listener { door, config: config::server(settings, patience)?, made }))
    }
    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        peer: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        let made = Made::new(&ip::WAITS, settings, patience)?;
        let to = ip::door(address, peer, settings)?;
        Ok(Box::new(Dialler { to, config: config::client(settings, patience)?, made }))
    }
}

/// A connected socket, ready for use.
fn plug(fd: OwnedFd, peer: SocketAddr, made: &Made) -> Result<Plug, LinkError> {
    if made.wait == Wait::BusyPoll {
        busy_poll(fd.as_fd())?;
    }
    Plug::new(fd, peer)
}

fn window(settings: &Settings) -> u64 {
    settings.whole("window").unwrap_or(WINDOW)
}

/// What took effect that nobody else says.
fn known(settings: &Settings, plug: &Plug) -> Vec<(&'static str, String)> {
    let offload = match settings.switch("offload") {
        Some(false) => "off",
        _ if plug.cuts() => "on",
        _ => "not by this kernel",
    };
    vec![
        ("mode", MODES[usize::from(by_datagrams(settings))].to_owned()),
        ("control", settings.text("control").unwrap_or(CONTROLS[0]).to_owned()),
        ("window", window(settings).to_string()),
        ("offload", offload.to_owned()),
        ("suite", tls::suite_asked(settings).to_owned()),
    ]
}

struct Listener {
    door: DatagramDoor,
    config: Arc<ServerConfig>,
    made: Made,
}

impl Accept for Listener {
    fn address(&self) -> Address {
        ip::told(self.door.at)
    }
    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let Made { settings, patience, .. } = &self.made;
        let (fd, peer) = self.door.accept(proof, settings, patience)?;
        let plug = plug(fd, peer, &self.made)?;
        let known = known(settings, &plug);
        let greeting = Greeting { theirs: proof.near, answer: Some(proof.far) };
        let pump = Pump::far(plug, Arc::clone(&self.config), greeting, window(settings).saturating_mul(8))?;
        Ok(AnyLink::new(Quic::open(pump, false, proof, &self.made, known)?))
    }
}

struct Dialler {
    to: SocketAddr,
    config: ClientConfig,
    made: Made,
}

impl Connect for Dialler {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let Made { settings, patience, .. } = &self.made;
        let fd = greet::connect(self.to, settings)?;
        greet::greet(fd.as_fd(), self.to, proof, patience)?;
        let plug = plug(fd, self.to, &self.made)?;
        let known = known(settings, &plug);
        let greeting = Greeting { theirs: proof.far, answer: None };
        let pump = Pump::near(plug, self.config.clone(), greeting, window(settings).saturating_mul(8))?;
        Ok(AnyLink::new(Quic::open(pump, true, proof, &self.made, known)?))
    }
}
