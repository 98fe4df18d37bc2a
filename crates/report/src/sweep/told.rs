//! Which cell to take, and dips, in sentences.

use model::sweep::{Better, Choice};
use units::{Bytes, resolved};

use super::tables::factor;
use super::{Apart, Figure, Sweep};

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
    text.extend(apart(sweep));
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

/// What took effect differently on the two sides, a sentence each, with the cells that have it.
fn apart(sweep: &Sweep) -> Vec<String> {
    let mut found: Vec<(&Apart, Vec<usize>)> = Vec::new();
    for (cell, apart) in sweep.apart.iter().flat_map(|(cell, all)| all.iter().map(|one| (*cell, one))) {
        match found.iter_mut().find(|(one, _)| *one == apart) {
            Some((_, cells)) => cells.push(cell),
            None => found.push((apart, vec![cell])),
        }
    }
    let all = sweep.figures.first().map_or(0, |figure| figure.readings.read().len());
    let sentence = |(apart, cells): (&Apart, Vec<usize>)| {
        let of = match cells.len() {
            n if n == all && n > 1 => format!("all {n} cells"),
            _ => named(sweep, &cells),
        };
        let Apart { setting, near, far } = apart;
        format!("The two sides differ in {setting}: {near} here and {far} on the far side, in {of}.\n")
    };
    found.into_iter().map(sentence).collect()
}

/// The first of these cells, and how many more there are.
fn named(sweep: &Sweep, cells: &[usize]) -> String {
    let first = cells.iter().take(NAMED).map(|cell| sweep.cell(*cell)).collect::<Vec<_>>().join("; ");
    if cells.len() > NAMED { format!("{first}; and {} more", cells.len() - NAMED) } else { first }
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
            text.push_str(&format!("{first} {}.", named(sweep, &choice.alike)));
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::sweep::{Design, Readings};
    use units::Kind;

    use super::*;
    use crate::sweep::Axis;

    #[test]
    fn what_took_effect_differently_on_the_two_sides_is_told_with_its_cells() {
        let axis = Axis { name: "congestion".into(), levels: vec!["default".into(), "cubic".into()] };
        let mut readings = Readings::new(Design::new(vec![2]), 1);
        readings.take(0, 0, 1e-5);
        readings.take(1, 0, 2e-5);
        let mut sweep = Sweep {
            transport: Some("tcp".into()),
            axes: vec![axis],
            rounds: 1,
            refused: 0,
            time: None,
            figures: vec![Figure::new("latency", Kind::Seconds, Better::Lower, readings)],
            dropouts: Vec::new(),
            settings: BTreeMap::new(),
            apart: BTreeMap::new(),
        };
        assert!(!text(&sweep).contains("differ in"));
        let of = |setting: &str, near: &str, far: &str| Apart {
            setting: setting.into(),
            near: near.into(),
            far: far.into(),
        };
        sweep.apart.insert(0, vec![of("congestion", "bbr", "cubic"), of("sockbuf (send)", "1", "2")]);
        sweep.apart.insert(1, vec![of("sockbuf (send)", "1", "2")]);
        let said = text(&sweep);
        let one =
            "The two sides differ in congestion: bbr here and cubic on the far side, in tcp congestion=default.\n";
        assert!(said.contains(one), "{said}");
        assert!(said.contains("sockbuf (send): 1 here and 2 on the far side, in all 2 cells.\n"), "{said}");
    }
}
