//! The range in which a repeat of a path falls on this machine, from the earlier runs that a run file carries.

use measure::earlier::Apart;
use measure::event::Plan;
use measure::figures::{self, Common};
use model::History;
use stats::{Between, Measured, StandardError};
use transport::Name;

use crate::{PathRun, Point, RunFile};

impl RunFile {
    /// How far runs of the path at this index lie apart, from this one and the earlier runs it carries. None where none of
    /// them measured what this one did.
    pub fn between(&self, path: usize) -> Option<Between> {
        between(&self.run.plan, self.paths.get(path)?)
    }

    /// The number of this run's sizes, at which it was held against earlier ones, where one of these has more than twice as many: what
    /// [`RunFile::between`] says is then of a part of their curves.
    pub fn part_of_earlier(&self, path: usize) -> Option<usize> {
        let path = self.paths.get(path)?;
        let here = path.points.iter().filter(|p| usable(p.figures.median)).count();
        path.earlier.iter().flatten().any(|run| run.points.len() > 2 * here).then_some(here)
    }

    /// The path at this index with its earlier runs, for comparisons.
    pub fn history(&self, path: usize) -> History {
        let Some(path) = self.paths.get(path) else { return History::default() };
        let points = path.points.iter().map(|p| (p.size, p.figures.median)).filter(|(_, t)| usable(*t));
        let earlier = path.earlier.iter().flatten().map(|run| (run.started.clone(), run.points.clone()));
        History { started: self.run.started.clone(), curve: points.collect(), earlier: earlier.collect() }
    }
}

/// A range whose ends lie so many times apart is not shown: one earlier run that lies far off gives no more.
const TELLS_NOTHING: f64 = 100.0;

/// Fills in the range of a repeat at every point; a recorded one is ignored, since older versions computed it from one run only.
pub(crate) fn foretell(plan: &Plan, path: &mut PathRun) {
    let mut ranges = between(plan, path).map(|b| b.ranges(stats::CONFIDENCE)).unwrap_or_default().into_iter();
    for point in &mut path.points {
        let range = if usable(point.figures.median) { ranges.next().flatten() } else { None };
        let range = range.filter(|r| r.low > 0.0 && r.high / r.low < TELLS_NOTHING);
        // The range always holds the median of this run, and what the clock rounds that to: runs that it reads alike need not be alike.
        let seen = point.figures.median;
        let range =
            range.map(|r| figures::widened(r, seen, rounding(plan, path.opened.transport, point, &path.common)));
        (point.figures.repeat_low, point.figures.repeat_high) =
            (range.map(|r| r.low.min(seen)), range.map(|r| r.high.max(seen)));
    }
}

/// How far the clock may have rounded a point's median, seconds.
fn rounding(plan: &Plan, kind: Name, point: &Point, common: &Common) -> f64 {
    let trials = point.trials.all();
    let trials: Vec<_> = trials.iter().collect();
    figures::rounding(plan, &trials, &figures::rounds(plan, kind, &trials, common), common)
}

fn between(plan: &Plan, path: &PathRun) -> Option<Between> {
    let earlier = path.earlier.as_ref().filter(|runs| !runs.is_empty())?;
    let points = path.points.iter().filter(|p| usable(p.figures.median));
    let run: Vec<Measured> = points
        .map(|p| {
            let trials = p.trials.all();
            let trials: Vec<_> = trials.iter().collect();
            let error = figures::error(plan, path.opened.transport, &trials, &path.common);
            Measured { size: p.size, seconds: p.figures.median, error }
        })
        .collect();
    let found = Between::of(&run, &earlier.iter().map(|r| r.points.as_slice()).collect::<Vec<_>>())?;
    let apart = |other: &Apart| StandardError { value: other.spread, degrees: f64::from(other.runs - 1) };
    let found = found.with_alike(path.others.iter().map(apart).collect());
    let moves = path.common.shared.moves;
    Some(if moves.few() { found } else { found.with_level_error(moves.error) })
}

fn usable(seconds: f64) -> bool {
    seconds > 0.0 && seconds.is_finite()
}

