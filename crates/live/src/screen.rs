//! A screen, as its owner has it; `painter` is the thread that draws.
//!
//! That thread must not take from what is measured. Where the process may use CPUs that nothing is measured on, it keeps to
//! those and looks four times a second at what has happened. Where all CPUs are measured on, it draws between two trials: the
//! driver says when one has ended, at most twice a second, and gives it a moment. Events go through a channel that never
//! holds the driver, and a terminal that takes nothing more costs pictures, not time.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use measure::Event;
use rustix::event::{EventfdFlags, eventfd};

use crate::painter::{Context, Painter};
use crate::shared::{Requests, Shared};
use crate::signals::Signals;
use crate::tty::Tty;

/// Time between pictures where the thread has a CPU to itself.
const APART: Duration = Duration::from_millis(250);
/// Time between pictures where it draws between trials.
const BETWEEN: Duration = Duration::from_millis(500);
/// Longest that the driver waits for a picture between trials.
const MOMENT: Duration = Duration::from_millis(50);

/// A screen that shows a run.
pub struct Screen {
    events: Sender<Event>,
    drawn: Receiver<()>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// The driver makes room for pictures.
    between: bool,
    last: Instant,
}

impl Screen {
    /// Takes the terminal that `terminal` is open on and shows what will be told.
    pub fn open(terminal: BorrowedFd<'_>, requests: Requests) -> io::Result<Self> {
        let tty = Arc::new(Tty::of(terminal)?);
        let closed = Arc::new(AtomicBool::new(false));
        let signals = Signals::listen(&closed)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Arc::new(Shared { wake, asked: AtomicBool::new(false), over: AtomicBool::new(false), closed });
        let all = host::cpus_before_pinning();
        let spare: Vec<u32> = all.iter().copied().filter(|cpu| !requests.measuring.contains(cpu)).collect();
        // Two sides that are not pinned take two CPUs, whichever they are.
        let between = spare.is_empty() || requests.measuring.is_empty() && all.len() < 3;
        let cpus = if spare.is_empty() { all } else { spare };
        let (events, inbox) = channel();
        let (answer, drawn) = sync_channel(1);
        let ctx = Context { tty: Arc::clone(&tty), signals, shared: Arc::clone(&shared), inbox, answer, requests };
        let painter = Painter::new(ctx, if between { 2 * BETWEEN } else { APART });
        // A panic's words belong on the screen that stays.
        let previous = std::panic::take_hook();
        let at_panic = Arc::clone(&tty);
        std::panic::set_hook(Box::new(move |info| {
            at_panic.leave_for_good();
            previous(info);
        }));
        tty.enter()?;
        let thread = std::thread::Builder::new().name("screen".into()).spawn(move || {
            host::run_on(&cpus);
            painter.run();
        })?;
        Ok(Self { events, drawn, shared, thread: Some(thread), between, last: Instant::now() })
    }

    /// Tells the screen what happened.
    pub fn take_event(&mut self, event: &Event) {
        let _ = self.events.send(event.clone());
        if self.between && self.last.elapsed() >= BETWEEN {
            while self.drawn.try_recv().is_ok() {}
            self.shared.asked.store(true, Ordering::SeqCst);
            self.shared.wake();
            let _ = self.drawn.recv_timeout(MOMENT);
            self.last = Instant::now();
        }
    }

    /// Says that nothing more will be told, waits until the last picture is left, and gives the terminal back.
    pub fn done(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            // It panicked: the hook has said so, and the terminal is as it was.
            let _ = thread.join();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tty::tests::{settings, terminal};
    use std::os::fd::AsFd;

    fn requests(gone: &Arc<AtomicBool>) -> Requests {
        let gone = Arc::clone(gone);
        Requests {
            file: "x".into(),
            colour: true,
            keys: true,
            wait: true,
            measuring: Vec::new(),
            stop: Arc::default(),
            forced: 2,
            gone: Box::new(move || gone.store(true, Ordering::SeqCst)),
        }
    }

    #[test]
    fn a_panic_of_the_run_gives_the_terminal_back() {
        let (_person, program) = terminal();
        let before = settings(&program);
        let gone = Arc::new(AtomicBool::new(false));
        let result = std::panic::catch_unwind(|| {
            let _screen = Screen::open(program.as_fd(), requests(&gone)).unwrap();
            assert_ne!(settings(&program), before, "it is taken");
            std::panic::panic_any("on purpose");
        });
        assert!(result.is_err());
        assert_eq!(settings(&program), before);
        assert!(gone.load(Ordering::SeqCst));
    }

    #[test]
    fn a_run_that_ends_without_its_last_event_keeps_nobody_waiting() {
        let (_person, program) = terminal();
        let before = settings(&program);
        let gone = Arc::new(AtomicBool::new(false));
        let mut screen = Screen::open(program.as_fd(), requests(&gone)).unwrap();
        screen.done();
        assert_eq!(settings(&program), before);
        assert!(gone.load(Ordering::SeqCst));
    }
}
