//! Disturbances that come back at a period: a spectrum of the pauses, and one of the trials' levels.
//!
//! A path is seen only while a trial runs, and trials have rhythms of their own. So each stretch of time is held against the
//! pauses that its trials would have had if pauses came at random, and each frequency against its neighbours: what is left is
//! exponential with mean 1 where nothing comes back (the periodogram of Schuster 1898; Scargle 1982). A frequency and its
//! overtones are judged together (the H-test: de Jager, Raubenheimer and Swanepoel 1989).

use super::cycle;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::median;

use super::Moment;
use crate::Estimate;

/// Finest stretch of time, seconds: trials start up to a tenth of it later than they say.
const STRETCH: f64 = 0.5e-3;

/// Most stretches.
const STRETCHES: usize = 1 << 18;

/// A disturbance comes back so often at least.
const TIMES: f64 = 8.0;

/// Chance that a run without a periodic disturbance is said to have one.
const LEVEL: f64 = 0.001;

/// Fewest pauses, or trials, to look for a period in.
const FEWEST: usize = 40;

/// Neighbours on each side that a frequency is held against.
const NEIGHBOURS: usize = 256;

/// Overtones that are looked at together with a frequency: a short disturbance has many, none of which need stand out.
const OVERTONES: usize = 20;

/// H that each half of a series must reach at a frequency found in the whole: a chance of 1 in 100.
const CONFIRMED: f64 = 12.0;

/// Share of H that a multiple of a frequency must explain to be taken for it.
const EXPLAINED: f64 = 0.8;

/// In what a period shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// In the moments of pauses: something takes the path, or its CPU, away for a moment.
    Pauses,
    /// In how long all iterations of a trial take: something slows the path down for a while.
    Levels,
}

/// A disturbance that comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Periodic {
    /// Its period, seconds.
    pub period: Estimate,
    /// In what it shows.
    pub source: Source,
    /// It shows each time that the path was watched. Where it does not, the true period may be a whole multiple of this one:
    /// short, rare pauses leave only their overtones to see.
    pub each_time: bool,
    /// H of the H-test over the frequency and its overtones: its chance at one frequency is `exp(-0.4 H)`.
    pub power: f64,
}

/// Looks for periods, or says why it can't.
pub(super) fn search(trials: &[&Moment], levels: &[f64]) -> Result<Vec<Periodic>, &'static str> {
    let (Some(first), Some(last)) = (trials.first(), trials.last()) else { return Err("no trial") };
    let span = last.at + last.lasted - first.at;
    if trials.len() < FEWEST || span.is_nan() || span < TIMES * STRETCH * 4.0 {
        return Err("too few trials to tell a period");
    }
    let grid = Grid::of(first.at, span);
    let half = halves(trials);
    let pauses = |which: &dyn Fn(usize) -> bool| {
        let of: Vec<&Moment> = (0..trials.len()).filter(|i| which(*i)).map(|i| trials[i]).collect();
        Series {
            moments: of.iter().flat_map(|t| apart(&t.pauses)).map(|p| (p, 1.0)).collect(),
            expected: expected(&of),
        }
    };
    let middle = stats::mean(levels);
    let level = |which: &dyn Fn(usize) -> bool| {
        let of = (0..trials.len()).filter(|i| which(*i)).map(|i| (trials[i], levels[i]));
        let moments = of.map(|(t, l)| (t.at + t.lasted / 2.0, (l - middle).clamp(-0.5, 0.5))).collect();
        Series { moments, expected: Vec::new() }
    };
    let mut found = Vec::new();
    let all = pauses(&|_| true);
    if all.moments.len() >= FEWEST {
        let parts = [pauses(&|i| half[i]), pauses(&|i| !half[i])];
        found.extend(grid.peak(&all, &parts, Source::Pauses).map(|p| cycle::whole(p, trials)));
    }
    let parts = [level(&|i| half[i]), level(&|i| !half[i])];
    found.extend(grid.peak(&level(&|_| true), &parts, Source::Levels));
    found.sort_by(|a, b| b.power.total_cmp(&a.power));
    Ok(found)
}

