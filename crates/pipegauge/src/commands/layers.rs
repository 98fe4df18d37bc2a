//! `pipegauge layers`.

use anyhow::{Result, bail};
use measure::event::TimeKind;
use model::{CurvePoint, Finding};
use report::compare::{APART, Basis, IN_ONE_RUN};
use report::layers::{Layer, figure, table, words};
use report::{png, svg, terminal};

use super::alike::alike;
use super::files;
use super::plot::PNG_SCALE;
use super::show::GRAPH_HEIGHT;
use crate::document::LayersDocument;
use crate::exit::Exit;
use crate::flags::LayersFlags;
use crate::out;
use record::sides::{Compared, Repeat, compared};

/// Says what each layer adds to the one below it.
pub fn layers(flags: &LayersFlags, json: bool) -> Result<Exit> {
    let ending = flags.output.as_ref().and_then(|o| o.extension()).map(|e| e.to_string_lossy().to_lowercase());
    if let Some(output) = &flags.output
        && !matches!(ending.as_deref(), Some("svg" | "png"))
    {
        bail!("-o {}: the name's ending says what to draw: .svg or .png", output.display());
    }
    files::not_an_input(flags.output.as_deref(), &flags.runs)?;
    let runs = flags.runs.iter().map(|file| files::read_curve(file)).collect::<Result<Vec<_>>>()?;
    let mut found: Vec<(Basis, TimeKind, Vec<CurvePoint>, Repeat<'_>)> = Vec::new();
    let mut subtitles = Vec::new();
    for (file, run) in flags.runs.iter().zip(&runs) {
        subtitles.push(report::words::run_line(run));
        let shown = file.display().to_string();
        let stem = shown.strip_suffix(".run.jsonl").unwrap_or(&shown);
        for (i, path) in run.paths.iter().enumerate() {
            let Some(point) = path.points.first() else { continue };
            let transport = path.opened.name();
            let name = if flags.runs.len() > 1 { format!("{transport} ({stem})") } else { transport.to_owned() };
            let basis = Basis::new(&run.run.plan, path.opened.path, name, point.time);
            found.push((basis, point.time, run.curve(i), (run, i)));
        }
    }
    if found.len() < 2 {
        bail!("layers need two paths or more, the lowest first; {} is here", found.len());
    }
    // What a path adds to another is a time of one kind.
    let bases: Vec<Basis> = found.iter().map(|f| f.0.clone()).collect();
    let (groups, left_out) = alike(&bases, |a, b| a.against(b) == Ok(None));
    let Some(kept) = groups.first() else {
        let why = bases[0].against(&bases[1]).unwrap_or_else(Some).unwrap_or_default();
        bail!("no two of these paths are layers of one path: {why}");
    };
    let found: Vec<_> = kept.iter().map(|i| &found[*i]).collect();
    let first = found[0].1;
    let all: Vec<Layer> = found
        .windows(2)
        .map(|w| {
            let held = compared(&[w[0].3], &[w[1].3]);
            Layer {
                name: w[1].0.name().to_owned(),
                over: w[0].0.name().to_owned(),
                overheads: model::overheads(&w[0].2, &w[1].2),
                sure: held.as_ref().map_or(Vec::new(), sure),
                doubt: held.as_ref().and_then(doubt),
            }
        })
        .collect();
    if let Some(empty) = all.iter().find(|l| l.overheads.is_empty()) {
        bail!("{} and {} have no message size in common", empty.over, empty.name);
    }
    let picture = figure(&all, first, subtitles);
    if let Some(output) = &flags.output {
        let drawn = svg::render(&picture);
        let contents =
            if ending.as_deref() == Some("png") { png::render(&drawn, PNG_SCALE)? } else { drawn.into_bytes() };
        files::write(output, &contents)?;
    }
    if json {
        out::json(&LayersDocument::new(all, left_out))?;
    } else {
        let graph = terminal::render(&picture, out::width(), GRAPH_HEIGHT, out::colour());
        let left_out = left_out.map_or(String::new(), |l| report::words::plain(&l) + "\n");
        let words = report::text::folded(&format!("{}{left_out}", words(&all)), out::prose());
        out::text(&format!("{words}\n{graph}{}", table(&all)))?;
    }
    Ok(Exit::Ok)
}

/// The sizes at which two paths surely differ.
fn sure(held: &Compared) -> Vec<u64> {
    held.comparison.sizes.iter().filter(|s| s.significant).map(|s| s.size).collect()
}

/// Why what a layer adds is told with doubt, as `compare` says of the two.
fn doubt(held: &Compared) -> Option<String> {
    let c = &held.comparison;
    match c.finding(held.separate) {
        _ if c.by_order() => Some("so few rounds may do that by chance".to_owned()),
        Finding::FewRounds => {
            let rounds = c.few_rounds.unwrap_or_default();
            Some(format!("so few rounds, {rounds} of a side, tell them not surely apart: measure longer (--budget)"))
        }
        Finding::NoInterval => Some("too few rounds visited any size for an interval".to_owned()),
        Finding::FewRuns => Some(format!("{APART}; {IN_ONE_RUN}")),
        Finding::Disturbed => Some("others took more of the CPUs in one of these separate runs".to_owned()),
        _ => None,
    }
}
