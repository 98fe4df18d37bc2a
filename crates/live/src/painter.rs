//! What the screen's thread does: it waits, listens, draws, and gives the terminal back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use measure::Event;
use ratatui_core::buffer::Buffer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGQUIT, SIGTSTP};
use signal_hook::low_level;

use crate::shared::{Requests, Shared};
use crate::signals::{Signals, Told};
use crate::state::{Phase, Request, State};
use crate::tty::Tty;
use crate::{keys, paint, view};

/// Time in which the rest of an escape follows its start.
const REST: Duration = Duration::from_millis(50);

/// What the thread knows.
pub struct Painter {
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

/// What the thread was given; when it is dropped, the terminal is as it was.
pub struct Context {
    pub tty: Arc<Tty>,
    pub signals: Signals,
    pub shared: Arc<Shared>,
    pub inbox: Receiver<Event>,
    pub answer: SyncSender<()>,
    pub requests: Requests,
}

impl Painter {
    /// One that draws at least each `tick`.
    pub fn new(ctx: Context, tick: Duration) -> Self {
        Self {
            state: State::new(ctx.requests.file.clone(), ctx.requests.keys),
            began: Instant::now(),
            last: None,
            forced: false,
            leaving: false,
            lost: false,
            tick,
            ctx,
        }
    }

    /// Draws until nobody looks any more.
    pub fn run(mut self) {
        let mut over = false;
        while !self.finished(over) {
            self.wait(self.tick);
            // Asked before the inbox is emptied: the last event was sent before this was said.
            over = self.ctx.shared.over.load(Ordering::SeqCst);
            // Events first: a key that is pressed at the run's end must not stop what has ended.
            while let Ok(event) = self.ctx.inbox.try_recv() {
                self.state.event(&event);
            }
            for told in self.ctx.signals.take() {
                self.told(told);
            }
            self.type_in();
            if self.ctx.requests.stop.load(Ordering::Relaxed) {
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
        let requests = &self.ctx.requests;
        let stays = requests.wait && requests.keys && !self.leaving && !self.lost && self.ctx.tty.taken();
        let ended = self.state.phase == Phase::Ended && !requests.stop.load(Ordering::Relaxed);
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
        self.ctx.requests.keys && !self.lost && self.ctx.tty.taken()
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
                Request::Nothing => {}
                Request::Stop => self.ctx.requests.stop.store(true, Ordering::Relaxed),
                Request::Leave => self.leaving = true,
            }
        }
    }

    fn told(&mut self, told: Told) {
        let Context { tty, requests, .. } = &self.ctx;
        match told {
            Told::Stop if self.state.phase == Phase::Ended => self.leaving = true,
            // As in `run`, the second ends the process at once, but not before the terminal is as it was.
            Told::Stop if self.forced => {
                tty.leave_for_good();
                low_level::exit(requests.forced);
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
        view::draw(&self.state, &mut picture, self.ctx.requests.colour);
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
        std::mem::replace(&mut self.requests.gone, Box::new(|| {}))();
    }
}
