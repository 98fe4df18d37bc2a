//! The first process within a laboratory's namespaces: makes the hosts, runs the command, and ends everything with it.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::{Inside, PLAN};
use crate::commands::programs::{self, code};
use crate::config::lab::{LINK, Lab, as_sysctl};
use crate::exit::Exit;

/// Where iproute2 keeps the names of network namespaces.
const NAMES: &str = "/run/netns";
/// How long a link may take to be up.
const LINKS: Duration = Duration::from_secs(10);

/// Does it, and exits.
pub fn inside() -> Result<Exit> {
    let plan = std::env::var(PLAN).map_err(|_| anyhow!("this is a part of `pipegauge lab`, which starts it"))?;
    let Inside { lab, command, pipe } = serde_json::from_str(&plan).context("reading the laboratory's plan")?;
    let pipe = taken(pipe)?;
    place(&lab)?;
    lab.steps().iter().try_for_each(|step| made(step))?;
    (1..=lab.hosts).try_for_each(|n| linked(&Lab::host(n)))?;
    let mut line = Command::new("ip");
    // A command that is not there ends env with 127, and one that can't be started with 126, as in any shell.
    line.args(["netns", "exec", &Lab::host(1), "env", "--"]).args(&command).env_remove(PLAN);
    for n in 1..=lab.hosts {
        line.env(format!("H{n}"), Lab::address(n).to_string()).env(format!("H{n}_IPV6"), Lab::address6(n));
    }
    let mut child = line.spawn().context("starting the command")?;
    heed(pipe, &child);
    let status = child.wait().context("waiting for the command")?;
    std::process::exit(code(status));
}

/// The pipe that ends when the command that was typed does.
fn taken(number: i32) -> Result<std::fs::File> {
    host::inherited(number).map(Into::into).context("taking over the laboratory's pipe")
}

/// A place for the hosts' names that no one else sees, and names for their addresses.
fn place(lab: &Lab) -> Result<()> {
    // Where this can't be made, as for who is not really root, all of /run is hidden.
    let over = if std::fs::create_dir_all(NAMES).is_ok() { NAMES } else { "/run" };
    let mounted = || made(&["mount", "-t", "tmpfs", "tmpfs", over].map(str::to_owned));
    mounted()?;
    std::fs::create_dir_all(NAMES).with_context(|| format!("making {NAMES}"))?;
    let names = Path::new(NAMES).join("hosts");
    std::fs::write(&names, lab.names()).with_context(|| format!("writing {}", names.display()))?;
    if Path::new("/etc/hosts").exists() {
        made(&["mount", "--bind", &names.display().to_string(), "/etc/hosts"].map(str::to_owned))?;
    }
    // Here that file would be taken for a host's name: it is hidden, not removed, so that /etc/hosts stays a place to mount at.
    mounted()?;
    std::fs::create_dir_all(NAMES).with_context(|| format!("making {NAMES}"))
}

/// Runs one command; what it says is in the error.
fn made(step: &[String]) -> Result<()> {
    let Err(failed) = programs::ran(step) else { return Ok(()) };
    match as_sysctl(step) {
        Some((name, value)) if failed.started => {
            bail!("--sysctl {name}={value}: {}", not_set(&name.to_string(), &failed.why))
        }
        _ => bail!("making the laboratory: {failed}"),
    }
}

/// Why a setting could not be made in a host. Those that the whole machine has are read-only in a namespace, or not there.
fn not_set(name: &str, said: &str) -> String {
    let refused = ["Permission denied", "Read-only", "No such file", "nonexistent", "Directory nonexistent"];
    match refused.iter().any(|words| said.contains(words)) {
        true => format!(
            "{name} is no setting that a host of a laboratory has of its own: it is the whole machine's, or this kernel does not have it \
             (sysctl {name} outside says which); leave it out, or set it for the machine"
        ),
        false => format!("the system refuses the value: {}", said.rsplit(": ").next().unwrap_or(said)),
    }
}

/// Waits until a host's link is up by what the kernel says of it: it says so a moment after both ends were set up, and programs that choose an interface as
/// they start leave out one that is down.
fn linked(host: &str) -> Result<()> {
    let until = Instant::now() + LINKS;
    loop {
        let told = Command::new("ip").args(["-n", host, "-br", "link", "show", "up", "dev", LINK]).output();
        let told = told.context("asking for the state of a link")?;
        let told = String::from_utf8_lossy(&told.stdout);
        if matches!(told.split_whitespace().nth(1), Some("UP" | "UNKNOWN")) {
            return Ok(());
        }
        if Instant::now() >= until {
            bail!(
                "making the laboratory: the link of host {host} was not up after {} s: {}",
                LINKS.as_secs(),
                told.trim()
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Hands signals on to the command as they come, and ends this process, and with it all others in here, with the pipe.
fn heed(mut pipe: std::fs::File, child: &Child) {
    let pid = Pid::from_child(child);
    std::thread::spawn(move || {
        let mut byte = [0];
        loop {
            match pipe.read(&mut byte) {
                Ok(0) => std::process::exit(i32::from(Exit::CouldNot.code())),
                Ok(_) => {
                    // It may have ended already.
                    let _ = Signal::from_named_raw(i32::from(byte[0])).map(|signal| kill_process(pid, signal));
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => std::process::exit(i32::from(Exit::CouldNot.code())),
            }
        }
    });
}
