//! A soak as text: a line for each interval during the run, and figures of all intervals after it.

use measure::event::{Plan, Trial};
use record::soak::{Interval, Soak};
use record::{Analysis, soak};
use transport::Name;
use units::format::thousands;
use units::{BitRate, Bytes, Seconds, Share};

use super::WIDTH;
use super::grid::{Flush, Grid};
use super::{cell, jitter};
use crate::text::paragraph;
use crate::words;

/// Share of a CPU that others must take before an interval's line mentions it.
const WORTH_A_WORD: f64 = 0.05;

/// Columns of an interval's line and their widths. For messages that nothing answers, single times are not known.
const ANSWERED: [(&str, usize); 7] =
    [("at", 10), ("size", 9), ("iterations", 12), ("median", 9), ("p99", 9), ("longest", 9), ("throughput", 13)];
const UNANSWERED: [(&str, usize); 4] = [("at", 10), ("size", 9), ("messages", 12), ("throughput", 13)];

fn columns(plan: &Plan) -> &'static [(&'static str, usize)] {
    if plan.pattern.facts().unanswered { &UNANSWERED } else { &ANSWERED }
}

fn line(columns: &[(&str, usize)], cells: &[String]) -> String {
    columns.iter().zip(cells).map(|((_, width), cell)| format!("{cell:>width$}")).collect::<Vec<_>>().join("")
}

/// The head of the lines of intervals.
pub fn interval_head(plan: &Plan) -> String {
    let columns = columns(plan);
    line(columns, &columns.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>())
}

/// The line of an interval: when it began, by the run's start as everywhere, its messages, their times or their throughput, what was lost,
/// and what others took of the CPUs, as a share of one.
pub fn interval_line(plan: &Plan, kind: Name, interval: &Trial, others: Option<f64>) -> String {
    let (at, digits) = (interval.at, if plan.every.is_some_and(|every| every < 1.0) { 2 } else { 1 });
    let mut cells = vec![format!("{at:.digits$} s"), Bytes(interval.size).to_string()];
    let columns = columns(plan);
    let mut after = String::new();
    match soak::figures_of(plan, kind, interval) {
        None => after.push_str("  nothing arrived"),
        Some(f) => {
            let unanswered = plan.pattern.facts().unanswered;
            let time = |t: Option<f64>| t.map_or("-".to_owned(), |t| Seconds(t).to_string());
            cells.push(thousands(if unanswered { interval.report.far.received } else { f.iterations }));
            if !unanswered {
                let longest = f.percentiles.map(|p| p.max);
                cells.extend([Some(f.median), f.percentiles.and_then(|p| p.p99), longest].map(time));
            }
            // On a schedule, size over time is no throughput.
            cells.push(if plan.rate.is_none() { BitRate(f.throughput).to_string() } else { "-".to_owned() });
            if f.loss > 0.0 {
                after.push_str(&format!("  {} lost", Share(f.loss)));
            }
        }
    }
    if let Some(others) = others.filter(|share| *share > WORTH_A_WORD) {
        after.push_str(&format!("  others took {} of one CPU", Share(others)));
    }
    line(columns, &cells) + &after
}

