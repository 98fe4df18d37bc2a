//! The list of patterns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hands the list to the macro `to`: a variant, the name that a person types and a run file holds, and its file.
macro_rules! patterns {
    ($to:ident) => {
        $to! {
            /// A message there and the same size back, one at a time (`seeds/004`, section 2).
            PingPong "ping-pong" ping_pong;
            /// Messages one after another without any answer, timed at the receiver from one that is here whole to another.
            Stream "stream" stream;
            /// A number of sends, then one one-byte answer (`seeds/000`, 4.2.2).
            Burst "burst" burst;
            /// Both sides send at once.
            Bidirectional "bidirectional" bidirectional;
            /// A message there, another size back, on a kept connection.
            Request "request" request;
            /// Connect, request, response, close for each transaction.
            Connect "connect" connect;
            /// A message into memory that the far side exposes, then a fence.
            Put "put" put;
            /// A message out of memory that the far side exposes.
            Get "get" get;
            /// A stream whose sends are posted, and complete later.
            Post "post" post;
            /// A message to all other members of a group, each of which answers it.
            Cast "cast" cast;
            /// Each member of a group casts messages, then waits for those of all (`seeds/002`, figure 3).
            Group "group" group;
            /// One member of a group casts messages, and the others tell when the last was there.
            OneSender "one-sender" one_sender;
            /// All members of a group wait for each other.
            Barrier "barrier" barrier;
            /// A message of one member goes to all others.
            Broadcast "broadcast" broadcast;
            /// The messages of all members are added up, and each gets the sums.
            Allreduce "allreduce" allreduce;
            /// Each member gets the messages of all.
            Allgather "allgather" allgather;
            /// Each member has a message for each.
            AllToAll "all-to-all" all_to_all;
            /// HINT: both sides work out their share of an answer, then add up two numbers of 8 bytes each (`seeds/004`, section 3).
            /// A trial's size is the number of subintervals of each side, and its iterations are answers.
            Hint "hint" hint;
        }
    };
}

macro_rules! kinds {
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
        }
    };
}

patterns!(kinds);
