//! The times of a trial's chunks, kept in memory that was touched before the first of them.

use crate::flows::{Course, Step};

/// Chunk times of one trial. Recording is one store; everything else waits until the trial is over.
pub struct Samples {
    chunk: u64,
    times: Vec<u64>,
    room: usize,
    odd: Vec<(u64, u64)>,
    /// Nanoseconds from the trial's start to the first chunk, where chunks follow each other without a gap.
    lead: Option<u64>,
    /// Every chunk with its moment, where the trial is one of several flows.
    steps: Option<Vec<Step>>,
}

/// Figures of the samples, seconds an iteration.
pub struct Sampled {
    /// Median of the chunks.
    pub median: f64,
    /// Shortest.
    pub min: f64,
    /// Longest.
    pub max: f64,
    /// (nanoseconds, count) of single iterations; empty where chunks held more than one.
    pub histogram: Vec<(u64, u64)>,
    /// (nanoseconds after the trial's start, nanoseconds) of the longest chunks that took over twice the median, in the order
    /// of time; empty where chunks don't follow each other.
    pub pauses: Vec<(u64, u64)>,
}

/// Most pauses that a trial keeps, the longest: more would swell the run file, and a trial has few.
const PAUSES: usize = 16;

/// Most samples a trial keeps; a longer trial keeps the first so many and its total time.
const MOST: u64 = 1 << 20;

impl Samples {
    /// Room for `count` chunks of `chunk` iterations.
    pub fn new(count: u64, chunk: u64) -> Self {
        let room = count.min(MOST) as usize;
        let mut times = vec![1; room];
        times.clear();
        Self { chunk, times, room, odd: Vec::new(), lead: None, steps: None }
    }

    /// Keeps the moments, too, where the trial is one of so many flows. The flows share the room of one trial: a flow with more chunks
    /// keeps the moments of the first.
    pub fn of_flows(self, flows: u32) -> Self {
        let room = self.room / flows.max(1) as usize;
        Self { steps: (flows > 1).then(|| Vec::with_capacity(room)), ..self }
    }

    /// Chunks follow each other, the first of them so many nanoseconds after the trial's start.
    pub fn following(self, lead: u64) -> Self {
        Self { lead: Some(lead), ..self }
    }

    /// A chunk of `iterations` took `nanoseconds`. The last chunk may be shorter than the others.
    #[inline(always)]
    pub fn push(&mut self, nanoseconds: u64, iterations: u64) {
        if iterations != self.chunk {
            self.odd = vec![(nanoseconds, iterations)];
        } else if self.times.len() < self.room {
            self.times.push(nanoseconds);
        }
    }

    /// A chunk that was done at `end`, nanoseconds.
    #[inline(always)]
    pub fn push_at(&mut self, end: u64, nanoseconds: u64, iterations: u64) {
        self.push(nanoseconds, iterations);
        if let Some(steps) = self.steps.as_mut().filter(|steps| steps.len() < steps.capacity()) {
            steps.push(Step { end, iterations, took: nanoseconds });
        }
    }

    /// The course of the trial from `begin` to `end`, nanoseconds, in which so many iterations completed; none of a trial of one flow.
    pub fn course(&mut self, begin: u64, end: u64, iterations: u64) -> Option<Course> {
        let mut steps = self.steps.take()?;
        let kept: u64 = steps.iter().map(|step| step.iterations).sum();
        if steps.last().is_none_or(|last| last.end < end) {
            steps.push(Step { end, iterations: iterations.saturating_sub(kept), took: 0 });
        }
        Some(Course { begin, steps })
    }