/// All paths of a soak: percentiles over all intervals, the worst interval and when, drift, stalls. Empty of any other run.
pub fn soak(run: &Analysis<'_>) -> String {
    use Flush::{Left, Right};
    let mut grid = Grid::new(&[
        ("path", Left),
        ("size", Right),
        ("intervals", Right),
        ("median [95%]", Right),
        ("p99", Right),
        ("p99.9", Right),
        ("longest", Right),
        ("throughput", Right),
        ("lost", Right),
    ]);
    let mut said = String::new();
    for (index, path) in run.paths.iter().enumerate() {
        let name = path.opened.name();
        let several = path.points.len() > 1;
        for of in run.soak(index) {
            let Some(point) = path.points.iter().find(|p| p.size == of.size) else { continue };
            let f = &point.figures;
            let time = |t: Option<f64>| t.map_or(String::new(), |t| Seconds(t).to_string());
            let row = record::columns::Row::of(run, path, point);
            let median = record::columns::column("median_s")
                .and_then(|c| Some(cell(c, c.shown?.form, &row)))
                .unwrap_or_default();
            grid.row([
                name.to_owned(),
                Bytes(of.size).to_string(),
                thousands(of.intervals.into()),
                median,
                time(f.percentiles.and_then(|p| p.p99)),
                time(f.percentiles.and_then(|p| p.p999)),
                time(f.percentiles.map(|p| p.max)),
                if run.arrives() { BitRate(f.throughput).to_string() } else { String::new() },
                if f.loss > 0.0 { Share(f.loss).to_string() } else { String::new() },
            ]);
            let of_size = if several { format!(", {}", Bytes(of.size)) } else { String::new() };
            sentences(run, &of, &format!("{name}{of_size}"), &mut said);
        }
        if let Some(drift) = run.drift(index) {
            paragraph("", &format!("{name}: {}.", jitter::drifted(&drift)), WIDTH, &mut said);
        }
    }
    if said.is_empty() {
        return String::new();
    }
    let time = run.paths.iter().flat_map(|p| &p.points).next().map_or("", |p| words::time_label(p.time));
    format!("{}Times are {time}; in brackets the 95% interval.\n\n{said}", grid.fitted(WIDTH, &[5, 2]))
}

/// The worst interval's mean without its longest message, where that one alone makes more than half of what it lies above the median.
fn alone(of: &Soak) -> Option<f64> {
    let Interval { mean, figures, .. } = &of.worst;
    let (n, longest) = (figures.iterations as f64, figures.percentiles?.max);
    let without = (n > 1.0).then(|| (mean * n - longest) / (n - 1.0))?;
    (mean - without > 0.5 * (mean - figures.median)).then_some(without)
}

fn sentences(run: &Analysis<'_>, of: &Soak, name: &str, said: &mut String) {
    let mut say = |text: String| paragraph("", &format!("{name}: {text}."), WIDTH, said);
    let Interval { number, at, mean, figures } = &of.worst;
    let mut worst = vec![format!("mean {}", Seconds(*mean))];
    if run.arrives() && run.run.plan.pattern.facts().unanswered {
        worst = vec![BitRate(figures.throughput).to_string()];
    }
    if let Some(without) = alone(of) {
        worst.push(format!("by one message, without which it is {}", Seconds(without)));
    }
    if let Some(p) = figures.percentiles {
        worst.extend(p.p99.map(|p99| format!("p99 {}", Seconds(p99))));
        worst.push(format!("longest {}", Seconds(p.max)));
    }
    if figures.loss > 0.0 {
        worst.push(format!("{} lost", Share(figures.loss)));
    }
    say(format!("the worst interval is number {number}, at {at:.1} s: {}", worst.join(", ")));
    let s = &of.stalls;
    if !run.run.plan.pattern.facts().unanswered {
        if s.count == 0 {
            say(format!("no stall: none took over {}", Seconds(s.beyond / of.transfers)));
        } else {
            // All times of a soak are of one kind; how long it stood still is time of the run.
            let kind = of.transfers;
            let longest: Vec<String> =
                s.longest.iter().map(|(at, took)| format!("{} at {at:.1} s", Seconds(*took / kind))).collect();
            let longest =
                if longest.is_empty() { String::new() } else { format!("; the longest: {}", longest.join(", ")) };
            let (whole, as_kind) = if kind == 2.0 { (" (round trips)", "as RTT/2, ") } else { ("", "") };
            say(format!(
                "{} iterations{whole} stood still, {} of the run in all; {as_kind}each took over {}{longest}",
                thousands(s.count),
                Seconds(s.seconds),
                Seconds(s.beyond / kind)
            ));
        }
    }
    say(format!("messages were timed for {} of the {}", Share(of.timed), Seconds(of.lasted)));
}

#[cfg(test)]
mod tests {
    use measure::event::Schedule;
    use measure::{FarReport, Pattern, TrialReport};

