//! Comparisons as text: the verdict in words, a table, and the summaries that build servers read.

mod around;
mod basis;
mod cpu;
mod junit;
mod markdown;
mod ratios;
mod sizes;
mod stretches;
mod turns;
mod verdict;

pub use basis::Basis;
pub use cpu::CpuRatio;
pub use junit::junit;
pub use markdown::markdown;
pub use ratios::{more_by, of_the_time};
pub use sizes::table;
pub use verdict::verdict;

use measure::Pattern;
use model::{Comparison, Estimate, Finding};
use record::Difference;

/// What is said of separate runs of which no difference holds for what was measured.
pub const APART: &str = "too few runs tell how far separate runs of one thing lie apart";
/// The same where the whole curves differ, and no part of them by itself.
pub const MAY_LIE_APART: &str = "few separate runs of one thing may lie so far apart";
/// What to do then.
pub const IN_ONE_RUN: &str = "measure both in one run, where they take turns (run --vs)";

/// A comparison with the names and circumstances of its sides.
#[derive(Debug, Clone)]
pub struct Named {
    /// Name of the first side.
    pub first: String,
    /// Name of the second side.
    pub second: String,
    /// Runs of each side.
    pub runs: (usize, usize),
    /// The pattern of both sides: for one that measures a program, sizes are those of all processes together.
    pub pattern: Pattern,
    /// The sides were measured in separate runs, in each of which the machine has another level.
    pub separate: bool,
    /// Of each side, whether both its processes were pinned to one CPU ([`crate::words::on_one_cpu`]).
    pub one_cpu: (bool, bool),
    /// The comparison.
    pub comparison: Comparison,
    /// What a reader must know of the times ([`Basis::against`]).
    pub note: Option<String>,
    /// CPU time of a transfer on the near and on the far side, where both sides recorded it.
    pub cpu: Vec<CpuRatio>,
    /// What differs in the circumstances.
    pub differences: Vec<Difference>,
    /// The limits (`--fail-if`) and their outcomes.
    pub limits: Vec<Judged>,
}

impl Named {
    /// A size in words.
    fn size(&self, size: u64) -> String {
        (self.pattern.facts().size.cell)(size)
    }

    /// What the comparison says of its sides.
    pub fn finding(&self) -> Finding {
        self.comparison.finding(self.separate)
    }

    /// Whether this ratio of the comparison holds for what was measured, and not only for these separate runs.
    pub fn judges(&self, ratio: Estimate) -> bool {
        !self.separate || self.comparison.tells(ratio)
    }

    /// What explains a limit that was exceeded where the verdict finds no difference: they answer two questions. Begins with a semicolon;
    /// empty where the verdict finds a difference.
    pub fn beside_a_limit(&self) -> &'static str {
        if self.finding() == Finding::Differ {
            return "";
        }
        "; this limit asks about that figure alone, and the verdict about all sizes together and stretches of them"
    }

    /// The title of a column of sizes.
    fn sizes(&self) -> String {
        let sized = &self.pattern.facts().size;
        if sized.takes.is_some() { format!("{} in all", sized.title) } else { sized.title.to_owned() }
    }
}

/// A limit that a comparison was held against.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Judged {
    /// The limit as typed: `latency>+5%`.
    pub limit: String,
    /// What was found, in words.
    pub found: String,
    /// Whether the limit was exceeded, beyond what runs of one thing differ by.
    pub failed: bool,
    /// Whether the runs can tell if it was: false where they tell too little, as `found` says.
    pub judged: bool,
}

/// Outcome of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The figure keeps the limit.
    Passed,
    /// It exceeds the limit.
    Failed,
    /// The runs can't decide.
    NotJudged,
}

impl Judged {
    /// Whether the limit was kept.
    pub fn outcome(&self) -> Outcome {
        match (self.judged, self.failed) {
            (false, _) => Outcome::NotJudged,
            (true, true) => Outcome::Failed,
            (true, false) => Outcome::Passed,
        }
    }
}
