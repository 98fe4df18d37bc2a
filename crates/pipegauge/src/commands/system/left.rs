//! What sweeps left changed that were killed: put back where this process may, else told.

use host::doctor::{Finding, Level};

use super::back::{self, Became};
use super::here::{Here, Place};
use super::journal::{Folder, Found, Setting, Taken, Taking};
use super::setting;
use crate::config::system::{Knob, VARIABLE};
use crate::out;

/// The finding's name.
const NAME: &str = "changed-settings";

/// Looks into the journals, puts back what is left, and tells of it; nothing where nothing was left.
pub fn left() -> Vec<Finding> {
    let mut told = Vec::new();
    for folder in Folder::all() {
        match folder.is_there() {
            Ok(true) => folder.journals().iter().for_each(|journal| told.extend(of(journal))),
            Ok(false) => {}
            // In a user namespace root's folder is nobody's: nothing of it concerns who is there.
            Err(_) if folder.is_the_systems() => {}
            Err(e) => told.push(warning(format!("{e:#}"), "what it says of changed settings is not believed")),
        }
    }
    told
}

/// Says before a measurement what killed sweeps left changed in this network, and how it is put back. It is looked at alone: a command that
/// changes nothing puts nothing back either.
pub fn warn() {
    for journal in
        Folder::all().iter().filter(|folder| matches!(folder.is_there(), Ok(true))).flat_map(Folder::journals)
    {
        if let Some(found) = still_changed(&journal) {
            out::tell_prose(&format!(
                "warning: {found} -> pipegauge doctor puts back what is left; then measure again"
            ));
        }
    }
}

/// What a journal tells of that is not as it was; none where there is nothing of that sort in this network.
fn still_changed(journal: &Found) -> Option<String> {
    if journal.lives() || journal.is_unborn() {
        return None;
    }
    let of = format!("a sweep that was killed (process {}", journal.pid);
    let entry = match journal.read() {
        Ok(entry) => entry?,
        Err(e) if is_refused(&e) => {
            let file = journal.file.display();
            return Some(format!(
                "{of}) may have left settings of this system changed, and its journal is root's: {file}"
            ));
        }
        // `doctor` says what is wrong with it.
        Err(_) => return None,
    };
    if Here::now().ok()?.place(&entry.here()) != Place::Here {
        return None;
    }
    let changed = |setting: &Setting| {
        let knob = Knob::kept(&setting.name)?.ok()?;
        let now = setting::read(&knob).ok().filter(|now| *now != setting.was)?;
        Some(format!("{} is {now}, and was {} before it", knob.what(), setting.was))
    };
    let all: Vec<String> = entry.settings.iter().filter_map(changed).collect();
    let begun = report::words::plain(&entry.started);
    (!all.is_empty()).then(|| format!("{of}, begun {begun}) left settings of this system changed: {}", all.join("; ")))
}

/// The same for whoever asks how the system is: where nothing was left, which folders say so.
pub fn examined() -> Vec<Finding> {
    let told = left();
    if !told.is_empty() {
        return told;
    }
    let folders: Vec<String> = Folder::all().iter().map(|folder| folder.path().display().to_string()).collect();
    let found = match &folders[..] {
        [] => format!("no folder has journals of changes: {VARIABLE} names one"),
        all => format!(
            "none is left by a killed sweep, as far as the journals in {} tell; {VARIABLE} names another folder",
            all.join(" and ")
        ),
    };
    vec![Finding { name: NAME.to_owned(), level: Level::Good, found, remedy: None }]
}

fn warning(found: String, remedy: impl Into<String>) -> Finding {
    Finding { name: NAME.to_owned(), level: Level::Warn, found, remedy: Some(remedy.into()) }
}

