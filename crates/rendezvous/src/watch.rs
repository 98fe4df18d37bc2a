//! A thread that watches the control connection while the data connection is busy, so that a side whose other side died,
//! broke off or asked to stop does not wait for data that will never come.
//!
//! It sleeps in `poll` and wakes ten times a second (and at once when the connection ends), on no CPU in particular: it
//! costs the measurement about 0.01% of a CPU. What it finds it says through a flag that the links' patience looks at.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{Shutdown, shutdown};

use crate::MeetError;
use crate::hung::{self, Calls, TICK, ticks};

/// Ticks that a halted trial has to end. A link looks at its patience only while it waits; one that never has to wait
/// does not see the flag.
const DEAF: u32 = 10;

/// Ticks after the end of the connection, but for those of a module's call, by which nothing is to be under way any more.
const LATE: u32 = 50;

/// When to raise the flag.
pub(crate) struct Rules {
    /// Raises it too: this process was asked to stop.
    pub stop: Arc<AtomicBool>,
    /// The end of the time a measurement may take.
    pub until: Option<Instant>,
    /// What to do where a trial goes on all the same [`DEAF`] ticks after the flag was raised, besides cutting the control
    /// connection: a process that serves one measurement ends itself, and the other side's link with it.
    pub last_resort: Option<fn()>,
    /// Tells whether the near side's process is stopped. One that stays so for longer than the patience is given up: its
    /// connection is cut. None where that can't be known.
    pub near_stopped: Option<fn() -> bool>,
    /// Where words on the end of this process go, where that is not its standard error.
    pub error: Option<Arc<OwnedFd>>,
}

/// Where words on the end of this process go, of all its watches: each side of the run that it measures for reads its own.
static ERRORS: Mutex<Vec<Weak<OwnedFd>>> = Mutex::new(Vec::new());

impl Rules {
    /// Says why this process is about to end, to whoever reads what it says at last: any of its sides may be held by what ends it.
    fn say(&self, words: &str) {
        let line = format!("pipegauge: {words}\n");
        let mut errors: Vec<_> = errors().iter().filter_map(Weak::upgrade).collect();
        errors.extend(self.error.clone().filter(|own| !errors.iter().any(|error| Arc::ptr_eq(error, own))));
        if errors.is_empty() {
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        for error in errors {
            let _ = rustix::io::write(error, line.as_bytes());
        }
    }
}

fn errors() -> MutexGuard<'static, Vec<Weak<OwnedFd>>> {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ticks between two looks at whether the near side is stopped.
const LOOK: u32 = 5;
/// How long it may be stopped before anybody has named a patience.
const PATIENCE: Duration = Duration::from_secs(10);

/// Watches one control connection until dropped.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    halt: Arc<AtomicBool>,
    end: AtomicBool,
    /// Ticks that the near side may be stopped.
    patience: AtomicU32,
    given_up: AtomicBool,
}

