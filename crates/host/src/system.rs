//! Kernel, distribution, clock source, hypervisor, memory, load and sysctls.

use std::collections::BTreeMap;

use crate::Root;

/// Sysctls that change what is measured. Where a name ends in `*`, every file of that directory that begins so.
const SYSCTLS: [&str; 20] = [
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.udp_mem",
    "vm.overcommit_memory",
    "kernel.sched_*",
];

/// The host's name.
pub(crate) fn hostname(root: &Root) -> String {
    root.text("proc/sys/kernel/hostname")
        .unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
}

/// "Linux", release and version.
pub(crate) fn kernel(root: &Root) -> String {
    let uname = rustix::system::uname();
    let or = |name: &str, other: &std::ffi::CStr| {
        root.text(format!("proc/sys/kernel/{name}")).unwrap_or_else(|| other.to_string_lossy().into_owned())
    };
    format!("Linux {} {}", or("osrelease", uname.release()), or("version", uname.version()))
}

/// The distribution's name for people.
pub(crate) fn os(root: &Root) -> Option<String> {
    let text = root.text("etc/os-release").or_else(|| root.text("usr/lib/os-release"))?;
    let field = |key: &str| {
        let value = text.lines().find_map(|l| l.trim().strip_prefix(key)?.strip_prefix('='))?;
        Some(value.trim_matches(['"', '\'']).to_owned())
    };
    field("PRETTY_NAME").or_else(|| field("NAME"))
}

/// The kernel's clock source.
pub(crate) fn clock_source(root: &Root) -> Option<String> {
    root.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// The hypervisor, where there is one: its name if the system gives it away.
pub(crate) fn hypervisor(root: &Root) -> Option<String> {
    let cpuinfo = root.text("proc/cpuinfo").unwrap_or_default();
    let flag = cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.trim() == "flags")
        .any(|(_, flags)| flags.split_whitespace().any(|f| f == "hypervisor"));
    let vendor = root.text("sys/class/dmi/id/sys_vendor").unwrap_or_default();
    let product = root.text("sys/class/dmi/id/product_name").unwrap_or_default();
    let clocks = root.text("sys/devices/system/clocksource/clocksource0/available_clocksource").unwrap_or_default();
    let dmi = format!("{vendor} {product}");
    let name = [
        ("VMware", dmi.contains("VMware")),
        ("VirtualBox", dmi.contains("VirtualBox")),
        ("Hyper-V", dmi.contains("Virtual Machine") || clocks.contains("hyperv")),
        ("Xen", root.text("sys/hypervisor/type").is_some_and(|t| t == "xen") || clocks.contains("xen")),
        ("KVM", dmi.contains("QEMU") || dmi.contains("KVM") || clocks.contains("kvm-clock")),
        ("Google Compute Engine (KVM)", dmi.contains("Google Compute Engine")),
        // The flag, not the vendor, says whether this is a virtual machine: both make bare metal too.
        ("Amazon EC2", flag && vendor.contains("Amazon EC2")),
    ]
    .into_iter()
    .find_map(|(name, found)| found.then_some(name));
    match (name, flag) {
        (Some(name), _) => Some(name.to_owned()),
        (None, true) => Some("unknown (the CPU says there is one)".to_owned()),
        (None, false) => None,
    }
}

/// Memory, bytes.
pub fn memory(root: &Root) -> Option<u64> {
    let text = root.text("proc/meminfo")?;
    let kib = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?.split_whitespace().next()?;
    kib.parse::<u64>().ok()?.checked_mul(1024)
}

/// Load averages over 1, 5 and 15 minutes.
pub(crate) fn load(root: &Root) -> Option<(f64, f64, f64)> {
    let text = root.text("proc/loadavg")?;
    let mut fields = text.split_whitespace().map(|f| f.parse::<f64>().ok());
    Some((fields.next()??, fields.next()??, fields.next()??))
}

/// [`SYSCTLS`] that are there; white space within a value becomes one space.
pub(crate) fn sysctls(root: &Root) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut take = |name: &str| {
        if let Some(value) = root.text(format!("proc/sys/{}", name.replace('.', "/"))) {
            found.insert(name.to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    };
    for name in SYSCTLS {
        let Some((directory, prefix)) = name.strip_suffix('*').and_then(|n| n.rsplit_once('.')) else {
            take(name);
            continue;
        };
        for file in root.names(format!("proc/sys/{}", directory.replace('.', "/"))) {
            if file.starts_with(prefix) {
                take(&format!("{directory}.{file}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn sysctls_are_taken_where_present() {
        let found = sysctls(&Fixture::workstation().root());
        assert_eq!(found["net.ipv4.tcp_rmem"], "4096 131072 16777216");
        assert_eq!(found["kernel.sched_rt_runtime_us"], "950000");
        assert!(!found.contains_key("net.core.busy_poll") && !found.contains_key("kernel.hostname"));
    }

    #[test]
    fn hypervisors_are_named_where_the_system_gives_them_away() {
        let flagged = "flags\t: fpu hypervisor sse\n";
        let named = |cpuinfo: &str, vendor: &str, clocks: &str| {
            let f = Fixture::empty()
                .file("proc/cpuinfo", cpuinfo)
                .file("sys/class/dmi/id/sys_vendor", vendor)
                .file("sys/devices/system/clocksource/clocksource0/available_clocksource", clocks);
            hypervisor(&f.root())
        };
        assert_eq!(named("flags\t: fpu\n", "Dell Inc.", "tsc hpet"), None);
        assert_eq!(named(flagged, "", "tsc kvm-clock").as_deref(), Some("KVM"));
        assert_eq!(named(flagged, "QEMU", "tsc").as_deref(), Some("KVM"));
        assert_eq!(named(flagged, "VMware, Inc.", "tsc").as_deref(), Some("VMware"));
        assert_eq!(named(flagged, "Amazon EC2", "tsc").as_deref(), Some("Amazon EC2"));
        assert_eq!(named("flags\t: fpu\n", "Amazon EC2", "tsc"), None, "a metal instance");
        assert_eq!(named(flagged, "", "").as_deref(), Some("unknown (the CPU says there is one)"));
        assert_eq!(named("model name\t: hypervisor\n", "", ""), None, "only the flags count");
    }

    #[test]
    fn distributions_with_and_without_quotes() {
        let named = |text: &str| os(&Fixture::empty().file("etc/os-release", text).root());
        assert_eq!(named("PRETTY_NAME=\"Debian GNU/Linux 12\"\n").as_deref(), Some("Debian GNU/Linux 12"));
        assert_eq!(named("NAME=Alpine\nVERSION_ID=3\n").as_deref(), Some("Alpine"));
        assert_eq!(named("ID=x\n"), None);
    }

    #[test]
    fn broken_numbers_are_absent() {
        let f = Fixture::empty().file("proc/meminfo", "MemTotal: many kB\n").file("proc/loadavg", "0.1 0.2\n");
        assert_eq!((memory(&f.root()), load(&f.root())), (None, None));
    }
}
