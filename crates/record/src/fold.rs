//! From events to a run: paths, points, warnings. Incremental, so that a front end can show a run in progress.

use std::collections::{BTreeMap, BTreeSet};

use host::{MOST_CPUS, Taken};
use measure::earlier::{Apart, EarlierRun};
use measure::event::{Plan, PointEnded, Schedule, Trial, Warning, Why};
use measure::figures::{self, Common, cost};
use measure::{Event, Trials, interval, settled};

use crate::{Costs, PathRun, Point, RunFile, soak};

/// A point with more trials than this is rebuilt at every 64th trial and at the next other event, not at each trial: otherwise a point of n
/// trials would cost n^2 during the run.
const EACH_TRIAL_UP_TO: usize = 256;
/// Most paths of a run: no command line names so many, and what is said of paths compares each with the others.
const PATHS: usize = 1000;
const OF_SOAK: usize = 8;

/// Builds a [`RunFile`] event by event.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    file: Option<RunFile>,
    /// Trials of sizes of which no trial has completed anything yet: there is no figure to show.
    pending: BTreeMap<(u32, u64), Trials>,
    /// Points that are not sorted into their path's yet ([`Fold::gather`]): inserting them one by one, in the order in which rounds end
    /// them, would move n^2 points.
    new: BTreeMap<(u32, u64), Point>,
    /// Paths with trials that are newer than their last [`Fold::settle`].
    stale: BTreeSet<u32>,
    strays: u64,
    /// Events that were left out because their numbers are impossible.
    impossible: u64,
    /// Each interval of a soak as a point of its own, by path; none where intervals don't make points ([`Fold::each_interval`]).
    intervals: Option<BTreeMap<u32, Vec<Point>>>,
}

impl Fold {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, but the points of a soak are its intervals, in the order of time.
    pub(crate) fn each_interval() -> Self {
        Self { intervals: Some(BTreeMap::new()), ..Self::default() }
    }

    /// The run so far; none before its header. Points that have not ended have the figures that their trials give (of a
    /// point with hundreds of trials, those up to the last round or 64th trial).
    pub fn run(&self) -> Option<&RunFile> {
        self.file.as_ref()
    }

