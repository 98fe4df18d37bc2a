//! `pipegauge history`: which earlier runs are kept, how far they lie apart, and how to forget them.

use anyhow::{Result, bail};
use record::history::{Folder, Listed};
use units::Share;

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
    if json {
        let paths = listing.paths.iter().map(|p| of(p, &listing.paths)).collect();
        out::json(&HistoryDocument::new(at.to_string(), paths, listing.notes, cleared))?;
    } else {
        let text = match cleared {
            Some(n) => format!("{n} {} forgotten in {at}\n", if n == 1 { "path" } else { "paths" }),
            None => table(&listing.paths, &at.to_string()),
        };
        out::text(&report::words::plain(&text))?;
    }
    Ok(Exit::Ok)
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
fn of(path: &Listed, all: &[Listed]) -> HistoryOf {
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
        unlike: unlike(path, all),
        key: path.key.clone(),
    }
}

/// What tells a path from others of its transport and pattern: parts that not all of them have alike.
fn unlike(path: &Listed, all: &[Listed]) -> Vec<String> {
    let same = |p: &&Listed| ["transport", "pattern"].iter().all(|n| p.key.get(n) == path.key.get(n));
    let parts =
        path.key.parts().filter(|(name, value)| all.iter().filter(same).any(|p| p.key.get(name) != Some(value)));
    parts.map(|(name, value)| format!("{name} {}", value.chars().take(40).collect::<String>())).collect()
}

fn table(paths: &[Listed], at: &str) -> String {
    if paths.is_empty() {
        return format!("No earlier run is kept in {at}.\n");
    }
    let mut text =
        format!("{:<ID$}  {:<10} {:<13} {:>4}  {:<31}  runs differ by\n", "id", "path", "pattern", "runs", "from, to");
    for found in paths.iter().map(|p| of(p, paths)) {
        let day = |started: &Option<String>| started.as_ref().map_or("-".to_owned(), |s| s.chars().take(16).collect());
        let spread = found.spread.map_or("not known: one run".to_owned(), |s| Share(s).to_string());
        text.push_str(&format!(
            "{:<ID$}  {:<10} {:<13} {:>4}  {:<31}  {spread}\n",
            &found.id[..ID],
            found.transport,
            found.pattern,
            found.runs,
            format!("{} {}", day(&found.from), day(&found.to)).trim(),
        ));
        if !found.unlike.is_empty() {
            text.push_str(&format!("{:<ID$}  {}\n", "", found.unlike.join(", ")));
        }
    }
    format!("{text}Runs differ by: standard deviation of whole curves' levels. Kept in {at}.\n")
}
