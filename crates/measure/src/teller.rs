//! Who is told what happens in a run, and why one ends early.

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
    /// An event could not be told (the run file could not be written).
    #[error("{0}")]
    Tell(#[from] io::Error),
    /// It was led on another host, whose words these are, or which ended.
    #[error("{0}")]
    Elsewhere(String),
    /// Nothing of this side's own: another side of the run ended it.
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

/// Who is told what happens; an error ends the run.
pub type Tell<'a> = dyn FnMut(&Event) -> io::Result<()> + 'a;

/// The listener, shared by the paths of a run, which take turns.
pub struct Teller<'a>(RefCell<&'a mut Tell<'a>>);

impl<'a> Teller<'a> {
    /// Of this listener.
    pub(crate) fn new(tell: &'a mut Tell<'a>) -> Self {
        Self(RefCell::new(tell))
    }

    /// Tells one event.
    pub fn tell(&self, event: &Event) -> Result<(), RunError> {
        (self.0.borrow_mut())(event).map_err(RunError::Tell)
    }
}
