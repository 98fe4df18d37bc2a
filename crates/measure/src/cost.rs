//! What a trial's timed iterations cost a side: CPU time and switches of the thread that ran them.

use host::spent::{Spent, tick};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::clock::Clock;

use crate::TrialSpec;

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
    fn between(begin: &Spent, end: &Spent, iterations: u64) -> Self {
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

    /// What threads, or intervals of one, cost together; none where one of them does not say. Cycles and instructions are told where all
    /// were counted.
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

    /// Whether its numbers can be a trial's: a file may hold any.
    pub(crate) fn sound(&self) -> bool {
        let times =
            [self.elapsed_ns, self.cpu_ns, self.user_ns, self.system_ns, self.step_ns, self.cycles, self.instructions];
        let counts = [self.iterations, self.voluntary, self.involuntary];
        times.into_iter().all(|t| t < LONGEST) && counts.into_iter().all(|n| n < 1 << 40)
    }
}

/// Reads the thread's counters around what is timed. It stays silent where no real time passes, and where contents are filled and
/// verified, whose CPU time can't be told from the path's.
#[derive(Debug)]
pub(crate) struct Meter {
    on: bool,
    begun: Option<Spent>,
    cost: Option<Cost>,
}

impl Meter {
    /// For a trial against this clock.
    pub(crate) fn new(clock: &impl Clock, spec: &TrialSpec) -> Self {
        Self { on: clock.real() && !spec.check, begun: None, cost: None }
    }

    /// The timed iterations begin.
    pub(crate) fn begin(&mut self) {
        self.begun = self.on.then(Spent::before);
    }

    /// So many iterations after the last [`Meter::begin`] they are over.
    pub(crate) fn end(&mut self, iterations: u64) {
        let cost = |begun: Spent| Cost::between(&begun, &Spent::after(), iterations);
        self.cost = self.begun.take().filter(|_| iterations > 0).map(cost);
    }

    /// What they cost; none before the end.
    pub(crate) fn cost(&self) -> Option<Cost> {
        self.cost
    }
}

#[cfg(test)]
mod tests {
    use transport::clock::{Monotonic, Virtual};

    use super::*;
    use crate::Pattern;

    #[test]
    fn a_model_and_a_trial_that_checks_contents_have_no_cost() {
        let spec = TrialSpec::plain(Pattern::PingPong, 1, 1);
        let cost = |mut meter: Meter| {
            meter.begin();
            meter.end(1);
            meter.cost()
        };
        assert!(cost(Meter::new(&Monotonic, &spec)).is_some_and(|c| c.iterations == 1 && c.sound()));
        assert_eq!(cost(Meter::new(&Virtual::default(), &spec)), None);
        assert_eq!(cost(Meter::new(&Monotonic, &TrialSpec { check: true, ..spec })), None);
    }

    #[test]
    fn nothing_without_an_iteration_or_without_a_beginning() {
        let mut meter = Meter::new(&Monotonic, &TrialSpec::plain(Pattern::PingPong, 1, 1));
        meter.end(5);
        assert_eq!(meter.cost(), None);
        meter.begin();
        meter.end(0);
        assert_eq!(meter.cost(), None);
    }

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
