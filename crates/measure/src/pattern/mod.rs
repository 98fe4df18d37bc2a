//! The patterns: who sends what, and when. Each is one file: both halves of its loop, compiled for each link and clock, and its
//! [`Facts`]. What loops have in common is in [`crate::near`] and [`crate::far`]. Nothing else in the workspace asks which pattern it
//! has before it: it asks for a fact.

mod bidirectional;
mod burst;
mod cast;
mod connect;
mod facts;
mod get;
mod hint;
mod one_sided;
mod ping_pong;
mod post;
mod put;
mod request;
mod stream;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::clock::Clock;
use transport::{End, Link};

use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

pub use facts::{Anew, Facts, InGroup, LogGp, NetPipe, Score, Seen};

/// What a near half of a trial found.
pub type Timed = Result<TrialReport, SessionError>;
/// What a far half found.
pub type Answered = Result<FarReport, SessionError>;

/// The list of patterns: a variant, the name that a person types and a run file holds, and its file.
macro_rules! patterns {
    ($($(#[$doc:meta])* $variant:ident $name:tt $file:ident;)*) => {
        /// Who sends what, and when.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Pattern {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Pattern {
            /// Every pattern, in the order in which they are listed.
            pub const ALL: &[Pattern] = &[$(Pattern::$variant),*];

            /// The name a person types.
            pub fn name(self) -> &'static str {
                match self { $(Pattern::$variant => $name),* }
            }

            /// What is known of it.
            pub fn facts(self) -> &'static Facts {
                match self { $(Pattern::$variant => &$file::FACTS),* }
            }

            /// Its near half of a trial: what is timed.
            pub(crate) fn near<L: Link, C: Clock>(self, end: &mut End<L>, clock: &C, spec: &TrialSpec, workspace: &mut Workspace) -> Timed {
                match self { $(Pattern::$variant => $file::near(end, clock, spec, workspace)),* }
            }

            /// Its far half.
            pub(crate) fn far<L: Link>(self, end: &mut End<L>, spec: &TrialSpec, workspace: &mut Workspace) -> Answered {
                match self { $(Pattern::$variant => $file::far(end, spec, workspace)),* }
            }
        }
    };
}

patterns! {
    /// A block there and the same size back, one at a time (`seeds/004`, section 2).
    PingPong "ping-pong" ping_pong;
    /// Blocks one after another without any answer, timed at the receiver from one message that is here whole to another.
    Stream "stream" stream;
    /// A number of sends, then one one-byte answer (`seeds/000`, 4.2.2).
    Burst "burst" burst;
    /// Both sides send at once.
    Bidirectional "bidirectional" bidirectional;
    /// A block there, another size back, on a kept connection.
    Request "request" request;
    /// Connect, request, response, close for each transaction.
    Connect "connect" connect;
    /// A block into memory that the far side exposes, then a fence.
    Put "put" put;
    /// A block out of memory that the far side exposes.
    Get "get" get;
    /// A stream whose sends are posted, and complete later.
    Post "post" post;
    /// A block to all other members of a group, each of which answers it.
    Cast "cast" cast;
    /// HINT: both sides work out their share of an answer, then add up two numbers of 8 bytes each (`seeds/004`, section 3).
    /// A trial's size is the number of subintervals of each side, and its iterations are answers.
    Hint "hint" hint;
}

impl Pattern {
    /// The names of those of which a fact holds, as a sentence lists them.
    pub fn those(which: impl Fn(&Facts) -> bool) -> String {
        let mut names: Vec<&str> = Self::ALL.iter().filter(|p| which(p.facts())).map(|p| p.name()).collect();
        let last = names.pop().unwrap_or_default();
        if names.is_empty() { last.to_owned() } else { format!("{} and {last}", names.join(", ")) }
    }
}
