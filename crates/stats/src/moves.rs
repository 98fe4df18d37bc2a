//! How a machine moved from round to round, and how many rounds that leaves to average over.
//!
//! A machine has states that last: another user, a clock frequency, a placement of memory. The levels of successive rounds are then alike,
//! and k rounds say less than k independent ones would. The variance of their mean is estimated in two ways, of which the larger counts:
//! from the correlation of neighbouring rounds, and from the slowest waves of the series, which needs no model of it (equal-weighted
//! cosines: Lazarus, Lewis, Stock and Watson 2018, *HAR Inference*, Journal of Business and Economic Statistics 36:541-559).

use crate::STATES;
use crate::basic::{mean, median, variance};
use crate::spread::StandardError;
use crate::student::student_t;

/// Fewest rounds that an interval is made of.
pub const FEWEST_ROUNDS: usize = 4;

/// Prior of the correlation of neighbouring rounds, and the number of rounds that it counts for: nine rounds alone can't tell a correlation
/// of a half from none.
const USUAL: f64 = 0.35;
const USUAL_WEIGHT: f64 = 8.0;

/// Cosine waves that the long-run variance is computed from, as a share of k^(2/3) for k rounds. A simulation of independent,
/// autoregressive and two-state rounds chose it (`tests/truth`).
const WAVES: f64 = 0.65;

/// Largest correlation that is used: beyond it, only a longer series could tell it from 1.
const MOST_ALIKE: f64 = 0.97;

/// Share of the levels' squares that one lasting change explains, beyond which it counts as all that happened.
const ONE_CHANGE: f64 = 0.9;

/// Levels whose spread is within this share of one size's noise, or within [`ALIKE`], count as one state.
const OF_NOISE: f64 = 0.5;
const ALIKE: f64 = 0.01;

/// States last for some rounds where the effective rounds are fewer than this share of all, and neighbours surely alike.
const LASTING: f64 = 0.6;

/// Effective rounds from which on states count as averaged over; and by how many standard errors (each one over the square root of the
/// rounds) the true correlation of neighbours may exceed the one seen, with 95% confidence.
const AVERAGED: f64 = 4.0;
const ABOVE: f64 = 1.645;

/// Length, in rounds, of the states that such rounds average over with confidence. Rounds seem independent where the run met short states,
/// and its interval then holds the machine's centre; they also seem so where it met only a few of states that last for some rounds, and its
/// interval then holds the centre of those it met. With mean lengths up to this, nine of ten runs that seem so hold the centre of two
/// states x1.5 apart, from twelve rounds on (the test below); with 1.8 rounds 76% of runs of twelve do and 84% of runs of thirty, with
/// three rounds 45 and 55%.
const SHORT: f64 = 0.5;

/// Confidence beyond which the slowest wave is a drift and not chance.
const NO_DRIFT: f64 = 0.99;

/// A lone round lies far off where it lies a quarter off the median and so many times as far as any other.
const FAR_OFF: f64 = 0.223;
const FARTHER: f64 = 3.0;

/// Rounds from which on the farthest is clamped to the distance of the next; and how far off, as a logarithm, the farthest of fewer must
/// lie for that, [`STATES`]: one of four may be a state that comes as often as another.
const DRAWN: usize = 5;

/// Standard errors of a rank on either side of the middle up to which the true median may lie: of normal levels these are the levels
/// to which the 95% interval of their mean reaches (1.96 over the 1.253 by which a median errs more).
const RANKS: f64 = 1.56;

/// Which states of the machine a run's rounds met: one decision, on which all that is said of it rests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Saw {
    /// Too few rounds to tell.
    Few,
    /// One state, or both of two: so few rounds that all may be of one of the two.
    OneOfTwo,
    /// A state or two that last too long to average over.
    Outlasting,
    /// States that last for some rounds.
    Lasting,
    /// One round far from all others, which took so many times as long as the median one (below 1: that much less).
    OneFar(f64),
    /// Rounds lie apart, each on its own.
    Changing,
    /// One state, as far as rounds tell: they lie no further apart than the noise lets them.
    One,
}

