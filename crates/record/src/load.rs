//! Latency under load: the times of a path while it is idle and while flows load it, side by side.

use measure::Load;
use measure::event::{LoadFigures, LoadOpened, TimeKind};
use measure::figures::Singles;
use model::{Comparison, Estimate, Side};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Interval, quotient_interval};

use crate::{Analysis, PathRun, RunFile};

/// The percentiles that are given, as shares of single iterations.
pub const SHARES: [f64; 3] = [0.5, 0.99, 0.999];

/// An idle path and the paths that are the same but for a load of one way and size, at one of their sizes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UnderLoad {
    /// Index of the idle path among the run's.
    pub idle: usize,
    /// Size that was measured, bytes.
    pub size: u64,
    /// Which time the times are.
    pub time: TimeKind,
    /// The idle path first, then by ascending number of loading flows.
    pub rows: Vec<Loaded>,
}

/// What one path took at one size.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Loaded {
    /// Index of the path among the run's.
    pub path: usize,
    /// What loaded it; none of the idle path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// What the load carried; none likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried: Option<LoadFigures>,
    /// Times that 50%, 99% and 99.9% of single iterations stay within, seconds, with their 95% intervals; none where too few iterations tell one.
    pub times: [Option<Estimate>; 3],
    /// How many times as long as on the idle path they are: the median's from rounds that were neighbours in time, the others' from their
    /// own intervals. None of the idle path.
    pub ratios: [Option<Estimate>; 3],
}

impl RunFile {
    /// Whether any of its paths is loaded and has its idle path in the run, to be compared with.
    pub fn has_loaded(&self) -> bool {
        self.paths.iter().any(|path| self.idle_of(path).is_some())
    }

    fn load_of(&self, path: &PathRun) -> Option<&Load> {
        self.run.plan.load(path.opened.path)
    }

    /// The idle path that differs from a loaded one only in its load; none of a path that is not loaded.
    fn idle_of(&self, path: &PathRun) -> Option<usize> {
        self.load_of(path)?;
        let plan = &self.run.plan;
        let same = |other: &PathRun| {
            other.opened.transport == path.opened.transport
                && plan.alone(other.opened.path)
                && plan.settings(other.opened.path) == plan.settings(path.opened.path)
        };
        self.paths.iter().position(same)
    }
}

impl Analysis<'_> {
    /// Its paths under load, each group with its idle path, by ascending size. Empty of a run that loads no path.
    pub fn under_load(&self) -> Vec<UnderLoad> {
        let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
        for (index, path) in self.paths.iter().enumerate() {
            let Some(idle) = self.idle_of(path) else { continue };
            let alike = |group: &(usize, Vec<usize>)| {
                let first = group.1.first().and_then(|first| self.load_of(&self.paths[*first]));
                group.0 == idle && first.map(way) == self.load_of(path).map(way)
            };
            match groups.iter_mut().find(|group| alike(group)) {
                Some((_, loaded)) => loaded.push(index),
                None => groups.push((idle, vec![index])),
            }
        }
        let mut found = Vec::new();
        for (idle, mut loaded) in groups {
            loaded.sort_by_key(|index| self.load_of(&self.paths[*index]).map(|load| load.flows));
            let compared: Vec<Option<Comparison>> = loaded.iter().map(|index| self.compared(idle, *index)).collect();
            for point in &self.paths[idle].points {
                let first = self.row(idle, point.size, None, None);
                let rows = loaded.iter().zip(&compared);
                let rows = rows.map(|(index, compared)| self.row(*index, point.size, Some(&first), compared.as_ref()));
                let rows: Vec<Loaded> = std::iter::once(first.clone()).chain(rows).collect();
                found.push(UnderLoad { idle, size: point.size, time: point.time, rows });
            }
        }
        found
    }

    /// The loaded path compared with the idle one, round by round.
    fn compared(&self, idle: usize, loaded: usize) -> Option<Comparison> {
        let curve = |path: usize| [self.curve(path).to_vec()];
        Comparison::of_paths(Side::of(&curve(idle)), Side::of(&curve(loaded)))
    }

    fn row(&self, index: usize, size: u64, idle: Option<&Loaded>, compared: Option<&Comparison>) -> Loaded {
        let path = &self.paths[index];
        let point = path.points.iter().find(|point| point.size == size);
        let singles = point.and_then(|point| {
            let trials = point.trials.all();
            let trials: Vec<_> = trials.iter().collect();
            Singles::of(&self.run().run.plan, path.opened.transport, &trials, &path.common)
        });
        let mut times = SHARES.map(|share| singles.as_ref()?.at(share).map(|(value, told)| estimate(value, told)));
        // The 50th percentile is the row's median with its interval; it is known where single iterations were not timed, too.
        times[0] = point.map(|point| {
            let f = &point.figures;
            Estimate { value: f.median, low: f.low, high: f.high }
        });
        let paired = compared.and_then(|c| c.sizes.iter().find(|s| s.size == size)).map(|s| s.ratio);
        let of_own = |at: usize| {
            let (first, second) = (idle?.times[at]?, times[at]?);
            let ends = |e: Estimate| (e.value, Interval { low: e.low, high: e.high });
            Some(estimate(second.value / first.value, quotient_interval(ends(first), ends(second))))
        };
        Loaded {
            path: index,
            load: self.load_of(path).copied(),
            carried: point.and_then(|point| point.figures.load),
            times,
            ratios: [idle.and(paired), of_own(1), of_own(2)],
        }
    }

    /// CPUs of a path's loading flows on which the path itself is measured, on either side: there the load takes the CPU as well as the
    /// path. None where it is not known on which CPUs threads ran.
    pub fn shared_cpus(&self, path: usize) -> Option<Vec<u32>> {
        let opened = &self.paths.get(path)?.opened;
        let LoadOpened { near_cpus, far_cpus } = opened.load.as_ref()?;
        let (near, far) = (self.run().run.near.pinned?, opened.far.as_ref()?.pinned?);
        let same_host = opened.far.as_ref()?.hostname == self.run().run.near.hostname;
        let mut shared: Vec<u32> =
            near_cpus.iter().copied().filter(|cpu| *cpu == near || same_host && *cpu == far).collect();
        shared.extend(far_cpus.iter().filter(|cpu| **cpu == far || same_host && **cpu == near));
        shared.sort_unstable();
        shared.dedup();
        Some(shared)
    }
}

fn estimate(value: f64, Interval { low, high }: Interval) -> Estimate {
    Estimate { value, low, high }
}

fn way(load: &Load) -> (measure::LoadDirection, u64) {
    (load.direction, load.size)
}
