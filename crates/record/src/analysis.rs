//! What `model` computes from a finished run. Terminal, page, pictures, tables and exports all read it, so that no two of them can
//! contradict each other, and nothing is computed twice.

use std::ops::Deref;
use std::sync::OnceLock;

use model::{Breaks, CurvePoint, Fits, Jitter, Summary};

use crate::{Hint, RunFile, parallel};

/// A run and what is computed from it: each part once, when it is first asked for (a summary and fits resample the curve thousands of
/// times). The run's own seed drives the bootstraps, so the same file always gives the same intervals.
#[derive(Debug)]
pub struct Analysis<'a> {
    run: &'a RunFile,
    paths: Vec<Found>,
    /// Returned for an index beyond the paths.
    beyond: Found,
}

#[derive(Debug, Default)]
struct Found {
    curve: OnceLock<Vec<CurvePoint>>,
    saved_up: OnceLock<Option<u64>>,
    summary: OnceLock<Option<Summary>>,
    fits: OnceLock<Option<Fits>>,
    breaks: OnceLock<Breaks>,
    jitter: OnceLock<Jitter>,
    hint: OnceLock<Option<Hint>>,
}

impl Deref for Analysis<'_> {
    type Target = RunFile;

    fn deref(&self) -> &RunFile {
        self.run
    }
}

impl<'a> Analysis<'a> {
    /// Of this run; nothing is computed yet.
    pub fn of(run: &'a RunFile) -> Self {
        Self { run, paths: run.paths.iter().map(|_| Found::default()).collect(), beyond: Found::default() }
    }

    fn found(&self, path: usize) -> &Found {
        self.paths.get(path).unwrap_or(&self.beyond)
    }

