//! The summary figures of each curve, a path a row; and how each path was set up.

use measure::Topology;
use measure::event::TimeKind;
use model::{Estimate, Summary};
use record::{Analysis, PathRun, Point, RunFile};
use transport::settings::Effective;
use units::{Kind, resolved};

use super::WIDTH;
use super::grid::{Flush, Grid};
use crate::text::paragraph;
use crate::words;

/// What the titles mean, in a line or two.
const HOW_TO_READ: &str = "In brackets: 95% intervals, in this run.";
const PER_BYTE: &str = " Per byte: the slope below 1 KiB.";
const MESSAGES: &str = "Messages: those of all who cast, a second, as each member delivers them.\n";
const HALF_POWER: &str = "Half power: the size from which on half of the maximum throughput is reached.\n";

/// Explains a figure that is not resolved: printed where there is one.
pub(super) const NOT_RESOLVED: &str = "Not resolved: the interval is too wide for a figure; its ends stand under it.\n";

/// Latency, small-message time a byte, maximum throughput and half-power size of each path, each with its 95% interval in
/// the line under it.
pub fn summary(run: &Analysis<'_>) -> String {
    summary_of(run, &(0..run.paths.len()).map(|i| run.summary(i)).collect::<Vec<_>>())
}

/// What throughput counts, where that is more than messages of one direction.
fn counted(run: &RunFile) -> Option<String> {
    let plan = &run.run.plan;
    let exchanges = run.paths.iter().flat_map(|path| &path.points).any(|p| p.time == TimeKind::Exchange);
    match () {
        () if !run.carries() => None,
        () if plan.pattern.facts().responds => {
            Some(format!("Throughput counts both ways: messages and their answers of {}.", units::Bytes(plan.response)))
        }
        () if exchanges => Some("Throughput counts both directions together.".to_owned()),
        () => None,
    }
}

/// The time of each path that moves nothing of any size, with its interval: all that is told of it.
fn times_of(run: &RunFile, found: &[Option<&Summary>]) -> String {
    use Flush::{Left, Right};
    let mut grid = Grid::new(&[("path", Left), ("time", Left), ("median", Right)]);
    for (path, summary) in run.paths.iter().zip(found) {
        let time = path.points.first().map_or("-", |p| words::time_label(p.time));
        let median = summary.map_or("-".to_owned(), |s| estimate(s.latency, Kind::Seconds));
        grid.row([path.opened.name().to_owned(), time.to_owned(), median]);
    }
    let text = grid.fitted(WIDTH, &[1]);
    let not_resolved = if text.contains("not resolved") { NOT_RESOLVED } else { "" };
    format!("{text}{HOW_TO_READ}\n{not_resolved}")
}

