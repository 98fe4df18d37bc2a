//! Limits of this process and of the system.

use rustix::process::{Resource, getrlimit};
use units::Bytes;

use super::Finding;
use crate::Root;

/// The limits of this process, as they are now.
pub(super) fn of_this_process() -> [Finding; 2] {
    [open_files(getrlimit(Resource::Nofile).current), locked_memory(getrlimit(Resource::Memlock).current)]
}

/// Files and sockets at once; none is no limit. One path needs about ten.
fn open_files(limit: Option<u64>) -> Finding {
    let name = "open-files";
    let remedy = "ulimit -n 1024, or more for patterns with many connections";
    match limit {
        None => Finding::good(name, "no limit"),
        Some(n @ ..64) => {
            Finding::warn(name, format!("{n} files and sockets at most: too few for several paths"), remedy)
        }
        Some(n @ ..1024) => Finding::note(name, format!("{n} files and sockets at most"), remedy),
        Some(n) => Finding::good(name, format!("{n} files and sockets at most")),
    }
}

/// Memory that may be kept from being paged out; none is no limit.
fn locked_memory(limit: Option<u64>) -> Finding {
    let name = "locked-memory";
    match limit {
        None => Finding::good(name, "no limit"),
        Some(n) if n >= 64 << 20 => Finding::good(name, format!("{} at most", Bytes(n))),
        Some(n) => {
            let found = format!(
                "{} at most: registered memory (RDMA, io_uring, XDP) may not fit; the built-in transports do",
                Bytes(n)
            );
            Finding::note(
                name,
                found,
                "ulimit -l unlimited (as root, or in limits.conf) before you use such a transport",
            )
        }
    }
}

/// Processes that the system can number.
pub(super) fn process_ids(root: &Root) -> Finding {
    let name = "process-ids";
    let remedy = "sysctl kernel.pid_max=32768 (as root): each round starts a fresh far process";
    match root.value::<u64>("proc/sys/kernel/pid_max") {
        None => Finding::note(name, "the system doesn't say how many processes it can number", remedy),
        Some(n @ ..4096) => Finding::warn(name, format!("{n} process numbers: few to start processes often"), remedy),
        Some(n) => Finding::good(name, format!("{n} process numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn limits_wide_and_narrow() {
        let files = |n| open_files(n).level;
        assert_eq!(
            (files(None), files(Some(1024)), files(Some(256)), files(Some(16))),
            (Level::Good, Level::Good, Level::Note, Level::Warn)
        );
        let locked = |n| locked_memory(n).level;
        assert_eq!(
            (locked(None), locked(Some(64 << 20)), locked(Some(64 << 10))),
            (Level::Good, Level::Good, Level::Note)
        );
        let ids = |text: &str| process_ids(&Fixture::empty().file("proc/sys/kernel/pid_max", text).root()).level;
        assert_eq!((ids("4194304"), ids("1000"), ids("x")), (Level::Good, Level::Warn, Level::Note));
    }
}
