//! Warnings: what a reader of the figures must know, its likely cause, and what to do.

use host::Taken;
use stats::Saw;
use transport::{Ends, Name};
use units::{BitRate, Bytes, Seconds, Share};

use crate::Topology;
use crate::apart::{Apart, apart, why};
use crate::event::{Figures, Plan, Trial, Warning, Why};
use crate::figures::Common;
use crate::noisy::noisy;
use crate::place::Place;
use crate::report::{TrialReport, copies};
use crate::taken_by;
use crate::warned::warning;

pub use crate::burst::burst;
pub use crate::noisy::SHARING;
pub use crate::warned::Judged;

/// A single iteration this many medians long is a pause.
const PAUSE: f64 = 20.0;
/// Share of the time spent in pauses from which on a warning is given.
const PAUSED: f64 = 0.05;
/// Shortest pause that counts, seconds: shorter ones are the machine's own interrupts.
const PAUSE_LEAST: f64 = 5e-3;

/// The transport can't carry the largest sizes asked for.
pub fn capped(kind: Name, most: u64) -> Warning {
    let text = format!("{kind} carries messages of at most {}; larger sizes are left out", Bytes(most));
    warning("capped", vec![most], text)
}

/// Both sides keep to one CPU.
pub fn one_cpu(cpu: u32) -> Warning {
    let text = format!(
        "both sides may run on CPU {cpu} alone: a message waits until its sender lets go of the CPU, and a side that spins (shm, MPI) keeps it for \
         milliseconds; --pin A,B gives each side a CPU of its own, where whoever started pipegauge leaves it more than one (taskset, and the binding of \
         mpirun and mpiexec), and openmpi:wait=yield or mpich:wait=yield lets the other side run"
    );
    warning("one-cpu", Vec::new(), text)
}

/// Members of a group that do something together have fewer CPUs than there are members. `yields` is what makes a waiting member of the path give its CPU
/// away, as it is typed; none where nothing does, or where it is set.
pub fn crowded(members: usize, cpus: usize, yields: Option<&str>) -> Warning {
    let cpus_words = units::counted(cpus as u64, "CPU");
    let fewer = (cpus > 1).then(|| format!("--members {cpus} gives each a CPU of its own"));
    let yields = yields.map(|set| format!("with {set} a member that waits gives its CPU away"));
    let remedies: Vec<String> = fewer.into_iter().chain(yields).collect();
    let so = if remedies.is_empty() { String::new() } else { format!(" ({})", remedies.join("; ")) };
    let text = format!(
        "{members} members of the group share {cpus_words}, so that they take turns within each operation, and times include the waits for a turn{so}"
    );
    warning("crowded", Vec::new(), text)
}

/// Near processes run on several hosts, whose speed nothing here looks at before each round as it does on one near host.
pub fn near_hosts(hosts: &[&str]) -> Warning {
    let text = format!(
        "the near processes run on {} ({}), and nothing tells how fast these machines are before each round, as it does of one near host and \
         of far ones: where runs differ, compare can't tell a machine that became slower from a path that did; measure both sides in one run \
         (--vs), which takes turns",
        if hosts.len() == 1 { "another host".to_owned() } else { format!("{} hosts", hosts.len()) },
        hosts.join(", ")
    );
    warning("near-hosts", Vec::new(), text)
}

/// Why a curve ends below the largest size asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// One message takes too long.
    Slow,
    /// The budget has no room.
    Budget {
        /// Seconds that the first look has taken so far.
        looked: f64,
    },
}

/// The survey stopped before the largest size: sizes from `first` up are left out, as a message of `size` was expected to take so long.
pub fn stopped_short(plan: &Plan, first: u64, size: u64, expected: f64, stop: Stop) -> Warning {
    let why = match stop {
        Stop::Slow => "the paper's rule ends a curve where one message takes longer than a second".to_owned(),
        Stop::Budget { looked } => format!(
            "the first look at the smaller sizes has taken {}, so that the time for the curve (and an open loop's schedule) leaves no \
             room for it (--budget gives more; on a busy machine other programs take it)",
            Seconds(looked)
        ),
    };
    let facts = plan.pattern.facts();
    let (what, expected) = match plan.burst.max(1) {
        // Its messages go one after another, and none is timed alone.
        burst if facts.bursts => (format!("a burst of {burst} messages"), expected * (facts.ways)(burst) as f64),
        _ => ("a message".to_owned(), expected),
    };
    let text = format!(
        "sizes from {} up are left out: {what} of {} would take about {}, and {why}",
        Bytes(first),
        Bytes(size),
        Seconds(expected)
    );
    warning("stopped-short", vec![first], text)
}

