//! One end of a connection: the measuring thread turns the engine while it is in a call, and a helper does while it is not, since room that
//! the other side gives, and requests for what is held, come at any time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::engine::{Call, Engine};
use super::plug::Plug;
use crate::patience::LOOK;
use crate::settings::Effective;
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::{Capabilities, Link, LinkError, Patience, TcpState, Wait, tcp, tcp_state};

/// How often the helper looks whether the thread is away.
const PERIOD: Duration = Duration::from_millis(20);

/// How long an end waits at its close until what it sent has left.
const PARTING: Duration = Duration::from_secs(1);

/// What the thread and its helper share.
#[derive(Debug)]
struct Shared {
    engine: Mutex<Engine>,
    /// The thread is in a call.
    inside: AtomicBool,
    /// The link was closed: what is left to do is the helper's.
    parting: AtomicBool,
    over: AtomicBool,
}

impl Shared {
    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One end of a connection.
#[derive(Debug)]
pub struct Http {
    shared: Arc<Shared>,
    helper: Option<JoinHandle<()>>,
    plug: Plug,
    patience: Patience,
    wait: Wait,
}

/// A thread in a call, until this value goes.
struct Inside<'a> {
    engine: MutexGuard<'a, Engine>,
    link: &'a Http,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.link.shared.inside.store(false, Ordering::Release);
    }
}

/// Waits, at most for `most`, until the socket can do what its tasks wait for.
fn await_socket(plug: &Plug, most: Duration) -> Result<bool, LinkError> {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, plug.wants_bytes());
    flags.set(PollFlags::OUT, plug.wants_room());
    let mut fds = [PollFd::from_borrowed_fd(plug.fd(), flags)];
    sys::poll_for(&mut fds, most).map_err(|e| sys::fault(e, "waiting for a connection"))
}

impl Inside<'_> {
    /// Waits, at most for `most`, until something may have changed; then does what is due.
    fn await_any(&mut self, most: Duration) -> Result<(), LinkError> {
        if self.engine.tasks.woken() {
            self.engine.turn();
            return Ok(());
        }
        if self.link.wait != Wait::Spin {
            await_socket(&self.link.plug, self.engine.timer(most))?;
        }
        self.engine.turn();
        Ok(())
    }

    /// Takes a call to its end, or to that of patience.
    fn finish(&mut self, out: &[u8], into: &mut [u8], doing: &'static str) -> Result<(), LinkError> {
        let mut call = Call::of(out, into.is_empty() && self.link.helper.is_some());
        let mut idle = Idle::default();
        let mut waited = false;
        loop {
            if self.engine.step(out, into, &mut call)? {
                idle.moved();
                waited = false;
            }
            if call.sent && call.got == into.len() {
                return Ok(());
            }
            let patience = &self.link.patience;
            match self.link.wait {
                Wait::Spin => idle.spun(patience, doing)?,
                _ if waited => idle.waited(patience, doing, Duration::ZERO)?,
                _ => waited = true,
            }
            self.await_any(LOOK)?;
        }
    }
}

impl Http {
    /// A connection that carries messages, without a helper as yet.
    pub(super) fn new(engine: Engine, patience: &Patience, wait: Wait) -> Self {
        let plug = engine.plug.clone();
        let shared = Shared {
            engine: Mutex::new(engine),
            inside: AtomicBool::new(false),
            parting: AtomicBool::new(false),
            over: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared), helper: None, plug, patience: patience.clone(), wait }
    }

    /// The same with a helper, for a connection that lasts.
    pub(super) fn helped(mut self) -> Result<Self, LinkError> {
        let theirs = Arc::clone(&self.shared);
        let helper = std::thread::Builder::new().name("http".to_owned()).spawn(move || help(&theirs));
        self.helper = Some(helper.map_err(|e| LinkError::io("starting an HTTP connection's helper", e))?);
        Ok(self)
    }

    /// Waits until the peer closes; anything else it sends is against the rules.
    pub(super) fn recv_end(&mut self) -> Result<(), LinkError> {
        match self.recv(&mut [0]) {
            Err(LinkError::Closed { .. }) => Ok(()),
            Err(e) => Err(e),
            Ok(()) => Err(LinkError::Protocol("it sent more than its request".to_owned())),
        }
    }

    #[inline]
    fn inside(&self) -> Inside<'_> {
        self.shared.inside.store(true, Ordering::Release);
        Inside { engine: self.shared.engine(), link: self }
    }

    fn unpark(&self) {
        if let Some(helper) = &self.helper {
            helper.thread().unpark();
        }
    }
}

