//! `pipegauge explain`: what is behind a dip or a step. The path is measured again as it was, and then with one knob moved at a
//! time, as `seeds/004`, section 4, did by hand.

mod again;
mod moves;
mod verdict;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use model::{Break, Breaks, CurvePoint, Edge};
use record::{Analysis, PathRun, RunFile};
use report::text::folded;

use super::files;
use crate::document::{ExplainDocument, Explained};
use crate::exit::Exit;
use crate::flags::{ExplainFlags, RunFlags};
use crate::out;
use crate::signals::Stop;
use moves::Move;

/// A curve and its breaks.
struct Shown {
    curve: Vec<CurvePoint>,
    breaks: Breaks,
}

/// What a path showed when it was measured again.
#[derive(Default)]
struct Tests {
    /// As it was; none where nothing was measured.
    control: Option<Shown>,
    /// Each knob with what the path showed once it was moved, or why that could not be measured.
    moved: Vec<(Move, Result<Shown, String>)>,
    /// As it was, after all that; none where nothing made a difference.
    once_more: Option<Shown>,
    /// What would be moved, where nothing is measured.
    planned: Vec<Move>,
    /// Knobs that the path does not have, each with why.
    fixed: Vec<String>,
}

/// Explains the breaks of a run.
pub fn explain(flags: &ExplainFlags, json: bool) -> Result<Exit> {
    let mut run = files::read_curve(&flags.run)?;
    if let Some(name) = &flags.path {
        files::only(&mut run, name)?;
    }
    let stop = Stop::listen()?.flag();
    // A module's knobs are known once it was looked up.
    for path in &run.paths {
        let _ = path.opened.transport.transport();
    }
    let found = Analysis::of(&run);
    let (mut explained, mut written, mut smooth) = (Vec::<Explained>::new(), Vec::new(), Vec::new());
    for (path, measured) in run.paths.iter().enumerate() {
        let breaks = found.breaks(path);
        if breaks.is_empty() {
            smooth.push(format!("{}: {}.\n", measured.opened.name(), report::table::none_found(breaks)));
            continue;
        }
        let tests = if flags.dry_run {
            planned(flags, &run, measured, breaks)
        } else if stop.load(Ordering::Relaxed) {
            Tests::default()
        } else {
            test(flags, &run, measured, breaks, &stop, &mut written)?
        };
        let facts = run.facts(path);
        explained.extend(breaks.all().into_iter().map(|b| verdict::judged(measured, b, &facts, &tests)));
    }
    let stopped = stop.load(Ordering::Relaxed);
    let failed = explained.iter().flat_map(|e| &e.tested).any(|t| t.error.is_some());
    if stopped {
        out::tell("pipegauge: interrupted; what was measured until then is shown");
    }
    let exit = if stopped || failed { Exit::Short } else { Exit::Ok };
    let printed = if json {
        out::json(&ExplainDocument::new(&flags.run, explained, &written))
    } else {
        let mut text = smooth;
        text.extend(explained.iter().map(verdict::words));
        if run.paths.is_empty() {
            text.push("The run has no path: nothing was measured.\n".to_owned());
        }
        if !written.is_empty() {
            text.push("What was measured for this:\n".to_owned());
            text.extend(written.iter().map(|f| format!("  {}\n", f.display())));
        }
        out::text(&folded(&report::words::plain(&text.concat()), out::prose())).map_err(Into::into)
    };
    crate::exit::printed(printed, exit)
}

fn edges(breaks: &Breaks) -> Vec<Edge> {
    breaks.all().iter().flat_map(Break::edges).collect()
}

/// What would be moved on the path, or why it can't be measured again.
fn planned(asked: &ExplainFlags, run: &RunFile, measured: &PathRun, breaks: &Breaks) -> Tests {
    if let Err(why) = again::flags(asked, run, measured, &edges(breaks)) {
        let why = format!("every knob ({})", crate::exit::sentence(&why));
        return Tests { fixed: vec![why], ..Tests::default() };
    }
    let (planned, fixed) = moves::moves(&run.run.plan, measured, &run.run.near.sysctls);
    Tests { planned, fixed, ..Tests::default() }
}

/// Measures the path again as it was and, if any break is still there, with each knob moved.
fn test(
    asked: &ExplainFlags,
    run: &RunFile,
    measured: &PathRun,
    breaks: &Breaks,
    stop: &Arc<AtomicBool>,
    written: &mut Vec<PathBuf>,
) -> Result<Tests> {
    let base = again::flags(asked, run, measured, &edges(breaks)).map_err(|e| {
        anyhow!(
            "{}; --dry-run measures nothing, and says what breaks and what might be behind it",
            crate::exit::sentence(&e)
        )
    })?;
    let (moves, fixed) = moves::moves(&run.run.plan, measured, &run.run.near.sysctls);
    let name = measured.opened.name();
    let mut once = |what: &str, said: &str, change: &dyn Fn(&mut RunFlags)| -> Result<Shown> {
        if !asked.quiet {
            out::tell(&format!("{name}: {said}"));
        }
        let output = again::output(&asked.run, measured, what);
        let mut flags = base.clone();
        flags.common.output = Some(output.clone());
        change(&mut flags);
        let found = again::measure(&flags, stop);
        if output.is_file() {
            written.push(output);
        }
        let curve = found?.curve(0);
        Ok(Shown { breaks: Breaks::of(&curve), curve })
    };
    let control = once("again", "again, as it was", &|_| {})?;
    let mut moved = Vec::new();
    let still = breaks.all().iter().any(|b| verdict::seen_again(b, &control));
    for to in if still { moves } else { Vec::new() } {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let found = once(to.knob.name(), &to.change.clone(), &|flags| to.apply(flags));
        moved.push((to, found.map_err(|e| crate::exit::sentence(&e))));
    }
    // What makes a difference must make it between two measurements without it: a state of the machine that passed in between would look alike.
    let blamed = breaks.all().iter().any(|b| verdict::differs(b, &control, &moved));
    let once_more = match blamed && !stop.load(Ordering::Relaxed) {
        true => once("again-after", "once more, as it was", &|_| {}).ok().filter(|_| !stop.load(Ordering::Relaxed)),
        false => None,
    };
    Ok(Tests { control: Some(control), moved, once_more, fixed, ..Tests::default() })
}
