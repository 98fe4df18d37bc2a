//! The driver: schedules, trials, stop rules, patterns; knows only the Link port.
//!
//! A [`Session`] is one path between this side and a far side, whatever keeps them in step (a control connection, or
//! nothing where one process plays both ends). The driver asks sessions for trials in randomised blocks and tells what
//! happens as [`Event`]s, which are also the lines of the run file.

pub mod event;
pub mod session;
pub mod spec;

pub use event::Event;
pub use session::{Session, SessionError};
pub use spec::{Cache, FarReport, Pattern, TrialReport, TrialSpec};