/// The levels of a run's rounds, as a series in time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moves {
    /// Rounds.
    pub rounds: u32,
    /// Standard deviation of the levels, as logarithms: 0.02 is 2%.
    pub spread: f64,
    /// Independent rounds that would say as much of the mean level: at most `rounds`.
    pub effective: f64,
    /// Correlation of neighbouring rounds, as far as this run tells it; 0 with fewer than four rounds.
    pub alike: f64,
    /// Share of the levels' squares about their mean that one change, at the best place for it, explains.
    pub one_change: f64,
    /// Share of the levels' squares about their mean that the slowest wave explains, half a period of which the run covers: a drift.
    pub drift: f64,
    /// The mean level less the median one, as a logarithm.
    pub mean: f64,
    /// How far below and above the median level seen the true one may lie, as logarithms of 0 or less and of 0 or more: order statistics of
    /// as many rounds as are effective. Where rounds met two states it holds the noise of each, which the error of the mean does not.
    pub ends: (f64, f64),
    /// How far the farthest round lies from the median, as a logarithm, where it lies far beyond all others; else 0.
    pub far: f64,
    /// Standard error of the mean level, as a logarithm.
    pub error: StandardError,
    /// So few rounds may all be of one of the two groups that the sizes' rounds fall into ([`crate::in_two_groups`]).
    pub split: bool,
}

impl Moves {
    /// From the levels of the rounds in the order of time, as logarithms. The round farthest from the median is clamped to the distance of
    /// the next: of five rounds or more always, of four only where it lies alone beyond a factor of two.
    pub fn of(levels: &[f64]) -> Self {
        let k = levels.len();
        let rounds = k as u32;
        if k < FEWEST_ROUNDS {
            let spread = if k > 1 { variance(levels).sqrt() } else { 0.0 };
            return Self { rounds, spread, effective: k as f64, ..Self::default() };
        }
        let middle = median(levels);
        let far = far_off(levels, middle);
        let drawn = k >= DRAWN || far.abs() > STATES;
        let series = if drawn { drawn_in(levels, middle) } else { levels.to_vec() };
        let centre = mean(&series);
        let squares: f64 = series.iter().map(|l| (l - centre).powi(2)).sum();
        let none = StandardError { value: 0.0, degrees: (k - 1) as f64 };
        let spread = (squares / (k - 1) as f64).sqrt();
        if spread <= f64::EPSILON * centre.abs().max(1.0) {
            return Self { rounds, effective: k as f64, error: none, far, ..Self::default() };
        }
        let kf = k as f64;
        let raw = series.windows(2).map(|w| (w[0] - centre) * (w[1] - centre)).sum::<f64>() / squares;
        // Taking the mean off makes neighbours look less alike (Kendall 1954).
        let alike = (raw + (1.0 + 3.0 * raw) / kf).clamp(-0.5, MOST_ALIKE);
        let weighed = ((kf * alike + USUAL_WEIGHT * USUAL) / (kf + USUAL_WEIGHT)).clamp(0.0, MOST_ALIKE);
        let inflation = 1.0 + 2.0 * (1..k).map(|lag| (1.0 - lag as f64 / kf) * weighed.powi(lag as i32)).sum::<f64>();
        // The spread about the run's own mean lacks the variance of that mean.
        let marginal = squares / kf / (1.0 - inflation / kf).max(0.15);
        let waves = slow_waves(k);
        let (by_alike, by_waves) = (marginal * inflation, slowest_waves(&series, waves as usize));
        // All rounds estimate the correlation, but it is uncertain itself: half-way between the waves and the effective rounds.
        let degrees = if by_waves > by_alike { waves } else { waves.max((waves + kf / inflation - 1.0) / 2.0) };
        let error = StandardError { value: (by_alike.max(by_waves) / kf).sqrt(), degrees };
        Self {
            rounds,
            spread,
            effective: kf / inflation,
            alike,
            one_change: one_change(&series, centre, squares),
            drift: slowest_waves(&series, 1) / squares,
            mean: centre - middle,
            ends: ends(&series, middle, kf / inflation),
            far,
            error,
            split: false,
        }
    }

