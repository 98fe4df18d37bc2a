//! The simulated network: who reaches whom, what is lost, repeated, damaged, and how late the rest is.

use bytes::Bytes;

use super::Scenario;
use crate::rng::Rng;

pub(super) struct Network {
    pub(super) rng: Rng,
    loss: f64,
    repeat: f64,
    damage: f64,
    delay: (u64, u64),
    /// Loss by a storm, and when it ends.
    storm: (f64, u64),
    /// Nodes of the set, both ways, until when.
    parts: Vec<(u64, bool, u64)>,
    /// From whom nothing reaches whom, until when.
    deaf: Vec<(usize, usize, u64)>,
    pub(super) sent: u64,
    pub(super) bytes: u64,
}

impl Network {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            rng: Rng::new(scenario.seed ^ 0xdead_11e7),
            loss: scenario.loss,
            repeat: scenario.repeat,
            damage: scenario.damage,
            delay: scenario.delay,
            storm: (0.0, 0),
            parts: Vec::new(),
            deaf: Vec::new(),
            sent: 0,
            bytes: 0,
        }
    }

    pub(super) fn storm(&mut self, loss: f64, until: u64) {
        self.storm = (loss, until);
    }

    pub(super) fn part(&mut self, set: u64, both: bool, until: u64) {
        self.parts.push((set, both, until));
    }

    pub(super) fn deafen(&mut self, from: usize, to: usize, until: u64) {
        self.deaf.push((from, to, until));
    }

    pub(super) fn heal(&mut self) {
        self.parts.clear();
        self.deaf.clear();
        self.storm = (0.0, 0);
        (self.loss, self.repeat, self.damage) = (0.0, 0.0, 0.0);
    }

    fn reaches(&self, from: usize, to: usize, now: u64) -> bool {
        if self.deaf.iter().any(|d| (d.0, d.1) == (from, to) && d.2 > now) {
            return false;
        }
        let within = |set: u64, node: usize| node < 64 && set >> node & 1 == 1;
        self.parts.iter().filter(|p| p.2 > now).all(|&(set, both, _)| {
            let (out, into) = (within(set, from) && !within(set, to), within(set, to) && !within(set, from));
            !(out || (both && into))
        })
    }

    /// A datagram is sent, to one or to many.
    pub(super) fn count(&mut self, bytes: &Bytes) {
        self.sent += 1;
        self.bytes += bytes.len() as u64;
    }

    /// When which copies of a datagram arrive at one receiver.
    pub(super) fn carry(&mut self, from: usize, to: usize, now: u64, bytes: &Bytes) -> Vec<(u64, Bytes)> {
        let storm = if self.storm.1 > now { self.storm.0 } else { 0.0 };
        if !self.reaches(from, to, now) || self.rng.chance(self.loss) || self.rng.chance(storm) {
            return Vec::new();
        }
        let copies = if self.rng.chance(self.repeat) { 2 } else { 1 };
        (0..copies)
            .map(|_| {
                // Mostly short, now and then long: so datagrams overtake each other.
                let spread = self.rng.below(self.delay.1 + 1);
                let late = if self.rng.chance(0.1) { spread } else { spread / 16 };
                let mut bytes = bytes.clone();
                if self.rng.chance(self.damage) && !bytes.is_empty() {
                    let mut damaged = bytes.to_vec();
                    let at = self.rng.below(damaged.len() as u64) as usize;
                    damaged[at] ^= 1 << self.rng.below(8);
                    bytes = damaged.into();
                }
                (now + self.delay.0 + late, bytes)
            })
            .collect()
    }
}
