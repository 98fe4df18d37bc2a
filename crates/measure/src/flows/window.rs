//! The time in which all flows of a trial ran, and what each did in it. Pure.

/// The course of a flow, by the clock of the process that timed it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Nanoseconds at which its timed part began.
    pub begin: u64,
    /// Its steps, one after another; the last one's end is the flow's.
    pub steps: Vec<Step>,
}

/// A part of a flow, which begins where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Nanoseconds at which it ended.
    pub end: u64,
    /// Iterations in it that completed.
    pub iterations: u64,
    /// Nanoseconds that they took where they were timed by themselves, else 0.
    pub took: u64,
}

/// The common time of several flows, nanoseconds of one clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// When the last of them had begun.
    pub begin: u64,
    /// When the first of them was done; no earlier than `begin`.
    pub end: u64,
    /// From the first one's beginning to the last one's end.
    pub span: u64,
    /// From the first one's beginning to the last one's.
    pub apart: u64,
}

impl Course {
    fn end(&self) -> u64 {
        self.steps.last().map_or(self.begin, |step| step.end)
    }

    /// Iterations that were done in `window`; of a step that lies in it in part, a part in proportion.
    fn done(&self, window: &Window) -> f64 {
        let mut from = self.begin;
        let mut all = 0.0;
        for step in &self.steps {
            let inside = step.end.min(window.end).saturating_sub(from.max(window.begin));
            let whole = step.end.saturating_sub(from);
            if whole > 0 {
                all += step.iterations as f64 * inside as f64 / whole as f64;
            }
            from = step.end;
        }
        all
    }

    /// Steps that were timed by themselves and lie in `window` from their beginning to their end.
    pub(super) fn timed(&self, window: &Window) -> impl Iterator<Item = &Step> {
        let (begin, end) = (window.begin, window.end);
        self.steps.iter().filter(move |s| s.took > 0 && s.end.saturating_sub(s.took) >= begin && s.end <= end)
    }
}

/// The common time of `courses`, and what each did in it.
pub fn window(courses: &[&Course]) -> (Window, Vec<f64>) {
    let begins = || courses.iter().map(|c| c.begin);
    let ends = || courses.iter().map(|c| c.end());
    let begin = begins().max().unwrap_or(0);
    let end = ends().min().unwrap_or(0).max(begin);
    let first = begins().min().unwrap_or(0);
    let span = ends().max().unwrap_or(0).saturating_sub(first);
    let window = Window { begin, end, span, apart: begin - first };
    (window, courses.iter().map(|c| c.done(&window)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow that begins at `begin` and does `n` iterations of `each` nanoseconds.
    fn steady(begin: u64, n: u64, each: u64) -> Course {
        let steps = (1..=n).map(|i| Step { end: begin + i * each, iterations: 1, took: each }).collect();
        Course { begin, steps }
    }

    #[test]
    fn equal_flows_that_run_at_once_count_whole() {
        let (a, b) = (steady(100, 10, 50), steady(100, 10, 50));
        let (window, done) = window(&[&a, &b]);
        assert_eq!((window, done), (Window { begin: 100, end: 600, span: 500, apart: 0 }, vec![10.0, 10.0]));
    }

    #[test]
    fn what_one_flow_does_before_the_last_begins_and_after_the_first_ends_does_not_count() {
        // The first runs from 0 to 1,000, the second from 300 to 800 and twice as fast.
        let (a, b) = (steady(0, 10, 100), steady(300, 10, 50));
        let (window, done) = window(&[&a, &b]);
        assert_eq!((window.begin, window.end, window.span, window.apart), (300, 800, 1000, 300));
        assert_eq!(
            done,
            [5.0, 10.0],
            "15 in 500 ns; both whole over 1,000 would blame, each over its own time flatter"
        );
        assert_eq!(a.timed(&window).count(), 5);
    }

    #[test]
    fn a_step_at_the_edge_counts_in_part_and_is_no_time_of_its_own() {
        let (a, b) = (steady(0, 4, 100), steady(50, 3, 100));
        let (window, done) = window(&[&a, &b]);
        assert_eq!((window.begin, window.end), (50, 350));
        assert_eq!(done, [3.0, 3.0]);
        assert_eq!(a.timed(&window).map(|s| s.end).collect::<Vec<_>>(), [200, 300]);
    }

    #[test]
    fn flows_one_after_another_have_no_common_time() {
        let (window, done) = window(&[&steady(0, 5, 10), &steady(50, 5, 10)]);
        assert_eq!((window.begin, window.end, window.span), (50, 50, 100));
        assert_eq!(done, [0.0, 0.0]);
    }

    #[test]
    fn a_flow_that_stands_still_holds_nobody_else_back() {
        let mut a = steady(0, 10, 10);
        a.steps.iter_mut().skip(5).for_each(|s| s.end += 1000);
        let (_, done) = window(&[&a, &steady(0, 100, 10)]);
        assert_eq!(done[1], 100.0);
        assert!((done[0] - (5.0 + 950.0 / 1010.0)).abs() < 1e-9, "{done:?}: the pause is a part of the sixth step");
    }

    #[test]
    fn no_flow_and_no_step_are_no_trouble() {
        assert_eq!(window(&[]).1, [] as [f64; 0]);
        assert_eq!(window(&[&Course::default(), &steady(5, 1, 1)]).1, [0.0, 0.0]);
    }
}
