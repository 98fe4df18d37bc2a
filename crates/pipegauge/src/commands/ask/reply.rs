//! What every answer has.

use model::Estimate;
use model::answer::Unanswered;
use units::Share;

use super::Asked;
use crate::document::Answered;

/// Largest message that a command is offered for, bytes: a few of them pass in its budget.
const OFFERED: u64 = 1 << 30;

/// Largest message that a command is offered for on this path, bytes.
fn most(p: &Asked<'_>) -> u64 {
    p.most_message().map_or(OFFERED, |most| most.min(OFFERED))
}

/// Whether a command is offered for messages of a size.
pub fn offered(p: &Asked<'_>, size: u64) -> bool {
    size <= most(p)
}

/// The command that would measure these sizes more closely. Those that can't be measured in its time are left to the largest that can.
pub fn sharpen(p: &Asked<'_>, sizes: &[u64]) -> String {
    command(p, (p.pattern, true), sizes)
}

/// The command that would measure two paths more closely. Two files may hold the same path.
pub fn sharpen_both(a: &Asked<'_>, b: &Asked<'_>) -> String {
    let both = if a.typed() == b.typed() { a.typed() } else { format!("{} {}", a.typed(), b.typed()) };
    format!("pipegauge run {both}{} --budget 30s", a.flags(a.pattern, true))
}

/// The command that would measure these sizes by another pattern, or, of a schedule (`--rate`), without it.
fn command(p: &Asked<'_>, (pattern, scheduled): (&str, bool), sizes: &[u64]) -> String {
    let mut sizes: Vec<u64> = sizes.iter().filter(|s| **s > 0).map(|s| (*s).min(most(p))).collect();
    sizes.dedup();
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let list = if sizes.is_empty() || !p.sized() { String::new() } else { format!(" --sizes {}", sizes.join(",")) };
    format!("pipegauge run {}{}{list} --budget 30s", p.typed(), p.flags(pattern, scheduled))
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
    answer.sharpen = command(p, (pattern, true), sizes);
    answer
}

/// No answer, as a schedule (`--rate`) says when messages are sent.
pub fn unscheduled(p: &Asked<'_>, why: String, sizes: &[u64]) -> Answered {
    let mut answer = cannot(p, why, sizes);
    answer.sharpen = command(p, (p.pattern, false), sizes);
    answer
}

/// A figure that has no interval.
pub fn alone(value: f64) -> Estimate {
    Estimate { value, low: 0.0, high: f64::INFINITY }
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

/// How far an interval ends from a limit, where a sure verdict rests on less than its rounded ends show: begins with a semicolon.
pub fn apart(e: Estimate, limit: f64) -> String {
    let (end, side) = match verdict(e, limit) {
        "yes" => (e.high, "below"),
        "no" => (e.low, "above"),
        _ => return String::new(),
    };
    // Ends have the digits of the width, at most three as the value has.
    let step = |x: f64| 10f64.powf(x.abs().log10().floor());
    let rounded = step((e.high - e.low) / 2.0).max(step(e.value) / 100.0);
    match e.low.is_finite() && e.high.is_finite() && (end - limit).abs() < rounded {
        true => format!("; the interval ends {} {side} that", Share((end / limit - 1.0).abs())),
        false => String::new(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_that_rounded_ends_do_not_show_says_how_far_they_lie() {
        let e = |value, low, high| Estimate { value, low, high };
        assert_eq!(apart(e(12.0, 11.9, 12.04), 12.1), "; the interval ends 0.50% below that");
        assert_eq!(apart(e(12.0, 11.9, 12.04), 13.0), "");
        assert_eq!(apart(e(12.0, 11.96, 12.04), 11.95), "; the interval ends 0.084% above that");
        assert_eq!(apart(e(12.0, 11.0, 14.0), 12.1), "");
        assert_eq!(apart(e(12.0, 0.0, f64::INFINITY), 12.1), "");
    }
}