#[derive(Default)]
struct State {
    armed: bool,
    /// Ticks that a control message may wait unread while armed.
    grace: u32,
    /// Counts the armings: what was seen under one says nothing about the next.
    epoch: u64,
    gone: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Begins to watch `socket`.
    pub(crate) fn over(socket: &impl AsFd, rules: Rules) -> Result<Self, MeetError> {
        let starting = || MeetError::io("starting to watch the control connection");
        let socket = socket.as_fd().try_clone_to_owned().map_err(starting())?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|e| starting()(e.into()))?;
        let wake = Arc::new(wake);
        let halt = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            halt,
            end: AtomicBool::new(false),
            patience: AtomicU32::new(ticks(PATIENCE)),
            given_up: AtomicBool::new(false),
        });
        if let Some(error) = &rules.error {
            let mut errors = errors();
            errors.retain(|other| other.strong_count() > 0);
            errors.push(Arc::downgrade(error));
        }
        let (theirs, their_wake) = (Arc::clone(&shared), Arc::clone(&wake));
        let thread = std::thread::Builder::new()
            .name("control-watch".into())
            .spawn(move || watch(&socket, &their_wake, &theirs, &rules))
            .map_err(starting())?;
        Ok(Self { shared, wake, thread: Some(thread) })
    }

    /// The flag for the links' patience.
    pub(crate) fn halt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.shared.halt)
    }

    /// From now on the flag may be raised. Every control message before this must have been read, and the next may wait unread for
    /// `grace` ticks: none where what it says ends the trial, some where the other side may be done a little earlier.
    pub(crate) fn arm(&self, grace: u32) {
        let mut state = self.shared.state();
        (state.armed, state.grace) = (true, grace);
        state.epoch += 1;
        self.shared.halt.store(state.gone, Ordering::Relaxed);
    }

    /// From now on the near side may be stopped for so long.
    pub(crate) fn bear(&self, patience: Duration) {
        self.shared.patience.store(ticks(patience), Ordering::Relaxed);
    }

    /// Whether the connection was cut because the near side was stopped for too long.
    pub(crate) fn gave_up(&self) -> bool {
        self.shared.given_up.load(Ordering::Relaxed)
    }

    /// From now on only the end of the connection raises the flag.
    pub(crate) fn disarm(&self) {
        self.shared.state().armed = false;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.end.store(true, Ordering::Relaxed);
        let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn watch(socket: &OwnedFd, wake: &OwnedFd, shared: &Shared, rules: &Rules) {
    // This thread inherited the pin of the measuring one.
    host::run_on(&host::cpus_before_pinning());
    let (mut unread, mut halted) = ((0, 0), (0, 0));
    let (mut ended, mut number, mut stopped) = (false, 0u32, 0);
    let (mut calls, mut hung, mut late) = (Calls::default(), false, 0);
    let tick = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos() as i64 };
    loop {
        // A message that ends a trial is seen as it comes; one that may wait, at the next tick.
        let due = |state: MutexGuard<'_, State>| state.armed && state.grace == 0;
        let at_once = due(shared.state()) && !shared.halt.load(Ordering::Relaxed);
        let seen = if at_once { PollFlags::RDHUP | PollFlags::IN } else { PollFlags::RDHUP };
        let mut fds = [PollFd::new(wake, PollFlags::IN), PollFd::new(socket, seen)];
        // An ended connection would wake this thread without end.
        let _ = poll(&mut fds[..if ended { 1 } else { 2 }], Some(&tick));
        if shared.end.load(Ordering::Relaxed) {
            return;
        }
        let over = rules.stop.load(Ordering::Relaxed) || rules.until.is_some_and(|end| Instant::now() >= end);
        let gone = fds[1].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
        let (armed, epoch) = {
            let state = shared.state();
            (state.armed, state.epoch)
        };
        let waits = armed && {
            let mut fd = [PollFd::new(socket, PollFlags::IN)];
            poll(&mut fd, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|n| n > 0)
        };
        // Counted in ticks, not by the clock: while this process is stopped, no tick passes.
        let patience = TICK * shared.patience.load(Ordering::Relaxed);
        let pending = transport::module::pending();
        let hangs = calls.look(&pending, hung::others_cpu(), patience);
        if let Some(words) = hangs
            && !std::mem::replace(&mut hung, true)
        {
            let given = patience.as_secs_f64();
            rules.say(&format!("{words}, and is to give up after {given} s without progress (--patience): it hangs"));
            shared.halt.store(true, Ordering::Relaxed);
            if let Some(last_resort) = rules.last_resort {
                // The module's own end may wait for what hangs.
                let kill = || rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                std::thread::spawn(move || {
                    std::thread::sleep(TICK * DEAF);
                    let _ = kill();
                });
                last_resort();
            }
        }
        unread = count(unread, epoch, waits);
        halted = count(halted, epoch, armed && shared.halt.load(Ordering::Relaxed));
        if halted.1 == DEAF {
            if let Some(call) = pending.first() {
                rules.say(&format!("the module's {} does not come back, and was asked to", call.what));
            }
            let _ = shutdown(socket, Shutdown::Both);
            if let Some(last_resort) = rules.last_resort {
                last_resort();
            }
        }
        ended |= gone;
        // Whoever attends to a connection that has ended returns, and ends this watch with that. A module's call keeps it from that for as long as a
        // call may take.
        late += u32::from(ended && pending.iter().all(|call| call.ends));
        if late == LATE
            && let Some(last_resort) = rules.last_resort
        {
            last_resort();
        }
        if let Some(near_stopped) = rules.near_stopped
            && !ended
        {
            number += 1;
            if number.is_multiple_of(LOOK) {
                stopped = if near_stopped() { stopped + LOOK } else { 0 };
            }
            if stopped > shared.patience.load(Ordering::Relaxed) {
                shared.given_up.store(true, Ordering::Relaxed);
                let _ = shutdown(socket, Shutdown::Both);
            }
        }
        let mut state = shared.state();
        state.gone |= gone;
        if gone || (state.armed && (over || (state.epoch == epoch && unread.1 > state.grace))) {
            shared.halt.store(true, Ordering::Relaxed);
        }
    }
}

