//! What a trial is, and what came of it. Both sides hold the same [`TrialSpec`] before the first byte moves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::TcpState;

use crate::event::{Plan, Schedule};
use crate::{Carried, Cost, Course, Flows, Pattern};

/// Whether messages come from memory that was just used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Cache {
    /// The same buffer each time.
    Warm,
    /// Walks a pool larger than the last-level cache.
    Cold,
}

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
}

impl TrialSpec {
    /// A trial of `size` as the plan has it, whose iterations are timed one by one.
    pub fn of(plan: &Plan, size: u64, repeats: u64) -> Self {
        let facts = plan.pattern.facts();
        Self {
            pattern: plan.pattern,
            size,
            response: if facts.responds { plan.response } else { 0 },
            burst: if facts.bursts { plan.burst.max(1) } else { 0 },
            repeats,
            // NetPIPE has none; but a receiver's clock starts when a message is here.
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
        }
    }

    /// Seconds from one send to the next; none where nothing but the path decides.
    pub fn gap(&self) -> Option<f64> {
        gap(self.rate, self.offered, self.size)
    }

    /// The trial as flow `number` does it, in its own direction: its contents are its own, so that messages of another flow are found
    /// (`check`). The first one's are those of a trial of one flow.
    pub fn flow(&self, number: u32) -> Self {
        // An odd factor keeps the seeds of flows apart; contents multiply iterations by another.
        let seed = self.seed ^ u64::from(number).wrapping_mul(0x9FB2_1C65_1E98_DF25).rotate_left(17);
        Self { seed, reverse: self.reverses(number), both: false, ..self.clone() }
    }

    /// Whether the messages of flow `number` go to the near side.
    pub fn reverses(&self, number: u32) -> bool {
        if self.both { number >= self.flows / 2 } else { self.reverse }
    }

    /// Whether the near side is a receiver of messages that nothing answers: then it times them, and the far side sends as soon as it
    /// is told that the near side is ready.
    pub fn far_sends(&self) -> bool {
        (self.reverse || self.both) && self.pattern.facts().unanswered
    }

    /// Whether each side times what it receives, so that moments of two clocks are to be compared.
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

/// Seconds from one send of `size` bytes to the next, at `rate` iterations or `offered` bits a second.
pub(crate) fn gap(rate: Option<f64>, offered: Option<f64>, size: u64) -> Option<f64> {
    rate.map(f64::recip).or(offered.map(|bits| size as f64 * 8.0 / bits))
}

/// What the far side saw of a trial. Of a stream that the far side sends it says in how many seconds it sent how many bytes, and the
/// receiver, which the near side is then, makes a report of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FarReport {
    /// Seconds from when the last message of the warm-up was here whole until the last message was (stream), else 0.
    pub seconds: f64,
    /// Bytes that `seconds` covers.
    pub bytes: u64,
    /// Messages received.
    pub received: u64,
    /// Messages that never came.
    pub lost: u64,
    /// Messages that came after a later one.
    pub reordered: u64,
    /// Messages that came more than once.
    pub duplicated: u64,
    /// Datagrams that nobody of this measurement sent, which were dropped.
    #[serde(skip_serializing_if = "none")]
    pub strangers: u64,
    /// First corrupt message, if contents were checked: (iteration, offset in the message).
    pub corrupt: Option<(u64, u64)>,
    /// HINT: the bounds that the far side has, as [`TrialReport::bounds`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(u64, u64)>,
    /// How the flow went on, where it is one of several and this side timed it; neither recorded nor sent.
    #[serde(skip)]
    pub course: Option<Course>,
    /// What the iterations after the warm-up cost the far side's thread; none of older far sides, of models and where contents were
    /// checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Of a far side that posts, as [`TrialReport::copied`], which has it once both halves are one report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied: Option<(u64, u64)>,
}

