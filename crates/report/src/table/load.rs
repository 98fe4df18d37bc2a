//! Latency under load: percentiles of the idle path and of the path under each load, side by side.

use measure::LoadDirection;
use measure::event::LoadFigures;
use model::Estimate;
use record::Analysis;
use record::load::{Loaded, UnderLoad};
use units::{BitRate, Bytes, Kind, thousands};

use super::WIDTH;
use super::grid::{Flush, Grid};
use super::summary::estimate;
use crate::text::paragraph;
use crate::words;

/// Sizes of a path that are shown side by side; the table of points has all.
const SIZES: usize = 3;

const HOW_TO_READ: &str = "In brackets: 95% intervals. 'Times idle' is how many times as long as on the idle path: of the median from rounds \
                           that took turns, of a percentile from both intervals.";

/// A table for each idle path and each of a few sizes: its times idle and under each load, followed by an empty line. Empty for a run that
/// has no loaded path beside an idle one.
pub fn load(run: &Analysis<'_>) -> String {
    let all = run.under_load();
    let mut text = String::new();
    let mut shown: Vec<(Key, usize)> = Vec::new();
    for group in &all {
        let place = shown.iter().position(|(key, _)| *key == of(group)).unwrap_or_else(|| {
            shown.push((of(group), 0));
            shown.len() - 1
        });
        shown[place].1 += 1;
        if shown[place].1 <= SIZES {
            text.push_str(&table(run, group));
        }
    }
    if text.is_empty() {
        return text;
    }
    paragraph("", HOW_TO_READ, WIDTH, &mut text);
    if shown.iter().any(|(_, count)| *count > SIZES) {
        text.push_str("Further sizes are in the tables of points (pipegauge show RUN).\n");
    }
    for note in notes(run, &all) {
        paragraph("", &note, WIDTH, &mut text);
    }
    text + "\n"
}

/// What identifies a table: an idle path, and the direction and message size of its load.
type Key = (usize, Option<(LoadDirection, u64)>);

fn of(group: &UnderLoad) -> Key {
    (group.idle, group.rows.last().and_then(|row| row.load).map(|load| (load.direction, load.size)))
}

fn table(run: &Analysis<'_>, group: &UnderLoad) -> String {
    use Flush::{Left, Right};
    let name = words::plain(run.paths[group.idle].opened.name());
    let time = words::time_label(group.time);
    let mut grid = Grid::new(&[
        ("flows", Left),
        ("carried", Right),
        ("p50", Right),
        ("p99", Right),
        ("p99.9", Right),
        ("p50\ntimes idle", Right),
        ("p99\ntimes idle", Right),
    ]);
    for row in &group.rows {
        let [p50, p99, p999] =
            row.times.map(|time| time.map_or("-".to_owned(), |time| narrow(&estimate(time, Kind::Seconds))));
        let [median, tail] = [row.ratios[0], row.ratios[1]].map(|r| r.map_or(String::new(), ratio));
        grid.row([loaded(row), row.carried.map_or(String::new(), carried), p50, p99, p999, median, tail]);
    }
    let way =
        group.rows.iter().find_map(|row| row.load).map_or(String::new(), |load| {
            format!(", loading flows {} in messages of {}", load.way(), Bytes(load.size))
        });
    let mut text = String::new();
    paragraph("", &format!("Latency under load: {name}, {} ({time}){way}", Bytes(group.size)), WIDTH, &mut text);
    format!("{text}{}", grid.fitted(WIDTH, &[4]))
}

/// How many flows load a path.
fn loaded(row: &Loaded) -> String {
    row.load.map_or("idle".to_owned(), |load| load.flows.to_string())
}

fn carried(load: LoadFigures) -> String {
    let each = [(load.there, "there"), (load.back, "back")];
    let both = each.iter().all(|(rate, _)| rate.is_some());
    let line = |(rate, way): &(Option<f64>, &str)| {
        rate.map(|rate| if both { format!("{} {way}", BitRate(rate)) } else { BitRate(rate).to_string() })
    };
    each.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// A figure for a narrow column: bounds that take more room than an interval have a line each.
fn narrow(text: &str) -> String {
    text.replace("(no interval)", "no interval").replacen(" to ", "\nto ", 1)
}

/// A ratio, its interval in the line under it.
fn ratio(e: Estimate) -> String {
    let digits = |v: f64| match v {
        v if v >= 100.0 => thousands(v.round() as u64),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    };
    let value = digits(e.value);
    match (e.low > 0.0, e.high.is_finite()) {
        (true, true) if e.high > units::RESOLVED * e.low => {
            format!("not resolved\n{} to {}", digits(e.low), digits(e.high))
        }
        (true, true) => format!("{value}\n[{}, {}]", digits(e.low), digits(e.high)),
        (false, true) => format!("{value}\nat most {}", digits(e.high)),
        (true, false) => format!("{value}\nat least {}", digits(e.low)),
        (false, false) => format!("{value}\nno interval"),
    }
}

/// Notes on what the load takes besides the path.
fn notes(run: &Analysis<'_>, all: &[UnderLoad]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for row in all.iter().flat_map(|group| &group.rows).filter(|row| row.load.is_some()) {
        let opened = &run.paths[row.path].opened;
        let note = match (&opened.load, run.shared_cpus(row.path)) {
            // A model has no CPUs.
            (None, _) => continue,
            (Some(_), None) => "The threads of loading flows kept to no CPU that is known: where they ran beside what was measured, the load \
                                took the CPU as well as the path."
                .to_owned(),
            (Some(_), Some(shared)) if shared.is_empty() => continue,
            (Some(_), Some(shared)) => {
                let list = shared.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
                let cpus = if shared.len() == 1 { "CPU" } else { "CPUs" };
                format!(
                    "Loading flows shared {cpus} {list} with what was measured: what they add is waiting for the CPU as well as queueing on the \
                     path (more CPUs keep the two apart)."
                )
            }
        };
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}