    /// Adds one event. Events before the header, and trials of a path that was never opened, are left out.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Trial(t) => {
                let n = self.add_trial(t.clone());
                // Between two intervals of a soak nothing may take long, and its picture is of the intervals and not of the point.
                let each =
                    if self.file.as_ref().is_some_and(|f| f.run.plan.soaks()) { OF_SOAK } else { EACH_TRIAL_UP_TO };
                if n <= each || n.is_multiple_of(64) {
                    self.rebuild(t.path, t.size);
                    self.gather();
                }
            }
            // No figure rests on them, and a soak has them at each interval.
            Event::Taken(_) => self.add(event.clone()),
            other => {
                self.add(other.clone());
                self.settle();
                // The range of a repeat rests on the whole curve: while that grows, once a round is often enough.
                if matches!(other, Event::Round(_) | Event::End(_)) {
                    self.foretell();
                }
                if matches!(other, Event::End(_)) {
                    self.count_costs();
                }
            }
        }
    }

    /// Adds one event and leaves the figures for later ([`Fold::settle`]): for whole files.
    pub(crate) fn add(&mut self, event: Event) {
        if let Event::Run(mut run) = event {
            for path in &mut run.plan.paths {
                path.settings = std::mem::take(&mut path.settings).of_today(path.transport.as_str());
            }
            *self = Self {
                file: Some(RunFile { run, paths: Vec::new(), warnings: Vec::new(), end: None, cut: None }),
                intervals: self.intervals.take(),
                ..Self::default()
            };
            return;
        }
        let Some(file) = &mut self.file else { return };
        match event {
            Event::Run(_) => {}
            Event::Path(opened) => match place(&file.paths, opened.path) {
                Ok(i) => file.paths[i].opened = opened,
                Err(i) if file.paths.len() < PATHS => file.paths.insert(i, PathRun::new(opened)),
                Err(_) => self.impossible += 1,
            },
            Event::Round(mut round) => {
                // No path has more far processes.
                round.other_far_calibrations.truncate(measure::flows::MOST as usize);
                if let Ok(i) = place(&file.paths, round.path) {
                    file.paths[i].rounds.push(round);
                }
            }
            Event::Taken(told) if !told.taken.is_sane() => self.impossible += 1,
            Event::Taken(taken) => {
                if let Ok(i) = place(&file.paths, taken.path) {
                    let held = &mut file.paths[i].taken;
                    if file.run.plan.soaks() { interval::keep_taken(held, taken) } else { held.push(taken) }
                }
            }
            Event::Earlier(told) => {
                if let Ok(i) = place(&file.paths, told.path) {
                    // A file may hold any number of these, and impossible ones.
                    let sound = told.runs.into_iter().filter(EarlierRun::sound).take(EarlierRun::MOST);
                    file.paths[i].earlier = Some(sound.collect());
                    file.paths[i].others = told.others.into_iter().filter(Apart::sound).take(Apart::MOST).collect();
                }
            }
            Event::Trial(trial) => {
                self.add_trial(trial);
            }
            Event::Sustained(trial) if !trial.report.sound() => self.impossible += 1,
            Event::Sustained(trial) => match place(&file.paths, trial.path) {
                Ok(i) => file.paths[i].sustained.push(trial),
                Err(_) => self.strays += 1,
            },
            Event::Point(ended) => self.end_point(ended),
            Event::Warning(warning) => file.warnings.push(warning),
            Event::End(mut end) => {
                let taken = end.taken.take();
                self.impossible += u64::from(taken.is_some_and(|t| !t.is_sane()));
                end.taken = taken.filter(Taken::is_sane);
                let share = end.cpu_interference.take();
                end.cpu_interference = share.filter(|share| (0.0..=MOST_CPUS).contains(share));
                self.impossible += u64::from(share.is_some() && end.cpu_interference.is_none());
                file.end = Some(end);
                self.stale.extend(file.paths.iter().map(|p| p.opened.path));
            }
        }
    }

    /// Adds a trial to its point; returns how many trials the point has.
    fn add_trial(&mut self, trial: Trial) -> usize {
        let Some(file) = &mut self.file else { return 0 };
        let Ok(i) = place(&file.paths, trial.path) else {
            self.strays += 1;
            return 0;
        };
        if !trial.report.sound() {
            self.impossible += 1;
            return 0;
        }
        let key = (trial.path, trial.size);
        self.stale.insert(trial.path);
        let soaks = file.run.plan.soaks();
        if soaks && !trial.warmup {
            note_worst(&mut file.paths[i], &file.run.plan, &trial);
            if let Some(intervals) = &mut self.intervals {
                let (kind, number) = (file.paths[i].opened.transport, trial.path);
                intervals.entry(number).or_default().extend(soak::point(&file.run.plan, kind, trial));
                return 0;
            }
        }
        let points = &mut file.paths[i].points;
        let trials = match points.binary_search_by_key(&trial.size, |p| p.size) {
            Ok(p) => {
                // The point goes on: its recorded figures no longer cover all its trials. (A path also warms up at sizes that are known
                // well enough.)
                if !trial.warmup {
                    points[p].why = None;
                }
                &mut points[p].trials
            }
            Err(_) => match self.new.get_mut(&key) {
                Some(point) => {
                    if !trial.warmup {
                        point.why = None;
                    }
                    &mut point.trials
                }
                None => self.pending.entry(key).or_default(),
            },
        };
        if soaks {
            // Which intervals make a row is found among the rows before: they are few.
            interval::keep(trials.plain(), trial)
        } else {
            trials.push(trial)
        }
        trials.len()
    }

    fn end_point(&mut self, ended: PointEnded) {
        let Some(file) = &mut self.file else { return };
        let Ok(i) = place(&file.paths, ended.path) else { return };
        let points = &mut file.paths[i].points;
        let (figures, time, why) = (ended.figures, ended.time, Some(ended.why));
        match points.binary_search_by_key(&ended.size, |p| p.size) {
            Ok(p) => {
                let trials = std::mem::take(&mut points[p].trials);
                points[p] = Point { size: ended.size, trials, figures, costs: Costs::NONE, ways: None, time, why };
            }
            Err(at) => {
                let key = (ended.path, ended.size);
                let trials = match self.new.remove(&key) {
                    Some(before) => before.trials,
                    None => self.pending.remove(&key).unwrap_or_default(),
                };
                let point = Point { size: ended.size, trials, figures, costs: Costs::NONE, ways: None, time, why };
                if at == points.len() && self.new.is_empty() {
                    // It already is in order, as in files whose points are in order of size.
                    points.push(point);
                } else {
                    self.new.insert(key, point);
                }
            }
        }
    }

    /// Sorts new points into their path's, all of a path at once.
    fn gather(&mut self) {
        let Some(file) = &mut self.file else { return };
        let mut grown = BTreeSet::new();
        for ((number, _), point) in std::mem::take(&mut self.new) {
            if let Ok(i) = place(&file.paths, number) {
                file.paths[i].points.push(point);
                grown.insert(i);
            }
        }
        // Both parts are in order: one merge.
        grown.into_iter().for_each(|i| file.paths[i].points.sort_by_key(|p| p.size));
    }

    /// Brings the figures of all points up to their path's trials.
    pub(crate) fn settle(&mut self) {
        self.gather();
        for number in std::mem::take(&mut self.stale) {
            let Some(file) = &mut self.file else { return };
            let Ok(i) = place(&file.paths, number) else { continue };
            let waiting = self.pending.range((number, 0)..=(number, u64::MAX));
            let common = {
                let trials = waiting.clone().map(|(_, trials)| trials.all());
                let points = file.paths[i].points.iter().map(|p| p.trials.all()).chain(trials);
                Common::of(&file.run.plan, file.paths[i].opened.transport, file.run.calibration, points)
            };
            let sizes = file.paths[i].points.iter().map(|p| p.size);
            let sizes: Vec<u64> = sizes.chain(waiting.map(|((_, size), _)| *size)).collect();
            file.paths[i].common = common;
            for size in sizes {
                self.rebuild(number, size);
            }
        }
        self.gather();
    }

    /// Computes the range of a repeat of every point, from earlier runs.
    fn foretell(&mut self) {
        let Some(file) = &mut self.file else { return };
        for path in &mut file.paths {
            crate::repeat::foretell(&file.run.plan, path);
        }
    }

    /// Computes what every point cost both sides, and what each direction carried: once, when all trials are there, since it rests on the
    /// whole curve.
    fn count_costs(&mut self) {
        let Some(file) = &mut self.file else { return };
        for path in &mut file.paths {
            let (plan, kind) = (&file.run.plan, path.opened.transport);
            let trials = path.points.iter().map(|p| p.trials.all());
            let [near, far] = cost::End::BOTH.map(|end| cost::costs(plan, kind, end, trials.clone()));
            let costs: Vec<Costs> = near.zip(far).map(|(near, far)| Costs::new(near, far)).collect();
            let ways = figures::ways(plan, kind, file.run.calibration, trials);
            for (point, (costs, ways)) in path.points.iter_mut().zip(costs.into_iter().zip(ways)) {
                (point.costs, point.ways) = (costs, ways);
            }
        }
    }

    fn rebuild(&mut self, path: u32, size: u64) {
        let Some(file) = &mut self.file else { return };
        let Ok(i) = place(&file.paths, path) else { return };
        let (plan, kind) = (&file.run.plan, file.paths[i].opened.transport);
        let PathRun { points, common, .. } = &mut file.paths[i];
        let of = |trials: &Trials| figures::figures(plan, kind, &trials.all().iter().collect::<Vec<_>>(), common);
        match points.binary_search_by_key(&size, |p| p.size) {
            // NetPIPE's schedule has no rounds to compute anything from, and its files may hold figures only.
            Ok(p) if points[p].why.is_some() && plan.schedule == Schedule::Netpipe => {}
            Ok(p) => {
                if let Some(figures) = of(&points[p].trials) {
                    let known = points[p].why == Some(Why::Precision);
                    points[p].figures = if known { settled(figures, plan.precision) } else { figures };
                }
            }
            Err(_) => {
                let Some(figures) = self.pending.get(&(path, size)).and_then(of) else { return };
                let trials = self.pending.remove(&(path, size)).unwrap_or_default();
                let time = figures::time_kind(plan, kind, plan.connections(path));
                self.new.insert(
                    (path, size),
                    Point { size, trials, figures, costs: Costs::NONE, ways: None, time, why: None },
                );
            }
        }
    }

    /// The run, with the reader's warnings added to its own.
    pub(crate) fn finish(mut self) -> Option<RunFile> {
        let paths: Vec<u32> = self.file.iter().flat_map(|f| f.paths.iter().map(|p| p.opened.path)).collect();
        self.stale.extend(paths);
        self.settle();
        self.foretell();
        self.count_costs();
        let mut file = self.file?;
        for path in &mut file.paths {
            if let Some(intervals) = self.intervals.as_mut().and_then(|all| all.remove(&path.opened.path)) {
                path.points = intervals;
            }
        }
        let mut warn = |code: &str, text: String| {
            file.warnings.push(Warning { code: code.into(), path: None, sizes: Vec::new(), text });
        };
        if self.strays > 0 {
            warn(
                "stray-trials",
                format!(
                    "{} trials belong to a path whose opening isn't in the file and were left out; lines were removed from it",
                    self.strays
                ),
            );
        }
        if self.impossible > 0 {
            warn(
                "impossible",
                format!(
                    "{} lines say what can't have been measured (counts, times or shares beyond any machine's, paths beyond any run's) and were left out; \
                     the file was damaged or changed",
                    self.impossible
                ),
            );
        }
        Some(file)
    }
}

