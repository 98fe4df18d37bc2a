//! Disturbances that come back at a period: a spectrum of the pauses, beside `stops` and `levels`.
//!
//! A path is seen only while a trial runs, and trials have rhythms of their own. So from each stretch of time the pauses that its trials
//! would have at random are subtracted, and each frequency is compared with its neighbours and with what the same trials give with their
//! pauses exchanged: the rest is exponential with mean 1 where nothing comes back (the periodogram of Schuster 1898; Scargle 1982). A
//! frequency and its overtones are judged together (the H-test: de Jager, Raubenheimer and Swanepoel 1989).

use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};
use stats::median;

use super::{LEVEL, Moment, Periodic, Source, TIMES, cycle, levels, rhythm, stops};
use crate::Estimate;

/// Finest stretch of time, seconds: trials start up to a tenth of it later than is recorded.
const STRETCH: f64 = 0.5e-3;

/// Most stretches.
const STRETCHES: usize = 1 << 18;

/// Trials whose times add up to more than so many times the run overlap; and where the first trial begins later than so many times the
/// run's length, rounding hides the moments within.
const OVERLAP: f64 = 2.0;
const FAR: f64 = 1e6;

/// Shuffled runs, with the same trials and pauses but each trial's pauses in another trial: their spectra are what the trials' own rhythm
/// gives.
const SHUFFLED: usize = 8;

/// The first trials of a round, which show what opening it costs: so many, or the first quarter of a round. They are pooled with those up
/// to an eighth farther from or nearer to the beginning, since that cost fades.
const OPENING: usize = 8;
const QUARTER: usize = 4;
const AS_FAR: usize = 8;

/// Share of how well pauses keep to a period, from which on the beginnings of trials keep to it as well.
const AS_WELL: f64 = 0.75;

/// Fewest pauses, or trials, to look for a period in.
const FEWEST: usize = 40;

/// Neighbours on each side that a frequency is compared with: at most, and at least.
const NEIGHBOURS: usize = 256;
const LEAST: usize = 12;

/// Overtones that are looked at together with a frequency: a short disturbance has many, none of which need stand out.
const OVERTONES: usize = 20;

/// H that each half of a series must reach at a frequency found in the whole: 1 in 100 by chance.
const CONFIRMED: f64 = 12.0;

/// The standard deviation of a normal variable over the median of its absolute value.
const TYPICAL: f64 = 1.4826;

/// Share of H that a multiple of a frequency must explain to be taken for it.
const EXPLAINED: f64 = 0.8;

/// Periods found, and the shortest that were looked for, seconds: of pauses, and of levels where any were.
pub(super) struct Searched {
    pub found: Vec<Periodic>,
    pub shortest: f64,
    pub shortest_of_levels: Option<f64>,
}