fn summary_of(run: &RunFile, found: &[Option<&Summary>]) -> String {
    use Flush::{Left, Right};
    if !run.run.plan.pattern.facts().sized {
        return times_of(run, found);
    }
    let mut grid = Grid::new(&[
        ("path", Left),
        ("time", Left),
        (time_title(run), Right),
        ("messages", Right),
        ("per byte", Right),
        (if one_size(run) { "throughput" } else { "max throughput" }, Right),
        ("at size", Right),
        ("half power", Right),
    ]);
    let mut notes = Vec::new();
    if run.run.plan.both {
        notes.push(
            "Both directions at once: times are from one message to the next over both together, and the throughput is their sum; the tables of \
             points have each (pipegauge show RUN)."
                .to_owned(),
        );
    }
    notes.extend(counted(run));
    for (number, (path, summary)) in run.paths.iter().zip(found).enumerate() {
        let name = path.opened.name().to_owned();
        let Some(s) = summary else {
            notes.push(format!("{name}: too few points for these figures."));
            grid.row([name, "-".into()]);
            continue;
        };
        let time = path.points.first().map_or("-", |p| words::time_label(p.time));
        if let Some(offered) = run.run.plan.offered_on(path.opened.path) {
            // There a message's time is set by the rate.
            let topology = run.run.plan.topology(path.opened.path);
            notes.push(arrived(path, &name, offered, topology));
            grid.row([name, time.to_owned()].into_iter().chain(["-", "", "-", "-", "-", "-"].map(str::to_owned)));
            continue;
        }
        // For several flows it is the time between two transfers of any of them, in which no message is both sent and received.
        let several = path.points.first().is_some_and(|p| p.time == TimeKind::Spacing);
        if s.latency_size > 1 && !several {
            let what = time_title(run);
            notes.push(format!("{name}: the {what} is that of {}.", units::Bytes(s.latency_size)));
        }
        let latency = if several { "-".to_owned() } else { estimate(s.latency, Kind::Seconds) };
        let messages = messages(run, path, s.latency).map_or(String::new(), |e| estimate(e, Kind::PerSecond));
        let byte = s.per_byte.map_or("-".into(), per_byte);
        let [most, at, half] = if path.points.len() == 1 && run.carries() && !one_size(run) {
            // Beside paths of many sizes: with one size the maximum is at that size.
            let most = s.max_throughput;
            notes.push(format!(
                "{name}: one size was measured, {}, which carries {}: too few for a maximum.",
                units::Bytes(s.max_size),
                resolved(most.value, most.low, most.high, Kind::BitsPerSecond)
            ));
            ["-".to_owned(), "-".to_owned(), "-".to_owned()]
        } else if !run.carries() {
            notes
                .push(format!("{name}: sent on a schedule (--rate), which says nothing of how much the path carries."));
            ["-".to_owned(), "-".to_owned(), "-".to_owned()]
        } else {
            notes.extend(few_at_the_top(path, s.max_size).map(|n| {
                let rounds = if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") };
                format!(
                    "{name}: the maximum throughput is of {rounds} that visited {}, fewer than the four that an interval takes; \
                     --budget gives more.",
                    units::Bytes(s.max_size)
                )
            }));
            let saved_up = run.saved_up(number);
            let last = saved_up.last().copied();
            notes.extend(last.map(|last| {
                format!(
                    "{name}: the maximum throughput is of sizes above {}: up to there {} of {} sizes carry more, but long trials do not, as \
                     behind a token bucket, which lets pass for a short time what it saved up.",
                    units::Bytes(last),
                    saved_up.len(),
                    path.points.len(),
                )
            }));
            notes.extend(above_the_top(path, s, last).map(|most| {
                // So far above is not chance: where pauses delay most sizes, the smoothed line is too low.
                let why = if most > 2.0 * s.max_throughput.value {
                    "something held most sizes up, so that the path may carry more"
                } else {
                    "the highest of many noisy points is high by luck"
                };
                format!(
                    "{name}: single sizes read up to {}; the maximum is where a line through neighbouring sizes is highest: {why}.",
                    units::format::significant(most, Kind::BitsPerSecond)
                )
            }));
            let size = units::Bytes(s.max_size).to_string();
            let at = if s.still_rising == Some(true) { format!("{size}\n(rising)") } else { size };
            let half = s.half_power.map_or("-".into(), |e| estimate(e, Kind::Bytes));
            [estimate(s.max_throughput, Kind::BitsPerSecond), at, half]
        };
        grid.row([name, time.to_owned(), latency, messages, byte, most, at, half]);
    }
    // The time kind, the messages and the throughput are the most important columns.
    let mut text = grid.fitted(WIDTH, &[4, 7, 6]);
    let head = text.lines().next().unwrap_or_default().to_owned();
    let has = |title| head.contains(title);
    let any_per_byte = found.iter().flatten().any(|s| s.per_byte.is_some());
    let (half_power, not_resolved) = (has("half power"), text.contains("not resolved"));
    text.push_str(HOW_TO_READ);
    if any_per_byte && has("per byte") {
        text.push_str(PER_BYTE);
    }
    text.push('\n');
    if has("messages") {
        text.push_str(MESSAGES);
    }
    if half_power {
        text.push_str(HALF_POWER);
    }
    if not_resolved {
        text.push_str(NOT_RESOLVED);
    }
    for note in notes.into_iter().chain(together(run)) {
        paragraph("", &note, WIDTH, &mut text);
    }
    text
}

