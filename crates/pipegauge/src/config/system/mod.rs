//! Settings of this host that a sweep may change where it was allowed to: what they are called, what they can be set to, how they are read,
//! set and put back. Nothing is read or changed here.
//!
//! | module | job |
//! |---|---|
//! | this one | a setting: its name, its values, and what reads and sets it |
//! | [`along`] | what the kernel or a driver changes along with a setting |
//! | [`change`] | what a sweep would change, in words; what becomes of a value that is put back |
//! | [`links`] | interfaces, what stands on them and what goes over them, as `ip` prints it |
//! | [`place`] | where the journal of changes is |

mod along;
mod change;
mod links;
mod place;

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};

use super::lab::{OFFLOADS, Step, is_offload};
use super::sysctl::Sysctl;

pub use along::{Along, Base, Takes, beside};
pub use change::{Change, Fate, fate, would};
pub use links::{Link, above, links, outgoing, stacked};
pub use place::{SYSTEMS, VARIABLE, own};

/// How the names of such axes begin.
pub const PREFIX: &str = "system.";
/// Least bytes of a packet: below, an interface loses its IPv6 addresses, and does not get them back with the larger packet.
const LEAST_MTU: u32 = 1280;
/// Longest value of a sysctl, bytes.
const LONGEST: usize = 4096;
/// Sysctls, by the last part of their name, of which setting changes others or loses something: put back, not everything would be as it was.
const ENTANGLED: [&str; 7] =
    ["ip_forward", "forwarding", "mc_forwarding", "disable_ipv6", "addr_gen_mode", "stable_secret", "flush"];
/// Offloads as `ethtool -K` takes them and `ethtool -k` shows them, where that differs.
const LONG: [(&str, &str); 12] = [
    ("rx", "rx-checksumming"),
    ("tx", "tx-checksumming"),
    ("sg", "scatter-gather"),
    ("tso", "tcp-segmentation-offload"),
    ("ufo", "udp-fragmentation-offload"),
    ("gso", "generic-segmentation-offload"),
    ("gro", "generic-receive-offload"),
    ("lro", "large-receive-offload"),
    ("rxvlan", "rx-vlan-offload"),
    ("txvlan", "tx-vlan-offload"),
    ("ntuple", "ntuple-filters"),
    ("rxhash", "receive-hashing"),
];

/// A setting of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knob {
    /// The axis's name.
    name: String,
    kind: Kind,
    /// The interface that has it.
    interface: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The largest packet of an interface.
    Mtu(String),
    /// Its largest packet of IPv6, which is never an axis.
    Mtu6(String),
    /// Offloads of an interface.
    Offloads(String, Vec<String>),
    /// A setting of the network.
    Sysctl(Sysctl),
}

/// What tells a setting's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// What a command prints.
    Program(Step),
    /// A file's text.
    File(PathBuf),
}

/// What sets a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setter {
    /// A command.
    Program(Step),
    /// A text that is written into a file.
    File(PathBuf, String),
}

impl Knob {
    /// The setting that an axis of this name varies; none where it is no axis of the system.
    pub fn of(axis: &str) -> Option<Result<Self>> {
        let rest = axis.strip_prefix(PREFIX)?;
        let of = |e| anyhow!("--over {}: {e}", report::words::plain(axis));
        Some(kind(rest).map(|kind| Self::new(axis, kind)).map_err(of))
    }

    fn new(name: &str, kind: Kind) -> Self {
        let mut knob = Self { name: name.to_owned(), kind, interface: None };
        knob.interface = match (&knob.kind, knob.source()) {
            (Kind::Mtu(interface) | Kind::Offloads(interface, _), _) => Some(interface.clone()),
            (_, Source::File(file)) => links::has(&file).map(str::to_owned),
            _ => None,
        };
        knob
    }

    /// The axis's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, in words.
    pub fn what(&self) -> String {
        match &self.kind {
            Kind::Mtu(interface) => format!("the MTU of {interface}"),
            Kind::Mtu6(interface) => format!("the MTU for IPv6 of {interface}"),
            Kind::Offloads(interface, names) => match &names[..] {
                [one] => format!("the offload {one} of {interface}"),
                _ => format!("the offloads of {interface}"),
            },
            Kind::Sysctl(name) => name.to_string(),
        }
    }

