//! Paths that differ only in their number of connections.

use measure::event::PathPlan;

use crate::RunFile;

impl RunFile {
    /// Whether any two of its paths differ only in their number of connections.
    pub fn has_flows(&self) -> bool {
        !self.over_flows().is_empty()
    }

    /// Indices of paths that differ only in their number of flows, pairs or members, by ascending number. Empty of a run without two such
    /// paths, and of collectives: what members do together is not the sum of what each carries.
    pub fn over_flows(&self) -> Vec<Vec<usize>> {
        if self.run.plan.pattern.facts().together {
            return Vec::new();
        }
        let mut groups = self.alike_but(|path| Some(self.run.plan.flows(path)), |plan| PathPlan { flows: 1, ..plan });
        groups.retain(|group| group.len() > 1);
        groups
    }
}
