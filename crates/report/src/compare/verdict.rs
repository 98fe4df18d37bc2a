//! The verdict of a comparison in sentences.

use model::{Comparison, Finding};

use super::around::{machine, one_cpu, remedy, took};
use super::ratios::{how, interval, needed, of_time, ratio};
use super::stretches::{by_itself, held, lone, parts, rounds, seen, unbounded};
use super::turns::in_turns;
use super::{APART, IN_ONE_RUN, MAY_LIE_APART, Named};
use crate::words::plain;

/// "B is 1.8 times faster than A from 64 KiB up, not sure to differ below."
pub fn verdict(named: &Named) -> String {
    let cpu: String = named.cpu.iter().map(|ratio| format!("\n{}", ratio.words())).collect();
    let note = named.note.as_ref().map_or(String::new(), |note| format!("\n{note}"));
    format!("{}{note}{}{}{cpu}", difference(named), one_cpu(named), machine(&named.comparison))
}

fn difference(named: &Named) -> String {
    let c = &named.comparison;
    if let Some(paired) = c.paired {
        return in_turns(named, paired);
    }
    let (a, b) = (plain(&named.first), plain(&named.second));
    let whole = of_time(c.whole.value, &interval(c.whole));
    let lone = || lone(c.sizes.iter().filter(|s| s.significant).count());
    match named.finding() {
        Finding::Differ if named.separate && !c.between.is_some_and(|b| b.sure()) => format!(
            "{b} is {}: over all sizes it takes {whole} of {a}.\nSmaller differences, of single sizes too, have no verdict: {}; \
             it is hardly ever a factor of four.",
            how(c.whole.value),
            known(c)
        ),
        Finding::Differ => differs(named),
        Finding::NoDifference => format!(
            "No difference found between {a} and {b}: over all sizes {b} takes {whole}; as far as these runs lie apart, one of {} is found four times in five{}.",
            needed(c.whole),
            lone()
        ),
        Finding::Disturbed => disturbed(named),
        Finding::FewRounds => format!(
            "No verdict: {b} took {} of {a}{}; {} too few for an interval (four are the fewest): measure longer (--budget).",
            of_time(c.whole.value, &ratio(c.whole.value)),
            seen(c),
            match c.few_rounds.unwrap_or_default() {
                1 => "1 round of a side is".to_owned(),
                few => format!("{} of a side are", rounds(few)),
            }
        ),
        Finding::FewRuns => format!(
            "No verdict: {}. These runs alone tell that {b} took {whole} of {a} over all sizes. For a verdict, {IN_ONE_RUN}, or each at \
             least three times, in turns.",
            known(c)
        ),
        Finding::NoInterval => unbounded(named, &of_time(c.whole.value, &ratio(c.whole.value))),
        Finding::WholeAlone => format!(
            "No verdict: over all sizes {b} took {whole} of {a}{}, but no stretch of sizes is sure to differ by itself, and {MAY_LIE_APART}; \
             {IN_ONE_RUN}, or more often.",
            held(c)
        ),
        Finding::Vague | Finding::RoundsByChance | Finding::SingleSizes => format!(
            "No verdict: over all sizes {b} took {whole} of {a}, which tells too little{}; measure longer (--budget) or more often.",
            lone()
        ),
    }
}

/// What is known of how far runs of one thing lie apart, where that is too little.
fn known(c: &Comparison) -> String {
    match c.between {
        None => APART.to_owned(),
        Some(b) => format!("{APART} ({} do)", b.runs),
    }
}

fn disturbed(named: &Named) -> String {
    let Some(d) = named.comparison.disturbed else { return String::new() };
    let taken = |share: f64| format!("{:.0}%", share * 100.0);
    format!(
        "No verdict: {} {} of a CPU while {} was measured, and {} while {} was. What differs below may come of that. {}",
        took(d.by),
        taken(d.first),
        plain(&named.first),
        taken(d.second),
        plain(&named.second),
        remedy(d.by)
    )
}

/// That the sides differ, over all sizes by one factor, or over some of them.
fn differs(named: &Named) -> String {
    let c = &named.comparison;
    let (a, b) = (plain(&named.first), plain(&named.second));
    let whole = of_time(c.whole.value, &interval(c.whole));
    if c.one_factor().is_some() {
        return format!(
            "{b} is {}: over all sizes it takes {} of {a}{}.{}",
            how(c.whole.value),
            whole,
            held(c),
            by_itself(named)
        );
    }
    if !c.stretches.iter().any(|s| s.differs) {
        return format!("{b} took {whole} of {a} over all sizes; no stretch of sizes is sure to differ by itself.");
    }
    let mut text = format!("{b} is {} (against {a}).", parts(named));
    if !matches!(c.stretches[..], [_]) {
        text.push_str(&format!(" Over all sizes together it takes {}.", whole));
    }
    for (from, to) in &c.crossovers {
        let (from, to) = (named.size(*from), named.size(*to));
        let unit = named.pattern.facts().size.unit;
        text.push_str(&format!("\nThe faster side changes between {from} and {to}{unit}."));
    }
    text
}

#[cfg(test)]
mod tests;
