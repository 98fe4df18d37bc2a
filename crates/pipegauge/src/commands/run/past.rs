//! Earlier runs of the paths of a run: looked up as each path opens, added to at the end. Nothing that goes wrong here costs the
//! run anything.

use measure::Event;
use measure::earlier::{Earlier, EarlierRun};
use measure::event::Run;
use record::RunFile;
use record::history::{Folder, HistoryError, Kept, Key};

use crate::config::RunConfig;
use crate::config::history;

/// The history as one run uses it.
pub struct Past {
    folder: Option<Folder>,
    run: Option<Run>,
    /// Paths whose file can't be used, as was told; nothing is added to it.
    unusable: Vec<u32>,
    /// What went wrong, told at the end: a screen may be over everything until then.
    notes: Vec<String>,
}

impl Past {
    /// The user's; none where the run was asked not to look.
    pub fn of(config: &RunConfig) -> Option<Self> {
        if !config.history {
            return None;
        }
        let (folder, notes) = match history::folder() {
            Ok(folder) => (Some(folder), Vec::new()),
            // Without a machine behind any path there is nothing to keep, and nothing to say.
            Err(_) if !config.plan.transports().any(Key::kept) => (None, Vec::new()),
            Err(e) => (None, vec![e.to_string()]),
        };
        Some(Self { folder, run: None, unusable: Vec::new(), notes })
    }

    /// What is to be told after this event: the earlier runs of a path that opened.
    pub fn after(&mut self, event: &Event) -> Option<Event> {
        let opened = match event {
            Event::Run(run) => {
                self.run = Some(run.clone());
                return None;
            }
            Event::Path(opened) if Key::kept(opened.transport) => opened,
            _ => return None,
        };
        let (folder, key) = (self.folder.as_ref()?, Key::of(self.run.as_ref()?, opened));
        let found = match folder.earlier(&key) {
            Ok(found) => found,
            Err(e) => {
                if let Ok(Some(aside)) = folder.set_aside(&key) {
                    self.notes.push(format!(
                        "{e}, so the history of {} begins anew; what was there is set aside as {}",
                        opened.name(),
                        aside.display()
                    ));
                    return Some(Event::Earlier(Earlier {
                        path: opened.path,
                        runs: Vec::new(),
                        others: folder.others(&key),
                    }));
                }
                self.notes.push(format!(
                    "this run of {} is not kept for later ones, and earlier ones are not known: {e}; --no-history does without",
                    opened.name()
                ));
                self.unusable.push(opened.path);
                return None;
            }
        };
        self.notes.extend(folder.damage(&key, &found));
        let runs = found.runs.into_iter().filter(Kept::counts).map(|kept| kept.run).collect();
        Some(Event::Earlier(Earlier { path: opened.path, runs, others: folder.others(&key) }))
    }

    /// Adds what was measured, if it is whole and long enough to be a repeat, and says what went wrong, a line each.
    pub fn end(mut self, run: Option<&RunFile>) -> Vec<String> {
        let (Some(folder), Some(run)) = (&self.folder, run) else { return self.notes };
        for path in
            run.paths.iter().filter(|p| Key::kept(p.opened.transport) && !self.unusable.contains(&p.opened.path))
        {
            let points = path.points.iter().map(|p| (p.size, p.figures.median));
            let Some(kept) = EarlierRun::new(run.run.started.clone(), points) else { continue };
            let seconds = run.end.as_ref().map_or(0.0, |e| e.at);
            let rounds = path.points.iter().map(|p| p.figures.rounds).max().unwrap_or(0);
            let kept = Kept { run: kept, seconds, rounds };
            if !kept.counts() {
                continue;
            }
            if let Err(e) = folder.keep(&Key::of(&run.run, &path.opened), kept) {
                // It waited for the lock already, and does not wait once more for each path.
                let locked = matches!(e, HistoryError::Locked(_));
                let what = if locked { String::new() } else { format!(" of {}", path.opened.name()) };
                self.notes.push(format!("this run{what} is not kept for later ones: {e}; --no-history does without"));
                if locked {
                    break;
                }
            }
        }
        self.notes
    }
}