/// One tick more for which something holds, counted anew for each arming.
fn count((seen, ticks): (u64, u32), epoch: u64, holds: bool) -> (u64, u32) {
    match holds {
        true if seen == epoch => (epoch, ticks + 1),
        true => (epoch, 1),
        false => (epoch, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn rules() -> Rules {
        Rules {
            stop: Arc::new(AtomicBool::new(false)),
            until: None,
            last_resort: None,
            near_stopped: None,
            error: None,
        }
    }

    fn raised(watch: &Watch) -> bool {
        watch.halt().load(Ordering::Relaxed)
    }

    /// Waits for what must happen; gives up only when it clearly never will.
    fn until_raised(watch: &Watch) {
        let began = Instant::now();
        while !raised(watch) {
            assert!(began.elapsed() < Duration::from_secs(20), "the flag was never raised");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_other_sides_end_raises_the_flag_and_stays() {
        let (near, far) = pair();
        let watch = Watch::over(&far, rules()).unwrap();
        watch.arm(0);
        assert!(!raised(&watch));
        drop(near);
        until_raised(&watch);
        watch.arm(0);
        assert!(raised(&watch), "a connection does not come back");
    }

    #[test]
    fn what_a_process_says_at_last_goes_where_its_side_of_the_run_reads_it() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        let rules = Rules { error: Some(Arc::new(write)), ..rules() };
        rules.say("the module's recv() hangs");
        drop(rules);
        let mut all = String::new();
        std::fs::File::from(read).read_to_string(&mut all).unwrap();
        assert_eq!(all, "pipegauge: the module's recv() hangs\n");
    }

    #[test]
    fn what_ends_a_process_is_said_to_all_its_sides() {
        let (_near, far) = pair();
        let (read, write) = rustix::pipe::pipe().unwrap();
        let watch = Watch::over(&far, Rules { error: Some(Arc::new(write)), ..rules() }).unwrap();
        let (_other, of_another) = rustix::pipe::pipe().unwrap();
        Rules { error: Some(Arc::new(of_another)), ..rules() }.say("the module's get() hangs");
        drop(watch);
        let mut all = String::new();
        std::fs::File::from(read).read_to_string(&mut all).unwrap();
        assert!(all.contains("pipegauge: the module's get() hangs\n"), "{all}");
    }

    #[test]
    fn a_message_raises_it_only_while_armed() {
        let (mut near, mut far) = pair();
        let watch = Watch::over(&far, rules()).unwrap();
        near.write_all(b"x").unwrap();
        std::thread::sleep(TICK * 3);
        assert!(!raised(&watch), "not armed");
        far.read_exact(&mut [0]).unwrap();
        watch.arm(0);
        near.write_all(b"x").unwrap();
        until_raised(&watch);
        far.read_exact(&mut [0]).unwrap();
        watch.arm(0);
        assert!(!raised(&watch), "arming begins anew");
    }

    #[test]
    fn a_trial_that_does_not_see_the_flag_loses_its_control_connection() {
        let (mut near, far) = pair();
        let watch = Watch::over(&far, Rules { until: Some(Instant::now()), ..rules() }).unwrap();
        watch.arm(0);
        assert_eq!(near.read(&mut [0]).unwrap(), 0, "it was cut");
        assert!(raised(&watch));
    }

    #[test]
    fn a_near_side_that_stays_stopped_is_cut_off_and_one_that_goes_on_is_not() {
        let (mut near, far) = pair();
        let watch = Watch::over(&far, Rules { near_stopped: Some(|| false), ..rules() }).unwrap();
        watch.bear(TICK);
        std::thread::sleep(TICK * LOOK * 3);
        assert!(!watch.gave_up());
        drop(watch);
        let watch = Watch::over(&far, Rules { near_stopped: Some(|| true), ..rules() }).unwrap();
        watch.bear(TICK);
        assert_eq!(near.read(&mut [0]).unwrap(), 0, "it was cut");
        assert!(watch.gave_up());
    }

    #[test]
    fn stop_and_time_limit_raise_it() {
        let (_near, far) = pair();
        let mut stopped = rules();
        stopped.stop = Arc::new(AtomicBool::new(true));
        let watch = Watch::over(&far, stopped).unwrap();
        watch.arm(0);
        until_raised(&watch);
        let watch = Watch::over(&far, Rules { until: Some(Instant::now()), ..rules() }).unwrap();
        watch.arm(0);
        until_raised(&watch);
    }
}
