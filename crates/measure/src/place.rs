//! Where it lies that rounds took longer than others: in the machine, whose yardsticks are read before each round, or beyond it. Pure.
//!
//! A machine that changes its speed changes it for the yardsticks as well. So it is named where one of them moves with the rounds beyond
//! chance, and by more than half as much (in logarithms, as `taken_by` has it of those who took the CPUs). Where none can have moved as much,
//! the machine stood still while rounds lay apart, and what each round makes anew is the likelier place: its connection, its far process. Where the
//! rounds tell neither, neither is claimed.

use std::collections::BTreeMap;

use host::MachineCalibration;
use stats::{Along, CONFIDENCE, FEWEST_ROUNDS, along, variance};
use transport::{Ends, Name};

use crate::event::{HostCalibration, RoundOpened};
use crate::figures::Common;

/// A yardstick that moves by more than this share of what the levels do, as logarithms, explains most of it.
const MOST_OF_IT: f64 = 0.5;

/// A part of the machine's calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Yardstick {
    /// [`MachineCalibration::wake`].
    Wake,
    /// [`MachineCalibration::line`].
    Line,
    /// [`MachineCalibration::copy`].
    Copy,
}

impl Yardstick {
    /// Its name, as it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wake => "wake-up round trip",
            Self::Line => "cache line round trip",
            Self::Copy => "copy of 64 KiB in the cache",
        }
    }

    /// What of a calibration counts on a path with such ends: a single process neither wakes another nor is woken.
    pub fn of(read: MachineCalibration, ends: Ends) -> impl Iterator<Item = (Self, f64)> {
        let two = [(Self::Wake, Some(read.wake)), (Self::Line, read.line)]
            .map(|(y, t)| (y, t.filter(|_| ends != Ends::Copied)));
        two.into_iter().chain([(Self::Copy, Some(read.copy))]).filter_map(|(y, t)| Some((y, t?)))
    }
}

/// Where it lies that rounds took longer than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a machine: this yardstick of it went along with the rounds.
    Machine {
        /// Whether that is the near side's machine, and not another one that far processes run on.
        near: bool,
        /// The yardstick that went along most surely.
        by: Yardstick,
    },
    /// Beyond the machine: no yardstick went along.
    Beyond {
        /// Whether each of them moved by less than half as much as the rounds, and not only at other times.
        still: bool,
    },
    /// So many rounds do not tell.
    Untold(usize),
    /// No round has a reading of the machine.
    Unread,
}

impl Place {
    /// Of the rounds of a path, as the levels and the calibration of each tell it.
    pub fn of<'a>(kind: Name, common: &Common, opened: impl IntoIterator<Item = &'a RoundOpened>) -> Self {
        let levels: BTreeMap<u32, f64> = common.levels().collect();
        let mut series: BTreeMap<(u32, Yardstick), Vec<(f64, f64)>> = BTreeMap::new();
        for round in opened {
            let Some(level) = levels.get(&round.round) else { continue };
            let near = round.calibration.map(|read| (NEAR, read));
            let far = round.far_calibration.map(|read| (HostCalibration::FIRST, read));
            let others = round.other_far_calibrations.iter().map(|of| (of.rank, of.calibration));
            for (host, read) in near.into_iter().chain(far).chain(others).filter(|(_, read)| read.is_sane()) {
                for (yardstick, seconds) in Yardstick::of(read, kind.ends()) {
                    series.entry((host, yardstick)).or_default().push((*level, seconds.ln()));
                }
            }
        }
        of_series(levels.len(), &series)
    }

    /// Why rounds lay apart on such a path, in words: a cause, or that it can't be told.
    pub(crate) fn words(self, kind: Name) -> String {
        let (fresh, whose) = match kind.ends() {
            Ends::Copied => ("the memory that each round has anew", "the machine's copy of 64 KiB in the cache"),
            _ => ("the connection or the far process, which each round has anew", "the machine's yardsticks"),
        };
        match self {
            Self::Machine { near, by } => format!(
                "likely cause: {} changed its speed, as its {}, read before each round, went along with the rounds: virtual CPUs moved, frequency, \
                 neighbours on the host",
                if near { "the machine" } else { "the far side's machine" },
                by.name()
            ),
            Self::Beyond { still } => format!(
                "likely cause: {fresh}, since {whose}, read before each round, {}",
                if still { "stood still" } else { "did not go along with the rounds" }
            ),
            Self::Untold(rounds) => format!(
                "the cause can't be told: {} not tell whether {whose}, read before each, went along",
                if rounds == 1 { "one round does".to_owned() } else { format!("{rounds} rounds do") }
            ),
            Self::Unread => {
                "the cause can't be told: no yardstick of the machine was read before the rounds".to_owned()
            }
        }
    }
}

/// The near side's machine, among the numbers of far hosts.
const NEAR: u32 = 0;