#[cfg(test)]
mod tests {
    use measure::Event;
    use measure::earlier::{Earlier, EarlierRun};

    use super::*;
    use crate::{Fold, sample};

    /// The sample's first path with earlier runs that took this many times as long.
    fn with(levels: &[f64]) -> RunFile {
        with_others(levels, &[])
    }

    /// The same where runs of other paths lay so far apart.
    fn with_others(levels: &[f64], others: &[Apart]) -> RunFile {
        let points = sample::file().paths[0].points.iter().map(|p| (p.size, p.figures.median)).collect::<Vec<_>>();
        let run = |(level, i): (&f64, usize)| EarlierRun {
            started: format!("2026-01-{:02}T10:00:00Z", i + 1),
            points: points.iter().map(|(size, t)| (*size, t * level)).collect(),
        };
        let runs = levels.iter().zip(0..).map(run).collect();
        let mut events = sample::events();
        events.insert(2, Event::Earlier(Earlier { path: 0, runs, others: others.to_vec() }));
        let text: Vec<u8> =
            events.iter().flat_map(|e| [serde_json::to_vec(e).unwrap(), b"\n".to_vec()].concat()).collect();
        let read = crate::read::read_from(&text[..], "with").unwrap();
        let mut live = Fold::new();
        events.iter().for_each(|e| live.event(e));
        assert_eq!(live.run(), Some(&read), "live and read give the same");
        read
    }

    fn ranges(run: &RunFile, path: usize) -> Vec<Option<(f64, f64)>> {
        run.paths[path].points.iter().map(|p| p.figures.repeat_low.zip(p.figures.repeat_high)).collect()
    }

    #[test]
    fn a_file_without_earlier_runs_says_nothing_of_a_repeat() {
        let mut old = sample::file();
        for point in &mut old.paths[0].points {
            (point.figures.repeat_low, point.figures.repeat_high) = (Some(1e-6), Some(2e-6));
        }
        foretell(&old.run.plan, &mut old.paths[0]);
        assert!(old.paths[0].earlier.is_none() && old.between(0).is_none());
        assert!(ranges(&old, 0).iter().all(Option::is_none), "what one run claimed is not believed");
        let point = sample::events().into_iter().find(|e| matches!(e, Event::Point(_))).unwrap();
        let line = serde_json::to_string(&point).unwrap();
        assert!(!line.contains("repeat"), "older readers take no null for a number: {line}");
        assert!(ranges(&with(&[]), 0).iter().all(Option::is_none));
        assert_eq!(with(&[]).paths[0].earlier, Some(Vec::new()), "it looked, and there was none");
    }

    #[test]
    fn earlier_runs_tell_where_a_repeat_falls_and_more_of_them_tell_more() {
        let (one, five) = (with(&[1.1]), with(&[1.1, 0.95, 1.0, 1.05, 0.9]));
        for (one, (five, point)) in ranges(&one, 0).iter().zip(ranges(&five, 0).iter().zip(&five.paths[0].points)) {
            let ((a, b), (c, d)) = (one.unwrap(), five.unwrap());
            assert!(a < c && d < b, "[{c}, {d}] of five within [{a}, {b}] of one");
            assert!(c < point.figures.median * 0.9 && d > point.figures.median * 1.1);
        }
        assert!(ranges(&five, 1).iter().all(Option::is_none), "of the other path nothing is known");
        assert_eq!(five.between(0).unwrap().earlier(), 5);
        assert!(five.between(9).is_none());
    }

    #[test]
    fn runs_that_share_a_part_of_their_sizes_say_of_how_many() {
        let mut run = with(&[1.1]);
        assert_eq!(run.part_of_earlier(0), None);
        assert_eq!(run.part_of_earlier(9), None);
        let more = (1..1000).map(|i| (1u64 << 20 | i, 1e-3));
        run.paths[0].earlier.as_mut().unwrap()[0].points.extend(more);
        assert_eq!(run.part_of_earlier(0), Some(run.paths[0].points.len()));
    }

