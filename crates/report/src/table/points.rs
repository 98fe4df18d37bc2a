//! Every point of one path.

use measure::event::Figures;
use record::RunFile;
use units::{BitRate, Bytes, Kind, Seconds, Share, with_interval};

use super::grid::{Flush, Grid};
use crate::words;

/// The points of the path at this index of the run's paths, by ascending size. An index beyond the paths is answered in
/// words.
pub fn points(run: &RunFile, path: usize) -> String {
    use Flush::{Left, Right};
    let Some(p) = run.paths.get(path) else {
        return format!("The run has {} paths; there is no path {path}.\n", run.paths.len());
    };
    let name = p.opened.name();
    let Some(first) = p.points.first() else {
        return format!("{name}: no points.\n");
    };
    let mut grid = Grid::new(&[
        ("size", Right),
        ("median [95%]", Left),
        ("on this machine [95%]", Left),
        ("shortest trial", Right),
        ("throughput", Right),
        ("sender", Right),
        ("mean rate", Right),
        ("p50", Right),
        ("p90", Right),
        ("p99", Right),
        ("p99.9", Right),
        ("longest", Right),
        ("lost", Right),
        ("reordered", Right),
        ("rounds", Right),
        ("ended", Left),
        ("", Left),
    ]);
    let mut any_warned = false;
    for point in &p.points {
        let f = &point.figures;
        let percentile = |pick: fn(&measure::event::Percentiles) -> Option<f64>| {
            let Some(p) = &f.percentiles else { return String::new() };
            pick(p).map_or("-".to_owned(), time)
        };
        let warned = run.warnings.iter().any(|w| w.path == Some(p.opened.path) && w.sizes.contains(&point.size));
        any_warned |= warned;
        grid.row([
            Bytes(point.size).to_string(),
            median(f),
            f.repeat_low.zip(f.repeat_high).map_or(String::new(), range),
            time(f.min),
            // Bits over a latency are no throughput where a schedule says when blocks are sent.
            if f.throughput.is_finite() && run.run.plan.rate.is_none() {
                BitRate(f.throughput).to_string()
            } else {
                "-".into()
            },
            f.sender_throughput.filter(|t| t.is_finite()).map_or(String::new(), |t| BitRate(t).to_string()),
            f.transactions.filter(|t| t.is_finite()).map_or(String::new(), words::mean_rate),
            percentile(|p| Some(p.p50)),
            percentile(|p| p.p90),
            percentile(|p| p.p99),
            percentile(|p| p.p999),
            percentile(|p| Some(p.max)),
            share(f.loss),
            share(f.reordering),
            f.blocks.to_string(),
            words::why_label(point.why).to_owned(),
            if warned { "!".to_owned() } else { String::new() },
        ]);
    }
    let mut text = format!("{name}: times are {}\n{}", words::time_label(first.time), grid.text());
    text.push_str(&super::machine_of(run, path));
    for note in notes(p.points.iter().map(|p| &p.figures)) {
        text.push_str(note);
    }
    if any_warned {
        text.push_str("! the point has a warning\n");
    }
    text
}

/// What a reader must know of rows whose figures are of different things, so that they are not in the order of their names.
fn notes<'a>(rows: impl Iterator<Item = &'a Figures> + Clone) -> Vec<&'static str> {
    let shown = |of: fn(&Figures) -> bool| rows.clone().any(of);
    let mut notes = Vec::new();
    // What the row's three digits show.
    if shown(|f| time(f.min) != time(f.median) && f.min > f.median) {
        notes.push(
            "A shortest trial above its median: it is a trial's mean, which counts interruptions; the median does not.\n",
        );
    }
    if shown(|f| f.percentiles.is_some_and(|p| p.max < f.median && time(p.max) != time(f.median))) {
        notes.push(
            "A median above its longest: the size was timed in faster moments than the run typically had, whose level the \
             median is told at.\n",
        );
    }
    if shown(|f| f.transactions.is_some_and(f64::is_finite)) {
        notes.push(
            "Mean rate: what was achieved, pauses included; times and throughput are medians, which pauses leave alone.\n",
        );
    }
    notes
}

/// A point's median with its interval; where the run tells none, with what its rounds saw.
fn median(f: &Figures) -> String {
    if f.high.is_finite() || !(f.seen_low > 0.0 && f.seen_high.is_finite()) {
        return with_interval(f.median, f.low, f.high, Kind::Seconds);
    }
    let median = units::format::significant(f.median, Kind::Seconds);
    match f.blocks {
        1 => format!("{median} (-, 1 round)"),
        n => format!("{median} (-, {n} rounds: {} to {})", Seconds(f.seen_low), Seconds(f.seen_high)),
    }
}

fn share(of: f64) -> String {
    if of > 0.0 { Share(of).to_string() } else { String::new() }
}

fn time(seconds: f64) -> String {
    if seconds.is_finite() && seconds > 0.0 { Seconds(seconds).to_string() } else { "-".to_owned() }
}

/// Both ends of a range.
fn range((low, high): (f64, f64)) -> String {
    format!("{} to {}", Seconds(low), Seconds(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_stand_under_rows_whose_figures_are_of_different_things() {
        let of = |min: f64, max: f64, transactions: Option<f64>| Figures {
            min,
            median: 2.0,
            transactions,
            percentiles: Some(measure::event::Percentiles { p50: 2f64.min(max), max, ..Default::default() }),
            ..Figures::default()
        };
        let notes = |f: Figures| notes([f].iter()).concat();
        assert_eq!(notes(of(1.0, 3.0, None)), "");
        assert!(notes(of(2.5, 3.0, None)).contains("A shortest trial above its median"));
        assert!(notes(of(1.0, 1.5, None)).contains("A median above its longest"));
        assert_eq!(notes(of(2.000_001, 1.999_999, None)), "", "the row shows no difference");
        assert!(notes(of(1.0, 3.0, Some(4.0))).contains("Mean rate"));
    }
}