/// Keeps an interval of a path, if it is the worst of its size so far.
fn note_worst(path: &mut PathRun, plan: &Plan, interval: &Trial) {
    let bad = |t: &Trial| soak::badness(plan, path.opened.transport, t);
    match path.worst.binary_search_by_key(&interval.size, |t| t.size) {
        Ok(i) if bad(interval) > bad(&path.worst[i]) => path.worst[i] = interval.clone(),
        Ok(_) => {}
        Err(_) if bad(interval).is_none() => {}
        Err(i) => path.worst.insert(i, interval.clone()),
    }
}

/// Index of the path with this number, or where it is to be inserted.
fn place(paths: &[PathRun], number: u32) -> Result<usize, usize> {
    paths.binary_search_by_key(&number, |p| p.opened.path)
}

#[cfg(test)]
mod tests {
    use measure::event::{End, Figures, RoundTaken, TimeKind};

    use super::*;
    use crate::sample;
    use measure::Pattern;

    fn begun() -> Fold {
        let mut fold = Fold::new();
        fold.event(&Event::Run(sample::run(Pattern::PingPong)));
        fold.event(&Event::Path(sample::opened(0, transport::tcp::NAME)));
        fold
    }

    #[test]
    fn live_and_read_give_the_same_run() {
        let mut fold = Fold::new();
        sample::events().iter().for_each(|e| fold.event(e));
        assert_eq!(fold.run(), Some(&sample::file()));
    }

