//! Reads what a thread has spent before and after the iterations of a trial that are timed.

use host::spent::Spent;
use transport::clock::Clock;

use crate::TrialSpec;
use crate::cost::Cost;

/// Reads the thread's counters around what is timed. It reads nothing where no real time passes, and where contents are filled and
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

    /// The timed iterations end, so many after the last [`Meter::begin`].
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
}
