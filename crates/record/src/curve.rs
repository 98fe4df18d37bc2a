//! The curves of a path for `model`, and its wire where the run knows it.

use std::collections::BTreeSet;

use measure::figures;
use measure::figures::cost::{self, End};
use model::CurvePoint;
use model::scale::Wire;
use transport::registry;

use crate::{PathRun, Point, RunFile};

/// Factor by which a size seems to carry more than the largest.
const SEEMS_ABOVE: f64 = 1.25;

/// Throughput of the largest size, bits a second.
fn at_the_largest(run: &PathRun) -> f64 {
    run.points.iter().max_by_key(|p| p.size).map_or(f64::INFINITY, |p| p.figures.throughput)
}

impl RunFile {
    /// Sizes at which the path carried for a short time what a token bucket had saved up: those of [`RunFile::above_the_largest`] where long
    /// trials show it. Else what makes them faster is not known, and none is told.
    pub fn saved_up(&self, path: usize) -> BTreeSet<u64> {
        let above = self.above_the_largest(path);
        let Some(run) = self.paths.get(path).filter(|_| !above.is_empty()) else { return above };
        let plan = &self.run.plan;
        let sped_up = |size: u64| above.contains(&size);
        match measure::in_long_trials(plan, &run.kept_up(plan), sped_up, at_the_largest(run)) {
            Some(true) => above,
            _ => BTreeSet::new(),
        }
    }

    /// Sizes that may have been sped up by a token bucket: those that the run warned of, which surely show more than the largest size, and where
    /// there are any, larger ones that seem to. Of few rounds a size shows nothing surely, and lies within the bucket all the same.
    pub fn above_the_largest(&self, path: usize) -> BTreeSet<u64> {
        let Some(run) = self.paths.get(path) else { return BTreeSet::new() };
        let told = self.warnings.iter().filter(|w| w.code == measure::BUCKET && w.path == Some(run.opened.path));
        let mut found: BTreeSet<u64> = told.flat_map(|w| w.sizes.iter().copied()).collect();
        let largest = at_the_largest(run);
        if let Some(last) = found.last().copied() {
            let seems = |p: &&Point| p.size > last && p.figures.throughput > SEEMS_ABOVE * largest;
            found.extend(run.points.iter().filter(seems).map(|p| p.size));
        }
        found
    }

    /// The curve of the path at this index of [`RunFile::paths`], ascending by size: medians (seconds of the path's time kind), and the
    /// medians of the rounds behind them, without the machine's states within a round. Points without a usable time are left out; an index
    /// beyond the paths gives an empty curve.
    pub fn curve(&self, path: usize) -> Vec<CurvePoint> {
        let Some(run) = self.paths.get(path) else { return Vec::new() };
        let looked = |p: &Point| !p.trials.is_empty() && p.trials.iter().all(|t| t.warmup);
        let any_round = run.points.iter().any(|p| p.trials.iter().any(|t| !t.warmup));
        run.points
            .iter()
            .filter(|p| p.figures.median > 0.0 && p.figures.median.is_finite())
            .map(|p| (p, self.rate_in_curve(p)))
            .filter(|(_, rate)| *rate > 0.0 && rate.is_finite())
            .map(|(p, rate)| {
                let mut point = self.curve_point(run, p, rate);
                if looked(p) && any_round {
                    // Survey trials are no rounds.
                    point.rounds.clear();
                }
                point
            })
            .collect()
    }

    /// The throughput that a point has in a curve, whose points have a place on both axes. What has no size gets that of its one byte: no output shows it
    /// ([`RunFile::carries`]).
    pub fn rate_in_curve(&self, p: &Point) -> f64 {
        if self.run.plan.pattern.facts().sized { p.figures.throughput } else { 8.0 / p.figures.median }
    }

    /// A point of a path with the medians of its rounds and this throughput.
    pub(crate) fn curve_point(&self, path: &PathRun, p: &Point, throughput: f64) -> CurvePoint {
        let (plan, trials) = (&self.run.plan, p.trials.all());
        let trials: Vec<_> = trials.iter().collect();
        let mut medians = figures::rounds(plan, path.opened.transport, &trials, &path.common);
        let rounding = figures::rounding(plan, &trials, &medians, &path.common);
        if medians.is_empty() {
            // A file may keep points without their trials: the median is then all that is known.
            medians.push((0, p.figures.median));
        }
        CurvePoint {
            size: p.size,
            seconds: p.figures.median,
            rounds: medians,
            throughput,
            interval: Some(stats::Interval { low: p.figures.low, high: p.figures.high }),
            rounding,
        }
    }

