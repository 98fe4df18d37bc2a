//! Tables in Markdown: cells and rows.

use std::fmt::Write;

use crate::comparing::{self, FACTORS, SIDES};
use crate::coverage::{self, FIGURES};
use crate::noise::Demand;
use crate::percentiles::{self, SHARES};
use crate::tally::Tally;
use crate::turns;
use crate::world::Shape;

/// A table: a header and rows of as many cells.
pub fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|{}\n", "---|".repeat(header.len()));
    rows.iter().fold(line(header) + &rule, |all, row| all + &line(row))
}

/// Cells of text.
pub fn cells<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// A count, bold where it misses its target.
pub fn count(n: u64, met: bool) -> String {
    if met { n.to_string() } else { format!("**{n}**") }
}

/// Whether a row's targets are met.
pub fn verdict(met: bool) -> String {
    if met { "met" } else { "not met" }.to_owned()
}

/// A share in percent, with a digit after the point below ten.
pub fn percent(share: f64) -> String {
    if share < 0.0995 { format!("{:.1}%", share * 100.0) } else { format!("{:.0}%", share * 100.0) }
}

/// A share of intervals that held, their half-width, and what else there is to say. Where there is a demand that is not met, bold, or italic
/// where more hold than they say.
pub fn held(tally: Option<&Tally>, demand: Option<Demand>) -> String {
    let Some(t) = tally else { return "no figure".into() };
    let mut text = match (t.coverage(), t.width()) {
        (Some(share), Some(width)) => format!("{:.0} ±{}", share * 100.0, percent(width)),
        _ => "none given".into(),
    };
    text = match demand {
        Some(demand) if t.only_wide(demand) => format!("*{text}*"),
        Some(demand) if !t.meets(demand) => format!("**{text}**"),
        _ => text,
    };
    if t.none > 0 && t.given() > 0 {
        let _ = write!(text, ", {} none", percent(t.none as f64 / (t.none + t.given()) as f64));
    }
    if t.absurd > 0 {
        let _ = write!(text, ", {} absurd", t.absurd);
    }
    text
}

/// Coverage of one shape of run: against the machine's truth, or against the run's. Where all sentences of trust say that intervals hold
/// for this run alone, nothing is claimed of a machine whose noise lasts longer, and its row has no target; else the runs that say
/// more are held to it, and a cell that misses it tells what they held.
pub fn coverage(rows: &[coverage::Row], of_run: bool) -> String {
    let header = cells(["noise", "of this run alone", "target", "met"].into_iter().chain(FIGURES));
    let (mut met_of_all, mut wide_of_all, mut all) = (0, 0, 0);
    let mut row = |row: &coverage::Row| {
        let (tallies, demand) = match row.demand {
            Demand::NoInterval => (&row.of_machine, Some(Demand::NoInterval)),
            _ if of_run => (&row.of_run, Some(Demand::InRun)),
            Demand::Claimed if row.of_this_run == row.runs => (&row.of_machine, None),
            demand => (&row.of_machine, Some(demand)),
        };
        let mut front = vec![row.noise.name(), percent(row.of_this_run as f64 / row.runs as f64)];
        if let Some(demand) = demand {
            let asked = if demand == Demand::Claimed { &row.of_claiming } else { tallies };
            let met = FIGURES.iter().filter(|f| asked.get(*f).is_some_and(|t| t.meets(demand))).count();
            (met_of_all, all) = (met_of_all + met, all + FIGURES.len());
            wide_of_all += FIGURES.iter().filter(|f| asked.get(*f).is_some_and(|t| t.only_wide(demand))).count();
            front.extend([demand.name().to_owned(), format!("{met} of {}", FIGURES.len())]);
        } else {
            front.extend(["not claimed".to_owned(), "-".to_owned()]);
        }
        if demand == Some(Demand::Claimed) {
            let cell = |f: &&str| {
                let (all, claiming) = (held(tallies.get(f), None), row.of_claiming.get(f));
                match claiming.is_none_or(|t| t.meets(Demand::Claimed)) {
                    true => all,
                    false => format!("{all} (**{}**)", held(claiming, None)),
                }
            };
            return front.into_iter().chain(FIGURES.iter().map(cell)).collect();
        }
        front.into_iter().chain(FIGURES.iter().map(|f| held(tallies.get(f), demand))).collect()
    };
    let table = table(&header, &rows.iter().map(&mut row).collect::<Vec<Vec<String>>>());
    let short = all - met_of_all - wide_of_all;
    format!(
        "{table}\nTargets met: {met_of_all} of {all}; {short} hold less often than they say, {wide_of_all} more often.\n"
    )
}