    /// How far below and above a figure the truth may lie, as differences of 0 or less and of 0 or more (logarithms of a figure that is a
    /// ratio). The figure follows the level by `follows` (a time by 1, a throughput by -1). The mean level and the median one may differ,
    /// and the interval holds both: the mean within `reach`, the half-width with all errors, and the median within its own ends and `own`,
    /// the half-width without the level's error.
    pub fn held(&self, follows: f64, own: f64, reach: f64) -> (f64, f64) {
        let (mean, ends) = (follows * self.mean, (follows * self.ends.0, follows * self.ends.1));
        let (below, above) = (ends.0.min(ends.1), ends.0.max(ends.1));
        ((mean - reach).min(-own.hypot(below)), (mean + reach).max(own.hypot(above)))
    }

    /// Fewer rounds than an interval is made of.
    pub fn few(&self) -> bool {
        (self.rounds as usize) < FEWEST_ROUNDS
    }

    /// The rounds do not average over the machine's states: [`Saw::OneOfTwo`] or [`Saw::Outlasting`]. `noise` as of [`Moves::saw`].
    pub fn slow(&self, noise: f64) -> bool {
        matches!(self.saw(noise), Saw::OneOfTwo | Saw::Outlasting)
    }

    /// The machine's states last too long for this many rounds to average over them, and they lie further apart than half of `noise`.
    fn outlasted(&self, noise: f64) -> bool {
        let needed = (1.6 + 0.08 * f64::from(self.rounds)).min(4.0);
        (self.effective < needed || self.one_change > ONE_CHANGE) && self.spread > OF_NOISE * noise
    }

    /// Whether states change often enough to average over. The rounds must count as four or more by the correlation seen, by the highest
    /// one that this many rounds leave possible, and by the slowest waves of their series. Fewer than twelve rounds never do: where eight
    /// show no correlation, one of 0.6 is still possible. And the slowest wave must explain no more than chance does: a drift changes
    /// levels by little from one round to the next, so that the correlation of neighbours hardly shows it.
    pub fn averaged(&self) -> bool {
        let rounds = f64::from(self.rounds);
        let most = (self.alike.max(0.0) + ABOVE / rounds.sqrt()).min(MOST_ALIKE);
        let by_error = if self.error.value > 0.0 { (self.spread / self.error.value).powi(2) } else { rounds };
        let chance = student_t(NO_DRIFT, rounds - 2.0).powi(2);
        let drifts = self.drift > chance / (chance + rounds - 2.0);
        let least = self.effective.min(by_error).min(rounds * (1.0 - most) / (1.0 + most));
        !self.few() && !drifts && least >= AVERAGED
    }

    /// Whether neighbouring rounds are more alike than chance makes independent ones in one run of twenty. So few as five rounds never are.
    fn surely_alike(&self) -> bool {
        let rounds = f64::from(self.rounds);
        // The correlation of independent rounds errs by one over their square root, and [`Moves::of`] stretched it by this.
        self.alike >= (ABOVE * (1.0 + 3.0 / rounds) / rounds.sqrt()).min(MOST_ALIKE)
    }

    /// Length of the machine's states, as a share of the run, below which the intervals average over them and are those of the machine. Of
    /// longer states the run may have met a single one. None where rounds do not show it: of all but [`Saw::Changing`], figures are of the
    /// states that this run met.
    pub fn averages_below(&self, noise: f64) -> Option<f64> {
        let told = self.saw(noise) == Saw::Changing && self.averaged();
        told.then(|| SHORT / f64::from(self.rounds))
    }

    /// Which states the rounds met, given `noise`, the standard deviation of one size's rounds about the level.
    pub fn saw(&self, noise: f64) -> Saw {
        let apart = self.spread > OF_NOISE * noise;
        match () {
            () if self.few() => Saw::Few,
            () if self.split => Saw::OneOfTwo,
            () if self.outlasted(noise) => Saw::Outlasting,
            () if self.effective < LASTING * f64::from(self.rounds) && self.surely_alike() && apart => Saw::Lasting,
            () if self.far != 0.0 => Saw::OneFar(self.far.exp()),
            () if apart && self.spread > ALIKE => Saw::Changing,
            () => Saw::One,
        }
    }
}

