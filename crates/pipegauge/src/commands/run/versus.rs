//! `run --vs`: two sides of one run, measured in turns and compared.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use measure::driver::{RunError, Side};
use measure::event::SideOf;
use measure::{Event, Outcome};
use record::{Analysis, RunFile};
use report::table;

use super::apart;
use super::finish::{page, without_points};
use super::progress::Progress;
use super::{Listeners, begin, command, elsewhere, header, sessions};
use crate::commands::compare;
use crate::config::RunConfig;
use crate::config::sides::Sides;
use crate::document::CompareDocument;
use crate::exit::{Exit, printed};
use crate::flags::RunFlags;
use crate::out;
use crate::signals::Stop;

/// Measures both sides and compares the second with the first.
pub fn run(flags: &RunFlags, more: &str, json: bool) -> Result<Exit> {
    let started = SystemTime::now();
    let sides = Sides::resolve(flags, more, &command(), started)?;
    let [first, second] = &sides.configs;
    let stop = Stop::listen()?.flag();
    for note in &first.notes {
        out::tell(&format!("note: {note}"));
    }
    let mut fronts = Progress::sides(&first.plan, first.progress).map(Some);
    let of = format!("{:016x}", RandomState::new().build_hasher().finish());
    let side = |number| Some(SideOf { of: of.clone(), number });
    let [header_a, header_b] = [(first, 0), (second, 1)].map(|(config, number)| header(config, started, side(number)));
    let mut begun = |number: usize, header| {
        let front = fronts.get_mut(number).and_then(Option::take);
        begin(&sides.configs[number], header, || {
            front.ok_or_else(|| anyhow!("a side began twice; this is a bug in pipegauge"))
        })
    };
    if let Some(near) = &first.near {
        let headers = vec![(first, header_a), (second, header_b)];
        let (listeners, outcomes) = elsewhere::measure(near, headers, &stop, &mut begun)?;
        let both: [Listeners; 2] =
            listeners.try_into().map_err(|_| anyhow!("the run has no two sides; this is a bug in pipegauge"))?;
        return finish(&sides, both, &outcomes, stop.load(Ordering::Relaxed), json);
    }
    // The far side is met first: where there is none, no file is left behind.
    let mut ready =
        sessions::ready(&[&first.plan, &second.plan], (&first.far, first.far_pin), first.nears.clone(), &stop)?;
    let mut a = begun(0, ready.filled(header_a))?;
    let mut b = match begun(1, ready.filled(header_b)) {
        Ok(listeners) => listeners,
        Err(e) => {
            // One side alone compares with nothing, and holds nothing yet.
            drop(a);
            let _ = std::fs::remove_file(&first.output);
            return Err(e);
        }
    };
    let (of_second, of_first) = (ready.sessions.pop().unwrap_or_default(), ready.sessions.pop().unwrap_or_default());
    let (mut tell_a, mut tell_b) = (|e: &Event| a.take_event(e), |e: &Event| b.take_event(e));
    let both = vec![
        Side { plan: &first.plan, sessions: of_first, tell: &mut tell_a },
        Side { plan: &second.plan, sessions: of_second, tell: &mut tell_b },
    ];
    let outcomes = measure::run_sides(both, ready.calibration, &stop);
    finish(&sides, [a, b], &outcomes, stop.load(Ordering::Relaxed), json)
}

/// Says what ended the run, shows the comparison and where everything lies.
fn finish(
    sides: &Sides,
    mut listeners: [Listeners; 2],
    outcomes: &[Outcome],
    interrupted: bool,
    json: bool,
) -> Result<Exit> {
    let runs = listeners.each_mut().map(Listeners::results);
    let error = ended(sides, &mut listeners, outcomes, interrupted);
    let empty = || {
        let sides = runs.iter().zip(&sides.configs).zip(["first", "second"]);
        sides.filter_map(|((run, config), side)| Some((side, without_points(run.as_ref()?, &config.plan)?))).next()
    };
    let complete = error.is_none();
    let error = error.or_else(|| empty().map(|(side, why)| format!("{side} side: {why}")));
    for note in listeners.iter_mut().flat_map(|l| l.remember(complete)) {
        out::tell(&format!("warning: {note}"));
    }
    let files = sides.configs.each_ref().map(|c| c.output.display().to_string());
    let measured = |run: Option<RunFile>| run.filter(|r| r.paths.iter().any(|p| !p.points.is_empty()));
    let [Some(a), Some(b)] = runs.map(measured) else {
        let why = error.unwrap_or_else(|| "no trial was completed".to_owned());
        return Err(anyhow!("the sides can't be compared: {why} (run files: {})", files.join(", ")));
    };
    let wanted = sides.configs[0].html.as_deref();
    let all = compare::sides(&a, &b, &sides.more)?;
    let html = wanted.filter(|file| page(file, &report::html::versus(&[&Analysis::of(&a), &Analysis::of(&b)], &all)));
    let missed = a.run.plan.precise && outcomes.iter().any(|o| o.unsettled > 0);
    let short = error.is_some() || (wanted.is_some() && html.is_none()) || missed;
    let exit = if short { Exit::Short } else { Exit::Ok };
    if let Some(e) = &error {
        out::tell(&format!("pipegauge: {e}; what was measured until then is compared"));
    }
    let mut told = String::new();
    for (run, file) in [&a, &b].into_iter().zip(&files) {
        let cautions = table::grouped(run, out::prose(), &super::finish::whole(file));
        if !cautions.is_empty() {
            told.push_str(&format!("\n{file}:\n{cautions}"));
        }
    }
    let result = if json {
        out::tell_all(&told);
        out::json(&CompareDocument::of_run(&all, exit.code(), &files, html, error))
    } else {
        let sections = all.iter().map(|named| compare::section(named, false)).collect::<Vec<_>>().join("\n");
        let mut text = report::text::folded(&sections, out::prose());
        text.push_str(&told);
        text.push_str(&format!("\nrun files {}\n          {}\n", files[0], files[1]));
        if let Some(html) = html {
            text.push_str(&format!("report    {}\n", html.display()));
        }
        out::text(&text).map_err(Into::into)
    };
    printed(result, exit)
}

/// What ended the run early: a file that can't be written, a person, or the side that failed.
fn ended(sides: &Sides, listeners: &mut [Listeners; 2], outcomes: &[Outcome], interrupted: bool) -> Option<String> {
    if let Some(failure) = listeners.iter_mut().find_map(Listeners::failure) {
        return Some(failure.to_string());
    }
    if interrupted {
        return Some("interrupted".to_owned());
    }
    let own = |((o, config), side): ((&Outcome, &RunConfig), &str)| match &o.error {
        None | Some(RunError::OtherSide(_)) => None,
        Some(e) => Some(format!("{side} side: {}", apart::advised(e.to_string(), &config.plan))),
    };
    outcomes.iter().zip(&sides.configs).zip(["first", "second"]).find_map(own)
}