impl Link for Http {
    fn capabilities(&self) -> Capabilities {
        super::capabilities()
    }
    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.inside().finish(message, &mut [], SENDING)
    }
    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.inside().finish(&[], message, RECEIVING)
    }
    #[inline]
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.inside().finish(out, into, "exchanging messages")
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let mut inside = self.inside();
        inside.engine.turn();
        let start = Instant::now();
        loop {
            if inside.engine.ready() {
                return Ok(true);
            }
            if self.patience.stopped() {
                return Err(LinkError::Interrupted);
            }
            let left = wait.saturating_sub(start.elapsed());
            if left.is_zero() {
                // What this look asked for leaves.
                inside.engine.turn();
                return Ok(inside.engine.ready());
            }
            inside.await_any(left.min(LOOK))?;
        }
    }
    fn flush(&mut self) -> Result<(), LinkError> {
        // What finds no room leaves as the other side gives some, and what is held when it asks: the helper sees to that from now on.
        if self.inside().engine.owes() {
            self.unpark();
        }
        Ok(())
    }
    fn close(&mut self) -> Result<(), LinkError> {
        let mut inside = self.inside();
        inside.engine.close();
        inside.engine.turn();
        if self.helper.is_none() {
            let start = Instant::now();
            while inside.engine.owes() && start.elapsed() < self.patience.limit.min(PARTING) {
                inside.await_any(LOOK)?;
            }
        } else if inside.engine.owes() {
            drop(inside);
            self.shared.parting.store(true, Ordering::Release);
            self.unpark();
            return Ok(());
        }
        inside.engine.shut()
    }
    fn effective(&self) -> Effective {
        let version = ("version".to_owned(), self.inside().engine.version.to_owned());
        Effective { options: [version].into(), ..tcp::took_effect(self.plug.fd(), self.wait) }
    }
    fn tcp_state(&self) -> Option<TcpState> {
        tcp_state::read(self.plug.fd())
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.close();
        self.shared.over.store(true, Ordering::Release);
        if let Some(helper) = self.helper.take() {
            helper.thread().unpark();
            // A panic in the thread would be our own bug and has been printed.
            let _ = helper.join();
        }
    }
}

/// Turns the engine while the thread is away. Waits without the engine, so that the thread finds it free.
fn help(shared: &Shared) {
    sys::anywhere();
    let plug = shared.engine().plug.clone();
    let mut parting: Option<Instant> = None;
    loop {
        let over = shared.over.load(Ordering::Acquire);
        if shared.parting.load(Ordering::Acquire) && parting.is_none() {
            parting = Some(Instant::now());
        }
        if over && parting.is_none() {
            return;
        }
        if shared.inside.load(Ordering::Acquire) {
            std::thread::park_timeout(PERIOD);
            continue;
        }
        let before = plug.left();
        match shared.engine.try_lock() {
            Ok(mut engine) => {
                engine.turn();
                if parting.is_some_and(|since| !engine.owes() || since.elapsed() > PARTING) {
                    let _ = engine.shut();
                    shared.parting.store(false, Ordering::Release);
                    return;
                }
            }
            Err(TryLockError::Poisoned(_)) => return,
            Err(TryLockError::WouldBlock) => {}
        }
        // Bytes that nobody takes as yet stay in the socket, and end no wait.
        if plug.wants_bytes() || plug.wants_room() {
            let _ = await_socket(&plug, PERIOD);
        } else if plug.left() == before {
            std::thread::park_timeout(PERIOD);
        }
    }
}
