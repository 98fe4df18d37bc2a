//! What the kernel or a driver changes along with a setting, and does not change back with it.
//!
//! An MTU that is lowered lowers those of the VLANs and macvlans on the interface, and raised again it raises none of them. Each MTU that is set
//! also sets the one for IPv6, which may be a router's. A group of offloads that is switched on switches on every feature that it is made of.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::{Kind, Knob, PREFIX, interface, is_offload, long};

/// How the names of such settings begin in a journal: no axis is called so.
const MTU6: &str = "mtu6";
const FEATURES: &str = "features.";
/// What is between the names of several features.
const AND: char = '+';

/// A setting that is changed along with another.
#[derive(Debug, Clone)]
pub struct Along {
    /// Which one.
    pub knob: Knob,
    /// Its value now.
    pub was: String,
    /// The number of its interface.
    pub index: Option<u32>,
}

/// What a setting may change besides itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes<'a> {
    /// The MTUs of what stands on this interface, and those for IPv6.
    Mtus(&'a str),
    /// The features of its groups.
    Features,
    /// Nothing.
    Nothing,
}

/// The setting along with which another is changed.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// Which one.
    pub knob: &'a Knob,
    /// What it was.
    pub was: &'a str,
    /// What it is.
    pub now: &'a str,
}

/// The file of an interface's MTU for IPv6.
pub(super) fn mtu6_file(interface: &str) -> PathBuf {
    format!("/proc/sys/net/ipv6/conf/{interface}/mtu").into()
}

impl Knob {
    /// The setting that a journal calls so: an axis's, or one that is changed along with one.
    pub fn kept(name: &str) -> Option<Result<Self>> {
        let rest = name.strip_prefix(PREFIX)?;
        let (what, of) = rest.split_once(':').unwrap_or((rest, ""));
        let kind = match (what, what.strip_prefix(FEATURES)) {
            (MTU6, _) => interface(of).map(Kind::Mtu6),
            (_, Some(names)) => features(names, of),
            _ => return Self::of(name),
        };
        Some(kind.map(|kind| Self::new(name, kind)))
    }

    /// The MTU of an interface.
    pub fn mtu(name: &str) -> Result<Self> {
        Ok(Self::new(&format!("{PREFIX}mtu:{name}"), Kind::Mtu(interface(name)?)))
    }

    /// The MTU for IPv6 of an interface.
    pub fn mtu6(name: &str) -> Result<Self> {
        Ok(Self::new(&format!("{PREFIX}{MTU6}:{name}"), Kind::Mtu6(interface(name)?)))
    }

