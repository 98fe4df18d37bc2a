//! `pipegauge history`: which earlier runs are kept, how far they lie apart, and how to forget them.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use record::history::{Folder, Key, Listed};
use units::{BitRate, Kind, Share};

use crate::config;
use crate::document::{HistoryDocument, HistoryOf};
use crate::exit::Exit;
use crate::flags::{HistoryFlags, HistoryWish};
use crate::out;

/// Letters of an id that are shown: enough to tell thousands of paths apart.
const ID: usize = 8;

/// Shows or clears the history.
pub fn history(flags: &HistoryFlags, json: bool) -> Result<Exit> {
    let folder = config::history::folder()?;
    let cleared = match &flags.what {
        None => None,
        Some(HistoryWish::Clear { paths }) => Some(clear(&folder, paths)?),
    };
    let listing = folder.list();
    for note in &listing.notes {
        out::tell(&format!("note: {note}"));
    }
    let at = folder.path().display();
    let blind = cleared.is_none() && listing.paths.is_empty() && !listing.notes.is_empty();
    if json {
        let common = common(&listing.paths);
        let paths = listing.paths.iter().map(|p| of(p, &common)).collect();
        out::json(&HistoryDocument::new(at.to_string(), paths, listing.notes, cleared))?;
    } else {
        let text = match cleared {
            Some(n) => format!("{} forgotten in {at}\n", units::counted(n as u64, "path")),
            // A note says why nothing could be seen: that nothing is there is not known.
            None if blind => format!("Nothing that can be read is kept in {at}.\n"),
            None => table(&listing.paths, &at.to_string()),
        };
        out::text(&report::text::folded(&report::words::plain(&text), out::prose()))?;
    }
    Ok(if blind { Exit::Short } else { Exit::Ok })
}

fn clear(folder: &Folder, names: &[String]) -> Result<usize> {
    if names.is_empty() {
        return Ok(folder.clear()?);
    }
    let named = |p: &Listed, name: &str| {
        p.key.get("transport") == Some(name) || (name.len() >= ID && p.key.id().starts_with(name))
    };
    let listed = folder.list().paths;
    for name in names {
        if !listed.iter().any(|p| named(p, name)) {
            bail!(
                "no earlier run of '{name}' is kept in {}; `pipegauge history` shows those that are",
                folder.path().display()
            );
        }
    }
    let (these, _): (Vec<Listed>, Vec<Listed>) = listed.into_iter().partition(|p| names.iter().any(|n| named(p, n)));
    Ok(folder.remove(&these)?)
}

/// A path as it is told.
fn of(path: &Listed, common: &Common) -> HistoryOf {
    let spread = path.spread();
    HistoryOf {
        id: path.key.id(),
        transport: path.key.get("transport").unwrap_or("?").to_owned(),
        pattern: path.key.get("pattern").unwrap_or("?").to_owned(),
        runs: path.runs.len(),
        from: path.runs.first().map(|k| k.run.started.clone()),
        to: path.runs.last().map(|k| k.run.started.clone()),
        spread: spread.map(|s| s.value),
        degrees: spread.map(|s| s.degrees),
        unlike: unlike(&path.key, common),
        key: path.key.clone(),
    }
}

/// Transport and pattern, by which paths are alike at first sight.
fn kind(key: &Key) -> [Option<&str>; 2] {
    ["transport", "pattern"].map(|name| key.get(name))
}

/// Of each transport and pattern: the parts that all its paths have alike.
type Common<'a> = BTreeMap<[Option<&'a str>; 2], BTreeMap<&'a str, &'a str>>;

fn common(paths: &[Listed]) -> Common<'_> {
    let mut common = Common::new();
    for Listed { key, .. } in paths {
        let parts = common.entry(kind(key)).or_insert_with(|| key.parts().collect());
        parts.retain(|name, value| key.get(name) == Some(value));
    }
    common
}

/// What tells a path from others of its transport and pattern: parts that not all of them have alike.
fn unlike(key: &Key, common: &Common) -> Vec<String> {
    let alike = |name: &str| common.get(&kind(key)).is_some_and(|parts| parts.contains_key(name));
    key.parts()
        .filter(|(name, _)| !alike(name))
        .map(|(name, value)| format!("{} {}", cut(&said(name)), cut(&told(name, value))))
        .collect()
}

