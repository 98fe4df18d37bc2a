//! Fitted models: the tables of `seeds/000` (1 to 3) and the saturation point of `seeds/004`.

use model::Estimate;
use record::Analysis;
use units::{Bytes, Kind, Seconds};

use super::WIDTH;
use super::grid::{Flush, Grid};
use super::summary::{NOT_RESOLVED, estimate, start_time};
use crate::misfit::misfit;
use crate::text::paragraph;

/// Latency lines, bandwidth curve and saturation point of each path, each figure with its 95% interval in the line under
/// it, and what does not fit. Empty where nothing could be fitted.
pub fn fits(run: &Analysis<'_>) -> String {
    use Flush::{Left, Right};
    let mut lines = Grid::new(&[
        ("latency line\nt0 + b B", Left),
        ("b, per byte", Right),
        ("t0", Right),
        ("smallest\nmessage", Right),
        ("typical\nmisfit", Right),
    ]);
    let mut curves = Grid::new(&[
        ("bandwidth\nRmax B / (n1/2 + B)", Left),
        ("Rmax", Right),
        ("n1/2", Right),
        ("n1/2\nmeasured", Right),
        ("saturation\npoint", Right),
        ("typical\nmisfit", Right),
    ]);
    let mut notes = String::new();
    let mut any = false;
    for (index, path) in run.paths.iter().enumerate() {
        let Some(fits) = run.fits(index) else { continue };
        let name = path.opened.name();
        let startup = format!("{} ({})", Seconds(fits.latency.startup), Bytes(fits.latency.startup_size));
        for (what, line) in [("", &fits.latency.all), (", below 1 KiB", &fits.latency.small)] {
            let Some(line) = line else { continue };
            any = true;
            lines.row([
                format!("{name}{what}"),
                estimate(line.per_byte, Kind::SecondsPerByte),
                start_time(line.t0),
                startup.clone(),
                misfit(&line.misfit),
            ]);
        }
        for piece in &fits.latency.pieces {
            lines.row([
                format!("{name}, {} to {}", Bytes(piece.from), Bytes(piece.to)),
                estimate(piece.per_byte, Kind::SecondsPerByte),
                start_time(piece.t0),
            ]);
        }
        let or_none = |e: Option<Estimate>, kind| e.map_or("-".to_owned(), |e| estimate(e, kind));
        let (bandwidth, measured) =
            (fits.bandwidth.as_ref(), run.summary(index).and_then(|s| s.half_power).filter(|_| run.carries()));
        if bandwidth.is_some() || fits.saturation.is_some() {
            any = true;
            curves.row([
                name.to_owned(),
                or_none(bandwidth.map(|b| b.r_max), Kind::BitsPerSecond),
                or_none(bandwidth.map(|b| b.n_half), Kind::Bytes),
                or_none(measured, Kind::Bytes),
                or_none(fits.saturation.as_ref().map(|s| s.point), Kind::Bytes),
                bandwidth.map_or("-".to_owned(), |b| misfit(&b.misfit)),
            ]);
        }
        for warning in &fits.warnings {
            paragraph("", &format!("{name}: {warning}."), WIDTH, &mut notes);
        }
    }
    if !any {
        return notes;
    }
    let tables = format!("{}\n{}", lines.fitted(WIDTH, &[3]), curves.fitted(WIDTH, &[3, 5]));
    let unresolved = if tables.contains("not resolved") { NOT_RESOLVED } else { "" };
    format!("{tables}{unresolved}{notes}")
}
