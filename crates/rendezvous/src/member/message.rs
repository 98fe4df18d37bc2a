//! What the command and a near member that it started say to each other.

use std::net::SocketAddr;
use std::time::Duration;

use host::Environment;
use measure::{SessionError, TrialReport, TrialSpec};
use serde::{Deserialize, Serialize};
use transport::decorate::Decorators;
use transport::settings::Effective;
use transport::{Address, Capabilities, LinkError, Name, Settings};

use crate::course::Numbers;
use crate::message::FarPin;

/// Largest frame: the course of a trial with as many steps as one keeps.
pub(crate) const FRAME: usize = 64 << 20;

/// What the command asks a member for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Connect to a far side, or bring a group together, in place of what was open. Answer: `Stands`.
    Dial(Box<Dial>),
    /// Run the near half of a trial on the connection. Answer: `Ran`; where the far side sends (`TrialSpec::far_sends`) `Waits` before.
    Run { spec: Box<TrialSpec> },
    /// What does its host's monotonic clock show? Of members on other hosts, before a trial. Answer: `Clock`.
    Clock,
    /// Memory that only trials need goes. No answer.
    Rest,
    /// Break off what is being done; its answer becomes `Failed` unless it is already complete. No answer of its own.
    Cancel,
    /// The far side has sent all that it sends: on an unreliable path what is not here is lost. No answer of its own.
    Enough,
    /// The measurement has ended. No answer.
    Bye,
}

/// Where to connect, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Dial {
    pub transport: Name,
    pub settings: Settings,
    /// Where: a far side, or those of all other members of a group.
    pub endpoints: Vec<Endpoint>,
    /// Whether it is to bring a group together of those who wait there.
    #[serde(default)]
    pub gathers: bool,
    /// Seconds without progress after which the member gives up.
    pub patience: f64,
    /// What is put around the link.
    pub decorators: Decorators,
    /// The CPU to keep to, of a member on the command's host.
    pub cpu: Option<u32>,
    /// Of one on another host, which knows its own CPUs: which one is asked for there, and its number, from 0, of the members that this host has.
    #[serde(default)]
    pub chooses: Option<(FarPin, u32)>,
    /// Whether to say what it sees of its host.
    #[serde(default)]
    pub describe: bool,
}

/// Where a far side waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    /// What it named.
    pub address: Address,
    /// Its own address, whose port is of no meaning.
    pub peer: SocketAddr,
    /// What to show there and what must be shown, in hexadecimal.
    pub proof: (String, String),
}

/// What a member answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "kebab-case")]
pub(crate) enum Told {
    /// To `Dial`.
    Stands {
        effective: Box<Effective>,
        capabilities: Box<Capabilities>,
        /// What the process sees of its host, where that was asked for.
        environment: Option<Box<Environment>>,
        /// The CPU that it keeps to.
        cpu: Option<u32>,
    },
    /// To `Clock`, nanoseconds.
    Clock { at: u64 },
    /// It is ready to receive, and nothing came before it was.
    Waits,
    /// To `Run`: what came of the trial, and how it went on where it is one of several.
    Ran { report: Box<TrialReport>, course: Option<Numbers> },
    /// It did not work out; the connection is closed.
    Failed { met: Met, text: String },
}

/// What a member met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Met {
    /// The far side closed the connection, or it was cut.
    Closed,
    /// Nothing moved on it for so many seconds, in which it was doing this.
    Stalled { doing: String, seconds: f64 },
    /// It was asked to break off.
    Interrupted,
    /// So many messages in a row were lost.
    NothingArrives { in_a_row: u32 },
    /// Anything else: its words say what.
    Other,
}

/// What links do as they wait.
const DOING: [&str; 6] =
    ["sending", "receiving", "posting", "connecting", "exchanging messages", "waiting for the peer to connect"];

/// A link's error as it was in a member.
pub(crate) fn stalled(doing: &str, seconds: f64) -> LinkError {
    let doing = DOING.into_iter().find(|known| *known == doing).unwrap_or("waiting");
    LinkError::Stalled { doing, waited: Duration::try_from_secs_f64(seconds).unwrap_or_default() }
}

impl Met {
    pub(crate) fn of(e: &SessionError) -> Self {
        match e.root() {
            SessionError::Link(LinkError::Closed { .. }) => Self::Closed,
            SessionError::Link(LinkError::Stalled { doing, waited }) => {
                Self::Stalled { doing: (*doing).to_owned(), seconds: waited.as_secs_f64() }
            }
            SessionError::Link(LinkError::Interrupted) | SessionError::Interrupted => Self::Interrupted,
            SessionError::NothingArrives { in_a_row } => Self::NothingArrives { in_a_row: *in_a_row },
            _ => Self::Other,
        }
    }
}