    /// What it may change besides itself.
    pub fn takes(&self) -> Takes<'_> {
        match &self.kind {
            Kind::Mtu(interface) => Takes::Mtus(interface),
            Kind::Offloads(..) => Takes::Features,
            Kind::Mtu6(_) | Kind::Sysctl(_) => Takes::Nothing,
        }
    }

    /// The features that its groups of offloads are made of, with their states, in what `ethtool -k` prints. Those that can't be changed are left
    /// out, and so are those that an axis varies. None where nothing is left.
    pub fn features(&self, text: &str, axes: &[Knob]) -> Result<Option<(Knob, String)>> {
        let Kind::Offloads(interface, groups) = &self.kind else { return Ok(None) };
        let varied = |feature: &str| {
            axes.iter().any(|axis| match &axis.kind {
                Kind::Offloads(other, names) => other == interface && names.iter().any(|name| long(name) == feature),
                _ => false,
            })
        };
        let mut within = false;
        let mut found = Vec::new();
        for line in text.lines() {
            let Some((name, state)) = line.trim().split_once(": ") else { continue };
            if !line.starts_with(char::is_whitespace) {
                within = groups.iter().any(|group| long(group) == name);
            } else if within && is_offload(name) && !state.contains("[fixed]") && !varied(name) {
                found.push(name);
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let names = found.join(&AND.to_string());
        let knob = Self::new(&format!("{PREFIX}{FEATURES}{names}:{interface}"), features(&names, interface)?);
        let was = knob.read(text)?;
        Ok(Some((knob, was)))
    }
}

fn features(names: &str, of: &str) -> Result<Kind> {
    let all: Vec<String> = names.split(AND).map(str::to_owned).collect();
    if !all.iter().all(|name| is_offload(name)) {
        bail!("'{}' are no features of an interface", report::words::plain(names));
    }
    Ok(Kind::Offloads(interface(of)?, all))
}

/// What one that is changed along with a base is to be set to: to what it was, as far as the base lets it. None where it stays as it was found: it is
/// that already, or what becomes of it is the kernel's affair.
pub fn beside(base: Base, along: &Knob, was: &str, found: &str) -> Option<String> {
    let number = |text: &str| text.parse::<u32>().ok();
    match (&base.knob.kind, &along.kind) {
        // Never lowered: the kernel has done that, and a bridge that goes with its members would no longer.
        (Kind::Mtu(_), Kind::Mtu(_)) => {
            let most = number(was)?.min(number(base.now)?);
            (number(found)? < most).then(|| most.to_string())
        }
        (Kind::Mtu(_), Kind::Mtu6(_)) => {
            let most = number(was)?.min(number(base.now)?);
            (number(found)? != most).then(|| most.to_string())
        }
        (Kind::Offloads(..), Kind::Offloads(..)) => (base.now == base.was && found != was).then(|| was.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Features for eth1:\nrx-checksumming: on\ntx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\n\ttx-checksum-sctp: on\n\
        scatter-gather: on\n\ttx-scatter-gather: on\ntcp-segmentation-offload: on\n\ttx-tcp-segmentation: on\n\ttx-tcp-mangleid-segmentation: off\n\
        generic-segmentation-offload: on\n";

    fn knob(name: &str) -> Knob {
        Knob::kept(name).unwrap().unwrap()
    }

    #[test]
    fn a_group_of_offloads_is_journaled_with_the_features_that_it_is_made_of() {
        let of = |name: &str, axes: &[Knob]| knob(name).features(TEXT, axes).unwrap();
        let (features, was) = of("system.offloads:eth1", &[]).unwrap();
        let name = "system.features.tx-checksum-sctp+tx-tcp-segmentation+tx-tcp-mangleid-segmentation:eth1";
        assert_eq!((features.name(), &features), (name, &knob(name)));
        assert_eq!(was, "tx-checksum-sctp on tx-tcp-segmentation on tx-tcp-mangleid-segmentation off");
        assert!(features.fits(&was) && features.interface() == Some("eth1"));
        assert_eq!(
            features.by_hand(&was).join(" "),
            "ethtool -K eth1 tx-checksum-sctp on tx-tcp-segmentation on tx-tcp-mangleid-segmentation off"
        );
        // One that has its own axis is that one's, and one feature is no group.
        let axes = [knob("system.offload.tx-tcp-segmentation:eth1"), knob("system.offload.tx-checksum-sctp:eth2")];
        assert_eq!(of("system.offload.tso:eth1", &axes).unwrap().1, "tx-tcp-mangleid-segmentation off");
        for name in ["system.offload.gso:eth1", "system.offload.tx-tcp-segmentation:eth1", "system.mtu:eth1"] {
            assert!(of(name, &[]).is_none(), "{name}");
        }
    }

    #[test]
    fn names_of_a_journal_lead_nowhere_else_and_are_no_axes() {
        let six = knob("system.mtu6:eth0.7");
        assert_eq!(six, Knob::mtu6("eth0.7").unwrap());
        assert_eq!((six.interface(), six.read("1400\n").unwrap().as_str()), (Some("eth0.7"), "1400"));
        assert_eq!(six.by_hand("1400").join(" "), "sysctl -w net/ipv6/conf/eth0.7/mtu=1400");
        assert_eq!(knob("system.mtu:eth1"), Knob::of("system.mtu:eth1").unwrap().unwrap());
        assert!(Knob::mtu6("eth1").unwrap().clashes(&knob("system.sysctl:net.ipv6.conf.eth1.mtu")));
        for name in [
            "system.mtu6:../x",
            "system.mtu6:",
            "system.features.:eth1",
            "system.features.a+--json:eth1",
            "system.features.a+b:-x",
        ] {
            assert!(Knob::kept(name).unwrap().is_err(), "{name}");
        }
        for name in ["system.mtu6:eth1", "system.features.gro+gso:eth1"] {
            assert!(Knob::of(name).unwrap().is_err(), "{name}");
        }
    }

    #[test]
    fn what_goes_along_is_as_it_was_as_far_as_its_base_lets_it() {
        let mtu = knob("system.mtu:eth0");
        let base = |now| Base { knob: &mtu, was: "9000", now };
        let upper = |now, was, found| beside(base(now), &knob("system.mtu:eth0.7"), was, found);
        assert_eq!(upper("9000", "9000", "1500").as_deref(), Some("9000"));
        assert_eq!(upper("4000", "9000", "1500").as_deref(), Some("4000"));
        assert_eq!((upper("1500", "9000", "1500"), upper("9000", "9000", "9000")), (None, None));
        // A bridge goes with its members by itself, up and down.
        assert_eq!((upper("9000", "1500", "9000"), upper("9000", "1500", "1500")), (None, None));
        let six = |now, was, found| beside(base(now), &knob("system.mtu6:eth0"), was, found);
        assert_eq!((six("9000", "1400", "9000").as_deref(), six("1280", "1400", "1280")), (Some("1400"), None));
        let tso = knob("system.offload.tso:eth1");
        let features = knob("system.features.tx-tcp-segmentation+tx-tcp-mangleid-segmentation:eth1");
        let was = "tx-tcp-segmentation on tx-tcp-mangleid-segmentation off";
        let found = "tx-tcp-segmentation on tx-tcp-mangleid-segmentation on";
        let feature = |now| beside(Base { knob: &tso, was: "tso on", now }, &features, was, found);
        assert_eq!((feature("tso on").as_deref(), feature("tso off")), (Some(was), None));
    }
}