    /// CPU time of a transfer of the path at this index on one side, in the form of [`RunFile::curve`]: ascending by size, seconds, with
    /// the rounds behind each. In place of throughput stand the bits that cross the path in a second of CPU time. Empty where CPU time is
    /// not known, and for HINT.
    pub fn cpu_curve(&self, path: usize, end: End) -> Vec<CurvePoint> {
        let Some(run) = self.paths.get(path) else { return Vec::new() };
        let trials = run.points.iter().map(|p| p.trials.all());
        let rounds = cost::cpu_rounds(&self.run.plan, run.opened.transport, end, trials);
        let any_round = run.points.iter().any(|p| p.trials.iter().any(|t| !t.warmup));
        let point = |(p, medians): (&Point, Vec<(u32, f64)>)| {
            let cpu = p.costs.of(end)?.cpu.filter(|cpu| cpu.median > 0.0 && cpu.per_byte > 0.0)?;
            // Survey trials are no rounds.
            let looked = any_round && p.trials.iter().all(|t| t.warmup);
            Some(CurvePoint {
                size: p.size,
                seconds: cpu.median,
                rounds: if looked { Vec::new() } else { medians },
                throughput: 8.0 / cpu.per_byte,
                interval: Some(cpu.interval),
                rounding: 0.0,
            })
        };
        run.points.iter().zip(rounds).filter_map(point).collect()
    }

    /// The wire of the path at this index, where the run itself knows it: the theoretical link's, or the rate that a real path was slowed
    /// down to (`--shape`), whose wire carries a message's bytes and nothing else.
    pub fn wire(&self, path: usize) -> Option<Wire> {
        let opened = &self.paths.get(path)?.opened;
        let settings = self.run.plan.settings(opened.path);
        if let Some(link) = registry::find(opened.transport).and_then(|t| t.line(settings)) {
            return Wire::new(link.rate, 1.0, link.header as f64).and_then(|w| w.with_packet(Some(link.packet))).ok();
        }
        // A path that one process plays does not pass through the shape.
        let shape = self.run.plan.decorators.shape.as_ref().filter(|_| opened.capabilities.two_ended)?;
        Wire::new(shape.rate, 1.0, 0.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use measure::Trials;
    use transport::theory::Theory;

    use super::*;
    use crate::{Analysis, sample};

    #[test]
    fn a_curve_is_the_points_medians_with_their_rounds() {
        let run = sample::file();
        for path in 0..2 {
            let curve = run.curve(path);
            assert_eq!(curve.iter().map(|p| p.size).collect::<Vec<_>>(), [1, 24, 1536, 98_304]);
            for (c, p) in curve.iter().zip(&run.paths[path].points) {
                assert_eq!((c.seconds, c.throughput), (p.figures.median, p.figures.throughput));
                assert_eq!(c.rounds.len(), p.figures.rounds as usize);
                assert!(c.rounds.windows(2).all(|w| w[0].0 < w[1].0), "one median a round, in order");
            }
        }
        assert!(Analysis::of(&run).summary(0).is_some());
    }

    #[test]
    fn looks_of_the_survey_are_no_round_of_the_curve() {
        let mut run = sample::file();
        run.paths[0].points[3].trials.plain().iter_mut().for_each(|t| {
            t.warmup = true;
            t.round = 0;
        });
        let curve = run.curve(0);
        assert!(curve.len() == 4 && curve[3].rounds.is_empty() && curve[3].seconds > 0.0, "{:?}", curve[3]);
        assert!(Analysis::of(&run).summary(0).is_some() && Analysis::of(&run).fits(0).is_some());
        // Where there was no round, they are all that is known.
        run.paths[0].points.iter_mut().flat_map(|p| p.trials.plain()).for_each(|t| t.warmup = true);
        assert!(run.curve(0).iter().all(|p| !p.rounds.is_empty()));
    }

    #[test]
    fn a_run_knows_the_wire_that_it_was_given() {
        let mut run = sample::file();
        assert_eq!(run.wire(0), None, "a socket's wire is not known");
        let shape = |rate| Some(transport::decorate::Shape { rate, latency: 1e-3 });
        run.run.plan.decorators.shape = shape(155e6);
        assert_eq!(run.wire(0), Wire::new(155e6, 1.0, 0.0).ok());
        run.run.plan.decorators.shape = shape(0.0);
        assert_eq!((run.wire(0), run.wire(9)), (None, None), "a shape of latency alone has no rate");
        run.paths[0].opened.transport = transport::theory::NAME;
        let wire = run.wire(0).unwrap();
        assert_eq!((wire.rate, wire.framing, wire.header, wire.packet), (10e9, 1.0, 66.0, Some(1448)));
        let link = Theory::default();
        for n in [0, 1, 1448, 1449, 10_000, 20_000] {
            assert!((wire.seconds(n as f64) / link.line_time(n) - 1.0).abs() < 1e-12, "{n}");
        }
        run.run.plan.decorators.shape = shape(155e6);
        run.paths[1].opened.capabilities.two_ended = false;
        assert_eq!(run.wire(1), None);
    }

    #[test]
    fn what_a_model_cannot_use_is_left_out() {
        let mut run = sample::file();
        run.paths[0].points[1].figures.median = 0.0;
        run.paths[0].points[2].trials = Trials::new();
        let curve = run.curve(0);
        assert_eq!(curve.iter().map(|p| p.size).collect::<Vec<_>>(), [1, 1536, 98_304]);
        assert_eq!(curve[1].rounds, [(0, curve[1].seconds)], "a point without trials is one round of its median");
        assert!(run.curve(9).is_empty() && Analysis::of(&run).summary(9).is_none());
    }
}
