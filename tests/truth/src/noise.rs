//! Noises: what a machine does to the times on it, as processes over time. Each is known completely, so that the truth is, too.
//!
//! A noise acts on the logarithm of a time in three ways: a level of each round (what its connections have in common), a level
//! over time (`machine`), and what each trial has of its own. Some stop the process for a while as well.

use crate::draw::Draw;

/// Deviation of what the trials of a round have in common, and of what each has of its own.
pub const COMMON: f64 = 0.03;
/// The same of a trial's own.
pub const OWN: f64 = 0.03;
/// Rounds below which there is no interval.
const FEWEST_ROUNDS: u32 = 4;
/// Sizes up to this, bytes, do not feel the states of [`Noise::Large`].
pub const LARGE: u64 = 16 << 10;
/// Sizes above this, bytes, do not feel the levels of [`Noise::Small`], and how far these lie apart.
pub const SMALL: u64 = 1 << 10;
/// Deviation of the levels of [`Noise::Small`].
pub const OF_SMALL: f64 = 0.1;
/// Deviation of the levels of [`Noise::Sizes`].
pub const OF_SIZE: f64 = 0.1;
/// How much slower the slow state is.
pub const SLOW: f64 = 1.5;

/// The same of the states of [`Noise::Apart`].
pub const FAR_SLOWER: f64 = 3.0;

/// A kind of noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Normal, of each round and of each trial.
    Independent,
    /// As [`Noise::Independent`], and to one trial in five a delay is added that knows no bounds: Pareto of index 1.1.
    Pareto,
    /// Each trial log-normal with a deviation of a half.
    LogNormal,
    /// One round takes ten times as long.
    WildRound,
    /// One trial in three takes 1 + Exp(1) times as long, with [`Noise::Independent`]'s noise on all.
    Skewed,
    /// Readings of a clock that steps by so many seconds, with [`Noise::Independent`].
    Clock(f64),
    /// The process runs for 50 of every 100 ms.
    Quota,
    /// The first second of the run is slow.
    SlowStart,
    /// Two states, each lasting so many rounds on average, exponentially.
    Rounds(f64),
    /// Two states, each lasting so many seconds on average, exponentially.
    Seconds(f64),
    /// As [`Noise::Seconds`], with states [`FAR_SLOWER`] times apart: a clock that falls, or a CPU that is shared with two others.
    Apart(f64),
    /// Two states, each lasting so many seconds on average, exponentially, that only sizes above [`LARGE`] feel: a neighbour on
    /// the memory's bandwidth.
    Large(f64),
    /// Two states, the slow one lasting a tenth of the other, which lasts so many seconds on average.
    Rare(f64),
    /// A sine of 10%, of which a run covers a quarter period.
    Drift,
    /// Levels of rounds that follow each other with this correlation.
    Correlated(f64),
    /// Levels of rounds that follow each other with this correlation and that only sizes up to [`SMALL`] feel: what each message costs
    /// changes, and what each byte costs does not.
    Small(f64),
    /// Each size has levels of its own that follow each other from round to round with this correlation; of sides in turns, those of each side.
    Sizes(f64),
    /// Each size stands at a level of its own in each run, which lie this far apart: a standard deviation.
    Runs(f64),
    /// Noise whose power falls with its frequency, over ten octaves up to four times the run's length.
    Pink,
    /// A random walk that strays by this much over a run, as a standard deviation, and begins as far off.
    Walk(f64),
}

/// What is asked of intervals under a noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// The run sees enough of the noise: intervals must hold the truth as often as they say.
    Nominal,
    /// What the run saw must be held as often as the intervals say; they may say more than that, and be wider.
    InRun,
    /// The noise lasts about as long as the run or longer: what is claimed must hold in nine of ten runs, or the sentence
    /// of trust says that it holds for this run alone.
    Claimed,
    /// Too few rounds for an interval: none may be given.
    NoInterval,
}

/// Noises of which not all sizes feel the same. Their centre depends on the size, so that only tables that need no centre have them.
pub const OF_SIZES: [Noise; 3] = [Noise::Large(0.05), Noise::Large(0.5), Noise::Large(2.0)];

/// Noises of which each size feels its own: of comparisons, and of sides in turns. The levels of one run cancel in turns.
pub const OF_EACH: [Noise; 3] = [Noise::Runs(0.05), Noise::Runs(0.08), Noise::Sizes(0.8)];

/// Noises that each side of a run in turns has of its own, as where a neighbour hits the CPU of one.
pub const OF_SIDES: [Noise; 4] =
    [Noise::Correlated(0.5), Noise::Correlated(0.8), Noise::Rounds(3.0), Noise::Rounds(10.0)];

/// All noises that every size feels alike: those of all tables.
pub const ALL: [Noise; 28] = [
    Noise::Independent,
    Noise::Pareto,
    Noise::LogNormal,
    Noise::Skewed,
    Noise::WildRound,
    Noise::Clock(1e-6),
    Noise::Clock(10e-6),
    Noise::Quota,
    Noise::SlowStart,
    Noise::Correlated(0.5),
    Noise::Correlated(0.8),
    Noise::Correlated(0.95),
    Noise::Small(0.5),
    Noise::Small(0.8),
    Noise::Rounds(3.0),
    Noise::Rounds(10.0),
    Noise::Rounds(30.0),
    Noise::Seconds(0.02),
    Noise::Seconds(0.5),
    Noise::Seconds(3.5),
    Noise::Seconds(5.0),
    Noise::Seconds(60.0),
    Noise::Apart(1.0),
    Noise::Rare(0.5),
    Noise::Rare(5.0),
    Noise::Drift,
    Noise::Pink,
    Noise::Walk(0.1),
];

