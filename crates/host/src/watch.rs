//! The CPU time that others took of the CPUs measured on.

use crate::cgroup::{groups, throttlings};
use crate::taken::{self, Charged, Moment, Taken, Ticks};
use crate::{Root, clock};

/// Ticks that must have passed before a share is told: `/proc/stat` counts in ticks, and fewer would be mostly
/// rounding.
const FEWEST_TICKS: f64 = 5.0;

/// Watches some CPUs for time taken by anyone but our own processes: other programs, the hypervisor (steal), and the CPU quota
/// of the control groups around this process.
///
/// From `/proc/stat` less our processes' own time in `/proc/PID/stat`; good to about two ticks (usually 20 ms) a call.
///
/// Our processes must run on the watched CPUs alone: their time is subtracted whole, wherever it was spent.
///
/// Interrupt time is special: whether the kernel charges it to the process that was interrupted depends on how it was
/// built, and the loopback device's work is done in such time. It counts as charged from the first call on that shows
/// our processes with more time than the CPUs spent on tasks; until then it is left out. Stolen time the same.
#[derive(Debug)]
pub struct CpuWatch {
    root: Root,
    cpus: Vec<u32>,
    own: Vec<u32>,
    groups: Vec<String>,
    ticks_per_second: f64,
    charged: Charged,
    last: Option<Moment>,
}

impl CpuWatch {
    /// Watches `cpus`; the processes `own` (process ids) are not others. What is told first covers the time from here.
    pub fn new(cpus: &[u32], own: &[u32]) -> Self {
        Self::of(Root::system(), cpus, own, rustix::param::clock_ticks_per_second() as f64, seconds())
    }

    fn of(root: Root, cpus: &[u32], own: &[u32], ticks_per_second: f64, at: f64) -> Self {
        let (cpus, own, groups) = (each_once(cpus), each_once(own), groups(&root, "cpu"));
        let mut watch = Self { root, cpus, own, groups, ticks_per_second, charged: Charged::default(), last: None };
        watch.last = watch.moment(at);
        watch
    }

    /// What was taken of the watched CPUs since this was told last. None where it can't be known: counters can't be read, a
    /// process of our own has ended, or too little time has passed; in the last case the next call covers this time as well.
    pub fn taken(&mut self) -> Option<Taken> {
        self.taken_at(seconds())
    }

    fn taken_at(&mut self, at: f64) -> Option<Taken> {
        if self.last.as_ref().is_some_and(|last| (at - last.at) * self.ticks_per_second < FEWEST_TICKS) {
            return None;
        }
        let now = self.moment(at);
        let last = std::mem::replace(&mut self.last, now);
        // Counters are read one after another and rounded each: two ticks a CPU are no evidence.
        let slack = 2.0 * self.cpus.len() as f64;
        taken::between(&last?, self.last.as_ref()?, &mut self.charged, slack, self.ticks_per_second)
    }

    fn moment(&self, at: f64) -> Option<Moment> {
        let cpus = Ticks::parse(&self.root.text("proc/stat")?, &self.cpus)?;
        let own = self.own.iter().map(|pid| process_ticks(&self.root.text(format!("proc/{pid}/stat"))?)).sum();
        Some(Moment { at, cpus, own, throttled: throttlings(&self.root, &self.groups) })
    }
}

/// Both sides may be pinned to one CPU, whose time must not count twice.
fn each_once(numbers: &[u32]) -> Vec<u32> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn seconds() -> f64 {
    clock::nanoseconds() as f64 * 1e-9
}

/// A process's utime + stime (fields 14 and 15). Its name, in parentheses, may hold anything.
fn process_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11).map(|f| f.parse::<u64>().ok());
    Some(fields.next()?? + fields.next()??)
}

