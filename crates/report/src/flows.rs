//! The curves of the graph over the number of connections: what flows, pairs or members carry together.

use std::collections::BTreeSet;

use record::{Analysis, Point};

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::words;

/// Most sizes that are drawn: more curves than that can't be distinguished.
const SIZES: usize = 5;

/// A curve for each size of each group of paths that differ only in their number of connections. The number takes the place of the size.
pub(crate) fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    let mut out = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        let groups = run.over_flows();
        for group in &groups {
            let opened = &run.paths[group[0]].opened;
            let of = if groups.len() > 1 {
                format!("{} ", words::plain(&words::without_flows(opened)))
            } else {
                String::new()
            };
            let points = group.iter().flat_map(|index| &run.paths[*index].points);
            let sizes: Vec<u64> = points.map(|p| p.size).collect::<BTreeSet<u64>>().into_iter().collect();
            for size in some(&sizes) {
                let at = |index: &usize| {
                    let path = &run.paths[*index];
                    let measured = path.points.iter().find(|p| p.size == size)?;
                    let warned = curve::warned_sizes(run, path.opened.path, false).contains(&size);
                    Some((measured.time, point(run.run.plan.flows(path.opened.path), measured, warned)?))
                };
                let measured: Vec<_> = group.iter().filter_map(at).collect();
                let Some((time, _)) = measured.first().copied() else { continue };
                let points = measured.into_iter().map(|(_, point)| point).collect();
                let name = format!("{letter}{of}{}", units::Bytes(size));
                let (hue, dash) = (out.len() % HUES, out.len() / HUES % 3);
                let (path, overlay) = (opened.path, Overlay::default());
                out.push(Series { name, run: r, path, time, hue, dash, points, dropped: 0, overlay });
            }
        }
    }
    out
}

/// Axis title for the runs' paths: `Flows`, `Pairs`, `Members`, or several of these.
pub(crate) fn several(runs: &[&Analysis<'_>]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for run in runs {
        for index in run.over_flows().into_iter().flatten() {
            let kind = run.run.plan.topology(run.paths[index].opened.path).several();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    let words = match kinds.as_slice() {
        [] => return crate::scale::Quantity::Connections.title().to_owned(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    };
    words[..1].to_uppercase() + &words[1..]
}

/// Sizes evenly chosen from these, the smallest and the largest included.
fn some(sizes: &[u64]) -> Vec<u64> {
    if sizes.len() <= SIZES {
        return sizes.to_vec();
    }
    (0..SIZES).map(|i| sizes[i * (sizes.len() - 1) / (SIZES - 1)]).collect()
}

/// None where a point has no figure.
fn point(flows: u32, measured: &Point, warned: bool) -> Option<Pt> {
    let f = &measured.figures;
    curve::clean(Pt {
        size: u64::from(flows),
        seconds: f.median,
        interval: Some((f.low, f.high)),
        min: f.min,
        throughput: f.throughput,
        warned,
    })
}

#[cfg(test)]
mod tests {
    use record::Analysis;

    use crate::{Figure, Graph, sample};

    #[test]
    fn the_total_lies_over_the_number_of_connections_a_curve_for_each_size() {
        let run = sample::flows(&[4, 1, 2], &[64, 4096]);
        let figure = Figure::of(&[&Analysis::of(&run)], Graph::Flows);
        let names: Vec<&str> = figure.lines.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["64 B", "4 KiB"]);
        for (line, size) in figure.lines.iter().zip([64, 4096]) {
            let places: Vec<(f64, f64)> = line.dots.iter().map(|d| d.mid).collect();
            assert_eq!(places.iter().map(|p| p.0).collect::<Vec<_>>(), [1.0, 2.0, 4.0]);
            let of = |path: usize| run.paths[path].points.iter().find(|p| p.size == size).unwrap().figures.throughput;
            for ((_, y), path) in places.iter().zip([1, 2, 0]) {
                assert!((y / of(path) - 1.0).abs() < 1e-9, "{y} for {}", of(path));
            }
            let (low, high) = line.dots[0].interval.unwrap();
            assert!(low.1 > line.dots[0].mid.1 && high.1 < line.dots[0].mid.1, "less time is more throughput");
        }
        let (x, y) = figure.axes.unwrap();
        assert_eq!((x.title.as_str(), y.title.as_str()), ("Flows", "Total throughput"));
        assert_eq!(x.scale.low, 1.0, "there is no path of no flow");
        assert!(x.scale.ticks(x.quantity, 9).ticks.iter().all(|t| t.value.fract() == 0.0), "no half of a flow");
        assert_eq!(x.scale.ticks(x.quantity, 9).ticks.first().map(|t| t.value), Some(1.0));
        let mut run = run;
        run.run.plan.paths.iter_mut().for_each(|path| path.topology = measure::Topology::Pairs);
        assert_eq!(Figure::of(&[&Analysis::of(&run)], Graph::Flows).axes.unwrap().0.title, "Pairs");
    }

    #[test]
    fn it_is_the_first_graph_of_few_sizes_and_refused_where_paths_have_one_number() {
        assert_eq!(Graph::of_runs(&[&sample::flows(&[1, 4], &[64])], None), Ok(Graph::Flows));
        let curve = sample::flows(&[1, 4], &sample::sizes());
        assert_eq!(Graph::of_runs(&[&curve], None), Ok(Graph::Signature));
        assert_eq!(super::series(&[&Analysis::of(&curve)]).len(), super::SIZES);
        let why = Graph::of_runs(&[&sample::run(1)], Some(Graph::Flows)).unwrap_err();
        assert!(why.contains("--flows 1,2,4"), "{why}");
    }
}