/// Messages of all who cast that each member delivers a second, at the time of the smallest size, where that is of a group's round.
pub(crate) fn messages(run: &RunFile, path: &PathRun, time: Estimate) -> Option<Estimate> {
    let in_round = measure::figures::in_round(&run.run.plan, path.opened.path, path.points.first()?.time)?;
    let high = if time.low > 0.0 { in_round / time.low } else { f64::INFINITY };
    Some(Estimate { value: in_round / time.value, low: in_round / time.high, high })
}

/// Whether the times of a path are those of a group's rounds.
pub(crate) fn in_rounds(run: &RunFile, path: &PathRun) -> bool {
    let kind = path.points.first().map(|point| point.time);
    kind.is_some_and(|kind| measure::figures::in_round(&run.run.plan, path.opened.path, kind).is_some())
}

/// Title for the time of the smallest size: for messages that nothing answers one by one it is the time from one to the next.
pub(crate) fn time_title(run: &RunFile) -> &'static str {
    let facts = run.run.plan.pattern.facts();
    if facts.unanswered || (facts.bursts && facts.in_group.is_none()) { "spacing" } else { "latency" }
}

/// Whether no path has more than one size: then a throughput is that of the size, and no maximum.
pub(crate) fn one_size(run: &RunFile) -> bool {
    run.paths.iter().all(|path| path.points.len() <= 1)
}

/// Slowest and fastest flow of each path, at the size at which they carry the most together, of those that enough rounds visited where there
/// are such; empty for a path of one flow.
pub(crate) fn together(run: &RunFile) -> Vec<String> {
    let most = |path: &PathRun| {
        let measured = path.points.iter().filter(|p| p.figures.flows.is_some_and(|f| f.slowest > 0.0));
        let known = |p: &Point| (p.figures.rounds as usize >= stats::FEWEST_ROUNDS, p.figures.throughput);
        let point = measured.max_by(|a, b| known(a).partial_cmp(&known(b)).unwrap_or(std::cmp::Ordering::Equal))?;
        let flows = point.figures.flows?;
        let topology = run.run.plan.topology(path.opened.path);
        Some(format!(
            "{}: {} at {}: slowest {}, fastest {}, fairness {} (1: all alike).",
            path.opened.name(),
            topology.several(),
            units::Bytes(point.size),
            rate(flows.slowest, flows.slowest_ends),
            rate(flows.fastest, flows.fastest_ends),
            fairness(&flows)
        ))
    };
    run.paths.iter().filter_map(most).collect()
}

/// Throughput of a flow with its 95% interval, where it has one.
fn rate(value: f64, ends: Option<(f64, f64)>) -> String {
    ends.map_or_else(
        || units::BitRate(value).to_string(),
        |(low, high)| units::format::with_interval(value, low, high, Kind::BitsPerSecond),
    )
}

/// Jain's index with its 95% interval, rounded outwards, where it has one.
fn fairness(flows: &measure::event::FlowFigures) -> String {
    let ends = |(low, high): (f64, f64)| {
        format!(" [{:.2}, {:.2}]", (low * 100.0).floor() / 100.0, (high * 100.0).ceil() / 100.0)
    };
    format!("{:.2}{}", flows.fairness, flows.fairness_ends.map_or_else(String::new, ends))
}

/// The highest throughput of a single size, where it lies far enough above the maximum to need an explanation.
fn above_the_top(path: &PathRun, summary: &Summary, saved_up: Option<u64>) -> Option<f64> {
    let others = path.points.iter().filter(|p| saved_up.is_none_or(|last| p.size > last));
    let most = others.map(|p| p.figures.throughput).filter(|t| t.is_finite()).fold(0.0, f64::max);
    (most > 1.05 * summary.max_throughput.value).then_some(most)
}

