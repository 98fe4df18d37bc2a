//! HINT's figures, a path a row, and its points.

use record::RunFile;
use units::format::thousands;
use units::{Kind, Seconds, with_interval};

use super::grid::{Flush, Grid};
use super::summary::estimate;

/// What the titles mean.
const HOW_TO_READ: &str = "QUIPS: quality improvement a second. n: subintervals of each process. In brackets: 95% intervals.\n\
                           Net QUIPS: the area below QUIPS over logarithmic time.\n";

/// First, highest and Net QUIPS of each path, each with its 95% interval in the line under it, and what ended its curve.
pub fn hint(run: &RunFile) -> String {
    use Flush::{Left, Right};
    let mut grid = Grid::new(&[
        ("path", Left),
        ("processes", Right),
        ("first answer", Right),
        ("first QUIPS", Right),
        ("peak QUIPS", Right),
        ("at n", Right),
        ("Net QUIPS", Right),
        ("up to n", Right),
        ("ended by", Left),
    ]);
    for (index, path) in run.paths.iter().enumerate() {
        let name = path.opened.name().to_owned();
        let Some(found) = run.hint(index) else {
            grid.row([name, "-".into()]);
            continue;
        };
        let first = path.points.first().map_or(String::new(), |p| Seconds(p.figures.median).to_string());
        grid.row([
            name,
            found.processes.to_string(),
            first,
            estimate(found.quips.first, Kind::Quips),
            estimate(found.quips.peak, Kind::Quips),
            thousands(found.quips.peak_size),
            estimate(found.quips.net, Kind::Quips),
            thousands(found.last),
            found.ended.map_or("cut off", |e| e.words()).to_owned(),
        ]);
    }
    format!("{}{HOW_TO_READ}", grid.text())
}

/// The points of the path at this index, by ascending subintervals. An index beyond the paths is an empty text.
pub fn hint_points(run: &RunFile, path: usize) -> String {
    use Flush::{Left, Right};
    let Some(p) = run.paths.get(path) else { return String::new() };
    let mut grid = Grid::new(&[
        ("n", Right),
        ("time to an answer [95%]", Left),
        ("min", Right),
        ("quality", Right),
        ("QUIPS [95%]", Left),
        ("memory", Right),
        ("rounds", Right),
        ("ended", Left),
        ("", Left),
    ]);
    for point in &p.points {
        let f = &point.figures;
        let warned = run.warnings.iter().any(|w| w.path == Some(p.opened.path) && w.sizes.contains(&point.size));
        // A longer time is a lower QUIPS.
        let quips = f.quips.map_or("-".to_owned(), |quips| {
            let at = |seconds: f64| quips * f.median / seconds;
            with_interval(quips, at(f.high), if f.low > 0.0 { at(f.low) } else { f64::INFINITY }, Kind::Quips)
        });
        grid.row([
            thousands(point.size),
            with_interval(f.median, f.low, f.high, Kind::Seconds),
            Seconds(f.min).to_string(),
            f.quality.map_or("-".to_owned(), quality),
            quips,
            units::Bytes(point.size.saturating_mul(workload::hint::BYTES)).to_string(),
            f.blocks.to_string(),
            crate::words::why_label(point.why).to_owned(),
            if warned { "!".to_owned() } else { String::new() },
        ]);
    }
    grid.text()
}

/// Quality in about as many digits as say something beside the subintervals.
fn quality(q: f64) -> String {
    if q < 100.0 { format!("{q:.3}") } else { thousands(q.round() as u64) }
}
