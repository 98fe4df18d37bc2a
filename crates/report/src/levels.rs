//! The curves of the graph of the machine's state over the time of a run: the level of each round.

use std::borrow::Cow;
use std::collections::BTreeMap;

use measure::event::Trial;
use record::{Analysis, PathRun, RunFile};

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::soak::PER_SECOND;
use crate::words;

/// Fewest rounds that show how a level moved.
const FEWEST: usize = 2;

/// Whether a run has the levels of its rounds.
pub(crate) fn told(run: &RunFile) -> bool {
    run.paths.iter().any(|path| path.common.levels().count() >= FEWEST)
}

/// A curve for each path, a point a round: its level, and from the fastest to the slowest moment that its trials met.
pub(crate) fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    let mut out = Vec::new();
    let paths = runs.iter().enumerate().flat_map(|(r, run)| run.paths.iter().map(move |path| (r, path)));
    for (hue, (r, path)) in paths.enumerate() {
        let Some(time) = path.points.first().map(|p| p.time) else { continue };
        let rounds = rounds(path);
        let all = path.common.levels().count();
        let points: Vec<Pt> =
            path.common.levels().filter_map(|(round, level)| point(path, level, rounds.get(&round)?)).collect();
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        let (name, number) = (format!("{letter}{}", path.opened.name()), path.opened.path);
        let (dropped, overlay) = (all - points.len(), Overlay::default());
        out.push(Series {
            name,
            run: r,
            path: number,
            time,
            hue: hue % HUES,
            dash: hue / HUES % 3,
            points,
            dropped,
            overlay,
        });
    }
    out
}

/// The trials of each round that count.
fn rounds(path: &PathRun) -> BTreeMap<u32, Vec<Cow<'_, Trial>>> {
    let mut of_round = BTreeMap::<u32, Vec<Cow<'_, Trial>>>::new();
    for trial in path.points.iter().flat_map(|p| &p.trials).filter(|t| !t.warmup) {
        of_round.entry(trial.round).or_default().push(trial);
    }
    of_round
}

fn point(path: &PathRun, level: f64, trials: &[Cow<'_, Trial>]) -> Option<Pt> {
    let at = trials.iter().map(|t| t.at).fold(f64::INFINITY, f64::min);
    let moments = || trials.iter().map(|t| (level + path.common.within(t)).exp());
    let (low, high) = (moments().fold(level.exp(), f64::min), moments().fold(level.exp(), f64::max));
    curve::clean(Pt {
        size: (at * PER_SECOND).max(1.0) as u64,
        seconds: level.exp(),
        interval: Some((low, high)),
        min: level.exp(),
        // This graph does not show throughput, but a point without one would be dropped.
        throughput: 1.0,
        warned: false,
    })
}

#[cfg(test)]
mod tests {
    use measure::event::Calibration;
    use measure::figures::Common;

    use super::*;
    use crate::{Figure, Graph, sample};

    /// A run of so many rounds, the looks beside, each a second after the one before and a tenth slower.
    fn drifting(rounds: u32) -> RunFile {
        let mut run = sample::run_of(&sample::MODELS[3..4], &[64, 512, 4096, 32_768], rounds + 1, 7);
        let path = &mut run.paths[0];
        for trial in path.points.iter_mut().flat_map(|p| p.trials.plain()) {
            trial.at = f64::from(trial.round);
            trial.report.median *= 1.1f64.powi(trial.round as i32);
        }
        let points = path.points.iter().map(|p| p.trials.all());
        path.common = Common::of(&run.run.plan, path.opened.transport, Calibration::default(), points);
        run
    }

    #[test]
    fn the_level_of_each_round_lies_over_the_time() {
        let run = drifting(12);
        let figure = Figure::of(&[&Analysis::of(&run)], Graph::Levels);
        let (x, y) = figure.axes.as_ref().unwrap();
        assert_eq!(
            (x.title.as_str(), y.title.as_str()),
            ("Time since the start", "Time of the round, of the middle one")
        );
        let dots = &figure.lines[0].dots;
        let (first, last) = (dots[0].mid, dots[11].mid);
        assert!(dots.len() == 12 && (last.0 - first.0 - 11.0).abs() < 1e-5, "{first:?} {last:?}");
        assert!((2.4..3.4).contains(&(last.1 / first.1)) && first.1 < 1.0 && last.1 > 1.0, "{first:?} {last:?}");
        assert!(dots.iter().all(|d| d.interval.is_some_and(|(low, high)| low.1 <= d.mid.1 && d.mid.1 <= high.1)));
        assert!(figure.notes.is_empty() && figure.statement.is_none(), "{:?} {:?}", figure.notes, figure.statement);
    }

    #[test]
    fn a_run_of_one_round_or_of_none_has_no_such_graph() {
        for rounds in [0, 1] {
            let why = Graph::of_runs(&[&drifting(rounds)], Some(Graph::Levels)).unwrap_err();
            assert!(why.contains("--budget"), "{why}");
        }
        assert_eq!(Graph::of_runs(&[&drifting(2)], Some(Graph::Levels)), Ok(Graph::Levels));
    }

    #[test]
    fn the_page_shows_the_level_of_each_round() {
        let said = |rounds: u32| {
            let page = crate::html::page(&[&Analysis::of(&drifting(rounds))]);
            (page.contains(r#"id="levels""#), page.contains(Graph::Levels.title()))
        };
        assert_eq!((said(12), said(1)), ((true, true), (false, false)));
    }
}
