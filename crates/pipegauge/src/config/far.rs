//! `--peer` and `--key`: where the far side runs.

use std::io::{BufRead, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use measure::event::Plan;
use rendezvous::{Far, Key, SshHost};

use crate::flags::RunFlags;

/// Where the key may stand, so that it is on no command line.
const KEY_VARIABLE: &str = "PIPEGAUGE_KEY";

/// What ssh runs on the other host where nobody named another program.
const DEFAULT_PROGRAM: &str = "pipegauge";

/// Most bytes of a key with what stands around it.
const LONGEST_KEY: u64 = 4096;

/// Where the far side runs.
pub fn resolve(flags: &RunFlags) -> Result<Far> {
    let (peers, addresses, unders) = (&flags.common.peer, &flags.common.peer_address, flags.common.peer_under.len());
    if unders > 1 && !peers.is_empty() {
        bail!(
            "{unders} --peer-under: far processes of this host take them in turn, and those of --peer all run under one; leave out --peer, or give one"
        );
    }
    let (takers, what) = if unders > 1 { (unders, "--peer-under") } else { (peers.len(), "--peer") };
    if addresses.len() > takers.max(1) || (takers > 1 && !addresses.is_empty() && addresses.len() < takers) {
        let whose = if unders > 1 { "the far processes under one of them" } else { "one far host" };
        bail!(
            "{} --peer-address for {takers} {what}: each is the address of {whose}, in their order; give as many, or none",
            addresses.len()
        );
    }
    if peers.len() > 1 {
        return several(flags);
    }
    let at = addresses.first().cloned();
    let local = || Far::Local { program: Far::own(), at: addresses.clone() };
    let Some(peer) = peers.first().map(String::as_str) else {
        if flags.common.key.is_some() {
            bail!("--key belongs to another host's `pipegauge serve`; name that host with --peer HOST:PORT");
        }
        return Ok(local());
    };
    if let Some(target) = peer.strip_prefix("ssh://") {
        if flags.common.key.is_some() {
            bail!("--peer {peer} needs no --key: ssh itself knows who is there");
        }
        // Both sides on one other host: the near side starts its far processes itself.
        if matches!(&flags.common.near[..], [near] if near == peer) {
            return Ok(local());
        }
        let host = SshHost { target: ssh_target("--peer", peer, target)?, at };
        return Ok(Far::Ssh { hosts: vec![host], program: remote_program(flags) });
    }
    if at.is_some() {
        bail!("--peer-address changes nothing here: data goes to HOST of --peer HOST:PORT; name the address there");
    }
    if unders > 0 {
        bail!("--peer-under is for far processes that this command starts; start `pipegauge serve` there under it");
    }
    let (host, port) = host_and_port(peer)?;
    let text = match &flags.common.key {
        Some(key) => key_from(key, &mut std::io::stdin().lock())?,
        None => std::env::var(KEY_VARIABLE).map_err(|_| {
            anyhow!("--peer {peer} needs the key that `pipegauge serve` printed there: --key KEY, or {KEY_VARIABLE}")
        })?,
    };
    let key: Key = text.trim().parse().context("the key can't be read")?;
    Ok(Far::Listening { host, port, key })
}

/// Several hosts, which far processes take in turn.
fn several(flags: &RunFlags) -> Result<Far> {
    let mut hosts: Vec<SshHost> = Vec::new();
    for (i, peer) in flags.common.peer.iter().enumerate() {
        let Some(target) = peer.strip_prefix("ssh://") else {
            bail!(
                "--peer {peer}: of several far hosts each is started by ssh: write ssh://user@host (`pipegauge serve` is one process on one host)"
            );
        };
        let target = ssh_target("--peer", peer, target)?;
        if hosts.iter().any(|host| host.target == target) {
            bail!("--peer {peer} is named twice: far processes take the hosts in turn, so that one name is enough");
        }
        hosts.push(SshHost { target, at: flags.common.peer_address.get(i).cloned() });
    }
    if flags.common.key.is_some() {
        bail!("--peer {} needs no --key: ssh itself knows who is there", flags.common.peer.join(" --peer "));
    }
    Ok(Far::Ssh { hosts, program: remote_program(flags) })
}

/// Whether the paths of a plan have far processes that can be spread over the hosts that are named.
pub fn spreads(plan: &Plan, far: &Far) -> Result<()> {
    let (hosts, what, flag) = match far {
        Far::Ssh { hosts, .. } if hosts.len() > 1 => (hosts.len(), "hosts", "--peer"),
        Far::Local { .. } if plan.far_wrappers() > 1 => (plan.far_wrappers(), "commands", "--peer-under"),
        _ => return Ok(()),
    };
    for (number, path) in (0..).zip(&plan.paths) {
        let name = path.name();
        if !path.capabilities().two_ended {
            bail!(
                "{name}: one process plays both ends, and {hosts} {what} are named for far processes (leave it out, or the {flag})"
            );
        }
        let processes = path.topology.far_processes(plan.connections(number)) as usize;
        if processes < hosts {
            bail!(
                "{name}: {processes} far {} for {hosts} {what} ({flag}), which take them in turn: ask for more with --pairs N, or with --topology group and \
                 --members N{}",
                if processes == 1 { "process" } else { "processes" },
                if flag == "--peer" { "; several near hosts of one far process are --near" } else { "" }
            );
        }
    }
    Ok(())
}

/// The key's text: itself, a line of standard input (`-`), or a file (`@FILE`).
pub fn key_from(flag: &str, stdin: &mut dyn BufRead) -> Result<String> {
    if flag == "-" {
        let mut line = String::new();
        stdin.take(LONGEST_KEY + 1).read_line(&mut line).context("reading the key from standard input")?;
        if line.len() as u64 > LONGEST_KEY {
            bail!(
                "--key - reads the key from standard input, whose first line is longer than any key: {LONGEST_KEY} bytes at most"
            );
        }
        if line.trim().is_empty() {
            bail!("--key - reads the key from standard input, and there was none");
        }
        return Ok(line.trim().to_owned());
    }
    match flag.strip_prefix('@') {
        Some(file) => {
            let text = record::input::text(Path::new(file), "a key", LONGEST_KEY)
                .with_context(|| format!("reading the key from {file}"))?;
            Ok(text.trim().to_owned())
        }
        None => Ok(flag.to_owned()),
    }
}

/// The flags with the key itself in place of where it stands: standard input is read once, for whoever needs it twice.
pub fn with_key(flags: &RunFlags) -> Result<RunFlags> {
    let key = flags.common.key.as_deref().map(|key| key_from(key, &mut std::io::stdin().lock())).transpose()?;
    let mut flags = flags.clone();
    flags.common.key = key;
    Ok(flags)
}

/// The program on other hosts.
pub fn remote_program(flags: &RunFlags) -> String {
    flags.common.remote_program.clone().unwrap_or_else(|| DEFAULT_PROGRAM.to_owned())
}

/// A target goes to `ssh` as an argument, so it must not look like an option.
pub fn ssh_target(flag: &str, typed: &str, target: &str) -> Result<String> {
    let target = target.trim_end_matches('/');
    if target.is_empty() || target.starts_with('-') || target.contains(char::is_whitespace) || target.contains('/') {
        bail!("{flag} {typed}: write ssh://user@host or ssh://user@host:port");
    }
    Ok(target.to_owned())
}

fn host_and_port(peer: &str) -> Result<(String, u16)> {
    let wrong = || anyhow!("--peer {peer}: write HOST:PORT ([ADDRESS]:PORT for IPv6), or ssh://user@host");
    let (host, port) = peer.rsplit_once(':').ok_or_else(wrong)?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').ok_or_else(wrong)?,
        None if host.contains(':') => return Err(wrong()),
        None => host,
    };
    if host.is_empty() || port == 0 {
        return Err(wrong());
    }
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::typed::typed;

    #[test]
    fn peers_are_read_as_people_write_them() {
        assert_eq!(host_and_port("lab2:9000").unwrap(), ("lab2".into(), 9000));
        assert_eq!(host_and_port("[::1]:9000").unwrap(), ("::1".into(), 9000));
        for bad in ["lab2", "::1:9000", "[::1:9000", ":9000", "lab2:0", "lab2:70000", "lab2:http"] {
            assert!(host_and_port(bad).unwrap_err().to_string().contains("HOST:PORT"), "{bad}");
        }
    }

    #[test]
    fn far_processes_are_spread_over_the_hosts_that_are_named() {
        let two = "--peer ssh://a --peer ssh://u@b:22";
        let config = typed(&format!("tcp --pairs 3 {two} --remote-program /opt/p")).unwrap();
        let Far::Ssh { hosts, program } = config.far else { panic!("{:?}", config.far) };
        let host = |target: &str, at: Option<&str>| SshHost { target: target.into(), at: at.map(str::to_owned) };
        assert_eq!((hosts, program.as_str()), (vec![host("a", None), host("u@b:22", None)], "/opt/p"));
        let config = typed(&format!("tcp --pairs 2 {two} --peer-address 10.0.0.1 --peer-address 10.0.0.2")).unwrap();
        let Far::Ssh { hosts, .. } = config.far else { panic!("{:?}", config.far) };
        assert_eq!(hosts, [host("a", Some("10.0.0.1")), host("u@b:22", Some("10.0.0.2"))]);
        for (line, says) in [
            ("tcp", "tcp: 1 far process for 2 hosts"),
            ("tcp --topology fan-in --members 4", "several near hosts of one far process are --near"),
            ("memcpy tcp --pairs 2", "one process plays both ends"),
            ("unix --pairs 2", "works only between processes of one host"),
            ("tcp --pairs 2 --key k", "needs no --key"),
            (
                "multicast:interface=eth0,ttl=1 --topology group --members 3 --pattern one-sender",
                "reads the clock of one host",
            ),
            ("tcp --pairs 2 --peer ssh://a", "is named twice"),
            ("tcp --pairs 3 --peer h:9", "each is started by ssh"),
            ("tcp --pairs 2 --peer-address 10.0.0.1", "1 --peer-address for 2 --peer"),
        ] {
            let said = format!("{:#}", typed(&format!("{line} {two}")).expect_err(line));
            assert!(said.contains(says), "{line}: {said}");
        }
        let two = "--peer-under a --peer-under b";
        let at = "--peer-address 10.0.0.1 --peer-address 10.0.0.2";
        let config = typed(&format!("tcp --pairs 3 {two} {at}")).unwrap();
        assert_eq!([0, 1, 2].map(|n| config.plan.far_wrapper(n)[0].as_str()), ["a", "b", "a"]);
        let Far::Local { at: reached, .. } = config.far else { panic!("{:?}", config.far) };
        assert_eq!(reached, ["10.0.0.1", "10.0.0.2"]);
        assert_eq!(config.plan.under_words().as_deref(), Some("far side under 'a' and 'b'"));
        for (line, says) in [
            ("tcp", "tcp: 1 far process for 2 commands (--peer-under)"),
            ("tcp --pairs 2 --peer-address 10.0.0.1", "1 --peer-address for 2 --peer-under"),
            ("tcp --pairs 2 --peer ssh://a", "leave out --peer, or give one"),
        ] {
            let said = format!("{:#}", typed(&format!("{line} {two}")).expect_err(line));
            assert!(said.contains(says), "{line}: {said}");
        }
        let said = format!("{:#}", typed("tcp --peer-address 10.0.0.1 --peer-address 10.0.0.2").unwrap_err());
        assert!(said.contains("2 --peer-address for 0 --peer"), "{said}");
    }

    #[test]
    fn an_ssh_target_is_never_an_option() {
        assert_eq!(ssh_target("--peer", "ssh://u@h:22", "u@h:22").unwrap(), "u@h:22");
        for bad in ["", "-oProxyCommand=x", "u@h x", "u@h/path"] {
            assert!(ssh_target("--peer", "ssh://...", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_comes_from_where_it_says() {
        let mut stdin = "abc\nrest\n".as_bytes();
        assert_eq!(key_from("-", &mut stdin).unwrap(), "abc");
        assert!(key_from("-", &mut "".as_bytes()).unwrap_err().to_string().contains("there was none"));
        let endless = key_from("-", &mut std::io::BufReader::new(std::io::repeat(b'a'))).unwrap_err().to_string();
        assert!(endless.contains("longer than any key"), "{endless}");
        assert!(format!("{:#}", key_from("@/dev/zero", &mut stdin).unwrap_err()).contains("is a device"));
        assert_eq!(key_from("word", &mut stdin).unwrap(), "word");
        assert!(key_from("@/does/not/exist", &mut stdin).unwrap_err().to_string().contains("/does/not/exist"));
    }
}