/// Moments and their weights, and what is expected of them: (from, to, weight) of each trial.
struct Series {
    moments: Vec<(f64, f64)>,
    expected: Vec<(f64, f64, f64)>,
}

/// Two halves of the trials, every other block each, or before and after where there are few blocks. What comes back does so
/// in both; two bursts that happen to lie at a distance do not.
fn halves(trials: &[&Moment]) -> Vec<bool> {
    let mut blocks: Vec<u32> = trials.iter().map(|t| t.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    match blocks.len() {
        0..4 => (0..trials.len()).map(|i| i < trials.len() / 2).collect(),
        _ => trials.iter().map(|t| blocks.binary_search(&t.block).unwrap_or_default() % 2 == 0).collect(),
    }
}

/// Pauses that are not part of one disturbance with the one before.
fn apart(pauses: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for &pause in pauses {
        if kept.last().is_none_or(|last| pause - last >= 2.0 * STRETCH) {
            kept.push(pause);
        }
    }
    kept
}

/// What pauses at random would have given: (from, to, pauses) for each trial. Short iterations show pauses that long ones
/// hide, so each decade of times has a rate of its own.
fn expected(trials: &[&Moment]) -> Vec<(f64, f64, f64)> {
    let decade = |t: &Moment| t.seconds.log10().floor() as i32;
    let mut rates = std::collections::BTreeMap::<i32, (f64, f64)>::new();
    for t in trials {
        let rate = rates.entry(decade(t)).or_default();
        *rate = (rate.0 + apart(&t.pauses).len() as f64, rate.1 + t.lasted);
    }
    let of = |t: &Moment| rates.get(&decade(t)).map_or(0.0, |(n, time)| if *time > 0.0 { n / time } else { 0.0 });
    trials.iter().map(|t| (t.at, t.at + t.lasted, of(t) * t.lasted)).collect()
}

/// Time in stretches.
struct Grid {
    start: f64,
    /// Seconds of a stretch.
    step: f64,
    /// Seconds that hold something, and stretches of the transform (a power of two, the rest empty).
    span: f64,
    many: usize,
}

impl Grid {
    fn of(start: f64, span: f64) -> Self {
        let step = STRETCH.max(span / STRETCHES as f64);
        Self { start, step, span, many: ((span / step) as usize + 1).next_power_of_two().min(STRETCHES) }
    }

    fn place(&self, at: f64) -> usize {
        (((at - self.start) / self.step).max(0.0) as usize).min(self.many - 1)
    }

    /// The spectrum of a series beyond what is expected, each power over that of its neighbours.
    fn spectrum(&self, series: &Series) -> Vec<f64> {
        let mut stretches = vec![Complex::new(0.0, 0.0); self.many];
        for (at, weight) in &series.moments {
            stretches[self.place(*at)].re += weight;
        }
        for (from, to, weight) in &series.expected {
            let (first, last) = (self.place(*from), self.place(*to));
            let each = weight / (last - first + 1) as f64;
            stretches[first..=last].iter_mut().for_each(|s| s.re -= each);
        }
        FftPlanner::new().plan_fft_forward(self.many).process(&mut stretches);
        whitened(&stretches[..self.many / 2].iter().map(Complex::norm_sqr).collect::<Vec<f64>>())
    }

    /// The highest peak of a series, if it is sure and stands in both of its halves.
    fn peak(&self, series: &Series, halves: &[Series; 2], source: Source) -> Option<Periodic> {
        let whitened = self.spectrum(series);
        // In steps of the transform; slower ones come back too seldom to tell.
        let lowest = ((TIMES / self.span) * self.step * self.many as f64).ceil() as usize;
        let (mut best, mut height, mut overtones) = (0, 0.0, 1);
        // A frequency is known to a step; its highest overtone must be, too.
        for candidate in lowest.max(1) * OVERTONES..whitened.len() * OVERTONES {
            let (h, m) = h_test(&whitened, candidate);
            if h > height {
                (best, height, overtones) = (candidate, h, m);
            }
        }
        let looked_at = self.span / self.step / 2.0 * OVERTONES as f64;
        if height < (looked_at / LEVEL).ln() / 0.4 {
            return None;
        }
        // A half or a third of a frequency has all its overtones, too: the highest that explains as much is meant.
        let explains = |multiple: usize| {
            let about = (best * multiple).saturating_sub(multiple)..=best * multiple + multiple;
            let one = |c: usize| (h_test(&whitened, c), c);
            about.filter(|c| c / OVERTONES < whitened.len() - 1).map(one).max_by(|a, b| a.0.0.total_cmp(&b.0.0))
        };
        if let Some(((_, m), candidate)) =
            (2..=OVERTONES).rev().filter_map(explains).find(|((h, _), _)| *h > EXPLAINED * height)
        {
            (best, overtones) = (candidate, m);
        }
        let confirmed = |half: &Series| {
            let spectrum = self.spectrum(half);
            (best - 1..=best + 1).any(|candidate| h_test(&spectrum, candidate).0 > CONFIRMED)
        };
        if !halves.iter().all(confirmed) {
            return None;
        }
        let step = 1.0 / (self.step * self.many as f64);
        let frequency = self.refined(&series.moments, best as f64 / OVERTONES as f64 * step, overtones);
        // The error of a frequency in white noise (Rife and Boorstyn 1974), each overtone with its own say, by half wider for
        // what is not white.
        let say: f64 = (1..=overtones).map(|k| (k * k) as f64 * at(&whitened, best, k)).sum();
        let reach = 1.96 * 1.5 * 6f64.sqrt() / (2.0 * std::f64::consts::PI * self.span * say.max(1.0).sqrt());
        let period = Estimate {
            value: 1.0 / frequency,
            low: 1.0 / (frequency + reach),
            high: 1.0 / (frequency - reach).max(f64::MIN_POSITIVE),
        };
        Some(Periodic { period, source, each_time: source == Source::Levels, power: height })
    }

    /// The frequency near this one at which the moments and their overtones agree best.
    fn refined(&self, moments: &[(f64, f64)], about: f64, overtones: usize) -> f64 {
        let agreement = |frequency: f64| -> f64 {
            let phase = |at: f64| -std::f64::consts::TAU * frequency * (at - self.start);
            let one = |k: usize| -> Complex<f64> {
                moments.iter().map(|(at, w)| Complex::from_polar(*w, k as f64 * phase(*at))).sum()
            };
            (1..=overtones).map(|k| one(k).norm_sqr()).sum()
        };
        let mut best = about;
        let mut wide = 1.0 / (self.step * self.many as f64) / overtones as f64;
        for _ in 0..3 {
            let tries = (-6..=6).map(|i| best + wide * f64::from(i) / 6.0).filter(|f| *f > 0.0);
            best = tries.max_by(|a, b| agreement(*a).total_cmp(&agreement(*b))).unwrap_or(best);
            wide /= 4.0;
        }
        best
    }
}

/// Power at an overtone of a candidate, which counts in parts of a step.
fn at(whitened: &[f64], candidate: usize, overtone: usize) -> f64 {
    whitened.get((candidate * overtone + OVERTONES / 2) / OVERTONES).copied().unwrap_or(0.0)
}

/// H of a candidate, and the number of overtones (its own frequency is the first) with which it is reached.
fn h_test(whitened: &[f64], candidate: usize) -> (f64, usize) {
    let (mut sum, mut best) = (0.0, (f64::NEG_INFINITY, 1));
    for k in 1..=OVERTONES.min((whitened.len() - 1) * OVERTONES / candidate) {
        sum += 2.0 * at(whitened, candidate, k);
        let h = sum - 4.0 * k as f64 + 4.0;
        if h > best.0 {
            best = (h, k);
        }
    }
    best
}

/// Each power over that of its neighbours, so that noise of any colour has mean 1.
fn whitened(power: &[f64]) -> Vec<f64> {
    // Neighbours change slowly: their median is taken anew every so many steps.
    let every = NEIGHBOURS / 8;
    let levels: Vec<f64> = (0..power.len())
        .step_by(every)
        .map(|i| {
            median(&power[i.saturating_sub(NEIGHBOURS)..(i + NEIGHBOURS).min(power.len())]) / std::f64::consts::LN_2
        })
        .collect();
    power.iter().enumerate().map(|(i, p)| if levels[i / every] > 0.0 { p / levels[i / every] } else { 0.0 }).collect()
}
