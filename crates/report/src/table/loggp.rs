//! LogGP parameters.

use model::{Estimate, LogGp};
use units::Kind;

use super::WIDTH;
use super::grid::{Flush, Grid};
use super::summary::estimate;

/// A row for each path, and below the table, in lines of `width` columns, what could not be identified and what the figures hold for.
pub fn loggp(paths: &[(&str, &LogGp)], width: usize) -> String {
    use Flush::{Left, Right};
    let mut grid = Grid::new(&[
        ("path", Left),
        ("L latency", Right),
        ("o overhead", Right),
        ("g gap", Right),
        ("G gap a byte", Right),
        ("L + 2 o", Right),
    ]);
    let mut notes = String::new();
    for (name, p) in paths {
        let or_none = |e: Option<Estimate>, kind| e.map_or("-".to_owned(), |e| estimate(e, kind));
        let overhead = match p.overhead_at_most {
            Some(most) => format!("<= {}", units::Seconds(most)),
            None => or_none(p.overhead, Kind::Seconds),
        };
        grid.row([
            (*name).to_owned(),
            or_none(p.latency, Kind::Seconds),
            overhead,
            or_none(p.gap, Kind::Seconds),
            or_none(p.gap_per_byte, Kind::SecondsPerByte),
            or_none(p.end_to_end, Kind::Seconds),
        ]);
        for note in &p.notes {
            notes.push_str(&format!("{name}: {note}.\n"));
        }
    }
    format!("{}{}", grid.fitted(WIDTH, &[]), crate::text::folded(&notes, width))
}
