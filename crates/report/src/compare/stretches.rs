//! Where two sides differ: stretches of sizes, single sizes, and sizes at which all rounds agree.

use model::{Comparison, Stretch};

use super::Named;
use super::ratios::how;
use crate::words::plain;

/// That no size contradicts the factor of all sizes together; empty where some do, or where there is one size.
pub(super) fn held(c: &Comparison) -> String {
    match c.one_factor() {
        Some((hold, all)) if all > 1 => format!(", and the intervals of {hold} of {all} sizes hold that factor"),
        _ => String::new(),
    }
}

/// Stretches of sizes that differ by themselves, after a verdict on all sizes: a line of its own. A stretch says nothing about the rest,
/// whose own intervals are wider than that of all sizes together.
pub(super) fn by_itself(named: &Named) -> String {
    let c = &named.comparison;
    let clear: Vec<String> =
        (c.stretches.iter().filter(|s| s.differs)).map(|s| format!("{} {}", how(s.ratio), place(s, named))).collect();
    let all = c.sizes.iter().all(|s| s.significant) && c.stretches.len() == 1 && c.stretches[0].differs;
    if c.sizes.len() == 1 || all {
        return String::new();
    }
    if clear.is_empty() {
        return match c.sizes.iter().any(|s| s.significant) {
            true => format!("\nTaken by themselves, only single sizes are sure to differ: {}.", singles(named)),
            false => "\nNo stretch of sizes is sure to differ by itself.".to_owned(),
        };
    }
    format!(
        "\nTaken by themselves, only these sizes are sure to differ: {}. That the others do not, it does not say: a single size is \
         known less well than all together.",
        clear.join(", ")
    )
}

/// That there is no verdict because no size has an interval; `whole` is the ratio over all sizes as shown.
pub(super) fn unbounded(named: &Named, whole: &str) -> String {
    format!(
        "No verdict: {} took {whole} of {}, and none of the {} sizes was visited by enough rounds of both for an interval; measure longer \
         (--budget), or fewer sizes (--to).",
        plain(&named.second),
        plain(&named.first),
        named.comparison.sizes.len()
    )
}

/// At how many sizes all rounds agree, where they give no interval; begins with a comma. Empty where no size has rounds of both sides.
pub(super) fn seen(c: &Comparison) -> String {
    let Some(seen) = c.seen.filter(|s| s.sizes > 0) else { return String::new() };
    let sizes = |n: usize| match (n, seen.sizes) {
        (1, 1) if c.sizes.len() == 1 => String::new(),
        (1, 1) => " at the one size that rounds of both visited".to_owned(),
        (n, all) if n == all => format!(" at all {all} sizes"),
        (n, all) => format!(" at {n} of {all} sizes"),
    };
    match (seen.slower, seen.faster) {
        (0, 0) => ", in some rounds longer and in others not".to_owned(),
        (slower, 0) => format!(", longer in every round{}", sizes(slower)),
        (0, faster) => format!(", less in every round{}", sizes(faster)),
        (slower, faster) => {
            format!(", longer in every round{} and less in every round{}", sizes(slower), sizes(faster))
        }
    }
}

pub(super) fn rounds(n: u32) -> String {
    if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") }
}

/// Where the second side differs, and that elsewhere no difference was found.
pub(super) fn parts(named: &Named) -> String {
    let c = &named.comparison;
    let clear = c.stretches.iter().filter(|s| s.differs);
    let parts: Vec<String> = clear.map(|s| format!("{} {}", how(s.ratio), place(s, named))).collect();
    // There may be a difference that no single size shows.
    let not = "not sure to differ";
    let rest = match c.stretches.iter().filter(|s| !s.differs).collect::<Vec<_>>()[..] {
        [] => String::new(),
        [s] if s.from == c.sizes[0].size => format!(", {not} below"),
        [s] if s.to == c.sizes[c.sizes.len() - 1].size => format!(", {not} above"),
        _ => format!(", {not} elsewhere"),
    };
    format!("{}{rest}", parts.join(", "))
}

/// Single sizes that differ, where no stretch does; begins with a semicolon.
pub(super) fn lone(n: usize) -> String {
    match n {
        0 => String::new(),
        1 => "; 1 lone size stands out below (*), as levels of single connections do".to_owned(),
        n => format!("; {n} lone sizes stand out below (*), as levels of single connections do"),
    }
}

/// Most single sizes that are named.
const NAMED: usize = 4;

/// The sizes that surely differ, each by itself, the largest difference first: `8 MiB (6.63 times slower)`.
pub(super) fn singles(named: &Named) -> String {
    let mut clear: Vec<_> = named.comparison.sizes.iter().filter(|s| s.significant).collect();
    clear.sort_by(|a, b| b.ratio.value.ln().abs().total_cmp(&a.ratio.value.ln().abs()));
    let told: Vec<String> =
        clear.iter().take(NAMED).map(|s| format!("{} ({})", named.size(s.size), how(s.ratio.value))).collect();
    match clear.len() - told.len() {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

fn place(s: &Stretch, named: &Named) -> String {
    let c = &named.comparison;
    let unit = named.pattern.facts().size.unit;
    let (from, to) = (named.size(s.from), named.size(s.to));
    let (first, last) = (s.from == c.sizes[0].size, s.to == c.sizes[c.sizes.len() - 1].size);
    match (first, last) {
        _ if s.from == s.to && c.sizes.len() > 1 => format!("at {from}{unit}"),
        (true, true) => {
            match c.sizes.iter().filter(|at| at.significant && (at.ratio.value < 1.0) == (s.ratio < 1.0)).count() {
                n if n < c.sizes.len() => format!("at {n} of {} sizes", c.sizes.len()),
                _ => "at all sizes".to_owned(),
            }
        }
        (true, false) => format!("up to {to}{unit}"),
        (false, true) => format!("from {from}{unit} up"),
        (false, false) => format!("from {from} to {to}{unit}"),
    }
}
