//! What was taken from the CPUs measured on, and by whom: pure, over what `/proc/stat` and a control group's `cpu.stat` say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest share of one CPU that is believed: that of all CPUs of a machine, of which none has so many.
pub const MOST_CPUS: f64 = 1e5;

/// What was taken from the CPUs that a measurement was pinned to, by whom. Shares are of one CPU: with two CPUs measured on
/// they can reach 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// Share of one CPU that other processes of this machine took (`/proc/stat` less our own time and steal).
    pub processes: f64,
    /// Share of one CPU that the hypervisor kept while something here was ready to run (steal in `/proc/stat`).
    pub steal: f64,
    /// How often the CPU quota of the control group around the measurement stopped it (`nr_throttled` in `cpu.stat`); none
    /// where no group says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled: Option<u64>,
    /// For how long it was stopped, as a share of the time, summed over the group's CPUs (`throttled_usec` in `cpu.stat`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled_share: Option<f64>,
}

impl Taken {
    /// Whether the shares, which came from another host or a file, are possible: none below zero, and none above that of
    /// [`MOST_CPUS`] CPUs.
    pub fn is_sane(&self) -> bool {
        let share = |s: f64| (0.0..=MOST_CPUS).contains(&s);
        share(self.processes) && share(self.steal) && share(self.throttled_share.unwrap_or(0.0))
    }

    /// What was taken on two hosts at once.
    pub fn with(self, other: Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>| a.or(b).map(|_| a.unwrap_or(0.0) + b.unwrap_or(0.0));
        let times = self.throttled.or(other.throttled);
        Self {
            processes: self.processes + other.processes,
            steal: self.steal + other.steal,
            throttled: times.map(|_| self.throttled.unwrap_or(0).saturating_add(other.throttled.unwrap_or(0))),
            throttled_share: both(self.throttled_share, other.throttled_share),
        }
    }

    /// Shares as means over rounds, and how often the quota stopped them in all; none of no rounds.
    pub fn over(rounds: &[Self]) -> Option<Self> {
        let all = rounds.iter().copied().reduce(Self::with)?;
        let rounds = rounds.len() as f64;
        Some(Self {
            processes: all.processes / rounds,
            steal: all.steal / rounds,
            throttled: all.throttled,
            throttled_share: all.throttled_share.map(|s| s / rounds),
        })
    }
}

/// How often a control group's CPU quota stopped it so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Throttling {
    /// Times.
    pub times: u64,
    /// Seconds, summed over CPUs.
    pub seconds: f64,
}

impl Throttling {
    /// From `cpu.stat`: version 2 counts microseconds, version 1 nanoseconds. None where the group has no quota to count by.
    pub fn parse(cpu_stat: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = cpu_stat.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' '))?;
            line.trim().parse::<u64>().ok()
        };
        let microseconds = field("throttled_usec").map(|us| us as f64 / 1e6);
        let seconds = microseconds.or_else(|| field("throttled_time").map(|ns| ns as f64 / 1e9))?;
        Some(Self { times: field("nr_throttled")?, seconds })
    }
}

/// Ticks of some CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// user + nice + system; guest time is in user time already.
    pub tasks: u64,
    /// irq + softirq.
    pub interrupts: u64,
    /// Kept by the hypervisor.
    pub steal: u64,
}

impl Ticks {
    /// Of `cpus` in the text of `/proc/stat`; none where one of them has no line.
    pub fn parse(stat: &str, cpus: &[u32]) -> Option<Self> {
        let mut all = Self::default();
        for cpu in cpus {
            let name = format!("cpu{cpu}");
            let line = stat.lines().find(|l| l.split_whitespace().next() == Some(&name))?;
            let fields: Vec<u64> = line.split_whitespace().skip(1).map_while(|f| f.parse().ok()).collect();
            let field = |i: usize| fields.get(i).copied();
            all.tasks += field(0)? + field(1)? + field(2)?;
            all.interrupts += field(5).unwrap_or(0) + field(6).unwrap_or(0);
            all.steal += field(7).unwrap_or(0);
        }
        Some(all)
    }
}

/// All that is known at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moment {
    /// Seconds.
    pub at: f64,
    /// The CPUs' ticks.
    pub cpus: Ticks,
    /// Ticks of our own processes; none where one of them has ended.
    pub own: Option<u64>,
    /// Of each group that has a quota.
    pub throttled: Option<Vec<Throttling>>,
}

/// What the kernel charges to the process that was running, beside what it ran itself: this depends on how the kernel was
/// built, and shows where our processes have more time than the CPUs spent on tasks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Charged {
    interrupts: bool,
    steal: bool,
}

impl Charged {
    /// Learns from ticks between two moments; `slack` ticks are no evidence: counters are read one after another and rounded.
    fn learn(&mut self, cpus: Ticks, own: f64, slack: f64) {
        let short = |counted: u64| counted as f64 - own < -slack;
        let counted = cpus.tasks + if self.interrupts { cpus.interrupts } else { 0 };
        // Interrupts first: much of a loopback's work is done in them.
        if short(counted) && !self.interrupts && cpus.interrupts > 0 {
            self.interrupts = !short(cpus.tasks + cpus.interrupts) || short(cpus.tasks + cpus.steal);
        }
        let counted = cpus.tasks + if self.interrupts { cpus.interrupts } else { 0 };
        self.steal |= short(counted) && cpus.steal > 0;
    }
}