/// One journal.
fn of(journal: &Found) -> Vec<Finding> {
    if journal.lives() {
        return Vec::new();
    }
    if journal.is_unborn() {
        let _ = journal.remove();
        return Vec::new();
    }
    let file = journal.file.display();
    let taken = match journal.take() {
        Ok(Taking::Of(taken)) => taken,
        Ok(Taking::Gone) => return Vec::new(),
        Ok(Taking::Busy) => {
            let found = format!(
                "a sweep was killed (process {}), and what it began to change is under way yet, or another pipegauge puts it back: {file}",
                journal.pid
            );
            return vec![warning(
                found,
                "run pipegauge doctor again; `fuser -v` of that file tells which command hangs",
            )];
        }
        Err(e) if is_refused(&e) => {
            let found = format!(
                "a sweep that was killed (process {}) may have left settings of this system changed: {file}",
                journal.pid
            );
            return vec![warning(found, "as root: sudo pipegauge doctor puts them back")];
        }
        Err(e) => return vec![warning(format!("{e:#}"), "it may tell of settings that a sweep left changed")],
    };
    let entry = &taken.entry;
    let here = match Here::now() {
        Ok(here) => here,
        Err(e) => {
            return vec![warning(format!("{e:#}"), format!("{file} tells of settings that a sweep left changed"))];
        }
    };
    let there = entry.here();
    match here.place(&there) {
        Place::Here => put_back(journal, &taken),
        // Its settings went with it.
        Place::Gone => removed(journal),
        Place::Elsewhere => {
            let found = format!(
                "a sweep that was killed (process {}) left settings changed in another network namespace, {}: {file}",
                journal.pid, there.network
            );
            let remedy =
                format!("run pipegauge doctor there (nsenter --net=...); where that namespace is gone, remove {file}");
            vec![warning(found, remedy)]
        }
    }
}

/// Puts back what a journal of this network tells.
fn put_back(journal: &Found, taken: &Taken) -> Vec<Finding> {
    let file = journal.file.display();
    let (settings, started) = (&taken.entry.settings, &taken.entry.started);
    let known = settings.iter().map(|setting| Some((Knob::kept(&setting.name)?.ok()?, setting)));
    let fitting = known.map(|known| known.filter(|(knob, setting)| knob.fits(&setting.was)));
    let Some(all) = fitting.collect::<Option<Vec<_>>>() else {
        return vec![warning(
            format!("{file} tells of a setting that this program does not know, and nothing of it is put back"),
            "look at it, and remove it",
        )];
    };
    let all: Vec<(&Knob, &Setting)> = all.iter().map(|(knob, setting)| (knob, *setting)).collect();
    let judged: Vec<_> = all.iter().map(|(knob, setting)| back::judged(knob, setting)).collect();
    let became = back::put_back(&all, &judged, Some(&taken.lock));
    let mut told = Vec::new();
    for ((knob, setting), became) in all.iter().zip(&became) {
        let of = format!("a sweep that was killed (process {}, begun {})", journal.pid, report::words::plain(started));
        if let Became::Back(from) = became {
            let found = format!("{of} had left {} at {from}: put back to {}", knob.what(), setting.was);
            told.push(Finding { name: NAME.to_owned(), level: Level::Note, found, remedy: None });
        } else if let Some(text) = became.fell_short(knob, setting) {
            let remedy = match became {
                Became::Kept(_) => "run pipegauge doctor as root (sudo): it tries again".to_owned(),
                _ => "nothing, if that is as it should be: this is told once".to_owned(),
            };
            told.push(warning(format!("of {of}: {text}"), remedy));
        }
    }
    if !became.iter().any(Became::is_kept) {
        told.extend(removed(journal));
    }
    told
}

/// Removes a journal that is worked off.
fn removed(journal: &Found) -> Vec<Finding> {
    let failed = journal.remove().err();
    failed.map(|e| warning(format!("{e:#}"), "remove it by hand: it is worked off")).into_iter().collect()
}

/// Whether it is another user's.
fn is_refused(error: &anyhow::Error) -> bool {
    let refused = |e: &std::io::Error| e.kind() == std::io::ErrorKind::PermissionDenied;
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(refused))
}
