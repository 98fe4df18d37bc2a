//! What there is to show: the run so far, what is chosen, and which point is looked at. Pure: time is an argument.

use std::collections::BTreeMap;

use measure::Event;
use record::{Extent, Fold, PathRun, Point, RunFile};
use report::Graph;

use crate::keys::Key;

/// How long a point is shown before the next: a run visits dozens a second, and nobody reads that.
const HOLD: f64 = 2.0;

/// How far the run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It goes on.
    Measuring,
    /// It was asked to stop.
    Stopping,
    /// Its last event came.
    Ended,
}

/// What stands in the large part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// The curve.
    Graph,
    /// All warnings with their hints.
    Warnings,
    /// The keys.
    Help,
}

/// What a key asks of the screen's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Nothing but a new picture.
    Nothing,
    /// End the run.
    Stop,
    /// Leave the last picture.
    Leave,
}

/// What there is to show.
#[derive(Debug, Clone)]
pub struct State {
    fold: Fold,
    pub(crate) extent: Option<Extent>,
    /// The run file's name.
    pub(crate) file: String,
    /// Whether anybody can press keys.
    pub(crate) keys: bool,
    /// Seconds since the screen came up; stands still when the run has ended.
    pub(crate) elapsed: f64,
    pub(crate) phase: Phase,
    pub(crate) face: Face,
    pub(crate) graph: Graph,
    /// Lines of a text that are above the screen.
    pub(crate) scroll: usize,
    /// The path chosen; none for all.
    pub(crate) path: Option<u32>,
    /// Path, round and size of the last trial.
    pub(crate) current: Option<(u32, u32, u64)>,
    /// Size of each path's last trial.
    latest: BTreeMap<u32, u64>,
    /// The point that is looked at, since when, and whether a key chose it.
    pub(crate) shown: Option<(u32, u64)>,
    since: f64,
    pub(crate) held: bool,
    /// How each point's interval closed: rounds, and how far its interval reached after them, as a share of the median.
    closing: BTreeMap<(u32, u64), Vec<(u32, f64)>>,
}

impl State {
    /// Nothing yet; `file` is the run file's name, `keys` whether anybody can press keys.
    pub fn new(file: String, keys: bool) -> Self {
        Self {
            fold: Fold::new(),
            extent: None,
            file,
            keys,
            elapsed: 0.0,
            phase: Phase::Measuring,
            face: Face::Graph,
            graph: Graph::Signature,
            scroll: 0,
            path: None,
            current: None,
            latest: BTreeMap::new(),
            shown: None,
            since: 0.0,
            held: false,
            closing: BTreeMap::new(),
        }
    }

    /// Takes one event in.
    pub fn event(&mut self, event: &Event) {
        self.fold.event(event);
        if let Event::Run(run) = event {
            self.extent = Some(Extent::of(&run.plan));
            self.graph = self.graphs()[0];
        }
        if let Some(extent) = &mut self.extent {
            extent.event(event);
        }
        match event {
            Event::Trial(t) => {
                self.current = Some((t.path, t.round, t.size));
                self.latest.insert(t.path, t.size);
                self.note(t.path, t.size);
            }
            Event::Sustained(t) => self.current = Some((t.path, t.round, t.size)),
            Event::Round(b) => {
                let size = self.latest.get(&b.path).copied().unwrap_or(0);
                self.current = Some((b.path, b.round, size));
            }
            Event::Point(p) => self.note(p.path, p.size),
            Event::End(_) => self.phase = Phase::Ended,
            Event::Run(_) | Event::Path(_) | Event::Earlier(_) | Event::Taken(_) | Event::Warning(_) => {}
        }
    }

