//! What machine this is: CPU, caches, clock, kernel, network, and what others took of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One host at the time of a run. Every field is what the system said; what could not be read is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    /// Host name.
    pub hostname: String,
    /// Kernel release and version.
    pub kernel: String,
    /// Distribution, from os-release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// CPU model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// CPUs this process may run on.
    pub cpus: Vec<u32>,
    /// Last-level cache, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_level_cache: Option<u64>,
    /// Frequency governor of the first CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Clock source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// Hypervisor, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// Memory, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Network interfaces: name, MTU, driver, speed.
    pub interfaces: Vec<Interface>,
    /// Sysctls that change what is measured (socket buffers, congestion control, busy polling, ...).
    pub sysctls: BTreeMap<String, String>,
    /// Versions of the program and the libraries that matter.
    pub versions: BTreeMap<String, String>,
    /// Load averages at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<(f64, f64, f64)>,
    /// CPU this side was pinned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<u32>,
}

/// A network interface.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Interface {
    /// Name.
    pub name: String,
    /// MTU, bytes.
    pub mtu: u32,
    /// Driver, where sysfs names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Speed, Mbit/s, where the driver knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<u32>,
    /// Up or down, as the kernel says.
    pub state: String,
}