/// Where the true median of the levels lies about `middle`, the median seen: between the order statistics that so many
/// independent rounds have on either side of their median (normal limit of the binomial).
fn ends(levels: &[f64], middle: f64, effective: f64) -> (f64, f64) {
    let mut sorted = levels.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = (sorted.len() - 1) as f64;
    let apart = RANKS / (2.0 * effective.sqrt());
    let at = |share: f64| {
        let place = (share * sorted.len() as f64 - 0.5).clamp(0.0, last);
        let (below, part) = (place.floor() as usize, place.fract());
        let above = (below + 1).min(sorted.len() - 1);
        sorted[below] + part * (sorted[above] - sorted[below])
    };
    ((at(0.5 - apart) - middle).min(0.0), (at(0.5 + apart) - middle).max(0.0))
}

fn far_off(levels: &[f64], middle: f64) -> f64 {
    let mut off: Vec<f64> = levels.iter().map(|l| l - middle).collect();
    off.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    match off[..] {
        [far, next, ..] if far.abs() > FAR_OFF && far.abs() > FARTHER * next.abs() => far,
        _ => 0.0,
    }
}

fn drawn_in(levels: &[f64], middle: f64) -> Vec<f64> {
    let mut series = levels.to_vec();
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by(|a, b| (levels[*a] - middle).abs().total_cmp(&(levels[*b] - middle).abs()));
    let (far, next) = (order[order.len() - 1], order[order.len() - 2]);
    let limit = (levels[next] - middle).abs();
    series[far] = series[far].clamp(middle - limit, middle + limit);
    series
}

/// The share of `squares` about `centre` that two levels with one change between them explain, each of two rounds or more.
fn one_change(series: &[f64], centre: f64, squares: f64) -> f64 {
    let k = series.len();
    let mut before = 0.0;
    let mut best = 0.0f64;
    for (i, level) in series.iter().enumerate().take(k.saturating_sub(2)) {
        before += level - centre;
        let n = (i + 1) as f64;
        if i > 0 {
            // The later rounds lie as far on the other side.
            best = best.max(before * before * (1.0 / n + 1.0 / (k as f64 - n)));
        }
    }
    best / squares
}

/// How many of the slowest cosine waves the long-run variance of so many rounds is computed from: its degrees of freedom.
pub fn slow_waves(rounds: usize) -> f64 {
    let most = (rounds as f64 - 1.0).max(1.0);
    (WAVES * (rounds as f64).powf(2.0 / 3.0)).round().max(2.0).min(most)
}

