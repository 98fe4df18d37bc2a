//! The listener of a far side: accepts control connections, keeps strangers few and short, and lets one near side at a time
//! through to whoever attends to it.
//!
//! At most [`STRANGERS`] connections that have not proved the secret live at once, each on a thread of its own and for
//! [`GREETING`](super::gate::GREETING) at most. When one more knocks, the oldest is dropped once it has had [`FAIR`]: who
//! has the secret needs a few round trips, who only holds a connection open keeps nobody out.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;

use super::Terms;
use super::gate::{GREETING, Gate};
use crate::channel::Channel;
use crate::secret::SessionKeys;
use crate::tls::Identity;
use crate::{MeetError, Peer, alert};

/// Connections that have not proved the secret, at most.
const STRANGERS: usize = 64;
/// How long each may take before another can push it out.
const FAIR: Duration = Duration::from_millis(300);

/// What happened at the listener.
pub(crate) enum Happened {
    Met(SocketAddr),
    Refused(SocketAddr, MeetError),
    Ended(SocketAddr, Result<(), MeetError>),
}

/// What is done with a near side that was let in, until it says goodbye.
pub(crate) type Attend =
    dyn Fn(&mut Channel, &SessionKeys, &Terms, &Arc<AtomicBool>) -> Result<(), MeetError> + Send + Sync;

/// A process that is waited for, and what it needs to let people in.
pub(crate) struct Listener {
    pub socket: TcpListener,
    pub identity: Identity,
    pub gate: Gate,
    pub terms: Terms,
    /// Attends to one measurement.
    pub attend: Box<Attend>,
    pub stop: Arc<AtomicBool>,
}

struct Shared {
    listener: Listener,
    seen: SyncSender<Happened>,
    wake: OwnedFd,
}

