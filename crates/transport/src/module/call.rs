//! What a module's functions are called with, and what their codes mean.

use std::ffi::{CString, c_int};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::abi::{self, code};
use crate::settings::LOSS;
use crate::{LinkError, OptionSpec, Patience, Settings, Value};

/// Room for a module's words on a failure.
pub(super) struct Failure(Box<abi::Error>);

impl Failure {
    pub fn new() -> Self {
        Self(Box::new(abi::Error { size: size_of::<abi::Error>(), text: [0; 240] }))
    }

    /// To be written into by a call.
    #[inline]
    pub fn room(&mut self) -> *mut abi::Error {
        &raw mut *self.0
    }

    /// What a call's code means. `doing` is what was tried, `patience` how long it may have waited.
    #[inline]
    pub fn check(&mut self, came: c_int, doing: &'static str, patience: &Patience) -> Result<(), LinkError> {
        if came == code::OK { Ok(()) } else { Err(self.error(came, doing, patience)) }
    }

    #[cold]
    fn error(&mut self, came: c_int, doing: &'static str, patience: &Patience) -> LinkError {
        let words = self.words();
        let said = |kind: &str| if words.is_empty() { kind.to_owned() } else { words.clone() };
        match came {
            code::CLOSED => LinkError::Closed { doing },
            code::STALLED => LinkError::Stalled { doing, waited: patience.limit },
            code::INTERRUPTED => LinkError::Interrupted,
            code::LOST => LinkError::Lost,
            code::UNSUPPORTED => LinkError::io(format!("{doing} (the module)"), other(&said("it can't do this"))),
            code::PROTOCOL => LinkError::Protocol(said("the module does not say how")),
            code::TOO_LARGE | code::OUTSIDE | code::SYSTEM => {
                LinkError::io(format!("{doing} (the module)"), other(&said("it does not say why")))
            }
            n => LinkError::io(
                format!("{doing} (the module)"),
                other(&format!("it returned {n}, which is no code of its interface; {}", said("and no words"))),
            ),
        }
    }

    /// What the module wrote, which may be anything, up to its 0.
    fn words(&mut self) -> String {
        let len = self.0.text.iter().position(|b| *b == 0).unwrap_or(self.0.text.len());
        let words = units::received::line(&String::from_utf8_lossy(&self.0.text[..len]), 240);
        self.0.text[0] = 0;
        words
    }
}

/// A fault of the module itself, in which no peer has part. `doing` is what was tried.
pub(super) fn fault(doing: &str, what: &str) -> LinkError {
    LinkError::io(format!("{doing} (the module)"), other(what))
}

fn other(words: &str) -> io::Error {
    io::Error::other(words.to_owned())
}

/// What bounds waits, as the module reads it. Shared by a listener and its links, and alive as long as any of them.
pub(super) struct Terms {
    raw: abi::Terms,
    pub patience: Patience,
    /// What `raw.stopped` points to.
    _stopped: Arc<AtomicBool>,
}

// SAFETY: the pointer in it is to the flag that it holds, which is atomic.
unsafe impl Send for Terms {}
// SAFETY: as for `Send`.
unsafe impl Sync for Terms {}

impl Terms {
    pub fn new(settings: &Settings, patience: &Patience) -> Arc<Self> {
        let stopped = patience.flag();
        let raw = abi::Terms {
            size: size_of::<abi::Terms>(),
            patience: patience.limit.as_secs_f64(),
            loss_timeout: settings.real("loss-timeout").unwrap_or(LOSS),
            stopped: stopped.as_ptr().cast::<u8>(),
        };
        Arc::new(Self { raw, patience: patience.clone(), _stopped: stopped })
    }

    pub fn raw(&self) -> *const abi::Terms {
        &raw const self.raw
    }
}

/// Settings as a module reads them, with the texts that they point to.
pub(super) struct Given {
    raw: abi::Settings,
    _all: Vec<abi::Setting>,
    _texts: Vec<CString>,
}

impl Given {
    /// Of these options, those that are set; a text with a 0 in it ends there.
    pub fn new(settings: &Settings, options: &[OptionSpec]) -> Self {
        let mut texts = Vec::new();
        let mut all = Vec::new();
        let mut kept = |text: &str| {
            let text = CString::new(text.split('\0').next().unwrap_or("")).unwrap_or_default();
            let at = text.as_ptr();
            texts.push(text);
            at
        };
        for (name, value) in settings.iter().filter(|(name, _)| options.iter().any(|o| o.name == *name)) {
            let (whole, real, text) = match value {
                Value::Switch(on) => (u64::from(*on), f64::from(u8::from(*on)), String::new()),
                Value::Whole(n) => (*n, *n as f64, String::new()),
                Value::Real(x) => (*x as u64, *x, String::new()),
                Value::Text(text) => (0, 0.0, text.clone()),
                Value::Many(many) => (0, 0.0, many.join("+")),
            };
            all.push(abi::Setting { name: kept(name), whole, real, text: kept(&text) });
        }
        let raw = abi::Settings { size: size_of::<abi::Settings>(), count: all.len(), all: all.as_ptr() };
        Self { raw, _all: all, _texts: texts }
    }

    pub fn raw(&self) -> *const abi::Settings {
        &raw const self.raw
    }
}
