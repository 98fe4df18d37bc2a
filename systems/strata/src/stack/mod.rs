//! Stacks: a string such as `TOTAL:MBRSHIP:FRAG:NAK:COM:udp` to layers, whether each layer stands on what it needs, and the smallest stack that provides
//! what somebody wants.

mod check;
mod kind;
mod search;
mod spec;

pub use check::{Unsound, check};
pub use kind::Kind;
pub use search::smallest;
pub use spec::{Carrier, Malformed, Spec};
