//! A path on this machine by earlier runs, or that nothing is known: one line a path.

use measure::earlier::EarlierRun;
use measure::event::Schedule;
use record::RunFile;
use record::history::Kept;
use units::{Bytes, Seconds, Share};

use super::WIDTH;
use crate::text::paragraph;

/// For each path the range in which a repeat of its smallest message falls and how far runs lie apart, or that it is not known; paths with
/// the same text share a line.
pub fn machine(run: &RunFile) -> String {
    let mut said: Vec<(Vec<&str>, String)> = Vec::new();
    for (index, path) in run.paths.iter().enumerate() {
        let name = path.opened.name();
        let Some(what) = machine_of(run, index).strip_prefix(name).map(str::to_owned) else { continue };
        match said.iter_mut().find(|(_, other)| *other == what) {
            Some((names, _)) => names.push(name),
            None => said.push((vec![name], what)),
        }
    }
    let mut text = String::new();
    for (names, what) in said {
        for line in format!("{}{what}", names.join(", ")).lines() {
            let lead = if line.starts_with(' ') { "  " } else { "" };
            paragraph(lead, line, WIDTH, &mut text);
        }
    }
    text
}

/// The same of the path at this index, in lines of any length; nothing beyond the paths and of one without points.
pub fn machine_of(run: &RunFile, path: usize) -> String {
    let Some(p) = run.paths.get(path).filter(|p| !p.points.is_empty()) else { return String::new() };
    let name = p.opened.name();
    if p.opened.transport.ends() == transport::Ends::Modelled {
        return format!("{name} on this machine: no machine has a part in it, as the link is modelled.\n");
    }
    let Some(between) = run.between(path) else {
        // Where such runs are not kept, repeating it would not help.
        let kept = p.points.iter().any(|p| p.figures.rounds >= Kept::FEWEST);
        let why: String = match p.earlier.as_deref() {
            None => "the run read no earlier ones: it was told not to, or could not".into(),
            Some([]) if kept => "no earlier run; repeat this command line".into(),
            Some(earlier) if kept => other_sizes(earlier, p.points.len()),
            Some(_) if run.run.plan.schedule == Schedule::Netpipe => {
                "of this schedule, whose sizes have fewer than 4 trials, no run is kept; --schedule adaptive is".into()
            }
            Some(_) => "runs of fewer than 4 rounds are not kept; measure longer (--budget)".into(),
        };
        let yet = if p.earlier.is_some() { " yet" } else { "" };
        return format!("{name} on this machine: not known{yet} ({why}).\n");
    };
    let first = p.points.iter().find_map(|p| Some((p, p.figures.repeat_low.zip(p.figures.repeat_high)?)));
    let repeat = first.map_or(String::new(), |(point, (low, high))| {
        let size = (run.run.plan.pattern.facts().size.brief)(point.size);
        foretold(&size, (low, high)) + "; "
    });
    let runs = between.earlier();
    format!(
        "{name} on this machine: {repeat}{} differ by {}{} (standard deviation, {runs} earlier {}).\n{}",
        runs_that(run, path),
        Share(between.spread().value),
        at_sizes(run, path),
        if runs == 1 { "run" } else { "runs" },
        // So few runs may all have met one of two states (`stats::Between`).
        if runs < 3 && !repeat.is_empty() {
            "  Few runs tell little: the range narrows from three earlier runs on.\n"
        } else {
            ""
        }
    )
}

/// What differs between runs: whole ones, or of a part of their sizes.
pub fn runs_that(run: &RunFile, path: usize) -> &'static str {
    if run.part_of_earlier(path).is_some() { "runs" } else { "whole runs" }
}

/// At which sizes runs were held against each other, where that is a part of those of earlier ones; begins with a space.
pub fn at_sizes(run: &RunFile, path: usize) -> String {
    run.part_of_earlier(path).map_or(String::new(), |here| match here {
        1 => " at the one size of this one".to_owned(),
        here => format!(" at the {here} sizes of this one"),
    })
}

/// The range of a repeat of a size, where earlier runs lie near enough for one.
pub fn foretold(size: &str, (low, high): (f64, f64)) -> String {
    match high > units::RESOLVED * low {
        true => format!(
            "a repeat of {size} can't be foretold: this run and the earlier ones leave it open by more than ten times"
        ),
        false => format!("a repeat of {size} takes {} to {} (95%)", Seconds(low), Seconds(high)),
    }
}

