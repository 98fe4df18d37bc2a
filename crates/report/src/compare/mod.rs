//! Comparisons as text: the verdict in words, a table, and the summaries that build servers read.

mod basis;
mod cpu;
mod junit;
mod markdown;
mod words;

pub use basis::Basis;
pub use cpu::CpuRatio;
pub use junit::junit;
pub use markdown::markdown;
pub use words::{table, verdict};

use model::Comparison;
use record::Difference;

/// A comparison with the names of its sides and what surrounds it.
#[derive(Debug, Clone)]
pub struct Named {
    /// Name of the first side.
    pub first: String,
    /// Name of the second side.
    pub second: String,
    /// Runs of each side.
    pub runs: (usize, usize),
    /// The sides are of HINT: sizes are subintervals of all processes together.
    pub hint: bool,
    /// The sides were measured in separate runs of a machine, which stands at another level in each.
    pub separate: bool,
    /// Of each side, whether both its processes were pinned to one CPU ([`crate::words::on_one_cpu`]).
    pub one_cpu: (bool, bool),
    /// The comparison.
    pub comparison: Comparison,
    /// What a reader must know of the times ([`Basis::against`]).
    pub note: Option<String>,
    /// CPU time of a transfer on the near and on the far side, where both sides tell it.
    pub cpu: Vec<CpuRatio>,
    /// What differs in the circumstances.
    pub differences: Vec<Difference>,
    /// The gates (`--fail-if`) and what they say.
    pub gates: Vec<Gated>,
}

impl Named {
    /// A size in words.
    fn size(&self, size: u64) -> String {
        if self.hint { units::format::thousands(size) } else { units::Bytes(size).to_string() }
    }

    /// The comparison is about these runs alone, and not about what was measured: too little is known of how far runs lie apart.
    pub fn alone(&self) -> bool {
        let undecided = self.comparison.disturbed.is_some_and(|d| d.undecided) || self.comparison.few_rounds.is_some();
        self.separate && !undecided && !self.comparison.between.is_some_and(|b| b.sure())
    }

    /// What stands behind a limit that was passed where the verdict finds no difference: which of both asks about what. Begins with a semicolon;
    /// nothing where the verdict finds one.
    pub fn beside_a_limit(&self) -> &'static str {
        let c = &self.comparison;
        let whole = c.paired.map_or_else(|| c.differs_as_whole(), |paired| paired.differs);
        if whole || c.stretches.iter().any(|s| s.differs) {
            return "";
        }
        "; this limit asks about that figure alone, and the verdict about all sizes together and stretches of them"
    }

    /// The title of a column of sizes.
    fn sizes(&self) -> &'static str {
        if self.hint { "n in all" } else { "size" }
    }
}

/// A limit that a comparison was held against.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Gated {
    /// The limit as typed: `latency>+5%`.
    pub limit: String,
    /// What was found, in words.
    pub found: String,
    /// Whether the limit was passed, beyond what runs of one thing differ by.
    pub failed: bool,
}