impl Shared {
    fn tell(&self, seen: Happened) {
        // Strangers who are turned away faster than anybody reads of it are not all worth a line.
        match seen {
            Happened::Refused(..) => drop(self.seen.try_send(seen)),
            seen => drop(self.seen.send(seen)),
        }
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

struct Stranger {
    since: Instant,
    tcp: TcpStream,
    /// One of the three below; its thread holds the other end until it is let in or turned away.
    standing: Arc<AtomicU8>,
}

const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;
const PUSHED_OUT: u8 = 2;

impl Stranger {
    /// Whether it still counts: neither let in nor gone.
    fn is_here(&self) -> bool {
        self.standing.load(Ordering::Relaxed) == OUTSIDE && Arc::strong_count(&self.standing) > 1
    }
}

/// Moves a stranger from outside to `to`; false if it was moved already. Who is inside can't be pushed out any more, and
/// who was pushed out can't come in.
fn moves(standing: &AtomicU8, to: u8) -> bool {
    standing.compare_exchange(OUTSIDE, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// Serves until `enough` says so after something was seen, until `patience` has passed with nobody let in, or until stop.
pub(crate) fn run(
    listener: Listener,
    patience: Option<Duration>,
    enough: &mut dyn FnMut(Happened) -> bool,
) -> Result<(), MeetError> {
    let opening = || MeetError::io("waiting for control connections");
    listener.socket.set_nonblocking(true).map_err(opening())?;
    let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|e| opening()(e.into()))?;
    let (seen, events) = sync_channel(64);
    let shared = Arc::new(Shared { listener, seen, wake });
    let mut strangers = Vec::new();
    let outcome = receive(&shared, &events, &mut strangers, patience, enough);
    for stranger in strangers.iter().filter(|s| moves(&s.standing, PUSHED_OUT)) {
        let _ = stranger.tcp.shutdown(Shutdown::Both);
    }
    outcome
}

fn receive(
    shared: &Arc<Shared>,
    events: &Receiver<Happened>,
    strangers: &mut Vec<Stranger>,
    patience: Option<Duration>,
    enough: &mut dyn FnMut(Happened) -> bool,
) -> Result<(), MeetError> {
    let listener = &shared.listener;
    let began = Instant::now();
    let mut met = false;
    loop {
        while let Ok(seen) = events.try_recv() {
            met |= matches!(seen, Happened::Met(_));
            if enough(seen) {
                return Ok(());
            }
        }
        if listener.stop.load(Ordering::Relaxed) {
            return stopped(shared, events, enough);
        }
        if let Some(limit) = patience
            && !met
            && began.elapsed() >= limit
        {
            return Err(MeetError::Silent { doing: "waiting for the near side to connect", waited: began.elapsed() });
        }
        strangers.retain(Stranger::is_here);
        let room = make_room(strangers);
        let mut fds = vec![PollFd::new(&shared.wake, PollFlags::IN)];
        if room {
            fds.push(PollFd::new(&listener.socket, PollFlags::IN));
        }
        // While somebody is measured nobody is let in, and the measurement's own watch looks at the stop flag.
        let tick = match (listener.gate.measuring(), room) {
            (true, _) => Timespec { tv_sec: 1, tv_nsec: 0 },
            (false, true) => Timespec { tv_sec: 0, tv_nsec: 100_000_000 },
            (false, false) => Timespec { tv_sec: 0, tv_nsec: 20_000_000 },
        };
        let _ = poll(&mut fds, Some(&tick));
        let _ = rustix::io::read(&shared.wake, &mut [0u8; 8]);
        if !room {
            continue;
        }
        match listener.socket.accept() {
            // With nobody left to let in, or a measurement to protect, nobody is listened to.
            Ok((tcp, peer)) if listener.gate.busy() => {
                alert::turn_away(tcp);
                shared.tell(Happened::Refused(peer, MeetError::Busy { peer: Peer::At(peer) }));
            }
            Ok((tcp, peer)) => strangers.extend(talk(shared, tcp, peer)),
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            // Out of descriptors, or the peer was gone before it was let in: the next one may fare better.
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// After a stop: lets a measurement in progress tell its near side, which takes it a moment.
fn stopped(
    shared: &Shared,
    events: &Receiver<Happened>,
    enough: &mut dyn FnMut(Happened) -> bool,
) -> Result<(), MeetError> {
    let deadline = Instant::now() + Duration::from_secs(3);
    while shared.listener.gate.measuring() {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(seen) => drop(enough(seen)),
            Err(_) => break,
        }
    }
    while let Ok(seen) = events.try_recv() {
        enough(seen);
    }
    Err(MeetError::Interrupted)
}

/// Whether one more stranger may come in; pushes the oldest out if it must and may.
fn make_room(strangers: &mut Vec<Stranger>) -> bool {
    if strangers.len() < STRANGERS {
        return true;
    }
    // In order of arrival: the first is the oldest.
    if strangers[0].since.elapsed() < FAIR {
        return false;
    }
    let oldest = strangers.remove(0);
    if moves(&oldest.standing, PUSHED_OUT) {
        let _ = oldest.tcp.shutdown(Shutdown::Both);
    }
    true
}

/// Talks to a stranger on a thread of its own; none if there can't be one.
fn talk(shared: &Arc<Shared>, tcp: TcpStream, peer: SocketAddr) -> Option<Stranger> {
    let standing = Arc::new(AtomicU8::new(OUTSIDE));
    let stranger = Stranger { since: Instant::now(), tcp: tcp.try_clone().ok()?, standing: Arc::clone(&standing) };
    let shared = Arc::clone(shared);
    let body = move || {
        let admitted =
            Channel::far(tcp, &shared.listener.identity, Arc::clone(&shared.listener.stop)).and_then(|mut channel| {
                let keys = shared.listener.gate.admit(&mut channel, &|| moves(&standing, INSIDE), GREETING)?;
                Ok((channel, keys))
            });
        drop(standing);
        let (mut channel, keys) = match admitted {
            Ok(admitted) => admitted,
            Err(e) => return shared.tell(Happened::Refused(peer, e)),
        };
        shared.tell(Happened::Met(peer));
        // A panic is a bug of ours; the next near side must still be served, and this one must be told that it is over.
        let how = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let listener = &shared.listener;
            (listener.attend)(&mut channel, &keys, &listener.terms, &listener.stop)
        }));
        channel.shutdown();
        shared.listener.gate.leave();
        let bug = || Err(MeetError::Far("ended by a bug of pipegauge (its standard error says more)".into()));
        shared.tell(Happened::Ended(peer, how.unwrap_or_else(|_| bug())));
    };
    std::thread::Builder::new().name("control".into()).spawn(body).ok()?;
    Some(stranger)
}
