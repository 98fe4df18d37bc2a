//! A path of a plan: a transport, its settings, its label.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::{Capabilities, Name, Settings, registry};

use crate::{Load, Topology};

/// A path of a plan. One plan may hold a transport more than once, with other settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathPlan {
    /// Transport.
    pub transport: Name,
    /// What the path is called, where that is not its transport's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// What was set on it.
    #[serde(skip_serializing_if = "Settings::is_empty", default)]
    pub settings: Settings,
    /// Connections that carry messages at once; none in files is one.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub flows: u32,
    /// How they share processes; none in files are threads of two processes.
    #[serde(skip_serializing_if = "Topology::is_flows", default)]
    pub topology: Topology,
    /// What fills the path while it is measured; none where nothing else does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<Load>,
    /// Stream: bits a second that the sender offers on this path, where paths of one plan differ in it; none where the plan says it
    /// ([`Plan::offered`](crate::event::Plan::offered)).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offered: Option<f64>,
}

fn one() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

impl PathPlan {
    /// Whether what is measured has the path for itself: one flow, and no load.
    pub fn alone(&self) -> bool {
        self.flows == 1 && self.load.is_none()
    }

    /// What its transport can do with its settings.
    pub fn capabilities(&self) -> Capabilities {
        let plain = || self.transport.capabilities();
        registry::find(self.transport).map_or_else(plain, |t| t.capabilities(&self.settings))
    }

    /// What the path is called.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.transport.as_str())
    }
}

impl From<Name> for PathPlan {
    /// One flow over the transport, with nothing set.
    fn from(transport: Name) -> Self {
        let settings = Settings::default();
        Self { transport, label: None, settings, flows: 1, topology: Topology::Flows, load: None, offered: None }
    }
}

/// A path for each transport, with nothing set.
pub fn plain(transports: &[Name]) -> Vec<PathPlan> {
    transports.iter().map(|name| PathPlan::from(*name)).collect()
}