/// What the earlier runs measured where that is too little of what this one did, and which command lines can be compared.
fn other_sizes(earlier: &[EarlierRun], here: usize) -> String {
    let last = earlier.iter().rev().find(|run| !run.points.is_empty());
    let theirs = last.map_or("other sizes".to_owned(), |run| {
        let ends = [run.points.first(), run.points.last()].map(|p| p.map_or(0, |p| p.0));
        match run.points.len() {
            1 => format!("{} alone", Bytes(ends[0])),
            n => format!("{n} sizes from {} to {}", Bytes(ends[0]), Bytes(ends[1])),
        }
    });
    let here = if here == 1 { "1 size".to_owned() } else { format!("{here} sizes") };
    format!(
        "the last earlier run of this path measured {theirs}, this one {here}, too few of them near those; --budget, --sizes, --from, \
         --to and --step choose the sizes: repeat one of both command lines"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn paths_of_which_the_same_is_said_share_a_line() {
        let run = sample::run_of(&sample::MODELS[1..], &[1, 64, 1024], 5, 7);
        let text = machine(&run);
        assert!(text.starts_with("shm, unix, tcp on this machine: not known (the run read no"), "{text}");
        assert_eq!(text.matches("on this machine").count(), 1, "{text}");
    }

    #[test]
    fn what_is_not_known_of_a_machine_is_said_plainly() {
        let mut run = sample::run_of(&sample::MODELS[3..], &[1, 64, 1024], 5, 7);
        assert!(
            machine_of(&run, 0).contains("tcp on this machine: not known (the run read no earlier ones"),
            "{}",
            machine_of(&run, 0)
        );
        run.paths[0].earlier = Some(Vec::new());
        assert_eq!(
            machine_of(&run, 0),
            "tcp on this machine: not known yet (no earlier run; repeat this command line).\n"
        );
        // A budget chooses sizes, and history is kept for a path: the same budget as this or that run tells, not any run.
        let points = (1..=46).map(|i| (1u64 << 30 | i, 1e-3)).collect();
        run.paths[0].earlier = Some(vec![EarlierRun { started: "2026-01-01T00:00:00Z".into(), points }]);
        let said = machine_of(&run, 0);
        for part in ["measured 46 sizes from ", "this one 3 sizes", "--budget", "repeat one of both command lines"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        run.paths[0].points.iter_mut().for_each(|p| p.figures.rounds = 3);
        assert!(
            machine_of(&run, 0)
                .ends_with("not known yet (runs of fewer than 4 rounds are not kept; measure longer (--budget)).\n")
        );
        run.run.plan.schedule = Schedule::Netpipe;
        assert!(machine_of(&run, 0).ends_with("fewer than 4 trials, no run is kept; --schedule adaptive is).\n"));
        run.paths[0].points.clear();
        assert_eq!(machine_of(&run, 0), "");
        assert_eq!(machine_of(&run, 9), "");
    }

    #[test]
    fn earlier_runs_are_counted_and_the_range_of_a_repeat_is_told() {
        let mut run = sample::run_of(&sample::MODELS[3..], &[1, 64, 1024], 5, 7);
        let points: Vec<(u64, f64)> = run.paths[0].points.iter().map(|p| (p.size, p.figures.median * 1.1)).collect();
        let earlier = measure::earlier::EarlierRun { started: "2026-01-01T00:00:00Z".into(), points };
        run.paths[0].earlier = Some(vec![earlier]);
        let f = &mut run.paths[0].points[0].figures;
        let low = f.median * 0.5;
        (f.repeat_low, f.repeat_high) = (Some(low), Some(f.median * 2.0));
        assert!(machine(&run).lines().all(|line| line.len() <= WIDTH), "{}", machine(&run));
        let text = machine_of(&run, 0);
        assert!(text.contains(&format!("a repeat of 1 B takes {} to ", units::Seconds(low))), "{text}");
        assert!(text.contains(" us (95%); whole runs differ by"), "{text}");
        assert!(text.contains("1 earlier run)") && text.contains("from three earlier runs on"), "{text}");
        // An earlier run of many more sizes is no whole run held against another.
        let mut more = run.clone();
        more.paths[0].earlier.as_mut().unwrap()[0].points.extend((1..100).map(|i| (1u64 << 20 | i, 1e-3)));
        let text = machine_of(&more, 0);
        assert!(text.contains("; runs differ by ") && text.contains(" at the 3 sizes of this one ("), "{text}");
        // A range of which nobody has any use.
        run.paths[0].points[0].figures.repeat_high = Some(low * 80.0);
        let text = machine_of(&run, 0);
        assert!(
            text.contains("a repeat of 1 B can't be foretold: this run and the earlier ones leave it open by more than ten times; whole runs differ by"),
            "{text}"
        );
    }
}
