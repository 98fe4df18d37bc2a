//! What comes of the number of connections: paths that are the same but for it.

use measure::event::PathPlan;

use crate::RunFile;

impl RunFile {
    /// Whether any two of its paths are the same but for how many connections they have.
    pub fn has_flows(&self) -> bool {
        !self.over_flows().is_empty()
    }

    /// Indices of paths that are the same but for their number of flows, pairs or members, by ascending number. Empty of a run without two such paths.
    pub fn over_flows(&self) -> Vec<Vec<usize>> {
        let mut groups = self.alike_but(|path| Some(self.run.plan.flows(path)), |plan| PathPlan { flows: 1, ..plan });
        groups.retain(|group| group.len() > 1);
        groups
    }
}
