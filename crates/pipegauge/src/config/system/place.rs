//! Where the journal of changes to the system is kept: a folder that nobody else may write into. Whoever could would have root set what they like.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};

use crate::config::history;

/// Names another folder.
pub const VARIABLE: &str = "PIPEGAUGE_JOURNAL";
/// The system's own, which is root's. It goes with the next start of the system, as the settings do.
pub const SYSTEMS: &str = "/run/pipegauge";

/// The folder of this process.
///
/// # Errors
/// Nothing says which, or the variable names one that is not from the root.
pub fn own(root: bool, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    match variable(VARIABLE).map(PathBuf::from) {
        Some(named) if named.is_absolute() => return Ok(named),
        Some(named) => bail!("{VARIABLE}={}: name a folder from the root", named.display()),
        None => {}
    }
    if root {
        return Ok(SYSTEMS.into());
    }
    let state = history::state(&variable);
    let none = || {
        anyhow!(
            "no folder for the journal of changes: neither {VARIABLE} nor XDG_STATE_HOME nor HOME names one from the root"
        )
    };
    state.map(|state| state.join("pipegauge/system")).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_one_named_else_the_systems_or_the_users() {
        let with = |root: bool, set: &[(&str, &str)]| {
            let found = own(root, |name| set.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()));
            found.map(|p| p.display().to_string()).ok()
        };
        let home = ("HOME", "/home/a");
        assert_eq!(with(true, &[home]).as_deref(), Some("/run/pipegauge"));
        assert_eq!(with(false, &[home]).as_deref(), Some("/home/a/.local/state/pipegauge/system"));
        assert_eq!(with(false, &[("XDG_STATE_HOME", "/s")]).as_deref(), Some("/s/pipegauge/system"));
        assert_eq!(with(true, &[(VARIABLE, "/j")]).as_deref(), Some("/j"));
        assert_eq!((with(true, &[(VARIABLE, "j")]), with(false, &[])), (None, None));
    }
}
