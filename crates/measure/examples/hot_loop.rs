//! Times the evaluator's own ping-pong loop within one process, so that two builds can be held against each other: over memory copies,
//! and over a ring in shared memory between two threads on CPUs of their own. One line a visit: path, message size, nanoseconds of a round
//! trip (the smallest median of a few trials). `for i in $(seq 20); do old; new; done` compares two builds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::{Pattern, TrialSpec, Workspace, far, near};
use transport::{AnyLink, LinkError, Patience, Settings, memcpy, shm};

const TRIALS: u32 = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut copy = memcpy::NAME.transport()?.solo(&Settings::default(), &transport::Patience::default())?;
    for (size, repeats) in [(8, 400_000), (4096, 100_000)] {
        println!("memcpy {size} {:.2}", fastest(&mut copy, &spec(size, repeats))?);
    }
    for (size, repeats) in [(8, 200_000), (4096, 50_000)] {
        println!("shm {size} {:.2}", over_shm(&spec(size, repeats))?);
    }
    Ok(())
}

fn spec(size: u64, repeats: u64) -> TrialSpec {
    TrialSpec { chunk: 1000, warmup: repeats / 20, ..TrialSpec::plain(Pattern::PingPong, size, repeats) }
}

fn side(near: bool) -> Workspace {
    Workspace::new(near).halted_by(Arc::new(AtomicBool::new(false)))
}

/// Nanoseconds of a round trip.
fn fastest(link: &mut AnyLink, spec: &TrialSpec) -> Result<f64, measure::SessionError> {
    let mut workspace = side(true);
    let mut least = f64::INFINITY;
    for _ in 0..TRIALS {
        least = least.min(near::trial(link, spec, &mut workspace)?.median * 1e9);
    }
    Ok(least)
}

fn over_shm(spec: &TrialSpec) -> Result<f64, Box<dyn std::error::Error>> {
    let (here, file) = shm::Shm::create(&Settings::default(), &Patience::default())?;
    let there = shm::Shm::attach(file, &Settings::default(), &Patience::default())?;
    let (mut here, mut there) = (AnyLink::new(here), AnyLink::new(there));
    std::thread::scope(|threads| {
        threads.spawn(|| -> Result<(), measure::SessionError> {
            host::pin_this_thread(1).map_err(|e| LinkError::io("pinning", e))?;
            let mut workspace = side(false);
            (0..TRIALS).try_for_each(|_| far::trial(&mut there, spec, &mut workspace).map(drop))
        });
        host::pin_this_thread(0)?;
        Ok(fastest(&mut here, spec)?)
    })
}
