//! Many members under a virtual clock, a seeded network and seeded faults, and whether what they delivered is what their stack promises.
//!
//! A [`Scenario`] follows from a seed: stack, members, network, casts, faults. [`run`] plays it until the faults end, heals all, and lets it settle. The
//! [`Journal`] has what each life of each member cast, delivered and was told; [`oracle`] holds it against the promises. Where one is broken, [`shrink`] looks for the
//! fewest faults and casts that still break it. The same seed and [`Limits`] give the same run on every machine.

mod growth;
mod journal;
#[cfg(test)]
mod mutants;
mod network;
pub mod oracle;
mod replica;
mod scenario;
mod shrink;
mod stacks;
#[cfg(test)]
mod tests;
mod world;

pub use growth::{Growth, grow};
pub use journal::{Entry, Id, Journal, Life, Point};
pub use scenario::{Fault, FaultKind, Limits, Scenario};
pub use shrink::shrink;

/// What a run came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The promise that was broken first, in words.
    pub broken: Option<String>,
    /// Deliveries of all members.
    pub delivered: usize,
    /// Views of all members.
    pub views: usize,
    /// Datagrams that were sent.
    pub datagrams: u64,
    /// Casts that FAST delivered on the short way.
    pub foretold: u64,
    /// Virtual seconds from healing until all was settled.
    pub settled: f64,
    /// What happened, for whoever wants to look.
    pub journal: Journal,
}

/// Plays a scenario and checks it.
pub fn run(scenario: &Scenario) -> Outcome {
    let played = world::World::new(scenario).play();
    let broken = played.stuck.clone().or_else(|| oracle::check(&played.journal, scenario.promises()).err());
    Outcome {
        broken,
        delivered: played.journal.lives.iter().map(|l| l.deliveries().count()).sum(),
        views: played.journal.lives.iter().map(|l| l.views().count()).sum(),
        datagrams: played.datagrams,
        foretold: played.foretold,
        settled: played.settled,
        journal: played.journal,
    }
}
