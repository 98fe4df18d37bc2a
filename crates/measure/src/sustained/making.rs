//! When the sustained trials of a path are made, of which sizes, and how long.

use super::{TIMES, length, planned};
use crate::event::{Event, Trial};
use crate::interval;
use crate::path::PathRun;
use crate::teller::RunError;

/// The shortest trial that counts, seconds.
const COUNTS: f64 = 0.3;

/// Share of the budget that a part of a trial is planned for, and its least and most, seconds. How many iterations a part has is agreed
/// beforehand, and where both sides spin on CPUs that others use they may come to take forty times as long at any moment: the run exceeds
/// its budget by no more than one part that did.
const PART: f64 = 0.01;
const LEAST_PART: f64 = 0.03;
const MOST_PART: f64 = 0.12;

/// Times what a trial costs beside its iterations that a part is planned for at least: on a busy machine most of its time would go there.
const BESIDE: f64 = 6.0;

/// Times its planned length after which a trial ends in any case.
const ENDS: f64 = 2.0;

/// Most iterations of a sustained trial: a copy of one byte takes two nanoseconds.
const MOST_ITERATIONS: u64 = 1 << 29;

/// Times what the largest size carries from which on a smaller one may be sped up by what a token bucket saved up.
const FALLS: f64 = 1.25;

/// Rounds after which the first sustained trials come at the latest: half of those after which points may be settled and the run be
/// over.
const FIRST_ROUND: u32 = 4;

/// Whether sustained trials are due where they came at so many moments, so many rounds are over and this share of the time is spent.
/// Rounds may take far longer than planned, so time places the moments; the first also comes before a quick run may end.
fn due(moments: u32, rounds: u32, spent: f64) -> bool {
    let next = f64::from(moments + 1) / f64::from(TIMES + 1);
    moments < TIMES && (spent >= next || (moments == 0 && rounds >= FIRST_ROUND))
}

