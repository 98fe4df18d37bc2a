//! CPUs: which this process may use, how they share cores and caches, and which two to measure on.

use std::cmp::Reverse;
use std::io;
use std::sync::OnceLock;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Root;

/// CPUs that the calling thread may run on, ascending. Empty if the system doesn't say.
pub fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU as u32).filter(|cpu| set.is_set(*cpu as usize)).collect()
}

/// CPUs that the first thread of this process to be pinned might run on before: what the process itself may use. A process
/// that a pinned thread starts inherits the pin and can't know.
pub fn cpus_before_pinning() -> Vec<u32> {
    BEFORE.get().cloned().unwrap_or_else(allowed_cpus)
}

static BEFORE: OnceLock<Vec<u32>> = OnceLock::new();

/// Lets the calling thread, and threads and processes that it starts from now on, run on any of `cpus`: for threads that
/// inherited a pin and have no part in the measuring. Where the system refuses, the thread stays where it is.
pub fn run_on(cpus: &[u32]) {
    let mut set = CpuSet::new();
    cpus.iter().filter(|cpu| (**cpu as usize) < CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu as usize));
    if set.count() > 0 {
        let _ = sched_setaffinity(None, &set);
    }
}

/// Pins the calling thread, and threads and processes that it starts from now on, to `cpu`.
pub fn pin_this_thread(cpu: u32) -> io::Result<()> {
    if cpu as usize >= CpuSet::MAX_CPU {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("there is no CPU {cpu}")));
    }
    BEFORE.get_or_init(allowed_cpus);
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set).map_err(|e| {
        let e = io::Error::from(e);
        io::Error::new(e.kind(), format!("pinning to CPU {cpu}: {e} (allowed here: {:?})", allowed_cpus()))
    })
}

/// Two of the `allowed` CPUs to measure on: different physical cores, the same last-level cache if possible, not CPU 0
/// if possible (it serves most interrupts), the lowest numbers otherwise. If all that is allowed lies on one core, two
/// of its threads. None if fewer than two are allowed.
pub fn choose_pair(allowed: &[u32]) -> Option<(u32, u32)> {
    choose_pair_of(&Root::system(), allowed)
}

/// [`choose_pair`] on the machine below `root`.
pub fn choose_pair_of(root: &Root, allowed: &[u32]) -> Option<(u32, u32)> {
    let mut cpus = allowed.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    let places: Vec<Place> = cpus.iter().map(|cpu| Place::of(root, *cpu)).collect();
    let pairs = places.iter().enumerate().flat_map(|(i, a)| places[i + 1..].iter().map(move |b| (a, b)));
    let (a, b) = pairs.max_by_key(|(a, b)| {
        let one_cache = a.cache.is_some() && a.cache == b.cache;
        (a.core != b.core, one_cache, a.cpu != 0, Reverse((a.cpu, b.cpu)))
    })?;
    Some((a.cpu, b.cpu))
}

/// Where a CPU is. The first of the CPUs that share it names a core or a cache.
struct Place {
    cpu: u32,
    core: u32,
    cache: Option<u32>,
}

impl Place {
    fn of(root: &Root, cpu: u32) -> Self {
        let core = threads_of_core(root, cpu).first().copied().unwrap_or(cpu);
        let cache = last_cache_index(root, cpu).and_then(|i| root.cpus(format!("{i}/shared_cpu_list")));
        Self { cpu, core, cache: cache.and_then(|c| c.first().copied()) }
    }
}

/// The CPUs that are threads of the same physical core as `cpu`, itself among them; empty if the system doesn't say.
pub fn threads_of_core(root: &Root, cpu: u32) -> Vec<u32> {
    let at = format!("sys/devices/system/cpu/cpu{cpu}/topology");
    ["thread_siblings_list", "core_cpus_list"]
        .iter()
        .find_map(|name| root.cpus(format!("{at}/{name}")))
        .unwrap_or_default()
}

/// Bytes of the last-level cache of the first CPU that tells; none where sysfs doesn't say (the caller may then assume
/// 32 MiB and must say so).
pub fn last_level_cache(root: &Root) -> Option<u64> {
    root.names("sys/devices/system/cpu").iter().find_map(|name| {
        let cpu = name.strip_prefix("cpu")?.parse().ok()?;
        size(&root.text(format!("{}/size", last_cache_index(root, cpu)?))?)
    })
}

/// The directory of the data cache with the highest level.
fn last_cache_index(root: &Root, cpu: u32) -> Option<String> {
    let at = format!("sys/devices/system/cpu/cpu{cpu}/cache");
    let indices = root.names(&at).into_iter().filter(|n| n.starts_with("index")).map(|n| format!("{at}/{n}"));
    indices
        .filter(|i| root.text(format!("{i}/type")).is_none_or(|t| t != "Instruction"))
        .filter_map(|i| Some((root.value::<u32>(format!("{i}/level"))?, i)))
        .max()
        .map(|(_, index)| index)
}

/// "1024K" as sysfs writes cache sizes, in bytes.
fn size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1024),
        (at, 'M') => (&text[..at], 1024 * 1024),
        (at, 'G') => (&text[..at], 1024 * 1024 * 1024),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The CPU's name: "model name" where the architecture has one.
