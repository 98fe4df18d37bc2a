//! What the control groups around this process allow it: the limits of containers and services.

use units::Bytes;

use super::Finding;
use crate::cgroup::groups;
use crate::{Root, cpu};

/// CPU time that a measurement takes: both ends may spin all the time.
const CPUS: f64 = 2.0;

/// Pools of twice the last-level cache that `--cache cold` walks over: two on each side.
const COLD_POOLS: u64 = 4;

/// Taken for the last-level cache where the system doesn't say, as `--cache cold` does.
const UNKNOWN_CACHE: u64 = 64 << 20;

/// CPUs' worth of time that a group may take; none where it is not limited.
fn group_cpus(root: &Root, group: &str) -> Option<f64> {
    let (quota, period) = match root.text(format!("{group}/cpu.max")) {
        Some(text) => {
            let (quota, period) = text.split_once(' ')?;
            // "max" is no number.
            (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
        }
        None => (root.value(format!("{group}/cpu.cfs_quota_us"))?, root.value(format!("{group}/cpu.cfs_period_us"))?),
    };
    // Version 1 writes -1 for no limit.
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// May both ends run all the time?
pub(super) fn cpu_quota(root: &Root) -> Finding {
    let name = "cpu-quota";
    let quota = groups(root, "cpu").iter().filter_map(|group| group_cpus(root, group)).reduce(f64::min);
    match quota {
        None => Finding::good(name, "no control group limits this process's CPU time"),
        Some(cpus) if cpus >= CPUS => Finding::good(name, format!("{cpus:.2} CPUs' worth of time")),
        Some(cpus) => Finding::warn(
            name,
            format!(
                "{cpus:.2} CPUs' worth of time for all of this container or service: where two ends run without a pause, \
                 the kernel stops both for tens of milliseconds in each tenth of a second"
            ),
            "allow two CPUs and more: docker run --cpus, Kubernetes' limits.cpu, systemd's CPUQuota=",
        ),
    }
}

/// Does what is measured fit?
pub(super) fn memory_limit(root: &Root) -> Finding {
    let name = "memory-limit";
    let limit = |group: &String| {
        let of = |file: &str| root.value::<u64>(format!("{group}/{file}"));
        of("memory.max").or_else(|| of("memory.limit_in_bytes"))
    };
    // Version 1 has a number of pages beyond any memory for no limit.
    let limits = groups(root, "memory");
    let Some(limit) = limits.iter().filter_map(limit).filter(|bytes| *bytes < 1 << 60).min() else {
        return Finding::good(name, "no control group limits this process's memory");
    };
    let cold = COLD_POOLS.saturating_mul(2 * cpu::last_level_cache(root).unwrap_or(UNKNOWN_CACHE));
    if limit > cold {
        return Finding::good(name, format!("{} at most", Bytes(limit)));
    }
    let found = format!(
        "{} at most for all of this container or service: --cache cold takes {}, and the kernel kills who takes more than \
         the limit",
        Bytes(limit),
        Bytes(cold)
    );
    Finding::note(
        name,
        found,
        "leave out --cache cold, or allow more: docker run --memory, Kubernetes' limits.memory, systemd's MemoryMax=",
    )
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn the_narrowest_of_the_groups_around_this_process_counts() {
        let f = Fixture::empty().file("proc/self/cgroup", "0::/system.slice/x.service\n");
        assert_eq!(cpu_quota(&f.root()).level, Level::Good);
        let f = f
            .file("sys/fs/cgroup/system.slice/x.service/cpu.max", "400000 100000\n")
            .file("sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
        assert_eq!(cpu_quota(&f.root()).level, Level::Good);
        let f = f.file("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n");
        let narrow = cpu_quota(&f.root());
        assert!(narrow.level == Level::Warn && narrow.found.starts_with("1.50 CPUs"), "{narrow:?}");
        assert!(narrow.remedy.unwrap().contains("--cpus"));
        let other = f.file("proc/self/cgroup", "0::/other\n");
        assert_eq!(cpu_quota(&other.root()).level, Level::Good);
    }

    #[test]
    fn a_container_sees_its_group_as_the_root() {
        for path in ["/", "/docker/0123", "/../other"] {
            let f = Fixture::empty()
                .file("proc/self/cgroup", &format!("0::{path}\n"))
                .file("sys/fs/cgroup/cpu.max", "100000 100000\n");
            assert_eq!(cpu_quota(&f.root()).level, Level::Warn, "{path}");
        }
    }

    #[test]
    fn version_1_has_a_directory_for_each_controller() {
        let f = Fixture::empty().file("proc/self/cgroup", "5:cpu,cpuacct:/a/b\n4:memory:/a\n3:cpuset:/c\n");
        let at = "sys/fs/cgroup";
        let unlimited = f
            .file(&format!("{at}/cpu/a/b/cpu.cfs_quota_us"), "-1\n")
            .file(&format!("{at}/cpu/a/b/cpu.cfs_period_us"), "100000\n")
            .file(&format!("{at}/memory/a/memory.limit_in_bytes"), "9223372036854771712\n");
        assert_eq!(cpu_quota(&unlimited.root()).level, Level::Good);
        assert_eq!(memory_limit(&unlimited.root()).level, Level::Good);
        let limited = unlimited
            .file(&format!("{at}/cpu/a/b/cpu.cfs_quota_us"), "50000\n")
            .file(&format!("{at}/memory/a/memory.limit_in_bytes"), "104857600\n");
        assert!(cpu_quota(&limited.root()).found.starts_with("0.50 CPUs"));
        assert_eq!(memory_limit(&limited.root()).level, Level::Note);
    }

    #[test]
    fn memory_is_held_against_what_a_cold_cache_takes() {
        // 32 MiB of last-level cache: pools of 64 MiB, four of them.
        let of = |text: &str| {
            let f = Fixture::workstation().file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/memory.max", text);
            memory_limit(&f.root())
        };
        assert_eq!((of("max\n").level, of("1073741824\n").level), (Level::Good, Level::Good));
        let narrow = of("134217728\n");
        assert!(narrow.level == Level::Note, "{narrow:?}");
        assert!(narrow.found.contains("128 MiB") && narrow.found.contains("256 MiB"), "{narrow:?}");
    }
}