/// What was taken between two moments, by a clock of so many ticks a second. None where our own time is not known, or a CPU
/// counts from zero again.
pub(crate) fn between(a: &Moment, b: &Moment, charged: &mut Charged, slack: f64, hertz: f64) -> Option<Taken> {
    let own = b.own?.checked_sub(a.own?)? as f64;
    let cpus = Ticks {
        tasks: b.cpus.tasks.checked_sub(a.cpus.tasks)?,
        interrupts: b.cpus.interrupts.saturating_sub(a.cpus.interrupts),
        steal: b.cpus.steal.saturating_sub(a.cpus.steal),
    };
    charged.learn(cpus, own, slack);
    let counted =
        cpus.tasks + if charged.interrupts { cpus.interrupts } else { 0 } + if charged.steal { cpus.steal } else { 0 };
    let time = b.at - a.at;
    let stopped = a.throttled.iter().zip(&b.throttled).flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| {
        let seconds = (b.seconds - a.seconds).max(0.0);
        (b.times.saturating_sub(a.times), seconds / time)
    });
    // Groups lie in each other: time in which two of them were stopped must not count twice.
    let stopped = stopped.max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    Some(Taken {
        processes: (counted as f64 - own).max(0.0) / (time * hertz),
        steal: cpus.steal as f64 / (time * hertz),
        throttled: stopped.map(|s| s.0),
        throttled_share: stopped.map(|s| s.1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc/stat` of one CPU and `cpu.stat`, with our own ticks, at a moment.
    fn moment(at: f64, [user, softirq, steal, own]: [u64; 4], stopped: (u64, u64)) -> Moment {
        let stat = format!("cpu  9 9 9 9\ncpu0 {user} 0 0 1000 3 0 {softirq} {steal} 0 0\n");
        let cpu_stat =
            format!("usage_usec 5\nnr_periods 7\nnr_throttled {}\nthrottled_usec {}\n", stopped.0, stopped.1);
        let throttled = Throttling::parse(&cpu_stat).map(|t| vec![t]);
        Moment { at, cpus: Ticks::parse(&stat, &[0]).unwrap(), own: Some(own), throttled }
    }

    /// Of one second at 100 ticks.
    fn second(ticks: [u64; 4], stopped: (u64, u64)) -> Taken {
        let begin = moment(1.0, [100, 50, 20, 70], (3, 4000));
        let end = moment(
            2.0,
            [100 + ticks[0], 50 + ticks[1], 20 + ticks[2], 70 + ticks[3]],
            (3 + stopped.0, 4000 + stopped.1),
        );
        between(&begin, &end, &mut Charged::default(), 2.0, 100.0).unwrap()
    }

    #[test]
    fn the_hypervisor_processes_and_the_quota_are_told_apart() {
        // user, softirq, steal, our own.
        for (ticks, stopped, processes, steal) in [
            ([100, 0, 0, 100], (0, 0), 0.0, 0.0),
            ([5, 0, 95, 5], (0, 0), 0.0, 0.95),
            ([100, 0, 0, 40], (0, 0), 0.60, 0.0),
            ([60, 0, 40, 35], (0, 0), 0.25, 0.40),
            ([30, 0, 0, 30], (7, 700_000), 0.0, 0.0),
            // A kernel that charges steal, or interrupts, to who was running.
            ([40, 0, 60, 100], (0, 0), 0.0, 0.60),
            ([60, 40, 0, 100], (0, 0), 0.0, 0.0),
            ([50, 20, 30, 100], (0, 0), 0.0, 0.30),
        ] {
            let found = second(ticks, stopped);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
            assert!(near(found.processes, processes) && near(found.steal, steal), "{ticks:?}: {found:?}");
            assert_eq!(found.throttled, Some(stopped.0));
            assert!(near(found.throttled_share.unwrap(), stopped.1 as f64 * 1e-6), "{found:?}");
        }
    }

    #[test]
    fn two_hosts_add_up_and_rounds_have_a_mean() {
        let a = Taken { processes: 0.1, steal: 0.5, throttled: None, throttled_share: None };
        let b = Taken { processes: 0.3, steal: 0.0, throttled: Some(4), throttled_share: Some(0.2) };
        let sum = a.with(b);
        assert_eq!((sum.steal, sum.throttled, sum.throttled_share), (0.5, Some(4), Some(0.2)));
        let mean = Taken::over(&[a, b]).unwrap();
        assert!((mean.processes - 0.2).abs() < 1e-12 && mean.throttled == Some(4) && mean.throttled_share == Some(0.1));
        assert_eq!((Taken::over(&[]), a.with(a).throttled), (None, None));
        assert!(a.is_sane() && !Taken { steal: f64::NAN, ..a }.is_sane() && !Taken { processes: -1.0, ..a }.is_sane());
        assert!(!Taken { throttled_share: Some(1e300), ..a }.is_sane());
    }

    #[test]
    fn lines_of_proc() {
        let stat = "cpu  9 9 9 9\ncpu1 10 20 30 40 50 6 7 8 9 0\ncpu10 1 1 1 1\n";
        assert_eq!(Ticks::parse(stat, &[1]), Some(Ticks { tasks: 60, interrupts: 13, steal: 8 }));
        assert_eq!(Ticks::parse(stat, &[10]), Some(Ticks { tasks: 3, ..Ticks::default() }), "old kernels count less");
        assert_eq!((Ticks::parse(stat, &[0]), Ticks::parse("cpu0 x", &[0])), (None, None));
        assert_eq!(Throttling::parse("nr_throttled 3\n"), None, "no time, no share");
    }
}
