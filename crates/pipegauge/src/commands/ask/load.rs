//! Latency under load: what a path takes idle, and under each load that its run put on it.

use model::answer::Unanswered;
use record::load::{Loaded, UnderLoad};
use units::Kind;

use super::asked::{Asked, figure};
use super::reply::{no, yes};
use crate::config::paths::size_typed;
use crate::config::question::size_words;
use crate::document::Answered;

/// Flows that a command is offered for.
const OFFERED: &str = "1,2,4";

/// What each idle path takes under load; of the smallest size where none is asked for. Of runs that load no path, how to measure it.
pub fn under_load(paths: &[&Asked<'_>], size: Option<u64>) -> Vec<Answered> {
    let idle: Vec<&&Asked<'_>> = paths.iter().filter(|p| p.idle()).collect();
    // Where only loaded paths are asked about, the idle one beside them is what they are held against.
    let asked = if idle.is_empty() { paths.iter().collect() } else { idle };
    asked.into_iter().flat_map(|p| of_path(p, size)).collect()
}

fn of_path(p: &Asked<'_>, size: Option<u64>) -> Vec<Answered> {
    let all = p.under_load();
    let Some(size) = size.or(all.iter().map(|group| group.size).min()) else {
        return vec![unmeasured(p, "nothing loaded this path while it was measured".to_owned(), size)];
    };
    let found: Vec<Answered> =
        all.iter().filter(|group| group.size == size).filter_map(|group| answer(p, group)).collect();
    match found.is_empty() {
        true => vec![unmeasured(p, format!("{} was not measured under load", size_words(size)), Some(size))],
        false => found,
    }
}

fn unmeasured(p: &Asked<'_>, why: String, size: Option<u64>) -> Answered {
    let sizes = size.map_or(String::new(), |size| format!(" --sizes {size}"));
    let sharpen = format!("pipegauge run {}{}{sizes} --load {OFFERED}", p.typed_idle(), p.flags(p.pattern, true));
    Answered { sharpen, ..no(p, &Unanswered::NoSum(why), size.as_slice()) }
}

/// What one size takes idle and under each load.
fn answer(p: &Asked<'_>, group: &UnderLoad) -> Option<Answered> {
    let (idle, loaded) = group.rows.split_first()?;
    let last = loaded.iter().rev().find(|row| row.times[0].is_some())?;
    let label = report::words::time_label(group.time);
    let mut text = format!("{} takes, idle, {} ({label})", size_words(group.size), times(idle));
    for row in loaded {
        let load = row.load.as_ref()?;
        text.push_str(&format!("\n  under {}: {}", load.words(), times(row)));
    }
    let loads: Vec<String> = loaded.iter().filter_map(|row| Some(row.load?.flows.to_string())).collect();
    let load = last.load?;
    let way = if load.direction.name() == "same" {
        String::new()
    } else {
        format!(" --load-direction {}", load.direction.name())
    };
    let sharpen = format!(
        "pipegauge run {}{} --sizes {} --load {}{way} --load-size {} --budget 30s",
        p.typed_idle(),
        p.flags(p.pattern, true),
        group.size,
        loads.join(","),
        size_typed(load.size)
    );
    let answer = yes(p, text, last.times[0]?, "s", vec![group.size]);
    Some(Answered { factor: last.ratios[0], sharpen, ..answer })
}

/// Median and 99th percentile of a row, each with how many times as long as idle it is.
fn times(row: &Loaded) -> String {
    let one = |at: usize, name: &str| {
        let time = figure(row.times[at]?, Kind::Seconds);
        let ratio = row.ratios[at].map_or(String::new(), |r| match (r.low > 0.0, r.high.is_finite()) {
            (true, true) if r.high > units::RESOLVED * r.low => {
                format!(", between {:.1} and {:.0} times as long (not resolved)", r.low, r.high)
            }
            (true, true) => format!(", {:.2} [{:.2}, {:.2}] times as long", r.value, r.low, r.high),
            (false, true) => format!(", {:.2} times as long (at most {:.2})", r.value, r.high),
            (true, false) => format!(", {:.2} times as long (at least {:.2})", r.value, r.low),
            (false, false) => format!(", {:.2} times as long (no interval)", r.value),
        });
        Some(format!("{name} {time}{ratio}"))
    };
    let told: Vec<String> = [one(0, "median"), one(1, "p99")].into_iter().flatten().collect();
    if told.is_empty() { "no figure (the loading flows carried nothing)".to_owned() } else { told.join("; ") }
}