    #[test]
    fn what_runs_of_other_paths_do_counts_and_what_nobody_measured_does_not() {
        let apart = |spread| vec![Apart { spread, runs: 9 }; 2];
        let width = |run: &RunFile| ranges(run, 0)[0].map(|(low, high)| high / low).unwrap();
        let (alone, near, far) =
            (with(&[1.05, 0.97]), with_others(&[1.05, 0.97], &apart(0.02)), with_others(&[1.05, 0.97], &apart(0.4)));
        assert!(width(&near) == width(&alone) && width(&alone) < width(&far));
        let unsound = with_others(&[1.05, 0.97], &[Apart { spread: 1e9, runs: 9 }, Apart { spread: 0.02, runs: 0 }]);
        assert!(unsound.paths[0].others.is_empty() && width(&unsound) == width(&alone));
    }

    /// Runs that a coarse clock reads alike.
    #[test]
    fn a_range_is_no_narrower_than_what_the_clock_hides() {
        let alike = with(&[1.0; 5]);
        let narrow = ranges(&alike, 0);
        let mut coarse = alike.clone();
        // Of half a millisecond where a message takes that long, less where it takes less.
        let mut wider = 0;
        for step in [1e3, 1e4, 1e5, 1e6, 1e7] {
            coarse.paths[0].common.clock.clock_step_ns = step;
            let plan = coarse.run.plan.clone();
            foretell(&plan, &mut coarse.paths[0]);
            let path = &coarse.paths[0];
            for ((point, now), before) in path.points.iter().zip(ranges(&coarse, 0)).zip(&narrow) {
                let (hidden, seen) =
                    (rounding(&plan, path.opened.transport, point, &path.common), point.figures.median);
                let ((low, high), before) = (now.unwrap(), before.unwrap());
                assert!(low <= (seen - hidden).max(0.0) && high >= seen + hidden, "{step}: [{low}, {high}] {hidden}");
                wider += usize::from(high > before.1);
            }
        }
        assert!(wider > 0, "no step hides more than runs lie apart");
    }

    /// One earlier run that lies far off says that a repeat may fall anywhere: there is then no range, and no end without a number.
    #[test]
    fn a_range_that_tells_nothing_is_none() {
        for far in [300.0, 1e4, 1e-4] {
            let run = with(&[far]);
            let told = between(&run.run.plan, &run.paths[0]).unwrap().ranges(0.95);
            assert!(told.iter().flatten().all(|r| r.high / r.low >= TELLS_NOTHING), "{far}: {told:?}");
            assert!(ranges(&run, 0).iter().all(Option::is_none), "{far}: {:?}", ranges(&run, 0));
            assert!(run.between(0).is_some(), "that there was one is known all the same");
        }
    }

    #[test]
    fn a_foretold_range_with_infinite_ends_is_none() {
        let mut run = with(&[1.1, 0.9]);
        assert!(ranges(&run, 0).iter().any(Option::is_some));
        // Of a run whose states outlast it nothing bounds how far its level errs.
        let error = StandardError { value: f64::INFINITY, degrees: 3.0 };
        let plan = run.run.plan.clone();
        let path = &mut run.paths[0];
        path.common.shared.moves = stats::Moves { rounds: 30, effective: 2.0, error, ..stats::Moves::default() };
        let told = between(&plan, path).unwrap().ranges(0.95);
        foretell(&plan, path);
        let ends: Vec<_> = told.iter().flatten().map(|r| (r.low, r.high)).collect();
        assert!(!ends.is_empty() && ends.iter().all(|e| *e == (0.0, f64::INFINITY)), "{ends:?}");
        assert!(ranges(&run, 0).iter().all(Option::is_none), "{:?}", ranges(&run, 0));
    }

    #[test]
    fn earlier_runs_that_nobody_measured_are_left_out() {
        assert_eq!(with(&[1.0, f64::MAX, 1.1]).paths[0].earlier.as_ref().unwrap().len(), 2);
        assert_eq!(with(&[1.0; 99]).paths[0].earlier.as_ref().unwrap().len(), EarlierRun::MOST);
    }
}
