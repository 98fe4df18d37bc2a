//! CPU frequency, threads, isolation, mitigations, pinning, virtualisation.

use std::collections::BTreeSet;
use std::io;

use super::{Finding, THREADS, start};
use crate::{Root, cpu, pin_this_thread, system};

/// "1, 2, 3" for messages, cut after eight.
fn list(cpus: &[u32]) -> String {
    let shown = cpus.iter().take(8).map(u32::to_string).collect::<Vec<_>>().join(", ");
    if cpus.len() > 8 { format!("{shown}, ...") } else { shown }
}

/// Does the frequency follow the load?
pub(super) fn governor(root: &Root, allowed: &[u32]) -> Finding {
    let name = "governor";
    let governors: BTreeSet<String> = allowed.iter().filter_map(|c| cpu::governor(root, *c)).collect();
    let shown = governors.iter().cloned().collect::<Vec<_>>().join(", ");
    if governors.is_empty() {
        let remedy = "set the power profile to performance in the firmware or on the host, where you can";
        Finding::note(name, "the system doesn't show its frequency control: firmware or the host decides", remedy)
    } else if governors.len() == 1 && shown == "performance" {
        Finding::good(name, "performance: the frequency doesn't wait for load")
    } else {
        let remedy = "cpupower frequency-set -g performance (as root), until the next boot";
        Finding::warn(
            name,
            format!("{shown}: the frequency follows the load, and short waits slow the CPU down"),
            remedy,
        )
    }
}

/// Does the frequency follow heat and neighbours?
pub(super) fn boost(root: &Root) -> Finding {
    let name = "boost";
    let intel = "sys/devices/system/cpu/intel_pstate/no_turbo";
    let generic = "sys/devices/system/cpu/cpufreq/boost";
    let (on, remedy) = match (root.value::<u8>(intel), root.value::<u8>(generic)) {
        (Some(off), _) => {
            (off == 0, format!("echo 1 > /{intel} (as root), for figures that repeat; they will be lower"))
        }
        (None, Some(on)) => {
            (on != 0, format!("echo 0 > /{generic} (as root), for figures that repeat; they will be lower"))
        }
        (None, None) => {
            let found = "the system doesn't show whether the CPU may exceed its nominal frequency";
            return Finding::note(name, found, "switch it off in the firmware for figures that repeat, where you can");
        }
    };
    if on {
        Finding::note(name, "on: the frequency changes with heat and with what other cores do", remedy)
    } else {
        Finding::good(name, "off: the frequency doesn't depend on heat and other cores")
    }
}

/// Do the CPUs to measure on share a core?
pub(super) fn siblings(root: &Root, allowed: &[u32]) -> Finding {
    let name = "smt";
    let pair = cpu::choose_pair_of(root, allowed);
    if let Some((a, b)) = pair.filter(|(a, b)| cpu::threads_of_core(root, *a).contains(b)) {
        let found = format!(
            "CPUs {a} and {b}, all that this process may use, are threads of one core: both ends slow each other down"
        );
        return Finding::warn(name, found, "allow CPUs of two cores (taskset, cpuset, container limits)");
    }
    let shared = pair.and_then(|(a, b)| {
        [a, b].into_iter().find_map(|cpu| {
            let other = cpu::threads_of_core(root, cpu).into_iter().find(|t| *t != cpu)?;
            // A sibling that runs nothing does no harm: it is off line.
            let online = root.cpus("sys/devices/system/cpu/online").is_none_or(|o| o.contains(&other));
            online.then_some((cpu, other))
        })
    });
    match shared {
        Some((cpu, other)) if root.text("sys/devices/system/cpu/smt/active").is_none_or(|t| t != "0") => {
            let found =
                format!("CPU {cpu} shares its core with CPU {other}: work there slows it down, unseen by its own load");
            Finding::note(
                name,
                found,
                format!("keep CPU {other} idle, or echo off > /sys/devices/system/cpu/smt/control (as root)"),
            )
        }
        _ => Finding::good(name, "each CPU to measure on has a core of its own, as far as the system says"),
    }
}

/// Are CPUs kept free of other work?
pub(super) fn isolated(root: &Root) -> Finding {
    let name = "isolated-cpus";
    match root.cpus("sys/devices/system/cpu/isolated").filter(|c| !c.is_empty()) {
        Some(cpus) => {
            let found = format!("the kernel keeps other work off CPUs {}", list(&cpus));
            Finding::note(name, found, format!("pin to them with --pin ({})", list(&cpus)))
        }
        None => Finding::good(name, "none: the kernel may run other work on every CPU, as on most machines"),
    }
}

/// What do system calls pay for the CPU's flaws?
pub(super) fn mitigations(root: &Root) -> Finding {
    let (name, at) = ("mitigations", "sys/devices/system/cpu/vulnerabilities");
    let on: Vec<String> = root
        .names(at)
        .into_iter()
        .filter(|flaw| root.text(format!("{at}/{flaw}")).is_some_and(|t| t.starts_with("Mitigation")))
        .collect();
    if on.is_empty() {
        return Finding::good(name, "none that costs time on this CPU");
    }
    let found =
        format!("on for {}: system calls and context switches cost more than the bare CPU would need", on.join(", "));
    Finding::note(name, found, "leave them on; compare only machines with the same ones")
}

/// Does someone else own the hardware?
pub(super) fn virtual_machine(root: &Root) -> Finding {
    let name = "virtual-machine";
    match system::hypervisor(root) {
        None => Finding::good(name, "no sign of a hypervisor"),
        Some(hypervisor) => {
            let found = format!("runs under a hypervisor: {hypervisor}; its other guests can take time unseen");
            Finding::note(
                name,
                found,
                "repeat runs at other times, and read the expected range of a repeat beside each figure",
            )
        }
    }
}

