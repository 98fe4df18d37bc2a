//! What a comparison says of its two sides: the one place that decides it. Words, JSON, limits and the tables of truth all ask here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comparison, is_vague};

/// What a comparison says of its two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// They differ, over all sizes together or over a stretch of them. A lone size is not enough: the connections of one run may have a level
    /// of their own there, in all rounds of that run and in no other run.
    Differ,
    /// No difference was found, where one not much larger than the interval would have been.
    NoDifference,
    /// No verdict: others took more of the CPUs on one side, and what differs may come of that.
    Disturbed,
    /// No verdict: fewer than four rounds of a side.
    FewRounds,
    /// No verdict: too few runs tell how far separate runs of one thing lie apart.
    FewRuns,
    /// No verdict: nothing has an interval, because the rounds changed too slowly or no size was visited by enough of both sides.
    NoInterval,
    /// No verdict: most rounds go one way, which so many of so few do by chance.
    RoundsByChance,
    /// No verdict: separate runs differ over all sizes, but over no stretch of them. Three runs a side of one thing do so in one comparison
    /// of ten where its states last for ten rounds (`tests/truth`).
    WholeAlone,
    /// No verdict on all sizes together, but single sizes of sides in turns differ.
    SingleSizes,
    /// No verdict: the interval over all sizes is so wide that "no difference" would mislead.
    Vague,
}

impl Finding {
    /// Whether it is a verdict on what was measured. Without one, what differs is a fact of these runs alone.
    pub fn is_verdict(self) -> bool {
        matches!(self, Self::Differ | Self::NoDifference)
    }
}

impl Comparison {
    /// What this comparison says. `separate`: its sides were measured in separate runs, in each of which the machine has another level.
    pub fn finding(&self, separate: bool) -> Finding {
        let stretch = self.stretches.iter().any(|s| s.differs);
        let sure = self.between.is_some_and(|b| b.sure());
        let bounded = self.sizes.iter().any(|s| s.ratio.high.is_finite());
        let whole = self.paired.map_or_else(|| self.differs_as_whole(), |paired| paired.differs);
        if self.disturbed.is_some_and(|d| d.undecided) {
            Finding::Disturbed
        } else if self.few_rounds.is_some() {
            Finding::FewRounds
        } else if separate && !self.tells(self.whole) {
            Finding::FewRuns
        } else if !bounded || self.paired.is_some_and(|p| p.finds.is_none()) {
            Finding::NoInterval
        } else if stretch || whole && !(separate && sure) {
            Finding::Differ
        } else if whole {
            Finding::WholeAlone
        } else if self.by_order() {
            Finding::RoundsByChance
        } else if self.paired.is_some() && self.sizes.iter().any(|s| s.significant) {
            Finding::SingleSizes
        } else if is_vague(self.whole) {
            Finding::Vague
        } else {
            Finding::NoDifference
        }
    }
}
