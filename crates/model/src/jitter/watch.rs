//! When trials ran: only then is a stop seen.

use super::Moment;

/// Share of the time about a due moment that trials must have covered, for the moment to count as watched.
const COVERED: f64 = 0.5;

/// The stretches in which trials ran, ascending.
pub(super) struct Watch {
    starts: Vec<f64>,
    ends: Vec<f64>,
    /// Seconds watched before each of them begins.
    before: Vec<f64>,
    /// Seconds watched in all.
    pub all: f64,
}

/// A due moment that was watched.
pub(super) struct Due {
    /// Its number, and its moment, seconds.
    pub number: f64,
    pub at: f64,
    /// Share of the time about it that trials covered.
    pub covered: f64,
}

impl Watch {
    /// Of trials in the order of their beginnings.
    pub(super) fn of(trials: &[&Moment]) -> Self {
        let starts: Vec<f64> = trials.iter().map(|t| t.at).collect();
        // Where one begins before the last has ended, both watch the same.
        let next = starts.iter().skip(1).copied().chain(std::iter::once(f64::INFINITY));
        let ends: Vec<f64> = trials.iter().zip(next).map(|(t, next)| (t.at + t.lasted).min(next)).collect();
        let mut all = 0.0;
        let lasted = starts.iter().zip(&ends).map(|(start, end)| end - start);
        let before = lasted.map(|lasted| {
            all += lasted;
            all - lasted
        });
        let before = before.collect();
        Self { starts, ends, before, all }
    }

    /// Seconds watched until this moment.
    fn until(&self, at: f64) -> f64 {
        match self.starts.partition_point(|start| *start <= at) {
            0 => 0.0,
            next => self.before[next - 1] + at.min(self.ends[next - 1]) - self.starts[next - 1],
        }
    }

    /// The middle between the first trial's beginning and the last one's.
    pub(super) fn middle(&self) -> f64 {
        let end = |of: Option<&f64>| of.copied().unwrap_or(0.0);
        (end(self.starts.first()) + end(self.starts.last())) / 2.0
    }

    /// The moments due at a period from a phase on, of which trials covered most of what lies nearer than `near`, seconds.
    pub(super) fn due(&self, (period, phase): (f64, f64), near: f64) -> impl Iterator<Item = Due> {
        let (first, last) = (self.starts.first().copied(), self.ends.last().copied());
        let (first, last) = (first.unwrap_or(f64::INFINITY), last.unwrap_or(f64::NEG_INFINITY));
        let from = ((first - phase) / period).ceil();
        // A period of no length would never end.
        let numbers = (0..).map(move |i| from + f64::from(i)).take_while(move |_| period > 0.0);
        let moments = numbers.map(move |number| (number, phase + number * period)).take_while(move |m| m.1 < last);
        moments
            .map(move |(number, at)| {
                let covered = (self.until(at + near) - self.until(at - near)) / (2.0 * near);
                Due { number, at, covered: covered.min(1.0) }
            })
            .filter(|due| due.covered >= COVERED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_between_trials_are_not_watched() {
        let trials: Vec<Moment> =
            (0..10).map(|i| Moment { at: f64::from(i), lasted: 0.6, ..Moment::default() }).collect();
        let watch = Watch::of(&trials.iter().collect::<Vec<_>>());
        assert!((watch.all - 6.0).abs() < 1e-9);
        let numbers =
            |period, phase, near| -> Vec<f64> { watch.due((period, phase), near).map(|d| d.number).collect() };
        assert_eq!(numbers(0.5, 0.3, 0.1), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0]);
        assert!(numbers(1.0, 0.8, 0.1).is_empty());
        let covered: Vec<f64> = watch.due((4.0, 0.55), 0.1).map(|d| d.covered).collect();
        assert!(covered.iter().all(|c| (c - 0.75).abs() < 1e-9) && covered.len() == 3, "{covered:?}");
        assert_eq!(Watch::of(&[]).due((1.0, 0.0), 0.1).count(), 0);
        assert!([0.0, -1.0, f64::NAN].iter().all(|period| watch.due((*period, 0.0), 0.1).count() == 0));
    }
}
