//! What a sweep would change, whether this process may, and what goes over the interfaces that it would change.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Result, bail};

use super::along::along;
use super::setting;
use crate::commands::programs;
use crate::config::sweep::{DEFAULT, SweepPlan};
use crate::config::system::{Change, Knob, Source, above, links, outgoing};

/// The right to set interfaces, by its number in capabilities(7): `CAP_NET_ADMIN`.
const NETWORK: u32 = 12;
/// Most processes that are looked at above this one.
const MOST_ABOVE: usize = 64;

/// What a sweep would change.
///
/// # Errors
/// Something of it is not there.
pub fn look(plan: &SweepPlan) -> Result<Vec<Change>> {
    let knobs = plan.knobs()?;
    programs::needed("a sweep over settings of an interface", knobs.iter().flat_map(Knob::programs).copied())?;
    let goes_over = if knobs.iter().any(|knob| knob.interface().is_some()) { paths() } else { Vec::new() };
    let mut changes: Vec<Change> = Vec::new();
    for (knob, axis) in knobs.iter().zip(plan.axes.iter().filter(|axis| axis.is_the_systems())) {
        let index = setting::link(knob)?.map(|link| link.index);
        let was = setting::read(knob)?;
        let mut to: Vec<String> = Vec::new();
        for level in axis.levels.iter().filter(|level| *level != DEFAULT) {
            let value = knob.value(level)?;
            if value != was && !to.contains(&value) {
                to.push(value);
            }
        }
        let carries = knob.interface().map(|own| carried(own, &goes_over)).unwrap_or_default();
        let mut along = along(knob, &knobs)?;
        // What has an axis is set by that one, and what goes along with two settings goes along with the first.
        let told = |one: &Knob| changes.iter().flat_map(|change| &change.along).any(|along| along.knob.clashes(one));
        along.retain(|one| !knobs.iter().any(|axis| axis.clashes(&one.knob)) && !told(&one.knob));
        changes.push(Change { knob: knob.clone(), was, to, index, carries, along });
    }
    Ok(changes)
}

/// Whether this process may change it all, as far as that can be told before.
///
/// # Errors
/// It may not, and what to do.
pub fn may(changes: &[Change]) -> Result<()> {
    let own = changes.iter().map(|change| &change.knob);
    for knob in own.chain(changes.iter().flat_map(|change| &change.along).map(|along| &along.knob)) {
        let Source::File(file) = knob.source() else {
            if host::has_rights(&[NETWORK]) {
                continue;
            }
            bail!(
                "{} can't be changed: this process lacks the right to set the interface {} (CAP_NET_ADMIN); run it as root (sudo)",
                knob.what(),
                knob.interface().unwrap_or_default()
            );
        };
        // Opening it for writing changes nothing.
        let Err(e) = OpenOptions::new().write(true).open(&file) else { continue };
        let mode = std::fs::metadata(&file).map_or(0o200, |meta| meta.permissions().mode());
        let why = match e.kind() {
            ErrorKind::ReadOnlyFilesystem => {
                "/proc/sys is read-only here, as in a container: change it on its host".to_owned()
            }
            ErrorKind::PermissionDenied if mode & 0o222 == 0 => {
                "it is read-only: in this network namespace, or in every one, the kernel lets nobody set it".to_owned()
            }
            ErrorKind::PermissionDenied => "this process lacks the right to; run it as root (sudo)".to_owned(),
            _ => format!("opening {}: {e}", file.display()),
        };
        bail!("{} can't be changed: {why}", knob.what());
    }
    Ok(())
}

/// Something that goes over an interface: what, the interface, and what is below it.
struct Path {
    what: String,
    /// Every interface of which a change reaches it, itself too.
    over: String,
}

/// What must not be cut off: the way out of this host, and the session that this command was typed in. What can't be found out is left out.
fn paths() -> Vec<Path> {
    let ran = |words: &[&str]| {
        programs::ran(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap_or_default()
    };
    let mut all = Vec::new();
    let mut add = |what: &str, over: BTreeSet<String>| {
        all.extend(over.into_iter().map(|over| Path { what: what.to_owned(), over }));
    };
    for family in ["-4", "-6"] {
        add("the default route of this host", outgoing(&ran(&["ip", family, "route", "show", "default"])));
    }
    if let Some(peer) = session() {
        let over = match peer.split_once('%') {
            // An address of a link alone says of which.
            Some((_, interface)) => BTreeSet::from([interface.to_owned()]),
            None => outgoing(&ran(&["ip", "route", "get", &peer])),
        };
        add(&format!("this ssh session (from {})", report::words::plain(&peer)), over);
    }
    all
}

/// What goes over an interface, or over what stands on it.
fn carried(own: &str, paths: &[Path]) -> Vec<String> {
    let step = ["ip", "-o", "link", "show"].map(str::to_owned);
    let reached = above(&links(&programs::ran(&step).unwrap_or_default()), own);
    let mut told: Vec<String> = Vec::new();
    for path in paths.iter().filter(|path| reached.contains(&path.over)) {
        let way = if path.over == own { String::new() } else { format!(", by {}", path.over) };
        let text = format!("{own} carries {}{way}: a change may cut it off", path.what);
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

/// The address that this command was typed from, where that was by ssh. `sudo` takes the variable away: then a process above still has it.
fn session() -> Option<String> {
    let own = std::env::var("SSH_CONNECTION").ok();
    let all = own.or_else(|| {
        let mut pid = std::process::id();
        for _ in 0..MOST_ABOVE {
            pid = host::process(pid).ok().map(|process| process.parent).filter(|parent| *parent > 0)?;
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let found = environment.split(|byte| *byte == 0).find_map(|one| one.strip_prefix(b"SSH_CONNECTION="));
            if let Some(found) = found {
                return Some(String::from_utf8_lossy(found).into_owned());
            }
        }
        None
    })?;
    let peer = all.split_whitespace().next()?;
    let address = peer.split('%').next().unwrap_or_default();
    // Another word would be one of `ip`'s.
    address.parse::<std::net::IpAddr>().is_ok().then(|| peer.to_owned())
}
