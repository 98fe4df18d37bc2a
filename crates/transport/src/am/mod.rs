//! Active Messages between two processes of one host, by the library `systems/am`.
//!
//! | module | job |
//! |---|---|
//! | `link` | the Link port over an endpoint: a message is a request for each of its pieces |
//! | `inbox` | what handlers work on: where what arrives goes |

mod inbox;
mod link;
#[cfg(test)]
mod tests;

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::net::SocketType;

pub use link::Am;

use crate::local::Local;
use crate::meet::{self, Made};
use crate::options::{Answer, Form, OptionSpec, wait};
use crate::{AnyLink, Capabilities, LinkError, Name, Proof, Semantics, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("am");

/// The transport.
pub static TRANSPORT: ActiveMessages = ActiveMessages;

/// Active Messages between two processes of one host.
#[derive(Debug, Clone, Copy)]
pub struct ActiveMessages;

/// The wait modes, the default first.
const WAITS: [Wait; 3] = [Wait::Block, Wait::Spin, Wait::Sleep];

/// Names of its options.
const KIND: &str = "kind";
const RING: &str = "ring";

/// How the bytes of a message travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As the payload of requests, copied through the ring.
    Medium,
    /// As their arguments.
    Short,
    /// Written into the receiver's region; requests say so.
    Bulk,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Medium, Kind::Short, Kind::Bulk];

    const fn name(self) -> &'static str {
        match self {
            Kind::Medium => "medium",
            Kind::Short => "short",
            Kind::Bulk => "bulk",
        }
    }

    /// That of these settings.
    fn of(settings: &Settings) -> Self {
        let asked = settings.text(KIND).unwrap_or_default();
        Self::ALL.into_iter().find(|kind| kind.name() == asked).unwrap_or(Kind::Medium)
    }
}

/// What can be set on it.
const OPTIONS: [OptionSpec; 3] = [
    wait(&[Wait::Block.name(), Wait::Spin.name(), Wait::Sleep.name()], "block"),
    OptionSpec {
        name: KIND,
        flag: None,
        form: Form::OneOf(&[Kind::Medium.name(), Kind::Short.name(), Kind::Bulk.name()]),
        default: "medium",
        help: "how bytes travel: payload through the ring, arguments (56 bytes each), or written into the receiver's region",
        answers: &[Answer { part: "", of: |e| e.options.get(KIND).cloned() }],
        steers: false,
        moved: None,
    },
    OptionSpec {
        name: RING,
        flag: None,
        form: Form::Bytes(4096, 64 << 20),
        default: "256KiB",
        help: "bytes of each direction's ring, made a power of two",
        answers: &[Answer { part: "", of: |e| e.options.get(RING).cloned() }],
        steers: false,
        moved: None,
    },
];

fn capabilities() -> Capabilities {
    Capabilities { semantics: Semantics::Message, waits: WAITS.to_vec(), ..Capabilities::plain() }
}

/// How an endpoint waits in this program's words.
fn wait_of(wait: am::Wait) -> Option<Wait> {
    match wait {
        am::Wait::Guarded(_) => Some(Wait::Block),
        am::Wait::Spin => Some(Wait::Spin),
        am::Wait::Sleep => Some(Wait::Sleep),
        _ => None,
    }
}

/// The library's options for these settings.
fn options(made: &Made) -> am::Options {
    let mut options = am::Options::default();
    options.wait = match made.wait {
        Wait::Spin => am::Wait::Spin,
        Wait::Sleep => am::Wait::Sleep,
        Wait::Block | Wait::BusyPoll => am::Wait::default(),
    };
    if let Some(ring) = made.settings.whole(RING).and_then(|bytes| usize::try_from(bytes).ok()) {
        options.ring_bytes = ring.clamp(4096, 64 << 20).next_power_of_two();
    }
    options.region_bytes = if Kind::of(&made.settings) == Kind::Bulk { link::SLOT * link::SLOTS as usize } else { 0 };
    options.patience = made.patience.limit;
    options
}

impl Local for ActiveMessages {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "Active Messages over rings in shared memory (systems/am)";
    const SPOKEN: &'static [&'static str] =
        &["am", "active messages", "active message", "activemessages", "active-messages"];
    const OPTIONS: &'static [OptionSpec] = &OPTIONS;
    const WAITS: &'static [Wait] = &WAITS;
    /// The library's greeting keeps message boundaries.
    const TYPE: SocketType = SocketType::SEQPACKET;

    fn can(_: &Settings) -> Capabilities {
        capabilities()
    }
    fn needs() -> Result<(), LinkError> {
        am::memory::Memory::create("am", 4096).map(drop).map_err(|e| link::of(e, "making shared memory"))
    }
    fn far(fd: OwnedFd, _: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        meet::hand_over(fd.as_fd(), &proof.far, &[])?;
        let endpoint = am::Endpoint::lead(fd, link::handlers(), &options(made));
        linked(endpoint, made)
    }
    fn near(fd: OwnedFd, _: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        meet::hand_over(fd.as_fd(), &proof.near, &[])?;
        let [] = meet::take_over(fd.as_fd(), &proof.far, &made.patience)?;
        let endpoint = am::Endpoint::follow(fd, link::handlers(), &options(made));
        linked(endpoint, made)
    }
}

/// The link over an endpoint that has met its peer.
fn linked(endpoint: Result<am::Endpoint<inbox::Inbox>, am::Error>, made: &Made) -> Result<AnyLink, LinkError> {
    let endpoint = endpoint.map_err(|e| link::of(e, "meeting over Active Messages"))?;
    Ok(AnyLink::new(Am::new(endpoint, Kind::of(&made.settings), &made.patience)?))
}
