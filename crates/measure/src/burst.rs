//! The warning that long trials show another speed than short ones, with the cause where there is evidence of one that is large enough. Pure.

use host::Taken;
use units::{Bytes, Seconds};

use crate::event::{Plan, Warning};
use crate::sustained::{self, Sustained};
use crate::taken_by;
use crate::warned::warning;

/// Clocks nearer to each other than this, as a ratio, are as fast.
const AS_FAST: f64 = 1.02;

/// Long trials show another speed than short ones. `taken` is what others took of the CPUs during the long ones, where that is known: a
/// cause is named where there is evidence of it.
pub fn burst(plan: &Plan, kept_up: &[Sustained], taken: Option<Taken>) -> Option<Warning> {
    let worst = sustained::most_apart(kept_up)?;
    let (of, what) = if worst.short_mean_as_long() {
        let also = format!(
            "; short trials, too, take {:.2} times their median on average: stops fall into some of them, which a median passes by",
            worst.short_mean
        );
        ("the median is not the mean", also)
    } else {
        ("sustained is not burst", String::new())
    };
    let text = format!(
        "{of}: trials of {} take {} as long a message as the short ones' median at {}{what}; {}",
        Seconds(worst.lasted),
        worst.times(),
        Bytes(worst.size),
        cause(plan, worst, taken),
    );
    Some(warning("burst", kept_up.iter().filter(|s| s.differs()).map(|s| s.size).collect(), text))
}

/// The cause, where one is known or was seen that is large enough; else those that come into question, and what was seen.
fn cause(plan: &Plan, worst: &Sustained, taken: Option<Taken>) -> String {
    if worst.ratio < 1.0 {
        return "the path may come up to speed only after a while; the figures are those of short trials".to_owned();
    }
    if plan.decorators.shape.as_ref().is_some_and(|s| s.rate > 0.0) {
        return "likely cause: the shaper's bucket, which fills up between short trials; the figures are burst speed"
            .to_owned();
    }
    let found = taken.and_then(|t| taken_by::of_long_trials(&t, worst.ratio));
    match (found, worst.boosted()) {
        (Some(found), clock) if found.0.is_quota() || clock.is_none() => taken_by::likely(found),
        (_, Some((short, long))) => format!("likely cause: a boosted clock: {}", clocks(short, long)),
        _ => unexplained(worst, taken),
    }
}

/// The speed of the near side's CPU in short trials and in long ones.
fn clocks(short: f64, long: f64) -> String {
    let [short, long] = [short, long].map(|hertz| hertz * 1e-9);
    format!(
        "the near side's CPU ran at {short:.2} GHz in short trials and at {long:.2} GHz in long ones (cycles over CPU time)"
    )
}

/// What comes into question where nothing that was seen is large enough, and what was seen.
fn unexplained(worst: &Sustained, taken: Option<Taken>) -> String {
    let (mut open, mut seen) = (Vec::new(), Vec::new());
    let quota_told = taken.and_then(|t| t.throttled);
    match quota_told {
        None => open.push("a CPU quota"),
        Some(0) => seen.push("no quota stopped the run".to_owned()),
        Some(_) => {}
    }
    match worst.clock {
        None => open.push("a boosted clock"),
        Some((short, long)) if (short / long).max(long / short) < AS_FAST => {
            seen.push("the CPU's clock was as fast in both".to_owned());
        }
        Some((short, long)) => seen.push(format!("{}, which does not explain it", clocks(short, long))),
    }
    let little = taken.map_or(Vec::new(), |t| taken_by::seen(&t));
    seen.extend(
        little.into_iter().map(|(who, share)| format!("{} {}, too little for it", who.whose(), who.did(share))),
    );
    open.push("a shaper");
    let none = if open.len() == 2 { "neither was seen" } else { "none was seen" };
    let looks = if quota_told.is_none() { " (pipegauge doctor looks for a quota)" } else { "" };
    format!(
        "{} may be the cause; {}{looks}",
        listed(&open, " or"),
        listed(&[&[none.to_owned()], &seen[..]].concat(), ", and")
    )
}

/// These one after another, with this before the last.
fn listed<T: std::borrow::Borrow<str>>(words: &[T], joint: &str) -> String {
    let words: Vec<&str> = words.iter().map(std::borrow::Borrow::borrow).collect();
    match &words[..] {
        [rest @ .., last] if !rest.is_empty() => format!("{}{joint} {last}", rest.join(", ")),
        words => words.concat(),
    }
}
