//! A graph without pixels: axes, lines, bands, words. Which graphs there are is in `graph.rs`.

use measure::event::TimeKind;
use record::Analysis;

use crate::curve::{Pt, Series};
use crate::graph::Graph;
use crate::overlay::Mark;
use crate::scale::{Quantity, Scale, Spread};
use crate::words;

/// An axis of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The quantity on it.
    pub quantity: Quantity,
    /// From where to where, and how.
    pub scale: Scale,
    /// Title without unit.
    pub title: String,
}

/// A dot of a line: its place, the two ends of its interval, and its minimum, all as values of the axes (x, y).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    /// Median.
    pub mid: (f64, f64),
    /// At the lower and at the upper end of the time's interval, where it has one.
    pub interval: Option<((f64, f64), (f64, f64))>,
    /// Its interval is narrow enough to be shown, so that the axes include it.
    pub resolved: bool,
    /// At the shortest trial.
    pub min: (f64, f64),
    /// A warning names this point.
    pub warned: bool,
}

/// One curve in a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Direct label.
    pub name: String,
    /// Colour, as an index into a palette of [`curve::HUES`].
    pub hue: usize,
    /// Dash pattern: 0 solid, 1 dashed, 2 dotted.
    pub dash: usize,
    /// Dots by ascending message size.
    pub dots: Vec<Dot>,
    /// Stretches of it to be marked.
    pub marks: Vec<Marked>,
    /// Fitted curves.
    pub fitted: Vec<Vec<(f64, f64)>>,
    /// The saturation point and its label.
    pub knee: Option<((f64, f64), String)>,
}

/// A stretch of a line that is marked.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// A dip, drawn as a stretch; else a step, drawn as a ring.
    pub dip: bool,
    /// Its places.
    pub places: Vec<(f64, f64)>,
    /// Its label.
    pub label: String,
}

/// A picture without pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Which graph it is.
    pub graph: Graph,
    /// Title.
    pub title: String,
    /// Where and how each run was measured, a line each.
    pub subtitles: Vec<String>,
    /// The x and y axes; none where there is nothing to draw.
    pub axes: Option<(Axis, Axis)>,
    /// Lines that have at least one dot.
    pub lines: Vec<Line>,
    /// What a reader must know beside the lines: points left out, paths without points.
    pub notes: Vec<String>,
    /// Text for a curve that shows nothing by itself: no points, one point, all equal.
    pub statement: Option<String>,
}

