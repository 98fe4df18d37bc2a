//! A member with a thread of its own, for whoever wants to block.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::after;
use super::failed::Failed;
use super::group::{Event, Group};
use super::options::Options;
use crate::addr::Endpoint;
use crate::member::Refused;

/// Casts that wait for the thread, and events that wait for the holder.
const QUEUE: usize = 1024;
/// Events that wait behind those for a holder that lags. Then the member falls silent, so that the others' credit, or their suspicion, stops the growth.
const LAG: usize = 1 << 16;

enum Order {
    Cast(Bytes),
    Send(Endpoint, Bytes),
}

/// Bytes of the orders that wait for the thread: at most so many, but for one that is larger and alone. Who waits for room is let in by the order of coming, so that a large message is not overtaken by small ones for ever.
struct Room {
    most: usize,
    /// None when the thread has ended.
    used: Mutex<Option<Used>>,
    freed: Condvar,
}

#[derive(Default)]
struct Used {
    bytes: usize,
    /// How many have come to wait, and how many of them were let in.
    came: u64,
    entered: u64,
}

impl Room {
    fn new(most: usize) -> Self {
        Self { most, used: Mutex::new(Some(Used::default())), freed: Condvar::new() }
    }

    /// Room for so many bytes is taken; where there is none, or others wait for it, and `wait` is not set, how many are in use.
    fn take(&self, len: usize, wait: bool) -> Result<(), Refused> {
        let mut used = self.used.lock().map_err(|_| Refused::Gone)?;
        let mut place = None;
        loop {
            let Some(now) = &mut *used else { return Err(Refused::Gone) };
            let first = place.map_or(now.came == now.entered, |place| place == now.entered);
            if first && (now.bytes == 0 || now.bytes.saturating_add(len) <= self.most) {
                now.bytes += len;
                now.entered += u64::from(place.is_some());
                // There may be room for the next one, too.
                self.freed.notify_all();
                return Ok(());
            }
            if !wait {
                return Err(Refused::WouldBlock { backlog: now.bytes });
            }
            if place.is_none() {
                place = Some(now.came);
                now.came += 1;
            }
            used = self.freed.wait(used).map_err(|_| Refused::Gone)?;
        }
    }

    fn in_use(&self) -> usize {
        self.used.lock().ok().and_then(|used| used.as_ref().map(|now| now.bytes)).unwrap_or(0)
    }

    fn free(&self, len: usize) {
        if let Ok(mut used) = self.used.lock()
            && let Some(now) = &mut *used
        {
            now.bytes -= len.min(now.bytes);
        }
        self.freed.notify_all();
    }
}

/// The thread's hold on the room: whoever waits for it is told that the thread has ended, however it did.
struct Taking(Arc<Room>);

impl Drop for Taking {
    fn drop(&mut self) {
        if let Ok(mut used) = self.0.used.lock() {
            *used = None;
        }
        self.0.freed.notify_all();
    }
}

