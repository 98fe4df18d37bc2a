//! Several flows of one trial at once, each on a connection and a thread of its own.
//!
//! Every flow does the whole trial: the same warm-up and the same number of iterations, agreed before the first byte moves. The flows of a
//! side begin together, and the side that times a flow records how far it had come at which moment ([`Course`]). What counts is the *common
//! time* ([`window`]): from the moment when the last flow had begun what is timed to the moment when the first was done with it. Only then
//! did all of them share the path, so that a flow which begins late or ends early does not distort the figures of the others.

mod group;
mod members;
mod report;
mod threads;
pub(crate) mod turns;
pub mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Cost;

pub use group::of_group;
pub use members::with_costs;
pub use report::{Sent, far, joined, near, told};
pub use window::{Course, Step};

/// Most flows of a path. (iperf3 has 128 at most.)
pub const MOST: u32 = 128;

/// What several flows did in the time in which all of them ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Flows {
    /// Seconds from when the last flow had begun what is timed until the first was done with it; 0 where that was earlier, so that there
    /// was no moment at which all ran.
    pub seconds: f64,
    /// Seconds from the first flow's beginning to the last one's end.
    pub span: f64,
    /// Seconds from the first flow's beginning to the last one's; 0 in older files.
    #[serde(skip_serializing_if = "zero")]
    pub apart: f64,
    /// What each flow did.
    pub each: Vec<FlowReport>,
}

/// What one of several flows did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlowReport {
    /// Iterations in the time in which all flows ran; of one that was under way at its beginning or end the part that fell into it.
    pub iterations: f64,
    /// Messages or answers that were lost, in the whole trial.
    #[serde(skip_serializing_if = "none")]
    pub lost: u64,
    /// Segments that the near side sent again, in the whole trial (TCP).
    #[serde(skip_serializing_if = "none")]
    pub retransmits: u64,
    /// Messages a second that its sender handed over, of a stream, or where a rate was offered; else 0.
    #[serde(skip_serializing_if = "zero")]
    pub sent: f64,
    /// What the timed iterations of it cost the near process, where near halves are processes of their own, each with one connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_cost: Option<Cost>,
    /// What they cost the far process, or its thread of this connection where it has them all; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_cost: Option<Cost>,
}

fn none(n: &u64) -> bool {
    *n == 0
}

fn zero(t: &f64) -> bool {
    *t == 0.0
}

impl Flows {
    /// Iterations of all flows in the time in which all ran.
    pub fn iterations(&self) -> f64 {
        self.each.iter().map(|flow| flow.iterations).sum()
    }

    /// Jain's fairness index of the flows' rates: 1 where all are equal, 1/n where one of n has everything (Jain, Chiu, Hawe 1984, DEC-TR-301,
    /// *A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared Computer Systems*; Jain 1991, *The Art of Computer
    /// Systems Performance Analysis*, chapter 3). None where nothing moved.
    pub fn fairness(&self) -> Option<f64> {
        let squares: f64 = self.each.iter().map(|flow| flow.iterations * flow.iterations).sum();
        (squares > 0.0).then(|| self.iterations().powi(2) / (self.each.len() as f64 * squares))
    }

    /// What the flows of one direction did, where both sides sent: the first half went to the far side, the others to the near side.
    pub fn way(&self, back: bool) -> &[FlowReport] {
        let (there, other) = self.each.split_at(self.each.len() / 2);
        if back { other } else { there }
    }

    /// Share of all iterations that the slowest flow did, and the fastest. None where nothing moved.
    pub fn shares(&self) -> Option<(f64, f64)> {
        let all = self.iterations();
        let ends = |pick: fn(f64, f64) -> f64, from| self.each.iter().map(|flow| flow.iterations).fold(from, pick);
        (all > 0.0).then(|| (ends(f64::min, f64::INFINITY) / all, ends(f64::max, 0.0) / all))
    }

    /// Whether a trial can have these numbers: a file may hold any.
    pub(crate) fn sound(&self) -> bool {
        let time = |t: f64| t == 0.0 || (1e-18..1e15).contains(&t);
        let few = (2..=MOST as usize).contains(&self.each.len());
        let counts = |flow: &FlowReport| {
            let rates = (0.0..1e12).contains(&flow.iterations) && (0.0..1e12).contains(&flow.sent);
            let costs = [flow.near_cost, flow.far_cost].iter().flatten().all(Cost::sound);
            rates && costs && flow.lost < 1 << 40 && flow.retransmits < 1 << 40
        };
        let times = time(self.seconds) && time(self.span) && time(self.apart);
        few && times && self.seconds <= self.span && self.apart <= self.span && self.each.iter().all(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(iterations: &[f64]) -> Flows {
        let each = iterations.iter().map(|n| FlowReport { iterations: *n, ..FlowReport::default() }).collect();
        Flows { seconds: 1.0, span: 2.0, apart: 0.5, each }
    }

    #[test]
    fn fairness_is_jains_index() {
        assert_eq!(of(&[5.0, 5.0, 5.0]).fairness(), Some(1.0));
        assert_eq!(of(&[9.0, 0.0, 0.0]).fairness(), Some(1.0 / 3.0));
        // The book's own kind of example: (1 + 2 + 3)^2 / (3 * 14).
        assert_eq!(of(&[1.0, 2.0, 3.0]).fairness(), Some(36.0 / 42.0));
        assert_eq!(of(&[0.0, 0.0]).fairness(), None);
        assert_eq!(of(&[1.0, 3.0]).shares(), Some((0.25, 0.75)));
    }

    #[test]
    fn numbers_that_no_trial_has_are_not_sound() {
        assert!(of(&[1.0, 2.0]).sound());
        assert!(!of(&[1.0]).sound(), "one flow is none of several");
        assert!(!of(&[f64::NAN, 1.0]).sound() && !of(&[-1.0, 1.0]).sound() && !of(&[1e300, 1.0]).sound());
        assert!(!of(&vec![1.0; MOST as usize + 1]).sound());
        assert!(!Flows { seconds: 3.0, ..of(&[1.0, 1.0]) }.sound());
        assert!(!Flows { apart: 3.0, ..of(&[1.0, 1.0]) }.sound());
    }
}
