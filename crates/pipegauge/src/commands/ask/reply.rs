//! What every answer has.

use model::Estimate;
use model::answer::Unanswered;

use super::Asked;
use crate::document::Answered;

/// Largest message that a command is offered for, bytes: a few of them pass in its budget.
const OFFERED: u64 = 1 << 30;

/// Largest message that a command is offered for on this path, bytes.
fn most(p: &Asked<'_>) -> u64 {
    p.most_block().map_or(OFFERED, |most| most.min(OFFERED))
}

/// Whether a command is offered for messages of a size.
pub fn offered(p: &Asked<'_>, size: u64) -> bool {
    size <= most(p)
}

/// The command that would measure these sizes more closely. Those that can't be measured in its time are left to the largest that can.
pub fn sharpen(p: &Asked<'_>, sizes: &[u64]) -> String {
    command(p, p.pattern, sizes)
}

/// The command that would measure two paths more closely. Two files may hold the same path.
pub fn sharpen_both(a: &Asked<'_>, b: &Asked<'_>) -> String {
    let both = if a.typed() == b.typed() { a.typed() } else { format!("{} {}", a.typed(), b.typed()) };
    format!("pipegauge run {both} --budget 30s")
}

fn command(p: &Asked<'_>, pattern: &str, sizes: &[u64]) -> String {
    let mut sizes: Vec<u64> = sizes.iter().filter(|s| **s > 0).map(|s| (*s).min(most(p))).collect();
    sizes.dedup();
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let list = if sizes.is_empty() { String::new() } else { format!(" --sizes {}", sizes.join(",")) };
    let pattern = if pattern == "ping-pong" { String::new() } else { format!(" --pattern {pattern}") };
    let reverse = match (p.both_ways(), p.reversed()) {
        (true, _) => " --both",
        (false, true) => " --reverse",
        (false, false) => "",
    };
    format!("pipegauge run {}{pattern}{reverse}{list} --budget 30s", p.typed())
}

/// No answer, and why.
pub fn no(p: &Asked<'_>, why: &Unanswered, sizes: &[u64]) -> Answered {
    Answered {
        read_as: String::new(),
        path: p.name.clone(),
        text: format!("{}: no answer: {why}", p.name),
        figure: None,
        factor: None,
        unit: None,
        rests_on: Vec::new(),
        sharpen: sharpen(p, sizes),
        answered: false,
    }
}

/// No answer, for a reason in words.
pub fn cannot(p: &Asked<'_>, why: String, sizes: &[u64]) -> Answered {
    no(p, &Unanswered::NoSum(why), sizes)
}

/// An answer with the figure that it comes down to.
pub fn yes(p: &Asked<'_>, text: String, figure: Estimate, unit: &'static str, rests_on: Vec<u64>) -> Answered {
    let sharpen = sharpen(p, &rests_on);
    Answered {
        read_as: String::new(),
        path: p.name.clone(),
        text: format!("{}: {text}", p.name),
        figure: Some(figure),
        factor: None,
        unit: Some(unit),
        rests_on,
        sharpen,
        answered: true,
    }
}

/// No answer, as another pattern measures what is asked about.
pub fn needs(p: &Asked<'_>, pattern: &str, why: &Unanswered, sizes: &[u64]) -> Answered {
    let mut answer = no(p, why, sizes);
    answer.sharpen = command(p, pattern, sizes);
    answer
}

/// No answer where there is no path to ask.
pub fn nobody(text: String, sharpen: String) -> Answered {
    Answered {
        read_as: String::new(),
        path: String::new(),
        text: format!("no answer: {text}"),
        figure: None,
        factor: None,
        unit: None,
        rests_on: Vec::new(),
        sharpen,
        answered: false,
    }
}

/// "yes", "no" or "not surely", of a figure that must stay below a limit.
pub fn verdict(e: Estimate, limit: f64) -> &'static str {
    match () {
        () if e.high < limit => "yes",
        () if e.low > limit => "no",
        () => "not surely",
    }
}

/// A verdict, and the other one where the contrary was asked.
pub fn answered(verdict: &'static str, contrary: bool) -> &'static str {
    match (verdict, contrary) {
        ("yes", true) => "no",
        ("no", true) => "yes",
        _ => verdict,
    }
}
