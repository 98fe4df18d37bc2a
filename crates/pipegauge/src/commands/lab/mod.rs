//! `pipegauge lab`: hosts on this machine, for one command.
//!
//! Everything lies in namespaces that no name outside leads to: of mounts (so that `ip netns exec h2` finds the hosts here and nowhere else) and of
//! processes, whose first process makes the hosts and runs the command (`inside`). When that process ends, for whatever reason, the kernel ends
//! all others, and with the last of them the namespaces and interfaces go. So there is nothing to tidy up, and nothing that could be left.

mod inside;
mod rights;

use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use rustix::io::FdFlags;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::module::apart;
use super::programs::{self, code};
use crate::config::lab::Lab;
use crate::exit::{Exit, no_json};
use crate::flags::LabFlags;
use crate::out;

pub use inside::inside;

/// The variable that tells the first process within what to make.
const PLAN: &str = "PIPEGAUGE_LAB_PLAN";
/// How often the command is looked after.
const LOOK: Duration = Duration::from_millis(20);

/// How long the command may take to end once a signal asked it to.
const ENDS: Duration = Duration::from_secs(5);

/// What the first process within is told.
#[derive(Debug, Serialize, Deserialize)]
struct Inside {
    lab: Lab,
    command: Vec<String>,
    /// Its end of the pipe that ends with this process and brings signals.
    pipe: i32,
}

/// Makes the hosts, runs the command in the first, and ends with its exit code.
pub fn lab(flags: &LabFlags, json: bool) -> Result<Exit> {
    if std::env::var_os(apart::WATCHER).is_some() {
        apart::ends_with_its_watcher();
    }
    let lab = Lab::resolve(flags)?;
    no_json(json, if flags.dry_run { "lab --dry-run" } else { "lab" })?;
    if flags.dry_run {
        out::text(&lab.steps().iter().map(|step| report::words::command(step) + "\n").collect::<String>())?;
        return Ok(Exit::Ok);
    }
    needed(&lab)?;
    let command = if flags.command.is_empty() { vec![shell()] } else { flags.command.clone() };
    let signals = [SIGINT, SIGTERM, SIGHUP].map(|signal| (signal, Arc::new(AtomicBool::new(false))));
    for (signal, came) in &signals {
        flag::register(*signal, Arc::clone(came))?;
    }
    let (theirs, ours) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // The process within inherits its end alone.
    rustix::io::fcntl_setfd(&theirs, FdFlags::empty())?;
    let pipe = std::os::fd::AsRawFd::as_raw_fd(&theirs);
    let mut child = begun(&Inside { lab, command, pipe })?;
    drop(theirs);
    let status = looked_after(&mut child, ours, &signals)?;
    std::process::exit(code(status));
}

/// Programs that make it.
fn needed(lab: &Lab) -> Result<()> {
    let more = [("tc", lab.rate.is_some()), ("ethtool", !lab.offloads.is_empty())];
    let always = [("ip", true), ("unshare", true), ("mount", true)];
    let wanted = always.into_iter().chain(more).filter(|(_, wanted)| *wanted);
    programs::needed("a laboratory", wanted.map(|(program, _)| program))
}

fn shell() -> String {
    std::env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned())
}

/// Starts the first process within namespaces of its own. Who lacks the rights becomes root there, where the system lets them.
fn begun(inside: &Inside) -> Result<Child> {
    let own = std::env::current_exe().context("finding this program's own file")?;
    let mut line = Command::new("unshare");
    line.args(rights::namespaces()?);
    line.arg("--").arg(own).arg("lab-inside").env("PATH", programs::path()).env(PLAN, serde_json::to_string(inside)?);
    line.env_remove(apart::WATCHER);
    line.spawn().map_err(|e| anyhow!("unshare can't be started: {e}"))
}

/// Waits for the end and hands signals on. Ctrl-C reaches the command from its terminal: it is not sent twice, and a shell lives on after it. A
/// command that heeds no signal is killed in the end, with all that it started: after a while, or at a second signal (of a closed terminal two
/// may come).
fn looked_after(child: &mut Child, pipe: OwnedFd, signals: &[(i32, Arc<AtomicBool>)]) -> Result<ExitStatus> {
    let mut pipe = std::fs::File::from(pipe);
    let at_terminal = std::fs::read_to_string("/proc/self/stat").is_ok_and(|stat| in_foreground(&stat));
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let mut again = false;
        for (signal, came) in signals {
            if came.swap(false, Ordering::Relaxed) && !(*signal == SIGINT && at_terminal) {
                again |= asked.is_some() && *signal != SIGHUP;
                asked.get_or_insert_with(Instant::now);
                // Where nobody reads any more, the end comes at once.
                let _ = pipe.write_all(&[*signal as u8]);
            }
        }
        if again || asked.is_some_and(|asked| asked.elapsed() >= ENDS) {
            out::tell("pipegauge: the command did not end when it was asked to, and is killed");
            // The first process within dies with it (`--kill-child`), and with that one all others.
            child.kill()?;
            return Ok(child.wait()?);
        }
        std::thread::sleep(LOOK);
    }
}

/// Whether a process's group has its terminal, as its line in `/proc` says (proc(5): `pgrp`, `tpgid`). Not asked of the system: within a
/// laboratory the group may have no number.
fn in_foreground(stat: &str) -> bool {
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    fields.get(2).is_some_and(|group| fields.get(5) == Some(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_in_the_foreground_where_its_group_has_the_terminal() {
        for (stat, is) in [
            ("12 (a) b) S 1 40 40 34816 40 4194304 0", true),
            ("12 (sh) S 1 40 40 34816 41 4194304 0", false),
            ("12 (sh) S 1 40 40 0 -1 4194304 0", false),
            ("", false),
        ] {
            assert_eq!(in_foreground(stat), is, "{stat}");
        }
    }
}
