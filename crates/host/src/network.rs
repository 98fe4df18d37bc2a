//! Network interfaces, from sysfs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Root;

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

/// Every interface, in order of name.
pub(crate) fn interfaces(root: &Root) -> Vec<Interface> {
    let at = |name: &str, file: &str| format!("sys/class/net/{name}/{file}");
    root.names("sys/class/net")
        .into_iter()
        // Not every entry is an interface: a bonding driver keeps a control file here.
        .filter_map(|name| {
            Some(Interface {
                mtu: root.value(at(&name, "mtu"))?,
                driver: root.link(at(&name, "device/driver")),
                // A driver that doesn't know says -1, or refuses to be read.
                speed: root.value(at(&name, "speed")).filter(|speed| *speed != u32::MAX),
                state: root.text(at(&name, "operstate")).unwrap_or_else(|| "unknown".to_owned()),
                name,
            })
        })
        .collect()
}

/// Whether `name` is up, by its flags (the loopback interface never says "up" in its state).
pub(crate) fn is_up(root: &Root, name: &str) -> Option<bool> {
    let flags = root.text(format!("sys/class/net/{name}/flags"))?;
    let flags = u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()?;
    Some(flags & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn interfaces_with_what_their_drivers_know() {
        let f = Fixture::workstation()
            .file("sys/class/net/bonding_masters", "")
            .file("sys/class/net/veth1/mtu", "1500")
            .file("sys/class/net/veth1/speed", "-1");
        let found = interfaces(&f.root());
        let want = Interface {
            name: "eth0".into(),
            mtu: 9000,
            driver: Some("mlx5_core".into()),
            speed: Some(25_000),
            state: "up".into(),
        };
        assert_eq!(found[0], want);
        let names: Vec<_> = found.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, ["eth0", "lo", "veth1"]);
        assert_eq!((found[2].speed, found[2].driver.clone(), found[2].state.as_str()), (None, None, "unknown"));
    }

    #[test]
    fn up_is_the_first_flag() {
        let up = |flags: &str| is_up(&Fixture::empty().file("sys/class/net/lo/flags", flags).root(), "lo");
        assert_eq!((up("0x9"), up("0x8"), up("9"), up("")), (Some(true), Some(false), None, None));
    }
}
