//! The survey (a first trial of every size), the closer looks where the curve jumps, and the warm-up of a connection.

use transport::Name;

use crate::amounts::FEWEST;
use crate::event::{Plan, Schedule, Trial};
use crate::path::PathRun;
use crate::refine::{self, Look, Seen};
use crate::teller::RunError;
use crate::{figures, judge, sizes};

/// Share of the budget that the survey may take.
const SURVEY: f64 = 0.12;
/// Share of the budget after which the survey ends where other programs delay it, closer looks and looks at other sides' sizes included:
/// rounds are worth more than larger sizes.
const MOST_SURVEY: f64 = 0.22;
/// Share of the budget that the survey of all sizes may take before some are left out.
const ALL: f64 = 0.15;
/// Share of the budget that it takes then: about as many sizes are kept as can have four rounds, and eight of several sides.
const THINNED: [f64; 2] = [0.11, 0.04];
/// Survey trials from which the time of one is estimated, and the share of the budget after which fewer suffice.
const TELLING: usize = 8;
const TOLD: f64 = 0.02;
/// Length of a survey trial, seconds.
const SURVEY_TRIAL: f64 = 1.5e-3;
/// A message that takes longer one way than this is the last size (the paper's stop rule), seconds.
const TOO_SLOW: f64 = 1.0;
/// Sizes that refinement may add to a path.
const ADDED: usize = 32;
/// Largest ratio of two successive sizes that are tried to estimate a far larger one.
const STONES: u64 = 8;
/// Share of a round that the warm-up of a connection may take, after the fewest trials that show a trend, and the share that these may
/// take.
const WARM_UP: f64 = 0.06;
const MOST_WARM_UP: f64 = 0.12;

