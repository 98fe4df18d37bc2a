//! TLS 1.3 over TCP: what encryption costs a path.
//!
//! Both sides are rustls with the algorithms of *ring*. The far side's certificate is made when it begins to listen. Nobody checks whose it
//! is: as on every path, the proof says that the other end belongs to this measurement. It goes ahead of the handshake, unencrypted, so that
//! strangers are turned away without one; the far side's proof is the first message of the session.

pub mod certificate;
mod duct;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, ClientConfig, ServerConfig, ServerConnection, SupportedCipherSuite};

use crate::ip_stream::{OverIp, Sessions, Streams};
use crate::meet::{Made, far_shown};
use crate::options::{Answer, Form};
use crate::stream::Stream;
use crate::tcp::{self, Tcps};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Proof, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("tls");

/// The transport.
pub static TRANSPORT: Streams<TlsOverTcp> = Streams::new();

/// TLS between two processes of one host or two.
#[derive(Debug)]
pub struct TlsOverTcp;

/// One end of a TLS session.
pub type Tls = Stream<duct::Tls>;

/// Cipher suites by the words of the option, the default first.
const SUITES: [(&str, CipherSuite); 3] = [
    ("aes256-gcm", CipherSuite::TLS13_AES_256_GCM_SHA384),
    ("aes128-gcm", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("chacha20-poly1305", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
];

/// Which algorithms encrypt.
pub(crate) const SUITE: OptionSpec = OptionSpec {
    name: "suite",
    flag: None,
    form: Form::OneOf(&[SUITES[0].0, SUITES[1].0, SUITES[2].0]),
    default: SUITES[0].0,
    help: "cipher suite of TLS 1.3",
    answers: &[Answer { part: "", of: |e| e.options.get("suite").cloned() }],
    steers: false,
    moved: None,
};

static OPTIONS: [OptionSpec; 7] = {
    let [sockbuf, nodelay, mss, congestion, family, wait] = tcp::OPTIONS;
    [SUITE, sockbuf, nodelay, mss, congestion, family, wait]
};

fn capabilities() -> Capabilities {
    Capabilities { queued: false, ..Tcps::can() }
}

fn suite_name(suite: SupportedCipherSuite) -> Option<&'static str> {
    SUITES.iter().find(|(_, known)| *known == suite.suite()).map(|(name, _)| *name)
}

/// The suite that is asked for.
pub(crate) fn suite_asked(settings: &Settings) -> &str {
    settings.text("suite").unwrap_or(SUITES[0].0)
}

/// The algorithms, with the suite that is asked for alone.
pub(crate) fn provider(settings: &Settings) -> CryptoProvider {
    let asked = suite_asked(settings);
    let mut provider = certificate::provider();
    provider.cipher_suites.retain(|suite| suite_name(*suite) == Some(asked));
    provider
}

fn bad(e: rustls::Error) -> LinkError {
    LinkError::io("setting up TLS", std::io::Error::other(e))
}

impl OverIp for TlsOverTcp {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "TLS 1.3 over TCP";
    const SPOKEN: &'static [&'static str] =
        &["tls", "ssl", "tls socket", "tls connection", "encrypted tcp", "tls over tcp"];
    const OPTIONS: &'static [OptionSpec] = &OPTIONS;
    const WAITS: &'static [Wait] = Tcps::WAITS;

    fn can() -> Capabilities {
        capabilities()
    }
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
        Tcps::before(fd, settings)
    }
}

/// A session over an accepted socket.
fn far(fd: OwnedFd, made: &Made, config: &Arc<ServerConfig>) -> Result<Tls, LinkError> {
    let session = ServerConnection::new(Arc::clone(config)).map_err(bad)?;
    Tls::over(tcp::socket(fd, made)?, session.into(), &made.patience)
}

/// A session over a connected socket, ahead of which the near proof goes. The far one is due.
fn near(fd: OwnedFd, made: &Made, config: &Arc<ClientConfig>, proof: &Proof) -> Result<Tls, LinkError> {
    let mut plain = Stream::new(tcp::socket(fd, made)?, &made.patience);
    plain.send(&proof.near)?;
    let session = certificate::session(config).map_err(bad)?;
    Tls::over(plain.into_duct(), session.into(), &made.patience)
}

impl Sessions for TlsOverTcp {
    type Far = Arc<ServerConfig>;
    type Near = Arc<ClientConfig>;