    #[test]
    fn a_point_shows_with_its_first_trial_and_its_figures_come_from_its_trials() {
        let mut fold = begun();
        fold.event(&Event::Trial(sample::trial(0, 1, 0.1, 64, 1e-5)));
        fold.event(&Event::Trial(sample::trial(0, 2, 0.2, 64, 3e-5)));
        let point = &fold.run().unwrap().paths[0].points[0];
        assert_eq!((point.size, point.why, point.figures.rounds), (64, None, 2));
        assert_eq!(point.figures.median, 2e-5, "as it goes on, without what the path's points share");
        assert!((point.figures.throughput * 2e-5 / (64.0 * 8.0) - 1.0).abs() < 1e-12);
        let recorded = Figures { median: 7e-5, ..point.figures };
        let ended = PointEnded { path: 0, size: 64, time: point.time, figures: recorded, why: Why::Budget };
        fold.event(&Event::Point(ended));
        fold.event(&Event::End(End { at: 1.0, error: None, cpu_interference: None, taken: None }));
        let point = &fold.run().unwrap().paths[0].points[0];
        let middle = (1e-5f64 * 3e-5).sqrt();
        assert!((point.figures.median / middle - 1.0).abs() < 1e-12, "whatever was recorded: {point:?}");
        assert_eq!(point.why, Some(Why::Budget));
    }

