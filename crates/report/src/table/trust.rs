//! One sentence that says how far the figures may be trusted.

use record::{PathRun, RunFile};
use stats::Saw;
use units::{Seconds, Share, times};

use super::WIDTH;
use crate::text::paragraph;

/// Most paths that are named; of more, the number is given.
const NAMED: usize = 4;

/// How far the figures may be trusted, in one sentence, over all points of all paths: their precision, for which states of the machine it
/// holds, and how far a repeat may lie. Empty where there are no points.
///
/// The precision is the median over the points of how far their intervals reach, as a share of each point's median time.
pub fn trust(run: &RunFile) -> String {
    let points: Vec<_> = run.paths.iter().flat_map(|path| &path.points).collect();
    if points.is_empty() {
        return String::new();
    }
    let reaches: Vec<f64> =
        points.iter().map(|p| p.figures.reach()).filter(|reach| reach.is_finite() && *reach >= 0.0).collect();
    let open = points.len() - reaches.len();
    let none = format!("{open} of {} points {} no interval", points.len(), if open == 1 { "has" } else { "have" });
    let within = || match stats::median(&reaches) {
        // A share above 100% is given as a factor.
        reach if reach > 1.0 => format!("a factor of {}", times(1.0 + reach)),
        reach => Share(reach).to_string(),
    };
    let known = match (reaches.len(), open) {
        (0, _) => "no point has an interval in this run".to_owned(),
        (_, 0) => format!("half of the points are known to within {} in this run", within()),
        _ => format!("{none}; of the others, half are known to within {}", within()),
    };
    let ranges: Vec<f64> = (points.iter())
        .filter_map(|p| Some(p.figures.repeat_high?.max(0.0) / p.figures.repeat_low?))
        .filter(|ratio| ratio.is_finite() && *ratio >= 1.0)
        .collect();
    let virtual_time = run.paths.iter().all(|p| p.opened.capabilities.virtual_time);
    let soaks = run.run.plan.soaks();
    let repeat = if soaks {
        "; it holds for this connection, and how far another may lie is not known from it (measure rounds, without --duration)".to_owned()
    } else if !ranges.is_empty() {
        match stats::median(&ranges) {
            wide if wide > units::RESOLVED => {
                "; where a repeat falls on this machine can't be foretold: this run and the earlier ones leave it open by more than ten times".to_owned()
            }
            apart => format!(
                "; by earlier runs, a repeat of a point on this machine falls into a range whose ends lie a factor of {} apart (median \
                 of the points)",
                times(apart)
            ),
        }
    } else if virtual_time {
        String::new()
    } else {
        match run.paths.iter().any(|p| p.earlier.as_ref().is_some_and(|runs| !runs.is_empty())) {
            true => "; earlier runs do not tell yet how far a repeat may lie".to_owned(),
            false => "; how far a repeat may lie is not known without an earlier run".to_owned(),
        }
    };
    let long = match measure::sustained::needs(&run.run.plan).filter(|_| !virtual_time) {
        Some(budget) => {
            format!("; trials are too short to tell what a path keeps up (--budget {budget}s and more has longer ones)")
        }
        None => String::new(),
    };
    let mut out = String::new();
    paragraph("", &format!("Trust: {known}{}{}{repeat}{long}.", seen(run), scope(run)), WIDTH, &mut out);
    out
}

/// Where intervals are those of this run and not of the machine: at states that last longer than any path's rounds average over, since a run
/// may have met one of those alone. Empty where no rounds gave an interval, and of a modelled link, which repeats itself.
fn scope(run: &RunFile) -> String {
    let given = |path: &&PathRun| {
        let told = path.points.iter().any(|p| p.figures.high.is_finite());
        told && path.common.shared.moves.rounds > 0 && !path.opened.capabilities.virtual_time
    };
    let below: Vec<Option<f64>> = run.paths.iter().filter(given).map(PathRun::averages_below).collect();
    let shortest =
        below.iter().copied().collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(f64::INFINITY, f64::min));
    match shortest {
        _ if below.is_empty() || run.run.plan.soaks() => String::new(),
        None => "; intervals hold for this run alone".to_owned(),
        Some(length) => {
            format!("; intervals hold for this run alone where states last longer than {}", Seconds(length))
        }
    }
}

