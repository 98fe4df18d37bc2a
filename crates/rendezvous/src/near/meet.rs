//! How a near side finds its far side.

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use measure::Session;
use measure::event::{PathPlan, Plan};
use transport::{Ends, Family, LinkError, Name, preload};

use super::group::GroupSession;
use super::group::elsewhere::{Elsewhere, Nears};
use super::launch::OWN;
use super::meeting::{self, Meeting, Terms};
use super::session::{Reach, RemoteSession};
use super::world::World;
use crate::message::FarPin;
use crate::{Key, MeetError};

/// How long a far side may take to replace the process that measured.
const AGAIN: Duration = Duration::from_secs(10);

/// Where the far side is.
#[derive(Debug, Clone)]
pub enum Far {
    /// On this host: a fresh process of `program` (this program itself) for each round.
    Local {
        /// The program ([`Far::here`] is this one, whatever becomes of its file).
        program: PathBuf,
        /// The address at which the near side reaches it, where that is not the host itself: under a wrapper that has another network. Of several, which
        /// its processes take in turn as they take the wrappers, each; else none.
        at: Vec<String>,
    },
    /// On other hosts, started there by ssh: far processes take them in turn.
    Ssh {
        /// At least one.
        hosts: Vec<SshHost>,
        /// The program on these hosts.
        program: String,
    },
    /// On other hosts, started there by whoever started this process.
    Waiting {
        /// How many hosts they take in turn.
        hosts: usize,
        /// Each process's host, as this host knows it, its port and its key.
        processes: Vec<(String, u16, Key)>,
    },
    /// On another host, where `pipegauge serve` is waiting.
    Listening {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
        /// What `serve` printed.
        key: Key,
    },
}

/// A host that ssh reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshHost {
    /// `user@host` or `user@host:port`.
    pub target: String,
    /// Its address as the near side reaches it, where that is not the one at which ssh does.
    pub at: Option<String>,
}

impl SshHost {
    /// The host of the far process `rank` of those that take these hosts in turn.
    pub(crate) fn of(hosts: &[Self], rank: usize) -> Result<&Self, MeetError> {
        let none = || MeetError::Protocol("far processes on no host; this is a bug in pipegauge".to_owned());
        rank.checked_rem(hosts.len()).and_then(|i| hosts.get(i)).ok_or_else(none)
    }
}

impl Far {
    /// How many hosts its processes are on.
    pub(crate) fn hosts(&self) -> usize {
        match self {
            Self::Ssh { hosts, .. } => hosts.len(),
            Self::Waiting { hosts, .. } => *hosts,
            Self::Local { .. } | Self::Listening { .. } => 1,
        }
        .max(1)
    }

    /// On this host, by this program itself.
    pub fn here() -> Self {
        Far::Local { program: Self::own(), at: Vec::new() }
    }

    /// This program, whatever becomes of its file.
    pub fn own() -> PathBuf {
        OWN.into()
    }
}