pub(crate) fn model(root: &Root) -> Option<String> {
    let text = root.text("proc/cpuinfo")?;
    ["model name", "Model", "cpu model", "cpu"].iter().find_map(|key| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == *key && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    })
}

/// The frequency governor of `cpu`.
pub(crate) fn governor(root: &Root, cpu: u32) -> Option<String> {
    root.text(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"))
}

/// Does `start` with this thread on every CPU that it had before it was pinned: what starts inherits that, and a wrapper that chooses CPUs
/// chooses among all.
pub fn unpinned<T>(start: impl FnOnce() -> T) -> T {
    let pinned = allowed_cpus();
    run_on(&cpus_before_pinning());
    let started = start();
    run_on(&pinned);
    started
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_pair_lies_on_two_cores_away_from_cpu_0() {
        let root = Fixture::workstation();
        // Threads (0, 2) and (1, 3) are cores: 1 and 2 are the first pair on two of them without CPU 0.
        assert_eq!(choose_pair_of(&root.root(), &[0, 1, 2, 3]), Some((1, 2)));
        assert_eq!(choose_pair_of(&root.root(), &[3, 0]), Some((0, 3)));
        assert_eq!(choose_pair_of(&root.root(), &[0, 2]), Some((0, 2)), "one core is better than nothing");
        assert_eq!(choose_pair_of(&root.root(), &[2]), None);
        assert_eq!(choose_pair_of(&root.root(), &[]), None);
    }

    #[test]
    fn a_pair_shares_the_last_level_cache_if_it_can() {
        let f = Fixture::empty().core(0, &[0], "0-1").core(1, &[1], "0-1").core(2, &[2], "2-3").core(3, &[3], "2-3");
        assert_eq!(choose_pair_of(&f.root(), &[0, 1, 2, 3]), Some((2, 3)));
        assert_eq!(choose_pair_of(&f.root(), &[0, 1, 2]), Some((0, 1)), "the cache matters more than CPU 0");
        assert_eq!(choose_pair_of(&f.root(), &[1, 2]), Some((1, 2)));
    }

    #[test]
    fn a_machine_that_says_nothing_still_gives_a_pair() {
        assert_eq!(choose_pair_of(&Fixture::empty().root(), &[0, 1]), Some((0, 1)));
        assert_eq!(choose_pair_of(&Fixture::empty().root(), &[4, 6, 9]), Some((4, 6)));
    }

    #[test]
    fn the_last_level_cache_is_the_highest_data_cache() {
        assert_eq!(last_level_cache(&Fixture::workstation().root()), Some(32 << 20));
        assert_eq!(last_level_cache(&Fixture::empty().root()), None);
        let small = Fixture::empty()
            .file("sys/devices/system/cpu/cpu0/cache/index1/level", "4")
            .file("sys/devices/system/cpu/cpu0/cache/index1/type", "Instruction")
            .file("sys/devices/system/cpu/cpu0/cache/index2/level", "2")
            .file("sys/devices/system/cpu/cpu0/cache/index2/size", "1M");
        assert_eq!(last_level_cache(&small.root()), Some(1 << 20));
        assert_eq!((size("512K"), size("64"), size("x"), size("")), (Some(524_288), Some(64), None, None));
    }

    #[test]
    fn cpu_models_of_several_architectures() {
        let named = |text: &str| model(&Fixture::empty().file("proc/cpuinfo", text).root());
        assert_eq!(named("processor\t: 0\nmodel name\t: EPYC\n").as_deref(), Some("EPYC"));
        assert_eq!(named("processor\t: 0\ncpu\t\t: POWER9\n").as_deref(), Some("POWER9"));
        assert_eq!(named("processor : 0\n\nModel\t: Raspberry Pi 4\n").as_deref(), Some("Raspberry Pi 4"));
        assert_eq!(named("processor : 0\n"), None);
    }

    #[test]
    fn a_thread_can_be_pinned_to_what_it_may_use_and_nothing_else() {
        // A thread of its own: the pin must not outlive the test.
        std::thread::spawn(|| {
            let allowed = allowed_cpus();
            let last = *allowed.last().unwrap();
            pin_this_thread(last).unwrap();
            assert_eq!(allowed_cpus(), [last]);
            assert_eq!(cpus_before_pinning(), allowed);
            run_on(&cpus_before_pinning());
            assert_eq!(allowed_cpus(), allowed);
            run_on(&[]);
            assert_eq!(allowed_cpus(), allowed, "nowhere is no place to run");
            assert!(pin_this_thread(1_000_000).unwrap_err().to_string().contains("no CPU 1000000"));
            let none = CpuSet::MAX_CPU as u32 - 1;
            assert!(pin_this_thread(none).unwrap_err().to_string().contains("pinning to CPU"));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn what_is_done_unpinned_has_all_cpus_and_this_thread_its_own_again() {
        std::thread::spawn(|| {
            let all = allowed_cpus();
            pin_this_thread(all[0]).unwrap();
            assert_eq!(unpinned(allowed_cpus), cpus_before_pinning());
            assert_eq!(allowed_cpus(), [all[0]]);
        })
        .join()
        .unwrap();
    }
}
