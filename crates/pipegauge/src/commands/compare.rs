//! `pipegauge compare`.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use measure::event::TimeKind;
use measure::figures::cost::End;
use record::{PathRun, RunFile};
use report::compare::{Basis, CpuRatio, Judged, Named, Outcome, junit, markdown, table, verdict};
use report::words::on_one_cpu;

use super::alike::alike;
use super::files;
use super::limits::Limit;
use crate::document::CompareDocument;
use crate::exit::Exit;
use crate::flags::CompareFlags;
use crate::out;
use record::sides::{self, Compared, compared};

/// Repeats of one thing.
struct Repeats {
    name: String,
    runs: Vec<RunFile>,
    /// The file of each run.
    files: Vec<String>,
}

/// Compares runs, size by size and in words.
pub fn compare(flags: &CompareFlags, json: bool) -> Result<Exit> {
    let limits: Vec<Limit> = flags.fail_if.iter().map(|l| Limit::parse(l)).collect::<Result<_>>()?;
    let sides: Vec<Repeats> = flags.sides.iter().map(|s| read(s)).collect::<Result<_>>()?;
    let mut all = Vec::new();
    let left_out = match &sides[..] {
        [one] => within(one, flags, &mut all)?,
        [first, others @ ..] => {
            for other in others {
                between(first, other, flags.path.as_deref(), &mut all)?;
            }
            None
        }
        [] => bail!("nothing to compare: name at least one run file"),
    };
    if !limits.is_empty() && all.iter().any(|named| named.pattern.facts().score.is_some()) {
        bail!(
            "--fail-if sets limits on message sizes, and these are HINT runs: their verdict and --json say what changed"
        );
    }
    for named in &mut all {
        named.limits = limits.iter().map(|l| l.judge(named)).collect::<Result<_>>()?;
        let apart = named.beside_a_limit();
        named.limits.iter_mut().filter(|g| g.failed).for_each(|g| g.found.push_str(apart));
    }
    let exit = exit(all.iter().flat_map(|n| &n.limits).map(Judged::outcome));
    if let Some(file) = &flags.markdown {
        files::write(file, markdown(&all).as_bytes())?;
    }
    if let Some(file) = &flags.junit {
        files::write(file, junit(&all).as_bytes())?;
    }
    if json {
        out::json(&CompareDocument::new(&all, left_out, exit.code()))?;
    } else {
        let mut text = all.iter().map(|named| section(named, flags.points)).collect::<Vec<_>>().join("\n");
        if let Some(said) = left_out {
            text.push_str(&format!("\n{}\n", report::words::plain(&said)));
        }
        out::text(&report::text::folded(&text, out::prose()))?;
    }
    Ok(exit)
}

/// As `diff` ends: 0 where all is well, 1 where a limit was exceeded, 2 where the runs can't tell whether one was.
fn exit(outcomes: impl Iterator<Item = Outcome>) -> Exit {
    outcomes.fold(Exit::Ok, |exit, outcome| match (exit, outcome) {
        (Exit::Short, _) | (_, Outcome::Failed) => Exit::Short,
        (_, Outcome::NotJudged) => Exit::CouldNot,
        (exit, Outcome::Passed) => exit,
    })
}

/// The run files of one side: names joined by commas (a file whose own name holds a comma is taken as it is).
fn read(side: &str) -> Result<Repeats> {
    let whole = Path::new(side).exists();
    let names: Vec<&str> = if whole { vec![side] } else { side.split(',').filter(|n| !n.is_empty()).collect() };
    if names.is_empty() {
        bail!("'{side}' names no run file");
    }
    let runs = names.iter().map(|n| files::read(Path::new(n))).collect::<Result<Vec<_>>>()?;
    names.iter().zip(&runs).try_for_each(|(name, run)| files::no_soak(Path::new(name), run))?;
    // A copy of a run tells nothing of how far runs lie apart.
    for (i, run) in runs.iter().enumerate() {
        if let Some(j) = runs[..i].iter().position(|other| same_run(other, run)) {
            bail!("{} and {} are the same run: give each run once", names[j], names[i]);
        }
    }
    let name = names.first().map_or(side, |n| n.strip_suffix(".run.jsonl").unwrap_or(n));
    let more = if runs.len() > 1 { format!(" and {} more", runs.len() - 1) } else { String::new() };
    let files = names.iter().map(|n| (*n).to_owned()).collect();
    Ok(Repeats { name: format!("{name}{more}"), runs, files })
}