/// What a trial measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TrialReport {
    /// Iterations that completed.
    pub repeats: u64,
    /// Seconds for them on the near side (stream: until the sender had handed over the last, whichever side that is; the receiver's time is in
    /// `far`).
    pub seconds: f64,
    /// Median time of an iteration over the trial's chunks, seconds; 0 where the receiver timed the trial (stream).
    pub median: f64,
    /// Shortest chunk, seconds an iteration.
    pub min: f64,
    /// Longest chunk, seconds an iteration.
    pub max: f64,
    /// Times of single iterations as (nanoseconds, count) pairs, ascending, where chunks were single iterations; each
    /// value is exact to 1%.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<(u64, u64)>,
    /// The longest pauses, at most 16: (nanoseconds after the trial's start, nanoseconds) of chunks that took over twice the
    /// trial's median, in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<(u64, u64)>,
    /// Open loop: sends that left later than their schedule by more than a twentieth of the gap between two.
    pub late: u64,
    /// Iterations lost on the near side (unreliable links).
    pub lost: u64,
    /// Answers that came after a later one (unreliable links).
    #[serde(skip_serializing_if = "none")]
    pub reordered: u64,
    /// Answers that came more than once (unreliable links).
    #[serde(skip_serializing_if = "none")]
    pub duplicated: u64,
    /// HINT: squares below the curve for certain and at most, of 2^53, over all processes. They are the same for a number of
    /// subintervals and processes, and quality follows from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(u64, u64)>,
    /// What the timed iterations cost the near side's thread; none in older files, of models and where contents were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What several flows did while all of them ran; none where there was one. Then the times and counts above are those of all
    /// flows in that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Flows>,
    /// How the flow went on, where it is one of several and this side timed it; neither recorded nor sent.
    #[serde(skip)]
    pub course: Option<Course>,
    /// What the kernel knew of the near side's TCP connection; none of any other path, and in older files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
    /// Calls of posted sends that were complete by the trial's end of which the path made a copy nevertheless, and all of them; none where
    /// nothing was posted, or the path does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied: Option<(u64, u64)>,
    /// What loading flows carried while the trial ran; none where nothing loaded the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Carried>,
    /// What the far side saw; of a stream what its receiver saw, whichever side that is.
    pub far: FarReport,
}

/// The state of a TCP connection at the end of a trial, and what happened to it meanwhile. Fields that are 0 are left out of the run
/// file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tcp {
    /// Segments that this side sent again during the trial.
    #[serde(skip_serializing_if = "none")]
    pub retransmits: u64,
    /// Smoothed round-trip time, microseconds.
    #[serde(skip_serializing_if = "none")]
    pub rtt_us: u64,
    /// Congestion window, segments.
    #[serde(skip_serializing_if = "none")]
    pub window: u64,
    /// Rate at which the kernel last saw data delivered, bytes a second.
    #[serde(skip_serializing_if = "none")]
    pub delivery_rate: u64,
}

impl Tcp {
    /// Of several connections: the sums of what was sent again and delivered, the means of time and window.
    pub(crate) fn of_all(each: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let all: Vec<Self> = each.collect::<Option<_>>()?;
        let sum = |of: fn(&Self) -> u64| all.iter().fold(0, |sum: u64, tcp| sum.saturating_add(of(tcp)));
        let mean = |of| sum(of).checked_div(all.len() as u64).unwrap_or(0);
        Some(Self {
            retransmits: sum(|t| t.retransmits),
            rtt_us: mean(|t| t.rtt_us),
            window: mean(|t| t.window),
            delivery_rate: sum(|t| t.delivery_rate),
        })
    }

    pub(crate) fn between(before: TcpState, after: TcpState) -> Self {
        let TcpState { rtt_us, window, delivery_rate, .. } = after;
        Self { retransmits: after.retransmits.saturating_sub(before.retransmits), rtt_us, window, delivery_rate }
    }
}

