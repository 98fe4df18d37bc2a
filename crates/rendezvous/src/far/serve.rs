//! `pipegauge serve`: a far side that waits for another host.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use data_encoding::HEXLOWER;
use transport::tls::certificate;

use super::attendant::{self, Ended, Handed};
use super::serving::ServeEvent;
use crate::secret::{Secret, sha256};
use crate::{Key, Limits, MeetError};

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address to listen at; no other is used, for control or data.
    pub bind: IpAddr,
    /// Port; 0 takes a free one.
    pub port: u16,
    /// Serve one measurement after another, all with the same key, until stopped. Without it the key is burnt by its
    /// first use and serving ends with the first measurement.
    pub keep: bool,
    /// What a peer may ask for.
    pub limits: Limits,
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// As the process that measured says with this exit code, and said in words.
    Ended(u8),
    /// That process was lost, which was announced, and there is no other measurement.
    Lost,
}

/// Serves as `options` say and tells what happens. A process of its own, `attending`, lets near sides in and measures ([`crate::attendant`]):
/// what a module does to it ends one measurement. Without `keep` it returns with the first measurement's end; with `keep` only `stop` ends it,
/// and a process that is lost is replaced. What the process sees it announces by itself.
///
/// # Errors
/// The address can't be listened at, or the process can't be started.
pub fn serve(
    options: &ServeOptions,
    stop: &AtomicBool,
    announce: &mut dyn FnMut(ServeEvent),
    attending: &mut dyn FnMut() -> Command,
) -> Result<Served, MeetError> {
    let listener = bind(SocketAddr::new(options.bind, options.port))?;
    let addr = listener.local_addr().map_err(MeetError::io("asking for the address that is listened at"))?;
    let (certificate, private) = certificate::fresh()?;
    let secret = Secret::fresh()?;
    let handed = Handed {
        secret: HEXLOWER.encode(secret.bytes()),
        certificate: HEXLOWER.encode(&certificate),
        key: HEXLOWER.encode(&private),
        keep: options.keep,
        limits: options.limits,
    };
    announce(ServeEvent::Listening { addr, key: Key { pin: sha256(&certificate), secret } });
    loop {
        match stop.load(Ordering::Relaxed) {
            true if options.keep => return Ok(Served::Ended(0)),
            true => return Err(MeetError::Interrupted),
            false => {}
        }
        let (how, peer) = match attendant::run(attending(), &listener, &handed, stop)? {
            Ended::ByItself(code) => return Ok(Served::Ended(code)),
            Ended::Lost(how, peer) => (how, peer),
        };
        if let Some(peer) = peer {
            announce(ServeEvent::Ended { peer, how });
        } else {
            // Another would fare no better.
            return Err(MeetError::Attendant(how));
        }
        if !options.keep {
            return Ok(Served::Lost);
        }
    }
}

pub(crate) fn bind(at: SocketAddr) -> Result<TcpListener, MeetError> {
    TcpListener::bind(at).map_err(|source| match source.kind() {
        ErrorKind::AddrInUse => MeetError::PortInUse { bind: at.ip(), port: at.port() },
        _ => MeetError::Bind { at, source },
    })
}
