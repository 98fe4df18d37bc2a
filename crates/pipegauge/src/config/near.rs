//! `--near`, `--near-under`, `--peer-under`: where the near side runs, and what the processes of both sides run under.
//!
//! Only flags say so, never a file: each names programs that are run.

use anyhow::{Result, anyhow, bail};
use measure::Cache;
use measure::event::Plan;
use rendezvous::Far;

use super::{check, far, pin, score, words};
use crate::flags::RunFlags;

/// Another host that leads the run: its near processes run there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// `user@host` or `user@host:port`.
    pub target: String,
    /// The program there.
    pub program: String,
}

/// Where the near side runs; none where that is here.
pub fn resolve(flags: &RunFlags) -> Result<Option<Near>> {
    let Some(near) = flags.common.near.as_deref() else { return Ok(None) };
    let Some(target) = near.strip_prefix("ssh://") else {
        bail!(
            "--near {near}: the near side is started by ssh: write ssh://user@host, or leave it out to measure from this host"
        );
    };
    if flags.trace.is_some() {
        bail!(
            "--trace writes a file where the near side runs, and with --near that is another host; leave one of them out"
        );
    }
    Ok(Some(Near { target: far::ssh_target("--near", near, target)?, program: far::remote_program(flags) }))
}

/// The words of a wrapper that a flag names; empty where it was not given.
pub fn under(flag: &str, text: Option<&String>) -> Result<Vec<String>> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let words = words::split(text).ok_or_else(|| anyhow!("{flag} '{text}': a quote in it never ends; close it"))?;
    if words.first().is_none_or(String::is_empty) {
        bail!(
            "{flag} names no program: write the command that the process runs under, for example {flag} 'numactl -N0'"
        );
    }
    Ok(words)
}

/// Makes of a plan that another host asked for what it is on this one, which leads it: the near side's CPU, the pool of cold memory. The
/// same is checked as where a plan is made and measured on one host.
pub fn settled(plan: &mut Plan, pins: &str, far: &Far) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    if plan.cache == Cache::Cold {
        plan.pool = super::cold_pool(&mut notes);
    }
    plan.pin = pin::resolve(pins, far, &mut notes)?;
    score::fits(plan, far, host::memory(&host::Root::system()))?;
    rendezvous::check(plan).map_err(|why| anyhow!(why))?;
    check::available(plan, far)?;
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::typed::typed;

    fn refused(line: &str) -> String {
        format!("{:#}", typed(line).expect_err(line))
    }

    #[test]
    fn a_wrapper_is_split_into_words_without_a_shell() {
        let of = |text: &str| under("--near-under", Some(&text.to_owned()));
        assert_eq!(of("ip netns exec 'a b' ").unwrap(), ["ip", "netns", "exec", "a b"]);
        assert_eq!(of("env X=$HOME;ls").unwrap(), ["env", "X=$HOME;ls"], "nothing is a shell's");
        assert!(under("--near-under", None).unwrap().is_empty());
        for (bad, said) in [("'x", "never ends"), (" ", "names no program"), ("''", "names no program")] {
            assert!(of(bad).unwrap_err().to_string().contains(said), "{bad}");
        }
    }

    #[test]
    fn the_near_side_runs_where_the_flag_says() {
        assert_eq!(typed("tcp").unwrap().near, None);
        let config = typed("tcp --near ssh://u@a:22 --peer ssh://b --remote-program /opt/p").unwrap();
        assert_eq!(config.near, Some(Near { target: "u@a:22".into(), program: "/opt/p".into() }));
        assert_eq!(config.plan.pin, None, "the near host chooses its CPU");
        // One host on both sides is one host: paths within it can be measured there.
        let one = typed("shm memcpy --near ssh://u@a --peer ssh://u@a").unwrap();
        assert!(matches!(one.far, Far::Local { .. }));
        assert!(matches!(typed("shm --near ssh://a").unwrap().far, Far::Local { .. }));
        let pinned = typed("tcp --near ssh://a --pin 4000,5000").unwrap();
        assert_eq!(pinned.plan.pin, Some((4000, 5000)), "another host may have them");
    }

    #[test]
    fn what_can_not_run_there_is_refused_with_what_to_do() {
        for (line, says) in [
            ("tcp --near a", "ssh://user@host"),
            ("tcp --near ssh://-oX", "ssh://user@host"),
            ("shm --near ssh://a --peer ssh://b", "works only between processes of one host"),
            ("tcp --near ssh://a --trace x", "leave one of them out"),
            ("tcp --near ssh://a --pin x", "A,B"),
            ("memcpy --near-under env", "start the command under the wrapper"),
            ("theory --peer-under env", "start the command under the wrapper"),
            ("tcp --flows 2 --near-under env", "measure --pairs"),
            ("tcp --load 1 --near-under env", "measure --pairs"),
            ("tcp --both --pattern stream --near-under env", "measure --pairs"),
            ("tcp --pattern connect --near-under env", "start the command itself under the wrapper"),
            ("tcp --trace x --near-under env", "--near-under"),
            ("tcp --peer h:1 --key k --peer-under env", "start `pipegauge serve` there under it"),
            ("tcp --peer h:1 --key k --peer-address x", "HOST of --peer HOST:PORT"),
            ("shm memcpy --peer-address x", "--peer-address changes nothing here: it is for"),
            ("tcp --remote-program x", "or to --near"),
        ] {
            let said = refused(line);
            assert!(said.contains(says), "{line}: {said}");
        }
    }
}