/// Pins a thread of its own to an allowed CPU.
pub(super) fn try_to_pin(allowed: &[u32]) -> io::Result<()> {
    let Some(cpu) = allowed.first().copied() else { return Ok(()) };
    start(move || pin_this_thread(cpu))?.join().unwrap_or_else(|_| Err(io::Error::other("the thread died")))
}

/// Can both ends have a CPU of their own?
pub(super) fn pinning(allowed: &[u32], tried: io::Result<()>) -> Finding {
    let name = "pinning";
    match (tried, allowed.len()) {
        (Err(e), _) if e.kind() == io::ErrorKind::WouldBlock => Finding::warn(name, e.to_string(), THREADS),
        (Err(e), _) => {
            Finding::warn(name, e.to_string(), "allow sched_setaffinity (a container or seccomp filter forbids it)")
        }
        (Ok(()), 0) => Finding::warn(name, "the system doesn't say which CPUs may be used", "allow sched_getaffinity"),
        (Ok(()), 1) => {
            let found = format!(
                "only CPU {} may be used: both ends share it, and a spinning wait would block the other end",
                allowed[0]
            );
            Finding::warn(name, found, "allow two CPUs (taskset, cpuset, container limits, a larger machine)")
        }
        (Ok(()), n) => Finding::good(name, format!("possible; {n} CPUs may be used: {}", list(allowed))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::fixture::{self, Fixture};

    #[test]
    fn governors() {
        let of = |f: Fixture| governor(&f.root(), &[0, 1]);
        assert_eq!(of(Fixture::workstation()).level, Level::Good);
        let mixed = of(Fixture::workstation().file(&fixture::governor(1), "powersave\n"));
        assert_eq!(mixed.level, Level::Warn);
        assert!(mixed.found.starts_with("performance, powersave: ") && mixed.remedy.unwrap().contains("performance"));
        assert_eq!(of(Fixture::empty()).level, Level::Note);
    }

    #[test]
    fn boost_of_both_drivers() {
        let of = |file: &str, text: &str| boost(&Fixture::empty().file(file, text).root()).level;
        assert_eq!(of("sys/devices/system/cpu/cpufreq/boost", "0\n"), Level::Good);
        assert_eq!(of("sys/devices/system/cpu/cpufreq/boost", "1\n"), Level::Note);
        assert_eq!(of("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"), Level::Good);
        assert_eq!(of("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"), Level::Note);
        assert_eq!(boost(&Fixture::empty().root()).level, Level::Note);
    }

    #[test]
    fn threads_of_one_core() {
        let root = Fixture::workstation();
        assert_eq!(siblings(&root.root(), &[0, 2]).level, Level::Warn);
        // The fixture's sibling threads are on line unless something says otherwise.
        let f = Fixture::workstation().file("sys/devices/system/cpu/smt/active", "1");
        let shared = siblings(&f.root(), &[0, 1]);
        assert_eq!(shared.level, Level::Note);
        assert!(shared.found.contains("CPU 0 shares its core with CPU 2"), "{}", shared.found);
        let f = f.file("sys/devices/system/cpu/online", "0-1");
        assert_eq!(siblings(&f.root(), &[0, 1]).level, Level::Good);
        let plain = Fixture::empty().core(0, &[0], "0-1").core(1, &[1], "0-1");
        assert_eq!(siblings(&plain.root(), &[0, 1]).level, Level::Good);
    }

    #[test]
    fn isolated_cpus() {
        let of = |text: &str| isolated(&Fixture::empty().file("sys/devices/system/cpu/isolated", text).root());
        assert_eq!(of("\n").level, Level::Good);
        let some = of("2-3\n");
        assert!(some.level == Level::Note && some.remedy.unwrap().contains("2, 3"));
    }

    #[test]
    fn mitigations_in_force() {
        let at = "sys/devices/system/cpu/vulnerabilities";
        let clean = Fixture::empty().file(&format!("{at}/meltdown"), "Not affected\n");
        assert_eq!(mitigations(&clean.root()).level, Level::Good);
        let f = clean.file(&format!("{at}/spectre_v2"), "Mitigation: Enhanced IBRS\n");
        let on = mitigations(&f.root());
        assert!(on.level == Level::Note && on.found.starts_with("on for spectre_v2: "), "{on:?}");
    }

    #[test]
    fn hypervisors() {
        assert_eq!(virtual_machine(&Fixture::workstation().root()).level, Level::Good);
        let f = Fixture::workstation().file("sys/class/dmi/id/sys_vendor", "QEMU\n");
        let guest = virtual_machine(&f.root());
        assert!(guest.level == Level::Note && guest.found.contains("KVM"));
    }

    #[test]
    fn pins() {
        assert_eq!(pinning(&[0, 1], Ok(())).level, Level::Good);
        assert_eq!(pinning(&[3], Ok(())).level, Level::Warn);
        assert_eq!(pinning(&[], Ok(())).level, Level::Warn);
        let refused = pinning(&[0, 1], Err(io::Error::other("not permitted")));
        assert!(refused.level == Level::Warn && refused.found == "not permitted");
        let full = pinning(&[0, 1], Err(io::Error::from_raw_os_error(11)));
        assert!(full.level == Level::Warn && full.remedy.unwrap().contains("ulimit -u"));
        assert_eq!(list(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), "1, 2, 3, 4, 5, 6, 7, 8, ...");
    }
}
