//! How often an interval held: held, missed, not given, absurd, and how wide it was.

use crate::noise::Demand;
use crate::runs::Said;

/// Counts over the runs of a row.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Intervals that were given and held the truth.
    pub held: u64,
    /// Intervals that were given and did not.
    pub missed: u64,
    /// Figures without an interval: an end is open.
    pub none: u64,
    /// Of an interval that nothing bounds above, those whose lower end lies below the truth; and those whose does not.
    pub open: [u64; 2],
    /// Output that means nothing: a figure that is no number, an interval without its own figure, ends over 1000 times apart.
    pub absurd: u64,
    /// Runs that the counts come from; sizes of one run share its noise, so this says how sure the shares are.
    pub runs: u64,
    /// Half-widths of the given ones, as a share of the figure.
    widths: Vec<f32>,
}

impl Tally {
    /// Of so many runs, before anything was counted.
    pub fn of(runs: u64) -> Self {
        Self { runs, ..Self::default() }
    }

    /// Counts an interval against the truth, which lies between two ends.
    pub fn add(&mut self, said: Said, truth: [f64; 2]) {
        let Said { value, low, high } = said;
        if !value.is_finite() || low.is_nan() || high.is_nan() || !(low <= value && value <= high) {
            self.absurd += 1;
        }
        // Every figure of the tables is positive.
        if !(low > 0.0 && high.is_finite()) {
            self.none += 1;
            return;
        }
        self.absurd += u64::from(high / low > units::WIDEST);
        self.widths.push(((high - low) / 2.0 / value) as f32);
        if low <= truth[1] && truth[0] <= high { self.held += 1 } else { self.missed += 1 }
    }

    /// As [`Tally::add`]; an interval that only its upper end lacks is one as well.
    pub fn add_open(&mut self, said: Said, truth: [f64; 2]) {
        let Said { low, high, .. } = said;
        if low > 0.0 && high == f64::INFINITY {
            self.open[usize::from(low > truth[1])] += 1;
        } else {
            self.add(said, truth);
        }
    }

    /// Counts an interval of which another says whether it holds.
    pub fn count(&mut self, said: Said, holds: bool) {
        self.widths.push(((said.high - said.low) / 2.0 / said.value) as f32);
        if holds { self.held += 1 } else { self.missed += 1 }
    }

    /// Whether those hold often enough that have a lower end or both, and those with both not too often; as [`Tally::meets`].
    pub fn meets_open(&self, demand: Demand) -> bool {
        let [held, missed] = self.open;
        let all = Self { held: self.held + held, missed: self.missed + missed, ..self.clone() };
        let floor = if demand == Demand::Nominal { Demand::InRun } else { demand };
        // Two ends that few points have are of as few runs; none that has both is no answer that is wrong.
        let share = self.given() as f64 / (all.given() + self.none).max(1) as f64;
        let both = Self { runs: (self.runs as f64 * share).ceil() as u64, none: 0, ..self.clone() };
        all.meets(floor) && (self.given() == 0 || both.meets(demand))
    }

    /// Adds the counts of other runs.
    pub fn join(&mut self, other: Self) {
        self.held += other.held;
        self.missed += other.missed;
        self.none += other.none;
        self.absurd += other.absurd;
        (0..2).for_each(|i| self.open[i] += other.open[i]);
        self.runs += other.runs;
        self.widths.extend(other.widths);
    }

    /// Intervals that were given.
    pub fn given(&self) -> u64 {
        self.held + self.missed
    }

    /// Share of the given ones that held; none where none was given.
    pub fn coverage(&self) -> Option<f64> {
        (self.given() > 0).then(|| self.held as f64 / self.given() as f64)
    }

    /// Median half-width of the given ones, as a share of the figure.
    pub fn width(&self) -> Option<f64> {
        let widths: Vec<f64> = self.widths.iter().map(|w| f64::from(*w)).collect();
        (!widths.is_empty()).then(|| crate::centre::middle(widths))
    }

    /// Whether only that misses the demand that more intervals hold than they say: they are wider than need be.
    pub fn only_wide(&self, demand: Demand) -> bool {
        demand == Demand::Nominal && !self.meets(demand) && self.meets(Demand::InRun)
    }

    /// Whether the demand is met, as far as these runs can tell: a standard error of a share of so many runs is granted.
    pub fn meets(&self, demand: Demand) -> bool {
        let Some(found) = self.coverage() else {
            return matches!(demand, Demand::Claimed | Demand::NoInterval) && self.absurd == 0;
        };
        let runs = self.runs as f64 * self.given() as f64 / (self.given() + self.none) as f64;
        let enough = |p: f64| found >= p - error(p, runs);
        let holds = match demand {
            Demand::Nominal => enough(0.92) && found <= 0.98 + error(0.98, runs),
            Demand::InRun => enough(0.92),
            Demand::Claimed => enough(0.90),
            Demand::NoInterval => false,
        };
        holds && self.absurd == 0
    }
}

