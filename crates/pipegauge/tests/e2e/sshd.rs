//! An sshd of a test's own, with its own keys and configuration, and the client's way to it.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::support::{Running, Scratch, installed, root, skip};

/// Keys, and a client that uses them whatever the person's own configuration says.
pub struct Login {
    sshd: PathBuf,
    /// A search path on which the client comes first.
    pub path: OsString,
}

fn keygen(file: &Path) {
    let done = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file).status();
    assert!(done.expect("ssh-keygen").success());
}

impl Login {
    /// None, having said why, where there can be none.
    pub fn make(dir: &Scratch) -> Option<Self> {
        let (Some(sshd), Some(ssh)) = (installed("sshd"), installed("ssh")) else {
            skip("openssh is not installed (openssh-server, openssh-client)");
            return None;
        };
        if !root() {
            skip("a private sshd that lets root in takes root");
            return None;
        }
        let at = |name: &str| dir.path(name).display().to_string();
        keygen(&dir.path("host_key"));
        keygen(&dir.path("user_key"));
        std::fs::copy(dir.path("user_key.pub"), dir.path("authorized")).unwrap();
        // sshd insists on this directory of its own, which its service would have made.
        let _ = std::fs::create_dir_all("/run/sshd");
        // The client's own configuration stays out of it, and so does the person's ~/.ssh.
        let client = format!(
            "#!/bin/sh\nexec {} -F none -i {} -o UserKnownHostsFile={} -o StrictHostKeyChecking=accept-new -o BatchMode=yes \"$@\"\n",
            ssh.display(),
            at("user_key"),
            at("known_hosts"),
        );
        let bin = dir.path("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("ssh"), client).unwrap();
        std::fs::set_permissions(bin.join("ssh"), Permissions::from_mode(0o755)).unwrap();
        let mut path = bin.into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Some(Self { sshd, path })
    }

    /// Starts an sshd that waits at this address, under these words where there are some.
    pub fn serve(&self, dir: &Scratch, under: &[&str], address: &str, port: u16) -> Running {
        let at = |name: &str| dir.path(name).display().to_string();
        let file = dir.path(&format!("sshd_{address}_{port}"));
        let config = format!(
            "Port {port}\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
             PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n",
            at("host_key"),
            at("authorized"),
        );
        std::fs::write(&file, config).unwrap();
        let mut words: Vec<OsString> = under.iter().map(OsString::from).collect();
        words.push(self.sshd.clone().into());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["-D", "-e", "-f"]).arg(&file).stdin(Stdio::null());
        Running::start(command)
    }
}
