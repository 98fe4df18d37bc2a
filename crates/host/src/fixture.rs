//! Trees of files that stand for a machine in tests.

use std::fs;
use std::os::unix::fs::symlink;

use crate::Root;

/// A directory with a `proc` and a `sys`, removed when dropped.
pub struct Fixture(tempfile::TempDir);

impl Fixture {
    /// Nothing can be read.
    pub fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A bare machine of two cores with two threads each, all in order.
    pub fn workstation() -> Self {
        let mut f = Self::empty()
            .file("proc/sys/kernel/hostname", "bench1\n")
            .file("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
            .file("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n")
            .file(
                "etc/os-release",
                "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n",
            )
            .file(
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: AMD EPYC 7543 32-Core Processor\nflags\t\t: fpu tsc constant_tsc\n",
            )
            .file("proc/meminfo", "MemTotal:       65780124 kB\nMemFree:        60000000 kB\n")
            .file("proc/loadavg", "0.12 0.34 0.56 1/234 5678\n")
            .file("proc/stat", "cpu  1000 0 500 97000 10 0 5 0 0 0\ncpu0 500 0 250 48500 5 0 2 0 0 0\n")
            .file("proc/net/if_inet6", "00000000000000000000000000000001 01 80 10 80       lo\n")
            .file("proc/sys/kernel/pid_max", "4194304\n")
            .file("proc/sys/kernel/sched_rt_runtime_us", "950000\n")
            .file("proc/sys/net/core/rmem_max", "16777216\n")
            .file("proc/sys/net/core/wmem_max", "16777216\n")
            .file("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t16777216\n")
            .file("proc/sys/net/ipv4/tcp_wmem", "4096\t131072\t16777216\n")
            .file("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n")
            .file("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
            .file("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n")
            .file("sys/devices/system/cpu/cpufreq/boost", "0\n")
            .file("sys/devices/system/cpu/isolated", "\n")
            .file("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n")
            .file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
            .file("sys/class/dmi/id/sys_vendor", "Supermicro\n")
            .file("sys/class/net/lo/mtu", "65536\n")
            .file("sys/class/net/lo/operstate", "unknown\n")
            .file("sys/class/net/lo/flags", "0x9\n")
            .file("sys/class/net/eth0/mtu", "9000\n")
            .file("sys/class/net/eth0/operstate", "up\n")
            .file("sys/class/net/eth0/speed", "25000\n")
            .link("sys/class/net/eth0/device/driver", "../../../bus/pci/drivers/mlx5_core");
        for cpu in 0..4 {
            // Threads 0 and 2 share a core, so do 1 and 3; all share the last-level cache.
            f = f.core(cpu, &[cpu % 2, cpu % 2 + 2], "0-3").file(&governor(cpu), "performance\n");
        }
        f
    }

    /// Adds or replaces a file.
    pub fn file(self, name: &str, text: &str) -> Self {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Adds a symbolic link.
    pub fn link(self, name: &str, target: &str) -> Self {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// Removes a file.
    pub fn without(self, name: &str) -> Self {
        fs::remove_file(self.0.path().join(name)).unwrap();
        self
    }

    /// Adds a CPU: the threads of its core, and who shares its 32 MiB of last-level cache.
    pub fn core(self, cpu: u32, threads: &[u32], sharing: &str) -> Self {
        let at = format!("sys/devices/system/cpu/cpu{cpu}");
        let threads = threads.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        self.file(&format!("{at}/topology/thread_siblings_list"), &threads)
            .file(&format!("{at}/cache/index0/level"), "1\n")
            .file(&format!("{at}/cache/index0/type"), "Data\n")
            .file(&format!("{at}/cache/index0/size"), "32K\n")
            .file(&format!("{at}/cache/index0/shared_cpu_list"), &threads)
            .file(&format!("{at}/cache/index3/level"), "3\n")
            .file(&format!("{at}/cache/index3/type"), "Unified\n")
            .file(&format!("{at}/cache/index3/size"), "32768K\n")
            .file(&format!("{at}/cache/index3/shared_cpu_list"), sharing)
    }

    /// The root of this tree.
    pub fn root(&self) -> Root {
        Root::at(self.0.path())
    }
}

/// Where a CPU's governor is.
pub fn governor(cpu: u32) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor")
}