/// One session for each two-ended transport of each of `plans`, in its order: plans of one run have the same transports. Over ssh, and with a serving far side, all share one
/// control connection, which stands when this returns; on this host the first far process starts with the first round.
///
/// `pin` is for a far side on another host; on this one the plan's CPU counts.
pub fn meet(
    far: &Far,
    plans: &[&Plan],
    pin: FarPin,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Vec<Box<dyn Session>>>, MeetError> {
    meet_spread(far, None, plans, pin, stop)
}

/// The same with near processes on other hosts, where there are such.
pub fn meet_spread(
    far: &Far,
    nears: Option<Nears>,
    plans: &[&Plan],
    pin: FarPin,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Vec<Box<dyn Session>>>, MeetError> {
    meet_all((far, nears), plans, pin, stop, Path::new("ssh"), Path::new(OWN))
}

#[cfg(test)]
pub(crate) fn meet_with(
    far: &Far,
    plans: &[&Plan],
    pin: FarPin,
    stop: Arc<AtomicBool>,
    ssh: &Path,
    own: &Path,
) -> Result<Vec<Vec<Box<dyn Session>>>, MeetError> {
    meet_all((far, None), plans, pin, stop, ssh, own)
}

pub(crate) fn meet_all(
    (far, nears): (&Far, Option<Nears>),
    plans: &[&Plan],
    pin: FarPin,
    stop: Arc<AtomicBool>,
    ssh: &Path,
    own: &Path,
) -> Result<Vec<Vec<Box<dyn Session>>>, MeetError> {
    let elsewhere = nears.map(|nears| Elsewhere::new(nears, ssh.to_path_buf()));
    let Some(plan) = plans.first() else { return Ok(Vec::new()) };
    let two_ended: Vec<usize> = (0..plan.paths.len()).filter(|i| two_ended(plan.paths[*i].transport)).collect();
    for kind in two_ended.iter().map(|i| plan.paths[*i].transport) {
        let available = kind.transport().map_err(|e| e.to_string());
        let available = available.and_then(|t| t.availability().map_err(|e| e.to_string()));
        available.map_err(|why| MeetError::Unavailable { kind, why })?;
    }
    for path in two_ended.iter().map(|i| &plan.paths[*i]) {
        let unavailable = |e: LinkError| MeetError::Unavailable { kind: path.transport, why: e.to_string() };
        preload::words(&path.settings).map_err(unavailable)?;
    }
    if two_ended.is_empty() {
        return Ok(plans.iter().map(|_| Vec::new()).collect());
    }
    let most = plans.iter().map(|plan| far_processes(plan)).max().unwrap_or(1);
    let terms = Terms { pin: None, far_pin: pin, plan, stop: &stop, environment: true, rank: 0, at: None, among: 1 };
    let reached = |at: &Option<String>| at.as_deref().map(|host| address(host, plan)).transpose();
    let mut others = Vec::new();
    let (reach, program): (Box<dyn Fn() -> Reach>, &Path) = match far {
        Far::Local { program, at } => {
            let at: Vec<IpAddr> = at.iter().map(|host| address(host, plan)).collect::<Result<_, _>>()?;
            (Box::new(move || Reach::Fresh(program.clone(), at.clone())), program)
        }
        Far::Ssh { hosts, program } => {
            let met = (0..most.max(1)).map(|rank| {
                let host = SshHost::of(hosts, rank as usize)?;
                let terms = Terms { at: reached(&host.at)?, ..terms_of(&terms, rank, hosts.len()) };
                meeting::over_ssh(ssh, &host.target, program, &terms)
            });
            let (first, more) = several(met, most, plan)?;
            others = more;
            (first, own)
        }
        Far::Waiting { hosts, processes } => {
            let met = (0..).zip(processes.iter().take(most.max(1) as usize)).map(|(rank, (host, port, key))| {
                let addresses = resolve(host, *port, family(plan), host)?;
                meeting::started_elsewhere(&addresses, host, key, &terms_of(&terms, rank, *hosts))
            });
            let (first, more) = several(met, most, plan)?;
            others = more;
            (first, own)
        }
        Far::Listening { .. } if most > 1 => return Err(MeetError::OneProcess { asked: most }),
        Far::Listening { host, port, key } => {
            let name = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
            let addresses = resolve(host, *port, family(plan), &name)?;
            let mut meeting = meeting::serving(&addresses, &name, key, &terms)?;
            meeting.again = Some(again((addresses, name, key.clone()), (*plan).clone(), pin, Arc::clone(&stop)));
            (shared(meeting, plan)?, own)
        }
    };
    let worlds: Vec<Vec<World>> = two_ended.iter().map(|_| World::shared(plans.len())).collect();
    let sessions = |(side, plan): (usize, &&Plan)| {
        let plan = Rc::new((*plan).clone());
        let session = |(path, worlds): (&usize, &Vec<World>)| -> Box<dyn Session> {
            let (path, plan, stop) = (*path, Rc::clone(&plan), Arc::clone(&stop));
            let apart = plan.paths[path].topology.has_members() || !plan.near_under.is_empty();
            match apart || of_a_module(&plan, path) || preload::asked(&plan.paths[path].settings).is_some() {
                false => Box::new(RemoteSession::new(path, plan, stop, reach())),
                true => Box::new(
                    GroupSession::new(path, plan, stop, reach(), others.clone(), program.to_path_buf())
                        .far_over(far.hosts())
                        .spread_over(elsewhere.clone())
                        .among(worlds[side].clone()),
                ),
            }
        };
        two_ended.iter().zip(&worlds).map(session).collect()
    };
    Ok(plans.iter().enumerate().map(sessions).collect())
}

/// How a far side that serves is met anew, where the process that measured there was lost: another takes its place, in a moment.
fn again(
    (addresses, name, key): (Vec<SocketAddr>, String, Key),
    plan: Plan,
    far_pin: FarPin,
    stop: Arc<AtomicBool>,
) -> meeting::Again {
    Box::new(move || {
        let until = Instant::now() + AGAIN;
        loop {
            let terms =
                Terms { pin: None, far_pin, plan: &plan, stop: &stop, environment: true, rank: 0, at: None, among: 1 };
            match meeting::serving(&addresses, &name, &key, &terms) {
                Err(MeetError::Busy { .. }) if Instant::now() < until && !stop.load(Ordering::Relaxed) => {
                    std::thread::sleep(Duration::from_millis(500));
                }
                met => return met,
            }
        }
    })
}

/// Whether a path is over a module, which no process loads but those that measure over it.
fn of_a_module(plan: &Plan, path: usize) -> bool {
    transport::registry::find(plan.paths[path].transport).is_some_and(|t| t.source().is_some())
}

/// As many far processes as the path that has most of them.
pub(crate) fn far_processes(plan: &Plan) -> u32 {
    let each = (0u32..).zip(&plan.paths).map(|(i, path)| path.topology.far_processes(plan.connections(i)));
    each.max().unwrap_or(1)
}

/// What the process `rank` is met by of those that take so many hosts in turn: it chooses its CPU among those of its own host.
fn terms_of<'a>(terms: &Terms<'a>, rank: u32, hosts: usize) -> Terms<'a> {
    let there = rank / u32::try_from(hosts.max(1)).unwrap_or(u32::MAX);
    Terms { rank: there, ..*terms }
}