impl Figure {
    /// The figure of one graph over all paths of all runs.
    pub fn of(runs: &[&Analysis<'_>], graph: Graph) -> Figure {
        Self::with(runs, graph, false)
    }

    /// The same, with fitted models if `fits`.
    pub fn with(runs: &[&Analysis<'_>], graph: Graph, fits: bool) -> Figure {
        let files: Vec<_> = runs.iter().map(|run| run.run()).collect();
        let subtitles = words::run_lines(&files);
        let series = graph.curves(runs, fits);
        let mut figure = Figure::from_series(&series, graph, subtitles);
        if let (Graph::Flows, Some((x, _))) = (graph, &mut figure.axes) {
            x.title = crate::flows::several(runs);
        }
        figure
    }

    /// The same with a logarithmic axis of throughput instead of a linear one: small messages then take as much room as large ones.
    pub fn logarithmic(mut self) -> Figure {
        if let Some((_, y)) = &mut self.axes
            && y.quantity.is_rate()
            && let Some(scale) = covering(Spread::Log, y.quantity, |p| p.1, self.graph, &self.lines)
        {
            y.scale = scale;
        }
        self
    }

    /// The figure of one graph over curves, as [`Figure::of`] makes it from runs.
    pub fn from_series(series: &[Series], graph: Graph, subtitles: Vec<String>) -> Figure {
        let lines: Vec<Line> = series
            .iter()
            .filter(|s| !s.points.is_empty())
            .map(|s| Line {
                name: s.name.clone(),
                hue: s.hue,
                dash: s.dash,
                dots: s.points.iter().map(|p| dot(graph, p)).collect(),
                marks: s.overlay.marks.iter().map(|m| marked(graph, s, m)).collect(),
                fitted: (s.overlay.fitted.iter())
                    .map(|f| f.iter().map(|p| graph.place(p, p.seconds)).collect())
                    .collect(),
                knee: (s.overlay.knee.as_ref().filter(|_| graph.has_knee())).map(|p| {
                    (
                        graph.place(p, p.seconds),
                        format!("saturation: {}", units::short(p.size as f64, units::Kind::Bytes)),
                    )
                }),
            })
            .collect();
        Figure {
            graph,
            title: graph.title().to_owned(),
            subtitles,
            axes: axes(series, graph, &lines),
            notes: notes(series, graph),
            statement: statement(series, graph),
            lines,
        }
    }
}

fn marked(graph: Graph, s: &Series, mark: &Mark) -> Marked {
    let within = s.points.iter().filter(|p| (mark.from..=mark.to).contains(&p.size));
    Marked {
        dip: mark.kind == "dip",
        places: within.map(|p| graph.place(p, p.seconds)).collect(),
        label: mark.label.clone(),
    }
}

fn dot(graph: Graph, p: &Pt) -> Dot {
    Dot {
        mid: graph.place(p, p.seconds),
        interval: p.interval.map(|(low, high)| (graph.place(p, low), graph.place(p, high))),
        resolved: p.interval.is_some_and(|(low, high)| high <= units::RESOLVED * low),
        min: graph.place(p, p.min),
        warned: p.warned,
    }
}

/// Factor by which intervals may extend an axis beyond the medians. `BEYOND` in `web/src/chart.ts` is the same.
const BEYOND: f64 = 2.0;

/// An axis that holds the medians, and of their intervals those that are resolved; none where there is nothing to draw. What goes beyond it
/// is cut off: an unresolved interval, or a trial far from its median, would make all else flat.
fn covering(
    spread: Spread,
    quantity: Quantity,
    pick: fn(&(f64, f64)) -> f64,
    graph: Graph,
    lines: &[Line],
) -> Option<Scale> {
    let dots = || lines.iter().flat_map(|l| &l.dots);
    let (low, high) =
        dots().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), d| (low.min(pick(&d.mid)), high.max(pick(&d.mid))));
    // Percentiles of a soak, and the moments within a round, are not intervals but the data: the axis holds all of them.
    let all = graph.of_soak() || graph.of_states();
    let beyond = if all { f64::INFINITY } else { BEYOND };
    let values = dots().flat_map(|d| {
        let (from, to) = d.interval.filter(|_| all || d.resolved).unwrap_or((d.mid, d.mid));
        [from, to].map(|p| pick(&p).clamp(low / beyond, high * beyond)).into_iter().chain([pick(&d.mid)])
    });
    Scale::covering(spread, quantity, values)
}

fn axes(series: &[Series], graph: Graph, lines: &[Line]) -> Option<(Axis, Axis)> {
    let (qx, qy) = graph.quantities();
    let axis = |quantity: Quantity, pick: fn(&(f64, f64)) -> f64| {
        let scale = covering(graph.spread(series, quantity), quantity, pick, graph, lines)?;
        Some(Axis { quantity, scale, title: axis_title(series, graph, quantity) })
    };
    Some((axis(qx, |p| p.0)?, axis(qy, |p| p.1)?))
}

fn axis_title(series: &[Series], graph: Graph, quantity: Quantity) -> String {
    match (quantity, graph.time_title()) {
        (Quantity::Time | Quantity::Share | Quantity::Rate, Some(title)) => title.to_owned(),
        (Quantity::Time | Quantity::PerSecond, _) => format!("{} ({})", quantity.title(), time_words(series)),
        _ => quantity.title().to_owned(),
    }
}

