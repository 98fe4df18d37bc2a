//! The far side of a measurement, once the near side has proved that it knows the secret.

pub(crate) mod attend;
pub(crate) mod attendant;
pub(crate) mod gate;
pub(crate) mod listener;
pub(crate) mod path;
pub(crate) mod serve;
pub(crate) mod serving;

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use measure::flows::Sent;
use measure::{FarReport, Load, SessionError, TrialSpec};
use transport::settings::Effective;
use transport::{Address, Capabilities, LinkError, Patience, Proof, Settings, Transport};

use crate::Limits;
use crate::watch::Rules;

/// What the control loop needs done with data connections. One implementation works on real ones ([`path::Path`]); tests
/// of the control layer use a stand-in.
pub(crate) trait Work {
    /// The threads of further flows keep to these CPUs, one each; none where they keep to none.
    fn place(&mut self, _cpus: &[u32]) {}
    /// Listens at the address `at`, whatever its port; closes what was open before.
    fn listen(
        &mut self,
        transport: &'static dyn Transport,
        settings: &Settings,
        at: SocketAddr,
        patience: &Patience,
    ) -> Result<Address, LinkError>;
    /// Waits for one more data connection, which shows `proof`; what took effect on it, and what it can do with these settings.
    fn accept(&mut self, proof: Proof) -> Result<(Effective, Capabilities), LinkError>;
    /// Waits for a connection of a flow that loads the path, which shows `proof`.
    fn accept_loading(&mut self, _proof: Proof) -> Result<(), LinkError> {
        Err(LinkError::Unsupported("be loaded"))
    }
    /// Begins the far half of `load` on those connections, each flow on its CPU of `cpus` where it has one, and waits until all carry; nothing may
    /// stand still for `patience`.
    fn load(&mut self, _load: &Load, _cpus: &[u32], _patience: Duration) -> Result<(), SessionError> {
        Err(LinkError::Unsupported("be loaded").into())
    }
    /// Bytes that loading flows brought here so far; an error where one of them ended by itself.
    fn loaded(&mut self) -> Result<u64, SessionError> {
        Ok(0)
    }
    /// Ends the loading flows and closes their connections.
    fn unload(&mut self) {}
    /// Runs the far half of a trial on all; the report of each flow. Where both sides send, `sent` is called once all is sent from here.
    fn trial(&mut self, spec: &TrialSpec, sent: Sent<'_>) -> Result<Vec<FarReport>, SessionError>;
    /// Closes them and stops listening.
    fn close(&mut self);
}

/// What a far side allows, on which CPU it runs, and how it ends at the latest.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub limits: Limits,
    pub pin: Pin,
    /// What ends this process where nothing else ends a trial; none where the process has other things to do.
    pub last_resort: Option<fn()>,
    /// Where the near side reaches data connections, where that is another address than the control connection's.
    pub listen_at: Option<IpAddr>,
    /// Tells whether the near side's process is stopped; none where this side can't see it.
    pub near_stopped: Option<fn() -> bool>,
    /// Where words on the end of this process go, where that is not its standard error.
    pub error: Option<Arc<OwnedFd>>,
}

impl Terms {
    /// By which the control connection is watched until the time for a measurement ends.
    pub fn rules(&self, stop: &Arc<AtomicBool>, until: Instant) -> Rules {
        let (last_resort, near_stopped) = (self.last_resort, self.near_stopped);
        Rules { stop: Arc::clone(stop), until: Some(until), last_resort, near_stopped, error: self.error.clone() }
    }
}

/// On which CPU the far side runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pin {
    /// On this one, or on any: the near side decided, on the same host.
    Decided(Option<u32>),
    /// As the near side asks.
    Choose,
}
