//! What measuring itself costs: reported at the start, never silently subtracted.

use std::hint::black_box;
use std::time::Duration;

use transport::clock::{Clock, Monotonic};
use transport::{Capabilities, End, Link, LinkError};

use crate::event::Calibration;
use crate::workspace::Workspace;
use crate::{Pattern, TrialSpec};

/// Repeats of each measurement; the smallest counts, since everything else only adds.
const ROUNDS: u32 = 20;

/// Measures the cost and the resolution of the clock and the cost of the loop itself. Takes about 10 ms.
pub fn calibrate() -> Calibration {
    let clock = Monotonic;
    let mut cost = f64::INFINITY;
    let mut step = u64::MAX;
    for _ in 0..ROUNDS {
        let begin = clock.now();
        let mut last = begin;
        for _ in 0..2000 {
            let now = black_box(clock.now());
            if now > last {
                step = step.min(now - last);
            }
            last = now;
        }
        cost = cost.min((last - begin) as f64 / 2000.0);
    }
    Calibration { clock_cost_ns: cost, clock_step_ns: step as f64, loop_cost_ns: loop_cost() }
}

/// One iteration of the ping-pong loop over a link that does nothing.
fn loop_cost() -> f64 {
    let spec = TrialSpec { warmup: 100, chunk: 10_000, ..TrialSpec::plain(Pattern::PingPong, 1, 10_000) };
    let (mut end, mut workspace) = (End::new(Nothing), Workspace::new(true));
    (0..ROUNDS)
        .filter_map(|_| crate::near::run(&mut end, &Monotonic, &spec, &mut workspace).ok())
        .map(|report| report.median * 1e9)
        .fold(f64::INFINITY, f64::min)
}

/// A link whose operations do nothing, so that only the loop remains.
struct Nothing;

impl Link for Nothing {
    fn capabilities(&self) -> Capabilities {
        Capabilities::alone()
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        black_box(message);
        Ok(())
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        black_box(message);
        Ok(())
    }
    fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
        Ok(())
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Ok(true)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}
