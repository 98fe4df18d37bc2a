//! Whether the namespaces of a laboratory can be made here, and in which way: with the rights that this process has, or as root of a user
//! namespace of its own.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::commands::programs::path;

/// Rights that it takes, by their numbers in capabilities(7): `CAP_NET_ADMIN`, `CAP_SYS_ADMIN`.
const NEEDED: [u32; 2] = [12, 21];

/// Settings of the kernel that forbid user namespaces, with the value that does, and one that does not.
const FORBID: [(&str, &str, &str); 3] = [
    ("user.max_user_namespaces", "0", "10000"),
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
];

/// What `unshare` is told, once that was tried. The network is another one from the beginning: who is root of a user namespace alone may
/// make hosts, but not come back from one to a network that is not its own, as `ip netns add` does.
pub fn namespaces() -> Result<Vec<&'static str>> {
    let own = rustix::process::geteuid().is_root() && host::has_rights(&NEEDED);
    let mut words = vec!["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--net"];
    if !own {
        words.push("--map-root-user");
    }
    let mut line = Command::new("unshare");
    line.args(&words).args(["--", "true"]).env("PATH", path()).stdin(Stdio::null());
    let tried = line.output().context("unshare can't be started")?;
    if !tried.status.success() {
        let said = units::received::clean(String::from_utf8_lossy(&tried.stderr).trim(), 300);
        bail!("{}", refused(&words, &said, own, &forbidding(setting)));
    }
    Ok(words)
}

fn setting(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok()
}

/// The settings that forbid a user namespace: name, value, and a value that allows it.
fn forbidding(read: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, &'static str, &'static str)> {
    FORBID.into_iter().filter(|(name, forbids, _)| read(name).is_some_and(|found| found.trim() == *forbids)).collect()
}

fn refused(words: &[&str], said: &str, own: bool, forbid: &[(&str, &str, &str)]) -> String {
    let mut text = format!(
        "a laboratory needs namespaces of its own, and `unshare {} -- true` failed: {}",
        words.join(" "),
        said.trim_start_matches("unshare: ")
    );
    if own {
        return text
            + "; root has the rights here, and something else forbids it: in a container, start that with --privileged";
    }
    text += "; this process lacks the rights (CAP_SYS_ADMIN and CAP_NET_ADMIN), and can't get them in a user namespace";
    for (name, value, _) in forbid {
        text += &format!(", as {name} is {value}");
    }
    text += ": run it as root (sudo), in a container that was started with --privileged";
    for (name, _, allows) in forbid {
        text += &format!(", or after `sysctl {name}={allows}`");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_not_is_told_what_was_tried_what_was_found_and_what_to_do() {
        let found = |name: &str| match name {
            "user.max_user_namespaces" => Some("0\n".to_owned()),
            "kernel.apparmor_restrict_unprivileged_userns" => Some("0\n".to_owned()),
            _ => None,
        };
        let forbid = forbidding(found);
        assert_eq!(forbid.iter().map(|(name, ..)| *name).collect::<Vec<_>>(), ["user.max_user_namespaces"]);
        let text = refused(&["--net"], "unshare: unshare failed: No space left on device", false, &forbid);
        for part in [
            "`unshare --net -- true` failed: unshare failed: No space",
            "max_user_namespaces is 0",
            "sysctl user",
            "sudo",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(refused(&["--net"], "unshare failed", true, &[]).contains("--privileged"));
    }
}