/// Looks for periods; the error says why it can't.
pub(super) fn search(trials: &[&Moment], levels: &[f64]) -> Result<Searched, &'static str> {
    let (Some(first), Some(last)) = (trials.first(), trials.last()) else { return Err("no trial took a time above 0") };
    let span = last.at + last.lasted - first.at;
    if trials.len() < FEWEST || span.is_nan() || span < TIMES * STRETCH * 4.0 {
        return Err("too few trials to tell a period");
    }
    // What follows counts the moments due while trials ran: many times the run's length would never end.
    if trials.iter().map(|t| t.lasted).sum::<f64>() > OVERLAP * span {
        return Err(
            "the trials overlap in time: one path's trials run one after the other, so their moments are wrong",
        );
    }
    if first.at.abs() > FAR * span {
        return Err("the trials lie too far from the run's start to tell their moments apart");
    }
    let grid = Grid::of(first.at, span);
    let half = halves(trials);
    let pauses = |which: &dyn Fn(usize) -> bool| {
        let of: Vec<&Moment> = (0..trials.len()).filter(|i| which(*i)).map(|i| trials[i]).collect();
        Series { moments: of.iter().flat_map(|t| apart(&t.pauses)).collect(), expected: expected(&of) }
    };
    let rounds = begun(trials);
    let mut found: Vec<Periodic> = stops::period(trials, &rounds).into_iter().collect();
    let all = pauses(&|_| true);
    if all.moments.len() >= FEWEST {
        let parts = [pauses(&|i| half[i]), pauses(&|i| !half[i])];
        let own = grid.own(trials, &all);
        let quick = grid.peak(&all, &parts, &own).map(|p| cycle::whole(p, trials));
        let starts: Vec<f64> = trials.iter().map(|t| t.at).collect();
        // Stops delay the ends of trials, and with them the beginnings of the next ones, which then keep to the stops' period too, but less
        // well than the stops do. What comes with the beginnings of trials keeps to it no better than these do.
        let own = |p: &Periodic| {
            let frequency = 1.0 / p.period.value;
            let begun_with = rhythm::kept(&starts, frequency) > AS_WELL * rhythm::kept(&all.moments, frequency);
            rhythm::shared(&rounds, frequency) || begun_with && rhythm::shared(&starts, frequency)
        };
        // The overtones of a slow one that was found are no other disturbance.
        let part = |p: &Periodic| {
            found.iter().any(|slow| {
                let times = slow.period.value / p.period.value;
                (times - times.round()).abs() < 0.02 * times.clamp(1.0, 10.0)
            })
        };
        let quick = quick.filter(|p| !own(p) && !part(p));
        found.extend(quick);
    }
    let moments: Vec<(f64, f64)> =
        trials.iter().zip(settled(trials, levels)).map(|(t, l)| (t.at + t.lasted / 2.0, l)).collect();
    found.extend(levels::period(&moments, &rounds));
    found.sort_by(|a, b| b.power.total_cmp(&a.power));
    Ok(Searched { found, shortest: 2.0 * grid.step, shortest_of_levels: levels::shortest(&moments) })
}

/// The levels without what the first trials of all rounds have in common: a connection that was just opened, and cold caches, come from the
/// run itself, and come back with each round.
fn settled(trials: &[&Moment], levels: &[f64]) -> Vec<f64> {
    let mut seen = std::collections::BTreeMap::<u32, usize>::new();
    let places: Vec<usize> = (trials.iter())
        .map(|t| {
            let next = seen.entry(t.round).or_default();
            *next += 1;
            *next - 1
        })
        .collect();
    let of_round = trials.len() / seen.len().max(1);
    let mut at = vec![Vec::new(); OPENING.max(of_round / QUARTER)];
    places.iter().zip(levels).for_each(|(place, level)| {
        if let Some(of) = at.get_mut(*place) {
            of.push(*level);
        }
    });
    let common = |place: usize| {
        let (from, to) = (place - place / AS_FAR, (place + place / AS_FAR).min(at.len() - 1));
        let of: Vec<f64> = at[from..=to].concat();
        if at[place].len() < 4 { 0.0 } else { median(&of) }
    };
    let common: Vec<f64> = (0..at.len()).map(common).collect();
    places.iter().zip(levels).map(|(place, level)| level - common.get(*place).unwrap_or(&0.0)).collect()
}

/// When each round began.
fn begun(trials: &[&Moment]) -> Vec<f64> {
    let mut first = std::collections::BTreeMap::<u32, f64>::new();
    for t in trials {
        first.entry(t.round).or_insert(t.at);
    }
    first.into_values().collect()
}

/// Moments, and what is expected of each trial: (from, to, weight).
struct Series {
    moments: Vec<f64>,
    expected: Vec<(f64, f64, f64)>,
}

