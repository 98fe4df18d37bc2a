//! One end of a QUIC connection: the measuring thread turns the pump while it is in a call, and a helper does while it is not, since
//! acknowledgements are due, and may be missing, at any time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::config::WINDOW;
use super::datagrams::Datagrams;
use super::pump::Pump;
use crate::meet::Made;
use crate::options::LOSS_TIMEOUT;
use crate::patience::LOOK;
use crate::settings::{Effective, LOSS};
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::{Capabilities, DatagramCounts, Link, LinkError, Patience, Proof, Settings, Wait, ip};

/// How often the helper looks whether the thread is away.
const PERIOD: Duration = Duration::from_millis(20);

/// How long an end waits for the other side to say that it has everything.
const PARTING: Duration = Duration::from_secs(1);

/// What the thread and its helper share.
#[derive(Debug)]
struct Shared {
    pump: Mutex<Pump>,
    /// A copy of the socket's descriptor, to wait for.
    fd: OwnedFd,
    /// The thread is in a call.
    inside: AtomicBool,
    over: AtomicBool,
}

impl Shared {
    fn pump(&self) -> MutexGuard<'_, Pump> {
        self.pump.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One end of a connection.
#[derive(Debug)]
pub struct Quic {
    shared: Arc<Shared>,
    helper: Option<JoinHandle<()>>,
    patience: Patience,
    wait: Wait,
    known: Vec<(&'static str, String)>,
    /// None where messages go by the stream.
    datagrams: Option<Datagrams>,
    settings: Settings,
}

/// A thread in a call, until this value goes.
struct Inside<'a> {
    pump: MutexGuard<'a, Pump>,
    link: &'a Quic,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.link.shared.inside.store(false, Ordering::Release);
    }
}

