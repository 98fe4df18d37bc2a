//! A far side that this side has met: its control connection, and its process where this side started it.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::Environment;
use measure::event::Plan;

use super::control::Control;
use super::dial::{dial, greet};
use super::launch::{FAR, How, Launched, Place, Starting, Way};
use super::{ssh, under};
use crate::channel::Channel;
use crate::message::{By, FarPin};
use crate::secret::SessionKeys;
use crate::{Key, MeetError, zone};

/// How long a process of this host may take to get ready, and how much longer for each that starts with it: the ranks of a launcher are ready when
/// the last one is, and share the CPUs until then.
const STARTS_HERE: Duration = Duration::from_secs(10);
const EACH_HERE: Duration = Duration::from_secs(3);
/// Time for a login and for the process to say who it is: so many patiences, between these two, or one patience where that is longer.
const LOGIN_PATIENCES: u32 = 4;
const LOGIN: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(40)];

/// A far side that has been met. Dropping it says goodbye and, where this side started it, sees to its end.
pub(crate) struct Meeting {
    /// Declared, and so dropped, before the process: the process ends because this does.
    pub control: Control,
    pub launched: Option<Launched>,
    /// How the far side described itself, if it was asked to.
    pub environment: Option<Environment>,
    /// Meets it anew where what was said broke down; none where that can't help, or did not.
    pub again: Option<Again>,
}

/// Meets a far side anew.
pub(crate) type Again = Box<dyn Fn() -> Result<Meeting, MeetError>>;

/// What every meeting needs.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// CPU for a far process on this host.
    pub pin: Option<u32>,
    /// The same for a far side on another, which decides for itself.
    pub far_pin: FarPin,
    pub plan: &'a Plan,
    pub stop: &'a Arc<AtomicBool>,
    /// Whether to ask for the environment.
    pub environment: bool,
    /// Which it is, from 0, of a path's far processes on its host.
    pub rank: u32,
    /// Where this side reaches it, where that is not where it was started.
    pub at: Option<IpAddr>,
    /// Processes of this host that start at once with it, itself included.
    pub among: u32,
}

/// The patience of a plan.
pub(crate) fn patience_of(plan: &Plan) -> Duration {
    Duration::try_from_secs_f64(plan.patience).unwrap_or(STARTS_HERE)
}

impl Terms<'_> {
    fn patience(&self) -> Duration {
        patience_of(self.plan)
    }

    /// How a far process of this host is started.
    pub(crate) fn here(&self) -> How {
        How { pin: self.pin, wrapped: !self.plan.peer_under.is_empty(), listen_at: self.at, ..How::of(By::Spawn) }
    }
}

/// A fresh far process on this host.
pub(crate) fn here(program: &Path, terms: &Terms<'_>) -> Result<Meeting, MeetError> {
    met_here(begin_here(FAR, &terms.plan.peer_under, program, "peer", terms.here())?, terms)
}

/// Starts `program` on this host for one of its hidden commands, under a wrapper's words where there are some.
pub(crate) fn begin_here(
    what: &'static str,
    under: &[String],
    program: &Path,
    command: &str,
    how: How,
) -> Result<Starting, MeetError> {
    Starting::begin(what, under::command(under, program, command), how)
}

/// How long one of so many processes that start at once may take to get ready: longer where a side has more patience with the other.
pub(crate) fn starts_here(among: u32, patience: Duration) -> Duration {
    (STARTS_HERE + EACH_HERE * among.saturating_sub(1)).max(patience)
}

/// How long a process that ssh starts may take to say who it is.
pub(crate) fn starts_over_ssh(patience: Duration) -> Duration {
    let [least, most] = LOGIN;
    patience.saturating_mul(LOGIN_PATIENCES).clamp(least, most.max(patience))
}

