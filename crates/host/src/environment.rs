//! One host at the time of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::{self, Interface};
use crate::{Root, cpu, system, versions};

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
    /// CPUs this side may run on, whatever it is pinned to.
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
    /// Settings of the system that `sweep` made for this run, by axis (`system.mtu:eth1`), as they were read back.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Versions of the program, the libraries that matter, the compiler ("rustc") and the C library ("libc").
    pub versions: BTreeMap<String, String>,
    /// Load averages at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<(f64, f64, f64)>,
    /// CPU this side was pinned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<u32>,
}

impl Environment {
    /// This host, now. `pinned` is the CPU that the caller pins itself to, if it does: afterwards, as the CPUs that this
    /// thread may use are read here.
    pub fn here(pinned: Option<u32>) -> Self {
        Self::of(&Root::system(), cpu::allowed_cpus(), pinned)
    }

    /// The host whose `/proc` and `/sys` lie below `root`.
    pub fn of(root: &Root, cpus: Vec<u32>, pinned: Option<u32>) -> Self {
        Self {
            hostname: system::hostname(root),
            kernel: system::kernel(root),
            os: system::os(root),
            cpu: cpu::model(root),
            last_level_cache: cpu::last_level_cache(root),
            governor: cpu::governor(root, cpus.first().copied().unwrap_or(0)),
            clock_source: system::clock_source(root),
            hypervisor: system::hypervisor(root),
            memory: system::memory(root),
            interfaces: network::interfaces(root),
            sysctls: system::sysctls(root),
            settings: BTreeMap::new(),
            versions: versions::here(),
            load: system::load(root),
            cpus,
            pinned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_host_is_read_whole() {
        let fixture = Fixture::workstation();
        let here = Environment::of(&fixture.root(), vec![0, 1], Some(1));
        assert_eq!(here.hostname, "bench1");
        assert_eq!(here.kernel, "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1");
        assert_eq!(here.os.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(here.cpu.as_deref(), Some("AMD EPYC 7543 32-Core Processor"));
        assert_eq!((here.cpus, here.pinned), (vec![0, 1], Some(1)));
        assert_eq!(here.last_level_cache, Some(32 << 20));
        assert_eq!(here.governor.as_deref(), Some("performance"));
        assert_eq!(here.clock_source.as_deref(), Some("tsc"));
        assert_eq!(here.hypervisor, None);
        assert_eq!(here.memory, Some(65_780_124 * 1024));
        assert_eq!(here.interfaces.len(), 2);
        assert_eq!(here.sysctls["net.ipv4.tcp_congestion_control"], "cubic");
        assert_eq!(here.versions["pipegauge"], env!("CARGO_PKG_VERSION"));
        assert!(here.versions.contains_key("rustls"), "{:?}", here.versions);
        assert_eq!(here.load, Some((0.12, 0.34, 0.56)));
    }

    #[test]
    fn what_cannot_be_read_is_absent_and_stays_out_of_the_file() {
        let fixture = Fixture::empty();
        let here = Environment::of(&fixture.root(), vec![], None);
        assert_eq!((here.os.clone(), here.cpu.clone(), here.memory, here.load), (None, None, None, None));
        assert!(here.interfaces.is_empty() && here.sysctls.is_empty());
        assert!(!here.hostname.is_empty(), "uname knows where /proc is not there");
        let text = serde_json::to_string(&here).unwrap();
        assert!(!text.contains("governor") && !text.contains("pinned"), "{text}");
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), here);
    }

    #[test]
    fn this_machine_can_be_read() {
        let here = Environment::here(Some(0));
        assert!(!here.cpus.is_empty() && here.kernel.starts_with("Linux "));
        assert!(here.memory.is_some_and(|m| m > 1 << 20));
    }
}
