//! Passes the events of a run to their listener; why a run ends early.

use std::cell::RefCell;
use std::io;

use crate::SessionError;
use crate::event::Event;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A path failed.
    #[error("{path}: {source}")]
    Session {
        /// What the path is called.
        path: String,
        /// What happened.
        #[source]
        source: SessionError,
    },
    /// Several paths failed, each for a reason of its own, and the others went on.
    #[error("{0}")]
    Paths(String),
    /// An event could not be written (to the run file).
    #[error("{0}")]
    Tell(#[from] io::Error),
    /// The run was led on another host; its error, or that it ended.
    #[error("{0}")]
    Elsewhere(String),
    /// No error of this side: another side of the run ended it.
    #[error("the other side ended the run: {0}")]
    OtherSide(String),
}

impl RunError {
    /// Whether the run was asked to stop, rather than failed.
    pub fn interrupted(&self) -> bool {
        use transport::LinkError;
        matches!(
            self,
            RunError::Session { source: SessionError::Interrupted | SessionError::Link(LinkError::Interrupted), .. }
        )
    }
}

/// Receives what happens; an error ends the run.
pub type Tell<'a> = dyn FnMut(&Event) -> io::Result<()> + 'a;

/// The listener, shared by the paths of a run, which take turns.
pub struct Teller<'a>(RefCell<&'a mut Tell<'a>>);

impl<'a> Teller<'a> {
    /// Of this listener.
    pub(crate) fn new(tell: &'a mut Tell<'a>) -> Self {
        Self(RefCell::new(tell))
    }

    /// Passes on one event.
    pub fn tell(&self, event: &Event) -> Result<(), RunError> {
        (self.0.borrow_mut())(event).map_err(RunError::Tell)
    }
}
