//! What can go wrong while two sides meet.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use measure::SessionError;
use transport::{LinkError, Name};

use crate::agree::{Difference, list};

/// Where the other end of a control connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// At an IP address.
    At(SocketAddr),
    /// On this host, over a pair of sockets that have no address.
    Here,
}

impl Peer {
    /// Its address; sockets without one join processes of this host.
    pub(crate) fn address(self) -> SocketAddr {
        match self {
            Peer::At(at) => at,
            Peer::Here => (Ipv4Addr::LOCALHOST, 0).into(),
        }
    }
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Peer::At(at) => at.fmt(f),
            Peer::Here => f.pad("this host"),
        }
    }
}

/// Why two sides didn't meet, or came apart. Each says what was tried, what was found and what to do.
#[derive(Debug, thiserror::Error)]
pub enum MeetError {
    /// Asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Asked to stop while a measurement was in progress.
    #[error("asked to stop while a measurement was in progress: it was broken off")]
    BrokenOff,
    /// A process could not be started.
    #[error("can't start {what} with '{program}': {source}{}", missing(program, source))]
    Launch {
        /// "the far side" or "a near process".
        what: &'static str,
        /// What was to be run.
        program: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The process that measures for `serve` was lost before it met anybody.
    #[error("the process that measures ended before anybody came: {0}; run pipegauge doctor, and start serve again")]
    Attendant(String),
    /// A process ended, or said something else, before it was ready.
    #[error("{what} ('{program}') did not get ready: {found}")]
    NotReady {
        /// "the far side" or "a near process".
        what: &'static str,
        /// What was run.
        program: String,
        /// How it ended and the last it wrote to its standard error.
        found: String,
    },
    /// The far side was started by ssh but its environment does not say on which address ssh reached it.
    #[error(
        "the far side can't tell on which address it was reached ({found}): start 'pipegauge serve' on that host and use \
         the line it prints (--peer HOST:PORT --key ...)"
    )]
    NoSshAddress {
        /// What was found in `SSH_CONNECTION`.
        found: String,
    },
    /// An `ssh://` target that can't be read.
    #[error("can't read the ssh target '{0}': write user@host, host or user@host:port")]
    SshTarget(String),
    /// The far side can't be reached over the network.
    #[error("can't reach the far side at {peer}: {why}; {advice}")]
    Unreachable {
        /// Where it should be.
        peer: String,
        /// What was found.
        why: String,
        /// What to do.
        advice: &'static str,
    },
    /// Another program listens on the port.
    #[error(
        "port {port} at {bind} is already in use: choose another port (0 takes a free one), or end the program that \
         holds it ('ss -ltnp sport = :{port}' shows which)"
    )]
    PortInUse {
        /// The address asked for.
        bind: IpAddr,
        /// The port asked for.
        port: u16,
    },
    /// Can't listen at an address.
    #[error("can't listen at {at}: {source}; the address must be one of this host's ('ip address' lists them)")]
    Bind {
        /// Address and port.
        at: SocketAddr,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The certificate is not the one that the key names.
    #[error(
        "wrong key: the certificate shown at {peer} is not the one this key names; the key is of another 'serve' (each \
         start has its own), or someone stands in between"
    )]
    WrongCertificate {
        /// Who showed it.
        peer: Peer,
    },
    /// The far side does not accept the secret, or can't prove that it knows it.
    #[error(
        "wrong key: the far side at {peer} does not accept this secret; copy the line that 'serve' prints again, whole"
    )]
    WrongSecret {
        /// Who refused.
        peer: Peer,
    },
    /// Another measurement is in progress there.
    #[error(
        "the far side at {peer} is busy: another measurement is in progress, or its one measurement is already spoken \
         for; try again when it has ended"
    )]
    Busy {
        /// Who refused.
        peer: Peer,
    },
    /// The two sides are different programs.
    #[error(
        "the two sides differ in version: this side is pipegauge {here} (protocol {here_protocol}), the other is \
         pipegauge {there} (protocol {there_protocol}); install the same version on both"
    )]
    Version {
        /// Version here.
        here: String,
        /// Control protocol here.
        here_protocol: u32,
        /// Version there.
        there: String,
        /// Control protocol there.
        there_protocol: u32,
    },
    /// A setting took effect differently on the two sides.
    #[error("the two sides do not have the same settings: {}", list(.0))]
    Unequal(Vec<Difference>),
    /// Nothing came in the time that a step may take.
    #[error(
        "nothing came for {:.1} s while {doing}: the other side is stopped, overloaded, unreachable or not pipegauge",
        waited.as_secs_f64()
    )]
    Silent {
        /// What this side was doing.
        doing: &'static str,
        /// How long it waited.
        waited: Duration,
    },
    /// A process that this program starts was not told what to do.
    #[error(
        "no line that says what to do came over standard input within {:.0} s ({bytes} bytes came): this command is started by 'pipegauge run', \
         which sends one at once; use 'pipegauge serve' to wait for another host",
        waited.as_secs_f64()
    )]
    NotTold {
        /// How long it waited.
        waited: Duration,
        /// What came of the line.
        bytes: usize,
    },
    /// The far side said nothing for the whole of the patience.
    #[error(
        "the far side has been silent for {:.1} s while this side was {doing}: it is stopped, overloaded or unreachable \
         (--patience sets this limit)",
        waited.as_secs_f64()
    )]
    Patience {
        /// What this side was doing.
        doing: &'static str,
        /// How long it waited.
        waited: Duration,
    },
    /// The process that leads a run on another host said nothing for longer than it may.
    #[error(
        "nothing was received from the near side for {:.1} s: its host or its process is stopped, overloaded or unreachable (--patience sets this limit)",
        waited.as_secs_f64()
    )]
    LeadSilent {
        /// How long this side waited.
        waited: Duration,
    },
    /// The control connection is gone.
    #[error("the far side ended the control connection while this side was {doing}{how}")]
    Gone {
        /// What this side was doing.
        doing: &'static str,
        /// How the far process ended, where that is known (starts with ": "), or nothing.
        how: String,
    },
    /// The far side refused, in its own words.
    #[error("the far side refuses: {0}")]
    Refused(String),
    /// The far side met an error and said so.
    #[error("the far side: {0}")]
    Far(String),
    /// What arrived is not what this protocol allows here.
    #[error("the other side broke the control protocol: {0}")]
    Protocol(String),
    /// TLS failed.
    #[error("the control connection's TLS failed: {0}")]
    Tls(#[from] rustls::Error),
    /// A transport that only works within one host, and a far side on another.
    #[error(
        "{kind} works only within one host, and the far side at {peer} is on another: leave it out, or measure one that reaches another (pipegauge list)"
    )]
    OtherHost {
        /// The transport.
        kind: Name,
        /// The far side.
        peer: IpAddr,
    },
    /// A transport that is not available here.
    #[error("{kind} is not available here: {why}")]
    Unavailable {
        /// The transport.
        kind: Name,
        /// Why.
        why: String,
    },
    /// The measurement took longer than the far side allows.
    #[error("the measurement reached the limit of {seconds} s that 'serve' allows for one")]
    OverTime {
        /// The limit, seconds.
        seconds: f64,
    },
    /// The near side's process was stopped, and stayed so.
    #[error(
        "the near side's process has been stopped for longer than its patience (--patience): its measurement was given up"
    )]
    Stopped,
    /// Several far processes, and a far side that is one.
    #[error(
        "'pipegauge serve' is one process, and {asked} pairs need as many on the far side: measure them with --peer ssh://user@host, or one \
         far process with several connections (--flows, --topology fan-in)"
    )]
    OneProcess {
        /// Far processes asked for.
        asked: u32,
    },
    /// The data path failed.
    #[error("{0}")]
    Link(#[from] LinkError),
    /// The system refused something.
    #[error("{doing}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

impl MeetError {
    /// A [`MeetError::Io`] with what was tried.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }

    /// Whether the control connection can't be used after this.
    pub(crate) fn ends_control(&self) -> bool {
        matches!(
            self,
            Self::Gone { .. }
                | Self::Silent { .. }
                | Self::Patience { .. }
                | Self::Protocol(_)
                | Self::Tls(_)
                | Self::Io { .. }
                | Self::OverTime { .. }
        )
    }
}

impl From<MeetError> for SessionError {
    fn from(e: MeetError) -> Self {
        match e {
            MeetError::Interrupted => Self::Interrupted,
            MeetError::Link(e) => Self::Link(e),
            MeetError::Far(text) => Self::Far(text),
            e => Self::Control(e.to_string()),
        }
    }
}

/// What to do where the program is not there: ssh comes with no package of this program's.
fn missing(program: &str, e: &io::Error) -> &'static str {
    let ssh = program.split_whitespace().next() == Some("ssh");
    if ssh && e.kind() == io::ErrorKind::NotFound {
        "; the program ssh is not on the PATH: install a client (apt install openssh-client), or start 'pipegauge serve' on that host and use the \
         line it prints (--peer HOST:PORT --key ...)"
    } else {
        ""
    }
}

/// What a process printed that is no message, safe to print and no longer than a few lines.
pub(crate) fn printable(text: &str) -> String {
    units::received::clean(text.replace('\r', "").trim(), units::received::SENTENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_ssh_is_told_to_install_it() {
        let said = |program: &str, kind: io::ErrorKind| {
            MeetError::Launch { what: "the far side", program: program.into(), source: kind.into() }.to_string()
        };
        assert!(said("ssh -T host pipegauge peer", io::ErrorKind::NotFound).contains("openssh-client"));
        assert!(!said("ssh -T host pipegauge peer", io::ErrorKind::PermissionDenied).contains("openssh"));
        assert!(!said("numactl pipegauge peer", io::ErrorKind::NotFound).contains("openssh"));
    }
}