/// `RTT/2`, or the time kind of each curve where they differ: `RTT/2; memcpy: copy`.
fn time_words(series: &[Series]) -> String {
    let mut kinds: Vec<(TimeKind, Vec<&str>)> = Vec::new();
    for s in series.iter().filter(|s| !s.points.is_empty()) {
        match kinds.iter_mut().find(|(k, _)| *k == s.time) {
            Some((_, names)) => names.push(&s.name),
            None => kinds.push((s.time, vec![&s.name])),
        }
    }
    // The time kind of most curves goes first, without their names.
    kinds.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let words = kinds.iter().enumerate().map(|(i, (kind, names))| {
        let label = words::time_label(*kind);
        if i == 0 { label.to_owned() } else { format!("{}: {label}", names.join(", ")) }
    });
    words.collect::<Vec<_>>().join("; ")
}

fn notes(series: &[Series], graph: Graph) -> Vec<String> {
    let mut notes = Vec::new();
    for s in series {
        if s.dropped > 0 {
            let points = if s.dropped == 1 { "1 point is" } else { &format!("{} points are", s.dropped) };
            notes.push(format!("{}: {points} left out because a figure is not a positive number.", s.name));
        } else if s.points.is_empty() {
            notes.push(format!("{}: no points.", s.name));
        }
        let bare = s.points.iter().filter(|p| p.interval.is_none()).count();
        // There a band is of percentiles, and figures without them say so. A share of 0 has none.
        if bare > 0 && !graph.of_soak() && graph != Graph::Loss {
            let of = match s.points.len() {
                all if all == bare => "no point has".to_owned(),
                all => format!("{bare} of {all} points have no"),
            };
            let an = if of.starts_with("no ") { " an" } else { "" };
            notes.push(format!(
                "{}: {of}{an} interval (too few rounds, or states that outlast the run), and no band.",
                s.name
            ));
        }
    }
    notes
}

