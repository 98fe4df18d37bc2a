//! A soak: one connection held for the whole time, measured interval after interval, which shows what changes with the time.
//!
//! It does not show the error between runs: rounds over fresh connections do (`round`). An interval is reported as one trial, whose number
//! is its round's. It is cut into parts, so that a path that turns slow in one of them makes the interval longer by that part at most, and
//! several sizes take turns in it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::event::{Event, RoundTaken, Trial};
use crate::path::PathRun;
use crate::teller::RunError;
use crate::{SessionError, interval, judge};

/// Longest part of an interval, seconds, as long as the path stays as fast.
const PART: f64 = 0.25;

/// An interval that ends so early (as a share) is followed by the next, since the rest of it is too short for one.
const REST: f64 = 0.1;

/// Rest of a size's time in an interval, as a share, that is too short for a part.
const LEAST: f64 = 0.01;

/// Trials of each size before the first interval, and how long each is, seconds.
const LOOKS: usize = 3;
const LOOK: f64 = 2e-3;

/// Measures the path for the plan's time, an interval after the other.
pub(crate) fn measure(path: &mut PathRun<'_>, stop: &AtomicBool) -> Result<(), RunError> {
    let (all, every) = (path.plan.budget, path.plan.every.unwrap_or(path.plan.budget));
    path.connect_first(1)?;
    let most = path.most();
    let mut sizes = path.plan.sizes.clone().unwrap_or_else(|| vec![path.plan.from]);
    if sizes.iter().any(|size| *size > most) {
        path.warn(judge::capped(path.kind, most))?;
        sizes.retain(|size| *size <= most);
    }
    path.begin(1, (all / every * sizes.len() as f64).ceil() as u32)?;
    for size in sizes.iter().flat_map(|size| [*size; LOOKS]) {
        path.trial(size, path.brief(size, LOOK), 1, true)?;
    }
    // What others took while the connection was opened belongs to no interval.
    path.session.taken();
    let start = path.at();
    let mut taken: Vec<RoundTaken> = Vec::new();
    for number in 1.. {
        let begun = path.at() - start;
        if begun > all - REST * every {
            break;
        }
        // An interval that lasted beyond its end is followed by what is left of the next.
        let end = (((begun / every + REST).floor() + 1.0) * every).min(all);
        let outcome = turns(path, &sizes, number, start + end, stop);
        // A size that is held up takes from the next one's time: each has its turn to be first.
        sizes.rotate_left(1);
        if let Some(told) = path.session.taken().map(|taken| RoundTaken { path: path.number, round: number, taken }) {
            path.tell(&Event::Taken(told.clone()))?;
            interval::keep_taken(&mut taken, told);
        }
        path.taken = taken.iter().map(|t| t.taken).collect();
        outcome?;
    }
    Ok(())
}

/// One interval, which ends at this moment: the sizes in turns.
fn turns(path: &mut PathRun<'_>, sizes: &[u64], number: u32, end: f64, stop: &AtomicBool) -> Result<(), RunError> {
    for (i, size) in sizes.iter().enumerate() {
        let until = path.at() + (end - path.at()) / (sizes.len() - i) as f64;
        let mut parts = Vec::new();
        let outcome = path.parts(*size, number, until, stop, &mut parts);
        // What was measured whole is kept, also where the run ends here.
        if let Some(one) = interval::merged(&parts) {
            path.counted += 1;
            path.tell(&Event::Trial(one.clone()))?;
            interval::keep(&mut path.points.entry(*size).or_default().trials, one);
        }
        outcome?;
    }
    Ok(())
}

impl PathRun<'_> {
    /// Trials of a size until the moment `until` (seconds), and one at least.
    fn parts(
        &mut self,
        size: u64,
        number: u32,
        until: f64,
        stop: &AtomicBool,
        parts: &mut Vec<Trial>,
    ) -> Result<(), RunError> {
        let begin = self.at();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(RunError::Session { path: self.name.clone(), source: SessionError::Interrupted });
            }
            let left = until - self.at();
            let least = self.overhead + (self.fewest(size) as f64 + 1.0) * self.costs(size);
            if size > self.ceiling || !parts.is_empty() && left < least.max(LEAST * (until - begin)) {
                return Ok(());
            }
            // A short rest is added to this part instead of being one.
            let part = if left < 1.5 * PART { left } else { PART };
            // The time of asking the far side, the warm-up and interruptions belong to the interval, too.
            let speed = self.takes(size) / self.costs(size).max(f64::MIN_POSITIVE);
            let timed = (part - self.overhead).max(0.0) * speed.min(1.0);
            let warm = (timed / 21.0).min(50.0 * self.takes(size));
            let repeats = self.repeats(size, (timed - warm).max(0.0));
            parts.extend(self.measure(size, repeats, number, false)?);
        }
    }
}
