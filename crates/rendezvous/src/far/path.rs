//! The real data connection of the far side.

use std::net::SocketAddr;

use measure::{Buffers, FarReport, SessionError, TrialSpec};
use transport::settings::Effective;
use transport::{Acceptor, Address, AnyLink, Capabilities, Link, LinkError, Patience, Proof, Settings, Transport};

use super::Work;

/// The one data connection that is open at a time.
pub(crate) struct Path {
    /// Declared, and so dropped, before the door: a link may need what the door made.
    link: Option<AnyLink>,
    door: Option<Acceptor>,
    proof: Proof,
    buffers: Buffers,
}

impl Path {
    pub(crate) fn new() -> Self {
        Self { link: None, door: None, proof: Proof::none(), buffers: Buffers::new(false) }
    }
}

impl Work for Path {
    fn door(
        &mut self,
        transport: &'static dyn Transport,
        settings: &Settings,
        at: SocketAddr,
        patience: &Patience,
    ) -> Result<Address, LinkError> {
        self.close();
        // Fresh memory for each block: where it lies is one of the things that differ between runs.
        self.buffers = Buffers::new(false).halted_by(patience.flag());
        let door = transport.listen(settings, at, patience)?;
        let address = door.address();
        self.door = Some(door);
        Ok(address)
    }

    fn accept(&mut self, proof: Proof) -> Result<(Effective, Capabilities), LinkError> {
        let door = self.door.as_mut().ok_or_else(nothing_open)?;
        let link = door.accept(&proof)?;
        let found = (link.effective(), link.capabilities());
        self.link = Some(link);
        self.proof = proof;
        Ok(found)
    }

    fn trial(&mut self, spec: &TrialSpec) -> Result<FarReport, SessionError> {
        if let Some(anew) = &spec.pattern.facts().anew {
            // The first connection only showed what took effect.
            self.link = None;
            let door = self.door.as_mut().ok_or_else(nothing_open)?;
            return (anew.far)(door, &self.proof, spec, &self.buffers.halt());
        }
        let link = self.link.as_mut().ok_or_else(nothing_open)?;
        measure::far::trial(link, spec, &mut self.buffers)
    }

    fn close(&mut self) {
        self.link = None;
        self.door = None;
        self.buffers = Buffers::new(false);
    }
}

fn nothing_open() -> LinkError {
    LinkError::Protocol("a trial was asked for with no data connection open".into())
}
