//! Paths at offered rates: what arrived and what was lost at each, and the highest rate without loss.

use measure::Topology;
use record::Analysis;
use record::rates::{AtRate, OverRates};
use units::{BitRate, Bytes, Kind, thousands};

use super::WIDTH;
use super::grid::{Flush, Grid};
use super::summary::estimate;
use crate::text::paragraph;
use crate::words;

/// Sizes of a path that are shown one below the other; the table of points has all.
const SIZES: usize = 3;

/// A table for each group of paths that differ in the offered rate, and each of a few sizes, followed by an empty line. Empty for a run
/// that offers none.
pub fn rates(run: &Analysis<'_>) -> String {
    let mut text = String::new();
    for (title, grid, highest) in grids(run) {
        paragraph("", &title, WIDTH, &mut text);
        text.push_str(&grid.fitted(WIDTH, &[4, 3]));
        paragraph("", &highest, WIDTH, &mut text);
    }
    notes(run).iter().for_each(|note| paragraph("", note, WIDTH, &mut text));
    if text.is_empty() { text } else { text + "\n" }
}

/// The groups that are shown, and whether there are more.
fn shown(all: &[OverRates]) -> (Vec<&OverRates>, bool) {
    let mut counts: Vec<(usize, usize)> = Vec::new();
    let few = |group: &&OverRates| {
        let place = counts.iter().position(|(path, _)| *path == group.path).unwrap_or_else(|| {
            counts.push((group.path, 0));
            counts.len() - 1
        });
        counts[place].1 += 1;
        counts[place].1 <= SIZES
    };
    let shown: Vec<&OverRates> = all.iter().filter(few).collect();
    let more = shown.len() < all.len();
    (shown, more)
}

/// The title, the table and the highest rate without loss of each group.
pub(crate) fn grids(run: &Analysis<'_>) -> Vec<(String, Grid, String)> {
    shown(&run.over_rates()).0.into_iter().map(|group| table(run, group)).collect()
}

/// How all tables are to be read; empty where there are none.
pub(crate) fn notes(run: &Analysis<'_>) -> Vec<String> {
    let all = run.over_rates();
    if all.is_empty() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let means = match all.iter().flat_map(|group| &group.rows).any(|row| row.sent.is_some()) {
        true => "Sent and arrived are means over all trials: what was sent less what was lost is what arrived.",
        false => "Arrived is the median over rounds of what the receivers timed.",
    };
    notes.push(format!(
        "{means} In brackets: 95% intervals, from rounds, since losses come many at once. Without loss none is told: the count of messages \
         says how rare losses may still be."
    ));
    if run.run.plan.both {
        notes.push("All rates are of both directions together (--both), each of which offers half.".to_owned());
    }
    if run.run.plan.paths.iter().any(|path| path.topology == Topology::Group) {
        let text = "Of a group, offered is the rate at which one member casts; arrived and lost are of all receiving members together.";
        notes.push(text.to_owned());
    }
    if shown(&all).1 {
        notes.push("Further sizes are in the tables of points (pipegauge show RUN).".to_owned());
    }
    notes
}

fn table(run: &Analysis<'_>, group: &OverRates) -> (String, Grid, String) {
    use Flush::Right;
    let mut grid = Grid::new(&[
        ("offered", Right),
        ("sent", Right),
        ("arrived", Right),
        ("messages", Right),
        ("lost", Right),
        ("share lost", Right),
    ]);
    // For both directions no sender's time is known: an empty column is left out.
    let unknown = if group.rows.iter().all(|row| row.sent.is_none()) { String::new() } else { "-".to_owned() };
    for row in &group.rows {
        grid.row([
            BitRate(row.offered).to_string(),
            row.sent.map_or(unknown.clone(), |sent| BitRate(sent).to_string()),
            row.arrived.map_or("-".to_owned(), |arrived| match arrived.high.is_finite() {
                true => estimate(arrived, Kind::BitsPerSecond),
                false => BitRate(arrived.value).to_string(),
            }),
            thousands(row.messages),
            thousands(row.lost),
            lost(row),
        ]);
    }
    let name = words::plain(&words::without_rate(&run.paths[group.path].opened));
    let over = if group.rows.len() > 1 { "over" } else { "at" };
    (format!("Loss {over} the offered rate: {name}, messages of {}", Bytes(group.size)), grid, highest(group))
}

/// The share that was lost, its interval in the line under it.
fn lost(row: &AtRate) -> String {
    match row.lost {
        _ if row.messages == 0 => "-".to_owned(),
        0 => "0".to_owned(),
        _ if row.loss.high.is_finite() => estimate(row.loss, Kind::Share),
        _ => units::Share(row.loss.value).to_string(),
    }
}

/// The highest rate without loss among these rates, and what happens at the next.
pub fn highest(group: &OverRates) -> String {
    let rate = |row: &AtRate| BitRate(row.offered).to_string();
    let last = group.lossless.and_then(|at| group.rows.get(at));
    let next = group.rows.get(group.lossless.map_or(0, |at| at + 1));
    let first = match last {
        Some(last) if group.rows.len() == 1 => {
            return format!("No message was lost at this rate (0 of {}).", thousands(last.messages));
        }
        Some(last) if next.is_none() => {
            let (rate, messages) = (rate(last), thousands(last.messages));
            return format!("No message was lost at any of these rates, up to {rate} (0 of {messages} there).");
        }
        Some(last) => format!("No message was lost up to {} (0 of {} there).", rate(last), thousands(last.messages)),
        None => "No rate without loss is known.".to_owned(),
    };
    let Some(next) = next else { return first };
    if let (1, 0, 1.., Some(sent)) = (group.rows.len(), next.lost, next.messages, next.sent) {
        return format!("No message was lost, but the sender reached only {}.", BitRate(sent));
    }
    let sent = match (next.kept(), next.sent) {
        (false, Some(sent)) => format!(", of which the sender reached {},", BitRate(sent)),
        _ => String::new(),
    };
    let (lost, messages) = (thousands(next.lost), thousands(next.messages));
    let then = match next.lost {
        _ if next.messages == 0 => format!("At {} too few messages came to tell anything.", rate(next)),
        0 => format!("At {}{sent} none was, either: the sender, or the path, goes no faster.", rate(next)),
        _ => {
            let narrow = if last.is_some() { "Rates between the two" } else { "Lower rates" };
            let share = units::Share(next.loss.value);
            format!(
                "At {}{sent} {lost} of {messages} messages were lost ({share}). {narrow} (--rate) tell where losses begin.",
                rate(next)
            )
        }
    };
    format!("{first} {then}")
}
