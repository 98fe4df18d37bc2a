//! A member with a thread of its own, for whoever wants to block.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;

use super::group::{Event, Failed, Group, Options};
use crate::addr::Endpoint;
use crate::member::Refused;

/// Casts that wait for the thread, and events that wait for the holder.
const QUEUE: usize = 1024;
/// Events that wait behind those for a holder that lags. Then the member falls silent, so that the others' credit, or their suspicion, stops the growth.
const LAG: usize = 1 << 16;

enum Order {
    Cast(Bytes),
    Send(Endpoint, Bytes),
    Leave,
}

/// A member that answers the group by itself. Dropping it ends the member as a crash would; [`Handle::leave`] is the clean way.
pub struct Handle {
    me: Endpoint,
    orders: Option<SyncSender<Order>>,
    wake: UnixStream,
    events: Mutex<Receiver<Event>>,
    thread: Option<JoinHandle<Result<(), Failed>>>,
}

impl Handle {
    /// As [`Group::join`], with a thread.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn join(options: Options) -> Result<Self, Failed> {
        let group = Group::join(options)?;
        let me = group.me();
        let io = |source| Failed::Io { what: "starting a member's thread".to_owned(), source };
        let (wake, woken) = UnixStream::pair().map_err(io)?;
        wake.set_nonblocking(true).map_err(io)?;
        woken.set_nonblocking(true).map_err(io)?;
        let (orders, taken) = sync_channel(QUEUE);
        let (told, events) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("strata".to_owned())
            .spawn(move || run(group, &taken, &woken, &told))
            .map_err(io)?;
        Ok(Self { me, orders: Some(orders), wake, events: Mutex::new(events), thread: Some(thread) })
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.me
    }

    /// Casts; waits while the group is behind.
    ///
    /// # Errors
    /// [`Refused::Gone`] after the member has left or failed.
    pub fn cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.order(Order::Cast(body.into()))
    }

    /// Sends to one member; waits while the group is behind.
    ///
    /// # Errors
    /// As [`Handle::cast`].
    pub fn send(&self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.order(Order::Send(to, body.into()))
    }

    /// Casts, unless the group is behind.
    ///
    /// # Errors
    /// [`Refused::WouldBlock`], with the number of casts that wait already.
    pub fn try_cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        let orders = self.orders.as_ref().ok_or(Refused::Gone)?;
        orders.try_send(Order::Cast(body.into())).map_err(|e| match e {
            TrySendError::Full(_) => Refused::WouldBlock { backlog: QUEUE },
            TrySendError::Disconnected(_) => Refused::Gone,
        })?;
        self.poke();
        Ok(())
    }

    /// The next event; none after [`Event::Left`].
    pub fn next(&self) -> Option<Event> {
        self.events.lock().ok()?.recv().ok()
    }

    /// The next event, if one comes in time.
    pub fn next_within(&self, most: Duration) -> Option<Event> {
        self.events.lock().ok()?.recv_timeout(most).ok()
    }

    /// Leaves, and waits until the others have all that was cast here; what is delivered meanwhile is returned.
    ///
    /// # Errors
    /// What ended the member before.
    pub fn leave(mut self) -> Result<Vec<Event>, Failed> {
        // A member that has ended needs no order.
        let _ = self.order(Order::Leave);
        let rest = self.events.lock().map(|events| events.iter().collect()).unwrap_or_default();
        self.end()?;
        Ok(rest)
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

impl Drop for Handle {
    fn drop(&mut self) {
        // The thread may wait for room among the events.
        let (_, gone) = sync_channel(0);
        drop(std::mem::replace(&mut self.events, Mutex::new(gone)));
        let _ = self.end();
    }
}

fn run(mut group: Group, orders: &Receiver<Order>, woken: &UnixStream, told: &SyncSender<Event>) -> Result<(), Failed> {
    let mut waiting: Option<Order> = None;
    let mut undelivered: Option<Event> = None;
    loop {
        let mut came = if group.waiting() < LAG { group.turn()? } else { false };
        // While the holder lags no order is taken.
        while let Some(event) = undelivered.take().or_else(|| group.event()) {
            let last = matches!(event, Event::Left);
            match told.try_send(event) {
                Ok(()) if last => return Ok(()),
                Ok(()) => {}
                Err(TrySendError::Full(event)) => {
                    undelivered = Some(event);
                    break;
                }
                Err(TrySendError::Disconnected(_)) => return Ok(()),
            }
        }
        let _ = (&mut &*woken).read(&mut [0; 256]);
        while undelivered.is_none() {
            let order = match waiting.take().map_or_else(|| orders.try_recv(), Ok) {
                Ok(order) => order,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            };
            came = true;
            let refused = match &order {
                Order::Cast(body) => group.try_cast(body.clone()),
                Order::Send(to, body) => group.try_send(*to, body.clone()),
                Order::Leave => {
                    group.leave();
                    Ok(())
                }
            };
            if let Err(Refused::WouldBlock { .. }) = refused {
                waiting = Some(order);
                break;
            }
        }
        if waiting.is_some() || undelivered.is_some() {
            // Neither the holder's taking of an event nor returning credit makes a descriptor ready.
            std::thread::sleep(Duration::from_millis(1));
        } else if !came {
            group.wait(Duration::from_secs(3600), Some(woken.as_fd()))?;
        }
    }
}
