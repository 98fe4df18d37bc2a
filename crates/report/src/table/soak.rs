//! A soak as text: a line for each interval while it goes, and what its intervals say together.

use measure::event::{Plan, Trial};
use record::soak::{Interval, Soak};
use record::{Analysis, soak};
use transport::Name;
use units::format::thousands;
use units::{BitRate, Bytes, Seconds, Share};

use super::grid::{Flush, Grid};
use super::{cell, jitter};
use crate::words;

/// Share of a CPU that others take before an interval's line says so.
const WORTH_A_WORD: f64 = 0.05;

/// Columns of an interval's line and their widths. Of messages that nothing answers, single times are not known.
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

/// The line of an interval that began `at` seconds after the first: its messages, their times or their throughput, what was lost, and
/// what others took of the CPUs, as a share of one.
pub fn interval_line(plan: &Plan, kind: Name, interval: &Trial, at: f64, others: Option<f64>) -> String {
    let digits = if plan.every.is_some_and(|every| every < 1.0) { 2 } else { 1 };
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
            // On a schedule a size over its time is no throughput.
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
            said.push_str(&format!("{name}: {}.\n", jitter::drifted(&drift)));
        }
    }
    if said.is_empty() {
        return String::new();
    }
    let time = run.paths.iter().flat_map(|p| &p.points).next().map_or("", |p| words::time_label(p.time));
    format!("{}Times are {time}; in brackets the 95% interval.\n\n{said}", grid.text())
}

fn sentences(run: &Analysis<'_>, of: &Soak, name: &str, said: &mut String) {
    let Interval { number, at, mean, figures } = &of.worst;
    let mut worst = vec![format!("mean {}", Seconds(*mean))];
    if run.arrives() && run.run.plan.pattern.facts().unanswered {
        worst = vec![BitRate(figures.throughput).to_string()];
    }
    if let Some(p) = figures.percentiles {
        worst.extend(p.p99.map(|p99| format!("p99 {}", Seconds(p99))));
        worst.push(format!("longest {}", Seconds(p.max)));
    }
    if figures.loss > 0.0 {
        worst.push(format!("{} lost", Share(figures.loss)));
    }
    said.push_str(&format!("{name}: the worst interval is number {number}, at {at:.1} s: {}.\n", worst.join(", ")));
    let s = &of.stalls;
    if !run.run.plan.pattern.facts().unanswered {
        let each = Seconds(s.beyond);
        if s.count == 0 {
            said.push_str(&format!("{name}: no stall: no iteration took over {each}.\n"));
        } else {
            let longest: Vec<String> =
                s.longest.iter().map(|(at, took)| format!("{} at {at:.1} s", Seconds(*took))).collect();
            let longest =
                if longest.is_empty() { String::new() } else { format!("; the longest: {}", longest.join(", ")) };
            said.push_str(&format!(
                "{name}: {} iterations took over {each}, {} in all{longest}.\n",
                thousands(s.count),
                Seconds(s.seconds)
            ));
        }
    }
    said.push_str(&format!("{name}: messages were timed for {} of the {}.\n", Share(of.timed), Seconds(of.lasted)));
}
