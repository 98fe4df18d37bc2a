//! How precise each point of a run is, over size: the graph of intervals during a run.

use record::Analysis;

use crate::curve::{self, Pt, Series};
use crate::figure::Figure;
use crate::graph::Graph;

/// Reaches beyond this are drawn here: an interval from few rounds may be a thousand times as wide as its median.
const WIDEST: f64 = 1.0;

/// Points on either side that a point of a line is smoothed with.
const NEIGHBOURS: usize = 4;

/// Number of the line that shows what was asked for: no path has it.
pub const ASKED: u32 = u32::MAX;

/// How far the points' 95% intervals reach from their medians, as a share of these (a running median over neighbouring sizes), and the line
/// of the precision that was asked for. Points that have no interval yet are left out.
pub fn figure(run: &Analysis<'_>) -> Figure {
    Figure { statement: None, ..Figure::from_series(&series(run), Graph::Precision, Vec::new()) }
}

/// The lines of [`figure`]: a path's number each, [`ASKED`] last.
pub fn series(run: &Analysis<'_>) -> Vec<Series> {
    let asked = run.run.plan.precision;
    let mut all = curve::series(&[run]);
    for (series, path) in all.iter_mut().zip(&run.paths) {
        let widths = path.points.iter().map(|p| (p.size, p.figures.reach()));
        let sure: Vec<(u64, f64)> = widths.filter(|(_, w)| w.is_finite() && *w >= 0.0).collect();
        // The axis is logarithmic: what is far below the precision is drawn at its foot.
        let width = |i: usize| typical(&sure, i).clamp(asked / 10.0, WIDEST);
        series.points = (0..sure.len()).filter_map(|i| point(sure[i].0, width(i))).collect();
        series.dropped = 0;
    }
    let sizes = || all.iter().flat_map(|s| s.points.iter().map(|p| p.size));
    if let (Some(first), Some(last)) = (sizes().min(), sizes().max()) {
        let points = [first, last].into_iter().filter_map(|size| point(size, asked)).collect();
        let template = all.first().cloned();
        all.extend(template.map(|t| Series { name: "asked".to_owned(), path: ASKED, points, ..t }));
    }
    all
}

/// The median reach of a point and its neighbours: few rounds estimate the spread of one point poorly, and a line through single points
/// would hide how far the curve as a whole is.
fn typical(sure: &[(u64, f64)], i: usize) -> f64 {
    let reach = NEIGHBOURS.min(i).min(sure.len() - 1 - i);
    let mut near: Vec<f64> = sure[i - reach..=i + reach].iter().map(|(_, w)| *w).collect();
    near.sort_by(f64::total_cmp);
    near[reach]
}

fn point(size: u64, width: f64) -> Option<Pt> {
    curve::clean(Pt { size, seconds: width, interval: None, min: width, throughput: 1.0, warned: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reaches_lie_over_their_sizes_and_what_was_asked_is_a_line() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[2..], &[1, 64, 4096], 5, 7);
        run.run.plan.precision = 0.01;
        let open = &mut run.paths[0].points[0].figures;
        open.high = f64::INFINITY;
        let wide = &mut run.paths[0].points[1].figures;
        (wide.low, wide.high) = (0.0, wide.median * 100.0);
        let series = series(&Analysis::of(&run));
        let widths: Vec<(u64, f64)> = series[0].points.iter().map(|p| (p.size, p.seconds)).collect();
        assert_eq!((widths.len(), widths[0]), (2, (64, WIDEST)), "an open interval has no width");
        assert!((widths[1].1 - run.paths[0].points[2].figures.reach()).abs() < 1e-12);
        let asked = series.last().expect("a line");
        assert_eq!((asked.path, asked.points[0].size, asked.points[1].size), (ASKED, 1, 4096));
        assert!(asked.points.iter().all(|p| p.seconds == 0.01));
        assert!(figure(&Analysis::of(&run)).axes.is_some());
    }

    #[test]
    fn nothing_is_drawn_of_a_run_without_intervals() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[2..], &[1], 1, 7);
        run.paths.iter_mut().for_each(|p| p.points.clear());
        assert!(figure(&Analysis::of(&run)).axes.is_none());
    }
}
