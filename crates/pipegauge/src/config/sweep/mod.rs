//! What a sweep crosses: axes of levels, each combination of which is a cell that is measured by a run of its own.
//!
//! | module | job |
//! |---|---|
//! | this one | the plan, as it is kept in the sweep's folder |
//! | [`apart`] | how a cell's sides are apart in a laboratory |
//! | [`axis`] | what an axis's name stands for, and its levels as they are typed |
//! | [`cell`] | a cell as the command line of a run |
//! | [`file`] | a plan in TOML |
//! | [`steering`] | what only its user may have a sweep do |

mod apart;
mod axis;
mod cell;
mod file;
pub mod steering;

use std::borrow::Cow;

use anyhow::{Result, bail};
use model::sweep::Design;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::registry;
use units::Seconds;

pub use axis::{Axis, DEFAULT};
pub use cell::Cell;
pub use file::PlanFile;

use super::system::Knob;
use crate::flags::{SweepFlags, of_a_kind};

/// The schema of a plan that this program writes.
pub const SCHEMA: &str = "pipegauge-sweep-plan/1";
/// Rounds where nobody asked for another number. Fewer than four tell no interval.
const ROUNDS: u32 = 6;
/// Time of a cell in a round where nobody asked for another, seconds.
const BUDGET: f64 = 2.0;
/// Most cells: each is a run, and more would take days.
const MOST_CELLS: usize = 10_000;
/// Longest budget of a cell in a round, seconds: a year.
const MOST_BUDGET: f64 = 365.0 * 24.0 * 3600.0;
/// Most rounds.
const MOST_ROUNDS: u32 = 1000;

/// A sweep, as it is kept beside its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepPlan {
    /// [`SCHEMA`].
    pub schema: String,
    /// Axes, in the order in which they were named; the last runs fastest in the numbers of cells. The first is `transport` where
    /// several were named.
    pub axes: Vec<Axis>,
    /// The transport of all cells, where it is no axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Whether each cell is measured between two hosts of a laboratory of its own.
    #[serde(default)]
    pub lab: bool,
    /// Flags of `run` that all cells have.
    pub flags: Vec<String>,
    /// Rounds: each measures every cell once.
    pub rounds: u32,
    /// Time for a cell in a round, seconds.
    pub budget: f64,
    /// Seed of the order of cells.
    pub seed: u64,
}

impl SweepPlan {
    /// Of flags as typed, and of the plan file that they name: what was typed counts where both say something.
    pub fn resolve(flags: &SweepFlags) -> Result<Self> {
        let file = flags.plan.as_deref().map(PlanFile::read).transpose()?.unwrap_or_default();
        let transports = if flags.transports.is_empty() { file.transports } else { flags.transports.clone() };
        let mut axes = Vec::new();
        let transport = match &transports[..] {
            [] => bail!("a sweep needs a transport: pipegauge sweep tcp --over nodelay=on,off"),
            [one] => Some(one.clone()),
            several => {
                axes.push(Axis::new(axis::TRANSPORT, several.to_vec())?);
                None
            }
        };
        let lab = flags.lab || file.lab;
        let typed: Vec<Axis> = flags.over.iter().map(|text| text.parse()).collect::<Result<_>>()?;
        for axis in file.over {
            if !typed.iter().any(|other| other.name == axis.name) {
                axes.push(Axis::new(&axis.name, axis.values.into_iter().map(|value| value.typed()).collect())?);
            }
        }
        axes.extend(typed);
        if axes.is_empty() {
            bail!(
                "a sweep needs an axis: name several transports, or --over NAME=LEVEL,LEVEL with an option of the transport \
                 (pipegauge list NAME tells them) or a flag of `run` (--over sockbuf=64KiB,1MiB)"
            );
        }
        let plan = Self {
            schema: SCHEMA.to_owned(),
            axes,
            transport,
            lab,
            flags: if flags.with.is_empty() { file.flags } else { flags.with.clone() },
            rounds: flags.rounds.or(file.rounds).unwrap_or(ROUNDS),
            budget: flags.budget.or(file.budget.map(|text| text.0)).unwrap_or(BUDGET),
            seed: flags.seed.or(file.seed).unwrap_or(1),
        };
        plan.check()?;
        Ok(plan)
    }