/// A part's name as `run` has it: "sockbuf" of `plan.settings.sockbuf`, "near send buffer" of `near.send_buffer`.
fn said(name: &str) -> String {
    let plan = name.strip_prefix("plan.settings.").or(name.strip_prefix("plan."));
    plan.unwrap_or(name).replace(['.', '_'], " ")
}

/// A part's value as `run` has it: rates with their unit.
fn told(name: &str, value: &str) -> String {
    let rate = value.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    match (name, rate) {
        ("plan.offered", Some(bits)) => BitRate(bits).to_string(),
        ("plan.rate", Some(rate)) => units::format::significant(rate, Kind::PerSecond),
        _ => value.to_owned(),
    }
}

/// A word as it is shown: files may hold words of any length.
fn cut(word: &str) -> String {
    word.chars().take(40).collect()
}

/// When the first and the last run began: minutes where both did on one day, else days.
fn between(first: Option<&str>, last: Option<&str>) -> String {
    let parts =
        |at: &str| at.split_once('T').map(|(day, time)| (day.to_owned(), time.chars().take(5).collect::<String>()));
    match (first.and_then(parts), last.and_then(parts)) {
        (Some(a), Some(b)) if a == b => format!("{} {}", a.0, a.1),
        (Some(a), Some(b)) if a.0 == b.0 => format!("{} {} to {}", a.0, a.1, b.1),
        (Some(a), Some(b)) => format!("{} to {}", a.0, b.0),
        _ => "-".to_owned(),
    }
}

fn table(paths: &[Listed], at: &str) -> String {
    if paths.is_empty() {
        return format!("No earlier run is kept in {at}.\n");
    }
    let mut text =
        format!("{:<ID$}  {:<10} {:<13} {:>4}  {:<25}  apart\n", "id", "path", "pattern", "runs", "from, to");
    let common = common(paths);
    for found in paths.iter().map(|p| of(p, &common)) {
        let spread = found.spread.map_or("-".to_owned(), |s| Share(s).to_string());
        text.push_str(&format!(
            "{:<ID$}  {:<10} {:<13} {:>4}  {:<25}  {spread}\n",
            &found.id[..ID],
            cut(&found.transport),
            cut(&found.pattern),
            found.runs,
            between(found.from.as_deref(), found.to.as_deref()),
        ));
        if !found.unlike.is_empty() {
            text.push_str(&format!("{:<ID$}  {}\n", "", found.unlike.join(", ")));
        }
    }
    let unknown = match paths.iter().any(|p| p.spread().is_none()) {
        true => {
            " (-: it takes two runs of four rounds or more, of which an earlier one has half of the last one's sizes)"
        }
        false => "",
    };
    format!(
        "{text}Apart: standard deviation of the runs' levels at the sizes of the last one{unknown}. Kept in {at}.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{between, told};

    #[test]
    fn rates_have_their_units() {
        assert_eq!(told("plan.offered", "100000000.0"), "100 Mbit/s");
        assert_eq!(told("plan.rate", "5000.0"), "5.00 k/s");
        assert_eq!([told("plan.offered", "x"), told("near.send_buffer", "4096")], ["x", "4096"]);
    }

    #[test]
    fn times_of_runs_are_as_exact_as_their_column_is_wide() {
        let of = |a, b| between(Some(a), Some(b));
        assert_eq!(of("2026-11-26T08:55:01Z", "2026-11-26T08:55:44Z"), "2026-11-26 08:55");
        assert_eq!(of("2026-11-26T08:55:01Z", "2026-11-26T09:10:44Z"), "2026-11-26 08:55 to 09:10");
        assert_eq!(of("2026-11-25T08:55:01Z", "2026-11-26T09:10:44Z"), "2026-11-25 to 2026-11-26");
        // A file of somebody else may hold anything.
        assert_eq!((of("yesterday", "2026-11-26T09:10:44Z"), between(None, None)), ("-".into(), "-".into()));
    }
}
