//! The verdict on two sides of one run, which took turns.

use model::{Comparison, Finding, Paired};

use super::Named;
use super::ratios::{how, interval, of_time, ratio};
use super::stretches::{by_itself, held, parts, rounds, seen, singles, unbounded};
use crate::words::plain;

/// The verdict on two sides of one run: the curves as wholes first, then the sizes, then the least difference that could have been found.
pub(super) fn in_turns(named: &Named, paired: Paired) -> String {
    let c = &named.comparison;
    let (a, b) = (plain(&named.first), plain(&named.second));
    let whole = of_time(c.whole.value, &interval(c.whole));
    let Some(finds) = paired.finds else {
        if paired.rounds == 0 {
            return "No verdict: no round visited a size on both sides, and the first looks at each are no comparison; measure longer \
                    (--budget), or fewer sizes (--to)."
                .to_owned();
        }
        let why = match c.few_rounds {
            Some(1) => "1 round of each side is too few for an interval (four are the fewest)".to_owned(),
            Some(few) => format!("{} of each side are too few for an interval (four are the fewest)", rounds(few)),
            None => format!("it changed too slowly over {} of each side for an interval", rounds(paired.rounds)),
        };
        return format!(
            "No verdict: {b} took {} of {a}{}; {why}: measure longer (--budget).",
            of_time(c.whole.value, &ratio(c.whole.value)),
            seen(c)
        );
    };
    let stretches = c.stretches.iter().any(|s| s.differs);
    let (over, alone) = match &c.sizes[..] {
        [one] => (format!("at {}", named.size(one.size)), true),
        all => match all.iter().filter(|s| s.ratio.high.is_finite()).count() {
            told if told < all.len() => (format!("over the {told} of {} sizes with an interval", all.len()), false),
            _ => ("over all sizes".to_owned(), false),
        },
    };
    let mut text = match named.finding() {
        Finding::Differ if paired.differs => {
            format!("{b} is {}: {over} it takes {whole} of {a}{}.", how(c.whole.value), held(c))
        }
        Finding::Differ => format!("{b} differs from {a} at some sizes; {over} it takes {whole}."),
        Finding::RoundsByChance => format!(
            "No verdict: {over} {b} took {whole} of {a}, but of so few as {} as many go one way by chance on a machine in states; measure \
             longer (--budget).",
            rounds(paired.rounds)
        ),
        Finding::SingleSizes => format!(
            "No verdict on all sizes together: {over} {b} took {whole} of {a}. Single sizes differ: {}.",
            singles(named)
        ),
        Finding::NoDifference => format!("No difference found between {a} and {b}: {over} {b} takes {whole}."),
        Finding::NoInterval | Finding::FewRounds => return unbounded(named, &whole),
        Finding::Vague | Finding::Disturbed | Finding::FewRuns | Finding::WholeAlone => {
            format!("No verdict: {over} {b} took {whole} of {a}, which tells too little; measure longer (--budget).")
        }
    };
    if paired.differs && (c.one_factor().is_some() || !stretches) {
        text.push_str(&by_itself(named));
    } else if stretches && !alone {
        text.push_str(&match &c.stretches[..] {
            // Its median beside the factor of all sizes would be two figures of one thing.
            [_] if paired.differs => {
                format!("\nTaken by themselves, {} of {} sizes are sure to differ.", significant(c), c.sizes.len())
            }
            _ => format!("\nIt is {}.", parts(named)),
        });
    } else if !paired.differs {
        let share = |share: f64| match share {
            small if small < 1.0 => format!("{:.1}%", small * 100.0),
            large => format!("{:.1} times", large + 1.0),
        };
        text.push_str(&format!(
            "\n{} rounds in turns find a difference of {} {over}{}, four times in five.",
            paired.rounds,
            share(finds),
            paired
                .finds_at_a_size
                .filter(|_| !alone)
                .map_or(String::new(), |f| format!(", and of {} at a single size", share(f)))
        ));
    }
    text.push_str(&untold(named));
    if paired.differs || stretches {
        text.push_str(&format!("\nBoth took turns, and {} rounds of each were compared in pairs.", paired.rounds));
    }
    text
}

/// Sizes that are sure to differ, each by itself.
fn significant(c: &Comparison) -> usize {
    c.sizes.iter().filter(|s| s.significant).count()
}

/// The sizes that too few rounds visited for an interval, and whether these rounds agree: not part of the verdict. Empty where each has
/// one.
fn untold(named: &Named) -> String {
    let untold: Vec<_> = named.comparison.sizes.iter().filter(|s| !s.ratio.high.is_finite()).collect();
    let (Some(first), Some(last)) = (untold.first(), untold.last()) else { return String::new() };
    let ratios = || untold.iter().map(|s| s.ratio.value);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let (from, to) = (named.size(first.size), named.size(last.size));
    let times = |r: f64| of_time(r, &ratio(r));
    let (which, saw) = match untold.len() {
        1 => (from, format!("at {}", times(least))),
        n => (format!("{n} sizes between {from} and {to}"), format!("at {} to {}", times(least), times(most))),
    };
    format!(
        "\nThere is no verdict on {which}: fewer than {} rounds measured {}, {saw}. --sizes or a longer --budget tells more.",
        stats::FEWEST_ROUNDS,
        if untold.len() == 1 { "it" } else { "them" }
    )
}
