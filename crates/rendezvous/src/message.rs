//! What the two sides say to each other on the control connection, and before it on a started process's pipes.
//!
//! The greeting's shape never changes: a side of any version can read the other's and name both versions.

use std::net::{IpAddr, SocketAddr};

use host::{Environment, MachineCalibration, Taken};
use measure::{FarReport, Flows, Load, TrialSpec};
use serde::{Deserialize, Serialize};
use transport::settings::Effective;
use transport::{Address, Capabilities, LinkError, Name, Settings};

use crate::course::Numbers;
use crate::{Limits, MeetError};

/// Version of everything below. A change that the other side would misread raises it.
pub(crate) const PROTOCOL: u32 = 15;
/// Version of this program. Both sides run half of the measuring loop, so they must be of one version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Who is speaking. Part of every first message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Speaker {
    /// [`PROTOCOL`].
    pub pipegauge: u32,
    /// [`VERSION`].
    pub version: String,
}

impl Speaker {
    pub(crate) fn here() -> Self {
        Self { pipegauge: PROTOCOL, version: VERSION.to_owned() }
    }

    /// An error that names both, unless this speaker can be measured with.
    pub(crate) fn agrees(&self) -> Result<(), MeetError> {
        if self.pipegauge == PROTOCOL && self.version == VERSION {
            return Ok(());
        }
        Err(MeetError::Version {
            here: VERSION.to_owned(),
            here_protocol: PROTOCOL,
            there: self.version.clone(),
            there_protocol: self.pipegauge,
        })
    }
}

/// The near side's first message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Greeting {
    #[serde(flatten)]
    pub speaker: Speaker,
    /// Proof of the secret, in hexadecimal.
    pub proof: String,
}

/// The far side's answer to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Welcome {
    #[serde(flatten)]
    pub speaker: Speaker,
    /// The far side's own proof, in hexadecimal; empty where it refuses.
    #[serde(default)]
    pub proof: String,
    /// Why it refuses, if it does.
    #[serde(default)]
    pub refusal: Option<Refusal>,
}

/// Why a peer is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Refusal {
    /// The proof is wrong.
    Secret,
    /// A measurement is in progress, or was the only one.
    Busy,
    /// Another version.
    Version,
}

/// On which CPU a far side that decides for itself should run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FarPin {
    /// On one of its own choice.
    Auto,
    /// On any.
    None,
    /// On this one and no other.
    Cpu(u32),
}

/// What the near side asks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub(crate) enum Ask {
    /// First: who are you, and on which CPU will you run?
    Hello {
        /// CPU wished for the far side. One that the near side started on its own host was told before.
        pin: FarPin,
        /// Which this is, from 0, of the far processes that a path has on its host: where it chooses a CPU, each has one of its own.
        #[serde(default)]
        rank: u32,
        /// Whether to describe the environment.
        environment: bool,
    },
    /// Open the data connections of a path, one for each flow, then those of the flows that load it. Answers: `Listening`, then `Opened` when
    /// all stand.
    Open {
        transport: Name,
        settings: Settings,
        /// Seconds without progress after which a side gives up.
        patience: f64,
        /// Number of the first connection on this control connection, larger than that of any before; those of further flows
        /// follow it.
        connection: u64,
        /// How many.
        flows: u32,
        /// Connections of the same path that other far processes have: each trial is one of all.
        #[serde(default)]
        others: u32,
        /// A CPU for the thread of each flow, for a far side on the near side's host; else empty.
        cpus: Vec<u32>,
        /// What loads the path, if anything does. Its connections' numbers follow those of the flows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        load: Option<Loads>,
    },
    /// Begin the flows that load the open path, or end them for good. Answer: `Load`, where they begin once all carry.
    Load { begin: bool },
    /// Run a trial on the open connections. Answers: `Ready` at once, `Done` at its end. Where the far side sends
    /// ([`TrialSpec::far_sends`]), it waits for `Go` in between.
    Trial { spec: Box<TrialSpec> },
    /// The near side is about to receive: the far side may send. Else a part of the stream would lie in buffers before the
    /// receiver's time begins. No answer of its own.
    Go,
    /// Close the data connections of which `connection` is the first. No answer.
    Close { connection: u64 },
    /// What did others take of the far side's CPU since the path was opened, or since this was asked last? Only between
    /// trials.
    Taken,
    /// How fast is the far side's machine just now? It looks for about so many seconds. Only between trials.
    Calibrate { time: f64 },
    /// Break off what is being done; its answer becomes `Failed` unless it is already complete. No answer of its own.
    Cancel,
    /// The near half of the trial is over: what is missing of an unreliable path is lost. No answer of its own.
    Enough,
    /// The measurement has ended. No answer.
    Bye,
}