/// A far side of several processes: the first, which every session has, and the others.
#[allow(clippy::type_complexity, reason = "what meet_all has of any far side")]
fn several(
    mut met: impl Iterator<Item = Result<Meeting, MeetError>>,
    most: u32,
    plan: &Plan,
) -> Result<(Box<dyn Fn() -> Reach>, Vec<Rc<RefCell<Meeting>>>), MeetError> {
    let first = shared(met.next().ok_or(MeetError::OneProcess { asked: most })??, plan)?;
    let other = |met: Result<Meeting, MeetError>| {
        let met = met?;
        reaches(&met, plan)?;
        Ok(Rc::new(RefCell::new(met)))
    };
    Ok((first, met.map(other).collect::<Result<_, MeetError>>()?))
}

/// Hands the same far side to every session, if all their transports reach it.
fn shared(meeting: Meeting, plan: &Plan) -> Result<Box<dyn Fn() -> Reach>, MeetError> {
    reaches(&meeting, plan)?;
    let meeting = Rc::new(RefCell::new(meeting));
    Ok(Box::new(move || Reach::Shared(Rc::clone(&meeting))))
}

/// Whether all transports of a plan reach a far side.
fn reaches(meeting: &Meeting, plan: &Plan) -> Result<(), MeetError> {
    if let Some(peer) = meeting.control.other_host()
        && let Some(path) = plan.paths.iter().find(|path| two_ended(path.transport) && path.capabilities().local_only)
    {
        return Err(MeetError::OtherHost { kind: path.transport, peer });
    }
    Ok(())
}

fn two_ended(transport: Name) -> bool {
    transport != Name::ALONE && transport.ends() == Ends::Two
}

/// The IP version of the control connection: that of the paths, where they have one and the same.
fn family(plan: &Plan) -> Option<Family> {
    asks(plan).map(|(family, _)| family)
}

/// The same with the first path that has it.
fn asks(plan: &Plan) -> Option<(Family, &PathPlan)> {
    let of = |path: &'_ PathPlan| path.transport.transport().ok()?.family(&path.settings);
    let mut asked = plan.paths.iter().filter_map(|path| Some((of(path)?, path)));
    let first = asked.next()?;
    asked.all(|other| other.0 == first.0).then_some(first)
}

/// The address of a far side that is reached elsewhere than where it was started.
fn address(host: &str, plan: &Plan) -> Result<IpAddr, MeetError> {
    let asks = asks(plan);
    let found = resolve(host, 0, asks.map(|(family, _)| family), host)?;
    let version = asks.map_or_else(String::new, |(family, path)| {
        format!(" of {}, by which {} goes", if family == Family::V6 { "IPv6" } else { "IPv4" }, path.name())
    });
    found.first().map(SocketAddr::ip).ok_or_else(|| MeetError::Unreachable {
        peer: host.to_owned(),
        why: format!("the name has no address{version}"),
        advice: "give another with --peer-address",
    })
}

fn resolve(host: &str, port: u16, family: Option<Family>, name: &str) -> Result<Vec<SocketAddr>, MeetError> {
    let found = (host, port).to_socket_addrs().map_err(|e| MeetError::Unreachable {
        peer: name.to_owned(),
        why: format!("looking up the name: {e}"),
        advice: "check the name, or give an address",
    })?;
    let wanted = |a: &SocketAddr| match family {
        None => true,
        Some(Family::V4) => a.is_ipv4(),
        Some(Family::V6) => a.is_ipv6(),
    };
    Ok(found.filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use transport::{Settings, multicast, tcp};

    use super::*;

    #[test]
    fn an_address_of_the_wrong_ip_version_is_told_with_the_path_that_needs_the_other() {
        let link = Settings::default().with("interface", "eth0").with("ttl", "1").with("address", "ff02::5047");
        let group = PathPlan { settings: link, ..PathPlan::from(multicast::NAME) };
        let plan = Plan { paths: vec![PathPlan::from(tcp::NAME), group], ..Plan::default() };
        let e = address("192.0.2.1", &plan).unwrap_err().to_string();
        assert!(e.contains("no address of IPv6, by which multicast") && e.contains("--peer-address"), "{e}");
        // A group that stays on this host needs nothing of where others go.
        let stays = Settings::default().with("family", Family::V6);
        let group = PathPlan { settings: stays, ..PathPlan::from(multicast::NAME) };
        let plan = Plan { paths: vec![group, PathPlan::from(tcp::NAME)], ..Plan::default() };
        assert_eq!(address("192.0.2.1", &plan).unwrap().to_string(), "192.0.2.1");
    }
}
