//! The floor: what a careful programmer would write to time a path by hand, and nothing more.
//!
//! Two processes, pinned to two CPUs, one loop, two looks at the clock. No statistics, no checks between messages, no layers:
//! the figure is what the path itself costs, and pipegauge is held against it. The crate shares no code with the
//! evaluator on purpose, so that a mistake there does not hide here.
//!
//! ```text
//! pipegauge-floor tcp --pattern pingpong --size 64 --repeats 100000 --pin 0,1
//! ```
//!
//! [`measure`] does the same for a program that wants the figure. The second process is the same program again: started
//! with the arguments `far ...`, it must come back to [`main`] (see [`Program`]).
//!
//! | module | job |
//! |---|---|
//! | `plan` | what to time, what came of it, as one JSON line |
//! | `flags` | the command line |
//! | `error` | what can go wrong, in words |
//! | `start` | the second process: start, hand over the path, pin, reap |
//! | `socket` | TCP and UNIX stream |
//! | `watch` | ends a receive that lasts too long |
//! | `message` | page-aligned memory |
//! | `memory` | shared memory: a cache line each way, a byte ring |

mod error;
mod flags;
mod memory;
mod message;
mod plan;
mod socket;
mod start;
mod watch;

use std::process::ExitCode;

pub use error::FloorError;
pub use plan::{Figure, Path, Pattern, Plan};
pub use start::{Program, measure};

/// Longest time without progress, seconds.
pub(crate) const PATIENCE: u64 = 10;

/// The command `pipegauge-floor`: `args` without the program's name. Prints one JSON line.
///
/// Exit code 0; 1 when the measurement failed; 2 when the arguments are wrong. Messages go to standard error.
pub fn main(args: &[String]) -> ExitCode {
    match Program::this(&[]) {
        Ok(program) => program.main(args),
        Err(e) => {
            eprintln!("pipegauge-floor: {e}");
            ExitCode::FAILURE
        }
    }
}