    #[test]
    fn long_trials_are_kept_beside_the_points_and_count_in_none() {
        let mut fold = begun();
        sample::events().iter().for_each(|e| fold.event(e));
        let before = fold.run().unwrap().paths[0].points.clone();
        let of = before.iter().find(|p| p.size == 24).unwrap();
        let mut long = sample::trial(0, 3, 3.05, of.size, of.figures.median * 2.0);
        long.report.repeats = 20_000;
        long.report.seconds = 20_000.0 * long.report.median;
        for at in [3.05, 4.05] {
            fold.event(&Event::Sustained(Trial { at, ..long.clone() }));
        }
        let path = &fold.run().unwrap().paths[0];
        assert_eq!((path.sustained.len(), &path.points), (2, &before));
        let kept_up = path.kept_up(&fold.run().unwrap().run.plan);
        let [found] = kept_up.as_slice() else { panic!("{kept_up:?}") };
        assert!(found.size == 24 && found.trials == 2 && (found.ratio / 2.0 - 1.0).abs() < 0.2, "{found:?}");
        fold.event(&Event::Sustained(Trial { path: 9, ..long }));
        assert_eq!(fold.finish().unwrap().warnings.last().unwrap().code, "stray-trials");
    }

    #[test]
    fn numbers_beyond_any_machine_are_left_out_with_a_word() {
        let mut fold = begun();
        sample::events().iter().for_each(|e| fold.event(e));
        let before = fold.run().unwrap().paths[0].clone();
        let size = before.points[0].size;
        let trial = |change: &dyn Fn(&mut measure::TrialReport)| {
            let mut trial = sample::trial(0, 3, 3.0, size, 1e-5);
            change(&mut trial.report);
            trial
        };
        let outlier = [
            trial(&|r| r.histogram = vec![(1, u64::MAX), (2, u64::MAX)]),
            trial(&|r| r.repeats = u64::MAX),
            trial(&|r| (r.median, r.max) = (1e300, 1e308)),
            trial(&|r| (r.median, r.min) = (1e-320, 1e-320)),
            trial(&|r| r.lost = 1 << 60),
            trial(&|r| r.far.received = u64::MAX),
        ];
        for trial in outlier {
            fold.event(&Event::Trial(trial.clone()));
            fold.event(&Event::Sustained(trial));
        }
        let taken = Taken { throttled_share: Some(1e300), ..Taken::default() };
        fold.event(&Event::Taken(RoundTaken { path: 0, round: 1, taken }));
        fold.event(&Event::End(End { at: 9.0, error: None, cpu_interference: Some(1e308), taken: Some(taken) }));
        let file = fold.finish().unwrap();
        assert_eq!(file.paths[0], before);
        assert_eq!(file.end.map(|e| (e.taken, e.cpu_interference)), Some((None, None)));
        let word = file.warnings.last().unwrap();
        assert!(word.code == "impossible" && word.text.starts_with("15 lines"), "{word:?}");
    }

    #[test]
    fn more_paths_than_any_run_has_are_left_out_with_a_word() {
        let mut fold = begun();
        let more = 5;
        for path in 0..PATHS + more {
            fold.event(&Event::Path(sample::opened(path as u32, transport::tcp::NAME)));
        }
        let file = fold.finish().unwrap();
        assert_eq!(file.paths.len(), PATHS);
        let word = file.warnings.last().unwrap();
        assert!(word.code == "impossible" && word.text.starts_with("5 lines"), "{word:?}");
    }

    #[test]
    fn a_trial_after_a_points_end_opens_it_again() {
        let mut fold = begun();
        sample::events().iter().for_each(|e| fold.event(e));
        let before = fold.run().unwrap().paths[0].points[0].clone();
        fold.event(&Event::Trial(sample::trial(0, 9, 9.0, 1, before.figures.median * 3.0)));
        let after = &fold.run().unwrap().paths[0].points[0];
        assert_eq!(after.trials.len(), before.trials.len() + 1);
        assert_eq!(after.why, None);
        assert!(after.figures.mean > before.figures.mean);
    }

    #[test]
    fn a_point_that_ended_stays_ended_while_its_path_warms_up_on_it() {
        let mut fold = begun();
        sample::events().iter().for_each(|e| fold.event(e));
        let before = fold.run().unwrap().paths[0].points[0].clone();
        assert!(before.why.is_some());
        let warm = Trial { warmup: true, ..sample::trial(0, 9, 9.0, before.size, before.figures.median * 9.0) };
        fold.event(&Event::Trial(warm));
        let after = &fold.run().unwrap().paths[0].points[0];
        assert_eq!((after.why, after.figures), (before.why, before.figures));
        assert_eq!(after.trials.len(), before.trials.len() + 1);
    }

