//! Interfaces as `ip -o link show` prints them, what stands on one, and which ones messages leave by.

use std::collections::BTreeSet;

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
    fn routes_lead_to_interfaces() {
        let text = "default via 192.0.2.1 dev br0 proto dhcp\ndefault proto static metric 9\n\tnexthop via 192.0.2.2 dev eth2 weight 1\n";
        assert_eq!(outgoing(text).into_iter().collect::<Vec<_>>(), ["br0", "eth2"]);
        assert!(outgoing("").is_empty());
    }
}