/// So many of the planned sizes were left out, because a look at one took `each` seconds.
pub fn thinned(left_out: usize, planned: usize, each: f64) -> Warning {
    let text = format!(
        "{left_out} of {planned} sizes are left out, spread over the curve: a first look at one took {} on this machine, so that all of \
         them would have too few rounds (other programs hold the CPUs, or the far side is far; --budget gives more time)",
        Seconds(each)
    );
    warning("thinned", Vec::new(), text)
}

/// Nothing gets through from this size up.
pub fn nothing_arrives(kind: Name, size: u64, reached: u64) -> Warning {
    let text = format!(
        "of {} messages none arrived, so {} and larger are left out; up to {} they do (a network may drop what doesn't fit one \
         packet; --loss-timeout waits longer before a message counts as lost)",
        kind,
        Bytes(size),
        Bytes(reached)
    );
    warning("nothing-arrives", vec![size], text)
}

/// Sizes that were tried and have no figure, and the share of their messages that was lost.
pub fn figureless(plan: &Plan, path: u32, sizes: Vec<u64>, lost: f64) -> Option<Warning> {
    let first = *sizes.first()?;
    let never_at_once = never_at_once(plan.topology(path), lost);
    let (code, why) = match plan.flows(path) {
        1 if plan.load(path).is_some() => (
            UNLOADED,
            "the loading flows carried nothing in any of their trials, or too little of what was sent arrived (longer trials, --repeats, or \
             smaller messages, --load-size, show a slow load)",
        ),
        1 => ("no-figure", "too little of what was sent arrived to time it"),
        _ => (APART, &*never_at_once),
    };
    let text =
        format!("{} sizes have no figure (the first: {}): {why}", sizes.len(), plan.pattern.facts().size.words(first));
    Some(warning(code, sizes, text))
}

/// Code of the warning that a load carried nothing.
const UNLOADED: &str = "load-idle";

/// Trials during which loading flows carried nothing: they do not count.
fn unloaded(points: &[Judged<'_>]) -> Option<Warning> {
    let counted = |p: &Judged<'_>| p.trials.iter().filter(|t| !t.warmup).count();
    let idle = |p: &Judged<'_>| p.trials.iter().filter(|t| !t.warmup && !t.report.under_its_load()).count();
    let of: usize = points.iter().map(counted).sum();
    let hit: Vec<(u64, usize)> = points.iter().map(|p| (p.size, idle(p))).filter(|(_, n)| *n > 0).collect();
    let all: usize = hit.iter().map(|(_, n)| n).sum();
    let text = format!(
        "in {all} of {of} trials the loading flows carried nothing, and these trials do not count: they were over before a message of the \
         load was (longer trials, --repeats, or smaller messages, --load-size), or other programs held the CPUs"
    );
    (all > 0).then(|| warning(UNLOADED, hit.into_iter().map(|(size, _)| size).collect(), text))
}

/// Share of the time that flows must run at once; with less, figures are of a small part of it.
const TOGETHER: f64 = 0.5;
/// Code of the warning of that.
const APART: &str = "flows-apart";

/// Why flows, pairs or members that never ran at once have no figure, and what helps.
fn never_at_once(topology: Topology, lost: f64) -> String {
    let (all, flag) = (topology.several(), topology.flag());
    if lost > LOSSY {
        return format!("in no trial did messages of all {all} arrive at once: {}", lossy(lost));
    }
    format!(
        "in no trial did all {all} run at once: they took turns on their CPUs, or too little arrived (larger --repeats make trials longer; \
         fewer {flag} need fewer turns)"
    )
}

/// Share of messages lost from which on losses, not CPUs, keep flows apart.
const LOSSY: f64 = 0.1;

/// What keeps flows apart whose messages are lost, and what helps.
fn lossy(lost: f64) -> String {
    format!(
        "{} of what was sent was lost, and a receiver has no part in the time in which nothing comes (a larger --sockbuf holds more of what \
         comes at once; smaller messages and larger --repeats help, too)",
        Share(lost)
    )
}

/// Share of the messages of these trials that was lost, as their receivers counted.
pub(crate) fn lost<'a>(trials: impl Iterator<Item = &'a Trial>) -> f64 {
    let (mut lost, mut all) = (0.0, 0.0);
    for far in trials.map(|t| &t.report.far) {
        lost += far.lost as f64;
        all += far.lost.saturating_add(far.received) as f64;
    }
    if all > 0.0 { lost / all } else { 0.0 }
}

