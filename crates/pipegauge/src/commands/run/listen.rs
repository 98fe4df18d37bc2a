//! Who is told the events of a run: the run file, the fold that pictures are drawn from, and what people see.

use std::io;

use anyhow::Result;
use measure::Event;
use record::{Fold, RunFile, WriteError, Writer};

use super::Front;
use super::past::Past;
use crate::config::RunConfig;

/// All listeners of one run.
pub struct Listeners {
    writer: Writer,
    fold: Fold,
    front: Box<dyn Front>,
    failure: Option<WriteError>,
    past: Option<Past>,
}

impl Listeners {
    /// Creates the run file, then the front.
    pub fn open(config: &RunConfig, front: impl FnOnce() -> Result<Box<dyn Front>>) -> Result<Self> {
        let writer = Writer::create(&config.output)?;
        Ok(Self { writer, fold: Fold::default(), front: front()?, failure: None, past: Past::of(config) })
    }

    /// Hands an event to each, and after a path's opening what earlier runs of it found.
    pub fn take_event(&mut self, event: &Event) -> io::Result<()> {
        self.tell(event)?;
        match self.past.as_mut().and_then(|past| past.after(event)) {
            Some(earlier) => self.tell(&earlier),
            None => Ok(()),
        }
    }

    /// Hands an event to each. What can't be kept is not shown as measured either, and ends the run.
    fn tell(&mut self, event: &Event) -> io::Result<()> {
        if let Err(e) = self.writer.write(event) {
            let told = io::Error::other(e.to_string());
            self.failure.get_or_insert(e);
            return Err(told);
        }
        self.fold.event(event);
        self.front.take_event(event);
        Ok(())
    }

    /// Why the run file could not be written, if it could not.
    pub fn failure(&mut self) -> Option<WriteError> {
        self.failure.take()
    }

    /// Keeps the run for later ones, if it is whole; says what went wrong with the history.
    pub fn remember(&mut self, whole: bool) -> Vec<String> {
        let run = self.fold.run().filter(|_| whole);
        self.past.take().map_or(Vec::new(), |past| past.end(run))
    }

    /// Takes the front away and gives what was told.
    pub fn results(&mut self) -> Option<RunFile> {
        self.front.done();
        self.fold.run().cloned()
    }
}
