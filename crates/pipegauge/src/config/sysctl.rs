//! Settings of the network, by the names that `sysctl` has for them.
//!
//! The first separator of a name says how it is written, as sysctl(8) reads it: with dots between the parts, a slash stands for a dot within
//! one; with slashes between them, a dot is a dot. So the part of an interface `eth0.100` is written `net/ipv4/conf/eth0.100/rp_filter` or
//! `net.ipv4.conf.eth0/100.rp_filter`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where all settings are.
const ALL: &str = "/proc/sys/";
/// Those of the network.
const NETWORK: &str = "net";

/// A setting of the network: its file's name below `/proc/sys`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sysctl(String);

impl Sysctl {
    /// The setting of this name; none where it is no name of one, or a part of it leads elsewhere.
    pub fn of(name: &str) -> Option<Self> {
        let first = name.find(['.', '/']).and_then(|at| name[at..].chars().next())?;
        let parts: Vec<String> = match first {
            '/' => name.split('/').map(str::to_owned).collect(),
            _ => name.split('.').map(|part| part.replace('/', ".")).collect(),
        };
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        // Neither the folder itself nor the one above it.
        let part = |part: &String| !part.is_empty() && !part.starts_with('.') && part.chars().all(known);
        (parts[0] == NETWORK && parts.len() > 1 && parts.iter().all(part)).then(|| Self(parts.join("/")))
    }

    /// Its file.
    pub fn file(&self) -> String {
        format!("{ALL}{}", self.0)
    }

    /// The setting that has this file.
    pub fn of_file(file: &str) -> Option<Self> {
        Self::of(file.strip_prefix(ALL)?)
    }

    /// The last part of its name.
    pub fn last(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// Its name apart by dots, where no part has one of its own; else as its file is called.
impl fmt::Display for Sysctl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains('.') { f.write_str(&self.0) } else { f.write_str(&self.0.replace('/', ".")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_with_a_dot_is_named_as_sysctl_has_it() {
        let file = |name: &str| Sysctl::of(name).map(|sysctl| sysctl.file());
        let vlan = Some("/proc/sys/net/ipv4/conf/eth0.100/rp_filter".to_owned());
        assert_eq!(file("net/ipv4/conf/eth0.100/rp_filter"), vlan);
        assert_eq!(file("net.ipv4.conf.eth0/100.rp_filter"), vlan);
        assert_ne!(file("net.ipv4.conf.eth0.100.rp_filter"), vlan);
        for name in ["net.ipv4.tcp_sack", "net/ipv4/tcp_sack"] {
            assert_eq!(file(name).as_deref(), Some("/proc/sys/net/ipv4/tcp_sack"));
        }
    }

    #[test]
    fn what_leaves_the_network_or_has_an_empty_part_is_no_name() {
        for name in [
            "",
            "net",
            "net.",
            "net/",
            "/net/ipv4/tcp_sack",
            "net//ipv4/tcp_sack",
            "net/ipv4/",
            "net..x",
            "net...kernel.core_pattern",
            "net/../kernel/core_pattern",
            "net/./x",
            "net/ipv4/../../kernel/core_pattern",
            "net.ipv4/../../kernel.core_pattern",
            "net.//.kernel.core_pattern",
            "net.ipv4.//.//.kernel.core_pattern",
            "net./.x",
            "net./etc",
            "net/.x",
            "network/x",
            "kernel/panic",
            "kernel.panic",
            "net/ipv4/conf/e th0/x",
            "net/ipv4/conf/e\u{e9}/x",
            "net/x\n",
        ] {
            assert_eq!(Sysctl::of(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_is_told_so_that_sysctl_reads_it() {
        let told = |name: &str| Sysctl::of(name).map(|sysctl| sysctl.to_string());
        assert_eq!(told("net/ipv4/tcp_sack").as_deref(), Some("net.ipv4.tcp_sack"));
        let vlan = "net/ipv4/conf/eth0.100/rp_filter";
        assert_eq!(told("net.ipv4.conf.eth0/100.rp_filter").as_deref(), Some(vlan));
        let of_file = Sysctl::of_file("/proc/sys/net/ipv4/conf/eth0.100/rp_filter").unwrap();
        assert_eq!((of_file.to_string().as_str(), of_file.last()), (vlan, "rp_filter"));
        assert_eq!(Sysctl::of_file("/etc/net/x"), None);
    }
}
