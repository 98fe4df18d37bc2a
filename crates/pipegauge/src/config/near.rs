//! `--near`, `--near-under`, `--peer-under`: where the near side runs, and what the processes of both sides run under.
//!
//! Only flags say so, never a file: each names programs that are run.

use anyhow::{Result, anyhow, bail};
use measure::event::Plan;
use measure::{Cache, Topology};
use rendezvous::{Far, Nears};

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

/// Where the near side runs; none where that is here, or its processes are spread over several hosts.
pub fn resolve(flags: &RunFlags) -> Result<Option<Near>> {
    let [near] = &flags.common.near[..] else { return Ok(None) };
    Ok(Some(Near { target: target(flags, near)?, program: far::remote_program(flags) }))
}

/// The hosts that near processes are spread over; none where one host has all of them.
pub fn spread(flags: &RunFlags) -> Result<Option<Nears>> {
    let several = &flags.common.near;
    if several.len() < 2 {
        return Ok(None);
    }
    let targets: Vec<String> = several.iter().map(|near| target(flags, near)).collect::<Result<_>>()?;
    if let Some(twice) = targets.iter().enumerate().find(|(i, one)| targets[..*i].contains(one)) {
        bail!(
            "--near ssh://{} is named twice: near processes take the hosts in turn, so that one name is enough",
            twice.1
        );
    }
    Ok(Some(Nears { targets, program: far::remote_program(flags), pin: pin::near(&flags.common.pin) }))
}

/// Whether the paths of a plan have near processes that can be spread so.
pub fn spreads(plan: &Plan, nears: &Nears, far: &Far) -> Result<()> {
    let hosts = nears.targets.len();
    for (number, path) in (0..).zip(&plan.paths) {
        let (name, can) = (path.name(), path.capabilities());
        if !can.two_ended {
            bail!(
                "{name}: one process plays both ends, and {hosts} hosts are named for near processes (leave it out, or the --near)"
            );
        }
        if !path.topology.has_members() || path.topology == Topology::Group {
            bail!(
                "{name}: several --near are for near processes of their own, which these hosts take in turn: --topology fan-in or fan-out with \
                 --members N, or --pairs N"
            );
        }
        if can.local_only {
            bail!("{name} works only between processes of one host, and {hosts} are named (--near)");
        }
        let processes = path.topology.near_processes(plan.connections(number));
        if (processes as usize) < hosts {
            bail!(
                "{name}: {processes} near processes leave some of {hosts} hosts without one; ask for more ({}), or name fewer (--near)",
                path.topology.flag()
            );
        }
    }
    if matches!(far, Far::Local { at, .. } if at.is_empty()) {
        bail!(
            "the near hosts must know how to reach the far side on this host: name its address with --peer-address, or another host with --peer"
        );
    }
    Ok(())
}

/// The ssh target of one --near.
fn target(flags: &RunFlags, near: &str) -> Result<String> {
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
    far::ssh_target("--near", near, target)
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
    use measure::event::PathPlan;
    use rendezvous::FarPin;
    use transport::Settings;

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
    fn near_processes_are_spread_over_the_hosts_that_are_named() {
        let two = "--near ssh://a --near ssh://u@b:22";
        let config = typed(&format!("tcp --topology fan-in --members 3 {two} --peer ssh://c --pin 4000,5000")).unwrap();
        assert!(config.near.is_none(), "this command leads");
        let nears = config.nears.unwrap();
        assert_eq!((nears.targets, nears.pin), (vec!["a".to_owned(), "u@b:22".to_owned()], FarPin::Cpu(4000)));
        assert!(matches!(config.far, Far::Ssh { .. }));
        assert_eq!(config.plan.pin.map(|(_, far)| far), Some(5000));
        assert!(typed(&format!("tcp --pairs 2 {two} --peer-address 10.0.0.1")).unwrap().nears.is_some());
        for (line, says) in [
            ("tcp --peer ssh://c", "--topology fan-in or fan-out with --members N"),
            ("tcp --flows 4 --peer ssh://c", "--members N"),
            ("multicast --peer-address x", "--members N"),
            ("memcpy tcp --pairs 2 --peer ssh://c", "one process plays both ends"),
            ("unix --pairs 2", "works only between processes of one host"),
            ("tcp --topology fan-in --members 1 --peer ssh://c", "leave some of 2 hosts without one"),
            ("tcp --topology fan-in --members 2", "--peer-address"),
            ("tcp --topology fan-in --members 2 --near ssh://a --peer ssh://c", "is named twice"),
            ("tcp --topology fan-in --members 2 --near x --peer ssh://c", "ssh://user@host"),
            ("tcp --pairs 2 --peer ssh://c --trace x", "leave one of them out"),
        ] {
            let said = refused(&format!("{line} {two}"));
            assert!(said.contains(says), "{line}: {said}");
        }
    }

    #[test]
    fn what_a_path_reaches_is_said_by_its_settings() {
        let config = typed("tcp --topology fan-in --members 2 --near ssh://a --near ssh://b --peer ssh://c").unwrap();
        let nears = config.nears.unwrap();
        let over = |settings: Settings| {
            let mut plan = config.plan.clone();
            plan.paths[0] = PathPlan { transport: transport::vsock::NAME, settings, ..plan.paths[0].clone() };
            spreads(&plan, &nears, &config.far).err().map(|e| e.to_string())
        };
        assert!(over(Settings::default()).unwrap().contains("works only between processes of one host"));
        assert_eq!(over(Settings::default().with("cid", 3u64)), None, "another machine");
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
