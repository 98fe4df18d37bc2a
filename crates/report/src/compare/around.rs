//! The circumstances of a comparison: CPUs that were shared, what the machine did, who took CPU time.

use model::{Comparison, Disturber};

use super::Named;
use super::ratios::percent;
use crate::words::plain;

/// That both processes of one side shared a CPU, where those of the other did not: the first cause to check, and part of what was compared,
/// whatever other programs took.
pub(super) fn one_cpu(named: &Named) -> String {
    let name = match named.one_cpu {
        (true, false) => &named.first,
        (false, true) => &named.second,
        _ => return String::new(),
    };
    format!(
        "\nBoth processes of {} were pinned to one CPU, where each runs only while the other waits: a difference may be that of \
         two CPUs and one.",
        plain(name)
    )
}

/// A shift of the machine's calibration below this share is not mentioned.
const WORTH_A_WORD: f64 = 0.02;

/// The shifts of the machine's calibration, where there are any.
pub(super) fn machine(c: &Comparison) -> String {
    let told = c.machine.iter().filter(|s| s.ratio.ln().abs() > WORTH_A_WORD);
    let mut text = String::new();
    if let Some(d) = c.disturbed.filter(|d| !d.undecided) {
        text = format!(
            "\n{} {:.0}% of a CPU on the first side and {:.0}% on the second{}.",
            capital(took(d.by)),
            d.first * 100.0,
            d.second * 100.0,
            match c.stretches.iter().any(|s| s.differs) || c.differs_as_whole() {
                true => ": what that explains is not counted as a difference, and more than that differs",
                false => ", which may hide a difference",
            }
        );
    }
    if let Some(drift) = c.drift.filter(|drift| drift.ln().abs() > WORTH_A_WORD) {
        text.push_str(&format!(
            "\nAll runs of one side came before those of the other, and runs of a side moved from one to the next: what that explains \
             ({} of the time that the first side took) is not counted as a difference. Runs that take turns leave no such doubt.",
            percent(drift)
        ));
    }
    let parts: Vec<String> = told.map(|s| format!("{} {}", plain(&s.what), percent(s.ratio))).collect();
    if parts.is_empty() {
        return text;
    }
    text + &format!(
        "\nThe machine itself ran at another speed: {} of the time it took on the first side. What that explains is not \
         counted as a difference; paths that are measured in one run, in turns, share the speed.",
        parts.join(", ")
    )
}

/// Who took CPU time, as a part of a sentence.
pub(super) fn took(by: Disturber) -> &'static str {
    match by {
        Disturber::Programs => "other programs took",
        Disturber::Hypervisor => "the hypervisor kept (steal)",
        Disturber::Quota => "a CPU quota kept from the measurement",
    }
}

/// What to do so that it does not happen again.
pub(super) fn remedy(by: Disturber) -> &'static str {
    match by {
        Disturber::Programs => "Measure again on a quiet machine, or both in one run, in turns.",
        Disturber::Hypervisor => {
            "Nothing on this machine stops that: measure both in one run, in turns, or on another machine."
        }
        Disturber::Quota => "Allow two CPUs and more (docker run --cpus, CPUQuota=), and measure again.",
    }
}

fn capital(text: &str) -> String {
    let mut all = text.chars();
    all.next().map_or(String::new(), |first| first.to_uppercase().chain(all).collect())
}