/// A member that answers the group by itself. Dropping it ends the member as a crash would; [`Handle::leave`] is the clean way.
pub struct Handle {
    me: Endpoint,
    orders: Option<SyncSender<Order>>,
    /// It is to leave, when the orders that it has are carried out. No order itself, since there may be no room for one.
    leaves: Arc<AtomicBool>,
    room: Arc<Room>,
    /// The largest message.
    most: usize,
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
        let (most, backlog, drain) = (options.config.message, options.config.backlog, options.config.drain);
        let group = Group::join(options)?;
        let me = group.me();
        let io = |source| Failed::Io { what: "starting a member's thread".to_owned(), source };
        let (wake, woken) = UnixStream::pair().map_err(io)?;
        wake.set_nonblocking(true).map_err(io)?;
        woken.set_nonblocking(true).map_err(io)?;
        let (orders, taken) = sync_channel(QUEUE);
        let (told, events) = sync_channel(QUEUE);
        let room = Arc::new(Room::new(backlog));
        let leaves = Arc::new(AtomicBool::new(false));
        let runner = Runner { orders: taken, taking: Taking(room.clone()), woken, told, leaves: leaves.clone(), drain };
        let thread =
            std::thread::Builder::new().name("strata".to_owned()).spawn(move || runner.run(group)).map_err(io)?;
        let events = Mutex::new(events);
        Ok(Self { me, orders: Some(orders), leaves, room, most, wake, events, thread: Some(thread) })
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.me
    }

    /// Casts; waits while the group is behind, and while more than a thousand events wait to be taken with [`Handle::next`]: take them in another thread, or use [`Handle::try_cast`].
    ///
    /// # Errors
    /// [`Refused::Gone`] after the member has left or failed, [`Refused::Large`].
    pub fn cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        let body = body.into();
        let len = self.fits(&body)?;
        self.room.take(len, true)?;
        self.order(Order::Cast(body))
    }

    /// Sends to one member; waits as [`Handle::cast`].
    ///
    /// # Errors
    /// As [`Handle::cast`].
    pub fn send(&self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        let body = body.into();
        let len = self.fits(&body)?;
        self.room.take(len, true)?;
        self.order(Order::Send(to, body))
    }

    /// Casts, unless the group is behind.
    ///
    /// # Errors
    /// As [`Handle::cast`], and [`Refused::WouldBlock`], with the bytes of casts that wait already.
    pub fn try_cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        let orders = self.orders.as_ref().ok_or(Refused::Gone)?;
        let body = body.into();
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

    /// The next event; none after [`Event::Left`].
    pub fn next(&self) -> Option<Event> {
        self.events.lock().ok()?.recv().ok()
    }

    /// The next event, if one comes in time.
    pub fn next_within(&self, most: Duration) -> Option<Event> {
        self.events.lock().ok()?.recv_timeout(most).ok()
    }

    /// Leaves, and waits until the others have all that was cast here, or for `Config::drain` (twice, where casts still wait for the group then) and a view change; what is delivered meanwhile is returned, with an [`Event::Notice`] of how many casts may be lost.
    ///
    /// # Errors
    /// What ended the member before.
    pub fn leave(mut self) -> Result<Vec<Event>, Failed> {
        self.leaves.store(true, Ordering::Release);
        self.poke();
        let rest = self.events.lock().map(|events| events.iter().collect()).unwrap_or_default();
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

impl Drop for Handle {
    fn drop(&mut self) {
        // The thread may wait for room among the events.
        let (_, gone) = sync_channel(0);
        drop(std::mem::replace(&mut self.events, Mutex::new(gone)));
        let _ = self.end();
    }
}

/// The thread's side of a [`Handle`].
struct Runner {
    orders: Receiver<Order>,
    taking: Taking,
    woken: UnixStream,
    told: SyncSender<Event>,
    leaves: Arc<AtomicBool>,
    drain: Duration,
}

impl Runner {
    fn run(self, mut group: Group) -> Result<(), Failed> {
        let mut waiting: Option<Order> = None;
        let mut undelivered: Option<Event> = None;
        // By when it leaves, with what it was given or without; none when it has begun to.
        let (mut leaves, mut until) = (false, None);
        loop {
            let mut came = if group.waiting() < LAG { group.turn()? } else { false };
            // While the holder lags no order is taken.
            while let Some(event) = undelivered.take().or_else(|| group.event()) {
                let last = matches!(event, Event::Left);
                match self.told.try_send(event) {
                    Ok(()) if last => return Ok(()),
                    Ok(()) => {}
                    Err(TrySendError::Full(event)) => {
                        undelivered = Some(event);
                        break;
                    }
                    Err(TrySendError::Disconnected(_)) => return Ok(()),
                }
            }
            let _ = (&mut &self.woken).read(&mut [0; 256]);
            // Whoever says so gives no order after that.
            if !leaves && self.leaves.load(Ordering::Acquire) {
                (leaves, until) = (true, Some(after(self.drain)));
            }
            let late = until.is_some_and(|until| Instant::now() >= until);
            while undelivered.is_none() && !late {
                let order = match waiting.take().map_or_else(|| self.orders.try_recv(), Ok) {
                    Ok(order) => order,
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(()),
                };
                came = true;
                waiting = self.carried_out(order, &mut group);
                if waiting.is_some() {
                    break;
                }
            }
            if until.is_some() && undelivered.is_none() && (waiting.is_none() || late) {
                until = None;
                let casts = waiting.take().into_iter().chain(self.orders.try_iter());
                let lost = casts.filter(|order| matches!(order, Order::Cast(_))).count();
                if lost > 0 {
                    undelivered = Some(Event::Notice(format!(
                        "{lost} casts of this member were never taken by the group, which was behind for {:?}, before it left: nobody has them",
                        self.drain
                    )));
                }
                group.leave();
                came = true;
            }
            if waiting.is_some() || undelivered.is_some() {
                // Neither the holder's taking of an event nor returning credit makes a descriptor ready.
                std::thread::sleep(Duration::from_millis(1));
            } else if !came {
                group.wait(Duration::from_secs(3600), Some(self.woken.as_fd()))?;
            }
        }
    }

    /// The order, where the group is behind.
    fn carried_out(&self, order: Order, group: &mut Group) -> Option<Order> {
        let (refused, len) = match &order {
            Order::Cast(body) => (group.try_cast(body.clone()), body.len()),
            Order::Send(to, body) => (group.try_send(*to, body.clone()), body.len()),
        };
        if let Err(Refused::WouldBlock { .. }) = refused {
            return Some(order);
        }
        self.taking.0.free(len);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn handle(message: usize) -> Handle {
        let config = Config { message, ..Config::default() };
        Handle::join(Options { config, ..Options::default() }).unwrap()
    }

    #[test]
    fn a_message_that_is_too_large_is_refused_as_it_is_cast_and_the_next_arrives() {
        let alone = handle(1000);
        let large = Err(Refused::Large { len: 1001, most: 1000 });
        assert_eq!(alone.cast(vec![1; 1001]), large);
        assert_eq!(alone.try_cast(vec![1; 1001]), large);
        assert_eq!(alone.send(alone.me(), vec![1; 1001]), large);
        assert_eq!(alone.cast(vec![2; 1000]), Ok(()));
        let came = std::iter::from_fn(|| alone.next()).find_map(|e| match e {
            Event::Message(m) => Some(m.body.len()),
            _ => None,
        });
        assert_eq!(came, Some(1000));
    }

    /// The holder takes no events, so that no order is taken either, until there is room for neither. All that was taken is cast before it leaves.
    #[test]
    fn a_member_leaves_whose_orders_and_events_are_full() {
        let alone = handle(1000);
        let (mut cast, mut refused) = (0, 0);
        while refused < 300 {
            match alone.try_cast(vec![1; 10]) {
                Ok(()) => (cast, refused) = (cast + 1, 0),
                Err(Refused::WouldBlock { .. }) => {
                    refused += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(other) => panic!("{other}"),
            }
        }
        let (to, left) = std::sync::mpsc::channel();
        std::thread::spawn(move || to.send(alone.leave()));
        let rest = left.recv_timeout(Duration::from_secs(60)).expect("it ends").unwrap();
        let casts = rest.iter().filter(|e| matches!(e, Event::Message(_))).count();
        assert_eq!(casts, cast);
        assert!(matches!(rest.last(), Some(Event::Left)));
    }

    #[test]
    fn what_waits_for_the_thread_is_bounded_in_bytes() {
        let room = Room::new(100);
        assert_eq!(room.take(150, true), Ok(()), "one that is larger passes alone");
        assert_eq!(room.take(1, false), Err(Refused::WouldBlock { backlog: 150 }));
        room.free(150);
        assert_eq!(room.take(60, false), Ok(()));
        assert_eq!(room.take(41, false), Err(Refused::WouldBlock { backlog: 60 }));
        assert_eq!(room.take(40, false), Ok(()));
    }

    #[test]
    fn who_waits_for_room_is_told_when_the_thread_ends() {
        let room = Arc::new(Room::new(100));
        assert_eq!(room.take(100, true), Ok(()));
        let taking = Taking(room.clone());
        let waits = std::thread::spawn(move || room.take(1, true));
        drop(taking);
        assert_eq!(waits.join().unwrap(), Err(Refused::Gone));
    }

    #[test]
    fn a_large_message_that_waits_is_not_overtaken_by_small_ones() {
        let room = Arc::new(Room::new(100));
        assert_eq!(room.take(60, false), Ok(()));
        let large = {
            let room = room.clone();
            std::thread::spawn(move || room.take(90, true))
        };
        // It waits from then on, and whatever comes is behind it.
        while room.take(1, false).is_ok() {
            room.free(1);
            std::thread::yield_now();
        }
        assert_eq!(room.take(40, false), Err(Refused::WouldBlock { backlog: 60 }));
        let small = {
            let room = room.clone();
            std::thread::spawn(move || room.take(40, true))
        };
        while room.used.lock().unwrap().as_ref().unwrap().came < 2 {
            std::thread::yield_now();
        }
        room.free(60);
        assert_eq!(large.join().unwrap(), Ok(()));
        assert!(!small.is_finished() && room.in_use() == 90);
        room.free(90);
        assert_eq!(small.join().unwrap(), Ok(()));
    }
}
