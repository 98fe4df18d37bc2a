//! Huge pages, shared memory, and room for the run file.

use std::io;
use std::path::Path;

use rustix::fs::{Access, MemfdFlags, access, memfd_create, statvfs};
use units::Bytes;

use super::Finding;
use crate::Root;

/// Does the kernel change page sizes on its own?
pub(super) fn huge_pages(root: &Root) -> Finding {
    let name = "huge-pages";
    let text = root.text("sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_else(|| "[never]".to_owned());
    let chosen = text.split(['[', ']']).nth(1).unwrap_or(&text);
    if chosen == "always" {
        let found = "always: the kernel may turn large buffers into huge pages in the middle of a measurement";
        let remedy =
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root), or distrust large memcpy messages";
        return Finding::note(name, found, remedy);
    }
    Finding::good(name, format!("{chosen}: the kernel doesn't change the pages of buffers on its own"))
}

/// Is there a directory in memory?
pub(super) fn shared_memory(root: &Root) -> Finding {
    let (name, at) = ("dev-shm", root.path("dev/shm"));
    if at.is_dir() && access(&at, Access::WRITE_OK).is_ok() {
        Finding::good(name, "/dev/shm can be written to")
    } else {
        let remedy =
            "mount a tmpfs there if you compare with MPI or UCX, which need it; pipegauge's own transports don't";
        Finding::note(name, "/dev/shm is not there or can't be written to", remedy)
    }
}

/// Makes memory that can be shared, and lets it go.
pub(super) fn try_memfd() -> io::Result<()> {
    memfd_create("pipegauge-doctor", MemfdFlags::CLOEXEC).map(drop).map_err(io::Error::from)
}

/// Can two processes share memory?
pub(super) fn memfd(tried: io::Result<()>) -> Finding {
    let name = "memfd";
    match tried {
        Ok(()) => Finding::good(name, "memory can be shared between processes"),
        Err(e) => {
            let remedy = "allow memfd_create (a container or seccomp filter forbids it); shm needs it";
            Finding::warn(name, format!("memfd_create: {e}"), remedy)
        }
    }
}

/// Bytes that an ordinary user may still write to the file system of `path`.
pub(super) fn measure_free_space(path: &Path) -> io::Result<u64> {
    let stat = statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Is there room for the run file? A default run writes a few MiB.
pub(super) fn free_space(free: io::Result<u64>) -> Finding {
    let name = "disk-space";
    let remedy = "free some space, or name another place with -o";
    match free {
        Ok(free) => {
            // Whole MiB, or GiB where there are many: nobody counts the bytes of a disk.
            let unit = if free >> 30 >= 10 { 30 } else { 20 };
            let found = format!("{} free in the current directory", Bytes(free >> unit << unit));
            match free >> 20 {
                0..10 => Finding::warn(name, found, remedy),
                10..200 => Finding::note(name, found, remedy),
                _ => Finding::good(name, found),
            }
        }
        Err(e) => Finding::note(name, format!("the free space in the current directory can't be read: {e}"), remedy),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn huge_page_modes() {
        let of = |text: &str| {
            huge_pages(&Fixture::empty().file("sys/kernel/mm/transparent_hugepage/enabled", text).root()).level
        };
        assert_eq!(of("[always] madvise never\n"), Level::Note);
        assert_eq!((of("always [madvise] never\n"), of("always madvise [never]\n")), (Level::Good, Level::Good));
        assert_eq!(huge_pages(&Fixture::empty().root()).level, Level::Good);
    }

    #[test]
    fn shared_memory_there_and_not() {
        assert_eq!(shared_memory(&Fixture::empty().root()).level, Level::Note);
        assert_eq!(shared_memory(&Fixture::empty().file("dev/shm/x", "").root()).level, Level::Good);
        assert_eq!(memfd(Ok(())).level, Level::Good);
        assert_eq!(memfd(Err(io::Error::other("no"))).level, Level::Warn);
    }

    #[test]
    fn room_on_the_disk() {
        let level = |mib: u64| free_space(Ok(mib << 20)).level;
        assert_eq!((level(9), level(10), level(199), level(200)), (Level::Warn, Level::Note, Level::Note, Level::Good));
        assert_eq!(free_space(Err(io::Error::other("no"))).level, Level::Note);
        assert!(measure_free_space(&std::env::temp_dir()).is_ok());
        assert!(measure_free_space(Path::new("/nowhere/at/all")).is_err());
    }
}
