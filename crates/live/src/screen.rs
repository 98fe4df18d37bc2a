//! The thread that draws.
//!
//! It must not take from what is measured. Where the process may use CPUs that nothing is measured on, the thread keeps to
//! those and looks four times a second at what has happened. Where all CPUs are measured on, it draws between two trials: the
//! driver says when one has ended, at most twice a second, and gives it a moment. Events go through a channel that never
//! holds the driver, and a terminal that takes nothing more costs pictures, not time.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use measure::Event;
use ratatui_core::buffer::Buffer;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;
use signal_hook::consts::{SIGQUIT, SIGTSTP};
use signal_hook::low_level;

use crate::keys;
use crate::paint;
use crate::signals::{Signals, Told};
use crate::state::{Phase, State, Wish};
use crate::tty::Tty;
use crate::view;

/// Time between pictures where the thread has a CPU to itself.
const APART: Duration = Duration::from_millis(250);
/// Time between pictures where it draws between trials.
const BETWEEN: Duration = Duration::from_millis(500);
/// Longest that the driver waits for a picture between trials.
const MOMENT: Duration = Duration::from_millis(50);
/// Time in which the rest of an escape follows its start.
const REST: Duration = Duration::from_millis(50);

/// How a screen is wanted.
pub struct Wishes {
    /// The run file's name.
    pub file: String,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether keys are read from the terminal.
    pub keys: bool,
    /// Whether the last picture stays until a key.
    pub wait: bool,
    /// CPUs that the run measures on.
    pub measuring: Vec<u32>,
    /// Asks the run to stop.
    pub stop: Arc<AtomicBool>,
    /// Exit code of a second Ctrl-C.
    pub forced: i32,
    /// Called when the screen has gone, in whichever way.
    pub gone: Box<dyn FnOnce() + Send>,
}

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