    /// The interface that has it, where it is one's.
    pub fn interface(&self) -> Option<&str> {
        self.interface.as_deref()
    }

    /// Programs that read and set it.
    pub fn programs(&self) -> &'static [&'static str] {
        match &self.kind {
            Kind::Offloads(..) => &["ip", "ethtool"],
            _ if self.interface.is_some() => &["ip"],
            _ => &[],
        }
    }

    /// Whether both set the same thing.
    pub fn clashes(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Offloads(one, all), Kind::Offloads(two, more)) => {
                one == two && all.iter().any(|name| more.iter().any(|other| long(name) == long(other)))
            }
            _ => self.source() == other.source(),
        }
    }

    /// A level as the value that it sets, as it reads once it is set.
    pub fn value(&self, level: &str) -> Result<String> {
        let of = |e: String| anyhow!("{}={}: {e}", self.name, report::words::plain(level));
        match &self.kind {
            Kind::Mtu(_) | Kind::Mtu6(_) => match level.trim().parse::<u32>() {
                Ok(mtu) if mtu >= LEAST_MTU => Ok(mtu.to_string()),
                Ok(_) => Err(of(format!(
                    "below {LEAST_MTU} bytes an interface loses its IPv6 addresses, which could not be put back; a laboratory has smaller ones: --lab --over mtu=..."
                ))),
                Err(_) => Err(of("write a number of bytes, such as 9000".to_owned())),
            },
            Kind::Offloads(_, names) => match level {
                "on" | "off" => Ok(names.iter().map(|name| format!("{name} {level}")).collect::<Vec<_>>().join(" ")),
                _ => Err(of("an offload is on or off".to_owned())),
            },
            Kind::Sysctl(_) => {
                let value = spaced(level);
                let odd = value.is_empty() || value.len() > LONGEST || value.contains(char::is_control);
                if odd { Err(of(format!("a value is one line of 1 to {LONGEST} bytes"))) } else { Ok(value) }
            }
        }
    }

    /// Whether a value may have been read of it: one that a journal has is set again.
    pub fn fits(&self, value: &str) -> bool {
        match &self.kind {
            Kind::Mtu(_) | Kind::Mtu6(_) => value.parse::<u32>().is_ok_and(|mtu| mtu.to_string() == value),
            Kind::Offloads(_, names) => {
                let mut words = value.split(' ');
                let both = |name| words.next() == Some(name) && matches!(words.next(), Some("on" | "off"));
                names.iter().map(String::as_str).all(both) && words.next().is_none()
            }
            Kind::Sysctl(_) => value.len() <= LONGEST && spaced(value) == value && !value.contains(char::is_control),
        }
    }

    /// What tells its value.
    pub fn source(&self) -> Source {
        let step = |words: &[&str]| Source::Program(words.iter().map(|word| (*word).to_owned()).collect());
        match &self.kind {
            Kind::Mtu(interface) => step(&["ip", "-o", "link", "show", "dev", interface]),
            Kind::Mtu6(interface) => Source::File(along::mtu6_file(interface)),
            Kind::Offloads(interface, _) => step(&["ethtool", "-k", interface]),
            Kind::Sysctl(name) => Source::File(name.file().into()),
        }
    }

    /// Its value, in the text that tells it.
    pub fn read(&self, text: &str) -> Result<String> {
        match &self.kind {
            Kind::Mtu(interface) => {
                let found = links(text).into_iter().next().map(|link| link.mtu.to_string());
                found.ok_or_else(|| anyhow!("`ip link` tells no MTU of {interface}"))
            }
            Kind::Mtu6(_) => {
                let value = spaced(text);
                if self.fits(&value) { Ok(value) } else { bail!("{} is no number of bytes", self.what()) }
            }
            Kind::Offloads(interface, names) => {
                let state = |name: &String| {
                    let mut lines = text.lines().filter_map(|line| line.trim().split_once(": "));
                    let (_, state) = lines.find(|(shown, _)| *shown == long(name))?;
                    state.split_whitespace().next().filter(|state| matches!(*state, "on" | "off"))
                };
                let told = names.iter().map(|name| match state(name) {
                    Some(state) => Ok(format!("{name} {state}")),
                    None => bail!("`ethtool -k {interface}` shows no offload {}", long(name)),
                });
                Ok(told.collect::<Result<Vec<_>>>()?.join(" "))
            }
            Kind::Sysctl(name) if text.trim_end().contains('\n') => {
                bail!("{name} has several lines, and a sweep sets values of one")
            }
            Kind::Sysctl(name) => {
                let value = spaced(text);
                if self.fits(&value) { Ok(value) } else { bail!("{name} has a value that can't be set again") }
            }
        }
    }

    /// What sets it to a value.
    pub fn setter(&self, value: &str) -> Setter {
        if let Kind::Mtu6(interface) = &self.kind {
            return Setter::File(along::mtu6_file(interface), format!("{value}\n"));
        }
        match &self.kind {
            Kind::Sysctl(name) => Setter::File(name.file().into(), format!("{value}\n")),
            _ => Setter::Program(self.by_hand(value)),
        }
    }

    /// The command by which a person sets it to a value.
    pub fn by_hand(&self, value: &str) -> Step {
        let words: Vec<&str> = match &self.kind {
            Kind::Mtu(interface) => vec!["ip", "link", "set", "dev", interface, "mtu", value],
            Kind::Mtu6(interface) => {
                return ["sysctl", "-w", &format!("net/ipv6/conf/{interface}/mtu={value}")].map(str::to_owned).to_vec();
            }
            Kind::Offloads(interface, _) => ["ethtool", "-K", interface].into_iter().chain(value.split(' ')).collect(),
            Kind::Sysctl(name) => return ["sysctl", "-w", &format!("{name}={value}")].map(str::to_owned).to_vec(),
        };
        words.into_iter().map(str::to_owned).collect()
    }
}

