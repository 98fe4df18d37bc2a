//! What `sweep --json` prints.

use std::collections::BTreeMap;
use std::path::Path;

use model::Estimate;
use model::sweep::{Choice, Effect, Interaction};
use report::sweep::{Apart, Axis, Dropout, Sweep};
use schemars::JsonSchema;
use serde::Serialize;

use super::text;

/// Printed by `sweep`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SweepDocument {
    /// `pipegauge-sweep/1`.
    schema: &'static str,
    /// The sweep's folder.
    folder: String,
    /// The heat map; none of a sweep over one axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<String>,
    /// The page.
    html: String,
    /// Axes; the last runs fastest in the numbers of cells.
    axes: Vec<Axis>,
    /// Rounds that were asked for.
    rounds: u32,
    /// Runs that there are, and runs of a whole sweep.
    runs: [usize; 2],
    /// Cells that were measured, by number.
    cells: Vec<CellOf>,
    /// What each level does, and which to take, by figure.
    figures: Vec<FigureOf>,
    /// Dips, each with its cell.
    dropouts: Vec<Dropout>,
    /// Cells that were not measured, each with why.
    missing: Vec<Missing>,
}

/// A cell.
#[derive(Debug, Serialize, JsonSchema)]
struct CellOf {
    /// Number.
    cell: usize,
    /// Its path and levels.
    name: String,
    /// Level of each axis.
    levels: Vec<usize>,
    /// Rounds that have it.
    rounds: usize,
    /// Settings of this system that it was measured with, by axis, as they were read back.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    settings: BTreeMap<String, String>,
    /// Of what is swept, what took effect differently on the two sides.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    apart: Vec<Apart>,
    /// Seconds of the smallest size.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Estimate>,
    /// Largest throughput, bits a second; none where sends followed a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    throughput: Option<Estimate>,
}

/// A figure.
#[derive(Debug, Serialize, JsonSchema)]
struct FigureOf {
    /// `latency` or `throughput`.
    figure: &'static str,
    /// Effects of levels, against the first of their axis.
    effects: Vec<Effect>,
    /// Which levels act together.
    interactions: Vec<Interaction>,
    /// Which cell to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
}

/// A cell that was not measured.
#[derive(Debug, Serialize, JsonSchema)]
struct Missing {
    /// Its path and levels.
    name: String,
    /// Why.
    why: String,
}

impl SweepDocument {
    /// What a folder has.
    pub fn new(folder: &Path, sweep: &Sweep, missing: &[(String, String)], map: Option<&Path>, page: &Path) -> Self {
        let design = sweep.design();
        let figure = |name: &str| sweep.figures.iter().find(|figure| figure.name == name);
        let at = |name: &str, cell: usize| figure(name)?.readings.cell(cell);
        let read = figure("latency").map(|figure| figure.readings.read()).unwrap_or_default();
        let cell = |cell: usize| CellOf {
            cell,
            name: sweep.cell(cell),
            levels: design.cell(cell),
            rounds: figure("latency").map_or(0, |figure| figure.readings.count(cell)),
            settings: sweep.settings.get(&cell).cloned().unwrap_or_default(),
            apart: sweep.apart.get(&cell).cloned().unwrap_or_default(),
            latency: at("latency", cell),
            throughput: at("throughput", cell),
        };
        Self {
            schema: "pipegauge-sweep/1",
            folder: text(folder),
            map: map.map(text),
            html: text(page),
            axes: sweep.axes.clone(),
            rounds: sweep.rounds,
            runs: [sweep.measured(), sweep.wanted()],
            cells: read.into_iter().map(cell).collect(),
            figures: sweep
                .figures
                .iter()
                .map(|f| FigureOf {
                    figure: f.name,
                    effects: f.effects.clone(),
                    interactions: f.interactions.clone(),
                    choice: f.choice.clone(),
                })
                .collect(),
            dropouts: sweep.dropouts.clone(),
            missing: missing.iter().map(|(name, why)| Missing { name: name.clone(), why: why.clone() }).collect(),
        }
    }
}
