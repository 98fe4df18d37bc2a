//! The port between the driver and whatever keeps two sides in step.

use std::time::Duration;

use host::{Environment, MachineCalibration, Taken};
use transport::settings::Effective;
use transport::{Capabilities, LinkError};

use crate::event::{FlowOpened, HostCalibration, LoadOpened};
use crate::topology::MemberOpened;
use crate::{TrialReport, TrialSpec};

/// Why a session can't go on, or a trial failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The data path failed on this side.
    #[error("{0}")]
    Link(#[from] LinkError),
    /// The far side met an error and said so.
    #[error("the far side: {0}")]
    Far(String),
    /// The control connection is gone: the far process ended or the network broke.
    #[error("{0}")]
    Control(String),
    /// Contents differ from what was sent, under `--check`.
    #[error(
        "corrupt message: {side} received a wrong byte at offset {offset} of a message of {size} bytes (iteration \
         {iteration})"
    )]
    Corrupt {
        /// "the near side" or "the far side".
        side: &'static str,
        /// Message size, bytes.
        size: u64,
        /// Iteration of the trial.
        iteration: u64,
        /// First wrong byte.
        offset: u64,
    },
    /// Something was written where no message is, under `--check`.
    #[error(
        "corrupt message: {side} found that byte {behind} behind the memory for messages of {size} bytes was written: the path writes beyond the \
         memory that it was given"
    )]
    Spilled {
        /// "the near side" or "the far side".
        side: &'static str,
        /// Message size, bytes.
        size: u64,
        /// How many bytes behind the end of the memory.
        behind: u64,
    },
    /// HINT's numbers are not what the work gives: a far side that does other work, or a path that changes what it carries.
    #[error("HINT: {0}")]
    Hint(String),
    /// One of several flows failed.
    #[error("flow {number} of {of}: {source}")]
    Flow {
        /// Its number, from 1.
        number: u32,
        /// How many there are.
        of: u32,
        /// What it met.
        source: Box<SessionError>,
    },
    /// One of the flows that load the path failed.
    #[error("loading flow {number} of {of}: {source}")]
    Loading {
        /// Its number, from 1.
        number: u32,
        /// How many connections the load has.
        of: u32,
        /// What it met.
        source: Box<SessionError>,
    },
    /// One of the processes of a path failed: its near or far half, or the connection between them.
    #[error("{what} {number} of {of}: {source}")]
    Member {
        /// "pair" or "member".
        what: &'static str,
        /// Its number, from 1.
        number: u32,
        /// How many there are.
        of: u32,
        /// What it met.
        source: Box<SessionError>,
    },
    /// Nothing came through an unreliable path.
    #[error(
        "{in_a_row} datagrams in a row were lost: the peer is gone, the path drops what is this large, or answers take longer \
         than a lost one is waited for (--loss-timeout waits longer)"
    )]
    NothingArrives {
        /// Losses one after another.
        in_a_row: u32,
    },
    /// Asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SessionError {
    /// What `side` found of messages of `size` bytes that it received under `--check`: the first wrong byte (iteration, offset), and how far behind a
    /// message something was written.
    pub fn contents(
        side: &'static str,
        size: u64,
        wrong: Option<(u64, u64)>,
        spilled: Option<u64>,
    ) -> Result<(), Self> {
        match (wrong, spilled) {
            (Some((iteration, offset)), _) => Err(Self::Corrupt { side, size, iteration, offset }),
            (None, Some(behind)) => Err(Self::Spilled { side, size, behind }),
            (None, None) => Ok(()),
        }
    }

    /// What was met, whichever flow met it.
    pub fn root(&self) -> &Self {
        match self {
            Self::Flow { source, .. } | Self::Loading { source, .. } | Self::Member { source, .. } => source.root(),
            other => other,
        }
    }
}

/// Who takes part in a path; by default one process that plays both ends, on a path without settings.
#[derive(Debug, Clone, Default)]
pub struct Party {
    /// The far side's environment; none where one process plays both ends.
    pub far: Option<Environment>,
    /// What took effect on the near side's first connection.
    pub near_effective: Effective,
    /// What took effect on the far side's.
    pub far_effective: Effective,
    /// The flows, where there are several.
    pub flows: Vec<FlowOpened>,
    /// The processes that take part, where the near halves are processes of their own.
    pub members: Vec<MemberOpened>,
    /// The loading flows, where there are any.
    pub load: Option<LoadOpened>,
    /// CPUs that the first process of each side may run on from here on, near and far, as each of them found: one where it was pinned, whoever did that.
    /// Empty where that is not known.
    pub cpus: (Vec<u32>, Vec<u32>),
}

impl Party {
    /// The one CPU that both sides are kept to, where neither may run elsewhere.
    pub(crate) fn one_cpu(&self) -> Option<u32> {
        match (&self.cpus.0[..], &self.cpus.1[..]) {
            ([near], [far]) if near == far => Some(*near),
            _ => None,
        }
    }
}

/// One path between this side and a far side.
pub trait Session {
    /// What its transport can do.
    fn capabilities(&self) -> Capabilities;
    /// Opens a fresh connection, in a fresh far process where that is cheap. Called before each round; closes the last.
    fn open(&mut self, round: u32) -> Result<Party, SessionError>;
    /// Runs one trial on the open connection.
    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError>;
    /// A round is over and another path may have the next turn: frees memory that only trials need, and ends the load.
    fn rest(&mut self) {}
    /// Ends connection and far process. All trials have been reported by then; an error means that something else was lost (the end of a
    /// trace on a full disk).
    fn close(&mut self) -> Result<(), SessionError>;
    /// The session's clock, nanoseconds: wall-clock time, or virtual time for the theoretical link. Budgets use it.
    fn now(&self) -> u64;
    /// What others than the two sides took of the pinned CPUs since the last call; none where it can't be known.
    fn taken(&mut self) -> Option<Taken> {
        None
    }
    /// The speed of the machines at this moment, each within about `time`. None where it can't be measured, or nothing of the path depends on
    /// it. Only between trials.
    fn calibration(&mut self, _time: Duration) -> Calibrations {
        Calibrations::default()
    }
}

/// The speed of a path's machines at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibrations {
    /// The near side's.
    pub near: Option<MachineCalibration>,
    /// Each far host's, where that is another machine.
    pub far: Vec<HostCalibration>,
}
