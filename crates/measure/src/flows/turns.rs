//! How long a trial of several flows must last, so that there is a time in which all of them run. Pure.
//!
//! Flows that share CPUs begin when the scheduler first runs each, and processes later than threads. Only trials show how far apart that
//! is, so trials become longer until all run at once for longer than they began apart, and shorter again where that suffices.

use super::Flows;

/// Shortest trial for each flow, seconds: a shorter one might lie within the time slices that a scheduler gives their threads.
const TURN: f64 = 0.005;
/// At most this for all of them together, before any trial shows more, seconds.
const FIRST: f64 = 0.1;
/// Longest trial, seconds, also limited to a share of the budget: enough must remain for rounds.
const LONGEST: f64 = 1.0;
const SHARE: f64 = 0.1;
/// A trial's length is aimed at so many times the time that its flows began apart.
const BEYOND: f64 = 3.0;
/// Factor of the next trial's length after one that sufficed.
const SHORTER: f64 = 0.9;
/// A trial whose flows all ran for a smaller share of it does not show how long an iteration takes while they do.
const TELLS: f64 = 0.25;
/// No iteration takes less, seconds.
const SHORTEST: f64 = 1e-10;

/// How long trials must last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turns {
    first: f64,
    least: f64,
    most: f64,
}

impl Turns {
    /// Before the first trial of so many connections, those that load the path included.
    pub(crate) fn of(connections: u32, budget: f64) -> Self {
        let first = if connections > 1 { (TURN * f64::from(connections)).min(FIRST) } else { 0.0 };
        Self { first, least: first, most: (budget * SHARE).min(LONGEST).max(first) }
    }

    /// Seconds that a trial lasts at least.
    pub(crate) fn least(&self) -> f64 {
        self.least
    }

    /// Updates the length by a trial that was to last so long.
    pub(crate) fn saw(&mut self, flows: &Flows) {
        let next = match flows.seconds > flows.apart {
            true => (SHORTER * self.least).max(BEYOND * flows.apart),
            false => (2.0 * self.least).max(BEYOND * flows.apart),
        };
        self.least = next.clamp(self.first, self.most);
    }
}

/// Seconds that one of `repeats` iterations of a flow takes while all flows run, by a trial: known (`sure`) where most of the trial was
/// common to all, and else between what a flow takes by itself and what all take one after another. Where messages of a stream were lost,
/// what a sender took to hand one over.
pub(crate) fn each(flows: &Flows, repeats: u64) -> Each {
    let (all, count) = (flows.iterations(), flows.each.len().max(1) as f64);
    let slowest = flows.each.iter().map(|flow| flow.sent).filter(|sent| *sent > 0.0).fold(f64::INFINITY, f64::min);
    let handed_over = slowest.recip();
    if handed_over > 0.0 && flows.each.iter().any(|flow| flow.lost > 0) {
        // Receivers that miss messages count few: by their time an iteration might take none or take so long that the next trial would not
        // end.
        return Each { seconds: handed_over.max(SHORTEST), sure: true };
    }
    if flows.seconds > TELLS * flows.span && all > 0.0 {
        return Each { seconds: (flows.seconds * count / all).max(SHORTEST), sure: true };
    }
    let alone = (flows.span - flows.apart).max(0.0);
    let between = (alone * flows.span).sqrt() / repeats.max(1) as f64;
    Each { seconds: between.max(handed_over).max(SHORTEST), sure: false }
}

/// Time of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Each {
    pub seconds: f64,
    /// Whether the flows ran at once for long enough to know it.
    pub sure: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowReport;

    fn flows(seconds: f64, span: f64, apart: f64, iterations: f64) -> Flows {
        Flows { seconds, span, apart, each: vec![FlowReport { iterations, ..FlowReport::default() }; 2] }
    }

    #[test]
    fn trials_grow_until_all_run_at_once_and_shrink_again() {
        let mut turns = Turns::of(8, 12.0);
        assert_eq!(turns.least(), 0.04);
        turns.saw(&flows(0.0, 0.05, 0.02, 0.0));
        assert_eq!(turns.least(), 0.08);
        turns.saw(&flows(0.0, 0.3, 0.1, 0.0));
        assert!((turns.least() - 0.3).abs() < 1e-9, "far apart: {turns:?}");
        (0..20).for_each(|_| turns.saw(&flows(0.0, 1.0, 0.9, 0.0)));
        assert_eq!(turns.least(), 1.0, "and no further");
        turns.saw(&flows(0.5, 0.7, 0.1, 5.0));
        assert_eq!(turns.least(), 0.9);
        (0..60).for_each(|_| turns.saw(&flows(0.2, 0.2, 0.001, 5.0)));
        assert_eq!(turns.least(), 0.04);
    }

    #[test]
    fn a_short_budget_keeps_trials_short_and_one_flow_needs_no_turns() {
        let mut turns = Turns::of(4, 1.0);
        (0..20).for_each(|_| turns.saw(&flows(0.0, 1.0, 0.9, 0.0)));
        assert_eq!(turns.least(), 0.1);
        assert_eq!(Turns::of(1, 12.0).least(), 0.0);
        assert_eq!(
            Turns::of(128, 0.01).least(),
            0.1,
            "the budget is short, but no trial without its first length tells anything"
        );
    }

    #[test]
    fn what_flows_did_one_after_another_does_not_tell_how_long_they_take_at_once() {
        // Two flows of ten iterations: at once for most of the time, and one after another.
        assert_eq!(each(&flows(0.9, 1.0, 0.1, 9.0), 10), Each { seconds: 0.1, sure: true });
        let apart = each(&flows(0.0, 1.0, 0.75, 0.0), 10);
        assert!((apart.seconds - 0.05).abs() < 1e-12 && !apart.sure, "between 0.025 alone and 0.1 for all: {apart:?}");
        assert_eq!(each(&flows(0.0, 0.0, 0.0, 0.0), 10).seconds, SHORTEST);
        let handed = |sent, lost| FlowReport { sent, lost, ..FlowReport::default() };
        // Two senders that took 10 and 20 us for each message, of which nothing arrived: no time passed at the receivers.
        let nothing = Flows { each: vec![handed(1e5, 9), handed(5e4, 10)], ..flows(0.0, 0.1, 0.1, 0.0) };
        assert_eq!(each(&nothing, 10), Each { seconds: 1.0 / 5e4, sure: true });
        // All that came was read out of a buffer in no time.
        let late = Flows { each: vec![handed(1e5, 0); 2], ..flows(0.0, 0.1, 0.1, 0.0) };
        assert_eq!(each(&late, 10), Each { seconds: 1e-5, sure: false });
    }
}