/// Share of all CPU time since the start that the hypervisor kept to itself, from `/proc/stat`.
pub(crate) fn steal_share(root: &Root) -> Option<f64> {
    let stat = root.text("proc/stat")?;
    let line = stat.lines().find(|l| l.starts_with("cpu "))?;
    let fields: Vec<u64> = line.split_whitespace().skip(1).map_while(|f| f.parse().ok()).collect();
    let all: u64 = fields.iter().take(8).sum();
    (all > 0).then(|| fields.get(7).copied().unwrap_or(0) as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn process(utime: u64, stime: u64) -> String {
        format!("42 (a b) c) S 1 42 42 0 -1 4194304 90 0 0 0 {utime} {stime} 7 8 20 0 1 0 100 1000 200\n")
    }

    fn cpu_line(cpu: u32, user: u64, system: u64, softirq: u64, steal: u64) -> String {
        format!("cpu{cpu} {user} 0 {system} 1000 3 0 {softirq} {steal} 0 0\n")
    }

    #[test]
    fn a_process_has_its_ticks_whatever_its_name_holds() {
        assert_eq!(process_ticks(&process(5, 6)), Some(11));
        assert_eq!(process_ticks("42 (short) S 1"), None);
    }

    #[test]
    fn others_time_and_steal_are_told_apart_and_our_own_is_neither() {
        let mut f = Fixture::empty()
            .file("proc/stat", &(cpu_line(0, 100, 50, 0, 0) + &cpu_line(1, 100, 50, 0, 0)))
            .file("proc/42/stat", &process(10, 10));
        let mut watch = CpuWatch::of(f.root(), &[0, 1], &[42], 100.0, 0.0);
        assert_eq!(watch.taken_at(0.04), None, "four ticks are too few");
        // 60 ticks in one second on both CPUs: 40 are ours, 15 another's, 5 stolen.
        f = f.file("proc/stat", &(cpu_line(0, 130, 60, 0, 5) + &cpu_line(1, 115, 50, 0, 0)));
        f = f.file("proc/42/stat", &process(40, 20));
        let taken = watch.taken_at(1.0).unwrap();
        assert!((taken.processes - 0.15).abs() < 1e-12 && (taken.steal - 0.05).abs() < 1e-12, "{taken:?}");
        let f = f.file("proc/stat", &(cpu_line(0, 130, 60, 0, 5) + &cpu_line(1, 115, 50, 0, 0)));
        assert_eq!(watch.taken_at(2.0), Some(Taken::default()), "nothing happened since");
        f.without("proc/42/stat");
        assert_eq!(watch.taken_at(3.0), None, "our process is gone, and with it what it used");
    }

    #[test]
    fn a_cpu_named_twice_is_watched_once() {
        let f = Fixture::empty().file("proc/stat", &cpu_line(0, 0, 0, 0, 0)).file("proc/42/stat", &process(0, 0));
        let mut watch = CpuWatch::of(f.root(), &[0, 0], &[42, 42], 100.0, 0.0);
        let _f = f.file("proc/stat", &cpu_line(0, 90, 10, 0, 0)).file("proc/42/stat", &process(60, 20));
        let share = watch.taken_at(1.0).unwrap().processes;
        assert!((share - 0.2).abs() < 1e-12, "all but 20 of 100 ticks are our own: {share}");
    }

    #[test]
    fn interrupt_time_counts_as_the_kernel_charges_it() {
        // Charged to us: our 50 ticks hold 20 of softirq, which the CPU's own line has apart.
        let f = Fixture::empty().file("proc/stat", &cpu_line(0, 0, 0, 0, 0)).file("proc/42/stat", &process(0, 0));
        let mut watch = CpuWatch::of(f.root(), &[0], &[42], 100.0, 0.0);
        let f = f.file("proc/stat", &cpu_line(0, 0, 30, 20, 0)).file("proc/42/stat", &process(0, 50));
        assert_eq!(watch.taken_at(1.0), Some(Taken::default()));
        // Known by now: 40 ticks of another's are not hidden behind our 20 of softirq.
        let _f = f.file("proc/stat", &cpu_line(0, 40, 60, 40, 0)).file("proc/42/stat", &process(0, 100));
        let share = watch.taken_at(2.0).unwrap().processes;
        assert!((share - 0.4).abs() < 1e-12, "{share}");

        // Not charged to us: our loopback traffic's softirq is nobody's.
        let f = Fixture::empty().file("proc/stat", &cpu_line(0, 0, 0, 0, 0)).file("proc/42/stat", &process(0, 0));
        let mut watch = CpuWatch::of(f.root(), &[0], &[42], 100.0, 0.0);
        let _f = f.file("proc/stat", &cpu_line(0, 0, 50, 20, 0)).file("proc/42/stat", &process(0, 50));
        assert_eq!(watch.taken_at(1.0), Some(Taken::default()));
    }

    #[test]
    fn a_machine_that_does_not_say_gives_none() {
        let mut watch = CpuWatch::of(Fixture::empty().root(), &[0], &[], 100.0, 0.0);
        assert_eq!(watch.taken_at(1.0), None);
    }

    #[test]
    fn a_quota_that_stops_this_process_is_told() {
        let group = "sys/fs/cgroup/box/cpu.stat";
        let stat = |times, us| format!("nr_periods 9\nnr_throttled {times}\nthrottled_usec {us}\n");
        let f = Fixture::empty()
            .file("proc/self/cgroup", "0::/box\n")
            .file("proc/stat", &cpu_line(0, 0, 0, 0, 0))
            .file("proc/42/stat", &process(0, 0))
            .file(group, &stat(2, 1000));
        let mut watch = CpuWatch::of(f.root(), &[0], &[42], 100.0, 0.0);
        let _f = f.file(group, &stat(12, 501_000));
        let taken = watch.taken_at(1.0).unwrap();
        assert_eq!((taken.throttled, taken.throttled_share.map(|s| (s * 1e6).round())), (Some(10), Some(5e5)));
    }

    #[test]
    fn steal_is_a_share_of_all_time() {
        let of = |text: &str| steal_share(&Fixture::empty().file("proc/stat", text).root());
        assert_eq!(of("cpu  50 0 25 20 0 0 0 5 50 0\n"), Some(0.05));
        assert_eq!(of("cpu  50 0 25 25\n"), Some(0.0));
        assert_eq!(of("cpu  0 0 0 0\n"), None);
    }

    #[test]
    fn this_machine_can_be_watched() {
        let mut watch = CpuWatch::new(&crate::allowed_cpus(), &[std::process::id()]);
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(watch.taken().is_some_and(|t| t.is_sane()));
    }
}