/// What arrived of an offered rate.
fn arrived(path: &PathRun, name: &str, offered: f64, topology: Topology) -> String {
    let figures = || path.points.iter().map(|p| (p.size, &p.figures));
    let least = figures().map(|(_, f)| f.throughput).fold(f64::INFINITY, f64::min);
    let most = figures().map(|(_, f)| f.throughput).fold(0.0, f64::max);
    let lossy: Vec<_> = figures().filter(|(_, f)| f.loss > 0.0).collect();
    let worst = lossy.iter().max_by(|a, b| a.1.loss.total_cmp(&b.1.loss));
    let lost = worst.map_or("no message was lost".to_owned(), |(size, f)| {
        format!(
            "messages were lost at {} of {} sizes, most at {}: {}",
            lossy.len(),
            path.points.len(),
            units::Bytes(*size),
            units::Share(f.loss)
        )
    });
    let [offered, least, most] = [offered, least, most].map(|rate| units::BitRate(rate).to_string());
    let came = if least == most { least } else { format!("{least} to {most}") };
    // A cast arrives at each of the other members.
    let at = match path.points.iter().find_map(|p| p.figures.flows) {
        Some(flows) if topology == Topology::Group => format!(" at {} {} together", flows.count, topology.several()),
        _ => String::new(),
    };
    format!("{name}: {offered} offered (--rate), {came} arrived{at} in a typical trial; {lost}.")
}

/// Rounds of the size with the maximum throughput, where they are too few for an interval though the run has enough.
fn few_at_the_top(path: &PathRun, size: u64) -> Option<u32> {
    let point = path.points.iter().find(|p| p.size == size)?;
    let few = !path.common.shared.moves.few() && (point.figures.rounds as usize) < stats::FEWEST_ROUNDS;
    few.then_some(point.figures.rounds)
}

/// A figure, its interval in the line under it: as [`with_interval`] writes both.
pub(crate) fn estimate(e: Estimate, kind: Kind) -> String {
    let text = resolved(e.value, e.low, e.high, kind);
    match text.strip_prefix("not resolved: between ") {
        // Both ends have their units: a column has no room for more words. The brackets say that it is the 95% interval.
        Some(ends) => format!("not resolved\n[{}]", ends.replacen(" and ", " to ", 1)),
        None => text.replacen(" [", "\n[", 1).replacen(" (no", "\n(no", 1).replacen(": ", "\n", 1),
    }
}

/// A cost a byte, as [`estimate`], in the width of a resolved one: bounds have a line each.
fn per_byte(e: Estimate) -> String {
    estimate(e, Kind::SecondsPerByte).replacen("at most ", "at most\n", 1).replacen(" to ", " to\n", 1)
}

/// A line's start-up time, as [`estimate`]. It can't be negative, so that one that can't be told from 0 is at most its upper end.
pub(crate) fn start_time(e: Estimate) -> String {
    startup_words(e).map_or_else(|| estimate(e, Kind::Seconds), |words| words.replacen(": ", "\n", 1))
}

/// Text for a start-up time that can't be told from 0; none where it can.
pub fn startup_words(e: Estimate) -> Option<String> {
    match e {
        _ if e.low > 0.0 || e.value > 0.0 && e.high.is_infinite() => None,
        _ if e.high > 0.0 && e.high.is_finite() => Some(units::at_most(e.high, Kind::Seconds)),
        _ => Some("not resolved".to_owned()),
    }
}

/// How each path was set up: the far host, rounds, points, and what took effect on both sides' connections.
pub fn paths(run: &RunFile) -> String {
    use Flush::{Left, Right};
    let mut grid = Grid::new(&[
        ("path", Left),
        ("far side", Left),
        ("connections", Right),
        ("points", Right),
        ("in effect", Left),
    ]);
    for path in &run.paths {
        let opened = &path.opened;
        let far = match &opened.far {
            Some(far) if far.hostname == run.run.near.hostname => "this host, another process".to_owned(),
            Some(far) => far.hostname.clone(),
            None => "same process".to_owned(),
        };
        grid.row([
            opened.name().to_owned(),
            far,
            path.rounds.len().to_string(),
            path.points.len().to_string(),
            of_both(&effective(&opened.near_effective), &effective(&opened.far_effective)),
        ]);
    }
    grid.fitted(WIDTH, &[2, 3, 1])
}