impl PathRun<'_> {
    /// [`planned`] of this path; none where it has several connections.
    fn planned(&self) -> (f64, usize) {
        if self.flows() > 1 { (0.0, 0) } else { planned(self.plan) }
    }

    /// Time that the sustained trials still to come will take, seconds.
    pub(crate) fn reserved(&self) -> f64 {
        let (each, sizes) = self.planned();
        each * sizes.min(self.points.len()) as f64 * f64::from(TIMES.saturating_sub(self.moments))
    }

    /// Whether the sustained trials of a moment are due after this round.
    pub(crate) fn sustain_due(&self, round: u32) -> bool {
        self.planned().1 > 0 && due(self.moments, round, self.spent / self.plan.budget)
    }

    /// The sustained trials that are still missing when the rounds are over. Those of one moment only: two at the same moment would look
    /// like more evidence than they are.
    pub(crate) fn sustain_rest(&mut self, round: u32) -> Result<(), RunError> {
        let just = self.sustained.last().is_some_and(|t| t.round == round);
        // Where other programs took the budget, nothing is left of the time that was reserved.
        let room = self.spent + self.reserved() / 2.0 < self.plan.budget;
        if self.reserved() > 0.0 && !just && room { self.sustain(round) } else { Ok(()) }
    }

    /// One sustained trial of each of a few sizes, over the round's connection.
    pub fn sustain(&mut self, round: u32) -> Result<(), RunError> {
        let (each, many) = self.planned();
        let begin = self.session.now();
        self.moments += 1;
        // Sizes that an earlier moment had no time for come first.
        let mut sizes = self.spread(many);
        sizes.sort_by_key(|size| self.sustained.iter().filter(|t| t.size == *size).count());
        for size in sizes {
            // Where a message takes as long as the trial, a short trial is as long.
            if self.takes(size) * self.fewest(size) as f64 > each {
                continue;
            }
            // Trials that others delay must not take the rounds' time.
            if (self.session.now() - begin) as f64 * 1e-9 > 1.5 * each * many as f64 {
                break;
            }
            if let Some(trial) = self.long(size, each, round)? {
                self.tell(&Event::Sustained(trial.clone()))?;
                self.sustained.push(trial);
            }
        }
        self.taken_long.extend(self.session.taken());
        self.spent += (self.session.now() - begin) as f64 * 1e-9;
        Ok(())
    }

    /// A trial of about `each` seconds, in parts that follow each other at once, each planned by the one before; none where nothing arrives, or
    /// where all parts together are too short to count.
    fn long(&mut self, size: u64, each: f64, round: u32) -> Result<Option<Trial>, RunError> {
        let part = (self.plan.budget * PART).clamp(LEAST_PART, MOST_PART).max(BESIDE * self.overhead);
        let begin = self.at();
        // Short trials may underestimate a part twelve times.
        let mut next = LEAST_PART;
        // Where others hold the CPUs, the next part may meet them though the last one did not.
        let least = self.fastest(size).max(self.estimate(size) * 0.7) * self.stopped(size);
        let mut takes = least;
        let (mut parts, mut lasted) = (Vec::new(), 0.0);
        let over = |path: &Self, lasted: f64| {
            let took = path.at() - begin;
            lasted >= each || took >= ENDS * each || (took >= each && lasted >= COUNTS)
        };
        while !over(self, lasted) {
            let iterations = (next / takes.max(1e-12)).ceil() as u64;
            let iterations = iterations.clamp(self.fewest(size), MOST_ITERATIONS);
            let Some(trial) = self.measure(size, iterations, round, false)? else { break };
            takes = least.max(length(&trial) / trial.report.repeats.max(1) as f64);
            lasted += length(&trial);
            parts.push(trial);
            next = part.min((each - lasted).max(LEAST_PART));
        }
        Ok(interval::merged(&parts).filter(|trial| length(trial) >= COUNTS))
    }

    /// So many of the path's sizes: the middle one on a logarithmic axis, the smallest, the largest. On a path that leaves the host, where a
    /// size seems to carry more than the largest, that one in place of the middle: its long trials show whether it keeps that up.
    fn spread(&self, many: usize) -> Vec<u64> {
        let within = || self.points.keys().copied().filter(|s| *s <= self.ceiling);
        let (Some(first), Some(last)) = (within().next(), within().next_back()) else { return Vec::new() };
        let middle = (first.max(1) as f64 * last as f64).sqrt();
        let off = |s: &u64| ((*s).max(1) as f64 / middle).ln().abs();
        let middle = within().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(first);
        // The same at both moments.
        let chosen = self.sustained.iter().map(|t| t.size).find(|size| ![first, last].contains(size));
        let rate = |size: u64| size as f64 / self.estimate(size);
        let most =
            within().max_by(|a, b| rate(*a).total_cmp(&rate(*b))).filter(|size| rate(*size) > FALLS * rate(last));
        let middle = chosen.or(most.filter(|_| self.leaves)).unwrap_or(middle);
        let mut sizes = vec![middle];
        sizes.extend([first, last].into_iter().filter(|s| *s != middle));
        sizes.dedup();
        sizes.truncate(many);
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::due;

    #[test]
    fn time_places_the_moments_and_a_quick_run_has_its_first_before_it_may_end() {
        // Thirty rounds as planned, three long ones, and a run that settles at its eighth round.
        let moments = |share: &dyn Fn(u32) -> f64, rounds: u32| {
            let mut found = Vec::new();
            for round in 1..=rounds {
                if due(found.len() as u32, round, share(round)) {
                    found.push(round);
                }
            }
            found
        };
        assert_eq!(moments(&|r| f64::from(r) / 30.0, 30), [4, 20]);
        assert_eq!(moments(&|r| f64::from(r) / 3.0, 3), [1, 2]);
        assert_eq!(moments(&|r| f64::from(r) / 30.0, 8), [4], "the other comes when the rounds are over");
    }
}
