//! How a connection went on, as few and small numbers: a trial may have a hundred thousand steps. Pure.
//!
//! First the beginning, then of each step the time since the one before it, its iterations, and how much of that time it did not take itself.

use measure::Course;
use measure::flows::Step;
use serde::{Deserialize, Serialize};

/// Most steps that are read: what a trial keeps at most, and one more.
const MOST: usize = (1 << 20) + 1;

/// A course as it travels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Numbers(Vec<u64>);

impl Numbers {
    pub(crate) fn of(course: &Course) -> Self {
        let mut numbers = Vec::with_capacity(1 + 3 * course.steps.len());
        numbers.push(course.begin);
        let mut last = course.begin;
        for step in &course.steps {
            let since = step.end.saturating_sub(last);
            numbers.extend([since, step.iterations, since.wrapping_sub(step.took)]);
            last = step.end;
        }
        Self(numbers)
    }

    /// The course that they tell; none where they tell none.
    pub(crate) fn course(&self) -> Option<Course> {
        let (begin, steps) = self.0.split_first()?;
        let (steps, rest) = steps.as_chunks::<3>();
        if !rest.is_empty() || steps.len() > MOST {
            return None;
        }
        let mut end = *begin;
        let step = |&[since, iterations, beside]: &[u64; 3]| {
            end = end.checked_add(since)?;
            Some(Step { end, iterations, took: since.wrapping_sub(beside) })
        };
        Some(Course { begin: *begin, steps: steps.iter().map(step).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_step_of_a_closed_loop_takes_few_bytes() {
        let steps = (1..=1000).map(|i| Step { end: (1 << 50) + i * 20_000, iterations: 1, took: 20_000 }).collect();
        let text = serde_json::to_string(&Numbers::of(&Course { begin: 1 << 50, steps })).unwrap();
        assert!(text.len() < 1000 * 10 + 20, "{} bytes", text.len());
    }

    #[test]
    fn what_is_no_course_is_none() {
        for numbers in [&[][..], &[1, 2], &[1, 2, 3], &[1, 2, 3, 4, 5], &[1, u64::MAX, 0, 0]] {
            assert_eq!(Numbers(numbers.to_vec()).course(), None, "{numbers:?}");
        }
        assert_eq!(Numbers(vec![7]).course(), Some(Course { begin: 7, steps: Vec::new() }));
    }

    proptest! {
        #[test]
        fn courses_survive(begin in 0u64..1 << 60, steps in prop::collection::vec((0u64..1 << 40, any::<u64>(), any::<u64>()), 0..50)) {
            let mut end = begin;
            let steps = steps.into_iter().map(|(since, iterations, took)| {
                end += since;
                Step { end, iterations, took }
            });
            let course = Course { begin, steps: steps.collect() };
            prop_assert_eq!(Numbers::of(&course).course(), Some(course));
        }

        #[test]
        fn no_numbers_make_it_panic(numbers in prop::collection::vec(any::<u64>(), 0..20)) {
            let _ = Numbers(numbers).course();
        }
    }
}
