//! A laboratory: hosts that are network namespaces, what joins them, and the commands of iproute2 that make it. Nothing is run here.

use std::net::Ipv4Addr;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use units::BitRate;

use super::sysctl::Sysctl;
use crate::flags::LabFlags;

/// Most hosts: their addresses fit one /24.
const MOST_HOSTS: u32 = 200;
/// Least and most bytes of a packet that a veth takes, with what IPv6 asks for.
const MTU: std::ops::RangeInclusive<u32> = 1280..=65_535;
const MTU_IPV4: std::ops::RangeInclusive<u32> = 68..=65_535;
/// The namespace of the bridge that joins more than two hosts.
const SWITCH: &str = "switch";
/// A host's interface.
pub const LINK: &str = "eth0";
/// How long the rate's queue is, in time: more is lost.
const QUEUE: &str = "50ms";
/// Ticks of the kernel that a bucket must last for, a second: a smaller one never reaches its rate.
const TICKS: f64 = 250.0;
/// Least bytes of a bucket: two segments as large as they come.
const LEAST_BURST: u64 = 128 << 10;
/// Most seconds that a bucket may last: the kernel counts its time in 32 bits of 64 ns, and a longer one silently becomes another.
const LONGEST: f64 = 200.0;
/// What `--offloads` switches.
pub const OFFLOADS: [&str; 4] = ["tso", "gso", "gro", "tx"];

/// What a laboratory is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lab {
    /// Hosts, 2 or more.
    pub hosts: u32,
    /// Rate of each host's link, each way, bits a second; none where nothing bounds it.
    pub rate: Option<f64>,
    /// Bytes that may be sent at once.
    pub burst: Option<u64>,
    /// Largest packet, bytes.
    pub mtu: Option<u32>,
    /// Offloads that are switched, each on or off.
    pub offloads: Vec<(String, bool)>,
    /// Settings of each host's network, and their values.
    pub sysctls: Vec<(Sysctl, String)>,
}

/// The bytes of a link's bucket: those that were asked for, or what reaches the rate.
fn bucket(rate: f64, asked: Option<u64>, least: u64) -> Result<u64> {
    let most = (rate / 8.0 * LONGEST) as u64;
    if most < least {
        bail!(
            "--rate {}: a packet of {least} bytes takes longer than {LONGEST} s, for which the kernel's shaper can't count; from {}bit/s on it can",
            BitRate(rate),
            (least as f64 * 8.0 / LONGEST).ceil()
        );
    }
    if let Some(asked) = asked {
        if !(least..=u64::from(u32::MAX)).contains(&asked) {
            bail!("--burst {asked}: a bucket holds a packet ({least} bytes) or more, and less than 4 GiB");
        }
        if asked > most {
            bail!(
                "--burst {asked}: at {} it lasts longer than {LONGEST} s, and the kernel's shaper counts no longer: at most {most}",
                BitRate(rate)
            );
        }
        return Ok(asked);
    }
    let reaching = (rate / 8.0 / TICKS).ceil();
    if reaching > f64::from(u32::MAX) {
        let highest = BitRate(f64::from(u32::MAX) * 8.0 * TICKS);
        bail!(
            "--rate {}: the kernel's shaper holds less than 4 GiB, which carry {highest} at most; leave --rate out for as fast as it goes",
            BitRate(rate)
        );
    }
    Ok((reaching as u64).max(LEAST_BURST).min(most))
}

/// A command with its words.
pub type Step = Vec<String>;

impl Lab {
    /// Checks the flags.
    pub fn resolve(flags: &LabFlags) -> Result<Self> {
        if !(2..=MOST_HOSTS).contains(&flags.hosts) {
            bail!("--hosts {}: a laboratory has 2 to {MOST_HOSTS} hosts", flags.hosts);
        }
        if let Some(mtu) = flags.mtu.filter(|mtu| !MTU_IPV4.contains(mtu)) {
            bail!("--mtu {mtu}: a packet has {} to {} bytes", MTU_IPV4.start(), MTU_IPV4.end());
        }
        if flags.burst.is_some() && flags.rate.is_none() {
            bail!("--burst is of a rate; add --rate");
        }
        let least = u64::from(flags.mtu.unwrap_or(1500)) + 64;
        let burst = match flags.rate {
            Some(rate) => Some(bucket(rate, flags.burst, least)?),
            None => None,
        };
        let mut offloads: Vec<(String, bool)> =
            flags.offloads.iter().flat_map(|on| OFFLOADS.map(|name| (name.to_owned(), on.0))).collect();
        for text in &flags.offload {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            match (is_offload(name), value) {
                (true, "on" | "off") => offloads.push((name.to_owned(), value == "on")),
                _ => bail!("--offload {text}: write NAME=on or NAME=off, with a name that ethtool -k shows (gro=off)"),
            }
        }
        let sysctls = flags.sysctl.iter().map(|text| sysctl(text)).collect::<Result<_>>()?;
        Ok(Self { hosts: flags.hosts, rate: flags.rate, burst, mtu: flags.mtu, offloads, sysctls })
    }

