//! What a trial is. Both sides hold the same [`TrialSpec`] before the first byte moves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{Plan, Schedule, gap};
use crate::{Cache, FarReport, Pattern, TrialReport};

/// One trial, agreed between both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSpec {
    /// Pattern.
    pub pattern: Pattern,
    /// Message size, bytes (the request's, for request and connect; subintervals of a side for HINT).
    pub size: u64,
    /// Bytes of the answer for request and connect; otherwise not used.
    pub response: u64,
    /// Messages in a burst; otherwise not used.
    pub burst: u64,
    /// Iterations: round trips, messages, bursts, exchanges or transactions, as the pattern has it.
    pub repeats: u64,
    /// Iterations before the first timed one.
    pub warmup: u64,
    /// Iterations between two readings of the clock: 1 where single iterations can be timed without disturbing them,
    /// more where the clock would cost over 1% (decided by the calibration).
    pub chunk: u64,
    /// The far side sends and the near side receives, where the pattern has a direction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// Both sides send at once: the first half of the flows go to the far side, the others to the near side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub both: bool,
    /// Open loop: iterations a second, sent on schedule whether or not answers came.
    pub rate: Option<f64>,
    /// Stream: bits a second that the sender offers, a message at a time; none lets it send as fast as it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<f64>,
    /// Verify the contents of every message at each receive.
    pub check: bool,
    /// Alignment of buffers, bytes, a power of two.
    pub align: u64,
    /// Offsets from the alignment: near, far.
    pub offset: (u64, u64),
    /// Warm or cold buffers.
    pub cache: Cache,
    /// Flows that run at once, each of which does all of the trial on a connection of its own.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub flows: u32,
    /// Bytes of the cold pool (larger than the last-level cache of either side).
    pub pool: u64,
    /// Seed of the contents.
    pub seed: u64,
    /// A pattern of a whole group: nanoseconds after which it ends with the iterations that it has, at least one; none lets it do all. The members of a
    /// collective find that together, since they tell each other their times; else the near member tells the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u64>,
}

impl TrialSpec {
    /// A trial of `size` for the plan, whose iterations are timed one by one.
    pub fn of(plan: &Plan, size: u64, repeats: u64) -> Self {
        let facts = plan.pattern.facts();
        Self {
            pattern: plan.pattern,
            size,
            response: if facts.responds { plan.response } else { 0 },
            burst: if facts.bursts { plan.burst.max(1) } else { 0 },
            repeats,
            // NetPIPE has none, but a receiver's clock starts when a message has arrived.
            warmup: match plan.schedule {
                Schedule::Netpipe => u64::from(facts.unanswered),
                _ => (repeats / 20).clamp(1, 50),
            },
            chunk: 1,
            reverse: plan.reverse,
            both: plan.both,
            rate: plan.rate,
            offered: plan.offered,
            check: plan.check,
            align: plan.align,
            offset: plan.offset,
            cache: plan.cache,
            flows: 1,
            pool: plan.pool,
            seed: plan.seed,
            within: None,
        }
    }

    /// The plainest trial: a closed loop whose iterations are timed one by one, without warming up, from warm aligned buffers.
    pub fn plain(pattern: Pattern, size: u64, repeats: u64) -> Self {
        Self {
            pattern,
            size,
            response: 0,
            burst: 0,
            repeats,
            warmup: 0,
            chunk: 1,
            reverse: false,
            both: false,
            rate: None,
            offered: None,
            check: false,
            align: 64,
            offset: (0, 0),
            cache: Cache::Warm,
            flows: 1,
            pool: 0,
            seed: 0,
            within: None,
        }
    }

    /// Seconds from one send to the next; none where there is no schedule.
    pub fn gap(&self) -> Option<f64> {
        gap(self.rate, self.offered, self.size)
    }

    /// The trial of flow `number`, in its own direction: its contents differ from those of other flows, so that their messages are found
    /// out (`check`). The first one's are those of a trial of one flow.
    pub fn flow(&self, number: u32) -> Self {
        // An odd factor keeps the seeds of flows apart; contents multiply iterations by another.
        let seed = self.seed ^ u64::from(number).wrapping_mul(0x9FB2_1C65_1E98_DF25).rotate_left(17);
        Self { seed, reverse: self.reverses(number), both: false, ..self.clone() }
    }

    /// Whether the messages of flow `number` go to the near side.
    pub fn reverses(&self, number: u32) -> bool {
        if self.both { number >= self.flows / 2 } else { self.reverse }
    }

    /// Whether the near side receives messages that nothing answers: then it times them, and the far side sends as soon as it is told that
    /// the near side is ready.
    pub fn far_sends(&self) -> bool {
        (self.reverse || self.both) && self.pattern.facts().unanswered
    }

    /// Whether each side times what it receives, so that moments of two clocks must be compared.
    pub fn timed_at_both(&self) -> bool {
        self.both && self.pattern.facts().unanswered
    }
}

fn one() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

impl TrialReport {
    /// The near half's report of `spec` and the far half's as one: each side adds what only it saw.
    pub fn joined(self, spec: &TrialSpec, far: FarReport) -> Self {
        match spec.far_sends() {
            true => {
                Self { seconds: far.seconds, copied: far.copied, far: FarReport { cost: far.cost, ..self.far }, ..self }
            }
            false => self.with_far(far),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Writer, fill, first_wrong};

    #[test]
    fn direction_is_a_fact_of_a_flow() {
        let both = TrialSpec { both: true, flows: 6, ..TrialSpec::plain(Pattern::Stream, 64, 10) };
        let ways = |spec: &TrialSpec| (0..spec.flows).map(|number| spec.flow(number).reverse).collect::<Vec<_>>();
        assert_eq!(ways(&both), [false, false, false, true, true, true]);
        assert!(both.far_sends() && both.timed_at_both() && !both.flow(0).far_sends() && both.flow(3).far_sends());
        assert!(!both.flow(3).both, "a flow has one direction");
        let bursts = TrialSpec { pattern: Pattern::Burst, ..both.clone() };
        assert!(!bursts.far_sends() && !bursts.timed_at_both(), "answered, and so timed here");
        assert_eq!(ways(&TrialSpec { both: false, reverse: true, ..both }), [true; 6]);
    }

    #[test]
    fn a_message_of_another_flow_is_found_by_its_contents() {
        let spec = TrialSpec { flows: 128, seed: 7, ..TrialSpec::plain(Pattern::PingPong, 64, 10) };
        assert_eq!(spec.flow(0).seed, spec.seed, "the first has the contents of a single one");
        let mut message = [0; 64];
        for (a, b) in [(0, 1), (1, 2), (3, 7), (0, 127), (126, 127)] {
            for iterations in [(0, 0), (0, 1), (5, 4)] {
                fill(&mut message, spec.flow(a).seed, iterations.0, Writer::Near);
                assert!(
                    first_wrong(&message, spec.flow(b).seed, iterations.1, Writer::Near, 4).is_some(),
                    "{a} for {b}"
                );
                assert_eq!(first_wrong(&message, spec.flow(a).seed, iterations.0, Writer::Near, 0), None);
            }
        }
    }
}
