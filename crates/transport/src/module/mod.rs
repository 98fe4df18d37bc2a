//! Transports that are found at run time: shared libraries behind `include/pipegauge.h`, written in C or anything that can be called from it.
//!
//! | module | job |
//! |---|---|
//! | `search` | where files are looked for, and what name each gives |
//! | `abi` | the header as Rust has it |
//! | `library` | loading a file, and looking its table through |
//! | `call` | what functions are called with, and what their codes mean |
//! | `calls` | calls that have not come back, for whoever watches |
//! | `transport` | [`Module`]: a transport that is described (in the command) or loaded (in processes that measure) |
//! | `link` | one end of a connection |
//!
//! A module has all that its process may do, and may break it. So the command never loads one: a process of its own describes it, and both sides
//! of a path over one are processes of their own.

mod abi;
mod call;
mod calls;
mod library;
mod link;
mod search;
mod transport;

pub use calls::{Pending, pending};
pub use library::{Declared, Unloadable};
pub use link::ModuleLink;
pub use search::{Found, PassedBy, VARIABLE, all as found_in, named as file_of, own as own_places, passed_by, places};
pub use transport::{Describe, Description, Module};