impl TrialReport {
    /// The same with what the far side saw.
    pub(crate) fn with_far(self, far: FarReport) -> Self {
        Self { far, ..self }
    }

    /// The near half's report of `spec` and the far half's as one: each side tells what only it saw.
    pub fn joined(self, spec: &TrialSpec, far: FarReport) -> Self {
        match spec.far_sends() {
            true => {
                Self { seconds: far.seconds, copied: far.copied, far: FarReport { cost: far.cost, ..self.far }, ..self }
            }
            false => self.with_far(far),
        }
    }

    /// Seconds that a message of `size` bytes took to arrive, as its receiver timed them; 0 where it did not.
    pub(crate) fn each_received(&self, size: u64) -> f64 {
        if self.far.bytes == 0 { 0.0 } else { self.far.seconds * size as f64 / self.far.bytes as f64 }
    }

    /// Seconds that an iteration took the side that sends or waits.
    pub(crate) fn each_sent(&self) -> f64 {
        if self.repeats == 0 { 0.0 } else { self.seconds / self.repeats as f64 }
    }

    /// Whether the path was loaded while the trial ran, if it was to be.
    pub fn under_its_load(&self) -> bool {
        self.load.is_none_or(|load| load.any())
    }

    /// Whether its numbers can be a trial's: a file may hold any. Sums over many trials must stay within 64 bits, and no clock
    /// tells times so short or so long; nothing counts to 2^40 in a trial, nor moves 2^56 bytes.
    pub fn sound(&self) -> bool {
        let far = &self.far;
        let events = [self.repeats, self.late, self.lost, self.reordered, self.duplicated];
        let far_events = [far.received, far.lost, far.reordered, far.duplicated, far.strangers];
        let iterations = self.histogram.iter().fold(0, |sum: u64, (_, n)| sum.saturating_add(*n));
        let most = events.into_iter().chain(far_events).fold(iterations, u64::max);
        let time = |t: f64| t == 0.0 || (1e-18..1e15).contains(&t);
        let times = [self.seconds, self.median, self.min, self.max, far.seconds];
        let costs = [self.cost, far.cost];
        let flows = self.flows.as_ref().is_none_or(Flows::sound);
        let retransmits = self.tcp.map_or(0, |tcp| tcp.retransmits);
        let calls = |copied: Option<(u64, u64)>| copied.is_none_or(|(some, all)| some <= all && all < 1 << 40);
        let copied = calls(self.copied) && calls(far.copied);
        costs.iter().flatten().all(Cost::sound)
            && flows
            && self.load.is_none_or(|load| load.sound())
            && retransmits < 1 << 40
            && copied
            && most < 1 << 40
            && far.bytes < 1 << 56
            && times.into_iter().all(time)
    }
}

/// What several reports say of calls that were copied.
pub(crate) fn copies(each: impl Iterator<Item = Option<(u64, u64)>>) -> Option<(u64, u64)> {
    each.flatten().reduce(|a, b| (a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
}

fn none(n: &u64) -> bool {
    *n == 0
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
    fn a_block_of_another_flow_is_found_by_its_contents() {
        let spec = TrialSpec { flows: 128, seed: 7, ..TrialSpec::plain(Pattern::PingPong, 64, 10) };
        assert_eq!(spec.flow(0).seed, spec.seed, "the first has the contents of a single one");
        let mut block = [0; 64];
        for (a, b) in [(0, 1), (1, 2), (3, 7), (0, 127), (126, 127)] {
            for iterations in [(0, 0), (0, 1), (5, 4)] {
                fill(&mut block, spec.flow(a).seed, iterations.0, Writer::Near);
                assert!(first_wrong(&block, spec.flow(b).seed, iterations.1, Writer::Near, 4).is_some(), "{a} for {b}");
                assert_eq!(first_wrong(&block, spec.flow(a).seed, iterations.0, Writer::Near, 0), None);
            }
        }
    }
}