    /// A host's name.
    pub fn host(number: u32) -> String {
        format!("h{number}")
    }

    /// A host's address.
    pub fn address(number: u32) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, 0, number as u8)
    }

    /// A host's IPv6 address.
    pub fn address6(number: u32) -> String {
        format!("fd77::{number:x}")
    }

    /// Hosts by name, as `/etc/hosts` has them.
    pub fn names(&self) -> String {
        let of = |n| format!("{} {}\n{} {}\n", Self::address(n), Self::host(n), Self::address6(n), Self::host(n));
        let own = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
        std::iter::once(own).chain((1..=self.hosts).map(of)).collect()
    }

    /// The commands that make it, in order, within namespaces of mounts and processes of its own.
    pub fn steps(&self) -> Vec<Step> {
        let hosts: Vec<String> = (1..=self.hosts).map(Self::host).collect();
        let mut all: Vec<Step> = Vec::new();
        let mut step = |words: &str| all.push(words.split(' ').map(str::to_owned).collect());
        hosts.iter().for_each(|host| step(&format!("ip netns add {host}")));
        if let [one, other] = &hosts[..] {
            step(&format!("ip -n {one} link add {LINK} type veth peer name {LINK} netns {other}"));
        } else {
            step(&format!("ip netns add {SWITCH}"));
            step(&format!("ip -n {SWITCH} link add bridge type bridge"));
            hosts.iter().for_each(|host| {
                step(&format!("ip -n {host} link add {LINK} type veth peer name {host} netns {SWITCH}"));
                step(&format!("ip -n {SWITCH} link set {host} master bridge"));
            });
        }
        // An interface may be larger than its peer only once both are.
        let ends = self.ends(&hosts);
        if let Some(mtu) = self.mtu {
            ends.iter().for_each(|(name, link)| step(&format!("ip -n {name} link set {link} mtu {mtu}")));
        }
        for (name, on) in &self.offloads {
            let on = if *on { "on" } else { "off" };
            ends.iter().for_each(|(host, link)| step(&format!("ip netns exec {host} ethtool -K {link} {name} {on}")));
        }
        if let (Some(rate), Some(burst)) = (self.rate, self.burst) {
            let bits = rate.round();
            ends.iter().for_each(|(host, link)| {
                step(&format!(
                    "tc -n {host} qdisc add dev {link} root tbf rate {bits}bit burst {burst} latency {QUEUE}"
                ));
            });
        }
        for (number, host) in (1..).zip(&hosts) {
            step(&format!("ip -n {host} address add {}/24 dev {LINK}", Self::address(number)));
            if self.mtu.is_none_or(|mtu| MTU.contains(&mtu)) {
                step(&format!("ip -n {host} address add {}/64 dev {LINK} nodad", Self::address6(number)));
            }
            step(&format!("ip -n {host} link set lo up"));
        }
        if hosts.len() > 2 {
            step(&format!("ip -n {SWITCH} link set bridge up"));
        }
        ends.iter().for_each(|(host, link)| step(&format!("ip -n {host} link set {link} up")));
        for host in &hosts {
            all.extend(self.sysctls.iter().map(|(name, value)| {
                let file = name.file();
                let words = ["ip", "netns", "exec", host, "sh", "-c", SET, "sh", value, &file];
                words.map(str::to_owned).to_vec()
            }));
        }
        all
    }

    /// All interfaces that carry what hosts send, each with its namespace.
    fn ends(&self, hosts: &[String]) -> Vec<(String, String)> {
        let own = hosts.iter().map(|host| (host.clone(), LINK.to_owned()));
        let ports = hosts.iter().filter(|_| hosts.len() > 2).map(|host| (SWITCH.to_owned(), host.clone()));
        own.chain(ports).collect()
    }
}

