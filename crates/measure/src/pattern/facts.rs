//! What is known of a pattern without running it. Where a fact is the same for most patterns, it stands here.

use std::time::Duration;

use transport::clock::Monotonic;
use transport::theory::{FarRole, TheoryLink};
use transport::{Acceptor, Capabilities, Connector, LinkError, Proof, Semantics};
use units::Bytes;

use crate::buffers::{Buffers, Halt};
use crate::event::{Plan, TimeKind, Trial};
use crate::{FarReport, SessionError, TrialReport, TrialSpec, near, path};

/// A pattern's facts: what it needs of a path and of a plan, what it moves, what its figures are, and which tables tell of it.
pub trait Facts: Sync {
    /// One line for `--pattern`; none where the pattern has a command of its own.
    fn help(&self) -> Option<&'static str>;

    /// Which time its figures are, between two ends; `rated`: sent on a schedule.
    fn time(&self, rated: bool) -> TimeKind;

    /// What the modelled far side does.
    fn role(&self, spec: &TrialSpec) -> FarRole;

    // What it needs.

    /// Why a path with these capabilities can't run it; none where it can.
    fn refuses(&self, can: &Capabilities) -> Option<&'static str> {
        one_process(can)
    }

    /// Whether a path with these capabilities has what the plan asks of it; the error says what is missing.
    fn room(&self, _plan: &Plan, _can: &Capabilities) -> Result<(), String> {
        Ok(())
    }

    /// Whether a trial has what it needs; the error says what is missing.
    fn whole(&self, _spec: &TrialSpec) -> Result<(), String> {
        Ok(())
    }

    /// Whether it can send on a schedule, whether or not answers came.
    fn on_schedule(&self) -> bool {
        false
    }

    /// Whether all iterations run on one connection. A pattern that keeps none has [`Facts::connecting`] and [`Facts::accepting`].
    fn keeps_connection(&self) -> bool {
        true
    }

    /// Whether its answers have a size of their own (`--response`): then an iteration is a transaction.
    fn responds(&self) -> bool {
        false
    }

    /// Whether an iteration has as many blocks as `--burst` says.
    fn bursts(&self) -> bool {
        false
    }

    /// Whether nothing comes back: the receiver times and counts what arrives, and the sender knows only how fast it handed over.
    fn unanswered(&self) -> bool {
        false
    }

    /// Whether the far side sends back what it received.
    fn echoes(&self) -> bool {
        false
    }

    // What it moves.

    /// Bytes of a block from the near side to the far, and of one back.
    fn blocks(&self, spec: &TrialSpec) -> (u64, u64) {
        (spec.size, spec.size)
    }

    /// Blocks from the near side to the far in an iteration.
    fn sends(&self, _spec: &TrialSpec) -> u64 {
        1
    }

    /// Memory of a side beside its blocks, bytes.
    fn memory(&self, _spec: &TrialSpec) -> u128 {
        0
    }

    /// Seconds of work in an iteration that no processor can go below.
    fn least_work(&self, _spec: &TrialSpec) -> f64 {
        0.0
    }

    /// The largest size that a plan asks for over a path.
    fn largest(&self, plan: &Plan, can: &Capabilities) -> u64 {
        can.max_block.map_or(plan.to, |most| plan.to.min(most))
    }

    // Its trials.

    /// What one of a path's iterations transfers, in times: an iteration's time divided by this is the point's time.
    fn transfers(&self, _rated: bool, _burst: u64) -> f64 {
        1.0
    }

    /// Ways of the path that an iteration takes, one after another.
    fn ways(&self, _burst: u64) -> u64 {
        2
    }

    /// Fewest iterations of a trial.
    fn fewest(&self) -> u64 {
        path::FEWEST
    }

    /// Iterations that a trial makes beside those that it times, where they are as long as any.
    fn beside(&self) -> f64 {
        0.0
    }

    /// A trial without a connection kept: the near side's.
    fn connecting(
        &self,
        _connector: &mut Connector,
        _proof: &Proof,
        _spec: &TrialSpec,
        _halt: &Halt,
    ) -> Result<TrialReport, SessionError> {
        Err(LinkError::Unsupported("connect anew for each iteration of this pattern").into())
    }

    /// A trial without a connection kept: the far side's.
    fn accepting(
        &self,
        _acceptor: &mut Acceptor,
        _proof: &Proof,
        _spec: &TrialSpec,
        _halt: &Halt,
    ) -> Result<FarReport, SessionError> {
        Err(LinkError::Unsupported("accept a connection for each iteration of this pattern").into())
    }

    /// A trial on the modelled path, whose far side has its role by now. A modelled process works for `work` seconds at a subinterval.
    fn modelled(
        &self,
        link: &mut TheoryLink,
        spec: &TrialSpec,
        _work: f64,
        buffers: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        let clock = link.clock();
        let report = near::run(link, &clock, spec, buffers)?;
        Ok(report.with_far(answered(link)))
    }

    /// A trial of one process without a path.
    fn alone(
        &self,
        _clock: &Monotonic,
        _spec: &TrialSpec,
        _buffers: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        Err(LinkError::Unsupported("carry blocks: it is no path").into())
    }

    /// What only the receiver can have seen of a trial of which it says that `received` blocks came. `elapsed` is the near side's
    /// time for the whole trial, seconds.
    fn seen(&self, _far: &FarReport, _spec: &TrialSpec, _semantics: Semantics, _elapsed: f64) -> Seen {
        Seen::default()
    }

    /// Whether what both sides found in a trial is the same.
    fn agree(&self, _near: &TrialReport, _far: &FarReport) -> Result<(), SessionError> {
        Ok(())
    }

    /// Time for what is still in buffers when the near half of a trial is over.
    fn drain(&self, _spec: &TrialSpec) -> Duration {
        Duration::ZERO
    }

    // Its figures.

    /// Bytes that cross the path in one of the point's times: what throughput counts.
    fn bytes(&self, trial: &Trial, _rated: bool) -> u64 {
        trial.size
    }

    /// Whether the shortest trial of a round stands for it, not the median.
    fn keeps_best(&self) -> bool {
        false
    }

    /// Whether it scores a program: its figures are quality and QUIPS, not throughput.
    fn scores(&self) -> bool {
        false
    }

    /// Quality of the trials' answers and QUIPS at their median time; none where the pattern scores nothing, or the trials say nothing
    /// possible.
    fn score(&self, _trials: &[&Trial], _median: f64) -> Option<(f64, f64)> {
        None
    }

    // Its words.

    /// A size in words.
    fn sized(&self, size: u64) -> String {
        Bytes(size).to_string()
    }

    /// A size in the few characters of a progress line.
    fn brief(&self, size: u64) -> String {
        self.sized(size)
    }

    /// Who stood still in a pause, and what that means for the figures of a closed loop.
    fn paused(&self) -> (&'static str, &'static str) {
        let how = if self.on_schedule() {
            "a closed loop sends nothing meanwhile, so its percentiles hide what a user would have waited; --rate N sends on \
             schedule and charges the wait"
        } else {
            "this pattern hides what a user would have waited; --pattern ping-pong --rate N sends on schedule and charges the wait"
        };
        ("the path", how)
    }

    // Where it is told of.

    /// What the table of start-up and per-byte costs calls its times; none where they tell no start-up.
    fn startup(&self) -> Option<&'static str> {
        None
    }

    /// What the table of bandwidth curves calls its transfers; none where it has no such curve.
    fn bandwidth(&self) -> Option<&'static str> {
        None
    }

    /// Which LogGP parameters its curve tells; none where it tells none.
    fn loggp(&self) -> Option<LogGp> {
        None
    }

    /// NetPIPE's mode that measures the same; none where it has none.
    fn netpipe(&self) -> Option<NetPipe> {
        None
    }
}

