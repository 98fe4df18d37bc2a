//! Trials that are slower for a while, again and again: a sine in the trials' levels.
//!
//! Machines change on every scale of time, and the spectrum of such changes has random peaks, the higher the lower the frequency (red
//! noise). So a sine is tested against a red background: levels that wander and return after some time (a first-order process) with white
//! noise and a straight drift, fitted to the run's own levels by likelihood. A Kalman filter whitens levels and sines alike at the moments
//! at which trials ran, so that gaps between trials and between rounds are allowed for exactly (as the likelihood-ratio test of Baluev 2008
//! for white noise). What the background leaves uneven is divided out by the median of the neighbouring frequencies (as Schulz and Mudelsee
//! 2002 scale their red-noise spectrum; Vaughan 2005).

use stats::median;

use super::background::Background;
use super::{LEVEL, Periodic, Source, TIMES, rhythm};
use crate::Estimate;

/// Most levels that are looked at: beyond that, neighbouring trials are averaged.
const MOST: usize = 1000;

/// A period takes so many trials at least: anything faster lies within one trial, or is the rhythm of the trials themselves.
const TRIALS: f64 = 4.0;

/// Steps of frequency in one over the run's length.
const FINER: f64 = 3.0;

/// Most frequencies that are tested, the lowest: trials that lie close together here and far apart there would have millions.
const FREQUENCIES: usize = 4096;

/// Neighbours that a frequency is compared with: within this factor, and so many steps at least.
const WITHIN: f64 = 1.5;
const NEIGHBOURS: usize = 40;

/// Steps on each side that belong to a frequency itself.
const OWN: usize = 5;

/// Power that each half of the run must have at a frequency found in the whole: a chance of 1 in 30.
const CONFIRMED: f64 = 3.5;

/// The frequencies that a series resolves, in steps.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Frequencies {
    lowest: usize,
    highest: usize,
    /// Hertz.
    step: f64,
}

impl Frequencies {
    /// None where there are too few of them to compare one with the others.
    fn of(series: &[(f64, f64)]) -> Option<Self> {
        let span = series.last()?.0 - series.first()?.0;
        let gaps: Vec<f64> = series.windows(2).map(|w| w[1].0 - w[0].0).collect();
        let pitch = median(&gaps);
        if !(span > 0.0 && pitch > 0.0) {
            return None;
        }
        let step = 1.0 / (FINER * span);
        let lowest = (TIMES / span / step).ceil() as usize;
        let highest = ((1.0 / (TRIALS * pitch) / step) as usize).min(lowest + FREQUENCIES - 1);
        (highest >= lowest + NEIGHBOURS).then_some(Self { lowest, highest, step })
    }
}

/// The shortest period that is looked for in these levels (seconds, logarithm), seconds; none where no period is.
pub(super) fn shortest(levels: &[(f64, f64)]) -> Option<f64> {
    let found = Frequencies::of(&fewer(levels))?;
    Some(1.0 / (found.highest as f64 * found.step))
}

/// The period of these levels, (seconds, logarithm) ascending in time, if one is significant. `rounds` are the moments at which rounds
/// began.
pub(super) fn period(levels: &[(f64, f64)], rounds: &[f64]) -> Option<Periodic> {
    let series = fewer(&clipped(levels));
    let span = series.last()?.0 - series.first()?.0;
    let Frequencies { lowest, highest, step } = Frequencies::of(&series)?;
    let background = Background::of(&series)?;
    let powers: Vec<f64> = background.powers(&series, lowest as f64 * step, step, highest + 1 - lowest);
    let beyond: Vec<f64> = (0..powers.len()).map(|i| powers[i] / around(&powers, i, lowest)).collect();
    let best = (0..beyond.len()).max_by(|a, b| beyond[*a].total_cmp(&beyond[*b]))?;
    let best = fundamental(&beyond, best, lowest);
    let frequency = (best + lowest) as f64 * step;
    // The largest of powers that are three times finer than independent ones is as large as that of so many.
    let many = (beyond.len() as f64).max(1.0);
    if beyond[best] < (many / LEVEL).ln() || rhythm::shared(rounds, frequency) {
        return None;
    }
    let halves = series.split_at(series.len() / 2);
    if [halves.0, halves.1].iter().any(|half| background.powers(half, frequency, 0.0, 1)[0] < CONFIRMED) {
        return None;
    }
    let finer = step / 8.0;
    let about = background.powers(&series, frequency - 8.0 * finer, finer, 17);
    let highest = (0..about.len()).max_by(|a, b| about[*a].total_cmp(&about[*b]))?;
    let frequency = frequency + (highest as f64 - 8.0) * finer;
    // The error of a frequency in white noise (Rife and Boorstyn 1974), by half wider for what is not white.
    let white = |span: f64, power: f64| 1.5 * 6f64.sqrt() / (2.0 * std::f64::consts::PI * span * power.max(1.0).sqrt());
    let reach = 1.96 * white(span, powers[best]).max(wanders(&background, &series, frequency, white));
    let period = Estimate {
        value: 1.0 / frequency,
        low: 1.0 / (frequency + reach),
        high: 1.0 / (frequency - reach).max(f64::MIN_POSITIVE),
    };
    Some(Periodic { period, source: Source::Levels, each_time: true, power: beyond[best] / 0.4 })
}

/// Overtones of a frequency that may stand out more than it does: a short disturbance has many, and a red background hides low frequencies
/// first. And what the frequency itself must reach: 1 in 200 by chance for all of them.
const OVERTONES: usize = 7;
const FUNDAMENTAL: f64 = 7.2;