/// Whether two files hold one and the same run.
fn same_run(a: &RunFile, b: &RunFile) -> bool {
    let moment =
        |run: &RunFile| (run.run.started.clone(), run.run.plan.seed, run.run.side.as_ref().map(|side| side.number));
    let points = |run: &RunFile| -> Vec<f64> {
        run.paths.iter().flat_map(|path| path.points.iter().map(|p| p.figures.median)).collect()
    };
    moment(a) == moment(b) && points(a) == points(b)
}

/// The paths of both sides of a run that was just measured; the second side has the flags `more`.
pub fn sides(first: &RunFile, second: &RunFile, more: &str) -> Result<Vec<Named>> {
    let side = |run: &RunFile| Repeats { name: String::new(), runs: vec![run.clone()], files: vec![String::new()] };
    let (a, b) = (side(first), side(second));
    let mut all = Vec::new();
    for (x, y) in by_number(first, second) {
        all.push(named(&a, x, &b, y, (x.to_owned(), format!("{x} {more}")))?);
    }
    Ok(all)
}

/// The paths that both sides of one run have at one place, by name: a flag of `--vs` may be part of its name.
fn by_number<'a>(first: &'a RunFile, second: &'a RunFile) -> Vec<(&'a str, &'a str)> {
    let at = |x: &PathRun| second.paths.iter().find(|y| y.opened.path == x.opened.path);
    first.paths.iter().filter_map(|x| Some((x.opened.name(), at(x)?.opened.name()))).collect()
}

/// Whether these are the two sides of one run.
fn vs(a: &Repeats, b: &Repeats) -> bool {
    matches!((&a.runs[..], &b.runs[..]), ([a], [b]) if sides::sides_of_one_run(a, b))
}

/// The paths of one run that hold times of one kind against the first of them; says what was left out.
fn within(side: &Repeats, flags: &CompareFlags, all: &mut Vec<Named>) -> Result<Option<String>> {
    if flags.path.is_some() {
        bail!("--path names one path of each run: give a second run to compare it with");
    }
    let count = side.runs.first().map_or(0, |r| r.paths.len());
    if count < 2 {
        bail!("{} has {count} path: give a second run to compare it with", side.name);
    }
    let measured: Vec<Basis> = side.runs[0].paths.iter().filter_map(|path| basis(&side.runs[0], path, None)).collect();
    let (groups, left_out) = alike(&measured, |a, b| a.against(b).is_ok());
    if groups.is_empty() {
        // The first two say why.
        let names: Vec<&str> = side.runs[0].paths.iter().map(|path| path.opened.name()).collect();
        all.push(named(side, names[0], side, names[1], (names[0].to_owned(), names[1].to_owned()))?);
    }
    for group in groups {
        let first = measured[group[0]].name();
        for other in &group[1..] {
            let other = measured[*other].name();
            all.push(named(side, first, side, other, (first.to_owned(), other.to_owned()))?);
        }
    }
    Ok(left_out)
}

/// Two sides: every transport that both have, or the only path of each.
fn between(first: &Repeats, second: &Repeats, path: Option<&str>, all: &mut Vec<Named>) -> Result<()> {
    let of = |side: &Repeats| -> Vec<String> {
        side.runs.first().map_or(Vec::new(), |r| r.paths.iter().map(|p| p.opened.name().to_owned()).collect())
    };
    let (a, b) = (of(first), of(second));
    let shared: Vec<&str> =
        a.iter().filter(|n| b.contains(n) && path.is_none_or(|p| p == *n)).map(String::as_str).collect();
    let pairs: Vec<(&str, &str)> = match (&shared[..], &a[..], &b[..], path) {
        ([], _, _, None) if vs(first, second) => by_number(&first.runs[0], &second.runs[0]),
        ([], [x], [y], None) => vec![(x, y)],
        ([], ..) => bail!(
            "{} (paths: {}) and {} (paths: {}) have no path in common{}",
            first.name,
            a.join(", "),
            second.name,
            b.join(", "),
            path.map_or(String::new(), |p| format!(" of the name {p}"))
        ),
        _ => shared.iter().map(|n| (*n, *n)).collect(),
    };
    for (x, y) in pairs {
        let label = |side: &Repeats, name: &str| format!("{} ({name})", side.name);
        all.push(named(first, x, second, y, (label(first, x), label(second, y)))?);
    }
    Ok(())
}

