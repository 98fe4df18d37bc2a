//! What `model` makes of a finished run. Terminal, page, pictures, tables and exports all read it, so that no two of them can say
//! different things, and nothing is worked out twice.

use std::borrow::Cow;
use std::num::NonZero;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use model::{Breaks, CurvePoint, Fits, Jitter, Summary};

use crate::{Hint, RunFile};

/// A run and what is made of it: each part once, when it is first asked for (a summary and fits resample the curve thousands of
/// times). The run's own seed drives the bootstraps, so the same file always gives the same intervals.
#[derive(Debug)]
pub struct Analysis<'a> {
    run: &'a RunFile,
    paths: Vec<Found>,
    /// Of an index beyond the paths.
    beyond: Found,
}

#[derive(Debug, Default)]
struct Found {
    curve: OnceLock<Vec<CurvePoint>>,
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
    /// Of this run; nothing is worked out yet.
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

    /// The sizes of the path's curve that tell what it carries for long: all but those that a token bucket sped up, as the run warned; all where
    /// it sped up all.
    pub fn lasting(&self, path: usize) -> Cow<'_, [CurvePoint]> {
        let (curve, saved_up) = (self.curve(path), self.run.saved_up(path));
        let others: Vec<CurvePoint> = curve.iter().filter(|p| !saved_up.contains(&p.size)).cloned().collect();
        if others.is_empty() || others.len() == curve.len() { Cow::Borrowed(curve) } else { Cow::Owned(others) }
    }

    /// The path's figures, with their intervals; none where there are too few points for them. What a token bucket let pass is no maximum.
    pub fn summary(&self, path: usize) -> Option<&Summary> {
        let of = || {
            let seed = self.run.run.plan.seed;
            let all = Summary::of(self.curve(path), seed)?;
            let Cow::Owned(lasting) = self.lasting(path) else { return Some(all) };
            let Summary { max_throughput, max_size, half_power, still_rising, .. } = Summary::of(&lasting, seed)?;
            Some(Summary { max_throughput, max_size, half_power, still_rising, ..all })
        };
        self.found(path).summary.get_or_init(of).as_ref()
    }

    /// The models fitted to the path; none where it has no point. Of a run on a schedule only those of time: a size over its time is
    /// then not what the path carries.
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

    /// The path's jitter; that of no trial beyond the paths.
    pub fn jitter(&self, path: usize) -> &Jitter {
        self.found(path).jitter.get_or_init(|| self.run.jitter(path))
    }

    /// HINT's figures of the path; none where it has no point with QUIPS.
    pub fn hint(&self, path: usize) -> Option<&Hint> {
        self.found(path).hint.get_or_init(|| self.run.hint(path)).as_ref()
    }

    /// Works out summaries, fits, dips and steps of all paths of these runs, on all CPUs: for those who show all of them.
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
        let next = AtomicUsize::new(0);
        let workers = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some((part, run, path)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        part(run, *path);
                    }
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use measure::event::Warning;

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

    #[test]
    fn what_a_token_bucket_let_pass_is_no_maximum() {
        let mut run = sample::file();
        let (fastest, most, latency) = {
            let all = Analysis::of(&run);
            let s = all.summary(0).unwrap();
            (s.max_size, s.max_throughput.value, s.latency)
        };
        let path = Some(run.paths[0].opened.path);
        let warned = |code: &str| Warning { code: code.to_owned(), path, sizes: vec![fastest], text: String::new() };
        let warnings = [warned("noisy"), warned(measure::BUCKET)];
        let [noisy, bucket] = warnings.map(|w| {
            run.warnings = vec![w];
            let found = Analysis::of(&run);
            let s = found.summary(0).unwrap();
            (s.max_size, s.max_throughput.value, s.latency)
        });
        assert_eq!(noisy, (fastest, most, latency));
        assert!(bucket.0 != fastest && bucket.2 == latency, "{bucket:?}, with all {fastest}");
        let found = Analysis::of(&run);
        let (all, lasting) = (found.curve(0), found.lasting(0));
        assert!(lasting.len() + 1 == all.len() && lasting.iter().all(|p| p.size != fastest));
        let every: Vec<u64> = all.iter().map(|p| p.size).collect();
        drop(found);
        run.warnings[0].sizes = every;
        let found = Analysis::of(&run);
        assert_eq!(found.lasting(0).len(), found.curve(0).len(), "a bucket that sped up all tells nothing");
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
