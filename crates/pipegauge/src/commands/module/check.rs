//! `pipegauge module check`: each case in a process of its own, so that what crashes or hangs in one says so and the others go on.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use transport::{Settings, Transport};

use super::cases::{self, CASES};
use super::{apart, describe};
use crate::document::{CheckedCase, ModuleDocument, Outcome};
use crate::exit::Exit;
use crate::out;

/// First cases that are about nothing but messages that arrive.
const BASIC: usize = 2;

/// More than the waits in any case together, each as long as the patience.
const WAITS: u32 = 12;
/// Longest time of a case in which something moves all the time, whatever the patience.
const MOVES: Duration = Duration::from_secs(120);
/// A case that waited for all of the patience in vain leaves the others this part of it: they may do so, too.
const REST: f64 = 0.3;

/// What came of a case that is tried in a process of its own with these settings, as another process reads them, and whether it took its whole patience.
fn attempt(case: &str, file: &Path, settings: &str, patience: Duration) -> (Result<(), String>, bool) {
    let (since, given) = (Instant::now(), patience.as_secs_f64().to_string());
    let more = [case, "--patience", &given, "--settings", settings];
    let done = apart::run(&["module", "try"], file, &more, (patience * WAITS).max(MOVES));
    (done.map(drop), since.elapsed() >= patience)
}

/// What is set on every link that is tried, as it was typed: `option=value`, or several apart by commas.
fn read(module: &dyn Transport, typed: &[String]) -> Result<Settings> {
    let mut settings = Settings::default();
    for item in typed.iter().flat_map(|text| text.split(',')) {
        let (option, value) = item.split_once('=').ok_or_else(|| {
            anyhow!(
                "--set {item}: it is not of the form option=value, as in a path (pipegauge run {}:option=value)",
                module.name()
            )
        })?;
        settings.read(module.options(), option, value).map_err(|e| anyhow!("--set {item}: {}: {e}", module.name()))?;
    }
    Ok(settings)
}

/// Tries everything that the interface asks of a module, on links with these settings, and says what is wrong.
pub fn check(file: &Path, set: &[String], patience: Duration, json: bool) -> Result<Exit> {
    let module = describe::described(file).map_err(anyhow::Error::msg)?;
    let settings = read(module, set)?;
    let handed = serde_json::to_string(&settings)?;
    let can = module.capabilities(&settings);
    if let Err(why) = module.availability() {
        anyhow::bail!("{} can't be used here, so that nothing of it can be tried: {why}", file.display());
    }
    if !json {
        let (name, version) = (module.name(), module.version());
        let set = if set.is_empty() { String::new() } else { format!(" with {}", set.join(",")) };
        out::text(&format!("{name} {version}{set}: {} ({})\n", module.summary(), cases::kind(&can)))?;
    }
    let mut tried = Vec::new();
    // A module that loses what it is given has each case wait: the first for long, so that a busy machine breaks none.
    let (whole, mut patience) = (patience, patience);
    // How many of the first cases failed so: they only send and receive, so that none after them tells more where nothing arrives.
    let mut in_vain = 0;
    for case in &CASES {
        let launched = !module.launch().is_empty();
        let outcome = match case.name {
            _ if in_vain == BASIC => {
                Outcome::Skipped { why: "not tried: the cases above are to go well first".to_owned() }
            }
            _ if !(case.applies)(&can) => Outcome::Skipped { why: "it does not say that it can".to_owned() },
            // There is no peer left to tell it.
            "death" | "leaving" if launched => {
                Outcome::Skipped { why: "its launcher ends all its processes".to_owned() }
            }
            _ => match attempt(case.name, file, &handed, patience) {
                (Ok(()), _) => Outcome::Passed,
                // The check has both ends of a link in one process.
                (Err(why), _) if launched => Outcome::Skipped {
                    why: format!("not judged: one process sends to itself here, and its launcher makes two: {why}"),
                },
                (Err(mut why), waited) => {
                    if waited {
                        why += " (--patience gives it more time)";
                        patience = whole.mul_f64(REST);
                        in_vain += usize::from(in_vain == tried.len());
                    }
                    Outcome::Failed { why }
                }
            },
        };
        if !json {
            let (word, why) = match &outcome {
                Outcome::Passed => ("ok", String::new()),
                Outcome::Failed { why } => ("WRONG", format!(": {why}")),
                Outcome::Skipped { why } => ("-", format!(" ({why})")),
            };
            let line = format!("{}{why}", case.what);
            out::text(&report::text::hanging(&format!("  {word:<5}  {:<9} ", case.name), &line, 19, out::prose()))?;
        }
        tried.push(CheckedCase { name: case.name, what: case.what, outcome });
    }
    let wrong = tried.iter().filter(|case| matches!(case.outcome, Outcome::Failed { .. })).count();
    // What failed in every case is no module, whatever its excuse.
    let right = tried.iter().any(|case| matches!(case.outcome, Outcome::Passed));
    let exit = if wrong == 0 && right { Exit::Ok } else { Exit::Short };
    if json {
        out::json(&ModuleDocument::new(file, module.name().as_str(), module.version(), tried))?;
    } else {
        let passed = tried.iter().filter(|case| matches!(case.outcome, Outcome::Passed)).count();
        out::text(&format!("{passed} right, {wrong} wrong, {} not tried\n", tried.len() - passed - wrong))?;
    }
    Ok(exit)
}
