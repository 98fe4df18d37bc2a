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

const TICK: Duration = Duration::from_millis(100);
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

/// Time beyond the patience in which a module's call is to have come back: its own waiting ends first, and its words tell more.
const SLACK: Duration = Duration::from_millis(1500);
/// Slowest that a message may move within one call of a module while its process uses the CPU, bytes a second: slower than any path that a
/// person waits for.
const SLOWEST: u64 = 8 << 10;

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
        let hangs = calls.look(&pending, others_cpu(), patience);
        if let Some(words) = hangs
            && !std::mem::replace(&mut hung, true)
        {
            rules.say(&words);
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
        // call may take, closing on a busy machine, too.
        late += u32::from(ended && pending.is_empty());
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

/// CPU time that this process has used, but for this thread.
fn others_cpu() -> Duration {
    let of = |clock| Duration::try_from(rustix::time::clock_gettime(clock)).unwrap_or_default();
    of(rustix::time::ClockId::ProcessCPUTime).saturating_sub(of(rustix::time::ClockId::ThreadCPUTime))
}

/// CPU time of a thread that wakes up to look at what came, at least; between the readings of two clocks lies less.
const WAKES: Duration = Duration::from_micros(5);

/// The calls into modules that were under way at each look.
///
/// Where both sides of a trial wait within a module that heeds no patience, nobody says a word, and no time is agreed on after which that is
/// wrong: a trial may honestly last for hours (soaks, any `--trials`, a slow path). So not trials are timed but single calls, of which the
/// interface says that they give up where nothing moves for as long as the patience. A call that goes on for longer is honest only while a
/// message moves within it. Where its process uses no CPU at all nothing does; where it does, it has the time in which the message would
/// have moved at [`SLOWEST`]. A process that is stopped makes no looks, and its calls age by looks as well as by the clock.
#[derive(Default)]
struct Calls {
    seen: Vec<Seen>,
    cpu: Duration,
}

/// A call, as it was seen.
struct Seen {
    call: (usize, u64),
    /// Since it was seen first.
    all: Age,
    /// Since the process was last seen to use the CPU.
    still: Age,
}

/// How long ago, by the clock and by looks.
struct Age(Instant, u32);

impl Age {
    fn new() -> Self {
        Self(Instant::now(), 0)
    }

    fn over(&self, limit: Duration) -> bool {
        self.0.elapsed() >= limit && self.1 >= ticks(limit)
    }
}

impl Calls {
    /// Looks at the calls that are under way, in a process that has used so much of the CPU: what is said of one that hangs.
    fn look(&mut self, pending: &[transport::module::Pending], cpu: Duration, patience: Duration) -> Option<String> {
        let moved = cpu.saturating_sub(self.cpu) > WAKES;
        if moved {
            self.cpu = cpu;
        }
        self.seen.retain(|seen| pending.iter().any(|p| p.call == seen.call));
        for p in pending {
            let Some(seen) = self.seen.iter_mut().find(|seen| seen.call == p.call) else {
                self.seen.push(Seen { call: p.call, all: Age::new(), still: Age::new() });
                continue;
            };
            seen.all.1 += 1;
            seen.still = if moved { Age::new() } else { Age(seen.still.0, seen.still.1 + 1) };
            let limit = patience.saturating_add(SLACK).saturating_add(p.wait);
            let moving = Duration::from_secs_f64(p.bytes as f64 / SLOWEST as f64);
            if seen.still.over(limit) || seen.all.over(limit.saturating_add(moving)) {
                return Some(format!(
                    "the module's {} has not come back for {:.1} s, and is to give up after {} s without progress (--patience): it hangs",
                    p.what,
                    seen.all.0.elapsed().as_secs_f64(),
                    patience.as_secs_f64()
                ));
            }
        }
        None
    }
}

/// So many ticks, at least one.
pub(crate) fn ticks(time: Duration) -> u32 {
    u32::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u32::MAX - LOOK).clamp(1, u32::MAX - LOOK)
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

    #[test]
    fn a_modules_call_that_neither_gives_up_nor_moves_hangs_and_a_slow_one_does_not() {
        let call = |number, bytes| transport::module::Pending {
            call: (1, number),
            what: "recv()",
            bytes,
            wait: Duration::ZERO,
        };
        // Ages a call by the clock as well.
        let looks = |pending: &dyn Fn(u32) -> Vec<transport::module::Pending>,
                     cpu: &dyn Fn(u32) -> u64,
                     seconds: u32| {
            let mut calls = Calls::default();
            (0..seconds * 10).find_map(|n| {
                for seen in &mut calls.seen {
                    seen.all.0 = seen.all.0.checked_sub(TICK).unwrap();
                    seen.still.0 = seen.still.0.checked_sub(TICK).unwrap();
                }
                calls.look(&pending(n), Duration::from_millis(cpu(n)), Duration::from_secs(2)).map(|words| (n, words))
            })
        };
        let (after, words) = looks(&|_| vec![call(1, 64)], &|_| 7, 60).expect("nothing moves");
        assert!(
            (30..50).contains(&after) && words.contains("recv()") && words.contains("after 2 s"),
            "{after}: {words}"
        );
        let (after, _) = looks(&|_| vec![call(1, 64)], &|n| 5 * u64::from(n), 60).expect("it spins");
        assert!((30..50).contains(&after), "{after}");
        // 1 MiB at 16 KiB/s.
        assert!(
            looks(&|n| vec![call(u64::from(n / 640), 1 << 20)], &|n| 5 * u64::from(n), 200).is_none(),
            "a slow message moves"
        );
        assert!(looks(&|n| vec![call(u64::from(n / 20), 64)], &|_| 7, 600).is_none(), "calls come back, if rarely");
        let stopped = looks(&|_| Vec::new(), &|_| 7, 60);
        assert!(stopped.is_none(), "no call");
    }
}
