//! `pipegauge layers`.

use anyhow::{Result, bail};
use measure::event::TimeKind;
use model::{Comparison, CurvePoint, Finding, Overhead};
use report::compare::{APART, Basis, IN_ONE_RUN};
use report::layers::{Layer, figure, table, words};
use report::{png, svg, terminal};

use super::alike::alike;
use super::ask::two_paths::apart;
use super::files;
use super::plot::PNG_SCALE;
use super::show::GRAPH_HEIGHT;
use crate::document::LayersDocument;
use crate::exit::Exit;
use crate::flags::LayersFlags;
use crate::out;
use record::sides::{Compared, Repeat, compared, sides_of_one_run, took_turns};

/// A path of a run: what may be compared with it, the kind of its times, and these.
type Measured<'a> = (Basis, TimeKind, Vec<CurvePoint>, Repeat<'a>);

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
    let mut found: Vec<Measured<'_>> = Vec::new();
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
                overheads: overheads(w[0], w[1], held.as_ref()),
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

/// What the second path adds to the first at each size.
fn overheads(below: &Measured<'_>, above: &Measured<'_>, held: Option<&Compared>) -> Vec<Overhead> {
    let turns = took_turns(&[below.3], &[above.3]) || sides_of_one_run(below.3.0, above.3.0);
    match held.filter(|held| turns && !held.separate) {
        Some(held) => by_rounds(&below.2, &above.2, &held.comparison),
        None => model::overheads(&below.2, &above.2),
    }
}

/// The same of paths that took turns: by their ratio, found round by round, as `ask` has it. States of the machine that lie in both times are in
/// neither's interval then.
fn by_rounds(below: &[CurvePoint], above: &[CurvePoint], held: &Comparison) -> Vec<Overhead> {
    let at = |curve: &[CurvePoint], size: u64| curve.iter().find(|p| p.size == size).map(CurvePoint::estimate);
    let mut all = model::overheads(below, above);
    for o in &mut all {
        let ratio = held.sizes.iter().find(|s| s.size == o.size).map(|s| s.ratio).filter(|r| r.high.is_finite());
        if let (Some(ratio), Some(over), Some(under)) = (ratio, at(above, o.size), at(below, o.size)) {
            o.extra = apart(over, under, ratio);
            o.share = ratio.value - 1.0;
        }
    }
    all
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::Side;

    /// Both paths meet the machine's states in the same rounds: their times lie far apart, what the one adds to the other does not.
    #[test]
    fn what_surely_adds_in_turns_has_an_interval_without_nothing() {
        let curve = |t0: f64, shift: u32| -> Vec<CurvePoint> {
            let state = |round: u32| if (round / 3).is_multiple_of(2) { 1.0 } else { 1.5 };
            let noise = |round: u32| 1.0 + 0.005 * (f64::from((round * 7 + shift) % 5) - 2.0);
            let point = |size: u64| {
                let t = t0 + size as f64 * 1e-9;
                let rounds: Vec<(u32, f64)> = (0..12).map(|r| (r, t * state(r) * noise(r + size as u32))).collect();
                let interval = Some(stats::Interval { low: t, high: 1.5 * t });
                CurvePoint { size, seconds: 1.25 * t, rounds, throughput: 1.0, interval, rounding: 0.0 }
            };
            [1, 64, 256, 1024, 2048, 4096].map(point).into()
        };
        let (below, above) = (curve(10e-6, 0), curve(13e-6, 3));
        let held = Comparison::of_paths(Side::of(std::slice::from_ref(&below)), Side::of(std::slice::from_ref(&above)));
        let held = held.unwrap();
        assert!(held.sizes.iter().all(|s| s.significant), "{held:?}");
        assert!(model::overheads(&below, &above).iter().all(|o| o.extra.low < 0.0), "times by themselves tell nothing");
        for o in by_rounds(&below, &above, &held) {
            assert!(o.extra.low > 0.0 && o.extra.low < 3.75e-6 && o.extra.high > 3.75e-6, "{o:?}");
        }
    }
}