impl Inside<'_> {
    /// Waits, at most for `most`, until something comes, there is room again, or a timer goes off; then does what is due.
    fn await_any(&mut self, most: Duration) -> Result<(), LinkError> {
        if self.link.wait != Wait::Spin {
            let flags = if self.pump.holds() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            let most = self.pump.timer(most);
            let mut fds = [PollFd::from_borrowed_fd(self.link.shared.fd.as_fd(), flags)];
            sys::poll_for(&mut fds, most).map_err(|e| sys::fault(e, "waiting for datagrams"))?;
        }
        self.pump.turn();
        Ok(())
    }

    /// Waits until a datagram of the length of `into` has come that is not late, or counts as lost.
    #[inline]
    fn deliver(&mut self, into: &mut [u8], datagrams: &mut Datagrams) -> Result<(), LinkError> {
        if into.is_empty() {
            return Ok(());
        }
        let mut start = None;
        loop {
            while let Some(datagram) = self.pump.next() {
                if datagrams.fresh(&datagram, into.len()) {
                    into.copy_from_slice(&datagram);
                    return Ok(());
                }
            }
            self.pump.check(RECEIVING)?;
            if self.link.patience.stopped() {
                return Err(LinkError::Interrupted);
            }
            let left = datagrams.left(*start.get_or_insert_with(Instant::now)).ok_or(LinkError::Lost)?;
            self.await_any(left.min(LOOK))?;
        }
    }

    /// Waits until `done` has an answer, or patience ends.
    fn until<T>(
        &mut self,
        doing: &'static str,
        mut done: impl FnMut(&mut Pump, &mut Idle) -> Result<Option<T>, LinkError>,
    ) -> Result<T, LinkError> {
        let mut idle = Idle::default();
        let mut waited = false;
        loop {
            if let Some(out) = done(&mut self.pump, &mut idle)? {
                return Ok(out);
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

impl Quic {
    /// A connection once its handshake is over and both proofs were shown. `near` says which side this is.
    pub(super) fn open(
        pump: Pump,
        near: bool,
        proof: &Proof,
        made: &Made,
        known: Vec<(&'static str, String)>,
    ) -> Result<Self, LinkError> {
        let fd = rustix::io::fcntl_dupfd_cloexec(pump.plug().fd(), 0);
        let fd = fd.map_err(|e| LinkError::io("copying a socket's descriptor", e))?;
        let shared =
            Shared { pump: Mutex::new(pump), fd, inside: AtomicBool::new(false), over: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        let Made { settings, wait, patience } = made;
        let (patience, settings, datagrams) = (patience.clone(), settings.clone(), None);
        let mut link = Self { shared, helper: None, patience, wait: *wait, known, datagrams, settings };
        link.inside().pump.turn();
        link.inside().until("the QUIC handshake", |pump, _| {
            pump.check("the QUIC handshake")?;
            Ok(pump.opened().then_some(()))
        })?;
        let mut shown = [0; 32];
        if near {
            link.send(&proof.near)?;
        }
        link.recv(&mut shown)?;
        if !Proof::matches(&shown, if near { &proof.far } else { &proof.near }) {
            return Err(crate::meet::wrong_proof());
        }
        if !near {
            link.send(&proof.far)?;
        }
        if super::by_datagrams(&link.settings) {
            link.datagrams = Some(link.by_datagrams()?);
        }
        let theirs = Arc::clone(&link.shared);
        let helper = std::thread::Builder::new().name("quic".to_owned()).spawn(move || help(&theirs));
        link.helper = Some(helper.map_err(|e| LinkError::io("starting a QUIC connection's helper", e))?);
        Ok(link)
    }

    /// What messages that are datagrams are kept count of by. Their largest is what fits the first packets, and no more where later ones are larger.
    fn by_datagrams(&self) -> Result<Datagrams, LinkError> {
        let fits = self.inside().pump.largest();
        let fits = fits.ok_or_else(|| LinkError::Protocol("QUIC: it takes no datagrams".to_owned()))?;
        let can = super::capabilities(&self.settings).max_block.and_then(|most| usize::try_from(most).ok());
        let loss = self.settings.real(LOSS_TIMEOUT.name).unwrap_or(LOSS);
        let loss = Duration::try_from_secs_f64(loss).unwrap_or(self.patience.limit).min(self.patience.limit);
        Ok(Datagrams::new(can.map_or(fits, |most| most.min(fits)), loss))
    }

    /// Whether something was sent that did not leave, or of which the other side has not said to have it.
    fn owes(&self, pump: &mut Pump) -> bool {
        match self.datagrams {
            Some(_) => {
                pump.holds_any(usize::try_from(self.settings.whole("window").unwrap_or(WINDOW)).unwrap_or(usize::MAX))
            }
            None => pump.owes(),
        }
    }

    #[inline]
    fn inside(&self) -> Inside<'_> {
        self.shared.inside.store(true, Ordering::Release);
        Inside { pump: self.shared.pump(), link: self }
    }

    /// Sends `out` and fills `into`, whichever goes.
    #[inline]
    fn transfer(&self, out: &[u8], into: &mut [u8], doing: &'static str) -> Result<(), LinkError> {
        let (mut sent, mut got) = (0, 0);
        self.inside().until(doing, |pump, idle| {
            let before = sent + got;
            if sent < out.len() {
                sent += pump.write(&out[sent..], doing)?;
            }
            if got < into.len() {
                got += pump.read(&mut into[got..])?;
            }
            if sent + got > before {
                idle.moved();
            }
            Ok((sent == out.len() && got == into.len()).then_some(()))
        })
    }

    /// Sends a message as a datagram. Waits for room as congestion control gives it.
    #[inline]
    fn cast(&mut self, message: &[u8]) -> Result<(), LinkError> {
        let Some(datagrams) = &mut self.datagrams else { return Ok(()) };
        if message.len() > datagrams.most {
            return Err(LinkError::TooLarge { asked: message.len() as u64, most: datagrams.most as u64 });
        }
        if message.is_empty() {
            return Ok(());
        }
        let mut going = Some(datagrams.numbered(message));
        self.inside().until(SENDING, |pump, _| {
            if let Some(datagram) = going.take() {
                going = pump.cast(datagram, SENDING)?;
            }
            Ok(going.is_none().then_some(()))
        })
    }

    /// Receives the next datagram that is not older than one received before.
    #[inline]
    fn deliver(&mut self, into: &mut [u8]) -> Result<(), LinkError> {
        let Some(mut datagrams) = self.datagrams.take() else { return Ok(()) };
        let delivered = self.inside().deliver(into, &mut datagrams);
        self.datagrams = Some(datagrams);
        delivered
    }

    /// Waits until the other side has everything, at most for `most`; whether it has.
    fn part(&self, most: Duration) -> bool {
        let mut inside = self.inside();
        let start = Instant::now();
        while self.owes(&mut inside.pump) {
            let left = most.saturating_sub(start.elapsed());
            if left.is_zero() || self.patience.stopped() || inside.await_any(left.min(LOOK)).is_err() {
                return false;
            }
        }
        true
    }
}

impl Link for Quic {
    fn capabilities(&self) -> Capabilities {
        let can = super::capabilities(&self.settings);
        Capabilities { max_block: self.datagrams.as_ref().map(|datagrams| datagrams.most as u64), ..can }
    }
    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        if self.datagrams.is_some() {
            return self.cast(message);
        }
        self.transfer(message, &mut [], SENDING)
    }
    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        if self.datagrams.is_some() {
            return self.deliver(message);
        }
        self.transfer(&[], message, RECEIVING)
    }
    #[inline]
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        if self.datagrams.is_some() {
            // A send never waits for the receiver.
            self.cast(out)?;
            return self.deliver(into);
        }
        self.transfer(out, into, "exchanging messages")
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let by_datagrams = self.datagrams.is_some();
        let mut inside = self.inside();
        inside.pump.turn();
        let start = Instant::now();
        loop {
            let ready = if by_datagrams { inside.pump.any() } else { inside.pump.ready() };
            if ready {
                return Ok(true);
            }
            if self.patience.stopped() {
                return Err(LinkError::Interrupted);
            }
            let left = wait.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            inside.await_any(left.min(LOOK))?;
        }
    }
    fn flush(&mut self) -> Result<(), LinkError> {
        // What congestion control holds back leaves as acknowledgements come: the helper takes them from now on.
        if self.owes(&mut self.inside().pump)
            && let Some(helper) = &self.helper
        {
            helper.thread().unpark();
        }
        Ok(())
    }
    fn close(&mut self) -> Result<(), LinkError> {
        if self.inside().pump.check(SENDING).is_ok() {
            self.part(self.patience.limit.min(PARTING));
        }
        self.inside().pump.end();
        Ok(())
    }
    fn datagrams(&self) -> Option<DatagramCounts> {
        self.datagrams.as_ref().map(Datagrams::counts)
    }
    fn effective(&self) -> Effective {
        let inside = self.inside();
        let fd: BorrowedFd<'_> = self.shared.fd.as_fd();
        inside.pump.effective(&self.known, sys::effective(fd, self.wait, ip::addresses(fd)))
    }
}

impl Drop for Quic {
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

/// Turns the pump while the thread is away. Waits without the pump, so that the thread finds it free.
fn help(shared: &Shared) {
    sys::anywhere();
    while !shared.over.load(Ordering::Acquire) {
        if shared.inside.load(Ordering::Acquire) {
            std::thread::park_timeout(PERIOD);
            continue;
        }
        let wait = match shared.pump.try_lock() {
            Ok(mut pump) => {
                pump.turn();
                pump.timer(PERIOD)
            }
            Err(TryLockError::Poisoned(_)) => return,
            Err(TryLockError::WouldBlock) => PERIOD,
        };
        let mut fds = [PollFd::from_borrowed_fd(shared.fd.as_fd(), PollFlags::IN)];
        let _ = sys::poll_for(&mut fds, wait.max(Duration::from_millis(1)));
    }
}
