//! A member with a thread that polls it: what [`super::Handle`] and [`super::ReplicaHandle`] are.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::after;
use super::failed::Failed;
use super::options::Options;
use super::polled::Polled;
use super::room::{Room, Taking};
use crate::addr::Endpoint;
use crate::member::Refused;

/// Casts that wait for the thread, and news that wait for the holder.
const QUEUE: usize = 1024;
/// News that wait behind those for a holder that lags. Then the member falls silent, so that the others' credit, or their suspicion, stops the growth.
const LAG: usize = 1 << 16;

enum Order {
    Cast(Bytes),
    Send(Endpoint, Bytes),
}

/// What does not wait its turn among the orders, which the group may hold up.
type Aside<M> = Box<dyn FnOnce(&mut M) + Send>;

/// The holder's side.
pub(super) struct Threaded<M: Polled> {
    me: Endpoint,
    orders: Option<SyncSender<Order>>,
    asides: SyncSender<Aside<M>>,
    /// Closed where the member is to leave, when the orders that it has are carried out. No order itself, since there may be no room for one.
    room: Arc<Room>,
    /// The largest message.
    most: usize,
    wake: UnixStream,
    told: Mutex<Receiver<M::Told>>,
    thread: Option<JoinHandle<Result<(), Failed>>>,
}

impl<M: Polled> Threaded<M> {
    pub(super) fn join(options: Options) -> Result<Self, Failed> {
        let (most, backlog, drain) = (M::largest(&options.config), options.config.backlog, options.config.drain);
        let mut member = M::join(options)?;
        let me = member.group().me();
        let io = |source| Failed::Io { what: "starting a member's thread".to_owned(), source };
        let (wake, woken) = UnixStream::pair().map_err(io)?;
        wake.set_nonblocking(true).map_err(io)?;
        woken.set_nonblocking(true).map_err(io)?;
        let (orders, taken) = sync_channel(QUEUE);
        let (asides, aside) = sync_channel(1);
        let (to, told) = sync_channel(QUEUE);
        let room = Arc::new(Room::new(backlog));
        let runner = Runner { orders: taken, asides: aside, taking: Taking(room.clone()), woken, told: to, drain };
        let thread =
            std::thread::Builder::new().name("strata".to_owned()).spawn(move || runner.run(member)).map_err(io)?;
        let told = Mutex::new(told);
        Ok(Self { me, orders: Some(orders), asides, room, most, wake, told, thread: Some(thread) })
    }

    pub(super) fn me(&self) -> Endpoint {
        self.me
    }

    pub(super) fn cast(&self, body: Bytes) -> Result<(), Refused> {
        self.room.take(self.fits(&body)?, true)?;
        self.order(Order::Cast(body))
    }

    pub(super) fn send(&self, to: Endpoint, body: Bytes) -> Result<(), Refused> {
        self.room.take(self.fits(&body)?, true)?;
        self.order(Order::Send(to, body))
    }

    pub(super) fn try_cast(&self, body: Bytes) -> Result<(), Refused> {
        let orders = self.orders.as_ref().ok_or(Refused::Gone)?;
        let len = self.fits(&body)?;
        self.room.take(len, false)?;
        if let Err(e) = orders.try_send(Order::Cast(body)) {
            self.room.free(len);
            return Err(match e {
                TrySendError::Full(_) => Refused::WouldBlock { backlog: self.room.in_use() },
                TrySendError::Disconnected(_) => Refused::Gone,
            });
        }
        self.poke();
        Ok(())
    }

    /// Has the thread do this before any further order. False where it has ended, or has not yet done what it was given last.
    pub(super) fn aside(&self, does: impl FnOnce(&mut M) + Send + 'static) -> bool {
        let given = self.asides.try_send(Box::new(does)).is_ok();
        self.poke();
        given
    }

    pub(super) fn next(&self) -> Option<M::Told> {
        self.told.lock().ok()?.recv().ok()
    }

    pub(super) fn next_within(&self, most: Duration) -> Option<M::Told> {
        self.told.lock().ok()?.recv_timeout(most).ok()
    }

    /// Begins to leave.
    pub(super) fn close(&self) {
        self.room.close();
        self.poke();
    }

    /// Leaves, and waits for that: what was not yet taken.
    pub(super) fn leave(mut self) -> Result<Vec<M::Told>, Failed> {
        self.close();
        let rest = self.told.lock().map(|told| told.iter().collect()).unwrap_or_default();
        self.end()?;
        Ok(rest)
    }

