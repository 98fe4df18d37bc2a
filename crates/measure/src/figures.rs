//! From trials to the figures of a point. Pure: the driver computes them during a run, readers when they rebuild a run cut short.

mod clock;
mod common;
pub mod cost;
mod lost;
mod percentiles;
mod several;
mod tail;
mod ways;

use transport::{Ends, Name};

use crate::event::{Figures, LoadFigures, Plan, Schedule, TimeKind, Trial};
use crate::pattern::InGroup;
use crate::{FlowReport, Flows};

pub use clock::widened;
pub use common::Common;
pub use lost::{Lost, arrived_a_second};
pub use percentiles::Singles;
pub use ways::ways;

/// Which time the figures of a path are. Several flows have one time between two transfers of any of them; where no answers are awaited it
/// is the time of one message, as of a single flow.
pub fn time_kind(plan: &Plan, kind: Name, flows: u32) -> TimeKind {
    let facts = plan.pattern.facts();
    match facts.on_schedule.filter(|_| plan.rate.is_some()).unwrap_or(facts.time) {
        TimeKind::Answer => TimeKind::Answer,
        time if flows > 1 && time != TimeKind::OneWay && !whole_group(plan) => TimeKind::Spacing,
        _ if kind.ends() == Ends::Copied => TimeKind::Copy,
        time => time,
    }
}

/// Whether an iteration is one of all members of a group, so that its time is not that of a flow.
fn whole_group(plan: &Plan) -> bool {
    plan.pattern.facts().in_group == Some(InGroup::Whole)
}

/// What one iteration counts as: an iteration's time divided by this is the point's time.
pub fn transfers(plan: &Plan, trial: &Trial) -> f64 {
    (plan.pattern.facts().transfers)(plan.rate.is_some(), trial.burst)
}

/// Messages that a member of a group delivers in one of the point's times, where that is of a round: those of all who cast.
pub fn in_round(plan: &Plan, path: u32, kind: TimeKind) -> Option<f64> {
    let senders = match kind {
        TimeKind::Round => f64::from(plan.flows(path)) + 1.0,
        TimeKind::Delivery => 1.0,
        _ => return None,
    };
    Some(plan.burst.max(1) as f64 * senders)
}

/// Bits that cross the path in one of the point's times.
pub(crate) fn bits(plan: &Plan, trial: &Trial) -> f64 {
    (plan.pattern.facts().bytes)(trial, plan.rate.is_some()) as f64 * 8.0
}

/// A trial's typical time, seconds of the point's kind: the median over its chunks; of a stream the receiver's time, or the sender's where
/// the receiver [read out of a buffer](out_of_a_buffer); of several flows the time in which all ran over what they did in it, or that of
/// their senders together. None where nothing completed or nothing was timed, or where a load that was to be there carried nothing.
pub fn typical(plan: &Plan, kind: Name, trial: &Trial) -> Option<f64> {
    let r = &trial.report;
    if !r.under_its_load() {
        return None;
    }
    let seconds = if let Some(flows) = r.flows.as_ref().filter(|_| !whole_group(plan)) {
        // A direction in which nothing moved while all flows ran was not measured.
        if plan.both && [false, true].iter().any(|back| idle(flows.way(*back))) {
            return None;
        }
        let each = match handed_over(flows).filter(|_| out_of_a_buffer(plan, trial)) {
            Some(sent) => sent.recip(),
            None => flows.seconds / flows.iterations(),
        };
        each / transfers(plan, trial)
    } else if timed_there(trial) {
        if out_of_a_buffer(plan, trial) { r.each_sent() } else { r.each_received(trial.size) }
    } else if untimed(plan, kind) {
        return None;
    } else if r.median > 0.0 {
        r.median / transfers(plan, trial)
    } else if r.repeats > 0 {
        r.seconds / r.repeats as f64 / transfers(plan, trial)
    } else {
        return None;
    };
    (seconds > 0.0 && seconds.is_finite()).then_some(seconds)
}

/// Factor by which a stream must have been received faster than sent for its receiver to have read out of a buffer.
pub(crate) const OUT_OF_A_BUFFER: f64 = 4.0;

/// Whether the receiver of a stream found messages in a buffer when its clock started and read them far faster than they were sent: nothing
/// is received faster for long than it is sent. While a connection's window opens, the sender's time includes that of the warm-up and is up
/// to about twice the receiver's; a sender that is shaped here keeps the rate exactly. Reversed, the sender's time is reported by the other
/// side, and is only used under the shape that both sides were told. Trials of older versions, whose sender's time included what came after
/// its last send, counted fewer bytes than were sent.
pub(crate) fn out_of_a_buffer(plan: &Plan, trial: &Trial) -> bool {
    let r = &trial.report;
    let shaped = plan.decorators.shape.is_some();
    let least = if shaped { 1.0 } else { OUT_OF_A_BUFFER };
    let told = match r.flows {
        // For flows that the far side sends, its report is the only source.
        Some(_) => plan.pattern.facts().unanswered && (shaped || !plan.reverse && !plan.both),
        None => r.far.bytes == r.repeats.saturating_mul(trial.size) && (shaped || !plan.reverse),
    };
    told && times_as_sent(trial).is_some_and(|times| times > least)
}