/// What took effect on both sides, then what did on one of them.
fn of_both(near: &str, far: &str) -> String {
    let only = |of: &str, other: &str, side: &str| -> Vec<String> {
        of.lines().filter(|line| !other.lines().any(|l| l == *line)).map(|line| format!("{side}: {line}")).collect()
    };
    let both = near.lines().filter(|line| far.lines().any(|l| l == *line)).map(str::to_owned);
    both.chain(only(near, far, "near")).chain(only(far, near, "far")).collect::<Vec<_>>().join("\n")
}

/// What took effect on a connection, a setting a line.
pub(crate) fn effective(e: &Effective) -> String {
    let bytes = |n: u64| units::Bytes(n).to_string();
    let wait = e.wait.and_then(|w| serde_json::to_value(w).ok()).and_then(|v| v.as_str().map(str::to_owned));
    let parts = [
        e.send_buffer.map(|n| format!("send buffer {}", bytes(n))),
        e.receive_buffer.map(|n| format!("receive buffer {}", bytes(n))),
        e.mss.map(|n| format!("segment {}", bytes(u64::from(n)))),
        e.congestion.as_ref().map(|c| format!("congestion control {c}")),
        e.nodelay.map(|on| if on { "no delay".to_owned() } else { "Nagle's delay".to_owned() }),
        wait.map(|w| format!("wait {w}")),
        e.addresses.clone(),
    ];
    let options = e.options.iter().map(|(name, value)| format!("{name} {value}"));
    let parts: Vec<String> = parts.into_iter().flatten().chain(options).collect();
    if parts.is_empty() { "defaults".to_owned() } else { parts.join("\n") }
}

#[cfg(test)]
mod tests {
    use measure::event::FlowFigures;

    use super::*;