    fn far_side(settings: &Settings) -> Result<Self::Far, LinkError> {
        Ok(Arc::new(certificate::server(provider(settings)).map_err(bad)?.0))
    }
    fn near_side(settings: &Settings) -> Result<Self::Near, LinkError> {
        Ok(Arc::new(certificate::client(provider(settings), Box::new(|_| true)).map_err(bad)?))
    }
    fn accepted(fd: OwnedFd, made: &Made, proof: &Proof, config: &Self::Far) -> Result<AnyLink, LinkError> {
        let mut link = far(fd, made, config)?;
        link.send(&proof.far)?;
        Ok(AnyLink::new(link.watched()?))
    }
    fn connected(fd: OwnedFd, made: &Made, proof: &Proof, config: &Self::Near) -> Result<AnyLink, LinkError> {
        let mut link = near(fd, made, config, proof)?;
        far_shown(&mut link, proof)?;
        Ok(AnyLink::new(link.watched()?))
    }
    fn answers(
        fd: OwnedFd,
        made: &Made,
        config: &Self::Far,
        proof: &Proof,
        request: &mut [u8],
        response: &[u8],
    ) -> Result<(), LinkError> {
        let mut link = far(fd, made, config)?;
        link.recv(request)?;
        // One record where it fits.
        link.send(&[&proof.far[..], response].concat())?;
        link.recv_end()
    }
    fn asks(
        fd: OwnedFd,
        made: &Made,
        config: &Self::Near,
        proof: &Proof,
        request: &[u8],
        response: &mut [u8],
    ) -> Result<(), LinkError> {
        let mut link = near(fd, made, config, proof)?;
        link.send(request)?;
        far_shown(&mut link, proof)?;
        link.recv(response)
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::{Patience, Transport, ip};

    /// Both ends of a session, or why there is none.
    fn pair(near: &Settings, far: &Settings) -> (Result<AnyLink, LinkError>, Result<AnyLink, LinkError>) {
        let at = "127.0.0.1:0".parse().unwrap();
        let patience = Patience::default();
        let proof = Proof { near: [7; 32], far: [8; 32] };
        let mut door = TRANSPORT.listen(far, at, &patience).unwrap();
        let mut way = TRANSPORT.dial(near, &door.address(), at, &patience).unwrap();
        std::thread::scope(|s| {
            let far = s.spawn(|| door.accept(&proof));
            let near = way.connect(&proof);
            (near, far.join().unwrap())
        })
    }

    #[test]
    fn the_suite_that_is_asked_for_is_the_one_in_use() {
        for (name, _) in SUITES {
            let asked = Settings::default().with("suite", name);
            let (near, far) = pair(&asked, &asked);
            for end in [near.unwrap(), far.unwrap()] {
                assert_eq!(end.effective().options.get("suite").map(String::as_str), Some(name));
                assert!(end.effective().mss.is_some());
            }
        }
        let (near, _) = pair(&Settings::default(), &Settings::default());
        assert_eq!(near.unwrap().effective().options["suite"], SUITES[0].0);
    }

    #[test]
    fn ends_without_a_common_suite_say_so() {
        let [one, other] = [1, 2].map(|i| Settings::default().with("suite", SUITES[i].0));
        let (near, far) = pair(&one, &other);
        let far = far.unwrap_err().to_string();
        assert!(far.contains("TLS") && far.contains("NoCipherSuitesInCommon"), "{far}");
        assert!(near.is_err());
    }

    #[test]
    fn what_travels_is_not_what_was_sent() {
        use std::io::{Read, Write};
        // A relay between both ends that keeps what passes.
        let patience = Patience::default();
        let at: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let proof = Proof { near: [7; 32], far: [8; 32] };
        let settings = Settings::default().with("wait", Wait::Block);
        let mut door = TRANSPORT.listen(&settings, at, &patience).unwrap();
        let to = ip::door(&door.address(), at, &settings).unwrap();
        let relay = std::net::TcpListener::bind(at).unwrap();
        let mut way = TRANSPORT.dial(&settings, &ip::told(relay.local_addr().unwrap()), at, &patience).unwrap();
        let message = b"these words are in no packet".repeat(100);
        let passed = std::thread::scope(|s| {
            let carried = s.spawn(move || {
                let (mut near, _) = relay.accept().unwrap();
                let mut far = std::net::TcpStream::connect(to).unwrap();
                let (mut back, mut out) = (far.try_clone().unwrap(), near.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut back, &mut out));
                let (mut all, mut part) = (Vec::new(), [0; 4096]);
                while let Ok(n @ 1..) = near.read(&mut part) {
                    all.extend_from_slice(&part[..n]);
                    if far.write_all(&part[..n]).is_err() {
                        break;
                    }
                }
                all
            });
            let sent = s.spawn(|| {
                let mut near = way.connect(&proof).unwrap();
                near.send(&message).unwrap();
                near.recv(&mut [0]).unwrap();
            });
            let mut far = door.accept(&proof).unwrap();
            let mut got = vec![0; message.len()];
            far.recv(&mut got).unwrap();
            assert_eq!(got, message);
            far.send(&[1]).unwrap();
            sent.join().unwrap();
            carried.join().unwrap()
        });
        assert!(passed.len() > message.len());
        assert!(!passed.windows(11).any(|w| w == b"these words"));
    }
}
