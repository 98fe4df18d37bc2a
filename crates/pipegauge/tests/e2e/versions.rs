//! A far side that is not what the near side expects: another version, or another program.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use super::support::{Running, SHORT, Scratch, binary};

/// An `ssh` that runs the far side here, with its first line changed on the way by `sed`. So the near side meets a far
/// side of another version without a second build.
fn false_ssh(dir: &Scratch, edit: &str) -> std::ffi::OsString {
    let bin = dir.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nexport SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\nexec '{}' peer | sed -u '{edit}'\n",
        binary().display()
    );
    std::fs::write(bin.join("ssh"), script).unwrap();
    std::fs::set_permissions(bin.join("ssh"), Permissions::from_mode(0o755)).unwrap();
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    path
}

#[test]
fn another_version_on_the_far_side_is_named_with_both() {
    let dir = Scratch::new();
    let path = false_ssh(&dir, "1s/\"version\":\"[^\"]*\"/\"version\":\"9.8.7\"/");
    let mut args = vec!["run", "tcp", "--peer", "ssh://nobody@nowhere"];
    args.extend(SHORT);
    let mut command = dir.command(&args);
    command.env("PATH", path);
    Running::start(command).end().refuses(&["9.8.7", env!("CARGO_PKG_VERSION"), "same version"]);
}

#[test]
fn a_far_side_that_talks_nonsense_is_shown() {
    let dir = Scratch::new();
    let path = false_ssh(&dir, "s/.*/Welcome to this host!/");
    let mut args = vec!["run", "tcp", "--peer", "ssh://nobody@nowhere"];
    args.extend(SHORT);
    let mut command = dir.command(&args);
    command.env("PATH", path);
    let said = Running::start(command).end();
    said.refuses(&["far side"]);
}