    fn estimate_of(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn what_a_transport_says_of_its_own_options_is_told_of_each_side() {
        let side = |file: &str| Effective { options: [("preload".into(), file.into())].into(), ..Effective::default() };
        assert_eq!(effective(&side("/lib/a.so")), "preload /lib/a.so");
        let told = of_both(&effective(&side("/lib/a.so")), &effective(&side("/lib/b.so")));
        assert_eq!(told, "near: preload /lib/a.so\nfar: preload /lib/b.so");
        assert_eq!(effective(&Effective::default()), "defaults");
    }

    #[test]
    fn a_figure_that_is_not_resolved_takes_no_more_room_than_its_ends() {
        assert_eq!(estimate(estimate_of(2e-3, 19e-6, 7.042e-3), Kind::Seconds), "not resolved\n[19.0 us to 7.04 ms]");
        assert_eq!(estimate(estimate_of(2e-3, 0.0, 7.042e-3), Kind::Seconds), "not resolved\nat most 7.04 ms");
    }

    #[test]
    fn a_cost_a_byte_that_can_not_be_told_from_zero_is_no_negative_cost_and_keeps_the_summary_narrow() {
        let open = f64::INFINITY;
        let cases = [
            ((-19.1e-12, -3.098e-9, 3.06e-9), "not resolved\nat most 3.06 ns/B"),
            ((-4.32e-9, -open, open), "not resolved"),
            ((4.32e-9, -open, open), "4.32 ns/B\n(no interval)"),
        ];
        for ((value, low, high), text) in cases {
            assert_eq!(estimate(estimate_of(value, low, high), Kind::SecondsPerByte), text);
        }
        let run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1, 64, 1024, 12_288, 1 << 20], 5, 7);
        let mut found = Analysis::of(&run).summary(0).cloned().unwrap();
        (found.max_size, found.still_rising) = (2_842_486, Some(true));
        for (low, high) in [(-3.098e-9, 123.4e-9), (19e-12, 7.04e-9)] {
            found.per_byte = Some(estimate_of(0.5e-9, low, high));
            let text = summary_of(&run, &[Some(&found)]);
            assert!(text.contains("not resolved") && !text.contains("-3,098"), "{text}");
            assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        }
    }

    #[test]
    fn per_byte_is_explained_where_the_column_is() {
        let of =
            |sizes: &[u64]| summary(&Analysis::of(&crate::sample::run_of(&crate::sample::MODELS[3..], sizes, 5, 7)));
        let with = of(&(0..=20).map(|power| 1 << power).collect::<Vec<_>>());
        assert!(with.contains("per byte") && with.contains("Per byte: the slope below 1 KiB"), "{with}");
        let without = of(&[4096, 12_288, 1 << 20]);
        assert!(!without.contains("Per byte") && without.contains("In brackets"), "{without}");
    }

    #[test]
    fn the_time_of_a_stream_is_called_what_it_is() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1, 64, 1024, 12_288], 5, 7);
        let head = |run: &RunFile| summary(&Analysis::of(run)).lines().next().unwrap().to_owned();
        assert!(head(&run).contains("latency"), "{}", head(&run));
        run.run.plan.pattern = measure::Pattern::Stream;
        assert!(head(&run).contains("spacing") && !head(&run).contains("latency"), "{}", head(&run));
    }

    /// Three members of five messages each: fifteen in a round.
    #[test]
    fn the_messages_of_a_groups_rounds_are_told_a_second_beside_the_rounds_time() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1, 1024], 5, 7);
        assert!(!summary(&Analysis::of(&run)).contains("messages"), "of a group alone");
        run.run.plan.pattern = measure::Pattern::Group;
        (run.run.plan.burst, run.run.plan.paths[0].flows) = (5, 2);
        run.paths[0].points.iter_mut().for_each(|point| point.time = TimeKind::Round);
        let analysis = Analysis::of(&run);
        let time = analysis.summary(0).unwrap().latency;
        let of = messages(&run, &run.paths[0], time).unwrap();
        assert!((of.value * time.value - 15.0).abs() < 1e-9 && (of.low * time.high - 15.0).abs() < 1e-9, "{of:?}");
        let text = summary(&analysis);
        let written = units::resolved(of.value, of.low, of.high, Kind::PerSecond);
        assert!(text.lines().next().unwrap().contains("messages") && text.contains(MESSAGES), "{text}");
        assert!(text.contains(written.split(" [").next().unwrap()), "{written} in {text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn one_size_has_a_throughput_and_no_maximum() {
        let run = crate::sample::run_of(&crate::sample::MODELS[3..], &[64], 5, 7);
        let text = summary(&Analysis::of(&run));
        assert!(text.contains("  throughput") && text.contains("bit/s") && !text.contains("max throughput"), "{text}");
        let mut run = crate::sample::run_of(&crate::sample::MODELS[2..], &[64, 1024, 4096, 65_536], 5, 7);
        run.paths[0].points.truncate(1);
        let text = summary(&Analysis::of(&run)).replace("\n  ", " ");
        let name = run.paths[0].opened.name();
        assert!(text.contains("max throughput"), "{text}");
        assert!(text.contains(&format!("{name}: one size was measured, 64 B, which carries ")), "{text}");
        assert!(text.contains("too few for a maximum"), "{text}");
    }

    /// A size that one round visited reads the most by chance, and more than the maximum that stands above the line.
    #[test]
    fn flows_are_told_of_a_size_that_enough_rounds_visited() {
        let mut run = crate::sample::flows(&[4], &[64, 4096]);
        for point in &mut run.paths[0].points {
            let each = 1e6 * point.size as f64;
            point.figures.flows =
                Some(FlowFigures { count: 4, slowest: each, fastest: each, fairness: 1.0, ..FlowFigures::default() });
        }
        run.paths[0].points[1].figures.rounds = 1;
        assert!(together(&run)[0].contains("flows at 64 B"), "{:?}", together(&run));
    }

    #[test]
    fn flows_are_told_in_a_line_under_the_summary() {
        let mut run = crate::sample::flows(&[4], &[64, 4096]);
        for point in &mut run.paths[0].points {
            let (slowest, fastest) = (1e6 * point.size as f64, 2e6 * point.size as f64);
            point.figures.flows =
                Some(FlowFigures { count: 4, slowest, fastest, fairness: 0.9, ..FlowFigures::default() });
        }
        let said = |run: &RunFile, part: &str| {
            let text = summary(&Analysis::of(run)).replace("\n  ", " ");
            assert!(text.contains(part), "{text}");
        };
        said(&run, "flows at 4 KiB: slowest 4.10 Gbit/s, fastest 8.19 Gbit/s, fairness 0.90 (1: all alike).");
        let flows = run.paths[0].points[1].figures.flows.as_mut().unwrap();
        (flows.slowest_ends, flows.fastest_ends) = (Some((3.9e9, 4.2e9)), Some((8.0e9, 8.4e9)));
        flows.fairness_ends = Some((0.8512, 0.9301));
        said(
            &run,
            "slowest 4.10 Gbit/s [3.9, 4.2], fastest 8.19 Gbit/s [8.0, 8.4], fairness 0.90 [0.85, 0.94] (1: all alike).",
        );
    }

    #[test]
    fn a_run_on_a_schedule_has_no_throughput() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1, 64, 1024, 12_288, 1 << 20], 5, 7);
        run.run.plan.rate = Some(2000.0);
        let text = summary(&Analysis::of(&run));
        assert!(!text.contains("bit/s") && text.contains("sent on a schedule (--rate)"), "{text}");
    }

    #[test]
    fn a_run_at_an_offered_rate_says_what_arrived_and_what_was_lost() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1024, 12_288], 5, 7);
        run.run.plan.offered = Some(1e8);
        for point in &mut run.paths[0].points {
            (point.figures.throughput, point.figures.loss) = (1e5 * point.size as f64, 0.0);
        }
        let text = summary(&Analysis::of(&run));
        assert!(!text.contains("sent on a schedule"), "{text}");
        let said = |text: &str, part: &str| {
            let text: Vec<&str> = text.split_whitespace().collect();
            assert!(text.join(" ").contains(part), "{part}: {text:?}");
        };
        said(
            &text,
            "100 Mbit/s offered (--rate), 102 Mbit/s to 1.23 Gbit/s arrived in a typical trial; no message was lost.",
        );
        run.paths[0].points[1].figures.loss = 0.25;
        let text = summary(&Analysis::of(&run));
        said(&text, "messages were lost at 1 of 2 sizes, most at 12 KiB: 25.0%.");
    }

    #[test]
    fn a_start_up_time_that_can_not_be_told_from_zero_is_no_negative_time() {
        let open = f64::INFINITY;
        assert_eq!(start_time(estimate_of(4e-6, 3e-6, 5e-6)), "4.00 us\n[3, 5]");
        assert_eq!(start_time(estimate_of(4e-6, -1e-6, 9e-6)), "not resolved\nat most 9.00 us");
        assert_eq!(start_time(estimate_of(-4e-3, -9e-3, 1e-3)), "not resolved\nat most 1.00 ms");
        assert_eq!(start_time(estimate_of(-4e-3, -9e-3, -1e-3)), "not resolved");
        assert_eq!(start_time(estimate_of(-4e-3, f64::NEG_INFINITY, open)), "not resolved");
        assert_eq!(start_time(estimate_of(4e-6, 0.0, open)), "4.00 us\n(no interval)");
    }

    #[test]
    fn a_maximum_of_few_rounds_is_said_to_be_one_and_rising_stands_only_where_it_is_known() {
        let mut run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1, 64, 1024, 12_288, 1 << 20], 5, 7);
        let mut found = Analysis::of(&run).summary(0).cloned().unwrap();
        run.paths[0].common.shared.moves.rounds = 9;
        run.paths[0].points.last_mut().unwrap().figures.rounds = 2;
        found.max_size = 1 << 20;
        found.still_rising = None;
        let text = summary_of(&run, &[Some(&found)]);
        assert!(text.contains("is of 2 rounds that visited 1 MiB") && !text.contains("(rising)"), "{text}");
        found.still_rising = Some(true);
        run.paths[0].points.last_mut().unwrap().figures.rounds = 5;
        let text = summary_of(&run, &[Some(&found)]);
        assert!(!text.contains("rounds that visited") && text.contains("(rising)"), "{text}");
    }
}