/// The same, of the (level, reading) of each yardstick of each machine, as logarithms; so many rounds have a level.
fn of_series(rounds: usize, series: &BTreeMap<(u32, Yardstick), Vec<(f64, f64)>>) -> Place {
    if series.is_empty() {
        return if rounds < FEWEST_ROUNDS { Place::Untold(rounds) } else { Place::Unread };
    }
    // Of many yardsticks one goes along by chance sooner than one alone.
    let sure = 1.0 - (1.0 - CONFIDENCE) / series.len() as f64;
    let mut found: Vec<(u32, Yardstick, Option<Along>, bool)> = Vec::new();
    for ((host, yardstick), pairs) in series {
        let (levels, readings): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let still = levels.len() > 1 && variance(&readings).sqrt() < MOST_OF_IT * variance(&levels).sqrt();
        found.push((*host, *yardstick, along(&levels, &readings), still));
    }
    let goes = |a: &Along| a.slope > MOST_OF_IT && a.slope > a.error.reach(sure);
    let surest = |a: &Along| if a.error.value > 0.0 { a.slope / a.error.value } else { f64::INFINITY };
    let with = found.iter().filter_map(|(host, by, a, _)| Some((*host, *by, a.filter(goes)?)));
    if let Some((host, by, _)) = with.max_by(|a, b| surest(&a.2).total_cmp(&surest(&b.2))) {
        return Place::Machine { near: host == NEAR, by };
    }
    let cannot = |a: &Along| a.slope + a.error.reach(CONFIDENCE) < MOST_OF_IT;
    if found.iter().all(|(_, _, a, _)| a.as_ref().is_some_and(cannot)) {
        return Place::Beyond { still: found.iter().all(|(.., still)| *still) };
    }
    Place::Untold(rounds)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn normal(rng: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Readings of this noise that follow the levels by `follows`; the second yardstick is only noise.
    fn series(
        rng: &mut ChaCha8Rng,
        levels: &[f64],
        follows: f64,
        noise: f64,
    ) -> BTreeMap<(u32, Yardstick), Vec<(f64, f64)>> {
        let mut of =
            |follows: f64| levels.iter().map(|l| (*l, -11.0 + follows * l + noise * normal(rng))).collect::<Vec<_>>();
        [((NEAR, Yardstick::Wake), of(follows)), ((NEAR, Yardstick::Copy), of(0.0))].into()
    }

    /// Rounds of a far process that is slow by a factor of its own.
    fn factors(n: usize) -> Vec<f64> {
        (0..n).map(|i| [1.0f64, 1.6, 2.2, 1.6, 1.0, 2.2][i % 6].ln()).collect()
    }

    #[test]
    fn the_machine_is_named_where_a_yardstick_moves_with_the_rounds_and_not_where_it_stands_still() {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        for rounds in [8, 12, 30] {
            let levels = factors(rounds);
            let (mut still, mut along) = (0, 0);
            for _ in 0..100 {
                still += usize::from(
                    of_series(rounds, &series(&mut rng, &levels, 0.0, 0.08)) == Place::Beyond { still: true },
                );
                let moved = of_series(rounds, &series(&mut rng, &levels, 1.0, 0.08));
                along += usize::from(moved == Place::Machine { near: true, by: Yardstick::Wake });
            }
            assert!(still >= 98 && along == 100, "{rounds} rounds: {still} still, {along} along of 100");
        }
    }

    #[test]
    fn the_machine_is_seldom_named_by_chance() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        for rounds in [4, 5, 9, 12, 30] {
            let levels = factors(rounds);
            for noise in [0.1, 0.4, 1.0] {
                let named = |_: &usize| {
                    matches!(of_series(rounds, &series(&mut rng, &levels, 0.0, noise)), Place::Machine { .. })
                };
                let named = (0..400).filter(named).count();
                assert!(named <= 20, "{rounds} rounds, noise {noise}: {named} of 400");
            }
        }
    }

    #[test]
    fn noisy_yardsticks_and_few_rounds_tell_neither() {
        let mut rng = ChaCha8Rng::seed_from_u64(10);
        let mut untold = 0;
        for _ in 0..100 {
            untold += usize::from(of_series(5, &series(&mut rng, &factors(5), 0.0, 0.8)) == Place::Untold(5));
        }
        assert!(untold >= 90, "{untold} of 100");
        assert_eq!(of_series(3, &series(&mut rng, &factors(3), 1.0, 0.0)), Place::Untold(3));
        assert_eq!((of_series(9, &BTreeMap::new()), of_series(2, &BTreeMap::new())), (Place::Unread, Place::Untold(2)));
    }

    #[test]
    fn a_yardstick_that_moved_at_other_times_did_not_go_along() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let levels = factors(100);
        let other: Vec<f64> = levels.iter().map(|_| 0.3 * normal(&mut rng)).collect();
        let pairs = levels.into_iter().zip(other).collect();
        assert_eq!(of_series(100, &[((NEAR, Yardstick::Wake), pairs)].into()), Place::Beyond { still: false });
    }

    #[test]
    fn a_far_machine_is_named_as_such_and_a_copy_wakes_nobody() {
        let pairs = |follows: f64| factors(12).iter().map(|l| (*l, follows * l)).collect::<Vec<_>>();
        let far = of_series(
            12,
            &[((NEAR, Yardstick::Wake), pairs(0.0)), ((HostCalibration::FIRST, Yardstick::Copy), pairs(1.0))].into(),
        );
        assert_eq!(far, Place::Machine { near: false, by: Yardstick::Copy });
        let text = far.words(transport::tcp::NAME);
        assert!(
            text.contains("the far side's machine changed its speed") && text.contains("its copy of 64 KiB"),
            "{text}"
        );
        let read = MachineCalibration { wake: 1e-5, line: None, copy: 1e-6 };
        assert_eq!(Yardstick::of(read, Ends::Copied).collect::<Vec<_>>(), [(Yardstick::Copy, 1e-6)]);
        assert_eq!(Yardstick::of(read, Ends::Echoed).count(), 2);
    }
}
