//! Noise: what a program that does nothing but read the clock misses of it.

use std::io;

use units::{Seconds, Share};

use super::{Finding, THREADS, start};
use crate::clock::nanoseconds;
use crate::pin_this_thread;

/// Nanoseconds that each CPU is watched for.
const WATCHED: u64 = 300_000_000;

/// Nanoseconds between two readings beyond which something else ran. Two readings are well below 1 us apart; a timer
/// tick takes a few.
const GAP: u64 = 5_000;

/// What was missed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Noise {
    /// Longest gap, nanoseconds.
    pub largest: u64,
    /// Share of the time that lay in gaps.
    pub stolen: f64,
}

/// Gaps in a series of readings of the clock, nanoseconds.
fn gaps(readings: impl IntoIterator<Item = u64>) -> Noise {
    let mut readings = readings.into_iter();
    let Some(first) = readings.next() else { return Noise::default() };
    let (mut last, mut largest, mut sum) = (first, 0, 0);
    for now in readings {
        let gap = now.saturating_sub(last);
        largest = largest.max(gap);
        if gap > GAP {
            sum += gap;
        }
        last = now;
    }
    let all = last.saturating_sub(first);
    Noise { largest, stolen: if all > 0 { sum as f64 / all as f64 } else { 0.0 } }
}

fn watch(cpu: Option<u32>) -> Noise {
    if let Some(cpu) = cpu {
        // A pin that is refused is a finding of its own; what runs unpinned is watched all the same.
        let _ = pin_this_thread(cpu);
    }
    let end = nanoseconds() + WATCHED;
    gaps(std::iter::repeat_with(nanoseconds).take_while(|t| *t < end))
}

/// Watches both CPUs of a pair at once, or wherever one thread runs; the worse of both counts. An error where no thread
/// can be started.
pub(super) fn measure(pair: Option<(u32, u32)>) -> io::Result<Noise> {
    let cpus = pair.map_or(vec![None], |(a, b)| vec![Some(a), Some(b)]);
    // All are started before one is waited for.
    let watchers: Vec<_> = cpus.into_iter().map(|cpu| start(move || watch(cpu))).collect();
    let mut worst = Noise::default();
    for watcher in watchers {
        let seen = watcher?.join().map_err(|_| io::Error::other("the thread that watches died"))?;
        worst = Noise { largest: worst.largest.max(seen.largest), stolen: worst.stolen.max(seen.stolen) };
    }
    Ok(worst)
}

/// Is it quiet here?
pub(super) fn judge(noise: &io::Result<Noise>) -> Finding {
    let name = "noise";
    let noise = match noise {
        Ok(noise) => noise,
        Err(e) => return Finding::warn(name, format!("can't be measured: {e}"), THREADS),
    };
    let (largest, stolen) = (Seconds(noise.largest as f64 * 1e-9), Share(noise.stolen));
    let found = format!("in 0.3 s a busy loop was held up for {largest} at most, {stolen} of the time in all");
    let remedy = "stop other programs, lift a cpu-quota, use isolated CPUs, or measure longer and read the intervals";
    if noise.stolen > 0.01 {
        Finding::warn(name, found, remedy)
    } else if noise.stolen > 0.001 || noise.largest > 1_000_000 {
        Finding::note(name, found, remedy)
    } else {
        Finding::good(name, found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn gaps_are_what_lies_between_readings_far_apart() {
        let noise = gaps([1000, 1100, 1200, 21_200, 21_300, 100_000, 101_000]);
        assert_eq!(noise, Noise { largest: 78_700, stolen: 98_700.0 / 100_000.0 });
        assert_eq!(gaps([0, 5000, 10_000]), Noise { largest: 5000, stolen: 0.0 });
        assert_eq!((gaps([]), gaps([7])), (Noise::default(), Noise::default()));
    }

    #[test]
    fn quiet_and_noisy_machines() {
        let level = |largest, stolen| judge(&Ok(Noise { largest, stolen })).level;
        assert_eq!(level(30_000, 0.0005), Level::Good);
        assert_eq!(level(30_000, 0.005), Level::Note);
        assert_eq!(level(4_000_000, 0.0005), Level::Note);
        assert_eq!(level(4_000_000, 0.02), Level::Warn);
        let blind = judge(&Err(io::Error::from_raw_os_error(11)));
        assert!(blind.level == Level::Warn && blind.remedy.unwrap().contains("ulimit -u"));
    }

    #[test]
    fn where_no_pair_can_be_pinned_one_thread_watches() {
        let noise = measure(None).unwrap();
        assert!(noise.largest > 0 && (0.0..=1.0).contains(&noise.stolen));
    }
}
