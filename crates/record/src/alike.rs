//! Paths of one run that differ only in one figure, which is then the axis of a graph.

use measure::event::PathPlan;

use crate::RunFile;

impl RunFile {
    /// Indices of paths whose plans differ only in one figure, in groups by ascending figure. `figure` gives the figure of a path, none of
    /// a path that belongs to no group; `without` removes it from a plan.
    pub(crate) fn alike_but<F: PartialOrd>(
        &self,
        figure: impl Fn(u32) -> Option<F>,
        without: impl Fn(PathPlan) -> PathPlan,
    ) -> Vec<Vec<usize>> {
        let number = |index: usize| self.paths[index].opened.path;
        let bare = |path: u32| {
            let plan = self.run.plan.paths.get(path as usize)?;
            Some(without(PathPlan { label: None, ..plan.clone() }))
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for index in (0..self.paths.len()).filter(|index| figure(number(*index)).is_some()) {
            let same = |group: &Vec<usize>| {
                bare(number(group[0])) == bare(number(index))
                    // Two paths with the same figure differ in something else.
                    && group.iter().all(|other| figure(number(*other)) != figure(number(index)))
            };
            match groups.iter_mut().find(|group| same(group)) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        for group in &mut groups {
            let of = |index: &usize| figure(number(*index));
            group.sort_by(|a, b| of(a).partial_cmp(&of(b)).unwrap_or(std::cmp::Ordering::Equal));
        }
        groups
    }
}
