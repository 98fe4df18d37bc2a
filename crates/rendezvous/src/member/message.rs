//! What the command and a near member that it started say to each other.

use std::net::SocketAddr;

use measure::{SessionError, TrialReport, TrialSpec};
use serde::{Deserialize, Serialize};
use transport::decorate::Decorators;
use transport::settings::Effective;
use transport::{Address, Capabilities, LinkError, Name, Settings};

use crate::course::Numbers;

/// Largest frame: the course of a trial with as many steps as one keeps.
pub(crate) const FRAME: usize = 64 << 20;

/// What the command asks a member for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Connect to a far side, in place of what was open. Answer: `Stands`.
    Dial(Box<Dial>),
    /// Run the near half of a trial on the connection. Answer: `Ran`; where the far side sends (`TrialSpec::far_sends`) `Waits` before.
    Run { spec: Box<TrialSpec> },
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
    /// What the far side named.
    pub address: Address,
    /// The far side's own address, whose port is of no meaning.
    pub peer: SocketAddr,
    /// What to show there and what must be shown, in hexadecimal.
    pub proof: (String, String),
    /// Seconds without progress after which the member gives up.
    pub patience: f64,
    /// What is put around the link.
    pub decorators: Decorators,
    /// The CPU to keep to.
    pub cpu: Option<u32>,
}

/// What a member answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "kebab-case")]
pub(crate) enum Told {
    /// To `Dial`.
    Stands { effective: Box<Effective>, capabilities: Box<Capabilities> },
    /// It is ready to receive, and nothing came before it was.
    Waits,
    /// To `Run`: what came of the trial, and how it went on where it is one of several.
    Ran { report: Box<TrialReport>, course: Option<Numbers> },
    /// It did not work out; the connection is closed.
    Failed { met: Met, text: String },
}

/// What a member met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Met {
    /// The far side closed the connection, or it was cut.
    Closed,
    /// Nothing moved on it.
    Stalled,
    /// It was asked to break off.
    Interrupted,
    /// So many messages in a row were lost.
    NothingArrives { in_a_row: u32 },
    /// Anything else: its words say what.
    Other,
}

impl Met {
    pub(crate) fn of(e: &SessionError) -> Self {
        match e.root() {
            SessionError::Link(LinkError::Closed { .. }) => Self::Closed,
            SessionError::Link(LinkError::Stalled { .. }) => Self::Stalled,
            SessionError::Link(LinkError::Interrupted) | SessionError::Interrupted => Self::Interrupted,
            SessionError::NothingArrives { in_a_row } => Self::NothingArrives { in_a_row: *in_a_row },
            _ => Self::Other,
        }
    }
}