/// How a setting is made within a host: its value and its file come as arguments.
const SET: &str = "printf %s \"$1\" > \"$2\"";

/// The setting that a step makes, and its value, where it makes one.
pub fn as_sysctl(step: &[String]) -> Option<(Sysctl, &str)> {
    let [.., set, _, value, file] = step else { return None };
    (set == SET).then_some(())?;
    Some((Sysctl::of_file(file)?, value))
}

/// Whether an offload may be called so: a word that is no flag of ethtool.
pub fn is_offload(name: &str) -> bool {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && !name.starts_with('-') && name.chars().all(known)
}

/// A setting of the network, `net.ipv4.tcp_sack=0`: one that each namespace has of its own.
fn sysctl(text: &str) -> Result<(Sysctl, String)> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match Sysctl::of(name) {
        Some(name) if !value.trim().is_empty() => Ok((name, value.trim().to_owned())),
        _ => bail!(
            "--sysctl {text}: write net.NAME=VALUE, as sysctl does (net.ipv4.tcp_sack=0); only settings of the network are a host's own"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lab: &Lab) -> Vec<String> {
        lab.steps().iter().map(|step| step.join(" ")).collect()
    }

    fn flags() -> LabFlags {
        LabFlags { hosts: 2, ..LabFlags::default() }
    }

    #[test]
    fn a_pair_is_joined_directly_and_more_hosts_by_a_bridge() {
        let pair = lines(&Lab::resolve(&flags()).unwrap());
        assert!(pair.contains(&"ip -n h1 link add eth0 type veth peer name eth0 netns h2".to_owned()), "{pair:?}");
        assert!(!pair.join(" ").contains("bridge"));
        let four = lines(&Lab::resolve(&LabFlags { hosts: 4, ..flags() }).unwrap());
        assert_eq!(four.iter().filter(|line| line.contains("master bridge")).count(), 4);
        assert!(four.contains(&"ip -n h4 address add 10.77.0.4/24 dev eth0".to_owned()), "{four:?}");
    }

    #[test]
    fn rate_and_mtu_hold_both_ways() {
        let lab = Lab::resolve(&LabFlags { rate: Some(1e9), mtu: Some(9000), hosts: 3, ..flags() }).unwrap();
        let all = lines(&lab);
        assert_eq!(all.iter().filter(|line| line.contains("tbf rate 1000000000bit burst 500000 latency")).count(), 6);
        assert_eq!(all.iter().filter(|line| line.ends_with("mtu 9000")).count(), 6);
    }

    #[test]
    fn a_slow_link_has_a_bucket_that_the_kernel_can_count() {
        let burst = |rate| Lab::resolve(&LabFlags { rate: Some(rate), ..flags() }).unwrap().burst;
        // 200 s of the rate where 128 KiB last longer, 4 ms of it where these are more.
        assert_eq!([100.0, 1e3, 1e6, 1e9].map(burst), [2500, 25_000, 128 << 10, 500_000].map(Some));
        assert!(Lab::resolve(&LabFlags { rate: Some(1e3), burst: Some(64 << 10), ..flags() }).is_err());
    }

    #[test]
    fn what_no_network_has_is_refused() {
        for wrong in [
            LabFlags { hosts: 1, ..flags() },
            LabFlags { hosts: 201, ..flags() },
            LabFlags { mtu: Some(10), ..flags() },
            LabFlags { mtu: Some(100_000), ..flags() },
            LabFlags { burst: Some(1 << 20), ..flags() },
            LabFlags { rate: Some(1e9), burst: Some(10), ..flags() },
            LabFlags { rate: Some(8.0), ..flags() },
            LabFlags { rate: Some(1e13), ..flags() },
            LabFlags { offload: vec!["gro".into()], ..flags() },
            LabFlags { offload: vec!["--x=on".into()], ..flags() },
            LabFlags { sysctl: vec!["kernel.panic=1".into()], ..flags() },
            LabFlags { sysctl: vec!["net./etc=1".into()], ..flags() },
            LabFlags { sysctl: vec!["net..x=1".into()], ..flags() },
            LabFlags { sysctl: vec!["net.ipv4.tcp_sack".into()], ..flags() },
        ] {
            assert!(Lab::resolve(&wrong).is_err(), "{wrong:?}");
        }
    }
}
