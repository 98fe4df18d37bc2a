//! A far side whose links are real and of which a test changes one step: what it accepts, loads, runs or reports.

use std::time::Duration;

use measure::Load;

use super::*;
use crate::far::path::Path;

type Accepted = Result<(Effective, Capabilities), LinkError>;
type Reports = Result<Vec<FarReport>, SessionError>;

/// A real far side's work; each step is its own unless a test puts another in its place.
pub(super) struct Double {
    pub path: Path,
    pub accept: fn(&mut Path, Proof) -> Accepted,
    pub load: fn(&mut Path, &Load, &[u32], Duration) -> Result<(), SessionError>,
    /// Is told how often it was asked before.
    pub loaded: fn(&mut Path, u64) -> Result<u64, SessionError>,
    pub asked: u64,
    pub trial: fn(&mut Path, &TrialSpec, Sent<'_>) -> Reports,
}

impl Double {
    pub fn new() -> Self {
        Self {
            path: Path::new(),
            accept: Path::accept,
            load: Path::load,
            loaded: |path, _| path.loaded(),
            asked: 0,
            trial: Path::trial,
        }
    }
}

impl Work for Double {
    fn listen(&mut self, of: Known, s: &Settings, at: SocketAddr, patience: &Patience) -> Result<Address, LinkError> {
        self.path.listen(of, s, at, patience)
    }
    fn accept(&mut self, proof: Proof) -> Accepted {
        (self.accept)(&mut self.path, proof)
    }
    fn accept_loading(&mut self, proof: Proof) -> Result<(), LinkError> {
        self.path.accept_loading(proof)
    }
    fn load(&mut self, load: &Load, cpus: &[u32], patience: Duration) -> Result<(), SessionError> {
        (self.load)(&mut self.path, load, cpus, patience)
    }
    fn loaded(&mut self) -> Result<u64, SessionError> {
        self.asked += 1;
        (self.loaded)(&mut self.path, self.asked - 1)
    }
    fn unload(&mut self) {
        self.path.unload();
    }
    fn trial(&mut self, spec: &TrialSpec, sent: Sent<'_>) -> Reports {
        (self.trial)(&mut self.path, spec, sent)
    }
    fn close(&mut self) {
        self.path.close();
    }
}
