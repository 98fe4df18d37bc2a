//! The patterns: who sends what, and when. Each is one file: both halves of its loop, compiled for each link and clock, and its [`Facts`].
//! What loops have in common is in [`crate::near`] and [`crate::far`]. Nothing else in the workspace distinguishes patterns: it reads their
//! facts.

#[macro_use]
mod list;

mod all_to_all;
mod allgather;
mod allreduce;
mod barrier;
mod bidirectional;
mod broadcast;
mod burst;
mod cast;
mod collective;
mod connect;
mod facts;
mod get;
mod group;
mod hint;
mod member;
mod one_sender;
mod one_sided;
mod ping_pong;
#[cfg(test)]
pub(crate) mod played;
mod post;
mod put;
mod request;
mod stream;

use transport::clock::Clock;
use transport::{End, Link};

use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

pub use facts::{Anew, Facts, InGroup, LogGpPart, NetPipe, Score, Seen, Sizes};
pub use list::Pattern;

/// What a near half of a trial found.
pub type Timed = Result<TrialReport, SessionError>;
/// What a far half found.
pub type Answered = Result<FarReport, SessionError>;

/// What each pattern's file has.
macro_rules! files {
    ($($(#[$doc:meta])* $variant:ident $name:tt $file:ident;)*) => {
        impl Pattern {
            /// The facts of this pattern.
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

patterns!(files);

impl Pattern {
    /// The names of those patterns of which a fact holds, as a sentence lists them.
    pub fn those(which: impl Fn(&Facts) -> bool) -> String {
        let mut names: Vec<&str> = Self::ALL.iter().filter(|p| which(p.facts())).map(|p| p.name()).collect();
        let last = names.pop().unwrap_or_default();
        if names.is_empty() { last.to_owned() } else { format!("{} and {last}", names.join(", ")) }
    }
}