    use super::*;

    fn interval(report: TrialReport) -> Trial {
        Trial { path: 0, round: 13, at: 12.3, size: 64, response: 0, burst: 0, warmup: false, report }
    }

    fn plan() -> Plan {
        Plan { schedule: Schedule::Soak, every: Some(1.0), ..Plan::default() }
    }

    fn words(line: &str) -> Vec<&str> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
    }

    #[test]
    fn an_interval_is_a_line_under_its_head() {
        let answered = interval(TrialReport {
            repeats: 48_210,
            seconds: 0.97,
            median: 2e-5,
            min: 1.9e-5,
            max: 1e-3,
            histogram: vec![(20_000, 48_209), (1_000_000, 1)],
            ..TrialReport::default()
        });
        let head = interval_head(&plan());
        let tcp = transport::tcp::NAME;
        let line = interval_line(&plan(), tcp, &answered, Some(0.01));
        assert_eq!(head.len(), line.len(), "each figure stands under its name");
        assert_eq!(words(&line), ["12.3 s", "64 B", "48,210", "10.0 us", "10.0 us", "500 us", "51.2 Mbit/s"]);
        let finer = Plan { every: Some(0.1), ..plan() };
        let line = interval_line(&finer, tcp, &answered, Some(0.31));
        assert!(line.contains(" 12.30 s ") && line.ends_with("  others took 31.0% of one CPU"), "{line}");
        // On a schedule a size over its time is no throughput, and nobody gives a percentile of few.
        let few = interval(TrialReport { repeats: 9, histogram: vec![(20_000, 9)], ..answered.report });
        let rated = Plan { rate: Some(10.0), ..plan() };
        assert_eq!(words(&interval_line(&rated, tcp, &few, None))[4..], ["-", "1.00 ms", "-"]);
    }

    #[test]
    fn an_interval_that_one_message_made_the_worst_says_so() {
        let soak = |counts: Vec<(u64, u64)>| {
            let repeats = counts.iter().map(|(_, n)| n).sum();
            let seconds = counts.iter().map(|(ns, n)| ns * n).sum::<u64>() as f64 * 1e-9;
            let max = counts.last().unwrap().0 as f64 * 1e-9;
            let report =
                TrialReport { repeats, seconds, median: 2e-5, max, histogram: counts, ..TrialReport::default() };
            let trial = interval(report);
            let figures = soak::figures_of(&plan(), transport::tcp::NAME, &trial).unwrap();
            let mean = soak::badness(&plan(), transport::tcp::NAME, &trial).unwrap();
            let stalls = soak::Stalls { beyond: 1e-3, count: 0, seconds: 0.0, longest: Vec::new() };
            let worst = Interval { number: 1, at: 0.0, mean, figures };
            Soak { size: 64, intervals: 1, lasted: 1.0, timed: 1.0, worst, stalls, transfers: 2.0 }
        };
        let without = alone(&soak(vec![(20_000, 9_999), (1_000_000_000, 1)])).expect("one message did it");
        assert!((without - 1e-5).abs() < 1e-7, "{without}");
        assert_eq!(alone(&soak(vec![(20_000, 5_000), (200_000, 5_000)])), None);
    }

    #[test]
    fn a_stream_shows_what_arrived_and_what_was_lost() {
        let far = FarReport { seconds: 0.5, bytes: 64 * 750, received: 751, lost: 249, ..FarReport::default() };
        let stream = Plan { pattern: Pattern::Stream, ..plan() };
        let udp = transport::udp::NAME;
        let arrived = interval(TrialReport { repeats: 1000, seconds: 0.4, far, ..TrialReport::default() });
        let line = interval_line(&stream, udp, &arrived, None);
        assert_eq!(words(&line), ["12.3 s", "64 B", "751", "768 kbit/s", "24.9% lost"]);
        let nothing = interval(TrialReport { repeats: 1000, seconds: 0.4, ..TrialReport::default() });
        assert!(interval_line(&stream, udp, &nothing, None).ends_with("nothing arrived"));
    }
}