    /// Median, extremes and histogram.
    pub fn figures(mut self) -> Sampled {
        if self.times.is_empty() {
            let Some((t, n)) = self.odd.first().copied() else {
                return Sampled { median: 0.0, min: 0.0, max: 0.0, histogram: Vec::new(), pauses: Vec::new() };
            };
            let t = t as f64 / (n as f64 * 1e9);
            return Sampled { median: t, min: t, max: t, histogram: Vec::new(), pauses: Vec::new() };
        }
        let histogram = if self.chunk == 1 {
            let mut h = stats::Histogram::new();
            self.times.iter().for_each(|&t| h.record(t));
            h.pairs()
        } else {
            Vec::new()
        };
        let in_order = self.lead.map(|lead| (lead, self.times.clone()));
        self.times.sort_unstable();
        let (n, t) = (self.times.len(), &self.times);
        let seconds = |ns: f64| ns / (self.chunk as f64 * 1e9);
        Sampled {
            median: seconds((t[(n - 1) / 2] + t[n / 2]) as f64 / 2.0),
            min: seconds(t[0] as f64),
            max: seconds(t[n - 1] as f64),
            histogram,
            pauses: in_order.map_or_else(Vec::new, |(lead, times)| pauses(lead, &times, t[n / 2])),
        }
    }
}

fn pauses(lead: u64, times: &[u64], median: u64) -> Vec<(u64, u64)> {
    let mut at = lead;
    let mut found: Vec<(u64, u64)> = Vec::new();
    for &took in times {
        if took > 2 * median {
            found.push((at, took));
        }
        at += took;
    }
    if found.len() > PAUSES {
        found.sort_unstable_by_key(|(_, took)| std::cmp::Reverse(*took));
        found.truncate(PAUSES);
        found.sort_unstable();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_last_chunk_does_not_bend_the_median() {
        let mut s = Samples::new(4, 10);
        for t in [100, 120, 110] {
            s.push(t, 10);
        }
        s.push(900, 3);
        let f = s.figures();
        assert_eq!((f.min, f.median, f.max), (1e-8, 1.1e-8, 1.2e-8));
        assert!(f.histogram.is_empty());
    }

    #[test]
    fn a_flow_keeps_its_moments_and_their_end_whatever_room_there_is() {
        let step = |end, iterations, took| Step { end, iterations, took };
        let mut s = Samples::new(4, 10).of_flows(2);
        for i in 1..=4 {
            s.push_at(1000 + i * 100, 90, 10);
        }
        let course = s.course(1000, 1400, 40).unwrap();
        assert_eq!(course.steps, [step(1100, 10, 90), step(1200, 10, 90), step(1400, 20, 0)]);
        assert_eq!(Samples::new(4, 10).course(0, 10, 1), None, "one flow has no need of it");
    }

    #[test]
    fn a_trial_shorter_than_a_chunk_still_has_a_time() {
        let mut s = Samples::new(1, 1000);
        s.push(500, 5);
        assert_eq!(s.figures().median, 1e-7);
    }

    #[test]
    fn pauses_are_the_longest_chunks_in_the_order_of_time() {
        let mut s = Samples::new(100, 1).following(1000);
        for i in 0..100 {
            s.push(if i % 5 == 2 { 300 + i } else { 100 }, 1);
        }
        let pauses = s.figures().pauses;
        assert_eq!(pauses.len(), PAUSES, "of 20");
        assert!(pauses.windows(2).all(|w| w[0].0 < w[1].0) && pauses.iter().all(|p| p.1 >= 322));
        assert_eq!(pauses[15], (1000 + 97 * 100 + 19 * 200 + (0..19).map(|k| 5 * k + 2).sum::<u64>(), 397));
        let mut s = Samples::new(2, 1);
        [100, 900].into_iter().for_each(|t| s.push(t, 1));
        assert!(s.figures().pauses.is_empty(), "without an order there are none");
    }

    #[test]
    fn single_iterations_make_a_histogram() {
        let mut s = Samples::new(3, 1);
        [5_000, 5_000, 9_000].into_iter().for_each(|t| s.push(t, 1));
        let f = s.figures();
        assert_eq!(f.median, 5e-6);
        assert_eq!(f.histogram.iter().map(|(_, n)| n).sum::<u64>(), 3);
    }
}
