//! HINT in a run file: a path's QUIPS, and what ended its curve.

use measure::Pattern;
use measure::figures;
use model::{CurvePoint, Quips};
use transport::Kind;
use workload::hint::{Ended, Team, steps};

use crate::{PathRun, RunFile};

/// What HINT found over a path.
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

impl RunFile {
    /// Whether the run is one of HINT: its sizes are subintervals, and it has QUIPS instead of throughput.
    pub fn is_hint(&self) -> bool {
        self.run.plan.pattern == Pattern::Hint
    }

    /// HINT's figures of the path at this index; none where it has no point with QUIPS.
    pub fn hint(&self, path: usize) -> Option<Hint> {
        let of = self.paths.get(path).filter(|_| self.is_hint())?;
        let curve = self.quips(of);
        let quips = Quips::of(&curve, self.run.plan.seed)?;
        let last = curve.last()?.size;
        let team = if of.opened.transport == Kind::Alone { Team::ALONE } else { Team::of_two(0) };
        Some(Hint { processes: team.processes, ended: self.ended(&curve, last, team, quips.peak.value), quips, last })
    }

    fn ended(&self, curve: &[CurvePoint], last: u64, team: Team, peak: f64) -> Option<Ended> {
        // Blocks visit sizes in any order: where a run was stopped, the largest one it has is no end.
        self.end.as_ref().filter(|end| end.error.is_none())?;
        let plan = &self.run.plan;
        let (most, by) = steps::most(team, plan.to, plan.memory.unwrap_or(u64::MAX));
        let quips = curve.last().map_or(0.0, |p| p.throughput);
        Some(match () {
            () if last >= most => by,
            // The survey saw it with one trial: the median may lie on either side of it.
            () if quips <= 1.5 * steps::TENTH * peak => Ended::Tenth,
            () => Ended::Time,
        })
    }

    /// The path's curve with QUIPS in the place of throughput.
    fn quips(&self, path: &PathRun) -> Vec<CurvePoint> {
        let points = path.points.iter().filter_map(|p| {
            let throughput = p.figures.quips.filter(|q| q.is_finite() && *q > 0.0)?;
            let mut blocks =
                figures::blocks(&self.run.plan, path.opened.transport, &p.trials.iter().collect::<Vec<_>>());
            if blocks.is_empty() {
                blocks.push((0, p.figures.median));
            }
            Some(CurvePoint { size: p.size, seconds: p.figures.median, blocks, throughput })
        });
        points.filter(|p| p.seconds.is_finite() && p.seconds > 0.0).collect()
    }
}