impl Noise {
    /// Its name in the tables.
    pub fn name(self) -> String {
        let percent = (SLOW * 100.0 - 100.0).round();
        match self {
            Self::Independent => "normal 3% + 3%".into(),
            Self::Pareto => "Pareto 1.1 delays".into(),
            Self::LogNormal => "log-normal 0.5".into(),
            Self::WildRound => "one round x10".into(),
            Self::Skewed => "one trial in three x 1 + Exp(1)".into(),
            Self::Clock(step) => format!("clock of {} us", step * 1e6),
            Self::Quota => "quota 50 of 100 ms".into(),
            Self::SlowStart => format!("first second +{percent}%"),
            Self::Rounds(n) => format!("states +{percent}% of {n} rounds"),
            Self::Seconds(s) if s < 1.0 => format!("states +{percent}% of {} ms", s * 1e3),
            Self::Seconds(s) => format!("states +{percent}% of {s} s"),
            Self::Apart(s) => format!("states x{FAR_SLOWER} of {s} s"),
            Self::Large(s) => format!("states +{percent}% of {} ms above 16 KiB", s * 1e3),
            Self::Rare(s) => format!("rare states +{percent}%, {} of {s} s", s / 10.0),
            Self::Drift => "drift 10%, a quarter period".into(),
            Self::Correlated(r) => format!("AR(1) {r}"),
            Self::Small(r) => format!("AR(1) {r}, 10%, up to 1 KiB"),
            Self::Sizes(r) => format!("AR(1) {r}, {}%, each size its own", OF_SIZE * 100.0),
            Self::Runs(s) => format!("each size {}% off in each run", s * 100.0),
            Self::Pink => "1/f, ten octaves".into(),
            Self::Walk(spread) => format!("random walk, {}% a run", spread * 100.0),
        }
    }

    /// What is asked of intervals in a run of so many rounds and seconds.
    pub fn demand(self, rounds: u32, length: f64) -> Demand {
        let shorter_than_a_third = match self {
            Self::Rounds(n) => n < f64::from(rounds) / 3.0,
            Self::Seconds(s) | Self::Apart(s) | Self::Large(s) | Self::Rare(s) => s < length / 3.0,
            Self::Correlated(r) | Self::Small(r) => r <= 0.5,
            Self::Drift | Self::Pink | Self::Walk(_) => false,
            _ => true,
        };
        match shorter_than_a_third {
            _ if rounds < FEWEST_ROUNDS => Demand::NoInterval,
            // What a step hides is a bound and no chance: it holds always.
            _ if self.step() > 0.0 => Demand::InRun,
            true => Demand::Nominal,
            false => Demand::Claimed,
        }
    }

    /// How far apart two states lie that are as likely as each other, as a logarithm; none of other noises.
    pub fn apart(self) -> Option<f64> {
        match self {
            Self::Rounds(_) | Self::Seconds(_) => Some(SLOW.ln()),
            Self::Apart(_) => Some(FAR_SLOWER.ln()),
            _ => None,
        }
    }

    /// Whether a size feels what the machine does beside its rounds' levels.
    pub fn feels(self, size: u64) -> bool {
        match self {
            Self::Large(_) => size > LARGE,
            Self::Small(_) => size <= SMALL,
            _ => true,
        }
    }

    /// Whether what a trial has of its own is longer on one side: its median is then not 0, and not that of its sum with a level.
    pub fn lopsided(self) -> bool {
        matches!(self, Self::Pareto | Self::Skewed)
    }

    /// What a trial has of its own: the logarithm of a factor on its time.
    pub fn own(self, draw: &mut Draw) -> f64 {
        match self {
            Self::LogNormal => draw.normal(0.5),
            Self::Pareto => {
                let delay = if draw.uniform() < 0.2 { 0.05 * draw.pareto(1.1) } else { 0.0 };
                draw.normal(OWN) + delay.ln_1p()
            }
            Self::Skewed => {
                let longer = if draw.uniform() < 1.0 / 3.0 { draw.exponential(1.0) } else { 0.0 };
                draw.normal(OWN) + longer.ln_1p()
            }
            _ => draw.normal(OWN),
        }
    }

    /// The step of the clock, seconds; 0 where it does not show.
    pub fn step(self) -> f64 {
        match self {
            Self::Clock(step) => step,
            _ => 0.0,
        }
    }

    /// Its own period, seconds, where it has one.
    pub fn period(self) -> Option<f64> {
        (self == Self::Quota).then_some(0.1)
    }

    /// When the process is next stopped at or after a moment, and for how long, seconds.
    pub fn stop(self, at: f64) -> Option<(f64, f64)> {
        (self == Self::Quota).then(|| {
            // Runs from 0 to 50 ms of each period, stands from 50 to 100 ms.
            let period = (at / 0.1).floor();
            let begins = period * 0.1 + 0.05;
            if at < begins { (begins, 0.05) } else { (at, ((period + 1.0) * 0.1 - at).max(0.0)) }
        })
    }
}

impl Demand {
    /// Its name in the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nominal => "92-98",
            Self::InRun => ">= 92",
            Self::Claimed => ">= 90 or not claimed",
            Self::NoInterval => "none",
        }
    }
}