/// Percentiles, by noise: where the iterations of a trial are alike, and where each has a noise of its own.
pub fn percentiles(rows: &[percentiles::Row]) -> String {
    let columns = ["alike", "apart"].into_iter().flat_map(|which| SHARES.map(|q| format!("p{}, {which}", q * 100.0)));
    let header: Vec<String> = cells(["noise", "target", "met"]).into_iter().chain(columns).collect();
    let cell = |tally: &Tally, demand: Option<Demand>| {
        let given = tally.given() + tally.none + tally.open.iter().sum::<u64>();
        let mut parts = Vec::new();
        if let (Some(share), Some(width)) = (tally.coverage(), tally.width()) {
            parts.push(format!("{:.0} ±{}", share * 100.0, percent(width)));
        }
        if let [held, missed] = tally.open
            && held + missed > 0
        {
            let (part, held) = ((held + missed) as f64 / given as f64, held as f64 / (held + missed) as f64);
            parts.push(format!("{} open ({:.0})", percent(part), held * 100.0));
        }
        if tally.none > 0 {
            parts.push(format!("{} none", percent(tally.none as f64 / given as f64)));
        }
        if tally.absurd > 0 {
            parts.push(format!("{} absurd", tally.absurd));
        }
        let text = if parts.is_empty() { "no figure".to_owned() } else { parts.join(", ") };
        if demand.is_none_or(|demand| tally.meets_open(demand)) { text } else { format!("**{text}**") }
    };
    let row = |row: &percentiles::Row| {
        let front = vec![row.noise.name(), row.demand.name().to_owned(), verdict(row.met())];
        let held = row.held.iter().enumerate().flat_map(|(which, all)| {
            let asked = row.asked(which);
            all.iter().map(move |tally| (tally, asked))
        });
        front.into_iter().chain(held.map(|(tally, asked)| cell(tally, asked))).collect()
    };
    table(&header, &rows.iter().map(row).collect::<Vec<_>>())
}

/// Comparisons of sides in turns, by noise.
pub fn turns(rows: &[turns::Row]) -> String {
    let factors = turns::FACTORS[1..].iter().map(|factor| format!("x{factor}"));
    let header: Vec<String> = cells(["noise", "target", "the same", "holds"])
        .into_iter()
        .chain(factors)
        .chain(cells(["no verdict", "as said", "single sizes", "layer", "L"]))
        .collect();
    let row = |row: &turns::Row| {
        let same = row.said[0];
        let holds = match same.bounded {
            0 => "-".to_owned(),
            n => percent(same.holds as f64 / n as f64),
        };
        let found = row.said[1..].iter().map(|said| match said.faster {
            0 => said.slower.to_string(),
            wrong => format!("{} ({wrong})", said.slower),
        });
        let as_said = match row.promised {
            (0, _) => "-".to_owned(),
            (given, found) => format!("{} of {given}", count(found, row.keeps_promise())),
        };
        let of_machine =
            |i: usize| row.of_machine.as_ref().map_or("-".to_owned(), |all| held(Some(&all[i]), row.demand));
        let front = [row.name(), verdict(row.met()), count(same.differ(), row.few_differ()), holds];
        let back = [as_said, held(Some(&row.sizes), Some(Demand::InRun)), of_machine(0), of_machine(1)];
        front.into_iter().chain(found).chain([same.none.to_string()]).chain(back).collect()
    };
    table(&header, &rows.iter().map(row).collect::<Vec<_>>())
}

