//! HINT in a run file: a path's QUIPS, and what ended its curve.

use model::{CurvePoint, Quips};
use transport::Name;
use workload::hint::{Ended, Team, steps};

use crate::{PathRun, RunFile};

/// HINT's figures over a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// Processes that shared the work.
    pub processes: u32,
    /// First, highest and Net QUIPS.
    pub quips: Quips,
    /// Subintervals of each process at the end of the curve.
    pub last: u64,
    /// What ended it; none where the run was stopped or cut off before.
    pub ended: Option<Ended>,
}

fn team(path: &PathRun) -> Team {
    if path.opened.transport == Name::ALONE { Team::ALONE } else { Team::of_two(0) }
}

impl RunFile {
    /// Whether its pattern measures a program: it has a score in place of throughput.
    pub fn has_score(&self) -> bool {
        self.run.plan.pattern.facts().score.is_some()
    }

    /// HINT's figures of the path at this index; none where it has no point with QUIPS.
    pub fn hint(&self, path: usize) -> Option<Hint> {
        let of = self.paths.get(path).filter(|_| self.has_score())?;
        let curve = self.quips(of);
        let quips = Quips::of(&curve, self.run.plan.seed)?;
        let last = curve.last()?.size;
        let team = team(of);
        Some(Hint { processes: team.processes, ended: self.ended(&curve, last, team, quips.peak.value), quips, last })
    }

    /// HINT's curve of the path at this index: the subintervals of all processes together, so that equal sizes are equal qualities, with
    /// QUIPS in place of throughput. Empty for any other run.
    pub fn quips_curve(&self, path: usize) -> Vec<CurvePoint> {
        let Some(of) = self.paths.get(path).filter(|_| self.has_score()) else { return Vec::new() };
        let processes = u64::from(team(of).processes);
        self.quips(of).into_iter().map(|p| CurvePoint { size: p.size.saturating_mul(processes), ..p }).collect()
    }

    fn ended(&self, curve: &[CurvePoint], last: u64, team: Team, peak: f64) -> Option<Ended> {
        // Rounds visit sizes in any order: where a run was stopped, the largest size measured is not the curve's end.
        self.end.as_ref().filter(|end| end.error.is_none())?;
        let plan = &self.run.plan;
        let (most, by) = steps::most(team, plan.to, plan.memory.unwrap_or(u64::MAX));
        let quips = curve.last().map_or(0.0, |p| p.throughput);
        Some(match () {
            () if last >= most => by,
            // The survey decided it by one trial: the median may lie on either side of it.
            () if quips <= 1.5 * steps::TENTH * peak => Ended::Tenth,
            () => Ended::Time,
        })
    }

    /// The path's curve with QUIPS in place of throughput.
    fn quips(&self, path: &PathRun) -> Vec<CurvePoint> {
        let points = path.points.iter().filter_map(|p| {
            let throughput = p.figures.quips.filter(|q| q.is_finite() && *q > 0.0)?;
            Some(self.curve_point(path, p, throughput))
        });
        points.filter(|p| p.seconds.is_finite() && p.seconds > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use measure::event::{End, Figures, TimeKind};
    use measure::{Pattern, Trials, figures};
    use workload::hint::steps;

    use super::*;
    use crate::{Analysis, Costs, Point, sample};

    #[test]
    fn what_the_clocks_step_may_hide_is_in_quips_as_in_any_other_curve() {
        let mut run = sample::file();
        run.paths.truncate(1);
        let path = &mut run.paths[0];
        let clock = measure::event::Calibration { clock_step_ns: 1e6, ..measure::event::Calibration::default() };
        path.common =
            figures::Common::of(&run.run.plan, transport::tcp::NAME, clock, path.points.iter().map(|p| p.trials.all()));
        path.points.iter_mut().for_each(|p| p.figures.quips = Some(1e6));
        let (plain, quips) = (run.curve(0), run.quips(&run.paths[0]));
        assert!(plain[0].rounding > 0.0);
        let of = |curve: &[CurvePoint]| curve.iter().map(|p| p.rounding).collect::<Vec<_>>();
        assert_eq!(of(&quips), of(&plain));
    }

    /// A run of HINT alone, to `n` subintervals, whose answers take as long as `time` says.
    fn run(n: u64, time: impl Fn(u64) -> f64) -> RunFile {
        let mut run = sample::file();
        (run.run.plan.pattern, run.run.plan.to, run.run.plan.memory) = (Pattern::Hint, 1 << 26, Some(1 << 40));
        run.end = Some(End { at: 1.0, error: None, cpu_interference: None, taken: None });
        run.paths.truncate(1);
        run.paths[0].opened.transport = Name::ALONE;
        let points = steps::all(Team::ALONE, n).into_iter().map(|size| {
            let (median, quality) = (time(size), size as f64);
            let quips = Some((quality - 1.0) / median);
            let figures = Figures {
                rounds: 1,
                median,
                low: median,
                high: median,
                quality: Some(quality),
                quips,
                ..Figures::default()
            };
            Point {
                size,
                trials: Trials::new(),
                figures,
                costs: Costs::NONE,
                ways: None,
                time: TimeKind::Answer,
                why: None,
            }
        });
        run.paths[0].points = points.collect();
        run
    }

    #[test]
    fn what_ended_a_curve_is_told() {
        let even = |n: u64| n as f64 * 1e-8;
        let ended = |run: &RunFile| run.hint(0).unwrap().ended;
        assert_eq!(ended(&run(1000, even)), Some(Ended::Time));
        assert_eq!(ended(&run(1000, |n| if n < 900 { even(n) } else { 12.0 * even(n) })), Some(Ended::Tenth));
        let mut asked = run(1000, even);
        asked.run.plan.to = 1000;
        assert_eq!(ended(&asked), Some(Ended::Asked));
        let mut full = run(1000, even);
        full.run.plan.memory = Some(1000 * 96 + 95);
        assert_eq!(ended(&full), Some(Ended::Memory));
        let mut exhausted = run(1000, even);
        exhausted.paths[0].points[0].size = 1 << 26;
        exhausted.paths[0].points.truncate(1);
        assert_eq!(ended(&exhausted), Some(Ended::Precision));
        full.end = Some(End { at: 1.0, error: Some("interrupted".into()), cpu_interference: None, taken: None });
        assert_eq!(ended(&full), None, "rounds visit sizes in any order");
        full.end = None;
        assert_eq!(ended(&full), None);
    }

    #[test]
    fn figures_are_those_of_the_points_and_only_of_hint() {
        let found = run(1000, |n| 1e-6 + n as f64 * 1e-8).hint(0).unwrap();
        assert_eq!((found.processes, found.last, found.quips.first_size), (1, 1000, 2));
        assert!((found.quips.first.value - 1.0 / 1.02e-6).abs() < 1e-3);
        let mut none = run(1000, |_| 1e-6);
        none.paths[0].points.iter_mut().for_each(|p| p.figures.quips = None);
        assert_eq!(none.hint(0), None);
        assert_eq!(none.hint(7), None);
        assert_eq!(sample::file().hint(0), None, "a run of message sizes has none");
        assert!(none.curve(0).is_empty() && Analysis::of(&none).summary(0).is_none(), "and HINT no throughput");
    }
}