/// What stands behind `system.`.
fn kind(text: &str) -> Result<Kind> {
    let (what, of) = text.split_once(':').unwrap_or((text, ""));
    match (what, what.strip_prefix("offload.")) {
        ("mtu", _) => Ok(Kind::Mtu(interface(of)?)),
        ("offloads", _) => Ok(Kind::Offloads(interface(of)?, OFFLOADS.map(str::to_owned).to_vec())),
        ("sysctl", _) => sysctl(of),
        (_, Some(offload)) if is_offload(offload) => Ok(Kind::Offloads(interface(of)?, vec![offload.to_owned()])),
        (_, Some(_)) => bail!("an offload is called as `ethtool -k` shows it: system.offload.gro:INTERFACE"),
        _ => bail!(
            "a setting of this system is system.mtu:INTERFACE, system.offloads:INTERFACE, system.offload.NAME:INTERFACE or system.sysctl:net.NAME"
        ),
    }
}

/// The name of an interface, as the kernel allows them.
fn interface(name: &str) -> Result<String> {
    let known = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | ':');
    let fits = (1..=15).contains(&name.len()) && !matches!(name, "." | "..") && !name.starts_with('-');
    if !fits || !name.chars().all(known) {
        bail!("'{}' is no name of an interface; `ip link` shows their names", report::words::plain(name));
    }
    Ok(name.to_owned())
}

fn sysctl(name: &str) -> Result<Kind> {
    let Some(known) = Sysctl::of(name) else {
        bail!(
            "'{}' is no setting of the network: write its name as sysctl does, net.core.rmem_max, or net/ipv4/conf/eth0.100/rp_filter where a \
             part has a dot; others a sweep does not change",
            report::words::plain(name)
        );
    };
    if ENTANGLED.contains(&known.last()) {
        bail!("{known} can't be put back: setting it changes other settings too; vary it by hand, in two sweeps");
    }
    Ok(Kind::Sysctl(known))
}

/// An offload's name as `ethtool -k` shows it.
fn long(name: &str) -> &str {
    LONG.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long)
}

