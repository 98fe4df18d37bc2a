//! Flags of `lab`.

use clap::Args;

use super::value;

/// Hosts on this machine.
#[derive(Debug, Clone, Default, Args)]
pub struct LabFlags {
    /// Hosts, h1 to hN: two are joined directly, more by a bridge
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub hosts: u32,
    /// Rate of each link, each way (token bucket) [default: as fast as it goes]
    #[arg(long, value_name = "RATE", value_parser = value::wire_rate)]
    pub rate: Option<f64>,
    /// Bytes that may be sent at once [default: 4 ms of the rate, at least 128 KiB or 200 s of it]
    #[arg(long, value_name = "SIZE", value_parser = value::bytes)]
    pub burst: Option<u64>,
    /// Largest packet, bytes [default: 1500]
    #[arg(long, value_name = "BYTES")]
    pub mtu: Option<u32>,
    /// Segmentation, coalescing and checksums by the interface (tso, gso, gro, tx): on or off
    #[arg(long, value_name = "on|off", value_parser = value::switch)]
    pub offloads: Option<value::Switch>,
    /// One offload, by ethtool's name: gro=off
    #[arg(long, value_name = "NAME=on|off")]
    pub offload: Vec<String>,
    /// A setting of each host's network: net.ipv4.tcp_sack=0
    #[arg(long, value_name = "NAME=VALUE")]
    pub sysctl: Vec<String>,
    /// Only print the commands that would make it
    #[arg(long)]
    pub dry_run: bool,
    /// What runs in h1 [default: a shell]; `ip netns exec h2 COMMAND` runs something in another host
    #[arg(last = true, value_name = "COMMAND", allow_hyphen_values = true)]
    pub command: Vec<String>,
}