/// Of the verdicts on the same thing under noises that last about as long as a run or longer, how many are false, for each kind of sides that
/// gives any; and the noise with the largest share of false ones.
pub fn false_verdicts(rows: &[comparing::Row], shape: &Shape) -> String {
    // How long states last has nothing to do with whether so few rounds have an interval.
    let rounds = shape.rounds.max(stats::FEWEST_ROUNDS as u32);
    let lasts = |row: &&comparing::Row| row.noise.demand(rounds, shape.length) == Demand::Claimed;
    let of = |(place, side): (usize, (usize, usize))| {
        let each = || rows.iter().filter(lasts).map(|row| (row, row.verdicts[place][0]));
        let given = |v: comparing::Verdicts| v.differ + v.same;
        let (differ, all) = each().fold((0, 0), |(differ, all), (_, v)| (differ + v.differ, all + given(v)));
        let share = |v: comparing::Verdicts| v.differ as f64 / given(v) as f64;
        let (row, most) = each().filter(|(_, v)| v.differ > 0).max_by(|a, b| share(a.1).total_cmp(&share(b.1))).unzip();
        let worst =
            row.zip(most).map(|(row, v)| format!(", the most {} of {} ({})", v.differ, given(v), row.noise.name()));
        let name = match side {
            (runs, 0) => format!("{runs} a side"),
            (_, earlier) => format!("{earlier} earlier"),
        };
        (all > 0).then(|| format!("{name} {differ} of {all} false{}", worst.unwrap_or_default()))
    };
    let said: Vec<String> = SIDES.into_iter().enumerate().filter_map(of).collect();
    if said.is_empty() {
        return String::new();
    }
    format!(
        "Of the verdicts given on the same thing under noise that lasts as long as a third of a run or longer: {}.\n\n",
        said.join("; ")
    )
}

/// Comparisons: said to differ, by how many times as long the second side takes and the runs of a side.
pub fn comparing(rows: &[comparing::Row]) -> String {
    let column = |factor: f64, side: (usize, usize)| {
        let what = if factor > 1.0 { format!("x{factor}") } else { "the same".to_owned() };
        match side {
            (1, 0) => what,
            (runs, 0) => format!("{what}, {runs} a side"),
            (_, earlier) => format!("{what}, {earlier} earlier"),
        }
    };
    let columns = FACTORS.into_iter().flat_map(|factor| SIDES.map(|side| column(factor, side)));
    let header: Vec<String> = cells(["noise", "target"]).into_iter().chain(columns).collect();
    let row = |row: &comparing::Row| {
        let met = row.verdicts.iter().all(|side| side[0].few());
        let at = |f: usize, s: usize| {
            let v = row.verdicts[s][f];
            match (v.none, v.differ + v.same) {
                (0, _) => count(v.differ, f > 0 || v.few()),
                (_, 0) => "no verdict".to_owned(),
                (none, _) => format!("{}, {none} none", count(v.differ, f > 0 || v.few())),
            }
        };
        let counts = (0..FACTORS.len()).flat_map(|f| (0..SIDES.len()).map(move |s| (f, s))).map(|(f, s)| at(f, s));
        [row.noise.name(), verdict(met)].into_iter().chain(counts).collect()
    };
    table(&header, &rows.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparing::{Row, Verdicts};
    use crate::noise::Noise;

    #[test]
    fn false_verdicts_are_those_of_the_same_under_noise_that_lasts() {
        let row = |noise, differ, same| {
            let three = Verdicts { differ, same, none: 60 - differ - same };
            let mut verdicts = [[Verdicts { none: 60, ..Verdicts::default() }; FACTORS.len()]; SIDES.len()];
            verdicts[1] = [three, Verdicts { differ: 60, ..Verdicts::default() }, three, three];
            Row { noise, verdicts }
        };
        let shape = Shape::of(30, 40);
        let rows = [
            row(Noise::Independent, 9, 51),
            row(Noise::Rounds(30.0), 3, 6),
            row(Noise::Seconds(60.0), 1, 0),
            row(Noise::Drift, 0, 60),
        ];
        let said = false_verdicts(&rows, &shape);
        assert!(said.ends_with(": 3 a side 4 of 70 false, the most 1 of 1 (states +50% of 60 s).\n\n"), "{said}");
        assert_eq!(false_verdicts(&rows[..1], &shape), "");
        assert!(false_verdicts(&rows[3..], &shape).ends_with(": 3 a side 0 of 60 false.\n\n"));
    }
}
