//! The real data connections of the far side.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use measure::flows::Sent;
use measure::workspace::Halt;
use measure::{FarReport, Load, Loading, SessionError, TrialSpec, Workspace};
use transport::settings::Effective;
use transport::{Acceptor, Address, AnyLink, Capabilities, Link, LinkError, Patience, Proof, Settings, Transport};

use super::Work;

/// The data connections of the one path that is open at a time, one for each flow, and those of the flows that load it.
pub(crate) struct Path {
    /// Connections of loading flows that have not begun.
    to_load: Vec<AnyLink>,
    /// Loading flows that run.
    loading: Option<Loading>,
    /// Declared, and so dropped, before the acceptor: a link may need what that made.
    links: Vec<AnyLink>,
    acceptor: Option<Acceptor>,
    proof: Proof,
    /// What ends a trial early; each flow's workspace has it, too.
    halt: Arc<AtomicBool>,
    workspaces: Vec<Workspace>,
    cpus: Vec<u32>,
}

impl Path {
    pub(crate) fn new() -> Self {
        Self {
            to_load: Vec::new(),
            loading: None,
            links: Vec::new(),
            acceptor: None,
            proof: Proof::none(),
            halt: Arc::default(),
            workspaces: Vec::new(),
            cpus: Vec::new(),
        }
    }
}

impl Path {
    fn halt(&self) -> Halt {
        Workspace::new(false).halted_by(Arc::clone(&self.halt)).halt()
    }
}

impl Work for Path {
    fn place(&mut self, cpus: &[u32]) {
        self.cpus = cpus.to_vec();
    }

    fn listen(
        &mut self,
        transport: &'static dyn Transport,
        settings: &Settings,
        at: SocketAddr,
        patience: &Patience,
    ) -> Result<Address, LinkError> {
        self.close();
        self.halt = patience.flag();
        let acceptor = transport.listen(settings, at, patience)?;
        let address = acceptor.address();
        self.acceptor = Some(acceptor);
        Ok(address)
    }

    fn accept(&mut self, proof: Proof) -> Result<(Effective, Capabilities), LinkError> {
        let acceptor = self.acceptor.as_mut().ok_or_else(nothing_open)?;
        let link = acceptor.accept(&proof)?;
        let found = (link.effective(), link.capabilities());
        self.links.push(link);
        self.workspaces.push(Workspace::new(false).halted_by(Arc::clone(&self.halt)));
        self.proof = proof;
        Ok(found)
    }

    fn accept_loading(&mut self, proof: Proof) -> Result<(), LinkError> {
        let acceptor = self.acceptor.as_mut().ok_or_else(nothing_open)?;
        self.to_load.push(acceptor.accept(&proof)?);
        Ok(())
    }

    fn load(&mut self, load: &Load, cpus: &[u32], patience: Duration) -> Result<(), SessionError> {
        if self.to_load.is_empty() {
            return Err(nothing_open().into());
        }
        let links = std::mem::take(&mut self.to_load);
        let loading = Loading::begin(links, load, false, cpus, &self.halt())?;
        self.loading.insert(loading).under_way(patience)
    }

    fn loaded(&mut self) -> Result<u64, SessionError> {
        let Some(loading) = &mut self.loading else { return Ok(0) };
        loading.check()?;
        Ok(loading.received())
    }

    fn unload(&mut self) {
        self.loading = None;
        self.to_load.clear();
    }

    fn trial(&mut self, spec: &TrialSpec, sent: Sent<'_>) -> Result<Vec<FarReport>, SessionError> {
        let halt = self.halt();
        if let Some(anew) = &spec.pattern.facts().anew {
            // The first connection only showed what took effect.
            self.links.clear();
            let acceptor = self.acceptor.as_mut().ok_or_else(nothing_open)?;
            return Ok(vec![(anew.far)(acceptor, &self.proof, spec, &halt)?]);
        }
        if self.links.is_empty() {
            return Err(nothing_open().into());
        }
        measure::flows::far(&mut self.links, spec, &mut self.workspaces, &self.cpus, &halt, sent)
    }

    fn close(&mut self) {
        self.unload();
        self.links.clear();
        self.workspaces.clear();
        self.acceptor = None;
    }
}

fn nothing_open() -> LinkError {
    LinkError::Protocol("a trial was asked for with no data connection open".into())
}
