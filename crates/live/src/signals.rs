//! Signals, told to the screen's thread: each kind wakes it through a socket pair of its own.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::{SigId, flag, low_level};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Ctrl-C or SIGTERM.
    Stop,
    /// The terminal is gone.
    Hangup,
    /// Ctrl-\: end now.
    Quit,
    /// Ctrl-Z.
    Suspend,
    /// The process goes on after a stop.
    Continue,
}

const KINDS: [(Told, &[i32]); 5] = [
    (Told::Stop, &[SIGINT, SIGTERM]),
    (Told::Hangup, &[SIGHUP]),
    (Told::Quit, &[SIGQUIT]),
    (Told::Suspend, &[SIGTSTP]),
    (Told::Continue, &[SIGCONT]),
];

/// Signals as they are told while the screen is up.
pub struct Signals {
    ends: Vec<(Told, UnixStream)>,
    ids: Vec<SigId>,
}

impl Signals {
    /// Begins to listen. Once `closed` is set, Ctrl-Z and Ctrl-\ do again what they always do.
    pub fn listen(closed: &Arc<AtomicBool>) -> io::Result<Self> {
        let mut signals = Self { ends: Vec::new(), ids: Vec::new() };
        for signal in [SIGQUIT, SIGTSTP] {
            flag::register_conditional_default(signal, Arc::clone(closed))?;
        }
        for (told, numbers) in KINDS {
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            for number in numbers {
                signals.ids.push(low_level::pipe::register(*number, writer.try_clone()?)?);
            }
            signals.ends.push((told, reader));
        }
        Ok(signals)
    }

    /// What to wait on.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.ends.iter().map(|(_, end)| end.as_fd())
    }

    /// What was told since the last time: each signal once for each time it came, as far as the kernel counts.
    pub fn take(&mut self) -> Vec<Told> {
        let mut told = Vec::new();
        for (what, end) in &mut self.ends {
            let mut bytes = [0; 64];
            while let Ok(n @ 1..) = end.read(&mut bytes) {
                told.extend(std::iter::repeat_n(*what, n));
            }
        }
        told
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.ids.drain(..).for_each(|id| {
            low_level::unregister(id);
        });
    }
}