    /// The graphs, in the order in which a key goes through them.
    fn graphs(&self) -> &'static [Graph] {
        self.fold.run().map_or(&[Graph::Signature], Graph::while_measuring)
    }

    /// Notes how wide a point's interval is now.
    fn note(&mut self, path: u32, size: u64) {
        let Some(figures) = self.point(path, size).map(|(_, p)| p.figures) else { return };
        let width = figures.reach();
        if !width.is_finite() {
            return;
        }
        let widths = self.closing.entry((path, size)).or_default();
        match widths.last_mut() {
            Some((rounds, last)) if *rounds == figures.rounds => *last = width,
            _ => widths.push((figures.rounds, width)),
        }
    }

    /// Says that `elapsed` seconds have passed since the screen came up.
    pub fn tick(&mut self, elapsed: f64) {
        if self.phase != Phase::Ended {
            self.elapsed = elapsed;
        }
        let of_path = self.shown.is_some_and(|(path, _)| self.path.is_none_or(|chosen| chosen == path));
        let due = self.elapsed - self.since >= HOLD && self.phase != Phase::Ended;
        if (self.held || !due) && of_path {
            return;
        }
        let next = match self.path {
            Some(path) => self.latest.get(&path).map(|size| (path, *size)),
            None => self.current.and_then(|(path, _, _)| Some((path, *self.latest.get(&path)?))),
        };
        if next.is_some() {
            (self.shown, self.since) = (next, self.elapsed);
        }
    }

    /// The run was asked to stop.
    pub fn stopping(&mut self) {
        if self.phase == Phase::Measuring {
            self.phase = Phase::Stopping;
        }
    }

    /// Takes one key in.
    pub fn key(&mut self, key: Key) -> Request {
        match key {
            Key::Escape if self.face != Face::Graph => self.face(Face::Graph),
            Key::Quit | Key::Escape if self.phase == Phase::Ended => return Request::Leave,
            Key::Quit | Key::Escape => return Request::Stop,
            Key::Enter if self.phase == Phase::Ended => return Request::Leave,
            Key::Enter => {}
            Key::Help => self.toggle(Face::Help),
            Key::Warnings => self.toggle(Face::Warnings),
            Key::Graph if self.face != Face::Graph => self.face(Face::Graph),
            Key::Graph => {
                let graphs = self.graphs();
                let at = graphs.iter().position(|g| *g == self.graph).map_or(0, |i| i + 1);
                self.graph = graphs[at % graphs.len()];
            }
            Key::Path => self.next_path(),
            Key::Left => self.step(|size, s| s < size, |sizes| sizes.max()),
            Key::Right => self.step(|size, s| s > size, |sizes| sizes.min()),
            Key::Up => self.scroll = self.scroll.saturating_sub(1),
            Key::Down => self.scroll += usize::from(self.face != Face::Graph),
            Key::Current => {
                self.held = false;
                self.since = f64::NEG_INFINITY;
            }
        }
        Request::Nothing
    }

    fn face(&mut self, face: Face) {
        (self.face, self.scroll) = (face, 0);
    }

    fn toggle(&mut self, face: Face) {
        self.face(if self.face == face { Face::Graph } else { face });
    }

    /// All paths, then each alone, then all again.
    fn next_path(&mut self) {
        let numbers: Vec<u32> = self.run().map_or_else(Vec::new, |r| r.paths.iter().map(|p| p.opened.path).collect());
        self.path = match self.path {
            None => numbers.first().copied(),
            Some(path) => numbers.into_iter().find(|n| *n > path),
        };
        self.held = false;
    }

    /// Looks at the neighbour of the point that is looked at.
    fn step(&mut self, beyond: fn(u64, u64) -> bool, nearest: fn(&mut dyn Iterator<Item = u64>) -> Option<u64>) {
        let Some((path, size)) = self.shown else { return };
        let Some(measured) = self.measured(path) else { return };
        let sizes: Vec<u64> = measured.points.iter().map(|p| p.size).filter(|s| beyond(size, *s)).collect();
        if let Some(next) = nearest(&mut sizes.into_iter()) {
            self.shown = Some((path, next));
        }
        self.held = true;
    }

    /// The run so far.
    pub fn run(&self) -> Option<&RunFile> {
        self.fold.run()
    }

    pub(crate) fn measured(&self, path: u32) -> Option<&PathRun> {
        self.run()?.paths.iter().find(|p| p.opened.path == path)
    }

    pub(crate) fn point(&self, path: u32, size: u64) -> Option<(&PathRun, &Point)> {
        let measured = self.measured(path)?;
        let at = measured.points.binary_search_by_key(&size, |p| p.size).ok()?;
        Some((measured, &measured.points[at]))
    }

    pub(crate) fn closing(&self, path: u32, size: u64) -> &[(u32, f64)] {
        self.closing.get(&(path, size)).map_or(&[], |widths| &widths[..])
    }
}
