//! A sweep: a table of its cells (`seeds/001`, table 1, for any settings), what each setting does, which pairs of settings act together,
//! which cell to take, and a heat map.

mod map;
mod tables;
mod told;

use std::collections::BTreeMap;

use measure::event::TimeKind;
use model::Dip;
use model::sweep::{Better, Choice, Design, Effect, Interaction, Readings};
use units::Kind;

use crate::sheet::{self, Table};
pub use tables::HOW_TO_READ;

/// An axis: its name and its levels, as they were typed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Axis {
    /// Name.
    pub name: String,
    /// Levels; effects are told against the first.
    pub levels: Vec<String>,
}

/// One figure of all cells, with its effects and the choice by it.
#[derive(Debug, Clone)]
pub struct Figure {
    /// What it is: `latency`, `throughput`.
    pub name: &'static str,
    /// Its unit.
    pub kind: Kind,
    /// Which of it is better.
    pub better: Better,
    /// The figures measured.
    pub readings: Readings,
    /// The effect of each level.
    pub effects: Vec<Effect>,
    /// Which levels act together.
    pub interactions: Vec<Interaction>,
    /// Which cell to take.
    pub choice: Option<Choice>,
}

impl Figure {
    /// Computes effects and choice from readings.
    pub fn new(name: &'static str, kind: Kind, better: Better, readings: Readings) -> Self {
        let (effects, interactions) = (readings.effects(), readings.interactions());
        let choice = readings.choice(better);
        Self { name, kind, better, readings, effects, interactions, choice }
    }
}

/// A dip that a cell's curves show, all its rounds together.
#[derive(Debug, Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Dropout {
    /// Cell.
    pub cell: usize,
    /// The dip.
    pub dip: Dip,
}

/// A setting that took effect differently on the two sides of a cell's path.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Apart {
    /// The setting: the axis, and which part of it where it has several.
    pub setting: String,
    /// What took effect on this side.
    pub near: String,
    /// What took effect on the far side.
    pub far: String,
}

/// The contents of a sweep's folder.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The transport of all cells, where it is no axis.
    pub transport: Option<String>,
    /// Axes.
    pub axes: Vec<Axis>,
    /// Rounds that were asked for.
    pub rounds: u32,
    /// Cells that can't be measured.
    pub refused: usize,
    /// Which time the latency is, and of which size, where that is the same of all cells.
    pub time: Option<(TimeKind, u64)>,
    /// Latency, then throughput; the second only where throughput is what a path carries.
    pub figures: Vec<Figure>,
    /// Dips.
    pub dropouts: Vec<Dropout>,
    /// Settings of the system by cell, as they were read back: axis and value.
    pub settings: BTreeMap<usize, BTreeMap<String, String>>,
    /// By cell, of what is swept, what took effect differently on the two sides.
    pub apart: BTreeMap<usize, Vec<Apart>>,
}

impl Sweep {
    /// Its axes as the model has them.
    pub fn design(&self) -> Design {
        Design::new(self.axes.iter().map(|axis| axis.levels.len()).collect())
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.measured() == 0
    }

    /// Runs that there are.
    pub fn measured(&self) -> usize {
        let of = |readings: &Readings| -> usize { readings.read().into_iter().map(|cell| readings.count(cell)).sum() };
        self.figures.first().map_or(0, |figure| of(&figure.readings))
    }

    /// Runs of the complete sweep.
    pub fn wanted(&self) -> usize {
        self.design().cells().unwrap_or(0).saturating_sub(self.refused) * self.rounds as usize
    }

    /// A cell in words: its levels, with the transport first where that is no axis.
    pub fn cell(&self, cell: usize) -> String {
        let levels = self.design().cell(cell);
        let of = |(axis, level): (&Axis, &usize)| {
            let level = axis.levels.get(*level).map_or("?", String::as_str);
            if axis.name == "transport" { level.to_owned() } else { format!("{}={level}", axis.name) }
        };
        let set = self.axes.iter().zip(&levels).map(of);
        self.transport.iter().cloned().chain(set).collect::<Vec<_>>().join(" ")
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        format!("{}\n{}", sheet::text(self.tables(), HOW_TO_READ), self.told())
    }

    /// What was swept, in words.
    pub fn title(&self) -> String {
        tables::named(self)
    }

    /// How much of it there is, in words.
    pub fn extent(&self) -> String {
        let cells = self.figures.first().map_or(0, |figure| figure.readings.read().len());
        format!("{cells} cells, {} rounds, {} of {} runs", self.rounds, self.measured(), self.wanted())
    }

    pub(crate) fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }

    /// Which cell to take, and dips, in sentences.
    pub(crate) fn told(&self) -> String {
        told::text(self)
    }

    /// Heat maps over the two axes that do most; none of a sweep over one axis.
    pub fn svg(&self) -> Option<String> {
        map::svg(self)
    }
}
