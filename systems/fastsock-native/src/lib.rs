//! The native interface of fast sockets: receive posting between the two ends of a TCP connection of this host.
//!
//! Both programs have such a connection, made by the calls that they know, and both ask for this: one with [`accepted`], the other with [`connected`]. What they get
//! is an [`am::posting::Posting`]: the receiver posts buffers, and the sender writes messages there, one copy. The TCP connection stays as it is; nothing is put on it.
//! A connection that leaves the host is refused, and the program goes on with it.
//!
//! | module | job |
//! |---|---|
//! | `name` | the name under which two ends meet; pure |
//! | `meet` | meeting, for no longer than the options' patience |
//! | `c` | the same behind pointers: `systems/fastsock/include/fastsock.h` |

mod c;
mod meet;
mod name;

pub use meet::{accepted, connected};
