//! Socket buffers, and the loopback interface.

use units::Bytes;

use super::Finding;
use crate::{Root, network};

/// A path of 10 Gbit/s with 1 ms between request and answer has this many bytes under way.
const FAST_PATH: u64 = 1_250_000;

/// Mtu of the loopback interface as the kernel sets it up, bytes.
const LOOPBACK_MTU: u32 = 65_536;

/// May a connection have as many bytes under way as a fast path holds?
pub(super) fn socket_buffers(root: &Root) -> Finding {
    let name = "socket-buffers";
    let auto =
        |file: &str| root.text(format!("proc/sys/net/ipv4/{file}"))?.split_whitespace().nth(2)?.parse::<u64>().ok();
    let asked = |file: &str| root.value::<u64>(format!("proc/sys/net/core/{file}"));
    let (Some(receive), Some(send)) = (auto("tcp_rmem"), auto("tcp_wmem")) else {
        let remedy = "check net.ipv4.tcp_rmem and net.ipv4.tcp_wmem on the host";
        return Finding::note(name, "the system doesn't say how large TCP buffers may grow", remedy);
    };
    let found = format!("TCP buffers grow to {} (receive) and {} (send)", Bytes(receive), Bytes(send));
    if receive.min(send) < FAST_PATH {
        let found = format!("{found}: too small for 10 Gbit/s over 1 ms");
        let remedy =
            "sysctl -w net.ipv4.tcp_rmem='4096 131072 33554432' net.ipv4.tcp_wmem='4096 65536 33554432' (as root)";
        return Finding::warn(name, found, remedy);
    }
    match (asked("rmem_max"), asked("wmem_max")) {
        (Some(r), Some(w)) if r.min(w) < FAST_PATH => {
            let found =
                format!("{found}; a buffer that is asked for (--sockbuf, and UDP) is cut to {}", Bytes(r.min(w)));
            let remedy = "for larger ones: sysctl -w net.core.rmem_max=33554432 net.core.wmem_max=33554432 (as root)";
            Finding::note(name, found, remedy)
        }
        _ => Finding::good(name, found),
    }
}

/// Is the loopback interface up and as the kernel makes it?
pub(super) fn loopback(root: &Root) -> Finding {
    let name = "loopback";
    let Some(lo) = network::interfaces(root).into_iter().find(|i| i.name == "lo") else {
        return Finding::warn(
            name,
            "there is no loopback interface",
            "tcp and udp can't be measured within this host here",
        );
    };
    if network::is_up(root, "lo") != Some(true) {
        return Finding::warn(name, "the loopback interface is down", "ip link set lo up (as root)");
    }
    if lo.mtu == LOOPBACK_MTU {
        return Finding::good(name, format!("up, MTU {}", lo.mtu));
    }
    let found = format!("up, MTU {} instead of {LOOPBACK_MTU}: throughput differs from other machines'", lo.mtu);
    Finding::note(name, found, format!("ip link set lo mtu {LOOPBACK_MTU} (as root)"))
}

/// Can -6 be used within this host?
pub(super) fn ipv6(root: &Root) -> Finding {
    let name = "ipv6-loopback";
    let there = root.text("proc/net/if_inet6").is_some_and(|text| {
        text.lines().any(|l| {
            let mut fields = l.split_whitespace();
            fields.next() == Some("00000000000000000000000000000001") && fields.next_back() == Some("lo")
        })
    });
    if there {
        Finding::good(name, "::1 is there")
    } else {
        Finding::note(
            name,
            "::1 is not there: -6 can't be used within this host",
            "sysctl -w net.ipv6.conf.lo.disable_ipv6=0 (as root)",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn socket_buffers_large_and_small() {
        let good = Fixture::workstation();
        assert_eq!(socket_buffers(&good.root()).level, Level::Good);
        let cut = good.file("proc/sys/net/core/rmem_max", "212992\n");
        let finding = socket_buffers(&cut.root());
        assert!(finding.level == Level::Note && finding.found.contains(&Bytes(212_992).to_string()), "{finding:?}");
        let small = cut.file("proc/sys/net/ipv4/tcp_wmem", "4096 16384 262144\n");
        assert_eq!(socket_buffers(&small.root()).level, Level::Warn);
        assert_eq!(socket_buffers(&Fixture::empty().root()).level, Level::Note);
    }

    #[test]
    fn loopback_up_down_and_changed() {
        let good = Fixture::workstation();
        assert_eq!(loopback(&good.root()).level, Level::Good);
        let changed = good.file("sys/class/net/lo/mtu", "1500\n");
        assert_eq!(loopback(&changed.root()).level, Level::Note);
        let down = changed.file("sys/class/net/lo/flags", "0x8\n");
        assert_eq!(loopback(&down.root()).level, Level::Warn);
        assert_eq!(loopback(&Fixture::empty().root()).level, Level::Warn);
    }

    #[test]
    fn ipv6_on_the_loopback_interface_and_elsewhere() {
        assert_eq!(ipv6(&Fixture::workstation().root()).level, Level::Good);
        let elsewhere = "fe80000000000000000000fffe000001 02 40 20 80     eth0\n";
        assert_eq!(ipv6(&Fixture::workstation().file("proc/net/if_inet6", elsewhere).root()).level, Level::Note);
        assert_eq!(ipv6(&Fixture::empty().root()).level, Level::Note);
    }
}
