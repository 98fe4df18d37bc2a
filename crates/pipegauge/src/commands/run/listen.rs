//! Who hears the events of a run: the run file, the fold that pictures are drawn from, and what people see.

use std::io;

use anyhow::Result;
use measure::Event;
use record::{Fold, RunFile, WriteError, Writer};

use super::Front;
use crate::config::RunConfig;

/// All listeners of one run.
pub struct Listeners {
    writer: Writer,
    fold: Fold,
    front: Box<dyn Front>,
    failure: Option<WriteError>,
}

impl Listeners {
    /// Creates the run file, then the front.
    pub fn open(config: &RunConfig, front: impl FnOnce() -> Result<Box<dyn Front>>) -> Result<Self> {
        Ok(Self { writer: Writer::create(&config.output)?, fold: Fold::default(), front: front()?, failure: None })
    }

    /// Hands an event to each. What can't be kept is not shown as measured either, and ends the run.
    pub fn hear(&mut self, event: &Event) -> io::Result<()> {
        if let Err(e) = self.writer.write(event) {
            let told = io::Error::other(e.to_string());
            self.failure.get_or_insert(e);
            return Err(told);
        }
        self.fold.event(event);
        self.front.hear(event);
        Ok(())
    }

    /// Why the run file could not be written, if it could not.
    pub fn failure(&mut self) -> Option<WriteError> {
        self.failure.take()
    }

    /// Takes the front away and gives what was heard.
    pub fn results(&mut self) -> Option<RunFile> {
        self.front.done();
        self.fold.run().cloned()
    }
}
