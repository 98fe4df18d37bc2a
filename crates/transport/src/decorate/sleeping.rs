//! The real clock for waits that may be long: sleeps, then spins the last stretch.

use std::time::Duration;

use crate::clock::{Clock, Monotonic};
use crate::patience::LOOK;
use crate::{LinkError, Patience};

/// A sleep returns up to about this much late; the rest of a wait is spun.
const COARSE: u64 = 300_000;

/// Monotonic time whose waits sleep, and end early when the side is asked to stop.
#[derive(Debug, Clone, Default)]
pub struct Sleeping {
    patience: Patience,
}

impl Sleeping {
    /// Waits end early when `patience` is asked to stop.
    pub fn new(patience: &Patience) -> Self {
        Self { patience: patience.clone() }
    }
}

impl Clock for Sleeping {
    fn now(&self) -> u64 {
        Monotonic.now()
    }

    fn wait_until(&self, at: u64) {
        while !self.patience.stopped() {
            let left = at.saturating_sub(Monotonic.now());
            if left == 0 {
                return;
            }
            if left > COARSE {
                std::thread::sleep(Duration::from_nanos(left - COARSE).min(LOOK));
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// Lets time pass until `at`, or says that this side was asked to stop.
pub(super) fn wait(clock: &impl Clock, patience: &Patience, at: u64) -> Result<(), LinkError> {
    clock.wait_until(at);
    if patience.stopped() { Err(LinkError::Interrupted) } else { Ok(()) }
}

/// Seconds in nanoseconds; nonsense is 0.
pub(super) fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_wait_lasts_at_least_as_long_as_asked() {
        let clock = Sleeping::default();
        for ns in [0, 1_000, 2_000_000] {
            let at = clock.now() + ns;
            clock.wait_until(at);
            assert!(clock.now() >= at);
        }
    }

    #[test]
    fn a_wait_ends_when_the_side_is_asked_to_stop() {
        let patience = Patience::new(Duration::from_secs(10), Arc::new(AtomicBool::new(true)));
        // An hour, did the stop not count.
        let clock = Sleeping::new(&patience);
        let at = clock.now() + 3_600_000_000_000;
        assert!(matches!(wait(&clock, &patience, at), Err(LinkError::Interrupted)));
    }
}