struct Shared {
    wake: OwnedFd,
    /// The driver waits for a picture.
    asked: AtomicBool,
    /// No more events come.
    over: AtomicBool,
    /// Nobody looks any more.
    closed: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal that `terminal` is open on and shows what will be told.
    pub fn open(terminal: BorrowedFd<'_>, wishes: Wishes) -> io::Result<Self> {
        let tty = Arc::new(Tty::of(terminal)?);
        let closed = Arc::new(AtomicBool::new(false));
        let signals = Signals::listen(&closed)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Arc::new(Shared { wake, asked: AtomicBool::new(false), over: AtomicBool::new(false), closed });
        let all = host::cpus_before_pinning();
        let spare: Vec<u32> = all.iter().copied().filter(|cpu| !wishes.measuring.contains(cpu)).collect();
        // Two sides that are not pinned take two CPUs, whichever they are.
        let between = spare.is_empty() || wishes.measuring.is_empty() && all.len() < 3;
        let cpus = if spare.is_empty() { all } else { spare };
        let (events, inbox) = channel();
        let (answer, drawn) = sync_channel(1);
        let painter = Painter {
            state: State::new(wishes.file.clone(), wishes.keys),
            began: Instant::now(),
            last: None,
            forced: false,
            leaving: false,
            lost: false,
            tick: if between { 2 * BETWEEN } else { APART },
            ctx: Context { tty: Arc::clone(&tty), signals, shared: Arc::clone(&shared), inbox, answer, wishes },
        };
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
    pub fn hear(&mut self, event: &Event) {
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

impl Shared {
    fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

/// What the thread has.
struct Painter {
    state: State,
    began: Instant,
    /// The picture that the terminal shows; none where that isn't known.
    last: Option<Buffer>,
    /// Ctrl-C came before.
    forced: bool,
    /// Somebody has seen enough.
    leaving: bool,
    /// The terminal is gone.
    lost: bool,
    tick: Duration,
    ctx: Context,
}

struct Context {
    tty: Arc<Tty>,
    signals: Signals,
    shared: Arc<Shared>,
    inbox: Receiver<Event>,
    answer: SyncSender<()>,
    wishes: Wishes,
}

impl Painter {
    fn run(mut self) {
        let mut over = false;
        while !self.finished(over) {
            self.wait(self.tick);
            // Asked before the inbox is emptied: the last event was sent before this was said.
            over = self.ctx.shared.over.load(Ordering::SeqCst);
            for told in self.ctx.signals.take() {
                self.told(told);
            }
            self.type_in();
            while let Ok(event) = self.ctx.inbox.try_recv() {
                self.state.event(&event);
            }
            if self.ctx.wishes.stop.load(Ordering::Relaxed) {
                self.state.stopping();
            }
            self.state.tick(self.began.elapsed().as_secs_f64());
            self.frame();
            if self.ctx.shared.asked.swap(false, Ordering::SeqCst) {
                let _ = self.ctx.answer.try_send(());
            }
        }
    }

    /// Whether the terminal can be given back.
    fn finished(&self, over: bool) -> bool {
        let wishes = &self.ctx.wishes;
        let stays = wishes.wait && wishes.keys && !self.leaving && !self.lost && self.ctx.tty.taken();
        let ended = self.state.phase == Phase::Ended && !wishes.stop.load(Ordering::Relaxed);
        self.ctx.shared.closed.load(Ordering::SeqCst) || over && !(stays && ended)
    }

    /// Sleeps until something happens or `time` has passed.
    fn wait(&mut self, time: Duration) {
        let Context { tty, signals, shared, .. } = &self.ctx;
        let mut fds = vec![PollFd::new(&shared.wake, PollFlags::IN)];
        fds.extend(signals.fds().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        if self.listens() {
            fds.push(PollFd::new(&**tty, PollFlags::IN));
        }
        let time = Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
        let _ = poll(&mut fds, Some(&time));
        let mut count = [0; 8];
        let _ = rustix::io::read(&shared.wake, &mut count);
    }

    fn listens(&self) -> bool {
        self.ctx.wishes.keys && !self.lost && self.ctx.tty.taken()
    }

    fn type_in(&mut self) {
        if !self.listens() {
            return;
        }
        let Ok(mut typed) = self.ctx.tty.read() else {
            self.lost = true;
            return;
        };
        if keys::unfinished(&typed) {
            let rest = Timespec { tv_sec: 0, tv_nsec: REST.subsec_nanos().into() };
            let _ = poll(&mut [PollFd::new(&*self.ctx.tty, PollFlags::IN)], Some(&rest));
            typed.extend(self.ctx.tty.read().unwrap_or_default());
        }
        for key in keys::keys(&typed) {
            match self.state.key(key) {
                Wish::Nothing => {}
                Wish::Stop => self.ctx.wishes.stop.store(true, Ordering::Relaxed),
                Wish::Leave => self.leaving = true,
            }
        }
    }

    fn told(&mut self, told: Told) {
        let Context { tty, wishes, .. } = &self.ctx;
        match told {
            Told::Stop if self.state.phase == Phase::Ended => self.leaving = true,
            // As in `run`, the second ends the process at once, but not before the terminal is as it was.
            Told::Stop if self.forced => {
                tty.leave_for_good();
                low_level::exit(wishes.forced);
            }
            Told::Stop => self.forced = true,
            Told::Hangup => (self.lost, self.leaving) = (true, true),
            Told::Quit => {
                tty.leave_for_good();
                let _ = low_level::emulate_default_handler(SIGQUIT);
            }
            Told::Suspend => {
                tty.leave();
                // The whole process stops here, until it is continued.
                let _ = low_level::emulate_default_handler(SIGTSTP);
            }
            Told::Continue => self.enter(),
        }
    }

    /// Takes the terminal again, from wherever the process has been.
    fn enter(&mut self) {
        self.last = None;
        self.lost |= self.ctx.tty.enter().is_err();
    }

    fn frame(&mut self) {
        if self.lost {
            return;
        }
        // From the background to the foreground, no signal need come.
        if !self.ctx.tty.taken() {
            self.enter();
            if !self.ctx.tty.taken() {
                return;
            }
        }
        let (columns, rows) = self.ctx.tty.size();
        let mut picture = paint::sheet(columns, rows);
        view::draw(&self.state, &mut picture, self.ctx.wishes.colour);
        match self.ctx.tty.show(&paint::paint(self.last.as_ref(), &picture)) {
            Ok(whole) => self.last = whole.then_some(picture),
            Err(_) => self.lost = true,
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.tty.leave_for_good();
        self.shared.closed.store(true, Ordering::SeqCst);
        std::mem::replace(&mut self.wishes.gone, Box::new(|| {}))();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tty::tests::{settings, terminal};
    use std::os::fd::AsFd;

    fn wishes(gone: &Arc<AtomicBool>) -> Wishes {
        let gone = Arc::clone(gone);
        Wishes {
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
            let _screen = Screen::open(program.as_fd(), wishes(&gone)).unwrap();
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
        let mut screen = Screen::open(program.as_fd(), wishes(&gone)).unwrap();
        screen.done();
        assert_eq!(settings(&program), before);
        assert!(gone.load(Ordering::SeqCst));
    }
}