/// The lowest frequency of which the one that stands out most is an overtone, as an index.
fn fundamental(beyond: &[f64], best: usize, lowest: usize) -> usize {
    let of = |times: usize| {
        let at = ((best + lowest) as f64 / times as f64).round() as usize;
        let near = at.saturating_sub(1).max(lowest)..=at + 1;
        near.map(|k| k - lowest).filter(|i| *i < best).max_by(|a, b| beyond[*a].total_cmp(&beyond[*b]))
    };
    (2..=OVERTONES).filter_map(of).rfind(|i| beyond[*i] > FUNDAMENTAL).unwrap_or(best)
}

/// Parts of a run whose own frequencies are compared.
const PARTS: usize = 4;

/// Standard deviation of the frequency (Hz) of a run's parts about that of the whole, where it is more than their errors, `white(span,
/// power)`, explain: what comes back without a clock, as a load that swings does, has no period known to a hundredth. 0 of a steady one.
fn wanders(background: &Background, series: &[(f64, f64)], frequency: f64, white: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut squares, mut explained, mut parts) = (0.0, 0.0, 0.0);
    for part in series.chunks(series.len().div_ceil(PARTS)) {
        let span = part[part.len() - 1].0 - part[0].0;
        // A part of fewer than two periods has no frequency.
        if span * frequency < 2.0 {
            continue;
        }
        let step = 1.0 / (8.0 * span);
        let powers = background.powers(part, frequency - 12.0 * step, step, 25);
        let Some(best) = (0..powers.len()).max_by(|a, b| powers[*a].total_cmp(&powers[*b])) else { continue };
        squares += ((best as f64 - 12.0) * step).powi(2);
        explained += white(span, powers[best]).powi(2) + step * step / 12.0;
        parts += 1.0;
    }
    if parts < 2.0 || squares < STEADY * explained { 0.0 } else { (squares / parts).sqrt() }
}

/// Factor by which the squares of the parts' distances may exceed what their errors explain. A steady sine exceeds it in one run of five,
/// and then has a wider interval than need be.
const STEADY: f64 = 1.5;

/// Mean power of the frequencies about this one: 1 where the background is right, and never less, so that none is made to stand out.
fn around(powers: &[f64], i: usize, lowest: usize) -> f64 {
    let at = (i + lowest) as f64;
    let low = ((at / WITHIN) as usize).saturating_sub(lowest).min(i.saturating_sub(NEIGHBOURS));
    let high = ((at * WITHIN) as usize - lowest).max(i + NEIGHBOURS).min(powers.len() - 1);
    let others: Vec<f64> = (low..=high).filter(|k| k.abs_diff(i) > OWN).map(|k| powers[k]).collect();
    (median(&others) / std::f64::consts::LN_2).max(1.0)
}

/// Levels about their median, clamped to four typical distances from it: a trial that strays far must not make a period.
fn clipped(levels: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let middle = median(&levels.iter().map(|l| l.1).collect::<Vec<_>>());
    let typical = median(&levels.iter().map(|l| (l.1 - middle).abs()).collect::<Vec<_>>()) / 0.6745;
    let far = if typical > 0.0 { 4.0 * typical } else { f64::INFINITY };
    levels.iter().map(|(at, l)| (*at, (l - middle).clamp(-far, far))).collect()
}

/// Neighbours averaged until no more than [`MOST`] are left.
fn fewer(levels: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let each = levels.len().div_ceil(MOST).max(1);
    let mean = |part: &[(f64, f64)]| {
        let n = part.len() as f64;
        (part.iter().map(|p| p.0).sum::<f64>() / n, part.iter().map(|p| p.1).sum::<f64>() / n)
    };
    levels.chunks(each).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_slowdowns_are_named_by_their_period_and_not_by_an_overtone() {
        use rand::{Rng, SeedableRng};
        let (mut named, mut wrong) = (0, 0);
        for (seed, every) in [0.2, 0.3, 0.52, 0.84].into_iter().cycle().take(40).enumerate() {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed as u64);
            let begins: f64 = rng.random::<f64>() * every;
            let mut level = |i: u32| {
                let (at, noise) = (0.01 * f64::from(i), (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0);
                let slow = (at + begins).rem_euclid(every) < 0.2 * every;
                (at, 0.03 * noise + if slow { 1.5f64.ln() } else { 0.0 })
            };
            let series: Vec<(f64, f64)> = (0..1200).map(&mut level).collect();
            let found = period(&series, &[]).map(|p| p.period.value);
            println!("{seed}, {every}: {found:?}");
            named += u32::from(found.is_some());
            wrong += u32::from(found.is_some_and(|period| (period / every - 1.0).abs() > 0.02));
        }
        assert!(named >= 30 && wrong <= 1, "{wrong} of {named}");
    }

    #[test]
    fn the_frequencies_looked_at_are_bounded_whatever_the_moments() {
        let even: Vec<(f64, f64)> = (0..400).map(|i| (0.01 * f64::from(i), 0.0)).collect();
        assert!((shortest(&even).unwrap() / 0.04 - 1.0).abs() < 0.01);
        // All trials but one lie close together: 760,000 frequencies.
        let mut far = even.clone();
        far.push((10_000.0, 0.0));
        let found = Frequencies::of(&far).unwrap();
        assert_eq!(found.highest + 1 - found.lowest, FREQUENCIES);
        assert!(shortest(&far).unwrap() > 7.0);
    }
}
