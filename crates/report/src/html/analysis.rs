//! What the models say of every path, computed on all CPUs: the bootstraps behind the intervals take most of a page's time.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use model::{CurvePoint, Fits, Summary};
use record::RunFile;

/// Sizes at most that a model is fitted to for the page: some models take time that grows with the square of the number of
/// sizes, and none is told better by ten thousand of them.
const MOST: usize = 1500;

/// What is known of one path as a whole.
#[derive(Debug, Default)]
pub struct Analysis {
    /// Its figures; none where there are too few points.
    pub summary: Option<Summary>,
    /// Its models; none where there is no usable point.
    pub fits: Option<Fits>,
}

/// Every path of every run: run by run, path by path.
pub fn of(runs: &[&RunFile]) -> Vec<Vec<Analysis>> {
    let jobs: Vec<(usize, usize)> =
        runs.iter().enumerate().flat_map(|(r, run)| (0..run.paths.len()).map(move |p| (r, p))).collect();
    let results: Vec<Mutex<Analysis>> = jobs.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(jobs.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((i, (r, p))) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
                {
                    let found = path(runs[*r], *p);
                    if let Ok(mut place) = results[i].lock() {
                        *place = found;
                    }
                }
            });
        }
    });
    let mut results = results.into_iter().map(|m| m.into_inner().unwrap_or_default());
    runs.iter().map(|run| results.by_ref().take(run.paths.len()).collect()).collect()
}

fn path(run: &RunFile, path: usize) -> Analysis {
    let curve = run.curve(path);
    let seed = run.run.plan.seed;
    let summary = Summary::of(&curve, seed);
    let all = curve.len();
    let used = thinned(curve);
    let fits = Fits::of(&used, seed).map(|mut fits| {
        if used.len() < all {
            fits.warnings.push(format!("the models are fitted to {} of {all} sizes, evenly chosen", used.len()));
        }
        fits
    });
    Analysis { summary, fits }
}

/// At most [`MOST`] points, evenly chosen by their place in the curve, the first and the last among them.
fn thinned(curve: Vec<CurvePoint>) -> Vec<CurvePoint> {
    if curve.len() <= MOST {
        return curve;
    }
    let last = curve.len() - 1;
    (0..MOST).map(|i| curve[i * last / (MOST - 1)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_path_gets_its_own_analysis() {
        let (a, b) = (sample::run_of(&sample::MODELS, &[1, 64, 4096, 1 << 20], 5, 7), sample::run_of(&[], &[], 0, 1));
        let found = of(&[&a, &b, &a]);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [4, 0, 4]);
        for (i, one) in found[2].iter().enumerate() {
            assert_eq!((&one.summary, &one.fits), (&a.summary(i), &a.fits(i)));
        }
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn a_large_curve_is_thinned_evenly_and_keeps_its_ends() {
        let point =
            |size| CurvePoint { size, seconds: 1.0, blocks: vec![], throughput: 1.0, interval: None, rounding: 0.0 };
        let kept = thinned((1..=40_000).map(point).collect());
        assert_eq!((kept.len(), kept[0].size, kept[MOST - 1].size), (MOST, 1, 40_000));
        assert!(kept.windows(2).all(|w| (26..=27).contains(&(w[1].size - w[0].size))));
        assert_eq!(thinned((1..=9).map(point).collect()).len(), 9);
    }
}
