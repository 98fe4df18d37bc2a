//! The curves of the graphs over the time: a soak's intervals.

use std::borrow::Cow;

use measure::{figures, interval};
use record::{Analysis, soak};

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::words;

/// Moments are in microseconds and take the place of the size.
pub(crate) const PER_SECOND: f64 = 1e6;

/// A curve for each size of each path, a point an interval (or a stretch of intervals, of a long soak): its median, and the band from it to
/// the 99th percentile, where that is known. Moments are those of the run, as in lines, sentences, exports and the graphs of other states.
pub(crate) fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    let mut out = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let plan = &run.run.plan;
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        for path in &run.paths {
            for point in &path.points {
                let size = if path.points.len() > 1 { format!(" {}", units::Bytes(point.size)) } else { String::new() };
                let intervals =
                    interval::whole(point.trials.iter().filter(|t| !t.warmup).map(Cow::into_owned).collect());
                let placed = |t: &measure::event::Trial| {
                    let f = soak::figures_of(plan, path.opened.transport, t)?;
                    let p99 = f.percentiles.and_then(|p| p.p99);
                    curve::clean(Pt {
                        size: (t.at * PER_SECOND).max(1.0) as u64,
                        seconds: f.median,
                        interval: p99.map(|p99| (f.median, p99.max(f.median))),
                        min: f.median,
                        throughput: f.throughput,
                        warned: false,
                    })
                };
                let all = intervals.len();
                let points: Vec<Pt> = intervals.iter().filter_map(placed).collect();
                let (hue, dash, dropped) = (out.len() % HUES, out.len() / HUES % 3, all - points.len());
                let time = figures::time_kind(plan, path.opened.transport, 1);
                let (name, number) = (format!("{letter}{}{size}", path.opened.name()), path.opened.path);
                let overlay = Overlay::default();
                out.push(Series { name, run: r, path: number, time, hue, dash, points, dropped, overlay });
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use measure::event::{Schedule, Trial};

    use super::*;
    use crate::{Figure, Graph, sample};

    #[test]
    fn intervals_lie_over_the_time_and_their_percentiles_within_the_picture() {
        let mut run = sample::run_of(&sample::MODELS[2..3], &[64, 4096], 6, 7);
        (run.run.plan.schedule, run.run.plan.every) = (Schedule::Soak, Some(1.0));
        for point in &mut run.paths[0].points {
            let one = point.trials.plain().pop().unwrap();
            let interval = |round: u32| {
                let mut t = Trial { round, at: 0.25 + f64::from(round - 1), warmup: false, ..one.clone() };
                let ns = (t.report.median * 1e9) as u64;
                t.report.histogram = vec![(ns, 970), (100 * ns, 30)];
                t.report.max = t.report.median * 100.0;
                t
            };
            point.trials = (1..=6).map(interval).collect();
        }
        let analysis = Analysis::of(&run);
        let series = series(&[&analysis]);
        assert_eq!(series.iter().filter(|s| s.name.ends_with(" 64 B")).count(), 1);
        assert!(series.len() == 2 && series.iter().all(|s| s.points.len() == 6 && s.dropped == 0), "{series:?}");
        let figure = Figure::of(&[&analysis], Graph::OverTime);
        let (x, y) = figure.axes.unwrap();
        assert_eq!((x.title.as_str(), x.scale.low), ("Time since the start", 0.0));
        let (first, last) = (figure.lines[0].dots[0], figure.lines[0].dots[5]);
        assert!((first.mid.0 - 0.25).abs() < 1e-5 && (last.mid.0 - 5.25).abs() < 1e-5, "{first:?} {last:?}");
        let (low, high) = first.interval.unwrap();
        assert!(low == first.mid && high.1 > 50.0 * first.mid.1 && high.1 < y.scale.high, "{first:?} {:?}", y.scale);
        assert!(figure.notes.is_empty(), "{:?}", figure.notes);
        run.run.plan.schedule = Schedule::Adaptive;
        assert!(Graph::of_runs(&[&run], Some(Graph::OverTime)).is_err_and(|why| why.contains("--duration")));
    }
}