/// Words with one space between: the kernel parts numbers by tabs, people by spaces.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knob(name: &str) -> Knob {
        Knob::of(name).unwrap().unwrap()
    }

    #[test]
    fn names_that_lead_elsewhere_or_nowhere_are_refused() {
        assert!(Knob::of("mtu").is_none() && Knob::of("systemd").is_none());
        for name in [
            "system.",
            "system.nonsense:eth1",
            "system.mtu",
            "system.mtu:",
            "system.mtu:..",
            "system.mtu:../../etc",
            "system.mtu:-batch",
            "system.mtu:eth1 mtu",
            "system.mtu:sixteen-letters-",
            "system.mtu:eth0:1",
            "system.mtu:e\u{e9}",
            "system.offload.:eth1",
            "system.offload.--json:eth1",
            "system.offload.gro",
            "system.sysctl:",
            "system.sysctl:kernel.core_pattern",
            "system.sysctl:net",
            "system.sysctl:net.",
            "system.sysctl:net...kernel.core_pattern",
            "system.sysctl:net/../kernel/core_pattern",
            "system.sysctl:net.ipv4/../../kernel.core_pattern",
            "system.sysctl:net.ipv4.ip_forward",
            "system.sysctl:net.ipv6.conf.all.disable_ipv6",
            "system.sysctl:net/ipv4/conf/eth0.100/forwarding",
            "system.sysctl:net.ipv4.conf.eth0/100.forwarding",
            "system.sysctl:net/ipv4/conf//rp_filter",
            "system.sysctl:net.ipv4.//.//.kernel.core_pattern",
        ] {
            let e = Knob::of(name).unwrap().unwrap_err().to_string();
            assert!(e.starts_with("--over system."), "{name}: {e}");
        }
    }

    #[test]
    fn levels_become_values_as_they_read_once_they_are_set() {
        let value = |name: &str, level: &str| knob(name).value(level).ok();
        assert_eq!(value("system.mtu:eth1", " 09000").as_deref(), Some("9000"));
        assert_eq!(value("system.offloads:eth1", "off").as_deref(), Some("tso off gso off gro off tx off"));
        assert_eq!(value("system.offload.gro:eth1", "on").as_deref(), Some("gro on"));
        assert_eq!(value("system.sysctl:net.ipv4.tcp_rmem", "4096\t 8192  65536").as_deref(), Some("4096 8192 65536"));
        for (name, level) in [
            ("system.mtu:eth1", "1279"),
            ("system.mtu:eth1", "-1"),
            ("system.mtu:eth1", "9k"),
            ("system.offloads:eth1", "yes"),
            ("system.sysctl:net.core.rmem_max", " "),
            ("system.sysctl:net.core.rmem_max", "1\u{1b}[2J"),
        ] {
            assert_eq!(value(name, level), None, "{name}={level}");
        }
        assert!(value("system.sysctl:net.core.rmem_max", &"1".repeat(5000)).is_none());
    }

    #[test]
    fn values_are_read_from_what_the_system_says() {
        let link =
            "3: eth1@if2: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\\    link/ether 02:00:00:00:00:01\n";
        assert_eq!(knob("system.mtu:eth1").read(link).unwrap(), "1500");
        assert!(knob("system.mtu:eth1").read("nothing").is_err());
        let features = "Features for eth1:\nrx-checksumming: on\ntx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\n\
                        tcp-segmentation-offload: off [requested on]\ngeneric-segmentation-offload: on\ngeneric-receive-offload: off [fixed]\n";
        assert_eq!(knob("system.offloads:eth1").read(features).unwrap(), "tso off gso on gro off tx on");
        assert_eq!(knob("system.offload.tx-checksum-ipv4:eth1").read(features).unwrap(), "tx-checksum-ipv4 off");
        assert!(knob("system.offload.lro:eth1").read(features).unwrap_err().to_string().contains("large-receive"));
        assert_eq!(
            knob("system.sysctl:net.ipv4.tcp_rmem").read("4096\t131072\t6291456\n").unwrap(),
            "4096 131072 6291456"
        );
        assert_eq!(knob("system.sysctl:net.x").read("\n").unwrap(), "");
        assert!(knob("system.sysctl:net.x").read("1\n2\n").is_err());
    }

    #[test]
    fn a_journals_value_is_one_that_could_have_been_read() {
        for (name, value, fits) in [
            ("system.mtu:eth1", "1000", true),
            ("system.mtu:eth1", "1500 up", false),
            ("system.mtu:eth1", "", false),
            ("system.offload.gro:eth1", "gro off", true),
            ("system.offload.gro:eth1", "gro", false),
            ("system.offload.gro:eth1", "gro off tx off", false),
            ("system.offload.gro:eth1", "tso off", false),
            ("system.sysctl:net.x", "", true),
            ("system.sysctl:net.x", "1 2", true),
            ("system.sysctl:net.x", "1\n2", false),
        ] {
            assert_eq!(knob(name).fits(value), fits, "{name} {value}");
        }
    }

    #[test]
    fn a_setting_is_set_by_words_that_no_shell_reads() {
        assert_eq!(
            knob("system.mtu:eth1").setter("9000"),
            Setter::Program(["ip", "link", "set", "dev", "eth1", "mtu", "9000"].map(str::to_owned).to_vec())
        );
        assert_eq!(
            knob("system.offloads:e1").by_hand("tso on gso off gro on tx on").join(" "),
            "ethtool -K e1 tso on gso off gro on tx on"
        );
        let sysctl = knob("system.sysctl:net.ipv4.tcp_sack");
        assert_eq!(sysctl.setter("0"), Setter::File("/proc/sys/net/ipv4/tcp_sack".into(), "0\n".to_owned()));
        assert_eq!(sysctl.source(), Source::File("/proc/sys/net/ipv4/tcp_sack".into()));
        assert_eq!(sysctl.by_hand("0").join(" "), "sysctl -w net.ipv4.tcp_sack=0");
        let vlan = knob("system.sysctl:net/ipv4/conf/eth0.100/rp_filter");
        assert_eq!(vlan.source(), Source::File("/proc/sys/net/ipv4/conf/eth0.100/rp_filter".into()));
        assert_eq!(vlan.by_hand("2").join(" "), "sysctl -w net/ipv4/conf/eth0.100/rp_filter=2");
    }

    #[test]
    fn one_thing_by_two_names_is_one_thing() {
        let clash = |one: &str, two: &str| knob(one).clashes(&knob(two));
        assert!(clash("system.offloads:eth1", "system.offload.gro:eth1"));
        assert!(clash("system.offload.gro:eth1", "system.offload.generic-receive-offload:eth1"));
        assert!(clash("system.mtu:eth1", "system.mtu:eth1"));
        assert!(clash("system.sysctl:net/ipv4/tcp_sack", "system.sysctl:net.ipv4.tcp_sack"));
        let (one, two) = ("net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter");
        assert!(clash(&format!("system.sysctl:{one}"), &format!("system.sysctl:{two}")));
        assert!(!clash(&format!("system.sysctl:{one}"), "system.sysctl:net.ipv4.conf.eth0.100.rp_filter"));
        assert!(!clash("system.offloads:eth1", "system.offload.gro:eth2"));
        assert!(!clash("system.offload.lro:eth1", "system.offload.gro:eth1"));
        assert!(!clash("system.mtu:eth1", "system.offload.gro:eth1"));
    }

    #[test]
    fn a_sysctl_of_an_interface_is_that_interfaces() {
        let of = |name: &str| knob(name).interface().map(str::to_owned);
        for name in ["net.ipv4.conf.eth1.rp_filter", "net.ipv6.neigh.eth1.base_reachable_time_ms"] {
            let name = format!("system.sysctl:{name}");
            assert_eq!((of(&name).as_deref(), knob(&name).programs()), (Some("eth1"), &["ip"][..]), "{name}");
        }
        for name in
            ["net.ipv4.conf.all.rp_filter", "net.ipv4.conf.default.rp_filter", "net.ipv4.tcp_sack", "net.core.conf"]
        {
            let name = format!("system.sysctl:{name}");
            assert!(of(&name).is_none() && knob(&name).programs().is_empty(), "{name}");
        }
    }
}