/// The survey of all sides of a path, at the same sizes. An error comes with the number of its side.
pub(crate) fn sides(sides: &mut [PathRun<'_>]) -> Result<(), (usize, RunError)> {
    let most = sides.iter().map(PathRun::most).min().unwrap_or(u64::MAX);
    if sides.len() > 1 {
        sides.iter_mut().for_each(|side| side.ceiling = most);
    }
    // Where the first side is too busy for all sizes, the others survey those that it did: only sizes that all have are compared.
    let (mut among, several) = (None, sides.len() > 1);
    for (number, side) in sides.iter_mut().enumerate() {
        side.survey(among.as_deref(), several).map_err(|e| (number, e))?;
        if side.thinned {
            among = Some(side.points.keys().copied().collect::<Vec<u64>>());
        }
    }
    // A size that one side is too slow for is not compared.
    let ceiling = sides.iter().map(|side| side.ceiling).min().unwrap_or(u64::MAX);
    sides.iter_mut().for_each(|side| side.ceiling = ceiling);
    share(sides, 0)
}

/// Each side surveys the sizes that only others have, which their jumps called for.
pub(crate) fn share(sides: &mut [PathRun<'_>], round: u32) -> Result<(), (usize, RunError)> {
    let mut all: Vec<u64> = sides.iter().flat_map(|side| side.points.keys().copied()).collect();
    all.sort_unstable();
    all.dedup();
    for (number, side) in sides.iter_mut().enumerate() {
        let begin = side.session.now();
        let missing = |size: &&u64| **size <= side.ceiling && !side.points.contains_key(size);
        for size in all.iter().filter(missing).copied().collect::<Vec<_>>() {
            if side.thinned && side.spent + (side.session.now() - begin) as f64 * 1e-9 > side.plan.budget * MOST_SURVEY
            {
                break;
            }
            let n = side.brief(size, SURVEY_TRIAL);
            side.trial(size, n, round, true).map_err(|e| (number, e))?;
        }
        side.unload();
        side.spent += (side.session.now() - begin) as f64 * 1e-9;
    }
    Ok(())
}

impl PathRun<'_> {
    /// The survey of every size, or of those `among` which others surveyed: short trials, ascending, so that each time is predicted by the
    /// ones before.
    fn survey(&mut self, among: Option<&[u64]>, several: bool) -> Result<(), RunError> {
        let opened = self.session.now();
        self.connect_first(0)?;
        let connecting = (self.session.now() - opened) as f64 * 1e-9;
        let all = among.map_or_else(|| sizes::planned(self.plan, self.most()), <[u64]>::to_vec);
        let asked = self.plan.sizes.as_ref().map_or(self.plan.to, |s| s.iter().max().copied().unwrap_or(0));
        self.begin(0, all.len() as u32)?;
        if asked > self.most() {
            self.warn(judge::capped(self.kind, self.most()))?;
        }
        let begin = self.session.now();
        if let Some(&first) = all.first() {
            // The cost of a first connection (page faults, slow start) must not count in the size.
            self.trial(first, FEWEST * 4, 0, true)?;
        }
        let (mut reached, mut looks, mut thinned, mut place) = (0, 0, 0, 0);
        // The index after that of the last survey trial.
        let mut after = 0;
        // Sizes that were named are all measured, as far as the time goes.
        let choice = self.plan.schedule == Schedule::Adaptive && self.plan.sizes.is_none() && self.plan.step.is_none();
        while let Some(&size) = all.get(place) {
            if size > self.ceiling {
                break;
            }
            self.feel(size)?;
            if size > self.ceiling {
                break;
            }
            let elapsed = (self.session.now() - begin) as f64 * 1e-9;
            let message = self.one_message(size);
            let alone = elapsed + self.takes(size) * FEWEST as f64;
            // Sizes that were named have no end but that of the time, and all of it where their trials are counted.
            let slow = self.plan.sizes.is_none() && message > TOO_SLOW;
            let looks_for = if self.plan.trials.is_some() { 1.0 } else { MOST_SURVEY };
            if reached > 0 && (slow || alone > self.plan.budget || elapsed > self.plan.budget * looks_for) {
                self.ceiling = reached;
                let stop = if slow { judge::Stop::Slow } else { judge::Stop::Budget { looked: elapsed } };
                // Sizes that were left out below one that ends the survey lie beyond the last size, too.
                thinned -= place - after;
                self.warn(judge::stopped_short(self.plan, all[after], size, message, stop))?;
                break;
            }
            let slice = SURVEY_TRIAL.min(self.plan.budget * SURVEY / all.len() as f64);
            // Where others hold the CPUs, a survey trial takes as long as elsewhere, and has fewer iterations.
            let n = self.brief(size, slice / self.stopped(size));
            self.trial(size, n, 0, true)?;
            (reached, looks, after) = (size, looks + 1, place + 1);
            let left = all.len() - place - 1;
            let took = (self.session.now() - begin) as f64 * 1e-9;
            let told = looks >= TELLING || took > self.plan.budget * TOLD;
            let each = took / looks as f64;
            let too_many = thinned > 0 || took + each * left as f64 > self.plan.budget * ALL;
            let mut step = if choice && told && too_many {
                stride(left, each, self.plan.budget * THINNED[usize::from(several)] - took)
            } else {
                1
            };
            // The time of a far larger size can't be predicted from here: in proportion to size it would end the survey.
            let far = |next: &u64| {
                self.one_message(*next) > TOO_SLOW / 4.0 || took + self.takes(*next) * FEWEST as f64 > self.plan.budget
            };
            while step > 1 && all.get(place + step).is_some_and(far) {
                step /= 2;
            }
            thinned += step - 1;
            place += step;
        }
        self.thinned = thinned > 0;
        self.spent += connecting;
        if thinned > 0 {
            let took = (self.session.now() - begin) as f64 * 1e-9;
            self.warn(judge::thinned(thinned, all.len(), took / looks as f64))?;
        }
        if choice {
            self.spent += (self.session.now() - begin) as f64 * 1e-9;
            return self.refine(0, 40);
        }
        self.unload();
        self.spent += (self.session.now() - begin) as f64 * 1e-9;
        Ok(())
    }

    /// Where a size lies so far above those measured that a prediction in proportion to size would leave it out, sizes between are tried:
    /// each a few times as large as the one before, at least twice, and itself predicted to be quick, or twice where the survey has time for
    /// what that may take: where a message of a byte has to wait for a CPU, a larger one takes hardly longer. They are no points, and are not
    /// written to the file.
    fn feel(&mut self, size: u64) -> Result<(), RunError> {
        let quick = TOO_SLOW.min(self.plan.budget) * SURVEY;
        let begin = self.session.now();
        while self.one_message(size) > quick && size <= self.ceiling {
            let Some(below) = self.reached_below(size).max(self.felt.keys().next_back().copied()) else { break };
            // On a path that takes long for the smallest message the steps are smaller, and may take more of the time.
            let times = ((TOO_SLOW / 2.0).min(self.plan.budget * SURVEY) / (FEWEST as f64 * self.takes(below))) as u64;
            let took = (self.session.now() - begin) as f64 * 1e-9;
            let iterations = self.fewest_looked(below) as f64 + 1.0;
            let twice = took + 2.0 * iterations * self.takes(below) <= self.plan.budget * SURVEY;
            let times = if twice { times.max(2) } else { times };
            let stone = below.max(1).saturating_mul(times.min(STONES));
            if stone >= size || times < 2 {
                break;
            }
            self.measure(stone, self.fewest_looked(stone), 0, true)?;
            let Some(point) = self.points.remove(&stone).filter(|point| point.estimate > 0.0) else { break };
            self.felt.insert(stone, point.estimate);
        }
        Ok(())
    }

    /// Looks closer where the curve jumps, at most `rounds` times. All such looks of a run together take no longer than the survey may: on
    /// a busy machine everything seems to jump, and where there is no time for all sizes there is none for more.
    pub fn refine(&mut self, round: u32, rounds: u32) -> Result<(), RunError> {
        if self.thinned {
            return Ok(());
        }
        let begin = self.session.now();
        let took = |path: &Self| (path.session.now() - begin) as f64 * 1e-9;
        'rounds: for _ in 0..rounds {
            let looks = refine::looks(&self.seen(), self.noise(), 16);
            let room = ADDED.saturating_sub(self.added());
            let looks: Vec<Look> = looks.into_iter().filter(|l| room > 0 || matches!(l, Look::Again(_))).collect();
            if looks.is_empty() {
                break;
            }
            for look in looks {
                let (Look::Again(size) | Look::Between(size)) = look;
                let so_far = self.refined + took(self);
                if so_far + FEWEST as f64 * self.costs(size) > self.plan.budget * SURVEY {
                    break 'rounds;
                }
                let n = self.brief(size, SURVEY_TRIAL);
                self.trial(size, n, round, true)?;
            }
        }
        self.unload();
        self.refined += took(self);
        self.spent += took(self);
        Ok(())
    }

    fn added(&self) -> usize {
        self.points.len().saturating_sub(sizes::planned(self.plan, self.most()).len())
    }

    /// Every size as measured so far: the median of its trials.
    fn seen(&self) -> Vec<Seen> {
        self.points
            .iter()
            .filter_map(|(&size, p)| {
                let times: Vec<f64> = p.trials.iter().filter_map(|t| typical(self.plan, self.kind, t)).collect();
                (!times.is_empty()).then(|| Seen { size, seconds: stats::median(&times), trials: times.len() as u32 })
            })
            .collect()
    }

    /// Log standard deviation of single trials, from sizes that were tried more than once and from near neighbours.
    fn noise(&self) -> f64 {
        let near: Vec<f64> = self
            .seen()
            .windows(2)
            .filter(|w| (w[1].size as f64 / w[0].size as f64) < 1.12)
            .map(|w| (w[1].seconds / w[0].seconds).ln().abs())
            .collect();
        // Median absolute difference of two draws, to a standard deviation.
        if near.is_empty() { 0.05 } else { stats::median(&near) / (0.6745 * std::f64::consts::SQRT_2) }
    }

    /// Warms up a fresh connection: short trials of a middling size, at most `most` bytes, until they show no trend, at most 25, and no
    /// more than five beyond a share of `time`, the round's seconds.
    pub(crate) fn warm_up(&mut self, round: u32, most: u64, time: f64) -> Result<(), RunError> {
        let begin = self.session.now();
        let Some(size) = self.points.keys().rev().find(|s| **s <= most).or(self.points.keys().next()).copied() else {
            return Ok(());
        };
        let mut series = Vec::new();
        for done in 0..25 {
            let took = (self.session.now() - begin) as f64 * 1e-9;
            if (done >= 5 && took > time * WARM_UP) || took > time * MOST_WARM_UP {
                break;
            }
            let n = self.brief(size, SURVEY_TRIAL.min(time * WARM_UP / 5.0) / self.stopped(size));
            self.trial(size, n, round, true)?;
            series.push(self.estimate(size));
            let (n, cut) = (series.len(), stats::warmup_end(&series));
            // No cut is ever found later than the middle: the trend may go on.
            if n >= 5 && cut < n / 2 && n - cut >= 5 {
                break;
            }
        }
        Ok(())
    }
}

/// Which of the `left` sizes comes next, from 1, so that trials of `each` seconds at every such size, the last one included, take about
/// `room` seconds. Where there is no room left, it is the last size.
fn stride(left: usize, each: f64, room: f64) -> usize {
    let looks = if each > 0.0 { (room / each).max(1.0) } else { f64::INFINITY };
    ((left as f64 / looks).ceil() as usize).clamp(1, left.max(1))
}

fn typical(plan: &Plan, kind: Name, trial: &Trial) -> Option<f64> {
    figures::rounds(plan, kind, &[trial], &figures::Common::default()).first().map(|(_, t)| *t)
}