/// Factor by which a stream was received faster than it was sent, all flows together; none where either is unknown.
pub(crate) fn times_as_sent(trial: &Trial) -> Option<f64> {
    let r = &trial.report;
    let times = match &r.flows {
        Some(flows) => flows.iterations() / flows.seconds / handed_over(flows)?,
        None => r.each_sent() / r.each_received(trial.size),
    };
    (times > 0.0 && times.is_finite()).then_some(times)
}

/// Messages a second that all senders handed over together; none where that is not known of each.
fn handed_over(flows: &Flows) -> Option<f64> {
    let told = !flows.each.is_empty() && flows.each.iter().all(|flow| flow.sent > 0.0);
    told.then(|| flows.each.iter().map(|flow| flow.sent).sum())
}

/// Seconds that an iteration of a trial took at least, to plan the length of the next: of a stream that was read out of a buffer, by the
/// sender's time.
pub(crate) fn took(plan: &Plan, trial: &Trial) -> f64 {
    let r = &trial.report;
    if out_of_a_buffer(plan, trial) { r.each_sent() } else { r.median.max(r.each_received(trial.size)) }
}

fn idle(flows: &[FlowReport]) -> bool {
    flows.iter().all(|flow| flow.iterations <= 0.0)
}

/// Whether the receiver timed the trial.
fn timed_there(trial: &Trial) -> bool {
    trial.report.far.seconds > 0.0 && trial.report.far.bytes > 0
}

/// Whether a trial that its receiver did not time has no time at all: the sender of a stream knows only how fast it could hand messages
/// over, which is not what a lossy path carried.
fn untimed(plan: &Plan, kind: Name) -> bool {
    plan.pattern.facts().unanswered && kind.ends() != Ends::Copied
}

/// A trial's mean time: what the paper's minimum is taken over.
pub(crate) fn whole(plan: &Plan, kind: Name, trial: &Trial) -> Option<f64> {
    let r = &trial.report;
    // An open loop's trial lasts as long as its schedule.
    if r.flows.is_some() && !whole_group(plan) || timed_there(trial) || untimed(plan, kind) || plan.rate.is_some() {
        return typical(plan, kind, trial);
    }
    (r.repeats > 0 && r.seconds > 0.0).then(|| r.seconds / r.repeats as f64 / transfers(plan, trial))
}

/// The trials that count: those that are not warm-up, or all while there is nothing better; never one whose load carried nothing.
pub fn counted<'a>(trials: &[&'a Trial]) -> Vec<&'a Trial> {
    let loaded: Vec<_> = trials.iter().copied().filter(|t| t.report.under_its_load()).collect();
    let warm: Vec<_> = loaded.iter().copied().filter(|t| !t.warmup).collect();
    if warm.is_empty() { loaded } else { warm }
}

/// Median time of each round that visited a point (the shortest where the pattern keeps the best), in round order: seconds of the point's
/// kind, without the difference between the trial's moment and its round's level. The NetPIPE schedule has no rounds: each trial counts as
/// one, numbered in order. The survey's trials of a size that no round visited count as one round together.
pub fn rounds(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> Vec<(u32, f64)> {
    let mut values: Vec<(u32, f64)> = counted(trials)
        .into_iter()
        .filter_map(|t| Some((t.round, typical(plan, kind, t)? / common.within(t).exp())))
        .collect();
    if trials.iter().all(|t| t.warmup)
        && let Some((first, _)) = values.first().copied()
    {
        values.iter_mut().for_each(|(round, _)| *round = first);
    }
    by_round(plan, values)
}

/// One time (seconds) for each round, from (round, seconds) of single trials.
fn by_round(plan: &Plan, mut values: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    if plan.schedule == Schedule::Netpipe {
        return values.into_iter().zip(0..).map(|((_, t), i)| (i, t)).collect();
    }
    if values.len() < 2 {
        return values;
    }
    let keeps_best = plan.pattern.facts().keeps_best;
    values.sort_by_key(|(round, _)| *round);
    values
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| {
            let times: Vec<f64> = same.iter().map(|(_, t)| *t).collect();
            let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
            (same[0].0, if keeps_best { best(&times) } else { stats::median(&times) })
        })
        .collect()
}

