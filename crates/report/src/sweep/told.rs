//! Which cell to take, and dips, in sentences.

use model::sweep::{Better, Choice};
use units::{Bytes, resolved};

use super::tables::factor;
use super::{Figure, Sweep};

/// Most cells that are named; of more only the number is given.
const NAMED: usize = 4;

pub(super) fn text(sweep: &Sweep) -> String {
    let mut text: String =
        sweep.figures.iter().filter_map(|figure| Some(choice(sweep, figure, figure.choice.as_ref()?))).collect();
    for found in &sweep.dropouts {
        let dip = &found.dip;
        text.push_str(&format!(
            "{}: a dip from {} to {}: x{} the time.\n",
            sweep.cell(found.cell),
            Bytes(dip.from.above),
            Bytes(dip.to.below),
            factor(dip.factor.value)
        ));
    }
    let (measured, wanted) = (sweep.measured(), sweep.wanted());
    if measured < wanted {
        text.push_str(&format!("{measured} of {wanted} runs are there: what they say is of these alone.\n"));
    }
    if sweep.rounds < 4 {
        text.push_str(
            "Fewer than four rounds tell no interval: run it with --rounds 6 before you rely on a difference.\n",
        );
    }
    text
}

fn choice(sweep: &Sweep, figure: &Figure, choice: &Choice) -> String {
    let most = match figure.better {
        Better::Lower => "Lowest",
        Better::Higher => "Highest",
    };
    let value = resolved(choice.value.value, choice.value.low, choice.value.high, figure.kind);
    let mut text = format!("{most} {}: {}, {value}.", figure.name, sweep.cell(choice.best));
    let (worse, alike) = (choice.worse.len(), choice.alike.len());
    match (worse, alike) {
        (0, 0) => {}
        (1, 0) => text.push_str(" The other is worse, with 95% confidence."),
        (n, 0) => text.push_str(&format!(" All {n} others are worse, with 95% confidence for all of them at once.")),
        (n, m) => {
            let first = match n {
                0 if m == 1 => " The other was not told from it:".to_owned(),
                0 => format!(" None of {m} others was told from it:"),
                _ => format!(" Of {} others {n} are worse; not told from it:", n + m),
            };
            let named = choice.alike.iter().take(NAMED).map(|cell| sweep.cell(*cell)).collect::<Vec<_>>().join("; ");
            let more = if m > NAMED { format!("; and {} more", m - NAMED) } else { String::new() };
            text.push_str(&format!("{first} {named}{more}."));
        }
    }
    if let Some(over) = choice.over_first.filter(|_| choice.worse.contains(&0)) {
        text.push_str(&format!(
            " It has x{} [{}, {}] the {} of {}.",
            factor(over.value),
            factor(over.low),
            factor(over.high),
            figure.name,
            sweep.cell(0)
        ));
    }
    match (choice.advised == choice.best, choice.advised) {
        (true, _) if worse == 0 && alike > 0 => text.push_str(" Nothing tells which to take.\n"),
        (true, _) => text.push_str(" Take it.\n"),
        (false, 0) => text.push_str(&format!(" Keep {}: nothing is told to be better.\n", sweep.cell(0))),
        (false, cell) => {
            text.push_str(&format!(" Take {}: of those not told apart it changes least.\n", sweep.cell(cell)))
        }
    }
    text
}