/// Two halves of the trials, every other round each, or before and after where there are few rounds. What comes back does so in both; two
/// bursts that happen to lie at a distance do not.
fn halves(trials: &[&Moment]) -> Vec<bool> {
    let mut rounds: Vec<u32> = trials.iter().map(|t| t.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    match rounds.len() {
        0..4 => (0..trials.len()).map(|i| i < trials.len() / 2).collect(),
        _ => trials.iter().map(|t| rounds.binary_search(&t.round).unwrap_or_default() % 2 == 0).collect(),
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

/// What pauses at random would have given: (from, to, pauses) for each trial. Short iterations show pauses that long
/// ones hide, so each decade of times has a rate of its own.
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
    /// Seconds that hold trials, and stretches of the transform (a power of two, the rest empty).
    span: f64,
    many: usize,
    transform: Arc<dyn Fft<f64>>,
}

impl Grid {
    fn of(start: f64, span: f64) -> Self {
        let step = STRETCH.max(span / STRETCHES as f64);
        let many = ((span / step) as usize + 1).next_power_of_two().min(STRETCHES);
        Self { start, step, span, many, transform: FftPlanner::new().plan_fft_forward(many) }
    }

    fn place(&self, at: f64) -> usize {
        (((at - self.start) / self.step).max(0.0) as usize).min(self.many - 1)
    }

    /// The spectrum of a series beyond what is expected.
    fn powers(&self, moments: &[f64], expected: &[(f64, f64, f64)]) -> Vec<f64> {
        let mut stretches = vec![Complex::new(0.0, 0.0); self.many];
        for at in moments {
            stretches[self.place(*at)].re += 1.0;
        }
        for (from, to, weight) in expected {
            let (first, last) = (self.place(*from), self.place(*to));
            let each = weight / (last - first + 1) as f64;
            stretches[first..=last].iter_mut().for_each(|s| s.re -= each);
        }
        self.transform.process(&mut stretches);
        stretches[..self.many / 2].iter().map(Complex::norm_sqr).collect()
    }

    /// The spectrum of a series, each power over that of its neighbours, or over `own`, what the trials' own rhythm gives, where that is
    /// more.
    fn spectrum(&self, series: &Series, own: &[f64]) -> Vec<f64> {
        let powers = self.powers(&series.moments, &series.expected);
        let neighbours = background(&powers);
        let own = own.iter().copied().chain(std::iter::repeat(0.0));
        let least = neighbours.iter().zip(own).map(|(n, own)| n.max(own));
        powers.iter().zip(least).map(|(p, l)| if l > 0.0 { p / l } else { 0.0 }).collect()
    }

    /// The spectrum of the trials' own rhythm: the mean spectrum where each trial has the pauses of another, as far from its beginning.
    /// What comes with the beginnings of trials is in it; what comes back independently of the trials is not.
    fn own(&self, trials: &[&Moment], series: &Series) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(trials.len() as u64);
        let mut order: Vec<usize> = (0..trials.len()).collect();
        let mut sum = vec![0.0; self.many / 2];
        for _ in 0..SHUFFLED {
            order.shuffle(&mut rng);
            let from = |(t, other): (&&Moment, &usize)| {
                let (at, lasted, other) = (t.at, t.lasted, trials[*other]);
                let since = apart(&other.pauses).into_iter().map(move |p| p - other.at);
                since.filter(move |s| *s <= lasted).map(move |s| at + s).collect::<Vec<_>>()
            };
            let moments: Vec<f64> = trials.iter().zip(&order).flat_map(from).collect();
            let of = self.powers(&moments, &series.expected);
            sum.iter_mut().zip(of).for_each(|(s, p)| *s += p / SHUFFLED as f64);
        }
        sum
    }

    /// The highest peak of a series, if it is significant and shows in both of its halves.
    fn peak(&self, series: &Series, halves: &[Series; 2], own: &[f64]) -> Option<Periodic> {
        let whitened = self.spectrum(series, own);
        // In steps of the transform; slower ones come back too seldom to tell.
        let lowest = ((TIMES / self.span) * self.step * self.many as f64).ceil() as usize;
        let (mut best, mut height, mut overtones) = (0, 0.0, 1);
        // The frequency must be known to a step at its highest overtone, too.
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
        // A half or a third of a frequency has all its overtones, too: the highest frequency that explains as much is taken.
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
            let spectrum = self.spectrum(half, &[]);
            (best - 1..=best + 1).any(|candidate| h_test(&spectrum, candidate).0 > CONFIRMED)
        };
        if !halves.iter().all(confirmed) {
            return None;
        }
        let step = 1.0 / (self.step * self.many as f64);
        let frequency = self.refined(&series.moments, best as f64 / OVERTONES as f64 * step, overtones);
        // The error of a frequency in white noise (Rife and Boorstyn 1974), with every overtone by its power, wider by half for what is not
        // white.
        let say: f64 = (1..=overtones).map(|k| (k * k) as f64 * at(&whitened, best, k)).sum();
        let reach = 1.96 * 1.5 * 6f64.sqrt() / (2.0 * std::f64::consts::PI * self.span * say.max(1.0).sqrt());
        // Beats that come early or late tell less of it.
        let reach = reach.max(1.96 * beats_error(&series.moments, frequency));
        let period = Estimate {
            value: 1.0 / frequency,
            low: 1.0 / (frequency + reach),
            high: 1.0 / (frequency - reach).max(f64::MIN_POSITIVE),
        };
        Some(Periodic { period, source: Source::Pauses, each_time: false, power: height })
    }

    /// The frequency near this one at which the moments and their overtones agree best.
    fn refined(&self, moments: &[f64], about: f64, overtones: usize) -> f64 {
        let agreement = |frequency: f64| -> f64 {
            let phase = |at: f64| -std::f64::consts::TAU * frequency * (at - self.start);
            let one = |k: usize| -> Complex<f64> {
                moments.iter().map(|at| Complex::from_polar(1.0, k as f64 * phase(*at))).sum()
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

/// Standard error of a frequency by how far its beats lie from their due moments: that of the slope of a line through their moments over their
/// numbers. Moments nearer to the middle between two beats are none.
fn beats_error(moments: &[f64], frequency: f64) -> f64 {
    let turn = |at: &f64| std::f64::consts::TAU * frequency * at;
    let (sin, cos) = moments.iter().fold((0.0, 0.0), |(s, c), at| (s + turn(at).sin(), c + turn(at).cos()));
    let phase = f64::atan2(sin, cos) / std::f64::consts::TAU;
    let beats = moments.iter().map(|at| at * frequency - phase).map(|turns| (turns.round(), turns - turns.round()));
    let (numbers, off): (Vec<f64>, Vec<f64>) = beats.filter(|(_, off)| off.abs() < 0.25).unzip();
    let middle = stats::mean(&numbers);
    let squares: f64 = numbers.iter().map(|k| (k - middle).powi(2)).sum();
    let typical = median(&off.iter().map(|off| off.abs()).collect::<Vec<_>>()) * TYPICAL;
    if squares > 0.0 { typical / squares.sqrt() * frequency } else { 0.0 }
}

/// Power at an overtone of a candidate frequency, which is counted in 1/[`OVERTONES`] of a step.
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

/// Power of each frequency's neighbours, so that noise of any colour has mean 1: low frequencies, where noise is steep, have few.
fn background(power: &[f64]) -> Vec<f64> {
    let mut levels = Vec::with_capacity(power.len());
    let (mut level, mut next) = (0.0, 0);
    for i in 0..power.len() {
        // Neighbours change slowly: their median is taken anew every so many steps.
        let reach = NEIGHBOURS.min(i / 3).max(LEAST);
        if i == next {
            level = median(&power[i.saturating_sub(reach)..(i + reach).min(power.len())]) / std::f64::consts::LN_2;
            next = i + (reach / 8).max(1);
        }
        levels.push(level);
    }
    levels
}