/// The rounds of a point at the run's typical level, seconds of the point's kind: [`rounds`], each divided by its round's level.
pub fn at_level(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> Vec<f64> {
    levelled(&rounds(plan, kind, trials, common), common)
}

/// Standard error of the logarithm of a point's median at the run's typical level: its interval rests on it and on the error of the level.
/// None where it is not known.
pub fn error(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> Option<stats::StandardError> {
    let seen = rounds(plan, kind, trials, common);
    let at_level = levelled(&seen, common);
    match trials.first().and_then(|t| common.local(t.size)) {
        Some(local) => local.error(&numbered(&seen, at_level), &common.shared),
        None => stats::own_error(&at_level, &common.shared),
    }
}

/// These times with the numbers of their rounds.
fn numbered(seen: &[(u32, f64)], at_level: Vec<f64>) -> Vec<(u32, f64)> {
    seen.iter().map(|(round, _)| *round).zip(at_level).collect()
}

/// Rounds and their seconds at the run's typical level.
fn levelled(seen: &[(u32, f64)], common: &Common) -> Vec<f64> {
    seen.iter().map(|(round, t)| t / common.level(*round).exp()).collect()
}

/// How far the clock's resolution may put all rounds of a point off the truth to the same side, seconds of the point's kind; 0 where noise
/// spreads them over more than that resolution. `seen` are the point's [`rounds`].
pub fn rounding(plan: &Plan, trials: &[&Trial], seen: &[(u32, f64)], common: &Common) -> f64 {
    hidden(plan, &counted(trials), seen, &levelled(seen, common), common)
}

/// [`rounding`] of a point whose rounds are known at the typical level, too.
fn hidden(plan: &Plan, used: &[&Trial], seen: &[(u32, f64)], at_level: &[f64], common: &Common) -> f64 {
    let times: Vec<f64> = seen.iter().map(|(_, t)| *t).collect();
    clock::rounding(stats::median(at_level), &times, at_level, clock::grain(plan, used, &common.clock))
}

/// The figures of one point, or none where no trial completed. `common` is what the path's points have in common; with its default the
/// point rests on its own rounds only.
pub fn figures(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> Option<Figures> {
    let facts = plan.pattern.facts();
    let used = counted(trials);
    let seen = rounds(plan, kind, trials, common);
    let at_level = levelled(&seen, common);
    let sample = used.first()?;
    let wholes: Vec<(f64, f64)> =
        used.iter().filter_map(|t| Some((whole(plan, kind, t)?, t.report.repeats as f64))).collect();
    if at_level.is_empty() || wholes.is_empty() {
        return None;
    }
    let median = stats::median(&at_level);
    let rounding = hidden(plan, &used, &seen, &at_level, common);
    let interval = told(interval(plan, sample.size, &seen, common), median, rounding);
    // As they were timed, with the machine's states in them.
    let as_timed = rounds(plan, kind, trials, &Common::default());
    let ends = |pick: fn(f64, f64) -> f64| as_timed.iter().map(|(_, t)| *t).fold(median, pick);
    let weight: f64 = wholes.iter().map(|(_, n)| n).sum();
    let mean = wholes.iter().map(|(t, n)| t * n).sum::<f64>() / weight.max(1.0);
    let times: Vec<f64> = wholes.iter().map(|(t, _)| *t).collect();
    let sum = |f: fn(&Trial) -> u64| used.iter().map(|t| f(t)).sum::<u64>();
    let iterations = sum(|t| t.report.repeats);
    let received = sum(|t| t.report.far.received);
    // A stream's receiver counts messages that never came; a side that waits for answers counts those.
    let (lost, sent) = match facts.unanswered {
        true => (sum(|t| t.report.far.lost), received + sum(|t| t.report.far.lost)),
        false => (sum(|t| t.report.lost), iterations + sum(|t| t.report.lost)),
    };
    let reordered = sum(|t| t.report.reordered + t.report.far.reordered);
    let score = facts.score.and_then(|score| score(&used, median));
    let near_seconds: f64 = used.iter().map(|t| t.report.seconds).sum();
    // What all members do together none of them does faster than another.
    let rate = |seconds: f64| bits(plan, sample) / seconds;
    let of_all = several::OfAll {
        throughput: rate(median),
        interval: stats::Interval { low: rate(interval.high), high: rate(interval.low) },
    };
    let flows = several::of_flows(&used, of_all).filter(|_| !facts.together);
    Some(Figures {
        rounds: seen.len() as u32,
        trials: used.len() as u32,
        iterations,
        min: times.iter().copied().fold(f64::INFINITY, f64::min),
        median,
        mean,
        variance: if times.len() > 1 { stats::variance(&times) } else { 0.0 },
        low: interval.low,
        high: interval.high,
        seen_low: ends(f64::min),
        seen_high: ends(f64::max),
        // Only earlier runs show it: readers that have them compute it.
        repeat_low: None,
        repeat_high: None,
        percentiles: Singles::about(plan, &used, median).map(|singles| singles.row()),
        throughput: rate(median),
        sender_throughput: (facts.unanswered && near_seconds > 0.0 && flows.is_none())
            .then(|| sample.size as f64 * 8.0 * iterations as f64 / near_seconds),
        transactions: (facts.rates)(sample)
            .filter(|_| near_seconds > 0.0)
            .map(|each| each as f64 * iterations as f64 / near_seconds),
        quality: score.map(|(quality, _)| quality),
        quips: score.map(|(_, quips)| quips),
        loss: share(lost, sent),
        reordering: share(reordered, received.max(iterations)),
        flows,
        load: of_load(&used),
    })
}

/// How long the sender of a stream was busy with each message of a point, at the run's typical level as the point's time is: seconds, their
/// interval, and each round's share of the gap of the same trial. None where its receiver answered it, or no trial completed.
pub fn sender(plan: &Plan, kind: Name, trials: &[&Trial], common: &Common) -> Option<(f64, stats::Interval, Vec<f64>)> {
    if !plan.pattern.facts().unanswered {
        return None;
    }
    let used = counted(trials);
    let (mut busy, mut shares) = (Vec::new(), Vec::new());
    for t in used.iter().filter(|t| t.report.repeats > 0 && t.report.seconds > 0.0) {
        busy.push((t.round, t.report.each_sent() / common.within(t).exp()));
        shares.extend(typical(plan, kind, t).map(|gap| (t.round, t.report.each_sent() / gap)));
    }
    let size = used.first()?.size;
    let seen = by_round(plan, busy);
    let at_level = levelled(&seen, common);
    let found = resolved(interval(plan, size, &seen, common));
    let shares = by_round(plan, shares).into_iter().map(|(_, share)| share).collect();
    (!at_level.is_empty()).then(|| (stats::median(&at_level), found, shares))
}

/// What loading flows carried while a point's trials ran; none where nothing loaded the path.
fn of_load(used: &[&Trial]) -> Option<LoadFigures> {
    let all: Vec<_> = used.iter().filter_map(|t| t.report.load).collect();
    let median = |of: fn(&crate::Carried) -> Option<f64>| {
        let rates: Vec<f64> = all.iter().filter_map(of).collect();
        (!rates.is_empty()).then(|| stats::median(&rates) * 8.0)
    };
    (!all.is_empty()).then(|| LoadFigures { there: median(|load| load.there), back: median(|load| load.back) })
}

/// The 95% interval of a point in this run, before the clock's resolution is added; none where the run can't give one.
fn interval(plan: &Plan, size: u64, seen: &[(u32, f64)], common: &Common) -> Option<stats::Interval> {
    let alone = common.shared.moves.rounds == 0 && plan.schedule != Schedule::Netpipe;
    let at_level = levelled(seen, common);
    match common.local(size) {
        _ if alone => stats::rounds_interval(&at_level, stats::CONFIDENCE),
        Some(local) => local.interval(&numbered(seen, at_level), &common.shared, stats::CONFIDENCE),
        None => stats::point_interval(&at_level, &common.shared, stats::CONFIDENCE),
    }
}

/// An interval with what the clock's resolution may hide, or none where it is not known or says nothing.
fn told(found: Option<stats::Interval>, median: f64, rounding: f64) -> stats::Interval {
    resolved(found.map(|i| clock::widened(i, median, rounding)))
}

/// An interval, or none where there is none or its ends lie a thousandfold apart: tables print none of those, and exports don't either.
pub(crate) fn resolved(found: Option<stats::Interval>) -> stats::Interval {
    found.filter(|i| i.low <= 0.0 || i.high <= units::WIDEST * i.low).unwrap_or(stats::Interval::UNBOUNDED)
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

#[cfg(test)]
mod tests {
    use super::told;
    use stats::Interval;

    #[test]
    fn ends_a_thousandfold_apart_are_no_interval() {
        let near = Interval { low: 1.0, high: 900.0 };
        let of = |found, rounding| told(found, 1.2, rounding);
        assert_eq!((of(Some(near), 0.0), of(None, 0.0)), (near, Interval::UNBOUNDED));
        assert_eq!(of(Some(Interval { low: 1.0, high: 1100.0 }), 0.0), Interval::UNBOUNDED);
        assert_eq!(of(Some(near), 0.5), Interval::UNBOUNDED, "with the clock's step they lie farther apart");
        assert_eq!(of(Some(Interval { low: 1.0, high: 2.0 }), 0.5), Interval { low: 0.7, high: 2.0 });
    }
}
