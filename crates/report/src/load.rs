//! The curves of the load graph: percentiles of a path over the number of flows that load it.

use record::Analysis;
use record::load::Loaded;

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::words;

/// Names of the percentiles of [`record::load::SHARES`].
const NAMES: [&str; 3] = ["p50", "p99", "p99.9"];

/// Three curves for each idle path with its loaded ones, of the smallest size: the median, the 99th and the 99.9th percentile. The number
/// of loading flows plus one takes the place of the size, since an idle path has none.
pub(crate) fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    let mut out = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        let all = run.under_load();
        let mut drawn: Vec<(usize, Option<&str>)> = Vec::new();
        let key = |group: &record::load::UnderLoad| {
            (group.idle, group.rows.last().and_then(|row| row.load).map(|l| l.direction.name()))
        };
        let several = all.iter().any(|group| key(group) != key(&all[0]));
        for group in &all {
            if drawn.contains(&key(group)) {
                continue;
            }
            drawn.push(key(group));
            let opened = &run.paths[group.idle].opened;
            let way = group.rows.last().and_then(|row| row.load).map_or("", |load| load.way());
            let name = if several { format!("{} {way} ", opened.name()) } else { String::new() };
            for (at, percentile) in NAMES.iter().enumerate() {
                let points: Vec<Pt> = group.rows.iter().filter_map(|row| point(row, at)).collect();
                if points.is_empty() {
                    continue;
                }
                let name = format!("{letter}{name}{percentile}");
                let (hue, dash) = (out.len() % HUES, out.len() / HUES % 3);
                let (path, overlay) = (opened.path, Overlay::default());
                out.push(Series { name, run: r, path, time: group.time, hue, dash, points, dropped: 0, overlay });
            }
        }
    }
    out
}

fn point(row: &Loaded, at: usize) -> Option<Pt> {
    let time = row.times[at]?;
    curve::clean(Pt {
        size: u64::from(row.load.map_or(0, |load| load.flows)) + 1,
        seconds: time.value,
        interval: Some((time.low, time.high)),
        min: time.value,
        // This graph does not show throughput.
        throughput: 1.0,
        warned: false,
    })
}

#[cfg(test)]
mod tests {
    use record::Analysis;

    use super::*;
    use crate::{Figure, Graph, sample, table};

    #[test]
    fn percentiles_lie_over_the_number_of_loading_flows_and_the_idle_path_at_none() {
        let run = sample::loaded(&[4, 1], (7, 8));
        let analysis = Analysis::of(&run);
        let drawn = series(&[&analysis]);
        let names: Vec<&str> = drawn.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names[..2], ["p50", "p99"]);
        let figure = Figure::of(&[&analysis], Graph::Load);
        let places: Vec<f64> = figure.lines[0].dots.iter().map(|d| d.mid.0).collect();
        assert_eq!(places, [0.0, 1.0, 4.0]);
        assert!(figure.lines.iter().all(|line| line.dots.windows(2).all(|two| two[0].mid.1 < two[1].mid.1)));
        let (x, _) = figure.axes.unwrap();
        assert_eq!((x.title.as_str(), x.scale.low), ("Loading flows", 0.0));
        assert!(x.scale.ticks(x.quantity, 9).ticks.iter().all(|t| t.value.fract() == 0.0), "no half of a flow");
        assert_eq!(Graph::of_runs(&[&run], None), Ok(Graph::Load));
        let idle = sample::run(1);
        assert!(Graph::of_runs(&[&idle], Some(Graph::Load)).is_err_and(|why| why.contains("run --load")));
        assert!(table::load(&Analysis::of(&idle)).is_empty());
    }

    #[test]
    fn a_table_says_where_the_load_takes_the_cpu_as_well() {
        let text = |cpus| {
            let run = sample::loaded(&[1, 4], cpus);
            table::load(&Analysis::of(&run)).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let apart = text((7, 8));
        for part in
            ["Latency under load: tcp, 64 B (RTT/2)", "to the far side in messages of 128 KiB", "idle", "9.00 Gbit/s"]
        {
            assert!(apart.contains(part), "{part}: {apart}");
        }
        assert!(!apart.contains("shared CPU"), "{apart}");
        assert!(text((0, 8)).contains("shared CPU 0 with what was measured"));
        assert!(text((0, 1)).contains("shared CPUs 0 and 1 with what was measured"));
    }
}
