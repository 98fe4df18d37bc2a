//! A synthetic path: its true curve, and how a run goes over it: rounds of sizes in random order, trials and gaps.

use crate::draw::Draw;
use crate::machine::Machine;
use crate::noise::Noise;

/// A stretch of sizes that takes longer: from the first size until before the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// First size, bytes.
    pub from: f64,
    /// First size after it, bytes; infinite for a step.
    pub until: f64,
    /// How many times as long.
    pub factor: f64,
}

/// What each message from a size on takes longer, whatever its size: a handshake before large ones (rendezvous).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Handshake {
    /// First size, bytes.
    pub from: f64,
    /// Seconds.
    pub takes: f64,
}

/// A disturbance that comes back: the process is stopped for so long, so often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stops {
    /// Seconds from one to the next.
    pub period: f64,
    /// Seconds that each lasts.
    pub lasts: f64,
}

/// A path's true curve and what it is measured with.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Start-up cost, seconds.
    pub t0: f64,
    /// Seconds a byte.
    pub per_byte: f64,
    /// Stretches that take longer.
    pub slow: Vec<Slow>,
    /// What messages from a size on take longer.
    pub step: Option<Handshake>,
    /// From this size on (bytes), each further byte costs so many times as much.
    pub bend: Option<(f64, f64)>,
    /// Seconds for the root of a byte.
    pub root: f64,
    /// Power of the size that bytes cost: 1 on a line.
    pub power: f64,
    /// Beyond this size (bytes) a message costs what whole multiples of it do; 0 for none.
    pub stair: f64,
    /// A disturbance that comes back.
    pub stops: Option<Stops>,
    /// Noise.
    pub noise: Noise,
    /// What a trial has of its own all its iterations have; else each has its own.
    pub alike: bool,
}

/// How much is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Rounds.
    pub rounds: u32,
    /// Sizes, bytes, ascending.
    pub sizes: Vec<u64>,
    /// Seconds of the run, as planned.
    pub length: f64,
    /// All trials, and all gaps between them, are as long as each other.
    pub even: bool,
}

impl Shape {
    /// So many rounds of so many sizes from 1 B to 1 MiB in 12 seconds.
    pub fn of(rounds: u32, sizes: usize) -> Self {
        Self { rounds, sizes: spread(sizes, 1 << 20), length: 12.0, even: false }
    }

    /// Planned seconds from one trial to the next.
    pub fn pitch(&self) -> f64 {
        self.length / f64::from(self.rounds.max(1)) / self.sizes.len().max(1) as f64
    }
}

/// So many different sizes up to `to`, evenly spread over their logarithms as far as whole bytes allow.
pub fn spread(n: usize, to: u64) -> Vec<u64> {
    let mut sizes = Vec::with_capacity(n);
    let mut last = 0;
    for i in 0..n {
        // What is left is spread anew after each size, because small ones can't lie as near to each other as asked.
        let left = (n - i) as f64;
        let next = if i == 0 { 1.0 } else { last as f64 * (to as f64 / last as f64).powf(1.0 / left) };
        last = (next.round() as u64).max(last + 1);
        sizes.push(last);
    }
    sizes
}

/// One trial of a round trip there and back.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// Round, from 0.
    pub round: u32,
    /// Size, bytes.
    pub size: u64,
    /// Seconds from the run's start.
    pub at: f64,
    /// Iterations.
    pub repeats: u64,
    /// Seconds that it lasted.
    pub lasted: f64,
    /// Times of single round trips, seconds, ascending: as many as levels were looked at, or as have a noise of their own.
    pub times: Vec<f64>,
    /// (Seconds after its start, seconds) of each stop.
    pub pauses: Vec<(f64, f64)>,
}

/// Looks at the machine's level within one trial.
const LOOKS: usize = 7;
/// Most iterations of a trial that have a noise of their own: each stands for as many as it must.
const OWN: f64 = 4096.0;

impl World {
    /// A plain path under a noise: 10 us and 5 GB/s.
    pub fn plain(noise: Noise) -> Self {
        let (t0, per_byte, root, power, stair) = (10e-6, 0.2e-9, 0.0, 1.0, 0.0);
        let (slow, step, bend, stops) = (Vec::new(), None, None, None);
        Self { t0, per_byte, slow, step, bend, root, power, stair, stops, noise, alike: true }
    }