/// The states of the machine that rounds met, over all paths; paths with the same text share it. Empty where there are no rounds.
///
/// Where paths met more than two kinds, those that are averaged over share one text, which claims no more than each; `show` has each.
fn seen(run: &RunFile) -> String {
    let paths = run.paths.iter().filter(|path| !path.points.is_empty());
    let met: Vec<(&str, Met)> = paths.filter_map(|path| Some((path.opened.name(), saw(run, path)?))).collect();
    let mut whole = grouped(met.iter().map(|(name, met)| (*name, met.what.clone())));
    let averaged =
        grouped(met.iter().filter(|(_, met)| met.averaged.is_some()).map(|(name, met)| (*name, met.what.clone())));
    if whole.len() > 2 && averaged.len() > 1 {
        whole = grouped(met.iter().map(|(name, met)| match &met.averaged {
            Some(of) => (*name, format!("saw states of {of} that change between rounds or last for some")),
            None => (*name, met.what.clone()),
        }));
    }
    let each: Vec<String> = match &whole[..] {
        [] => return String::new(),
        [(what, _)] => vec![what.clone()],
        _ => whole.iter().map(|(what, names)| format!("{what} ({})", named(names))).collect(),
    };
    format!("; the rounds {}", each.join(", "))
}

/// Names under the text that they share, in the order of the first.
fn grouped<'a>(of: impl Iterator<Item = (&'a str, String)>) -> Vec<(String, Vec<&'a str>)> {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, what) in of {
        match said.iter_mut().find(|(other, _)| *other == what) {
            Some((_, names)) => names.push(name),
            None => said.push((what, vec![name])),
        }
    }
    said
}

fn named(names: &[&str]) -> String {
    match names.len() {
        n if n <= NAMED + 1 => names.join(", "),
        n => format!("{} and {} others", names[..NAMED].join(", "), n - NAMED),
    }
}

/// The states that the rounds of a path met.
struct Met {
    /// In a few words, after "the rounds".
    what: String,
    /// Whose states, where the rounds average over them.
    averaged: Option<&'static str>,
}