/// Which LogGP parameters a pattern's curve tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogGp {
    /// Latency, from messages that wait for each other.
    Latency,
    /// Overhead and gaps, from messages that don't.
    Gap,
}

/// A mode of NetPIPE.
#[derive(Debug, Clone, Copy)]
pub struct NetPipe {
    /// Bytes that its files count for each byte of a block.
    pub counts: u64,
    /// Whether version 5 documents what its bytes count in this mode.
    pub in_five: bool,
    /// The report of a trial of one iteration that a line of so many bytes and seconds stands for.
    pub report: fn(u64, f64) -> TrialReport,
}

/// What only a receiver can see of a trial, as far as the near side can tell what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seen {
    /// Blocks that never came.
    pub lost: u64,
    /// Bytes that its time covers.
    pub bytes: u64,
    /// Its time at least, seconds.
    pub shortest: f64,
    /// Its time at most, seconds.
    pub longest: f64,
}

/// Why one process that copies can't run a pattern that needs answers; none where there are two, or a model of two.
pub(super) fn one_process(can: &Capabilities) -> Option<&'static str> {
    (!can.two_ended && !can.virtual_time).then_some("one process plays both ends, so there is no far side to answer")
}

/// What the modelled far side reports of a trial that it did not time.
pub(super) fn answered(link: &TheoryLink) -> FarReport {
    let seen = link.far_report();
    FarReport { received: seen.received, lost: seen.lost, ..FarReport::default() }
}
