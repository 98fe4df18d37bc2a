//! What the runs in a sweep's folder say: figures by cell and round, and dips of each cell's curves together.

use std::collections::BTreeMap;

use anyhow::Result;
use measure::event::TimeKind;
use model::sweep::{Better, Readings};
use model::{Breaks, CurvePoint};
use record::Analysis;
use report::sweep::{Axis, Dropout, Figure, Sweep};
use units::Kind;

use super::apart;
use super::store::Store;
use crate::config::sweep::SweepPlan;

/// Numbers of rounds of one cell's runs, one after another, so that those of two runs are never taken for one.
const APART: u32 = 1_000_000;

/// Reads what there is.
pub fn read(plan: &SweepPlan, store: &Store) -> Result<Sweep> {
    let design = plan.design();
    let cells = design.cells().unwrap_or(0);
    let empty = || Readings::new(design.clone(), plan.rounds as usize);
    let (mut latency, mut throughput) = (empty(), empty());
    let (mut times, mut carries, mut dropouts) = (Vec::<(TimeKind, u64)>::new(), true, Vec::new());
    let axes: Vec<Axis> =
        plan.axes.iter().map(|axis| Axis { name: axis.name.clone(), levels: axis.levels.clone() }).collect();
    let (mut settings, mut differing) = (BTreeMap::new(), BTreeMap::new());
    for cell in 0..cells {
        let mut curves: BTreeMap<u64, Vec<CurvePoint>> = BTreeMap::new();
        for round in 0..plan.rounds {
            let Some(run) = store.run(cell, round) else { continue };
            if !run.run.near.settings.is_empty() {
                settings.insert(cell, run.run.near.settings.clone());
            }
            let found = apart::of(&run, &axes);
            if !found.is_empty() {
                differing.insert(cell, found);
            }
            let analysis = Analysis::of(&run);
            let Some(summary) = analysis.summary(0) else { continue };
            latency.take(cell, round as usize, summary.latency.value);
            throughput.take(cell, round as usize, summary.max_throughput.value);
            carries &= run.carries();
            let time = run.paths[0].points.first().map(|point| (point.time, summary.latency_size));
            times.extend(time.filter(|time| !times.contains(time)));
            for point in analysis.curve(0) {
                let rounds = point.rounds.iter().map(|(number, t)| (round * APART + number % APART, *t)).collect();
                curves.entry(point.size).or_default().push(CurvePoint { rounds, ..point.clone() });
            }
        }
        dropouts.extend(together(curves).dips.into_iter().map(|dip| Dropout { cell, dip }));
    }
    let refused = (0..cells).filter(|cell| plan.cell(*cell).config(&store.file(*cell, 0)).is_err()).count();
    let mut figures = vec![Figure::new("latency", Kind::Seconds, Better::Lower, latency)];
    if carries {
        figures.push(Figure::new("throughput", Kind::BitsPerSecond, Better::Higher, throughput));
    }
    Ok(Sweep {
        transport: plan.transport.clone(),
        axes,
        rounds: plan.rounds,
        refused,
        time: match times[..] {
            [time] => Some(time),
            _ => None,
        },
        figures,
        dropouts,
        settings,
        apart: differing,
    })
}

/// The breaks of a curve made of all of a cell's, at the sizes that at least half of them have: more rounds show more.
fn together(curves: BTreeMap<u64, Vec<CurvePoint>>) -> Breaks {
    let most = curves.values().map(Vec::len).max().unwrap_or(0);
    let points = curves.into_iter().filter(|(_, points)| 2 * points.len() >= most).map(|(size, points)| {
        let medians: Vec<f64> = points.iter().map(|point| point.seconds).collect();
        CurvePoint::of(size, stats::median(&medians), points.into_iter().flat_map(|point| point.rounds).collect())
    });
    Breaks::of(&points.collect::<Vec<_>>())
}
