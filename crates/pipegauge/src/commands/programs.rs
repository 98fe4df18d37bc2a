//! Programs of the system that networks are made and set with: those of iproute2, ethtool, util-linux.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Result, bail};

use crate::exit::Exit;

/// Places where an administrator's programs are, which a user's PATH may lack.
const PLACES: [&str; 2] = ["/usr/sbin", "/sbin"];
/// Longest text of an error that is kept, characters.
const SAID: usize = 300;

/// PATH with these places at its end.
pub fn path() -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&own).chain(PLACES.map(PathBuf::from));
    std::env::join_paths(all).unwrap_or(own)
}

/// An error with the package to install where one of these is missing. `what` needs them.
pub fn needed<'a>(what: &str, programs: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let installed = |program: &str| std::env::split_paths(&path()).any(|place| place.join(program).is_file());
    if let Some(program) = programs.into_iter().find(|program| !installed(program)) {
        bail!("{what} needs the program {program}: install it (apt install {})", package(program));
    }
    Ok(())
}

/// Debian's package of a program.
fn package(program: &str) -> &str {
    match program {
        "ip" | "tc" => "iproute2",
        "unshare" => "util-linux",
        other => other,
    }
}

/// A command that did not do what it was started for.
#[derive(Debug)]
pub struct Failed {
    /// Its line.
    line: String,
    /// What it said.
    pub why: String,
    /// Whether it was started at all.
    pub started: bool,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.started { "failed" } else { "can't be started" };
        write!(f, "`{}` {what}: {}", self.line, self.why)
    }
}

/// Runs one command to its end, without input; what it printed. Ctrl-C at the terminal does not reach it: what it began is done whole.
pub fn ran(step: &[String]) -> Result<String, Failed> {
    let failed = |why: String, started| Failed { line: report::words::command(step), why, started };
    let Some((program, words)) = step.split_first() else { return Ok(String::new()) };
    let mut line = Command::new(program);
    line.args(words).env("PATH", path()).env("LC_ALL", "C").process_group(0);
    line.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = line.output().map_err(|e| failed(e.to_string(), false))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = units::received::clean(String::from_utf8_lossy(&done.stderr).trim(), SAID);
    Err(failed(if said.is_empty() { format!("it ended with {}", code(done.status)) } else { said }, true))
}

/// The exit code of a command, as a shell has it.
pub fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(i32::from(Exit::CouldNot.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_a_command_says_is_told_whether_it_printed_failed_or_is_not_there() {
        assert_eq!(ran(&step(&["sh", "-c", "echo one; echo two >&2"])).unwrap(), "one\n");
        let failed = ran(&step(&["sh", "-c", "echo no >&2; exit 3"])).unwrap_err();
        assert!(failed.started && failed.why == "no" && failed.to_string().ends_with("failed: no"), "{failed}");
        assert_eq!(ran(&step(&["sh", "-c", "exit 3"])).unwrap_err().why, "it ended with 3");
        let missing = ran(&step(&["no-such-program-here"])).unwrap_err();
        assert!(!missing.started && missing.to_string().contains("can't be started"), "{missing}");
    }

    #[test]
    fn a_missing_program_is_told_with_its_package() {
        assert!(needed("a test", ["sh"]).is_ok());
        let e = needed("a test", ["sh", "no-such-program-here"]).unwrap_err().to_string();
        assert!(e.contains("a test needs the program no-such-program-here") && e.contains("apt install"), "{e}");
    }
}
