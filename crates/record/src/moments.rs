//! A path's trials for `model`, which computes its jitter and its LogGP parameters.

use measure::event::Trial;
use measure::figures;
use model::{Drift, Estimate, Jitter, Moment, Sender};

use crate::{PathRun, RunFile};

impl RunFile {
    /// The trials of the path at this index, warm-up left out; none beyond the paths.
    fn moments(&self, path: usize) -> Vec<Moment> {
        let Some(path) = self.paths.get(path) else { return Vec::new() };
        let trials = path.points.iter().flat_map(|p| &p.trials).filter(|t| !t.warmup);
        let kind = path.opened.transport;
        let step = self.step(path);
        trials.filter_map(|t| Some(moment(&t, figures::typical(&self.run.plan, kind, &t)?, step))).collect()
    }

    /// The smallest step of the clock that timed a path, seconds.
    fn step(&self, path: &PathRun) -> f64 {
        self.run.calibration.of_path(path.opened.transport).clock_step_ns * 1e-9
    }

    /// The clock's step, seconds, where all single iterations that the path at this index timed are shorter: a reading is then a step or
    /// none, and neither pauses nor long iterations can be told.
    pub fn hidden_by_clock(&self, path: usize) -> Option<f64> {
        let path = self.paths.get(path)?;
        let step = self.step(path);
        let mut timed = path
            .points
            .iter()
            .flat_map(|p| &p.trials)
            .filter(|t| !t.warmup && !t.report.histogram.is_empty())
            .peekable();
        timed.peek()?;
        timed.all(|t| t.report.median < step).then_some(step)
    }

    /// The drift of a soak of the path at this index; none of any other run, and where there are too few intervals.
    pub fn drift(&self, path: usize) -> Option<Drift> {
        self.run.plan.soaks().then(|| Drift::of_intervals(&self.moments(path)))?
    }

    /// The jitter of the path at this index; that of no trials beyond the paths.
    pub fn jitter(&self, path: usize) -> Jitter {
        let moments = self.moments(path);
        if self.run.plan.soaks() { Jitter::of_intervals(&moments) } else { Jitter::of(&moments) }
    }
}

impl RunFile {
    /// What the sender of a stream did at the smallest size of the path at this index; none where its receiver answered it.
    pub fn sender(&self, path: usize) -> Option<Sender> {
        let path = self.paths.get(path)?;
        let point = path.points.iter().find(|p| p.size > 0)?;
        let trials = point.trials.all();
        let trials: Vec<&Trial> = trials.iter().collect();
        let (value, interval, shares) = figures::sender(&self.run.plan, path.opened.transport, &trials, &path.common)?;
        Some(Sender { busy: Estimate { value, low: interval.low, high: interval.high }, shares })
    }
}

/// A trial whose iterations took `seconds` each, by a clock of this step, seconds.
fn moment(trial: &Trial, seconds: f64, step: f64) -> Moment {
    let r = &trial.report;
    if !r.histogram.is_empty() && r.median < step {
        // A reading is a step of the clock or none.
        return Moment {
            size: trial.size,
            round: trial.round,
            at: trial.at,
            lasted: r.seconds,
            seconds,
            ..Moment::default()
        };
    }
    let twice = 2.0 * r.median * 1e9;
    let slow = r.histogram.iter().filter(|(ns, _)| *ns as f64 > twice).map(|(_, n)| n).sum();
    Moment {
        size: trial.size,
        round: trial.round,
        at: trial.at,
        lasted: r.seconds,
        seconds,
        pauses: r.pauses.iter().map(|(ns, _)| trial.at + *ns as f64 * 1e-9).collect(),
        lengths: r.pauses.iter().map(|(_, ns)| *ns as f64 * 1e-9).collect(),
        slow: (slow, r.histogram.iter().map(|(_, n)| n).sum()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_trials_pauses_and_outliers_are_counted() {
        let mut t = sample::trial(0, 1, 2.0, 64, 1e-5);
        t.report.median = 10e-6;
        t.report.histogram = vec![(10_000, 95), (21_000, 4), (900_000, 1)];
        t.report.pauses = vec![(1_000_000, 21_000), (5_000_000, 900_000)];
        let m = moment(&t, 5e-6, 1e-9);
        assert_eq!((m.slow, m.seconds), ((5, 100), 5e-6));
        assert!((m.pauses[0] - 2.001).abs() < 1e-9 && (m.pauses[1] - 2.005).abs() < 1e-9);
        assert!((m.lengths[0] - 21e-6).abs() < 1e-12 && (m.lengths[1] - 900e-6).abs() < 1e-12);
        let m = moment(&t, 5e-6, 100e-6);
        assert!(m.slow == (0, 0) && m.pauses.is_empty() && m.seconds == 5e-6, "a clock that is too coarse: {m:?}");
        let mut run = sample::file();
        assert!(run.jitter(9).unsearched.is_some());
        assert_eq!((run.hidden_by_clock(0), run.hidden_by_clock(9)), (None, None));
        run.run.calibration.clock_step_ns = 1e9;
        assert_eq!(run.hidden_by_clock(0), Some(1.0));
        assert_eq!(run.jitter(0).outliers, None);
    }
}
