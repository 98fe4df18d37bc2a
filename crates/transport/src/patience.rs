//! How long a link waits, and what ends the wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::LinkError;

/// A bound on waiting, shared by the links of a side. A link looks here only when it has already waited a while, so the
/// hot path pays nothing.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Longest time without progress.
    pub limit: Duration,
    stop: Arc<AtomicBool>,
}

/// How often a waiting link comes back to look at its patience.
pub const LOOK: Duration = Duration::from_millis(100);

impl Patience {
    /// Patience of `limit`, ended early when `stop` becomes true.
    pub fn new(limit: Duration, stop: Arc<AtomicBool>) -> Self {
        Self { limit, stop }
    }

    /// Whether this side has been asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The flag that ends all waiting; whoever loops without waiting looks at it too.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// To be called by a link that has waited since `since` without progress.
    pub fn check(&self, since: Instant, doing: &'static str) -> Result<(), LinkError> {
        if self.stopped() {
            return Err(LinkError::Interrupted);
        }
        let waited = since.elapsed();
        if waited >= self.limit { Err(LinkError::Stalled { doing, waited }) } else { Ok(()) }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self::new(Duration::from_secs(10), Arc::new(AtomicBool::new(false)))
    }
}
