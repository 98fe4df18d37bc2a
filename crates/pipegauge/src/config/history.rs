//! Where earlier runs are kept: a folder of the user's state, or the one that PIPEGAUGE_HISTORY names.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use record::history::Folder;

/// Names another folder.
const FOLDER_VARIABLE: &str = "PIPEGAUGE_HISTORY";

/// The folder; an error where nothing says which.
pub fn folder() -> Result<Folder> {
    of(|name| std::env::var_os(name).filter(|value| !value.is_empty())).map(Folder::at).ok_or_else(|| {
        anyhow!(
            "no folder for earlier runs: neither {FOLDER_VARIABLE} nor XDG_STATE_HOME nor HOME names one from the root"
        )
    })
}

fn of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = variable(FOLDER_VARIABLE).map(PathBuf::from);
    named.or_else(|| Some(state(&variable)?.join("pipegauge/history")))
}

/// The folder of the user's state, by the environment's variables.
pub fn state(variable: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG base directory specification has relative folders ignored. A relative home would be another one in each folder.
    let whole = |name| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || whole("HOME").map(|home| home.join(".local/state"));
    whole("XDG_STATE_HOME").or_else(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_one_named_else_a_folder_of_the_users_state() {
        let with = |set: &[(&str, &str)]| {
            let found = of(|name| set.iter().find(|(n, _)| *n == name).map(|(_, v)| v.into()));
            found.map(|p| p.display().to_string())
        };
        let home = ("HOME", "/home/a");
        assert_eq!(with(&[home]).as_deref(), Some("/home/a/.local/state/pipegauge/history"));
        assert_eq!(with(&[home, ("XDG_STATE_HOME", "/s")]).as_deref(), Some("/s/pipegauge/history"));
        assert_eq!(with(&[home, ("XDG_STATE_HOME", "s")]).as_deref(), Some("/home/a/.local/state/pipegauge/history"));
        assert_eq!(with(&[home, (FOLDER_VARIABLE, "h")]).as_deref(), Some("h"));
        assert_eq!(with(&[("HOME", "relative")]), None);
        assert_eq!(with(&[]), None);
    }
}
