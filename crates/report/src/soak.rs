//! The curves of the graphs over the time: a soak's intervals.

use measure::{figures, interval};
use record::{Analysis, soak};

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::words;

/// Moments are drawn in microseconds, which stand in the place of a size.
pub(crate) const PER_SECOND: f64 = 1e6;

/// A curve for each size of each path, a point an interval (or a stretch of them, of a long soak): its median, and from it to the 99th
/// percentile, where that is told.
pub(crate) fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    let mut out = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let plan = &run.run.plan;
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        for path in &run.paths {
            for point in &path.points {
                let size = if path.points.len() > 1 { format!(" {}", units::Bytes(point.size)) } else { String::new() };
                let intervals = interval::whole(point.trials.iter().filter(|t| !t.warmup).cloned().collect());
                let start = path
                    .points
                    .iter()
                    .flat_map(|p| &p.trials)
                    .filter(|t| !t.warmup)
                    .map(|t| t.at)
                    .fold(f64::MAX, f64::min);
                let placed = |t: &measure::event::Trial| {
                    let f = soak::figures_of(plan, path.opened.transport, t)?;
                    let p99 = f.percentiles.and_then(|p| p.p99);
                    curve::clean(Pt {
                        size: ((t.at - start) * PER_SECOND).max(1.0) as u64,
                        seconds: f.median,
                        interval: p99.map(|p99| (f.median, p99.max(f.median))),
                        min: f.median,
                        throughput: f.throughput,
                        warned: false,
                    })
                };
                let all = intervals.len();
                let points: Vec<Pt> = intervals.iter().filter_map(placed).collect();
                let (hue, dropped) = (out.len() % HUES, all - points.len());
                let time = figures::time_kind(plan, path.opened.transport);
                let (name, number) = (format!("{letter}{}{size}", path.opened.name()), path.opened.path);
                let overlay = Overlay::default();
                out.push(Series { name, run: r, path: number, time, hue, dash: 0, points, dropped, overlay });
            }
        }
    }
    out
}
