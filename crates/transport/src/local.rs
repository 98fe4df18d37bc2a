//! How two processes of one host come to a link: they meet at a UNIX socket in a directory that only its owner may enter.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::net::SocketType;

use crate::door::Door;
use crate::meet::Made;
use crate::meet::{self, Place};
use crate::port::{Accept, Acceptor, Address, Connect, Connector, NO_TRANSACTIONS, Transport};
use crate::stream::{Socket, Stream};
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Patience, Proof, Settings, Wait};

/// The wait modes of what waits in the kernel, the default first.
pub(crate) const WAITS: [Wait; 2] = [Wait::Block, Wait::Spin];

/// Their names.
pub(crate) const WAIT_NAMES: &[&str] = &[Wait::Block.name(), Wait::Spin.name()];

/// A transport of one host whose processes meet at a UNIX socket: what it is, and what it makes of a connected one.
pub(crate) trait Local: Copy + Send + Sync + 'static {
    /// As [`Transport::name`].
    const NAME: Name;
    /// As [`Transport::summary`].
    const SUMMARY: &'static str;
    /// As [`Transport::spoken`].
    const SPOKEN: &'static [&'static str];
    /// As [`Transport::options`].
    const OPTIONS: &'static [OptionSpec];
    /// The wait modes that it knows, the default first.
    const WAITS: &'static [Wait] = &WAITS;
    /// What meets.
    const TYPE: SocketType = SocketType::STREAM;
    /// The link of one transaction, where it makes such.
    const ONCE: Option<Once> = None;
    /// As [`Transport::capabilities`].
    fn can(settings: &Settings) -> Capabilities;
    /// Whether what it needs besides a meeting place can be had here.
    fn needs() -> Result<(), LinkError> {
        Ok(())
    }
    /// The far side's link over `fd`, connected at `at`, once the near proof was seen; sends the far one.
    fn far(fd: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError>;
    /// The near side's link; shows the near proof and waits for the far one.
    fn near(fd: OwnedFd, at: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError>;
}

/// How the link of one transaction is made.
pub(crate) type Once = fn(OwnedFd, &Made) -> Result<Stream<Socket>, LinkError>;

impl<L: Local> Transport for L {
    fn name(&self) -> Name {
        L::NAME
    }
    fn summary(&self) -> &'static str {
        L::SUMMARY
    }
    fn spoken(&self) -> &'static [&'static str] {
        L::SPOKEN
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        L::can(settings)
    }
    fn availability(&self) -> Result<(), LinkError> {
        L::needs()?;
        Place::new(L::TYPE).map(drop)
    }
    fn options(&self) -> &'static [OptionSpec] {
        L::OPTIONS
    }
    fn listen(&self, settings: &Settings, _: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        let made = Made::new(L::WAITS, settings, patience)?;
        let (place, listener) = Place::new(L::TYPE)?;
        Ok(Box::new(Listener::<L> { door: Door::new(listener, L::TYPE, patience)?, place, made, of: PhantomData }))
    }
    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        _: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        let made = Made::new(L::WAITS, settings, patience)?;
        let text = address.text()?;
        if !text.starts_with('/') {
            let text = units::received::clean(text, 40);
            return Err(LinkError::Protocol(format!("it offered '{text}' where a path is due")));
        }
        Ok(Box::new(Dialler::<L> { at: text.into(), made, of: PhantomData }))
    }
}

struct Listener<L> {
    of: PhantomData<L>,
    door: Door,
    place: Place,
    made: Made,
}

impl<L: Local> Accept for Listener<L> {
    fn address(&self) -> Address {
        Address::new(self.place.path.display().to_string())
    }
    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let fd = self.door.accept(&proof.near)?;
        L::far(fd, &self.place.path, &self.made, proof)
    }
    fn transaction(&mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        let once = L::ONCE.ok_or(NO_TRANSACTIONS)?;
        once(self.door.accept(&proof.near)?, &self.made)?.answer_once(proof, request, response)
    }
}

struct Dialler<L> {
    of: PhantomData<L>,
    at: PathBuf,
    made: Made,
}

impl<L: Local> Connect for Dialler<L> {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        L::near(meet::connect(&self.at, L::TYPE)?, &self.at, &self.made, proof)
    }
    fn transaction(&mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        let once = L::ONCE.ok_or(NO_TRANSACTIONS)?;
        once(meet::connect(&self.at, L::TYPE)?, &self.made)?.ask_once(proof, request, response)
    }
}