/// Compares a path of one side with a path of another.
fn named(a: &Repeats, x: &str, b: &Repeats, y: &str, names: (String, String)) -> Result<Named> {
    one_pattern(a, x)?;
    one_pattern(b, y)?;
    let (first, second) = (repeats(a, x)?, repeats(b, y)?);
    let ((run_a, path_a), (run_b, path_b)) = (path(a, x)?, path(b, y)?);
    let one_cpu = (on_one_cpu(run_a, path_a), on_one_cpu(run_b, path_b));
    let note = match (basis(run_a, path_a, Some(&names.0)), basis(run_b, path_b, Some(&names.1))) {
        (Some(first), Some(second)) => first.against(&second).map_err(anyhow::Error::msg)?,
        _ => None,
    };
    let none = || anyhow!("{} and {} have no message size in common", names.0, names.1);
    let Compared { comparison, separate } = compared(&first, &second).ok_or_else(none)?;
    let turns = comparison.paired.is_some() || sides::took_turns(&first, &second);
    Ok(Named {
        first: names.0,
        second: names.1,
        runs: (first.len(), second.len()),
        pattern: run_a.run.plan.pattern,
        separate,
        one_cpu,
        note,
        cpu: cpu((a, x), (b, y), turns)?,
        comparison,
        differences: record::differences((run_a, path_a), (run_b, path_b)),
        limits: Vec::new(),
    })
}

/// Repeats of one thing are of one pattern: merged, the times of two would be of neither.
fn one_pattern(side: &Repeats, name: &str) -> Result<()> {
    let of = |run: &RunFile| -> Result<_> {
        let path = &run.paths[files::one_path(run, Some(name))?];
        Ok((run.run.plan.pattern_words(), run.run.plan.rate.is_some(), time(path)))
    };
    let words = |(pattern, open, time): (String, bool, Option<TimeKind>)| {
        let time = time.map_or("none", report::words::time_label);
        format!("{pattern}{} (times: {time})", if open { " on a schedule (--rate)" } else { "" })
    };
    let Some(run) = side.runs.first() else { return Ok(()) };
    let first = of(run)?;
    for (run, file) in side.runs.iter().zip(&side.files).skip(1) {
        let found = of(run)?;
        if found != first {
            bail!(
                "{} was measured as {}, {file} as {}: runs joined by a comma are repeats of one thing; give them as sides of their own, \
                 or repeats of one --pattern",
                side.files[0],
                words(first),
                words(found)
            );
        }
    }
    Ok(())
}

fn time(path: &PathRun) -> Option<TimeKind> {
    path.points.first().map(|p| p.time)
}

/// What a path's times are; none without a point.
fn basis(run: &RunFile, path: &PathRun, name: Option<&str>) -> Option<Basis> {
    let name = name.unwrap_or_else(|| path.opened.name()).to_owned();
    Some(Basis::new(&run.run.plan, path.opened.path, name, time(path)?))
}

fn path<'a>(side: &'a Repeats, name: &str) -> Result<(&'a RunFile, &'a PathRun)> {
    let run = side.runs.first().ok_or_else(|| anyhow!("{}: no run file", side.name))?;
    Ok((run, &run.paths[files::one_path(run, Some(name))?]))
}

/// This path in each of the side's runs.
fn repeats<'a>(side: &'a Repeats, name: &str) -> Result<Vec<sides::Repeat<'a>>> {
    side.runs.iter().map(|r| Ok((r, files::one_path(r, Some(name))?))).collect()
}

/// What the second side takes of the CPU time of the first, on each side of the path; nothing where one of them does not tell it, and of
/// repeats, which have no turns to compare and no one curve.
fn cpu((a, x): (&Repeats, &str), (b, y): (&Repeats, &str), turns: bool) -> Result<Vec<CpuRatio>> {
    let ([first], [second]) = (&a.runs[..], &b.runs[..]) else { return Ok(Vec::new()) };
    let (p, q) = (files::one_path(first, Some(x))?, files::one_path(second, Some(y))?);
    let ratio = |end: End| {
        let (first, second) = (first.cpu_curve(p, end), second.cpu_curve(q, end));
        if turns {
            CpuRatio::paired(end.name(), &first, &second)
        } else {
            CpuRatio::separate(end.name(), &first, &second)
        }
    };
    Ok(End::BOTH.into_iter().filter_map(ratio).collect())
}

/// What is printed of one comparison.
pub fn section(named: &Named, points: bool) -> String {
    let mut text = format!("{}\n", verdict(named));
    for limit in &named.limits {
        let outcome = match limit.outcome() {
            Outcome::Passed => "passed",
            Outcome::Failed => "FAILED",
            Outcome::NotJudged => "not judged",
        };
        text.push_str(&format!("{outcome}: {}: {}\n", limit.limit, limit.found));
    }
    if !named.differences.is_empty() {
        text.push_str("\nWhat else differs, and might explain it:\n");
        for d in &named.differences {
            text.push_str(&format!("  {}: {} / {}\n", d.words(), d.first, d.second));
        }
    }
    let text = report::words::plain(&text);
    format!("{text}\n{}", table(named, points))
}