/// Meets a process of this host that was started and gets ready within this time: it, and what is said to it.
pub(crate) fn greet_here(
    starting: Starting,
    time: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<(Launched, (Channel, SessionKeys)), MeetError> {
    let (launched, Place { way, key }) = starting.ready(time, stop)?;
    let Way::Here(socket) = way else { return Err(no_way()) };
    // Its ranks may hold all CPUs: it has as long again as it had to get ready.
    Ok((launched, greet(socket, &key, time, stop)?))
}

/// Meets a far process of this host that was started.
pub(crate) fn met_here(starting: Starting, terms: &Terms<'_>) -> Result<Meeting, MeetError> {
    let (launched, channel) = greet_here(starting, starts_here(terms.among, terms.patience()), terms.stop)?;
    with(Some(launched), channel, terms)
}

/// A far process on another host, started by ssh.
pub(crate) fn over_ssh(ssh: &Path, target: &str, program: &str, terms: &Terms<'_>) -> Result<Meeting, MeetError> {
    let (launched, at, key) = wait_over_ssh(ssh, target, program, terms)?;
    let advice = "ssh gets there, but a connection of its own does not: a firewall, address translation or a jump host \
                  stands in between; open a port there and use 'pipegauge serve --port' with --peer HOST:PORT";
    let at = match terms.at {
        Some(ip) => SocketAddr::new(ip, at.port()),
        None => from_here(at, target)?,
    };
    let channel = dial(&[at], target, advice, &key, terms.stop)?;
    with(Some(launched), channel, terms)
}

/// Starts a far process on another host by ssh, under the wrapper that the plan names; where it waits and its key.
fn wait_over_ssh(
    ssh: &Path,
    target: &str,
    program: &str,
    terms: &Terms<'_>,
) -> Result<(Launched, SocketAddr, Key), MeetError> {
    let how = How { anywhere: terms.at.is_some(), ..How::of(By::Ssh) };
    waits_over_ssh(ssh, target, (&terms.plan.peer_under, program), how, terms.patience(), terms.stop)
}

/// The same for whoever connects to it.
pub(crate) fn waits_over_ssh(
    ssh: &Path,
    target: &str,
    (under, program): (&[String], &str),
    how: How,
    patience: Duration,
    stop: &AtomicBool,
) -> Result<(Launched, SocketAddr, Key), MeetError> {
    let command = ssh::command(ssh, target, under, program, "peer")?;
    waits(Starting::begin(FAR, command, how)?, patience, stop)
}

/// Where a process waits that ssh starts, and its key.
fn waits(starting: Starting, patience: Duration, stop: &AtomicBool) -> Result<(Launched, SocketAddr, Key), MeetError> {
    let (launched, Place { way, key }) = starting.ready(starts_over_ssh(patience), stop)?;
    let Way::At(at) = way else { return Err(no_way()) };
    Ok((launched, at, key))
}

/// Meets a process that `starting` starts at `target` by ssh: it, and what is said to it.
pub(crate) fn greet_over_ssh(
    starting: Starting,
    target: &str,
    patience: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<(Launched, (Channel, SessionKeys)), MeetError> {
    let (launched, at, key) = waits(starting, patience, stop)?;
    let advice = "ssh gets there, but a connection of its own does not: a firewall, address translation or a jump host stands in between";
    let channel = dial(&[from_here(at, target)?], target, advice, &key, stop)?;
    Ok((launched, channel))
}

/// Where a far side that was reached at `target` waits, as this host must write it: the far side numbers its own interfaces.
fn from_here(at: SocketAddr, target: &str) -> Result<SocketAddr, MeetError> {
    let zone = target.rsplit_once('%').map(|(_, rest)| rest.split([']', ':', '/']).next().unwrap_or(rest));
    zone::socket(at.ip(), at.port(), zone).ok_or_else(|| MeetError::Unreachable {
        peer: target.to_owned(),
        why: format!("{} is link-local, and the target names no interface of this host", at.ip()),
        advice: "write ssh://user@[ADDRESS%INTERFACE], or give another address",
    })
}

/// A far process that waits on another host, where whoever started this process started it.
pub(crate) fn started_elsewhere(
    addresses: &[SocketAddr],
    name: &str,
    key: &Key,
    terms: &Terms<'_>,
) -> Result<Meeting, MeetError> {
    let advice = "it was started there; is its address as the near host knows it another one (--peer-address), and does a firewall \
                  between the two hosts let new ports through?";
    with(None, dial(addresses, name, advice, key, terms.stop)?, terms)
}

/// A far side that serves.
pub(crate) fn serving(
    addresses: &[SocketAddr],
    name: &str,
    key: &Key,
    terms: &Terms<'_>,
) -> Result<Meeting, MeetError> {
    let advice = "is 'pipegauge serve' running there (it ends with its first measurement unless --keep), and is its port \
                  open to this host?";
    with(None, dial(addresses, name, advice, key, terms.stop)?, terms)
}

fn no_way() -> MeetError {
    MeetError::Protocol("it was started one way and waits another".into())
}

fn with(launched: Option<Launched>, channel: (Channel, SessionKeys), terms: &Terms<'_>) -> Result<Meeting, MeetError> {
    let mut control = Control::over(channel, terms.plan, terms.stop)?;
    control.at = terms.at;
    let mut meeting = Meeting { control, launched, environment: None, again: None };
    let hello = meeting.control.hello(terms.far_pin, terms.rank, terms.environment);
    match hello {
        Ok((environment, _)) => {
            meeting.environment = environment;
            Ok(meeting)
        }
        Err(e) => Err(meeting.ended(e)),
    }
}

impl Meeting {
    /// How a far process of this host described itself: it inherited this thread's pin and can't see past it; all else it inherited as well.
    pub(crate) fn inherited(&self) -> Option<Environment> {
        let environment = self.environment.clone()?;
        Some(Environment { cpus: host::cpus_before_pinning(), ..environment })
    }

    /// A far side that was lost over one path may be there for the others: one that serves starts another process. It is tried once.
    pub(crate) fn renew(&mut self) {
        if !self.control.is_broken() {
            return;
        }
        let Some(again) = self.again.take() else { return };
        // A far side that hangs is to see that nobody waits for it any more.
        self.control.hang_up();
        if let Ok(mut met) = again() {
            met.again = Some(again);
            *self = met;
        }
    }

    /// Adds how the far process ended to an error that says only that it did.
    pub(crate) fn ended(&mut self, e: MeetError) -> MeetError {
        match e {
            MeetError::Gone { doing, .. } => MeetError::Gone { doing, how: self.how() },
            e => e,
        }
    }

    /// How the far process ended, where this side can know.
    pub(crate) fn how(&mut self) -> String {
        self.launched.as_mut().map(Launched::how_it_ended).unwrap_or_default()
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        if let Some(far) = &mut self.launched
            && self.control.is_broken()
        {
            far.give_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_has_time_by_the_patience() {
        let time = |patience| starts_over_ssh(Duration::from_secs(patience)).as_secs();
        assert_eq!([0, 2, 5, 10, 30, 60].map(time), [10, 10, 20, 40, 40, 60]);
        assert_eq!(starts_over_ssh(Duration::MAX), Duration::MAX);
    }

    #[test]
    fn a_link_local_far_side_is_reached_over_this_hosts_own_interface() {
        let there: SocketAddr = "[fe80::2%9]:4000".parse().unwrap();
        for target in ["u@fe80::2%3", "u@[fe80::2%3]:22", "[fe80::2%3]"] {
            assert_eq!(from_here(there, target).unwrap(), "[fe80::2%3]:4000".parse().unwrap(), "{target}");
        }
        let said = from_here(there, "u@host").unwrap_err().to_string();
        assert!(said.contains("fe80::2") && said.contains("%INTERFACE"), "{said}");
        let global: SocketAddr = "[2001:db8::2]:4000".parse().unwrap();
        assert_eq!(from_here(global, "u@host").unwrap(), global);
    }
}
