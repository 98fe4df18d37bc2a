//! The curves of the CPU graph: CPU time of a transfer on each side.

use measure::event::TimeKind;
use measure::figures::cost::End;
use record::{Analysis, RunFile};

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::words;

/// Whether a run has the CPU time of any of its points.
pub(crate) fn told(run: &RunFile) -> bool {
    run.paths.iter().flat_map(|p| &p.points).flat_map(|p| p.costs.iter()).any(|cost| cost.cpu.is_some())
}

/// A curve for each side of each path with CPU times: a path has one colour, and its far side is dashed.
pub(crate) fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    let mut out = Vec::new();
    let paths = runs.iter().enumerate().flat_map(|(r, run)| (0..run.paths.len()).map(move |index| (r, run, index)));
    for (hue, (r, run, index)) in paths.enumerate() {
        let path = &run.paths[index];
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        let time = path.points.first().map_or(TimeKind::HalfRoundTrip, |p| p.time);
        for end in End::BOTH {
            let point = |p: model::CurvePoint| Pt {
                size: p.size,
                seconds: p.seconds,
                interval: p.interval.map(|i| (i.low, i.high)),
                min: p.seconds,
                throughput: p.throughput,
                warned: false,
            };
            let points: Vec<Pt> = run.cpu_curve(index, end).into_iter().map(point).filter_map(curve::clean).collect();
            if points.is_empty() {
                continue;
            }
            let name = format!("{letter}{} {}", path.opened.name(), end.name());
            let (run, path, hue, dash) = (r, path.opened.path, hue % HUES, end as usize);
            out.push(Series { name, run, path, time, hue, dash, points, dropped: 0, overlay: Overlay::default() });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Figure, Graph, sample};

    #[test]
    fn each_side_that_tells_its_cost_has_a_curve() {
        let run = sample::costly(sample::run(1));
        let series = series(&[&Analysis::of(&run)]);
        let names: Vec<&str> = series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["memcpy near", "shm near", "shm far", "unix near", "unix far", "tcp near", "tcp far"]);
        assert!(series[1].points.len() > 100 && series[1].points.iter().all(|p| p.interval.is_some()));
        let figure = Figure::of(&[&Analysis::of(&run)], Graph::Cpu);
        assert_eq!(figure.axes.unwrap().1.title, "CPU time of a transfer");
        assert!(super::series(&[&Analysis::of(&sample::run(1))]).is_empty());
    }
}
