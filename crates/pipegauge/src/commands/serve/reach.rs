//! The address under which another host reaches this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `bound` itself where it names an address; otherwise this host's address on the network of its default route, else
/// any that is not loopback, else loopback. Read from /proc: nothing is sent to find out.
pub fn address(bound: IpAddr) -> IpAddr {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    match bound {
        IpAddr::V4(a) if a.is_unspecified() => best_v4(&read("/proc/net/fib_trie"), &read("/proc/net/route")).into(),
        IpAddr::V6(a) if a.is_unspecified() => best_v6(&read("/proc/net/if_inet6")).into(),
        named => named,
    }
}

/// This host's addresses in /proc/net/fib_trie: the leaf above each "/32 host LOCAL".
fn local_v4(fib_trie: &str) -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut leaf = None;
    for line in fib_trie.lines() {
        let line = line.trim();
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse::<Ipv4Addr>().ok();
        } else if line.starts_with("/32 host LOCAL") {
            found.extend(leaf.filter(|a| !a.is_loopback() && !found.contains(a)));
        }
    }
    found
}

fn best_v4(fib_trie: &str, route: &str) -> Ipv4Addr {
    let locals = local_v4(fib_trie);
    // Interface, destination, gateway, flags, refcnt, use, metric, mask: addresses are hexadecimal in host byte order.
    let rows: Vec<Vec<&str>> =
        route.lines().skip(1).map(|l| l.split_whitespace().collect()).filter(|r: &Vec<_>| r.len() >= 8).collect();
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    let default = rows
        .iter()
        .filter(|r| r[1] == "00000000" && r[7] == "00000000")
        .min_by_key(|r| r[6].parse::<u32>().unwrap_or(u32::MAX))
        .map(|r| r[0]);
    let on_default = |a: &&Ipv4Addr| {
        rows.iter().filter(|r| Some(r[0]) == default && r[7] != "00000000").any(|r| {
            let (Some(net), Some(mask)) = (hex(r[1]), hex(r[7])) else { return false };
            u32::from_ne_bytes(a.octets()) & mask == net
        })
    };
    locals.iter().find(on_default).or(locals.first()).copied().unwrap_or(Ipv4Addr::LOCALHOST)
}

/// The first global address in /proc/net/if_inet6 (scope 00), else loopback.
fn best_v6(if_inet6: &str) -> Ipv6Addr {
    if_inet6
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let bits = u128::from_str_radix(words.first()?, 16).ok()?;
            (*words.get(3)? == "00").then_some(Ipv6Addr::from(bits))
        })
        .next()
        .unwrap_or(Ipv6Addr::LOCALHOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIB: &str = "Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.1
           /32 host LOCAL
     |-- 172.17.0.1
        /32 host LOCAL
     |-- 192.0.2.7
        /32 host LOCAL
";
    const ROUTE: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";

    #[test]
    fn the_default_routes_network_comes_before_a_bridge_of_containers() {
        assert_eq!(best_v4(FIB, ROUTE), Ipv4Addr::new(192, 0, 2, 7));
        assert_eq!(best_v4(FIB, ""), Ipv4Addr::new(172, 17, 0, 1));
        assert_eq!(best_v4("", ""), Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn an_address_that_was_asked_for_is_kept() {
        let asked: IpAddr = "127.0.0.1".parse().unwrap();
        assert_eq!(address(asked), asked);
    }

    #[test]
    fn a_global_ipv6_address_is_found() {
        let text = "00000000000000000000000000000001 01 80 10 80       lo
fe800000000000000000000000000001 02 40 20 80     eth0
20010db8000000000000000000000007 02 40 00 80     eth0\n";
        assert_eq!(best_v6(text), "2001:db8::7".parse::<Ipv6Addr>().unwrap());
    }
}