    /// The same path where each iteration has a noise of its own, beside the level of its moment.
    pub fn apart(self) -> Self {
        Self { alike: false, ..self }
    }

    /// The same path where all takes so many times as long.
    pub fn times(mut self, factor: f64) -> Self {
        (self.t0, self.per_byte, self.root) = (self.t0 * factor, self.per_byte * factor, self.root * factor);
        self.step = self.step.map(|step| Handshake { takes: step.takes * factor, ..step });
        self
    }

    /// True time of one transfer without noise, seconds.
    pub fn time(&self, size: u64) -> f64 {
        let within = |s: &&Slow| s.from <= size as f64 && (size as f64) < s.until;
        let slower: f64 = self.slow.iter().filter(within).map(|s| s.factor).product();
        let n = match size as f64 {
            n if self.stair > 0.0 && n > self.stair => (n / self.stair).ceil() * self.stair,
            n => n,
        };
        let bent = self.bend.map_or(0.0, |(from, factor)| (n - from).max(0.0) * self.per_byte * (factor - 1.0));
        let added = self.step.filter(|step| step.from <= size as f64).map_or(0.0, |step| step.takes);
        (self.t0 + self.per_byte * n.powf(self.power) + self.root * n.sqrt() + bent + added) * slower
    }

    /// When the process is next stopped at or after a moment, and for how long.
    fn stop(&self, at: f64) -> Option<(f64, f64)> {
        let own = self.stops.map(|s| (((at / s.period).floor() + 1.0) * s.period, s.lasts));
        self.noise.stop(at).into_iter().chain(own).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The trials of a run. `None` for the machine is one without noise.
    pub fn trials(&self, shape: &Shape, machine: Option<&Machine>, draw: &mut Draw) -> Vec<Taken> {
        let mut taken = Vec::with_capacity(shape.rounds as usize * shape.sizes.len());
        let mut now = 0.0;
        for round in 0..shape.rounds {
            now = f64::max(now, shape.length / f64::from(shape.rounds) * f64::from(round));
            let mut order = shape.sizes.clone();
            draw.shuffle(&mut order);
            for size in order {
                // The gap before a trial, in which sides agree on it: a tenth to three tenths of the pitch.
                now += shape.pitch() * if shape.even { 0.2 } else { 0.1 + 0.2 * draw.uniform() };
                // Trials are as long as their sizes are uncertain.
                let share = if shape.even { 0.8 } else { 0.4 + 0.8 * draw.uniform() };
                let trial = self.trial(size, round, now, share * shape.pitch(), machine, draw);
                now += trial.lasted;
                taken.push(trial);
            }
        }
        taken
    }

    /// A few trials that are long enough to show what lasts: after so many rounds, of the smallest size, the middle one and the largest.
    pub fn long(
        &self,
        rounds: &[Taken],
        seconds: f64,
        machine: &Machine,
        shape: &Shape,
        draw: &mut Draw,
    ) -> Vec<Taken> {
        let sizes = [0, shape.sizes.len() / 2, shape.sizes.len() - 1].map(|i| shape.sizes[i]);
        let after = [shape.rounds / 3, 2 * shape.rounds / 3].map(|round| round.saturating_sub(1));
        let mut taken = Vec::new();
        for round in after {
            let mut now = rounds.iter().filter(|t| t.round == round).map(|t| t.at + t.lasted).fold(0.0, f64::max);
            for size in sizes {
                let trial = self.trial(size, round, now, seconds, Some(machine), draw);
                now += trial.lasted;
                taken.push(trial);
            }
        }
        taken
    }

    /// One trial that is planned to last `length` seconds.
    fn trial(&self, size: u64, round: u32, at: f64, length: f64, machine: Option<&Machine>, draw: &mut Draw) -> Taken {
        let clean = 2.0 * self.time(size);
        let mut own = || machine.map_or(0.0, |m| m.noise().own(draw));
        let of_trial = if self.alike { own() } else { 0.0 };
        let looks = (0..LOOKS).map(|i| at + length * (i as f64 + 0.5) / LOOKS as f64);
        let level = |t: f64| machine.map_or(0.0, |m| m.level(size, round as usize, t));
        let levels: Vec<f64> = looks.map(level).collect();
        let step = machine.map_or(0.0, |m| m.noise().step());
        let read = |time: f64| if step > 0.0 { (time / step).round().max(1.0) * step } else { time };
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
        let looked: Vec<f64> = levels.iter().map(|level| read(clean * (level + of_trial).exp())).collect();
        let repeats = (length / mean(&looked)).round().max(1.0);
        // As many as are counted, so that none weighs more than another.
        let n = repeats.min(OWN) as usize;
        let mut times = match self.alike {
            true => looked,
            false => (0..n).map(|i| read(clean * (levels[i * LOOKS / n] + own()).exp())).collect(),
        };
        let mean = mean(&times);
        let (mut left, mut lasted, mut pauses) = (mean * repeats, 0.0, Vec::new());
        while let Some((begins, stands)) =
            self.stop(at + lasted).filter(|s| machine.is_some() && s.0 < at + lasted + left)
        {
            let runs = begins - (at + lasted);
            (left, lasted) = (left - runs, lasted + runs + stands);
            pauses.push((lasted - stands, stands));
            // The next look is past this stop, rounding or not.
            lasted += 1e-9;
        }
        times.sort_by(f64::total_cmp);
        Taken { round, size, at, repeats: repeats as u64, lasted: lasted + left, times, pauses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(noise: Noise, stops: Option<Stops>) -> Vec<Taken> {
        let (shape, world) = (Shape::of(9, 40), World { stops, ..World::plain(noise) });
        let mut draw = Draw::new(3, 0);
        let machine = Machine::new(noise, shape.rounds, shape.length, &mut draw);
        world.trials(&shape, Some(&machine), &mut draw)
    }

    #[test]
    fn sizes_are_as_many_as_asked_and_all_different() {
        for n in [40, 155] {
            let sizes = spread(n, 1 << 20);
            assert_eq!((sizes.len(), sizes[0], sizes[n - 1]), (n, 1, 1 << 20));
            assert!(sizes.windows(2).all(|w| w[0] < w[1]));
        }
    }

    #[test]
    fn a_handshake_takes_as_long_with_each_size_from_its_own_on() {
        let plain = World::plain(Noise::Independent);
        let step = World { step: Some(Handshake { from: 4096.0, takes: 3e-6 }), ..plain.clone() };
        let added = |size| step.time(size) - plain.time(size);
        assert!(added(4095) == 0.0 && [4096, 1 << 20].iter().all(|size| (added(*size) - 3e-6).abs() < 1e-12));
        assert!((step.times(2.0).time(4096) / plain.times(2.0).time(4096) - 1.0 - 3e-6 / 10.8192e-6).abs() < 1e-9);
    }

    #[test]
    fn trials_follow_each_other_and_fill_the_run() {
        let trials = taken(Noise::Independent, None);
        assert!(trials.windows(2).all(|w| w[0].at + w[0].lasted < w[1].at));
        let end = trials.last().map_or(0.0, |t| t.at + t.lasted);
        assert!((11.0..14.0).contains(&end), "{end}");
    }

    #[test]
    fn a_stop_makes_its_trial_longer_and_is_told_with_its_moment() {
        let stops = Stops { period: 1.0, lasts: 0.01 };
        let trials = taken(Noise::Independent, Some(stops));
        let pauses: Vec<(f64, f64)> = trials.iter().flat_map(|t| t.pauses.iter().map(|p| (t.at + p.0, p.1))).collect();
        assert!((5..=13).contains(&pauses.len()), "{pauses:?}");
        for (at, lasts) in pauses {
            assert!((at - at.round()).abs() < 1e-6 && lasts == 0.01, "{at}");
        }
    }

    #[test]
    fn a_quota_doubles_long_trials_and_leaves_single_iterations_alone() {
        let world = World::plain(Noise::Quota);
        let mut draw = Draw::new(3, 0);
        let machine = Machine::new(Noise::Quota, 1, 12.0, &mut draw);
        let trial = world.trial(1, 0, 0.0, 0.4, Some(&machine), &mut draw);
        let share = trial.lasted / trial.repeats as f64 / (2.0 * world.time(1));
        assert!((1.7..2.3).contains(&share), "{share}");
        assert!((trial.times[3] / (2.0 * world.time(1)) - 1.0).abs() < 0.2);
    }
}
