//! What a screen is asked for, and what its thread shares with the driver.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::fd::OwnedFd;

/// How a screen is wanted.
pub struct Requests {
    /// The run file's name.
    pub file: String,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether keys are read from the terminal.
    pub keys: bool,
    /// Whether the last picture stays until a key.
    pub wait: bool,
    /// CPUs that the run measures on.
    pub measuring: Vec<u32>,
    /// Asks the run to stop.
    pub stop: Arc<AtomicBool>,
    /// Exit code of a second Ctrl-C.
    pub forced: i32,
    /// Called when the screen has gone, in whichever way.
    pub gone: Box<dyn FnOnce() + Send>,
}

/// What the driver and the thread tell each other.
pub(crate) struct Shared {
    pub wake: OwnedFd,
    /// The driver waits for a picture.
    pub asked: AtomicBool,
    /// No more events come.
    pub over: AtomicBool,
    /// Nobody looks any more.
    pub closed: Arc<AtomicBool>,
}

impl Shared {
    /// Wakes the thread that draws.
    pub fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}