/// What loads a path that is to be opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Loads {
    #[serde(flatten)]
    pub load: Load,
    /// A CPU for the thread of each loading flow, for a far side on the near side's host; else empty.
    pub cpus: Vec<u32>,
}

/// What the far side answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// To `Hello`.
    Hello { environment: Option<Box<Environment>>, pinned: Option<u32> },
    /// Where data connections are awaited, and what the proofs on them are made from.
    Listening { address: Address, nonce: String },
    /// The data connections stand.
    Opened {
        flows: Vec<Stands>,
        /// CPUs that the threads of loading flows keep to, one each; empty where they keep to none, or there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        load: Vec<u32>,
    },
    /// To `Load`: done.
    Load,
    /// The trial may begin; and what the far side's monotonic clock shows, nanoseconds.
    Ready { at: u64 },
    /// Where both sides send on a path that loses messages: all is sent from here, and what is still missing there is lost. No answer to anything.
    Sent,
    /// The trial ended: the report of each flow, what several did at once, where this side timed them, and how many bytes a second of
    /// loading flows this side received meanwhile, where any loaded the path.
    Done {
        reports: Vec<FarReport>,
        flows: Option<Flows>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        load: Option<f64>,
        /// How each flow that this side timed went on by this host's monotonic clock, where it did not time all of the path's: other processes have
        /// the others, or the near side received them. Who knows of all finds the time in which all ran.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        courses: Vec<Numbers>,
    },
    /// To `Taken`: what was taken, and by whom; none where the far side is on no CPU in particular or can't tell.
    Taken { taken: Option<Taken> },
    /// To `Calibrate`; none where it can't tell.
    Calibrated { calibration: Option<MachineCalibration> },
    /// It did not work out.
    Failed { cause: Cause, text: String },
    /// It was not tried: against the limits, or without sense.
    Refused { text: String },
}

/// One flow's data connection, as the far side has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stands {
    /// What took effect on it.
    pub effective: Effective,
    /// What it can do.
    pub capabilities: Box<Capabilities>,
    /// The CPU that its thread keeps to.
    pub cpu: Option<u32>,
}

/// What kind of failure a `Failed` is: decides whose words a person sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cause {
    /// The near side closed the data connection, or it was cut.
    Closed,
    /// Nothing moved on the data connection.
    Stalled,
    /// The far side broke off because it was asked to.
    Interrupted,
    /// The far side's process was asked to end.
    Ending,
    /// Anything else: the far side's words are the ones that matter.
    Other,
}

impl Cause {
    pub(crate) fn of(e: &LinkError) -> Self {
        match e {
            LinkError::Closed { .. } => Self::Closed,
            LinkError::Stalled { .. } => Self::Stalled,
            LinkError::Interrupted => Self::Interrupted,
            _ => Self::Other,
        }
    }
}

/// The line a started far process reads from its standard input.
#[derive(Serialize, Deserialize)]
pub(crate) struct Launch {
    #[serde(flatten)]
    pub speaker: Speaker,
    /// The one-time secret, in hexadecimal.
    pub secret: String,
    /// How it was started.
    pub by: By,
    /// CPU to run on.
    pub pin: Option<u32>,
    /// CPUs that the near side might use before it was pinned: a started process inherits the pin, and only what measures
    /// should stay where it is. Empty: stay.
    pub cpus: Vec<u32>,
    /// What the near side may ask for.
    pub limits: Limits,
    /// On the near side's host: the address at which the near side reaches it, where data connections are opened; none where that is the
    /// host itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen_at: Option<IpAddr>,
    /// Started by ssh for a near side that reaches it at another address than ssh did: it listens at all.
    #[serde(default)]
    pub anywhere: bool,
}

/// How a far process was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum By {
    /// By the near side itself, on the same host.
    Spawn,
    /// By ssh.
    Ssh,
}

/// The line it writes to its standard output.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Waiting {
    #[serde(flatten)]
    pub speaker: Speaker,
    /// Where it waits for the control connection; none where that is its standard input (on the same host), or where it can't
    /// be talked to (another version).
    #[serde(default)]
    pub at: Option<SocketAddr>,
    /// SHA-256 of its certificate, in hexadecimal.
    #[serde(default)]
    pub pin: String,
}