/// The flows, pairs or members of a path began or ended far apart.
fn flows_apart(plan: &Plan, points: &[Judged<'_>]) -> Option<Warning> {
    let apart: Vec<(u64, f64)> = points
        .iter()
        .filter_map(|p| Some((p.size, p.figures.flows?.together)))
        .filter(|(_, t)| *t < TOGETHER)
        .collect();
    let (size, least) = apart.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let topology = plan.topology(points.iter().find_map(|p| p.trials.first())?.path);
    let (all, flag) = (topology.several(), topology.flag());
    let lost = lost(points.iter().filter(|p| apart.iter().any(|(size, _)| *size == p.size)).flat_map(|p| p.trials));
    let why = match lost > LOSSY {
        true => lossy(lost),
        false => format!(
            "they took turns on their CPUs, or one was much slower than another (larger --repeats make trials longer; fewer {flag} than CPUs \
             need no turns)"
        ),
    };
    let text = format!(
        "all {all} ran at once for {} of a trial's time at the size {size}, and only that part counts: {why}",
        Share(least)
    );
    Some(warning(APART, apart.into_iter().map(|(size, _)| size).collect(), text))
}

/// Whole rounds, at all sizes alike, lie far apart ([`apart`]). Others that took enough of the pinned CPUs for that are the likely cause; else
/// the machine's yardsticks tell its place. Of the modelled link, which runs on no machine, the link is named.
pub fn unsteady(common: &Common, kind: Name, taken: Option<Taken>, place: Place) -> Option<Warning> {
    let Apart { slowest, fastest } = apart(common)?;
    let levels: Vec<(u32, f64)> = common.levels().collect();
    let times = (slowest.1 - fastest.1).exp();
    let (it, causes) = match kind.ends() {
        Ends::Modelled => ("the modelled link", "--theory round-noise=".to_owned()),
        _ => ("the path", why(kind, taken.as_ref(), times, place)),
    };
    let what = match common.shared.moves.saw(common.shared.sigma) {
        Saw::One => return None,
        Saw::Few | Saw::OneOfTwo | Saw::Outlasting => format!(
            "{it} changed its state ({causes}); a repeat may find it in another state, and one median stands for no \
             single one"
        ),
        Saw::Lasting => format!(
            "{it}'s states ({causes}) lasted for some rounds; medians are over all of them, and a shorter run may meet \
             one alone"
        ),
        Saw::OneFar(_) => format!(
            "all other rounds lie near each other: something held {it} up or sped it up once ({causes}), and the medians \
             pass it by"
        ),
        Saw::Changing => format!("{it} changed its speed from round to round ({causes}); medians are over all of them"),
    };
    let middle = (slowest.1 + fastest.1) / 2.0;
    let slow = levels.iter().filter(|l| l.1 > middle).count();
    let text = format!(
        "the whole curve moved during the run: round {} took {:.2} times as long as round {} at all sizes alike ({slow} of {} \
         rounds lie nearer the slow end); {what}",
        slowest.0,
        times,
        fastest.0,
        levels.len(),
    );
    Some(warning("unsteady", Vec::new(), text))
}

/// All warnings of a path's figures. `place` is where it lies that rounds took longer than others.
pub fn warnings(
    plan: &Plan,
    kind: Name,
    points: &[Judged<'_>],
    common: &Common,
    taken: Option<Taken>,
    place: Place,
) -> Vec<Warning> {
    let mut all = taken.as_ref().map_or(Vec::new(), taken_by::warnings);
    all.extend(noisy(plan, kind, points, common, taken.as_ref(), place));
    all.extend(unsettled(plan, points));
    // Flows that share CPUs pause while others run.
    let several = points.iter().any(|p| p.figures.flows.is_some());
    if kind.ends() != Ends::Copied && !several {
        all.extend(paused(plan, kind, points, taken.as_ref()));
    }
    all.extend(unreliable(plan, kind, points));
    all.extend(flows_apart(plan, points));
    all.extend(copied(points));
    all.extend(strangers(points));
    all.extend(unloaded(points));
    all.extend(rate_missed(plan, points));
    if plan.schedule == crate::event::Schedule::Netpipe {
        let text = "intervals of the netpipe schedule come from trials one after another: they miss what differs between \
                    runs, which --schedule adaptive measures";
        all.push(warning("one-round", Vec::new(), text.into()));
    }
    all
}

/// Whether an interval that was computed once the time was over reaches no further than was asked for: this moment was not chosen by the
/// data, unlike that of a point that ends early (`settled`), where chance has a part.
pub(crate) fn reached(plan: &Plan, figures: &Figures) -> bool {
    figures.reach() <= plan.precision
}

/// Without `--precision` no point misses it.
fn unsettled(plan: &Plan, points: &[Judged<'_>]) -> Option<Warning> {
    if !plan.precise {
        return None;
    }
    let open = points.iter().filter(|p| p.ended == Some(Why::Budget) && !reached(plan, &p.figures));
    let open: Vec<u64> = open.map(|p| p.size).collect();
    if open.is_empty() {
        return None;
    }
    let text = format!(
        "{} of {} points did not reach a precision of {} within {}; --budget gives more time, --precision asks for less",
        open.len(),
        points.len(),
        Share(plan.precision),
        Seconds(plan.budget),
    );
    Some(warning("not-converged", open, text))
}

/// What may be pauses of a trial, as (seconds, how many): single iterations; of chunks of several, those that took over twice as long as most,
/// less what a chunk takes. A path that is slower for a while makes many chunks longer, none of them by much, and does not stand still.
fn pauses_of(report: &TrialReport) -> Vec<(f64, u64)> {
    let seconds = |ns: u64| ns as f64 * 1e-9;
    if !report.histogram.is_empty() {
        return report.histogram.iter().map(|&(ns, n)| (seconds(ns), n)).collect();
    }
    let longest = report.pauses.iter().map(|(_, ns)| seconds(*ns)).fold(0.0, f64::max);
    // The longest chunk is among them.
    let chunk = if report.max > 0.0 { report.median * longest / report.max } else { 0.0 };
    report.pauses.iter().map(|(_, ns)| (seconds(*ns) - chunk, 1)).collect()
}

/// A closed loop sends nothing while the far side stands still, so its percentiles hide the pause from all but one iteration; the time that
/// passed shows it. Whoever took enough of the CPUs for that is the likely cause.
fn paused(plan: &Plan, kind: Name, points: &[Judged<'_>], taken: Option<&Taken>) -> Option<Warning> {
    if plan.scheduled() {
        return None;
    }
    let (mut total, mut stood, mut pauses, mut longest) = (0.0, 0.0, 0u64, 0.0f64);
    for t in points.iter().flat_map(|p| p.trials).filter(|t| !t.warmup) {
        total += t.report.seconds;
        let least = (t.report.median * PAUSE).max(PAUSE_LEAST);
        for (s, n) in pauses_of(&t.report).into_iter().filter(|(s, _)| *s > least) {
            (stood, pauses, longest) = (stood + s * n as f64, pauses + n, longest.max(s));
        }
    }
    if total <= 0.0 || stood / total < PAUSED {
        return None;
    }
    let facts = plan.pattern.facts();
    let how = if !kind.capabilities().schedules() {
        "a closed loop sends nothing meanwhile, so that one message alone is charged with each pause, and percentiles hide what a user would \
         have waited"
    } else if facts.on_schedule.is_some() {
        "a closed loop sends nothing meanwhile, so its percentiles hide what a user would have waited; --rate N sends on \
         schedule and charges the wait"
    } else {
        "this pattern hides what a user would have waited; --pattern ping-pong --rate N sends on schedule and charges the wait"
    };
    let (who, how) = facts.paused.unwrap_or(("the path", how));
    // What runs for this share of the time takes so many times as long. The modelled link shares its clock with nobody.
    let why = match taken_by::enough(taken, 1.0 / (1.0 - stood / total).max(f64::MIN_POSITIVE)) {
        _ if kind.ends() == Ends::Modelled => String::new(),
        Ok(found) => format!(" ({})", taken_by::likely(found)),
        Err(nobody) => format!(" ({nobody})"),
    };
    let text = format!(
        "{who} stood still for {} of the time, in {} of up to {}{why}: {how}",
        Share(stood / total),
        units::counted(pauses, "pause"),
        Seconds(longest),
    );
    Some(warning("closed-loop", Vec::new(), text))
}

/// Sends that were posted to avoid a copy, and were copied nevertheless.
fn copied(points: &[Judged<'_>]) -> Option<Warning> {
    let told = points.iter().flat_map(|p| p.trials).map(|t| t.report.copied);
    let (some, all) = copies(told).filter(|(some, _)| *some > 0)?;
    let text = format!(
        "the kernel copied what was posted in {} of {all} calls: over loopback it always does, so that these figures are of a copy and of the \
         completions beside it; what sends without a copy are worth shows a network device",
        Share(some as f64 / all as f64)
    );
    Some(warning("copied", Vec::new(), text))
}

/// Others sent to where the receivers of a group listen.
fn strangers(points: &[Judged<'_>]) -> Option<Warning> {
    let hit: Vec<(u64, u64)> = points
        .iter()
        .map(|p| (p.size, p.trials.iter().fold(0, |all: u64, t| all.saturating_add(t.report.far.strangers))))
        .filter(|(_, count)| *count > 0)
        .collect();
    let all = hit.iter().fold(0, |all: u64, (_, count)| all.saturating_add(*count));
    let text = format!(
        "{all} datagrams that are none of this measurement came to the group's address and port: they were dropped, which cost the receivers time \
         (address= and port= of the path choose others)"
    );
    (all > 0).then(|| warning("strangers", hit.into_iter().map(|(size, _)| size).collect(), text))
}

/// Share of the rate that may be missed before a warning is given. (A send that leaves late after a pause counts in the time of the pause,
/// as it should; only a rate that is not reached at all makes a backlog without end.)
const MISSED: f64 = 0.05;

/// The schedule of an open loop could not be kept: its times then are those of the backlog, not of the path.
fn rate_missed(plan: &Plan, points: &[Judged<'_>]) -> Option<Warning> {
    let (mut missed, mut worst) = (Vec::new(), f64::INFINITY);
    for p in points {
        let rate = plan.gap(p.size)?.recip();
        let counted = || p.trials.iter().filter(|t| !t.warmup);
        let sum = |f: fn(&Trial) -> f64| counted().map(f).sum::<f64>();
        let (iterations, seconds) = (sum(|t| t.report.repeats as f64), sum(|t| t.report.seconds));
        // Of several flows, messages that arrived are counted; each sender has a rate of its own, and the slowest decides.
        let slowest =
            |t: &Trial| t.report.flows.as_ref().map(|f| f.each.iter().map(|flow| flow.sent).fold(f64::MAX, f64::min));
        let senders: Vec<f64> = counted().filter_map(slowest).filter(|sent| *sent > 0.0).collect();
        let reached = match seconds > 0.0 {
            _ if !senders.is_empty() => stats::median(&senders),
            true => iterations / seconds,
            false => rate,
        };
        if reached < rate * (1.0 - MISSED) {
            missed.push(p.size);
            worst = worst.min(reached / rate);
        }
    }
    if missed.is_empty() {
        return None;
    }
    if let Some(offered) = plan.offered {
        let text = format!(
            "the sender could not offer {} at {} of {} sizes (the least: {}): the path held it up, or it can't make messages so fast; \
             throughput and loss there are those of the lower rate that the column sender shows",
            BitRate(offered),
            missed.len(),
            points.len(),
            BitRate(offered * worst),
        );
        return Some(warning("rate-missed", missed, text));
    }
    let rate = plan.rate?;
    let text = format!(
        "the schedule of {} a second was not kept at {} of {} sizes (the least reached: {} a second): times there count from \
         the schedule and so hold the backlog; a lower --rate shows the path",
        Count(rate),
        missed.len(),
        points.len(),
        Count(rate * worst.min(1.0)),
    );
    Some(warning("rate-missed", missed, text))
}

/// A number of events, rounded to the digits that matter.
struct Count(f64);

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < 10.0 { write!(f, "{:.2}", self.0) } else { write!(f, "{:.0}", self.0) }
    }
}

/// Shares of the messages of each direction that were lost in the trials that count: each flow sends as many.
fn of_ways(trials: &[Trial]) -> Option<[f64; 2]> {
    let counted =
        || trials.iter().filter(|t| !t.warmup).filter_map(|t| Some((t.report.flows.as_ref()?, &t.report.far)));
    let sent: u64 = counted().map(|(_, far)| far.received.saturating_add(far.lost)).fold(0, u64::saturating_add) / 2;
    let lost = |back: bool| counted().flat_map(|(flows, _)| flows.way(back)).map(|flow| flow.lost as f64).sum::<f64>();
    (sent > 0).then(|| [false, true].map(|back| (lost(back) / sent as f64).min(1.0)))
}

fn unreliable(plan: &Plan, kind: Name, points: &[Judged<'_>]) -> Option<Warning> {
    let lossy: Vec<&Judged<'_>> = points.iter().filter(|p| p.figures.loss > 0.0).collect();
    let worst = lossy.iter().max_by(|a, b| a.figures.loss.total_cmp(&b.figures.loss))?;
    let ways = of_ways(worst.trials).filter(|_| plan.both).map_or(String::new(), |[there, back]| {
        format!(" ({} of those to the far side, {} of those back)", Share(there), Share(back))
    });
    let text = format!(
        "{kind} lost messages at {} of {} sizes, at worst {} at {}{ways}; times are those of the messages that arrived \
         (--sockbuf with a larger buffer often helps)",
        lossy.len(),
        points.len(),
        Share(worst.figures.loss),
        Bytes(worst.size),
    );
    Some(warning("loss", lossy.iter().map(|p| p.size).collect(), text))
}
