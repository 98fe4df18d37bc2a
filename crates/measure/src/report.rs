//! The report of a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::TcpState;

use crate::{Carried, Cost, Course, Flows};

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
    /// First byte that was written behind the memory of a message, if contents were checked: how many bytes behind its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spilled: Option<u64>,
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

    /// Seconds that a message of `size` bytes took to arrive, as its receiver timed them; 0 where it did not.
    pub(crate) fn each_received(&self, size: u64) -> f64 {
        if self.far.bytes == 0 { 0.0 } else { self.far.seconds * size as f64 / self.far.bytes as f64 }
    }

    /// Seconds that an iteration took the side that sends or waits.
    pub(crate) fn each_sent(&self) -> f64 {
        if self.repeats == 0 { 0.0 } else { self.seconds / self.repeats as f64 }
    }

    /// Whether the load carried something while the trial ran, if there was to be one.
    pub fn under_its_load(&self) -> bool {
        self.load.is_none_or(|load| load.any())
    }

    /// Whether a trial can have these numbers: a file may hold any. Sums over many trials must stay within 64 bits, and no clock shows
    /// times so short or so long; nothing counts to 2^40 in a trial, nor moves 2^56 bytes.
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

/// The sums of several reports of copied calls: (copied, all).
pub(crate) fn copies(each: impl Iterator<Item = Option<(u64, u64)>>) -> Option<(u64, u64)> {
    each.flatten().reduce(|a, b| (a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
}

fn none(n: &u64) -> bool {
    *n == 0
}