    #[test]
    fn no_figure_is_made_of_trials_that_completed_nothing() {
        let mut fold = begun();
        let mut lost = sample::trial(0, 1, 0.1, 64, 1e-5);
        lost.report = measure::TrialReport { lost: 3, ..Default::default() };
        fold.event(&Event::Trial(lost));
        assert!(fold.run().unwrap().paths[0].points.is_empty());
        fold.event(&Event::Trial(sample::trial(0, 2, 0.2, 64, 1e-5)));
        let point = &fold.run().unwrap().paths[0].points[0];
        assert_eq!(point.trials.len(), 2, "the trial that lost everything is kept too");
        assert!(point.figures.loss > 0.0);
    }

    #[test]
    fn paths_that_open_out_of_order_stand_in_order() {
        let mut fold = Fold::new();
        fold.event(&Event::Trial(sample::trial(0, 1, 0.1, 64, 1e-5)));
        assert_eq!(fold.run(), None, "nothing before the header");
        fold.event(&Event::Run(sample::run(Pattern::PingPong)));
        fold.event(&Event::Path(sample::opened(2, transport::unix::NAME)));
        fold.event(&Event::Trial(sample::trial(u32::MAX, 1, 0.1, 64, 1e-5)));
        fold.event(&Event::Trial(sample::trial(2, 1, 0.1, 64, 1e-5)));
        fold.event(&Event::Path(sample::opened(0, transport::tcp::NAME)));
        fold.event(&Event::Trial(sample::trial(0, 1, 0.1, 32, 1e-5)));
        let file = fold.finish().unwrap();
        let sizes: Vec<_> = file.paths.iter().map(|p| (p.opened.path, p.points[0].size)).collect();
        assert_eq!(sizes, [(0, 32), (2, 64)]);
        assert_eq!(file.warnings.len(), 1, "the trial of no path is spoken of");
        assert_eq!(file.warnings[0].code, "stray-trials");
    }

    #[test]
    fn points_that_end_in_any_order_stand_in_order_with_their_trials() {
        let mut fold = Fold::new();
        fold.add(Event::Run(sample::run(Pattern::PingPong)));
        fold.add(Event::Path(sample::opened(0, transport::tcp::NAME)));
        let ended = |size| {
            let figures = Figures { median: 1e-5, ..Figures::default() };
            Event::Point(PointEnded { path: 0, size, time: TimeKind::HalfRoundTrip, figures, why: Why::Budget })
        };
        for size in [64, 8, 512, 8, 1] {
            fold.add(Event::Trial(sample::trial(0, 1, 0.1, size, 1e-5)));
            fold.add(ended(size));
        }
        assert_eq!((fold.file.as_ref().unwrap().paths[0].points.len(), fold.new.len()), (1, 3), "none is moved yet");
        // One goes on after its end, and one never ends.
        fold.add(Event::Trial(sample::trial(0, 2, 0.2, 64, 1e-5)));
        fold.add(Event::Trial(sample::trial(0, 2, 0.2, 32, 1e-5)));
        let file = fold.finish().unwrap();
        let found: Vec<_> = file.paths[0].points.iter().map(|p| (p.size, p.trials.len(), p.why)).collect();
        let why = Some(Why::Budget);
        assert_eq!(found, [(1, 1, why), (8, 2, why), (32, 1, None), (64, 2, None), (512, 1, why)]);
    }

    #[test]
    fn a_point_of_many_trials_is_up_to_date_at_the_next_event() {
        let mut fold = begun();
        for round in 0..EACH_TRIAL_UP_TO as u32 + 10 {
            fold.event(&Event::Trial(sample::trial(0, round, 0.0, 64, 1e-5)));
        }
        assert_eq!(fold.run().unwrap().paths[0].points[0].figures.trials as usize, EACH_TRIAL_UP_TO);
        fold.event(&Event::End(End { at: 1.0, error: None, cpu_interference: None, taken: None }));
        assert_eq!(fold.run().unwrap().paths[0].points[0].figures.trials as usize, EACH_TRIAL_UP_TO + 10);
    }
}
