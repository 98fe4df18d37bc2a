//! How fast the machine itself is just now, whatever is measured on it.
//!
//! A virtual machine's CPUs change their speed: where the hypervisor puts them decides how long a cache line or a wake-up
//! takes from one to the other, and everything that is measured between two processes moves with it. A run that reads its
//! machine's calibration before each round can be told from another by what the machine did, and by what the path did.

use std::hint::{black_box, spin_loop};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{clock, cpus_before_pinning, pin_this_thread};

/// Round trips or copies between two readings of the clock: enough that reading it costs nothing.
const WAKES: u32 = 10;
const LINES: u32 = 300;
const COPIES: u32 = 8;
/// Bytes of a copy, which stay in the core's own caches.
const COPY: usize = 64 << 10;
/// Rounds of each part, at most and at least.
const MOST: usize = 9;
const LEAST: usize = 3;
/// What the cache line says when nothing more follows.
const OVER: u32 = u32::MAX;

/// What a part of a look can take, seconds: light crosses a millimetre, or the machine stands still.
const POSSIBLE: std::ops::Range<f64> = 3e-12..100.0;

/// The machine's calibration at one moment. All times are seconds, medians of a few rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCalibration {
    /// One byte to a sleeping thread on the far side's CPU and back: two wake-ups.
    pub wake: f64,
    /// A cache line to that CPU and back, both sides spinning; none where there is no second CPU to spin on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<f64>,
    /// A copy of 64 KiB within the caches of the near side's CPU.
    pub copy: f64,
}

impl MachineCalibration {
    /// Whether all its times can be times: what comes from elsewhere is looked at first.
    pub fn is_sane(&self) -> bool {
        [Some(self.wake), self.line, Some(self.copy)].into_iter().flatten().all(|t| POSSIBLE.contains(&t))
    }

    /// [`MachineCalibration::read`] for a side that has this machine to itself: from the CPU that it keeps to, if it does, to another one.
    pub fn here(near: Option<u32>, time: Duration) -> Option<Self> {
        let far = near.and_then(|near| cpus_before_pinning().into_iter().find(|cpu| *cpu != near));
        Self::read(near, far.or(near), time)
    }

    /// Reads the calibration within about `time`, from the calling thread (which keeps to `near`, where that is named) to a thread
    /// of its own on `far`. None where `time` is less than a millisecond, which no look is worth, or the system
    /// refuses a thread or the pin.
    pub fn read(near: Option<u32>, far: Option<u32>, time: Duration) -> Option<Self> {
        if time < Duration::from_millis(1) {
            return None;
        }
        let apart = matches!((near, far), (Some(a), Some(b)) if a != b);
        let part = (time.as_nanos() as u64) / if apart { 3 } else { 2 };
        let (mut mine, theirs) = UnixStream::pair().ok()?;
        let line = AtomicU32::new(0);
        thread::scope(|scope| {
            // The socket moves in: a partner that could not start, or ends, closes it, and nobody waits for an answer.
            let partner = || {
                let theirs = theirs;
                if far.is_none_or(|cpu| pin_this_thread(cpu).is_ok()) {
                    echo(theirs);
                    reflect(&line);
                }
            };
            let partner = thread::Builder::new().name("calibration".into()).spawn_scoped(scope, partner).ok()?;
            let wake = rounds(part, WAKES, || round_trip(&mut mine));
            drop(mine);
            let mut turn = 0;
            let mut reflected = || {
                line.store(turn + 1, Ordering::Release);
                turn += 2;
                while line.load(Ordering::Acquire) != turn {
                    if partner.is_finished() {
                        return None;
                    }
                    spin_loop();
                }
                Some(())
            };
            let there = if apart { rounds(part, LINES, &mut reflected) } else { None };
            line.store(OVER, Ordering::Release);
            let (from, mut to) = (vec![1_u8; COPY], vec![0_u8; COPY]);
            let copy = rounds(part, COPIES, || {
                to.copy_from_slice(black_box(&from));
                black_box(&to);
                Some(())
            });
            (there.is_some() == apart).then_some(Self { wake: wake?, line: there, copy: copy? })
        })
    }
}

/// Median time of one of `each` in up to [`MOST`] rounds within about `part` nanoseconds, in [`LEAST`] whatever they take;
/// none where one failed. The first round warms up.
fn rounds(part: u64, each: u32, mut one: impl FnMut() -> Option<()>) -> Option<f64> {
    let until = clock::nanoseconds() + part;
    let mut times = Vec::with_capacity(MOST + 1);
    while times.len() <= MOST {
        let begin = clock::nanoseconds();
        // On a busy machine a round takes far longer, and that is when its speed is of interest.
        if begin >= until && times.len() > LEAST {
            break;
        }
        (0..each).try_for_each(|_| one())?;
        times.push((clock::nanoseconds() - begin) as f64);
    }
    let counted = times.get_mut(1..).filter(|t| !t.is_empty())?;
    counted.sort_unstable_by(f64::total_cmp);
    Some(counted[counted.len() / 2] / f64::from(each) * 1e-9)
}

fn round_trip(mine: &mut UnixStream) -> Option<()> {
    mine.write_all(&[1]).ok()?;
    mine.read_exact(&mut [0]).ok()
}

/// The partner's half of the wake-ups, until the near end closes.
fn echo(mut theirs: UnixStream) {
    let mut byte = [0];
    while theirs.read_exact(&mut byte).is_ok() && theirs.write_all(&byte).is_ok() {}
}

/// The partner's half of the cache line: answers each odd value with the next one, until the last.
fn reflect(line: &AtomicU32) {
    loop {
        match line.load(Ordering::Acquire) {
            OVER => break,
            odd if odd % 2 == 1 => line.store(odd + 1, Ordering::Release),
            _ => spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_takes_is_no_calibration() {
        let calibration = MachineCalibration { wake: 1e-5, line: Some(1e-7), copy: 2e-6 };
        assert!(calibration.is_sane());
        for outlier in [0.0, -1.0, 1e-300, 1e308, f64::INFINITY, f64::NAN] {
            for bad in [
                MachineCalibration { wake: outlier, ..calibration },
                MachineCalibration { line: Some(outlier), ..calibration },
                MachineCalibration { copy: outlier, ..calibration },
            ] {
                assert!(!bad.is_sane(), "{bad:?}");
            }
        }
    }

    #[test]
    fn a_calibration_has_every_part_that_the_cpus_allow() {
        let cpus = crate::allowed_cpus();
        thread::spawn(move || {
            let near = cpus[0];
            pin_this_thread(near).unwrap();
            let one = MachineCalibration::read(Some(near), Some(near), Duration::from_secs(5)).unwrap();
            assert!(one.wake > 0.0 && one.copy > 0.0 && one.line.is_none(), "no spinning on one CPU: {one:?}");
            if let Some(far) = cpus.get(1) {
                let two = MachineCalibration::read(Some(near), Some(*far), Duration::from_secs(5)).unwrap();
                assert!(two.wake > 0.0 && two.copy > 0.0 && two.line.is_some_and(|l| l > 0.0), "{two:?}");
            }
        })
        .join()
        .unwrap();
        assert!(MachineCalibration::read(None, None, Duration::from_secs(5)).is_some_and(|p| p.line.is_none()));
    }

    #[test]
    fn what_cannot_be_read_is_none_and_holds_nobody() {
        assert_eq!(MachineCalibration::read(None, None, Duration::ZERO), None);
        assert_eq!(MachineCalibration::read(None, Some(1 << 20), Duration::from_secs(5)), None, "there is no such CPU");
    }
}
