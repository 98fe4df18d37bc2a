//! What errors of the library mean to a link.

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::LinkError;

/// What is wrong with the peer; none where it, or this side, ended the connection or is gone.
fn wrong(e: &hyper::Error) -> Option<String> {
    let of_two = e.source().and_then(|e| e.downcast_ref::<h2::Error>());
    let broken = match of_two {
        Some(e) => !e.is_io() && !matches!(e.reason(), None | Some(h2::Reason::NO_ERROR | h2::Reason::CANCEL)),
        None => e.is_parse() || e.is_parse_too_large(),
    };
    broken.then(|| match e.source() {
        Some(source) => format!("HTTP: {e}: {source}"),
        None => format!("HTTP: {e}"),
    })
}

/// How the connection ended: not at all yet; or with what was wrong, if anything.
#[derive(Debug, Clone, Default)]
pub struct End(Arc<Mutex<Option<Option<String>>>>);

impl End {
    fn state(&self) -> MutexGuard<'_, Option<Option<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of the connection's end.
    pub fn note(&self, outcome: Result<(), hyper::Error>) {
        let why = outcome.err().and_then(|e| wrong(&e));
        let mut state = self.state();
        if !matches!(&*state, Some(Some(_))) {
            *state = Some(why);
        }
    }

    /// Whether it is over.
    pub fn over(&self) -> bool {
        self.state().is_some()
    }

    /// Why nothing more is carried, in a link's words.
    pub fn gone(&self, doing: &'static str) -> LinkError {
        match &*self.state() {
            Some(Some(why)) => LinkError::Protocol(why.clone()),
            _ => LinkError::Closed { doing },
        }
    }

    /// The same, of a call that failed: nothing more is carried after it.
    #[cold]
    pub fn failed(&self, e: hyper::Error, doing: &'static str) -> LinkError {
        self.note(Err(e));
        self.gone(doing)
    }

    /// The same, where the peer keeps to HTTP and not to what is said in it.
    #[cold]
    pub fn broken(&self, why: String) -> LinkError {
        *self.state() = Some(Some(why.clone()));
        LinkError::Protocol(why)
    }
}
