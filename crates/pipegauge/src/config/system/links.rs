//! Interfaces as `ip -o link show` prints them, what stands on one, and which ones messages leave by.

use std::collections::BTreeSet;
use std::path::Path;

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its number, which no later interface of its name has.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The interface that it stands on (a VLAN's), or that it is joined to (a veth's).
    pub parent: Option<String>,
    /// The bridge or bond that it belongs to.
    pub master: Option<String>,
    /// Largest packet, bytes.
    pub mtu: u32,
    /// Whether it carries something now.
    pub up: bool,
}

/// The interfaces in what `ip -o link show` printed; a line that is none is passed over.
pub fn links(text: &str) -> Vec<Link> {
    text.lines().filter_map(link).collect()
}

/// `3: eth1@if2: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP ...`
fn link(line: &str) -> Option<Link> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let index = words.first()?.strip_suffix(':')?.parse().ok()?;
    let name = words.get(1)?.strip_suffix(':')?;
    let (name, parent) = name.split_once('@').map_or((name, None), |(name, parent)| (name, Some(parent.to_owned())));
    let flags = words.get(2)?.trim_matches(['<', '>']);
    let value = |key: &str| words.iter().skip(3).zip(words.iter().skip(4)).find(|(k, _)| **k == key).map(|(_, v)| *v);
    Some(Link {
        index,
        name: name.to_owned(),
        parent,
        master: value("master").map(str::to_owned),
        mtu: value("mtu")?.parse().ok()?,
        up: flags.split(',').any(|flag| flag == "LOWER_UP"),
    })
}

/// The interface and all that stand on it: bridges and bonds that it belongs to, VLANs over these, and so on.
pub fn above(links: &[Link], name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([name.to_owned()]);
    loop {
        let known = |name: &Option<String>| name.as_ref().is_some_and(|name| found.contains(name));
        let on = links.iter().filter(|link| known(&link.parent)).map(|link| link.name.clone());
        let of = links.iter().filter(|link| found.contains(&link.name)).filter_map(|link| link.master.clone());
        let new: Vec<String> = on.chain(of).filter(|name| !found.contains(name)).collect();
        if new.is_empty() {
            return found;
        }
        found.extend(new);
    }
}

/// The interfaces whose MTU may change with that of this one, each behind what it stands on: VLANs and macvlans on it, bridges and bonds that it
/// belongs to, what stands on these, and the members of a bond. The two ends of a pair (veth) each have their own.
pub fn stacked(links: &[Link], name: &str) -> Vec<String> {
    let mut found = vec![name.to_owned()];
    let mut at = 0;
    while let Some(below) = found.get(at).cloned() {
        let own = links.iter().find(|link| link.name == below);
        let stands = |link: &&Link| {
            let paired = own.is_some_and(|own| own.parent.as_ref() == Some(&link.name));
            let on = link.parent.as_ref() == Some(&below) && !paired;
            let over = own.is_some_and(|own| own.master.as_ref() == Some(&link.name));
            on || over || at == 0 && link.master.as_ref() == Some(&below)
        };
        let new: Vec<String> = links.iter().filter(stands).map(|link| link.name.clone()).collect();
        new.into_iter().for_each(|name| {
            if !found.contains(&name) {
                found.push(name);
            }
        });
        at += 1;
    }
    found.split_off(1)
}

/// The interface that has this setting of `/proc/sys`; none where all have it, or none.
pub fn has(file: &Path) -> Option<&str> {
    let mut parts = file.to_str()?.strip_prefix("/proc/sys/net/")?.split('/');
    let (_family, set, name) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next()?;
    (matches!(set, "conf" | "neigh") && !matches!(name, "all" | "default")).then_some(name)
}