fn statement(series: &[Series], graph: Graph) -> Option<String> {
    let mut points = series.iter().flat_map(|s| s.points.iter().map(move |p| (s, p)));
    let Some((s, p)) = points.next() else {
        return Some("Nothing to draw: no point was measured.".to_owned());
    };
    if graph == Graph::Loss {
        let all = || series.iter().flat_map(|s| &s.points);
        let lost = all().any(|p| crate::rates::share(p) > 0.0);
        // A rate that the sender did not reach was not offered.
        let most = all().filter(|p| !p.warned).map(|p| p.size).max();
        let up_to = most.map_or(String::new(), |most| format!(", up to {} offered", units::BitRate(most as f64)));
        return (!lost).then(|| format!("No message was lost{up_to}."));
    }
    let mut rest = points.peekable();
    let at = |s: &Series, p: &Pt| {
        if graph.of_hint() {
            let (n, quips) = (units::format::thousands(p.size), units::short(p.throughput, units::Kind::Quips));
            return format!("{}: {n} subintervals take {}, which is {quips}", s.name, units::Seconds(p.seconds));
        }
        if graph == Graph::Load {
            let flows = p.size.saturating_sub(1);
            return format!("{}: {} under {flows} loading flows", s.name, units::Seconds(p.seconds));
        }
        if graph == Graph::Flows {
            return format!("{}: {} over {} connections", s.name, units::BitRate(p.throughput), p.size);
        }
        if graph.of_states() {
            let (_, y) = graph.quantities();
            return format!("{}: {}", s.name, crate::scale::label(y, p.seconds));
        }
        if graph.of_soak() {
            return format!("{}: {}, {}", s.name, units::Seconds(p.seconds), units::BitRate(p.throughput));
        }
        let (size, time, label) =
            (units::Bytes(p.size), units::Seconds(p.seconds), graph.time_title().unwrap_or(words::time_label(s.time)));
        if let Some((low, high)) =
            p.interval.filter(|(low, high)| *low > 0.0 && high.is_finite() && *high > units::RESOLVED * low)
        {
            let (low, high) = (units::Seconds(low), units::Seconds(high));
            return format!("{}: {size} takes {low} to {high} ({label}), which is not resolved to a figure", s.name);
        }
        let rate = match graph.quantities() {
            (Quantity::Rate, _) | (_, Quantity::Rate) => format!(", which is {}", units::BitRate(p.throughput)),
            _ => String::new(),
        };
        format!("{}: {size} takes {time} ({label}){rate}", s.name)
    };
    if rest.peek().is_none() {
        return Some(format!("One point only. {}.", at(s, p)));
    }
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    rest.all(|(_, q)| near(q.seconds, p.seconds) && near(q.throughput, p.throughput))
        .then(|| format!("All points are equal. {}.", at(s, p)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A curve of a link with a latency and a rate, measured at powers of two.
    pub(crate) fn link(name: &str, latency: f64, rate: f64, to: u32) -> Series {
        let points = (0..=to)
            .map(|e| {
                let size = 1u64 << e;
                let seconds = latency + size as f64 * 8.0 / rate;
                Pt {
                    size,
                    seconds,
                    interval: Some((seconds * 0.96, seconds * 1.05)),
                    min: seconds * 0.93,
                    throughput: size as f64 * 8.0 / seconds,
                    warned: e == 12,
                }
            })
            .collect();
        Series {
            name: name.to_owned(),
            run: 0,
            path: 0,
            time: TimeKind::HalfRoundTrip,
            hue: 0,
            dash: 0,
            points,
            dropped: 0,
            overlay: crate::overlay::Overlay::default(),
        }
    }

    #[test]
    fn every_graph_puts_a_point_where_its_title_says() {
        let p = Pt { size: 1000, seconds: 1e-5, interval: None, min: 1e-5, throughput: 8e8, warned: false };
        let want = [
            (2e-5, 4e8),
            (1e3, 4e8),
            (2e-5, 1e3),
            (1e3, 5e4),
            (1e3, 2e-5),
            (1e3, 2e-5),
            (1e3, 2e-5),
            (2e-5, 4e8),
            (1e3, 2e-5),
            (1e-3, 2e-5),
            (1e-3, 4e8),
            (999.0, 2e-5),
            (1e3, 4e8),
        ];
        for (graph, (x, y)) in Graph::EVERY.into_iter().zip(want) {
            let found = graph.place(&p, 2e-5);
            assert!((found.0 / x - 1.0).abs() < 1e-9 && (found.1 / y - 1.0).abs() < 1e-9, "{graph:?}: {found:?}");
            let axes = Figure::from_series(&[link("tcp", 9e-6, 36e9, 23)], graph, vec![]).axes.expect("axes");
            assert_eq!((axes.0.quantity, axes.1.quantity), graph.quantities(), "{graph:?}");
        }
    }

    #[test]
    fn a_signature_starts_at_the_latency_and_tops_at_the_rate() {
        let f = Figure::from_series(&[link("tcp", 9e-6, 40e9, 23)], Graph::Signature, vec![]);
        let dots = &f.lines[0].dots;
        assert!((dots[0].mid.0 - 9e-6).abs() < 1e-8);
        assert!(dots.last().map(|d| d.mid.1).is_some_and(|t| t > 39e9 && t < 40e9));
        assert!(dots[3].interval.is_some_and(|(low, _)| low.1 > dots[3].mid.1), "less time is more throughput");
    }

    #[test]
    fn throughput_turns_logarithmic_only_where_a_path_would_lie_flat() {
        let near =
            Figure::from_series(&[link("a", 1e-6, 40e9, 23), link("b", 1e-6, 20e9, 23)], Graph::Signature, vec![]);
        assert_eq!(near.axes.expect("axes").1.scale.spread, Spread::Linear);
        let far = Figure::from_series(&[link("a", 1e-6, 40e9, 23), link("b", 1e-6, 1e9, 23)], Graph::Signature, vec![]);
        assert_eq!(far.axes.expect("axes").1.scale.spread, Spread::Log);
    }

    #[test]
    fn throughput_turns_logarithmic_where_that_is_asked_for() {
        let figure =
            || Figure::from_series(&[link("a", 1e-6, 40e9, 23), link("b", 1e-6, 20e9, 23)], Graph::Signature, vec![]);
        let (x, y) = figure().logarithmic().axes.expect("axes");
        assert_eq!((y.scale.spread, x), (Spread::Log, figure().axes.expect("axes").0));
        // 1 B in 1 us is 8 Mbit/s: it has a place.
        assert!(y.scale.low < 8e6 && y.scale.low > 4e6 && y.scale.high > 40e9, "{:?}", y.scale);
        let sizes = Figure::from_series(&[link("a", 1e-6, 40e9, 23)], Graph::Latency, vec![]);
        assert_eq!(sizes.clone().logarithmic(), sizes, "it has no axis of throughput");
    }

    #[test]
    fn a_latency_graph_shows_a_line_as_a_line_unless_a_path_would_lie_flat() {
        let f = Figure::from_series(&[link("tcp", 9e-6, 40e9, 16)], Graph::Latency, vec![]);
        let (x, y) = f.axes.expect("axes");
        assert_eq!(
            (x.scale.spread, y.scale.spread, y.title.as_str()),
            (Spread::Linear, Spread::Linear, "Transfer time (RTT/2)")
        );
        let places: Vec<(f64, f64)> =
            f.lines[0].dots.iter().filter_map(|d| Some((x.scale.place(d.mid.0)?, y.scale.place(d.mid.1)?))).collect();
        let slope = |i: usize| (places[i].1 - places[0].1) / (places[i].0 - places[0].0);
        assert!((slope(8) / slope(16) - 1.0).abs() < 1e-6, "{places:?}");
        let far = Figure::from_series(&[link("a", 1e-6, 40e9, 16), link("b", 1e-3, 1e9, 16)], Graph::Latency, vec![]);
        assert_eq!(far.axes.expect("axes").1.scale.spread, Spread::Log);
    }

    #[test]
    fn times_of_different_kinds_are_named() {
        let copy = Series { time: TimeKind::Copy, ..link("memcpy", 1e-8, 80e9, 23) };
        let f = Figure::from_series(
            &[copy, link("tcp", 9e-6, 40e9, 23), link("unix", 6e-6, 30e9, 23)],
            Graph::Saturation,
            vec![],
        );
        assert_eq!(f.axes.expect("axes").0.title, "Transfer time (RTT/2; memcpy: copy)");
    }

    #[test]
    fn nothing_one_and_equal_points_are_said_in_words() {
        let none = Series { points: vec![], dropped: 2, ..link("tcp", 1e-6, 1e9, 0) };
        let f = Figure::from_series(&[none], Graph::Throughput, vec![]);
        assert!(f.axes.is_none());
        assert!(f.statement.is_some_and(|s| s.starts_with("Nothing to draw")));
        assert_eq!(f.notes, ["tcp: 2 points are left out because a figure is not a positive number."]);

        let one = Figure::from_series(&[link("tcp", 1e-6, 1e9, 0)], Graph::Throughput, vec![]);
        assert!(one.axes.is_some());
        assert!(one.statement.is_some_and(|s| s.starts_with("One point only. tcp: 1 B takes")));
        let mut wide = link("tcp", 1e-6, 1e9, 0);
        wide.points[0].interval = Some((1e-7, 1e-4));
        let wide = Figure::from_series(&[wide], Graph::Throughput, vec![]).statement.unwrap();
        assert!(wide.contains("100 ns to 100 us (RTT/2), which is not resolved"), "{wide}");

        let mut equal = link("tcp", 1e-6, 1e9, 3);
        let first = equal.points[0];
        for p in &mut equal.points {
            *p = Pt { size: p.size, ..first };
        }
        let f = Figure::from_series(&[equal], Graph::Signature, vec![]);
        assert!(f.statement.is_some_and(|s| s.starts_with("All points are equal.")));
    }
}