/// Whether `n` of so many runs are no more than this share of them; a standard error is granted.
pub fn few(n: u64, share: f64, runs: u64) -> bool {
    let runs = runs as f64;
    n as f64 <= (share + error(share, runs)) * runs
}

/// What so many runs can tell, in words.
pub fn told_by(runs: u64) -> String {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    // Of as many or more, one in twenty would have none.
    let unseen = 1.0 - 0.05f64.powf(1.0 / runs.max(1) as f64);
    format!(
        "So many runs tell a share of 95% or of 5% to within {} percentage points, one of 1% to within {} (a standard error; a row of fewer runs \
         less), and 0 of {runs} tells no more than that fewer than {}% would (95% confidence).",
        percent(error(0.05, runs as f64)),
        percent(error(0.01, runs as f64)),
        percent(unseen)
    )
}

/// Standard error of a share `p` of so many runs.
fn error(p: f64, runs: f64) -> f64 {
    (p * (1.0 - p) / runs.max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(held: u64, missed: u64, none: u64) -> Tally {
        let mut tally = Tally { runs: held + missed + none, ..Tally::default() };
        let said = |low, high| Said { value: 1.0, low, high };
        (0..held).for_each(|_| tally.add(said(0.9, 1.1), [1.05; 2]));
        (0..missed).for_each(|_| tally.add(said(0.9, 1.1), [1.2; 2]));
        (0..none).for_each(|_| tally.add(said(0.0, f64::INFINITY), [1.2; 2]));
        tally
    }

    #[test]
    fn it_is_said_what_so_many_runs_can_tell() {
        let said = told_by(60);
        assert!(
            said.contains("within 2.8 percentage") && said.contains("within 1.3 (") && said.contains("than 4.9%"),
            "{said}"
        );
        assert!(told_by(200).contains("within 1.5 percentage"), "{}", told_by(200));
    }

    #[test]
    fn targets_are_met_or_missed_by_what_was_given() {
        assert!(of(190, 10, 0).meets(Demand::Nominal) && of(95, 5, 100).meets(Demand::Nominal));
        assert!(!of(176, 24, 0).meets(Demand::Nominal), "too few held");
        assert!(!of(200, 0, 0).meets(Demand::Nominal) && of(200, 0, 0).meets(Demand::InRun), "wider than they say");
        assert!(!of(160, 40, 0).meets(Demand::Claimed) && of(182, 18, 0).meets(Demand::Claimed));
        assert!(of(0, 0, 200).meets(Demand::Claimed) && !of(0, 0, 200).meets(Demand::Nominal), "no claim");
        assert!(of(0, 0, 200).meets(Demand::NoInterval) && !of(1, 0, 199).meets(Demand::NoInterval), "too few rounds");
        assert_eq!((of(3, 1, 2).coverage(), of(3, 1, 2).none, of(0, 0, 1).coverage()), (Some(0.75), 2, None));
    }

    #[test]
    fn an_end_that_is_open_is_no_miss_unless_the_other_one_is_wrong() {
        let of = |below: u64, above: u64, held: u64| {
            let mut tally = of(held, 0, 0);
            tally.runs += below + above;
            let open = |low| Said { value: 1.0, low, high: f64::INFINITY };
            (0..below).for_each(|_| tally.add_open(open(0.9), [1.0; 2]));
            (0..above).for_each(|_| tally.add_open(open(0.9), [0.8; 2]));
            tally
        };
        assert!(of(100, 0, 0).meets_open(Demand::Nominal) && of(95, 5, 0).meets_open(Demand::Nominal));
        assert!(!of(80, 20, 0).meets_open(Demand::Nominal) && !of(80, 20, 0).meets_open(Demand::Claimed));
        assert!(!of(100, 0, 0).meets_open(Demand::NoInterval));
        assert!(!of(0, 0, 400).meets_open(Demand::Nominal), "both ends, and wider than they say");
    }

    #[test]
    fn what_means_nothing_is_counted_and_fails_its_row() {
        let odd = [(1.0, 2.0, 3.0), (f64::NAN, 0.5, 1.5), (f64::INFINITY, 0.0, f64::INFINITY), (1.0, 0.001, 2.0)];
        for (value, low, high) in odd {
            let mut tally = of(95, 5, 0);
            tally.add(Said { value, low, high }, [1.0; 2]);
            assert_eq!(tally.absurd, 1, "{value} {low} {high}");
            assert!(!tally.meets(Demand::Claimed));
        }
    }
}
