//! HINT's schedule on one path: which numbers of subintervals, how many answers of each, and what ends the curve.
//!
//! The original goes through the sizes once: laps from a survey so that a sample lasts a second, the best of five trials, and an end at 100
//! s an answer, a tenth of the peak, or where memory or precision are exhausted. Here a path has a budget, and its time is spent in rounds
//! over fresh connections as for every pattern, so that QUIPS have intervals. The same are: the numbers of subintervals, the survey that
//! doubles with three laps, the best of the trials in a round, the stop rules, and that a trial slower than the next larger one is run
//! again, up to seven times.

use std::sync::atomic::{AtomicBool, Ordering};

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use transport::Name;
use workload::hint::{Team, steps};

use crate::SessionError;
use crate::amounts::rounds;
use crate::path::PathRun;
use crate::teller::RunError;

/// Length of a survey trial, seconds, where three answers are shorter.
const LOOK: f64 = 1e-3;

/// Numbers of subintervals from one survey trial to the next: three tenths of a decade double.
const DOUBLE: usize = 3;

/// Untimed answers of a trial, where answers are long: the one that computes what the other side must find, and one to warm up.
pub(super) const BESIDE: f64 = 2.0;

/// Share of a round's time that is kept for trials that are run again. What they take beyond it is taken from later rounds.
const AGAIN: f64 = 0.1;

/// Times of all numbers of subintervals together, in times of the largest: 1 + r + r^2 + ... with r = 1 / 1.2589.
const ALL: f64 = 4.86;

/// Which processes take part in HINT over a path of this kind.
fn team(kind: Name) -> Team {
    if kind == Name::ALONE { Team::ALONE } else { Team::of_two(0) }
}

impl PathRun<'_> {
    /// Longest answer that the budget has time for in every round, seconds. It is also at most half of the time without progress after
    /// which a side gives up, since a side that works can't be told from one that is gone.
    fn longest(&self) -> f64 {
        let rounds = f64::from(rounds(self.plan));
        let fits = 0.8 * self.plan.budget / (rounds * ALL * (1.0 + BESIDE));
        fits.min(self.plan.patience / 2.0).min(steps::LONGEST)
    }

    /// The survey, doubling the subintervals, until an answer takes too long, QUIPS fall to a tenth of their peak, or there are no more. It
    /// decides where the curve ends.
    pub(crate) fn hint_survey(&mut self) -> Result<(), RunError> {
        let team = team(self.kind);
        let (most, _) = steps::most(team, self.plan.to, self.plan.memory.unwrap_or(u64::MAX));
        let all = steps::all(team, most);
        let mut looks: Vec<u64> = all.iter().copied().step_by(DOUBLE).collect();
        looks.extend(all.last().filter(|last| looks.last() != Some(last)));
        let (begin, longest) = (self.session.now(), self.longest());
        self.open(0, looks.len() as u32)?;
        if let Some(&first) = all.first() {
            // What a first connection costs must not count in the answer.
            self.trial(first, 4 * steps::LAPS, 0, true)?;
        }
        let (mut reached, mut peak, mut end) = (0, 0.0f64, u64::MAX);
        // Where answers are short, going on costs nothing, and a peak may be one trial that was fast by chance.
        let fell = |n: u64, time: f64, peak: f64| n as f64 / time <= peak * steps::TENTH && time > longest / 10.0;
        for n in looks {
            if reached > 0 && self.estimate(n) > longest {
                break;
            }
            let mut best = f64::INFINITY;
            for _ in 0..steps::LAPS {
                self.trial(n, self.within(n, LOOK).max(steps::LAPS), 0, true)?;
                best = best.min(self.estimate(n));
                // A trial that would end the curve is made again: the process may only have been stopped for a moment.
                if best <= longest && !fell(n, best, peak) {
                    break;
                }
            }
            self.points.entry(n).or_default().estimate = best;
            if best > longest && reached > 0 {
                break;
            }
            reached = n;
            if fell(n, best, peak) {
                end = n;
                break;
            }
            peak = peak.max(n as f64 / best.max(f64::MIN_POSITIVE));
        }
        for n in all {
            if n <= reached || (n <= end && self.estimate(n) <= longest) {
                self.points.entry(n).or_default();
                self.ceiling = n;
            }
        }
        self.session.rest();
        self.spent += (self.session.now() - begin) as f64 * 1e-9;
        Ok(())
    }

    /// One round: every unsettled number of subintervals once, in random order, then again what was slower than its next larger.
    pub(crate) fn hint_round(
        &mut self,
        round: u32,
        time: f64,
        rng: &mut ChaCha8Rng,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let begin = self.session.now();
        let open = self.points.iter().filter(|(n, p)| **n <= self.ceiling && p.ended.is_none());
        let mut order: Vec<u64> = open.map(|(n, _)| *n).collect();
        order.shuffle(rng);
        self.open(round, order.len() as u32)?;
        self.warm_up(round, 1024, f64::INFINITY)?;
        let spent = |path: &Self| (path.session.now() - begin) as f64 * 1e-9;
        let slice = self.slice(&order, (time - spent(self)) * (1.0 - AGAIN));
        let mut done = Vec::with_capacity(order.len());
        for n in order {
            self.go_on(stop)?;
            self.trial(n, self.plan.repeats.unwrap_or_else(|| self.within(n, slice * self.weight(n))), round, false)?;
            done.push(n);
            if self.plan.trials.is_none() && spent(self) > time * 1.5 && self.spent + spent(self) > self.plan.budget {
                break;
            }
        }
        done.sort_unstable();
        for pair in done.windows(2).rev() {
            let (n, next) = (pair[0], pair[1]);
            let mut again = 0;
            while again < steps::AGAIN && self.slower(n, next, round) && spent(self) < time * (1.0 + 5.0 * AGAIN) {
                self.go_on(stop)?;
                self.trial(n, self.plan.repeats.unwrap_or_else(|| self.within(n, slice)), round, false)?;
                again += 1;
            }
        }
        self.note_taken(round)?;
        self.session.rest();
        self.spent += spent(self);
        Ok(())
    }

    /// Whether the best trial of `n` in the round took longer than that of `next`.
    fn slower(&self, n: u64, next: u64, round: u32) -> bool {
        let best = |n: u64| {
            let trials = self.points.get(&n).map_or(&[][..], |p| &p.trials);
            let times = trials.iter().rev().take_while(|t| t.round == round).filter(|t| !t.warmup);
            times.map(|t| t.report.median).fold(f64::INFINITY, f64::min)
        };
        best(n) > best(next)
    }

    fn go_on(&self, stop: &AtomicBool) -> Result<(), RunError> {
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Session { path: self.name.clone(), source: SessionError::Interrupted });
        }
        Ok(())
    }
}
