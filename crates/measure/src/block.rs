//! One block of trials: which sizes, in which order, how long each, and when a point is known well enough.

use std::sync::atomic::{AtomicBool, Ordering};

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use stats::Shared;

use crate::SessionError;
use crate::driver::RunError;
use crate::event::Why;
use crate::path::PathRun;

/// Largest block with which a connection comes to rest, bytes.
const MIDDLING: u64 = 65_536;

/// Fewest blocks after which a point can be settled.
const SETTLED_BLOCKS: u32 = 6;

impl PathRun<'_> {
    /// One block: every unsettled size once, in random order, within `time` seconds.
    pub fn block(&mut self, block: u32, time: f64, rng: &mut ChaCha8Rng, stop: &AtomicBool) -> Result<(), RunError> {
        let begin = self.session.now();
        let mut order: Vec<u64> =
            self.points.iter().filter(|(s, p)| **s <= self.ceiling && p.ended.is_none()).map(|(s, _)| *s).collect();
        order.shuffle(rng);
        self.open(block, order.len() as u32)?;
        if self.plan.rate.is_none() {
            self.warm_up(block, MIDDLING)?;
        }
        let used = (self.session.now() - begin) as f64 * 1e-9;
        let slice = self.slice(&order, time - used);
        for size in order {
            if stop.load(Ordering::Relaxed) {
                return Err(RunError::Session { kind: self.kind, source: SessionError::Interrupted });
            }
            if size > self.ceiling {
                continue;
            }
            let n = self.repeats(size, slice * self.weight(size));
            self.trial(size, n, block, false)?;
            let spent = (self.session.now() - begin) as f64 * 1e-9;
            if self.plan.trials.is_none() && spent > time * 1.5 && self.spent + spent > self.plan.budget {
                break;
            }
        }
        self.note_taken(block)?;
        self.spent += (self.session.now() - begin) as f64 * 1e-9;
        Ok(())
    }

    /// How much of the time a point gets, against the others: the more uncertain, the more.
    pub(crate) fn weight(&self, size: u64) -> f64 {
        let width = self.points.get(&size).map_or(0.0, |p| p.width);
        if width <= 0.0 { 1.0 } else { (width / self.plan.precision).sqrt().clamp(0.5, 3.0) }
    }

    /// Seconds for a trial of weight 1, so that all of `order` fit into `time`.
    pub(crate) fn slice(&self, order: &[u64], time: f64) -> f64 {
        let cost = |slice: f64| -> f64 {
            order
                .iter()
                .map(|&s| {
                    let timed = (slice * self.weight(s)).max(self.fewest() as f64 * self.takes(s));
                    timed * 1.05 + self.beside() * self.takes(s) + self.overhead
                })
                .sum()
        };
        let (mut low, mut high) = (0.0, time.max(1e-6));
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if cost(middle) > time { high = middle } else { low = middle }
        }
        low
    }

    /// Ends the points that are known well enough, and says how uncertain the others are.
    pub fn settle(&mut self, block: u32) -> Result<(), RunError> {
        let open: Vec<u64> = self.points.iter().filter(|(_, p)| p.ended.is_none()).map(|(s, _)| *s).collect();
        // What moves the whole curve is for the repeat range to tell: no further block would narrow it.
        let noise = Shared { between: 0.0, ..self.shared() };
        for size in open {
            let Some(f) = self.figures(size, noise) else { continue };
            let width = f.half_width();
            if let Some(p) = self.points.get_mut(&size) {
                p.width = width;
            }
            // Blocks that happen to agree don't make a quiet point: the noise of all points must allow the precision too.
            let foretold = (f.repeat_high / f.median).ln() / std::f64::consts::SQRT_2;
            let known = width <= self.plan.precision && foretold <= self.plan.precision;
            if self.plan.trials.is_none() && f.blocks >= SETTLED_BLOCKS && known {
                self.end_point(size, Why::Precision)?;
            }
        }
        self.done = !self.wants_more(block);
        Ok(())
    }

    /// Whether another block is worth its time.
    fn wants_more(&self, block: u32) -> bool {
        let open = self.points.values().any(|p| p.ended.is_none());
        match self.plan.trials {
            Some(n) => block < n,
            None => open && self.spent < self.plan.budget * 0.97,
        }
    }
}
