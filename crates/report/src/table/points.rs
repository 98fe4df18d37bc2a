//! Every point of one path: the columns of [`record::columns`], as text.

use std::io::{self, Write};

use measure::event::{Figures, TimeKind};
use record::columns::{Column, Form, Row, Shown, Type, column, for_people};
use record::{PathRun, Point, RunFile};
use units::format::{significant, thousands};
use units::{BitRate, Bytes, Kind, RESOLVED, Seconds, Share, spanned, with_interval};

use super::WIDTH;
use super::grid::{Flush, stream};
use crate::doublings::apart;
use crate::text::paragraph;
use crate::words;

/// What the times of a run in both directions are.
const BOTH: &str = ", from one message to the next over both directions together";

/// Titles of the columns that are left out first where a table is too wide.
const SPARE: [&str; 5] = ["ended", "p50", "p90", "shortest trial", "rounds"];

/// Most points that are shown without `--points`.
const MOST: usize = 48;

/// Writes the points of the path at this index of the run's paths, by ascending size: where they are more than a screen or two, those about a
/// factor of two apart, unless all are asked for. For an index beyond the paths it writes a sentence. Rows are made as they are written, so
/// that memory does not grow with them.
pub fn points(run: &RunFile, path: usize, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let Some(p) = run.paths.get(path) else {
        return writeln!(out, "The run has {} paths; there is no path {path}.", run.paths.len());
    };
    let name = p.opened.name();
    let Some(first) = p.points.first() else {
        return writeln!(out, "{name}: no points.");
    };
    let both = if run.run.plan.both { BOTH } else { "" };
    let whose = if first.time == TimeKind::Slowest { "those of the " } else { "" };
    let title = format!("{name}: times are {whose}{}{both}", words::time_label(first.time));
    out.write_all(crate::text::hanging("", &title, 2, WIDTH).as_bytes())?;
    let points: Vec<&Point> =
        if all || p.points.len() <= MOST { p.points.iter().collect() } else { apart(&p.points, |p| p.size) };
    let warned = crate::curve::warned_sizes(run, p.opened.path, true);
    let any_warned = points.iter().any(|point| warned.contains(&point.size));
    let columns = used(run, p, &points);
    let sized = &run.run.plan.pattern.facts().size;
    let mut head = vec![(sized.title, Flush::Right)];
    let topology = run.run.plan.topology(p.opened.path);
    let titles: Vec<_> = columns.iter().map(|(_, shown)| shown.title(topology)).collect();
    head.extend(columns.iter().zip(&titles).map(|((_, shown), title)| (&**title, flush(shown.form))));
    head.push(("ended", Flush::Left));
    head.extend(any_warned.then_some(("", Flush::Left)));
    let cells = |point: &&Point| {
        let row = Row::of(run, p, point);
        let mut cells = vec![(sized.cell)(point.size)];
        cells.extend(columns.iter().map(|(column, shown)| cell(column, shown.form, &row)));
        cells.push(words::why_label(point.why).to_owned());
        cells.extend(warned.contains(&point.size).then(|| "!".to_owned()));
        cells
    };
    let most = if all { usize::MAX } else { WIDTH };
    let left_out = stream(&head, || points.iter().map(cells), (most, &SPARE), out)?;
    if !left_out.is_empty() {
        let mut said = String::new();
        paragraph("", &format!("Left out, to fit: {}; --points shows all.", left_out.join(", ")), WIDTH, &mut said);
        out.write_all(said.as_bytes())?;
    }
    if points.len() < p.points.len() {
        let (shown, all) = (points.len(), thousands(p.points.len() as u64));
        writeln!(out, "{shown} of {all} points, about a factor of two apart; --points shows all.")?;
    }
    let mut said = String::new();
    let machine = super::machine_of(run, path);
    for note in std::iter::once(machine.as_str()).chain(notes(points.iter().map(|p| &p.figures))) {
        paragraph("", note, WIDTH, &mut said);
    }
    out.write_all(said.as_bytes())?;
    if any_warned {
        writeln!(out, "! the point has a warning")?;
    }
    Ok(())
}

