//! What the models say of every path, computed on all CPUs: the bootstraps behind the intervals take most of a page's time.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use record::{Analysis, RunFile};

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
                    let found = runs[*r].analysis(*p);
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

    /// Of more sizes than can be worked with, the page says what `show` and the JSON document say: it has no choice of its own.
    #[test]
    fn a_large_curve_has_one_analysis() {
        let sizes: Vec<u64> = (1..=1600).collect();
        let run = sample::run_of(&sample::MODELS[..1], &sizes, 1, 7);
        let found = of(&[&run]);
        let fits = found[0][0].fits.as_ref().unwrap();
        assert!(fits.warnings.iter().any(|w| w.contains(" of 1,600 sizes")), "{:?}", fits.warnings);
        assert_eq!((&found[0][0].summary, Some(fits)), (&run.summary(0), run.fits(0).as_ref()));
    }
}
