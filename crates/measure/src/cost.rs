//! What a trial's timed iterations cost a side: CPU time and switches of the thread that ran them.

use host::spent::{Spent, tick};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the timed iterations of a trial cost the thread of one side. Fields that are 0 are left out of the run file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cost {
    /// Iterations that it covers, lost ones included.
    #[serde(skip_serializing_if = "none")]
    pub iterations: u64,
    /// Nanoseconds that passed.
    #[serde(skip_serializing_if = "none")]
    pub elapsed_ns: u64,
    /// CPU time, nanoseconds.
    #[serde(skip_serializing_if = "none")]
    pub cpu_ns: u64,
    /// CPU time outside the kernel, nanoseconds, in steps of `step_ns`.
    #[serde(skip_serializing_if = "none")]
    pub user_ns: u64,
    /// CPU time in the kernel, nanoseconds, likewise.
    #[serde(skip_serializing_if = "none")]
    pub system_ns: u64,
    /// The kernel's tick, nanoseconds: how finely it divides CPU time into user and system time, at worst.
    #[serde(skip_serializing_if = "none")]
    pub step_ns: u64,
    /// Times that the thread gave up its CPU to wait.
    #[serde(skip_serializing_if = "none")]
    pub voluntary: u64,
    /// Times that its CPU was taken from it.
    #[serde(skip_serializing_if = "none")]
    pub involuntary: u64,
    /// CPU cycles, those in the kernel too; 0 where the kernel does not let them be counted.
    #[serde(skip_serializing_if = "none")]
    pub cycles: u64,
    /// Instructions, likewise.
    #[serde(skip_serializing_if = "none")]
    pub instructions: u64,
}

fn none(n: &u64) -> bool {
    *n == 0
}

/// Most nanoseconds that a trial can have lasted: two years.
const LONGEST: u64 = 1 << 56;

impl Cost {
    pub(crate) fn between(begin: &Spent, end: &Spent, iterations: u64) -> Self {
        let passed = |of: fn(&Spent) -> u64| of(end).saturating_sub(of(begin));
        Self {
            iterations,
            elapsed_ns: passed(|s| s.at),
            cpu_ns: passed(|s| s.cpu),
            user_ns: passed(|s| s.user),
            system_ns: passed(|s| s.system),
            step_ns: tick(),
            voluntary: passed(|s| s.voluntary),
            involuntary: passed(|s| s.involuntary),
            cycles: passed(|s| s.cycles),
            instructions: passed(|s| s.instructions),
        }
    }

    /// What threads, or intervals of one, cost together; none where it is not known of one of them. Cycles and instructions are given where
    /// all were counted.
    pub(crate) fn of_all(each: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        each.reduce(|a, b| {
            let (a, b) = (a?, b?);
            let sum = |of: fn(&Self) -> u64| of(&a).saturating_add(of(&b));
            let counted = |of: fn(&Self) -> u64| if of(&a).min(of(&b)) > 0 { sum(of) } else { 0 };
            Some(Self {
                iterations: sum(|c| c.iterations),
                elapsed_ns: sum(|c| c.elapsed_ns),
                cpu_ns: sum(|c| c.cpu_ns),
                user_ns: sum(|c| c.user_ns),
                system_ns: sum(|c| c.system_ns),
                step_ns: a.step_ns.max(b.step_ns),
                voluntary: sum(|c| c.voluntary),
                involuntary: sum(|c| c.involuntary),
                cycles: counted(|c| c.cycles),
                instructions: counted(|c| c.instructions),
            })
        })?
    }

    /// Whether a trial can have these numbers: a file may hold any.
    pub(crate) fn sound(&self) -> bool {
        let times =
            [self.elapsed_ns, self.cpu_ns, self.user_ns, self.system_ns, self.step_ns, self.cycles, self.instructions];
        let counts = [self.iterations, self.voluntary, self.involuntary];
        times.into_iter().all(|t| t < LONGEST) && counts.into_iter().all(|n| n < 1 << 40)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_trial_has_are_not_sound() {
        let sound = Cost { iterations: 1, elapsed_ns: 10, cpu_ns: 9, ..Cost::default() };
        assert!(sound.sound());
        for wrong in [
            Cost { cpu_ns: u64::MAX, ..sound },
            Cost { user_ns: u64::MAX, ..sound },
            Cost { step_ns: u64::MAX, ..sound },
            Cost { iterations: u64::MAX, ..sound },
            Cost { voluntary: 1 << 40, ..sound },
            Cost { cycles: 1 << 56, ..sound },
            Cost { instructions: u64::MAX, ..sound },
        ] {
            assert!(!wrong.sound(), "{wrong:?}");
        }
    }
}