/// Columns of which any point has a figure.
fn used(run: &RunFile, path: &PathRun, points: &[&Point]) -> Vec<(&'static Column, Shown)> {
    let mut waiting = for_people();
    let mut used = Vec::new();
    for point in points {
        let row = Row::of(run, path, point);
        let (there, not): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(column, _)| has(column, &row));
        used.extend(there);
        waiting = not;
        // Most columns have a figure from the first point on.
        if waiting.is_empty() {
            break;
        }
    }
    used.sort_by_key(|(_, shown)| shown.place);
    used
}

fn has(column: &Column, row: &Row) -> bool {
    column.of(row).number().is_some_and(|v| v.is_finite() && v > 0.0)
}

fn flush(form: Form) -> Flush {
    if form == Form::Plain { Flush::Right } else { Flush::Left }
}

/// A row's cell of a column: `-` where it has no figure.
pub fn cell(of: &Column, form: Form, row: &Row) -> String {
    let number = |name: &str| column(name).and_then(|c| c.of(row).number());
    let Some(v) = of.of(row).number().filter(|v| v.is_finite() && *v > 0.0) else {
        return if of.unit == Some(Kind::Share) { "0" } else { "-" }.to_owned();
    };
    let kind = of.unit.unwrap_or(Kind::Bytes);
    match form {
        Form::Plain => plain(of, v),
        Form::Interval { low, high, seen } => {
            if let Some((low, high)) = seen.and_then(|[low, high]| number(low).zip(number(high))) {
                return spanned(v, row.blocks, low, high, kind);
            }
            let (low, high) = (number(low).unwrap_or(0.0), number(high).unwrap_or(f64::INFINITY));
            // `26.8 us [1, 600]` would look like a figure.
            if high.is_finite() && high > RESOLVED * low {
                return format!("{} (not resolved)", plain(of, v));
            }
            with_interval(v, low, high, kind)
        }
        Form::Range { to } => match number(to) {
            Some(to) => format!("{} to {}", plain(of, v), plain(of, to)),
            None => "-".to_owned(),
        },
    }
}

fn plain(column: &Column, v: f64) -> String {
    match (column.unit, column.kind) {
        (Some(Kind::Seconds), _) => Seconds(v).to_string(),
        (Some(Kind::BitsPerSecond), _) => BitRate(v).to_string(),
        (Some(Kind::PerSecond), _) => words::mean_rate(v),
        (Some(Kind::Share), _) => Share(v).to_string(),
        (Some(Kind::Bytes), _) => Bytes(v as u64).to_string(),
        (Some(kind), _) => significant(v, kind),
        (None, Type::Count) => thousands(v as u64),
        // In as many digits as are meaningful.
        (None, _) if v < 100.0 => format!("{v:.3}"),
        (None, _) => thousands(v.round() as u64),
    }
}

/// Notes on rows whose figures seem to contradict each other because they are of different things.
fn notes<'a>(rows: impl Iterator<Item = &'a Figures> + Clone) -> Vec<&'static str> {
    let shown = |of: fn(&Figures) -> bool| rows.clone().any(of);
    let differ = |a: f64, b: f64| Seconds(a).to_string() != Seconds(b).to_string();
    let mut notes = Vec::new();
    // Where the three digits of the row show it.
    if rows.clone().any(|f| f.min > f.median && differ(f.min, f.median)) {
        notes.push(
            "A shortest trial above its median: it is a trial's mean, which counts interruptions and what a coarse clock rounds away; the \
             median does not.\n",
        );
    }
    if rows.clone().any(|f| f.percentiles.is_some_and(|p| p.max < f.median && differ(p.max, f.median))) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

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

    fn text(run: &RunFile, all: bool) -> String {
        let mut out = Vec::new();
        points(run, 0, all, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn many_points_are_thinned_and_the_table_says_how_to_see_all() {
        let sizes: Vec<u64> = (1..=5000).collect();
        let run = sample::run_of(&sample::MODELS[3..], &sizes, 1, 7);
        let (few, all) = (text(&run, false), text(&run, true));
        assert!(few.contains("14 of 5,000 points, about a factor of two apart; --points shows all."), "{few}");
        assert!(few.lines().count() < 24 && few.contains("\n5,000 B  "), "{few}");
        assert!(all.lines().count() > 5000 && !all.contains("--points shows all"));
        let small = sample::run_of(&sample::MODELS[3..], &sizes[..MOST], 1, 7);
        assert!(!text(&small, false).contains("about a factor of two"), "nothing is thinned and nothing said");
    }
}
