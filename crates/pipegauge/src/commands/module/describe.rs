//! What a module is, told by a process that loads it, so that what crashes, hangs or prints there does no harm here.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use transport::Settings;
use transport::module::{Description, Module};

use super::apart;
use crate::exit::Exit;
use crate::out;

/// What stands before the description: a module may print lines of its own.
const MARK: &str = "pipegauge-module/1 ";

/// The module of a file, as a process of its own describes it.
pub fn described(file: &Path) -> Result<&'static Module, String> {
    let told = ask(file, &Settings::default())?;
    // Any process can print a description: that of another transport would take its place.
    if file.file_stem().is_none_or(|stem| stem != told.name.as_str()) {
        let file = units::received::clean(&file.display().to_string(), 200);
        return Err(format!("{file}: it says that it is {}, so that its file has to be {0}.so", told.name));
    }
    Module::described(file, &told, ask)
}

/// Loads the file in this process, which is there for that, and prints what it is with these settings.
pub fn tell(file: &Path, settings: &str) -> Result<Exit> {
    let settings = self::settings(settings)?;
    let module = Module::load(file)?;
    let told = module.tell(&settings).map_err(|e| anyhow!("{}: {e}", file.display()))?;
    out::text(&format!("{MARK}{}\n", serde_json::to_string(&told)?))?;
    Ok(Exit::Ok)
}

/// Settings as one process hands them to another.
pub fn settings(text: &str) -> Result<Settings> {
    serde_json::from_str(text).context("reading the settings of a module")
}

/// Has another process load the file and say what the module can do with these settings.
fn ask(file: &Path, settings: &Settings) -> Result<Description, String> {
    let failed = |what: String| format!("{}: {what}", units::received::clean(&file.display().to_string(), 200));
    let settings = serde_json::to_string(settings).map_err(|e| failed(e.to_string()))?;
    let out = apart::run(&["module", "describe"], file, &["--settings", &settings], apart::LOADS)?;
    let line = out.lines().rev().find_map(|line| line.strip_prefix(MARK));
    let line = line.ok_or_else(|| failed("the process that loads it ended without a word about it".into()))?;
    serde_json::from_str(line).map_err(|e| failed(format!("what it says of itself can't be read: {e}")))
}