    /// The run.
    pub fn run(&self) -> &'a RunFile {
        self.run
    }

    /// The curve of the path at this index ([`RunFile::curve`]); empty beyond the paths.
    pub fn curve(&self, path: usize) -> &[CurvePoint] {
        self.found(path).curve.get_or_init(|| self.run.curve(path))
    }

    /// The sizes of the path's curve at which its long-term rate shows: where long trials show a token bucket, only those above the last size
    /// that it sped up, since smaller ones fit into it; all where that leaves none.
    pub fn lasting(&self, path: usize) -> &[CurvePoint] {
        self.found(path)
            .saved_up
            .get_or_init(|| self.run.saved_up(path).last().copied())
            .map_or(self.curve(path), |last| self.above(path, last))
    }

    /// The same where there may be a token bucket: what these sizes carry, the path surely carries for long.
    pub fn surely_lasting(&self, path: usize) -> &[CurvePoint] {
        self.run.above_the_largest(path).last().map_or(self.curve(path), |last| self.above(path, *last))
    }

    /// The curve above a size; all of it where that leaves nothing.
    fn above(&self, path: usize, last: u64) -> &[CurvePoint] {
        let curve = self.curve(path);
        match curve.partition_point(|p| p.size <= last) {
            from if from < curve.len() => &curve[from..],
            _ => curve,
        }
    }

    /// The path's figures, with their intervals; none where there are too few points for them. Sizes that a token bucket sped up do not
    /// count for the maximum.
    pub fn summary(&self, path: usize) -> Option<&Summary> {
        let of = || {
            let seed = self.run.run.plan.seed;
            let curve = self.curve(path);
            let most = self.run.paths.get(path).and_then(|p| p.opened.capabilities.max_block);
            // Where nothing larger goes over the path, it does not rise beyond that.
            let ends = most.is_some_and(|most| curve.last().is_some_and(|p| p.size >= most));
            let of = |curve: &[CurvePoint]| {
                let found = Summary::of(curve, seed)?;
                let still_rising = found.still_rising.map(|rising| rising && !ends);
                Some(Summary { still_rising, ..found })
            };
            let all = of(curve)?;
            let lasting = self.lasting(path);
            if lasting.len() == curve.len() {
                return Some(all);
            }
            let Summary { max_throughput, max_size, half_power, still_rising, .. } = of(lasting)?;
            Some(Summary { max_throughput, max_size, half_power, still_rising, ..all })
        };
        self.found(path).summary.get_or_init(of).as_ref()
    }

    /// The models fitted to the path; none where it has no point. Of a run on a schedule only those of time: size over time is then not
    /// what the path carries.
    pub fn fits(&self, path: usize) -> Option<&Fits> {
        let of = || {
            let fits = Fits::of(self.curve(path), self.run.run.plan.seed)?;
            Some(if self.run.carries() { fits } else { Fits { bandwidth: None, ..fits } })
        };
        self.found(path).fits.get_or_init(of).as_ref()
    }

    /// Dips and steps of the path.
    pub fn breaks(&self, path: usize) -> &Breaks {
        self.found(path).breaks.get_or_init(|| Breaks::of(self.curve(path)))
    }

    /// The path's jitter; that of no trials for an index beyond the paths.
    pub fn jitter(&self, path: usize) -> &Jitter {
        self.found(path).jitter.get_or_init(|| self.run.jitter(path))
    }

    /// HINT's figures of the path; none where it has no point with QUIPS.
    pub fn hint(&self, path: usize) -> Option<&Hint> {
        self.found(path).hint.get_or_init(|| self.run.hint(path)).as_ref()
    }

    /// Computes summaries, fits, dips and steps of all paths of these runs, on all CPUs: for callers that show all of them.
    pub fn work_out(runs: &[&Analysis<'_>]) {
        let parts: [fn(&Analysis<'_>, usize); 3] = [
            |a, p| {
                a.fits(p);
            },
            |a, p| {
                a.summary(p);
            },
            |a, p| {
                a.breaks(p);
            },
        ];
        let paths = runs.iter().flat_map(|run| (0..run.paths.len()).map(move |p| (*run, p)));
        let jobs: Vec<_> = paths.flat_map(|(run, p)| parts.map(|part| (part, run, p))).collect();
        parallel::each(jobs.len(), usize::MAX, |n| {
            let (part, run, path) = jobs[n];
            part(run, path);
        });
    }
}

#[cfg(test)]
mod tests {
    use measure::event::{Trial, Warning};

    use super::*;
    use crate::sample;

    #[test]
    fn each_part_is_worked_out_once_and_the_same_on_all_cpus() {
        let run = sample::file();
        let (one, all) = (Analysis::of(&run), Analysis::of(&run));
        Analysis::work_out(&[&all]);
        for path in 0..run.paths.len() {
            assert_eq!((one.summary(path), one.fits(path)), (all.summary(path), all.fits(path)));
            assert_eq!(one.breaks(path), all.breaks(path));
            assert!(std::ptr::eq(one.breaks(path), one.breaks(path)) && std::ptr::eq(one.curve(path), one.curve(path)));
        }
        assert!(one.curve(9).is_empty() && one.summary(9).is_none() && one.fits(9).is_none());
        Analysis::work_out(&[]);
    }

    /// A trial of two seconds and more in which a message takes three times as long as in short ones.
    fn long(run: &RunFile, size: u64, round: u32) -> Trial {
        let point = run.paths[0].points.iter().find(|p| p.size == size).unwrap();
        let mut trial = point.trials.all().iter().find(|t| !t.warmup && t.round == round).unwrap().clone();
        let scale = (2.0 / trial.report.seconds).ceil() * 3.0;
        trial.report.seconds *= scale;
        trial.report.repeats *= (scale / 3.0) as u64;
        trial
    }

    #[test]
    fn what_a_token_bucket_let_pass_is_no_maximum() {
        let mut run = sample::file();
        let found = Analysis::of(&run);
        let (all, sizes) =
            (found.summary(0).cloned().unwrap(), found.curve(0).iter().map(|p| p.size).collect::<Vec<_>>());
        drop(found);
        let (path, middle) = (Some(run.paths[0].opened.path), sizes.len() / 2);
        let mut warned = |code: &str, sizes: &[u64]| {
            run.warnings = vec![Warning { code: code.to_owned(), path, sizes: sizes.to_vec(), text: String::new() }];
            let found = Analysis::of(&run);
            (found.lasting(0).to_vec(), found.summary(0).cloned().unwrap())
        };
        let sped_up = [sizes[middle - 2], sizes[middle]];
        assert_eq!(warned("noisy", &sped_up).1, all);
        let (lasting, of_lasting) = warned(measure::BUCKET, &sped_up);
        assert!(lasting.len() == sizes.len() && of_lasting == all, "without long trials caches may do the same");
        run.paths[0].sustained = vec![long(&run, sizes[middle], 2), long(&run, sizes[middle], 4)];
        let mut warned = |code: &str, sizes: &[u64]| {
            run.warnings = vec![Warning { code: code.to_owned(), path, sizes: sizes.to_vec(), text: String::new() }];
            let found = Analysis::of(&run);
            (found.lasting(0).to_vec(), found.summary(0).cloned().unwrap())
        };
        let (lasting, of_lasting) = warned(measure::BUCKET, &sped_up);
        assert_eq!(lasting.iter().map(|p| p.size).collect::<Vec<_>>(), sizes[middle + 1..], "smaller ones fit into it");
        assert!(of_lasting.max_size > sizes[middle] && of_lasting.latency == all.latency, "{of_lasting:?}");
        let (lasting, of_lasting) = warned(measure::BUCKET, &sizes);
        assert!(lasting.len() == sizes.len() && of_lasting == all, "one that sped up all tells nothing");
        // Larger sizes that seem to carry more than the largest lie in the bucket, too, however few rounds they had.
        let mut within = run.clone();
        let points = &mut within.paths[0].points;
        let largest = points.iter().max_by_key(|p| p.size).unwrap().figures.throughput;
        let point = points.iter_mut().find(|p| p.size == sizes[middle]).unwrap();
        point.figures.throughput = 2.0 * largest;
        within.warnings = vec![Warning {
            code: measure::BUCKET.to_owned(),
            path,
            sizes: vec![sizes[middle - 1]],
            text: String::new(),
        }];
        within.paths[0].sustained = vec![long(&run, sizes[middle], 2), long(&run, sizes[middle], 4)];
        assert_eq!(within.saved_up(0).last(), Some(&sizes[middle]));
        within.paths[0].sustained.clear();
        assert!(within.saved_up(0).is_empty() && within.above_the_largest(0).len() == 2);
    }

    #[test]
    fn a_run_on_a_schedule_has_no_bandwidth_curve() {
        let mut run = sample::file();
        assert!(Analysis::of(&run).fits(0).unwrap().bandwidth.is_some());
        run.run.plan.rate = Some(1e3);
        let found = Analysis::of(&run);
        let fits = found.fits(0).unwrap();
        assert!(fits.bandwidth.is_none() && fits.latency.all.is_some());
    }
}