/// Mean square of the projections on the first `waves` cosines, which holds the variance of the mean times the length.
fn slowest_waves(series: &[f64], waves: usize) -> f64 {
    let k = series.len() as f64;
    let squared = |wave: usize| {
        let turn = std::f64::consts::PI * wave as f64 / k;
        let sum: f64 = series.iter().enumerate().map(|(i, l)| l * (turn * (i as f64 + 0.5)).cos()).sum();
        2.0 / k * sum * sum
    };
    (1..=waves).map(squared).sum::<f64>() / waves as f64
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::normal;

    /// Autoregressive rounds of spread 0.03.
    fn series(rng: &mut ChaCha8Rng, rounds: usize, alike: f64) -> Vec<f64> {
        let mut level = normal(rng);
        let next = |rng: &mut ChaCha8Rng, level: &mut f64| {
            let now = *level;
            *level = alike * now + (1.0 - alike * alike).sqrt() * normal(rng);
            0.03 * now
        };
        (0..rounds).map(|_| next(rng, &mut level)).collect()
    }

    #[test]
    fn the_waves_of_a_series_grow_with_its_rounds() {
        assert_eq!([1, 2, 3, 4, 8, 9, 12, 30].map(slow_waves), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 6.0]);
    }

    /// Share of series whose mean lies within the error of 0, in percent.
    fn coverage(rounds: usize, alike: f64) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(rounds as u64);
        let held = |_: &usize| {
            let series = series(&mut rng, rounds, alike);
            let m = Moves::of(&series);
            let reach = m.error.reach(0.95);
            (m.mean + median(&series)).abs() <= reach
        };
        (0..4000).filter(held).count() as f64 / 40.0
    }

    /// Ranks of 101 levels a step apart: `RANKS` standard deviations of the rank are 7.9 of 100 independent ones, and nearly twice that of 26.
    #[test]
    fn the_median_lies_within_the_ranks_that_independent_rounds_leave_it() {
        let levels: Vec<f64> = (0..101).map(f64::from).collect();
        let (low, high) = ends(&levels, 50.0, 100.0);
        assert!((-8.1..-7.6).contains(&low) && (7.6..8.1).contains(&high), "{low} {high}");
        let (wide, _) = ends(&levels, 50.0, 26.0);
        assert!((-15.8..-15.0).contains(&wide), "{wide}");
    }

    #[test]
    fn the_mean_level_is_known_as_well_as_it_says_where_rounds_are_alike() {
        for (rounds, alike, least, most) in
            [(9, 0.0, 94.0, 98.5), (30, 0.0, 94.0, 98.5), (9, 0.5, 88.0, 97.0), (30, 0.5, 93.0, 97.0)]
        {
            let found = coverage(rounds, alike);
            assert!((least..=most).contains(&found), "{rounds} rounds, alike by {alike}: {found}%");
        }
    }

    #[test]
    fn the_true_median_level_lies_between_the_ends_where_rounds_see_two_states() {
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        // The share of slow rounds, and how far up in the fast rounds' noise half of all rounds lie below.
        for (share, up) in [(0.0, 0.0), (0.2, 0.319), (0.3, 0.566), (0.4, 0.967)] {
            let held = |_: &usize| {
                let levels: Vec<f64> = (0..30)
                    .map(|_| if rng.random_bool(share) { 1.5f64.ln() } else { 0.0 } + 0.03 * normal(&mut rng))
                    .collect();
                let (m, middle) = (Moves::of(&levels), median(&levels));
                let reach = m.error.reach(0.95);
                let (low, high) = m.held(1.0, 0.0, reach);
                (middle + low..=middle + high).contains(&(0.03 * up))
            };
            let found = (0..1000).filter(held).count() as f64 / 10.0;
            println!("{share} of the rounds slow: {found}%");
            assert!(found > 90.0, "{share} of the rounds slow: {found}%");
        }
        assert_eq!(Moves::of(&[0.25; 9]).ends, (0.0, 0.0));
    }

    #[test]
    fn independent_rounds_are_called_lasting_states_in_one_run_of_twenty_at_most() {
        let mut rng = ChaCha8Rng::seed_from_u64(41);
        let mut share = |rounds: usize, alike: f64| {
            let lasting = |_: &usize| Moves::of(&series(&mut rng, rounds, alike)).saw(0.001) == Saw::Lasting;
            (0..2000).filter(lasting).count() as f64 / 20.0
        };
        for rounds in [4, 5, 6, 9, 12, 20, 30] {
            let false_alarms = share(rounds, 0.0);
            assert!(false_alarms < 5.0, "{rounds} rounds: {false_alarms}%");
        }
        let found = share(30, 0.6);
        assert!(found > 70.0, "{found}%");
    }

    #[test]
    fn alike_rounds_count_as_fewer() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let typical = |rng: &mut ChaCha8Rng, alike: f64| {
            median(&(0..200).map(|_| Moves::of(&series(rng, 30, alike)).effective).collect::<Vec<_>>())
        };
        let (apart, alike, slow) = (typical(&mut rng, 0.0), typical(&mut rng, 0.5), typical(&mut rng, 0.9));
        assert!(apart > 22.0 && alike < 16.0 && slow < 7.0, "{apart} {alike} {slow}");
    }

    #[test]
    fn averaging_is_claimed_only_where_rounds_can_tell_it() {
        let mut rng = ChaCha8Rng::seed_from_u64(21);
        let mut share = |rounds: usize, alike: f64| {
            (0..2000).filter(|_| Moves::of(&series(&mut rng, rounds, alike)).averaged()).count() as f64 / 20.0
        };
        for rounds in [4, 6, 8, 9] {
            let claimed = share(rounds, 0.8);
            println!("{rounds} rounds alike by 0.8: {claimed}%");
            assert!(claimed < 5.0, "{rounds} rounds alike by 0.8: {claimed}%");
        }
        let (apart, alike) = (share(30, 0.0), share(30, 0.95));
        println!("30 rounds: independent {apart}%, alike by 0.95 {alike}%");
        assert!(apart > 95.0 && alike < 5.0, "{apart}% {alike}%");
        assert!(!Moves::of(&[0.0, 0.1, 0.0]).averaged() && !Moves::of(&[]).averaged());
    }

    /// Levels of rounds on a machine of two states x1.5 apart that last so many rounds on average: in each the one that it met more of.
    fn of_states(rng: &mut ChaCha8Rng, rounds: usize, lasts: f64) -> Vec<f64> {
        let (mut slow, mut left) = (rng.random::<bool>(), 0.0);
        let mut next = |rng: &mut ChaCha8Rng| {
            const LOOKS: usize = 20;
            let mut met = 0;
            for _ in 0..LOOKS {
                while left <= 0.0 {
                    (slow, left) = (!slow, left - lasts * (1.0 - rng.random::<f64>()).ln());
                }
                left -= 1.0 / LOOKS as f64;
                met += usize::from(slow);
            }
            let level = match (2 * met).cmp(&LOOKS) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Greater => 1.0,
            };
            level * 1.5f64.ln() + 0.03 * normal(rng)
        };
        (0..rounds).map(|_| next(rng)).collect()
    }

    #[test]
    fn states_shorter_than_is_said_are_averaged_over_in_nine_of_ten_runs_that_say_so() {
        let mut rng = ChaCha8Rng::seed_from_u64(23);
        for rounds in [12, 20, 30, 60] {
            let (mut said, mut held, mut below) = (0, 0, 0.0);
            for i in 0..4000 {
                // Up to the length itself.
                let lasts = SHORT * f64::from(i % 4 + 1) / 4.0;
                let levels = of_states(&mut rng, rounds, lasts);
                let m = Moves::of(&levels);
                let Some(share) = m.averages_below(0.03) else { continue };
                let reach = m.error.reach(0.95);
                let (low, high) = m.held(1.0, 0.0, reach);
                let centre = 1.5f64.ln() / 2.0 - median(&levels);
                below = share * rounds as f64;
                said += u32::from(lasts == SHORT);
                held += u32::from(lasts == SHORT && low <= centre && centre <= high);
            }
            let share = f64::from(held) / f64::from(said);
            println!("{rounds} rounds: {said} of 1,000 say so of states of {SHORT} rounds, {share:.3} of them hold");
            assert_eq!(below, SHORT, "{rounds} rounds");
            assert!(said > 200 && share > 0.9, "{rounds} rounds: {share} of {said}");
        }
    }

    #[test]
    fn of_states_of_some_rounds_nothing_is_said_but_that_they_are_this_runs() {
        let mut rng = ChaCha8Rng::seed_from_u64(24);
        for lasts in [1.8, 3.0, 10.0] {
            let (mut seem, mut held) = (0, 0);
            for _ in 0..2000 {
                let levels = of_states(&mut rng, 30, lasts);
                let m = Moves::of(&levels);
                let Some(share) = m.averages_below(0.03) else { continue };
                assert!(share * 30.0 < lasts, "{share} of a run in states of {lasts} rounds");
                let reach = m.error.reach(0.95);
                let (low, high) = m.held(1.0, 0.0, reach);
                let centre = 1.5f64.ln() / 2.0 - median(&levels);
                (seem, held) = (seem + 1, held + u32::from(low <= centre && centre <= high));
            }
            // Why nothing may be said of them: too many of the runs that seem to average met other shares of the two states.
            println!("states of {lasts} rounds: {seem} of 2,000 runs seem to average, {held} of them hold the centre");
            assert!(seem > 0 && 10 * held < 9 * seem, "states of {lasts} rounds: {held} of {seem}");
        }
        assert_eq!(Moves::of(&[0.0, 0.1, 0.0]).averages_below(0.03), None);
    }

    #[test]
    fn a_drift_of_which_the_run_saw_a_part_is_not_averaged_over() {
        let mut rng = ChaCha8Rng::seed_from_u64(22);
        let mut drifting = || {
            let part = std::f64::consts::FRAC_PI_2 / 30.0;
            (0..30).map(|i| 0.1 * (part * f64::from(i)).sin() + 0.03 * normal(&mut rng)).collect::<Vec<f64>>()
        };
        let claimed = (0..1000).filter(|_| Moves::of(&drifting()).averaged()).count();
        println!("{claimed} of 1,000");
        assert!(claimed < 50, "{claimed} of 1,000 runs");
    }

    #[test]
    fn a_change_that_stays_is_slow_and_independent_rounds_are_not() {
        let step: Vec<f64> = (0..30).map(|i| if i < 14 { 0.0 } else { 0.4 } + 0.001 * (i % 3) as f64).collect();
        assert!(Moves::of(&step).slow(0.03));
        assert!(Moves::of(&step[..9]).spread < 0.01 && !Moves::of(&step[..9]).slow(0.03));
        assert!(Moves::of(&step[9..18]).slow(0.03));
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let slow = (0..1000).filter(|_| Moves::of(&series(&mut rng, 9, 0.0)).slow(0.03)).count();
        assert!(slow < 20, "{slow} of 1,000 independent series");
    }

    #[test]
    fn one_state_is_said_only_where_rounds_lie_no_further_apart_than_the_noise_lets_them() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let (mut independent, mut turns, mut quiet) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..200 {
            let normal = |rng: &mut ChaCha8Rng| 0.003 * normal(rng);
            let state = |rng: &mut ChaCha8Rng| if rng.random::<bool>() { 1.5f64.ln() } else { 0.0 };
            let of = |levels: Vec<f64>| Moves::of(&levels).saw(0.03);
            independent.push(of((0..30).map(|_| state(&mut rng) + normal(&mut rng)).collect()));
            turns.push(of((0..30).map(|i| f64::from(i % 2) * 1.35f64.ln() + normal(&mut rng)).collect()));
            quiet.push(of((0..30).map(|_| normal(&mut rng)).collect()));
        }
        let many = |all: &[Saw], what: Saw| all.iter().filter(|s| **s == what).count();
        assert_eq!((many(&independent, Saw::One), many(&turns, Saw::Changing)), (0, 200));
        assert!(many(&independent, Saw::Changing) > 170, "{independent:?}");
        assert_eq!(many(&quiet, Saw::One), 200);
        assert_eq!(Moves::of(&[0.0, 0.1, 0.0]).saw(0.03), Saw::Few);
    }

    #[test]
    fn a_lone_round_far_off_is_spoken_of_however_few_rounds_there_are() {
        for k in [4, 5, 9, 30] {
            let mut levels: Vec<f64> = (0..k).map(|i| 0.01 * f64::from(i % 3)).collect();
            assert_eq!(Moves::of(&levels).saw(0.03), Saw::One, "{k}");
            levels[2] += 10f64.ln();
            let saw = Moves::of(&levels).saw(0.03);
            assert!(matches!(saw, Saw::OneFar(times) if (times / 10.0 - 1.0).abs() < 0.02), "{k}: {saw:?}");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let mut noisy = || (0..9).map(|_| 0.3 * normal(&mut rng)).collect::<Vec<f64>>();
        let said = (0..1000).filter(|_| Moves::of(&noisy()).far != 0.0).count();
        assert!(said < 20, "{said} of 1,000 runs of normal levels");
    }

    #[test]
    fn one_wild_round_is_drawn_in_and_still_levels_have_no_error() {
        let mut levels = vec![0.0, 0.01, -0.01, 0.02, -0.02, 0.01, -0.01, 0.0, 0.01];
        let calm = Moves::of(&levels);
        levels[4] = 2.3;
        let outlier = Moves::of(&levels);
        assert!(outlier.error.value < 2.5 * calm.error.value, "{outlier:?} {calm:?}");
        // One of four that took ten times as long leaves the others an interval of use; one that took half as long again may be a state.
        let four = |far: f64| Moves::of(&[0.01, far, -0.01, 0.0]);
        let reach = |m: Moves| m.error.reach(0.95);
        assert!(reach(four(10f64.ln())) < 0.1 && four(10f64.ln()).far > 2.0, "{:?}", four(10f64.ln()));
        assert!(reach(four(1.5f64.ln())) > 0.2, "{:?}", four(1.5f64.ln()));
        let still = Moves::of(&[0.5; 12]);
        assert_eq!((still.error.value, still.spread), (0.0, 0.0));
        assert!(!still.slow(0.0));
        assert_eq!(Moves::of(&[]).rounds, 0);
        assert_eq!(Moves::of(&[0.1, 0.2]).effective, 2.0);
    }
}