    /// What holds of every plan, typed or read.
    pub fn check(&self) -> Result<()> {
        if self.schema != SCHEMA {
            bail!("it is a '{}', and this program reads {SCHEMA}", report::words::plain(&self.schema));
        }
        if self.rounds == 0 || self.rounds > MOST_ROUNDS {
            bail!("a sweep has 1 to {MOST_ROUNDS} rounds, not {}", self.rounds);
        }
        if !(self.budget.is_finite() && self.budget > 0.0) {
            bail!("a cell needs time: --budget 2s");
        }
        if self.budget > MOST_BUDGET {
            bail!("a cell's --budget is at most {}, one year", Seconds(MOST_BUDGET));
        }
        if let Some(path) = self.paths().find(|path| path.starts_with('-')) {
            bail!("'{}' is no transport but a flag", report::words::plain(&path));
        }
        // A module's options are known once it was looked up. Where one can't be had, the cells say why, and a folder is shown all the same.
        let found: Vec<bool> = self.paths().map(|path| registry::named(name_of(&path)).is_ok()).collect();
        let known = found.iter().all(|found| *found);
        for (at, axis) in self.axes.iter().enumerate() {
            axis.differs()?;
            if known {
                axis.is_known()?;
            }
            if axis.is_the_labs() && !self.lab {
                bail!(
                    "the axis {} changes the system's network: add --lab, and each combination has two hosts of its own to change it in; what \
                     this system itself has is called system.mtu:INTERFACE, system.offloads:INTERFACE or system.sysctl:net.NAME",
                    report::words::plain(&axis.name)
                );
            }
            axis.can_be_set()?;
            if axis.is_the_systems() && self.lab {
                bail!(
                    "the axis {} is a setting of this system, and with --lab nothing is measured over it: leave out --lab, or write the \
                     laboratory's own, such as mtu",
                    axis.name
                );
            }
            if self.axes[..at].iter().any(|other| other.name == axis.name) {
                bail!("the axis {} is named twice; give all its levels at once", axis.name);
            }
        }
        let knobs = self.knobs()?;
        for (at, knob) in knobs.iter().enumerate() {
            if let Some(other) = knobs[..at].iter().find(|other| knob.clashes(other)) {
                bail!("the axes {} and {} set the same: name one of them", other.name(), knob.name());
            }
        }
        match self.design().cells() {
            Some(1..=MOST_CELLS) => Ok(()),
            cells => bail!(
                "{} cells are too many: a sweep has at most {MOST_CELLS}; leave out levels or axes",
                cells.map_or("more than can be counted".to_owned(), |n| n.to_string())
            ),
        }
    }

    /// Settings of this host that it varies.
    pub fn knobs(&self) -> Result<Vec<Knob>> {
        self.axes.iter().filter_map(|axis| Knob::of(&axis.name)).collect()
    }

    /// Its paths as they are run.
    fn paths(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.axes
            .iter()
            .filter(|axis| axis.name == axis::TRANSPORT)
            .flat_map(|axis| &axis.levels)
            .chain(&self.transport)
            .map(|path| of_a_kind(path))
    }

    /// Its axes as the model has them.
    pub fn design(&self) -> Design {
        Design::new(self.axes.iter().map(|axis| axis.levels.len()).collect())
    }

    /// The cell of this number.
    pub fn cell(&self, number: usize) -> Cell {
        Cell::new(self, number)
    }

    /// The order of the cells in a round, from 0: random, and the same at each start. What drifts while a round goes on falls on no
    /// level more than on others.
    pub fn order(&self, round: u32) -> Vec<usize> {
        let mut cells: Vec<usize> = (0..self.design().cells().unwrap_or(0)).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(round));
        cells.shuffle(&mut rng);
        cells
    }
}

/// The transport's name in a path.
fn name_of(path: &str) -> &str {
    path.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 24 cells in 3 rounds.
    fn plan(seed: u64) -> SweepPlan {
        let levels = |of: &[&str]| of.iter().map(|level| (*level).to_owned()).collect();
        SweepPlan {
            schema: SCHEMA.to_owned(),
            axes: vec![
                Axis {
                    name: "sockbuf".to_owned(),
                    levels: levels(&["1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB"]),
                },
                Axis { name: "align".to_owned(), levels: levels(&["1", "2", "4", "8"]) },
            ],
            transport: Some("tcp".to_owned()),
            lab: false,
            flags: Vec::new(),
            rounds: 3,
            budget: 1.0,
            seed,
        }
    }

    #[test]
    fn each_round_has_all_cells_in_an_order_of_its_own_that_the_seed_decides() {
        let orders = |plan: &SweepPlan| (0..plan.rounds).map(|round| plan.order(round)).collect::<Vec<_>>();
        let all: Vec<usize> = (0..24).collect();
        let first = orders(&plan(1));
        for order in &first {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted == all && *order != all, "{order:?}");
        }
        assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2], "{first:?}");
        assert!(orders(&plan(2)).iter().zip(&first).all(|(one, other)| one != other));
        // What is read from the sweep's folder to go on.
        let kept: SweepPlan = serde_json::from_str(&serde_json::to_string(&plan(1)).unwrap()).unwrap();
        assert_eq!(orders(&kept), first);
    }
}