/// The interfaces that routes lead to, in what `ip route` printed.
pub fn outgoing(text: &str) -> BTreeSet<String> {
    let words = || text.split_whitespace();
    words().zip(words().skip(1)).filter(|(word, _)| *word == "dev").map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\\    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n\
        2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000\\    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n\
        3: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\\    link/ether 02:00:00:00:00:02\n\
        4: bond0.7@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP\\    link/ether 02:00:00:00:00:02\n\
        5: br0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\\    link/ether 02:00:00:00:00:02\n\
        6: eth1@if2: <BROADCAST,MULTICAST> mtu 9000 qdisc noop state DOWN\\    link/ether 02:00:00:00:00:06 link-netnsid 0\n\
        nonsense\n";

    #[test]
    fn interfaces_are_read_with_what_they_belong_to() {
        let all = links(ALL);
        assert_eq!(all.len(), 6);
        assert_eq!((all[1].index, all[1].mtu, all[1].up, all[1].master.as_deref()), (2, 1500, true, Some("bond0")));
        assert_eq!((all[3].name.as_str(), all[3].parent.as_deref()), ("bond0.7", Some("bond0")));
        assert_eq!((all[5].name.as_str(), all[5].mtu, all[5].up), ("eth1", 9000, false));
    }

    #[test]
    fn what_stands_on_an_interface_is_found_however_high() {
        let on = |name: &str| above(&links(ALL), name).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(on("eth0"), "bond0 bond0.7 br0 eth0");
        assert_eq!((on("br0"), on("eth1"), on("none")), ("br0".into(), "eth1".into(), "none".into()));
        // A pair within one namespace: each is the other's.
        let pair = links("1: a@b: <UP> mtu 1500\n2: b@a: <UP> mtu 1500\n");
        assert_eq!(above(&pair, "a").len(), 2);
    }

    #[test]
    fn what_an_mtu_takes_along_comes_behind_what_it_stands_on() {
        let on = |text: &str, name: &str| stacked(&links(text), name).join(" ");
        assert_eq!(on(ALL, "eth0"), "bond0 bond0.7 br0");
        assert_eq!(
            (on(ALL, "bond0"), on(ALL, "eth1"), on(ALL, "none")),
            ("eth0 bond0.7 br0".into(), "".into(), "".into())
        );
        let all = "1: top@mid: <UP> mtu 1500\n2: mid@low: <UP> mtu 1500\n3: low@peer: <UP> mtu 1500\n4: peer@low: <UP> mtu 1500\n\
                   5: one: <UP> mtu 1500 master low\n6: on-peer@peer: <UP> mtu 1500\n";
        assert_eq!((on(all, "low"), on(all, "peer")), ("mid one top".into(), "on-peer".into()));
        // The members of a bridge that stands on another interface are none of that one's.
        assert_eq!(
            on("1: a: <UP> mtu 1500 master br\n2: br: <UP> mtu 1500\n3: b: <UP> mtu 1500 master br\n", "a"),
            "br"
        );
    }

    #[test]
    fn settings_of_an_interface_are_told_by_their_file() {
        let of = |file: &str| has(Path::new(file)).map(str::to_owned);
        assert_eq!(of("/proc/sys/net/ipv6/conf/eth0.7/mtu").as_deref(), Some("eth0.7"));
        assert_eq!(of("/proc/sys/net/ipv4/neigh/e/x").as_deref(), Some("e"));
        for file in ["/proc/sys/net/ipv4/conf/all/x", "/proc/sys/net/ipv4/conf/e", "/proc/sys/net/ipv4/x", "/conf/e/x"]
        {
            assert_eq!(of(file), None, "{file}");
        }
    }

    #[test]
    fn routes_lead_to_interfaces() {
        let text = "default via 192.0.2.1 dev br0 proto dhcp\ndefault proto static metric 9\n\tnexthop via 192.0.2.2 dev eth2 weight 1\n";
        assert_eq!(outgoing(text).into_iter().collect::<Vec<_>>(), ["br0", "eth2"]);
        assert!(outgoing("").is_empty());
    }
}