/// None where the schedule has no rounds.
fn saw(run: &RunFile, path: &PathRun) -> Option<Met> {
    if run.run.plan.soaks() {
        return None;
    }
    let limited = |what: String| Met { what, averaged: None };
    let shared = &path.common.shared;
    if shared.moves.rounds == 0 {
        return super::rounds(run, path).map(|_| limited("end before the first was completed".to_owned()));
    }
    let of = super::state::whose(path);
    let averaged = |what: String| Met { what, averaged: Some(of) };
    Some(match shared.moves.saw(shared.sigma) {
        Saw::Few => limited(format!("are too few to tell the states of {of}")),
        Saw::OneOfTwo => limited(format!("may all be of one of two states of {of}")),
        Saw::Outlasting => limited(format!("saw one or two states of {of}, which last too long to average over")),
        Saw::Lasting => averaged(format!("saw states of {of} that last for some rounds")),
        Saw::OneFar(_) => limited(format!("saw one state of {of} in all rounds but one")),
        Saw::Changing | Saw::One if super::state::few_sizes(path) => {
            limited(format!("visited too few sizes to tell the states of {of} from noise"))
        }
        Saw::Changing => averaged(format!("saw states of {of} that change between rounds")),
        Saw::One if super::state::apart(path).next().is_some() => {
            limited(format!("saw {of} in one state at most sizes and in several at some"))
        }
        Saw::One => limited(format!("saw one state of {of}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{MODELS, run_of};

    fn small() -> RunFile {
        run_of(&MODELS, &[1, 64, 1024, 12_288, 1 << 20], 5, 7)
    }

    /// Of one size the level of a round is that size's own noise.
    #[test]
    fn states_are_not_told_from_the_noise_of_few_sizes() {
        let mut one = run_of(&MODELS[3..], &[64], 30, 7);
        let levels: Vec<f64> = (0..30u32).map(|i| 0.02 * f64::from(i * 7 % 5)).collect();
        one.paths[0].common.shared.moves = stats::Moves::of(&levels);
        let text = trust(&one).replace("\n  ", " ");
        assert!(
            text.contains("visited too few sizes to tell the states of") && !text.contains("change between"),
            "{text}"
        );
        let lines = crate::table::state(&one).replace("\n  ", " ");
        assert!(
            lines.contains("too few sizes to tell the states of") && !lines.contains("changed its speed"),
            "{lines}"
        );
    }

    #[test]
    fn trust_counts_what_has_no_interval_and_says_what_a_repeat_does() {
        let mut run = small();
        let all = run.paths.iter().map(|p| p.points.len()).sum::<usize>();
        for f in run.paths.iter_mut().flat_map(|p| &mut p.points).map(|p| &mut p.figures) {
            (f.low, f.high, f.repeat_low, f.repeat_high) = (f.median * 0.95, f.median * 1.05, None, None);
        }
        let said = |run: &RunFile| trust(run).replace("\n  ", " ");
        let text = said(&run);
        assert!(text.starts_with("Trust: half of the points are known to within 5.0% in this run; how far"), "{text}");
        let f = &mut run.paths[0].points[0].figures;
        (f.low, f.high) = (0.0, f64::INFINITY);
        assert!(
            said(&run)
                .starts_with(&format!("Trust: 1 of {all} points has no interval; of the others, half are known to")),
            "{}",
            said(&run)
        );
        for f in run.paths.iter_mut().flat_map(|p| &mut p.points).map(|p| &mut p.figures) {
            (f.repeat_low, f.repeat_high) = (Some(f.median * 0.9), Some(f.median * 1.8));
        }
        assert!(
            said(&run).ends_with("a range whose ends lie a factor of 2.00 apart (median of the points).\n"),
            "{}",
            said(&run)
        );
        for f in run.paths.iter_mut().flat_map(|p| &mut p.points).map(|p| &mut p.figures) {
            f.repeat_high = Some(f.median * 80.0);
        }
        assert!(
            said(&run)
                .ends_with("; where a repeat falls on this machine can't be foretold: this run and the earlier ones leave it open by more than ten times.\n")
        );
        run.paths.iter_mut().for_each(|p| p.points.clear());
        assert_eq!(trust(&run), "");
    }

    #[test]
    fn trust_tells_wide_intervals_as_factors_and_earlier_runs_that_say_too_little() {
        let mut run = small();
        for f in run.paths.iter_mut().flat_map(|p| &mut p.points).map(|p| &mut p.figures) {
            (f.low, f.high, f.repeat_low, f.repeat_high) = (f.median, f.median * 31.0, None, None);
        }
        let said = |run: &RunFile| trust(run).replace("\n  ", " ");
        assert!(said(&run).contains("known to within a factor of ") && !said(&run).contains('%'), "{}", said(&run));
        run.paths[0].earlier = Some(vec![measure::earlier::EarlierRun { started: String::new(), points: Vec::new() }]);
        assert!(said(&run).ends_with("; earlier runs do not tell yet how far a repeat may lie.\n"), "{}", said(&run));
    }

    #[test]
    fn trust_says_once_which_states_of_the_machine_the_rounds_saw() {
        let mut run = small();
        let said = |run: &RunFile| trust(run).replace("\n  ", " ");
        let moves = stats::Moves { rounds: 30, effective: 30.0, spread: 0.001, ..stats::Moves::default() };
        run.paths.iter_mut().for_each(|p| (p.common.shared.moves, p.common.shared.sigma) = (moves, 0.01));
        let text = said(&run);
        let alone = " in this run; the rounds saw one state of the machine; intervals hold for this run alone; how far";
        assert!(text.contains(alone), "{text}");
        let mut changing = run.clone();
        changing.paths.iter_mut().for_each(|p| p.common.shared.moves.spread = 0.3);
        let text = said(&changing);
        assert!(text.contains("; intervals hold for this run alone where states last longer than "), "{text}");
        changing.paths[1].common.shared.moves = moves;
        assert!(said(&changing).contains("; intervals hold for this run alone; how far"), "{}", said(&changing));
        run.paths[3].common.shared.moves = stats::Moves { rounds: 3, ..moves };
        let text = said(&run);
        let others: Vec<&str> = run.paths[..3].iter().map(|p| p.opened.name()).collect();
        let words = format!("the rounds saw one state of the machine ({}), are too few to tell", others.join(", "));
        assert!(text.contains(&words) && text.contains(&format!("({})", run.paths[3].opened.name())), "{text}");
        assert_eq!(text.matches("Trust: ").count(), 1, "{text}");
        run.run.plan.schedule = measure::event::Schedule::Soak;
        assert!(!said(&run).contains("the rounds"), "one connection has no rounds");
    }

    #[test]
    fn of_many_kinds_of_states_those_that_are_averaged_over_share_a_text() {
        let mut run = small();
        let moves = stats::Moves { rounds: 30, effective: 30.0, spread: 0.001, ..stats::Moves::default() };
        for (path, spread) in run.paths.iter_mut().zip([0.001, 0.3, 0.001, 0.3]) {
            (path.common.shared.moves, path.common.shared.sigma) = (stats::Moves { spread, ..moves }, 0.01);
        }
        let said = |run: &RunFile| trust(run).replace("\n  ", " ");
        assert!(said(&run).contains("that change between rounds ("), "of two kinds each is said: {}", said(&run));
        run.paths[3].common.shared.moves = stats::Moves { effective: 12.0, alike: 0.5, spread: 0.3, ..moves };
        run.paths[0].common.shared.moves = stats::Moves { rounds: 3, ..moves };
        let text = said(&run);
        let names: Vec<&str> = run.paths.iter().map(|p| p.opened.name()).collect();
        for (what, which) in [
            ("are too few to tell the states of the machine", names[0].to_owned()),
            (
                "saw states of the path that change between rounds or last for some",
                format!("{}, {}", names[1], names[3]),
            ),
            ("saw one state of the machine", names[2].to_owned()),
        ] {
            assert!(text.contains(&format!("{what} ({which})")), "{what}: {text}");
        }
    }

    #[test]
    fn of_many_paths_the_first_are_named_and_the_others_counted() {
        assert_eq!(named(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(named(&["a", "b", "c", "d", "e", "f", "g"]), "a, b, c, d and 3 others");
    }
}
