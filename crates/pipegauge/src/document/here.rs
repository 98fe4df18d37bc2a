//! This host and its peers: documents of `list`, `doctor` and `serve`.

use schemars::JsonSchema;
use serde::Serialize;
use transport::{Capabilities, Kind};

/// Printed by `list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListDocument {
    /// `pipegauge-list/1`.
    schema: &'static str,
    /// The transports.
    transports: Vec<ListedTransport>,
}

impl ListDocument {
    /// A list.
    pub fn new(transports: Vec<ListedTransport>) -> Self {
        Self { schema: "pipegauge-list/1", transports }
    }
}

/// One transport.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTransport {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// Whether it can be used on this host.
    pub available: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl ListedTransport {
    /// What is known of a kind here.
    pub fn of(kind: Kind) -> Self {
        let unavailable = kind.availability().err();
        Self {
            name: kind.name(),
            summary: kind.summary(),
            available: unavailable.is_none(),
            unavailable,
            capabilities: kind.capabilities(),
        }
    }
}

/// Printed by `serve`, one on each line as things happen.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServeDocument {
    /// `pipegauge-serve/1`.
    pub schema: &'static str,
    /// What happened.
    #[serde(flatten)]
    pub happened: Happened,
}

/// What can happen to `serve`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Happened {
    /// It waits.
    Listening {
        /// Where.
        address: String,
        /// The address as another host reaches it.
        reach: String,
        /// The key that the other host must show.
        key: String,
        /// The line to type there.
        command: String,
    },
    /// A peer with the right key came.
    Met {
        /// Who.
        peer: String,
    },
    /// Somebody was turned away.
    Refused {
        /// Who.
        peer: String,
        /// Why.
        why: String,
    },
    /// A measurement ended.
    Ended {
        /// With whom.
        peer: String,
        /// How.
        how: String,
    },
}

/// Printed by `doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument {
    /// `pipegauge-doctor/1`.
    schema: &'static str,
    /// What was found, each with its remedy.
    findings: Vec<host::doctor::Finding>,
    /// The floor program's figures on this machine, seconds of a 1-byte half round trip.
    floor: Vec<FloorFigure>,
}

impl DoctorDocument {
    /// A diagnosis.
    pub fn new(findings: Vec<host::doctor::Finding>, floor: Vec<FloorFigure>) -> Self {
        Self { schema: "pipegauge-doctor/1", findings, floor }
    }
}

/// The floor of one path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FloorFigure {
    /// tcp, unix or shm.
    pub path: &'static str,
    /// Seconds of a 1-byte half round trip; none where the floor program could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<f64>,
    /// Why it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
