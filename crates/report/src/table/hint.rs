//! HINT's figures, a path a row.

use record::Analysis;
use units::format::thousands;
use units::{Kind, Seconds};

use super::WIDTH;
use super::grid::{Flush, Grid};
use super::summary::estimate;

/// What the titles mean.
const HOW_TO_READ: &str = "QUIPS: quality improvement a second. n: subintervals of each process. In brackets: 95% intervals.\n\
                           Net QUIPS: the area below QUIPS over logarithmic time.\n";

/// First, highest and Net QUIPS of each path, each with its 95% interval in the line under it, and what ended its curve.
pub fn hint(run: &Analysis<'_>) -> String {
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
    // All of it is in exports.
    format!("{}{HOW_TO_READ}", grid.fitted(WIDTH, &[5, 2, 7]))
}
