//! The curves of the graphs of TCP's own state over the time of a run: the kernel's figures at the end of each trial (`TCP_INFO`).

use measure::Tcp;
use record::{Analysis, PathRun, RunFile};

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::soak::PER_SECOND;
use crate::words;

/// Most points of a curve: a run has thousands of trials, and a picture so many columns.
const MOST: usize = 400;

/// Which figure of a connection's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Congestion window, segments.
    Window,
    /// Smoothed round-trip time, seconds.
    RoundTrip,
}

impl State {
    fn of(self, tcp: &Tcp) -> f64 {
        match self {
            State::Window => tcp.window as f64,
            State::RoundTrip => tcp.rtt_us as f64 * 1e-6,
        }
    }
}

/// Whether a run has the state of a TCP connection.
pub(crate) fn told(run: &RunFile) -> bool {
    run.paths.iter().any(|path| trials(path).next().is_some())
}

/// The moments (seconds) of a path's trials that recorded the state of its connection.
pub(crate) fn trials(path: &PathRun) -> impl Iterator<Item = (f64, Tcp)> {
    path.points.iter().flat_map(|p| &p.trials).filter(|t| !t.warmup).filter_map(|t| Some((t.at, t.report.tcp?)))
}

/// A curve for each path with such states, a point a stretch of the run's time: the median of its trials, and from the lowest to the
/// highest. A stretch in which segments were sent again counts as warned.
pub(crate) fn series(runs: &[&Analysis<'_>], state: State) -> Vec<Series> {
    let mut out = Vec::new();
    let paths = runs.iter().enumerate().flat_map(|(r, run)| run.paths.iter().map(move |path| (r, path)));
    for (hue, (r, path)) in paths.enumerate() {
        let mut all: Vec<(f64, Tcp)> = trials(path).collect();
        all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let Some(time) = path.points.first().map(|p| p.time).filter(|_| !all.is_empty()) else { continue };
        let stretch = all.len().div_ceil(MOST).max(1);
        let points: Vec<Pt> = all.chunks(stretch).filter_map(|trials| point(trials, state)).collect();
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        let (name, number) = (format!("{letter}{}", path.opened.name()), path.opened.path);
        let (dropped, overlay) = (all.chunks(stretch).count() - points.len(), Overlay::default());
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

fn point(trials: &[(f64, Tcp)], state: State) -> Option<Pt> {
    let values: Vec<f64> = trials.iter().map(|(_, tcp)| state.of(tcp)).collect();
    let (low, high) = values.iter().fold((f64::MAX, 0.0), |(low, high): (f64, f64), v| (low.min(*v), high.max(*v)));
    let median = stats::median(&values);
    curve::clean(Pt {
        size: (trials.first()?.0 * PER_SECOND).max(1.0) as u64,
        seconds: median,
        interval: Some((low, high)),
        min: median,
        // This graph does not show throughput, but a point without one would be dropped.
        throughput: 1.0,
        warned: trials.iter().any(|(_, tcp)| tcp.retransmits > 0),
    })
}

#[cfg(test)]
mod tests {
    use measure::event::Trial;

    use super::*;
    use crate::{Figure, Graph, sample};

    fn run() -> RunFile {
        let mut run = sample::run_of(&sample::MODELS[3..4], &[64, 4096], 12, 7);
        let mut at = 0;
        for trial in run.paths[0].points.iter_mut().flat_map(|p| p.trials.plain()).filter(|t| !t.warmup) {
            (at, trial.at) = (at + 1, f64::from(at));
            let retransmits = u64::from(at == 3);
            trial.report.tcp =
                Some(Tcp { retransmits, rtt_us: 40 + at as u64, window: 10 * at as u64, delivery_rate: 1 });
        }
        run
    }

    #[test]
    fn window_and_round_trip_lie_over_the_time() {
        let run = run();
        let analysis = Analysis::of(&run);
        let window = Figure::of(&[&analysis], Graph::TcpWindow);
        let (x, y) = window.axes.as_ref().unwrap();
        assert_eq!((x.title.as_str(), y.title.as_str()), ("Time since the start", "Congestion window"));
        let dots = &window.lines[0].dots;
        assert!((dots[4].mid.0 - 4.0).abs() < 1e-5 && dots[4].mid.1 == 50.0, "{:?}", dots[4]);
        assert_eq!(dots.iter().filter(|d| d.warned).count(), 1, "where segments were sent again");
        let time = Figure::of(&[&analysis], Graph::TcpRtt);
        assert_eq!(time.axes.unwrap().1.title, "Smoothed round-trip time");
        assert!((time.lines[0].dots[4].mid.1 - 45e-6).abs() < 1e-12);
    }

    #[test]
    fn many_trials_are_drawn_as_stretches_and_none_is_left_out() {
        let mut run = run();
        let trials = run.paths[0].points[0].trials.plain();
        let one = trials.iter().find(|t| !t.warmup).unwrap().clone();
        *trials = (0..10_000).map(|i| Trial { at: f64::from(i), ..one.clone() }).collect();
        trials[5_000].report.tcp.as_mut().unwrap().window = 7777;
        let series = series(&[&Analysis::of(&run)], State::Window);
        assert!(series[0].points.len() <= MOST && series[0].points.len() > MOST / 2);
        assert!(
            series[0].points.iter().any(|p| p.interval.unwrap().1 == 7777.0),
            "the highest of a stretch is in its band"
        );
    }

    #[test]
    fn a_run_without_tcp_has_no_such_graph() {
        let run = sample::run(1);
        for graph in [Graph::TcpWindow, Graph::TcpRtt] {
            assert!(Graph::of_runs(&[&run], Some(graph)).is_err_and(|why| why.contains("TCP")));
        }
    }
}
