//! The points of each path for pictures: the only module that takes them from a run file.

use std::collections::HashSet;

use measure::event::TimeKind;
use record::{Analysis, RunFile};

use crate::overlay::{self, Overlay};
pub use crate::pt::{Pt, clean};
use crate::words;

/// Colours that a palette has.
pub const HUES: usize = 10;

/// The curve of one path of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its direct label: the transport, with the run's letter where several runs are drawn.
    pub name: String,
    /// Which run, in the order given.
    pub run: usize,
    /// Which path of the run.
    pub path: u32,
    /// Time kind of the points.
    pub time: TimeKind,
    /// Colour, as an index into a palette of [`HUES`].
    pub hue: usize,
    /// Dash pattern: 0 solid, 1 dashed, 2 dotted.
    pub dash: usize,
    /// Points by ascending size.
    pub points: Vec<Pt>,
    /// Points left out because a figure of theirs was not a positive number.
    pub dropped: usize,
    /// What is drawn over it.
    pub overlay: Overlay,
}

impl Series {
    /// Highest throughput of the curve, bits a second.
    pub fn max_throughput(&self) -> Option<f64> {
        self.points.iter().map(|p| p.throughput).max_by(f64::total_cmp)
    }
}

/// The curves of all paths of all runs: run by run, path by path.
pub fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    series_with(runs, false)
}

/// The same, with fitted models over them if `fits`.
pub fn series_with(runs: &[&Analysis<'_>], fits: bool) -> Vec<Series> {
    let mut out = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        for (index, path) in run.paths.iter().enumerate() {
            let number = path.opened.path;
            let transport = path.opened.name();
            let name = if runs.len() > 1 { format!("{} {transport}", words::letter(r)) } else { transport.to_owned() };
            let warned = warned_sizes(run, number, false);
            let mut points: Vec<Pt> = Vec::with_capacity(path.points.len());
            for point in &path.points {
                let f = &point.figures;
                points.extend(clean(Pt {
                    size: point.size,
                    seconds: f.median,
                    interval: Some((f.low, f.high)),
                    min: f.min,
                    throughput: f.quips.unwrap_or_else(|| run.rate_in_curve(point)),
                    warned: warned.contains(&point.size),
                }));
            }
            let time = path.points.first().map_or(TimeKind::HalfRoundTrip, |p| p.time);
            let dropped = path.points.len() - points.len();
            points.sort_by_key(|p| p.size);
            let overlay = overlay::overlay(run, index, &points, fits);
            out.push(Series { name, run: r, path: number, time, hue: 0, dash: 0, points, dropped, overlay });
        }
    }
    let transports: Vec<&str> = runs.iter().flat_map(|r| r.paths.iter().map(|p| p.opened.name())).collect();
    style(&mut out, &transports);
    out
}

/// Gives each curve a colour and a dash. Where runs share several transports, a transport keeps its colour and a run its dash, so that what
/// is compared stands out; otherwise colours are given in order, and dashes once they are used up.
fn style(series: &mut [Series], transports: &[&str]) {
    let mut distinct: Vec<&str> = Vec::new();
    for name in transports {
        if !distinct.contains(name) {
            distinct.push(name);
        }
    }
    let runs = series.last().map_or(0, |s| s.run + 1);
    let paired = distinct.len() > 1 && distinct.len() < transports.len() && distinct.len() <= HUES && runs <= 3;
    for (i, (s, name)) in series.iter_mut().zip(transports).enumerate() {
        let place = distinct.iter().position(|d| d == name).unwrap_or(i);
        (s.hue, s.dash) = if paired { (place, s.run) } else { (i % HUES, (i / HUES).min(2)) };
    }
}

/// Sizes that a warning about this path names. That a point is less precise than asked (`unsure`) shows in its interval: marking each such
/// point would hide the other marks.
pub(crate) fn warned_sizes(run: &RunFile, path: u32, unsure: bool) -> HashSet<u64> {
    let of_path = run.warnings.iter().filter(|w| w.path == Some(path) && (unsure || w.code != "not-converged"));
    of_path.flat_map(|w| w.sizes.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pt() -> Pt {
        Pt { size: 8, seconds: 2.0, interval: Some((1.0, 3.0)), min: 1.5, throughput: 32.0, warned: false }
    }

    #[test]
    fn a_point_that_is_not_a_number_is_left_out() {
        assert_eq!(clean(Pt { seconds: f64::NAN, ..pt() }), None);
        assert_eq!(clean(Pt { throughput: f64::INFINITY, ..pt() }), None);
        assert_eq!(clean(Pt { seconds: 0.0, ..pt() }), None);
        assert_eq!(clean(pt()), Some(pt()));
    }

    #[test]
    fn an_open_interval_is_none() {
        for (low, high) in [(f64::NAN, 3.0), (0.0, 0.0), (1.0, f64::INFINITY), (3.0, 1.0)] {
            let p = clean(Pt { interval: Some((low, high)), min: -1.0, ..pt() }).expect("usable");
            assert_eq!((p.interval, p.min), (None, 2.0));
        }
    }

    #[test]
    fn runs_that_share_transports_share_colours() {
        let (a, b) = (crate::sample::run(1), crate::sample::run(2));
        let looks: Vec<_> = series(&[&Analysis::of(&a), &Analysis::of(&b)]).iter().map(|s| (s.hue, s.dash)).collect();
        assert_eq!(looks, [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1), (2, 1), (3, 1)]);
        let one = |seed| crate::sample::run_of(&crate::sample::MODELS[3..], &[1, 2], 1, seed);
        let looks: Vec<_> =
            series(&[&Analysis::of(&one(1)), &Analysis::of(&one(2))]).iter().map(|s| (s.hue, s.dash)).collect();
        assert_eq!(looks, [(0, 0), (1, 0)], "one transport in two runs: the runs have the colours");
    }

    #[test]
    fn throughput_scales_with_time() {
        assert_eq!(pt().throughput_at(1.0), 64.0);
    }
}