    /// The message's length, where the group takes it. The thread could only drop what it does not.
    fn fits(&self, body: &Bytes) -> Result<usize, Refused> {
        let (len, most) = (body.len(), self.most);
        if len > most { Err(Refused::Large { len, most }) } else { Ok(len) }
    }

    fn order(&self, order: Order) -> Result<(), Refused> {
        self.orders.as_ref().ok_or(Refused::Gone)?.send(order).map_err(|_| Refused::Gone)?;
        self.poke();
        Ok(())
    }

    fn poke(&self) {
        // A full pipe wakes, too.
        let _ = (&self.wake).write(&[1]);
    }

    fn end(&mut self) -> Result<(), Failed> {
        self.orders = None;
        self.poke();
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            _ => Ok(()),
        }
    }
}

impl<M: Polled> Drop for Threaded<M> {
    fn drop(&mut self) {
        // The thread may wait for room among the news.
        let (_, gone) = sync_channel(0);
        drop(std::mem::replace(&mut self.told, Mutex::new(gone)));
        let _ = self.end();
    }
}

/// The thread's side.
struct Runner<M: Polled> {
    orders: Receiver<Order>,
    asides: Receiver<Aside<M>>,
    taking: Taking,
    woken: UnixStream,
    told: SyncSender<M::Told>,
    drain: Duration,
}

impl<M: Polled> Runner<M> {
    fn run(self, mut member: M) -> Result<(), Failed> {
        let mut waiting: Option<Order> = None;
        let mut untold: Option<M::Told> = None;
        // By when it leaves, with what it was given or without; none when it has begun to.
        let (mut leaves, mut until) = (false, None);
        loop {
            let lags = member.waiting() >= LAG;
            let mut came = !lags && member.turn()?;
            // While the holder lags no order is taken.
            while let Some(told) = untold.take().or_else(|| member.told()) {
                let last = M::is_last(&told);
                match self.told.try_send(told) {
                    Ok(()) if last => return Ok(()),
                    Ok(()) => {}
                    Err(TrySendError::Full(told)) => {
                        untold = Some(told);
                        break;
                    }
                    Err(TrySendError::Disconnected(_)) => return Ok(()),
                }
            }
            let _ = (&mut &self.woken).read(&mut [0; 256]);
            while let Ok(does) = self.asides.try_recv() {
                does(&mut member);
                came = true;
            }
            if !leaves && self.taking.0.is_closed() {
                (leaves, until) = (true, Some(after(self.drain)));
            }
            let late = until.is_some_and(|until| Instant::now() >= until);
            while untold.is_none() && !late {
                let order = match waiting.take().map_or_else(|| self.orders.try_recv(), Ok) {
                    Ok(order) => order,
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(()),
                };
                came = true;
                waiting = self.carried_out(order, &mut member);
                if waiting.is_some() {
                    break;
                }
            }
            // One that has room may be on its way yet.
            let carried_out = || waiting.is_none() && self.taking.0.in_use() == 0;
            if until.is_some() && untold.is_none() && (late || carried_out()) {
                until = None;
                let casts = waiting.take().into_iter().chain(self.orders.try_iter());
                let lost = casts.filter(|order| matches!(order, Order::Cast(_))).count();
                if lost > 0 {
                    untold = Some(M::notice(format!(
                        "{lost} casts of this member were never taken by the group, which was behind for {:?}, before it left: nobody has them",
                        self.drain
                    )));
                }
                member.leave();
                came = true;
            }
            if waiting.is_some() || untold.is_some() || lags || until.is_some() {
                // Neither the holder's taking of news nor returning credit makes a descriptor ready.
                std::thread::sleep(Duration::from_millis(1));
            } else if !came {
                member.group().wait(Duration::from_secs(3600), Some(self.woken.as_fd()))?;
            }
        }
    }

    /// The order, where the group is behind.
    fn carried_out(&self, order: Order, member: &mut M) -> Option<Order> {
        let (refused, len) = match &order {
            Order::Cast(body) => (member.try_cast(body.clone()), body.len()),
            Order::Send(to, body) => (member.try_send(*to, body.clone()), body.len()),
        };
        if let Err(Refused::WouldBlock { .. }) = refused {
            return Some(order);
        }
        self.taking.0.free(len);
        None
    }
}
